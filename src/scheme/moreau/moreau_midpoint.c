/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_midpoint.c - Moreau's midpoint rule (Moreau 1999; Capobianco & Eugster 2018, section 4;
 * docs/theory/variational.md, 2.7).
 *
 *   q_M      = q_k + h/2 v_k
 *   active     g(t_M, q_M) <= 0
 *   M(q_M) (v_{k+1} - v_k) = h F(t_M, q_M, v) + G P,    v = v_k, or (v_k + v_{k+1}) / 2
 *   contacts   xi = G^T (v_{k+1} + e v_k) + ...,  joints  G^T (v_k + v_{k+1}) / 2 + b = 0 at q_M
 *   q_{k+1}  = q_M + h/2 v_{k+1},   then v_{k+1} onto the joints at q_{k+1}: projection.h
 *
 * With v = v_k the scheme is explicit, its usual form, and gyroscopic forces add energy in long runs; with the mean
 * velocity it is symmetric in time and adds none.
 */
#include "math/matrix.h"
#include "scheme/newton_end.h"
#include "scheme/position/impulse_node.h"
#include "scheme/projection.h"

#include <string.h>

typedef struct moreau_midpoint_work {
  saltusi_impulse_node node;
  saltusi_linear linear;
  double* q_mid;          /* [nq] */
  double* v;              /* [nv] where forces are evaluated */
  double* v_free;         /* [nv] */
  double* force;          /* [nv] */
  double* v_before;       /* [nv] of the last iteration */
  saltusi_projection end; /* joints at the end of the step */
  double* broken; /* [nj] G_k^T v_k + b_k while contacts are active, else 0 (moreau_step.c) */
} moreau_midpoint_work;

enum { MEAN, START };
static const char* const velocity_names[] = {"mean", "start", NULL};

static const saltus_field fields[] = {
    SALTUS_CHOICE(saltus_moreau_midpoint_options, velocity, MEAN, START, velocity_names,
                  "velocity in the forces: the mean of the step or its start, explicit"),
    SALTUSI_NEWTON_FIELDS(saltus_moreau_midpoint_options, "velocity", 1e-13, 50),
    SALTUSI_CONTACT_FIELDS(saltus_moreau_midpoint_options),
    SALTUSI_PROJECTION_FIELD(saltus_moreau_midpoint_options),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_midpoint_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_midpoint_options, saltus_moreau_midpoint_options_default, fields)

SALTUSI_WARM_MEMORY(saltus_moreau_midpoint_options)

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  const saltus_moreau_midpoint_options* o = options;
  moreau_midpoint_work* w = work_;
  int nv = sys->dims.nv;
  saltusi_impulse_node_layout(&w->node, o->warm_start, eval, arena);
  saltusi_linear_layout(&w->linear, sys, arena);
  w->q_mid = SALTUS_PUSH(arena, double, sys->dims.nq);
  w->v = SALTUS_PUSH(arena, double, nv);
  w->v_free = SALTUS_PUSH(arena, double, nv);
  w->force = SALTUS_PUSH(arena, double, nv);
  w->v_before = SALTUS_PUSH(arena, double, nv);
  w->broken = SALTUS_PUSH(arena, double, sys->dims.nj);
  if (sys->dims.nj > 0) {
    saltusi_projection_layout(&w->end, eval, arena);
  }
}

/* v_free = v_{k+1} - J^-1 R with R = M (v_{k+1} - v_k) - h F and J = M - h/2 F_v, or M */
static saltus_status linearize(moreau_midpoint_work* w, const saltusi_step* s, double weight) {
  int nv = s->eval->sys.dims.nv;
  for (int i = 0; i < nv; i++) {
    w->v[i] = (1.0 - weight) * s->v0[i] + weight * s->v1[i];
  }
  saltus_point at = saltusi_at(s->eval, s->t + 0.5 * s->h, w->q_mid, w->v);
  saltus_status status =
      saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, -weight * s->h, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, &at, w->force);
  for (int i = 0; i < nv; i++) {
    w->v[i] = s->v1[i] - s->v0[i];
  }
  saltusi_linear_mass_times(s->eval, &w->linear, &at, w->v, w->v_free);
  for (int i = 0; i < nv; i++) {
    w->v_free[i] = s->h * w->force[i] - w->v_free[i];
  }
  saltusi_linear_solve(s->eval, &w->linear, w->v_free);
  saltusi_add_scaled(nv, 1.0, s->v1, w->v_free);
  return SALTUS_OK;
}

/* The constraint violation of v_k is not continued where a contact stops the motion. */
static void leave_broken(moreau_midpoint_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_operator* op = &w->node.op;
  saltus_point start = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_point middle = saltusi_at(s->eval, s->t + 0.5 * s->h, w->q_mid, s->v0);
  const bool active = w->node.active > 0;
  if (active) {
    saltusi_rows_joints(sys, &start, &op->rows);
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    w->broken[j] = active ? saltusi_row_dot(&op->rows, j, s->v0) + op->rows.b[j] : 0.0;
  }
  if (active) {
    saltusi_rows_joints(sys, &middle, &op->rows);
  }
}

/* G^T (v_k + v_{k+1}) / 2 + b = 0, doubled */
static void joint_law(moreau_midpoint_work* w, const saltusi_step* s) {
  saltusi_operator* op = &w->node.op;
  for (int j = 0; j < s->eval->sys.dims.nj; j++) {
    op->rhs[j] = saltusi_row_dot(&op->rows, j, w->v_free) + saltusi_row_dot(&op->rows, j, s->v0) -
                 w->broken[j] + 2.0 * op->rows.b[j];
  }
}

static saltus_status solve(moreau_midpoint_work* w, const saltus_moreau_midpoint_options* o,
                           const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  double weight = o->velocity == START ? 0.0 : 0.5;
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  bool exact = weight == 0.0 || (sys->traits & linear) != 0;
  memcpy(s->v1, s->v0, (size_t)nv * sizeof(double));
  saltusi_newton_end end = {.tol = o->newton_tol, .change = INFINITY};
  for (int k = 0; k < o->newton_max; k++) {
    saltus_status status = linearize(w, s, weight);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_impulse_node_law(&w->node, s, w->v_free, s->v0);
    joint_law(w, s);
    memcpy(w->v_before, s->v1, (size_t)nv * sizeof(double));
    status = saltusi_impulse_node_impose(&w->node, s, &w->linear, w->v_free, s->v1);
    s->report->newton_iterations = k + 1;
    if (status != SALTUS_OK || exact) {
      return status;
    }
    bool arrived = false;
    status = saltusi_newton_judge(&end, s, k, w->v_free, w->v_before, &arrived);
    if (status != SALTUS_OK || arrived) {
      return status;
    }
  }
  return SALTUS_RETRY_SMALLER;
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  moreau_midpoint_work* w = work_;
  const saltus_system* sys = &s->eval->sys;
  saltusi_advance(sys, s->q0, s->v0, 0.5 * s->h, w->q_mid);
  saltus_point at = saltusi_at(s->eval, s->t + 0.5 * s->h, w->q_mid, s->v0);
  saltusi_warm_open(&w->node.op, s->memory0, s->h);
  saltus_status status = saltusi_impulse_node_look(&w->node, s, &at);
  if (status == SALTUS_OK) {
    leave_broken(w, s);
    status = solve(w, options, s);
  }
  s->eval->work.newton_iterations += s->report->newton_iterations;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_advance(sys, w->q_mid, s->v1, 0.5 * s->h, s->q1);
  saltusi_impulse_node_keep(&w->node, s, s->memory1);
  saltusi_impulse_node_report(&w->node, s, s->v1);
  s->report->active = w->node.active;
  if (w->node.active > 0) {
    memcpy(s->contacts, w->node.steps, (size_t)w->node.active * sizeof *s->contacts);
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    s->joint_impulses[j] = w->node.P[j];
  }
  if (sys->dims.nj == 0) {
    return SALTUS_OK;
  }
  at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  return saltusi_project_velocities(&w->end, s->eval, &at, s->v1, s->joint_impulses);
}

const saltusi_scheme_ops saltusi_moreau_midpoint = {
    .info =
        {
            .name = "moreau-midpoint",
            .summary = "Moreau's midpoint rule: positions explicit, impact law at the midpoint",
            .source = "Moreau 1999; Capobianco & Eugster 2018, section 4",
            .order = 1,
            .smooth_order = 2,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS |
                      SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(moreau_midpoint_work),
};
