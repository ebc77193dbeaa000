/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every scheme with a fixed step does with positions that are not the integrals of velocities: rigid bodies
 * with unit quaternions.
 */
#include "rigid.h"
#include "saltus_test.h"

#include <float.h>

static const double q_start[RIGID_NQ] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};

/* The state after steps of length h; v may be NULL. */
static saltus_status run(const saltus_system* sys, const char* scheme, double h, long long steps,
                         const double* q0, const double* v0, double* q) {
  const saltus_sim_def def = {.system = sys, .scheme = scheme, .h = h, .q0 = q0, .v0 = v0};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_OK) {
    status = saltus_sim_run(sim, steps);
    memcpy(q, saltus_sim_q(sim), RIGID_NQ * sizeof(double));
    saltus_sim_destroy(sim);
  }
  return status;
}

/* Steps for which the error is some 1e-5 to 1e-9, far above what references and rounding leave. */
static long long steps_of(int order) {
  static const long long steps[] = {0, 4000, 1000, 400, 200, 100, 50};
  return steps[order < 6 ? order : 6];
}

static bool has_fixed_steps(const saltus_scheme_info* info) {
  return !info->chooses_step;
}

/* The order of a scheme, from its error with steps and with half of them, is what it says, to a fifth. */
static void check_order(const char* what, const saltus_scheme_info* info, const double error[2]) {
  double order = log2(error[0] / error[1]);
  int claimed = info->smooth_order;
  if (!(order > claimed - 0.2 && order < claimed + 1.1)) {
    fail_msg("%s, %s: errors %g and %g, order %g, must be %d", what, info->name, error[0], error[1],
             order, claimed);
  }
}

/* Free rotation about the middle axis, I = (1, 10, 11), w0 = (0, 2, 1e-4); angular velocity and attitude at 5 s by an
 * independent computation with Jacobi's functions, 12 digits. */
static const rigid_body middle = {.mass = 1.0, .inertia = {1.0, 10.0, 11.0}};
static const double v_middle[RIGID_NV] = {0.0, 0.0, 0.0, 0.0, 2.0, 1e-4};
static const double attitude5[4] = {0.281735350408, -0.02167877696, -0.952405395408,
                                    -0.11436426784};
static const double omega5[3] = {-0.46234314504321, 1.9458259984468, 0.41820512191072};

static void free_rotation_has_the_order_of_its_scheme(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&middle);
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    double error[2];
    for (int k = 0; k < 2 && has_fixed_steps(info); k++) {
      long long steps = steps_of(info->smooth_order) << k;
      double q[RIGID_NQ];
      assert_int_equal(run(&body, info->name, 5.0 / (double)steps, steps, q_start, v_middle, q),
                       SALTUS_OK);
      error[k] = quaternion_angle(attitude5, q + 3);
      assert_true(fabs(quaternion_excess(q + 3)) <= 4.0 * DBL_EPSILON);
    }
    if (has_fixed_steps(info)) {
      check_order("free rotation", info, error);
    }
  }
}

/* Inside of steps of event capturing: errors h^6 of attitudes and h^5 of velocities, with a method of order 6. The
 * time 5 s is two fifths into the last step. */
static void inside_of_steps_the_motion_is_of_order_five(void** state) {
  (void)state;
  const saltus_system body = rigid_system(&middle);
  double angle[2], speed[2];
  for (int k = 0; k < 2; k++) {
    int steps = 50 << k;
    double h = 5.0 / (steps + 0.4);
    double q[RIGID_NQ], v[RIGID_NV];
    saltus_state now = {.t = 0.0, .q = q, .v = v};
    memcpy(q, q_start, sizeof q);
    memcpy(v, v_middle, sizeof v);
    const saltus_scheme_def def = {.scheme = "gauss-6", .system = &body};
    saltus_scheme* scheme;
    saltus_step_report report;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    for (int i = 0; i <= steps; i++) {
      assert_int_equal(saltus_scheme_step(scheme, h, &now, &report), SALTUS_OK);
    }
    assert_int_equal(saltus_scheme_dense(scheme, 5.0, SALTUS_LEFT, q, v), SALTUS_OK);
    assert_true(fabs(quaternion_excess(q + 3)) <= 4.0 * DBL_EPSILON);
    angle[k] = quaternion_angle(attitude5, q + 3);
    speed[k] = fmax(fabs(v[3] - omega5[0]), fmax(fabs(v[4] - omega5[1]), fabs(v[5] - omega5[2])));
    saltus_scheme_destroy(scheme);
  }
  assert_true(log2(angle[0] / angle[1]) > 5.7);
  assert_true(log2(speed[0] / speed[1]) > 4.7);
}

/* A heavy symmetric top with its point in the origin, released from the angle theta0 with the spin w3 alone. With
 * u = cos theta, I about the point:
 *
 *   u'^2 = a (u0 - u) (u - u1) (u3 - u),    a = 2 m g l / I1,    phi' = I3 w3 (u0 - u) / (I1 (1 - u^2))
 *
 * By u = (u0 + u1) / 2 + (u0 - u1) / 2 cos x the time of a nutation and the turns phi and psi in it, psi' = w3 - phi' u,
 * are integrals of periodic functions of x, for which equal weights are as good as exact. */
typedef struct top_motion {
  double period;
  double attitude[4]; /* after one nutation */
} top_motion;

static const double top_lean = 0.5235987755982988; /* 30 degrees */
static const double top_spin = 60.0;

static top_motion top_exact(void) {
  const double mgl = 9.81 * 0.5, I1 = 0.3, I3 = 0.05;
  double u0 = cos(top_lean);
  double a = 2.0 * mgl / I1;
  double b = I3 * top_spin / I1;
  /* a (1 - u^2) = b^2 (u0 - u) has the roots u1 and u3 */
  double half = 0.5 * b * b / a;
  double root = sqrt(half * half - 2.0 * half * u0 + 1.0);
  double u1 = half - root, u3 = half + root;
  double time = 0.0, phi = 0.0, psi = 0.0;
  enum { NODES = 400 };
  for (int i = 0; i < NODES; i++) {
    double x = 2.0 * 3.14159265358979323846 * i / NODES;
    double u = 0.5 * (u0 + u1) + 0.5 * (u0 - u1) * cos(x);
    double dt = 2.0 * 3.14159265358979323846 / NODES / sqrt(a * (u3 - u));
    double precession = b * (u0 - u) / (1.0 - u * u);
    time += dt;
    phi += precession * dt;
    psi += (top_spin - precession * u) * dt;
  }
  const double precessed[4] = {cos(0.5 * phi), 0.0, 0.0, sin(0.5 * phi)};
  const double leant[4] = {cos(0.5 * top_lean), sin(0.5 * top_lean), 0.0, 0.0};
  const double spun[4] = {cos(0.5 * psi), 0.0, 0.0, sin(0.5 * psi)};
  double both[4];
  top_motion motion = {.period = time};
  quaternion_product(precessed, leant, both);
  quaternion_product(both, spun, motion.attitude);
  return motion;
}

static void a_top_on_a_spherical_joint_has_the_order_of_its_scheme(void** state) {
  (void)state;
  static const rigid_body top = {.mass = 1.0,
                                 .inertia = {0.05, 0.05, 0.05},
                                 .gravity = 9.81,
                                 .joint = true,
                                 .pivot = {0.0, 0.0, -0.5}};
  const saltus_system body = rigid_system(&top);
  const top_motion exact = top_exact();
  const double q0[RIGID_NQ] = {
      0.0, -0.5 * sin(top_lean), 0.5 * cos(top_lean), cos(0.5 * top_lean), sin(0.5 * top_lean), 0.0,
      0.0};
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 0.0, 0.0, top_spin};
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    double error[2];
    for (int k = 0; k < 2 && has_fixed_steps(info); k++) {
      long long steps = 2 * steps_of(info->smooth_order) << k;
      double q[RIGID_NQ];
      assert_int_equal(run(&body, info->name, exact.period / (double)steps, steps, q0, v0, q),
                       SALTUS_OK);
      error[k] = quaternion_angle(exact.attitude, q + 3);
    }
    if (has_fixed_steps(info)) {
      check_order("top", info, error);
    }
  }
}

/* Derived from a discrete action: the energy stays in a band that does not move, and the angular momentum in space to
 * rounding. h = 0.05 s at some 1 rad/s. */
static void variational_schemes_keep_momentum_and_a_band_of_energy(void** state) {
  (void)state;
  static const rigid_body body = {.mass = 1.0, .inertia = {1.0, 2.0, 3.0}};
  static const char* const names[] = {"rattle", "variational"};
  const saltus_system sys = rigid_system(&body);
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 0.3, 1.0, 0.2};
  const int rounds = saltus_test_long() ? 1000 : 100;
  double L0[3];
  rigid_momentum(&body, q_start, v0, L0);
  for (int i = 0; i < 2; i++) {
    const saltus_sim_def def = {
        .system = &sys, .scheme = names[i], .h = 0.05, .q0 = q_start, .v0 = v0};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    double start = rigid_energy(&body, q_start, v0);
    for (int k = 0; k < rounds; k++) {
      assert_int_equal(saltus_sim_run(sim, 100 * (k + 1)), SALTUS_OK);
      double L[3];
      rigid_momentum(&body, saltus_sim_q(sim), saltus_sim_v(sim), L);
      for (int j = 0; j < 3; j++) { /* rounding of 100 steps, |L| = 2.1 */
        assert_near(L[j], L0[j], 2e-14 * (k + 1));
      }
      double energy = rigid_energy(&body, saltus_sim_q(sim), saltus_sim_v(sim)) / start - 1.0;
      assert_true(fabs(energy) < 1e-4); /* (h w)^2 / 25 */
    }
    saltus_sim_destroy(sim);
  }
}

/* A million steps (of ten times fewer outside of make test-long) of every kind of position update. */
static void quaternions_keep_length_one(void** state) {
  (void)state;
  static const rigid_body body = {.mass = 1.0, .inertia = {1.0, 2.0, 3.0}};
  static const char* const names[] = {"moreau-jean", "moreau-midpoint", "rk4", "radau-iia-1",
                                      "rattle"};
  const saltus_system sys = rigid_system(&body);
  const double v0[RIGID_NV] = {0.0, 0.0, 0.0, 0.3, 1.0, 0.2};
  for (int i = 0; i < 5; i++) {
    double q[RIGID_NQ];
    long long steps = saltus_test_long() ? 1000000 : 20000;
    assert_int_equal(run(&sys, names[i], 1e-3, steps, q_start, v0, q), SALTUS_OK);
    assert_true(fabs(quaternion_excess(q + 3)) <= 4.0 * DBL_EPSILON);
  }
}

/* Its positions are those of the step before, advanced. */
static bool only_advances(const char* scheme) {
  return strncmp(scheme, "moreau", 6) == 0 || strncmp(scheme, "trapezoidal", 11) == 0 ||
         strcmp(scheme, "rattle") == 0 || strcmp(scheme, "variational") == 0 ||
         strcmp(scheme, "schatzman-paoli") == 0;
}

/* A bar that tumbles in a plane and bounces on its ends, as a rigid body and with an angle. About one axis turns
 * commute: where positions only advance the two are one motion up to rounding, elsewhere up to what the stages err. */
static void a_bar_bounces_in_space_as_in_the_plane(void** state) {
  (void)state;
  const planar_bar planar = planar_bar_with(0, 0.0, 0.6);
  const rigid_body bar = rigid_bar_with(0, 0.0, 0.6);
  const saltus_system flat = planar_bar_system(&planar);
  const saltus_system space = rigid_system(&bar);
  const double p0[3] = {0.0, 1.5, 0.3}, u0[3] = {0.4, 0.0, 2.0};
  const double q0[RIGID_NQ] = {0.0, 0.0, 1.5, cos(0.15), 0.0, sin(0.15), 0.0};
  const double v0[RIGID_NV] = {0.4, 0.0, 0.0, 0.0, 2.0, 0.0};
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const saltus_sim_def plane = {
        .system = &flat, .scheme = info->name, .h = 1e-3, .q0 = p0, .v0 = u0};
    saltus_sim* sim;
    if (info->chooses_step) {
      continue;
    }
    assert_int_equal(saltus_sim_create(&plane, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run(sim, 1200), SALTUS_OK);
    const double* p = saltus_sim_q(sim);
    double q[RIGID_NQ];
    assert_int_equal(run(&space, info->name, 1e-3, 1200, q0, v0, q), SALTUS_OK);
    const double turned[4] = {cos(0.5 * p[2]), 0.0, sin(0.5 * p[2]), 0.0};
    assert_true(p[2] < 2.0); /* it has met the ground: free it would have turned to 2.7 */
    double apart = fmax(fabs(q[2] - p[1]), quaternion_angle(turned, q + 3));
    if (!(apart <= (only_advances(info->name) || info->smooth_order > 2 ? 1e-11 : 2e-6))) {
      fail_msg("%s: the two are %g apart", info->name, apart); /* (h w)^2 is some 1e-6 */
    }
    saltus_sim_destroy(sim);
  }
}

/* Degrees and closures of the time-discontinuous Galerkin steps. */
static void galerkin_steps_of_every_degree_turn(void** state) {
  (void)state;
  static const struct {
    const char* scheme;
    int degree, closure, order;
    long long steps;
  } cases[] = {
      {"dg-minus", 2, SALTUS_DG_VELOCITY, 4, 200},
      {"dg-minus", 4, SALTUS_DG_VELOCITY, 6, 50},
      {"dg-minus", 1, SALTUS_DG_POSITION, 2, 1000},
      {"dg-plus", 2, SALTUS_DG_ACCELERATION, 4, 200},
      {"dg-plus", 1, SALTUS_DG_ACCELERATION, 2, 1000},
  };
  const saltus_system body = rigid_system(&middle);
  for (int i = 0; i < 5; i++) {
    double error[2];
    for (int k = 0; k < 2; k++) {
      saltus_dg_options options = cases[i].scheme[3] == 'm' ? saltus_dg_minus_options_default()
                                                            : saltus_dg_plus_options_default();
      options.degree = cases[i].degree;
      options.closure = cases[i].closure;
      const saltus_sim_def def = {.system = &body,
                                  .scheme = cases[i].scheme,
                                  .options = &options,
                                  .h = 5.0 / (double)(cases[i].steps << k),
                                  .q0 = q_start,
                                  .v0 = v_middle};
      saltus_sim* sim;
      assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
      assert_int_equal(saltus_sim_run(sim, cases[i].steps << k), SALTUS_OK);
      error[k] = quaternion_angle(attitude5, saltus_sim_q(sim) + 3);
      saltus_sim_destroy(sim);
    }
    double order = log2(error[0] / error[1]);
    assert_true(order > cases[i].order - 0.4 && order < cases[i].order + 0.4);
  }
}

/* Step control measures attitudes in rad, with an embedded method and with steps of half the length: the error follows
 * the tolerance. */
static void step_control_follows_the_tolerance(void** state) {
  (void)state;
  static const struct {
    const char* scheme;
    const char* control;
    double tol,
        most; /* error over the tolerance of a step: some hundred steps that the motion amplifies */
  } cases[] = {{"rkf45", "embedded", 1e-8, 100.0}, {"rk4", "variable-order", 1e-6, 3000.0}};
  const saltus_system body = rigid_system(&middle);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) {
      saltus_control_options options;
      saltus_options_defaults(&saltus_control_find(cases[i].control)->options, &options);
      options.rtol = options.atol = k == 0 ? cases[i].tol : 1e-2 * cases[i].tol;
      const saltus_sim_def def = {.system = &body,
                                  .scheme = cases[i].scheme,
                                  .control = cases[i].control,
                                  .control_options = &options,
                                  .h = 1e-3,
                                  .q0 = q_start,
                                  .v0 = v_middle};
      saltus_sim* sim;
      assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
      assert_int_equal(saltus_sim_run_until(sim, 5.0), SALTUS_OK);
      assert_true(quaternion_angle(attitude5, saltus_sim_q(sim) + 3) <= 20.0 * options.atol);
      saltus_sim_destroy(sim);
    }
  }
}

/* A box falls on its four corners, slides and spins to rest. Four supports are one more than it needs; the spin that
 * friction takes depends on how they share the load, everything else does not. */
static void a_box_on_four_corners_comes_to_rest(void** state) {
  (void)state;
  static const double corner[4][3] = {
      {0.2, 0.2, -0.1}, {-0.2, 0.2, -0.1}, {-0.2, -0.2, -0.1}, {0.2, -0.2, -0.1}};
  rigid_body box = {.mass = 1.0, .inertia = {0.02, 0.02, 0.03}, .gravity = 9.81, .corners = 4};
  memcpy(box.corner, corner, sizeof corner);
  const double q0[RIGID_NQ] = {0.0, 0.0, 0.13, cos(0.05), 0.6 * sin(0.05), 0.8 * sin(0.05), 0.0};
  const double v0[RIGID_NV] = {1.5, 0.2, 0.0, 0.1, 0.3, 4.0};
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    bool rough = (info->treats & SALTUS_TREATS_FRICTION) != 0;
    for (int k = 0; k < 4; k++) {
      box.law[k] =
          (saltus_contact_law){.tangents = rough ? 2 : 0, .mu = rough ? 0.3 : 0.0, .e_N = 0.3};
    }
    if (info->stops || !saltus_test_takes(i)) { /* at the accumulation of impacts */
      continue;
    }
    const saltus_system sys = rigid_system(&box);
    const saltus_sim_def def = {.system = &sys,
                                .scheme = info->name,
                                .h = info->chooses_step ? 0.0 : (rough ? 5e-4 : 1e-3),
                                .q0 = q0,
                                .v0 = v0};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 0.7), SALTUS_OK);
    const double* q = saltus_sim_q(sim);
    const double* v = saltus_sim_v(sim);
    assert_near(q[2], 0.1, 4e-3); /* splitting lies inside by what a body falls in some steps */
    assert_near(hypot(q[4], q[5]), 0.0, 1e-2);
    assert_true(fabs(quaternion_excess(q + 3)) <= 4.0 * DBL_EPSILON);
    assert_near(v[0], rough ? 0.0 : 1.5, 1e-6);
    assert_near(v[5], rough ? 0.0 : 3.98667, rough ? 1e-6 : 1e-3);
    assert_near(q[0], rough ? 0.4371 : 1.05, rough ? 0.03 : 1e-6);
    saltus_sim_destroy(sim);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_rotation_has_the_order_of_its_scheme),
      cmocka_unit_test(inside_of_steps_the_motion_is_of_order_five),
      cmocka_unit_test(a_top_on_a_spherical_joint_has_the_order_of_its_scheme),
      cmocka_unit_test(variational_schemes_keep_momentum_and_a_band_of_energy),
      cmocka_unit_test(quaternions_keep_length_one),
      cmocka_unit_test(a_bar_bounces_in_space_as_in_the_plane),
      cmocka_unit_test(step_control_follows_the_tolerance),
      cmocka_unit_test(a_box_on_four_corners_comes_to_rest),
      cmocka_unit_test(galerkin_steps_of_every_degree_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
