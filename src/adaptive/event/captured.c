/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * captured.c - captured intervals, where events cannot be resolved one by one: chatter without a limit, contacts that
 * open and close by rounding. Steps of event capturing advance the motion (Moreau 1988; Acary and Brogliato, Numerical
 * Methods for Nonsmooth Dynamical Systems, 2008, ch. 10):
 *
 *   a trial step of length h without contacts, then at its end projection onto the surfaces that are penetrated,
 *   one impact without restitution on all contacts that touch, and a decision on their statuses
 *
 * The order is 1. The error of a step is estimated by step doubling: the distance between the states of a step 2 h
 * and of two steps h; to it is added the velocity of the chatter that the impact ends.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/impact.h"
#include "adaptive/positions.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Allowed error of a captured step, in tolerances. */
static const double target = 0.1;
/* First captured step relative to the time that the last resolved events advanced, and growth of further ones. */
static const double first_part = 10.0, growth = 4.0;
/* Shortest and longest first step, relative to the rest of the run (of 1 s at most). */
static const double shortest_part = 1e-11, longest_part = 1e-6;
/* Captured steps in a row: doubled when events stall again soon after, up to the last. */
enum { REPEATS_MAX = 64, HALVINGS = 40 };
/* Captured intervals end where events were resolved for so many lengths of the last captured step. */
static const double far_away = 100.0;

/* Whether a closed contact has a bond. */
static bool has_bonds(const saltusi_adaptive* w) {
  bool any = false;
  for (int key = 0; key < w->o.contacts && !any; key++) {
    const saltus_friction_law* law = w->o.law[key]->friction;
    any = law != NULL && law->adhesion > 0.0 && w->contact[key].bonded &&
          saltusi_is_closed(&w->contact[key]);
  }
  return any;
}

/* Statuses without contacts; dry friction of joints keeps its status. */
static void open_contacts(saltusi_adaptive* w) {
  for (int key = 0; key < w->o.nc; key++) {
    if (!saltusi_is_dry(&w->o, key)) {
      w->contact[key].mode = SALTUSI_OPEN;
      w->contact[key].touching = false;
      w->contact[key].height = 0.0;
    }
  }
}

/* The impact and the statuses at the end of a step. */
static saltus_status close_contacts(saltusi_adaptive* w, double t, double* y) {
  saltus_status status = w->o.featured ? saltusi_feature_list(&w->search, t, y) : SALTUS_OK;
  status = status == SALTUS_OK ? saltusi_mode_gaps(&w->mode, t, y) : status;
  saltusi_collect_laws(w);
  const double near = saltusi_near_gap(w);
  int count = 0;
  for (int key = 0; key < w->o.nc; key++) {
    const bool dry = saltusi_is_dry(&w->o, key);
    if (dry || (key < w->o.contacts && w->mode.gap[key] <= near && saltusi_is_there(w, key))) {
      w->decision.set[count++] = key;
    }
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_project_positions(&w->mode, t, y, w->decision.set, count);
  }
  if (status == SALTUS_OK && count > 0) {
    const double part = w->decision.e_part;
    w->decision.e_part = 0.0;
    status = saltusi_adaptive_settle(w, t, y, count, true);
    w->decision.e_part = part;
  }
  return status;
}

/* A step of length h from y0 at w->step.t: its end in y_end. */
static saltus_status step_once(saltusi_adaptive* w, double h) {
  double error = 0.0;
  open_contacts(w);
  w->memory->jacobian_age = -1.0;
  w->memory->zeno = -1.0;
  saltus_status status = saltusi_mode_rate(&w->mode, w->step.t, w->step.y0, w->step.rate0);
  w->memory->rate_valid = 0.0;
  saltusi_note_slips(w);
  saltusi_note_tilts(w);
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(&w->mode, w->step.t, w->step.y0, w->step.scale_l);
  }
  status = status == SALTUS_OK ? w->step.ops->attempt(w, h, &error) : status;
  status = status == SALTUS_OK ? w->step.ops->prepare(w) : status;
  if (status == SALTUS_OK && !(error <= 1.0)) {
    return SALTUS_RETRY_SMALLER;
  }
  w->step.error = error;
  memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  saltusi_normalise(w->sys, w->step.y_end);
  status = status == SALTUS_OK ? close_contacts(w, w->step.t + h, w->step.y_end) : status;
  status = status == SALTUS_OK ? saltusi_mode_gaps(&w->mode, w->step.t + h, w->step.y_end) : status;
  for (int key = 0; key < w->o.contacts && status == SALTUS_OK; key++) {
    const bool there = w->mode.gap[key] < -w->o.atol_q_min && saltusi_is_there(w, key);
    status = there ? SALTUS_RETRY_SMALLER : status; /* its impact does not stop it */
  }
  return status;
}

/* The start of the step again. */
static void go_back(saltusi_adaptive* w, double t, const saltusi_adaptive_memory* memory) {
  saltusi_captured* c = &w->captured;
  *w->memory = *memory;
  w->step.t = t;
  memcpy(w->contact, c->contact, (size_t)w->o.nc * sizeof *w->contact);
  memcpy(w->step.y0, c->y0, (size_t)w->o.ny * sizeof(double));
}

/* Distance of two states in tolerances. */
static double distance(saltusi_adaptive* w, const double* a, const double* b) {
  double most = 0.0;
  saltusi_adaptive_scale(w, a, b);
  saltusi_difference(w->sys, a, b, w->step.apart);
  for (int i = 0; i < w->o.nv; i++) {
    const int k = w->o.nq + i;
    most = saltusi_larger(most, fabs(w->step.apart[i]) / w->step.scale[i]);
    most = saltusi_larger(most, fabs(a[k] - b[k]) / w->step.scale[k]);
  }
  return most;
}

/* Error of a step h by doubling, without reports. */
static saltus_status estimate(saltusi_adaptive* w, double h, double* error) {
  const saltusi_adaptive_memory memory = *w->memory;
  const double t = w->step.t;
  saltusi_captured* c = &w->captured;
  saltus_status status = step_once(w, 2.0 * h);
  memcpy(c->whole, w->step.y_end, (size_t)w->o.ny * sizeof(double));
  go_back(w, t, &memory);
  status = status == SALTUS_OK ? step_once(w, h) : status;
  if (status == SALTUS_OK) {
    memcpy(w->step.y0, w->step.y_end, (size_t)(w->o.nq + w->o.nv) * sizeof(double));
    w->step.t = t + h;
    status = step_once(w, h);
  }
  *error = status == SALTUS_OK ? distance(w, c->whole, w->step.y_end) : INFINITY;
  go_back(w, t, &memory);
  return status;
}

/* The longest step up to h whose error is allowed, and its error. */
static saltus_status choose_length(saltusi_adaptive* w, double* h, double* error) {
  const double least = 64.0 * DBL_EPSILON * saltusi_time_size(w->step.t);
  void (*report)(void*, const saltus_event*) = w->report;
  saltus_status status = SALTUS_OK;
  w->report = NULL;
  for (int k = 0; k < HALVINGS; k++) {
    status = estimate(w, *h, error);
    if (status < SALTUS_OK || status == SALTUS_RETRY_CAPACITY || *error <= target || *h <= least) {
      break;
    }
    const double part = isfinite(*error) ? 0.8 * sqrt(target / *error) : 0.1;
    *h = fmax(least, *h * fmin(0.5, fmax(0.05, part)));
  }
  w->report = report;
  return status;
}

/* Velocities that the impacts of a step have taken away, whatever its length: the change in a step 2 h is not twice that
 * in a step h. Impacts that would have followed each other are solved as one, which no doubling of steps shows. */
static double chatter(saltusi_adaptive* w, const double* y_end) {
  const saltusi_captured* c = &w->captured;
  double most = 0.0;
  saltusi_adaptive_scale(w, c->y0, y_end);
  for (int k = w->o.nq; k < w->o.nq + w->o.nv; k++) {
    const double jump = 2.0 * (y_end[k] - c->y0[k]) - (c->whole[k] - c->y0[k]);
    most = saltusi_larger(most, fabs(jump) / w->step.scale[k]);
  }
  return most;
}

/* Length of the next captured step: longer where events stalled again soon after the last one. */
static double propose(const saltusi_adaptive* w, double limit) {
  const saltusi_adaptive_memory* m = w->memory;
  const double rest = fmin(limit, 1.0);
  if (m->captured_h > 0.0) {
    return growth * m->captured_h;
  }
  const double advanced = first_part * fmax(w->step.t - m->stall_since, 0.0);
  return fmin(fmax(advanced, shortest_part * rest), longest_part * rest);
}

bool saltusi_captured_goes_on(const saltusi_adaptive* w) {
  assert(w != NULL);
  return w->memory->captured_left > 0.0;
}

double saltusi_captured_patience(const saltusi_adaptive* w) {
  assert(w != NULL);
  const saltusi_adaptive_memory* m = w->memory;
  return m->captured_h > 0.0 && w->step.t - m->captured_end < far_away * m->captured_h
             ? m->captured_h
             : 0.0;
}

saltus_status saltusi_captured_step(saltusi_adaptive* w, double limit, double* length) {
  assert(w != NULL && length != NULL);
  saltusi_adaptive_memory* m = w->memory;
  saltusi_captured* c = &w->captured;
  const bool soon = saltusi_captured_patience(w) > 0.0 || saltusi_captured_goes_on(w);
  const bool row = saltusi_captured_goes_on(w);
  if (!soon) {
    m->captured_h = 0.0;
    m->captured_repeats = 0.0;
  }
  double h = saltusi_before_switch(&w->search, fmin(propose(w, limit), limit));
  if (has_bonds(w) || w->o.settings.without_checks ||
      !(h > 0.0)) { /* bonds would break; a formula changes its branch here */
    return SALTUS_ERR_STALLED;
  }
  double error = INFINITY;
  memcpy(c->contact, w->contact, (size_t)w->o.nc * sizeof *w->contact);
  memcpy(c->y0, w->step.y0, (size_t)w->o.ny * sizeof(double));
  saltus_status status = choose_length(w, &h, &error);
  status = status == SALTUS_OK ? step_once(w, h) : status;
  if (status != SALTUS_OK) {
    return status == SALTUS_RETRY_CAPACITY ? status : SALTUS_ERR_STALLED;
  }
  const double t = w->step.t + h;
  memcpy(w->transition.old, c->contact, (size_t)w->o.nc * sizeof *w->contact);
  saltusi_report_changes(w, t, w->step.y_end);
  saltusi_add_impulses(w);
  m->captured_h = h;
  m->captured_end = t;
  m->captured_repeats =
      row ? m->captured_repeats : fmin(fmax(2.0 * m->captured_repeats, 1.0), REPEATS_MAX);
  m->captured_left = row ? m->captured_left - 1.0 : m->captured_repeats - 1.0;
  m->stall_since = t;
  m->stall_steps = 0.0;
  m->cap = INFINITY;
  m->h = fmax(h, 0.0);
  m->rate_valid = 0.0;
  w->step.limit = SALTUS_LIMIT_EVENT;
  w->outcome.captured = (saltus_captured_step){h, error + chatter(w, w->step.y_end)};
  w->counts.steps++;
  *length = h;
  return SALTUS_OK;
}
