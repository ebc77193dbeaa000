/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Systems whose positions are not the integrals of their velocities, q' = N(q) v: what they have to say, and
 * what the checker finds.
 */
#include "rigid.h"
#include "saltus_test.h"
#include "system/displacement.h"

#include <float.h>

static const double q_any[RIGID_NQ] = {0.3, -0.2, 0.9, 0.5, -0.5, 0.1, 0.7};
static const double v_any[RIGID_NV] = {0.4, 0.3, -0.2, 1.1, -0.7, 2.3};

static rigid_body any_body(void) {
  return (rigid_body){.mass = 2.0,
                      .inertia = {1.0, 10.0, 11.0},
                      .gravity = 9.81,
                      .joint = true,
                      .pivot = {0.1, 0.2, -0.7},
                      .corners = 2,
                      .corner = {{0.5, 0.4, 0.3}, {-0.5, 0.4, 0.3}},
                      .law = {{.tangents = 2, .mu = 0.3}, {.tangents = 2, .mu = 0.3}},
                      .stiffness = 0.7};
}

static void normalised(double* q) {
  double size = 1.0 + quaternion_excess(q + 3);
  for (int i = 3; i < RIGID_NQ; i++) {
    q[i] /= size;
  }
}

static void every_derivative_of_a_rigid_body_is_right(void** state) {
  (void)state;
  const rigid_body body = any_body();
  const saltus_system sys = rigid_system(&body);
  double q[RIGID_NQ];
  memcpy(q, q_any, sizeof q);
  normalised(q);
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(&sys, 0.0, q, v_any, (saltus_log){0}, &result), SALTUS_OK);
  assert_true(result.worst < 1e-10);
  assert_true(result.difference < 1e-13);
  assert_true(result.normalise < 1e-15);
  assert_true(result.turn_momentum < 1e-12);
  assert_true(result.traits_hold);
}

/* Twice the turn: quaternions that are taken for angles. */
static void wrong_difference(const void* self, const double* q0, const double* q1, double* d) {
  (void)self;
  for (int i = 0; i < RIGID_NV; i++) {
    d[i] = i < 3 ? q1[i] - q0[i] : 2.0 * (q1[i + 1] - q0[i + 1]);
  }
}

/* Only half the way back. */
static void wrong_normalise(const void* self, double* q) {
  (void)self;
  double part = 1.0 - 0.5 * quaternion_excess(q + 3);
  for (int i = 3; i < RIGID_NQ; i++) {
    q[i] *= part;
  }
}

static void a_wrong_difference_or_normalise_is_found(void** state) {
  (void)state;
  const rigid_body body = any_body();
  saltus_system sys = rigid_system(&body);
  saltus_system_ops ops = *sys.ops;
  sys.ops = &ops;
  double q[RIGID_NQ];
  memcpy(q, q_any, sizeof q);
  normalised(q);
  saltus_system_check_result result;
  ops.difference = wrong_difference;
  assert_int_equal(saltus_system_check(&sys, 0.0, q, v_any, (saltus_log){0}, &result), SALTUS_OK);
  assert_string_equal(result.where, "difference");
  assert_true(result.worst > 1e-2);
  ops = *rigid_system(&body).ops;
  ops.normalise = wrong_normalise;
  assert_int_equal(saltus_system_check(&sys, 0.0, q, v_any, (saltus_log){0}, &result), SALTUS_OK);
  assert_string_equal(result.where, "normalise");
  assert_true(result.worst > 1e-5);
}

static void a_map_is_told_completely(void** state) {
  (void)state;
  const rigid_body body = any_body();
  saltus_system sys = rigid_system(&body);
  saltus_system_ops ops = *sys.ops;
  const saltus_system_ops complete = ops;
  saltus_kept_message kept;
  sys.ops = &ops;
  ops.difference = NULL;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"difference\" is missing: dims.nq is not dims.nv");
  ops = complete;
  ops.normalise = NULL;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"normalise\" is missing: dims.nq is not dims.nv");
  ops = complete;
  ops.rate = NULL;
  sys.dims.nq = sys.dims.nv;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"rate\" is missing: rate, advance and difference define one map");
}

/* A start with a few digits, or scaled, is the same start; one without a direction is none. */
static void a_start_is_normalised(void** state) {
  (void)state;
  const rigid_body body = {.mass = 1.0, .inertia = {1.0, 2.0, 3.0}};
  const saltus_system sys = rigid_system(&body);
  const double v0[RIGID_NV] = {0.0};
  double q0[RIGID_NQ] = {1.0, 2.0, 3.0, 1.2, 0.0, 0.0, -1.6};
  saltus_kept_message kept = {0};
  saltus_sim_def def = {.system = &sys,
                        .scheme = "moreau-jean",
                        .h = 0.1,
                        .q0 = q0,
                        .v0 = v0,
                        .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_near(saltus_sim_q(sim)[3], 0.6, DBL_EPSILON);
  assert_near(saltus_sim_q(sim)[6], -0.8, DBL_EPSILON);
  assert_says(kept, "q0 is normalised, which moves an entry by 0.8");
  saltus_sim_destroy(sim);
  q0[3] = q0[6] = 0.0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
  assert_says(kept, "a quaternion must not be zero");
}

/* The body with one more coordinate, which shows how far it has turned about its own z axis. */
enum { SHOWN_NQ = RIGID_NQ + 1 };

static void shown_rate(const void* self, const double* q, const double* v, double* dq) {
  rigid_system(self).ops->rate(self, q, v, dq);
  dq[RIGID_NQ] = v[5];
}

/* Only a velocity whose coordinate is what ways are made of has the size of that coordinate; attitudes have none. */
static void coordinates_that_show_others_are_no_positions(void** state) {
  (void)state;
  const rigid_body body = any_body();
  saltus_system sys = rigid_system(&body);
  saltus_system_ops ops = *sys.ops;
  sys.ops = &ops;
  sys.dims.nq = SHOWN_NQ;
  ops.rate = shown_rate;
  char room[4096];
  saltus_arena arena = saltus_arena_over(room, sizeof room);
  saltusi_displacement_map ways;
  saltusi_displacement_layout(&ways, &sys, &arena);
  double q[SHOWN_NQ] = {3.0, -40.0, 0.5, 1.0, 0.0, 0.0, 0.0, 77.0};
  saltusi_displacement_find_own(&ways, &sys, q);
  const int own[RIGID_NV] = {0, 1, 2, -1, -1, -1};
  assert_memory_equal(ways.own, own, sizeof own);
  assert_true(saltusi_displacement_size(&ways, q, 1) == 40.0);
  assert_true(saltusi_displacement_tolerance(&ways, 1.0, 5, 1e-6, 1e-4) == 1e-4);
  assert_near(saltusi_displacement_tolerance(&ways, 40.0, 1, 1e-6, 1e-4), 4.001e-3, 1e-18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_derivative_of_a_rigid_body_is_right),
      cmocka_unit_test(a_wrong_difference_or_normalise_is_found),
      cmocka_unit_test(a_map_is_told_completely),
      cmocka_unit_test(a_start_is_normalised),
      cmocka_unit_test(coordinates_that_show_others_are_no_positions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
