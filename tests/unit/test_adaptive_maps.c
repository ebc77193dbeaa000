/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Integration to a tolerance where positions are not the integrals of velocities: a rigid body with a unit
 * quaternion (w, x, y, z) and the angular velocity in its own axes.
 */
#include "rigid.h"
#include "saltus_test.h"

#include <float.h>

static const rigid_body heavy = {.mass = 1.0, .inertia = {1.0, 2.0, 3.0}};

/* Nearly about the middle axis: the body turns over again and again. Angular momentum in space, energy
 * and the length of the quaternion stay; allowed are 50 tolerances for some hundred steps. */
static void a_body_that_turns_over_keeps_its_momentum(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&heavy);
  static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853",
                                        "adaptive-radau5"};
  const double q0[RIGID_NQ] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 1e-2, 3.0, 0.0};
  double L0[3];
  rigid_momentum(&heavy, q0, v0, L0);
  for (int k = 0; k < 4; k++) {
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

/* Free rotation about the middle axis, I = (1, 10, 11), w0 = (0, 2, 1e-4). The angular velocity is
 * (2 cn, 2 sn, c dn)(p t + K); the attitude comes from the linear equation that it drives. Both by an independent
 * computation with 30 digits. */
static const rigid_body middle = {.mass = 1.0, .inertia = {1.0, 10.0, 11.0}};
static const double q_start[RIGID_NQ] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
static const double v_start[RIGID_NV] = {0.0, 0.0, 0.0, 0.0, 2.0, 1e-4};
static const double attitude5[4] = {0.281735350408, -0.02167877696, -0.952405395408,
                                    -0.11436426784};
static const double attitude10[4] = {-8.6919209448e-4, 0.889267260826, -5.3507142088e-4,
                                     -0.457386813349};

static const char* const methods[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853",
                                      "adaptive-radau5"};
enum { METHODS = 4 };

static saltus_sim* start(const saltus_system* system, const char* scheme, double tol,
                         const double* q0, const double* v0) {
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_sim_def def = {
      .system = system, .scheme = scheme, .options = &options, .q0 = q0, .v0 = v0};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

/* The error of the attitude is an angle, and ten tolerances at most. */
static void attitudes_keep_the_tolerance(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&middle);
  for (int k = 0; k < METHODS; k++) {
    for (double tol = 1e-4; tol > 5e-11; tol *= 1e-1) {
      saltus_sim* sim = start(&body, methods[k], tol, q_start, v_start);
      assert_int_equal(saltus_sim_run_until(sim, 5.0), SALTUS_OK);
      double at5 = quaternion_angle(attitude5, saltus_sim_q(sim) + 3);
      assert_int_equal(saltus_sim_run_until(sim, 10.0), SALTUS_OK);
      double at10 = quaternion_angle(attitude10, saltus_sim_q(sim) + 3);
      assert_true(at5 <= 10.0 * tol);
      assert_true(at10 <= 10.0 * tol);
      assert_true(fabs(quaternion_excess(saltus_sim_q(sim) + 3)) <= 4.0 * DBL_EPSILON);
      saltus_sim_destroy(sim);
    }
  }
}

/* Inside of steps attitudes are attitudes, as good as at their ends: a hundred tolerances allow for dense output
 * of order 4 and 3 at its worst. */
static void attitudes_inside_of_steps_have_length_one(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&middle);
  for (int k = 0; k < METHODS; k++) {
    const double tol = 1e-7;
    const saltus_integrator_def def = {.system = &body,
                                       .scheme = methods[k],
                                       .q0 = q_start,
                                       .v0 = v_start,
                                       .rtol = tol,
                                       .atol = tol};
    saltus_integrator* it;
    const saltus_event* event;
    assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
    double met = 0.0;
    for (double t = 0.1; t < 5.2; t += 0.1) {
      assert_int_equal(saltus_integrator_advance(it, t, SALTUS_STOP_NEVER, &event), SALTUS_OK);
      double from = saltus_integrator_dense_from(it);
      double q[RIGID_NQ], v[RIGID_NV];
      for (int i = 1; i < 8; i++) {
        double inside = from + 0.125 * i * (t - from);
        assert_int_equal(saltus_integrator_dense(it, inside, SALTUS_LEFT, q, v), SALTUS_OK);
        assert_true(fabs(quaternion_excess(q + 3)) <= 4.0 * DBL_EPSILON);
      }
      if (from < 5.0 && t > 5.05) {
        assert_int_equal(saltus_integrator_dense(it, 5.0, SALTUS_LEFT, q, v), SALTUS_OK);
        met = quaternion_angle(attitude5, q + 3);
        assert_true(met <= 100.0 * tol);
      }
    }
    assert_true(met > 0.0);
    saltus_integrator_destroy(it);
  }
}

/* A thousand seconds, over a hundred turns. Without normalisation the length drifts by 5e-4. */
static void a_long_rotation_keeps_its_length(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&heavy);
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 0.3, 1.0, 0.2};
  for (int k = 0; k < METHODS; k++) {
    saltus_sim* sim = start(&body, methods[k], 1e-5, q_start, v0);
    assert_int_equal(saltus_sim_run_until(sim, 1000.0), SALTUS_OK);
    assert_true(fabs(quaternion_excess(saltus_sim_q(sim) + 3)) <= 4.0 * DBL_EPSILON);
    saltus_sim_destroy(sim);
  }
}

/* A top on a spherical joint: its point stays where it is to rounding, energy and the vertical part of the
 * angular momentum stay within what the tolerance allows, two hundred of it in some hundred steps. */
static void a_top_stays_on_its_point(void** state) {
  (void)state;
  const rigid_body top = {.mass = 1.0,
                          .inertia = {0.05, 0.05, 0.05},
                          .gravity = 9.81,
                          .joint = true,
                          .pivot = {0.0, 0.0, -0.5}};
  const saltus_system body = rigid_system(&top);
  const double lean = 0.5;
  const double q0[RIGID_NQ] = {
      0.0, -0.5 * sin(lean), 0.5 * cos(lean), cos(0.5 * lean), sin(0.5 * lean), 0.0, 0.0};
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 0.0, 0.0, 40.0};
  for (int k = 0; k < METHODS; k++) {
    const double tol = 1e-7;
    saltus_sim* sim = start(&body, methods[k], tol, q0, v0);
    assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
    const double* q = saltus_sim_q(sim);
    const double* v = saltus_sim_v(sim);
    double point[3], L0[3], L1[3];
    quaternion_rotate(q + 3, top.pivot, point);
    for (int i = 0; i < 3; i++) {
      assert_near(q[i] + point[i], 0.0, 1e-15);
    }
    rigid_momentum(&top, q0, v0, L0);
    rigid_momentum(&top, q, v, L1);
    double energy = rigid_energy(&top, q0, v0);
    assert_near(rigid_energy(&top, q, v), energy, 200.0 * tol * energy);
    assert_near(L1[2], L0[2], 200.0 * tol * L0[2]);
    assert_true(q[2] < q0[2] - 0.01); /* it nutates */
    saltus_sim_destroy(sim);
  }
}

/* A bar that tumbles in a vertical plane bounces on its ends with friction as the planar one does. */
static void a_bar_bounces_in_space_as_in_the_plane(void** state) {
  (void)state;
  const planar_bar planar = planar_bar_with(1, 0.2, 0.6);
  const saltus_system flat = planar_bar_system(&planar);
  const rigid_body bar = rigid_bar_with(2, 0.2, 0.6);
  const saltus_system space = rigid_system(&bar);
  const double p0[3] = {0.0, 1.5, 0.3}, u0[3] = {0.4, 0.0, 2.0};
  const double q0[RIGID_NQ] = {0.0, 0.0, 1.5, cos(0.15), 0.0, sin(0.15), 0.0};
  const double v0[RIGID_NV] = {0.4, 0.0, 0.0, 0.0, 2.0, 0.0};
  saltus_sim* reference = start(&flat, "adaptive-dop853", 1e-11, p0, u0);
  assert_int_equal(saltus_sim_run_until(reference, 1.2), SALTUS_OK);
  const double* p = saltus_sim_q(reference);
  const double* u = saltus_sim_v(reference);
  const double turned[4] = {cos(0.5 * p[2]), 0.0, sin(0.5 * p[2]), 0.0};
  assert_true(fabs(u[2] - 2.0) > 1.0); /* it has met the ground */
  for (int k = 0; k < METHODS; k++) {
    const double tol = 1e-7;
    saltus_sim* sim = start(&space, methods[k], tol, q0, v0);
    assert_int_equal(saltus_sim_run_until(sim, 1.2), SALTUS_OK);
    const double* q = saltus_sim_q(sim);
    const double* v = saltus_sim_v(sim);
    assert_near(q[0], p[0], 10.0 * tol);
    assert_near(q[2], p[1], 10.0 * tol);
    assert_true(quaternion_angle(turned, q + 3) <= 10.0 * tol);
    assert_near(v[4], u[2], 10.0 * tol * fabs(u[2]));
    saltus_sim_destroy(sim);
  }
  saltus_sim_destroy(reference);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_that_turns_over_keeps_its_momentum),
      cmocka_unit_test(attitudes_keep_the_tolerance),
      cmocka_unit_test(attitudes_inside_of_steps_have_length_one),
      cmocka_unit_test(a_long_rotation_keeps_its_length),
      cmocka_unit_test(a_top_stays_on_its_point),
      cmocka_unit_test(a_bar_bounces_in_space_as_in_the_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
