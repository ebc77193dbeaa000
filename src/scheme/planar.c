/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * planar.c - see planar.h.
 */
#include "scheme/planar.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_planar_layout(saltusi_planar* work, int rows, int bilateral, bool has_friction,
                           saltus_arena* arena) {
  assert(work != NULL && arena != NULL && rows >= 0);
  int unknowns = has_friction ? 2 * rows : rows; /* two rows of a contact with friction make four */
  work->unknowns_max = unknowns;
  saltusi_mixed_layout(&work->solver, bilateral, unknowns, unknowns, arena);
  work->unknown = SALTUS_PUSH(arena, int, rows);
  work->A = SALTUS_PUSH2(arena, double, unknowns, unknowns);
  work->b = SALTUS_PUSH(arena, double, unknowns);
  work->z = SALTUS_PUSH(arena, double, unknowns);
}

/* Numbers the unknowns, bilateral ones first; returns how many those are. */
static int number(saltusi_planar* work, const saltusi_planar_problem* problem, int* count) {
  int next = 0;
  for (int i = 0; i < problem->items; i++) {
    if (problem->item[i].bilateral) {
      work->unknown[problem->item[i].row] = next++;
    }
  }
  int bilateral = next;
  for (int i = 0; i < problem->items; i++) {
    const saltusi_planar_item* item = &problem->item[i];
    if (item->bilateral) {
      continue;
    }
    work->unknown[item->row] = next++;
    if (item->has_friction) {
      work->unknown[item->row + 1] = next;
      next += 3;
    }
  }
  *count = next;
  assert(next <= work->unknowns_max);
  return bilateral;
}

/* Entries of one row of W, times a sign, in a row of A. */
static void spread(const saltusi_planar* work, const saltusi_planar_problem* problem, int row,
                   double sign, double* into) {
  const double* W = problem->W + (size_t)row * (size_t)problem->rows;
  for (int j = 0; j < problem->items; j++) {
    const saltusi_planar_item* item = &problem->item[j];
    into[work->unknown[item->row]] = sign * W[item->row];
    if (item->has_friction) {
      int tangent = work->unknown[item->row + 1];
      into[tangent] = sign * W[item->row + 1];
      into[tangent + 1] = -sign * W[item->row + 1];
    }
  }
}

static void write_rows(saltusi_planar* work, const saltusi_planar_problem* problem, int n) {
  memset(work->A, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < problem->items; i++) {
    const saltusi_planar_item* item = &problem->item[i];
    int normal = work->unknown[item->row];
    spread(work, problem, item->row, 1.0, work->A + (size_t)normal * (size_t)n);
    work->b[normal] = problem->rhs[item->row];
    if (!item->has_friction) {
      continue;
    }
    int plus = work->unknown[item->row + 1];
    int minus = plus + 1;
    int speed = plus + 2;
    int tangent = item->row + 1;
    spread(work, problem, tangent, 1.0, work->A + (size_t)plus * (size_t)n);
    spread(work, problem, tangent, -1.0, work->A + (size_t)minus * (size_t)n);
    work->b[plus] = problem->rhs[tangent];
    work->b[minus] = -problem->rhs[tangent];
    /* in units of sqrt(W_TT), so that the solvers' scaling to a unit diagonal scales it as well */
    double unit = sqrt(fabs(problem->W[(size_t)tangent * (size_t)(problem->rows + 1)]));
    unit = unit > 0.0 ? unit : 1.0;
    work->A[plus * n + speed] = unit;
    work->A[minus * n + speed] = unit;
    work->A[speed * n + normal] = item->mu * unit;
    work->A[speed * n + plus] = -unit;
    work->A[speed * n + minus] = -unit;
    work->b[speed] = 0.0;
  }
}

static void read_back(const saltusi_planar* work, const saltusi_planar_problem* problem,
                      double* P) {
  for (int i = 0; i < problem->items; i++) {
    const saltusi_planar_item* item = &problem->item[i];
    P[item->row] = work->z[work->unknown[item->row]];
    if (item->has_friction) {
      int plus = work->unknown[item->row + 1];
      double bound = item->mu * P[item->row];
      double force = work->z[plus] - work->z[plus + 1];
      P[item->row + 1] = fmin(fmax(force, -bound), bound);
    }
  }
}

/* One frictionless contact, by far the most frequent problem. */
static bool solve_single(const saltusi_planar_problem* problem, double* P) {
  const saltusi_planar_item* item = problem->item;
  if (problem->rows != 1 || !(problem->W[0] > 0.0)) {
    return false;
  }
  double force = -problem->rhs[0] / problem->W[0];
  P[0] = item->bilateral || force > 0.0 || isnan(force) ? force : 0.0;
  return true;
}

saltusi_mixed_outcome saltusi_planar_solve(saltusi_planar* work,
                                           const saltusi_planar_problem* problem, double* P) {
  assert(work != NULL && problem != NULL);
  if (problem->items == 0 || solve_single(problem, P)) {
    return SALTUSI_MIXED_SOLVED;
  }
  int n = 0;
  int bilateral = number(work, problem, &n);
  write_rows(work, problem, n);
  memset(work->z, 0, (size_t)n * sizeof(double));
  saltusi_mixed_outcome outcome =
      saltusi_mixed_solve(&work->solver, bilateral, n - bilateral, work->A, work->b, work->z);
  if (outcome == SALTUSI_MIXED_SOLVED) {
    read_back(work, problem, P);
  }
  return outcome;
}

double saltusi_planar_residual(const saltusi_planar_problem* problem, const double* P) {
  assert(problem != NULL);
  double worst = 0.0;
  size_t rows = (size_t)problem->rows;
  for (int i = 0; i < problem->items; i++) {
    const saltusi_planar_item* item = &problem->item[i];
    size_t r = (size_t)item->row;
    double u = saltusi_dot(problem->rows, problem->W + r * rows, P) + problem->rhs[r];
    double diagonal = problem->W[r * rows + r];
    worst = fmax(worst, item->bilateral ? fabs(u) : fabs(fmin(u, diagonal * P[r])));
    if (item->has_friction) {
      size_t t = r + 1;
      double slip = saltusi_dot(problem->rows, problem->W + t * rows, P) + problem->rhs[t];
      double scale = problem->W[t * rows + t];
      double bound = item->mu * fmax(P[r], 0.0);
      double pulled = fmin(fmax(P[t] - slip / scale, -bound), bound);
      worst = fmax(worst, scale * fabs(P[t] - pulled));
    }
  }
  return worst;
}
