/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_enumerate.c - all 2^n complementary bases of a small problem. Each basis J either gives a
 * solution of M_JJ z_J = -q_J, z_J >= 0, w >= 0, or is proved to give none: the system is regular and its solution
 * violates a sign by far more than rounding, or it is singular and inconsistent.
 * When no basis is left undecided the problem has no solution.
 */
#include "solve/lcp/lcp_run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST = SALTUSI_LCP_ENUMERATE_MAX };

/* Relative to the largest pivot: below `singular`, 500 eps, a pivot is rounding; below `doubtful` the error of the
 * solution exceeds the margin of a proof. */
static const double singular = 1e-13;
static const double doubtful = 1e-9;
/* A sign is violated if the entry exceeds this fraction of the largest one: the error of a solve is eps over its
 * smallest pivot, 2e-9 for a pivot of 1e-7. At pivots near `doubtful` that bound, 2e-7, is above the margin;
 * a handful of rows leave far less than the bound, but it is no proof there. */
static const double margin = 1e-8;

typedef enum verdict { EMPTY, UNDECIDED } verdict;

typedef struct lcp_enumerate_basis {
  int count, rank;
  int list[MOST];
  int column[MOST];         /* order of the unknowns after the exchanges */
  double A[MOST][MOST + 1]; /* with the right-hand side */
  double smallest, largest; /* accepted pivots */
} lcp_enumerate_basis;

static double entry(const saltusi_lcp_matrix* M, int i, int j) {
  if (M->dense != NULL) {
    return M->dense[(size_t)i * (size_t)M->n + (size_t)j];
  }
  double sum = 0.0;
  for (int k = M->sparse.start[i]; k < M->sparse.start[i + 1]; k++) {
    sum += M->sparse.column[k] == j ? M->sparse.values[k] : 0.0;
  }
  return sum;
}

static void gather(const saltusi_lcp_run* run, unsigned mask, lcp_enumerate_basis* b) {
  b->count = 0;
  for (int i = 0; i < run->M->n; i++) {
    if (mask >> i & 1U) {
      b->list[b->count++] = i;
    }
  }
  for (int r = 0; r < b->count; r++) {
    for (int c = 0; c < b->count; c++) {
      b->A[r][c] = entry(run->M, b->list[r], b->list[c]);
    }
    b->A[r][b->count] = -run->q[b->list[r]];
    b->column[r] = r;
  }
}

static void bring_pivot(lcp_enumerate_basis* b, int k, int row, int column) {
  for (int c = 0; c <= b->count; c++) {
    double kept = b->A[k][c];
    b->A[k][c] = b->A[row][c];
    b->A[row][c] = kept;
  }
  for (int r = 0; r < b->count; r++) {
    double kept = b->A[r][k];
    b->A[r][k] = b->A[r][column];
    b->A[r][column] = kept;
  }
  int kept = b->column[k];
  b->column[k] = b->column[column];
  b->column[column] = kept;
}

/* Gauss-Jordan with complete pivoting, as far as the pivots are not rounding. */
static void reduce(lcp_enumerate_basis* b) {
  b->largest = 0.0;
  b->smallest = INFINITY;
  for (b->rank = 0; b->rank < b->count; b->rank++) {
    int k = b->rank;
    int row = k;
    int column = k;
    for (int r = k; r < b->count; r++) {
      for (int c = k; c < b->count; c++) {
        if (fabs(b->A[r][c]) > fabs(b->A[row][column])) {
          row = r;
          column = c;
        }
      }
    }
    double size = fabs(b->A[row][column]);
    b->largest = fmax(b->largest, size);
    if (!(size > singular * b->largest)) {
      return;
    }
    b->smallest = size;
    bring_pivot(b, k, row, column);
    for (int r = 0; r < b->count; r++) {
      double factor = r == k ? 0.0 : b->A[r][k] / b->A[k][k];
      for (int c = k; factor != 0.0 && c <= b->count; c++) {
        b->A[r][c] -= factor * b->A[k][c];
      }
    }
  }
}

/* The unknowns beyond the rank are zero. */
static void put_trial(saltusi_lcp_run* run, const lcp_enumerate_basis* b) {
  memset(run->room->trial, 0, (size_t)run->M->n * sizeof(double));
  for (int k = 0; k < b->rank; k++) {
    run->room->trial[b->list[b->column[k]]] = b->A[k][b->count] / b->A[k][k];
  }
}

static bool violates_a_sign(saltusi_lcp_run* run, unsigned mask) {
  const double* z = run->room->trial;
  int n = run->M->n;
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(z[i]));
  }
  for (int i = 0; i < n; i++) {
    if (mask >> i & 1U) {
      if (z[i] < -margin * size) {
        return true;
      }
    } else if (saltusi_lcp_matrix_row(run->M, i, z) + run->q[i] <
               -margin * (run->q_size + run->M->largest * size)) {
      return true;
    }
  }
  return false;
}

static verdict judge(saltusi_lcp_run* run, unsigned mask) {
  lcp_enumerate_basis b;
  gather(run, mask, &b);
  reduce(&b);
  for (int r = b.rank; r < b.count; r++) {
    if (fabs(b.A[r][b.count]) > margin * run->q_size) {
      return EMPTY; /* 0 = something else */
    }
  }
  put_trial(run, &b);
  bool trusted = b.rank == b.count && b.smallest >= doubtful * b.largest;
  if (trusted && violates_a_sign(run, mask)) {
    return EMPTY;
  }
  saltusi_lcp_run_offer(run, true);
  return UNDECIDED;
}

bool saltusi_lcp_run_enumerate(saltusi_lcp_run* run) {
  assert(run != NULL);
  if (run->M->n > MOST || run->bilateral > 0) {
    return false;
  }
  bool enough = run->basis_is_enough;
  run->basis_is_enough = false; /* complementarity of a basis is known only after its evaluation */
  unsigned count = 1U << run->M->n;
  unsigned empty = 0;
  unsigned mask = 0;
  for (; mask < count && !run->solved; mask++) {
    empty += judge(run, mask) == EMPTY;
  }
  run->basis_is_enough = enough;
  run->none = !run->solved && empty == count;
  saltusi_lcp_run_note(run, "enumeration", (int)mask);
  return run->solved;
}

static void solve(saltusi_lcp_run* run) {
  saltusi_lcp_run_enumerate(run);
}

const saltusi_lcp_ops saltusi_lcp_enumeration = {
    .info = {.name = "enumeration",
             .summary =
                 "all bases of problems with up to 12 rows; detects problems without a solution",
             .source = "Cottle, Pang & Stone 1992, section 1.3"},
    .solve = solve,
};
