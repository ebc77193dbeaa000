/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_judge.c - see adversarial_case.h: a run through the public interface, and what it is
 * compared with.
 *
 * Impacts are compared as graphs: to each that is expected belongs one of the same contact that is near
 * in time and velocity, and the other way round. One that is expected and not there is forgiven where
 * the run says that impacts accumulate or that the contact closes, at the time that is expected, or
 * where its velocity is below the error that is allowed; one too many only in the latter case.
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A run with what it reported. */
typedef struct observed {
  const adversarial_case* c;
  saltus_event* events;
  int event_count, event_room;
  double* frame_q; /* [CASE_FRAMES x n] */
  bool seen[CASE_FRAMES];
  int next;
  double energy; /* J, largest */
  double begun, limit;
  bool late;
} observed;

/* Progress is asked by computing time, which other programs do not use up. */
static double cpu_clock(void* user) {
  (void)user;
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  observed* w = user;
  if (w->event_count == w->event_room) {
    int room = w->event_room > 0 ? 2 * w->event_room : 256;
    saltus_event* events = realloc(w->events, (size_t)room * sizeof *events);
    if (events == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    w->events = events;
    w->event_room = room;
  }
  w->events[w->event_count++] = *event;
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  observed* w = user;
  w->energy = fmax(w->energy, fabs(frame->kinetic) + fabs(frame->potential));
  while (w->next < CASE_FRAMES && w->c->frame_t[w->next] < frame->t - 1e-9) {
    w->next++;
  }
  if (w->next < CASE_FRAMES && fabs(w->c->frame_t[w->next] - frame->t) <= 1e-9) {
    memcpy(w->frame_q + (size_t)w->next * (size_t)w->c->n, frame->q,
           (size_t)w->c->n * sizeof(double));
    w->seen[w->next++] = true;
  }
  return SALTUS_OK;
}

static saltus_status on_progress(void* user, double t, double t_end, long long step) {
  (void)t;
  (void)t_end;
  (void)step;
  observed* w = user;
  w->late = w->late || cpu_clock(NULL) - w->begun > w->limit;
  return w->late ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* ---- comparing ------------------------------------------------------------------------------------ */

/* An error over tol max(1, K), kept if it is the largest so far, with its reason if it is too large. */
static void blame(case_verdict* v, double error, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

static void blame(case_verdict* v, double error, const char* format, ...) {
  if (error <= v->error) {
    return; /* NaN goes on */
  }
  v->error = error;
  if (!(error <= CASE_ALLOWED)) {
    v->wrong = true;
    va_list args;
    va_start(args, format);
    vsnprintf(v->reason, sizeof v->reason, format, args);
    va_end(args);
  }
}

/* Size of an error; below the accuracy of the reference it is none. */
static double sized(const adversarial_case* c, double error, double tol, double K) {
  return fabs(error) <= c->exact * fmax(1.0, K) ? 0.0 : fabs(error) / (tol * fmax(1.0, K));
}

static void compare_states(const adversarial_case* c, const observed* w, double tol,
                           const saltus_sim* sim, case_verdict* v) {
  for (int k = 0; k < CASE_FRAMES; k++) {
    for (int i = 0; i < c->n && w->seen[k] && isfinite(c->frame_K[k]); i++) {
      double exact = c->frame_q[k * c->n + i];
      double found = w->frame_q[k * c->n + i];
      blame(v, sized(c, (found - exact) / fmax(1.0, fabs(exact)), tol, c->frame_K[k]),
            "at %.9g s coordinate %d is %.15g, right is %.15g", c->frame_t[k], i, found, exact);
    }
  }
  for (int i = 0; i < c->n && isfinite(c->K_end); i++) {
    double q = saltus_sim_q(sim)[i];
    double rate = saltus_sim_v(sim)[i];
    blame(v, sized(c, (q - c->q_end[i]) / fmax(1.0, fabs(c->q_end[i])), tol, c->K_end),
          "coordinate %d ends at %.15g, right is %.15g", i, q, c->q_end[i]);
    blame(v, sized(c, (rate - c->v_end[i]) / fmax(1.0, fabs(c->v_end[i])), tol, c->K_end),
          "velocity %d ends at %.15g, right is %.15g", i, rate, c->v_end[i]);
  }
}

static bool same_contact(const adversarial_case* c, int a, int b) {
  return !c->keys || a == b;
}

/* The run says that this contact rests from about t on, or from a later expected rest on. */
static bool rests_then(const adversarial_case* c, const observed* w, const expected_impact* x,
                       double tol) {
  for (int j = 0; j < w->event_count; j++) {
    const saltus_event* event = &w->events[j];
    bool kind = event->kind == SALTUS_EVENT_ACCUMULATION || event->kind == SALTUS_EVENT_CLOSE;
    if (!kind || !same_contact(c, event->contact, x->contact) ||
        event->t < x->t - CASE_ALLOWED * tol * fmax(1.0, x->K)) {
      continue;
    }
    for (int k = 0; k < c->rest_count; k++) {
      double allowed = CASE_ALLOWED * tol * fmax(1.0, c->rests[k].K) + c->exact;
      if (same_contact(c, c->rests[k].contact, x->contact) && c->rests[k].t >= x->t - allowed &&
          fabs(c->rests[k].t - event->t) <= allowed) {
        return true;
      }
    }
  }
  return false;
}

/* One of the rebounds that are too small to be listed. */
static bool among_last(const adversarial_case* c, const saltus_event* event, double tol) {
  for (int k = 0; k < c->rest_count; k++) {
    const expected_rest* rest = &c->rests[k];
    double allowed = CASE_ALLOWED * tol * fmax(1.0, rest->K) + c->exact;
    if (same_contact(c, rest->contact, event->contact) && event->t >= rest->begin - allowed &&
        event->t <= rest->t + allowed && fabs(event->u_before) <= 2.0 * fabs(rest->before)) {
      return true;
    }
  }
  return false;
}

/* The larger of the differences in time and velocity between an impact and an expected one. */
static double apart(const adversarial_case* c, const saltus_event* event,
                    const expected_impact* x) {
  double rate = (event->u_before - x->before) / fmax(1.0, fabs(x->before));
  return fmax(fabs(event->t - x->t), c->keys ? fabs(rate) : 0.0);
}

static double allowed_at(const adversarial_case* c, const expected_impact* x, double tol) {
  return CASE_ALLOWED * tol * fmax(1.0, x->K) + c->exact;
}

/* No other expected impact of this contact is so near that the two could be taken for each other. */
static bool alone(const adversarial_case* c, int i, double allowed) {
  for (int k = 0; k < c->impact_count; k++) {
    if (k != i && same_contact(c, c->impacts[k].contact, c->impacts[i].contact) &&
        fabs(c->impacts[k].t - c->impacts[i].t) <= 4.0 * allowed) {
      return false;
    }
  }
  return true;
}

/* Every expected impact is there, once. */
static void find_expected(const adversarial_case* c, const observed* w, double tol, int i,
                          case_verdict* v) {
  const expected_impact* x = &c->impacts[i];
  double allowed = allowed_at(c, x, tol);
  const saltus_event* best = NULL;
  int near = 0;
  for (int j = 0; j < w->event_count; j++) {
    const saltus_event* event = &w->events[j];
    if (event->kind == SALTUS_EVENT_IMPACT && same_contact(c, event->contact, x->contact) &&
        fabs(event->t - x->t) <= allowed) {
      near += fabs(event->u_before) > allowed && apart(c, event, x) <= allowed;
      best = best == NULL || apart(c, event, x) < apart(c, best, x) ? event : best;
    }
  }
  if (best == NULL && (fabs(x->before) <= allowed || rests_then(c, w, x, tol))) {
    return;
  }
  for (int j = 0; best == NULL && j < w->event_count; j++) { /* late, or not there at all? */
    bool hits = w->events[j].kind == SALTUS_EVENT_IMPACT &&
                same_contact(c, w->events[j].contact, x->contact);
    best = hits && apart(c, &w->events[j], x) <= 20.0 * allowed ? &w->events[j] : NULL;
  }
  if (best == NULL) {
    blame(v, INFINITY, "impact %d at %.15g s with %.12g m/s is missing", i + 1, x->t, x->before);
    return;
  }
  double error = sized(c, apart(c, best, x), tol, x->K);
  if (error > CASE_ALLOWED && rests_then(c, w, x, tol)) {
    return; /* one of the last rebounds, and another one is near */
  }
  blame(v, error, "impact %d is at %.15g s with %.15g m/s, right is %.15g s with %.15g m/s", i + 1,
        best->t, best->u_before, x->t, x->before);
  if (c->keys && near > 1 && alone(c, i, allowed)) {
    blame(v, INFINITY, "impact %d at %.15g s is reported %d times", i + 1, x->t, near);
  }
}

static void compare_impacts(const adversarial_case* c, const observed* w, double tol,
                            case_verdict* v) {
  double K = fmax(1.0, isfinite(c->K_end) ? c->K_end : 1.0);
  for (int i = 0; i < c->impact_count; i++) {
    find_expected(c, w, tol, i, v);
    K = fmax(K, c->impacts[i].K);
  }
  for (int j = 0; j < w->event_count; j++) {
    const saltus_event* event = &w->events[j];
    bool excused = event->kind != SALTUS_EVENT_IMPACT || among_last(c, event, tol) ||
                   fabs(event->u_before) <= CASE_ALLOWED * tol * K;
    for (int i = 0; i < c->impact_count && !excused; i++) {
      const expected_impact* x = &c->impacts[i];
      excused = same_contact(c, event->contact, x->contact) &&
                apart(c, event, x) <= 20.0 * allowed_at(c, x, tol); /* blamed above if it is late */
    }
    if (!excused) {
      blame(v, INFINITY, "an impact at %.15g s with %.12g m/s is invented", event->t,
            event->u_before);
    }
  }
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* The remainder of the ledger over the largest energy: of the frames, or what went through an account.
 * A velocity is asked for to tol (1 + |v|): below 1 J the energy of about 1 kg is known to tol sqrt(E)
 * and not to tol E. What is left of sums that cancel is no remainder. */
static double remainder_of(saltus_energy e, double energy) {
  const double parts[] = {e.external, e.drive, e.friction, e.impact};
  for (int i = 0; i < 4; i++) {
    energy = fmax(energy, fabs(parts[i]));
  }
  double rounding = 1e-13 * fmax(1.0, energy);
  return fabs(e.remainder) <= rounding ? 0.0 : fabs(e.remainder) / fmax(energy, sqrt(energy));
}

static saltus_status run(const adversarial_case* c, const saltus_scene_view* view,
                         const char* scheme, double tol, observed* w, saltus_log log,
                         case_verdict* v) {
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = w};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = &options,
                              .t0 = view->start,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_times = c->frame_t,
                              .record_time_count = CASE_FRAMES,
                              .progress = {.report = on_progress, .user = w, .clock = cpu_clock},
                              .log = log};
  saltus_sim* sim;
  double asked = tol;
  tol = c->unit > 0.0 ? c->unit : tol; /* from here on the unit of errors */
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status != SALTUS_OK) {
    return status;
  }
  w->begun = cpu_clock(NULL);
  status = saltus_sim_run_until(sim, c->t_end);
  v->cpu = cpu_clock(NULL) - w->begun;
  v->work = saltus_sim_work(sim);
  v->steps = saltus_sim_steps_done(sim);
  v->rejections = saltus_sim_tally(sim) != NULL ? saltus_sim_tally(sim)->rejections : 0;
  if (status == SALTUS_OK) {
    if (!c->motion_only) {
      compare_impacts(c, w, tol, v);
    }
    compare_states(c, w, tol, sim, v);
    v->remainder = remainder_of(saltus_sim_energy_total(sim), w->energy) / asked;
  }
  saltus_sim_destroy(sim);
  return status;
}

case_verdict case_judge(const adversarial_case* c, const char* scheme, double tol, double limit) {
  case_verdict v = {.K = isfinite(c->K_end) ? c->K_end : c->frame_K[CASE_FRAMES - 1]};
  observed w = {.c = c,
                .frame_q = calloc((size_t)CASE_FRAMES * (size_t)c->n, sizeof(double)),
                .limit = limit};
  saltus_kept_message kept = {0};
  const saltus_scene_def def = {.path = c->family, .text = c->text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene = NULL;
  v.status = w.frame_q != NULL ? saltus_scene_create(&def, &scene) : SALTUS_ERR_MEMORY;
  if (v.status == SALTUS_OK) {
    v.status = run(c, saltus_scene_get_view(scene), scheme, tol, &w, saltus_log_keep(&kept), &v);
  }
  v.late = w.late;
  if (v.status != SALTUS_OK) {
    snprintf(v.reason, sizeof v.reason, "%s: %.200s",
             v.late ? "stopped after the limit" : saltus_status_text(v.status), kept.text);
  }
  saltus_scene_destroy(scene);
  free(w.events);
  free(w.frame_q);
  return v;
}
