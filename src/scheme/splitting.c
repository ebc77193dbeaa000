/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * splitting.c - Runge-Kutta-Fehlberg, then impacts at the end (Acary 2008, slides 42-45; docs/theory/splitting.md, 2).
 *
 *   smooth      (q_{k+1}, v_1) = RKF45(q_k, v_k, h), without contact forces (slides 42-43) or with
 *               lambda >= 0 on closed contacts at every stage (slides 44-45)
 *   impact      on contacts with g(q_{k+1}) <= 0:  0 <= U' + e U_1  perp  P >= 0,  positions stay
 *   closing     (with contact forces) an impacted contact with U' <= |gamma| h, gamma < 0 the acceleration of its gap, or
 *               with a rebound height U'^2 / 2|gamma| below the option, is closed: U' = 0 until lambda vanishes
 *   friction    P_T in the same problem at the end of the step. Closed contacts stick and slip by the friction problem on
 *               accelerations at every stage (friction_mode.h); U_T = 0 at the end for contacts that stick in all stages, and for
 *               slip that the forces at the start would reverse within the step. Without contact forces other laws
 *               than Coulomb's are part of that problem too, their forces as impulses of the step
 * Without contact forces a resting contact penetrates at the speed |f| h (1-e) / 2(1+e), which the second form avoids.
 */
#include "math/matrix.h"
#include "scheme/event/tableau.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/penetration_check.h"
#include "scheme/projection.h"

#include <float.h>
#include <string.h>

/* Slip below this part of the largest velocity, or of the velocity change by forces in a step,
 * counts as zero: a remainder at the end of a step has no direction. */
static const double no_slip = 1e-12;
static const double small_push = 1e-6;

typedef struct splitting_work {
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
  int* laws;  /* [nc] by key */
  double* u0; /* [3 nc] by rows of impacting contacts */

  /* friction of closed contacts */
  saltusi_friction_modes grips;
  saltusi_friction_mode_decision decision;
  bool* still;   /* [nc] by index in keys: U_T = 0 at the end of the step */
  bool* touched; /* [nc] by key, with friction laws: at the start of the run */
} splitting_work;

static const saltus_field contact_fields[] = {
    SALTUSI_PROJECTION_FIELD(saltus_splitting_options),
    SALTUS_REAL(saltus_splitting_options, rebound_height, 0.0, 0.0, 1e3,
                "contacts with a lower rebound close; 0: if the flight fits into one step [m]"),
};

#define CONTACT_TABLE SALTUSI_TABLE(saltus_splitting_options, contact_fields)
#define PLAIN_TABLE                                                                                \
  { contact_fields, 1, sizeof(saltus_splitting_options) }

SALTUSI_DEFAULTS(saltus_splitting_options, saltus_splitting_options_default, contact_fields)

/* Whether the run has started, then one number per contact: 1 while it is closed. Then the state variables of friction laws. */
static size_t memory_laws(const saltus_system* sys) {
  return saltusi_frictions_special(sys) ? saltusi_warm_count(SALTUS_WARM_START_NO, sys) : 0;
}

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return 1 + (size_t)sys->dims.nc + memory_laws(sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options;
  saltusi_transfer_plain(carry, 1);
  saltusi_transfer_each(carry, 1);
  if (memory_laws(sys) > 0) {
    saltusi_warm_transfer(SALTUS_WARM_START_NO, sys, carry);
  }
}

static double* closed_flags(double* memory) {
  return memory + 1;
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  (void)options;
  splitting_work* w = work_;
  const saltus_dims* d = &sys->dims;
  saltusi_acceleration_layout(&w->held, eval, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  bool rough = saltusi_has_friction(sys);
  const bool laws = saltusi_frictions_special(sys);
  const saltusi_demand demand = {
      .held = !laws, .friction = rough || laws, .distributes = true, .laws = laws};
  saltusi_operator_layout(&w->impact, eval, &demand, arena);
  if (laws) {
    saltusi_warm_layout(&w->impact, SALTUS_WARM_START_NO, sys);
  }
  saltusi_friction_modes_layout(&w->grips, sys, arena);
  if (rough) {
    saltusi_friction_mode_decision_layout(&w->decision, eval, arena);
  }
  w->still = SALTUS_PUSH(arena, bool, d->nc);
  w->laws = SALTUS_PUSH(arena, int, d->nc);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->k_q = SALTUS_PUSH2(arena, double, saltusi_rkf45.stages, d->nq);
  w->k_v = SALTUS_PUSH2(arena, double, saltusi_rkf45.stages, d->nv);
  w->q = SALTUS_PUSH(arena, double, d->nq);
  w->v = SALTUS_PUSH(arena, double, d->nv);
  w->a = SALTUS_PUSH(arena, double, d->nv);
  w->keys = SALTUS_PUSH(arena, int, d->nc);
  w->u0 = SALTUS_PUSH(arena, double, (laws ? SALTUS_CONE_ROWS : 3) * d->nc);
  w->touched = SALTUS_PUSH(arena, bool, laws ? d->nc : 0);
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

/* Whether forces at the start of the step reverse the slip of closed contact c within it; the
 * friction modes are those of the start, a [nv] the acceleration. */
static bool turns(const splitting_work* w, const saltusi_step* s, int c, const double* a) {
  const saltusi_operator* op = &w->decision.op;
  const saltusi_friction_mode* grip = &w->grips.of[w->keys[c]];
  double along = 0.0;
  for (int k = 0; k < grip->tangents; k++) {
    int r = op->first[c] + 1 + k;
    double u = saltusi_row_dot(&op->rows, r, s->v0) + op->rows.b[r];
    double change = saltusi_row_dot(&op->rows, r, a) + op->rows.c[r];
    along += grip->direction[k] * (u + s->h * change);
  }
  return grip->slips && w->decision.moves[c] && along <= 0.0;
}

/* The acceleration of a stage with contact forces, which add to the impulses with weight b h. */
static saltus_status accelerate(splitting_work* w, const saltusi_step* s, const saltus_point* at,
                                int stage, double* a) {
  const saltus_dims* d = &s->eval->sys.dims;
  bool rough = w->grips.of != NULL && w->count > 0;
  saltusi_operator* op = rough ? &w->decision.op : &w->held.op;
  saltus_status status =
      rough
          ? saltusi_friction_mode_decide(&w->decision, &w->grips, s->eval, at, w->keys, w->count, a)
          : saltusi_acceleration_find(&w->held, s->eval, at, w->keys, w->count, a);
  if (status != SALTUS_OK) {
    return status;
  }
  double weight = s->h * saltusi_rkf45.b[stage];
  for (int c = 0; c < w->count; c++) { /* non-impulsive impulses, for the report */
    for (int r = op->first[c]; r < op->first[c + 1]; r++) {
      s->contacts[c].impulse[r - op->first[c]] += weight * op->P[r];
    }
    if (rough) {
      const saltusi_friction_mode* grip = &w->grips.of[w->keys[c]];
      for (int k = 0; k < grip->measured; k++) {
        s->contacts[c].impulse[1 + k] -=
            weight * saltusi_friction_mode_drag(grip, k) * grip->slip[k];
      }
      bool sticks = !grip->slips;
      if (stage == 0) { /* contacts whose slip reverses keep their friction direction */
        w->grips.of[w->keys[c]].keeps = turns(w, s, c, a);
        w->still[c] = sticks || w->grips.of[w->keys[c]].keeps;
      }
    }
  }
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] += weight * op->P[j];
  }
  return SALTUS_OK;
}

/* The smooth part: q1, v1 and the embedded error. */
static saltus_status flow(splitting_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  const saltusi_tableau* method = &saltusi_rkf45;
  int nq = sys->dims.nq;
  int nv = sys->dims.nv;
  for (int i = 0; i < method->stages; i++) {
    combine(nq, s->q0, s->h, method->a[i], w->k_q, w->q);
    combine(nv, s->v0, s->h, method->a[i], w->k_v, w->v);
    saltus_point at = saltusi_at(s->eval, s->t + method->c[i] * s->h, w->q, w->v);
    double* k_v = w->k_v + (size_t)i * (size_t)nv;
    saltus_status status = accelerate(w, s, &at, i, k_v);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_rate(sys, w->q, w->v, w->k_q + (size_t)i * (size_t)nq);
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

/* The contact in the report, appended when it is new. */
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

/* Whether a bond holds a contact that the smooth motion opened. */
static bool is_bonded(const splitting_work* w, const saltus_contact_law* law, int key) {
  if (!w->impact.laws.any || law->friction == NULL || law->friction->adhesion == 0.0) {
    return false;
  }
  const double* kept = w->impact.warm.memory + (size_t)key * (size_t)w->impact.warm.each;
  const int bits = (int)kept[SALTUS_CONE_ROWS + 2];
  return w->impact.laws.fresh ? w->touched[key] : (bits & SALTUSI_LAW_BONDED) != 0;
}

/* Friction laws of this step: their state variables, and the contacts that are closed at the start
 * of a run. */
static saltus_status open_laws(splitting_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_warm_open(&w->impact, s->memory0 + 1 + sys->dims.nc, s->h);
  w->impact.laws.carried = s->joint_impulses;
  if (!w->impact.laws.fresh) {
    return SALTUS_OK;
  }
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  const double size = fmax(1.0, saltusi_max_abs(sys->dims.nq, s->q0));
  const saltus_status status = saltusi_contacts(sys, &at, &w->list);
  memset(w->touched, 0, (size_t)sys->dims.nc * sizeof(bool));
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    w->touched[w->list.key[i]] = w->list.gap[i] <= 64.0 * DBL_EPSILON * size;
  }
  return status;
}

/* State variables for the next step, and work of rows other than slip. */
static void close_laws(splitting_work* w, const saltusi_step* s, int count) {
  const saltusi_operator* op = &w->impact;
  const int nj = s->eval->sys.dims.nj;
  double* memory = s->memory1 + 1 + s->eval->sys.dims.nc;
  saltusi_warm_clear(op, s->eval->sys.dims.nc, s->h, memory);
  for (int i = 0; i < count; i++) {
    const int first = op->first[i];
    const int tangents = s->eval->sys.laws[w->list.law[i]].tangents;
    saltus_contact_step* contact = reported(s, w->list.key[i], w->list.law[i], 0.0);
    saltusi_warm_keep(op, i, w->list.key[i], op->P + first, op->first[i + 1] - first, memory);
    for (int r = first + 1 + tangents; r < op->first[i + 1]; r++) {
      const double u1 = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
      contact->twist_work += 0.5 * op->P[r] * (w->u0[r - nj] + u1);
    }
  }
  for (int r = op->count - op->laws.dry; r < op->count; r++) {
    const double u1 = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
    s->report->dry_work += 0.5 * op->P[r] * (op->rhs[r] + u1);
  }
}

/* Slip before the step, where it is not stored with the contact. */
static void note_slips(splitting_work* w, const saltusi_step* s, int i, int row, int rows) {
  double u[SALTUS_CONE_ROWS];
  for (int k = 0; k < rows; k++) {
    u[k] = saltusi_row_dot(&w->impact.rows, row + k, s->v0) + w->impact.rows.b[row + k];
  }
  saltusi_operator_slips(&w->impact, i, u);
}

/* Rows of the contacts with g <= 0 at the new positions; returns how many, and their keys. */
static saltus_status find_impacts(splitting_work* w, const saltusi_step* s, int* count) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  *count = 0;
  saltusi_operator_begin(&w->impact, nj);
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    int key = w->list.key[i];
    const saltus_contact_law* law = &sys->laws[w->list.law[i]];
    if (w->list.gap[i] > 0.0 && !is_bonded(w, law, key)) {
      continue;
    }
    int rows = saltusi_operator_rows(&w->impact, law);
    int row = saltusi_operator_look(&w->impact, sys, &at, key, rows);
    saltusi_warm_guess(&w->impact, *count, key, row, rows);
    saltusi_operator_take_law(&w->impact, rows, law);
    saltus_contact_step* contact = reported(s, key, w->list.law[i], w->list.gap[i]);
    for (int k = 0; k < rows; k++) {
      double u0 = saltusi_row_dot(&w->impact.rows, row + k, s->v1) + w->impact.rows.b[row + k];
      w->u0[row - nj + k] = u0;
      w->impact.rhs[row + k] = u0 + (k == 0 ? law->e_N : k <= law->tangents ? law->e_T : 0.0) * u0;
      if (k <= law->tangents) {
        *(k == 0 ? &contact->u_before : &contact->slip_before[k - 1]) = u0;
      }
    }
    if (w->impact.laws.any) {
      note_slips(w, s, *count, row, rows);
    }
    /* the list is compacted to the impacting contacts */
    w->list.key[*count] = key;
    w->list.law[*count] = w->list.law[i];
    w->list.gap[*count] = w->list.gap[i];
    (*count)++;
  }
  saltusi_operator_take_dry(&w->impact, sys, &at);
  if (w->impact.count == nj) {
    return status;
  }
  for (int r = w->impact.count - w->impact.laws.dry; r < w->impact.count; r++) {
    w->impact.rhs[r] = saltusi_row_dot(&w->impact.rows, r, s->v1) + w->impact.rows.b[r];
  }
  saltusi_rows_joints(sys, &at, &w->impact.rows);
  for (int j = 0; j < nj; j++) {
    w->impact.rhs[j] = saltusi_row_dot(&w->impact.rows, j, s->v1) + w->impact.rows.b[j];
  }
  return status;
}

/* The keys of the list are its identity map again: find_impacts overwrote a part. */
static void restore_list(splitting_work* w) {
  for (int i = 0; i < w->list.capacity; i++) {
    w->list.key[i] = i;
    w->list.law[i] = i;
  }
}

/* Whether all velocities are rounding, as at rest: a residual that is a part of them would never be reached. */
static bool is_rounding(const splitting_work* w, const saltusi_step* s, int nv, int nj) {
  const double pushed = w->grips.slow / small_push; /* at least that by forces in the step */
  const double rounding = 64.0 * DBL_EPSILON * fmax(saltusi_max_abs(nv, s->v1), pushed);
  return w->grips.of != NULL && saltusi_max_abs(w->impact.count - nj, w->u0) <= rounding &&
         saltusi_max_abs(nj, w->impact.rhs) <= rounding;
}

static saltus_status impact(splitting_work* w, const saltusi_step* s, int count) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  if (is_rounding(w, s, sys->dims.nv, nj)) {
    memset(w->impact.P, 0, (size_t)w->impact.count * sizeof(double));
    return SALTUS_OK;
  }
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_penetration_check(&w->held, s->eval, &at, s->h, &w->list, count);
  if (status == SALTUS_OK) {
    status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  }
  if (status == SALTUS_OK) {
    saltusi_operator_form(&w->impact, s->eval, &w->mass);
    status = saltusi_operator_solve(&w->impact, s->eval);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&w->impact, s->eval, s->v1);
  for (int j = 0; j < nj; j++) {
    s->joint_impulses[j] += w->impact.P[j];
  }
  for (int i = 0; i < count; i++) {
    saltus_contact_step* contact = reported(s, w->list.key[i], w->list.law[i], 0.0);
    int row = w->impact.first[i];
    const int tangents = sys->laws[w->list.law[i]].tangents;
    for (int r = row; r < w->impact.first[i + 1] && r <= row + tangents; r++) {
      double u1 = saltusi_row_dot(&w->impact.rows, r, s->v1) + w->impact.rows.b[r];
      *(r == row ? &contact->u_after : &contact->slip_after[r - row - 1]) = u1;
      contact->impulse[r - row] += w->impact.P[r];
    }
    double e = sys->laws[w->list.law[i]].e_N;
    double P = w->impact.P[row];
    double miss = fabs(fmin(contact->u_after + e * w->u0[row - nj], P * w->impact.diagonal[row]));
    miss = w->impact.laws.any ? w->impact.laws.miss : miss;
    s->report->residual_velocity = fmax(s->report->residual_velocity, miss);
    s->report->residual_impulse = fmax(s->report->residual_impulse, miss / w->impact.diagonal[row]);
  }
  return SALTUS_OK;
}

/* Rows of joints, normals of active contacts, and tangents of sticking contacts. */
static void hold(splitting_work* w, const saltus_system* sys, const saltus_point* at) {
  if (w->grips.of == NULL) {
    saltusi_operator_hold(&w->impact, sys, at, w->keys, w->count);
    return;
  }
  saltusi_operator_begin(&w->impact, sys->dims.nj);
  saltusi_rows_joints(sys, at, &w->impact.rows);
  for (int c = 0; c < w->count; c++) {
    const saltusi_friction_mode* grip = &w->grips.of[w->keys[c]];
    int rows = w->still[c] ? 1 + grip->tangents : 1;
    saltusi_operator_look(&w->impact, sys, at, w->keys[c], rows);
    saltusi_operator_take(&w->impact, rows, 0.0);
  }
}

/* Impulses P that stop the rows of hold(), from the velocities in v1. */
static saltus_status find_stop(splitting_work* w, const saltusi_step* s) {
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  hold(w, &s->eval->sys, &at);
  for (int r = 0; r < w->impact.count; r++) {
    w->impact.rhs[r] = saltusi_row_dot(&w->impact.rows, r, s->v1) + w->impact.rows.b[r];
  }
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_operator_form_active(&w->impact, s->eval, &w->mass);
    status = saltusi_operator_solve(&w->impact, s->eval);
  }
  return status;
}

/* The contact with tangents in the stop whose friction of the whole step exceeds its bound most; -1: none. Only where
 * the stop adds to friction: otherwise the contact, when released, would slip along its friction (slipping stages have
 * negative weights in RKF45). */
static int find_exceeding(splitting_work* w, const saltusi_step* s) {
  int worst = -1;
  double most = 0.0;
  for (int c = 0; w->grips.of != NULL && c < w->count; c++) {
    const saltusi_friction_mode* grip = &w->grips.of[w->keys[c]];
    if (!w->still[c] || grip->tangents == 0) {
      continue;
    }
    const saltus_contact_step* contact = reported(s, w->keys[c], w->laws[w->keys[c]], 0.0);
    const double* P = w->impact.P + w->impact.first[c];
    const double added[2] = {P[1], grip->tangents > 1 ? P[2] : 0.0};
    const double T[2] = {contact->impulse[1] + added[0], contact->impulse[2] + added[1]};
    const double size = saltusi_friction_mode_size(grip, T[0], grip->tangents > 1 ? T[1] : 0.0);
    const double excess = size - grip->mu * fmax(contact->impulse[0] + P[0], 0.0);
    if (excess > fmax(no_slip * size, most) && T[0] * added[0] + T[1] * added[1] > 0.0) {
      most = excess;
      worst = c;
    }
  }
  return worst;
}

/* U of the active contacts and the joints becomes 0: v1 <- v1 - M^-1 G (G^T M^-1 G)^-1 U. Tangents
 * whose friction would exceed its bound are released one by one: these contacts slip in the next
 * step. Redundant contacts bear the remainder. */
static saltus_status stop(splitting_work* w, const saltusi_step* s) {
  int nj = s->eval->sys.dims.nj;
  saltus_status status = find_stop(w, s);
  for (int c = 0; status == SALTUS_OK && (c = find_exceeding(w, s)) >= 0;) {
    w->still[c] = false;
    status = find_stop(w, s);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&w->impact, s->eval, s->v1);
  for (int j = 0; j < nj; j++) {
    s->joint_impulses[j] += w->impact.P[j];
  }
  for (int i = 0; i < w->count; i++) {
    saltus_contact_step* contact = reported(s, w->keys[i], w->laws[w->keys[i]], 0.0);
    for (int r = w->impact.first[i]; r < w->impact.first[i + 1]; r++) {
      contact->impulse[r - w->impact.first[i]] += w->impact.P[r];
    }
    contact->u_after = 0.0;
  }
  return SALTUS_OK;
}

/* A contact becomes active. */
static void begin_grip(splitting_work* w, const saltusi_eval* eval, int key, int law) {
  if (w->grips.of != NULL) {
    saltusi_friction_mode_begin(&w->grips.of[key], eval, law);
  }
}

static bool any_still(const splitting_work* w) {
  bool any = false;
  for (int c = 0; w->grips.of != NULL && c < w->count; c++) {
    any = any || w->still[c];
  }
  return any;
}

/* Slip of active contacts at both ends of the step. */
static void report_slip(splitting_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  for (int end = 0; w->grips.of != NULL && end < 2; end++) {
    saltus_point at = end == 0 ? saltusi_at(s->eval, s->t, s->q0, s->v0)
                               : saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
    for (int c = 0; c < w->count; c++) {
      int tangents = w->grips.of[w->keys[c]].tangents;
      saltus_contact_step* contact = reported(s, w->keys[c], w->laws[w->keys[c]], 0.0);
      saltusi_rows_contact(sys, &at, w->keys[c], 1 + tangents, &w->impact.rows, sys->dims.nj);
      for (int k = 0; k < tangents; k++) {
        int r = sys->dims.nj + 1 + k;
        double u = saltusi_row_dot(&w->impact.rows, r, at.v) + w->impact.rows.b[r];
        *(end == 0 ? &contact->slip_before[k] : &contact->slip_after[k]) = u;
      }
    }
  }
}

/* Contacts with a compressive force stay closed. */
static saltus_status find_pressing(splitting_work* w, const saltusi_step* s,
                                   const saltus_point* at) {
  bool rough = w->grips.of != NULL;
  saltus_status status =
      rough ? saltusi_friction_mode_decide(&w->decision, &w->grips, s->eval, at, w->keys, w->count,
                                           w->a)
            : saltusi_acceleration_find(&w->held, s->eval, at, w->keys, w->count, w->a);
  for (int k = 0; status == SALTUS_OK && k < w->count; k++) {
    bool presses = rough ? w->decision.presses[k] : w->held.op.P[s->eval->sys.dims.nj + k] > 0.0;
    closed_flags(s->memory1)[w->keys[k]] = presses ? 1.0 : 0.0;
  }
  return status;
}

/* Releases active contacts that separate faster than the velocity change by forces in a step. */
static saltus_status release_thrown(splitting_work* w, const saltusi_step* s,
                                    const saltus_point* at) {
  const saltus_system* sys = &s->eval->sys;
  if (w->count == 0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, at, w->a);
  saltusi_linear_solve(s->eval, &w->mass, w->a);
  int kept = 0;
  for (int c = 0; c < w->count; c++) {
    const int row = sys->dims.nj + sys->dims.nc; /* a spare one */
    saltusi_rows_contact(sys, at, w->keys[c], 1, &w->held.op.rows, row);
    const double u = saltusi_row_dot(&w->held.op.rows, row, s->v1) + w->held.op.rows.b[row];
    const double pushed = s->h * saltusi_row_size(&w->held.op.rows, row, w->a);
    if (u <= pushed + no_slip * saltusi_row_size(&w->held.op.rows, row, s->v1)) {
      w->keys[kept] = w->keys[c];
      w->still[kept++] = w->still[c];
    }
  }
  w->count = kept;
  return SALTUS_OK;
}

/* Active contacts of the next step: those active before and those that just closed, as far as they
 * have a compressive force. */
static saltus_status close_contacts(splitting_work* w, const saltus_splitting_options* o,
                                    const saltusi_step* s, int impacts) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  for (int c = 0; w->grips.of != NULL && c < w->count; c++) {
    w->grips.of[w->keys[c]].keeps = false;
  }
  saltus_status status = release_thrown(w, s, &at);
  if (status != SALTUS_OK) {
    return status;
  }
  /* acceleration with the active contacts but without the new ones */
  status = w->grips.of != NULL && w->count > 0
               ? saltusi_friction_mode_decide(&w->decision, &w->grips, s->eval, &at, w->keys,
                                              w->count, w->a)
               : saltusi_acceleration_find(&w->held, s->eval, &at, w->keys, w->count, w->a);
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
      begin_grip(w, s->eval, key, w->list.law[i]);
      w->still[w->count] = false;
      w->laws[key] = w->list.law[i];
      w->keys[w->count++] = key;
    }
  }
  if (status != SALTUS_OK || w->count == 0) {
    return status;
  }
  status = w->count > held || any_still(w) ? stop(w, s) : SALTUS_OK;
  if (status == SALTUS_OK) {
    report_slip(w, s);
    status = find_pressing(w, s, &at);
  }
  return status;
}

/* A contact that is closed and at rest at the start is active from the start. */
static saltus_status close_at_start(splitting_work* w, const saltusi_step* s) {
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

/* The law of each contact. An active contact that is not listed, though its gap is within the reach
 * of the list, has lost its features: it has no law and is released. A list without reach omits
 * closed contacts by rounding of their gap; then the law is that of the key. */
static saltus_status find_laws(splitting_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  const bool by_key = saltusi_laws_by_key(sys);
  const int* kept = s->eval->keys != NULL ? s->eval->keys->table.law : NULL;
  saltus_status status = SALTUS_OK;
  for (int key = 0; key < sys->dims.nc; key++) {
    w->laws[key] = by_key ? key : kept != NULL ? kept[key] : -1;
  }
  if (w->count > 0 && !by_key) {
    saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
    status = saltusi_contacts(sys, &at, &w->list);
    for (int key = 0; w->list.reach > 0.0 && key < sys->dims.nc; key++) {
      w->laws[key] = -1;
    }
    for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
      w->laws[w->list.key[i]] = w->list.law[i];
    }
  }
  int held = 0;
  for (int i = 0; i < w->count; i++) {
    if (w->laws[w->keys[i]] >= 0) {
      w->keys[held++] = w->keys[i];
    }
  }
  w->count = held;
  return status;
}

/* Slip that counts as zero: rounding of velocities, and of their change by forces in a step. */
static saltus_status measure_slow(splitting_work* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_force(s->eval, &at, w->a);
    saltusi_linear_solve(s->eval, &w->mass, w->a);
    double pushed = s->h * saltusi_max_abs(d->nv, w->a);
    w->grips.slow = fmax(no_slip * saltusi_max_abs(d->nv, s->v0), small_push * pushed);
    w->decision.pushed = -1;
  }
  return status;
}

/* The active contacts of this step. */
static saltus_status find_held(splitting_work* w, const saltusi_step* s) {
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
  if (status == SALTUS_OK) {
    status = find_laws(w, s);
  }
  if (status == SALTUS_OK && w->grips.of != NULL && w->count > 0) {
    status = measure_slow(w, s);
  }
  for (int i = 0; i < w->count; i++) {
    begin_grip(w, s->eval, w->keys[i], w->laws[w->keys[i]]);
    reported(s, w->keys[i], w->laws[w->keys[i]], 0.0);
  }
  return status;
}

/* An impulse that stops an approach above the velocity change by forces in a step is an impact. */
static void judge_impacts(splitting_work* w, const saltusi_step* s, int impacts) {
  const saltus_dims* d = &s->eval->sys.dims;
  for (int i = 0; i < d->nv; i++) {
    w->v[i] = s->h * w->k_v[i];
  }
  double most = saltusi_max_abs(d->nv, w->v);
  for (int i = 0; i < impacts; i++) {
    int row = w->impact.first[i];
    double pushed = saltusi_row_size(&w->impact.rows, row, w->v);
    saltus_contact_step* contact = reported(s, w->list.key[i], w->list.law[i], 0.0);
    contact->impact = w->impact.P[row] > 0.0 && saltusi_is_impact(w->u0[row - d->nj], pushed, most);
  }
}

static saltus_status take(splitting_work* w, const saltus_splitting_options* o,
                          const saltusi_step* s, bool contact_forces) {
  const saltus_dims* d = &s->eval->sys.dims;
  w->count = 0;
  memset(s->joint_impulses, 0, (size_t)d->nj * sizeof(double));
  memset(s->memory1, 0, (1 + (size_t)d->nc) * sizeof(double));
  s->memory1[0] = 1.0;
  const bool laws = w->impact.laws.any;
  saltus_status status = contact_forces ? find_held(w, s) : laws ? open_laws(w, s) : SALTUS_OK;
  if (status == SALTUS_OK) {
    status = flow(w, s);
  }
  int impacts = 0;
  if (status == SALTUS_OK) {
    status = find_impacts(w, s, &impacts);
  }
  if (status == SALTUS_OK && w->impact.count > d->nj) {
    status = impact(w, s, impacts);
  }
  if (status == SALTUS_OK && laws) {
    close_laws(w, s, impacts);
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
  (SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_MAPS |                            \
   SALTUS_TREATS_VARIABLE_STEPS | SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_LAWS)

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
            .impacts_at_end = true,
            .treats = TREATS | SALTUS_TREATS_FRICTION_LAWS,
            .options = PLAIN_TABLE,
        },
    .work_size = sizeof(splitting_work),
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
            .impacts_at_end = true,
            .treats = TREATS | SALTUS_TREATS_FRICTION_CURVES,
            .options = CONTACT_TABLE,
        },
    .work_size = sizeof(splitting_work),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .layout = layout,
    .step = step_contact,
};
