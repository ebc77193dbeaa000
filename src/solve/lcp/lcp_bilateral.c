/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_bilateral.c - elimination of the bilateral unknowns b from w = M z + q, w_b = 0:
 *
 *   regular M_bb:    LU with exchanges among the bilateral rows; it leaves the Schur complement M_uu - M_ub M_bb^-1 M_bu
 *   singular M_bb:   principal pivots (Cottle, Pang & Stone, section 2.3) on one bilateral row, on
 *                    two, or on a bilateral and a complementary row. An exchanged complementary row
 *                    swaps the roles of z and w, which leaves a complementarity problem
 *
 *   pivot on P:   T_PP <- T_PP^-1,  T_iP <- T_iP T_PP^-1,  T_Pj <- -T_PP^-1 T_Pj,
 *                 T_ij <- T_ij - T_iP T_PP^-1 T_Pj
 */
#include "solve/lcp/lcp_bilateral.h"

#include "solve/lcp/lcp_dense.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A pivot of M_bb below this part of its column is rounding. Electrical circuits mix entries of 1e-6 and 1, so that
 * rounding of a row can be 5e4 eps of a column. */
static const double regular = 1e-11;
/* Pivots of the careful elimination, relative to neighbouring entries: accepted at once (loss of three digits; chosen),
 * and the smallest, 500 eps. */
static const double good_pivot = 1e-3;
static const double least_pivot = 1e-13;
/* Rows and columns reduced below this fraction of their initial size are zero: rounding times the growth of table
 * entries, some thousands. */
static const double vanished = 1e-12;
/* The search for a single pivot ends at this quality, a tenth, as in threshold pivoting (Duff, Erisman & Reid,
 * Direct Methods for Sparse Matrices (2017), chapter 5). */
static const double single_enough = 0.1;
/* Weight of pairs with a complementary row: used only if every bilateral pivot is a hundred times smaller; chosen. */
static const double complementary_weight = 0.01;
/* Remainder of a row without pivot: above the first fraction of its size the elimination has failed; a right-hand side
 * above the other fraction of |q| is inconsistent with the rows on which it depends. A hundred and ten thousand times
 * `vanished`. */
static const double remains = 1e-10;
static const double contradicts = 1e-8;
/* The final refinement fails only for pivots of rounding size, 5 eps. */
static const double polish_pivot = 1e-15;

enum { OPEN = 0, EXCHANGED = 1, DROPPED = 2 };

void saltusi_lcp_bilateral_layout(saltusi_lcp_bilateral* mixed, int n, saltus_arena* arena) {
  assert(mixed != NULL && arena != NULL && n >= 0);
  mixed->n = n;
  mixed->table = SALTUS_PUSH2(arena, double, n, n + 1);
  mixed->reduced = SALTUS_PUSH2(arena, double, n, n);
  mixed->rest = SALTUS_PUSH(arena, double, n);
  mixed->z = SALTUS_PUSH(arena, double, n);
  mixed->expanded = SALTUS_PUSH(arena, double, n);
  mixed->polished = SALTUS_PUSH(arena, double, n);
  mixed->factor = SALTUS_PUSH(arena, double, n);
  mixed->scratch = SALTUS_PUSH(arena, double, 2 * (size_t)n + 2);
  mixed->pivot = SALTUS_PUSH(arena, int, n);
  mixed->list = SALTUS_PUSH(arena, int, n);
  mixed->state = SALTUS_PUSH(arena, unsigned char, n);
}

static double* row_of(const saltusi_lcp_bilateral* mixed, int i) {
  return mixed->table + (size_t)i * (size_t)(mixed->rows + 1);
}

static void fill(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem) {
  int n = problem->n;
  for (int i = 0; i < n; i++) {
    double* row = row_of(mixed, i);
    if (problem->sparse.start == NULL) {
      memcpy(row, problem->M + (size_t)i * (size_t)n, (size_t)n * sizeof(double));
    } else {
      memset(row, 0, (size_t)n * sizeof(double));
      for (int k = problem->sparse.start[i]; k < problem->sparse.start[i + 1]; k++) {
        row[problem->sparse.column[k]] += problem->sparse.values[k];
      }
    }
    row[n] = problem->q[i];
  }
}

/* Equalities have arbitrary factors: rows are scaled to a largest entry of 1, so that pivots are comparable. */
static void scale_rows(saltusi_lcp_bilateral* mixed) {
  for (int i = 0; i < mixed->bilateral; i++) {
    double* row = row_of(mixed, i);
    double largest = 0.0;
    for (int j = 0; j < mixed->bilateral; j++) {
      largest = fmax(largest, fabs(row[j]));
    }
    double factor = largest > 0.0 ? 1.0 / largest : 1.0;
    mixed->factor[i] = factor;
    for (int j = 0; j <= mixed->rows; j++) {
      row[j] *= factor;
    }
  }
}

static void take_rest(saltusi_lcp_bilateral* mixed) {
  int nb = mixed->bilateral;
  int m = mixed->rows - nb;
  for (int i = 0; i < m; i++) {
    const double* row = row_of(mixed, nb + i);
    memcpy(mixed->reduced + (size_t)i * (size_t)m, row + nb, (size_t)m * sizeof(double));
    mixed->rest[i] = row[mixed->rows];
  }
}

/* Principal pivot on the rows P[0 .. k - 1], k <= 2, with inverse I. */
static void pivot_on(saltusi_lcp_bilateral* mixed, const int* P, int k, double I[2][2]) {
  int n = mixed->rows;
  double* a = row_of(mixed, P[0]);
  double* b = row_of(mixed, P[k - 1]);
  for (int i = 0; i < n; i++) {
    if (i == P[0] || i == P[k - 1]) {
      continue;
    }
    double* row = row_of(mixed, i);
    double x = row[P[0]];
    double y = k > 1 ? row[P[1]] : 0.0;
    double f = x * I[0][0] + y * I[1][0];
    double g = x * I[0][1] + y * I[1][1];
    for (int j = 0; (f != 0.0 || g != 0.0) && j <= n; j++) {
      row[j] -= f * a[j] + (k > 1 ? g * b[j] : 0.0);
    }
    row[P[0]] = f;
    if (k > 1) {
      row[P[1]] = g;
    }
  }
  for (int j = 0; j <= n; j++) {
    double x = a[j];
    double y = k > 1 ? b[j] : 0.0;
    a[j] = -(I[0][0] * x + I[0][1] * y);
    if (k > 1) {
      b[j] = -(I[1][0] * x + I[1][1] * y);
    }
  }
  for (int r = 0; r < k; r++) {
    for (int c = 0; c < k; c++) {
      row_of(mixed, P[r])[P[c]] = I[r][c];
    }
    mixed->state[P[r]] = mixed->state[P[r]] == EXCHANGED ? OPEN : EXCHANGED;
  }
}

/* Marks a bilateral row as eliminated: its w is zero, and its column is not used any more. */
static bool finished(const saltusi_lcp_bilateral* mixed, int i) {
  return i < mixed->bilateral && mixed->state[i] != OPEN;
}

/* Largest entries of row and column i in the remaining table; zero if both are rounding of their initial sizes. */
static void sizes(const saltusi_lcp_bilateral* mixed, int i, double* row, double* column) {
  *row = 0.0;
  *column = 0.0;
  for (int j = 0; j < mixed->rows; j++) {
    if (!finished(mixed, j)) {
      *row = fmax(*row, fabs(row_of(mixed, i)[j]));
      *column = fmax(*column, fabs(row_of(mixed, j)[i]));
    }
  }
  if (fmax(*row, *column) <= vanished * mixed->factor[i]) {
    *row = 0.0;
    *column = 0.0;
  }
}

typedef struct choice {
  int P[2];
  double quality; /* the determinant relative to its bound */
} choice;

static choice best_single(const saltusi_lcp_bilateral* mixed) {
  choice best = {{-1, -1}, 0.0};
  for (int i = 0; i < mixed->bilateral && best.quality <= single_enough; i++) {
    if (finished(mixed, i)) {
      continue;
    }
    double row;
    double column;
    sizes(mixed, i, &row, &column);
    double size = fmax(row, column);
    double quality = size > 0.0 ? fabs(row_of(mixed, i)[i]) / size : 0.0;
    if (quality > best.quality) {
      best = (choice){{i, i}, quality};
    }
  }
  return best;
}

static choice best_pair(const saltusi_lcp_bilateral* mixed) {
  choice best = {{-1, -1}, 0.0};
  for (int i = 0; i < mixed->bilateral; i++) {
    if (finished(mixed, i)) {
      continue;
    }
    double row;
    double column;
    sizes(mixed, i, &row, &column);
    const double* a = row_of(mixed, i);
    for (int j = 0; j < mixed->rows && row > 0.0 && column > 0.0; j++) {
      if (j == i || finished(mixed, j)) {
        continue;
      }
      const double* b = row_of(mixed, j);
      double quality = fabs(a[j] * b[i] - a[i] * b[j]) / (row * column);
      /* pivot on a complementary row only if no bilateral row is possible */
      quality *= j < mixed->bilateral ? 1.0 : complementary_weight;
      if (quality > best.quality) {
        best = (choice){{i, j}, quality};
      }
    }
  }
  return best;
}

static void pivot_single(saltusi_lcp_bilateral* mixed, int i) {
  double I[2][2] = {{1.0 / row_of(mixed, i)[i], 0.0}, {0.0, 0.0}};
  pivot_on(mixed, &i, 1, I);
}

static void pivot_pair(saltusi_lcp_bilateral* mixed, const int* P) {
  double a = row_of(mixed, P[0])[P[0]];
  double b = row_of(mixed, P[0])[P[1]];
  double c = row_of(mixed, P[1])[P[0]];
  double d = row_of(mixed, P[1])[P[1]];
  double det = a * d - b * c;
  double I[2][2] = {{d / det, -b / det}, {-c / det, a / det}};
  pivot_on(mixed, P, 2, I);
}

/* Rows without a pivot are redundant if they and their right-hand side are zero, inconsistent if only the right-hand
 * side is not. */
static saltusi_reduction judge_leftovers(saltusi_lcp_bilateral* mixed, double q_size) {
  saltusi_reduction verdict = SALTUSI_REDUCED;
  for (int i = 0; i < mixed->bilateral; i++) {
    if (mixed->state[i] != OPEN) {
      continue;
    }
    const double* line = row_of(mixed, i);
    double row = 0.0;
    for (int j = 0; j < mixed->rows; j++) {
      row = fmax(row, finished(mixed, j) ? 0.0 : fabs(line[j]));
    }
    if (row > remains * mixed->factor[i]) {
      return SALTUSI_REDUCTION_FAILED;
    }
    if (fabs(line[mixed->rows]) > contradicts * q_size) {
      verdict = SALTUSI_REDUCTION_NONE;
    }
    mixed->state[i] = DROPPED;
  }
  return verdict;
}

static saltusi_reduction exchange_rows(saltusi_lcp_bilateral* mixed) {
  double q_size = 0.0;
  memset(mixed->state, OPEN, (size_t)mixed->rows);
  for (int i = 0; i < mixed->rows; i++) {
    double row;
    double column;
    mixed->factor[i] = 0.0;
    sizes(mixed, i, &row, &column);
    mixed->factor[i] = fmax(row, column);
    q_size = fmax(q_size, fabs(row_of(mixed, i)[mixed->rows]));
  }
  /* each pivot eliminates a bilateral row */
  for (int k = 0; k < mixed->bilateral; k++) {
    choice single = best_single(mixed);
    if (single.quality > good_pivot) {
      pivot_single(mixed, single.P[0]);
      continue;
    }
    choice pair = best_pair(mixed);
    if (pair.quality > 10.0 * least_pivot) {
      pivot_pair(mixed, pair.P);
    } else if (single.quality > least_pivot) {
      pivot_single(mixed, single.P[0]);
    } else {
      break;
    }
  }
  return judge_leftovers(mixed, q_size);
}

static saltusi_dense_elimination elimination_of(const saltusi_lcp_bilateral* mixed) {
  return (saltusi_dense_elimination){.A = mixed->table,
                                     .stride = mixed->rows + 1,
                                     .rows = mixed->rows,
                                     .columns = mixed->rows + 1,
                                     .pivots = mixed->bilateral};
}

saltusi_reduction saltusi_lcp_bilateral_reduce(saltusi_lcp_bilateral* mixed,
                                               const saltus_lcp* problem, bool careful) {
  assert(mixed != NULL && problem != NULL);
  mixed->rows = problem->n;
  mixed->bilateral = problem->bilateral;
  mixed->exchanged = careful;
  fill(mixed, problem);
  saltusi_reduction outcome = SALTUSI_REDUCED;
  if (careful) {
    outcome = exchange_rows(mixed);
  } else {
    scale_rows(mixed);
    const saltusi_dense_elimination all = elimination_of(mixed);
    if (!saltusi_eliminate(&all, regular, mixed->pivot)) {
      return SALTUSI_REDUCTION_FAILED;
    }
  }
  take_rest(mixed);
  return outcome;
}

/* U_bb z_b = -(L^-1 q_b + U_bu z_u), then one step of refinement on the bilateral rows */
static void expand_factored(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem) {
  int nb = mixed->bilateral;
  int m = mixed->rows - nb;
  double* z = mixed->expanded;
  memcpy(z + nb, mixed->z, (size_t)m * sizeof(double));
  for (int i = nb - 1; i >= 0; i--) {
    const double* row = row_of(mixed, i);
    double sum = row[mixed->rows] + saltusi_dot4(mixed->rows - i - 1, row + i + 1, z + i + 1);
    z[i] = -sum / row[i];
  }
  saltus_lcp_residual(problem, z, mixed->scratch);
  for (int i = 0; i < nb; i++) {
    mixed->scratch[i] *= -mixed->factor[i];
  }
  const saltusi_dense_elimination all = elimination_of(mixed);
  saltusi_eliminate_solve(&all, mixed->pivot, mixed->scratch);
  for (int i = 0; i < nb; i++) {
    z[i] += mixed->scratch[i];
  }
}

void saltusi_lcp_bilateral_expand(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem) {
  assert(mixed != NULL && problem != NULL);
  if (!mixed->exchanged) {
    expand_factored(mixed, problem);
    return;
  }
  int n = mixed->rows;
  int nb = mixed->bilateral;
  double* x = mixed->scratch;
  double* z = mixed->expanded;
  for (int j = 0; j < n; j++) {
    x[j] = j < nb ? 0.0 : mixed->z[j - nb];
  }
  for (int i = 0; i < n; i++) {
    z[i] = x[i];
    if (mixed->state[i] == EXCHANGED) {
      double value = row_of(mixed, i)[n] + saltusi_dot4(n, row_of(mixed, i), x);
      /* one of z and w is zero: a positive value of the reduced solution is w here */
      z[i] = i < nb ? value : x[i] > 0.0 ? 0.0 : fmax(0.0, value);
    }
  }
}

/* Compacts the block of mixed->list to the front of the table, rows scaled to a largest entry of 1; the right-hand side
 * is stored in scratch, followed by the factors. Every entry moves towards the front. */
static void squeeze(saltusi_lcp_bilateral* mixed, int count) {
  int n = mixed->rows;
  double* to = mixed->table;
  for (int a = 0; a < count; a++) {
    const double* row = row_of(mixed, mixed->list[a]);
    double right = -row[n];
    double largest = 0.0;
    for (int b = 0; b < count; b++) {
      to[b] = row[mixed->list[b]];
      largest = fmax(largest, fabs(to[b]));
    }
    double factor = largest > 0.0 ? 1.0 / largest : 1.0;
    for (int b = 0; b < count; b++) {
      to[b] *= factor;
    }
    mixed->scratch[a] = factor * right;
    mixed->scratch[n + a] = factor;
    to += count;
  }
}

bool saltusi_lcp_bilateral_polish(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem) {
  assert(mixed != NULL && problem != NULL);
  enum { REFINEMENTS = 2 };
  int n = problem->n;
  int count = 0;
  fill(mixed, problem);
  for (int i = 0; i < n; i++) {
    if (i < problem->bilateral || mixed->expanded[i] > 0.0) {
      mixed->list[count++] = i;
    }
  }
  squeeze(mixed, count);
  const saltusi_dense_elimination all = {
      .A = mixed->table, .stride = count, .rows = count, .columns = count, .pivots = count};
  if (!saltusi_eliminate(&all, polish_pivot, mixed->pivot)) {
    return false;
  }
  memset(mixed->polished, 0, (size_t)n * sizeof(double));
  for (int k = 0; k <= REFINEMENTS; k++) {
    for (int a = 0; a < count && k > 0; a++) {
      mixed->scratch[a] = -mixed->scratch[n + a] * mixed->reduced[mixed->list[a]];
    }
    saltusi_eliminate_solve(&all, mixed->pivot, mixed->scratch);
    for (int a = 0; a < count; a++) {
      mixed->polished[mixed->list[a]] += mixed->scratch[a];
    }
    /* the memory of the reduced problem is reused for M z + q */
    saltus_lcp_residual(problem, mixed->polished, mixed->reduced);
  }
  for (int i = problem->bilateral; i < n; i++) {
    mixed->polished[i] = fmax(0.0, mixed->polished[i]);
  }
  return true;
}
