/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * zeno.c - over an accumulation of impacts in one step (section 5b).
 *
 * A contact that has just bounced with U and normal acceleration gamma < 0 comes to rest after infinitely
 * many impacts at t + tau, tau = 2 U / (|gamma| (1 - e_N)). The motion is that of the closed contact,
 * started from v - x U, plus the analytic series of bounces along x = P G / (G^T P G). For constant
 * gamma this is exact where forces do not feel the bounces; its error is estimated from the variation of
 * gamma and of x, and from what forces feel.
 */
#include "adaptive/hunt.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

/* Impacts of a series are reported while they change v by this part of its tolerance; a series with more of
 * them than this is resolved impact by impact first. */
static const double reported_part = 0.1;
enum { SERIES_MAX = 2000 };

/* x: the direction in which a bounce of `key` moves v, with the other closed contacts kept closed.
 * The contact itself is marked as sliding or frictionless for this. */
static saltus_status bounce_direction(saltusi_adaptive* w, double t, const double* y, int key,
                                      double* x) {
  saltus_status status = saltusi_mode_rate(w, t, y, w->probe_rate); /* makes rows and operator */
  if (status != SALTUS_OK) {
    return status;
  }
  int row = w->nj + w->base[key];
  for (int i = 0; i < w->held; i++) {
    w->right[i] = w->held_row[i] == row ? 1.0 : 0.0;
  }
  status = saltusi_mode_solve(w, w->held);
  memset(x, 0, (size_t)w->nv * sizeof(double));
  for (int i = 0; i < w->held && status == SALTUS_OK; i++) {
    saltusi_add_scaled(w->nv, w->right[i], w->column + (size_t)i * (size_t)w->nv, x);
  }
  if (status == SALTUS_OK) {
    saltusi_mode_forces(w);
  }
  return status;
}

/* gamma of the contact when v is moved by s x. */
static saltus_status shifted_gamma(saltusi_adaptive* w, int key, const double* x, double s,
                                   double* gamma) {
  memcpy(w->y_mid, w->y0, (size_t)w->ny * sizeof(double));
  saltusi_add_scaled(w->nv, s, x, w->y_mid + w->nq);
  return saltusi_mode_gamma(w, w->t, w->y_mid, key, gamma);
}

static bool is_candidate(const saltusi_adaptive* w, int key) {
  double e_N = w->law[key]->e_N;
  if (saltusi_mode_closed(w, key) || !(e_N > 0.0 && e_N < 1.0) || w->tangents[key] == 2) {
    return false;
  }
  for (int b = 0; b < w->nc; b++) {
    saltusi_contact_mode mode = saltusi_mode_of(w, b);
    bool flies = b != key && mode == SALTUSI_OPEN && w->contact[b].touching != 0.0;
    bool sticks = mode >= SALTUSI_STICK && w->mu[b] > 0.0;
    if (flies || sticks) {
      return false;
    }
  }
  return true;
}

/* After a failure it is tried again only when the rebound is as small as the estimate asks for. */
static bool is_worth_trying(saltusi_contact_memory* c, double u) {
  if (c->zeno_speed > 0.0) {
    if (u > c->zeno_speed) {
      c->zeno_speed = 0.0; /* another sequence */
    } else if (u > c->zeno_limit) {
      c->zeno_speed = u;
      return false;
    }
  }
  return true;
}

/* Whether other contacts stay clear of what the bounces do to them, all along. */
static saltus_status others_stay(saltusi_adaptive* w, int key, double height, double u,
                                 bool* stay) {
  *stay = true;
  saltusi_mode_rows(w, w->t, w->y0, true);
  for (int b = 0; b < w->nc; b++) { /* before hunts use the rows */
    int row = w->nj + w->base[b];
    w->stay_gap[b] = 1.5 * fabs(saltusi_row_dot(&w->row, row, w->x_start)) * height;
    bool has_friction = w->mu[b] > 0.0 && w->tangents[b] == 1;
    w->stay_slip[b] =
        has_friction ? 1.5 * fabs(saltusi_row_dot(&w->row, row + 1, w->x_start)) * u : 0.0;
  }
  for (int b = 0; b < w->nc && *stay; b++) {
    saltusi_hunt s = {.w = w, .key = b, .what = SALTUSI_HUNT_GAP, .shift = -w->stay_gap[b]};
    bool open = !saltusi_mode_closed(w, b) && !isinf(w->gap_start[b]);
    bool slips = saltusi_mode_of(w, b) == SALTUSI_SLIP && w->mu[b] > 0.0 && w->tangents[b] == 1;
    if (b == key ? !slips : !open && !slips) {
      continue;
    }
    if (slips) {
      s.what = SALTUSI_HUNT_SLIP;
      s.sign = w->contact[b].sense;
      s.shift = -w->stay_slip[b];
    }
    *stay = isnan(saltusi_hunt_root(&s, 1.0));
    if (s.status == SALTUS_RETRY_SMALLER) {
      *stay = false;
    } else if (s.status != SALTUS_OK) {
      return s.status;
    }
  }
  return SALTUS_OK;
}

/* What a try knows. */
typedef struct bounce {
  int key;
  double u, e_N;
  double gamma_up, gamma_closed, gamma_down; /* with v, v - x U, v - 2 x U */
  double tau;
} bounce;

/* y' of the closed contact at its start, but higher by `height` and faster by `speed` along x. */
static saltus_status rate_beside(saltusi_adaptive* w, double height, double speed, double* rate) {
  memcpy(w->y_mid, w->y0, (size_t)w->ny * sizeof(double));
  if (height != 0.0) {
    saltusi_advance(w->sys, w->y0, w->x_start, height, w->y_mid);
  }
  saltusi_add_scaled(w->nv, speed, w->x_start, w->y_mid + w->nq);
  return saltusi_mode_rate(w, w->t, w->y_mid, rate);
}

/* What forces feel of the bounces, in tolerances, and how the force of the contact varies with its
 * height. Over a flight height has the mean 2/3 of the apex, speed the mean 0 and the mean square U^2/3;
 * over the series both shrink as e^2 in times that shrink as e, which leaves (1 - e) / (1 - e^3).
 * The part that is odd in the speed comes and goes with the height. */
static saltus_status what_forces_feel(saltusi_adaptive* w, const bounce* b, double height,
                                      double* error, double* variation) {
  double e = b->e_N;
  double weight = b->tau * (1.0 - e) / (1.0 - e * e * e);
  int force = w->nq + w->nv + w->base[b->key];
  double* felt = w->y_try;
  saltus_status status = rate_beside(w, height, 0.0, w->rate_mid);
  *variation = fabs(w->rate_mid[force] - w->rate0[force]) / w->rate0[force];
  for (int i = w->nq; i < w->nq + w->nv; i++) {
    felt[i] = weight * 2.0 / 3.0 * fabs(w->rate_mid[i] - w->rate0[i]);
  }
  if (status == SALTUS_OK) {
    status = rate_beside(w, 0.0, b->u, w->rate_mid);
  }
  if (status == SALTUS_OK) {
    status = rate_beside(w, 0.0, -b->u, w->probe_rate);
  }
  *error = 0.0;
  for (int i = 0; i < w->nv; i++) {
    int k = w->nq + i;
    double even = 0.5 * (w->rate_mid[k] + w->probe_rate[k]) - w->rate0[k];
    double odd = 0.5 * (w->rate_mid[k] - w->probe_rate[k]);
    felt[k] += weight / 3.0 * fabs(even) + height / b->u * fabs(odd);
    double scale = w->atol_v[i] + w->settings.rtol * fabs(w->y1[k]);
    *error = fmax(*error, felt[k] / scale);
  }
  double in_q;
  double in_v;
  saltusi_adaptive_measure(w, w->y1, felt + w->nq, b->tau, 0.0, &in_q, &in_v);
  *error = fmax(*error, in_q);
  return status;
}

/* Error of the jump in tolerances. */
static saltus_status estimate(saltusi_adaptive* w, const bounce* b, double* error) {
  double gamma_end = 0.0;
  saltusi_contact_mode mode = saltusi_mode_of(w, b->key);
  saltus_status status = bounce_direction(w, w->t + b->tau, w->y1, b->key, w->x_end);
  w->contact[b->key].mode = SALTUSI_OPEN;
  if (status == SALTUS_OK) {
    status = saltusi_mode_gamma(w, w->t + b->tau, w->y1, b->key, &gamma_end);
  }
  w->contact[b->key].mode = mode;
  double change =
      fmax(fabs(gamma_end - b->gamma_closed),
           fmax(fabs(b->gamma_up - b->gamma_closed), fabs(b->gamma_down - b->gamma_closed)));
  double turn = 0.0;
  for (int i = 0; i < w->nv; i++) {
    turn = fmax(turn, fabs(w->x_end[i] - w->x_start[i]));
  }
  double variation = change / fabs(b->gamma_closed) + turn / saltusi_max_abs(w->nv, w->x_start);
  double height = b->u * b->u / (-2.0 * b->gamma_closed);
  double in_q;
  double in_v;
  double felt;
  double with_height;
  if (status == SALTUS_OK) {
    status = what_forces_feel(w, b, height, &felt, &with_height);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_adaptive_measure(w, w->y1, w->x_start, height, b->u, &in_q, &in_v);
  *error = (variation + with_height) / (1.0 - b->e_N) * fmax(4.0 * in_q, in_v) + felt;
  return status;
}

/* Slip and friction of an impact of the series: slip of the closed motion there, and what the bounce does
 * to it. */
static void report_friction(saltusi_adaptive* w, const bounce* b, saltus_event* reported) {
  w->ops->dense(&w->motion, fmin((reported->t - w->t) / b->tau, 1.0), 0, w->nq + w->nv, w->probe);
  double slip = saltusi_mode_velocity(w, reported->t, w->probe, b->key, 1);
  double turn = saltusi_row_dot(&w->row, w->nj + w->base[b->key] + 1, w->x_start);
  reported->slip_before[0] = slip + turn * reported->u_before;
  reported->slip_after[0] = slip + turn * reported->u_after;
  reported->impulse[1] = w->bounce[w->base[b->key] + 1] * (reported->u_after - reported->u_before);
  reported->energy_change +=
      0.5 * reported->impulse[1] * (reported->slip_before[0] + reported->slip_after[0]);
}

/* Reports the impacts of the series as long as they matter, and its end. */
static void report_series(saltusi_adaptive* w, const bounce* b) {
  double end = w->t + b->tau;
  double left = b->tau;
  double u = b->u;
  double mass = w->bounce[w->base[b->key]];
  for (int k = 0; k < SERIES_MAX; k++) {
    double in_q;
    double in_v;
    left *= b->e_N;
    saltusi_adaptive_measure(w, w->y1, w->x_start, 0.0, u, &in_q, &in_v);
    if (left < 1e-15 || in_v <= reported_part) {
      break;
    }
    double after = u * b->e_N;
    saltus_event reported = {.kind = SALTUS_EVENT_IMPACT,
                             .contact = b->key,
                             .t = end - left,
                             .u_before = -u,
                             .u_after = after,
                             .impulse = {mass * (u + after)},
                             .energy_change = 0.5 * mass * (after * after - u * u)};
    if (w->mu[b->key] > 0.0) {
      report_friction(w, b, &reported);
    }
    saltusi_report(w, reported);
    u = after;
  }
  saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_ACCUMULATION, .contact = b->key, .t = end});
  saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_CLOSE, .contact = b->key, .t = end});
}

/* The data of the try: accelerations before, closed and after, and the duration. */
static saltus_status prepare(saltusi_adaptive* w, bounce* b, double limit, bool* possible) {
  saltusi_contact_memory* c = &w->contact[b->key];
  *possible = false;
  b->u = saltusi_mode_velocity(w, w->t, w->y0, b->key, 0);
  b->e_N = w->law[b->key]->e_N;
  if (!(b->u > 0.0) || !is_worth_trying(c, b->u)) {
    return SALTUS_OK;
  }
  double slip = w->mu[b->key] > 0.0 ? saltusi_mode_velocity(w, w->t, w->y0, b->key, 1) : 1.0;
  if (slip == 0.0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_gamma(w, w->t, w->y0, b->key, &b->gamma_up);
  b->tau = 2.0 * b->u / (-b->gamma_up * (1.0 - b->e_N));
  double most = w->settings.h_max > 0.0 ? w->settings.h_max : INFINITY;
  if (status != SALTUS_OK || !(b->gamma_up < 0.0) || b->tau > fmin(2.0 * w->memory->h, most) ||
      !(b->tau < limit) || saltusi_before_switch(w, b->tau) < b->tau) {
    return status;
  }
  c->mode = SALTUSI_SLIP;
  c->sense = slip > 0.0 ? 1.0 : -1.0;
  status = bounce_direction(w, w->t, w->y0, b->key, w->x_start);
  memcpy(w->bounce, w->force + w->nj, (size_t)w->nl * sizeof(double));
  c->mode = SALTUSI_OPEN;
  if (status == SALTUS_OK) {
    status = shifted_gamma(w, b->key, w->x_start, -b->u, &b->gamma_closed);
  }
  if (status == SALTUS_OK) {
    status = shifted_gamma(w, b->key, w->x_start, -2.0 * b->u, &b->gamma_down);
  }
  double in_q;
  double in_v;
  saltusi_adaptive_measure(w, w->y0, w->x_start, 0.0, b->u, &in_q, &in_v);
  bool few = log(fmax(in_v / reported_part, 1.0)) < -log(b->e_N) * (SERIES_MAX - 2);
  *possible = b->gamma_closed < 0.0 && b->gamma_down < 0.0 && few;
  return status;
}

saltus_status saltusi_adaptive_jump(saltusi_adaptive* w, double limit, bool* done, double* tau) {
  bounce b = {.key = (int)w->memory->zeno};
  *done = false;
  w->memory->zeno = -1.0;
  if (w->settings.without_jump || !is_candidate(w, b.key)) {
    return SALTUS_OK;
  }
  saltusi_contact_memory* c = &w->contact[b.key];
  bool possible = false;
  saltus_status status = prepare(w, &b, limit, &possible);
  if (status != SALTUS_OK || !possible) {
    return status;
  }
  memcpy(w->y_keep, w->y0, (size_t)w->ny * sizeof(double));
  memcpy(w->rate_keep, w->rate0, (size_t)w->ny * sizeof(double));
  c->mode = SALTUSI_SLIP;
  w->memory->jacobian_age = -1.0;
  saltusi_add_scaled(w->nv, -b.u, w->x_start, w->y0 + w->nq);
  status = saltusi_mode_rate(w, w->t, w->y0, w->rate0);
  bool presses = w->rate0[w->nq + w->nv + w->base[b.key]] > 0.0;
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(w, w->t, w->y0);
  }
  double error = INFINITY;
  if (status == SALTUS_OK && presses) {
    status = w->ops->attempt(w, b.tau, &error);
  }
  double jump_error = INFINITY;
  if (status == SALTUS_OK && error <= 1.0) {
    status = estimate(w, &b, &jump_error);
  }
  if (status == SALTUS_OK && jump_error > 1.0 && isfinite(jump_error)) {
    c->zeno_speed = b.u;
    c->zeno_limit = b.u * sqrt(0.8 / jump_error);
  }
  bool stay = jump_error <= 1.0;
  if (status == SALTUS_OK && stay) {
    status = w->ops->prepare(w);
  }
  if (status == SALTUS_OK && stay) {
    double touching = c->touching;
    c->touching = 0.0;
    status = saltusi_find_events(w);
    c->touching = touching;
    stay = w->found_count == 0;
  }
  if (status == SALTUS_OK && stay && !w->settings.without_checks) {
    saltusi_refusal refusal;
    saltusi_find_hidden(w, 1.0, &refusal); /* the jump is a step */
    stay = refusal.why == SALTUSI_NOT_REFUSED;
  }
  if (status == SALTUS_OK && stay) {
    status = others_stay(w, b.key, b.u * b.u / (-2.0 * b.gamma_closed), b.u, &stay);
  }
  if (status == SALTUS_OK && stay) {
    *done = true;
    *tau = b.tau;
    w->jump_key = b.key;
    w->jump_u = b.u;
    w->jump_e = b.e_N;
    w->jump_tau = b.tau;
    c->touching = 0.0;
    c->height = 0.0;
    /* the closed contact also took away the velocity U that the bounces start with */
    saltusi_add_scaled(w->nl, -b.u, w->bounce, w->lasting);
    w->counts.jumps++;
    report_series(w, &b);
    return SALTUS_OK;
  }
  c->mode = SALTUSI_OPEN;
  w->memory->jacobian_age = -1.0;
  memcpy(w->y0, w->y_keep, (size_t)w->ny * sizeof(double));
  memcpy(w->rate0, w->rate_keep, (size_t)w->ny * sizeof(double));
  /* what made the try impossible does not stand against an ordinary step */
  saltus_status back = saltusi_mode_impulse_scale(w, w->t, w->y0);
  return status > SALTUS_OK ? back : status != SALTUS_OK ? status : back;
}
