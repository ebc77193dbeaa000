/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Tableaux of the time-discontinuous Galerkin families: exact values for degrees 1 to 4
 * (docs/theory/time-dg.md, 2.1; Schindler and Acary 2011, table 1), identities for all degrees.
 */
#include "saltus_test.h"

#include "scheme/dg/clenshaw_curtis.h"

/* Rounding of sums of up to 13 products of numbers up to 1, with Lagrange factors of moderate size. */
static const double rounding = 2e-15;

typedef struct known {
  int degree;
  double tau[5], beta[5], impulse[5];
  double positions[5][5], minus[5][5], plus[5][5];
} known;

/* Fractions as printed; degree 4 has sqrt(2) in its nodes and is given to 15 digits, its D1+ by the
 * adjoint relation below. */
static const known tables[] = {
    {.degree = 1,
     .tau = {0.0, 1.0},
     .beta = {0.5, 0.5},
     .impulse = {-1.0, 1.0},
     .positions = {{0.0, 0.0}, {0.5, 0.5}},
     .minus = {{0.0, 0.0}, {1.0, 0.0}},
     .plus = {{0.5, -0.5}, {0.5, 0.5}}},
    {.degree = 2,
     .tau = {0.0, 0.5, 1.0},
     .beta = {1.0 / 6, 2.0 / 3, 1.0 / 6},
     .impulse = {1.0, -0.5, 1.0},
     .positions = {{0.0}, {5.0 / 24, 1.0 / 3, -1.0 / 24}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
     .minus = {{0.0}, {0.25, 0.25, 0.0}, {0.0, 1.0, 0.0}},
     .plus = {{1.0 / 6, -1.0 / 3, 1.0 / 6},
              {1.0 / 6, 5.0 / 12, -1.0 / 12},
              {1.0 / 6, 2.0 / 3, 1.0 / 6}}},
    {.degree = 3,
     .tau = {0.0, 0.25, 0.75, 1.0},
     .beta = {1.0 / 18, 4.0 / 9, 4.0 / 9, 1.0 / 18},
     .impulse = {-1.0, 1.0, -1.0, 1.0},
     .positions = {{0.0},
                   {59.0 / 576, 47.0 / 288, -7.0 / 288, 5.0 / 576},
                   {3.0 / 64, 15.0 / 32, 9.0 / 32, -3.0 / 64},
                   {1.0 / 18, 4.0 / 9, 4.0 / 9, 1.0 / 18}},
     .minus = {{0.0},
               {1.0 / 9, 7.0 / 48, -1.0 / 144},
               {0.0, 9.0 / 16, 3.0 / 16},
               {1.0 / 9, 1.0 / 3, 5.0 / 9}},
     .plus = {{1.0 / 18, -1.0 / 9, 1.0 / 9, -1.0 / 18},
              {1.0 / 18, 37.0 / 144, -17.0 / 144, 1.0 / 18},
              {1.0 / 18, 65.0 / 144, 43.0 / 144, -1.0 / 18},
              {1.0 / 18, 4.0 / 9, 4.0 / 9, 1.0 / 18}}},
    {.degree = 4,
     .tau = {0.0, 0.146446609406726, 0.5, 0.853553390593274, 1.0},
     .beta = {1.0 / 30, 4.0 / 15, 2.0 / 5, 4.0 / 15, 1.0 / 30},
     .impulse = {1.0, -7.0 / 8, 1.0, -7.0 / 8, 1.0},
     .positions = {{0.0},
                   {0.059701779686442, 0.095031716019062, -0.012132034355964, 0.006643368370744,
                    -0.002798220313558},
                   {0.016666666666667, 0.310110028629970, 0.2, -0.043443361963303,
                    0.016666666666667},
                   {0.036131553646891, 0.260023298295923, 0.412132034355965, 0.171634950647606,
                    -0.026368446353110},
                   {1.0 / 30, 4.0 / 15, 2.0 / 5, 4.0 / 15, 1.0 / 30}},
     .minus = {{0.0},
               {0.0625, 0.089435275391947, -0.006535593728849, 0.001046927743628},
               {0.0, 0.343443361963304, 0.166666666666667, -0.010110028629970},
               {0.0625, 0.207286405589705, 0.464868927062183, 0.118898057941386},
               {0.0, 1.0 / 3, 1.0 / 3, 1.0 / 3}}},
};

static void printed_values_are_reproduced(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    const known* k = &tables[i];
    double digits = k->degree == 4 ? 2.5e-15 : rounding; /* two units of the 15th digit */
    saltusi_dg_tableau minus;
    saltusi_dg_tableau plus;
    saltusi_dg_tableau_make(k->degree, false, &minus);
    saltusi_dg_tableau_make(k->degree, true, &plus);
    for (int l = 0; l <= k->degree; l++) {
      assert_near(minus.tau[l], k->tau[l], digits);
      assert_near(minus.beta[l], k->beta[l], digits);
      assert_near(plus.impulse[l], k->impulse[l], 64.0 * rounding); /* divided by beta_M */
      assert_true(minus.impulse[l] == 0.0);
      for (int c = 0; c <= k->degree; c++) {
        assert_near(minus.positions[l][c], k->positions[l][c], digits);
        assert_near(minus.velocities[l][c], k->minus[l][c], digits);
        if (k->degree < 4) {
          assert_near(plus.velocities[l][c], k->plus[l][c], digits);
        }
      }
    }
  }
}

static double power(double x, int n) {
  double value = 1.0;
  for (int i = 0; i < n; i++) {
    value *= x;
  }
  return value;
}

/* Row sums, the adjoint relation between the families, and what makes q_1 independent of p. */
static void the_families_are_adjoint_to_each_other(void** state) {
  (void)state;
  for (int M = 1; M <= SALTUSI_DG_DEGREE_MAX; M++) {
    saltusi_dg_tableau minus;
    saltusi_dg_tableau plus;
    saltusi_dg_tableau_make(M, false, &minus);
    saltusi_dg_tableau_make(M, true, &plus);
    double weights = 0.0;
    double impulse = 0.0;
    for (int l = 0; l <= M; l++) {
      double rows[3] = {0.0, 0.0, 0.0};
      weights += plus.beta[l];
      impulse += plus.beta[l] * plus.impulse[l];
      for (int k = 0; k <= M; k++) {
        rows[0] += minus.positions[l][k];
        rows[1] += minus.velocities[l][k];
        rows[2] += plus.velocities[l][k];
        assert_near(plus.velocities[l][k], minus.beta[k] - minus.velocities[M - l][M - k],
                    10.0 * rounding);
      }
      for (int i = 0; i < 3; i++) {
        assert_near(rows[i], minus.tau[l], 10.0 * rounding);
      }
      assert_true(plus.beta[l] > 0.0);
      assert_near(plus.velocities[M][l], plus.beta[l], 10.0 * rounding);
      assert_true(minus.velocities[l][M] == 0.0);
    }
    assert_near(weights, 1.0, rounding);
    assert_near(impulse, 0.0, 1e-13); /* c is divided by beta_M, 1/2 to 1/143 */
  }
}

/* B(p), C(eta), D(zeta) of both velocity tableaux: quadrature, stages, and their adjoint. */
static void simplifying_conditions_hold_as_stated(void** state) {
  (void)state;
  static const struct {
    int degree, B, C, D;
  } orders[] = {{1, 2, 1, 1}, {2, 4, 2, 2}, {3, 4, 3, 1}, {4, 6, 4, 2}};
  for (int i = 0; i < 4; i++) {
    int M = orders[i].degree;
    for (int plus = 0; plus < 2; plus++) {
      saltusi_dg_tableau t;
      saltusi_dg_tableau_make(M, plus != 0, &t);
      for (int q = 1; q <= orders[i].B; q++) {
        double sum = 0.0;
        for (int k = 0; k <= M; k++) {
          sum += t.beta[k] * power(t.tau[k], q - 1);
        }
        assert_near(sum, 1.0 / q, rounding);
      }
      for (int q = 1; q <= orders[i].C; q++) {
        for (int l = 0; l <= M; l++) {
          double sum = 0.0;
          for (int k = 0; k <= M; k++) {
            sum += t.velocities[l][k] * power(t.tau[k], q - 1);
          }
          assert_near(sum, power(t.tau[l], q) / q, rounding);
        }
      }
      for (int q = 1; q <= orders[i].D; q++) {
        for (int k = 0; k <= M; k++) {
          double sum = 0.0;
          for (int l = 0; l <= M; l++) {
            sum += t.beta[l] * power(t.tau[l], q - 1) * t.velocities[l][k];
          }
          assert_near(sum, t.beta[k] * (1.0 - power(t.tau[k], q)) / q, rounding);
        }
      }
    }
  }
}

/* Inside a step: every polynomial of the degree is taken exactly, and so is its integral. */
static void the_basis_takes_polynomials_exactly(void** state) {
  (void)state;
  for (int M = 1; M <= SALTUSI_DG_DEGREE_MAX; M++) {
    saltusi_dg_tableau t;
    saltusi_dg_tableau_make(M, false, &t);
    for (int i = 0; i <= 10; i++) {
      double x = 0.1 * i;
      double value[SALTUSI_DG_NODES_MAX];
      double integral[SALTUSI_DG_NODES_MAX];
      saltusi_dg_basis(&t, x, value, integral);
      for (int n = 0; n <= M; n++) {
        double at = 0.0;
        double upto = 0.0;
        for (int k = 0; k <= M; k++) {
          at += value[k] * power(t.tau[k], n);
          upto += integral[k] * power(t.tau[k], n);
        }
        assert_near(at, power(x, n), 1e-13);
        assert_near(upto, power(x, n + 1) / (n + 1), 1e-13);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(printed_values_are_reproduced),
      cmocka_unit_test(the_families_are_adjoint_to_each_other),
      cmocka_unit_test(simplifying_conditions_hold_as_stated),
      cmocka_unit_test(the_basis_takes_polynomials_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
