/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_enclosure.c - see check_enclosure.h.
 */
#include "system/check_enclosure.h"

#include "system/evaluate.h"

#include <assert.h>
#include <math.h>

enum { POINTS = 8, VALUES = 6 }; /* rows of a contact: normal, tangents, rolling, spin */

/* Tolerance for the rounding of computed values. */
static const double rounding = 1e-14;

typedef struct check_enclosure_checker {
  const saltus_system* sys;
  saltus_point at;
  saltus_course course;
  saltus_interval* t;   /* [2] */
  saltus_interval* q;   /* [nq x 2] */
  saltus_interval* v;   /* [nv x 2] */
  saltus_interval* all; /* [nq + nv] a copy */
  int* reads;           /* [nq + nv] */
  double* q_inside;
  double* v_inside;
  double* dq; /* [nq] */
  double* F;  /* [nv] */
  double* g;  /* [nj] */
  saltusi_contact_list list;
  saltusi_row_block rows;
  unsigned seed;
  double outside;
} check_enclosure_checker;

static double uniform(check_enclosure_checker* c) {
  c->seed = c->seed * 1664525U + 1013904223U;
  return (double)(c->seed >> 8) / 16777216.0;
}

static saltus_interval around(check_enclosure_checker* c, double x) {
  const double r = 1e-3 * (1.0 + fabs(x));
  return (saltus_interval){x - r * uniform(c), x + r * uniform(c)};
}

static double inside(check_enclosure_checker* c, saltus_interval x) {
  const double p = x.lo + uniform(c) * (x.hi - x.lo);
  return p > x.hi ? x.hi : p;
}

/* An undefined value is not compared. */
static void look(check_enclosure_checker* c, double value, saltus_interval bound) {
  const double size = 1.0 + fabs(value);
  double out = fmax(bound.lo - value, value - bound.hi) / size;
  if (!(bound.lo <= bound.hi)) {
    out = INFINITY; /* no interval at all */
  }
  if (isfinite(value) && out > rounding) {
    c->outside = fmax(c->outside, out);
  }
}

static int rows_of(const check_enclosure_checker* c, int i) {
  return 1 + c->sys->laws[c->list.law[i]].tangents;
}

/* Gap or velocity of a listed contact; false: it is not enclosed. */
static bool contact_along(const check_enclosure_checker* c, saltus_quantity what, int i,
                          saltus_interval* bound) {
  const saltus_system* sys = c->sys;
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  if ((sys->traits & SALTUS_CHANGING_CONTACTS) == 0) {
    assert(ops->along != NULL); /* validated */
    ops->along(sys->self, &c->course, what, c->list.key[i], bound);
    return true;
  }
  const uint64_t identity = c->list.identity[i];
  const bool known = ops->contact_along != NULL &&
                     (ops->contact_depends(sys->self, what, identity) & SALTUS_NOT_ENCLOSED) == 0;
  if (known) {
    ops->contact_along(sys->self, &c->course, what, identity, bound);
  }
  return known;
}

/* Quantities at one point of the box. */
static void look_at_point(check_enclosure_checker* c, const saltus_point* at) {
  const saltus_system* sys = c->sys;
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  saltus_interval bound[VALUES];
  sys->ops->force(sys->self, at, c->F);
  for (int i = 0; ops->along != NULL && i < sys->dims.nv; i++) {
    ops->along(sys->self, &c->course, SALTUS_QUANTITY_FORCE, i, bound);
    look(c, c->F[i], bound[0]);
  }
  if (sys->dims.nj > 0) {
    sys->ops->joints(sys->self, at, c->g);
  }
  for (int j = 0; ops->along != NULL && j < sys->dims.nj; j++) {
    ops->along(sys->self, &c->course, SALTUS_QUANTITY_JOINT, j, bound);
    look(c, c->g[j], bound[0]);
  }
  if (saltusi_contacts(sys, at, &c->list) != SALTUS_OK) {
    return;
  }
  for (int i = 0; i < c->list.count; i++) {
    const int count = rows_of(c, i);
    if (contact_along(c, SALTUS_QUANTITY_GAP, i, bound)) {
      look(c, c->list.gap[i], bound[0]);
    }
    if (!contact_along(c, SALTUS_QUANTITY_VELOCITY, i, bound)) {
      continue;
    }
    saltusi_rows_peek(sys, at, c->list.key[i], count, &c->rows, 0);
    for (int r = 0; r < count; r++) {
      look(c, saltusi_row_dot(&c->rows, r, at->v) + c->rows.b[r], bound[r]);
    }
  }
}

static void look_around(check_enclosure_checker* c) {
  const saltus_dims* d = &c->sys->dims;
  c->course.order = 0;
  c->t[0] = around(c, c->at.t);
  for (int i = 0; i < d->nq; i++) {
    c->q[i] = around(c, c->at.q[i]);
  }
  for (int i = 0; i < d->nv; i++) {
    c->v[i] = around(c, c->at.v[i]);
  }
  for (int k = 0; k < POINTS; k++) {
    saltus_point at = c->at;
    at.t = inside(c, c->t[0]);
    at.q = c->q_inside;
    at.v = c->v_inside;
    for (int i = 0; i < d->nq; i++) {
      c->q_inside[i] = inside(c, c->q[i]);
    }
    for (int i = 0; i < d->nv; i++) {
      c->v_inside[i] = inside(c, c->v[i]);
    }
    look_at_point(c, &at);
  }
}

/* First coefficients of gaps and joints at the point itself, along the motion. */
static void look_at_rates(check_enclosure_checker* c) {
  const saltus_system* sys = c->sys;
  const saltus_dims* d = &sys->dims;
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  saltus_interval bound[2];
  c->course.order = 1;
  c->t[0] = (saltus_interval){c->at.t, c->at.t};
  c->t[1] = (saltus_interval){1.0, 1.0};
  if (sys->ops->rate != NULL) {
    sys->ops->rate(sys->self, c->at.q, c->at.v, c->dq);
  }
  for (int i = 0; i < d->nq; i++) {
    const double rate = sys->ops->rate != NULL ? c->dq[i] : c->at.v[i];
    c->q[2 * i] = (saltus_interval){c->at.q[i], c->at.q[i]};
    c->q[2 * i + 1] = (saltus_interval){rate, rate};
  }
  for (int i = 0; i < d->nv; i++) {
    c->v[2 * i] = (saltus_interval){c->at.v[i], c->at.v[i]};
    c->v[2 * i + 1] = (saltus_interval){0.0, 0.0};
  }
  for (int j = 0; ops->along != NULL && j < d->nj; j++) {
    if (sys->rate_rows != NULL && sys->rate_rows[j]) {
      continue; /* g is constant 0, and its rate is not that of the row */
    }
    ops->along(sys->self, &c->course, SALTUS_QUANTITY_JOINT, j, bound);
    const int r = saltusi_rows_joint_with(sys, &c->at, j, &c->rows);
    look(c, saltusi_row_dot(&c->rows, r, c->at.v) + c->rows.b[r], bound[1]);
  }
  const bool listed = saltusi_contacts(sys, &c->at, &c->list) == SALTUS_OK;
  for (int i = 0; listed && i < c->list.count; i++) {
    if (!contact_along(c, SALTUS_QUANTITY_GAP, i, bound)) {
      continue;
    }
    saltusi_rows_peek(sys, &c->at, c->list.key[i], 1, &c->rows, 0);
    look(c, saltusi_row_dot(&c->rows, 0, c->at.v) + c->rows.b[0], bound[1]);
  }
}

/* A quantity over the trajectory segment, for listed contacts; it has as many values as a contact has rows. */
static void bound_of(const check_enclosure_checker* c, saltus_quantity what, int i,
                     saltus_interval* bound) {
  if (what == SALTUS_QUANTITY_GAP || what == SALTUS_QUANTITY_VELOCITY) {
    contact_along(c, what, i, bound);
  } else {
    c->sys->ops->enclosure->along(c->sys->self, &c->course, what, i, bound);
  }
}

/* Variables that a quantity does not read are arbitrary. */
static void look_at_reads(check_enclosure_checker* c, saltus_quantity what, int i, uint64_t index,
                          int values) {
  const saltus_system* sys = c->sys;
  const int nq = sys->dims.nq, room = nq + sys->dims.nv;
  saltus_interval bound[VALUES] = {{0.0, 0.0}}, again[VALUES] = {{0.0, 0.0}};
  const int count = sys->ops->enclosure->reads(sys->self, what, index, room, c->reads);
  if (count > room) {
    return;
  }
  bound_of(c, what, i, bound);
  for (int k = 0; k < room; k++) {
    saltus_interval* x = k < nq ? &c->q[k] : &c->v[k - nq];
    c->all[k] = *x;
    *x = (saltus_interval){-1e300, 1e300};
  }
  for (int k = 0; k < count; k++) {
    const int r = c->reads[k];
    *(r < nq ? &c->q[r] : &c->v[r - nq]) = c->all[r];
  }
  bound_of(c, what, i, again);
  for (int k = 0; k < values; k++) {
    if (!(again[k].lo == bound[k].lo && again[k].hi == bound[k].hi)) {
      c->outside = fmax(c->outside, 1.0);
    }
  }
  for (int k = 0; k < room; k++) {
    *(k < nq ? &c->q[k] : &c->v[k - nq]) = c->all[k];
  }
}

/* After look_around: order 0. */
static void look_at_all_reads(check_enclosure_checker* c) {
  const saltus_system* sys = c->sys;
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (ops->reads == NULL) {
    return;
  }
  for (int i = 0; ops->along != NULL && i < sys->dims.nv; i++) {
    look_at_reads(c, SALTUS_QUANTITY_FORCE, i, (uint64_t)i, 1);
  }
  for (int j = 0; ops->along != NULL && j < sys->dims.nj; j++) {
    look_at_reads(c, SALTUS_QUANTITY_JOINT, j, (uint64_t)j, 1);
  }
  const bool listed = (!changing || ops->contact_along != NULL) &&
                      saltusi_contacts(sys, &c->at, &c->list) == SALTUS_OK;
  for (int i = 0; listed && i < c->list.count; i++) {
    look_at_reads(c, SALTUS_QUANTITY_GAP, i, c->list.identity[i], 1);
    look_at_reads(c, SALTUS_QUANTITY_VELOCITY, i, c->list.identity[i], rows_of(c, i));
  }
}

static void layout(check_enclosure_checker* c, saltus_arena* arena) {
  const saltus_dims* d = &c->sys->dims;
  c->all = SALTUS_PUSH(arena, saltus_interval, d->nq + d->nv);
  c->reads = SALTUS_PUSH(arena, int, d->nq + d->nv);
  c->t = SALTUS_PUSH(arena, saltus_interval, 2);
  c->q = SALTUS_PUSH2(arena, saltus_interval, d->nq, 2);
  c->v = SALTUS_PUSH2(arena, saltus_interval, d->nv, 2);
  c->q_inside = SALTUS_PUSH(arena, double, d->nq);
  c->v_inside = SALTUS_PUSH(arena, double, d->nv);
  c->dq = SALTUS_PUSH(arena, double, d->nq);
  c->F = SALTUS_PUSH(arena, double, d->nv);
  c->g = SALTUS_PUSH(arena, double, d->nj);
  c->course.scratch =
      saltus_arena_push(arena, c->sys->ops->enclosure->bytes(c->sys->self), 1, SALTUS_ALIGNMENT);
  saltusi_contact_list_layout(&c->list, d, arena);
  const int joint = saltusi_joint_rows_most(c->sys);
  saltusi_rows_layout(&c->rows, d, joint > VALUES ? joint : VALUES, false, arena);
}

saltus_status saltusi_check_enclosures(const saltus_system* system, const saltus_point* at,
                                       double* outside) {
  assert(system != NULL && at != NULL);
  *outside = NAN;
  if (system->ops->enclosure == NULL) {
    return SALTUS_OK;
  }
  saltus_allocator memory = saltus_allocator_default();
  check_enclosure_checker c = {.sys = system, .at = *at, .seed = 1};
  saltus_arena arena = saltus_arena_counting();
  layout(&c, &arena);
  const size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  layout(&c, &arena);
  c.course.t = c.t;
  c.course.q = c.q;
  c.course.v = c.v;
  look_around(&c);
  look_at_all_reads(&c);
  look_at_rates(&c);
  *outside = c.outside;
  memory.free(block, bytes, memory.user);
  return SALTUS_OK;
}
