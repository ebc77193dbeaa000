/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A pendulum on a hinge as a mechanism of the plane, q' = v, and of space, with a quaternion and the angle of the hinge
 * as coordinates: every scheme moves them alike, over limits and many turns.
 */
#include "saltus_test.h"

#include <float.h>

static saltus_mechanism* pendulum(int dimension, double spin, bool limited) {
  const saltus_body_def body = {
      .name = "arm",
      .mass = 1.0,
      .inertia = {0.1, 0.1, 0.1},
      .position = {0.5},
      .velocity = {0.0, 0.5 * spin},
      .angular_velocity = {dimension == 2 ? spin : 0.0, 0.0, dimension == 2 ? 0.0 : spin}};
  const saltus_marker_def markers[] = {{.name = "ground"},
                                       {.name = "foot", .body = "arm", .position = {-0.5}}};
  const saltus_joint_def hinge = {
      .name = "hinge",
      .type = SALTUS_JOINT_REVOLUTE,
      .between = {"ground", "foot"},
      .angle = {.limited = limited, .lower = -2.5, .upper = 0.5, .restitution = 0.5}};
  const saltus_mechanism_def def = {.dimension = dimension,
                                    .gravity = {0.0, -9.81, 0.0},
                                    .bodies = &body,
                                    .body_count = 1,
                                    .markers = markers,
                                    .marker_count = 2,
                                    .joints = &hinge,
                                    .joint_count = 1};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  return m;
}

typedef struct outcome {
  double angle, rate; /* of the hinge */
  double excess;      /* of the quaternion */
} outcome;

static outcome run(const saltus_mechanism* m, const saltus_scheme_info* info, double h, double t) {
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-8;
  const saltus_sim_def def = {.system = saltus_mechanism_system(m),
                              .scheme = info->name,
                              .options = info->chooses_step ? &options : NULL,
                              .h = info->chooses_step ? 0.0 : h,
                              .q0 = saltus_mechanism_q0(m),
                              .v0 = saltus_mechanism_v0(m)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  if (info->chooses_step) {
    assert_int_equal(saltus_sim_run_until(sim, t), SALTUS_OK);
  } else {
    assert_int_equal(saltus_sim_run(sim, llround(t / h)), SALTUS_OK);
  }
  const double* q = saltus_sim_q(sim);
  const saltus_joint_motion hinge = saltus_mechanism_joint_motion(m, 0, t, q, saltus_sim_v(sim));
  outcome out = {.angle = hinge.angle, .rate = hinge.angle_rate};
  if (def.system->dims.nq != def.system->dims.nv) {
    double square = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6];
    out.excess = fabs(sqrt(square) - 1.0);
  }
  saltus_sim_destroy(sim);
  return out;
}

/* How well the two agree: up to what the stages of a scheme err in h |w|, 0.004 and 0.04. */
enum { LOW_ORDER, ORDER_3, HIGH_ORDER, TO_TOLERANCE, KINDS };

static int kind_of(const saltus_scheme_info* info) {
  int order = info->smooth_order;
  return info->chooses_step ? TO_TOLERANCE
                            : (order < 3 ? LOW_ORDER : (order == 3 ? ORDER_3 : HIGH_ORDER));
}

static void hinges_move_in_space_as_in_the_plane(void** state) {
  (void)state;
  static const struct {
    double spin, t;
    bool limited;
    double most[KINDS];
  } cases[] = {{0.0, 1.1, true, {5e-6, 2e-8, 1e-10, 1e-7}},
               {40.0, 0.8, false, {5e-3, 5e-3, 1e-6, 1e-5}}};
  for (int c = 0; c < 2; c++) {
    saltus_mechanism* plane = pendulum(2, cases[c].spin, cases[c].limited);
    saltus_mechanism* space = pendulum(3, cases[c].spin, cases[c].limited);
    for (int i = 0; i < saltus_scheme_count(); i++) {
      if (!saltus_test_takes(i + c)) {
        continue;
      }
      const saltus_scheme_info* info = saltus_scheme_at(i);
      const double h = info->smooth_order > 1 ? 1e-3 : 2e-4;
      const outcome flat = run(plane, info, h, cases[c].t);
      const outcome turned = run(space, info, h, cases[c].t);
      double apart = fmax(fabs(turned.angle - flat.angle), fabs(turned.rate - flat.rate));
      if (!(apart <= cases[c].most[kind_of(info)])) {
        fail_msg("%s, spin %g: hinges are %g apart", info->name, cases[c].spin, apart);
      }
      assert_true(turned.excess <= 4.0 * DBL_EPSILON);
    }
    saltus_mechanism_destroy(plane);
    saltus_mechanism_destroy(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hinges_move_in_space_as_in_the_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
