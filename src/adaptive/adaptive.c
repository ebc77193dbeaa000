/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.c - the loop of trial steps and events (section 4).
 */
#include "adaptive/event/root_isolation.h"
#include "adaptive/positions.h"
#include "adaptive/thresholds.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Trial steps within one step, rejections after accepted errors, steps onto an event, attempts to cross a singular
 * position. */
enum { ATTEMPTS_MAX = 1000, REFUSALS_MAX = 100, RESTEPS = 3, SINGULAR_TRIES = 8 };
enum { SLIDES_MAX = 100000 };

/* A displacement along the motion by this fraction of the step costs its cube: 1e-9 of the effect of the step. */
static const double short_shift = 1e-3;
/* Error of a trial step that could not be evaluated: the next one is a fifth of it. */
static const double hopeless = 1e9;
/* Errors below this permit the largest growth of steps, for every order. */
static const double least_error = 1e-10;
/* Steps longer than this fraction of the remaining time do not slide along a discontinuity. */
static const double slide_part = 1e-4;

/* The conditioning of the active rows (active_constraints.h) falls with the square of the distance to a singular
 * position. Below the first fraction of its value a step before, a third of the distance, a step ends too close to
 * it; below the second one the mechanism approaches it. */
static const double singular_part = 0.1;
static const double approach_part = 0.5;
/* Errors are rounding there, which depends on the sample points of the stages but not on the length of a step: the
 * first trial steps are shortened by at most this factor. */
static const double singular_shortening = 0.8;
/* Corrections of velocities may exceed those of positions: on constraints velocities are of lower order. */
static const double far_velocity = 10.0;

/* Gaps of contacts in flight from g = 0, s seconds after the start of the step. */
static saltus_status follow_flights(saltusi_adaptive* w, double t, const double* y, double s,
                                    const saltusi_found* event) {
  bool any = false;
  for (int key = 0; key < w->o.nc; key++) {
    any = any || (w->contact[key].touching && !saltusi_is_closed(&w->contact[key]));
  }
  if (!any) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_gaps(&w->mode, t, y);
  saltusi_mark_hits(&w->search, event);
  double far = saltusi_flown_part * w->o.size;
  for (int key = 0; key < w->o.nc && status == SALTUS_OK; key++) {
    saltusi_contact* c = &w->contact[key];
    if (!c->touching || saltusi_is_closed(c) || w->search.hits[key]) {
      continue;
    }
    if (w->mode.gap[key] > far) {
      c->touching = false;
    } else if (s > 0.0) {
      c->height += saltusi_isolation_height(&w->search, key, fmin(1.0, s / w->step.h));
      status = isnan(c->height) ? saltusi_report_height(w, key) : status;
    }
  }
  return status;
}

/* Opens idle contacts that have separated, s seconds after the start of the step. */
static saltus_status release_idle(saltusi_adaptive* w, double t, double s,
                                  const saltusi_found* event) {
  double size = w->o.size;
  double near = fmax(saltusi_gap_rounding * size, saltusi_near_part * w->o.atol_q_min);
  bool any = false;
  for (int key = 0; key < w->o.nc; key++) {
    any = any || w->contact[key].mode == SALTUSI_IDLE;
  }
  saltus_status status = any ? saltusi_mode_gaps(&w->mode, t, w->step.y_end) : SALTUS_OK;
  for (int key = 0; any && key < w->o.nc && status == SALTUS_OK; key++) {
    saltusi_contact* c = &w->contact[key];
    bool hits = event != NULL && event->kind == SALTUSI_FOUND_HIT && event->key == key;
    if (c->mode != SALTUSI_IDLE || hits || !(s > 0.0)) {
      continue;
    }
    double height = saltusi_isolation_height(&w->search, key, fmin(1.0, s / w->step.h));
    status = isnan(height) ? saltusi_report_height(w, key) : status;
    if (w->mode.gap[key] > near || height > saltusi_gap_rounding * size) {
      c->mode = SALTUSI_OPEN;
      c->touching = !(w->mode.gap[key] > near);
      c->height = fmax(height, 0.0);
      w->memory->rate_valid = 0.0;
    }
  }
  return status;
}

/* Limits the next step to 1.5 times the time to contact of height + U s + gamma s^2 / 2, so that it does not skip a
 * short flight (section 4). The factor keeps the contact inside if gamma decreases by a third over the step. */
static saltus_status cap_step(saltusi_adaptive* w, double t, const double* y) {
  saltus_status status = SALTUS_OK;
  bool known = false; /* y' */
  w->memory->cap = INFINITY;
  for (int key = 0; key < w->o.nc && status == SALTUS_OK; key++) {
    const saltusi_contact* c = &w->contact[key];
    if (!c->touching || saltusi_is_closed(&w->contact[key])) {
      continue;
    }
    if (!known) {
      status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
      known = true;
    }
    double gamma = saltusi_mode_gamma_of(&w->mode, t, y, w->transition.rate, key);
    double u = saltusi_mode_velocity(&w->mode, t, y, key, 0);
    double height = fmax(c->height, 0.0);
    double root = u * u - 2.0 * gamma * height;
    double time = INFINITY;
    if (gamma < 0.0) {
      time = (u + sqrt(fmax(root, 0.0))) / -gamma;
    } else if (u < 0.0 && root >= 0.0 && height > 0.0) {
      time = 2.0 * height / (-u + sqrt(root));
    }
    if (time > 0.0) {
      w->memory->cap = fmin(w->memory->cap, 1.5 * time);
    }
  }
  return status;
}

/* Value and rate of the function whose root is the event. */
static saltus_status event_function(saltusi_adaptive* w, const saltusi_found* f, double t,
                                    double* value, double* slope, bool* good) {
  const double* y = w->step.y1;
  *good = false;
  if (f->kind == SALTUSI_FOUND_HIT) {
    saltus_status status = saltusi_mode_gaps(&w->mode, t, y);
    *value = w->mode.gap[f->key];
    *slope = saltusi_mode_velocity(&w->mode, t, y, f->key, 0);
    double rounding =
        0.5 * saltusi_gap_rounding * w->o.size; /* so that a search treats it as closed */
    *good = fabs(*value) <= rounding || *slope >= 0.0;
    return status;
  }
  *value = saltusi_mode_velocity(&w->mode, t, y, f->key, 1);
  *slope = saltusi_row_dot(&w->mode.look, 1, w->step.rate1 + w->o.nq) + w->mode.look.c[1];
  /* a row has a few entries of size one; a shift that gives no improvement ends the iteration */
  double rounding = 4.0 * DBL_EPSILON * saltusi_max_abs(w->o.nv, saltusi_v_of(&w->o, y));
  *good = *slope == 0.0 || fabs(*value) <= rounding;
  return SALTUS_OK;
}

/* Locates an impact or a stop by steps that end there, and then by a displacement along the motion that is short
 * enough to be negligible (section 4). The state is left in y_end, its time after the start in *s. */
static saltus_status step_onto(saltusi_adaptive* w, const saltusi_found* f, double* s) {
  double error;
  saltus_status status = w->step.ops->attempt(w, *s, &error);
  memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  for (int k = 0; k < RESTEPS && status == SALTUS_OK; k++) {
    double value;
    double slope;
    bool good;
    status = event_function(w, f, w->step.t + *s, &value, &slope, &good);
    /* a fifth of the step is no correction: dense output was wrong */
    double shift = -value / slope;
    if (status != SALTUS_OK || good || !(fabs(shift) <= 0.2 * *s)) {
      break;
    }
    if (fabs(shift) <= short_shift * *s) {
      saltusi_shift_along(w, w->step.y_end, w->step.rate1, shift);
      saltusi_add_scaled(w->o.ny - w->o.nq - w->o.nv, shift, w->step.rate1 + w->o.nq + w->o.nv,
                         w->step.y_end + w->o.nq + w->o.nv);
      *s += shift;
      break;
    }
    *s += shift;
    status = w->step.ops->attempt(w, *s, &error);
    memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  }
  return status == SALTUS_OK ? w->step.ops->prepare(w) : status;
}

/* Projects onto the constraints; records the largest displacement and rejects one beyond its tolerance. */
static saltus_status project(saltusi_adaptive* w, double t, saltusi_refusal* refusal) {
  memcpy(w->step.y_keep, w->step.y_end, (size_t)(w->o.nq + w->o.nv) * sizeof(double));
  saltus_status status = saltusi_mode_project(&w->mode, t, w->step.y_end);
  saltusi_difference(w->sys, w->step.y_keep, w->step.y_end, w->step.apart);
  for (int i = 0; i < w->o.nv && status == SALTUS_OK; i++) {
    double moved = fabs(w->step.apart[i]);
    w->outcome.moved = fmax(w->outcome.moved, moved);
    /* the tolerance of a nearly flat circle applies to the error, not to the projection */
    if (moved > fmax(w->step.scale[i], w->o.atol_q[i]) && !w->o.settings.without_checks) {
      *refusal = (saltusi_refusal){.why = SALTUSI_FAR_PROJECTION, .index = i, .part = 0.5};
    }
  }
  for (int i = w->o.nq; i < w->o.nq + w->o.nv && status == SALTUS_OK; i++) {
    bool far = fabs(w->step.y_end[i] - w->step.y_keep[i]) > far_velocity * w->step.scale[i];
    if (far && !w->o.settings.without_checks) {
      *refusal =
          (saltusi_refusal){.why = SALTUSI_FAR_PROJECTION, .index = i - w->o.nq, .part = 0.5};
    }
  }
  return status;
}

/* A step to a kink ends before it, so that all stages are on one side. */
static saltus_status state_before_switch(saltusi_adaptive* w, double length) {
  double error;
  if (length <= 4.0 * DBL_EPSILON * saltusi_time_size(w->step.t)) {
    memcpy(w->step.y_end, w->step.y0, (size_t)w->o.ny * sizeof(double));
    return SALTUS_OK;
  }
  saltus_status status = w->step.ops->attempt(w, length, &error);
  memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  return status == SALTUS_OK ? w->step.ops->prepare(w) : status;
}

/* Over the kink itself, too short for velocities to change: only positions advance. */
static saltus_status pass_switch(saltusi_adaptive* w, double from, double to) {
  saltus_status status =
      saltusi_mode_rate(&w->mode, w->step.t + from, w->step.y_end, w->search.probe_rate);
  saltusi_advance(w->sys, w->step.y_end, saltusi_v_of(&w->o, w->step.y_end), to - from,
                  w->step.beside);
  memcpy(w->step.y_end, w->step.beside, (size_t)w->o.nq * sizeof(double));
  return status;
}

/* The state at the event that ends the trial step, into y_end; *s its time after the start. */
static saltus_status state_at_event(saltusi_adaptive* w, const saltusi_found* f, double* s,
                                    double* origin) {
  bool located =
      f->kind == SALTUSI_FOUND_HIT || (f->kind == SALTUSI_FOUND_STOP && w->o.tangents[f->key] == 1);
  if (f->kind == SALTUSI_FOUND_SWITCH) {
    return state_before_switch(w, *origin);
  }
  if (*s <= 2.0 * DBL_EPSILON * saltusi_time_size(w->step.t)) {
    *s = 0.0;
    memcpy(w->step.y_end, w->step.y0, (size_t)w->o.ny * sizeof(double));
  } else if (f->theta >= 1.0) {
    memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  } else if (w->step.ops->restep && located) {
    saltus_status status = step_onto(w, f, s);
    *origin = *s;
    return status;
  } else {
    w->step.ops->dense(&w->step.motion, f->theta, 0, w->o.ny, w->step.y_end);
    saltusi_normalise(w->sys, w->step.y_end);
  }
  return SALTUS_OK;
}

/* The event that ends the trial step: its state into y_end, its time, and the status after it. */
static saltus_status end_at_event(saltusi_adaptive* w, const saltusi_found* f, double* length,
                                  saltusi_refusal* refusal) {
  double s = f->theta * w->step.h;
  double origin = f->origin * w->step.h;
  bool kink = f->kind == SALTUSI_FOUND_SWITCH;
  saltus_status status = state_at_event(w, f, &s, &origin);
  w->o.size = fmax(w->o.size, saltusi_max_abs(w->o.nq, w->step.y_end));
  double t = w->step.t + s;
  if (status == SALTUS_OK) {
    status = saltusi_check_event(w, f, t, refusal);
  }
  if (status == SALTUS_OK && refusal->why == SALTUSI_NOT_REFUSED) {
    status = project(w, kink ? w->step.t + origin : t, refusal);
  }
  if (status == SALTUS_OK && refusal->why == SALTUSI_NOT_REFUSED && kink) {
    status = pass_switch(w, origin, s);
  }
  if (status != SALTUS_OK || refusal->why != SALTUSI_NOT_REFUSED) {
    return status;
  }
  w->counts.events++;
  saltusi_add_impulses(w);
  status = follow_flights(w, t, w->step.y_end, s, f);
  if (status == SALTUS_OK) {
    status = release_idle(w, t, s, f);
  }
  if (status == SALTUS_OK) {
    status = saltusi_adaptive_transition(w, t, w->step.t + origin, w->step.y_end, f);
  }
  s += w->outcome.passed;
  if (status == SALTUS_OK) {
    status = cap_step(w, w->step.t + s, w->step.y_end);
  }
  *length = s;
  return status;
}

static void note_speed(saltusi_adaptive* w, const double* y) {
  w->memory->q_max = fmax(w->memory->q_max, saltusi_max_abs(w->o.nq, y));
  w->memory->v_max = fmax(w->memory->v_max, saltusi_max_abs(w->o.nv, saltusi_v_of(&w->o, y)));
}

/* A trial step continues past its events, where features of shapes may meet without a defined normal; a shorter
 * one may not. */
static bool went_too_far(saltusi_adaptive* w, double h) {
  bool shorter = h > 4.0 * DBL_EPSILON * saltusi_time_size(w->step.t);
  bool far = w->o.featured && saltusi_failed(w->eval) && shorter;
  if (far) {
    w->eval->failure->status = SALTUS_OK;
  }
  return far;
}

/* Step length after a rejected trial step of length h, the k-th; `part` of it by its error. */
static void shorten(saltusi_adaptive_memory* m, double h, double part, int k) {
  bool noise = m->near_singular != 0.0 && k < SINGULAR_TRIES;
  m->h = h * fmax(noise ? singular_shortening : 0.2, part);
  m->rejected = 1.0;
}

/* Repeats trial steps until the error is accepted, and proposes the next step: 0.9 of the length that the error
 * permits, between a fifth and five times (Hairer, Norsett and Wanner 1993, II.4). */
static saltus_status attempt_until_accepted(saltusi_adaptive* w, double limit, double* proposal) {
  saltusi_adaptive_memory* m = w->memory;
  double most = w->o.settings.h_max > 0.0 ? w->o.settings.h_max : INFINITY;
  double least = 4.0 * DBL_EPSILON * saltusi_time_size(w->step.t);
  double end = limit;
  for (int k = 0; k < ATTEMPTS_MAX; k++) {
    if (saltusi_cancelled(w->eval)) {
      return SALTUS_ERR_STOPPED;
    }
    double h = fmax(fmin(fmin(m->h, most), fmin(m->cap, limit)), fmin(least, limit));
    h = saltusi_before_switch(&w->search, h);
    double error = INFINITY;
    w->eval->work.steps++;
    saltus_status status = w->step.ops->attempt(w, h, &error);
    status = went_too_far(w, h) ? SALTUS_RETRY_NAN : status;
    if (status < SALTUS_OK || status == SALTUS_RETRY_CAPACITY) {
      return status;
    }
    bool wild = status == SALTUS_OK && isnan(error);
    error = status == SALTUS_OK && !wild ? error : hopeless;
    double exponent = -1.0 / w->step.ops->order;
    if (error > 1.0) {
      w->counts.rejections++;
      if (h <= least) {
        return status > SALTUS_OK ? status : wild ? SALTUS_RETRY_NAN : SALTUS_RETRY_SMALLER;
      }
      shorten(m, h, 0.9 * pow(error, exponent), k);
      continue;
    }
    double factor = fmin(5.0, fmax(0.2, 0.9 * pow(fmax(error, least_error), exponent)));
    factor = m->rejected != 0.0 ? fmin(factor, 1.0) : factor;
    m->rejected = 0.0;
    *proposal = h * factor;
    if (h < 0.9 * m->h && factor >= 1.0) { /* shortened by an event or the end */
      *proposal = fmax(*proposal, m->h);
    }
    w->step.error = error;
    w->step.limit = saltusi_adaptive_limit_of(w, h, fmin(end, most), end <= most, factor);
    return SALTUS_OK;
  }
  return SALTUS_RETRY_SMALLER;
}

static bool is_held(const saltusi_adaptive* w) {
  bool held = w->o.nj > 0;
  for (int key = 0; key < w->o.nc; key++) {
    held = held || saltusi_is_pressed(&w->contact[key]);
  }
  return held;
}

/* Surfaces and joints may jump with their formulas: closed contacts may be open then, and a jump that would move
 * the body is an error. */
static saltus_status check_jump(saltusi_adaptive* w, double t) {
  saltus_status status = w->o.nc > 0 ? saltusi_mode_gaps(&w->mode, t, w->step.y_end) : SALTUS_OK;
  double size = w->o.size;
  double near = fmax(saltusi_surface_rounding * size, saltusi_depth_part * w->o.atol_q_min);
  for (int key = 0; key < w->o.contacts && status == SALTUS_OK; key++) {
    saltusi_contact* c = &w->contact[key];
    if (w->o.featured && !saltusi_touches(c)) {
      continue; /* its features may be elsewhere */
    }
    if (w->mode.gap[key] < -fmax(near, w->o.atol_q_min)) {
      saltusi_log(w->log, SALTUS_LEVEL_ERROR,
                  "adaptive: the surface of contact %s jumps into the body at t = %.17g s, gap %g",
                  saltusi_contact_name(&w->o, key), t, w->mode.gap[key]);
      return SALTUS_ERR_STALLED;
    }
    if (saltusi_is_closed(&w->contact[key]) && w->mode.gap[key] > near) {
      c->mode = SALTUSI_OPEN;
      c->touching = false;
      c->height = 0.0;
    }
  }
  if (w->o.nj > 0 && status == SALTUS_OK) {
    saltus_point at = saltusi_at(w->eval, t, w->step.y_end, NULL);
    w->sys->ops->joints(w->sys->self, &at, w->mode.joint_gap);
    for (int j = 0; j < w->o.nj; j++) {
      if (fabs(w->mode.joint_gap[j]) > fmax(near, w->o.atol_q_min)) {
        saltusi_log(w->log, SALTUS_LEVEL_ERROR, "adaptive: joint %d jumps at t = %.17g s by %g",
                    j + 1, t, w->mode.joint_gap[j]);
        return SALTUS_ERR_STALLED;
      }
    }
  }
  return status;
}

/* Crosses a time at which a formula changes its branch: forces and rows may jump. */
static saltus_status cross_switch(saltusi_adaptive* w, double* length) {
  saltusi_adaptive_memory* m = w->memory;
  const saltusi_found f = {.kind = SALTUSI_FOUND_SWITCH, .key = -1, .theta = 1.0, .origin = 1.0};
  double t = m->switch_after;
  *length = t - w->step.t;
  *length = w->step.t + *length < t ? nextafter(*length, INFINITY) : *length;
  m->switch_clear = t;
  m->switch_before = INFINITY;
  m->rate_valid = 0.0;
  w->step.limit = SALTUS_LIMIT_EVENT;
  saltus_status status = check_jump(w, t);
  if (status == SALTUS_OK) {
    status = saltusi_adaptive_transition(w, t, t, w->step.y_end, &f);
  }
  return status == SALTUS_OK ? cap_step(w, t, w->step.y_end) : status;
}

/* Near a singular position of a mechanism independent joint rows become nearly linearly dependent. Projections
 * amplify rounding by the inverse square of the distance to it, and so grows the constraint error: a step ends
 * half-way to it, so that the next one crosses it. */
static void check_firmness(saltusi_adaptive* w, saltusi_refusal* refusal) {
  double now = w->mode.held.firmness;
  if (now > 0.0 && now < singular_part * w->memory->firmness && !w->o.settings.without_checks) {
    *refusal = (saltusi_refusal){.why = SALTUSI_SINGULAR_END, .index = 0, .part = 0.5};
  }
}

/* A force that is discontinuous where the motion would have to stay: sign(x') of dry friction. */
static saltus_status observe_slides(saltusi_adaptive* w) {
  saltusi_adaptive_memory* m = w->memory;
  if (saltusi_slides(&w->search, w->step.rate1)) {
    m->slides++;
  } else if (w->step.h > slide_part * fmin(w->outcome.room, 1.0)) {
    m->slides = 0.0;
  }
  if (m->slides < SLIDES_MAX) {
    return SALTUS_OK;
  }
  saltusi_log(
      w->log, SALTUS_LEVEL_ERROR,
      "adaptive: the motion cannot continue along a discontinuity of a formula at t = %.17g s: "
      "the sign of a velocity switches a force, as in sign(x'), and drives the motion back "
      "to it from both sides, in %d steps of %.2g s; dry friction is a law of contacts and "
      "joints",
      w->step.t, SLIDES_MAX, w->step.h);
  return SALTUS_ERR_STALLED;
}

/* Completes the trial step at its end, without an event. */
static saltus_status end_of_attempt(saltusi_adaptive* w, double* length, saltusi_refusal* refusal) {
  saltusi_adaptive_memory* m = w->memory;
  double t = w->step.t + w->step.h;
  bool held = is_held(w);
  memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  w->o.size = fmax(w->o.size, saltusi_max_abs(w->o.nq, w->step.y_end));
  saltus_status status = held ? project(w, t, refusal) : SALTUS_OK;
  if (status == SALTUS_OK && held) {
    check_firmness(w, refusal);
  }
  if (status == SALTUS_OK) {
    status = saltusi_check_end(w, t, refusal);
  }
  if (status != SALTUS_OK || refusal->why != SALTUSI_NOT_REFUSED) {
    return status;
  }
  double firmness = held ? w->mode.held.firmness : 0.0;
  m->near_singular = firmness > 0.0 && firmness < approach_part * m->firmness ? 1.0 : 0.0;
  m->firmness = firmness;
  m->firmness_most = fmax(m->firmness_most, firmness);
  saltusi_add_impulses(w);
  for (int key = 0; key < w->o.nc; key++) {
    w->contact[key].fresh_slip = false;
  }
  status = observe_slides(w);
  if (!held) {
    memcpy(w->step.rate0, w->step.rate1, (size_t)w->o.ny * sizeof(double));
    m->rate_valid = 1.0;
  }
  status = status == SALTUS_OK ? follow_flights(w, t, w->step.y_end, w->step.h, NULL) : status;
  if (status == SALTUS_OK) {
    status = release_idle(w, t, w->step.h, NULL);
  }
  m->cap = INFINITY;
  *length = w->step.h;
  bool at_switch = t >= m->switch_before - 4.0 * DBL_EPSILON * fabs(t);
  return status == SALTUS_OK && at_switch ? cross_switch(w, length) : status;
}

/* Rejects a trial step whose defect at theta exceeds so many tolerances. */
static saltus_status check_defect(saltusi_adaptive* w, double theta, double allowed,
                                  saltusi_refusal* refusal) {
  w->step.ops->dense(&w->step.motion, theta, 0, w->o.ny, w->step.y_try);
  saltus_status status =
      saltusi_mode_rate(&w->mode, w->step.t + theta * w->step.h, w->step.y_try, w->step.rate_mid);
  saltusi_defect(w, w->step.ops->dense_rate, theta, w->step.h);
  for (int i = 0; i < w->o.nq + w->o.nv && status == SALTUS_OK; i++) {
    if (fabs(w->step.y_try[i]) > allowed * w->step.scale[i]) {
      *refusal = (saltusi_refusal){.why = SALTUSI_POOR_MIDDLE, .index = i, .part = 0.5};
    }
  }
  return status;
}

/* Whether the term of highest degree of the dense output exceeds so many tolerances: without it the error of the
 * dense output is smaller. Positions beyond nv, of quaternions, count with the last tolerance. */
static bool has_large_term(const saltusi_adaptive* w, double allowed) {
  const double most = 256.0 * 27.0 / 823543.0; /* theta^4 (1 - theta)^3 at 4/7 */
  const double* last = w->step.Q + 6 * (size_t)w->o.ny;
  for (int i = 0; i < w->o.nq + w->o.nv; i++) {
    const int k = i >= w->o.nv && i < w->o.nq ? w->o.nv - 1 : i;
    if (most * fabs(last[i]) > allowed * w->step.scale[k]) {
      return true;
    }
  }
  return false;
}

/* With a method of high order and steps limited by stability both ends of a step may be right while its dense
 * output is not: the defect in the middle shows this, as that of order 5 does in its estimate. In long smooth
 * steps that of dop853 has a root near the middle; the error of its interpolant is then a tenth of the defect at
 * 0.7. */
static saltus_status check_dense_output(saltusi_adaptive* w, saltusi_refusal* refusal) {
  if (w->step.ops->dense_degree <= 4 || w->o.settings.without_checks) {
    return SALTUS_OK;
  }
  saltus_status status = check_defect(w, 0.5, 10.0, refusal);
  if (status == SALTUS_OK && refusal->why == SALTUSI_NOT_REFUSED && has_large_term(w, 20.0)) {
    status = check_defect(w, 0.7, 80.0, refusal);
  }
  return status;
}

/* Relative accuracy of roots is 1e-15 of a step: in a step a million times longer than the time to its first event
 * the order of events would be undetermined. Four times that time puts the event at a quarter of the next trial
 * step. */
static void check_far_step(const saltusi_adaptive* w, const saltusi_found* first,
                           saltusi_refusal* refusal) {
  const double far = 1e-6;
  double least = 64.0 * DBL_EPSILON * saltusi_time_size(w->step.t);
  if (first != NULL && first->theta < far && first->theta * w->step.h > least) {
    *refusal = (saltusi_refusal){.why = SALTUSI_EARLY_EVENT,
                                 .index = first->key < 0 ? 0 : first->key,
                                 .part = 4.0 * first->theta};
  }
}

/* Rejects steps in which a contact that has just opened is hit at once, or one that has just begun to slide stops
 * at once: flight and slip are below the resolution of the dense output, and a method that does not step onto its
 * events would accept them. */
static void check_early_event(saltusi_adaptive* w, saltusi_refusal* refusal) {
  /* a choice; a tenth and ten times of it give the same table in `study adversarial --count 2 --tol 1e-6` */
  const double early = 0.05;
  const saltusi_found* first = w->search.found_count > 0 ? &w->search.found[0] : NULL;
  check_far_step(w, first, refusal);
  if (first == NULL || w->step.ops->restep || !(first->theta < early)) {
    return;
  }
  bool flight = first->kind == SALTUSI_FOUND_HIT && w->contact[first->key].touching;
  bool slip = first->kind == SALTUSI_FOUND_STOP && w->contact[first->key].fresh_slip;
  double least = 64.0 * DBL_EPSILON * saltusi_time_size(w->step.t);
  if ((flight || slip) && w->step.h > least) {
    double part = fmax(fmax(4.0 * first->theta, slip ? 0.1 : 0.0), 0.5 * least / w->step.h);
    *refusal = (saltusi_refusal){.why = SALTUSI_EARLY_EVENT, .index = first->key, .part = part};
  }
}

/* Events and unresolved features of an accepted trial step. */
static saltus_status examine(saltusi_adaptive* w, saltusi_refusal* refusal) {
  saltus_status status = w->step.ops->prepare(w);
  w->search.found_count = 0;
  if (status == SALTUS_OK) {
    status = check_dense_output(w, refusal);
  }
  if (refusal->why != SALTUSI_NOT_REFUSED) {
    return status;
  }
  if (status == SALTUS_OK && w->o.nc > 0) {
    status = saltusi_collect(w, NULL, 0.0);
    status = status == SALTUS_OK ? saltusi_find_events(&w->search) : status;
  }
  if (status == SALTUS_RETRY_SMALLER) {
    *refusal =
        (saltusi_refusal){.why = SALTUSI_LONG_SEARCH, .index = w->search.searched, .part = 0.5};
    return SALTUS_OK;
  }
  if (status == SALTUS_OK && !w->o.settings.without_checks) {
    check_early_event(w, refusal);
  }
  if (status == SALTUS_OK && !w->o.settings.without_checks && refusal->why == SALTUSI_NOT_REFUSED) {
    const saltusi_found* first = w->search.found_count > 0 ? &w->search.found[0] : NULL;
    bool kink = first != NULL && first->kind == SALTUSI_FOUND_SWITCH;
    double end = first == NULL ? 1.0 : kink ? first->origin : fmin(1.0, first->theta);
    saltusi_find_unresolved_forces(&w->search, end, refusal);
  }
  return status;
}

/* One accepted trial step and the event that ends it; *length may be zero at an event. */
static saltus_status advance(saltusi_adaptive* w, double limit, double* length) {
  saltusi_adaptive_memory* m = w->memory;
  w->outcome.room = limit;
  for (int k = 0; k < REFUSALS_MAX; k++) {
    double proposal = 0.0;
    saltusi_refusal refusal = {.why = SALTUSI_NOT_REFUSED};
    if (saltusi_before_switch(&w->search, fmin(m->h, limit)) <= 0.0) { /* at a switch */
      memcpy(w->step.y_end, w->step.y0, (size_t)w->o.ny * sizeof(double));
      return cross_switch(w, length);
    }
    w->mode.on_surface = m->near_singular != 0.0;
    saltus_status status = attempt_until_accepted(w, limit, &proposal);
    double h = w->step.h;
    double error = w->step.error;
    if (status == SALTUS_OK) {
      status = examine(w, &refusal);
      if (went_too_far(w, h)) {
        status = SALTUS_OK;
        refusal = (saltusi_refusal){.why = SALTUSI_LONG_SEARCH, .index = 0, .part = 0.5};
      }
    }
    w->mode.on_surface = false;
    const saltusi_adaptive_memory kept = *m;
    if (status == SALTUS_OK && refusal.why == SALTUSI_NOT_REFUSED) {
      m->rate_valid = 0.0;
      saltusi_review_method(w);
      if (w->search.found_count > 0) {
        const saltusi_found first = w->search.found[0];
        w->step.limit = SALTUS_LIMIT_EVENT;
        w->outcome.last_event = first;
        status = end_at_event(w, &first, length, &refusal);
        m->h = error < 1.0 ? fmax(proposal, h) : h;
      } else {
        status = end_of_attempt(w, length, &refusal);
        m->h = proposal;
      }
    }
    if (status != SALTUS_OK || refusal.why == SALTUSI_NOT_REFUSED) {
      w->counts.steps += status == SALTUS_OK;
      return status;
    }
    w->counts.rejections++;
    *m = kept; /* restores the memory: a rejected trial step changes nothing */
    bool noise =
        m->near_singular != 0.0 && k < SINGULAR_TRIES && refusal.why != SALTUSI_SINGULAR_END;
    m->h = h * (noise ? fmax(singular_shortening, refusal.part) : refusal.part);
    m->near_singular = refusal.why == SALTUSI_SINGULAR_END ? 1.0 : m->near_singular;
    m->rejected = refusal.why == SALTUSI_SINGULAR_END ? 0.0 : 1.0; /* the next one may be longer */
    m->rate_valid = 1.0;
    if (k == REFUSALS_MAX - 1 || m->h < 4.0 * DBL_EPSILON * saltusi_time_size(w->step.t)) {
      saltusi_report_refusal(w, &refusal);
      return SALTUS_ERR_STALLED;
    }
  }
  return SALTUS_ERR_STALLED;
}

/* Tolerances of impulses. Loads of redundant contacts are not unique: an error along the null space of their rows
 * changes no velocity. Their errors are combined (saltusi_in_tolerances). With joints the distribution between
 * these and contacts jumps along a step, and the tolerance of each impulse detects it. */
static saltus_status scale_impulses(saltusi_adaptive* w) {
  w->step.redundant = w->step.overheld && w->o.nj == 0 && !w->o.settings.without_impulses;
  for (int r = 0; w->step.redundant && r < w->o.nl; r++) {
    w->step.scale_l[r] = INFINITY;
  }
  return w->step.redundant
             ? SALTUS_OK
             : saltusi_mode_impulse_scale(&w->mode, w->step.t, w->step.y0, w->step.scale_l);
}

/* The rate and the tolerances of the impulses at the start of a trial step. */
static saltus_status refresh(saltusi_adaptive* w) {
  saltus_status status = SALTUS_OK;
  if (w->memory->rate_valid == 0.0) {
    status = saltusi_start_rate(w);
    w->memory->rate_valid = 1.0;
    w->memory->overheld = w->mode.held.dependent ? 1.0 : 0.0;
  }
  w->step.overheld = w->memory->overheld != 0.0;
  if (status == SALTUS_OK && !isfinite(saltusi_max_abs(w->o.ny, w->step.rate0))) {
    status = SALTUS_RETRY_NAN;
  }
  saltusi_note_slips(w);
  saltusi_note_tilts(w);
  return status == SALTUS_OK ? scale_impulses(w) : status;
}

/* Completes an accepted Zeno extrapolation; other contacts may be in flight. */
static saltus_status end_of_jump(saltusi_adaptive* w, double tau) {
  double t = w->step.t + tau;
  memcpy(w->step.y_end, w->step.y1, (size_t)w->o.ny * sizeof(double));
  saltusi_add_impulses(w);
  for (int key = 0; key < w->o.nc; key++) {
    w->contact[key].fresh_slip = false;
  }
  w->memory->rate_valid = 0.0;
  w->memory->cap = INFINITY;
  w->step.limit = SALTUS_LIMIT_EVENT;
  w->counts.steps++;
  saltus_status status = saltusi_mode_project(&w->mode, t, w->step.y_end);
  if (status == SALTUS_OK) {
    status = follow_flights(w, t, w->step.y_end, tau, NULL);
  }
  return status == SALTUS_OK ? release_idle(w, t, tau, NULL) : status;
}

static void take_state(saltusi_adaptive* w, const double* y) {
  memcpy(w->step.y0, y, (size_t)(w->o.nq + w->o.nv) * sizeof(double));
  memset(w->step.y0 + w->o.nq + w->o.nv, 0, (size_t)(w->o.ny - w->o.nq - w->o.nv) * sizeof(double));
}

/* Steps with events until time advances. */
static saltus_status resolve(saltusi_adaptive* w, double limit, double* length) {
  saltus_status status = SALTUS_OK;
  int k = 0;
  for (; status == SALTUS_OK && *length == 0.0; k++) {
    if (k == saltusi_instants_most(w)) {
      return saltusi_report_stall(w, k);
    }
    if (k > 0) {
      take_state(w, w->step.y_end);
      saltusi_collect_laws(w);
    }
    memcpy(w->outcome.impacts_start, w->outcome.impacts, (size_t)w->o.nl * sizeof(double));
    status = refresh(w);
    saltusi_prefer_implicit(w);
    bool jumped = false;
    if (status == SALTUS_OK && w->memory->zeno >= 0.0) {
      status = saltusi_adaptive_impact_step(w, limit, &jumped, length);
    }
    if (status == SALTUS_OK && jumped) {
      status = end_of_jump(w, *length);
    } else if (status == SALTUS_OK) {
      status = advance(w, limit, length);
    }
  }
  return status == SALTUS_OK ? saltusi_observe_progress(w, *length, limit, k - 1) : status;
}

/* The step by event capturing, where its events stall. A stall that cannot be captured keeps its message. */
static saltus_status capture(saltusi_adaptive* w, double* memory, double limit, const double* q,
                             const double* v, double* length) {
  const bool first = w->memory->captured_end == 0.0;
  double unused = 0.0;
  *length = 0.0;
  if (w->withdraw != NULL) {
    w->withdraw(w->who);
  }
  saltus_status status = saltusi_load_start(w, memory, limit, q, v, &unused);
  status = status == SALTUS_OK ? saltusi_captured_step(w, limit, length) : status;
  if (w->reason[0] != '\0' && (first || status < SALTUS_OK)) {
    const bool captured = status == SALTUS_OK;
    saltusi_log(w->log, captured ? SALTUS_LEVEL_WARNING : SALTUS_LEVEL_ERROR, "%s%s", w->reason,
                captured ? "; event capturing advances the motion" : "");
  }
  return status;
}

saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1) {
  assert(w != NULL);
  double proposed = 0.0, length = 0.0;
  char reason[SALTUSI_REASON];
  const saltus_log log = w->log;
  const long long rejections = w->counts.rejections;
  const saltusi_adaptive_memory start = *(saltusi_adaptive_memory*)(void*)memory;
  saltus_status status = saltusi_load_start(w, memory, limit, q, v, &proposed);
  bool captures = status == SALTUS_OK && saltusi_captured_goes_on(w);
  w->stalls_at_contact = false;
  reason[0] = '\0';
  w->reason = reason;
  if (status == SALTUS_OK && !captures) {
    w->log = w->decision.log = saltusi_hold_errors(w);
    status = resolve(w, limit, &length);
    w->log = w->decision.log = log;
    captures = status == SALTUS_ERR_STALLED && w->stalls_at_contact;
    if (w->reason[0] != '\0' && !captures) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s", w->reason);
    }
  }
  if (captures) {
    *w->memory = start;
    status = capture(w, memory, limit, q, v, &length);
  }
  w->reason = NULL;
  if (status == SALTUS_OK && proposed > 0.0) {
    saltusi_end_brief_step(w, proposed, w->counts.rejections > rejections);
  }
  if (status == SALTUS_OK) {
    note_speed(w, w->step.y_end);
    memcpy(q1, w->step.y_end, (size_t)w->o.nq * sizeof(double));
    memcpy(v1, w->step.y_end + w->o.nq, (size_t)w->o.nv * sizeof(double));
    w->outcome.h = w->step.h;
    w->outcome.length = length;
    w->counts.projection = w->outcome.moved;
    w->counts.residual_velocity = w->decision.residual;
    status = saltusi_collect_closed(w, w->step.t + length);
    saltusi_adaptive_close(w);
  }
  return status;
}
