/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_capturing.c - the loop over the events of a step; see event_capturing.h.
 */
#include "scheme/event/event_capturing.h"
#include "scheme/jump.h"

#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Events in a row that lie closer together than `near` widths before the Moreau step starts to
 * double (methods, pitfall 6): accumulations end by that. Sub-intervals of a step for each contact before
 * the step is given up: flights that do not shrink, of which a shorter step has fewer. */
static const double near = 10.0;
enum { STALL_MAX = 12, INTERVALS_MAX = 2000 };

static void view_layout(saltusi_contact_view* view, int nc, saltus_arena* arena) {
  view->gap = SALTUS_PUSH(arena, double, nc);
  view->u = SALTUS_PUSH(arena, double, nc);
}

void saltusi_capture_layout(saltusi_capture* w, const saltusi_tableau* method,
                            const saltusi_eval* eval, saltus_arena* arena) {
  assert(w != NULL && method != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  saltusi_rk_layout(&w->rk, method, eval, arena);
  saltusi_moreau_layout(&w->moreau, SALTUS_WARM_START_NO, eval, arena);
  saltusi_acceleration_layout(&w->pressing, eval, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  saltusi_operator_layout(&w->op, eval, &(saltusi_demand){.held = true}, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->joint_gap = SALTUS_PUSH(arena, double, d->nj);
  double** positions[] = {&w->q, &w->q_end, &w->q_try, &w->q_before};
  double** velocities[] = {&w->v, &w->v_end, &w->v_try, &w->a};
  for (int i = 0; i < 4; i++) {
    *positions[i] = SALTUS_PUSH(arena, double, d->nq);
  }
  for (int i = 0; i < 4; i++) {
    *velocities[i] = SALTUS_PUSH(arena, double, d->nv);
  }
  view_layout(&w->start, d->nc, arena);
  view_layout(&w->here, d->nc, arena);
  view_layout(&w->end, d->nc, arena);
  view_layout(&w->probe, d->nc, arena);
  w->closed = SALTUS_PUSH(arena, bool, d->nc);
  w->keys = SALTUS_PUSH(arena, int, d->nc);
  w->others = SALTUS_PUSH(arena, int, d->nc);
  w->laws = SALTUS_PUSH(arena, int, d->nc);
  w->events = SALTUS_PUSH(arena, saltusi_event, d->nc);
  w->took_part = SALTUS_PUSH(arena, bool, d->nc);
  w->inner = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  w->inner_joints = SALTUS_PUSH(arena, double, d->nj);
  w->whole = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  w->reported = SALTUS_PUSH(arena, bool, d->nc);
  w->doublings = SALTUS_PUSH(arena, int, d->nc);
  w->was_closed = SALTUS_PUSH(arena, bool, d->nc);
  w->series = SALTUS_PUSH(arena, saltusi_impact_series, d->nc);
  w->dense_room = SALTUS_PUSH(arena, double, (int)saltusi_pieces_room(sys));
}

/* Takes a Runge-Kutta step that has just been computed: state, impulses, error. */
static void accept(saltusi_capture* w, const saltusi_step* s, double x, const double* q,
                   const double* v) {
  const saltus_dims* d = &s->eval->sys.dims;
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] += saltusi_rk_impulse(&w->rk, d, j, x);
  }
  for (int i = 0; i < w->count; i++) {
    saltusi_capture_reported(w, w->keys[i])->impulse[0] +=
        saltusi_rk_impulse(&w->rk, d, d->nj + i, x);
  }
  if (w->rk.method->embedded_order > 0) {
    saltusi_rk_add_error(&w->rk, d, x, s->q_error, s->v_error);
  }
  const saltusi_piece piece = {
      .t = w->t, .h = x, .q0 = w->q, .v0 = w->v, .q1 = q, .v1 = v, .held = w->closed};
  saltusi_pieces_add(&w->pieces, &piece);
  memcpy(w->q, q, (size_t)d->nq * sizeof(double));
  memcpy(w->v, v, (size_t)d->nv * sizeof(double));
}

/* Moves the start of the sub-interval; what is left below rounding is nothing. */
static void pass(saltusi_capture* w, const saltusi_step* s, double x) {
  w->left -= x;
  w->t = s->t + (s->h - w->left);
  if (w->left <= 4.0 * DBL_EPSILON * s->h) {
    w->left = 0.0;
    w->t = s->t + s->h;
  }
}

static saltus_status flow_to(saltusi_capture* w, const saltusi_step* s, double x) {
  if (x <= 0.0) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_OK;
  if (x != w->tried) {
    status = saltusi_capture_flow(w, s->eval, x, w->q_try, w->v_try);
  }
  if (status == SALTUS_OK) {
    accept(w, s, x, w->q_try, w->v_try);
    pass(w, s, x);
  }
  return status;
}

/* Into the report of the step. */
static void report_event(const saltusi_step* s, const saltusi_capture_note* note) {
  static const saltus_event_kind kinds[] = {
      [SALTUSI_NOTE_IMPACT] = SALTUS_EVENT_IMPACT,
      [SALTUSI_NOTE_CLOSE] = SALTUS_EVENT_CLOSE,
      [SALTUSI_NOTE_OPEN] = SALTUS_EVENT_OPEN,
      [SALTUSI_NOTE_TOUCH] = SALTUS_EVENT_TOUCH,
  };
  saltus_event event = {.kind = kinds[note->kind],
                        .t = note->t,
                        .t_accuracy = note->accuracy,
                        .contact = note->key,
                        .u_before = note->u_before,
                        .u_after = note->u_after,
                        .impulse = {note->impulse}};
  event.energy_change = saltus_event_work(&event);
  saltusi_step_event(s, &event);
}

void saltusi_capture_report(const saltusi_capture* w, saltusi_capture_note* note) {
  assert(w != NULL && note != NULL);
  note->t = w->t;
  note->accuracy = w->width;
  report_event(w->target, note);
  if (w->observe != NULL) {
    w->observe(w->observer, note);
  }
}

static bool has_root(const saltusi_capture* w, int key) {
  for (int i = 0; i < w->event_count; i++) {
    if (w->events[i].key == key && w->events[i].kind == SALTUSI_EVENT_HIT) {
      return true;
    }
  }
  return false;
}

static void count_impact(saltusi_impact_series* series, double t) {
  series->flight[1] = series->flight[0];
  series->flight[0] = t - series->last;
  series->last = t;
  series->impacts += 1.0;
}

/* What the Moreau step did, into the report of the whole step. */
static void report_inner(saltusi_capture* w, const saltusi_step* s,
                         const saltus_step_report* inner) {
  for (int j = 0; j < s->eval->sys.dims.nj; j++) {
    s->joint_impulses[j] += w->inner_joints[j];
  }
  for (int i = 0; i < inner->active; i++) {
    const saltus_contact_step* part = &w->inner[i];
    saltus_contact_step* contact = saltusi_capture_reported(w, part->key);
    bool stops = part->impulse[0] > 0.0 && part->u_before < -w->velocity_rounding;
    if (stops && (!contact->impact || part->u_before < contact->u_before)) {
      contact->u_before = part->u_before; /* the fastest approach of the step */
    }
    contact->impact = contact->impact || stops;
    if (stops) {
      count_impact(&w->series[part->key], w->t);
      saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_IMPACT,
                                                        .key = part->key,
                                                        .u_before = part->u_before,
                                                        .u_after = part->u_after,
                                                        .impulse = part->impulse[0]});
    } else if (part->u_before >= -w->velocity_rounding && !w->closed[part->key] &&
               has_root(w, part->key)) {
      saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_TOUCH,
                                                        .key = part->key,
                                                        .u_before = part->u_before,
                                                        .u_after = part->u_after});
    }
    contact->impulse[0] += part->impulse[0];
    w->took_part[part->key] = true;
  }
  s->report->newton_iterations += inner->newton_iterations;
  s->report->residual_velocity = fmax(s->report->residual_velocity, inner->residual_velocity);
  s->report->residual_impulse = fmax(s->report->residual_impulse, inner->residual_impulse);
}

/* The contacts in moreau.forced strike by their laws: from w->v to the velocities of the jump. */
static saltus_status strike_by_law(saltusi_capture* w, const saltusi_step* s) {
  const saltus_dims* dims = &s->eval->sys.dims;
  saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  int count = 0;
  for (int key = 0; key < dims->nc; key++) {
    if (w->moreau.forced[key]) {
      w->others[count++] = key;
    }
  }
  memcpy(s->jump->v, w->v, (size_t)dims->nv * sizeof(double));
  return saltusi_jump_strike(s->jump, s->eval, &at, w->others, count, s->jump->v);
}

/* What it did, into the report of the whole step. */
static void report_law(saltusi_capture* w, const saltusi_step* s) {
  for (int i = 0; i < s->jump->count; i++) {
    const saltusi_jumped* struck = &s->jump->struck[i];
    w->took_part[struck->key] = true;
    if (!(struck->P[0] > 0.0)) {
      continue;
    }
    saltus_contact_step* contact = saltusi_capture_reported(w, struck->key);
    if (!contact->impact || struck->before[0] < contact->u_before) {
      contact->u_before = struck->before[0];
    }
    contact->impact = true;
    contact->impulse[0] += struck->P[0];
    count_impact(&w->series[struck->key], w->t);
    saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_IMPACT,
                                                      .key = struck->key,
                                                      .u_before = struck->before[0],
                                                      .u_after = struck->after[0],
                                                      .impulse = struck->P[0]});
  }
}

/* A Moreau step of length d with the impact law on the contacts of took_part and on those that touch
 * without force, like the balls of Newton's cradle. With d = 0 it is the impact law at an instant. */
static saltus_status strike(saltusi_capture* w, const saltusi_step* s, double d) {
  const saltus_dims* dims = &s->eval->sys.dims;
  const saltus_moreau_jean_options options = {.theta = 0.5,
                                              .gamma = 0.0,
                                              .jump = SALTUS_JUMP_MIDPOINT,
                                              .joints = SALTUS_JOINTS_END,
                                              .newton_tol = 1e-14,
                                              .newton_max = 50};
  saltus_status status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->here);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < dims->nc; key++) { /* an impact passes through whatever touches */
    w->moreau.forced[key] = w->took_part[key] || w->here.gap[key] <= w->gap_rounding;
  }
  if (s->jump != NULL) {
    status = strike_by_law(w, s);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  saltus_step_report report = {0};
  const saltusi_step inner = {.eval = s->eval,
                              .t = w->t,
                              .h = d,
                              .q0 = w->q,
                              .v0 = s->jump != NULL ? s->jump->v : w->v,
                              .q1 = w->q_try,
                              .v1 = w->v_try,
                              .contacts = w->inner,
                              .joint_impulses = w->inner_joints,
                              .report = &report,
                              .log = s->log};
  status = w->moreau.take(&w->moreau, &options, &inner);
  if (status == SALTUS_OK) {
    const saltusi_piece piece = {
        .t = w->t, .h = d, .jump = true, .q0 = w->q, .v0 = w->v, .q1 = w->q_try, .v1 = w->v_try};
    saltusi_pieces_add(&w->pieces, &piece);
    memcpy(w->q, w->q_try, (size_t)dims->nq * sizeof(double));
    memcpy(w->v, w->v_try, (size_t)dims->nv * sizeof(double));
    pass(w, s, d);
    report_inner(w, s, &report);
    if (s->jump != NULL) {
      report_law(w, s);
    }
  }
  return status;
}

/* The contacts that take part in what happens first. */
static void choose_parts(saltusi_capture* w, int nc, bool touch, double until) {
  memcpy(w->took_part, w->closed, (size_t)nc * sizeof(bool));
  for (int i = 0; i < w->event_count; i++) {
    const saltusi_event* event = &w->events[i];
    bool joins = touch ? event->kind == SALTUSI_EVENT_TOUCH
                       : event->kind != SALTUSI_EVENT_OPEN && event->a <= until;
    if (joins) {
      w->took_part[event->key] = true;
    }
  }
}

static void open_contact(saltusi_capture* w, int key) {
  saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_OPEN, .key = key});
  w->closed[key] = false;
  int count = 0;
  for (int i = 0; i < w->count; i++) {
    if (w->keys[i] != key) {
      w->keys[count++] = w->keys[i];
    }
  }
  w->count = count;
}

/* Acts on the earliest event. */
static saltus_status act(saltusi_capture* w, const saltus_event_capturing_options* o,
                         const saltusi_step* s) {
  int nc = s->eval->sys.dims.nc;
  const saltusi_event first = w->events[0];
  w->stall = first.b <= near * w->width ? w->stall + 1 : 0;
  bool stalled = w->stall > STALL_MAX;
  if (stalled && w->stops) {
    return saltusi_capture_stop(w, s, first.key);
  }
  if (first.kind == SALTUSI_EVENT_OPEN && !stalled) {
    saltus_status status = flow_to(w, s, first.b);
    if (status == SALTUS_OK && o->projection != 0) {
      status = saltusi_capture_project(w, s);
    }
    if (status == SALTUS_OK) {
      open_contact(w, first.key);
    }
    return status;
  }
  if (first.kind == SALTUSI_EVENT_TOUCH && !stalled) {
    choose_parts(w, nc, true, 0.0);
    return saltusi_capture_close(w, s, 0.0, true);
  }
  double rest = w->left - first.a;
  double length = fmax(first.b - first.a, fmin(w->width, rest));
  if (stalled) {
    int* doublings = &w->doublings[first.key]; /* goes on where the last row of such events ended */
    *doublings = *doublings + 1 > w->stall - STALL_MAX ? *doublings + 1 : w->stall - STALL_MAX;
    length = fmin(rest, ldexp(w->width, *doublings));
  }
  choose_parts(w, nc, false, first.a + length);
  saltus_status status = flow_to(w, s, first.a);
  if (status == SALTUS_OK && w->left > 0.0) {
    status = strike(w, s, w->exact && !stalled ? 0.0 : fmin(length, w->left));
  }
  return status == SALTUS_OK ? saltusi_capture_close(w, s, length, false) : status;
}

saltus_status saltusi_capture_stop(const saltusi_capture* w, const saltusi_step* s, int key) {
  assert(w != NULL && s != NULL && key >= 0);
  const saltusi_impact_series* series = &w->series[key];
  const char* name = s->eval->sys.laws[w->laws[key]].name;
  double ratio = series->flight[0] / series->flight[1];
  bool known = series->impacts > 2.0 && ratio > 0.0 && ratio < 1.0;
  double rest = known ? series->flight[0] * ratio / (1.0 - ratio) : NAN;
  saltusi_log(
      s->log, SALTUS_LEVEL_ERROR,
      "scheme event-driven: impacts of contact %d \"%s\" accumulate: %.0f so far, the last "
      "at t = %.15g s, after a flight of %.2g s that was %.6g times the one before; they end "
      "at t = %.15g s (uncertain by %.1g s). Option at_accumulation=capture goes on through it",
      key, name != NULL ? name : "", series->impacts, series->last, series->flight[0], ratio,
      series->last + rest, rest + w->width);
  return SALTUS_ERR_ACCUMULATION;
}

static saltus_status look_ahead(saltusi_capture* w, const saltusi_step* s, double span) {
  w->span = span;
  w->tried = NAN;
  saltus_status status = saltusi_capture_flow(w, s->eval, span, w->q_end, w->v_end);
  if (status == SALTUS_OK) {
    status = saltusi_capture_look(w, s->eval, w->t + span, w->q_end, w->v_end, &w->end);
  }
  return status == SALTUS_OK ? saltusi_capture_find(w, s->eval) : status;
}

/* Some gap is below the floor, and lower than it started, where the first event is found. */
static bool dips(const saltusi_capture* w, int nc) {
  for (int key = 0; key < nc; key++) {
    double lowest = fmin(w->here.gap[key], 0.0) - 4.0 * w->gap_rounding;
    if (!w->closed[key] && w->probe.gap[key] < lowest) {
      return true;
    }
  }
  return false;
}

/* Events are seen at the ends of the interval that is searched; a contact that bounces back before
 * the end shows only where another event happens. Then the interval is searched up to there. */
static saltus_status find_first(saltusi_capture* w, const saltusi_step* s) {
  enum { SEARCHES_MAX = 8 };
  saltus_status status = look_ahead(w, s, w->left);
  for (int k = 0; status == SALTUS_OK && k < SEARCHES_MAX && w->event_count > 0; k++) {
    const saltusi_event* first = &w->events[0];
    double x = first->kind == SALTUSI_EVENT_OPEN ? first->b : first->a;
    if (x <= 0.0) {
      return SALTUS_OK;
    }
    status = saltusi_capture_flow(w, s->eval, x, w->q_try, w->v_try);
    if (status == SALTUS_OK) {
      status = saltusi_capture_look(w, s->eval, w->t + x, w->q_try, w->v_try, &w->probe);
    }
    w->tried = x;
    if (status != SALTUS_OK || !dips(w, s->eval->sys.dims.nc)) {
      return status;
    }
    status = look_ahead(w, s, x);
    if (status == SALTUS_OK && w->event_count == 0) { /* what dips is no event */
      return look_ahead(w, s, w->left);
    }
  }
  return status;
}

/* No event: the end of the sub-interval is the end of the step. A search for a hidden event may have
 * overwritten the stages, which hold the impulses. */
static saltus_status use_up(saltusi_capture* w, const saltusi_step* s) {
  saltus_status status = SALTUS_OK;
  if (w->probed) {
    status = saltusi_capture_flow(w, s->eval, w->left, w->q_end, w->v_end);
  }
  if (status == SALTUS_OK) {
    accept(w, s, w->left, w->q_end, w->v_end);
    pass(w, s, w->left);
  }
  return status;
}

static void start_step(saltusi_capture* w, const saltus_event_capturing_options* o,
                       const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  double floor = o->floor > 0.0 ? o->floor : 64.0 * DBL_EPSILON * (fabs(s->t) + s->h);
  w->width = fmin(fmax(o->bracket * pow(s->h, w->rk.method->order + 1), floor), s->h);
  w->t = s->t;
  w->left = s->h;
  w->stall = 0;
  memcpy(w->q, s->q0, (size_t)d->nq * sizeof(double));
  memcpy(w->v, s->v0, (size_t)d->nv * sizeof(double));
  memset(s->joint_impulses, 0, (size_t)d->nj * sizeof(double));
  memset(s->q_error, 0, (size_t)d->nq * sizeof(double));
  memset(s->v_error, 0, (size_t)d->nv * sizeof(double));
  w->pieces = saltusi_pieces_over(s->dense, d);
  saltusi_pieces_clear(&w->pieces);
  w->count = 0;
  for (int key = 0; key < d->nc; key++) {
    w->reported[key] = false;
    w->doublings[key] = 0;
    w->closed[key] = s->memory0[key] != 0.0;
    if (w->closed[key]) {
      w->keys[w->count++] = key;
    }
  }
}

/* State, memory and contacts out. Corrections of a velocity may make the sum of impulses of a contact
 * negative by less than the method resolves; such a sum is nothing. */
static void finish_step(saltusi_capture* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  memcpy(s->q1, w->q, (size_t)d->nq * sizeof(double));
  memcpy(s->v1, w->v, (size_t)d->nv * sizeof(double));
  saltusi_pieces_end(&w->pieces, w->q, w->v);
  for (int key = 0; key < d->nc; key++) {
    s->memory1[key] = w->closed[key] ? 1.0 : 0.0;
    if (!w->reported[key]) {
      continue;
    }
    saltus_contact_step* contact = &s->contacts[s->report->active++];
    *contact = w->whole[key];
    contact->gap = w->start.gap[key];
    contact->u_before = contact->impact ? contact->u_before : w->start.u[key];
    contact->u_after = w->end.u[key];
    contact->impulse[0] = fmax(contact->impulse[0], 0.0);
  }
}

/* More events than a step should have: what is reported is the contact of the next one. */
static saltus_status give_up(const saltusi_capture* w, const saltusi_step* s, long long intervals) {
  s->eval->bound = (saltusi_bound){.what = "sub-intervals between events",
                                   .count = intervals,
                                   .key = w->events[0].key,
                                   .t = w->t};
  return SALTUS_RETRY_SMALLER;
}

saltus_status saltusi_capture_step(saltusi_capture* w, const saltus_event_capturing_options* o,
                                   const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  w->target = s;
  start_step(w, o, s);
  saltus_status status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->start);
  long long most = (long long)INTERVALS_MAX * (s->eval->sys.dims.nc > 0 ? s->eval->sys.dims.nc : 1);
  for (long long k = 0; w->left > 0.0 && status == SALTUS_OK; k++) {
    saltusi_rk_restart(&w->rk);
    status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->here);
    if (status == SALTUS_OK) {
      status = find_first(w, s);
    }
    if (status != SALTUS_OK) {
      break;
    }
    if (w->event_count > 0) {
      status = k < most ? act(w, o, s) : give_up(w, s, k);
    } else {
      status = use_up(w, s);
    }
    if (status == SALTUS_OK && o->projection != 0) {
      status = saltusi_capture_project(w, s);
    }
  }
  if (status == SALTUS_OK) {
    status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->end);
  }
  if (status == SALTUS_OK) {
    finish_step(w, s);
  }
  return status;
}

/* Who answers for accelerations inside a step. */
typedef struct dense_source {
  saltusi_capture* w;
  saltusi_eval* eval;
} dense_source;

static saltus_status dense_acceleration(void* user, double t, const double* q, const double* v,
                                        const int* keys, int count, double* a) {
  dense_source* from = user;
  saltus_point at = saltusi_at(from->eval, t, q, v);
  return saltusi_rk_acceleration(&from->w->rk, from->eval, &at, keys, count, a);
}

saltus_status saltusi_capture_dense(saltusi_capture* w, const saltusi_dense_query* query) {
  assert(w != NULL && query != NULL);
  dense_source from = {.w = w, .eval = query->eval};
  const saltusi_dense_system system = {.acceleration = dense_acceleration,
                                       .user = &from,
                                       .keys = w->others,
                                       .sys = &query->eval->sys,
                                       .room = w->dense_room};
  const saltusi_pieces pieces = saltusi_pieces_over(query->data, &query->eval->sys.dims);
  return saltusi_pieces_at(&pieces, &system, query->t, query->side, query->q, query->v);
}
