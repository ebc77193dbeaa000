/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Callbacks of a system that return what no system has: rows that are zero or not finite, a negative mass, forces beyond
 * all numbers. Every scheme ends with an error, and none lets the ball fall through the floor or up.
 */
#include "saltus_test.h"

typedef enum fault_kind {
  SOUND,
  NAN_ROW,
  ZERO_ROW,
  LATE_NAN_ROW,
  NEGATIVE_MASS,
  LATE_NEGATIVE_MASS,
  HUGE_FORCE
} fault_kind;

typedef struct ball {
  fault_kind fault;
} ball;

static const double late = 0.02; /* s */

static void mass(const void* self, const saltus_point* at, double* M) {
  const ball* b = self;
  bool negative = b->fault == NEGATIVE_MASS || (b->fault == LATE_NEGATIVE_MASS && at->t > late);
  M[0] = negative ? -1.0 : 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const ball* b = self;
  F[0] = b->fault == HUGE_FORCE ? -1e308 : -9.81;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)identity;
  const ball* b = self;
  bool wild = b->fault == NAN_ROW || (b->fault == LATE_NAN_ROW && at->t > late);
  rows->G[0] = wild ? (double)NAN : b->fault == ZERO_ROW ? 0.0 : 1.0;
}

/* A ball 1 cm above the floor, which it meets after 45 ms; what the run says, and where the ball ends. */
static saltus_status drop(const saltus_scheme_info* scheme, fault_kind fault,
                          saltus_kept_message* kept, double* q) {
  const ball b = {.fault = fault};
  const saltus_system_ops ops = {
      .mass = mass, .force = force, .contacts = contacts, .contact = contact};
  const saltus_contact_law floor = {.name = "floor", .e_N = 0.5};
  const bool constant = fault != LATE_NEGATIVE_MASS;
  const saltus_system system = {.self = &b,
                                .ops = &ops,
                                .dims = {.nq = 1, .nv = 1, .nc = 1},
                                .traits =
                                    (constant ? SALTUS_CONSTANT_MASS : 0U) | SALTUS_FREE_FORCE,
                                .laws = &floor,
                                .law_count = 1};
  const double q0 = 0.01, v0 = 0.0;
  const saltus_sim_def def = {.system = &system,
                              .scheme = scheme->name,
                              .h = scheme->chooses_step ? 0.0 : 1e-3,
                              .q0 = &q0,
                              .v0 = &v0,
                              .log = saltus_log_keep(kept)};
  saltus_sim* sim = NULL;
  saltus_status status = saltus_sim_create(&def, &sim);
  *q = q0;
  if (status == SALTUS_OK) {
    status = saltus_sim_run_until(sim, 0.1);
    *q = saltus_sim_q(sim)[0];
    saltus_sim_destroy(sim);
  }
  return status;
}

static void every_scheme_ends_with_an_error(fault_kind fault) {
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* scheme = saltus_scheme_at(i);
    saltus_kept_message kept;
    double q;
    if (drop(scheme, SOUND, &kept, &q) != SALTUS_OK ||
        (fault == HUGE_FORCE && !scheme->chooses_step)) { /* fixed steps compute with such forces */
      continue; /* a scheme that stops where impacts accumulate, or that does not take such systems */
    }
    saltus_status status = drop(scheme, fault, &kept, &q);
    if (status == SALTUS_OK) {
      fail_msg("%s: fault %d ends with success at q = %g m", scheme->name, (int)fault, q);
    }
    if (status != SALTUS_OK && kept.text[0] == '\0') {
      fail_msg("%s: fault %d ends with status %d and no message", scheme->name, (int)fault,
               (int)status);
    }
  }
}

static void rows_that_are_not_finite(void** state) {
  (void)state;
  every_scheme_ends_with_an_error(NAN_ROW);
  every_scheme_ends_with_an_error(LATE_NAN_ROW);
}

static void rows_that_are_zero(void** state) {
  (void)state;
  every_scheme_ends_with_an_error(ZERO_ROW);
}

static void masses_that_are_negative(void** state) {
  (void)state;
  every_scheme_ends_with_an_error(NEGATIVE_MASS);
  every_scheme_ends_with_an_error(LATE_NEGATIVE_MASS);
}

static void forces_beyond_all_numbers(void** state) {
  (void)state;
  every_scheme_ends_with_an_error(HUGE_FORCE);
}

static void messages_name_what_and_when(void** state) {
  (void)state;
  const saltus_scheme_info* moreau = saltus_scheme_find("moreau-jean");
  const saltus_scheme_info* adaptive = saltus_scheme_find("adaptive");
  saltus_kept_message kept;
  double q;
  assert_int_equal(drop(moreau, ZERO_ROW, &kept, &q), SALTUS_ERR_SYSTEM);
  assert_says(kept, "the normal row of contact 0 floor is zero at t = 0 s");
  assert_int_equal(drop(moreau, LATE_NEGATIVE_MASS, &kept, &q), SALTUS_ERR_SYSTEM);
  assert_says(kept, "the mass of velocity 1 is -1 at t = 0.02");
  assert_int_equal(drop(moreau, NEGATIVE_MASS, &kept, &q), SALTUS_ERR_UNDEFINED);
  assert_says(kept, "the mass of coordinate 0 is -1 at t = 0 s");
  assert_int_equal(drop(adaptive, HUGE_FORCE, &kept, &q), SALTUS_ERR_SYSTEM);
  assert_says(kept, "at t = 0 s the acceleration along v1 is -1e+308");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_are_not_finite),    cmocka_unit_test(rows_that_are_zero),
      cmocka_unit_test(masses_that_are_negative),    cmocka_unit_test(forces_beyond_all_numbers),
      cmocka_unit_test(messages_name_what_and_when),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
