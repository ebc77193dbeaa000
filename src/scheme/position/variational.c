/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * variational.c - the Moreau-type variational integrator (Capobianco & Eugster, IJNME 114 (2018) 1214-1231, equation
 * (8) with its misprints corrected; docs/theory/variational.md, 2 and 4).
 *
 * The action of a step is the trapezoidal rule of the Lagrangian at constant velocity u_k = (q_{k+1} - q_k) / h. With
 * T_q + f = F + (d/dt M) v at (q, u) the discrete Euler-Lagrange equations are
 *
 *   p_k-  = 1/2 [M(q_{k-1}) + M(q_k)] u_{k-1} + h/2 (F + M' u)(t_k, q_k, u_{k-1})
 *   R     = 1/2 [M(q_k) + M(q_{k+1})] u_k - h/2 (F + M' u)(t_k, q_k, u_k) - p_k- = G_k P_k
 *   contacts closed at q_k    xi = G_k^T (u_k + e u_{k-1}) + ...,  with friction
 *   joints                    g(t_{k+1}, q_{k+1}) = 0, forces along G_k
 *   start                     p_0- = M(q_0) v_0,  u_{-1} = v_0
 *
 * The returned velocity is that of the momentum at the node, so that energies have no error of staggering: M(q_k) v_k =
 * p_k- + G_k P_k for an impact, p_k- + G_k P_k / 2 for non-impulsive contact, whose force acts before and after the
 * node, and joints project: G_k^T v_k + b = 0. The remainder of an impulse at a node is counted in the next step.
 *
 * With degree=2 positions are quadratic in time inside a step (trapezoidal_action.h), with the law at the nodes
 * unchanged: order 4 between impacts.
 */
#include "base/log.h"
#include "scheme/newton_end.h"
#include "scheme/trapezoidal/trapezoidal_action.h"

#include <string.h>

typedef struct variational_work {
  saltusi_impulse_node node;
  saltusi_action action;
  saltusi_linear mass;
  double* u_before;    /* [nv] */
  double* half_before; /* [nv] a of the step that ends, of degree 2 */
} variational_work;

/* Memory from step to step: h of the run (0: not started), u of the next step and its a, remaining impulses
 * of contacts (three each) and joints, and the impulses of the last node for the warm start. */
enum { MEMORY_H, MEMORY_U };

/* Doubles that describe the motion in a step, u and a. */
static size_t motion_count(const saltus_variational_options* o, const saltus_dims* d) {
  return (size_t)o->degree * (size_t)d->nv;
}

static size_t memory_contacts(const saltus_variational_options* o, const saltus_dims* d) {
  return MEMORY_U + motion_count(o, d);
}

static size_t memory_joints(const saltus_variational_options* o, const saltus_dims* d) {
  return memory_contacts(o, d) + 3 * (size_t)d->nc;
}

static size_t memory_warm(const saltus_variational_options* o, const saltus_dims* d) {
  return memory_joints(o, d) + (size_t)d->nj;
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_variational_options, degree, 1, 1, 2, "degree of positions inside a step"),
    SALTUSI_NEWTON_FIELDS(saltus_variational_options, "velocity", 1e-14, 50),
    SALTUSI_CONTACT_FIELDS(saltus_variational_options),
};

#define TABLE SALTUSI_TABLE(saltus_variational_options, fields)

SALTUSI_DEFAULTS(saltus_variational_options, saltus_variational_options_default, fields)

static size_t memory_count(const void* options, const saltus_system* sys) {
  const saltus_variational_options* o = options;
  return memory_warm(o, &sys->dims) + saltusi_warm_count(o->warm_start, sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  const saltus_variational_options* o = options;
  saltusi_transfer_plain(carry, memory_contacts(o, &sys->dims));
  saltusi_transfer_each(carry, 3);
  saltusi_transfer_plain(carry, (size_t)sys->dims.nj);
  saltusi_warm_transfer(o->warm_start, sys, carry);
}

/* Dense output: t and h of the step, q at its start, u, v at the start, before and after the node at its end, and a. */
enum { DENSE_T, DENSE_H, DENSE_Q };

static size_t dense_count(const void* options, const saltus_system* sys) {
  return 2 + (size_t)sys->dims.nq + 3 * (size_t)sys->dims.nv + motion_count(options, &sys->dims);
}

/* Between nodes positions are linear in time and the velocity is u; with degree 2 positions are quadratic and the
 * velocity changes from u - a to u + a. At a node the velocities are
 * those of the momenta: p- from the left, and from the right the returned velocity, which is that
 * of p+ after an impact. */
static saltus_status dense(void* work_, const void* options, const saltusi_dense_query* query) {
  (void)work_;
  const saltus_variational_options* o = options;
  const saltus_dims* d = &query->eval->sys.dims;
  const double* q0 = query->data + DENSE_Q;
  const double* u = q0 + d->nq;
  double since = query->t - query->data[DENSE_T];
  bool start = query->t <= query->data[DENSE_T];
  bool end = query->t >= query->data[DENSE_T] + query->data[DENSE_H];
  const double* v = u;
  if (start || end) {
    int place = start ? 1 : (query->side == SALTUS_LEFT ? 2 : 3);
    v = u + (size_t)place * (size_t)d->nv;
  }
  if (o->degree == 2) {
    const double* a = u + 4 * (size_t)d->nv;
    const double part = since / query->data[DENSE_H];
    for (int i = 0; i < d->nv; i++) {
      query->v[i] = u[i] - (1.0 - part) * a[i]; /* mean velocity since the start */
    }
    saltusi_advance(&query->eval->sys, q0, query->v, since, query->q);
    for (int i = 0; i < d->nv; i++) {
      query->v[i] = start || end ? v[i] : u[i] - (1.0 - 2.0 * part) * a[i];
    }
    return SALTUS_OK;
  }
  saltusi_advance(&query->eval->sys, q0, u, since, query->q);
  memcpy(query->v, v, (size_t)d->nv * sizeof(double));
  return SALTUS_OK;
}

/* Dense output of a finished step; w->u_before is the velocity of the step. */
static void keep_dense(variational_work* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  size_t bytes = (size_t)d->nv * sizeof(double);
  double* u = s->dense + DENSE_Q + d->nq;
  s->dense[DENSE_T] = s->t;
  s->dense[DENSE_H] = s->h;
  memcpy(s->dense + DENSE_Q, s->q0, (size_t)d->nq * sizeof(double));
  memcpy(u, w->u_before, bytes);
  memcpy(u + d->nv, s->v0, bytes);
  double* left = u + 2 * (size_t)d->nv;
  memcpy(left, w->action.momentum, bytes);
  saltusi_linear_solve(s->eval, &w->mass, left);
  memcpy(u + 3 * (size_t)d->nv, s->v1, bytes);
  if (w->action.degree == 2) {
    memcpy(u + 4 * (size_t)d->nv, w->half_before, bytes);
  }
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  const saltus_variational_options* o = options;
  variational_work* w = work_;
  saltusi_impulse_node_layout(&w->node, o->warm_start, eval, arena);
  saltusi_action_layout(&w->action, o->degree, sys, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  w->u_before = SALTUS_PUSH(arena, double, sys->dims.nv);
  w->half_before = SALTUS_PUSH(arena, double, o->degree == 2 ? sys->dims.nv : 0);
}

/* u and a of a step to or from its memory. */
static void copy_motion(const saltusi_action* a, size_t nv, double* memory, bool store) {
  double* own[2] = {a->u, a->half_change};
  for (int k = 0; k < a->degree; k++) {
    memcpy(store ? memory + (size_t)k * nv : own[k], store ? own[k] : memory + (size_t)k * nv,
           nv * sizeof(double));
  }
}

static saltus_status check(const void* options, const saltus_system* sys, saltus_log log) {
  const saltus_variational_options* o = options;
  if (o->degree == 2 && (sys->dims.nj > 0 || saltusi_has_maps(sys))) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "degree=2 needs coordinates without joints and orientations: joints would act at "
                "the inner node of a "
                "step as well; use degree=1, or scheme rattle");
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

/* u and P of the node at (t, q), from the momentum before it and w->u_before. */
static saltus_status solve_node(variational_work* w, const saltus_variational_options* o,
                                const saltusi_step* s, double t, const double* q) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_action* action = &w->action;
  size_t bytes = (size_t)sys->dims.nv * sizeof(double);
  saltus_point at = saltusi_at(s->eval, t, q, w->u_before);
  saltus_status status = saltusi_impulse_node_look(&w->node, s, &at);
  memcpy(action->u, w->u_before, bytes);
  double change = INFINITY;
  for (int k = 0; k < o->newton_max && status == SALTUS_OK; k++) {
    status = saltusi_action_linearize(action, &w->node, s, &at);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_impulse_node_law(&w->node, s, action->u_free, w->u_before);
    saltusi_action_joints(action, &w->node, s, t);
    memcpy(action->residual, action->u, bytes);
    status = saltusi_impulse_node_impose(&w->node, s, &action->linear, action->u_free, action->u);
    s->report->newton_iterations++;
    if (status != SALTUS_OK || saltusi_action_is_linear(action, sys)) {
      return status;
    }
    switch (saltusi_action_judge(action, s, k, o->newton_tol, &change)) {
    case SALTUSI_ARRIVED:
      return SALTUS_OK;
    case SALTUSI_NOT_A_NUMBER:
      return SALTUS_RETRY_NAN;
    case SALTUSI_GO_ON:
      break;
    }
  }
  return status == SALTUS_OK ? SALTUS_RETRY_SMALLER : status;
}

/* First node of a run: the momentum of the given velocity. */
static saltus_status start(variational_work* w, const saltus_variational_options* o,
                           const saltusi_step* s) {
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltusi_impulse_node_mass_times(&w->node, s, &at, s->v0, w->action.momentum);
  memcpy(w->u_before, s->v0, (size_t)s->eval->sys.dims.nv * sizeof(double));
  if (o->degree == 2) {
    memset(w->action.half_change, 0, (size_t)s->eval->sys.dims.nv * sizeof(double));
  }
  w->node.op.laws.span = 0.5 * s->h; /* there is no half step before it */
  const saltus_status status = solve_node(w, o, s, s->t, s->q0);
  w->node.op.laws.span = s->h;
  return status;
}

static saltus_contact_step* report_for(const saltusi_step* s, int key, int law) {
  for (int i = 0; i < s->report->active; i++) {
    if (s->contacts[i].key == key) {
      return &s->contacts[i];
    }
  }
  saltus_contact_step* contact = &s->contacts[s->report->active++];
  *contact = (saltus_contact_step){.key = key, .law = law};
  return contact;
}

/* Adds a part of the impulses of the node to the report of the step. */
static void count_node(const variational_work* w, const saltusi_step* s, bool all, double* rest) {
  for (int i = 0; i < w->node.active; i++) {
    const saltus_contact_step* from = &w->node.steps[i];
    saltus_contact_step* to = report_for(s, from->key, from->law);
    double part = all || from->impact ? 1.0 : 0.5;
    double sum[3];
    for (int k = 0; k < 3; k++) {
      sum[k] = to->impulse[k] + part * from->impulse[k];
      if (!all) {
        rest[3 * from->key + k] = from->impulse[k] - part * from->impulse[k];
      }
    }
    bool impact = to->impact || from->impact;
    *to = *from;
    to->impact = impact;
    memcpy(to->impulse, sum, sizeof sum);
  }
}

/* Non-impulsive contacts of the last node contribute their second half, at rest between the
 * nodes. */
static void count_rest(const variational_work* w, const saltusi_step* s, const double* rest) {
  for (int i = 0; i < w->node.list.count; i++) {
    int key = w->node.list.key[i];
    const double* half = rest + 3 * (size_t)key;
    if (half[0] != 0.0) {
      saltus_contact_step* contact = report_for(s, key, w->node.list.law[i]);
      contact->gap = w->node.list.gap[i];
      for (int k = 0; k < 3; k++) {
        contact->impulse[k] += half[k];
      }
    }
  }
}

/* v_{k+1} from the momentum of the node, and the impulses of joints and contacts. */
static saltus_status give_out(variational_work* w, const saltusi_step* s, const double* rest_before,
                              double* rest) {
  const saltus_system* sys = &s->eval->sys;
  const saltus_dims* d = &sys->dims;
  saltusi_operator* op = &w->node.op;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(s->v1, w->action.momentum, (size_t)d->nv * sizeof(double));
  for (int i = 0; i < w->node.active; i++) {
    double part = w->node.steps[i].impact ? 1.0 : 0.5;
    for (int r = w->node.op.first[i]; r < w->node.op.first[i + 1]; r++) {
      saltusi_row_add(&op->rows, r, part * w->node.P[r], s->v1);
    }
  }
  for (int r = op->count - op->laws.dry; r < op->count; r++) {
    saltusi_row_add(&op->rows, r, 0.5 * w->node.P[r], s->v1);
  }
  saltusi_linear_solve(s->eval, &w->mass, s->v1);
  if (d->nj == 0) {
    return SALTUS_OK;
  }
  saltusi_operator_begin(op, d->nj);
  saltusi_operator_form(op, s->eval, &w->mass);
  for (int j = 0; j < d->nj; j++) {
    op->rhs[j] = saltusi_row_dot(&op->rows, j, s->v1) + op->rows.b[j];
  }
  status = saltusi_operator_solve(op, s->eval);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(op, s->eval, s->v1);
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] = rest_before[j] + op->P[j];
    rest[j] = w->node.P[j] - op->P[j];
  }
  return SALTUS_OK;
}

/* The node at the end of the step: p-, then u of the step after it. */
static saltus_status next_node(variational_work* w, const saltus_variational_options* o,
                               const saltusi_step* s) {
  const size_t bytes = (size_t)s->eval->sys.dims.nv * sizeof(double);
  memcpy(w->u_before, w->action.u, bytes);
  if (w->action.degree == 2) {
    memcpy(w->half_before, w->action.half_change, bytes);
  }
  saltusi_action_finish(&w->action, &w->node, s, s->q0, s->q1);
  return solve_node(w, o, s, s->t + s->h, s->q1);
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  variational_work* w = work_;
  const saltus_dims* d = &s->eval->sys.dims;
  size_t carried = memory_count(options, &s->eval->sys);
  memcpy(s->memory1, s->memory0, carried * sizeof(double));
  saltusi_warm_open(&w->node.op, s->memory0 + memory_warm(options, d), s->h);
  double* contacts = s->memory1 + memory_contacts(options, d);
  double* joints = s->memory1 + memory_joints(options, d);
  saltus_status status = SALTUS_OK;
  s->report->active = 0;
  if (s->memory0[MEMORY_H] != s->h) { /* a new run, or a new step size: the momentum suffices */
    status = start(w, options, s);
    if (status != SALTUS_OK) {
      return status;
    }
    memset(contacts, 0, 3 * (size_t)d->nc * sizeof(double));
    memcpy(joints, w->node.P, (size_t)d->nj * sizeof(double));
    saltusi_impulse_node_report(&w->node, s, w->action.u);
    count_node(w, s, true, contacts);
  } else {
    copy_motion(&w->action, (size_t)d->nv, s->memory1 + MEMORY_U, false);
  }
  status = next_node(w, options, s);
  if (status != SALTUS_OK) {
    return status;
  }
  count_rest(w, s, contacts);
  memset(contacts, 0, 3 * (size_t)d->nc * sizeof(double));
  saltusi_impulse_node_report(&w->node, s, w->action.u);
  count_node(w, s, false, contacts);
  status = give_out(w, s, joints, joints);
  if (status != SALTUS_OK) {
    return status;
  }
  keep_dense(w, s);
  saltusi_impulse_node_keep(&w->node, s, s->memory1 + memory_warm(options, d));
  s->memory1[MEMORY_H] = s->h;
  copy_motion(&w->action, (size_t)d->nv, s->memory1 + MEMORY_U, true);
  s->eval->work.newton_iterations += s->report->newton_iterations;
  return SALTUS_OK;
}

const saltusi_scheme_ops saltusi_variational = {
    .info =
        {
            .name = "variational",
            .summary = "Moreau-type variational integrator: symplectic between impacts",
            .source = "Capobianco & Eugster 2018, equation (8) corrected",
            .order = 1,
            .smooth_order = 2,
            .impacts_at_end = true,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(variational_work),
    .check = check,
    .dense_count = dense_count,
    .dense = dense,
};
