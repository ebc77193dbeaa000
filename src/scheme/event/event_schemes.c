/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_schemes.c - the Runge-Kutta methods as event-capturing schemes. They differ in their
 * tableau alone.
 */
#include "scheme/event/event_capturing.h"

static const char* const off_on[] = {"off", "on", NULL};

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_event_capturing_options, bracket, 1e-3, 0.0, 1e3,
                "C of the width C h^(p+1) to which events are bracketed [s^-p]"),
    SALTUS_REAL(saltus_event_capturing_options, floor, 0.0, 0.0, 1.0,
                "smallest width of a bracket; 0: 64 roundings of the time [s]"),
    SALTUS_CHOICE(saltus_event_capturing_options, projection, 1, 1, off_on,
                  "closed contacts and joints are projected onto g = 0 and U = 0"),
    SALTUS_CHOICE(saltus_event_capturing_options, forces, 1, 1, off_on,
                  "forces act in Moreau's step at an event; off: impulses alone, at an instant"),
};

#define TABLE SALTUSI_TABLE(saltus_event_capturing_options, fields)

SALTUSI_DEFAULTS(saltus_event_capturing_options, saltus_event_capturing_options_default, fields)

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return (size_t)sys->dims.nc * saltusi_capture_carried(sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options;
  saltusi_capture_transfer(sys, carry);
}

static saltus_status step(void* work, const void* options, const saltusi_step* s) {
  return saltusi_capture_step(work, options, s);
}

static saltus_status dense(void* work, const void* options, const saltusi_dense_query* query) {
  (void)options;
  return saltusi_capture_dense(work, query);
}

/* The layout stores the tableau of the scheme. */
#define SCHEME(id, label, p, embedded, text, origin, never_rests)                                  \
  static void layout_##id(void* work, const void* options, const saltusi_eval* eval,               \
                          saltus_arena* arena) {                                                   \
    (void)options;                                                                                 \
    saltusi_capture_layout(work, &saltusi_##id, eval, arena);                                      \
  }                                                                                                \
  const saltusi_scheme_ops saltusi_scheme_##id = {                                                 \
      .info =                                                                                      \
          {                                                                                        \
              SALTUSI_LOCATES_EVENTS(label, text, origin "; Acary 2009, algorithm 1, made robust", \
                                     p),                                                           \
              .embedded_order = embedded,                                                          \
              .penetrates = never_rests,                                                           \
              .treats = SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION |                            \
                        SALTUS_TREATS_FRICTION_CURVES | SALTUS_TREATS_VARIABLE_STEPS |             \
                        SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_MAPS | SALTUS_TREATS_LAWS, \
              .options = TABLE,                                                                    \
          },                                                                                       \
      .work_size = sizeof(saltusi_capture),                                                        \
      .memory_count = memory_count,                                                                \
      .carry_memory = carry_memory,                                                                \
      .memory_valid = saltusi_capture_memory_valid,                                                \
      .layout = layout_##id,                                                                       \
      .step = step,                                                                                \
      .dense_count = saltusi_capture_dense_count,                                                  \
      .carry_dense = saltusi_capture_transfer_dense,                                               \
      .dense = dense,                                                                              \
  };

/* An explicit Euler step cannot return to a contact that it leaves, so the contact never rests. */
SCHEME(explicit_euler, "explicit-euler", 1, 0,
       "explicit Euler through events; rebounds do not decay below the resolution of a step",
       "Euler 1768", true)
SCHEME(midpoint, "midpoint", 2, 0, "explicit midpoint rule through events", "Runge 1895", false)
SCHEME(heun_3, "heun-3", 3, 0, "Heun's method of order 3 through events", "Heun 1900", false)
SCHEME(rk4, "rk4", 4, 0, "the classical Runge-Kutta method through events", "Kutta 1901", false)
SCHEME(rkf45, "rkf45", 5, 4, "Runge-Kutta-Fehlberg 4(5) through events", "Fehlberg 1969", false)
SCHEME(dopri5, "dopri5", 5, 4, "Dormand-Prince 5(4) through events", "Dormand and Prince 1980",
       false)
SCHEME(radau_iia_1, "radau-iia-1", 1, 0, "implicit Euler through events", "Hairer and Wanner 1996",
       false)
SCHEME(radau_iia_3, "radau-iia-3", 3, 0, "Radau IIA of order 3 through events",
       "Hairer and Wanner 1996", false)
SCHEME(radau_iia_5, "radau-iia-5", 5, 0, "Radau IIA of order 5 through events",
       "Hairer and Wanner 1996", false)
SCHEME(lobatto_iiia_2, "lobatto-iiia-2", 2, 0, "trapezoidal rule through events",
       "Hairer and Wanner 1996", false)
SCHEME(lobatto_iiia_4, "lobatto-iiia-4", 4, 0, "Lobatto IIIA of order 4 through events",
       "Hairer and Wanner 1996", false)
SCHEME(lobatto_iiia_6, "lobatto-iiia-6", 6, 0, "Lobatto IIIA of order 6 through events",
       "Hairer and Wanner 1996", false)
SCHEME(gauss_2, "gauss-2", 2, 0, "implicit midpoint rule through events", "Hairer and Wanner 1996",
       false)
SCHEME(gauss_4, "gauss-4", 4, 0, "Gauss' method of order 4 through events",
       "Hairer and Wanner 1996", false)
SCHEME(gauss_6, "gauss-6", 6, 0, "Gauss' method of order 6 through events",
       "Hairer and Wanner 1996", false)
SCHEME(herk_3, "herk-3", 3, 0, "half-explicit method of order 3, index 2, through events",
       "Brasey and Hairer 1993", false)
SCHEME(hem_4, "hem-4", 4, 0, "half-explicit method of order 4, index 2, through events",
       "Brasey 1992", false)
