/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observed.c - outputs and events of the scene, and events of contacts, against the frames (docs/theory/certificate.md, 8).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- outputs ---------------------------------------------------------------------------------------- */

bool saltusi_observed_workspace(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_observables* o = c->def->observables;
  saltusi_pool* p = &c->pool;
  double* open = SALTUSI_TAKE(p, double, c->gap_room + 1);
  for (int i = 0; i < c->gap_room && open != NULL; i++) {
    open[i] = -INFINITY; /* the start may be corrected: the first step is used */
  }
  c->observed.open = open;
  if (o == NULL) {
    return !p->failed;
  }
  c->observed =
      (saltusi_observed_values){.open = open,
                                .values = SALTUSI_TAKE(p, double, o->output_count + 1),
                                .plain = SALTUSI_TAKE(p, double, 2 * (size_t)o->output_count + 1),
                                .most = SALTUSI_TAKE(p, double, o->output_count + 1),
                                .forces = SALTUSI_TAKE(p, double, 2 * (size_t)c->nj + 192),
                                .g = SALTUSI_TAKE(p, double, o->event_count + 1),
                                .last = SALTUSI_TAKE(p, double, o->event_count + 1),
                                .g_most = SALTUSI_TAKE(p, double, o->event_count + 1),
                                .scratch = saltusi_pool_take(p, o->scratch + 1, 1),
                                .outputs = o->output_count > 0 && c->data->outputs != NULL &&
                                           c->data->output_count == o->output_count,
                                .events = o->event_count > 0 && o->events != NULL};
  for (long long i = 0; c->observed.outputs && i < c->data->count * o->output_count; i++) {
    double* most = &c->observed.most[i % o->output_count];
    *most = fmax(*most, fabs(c->data->outputs[i]));
  }
  return !p->failed;
}

static saltus_point point_of(saltusi_checker* c, const saltusi_checked_frame* f) {
  return (saltus_point){
      .t = f->t, .q = f->q, .v = f->v, .scratch = c->observed.scratch, .failure = &c->failure};
}

void saltusi_check_outputs(saltusi_checker* c, const saltusi_checked_frame* f) {
  assert(c != NULL && f != NULL);
  const saltus_observables* o = c->def->observables;
  if (!c->observed.outputs) {
    return;
  }
  saltus_point at = point_of(c, f);
  double* values = c->observed.values;
  if (o->outputs_with != NULL) { /* those of joint forces: NaN where these are undetermined */
    o->outputs_with(o->self, &at, c->to_tolerance ? NULL : saltusi_joint_forces(c, f), values);
  } else {
    o->outputs(o->self, &at, values);
  }
  for (int i = 0; i < o->output_count; i++) {
    double recorded = c->data->outputs[f->number * o->output_count + i];
    if (isnan(values[i])) { /* function of joint forces: for fixed steps, of their means */
      continue;
    }
    double size = fmax(fabs(values[i]), c->observed.most[i]);
    saltusi_note(c, SALTUS_VERIFY_OUTPUTS, fabs(recorded - values[i]), 1e-11 * size + 1e-300,
                 (saltusi_where){.frame = f->number, .place = i, .certain = true});
  }
}

void saltusi_check_force_outputs(saltusi_checker* c, const saltusi_checked_frame* f,
                                 const double* forces, const double* spread) {
  assert(c != NULL && f != NULL && forces != NULL && spread != NULL);
  const saltus_observables* o = c->def->observables;
  if (!c->observed.outputs || o->outputs_with == NULL) {
    return;
  }
  saltus_point at = point_of(c, f);
  double* values = c->observed.values;
  double* plain = c->observed.plain;
  double* mean = plain + o->output_count;
  o->outputs_with(o->self, &at, NULL, plain);
  o->outputs_with(o->self, &at, forces, values);
  o->outputs_with(o->self, &at, saltusi_joint_forces(c, f), mean);
  double wide = 0.0;
  double size = 0.0;
  for (int j = 0; j < c->nj; j++) {
    wide = fmax(wide, spread[j]);
    size = fmax(size, fabs(forces[j]));
  }
  for (int i = 0; i < o->output_count; i++) {
    double recorded = c->data->outputs[f->number * o->output_count + i];
    if (isnan(plain[i]) && !isnan(values[i])) {
      double part = size > 0.0 ? fmin(0.1, wide / size) : 0.0;
      bool same = fabs(recorded - mean[i]) <= 1e-11 * c->observed.most[i]; /* of the means */
      saltusi_note(c, SALTUS_VERIFY_OUTPUTS, same ? 0.0 : fabs(recorded - values[i]),
                   (10.0 * part + 1e-6) * c->observed.most[i] + 1e-300,
                   (saltusi_where){.frame = f->number, .place = i});
    }
  }
}

/* --- events of the scene ---------------------------------------------------------------------------- */

/* Events of function i between two frames in the table; rising and falling. */
static void passages(const saltusi_checker* c, int i, double from, double to, int count[2]) {
  long long last = 0;
  count[0] = count[1] = 0;
  for (long long k = saltusi_events_from(c, from, to, &last); k < last; k++) {
    const saltus_event* e = &c->events[k];
    if (saltus_event_is_user_defined(e->kind) && e->contact == i) {
      count[e->kind == SALTUS_EVENT_FALL]++;
    }
  }
}

/* Function i from `was` at frame a to `is` at frame b. */
static void check_passage(saltusi_checker* c, int i, const saltusi_checked_frame* a,
                          const saltusi_checked_frame* b, double noise) {
  double was = c->observed.last[i];
  double is = c->observed.g[i];
  saltus_crossing wanted = c->def->observables->directions[i];
  double late = c->data->h != NULL && !c->to_tolerance ? c->data->h[b->number] : 0.0;
  int found[2];
  passages(c, i, a->t - late, b->t + late, found);
  bool rises = was < -noise && is > noise;
  bool falls = was > noise && is < -noise;
  bool missing = (rises && wanted != SALTUS_CROSSING_FALLING && found[0] == 0) ||
                 (falls && wanted != SALTUS_CROSSING_RISING && found[1] == 0);
  saltusi_note(c, SALTUS_VERIFY_EVENT_KINDS, missing ? 1.0 : 0.0, 0.0,
               (saltusi_where){.frame = b->number, .place = i, .certain = true});
}

/* At an event at the time of a frame its function is zero. */
static void check_zeros(saltusi_checker* c, const saltusi_checked_frame* f, double tolerance) {
  const saltus_observables* o = c->def->observables;
  long long last = 0;
  for (long long k = saltusi_events_from(c, f->t, f->t, &last); k < last; k++) {
    const saltus_event* e = &c->events[k];
    bool jumps = (f->number > 0 && c->data->t[f->number - 1] == f->t) ||
                 (f->number + 1 < c->data->count && c->data->t[f->number + 1] == f->t);
    if (!saltus_event_is_user_defined(e->kind) || e->contact < 0 || e->contact >= o->event_count ||
        jumps || !c->to_tolerance) {
      continue;
    }
    double limit = 1e-3 * c->observed.g_most[e->contact] + tolerance;
    saltusi_note(c, SALTUS_VERIFY_EVENT_KINDS, fabs(c->observed.g[e->contact]) > limit ? 1.0 : 0.0,
                 0.0, (saltusi_where){.frame = f->number, .place = k, .certain = true});
  }
}

void saltusi_check_passages(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b) {
  assert(c != NULL && b != NULL);
  const saltus_observables* o = c->def->observables;
  if (!c->observed.events) {
    return;
  }
  saltus_point at = point_of(c, b);
  o->events(o->self, &at, c->observed.g);
  double tolerance = 10.0 * (c->def->atol + c->def->rtol);
  for (int i = 0; i < o->event_count; i++) {
    double* most = &c->observed.g_most[i];
    *most = fmax(*most, fabs(c->observed.g[i]));
    if (a != NULL) {
      check_passage(c, i, a, b, 1e-9 * *most + tolerance);
    }
    c->observed.last[i] = c->observed.g[i];
  }
  check_zeros(c, b, tolerance);
}

/* --- events of contacts ----------------------------------------------------------------------------- */

/* A contact of a frame by identity; NULL: it has none. */
static const saltusi_checked_contacts* find(const saltusi_checked_contacts* list, int count,
                                            const saltusi_checker* c, const saltus_event* e) {
  for (int i = 0; i < count; i++) {
    if (saltusi_is_of(c, e, &list[i])) {
      return &list[i];
    }
  }
  return NULL;
}

static double slip_at(saltusi_checker* c, const saltusi_checked_frame* f,
                      const saltusi_checked_contacts* x) {
  int tangents = c->system->laws[x->law].tangents;
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  double u[2] = {0.0, 0.0};
  saltusi_contact_rows(c, &at, x->identity, 1 + tangents, c->nj, false);
  for (int k = 0; k < tangents; k++) {
    u[k] = saltusi_row_velocity(c, c->nj + 1 + k, f->v);
  }
  return hypot(u[0], u[1]);
}

/* m/s, above which a contact slips. */
static double slip_limit(const saltusi_checker* c) {
  return 30.0 * (c->def->atol + c->def->rtol * fmax(1.0, c->fastest));
}

/* Time of the next event of the same contact; the end of the run if there is none. */
static double next_of(const saltusi_checker* c, long long number) {
  const saltus_event* e = &c->events[number];
  for (long long k = number + 1; k < c->data->event_count; k++) {
    const saltus_event* x = &c->events[k];
    bool same = c->data->changing ? x->identity == e->identity : x->contact == e->contact;
    if (same && !saltus_event_is_user_defined(x->kind)) {
      return x->t;
    }
  }
  return INFINITY;
}

/* Whether the frame after an event contradicts the event. */
static bool is_denied(saltusi_checker* c, const saltus_event* e, const saltusi_checked_frame* f) {
  int count = saltusi_frame_contacts(c, f->number, c->acting);
  const saltusi_checked_contacts* x = find(c->acting, count, c, e);
  double reach = saltusi_position_limit(c, f);
  switch (e->kind) {
  case SALTUS_EVENT_STICK:
    return x != NULL && slip_at(c, f, x) > slip_limit(c);
  case SALTUS_EVENT_OPEN:
    return x != NULL && fabs(x->force[0]) * (f->t - e->t) > 1e-6 * c->hardest && x->gap > reach;
  case SALTUS_EVENT_CLOSE:
    return x != NULL && x->gap > reach && !(fabs(x->force[0]) > 0.0);
  default:
    return false;
  }
}

void saltusi_check_kinds(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_recording_data* d = c->data;
  for (long long k = 0; c->to_tolerance && k < d->event_count; k++) {
    const saltus_event* e = &c->events[k];
    long long i = saltusi_frame_of(c, e->t);
    if (saltus_event_is_user_defined(e->kind) || saltus_event_is_remark(e->kind)) {
      continue;
    }
    bool wrong = false;
    if (e->kind == SALTUS_EVENT_SLIP && i > 0) {
      const saltusi_checked_frame before = saltusi_frame_at(c, i - 1);
      int count = saltusi_frame_contacts(c, i, c->acting);
      const saltusi_checked_contacts* x = find(c->acting, count, c, e);
      wrong = x != NULL && c->every && slip_at(c, &before, x) > slip_limit(c);
    }
    while (i < d->count && d->t[i] <= e->t) {
      i++;
    }
    double next = next_of(c, k);
    for (; i < d->count && c->every && d->t[i] < next && !wrong; i++) {
      const saltusi_checked_frame behind = saltusi_frame_at(c, i);
      wrong = is_denied(c, e, &behind);
      if (e->kind != SALTUS_EVENT_STICK) {
        break;
      }
    }
    saltusi_note(c, SALTUS_VERIFY_EVENT_KINDS, wrong ? 1.0 : 0.0, 0.0,
                 (saltusi_where){.frame = i < d->count ? i : d->count - 1, .place = k});
  }
}

/* Whether the table has an event of the given kinds for a contact in [from, to]. */
static bool has_kind(const saltusi_checker* c, const saltusi_checked_contacts* x, double from,
                     double to, unsigned kinds) {
  long long last = 0;
  for (long long k = saltusi_events_from(c, from, to, &last); k < last; k++) {
    const saltus_event* e = &c->events[k];
    if (!saltus_event_is_user_defined(e->kind) && (kinds >> e->kind & 1U) != 0 &&
        saltusi_is_of(c, e, x)) {
      return true;
    }
  }
  return false;
}

/* A slip that begins or ends between two frames has an event in the table. */
static void check_slip(saltusi_checker* c, const saltusi_checked_frame* a,
                       const saltusi_checked_frame* b, const saltusi_checked_contacts* x) {
  static const unsigned changes = 1U << SALTUS_EVENT_STICK | 1U << SALTUS_EVENT_REVERSAL |
                                  1U << SALTUS_EVENT_SLIP | 1U << SALTUS_EVENT_IMPACT |
                                  1U << SALTUS_EVENT_CLOSE | 1U << SALTUS_EVENT_OPEN |
                                  1U << SALTUS_EVENT_PAINLEVE;
  double was = slip_at(c, a, x);
  double is = slip_at(c, b, x);
  double limit = slip_limit(c);
  bool turns =
      (was > 10.0 * limit && is <= 0.01 * limit) || (is > 10.0 * limit && was <= 0.01 * limit);
  bool known = a->number == 0; /* a run may start at rest and slip */
  double from = known ? a->t : c->data->t[a->number - 1];
  double to = b->number + 1 < c->data->count ? c->data->t[b->number + 1] : b->t;
  bool missing = turns && !known && !has_kind(c, x, from, to, changes);
  saltusi_note(c, SALTUS_VERIFY_EVENT_KINDS, missing ? 1.0 : 0.0, 0.0,
               (saltusi_where){.frame = b->number, .place = -1, .contact = x});
}

void saltusi_check_statuses(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  static const unsigned closes = 1U << SALTUS_EVENT_CLOSE;
  if (c->data->changing || !c->to_tolerance || !c->every) {
    return;
  }
  double reach = fmax(saltusi_position_limit(c, a), saltusi_position_limit(c, b));
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* x = &c->acting[i];
    double* open = &c->observed.open[i]; /* last time of a frame where it was open */
    double P = x->force[0] * (b->t - a->t);
    bool acts = b->t > a->t && P > 1e-6 * c->hardest && fabs(x->gap) <= reach;
    if (acts && isfinite(*open)) {
      saltusi_note(c, SALTUS_VERIFY_EVENT_KINDS, has_kind(c, x, *open, b->t, closes) ? 0.0 : 1.0,
                   0.0, (saltusi_where){.frame = b->number, .place = -1, .contact = x});
    }
    *open = acts ? -INFINITY : x->gap > reach ? b->t : *open;
    if (acts && c->system->laws[x->law].tangents > 0 && c->system->laws[x->law].mu > 0.0) {
      check_slip(c, a, b, x);
    }
  }
}
