/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide_spatial.c - decisions where contacts have two tangents: friction problems with the exact cone instead of
 * linear complementarity problems (section 9).
 *
 *   contacts at rest     u + mu |u_T| n in K*  perp  l in K,      u = R^T P R l + free
 *   moving contacts      0 <= u_N  perp  l_N >= 0,   l_T = -mu l_N d with the direction d of U_T
 *
 * A moving contact has one row and a column that is not its transpose: a frictionless contact of a friction problem
 * with nonsymmetric W, which the solvers admit. A contact with different ellipses for sticking and sliding
 * (friction_mode.h) has a circular cone after its second tangent is scaled, the force by m and the slip by n^2 / m.
 */
#include "adaptive/mode/decide.h"
#include "adaptive/mode/friction_mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Tangential accelerations below this fraction of the largest free one are zero, as in decide.c. */
static const double resting = 1e-10;

bool saltusi_is_spatial(const saltusi_decision* d, const int* set, int count) {
  assert(d != NULL && count >= 0);
  for (int i = 0; i < count; i++) {
    if (d->o->tangents[set[i]] >= 2 && d->mu[set[i]] > 0.0) {
      return true;
    }
  }
  return false;
}

static int rows_of(const saltusi_decision* d, int key) {
  return d->mu[key] > 0.0 && !saltusi_is_prescribed(d, key) ? 1 + d->o->tangents[key] : 1;
}

/* Scales of the forces and slips of a row of a contact. */
static void row_scales(const saltusi_decision* d, int key, int k, double* force, double* slip) {
  double m;
  double n;
  bool axes = k == 2 && saltusi_friction_mode_axes(d->o, key, &m, &n);
  *force = axes ? m : 1.0;
  *slip = axes ? n * n / m : 1.0;
}

/* Rows of each contact, columns P H, W and free values. */
static int make_problem(saltusi_decision* d, const saltusi_problem* p) {
  const saltusi_island* in = &p->in;
  int n = 0;
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    bool moves = saltusi_is_prescribed(d, key);
    int rows = rows_of(d, key);
    d->unit_first[i] = n;
    d->unit_mu[i] = moves ? 0.0 : d->mu[key];
    for (int k = 0; k < rows; k++, n++) {
      int row = d->o->nj + d->o->base[key] + k;
      double* x = d->lcp_X + (size_t)n * (size_t)in->k;
      double force;
      double slip;
      row_scales(d, key, k, &force, &slip);
      d->lcp_kind[n] = row;
      d->lcp_q[n] = slip * p->u_free[d->o->base[key] + k];
      memset(x, 0, (size_t)in->k * sizeof(double));
      saltusi_island_add_row(in, &d->mode->row, row, force, x);
      for (int c = 0; moves && c < d->o->tangents[key]; c++) {
        saltusi_island_add_row(in, &d->mode->row, row + 1 + c,
                               -d->mu[key] * saltusi_prescribed(d, key, c), x);
      }
      saltusi_reduced_inverse(d->mode, p->island, x);
    }
  }
  d->unit_first[p->count] = n;
  const saltusi_row_span span = saltusi_island_span(in);
  saltusi_operator_gram(&d->mode->row, n, d->lcp_kind, &span, d->lcp_X, d->lcp_M);
  for (int i = 0; i < p->count; i++) {
    double force;
    double slip;
    row_scales(d, p->set[i], d->unit_first[i + 1] - d->unit_first[i] - 1, &force, &slip);
    for (int j = 0; slip != 1.0 && j < n; j++) {
      d->lcp_M[(size_t)(d->unit_first[i + 1] - 1) * (size_t)n + (size_t)j] *= slip;
    }
  }
  return n;
}

/* Forces by contact row, slips, and the change of v or a. */
static void write_answer(saltusi_decision* d, const saltusi_problem* p, int n) {
  const saltusi_island* in = &p->in;
  memset(d->x, 0, (size_t)in->k * sizeof(double));
  for (int i = 0; i < n; i++) {
    saltusi_add_scaled(in->k, d->lcp_z[i], d->lcp_X + (size_t)i * (size_t)in->k, d->x);
  }
  saltusi_island_scatter(in, 1.0, d->x, d->change);
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    int first = d->unit_first[i];
    double* l = d->impulse + d->o->base[key];
    double slip[2] = {0.0, 0.0};
    for (int k = first; k < d->unit_first[i + 1]; k++) {
      double force;
      double scale;
      row_scales(d, key, k - first, &force, &scale);
      l[k - first] = force * d->lcp_z[k];
      if (k > first) {
        slip[k - first - 1] =
            d->lcp_q[k] / scale + saltusi_island_dot(in, &d->mode->row, d->lcp_kind[k], d->x);
      }
    }
    for (int k = 0; saltusi_is_prescribed(d, key) && k < d->o->tangents[key]; k++) {
      l[1 + k] = -d->mu[key] * saltusi_prescribed(d, key, k) * l[0];
    }
    d->slack[key] = hypot(slip[0], slip[1]);
  }
}

/* Whether a contact at rest begins to slide: with another load distribution it may not. */
static bool begins_to_slide(const saltusi_decision* d, const saltusi_problem* p) {
  const int n = d->unit_first[p->count];
  const double rest = resting * saltusi_max_abs(n, d->lcp_q);
  for (int i = 0; i < p->count; i++) {
    double slip = 0.0;
    for (int k = d->unit_first[i] + 1; k < d->unit_first[i + 1] && d->unit_mu[i] > 0.0; k++) {
      const double* row = d->lcp_M + (size_t)k * (size_t)n;
      slip = hypot(slip, d->lcp_q[k] + saltusi_dot(n, row, d->lcp_z));
    }
    if (slip > rest) {
      return true;
    }
  }
  return false;
}

/* The limit of vanishing equal compliance (docs/solvers/indeterminate.md), from a solution. */
static bool distribute(saltusi_decision* d, const saltusi_problem* p) {
  saltusi_friction_step* step = &d->friction;
  step->distributes = step->redistributes = true;
  bool solved = saltusi_friction_step_solve(step, p->count, d->unit_first, d->unit_mu, d->lcp_M,
                                            d->lcp_q, d->lcp_z);
  step->distributes = step->redistributes = false;
  d->mode->eval->work.contact_iterations += step->iterations;
  return solved;
}

saltus_status saltusi_decide_spatial(saltusi_decision* d, const saltusi_problem* p) {
  assert(d != NULL && p != NULL);
  int rows = 0;
  for (int i = 0; i < p->count; i++) {
    rows += rows_of(d, p->set[i]);
  }
  saltus_status status = saltusi_decision_workspace(d, &p->in, rows);
  if (status == SALTUS_OK && p->count > d->units_max) {
    status = saltusi_capacity_lacks(&d->mode->eval->room, SALTUSI_CAPACITY_ROWS, (size_t)p->count);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  int n = make_problem(d, p);
  d->mode->counts->decisions++;
  d->mode->eval->work.contact_solves++;
  memset(d->lcp_z, 0, (size_t)n * sizeof(double)); /* decisions have no warm start */
  bool solved = saltusi_friction_step_solve(&d->friction, p->count, d->unit_first, d->unit_mu,
                                            d->lcp_M, d->lcp_q, d->lcp_z);
  d->mode->eval->work.contact_iterations += d->friction.iterations;
  saltusi_decision_tell(d, p, d->friction.iterations);
  if (solved && p->count > 1 && begins_to_slide(d, p)) {
    solved = distribute(d, p);
  }
  if (!solved) {
    return SALTUS_RETRY_SMALLER;
  }
  write_answer(d, p, n);
  return SALTUS_OK;
}
