/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * load_distribution.c - the limit of vanishing equal compliance. With fixed statuses r is an analytic function of eps,
 * so solutions at eps, eps / 2 and eps / 4 are extrapolated to zero,
 *
 *   r = (r(eps) - 6 r(eps / 2) + 8 r(eps / 4)) / 3 + O(eps^3)
 *
 * and proximal point iterations from there remove the residual that is left, without a component in the null space of W.
 * If a status changes on the way, the differences do not halve with eps, and a smaller eps is taken.
 */
#include "solve/load_distribution.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Compliances, as parts of the largest W_NN: the truncation error of extrapolation is of the order of their cube, the rounding error
 * of r of 1e-16 divided by a quarter of them. */
static const double compliances[] = {1e-4, 1e-5, 1e-6};
/* Factor of successive compliances of a path that starts at 1, if Newton's method does not converge from the given
 * solution. */
static const double path_factor = 0.2;
/* Compliance of proximal points from a solution of the last step: the rounding of each, 1e-16 over it, adds up over steps;
 * components of smaller eigenvalues converge slowly and are left to other methods. */
static const double kept_compliance = 1e-3;
/* Differences of r between compliances halve within this part of them, unless a status changes between the
 * compliances. */
static const double halved_part = 0.2;
/* Differences below this part of r are rounding. */
static const double rounding_part = 1e-10;
/* Target residual of proximal point iterations; they continue as long as they halve the residual. */
static const double aim = 1e-15;
/* Pivots below this part of the diagonal: the row depends on rows before it (SALTUSI_DEPENDENT). */
static const double dependent = 1e-9;

void saltusi_load_distribution_layout(saltusi_load_distribution* work, int rows,
                                      saltus_arena* arena) {
  assert(work != NULL && rows >= 0 && arena != NULL);
  const int most = rows < SALTUSI_DISTRIBUTED_ROWS ? rows : SALTUSI_DISTRIBUTED_ROWS;
  work->rows_max = most;
  work->S = SALTUS_PUSH2(arena, double, most, most > 4 ? most : 4);
  work->lead = SALTUS_PUSH(arena, int, most);
  work->vectors = SALTUS_PUSH2(arena, double, most, 4);
}

int saltusi_dependent_rows(saltusi_load_distribution* work, int m) {
  assert(work != NULL && m >= 0 && m <= work->rows_max);
  double* S = work->S;
  int* lead = work->lead;
  work->degree = 0;
  for (int i = 0; i < m; i++) {
    double* row = S + (size_t)i * (size_t)m;
    const double diagonal = row[i];
    lead[i] = 0;
    while (lead[i] < i && row[lead[i]] == 0.0) {
      lead[i]++;
    }
    for (int j = lead[i]; j <= i; j++) {
      const double* other = S + (size_t)j * (size_t)m;
      const int from = lead[i] > lead[j] ? lead[i] : lead[j];
      const double rest = row[j] - saltusi_dot(j - from, row + from, other + from);
      if (j < i) {
        row[j] = other[j] > 0.0 ? rest / other[j] : 0.0;
      } else if (rest > dependent * diagonal) {
        row[i] = sqrt(rest);
      } else { /* dependent rows are left out of the factor */
        row[i] = 0.0;
        work->degree++;
      }
    }
  }
  return work->degree;
}

static double largest_difference(int n, const double* a, const double* b) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = saltusi_larger(most, fabs(a[i] - b[i]));
  }
  return most;
}

/* Solutions at three compliances from a given one, in x[0 .. 2]. */
static bool solve_three(const saltusi_compliant_problem* p, double eps, const double* r,
                        double* const x[3]) {
  const size_t bytes = (size_t)p->rows * sizeof(double);
  memcpy(x[0], r, bytes);
  bool solved = p->solve(p->user, eps, NULL, x[0]);
  for (double large = 1.0; !solved && large > 1.5 * eps; large *= path_factor) {
    p->solve(p->user, large, NULL, x[0]);
  }
  solved = solved || p->solve(p->user, eps, NULL, x[0]);
  for (int k = 1; k < 3 && solved; k++) {
    eps *= 0.5;
    memcpy(x[k], x[k - 1], bytes);
    solved = p->solve(p->user, eps, NULL, x[k]);
  }
  return solved;
}

/* Whether the statuses are equal at all three. */
static bool is_smooth(int n, double* const x[3]) {
  const double first = largest_difference(n, x[1], x[0]);
  double bend = 0.0;
  for (int i = 0; i < n; i++) {
    bend = saltusi_larger(bend, fabs(2.0 * (x[2][i] - x[1][i]) - (x[1][i] - x[0][i])));
  }
  return bend <= halved_part * first + rounding_part * saltusi_max_abs(n, x[2]);
}

/* Proximal point iterations from x; returns the residual. */
static double polish(saltusi_load_distribution* work, const saltusi_compliant_problem* p,
                     double eps, double* x) {
  enum { MOST = 8 };
  double* last = work->vectors + 3 * (size_t)p->rows;
  const size_t bytes = (size_t)p->rows * sizeof(double);
  double residual = p->residual(p->user, x);
  for (int k = 0; k < MOST && residual > aim; k++) {
    memcpy(last, x, bytes);
    const double next = p->solve(p->user, eps, last, x) ? p->residual(p->user, x) : INFINITY;
    if (!(next < 0.5 * residual)) {
      if (!(next < residual)) {
        memcpy(x, last, bytes);
      }
      return fmin(next, residual);
    }
    residual = next;
  }
  return residual;
}

bool saltusi_load_distribution_solve(saltusi_load_distribution* work,
                                     const saltusi_compliant_problem* problem, double* r) {
  assert(work != NULL && problem != NULL && r != NULL && problem->rows <= work->rows_max);
  enum { COUNT = sizeof compliances / sizeof compliances[0] };
  const size_t n = (size_t)problem->rows;
  double* const x[3] = {work->vectors, work->vectors + n, work->vectors + 2 * n};
  for (int k = 0; k < COUNT; k++) {
    if (!solve_three(problem, compliances[k], r, x)) {
      continue;
    }
    const bool smooth = is_smooth(problem->rows, x);
    if (!smooth && k + 1 < COUNT) {
      continue;
    }
    for (size_t i = 0; i < n; i++) {
      x[0][i] = smooth ? (x[0][i] - 6.0 * x[1][i] + 8.0 * x[2][i]) / 3.0 : x[2][i];
    }
    if (polish(work, problem, 0.25 * compliances[k], x[0]) <= problem->accepted) {
      memcpy(r, x[0], n * sizeof(double));
      return true;
    }
  }
  return false;
}

bool saltusi_load_distribution_keep(saltusi_load_distribution* work,
                                    const saltusi_compliant_problem* problem, double* r) {
  assert(work != NULL && problem != NULL && r != NULL && problem->rows <= work->rows_max);
  return polish(work, problem, kept_compliance, r) <= problem->accepted;
}
