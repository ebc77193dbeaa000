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
#include <string.h>

/* Residual of problems with a given part, and the largest accepted one, relative to the data: at contacts that are wedged
 * by joints velocities are rounding of large impulses. */
static const double aim = 1e-13;
static const double accepted = 1e-6;

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

/* Where friction has a given part, or the portfolio of friction problems fails: cones with a friction bound besides
 * mu times the normal impulse. */
static bool solve_bounded(const cone_problem* p) {
  saltusi_cone_products* c = p->c;
  for (int i = 0; i < p->units; i++) {
    const int tangents = c->first[i + 1] - c->first[i] - 1;
    c->cone[i] = (saltus_cone){.balls = tangents > 0 ? 1 : 0,
                               .rows = {tangents},
                               .mu = {c->mu[i]},
                               .held = {p->bounded ? c->bound[i] : 0.0}};
  }
  const saltus_cone_problem problem = {.units = p->units,
                                       .rows = p->rows,
                                       .cone = c->cone,
                                       .offset = c->first,
                                       .W = c->W,
                                       .q = c->b};
  memset(c->r, 0, (size_t)p->rows * sizeof(double));
  return saltusi_balls_solve(&c->balls, &problem, aim, c->r) <= accepted;
}

static bool solve(const cone_problem* p) {
  saltusi_cone_products* c = p->c;
  memset(c->r, 0, (size_t)p->rows * sizeof(double));
  return (!p->bounded &&
          saltusi_friction_step_solve(&c->friction, p->units, c->first, c->mu, c->W, c->b, c->r)) ||
         solve_bounded(p);
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
