/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * events.c - impacts of the table of events against the frames: sums of impulses, velocities,
 * energies, and impact laws of contacts with several impacts at one instant
 * (docs/theory/certificate.md, 4).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 10.0;

/* Sorted by time; ends of accumulations are extrapolated and can be later than the events that follow them in the
 * table. */
void saltusi_sort_events(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_event* from = c->data->events;
  long long moves = 0;
  for (long long i = 0; i < c->data->event_count; i++) {
    long long k = i;
    for (; k > 0 && c->events[k - 1].t > from[i].t && moves < 64 * c->data->event_count; k--) {
      c->events[k] = c->events[k - 1];
      moves++;
    }
    c->events[k] = from[i];
  }
  double last = -INFINITY;
  for (long long i = 0; i < c->data->event_count; i++) {
    bool ends = from[i].kind == SALTUS_EVENT_ACCUMULATION; /* extrapolated */
    double latest = from[i].t + (ends ? from[i].t_accuracy : 0.0);
    bool back = latest < last - 1e-14 * fmax(1.0, fabs(last)); /* rounding of times */
    bool wrong = back || !(from[i].t_accuracy >= 0.0) || !isfinite(from[i].t_accuracy);
    last = ends ? last : from[i].t;
    saltusi_note(
        c, SALTUS_VERIFY_EVENT_KINDS, wrong ? 1.0 : 0.0, 0.0,
        (saltusi_where){.frame = saltusi_frame_of(c, from[i].t), .place = i, .certain = true});
  }
}

long long saltusi_events_from(const saltusi_checker* c, double from, double to, long long* last) {
  assert(c != NULL && last != NULL);
  long long low = 0;
  long long high = c->data->event_count;
  while (low < high) { /* the first that is not before */
    long long middle = low + (high - low) / 2;
    low = c->events[middle].t < from ? middle + 1 : low;
    high = c->events[middle].t < from ? high : middle;
  }
  for (*last = low; *last < c->data->event_count && c->events[*last].t <= to;) {
    (*last)++;
  }
  return low;
}

/* --- the table of events ---------------------------------------------------------------------------- */

/* Painleve's paradox is an impact without collision. */
static bool strikes(const saltus_event* e) {
  return e->kind == SALTUS_EVENT_IMPACT || e->kind == SALTUS_EVENT_PAINLEVE;
}

/* Impulses of the table between two times, by contact, against those of the frames there. */
typedef struct group {
  long long first, last;             /* frames */
  long long event_first, event_last; /* one past the end */
} group;

bool saltusi_is_of(const saltusi_checker* c, const saltus_event* e,
                   const saltusi_checked_contacts* contact) {
  assert(c != NULL && e != NULL && contact != NULL);
  return c->data->changing ? e->identity == contact->identity
                           : e->contact >= 0 && (uint64_t)e->contact == contact->identity;
}

/* Sum of the normal impulses of a contact in the events of a group. */
static double event_sum(const saltusi_checker* c, const group* g,
                        const saltusi_checked_contacts* contact, double* largest) {
  double sum = 0.0;
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->events[k];
    if (strikes(e) && saltusi_is_of(c, e, contact)) {
      sum += e->impulse[0];
      *largest = fmax(*largest, fabs(e->impulse[0]));
    }
  }
  return sum;
}

/* The same from the frames of a group: several frames may have impacts of the same time. */
static double frame_sum(const saltusi_checker* c, const group* g,
                        const saltusi_checked_contacts* contact) {
  double sum = 0.0;
  for (long long f = g->first; f <= g->last; f++) {
    int count = saltusi_frame_contacts(c, f, c->before);
    for (int i = 0; i < count; i++) {
      sum += c->before[i].identity == contact->identity ? c->before[i].impulse[0] : 0.0;
    }
  }
  return sum;
}

static void check_group(saltusi_checker* c, const group* g) {
  double events = 0.0;
  double frames = 0.0;
  double scale = 0.0;
  for (long long f = g->first; f <= g->last; f++) {
    int count = saltusi_frame_contacts(c, f, c->acting);
    for (int i = 0; i < count; i++) {
      const saltusi_checked_contacts* contact = &c->acting[i];
      frames += contact->impulse[0];
      scale = fmax(scale, fabs(contact->impulse[0]));
      if (g->first == g->last || contact->impulse[0] == 0.0) {
        continue;
      }
      double largest = fabs(contact->impulse[0]);
      double sum = event_sum(c, g, contact, &largest);
      saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum - frame_sum(c, g, contact)),
                   allowance * (c->def->atol + c->def->rtol * largest) + 1e-9 * largest,
                   (saltusi_where){.frame = f, .place = -1, .contact = contact});
    }
  }
  double terms = 1.0; /* terms of the sum, each with this error */
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->events[k];
    terms += strikes(e) ? 1.0 : 0.0;
    events += strikes(e) ? e->impulse[0] : 0.0;
    scale = fmax(scale, strikes(e) ? fabs(e->impulse[0]) : 0.0);
  }
  if (scale > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(events - frames),
                 terms * (allowance * (c->def->atol + c->def->rtol * scale) + 1e-9 * scale),
                 (saltusi_where){.frame = g->last, .place = g->event_first});
  }
}

/* Schemes that do not locate impacts spread them over steps: their sums agree except for the last impacts. */
static void check_sums(saltusi_checker* c) {
  double sum = 0.0;
  double size = 0.0;
  for (long long f = 0; f < c->data->count; f++) {
    int count = saltusi_frame_contacts(c, f, c->acting);
    for (int i = 0; i < count; i++) {
      sum += c->acting[i].impulse[0];
      size += fabs(c->acting[i].impulse[0]);
    }
  }
  for (long long k = 0; k < c->data->event_count; k++) {
    sum -= strikes(&c->events[k]) ? c->events[k].impulse[0] : 0.0;
  }
  if (size > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum), 1e-9 * size + 2.0 * c->hardest,
                 (saltusi_where){.frame = c->data->count - 1, .place = -1});
  }
}

/* The energy of an impact is P . (U- + U+) / 2 of its recorded values, for every scheme. */
static void check_energies(saltusi_checker* c) {
  for (long long k = 0; k < c->data->event_count; k++) {
    const saltus_event* e = &c->events[k];
    if (e->kind == SALTUS_EVENT_IMPACT &&
        !c->def->by_differences) { /* otherwise it takes two steps */
      double size = fabs(e->impulse[0] * e->u_before) + fabs(e->impulse[0] * e->u_after);
      for (int i = 0; i < 2; i++) {
        size += fabs(e->impulse[1 + i]) * (fabs(e->slip_before[i]) + fabs(e->slip_after[i]));
      }
      double P = hypot(e->impulse[0], hypot(e->impulse[1], e->impulse[2]));
      double off = fabs(saltus_event_work(e) - e->energy_change);
      saltusi_note(c, SALTUS_VERIFY_EVENT_VALUES, P > 0.0 ? off / P : off,
                   (1e-9 * size + 1e-300) / (P > 0.0 ? P : 1.0),
                   (saltusi_where){.frame = saltusi_frame_of(c, e->t), .place = k});
    }
  }
}

/* Whether an impact at the time of a single frame acts after it: the impulse then belongs to the step that begins
 * there. */
static bool is_behind(saltusi_checker* c, const group* g, const saltus_event* e) {
  const saltus_recording_data* d = c->data;
  double t = d->t[g->first];
  bool same = fabs(e->t - t) <= 1e-14 * fmax(1.0, fabs(t)); /* rounding of times */
  if (!strikes(e) || !same || g->first != g->last || g->last + 1 >= d->count) {
    return false;
  }
  int count = saltusi_frame_contacts(c, g->first, c->acting);
  for (int i = 0; i < count; i++) {
    if (c->acting[i].impulse[0] != 0.0) {
      return false;
    }
  }
  return true;
}

void saltusi_check_events(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_recording_data* data = c->data;
  check_energies(c);
  if (c->def->by_differences) {
    check_sums(c);
    return;
  }
  group g = {0};
  for (long long f = 0; f < data->count;) {
    g.first = f;
    while (f < data->count && data->t[f] == data->t[g.first]) {
      f++;
    }
    g.last = f - 1;
    if (g.last == 0) {
      continue; /* impacts at the start belong to the first step */
    }
    g.event_first = g.event_last;
    while (g.event_last < data->event_count && c->events[g.event_last].t <= data->t[g.first] &&
           !is_behind(c, &g, &c->events[g.event_last])) {
      g.event_last++;
    }
    check_group(c, &g);
  }
}

/* --- impacts of one instant, one after the other ---------------------------------------------------- */

/* Simultaneous impacts. */
typedef struct saltusi_impact_round {
  long long first, last;
  int count;    /* contacts with an impulse */
  bool moments; /* moments that are not recorded act as well */
} saltusi_impact_round;

static bool strikes_at(const saltus_event* e, double t) {
  return strikes(e) && e->t == t;
}

/* Velocities of the rows of an event at v; rows of joints are not touched. */
static void rows_of(saltusi_checker* c, const saltus_point* at,
                    const saltusi_checked_contacts* contact, const double* v, double U[3]) {
  int rows = 1 + c->system->laws[contact->law].tangents;
  saltusi_contact_rows(c, at, contact->identity, rows, c->nj, false);
  for (int k = 0; k < 3; k++) {
    U[k] = k < rows ? saltusi_row_velocity(c, c->nj + k, v) : 0.0;
  }
}

static saltusi_checked_contacts contact_of(const saltusi_checker* c, const saltus_event* e) {
  saltusi_checked_contacts x = {.identity = c->data->changing ? e->identity : (uint64_t)e->contact,
                                .law = c->data->changing ? e->law : e->contact};
  memcpy(x.impulse, e->impulse, sizeof x.impulse);
  return x;
}

/* Velocities and energy of an event. */
static void check_event(saltusi_checker* c, const saltus_event* e, const saltusi_hit* h) {
  const double* P = e->impulse;
  double off = fmax(fabs(e->u_before - h->before[0]), fabs(e->u_after - h->after[0]));
  double work = 0.5 * P[0] * (h->before[0] + h->after[0]);
  double size = fabs(P[0]);
  const saltus_contact_law* law = &c->system->laws[h->contact->law];
  for (int k = 0; k < law->tangents && law->mu > 0.0;
       k++) { /* slip is not recorded without friction */
    /* slip is less accurate during an accumulation of impacts */
    off = fmax(off, 0.1 * fabs(e->slip_before[k] - h->before[1 + k]));
    off = fmax(off, 0.1 * fabs(e->slip_after[k] - h->after[1 + k]));
    work += 0.5 * P[1 + k] * (h->before[1 + k] + h->after[1 + k]);
    size += fabs(P[1 + k]);
  }
  saltusi_where where = {.frame = h->frame->number, .place = -1, .contact = h->contact};
  saltusi_note(c, SALTUS_VERIFY_EVENT_VALUES, off, 10.0 * h->limit, where);
  if (size > 0.0) { /* as a velocity */
    saltusi_note(c, SALTUS_VERIFY_EVENT_VALUES, fabs(work - e->energy_change) / size,
                 10.0 * h->limit, where);
  }
}

/* One past the events of a round: at most one impact of each contact. *open: moments act that
 * are not recorded. */
static long long round_end(const saltusi_checker* c, double t, long long first, long long last,
                           bool* open) {
  const saltus_event* events = c->events;
  long long i = first;
  for (; i < last; i++) {
    if (!strikes_at(&events[i], t)) {
      continue;
    }
    const saltusi_checked_contacts x = contact_of(c, &events[i]);
    const saltus_contact_law* law = &c->system->laws[x.law];
    *open = *open || saltus_contact_rows(law) > 1 + law->tangents;
    for (long long k = first; k < i; k++) {
      if (strikes_at(&events[k], t) && saltusi_is_of(c, &events[k], &x)) {
        return i;
      }
    }
  }
  return i;
}

/* v1 = v0 + M^-1 G P of a round, under the joint constraints; returns the number of impacts. */
static int strike_round(saltusi_checker* c, const saltus_point* at, long long first, long long last,
                        const double* v0, double* v1) {
  int count = 0;
  memset(v1, 0, (size_t)c->nv * sizeof *v1);
  for (long long i = first; i < last; i++) {
    if (!strikes_at(&c->events[i], at->t)) {
      continue;
    }
    const saltusi_checked_contacts x = contact_of(c, &c->events[i]);
    int rows = 1 + c->system->laws[x.law].tangents;
    saltusi_contact_rows(c, at, x.identity, rows, c->nj, false);
    for (int k = 0; k < rows * c->nv; k++) {
      v1[k % c->nv] += c->at.G[c->nj * c->nv + k] * x.impulse[k / c->nv];
    }
    count += x.impulse[0] != 0.0;
  }
  saltusi_without(c, c->nj, v1);
  saltusi_mass_solve(c, v1);
  for (int i = 0; i < c->nv; i++) {
    v1[i] += v0[i];
  }
  return count;
}

/* One impact of an event from v0 to v1. */
static saltusi_hit hit_of(saltusi_checker* c, const saltus_point* at,
                          const saltusi_checked_frame* b, const saltusi_checked_contacts* x,
                          const double* v0, const double* v1) {
  saltusi_hit h = {.frame = b, .contact = x};
  for (int k = 0; k < c->nv; k++) {
    h.limit = fmax(h.limit, allowance * c->weight_v[k]);
  }
  rows_of(c, at, x, v0, h.before);
  rows_of(c, at, x, v1, h.after);
  return h;
}

/* m/s, deviation of the normal velocities of the events of a round from those of v0 and v1. */
static double round_off(saltusi_checker* c, const saltus_point* at, const saltusi_checked_frame* b,
                        saltusi_impact_round r, const double* v0, const double* v1) {
  double off = 0.0;
  for (long long i = r.first; i < r.last; i++) {
    const saltus_event* e = &c->events[i];
    if (strikes_at(e, b->t)) {
      const saltusi_checked_contacts x = contact_of(c, e);
      const saltusi_hit h = hit_of(c, at, b, &x, v0, v1);
      off = fmax(off, fabs(e->u_before - h.before[0]) / h.limit);
      off = fmax(off, fabs(e->u_after - h.after[0]) / h.limit);
      const saltus_contact_law* law = &c->system->laws[x.law];
      for (int k = 0; k < law->tangents && law->mu > 0.0; k++) {
        off = fmax(off, 0.1 * fabs(e->slip_after[k] - h.after[1 + k]) / h.limit);
      }
    }
  }
  return off;
}

/* The next round of simultaneous impacts from v0: of all lengths of the round, the one whose
 * velocities match the table best. v1: after the round. */
static saltusi_impact_round next_round(saltusi_checker* c, const saltus_point* at,
                                       const saltusi_checked_frame* b, saltusi_impact_round all,
                                       const double* v0, double* v1) {
  saltusi_impact_round r = {.first = all.first};
  long long most = round_end(c, b->t, all.first, all.last, &r.moments);
  long long best = most;
  double least = INFINITY;
  for (r.last = most; r.last > r.first && least > 1e-3; r.last--) {
    strike_round(c, at, r.first, r.last, v0, v1);
    double off = round_off(c, at, b, r, v0, v1);
    best = off < least ? r.last : best;
    least = fmin(off, least);
  }
  r.last = best;
  r.count = strike_round(c, at, r.first, r.last, v0, v1);
  return r;
}

/* Whether the rounds up to v belong to a frame, and later rounds of the same time to the next frame. */
static bool is_shown(const saltusi_checker* c, const saltusi_checked_frame* b, const double* v) {
  bool same = b->number + 1 < c->data->count && c->data->t[b->number + 1] == b->t;
  for (int i = 0; i < c->nv && same; i++) {
    same = fabs(v[i] - b->v[i]) <= allowance * c->weight_v[i];
  }
  return same;
}

void saltusi_check_rounds(saltusi_checker* c, const saltusi_checked_frame* a,
                          const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  double *v0 = c->work_v + (ptrdiff_t)4 * c->nv, *v1 = v0 + c->nv;
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  saltusi_impact_round all = {0};
  all.first = saltusi_events_from(c, b->t, b->t, &all.last);
  all.first = c->shown_t == b->t ? c->shown_to : all.first;
  memcpy(v0, a->v, (size_t)c->nv * sizeof *v0);
  bool moments = c->system->dry_count > 0; /* that are not recorded */
  while (all.first < all.last) {
    bool first = v0[0] == a->v[0] && memcmp(v0, a->v, (size_t)c->nv * sizeof *v0) == 0;
    saltusi_impact_round r = next_round(c, &at, b, all, v0, v1);
    bool once = first && r.last == all.last;
    moments = moments || r.moments;
    if (r.moments && !once) {
      saltusi_skip(c, SALTUS_VERIFY_EVENT_VALUES);
      saltusi_skip(c, SALTUS_VERIFY_IMPACT_LAW);
      break;
    }
    for (long long i = r.first; i < r.last; i++) {
      const saltus_event* e = &c->events[i];
      if (strikes_at(e, b->t)) {
        const saltusi_checked_contacts x = contact_of(c, e);
        saltusi_hit h = hit_of(c, &at, b, &x, v0, once ? b->v : v1);
        h.together = r.count;
        check_event(c, e, &h);
        saltusi_book_impact(c, &h);
        saltusi_effective_mass(c, &at, &x, 1 + c->system->laws[x.law].tangents, h.W);
        saltusi_check_law(c, &h);
      }
    }
    memcpy(v0, v1, (size_t)c->nv * sizeof *v0);
    all.first = r.last;
    if (is_shown(c, b, v1)) {
      break;
    }
  }
  c->shown_t = b->t;
  c->shown_to = all.first;
  c->booked.known[SALTUSI_IMPACT] = c->booked.known[SALTUSI_FRICTION] = !moments;
  c->booked.contacts = !moments;
  c->booked.known[SALTUSI_EXTERNAL] = true;
  c->booked.known[SALTUSI_DRIVE] = !moments;
}
