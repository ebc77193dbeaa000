/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * start_projection.c - see include/saltus/start.h.
 */
#include "saltus/start.h"

#include "base/digits.h"
#include "base/log.h"
#include "base/reserved.h"
#include "math/matrix.h"
#include "operator/joints.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Joints hold to SALTUSI_CONSISTENT. Larger overlaps are permitted at contacts: every scheme can start from them, and
 * published starts have few digits. */
static const double shallow = 1e-6;
/* Largest remaining rates, relative to the largest velocity and to the rates before the projection: linearly dependent
 * rows agree to the rounding of W, SALTUSI_DEPENDENT, and published velocities have six digits. */
static const double rate_rounding = 1e-9;
static const double rate_part = 1e-6;
enum { ITERATIONS_MAX = 30 };

/* Everything in one block. */
typedef struct projection {
  const saltus_start_def* def;
  saltusi_eval eval;
  saltusi_linear mass;
  saltusi_contact_list list;
  saltusi_contact_keys keys; /* of a changing set */
  saltusi_row_block rows;    /* [nj] */
  double* q;                 /* [nq] */
  double* q_next;            /* [nq] */
  double* v;                 /* [nv] */
  double* g;                 /* [nj + nc] right-hand side, then multipliers */
  int* key;                  /* [nc] contacts whose overlap is removed */
  bool* pushed;              /* [nc] */
  int count;                 /* rows in use */
  saltusi_operator op; /* operator of joints and these contacts, if positions have to change */
  double* delta;       /* [nv] */
  saltusi_joints joints;
} projection;

static void layout(projection* p, const saltus_system* sys, bool moves, saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  saltusi_eval_layout(&p->eval, arena);
  saltusi_linear_layout(&p->mass, sys, arena);
  saltusi_contact_list_layout(&p->list, d, arena);
  saltusi_keys_layout(&p->keys, p->eval.keys != NULL ? d->nc : 0, arena);
  saltusi_rows_layout(&p->rows, d, d->nj, false, arena);
  p->q = SALTUS_PUSH(arena, double, d->nq);
  p->q_next = SALTUS_PUSH(arena, double, d->nq);
  p->v = SALTUS_PUSH(arena, double, d->nv);
  p->g = SALTUS_PUSH(arena, double, d->nj + d->nc);
  p->key = SALTUS_PUSH(arena, int, d->nc);
  p->pushed = SALTUS_PUSH(arena, bool, d->nc);
  if (moves) {
    saltusi_operator_layout(&p->op, &p->eval, &(saltusi_demand){.held = true}, arena);
  }
  saltusi_joints_layout(&p->joints, &p->eval, arena);
  p->delta = SALTUS_PUSH(arena, double, d->nv);
}

static saltus_point here(const projection* p) {
  return saltusi_at(&p->eval, p->def->t, p->q, p->v);
}

/* Values of joints and gaps of contacts with overlap; the set of contacts only grows. */
static saltus_status look(projection* p, double* joint, double* penetration) {
  const saltus_system* sys = &p->eval.sys;
  int nj = sys->dims.nj;
  saltus_point at = here(p);
  if (nj > 0) {
    sys->ops->joints(sys->self, &at, p->g);
  }
  *joint = saltusi_max_abs(nj, p->g);
  *penetration = 0.0;
  p->count = nj;
  if (sys->dims.nc == 0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_contacts(sys, &at, &p->list);
  for (int i = 0; status == SALTUS_OK && i < p->list.count; i++) {
    int key = p->list.key[i];
    double gap = p->list.gap[i];
    *penetration = fmax(*penetration, -gap);
    p->pushed[key] = p->pushed[key] || gap < -shallow;
    if (p->pushed[key]) {
      p->key[p->count - nj] = key;
      p->g[p->count++] = gap;
    }
  }
  return status;
}

/* delta = M^-1 G P over joints and the first `contacts` contacts:
 *
 *   joints    g + G^T delta = 0; dependent rows may be inconsistent
 *   contacts  0 <= g + G^T delta  perp  P >= 0, since vertices of one face overlap by different depths
 */
static saltus_status correct(projection* p, int contacts) {
  const saltus_dims* d = &p->eval.sys.dims;
  saltus_point at = here(p);
  saltus_status status = saltusi_linear_assemble(&p->eval, &p->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_hold(&p->op, &p->eval.sys, &at, p->key, contacts);
  if (contacts > 0) {
    saltusi_operator_form(&p->op, &p->eval, &p->mass);
  } else {
    saltusi_operator_form_active(&p->op, &p->eval, &p->mass);
  }
  memcpy(p->op.rhs, p->g, (size_t)(d->nj + contacts) * sizeof(double));
  status = saltusi_operator_solve(&p->op, &p->eval);
  if (status != SALTUS_OK) {
    return status == SALTUS_RETRY_CAPACITY ? status : SALTUS_ERR_INPUT;
  }
  memset(p->delta, 0, (size_t)d->nv * sizeof(double));
  saltusi_operator_apply(&p->op, &p->eval, p->delta);
  return SALTUS_OK;
}

/* Values of joints at long arms are rounded by the arms: a marker 1e6 m away is placed to 1e-10 m. */
static double rounding_of_arms(projection* p) {
  const saltus_system* sys = &p->eval.sys;
  double arm = 0.0;
  if (sys->dims.nj > 0) {
    saltus_point at = here(p);
    saltusi_rows_joints(sys, &at, &p->rows);
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    for (int i = 0; i < p->rows.entries[j]; i++) {
      arm = fmax(arm, fabs(p->rows.G[(size_t)j * (size_t)p->rows.stride + (size_t)i]));
    }
  }
  return 16.0 * DBL_EPSILON * arm;
}

/* Joints that are open and contacts that overlap; gaps that are open are none. */
static double largest_miss(const projection* p) {
  double miss = saltusi_max_abs(p->eval.sys.dims.nj, p->g);
  for (int i = p->eval.sys.dims.nj; i < p->count; i++) {
    miss = p->g[i] >= 0.0 ? miss : fmax(miss, -p->g[i]);
    miss = isnan(p->g[i]) ? (double)INFINITY : miss;
  }
  return miss;
}

/* Newton's iteration on the positions. */
static saltus_status move_positions(projection* p, saltus_start_move* move) {
  const saltus_system* sys = &p->eval.sys;
  double rounding = 4.0 * DBL_EPSILON * saltusi_max_abs(sys->dims.nq, p->q);
  double settled = fmax(SALTUSI_CONSISTENT, rounding_of_arms(p));
  double before = INFINITY;
  saltus_status status = look(p, &move->joint, &move->penetration);
  if (move->joint <= SALTUSI_CONSISTENT && move->penetration <= shallow) {
    return status;
  }
  for (int k = 0; status == SALTUS_OK; k++) {
    double miss = largest_miss(p);
    if (miss <= rounding || (miss <= settled && miss >= 0.5 * before)) {
      return SALTUS_OK;
    }
    if (k == ITERATIONS_MAX || !isfinite(miss)) {
      return SALTUS_ERR_INPUT;
    }
    before = miss;
    status = correct(p, p->count - sys->dims.nj);
    if (status == SALTUS_OK) {
      double joint;
      double penetration;
      saltusi_advance(sys, p->q, p->delta, 1.0, p->q_next);
      memcpy(p->q, p->q_next, (size_t)sys->dims.nq * sizeof(double));
      status = look(p, &joint, &penetration);
    }
  }
  return status;
}

/* The largest rate of a joint, with rates as right-hand sides; false when one is beyond the limit. */
static bool look_rates(projection* p, double* largest) {
  const saltus_system* sys = &p->eval.sys;
  saltus_point at = here(p);
  bool allowed = true;
  *largest = 0.0;
  saltusi_rows_joints(sys, &at, &p->rows);
  for (int j = 0; j < sys->dims.nj; j++) {
    p->g[j] = saltusi_row_dot(&p->rows, j, p->v) + p->rows.b[j];
    double terms = saltusi_row_size(&p->rows, j, p->v) + fabs(p->rows.b[j]);
    /* tolerance of the caller, in m/s or rad/s, relative for large terms */
    double most = fmax(p->def->tolerance, p->def->tolerance * terms);
    allowed = allowed && fabs(p->g[j]) <= most;
    *largest = fmax(*largest, fabs(p->g[j]));
  }
  return allowed;
}

static saltus_status move_velocities(projection* p, saltus_start_move* move) {
  if (!look_rates(p, &move->rate)) {
    return SALTUS_ERR_RANGE;
  }
  if (move->rate <= SALTUSI_CONSISTENT) {
    return SALTUS_OK;
  }
  saltus_status status = correct(p, 0);
  if (status == SALTUS_OK) {
    saltusi_add_scaled(p->eval.sys.dims.nv, 1.0, p->delta, p->v);
    if (p->def->impulses != NULL) {
      memcpy(p->def->impulses, p->op.P, (size_t)p->eval.sys.dims.nj * sizeof(double));
    }
    double left;
    look_rates(p, &left); /* inconsistent rates remain */
    double rounding = rate_rounding * saltusi_max_abs(p->eval.sys.dims.nv, p->v);
    status = left <= fmax(rounding, rate_part * move->rate) ? SALTUS_OK : SALTUS_ERR_INPUT;
  }
  return status;
}

static double largest_change(int n, const double* x, const double* y, int* which) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    if (fabs(x[i] - y[i]) > most) {
      most = fabs(x[i] - y[i]);
      *which = i;
    }
  }
  return most;
}

static const char* label(const saltus_label* labels, int i) {
  return labels != NULL ? labels[i].name : "";
}

static void report(const saltus_start_def* def, const saltus_start_move* move) {
  const saltus_system* sys = def->system;
  if (move->q_moved > 0.0) {
    saltusi_log(def->log, SALTUS_LEVEL_WARNING,
                "start: joints were off by up to %.3g and contacts overlapped by up to %.3g m; "
                "positions were moved by up to %.3g (coordinate %d %s)",
                move->joint, move->penetration, move->q_moved, move->q_most + 1,
                label(sys->q_labels, move->q_most));
  }
  if (move->v_moved > 0.0) {
    /* with an infinite tolerance velocities follow from joints and drives */
    saltusi_log(def->log, isinf(def->tolerance) ? SALTUS_LEVEL_NOTE : SALTUS_LEVEL_WARNING,
                "start: velocities broke joints by up to %.3g per second and were moved by up to "
                "%.3g (velocity %d %s)",
                move->rate, move->v_moved, move->v_most + 1, label(sys->v_labels, move->v_most));
  }
}

/* Inconsistent joints are reported by name before other faults: SALTUS_ERR_CONTRADICTION. */
static saltus_status report_contradiction(projection* p) {
  const saltus_start_def* def = p->def;
  if (def->system->dims.nj < 2) {
    return SALTUS_OK;
  }
  const saltus_point at = saltusi_at(&p->eval, def->t, def->q, def->v);
  saltusi_contradiction found;
  saltus_status status = saltusi_joints_contradict(&p->joints, &p->eval, &at, true, &found);
  if (status != SALTUS_OK || found.kind == SALTUSI_AGREE) {
    return status == SALTUS_RETRY_CAPACITY ? status : SALTUS_OK;
  }
  char names[256];
  saltusi_log(def->log, SALTUS_LEVEL_ERROR,
              "start: joints %s contradict each other: %s cannot all be zero, at best %.3g",
              saltusi_joints_names(def->system, &found, names, sizeof names),
              found.kind == SALTUSI_POSITIONS_DISAGREE ? "their constraints"
                                                       : "the rates of their constraints",
              found.miss);
  return SALTUS_ERR_CONTRADICTION;
}

static saltus_status explain(projection* p, const saltus_start_move* move, saltus_status status) {
  const saltus_start_def* def = p->def;
  if (saltusi_failed(&p->eval)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "start: a callback of the system failed: %s",
                p->eval.failure->text);
    return SALTUS_ERR_SYSTEM;
  }
  saltus_status contradiction = report_contradiction(p);
  if (contradiction != SALTUS_OK) {
    return contradiction;
  }
  if (status == SALTUS_ERR_RANGE) {
    double terms[] = {move->joint, move->penetration, move->rate};
    int digits[3];
    for (int i = 0; i < 3; i++) {
      digits[i] = saltusi_digits_apart(3, terms[i], def->tolerance);
    }
    saltusi_log(
        def->log, SALTUS_LEVEL_ERROR,
        "start: joints are off by %.*g, contacts overlap by %.*g m, rates of joints are %.*g "
        "per second; allowed is %.3g",
        digits[0], terms[0], digits[1], terms[1], digits[2], terms[2], def->tolerance);
    return SALTUS_ERR_INPUT;
  }
  saltusi_log(def->log, SALTUS_LEVEL_ERROR,
              "start: joints that are off by %.3g and contacts that overlap by %.3g m cannot be "
              "corrected: nothing moves them, or they exclude each other",
              move->joint, move->penetration);
  return status;
}

/* Largest violation; SALTUS_ERR_RANGE above the limit. */
static saltus_status judge(projection* p, saltus_start_move* move) {
  double tolerance = p->def->tolerance;
  saltus_status status = look(p, &move->joint, &move->penetration);
  bool allowed = move->joint <= tolerance && move->penetration <= fmax(tolerance, shallow) &&
                 look_rates(p, &move->rate);
  return status == SALTUS_OK && !allowed ? SALTUS_ERR_RANGE : status;
}

static saltus_status project(projection* p, saltus_start_move* move) {
  const saltus_start_def* def = p->def;
  saltus_status status = judge(p, move);
  if (status == SALTUS_OK) {
    status = move_positions(p, move);
  }
  if (status == SALTUS_OK) {
    status = move_velocities(p, move);
  }
  if (status != SALTUS_OK || saltusi_failed(&p->eval)) {
    return explain(p, move, status);
  }
  const saltus_dims* d = &def->system->dims;
  move->q_moved = largest_change(d->nq, p->q, def->q, &move->q_most);
  move->v_moved = largest_change(d->nv, p->v, def->v, &move->v_most);
  memcpy(def->q, p->q, (size_t)d->nq * sizeof(double));
  memcpy(def->v, p->v, (size_t)d->nv * sizeof(double));
  report(def, move);
  return SALTUS_OK;
}

/* Projection, or test only, with the present capacity; SALTUS_RETRY_CAPACITY if it is too small. */
static saltus_status try_with(const saltus_start_def* def, const saltus_allocator* memory,
                              saltusi_step_capacity* room, bool moves, saltus_start_move* move,
                              bool* off) {
  const saltus_dims* d = &def->system->dims;
  projection p = {.def = def, .eval = {.sys = *def->system}};
  p.eval.room = *room;
  const saltus_point start = {.t = def->t, .q = def->q, .v = def->v};
  saltus_status fits = saltusi_keys_fit(def->system, &start, memory, &p.eval.sys);
  if (fits != SALTUS_OK) {
    return fits;
  }
  if ((def->system->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    size_t contacts = (size_t)p.eval.sys.dims.nc;
    p.eval.keys = &p.keys;
    p.keys.room = &p.eval.room;
    p.eval.sys.dims.nc =
        (int)saltusi_capacity_of(&p.eval.room, SALTUSI_CAPACITY_CONTACTS, contacts);
  }
  saltus_arena arena = saltus_arena_counting();
  layout(&p, &p.eval.sys, moves, &arena);
  size_t bytes = arena.used;
  void* block = memory->alloc(bytes, memory->user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  layout(&p, &p.eval.sys, moves, &arena);
  if (p.eval.keys != NULL) {
    saltusi_keys_clear(&p.keys);
  }
  memcpy(p.q, def->q, (size_t)d->nq * sizeof(double));
  memcpy(p.v, def->v, (size_t)d->nv * sizeof(double));
  saltus_status status;
  if (moves) {
    status = project(&p, move);
  } else {
    status = judge(&p, move);
    *off = move->joint > SALTUSI_CONSISTENT || move->penetration > shallow ||
           move->rate > SALTUSI_CONSISTENT;
    status = status != SALTUS_OK || saltusi_failed(&p.eval) ? explain(&p, move, status) : status;
  }
  memory->free(block, bytes, memory->user);
  *room = p.eval.room;
  return status;
}

saltus_status saltus_start_project(const saltus_start_def* def, saltus_start_move* move) {
  assert(def != NULL && move != NULL);
  *move = (saltus_start_move){0};
  if (SALTUSI_RESERVED_CHECK(def, "saltus_start_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_system_validate(def->system, def->log);
  const saltus_dims* d = &def->system->dims;
  bool changing = (def->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (status != SALTUS_OK || (d->nj + d->nc == 0 && !changing)) {
    return status;
  }
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  bool off = false;
  saltusi_step_capacity room = {0};
  for (int moves = 0; moves < 2 && status == SALTUS_OK && (off || moves == 0); moves++) {
    status = try_with(def, &memory, &room, moves == 1, move, &off);
    while (status == SALTUS_RETRY_CAPACITY) {
      saltusi_capacity_grow(&room);
      status = try_with(def, &memory, &room, moves == 1, move, &off);
    }
  }
  return status;
}
