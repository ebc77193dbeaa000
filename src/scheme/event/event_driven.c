/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_driven.c - event-driven integration, the reference method (Acary and Brogliato 2008, chapter
 * 8): smooth motion by a Runge-Kutta method between events, events located to a tolerance, and the
 * impact law at that instant:
 *
 *   M (v+ - v-) = G P,     0 <= U_N+ + e U_N-  perp  P_N >= 0     all contacts that touch, with friction,   G^T v+ + b = 0 joints
 *
 * It is the loop of event_capturing.c with brackets of a fixed width and Moreau steps of no length.
 * Infinitely many impacts cannot be located one by one: when a flight is shorter than the tolerance
 * the scheme stops with an error, or continues by event capturing, which closes the contact.
 */
#include "scheme/event/event_capturing.h"

#include <float.h>
#include <string.h>

static const char* const method_names[] = {"dopri5",      "rk4",         "rkf45",
                                           "radau-iia-3", "radau-iia-5", "lobatto-iiia-6",
                                           "gauss-4",     "gauss-6",     NULL};
static const saltusi_tableau* const methods[] = {&saltusi_dopri5,      &saltusi_rk4,
                                                 &saltusi_rkf45,       &saltusi_radau_iia_3,
                                                 &saltusi_radau_iia_5, &saltusi_lobatto_iiia_6,
                                                 &saltusi_gauss_4,     &saltusi_gauss_6};
enum { METHODS = sizeof methods / sizeof methods[0] };

static const char* const accumulation_names[] = {"stop", "capture", NULL};

static const saltus_field fields[] = {
    SALTUS_CHOICE(saltus_event_driven_options, method, 0, METHODS - 1, method_names,
                  "Runge-Kutta method between events"),
    SALTUS_REAL(saltus_event_driven_options, tolerance, 1e-12, 0.0, 1.0,
                "tolerance of event times, at least 64 roundings of the time [s]"),
    SALTUS_CHOICE(saltus_event_driven_options, at_accumulation, 0, 1, accumulation_names,
                  "at accumulations of impacts: stop, or continue by event capturing"),
};

#define TABLE SALTUSI_TABLE(saltus_event_driven_options, fields)

SALTUSI_DEFAULTS(saltus_event_driven_options, saltus_event_driven_options_default, fields)

/* Per contact: memory of event capturing, then the series of its impacts. */
enum { SERIES = sizeof(saltusi_impact_series) / sizeof(double) };

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return (size_t)sys->dims.nc * (saltusi_capture_carried(sys) + SERIES);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options;
  saltusi_capture_transfer(sys, carry);
  saltusi_transfer_each(carry, SERIES);
}

static void layout(void* work, const void* options, const saltusi_eval* eval, saltus_arena* arena) {
  const saltus_event_driven_options* o = options;
  saltusi_capture_layout(work, methods[o->method], eval, arena);
}

static saltus_status step(void* work, const void* options, const saltusi_step* s) {
  const saltus_event_driven_options* o = options;
  saltusi_capture* w = work;
  size_t nc = (size_t)s->eval->sys.dims.nc;
  size_t bytes = nc * sizeof(saltusi_impact_series);
  size_t first = nc * saltusi_capture_carried(&s->eval->sys);
  double rounding = 64.0 * DBL_EPSILON * (fabs(s->t) + s->h);
  const saltus_event_capturing_options capturing = {
      .bracket = 0.0, .floor = fmax(o->tolerance, rounding), .projection = 1, .forces = 1};
  w->exact = true;
  w->stops = o->at_accumulation == SALTUS_AT_ACCUMULATION_STOP;
  memcpy(w->series, s->memory0 + first, bytes);
  saltus_status status = saltusi_capture_step(w, &capturing, s);
  memcpy(s->memory1 + first, w->series, bytes);
  return status;
}

static saltus_status dense(void* work, const void* options, const saltusi_dense_query* query) {
  (void)options;
  return saltusi_capture_dense(work, query);
}

const saltusi_scheme_ops saltusi_event_driven = {
    .info =
        {
            .name = "event-driven",
            .summary = "events located to a tolerance, impacts at an instant; stops where they "
                       "accumulate",
            .source = "Acary and Brogliato 2008, chapter 8",
            .order = 5,
            .smooth_order = 5,
            .locates_events = true,
            .dense = true,
            .stops = true,
            .treats = SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION |
                      SALTUS_TREATS_FRICTION_CURVES | SALTUS_TREATS_VARIABLE_STEPS |
                      SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_MAPS | SALTUS_TREATS_LAWS,
            .options = TABLE,
        },
    .work_size = sizeof(saltusi_capture),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .memory_valid = saltusi_capture_memory_valid,
    .layout = layout,
    .step = step,
    .dense_count = saltusi_capture_dense_count,
    .carry_dense = saltusi_capture_transfer_dense,
    .dense = dense,
};
