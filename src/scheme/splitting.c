/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * splitting.c - smooth motion by Runge-Kutta-Fehlberg, then impacts at the end of the step (Acary
 * 2008, slides 42-45; methods: event capturing, 2.6).
 *
 *   smooth      (q_{k+1}, v_1) = RKF45(q_k, v_k, h), without contact forces (slides 42-43) or with
 *               lambda >= 0 on closed contacts at every stage (slides 44-45)
 *   impact      on contacts with g(q_{k+1}) <= 0:  0 <= U' + e U_1  perp  P >= 0,  positions stay
 *   closing     (with contact forces) an impacted contact with U' <= |gamma| h, gamma < 0 the
 *               acceleration of its gap, or with a rebound height U'^2 / 2|gamma| below the option,
 *               is closed: U' = 0, and held from then on until lambda vanishes
 *
 * Without contact forces a resting contact penetrates with speed |f| h (1-e) / 2(1+e): the reason for the
 * second form.
 */
#include "math/matrix.h"
#include "scheme/event/acceleration.h"
#include "scheme/event/tableau.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/projection.h"

#include <float.h>
#include <string.h>

typedef struct work {
  saltusi_acceleration held;
  saltusi_linear mass; /* at the end of the step */
  saltusi_operator impact;
  saltusi_contact_list list;
  double* k_q; /* [stages x nq] */
  double* k_v; /* [stages x nv] */
  double* q;   /* [nq] */
  double* v;   /* [nv] */
  double* a;   /* [nv] */
  int* keys;   /* [nc] closed contacts */
  int count;
  double* u0; /* [nc] by impacting contact */
} work;

static const saltus_field contact_fields[] = {
    SALTUSI_PROJECTION_FIELD(saltus_splitting_options),
    SALTUS_REAL(saltus_splitting_options, rebound_height, 0.0, 0.0, 1e3,
                "a contact that would rebound less closes; 0: when the flight fits one step [m]"),
};

#define CONTACT_TABLE                                                                              \
  {                                                                                                \
    contact_fields, sizeof contact_fields / sizeof contact_fields[0],                              \
        sizeof(saltus_splitting_options)                                                           \
  }
#define PLAIN_TABLE                                                                                \
  { contact_fields, 1, sizeof(saltus_splitting_options) }

saltus_splitting_options saltus_splitting_options_default(void) {
  const saltus_field_table table = CONTACT_TABLE;
  saltus_splitting_options options = {0};
  saltus_options_defaults(&table, &options);
  return options;
}

/* Whether the run has started, then one number per contact: 1 while it is closed. */
static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return 1 + (size_t)sys->dims.nc;
}

static void carry_memory(const void* options, const saltus_system* sys, saltusi_carry* carry) {
  (void)options, (void)sys;
  saltusi_carry_plain(carry, 1);
  saltusi_carry_each(carry, 1);
}

static double* closed_flags(double* memory) {
  return memory + 1;
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  (void)options;
  work* w = work_;
  const saltus_dims* d = &sys->dims;
  saltusi_acceleration_layout(&w->held, eval, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  saltusi_operator_layout(&w->impact, eval, &(saltusi_demand){.held = true}, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->k_q = SALTUS_PUSH2(arena, double, saltusi_rkf45.stages, d->nq);
  w->k_v = SALTUS_PUSH2(arena, double, saltusi_rkf45.stages, d->nv);
  w->q = SALTUS_PUSH(arena, double, d->nq);
  w->v = SALTUS_PUSH(arena, double, d->nv);
  w->a = SALTUS_PUSH(arena, double, d->nv);
  w->keys = SALTUS_PUSH(arena, int, d->nc);
  w->u0 = SALTUS_PUSH(arena, double, d->nc);
}

/* x = x0 + h sum of weights k */
static void combine(int n, const double* x0, double h, const double* weights, const double* k,
                    double* x) {
  memcpy(x, x0, (size_t)n * sizeof(double));
  for (int j = 0; j < saltusi_rkf45.stages; j++) {
    if (weights[j] != 0.0) {
      saltusi_add_scaled(n, h * weights[j], k + (size_t)j * (size_t)n, x);
    }
  }
}

/* The smooth part: q1, v1 and the embedded error. */
static saltus_status flow(work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  const saltusi_tableau* method = &saltusi_rkf45;
  int nq = sys->dims.nq;
  int nv = sys->dims.nv;
  for (int i = 0; i < method->stages; i++) {
    combine(nq, s->q0, s->h, method->a[i], w->k_q, w->q);
    combine(nv, s->v0, s->h, method->a[i], w->k_v, w->v);
    saltus_point at = saltusi_at(s->eval, s->t + method->c[i] * s->h, w->q, w->v);
    double* k_v = w->k_v + (size_t)i * (size_t)nv;
    saltus_status status =
        saltusi_acceleration_find(&w->held, s->eval, &at, w->keys, w->count, k_v);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_rate(sys, w->q, w->v, w->k_q + (size_t)i * (size_t)nq);
    for (int c = 0; c < w->count; c++) { /* lasting impulses, for the report */
      s->contacts[c].impulse[0] += s->h * method->b[i] * w->held.op.P[sys->dims.nj + c];
    }
    for (int j = 0; j < sys->dims.nj; j++) {
      s->joint_impulses[j] += s->h * method->b[i] * w->held.op.P[j];
    }
  }
  double gap[SALTUSI_STAGES_MAX] = {0.0};
  for (int i = 0; i < method->stages; i++) {
    gap[i] = method->b[i] - method->embedded[i];
  }
  combine(nq, s->q0, s->h, method->b, w->k_q, s->q1);
  saltusi_normalise(sys, s->q1);
  combine(nv, s->v0, s->h, method->b, w->k_v, s->v1);
  memset(s->q_error, 0, (size_t)nq * sizeof(double));
  memset(s->v_error, 0, (size_t)nv * sizeof(double));
  for (int i = 0; i < method->stages; i++) {
    saltusi_add_scaled(nq, s->h * gap[i], w->k_q + (size_t)i * (size_t)nq, s->q_error);
    saltusi_add_scaled(nv, s->h * gap[i], w->k_v + (size_t)i * (size_t)nv, s->v_error);
  }
  return SALTUS_OK;
}

/* Place of a contact in the report, added when it is new. */
static saltus_contact_step* reported(const saltusi_step* s, int key, int law, double gap) {
  for (int i = 0; i < s->report->active; i++) {
    if (s->contacts[i].key == key) {
      s->contacts[i].gap = gap;
      return &s->contacts[i];
    }
  }
  saltus_contact_step* contact = &s->contacts[s->report->active++];
  saltusi_contact_open(contact, key, law, gap);
  return contact;
}

/* Rows of the contacts with g <= 0 at the new positions; returns how many, and their keys. */
static saltus_status find_impacts(work* w, const saltusi_step* s, int* count) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  *count = 0;
  saltusi_operator_begin(&w->impact, nj);
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    if (w->list.gap[i] > 0.0) {
      continue;
    }
    int key = w->list.key[i];
    int row = saltusi_operator_look(&w->impact, sys, &at, key, 1);
    saltusi_operator_take(&w->impact, 1, 0.0);
    double u0 = saltusi_row_dot(&w->impact.rows, row, s->v1) + w->impact.rows.b[row];
    double e = sys->laws[w->list.law[i]].e_N;
    w->u0[*count] = u0;
    w->impact.rhs[row] = u0 + e * u0;
    saltus_contact_step* contact = reported(s, key, w->list.law[i], w->list.gap[i]);
    contact->u_before = u0;
    /* the list is compacted to the impacting contacts */
    w->list.key[*count] = key;
    w->list.law[*count] = w->list.law[i];
    (*count)++;
  }
  if (*count == 0) {
    return status;
  }
  saltusi_rows_joints(sys, &at, &w->impact.rows);
  for (int j = 0; j < nj; j++) {
    w->impact.rhs[j] = saltusi_row_dot(&w->impact.rows, j, s->v1) + w->impact.rows.b[j];
  }
  return status;
}

/* The keys of the list are its identity map again: find_impacts overwrote a part. */
static void restore_list(work* w) {
  for (int i = 0; i < w->list.capacity; i++) {
    w->list.key[i] = i;
    w->list.law[i] = i;
  }
}

static saltus_status impact(work* w, const saltusi_step* s, int count) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_form(&w->impact, s->eval, &w->mass);
  status = saltusi_operator_solve(&w->impact, s->eval);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&w->impact, s->eval, s->v1);
  for (int j = 0; j < nj; j++) {
    s->joint_impulses[j] += w->impact.P[j];
  }
  for (int i = 0; i < count; i++) {
    saltus_contact_step* contact = reported(s, w->list.key[i], w->list.law[i], 0.0);
    double u1 = saltusi_row_dot(&w->impact.rows, nj + i, s->v1) + w->impact.rows.b[nj + i];
    double e = sys->laws[w->list.law[i]].e_N;
    double P = w->impact.P[nj + i];
    double miss = fabs(fmin(u1 + e * w->u0[i], P * w->impact.diagonal[nj + i]));
    contact->u_after = u1;
    contact->impulse[0] += P;
    s->report->residual_velocity = fmax(s->report->residual_velocity, miss);
    s->report->residual_impulse =
        fmax(s->report->residual_impulse, miss / w->impact.diagonal[nj + i]);
  }
  return SALTUS_OK;
}

/* v1 <- v1 - M^-1 G (G^T M^-1 G)^-1 U on the held contacts and the joints: U becomes 0. */
static saltus_status stop(work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  int rows = nj + w->count;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltusi_operator_hold(&w->impact, sys, &at, w->keys, w->count);
  for (int r = 0; r < rows; r++) {
    w->impact.rhs[r] = saltusi_row_dot(&w->impact.rows, r, s->v1) + w->impact.rows.b[r];
  }
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_operator_form_held(&w->impact, s->eval, &w->mass);
    status = saltusi_operator_solve(&w->impact, s->eval);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&w->impact, s->eval, s->v1);
  for (int j = 0; j < nj; j++) {
    s->joint_impulses[j] += w->impact.P[j];
  }
  for (int i = 0; i < w->count; i++) {
    saltus_contact_step* contact = reported(s, w->keys[i], w->keys[i], 0.0);
    contact->impulse[0] += w->impact.P[nj + i];
    contact->u_after = 0.0;
  }
  return SALTUS_OK;
}

/* Which contacts are held in the next step: those held before and those that just closed, as far as
 * they carry a force. */
static saltus_status close_contacts(work* w, const saltus_splitting_options* o,
                                    const saltusi_step* s, int impacts) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  /* acceleration with the held contacts but without the new ones */
  saltus_status status = saltusi_acceleration_find(&w->held, s->eval, &at, w->keys, w->count, w->a);
  int held = w->count;
  for (int i = 0; status == SALTUS_OK && i < impacts; i++) {
    int key = w->list.key[i];
    int row = nj + sys->dims.nc; /* a spare row */
    saltusi_rows_contact(sys, &at, key, 1, &w->held.op.rows, row);
    double gamma = saltusi_row_dot(&w->held.op.rows, row, w->a) + w->held.op.rows.c[row];
    double u = saltusi_row_dot(&w->held.op.rows, row, s->v1) + w->held.op.rows.b[row];
    bool small =
        o->rebound_height > 0.0 ? u * u <= 2.0 * o->rebound_height * -gamma : u <= -gamma * s->h;
    bool known = false;
    for (int k = 0; k < w->count; k++) {
      known = known || w->keys[k] == key;
    }
    if (gamma < 0.0 && small && !known) {
      w->keys[w->count++] = key;
    }
  }
  if (status != SALTUS_OK || w->count == 0) {
    return status;
  }
  status = w->count > held ? stop(w, s) : SALTUS_OK;
  if (status == SALTUS_OK) {
    status = saltusi_acceleration_find(&w->held, s->eval, &at, w->keys, w->count, w->a);
  }
  for (int k = 0; status == SALTUS_OK && k < w->count; k++) {
    closed_flags(s->memory1)[w->keys[k]] = w->held.op.P[nj + k] > 0.0 ? 1.0 : 0.0;
  }
  return status;
}

/* A body that lies on a contact from the start is held from the start. */
static saltus_status close_at_start(work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  double size = fmax(1.0, saltusi_max_abs(sys->dims.nq, s->q0));
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    saltusi_rows_contact(sys, &at, w->list.key[i], 1, &w->impact.rows, nj);
    double u = saltusi_row_dot(&w->impact.rows, nj, s->v0) + w->impact.rows.b[nj];
    double speed = fmax(1.0, saltusi_max_abs(sys->dims.nv, s->v0));
    if (fabs(w->list.gap[i]) <= 64.0 * DBL_EPSILON * size &&
        fabs(u) <= 64.0 * DBL_EPSILON * speed) {
      w->keys[w->count++] = w->list.key[i];
    }
  }
  return status;
}

/* The contacts that are held in this step. */
static saltus_status find_held(work* w, const saltusi_step* s) {
  const double* flags = s->memory0 + 1;
  w->count = 0;
  saltus_status status = SALTUS_OK;
  if (s->memory0[0] == 0.0) {
    status = close_at_start(w, s);
  } else {
    for (int key = 0; key < s->eval->sys.dims.nc; key++) {
      if (flags[key] != 0.0) {
        w->keys[w->count++] = key;
      }
    }
  }
  for (int i = 0; i < w->count; i++) {
    reported(s, w->keys[i], w->keys[i], 0.0);
  }
  return status;
}

/* An impulse that stops an approach faster than what the forces do in one step is an impact. */
static void judge_impacts(work* w, const saltusi_step* s, int impacts) {
  const saltus_dims* d = &s->eval->sys.dims;
  for (int i = 0; i < d->nv; i++) {
    w->v[i] = s->h * w->k_v[i];
  }
  double most = saltusi_max_abs(d->nv, w->v);
  for (int i = 0; i < impacts; i++) {
    double pushed = saltusi_row_size(&w->impact.rows, d->nj + i, w->v);
    saltus_contact_step* contact = reported(s, w->list.key[i], w->list.law[i], 0.0);
    contact->impact = w->impact.P[d->nj + i] > 0.0 && saltusi_is_impact(w->u0[i], pushed, most);
  }
}

static saltus_status take(work* w, const saltus_splitting_options* o, const saltusi_step* s,
                          bool contact_forces) {
  const saltus_dims* d = &s->eval->sys.dims;
  w->count = 0;
  memset(s->joint_impulses, 0, (size_t)d->nj * sizeof(double));
  memset(s->memory1, 0, (1 + (size_t)d->nc) * sizeof(double));
  s->memory1[0] = 1.0;
  saltus_status status = contact_forces ? find_held(w, s) : SALTUS_OK;
  if (status == SALTUS_OK) {
    status = flow(w, s);
  }
  int impacts = 0;
  if (status == SALTUS_OK) {
    status = find_impacts(w, s, &impacts);
  }
  if (status == SALTUS_OK && impacts > 0) {
    status = impact(w, s, impacts);
  }
  if (status == SALTUS_OK) {
    judge_impacts(w, s, impacts);
  }
  if (status == SALTUS_OK && contact_forces) {
    status = close_contacts(w, o, s, impacts);
  }
  restore_list(w);
  return status;
}

static saltus_status step_plain(void* work_, const void* options, const saltusi_step* s) {
  return take(work_, options, s, false);
}

static saltus_status step_contact(void* work_, const void* options, const saltusi_step* s) {
  return take(work_, options, s, true);
}

#define TREATS                                                                                     \
  (SALTUS_TREATS_JOINTS | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS |                      \
   SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_LAWS)

const saltusi_scheme_ops saltusi_splitting = {
    .info =
        {
            .name = "splitting-rkf45",
            .penetrates = true,
            .summary =
                "smooth motion by RKF45, impacts at the end of the step; resting bodies penetrate",
            .source = "Acary 2008, slides 42-43",
            .order = 1,
            .smooth_order = 5,
            .embedded_order = 4,
            .strikes_at_end = true,
            .treats = TREATS,
            .options = PLAIN_TABLE,
        },
    .work_size = sizeof(work),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .layout = layout,
    .step = step_plain,
};

const saltusi_scheme_ops saltusi_splitting_contact = {
    .info =
        {
            .name = "splitting-rkf45-contact",
            .summary = "RKF45 with forces of closed contacts, impacts at the end of the step",
            .source = "Acary 2008, slides 44-45, with a closing rule",
            .order = 1,
            .smooth_order = 5,
            .embedded_order = 4,
            .strikes_at_end = true,
            .treats = TREATS,
            .options = CONTACT_TABLE,
        },
    .work_size = sizeof(work),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .layout = layout,
    .step = step_contact,
};
