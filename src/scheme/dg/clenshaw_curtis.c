/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * clenshaw_curtis.c - see clenshaw_curtis.h. Integrals of Lagrange polynomials are exact by Gauss'
 * rule with M + 1 points.
 */
#include "scheme/dg/clenshaw_curtis.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

static const double pi = 3.14159265358979323846;

/* Entries below this are zero in exact arithmetic: the smallest nonzero entry up to degree 12 is
 * about 1e-6, and the rounding error of a zero is below 1e-15. */
static const double nothing = 1e-14;

typedef struct gauss_rule {
  int points;
  double x[SALTUSI_DG_NODES_MAX]; /* in [0, 1] */
  double weight[SALTUSI_DG_NODES_MAX];
} gauss_rule;

/* Legendre's polynomial of degree n at z, and its derivative. */
static double legendre(int n, double z, double* slope) {
  double before = 1.0;
  double value = z;
  for (int k = 2; k <= n; k++) {
    double next = ((2 * k - 1) * z * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  *slope = n * (z * value - before) / (z * z - 1.0);
  return value;
}

/* Roots by Newton's iteration from the usual cosine guess; 8 iterations are twice the number
 * needed. */
static gauss_rule gauss(int points) {
  gauss_rule rule = {.points = points};
  for (int i = 0; i < points; i++) {
    double z = -cos(pi * (i + 0.75) / (points + 0.5));
    double slope = 1.0;
    for (int k = 0; k < 8; k++) {
      double value = legendre(points, z, &slope);
      z -= value / slope;
    }
    legendre(points, z, &slope);
    rule.x[i] = 0.5 * (1.0 + z);
    rule.weight[i] = 1.0 / ((1.0 - z * z) * slope * slope);
  }
  return rule;
}

/* The polynomial that is 1 at node k and 0 at the other nodes first .. last. */
static double lagrange(const double* tau, int first, int last, int k, double x) {
  double value = 1.0;
  for (int j = first; j <= last; j++) {
    if (j != k) {
      value *= (x - tau[j]) / (tau[k] - tau[j]);
    }
  }
  return value;
}

/* Its integral over [0, x]. */
static double integral(const gauss_rule* rule, const double* tau, int first, int last, int k,
                       double x) {
  double sum = 0.0;
  for (int i = 0; i < rule->points; i++) {
    sum += rule->weight[i] * lagrange(tau, first, last, k, x * rule->x[i]);
  }
  double value = x * sum;
  return fabs(value) > nothing ? value : 0.0;
}

static void make_velocities(const gauss_rule* rule, saltusi_dg_tableau* table) {
  int M = table->degree;
  const double* tau = table->tau;
  for (int l = 0; l <= M; l++) {
    if (!table->plus) {
      for (int k = 0; k < M; k++) {
        table->velocities[l][k] = integral(rule, tau, 0, M - 1, k, tau[l]);
      }
      continue;
    }
    table->velocities[l][0] = table->beta[0];
    for (int k = 1; k <= M; k++) {
      double start = lagrange(tau, 1, M, k, 0.0);
      table->velocities[l][k] = integral(rule, tau, 1, M, k, tau[l]) - table->beta[0] * start;
    }
    table->impulse[l] = table->velocities[l][M] / table->beta[M];
  }
}

void saltusi_dg_tableau_make(int degree, bool plus, saltusi_dg_tableau* table) {
  assert(degree >= 1 && degree <= SALTUSI_DG_DEGREE_MAX);
  *table = (saltusi_dg_tableau){.degree = degree, .plus = plus};
  const gauss_rule rule = gauss(degree + 1);
  double* tau = table->tau;
  for (int l = 0; 2 * l <= degree; l++) { /* symmetric to the last bit */
    double root = sin(0.5 * pi * l / degree);
    tau[l] = 2 * l == degree ? 0.5 : root * root;
    tau[degree - l] = 1.0 - tau[l];
  }
  for (int k = 0; k <= degree; k++) {
    table->beta[k] = integral(&rule, tau, 0, degree, k, 1.0);
    for (int l = 0; l <= degree; l++) {
      table->positions[l][k] = integral(&rule, tau, 0, degree, k, tau[l]);
    }
  }
  make_velocities(&rule, table);
  for (int l = 0; l <= degree; l++) {
    for (int k = 0; k <= degree; k++) {
      double sum = 0.0;
      for (int j = 0; j <= degree; j++) {
        sum += table->positions[l][j] * table->velocities[j][k];
      }
      table->squares[l][k] = fabs(sum) > nothing ? sum : 0.0;
    }
  }
}

void saltusi_dg_basis(const saltusi_dg_tableau* table, double x, double* value, double* sum) {
  assert(table != NULL);
  const gauss_rule rule = gauss(table->degree + 1);
  for (int k = 0; k <= table->degree; k++) {
    value[k] = lagrange(table->tau, 0, table->degree, k, x);
    sum[k] = integral(&rule, table->tau, 0, table->degree, k, x);
  }
}
