/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_fixture.h - formula models for tests: opened or the test fails with the message.
 */
#ifndef FORMULA_FIXTURE_H
#define FORMULA_FIXTURE_H

#include "saltus/formula.h"
#include "saltus_test.h"

#include <stdlib.h>

#define TEXT(s)                                                                                    \
  { .text = (s) }
#define PI 3.14159265358979323846
typedef struct fixture {
  saltus_formula_model* model;
  const saltus_system* system;
  saltus_point at;
} fixture;

static inline fixture open_model(const saltus_formula_def* def) {
  fixture f = {.at = {.t = 0.0}};
  saltus_kept_message kept;
  saltus_formula_def logged = *def;
  logged.log = saltus_log_keep(&kept);
  if (saltus_formula_model_create(&logged, &f.model) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  f.system = saltus_formula_model_system(f.model);
  f.at.scratch = malloc(f.system->dims.scratch);
  assert_non_null(f.at.scratch);
  assert_int_equal(saltus_system_validate(f.system, logged.log), SALTUS_OK);
  return f;
}

static inline void close_model(fixture* f) {
  free(f->at.scratch);
  saltus_formula_model_destroy(f->model);
}

/* All derivatives of the system against differences. 1e-8: sixth order leaves some 1e-11. */
static inline void check_derivatives(const fixture* f, double t, const double* q, const double* v) {
  saltus_system_check_result result;
  saltus_kept_message kept;
  assert_int_equal(saltus_system_check(f->system, t, q, v, saltus_log_keep(&kept), &result),
                   SALTUS_OK);
  if (!(result.worst <= 1e-8)) {
    fail_msg("%s is wrong by %g", result.where, result.worst);
  }
  assert_true(result.traits_hold);
}

#endif
