/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Integration to a tolerance where positions are not the integrals of velocities: a rigid body with a unit
 * quaternion (w, x, y, z) and the angular velocity in its own axes, q' = q (0, omega) / 2.
 */
#include "saltus_test.h"

static const double inertia[3] = {1.0, 2.0, 3.0}; /* kg m^2 */

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  for (int i = 0; i < 9; i++) {
    M[i] = i % 4 == 0 ? inertia[i / 4] : 0.0;
  }
}

/* Euler's equations: I omega' = I omega x omega. */
static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  const double* w = at->v;
  F[0] = (inertia[1] - inertia[2]) * w[1] * w[2];
  F[1] = (inertia[2] - inertia[0]) * w[2] * w[0];
  F[2] = (inertia[0] - inertia[1]) * w[0] * w[1];
}

static void product(const double* p, const double* q, double* r) {
  r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

static void rate(const void* self, const double* q, const double* v, double* dq) {
  (void)self;
  const double w[4] = {0.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]};
  product(q, w, dq);
}

static void advance(const void* self, const double* q, const double* v, double h, double* q1) {
  (void)self;
  double size = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  double s = size > 0.0 ? sin(0.5 * h * size) / size : 0.5 * h;
  const double turn[4] = {cos(0.5 * h * size), s * v[0], s * v[1], s * v[2]};
  product(q, turn, q1);
}

/* Angular momentum in space, q (I omega) q*. */
static void momentum(const double* q, const double* w, double* L) {
  const double body[4] = {0.0, inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2]};
  const double back[4] = {q[0], -q[1], -q[2], -q[3]};
  double half[4];
  double whole[4];
  product(q, body, half);
  product(half, back, whole);
  memcpy(L, whole + 1, 3 * sizeof(double));
}

/* Nearly about the middle axis: the body turns over again and again. Angular momentum in space, energy
 * and the length of the quaternion stay; allowed are 50 tolerances for some hundred steps. */
static void a_body_that_turns_over_keeps_its_momentum(void** state) {
  (void)state;
  static const saltus_system_ops ops = {
      .mass = mass, .force = force, .rate = rate, .advance = advance};
  const saltus_system body = {
      .ops = &ops, .dims = {.nq = 4, .nv = 3}, .traits = SALTUS_CONSTANT_MASS};
  static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853"};
  const double q0[4] = {1.0, 0.0, 0.0, 0.0};
  const double w0[3] = {1e-2, 3.0, 0.0};
  double L0[3];
  momentum(q0, w0, L0);
  for (int k = 0; k < 3; k++) {
    for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
      saltus_adaptive_options options = saltus_adaptive_options_default();
      options.rtol = options.atol = tol;
      const saltus_sim_def def = {
          .system = &body, .scheme = schemes[k], .options = &options, .q0 = q0, .v0 = w0};
      saltus_sim* sim;
      assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
      assert_int_equal(saltus_sim_run_until(sim, 10.0), SALTUS_OK);
      const double* q = saltus_sim_q(sim);
      const double* w = saltus_sim_v(sim);
      double L[3];
      momentum(q, w, L);
      double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
      double energy = 0.5 * (w[0] * w[0] + 2.0 * w[1] * w[1] + 3.0 * w[2] * w[2]);
      assert_near(size, 1.0, 50.0 * tol);
      assert_near(energy, 9.00005, 50.0 * 9.0 * tol);
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
  static const saltus_system_ops ops = {
      .mass = mass, .force = force, .rate = rate, .advance = advance};
  const saltus_system body = {.ops = &ops, .dims = {.nq = 4, .nv = 3}};
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
