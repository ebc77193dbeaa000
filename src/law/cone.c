/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cone.c - impacts as friction problems (docs/theory/laws.md, 2.1 and 2.2):
 *
 *   Newton     u = U+ + E U-:   u = W P + (1 + E) U-,   P in K,  u + mu |u_T| n in K*, orthogonal   (Moreau's form)
 *   Poisson    compression: the same with e_N = 0, U_c;   then P_N = e P_Nc + x,
 *              0 <= x perp U_N+ >= 0,   |P_T| <= mu (P_N - f0) against U_T + e_T U_T-
 *              f0 = 0: friction in the expansion phase (Coulomb's reading),  f0 = e P_Nc: none (as printed)
 */
#include "law/law.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Relative rounding of the normals of a wedge: far above that of the solution, far below any measurement. */
static const double wedge_rounding = 1e-9;
/* Gauss-Seidel iterations of problems with a given part; they end when changes are below rounding. */
enum { SWEEPS_MAX = 20000 };
static const double swept = 1e-15;

/* A problem with the selected contacts of the impact. */
typedef struct cone_problem {
  saltusi_cone_products* c;
  int units, rows;
  bool bounded; /* c->bound applies */
} cone_problem;

static int rows_of(const saltus_impact_contact* contact) {
  return contact->mu > 0.0 ? 1 + contact->tangents : 1;
}

/* Rows of the contacts with friction, normals of the others. */
static cone_problem choose(saltusi_laws* laws, const saltus_impact* impact, int count) {
  saltusi_cone_products* c = &laws->cones;
  cone_problem p = {.c = c, .units = count};
  for (int i = 0; i < count; i++) {
    const saltus_impact_contact* contact = &laws->contact[laws->set[i]];
    c->first[i] = p.rows;
    c->mu[i] = contact->tangents > 0 ? contact->mu : 0.0;
    for (int k = 0; k < rows_of(contact); k++) {
      c->row[p.rows++] = laws->first[laws->set[i]] + k;
    }
  }
  c->first[count] = p.rows;
  for (int i = 0; i < p.rows; i++) {
    for (int j = 0; j < p.rows; j++) {
      c->W[i * p.rows + j] =
          impact->W[(size_t)c->row[i] * (size_t)impact->rows + (size_t)c->row[j]];
    }
  }
  return p;
}

/* Minimum of T . A T / 2 + b . T in a disc: T = -(A + s)^-1 b with |T| = radius or s = 0. A [2 x 2] is symmetric. */
static void in_disc(const double A[4], const double b[2], double radius, double T[2]) {
  double half = 0.5 * (A[0] - A[3]);
  double angle = 0.5 * atan2(A[1], half);
  double spread = hypot(half, A[1]);
  double value[2] = {0.5 * (A[0] + A[3]) + spread, 0.5 * (A[0] + A[3]) - spread};
  double e[2] = {cos(angle), sin(angle)};
  double g[2] = {e[0] * b[0] + e[1] * b[1], e[0] * b[1] - e[1] * b[0]};
  double lo = 0.0;
  double hi = radius > 0.0 ? hypot(g[0], g[1]) / radius : 0.0;
  double size = hypot(g[0] / fmax(value[0], DBL_MIN), g[1] / fmax(value[1], DBL_MIN));
  if (!(size <= radius)) {
    for (int k = 0; k < 200 && lo < 0.5 * (lo + hi) && 0.5 * (lo + hi) < hi; k++) {
      double s = 0.5 * (lo + hi);
      size = hypot(g[0] / (value[0] + s), g[1] / (value[1] + s));
      *(size > radius ? &lo : &hi) = s;
    }
    lo = hi;
  }
  double y[2] = {0.0, 0.0};
  for (int k = 0; k < 2 && radius > 0.0; k++) {
    y[k] = g[k] == 0.0 ? 0.0 : -g[k] / fmax(value[k] + lo, DBL_MIN);
  }
  T[0] = e[0] * y[0] - e[1] * y[1];
  T[1] = e[1] * y[0] + e[0] * y[1];
}

/* U_N = b + W T < 0. At contacts that are wedged by joints W is singular, and U_N of the expansion is rounding. */
static bool approaches(double b, const double* W, const double* T, int n) {
  double u = b;
  double size = fabs(b);
  for (int k = 0; k < n; k++) {
    u += W[k] * T[k];
    size = fmax(size, fabs(W[k] * T[k]));
  }
  return u < -wedge_rounding * size;
}

/* Local problem of one contact in space, with b from all other contacts: x = 0, or U_N = 0 in the cone shifted by
 * the friction bound. */
static void solve_one(const double W[9], const double b[3], double mu, double bound, double r[3]) {
  const double A[4] = {W[4], W[5], W[7], W[8]};
  double T[2];
  in_disc(A, b + 1, bound, T);
  if (!approaches(b[0], W + 1, T, 2)) {
    r[0] = 0.0, r[1] = T[0], r[2] = T[1];
    return;
  }
  double shift = bound / mu;
  double moved[3];
  for (int k = 0; k < 3; k++) {
    moved[k] = b[k] - W[3 * k] * shift;
  }
  saltusi_friction_step_single(3, mu, W, moved, r);
  r[0] = fmax(r[0] - shift, 0.0);
}

/* Relaxation of block i with the others fixed. Returns the largest change times the diagonal. */
static double visit(const cone_problem* p, int i) {
  saltusi_cone_products* c = p->c;
  int first = c->first[i];
  int rows = c->first[i + 1] - first;
  double W[9] = {0.0}, b[3] = {0.0}, r[3] = {0.0};
  for (int k = 0; k < rows; k++) {
    b[k] = c->b[first + k];
    for (int j = 0; j < p->rows; j++) {
      bool own = j >= first && j < first + rows;
      double w = c->W[(first + k) * p->rows + j];
      b[k] += own ? 0.0 : w * c->r[j];
      if (own) {
        W[k * rows + j - first] = w;
      }
    }
  }
  double bound = p->bounded ? c->bound[i] : 0.0;
  if (rows == 3) {
    solve_one(W, b, c->mu[i], bound, r);
  } else if (rows == 2) {
    double T = fmin(fmax(-b[1] / W[3], -bound), bound);
    if (!approaches(b[0], W + 1, &T, 1)) {
      r[1] = T;
    } else {
      double moved[2] = {b[0] - W[0] * bound / c->mu[i], b[1] - W[2] * bound / c->mu[i]};
      saltusi_friction_step_single(2, c->mu[i], W, moved, r);
      r[0] = fmax(r[0] - bound / c->mu[i], 0.0);
    }
  } else {
    r[0] = fmax(-b[0] / W[0], 0.0);
  }
  double change = 0.0;
  for (int k = 0; k < rows; k++) {
    change = fmax(change, fabs(r[k] - c->r[first + k]) * W[k * rows + k]);
    c->r[first + k] = r[k];
  }
  return change;
}

/* Whether the impulses of contact i obey the law: 0 <= x perp U_N >= 0, and U_T = 0 or opposite to friction at its
 * limit. */
static bool obeys(const cone_problem* p, int i, double size) {
  const double near = 1e-6; /* relative: far above the rounding of r, far below any measurement */
  const saltusi_cone_products* c = p->c;
  const int first = c->first[i];
  double u[3] = {0.0}, r[3] = {0.0}, noise = 0.0;
  for (int k = 0; k < c->first[i + 1] - first; k++) {
    const double* W = c->W + (size_t)(first + k) * (size_t)p->rows;
    r[k] = c->r[first + k];
    u[k] = c->b[first + k] + saltusi_dot(p->rows, W, c->r);
    for (int j = 0; j < p->rows; j++) {
      noise = fmax(noise, 8.0 * DBL_EPSILON * fabs(W[j] * c->r[j]));
    }
  }
  const double slow = near * size + noise;
  const double limit = c->mu[i] * r[0] + (p->bounded ? c->bound[i] : 0.0);
  const double T = hypot(r[1], r[2]);
  const double slip = hypot(u[1], u[2]);
  const bool slides = T >= (1.0 - near) * limit && slip * T + u[1] * r[1] + u[2] * r[2] <= slow * T;
  return u[0] >= -slow && (r[0] == 0.0 || u[0] <= slow) && (slip <= slow || limit == 0.0 || slides);
}

static bool all_obey(const cone_problem* p, double size) {
  bool all = true;
  for (int i = 0; i < p->units && all; i++) {
    all = obeys(p, i, size);
  }
  return all;
}

/* Gauss-Seidel; false without a solution, such as at contacts that are wedged by joints. */
static bool sweep(const cone_problem* p) {
  double size = saltusi_max_abs(p->rows, p->c->b);
  memset(p->c->r, 0, (size_t)p->rows * sizeof(double));
  for (int k = 0; k < SWEEPS_MAX; k++) {
    double change = 0.0;
    for (int i = 0; i < p->units; i++) {
      change = fmax(change, visit(p, i));
    }
    if (!(change > swept * size)) {
      return isfinite(change) && all_obey(p, size);
    }
  }
  return false;
}

static bool solve(const cone_problem* p) {
  saltusi_cone_products* c = p->c;
  memset(c->r, 0, (size_t)p->rows * sizeof(double));
  return (!p->bounded &&
          saltusi_friction_step_solve(&c->friction, p->units, c->first, c->mu, c->W, c->b, c->r)) ||
         sweep(p);
}

bool saltusi_law_cones_solve(saltusi_cone_products* cones, int units) {
  assert(cones != NULL && units >= 0);
  const cone_problem p = {.c = cones, .units = units, .rows = cones->first[units]};
  return solve(&p);
}

/* ---- laws -------------------------------------------------------------------------------------- */

static bool is_poisson(const saltus_impact_contact* c, double all_e) {
  return all_e < 0.0 && c->e_N > 0.0 &&
         (c->impact == SALTUS_IMPACT_POISSON || c->impact == SALTUS_IMPACT_POISSON_PRINTED);
}

/* Data of the problem from velocities u [rows of the impact] and restitution. */
static void write_data(saltusi_laws* laws, const cone_problem* p, const double* u,
                       const double* before, double all_e) {
  saltusi_cone_products* c = p->c;
  for (int i = 0; i < p->units; i++) {
    const saltus_impact_contact* contact = &laws->contact[laws->set[i]];
    double e_N = all_e >= 0.0 ? all_e : is_poisson(contact, all_e) ? 0.0 : contact->e_N;
    double e_T = all_e >= 0.0 ? all_e : contact->e_T;
    for (int k = c->first[i]; k < c->first[i + 1]; k++) {
      double old = before[c->row[k]];
      c->b[k] = u[c->row[k]] + (k == c->first[i] ? e_N * fmin(old, 0.0) : e_T * old);
    }
  }
}

/* Adds W times the impulses of the problem to b of the problem. */
static void add_given(const cone_problem* p, const double* given) {
  saltusi_cone_products* c = p->c;
  for (int k = 0; k < p->rows; k++) {
    for (int i = 0; i < p->units; i++) {
      c->b[k] += c->W[k * p->rows + c->first[i]] * given[i];
    }
  }
}

static bool decompress(saltusi_laws* laws, cone_problem* p, const saltus_impact* impact,
                       const double* before) {
  saltusi_cone_products* c = p->c;
  for (int r = 0; r < impact->rows; r++) {
    laws->compression[r] =
        laws->u[r] +
        saltusi_dot(impact->rows, impact->W + (size_t)r * (size_t)impact->rows, laws->P);
  }
  for (int i = 0; i < p->units; i++) {
    const saltus_impact_contact* contact = &laws->contact[laws->set[i]];
    double back = is_poisson(contact, -1.0) ? contact->e_N * laws->P[c->row[c->first[i]]] : 0.0;
    c->given[i] = back;
    c->bound[i] = contact->impact == SALTUS_IMPACT_POISSON_PRINTED ? 0.0 : c->mu[i] * back;
  }
  write_data(laws, p, laws->compression, before, -1.0);
  add_given(p, c->given);
  p->bounded = true;
  if (!solve(p)) {
    return false;
  }
  for (int i = 0; i < p->units; i++) {
    laws->P[c->row[c->first[i]]] += c->given[i];
  }
  return true;
}

static void add_answer(saltusi_laws* laws, const cone_problem* p) {
  for (int k = 0; k < p->rows; k++) {
    laws->P[p->c->row[k]] += p->c->r[k];
  }
}

saltus_status saltusi_cones_impact(saltusi_laws* laws, const saltus_impact* impact, int count,
                                   double all_e, const double* before) {
  assert(laws != NULL && impact != NULL && before != NULL && count >= 0);
  memset(laws->P, 0, (size_t)impact->rows * sizeof(double));
  cone_problem p = choose(laws, impact, count);
  write_data(laws, &p, laws->u, before, all_e);
  if (!solve(&p)) {
    return SALTUS_RETRY_SMALLER;
  }
  add_answer(laws, &p);
  bool poisson = false;
  for (int i = 0; i < count; i++) {
    poisson = poisson || is_poisson(&laws->contact[laws->set[i]], all_e);
  }
  if (!poisson) {
    return SALTUS_OK;
  }
  if (!decompress(laws, &p, impact, before)) {
    return SALTUS_RETRY_SMALLER;
  }
  add_answer(laws, &p);
  return SALTUS_OK;
}
