/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide.c - complementarity problems of planar friction: which status follows an event (on
 * accelerations and forces) and how velocities jump (on velocities and impulses); sections 4.3, 6, 7.
 *
 *   moving contacts       0 <= u_N  perp  l_N >= 0,   column G_N - mu s G_T
 *   contacts at rest      the same for u_N, and with b+, b-, z >= 0 for friction b+ - b- and slip z:
 *       +-u_T + z >= 0 perp b+-,    mu l_N - b+ - b- >= 0 perp z
 *   u = R^T P H l + free,   P = M^-1 with joints eliminated
 *
 * Unknowns are scaled by 1 / sqrt(G^T P G), so that one set of tolerances serves inertias of 1e-9.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

enum { NORMAL, PLUS, MINUS, SLACK };

/* Multipliers below this part of the largest are none; accelerations below that part are zero
 * (section 4.3). */
static const double no_force = 1e-13;
static const double no_acceleration = 1e-9;
static const double no_slip = 1e-10;
/* A row whose part outside the others is smaller depends on them. */
static const double dependent_row = 1e-8;
/* A tangent that joints block more than this does not move (pitfall 15). */
static const double blocked_tangent = 1e-10;

static const double* x_of(const saltusi_adaptive* w, int i) {
  return w->lcp_X + (size_t)i * (size_t)w->nv;
}

static bool is_blocked(saltusi_adaptive* w, int key) {
  if (w->nj == 0) {
    return false;
  }
  int row = w->nj + w->base[key] + 1;
  saltusi_mode_response(w, row, w->delta);
  double with_joints = saltusi_row_dot(&w->row, row, w->delta);
  memset(w->delta, 0, (size_t)w->nv * sizeof(double));
  saltusi_row_add(&w->row, row, 1.0, w->delta);
  saltusi_linear_solve(w->eval, &w->mass, w->delta);
  return with_joints <= blocked_tangent * saltusi_row_dot(&w->row, row, w->delta);
}

static int add_unknown(saltusi_adaptive* w, int n, int kind, int key) {
  w->lcp_kind[n] = kind;
  w->lcp_key[n] = key;
  return n + 1;
}

/* Unknowns of the problem: normals, then frictions and slips of contacts that do not move. */
static int list_unknowns(saltusi_adaptive* w, int count) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    n = add_unknown(w, n, NORMAL, w->set[i]);
  }
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    w->blocked[key] = false;
    if (w->sense[key] == 0.0 && w->mu[key] > 0.0) {
      w->blocked[key] = is_blocked(w, key);
      if (!w->blocked[key]) {
        n = add_unknown(w, n, PLUS, key);
        n = add_unknown(w, n, MINUS, key);
      }
    }
  }
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    if (w->sense[key] == 0.0 && w->mu[key] > 0.0 && !w->blocked[key]) {
      n = add_unknown(w, n, SLACK, key);
    }
  }
  return n;
}

/* R_i . x */
static double row_times(const saltusi_adaptive* w, int i, const double* x) {
  int first = w->nj + w->base[w->lcp_key[i]];
  switch (w->lcp_kind[i]) {
  case NORMAL:
    return saltusi_row_dot(&w->row, first, x);
  case PLUS:
    return saltusi_row_dot(&w->row, first + 1, x);
  case MINUS:
    return -saltusi_row_dot(&w->row, first + 1, x);
  default:
    return 0.0;
  }
}

/* Columns P H and the scales of the unknowns. */
static void make_columns(saltusi_adaptive* w, int n) {
  for (int i = 0; i < n; i++) {
    int key = w->lcp_key[i];
    int first = w->nj + w->base[key];
    double* x = w->lcp_X + (size_t)i * (size_t)w->nv;
    memset(x, 0, (size_t)w->nv * sizeof(double));
    w->lcp_scale[i] = 1.0;
    if (w->lcp_kind[i] == SLACK) {
      continue;
    }
    double sign = w->lcp_kind[i] == MINUS ? -1.0 : 1.0;
    saltusi_row_add(&w->row, first + (w->lcp_kind[i] == NORMAL ? 0 : 1), sign, x);
    saltusi_mode_inverse(w, x);
    w->lcp_scale[i] = 1.0 / sqrt(fmax(row_times(w, i, x), DBL_MIN));
    if (w->lcp_kind[i] == NORMAL && w->sense[key] != 0.0 && w->mu[key] > 0.0) {
      for (int k = 0; k < w->tangents[key]; k++) {
        double d = w->tangents[key] == 1 ? w->sense[key] : w->direction[2 * key + k];
        saltusi_mode_response(w, first + 1 + k, w->delta);
        saltusi_add_scaled(w->nv, -w->mu[key] * d, w->delta, x);
      }
    }
  }
  for (int i = 0; i < n; i++) { /* a slip by the inverse of its friction */
    for (int j = 0; w->lcp_kind[i] == SLACK && j < n; j++) {
      if (w->lcp_kind[j] == PLUS && w->lcp_key[j] == w->lcp_key[i]) {
        w->lcp_scale[i] = 1.0 / w->lcp_scale[j];
      }
    }
  }
}

/* The part of the matrix that is the law of friction. */
static double law_entry(const saltusi_adaptive* w, int i, int j) {
  if (w->lcp_key[i] != w->lcp_key[j]) {
    return 0.0;
  }
  bool friction_j = w->lcp_kind[j] == PLUS || w->lcp_kind[j] == MINUS;
  bool friction_i = w->lcp_kind[i] == PLUS || w->lcp_kind[i] == MINUS;
  if (friction_i && w->lcp_kind[j] == SLACK) {
    return 1.0;
  }
  if (w->lcp_kind[i] == SLACK) {
    return friction_j ? -1.0 : w->lcp_kind[j] == NORMAL ? w->mu[w->lcp_key[i]] : 0.0;
  }
  return 0.0;
}

/* Impulses that wedge a body balance each other, and q of the problem is orthogonal to them but for
 * rounding; on the wrong side of it there is no solution. A gap velocity that is larger by a part of
 * 1e-9 of the data, which settling takes back, is on the right side. */
static saltusi_lcp_result solve_wedge(saltusi_adaptive* w, int n) {
  for (int i = 0; i < n; i++) {
    w->lcp_q[i] += w->lcp_kind[i] == NORMAL ? 1e-9 : 0.0;
  }
  return saltusi_lcp_lemke(&w->lcp, n, w->lcp_M, w->lcp_q, w->lcp_z);
}

/* Solves for the contacts of w->set with u_free by contact row; bound [nc] is friction that is
 * available besides mu l_N, or NULL. Impulses (or forces) in w->impulse, slips in w->slack, the
 * change of v (or of a) in w->delta. */
static saltus_status solve(saltusi_adaptive* w, int count, const double* u_free,
                           const double* bound) {
  if (saltusi_is_spatial(w, count)) {
    return saltusi_spatial_solve(w, count, u_free);
  }
  int n = list_unknowns(w, count);
  w->counts.decisions++;
  w->eval->work.contact_solves++;
  make_columns(w, n);
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    int key = w->lcp_key[i];
    const double* u = u_free + w->base[key];
    double b = w->lcp_kind[i] == NORMAL  ? u[0]
               : w->lcp_kind[i] == PLUS  ? u[1]
               : w->lcp_kind[i] == MINUS ? -u[1]
               : bound != NULL           ? bound[key]
                                         : 0.0;
    w->lcp_q[i] = b * w->lcp_scale[i];
    largest = fmax(largest, fabs(w->lcp_q[i]));
    for (int j = 0; j < n; j++) {
      double entry = row_times(w, i, x_of(w, j)) + law_entry(w, i, j);
      w->lcp_M[i * n + j] = entry * w->lcp_scale[i] * w->lcp_scale[j];
    }
  }
  memset(w->impulse, 0, (size_t)w->nl * sizeof(double));
  memset(w->slack, 0, (size_t)w->nc * sizeof(double));
  memset(w->delta, 0, (size_t)w->nv * sizeof(double));
  if (largest == 0.0) {
    return SALTUS_OK;
  }
  for (int i = 0; i < n; i++) {
    w->lcp_q[i] /= largest;
  }
  saltusi_lcp_result result = saltusi_lcp_lemke(&w->lcp, n, w->lcp_M, w->lcp_q, w->lcp_z);
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    result = solve_wedge(w, n);
  }
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    return SALTUS_RETRY_SMALLER;
  }
  for (int i = 0; i < n; i++) {
    double z = w->lcp_z[i] * largest * w->lcp_scale[i];
    int key = w->lcp_key[i];
    double* l = w->impulse + w->base[key];
    saltusi_add_scaled(w->nv, z, x_of(w, i), w->delta);
    switch (w->lcp_kind[i]) {
    case NORMAL:
      l[0] = z;
      for (int k = 0; w->sense[key] != 0.0 && w->mu[key] > 0.0 && k < w->tangents[key]; k++) {
        double d = w->tangents[key] == 1 ? w->sense[key] : w->direction[2 * key + k];
        l[1 + k] = -w->mu[key] * d * z;
      }
      break;
    case PLUS:
      l[1] += z;
      break;
    case MINUS:
      l[1] -= z;
      break;
    default:
      w->slack[key] = z;
    }
    double scale = w->lcp_kind[i] == NORMAL ? 1.0 / w->lcp_scale[i] : 0.0;
    w->counts.residual_velocity =
        fmax(w->counts.residual_velocity, result.residual * largest * scale);
  }
  return SALTUS_OK;
}

/* ---- status -------------------------------------------------------------------------------- */

/* Whether a row is independent of those accepted so far, in the metric of M^-1; then it joins. */
static bool is_independent(saltusi_adaptive* w, int row, int* rank) {
  size_t nv = (size_t)w->nv;
  double* g = w->delta;
  double* x = w->v_spare;
  memset(g, 0, nv * sizeof(double));
  saltusi_row_add(&w->row, row, 1.0, g);
  memcpy(x, g, nv * sizeof(double));
  saltusi_linear_solve(w->eval, &w->mass, x);
  double size = sqrt(fmax(0.0, saltusi_dot(w->nv, g, x)));
  if (*rank >= w->nv) {
    return false;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < *rank; k++) {
      const double* b = w->basis + (size_t)(2 * k) * nv;
      double part = saltusi_dot(w->nv, g, b + nv);
      saltusi_add_scaled(w->nv, -part, b, g);
    }
  }
  memcpy(x, g, nv * sizeof(double));
  saltusi_linear_solve(w->eval, &w->mass, x);
  double rest = sqrt(fmax(0.0, saltusi_dot(w->nv, g, x)));
  if (!(rest > dependent_row * size)) {
    return false;
  }
  double* b = w->basis + (size_t)(2 * *rank) * nv;
  for (int i = 0; i < w->nv; i++) {
    b[i] = g[i] / rest;
    b[w->nv + i] = x[i] / rest;
  }
  (*rank)++;
  return true;
}

/* 0: friction inside its bounds, 1: at a bound, 2: none. */
static int friction_class(const saltusi_adaptive* w, int key) {
  const double* l = w->impulse + w->base[key];
  double bound = w->mu[key] * l[0];
  double size = fabs(l[1]);
  return size <= 1e-12 * bound ? 2 : size >= bound * (1.0 - 1e-10) ? 1 : 0;
}

/* Sticking contacts whose rows depend on others become passive; contacts that carry nothing keep
 * their row when it is independent (section 4.3, rank pass). */
static void rank_pass(saltusi_adaptive* w, int count) {
  int rank = 0;
  for (int j = 0; j < w->nj; j++) {
    is_independent(w, j, &rank);
  }
  for (int i = 0; i < count; i++) {
    if (saltusi_mode_pressed(w, w->set[i])) {
      is_independent(w, w->nj + w->base[w->set[i]], &rank);
    }
  }
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    if (saltusi_mode_of(w, key) == SALTUSI_IDLE && is_independent(w, w->nj + w->base[key], &rank)) {
      bool slip = w->sense[key] != 0.0 || w->mu[key] == 0.0;
      w->contact[key].mode = slip ? SALTUSI_SLIP : SALTUSI_STICK;
      w->contact[key].sense = w->sense[key] != 0.0 ? w->sense[key] : 1.0;
    }
  }
  for (int order = 0; order <= 2; order++) {
    for (int i = 0; i < count; i++) {
      int key = w->set[i];
      if (saltusi_mode_of(w, key) != SALTUSI_STICK || friction_class(w, key) != order ||
          is_independent(w, w->nj + w->base[key] + 1, &rank)) {
        continue;
      }
      w->contact[key].mode = order == 1 ? SALTUSI_STICK_BOUND : SALTUSI_STICK_IDLE;
      w->contact[key].sense = w->impulse[w->base[key] + 1] > 0.0 ? -1.0 : 1.0;
    }
  }
}

/* Status of one contact from its force, its acceleration and its slip. */
static void classify(saltusi_adaptive* w, int key, double force_size, double acceleration_size) {
  const double* l = w->impulse + w->base[key];
  saltusi_contact_memory* c = &w->contact[key];
  if (l[0] <= no_force * force_size) {
    bool still = fabs(w->u_after[w->base[key]]) <= no_acceleration * acceleration_size;
    c->mode = still && force_size > 0.0 ? SALTUSI_IDLE : SALTUSI_OPEN;
  } else if (w->sense[key] != 0.0 || w->mu[key] == 0.0) {
    c->mode = SALTUSI_SLIP;
    c->sense = w->sense[key] != 0.0 ? w->sense[key] : 1.0;
  } else if (w->blocked[key]) {
    c->mode = SALTUSI_STICK_IDLE;
  } else if (w->slack[key] > no_slip * acceleration_size) {
    c->mode = SALTUSI_SLIP;
    c->sense = l[1] > 0.0 ? -1.0 : 1.0;
  } else {
    c->mode = SALTUSI_STICK;
  }
}

/* Spatial contacts at their bound slide when another one does: at the onset their accelerations are too
 * small to see, and a rigid body cannot slide at some of its supports only. */
static void slide_together(saltusi_adaptive* w, int count) {
  const double at_bound = 1e-6;
  bool any = false;
  for (int i = 0; i < count; i++) {
    any = any || (w->tangents[w->set[i]] == 2 && saltusi_mode_of(w, w->set[i]) == SALTUSI_SLIP);
  }
  for (int i = 0; any && i < count; i++) {
    int key = w->set[i];
    const double* l = w->impulse + w->base[key];
    if (w->tangents[key] == 2 && saltusi_mode_of(w, key) == SALTUSI_STICK &&
        hypot(l[1], l[2]) >= w->mu[key] * l[0] * (1.0 - at_bound)) {
      w->contact[key].mode = SALTUSI_SLIP;
      w->contact[key].sense = 1.0;
    }
  }
}

/* The free acceleration: no contact acts, joints do. */
static saltus_status free_acceleration(saltusi_adaptive* w, double t, const double* y) {
  memcpy(w->mode_kept, w->contact, (size_t)w->nc * sizeof *w->contact);
  for (int key = 0; key < w->nc; key++) {
    w->contact[key].mode = SALTUSI_OPEN;
  }
  saltus_status status = saltusi_mode_rate(w, t, y, w->probe_rate);
  memcpy(w->contact, w->mode_kept, (size_t)w->nc * sizeof *w->contact);
  memcpy(w->free_acc, w->probe_rate + w->nq, (size_t)w->nv * sizeof(double));
  return status;
}

/* u = R a + c (or R v + b) of every contact row. */
static void row_values(const saltusi_adaptive* w, const double* x, const double* shift, double* u) {
  for (int r = 0; r < w->nl; r++) {
    u[r] = saltusi_row_dot(&w->row, w->nj + r, x) + shift[w->nj + r];
  }
}

saltus_status saltusi_decide_status(saltusi_adaptive* w, double t, const double* y, int count) {
  if (count == 0) {
    return SALTUS_OK;
  }
  saltus_status status = free_acceleration(w, t, y);
  if (status == SALTUS_OK) {
    status = saltusi_mode_joints(w, t, y);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(w, t, y, true);
  row_values(w, w->free_acc, w->row.c, w->u_before);
  status = solve(w, count, w->u_before, NULL);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < w->nv; i++) {
    w->v_spare[i] = w->free_acc[i] + w->delta[i];
  }
  row_values(w, w->v_spare, w->row.c, w->u_after);
  double force_size = 0.0;
  double acceleration_size = DBL_MIN;
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    force_size = fmax(force_size, w->impulse[w->base[key]]);
    for (int k = 0; k <= w->tangents[key]; k++) {
      acceleration_size = fmax(acceleration_size, fabs(w->u_before[w->base[key] + k]));
    }
  }
  bool redundant = false;
  for (int i = 0; i < count; i++) {
    classify(w, w->set[i], force_size, acceleration_size);
    saltusi_contact_mode mode = saltusi_mode_of(w, w->set[i]);
    redundant = redundant || mode == SALTUSI_STICK || mode == SALTUSI_IDLE;
  }
  slide_together(w, count);
  if (redundant && !saltusi_is_spatial(w, count)) { /* those spread forces over dependent rows */
    rank_pass(w, count);
  }
  return SALTUS_OK;
}

/* ---- impacts ------------------------------------------------------------------------------- */

/* Restitution as it is used now: capped impacts take a part of it. */
static double restitution(const saltusi_adaptive* w, int key) {
  return w->e_part * w->law[key]->e_N;
}

static bool is_poisson(const saltusi_adaptive* w, int key) {
  return (w->wedged || w->law[key]->impact == SALTUS_IMPACT_POISSON) && restitution(w, key) > 0.0;
}

/* Right-hand sides of an impact: Newton's law by u_N + e_N min(u_N-, 0), tangential restitution by
 * u_T + e_T u_T- (section 6). u is the velocity now, before that before the impact. */
static void impact_data(const saltusi_adaptive* w, const double* before, double* u) {
  for (int key = 0; key < w->nc; key++) {
    const saltus_contact_law* law = w->law[key];
    int r = w->base[key];
    u[r] += is_poisson(w, key) ? 0.0 : restitution(w, key) * fmin(before[r], 0.0);
    for (int k = 1; k <= w->tangents[key]; k++) {
      u[r + k] += law->e_T * before[r + k];
    }
  }
}

static void no_senses(saltusi_adaptive* w) {
  memset(w->sense, 0, (size_t)w->nc * sizeof(double));
}

/* Decompression: e_N times the normal impulse of compression comes back, and what then still
 * approaches is stopped; friction also acts on the impulse that came back (section 6). */
static saltus_status decompress(saltusi_adaptive* w, double* v, int count) {
  memcpy(w->compression, w->impulse, (size_t)w->nl * sizeof(double));
  memset(w->bound, 0, (size_t)w->nc * sizeof(double));
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    double back = is_poisson(w, key) ? restitution(w, key) * w->impulse[w->base[key]] : 0.0;
    saltusi_mode_response(w, w->nj + w->base[key], w->delta);
    saltusi_add_scaled(w->nv, back, w->delta, v);
    w->bound[key] = w->mu[key] * back;
    w->compression[w->base[key]] += back;
  }
  row_values(w, v, w->row.b, w->u_after);
  impact_data(w, w->u_before, w->u_after);
  saltus_status status = solve(w, count, w->u_after, w->bound);
  if (status == SALTUS_OK) {
    saltusi_add_scaled(w->nv, 1.0, w->delta, v);
    saltusi_add_scaled(w->nl, 1.0, w->compression, w->impulse);
  }
  return status;
}

/* Impulses of the joints that answer those of the contacts: P_E = -(G_E^T M^-1 G_E)^-1 G_E^T M^-1 H P. */
static void add_joint_impulses(saltusi_adaptive* w) {
  if (w->nj == 0) {
    return;
  }
  memset(w->v_spare, 0, (size_t)w->nv * sizeof(double));
  for (int r = 0; r < w->nl; r++) {
    saltusi_row_add(&w->row, w->nj + r, w->impulse[r], w->v_spare);
  }
  saltusi_linear_solve(w->eval, &w->mass, w->v_spare);
  saltusi_mode_joint_answer(w, w->v_spare);
  saltusi_add_scaled(w->nj, -1.0, w->joint_r, w->joint_lasting);
}

/* Slip senses of an impact in which every contact with friction slides, Newton's law: the tangents then are no
 * unknowns, and their velocities cannot hide small normal ones in the tolerance of the problem (section
 * 14.5b). False when the senses are not known. */
static bool known_senses(saltusi_adaptive* w, int count) {
  double slow = saltusi_slip_rounding(w);
  bool any = false;
  no_senses(w);
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    if (is_poisson(w, key) || w->law[key]->e_T != 0.0) {
      return false;
    }
    if (w->mu[key] == 0.0) {
      continue;
    }
    double slip = w->u_before[w->base[key] + 1];
    if (w->tangents[key] != 1 || fabs(slip) <= slow) {
      return false;
    }
    w->sense[key] = slip > 0.0 ? 1.0 : -1.0;
    any = true;
  }
  return any;
}

/* Whether all of them slide on as they did. */
static bool senses_hold(saltusi_adaptive* w, int count, const double* v) {
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    int row = w->nj + w->base[key] + 1;
    if (w->sense[key] == 0.0) {
      continue;
    }
    double slip =
        saltusi_row_dot(&w->row, row, v) + saltusi_row_dot(&w->row, row, w->delta) + w->row.b[row];
    if (!(w->sense[key] * slip > 0.0)) {
      return false;
    }
  }
  return true;
}

/* The jump of v, from velocities in w->u_before. */
static saltus_status impact(saltusi_adaptive* w, double* v, int count) {
  memcpy(w->u_after, w->u_before, (size_t)w->nl * sizeof(double));
  impact_data(w, w->u_before, w->u_after);
  saltus_status status = SALTUS_RETRY_SMALLER;
  if (known_senses(w, count)) {
    status = solve(w, count, w->u_after, NULL);
    if (status == SALTUS_OK && !senses_hold(w, count, v)) {
      status = SALTUS_RETRY_SMALLER;
    }
  }
  if (status == SALTUS_RETRY_SMALLER) {
    no_senses(w);
    status = solve(w, count, w->u_after, NULL);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_add_scaled(w->nv, 1.0, w->delta, v);
  bool poisson = false;
  for (int i = 0; i < count; i++) {
    poisson = poisson || is_poisson(w, w->set[i]);
  }
  return poisson ? decompress(w, v, count) : SALTUS_OK;
}

/* Energy that the contacts gave in the impact, P . (u- + u+) / 2; 0 within rounding. */
static double gain_of(saltusi_adaptive* w, const double* v) {
  double work = 0.0;
  double size = 0.0;
  row_values(w, v, w->row.b, w->u_after);
  for (int r = 0; r < w->nl; r++) {
    work += 0.5 * w->impulse[r] * (w->u_before[r] + w->u_after[r]);
    size += 0.5 * fabs(w->impulse[r]) * (fabs(w->u_before[r]) + fabs(w->u_after[r]));
  }
  return work > 1e-11 * size ? work : 0.0;
}

/* The contact that gave most: the one that a report names. */
static int giver_of(const saltusi_adaptive* w, int count) {
  double most = -INFINITY;
  int giver = w->set[0];
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    double work = 0.0;
    for (int k = 0; k <= w->tangents[key]; k++) {
      int r = w->base[key] + k;
      work += 0.5 * w->impulse[r] * (w->u_before[r] + w->u_after[r]);
    }
    giver = work > most ? key : giver;
    most = fmax(most, work);
  }
  return giver;
}

/* The impact again from v_before with another law or a part of the restitution. */
static saltus_status impact_again(saltusi_adaptive* w, double* v, int count, bool poisson,
                                  double part) {
  memcpy(v, w->v_impact, (size_t)w->nv * sizeof(double));
  w->wedged = poisson;
  w->e_part = part;
  saltus_status status = impact(w, v, count);
  w->wedged = false;
  w->e_part = 1.0;
  return status;
}

/* The largest part of the restitution found without gain, by bisection; none of it never gains. */
static saltus_status cap(saltusi_adaptive* w, double* v, int count) {
  enum { HALVINGS = 50 };
  double lo = 0.0;
  double hi = 1.0;
  for (int k = 0; k < HALVINGS; k++) {
    double part = 0.5 * (lo + hi);
    saltus_status status = impact_again(w, v, count, false, part);
    bool gains = status == SALTUS_OK && gain_of(w, v) > 0.0;
    *(status != SALTUS_OK || gains ? &hi : &lo) = part;
  }
  return impact_again(w, v, count, false, lo);
}

/* What to do about an impact that gave energy (docs/schemes/adaptive.md). *replaced: another law decided. */
static saltus_status answer_gain(saltusi_adaptive* w, double* v, int count, bool* replaced) {
  switch (w->settings.on_energy_gain) {
  case SALTUS_GAIN_CAP:
    *replaced = true;
    return cap(w, v, count);
  case SALTUS_GAIN_POISSON:
    *replaced = true;
    return impact_again(w, v, count, true, 1.0);
  case SALTUS_GAIN_ENERGETIC:
    *replaced = true;
    memcpy(v, w->v_impact, (size_t)w->nv * sizeof(double));
    return saltusi_energetic_impact(w, v, count);
  default:
    return SALTUS_OK;
  }
}

static saltus_status stop_for_gain(saltusi_adaptive* w, double t, int key, double gain) {
  saltusi_log(
      w->log, SALTUS_LEVEL_ERROR,
      "adaptive: the impact at contact %s, t = %.17g s, would create %g J: Newton's law with "
      "friction can; on_energy_gain offers other answers than stop",
      saltusi_contact_name(w, key), t, gain);
  return SALTUS_ERR_LAW;
}

/* Joints and friction can wedge a body: impulses along a ray H l = 0, l_N > 0, l_T within the cone,
 * balance each other and move nothing. Newton's law asks for l . (u- + e u_N-) >= 0 on it, which is
 * e l_N u_N- < 0: it has no solution. Poisson's compression asks for l . u- = 0, which always holds: it
 * takes such impacts, and that is reported. With friction Newton's law can also give energy; it is obeyed
 * unless the settings say otherwise, and that is reported, too. */
saltus_status saltusi_decide_impact(saltusi_adaptive* w, double t, double* y, int count,
                                    saltusi_verdict* verdict) {
  double* v = y + w->nq;
  *verdict = (saltusi_verdict){.contact = -1};
  saltus_status status = saltusi_mode_joints(w, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(w, t, y, true);
  saltusi_mode_hold_joints(w, v); /* positions may have been corrected since */
  row_values(w, v, w->row.b, w->u_before);
  memcpy(w->v_impact, v, (size_t)w->nv * sizeof(double));
  status = impact(w, v, count);
  if (status == SALTUS_RETRY_SMALLER) {
    verdict->replaced = true;
    status = impact_again(w, v, count, true, 1.0);
  }
  double gain = status == SALTUS_OK ? gain_of(w, v) : 0.0;
  if (gain > 0.0) {
    verdict->contact = giver_of(w, count);
    if (w->settings.on_energy_gain == SALTUS_GAIN_STOP) {
      return stop_for_gain(w, t, verdict->contact, gain);
    }
    status = answer_gain(w, v, count, &verdict->replaced);
    verdict->of_law = gain;
    verdict->gain = status == SALTUS_OK ? gain_of(w, v) : 0.0;
  }
  if (status == SALTUS_OK) {
    verdict->contact = verdict->contact < 0 ? w->set[0] : verdict->contact;
    add_joint_impulses(w);
    row_values(w, v, w->row.b, w->u_after);
  }
  return status;
}

/* Impulses that stop an approach of `push` besides the velocities as they are, without restitution. */
static saltus_status solve_pushed(saltusi_adaptive* w, int count, double push) {
  memcpy(w->u_after, w->u_before, (size_t)w->nl * sizeof(double));
  for (int key = 0; key < w->nc; key++) {
    double* u = w->u_after + w->base[key];
    u[0] = fmin(u[0], 0.0) - push;
  }
  no_senses(w);
  return solve(w, count, w->u_after, NULL);
}

/* The push only selects the branch on which all pressed contacts stick: the data as they are belong to
 * no push, and on one branch the impulses depend on it linearly. */
static saltus_status without_push(saltusi_adaptive* w, double t, double* y, int count,
                                  double push) {
  memcpy(w->compression, w->impulse, (size_t)w->nl * sizeof(double));
  saltus_status status = solve_pushed(w, count, 0.5 * push);
  for (int r = 0; r < w->nl; r++) {
    w->impulse[r] = 2.0 * w->impulse[r] - w->compression[r];
  }
  return status == SALTUS_OK ? saltusi_mode_project(w, t, y) : status;
}

saltus_status saltusi_decide_painleve(saltusi_adaptive* w, double t, double* y, int count) {
  double* v = y + w->nq;
  saltus_status status = saltusi_mode_joints(w, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(w, t, y, true);
  saltusi_mode_hold_joints(w, v); /* positions may have been corrected since */
  row_values(w, v, w->row.b, w->u_before);
  /* with U = 0 exactly no impulse is a solution as well: a small approach selects the other */
  double push = 1e-6 * fmax(saltusi_max_abs(w->nv, v), DBL_MIN);
  status = solve_pushed(w, count, push);
  if (status != SALTUS_OK) {
    return status;
  }
  bool all_stick = true;
  memcpy(w->mode_kept, w->contact, (size_t)w->nc * sizeof *w->contact);
  for (int i = 0; i < count; i++) {
    int key = w->set[i];
    bool pressed = w->impulse[w->base[key]] > 0.0;
    bool sticks = w->slack[key] == 0.0 && w->mu[key] > 0.0;
    w->contact[key].mode = pressed ? SALTUSI_STICK : SALTUSI_OPEN;
    all_stick = all_stick && (!pressed || sticks);
  }
  if (all_stick) {
    status = without_push(w, t, y, count, push);
  } else {
    saltusi_add_scaled(w->nv, 1.0, w->delta, v);
  }
  memcpy(w->contact, w->mode_kept, (size_t)w->nc * sizeof *w->contact);
  saltusi_mode_rows(w, t, y, true);
  row_values(w, v, w->row.b, w->u_after);
  return status;
}
