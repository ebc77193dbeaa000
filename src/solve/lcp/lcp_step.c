/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_step.c - see lcp_step.h.
 */
#include "solve/lcp/lcp_step.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* |min(z, w)| of the scaled problem that counts as solved: rounding of solves with some hundred rows of moderate
 * condition. The target of the portfolio is `aim`, 45 eps, which most problems reach. */
static const double accepted = 1e-9;
static const double aim = 1e-14;
/* Velocities below this part of |q| are zero: contacts at the limit of opening are active. */
static const double resting = 1e-9;
/* Residual of a guess, the impulses of the last step, whose load distribution is kept. */
static const double kept_guess = 1e-10;
/* Residual of the limit: near that of a solution without it. */
static const double distributed_to = 1e-12;

static const double nothing = 0.0; /* only the size of the matrix is used */

void saltusi_lcp_step_layout(saltusi_lcp_step* step, int n_max, int dense_max,
                             saltus_arena* arena) {
  assert(step != NULL && arena != NULL);
  size_t n = (size_t)n_max;
  step->n_max = n_max;
  const saltusi_lcp_matrix dense = {
      .n = dense_max, .dense = &nothing, .lower = dense_max, .upper = dense_max};
  saltusi_lcp_workspace_layout(&step->dense, &dense, arena);
  step->M = SALTUS_PUSH2(arena, double, dense_max, dense_max);
  const saltusi_lcp_matrix band = {
      .n = n_max, .lower = SALTUSI_STEP_BAND, .upper = SALTUSI_STEP_BAND, .banded = true};
  saltusi_lcp_workspace_layout(&step->band, &band, arena);
  for (int k = 0; k < 6; k++) {
    step->band.chain[k] = SALTUS_PUSH(arena, double, n);
  }
  step->scale = SALTUS_PUSH(arena, double, n);
  step->q = SALTUS_PUSH(arena, double, n);
  step->z = SALTUS_PUSH(arena, double, n);
  step->values = SALTUS_PUSH(arena, double, SALTUSI_STEP_ENTRIES* n);
  saltusi_load_distribution_layout(&step->load, dense_max, arena);
}

static double scale_of(double diagonal) {
  return diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
}

/* Scales right-hand side and initial guess; returns the size of the former, the unit of z. */
static double scale_vectors(saltusi_lcp_step* step, int n, const double* q, const double* z) {
  for (int i = 0; i < n; i++) {
    step->q[i] = q[i] * step->scale[i];
  }
  double size = saltusi_max_abs(n, step->q);
  double unit = size > 0.0 ? size : 1.0;
  for (int i = 0; i < n; i++) {
    step->q[i] /= unit;
    step->z[i] = z[i] / (step->scale[i] * unit);
  }
  return unit;
}

static bool run_portfolio(saltusi_lcp_step* step, const saltusi_lcp_matrix* M,
                          saltusi_lcp_workspace* room) {
  char stages[128] = "";
  saltusi_lcp_run run = {.M = M,
                         .q = step->q,
                         .q_size = 1.0,
                         .target = aim * sqrt((double)M->n),
                         .rounding_is_enough = true,
                         .room = room,
                         .z = step->z,
                         .residual = INFINITY,
                         .stages = stages};
  saltusi_lcp_run_guess(&run);
  saltusi_lcp_auto.solve(&run);
  step->iterations = run.iterations;
  if (!(run.residual <= accepted)) {
    return false;
  }
  memcpy(step->z, room->best, (size_t)M->n * sizeof(double));
  return true;
}

static void put_back(const saltusi_lcp_step* step, int n, double unit, double* z) {
  for (int i = 0; i < n; i++) {
    z[i] = step->z[i] * step->scale[i] * unit;
  }
}

static bool nothing_presses(int n, const double* q, double* z) {
  for (int i = 0; i < n; i++) {
    if (!(q[i] >= 0.0)) {
      return false;
    }
  }
  memset(z, 0, (size_t)n * sizeof(double));
  return true;
}

/* Whether the guess step->z solves the scaled dense problem: its load distribution is kept then. */
static bool is_solution(const saltusi_lcp_step* step, int n) {
  bool solution = true;
  for (int i = 0; i < n && solution; i++) {
    const double* row = step->M + (size_t)i * (size_t)n;
    solution = fabs(fmin(step->z[i], step->q[i] + saltusi_dot(n, row, step->z))) <= kept_guess;
  }
  return solution;
}

/* A scaled dense problem with compliance. Its data are in load.S, which is not in use then. */
typedef struct compliant_lcp {
  saltusi_lcp_step* step;
  const saltusi_lcp_matrix* matrix;
  const double *diagonal, *q; /* [n] without compliance */
  double size;                /* largest W_NN */
} compliant_lcp;

static void write_compliant(const compliant_lcp* p, double eps, const double* from) {
  const size_t n = (size_t)p->matrix->n;
  for (size_t i = 0; i < n; i++) {
    const double soft = eps * p->size * p->step->scale[i] * p->step->scale[i];
    p->step->M[i * (n + 1)] = p->diagonal[i] + soft;
    p->step->q[i] = p->q[i] - (from != NULL ? soft * from[i] : 0.0);
  }
}

static bool solve_compliant(void* user, double eps, const double* from, double* z) {
  const compliant_lcp* p = user;
  const size_t bytes = (size_t)p->matrix->n * sizeof(double);
  const int iterations = p->step->iterations;
  write_compliant(p, eps, from);
  memcpy(p->step->z, z, bytes);
  const bool solved = run_portfolio(p->step, p->matrix, &p->step->dense);
  memcpy(z, p->step->z, bytes);
  p->step->iterations = iterations + 1;
  return solved;
}

static double natural_residual(void* user, const double* z) {
  const compliant_lcp* p = user;
  const int n = p->matrix->n;
  double most = 0.0;
  write_compliant(p, 0.0, NULL);
  for (int i = 0; i < n; i++) {
    const double* row = p->step->M + (size_t)i * (size_t)n;
    most = saltusi_larger(most, fabs(fmin(z[i], p->q[i] + saltusi_dot(n, row, z))));
  }
  return most;
}

/* Load distribution of a statically indeterminate problem: step->z becomes the limit of load_distribution.h. */
static void distribute(saltusi_lcp_step* step, const saltusi_lcp_matrix* matrix) {
  saltusi_load_distribution* load = &step->load;
  const size_t n = (size_t)matrix->n;
  int m = 0;
  load->degree = 0;
  if (matrix->n > load->rows_max || matrix->n < 2) {
    return;
  }
  int* active = load->lead;
  for (int i = 0; i < matrix->n; i++) {
    const double w = step->q[i] + saltusi_dot(matrix->n, step->M + (size_t)i * n, step->z);
    if (w - step->z[i] <= resting) {
      active[m++] = i;
    }
  }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      load->S[i * m + j] = step->M[(size_t)active[i] * n + (size_t)active[j]];
    }
  }
  if (saltusi_dependent_rows(load, m) == 0) {
    return;
  }
  double *diagonal = load->S, *q = load->S + n;
  memcpy(q, step->q, n * sizeof(double));
  double least = INFINITY;
  for (size_t i = 0; i < n; i++) {
    diagonal[i] = step->M[i * (n + 1)];
    least = fmin(least, step->scale[i]);
  }
  compliant_lcp p = {
      .step = step, .matrix = matrix, .diagonal = diagonal, .q = q, .size = 1.0 / (least * least)};
  const saltusi_compliant_problem problem = {.rows = matrix->n,
                                             .accepted = distributed_to,
                                             .user = &p,
                                             .solve = solve_compliant,
                                             .residual = natural_residual};
  double* solution = q + n;
  memcpy(solution, step->z, n * sizeof(double));
  saltusi_load_distribution_solve(load, &problem, solution);
  memcpy(step->z, solution, n * sizeof(double));
  write_compliant(&p, 0.0, NULL);
}

bool saltusi_lcp_step_dense(saltusi_lcp_step* step, int n, const double* M, const double* q,
                            double* z) {
  step->iterations = 0;
  if (nothing_presses(n, q, z)) {
    return true;
  }
  assert(n <= step->dense.n);
  for (int i = 0; i < n; i++) {
    step->scale[i] = scale_of(M[i * n + i]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      step->M[i * n + j] = M[i * n + j] * step->scale[i] * step->scale[j];
    }
  }
  double unit = scale_vectors(step, n, q, z);
  const saltus_lcp problem = {.n = n, .M = step->M, .q = step->q};
  saltusi_lcp_matrix matrix = saltusi_lcp_matrix_of(&problem);
  const bool kept = step->distributes && is_solution(step, n);
  if (!isfinite(unit) || !isfinite(matrix.largest) || !run_portfolio(step, &matrix, &step->dense)) {
    return false;
  }
  if (step->distributes && !kept) {
    distribute(step, &matrix);
  }
  put_back(step, n, unit, z);
  return true;
}

bool saltusi_lcp_step_banded(saltusi_lcp_step* step, const saltus_csr* M, const double* q,
                             double* z) {
  assert(step != NULL && M != NULL);
  int n = M->rows;
  step->iterations = 0;
  if (nothing_presses(n, q, z)) {
    return true;
  }
  for (int i = 0; i < n; i++) {
    step->scale[i] = 1.0;
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
      if (M->column[k] == i) {
        step->scale[i] = scale_of(M->values[k]);
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
      step->values[k] = M->values[k] * step->scale[i] * step->scale[M->column[k]];
    }
  }
  double unit = scale_vectors(step, n, q, z);
  const saltus_lcp problem = {
      .n = n, .sparse = {n, n, M->start, M->column, step->values}, .q = step->q};
  saltusi_lcp_matrix matrix = saltusi_lcp_matrix_of(&problem);
  /* The portfolio may treat short bands as dense if the workspace was laid out for it; otherwise the caller
   * assembles a dense problem, for which Lemke's method is available too. */
  bool fits = saltusi_lcp_workspace_serves(&step->band, &matrix);
  if (!isfinite(unit) || !isfinite(matrix.largest) || !fits ||
      !run_portfolio(step, &matrix, &step->band)) {
    return false;
  }
  put_back(step, n, unit, z);
  return true;
}
