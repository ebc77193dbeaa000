/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mode.c - the dynamics while every contact keeps its status, and the way back onto its constraints
 * (section 3).
 *
 *   rows R      joints, normals of closed contacts, tangents of sticking ones
 *   columns H   the same, with G_N - mu G_T d for contacts that slide in direction d
 *   a = M^-1 (F + H l),    (R^T M^-1 H) l = -(R^T M^-1 F + c)
 *   projection  q <- q - M^-1 G (G^T M^-1 G)^-1 g until g is rounding, then v the same way with U
 */
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

/* A pivot below this part of the largest one is a dependent row. */
static const double dependent_rank = 1e-10;
/* Redundant supports differ from rounding by far more. */
static const double spread_pivot_least = 1e-11;

enum { POSITION_ITERATIONS = 8 };

saltus_status saltusi_mode_gaps(saltusi_adaptive* w, double t, const double* q) {
  saltus_point at = saltusi_at(w->eval, t, q, NULL);
  saltus_status status = saltusi_contacts(w->sys, &at, &w->list);
  for (int key = 0; key < w->nc; key++) {
    w->gap[key] = INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    w->gap[w->list.key[i]] = w->list.gap[i];
  }
  return status;
}

void saltusi_mode_rows(saltusi_adaptive* w, double t, const double* y, bool every) {
  saltus_point at = saltusi_at(w->eval, t, y, saltusi_v_of(w, y));
  for (int j = 0; j < w->nj; j++) {
    saltusi_rows_joint(w->sys, &at, j, &w->row, j);
  }
  for (int key = 0; key < w->nc; key++) {
    if (every || saltusi_mode_closed(w, key)) {
      saltusi_rows_contact(w->sys, &at, key, 1 + w->tangents[key], &w->row, w->nj + w->base[key]);
    }
  }
  if (w->settings.without_curvature) {
    memset(w->row.c, 0, (size_t)w->rows * sizeof(double));
  }
}

double saltusi_mode_velocity(saltusi_adaptive* w, double t, const double* y, int key, int k) {
  saltus_point at = saltusi_at(w->eval, t, y, saltusi_v_of(w, y));
  int first = w->nj + w->base[key];
  saltusi_rows_contact(w->sys, &at, key, 1 + w->tangents[key], &w->row, first);
  return saltusi_row_dot(&w->row, first + k, saltusi_v_of(w, y)) + w->row.b[first + k];
}

static bool slides(const saltusi_adaptive* w, int key) {
  saltusi_contact_mode mode = saltusi_mode_of(w, key);
  return w->mu[key] > 0.0 && (mode == SALTUSI_SLIP || mode == SALTUSI_STICK_BOUND);
}

/* Direction of slip; a planar contact keeps its sense even where U_T passes through zero. */
static void find_direction(saltusi_adaptive* w, const double* v, int key) {
  double* d = w->direction + 2 * (size_t)key;
  if (w->tangents[key] == 1 || saltusi_mode_of(w, key) == SALTUSI_STICK_BOUND) {
    d[0] = w->contact[key].sense;
    d[1] = 0.0;
    return;
  }
  int first = w->nj + w->base[key] + 1;
  double u[2];
  for (int k = 0; k < 2; k++) {
    u[k] = saltusi_row_dot(&w->row, first + k, v) + w->row.b[first + k];
  }
  double size = hypot(u[0], u[1]);
  d[0] = size > 0.0 ? u[0] / size : 0.0;
  d[1] = size > 0.0 ? u[1] / size : 0.0;
}

static void hold(saltusi_adaptive* w, int row, int key) {
  w->held_row[w->held] = row;
  w->held_key[w->held] = key;
  w->held++;
}

/* Which rows are held: joints, normals, and the tangents of sticking contacts. */
static void find_held(saltusi_adaptive* w, bool tangents) {
  w->held = 0;
  for (int j = 0; j < w->nj; j++) {
    hold(w, j, -1);
  }
  for (int key = 0; key < w->nc; key++) {
    if (!saltusi_mode_pressed(w, key)) {
      continue;
    }
    int first = w->nj + w->base[key];
    hold(w, first, key);
    bool sticks = saltusi_mode_of(w, key) == SALTUSI_STICK && w->mu[key] > 0.0;
    for (int k = 1; tangents && sticks && k <= w->tangents[key]; k++) {
      hold(w, first + k, key);
    }
  }
}

/* column_i = M^-1 H_i, W_ij = R_i . column_j */
static void make_operator(saltusi_adaptive* w, bool friction) {
  int n = w->held;
  for (int i = 0; i < n; i++) {
    double* x = w->column + (size_t)i * (size_t)w->nv;
    int row = w->held_row[i];
    int key = w->held_key[i];
    memset(x, 0, (size_t)w->nv * sizeof(double));
    saltusi_row_add(&w->row, row, 1.0, x);
    bool normal = key >= 0 && row == w->nj + w->base[key];
    if (friction && normal && slides(w, key)) {
      for (int k = 0; k < w->tangents[key]; k++) {
        saltusi_row_add(&w->row, row + 1 + k, -w->mu[key] * w->direction[2 * key + k], x);
      }
    }
    saltusi_linear_solve(w->eval, &w->mass, x);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      w->W[i * n + j] =
          saltusi_row_dot(&w->row, w->held_row[i], w->column + (size_t)j * (size_t)w->nv);
    }
  }
}

saltus_status saltusi_mode_solve(saltusi_adaptive* w, int n) {
  if (n == 1 && w->W[0] != 0.0) {
    w->right[0] /= w->W[0];
    return isfinite(w->right[0]) ? SALTUS_OK : SALTUS_RETRY_NAN;
  }
  if (!saltusi_dependent_factor(&w->held_factor, n, w->W, n)) {
    return SALTUS_RETRY_NAN;
  }
  saltusi_dependent_solve(&w->held_factor, w->right);
  return isfinite(saltusi_max_abs(n, w->right)) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

void saltusi_mode_forces(saltusi_adaptive* w) {
  memset(w->force, 0, (size_t)w->rows * sizeof(double));
  for (int i = 0; i < w->held; i++) {
    int row = w->held_row[i];
    int key = w->held_key[i];
    w->force[row] = w->right[i];
    bool normal = key >= 0 && row == w->nj + w->base[key];
    if (normal && slides(w, key)) {
      for (int k = 0; k < w->tangents[key]; k++) {
        w->force[row + 1 + k] = -w->mu[key] * w->direction[2 * key + k] * w->right[i];
      }
    }
  }
}

/* Redundant supports: of all forces that hold the rows those of least weighted size, l = S^2 R z, with the
 * weights S of tangents in proportion to the normal force, so that friction is used evenly:
 *
 *   R^T S^2 R M^-1 H^T S^2 R z = R^T S^2 b
 */
static saltus_status spread_once(saltusi_adaptive* w) {
  int n = w->held;
  size_t nv = (size_t)w->nv;
  for (size_t i = 0; i < nv; i++) { /* column j of the matrix: R^T S^2 W S^2 R e_j */
    for (int k = 0; k < n; k++) {
      w->spread_in[k] = w->row_scale[k] * saltusi_row_entry(&w->row, w->held_row[k], (int)i);
    }
    memset(w->delta, 0, nv * sizeof(double));
    for (int k = 0; k < n; k++) {
      double value = saltusi_dot(n, w->W + (size_t)k * (size_t)n, w->spread_in);
      saltusi_row_add(&w->row, w->held_row[k], w->row_scale[k] * value, w->delta);
    }
    for (size_t j = 0; j < nv; j++) {
      w->spread[j * nv + i] = w->delta[j];
    }
  }
  memset(w->delta, 0, nv * sizeof(double));
  for (int k = 0; k < n; k++) {
    saltusi_row_add(&w->row, w->held_row[k], w->row_scale[k] * w->spread_right[k], w->delta);
  }
  int rank = saltusi_lu_factor_rank(w->nv, w->spread, w->spread_pivot, w->spread_pivot + nv,
                                    dependent_rank);
  if (rank < 0) {
    return SALTUS_RETRY_NAN;
  }
  saltusi_lu_solve_rank(w->nv, rank, w->spread, w->spread_pivot, w->spread_pivot + nv, w->delta);
  for (int k = 0; k < n; k++) {
    w->right[k] = w->row_scale[k] * saltusi_row_dot(&w->row, w->held_row[k], w->delta);
  }
  return SALTUS_OK;
}

static saltus_status solve_spread(saltusi_adaptive* w) {
  int n = w->held;
  memcpy(w->W_spare, w->W, (size_t)n * (size_t)n * sizeof(double));
  w->redundant = false;
  if (saltusi_lu_factor(n, w->W_spare, w->pivot, spread_pivot_least)) {
    saltusi_lu_solve(n, w->W_spare, w->pivot, w->right);
    return SALTUS_OK;
  }
  w->redundant = true;
  memcpy(w->spread_right, w->right, (size_t)n * sizeof(double));
  for (int k = 0; k < n; k++) {
    w->row_scale[k] = 1.0;
  }
  saltus_status status = spread_once(w);
  double largest = 0.0;
  for (int k = 0; k < n; k++) {
    bool normal = w->held_key[k] >= 0 && w->held_row[k] == w->nj + w->base[w->held_key[k]];
    largest = normal ? fmax(largest, w->right[k]) : largest;
  }
  if (status != SALTUS_OK || !(largest > 0.0)) {
    return status;
  }
  double weight = 1.0;
  for (int k = 0; k < n; k++) {
    int key = w->held_key[k];
    bool normal = key >= 0 && w->held_row[k] == w->nj + w->base[key];
    if (normal) {
      weight = fmax(1e-3, w->right[k] / largest);
    }
    w->row_scale[k] = key < 0 || normal ? 1.0 : weight * weight;
  }
  return spread_once(w);
}

/* Once more on what rounding left of the held accelerations, so that what sticks does not creep. */
static saltus_status refine_spread(saltusi_adaptive* w, double* a) {
  int n = w->held;
  memcpy(w->spread_sum, w->right, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    int row = w->held_row[i];
    w->spread_right[i] = -(saltusi_row_dot(&w->row, row, a) + w->row.c[row]);
  }
  saltus_status status = spread_once(w);
  for (int i = 0; i < n && status == SALTUS_OK; i++) {
    saltusi_add_scaled(w->nv, w->right[i], w->column + (size_t)i * (size_t)w->nv, a);
    w->right[i] += w->spread_sum[i];
  }
  return status;
}

saltus_status saltusi_mode_rate(saltusi_adaptive* w, double t, const double* y, double* rate) {
  const double* v = saltusi_v_of(w, y);
  saltus_point at = saltusi_at(w->eval, t, y, v);
  double* a = rate + w->nq;
  w->counts.rates++;
  saltus_status status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(w->eval, &at, a);
  saltusi_linear_solve(w->eval, &w->mass, a);
  find_held(w, true);
  w->dependent = false;
  if (w->held > 0) {
    saltusi_mode_rows(w, t, y, false);
    for (int key = 0; key < w->nc; key++) {
      if (saltusi_mode_pressed(w, key) && slides(w, key)) {
        find_direction(w, v, key);
      }
    }
    make_operator(w, true);
    for (int i = 0; i < w->held; i++) {
      int row = w->held_row[i];
      w->right[i] = -(saltusi_row_dot(&w->row, row, a) + w->row.c[row]);
    }
    status = w->spatial ? solve_spread(w) : saltusi_mode_solve(w, w->held);
    w->dependent = w->spatial ? w->redundant : w->held > 1 && w->held_factor.rank < w->held;
    for (int i = 0; i < w->held && status == SALTUS_OK; i++) {
      saltusi_add_scaled(w->nv, w->right[i], w->column + (size_t)i * (size_t)w->nv, a);
    }
    if (status == SALTUS_OK && w->spatial && w->redundant) {
      status = refine_spread(w, a);
    }
  }
  if (status == SALTUS_OK) {
    saltusi_mode_forces(w);
    memcpy(rate + w->nq + w->nv, w->force + w->nj, (size_t)w->nl * sizeof(double));
    memcpy(rate + w->nq + w->nv + w->nl, w->force, (size_t)w->nj * sizeof(double));
    if (w->sys->ops->rate != NULL) {
      w->sys->ops->rate(w->sys->self, y, v, rate);
    } else {
      memcpy(rate, v, (size_t)w->nv * sizeof(double));
    }
  }
  return status;
}

saltus_status saltusi_mode_gamma(saltusi_adaptive* w, double t, const double* y, int key,
                                 double* gamma) {
  saltus_status status = saltusi_mode_rate(w, t, y, w->probe_rate);
  saltus_point at = saltusi_at(w->eval, t, y, saltusi_v_of(w, y));
  int first = w->nj + w->base[key];
  saltusi_rows_contact(w->sys, &at, key, 1 + w->tangents[key], &w->row, first);
  *gamma = saltusi_row_dot(&w->row, first, w->probe_rate + w->nq) + w->row.c[first];
  return status;
}

/* ---- M^-1 with joints eliminated ----------------------------------------------------------- */

saltus_status saltusi_mode_joints(saltusi_adaptive* w, double t, const double* y) {
  saltus_point at = saltusi_at(w->eval, t, y, saltusi_v_of(w, y));
  saltus_status status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK || w->nj == 0) {
    return status;
  }
  for (int j = 0; j < w->nj; j++) {
    double* x = w->joint_X + (size_t)j * (size_t)w->nv;
    saltusi_rows_joint(w->sys, &at, j, &w->row, j);
    memset(x, 0, (size_t)w->nv * sizeof(double));
    saltusi_row_add(&w->row, j, 1.0, x);
    saltusi_linear_solve(w->eval, &w->mass, x);
  }
  for (int i = 0; i < w->nj; i++) {
    for (int j = 0; j < w->nj; j++) {
      w->joint_W[i * w->nj + j] =
          saltusi_row_dot(&w->row, i, w->joint_X + (size_t)j * (size_t)w->nv);
    }
  }
  if (!saltusi_dependent_factor(&w->joint_factor, w->nj, w->joint_W, w->nj)) {
    return SALTUS_RETRY_NAN;
  }
  w->eval->dependent = w->eval->dependent || w->joint_factor.rank < w->nj;
  return SALTUS_OK;
}

void saltusi_mode_joint_answer(saltusi_adaptive* w, const double* x) {
  for (int j = 0; j < w->nj; j++) {
    w->joint_r[j] = saltusi_row_dot(&w->row, j, x);
  }
  saltusi_dependent_solve(&w->joint_factor, w->joint_r);
}

void saltusi_mode_hold_joints(saltusi_adaptive* w, double* v) {
  for (int j = 0; j < w->nj; j++) {
    w->joint_r[j] = saltusi_row_dot(&w->row, j, v) + w->row.b[j];
  }
  saltusi_dependent_solve(&w->joint_factor, w->joint_r);
  for (int j = 0; j < w->nj; j++) {
    saltusi_add_scaled(w->nv, -w->joint_r[j], w->joint_X + (size_t)j * (size_t)w->nv, v);
  }
}

void saltusi_mode_inverse(saltusi_adaptive* w, double* x) {
  saltusi_linear_solve(w->eval, &w->mass, x);
  if (w->nj == 0) {
    return;
  }
  saltusi_mode_joint_answer(w, x);
  for (int j = 0; j < w->nj; j++) {
    saltusi_add_scaled(w->nv, -w->joint_r[j], w->joint_X + (size_t)j * (size_t)w->nv, x);
  }
}

void saltusi_mode_response(saltusi_adaptive* w, int row, double* x) {
  memset(x, 0, (size_t)w->nv * sizeof(double));
  saltusi_row_add(&w->row, row, 1.0, x);
  saltusi_mode_inverse(w, x);
}

/* sc_L = min_i sc_v,i / |(P G)_i|: an impulse error counts as the velocity error that it makes. */
saltus_status saltusi_mode_impulse_scale(saltusi_adaptive* w, double t, const double* y) {
  bool any = false;
  for (int r = 0; r < w->nl; r++) {
    w->scale_l[r] = INFINITY;
  }
  for (int key = 0; key < w->nc; key++) {
    any = any || saltusi_mode_pressed(w, key);
  }
  if (!any || w->settings.without_impulses) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_joints(w, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(w, t, y, false);
  const double* v = saltusi_v_of(w, y);
  for (int key = 0; key < w->nc; key++) {
    for (int k = 0; saltusi_mode_pressed(w, key) && k <= w->tangents[key]; k++) {
      int r = w->base[key] + k;
      memset(w->delta, 0, (size_t)w->nv * sizeof(double));
      saltusi_row_add(&w->row, w->nj + r, 1.0, w->delta);
      saltusi_mode_inverse(w, w->delta);
      for (int i = 0; i < w->nv; i++) {
        double x = fabs(w->delta[i]);
        double tolerance = w->atol_v[i] + w->settings.rtol * fabs(v[i]);
        w->scale_l[r] = x > 0.0 ? fmin(w->scale_l[r], tolerance / x) : w->scale_l[r];
      }
    }
  }
  return SALTUS_OK;
}

/* ---- projection ---------------------------------------------------------------------------- */

/* Moves q by -M^-1 G (G^T M^-1 G)^-1 right; rows are held, right is given. */
static saltus_status shift_positions(saltusi_adaptive* w, double* q) {
  make_operator(w, false);
  saltus_status status = saltusi_mode_solve(w, w->held);
  if (status != SALTUS_OK) {
    return status;
  }
  memset(w->delta, 0, (size_t)w->nv * sizeof(double));
  for (int i = 0; i < w->held; i++) {
    saltusi_add_scaled(w->nv, w->right[i], w->column + (size_t)i * (size_t)w->nv, w->delta);
  }
  saltusi_advance(w->sys, q, w->delta, -1.0, w->q_spare);
  memcpy(q, w->q_spare, (size_t)w->nq * sizeof(double));
  return SALTUS_OK;
}

/* Gaps of the held rows into `right`; the largest. */
static saltus_status held_gaps(saltusi_adaptive* w, double t, const double* q, double* largest) {
  saltus_point at = saltusi_at(w->eval, t, q, NULL);
  saltus_status status = w->nc > 0 ? saltusi_mode_gaps(w, t, q) : SALTUS_OK;
  if (w->nj > 0) {
    w->sys->ops->joints(w->sys->self, &at, w->joint_gap);
  }
  for (int i = 0; i < w->held; i++) {
    w->right[i] = w->held_key[i] < 0 ? w->joint_gap[w->held_row[i]] : w->gap[w->held_key[i]];
    if (isinf(w->right[i])) {
      w->right[i] = 0.0; /* a contact that has left the list */
    }
  }
  *largest = saltusi_max_abs(w->held, w->right);
  return status;
}

/* Newton's iteration on the gaps of the held rows. */
static saltus_status close_gaps(saltusi_adaptive* w, double t, double* y) {
  double rounding = DBL_EPSILON * fmax(1.0, saltusi_max_abs(w->nq, y));
  double last = INFINITY;
  saltus_status status = SALTUS_OK;
  for (int k = 0; status == SALTUS_OK && k < POSITION_ITERATIONS; k++) {
    double largest = 0.0;
    status = held_gaps(w, t, y, &largest);
    bool done = largest <= (k == 0 ? 1.0 : 8.0) * rounding || largest > 0.3 * last;
    if (status != SALTUS_OK || done) {
      break;
    }
    last = largest;
    saltus_point at = saltusi_at(w->eval, t, y, saltusi_v_of(w, y));
    status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
    if (status == SALTUS_OK) {
      saltusi_mode_rows(w, t, y, true);
      status = shift_positions(w, y);
    }
  }
  return status;
}

saltus_status saltusi_mode_project_positions(saltusi_adaptive* w, double t, double* y, int count) {
  w->held = 0;
  for (int j = 0; j < w->nj; j++) {
    hold(w, j, -1);
  }
  for (int i = 0; i < count; i++) {
    hold(w, w->nj + w->base[w->set[i]], w->set[i]);
  }
  return w->held > 0 ? close_gaps(w, t, y) : SALTUS_OK;
}

/* Velocities of the held rows to zero, or to the perturbation; along the normals and tangents, or (friction)
 * along the forces of the mode. */
static saltus_status shift_velocities(saltusi_adaptive* w, double t, double* y, bool perturbation,
                                      bool friction) {
  double* v = y + w->nq;
  saltus_point at = saltusi_at(w->eval, t, y, v);
  saltus_status status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  find_held(w, true);
  for (int key = 0; perturbation && key < w->nc; key++) {
    for (int k = 1; w->perturbed[key] && k <= 2; k++) {
      hold(w, w->nj + w->base[key] + k, key);
    }
  }
  saltusi_mode_rows(w, t, y, false);
  for (int key = 0; friction && key < w->nc; key++) {
    if (saltusi_mode_pressed(w, key) && slides(w, key)) {
      find_direction(w, v, key);
    }
  }
  make_operator(w, friction);
  for (int i = 0; i < w->held; i++) {
    int row = w->held_row[i];
    int key = w->held_key[i];
    w->right[i] = saltusi_row_dot(&w->row, row, v) + w->row.b[row];
    if (perturbation && key >= 0 && w->perturbed[key] && row > w->nj + w->base[key]) {
      w->right[i] -= w->perturbation[2 * key + (row - w->nj - w->base[key] - 1)];
    }
  }
  status = saltusi_mode_solve(w, w->held);
  for (int i = 0; i < w->held && status == SALTUS_OK; i++) {
    saltusi_add_scaled(w->nv, -w->right[i], w->column + (size_t)i * (size_t)w->nv, v);
  }
  return status;
}

saltus_status saltusi_mode_project_velocity(saltusi_adaptive* w, double t, double* y,
                                            bool perturbation) {
  return shift_velocities(w, t, y, perturbation, false);
}

saltus_status saltusi_mode_close_velocity(saltusi_adaptive* w, double t, double* y) {
  return shift_velocities(w, t, y, false, true);
}

saltus_status saltusi_mode_project_closed(saltusi_adaptive* w, double t, double* y) {
  find_held(w, false);
  return w->held > 0 ? close_gaps(w, t, y) : SALTUS_OK;
}

saltus_status saltusi_mode_project(saltusi_adaptive* w, double t, double* y) {
  find_held(w, false);
  if (w->held == 0) {
    return SALTUS_OK;
  }
  saltus_status status = close_gaps(w, t, y);
  return status == SALTUS_OK ? saltusi_mode_project_velocity(w, t, y, false) : status;
}
