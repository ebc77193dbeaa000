/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_tiny.c - tables on the stack. Bilateral rows b are eliminated by Gauss-Jordan, which leaves
 *
 *   z_b = -(R z + s),     w = S z + t
 *
 * 1. principal pivots on the last violated row (Murty 1974), where its diagonal entry vanishes on it
 *    and another one (Cottle, Pang & Stone, section 2.3): rows and columns of a pair are not
 *    moved, so that no permutation is stored. Ends when M is a P-matrix.
 * 2. otherwise Lemke's method on the condensed table of w = S z + z_0 + t, without a rule for ties.
 *
 * Neither verifies its result: the caller checks the residual and falls back on the general methods.
 */
#include "solve/lcp/lcp_tiny.h"

#include <assert.h>
#include <math.h>

enum { MOST = SALTUSI_LCP_TINY_MAX };

/* A pivot below this part of its column is left to the general methods: it has six correct digits. */
static const double least_pivot = 1e-10;
/* Violations below this part of t, 45 eps, are rounding of a handful of rows. */
static const double rounding = 1e-14;

typedef struct lcp_tiny_table {
  int n, bilateral;
  double given[MOST][MOST + 1]; /* with q as last column; bilateral rows become R, s */
  int m;                        /* n - bilateral */
  const double* S;              /* entries [m x stride], in `given` or the caller's */
  const double* t;              /* every t_step-th is one */
  int stride, t_step;
  double T[MOST][MOST + 2]; /* S, column of z_0 (Lemke), t */
} lcp_tiny_table;

static void gather(const saltus_lcp* problem, lcp_tiny_table* t) {
  for (int i = 0; i < t->n; i++) {
    double* row = t->given[i];
    bool sparse = problem->sparse.start != NULL;
    for (int j = 0; j < t->n; j++) {
      row[j] = sparse ? 0.0 : problem->M[i * t->n + j];
    }
    for (int k = sparse ? problem->sparse.start[i] : 0; sparse && k < problem->sparse.start[i + 1];
         k++) {
      row[problem->sparse.column[k]] += problem->sparse.values[k];
    }
    row[t->n] = problem->q[i];
  }
}

static void exchange_rows(lcp_tiny_table* t, int a, int b) {
  for (int j = 0; a != b && j <= t->n; j++) {
    double kept = t->given[a][j];
    t->given[a][j] = t->given[b][j];
    t->given[b][j] = kept;
  }
}

/* Gauss-Jordan on the bilateral rows with partial pivoting; false: nearly singular. */
static bool eliminate_bilateral(lcp_tiny_table* t) {
  for (int k = 0; k < t->bilateral && k < t->n; k++) {
    int best = k;
    double size = 0.0;
    for (int i = 0; i < t->n; i++) {
      double entry = fabs(t->given[i][k]);
      size = entry > size ? entry : size;
      best = i < t->bilateral && i > k && entry > fabs(t->given[best][k]) ? i : best;
    }
    exchange_rows(t, k, best);
    double* from = t->given[k];
    if (!(fabs(from[k]) > least_pivot * size)) {
      return false;
    }
    double reciprocal = 1.0 / from[k];
    for (int j = k + 1; j <= t->n; j++) {
      from[j] *= reciprocal;
    }
    for (int i = 0; i < t->n; i++) {
      double factor = t->given[i][k];
      for (int j = k + 1; i != k && factor != 0.0 && j <= t->n; j++) {
        t->given[i][j] -= factor * from[j];
      }
    }
  }
  return true;
}

/* The complementary part; false when the bilateral rows cannot be eliminated. */
static bool start(const saltus_lcp* problem, lcp_tiny_table* t) {
  t->n = problem->n;
  t->bilateral = problem->bilateral;
  t->m = t->n - t->bilateral;
  if (t->bilateral == 0 && problem->sparse.start == NULL) {
    t->S = problem->M;
    t->t = problem->q;
    t->stride = t->n;
    t->t_step = 1;
    return true;
  }
  gather(problem, t);
  const double* row = t->given[t->m > 0 ? t->bilateral : 0]; /* without rows they are not read */
  t->S = row + t->bilateral;
  t->t = row + t->n;
  t->stride = MOST + 1;
  t->t_step = MOST + 1;
  return eliminate_bilateral(t);
}

/* T from S and t, which is column `last`. */
static void fill(lcp_tiny_table* t, int last) {
  for (int i = 0; i < t->m; i++) {
    double* to = t->T[i];
    const double* from = t->S + (size_t)i * (size_t)t->stride;
    for (int j = 0; j < t->m; j++) {
      to[j] = from[j];
    }
    to[t->m] = 1.0;
    to[last] = t->t[(size_t)i * (size_t)t->t_step];
  }
}

/* Exchanges the variables of row r and column c, over columns 0 .. last. */
static void pivot(lcp_tiny_table* t, int r, int c, int last) {
  double* from = t->T[r];
  double reciprocal = 1.0 / from[c];
  for (int j = 0; j <= last; j++) {
    from[j] *= -reciprocal;
  }
  from[c] = reciprocal;
  for (int i = 0; i < t->m; i++) {
    double* to = t->T[i];
    double factor = to[c];
    if (i == r || factor == 0.0) {
      continue;
    }
    to[c] = 0.0;
    for (int j = 0; j <= last; j++) {
      to[j] += factor * from[j];
    }
  }
}

/* Largest entry of a column. By comparison: fmax is a call. */
static double column_size(const lcp_tiny_table* t, int c) {
  double size = 0.0;
  for (int i = 0; i < t->m; i++) {
    double entry = fabs(t->T[i][c]);
    size = entry > size ? entry : size;
  }
  return size;
}

/* The row with which a row without diagonal makes the largest pivot of two; -1: none. */
static int partner_of(const lcp_tiny_table* t, int row) {
  int best = -1;
  double largest = 0.0;
  for (int i = 0; i < t->m; i++) {
    double product = fabs(t->T[row][i] * t->T[i][row]);
    if (i != row && product > largest) {
      largest = product;
      best = i;
    }
  }
  return best;
}

/* Exchanges both pairs crosswise, after which the two rows have changed places. False: their block is nearly
 * singular. */
static bool pivot_pair(lcp_tiny_table* t, int a, int b) {
  if (!(fabs(t->T[a][b]) > least_pivot * column_size(t, b))) {
    return false;
  }
  pivot(t, a, b, t->m);
  if (!(fabs(t->T[b][a]) > least_pivot * column_size(t, a))) {
    return false;
  }
  pivot(t, b, a, t->m);
  for (int j = 0; j <= t->m; j++) {
    double kept = t->T[a][j];
    t->T[a][j] = t->T[b][j];
    t->T[b][j] = kept;
  }
  return true;
}

/* Pivots on the violated row; false: no pivot exists. exchanged: one bit for each row. */
static bool exchange(lcp_tiny_table* t, int row, unsigned* exchanged) {
  if (t->T[row][row] > least_pivot * column_size(t, row)) {
    pivot(t, row, row, t->m);
  } else {
    int partner = partner_of(t, row);
    if (partner < 0 || !pivot_pair(t, row, partner)) {
      return false;
    }
    *exchanged ^= 1U << partner;
  }
  *exchanged ^= 1U << row;
  return true;
}

/* Number of pivots, or -1; z gets the complementary rows. */
static int principal_pivots(lcp_tiny_table* t, double* z) {
  int m = t->m;
  int most = m + 2; /* Lemke's method is better for problems that need more */
  unsigned exchanged = 0;
  unsigned seen[MOST + 3]; /* sets of earlier pivots: a set that returns starts a cycle */
  fill(t, m);
  double floor_ = -rounding * column_size(t, m);
  for (int k = 0; k <= most; k++) {
    int row = m - 1;
    while (row >= 0 && !(t->T[row][m] < floor_)) {
      row--;
    }
    if (row < 0) {
      for (int i = 0; i < m; i++) {
        z[i] = (exchanged >> i & 1U) != 0 && t->T[i][m] > 0.0 ? t->T[i][m] : 0.0;
      }
      return k;
    }
    seen[k] = exchanged;
    if (!exchange(t, row, &exchanged)) {
      return -1;
    }
    for (int i = 0; i <= k; i++) {
      if (seen[i] == exchanged) {
        return -1;
      }
    }
  }
  return -1;
}

/* The row that limits the variable of column c, ties in favour of z_0 (row `artificial`); -1: a ray. */
static int leaving_row(const lcp_tiny_table* t, int c, int artificial) {
  int m = t->m;
  double size = column_size(t, c);
  int best = -1;
  double least = INFINITY;
  for (int i = 0; i < m; i++) {
    double slope = -t->T[i][c];
    if (!(slope > least_pivot * size)) {
      continue;
    }
    double ratio = t->T[i][m + 1] / slope;
    if (ratio < least || (i == artificial && ratio <= least)) {
      least = ratio;
      best = i;
    }
  }
  return best;
}

/* Variables: i is w_i, m + i is z_i, 2 m is z_0. Returns the number of pivots, or -1. */
static int lemke_pivots(lcp_tiny_table* t, double* z) {
  int m = t->m;
  int most = 4 * m + 8;
  int basic[MOST] = {0};
  int column[MOST + 1]; /* variable in each column */
  if (m <= 0) {
    return 0;
  }
  fill(t, m + 1);
  int row = 0;
  for (int i = 0; i < m; i++) {
    basic[i] = i;
    column[i] = m + i;
    row = t->T[i][m + 1] < t->T[row][m + 1] ? i : row;
  }
  column[m] = 2 * m;
  int artificial = row;
  int c = m;
  for (int k = 1; k <= most; k++) {
    pivot(t, row, c, m + 1);
    int left = basic[row];
    basic[row] = column[c];
    column[c] = left;
    if (left == 2 * m) {
      for (int i = 0; i < m; i++) {
        z[i] = 0.0;
      }
      for (int i = 0; i < m; i++) {
        if (basic[i] >= m) {
          z[basic[i] - m] = t->T[i][m + 1] > 0.0 ? t->T[i][m + 1] : 0.0;
        }
      }
      return k;
    }
    int entering = left < m ? left + m : left - m;
    for (c = 0; c <= m && column[c] != entering; c++) {
    }
    row = c <= m ? leaving_row(t, c, artificial) : -1;
    if (row < 0) {
      return -1;
    }
  }
  return -1;
}

static void put_back(const lcp_tiny_table* t, double* z) {
  const double* rest = z + t->bilateral;
  for (int i = 0; i < t->bilateral; i++) {
    double sum = t->given[i][t->n];
    for (int j = 0; j < t->m; j++) {
      sum += t->given[i][t->bilateral + j] * rest[j];
    }
    z[i] = -sum;
  }
}

saltusi_lcp_tiny_result saltusi_lcp_tiny(const saltus_lcp* problem, double* z) {
  assert(problem != NULL);
  lcp_tiny_table t;
  saltusi_lcp_tiny_result result = {0};
  if (!start(problem, &t)) {
    return result;
  }
  double* rest = z + t.bilateral;
  result.principal = principal_pivots(&t, rest);
  result.found = result.principal >= 0;
  if (!result.found) {
    result.principal = 0;
    result.lemke = lemke_pivots(&t, rest);
    result.found = result.lemke >= 0;
  }
  if (result.found) {
    put_back(&t, z);
  }
  return result;
}
