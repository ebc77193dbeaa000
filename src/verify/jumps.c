/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jumps.c - impacts: two frames of one time, and the table of events (docs/theory/certificate.md, 4).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 10.0;

/* Whether an event of this kind is noted at a time. */
static bool has_event(const saltusi_checker* c, double t, saltus_event_kind kind) {
  for (long long i = 0; i < c->data->event_count; i++) {
    if (c->data->events[i].kind == kind && c->data->events[i].t == t) {
      return true;
    }
  }
  return false;
}

/* How many impacts of a contact the table has at a time. */
static int impacts_of(const saltusi_checker* c, double t, const saltusi_acting* contact) {
  int count = 0;
  for (long long i = 0; i < c->data->event_count; i++) {
    const saltus_event* e = &c->data->events[i];
    bool same = c->data->changing ? e->identity == contact->identity
                                  : e->contact >= 0 && (uint64_t)e->contact == contact->identity;
    count += e->kind == SALTUS_EVENT_IMPACT && e->t == t && same;
  }
  return count;
}

/* Newton's law on a contact that was struck once, by itself or with others at once. */
static void check_law(saltusi_checker* c, const saltusi_frame* b, const saltusi_acting* acting,
                      const double before[3], const double after[3]) {
  const saltus_contact_law* law = &c->system->laws[acting->law];
  bool plain = law->impact == SALTUS_IMPACT_NEWTON && c->system->impacts == NULL;
  if (!plain || acting->impulse[0] == 0.0 || impacts_of(c, b->t, acting) != 1 ||
      has_event(c, b->t, SALTUS_EVENT_LAW_REPLACED) || has_event(c, b->t, SALTUS_EVENT_PAINLEVE)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_LAW);
    return;
  }
  saltusi_where where = {.frame = b->number, .place = -1, .contact = acting};
  double limit = 0.0;
  for (int i = 0; i < c->nv; i++) {
    limit = fmax(limit, allowance * c->weight_v[i]);
  }
  double expected = before[0] < 0.0 ? -law->e_N * before[0] : 0.0;
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, fabs(after[0] - expected), limit, where);
  if (law->tangents == 0 || !(law->mu > 0.0)) {
    return;
  }
  /* friction on U_T+ + e_T U_T-: against it and as large as it may be, or there is none left */
  double u[2] = {after[1] + law->e_T * before[1], after[2] + law->e_T * before[2]};
  double speed = hypot(u[0], u[1]);
  double room = law->mu * acting->impulse[0] - hypot(acting->impulse[1], acting->impulse[2]);
  double most = law->mu * acting->impulse[0];
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, speed * fmax(0.0, room) / fmax(most, 1e-300), limit,
               where);
  double along = u[0] * acting->impulse[1] + u[1] * acting->impulse[2];
  double off = speed * hypot(acting->impulse[1], acting->impulse[2]) + along; /* 0: opposite */
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, off / fmax(most, 1e-300), 2.0 * limit, where);
}

/* Work of the contacts, P . (U- + U+) / 2, with their laws on the way. */
static double strike(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b, int count,
                     double* momentum) {
  double work = 0.0;
  saltus_point at = saltusi_place(c, b->t, b->q, b->v);
  for (int i = 0; i < count; i++) {
    const saltusi_acting* acting = &c->acting[i];
    const double* P = acting->impulse;
    if (P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0) {
      continue;
    }
    int rows = 1 + c->system->laws[acting->law].tangents;
    saltusi_contact_rows(c, &at, acting->identity, rows - 1, c->nj, false);
    double before[3] = {0.0, 0.0, 0.0};
    double after[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < rows; k++) {
      before[k] = saltusi_row_velocity(c, c->nj + k, a->v);
      after[k] = saltusi_row_velocity(c, c->nj + k, b->v);
      work += 0.5 * P[k] * (before[k] + after[k]);
      const double* G = c->at.G + (ptrdiff_t)(c->nj + k) * c->nv;
      for (int j = 0; j < c->nv; j++) {
        momentum[j] -= G[j] * P[k];
      }
    }
    check_law(c, b, acting, before, after);
  }
  return work;
}

void saltusi_check_jump(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  int n = c->nv;
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_weights(c, a, b);
  double *r = c->work_v, *d = r + n;
  saltusi_way(c, a->q, b->q, d);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(d[i]), allowance * c->weight_q[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  saltus_point at = saltusi_place(c, b->t, b->q, b->v);
  if (!saltusi_mass_and_force(c, &at)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_MOMENTUM);
    return;
  }
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    r[i] = 0.0;
    for (int j = 0; j < n; j++) {
      r[i] += c->at.M[i * n + j] * (b->v[j] - a->v[j]);
    }
    size += 0.5 * fabs(r[i] * (b->v[i] + a->v[i]));
  }
  double work = strike(c, a, b, count, r);
  saltusi_joint_rows(c, &at, false);
  saltusi_without_joints(c, r);
  saltusi_mass_solve(c, r);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_IMPACT_MOMENTUM, fabs(r[i]), allowance * c->weight_v[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  if (!has_event(c, b->t, SALTUS_EVENT_ENERGY_GAIN)) {
    double limit = allowance * (c->def->atol + c->def->rtol * size) + 1e-12 * size;
    saltusi_note(c, SALTUS_VERIFY_IMPACT_ENERGY, fmax(0.0, work), limit,
                 (saltusi_where){.frame = b->number, .place = -1});
  }
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

static bool is_of(const saltusi_checker* c, const saltus_event* e, const saltusi_acting* contact) {
  return c->data->changing ? e->identity == contact->identity
                           : e->contact >= 0 && (uint64_t)e->contact == contact->identity;
}

/* Sum of the normal impulses of a contact in the events of a group. */
static double event_sum(const saltusi_checker* c, const group* g, const saltusi_acting* contact,
                        double* largest) {
  double sum = 0.0;
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->data->events[k];
    if (strikes(e) && is_of(c, e, contact)) {
      sum += e->impulse[0];
      *largest = fmax(*largest, fabs(e->impulse[0]));
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
      const saltusi_acting* contact = &c->acting[i];
      frames += contact->impulse[0];
      scale = fmax(scale, fabs(contact->impulse[0]));
      if (g->first == g->last || contact->impulse[0] == 0.0) {
        continue;
      }
      double largest = fabs(contact->impulse[0]);
      double sum = event_sum(c, g, contact, &largest);
      saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum - contact->impulse[0]),
                   allowance * (c->def->atol + c->def->rtol * largest) + 1e-9 * largest,
                   (saltusi_where){.frame = f, .place = -1, .contact = contact});
    }
  }
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->data->events[k];
    events += strikes(e) ? e->impulse[0] : 0.0;
    scale = fmax(scale, strikes(e) ? fabs(e->impulse[0]) : 0.0);
  }
  if (scale > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(events - frames),
                 allowance * (c->def->atol + c->def->rtol * scale) + 1e-9 * scale,
                 (saltusi_where){.frame = g->last, .place = g->event_first});
  }
}

/* Schemes that do not locate impacts spread them over steps: their sums agree but for the last ones. */
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
    sum -= strikes(&c->data->events[k]) ? c->data->events[k].impulse[0] : 0.0;
  }
  if (size > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum), 1e-9 * size + 2.0 * c->hardest,
                 (saltusi_where){.frame = c->data->count - 1, .place = -1});
  }
}

void saltusi_check_events(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_recording_data* data = c->data;
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
      continue; /* what happens at the start is in the first step */
    }
    g.event_first = g.event_last;
    while (g.event_last < data->event_count && data->events[g.event_last].t <= data->t[g.first]) {
      g.event_last++;
    }
    check_group(c, &g);
  }
}
