/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_lemke.c - Lemke's complementary pivoting (Cottle, Pang & Stone, The Linear Complementarity
 * Problem, algorithms 4.4.1 and 4.9.1), keeping the inverse B^-1 of the basis:
 *
 *   w - M z - d z_0 = q,   d = 1 or a second covering vector
 *   start z_0 enters; the lexicographically smallest row of (q, I) / d leaves repeat the complement of the leaving
 * variable enters: column = B^-1 a
 *            rows with column > tolerance: smallest value / column leaves; ties by the rows of
 *            [value, B^-1] / column, z_0 first
 *   until    z_0 leaves
 *
 * Ties are the normal case (several contacts close at once), so the lexicographic rule, which cannot
 * cycle, is always used. The problem is first scaled to a unit diagonal, so that one set of tolerances serves
 * inertias of 1e-9 and of 1e9. At the end the active block is solved again by LU, which removes the rounding
 * of the pivots, and the solution is verified against the problem.
 */
#include "solve/lcp/lcp_lemke.h"

#include "math/matrix.h"
#include "solve/lcp/lcp_dense.h"

#include <assert.h>
#include <string.h>

/* Pivot and tie tolerances, tried in this order: of a problem scaled to a unit diagonal and |q| = 1, so that they are
 * parts. The first keeps seven digits of a pivot; each of the others accepts some pivots that the first rejects, and
 * vice versa. Chosen. */
static const struct {
  double pivot, tie;
} tolerances[] = {{1e-9, 1e-12}, {1e-11, 1e-16}, {1e-8, 1e-10}, {1e-7, 1e-9}};
enum { TOLERANCE_COUNT = sizeof tolerances / sizeof tolerances[0] };
_Static_assert(2 * TOLERANCE_COUNT == SALTUSI_LEMKE_ATTEMPTS, "two covering vectors");

/* A solution is accepted when max |min(z, w)| of the scaled problem is below this: rounding of an n x n solve, for n in
 * the hundreds and a moderate condition number. */
static const double accepted_residual = 1e-9;
/* A pivot of the active block below 500 eps of its column is rounding: redundant supports. */
static const double singular_pivot = 1e-13;
/* A ray y proves infeasibility if -q^T y exceeds the first fraction of |y|, and M^T y is below the other fraction of
 * it: a solution would be 1e10 times |q| / M_ii. The rounding error of the sums is n eps, 1e-13. */
static const double ray_falls = 1e-9;
static const double ray_rises = 1e-10;

void saltusi_lcp_layout(saltusi_lcp_work* work, int n_max, saltus_arena* arena) {
  assert(work != NULL && arena != NULL);
  work->n_max = n_max;
  work->first = 0;
  work->scale = SALTUS_PUSH(arena, double, n_max);
  work->M = SALTUS_PUSH2(arena, double, n_max, n_max);
  work->q = SALTUS_PUSH(arena, double, n_max);
  work->z = SALTUS_PUSH(arena, double, n_max);
  work->best = SALTUS_PUSH(arena, double, n_max);
  work->inverse = SALTUS_PUSH2(arena, double, n_max, n_max);
  work->value = SALTUS_PUSH(arena, double, n_max);
  work->column = SALTUS_PUSH(arena, double, n_max);
  work->entering = SALTUS_PUSH(arena, double, n_max);
  work->block = SALTUS_PUSH2(arena, double, n_max, n_max);
  work->basis = SALTUS_PUSH(arena, int, n_max);
  work->pivot = SALTUS_PUSH(arena, int, n_max);
}

/* M <- S M S, q <- S q / |S q|; returns |S q|, the unit of z. */
static double scale_problem(saltusi_lcp_work* work, int n, const double* M, const double* q) {
  for (int i = 0; i < n; i++) {
    double diagonal = M[i * n + i];
    work->scale[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
    work->q[i] = q[i] * work->scale[i];
  }
  double size = saltusi_max_abs(n, work->q);
  for (int i = 0; i < n; i++) {
    work->q[i] /= size > 0.0 ? size : 1.0;
    for (int j = 0; j < n; j++) {
      work->M[i * n + j] = M[i * n + j] * work->scale[i] * work->scale[j];
    }
  }
  return size;
}

/* max |min(z, M z + q)| of the scaled problem */
static double residual(const saltusi_lcp_work* work, int n, const double* z) {
  double worst = 0.0;
  for (int i = 0; i < n; i++) {
    double w = saltusi_dot(n, work->M + (size_t)i * (size_t)n, z) + work->q[i];
    double miss = fabs(fmin(z[i], w));
    worst = miss <= worst ? worst : miss;
  }
  return worst;
}

/* Covering vector: ones; in the second attempt numbers between 0.5 and 1.5 that repeat every 7 rows, to leave a
 * degenerate path. */
static double covering(int round, int i) {
  return round == 0 ? 1.0 : 0.5 + (double)((5 * i + 3) % 7) / 6.0;
}

/* column <- B^-1 a for the entering variable */
static void entering_column(saltusi_lcp_work* work, int n, int variable, int round) {
  for (int k = 0; k < n && variable >= n; k++) {
    work->entering[k] = variable < 2 * n ? work->M[(size_t)k * (size_t)n + (size_t)(variable - n)]
                                         : covering(round, k);
  }
  for (int i = 0; i < n; i++) {
    const double* row = work->inverse + (size_t)i * (size_t)n;
    work->column[i] = variable < n ? row[variable] : -saltusi_dot4(n, row, work->entering);
  }
}

/* Row a before row b in the lexicographic ratio test. */
static bool precedes(const saltusi_lcp_work* work, int n, int a, int b, double tie) {
  double ca = work->column[a];
  double cb = work->column[b];
  double x = work->value[a] / ca;
  double y = work->value[b] / cb;
  if (fabs(x - y) > tie * fmax(1.0, fmax(fabs(x), fabs(y)))) {
    return x < y;
  }
  for (int k = 0; k < n; k++) {
    x = work->inverse[a * n + k] / ca;
    y = work->inverse[b * n + k] / cb;
    if (fabs(x - y) > tie * fmax(1.0, fmax(fabs(x), fabs(y)))) {
      return x < y;
    }
  }
  return false;
}

/* The row that leaves, or -1 on a ray. */
static int leaving_row(const saltusi_lcp_work* work, int n, double pivot_tolerance, double tie) {
  double floor = pivot_tolerance * fmax(1.0, saltusi_max_abs(n, work->column));
  int best = -1;
  int artificial = -1;
  for (int i = 0; i < n; i++) {
    if (work->column[i] <= floor) {
      continue;
    }
    if (work->basis[i] == 2 * n) {
      artificial = i;
    }
    if (best < 0 || precedes(work, n, i, best, tie)) {
      best = i;
    }
  }
  if (artificial >= 0 && best != artificial) {
    double x = work->value[artificial] / work->column[artificial];
    double y = work->value[best] / work->column[best];
    if (x <= y + tie * fmax(1.0, fabs(y))) {
      best = artificial;
    }
  }
  return best;
}

static void exchange(saltusi_lcp_work* work, int n, int row) {
  double* pivot_row = work->inverse + (size_t)row * (size_t)n;
  double reciprocal = 1.0 / work->column[row];
  for (int k = 0; k < n; k++) {
    pivot_row[k] *= reciprocal;
  }
  work->value[row] *= reciprocal;
  for (int i = 0; i < n; i++) {
    double factor = work->column[i];
    if (i != row && factor != 0.0) {
      saltusi_add_scaled(n, -factor, pivot_row, work->inverse + (size_t)i * (size_t)n);
      work->value[i] -= factor * work->value[row];
    }
  }
}

/* First row: the lexicographic minimum of (q_i, e_i) / d_i; among equal q_i / d_i the later unit
 * vector is the smaller one. */
static int first_row(const saltusi_lcp_work* work, int n, int round) {
  int row = 0;
  for (int i = 1; i < n; i++) {
    if (work->q[i] / covering(round, i) <= work->q[row] / covering(round, row)) {
      row = i;
    }
  }
  return row;
}

static void read_answer(saltusi_lcp_work* work, int n) {
  memset(work->z, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (work->basis[i] >= n && work->basis[i] < 2 * n) {
      work->z[work->basis[i] - n] = fmax(0.0, work->value[i]);
    }
  }
}

/* The direction of the ray: the change of z for a unit increase of `entering`. */
static void read_ray(saltusi_lcp_work* work, int n, int entering) {
  memset(work->z, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (work->basis[i] >= n && work->basis[i] < 2 * n) {
      work->z[work->basis[i] - n] = fmax(0.0, -work->column[i]);
    }
  }
  if (entering >= n && entering < 2 * n) {
    work->z[entering - n] = 1.0;
  }
}

static void start_walk(saltusi_lcp_work* work, int n) {
  memset(work->inverse, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    work->inverse[(size_t)i * (size_t)n + (size_t)i] = 1.0;
    work->value[i] = work->q[i];
    work->basis[i] = i;
  }
}

static saltusi_lcp_outcome walk(saltusi_lcp_work* work, int n, int attempt, int most, int* pivots) {
  int round = attempt / TOLERANCE_COUNT;
  double pivot_tolerance = tolerances[attempt % TOLERANCE_COUNT].pivot;
  double tie = tolerances[attempt % TOLERANCE_COUNT].tie;
  start_walk(work, n);
  int row = first_row(work, n, round);
  int entering = 2 * n;
  for (int k = 0; k < most; k++) {
    entering_column(work, n, entering, round);
    if (k > 0) {
      row = leaving_row(work, n, pivot_tolerance, tie);
      if (row < 0) {
        read_ray(work, n, entering);
        return SALTUSI_LCP_RAY;
      }
    }
    exchange(work, n, row);
    (*pivots)++;
    int left = work->basis[row];
    work->basis[row] = entering;
    if (left == 2 * n) {
      read_answer(work, n);
      return SALTUSI_LCP_SOLVED;
    }
    entering = left < n ? left + n : left - n;
  }
  return SALTUSI_LCP_LIMIT;
}

/* Solves M_aa z_a = -q_a on the active set of work->z; keeps the result if its residual is not larger. */
static void refine(saltusi_lcp_work* work, int n) {
  int active = 0;
  for (int i = 0; i < n; i++) {
    if (work->z[i] > 0.0) {
      work->basis[active++] = i;
    }
  }
  for (int i = 0; i < active; i++) {
    for (int j = 0; j < active; j++) {
      work->block[i * active + j] = work->M[work->basis[i] * n + work->basis[j]];
    }
    work->value[i] = -work->q[work->basis[i]];
  }
  if (!saltusi_lu_factor(active, work->block, work->pivot, singular_pivot)) {
    return; /* redundant supports: the vertex of the pivoting remains */
  }
  saltusi_lu_solve(active, work->block, work->pivot, work->value);
  double before = residual(work, n, work->z);
  memset(work->column, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < active; i++) {
    work->column[work->basis[i]] = fmax(0.0, work->value[i]);
  }
  if (residual(work, n, work->column) <= before) {
    memcpy(work->z, work->column, (size_t)n * sizeof(double));
  }
}

double saltusi_lemke_start(saltusi_lcp_work* work, int n, const double* M, const double* q) {
  assert(work != NULL && n >= 0);
  return scale_problem(work, n, M, q);
}

saltusi_lcp_outcome saltusi_lemke_attempt(saltusi_lcp_work* work, int n, int attempt, int most,
                                          int* pivots) {
  assert(work != NULL && n >= 0 && most >= 0);
  saltusi_lcp_outcome outcome = walk(work, n, attempt, most, pivots);
  if (outcome == SALTUSI_LCP_SOLVED) {
    refine(work, n);
  }
  return outcome;
}

bool saltusi_lemke_ray_proves(const saltusi_lcp_work* work, int n) {
  assert(work != NULL && n >= 0);
  /* y normalised to largest entry 1, M to unit diagonal, q to largest entry 1 */
  double size = saltusi_max_abs(n, work->z);
  double along = saltusi_dot(n, work->q, work->z);
  if (!(along < -ray_falls * size)) {
    return false;
  }
  for (int j = 0; j < n; j++) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += work->M[(size_t)i * (size_t)n + (size_t)j] * work->z[i];
    }
    if (!(sum <= -ray_rises * along)) {
      return false;
    }
  }
  return true;
}

saltusi_lcp_result saltusi_lcp_lemke(saltusi_lcp_work* work, int n, const double* M,
                                     const double* q, double* z) {
  assert(work != NULL && n >= 0);
  saltusi_lcp_result result = {.outcome = SALTUSI_LCP_LIMIT, .residual = INFINITY};
  double size = scale_problem(work, n, M, q);
  if (!isfinite(size)) {
    return result;
  }
  bool trivial = true;
  for (int i = 0; i < n; i++) {
    trivial = trivial && q[i] >= 0.0;
  }
  if (trivial) {
    memset(z, 0, (size_t)n * sizeof(double));
    return (saltusi_lcp_result){.outcome = SALTUSI_LCP_SOLVED};
  }
  for (int attempt = work->first; attempt < 2 * TOLERANCE_COUNT; attempt++) {
    saltusi_lcp_outcome outcome =
        saltusi_lemke_attempt(work, n, attempt, 50 + 10 * n, &result.pivots);
    if (outcome != SALTUSI_LCP_SOLVED) {
      result.outcome = result.residual < INFINITY ? result.outcome : outcome;
      continue;
    }
    double miss = residual(work, n, work->z);
    if (miss < result.residual) {
      result.residual = miss;
      memcpy(work->best, work->z, (size_t)n * sizeof(double));
    }
    if (result.residual <= accepted_residual) {
      result.outcome = SALTUSI_LCP_SOLVED;
      break;
    }
  }
  if (result.outcome == SALTUSI_LCP_SOLVED) {
    for (int i = 0; i < n; i++) {
      z[i] = work->best[i] * work->scale[i] * size;
    }
  }
  return result;
}
