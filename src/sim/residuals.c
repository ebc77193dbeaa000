/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * residuals.c - residuals of a step in physical units (docs/run.md, Residuals).
 */
#include "sim/residuals.h"

#include <assert.h>
#include <math.h>

static const struct {
  const char *name, *unit;
} kinds[SALTUS_RESIDUALS] = {
    {"penetration", "m"},      {"approach", "m/s"},   {"open contacts", "N"},
    {"friction cone", "N"},    {"slip angle", "rad"}, {"joints", "m"},
    {"joint rates", "m/s"},    {"remainder", "J"},    {"projection", "m"},
    {"contact solver", "m/s"},
};

const char* saltus_residual_name(saltus_residual_kind kind) {
  assert((int)kind >= 0 && (int)kind < SALTUS_RESIDUALS);
  return kinds[kind].name;
}

const char* saltus_residual_unit(saltus_residual_kind kind) {
  assert((int)kind >= 0 && (int)kind < SALTUS_RESIDUALS);
  return kinds[kind].unit;
}

void saltusi_residuals_start(saltusi_residuals* r) {
  assert(r != NULL);
  r->slip = 0.0;
  for (int i = 0; i < SALTUS_RESIDUALS; i++) {
    r->worst[i] = (saltus_worst){.t = (double)NAN, .row = -1};
  }
}

void saltusi_residuals_keep(saltusi_residuals* r, saltus_residual_kind kind, double value, double t,
                            const saltus_contact_step* who) {
  assert(r != NULL);
  saltus_worst* w = &r->worst[kind];
  if (value > w->value) {
    w->value = value;
    w->t = t;
    w->has_contact = who != NULL;
    w->identity = who != NULL ? who->identity : 0;
    w->law = who != NULL ? who->law : 0;
  }
}

void saltusi_residuals_joint(saltusi_residuals* r, saltus_residual_kind kind, double value,
                             double t, int row) {
  assert(r != NULL);
  if (value > r->worst[kind].value) {
    r->worst[kind].value = value;
    r->worst[kind].t = t;
    r->worst[kind].row = row;
  }
}

void saltusi_residuals_rates(saltusi_residuals* r, const saltus_system* sys, const saltus_point* at,
                             saltusi_row_block* block) {
  assert(r != NULL && sys != NULL && at != NULL && block != NULL);
  for (int joint = 0; joint < saltusi_joint_count(sys); joint++) {
    saltusi_rows_joint(sys, at, joint, block, 0);
    for (int k = 0; k < saltusi_joint_rows(sys, joint); k++) {
      double u = saltusi_row_dot(block, k, at->v) + block->b[k];
      saltusi_residuals_joint(r, SALTUS_RESIDUAL_JOINT_RATES, fabs(u), at->t,
                              saltusi_joint_first(sys, joint) + k);
    }
  }
}

/* hypot(x, y) > length >= 0, by squares if these are accurate enough, which is cheaper. */
static bool is_longer(double x, double y, double length) {
  const double square = x * x + y * y, limit = length * length;
  if (limit > 1e-280) { /* no loss of digits; their relative error is a few 1e-16 */
    if (square > (1.0 + 1e-14) * limit) {
      return true;
    }
    if (square < (1.0 - 1e-14) * limit) {
      return false;
    }
  }
  return hypot(x, y) > length;
}

/* Angle between friction P_T and the opposite of slip u, of a contact that slides by Coulomb's law. */
static void keep_angle(saltusi_residuals* r, const saltus_contact_law* law, const double P[3],
                       const double u[2], double t, const saltus_contact_step* who) {
  bool slides = is_longer(P[1], P[2], 0.999 * law->mu * P[0]);
  if (slides && law->friction == NULL && law->e_T == 0.0) {
    double along = P[1] * u[0] + P[2] * u[1];
    double aside = P[1] * u[1] - P[2] * u[0];
    saltusi_residuals_keep(r, SALTUS_RESIDUAL_ANGLE, atan2(fabs(aside), -along), t, who);
  }
}

/* Friction of one contact over a step of length h. */
static void look_at_friction(saltusi_residuals* r, const saltus_contact_law* law,
                             const saltus_contact_step* c, double t, double h, bool located) {
  const double* P = c->impulse;
  const saltus_friction_law* f = law->friction;
  if (f != NULL && (f->adhesion > 0.0 || f->viscous > 0.0)) {
    return; /* friction may exceed mu P_N */
  }
  double across = f != NULL && f->across > 0.0 ? P[2] * law->mu / f->across : P[2];
  const double most = fmax(law->mu, law->impact_mu) * P[0];
  if (is_longer(P[1], across, most)) {
    saltusi_residuals_keep(r, SALTUS_RESIDUAL_CONE, (hypot(P[1], across) - most) / h, t, c);
  }
  double u[2] = {c->slip_after[0], c->slip_after[1]};
  if (is_longer(u[0], u[1], r->slip)) {
    r->slip = hypot(u[0], u[1]);
  }
  const double rest = 1e-6 * r->slip;
  bool slips = is_longer(u[0], u[1], rest);
  if (slips && located) { /* the slip in the middle of a long step */
    const double before = hypot(c->slip_before[0], c->slip_before[1]);
    const double after = hypot(u[0], u[1]);
    /* excludes slip that reverses inside of the step; an impact reports the slip after it */
    slips = before > rest && !(u[0] * c->slip_before[0] + u[1] * c->slip_before[1] <= 0.0);
    u[0] = u[0] / after + c->slip_before[0] / before;
    u[1] = u[1] / after + c->slip_before[1] / before;
  }
  if (slips && law->impact_mu == 0.0) {
    keep_angle(r, law, P, u, t, c);
  }
}

/* A located impact: remaining approach velocity, and friction against the slip after it. */
static void look_at_impact(saltusi_residuals* r, const saltus_system* sys, const saltus_event* e) {
  const saltus_contact_step who = {.identity = e->identity, .law = e->law};
  const saltus_contact_law* law = &sys->laws[e->law];
  saltusi_residuals_keep(r, SALTUS_RESIDUAL_APPROACH, -e->u_after, e->t, &who);
  double slip = hypot(e->slip_after[0], e->slip_after[1]);
  r->slip = fmax(r->slip, slip);
  if (law->tangents > 0 && law->mu > 0.0 && law->impact == SALTUS_IMPACT_NEWTON &&
      law->impact_mu == 0.0 && e->impulse[0] > 0.0 && slip > 1e-6 * r->slip) {
    keep_angle(r, law, e->impulse, e->slip_after, e->t, &who);
  }
}

static void look_at_contact(saltusi_residuals* r, const saltus_system* sys,
                            const saltus_contact_step* c, double t0, double t1, bool located) {
  double h = t1 - t0;
  saltusi_residuals_keep(r, SALTUS_RESIDUAL_PENETRATION, -c->gap, t0, c);
  if (!(c->impulse[0] > 0.0) || !(h > 0.0)) {
    return;
  }
  if (!located) {
    saltusi_residuals_keep(r, SALTUS_RESIDUAL_APPROACH, -c->u_after, t1, c);
    double reach = 1e-9 * (c->gap + h * (fabs(c->u_before) + fabs(c->u_after)));
    bool open = c->gap > reach && c->gap + h * fmin(c->u_before, c->u_after) > reach;
    saltusi_residuals_keep(r, SALTUS_RESIDUAL_OPEN, open ? c->impulse[0] / h : 0.0, t1, c);
  }
  const saltus_contact_law* law = &sys->laws[c->law];
  if (law->tangents > 0 && law->mu > 0.0) {
    look_at_friction(r, law, c, t1, h, located);
  }
}

void saltusi_residuals_step(saltusi_residuals* r, const saltus_system* sys,
                            const saltus_step_report* report, double t0, double t1, bool located) {
  assert(r != NULL && sys != NULL && report != NULL);
  for (int i = 0; i < report->active; i++) {
    look_at_contact(r, sys, &report->contacts[i], t0, t1, located);
  }
  for (int i = 0; located && i < report->event_count; i++) {
    const saltus_event* e = &report->events[i];
    if (e->kind == SALTUS_EVENT_IMPACT && e->law >= 0 && e->law < sys->law_count) {
      look_at_impact(r, sys, e);
    }
  }
  saltusi_residuals_keep(r, SALTUS_RESIDUAL_PROJECTION, report->projection, t1, NULL);
  saltusi_residuals_keep(r, SALTUS_RESIDUAL_SOLVER, report->residual_velocity, t1, NULL);
}
