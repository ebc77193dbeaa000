/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy_gain.c - see energy_gain.h.
 */
#include "scheme/energy_gain.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char* const saltusi_energy_gain_names[] = {"report", "stop", NULL};

/* Sums of an impact: work, its size without cancellation, and the contact with the largest work. */
typedef struct impact {
  double work, size, most;
  bool impact;
  int giver;           /* number of an event or contact */
  double slip_work[2]; /* J, work of friction against the final slip and along the initial one */
} impact;

/* Velocities and impulse of one contact in an impact. */
typedef struct share {
  double u_before, u_after;
  const double *slip_before, *slip_after; /* [2] */
  const double* impulse;                  /* [3] */
} share;

static double size_of(const share* s) {
  double size = fabs(s->impulse[0]) * (fabs(s->u_before) + fabs(s->u_after));
  for (int k = 0; k < 2; k++) {
    size += fabs(s->impulse[k + 1]) * (fabs(s->slip_before[k]) + fabs(s->slip_after[k]));
  }
  return 0.5 * size;
}

static void add(impact* b, const share* s, double work, int giver) {
  b->work += work;
  b->size += size_of(s);
  for (int k = 0; k < 2; k++) {
    b->slip_work[0] += 0.5 * s->impulse[k + 1] * s->slip_after[k];
    b->slip_work[1] += 0.5 * s->impulse[k + 1] * s->slip_before[k];
  }
  if (!b->impact || work > b->most) {
    b->most = work;
    b->giver = giver;
  }
  b->impact = true;
}

static bool gained(const impact* b) {
  return b->impact && b->work > SALTUS_ENERGY_CREATED * b->size;
}

/* Converts the event with the largest work to the remark on an impact. */
static void make_remark(const impact* b, saltus_event* remark) {
  remark->kind = SALTUS_EVENT_ENERGY_GAIN;
  remark->energy_change = b->work;
  memcpy(remark->slip_work, b->slip_work, sizeof remark->slip_work);
  memset(remark->impulse, 0, sizeof remark->impulse);
}

static bool is_impact(const saltus_event* e) {
  return e->kind == SALTUS_EVENT_IMPACT || e->kind == SALTUS_EVENT_PAINLEVE;
}

static bool next_located(const saltus_step_report* report, int* next, saltus_event* remark) {
  while (*next < report->event_count) {
    impact b = {0};
    double t = report->events[*next].t;
    for (; *next < report->event_count && report->events[*next].t == t; (*next)++) {
      const saltus_event* e = &report->events[*next];
      if (is_impact(e)) {
        add(&b, &(share){e->u_before, e->u_after, e->slip_before, e->slip_after, e->impulse},
            saltus_event_work(e), *next);
      }
    }
    if (gained(&b)) {
      *remark = report->events[b.giver];
      make_remark(&b, remark);
      return true;
    }
  }
  return false;
}

void saltusi_contact_event(const saltus_contact_step* contact, double t, double h,
                           saltus_event* event) {
  assert(contact != NULL && event != NULL && h > 0.0);
  *event = (saltus_event){
      .t = t,
      .t_accuracy = h,
      .contact = contact->key,
      .u_before = contact->u_before,
      .u_after = contact->u_after,
      .slip_before = {contact->slip_before[0], contact->slip_before[1]},
      .slip_after = {contact->slip_after[0], contact->slip_after[1]},
      .identity = contact->identity,
      .law = contact->law,
  };
  if (!contact->impact) {
    return;
  }
  event->kind = SALTUS_EVENT_IMPACT;
  if (contact->part == SALTUS_IMPACT_WHOLE) {
    for (int k = 0; k < 3; k++) {
      event->impulse[k] = contact->impulse[k] - contact->lasting[k];
    }
    event->energy_change = saltus_event_work(event);
    return;
  }
  const saltus_whole_impact* whole = &contact->whole_impact;
  event->t_accuracy = whole->steps * h;
  event->u_before = whole->before[0];
  event->u_after = whole->after[0];
  memcpy(event->slip_before, whole->before + 1, sizeof event->slip_before);
  memcpy(event->slip_after, whole->after + 1, sizeof event->slip_after);
  memcpy(event->impulse, whole->impulse, sizeof event->impulse);
  event->energy_change = whole->work;
}

/* Adds a contact of a step without located events. A contact without an impact transmits the impact of others, or
 * rests, and creates no event. */
static void add_contact(impact* b, const saltus_contact_step* c, int number) {
  if (c->impact && c->part != SALTUS_IMPACT_WHOLE) {
    const saltus_whole_impact* whole = &c->whole_impact;
    add(b,
        &(share){whole->before[0], whole->after[0], whole->before + 1, whole->after + 1,
                 whole->impulse},
        whole->work, number);
    return;
  }
  double impulse[3];
  for (int k = 0; k < 3; k++) {
    impulse[k] = c->impact ? c->impulse[k] - c->lasting[k] : c->impulse[k];
  }
  const share s = {c->u_before, c->u_after, c->slip_before, c->slip_after, impulse};
  const double work =
      saltusi_impact_work(impulse, c->u_before, c->u_after, c->slip_before, c->slip_after);
  add(b, &s, work, number);
}

bool saltusi_energy_gain_next(const saltus_step_report* report, bool located, double t, double h,
                              int* next, saltus_event* remark) {
  assert(report != NULL && remark != NULL && h > 0.0);
  if (located) {
    return next_located(report, next, remark);
  }
  impact b = {0};
  bool struck = false;
  for (; *next < report->active; (*next)++) {
    const saltus_contact_step* contact = &report->contacts[*next];
    if (contact->part == SALTUS_IMPACT_GOES_ON || !(contact->impulse[0] > 0.0)) {
      continue;
    }
    struck = struck || contact->impact;
    add_contact(&b, contact, *next);
  }
  if (!struck || !gained(&b)) {
    return false;
  }
  saltusi_contact_event(&report->contacts[b.giver], t, h, remark);
  make_remark(&b, remark);
  return true;
}

bool saltusi_energy_gain_stops(const saltus_field_table* table, const void* options) {
  assert(table != NULL && options != NULL);
  for (int i = 0; i < table->count; i++) {
    const saltus_field* field = &table->fields[i];
    if (strcmp(field->name, "on_energy_gain") == 0 && field->choices == saltusi_energy_gain_names) {
      int value;
      memcpy(&value, (const char*)options + field->offset, sizeof value);
      return value == 1;
    }
  }
  return false;
}
