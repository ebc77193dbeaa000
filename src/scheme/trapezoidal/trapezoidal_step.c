/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_step.c - one substep with given contacts: equations (6.9)-(6.12) of Potra et al. 2006,
 * corrected; see trapezoidal.h. In terms of d = v1 - v the right-hand side needs no product with A:
 *
 *   A (v1 + v) = 2 A v + k   and   A v1 = A v + k   are both   A d = k.
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include "base/log.h"
#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>
#include <float.h>
#include <string.h>

static void end_layout(saltusi_trapezoid_end* end, const saltus_dims* d, int rows,
                       saltus_arena* arena) {
  end->q = SALTUS_PUSH(arena, double, d->nq);
  end->v = SALTUS_PUSH(arena, double, d->nv);
  end->P = SALTUS_PUSH(arena, double, rows);
}

static void layout_by_key(saltusi_trapezoid* w, int nc, saltus_arena* arena) {
  double** reals[] = {&w->u_before,   &w->e,         &w->gap,     &w->gap_end,
                      &w->gap_inside, &w->gap_start, &w->u_start, &w->hit_at};
  for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
    *reals[i] = SALTUS_PUSH(arena, double, nc);
  }
  w->slip_before = SALTUS_PUSH2(arena, double, nc, 2);
  w->struck_keys = SALTUS_PUSH(arena, int, nc);
  bool** flags[] = {&w->active, &w->hit, &w->paradox, &w->reported, &w->rebounds};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    *flags[i] = SALTUS_PUSH(arena, bool, nc);
  }
  saltusi_mode** modes[] = {&w->whole_mode, &w->held, &w->mode, &w->reported_mode};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    *modes[i] = SALTUS_PUSH(arena, saltusi_mode, nc);
  }
  w->law_of = SALTUS_PUSH(arena, int, nc);
  w->hit_count = SALTUS_PUSH(arena, int, nc);
  w->summary = SALTUS_PUSH(arena, saltus_contact_step, nc);
  w->filtered = SALTUS_PUSH(arena, saltusi_filtered_contact, nc);
}

/* Whether the system writes A by blocks. */
static bool has_blocks(const saltus_system* sys) {
  return sys->ops->linear == NULL && sys->ops->blocks != NULL && sys->structure != NULL;
}

static void layout_stiffness(saltusi_trapezoid* w, const saltus_system* sys, saltus_arena* arena) {
  size_t nv = (size_t)sys->dims.nv;
  bool blocks = has_blocks(sys);
  bool free = (sys->traits & SALTUS_FREE_FORCE) != 0;
  size_t values = blocks ? saltusi_structure_values(sys->structure) : nv * nv;
  w->F_q = SALTUS_PUSH(arena, double, free ? 0 : values);
  w->scratch =
      SALTUS_PUSH(arena, double, free || w->effective.kind != SALTUSI_LINEAR_DENSE ? 0 : nv * nv);
}

/* y = F_q x */
static void stiffness_times(saltusi_trapezoid* w, const saltus_point* at, const double* x,
                            double* y) {
  const saltus_system* sys = &w->eval->sys;
  if (has_blocks(sys)) {
    sys->ops->blocks(sys->self, at, 0.0, 0.0, 1.0, w->F_q);
    saltusi_structure_times(sys->structure, w->F_q, x, y);
    return;
  }
  saltusi_force_q(w->eval, at, w->F_q);
  saltusi_matrix_times(sys->dims.nv, w->F_q, x, y);
}

void saltusi_trapezoid_layout(saltusi_trapezoid* w, const saltus_trapezoidal_options* o,
                              const saltusi_eval* eval, saltus_arena* arena) {
  assert(w != NULL && o != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  if (o->jacobians != SALTUS_JACOBIANS_EXACT) { /* the same system with approximate derivatives */
    w->approximate_ops = *sys->ops;
    w->approximate_ops.force_q = sys->ops->spring_q;
    w->approximate_ops.force_v = sys->ops->spring_v;
    w->approximate_ops.linear = NULL;
    w->approximate_ops.blocks = NULL; /* gathered from the dense ones */
    w->approximate = (saltusi_eval){.sys = *sys, .room = eval->room};
    w->approximate.sys.ops = &w->approximate_ops;
    w->approximate.sys.traits &= ~(unsigned)SALTUS_LINEAR_FORCE;
    saltusi_eval_layout(&w->approximate, arena);
    eval = &w->approximate;
    sys = &eval->sys;
  }
  saltusi_linear_layout(&w->effective, sys, arena);
  saltusi_linear_layout(&w->doubled, sys, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  saltusi_polyhedral_rows_layout(&w->law, eval, o->direction_pairs, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  int rows = d->nj + 3 * d->nc;
  end_layout(&w->whole, d, rows, arena);
  end_layout(&w->trial, d, rows, arena);
  double** positions[] = {&w->q, &w->q_mid, &w->q_end};
  double** velocities[] = {&w->v, &w->F0, &w->F1};
  for (int i = 0; i < 3; i++) {
    *positions[i] = SALTUS_PUSH(arena, double, d->nq);
    *velocities[i] = SALTUS_PUSH(arena, double, d->nv);
  }
  layout_stiffness(w, sys, arena);
  w->push = SALTUS_PUSH(arena, double, d->nv);
  w->joint_gap = SALTUS_PUSH(arena, double, d->nj);
  w->compression = SALTUS_PUSH(arena, double, rows);
  saltusi_rows_layout(&w->row, d, 3, false, arena);
  layout_by_key(w, d->nc, arena);
  w->observed =
      SALTUS_PUSH2(arena, saltusi_substep_observation, d->nc, 2 + 2 * (size_t)o->direction_pairs);
}

/* trial.v <- A^-1 k, the change of velocity without joints and contacts */
static saltus_status free_motion(saltusi_trapezoid* w, double x, saltusi_linear* A,
                                 const saltus_point* middle) {
  saltusi_eval* eval = w->eval;
  int nv = eval->sys.dims.nv;
  saltus_status status = saltusi_linear_assemble(eval, A, middle, 1.0, -0.5 * x, -0.25 * x * x);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_point start = saltusi_at(eval, w->t, w->q, w->v);
  saltusi_force(eval, &start, w->F0);
  start.t = w->t + x;
  saltusi_force(eval, &start, w->F1);
  double* d = w->trial.v;
  if ((eval->sys.traits & SALTUS_FREE_FORCE) == 0) {
    stiffness_times(w, middle, w->v, d);
  } else {
    memset(d, 0, (size_t)nv * sizeof(double));
  }
  double part = w->o->force_term == 0 ? 1.0 : 0.5;
  for (int i = 0; i < nv; i++) {
    d[i] = 0.5 * x * (w->F0[i] + w->F1[i] + part * x * d[i]);
  }
  saltusi_linear_solve(eval, A, d);
  return SALTUS_OK;
}

/* The mean velocity of a moving surface is taken from both ends: with 2 b of the middle a sticking
 * contact would keep a slip of O(x^2), which alternates without end. */
static void move_surfaces(saltusi_trapezoid* w, double x) {
  saltusi_polyhedral_rows* law = &w->law;
  const saltusi_row_block* rows = saltusi_polyhedral_rows_measured(law);
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    const double* b = rows->b + contact->row;
    if (saltusi_max_abs(1 + contact->tangents, b) == 0.0) {
      continue;
    }
    for (int side = 0; side < 2; side++) {
      saltus_point at = saltusi_at(w->eval, w->t + side * x, w->q_mid, w->v);
      saltusi_rows_contact(&w->eval->sys, &at, contact->key, 1 + contact->tangents, &w->row, 0);
      for (int r = 0; r <= contact->tangents; r++) {
        law->rate[contact->row + r] += w->row.b[r] - b[r];
      }
    }
  }
}

/* Velocities of the rows without impulses, for the velocity that the law constrains; optional
 * stabilisation removes the drift of joints and of active contacts (docs/theory/trapezoidal.md, 2.3) within one whole
 * step. */
static void write_rates(saltusi_trapezoid* w, double x, bool mean) {
  saltusi_polyhedral_rows* law = &w->law;
  const saltusi_row_block* rows = saltusi_polyhedral_rows_measured(law);
  const saltus_system* sys = &w->eval->sys;
  double twice = mean ? 2.0 : 1.0;
  for (int r = 0; r < law->rows; r++) {
    law->rate[r] = saltusi_row_dot(rows, r, w->trial.v) + twice * saltusi_row_dot(rows, r, w->v) +
                   twice * rows->b[r];
  }
  if (mean) {
    move_surfaces(w, x);
  }
  const int drawn = w->o->stabilisation;
  for (int i = 0; i < law->count && drawn >= SALTUS_STABILISATION_CONTACTS; i++) {
    const double gap = w->gap[law->contacts[i].key];
    law->rate[law->contacts[i].row] += twice * gap / w->s->h;
  }
  if ((drawn == SALTUS_STABILISATION_JOINTS || drawn == SALTUS_STABILISATION_ALL) &&
      law->joints > 0) {
    saltus_point start = saltusi_at(w->eval, w->t, w->q, w->v);
    sys->ops->joints(sys->self, &start, w->joint_gap);
    for (int j = 0; j < law->joints; j++) {
      law->rate[j] += twice * w->joint_gap[j] / w->s->h;
    }
  }
}

saltus_status saltusi_trapezoid_prepare(saltusi_trapezoid* w, double x, bool mean) {
  assert(w != NULL);
  const saltus_system* sys = &w->eval->sys;
  saltusi_advance(sys, w->q, w->v, 0.5 * x, w->q_mid);
  saltus_point middle = saltusi_at(w->eval, w->t + 0.5 * x, w->q_mid, w->v);
  saltusi_linear* A = x > w->left ? &w->doubled : &w->effective;
  saltus_status status = free_motion(w, x, A, &middle);
  if (status != SALTUS_OK || w->law.rows == 0) {
    return status;
  }
  bool apart = !mean && w->o->gradients == 0;
  saltus_point end = middle;
  if (apart) {
    saltusi_advance(sys, w->q, w->v, x, w->q_end);
    end.t = w->t + x;
    end.q = w->q_end;
  }
  saltusi_polyhedral_rows_form(&w->law, w->eval, &middle, apart ? &end : &middle, A);
  write_rates(w, x, mean);
  return SALTUS_OK;
}

void saltusi_trapezoid_finish(saltusi_trapezoid* w, double x, saltusi_trapezoid_end* end) {
  assert(w != NULL && end != NULL);
  const saltus_system* sys = &w->eval->sys;
  int nv = sys->dims.nv;
  memmove(end->v, w->trial.v, (size_t)nv * sizeof(double));
  saltusi_operator_apply(&w->law.op, w->eval, end->v);
  for (int i = 0; i < nv; i++) {
    double change = end->v[i];
    end->v[i] = w->v[i] + change;
    w->F1[i] = w->v[i] + 0.5 * change;
  }
  saltusi_advance(sys, w->q, w->F1, x, end->q);
  memcpy(end->P, w->law.P, (size_t)w->law.rows * sizeof(double));
}

/* The symmetric part of A = M - x/2 F_v - x^2/4 F_q in w->scratch. */
static void symmetric_part(saltusi_trapezoid* w, double x) {
  saltusi_eval* eval = w->eval;
  const saltus_system* sys = &eval->sys;
  int nv = sys->dims.nv;
  saltus_point middle = saltusi_at(eval, w->t + 0.5 * x, w->q_mid, w->v);
  double* A = w->scratch;
  sys->ops->mass(sys->self, &middle, A);
  saltusi_force_q(eval, &middle, w->F_q);
  saltusi_add_scaled(nv * nv, -0.25 * x * x, w->F_q, A);
  saltusi_force_v(eval, &middle, w->F_q);
  saltusi_add_scaled(nv * nv, -0.5 * x, w->F_q, A);
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < i; j++) {
      double mean = 0.5 * (A[i * nv + j] + A[j * nv + i]);
      A[i * nv + j] = mean;
      A[j * nv + i] = mean;
    }
  }
}

bool saltusi_trapezoid_is_definite(saltusi_trapezoid* w, double x) {
  assert(w != NULL);
  const saltus_system* sys = &w->eval->sys;
  if ((sys->traits & SALTUS_FREE_FORCE) != 0) {
    return true; /* A is M */
  }
  if (w->effective.fv != -0.5 * x) { /* the last substep was shorter */
    saltus_point middle = saltusi_at(w->eval, w->t + 0.5 * x, w->q_mid, w->v);
    if (saltusi_linear_assemble(w->eval, &w->effective, &middle, 1.0, -0.5 * x, -0.25 * x * x) !=
        SALTUS_OK) {
      return true; /* reported by the next substep */
    }
  }
  bool definite = true;
  if (w->effective.kind == SALTUSI_LINEAR_BLOCKS) {
    definite = saltusi_linear_blocks_definite(&w->effective.blocks);
  } else if (saltusi_linear_diagonal(w->eval, &w->effective, w->F1)) {
    for (int i = 0; i < sys->dims.nv; i++) {
      definite = definite && w->F1[i] > 0.0;
    }
  } else if (sys->ops->linear == NULL && sys->ops->mass != NULL) {
    symmetric_part(w, x);
    definite = saltusi_is_definite(sys->dims.nv, w->scratch);
  }
  return definite;
}

void saltusi_trapezoid_check_definite(saltusi_trapezoid* w, double x) {
  assert(w != NULL);
  const bool definite = saltusi_trapezoid_is_definite(w, x);
  w->s->report->indefinite_mass = !definite;
  if (!definite && !w->indefinite) {
    w->indefinite = true;
    saltusi_log(w->s->log, SALTUS_LEVEL_WARNING,
                "at t = %.17g the effective mass M - h/2 F_v - h^2/4 F_q is not positive definite "
                "for h = %g: contact problems may have no solution; take a smaller step or "
                "jacobians=automatic or gauss-newton",
                w->t, x);
  }
}
