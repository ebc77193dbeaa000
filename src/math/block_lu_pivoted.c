/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * block_lu_pivoted.c - scalar sparse LU with column pivoting for the matrices the block factors fail
 * on, after Gilbert & Peierls (SIAM J. Sci. Stat. Comput. 9 (1988) 862-874), by rows:
 *
 *   x = row k of A;  for each earlier step j in the pattern of x, in topological order:  x -= x_j U_j
 *   L_kj = x_j,  pivot: the diagonal unless it is small relative to the largest entry, else the largest
 *   U_k = x / pivot over the columns without a step yet
 *
 * The capacity of the factors is limited; a matrix with more fill counts as singular.
 */
#include "math/block_lu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The diagonal is the pivot down to this fraction of the largest entry. This reduces fill; entries grow by up to a
 * factor of 100 in a step, which refinement corrects (thresholds between 0.1 and 0.01 are usual: Duff, Erisman &
 * Reid, Direct Methods for Sparse Matrices (2017), chapter 5). */
static const double diagonal_threshold = 0.01;

void saltusi_pivoted_lu_layout(saltusi_pivoted_lu* pivoted, int rows, size_t room,
                               saltus_arena* arena) {
  assert(pivoted != NULL && arena != NULL && rows >= 0);
  pivoted->lower_start = SALTUS_PUSH(arena, size_t, rows + 1);
  pivoted->upper_start = SALTUS_PUSH(arena, size_t, rows + 1);
  pivoted->position = SALTUS_PUSH(arena, size_t, rows);
  pivoted->pivot = SALTUS_PUSH(arena, double, rows);
  pivoted->dense = SALTUS_PUSH(arena, double, rows);
  pivoted->column_at = SALTUS_PUSH(arena, int, rows);
  pivoted->step_of = SALTUS_PUSH(arena, int, rows);
  pivoted->reached = SALTUS_PUSH(arena, int, rows);
  pivoted->stack = SALTUS_PUSH(arena, int, rows);
  pivoted->mark = SALTUS_PUSH(arena, int, rows);
  pivoted->lower_step = SALTUS_PUSH(arena, int, room);
  pivoted->upper_column = SALTUS_PUSH(arena, int, room);
  pivoted->lower = SALTUS_PUSH(arena, double, room);
  pivoted->upper = SALTUS_PUSH(arena, double, room);
  pivoted->room = room;
}

/* Depth-first search from a column; finished columns are stored before `top` in `reached`. */
static int visit(saltusi_pivoted_lu* p, int column, int row, int top) {
  int depth = 0;
  p->stack[0] = column;
  p->mark[column] = row;
  p->position[0] = p->step_of[column] >= 0 ? p->upper_start[p->step_of[column]] : 0;
  while (depth >= 0) {
    int here = p->stack[depth];
    int step = p->step_of[here];
    size_t end = step >= 0 ? p->upper_start[step + 1] : 0;
    size_t e = p->position[depth];
    while (e < end && p->mark[p->upper_column[e]] == row) {
      e++;
    }
    if (step < 0 || e == end) {
      p->reached[--top] = here;
      depth--;
      continue;
    }
    int next = p->upper_column[e];
    p->position[depth] = e + 1;
    p->mark[next] = row;
    depth++;
    p->stack[depth] = next;
    p->position[depth] = p->step_of[next] >= 0 ? p->upper_start[p->step_of[next]] : 0;
  }
  return top;
}

/* Scatters row `local` of a unit into dense; reached[top..] are its columns, in topological order. */
static int scatter(saltusi_block_lu* lu, int unit, int local, int row) {
  saltusi_pivoted_lu* p = &lu->pivoted;
  int top = lu->rows;
  for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
    int j = lu->unit[e];
    for (int c = lu->offset[j]; c < lu->offset[j + 1]; c++) {
      if (p->mark[c] != row) {
        top = visit(p, c, row, top);
      }
    }
  }
  for (int k = top; k < lu->rows; k++) {
    p->dense[p->reached[k]] = 0.0;
  }
  for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
    int j = lu->unit[e];
    int columns = lu->offset[j + 1] - lu->offset[j];
    memcpy(p->dense + lu->offset[j], lu->values + lu->place[e] + (size_t)(local * columns),
           (size_t)columns * sizeof(double));
  }
  return top;
}

/* Eliminates earlier steps from the row and stores its part of L; false if the capacity is exceeded. */
static bool eliminate(saltusi_block_lu* lu, int row, int top) {
  saltusi_pivoted_lu* p = &lu->pivoted;
  size_t used = p->lower_start[row];
  for (int k = top; k < lu->rows; k++) {
    int column = p->reached[k];
    int step = p->step_of[column];
    double factor = p->dense[column];
    if (step < 0 || factor == 0.0) {
      continue;
    }
    if (used == p->room) {
      return false;
    }
    p->lower_step[used] = step;
    p->lower[used++] = factor;
    for (size_t e = p->upper_start[step]; e < p->upper_start[step + 1]; e++) {
      p->dense[p->upper_column[e]] -= factor * p->upper[e];
    }
  }
  p->lower_start[row + 1] = used;
  return true;
}

/* Selects the pivot and stores the row of U; false without a pivot or if the capacity is exceeded. */
static bool choose_pivot(saltusi_block_lu* lu, int row, int diagonal, int top) {
  saltusi_pivoted_lu* p = &lu->pivoted;
  int best = -1;
  double largest = 0.0;
  for (int k = top; k < lu->rows; k++) {
    int column = p->reached[k];
    double size = fabs(p->dense[column]);
    if (p->step_of[column] < 0 && size > largest) {
      largest = size;
      best = column;
    }
  }
  if (best < 0 || !isfinite(largest)) {
    return false;
  }
  if (p->step_of[diagonal] < 0 && p->mark[diagonal] == row &&
      fabs(p->dense[diagonal]) >= diagonal_threshold * largest) {
    best = diagonal;
  }
  double pivot = p->dense[best];
  size_t used = p->upper_start[row];
  for (int k = top; k < lu->rows; k++) {
    int column = p->reached[k];
    if (p->step_of[column] >= 0 || column == best || p->dense[column] == 0.0) {
      continue;
    }
    if (used == p->room) {
      return false;
    }
    p->upper_column[used] = column;
    p->upper[used++] = p->dense[column] / pivot;
  }
  p->upper_start[row + 1] = used;
  p->pivot[row] = pivot;
  p->column_at[row] = best;
  p->step_of[best] = row;
  return true;
}

bool saltusi_pivoted_lu_factor(saltusi_block_lu* lu) {
  assert(lu != NULL);
  saltusi_pivoted_lu* p = &lu->pivoted;
  p->lower_start[0] = 0;
  p->upper_start[0] = 0;
  for (int a = 0; a < lu->rows; a++) {
    p->step_of[a] = -1;
    p->mark[a] = -1;
  }
  int row = 0;
  for (int i = 0; i < lu->units; i++) {
    int unit = lu->order[i];
    for (int k = 0; k < lu->offset[unit + 1] - lu->offset[unit]; k++, row++) {
      int top = scatter(lu, unit, k, row);
      if (!eliminate(lu, row, top) || !choose_pivot(lu, row, lu->offset[unit] + k, top)) {
        return false;
      }
    }
  }
  return true;
}

bool saltusi_pivoted_lu_singular(const saltusi_block_lu* lu, double tiny) {
  assert(lu != NULL);
  int row = 0;
  for (int i = 0; i < lu->units; i++) {
    int unit = lu->order[i];
    for (int k = 0; k < lu->offset[unit + 1] - lu->offset[unit]; k++, row++) {
      double largest = 0.0;
      for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
        int columns = lu->offset[lu->unit[e] + 1] - lu->offset[lu->unit[e]];
        for (int c = 0; c < columns; c++) {
          largest = fmax(largest, fabs(lu->values[lu->place[e] + (size_t)(k * columns + c)]));
        }
      }
      if (!(fabs(lu->pivoted.pivot[row]) > tiny * largest)) {
        return true;
      }
    }
  }
  return false;
}

void saltusi_pivoted_lu_substitute(const saltusi_block_lu* lu, const double* b, double* x) {
  assert(lu != NULL);
  const saltusi_pivoted_lu* p = &lu->pivoted;
  double* y = lu->solved;
  int row = 0;
  for (int i = 0; i < lu->units; i++) {
    int unit = lu->order[i];
    for (int a = lu->offset[unit]; a < lu->offset[unit + 1]; a++, row++) {
      double sum = b[a];
      for (size_t e = p->lower_start[row]; e < p->lower_start[row + 1]; e++) {
        sum -= p->lower[e] * y[p->lower_step[e]];
      }
      y[row] = sum / p->pivot[row];
    }
  }
  for (row = lu->rows - 1; row >= 0; row--) {
    double sum = y[row];
    for (size_t e = p->upper_start[row]; e < p->upper_start[row + 1]; e++) {
      sum -= p->upper[e] * x[p->upper_column[e]];
    }
    x[p->column_at[row]] = sum;
  }
}
