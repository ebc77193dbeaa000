/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * zeno.c - Zeno extrapolation: an accumulation of impacts in one step (section 5.2).
 *
 * A contact that has just bounced with U and normal acceleration gamma < 0 comes to rest after infinitely
 * many impacts at t + tau, tau = 2 U / (|gamma| (1 - e_N)). The motion is that of the closed contact,
 * started from v - x U, plus the analytic series of bounces along x = P G / (G^T P G). For constant
 * gamma this is exact if forces are independent of the bounces; its error is estimated from the variation of
 * gamma and of x, and from the dependence of forces.
 */
#include "adaptive/event/root_isolation.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Impacts of a series are reported while they change v by this fraction of its tolerance; a series with more of
 * them than this is resolved impact by impact first. */
static const double reported_part = 0.1;
enum { SERIES_MAX = 2000 };

/* gamma of the contact when v is displaced by s x. */
static saltus_status shifted_gamma(saltusi_adaptive* w, int key, const double* x, double s,
                                   double* gamma) {
  memcpy(w->step.y_mid, w->step.y0, (size_t)w->o.ny * sizeof(double));
  saltusi_add_scaled(w->o.nv, s, x, w->step.y_mid + w->o.nq);
  return saltusi_mode_gamma(&w->mode, w->step.t, w->step.y_mid, key, gamma);
}

/* Whether an accumulation may be extrapolated: no contact coupled to the bounces is in flight or sticks. */
static bool is_candidate(saltusi_adaptive* w, int key) {
  double e_N = w->o.law[key]->e_N;
  if (w->o.nc > w->o.contacts) {
    return false; /* rolling and drilling friction is not extrapolated */
  }
  /* friction not proportional to the normal force, or not with the coefficient of slip */
  bool own = w->o.law[key]->friction != NULL || w->o.law[key]->impact_mu != 0.0;
  if (saltusi_is_closed(&w->contact[key]) || !(e_N > 0.0 && e_N < 1.0) || w->o.tangents[key] >= 2 ||
      own) {
    return false;
  }
  const saltus_impacts* rule = w->sys->impacts;
  if (w->o.law[key]->impact == SALTUS_IMPACT_OWN ||
      (rule != NULL && (rule->order == SALTUS_ORDER_OWN || rule->order == SALTUS_ORDER_MOREAU))) {
    return false; /* the rebound is not e_N */
  }
  saltusi_mode_rows(&w->mode, w->step.t, w->step.y0, true);
  saltusi_find_coupled(&w->mode, key, w->jump.coupled);
  for (int b = 0; b < w->o.nc; b++) {
    saltusi_contact_mode mode = w->contact[b].mode;
    bool flies = b != key && mode == SALTUSI_OPEN && w->contact[b].touching;
    bool sticks = mode >= SALTUSI_STICK && w->o.mu[b] > 0.0;
    /* laws for several contacts do not rebound by e_N beside closed ones */
    bool bound = w->o.law[b]->friction != NULL && mode != SALTUSI_OPEN;
    bool shares = w->decision.special && b != key && mode != SALTUSI_OPEN;
    if ((flies || sticks || shares || bound) && w->jump.coupled[b]) {
      return false;
    }
  }
  return true;
}

/* After a failure it is tried again only when the rebound is as small as the estimate requires. */
static bool is_worth_trying(saltusi_contact* c, double u) {
  if (c->zeno_speed > 0.0) {
    if (u > c->zeno_speed) {
      c->zeno_speed = 0.0; /* another series */
    } else if (u > c->zeno_limit) {
      c->zeno_speed = u;
      return false;
    }
  }
  return true;
}

/* Whether other contacts stay clear of the displacement by the bounces, all along. */
static saltus_status others_stay(saltusi_adaptive* w, int key, double height, double u,
                                 bool* stay) {
  *stay = true;
  saltus_status status = saltusi_collect(w, w->jump.x_start, height);
  if (status == SALTUS_OK && w->eval->keys != NULL) {
    status = saltusi_mode_gaps(&w->mode, w->step.t, w->step.y0);
    memcpy(w->search.gap_start, w->mode.gap, (size_t)w->o.nc * sizeof(double));
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(&w->mode, w->step.t, w->step.y0, true);
  if (w->eval->keys != NULL) { /* the list may have grown */
    saltusi_find_coupled(&w->mode, key, w->jump.coupled);
  }
  /* first-order effect of the bounces on others, times 1.5 for the change of rows meanwhile */
  for (int b = 0; b < w->o.nc; b++) { /* before searches use the rows */
    int row = w->o.nj + w->o.base[b];
    w->jump.stay_gap[b] = 1.5 * fabs(saltusi_row_dot(&w->mode.row, row, w->jump.x_start)) * height;
    bool has_friction = w->o.mu[b] > 0.0 && w->o.tangents[b] == 1;
    w->jump.stay_slip[b] =
        has_friction ? 1.5 * fabs(saltusi_row_dot(&w->mode.row, row + 1, w->jump.x_start)) * u
                     : 0.0;
  }
  saltusi_advance(w->sys, w->step.y0, w->jump.x_start, 1.5 * height, w->search.probe_rate);
  for (int b = 0; w->o.featured && b < w->o.nc && status == SALTUS_OK; b++) {
    if (w->o.watch[b]) { /* it has no rows */
      w->jump.coupled[b] = true;
      status =
          saltusi_measure_monitor_change(&w->search, w->search.probe_rate, b, &w->jump.stay_gap[b]);
    }
  }
  if (status != SALTUS_OK) {
    return status;
  }
  for (int b = 0; b < w->o.nc && *stay; b++) {
    saltusi_root_isolation s = {
        .search = &w->search, .key = b, .what = SALTUSI_ISOLATE_GAP, .shift = -w->jump.stay_gap[b]};
    bool open = !saltusi_is_closed(&w->contact[b]) && !isinf(w->search.gap_start[b]);
    bool slips = w->contact[b].mode == SALTUSI_SLIP && w->o.mu[b] > 0.0 && w->o.tangents[b] == 1;
    if (!w->jump.coupled[b] || (b == key ? !slips : !open && !slips)) {
      continue; /* contacts that are not coupled have been searched for events */
    }
    if (slips) {
      s.what = SALTUSI_ISOLATE_SLIP;
      s.sign = w->contact[b].sense;
      s.shift = -w->jump.stay_slip[b];
    }
    *stay = isnan(saltusi_isolate_root(&s, 1.0));
    if (s.status == SALTUS_RETRY_SMALLER) {
      *stay = false;
    } else if (s.status != SALTUS_OK) {
      return s.status;
    }
  }
  return SALTUS_OK;
}

/* Data of an extrapolation. */
typedef struct bounce {
  int key;
  double u, e_N;
  double gamma_up, gamma_closed, gamma_down; /* with v, v - x U, v - 2 x U */
  double tau;
} bounce;

/* y' of the closed contact at its start, displaced by `height` and by the velocity `speed` along x. */
static saltus_status rate_beside(saltusi_adaptive* w, double height, double speed, double* rate) {
  memcpy(w->step.y_mid, w->step.y0, (size_t)w->o.ny * sizeof(double));
  if (height != 0.0) {
    saltusi_advance(w->sys, w->step.y0, w->jump.x_start, height, w->step.y_mid);
  }
  saltusi_add_scaled(w->o.nv, speed, w->jump.x_start, w->step.y_mid + w->o.nq);
  return saltusi_mode_rate(&w->mode, w->step.t, w->step.y_mid, rate);
}

/* Dependence of forces on the bounces, in tolerances, and of the force of the contact on its height. Over a flight
 * height has the mean 2/3 of the apex, speed the mean 0 and the mean square U^2/3; over the series both shrink as
 * e^2 in times that shrink as e, which leaves (1 - e) / (1 - e^3). The part that is odd in the speed cancels
 * between ascent and descent. */
static saltus_status what_forces_feel(saltusi_adaptive* w, const bounce* b, double height,
                                      double* error, double* variation) {
  double e = b->e_N;
  double weight = b->tau * (1.0 - e) / (1.0 - e * e * e);
  int force = w->o.nq + w->o.nv + w->o.base[b->key];
  double* felt = w->step.y_try;
  saltus_status status = rate_beside(w, height, 0.0, w->step.rate_mid);
  *variation = fabs(w->step.rate_mid[force] - w->step.rate0[force]) / w->step.rate0[force];
  for (int i = w->o.nq; i < w->o.nq + w->o.nv; i++) {
    felt[i] = weight * 2.0 / 3.0 * fabs(w->step.rate_mid[i] - w->step.rate0[i]);
  }
  if (status == SALTUS_OK) {
    status = rate_beside(w, 0.0, b->u, w->step.rate_mid);
  }
  if (status == SALTUS_OK) {
    status = rate_beside(w, 0.0, -b->u, w->search.probe_rate);
  }
  *error = 0.0;
  for (int i = 0; i < w->o.nv; i++) {
    int k = w->o.nq + i;
    double even = 0.5 * (w->step.rate_mid[k] + w->search.probe_rate[k]) - w->step.rate0[k];
    double odd = 0.5 * (w->step.rate_mid[k] - w->search.probe_rate[k]);
    felt[k] += weight / 3.0 * fabs(even) + height / b->u * fabs(odd);
    double scale = w->o.atol_v[i] + w->o.settings.rtol * fabs(w->step.y1[k]);
    *error = fmax(*error, felt[k] / scale);
  }
  double in_q;
  double in_v;
  saltusi_adaptive_measure(w, w->step.y1, felt + w->o.nq, b->tau, 0.0, &in_q, &in_v);
  *error = fmax(*error, in_q);
  return status;
}

/* Error of the extrapolation in tolerances: variation of gamma and x times the displacement by all bounces, the
 * geometric series 1 / (1 - e) of the first: u / (1 - e) in velocities, and in positions u tau, which is 4 height
 * / (1 - e) by tau = 2 u / (|gamma| (1 - e)) and height = u^2 / (2 |gamma|). */
static saltus_status estimate(saltusi_adaptive* w, const bounce* b, double* error) {
  double gamma_end = 0.0;
  saltusi_contact_mode mode = w->contact[b->key].mode;
  saltus_status status =
      saltusi_mode_bounce(&w->mode, w->step.t + b->tau, w->step.y1, b->key, w->jump.x_end, NULL);
  w->contact[b->key].mode = SALTUSI_OPEN;
  if (status == SALTUS_OK) {
    status = saltusi_mode_gamma(&w->mode, w->step.t + b->tau, w->step.y1, b->key, &gamma_end);
  }
  w->contact[b->key].mode = mode;
  double change =
      fmax(fabs(gamma_end - b->gamma_closed),
           fmax(fabs(b->gamma_up - b->gamma_closed), fabs(b->gamma_down - b->gamma_closed)));
  double turn = 0.0;
  for (int i = 0; i < w->o.nv; i++) {
    turn = fmax(turn, fabs(w->jump.x_end[i] - w->jump.x_start[i]));
  }
  double variation =
      change / fabs(b->gamma_closed) + turn / saltusi_max_abs(w->o.nv, w->jump.x_start);
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
  saltusi_adaptive_measure(w, w->step.y1, w->jump.x_start, height, b->u, &in_q, &in_v);
  *error = (variation + with_height) / (1.0 - b->e_N) * fmax(4.0 * in_q, in_v) + felt;
  return status;
}

/* Slip and friction of a contact at an impact of the series: the slip is that of the closed motion at that time plus
 * its change by the bounce. */
static void report_friction(saltusi_adaptive* w, const bounce* b, double after, int key,
                            saltus_event* reported) {
  double u = after / b->e_N;
  w->step.ops->dense(&w->step.motion, fmin((reported->t - w->step.t) / b->tau, 1.0), 0,
                     w->o.nq + w->o.nv, w->search.probe);
  double slip = saltusi_mode_velocity(&w->mode, reported->t, w->search.probe, key, 1);
  double turn = saltusi_row_dot(&w->mode.look, 1, w->jump.x_start);
  reported->slip_before[0] = slip - turn * u;
  reported->slip_after[0] = slip + turn * after;
  reported->impulse[1] = w->jump.bounce[w->o.base[key] + 1] * (after + u);
  reported->energy_change +=
      0.5 * reported->impulse[1] * (reported->slip_before[0] + reported->slip_after[0]);
}

/* Closed contacts coupled to the bounces have impulses as well. */
static void report_others(saltusi_adaptive* w, const bounce* b, double t, double after) {
  double change = after + after / b->e_N;
  for (int key = 0; key < w->o.nc; key++) {
    double P = w->jump.bounce[w->o.base[key]] * change;
    if (key == b->key || P == 0.0) {
      continue;
    }
    saltus_event reported = {.kind = SALTUS_EVENT_IMPACT, .contact = key, .t = t, .impulse = {P}};
    if (w->o.mu[key] > 0.0 && w->o.tangents[key] == 1) {
      report_friction(w, b, after, key, &reported);
    }
    saltusi_report(w, reported);
  }
}

/* Reports the impacts of the series above the limit, and its end. */
static void report_series(saltusi_adaptive* w, const bounce* b) {
  double end = w->step.t + b->tau;
  double left = b->tau;
  double u = b->u;
  double mass = w->jump.bounce[w->o.base[b->key]];
  for (int k = 0; k < SERIES_MAX; k++) {
    double in_q;
    double in_v;
    left *= b->e_N;
    saltusi_adaptive_measure(w, w->step.y1, w->jump.x_start, 0.0, u, &in_q, &in_v);
    if (!(end - left < end) || in_v <= reported_part) { /* in time it is the end */
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
    if (w->o.mu[b->key] > 0.0) {
      report_friction(w, b, after, b->key, &reported);
    }
    saltusi_report(w, reported);
    report_others(w, b, reported.t, after);
    u = after;
  }
  saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_ACCUMULATION, .contact = b->key, .t = end});
  saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_CLOSE, .contact = b->key, .t = end});
}

/* Its duration, from the acceleration at the start of the step. */
static double duration_of(saltusi_adaptive* w, bounce* b) {
  b->u = saltusi_mode_velocity(&w->mode, w->step.t, w->step.y0, b->key, 0);
  b->e_N = w->o.law[b->key]->e_N;
  b->gamma_up = saltusi_mode_gamma_of(&w->mode, w->step.t, w->step.y0, w->step.rate0, b->key);
  return 2.0 * b->u / (-b->gamma_up * (1.0 - b->e_N));
}

/* Whether an uncoupled contact closes well before the bounces end, by its present flight: the extrapolation would
 * then be rejected for it. A margin of a quarter of the duration is for changes of its flight. Requires the rows
 * of all contacts. */
static saltus_status look_for_others(saltusi_adaptive* w, const bounce* b, bool* alone) {
  const double well = 0.25;
  const double* v = saltusi_v_of(&w->o, w->step.y0);
  const saltusi_row_block* rows = &w->mode.row;
  *alone = true;
  saltus_status status = saltusi_mode_gaps(&w->mode, w->step.t, w->step.y0);
  for (int k = 0; k < w->o.nc && *alone && status == SALTUS_OK; k++) {
    int row = w->o.nj + w->o.base[k];
    double gap = w->mode.gap[k];
    if (w->jump.coupled[k] || saltusi_is_closed(&w->contact[k]) || !(gap > 0.0) || isinf(gap)) {
      continue;
    }
    double u = saltusi_row_dot(rows, row, v) + rows->b[row];
    double gamma = saltusi_row_dot(rows, row, w->step.rate0 + w->o.nq) + rows->c[row];
    double s = well * b->tau;
    *alone = gap + s * (u + 0.5 * gamma * s) > 0.0;
  }
  return status;
}

/* Whether an impact of the series would have to pull on a contact to keep it closed: that contact opens instead,
 * and has impacts of its own when it returns. */
static bool pulls_on_another(const saltusi_adaptive* w, int bouncing) {
  const double rounding = 1e-12 * fabs(w->jump.bounce[w->o.base[bouncing]]);
  for (int key = 0; key < w->o.nc; key++) {
    if (key != bouncing && w->jump.bounce[w->o.base[key]] < -rounding) {
      return true;
    }
  }
  return false;
}

/* Data of the extrapolation: accelerations before, closed and after, and the duration. */
static saltus_status prepare(saltusi_adaptive* w, bounce* b, double limit, bool* possible) {
  saltusi_contact* c = &w->contact[b->key];
  *possible = false;
  b->tau = duration_of(w, b);
  if (!(b->u > 0.0) || !is_worth_trying(c, b->u)) {
    return SALTUS_OK;
  }
  double slip = w->o.mu[b->key] > 0.0
                    ? saltusi_mode_velocity(&w->mode, w->step.t, w->step.y0, b->key, 1)
                    : 1.0;
  if (slip == 0.0) {
    return SALTUS_OK;
  }
  double most = w->o.settings.h_max > 0.0 ? w->o.settings.h_max : INFINITY;
  if (!(b->gamma_up < 0.0) || b->tau > fmin(2.0 * w->memory->h, most) || !(b->tau < limit) ||
      saltusi_before_switch(&w->search, b->tau) < b->tau) {
    return SALTUS_OK;
  }
  bool alone = true;
  saltus_status status = look_for_others(w, b, &alone);
  if (status != SALTUS_OK || !alone) {
    return status;
  }
  c->mode = SALTUSI_SLIP;
  c->sense = slip > 0.0 ? 1.0 : -1.0;
  status =
      saltusi_mode_bounce(&w->mode, w->step.t, w->step.y0, b->key, w->jump.x_start, w->jump.bounce);
  c->mode = SALTUSI_OPEN;
  if (status != SALTUS_OK || pulls_on_another(w, b->key)) {
    return status;
  }
  status = shifted_gamma(w, b->key, w->jump.x_start, -b->u, &b->gamma_closed);
  if (status == SALTUS_OK) {
    status = shifted_gamma(w, b->key, w->jump.x_start, -2.0 * b->u, &b->gamma_down);
  }
  double in_q;
  double in_v;
  saltusi_adaptive_measure(w, w->step.y0, w->jump.x_start, 0.0, b->u, &in_q, &in_v);
  bool few = log(fmax(in_v / reported_part, 1.0)) < -log(b->e_N) * (SERIES_MAX - 2);
  *possible = b->gamma_closed < 0.0 && b->gamma_down < 0.0 && few;
  return status;
}

saltus_status saltusi_adaptive_impact_step(saltusi_adaptive* w, double limit, bool* done,
                                           double* tau) {
  assert(w != NULL);
  bounce b = {.key = (int)w->memory->zeno};
  *done = false;
  w->memory->zeno = -1.0;
  if (w->o.settings.without_jump || !is_candidate(w, b.key)) {
    return SALTUS_OK;
  }
  saltusi_contact* c = &w->contact[b.key];
  bool possible = false;
  saltus_status status = prepare(w, &b, limit, &possible);
  if (status != SALTUS_OK || !possible) {
    return status;
  }
  memcpy(w->step.y_keep, w->step.y0, (size_t)w->o.ny * sizeof(double));
  memcpy(w->step.rate_keep, w->step.rate0, (size_t)w->o.ny * sizeof(double));
  c->mode = SALTUSI_SLIP;
  w->memory->jacobian_age = -1.0;
  saltusi_add_scaled(w->o.nv, -b.u, w->jump.x_start, w->step.y0 + w->o.nq);
  status = saltusi_mode_rate(&w->mode, w->step.t, w->step.y0, w->step.rate0);
  bool presses = w->step.rate0[w->o.nq + w->o.nv + w->o.base[b.key]] > 0.0;
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(&w->mode, w->step.t, w->step.y0, w->step.scale_l);
  }
  double error = INFINITY;
  if (status == SALTUS_OK && presses) {
    status = w->step.ops->attempt(w, b.tau, &error);
  }
  double jump_error = INFINITY;
  if (status == SALTUS_OK && error <= 1.0) {
    status = estimate(w, &b, &jump_error);
  }
  if (status == SALTUS_OK && jump_error > 1.0 && isfinite(jump_error)) {
    c->zeno_speed = b.u;
    c->zeno_limit =
        b.u * sqrt(0.8 / jump_error); /* it falls with u^2: to 0.8, as steps aim below 1 */
  }
  bool stay = jump_error <= 1.0;
  if (status == SALTUS_OK && stay) {
    status = w->step.ops->prepare(w);
  }
  if (status == SALTUS_OK && stay) {
    bool touching = c->touching;
    c->touching = false;
    status = saltusi_collect(w, NULL, 0.0);
    status = status == SALTUS_OK ? saltusi_find_events(&w->search) : status;
    c->touching = touching;
    stay = w->search.found_count == 0;
  }
  if (status == SALTUS_OK && stay && !w->o.settings.without_checks) {
    saltusi_refusal refusal;
    saltusi_find_unresolved_forces(&w->search, 1.0, &refusal); /* the extrapolation is a step */
    stay = refusal.why == SALTUSI_NOT_REFUSED;
  }
  if (status == SALTUS_OK && stay) {
    status = others_stay(w, b.key, b.u * b.u / (-2.0 * b.gamma_closed), b.u, &stay);
  }
  if (status == SALTUS_OK && stay) {
    *done = true;
    *tau = b.tau;
    w->jump.key = b.key;
    w->jump.u = b.u;
    w->jump.e_N = b.e_N;
    w->jump.tau = b.tau;
    c->touching = false;
    c->height = 0.0;
    /* the closed contact also took away the velocity U that the bounces start with */
    saltusi_add_scaled(w->o.nl, -b.u, w->jump.bounce, w->outcome.lasting);
    w->counts.jumps++;
    report_series(w, &b);
    return SALTUS_OK;
  }
  c->mode = SALTUSI_OPEN;
  w->memory->jacobian_age = -1.0;
  memcpy(w->step.y0, w->step.y_keep, (size_t)w->o.ny * sizeof(double));
  memcpy(w->step.rate0, w->step.rate_keep, (size_t)w->o.ny * sizeof(double));
  /* the failure of the extrapolation does not prevent an ordinary step */
  saltus_status back = saltusi_mode_impulse_scale(&w->mode, w->step.t, w->step.y0, w->step.scale_l);
  return status > SALTUS_OK ? back : status != SALTUS_OK ? status : back;
}
