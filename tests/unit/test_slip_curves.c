/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Coefficients that depend on slip in impacts: that of the slip at the end, by every law and in every scheme
 * (docs/laws.md). A point of mass 1 that strikes with slip s has P_N = (1 + e) |U_N-| by every law, and ends with the largest
 * root x < s of x = s - mu(x) P_N, or at rest where there is none: roots are looked for here by scanning.
 */
#include "scene_runs.h"

#include <stdio.h>

static double coefficient(const saltus_friction_law* f, double mu, double x) {
  return f->curve == SALTUS_CURVE_KINETIC ? f->kinetic
                                          : f->kinetic + (mu - f->kinetic) * exp(-x / f->speed);
}

/* Slip at the end; *clear: how near another answer is. */
static double slip_after(const saltus_friction_law* f, double mu, double P, double s,
                         double* clear) {
  enum { PLACES = 20000 };
  double last = s;
  *clear = INFINITY;
  for (int k = 1; k < PLACES; k++) {
    double x = s * (1.0 - (double)k / PLACES);
    double value = x - s + coefficient(f, mu, x) * P;
    *clear = fmin(*clear, fabs(value));
    if (value <= 0.0) {
      double lo = x;
      double hi = last;
      for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (lo + hi);
        *(middle - s + coefficient(f, mu, middle) * P <= 0.0 ? &lo : &hi) = middle;
      }
      double slope = 1.0 - (coefficient(f, mu, lo) - f->kinetic) * P / f->speed;
      *clear = f->curve == SALTUS_CURVE_KINETIC ? lo : fmin(lo, fabs(slope));
      return lo;
    }
    last = x;
  }
  return 0.0;
}

static void every_law_has_the_coefficient_of_the_slip_at_the_end(void** unused) {
  (void)unused;
  static const saltus_impact_law laws[] = {
      SALTUS_IMPACT_NEWTON,    SALTUS_IMPACT_POISSON,     SALTUS_IMPACT_POISSON_PRINTED,
      SALTUS_IMPACT_ENERGETIC, SALTUS_IMPACT_PATH_NEWTON, SALTUS_IMPACT_PATH_POISSON};
  static const saltus_impacts orders[] = {
      {0}, {.order = SALTUS_ORDER_SEQUENTIAL}, {.order = SALTUS_ORDER_LZB, .exponent = 1.0}};
  saltus_impact_solver* solver = NULL;
  assert_int_equal(saltus_impact_solver_create(1, 3, NULL, &solver), SALTUS_OK);
  uint64_t seed = 5;
  int slides = 0, sticks = 0;
  for (int k = 0; k < 400; k++) {
    const int tangents = 1 + k % 2;
    const double mu = 0.2 + 0.5 * saltus_test_random(&seed);
    const double e = 0.2 + 0.7 * saltus_test_random(&seed);
    const double s = 0.05 + 1.2 * saltus_test_random(&seed);
    const double angle = tangents == 1 ? (k % 4 < 2 ? 0.0 : 3.14159265358979323846)
                                       : 6.0 * saltus_test_random(&seed);
    const saltus_friction_law f = {.curve =
                                       k % 3 == 0 ? SALTUS_CURVE_KINETIC : SALTUS_CURVE_STRIBECK,
                                   .kinetic = 0.4 * mu,
                                   .speed = 0.05 + 0.5 * saltus_test_random(&seed)};
    const double W[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const double W2[4] = {1.0, 0.0, 0.0, 1.0};
    const double u[3] = {-1.0, s * cos(angle), s * sin(angle)};
    double clear = 0.0;
    const double expected = slip_after(&f, mu, 1.0 + e, s, &clear);
    if (clear < 1e-3) {
      continue; /* an answer that is about to vanish */
    }
    const size_t law = (size_t)(k / 2) % (sizeof laws / sizeof laws[0]);
    const bool printed = laws[law] == SALTUS_IMPACT_POISSON_PRINTED; /* less friction */
    const saltus_impact_contact contact = {.tangents = tangents,
                                           .mu = mu,
                                           .e_N = e,
                                           .impact = laws[law],
                                           .struck = true,
                                           .friction = &f};
    const saltus_impact impact = {
        .count = 1, .rows = 1 + tangents, .contact = &contact, .W = tangents == 1 ? W2 : W, .u = u};
    for (size_t o = 0; o < (printed ? 0 : sizeof orders / sizeof orders[0]); o++) {
      double P[3], after[3];
      saltus_impact_result result = {.P = P, .u = after};
      const saltus_log silent = {0};
      assert_int_equal(saltus_impact_solve(solver, &orders[o], &impact, silent, &result),
                       SALTUS_OK);
      assert_near(P[0], 1.0 + e, 1e-9);
      for (int i = 1; i <= tangents; i++) {
        assert_near(after[i], expected * u[i] / s, 1e-8);
      }
    }
    slides += expected > 0.0;
    sticks += expected == 0.0;
  }
  assert_true(slides > 100 && sticks > 50);
  saltus_impact_solver_destroy(solver);
}

/* A stop with 0.3 at rest and 0.1 in fast slip, struck with 0.23 m/s along it in its second impact: the coefficient before decides for
 * slip, that at the end for rest. Struck faster it slides on, and the coefficient of sticking would hold it. */
static void every_scheme_strikes_with_it(void** unused) {
  (void)unused;
  if (!saltus_has("yaml")) {
    skip();
  }
  static const char format[] =
      "saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
      "  two: {mass: 2, inertia: 0.3, position: [0.01, 0.2], angle: 0.1,\n"
      "        velocity: [%g, -1], angular_velocity: 0.248869}\n"
      "markers: {a: {angle: 0.05}, b: {body: two}}\n"
      "springs: [{between: [a, b], stiffness: 40, damping: 0.5}]\n"
      "simulate: {until: 0.4}\nelements:\n"
      "  - {name: e, type: stop, between: [a, b], friction: {static: 0.3, kinetic: 0.1, speed: "
      "0.2}, viscous: 0.5, restitution: 0.4, impact: %s}\n";
  /* of first order: two steps at 1 m/s, where an impact falls within a step is chance; the others to their brackets */
  static const struct {
    const char* scheme;
    double h, near;
  } schemes[] = {{"moreau-jean", 4e-4, 8e-4},     {"moreau-jean", 5e-5, 1e-4},
                 {"moreau-midpoint", 1e-4, 2e-4}, {"variational", 1e-4, 2e-4},
                 {"rattle", 1e-4, 2e-4},          {"schatzman-paoli", 1e-4, 2e-4},
                 {"splitting-rkf45", 1e-4, 2e-4}, {"splitting-rkf45-contact", 1e-4, 2e-4},
                 {"radau-iia-3", 2e-3, 1e-6},     {"dopri5", 2e-3, 1e-8},
                 {"event-driven", 2e-3, 1e-8}};
  static const struct {
    const char* law;
    double along;                                  /* m/s */
    double x;                                      /* m, where it ends */
  } cases[] = {{"newton", 0.355172, 0.0223393},    /* 0.0213609 with the coefficient before */
               {"newton", 1.5, 0.2086709},         /* 0.1052885 with that of sticking */
               {"energetic", 0.355172, 0.0223393}, /* the same, as W is diagonal */
               {"energetic", 1.5, 0.2086709}};
  for (size_t l = 0; l < sizeof cases / sizeof cases[0]; l++) {
    char text[1500];
    snprintf(text, sizeof text, format, cases[l].along, cases[l].law);
    const scene_outcome fine = scene_run_text(text, "adaptive", 1e-10, 0.4);
    assert_near(fine.q[0], cases[l].x, 1e-6);
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
      if (!saltus_test_takes((int)(l + k))) {
        continue;
      }
      const scene_outcome out = scene_run_text(text, schemes[k].scheme, schemes[k].h, 0.4);
      const double off = scene_apart(&out, &fine, 3);
      if (!(off < schemes[k].near * fmax(1.0, cases[l].along))) {
        fail_msg("%s, impact %s, slip %g: %g", schemes[k].scheme, cases[l].law, cases[l].along,
                 off);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_law_has_the_coefficient_of_the_slip_at_the_end),
      cmocka_unit_test(every_scheme_strikes_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
