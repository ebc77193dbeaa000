/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * projection.c - see projection.h.
 */
#include "scheme/projection.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Limit of corrections: each squares the remaining error, or with old matrices reduces it in proportion to the first
 * displacement. */
enum { CORRECTIONS_MAX = 40 };

/* Limit of halvings of a correction. */
enum { HALVES_MAX = 10 };

/* Joints count as closed when g no longer shrinks and is below this many rounding errors of its
 * terms. */
static const double stalled = 1e4;

/* The constraint violation of velocities has grown when it exceeds this multiple of n^2 / |v|, or
 * this part of n, with n the velocity change by joints in a step: n / |v| is the rotation of a body
 * in it. */
static const double grown = 1.0;
static const double most = 0.25;

const char* const saltusi_projection_names[] = {"false", "true", NULL};

bool saltusi_projection_asked(const saltus_field_table* table, const void* options) {
  assert(table != NULL && options != NULL);
  for (int i = 0; i < table->count; i++) {
    const saltus_field* field = &table->fields[i];
    if (field->choices == saltusi_projection_names) {
      int value;
      memcpy(&value, (const char*)options + field->offset, sizeof value);
      return value == 1;
    }
  }
  return false;
}

void saltusi_projection_layout(saltusi_projection* p, const saltusi_eval* eval,
                               saltus_arena* arena) {
  assert(p != NULL && eval != NULL && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  saltusi_eval alone = *eval;
  alone.sys.dims.nc = 0;
  saltusi_linear_layout(&p->mass, &eval->sys, arena);
  saltusi_operator_layout(&p->op, &alone, &(saltusi_demand){.held = true}, arena);
  p->shift = SALTUS_PUSH(arena, double, d->nv);
  p->q = SALTUS_PUSH(arena, double, d->nq);
  p->scale = SALTUS_PUSH(arena, double, d->nj);
  p->failed = -1;
}

/* Rows, M and their factors at q1, and the size of the terms of each joint. */
static saltus_status look(saltusi_projection* p, const saltusi_step* s, const saltus_point* at) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_operator_hold(&p->op, sys, at, NULL, 0);
  saltus_status status = saltusi_linear_assemble(s->eval, &p->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_form_active(&p->op, s->eval, &p->mass);
  double size = saltusi_max_abs(sys->dims.nq, at->q);
  for (int i = 0; i < sys->dims.nv; i++) {
    p->shift[i] = size;
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    p->scale[j] = DBL_EPSILON * saltusi_row_size(&p->op.rows, j, p->shift);
  }
  return p->op.status;
}

/* The largest g in units of its rounding, and its row. */
static double worst_of(const saltusi_projection* p, int nj, int* where) {
  double worst = 0.0;
  *where = 0;
  for (int j = 0; j < nj; j++) {
    double size = fabs(p->op.rhs[j]) / (p->scale[j] > 0.0 ? p->scale[j] : DBL_MIN);
    if (!(size <= worst)) {
      worst = size;
      *where = j;
    }
  }
  return worst;
}

/* Sum of the squares of g in units of its rounding. */
static double squares_of(const saltusi_projection* p, int nj, const double* g) {
  double sum = 0.0;
  for (int j = 0; j < nj; j++) {
    const double size = g[j] / (p->scale[j] > 0.0 ? p->scale[j] : DBL_MIN);
    sum += size * size;
  }
  return sum;
}

/* Moves q1 along the shift as far as g shrinks: steps that rotate bodies by radians leave large g.
 * g at the new position then is the right-hand side. */
static void move(saltusi_projection* p, const saltusi_step* s, const saltus_point* at) {
  const saltus_system* sys = &s->eval->sys;
  const saltus_dims* d = &sys->dims;
  const double before = squares_of(p, d->nj, p->op.rhs);
  saltus_point next = *at;
  next.q = p->q;
  double part = 1.0;
  for (int k = 0; k < HALVES_MAX; k++, part *= 0.5) {
    saltusi_advance(sys, s->q1, p->shift, part, p->q);
    sys->ops->joints(sys->self, &next, p->op.rhs);
    if (squares_of(p, d->nj, p->op.rhs) < before) {
      s->report->projection += part * saltusi_max_abs(d->nv, p->shift);
      break;
    }
  }
  memcpy(s->q1, p->q, (size_t)d->nq * sizeof(double));
}

saltus_status saltusi_project_joints(saltusi_projection* p, const saltusi_step* s) {
  assert(p != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  const saltus_dims* d = &sys->dims;
  saltus_point at = saltusi_at(s->eval, s->t + s->report->h, s->q1, s->v1);
  double last = INFINITY;
  int where = 0;
  p->failed = -1;
  saltus_status status = look(p, s, &at);
  sys->ops->joints(sys->self, &at, p->op.rhs);
  for (int k = 0; status == SALTUS_OK && k <= CORRECTIONS_MAX; k++) {
    double worst = worst_of(p, d->nj, &where);
    if (worst <= SALTUSI_JOINTS_CLOSED || (worst <= stalled && worst >= 0.5 * last)) {
      return SALTUS_OK;
    }
    if (!(worst < 1e300) || k == CORRECTIONS_MAX) {
      break;
    }
    if (k > 0 && worst > 0.1 * last) { /* slow convergence: matrices at the present position */
      status = look(p, s, &at);
      sys->ops->joints(sys->self, &at, p->op.rhs);
    }
    last = worst;
    status = status == SALTUS_OK ? saltusi_operator_solve(&p->op, s->eval) : status;
    if (status != SALTUS_OK) {
      return status;
    }
    memset(p->shift, 0, (size_t)d->nv * sizeof(double));
    saltusi_operator_apply(&p->op, s->eval, p->shift);
    move(p, s, &at);
  }
  if (status == SALTUS_OK) {
    p->failed = where;
    p->left = p->op.rhs[where];
    status = SALTUS_RETRY_SMALLER;
  }
  return status;
}

/* U into the right-hand sides; whether it exceeds rounding in some row. */
static bool joints_move(saltusi_projection* p, int nj, const double* v) {
  bool moves = false;
  for (int j = 0; j < nj; j++) {
    double b = p->op.rows.b[j];
    double rounding = DBL_EPSILON * (saltusi_row_size(&p->op.rows, j, v) + fabs(b));
    p->op.rhs[j] = saltusi_row_dot(&p->op.rows, j, v) + b;
    moves = moves || !(fabs(p->op.rhs[j]) <= SALTUSI_JOINTS_CLOSED * rounding);
  }
  return moves;
}

/* Computes lambda = -W^-1 U into op.P; *moves: U exceeds rounding. */
static saltus_status find_velocity_impulses(saltusi_projection* p, saltusi_eval* eval,
                                            const saltus_point* at, bool* moves) {
  saltusi_operator_hold(&p->op, &eval->sys, at, NULL, 0);
  *moves = joints_move(p, eval->sys.dims.nj, at->v);
  saltus_status status =
      *moves ? saltusi_linear_assemble(eval, &p->mass, at, 1.0, 0.0, 0.0) : SALTUS_OK;
  if (status != SALTUS_OK || !*moves) {
    return status;
  }
  saltusi_operator_form_active(&p->op, eval, &p->mass);
  return p->op.status != SALTUS_OK ? p->op.status : saltusi_operator_solve(&p->op, eval);
}

/* v += M^-1 G lambda */
static void apply_velocity_impulses(saltusi_projection* p, const saltusi_eval* eval, double* v,
                                    double* impulses) {
  saltusi_operator_apply(&p->op, eval, v);
  for (int j = 0; j < eval->sys.dims.nj; j++) {
    impulses[j] += p->op.P[j];
  }
}

saltus_status saltusi_project_velocities(saltusi_projection* p, saltusi_eval* eval,
                                         const saltus_point* at, double* v, double* impulses) {
  assert(p != NULL && eval != NULL && at != NULL && v != NULL && impulses != NULL);
  bool moves = false;
  saltus_status status = find_velocity_impulses(p, eval, at, &moves);
  if (status == SALTUS_OK && moves) {
    apply_velocity_impulses(p, eval, v, impulses);
  }
  return status;
}

/* Whether the block of the mass matrix that contains a velocity has an impulse. */
static bool has_impulse(const saltus_structure* s, int velocity, const double* impulse) {
  int low = 0, high = s->blocks - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    low = s->start[middle] <= velocity ? middle : low;
    high = s->start[middle] <= velocity ? high : middle - 1;
  }
  bool any = false;
  for (int i = s->start[low]; i < s->start[low + 1] && !any; i++) {
    any = impulse[i] != 0.0;
  }
  return any;
}

/* Whether impulses act on a body with joints. */
static bool reaches_joints(const saltusi_projection* p, const saltus_system* sys,
                           const double* impulse) {
  const saltusi_row_block* rows = &p->op.rows;
  const saltus_structure* s = sys->structure;
  bool any = s == NULL || s->pairs > 0 || rows->column == NULL;
  for (int j = 0; j < sys->dims.nj && !any; j++) {
    const int* column = rows->column + (size_t)j * (size_t)rows->stride;
    for (int e = 0; e < rows->entries[j] && !any; e++) {
      any = has_impulse(s, column[e], impulse);
    }
  }
  return any;
}

saltus_status saltusi_projection_answer(saltusi_projection* p, saltusi_eval* eval,
                                        const saltus_point* at, double* impulse, double* answer) {
  assert(p != NULL && eval != NULL && at != NULL && impulse != NULL && answer != NULL);
  const int nj = eval->sys.dims.nj;
  saltusi_operator_hold(&p->op, &eval->sys, at, NULL, 0);
  if (!reaches_joints(p, &eval->sys, impulse)) {
    memset(answer, 0, (size_t)nj * sizeof(double));
    return SALTUS_OK;
  }
  saltus_status status = saltusi_linear_assemble(eval, &p->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_linear_solve(eval, &p->mass, impulse);
  for (int j = 0; j < nj; j++) {
    p->op.rhs[j] = saltusi_row_dot(&p->op.rows, j, impulse);
  }
  saltusi_operator_form_active(&p->op, eval, &p->mass);
  status = p->op.status != SALTUS_OK ? p->op.status : saltusi_operator_solve(&p->op, eval);
  for (int j = 0; status == SALTUS_OK && j < nj; j++) {
    answer[j] = p->op.P[j];
  }
  return status;
}

/* Whether a = |lambda| exceeds the O(h^2) of a regular step, with n = |P + 2 lambda| and norms
 * |x|^2 = x^T W x: P without the part that reverses U. */
static bool has_grown(saltusi_projection* p, saltusi_eval* eval, const saltus_point* at,
                      const double* impulses) {
  const saltus_dims* d = &eval->sys.dims;
  double* lambda = p->scale;
  double a2 = 0.0;
  double n2 = 0.0;
  for (int j = 0; j < d->nj; j++) {
    lambda[j] = p->op.P[j];
    a2 -= lambda[j] * p->op.rhs[j];
    p->op.P[j] = impulses[j] + 2.0 * lambda[j];
  }
  memset(p->shift, 0, (size_t)d->nv * sizeof(double));
  saltusi_operator_apply(&p->op, eval, p->shift);
  for (int j = 0; j < d->nj; j++) {
    n2 += p->op.P[j] * saltusi_row_dot(&p->op.rows, j, p->shift);
    p->op.P[j] = lambda[j];
  }
  saltusi_linear_mass_times(eval, &p->mass, at, at->v, p->shift);
  double speed2 = saltusi_dot(d->nv, at->v, p->shift);
  return a2 * speed2 > grown * grown * n2 * n2 || a2 > most * most * n2;
}

saltus_status saltusi_project_grown_velocities(saltusi_projection* p, saltusi_eval* eval,
                                               const saltus_point* at, double* v,
                                               double* impulses) {
  assert(p != NULL && eval != NULL && at != NULL && v != NULL && impulses != NULL);
  bool moves = false;
  saltus_status status = find_velocity_impulses(p, eval, at, &moves);
  if (status == SALTUS_OK && moves && has_grown(p, eval, at, impulses)) {
    apply_velocity_impulses(p, eval, v, impulses);
  }
  return status;
}
