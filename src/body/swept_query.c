/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * swept_query.c - shapes that can touch over a box of configurations (docs/theory/events.md, 4). A point of a body at
 * distance r from its origin moves by at most slack + turn r from the middle of the box.
 *
 *   slack    half the diagonal of the box of its position
 *   turn     in the plane half the width of its angle. In space quaternions of the box differ from the middle p by at
 * most e; normalised, they differ by 2 e / |p|, and |p_1 - p_2| = 2 sin(angle / 4)
 */
#include "body/contacts.h"

#include <assert.h>
#include <float.h>

static const double half_turn = 3.14159265358979323846;

/* Half the width of a range, rounded up. */
static double half(double low, double high) {
  return 0.5 * (high - low) * (1.0 + 4.0 * DBL_EPSILON);
}

static void free_body(const saltus_mechanism* m, const saltusi_body* body, const saltus_box* over,
                      double* slack, double* turn) {
  const double *low = over->q_low + body->q, *high = over->q_high + body->q;
  const int n = m->plane ? 2 : 3;
  double square = 0.0;
  for (int k = 0; k < n; k++) {
    square += half(low[k], high[k]) * half(low[k], high[k]);
  }
  *slack = sqrt(square);
  if (m->plane) {
    *turn = half(low[2], high[2]);
    return;
  }
  double e2 = 0.0, p2 = 0.0;
  for (int k = 3; k < 7; k++) {
    const double middle = 0.5 * (low[k] + high[k]);
    e2 += half(low[k], high[k]) * half(low[k], high[k]);
    p2 += middle * middle;
  }
  const double off = p2 > 0.0 ? 2.0 * sqrt(e2 / p2) : 2.0;
  *turn = off < 2.0 ? fmin(half_turn, 4.0 * asin(0.5 * off)) : half_turn;
}

/* Largest deviation of a signal from its value in the middle. */
static double signal_slack(const saltusi_signal* signal, double t0, double t1, double middle) {
  if (signal->given.evaluate == NULL) {
    return 0.0;
  }
  if (signal->given.along == NULL) {
    return INFINITY;
  }
  const saltus_interval t = {t0, t1};
  saltus_interval range;
  signal->given.along(signal->given.self, 0, &t, &range);
  return fmax(range.hi - middle, middle - range.lo);
}

static void driven_body(const saltus_mechanism* m, const saltusi_body* body, const saltus_box* over,
                        double* slack, double* turn) {
  const double t = 0.5 * (over->t0 + over->t1);
  *slack = 0.0;
  *turn = 0.0;
  for (int k = 0; k < 3; k++) {
    double x[3], angle[3];
    saltusi_signal_at(m, &body->position[k], t, x);
    saltusi_signal_at(m, &body->rotation[k], t, angle);
    *slack += signal_slack(&body->position[k], over->t0, over->t1, x[0]);
    *turn += signal_slack(&body->rotation[k], over->t0, over->t1, angle[0]);
  }
  *turn = fmin(*turn, half_turn);
}

saltus_status saltusi_shapes_swept_query(const void* self, const saltus_box* over,
                                         saltus_contact_list* list) {
  const saltus_mechanism* m = self;
  assert(m != NULL && over != NULL && list != NULL && over->scratch != NULL);
  saltusi_shapes_memory room;
  saltusi_shapes_lay_out(m, over->scratch, &room);
  for (int k = 0; k < m->system.dims.nq; k++) {
    room.q[k] = 0.5 * (over->q_low[k] + over->q_high[k]);
  }
  const saltus_point at = {.t = 0.5 * (over->t0 + over->t1), .q = room.q, .scratch = over->scratch};
  for (int i = 0; i <= m->body_count; i++) {
    const saltusi_body* body = &m->bodies[i];
    room.slack[i] = room.turn[i] = 0.0;
    saltusi_shapes_transfer(m, i, &at, &room);
    if (body->kind == SALTUS_BODY_FREE) {
      free_body(m, body, over, &room.slack[i], &room.turn[i]);
    } else if (body->kind == SALTUS_BODY_DRIVEN) {
      driven_body(m, body, over, &room.slack[i], &room.turn[i]);
    }
  }
  const saltusi_world_query query = {.carrier = room.carrier,
                                     .reach = isfinite(list->reach) ? list->reach : m->world->reach,
                                     .slack = room.slack,
                                     .turn = room.turn,
                                     .memory = room.world};
  return saltusi_shapes_list(m, &at, &query, over, list);
}
