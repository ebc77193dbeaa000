/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_set.c - time-varying contact sets (docs/theory/events.md, 4). Open contacts do not act, so they are collected
 * over the configurations of a trial step after its error is accepted and before its events are located. With
 * `sweep` they are collected over a box around the polynomials of the positions, and none is missed. Without it they
 * are listed at sample points, and a contact that closes and opens between two of these is missed.
 */
#include "adaptive/adaptive.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>

/* Gap of a contact that the system neither lists at a point nor evaluates: far. Finite, so that differences are
 * numbers. */
static const double far_away = 1e30;

/* Number of sample points of the trial step at which contacts are listed. */
enum { PLACES = 2 * SALTUSI_NODES };

void saltusi_collect_laws(saltusi_adaptive* w) {
  assert(w != NULL);
  if (w->eval->keys != NULL) {
    saltusi_layout_laws(&w->o, w->sys, w->eval->keys);
  }
}

saltus_status saltusi_collect_gaps(saltusi_mode_dynamics* m, const saltus_point* at) {
  assert(m != NULL && at != NULL);
  const saltusi_contact_table* table = &m->eval->keys->table;
  /* min(gap, reach) is continuous where a contact enters the list; a reach that is zero within the tolerance would
   * resemble a contact that touches */
  const double apart = 100.0; /* tolerances: ten times the reach that sweep() adds to its box */
  bool known = m->list.reach > apart * m->o->atol_q_min;
  double reach = known ? fmin(m->list.reach, far_away) : far_away;
  bool asks = m->sys->ops->gaps != NULL;
  int count = 0;
  for (int key = 0; key < m->o->contacts; key++) {
    bool listed = !isinf(m->gap[key]);
    if (table->law[key] < 0 || (!listed && saltusi_is_closed(&m->contact[key]))) {
      continue; /* a closed one is not kept on a surface that is not listed */
    }
    if (asks && !listed) {
      m->unlisted[count++] = key;
    } else if (!asks) {
      m->gap[key] = fmin(m->gap[key], reach);
    }
  }
  return saltusi_keys_gaps(m->eval->keys, m->sys, at, m->unlisted, count, m->gap);
}

/* Lower and upper bounds of the positions of the trial step. */
static void enclose(saltusi_adaptive* w, double* low, double* high) {
  const double* power = saltusi_trajectory_powers(&w->search);
  int degree = w->search.course.degree;
  size_t stride = (size_t)w->o.nq + (size_t)w->o.nv;
  for (int i = 0; i < w->o.nq; i++) {
    double c[SALTUSI_POWERS];
    saltus_interval range;
    for (int k = 0; k <= degree; k++) {
      c[k] = power[(size_t)k * stride + (size_t)i];
    }
    saltusi_powers_enclose(degree, c, 0.0, 1.0, 0, &range);
    low[i] = fmin(range.lo, w->step.y1[i]);
    high[i] = fmax(range.hi, w->step.y1[i]);
  }
}

/* Widens the bounds by bounces along x, up to `height`. */
static void lift(saltusi_adaptive* w, const double* x, double height, double* low, double* high) {
  double* top = w->search.probe;
  saltusi_advance(w->sys, w->step.y0, x, height, top);
  for (int i = 0; i < w->o.nq; i++) {
    double by = 1.5 * (top[i] - w->step.y0[i]);
    low[i] += fmin(by, 0.0);
    high[i] += fmax(by, 0.0);
  }
}

/* Identities of contacts that are closed, or in flight from g = 0. */
static int list_touching(saltusi_adaptive* w) {
  const saltusi_contact_table* table = &w->eval->keys->table;
  int count = 0;
  for (int key = 0; w->o.featured && key < w->o.contacts; key++) {
    if (table->law[key] >= 0 && saltusi_touches(&w->contact[key])) {
      w->search.closed[count++] = table->identity[key];
    }
  }
  return count;
}

static saltus_status sweep(saltusi_adaptive* w, const double* x, double height) {
  const saltus_box box = {.t0 = w->step.t,
                          .t1 = w->step.t + w->step.h,
                          .q_low = w->search.q_low,
                          .q_high = w->search.q_high,
                          .closed = w->search.closed,
                          .closed_count = list_touching(w)};
  const saltus_point at = saltusi_at(w->eval, w->step.t, w->step.y0, NULL);
  double size = w->o.size;
  /* states at events have the accuracy of the tolerance, as the polynomials do; ten tolerances are the depth that
   * saltusi_check_end() permits */
  double reach = fmax(10.0 * w->o.atol_q_min, saltusi_gap_rounding * size);
  enclose(w, w->search.q_low, w->search.q_high);
  if (x != NULL) {
    lift(w, x, height, w->search.q_low, w->search.q_high);
  }
  return saltusi_keys_sweep(w->eval->keys, w->sys, &at, &box, reach);
}

saltus_status saltusi_collect(saltusi_adaptive* w, const double* x, double height) {
  assert(w != NULL);
  saltus_status status = SALTUS_OK;
  if (w->eval->keys == NULL) {
    return SALTUS_OK;
  }
  if (w->sys->ops->sweep != NULL) {
    status = sweep(w, x, height);
  }
  for (int i = 1; w->sys->ops->sweep == NULL && i <= PLACES && status == SALTUS_OK; i++) {
    double theta = (double)i / PLACES;
    w->step.ops->dense(&w->step.motion, theta, 0, w->o.nq, w->search.probe);
    status = saltusi_mode_gaps(&w->mode, w->step.t + theta * w->step.h, w->search.probe);
    if (status == SALTUS_OK && x != NULL) { /* the first flight is the highest */
      saltusi_advance(w->sys, w->step.y0, x, theta * height, w->search.probe);
      status = saltusi_mode_gaps(&w->mode, w->step.t, w->search.probe);
    }
  }
  saltusi_collect_laws(w);
  saltusi_loosen(w);                     /* new contacts touch for the first time */
  saltusi_trajectory_forget(&w->search); /* cached gaps belong to the previous contacts */
  return status;
}

/* A closed contact that is not listed: open if the system reports a separation, else an error. */
static saltus_status leave(saltusi_adaptive* w, double t, int key) {
  const saltus_point at = saltusi_at(w->eval, t, w->step.y_end, NULL);
  double size = w->o.size;
  double near = fmax(saltusi_surface_rounding * size, w->o.atol_q_min);
  saltus_status status = SALTUS_OK;
  if (w->sys->ops->gaps != NULL) {
    status = saltusi_keys_gaps(w->eval->keys, w->sys, &at, &key, 1, w->mode.gap);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (w->sys->ops->gaps == NULL || !(w->mode.gap[key] > near)) {
    saltus_fail(&at, "contact %" PRIu64 " is closed and leaves the list at t = %.10g s",
                w->eval->keys->table.identity[key], t);
    return SALTUS_ERR_SYSTEM;
  }
  saltusi_forget_contact(&w->o, w->contact, key);
  w->memory->rate_valid = 0.0;
  saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_OPEN, .contact = key, .t = t});
  return SALTUS_OK;
}

saltus_status saltusi_collect_closed(saltusi_adaptive* w, double t) {
  assert(w != NULL);
  const saltusi_contact_list* list = &w->mode.list;
  if (w->eval->keys == NULL) {
    return SALTUS_OK;
  }
  if (w->o.featured) { /* their guards detect when they open */
    for (int key = 0; key < w->o.contacts; key++) {
      if (saltusi_touches(&w->contact[key])) {
        saltusi_table_use(&w->eval->keys->table, key);
      }
    }
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_gaps(&w->mode, t, w->step.y_end);
  int next = 0;
  for (int key = 0; key < w->o.contacts && status == SALTUS_OK; key++) {
    while (next < list->count && list->key[next] < key) {
      next++;
    }
    bool listed = next < list->count && list->key[next] == key;
    if (!listed && saltusi_is_closed(&w->contact[key])) {
      status = leave(w, t, key);
    }
  }
  return status;
}
