/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode_decision.c - selects the closed contacts that bear load, stick or slip: the friction problem on
 * accelerations (docs/theory/event-capturing.md, 2.7; adaptive decides by the same problem).
 *
 *   contacts at rest    u + mu |u_T| n in K*  perp  l in K,                    u = W l + free, joints held
 *   moving contacts     0 <= u_N  perp  l_N >= 0,   l_T = -mu l_N d            d the direction of U_T
 *
 * Where the coefficient of slip begins below that of sticking, contacts that begin to slip are decided again as moving.
 *
 * A moving contact has one row and a column that is not its transpose: a frictionless contact of a problem whose W is
 * not symmetric.
 */
#include "scheme/event/friction_mode.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Multipliers below this part of the largest count as zero, like slip accelerations below this part of the largest
 * acceleration: rounding of the solvers (as in adaptive). */
static const double no_force = 1e-13;
static const double no_slip = 1e-10;
/* Friction below this part of its bound counts as zero: cancellation of two large forces. */
static const double no_friction = 1e-12;
/* Contacts in space this near to their bound slide when another one does: at the onset of slip their accelerations are
 * below rounding, and a rigid body cannot slide at some of its supports only. */
static const double at_bound = 1e-6;
/* A row is dependent if its Schur complement with the rows before it is below this part of W_rr. */
static const double dependent = 1e-10;
/* Initial capacity for the contacts of one island. */
enum { CONTACTS_FIRST = 8 };

void saltusi_friction_mode_decision_layout(saltusi_friction_mode_decision* d,
                                           const saltusi_eval* eval, saltus_arena* arena) {
  assert(d != NULL && eval != NULL && arena != NULL);
  const saltus_dims* dims = &eval->sys.dims;
  size_t most = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_LAWS, CONTACTS_FIRST);
  d->most = most < (size_t)dims->nc ? (int)most : dims->nc;
  int rows = 3 * d->most;
  saltusi_linear_layout(&d->mass, &eval->sys, arena);
  const saltusi_demand demand = {.friction = true, .own_law = true, .convective = true};
  saltusi_operator_layout(&d->op, eval, &demand, arena);
  saltusi_island_joints_layout(&d->joints, dims->nj, rows, arena);
  saltusi_law_cones_layout(&d->cones, d->most, rows, arena);
  d->cones.friction.distributes = true;
  d->key = SALTUS_PUSH(arena, int, dims->nc);
  d->moves = SALTUS_PUSH(arena, bool, dims->nc);
  d->presses = SALTUS_PUSH(arena, bool, dims->nc);
  d->W = SALTUS_PUSH2(arena, double, rows, rows);
  d->u = SALTUS_PUSH(arena, double, rows);
  d->P = SALTUS_PUSH(arena, double, rows);
  d->basis = SALTUS_PUSH2(arena, double, rows, rows);
  d->accepted = SALTUS_PUSH(arena, int, rows);
}

/* ---- the problem of an island ------------------------------------------------------------------- */

/* Contacts of an island and their rows in W, joints held. */
typedef struct island {
  saltusi_friction_mode_decision* d;
  const int* contact; /* [count] numbers in the decision */
  const int* offset;  /* [count + 1] */
  int count, rows;
} island;

static int row_of(const island* in, int i) {
  return in->offset[i] - in->offset[0];
}

static saltusi_friction_mode* grip_of(const island* in, int i) {
  return &in->d->grips->of[in->d->key[in->contact[i]]];
}

static bool moves(const island* in, int i) {
  return in->d->moves[in->contact[i]];
}

/* W of row r and column k of unit i. */
static double entry(const island* in, int r, int i, int k) {
  const double* W = in->d->W + (size_t)r * (size_t)in->rows;
  int first = row_of(in, i);
  const saltusi_friction_mode* grip = grip_of(in, i);
  double value = W[first + k];
  for (int t = 0; moves(in, i) && t < grip->tangents; t++) {
    value += grip->ratio[t] * W[first + 1 + t];
  }
  return k == 2 ? grip->m * value : value; /* P = C P' (docs/theory/laws.md, 3.1) */
}

/* R of u' = R u for row k of a contact at rest. */
static double measure_of(const island* in, int i, int k) {
  const saltusi_friction_mode* grip = grip_of(in, i);
  return k == 2 ? grip->n * grip->n / grip->m : 1.0;
}

static int unit_rows(const island* in, int i) {
  return moves(in, i) ? 1 : row_of(in, i + 1) - row_of(in, i);
}

static bool solve(const island* in) {
  saltusi_friction_mode_decision* d = in->d;
  saltusi_cone_products* c = &d->cones;
  int n = 0;
  for (int i = 0; i < in->count; i++) {
    c->first[i] = n;
    c->mu[i] = moves(in, i) ? 0.0 : grip_of(in, i)->mu;
    n += unit_rows(in, i);
  }
  c->first[in->count] = n;
  for (int i = 0; i < in->count; i++) {
    for (int k = 0; k < unit_rows(in, i); k++) {
      int r = row_of(in, i) + k;
      double* row = c->W + (size_t)(c->first[i] + k) * (size_t)n;
      const double R = measure_of(in, i, k);
      c->b[c->first[i] + k] = R * d->u[r];
      for (int j = 0; j < in->count; j++) {
        for (int m = 0; m < unit_rows(in, j); m++) {
          row[c->first[j] + m] = R * entry(in, r, j, m);
        }
      }
    }
  }
  if (!saltusi_law_cones_solve(c, in->count)) {
    return false;
  }
  for (int i = 0; i < in->count; i++) {
    const saltusi_friction_mode* grip = grip_of(in, i);
    double* P = d->P + row_of(in, i);
    const double* r = c->r + c->first[i];
    P[0] = r[0];
    for (int k = 0; k < grip->tangents; k++) {
      P[1 + k] = moves(in, i) ? grip->ratio[k] * r[0] : (k == 1 ? grip->m : 1.0) * r[1 + k];
    }
  }
  return true;
}

static double friction_size(const island* in, int i, const double* P) {
  int tangents = grip_of(in, i)->tangents;
  return tangents == 0   ? 0.0
         : tangents == 1 ? fabs(P[1])
                         : saltusi_friction_mode_size(grip_of(in, i), P[1], P[2]);
}

/* ---- statuses ----------------------------------------------------------------------------------- */

static double friction_of(const island* in, int i) {
  return friction_size(in, i, in->d->P + row_of(in, i));
}

static void slide_against(const island* in, int i) {
  const double* P = in->d->P + row_of(in, i);
  const saltusi_friction_mode* grip = grip_of(in, i);
  const double turn = grip->n * grip->n; /* friction is along N^2 of the slip */
  const double against[2] = {-P[1], grip->tangents > 1 ? -P[2] / turn : 0.0};
  saltusi_friction_mode_slip(grip_of(in, i), against, 0.0);
}

/* One contact from its force and its accelerations `after` [rows]. */
static void classify(const island* in, int i, double force, double acceleration,
                     const double* after) {
  saltusi_friction_mode* grip = grip_of(in, i);
  const double* P = in->d->P + row_of(in, i);
  const double* u = after + row_of(in, i);
  in->d->presses[in->contact[i]] = P[0] > no_force * force;
  if (grip->tangents == 0 || moves(in, i)) {
    return;
  }
  double slack = grip->tangents == 1 ? fabs(u[1]) : hypot(u[1], u[2]);
  bool pulled = friction_of(in, i) > 0.0;
  if (slack <= no_slip * acceleration || !pulled) {
    saltusi_friction_mode_stick(grip);
    return;
  }
  slide_against(in, i); /* friction acts against the slip that begins */
}

static void slide_together(const island* in) {
  bool any = false;
  for (int i = 0; i < in->count; i++) {
    const saltusi_friction_mode* grip = grip_of(in, i);
    any = any || (grip->tangents == 2 && grip->slips && !moves(in, i));
  }
  for (int i = 0; any && i < in->count; i++) {
    saltusi_friction_mode* grip = grip_of(in, i);
    const double* P = in->d->P + row_of(in, i);
    if (grip->tangents == 2 && !grip->slips && P[0] > 0.0 &&
        friction_of(in, i) >= grip->mu * P[0] * (1.0 - at_bound)) {
      slide_against(in, i);
    }
  }
}

/* Whether a row is independent of those accepted so far, by Cholesky's factors of W; then it joins. */
static bool accept(const island* in, int row, int* rank) {
  saltusi_friction_mode_decision* d = in->d;
  size_t n = (size_t)in->rows;
  const double* W = d->W + (size_t)row * n;
  double* y = d->basis + (size_t)*rank * n;
  double rest = W[row];
  for (int i = 0; i < *rank; i++) {
    const double* L = d->basis + (size_t)i * n;
    y[i] = (W[d->accepted[i]] - saltusi_dot(i, L, y)) / L[i];
    rest -= y[i] * y[i];
  }
  if (!(rest > dependent * W[row])) {
    return false;
  }
  y[*rank] = sqrt(rest);
  d->accepted[(*rank)++] = row;
  return true;
}

/* 0: friction inside its bound, 1: at it, 2: none. */
static int friction_class(const island* in, int i) {
  double bound = grip_of(in, i)->mu * in->d->P[row_of(in, i)];
  double size = friction_of(in, i);
  return size <= no_friction * bound ? 2 : size >= bound * (1.0 - no_slip) ? 1 : 0;
}

static void hold_tangents(const island* in, int i, int* rank) {
  saltusi_friction_mode* grip = grip_of(in, i);
  const double* P = in->d->P + row_of(in, i);
  for (int k = 0; k < grip->tangents; k++) {
    grip->held[k] = accept(in, row_of(in, i) + 1 + k, rank);
    grip->ratio[k] = grip->held[k] ? 0.0 : P[1 + k] / P[0];
  }
}

static void hold_class(const island* in, int order, int* rank) {
  for (int i = 0; i < in->count; i++) {
    bool sticks = !grip_of(in, i)->slips && in->d->presses[in->contact[i]];
    if (sticks && in->contact[i] != in->d->pushed && friction_class(in, i) == order) {
      hold_tangents(in, i, rank);
    }
  }
}

/* A contact that has just reached its bound slides, unless contacts with remaining friction margin prevent it; so do
 * the contacts at their bound that only it could hold. At the onset accelerations are too small for this decision. */
static void push(const island* in, int pushed, int* rank) {
  int before = *rank;
  hold_tangents(in, pushed, rank);
  bool slides = *rank > before;
  if (slides) {
    slide_against(in, pushed);
  }
  for (int i = 0; i < in->count; i++) {
    bool sticks = !grip_of(in, i)->slips && in->d->presses[in->contact[i]];
    if (i == pushed || !sticks || friction_class(in, i) != 1) {
      continue;
    }
    before = *rank;
    hold_tangents(in, i, rank);
    if (slides && *rank == before) {
      slide_against(in, i);
    }
  }
}

/* Redundant tangents are not rows and keep their ratio to the normal force; tangents with a friction margin become rows
 * first. */
static void rank_pass(const island* in) {
  int rank = 0;
  int pushed = -1;
  for (int i = 0; i < in->count; i++) {
    if (in->d->presses[in->contact[i]]) {
      bool needed = accept(in, row_of(in, i), &rank);
      in->d->redundant = in->d->redundant || !needed;
      bool sticks = !grip_of(in, i)->slips;
      pushed = sticks && in->contact[i] == in->d->pushed ? i : pushed;
    }
  }
  if (pushed < 0 || friction_class(in, pushed) != 1) {
    in->d->pushed = -1;
    for (int order = 0; order <= 2; order++) {
      hold_class(in, order, &rank);
    }
    return;
  }
  hold_class(in, 0, &rank);
  hold_class(in, 2, &rank);
  push(in, pushed, &rank);
}

static void classify_all(const island* in) {
  saltusi_friction_mode_decision* d = in->d;
  double force = 0.0;
  double acceleration = fmax(saltusi_max_abs(in->rows, d->u), DBL_MIN);
  double* after = d->basis; /* not in use yet */
  for (int r = 0; r < in->rows; r++) {
    after[r] = d->u[r] + saltusi_dot(in->rows, d->W + (size_t)r * (size_t)in->rows, d->P);
  }
  for (int i = 0; i < in->count; i++) {
    force = fmax(force, d->P[row_of(in, i)]);
  }
  for (int i = 0; i < in->count; i++) {
    classify(in, i, force, acceleration, after);
  }
  slide_together(in);
  rank_pass(in);
}

/* The contact whose own friction increases its normal force most: the cause of non-existence (Painleve). */
static void find_jammed(const island* in) {
  for (int i = 0; i < in->count; i++) {
    const double coupling = entry(in, row_of(in, i), i, 0);
    if (moves(in, i) && coupling < 0.0 && (in->d->jammed < 0 || coupling < in->d->coupling)) {
      in->d->jammed = in->d->key[in->contact[i]];
      in->d->coupling = coupling;
    }
  }
}

/* Contacts whose friction drops at the onset of slip are set to slip before the others are decided; returns whether
 * there are any. */
static bool let_go(const island* in) {
  bool any = false;
  for (int i = 0; i < in->count; i++) {
    const saltusi_friction_mode* grip = grip_of(in, i);
    if (grip->slips && !moves(in, i) && saltusi_friction_mode_releases(grip)) {
      in->d->moves[in->contact[i]] = true;
      any = true;
    }
  }
  return any;
}

static saltus_status decide_island(void* user, const saltusi_law_island* from) {
  saltusi_friction_mode_decision* d = user;
  const island in = {.d = d,
                     .contact = from->contact + from->joints,
                     .offset = from->offset + from->joints,
                     .count = from->units - from->joints,
                     .rows = from->rows - saltusi_island_joint_rows(from)};
  if (!saltusi_island_joints_hold(&d->joints, from, d->W, d->u)) {
    return SALTUS_RETRY_NAN;
  }
  if (in.count > 0) {
    for (bool again = true; again;) {
      if (!solve(&in)) {
        find_jammed(&in);
        return SALTUS_RETRY_SMALLER;
      }
      classify_all(&in);
      again = let_go(&in);
    }
  }
  saltusi_island_joints_answer(&d->joints, from, d->P);
  return SALTUS_OK;
}

/* ---- the decision ------------------------------------------------------------------------------- */

/* Adds a contact with all its rows; returns whether it slips. */
static bool take(saltusi_friction_mode_decision* d, const saltus_system* sys,
                 const saltus_point* at, int key) {
  saltusi_friction_mode* grip = &d->grips->of[key];
  int row = saltusi_operator_look(&d->op, sys, at, key, 1 + grip->measured);
  double* slip = grip->slip;
  slip[0] = slip[1] = 0.0;
  for (int k = 0; k < grip->measured; k++) {
    slip[k] = saltusi_row_dot(&d->op.rows, row + 1 + k, at->v) + d->op.rows.b[row + 1 + k];
  }
  bool moves_now = grip->tangents > 0 && hypot(slip[0], slip[1]) > d->grips->slow;
  bool slides = moves_now || grip->keeps;
  if (slides && !grip->keeps) {
    saltusi_friction_mode_slip(grip, slip, saltusi_friction_mode_true_speed(grip, slip));
  }
  saltusi_operator_take(&d->op, 1 + grip->tangents, grip->mu);
  return slides;
}

/* Reference forces of redundant supports: forces of steps are the closest admissible ones. */
static void keep_forces(saltusi_friction_mode_decision* d) {
  for (int i = 0; i < d->count; i++) {
    saltusi_friction_mode* grip = &d->grips->of[d->key[i]];
    const double* P = d->op.P + d->op.first[i];
    for (int k = 0; k < 3; k++) {
      grip->reference[k] = d->redundant && k <= grip->tangents ? P[k] : 0.0;
    }
  }
}

saltus_status saltusi_friction_mode_decide(saltusi_friction_mode_decision* d,
                                           saltusi_friction_modes* grips, saltusi_eval* eval,
                                           const saltus_point* at, const int* keys, int count,
                                           double* a) {
  assert(d != NULL && grips != NULL && eval != NULL && at != NULL && count >= 0 && a != NULL);
  const saltus_system* sys = &eval->sys;
  saltusi_operator* op = &d->op;
  if (count > d->most) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_LAWS, (size_t)count);
  }
  d->grips = grips;
  d->count = count;
  int pushed = -1;
  saltusi_force(eval, at, a);
  saltusi_friction_modes_drag(grips, op, sys, at, keys, count, a); /* before rows are written */
  saltusi_operator_begin(op, sys->dims.nj);
  saltusi_rows_joints(sys, at, &op->rows);
  for (int i = 0; i < count; i++) {
    d->key[i] = keys[i];
    d->presses[i] = false;
    d->moves[i] = take(d, sys, at, keys[i]);
    pushed = keys[i] == d->pushed ? i : pushed;
  }
  d->pushed = pushed;
  saltus_status status = saltusi_linear_assemble(eval, &d->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_linear_solve(eval, &d->mass, a);
  for (int r = 0; r < op->count; r++) {
    op->rhs[r] = saltusi_row_dot(&op->rows, r, a) + op->rows.c[r];
  }
  saltusi_operator_form(op, eval, &d->mass);
  d->redundant = false;
  d->jammed = -1;
  status = saltusi_operator_solve_by(op, eval, decide_island, d);
  if (status == SALTUS_RETRY_SMALLER && d->jammed >= 0) {
    eval->bound = (saltusi_bound){.what = "Painleve",
                                  .key = d->jammed,
                                  .t = at->t,
                                  .kind = SALTUSI_BOUND_PAINLEVE,
                                  .value = d->coupling};
  }
  if (status == SALTUS_OK) {
    keep_forces(d);
    saltusi_operator_apply(op, eval, a);
  }
  return status;
}
