/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_schemes.c - the two time-discontinuous Galerkin families as schemes.
 */
#include "scheme/dg/dg.h"
#include "scheme/projection.h"

#include "base/log.h"

static const char* const minus_closures[] = {"velocity", "acceleration", "position", NULL};
static const char* const plus_closures[] = {"velocity", "acceleration", NULL};
static const char* const sides[] = {"end", "start", NULL};
static const char* const iterations[] = {"automatic", "fixed-point", "newton", NULL};

#define DEGREE                                                                                     \
  SALTUS_INT(saltus_dg_options, degree, 1, 0, SALTUSI_DG_DEGREE_MAX,                               \
             "degree of the velocity inside a step; 0: Moreau and Jean's scheme")
#define REST                                                                                       \
  SALTUS_CHOICE(saltus_dg_options, iteration, SALTUS_DG_AUTOMATIC, SALTUS_DG_NEWTON, iterations,   \
                "how the stage equations are solved"),                                             \
      SALTUS_REAL(saltus_dg_options, gap_tol, 1e-12, 0.0, 1.0, "a gap up to this is closed [m]"),  \
      SALTUS_REAL(saltus_dg_options, velocity_tol, 1e-9, 0.0, 1e-3,                                \
                  "fraction of the velocities below which a contact remains closed [1]"),          \
      SALTUS_REAL(saltus_dg_options, iteration_tol, 1e-14, 0.0, 1e-3,                              \
                  "change relative to the velocities that ends the iteration [1]"),                \
      SALTUS_INT(saltus_dg_options, iterations_max, 200, 1, 1e6, "most sweeps of the iteration"),  \
      SALTUSI_GAIN_FIELD(saltus_dg_options), SALTUSI_PROJECTION_FIELD(saltus_dg_options),          \
      SALTUS_CHOICE(saltus_dg_options, impulses, SALTUS_DG_IMPULSES_END, SALTUS_DG_IMPULSES_START, \
                    sides,                                                                         \
                    "where impacts act: at the end of the step in which a contact closes, or at "  \
                    "the start of the next one"),                                                  \
      SALTUS_REAL(saltus_dg_options, degree_tol, 0.0, 0.0, 1.0,                                    \
                  "part of the velocities by which each step chooses its degree up to `degree`, "  \
                  "1 with impacts; 0: all have the same [1]")

static const saltus_field minus_fields[] = {
    DEGREE,
    SALTUS_CHOICE(saltus_dg_options, closure, SALTUS_DG_VELOCITY, SALTUS_DG_POSITION,
                  minus_closures, "level of the normal law at the stages"),
    REST,
};

static const saltus_field plus_fields[] = {
    DEGREE,
    SALTUS_CHOICE(saltus_dg_options, closure, SALTUS_DG_ACCELERATION, SALTUS_DG_ACCELERATION,
                  plus_closures, "level of the normal law at the stages"),
    REST,
};

#define TABLE(fields)                                                                              \
  { fields, sizeof fields / sizeof fields[0], sizeof(saltus_dg_options) }

saltus_dg_options saltus_dg_minus_options_default(void) {
  const saltus_field_table table = TABLE(minus_fields);
  saltus_dg_options options = {0};
  saltus_options_defaults(&table, &options);
  return options;
}

saltus_dg_options saltus_dg_plus_options_default(void) {
  const saltus_field_table table = TABLE(plus_fields);
  saltus_dg_options options = {0};
  saltus_options_defaults(&table, &options);
  return options;
}

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return saltusi_dg_memory(sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options, (void)sys;
  saltusi_transfer_each(carry, 1);
  saltusi_transfer_plain(carry, SALTUSI_DG_PLAIN);
}

static saltus_status check(const void* options, const saltus_system* sys, saltus_log log) {
  const saltus_dg_options* o = options;
  (void)sys;
  if (o->degree == 0 && (o->impulses == SALTUS_DG_IMPULSES_START || o->degree_tol > 0.0)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "degree 0 has one impulse for forces and impacts, at the end of a step, and no "
                "smaller degree: impulses=start and degree_tol need a degree of 1 to %d",
                SALTUSI_DG_DEGREE_MAX);
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

static void layout_minus(void* work, const void* options, const saltusi_eval* eval,
                         saltus_arena* arena) {
  saltusi_dg_layout(work, options, false, eval, arena);
}

static void layout_plus(void* work, const void* options, const saltusi_eval* eval,
                        saltus_arena* arena) {
  saltusi_dg_layout(work, options, true, eval, arena);
}

static saltus_status step(void* work, const void* options, const saltusi_step* s) {
  return saltusi_dg_step(work, options, s);
}

static size_t dense_count(const void* options, const saltus_system* sys) {
  return saltusi_dg_dense_count(options, sys);
}

static void carry_dense(const void* options, const saltus_system* sys,
                        saltusi_state_transfer* carry) {
  saltusi_dg_transfer(options, sys, carry);
}

static saltus_status dense(void* work, const void* options, const saltusi_dense_query* query) {
  (void)options;
  return saltusi_dg_dense(work, query);
}

static void dense_contact(void* work, const void* options, const saltusi_dense_query* query,
                          int key, saltus_contact_inside* contact) {
  (void)options;
  saltusi_dg_dense_contact(work, query, key, contact);
}

enum {
  TREATS = SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_VARIABLE_STEPS |
           SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_MAPS | SALTUS_TREATS_LAWS |
           SALTUS_TREATS_IMPACT_ERRORS
};

/* Common part of the two families. */
#define OF_BOTH                                                                                    \
  .order = 1, .smooth_order = 2, .embedded_order = 1, .dense = true, .impacts_at_end = true,       \
  .treats = TREATS
#define CALLS_OF_BOTH                                                                              \
  .work_size = sizeof(saltusi_dg), .memory_count = memory_count, .carry_memory = carry_memory,     \
  .check = check, .step = step, .dense_count = dense_count, .carry_dense = carry_dense,            \
  .dense = dense, .dense_contact = dense_contact

const saltusi_scheme_ops saltusi_dg_minus = {
    .info =
        {
            .name = "dg-minus",
            .summary = "time-discontinuous Galerkin, jumps at the end of the step (D1-)",
            .source = "Schindler and Acary 2011, section 3.4, closed on velocity level",
            .options = TABLE(minus_fields),
            OF_BOTH,
        },
    .layout = layout_minus,
    CALLS_OF_BOTH,
};

const saltusi_scheme_ops saltusi_dg_plus = {
    .info =
        {
            .name = "dg-plus",
            .summary = "time-discontinuous Galerkin, jumps at the start of the step (D1+)",
            .source = "Schindler and Acary 2011, section 3.3, closed on acceleration level",
            .options = TABLE(plus_fields),
            OF_BOTH,
        },
    .layout = layout_plus,
    CALLS_OF_BOTH,
};
