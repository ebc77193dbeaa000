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
  saltusi_mixed_layout(&work->solver, bilateral, rows, rows, arena);
  work->unknown = SALTUS_PUSH(arena, int, rows);
  work->A = SALTUS_PUSH2(arena, double, rows, rows);
  work->b = SALTUS_PUSH(arena, double, rows);
  work->z = SALTUS_PUSH(arena, double, rows);
  work->first = SALTUS_PUSH(arena, int, rows + 1);
  work->mu = SALTUS_PUSH(arena, double, rows);
  work->friction.distributes = work->solver.lcp.distributes = true;
  if (tangents > 0) {
    saltusi_friction_step_layout(&work->friction, rows, 1 + tangents, rows, arena);
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

/* Impulses of the contacts with the joints eliminated, from zero: in work->z after those of the joints. */
static bool solve_contacts(saltusi_planar* work, int tangents, int units, int joints) {
  double* z = work->z + joints;
  const int rows = work->first[units];
  memset(z, 0, (size_t)rows * sizeof(double));
  return tangents > 0 ? saltusi_friction_step_solve(&work->friction, units, work->first, work->mu,
                                                    work->solver.schur, work->solver.rest, z)
                      : saltusi_lcp_step_dense(&work->solver.lcp, rows, work->solver.schur,
                                               work->solver.rest, z);
}

saltusi_mixed_outcome saltusi_planar_solve(saltusi_planar* work,
                                           const saltusi_planar_problem* problem, double* P) {
  assert(work != NULL && problem != NULL);
  if (problem->items == 0 || solve_single(problem, P)) {
    return SALTUSI_MIXED_SOLVED;
  }
  int units = 0;
  const int joints = place_rows(work, problem, &units);
  const int contact = work->first[units], n = joints + contact;
  for (int i = 0; i < problem->items; i++) {
    for (int k = 0; k <= problem->item[i].tangents; k++) {
      int r = problem->item[i].row + k;
      double* into = work->A + (size_t)work->unknown[r] * (size_t)n;
      work->b[work->unknown[r]] = problem->rhs[r];
      for (int j = 0; j < problem->items; j++) {
        for (int m = 0; m <= problem->item[j].tangents; m++) {
          int c = problem->item[j].row + m;
          into[work->unknown[c]] = problem->W[(size_t)r * (size_t)problem->rows + (size_t)c];
        }
      }
    }
  }
  if (!saltusi_mixed_reduce(&work->solver, joints, contact, work->A, work->b)) {
    return SALTUSI_MIXED_NO_NUMBER;
  }
  if (contact > 0 && !solve_contacts(work, tangents_of(problem), units, joints)) {
    return SALTUSI_MIXED_UNSOLVED;
  }
  saltusi_mixed_expand(&work->solver, joints, contact, work->z);
  for (int i = 0; i < problem->items; i++) {
    for (int k = 0; k <= problem->item[i].tangents; k++) {
      int r = problem->item[i].row + k;
      P[r] = work->z[work->unknown[r]];
    }
  }
  return SALTUSI_MIXED_SOLVED;
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
