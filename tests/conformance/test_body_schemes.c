/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_schemes.c - every scheme moves a double pendulum of two spatial bodies with askew hinges, and converges
 * to the same motion, in coordinates of bodies and of joints.
 */
#include "saltus/tree.h"
#include "saltus_test.h"

static saltus_mechanism* double_pendulum(void) {
  static const char* const body[2] = {"upper", "lower"};
  static const char* const first[2] = {"a1", "a2"};
  static const char* const second[2] = {"b1", "b2"};
  static const char* const hinge[2] = {"h1", "h2"};
  saltus_body_def bodies[2];
  saltus_marker_def markers[4];
  saltus_joint_def joints[2];
  for (int i = 0; i < 2; i++) {
    const saltus_orientation askew = {SALTUS_ORIENTATION_AXIS, {1.0, 0.2 * i, 0.0, 1.2 + i}};
    bodies[i] = (saltus_body_def){
        .name = body[i], .mass = 1.0, .inertia = {0.05, 0.09, 0.1}, .position = {i + 0.5}};
    markers[2 * i] = (saltus_marker_def){.name = first[i],
                                         .body = i > 0 ? body[0] : NULL,
                                         .position = {i > 0 ? 0.5 : 0.0},
                                         .orientation = askew};
    markers[2 * i + 1] = (saltus_marker_def){
        .name = second[i], .body = body[i], .position = {-0.5}, .orientation = askew};
    joints[i] = (saltus_joint_def){
        .name = hinge[i], .type = SALTUS_JOINT_REVOLUTE, .between = {first[i], second[i]}};
  }
  const saltus_mechanism_def def = {.dimension = 3,
                                    .gravity = {0.0, 0.0, -9.81},
                                    .bodies = bodies,
                                    .body_count = 2,
                                    .markers = markers,
                                    .marker_count = 4,
                                    .joints = joints,
                                    .joint_count = 2};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  return m;
}

/* Error at 0.5 s in m and rad, and the worst defect of a joint; tree: in joint coordinates, or NULL. */
static double run(const saltus_mechanism* m, const saltus_tree* tree, const char* scheme, int steps,
                  const double* exact, double* defect) {
  const saltus_system* sys = saltus_mechanism_system(m);
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = tree != NULL ? saltus_tree_system(tree) : sys,
                              .scheme = scheme,
                              .h = 0.5 / steps,
                              .q0 = tree != NULL ? saltus_tree_q0(tree) : saltus_mechanism_q0(m),
                              .v0 = tree != NULL ? saltus_tree_v0(tree) : saltus_mechanism_v0(m),
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run(sim, steps) != SALTUS_OK) {
    fail_msg("%s: %s", scheme, kept.text);
  }
  double d[12], error = 0.0;
  saltus_mechanism_state state;
  sys->ops->difference(sys->self, exact, saltus_sim_q(sim), d);
  for (int i = 0; i < 12; i++) {
    error = fmax(error, fabs(d[i]));
  }
  saltus_mechanism_measure(m, 0.5, saltus_sim_q(sim), saltus_mechanism_v0(m), &state);
  *defect = fmax(state.defect_metres, state.defect_radians);
  saltus_sim_destroy(sim);
  return error;
}

/* Hold joints at the level of velocities: their defects shrink with the step. */
static bool drifts(const char* scheme) {
  static const char* const names[] = {"moreau-jean",
                                      "moreau-midpoint",
                                      "splitting-rkf45",
                                      "splitting-rkf45-contact",
                                      "dg-minus",
                                      "dg-plus",
                                      "trapezoidal-implicit-mean",
                                      "trapezoidal-implicit-end",
                                      "moreau-extrapolated"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], scheme) == 0) {
      return true;
    }
  }
  return false;
}

static void every_scheme_moves_spatial_bodies_with_its_order(void** state) {
  (void)state;
  saltus_mechanism *m = double_pendulum(), *other = double_pendulum();
  const saltus_tree_def by_joints = {.mechanism = other};
  saltus_tree* tree;
  assert_int_equal(saltus_tree_create(&by_joints, &tree), SALTUS_OK);
  const saltus_system* sys = saltus_mechanism_system(m);
  const saltus_integrator_def def = {.system = sys,
                                     .q0 = saltus_mechanism_q0(m),
                                     .v0 = saltus_mechanism_v0(m),
                                     .rtol = 1e-11,
                                     .atol = 1e-11};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 0.5, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  int looked = 0;
  for (int s = 0; s < 2 * saltus_scheme_count(); s++) {
    const saltus_scheme_info* info = saltus_scheme_at(s / 2);
    const saltus_tree* in = s % 2 == 1 ? tree : NULL;
    if (info->chooses_step) {
      continue;
    }
    double defect[2];
    const double coarse = run(m, in, info->name, 25, saltus_integrator_q(it), &defect[0]);
    const double fine = run(m, in, info->name, 50, saltus_integrator_q(it), &defect[1]);
    /* Euler's methods have order 1, all others 2 or more; 1e-9 is where the reference ends to be exact */
    const bool first =
        strcmp(info->name, "explicit-euler") == 0 || strcmp(info->name, "radau-iia-1") == 0;
    if (!(fine < 1e-9) && !(fine < coarse / (first ? 1.8 : 3.5) && fine < (first ? 0.05 : 1e-2))) {
      fail_msg("%s%s: errors %g and %g", info->name, in != NULL ? " by joints" : "", coarse, fine);
    }
    if (drifts(info->name) && in == NULL ? !(defect[1] < 0.3 * defect[0]) : !(defect[1] < 1e-13)) {
      fail_msg("%s: defects %g and %g", info->name, defect[0], defect[1]);
    }
    looked++;
  }
  assert_true(looked >= 50);
  saltus_integrator_destroy(it);
  saltus_tree_destroy(tree);
  saltus_mechanism_destroy(m);
  saltus_mechanism_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scheme_moves_spatial_bodies_with_its_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
