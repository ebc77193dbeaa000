/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Elliptic functions: published values, periods of mechanisms from an independent code with forty digits, and
 * what derivatives and integrals of them have to be.
 */
#include "measure/elliptic.h"
#include "saltus_test.h"

/* Rounding of a few operations on numbers near 1. */
static const double rounding = 2e-15;

static void complete_integrals_have_their_values(void** state) {
  (void)state;
  assert_near(saltusi_elliptic_k(1.0), 1.57079632679489662, rounding);
  assert_near(saltusi_elliptic_k(0.5), 1.85407467730137192, rounding); /* A & S, table 17.1 */
  assert_near(saltusi_elliptic_k(1e-10), log(4.0 / 1e-5), 1e-9);       /* ln(4/k') + O(mc ln mc) */
  /* Pi(n | 0) = pi / (2 sqrt(1 - n)) */
  assert_near(saltusi_elliptic_pi(0.75, 0.5 * 3.14159265358979324, 1.0), 3.14159265358979324,
              4e-15);
  assert_near(saltusi_elliptic_pi(0.0, 0.5 * 3.14159265358979324, 0.5), 1.85407467730137192,
              rounding);
}

/* Periods: pendulum of IFToMM A01 from 90 deg; a turn of the four-bars of A02; free rotation. */
static void periods_of_mechanisms_are_those_of_the_reference(void** state) {
  (void)state;
  assert_near(4.0 * saltusi_elliptic_k(0.5) / sqrt(9.81), 2.367841947576237, rounding);
  static const double turn[][2] = {{1, 1.923711817338966},
                                   {2, 1.942514922607084},
                                   {10, 1.961528430830169},
                                   {40, 1.96560192870465}};
  for (int i = 0; i < 4; i++) {
    double n = turn[i][0];
    double w2 = 9.81 * (0.5 * (n + 1.0) + n) / ((n + 1.0) / 3.0 + n);
    double omega2 = 1.0 + 4.0 * w2;
    assert_near(4.0 * saltusi_elliptic_k(1.0 / omega2) / sqrt(omega2), turn[i][1], rounding);
  }
  /* I = (1, 10, 11), w = (0, 2, 1e-4): p^2 = 1 (L^2 - 2T)/110, mc = 10 (L^2 - 20 T)/(L^2 - 2T) */
  double twice_T = 40.0 + 11e-8, L2 = 400.0 + 121e-8;
  double p = sqrt((L2 - twice_T) / 110.0), mc = 10.0 * 11e-8 / (L2 - twice_T);
  assert_near(4.0 * saltusi_elliptic_k(mc) / p, 24.740797230058977, 1e-14);
}

/* sn' = cn dn, and the amplitude solves am'^2 = 1 - m sin^2 am; by fourth differences. */
static void derivatives_are_those_of_the_functions(void** state) {
  (void)state;
  static const double parameters[] = {1.0, 0.9, 0.5, 0.1, 1e-3, 3e-9};
  const double h = 1e-3;
  for (int k = 0; k < 6; k++) {
    double mc = parameters[k];
    for (double u = -7.3; u < 30.0; u += 1.7) {
      saltusi_jacobi at = saltusi_jacobi_of(u, mc);
      saltusi_jacobi f[4] = {saltusi_jacobi_of(u - 2 * h, mc), saltusi_jacobi_of(u - h, mc),
                             saltusi_jacobi_of(u + h, mc), saltusi_jacobi_of(u + 2 * h, mc)};
      double sn = (f[0].sn - 8 * f[1].sn + 8 * f[2].sn - f[3].sn) / (12 * h);
      double am = (f[0].am - 8 * f[1].am + 8 * f[2].am - f[3].am) / (12 * h);
      assert_near(sn, at.cn * at.dn, 4e-11); /* rounding over h, and h^4 */
      assert_near(am, at.dn, 4e-11);
      assert_near(at.sn * at.sn + at.cn * at.cn, 1.0, rounding);
    }
  }
}

/* d Pi/d am = 1/((1 - n s^2) dn) through several half turns, in steps that Simpson's rule adds up. */
static void third_kind_is_its_integral(void** state) {
  (void)state;
  static const double n[] = {0.3, -2.0, 0.9, 0.0};
  for (int k = 0; k < 4; k++) {
    double mc = 0.4, sum = 0.0;
    enum { STEPS = 8000 };
    double end = 7.5, h = end / STEPS;
    for (int i = 0; i <= STEPS; i++) {
      double s = sin(i * h);
      double f = 1.0 / ((1.0 - n[k] * s * s) * sqrt(1.0 - 0.6 * s * s));
      sum += h / 3.0 * f * (i == 0 || i == STEPS ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
    }
    assert_near(saltusi_elliptic_pi(n[k], end, mc), sum, 1e-10); /* h^4 times fourth derivatives */
    assert_near(saltusi_elliptic_pi(n[k], -end, mc), -sum, 1e-10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(complete_integrals_have_their_values),
      cmocka_unit_test(periods_of_mechanisms_are_those_of_the_reference),
      cmocka_unit_test(derivatives_are_those_of_the_functions),
      cmocka_unit_test(third_kind_is_its_integral),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
