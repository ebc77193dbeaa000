/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.c - the loop of attempts and events (section 4).
 */
#include "adaptive/adaptive.h"
#include "adaptive/hunt.h"
#include "base/log.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

/* Events in a row without progress before the run gives up, and attempts within one step. */
enum { IDLE_MAX = 5000, ATTEMPTS_MAX = 1000, RESTEPS = 3 };

/* Gaps of flying contacts that began at zero, after s seconds of the step. */
static saltus_status follow_flights(saltusi_adaptive* w, double t, const double* y, double s,
                                    const saltusi_found* event) {
  bool any = false;
  for (int key = 0; key < w->nc; key++) {
    any = any || (w->contact[key].touching != 0.0 && !saltusi_mode_closed(w, key));
  }
  if (!any) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_gaps(w, t, y);
  double far = 1e-8 * fmax(1.0, saltusi_max_abs(w->nq, y));
  for (int key = 0; key < w->nc && status == SALTUS_OK; key++) {
    saltusi_contact_memory* c = &w->contact[key];
    bool hits = false;
    for (int i = 0; event != NULL && i < w->found_count; i++) {
      hits = hits || (w->found[i].kind == SALTUSI_FOUND_HIT && w->found[i].key == key &&
                      w->found[i].theta <= event->theta * (1.0 + 1e-8));
    }
    if (c->touching == 0.0 || saltusi_mode_closed(w, key) || hits) {
      continue;
    }
    if (w->gap[key] > far) {
      c->touching = 0.0;
    } else if (s > 0.0) {
      c->height += saltusi_hunt_height(w, key, fmin(1.0, s / w->h));
    }
  }
  return status;
}

/* The next step at most, so that a short flight is not stepped over: 1.5 times the time to contact of
 * height + U s + gamma s^2 / 2 (section 4, pitfall 3). */
static saltus_status cap_step(saltusi_adaptive* w, double t, const double* y) {
  saltus_status status = SALTUS_OK;
  w->memory->cap = INFINITY;
  for (int key = 0; key < w->nc && status == SALTUS_OK; key++) {
    const saltusi_contact_memory* c = &w->contact[key];
    if (c->touching == 0.0 || saltusi_mode_closed(w, key)) {
      continue;
    }
    double gamma = 0.0;
    status = saltusi_mode_gamma(w, t, y, key, &gamma);
    double u = saltusi_mode_velocity(w, t, y, key, 0);
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
  const double* y = w->y1;
  *good = false;
  if (f->kind == SALTUSI_FOUND_HIT) {
    saltus_status status = saltusi_mode_gaps(w, t, y);
    *value = w->gap[f->key];
    *slope = saltusi_mode_velocity(w, t, y, f->key, 0);
    double rounding = 32.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(w->nq, y));
    *good = fabs(*value) <= rounding || *slope >= 0.0;
    return status;
  }
  *value = saltusi_mode_velocity(w, t, y, f->key, 1);
  int row = w->nj + w->base[f->key] + 1;
  *slope = saltusi_row_dot(&w->row, row, w->rate1 + w->nq) + w->row.c[row];
  double rounding = 4.0 * DBL_EPSILON * saltusi_max_abs(w->nv, saltusi_v_of(w, y));
  *good = *slope == 0.0 || fabs(*value) <= rounding;
  return SALTUS_OK;
}

/* An impact or a stop is located by steps that end there, and then by a shift along the motion that is
 * too short to matter (section 4). The state is left in y_end, its time after the start in *s. */
static saltus_status step_onto(saltusi_adaptive* w, const saltusi_found* f, double* s) {
  double error;
  saltus_status status = w->ops->attempt(w, *s, &error);
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  for (int k = 0; k < RESTEPS && status == SALTUS_OK; k++) {
    double value;
    double slope;
    bool good;
    status = event_function(w, f, w->t + *s, &value, &slope, &good);
    double shift = -value / slope;
    if (status != SALTUS_OK || good || !(fabs(shift) <= 0.2 * *s)) {
      break;
    }
    if (fabs(shift) <= 1e-3 * *s) {
      double* v = w->y_end + w->nq;
      const double* a = w->rate1 + w->nq;
      for (int i = 0; i < w->nq; i++) {
        w->y_end[i] += shift * w->rate1[i];
      }
      bool map = w->sys->ops->rate != NULL;
      for (int i = 0; i < w->nv; i++) {
        w->y_end[i] += map ? 0.0 : 0.5 * shift * shift * a[i];
        v[i] += shift * a[i];
      }
      saltusi_add_scaled(w->nl + w->nj, shift, w->rate1 + w->nq + w->nv, w->y_end + w->nq + w->nv);
      *s += shift;
      break;
    }
    *s += shift;
    status = w->ops->attempt(w, *s, &error);
    memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  }
  return status == SALTUS_OK ? w->ops->prepare(w) : status;
}

/* Impulses of the lasting forces up to the end of the step. */
static void add_impulses(saltusi_adaptive* w) {
  const double* L = w->y_end + w->nq + w->nv;
  saltusi_add_scaled(w->nl, 1.0, L, w->lasting);
  saltusi_add_scaled(w->nj, 1.0, L + w->nl, w->joint_lasting);
}

/* The event that ends the attempt: its state into y_end, its time, and the status after it. */
static saltus_status end_at_event(saltusi_adaptive* w, const saltusi_found* f, double* length) {
  double attempted = w->h;
  double theta = f->theta;
  double s = theta * attempted;
  double origin = f->origin * attempted;
  saltus_status status = SALTUS_OK;
  w->counts.events++;
  bool short_ = s <= 2.0 * DBL_EPSILON * fmax(1.0, fabs(w->t));
  bool located =
      f->kind == SALTUSI_FOUND_HIT || (f->kind == SALTUSI_FOUND_STOP && w->tangents[f->key] == 1);
  if (short_) {
    s = 0.0;
    memcpy(w->y_end, w->y0, (size_t)w->ny * sizeof(double));
  } else if (theta >= 1.0) {
    memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  } else if (w->ops->restep && located) {
    status = step_onto(w, f, &s);
    origin = s;
  } else {
    w->ops->dense(&w->motion, theta, 0, w->ny, w->y_end);
  }
  double t = w->t + s;
  add_impulses(w);
  if (status == SALTUS_OK) {
    status = saltusi_mode_project(w, t, w->y_end);
  }
  if (status == SALTUS_OK) {
    status = follow_flights(w, t, w->y_end, s, f);
  }
  if (status == SALTUS_OK) {
    status = saltusi_adaptive_transition(w, t, w->t + origin, w->y_end, f);
  }
  if (status == SALTUS_OK) {
    status = cap_step(w, t, w->y_end);
  }
  *length = s;
  return status;
}

static void note_speed(saltusi_adaptive* w, const double* y) {
  w->memory->v_max = fmax(w->memory->v_max, saltusi_max_abs(w->nv, saltusi_v_of(w, y)));
}

/* An attempt whose error is accepted, with the proposal for the next step. */
static saltus_status attempt_until_accepted(saltusi_adaptive* w, double limit, double* proposal) {
  saltusi_adaptive_memory* m = w->memory;
  double most = w->settings.h_max > 0.0 ? w->settings.h_max : INFINITY;
  double least = 4.0 * DBL_EPSILON * fmax(1.0, fabs(w->t));
  for (int k = 0; k < ATTEMPTS_MAX; k++) {
    double h = fmax(fmin(fmin(m->h, most), fmin(m->cap, limit)), fmin(least, limit));
    double error = INFINITY;
    w->eval->work.steps++;
    saltus_status status = w->ops->attempt(w, h, &error);
    if (status < SALTUS_OK) {
      return status;
    }
    bool wild = status == SALTUS_OK && isnan(error);
    error = status == SALTUS_OK && !wild ? error : 1e9;
    double exponent = -1.0 / w->ops->order;
    if (error > 1.0) {
      w->counts.rejections++;
      if (h <= least) {
        return status > SALTUS_OK ? status : wild ? SALTUS_RETRY_NAN : SALTUS_RETRY_SMALLER;
      }
      m->h = h * fmax(0.2, 0.9 * pow(error, exponent));
      m->rejected = 1.0;
      continue;
    }
    double factor = fmin(5.0, fmax(0.2, 0.9 * pow(fmax(error, 1e-10), exponent)));
    factor = m->rejected != 0.0 ? fmin(factor, 1.0) : factor;
    m->rejected = 0.0;
    *proposal = h * factor;
    if (h < 0.9 * m->h && factor >= 1.0) { /* cut short by an event or the end */
      *proposal = fmax(*proposal, m->h);
    }
    w->error = error;
    w->limit = saltusi_adaptive_limit_of(w, h, fmin(limit, most), limit <= most, factor);
    return SALTUS_OK;
  }
  return SALTUS_RETRY_SMALLER;
}

/* One accepted attempt and what ends it; *length may be zero at an event. */
static saltus_status advance(saltusi_adaptive* w, double limit, double* length) {
  saltusi_adaptive_memory* m = w->memory;
  double proposal = 0.0;
  saltus_status status = attempt_until_accepted(w, limit, &proposal);
  if (status != SALTUS_OK) {
    return status;
  }
  w->counts.steps++;
  double h = w->h;
  status = w->ops->prepare(w);
  w->found_count = 0;
  if (status == SALTUS_OK && w->nc > 0) {
    status = saltusi_find_events(w);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  m->rate_valid = 0.0;
  saltusi_review_method(w);
  if (w->found_count > 0) {
    const saltusi_found first = w->found[0];
    w->limit = SALTUS_LIMIT_EVENT;
    m->h = w->error < 1.0 ? fmax(proposal, h) : h;
    return end_at_event(w, &first, length);
  }
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  add_impulses(w);
  bool held = w->nj > 0;
  for (int key = 0; key < w->nc; key++) {
    held = held || saltusi_mode_pressed(w, key);
    w->contact[key].fresh_slip = 0.0;
  }
  if (held) {
    status = saltusi_mode_project(w, w->t + h, w->y_end);
  } else {
    memcpy(w->rate0, w->rate1, (size_t)w->ny * sizeof(double));
    m->rate_valid = 1.0;
  }
  if (status == SALTUS_OK) {
    status = follow_flights(w, w->t + h, w->y_end, h, NULL);
  }
  m->h = proposal;
  m->cap = INFINITY;
  *length = h;
  return status;
}

/* The rate and the tolerances of the impulses at the start of an attempt. */
static saltus_status refresh(saltusi_adaptive* w) {
  saltus_status status = SALTUS_OK;
  if (w->memory->rate_valid == 0.0) {
    status = saltusi_mode_rate(w, w->t, w->y0, w->rate0);
    w->memory->rate_valid = 1.0;
  }
  if (status == SALTUS_OK && !isfinite(saltusi_max_abs(w->ny, w->rate0))) {
    status = SALTUS_RETRY_NAN;
  }
  saltusi_note_slips(w);
  return status == SALTUS_OK ? saltusi_mode_impulse_scale(w, w->t, w->y0) : status;
}

static void begin_report(saltusi_adaptive* w) {
  memset(w->lasting, 0, (size_t)w->nl * sizeof(double));
  memset(w->impacts, 0, (size_t)w->nl * sizeof(double));
  memset(w->impacts_start, 0, (size_t)w->nl * sizeof(double));
  memset(w->joint_lasting, 0, (size_t)w->nj * sizeof(double));
  memset(w->hit, 0, (size_t)w->nc * sizeof(bool));
  memset(w->u_impact, 0, 2 * (size_t)w->nc * sizeof(double));
  w->counts.residual_velocity = 0.0;
  w->counts.residual_impulse = 0.0;
  w->jump_tau = 0.0;
  w->error = 0.0;
}

/* A jump over an accumulation that has been taken. */
static saltus_status end_of_jump(saltusi_adaptive* w, double tau) {
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  add_impulses(w);
  w->memory->rate_valid = 0.0;
  w->memory->cap = INFINITY;
  w->limit = SALTUS_LIMIT_EVENT;
  w->counts.steps++;
  return saltusi_mode_project(w, w->t + tau, w->y_end);
}

static void take_state(saltusi_adaptive* w, const double* y) {
  memcpy(w->y0, y, (size_t)(w->nq + w->nv) * sizeof(double));
  memset(w->y0 + w->nq + w->nv, 0, (size_t)(w->nl + w->nj) * sizeof(double));
}

saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1) {
  saltusi_adaptive_open(w, memory);
  memcpy(w->y0, q, (size_t)w->nq * sizeof(double));
  memcpy(w->y0 + w->nq, v, (size_t)w->nv * sizeof(double));
  memset(w->y0 + w->nq + w->nv, 0, (size_t)(w->nl + w->nj) * sizeof(double));
  begin_report(w);
  saltus_status status = saltusi_read_laws(w, w->t, w->y0);
  saltusi_read_tolerances(w);
  if (status == SALTUS_OK && w->memory->started == 0.0) {
    status = saltusi_adaptive_start(w, limit);
  }
  w->ops = saltusi_adaptive_ops_of(w->memory->method);
  w->memory->method_used = w->memory->method;
  double length = 0.0;
  for (int k = 0; status == SALTUS_OK && length == 0.0; k++) {
    if (k == IDLE_MAX) {
      saltusi_log(w->log, SALTUS_LEVEL_ERROR,
                  "adaptive: %d events in a row at t = %.17g s without progress", IDLE_MAX, w->t);
      return SALTUS_RETRY_SMALLER;
    }
    if (k > 0) {
      take_state(w, w->y_end);
    }
    memcpy(w->impacts_start, w->impacts, (size_t)w->nl * sizeof(double));
    status = refresh(w);
    saltusi_prefer_implicit(w);
    bool jumped = false;
    if (status == SALTUS_OK && w->memory->zeno >= 0.0) {
      status = saltusi_adaptive_jump(w, limit, &jumped, &length);
    }
    if (status == SALTUS_OK && jumped) {
      status = end_of_jump(w, length);
    } else if (status == SALTUS_OK) {
      status = advance(w, limit, &length);
    }
  }
  if (status == SALTUS_OK) {
    note_speed(w, w->y_end);
    memcpy(q1, w->y_end, (size_t)w->nq * sizeof(double));
    memcpy(v1, w->y_end + w->nq, (size_t)w->nv * sizeof(double));
    w->step_h = w->h;
    w->step_length = length;
  }
  return status;
}
