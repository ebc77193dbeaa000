/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * planar.c - see planar.h.
 */
#include "scheme/planar.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_planar_layout(saltusi_planar* work, int rows, int bilateral, int tangents,
                           saltus_arena* arena) {
  assert(work != NULL && arena != NULL && rows >= 0 && tangents >= 0);
  int unknowns = tangents > 0 ? 2 * rows : rows; /* two rows of a contact with friction make four */
  work->unknowns_max = unknowns;
  saltusi_mixed_layout(&work->solver, bilateral, unknowns, unknowns, arena);
  work->unknown = SALTUS_PUSH(arena, int, rows);
  work->A = SALTUS_PUSH2(arena, double, unknowns, unknowns);
  work->b = SALTUS_PUSH(arena, double, unknowns);
  work->z = SALTUS_PUSH(arena, double, unknowns);
  work->friction.distributes = true;
  if (tangents > 0) {
    saltusi_friction_step_layout(&work->friction, rows, 1 + tangents, rows, arena);
    work->first = SALTUS_PUSH(arena, int, rows + 1);
    work->mu = SALTUS_PUSH(arena, double, rows);
  }
}

/* Numbers the unknowns, bilateral ones first; returns the number of bilateral ones. */
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
    if (item->tangents > 0) {
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
    if (item->tangents > 0) {
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
    if (item->tangents == 0) {
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
    /* in units of sqrt(W_TT), so that scaling to a unit diagonal includes it */
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
    if (item->tangents > 0) {
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

/* ---- by cones --------------------------------------------------------------------------------- */

/* Largest number of tangents of a contact. */
static int tangents_of(const saltusi_planar_problem* problem) {
  int most = 0;
  for (int i = 0; i < problem->items; i++) {
    most = problem->item[i].tangents > most ? problem->item[i].tangents : most;
  }
  return most;
}

/* Indices of rows in the problem, bilateral ones first; returns their number, and counts the
 * contacts. */
static int place_rows(saltusi_planar* work, const saltusi_planar_problem* problem, int* units) {
  int next = 0;
  for (int i = 0; i < problem->items; i++) {
    if (problem->item[i].bilateral) {
      work->unknown[problem->item[i].row] = next++;
    }
  }
  int bilateral = next;
  *units = 0;
  for (int i = 0; i < problem->items; i++) {
    const saltusi_planar_item* item = &problem->item[i];
    if (item->bilateral) {
      continue;
    }
    work->first[*units] = next - bilateral;
    work->mu[(*units)++] = item->tangents > 0 ? item->mu : 0.0;
    for (int k = 0; k <= item->tangents; k++) {
      work->unknown[item->row + k] = next++;
    }
  }
  work->first[*units] = next - bilateral;
  return bilateral;
}

/* guess: P is a solution, of which the load distribution is computed. */
static saltusi_mixed_outcome
solve_cones(saltusi_planar* work, const saltusi_planar_problem* problem, bool guess, double* P) {
  int units = 0;
  int bilateral = place_rows(work, problem, &units);
  int contact = work->first[units];
  int n = bilateral + contact;
  if (guess && units < 2) {
    return SALTUSI_MIXED_SOLVED;
  }
  for (int i = 0; i < problem->items; i++) {
    for (int k = 0; k <= problem->item[i].tangents; k++) {
      int r = problem->item[i].row + k;
      double* into = work->A + (size_t)work->unknown[r] * (size_t)n;
      work->b[work->unknown[r]] = problem->rhs[r];
      work->z[work->unknown[r]] = guess ? P[r] : 0.0;
      for (int j = 0; j < problem->items; j++) {
        for (int m = 0; m <= problem->item[j].tangents; m++) {
          int c = problem->item[j].row + m;
          into[work->unknown[c]] = problem->W[(size_t)r * (size_t)problem->rows + (size_t)c];
        }
      }
    }
  }
  if (!saltusi_mixed_reduce(&work->solver, bilateral, contact, work->A, work->b)) {
    return SALTUSI_MIXED_NO_NUMBER;
  }
  work->friction.redistributes = guess;
  bool solved =
      saltusi_friction_step_solve(&work->friction, units, work->first, work->mu, work->solver.schur,
                                  work->solver.rest, work->z + bilateral);
  if (!solved) {
    return guess ? SALTUSI_MIXED_SOLVED : SALTUSI_MIXED_UNSOLVED;
  }
  saltusi_mixed_expand(&work->solver, bilateral, contact, work->z);
  for (int i = 0; i < problem->items; i++) {
    for (int k = 0; k <= problem->item[i].tangents; k++) {
      int r = problem->item[i].row + k;
      P[r] = work->z[work->unknown[r]];
    }
  }
  return SALTUSI_MIXED_SOLVED;
}

saltusi_mixed_outcome saltusi_planar_solve(saltusi_planar* work,
                                           const saltusi_planar_problem* problem, double* P) {
  assert(work != NULL && problem != NULL);
  if (problem->items == 0 || solve_single(problem, P)) {
    return SALTUSI_MIXED_SOLVED;
  }
  const int tangents = tangents_of(problem);
  if (tangents > 1) {
    return solve_cones(work, problem, false, P);
  }
  int n = 0;
  int bilateral = number(work, problem, &n);
  write_rows(work, problem, n);
  memset(work->z, 0, (size_t)n * sizeof(double));
  work->solver.lcp.distributes = tangents == 0;
  saltusi_mixed_outcome outcome =
      saltusi_mixed_solve(&work->solver, bilateral, n - bilateral, work->A, work->b, work->z);
  if (outcome == SALTUSI_MIXED_SOLVED) {
    read_back(work, problem, P);
    if (tangents > 0 && problem->items > 1) {
      solve_cones(work, problem, true, P);
    }
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
    double bound = item->mu * fmax(P[r], 0.0);
    double pulled[2] = {0.0, 0.0}; /* friction at the present slip */
    double scale = 0.0;
    for (int k = 0; k < item->tangents; k++) {
      scale = fmax(scale, problem->W[(r + 1 + (size_t)k) * (rows + 1)]);
    }
    for (int k = 0; k < item->tangents; k++) {
      size_t t = r + 1 + (size_t)k;
      double slip = saltusi_dot(problem->rows, problem->W + t * rows, P) + problem->rhs[t];
      pulled[k] = P[t] - slip / scale;
    }
    double size = item->tangents > 1 ? hypot(pulled[0], pulled[1]) : fabs(pulled[0]);
    for (int k = 0; k < item->tangents; k++) {
      double at_bound = item->tangents > 1 ? pulled[k] * bound / size : copysign(bound, pulled[k]);
      double left = size > bound ? at_bound : pulled[k];
      worst = fmax(worst, scale * fabs(P[item->row + 1 + k] - left));
    }
  }
  return worst;
}
