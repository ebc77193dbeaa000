/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide.c - complementarity problems: which status follows an event (on accelerations and forces) and how
 * velocities jump (on velocities and impulses); sections 4.3, 6, 7. Independent parts are decided island by island
 * (decide_planar.c, decide_spatial.c).
 */
#include "adaptive/mode/decide.h"
#include "adaptive/mode/friction_mode.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Multipliers below this fraction of the largest are zero: rounding of Lemke's method. Accelerations below these
 * fractions of the largest are zero, normal and tangential: rounding times the condition number of W, 1e4 and 1e3
 * (section 4.3). */
static const double no_force = 1e-13;
static const double no_acceleration = 1e-9;
static const double no_slip = 1e-10;
/* Energy below this fraction of the work in both directions is rounding of a sum over all rows. */
static const double no_gain = 1e-11;
/* Approach velocity, relative to the largest velocity, that selects the branch of an impact without collision; it
 * is extrapolated to zero afterwards: rounding of velocities is 2e-10 of it. */
static const double small_push = 1e-6;
/* Initial capacity: rows of a problem, in an island of so many velocities. */
enum { ROWS_FIRST = 64, WIDTH_FIRST = 192 };

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static void layout_problem(saltusi_decision* d, const saltusi_layout_tables* o,
                           const saltusi_step_capacity* room, saltus_arena* arena) {
  bool tangents = o->tangents_max > 0;
  size_t nc = (size_t)o->nc;
  size_t nv = (size_t)o->nv;
  size_t rows = saltusi_capacity_of(room, SALTUSI_CAPACITY_ROWS, ROWS_FIRST);
  int n = (int)smaller(nc * (tangents ? 4 : 1), rows * (tangents ? 2 : 1));
  size_t entries =
      saltusi_capacity_of(room, SALTUSI_CAPACITY_FILL, (size_t)n * smaller(nv, WIDTH_FIRST));
  d->lcp_max = n;
  d->entries_max = smaller((size_t)n * nv, entries);
  size_t basis = 2 * smaller(nv, ROWS_FIRST) * smaller(nv, WIDTH_FIRST);
  d->basis_max = smaller(2 * nv * nv, saltusi_capacity_of(room, SALTUSI_CAPACITY_FILL, basis));
  d->basis_max = d->basis_max < 2 * (size_t)n ? 2 * (size_t)n : d->basis_max;
  saltusi_lcp_layout(&d->lcp, n, arena);
  d->lcp_M = SALTUS_PUSH2(arena, double, n, n);
  d->lcp_q = SALTUS_PUSH(arena, double, n);
  d->lcp_z = SALTUS_PUSH(arena, double, n);
  d->lcp_scale = SALTUS_PUSH(arena, double, n);
  d->lcp_row = SALTUS_PUSH(arena, int, n);
  d->lcp_kind = SALTUS_PUSH(arena, int, n);
  d->lcp_key = SALTUS_PUSH(arena, int, n);
  d->lcp_X = SALTUS_PUSH(arena, double, d->entries_max);
  d->basis = SALTUS_PUSH(arena, double, d->basis_max);
  d->units_max = 0;
  if (o->tangents_max >= 2) {
    d->units_max = (int)smaller(nc, rows);
  } else if (tangents) {
    d->units_max = (int)smaller(nc, saltusi_capacity_of(room, SALTUSI_CAPACITY_ITERATED, 0));
  }
  if (d->units_max > 0) {
    int each = 1 + (int)smaller((size_t)o->tangents_max, 2);
    size_t all = (size_t)each * (size_t)d->units_max;
    saltusi_friction_step_layout(&d->friction, d->units_max, each, (int)smaller((size_t)o->nl, all),
                                 arena);
  }
}

void saltusi_decision_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                             const saltusi_step_capacity* room, saltus_arena* arena) {
  assert(d != NULL && o != NULL && room != NULL && arena != NULL);
  int nc = o->nc;
  d->e_part = 1.0;
  d->grip_part = 1.0;
  d->set = SALTUS_PUSH(arena, int, nc);
  d->part = SALTUS_PUSH(arena, int, nc);
  d->sense = SALTUS_PUSH(arena, double, nc);
  d->direction = SALTUS_PUSH(arena, double, SALTUSI_SLIPS* nc);
  d->mu = SALTUS_PUSH(arena, double, nc);
  d->share = SALTUS_PUSH(arena, double, nc);
  d->curve = SALTUS_PUSH(arena, saltusi_curve, nc);
  d->begun = SALTUS_PUSH(arena, bool, nc);
  d->impulse = SALTUS_PUSH(arena, double, o->nl);
  d->slack = SALTUS_PUSH(arena, double, nc);
  d->u_before = SALTUS_PUSH(arena, double, o->nl);
  d->u_after = SALTUS_PUSH(arena, double, o->nl);
  d->joint_impulse = SALTUS_PUSH(arena, double, o->nj);
  layout_problem(d, o, room, arena);
  d->unit_first = SALTUS_PUSH(arena, int, nc + 1);
  d->unit_mu = SALTUS_PUSH(arena, double, nc);
  d->compression = SALTUS_PUSH(arena, double, o->nl);
  d->bound = SALTUS_PUSH(arena, double, nc);
  d->blocked = SALTUS_PUSH(arena, bool, nc);
  d->spread = SALTUS_PUSH(arena, bool, nc);
  d->change = SALTUS_PUSH(arena, double, o->nv);
  d->free_acc = SALTUS_PUSH(arena, double, o->nv);
  d->x = SALTUS_PUSH(arena, double, o->nv);
  d->v_spare = SALTUS_PUSH(arena, double, o->nv);
  d->v_impact = SALTUS_PUSH(arena, double, o->nv);
  d->kept = SALTUS_PUSH(arena, saltusi_contact, nc);
}

const char* saltusi_contact_name(const saltusi_layout_tables* o, int key) {
  assert(o != NULL && key >= 0);
  const char* name = o->law[key]->name;
  return name != NULL && name[0] != '\0' ? name : "without a name";
}

/* Slip below a hundredth of the tolerance of velocities, or below the rounding of v, is zero: a contact row sums
 * some products of v and G. */
double saltusi_slip_rounding(const saltusi_decision* d) {
  assert(d != NULL);
  return fmax(0.01 * d->o->atol_v_min, 256.0 * DBL_EPSILON * d->memory->v_max);
}

/* The contacts of an island. */
static int list_contacts(saltusi_decision* d, const saltusi_island* in) {
  int count = 0;
  for (int i = in->first; i < in->first + in->n; i++) {
    if (d->mode->reduced.key[i] >= 0) {
      d->part[count++] = d->mode->reduced.key[i];
    }
  }
  return count;
}

saltus_status saltusi_decision_workspace(saltusi_decision* d, const saltusi_island* in, int n) {
  assert(d != NULL && in != NULL && n >= 0);
  saltusi_step_capacity* room = &d->mode->eval->room;
  if (n > d->lcp_max) {
    size_t each = d->o->tangents_max > 0 ? 2 : 1; /* unknowns of a row */
    return saltusi_capacity_lacks(room, SALTUSI_CAPACITY_ROWS, ((size_t)n + each - 1) / each);
  }
  size_t entries = (size_t)n * (size_t)in->k;
  return entries > d->entries_max ? saltusi_capacity_lacks(room, SALTUSI_CAPACITY_FILL, entries)
                                  : SALTUS_OK;
}

/* Whether a contact has different ellipses for sticking and sliding. */
static bool has_axes(const saltusi_decision* d, const int* set, int count) {
  double m;
  double n;
  bool any = false;
  for (int i = 0; i < count && !any; i++) {
    any = saltusi_friction_mode_axes(d->o, set[i], &m, &n);
  }
  return any;
}

/* Solves for the contacts of d->set, for which saltusi_reduce was called, island by island: u_free by contact row;
 * bound [nc] is friction in addition to mu l_N, or NULL. */
static saltus_status solve(saltusi_decision* d, int count, const double* u_free,
                           const double* bound) {
  saltus_status status = SALTUS_OK;
  memset(d->impulse, 0, (size_t)d->o->nl * sizeof(double));
  memset(d->slack, 0, (size_t)d->o->nc * sizeof(double));
  memset(d->change, 0, (size_t)d->o->nv * sizeof(double));
  for (int i = 0; i < count; i++) {
    d->blocked[d->set[i]] = false;
    d->spread[d->set[i]] = false;
  }
  int islands = saltusi_reduced_islands(d->mode);
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    saltusi_problem p = {.in = saltusi_reduced_island(d->mode, c),
                         .island = c,
                         .set = d->part,
                         .u_free = u_free,
                         .bound = bound,
                         .limit = d->lasting ? 1.0 : 0.0};
    p.count = list_contacts(d, &p.in);
    if (p.count > 0) {
      bool large =
          saltusi_is_large(d->mode, &p.in) && bound == NULL && !has_axes(d, p.set, p.count);
      bool spatial = saltusi_is_spatial(d, p.set, p.count);
      bool balls = saltusi_has_balls(d, p.set, p.count);
      status = balls     ? saltusi_decide_balls(d, &p)
               : large   ? saltusi_decide_large(d, &p)
               : spatial ? saltusi_decide_spatial(d, &p)
                         : saltusi_decide_planar(d, &p);
    }
  }
  return status;
}

/* ---- status -------------------------------------------------------------------------------- */

/* Status of one contact from its force, its acceleration and its slip. */
static void classify(saltusi_decision* d, int key, double force_size, double acceleration_size) {
  const double* l = d->impulse + d->o->base[key];
  saltusi_contact* c = &d->contact[key];
  bool grips = saltusi_is_friction_mode(d->o, key);
  saltusi_keep_forces(c, d->o->tangents[key], !grips && d->spread[key] ? l : NULL);
  if (grips && !saltusi_is_pressed(&d->contact[d->o->parent[key]])) {
    c->mode = SALTUSI_OPEN;
  } else if (!grips && l[0] <= no_force * force_size && !saltusi_is_dry(d->o, key)) {
    bool still = fabs(d->u_after[d->o->base[key]]) <= no_acceleration * acceleration_size;
    c->mode = still && force_size > 0.0 ? SALTUSI_IDLE : SALTUSI_OPEN;
  } else if (d->sense[key] != 0.0 || d->mu[key] == 0.0) {
    c->mode = SALTUSI_SLIP;
    c->sense = d->sense[key] != 0.0 ? d->sense[key] : 1.0;
  } else if (d->blocked[key]) {
    c->mode = SALTUSI_STICK_IDLE;
  } else if (d->slack[key] > no_slip * acceleration_size) {
    c->mode = SALTUSI_SLIP;
    c->sense = l[1] > 0.0 ? -1.0 : 1.0;
  } else {
    /* the ball of a patch contains its friction set */
    bool slips = saltusi_friction_mode_is_beside(d->o, key) &&
                 saltusi_friction_mode_size(d->o, key, l + 1) > d->mu[key] * l[0] * (1.0 + no_slip);
    c->mode = slips ? SALTUSI_SLIP : SALTUSI_STICK;
    c->sense = slips ? 1.0 : c->sense;
  }
}

/* u = R a + c (or R v + b) of every contact row. */
static void row_values(const saltusi_decision* d, const double* x, const double* shift, double* u) {
  for (int r = 0; r < d->o->nl; r++) {
    u[r] = saltusi_row_dot(&d->mode->row, d->o->nj + r, x) + shift[d->o->nj + r];
  }
}

/* The largest acceleration of the rolling and drilling friction of a contact. */
static double grip_accelerations(const saltusi_decision* d, int key) {
  double largest = 0.0;
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(d->o, key, k);
    for (int i = 1; grip >= 0 && i <= d->o->tangents[grip]; i++) {
      largest = fmax(largest, fabs(d->u_before[d->o->base[grip] + i]));
    }
  }
  return largest;
}

/* The statuses of an island from the forces and accelerations in it. */
static saltus_status classify_island(saltusi_decision* d, const saltusi_island* in) {
  int count = list_contacts(d, in);
  double force_size = 0.0;
  double acceleration_size = DBL_MIN;
  for (int i = 0; i < count; i++) {
    int key = d->part[i];
    force_size = fmax(force_size, d->impulse[d->o->base[key]]);
    for (int k = 0; k <= d->o->tangents[key]; k++) {
      acceleration_size = fmax(acceleration_size, fabs(d->u_before[d->o->base[key] + k]));
    }
    acceleration_size = fmax(acceleration_size, grip_accelerations(d, key));
  }
  bool redundant = false;
  for (int i = 0; i < count; i++) {
    classify(d, d->part[i], force_size, acceleration_size);
    for (int k = 0; k < SALTUSI_GRIPS; k++) {
      int grip = saltusi_friction_mode_of(d->o, d->part[i], k);
      if (grip >= 0) {
        classify(d, grip, force_size, acceleration_size);
      }
    }
    saltusi_contact_mode mode = d->contact[d->part[i]].mode;
    redundant = redundant || mode == SALTUSI_STICK || mode == SALTUSI_IDLE;
  }
  saltusi_slide_together(d, count);
  /* those in space and large islands distribute the load over dependent rows */
  bool spread = saltusi_is_spatial(d, d->part, count) || saltusi_is_large(d->mode, in) ||
                saltusi_has_balls_of_contacts(d, d->part, count) ||
                (count > 0 && d->spread[d->part[0]]);
  return redundant && !spread ? saltusi_rank_pass(d, in, count) : SALTUS_OK;
}

/* Solves the problem and classifies the statuses, from accelerations without the contacts in d->u_before. */
static saltus_status decide_once(saltusi_decision* d, int count) {
  saltus_status status = solve(d, count, d->u_before, NULL);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < d->o->nv; i++) {
    d->v_spare[i] = d->free_acc[i] + d->change[i];
  }
  row_values(d, d->v_spare, d->mode->row.c, d->u_after);
  for (int c = 0; c < saltusi_reduced_islands(d->mode) && status == SALTUS_OK; c++) {
    saltusi_island in = saltusi_reduced_island(d->mode, c);
    status = classify_island(d, &in);
  }
  return status;
}

saltus_status saltusi_decide_status(saltusi_decision* d, double t, const double* y, int count) {
  assert(d != NULL && count >= 0);
  if (count == 0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_free(d->mode, t, y, d->free_acc);
  if (status == SALTUS_OK) {
    status = saltusi_reduce(d->mode, t, y, true, d->set, count);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  d->lasting = true;
  saltusi_load_slips(d, saltusi_v_of(d->o, y), count);
  memset(d->begun, 0, (size_t)d->o->nc * sizeof(bool));
  row_values(d, d->free_acc, d->mode->row.c, d->u_before);
  status = decide_once(d, count);
  while (status == SALTUS_OK && saltusi_let_go(d, count)) { /* each time one more at least */
    status = decide_once(d, count);
  }
  for (int i = 0; i < count; i++) {
    d->sense[d->set[i]] = d->begun[d->set[i]] ? 0.0 : d->sense[d->set[i]];
  }
  d->lasting = false;
  return status;
}

bool saltusi_is_balanced(const saltusi_decision* d, int key) {
  assert(d != NULL && key >= 0);
  double size = saltusi_max_abs(d->o->nl, d->u_before);
  return fabs(d->u_after[d->o->base[key]]) <= no_acceleration * size;
}

/* ---- impacts ------------------------------------------------------------------------------- */

/* Effective restitution: capped impacts use a fraction of it. */
static double restitution(const saltusi_decision* d, int key) {
  return d->e_part * d->o->law[key]->e_N;
}

static bool is_poisson(const saltusi_decision* d, int key) {
  return (d->wedged || d->o->law[key]->impact == SALTUS_IMPACT_POISSON) &&
         restitution(d, key) > 0.0;
}

/* Right-hand sides of an impact: Newton's law by u_N + e_N min(u_N-, 0), tangential restitution by u_T + e_T u_T-
 * (section 6). u is the present velocity, before that before the impact. */
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

/* Decompression: e_N times the normal impulse of compression is returned, and contacts that still approach are
 * stopped; friction also acts on the returned impulse (section 6). */
static saltus_status decompress(saltusi_decision* d, double* v, int count) {
  memcpy(d->compression, d->impulse, (size_t)d->o->nl * sizeof(double));
  memset(d->bound, 0, (size_t)d->o->nc * sizeof(double));
  for (int c = 0; c < saltusi_reduced_islands(d->mode); c++) {
    saltusi_island in = saltusi_reduced_island(d->mode, c);
    int contacts = list_contacts(d, &in);
    for (int i = 0; i < contacts; i++) {
      int key = d->part[i];
      double back = is_poisson(d, key) ? restitution(d, key) * d->impulse[d->o->base[key]] : 0.0;
      saltusi_reduced_response(d->mode, c, d->o->nj + d->o->base[key], d->x);
      saltusi_island_scatter(&in, back, d->x, v);
      d->bound[key] = d->mu[key] * back;
      d->compression[d->o->base[key]] += back;
    }
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

/* Reaction impulses of the joints to those of the contacts: P_E = -(G_E^T M^-1 G_E)^-1 G_E^T M^-1 H P. */
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
  saltusi_reduced_answer(d->mode, d->v_spare, d->joint_impulse);
}

/* Signs of slip of an impact in which every contact with friction slides, Newton's law: the tangents then are no
 * unknowns, and their velocities cannot hide small normal ones in the tolerance of the problem (section 6). False
 * if the signs are undetermined. */
static bool known_senses(saltusi_decision* d, int count) {
  double slow = saltusi_slip_rounding(d);
  bool any = false;
  no_senses(d);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (is_poisson(d, key) || d->o->law[key]->e_T != 0.0) {
      return false;
    }
    if (d->mu[key] == 0.0) {
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

/* Whether all of them continue to slide in the same direction. */
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

/* The jump of v, from velocities in d->u_before, with coefficients in d->mu. */
static saltus_status impact_once(saltusi_decision* d, double* v, int count) {
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

/* The same with coefficients of the slip after the impact. */
static saltus_status impact(saltusi_decision* d, double* v, int count) {
  bool curved = saltusi_load_impact(d, count);
  for (int round = 0; round < SALTUSI_CURVE_ROUNDS_IMPACT; round++) {
    saltus_status status = impact_once(d, v, count);
    if (status != SALTUS_OK || !curved) {
      return status;
    }
    row_values(d, v, d->mode->row.b, d->u_after);
    if (!saltusi_follow_impact(d, count, round)) {
      return SALTUS_OK;
    }
    memcpy(v, d->v_impact, (size_t)d->o->nv * sizeof(double));
  }
  return SALTUS_ERR_STALLED;
}

/* Energy gain of the contacts in the impact, P . (u- + u+) / 2; 0 within rounding. */
static double gain_of(saltusi_decision* d, const double* v) {
  double work = 0.0;
  double size = 0.0;
  row_values(d, v, d->mode->row.b, d->u_after);
  for (int r = 0; r < d->o->nl; r++) {
    work += 0.5 * d->impulse[r] * (d->u_before[r] + d->u_after[r]);
    size += 0.5 * fabs(d->impulse[r]) * (fabs(d->u_before[r]) + fabs(d->u_after[r]));
  }
  return work > no_gain * size ? work : 0.0;
}

/* The contact with the largest energy gain, which reports name. */
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

/* The impact again from v_before with another law or a fraction of the restitution. */
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

/* The largest fraction of the restitution without an energy gain, by bisection; zero restitution never gains. */
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

/* The action on energy gains of the settings, else of the system. */
static saltus_energy_gain on_gain(const saltusi_decision* d) {
  const saltus_impacts* rule = d->mode->sys->impacts;
  saltus_energy_gain settings = d->o->settings.on_energy_gain;
  return settings != SALTUS_GAIN_REPORT || rule == NULL ? settings : rule->energy;
}

/* The impact by src/law. */
static saltus_status strike_by_law(saltusi_decision* d, double* v, saltusi_verdict* verdict) {
  const saltus_impacts* own = d->mode->sys->impacts;
  saltus_impacts rule = own != NULL ? *own : (saltus_impacts){0};
  rule.energy = on_gain(d);
  memcpy(v, d->v_impact, (size_t)d->o->nv * sizeof(double));
  *verdict = (saltusi_verdict){.contact = -1};
  return saltusi_law_impact(d, v, &rule, verdict);
}

/* Poisson's law with friction in space, or with rolling or drilling: only src/law has its decompression. */
static bool asks_for_law(const saltusi_decision* d, int count) {
  bool poisson = d->wedged || on_gain(d) == SALTUS_GAIN_POISSON;
  for (int i = 0; i < count; i++) {
    poisson = poisson || d->o->law[d->set[i]]->impact != SALTUS_IMPACT_NEWTON;
  }
  return d->special ||
         (poisson && (saltusi_is_spatial(d, d->set, count) || saltusi_has_balls(d, d->set, count)));
}

/* The action on an impact with an energy gain (docs/schemes/adaptive.md). */
static saltus_status answer_gain(saltusi_decision* d, double* v, int count,
                                 saltusi_verdict* verdict) {
  switch (on_gain(d)) {
  case SALTUS_GAIN_CAP:
    verdict->replaced = true;
    return cap(d, v, count);
  case SALTUS_GAIN_POISSON:
    verdict->replaced = true;
    return impact_again(d, v, count, true, 1.0);
  case SALTUS_GAIN_ENERGETIC:
  case SALTUS_GAIN_TANGENTIAL:
    return strike_by_law(d, v, verdict);
  default:
    return SALTUS_OK;
  }
}

/* Components of an energy gain: normals, friction against the last slip and along the first. */
static void find_sums(const saltusi_decision* d, int count, double sums[3]) {
  memset(sums, 0, 3 * sizeof(double));
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    int r = d->o->base[key];
    sums[0] += 0.5 * d->impulse[r] * (d->u_before[r] + d->u_after[r]);
    for (int k = r + 1; k <= r + d->o->tangents[key]; k++) {
      sums[1] += 0.5 * d->impulse[k] * d->u_after[k];
      sums[2] += 0.5 * d->impulse[k] * d->u_before[k];
    }
  }
}

static saltus_status stop_for_gain(saltusi_decision* d, double t, int key, double gain,
                                   const double sums[3]) {
  saltusi_log(
      d->log, SALTUS_LEVEL_ERROR,
      "adaptive: the impact at contact %s, t = %.17g s, would create %g J (normals %g, friction "
      "against the last slip %g, along the first %g): Newton's law with friction can; "
      "on_energy_gain offers other answers than stop",
      saltusi_contact_name(d->o, key), t, gain, sums[0], sums[1], sums[2]);
  return SALTUS_ERR_LAW;
}

/* Joints and friction can wedge a body: impulses along a ray H l = 0, l_N > 0, l_T within the cone, are in
 * equilibrium and move nothing. Newton's law requires l . (u- + e u_N-) >= 0 on it, which is e l_N u_N- < 0: it
 * has no solution. Poisson's compression requires l . u- = 0, which always holds: it solves such impacts, and that
 * is reported. With friction Newton's law can also gain energy; it is applied unless the settings exclude it, and
 * that is reported, too. */
saltus_status saltusi_decide_impact(saltusi_decision* d, double t, double* y, int count,
                                    saltusi_verdict* verdict) {
  assert(d != NULL && verdict != NULL && count >= 0);
  double* v = y + d->o->nq;
  *verdict = (saltusi_verdict){.contact = -1};
  saltus_status status = saltusi_reduce(d->mode, t, y, true, d->set, count);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_reduced_hold(d->mode, v, NULL); /* positions may have been corrected since */
  row_values(d, v, d->mode->row.b, d->u_before);
  saltusi_load_impact(d, count);
  memcpy(d->v_impact, v, (size_t)d->o->nv * sizeof(double));
  bool by_law = asks_for_law(d, count);
  status = by_law ? strike_by_law(d, v, verdict) : impact(d, v, count);
  if (status == SALTUS_RETRY_SMALLER && !by_law) {
    bool spatial = saltusi_is_spatial(d, d->set, count) || saltusi_has_balls(d, d->set, count);
    status = spatial ? strike_by_law(d, v, verdict) : impact_again(d, v, count, true, 1.0);
    verdict->replaced = true;
    by_law = spatial;
  }
  if (status == SALTUS_RETRY_SMALLER && count > 0 && d->o->tangents[d->set[0]] > 1) {
    d->mode->eval->bound =
        (saltusi_bound){.what = "impact", .key = d->set[0], .t = t, .kind = SALTUSI_BOUND_IMPACT};
  }
  double gain = status == SALTUS_OK && !by_law ? gain_of(d, v) : 0.0;
  if (gain > 0.0) {
    double sums[3];
    int giver = giver_of(d, count);
    find_sums(d, count, sums);
    if (on_gain(d) == SALTUS_GAIN_STOP) {
      return stop_for_gain(d, t, giver, gain, sums);
    }
    status = answer_gain(d, v, count, verdict);
    verdict->contact = giver;
    verdict->of_law = gain;
    verdict->gain = status == SALTUS_OK ? gain_of(d, v) : 0.0;
    memcpy(verdict->sums, sums, sizeof sums);
  }
  if (status == SALTUS_OK) {
    verdict->contact = verdict->contact < 0 ? d->set[0] : verdict->contact;
    find_joint_impulses(d);
    row_values(d, v, d->mode->row.b, d->u_after);
    if (by_law && verdict->gain > 0.0) {
      find_sums(d, count, verdict->sums);
    }
  }
  return status;
}

/* Impulses that stop an approach velocity `push` added to the present velocities, without restitution. */
static saltus_status solve_pushed(saltusi_decision* d, int count, double push) {
  memcpy(d->u_after, d->u_before, (size_t)d->o->nl * sizeof(double));
  for (int key = 0; key < d->o->nc; key++) {
    double* u = d->u_after + d->o->base[key];
    u[0] = fmin(u[0], 0.0) - push;
  }
  no_senses(d);
  return solve(d, count, d->u_after, NULL);
}

/* The same with coefficients of the slip after the impact. */
static saltus_status solve_without_collision(saltusi_decision* d, const double* v, int count,
                                             double push) {
  bool curved = saltusi_load_impact(d, count);
  for (int round = 0; round < SALTUSI_CURVE_ROUNDS_IMPACT; round++) {
    saltus_status status = solve_pushed(d, count, push);
    if (status != SALTUS_OK || !curved) {
      return status;
    }
    memcpy(d->v_spare, v, (size_t)d->o->nv * sizeof(double));
    saltusi_add_scaled(d->o->nv, 1.0, d->change, d->v_spare);
    row_values(d, d->v_spare, d->mode->row.b, d->u_after);
    if (!saltusi_follow_impact(d, count, round)) {
      return SALTUS_OK;
    }
  }
  return SALTUS_ERR_STALLED;
}

/* The push only selects the branch on which all pressed contacts stick: the data are those without a push, and on
 * one branch the impulses depend on it linearly. */
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
  assert(d != NULL && count >= 0);
  double* v = y + d->o->nq;
  saltus_status status = saltusi_reduce(d->mode, t, y, true, d->set, count);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_reduced_hold(d->mode, v, NULL); /* positions may have been corrected since */
  row_values(d, v, d->mode->row.b, d->u_before);
  /* with U = 0 exactly zero impulse is a solution as well: a small approach velocity selects the other one */
  double push = small_push * fmax(saltusi_max_abs(d->o->nv, v), DBL_MIN);
  status = solve_without_collision(d, v, count, push);
  if (status != SALTUS_OK) {
    return status;
  }
  bool all_stick = true;
  memcpy(d->kept, d->contact, (size_t)d->o->nc * sizeof *d->contact);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    bool pressed = d->impulse[d->o->base[key]] > 0.0;
    bool sticks = d->slack[key] == 0.0 && d->mu[key] > 0.0;
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
