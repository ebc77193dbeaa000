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
#include "adaptive/mode.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

/* A pivot below this part of the largest one is a dependent row. */
static const double dependent_rank = 1e-10;
/* Redundant supports differ from rounding by far more. */
static const double spread_pivot_least = 1e-11;

enum { POSITION_ITERATIONS = 8 };

static void layout_factor(saltusi_dependent* d, int n, saltus_arena* arena) {
  d->LU = SALTUS_PUSH2(arena, double, n, n);
  d->pivot = SALTUS_PUSH(arena, int, 2 * n);
  d->scale = SALTUS_PUSH(arena, double, n);
  d->gram = SALTUS_PUSH2(arena, double, n, n);
}

void saltusi_mode_layout(saltusi_mode_dynamics* m, const saltus_system* sys,
                         const saltusi_outline* o, saltus_arena* arena) {
  int rows = o->rows;
  saltusi_linear_layout(&m->mass, sys, arena);
  saltusi_rows_layout(&m->row, &sys->dims, rows, true, arena);
  saltusi_rows_layout(&m->look, &sys->dims, 3, true, arena);
  saltusi_contact_list_layout(&m->list, &sys->dims, arena);
  m->gap = SALTUS_PUSH(arena, double, o->nc);
  m->joint_gap = SALTUS_PUSH(arena, double, o->nj);
  m->held_row = SALTUS_PUSH(arena, int, rows);
  m->held_key = SALTUS_PUSH(arena, int, rows);
  m->column = SALTUS_PUSH2(arena, double, rows, o->nv);
  m->W = SALTUS_PUSH2(arena, double, rows, rows);
  m->W_spare = SALTUS_PUSH2(arena, double, rows, rows);
  m->right = SALTUS_PUSH(arena, double, rows);
  m->row_scale = SALTUS_PUSH(arena, double, rows);
  m->pivot = SALTUS_PUSH(arena, int, 2 * rows);
  if (o->tangents_max == 2) {
    m->spread = SALTUS_PUSH2(arena, double, o->nv, o->nv);
    m->spread_pivot = SALTUS_PUSH(arena, int, 2 * o->nv);
    m->spread_in = SALTUS_PUSH(arena, double, rows);
    m->spread_right = SALTUS_PUSH(arena, double, rows);
    m->spread_sum = SALTUS_PUSH(arena, double, rows);
  }
  m->direction = SALTUS_PUSH(arena, double, 2 * o->nc);
  m->joint_X = SALTUS_PUSH2(arena, double, o->nj, o->nv);
  m->joint_W = SALTUS_PUSH2(arena, double, o->nj, o->nj);
  m->joint_r = SALTUS_PUSH(arena, double, o->nj);
  layout_factor(&m->joint_factor, o->nj, arena);
  layout_factor(&m->held_factor, rows, arena);
  m->x = SALTUS_PUSH(arena, double, o->nv);
  m->q = SALTUS_PUSH(arena, double, o->nq);
  m->rate = SALTUS_PUSH(arena, double, o->ny);
}

saltus_status saltusi_mode_gaps(saltusi_mode_dynamics* m, double t, const double* q) {
  saltus_point at = saltusi_at(m->eval, t, q, NULL);
  saltus_status status = saltusi_contacts(m->sys, &at, &m->list);
  for (int key = 0; key < m->o->nc; key++) {
    m->gap[key] = INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && i < m->list.count; i++) {
    m->gap[m->list.key[i]] = m->list.gap[i];
  }
  return status;
}

/* Contacts whose rows are evaluated. */
typedef enum wanted_rows { NONE, CLOSED, EVERY } wanted_rows;

static void evaluate_rows(saltusi_mode_dynamics* m, const saltus_point* at, wanted_rows wanted) {
  saltusi_rows_joints(m->sys, at, &m->row);
  for (int key = 0; wanted != NONE && key < m->o->nc; key++) {
    if (wanted == EVERY || saltusi_is_closed(&m->contact[key])) {
      saltusi_rows_contact(m->sys, at, key, 1 + m->o->tangents[key], &m->row,
                           m->o->nj + m->o->base[key]);
    }
  }
  if (m->o->settings.without_curvature) {
    memset(m->row.c, 0, (size_t)m->o->rows * sizeof(double));
  }
}

void saltusi_mode_rows(saltusi_mode_dynamics* m, double t, const double* y, bool every) {
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  evaluate_rows(m, &at, every ? EVERY : CLOSED);
}

void saltusi_mode_look(saltusi_mode_dynamics* m, double t, const double* y, int key) {
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  saltusi_rows_contact(m->sys, &at, key, 1 + m->o->tangents[key], &m->look, 0);
}

double saltusi_mode_velocity(saltusi_mode_dynamics* m, double t, const double* y, int key, int k) {
  saltusi_mode_look(m, t, y, key);
  return saltusi_row_dot(&m->look, k, saltusi_v_of(m->o, y)) + m->look.b[k];
}

static bool slides(const saltusi_mode_dynamics* m, int key) {
  saltusi_contact_mode mode = m->contact[key].mode;
  return m->o->mu[key] > 0.0 && (mode == SALTUSI_SLIP || mode == SALTUSI_STICK_BOUND);
}

/* Direction of slip; a planar contact keeps its sense even where U_T passes through zero. */
static void find_direction(saltusi_mode_dynamics* m, const double* v, int key) {
  double* d = m->direction + 2 * (size_t)key;
  if (m->o->tangents[key] == 1 || m->contact[key].mode == SALTUSI_STICK_BOUND) {
    d[0] = m->contact[key].sense;
    d[1] = 0.0;
    return;
  }
  int first = m->o->nj + m->o->base[key] + 1;
  double u[2];
  for (int k = 0; k < 2; k++) {
    u[k] = saltusi_row_dot(&m->row, first + k, v) + m->row.b[first + k];
  }
  double size = hypot(u[0], u[1]);
  d[0] = size > 0.0 ? u[0] / size : 0.0;
  d[1] = size > 0.0 ? u[1] / size : 0.0;
}

static void hold(saltusi_mode_dynamics* m, int row, int key) {
  m->held_row[m->held] = row;
  m->held_key[m->held] = key;
  m->held++;
}

static void hold_joints(saltusi_mode_dynamics* m) {
  for (int j = 0; j < m->o->nj; j++) {
    hold(m, j, -1);
  }
}

/* Normals of closed contacts, and the tangents of those that stick. */
static void hold_contacts(saltusi_mode_dynamics* m, bool tangents) {
  for (int key = 0; key < m->o->nc; key++) {
    if (!saltusi_is_pressed(&m->contact[key])) {
      continue;
    }
    int first = m->o->nj + m->o->base[key];
    hold(m, first, key);
    bool sticks = m->contact[key].mode == SALTUSI_STICK && m->o->mu[key] > 0.0;
    for (int k = 1; tangents && sticks && k <= m->o->tangents[key]; k++) {
      hold(m, first + k, key);
    }
  }
}

/* Which rows are held: joints, normals, and the tangents of sticking contacts. */
static void find_held(saltusi_mode_dynamics* m, bool tangents) {
  m->held = 0;
  hold_joints(m);
  hold_contacts(m, tangents);
}

/* column_i = M^-1 H_i, W_ij = R_i . column_j */
static void make_operator(saltusi_mode_dynamics* m, bool friction) {
  int n = m->held;
  for (int i = 0; i < n; i++) {
    double* x = m->column + (size_t)i * (size_t)m->o->nv;
    int row = m->held_row[i];
    int key = m->held_key[i];
    memset(x, 0, (size_t)m->o->nv * sizeof(double));
    saltusi_row_add(&m->row, row, 1.0, x);
    bool normal = key >= 0 && row == m->o->nj + m->o->base[key];
    if (friction && normal && slides(m, key)) {
      for (int k = 0; k < m->o->tangents[key]; k++) {
        saltusi_row_add(&m->row, row + 1 + k, -m->o->mu[key] * m->direction[2 * key + k], x);
      }
    }
    saltusi_linear_solve(m->eval, &m->mass, x);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      m->W[i * n + j] =
          saltusi_row_dot(&m->row, m->held_row[i], m->column + (size_t)j * (size_t)m->o->nv);
    }
  }
}

/* W x = right, of the held rows; the least solution when W is singular. */
static saltus_status solve_held(saltusi_mode_dynamics* m, int n) {
  if (n == 1 && m->W[0] != 0.0) {
    m->right[0] /= m->W[0];
    return isfinite(m->right[0]) ? SALTUS_OK : SALTUS_RETRY_NAN;
  }
  if (!saltusi_dependent_factor(&m->held_factor, n, m->W, n)) {
    return SALTUS_RETRY_NAN;
  }
  saltusi_dependent_solve(&m->held_factor, m->right);
  return isfinite(saltusi_max_abs(n, m->right)) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

/* The multipliers of the held rows as forces of all contact rows [nl], and of joints [nj] or NULL. */
static void write_forces(const saltusi_mode_dynamics* m, double* contacts, double* joints) {
  memset(contacts, 0, (size_t)m->o->nl * sizeof(double));
  for (int i = 0; i < m->held; i++) {
    int row = m->held_row[i];
    int key = m->held_key[i];
    if (key >= 0) {
      contacts[row - m->o->nj] = m->right[i];
    } else if (joints != NULL) {
      joints[row] = m->right[i];
    }
    bool normal = key >= 0 && row == m->o->nj + m->o->base[key];
    if (normal && slides(m, key)) {
      for (int k = 0; k < m->o->tangents[key]; k++) {
        contacts[row - m->o->nj + 1 + k] = -m->o->mu[key] * m->direction[2 * key + k] * m->right[i];
      }
    }
  }
}

/* Redundant supports: of all forces that hold the rows those of least weighted size, l = S^2 R z, with the
 * weights S of tangents in proportion to the normal force, so that friction is used evenly:
 *
 *   R^T S^2 R M^-1 H^T S^2 R z = R^T S^2 b
 */
static saltus_status spread_once(saltusi_mode_dynamics* m) {
  int n = m->held;
  size_t nv = (size_t)m->o->nv;
  for (size_t i = 0; i < nv; i++) { /* column j of the matrix: R^T S^2 W S^2 R e_j */
    for (int k = 0; k < n; k++) {
      m->spread_in[k] = m->row_scale[k] * saltusi_row_entry(&m->row, m->held_row[k], (int)i);
    }
    memset(m->x, 0, nv * sizeof(double));
    for (int k = 0; k < n; k++) {
      double value = saltusi_dot(n, m->W + (size_t)k * (size_t)n, m->spread_in);
      saltusi_row_add(&m->row, m->held_row[k], m->row_scale[k] * value, m->x);
    }
    for (size_t j = 0; j < nv; j++) {
      m->spread[j * nv + i] = m->x[j];
    }
  }
  memset(m->x, 0, nv * sizeof(double));
  for (int k = 0; k < n; k++) {
    saltusi_row_add(&m->row, m->held_row[k], m->row_scale[k] * m->spread_right[k], m->x);
  }
  int rank = saltusi_lu_factor_rank(m->o->nv, m->spread, m->spread_pivot, m->spread_pivot + nv,
                                    dependent_rank);
  if (rank < 0) {
    return SALTUS_RETRY_NAN;
  }
  saltusi_lu_solve_rank(m->o->nv, rank, m->spread, m->spread_pivot, m->spread_pivot + nv, m->x);
  for (int k = 0; k < n; k++) {
    m->right[k] = m->row_scale[k] * saltusi_row_dot(&m->row, m->held_row[k], m->x);
  }
  return SALTUS_OK;
}

static saltus_status solve_spread(saltusi_mode_dynamics* m) {
  int n = m->held;
  memcpy(m->W_spare, m->W, (size_t)n * (size_t)n * sizeof(double));
  m->redundant = false;
  if (saltusi_lu_factor(n, m->W_spare, m->pivot, spread_pivot_least)) {
    saltusi_lu_solve(n, m->W_spare, m->pivot, m->right);
    return SALTUS_OK;
  }
  m->redundant = true;
  memcpy(m->spread_right, m->right, (size_t)n * sizeof(double));
  for (int k = 0; k < n; k++) {
    m->row_scale[k] = 1.0;
  }
  saltus_status status = spread_once(m);
  double largest = 0.0;
  for (int k = 0; k < n; k++) {
    bool normal = m->held_key[k] >= 0 && m->held_row[k] == m->o->nj + m->o->base[m->held_key[k]];
    largest = normal ? fmax(largest, m->right[k]) : largest;
  }
  if (status != SALTUS_OK || !(largest > 0.0)) {
    return status;
  }
  double weight = 1.0;
  for (int k = 0; k < n; k++) {
    int key = m->held_key[k];
    bool normal = key >= 0 && m->held_row[k] == m->o->nj + m->o->base[key];
    if (normal) {
      weight = fmax(1e-3, m->right[k] / largest);
    }
    m->row_scale[k] = key < 0 || normal ? 1.0 : weight * weight;
  }
  return spread_once(m);
}

/* Once more on what rounding left of the held accelerations, so that what sticks does not creep. */
static saltus_status refine_spread(saltusi_mode_dynamics* m, double* a) {
  int n = m->held;
  memcpy(m->spread_sum, m->right, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    int row = m->held_row[i];
    m->spread_right[i] = -(saltusi_row_dot(&m->row, row, a) + m->row.c[row]);
  }
  saltus_status status = spread_once(m);
  for (int i = 0; i < n && status == SALTUS_OK; i++) {
    saltusi_add_scaled(m->o->nv, m->right[i], m->column + (size_t)i * (size_t)m->o->nv, a);
    m->right[i] += m->spread_sum[i];
  }
  return status;
}

/* v' with the held rows; joints and closed contacts, or joints alone. */
static saltus_status accelerate(saltusi_mode_dynamics* m, double t, const double* y, bool contacts,
                                double* a) {
  const double* v = saltusi_v_of(m->o, y);
  saltus_point at = saltusi_at(m->eval, t, y, v);
  m->counts->rates++;
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(m->eval, &at, a);
  saltusi_linear_solve(m->eval, &m->mass, a);
  m->dependent = false;
  m->held = 0;
  hold_joints(m);
  if (contacts) {
    hold_contacts(m, true);
  }
  if (m->held == 0) {
    return SALTUS_OK;
  }
  evaluate_rows(m, &at, contacts ? CLOSED : NONE);
  for (int key = 0; contacts && key < m->o->nc; key++) {
    if (saltusi_is_pressed(&m->contact[key]) && slides(m, key)) {
      find_direction(m, v, key);
    }
  }
  make_operator(m, true);
  for (int i = 0; i < m->held; i++) {
    int row = m->held_row[i];
    m->right[i] = -(saltusi_row_dot(&m->row, row, a) + m->row.c[row]);
  }
  status = m->o->spatial ? solve_spread(m) : solve_held(m, m->held);
  m->dependent = m->o->spatial ? m->redundant : m->held > 1 && m->held_factor.rank < m->held;
  for (int i = 0; i < m->held && status == SALTUS_OK; i++) {
    saltusi_add_scaled(m->o->nv, m->right[i], m->column + (size_t)i * (size_t)m->o->nv, a);
  }
  if (status == SALTUS_OK && m->o->spatial && m->redundant) {
    status = refine_spread(m, a);
  }
  return status;
}

saltus_status saltusi_mode_free(saltusi_mode_dynamics* m, double t, const double* y, double* a) {
  return accelerate(m, t, y, false, a);
}

saltus_status saltusi_mode_rate(saltusi_mode_dynamics* m, double t, const double* y, double* rate) {
  const double* v = saltusi_v_of(m->o, y);
  double* forces = rate + m->o->nq + m->o->nv;
  saltus_status status = accelerate(m, t, y, true, rate + m->o->nq);
  if (status == SALTUS_OK) {
    write_forces(m, forces, forces + m->o->nl);
    if (m->sys->ops->rate != NULL) {
      m->sys->ops->rate(m->sys->self, y, v, rate);
    } else {
      memcpy(rate, v, (size_t)m->o->nv * sizeof(double));
    }
  }
  return status;
}

double saltusi_mode_gamma_of(saltusi_mode_dynamics* m, double t, const double* y,
                             const double* rate, int key) {
  saltusi_mode_look(m, t, y, key);
  return saltusi_row_dot(&m->look, 0, rate + m->o->nq) + m->look.c[0];
}

saltus_status saltusi_mode_gamma(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                 double* gamma) {
  saltus_status status = saltusi_mode_rate(m, t, y, m->rate);
  *gamma = saltusi_mode_gamma_of(m, t, y, m->rate, key);
  return status;
}

saltus_status saltusi_mode_bounce(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                  double* x, double* force) {
  saltus_status status = saltusi_mode_rate(m, t, y, m->rate); /* makes rows and operator */
  if (status != SALTUS_OK) {
    return status;
  }
  int row = m->o->nj + m->o->base[key];
  for (int i = 0; i < m->held; i++) {
    m->right[i] = m->held_row[i] == row ? 1.0 : 0.0;
  }
  status = solve_held(m, m->held);
  memset(x, 0, (size_t)m->o->nv * sizeof(double));
  for (int i = 0; i < m->held && status == SALTUS_OK; i++) {
    saltusi_add_scaled(m->o->nv, m->right[i], m->column + (size_t)i * (size_t)m->o->nv, x);
  }
  if (status == SALTUS_OK && force != NULL) {
    write_forces(m, force, NULL);
  }
  return status;
}

/* ---- M^-1 with joints eliminated ----------------------------------------------------------- */

saltus_status saltusi_mode_joints(saltusi_mode_dynamics* m, double t, const double* y) {
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK || m->o->nj == 0) {
    return status;
  }
  saltusi_rows_joints(m->sys, &at, &m->row);
  for (int j = 0; j < m->o->nj; j++) {
    double* x = m->joint_X + (size_t)j * (size_t)m->o->nv;
    memset(x, 0, (size_t)m->o->nv * sizeof(double));
    saltusi_row_add(&m->row, j, 1.0, x);
    saltusi_linear_solve(m->eval, &m->mass, x);
  }
  for (int i = 0; i < m->o->nj; i++) {
    for (int j = 0; j < m->o->nj; j++) {
      m->joint_W[i * m->o->nj + j] =
          saltusi_row_dot(&m->row, i, m->joint_X + (size_t)j * (size_t)m->o->nv);
    }
  }
  if (!saltusi_dependent_factor(&m->joint_factor, m->o->nj, m->joint_W, m->o->nj)) {
    return SALTUS_RETRY_NAN;
  }
  m->eval->dependent = m->eval->dependent || m->joint_factor.rank < m->o->nj;
  return SALTUS_OK;
}

void saltusi_mode_joint_answer(const saltusi_mode_dynamics* m, const double* x, double* answer) {
  for (int j = 0; j < m->o->nj; j++) {
    answer[j] = saltusi_row_dot(&m->row, j, x);
  }
  saltusi_dependent_solve(&m->joint_factor, answer);
}

/* x -= M^-1 G_E r */
static void take_joints(const saltusi_mode_dynamics* m, const double* r, double* x) {
  for (int j = 0; j < m->o->nj; j++) {
    saltusi_add_scaled(m->o->nv, -r[j], m->joint_X + (size_t)j * (size_t)m->o->nv, x);
  }
}

void saltusi_mode_hold_joints(saltusi_mode_dynamics* m, double* v, double* impulse) {
  double* r = m->joint_r;
  for (int j = 0; j < m->o->nj; j++) {
    r[j] = saltusi_row_dot(&m->row, j, v) + m->row.b[j];
  }
  saltusi_dependent_solve(&m->joint_factor, r);
  take_joints(m, r, v);
  if (impulse != NULL) {
    saltusi_add_scaled(m->o->nj, -1.0, r, impulse);
  }
}

void saltusi_mode_inverse(saltusi_mode_dynamics* m, double* x) {
  saltusi_linear_solve(m->eval, &m->mass, x);
  if (m->o->nj == 0) {
    return;
  }
  saltusi_mode_joint_answer(m, x, m->joint_r);
  take_joints(m, m->joint_r, x);
}

void saltusi_mode_response(saltusi_mode_dynamics* m, int row, double* x) {
  memset(x, 0, (size_t)m->o->nv * sizeof(double));
  saltusi_row_add(&m->row, row, 1.0, x);
  saltusi_mode_inverse(m, x);
}

/* sc_L = min_i sc_v,i / |(P G)_i|: an impulse error counts as the velocity error that it makes. */
saltus_status saltusi_mode_impulse_scale(saltusi_mode_dynamics* m, double t, const double* y,
                                         double* scale_l) {
  bool any = false;
  for (int r = 0; r < m->o->nl; r++) {
    scale_l[r] = INFINITY;
  }
  for (int key = 0; key < m->o->nc; key++) {
    any = any || saltusi_is_pressed(&m->contact[key]);
  }
  if (!any || m->o->settings.without_impulses) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_joints(m, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(m, t, y, false);
  const double* v = saltusi_v_of(m->o, y);
  for (int key = 0; key < m->o->nc; key++) {
    for (int k = 0; saltusi_is_pressed(&m->contact[key]) && k <= m->o->tangents[key]; k++) {
      int r = m->o->base[key] + k;
      memset(m->x, 0, (size_t)m->o->nv * sizeof(double));
      saltusi_row_add(&m->row, m->o->nj + r, 1.0, m->x);
      saltusi_mode_inverse(m, m->x);
      for (int i = 0; i < m->o->nv; i++) {
        double x = fabs(m->x[i]);
        double tolerance = m->o->atol_v[i] + m->o->settings.rtol * fabs(v[i]);
        scale_l[r] = x > 0.0 ? fmin(scale_l[r], tolerance / x) : scale_l[r];
      }
    }
  }
  return SALTUS_OK;
}

/* ---- projection ---------------------------------------------------------------------------- */

/* Moves q by -M^-1 G (G^T M^-1 G)^-1 right; rows are held, right is given. */
static saltus_status shift_positions(saltusi_mode_dynamics* m, double* q) {
  make_operator(m, false);
  saltus_status status = solve_held(m, m->held);
  if (status != SALTUS_OK) {
    return status;
  }
  memset(m->x, 0, (size_t)m->o->nv * sizeof(double));
  for (int i = 0; i < m->held; i++) {
    saltusi_add_scaled(m->o->nv, m->right[i], m->column + (size_t)i * (size_t)m->o->nv, m->x);
  }
  saltusi_advance(m->sys, q, m->x, -1.0, m->q);
  memcpy(q, m->q, (size_t)m->o->nq * sizeof(double));
  return SALTUS_OK;
}

/* Gaps of the held rows into `right`; the largest. */
static saltus_status held_gaps(saltusi_mode_dynamics* m, double t, const double* q,
                               double* largest) {
  saltus_point at = saltusi_at(m->eval, t, q, NULL);
  saltus_status status = m->o->nc > 0 ? saltusi_mode_gaps(m, t, q) : SALTUS_OK;
  if (m->o->nj > 0) {
    m->sys->ops->joints(m->sys->self, &at, m->joint_gap);
  }
  for (int i = 0; i < m->held; i++) {
    m->right[i] = m->held_key[i] < 0 ? m->joint_gap[m->held_row[i]] : m->gap[m->held_key[i]];
    if (isinf(m->right[i])) {
      m->right[i] = 0.0; /* a contact that has left the list */
    }
  }
  *largest = saltusi_max_abs(m->held, m->right);
  return status;
}

/* Newton's iteration on the gaps of the held rows. */
static saltus_status close_gaps(saltusi_mode_dynamics* m, double t, double* y) {
  double rounding = DBL_EPSILON * fmax(1.0, saltusi_max_abs(m->o->nq, y));
  double last = INFINITY;
  saltus_status status = SALTUS_OK;
  for (int k = 0; status == SALTUS_OK && k < POSITION_ITERATIONS; k++) {
    double largest = 0.0;
    status = held_gaps(m, t, y, &largest);
    bool done = largest <= (k == 0 ? 1.0 : 8.0) * rounding || largest > 0.3 * last;
    if (status != SALTUS_OK || done) {
      break;
    }
    last = largest;
    saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
    status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
    if (status == SALTUS_OK) {
      saltusi_mode_rows(m, t, y, true);
      status = shift_positions(m, y);
    }
  }
  return status;
}

saltus_status saltusi_mode_project_positions(saltusi_mode_dynamics* m, double t, double* y,
                                             const int* set, int count) {
  m->held = 0;
  hold_joints(m);
  for (int i = 0; i < count; i++) {
    hold(m, m->o->nj + m->o->base[set[i]], set[i]);
  }
  return m->held > 0 ? close_gaps(m, t, y) : SALTUS_OK;
}

/* Velocities of the held rows to zero, or to the perturbation; along the normals and tangents, or (friction)
 * along the forces of the mode. */
static saltus_status shift_velocities(saltusi_mode_dynamics* m, double t, double* y,
                                      const saltusi_perturbation* given, bool friction) {
  double* v = y + m->o->nq;
  saltus_point at = saltusi_at(m->eval, t, y, v);
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  find_held(m, true);
  for (int key = 0; given != NULL && key < m->o->nc; key++) {
    for (int k = 1; given->on[key] && k <= 2; k++) {
      hold(m, m->o->nj + m->o->base[key] + k, key);
    }
  }
  saltusi_mode_rows(m, t, y, false);
  for (int key = 0; friction && key < m->o->nc; key++) {
    if (saltusi_is_pressed(&m->contact[key]) && slides(m, key)) {
      find_direction(m, v, key);
    }
  }
  make_operator(m, friction);
  for (int i = 0; i < m->held; i++) {
    int row = m->held_row[i];
    int key = m->held_key[i];
    m->right[i] = saltusi_row_dot(&m->row, row, v) + m->row.b[row];
    if (given != NULL && key >= 0 && given->on[key] && row > m->o->nj + m->o->base[key]) {
      m->right[i] -= given->u[2 * key + (row - m->o->nj - m->o->base[key] - 1)];
    }
  }
  status = solve_held(m, m->held);
  for (int i = 0; i < m->held && status == SALTUS_OK; i++) {
    saltusi_add_scaled(m->o->nv, -m->right[i], m->column + (size_t)i * (size_t)m->o->nv, v);
  }
  return status;
}

saltus_status saltusi_mode_project_velocity(saltusi_mode_dynamics* m, double t, double* y,
                                            const saltusi_perturbation* perturbation) {
  return shift_velocities(m, t, y, perturbation, false);
}

saltus_status saltusi_mode_close_velocity(saltusi_mode_dynamics* m, double t, double* y) {
  return shift_velocities(m, t, y, NULL, true);
}

saltus_status saltusi_mode_project_closed(saltusi_mode_dynamics* m, double t, double* y) {
  find_held(m, false);
  return m->held > 0 ? close_gaps(m, t, y) : SALTUS_OK;
}

saltus_status saltusi_mode_project(saltusi_mode_dynamics* m, double t, double* y) {
  find_held(m, false);
  if (m->held == 0) {
    return SALTUS_OK;
  }
  saltus_status status = close_gaps(m, t, y);
  return status == SALTUS_OK ? saltusi_mode_project_velocity(m, t, y, NULL) : status;
}
