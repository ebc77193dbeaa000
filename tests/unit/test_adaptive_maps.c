/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Integration to a tolerance where positions are not the integrals of velocities: a rigid body with a unit
 * quaternion (w, x, y, z) and the angular velocity in its own axes.
 */
#include "rigid.h"
#include "saltus_test.h"

static const rigid_body heavy = {.mass = 1.0, .inertia = {1.0, 2.0, 3.0}};

/* Nearly about the middle axis: the body turns over again and again. Angular momentum in space, energy
 * and the length of the quaternion stay; allowed are 50 tolerances for some hundred steps. */
static void a_body_that_turns_over_keeps_its_momentum(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&heavy);
  static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853"};
  const double q0[RIGID_NQ] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 1e-2, 3.0, 0.0};
  double L0[3];
  rigid_momentum(&heavy, q0, v0, L0);
  for (int k = 0; k < 3; k++) {
    for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
      saltus_adaptive_options options = saltus_adaptive_options_default();
      options.rtol = options.atol = tol;
      const saltus_sim_def def = {
          .system = &body, .scheme = schemes[k], .options = &options, .q0 = q0, .v0 = v0};
      saltus_sim* sim;
      assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
      assert_int_equal(saltus_sim_run_until(sim, 10.0), SALTUS_OK);
      const double* q = saltus_sim_q(sim);
      const double* v = saltus_sim_v(sim);
      double L[3];
      rigid_momentum(&heavy, q, v, L);
      assert_near(quaternion_excess(q + 3), 0.0, 25.0 * tol);
      assert_near(rigid_energy(&heavy, q, v), 9.00005, 50.0 * 9.0 * tol);
      for (int i = 0; i < 3; i++) {
        assert_near(L[i], L0[i], 50.0 * 6.0 * tol);
      }
      saltus_sim_destroy(sim);
    }
  }
}

/* The implicit method treats no such maps, and says so. */
static void the_implicit_method_refuses_maps(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&heavy);
  saltus_kept_message kept;
  saltus_scheme* scheme;
  const saltus_scheme_def def = {
      .scheme = "adaptive-radau5", .system = &body, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "treats only systems with q' = v");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_that_turns_over_keeps_its_momentum),
      cmocka_unit_test(the_implicit_method_refuses_maps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
