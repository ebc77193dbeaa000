/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rattle.c - RATTLE for joints and contacts (Andersen 1983 for joints; Capobianco, Harsch, Eugster &
 * Leine, IJNME 122 (2021), for contacts): positions are held by impulses of the first half of a step,
 * velocities by those of the second.
 *
 *   first half    p_k + G_k P1 = momentum at the start of the trapezoidal action with q_{k+1}
 *                 joints     g(t_{k+1}, q_{k+1}) = 0
 *                 contacts   0 <= g(t_{k+1}, q_{k+1}) - min(g(t_k, q_k), 0)  perp  P1_N >= 0
 *                            friction on the velocity u of the step, |P1_T| <= mu P1_N
 *   second half   M(q_{k+1}) v_{k+1} = momentum at its end + G_{k+1} P2
 *                 joints     G_{k+1}^T v_{k+1} + b = 0
 *                 contacts   closed at q_{k+1} or with P1_N > 0: the impact law with friction for
 *                            xi = G_{k+1}^T v_{k+1} + b + e U_k and P = P1 + P2,
 *                            U_k along G_k; e_N acts only on approaches
 *
 * Without contacts and with a constant mass matrix this is RATTLE as printed; with a variable one the
 * step of the action replaces that of Stoermer and Verlet and stays symplectic.
 */
#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/trapezoidal/trapezoidal_action.h"

#include <string.h>

typedef struct rattle_work {
  saltusi_impulse_node first, second;
  saltusi_action action;
  saltusi_linear mass;
  double* gap;     /* [nc] at q_{k+1}, by key */
  double* floor;   /* [nc] min(g, 0) at q_k, by key */
  int each;        /* rows of a contact at most */
  double* impulse; /* [each x nc] P1, by key */
  double* before;  /* [each x nc] U_k, by key */
  bool* impact;    /* [nc] by key */
} rattle_work;

static const saltus_field fields[] = {
    SALTUSI_NEWTON_FIELDS(saltus_rattle_options, "velocity", 1e-14, 100),
    SALTUSI_CONTACT_FIELDS(saltus_rattle_options),
};

#define TABLE SALTUSI_TABLE(saltus_rattle_options, fields)

SALTUSI_DEFAULTS(saltus_rattle_options, saltus_rattle_options_default, fields)

/* Memory: the impulses P1 and P of the last step, for the warm start. */
static size_t memory_count(const void* options, const saltus_system* sys) {
  const saltus_rattle_options* o = options;
  return 2 * saltusi_warm_count(o->warm_start, sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  const saltus_rattle_options* o = options;
  saltusi_warm_transfer(o->warm_start, sys, carry);
  saltusi_warm_transfer(o->warm_start, sys, carry);
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  const saltus_rattle_options* o = options;
  rattle_work* w = work_;
  saltusi_impulse_node_layout(&w->first, o->warm_start, eval, arena);
  saltusi_impulse_node_layout(&w->second, o->warm_start, eval, arena);
  saltusi_action_layout(&w->action, 1, sys, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  w->gap = SALTUS_PUSH(arena, double, sys->dims.nc);
  w->floor = SALTUS_PUSH(arena, double, sys->dims.nc);
  w->each = w->first.op.laws.any ? SALTUS_CONE_ROWS : 3;
  w->impulse = SALTUS_PUSH2(arena, double, sys->dims.nc, w->each);
  w->before = SALTUS_PUSH2(arena, double, sys->dims.nc, w->each);
  w->impact = SALTUS_PUSH(arena, bool, sys->dims.nc);
}

/* Gaps by key at a configuration. */
static saltus_status gaps(rattle_work* w, const saltusi_step* s, const saltus_point* at,
                          double* gap) {
  saltusi_contact_list* list = &w->first.list;
  saltus_status status = saltusi_contacts(&s->eval->sys, at, list);
  for (int i = 0; status == SALTUS_OK && i < list->count; i++) {
    gap[list->key[i]] = list->gap[i];
  }
  return status;
}

/* Activates contacts that the present motion would drive into penetration; true when there was
 * one. */
static saltus_status force_penetrating(rattle_work* w, const saltusi_step* s, bool* found) {
  saltus_point at = saltusi_at(s->eval, s->t + s->h, w->action.q_next, w->action.u);
  saltus_status status = gaps(w, s, &at, w->gap);
  const saltusi_contact_list* list = &w->first.list;
  *found = false;
  for (int i = 0; status == SALTUS_OK && i < list->count; i++) {
    int key = list->key[i];
    if (w->gap[key] < w->floor[key] && !w->first.forced[key]) {
      w->first.forced[key] = true;
      *found = true;
    }
  }
  return status;
}

/* Right-hand sides of the first half: gaps divided by h, and tangential velocities of the step. */
static void first_law(rattle_work* w, const saltusi_step* s) {
  saltusi_impulse_node* node = &w->first;
  saltusi_operator* op = &node->op;
  saltusi_impulse_node_law(node, s, w->action.u_free, s->v0);
  for (int i = 0; i < node->active; i++) {
    int key = node->steps[i].key;
    for (int r = node->op.first[i]; r < node->op.first[i + 1]; r++) {
      double moved = saltusi_row_dot(&op->rows, r, w->action.u_free);
      op->rhs[r] = moved + op->rows.b[r];
      if (r == node->op.first[i]) {
        op->rhs[r] = (w->gap[key] - w->floor[key]) / s->h + moved -
                     saltusi_row_dot(&op->rows, r, w->action.u);
      }
    }
  }
  saltusi_action_joints(&w->action, node, s, s->t);
}

/* u of the step with the present active contacts. */
static saltus_status solve_first(rattle_work* w, const saltus_rattle_options* o,
                                 const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_action* action = &w->action;
  size_t bytes = (size_t)sys->dims.nv * sizeof(double);
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_impulse_node_look(&w->first, s, &at);
  double change = INFINITY;
  for (int k = 0; k < o->newton_max && status == SALTUS_OK; k++) {
    status = saltusi_action_linearize(action, &w->first, s, &at);
    saltus_point next = saltusi_at(s->eval, s->t + s->h, action->q_next, action->u);
    if (status == SALTUS_OK && w->first.active > 0) {
      status = gaps(w, s, &next, w->gap);
    }
    if (status != SALTUS_OK) {
      return status;
    }
    first_law(w, s);
    memcpy(action->residual, action->u, bytes);
    status = saltusi_impulse_node_impose(&w->first, s, &action->linear, action->u_free, action->u);
    s->report->newton_iterations++;
    if (status != SALTUS_OK) {
      return status;
    }
    bool linear = saltusi_action_is_linear(action, sys) &&
                  (w->first.active == 0 || (sys->traits & SALTUS_CONSTANT_NORMALS) != 0);
    saltusi_progress progress = saltusi_action_judge(action, s, k, o->newton_tol, &change);
    if (progress == SALTUSI_NOT_A_NUMBER) {
      return SALTUS_RETRY_NAN;
    }
    if (progress == SALTUSI_ARRIVED || linear) {
      saltusi_advance(sys, s->q0, action->u, s->h, action->q_next);
      return SALTUS_OK;
    }
  }
  return status == SALTUS_OK ? SALTUS_RETRY_SMALLER : status;
}

static saltus_status first_half(rattle_work* w, const saltus_rattle_options* o,
                                const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = gaps(w, s, &at, w->floor);
  for (int key = 0; key < d->nc; key++) {
    w->floor[key] = fmin(w->floor[key], 0.0);
    w->first.forced[key] = false;
  }
  saltusi_impulse_node_mass_times(&w->first, s, &at, s->v0, w->action.momentum);
  memcpy(w->action.u, s->v0, (size_t)d->nv * sizeof(double));
  bool again = true;
  for (int k = 0; k <= d->nc && again && status == SALTUS_OK; k++) {
    again = false;
    status = solve_first(w, o, s);
    if (status == SALTUS_OK) {
      status = force_penetrating(w, s, &again);
    }
  }
  return status;
}

/* Whether active contact i of the first half is an impact: its approach is compared with the velocity change by forces
 * in a step without impulses, twice that of half a step. In the second half joints have already responded to the
 * impulse of the contact, so that its velocities are no reference. */
static bool strikes(const rattle_work* w, const saltusi_step* s, int i) {
  const saltusi_impulse_node* node = &w->first;
  int nv = s->eval->sys.dims.nv;
  double* change = w->action.residual;
  for (int k = 0; k < nv; k++) {
    change[k] = 2.0 * (w->action.u_free[k] - s->v0[k]);
  }
  int normal = node->op.first[i];
  double pushed = saltusi_row_size(&node->op.rows, normal, change);
  return saltusi_is_impact(node->u0[normal], pushed, saltusi_max_abs(nv, change));
}

/* Results of the first half by key, and the active contacts of the second. */
static void hand_over(rattle_work* w, const saltusi_step* s) {
  size_t bytes = (size_t)w->each * (size_t)s->eval->sys.dims.nc * sizeof(double);
  memset(w->impulse, 0, bytes);
  memset(w->second.forced, 0, (size_t)s->eval->sys.dims.nc * sizeof(bool));
  for (int i = 0; i < w->first.active; i++) {
    int key = w->first.steps[i].key;
    for (int r = w->first.op.first[i]; r < w->first.op.first[i + 1]; r++) {
      int k = r - w->first.op.first[i];
      w->impulse[w->each * key + k] = w->first.P[r];
      w->before[w->each * key + k] = w->first.u0[r];
    }
    w->second.forced[key] = w->first.P[w->first.op.first[i]] > 0.0;
    w->impact[key] = strikes(w, s, i);
  }
}

/* The second half: v_{k+1} from the momentum at the end without P1, and P = P1 + P2. */
static saltus_status second_half(rattle_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_impulse_node* node = &w->second;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v0);
  saltus_status status = saltusi_impulse_node_look(node, s, &at);
  if (status == SALTUS_OK) {
    status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  double* free = w->action.momentum;
  for (int i = 0; i < node->active; i++) {
    int key = node->steps[i].key;
    bool held = false;
    for (int k = 0; k < w->first.active; k++) {
      held = held || w->first.steps[k].key == key;
    }
    for (int r = node->op.first[i]; r < node->op.first[i + 1]; r++) {
      int k = r - node->op.first[i];
      saltusi_row_add(&node->op.rows, r, -w->impulse[w->each * key + k], free);
      node->u0[r] = held ? w->before[w->each * key + k] : node->u0[r];
    }
    int normal = node->op.first[i];
    node->u0[normal] = fmin(node->u0[normal], 0.0);
  }
  for (int i = 0; i < node->op.laws.dry; i++) {
    const int r = node->op.count - node->op.laws.dry + i;
    const double P = w->first.P[w->first.op.count - w->first.op.laws.dry + i];
    saltusi_row_add(&node->op.rows, r, -P, free);
  }
  saltusi_linear_solve(s->eval, &w->mass, free);
  saltusi_impulse_node_law(node, s, free, s->v0);
  for (int i = 0; i < node->active; i++) {
    for (int k = 0; k < w->first.active; k++) {
      if (w->first.steps[k].key == node->steps[i].key) {
        node->steps[i].impact = w->impact[node->steps[i].key];
      }
    }
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    node->op.rhs[j] = saltusi_row_dot(&node->op.rows, j, free) + node->op.rows.b[j];
  }
  return saltusi_impulse_node_impose(node, s, &w->mass, free, s->v1);
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  rattle_work* w = work_;
  const saltus_dims* d = &s->eval->sys.dims;
  size_t half = memory_count(options, &s->eval->sys) / 2;
  saltusi_warm_open(&w->first.op, s->memory0, s->h);
  w->first.op.laws.span = 0.5 * s->h;
  saltusi_warm_open(&w->second.op, s->memory0 + half, s->h);
  saltus_status status = first_half(w, options, s);
  s->eval->work.newton_iterations += s->report->newton_iterations;
  if (status != SALTUS_OK) {
    return status;
  }
  hand_over(w, s);
  w->second.op.laws.carried = w->first.P;
  saltusi_action_finish(&w->action, &w->first, s, s->q0, s->q1);
  status = second_half(w, s);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_impulse_node_keep(&w->first, s, s->memory1);
  saltusi_impulse_node_keep(&w->second, s, s->memory1 + half);
  saltusi_impulse_node_report(&w->second, s, s->v1);
  s->report->active = w->second.active;
  if (w->second.active > 0) {
    memcpy(s->contacts, w->second.steps, (size_t)w->second.active * sizeof *s->contacts);
  }
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] = w->first.P[j] + w->second.P[j];
  }
  return SALTUS_OK;
}

const saltusi_scheme_ops saltusi_rattle = {
    .info =
        {
            .name = "rattle",
            .summary =
                "RATTLE with contacts: constraints on positions and velocities, symplectic between",
            .source = "Andersen 1983; Capobianco, Harsch, Eugster & Leine 2021",
            .order = 1,
            .smooth_order = 2,
            .impacts_at_end = true,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(rattle_work),
};
