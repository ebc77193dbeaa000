/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_capturing.c - the loop over the events of a step; see event_capturing.h.
 */
#include "scheme/event/event_capturing.h"
#include "scheme/impact_step.h"

#include "base/log.h"
#include "base/number.h"
#include "math/matrix.h"
#include "system/names.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Consecutive events closer than `near` widths before the Moreau step doubles, which ends accumulations
 * (docs/theory/event-capturing.md, 3), and sub-intervals per contact before the step fails. */
static const double near = 10.0;
enum { STALL_MAX = 12, INTERVALS_MAX = 2000 };
/* Stages at the end of a sub-interval deviate from the motion by its third power, so they can pass a jump of the rows
 * before the motion does. The sub-interval first ends this part of the step before a jump; the remainder is shorter,
 * and the errors of its stages are smaller. */
static const double approach = 1e-2;
/* Slip below this part of the largest velocity counts as zero: residuals of friction problems. */
static const double no_slip = 1e-12;

static void view_layout(saltusi_contact_view* view, int nc, bool rough, saltus_arena* arena) {
  view->gap = SALTUS_PUSH(arena, double, nc);
  view->u = SALTUS_PUSH(arena, double, nc);
  view->slip = SALTUS_PUSH(arena, double, rough ? 2 * nc : 0);
}

static int marks_of(const saltus_system* sys) {
  return (int)saltusi_capture_carried(sys) - 1;
}

static void friction_layout(saltusi_capture* w, const saltusi_eval* eval, saltus_arena* arena) {
  int nc = eval->sys.dims.nc;
  saltusi_friction_modes_layout(&w->grips, &eval->sys, arena);
  if (saltusi_has_friction(&eval->sys)) {
    saltusi_friction_mode_decision_layout(&w->decision, eval, arena);
    w->marks = SALTUS_PUSH2(arena, double, nc, SALTUSI_GRIP_MARKS);
    w->was_slipping = SALTUS_PUSH(arena, bool, nc);
    w->ends = SALTUS_PUSH(arena, bool, nc);
  }
  w->flow = &w->rk;
  if (saltusi_slips_in_space(&eval->sys) && !w->rk.method->implicit) {
    int order = w->rk.method->order;
    const saltusi_tableau* soft = order > 3   ? &saltusi_radau_iia_5
                                  : order > 1 ? &saltusi_radau_iia_3
                                              : &saltusi_radau_iia_1;
    saltusi_rk_layout(&w->soft, soft, eval, arena);
  }
}

void saltusi_capture_transfer(const saltus_system* sys, saltusi_state_transfer* carry) {
  assert(sys != NULL && carry != NULL);
  saltusi_transfer_each(carry, 1);
  saltusi_transfer_each(carry, (size_t)marks_of(sys));
}

size_t saltusi_capture_dense_count(const void* options, const saltus_system* sys) {
  (void)options;
  assert(sys != NULL);
  return saltusi_dense_segments_doubles(&sys->dims, marks_of(sys));
}

void saltusi_capture_transfer_dense(const void* options, const saltus_system* sys,
                                    saltusi_state_transfer* carry) {
  (void)options;
  assert(sys != NULL && carry != NULL);
  saltusi_dense_segments_transfer(&sys->dims, marks_of(sys), carry);
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
  bool rough = saltusi_has_friction(sys);
  saltusi_operator_layout(&w->op, eval, &(saltusi_demand){.held = true, .friction = rough}, arena);
  friction_layout(w, eval, arena);
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
  saltusi_contact_view* views[] = {&w->start, &w->here, &w->end, &w->probe};
  for (int i = 0; i < 4; i++) {
    view_layout(views[i], d->nc, rough, arena);
  }
  w->closed = SALTUS_PUSH(arena, bool, d->nc);
  w->keys = SALTUS_PUSH(arena, int, d->nc);
  w->others = SALTUS_PUSH(arena, int, d->nc);
  w->laws = SALTUS_PUSH(arena, int, d->nc);
  w->events = SALTUS_PUSH(arena, saltusi_event, rough ? 3 * d->nc : d->nc);
  w->took_part = SALTUS_PUSH(arena, bool, d->nc);
  w->inner = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  w->inner_joints = SALTUS_PUSH(arena, double, d->nj);
  w->whole = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  w->reported = SALTUS_PUSH(arena, bool, d->nc);
  w->doublings = SALTUS_PUSH(arena, int, d->nc);
  w->was_closed = SALTUS_PUSH(arena, bool, d->nc);
  w->sampled = SALTUS_PUSH2(arena, double, 3, d->nq);
  w->halved = SALTUS_PUSH2(arena, double, 2, d->nv);
  w->lasting = SALTUS_PUSH(arena, saltusi_lasting, d->nc);
  w->response = SALTUS_PUSH(arena, double, d->nv);
  w->series = SALTUS_PUSH(arena, saltusi_impact_series, d->nc);
  w->dense_room = SALTUS_PUSH(arena, double, (int)saltusi_dense_segments_workspace(sys));
}

static void write_marks(saltusi_capture* w) {
  for (int i = 0; w->grips.of != NULL && i < w->count; i++) {
    size_t key = (size_t)w->keys[i];
    saltusi_friction_mode_write(&w->grips.of[key], w->marks + key * SALTUSI_GRIP_MARKS);
  }
}

/* Accepts a Runge-Kutta step that was just computed: state, impulses, error. */
static void accept(saltusi_capture* w, const saltusi_step* s, double x, const double* q,
                   const double* v) {
  const saltus_dims* d = &s->eval->sys.dims;
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] += saltusi_rk_impulse(w->flow, d, j, x);
  }
  int each = w->flow->each;
  for (int i = 0; i < w->count; i++) {
    saltus_contact_step* contact = saltusi_capture_reported(w, w->keys[i]);
    double P[3] = {0.0};
    for (int k = 0; k < each; k++) {
      P[k] = saltusi_rk_impulse(w->flow, d, d->nj + each * i + k, x);
      contact->impulse[k] += P[k];
    }
    saltusi_lasting_add(&w->lasting[w->keys[i]], P);
    double work[2];
    saltusi_rk_contact_work(w->flow, d, i, x, work);
    contact->slip_work += work[0];
    contact->surface_work += work[1];
  }
  s->report->joint_work += saltusi_rk_joint_work(w->flow, d, x);
  write_marks(w);
  if (w->flow->method->embedded_order > 0) {
    saltusi_rk_add_error(w->flow, d, x, s->q_error, s->v_error);
  } else if (w->rk.method->embedded_order > 0) {
    saltusi_capture_halved_error(w, s, x, q, v);
  }
  const saltusi_dense_segment piece = {.t = w->t,
                                       .h = x,
                                       .q0 = w->q,
                                       .v0 = w->v,
                                       .q1 = q,
                                       .v1 = v,
                                       .held = w->closed,
                                       .marks = w->marks};
  saltusi_dense_segments_add(&w->pieces, &piece);
  memcpy(w->q, q, (size_t)d->nq * sizeof(double));
  memcpy(w->v, v, (size_t)d->nv * sizeof(double));
}

/* Moves the start of the sub-interval; a remainder below rounding counts as zero. */
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
    w->tried = NAN;
  }
  return status;
}

/* Adds to the report of the step. */
static void report_event(const saltusi_step* s, const saltusi_capture_note* note) {
  static const saltus_event_kind kinds[] = {
      [SALTUSI_NOTE_IMPACT] = SALTUS_EVENT_IMPACT,     [SALTUSI_NOTE_CLOSE] = SALTUS_EVENT_CLOSE,
      [SALTUSI_NOTE_OPEN] = SALTUS_EVENT_OPEN,         [SALTUSI_NOTE_TOUCH] = SALTUS_EVENT_TOUCH,
      [SALTUSI_NOTE_SLIP] = SALTUS_EVENT_SLIP,         [SALTUSI_NOTE_STICK] = SALTUS_EVENT_STICK,
      [SALTUSI_NOTE_REVERSAL] = SALTUS_EVENT_REVERSAL,
  };
  saltus_event event = {.kind = kinds[note->kind],
                        .t = note->t,
                        .t_accuracy = note->accuracy,
                        .contact = note->key,
                        .u_before = note->u_before,
                        .u_after = note->u_after};
  memcpy(event.impulse, note->impulse, sizeof event.impulse);
  memcpy(event.slip_before, note->slip_before, sizeof event.slip_before);
  memcpy(event.slip_after, note->slip_after, sizeof event.slip_after);
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

/* Work of a closed contact in the impact of another one: of its friction, and on a surface that moves. */
static void add_reaction(saltusi_capture* w, const saltusi_step* s, const saltus_contact_step* part,
                         saltus_contact_step* contact) {
  const saltus_system* sys = &s->eval->sys;
  const int row = sys->dims.nj; /* not in use */
  const int rows = w->grips.of != NULL ? saltusi_friction_rows(&sys->laws[part->law]) : 1;
  const saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  saltusi_rows_contact(sys, &at, part->key, rows, &w->op.rows, row);
  contact->normal_work += 0.5 * part->impulse[0] * (part->u_before + part->u_after);
  for (int k = 0; k < rows && k < 3; k++) {
    contact->surface_work += part->impulse[k] * w->op.rows.b[row + k];
    if (k > 0) {
      contact->slip_work +=
          0.5 * part->impulse[k] * (part->slip_before[k - 1] + part->slip_after[k - 1]);
    }
  }
}

/* Adds the results of the Moreau step to the report of the whole step. */
static void report_inner(saltusi_capture* w, const saltusi_step* s,
                         const saltus_step_report* inner) {
  for (int j = 0; j < s->eval->sys.dims.nj; j++) {
    s->joint_impulses[j] += w->inner_joints[j];
    s->joint_impacts[j] += w->inner_joints[j];
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
      saltusi_capture_note note = {.kind = SALTUSI_NOTE_IMPACT,
                                   .key = part->key,
                                   .u_before = part->u_before,
                                   .u_after = part->u_after};
      memcpy(note.impulse, part->impulse, sizeof note.impulse);
      memcpy(note.slip_before, part->slip_before, sizeof note.slip_before);
      memcpy(note.slip_after, part->slip_after, sizeof note.slip_after);
      saltusi_capture_report(w, &note);
    } else if (part->u_before >= -w->velocity_rounding && !w->closed[part->key] &&
               has_root(w, part->key)) {
      saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_TOUCH,
                                                        .key = part->key,
                                                        .u_before = part->u_before,
                                                        .u_after = part->u_after});
    }
    if (!stops && part->impulse[0] != 0.0) {
      add_reaction(w, s, part, contact);
    }
    for (int k = 0; k < 3; k++) {
      contact->impulse[k] += part->impulse[k];
    }
    w->took_part[part->key] = true;
  }
  s->report->newton_iterations += inner->newton_iterations;
  s->report->residual_velocity = fmax(s->report->residual_velocity, inner->residual_velocity);
  s->report->residual_impulse = fmax(s->report->residual_impulse, inner->residual_impulse);
}

/* Applies the impact law to the contacts in moreau.forced: from w->v to the velocities after the impact. */
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
  return saltusi_impact_step_apply(s->jump, s->eval, &at, w->others, count, s->jump->v);
}

/* Adds the results of the impact law to the report of the whole step. */
static void report_law(saltusi_capture* w, const saltusi_step* s) {
  for (int j = 0; s->jump->count > 0 && j < s->eval->sys.dims.nj; j++) {
    s->joint_impulses[j] += s->jump->op.P[j];
    s->joint_impacts[j] += s->jump->op.P[j];
  }
  for (int i = 0; i < s->jump->count; i++) {
    const saltusi_impact_step_result* struck = &s->jump->struck[i];
    w->took_part[struck->key] = true;
    if (!(struck->P[0] > 0.0)) {
      continue;
    }
    saltus_contact_step* contact = saltusi_capture_reported(w, struck->key);
    if (!contact->impact || struck->before[0] < contact->u_before) {
      contact->u_before = struck->before[0];
    }
    contact->impact = true;
    saltusi_capture_note note = {.kind = SALTUSI_NOTE_IMPACT,
                                 .key = struck->key,
                                 .u_before = struck->before[0],
                                 .u_after = struck->after[0]};
    for (int k = 0; k < struck->rows; k++) {
      contact->impulse[k] += struck->P[k];
      note.impulse[k] = struck->P[k];
    }
    for (int k = 1; k < struck->rows; k++) {
      note.slip_before[k - 1] = struck->before[k];
      note.slip_after[k - 1] = struck->after[k];
    }
    count_impact(&w->series[struck->key], w->t);
    saltusi_capture_report(w, &note);
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
  for (int key = 0; key < dims->nc; key++) { /* touching contacts transmit impacts */
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
    const saltusi_dense_segment piece = {
        .t = w->t, .h = d, .jump = true, .q0 = w->q, .v0 = w->v, .q1 = w->q_try, .v1 = w->v_try};
    saltusi_dense_segments_add(&w->pieces, &piece);
    saltusi_capture_bracket_error(w, s, d);
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

/* Whether a contact closes at an event. */
static bool closes(saltusi_event_kind kind) {
  return kind == SALTUSI_EVENT_HIT || kind == SALTUSI_EVENT_TOUCH;
}

/* The contacts that take part in the earliest events. */
static void choose_parts(saltusi_capture* w, int nc, bool touch, double until) {
  memcpy(w->took_part, w->closed, (size_t)nc * sizeof(bool));
  for (int i = 0; i < w->event_count; i++) {
    const saltusi_event* event = &w->events[i];
    bool joins =
        touch ? event->kind == SALTUSI_EVENT_TOUCH : closes(event->kind) && event->a <= until;
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

/* Whether a sticking contact has a redundant tangent, which is not a row since the last decision of friction modes.
 * When one of the other contacts opens, this tangent would neither stick nor satisfy Coulomb's law. */
static bool leaves_redundant(const saltusi_capture* w) {
  for (int i = 0; w->grips.of != NULL && i < w->count; i++) {
    const saltusi_friction_mode* grip = &w->grips.of[w->keys[i]];
    for (int k = 0; k < grip->tangents; k++) {
      if (!grip->slips && !grip->held[k]) {
        return true;
      }
    }
  }
  return false;
}

/* End of the motion with the present active contacts: for impacts and ends of features the start of the bracket. */
static double last_of(const saltusi_event* event) {
  return closes(event->kind) || event->ends ? event->a : event->b;
}

/* A contact opens, or friction modes change. */
static saltus_status change_modes(saltusi_capture* w, const saltus_event_capturing_options* o,
                                  const saltusi_step* s, const saltusi_event* first) {
  if (first->ends && first->a > approach * s->h) {
    return flow_to(w, s, (1.0 - approach) * first->a);
  }
  saltus_status status = flow_to(w, s, last_of(first));
  if (status == SALTUS_OK && o->projection != 0) {
    status = saltusi_capture_project(w, s);
  }
  if (status == SALTUS_OK && first->kind == SALTUSI_EVENT_OPEN) {
    open_contact(w, first->key);
  }
  bool decide = first->kind != SALTUSI_EVENT_OPEN || leaves_redundant(w);
  if (status == SALTUS_OK && decide) {
    status = saltusi_capture_decide_friction(w, s, first);
  }
  return status == SALTUS_OK && first->ends ? flow_to(w, s, first->b - first->a) : status;
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
  if (!closes(first.kind) && !stalled) {
    return change_modes(w, o, s, &first);
  }
  if (first.kind == SALTUSI_EVENT_TOUCH && !stalled) {
    choose_parts(w, nc, true, 0.0);
    return saltusi_capture_close(w, s, 0.0, true);
  }
  double rest = w->left - first.a;
  double length = fmax(first.b - first.a, fmin(w->width, rest));
  if (stalled) {
    int* doublings = &w->doublings[first.key]; /* continues the last sequence of this kind */
    *doublings = *doublings + 1 > w->stall - STALL_MAX ? *doublings + 1 : w->stall - STALL_MAX;
    length = fmin(rest, ldexp(w->width, *doublings));
  }
  choose_parts(w, nc, false, first.a + length);
  saltus_status status = flow_to(w, s, first.a);
  if (status == SALTUS_OK && w->left > 0.0) {
    const bool instant =
        w->exact || o->forces == 0; /* else the step has the length of the bracket */
    status = strike(w, s, instant && !stalled ? 0.0 : fmin(length, w->left));
  }
  return status == SALTUS_OK ? saltusi_capture_close(w, s, length, false) : status;
}

saltus_status saltusi_capture_stop(const saltusi_capture* w, const saltusi_step* s, int key) {
  assert(w != NULL && s != NULL && key >= 0);
  const saltusi_impact_series* series = &w->series[key];
  char name[SALTUSI_CONTACT_TEXT];
  saltusi_key_label(s->eval, key, w->laws[key], name);
  if (series->impacts < 3.0) { /* no geometric series to extrapolate yet */
    saltusi_log(
        s->log, SALTUS_LEVEL_ERROR,
        "scheme event-driven: events of contact %s follow each other faster than "
        "%.1g s at t = "
        "%.15g s, after %.0f impacts. Option at_accumulation=capture continues through them",
        name, w->width, w->t, series->impacts);
    return SALTUS_ERR_ACCUMULATION;
  }
  double ratio = series->flight[0] / series->flight[1];
  bool known = ratio > 0.0 && ratio < 1.0;
  double rest = known ? series->flight[0] * ratio / (1.0 - ratio) : NAN;
  saltusi_log(
      s->log, SALTUS_LEVEL_ERROR,
      "scheme event-driven: impacts of contact %s accumulate: %.0f so far, the last "
      "at t = %.15g s, after a flight of %.2g s that was %.6g times the one before; they end "
      "at t = %.15g s (uncertain by %.1g s). Option at_accumulation=capture continues through it",
      name, series->impacts, series->last, series->flight[0], ratio, series->last + rest,
      rest + w->width);
  return SALTUS_ERR_ACCUMULATION;
}

static saltus_status look_ahead(saltusi_capture* w, const saltusi_step* s, double span) {
  enum { DIPS_MAX = 8 };
  w->tried = NAN;
  bool ends = false;
  saltus_status status =
      w->grips.of != NULL ? saltusi_capture_pace(w, s->eval, &span, &ends) : SALTUS_OK;
  w->span = span;
  if (status != SALTUS_OK || ends) {
    return status;
  }
  status = saltusi_capture_flow(w, s->eval, w->span, w->q_end, w->v_end);
  for (int k = 0; k < DIPS_MAX && status == SALTUS_OK && w->rk.method->embedded_order > 0; k++) {
    status = saltusi_capture_sample(w, s->eval, &span);
    if (status != SALTUS_OK || span == w->span) {
      break;
    }
    w->span = span;
    status = saltusi_capture_flow(w, s->eval, span, w->q_end, w->v_end);
  }
  span = w->span;
  if (status == SALTUS_OK) {
    status = saltusi_capture_look(w, s->eval, w->t + span, w->q_end, w->v_end, &w->end);
  }
  return status == SALTUS_OK ? saltusi_capture_find(w, s->eval) : status;
}

/* Whether, at the first event, some gap is below the floor and below its initial value. */
static bool dips(const saltusi_capture* w, int nc) {
  for (int key = 0; key < nc; key++) {
    double lowest = fmin(w->here.gap[key], 0.0) - 4.0 * w->gap_rounding;
    if (!w->closed[key] && w->probe.gap[key] < lowest) {
      return true;
    }
  }
  return false;
}

/* Events are detected at the ends of the search interval; a contact that rebounds before the end is detected only where
 * another event ends the interval. Then the search is repeated up to there. */
static saltus_status find_within(saltusi_capture* w, const saltusi_step* s, double span) {
  enum { SEARCHES_MAX = 8 };
  saltus_status status = look_ahead(w, s, span);
  for (int k = 0; status == SALTUS_OK && k < SEARCHES_MAX && w->event_count > 0; k++) {
    const saltusi_event* first = &w->events[0];
    double x = last_of(first);
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
    if (status == SALTUS_OK && w->event_count == 0) { /* the low gap is no event */
      return look_ahead(w, s, span);
    }
  }
  return status;
}

/* Where Newton's iteration on the stages does not converge, as after an impact that excites fast motion, a part of
 * the step is taken first: parts of a step are as accurate as the step. Where the acceleration of closed contacts
 * jumps, as between two arcs of a cam, stages may have no solution for any length; parts of the width of a bracket
 * need none. */
static saltus_status find_first(saltusi_capture* w, const saltusi_step* s) {
  saltus_status status = find_within(w, s, w->left);
  while ((status == SALTUS_RETRY_SMALLER || status == SALTUS_RETRY_NAN) && w->rk.method->implicit &&
         !saltusi_failed(s->eval) && w->span >= 4.0 * w->width) {
    status = find_within(w, s, 0.5 * w->span);
  }
  return status;
}

/* Continues without an event to the end of the sub-interval, which is the end of the step except for slip in space. A
 * search for a hidden event may have overwritten the stages, which hold the impulses. */
static saltus_status use_up(saltusi_capture* w, const saltusi_step* s) {
  saltus_status status = SALTUS_OK;
  if (w->probed) {
    status = saltusi_capture_flow(w, s->eval, w->span, w->q_end, w->v_end);
  }
  if (status == SALTUS_OK) {
    accept(w, s, w->span, w->q_end, w->v_end);
    pass(w, s, w->span);
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
  w->pieces = saltusi_dense_segments_over(s->dense, d, marks_of(&s->eval->sys));
  saltusi_dense_segments_clear(&w->pieces);
  w->count = 0;
  w->fresh = true;
  for (int key = 0; key < d->nc; key++) {
    w->reported[key] = false;
    w->lasting[key] = (saltusi_lasting){.size = 0.0};
    w->doublings[key] = 0;
    w->closed[key] = s->memory0[key] > 0.0;
    w->fresh = w->fresh && s->memory0[key] == 0.0;
    if (w->closed[key]) {
      w->keys[w->count++] = key;
    }
  }
}

bool saltusi_capture_memory_valid(const void* options, const saltus_system* sys,
                                  const double* memory) {
  (void)options;
  assert(sys != NULL && memory != NULL);
  enum { ALL_MARKS = 15 };
  bool good = true;
  for (int key = 0; good && saltusi_has_friction(sys) && key < sys->dims.nc; key++) {
    good = saltusi_is_whole(memory[sys->dims.nc + SALTUSI_GRIP_MARKS * key], 0.0, ALL_MARKS);
  }
  return good;
}

/* Friction modes of closed contacts at the end of the last step. */
static void resume_grips(saltusi_capture* w, const saltusi_step* s) {
  const double* marks = s->memory0 + s->eval->sys.dims.nc;
  for (int i = 0; w->grips.of != NULL && i < w->count; i++) {
    int key = w->keys[i];
    saltusi_friction_mode_begin(&w->grips.of[key], s->eval, w->laws[key]);
    saltusi_friction_mode_read(&w->grips.of[key], marks + SALTUSI_GRIP_MARKS * key);
  }
}

/* Writes state, memory and contacts of the step. Corrections of a velocity may make the sum of impulses of a contact
 * negative by less than the resolution of the method; such a sum counts as zero. */
static void finish_step(saltusi_capture* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  memcpy(s->q1, w->q, (size_t)d->nq * sizeof(double));
  memcpy(s->v1, w->v, (size_t)d->nv * sizeof(double));
  saltusi_dense_segments_end(&w->pieces, w->q, w->v);
  for (int key = 0; key < d->nc; key++) {
    s->memory1[key] = w->closed[key] ? 1.0 : -1.0;
    if (w->grips.of != NULL && w->closed[key]) {
      saltusi_friction_mode_write(&w->grips.of[key], s->memory1 + d->nc + SALTUSI_GRIP_MARKS * key);
    }
    if (!w->reported[key]) {
      continue;
    }
    saltus_contact_step* contact = &s->contacts[s->report->active++];
    *contact = w->whole[key];
    contact->gap = w->start.gap[key];
    contact->u_before = contact->impact ? contact->u_before : w->start.u[key];
    contact->u_after = w->end.u[key];
    for (int k = 0; w->grips.of != NULL && k < 2; k++) {
      contact->slip_before[k] = w->start.slip[2 * key + k];
      contact->slip_after[k] = w->end.slip[2 * key + k];
    }
    const bool pulls = w->grips.of != NULL && w->grips.of[key].adhesion > 0.0;
    contact->impulse[0] = pulls ? contact->impulse[0] : fmax(contact->impulse[0], 0.0);
  }
}

/* Reports the contact of the next event after the limit of events of a step. */
static saltus_status give_up(const saltusi_capture* w, const saltusi_step* s, long long intervals) {
  s->eval->bound = (saltusi_bound){.what = "sub-intervals between events",
                                   .count = intervals,
                                   .key = w->events[0].key,
                                   .t = w->t};
  return SALTUS_RETRY_SMALLER;
}

/* Checks the forces of closed contacts in the step against Coulomb's law. */
static saltus_status check_forces(saltusi_capture* w, const saltusi_step* s) {
  const saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  const saltusi_coulomb_step step = {.at = &at, .h = s->h, .contacts = w->lasting, .laws = w->laws};
  const saltusi_coulomb_work work = {.mass = &w->mass,
                                     .rows = &w->op.rows,
                                     .row = s->eval->sys.dims.nj,
                                     .a = w->a,
                                     .response = w->response};
  return saltusi_coulomb_check(s->eval, &step, &work);
}

saltus_status saltusi_capture_step(saltusi_capture* w, const saltus_event_capturing_options* o,
                                   const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  w->target = s;
  start_step(w, o, s);
  saltus_status status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->start);
  resume_grips(w, s);
  long long most = (long long)INTERVALS_MAX * (s->eval->sys.dims.nc > 0 ? s->eval->sys.dims.nc : 1);
  for (long long k = 0; w->left > 0.0 && status == SALTUS_OK; k++) {
    saltusi_rk_restart(&w->rk);
    saltusi_rk_restart(&w->soft);
    w->grips.slow = no_slip * fmax(1e-8, saltusi_max_abs(s->eval->sys.dims.nv, w->v));
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
    status = check_forces(w, s);
  }
  if (status == SALTUS_OK) {
    finish_step(w, s);
  }
  return status;
}

/* Accelerations inside a step, for dense output. */
typedef struct dense_source {
  saltusi_capture* w;
  saltusi_eval* eval;
} dense_source;

static saltus_status dense_acceleration(void* user, const saltusi_dense_segment_point* p,
                                        double* a) {
  dense_source* from = user;
  saltusi_capture* w = from->w;
  saltus_point at = saltusi_at(from->eval, p->t, p->q, p->v);
  for (int i = 0; w->grips.of != NULL && i < p->count; i++) {
    int key = p->keys[i];
    saltusi_friction_mode_begin(&w->grips.of[key], from->eval, w->laws[key]);
    saltusi_friction_mode_read(&w->grips.of[key], p->marks + SALTUSI_GRIP_MARKS * key);
  }
  const saltusi_active_rows held = saltusi_capture_active(w, p->keys, p->count);
  return saltusi_rk_acceleration(&w->rk, from->eval, &at, &held, a);
}

saltus_status saltusi_capture_dense(saltusi_capture* w, const saltusi_dense_query* query) {
  assert(w != NULL && query != NULL);
  dense_source from = {.w = w, .eval = query->eval};
  const saltusi_dense_system system = {.acceleration = dense_acceleration,
                                       .user = &from,
                                       .keys = w->others,
                                       .sys = &query->eval->sys,
                                       .room = w->dense_room};
  const saltusi_dense_segments pieces =
      saltusi_dense_segments_over(query->data, &query->eval->sys.dims, marks_of(&query->eval->sys));
  return saltusi_dense_segments_at(&pieces, &system, query->t, query->side, query->q, query->v);
}
