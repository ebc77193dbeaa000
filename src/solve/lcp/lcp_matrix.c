/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_matrix.c - the structure of the matrix selects the factorisation of its blocks: banded LU for a narrow band
 * (taking rows and columns out of a band never widens it), sparse LU when it is large
 * and sparse, Cholesky when dense and symmetric, LU with partial pivoting otherwise, or after a zero pivot in one of
 * the others.
 */
#include "solve/lcp/lcp_matrix.h"

#include "solve/lcp/banded.h"
#include "solve/lcp/lcp_dense.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A pivot below this fraction of its diagonal entry, 500 eps, is rounding. */
static const double singular_pivot = 1e-13;

/* Differences of mirrored entries up to this part of the largest entry are rounding of the
 * assembly; Cholesky's method then solves a problem that differs by less than the rounding of the factorisation. */
static const double symmetric_to = 1e-15;

enum { TILE = 16 };

/* The rows of one tile against their mirrored columns. */
static bool tile_is_symmetric(int n, const double* M, int top, int left, double tolerance) {
  for (int i = top; i < n && i < top + TILE; i++) {
    for (int j = left; j < i && j < left + TILE; j++) {
      double a = M[(size_t)i * (size_t)n + (size_t)j];
      double b = M[(size_t)j * (size_t)n + (size_t)i];
      if (!(fabs(a - b) <= tolerance)) {
        return false;
      }
    }
  }
  return true;
}

/* Tiles, so that the mirrored entries come from the cache. */
static bool dense_is_symmetric(int n, const double* M, double tolerance) {
  for (int top = 0; top < n; top += TILE) {
    for (int left = 0; left <= top; left += TILE) {
      if (!tile_is_symmetric(n, M, top, left, tolerance)) {
        return false;
      }
    }
  }
  return true;
}

/* NaN propagates: the comparison is false for it. */
static double larger(double a, double b) {
  return b > a || isnan(b) ? b : a;
}

static double largest_of(size_t count, const double* values) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    largest = larger(largest, fabs(values[i]));
  }
  return largest;
}

/* All properties in one pass: for chains the analysis costs as much as the solution. */
static void look_at_sparse(saltusi_lcp_matrix* M) {
  const saltus_csr* s = &M->sparse;
  int lower = 0;
  int upper = 0;
  double largest = 0.0;
  double smallest_diagonal = INFINITY;
  double largest_beside = 0.0;
  for (int i = 0; i < s->rows; i++) {
    double diagonal = 0.0;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
      int distance = s->column[k] - i;
      double value = s->values[k];
      largest = larger(largest, fabs(value));
      if (distance == 0) {
        diagonal += value;
      } else {
        upper = distance > upper ? distance : upper;
        lower = -distance > lower ? -distance : lower;
        largest_beside = value > largest_beside ? value : largest_beside;
      }
    }
    smallest_diagonal = diagonal < smallest_diagonal ? diagonal : smallest_diagonal;
  }
  M->lower = lower;
  M->upper = upper;
  M->largest = largest;
  M->z_matrix = smallest_diagonal > 0.0 && largest_beside <= 0.0;
  /* the other factorisations are faster for wider bands and for small matrices */
  enum { WIDEST = 64, SCATTERED = 200 };
  int width = M->lower + M->upper + 1;
  M->banded = width <= M->n / 4 && width <= WIDEST;
  M->scattered = !M->banded && M->n >= SCATTERED;
}

saltusi_lcp_matrix saltusi_lcp_matrix_of(const saltus_lcp* problem) {
  assert(problem != NULL);
  saltusi_lcp_matrix M = {.n = problem->n, .lower = problem->n, .upper = problem->n};
  if (problem->sparse.start != NULL) {
    M.sparse = problem->sparse;
    look_at_sparse(&M);
  } else {
    M.dense = problem->M;
    M.largest = largest_of((size_t)M.n * (size_t)M.n, M.dense);
    M.symmetric = dense_is_symmetric(M.n, M.dense, symmetric_to * M.largest);
  }
  return M;
}

double saltusi_lcp_matrix_row(const saltusi_lcp_matrix* M, int i, const double* z) {
  assert(M != NULL && i >= 0 && i < M->n);
  if (M->dense != NULL) {
    return saltusi_dot4(M->n, M->dense + (size_t)i * (size_t)M->n, z);
  }
  double sum = 0.0;
  for (int k = M->sparse.start[i]; k < M->sparse.start[i + 1]; k++) {
    sum += M->sparse.values[k] * z[M->sparse.column[k]];
  }
  return sum;
}

void saltusi_lcp_matrix_add_row(const saltusi_lcp_matrix* M, int i, double factor, double* to) {
  assert(M != NULL && i >= 0 && i < M->n);
  if (M->dense != NULL) {
    const double* row = M->dense + (size_t)i * (size_t)M->n;
    for (int j = 0; j < M->n; j++) {
      to[j] += factor * row[j];
    }
    return;
  }
  for (int k = M->sparse.start[i]; k < M->sparse.start[i + 1]; k++) {
    to[M->sparse.column[k]] += factor * M->sparse.values[k];
  }
}

size_t saltusi_lcp_block_size(const saltusi_lcp_matrix* M) {
  assert(M != NULL);
  size_t n = (size_t)M->n;
  if (M->banded) {
    return n * (size_t)(M->lower + M->upper + 1);
  }
  return M->lean || (M->scattered && M->n > SALTUSI_LCP_DENSE_TOO) ? 0 : n * n;
}

static void gather_band(saltusi_lcp_block* block, const saltusi_lcp_matrix* M, const int* list,
                        const double* added) {
  int width = block->lower + block->upper + 1;
  memset(block->values, 0, (size_t)block->count * (size_t)width * sizeof(double));
  for (int a = 0; a < block->count; a++) {
    double* row = block->values + (size_t)a * (size_t)width + block->lower - a;
    for (int k = M->sparse.start[list[a]]; k < M->sparse.start[list[a] + 1]; k++) {
      int b = block->place[M->sparse.column[k]];
      if (b >= 0) {
        row[b] += M->sparse.values[k];
      }
    }
    row[a] += added != NULL ? added[list[a]] : 0.0;
  }
}

static void gather_dense(saltusi_lcp_block* block, const saltusi_lcp_matrix* M, const int* list,
                         const double* added) {
  size_t count = (size_t)block->count;
  bool half = block->kind == SALTUSI_LCP_FACTOR_CHOLESKY;
  for (int a = 0; a < block->count; a++) {
    double* to = block->values + (size_t)a * count;
    if (M->dense != NULL) {
      const double* from = M->dense + (size_t)list[a] * (size_t)M->n;
      for (int b = half ? a : 0; b < block->count; b++) {
        to[b] = from[list[b]];
      }
    } else {
      memset(to, 0, count * sizeof(double));
      for (int k = M->sparse.start[list[a]]; k < M->sparse.start[list[a] + 1]; k++) {
        int b = block->place[M->sparse.column[k]];
        if (b >= 0) {
          to[b] += M->sparse.values[k];
        }
      }
    }
    to[a] += added != NULL ? added[list[a]] : 0.0;
  }
}

static saltusi_dense_elimination whole(const saltusi_lcp_block* block) {
  return (saltusi_dense_elimination){.A = block->values,
                                     .stride = block->count,
                                     .rows = block->count,
                                     .columns = block->count,
                                     .pivots = block->count};
}

static saltusi_band band_of(const saltusi_lcp_block* block) {
  return (saltusi_band){block->count, block->lower, block->upper, block->values};
}

static void find_places(saltusi_lcp_block* block, const saltusi_lcp_matrix* M, const int* list) {
  memset(block->place, -1, (size_t)M->n * sizeof(int));
  for (int a = 0; a < block->count; a++) {
    block->place[list[a]] = a;
  }
}

bool saltusi_lcp_block_factor(saltusi_lcp_block* block, const saltusi_lcp_matrix* M,
                              const int* list, int count, const double* added) {
  assert(block != NULL && M != NULL && count >= 0);
  block->count = count;
  if (M->dense == NULL) {
    find_places(block, M, list);
    if (M->banded) {
      block->kind = SALTUSI_LCP_FACTOR_BAND;
      block->lower = M->lower;
      block->upper = M->upper;
      gather_band(block, M, list, added);
      saltusi_band band = band_of(block);
      return saltusi_band_factor(&band);
    }
    if (M->scattered) {
      block->kind = SALTUSI_LCP_FACTOR_SPARSE;
      if (saltusi_sparse_lu_factor(block->sparse, &M->sparse, block->place, added)) {
        return true;
      }
      if ((size_t)count * (size_t)count > block->capacity) {
        return false;
      }
    }
  }
  if (M->symmetric) {
    block->kind = SALTUSI_LCP_FACTOR_CHOLESKY;
    gather_dense(block, M, list, added);
    if (saltusi_cholesky(count, block->values, singular_pivot)) {
      return true;
    }
  }
  block->kind = SALTUSI_LCP_FACTOR_LU;
  gather_dense(block, M, list, added);
  saltusi_dense_elimination all = whole(block);
  return saltusi_eliminate(&all, singular_pivot, block->pivot);
}

void saltusi_lcp_block_solve(const saltusi_lcp_block* block, double* x) {
  assert(block != NULL);
  if (block->kind == SALTUSI_LCP_FACTOR_BAND) {
    saltusi_band band = band_of(block);
    saltusi_band_solve(&band, x);
  } else if (block->kind == SALTUSI_LCP_FACTOR_SPARSE) {
    saltusi_sparse_lu_solve(block->sparse, block->place, x);
  } else if (block->kind == SALTUSI_LCP_FACTOR_CHOLESKY) {
    saltusi_cholesky_solve(block->count, block->values, x);
  } else {
    saltusi_dense_elimination all = whole(block);
    saltusi_eliminate_solve(&all, block->pivot, x);
  }
}
