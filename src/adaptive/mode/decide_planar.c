/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide_planar.c - complementarity problems of planar friction in one island (section 4.3):
 *
 *   moving contacts       0 <= u_N  perp  l_N >= 0,   column G_N - mu s G_T
 *   contacts at rest      the same for u_N, and with b+, b-, z >= 0 for friction b+ - b- and slip z:
 *       +-u_T + z >= 0 perp b+-,    mu l_N - b+ - b- >= 0 perp z
 *   u = R^T P H l + free,   P = M^-1 with joints eliminated
 *
 * Unknowns are scaled by 1 / sqrt(G^T P G), so that one set of tolerances serves inertias of 1e-9.
 */
#include "adaptive/mode/decide.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { NORMAL, PLUS, MINUS, SLACK };

/* A tangent that joints block more than this does not move: rounding of P is some 1e-13 of M^-1, and the free part
 * of a moving tangent is more than a thousandth of its length (section 4.3). */
static const double blocked_tangent = 1e-10;
/* Relative change of the data that separates the normals of a wedge: far above the rounding of Lemke's method, far
 * below any tolerance in use. */
static const double wedge_shift = 1e-9;
/* Friction above this fraction of its bound may slide: a hundred times the error of iterations. */
static const double at_bound = 1.0 - 1e-8;
/* Compliances of problems whose solutions are extrapolated, relative to the largest entry of W_NN: the error of the
 * extrapolation has the third power of the first one, rounding the inverse of the last one. */
static const double compliance_most = 1e-4, compliance_least = 0.9e-6;
/* Impulses, gap accelerations and slips of a scaled problem below this are zero: rounding of Lemke's method. */
static const double no_entry = 1e-9;
/* Residual of extrapolated solutions, relative to the largest acceleration. */
static const double no_residual = 1e-8;
/* Number of contacts from which on a failure of pivoting does not imply that there is no solution (Painleve):
 * chosen. */
enum { MANY = 8 };

static const double* x_of(const saltusi_decision* d, const saltusi_island* in, int i) {
  return d->lcp_X + (size_t)i * (size_t)in->k;
}

static bool is_blocked(saltusi_decision* d, const saltusi_problem* p, int key) {
  const saltusi_island* in = &p->in;
  if (d->mode->reduced.joints[p->island] == 0) {
    return false;
  }
  int row = d->o->nj + d->o->base[key] + 1;
  saltusi_reduced_response(d->mode, p->island, row, d->x);
  double with_joints = saltusi_island_dot(in, &d->mode->row, row, d->x);
  memset(d->x, 0, (size_t)in->k * sizeof(double));
  saltusi_island_add_row(in, &d->mode->row, row, 1.0, d->x);
  saltusi_reduced_divide(d->mode, in, d->x);
  return with_joints <= blocked_tangent * saltusi_island_dot(in, &d->mode->row, row, d->x);
}

static int add_unknown(saltusi_decision* d, int n, int kind, int key) {
  int first = d->o->nj + d->o->base[key];
  d->lcp_row[n] = kind == SLACK ? -1 : kind == NORMAL ? first : first + 1;
  d->lcp_kind[n] = kind;
  d->lcp_key[n] = key;
  return n + 1;
}

/* Which contacts are at rest and can move. */
static bool is_free(const saltusi_decision* d, int key) {
  return d->sense[key] == 0.0 && d->mu[key] > 0.0 && !d->blocked[key];
}

/* Unknowns of the problem: normals, then frictions and slips of contacts that do not move. */
static int list_unknowns(saltusi_decision* d, const saltusi_problem* p) {
  int n = 0;
  for (int i = 0; i < p->count; i++) {
    n = add_unknown(d, n, NORMAL, p->set[i]);
  }
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    if (is_free(d, key)) {
      n = add_unknown(d, n, PLUS, key);
      n = add_unknown(d, n, MINUS, key);
    }
  }
  for (int i = 0; i < p->count; i++) {
    if (is_free(d, p->set[i])) {
      n = add_unknown(d, n, SLACK, p->set[i]);
    }
  }
  return n;
}

/* Number of unknowns, including the contacts that joints block. */
static int count_unknowns(saltusi_decision* d, const saltusi_problem* p) {
  int n = p->count;
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    bool rests = d->sense[key] == 0.0 && d->mu[key] > 0.0;
    d->blocked[key] = rests && is_blocked(d, p, key);
    n += is_free(d, key) ? 3 : 0;
  }
  return n;
}

/* Direction in which an unknown acts along its row. */
static double sign_of(const saltusi_decision* d, int i) {
  return d->lcp_kind[i] == MINUS ? -1.0 : 1.0;
}

/* Columns P H and the scales of the unknowns. */
static void make_columns(saltusi_decision* d, const saltusi_problem* p, int n) {
  const saltusi_island* in = &p->in;
  for (int i = 0; i < n; i++) {
    int key = d->lcp_key[i];
    int first = d->o->nj + d->o->base[key];
    double* x = d->lcp_X + (size_t)i * (size_t)in->k;
    memset(x, 0, (size_t)in->k * sizeof(double));
    d->lcp_scale[i] = 1.0;
    if (d->lcp_kind[i] == SLACK) {
      continue;
    }
    int row = d->lcp_row[i];
    saltusi_island_add_row(in, &d->mode->row, row, sign_of(d, i), x);
    saltusi_reduced_inverse(d->mode, p->island, x);
    double own = sign_of(d, i) * saltusi_island_dot(in, &d->mode->row, row, x);
    d->lcp_scale[i] = 1.0 / sqrt(fmax(own, DBL_MIN));
    if (d->lcp_kind[i] == NORMAL && saltusi_is_prescribed(d, key)) {
      for (int k = 0; k < d->o->tangents[key]; k++) {
        saltusi_reduced_response(d->mode, p->island, first + 1 + k, d->x);
        saltusi_add_scaled(in->k, -d->mu[key] * saltusi_prescribed(d, key, k), d->x, x);
      }
    }
  }
  int slack = 0; /* slips are in the order of frictions, and scaled by the inverse of theirs */
  while (slack < n && d->lcp_kind[slack] != SLACK) {
    slack++;
  }
  for (int j = 0; j < n && slack < n; j++) {
    if (d->lcp_kind[j] == PLUS) {
      d->lcp_scale[slack++] = 1.0 / d->lcp_scale[j];
    }
  }
}

/* The part of the matrix that is the law of friction. */
static double law_entry(const saltusi_decision* d, int i, int j) {
  if (d->lcp_key[i] != d->lcp_key[j]) {
    return 0.0;
  }
  bool friction_j = d->lcp_kind[j] == PLUS || d->lcp_kind[j] == MINUS;
  bool friction_i = d->lcp_kind[i] == PLUS || d->lcp_kind[i] == MINUS;
  if (friction_i && d->lcp_kind[j] == SLACK) {
    return 1.0;
  }
  if (d->lcp_kind[i] == SLACK) {
    return friction_j ? -1.0 : d->lcp_kind[j] == NORMAL ? d->mu[d->lcp_key[i]] : 0.0;
  }
  return 0.0;
}

/* Impulses of a wedge are in equilibrium, and q of the problem is orthogonal to them up to rounding; if that remainder
 * has the wrong sign, there is no solution. An increase of the gap velocities by a small fraction of the data, which
 * the closing of contacts removes, gives it the right sign. */
static saltusi_lcp_result solve_wedge(saltusi_decision* d, int n) {
  for (int i = 0; i < n; i++) {
    d->lcp_q[i] += d->lcp_kind[i] == NORMAL ? wedge_shift : 0.0;
  }
  return saltusi_lcp_lemke(&d->lcp, n, d->lcp_M, d->lcp_q, d->lcp_z);
}

/* M and q of the scaled problem; the largest entry of q. */
static double make_problem(saltusi_decision* d, const saltusi_problem* p, int n) {
  double largest = 0.0;
  const saltusi_row_span span = saltusi_island_span(&p->in);
  saltusi_operator_gram(&d->mode->row, n, d->lcp_row, &span, d->lcp_X, d->lcp_M);
  for (int i = 0; i < n; i++) {
    int key = d->lcp_key[i];
    const double* u = p->u_free + d->o->base[key];
    double b = d->lcp_kind[i] == NORMAL  ? u[0]
               : d->lcp_kind[i] == PLUS  ? u[1]
               : d->lcp_kind[i] == MINUS ? -u[1]
               : p->bound != NULL        ? p->bound[key]
                                         : 0.0;
    d->lcp_q[i] = b * d->lcp_scale[i];
    largest = fmax(largest, fabs(d->lcp_q[i]));
    for (int j = 0; j < n; j++) {
      double entry = sign_of(d, i) * d->lcp_M[i * n + j] + law_entry(d, i, j);
      d->lcp_M[i * n + j] = entry * d->lcp_scale[i] * d->lcp_scale[j];
    }
  }
  return largest;
}

/* Effect of one unknown: an impulse, a slip, and a change of v. */
static void write_answer(saltusi_decision* d, const saltusi_problem* p, int i, double z) {
  int key = d->lcp_key[i];
  double* l = d->impulse + d->o->base[key];
  saltusi_island_scatter(&p->in, z, x_of(d, &p->in, i), d->change);
  switch (d->lcp_kind[i]) {
  case NORMAL:
    l[0] = z;
    for (int k = 0; saltusi_is_prescribed(d, key) && k < d->o->tangents[key]; k++) {
      l[1 + k] = -d->mu[key] * saltusi_prescribed(d, key, k) * z;
    }
    break;
  case PLUS:
    l[1] += z;
    break;
  case MINUS:
    l[1] -= z;
    break;
  default:
    d->slack[key] = z;
  }
}

/* Linearly dependent contacts at rest, as those of an arch, by the iterations of friction problems: these
 * distribute forces over all linearly dependent rows, so that every contact that could bear load does. */
static saltus_status iterate(saltusi_decision* d, const saltusi_problem* p) {
  if (p->count > d->units_max) {
    return saltusi_capacity_lacks(&d->mode->eval->room, SALTUSI_CAPACITY_ITERATED,
                                  (size_t)p->count);
  }
  saltus_status status = saltusi_decide_spatial(d, p);
  for (int i = 0; status == SALTUS_OK && i < p->count; i++) {
    int key = p->set[i];
    const double* l = d->impulse + d->o->base[key];
    bool holds = d->o->tangents[key] > 0 && fabs(l[1]) < at_bound * d->mu[key] * l[0];
    d->slack[key] = holds ? 0.0 : d->slack[key]; /* removes the residual of the iterations */
    d->spread[key] = true;
  }
  return status;
}

/* Residual of a row at a solution. */
static double row_at(const saltusi_decision* d, int n, int i) {
  return d->lcp_q[i] + saltusi_dot(n, d->lcp_M + (size_t)i * (size_t)n, d->lcp_z);
}

/* Whether a contact neither bears load nor opens while some slide: another load distribution changes their friction. */
static bool is_ambiguous(const saltusi_decision* d, int n) {
  bool idle = false;
  bool slides = false;
  for (int i = 0; i < n; i++) {
    const int key = d->lcp_key[i];
    const bool normal = d->lcp_kind[i] == NORMAL;
    const bool rests = !(d->lcp_z[i] > no_entry);
    idle = idle || (normal && rests && !(fabs(row_at(d, n, i)) > no_entry));
    slides = slides || (d->mu[key] > 0.0 && normal && saltusi_is_prescribed(d, key)) ||
             (d->lcp_kind[i] == SLACK && !rests);
  }
  return idle && slides;
}

/* Adds equal compliance to all rows of contacts; the two parts of friction are then not both positive. */
static void add_compliance(saltusi_decision* d, int n, double size) {
  for (int i = 0; i < n; i++) {
    double scale = d->lcp_kind[i] == SLACK ? 0.0 : d->lcp_scale[i];
    d->lcp_M[i * n + i] += size * scale * scale;
  }
}

/* Whether lcp_z solves the problem. */
static bool is_solved(const saltusi_decision* d, int n) {
  bool solved = true;
  for (int i = 0; i < n; i++) {
    double u = row_at(d, n, i);
    solved = solved && (d->lcp_z[i] > no_entry ? fabs(u) : -u) <= no_residual;
  }
  return solved;
}

/* Solutions with compliances eps, eps / 2 and eps / 4, extrapolated to zero, into lcp_z. */
static long long extrapolate(saltusi_decision* d, int n, double eps) {
  static const double weight[3] = {1.0 / 3.0, -2.0, 8.0 / 3.0};
  double* sum = d->basis + n;
  double now = 0.0;
  long long pivots = 0;
  memset(sum, 0, (size_t)n * sizeof(double));
  for (int k = 0; k < 3; k++) {
    add_compliance(d, n, ldexp(eps, -k) - now);
    now = ldexp(eps, -k);
    saltusi_lcp_result result = saltusi_lcp_lemke(&d->lcp, n, d->lcp_M, d->lcp_q, d->lcp_z);
    pivots += result.pivots;
    saltusi_add_scaled(n, weight[k], d->lcp_z, sum);
  }
  for (int i = 0; i < n; i++) {
    d->lcp_z[i] = d->lcp_z[i] > 0.0 ? fmax(sum[i], 0.0) : 0.0;
  }
  add_compliance(d, n, -now);
  return pivots;
}

/* Removes the residual of an extrapolated solution by changes of least norm of its positive entries. */
static void polish(saltusi_decision* d, int n) {
  enum { ROUNDS = 2 };
  saltusi_active_constraints* h = &d->mode->held;
  int* at = h->spare;
  int m = 0;
  for (int i = 0; i < n && m <= (int)h->rows_max; i++) {
    if (d->lcp_z[i] > 0.0) {
      at[m < (int)h->rows_max ? m : 0] = i;
      m++;
    }
  }
  if (m == 0 || m > (int)h->rows_max) {
    return;
  }
  for (int i = 0; i < m * m; i++) {
    h->W[i] = d->lcp_M[(size_t)at[i / m] * (size_t)n + (size_t)at[i % m]];
  }
  bool factored = saltusi_rank_revealing_factor(&h->factor, m, h->W, m);
  for (int k = 0; k < ROUNDS && factored; k++) {
    for (int i = 0; i < m; i++) {
      h->probe[i] = -row_at(d, n, at[i]);
    }
    saltusi_rank_revealing_solve(&h->factor, h->probe);
    for (int i = 0; i < m; i++) {
      d->lcp_z[at[i]] += h->probe[i];
    }
  }
}

/* The limit of vanishing equal compliance (docs/solvers/indeterminate.md) in place of the solution in lcp_z, which stays
 * where the limit is not found. */
static long long distribute(saltusi_decision* d, int n) {
  double largest = 0.0;
  long long pivots = 0;
  bool solved = false;
  for (int i = 0; i < n; i++) {
    double scale = d->lcp_scale[i];
    largest = fmax(largest, d->lcp_kind[i] == NORMAL ? 1.0 / (scale * scale) : 0.0);
  }
  memcpy(d->basis, d->lcp_z, (size_t)n * sizeof(double));
  for (double eps = compliance_most; eps >= compliance_least && !solved; eps *= 0.1) {
    pivots += extrapolate(d, n, eps * largest);
    solved = is_solved(d, n);
    if (solved) {
      polish(d, n);
      solved = is_solved(d, n);
    }
  }
  if (!solved) {
    memcpy(d->lcp_z, d->basis, (size_t)n * sizeof(double));
  }
  return pivots;
}

saltus_status saltusi_decide_planar(saltusi_decision* d, const saltusi_problem* p) {
  assert(d != NULL && p != NULL);
  int n = count_unknowns(d, p);
  saltus_status status = saltusi_decision_workspace(d, &p->in, n);
  if (status != SALTUS_OK) {
    return status;
  }
  list_unknowns(d, p);
  d->mode->counts->decisions++;
  d->mode->eval->work.contact_solves++;
  make_columns(d, p, n);
  double largest = make_problem(d, p, n);
  if (largest == 0.0) {
    return SALTUS_OK;
  }
  for (int i = 0; i < n; i++) {
    d->lcp_q[i] /= largest;
  }
  saltusi_lcp_result result = saltusi_lcp_lemke(&d->lcp, n, d->lcp_M, d->lcp_q, d->lcp_z);
  d->mode->eval->work.contact_iterations += result.pivots;
  saltusi_decision_tell(d, p, result.pivots);
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    result = solve_wedge(d, n);
  }
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    bool many = p->count >= MANY && p->bound == NULL && d->mode->reduced.joints[p->island] == 0;
    return many ? iterate(d, p) : SALTUS_RETRY_SMALLER;
  }
  if (is_ambiguous(d, n)) {
    d->mode->eval->work.contact_iterations += distribute(d, n);
  }
  for (int i = 0; i < n; i++) {
    write_answer(d, p, i, d->lcp_z[i] * largest * d->lcp_scale[i]);
    double scale = d->lcp_kind[i] == NORMAL ? 1.0 / d->lcp_scale[i] : 0.0;
    d->residual = fmax(d->residual, result.residual * largest * scale);
  }
  return SALTUS_OK;
}
