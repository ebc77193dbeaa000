/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.c - see saltus/ledger.h for the terms and why they are what they are.
 *
 * The line integral of F is taken by Gauss' rule with three points: exact for linear forces, of order
 * 6 for others, so that it adds nothing to the error of a scheme. A scheme that knows its forces inside a
 * step may take long ones; then work is the integral of power along its own motion.
 */
#include "sim/ledger.h"

#include <math.h>
#include <string.h>

void saltusi_ledger_layout(saltusi_ledger_room* room, const saltus_system* sys, void* scratch,
                           saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  room->sys = *sys;
  room->scratch = scratch;
  saltusi_rows_layout(&room->rows, d, 3, false, arena);
  room->q = SALTUS_PUSH(arena, double, d->nq);
  room->u = SALTUS_PUSH(arena, double, d->nv);
  room->F = SALTUS_PUSH(arena, double, d->nv);
  bool needs_matrix = sys->ops->kinetic == NULL && sys->ops->linear == NULL;
  room->v = SALTUS_PUSH(arena, double, d->nv);
  room->forces = SALTUS_PUSH(arena, double, 3 * (size_t)d->nc);
  room->matrix = needs_matrix ? SALTUS_PUSH2(arena, double, d->nv, d->nv) : NULL;
}

void saltusi_ledger_open(saltusi_ledger* ledger) {
  memset(&ledger->step, 0, sizeof ledger->step);
}

static saltus_point point_of(const saltusi_ledger_room* room, const saltus_state* x) {
  return (saltus_point){.t = x->t, .q = x->q, .v = x->v, .scratch = room->scratch};
}

/* room->u = (q_1 - q_0) / h, or the mean of the velocities where positions are not their integral. */
static void mean_velocity(saltusi_ledger_room* room, const saltus_state* x0,
                          const saltus_state* x1) {
  double h = x1->t - x0->t;
  bool straight = room->sys.ops->advance == NULL;
  for (int i = 0; i < room->sys.dims.nv; i++) {
    room->u[i] = straight ? (x1->q[i] - x0->q[i]) / h : 0.5 * (x0->v[i] + x1->v[i]);
  }
}

/* Work that a moving surface does on the system: -P . b, b in the mean of both ends. Writes the mean
 * slip of the step too, G_T^T (q_1 - q_0) / h + b with G_T in the mean of both ends. */
static double work_of_surface(saltusi_ledger_room* room, const saltus_contact_step* contact,
                              const saltus_state* x0, const saltus_state* x1, double slip[2]) {
  int tangents = room->sys.laws[contact->law].tangents;
  int count = 1 + (tangents < 2 ? tangents : 2);
  double sum = 0.0;
  slip[0] = slip[1] = 0.0;
  mean_velocity(room, x0, x1);
  for (int end = 0; end < 2; end++) {
    saltus_point at = point_of(room, end == 0 ? x0 : x1);
    saltusi_rows_contact(&room->sys, &at, contact->key, count, &room->rows, 0);
    for (int k = 0; k < count; k++) {
      sum -= 0.5 * contact->impulse[k] * room->rows.b[k];
      if (k > 0) {
        slip[k - 1] += 0.5 * (saltusi_row_dot(&room->rows, k, room->u) + room->rows.b[k]);
      }
    }
  }
  return sum;
}

static double work_of_joints(saltusi_ledger_room* room, const saltus_step_report* report,
                             const saltus_state* x0, const saltus_state* x1) {
  double sum = 0.0;
  for (int end = 0; end < 2; end++) {
    saltus_point at = point_of(room, end == 0 ? x0 : x1);
    for (int j = 0; j < room->sys.dims.nj; j++) {
      saltusi_rows_joint(&room->sys, &at, j, &room->rows, 0);
      sum -= 0.5 * report->joint_impulses[j] * room->rows.b[0];
    }
  }
  return sum;
}

/* What contacts did at one instant: work, and its size without cancellation. */
typedef struct blow {
  double work, size;
  bool impact;
} blow;

/* Energy that contacts create in an impact is an error of the impact law, and told as such. */
static void judge(saltusi_ledger* ledger, const blow* b, double t) {
  if (b->impact && b->work > SALTUS_ENERGY_CREATED * b->size) {
    ledger->created_at = ledger->creations == 0.0 ? t : ledger->created_at;
    ledger->creations += 1.0;
    ledger->step.created += b->work;
  }
}

/* Normal and tangential work of P between two velocities. */
static void add_work(saltusi_ledger* ledger, saltusi_contact_work* contact, blow* b,
                     const double P[3], const double U[6]) {
  double impact = 0.5 * P[0] * (U[0] + U[3]);
  double friction = 0.5 * (P[1] * (U[1] + U[4]) + P[2] * (U[2] + U[5]));
  ledger->step.impact += impact;
  ledger->step.friction += friction;
  contact->impact += impact;
  contact->friction += friction;
  b->work += impact + friction;
  for (int k = 0; k < 3; k++) {
    b->size += 0.5 * fabs(P[k]) * (fabs(U[k]) + fabs(U[k + 3]));
  }
}

/* Located impacts one after the other; those of one instant are one blow. */
static void add_events(saltusi_ledger* ledger, const saltus_step_report* report,
                       saltusi_contact_work* contacts) {
  blow b = {0};
  double t = NAN;
  for (int i = 0; i < report->event_count; i++) {
    const saltus_event* e = &report->events[i];
    if (e->kind != SALTUS_EVENT_IMPACT) {
      continue;
    }
    if (e->t != t) {
      judge(ledger, &b, t);
      b = (blow){.impact = true};
      t = e->t;
    }
    const double U[6] = {e->u_before, e->slip_before[0], e->slip_before[1],
                         e->u_after,  e->slip_after[0],  e->slip_after[1]};
    add_work(ledger, &contacts[e->contact], &b, e->impulse, U);
  }
  judge(ledger, &b, t);
}

/* What of a contact's impulse is not in located impacts acts while it is closed: only slip does work.
 * Such steps may be long, so it is the mean slip, which is exact for a constant force. */
static void keep_lasting(const saltus_step_report* report, const saltus_contact_step* contact,
                         const double slip[2], double P[3], double U[6]) {
  for (int i = 0; i < report->event_count; i++) {
    const saltus_event* e = &report->events[i];
    for (int k = 0; k < 3 && e->contact == contact->key; k++) {
      P[k] -= e->impulse[k];
    }
  }
  U[0] = U[3] = 0.0;
  U[1] = U[4] = slip[0];
  U[2] = U[5] = slip[1];
}

static const double gauss_node[3] = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double gauss_weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* v^T M' v / 2: what the kinetic energy does through the configuration. */
static double gyroscopic_power(saltusi_ledger_room* room, const saltus_point* at) {
  const saltus_system* sys = &room->sys;
  double sum = 0.0;
  if ((sys->traits & SALTUS_CONSTANT_MASS) != 0) {
    return sum;
  }
  if (sys->ops->kinetic_gradient != NULL) {
    sys->ops->kinetic_gradient(sys->self, at, room->F);
    for (int i = 0; i < sys->dims.nv; i++) {
      sum += room->F[i] * at->v[i];
    }
    return sum;
  }
  const double shift = 6.1e-6; /* s, the cube root of the rounding unit */
  saltus_point moved = *at;
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? -1.0 : 1.0;
    saltusi_advance(sys, at->q, at->v, sign * shift, room->u);
    moved.q = room->u;
    sum += sign * saltusi_kinetic(sys, &moved, room->matrix, room->F) / (2.0 * shift);
  }
  return sum;
}

/* Power of forces and of contacts at one instant, times dt. */
static void add_power(saltusi_ledger* ledger, saltusi_ledger_room* room, double t, double dt,
                      saltusi_contact_work* contacts) {
  const saltus_system* sys = &room->sys;
  const saltus_point at = {.t = t, .q = room->q, .v = room->v, .scratch = room->scratch};
  sys->ops->force(sys->self, &at, room->F);
  for (int i = 0; i < sys->dims.nv; i++) {
    room->power += dt * room->F[i] * room->v[i];
  }
  room->power += dt * gyroscopic_power(room, &at);
  for (int key = 0; key < sys->dims.nc; key++) {
    const double* f = room->forces + 3 * (size_t)key;
    if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0) {
      continue;
    }
    int law = sys->law_count == sys->dims.nc ? key : 0;
    int count = 1 + sys->laws[law].tangents;
    saltusi_rows_contact(sys, &at, key, count, &room->rows, 0);
    for (int k = 0; k < count; k++) {
      ledger->step.given -= dt * f[k] * room->rows.b[k];
      if (k > 0) {
        double work = dt * f[k] * (saltusi_row_dot(&room->rows, k, room->v) + room->rows.b[k]);
        ledger->step.friction += work;
        contacts[key].friction += work;
      }
    }
  }
}

/* Whether all impacts of the report lie at the ends of the step: between them the motion is smooth. */
static bool is_smooth_inside(const saltusi_ledger_step* s) {
  double h = s->x1->t - s->x0->t;
  for (int i = 0; i < s->report->event_count; i++) {
    const saltus_event* e = &s->report->events[i];
    bool at_end = e->t >= s->x1->t - 1e-9 * h || e->t <= s->x0->t + 1e-9 * h;
    if (e->kind == SALTUS_EVENT_IMPACT && !at_end) {
      return false;
    }
  }
  return s->report->events_lost == 0;
}

static bool knows_inside(const saltusi_ledger_step* s, const saltus_system* sys) {
  return s->inside != NULL && s->located && sys->law_count == sys->dims.nc && is_smooth_inside(s);
}

/* Work along the motion of the scheme itself. */
static void add_inside(saltusi_ledger* ledger, saltusi_ledger_room* room,
                       const saltusi_ledger_step* s, saltusi_contact_work* contacts) {
  enum { PARTS = 4 };
  double h = (s->x1->t - s->x0->t) / PARTS;
  room->power = 0.0;
  for (int part = 0; part < PARTS; part++) {
    for (int k = 0; k < 3; k++) {
      double t = s->x0->t + (part + gauss_node[k]) * h;
      if (s->inside->at(s->inside->who, t, room->q, room->v, room->forces) == SALTUS_OK) {
        add_power(ledger, room, t, gauss_weight[k] * h, contacts);
      }
    }
  }
}

void saltusi_ledger_contacts(saltusi_ledger* ledger, saltusi_ledger_room* room,
                             const saltusi_ledger_step* step, saltusi_contact_work* contacts) {
  const saltus_step_report* report = step->report;
  const saltus_state* x0 = step->x0;
  const saltus_state* x1 = step->x1;
  bool events = step->located && report->events_lost == 0;
  if (events) {
    add_events(ledger, report, contacts);
  }
  if (knows_inside(step, &room->sys)) {
    add_inside(ledger, room, step, contacts);
    ledger->step.given += room->sys.dims.nj > 0 ? work_of_joints(room, report, x0, x1) : 0.0;
    return;
  }
  blow b = {0};
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* c = &report->contacts[i];
    double P[3] = {c->impulse[0], c->impulse[1], c->impulse[2]};
    if (P[0] == 0.0) {
      continue;
    }
    double U[6] = {c->u_before, c->slip_before[0], c->slip_before[1],
                   c->u_after,  c->slip_after[0],  c->slip_after[1]};
    double slip[2];
    ledger->step.given += work_of_surface(room, c, x0, x1, slip);
    if (events) {
      keep_lasting(report, c, slip, P, U);
    }
    b.impact = b.impact || (c->impact && !events);
    add_work(ledger, &contacts[c->key], &b, P, U);
  }
  judge(ledger, &b, x1->t);
  if (room->sys.dims.nj > 0) {
    ledger->step.given += work_of_joints(room, report, x0, x1);
  }
}

/* int F . dq along the line from x0 to x1 at the constant velocity room->u. */
static double work_of_forces(saltusi_ledger_room* room, const saltus_state* x0,
                             const saltus_state* x1) {
  const saltus_dims* d = &room->sys.dims;
  bool straight = room->sys.ops->advance == NULL;
  double h = x1->t - x0->t;
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    if (straight) {
      for (int i = 0; i < d->nq; i++) {
        room->q[i] = x0->q[i] + gauss_node[k] * (x1->q[i] - x0->q[i]);
      }
    } else {
      saltusi_advance(&room->sys, x0->q, room->u, gauss_node[k] * h, room->q);
    }
    const saltus_point at = {
        .t = x0->t + gauss_node[k] * h, .q = room->q, .v = room->u, .scratch = room->scratch};
    room->sys.ops->force(room->sys.self, &at, room->F);
    for (int i = 0; i < d->nv; i++) {
      double moved = straight ? x1->q[i] - x0->q[i] : h * room->u[i];
      sum += gauss_weight[k] * room->F[i] * moved;
    }
  }
  return sum;
}

void saltusi_ledger_close(saltusi_ledger* ledger, saltusi_ledger_room* room,
                          const saltusi_ledger_step* s) {
  const saltus_system* sys = &room->sys;
  const saltus_state* x0 = s->x0;
  const saltus_state* x1 = s->x1;
  bool inside = knows_inside(s, sys);
  mean_velocity(room, x0, x1);
  saltus_energy* step = &ledger->step;
  double potential = 0.0;
  double kinetic = 0.0;
  double work = inside ? room->power : work_of_forces(room, x0, x1);
  for (int end = 0; end < 2; end++) {
    double sign = end == 0 ? -1.0 : 1.0;
    const saltus_state* x = end == 0 ? x0 : x1;
    saltus_point at = point_of(room, x);
    bool known = ledger->last[0] == x->t && ledger->steps > 0.0;
    double T = known ? ledger->last[1] : saltusi_kinetic(sys, &at, room->matrix, room->F);
    double V = 0.0;
    if (sys->ops->potential != NULL) {
      V = known ? ledger->last[2] : saltusi_potential(sys, &at);
    }
    kinetic += sign * T;
    potential += sign * V;
    if ((sys->traits & SALTUS_CONSTANT_MASS) == 0 && !inside) {
      at.v = room->u;
      work += sign * saltusi_kinetic(sys, &at, room->matrix, room->F);
    }
    ledger->last[0] = x->t;
    ledger->last[1] = T;
    ledger->last[2] = V;
  }
  ledger->steps += 1.0;
  step->change = kinetic + potential;
  step->given += work + potential;
  step->remainder = step->change - step->given - step->friction - step->impact;
  ledger->total.change += step->change;
  ledger->total.given += step->given;
  ledger->total.friction += step->friction;
  ledger->total.impact += step->impact;
  ledger->total.remainder += step->remainder;
  ledger->total.created += step->created;
}
