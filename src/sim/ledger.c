/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.c - see saltus/ledger.h for the terms and docs/ledger.md for their derivation.
 *
 * Integrals are evaluated by Gauss' rule with three points. A scheme that has forces inside of a step is integrated
 * along its own motion in four parts, since such steps may be long. Otherwise the rule is applied once, along the
 * straight line from q_0 to q_1 at the constant velocity u = (q_1 - q_0) / h. On this line Moreau's step with theta =
 * 1/2 satisfies M (v_1 - v_0) . u = T_1 - T_0, and the work of linear forces is that of the scheme. Steps of higher
 * order without an impact follow the cubic with the positions and velocities of both ends instead (splitting-rkf45).
 */
#include "sim/ledger.h"

#include "scheme/energy_gain.h"
#include "sim/ledger_impact.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const double gauss_node[3] = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double gauss_weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

void saltusi_ledger_layout(saltusi_ledger_workspace* room, const saltus_system* sys, void* scratch,
                           saltus_arena* arena) {
  assert(room != NULL && sys != NULL);
  const saltus_dims* d = &sys->dims;
  room->eval.sys = *sys;
  saltusi_eval_layout_over(&room->eval, scratch, arena);
  saltusi_rows_layout(&room->rows, d, 3, false, arena);
  saltusi_power_layout(&room->power, sys, arena);
  room->q = SALTUS_PUSH(arena, double, d->nq);
  room->u = SALTUS_PUSH(arena, double, d->nv);
  room->v = SALTUS_PUSH(arena, double, d->nv);
  room->forces = SALTUS_PUSH(arena, double, 3 * (size_t)d->nc + (size_t)d->nj);
  room->bounce.mass = SALTUS_PUSH(arena, double, 3 * (size_t)d->nc);
  room->left_contacts = SALTUS_PUSH(arena, saltusi_contact_work, d->nc);
  room->bounce_x = SALTUS_PUSH(arena, double, d->nv);
  saltusi_impact_layout(room, arena);
}

/* Times that differ by less than this count as equal. */
static double rounding(const saltusi_ledger_workspace* room) {
  return 16.0 * DBL_EPSILON * fmax(fabs(room->step.x0->t), fabs(room->step.x1->t));
}

static double energy_of(saltusi_ledger_workspace* room, const saltus_state* x) {
  if (room->partial) {
    return 0.0;
  }
  const saltus_system* sys = &room->eval.sys;
  const saltus_point at = saltusi_at(&room->eval, x->t, x->q, x->v);
  double T = saltusi_kinetic(sys, &at, room->power.matrix, room->power.F);
  return sys->ops->potential != NULL ? T + saltusi_potential(sys, &at) : T;
}

static double frame_energy(saltusi_ledger_workspace* room, double t, const double* q,
                           const double* v) {
  const saltus_system* sys = &room->eval.sys;
  const saltus_point at = saltusi_at(&room->eval, t, q, v);
  return sys->ops->frame_energy != NULL ? sys->ops->frame_energy(sys->self, &at) : 0.0;
}

static bool is_impact(const saltus_event* e) {
  return e->kind == SALTUS_EVENT_IMPACT || e->kind == SALTUS_EVENT_PAINLEVE;
}

/* ---- steps whose forces are known inside --------------------------------------------------- */

/* State at one side of a time into room->q and room->v. */
static bool look_beside(saltusi_ledger_workspace* room, double t, saltus_side side, bool smooth) {
  const saltusi_ledger_inside* in = room->step.inside;
  const saltusi_dense_query query = {
      .t = t, .side = side, .smooth = smooth, .q = room->q, .v = room->v};
  return in->motion(in->who, &query) == SALTUS_OK;
}

/* State of the smooth motion into room->q and room->v. */
static bool look(saltusi_ledger_workspace* room, double t, bool smooth) {
  return look_beside(room, t, SALTUS_RIGHT, smooth);
}

/* Work of the non-impulsive force of a contact at the point, times dt. */
static void contact_power(saltusi_ledger_workspace* room, saltusi_account account,
                          const saltus_point* at, double dt, int key) {
  const saltus_system* sys = &room->eval.sys;
  const double* f = room->forces + 3 * (size_t)key;
  if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0) {
    return;
  }
  int count = saltusi_ledger_rows(sys, saltusi_ledger_law(room, key));
  saltusi_rows_contact(sys, at, key, count, &room->rows, 0);
  for (int k = 0; k < count; k++) {
    account.energy->drive -= dt * f[k] * room->rows.b[k];
    if (k > 0) {
      double work = dt * f[k] * (saltusi_row_dot(&room->rows, k, room->v) + room->rows.b[k]);
      account.energy->friction += work;
      account.contacts[key].friction += work;
    }
  }
}

/* Power of all forces at one instant, or of one contact alone, times dt. */
static void add_power(saltusi_ledger_workspace* room, saltusi_account account, double t, double dt,
                      int only) {
  const saltus_system* sys = &room->eval.sys;
  const saltusi_ledger_inside* in = room->step.inside;
  if (!look(room, t, true)) {
    return;
  }
  const saltusi_dense_query query = {.t = t, .side = SALTUS_LEFT, .smooth = true};
  const saltus_point at = saltusi_at(&room->eval, t, room->q, room->v);
  in->forces(in->who, &query, room->forces);
  if (only >= 0) {
    contact_power(room, account, &at, dt, only);
    return;
  }
  double power[2];
  saltusi_system_power(sys, &at, &room->power, power);
  account.energy->external += dt * power[0];
  account.energy->drive += dt * power[1];
  if (in->power != NULL) {
    in->power(in->who, &query, power);
    account.energy->friction += dt * power[0];
    account.energy->drive += dt * power[1];
  }
  for (int key = 0; key < sys->dims.nc; key++) {
    contact_power(room, account, &at, dt, key);
  }
  saltusi_rows_joints(sys, &at, &room->joints);
  for (int j = 0; j < sys->dims.nj; j++) {
    account.energy->drive -= dt * room->forces[3 * sys->dims.nc + j] * room->joints.b[j];
  }
}

/* Work between two times along the motion of the scheme. */
static void integrate(saltusi_ledger_workspace* room, saltusi_account account, double from,
                      double to, int only) {
  enum { PARTS = 4 };
  double h = room->step.x1->t - room->step.x0->t;
  double parts = fmax(1.0, ceil(PARTS * fabs(to - from) / h - 1e-6));
  double dt = (to - from) / parts;
  for (int part = 0; part < (int)parts; part++) {
    for (int k = 0; k < 3; k++) {
      add_power(room, account, from + (part + gauss_node[k]) * dt, gauss_weight[k] * dt, only);
    }
  }
}

/* Moving frames: change of 2 T - v . T_v along the motion since the last call. */
static double frame_change(saltusi_ledger_workspace* room, double t) {
  if (room->eval.sys.ops->frame_energy == NULL || !look(room, t, true)) {
    return 0.0;
  }
  double before = room->frame;
  room->frame = frame_energy(room, t, room->q, room->v);
  return room->frame - before;
}

/* Impulses of an impact from v to v + speed x along the bouncing direction x. own: those of the bouncing contact
 * without the reaction of joints; else those of the other contacts, and the reaction of joints to all. */
static void bounce_impact(saltusi_ledger_workspace* room, saltusi_account account, double t,
                          double speed, bool own) {
  const saltus_system* sys = &room->eval.sys;
  if (!look(room, t, true)) {
    return;
  }
  saltusi_impact impact = saltusi_impact_open(room, t, room->q);
  for (int i = 0; i < sys->dims.nv; i++) {
    room->u[i] = room->v[i] + speed * room->bounce_x[i];
  }
  const double* v[2] = {room->v, room->u};
  for (int key = 0; key < sys->dims.nc; key++) {
    const double* mass = room->bounce.mass + 3 * (size_t)key;
    const double P[3] = {speed * mass[0], speed * mass[1], speed * mass[2]};
    bool acts = P[0] != 0.0 || P[1] != 0.0 || P[2] != 0.0;
    if (acts && (key == room->bounce.key) == own) {
      saltusi_impact_between(room, account, &impact, key, P, v);
    } else if (acts && !own) {
      saltusi_impact_push(room, &impact, key, P);
    }
  }
  if (!own) {
    saltusi_impact_close(room, account, &impact);
  }
}

/* A step over an accumulation of impacts is the smooth motion with a closed contact, after an impact that removes
 * the rebound velocity U. The normal work -m U^2 / 2 of this impact is that of all impacts of the accumulation. */
static void open_bounce(saltusi_ledger_workspace* room, saltusi_account account) {
  const saltusi_ledger_inside* in = room->step.inside;
  const saltusi_dense_query query = {.t = room->step.x0->t, .side = SALTUS_RIGHT};
  int nv = room->eval.sys.dims.nv;
  room->bounces = in->bounce(in->who, &query, &room->bounce);
  if (!room->bounces || !look(room, query.t, false)) {
    return;
  }
  memcpy(room->bounce_x, room->v, (size_t)nv * sizeof(double));
  if (!look(room, query.t, true)) {
    return;
  }
  double U = room->bounce.start;
  for (int i = 0; i < nv; i++) {
    room->bounce_x[i] = (room->bounce_x[i] - room->v[i]) / U;
  }
  /* the impact from v + U x to v is that from v to v + U x with the opposite sign */
  saltus_energy taken = {0};
  for (int key = 0; key < room->eval.sys.dims.nc; key++) {
    room->left_contacts[key] = (saltusi_contact_work){0};
  }
  const saltusi_account back = {.energy = &taken, .contacts = room->left_contacts};
  bounce_impact(room, back, query.t, U, true);
  bounce_impact(room, back, query.t, U, false);
  account.energy->drive -= taken.drive;
  account.energy->friction -= taken.friction;
  account.energy->impact -= taken.impact;
  for (int key = 0; key < room->eval.sys.dims.nc; key++) {
    account.contacts[key].friction -= room->left_contacts[key].friction;
    account.contacts[key].impact -= room->left_contacts[key].impact;
  }
}

/* Inside of such a step, the work of the bouncing contact is that up to the start of the present flight and its
 * launch; the works of other contacts and of joints include the reaction to the present velocity of the bounce. */
static void show_bounce(saltusi_ledger_workspace* room, saltusi_account account, double t,
                        saltus_side side) {
  const saltusi_ledger_inside* in = room->step.inside;
  const saltusi_dense_query query = {.t = t, .side = side};
  if (in->bounce(in->who, &query, &room->bounce)) {
    integrate(room, account, t, room->bounce.since, room->bounce.key);
    bounce_impact(room, account, room->bounce.since, room->bounce.launch, true);
    bounce_impact(room, account, t, room->bounce.speed, false);
  }
}

/* ---- steps whose forces are known as impulses ---------------------------------------------- */

/* room->u = (q_1 - q_0) / h, or the mean velocity if positions are not the integral of velocities. */
static void mean_velocity(saltusi_ledger_workspace* room) {
  const saltus_state* x0 = room->step.x0;
  const saltus_state* x1 = room->step.x1;
  bool straight = room->eval.sys.ops->advance == NULL;
  for (int i = 0; i < room->eval.sys.dims.nv; i++) {
    room->u[i] = straight ? (x1->q[i] - x0->q[i]) / (x1->t - x0->t) : 0.5 * (x0->v[i] + x1->v[i]);
  }
}

/* The change of 2 T - v . T_v over the step. */
static void frame_on_line(saltusi_ledger_workspace* room) {
  const saltus_state* x0 = room->step.x0;
  const saltus_state* x1 = room->step.x1;
  room->left.drive +=
      frame_energy(room, x1->t, x1->q, x1->v) - frame_energy(room, x0->t, x0->q, x0->v);
}

/* True if the motion of the step has no velocity jump and is of higher order than its chord. */
static bool is_curved(const saltusi_ledger_step* step) {
  bool curved = step->smooth_order > 2;
  for (int i = 0; curved && i < step->report->active; i++) {
    curved = !step->report->contacts[i].impact;
  }
  return curved;
}

/* State at the part s of the step on the cubic with the positions and velocities of both ends into room->q, room->v. */
static void cubic_state(saltusi_ledger_workspace* room, double s) {
  const double* v0 = room->step.x0->v;
  const double* v1 = room->step.x1->v;
  const int nv = room->eval.sys.dims.nv;
  for (int i = 0; i < nv; i++) { /* mean velocity up to s */
    const double excess = room->u[i] - 0.5 * (v0[i] + v1[i]);
    room->v[i] = v0[i] + 0.5 * s * (v1[i] - v0[i]) + (3.0 - 2.0 * s) * s * excess;
  }
  saltusi_advance(&room->eval.sys, room->step.x0->q, room->v,
                  s * (room->step.x1->t - room->step.x0->t), room->q);
  for (int i = 0; i < nv; i++) {
    const double excess = room->u[i] - 0.5 * (v0[i] + v1[i]);
    room->v[i] = v0[i] + s * (v1[i] - v0[i]) + 6.0 * s * (1.0 - s) * excess;
  }
}

/* Work of external forces and of explicitly time-dependent energies along the line from x0 to x1 at room->u, or
 * along a cubic. */
static void power_on_line(saltusi_ledger_workspace* room) {
  const saltus_system* sys = &room->eval.sys;
  const saltus_state* x0 = room->step.x0;
  const saltus_state* x1 = room->step.x1;
  const bool curved = is_curved(&room->step);
  double h = x1->t - x0->t;
  for (int k = 0; k < 3; k++) {
    if (curved) {
      cubic_state(room, gauss_node[k]);
    } else if (sys->ops->advance == NULL) {
      for (int i = 0; i < sys->dims.nq; i++) {
        room->q[i] = x0->q[i] + gauss_node[k] * (x1->q[i] - x0->q[i]);
      }
    } else {
      saltusi_advance(sys, x0->q, room->u, gauss_node[k] * h, room->q);
    }
    const saltus_point at =
        saltusi_at(&room->eval, x0->t + gauss_node[k] * h, room->q, curved ? room->v : room->u);
    double power[2];
    saltusi_system_power(sys, &at, &room->power, power);
    room->left.external += gauss_weight[k] * h * power[0];
    room->left.drive += gauss_weight[k] * h * power[1];
  }
  frame_on_line(room);
}

/* Energy of moving frames at one side of a time on the motion. */
static double frame_beside(saltusi_ledger_workspace* room, double t, saltus_side side) {
  return look_beside(room, t, side, false) ? frame_energy(room, t, room->q, room->v) : 0.0;
}

/* Likewise along the dense output between two events. */
static void power_on_motion(saltusi_ledger_workspace* room, saltus_energy* e, double from,
                            double to) {
  const saltus_system* sys = &room->eval.sys;
  for (int k = 0; k < 3; k++) {
    double t = from + gauss_node[k] * (to - from);
    double power[2];
    if (look(room, t, false)) {
      const saltus_point at = saltusi_at(&room->eval, t, room->q, room->v);
      saltusi_system_power(sys, &at, &room->power, power);
      e->external += gauss_weight[k] * (to - from) * power[0];
      e->drive += gauss_weight[k] * (to - from) * power[1];
    }
  }
  if (sys->ops->frame_energy != NULL) {
    e->drive += frame_beside(room, to, SALTUS_LEFT) - frame_beside(room, from, SALTUS_RIGHT);
  }
}

/* Work of the impulse P of a contact over the step; b and slip are means of both ends, or b of an impact where the
 * scheme has it. */
static void lasting_contact(saltusi_ledger_workspace* room, const saltus_contact_step* contact,
                            const double P[3], bool mean) {
  const saltus_system* sys = &room->eval.sys;
  room->left.impact += contact->normal_work;
  room->left_contacts[contact->key].impact += contact->normal_work;
  if (contact->slip_work != 0.0 || contact->surface_work != 0.0) {
    room->left.drive -= contact->surface_work;
    room->left.friction += contact->slip_work;
    room->left_contacts[contact->key].friction += contact->slip_work;
    return;
  }
  int count = saltusi_ledger_rows(sys, contact->law);
  double slip[2] = {0.0, 0.0};
  bool impact = contact->impact && !mean && room->step.at_end;
  /* rows are needed for b, and for the mean slip */
  const bool needed = mean || (sys->traits & SALTUS_STILL_OBSTACLES) == 0;
  for (int end = 0; end < 2 && needed; end++) {
    const saltus_state* x = end == 0 ? room->step.x0 : room->step.x1;
    const saltus_point at = saltusi_at(&room->eval, x->t, x->q, x->v);
    saltusi_rows_contact(sys, &at, contact->key, count, &room->rows, 0);
    for (int k = 0; k < 3 && k < count; k++) {
      double struck = impact ? P[k] - contact->lasting[k] : 0.0;
      room->left.drive -= (0.5 * (P[k] - struck) + end * struck) * room->rows.b[k];
      if (k > 0) {
        slip[k - 1] += 0.5 * (saltusi_row_dot(&room->rows, k, room->u) + room->rows.b[k]);
      }
    }
  }
  double normal = mean ? 0.0 : 0.5 * P[0] * (contact->u_before + contact->u_after);
  double friction = 0.0;
  for (int k = 0; k < 2; k++) {
    double U = mean ? slip[k] : 0.5 * (contact->slip_before[k] + contact->slip_after[k]);
    friction += P[k + 1] * U;
  }
  friction += contact->twist_work;
  room->left.impact += normal;
  room->left.friction += friction;
  room->left_contacts[contact->key].impact += normal;
  room->left_contacts[contact->key].friction += friction;
}

/* Impulses without those of located impacts act while contacts are closed: only slip does work. Such steps may be
 * long; the mean slip is used, which is exact for a constant force. */
static void lasting_contacts(saltusi_ledger_workspace* room, bool events) {
  const saltus_step_report* report = room->step.report;
  double* P = room->forces; /* by key; forces of such a step are not requested */
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* c = &report->contacts[i];
    memcpy(P + 3 * (size_t)c->key, c->impulse, sizeof c->impulse);
  }
  for (int e = 0; events && e < report->event_count; e++) {
    for (int k = 0; k < 3; k++) {
      P[3 * (size_t)report->events[e].contact + (size_t)k] -= report->events[e].impulse[k];
    }
  }
  room->left.friction += report->dry_work;
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* c = &report->contacts[i];
    if (c->impulse[0] != 0.0 || c->normal_work != 0.0 || c->slip_work != 0.0) {
      lasting_contact(room, c, P + 3 * (size_t)c->key, events);
    }
  }
}

/* Work of driven joints over the step: the work that the scheme reports, else the impulses with the mean b of both
 * ends; without those at located impacts, which add_impact books. */
static void lasting_joints(saltusi_ledger_workspace* room) {
  const saltus_system* sys = &room->eval.sys;
  const double* impacts = room->step.located ? room->step.report->joint_impacts : NULL;
  if (room->step.report->joint_work != 0.0) {
    room->left.drive -= room->step.report->joint_work;
    return;
  }
  for (int end = 0; end < 2 && sys->dims.nj > 0; end++) {
    const saltus_state* x = end == 0 ? room->step.x0 : room->step.x1;
    const saltus_point at = saltusi_at(&room->eval, x->t, x->q, x->v);
    saltusi_rows_joints(sys, &at, &room->joints);
    for (int j = 0; j < sys->dims.nj; j++) {
      const double apart = impacts != NULL ? impacts[j] : 0.0;
      room->left.drive -= 0.5 * (room->step.report->joint_impulses[j] - apart) * room->joints.b[j];
    }
  }
}

/* ---- impacts --------------------------------------------------------------------------------- */

/* Energy created by contacts in an impact is an error of the impact law and reported as such. */
static void judge(saltusi_ledger* ledger, double work, double size, double t) {
  if (work > SALTUS_ENERGY_CREATED * size) {
    ledger->created_at = ledger->creations == 0.0 ? t : ledger->created_at;
    ledger->creations += 1.0;
    ledger->step.created += work;
    ledger->total.created += work;
  }
}

/* Contacts of a step without located events: their impulses form one impact, which is reported at its end. */
static void judge_step(saltusi_ledger* ledger, const saltusi_ledger_step* step) {
  int next = 0;
  saltus_event remark;
  double t = step->x1->t;
  if (saltusi_energy_gain_next(step->report, false, t, t - step->x0->t, &next, &remark)) {
    judge(ledger, remark.energy_change, 0.0, t);
  }
}

/* Coordinates of the system at the time of an event. */
static const double* place_of(saltusi_ledger_workspace* room, double t) {
  const saltusi_ledger_step* s = &room->step;
  if (t >= s->x1->t - rounding(room)) {
    return s->x1->q;
  }
  if (t <= s->x0->t + rounding(room) || s->inside == NULL || !look(room, t, false)) {
    return s->x0->q;
  }
  return room->q;
}

/* All events at one instant, from number `reported` on, form one impact; `reported` is then the last of them. */
static void add_impact(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                       saltusi_account account) {
  const saltus_step_report* report = room->step.report;
  double t = report->events[room->reported].t;
  saltusi_impact impact = saltusi_impact_open(room, t, place_of(room, t));
  int next = room->reported;
  for (; next < report->event_count && report->events[next].t == t; next++) {
    const saltus_event* e = &report->events[next];
    if (is_impact(e)) {
      const double U[6] = {e->u_before, e->slip_before[0], e->slip_before[1],
                           e->u_after,  e->slip_after[0],  e->slip_after[1]};
      saltusi_impact_contact(room, account, &impact, e->contact, e->impulse, U);
    }
  }
  room->reported = next - 1;
  saltusi_impact_close(room, account, &impact);
  judge(ledger, impact.work, impact.size, t);
}

/* ---- the step ------------------------------------------------------------------------------ */

static void add(saltus_energy* sum, double part, const saltus_energy* e) {
  sum->external += part * e->external;
  sum->drive += part * e->drive;
  sum->friction += part * e->friction;
  sum->impact += part * e->impact;
}

/* Advances the sums from room->place to a time. */
static void go_to(saltusi_ledger_workspace* room, saltusi_account account, double t) {
  double end = room->step.x1->t;
  t = fmin(t, end);
  if (room->known) {
    if (t > room->place) {
      integrate(room, account, room->place, t, -1);
      account.energy->drive += frame_change(room, t);
    }
  } else {
    if (room->dense && t > room->place) {
      power_on_motion(room, account.energy, room->place, t);
    }
    double part = t >= end ? 1.0 : fmax(0.0, (t - room->place) / (end - room->place));
    add(account.energy, part, &room->left);
    add(&room->left, -part, &room->left);
    for (int key = 0; key < room->eval.sys.dims.nc; key++) {
      saltusi_contact_work* left = &room->left_contacts[key];
      account.contacts[key].friction += part * left->friction;
      account.contacts[key].impact += part * left->impact;
      left->friction -= part * left->friction;
      left->impact -= part * left->impact;
    }
  }
  room->place = fmax(room->place, t);
}

void saltusi_ledger_begin(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          const saltus_state* x0, bool first) {
  assert(ledger != NULL && x0 != NULL);
  if (first) {
    memset(&ledger->step, 0, sizeof ledger->step);
  }
  if (ledger->steps == 0.0 || ledger->last[0] != x0->t) {
    ledger->last[0] = x0->t;
    ledger->last[1] = energy_of(room, x0);
  }
  if (ledger->steps == 0.0) {
    ledger->first = ledger->last[1];
  }
}

void saltusi_ledger_open(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                         const saltusi_ledger_step* step, bool first) {
  assert(step->x0->t <= step->x1->t);
  const saltus_system* sys = &room->eval.sys;
  room->step = *step;
  room->place = step->x0->t;
  room->reported = 0;
  room->bounces = false;
  room->begun = false;
  room->known = step->inside != NULL && step->inside->forces != NULL && step->located &&
                (room->eval.keys != NULL || sys->law_count == sys->dims.nc);
  room->dense = !room->known && step->inside != NULL && step->located;
  saltusi_ledger_begin(ledger, room, step->x0, first);
  room->left = (saltus_energy){0};
  memset(room->left_contacts, 0, (size_t)sys->dims.nc * sizeof *room->left_contacts);
  if (!room->known) {
    bool events = step->located;
    mean_velocity(room);
    if (!room->dense) {
      power_on_line(room);
    }
    lasting_contacts(room, events);
    lasting_joints(room);
    if (!events) {
      judge_step(ledger, step);
      room->reported = step->report->event_count;
    }
  }
}

/* Impacts at the start of the step are in the sums: the motion inside of the step begins. */
static void begin(saltusi_ledger_workspace* room, saltusi_account account) {
  room->begun = true;
  if (room->known) {
    open_bounce(room, account);
    frame_change(room, room->step.x0->t);
  }
}

void saltusi_ledger_open_inside(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                const saltusi_ledger_step* step, double from,
                                saltusi_contact_work* contacts, saltusi_contact_work* spare) {
  assert(step != NULL && contacts != NULL && spare != NULL && from >= step->x0->t);
  const int nc = room->eval.sys.dims.nc;
  saltus_energy before = {0}; /* is in the sums already */
  saltusi_ledger_open(ledger, room, step, false);
  begin(room, (saltusi_account){.energy = &before, .contacts = spare});
  frame_change(room, from);
  room->place = from;
  while (room->reported < step->report->event_count &&
         step->report->events[room->reported].t <= from + rounding(room)) {
    room->reported++;
  }
  if (room->bounces) { /* the sums contain the impacts before `from`, the integrals contain all */
    saltus_energy shown = {0};
    memset(spare, 0, (size_t)nc * sizeof *spare);
    show_bounce(room, (saltusi_account){.energy = &shown, .contacts = spare}, from, SALTUS_RIGHT);
    add(&ledger->step, -1.0, &shown);
    add(&ledger->total, -1.0, &shown);
    for (int key = 0; key < nc; key++) {
      contacts[key].friction -= spare[key].friction;
      contacts[key].impact -= spare[key].impact;
    }
  }
}

/* Adds impacts up to the time `last`, and all other works up to t. */
static void advance(saltusi_ledger* ledger, saltusi_ledger_workspace* room, double t, double last,
                    saltusi_contact_work* contacts) {
  const saltus_step_report* report = room->step.report;
  saltus_energy e = {0};
  const saltusi_account account = {.energy = &e, .contacts = contacts};
  double start = room->step.x0->t + rounding(room);
  for (; room->reported < report->event_count; room->reported++) {
    const saltus_event* event = &report->events[room->reported];
    if (event->t > last && (room->dense || is_impact(event))) {
      break;
    }
    if (!is_impact(event)) {
      if (room->dense) { /* forces have a kink here */
        go_to(room, account, event->t);
      }
      continue;
    }
    bool inside = (room->known || room->dense) && event->t > start;
    if (inside && !room->begun) {
      begin(room, account);
    }
    if (inside && room->bounces) { /* contained in the smooth motion */
      continue;
    }
    if (inside) {
      go_to(room, account, event->t);
    }
    add_impact(ledger, room, account);
  }
  if (!room->begun && last >= room->step.x0->t) {
    begin(room, account);
  }
  go_to(room, account, t);
  add(&ledger->step, 1.0, &e);
  add(&ledger->total, 1.0, &e);
}

void saltusi_ledger_advance(saltusi_ledger* ledger, saltusi_ledger_workspace* room, double t,
                            saltus_side side, saltusi_contact_work* contacts) {
  assert(room->step.x0 != NULL);
  advance(ledger, room, t, side == SALTUS_RIGHT ? t + rounding(room) : t - rounding(room),
          contacts);
}

static double sum_of(const saltus_energy* e) {
  return e->external + e->drive + e->friction + e->impact;
}

saltus_energy saltusi_ledger_frame(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                   const saltus_state* x, saltus_side side,
                                   const saltusi_contact_work* contacts,
                                   saltusi_contact_work* shown) {
  assert(room->step.x0 != NULL && x != NULL);
  saltus_energy e = ledger->total;
  memcpy(shown, contacts, (size_t)room->eval.sys.dims.nc * sizeof *shown);
  if (room->bounces) {
    show_bounce(room, (saltusi_account){.energy = &e, .contacts = shown}, x->t, side);
  }
  saltusi_ledger_compare(ledger, room, x, &e);
  return e;
}

void saltusi_ledger_compare(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* x, saltus_energy* e) {
  assert(ledger != NULL && x != NULL && e != NULL);
  e->change = energy_of(room, x) - ledger->first;
  e->remainder = e->change - sum_of(e);
}

void saltusi_ledger_close(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          saltusi_contact_work* contacts) {
  assert(room->step.x0 != NULL);
  const saltus_state* x1 = room->step.x1;
  advance(ledger, room, x1->t, INFINITY, contacts);
  const saltusi_ledger_inside* in = room->step.inside;
  if (in != NULL && in->strikes != NULL) {
    double work[2];
    in->strikes(in->who, work);
    ledger->step.friction += work[0];
    ledger->step.drive += work[1];
    ledger->total.friction += work[0];
    ledger->total.drive += work[1];
  }
  saltusi_ledger_end(ledger, room, x1);
}

void saltusi_ledger_moved(saltusi_ledger* ledger, double start) {
  assert(ledger != NULL);
  ledger->step.start += start;
  ledger->step.external += start;
  ledger->total.start += start;
  ledger->total.external += start;
}

void saltusi_ledger_end(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                        const saltus_state* x1) {
  assert(ledger != NULL && x1 != NULL);
  double before = ledger->last[1];
  ledger->last[0] = x1->t;
  ledger->last[1] = energy_of(room, x1);
  ledger->steps += 1.0;
  ledger->step.change += ledger->last[1] - before;
  ledger->step.remainder = ledger->step.change - sum_of(&ledger->step);
  ledger->total.change = ledger->last[1] - ledger->first;
  ledger->total.remainder = ledger->total.change - sum_of(&ledger->total);
}

void saltusi_ledger_switch(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                           const saltus_state* x) {
  assert(ledger != NULL && room != NULL && x != NULL);
  const double jump = energy_of(room, x) - ledger->last[1];
  ledger->last[1] += jump;
  ledger->step.external += jump;
  ledger->step.change += jump;
  ledger->total.external += jump;
  ledger->total.change = ledger->last[1] - ledger->first;
  ledger->total.remainder = ledger->total.change - sum_of(&ledger->total);
}

void saltusi_ledger_capture(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* before, const saltus_state* after) {
  assert(ledger != NULL && room != NULL && before != NULL && after != NULL);
  const int nv = room->eval.sys.dims.nv;
  for (int i = 0; i < nv; i++) {
    room->v[i] = 0.5 * (before->v[i] + after->v[i]);
  }
  const double moved = energy_of(room, &(saltus_state){after->t, after->q, before->v});
  const double middle = energy_of(room, &(saltus_state){after->t, after->q, room->v});
  const double end = energy_of(room, after);
  /* T is quadratic in v: the second difference is the energy of the change */
  saltus_energy e = {.external = moved - energy_of(room, before),
                     .impact = -2.0 * (end - 2.0 * middle + moved)};
  e.drive = end - moved - e.impact;
  e.change = e.external + e.drive + e.impact;
  add(&ledger->step, 1.0, &e);
  add(&ledger->total, 1.0, &e);
  ledger->last[1] = end;
  ledger->step.change += e.change;
  ledger->total.change = end - ledger->first;
  ledger->total.remainder = ledger->total.change - sum_of(&ledger->total);
}
