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
#include "adaptive/decide.h"
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

void saltusi_decision_layout(saltusi_decision* d, const saltusi_outline* o, saltus_arena* arena) {
  int nc = o->nc;
  int n = nc * (o->tangents_max > 0 ? 4 : 1);
  d->e_part = 1.0;
  d->set = SALTUS_PUSH(arena, int, nc);
  d->sense = SALTUS_PUSH(arena, double, nc);
  d->direction = SALTUS_PUSH(arena, double, 2 * nc);
  d->impulse = SALTUS_PUSH(arena, double, o->nl);
  d->slack = SALTUS_PUSH(arena, double, nc);
  d->u_before = SALTUS_PUSH(arena, double, o->nl);
  d->u_after = SALTUS_PUSH(arena, double, o->nl);
  d->joint_impulse = SALTUS_PUSH(arena, double, o->nj);
  d->lcp_max = n;
  saltusi_lcp_layout(&d->lcp, n, arena);
  d->lcp_M = SALTUS_PUSH2(arena, double, n, n);
  d->lcp_q = SALTUS_PUSH(arena, double, n);
  d->lcp_z = SALTUS_PUSH(arena, double, n);
  d->lcp_scale = SALTUS_PUSH(arena, double, n);
  d->lcp_kind = SALTUS_PUSH(arena, int, n);
  d->lcp_key = SALTUS_PUSH(arena, int, n);
  d->lcp_X = SALTUS_PUSH2(arena, double, n, o->nv);
  if (o->tangents_max == 2) {
    saltusi_friction_step_layout(&d->friction, nc, 3, o->nl, arena);
  }
  d->unit_first = SALTUS_PUSH(arena, int, nc + 1);
  d->unit_mu = SALTUS_PUSH(arena, double, nc);
  d->compression = SALTUS_PUSH(arena, double, o->nl);
  d->bound = SALTUS_PUSH(arena, double, nc);
  d->blocked = SALTUS_PUSH(arena, bool, nc);
  d->change = SALTUS_PUSH(arena, double, o->nv);
  d->free_acc = SALTUS_PUSH(arena, double, o->nv);
  d->v_spare = SALTUS_PUSH(arena, double, o->nv);
  d->v_impact = SALTUS_PUSH(arena, double, o->nv);
  d->basis = SALTUS_PUSH2(arena, double, 2 * o->nv, o->nv);
  d->kept = SALTUS_PUSH(arena, saltusi_contact, nc);
}

const char* saltusi_contact_name(const saltusi_outline* o, int key) {
  const char* name = o->law[key]->name;
  return name != NULL && name[0] != '\0' ? name : "without a name";
}

/* Slip of a hundredth of the tolerance of velocities is none, and what rounding makes of v: a contact row
 * sums some products of v and G. */
double saltusi_slip_rounding(const saltusi_decision* d) {
  return fmax(0.01 * d->o->atol_v_min, 256.0 * DBL_EPSILON * d->memory->v_max);
}

static const double* x_of(const saltusi_decision* d, int i) {
  return d->lcp_X + (size_t)i * (size_t)d->o->nv;
}

static bool is_blocked(saltusi_decision* d, int key) {
  if (d->o->nj == 0) {
    return false;
  }
  int row = d->o->nj + d->o->base[key] + 1;
  saltusi_mode_response(d->mode, row, d->change);
  double with_joints = saltusi_row_dot(&d->mode->row, row, d->change);
  memset(d->change, 0, (size_t)d->o->nv * sizeof(double));
  saltusi_row_add(&d->mode->row, row, 1.0, d->change);
  saltusi_linear_solve(d->mode->eval, &d->mode->mass, d->change);
  return with_joints <= blocked_tangent * saltusi_row_dot(&d->mode->row, row, d->change);
}

static int add_unknown(saltusi_decision* d, int n, int kind, int key) {
  d->lcp_kind[n] = kind;
  d->lcp_key[n] = key;
  return n + 1;
}

/* Unknowns of the problem: normals, then frictions and slips of contacts that do not move. */
static int list_unknowns(saltusi_decision* d, int count) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    n = add_unknown(d, n, NORMAL, d->set[i]);
  }
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    d->blocked[key] = false;
    if (d->sense[key] == 0.0 && d->o->mu[key] > 0.0) {
      d->blocked[key] = is_blocked(d, key);
      if (!d->blocked[key]) {
        n = add_unknown(d, n, PLUS, key);
        n = add_unknown(d, n, MINUS, key);
      }
    }
  }
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (d->sense[key] == 0.0 && d->o->mu[key] > 0.0 && !d->blocked[key]) {
      n = add_unknown(d, n, SLACK, key);
    }
  }
  return n;
}

/* R_i . x */
static double row_times(const saltusi_decision* d, int i, const double* x) {
  int first = d->o->nj + d->o->base[d->lcp_key[i]];
  switch (d->lcp_kind[i]) {
  case NORMAL:
    return saltusi_row_dot(&d->mode->row, first, x);
  case PLUS:
    return saltusi_row_dot(&d->mode->row, first + 1, x);
  case MINUS:
    return -saltusi_row_dot(&d->mode->row, first + 1, x);
  default:
    return 0.0;
  }
}

/* Columns P H and the scales of the unknowns. */
static void make_columns(saltusi_decision* d, int n) {
  for (int i = 0; i < n; i++) {
    int key = d->lcp_key[i];
    int first = d->o->nj + d->o->base[key];
    double* x = d->lcp_X + (size_t)i * (size_t)d->o->nv;
    memset(x, 0, (size_t)d->o->nv * sizeof(double));
    d->lcp_scale[i] = 1.0;
    if (d->lcp_kind[i] == SLACK) {
      continue;
    }
    double sign = d->lcp_kind[i] == MINUS ? -1.0 : 1.0;
    saltusi_row_add(&d->mode->row, first + (d->lcp_kind[i] == NORMAL ? 0 : 1), sign, x);
    saltusi_mode_inverse(d->mode, x);
    d->lcp_scale[i] = 1.0 / sqrt(fmax(row_times(d, i, x), DBL_MIN));
    if (d->lcp_kind[i] == NORMAL && d->sense[key] != 0.0 && d->o->mu[key] > 0.0) {
      for (int k = 0; k < d->o->tangents[key]; k++) {
        double along = d->o->tangents[key] == 1 ? d->sense[key] : d->direction[2 * key + k];
        saltusi_mode_response(d->mode, first + 1 + k, d->change);
        saltusi_add_scaled(d->o->nv, -d->o->mu[key] * along, d->change, x);
      }
    }
  }
  for (int i = 0; i < n; i++) { /* a slip by the inverse of its friction */
    for (int j = 0; d->lcp_kind[i] == SLACK && j < n; j++) {
      if (d->lcp_kind[j] == PLUS && d->lcp_key[j] == d->lcp_key[i]) {
        d->lcp_scale[i] = 1.0 / d->lcp_scale[j];
      }
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
    return friction_j ? -1.0 : d->lcp_kind[j] == NORMAL ? d->o->mu[d->lcp_key[i]] : 0.0;
  }
  return 0.0;
}

/* Impulses that wedge a body balance each other, and q of the problem is orthogonal to them but for
 * rounding; on the wrong side of it there is no solution. A gap velocity that is larger by a part of
 * 1e-9 of the data, which settling takes back, is on the right side. */
static saltusi_lcp_result solve_wedge(saltusi_decision* d, int n) {
  for (int i = 0; i < n; i++) {
    d->lcp_q[i] += d->lcp_kind[i] == NORMAL ? 1e-9 : 0.0;
  }
  return saltusi_lcp_lemke(&d->lcp, n, d->lcp_M, d->lcp_q, d->lcp_z);
}

/* Solves for the contacts of d->set with u_free by contact row; bound [nc] is friction that is
 * available besides mu l_N, or NULL. Impulses (or forces) in d->impulse, slips in d->slack, the
 * change of v (or of a) in d->change. */
static saltus_status solve(saltusi_decision* d, int count, const double* u_free,
                           const double* bound) {
  if (saltusi_is_spatial(d, count)) {
    return saltusi_spatial_solve(d, count, u_free);
  }
  int n = list_unknowns(d, count);
  d->mode->counts->decisions++;
  d->mode->eval->work.contact_solves++;
  make_columns(d, n);
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    int key = d->lcp_key[i];
    const double* u = u_free + d->o->base[key];
    double b = d->lcp_kind[i] == NORMAL  ? u[0]
               : d->lcp_kind[i] == PLUS  ? u[1]
               : d->lcp_kind[i] == MINUS ? -u[1]
               : bound != NULL           ? bound[key]
                                         : 0.0;
    d->lcp_q[i] = b * d->lcp_scale[i];
    largest = fmax(largest, fabs(d->lcp_q[i]));
    for (int j = 0; j < n; j++) {
      double entry = row_times(d, i, x_of(d, j)) + law_entry(d, i, j);
      d->lcp_M[i * n + j] = entry * d->lcp_scale[i] * d->lcp_scale[j];
    }
  }
  memset(d->impulse, 0, (size_t)d->o->nl * sizeof(double));
  memset(d->slack, 0, (size_t)d->o->nc * sizeof(double));
  memset(d->change, 0, (size_t)d->o->nv * sizeof(double));
  if (largest == 0.0) {
    return SALTUS_OK;
  }
  for (int i = 0; i < n; i++) {
    d->lcp_q[i] /= largest;
  }
  saltusi_lcp_result result = saltusi_lcp_lemke(&d->lcp, n, d->lcp_M, d->lcp_q, d->lcp_z);
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    result = solve_wedge(d, n);
  }
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    return SALTUS_RETRY_SMALLER;
  }
  for (int i = 0; i < n; i++) {
    double z = d->lcp_z[i] * largest * d->lcp_scale[i];
    int key = d->lcp_key[i];
    double* l = d->impulse + d->o->base[key];
    saltusi_add_scaled(d->o->nv, z, x_of(d, i), d->change);
    switch (d->lcp_kind[i]) {
    case NORMAL:
      l[0] = z;
      for (int k = 0; d->sense[key] != 0.0 && d->o->mu[key] > 0.0 && k < d->o->tangents[key]; k++) {
        double along = d->o->tangents[key] == 1 ? d->sense[key] : d->direction[2 * key + k];
        l[1 + k] = -d->o->mu[key] * along * z;
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
    double scale = d->lcp_kind[i] == NORMAL ? 1.0 / d->lcp_scale[i] : 0.0;
    d->residual = fmax(d->residual, result.residual * largest * scale);
  }
  return SALTUS_OK;
}

/* ---- status -------------------------------------------------------------------------------- */

/* Whether a row is independent of those accepted so far, in the metric of M^-1; then it joins. */
static bool is_independent(saltusi_decision* d, int row, int* rank) {
  size_t nv = (size_t)d->o->nv;
  double* g = d->change;
  double* x = d->v_spare;
  memset(g, 0, nv * sizeof(double));
  saltusi_row_add(&d->mode->row, row, 1.0, g);
  memcpy(x, g, nv * sizeof(double));
  saltusi_linear_solve(d->mode->eval, &d->mode->mass, x);
  double size = sqrt(fmax(0.0, saltusi_dot(d->o->nv, g, x)));
  if (*rank >= d->o->nv) {
    return false;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < *rank; k++) {
      const double* b = d->basis + (size_t)(2 * k) * nv;
      double part = saltusi_dot(d->o->nv, g, b + nv);
      saltusi_add_scaled(d->o->nv, -part, b, g);
    }
  }
  memcpy(x, g, nv * sizeof(double));
  saltusi_linear_solve(d->mode->eval, &d->mode->mass, x);
  double rest = sqrt(fmax(0.0, saltusi_dot(d->o->nv, g, x)));
  if (!(rest > dependent_row * size)) {
    return false;
  }
  double* b = d->basis + (size_t)(2 * *rank) * nv;
  for (int i = 0; i < d->o->nv; i++) {
    b[i] = g[i] / rest;
    b[d->o->nv + i] = x[i] / rest;
  }
  (*rank)++;
  return true;
}

/* 0: friction inside its bounds, 1: at a bound, 2: none. */
static int friction_class(const saltusi_decision* d, int key) {
  const double* l = d->impulse + d->o->base[key];
  double bound = d->o->mu[key] * l[0];
  double size = fabs(l[1]);
  return size <= 1e-12 * bound ? 2 : size >= bound * (1.0 - 1e-10) ? 1 : 0;
}

/* Sticking contacts whose rows depend on others become passive; contacts that carry nothing keep
 * their row when it is independent (section 4.3, rank pass). */
static void rank_pass(saltusi_decision* d, int count) {
  int rank = 0;
  for (int j = 0; j < d->o->nj; j++) {
    is_independent(d, j, &rank);
  }
  for (int i = 0; i < count; i++) {
    if (saltusi_is_pressed(&d->contact[d->set[i]])) {
      is_independent(d, d->o->nj + d->o->base[d->set[i]], &rank);
    }
  }
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (d->contact[key].mode == SALTUSI_IDLE &&
        is_independent(d, d->o->nj + d->o->base[key], &rank)) {
      bool slip = d->sense[key] != 0.0 || d->o->mu[key] == 0.0;
      d->contact[key].mode = slip ? SALTUSI_SLIP : SALTUSI_STICK;
      d->contact[key].sense = d->sense[key] != 0.0 ? d->sense[key] : 1.0;
    }
  }
  for (int order = 0; order <= 2; order++) {
    for (int i = 0; i < count; i++) {
      int key = d->set[i];
      if (d->contact[key].mode != SALTUSI_STICK || friction_class(d, key) != order ||
          is_independent(d, d->o->nj + d->o->base[key] + 1, &rank)) {
        continue;
      }
      d->contact[key].mode = order == 1 ? SALTUSI_STICK_BOUND : SALTUSI_STICK_IDLE;
      d->contact[key].sense = d->impulse[d->o->base[key] + 1] > 0.0 ? -1.0 : 1.0;
    }
  }
}

/* Status of one contact from its force, its acceleration and its slip. */
static void classify(saltusi_decision* d, int key, double force_size, double acceleration_size) {
  const double* l = d->impulse + d->o->base[key];
  saltusi_contact* c = &d->contact[key];
  if (l[0] <= no_force * force_size) {
    bool still = fabs(d->u_after[d->o->base[key]]) <= no_acceleration * acceleration_size;
    c->mode = still && force_size > 0.0 ? SALTUSI_IDLE : SALTUSI_OPEN;
  } else if (d->sense[key] != 0.0 || d->o->mu[key] == 0.0) {
    c->mode = SALTUSI_SLIP;
    c->sense = d->sense[key] != 0.0 ? d->sense[key] : 1.0;
  } else if (d->blocked[key]) {
    c->mode = SALTUSI_STICK_IDLE;
  } else if (d->slack[key] > no_slip * acceleration_size) {
    c->mode = SALTUSI_SLIP;
    c->sense = l[1] > 0.0 ? -1.0 : 1.0;
  } else {
    c->mode = SALTUSI_STICK;
  }
}

/* Spatial contacts at their bound slide when another one does: at the onset their accelerations are too
 * small to see, and a rigid body cannot slide at some of its supports only. */
static void slide_together(saltusi_decision* d, int count) {
  const double at_bound = 1e-6;
  bool any = false;
  for (int i = 0; i < count; i++) {
    any = any || (d->o->tangents[d->set[i]] == 2 && d->contact[d->set[i]].mode == SALTUSI_SLIP);
  }
  for (int i = 0; any && i < count; i++) {
    int key = d->set[i];
    const double* l = d->impulse + d->o->base[key];
    if (d->o->tangents[key] == 2 && d->contact[key].mode == SALTUSI_STICK &&
        hypot(l[1], l[2]) >= d->o->mu[key] * l[0] * (1.0 - at_bound)) {
      d->contact[key].mode = SALTUSI_SLIP;
      d->contact[key].sense = 1.0;
    }
  }
}

/* u = R a + c (or R v + b) of every contact row. */
static void row_values(const saltusi_decision* d, const double* x, const double* shift, double* u) {
  for (int r = 0; r < d->o->nl; r++) {
    u[r] = saltusi_row_dot(&d->mode->row, d->o->nj + r, x) + shift[d->o->nj + r];
  }
}

saltus_status saltusi_decide_status(saltusi_decision* d, double t, const double* y, int count) {
  if (count == 0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_free(d->mode, t, y, d->free_acc);
  if (status == SALTUS_OK) {
    status = saltusi_mode_joints(d->mode, t, y);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(d->mode, t, y, true);
  row_values(d, d->free_acc, d->mode->row.c, d->u_before);
  status = solve(d, count, d->u_before, NULL);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < d->o->nv; i++) {
    d->v_spare[i] = d->free_acc[i] + d->change[i];
  }
  row_values(d, d->v_spare, d->mode->row.c, d->u_after);
  double force_size = 0.0;
  double acceleration_size = DBL_MIN;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    force_size = fmax(force_size, d->impulse[d->o->base[key]]);
    for (int k = 0; k <= d->o->tangents[key]; k++) {
      acceleration_size = fmax(acceleration_size, fabs(d->u_before[d->o->base[key] + k]));
    }
  }
  bool redundant = false;
  for (int i = 0; i < count; i++) {
    classify(d, d->set[i], force_size, acceleration_size);
    saltusi_contact_mode mode = d->contact[d->set[i]].mode;
    redundant = redundant || mode == SALTUSI_STICK || mode == SALTUSI_IDLE;
  }
  slide_together(d, count);
  if (redundant && !saltusi_is_spatial(d, count)) { /* those spread forces over dependent rows */
    rank_pass(d, count);
  }
  return SALTUS_OK;
}

/* ---- impacts ------------------------------------------------------------------------------- */

/* Restitution as it is used now: capped impacts take a part of it. */
static double restitution(const saltusi_decision* d, int key) {
  return d->e_part * d->o->law[key]->e_N;
}

static bool is_poisson(const saltusi_decision* d, int key) {
  return (d->wedged || d->o->law[key]->impact == SALTUS_IMPACT_POISSON) &&
         restitution(d, key) > 0.0;
}

/* Right-hand sides of an impact: Newton's law by u_N + e_N min(u_N-, 0), tangential restitution by
 * u_T + e_T u_T- (section 6). u is the velocity now, before that before the impact. */
static void impact_data(const saltusi_decision* d, const double* before, double* u) {
  for (int key = 0; key < d->o->nc; key++) {
    const saltus_contact_law* law = d->o->law[key];
    int r = d->o->base[key];
    u[r] += is_poisson(d, key) ? 0.0 : restitution(d, key) * fmin(before[r], 0.0);
    for (int k = 1; k <= d->o->tangents[key]; k++) {
      u[r + k] += law->e_T * before[r + k];
    }
  }
}

static void no_senses(saltusi_decision* d) {
  memset(d->sense, 0, (size_t)d->o->nc * sizeof(double));
}

/* Decompression: e_N times the normal impulse of compression comes back, and what then still
 * approaches is stopped; friction also acts on the impulse that came back (section 6). */
static saltus_status decompress(saltusi_decision* d, double* v, int count) {
  memcpy(d->compression, d->impulse, (size_t)d->o->nl * sizeof(double));
  memset(d->bound, 0, (size_t)d->o->nc * sizeof(double));
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    double back = is_poisson(d, key) ? restitution(d, key) * d->impulse[d->o->base[key]] : 0.0;
    saltusi_mode_response(d->mode, d->o->nj + d->o->base[key], d->change);
    saltusi_add_scaled(d->o->nv, back, d->change, v);
    d->bound[key] = d->o->mu[key] * back;
    d->compression[d->o->base[key]] += back;
  }
  row_values(d, v, d->mode->row.b, d->u_after);
  impact_data(d, d->u_before, d->u_after);
  saltus_status status = solve(d, count, d->u_after, d->bound);
  if (status == SALTUS_OK) {
    saltusi_add_scaled(d->o->nv, 1.0, d->change, v);
    saltusi_add_scaled(d->o->nl, 1.0, d->compression, d->impulse);
  }
  return status;
}

/* Impulses of the joints that answer those of the contacts: P_E = -(G_E^T M^-1 G_E)^-1 G_E^T M^-1 H P. */
static void find_joint_impulses(saltusi_decision* d) {
  int nj = d->o->nj;
  if (nj == 0) {
    return;
  }
  memset(d->v_spare, 0, (size_t)d->o->nv * sizeof(double));
  for (int r = 0; r < d->o->nl; r++) {
    saltusi_row_add(&d->mode->row, nj + r, d->impulse[r], d->v_spare);
  }
  saltusi_linear_solve(d->mode->eval, &d->mode->mass, d->v_spare);
  saltusi_mode_joint_answer(d->mode, d->v_spare, d->joint_impulse);
  for (int j = 0; j < nj; j++) {
    d->joint_impulse[j] = -d->joint_impulse[j];
  }
}

/* Slip senses of an impact in which every contact with friction slides, Newton's law: the tangents then are no
 * unknowns, and their velocities cannot hide small normal ones in the tolerance of the problem (section
 * 14.5b). False when the senses are not known. */
static bool known_senses(saltusi_decision* d, int count) {
  double slow = saltusi_slip_rounding(d);
  bool any = false;
  no_senses(d);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (is_poisson(d, key) || d->o->law[key]->e_T != 0.0) {
      return false;
    }
    if (d->o->mu[key] == 0.0) {
      continue;
    }
    double slip = d->u_before[d->o->base[key] + 1];
    if (d->o->tangents[key] != 1 || fabs(slip) <= slow) {
      return false;
    }
    d->sense[key] = slip > 0.0 ? 1.0 : -1.0;
    any = true;
  }
  return any;
}

/* Whether all of them slide on as they did. */
static bool senses_hold(saltusi_decision* d, int count, const double* v) {
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    int row = d->o->nj + d->o->base[key] + 1;
    if (d->sense[key] == 0.0) {
      continue;
    }
    double slip = saltusi_row_dot(&d->mode->row, row, v) +
                  saltusi_row_dot(&d->mode->row, row, d->change) + d->mode->row.b[row];
    if (!(d->sense[key] * slip > 0.0)) {
      return false;
    }
  }
  return true;
}

/* The jump of v, from velocities in d->u_before. */
static saltus_status impact(saltusi_decision* d, double* v, int count) {
  memcpy(d->u_after, d->u_before, (size_t)d->o->nl * sizeof(double));
  impact_data(d, d->u_before, d->u_after);
  saltus_status status = SALTUS_RETRY_SMALLER;
  if (known_senses(d, count)) {
    status = solve(d, count, d->u_after, NULL);
    if (status == SALTUS_OK && !senses_hold(d, count, v)) {
      status = SALTUS_RETRY_SMALLER;
    }
  }
  if (status == SALTUS_RETRY_SMALLER) {
    no_senses(d);
    status = solve(d, count, d->u_after, NULL);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_add_scaled(d->o->nv, 1.0, d->change, v);
  bool poisson = false;
  for (int i = 0; i < count; i++) {
    poisson = poisson || is_poisson(d, d->set[i]);
  }
  return poisson ? decompress(d, v, count) : SALTUS_OK;
}

/* Energy that the contacts gave in the impact, P . (u- + u+) / 2; 0 within rounding. */
static double gain_of(saltusi_decision* d, const double* v) {
  double work = 0.0;
  double size = 0.0;
  row_values(d, v, d->mode->row.b, d->u_after);
  for (int r = 0; r < d->o->nl; r++) {
    work += 0.5 * d->impulse[r] * (d->u_before[r] + d->u_after[r]);
    size += 0.5 * fabs(d->impulse[r]) * (fabs(d->u_before[r]) + fabs(d->u_after[r]));
  }
  return work > 1e-11 * size ? work : 0.0;
}

/* The contact that gave most: the one that a report names. */
static int giver_of(const saltusi_decision* d, int count) {
  double most = -INFINITY;
  int giver = d->set[0];
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    double work = 0.0;
    for (int k = 0; k <= d->o->tangents[key]; k++) {
      int r = d->o->base[key] + k;
      work += 0.5 * d->impulse[r] * (d->u_before[r] + d->u_after[r]);
    }
    giver = work > most ? key : giver;
    most = fmax(most, work);
  }
  return giver;
}

/* The impact again from v_before with another law or a part of the restitution. */
static saltus_status impact_again(saltusi_decision* d, double* v, int count, bool poisson,
                                  double part) {
  memcpy(v, d->v_impact, (size_t)d->o->nv * sizeof(double));
  d->wedged = poisson;
  d->e_part = part;
  saltus_status status = impact(d, v, count);
  d->wedged = false;
  d->e_part = 1.0;
  return status;
}

/* The largest part of the restitution found without gain, by bisection; none of it never gains. */
static saltus_status cap(saltusi_decision* d, double* v, int count) {
  enum { HALVINGS = 50 };
  double lo = 0.0;
  double hi = 1.0;
  for (int k = 0; k < HALVINGS; k++) {
    double part = 0.5 * (lo + hi);
    saltus_status status = impact_again(d, v, count, false, part);
    bool gains = status == SALTUS_OK && gain_of(d, v) > 0.0;
    *(status != SALTUS_OK || gains ? &hi : &lo) = part;
  }
  return impact_again(d, v, count, false, lo);
}

/* What to do about an impact that gave energy (docs/schemes/adaptive.md). *replaced: another law decided. */
static saltus_status answer_gain(saltusi_decision* d, double* v, int count, bool* replaced) {
  switch (d->o->settings.on_energy_gain) {
  case SALTUS_GAIN_CAP:
    *replaced = true;
    return cap(d, v, count);
  case SALTUS_GAIN_POISSON:
    *replaced = true;
    return impact_again(d, v, count, true, 1.0);
  case SALTUS_GAIN_ENERGETIC:
    *replaced = true;
    memcpy(v, d->v_impact, (size_t)d->o->nv * sizeof(double));
    return saltusi_energetic_impact(d, v, count);
  default:
    return SALTUS_OK;
  }
}

static saltus_status stop_for_gain(saltusi_decision* d, double t, int key, double gain) {
  saltusi_log(
      d->log, SALTUS_LEVEL_ERROR,
      "adaptive: the impact at contact %s, t = %.17g s, would create %g J: Newton's law with "
      "friction can; on_energy_gain offers other answers than stop",
      saltusi_contact_name(d->o, key), t, gain);
  return SALTUS_ERR_LAW;
}

/* Joints and friction can wedge a body: impulses along a ray H l = 0, l_N > 0, l_T within the cone,
 * balance each other and move nothing. Newton's law asks for l . (u- + e u_N-) >= 0 on it, which is
 * e l_N u_N- < 0: it has no solution. Poisson's compression asks for l . u- = 0, which always holds: it
 * takes such impacts, and that is reported. With friction Newton's law can also give energy; it is obeyed
 * unless the settings say otherwise, and that is reported, too. */
saltus_status saltusi_decide_impact(saltusi_decision* d, double t, double* y, int count,
                                    saltusi_verdict* verdict) {
  double* v = y + d->o->nq;
  *verdict = (saltusi_verdict){.contact = -1};
  saltus_status status = saltusi_mode_joints(d->mode, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(d->mode, t, y, true);
  saltusi_mode_hold_joints(d->mode, v, NULL); /* positions may have been corrected since */
  row_values(d, v, d->mode->row.b, d->u_before);
  memcpy(d->v_impact, v, (size_t)d->o->nv * sizeof(double));
  status = impact(d, v, count);
  if (status == SALTUS_RETRY_SMALLER) {
    verdict->replaced = true;
    status = impact_again(d, v, count, true, 1.0);
  }
  double gain = status == SALTUS_OK ? gain_of(d, v) : 0.0;
  if (gain > 0.0) {
    verdict->contact = giver_of(d, count);
    if (d->o->settings.on_energy_gain == SALTUS_GAIN_STOP) {
      return stop_for_gain(d, t, verdict->contact, gain);
    }
    status = answer_gain(d, v, count, &verdict->replaced);
    verdict->of_law = gain;
    verdict->gain = status == SALTUS_OK ? gain_of(d, v) : 0.0;
  }
  if (status == SALTUS_OK) {
    verdict->contact = verdict->contact < 0 ? d->set[0] : verdict->contact;
    find_joint_impulses(d);
    row_values(d, v, d->mode->row.b, d->u_after);
  }
  return status;
}

/* Impulses that stop an approach of `push` besides the velocities as they are, without restitution. */
static saltus_status solve_pushed(saltusi_decision* d, int count, double push) {
  memcpy(d->u_after, d->u_before, (size_t)d->o->nl * sizeof(double));
  for (int key = 0; key < d->o->nc; key++) {
    double* u = d->u_after + d->o->base[key];
    u[0] = fmin(u[0], 0.0) - push;
  }
  no_senses(d);
  return solve(d, count, d->u_after, NULL);
}

/* The push only selects the branch on which all pressed contacts stick: the data as they are belong to
 * no push, and on one branch the impulses depend on it linearly. */
static saltus_status without_push(saltusi_decision* d, double t, double* y, int count,
                                  double push) {
  memcpy(d->compression, d->impulse, (size_t)d->o->nl * sizeof(double));
  saltus_status status = solve_pushed(d, count, 0.5 * push);
  for (int r = 0; r < d->o->nl; r++) {
    d->impulse[r] = 2.0 * d->impulse[r] - d->compression[r];
  }
  return status == SALTUS_OK ? saltusi_mode_project(d->mode, t, y) : status;
}

saltus_status saltusi_decide_painleve(saltusi_decision* d, double t, double* y, int count) {
  double* v = y + d->o->nq;
  saltus_status status = saltusi_mode_joints(d->mode, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(d->mode, t, y, true);
  saltusi_mode_hold_joints(d->mode, v, NULL); /* positions may have been corrected since */
  row_values(d, v, d->mode->row.b, d->u_before);
  /* with U = 0 exactly no impulse is a solution as well: a small approach selects the other */
  double push = 1e-6 * fmax(saltusi_max_abs(d->o->nv, v), DBL_MIN);
  status = solve_pushed(d, count, push);
  if (status != SALTUS_OK) {
    return status;
  }
  bool all_stick = true;
  memcpy(d->kept, d->contact, (size_t)d->o->nc * sizeof *d->contact);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    bool pressed = d->impulse[d->o->base[key]] > 0.0;
    bool sticks = d->slack[key] == 0.0 && d->o->mu[key] > 0.0;
    d->contact[key].mode = pressed ? SALTUSI_STICK : SALTUSI_OPEN;
    all_stick = all_stick && (!pressed || sticks);
  }
  if (all_stick) {
    status = without_push(d, t, y, count, push);
  } else {
    saltusi_add_scaled(d->o->nv, 1.0, d->change, v);
  }
  memcpy(d->contact, d->kept, (size_t)d->o->nc * sizeof *d->contact);
  saltusi_mode_rows(d->mode, t, y, true);
  row_values(d, v, d->mode->row.b, d->u_after);
  return status;
}
