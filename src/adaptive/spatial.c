/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * spatial.c - decisions where contacts have two tangents: friction problems with the exact cone instead of
 * linear complementarity problems (section 9).
 *
 *   contacts at rest     u + mu |u_T| n in K*  perp  l in K,      u = R^T P R l + free
 *   moving contacts      0 <= u_N  perp  l_N >= 0,   l_T = -mu l_N d with the direction d of U_T
 *
 * A moving contact has one row and a column that is not its transpose: a frictionless contact of a friction
 * problem whose W is not symmetric, which the solvers do not ask for.
 */
#include "adaptive/decide.h"
#include "math/matrix.h"

#include <string.h>

bool saltusi_is_spatial(const saltusi_decision* d, int count) {
  for (int i = 0; i < count; i++) {
    if (d->o->tangents[d->set[i]] == 2 && d->o->mu[d->set[i]] > 0.0) {
      return true;
    }
  }
  return false;
}

static bool moves(const saltusi_decision* d, int key) {
  return d->sense[key] != 0.0 && d->o->mu[key] > 0.0;
}

/* Direction of slip of a moving contact. */
static double direction_of(const saltusi_decision* d, int key, int k) {
  return d->o->tangents[key] == 1 ? d->sense[key] : d->direction[2 * key + k];
}

/* Rows of each contact, columns P H, W and free values. */
static int make_problem(saltusi_decision* d, int count, const double* u_free) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    d->unit_first[i] = n;
    d->unit_mu[i] = moves(d, key) ? 0.0 : d->o->mu[key];
    int rows = d->o->mu[key] > 0.0 && !moves(d, key) ? 1 + d->o->tangents[key] : 1;
    for (int k = 0; k < rows; k++, n++) {
      int row = d->o->nj + d->o->base[key] + k;
      double* x = d->lcp_X + (size_t)n * (size_t)d->o->nv;
      d->lcp_kind[n] = row;
      d->lcp_q[n] = u_free[d->o->base[key] + k];
      memset(x, 0, (size_t)d->o->nv * sizeof(double));
      saltusi_row_add(&d->mode->row, row, 1.0, x);
      for (int c = 0; moves(d, key) && c < d->o->tangents[key]; c++) {
        saltusi_row_add(&d->mode->row, row + 1 + c, -d->o->mu[key] * direction_of(d, key, c), x);
      }
      saltusi_mode_inverse(d->mode, x);
    }
  }
  d->unit_first[count] = n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      d->lcp_M[i * n + j] =
          saltusi_row_dot(&d->mode->row, d->lcp_kind[i], d->lcp_X + (size_t)j * (size_t)d->o->nv);
    }
  }
  return n;
}

/* Forces by contact row, slips, and the change of v or a. */
static void write_answer(saltusi_decision* d, int count, int n) {
  memset(d->impulse, 0, (size_t)d->o->nl * sizeof(double));
  memset(d->slack, 0, (size_t)d->o->nc * sizeof(double));
  memset(d->change, 0, (size_t)d->o->nv * sizeof(double));
  for (int i = 0; i < n; i++) {
    saltusi_add_scaled(d->o->nv, d->lcp_z[i], d->lcp_X + (size_t)i * (size_t)d->o->nv, d->change);
  }
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    int first = d->unit_first[i];
    double* l = d->impulse + d->o->base[key];
    double slip[2] = {0.0, 0.0};
    for (int k = first; k < d->unit_first[i + 1]; k++) {
      l[k - first] = d->lcp_z[k];
      if (k > first) {
        slip[k - first - 1] =
            d->lcp_q[k] + saltusi_row_dot(&d->mode->row, d->lcp_kind[k], d->change);
      }
    }
    for (int k = 0; moves(d, key) && k < d->o->tangents[key]; k++) {
      l[1 + k] = -d->o->mu[key] * direction_of(d, key, k) * l[0];
    }
    d->slack[key] = hypot(slip[0], slip[1]);
  }
}

saltus_status saltusi_spatial_solve(saltusi_decision* d, int count, const double* u_free) {
  int n = make_problem(d, count, u_free);
  d->mode->counts->decisions++;
  d->mode->eval->work.contact_solves++;
  memset(d->lcp_z, 0, (size_t)n * sizeof(double)); /* decisions remember nothing */
  bool solved = saltusi_friction_step_solve(&d->friction, count, d->unit_first, d->unit_mu,
                                            d->lcp_M, d->lcp_q, d->lcp_z);
  d->mode->eval->work.contact_iterations += d->friction.iterations;
  if (!solved) {
    return SALTUS_RETRY_SMALLER;
  }
  write_answer(d, count, n);
  return SALTUS_OK;
}
