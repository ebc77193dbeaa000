/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_impact.c - an impact in compression and decompression (Potra et al. 2006, (7.4)-(7.9);
 * docs/theory/trapezoidal.md, 2.6), M and all rows at the configuration of the impact:
 *
 *   compression     M (v_c - v-) = G P_c                  0 <= U_c,N  perp  P_c,N >= 0, friction
 *   decompression   M (v+ - v_c) = G P_x + sum of n e P_c,N            the same on U+ and P_x
 *
 * with friction of the restituted impulse, mu (P_x,N + e P_c,N), or of P_x,N alone as printed.
 * A contact with Newton's law has 0 <= U_N + e min(U-, 0) in both phases and restitutes nothing.
 * Tangential restitution makes friction act on U_T + e_T U_T- in both phases, as in Moreau's law.
 */
#include "scheme/impact_step.h"
#include "scheme/trapezoidal/trapezoidal.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Roots are found to this part of the step. */
static const double time_accuracy = 1e-13;

/* U of all rows for w->v. */
static void measure_rows(saltusi_trapezoid* w) {
  const saltusi_row_block* rows = saltusi_polyhedral_rows_measured(&w->law);
  for (int r = 0; r < w->law.rows; r++) {
    w->law.rate[r] = saltusi_row_dot(rows, r, w->v) + rows->b[r];
  }
}

/* The same with the restitution terms of Newton's law. */
static void write_rates(saltusi_trapezoid* w) {
  saltusi_polyhedral_rows* law = &w->law;
  const saltus_system* sys = &w->eval->sys;
  measure_rows(w);
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    const saltus_contact_law* data = &sys->laws[contact->law];
    if (data->impact == SALTUS_IMPACT_NEWTON) {
      law->rate[contact->row] += w->e[i] * fmin(w->u_before[i], 0.0);
    }
    for (int r = 0; r < contact->tangents && w->rebounds[i]; r++) {
      law->rate[contact->row + 1 + r] += data->e_T * w->slip_before[2 * i + r];
    }
  }
}

/* v_c to v_c + sum of M^-1 n e P_c,N; whether any impulse is restituted. */
static bool restitute(saltusi_trapezoid* w) {
  saltusi_polyhedral_rows* law = &w->law;
  const saltus_system* sys = &w->eval->sys;
  bool any = false;
  memset(law->P, 0, (size_t)law->rows * sizeof(double));
  for (int i = 0; i < law->count; i++) {
    saltusi_polyhedral_contact* contact = &law->contacts[i];
    bool poisson = sys->laws[contact->law].impact == SALTUS_IMPACT_POISSON;
    double back = poisson ? w->e[i] * w->compression[contact->row] : 0.0;
    if (back <= 0.0) {
      continue;
    }
    any = true;
    law->P[contact->row] = back;
    w->compression[contact->row] += back;
    contact->slack = w->o->decompression == SALTUS_DECOMPRESSION_COULOMB ? contact->mu * back : 0.0;
  }
  if (any) {
    saltusi_operator_apply(&law->op, w->eval, w->v);
  }
  return any;
}

/* One event and impulse for each contact of the impact. An impact that only stops velocities below
 * the change by forces in a step belongs to non-impulsive contact. */
static void report(saltusi_trapezoid* w) {
  const saltusi_polyhedral_rows* law = &w->law;
  bool felt = false;
  for (int i = 0; i < law->count; i++) {
    felt = felt || w->rebounds[i];
  }
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    const double* p = w->compression + contact->row;
    if (!(felt && p[0] > 0.0)) {
      continue;
    }
    saltus_event event = {.kind = SALTUS_EVENT_IMPACT,
                          .t = w->t,
                          .t_accuracy = time_accuracy * w->s->h,
                          .contact = contact->key,
                          .u_before = w->u_before[i],
                          .slip_before = {w->slip_before[2 * i], w->slip_before[2 * i + 1]}};
    event.u_after = saltusi_trapezoid_velocity(w, contact->key, event.slip_after);
    memcpy(event.impulse, p, (size_t)(1 + contact->tangents) * sizeof(double));
    event.energy_change = saltus_event_work(&event);
    saltusi_trapezoid_report(w, &event);
    saltus_contact_step* summary = &w->summary[contact->key];
    if (!summary->impact || w->u_before[i] < summary->u_before) {
      summary->u_before = w->u_before[i]; /* the fastest approach of the step */
    }
  }
  saltusi_trapezoid_add_impulses(w, w->compression, felt);
}

/* Solves the present phase and adds its impulses to those of the impact. */
static saltus_status phase(saltusi_trapezoid* w) {
  saltusi_polyhedral_rows* law = &w->law;
  write_rates(w);
  saltus_status status = saltusi_polyhedral_rows_solve(law, w->eval);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&law->op, w->eval, w->v);
  saltusi_add_scaled(law->rows, 1.0, law->P, w->compression);
  saltus_step_report* report = w->s->report;
  report->residual_velocity = fmax(report->residual_velocity, law->residual);
  return SALTUS_OK;
}

/* M, rows and W at the present state; the impulses of the impact start at zero. */
static saltus_status prepare(saltusi_trapezoid* w) {
  saltusi_polyhedral_rows* law = &w->law;
  saltus_point at = saltusi_at(w->eval, w->t, w->q, w->v);
  saltus_status status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_polyhedral_rows_form(law, w->eval, &at, &at, &w->mass);
    memset(w->compression, 0, (size_t)law->rows * sizeof(double));
  }
  return status;
}

saltus_status saltusi_trapezoid_stop(saltusi_trapezoid* w) {
  assert(w != NULL);
  saltus_status status = prepare(w);
  if (status != SALTUS_OK) {
    return status;
  }
  measure_rows(w);
  status = saltusi_polyhedral_rows_stop(&w->law, w->eval);
  if (status == SALTUS_OK) {
    saltusi_operator_apply(&w->law.op, w->eval, w->v);
    saltusi_trapezoid_add_impulses(w, w->law.P, false);
  }
  return status;
}

/* Impact of the contacts that rebound, together with those that are closed, by the laws of the
 * system. */
static saltus_status strike_by_law(saltusi_trapezoid* w) {
  saltusi_polyhedral_rows* law = &w->law;
  saltusi_impact_step* jump = w->s->jump;
  saltus_point at = saltusi_at(w->eval, w->t, w->q, w->v);
  bool rebounds = false;
  for (int i = 0; i < law->count; i++) {
    w->struck_keys[i] = law->contacts[i].key;
    rebounds = rebounds || w->rebounds[i];
  }
  if (!rebounds) {
    return SALTUS_OK;
  }
  saltus_status status =
      saltusi_impact_step_apply(jump, w->eval, &at, w->struck_keys, law->count, w->v);
  for (int i = 0; i < jump->count && status == SALTUS_OK; i++) {
    const saltusi_impact_step_result* struck = &jump->struck[i];
    int k = 0;
    while (law->contacts[k].key != struck->key) {
      k++;
    }
    int rows = 1 + law->contacts[k].tangents;
    saltusi_add_scaled(rows < struck->rows ? rows : struck->rows, 1.0, struck->P,
                       w->compression + law->contacts[k].row);
  }
  return status;
}

saltus_status saltusi_trapezoid_impact(saltusi_trapezoid* w) {
  assert(w != NULL);
  saltusi_polyhedral_rows* law = &w->law;
  saltus_status status = prepare(w);
  if (status == SALTUS_OK && w->s->jump != NULL) {
    status = strike_by_law(w);
  }
  if (status == SALTUS_OK) {
    status = phase(w);
  }
  if (status == SALTUS_OK && restitute(w)) {
    status = phase(w);
  }
  for (int i = 0; i < law->count; i++) {
    law->contacts[i].slack = 0.0;
    w->mode[law->contacts[i].key].kind = SALTUSI_MODE_UNKNOWN;
  }
  if (status == SALTUS_OK) {
    report(w);
    saltusi_trapezoid_release(w);
  }
  return status;
}

saltus_status saltusi_trapezoid_restitution(saltusi_trapezoid* w, bool resting, bool* approach) {
  assert(w != NULL);
  const saltus_system* sys = &w->eval->sys;
  *approach = false;
  saltus_status status = w->law.count > 0 ? saltusi_trapezoid_measure(w) : SALTUS_OK;
  for (int i = 0; i < w->law.count && status == SALTUS_OK; i++) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    w->u_before[i] = saltusi_trapezoid_velocity(w, contact->key, w->slip_before + 2 * i);
    const bool often = w->hit_count[contact->key] >= SALTUSI_TRAPEZOID_HITS;
    double slow = resting || often ? w->o->rest * saltusi_row_size(&w->row, 0, w->push) : 0.0;
    slow = fmax(slow, saltusi_trapezoid_rounding(w));
    w->rebounds[i] = w->u_before[i] < -slow;
    w->e[i] = w->u_before[i] > -slow ? 0.0 : sys->laws[contact->law].e_N;
    *approach = *approach || w->u_before[i] < -saltusi_trapezoid_rounding(w);
  }
  return status;
}
