/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_joints.c - see island_joints.h.
 */
#include "scheme/island_joints.h"

#include "math/matrix.h"
#include "math/rank_revealing.h"

#include <assert.h>
#include <string.h>

void saltusi_island_joints_layout(saltusi_island_joints* j, int nj, int rows, saltus_arena* arena) {
  assert(j != NULL && nj >= 0 && rows >= 0 && arena != NULL);
  j->LU = SALTUS_PUSH2(arena, double, nj, nj);
  j->gram = SALTUS_PUSH2(arena, double, nj, nj);
  j->scale = SALTUS_PUSH(arena, double, nj);
  j->answer = SALTUS_PUSH2(arena, double, nj, rows + 1);
  j->pivot = SALTUS_PUSH(arena, int, 2 * nj);
}

/* W_jj^-1 times the columns of the contacts, and times the velocity errors b_j of the joints. */
static bool factor(saltusi_island_joints* j, const saltusi_law_island* in, int n) {
  saltusi_rank_revealing parts = {
      .LU = j->LU, .pivot = j->pivot, .scale = j->scale, .gram = j->gram};
  if (!saltusi_rank_revealing_factor(&parts, n, in->W, in->rows)) {
    return false;
  }
  for (int c = n; c <= in->rows; c++) {
    double* x = j->answer + (size_t)(c - n) * (size_t)n;
    for (int r = 0; r < n; r++) {
      x[r] = c == in->rows ? in->rhs[r] : in->W[(size_t)r * (size_t)in->rows + (size_t)c];
    }
    saltusi_rank_revealing_solve(&parts, x);
  }
  return true;
}

bool saltusi_island_joints_hold(saltusi_island_joints* j, const saltusi_law_island* in, double* W,
                                double* u) {
  assert(j != NULL && in != NULL && W != NULL && u != NULL);
  int n = saltusi_island_joint_rows(in);
  int rows = in->rows - n;
  if (!factor(j, in, n)) {
    return false;
  }
  const double* left = j->answer + (size_t)rows * (size_t)n;
  for (int a = 0; a < rows; a++) {
    const double* row = in->W + (size_t)(n + a) * (size_t)in->rows;
    u[a] = in->rhs[n + a] - saltusi_dot(n, row, left);
    for (int b = 0; b < rows; b++) {
      W[(size_t)a * (size_t)rows + (size_t)b] =
          row[n + b] - saltusi_dot(n, row, j->answer + (size_t)b * (size_t)n);
    }
  }
  return true;
}

void saltusi_island_joints_answer(const saltusi_island_joints* j, const saltusi_law_island* in,
                                  const double* P) {
  assert(j != NULL && in != NULL && P != NULL);
  int n = saltusi_island_joint_rows(in);
  int rows = in->rows - n;
  const double* left = j->answer + (size_t)rows * (size_t)n;
  for (int r = 0; r < n; r++) {
    in->P[r] = -left[r];
    for (int b = 0; b < rows; b++) {
      in->P[r] -= j->answer[(size_t)b * (size_t)n + (size_t)r] * P[b];
    }
  }
  memcpy(in->P + n, P, (size_t)rows * sizeof(double));
}
