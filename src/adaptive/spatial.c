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
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <string.h>

bool saltusi_is_spatial(const saltusi_adaptive* w, int count) {
  for (int i = 0; i < count; i++) {
    if (w->tangents[w->set[i]] == 2 && w->mu[w->set[i]] > 0.0) {
      return true;
    }
  }
  return false;
}

static bool moves(const saltusi_adaptive* w, int key) {
  return w->sense[key] != 0.0 && w->mu[key] > 0.0;
}

/* Direction of slip of a moving contact. */
static double direction_of(const saltusi_adaptive* w, int key, int k) {
  return w->tangents[key] == 1 ? w->sense[key] : w->direction[2 * key + k];
}

/* Rows of each contact, columns P H, W and free values. */
static int make_problem(saltusi_adaptive* w, int count, const double* u_free) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    w->unit_first[i] = n;
    w->unit_mu[i] = moves(w, key) ? 0.0 : w->mu[key];
    int rows = w->mu[key] > 0.0 && !moves(w, key) ? 1 + w->tangents[key] : 1;
    for (int k = 0; k < rows; k++, n++) {
      int row = w->nj + w->base[key] + k;
      double* x = w->lcp_X + (size_t)n * (size_t)w->nv;
      w->lcp_kind[n] = row;
      w->lcp_q[n] = u_free[w->base[key] + k];
      memset(x, 0, (size_t)w->nv * sizeof(double));
      saltusi_row_add(&w->row, row, 1.0, x);
      for (int c = 0; moves(w, key) && c < w->tangents[key]; c++) {
        saltusi_row_add(&w->row, row + 1 + c, -w->mu[key] * direction_of(w, key, c), x);
      }
      saltusi_mode_inverse(w, x);
    }
  }
  w->unit_first[count] = n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      w->lcp_M[i * n + j] =
          saltusi_row_dot(&w->row, w->lcp_kind[i], w->lcp_X + (size_t)j * (size_t)w->nv);
    }
  }
  return n;
}

/* Forces by contact row, slips, and the change of v or a. */
static void write_answer(saltusi_adaptive* w, int count, int n) {
  memset(w->impulse, 0, (size_t)w->nl * sizeof(double));
  memset(w->slack, 0, (size_t)w->nc * sizeof(double));
  memset(w->delta, 0, (size_t)w->nv * sizeof(double));
  for (int i = 0; i < n; i++) {
    saltusi_add_scaled(w->nv, w->lcp_z[i], w->lcp_X + (size_t)i * (size_t)w->nv, w->delta);
  }
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    int first = w->unit_first[i];
    double* l = w->impulse + w->base[key];
    double slip[2] = {0.0, 0.0};
    for (int k = first; k < w->unit_first[i + 1]; k++) {
      l[k - first] = w->lcp_z[k];
      if (k > first) {
        slip[k - first - 1] = w->lcp_q[k] + saltusi_row_dot(&w->row, w->lcp_kind[k], w->delta);
      }
    }
    for (int k = 0; moves(w, key) && k < w->tangents[key]; k++) {
      l[1 + k] = -w->mu[key] * direction_of(w, key, k) * l[0];
    }
    w->slack[key] = hypot(slip[0], slip[1]);
  }
}

saltus_status saltusi_spatial_solve(saltusi_adaptive* w, int count, const double* u_free) {
  int n = make_problem(w, count, u_free);
  w->counts.decisions++;
  w->eval->work.contact_solves++;
  memset(w->lcp_z, 0, (size_t)n * sizeof(double)); /* decisions remember nothing */
  bool solved = saltusi_friction_step_solve(&w->friction, count, w->unit_first, w->unit_mu,
                                            w->lcp_M, w->lcp_q, w->lcp_z);
  w->eval->work.contact_iterations += w->friction.iterations;
  if (!solved) {
    return SALTUS_RETRY_SMALLER;
  }
  write_answer(w, count, n);
  return SALTUS_OK;
}

/* Contacts that slide and hardly move: they get the direction of -l_T for now. */
static int find_perturbed(saltusi_adaptive* w, double t, const double* y, double speed) {
  int count = 0;
  saltusi_mode_rows(w, t, y, true);
  for (int key = 0; key < w->nc; key++) {
    w->perturbed[key] = false;
    if (w->tangents[key] != 2 || w->mu[key] == 0.0 || saltusi_mode_of(w, key) != SALTUSI_SLIP) {
      continue;
    }
    int row = w->nj + w->base[key] + 1;
    const double* l = w->impulse + w->base[key];
    double friction = hypot(l[1], l[2]);
    double u[2];
    for (int k = 0; k < 2; k++) {
      u[k] = saltusi_row_dot(&w->row, row + k, y + w->nq) + w->row.b[row + k];
    }
    if (hypot(u[0], u[1]) < speed && friction > 0.0) {
      w->perturbed[key] = true;
      w->direction[2 * key] = -l[1] / friction;
      w->direction[2 * key + 1] = -l[2] / friction;
      count++;
    }
  }
  return count;
}

/* Contacts that begin to slide from rest get a small velocity, below the tolerance by far, so that their
 * direction is defined: all in proportion to the accelerations that the friction problem gave them, which a
 * rigid body can follow, and the slowest with twice the speed at which slip stops. */
saltus_status saltusi_spatial_perturb(saltusi_adaptive* w, double t, double* y) {
  const double most = 50.0; /* between the fastest and the slowest */
  double speed = 2.0 * w->slip_floor;
  if (find_perturbed(w, t, y, speed) == 0) {
    return SALTUS_OK;
  }
  double largest = 0.0;
  double least = INFINITY;
  for (int key = 0; key < w->nc; key++) {
    for (int k = 0; w->perturbed[key] && k < 2; k++) {
      w->perturbation[2 * key + k] = w->u_after[w->base[key] + 1 + k];
    }
    double size = hypot(w->perturbation[2 * key], w->perturbation[2 * key + 1]);
    largest = w->perturbed[key] ? fmax(largest, size) : largest;
    least = w->perturbed[key] ? fmin(least, size) : least;
  }
  bool along = largest > 0.0;
  double factor = along ? speed / fmax(least, largest / most) : 0.0;
  for (int key = 0; key < w->nc; key++) {
    for (int k = 0; w->perturbed[key] && k < 2; k++) {
      w->perturbation[2 * key + k] =
          along ? factor * w->perturbation[2 * key + k] : speed * w->direction[2 * key + k];
    }
  }
  return saltusi_mode_project_velocity(w, t, y, true);
}
