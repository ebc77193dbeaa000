/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pairs.c - events of two recordings, matched one to one: of one kind and one contact, in order of time. Of two
 * consecutive candidates the nearer one is taken; an event farther than `match` from all is unmatched.
 */
#include "compare_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An event of one recording, to be sorted. */
typedef struct listed {
  const saltus_event* event;
  long long place;
  uint64_t who; /* contact or function */
} listed;

static int by_who(const void* x, const void* y) {
  const listed* a = x;
  const listed* b = y;
  if (a->event->kind != b->event->kind) {
    return a->event->kind < b->event->kind ? -1 : 1;
  }
  if (a->who != b->who) {
    return a->who < b->who ? -1 : 1;
  }
  if (a->event->t != b->event->t) {
    return a->event->t < b->event->t ? -1 : 1;
  }
  return a->place < b->place ? -1 : a->place > b->place;
}

static double time_of(const saltus_event_pair* pair, const saltusi_comparison* c) {
  return pair->a >= 0 ? c->def.a->events[pair->a].t : c->def.b->events[pair->b].t;
}

static long long list_events(const saltusi_comparison* c, const saltus_recording_data* d,
                             listed* list) {
  long long count = 0;
  for (long long i = 0; i < d->event_count; i++) {
    const saltus_event* e = &d->events[i];
    bool own = saltus_event_is_user_defined(e->kind);
    if (e->t >= c->out.start && e->t <= c->out.end) {
      uint64_t who = d->changing && !own ? e->identity : (uint64_t)(int64_t)e->contact;
      list[count++] = (listed){.event = e, .place = i, .who = who};
    }
  }
  qsort(list, (size_t)count, sizeof *list, by_who);
  return count;
}

static saltus_event_pair pair_of(const listed* a, const listed* b) {
  if (a == NULL || b == NULL) {
    return (saltus_event_pair){.a = a != NULL ? a->place : -1,
                               .b = b != NULL ? b->place : -1,
                               .dt = NAN,
                               .u_before = NAN,
                               .u_after = NAN,
                               .impulse = NAN,
                               .energy = NAN};
  }
  const saltus_event* x = a->event;
  const saltus_event* y = b->event;
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    sum += (y->impulse[k] - x->impulse[k]) * (y->impulse[k] - x->impulse[k]);
  }
  return (saltus_event_pair){.a = a->place,
                             .b = b->place,
                             .dt = y->t - x->t,
                             .u_before = y->u_before - x->u_before,
                             .u_after = y->u_after - x->u_after,
                             .impulse = sqrt(sum),
                             .energy = y->energy_change - x->energy_change};
}

static bool alike(const listed* a, const listed* b) {
  return a->event->kind == b->event->kind && a->who == b->who;
}

/* Whether the event behind x in its list is nearer to y. */
static bool next_is_nearer(const listed* list, long long at, long long count, const listed* y) {
  return at + 1 < count && alike(&list[at + 1], &list[at]) &&
         fabs(list[at + 1].event->t - y->event->t) < fabs(list[at].event->t - y->event->t);
}

static void match(saltusi_comparison* c, const listed* a, long long na, const listed* b,
                  long long nb, saltus_event_pair* pairs) {
  saltus_comparison* out = &c->out;
  double reach = c->def.match > 0.0 ? c->def.match : 0.01 * (out->end - out->start);
  long long i = 0;
  long long j = 0;
  while (i < na || j < nb) {
    bool both = i < na && j < nb && alike(&a[i], &b[j]);
    bool near = both && fabs(a[i].event->t - b[j].event->t) <= reach;
    bool first = i < na; /* the unmatched one */
    if (both) {
      first = a[i].event->t <= b[j].event->t;
      near = near && !(first ? next_is_nearer(a, i, na, &b[j]) : next_is_nearer(b, j, nb, &a[i]));
    } else if (i < na && j < nb) {
      bool sooner = a[i].event->kind < b[j].event->kind ||
                    (a[i].event->kind == b[j].event->kind && a[i].who < b[j].who);
      first = sooner;
    }
    bool take_a = near || first;
    bool take_b = near || !first;
    pairs[out->pair_count++] = pair_of(take_a ? &a[i] : NULL, take_b ? &b[j] : NULL);
    out->matched += near;
    out->only_a += !near && take_a;
    out->only_b += !near && take_b;
    i += take_a;
    j += take_b;
  }
}

static void note_worst(saltusi_comparison* c) {
  saltus_event_pair* worst = &c->out.worst;
  *worst = pair_of(NULL, NULL);
  for (long long i = 0; i < c->out.pair_count; i++) {
    const saltus_event_pair* p = &c->out.pairs[i];
    if (p->a < 0 || p->b < 0) {
      continue;
    }
    if (!(fabs(p->dt) <= worst->dt)) {
      worst->dt = fabs(p->dt);
      worst->a = p->a;
      worst->b = p->b;
    }
    worst->u_before =
        fmax(worst->u_before, fabs(p->u_before)); /* fmax ignores NaN, the initial value */
    worst->u_after = fmax(worst->u_after, fabs(p->u_after));
    worst->impulse = fmax(worst->impulse, p->impulse);
    worst->energy = fmax(worst->energy, fabs(p->energy));
  }
}

/* Pairs with their time, for sorting. */
typedef struct timed {
  double t;
  long long order;
  saltus_event_pair pair;
} timed;

static int by_time(const void* x, const void* y) {
  const timed* a = x;
  const timed* b = y;
  return a->t < b->t ? -1 : a->t > b->t ? 1 : a->order < b->order ? -1 : a->order > b->order;
}

saltus_status saltusi_compare_events(saltusi_comparison* c) {
  assert(c != NULL);
  const saltus_recording_data* a = c->def.a;
  const saltus_recording_data* b = c->def.b;
  long long most = a->event_count + b->event_count;
  saltus_event_pair* pairs = SALTUSI_TAKE(&c->pool, saltus_event_pair, most + 1);
  saltusi_pool pool = saltusi_pool_over(&c->allocator);
  listed* list_a = SALTUSI_TAKE(&pool, listed, a->event_count + 1);
  listed* list_b = SALTUSI_TAKE(&pool, listed, b->event_count + 1);
  timed* sorted = SALTUSI_TAKE(&pool, timed, most + 1);
  bool room = pairs != NULL && !pool.failed;
  if (room) {
    long long na = list_events(c, a, list_a);
    long long nb = list_events(c, b, list_b);
    match(c, list_a, na, list_b, nb, pairs);
    for (long long i = 0; i < c->out.pair_count; i++) {
      sorted[i] = (timed){time_of(&pairs[i], c), i, pairs[i]};
    }
    qsort(sorted, (size_t)c->out.pair_count, sizeof *sorted, by_time);
    for (long long i = 0; i < c->out.pair_count; i++) {
      pairs[i] = sorted[i].pair;
    }
    c->out.pairs = pairs;
    note_worst(c);
  }
  saltusi_pool_free(&pool);
  return room ? SALTUS_OK : SALTUS_ERR_MEMORY;
}
