/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * async_islands.c - see async_islands.h: making islands, their steps, and the common step.
 */
#include "scheme/async_islands/async_islands.h"

#include "base/log.h"
#include "base/number.h"
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { STARTED, END, TIME, HEAD };
enum { NUMBER, PASSED, COUNT, SINCE, ENDS, CLOCK_HEAD = ENDS + SALTUSI_CLOCK_KEPT };
/* With fewer islands all of them step together: the cost of common times exceeds the gain. */
enum { ISLANDS_LEAST = 2 };

double saltusi_async_island_slack(double t) {
  return 4.0 * DBL_EPSILON * fabs(t);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Tolerances of an island from those of the whole system. */
static const double* pick(const saltusi_island_view* view, const double* all, double* own) {
  for (int i = 0; all != NULL && i < view->system.dims.nv; i++) {
    own[i] = all[view->velocity[i]];
  }
  return all != NULL ? own : NULL;
}

static saltus_status make_clock(saltusi_async_islands* c, const saltus_scheme_def* def,
                                int number) {
  saltusi_async_island* clock = &c->clock[number];
  const saltusi_island_view* view = &c->views.view[number];
  const saltus_dims* d = &view->system.dims;
  clock->view = view;
  saltus_state* const states[] = {&clock->front, &clock->next};
  for (int i = 0; i < 2; i++) {
    states[i]->q = SALTUSI_TAKE(&c->pool, double, d->nv);
    states[i]->v = SALTUSI_TAKE(&c->pool, double, d->nv);
  }
  clock->shown = SALTUSI_TAKE(&c->pool, double, 2 * d->nv);
  if (c->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_scheme_def own = *def;
  own.system = &view->system;
  own.atol_q = pick(view, def->atol_q, clock->shown);
  own.atol_v = pick(view, def->atol_v, clock->shown + d->nv);
  own.allocator = &c->memory;
  own.log = (saltus_log){
      0}; /* a failure ahead of the common time is reported when the common time reaches it */
  saltus_status status = saltusi_scheme_create_plain(&own, &clock->scheme);
  if (status != SALTUS_OK) {
    return status;
  }
  clock->scheme->eval.numbers = &view->numbers;
  saltusi_event_list* events = &clock->scheme->events;
  if (number == 0) {
    c->events = *events;
  } else {
    saltusi_release(&c->memory, events->items, (size_t)events->room, sizeof(saltus_event));
  }
  *events = (saltusi_event_list){0};
  clock->memory_count = clock->scheme->carried;
  clock->dense_count = clock->scheme->dense_count;
  for (int i = 0; i < SALTUSI_CLOCK_KEPT; i++) {
    saltusi_async_island_step* step = &clock->step[i];
    step->q = SALTUSI_TAKE(&c->pool, double, d->nv);
    step->v = SALTUSI_TAKE(&c->pool, double, d->nv);
    step->memory = SALTUSI_TAKE(&c->pool, double, clock->memory_count);
    step->joints = SALTUSI_TAKE(&c->pool, double, d->nj);
    step->impacts = SALTUSI_TAKE(&c->pool, double, d->nj);
    step->dense = SALTUSI_TAKE(&c->pool, double, clock->dense_count);
    step->contacts = SALTUSI_TAKE(&c->pool, saltus_contact_step, d->nc);
  }
  clock->memory_at = c->memory_count;
  c->memory_count += CLOCK_HEAD + 2 * (size_t)d->nv + clock->memory_count;
  c->dense_count +=
      2 + 2 * saltusi_async_island_doubles(
                  clock); /* two steps of each island, or more if there are few islands */
  return c->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

static saltus_status make(saltusi_async_islands* c, const saltus_scheme_def* def,
                          const saltusi_apart* apart) {
  const saltus_dims* d = &def->system->dims;
  c->failed = -1;
  c->count = apart->count;
  c->clock = SALTUSI_TAKE(&c->pool, saltusi_async_island, c->count);
  c->contact = SALTUSI_TAKE(&c->pool, saltus_contact_step, d->nc);
  c->acts = SALTUSI_TAKE(&c->pool, bool, d->nc);
  c->lasting = SALTUSI_TAKE(&c->pool, double, 2 * d->nj);
  c->by_island = SALTUSI_TAKE(&c->pool, double, 3 * (size_t)d->nc + (size_t)d->nj);
  if (c->pool.failed || !saltusi_views_make(&c->views, def->system, apart, &c->pool)) {
    return SALTUS_ERR_MEMORY;
  }
  c->memory_count = HEAD + 2 * (size_t)d->nq + (size_t)d->nv;
  c->dense_count = 1;
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < c->count && status == SALTUS_OK; i++) {
    status = make_clock(c, def, i);
  }
  return status;
}

saltus_status saltusi_async_islands_create(const saltus_scheme_def* def,
                                           saltusi_async_islands** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  saltusi_apart apart;
  saltus_status status = saltusi_find_apart(def->system, &memory, &apart);
  if (status == SALTUS_OK && apart.count >= ISLANDS_LEAST) {
    saltusi_pool pool = saltusi_pool_over(&memory);
    saltusi_async_islands* c = SALTUSI_TAKE(&pool, saltusi_async_islands, 1);
    status = c != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
    if (status == SALTUS_OK) {
      c->pool = pool;
      c->memory = memory;
      status = make(c, def, &apart);
      *out = c;
    } else {
      saltusi_pool_free(&pool);
    }
  }
  saltusi_apart_release(def->system, &memory, &apart);
  if (status != SALTUS_OK) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for islands", def->scheme);
    saltusi_async_islands_destroy(*out);
    *out = NULL;
  }
  return status;
}

void saltusi_async_islands_destroy(saltusi_async_islands* clocks) {
  if (clocks == NULL) {
    return;
  }
  for (int i = 0; clocks->clock != NULL && i < clocks->count; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    saltus_scheme_destroy(clock->scheme);
    for (int k = 0; k < SALTUSI_CLOCK_KEPT; k++) {
      saltusi_release(&clocks->memory, clock->step[k].events, clock->step[k].event_room,
                      sizeof(saltus_event));
    }
  }
  saltusi_release(&clocks->memory, clocks->events.items, (size_t)clocks->events.room,
                  sizeof(saltus_event));
  saltusi_release(&clocks->memory, clocks->sorted, clocks->sorted_room, sizeof(saltus_event));
  saltusi_pool pool = clocks->pool;
  saltusi_pool_free(&pool);
}

void saltusi_async_islands_forget(saltusi_async_islands* clocks) {
  assert(clocks != NULL);
  clocks->rests = false;
  for (int i = 0; i < clocks->count; i++) {
    clocks->clock[i].valid = false;
  }
}

void saltusi_async_islands_effort(saltusi_async_islands* clocks, saltusi_effort effort) {
  assert(clocks != NULL);
  for (int i = 0; i < clocks->count; i++) {
    saltusi_scheme_effort(clocks->clock[i].scheme, effort);
  }
}

void saltusi_async_islands_poll(saltusi_async_islands* clocks, bool (*poll)(void* who), void* who) {
  assert(clocks != NULL);
  for (int i = 0; i < clocks->count; i++) {
    saltusi_scheme_poll(clocks->clock[i].scheme, poll, who);
  }
}

saltus_status saltusi_async_islands_retune(saltusi_async_islands* clocks, const void* options,
                                           const double* atol_q, const double* atol_v) {
  assert(clocks != NULL && options != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < clocks->count && status == SALTUS_OK; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    int nv = clock->view->system.dims.nv;
    status = saltusi_scheme_retune(clock->scheme, options, pick(clock->view, atol_q, clock->shown),
                                   pick(clock->view, atol_v, clock->shown + nv));
  }
  return status;
}

/* ---- the steps of one island ----------------------------------------------------------------- */

static size_t bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

bool saltusi_async_islands_memory_valid(const saltusi_async_islands* clocks, const double* memory) {
  assert(clocks != NULL && memory != NULL);
  const double most = 9007199254740992.0; /* 2^53: whole numbers are exact up to it */
  bool good = true;
  for (int i = 0; good && i < clocks->count; i++) {
    const saltusi_async_island* clock = &clocks->clock[i];
    const saltus_scheme* scheme = clock->scheme;
    const double* m = memory + clock->memory_at;
    const double* own = m + CLOCK_HEAD + 2 * (size_t)clock->view->system.dims.nv;
    good = saltusi_is_whole(m[NUMBER], 0.0, most) && saltusi_is_whole(m[PASSED], 0.0, INT_MAX) &&
           saltusi_is_whole(m[COUNT], 0.0, SALTUSI_CLOCK_KEPT) &&
           (scheme->ops->memory_valid == NULL ||
            scheme->ops->memory_valid(scheme->options, &scheme->eval.sys, own));
  }
  return good;
}

/* Loads an island from the memory, without precomputed steps. */
static void load(saltusi_async_island* clock, const double* memory) {
  int nv = clock->view->system.dims.nv;
  const double* m = memory + clock->memory_at;
  clock->front.t = m[SINCE];
  memcpy(clock->front.q, m + CLOCK_HEAD, bytes_of(nv));
  memcpy(clock->front.v, m + CLOCK_HEAD + nv, bytes_of(nv));
  memcpy(clock->scheme->memory0, m + CLOCK_HEAD + 2 * nv, clock->memory_count * sizeof(double));
  clock->number = (long long)m[NUMBER];
  clock->count = 0;
  clock->valid = true;
  clock->failed = SALTUS_OK;
}

/* Events of a step, in storage with small capacity increments: most steps have one or two
 * events. */
static saltus_status keep_events(saltusi_async_islands* c, saltusi_async_island_step* kept) {
  size_t wanted = (size_t)kept->report.event_count;
  if (wanted > kept->event_room) {
    saltusi_release(&c->memory, kept->events, kept->event_room, sizeof(saltus_event));
    kept->event_room = 0;
    kept->events = c->memory.alloc(wanted * sizeof(saltus_event), c->memory.user);
    if (kept->events == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    kept->event_room = wanted;
  }
  if (wanted > 0) {
    memcpy(kept->events, kept->report.events, wanted * sizeof(saltus_event));
  }
  return SALTUS_OK;
}

/* A trial step of an island; it borrows the event storage that all islands share. */
static saltus_status try(saltusi_async_islands* c, saltusi_async_island* clock, double most,
                         saltus_step_report* report) {
  saltus_scheme* scheme = clock->scheme;
  scheme->events = c->events;
  saltus_status status =
      saltusi_scheme_try(scheme, clock->front.t, most, &clock->front, &clock->next, report);
  c->events = scheme->events;
  scheme->events = (saltusi_event_list){0};
  return status;
}

/* One more step, up to `end` at most. */
static saltus_status go_on(saltusi_async_islands* c, saltusi_async_island* clock, double end) {
  int nv = clock->view->system.dims.nv;
  saltus_scheme* scheme = clock->scheme;
  saltusi_async_island_step* kept = saltusi_async_island_at(clock, clock->count);
  double most = fmin(end - clock->front.t, 1e300);
  memcpy(kept->q, clock->front.q, bytes_of(nv));
  memcpy(kept->v, clock->front.v, bytes_of(nv));
  memcpy(kept->memory, scheme->memory0, clock->memory_count * sizeof(double));
  kept->t0 = clock->front.t;
  kept->end = end;
  saltus_status status = try(c, clock, most, &kept->report);
  double h = kept->report.h;
  if (status == SALTUS_OK && !(h > 0.0 && clock->front.t + h > clock->front.t)) {
    status = SALTUS_RETRY_SMALLER; /* step-size underflow */
  }
  status = status == SALTUS_OK ? keep_events(c, kept) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (kept->report.active > 0) {
    memcpy(kept->contacts, kept->report.contacts,
           (size_t)kept->report.active * sizeof *kept->contacts);
  }
  for (int j = 0; j < clock->view->system.dims.nj; j++) {
    kept->impacts[j] = kept->report.joint_impacts[j];
    kept->joints[j] = kept->report.joint_impulses[j] - kept->impacts[j];
  }
  kept->report.contacts = kept->contacts;
  kept->report.events = kept->events;
  kept->report.joint_impulses = kept->report.joint_impacts = NULL;
  kept->t1 = h >= most ? end : clock->front.t + h;
  saltusi_scheme_commit(scheme);
  saltusi_scheme_dense_copy(scheme, kept->dense);
  saltus_state old = clock->front;
  clock->front = clock->next;
  clock->next = old;
  clock->front.t = kept->t1;
  clock->count++;
  return SALTUS_OK;
}

/* Adds the work of an island to the total. */
static void add_work(saltus_work* sum, const saltus_work* before, const saltus_work* after) {
  sum->steps += after->steps - before->steps;
  sum->force_evaluations += after->force_evaluations - before->force_evaluations;
  sum->contact_solves += after->contact_solves - before->contact_solves;
  sum->newton_iterations += after->newton_iterations - before->newton_iterations;
  sum->factorizations += after->factorizations - before->factorizations;
  sum->contact_iterations += after->contact_iterations - before->contact_iterations;
}

/* Computes steps up to the capacity or up to the end. A failure ahead of the common time is kept
 * for later. */
static saltus_status fill(saltusi_async_islands* c, saltusi_async_island* clock, double end,
                          saltus_work* work) {
  const saltus_work before = clock->scheme->eval.work;
  saltus_status status = SALTUS_OK;
  while (clock->count < SALTUSI_CLOCK_KEPT && clock->front.t < end && status == SALTUS_OK) {
    if (clock->failed != SALTUS_OK && clock->failed_end == end) {
      break;
    }
    status = go_on(c, clock, end);
    clock->failed = status;
    clock->failed_end = end;
  }
  add_work(work, &before, &clock->scheme->eval.work);
  bool stops = status == SALTUS_ERR_STOPPED || status == SALTUS_ERR_MEMORY;
  return stops ? status : SALTUS_OK;
}

/* Synchronises the kept steps with the memory: drops those before it, or recomputes all of them. */
static saltus_status follow_memory(saltusi_async_islands* c, saltusi_async_island* clock,
                                   const double* memory, saltus_work* work) {
  const double* m = memory + clock->memory_at;
  long long past = (long long)m[NUMBER] - clock->number;
  if (clock->valid && past >= 0 && past <= clock->count) {
    clock->first = (clock->first + (int)past) % SALTUSI_CLOCK_KEPT;
    clock->count -= (int)past;
    clock->number += past;
    return SALTUS_OK;
  }
  const saltus_work before = clock->scheme->eval.work;
  saltus_status status = SALTUS_OK;
  load(clock, memory);
  for (int i = 0; i < (int)m[COUNT] && status == SALTUS_OK; i++) {
    status = go_on(c, clock, m[ENDS + i]);
  }
  add_work(work, &before, &clock->scheme->eval.work);
  return status;
}

/* ---- the common step ------------------------------------------------------------------------- */

/* Whether the state is the one left by the last step; otherwise the caller has changed it. */
static bool goes_on(const saltusi_async_islands* c, const saltusi_step* s) {
  const saltus_dims* d = &c->views.sys.dims;
  const double* m = s->memory0;
  return m[STARTED] != 0.0 && fabs(m[TIME] - s->t) <= saltusi_async_island_slack(s->t) &&
         memcmp(m + HEAD, s->q0, bytes_of(d->nq)) == 0 &&
         memcmp(m + HEAD + d->nq, s->v0, bytes_of(d->nv)) == 0;
}

/* Sets all islands to the state of the step, with cleared scheme memory. */
static saltus_status start(saltusi_async_islands* c, const saltusi_step* s) {
  for (int i = 0; i < c->count; i++) {
    saltusi_async_island* clock = &c->clock[i];
    clock->front.t = s->t;
    for (int k = 0; k < clock->view->system.dims.nv; k++) {
      clock->front.q[k] = s->q0[clock->view->velocity[k]];
      clock->front.v[k] = s->v0[clock->view->velocity[k]];
    }
    saltusi_scheme_restart(clock->scheme);
    clock->number = 0;
    clock->first = clock->count = 0;
    clock->valid = true;
    clock->failed = SALTUS_OK;
  }
  c->rests = true;
  return saltusi_views_rest(&c->views, &c->memory, s->t, s->q0);
}

/* Restores the islands and their precomputed steps; the flag is true when the islands were started
 * from the state of the step. */
static saltus_status take_up(saltusi_async_islands* c, const saltusi_step* s, bool* restarted) {
  const saltus_dims* d = &c->views.sys.dims;
  *restarted = !goes_on(c, s);
  if (*restarted) {
    return start(c, s);
  }
  saltus_status status = SALTUS_OK;
  if (!c->rests) {
    c->rests = true;
    status = saltusi_views_rest(&c->views, &c->memory, s->t, s->memory0 + HEAD + d->nq + d->nv);
  }
  for (int i = 0; i < c->count && status == SALTUS_OK; i++) {
    status = follow_memory(c, &c->clock[i], s->memory0, &s->eval->work);
  }
  return status;
}

/* Earliest end of the first `steps` kept steps of each island. */
static double first_end(const saltusi_async_islands* c, int steps, double end) {
  double t = end;
  for (int i = 0; i < c->count; i++) {
    saltusi_async_island* clock = &c->clock[i];
    t = fmin(t,
             steps < clock->count ? saltusi_async_island_at(clock, steps - 1)->t1 : clock->front.t);
  }
  return t;
}

/* Common time of the step: earliest end of the kept steps, limited by the capacity of dense
 * output. */
static double common_time(const saltusi_async_islands* c, double end) {
  double t = end;
  for (int steps = SALTUSI_CLOCK_KEPT; steps > 0; steps--) {
    t = first_end(c, steps, end);
    if (saltusi_async_islands_dense_workspace(c, t) <= c->dense_count) {
      break;
    }
  }
  return t;
}

/* Number of kept steps of an island that end at or before a time. */
static int over(saltusi_async_island* clock, double t) {
  int count = 0;
  while (count < clock->count &&
         saltusi_async_island_at(clock, count)->t1 <= t + saltusi_async_island_slack(t)) {
    count++;
  }
  return count;
}

/* Events of a step up to a time. */
static int events_until(const saltusi_async_island_step* step, double t) {
  int count = 0;
  while (count < step->report.event_count &&
         step->events[count].t <= t + saltusi_async_island_slack(t)) {
    count++;
  }
  return count;
}

/* Report of a contact of the whole system in the current step. */
static saltus_contact_step* contact_of(saltusi_async_islands* c, const saltusi_async_island* clock,
                                       int local) {
  int key = clock->view->contact[local];
  saltus_contact_step* contact = &c->contact[key];
  if (!c->acts[key]) {
    c->acts[key] = true;
    *contact = (saltus_contact_step){.key = key, .law = key};
  }
  return contact;
}

/* Events from number `from` until number `to` of a step. */
static void report_events(saltusi_async_islands* c, const saltusi_step* s,
                          const saltusi_async_island* clock, const saltusi_async_island_step* step,
                          int from, int to) {
  for (int i = from; i < to; i++) {
    saltus_event event = step->events[i];
    saltus_contact_step* contact = contact_of(c, clock, event.contact);
    event.contact = contact->key;
    for (int k = 0; k < 3; k++) {
      contact->impulse[k] += event.impulse[k];
    }
    if (event.kind == SALTUS_EVENT_IMPACT || event.kind == SALTUS_EVENT_PAINLEVE) {
      contact->impact = true;
      contact->u_before = event.u_before;
      contact->u_after = event.u_after;
    }
    saltusi_step_event(s, &event);
  }
}

/* Non-impulsive impulses between two times of a step. */
static void report_lasting(saltusi_async_islands* c, const saltusi_step* s,
                           saltusi_async_island* clock, saltusi_async_island_step* step,
                           double from, double to) {
  for (int i = 0; i < step->report.active; i++) {
    int key = step->contacts[i].key;
    saltus_contact_step* contact = contact_of(c, clock, key);
    double at[2][3];
    saltusi_async_island_non_impulsive(clock, step, from, key, at[0]);
    saltusi_async_island_non_impulsive(clock, step, to, key, at[1]);
    for (int k = 0; k < 3; k++) {
      contact->impulse[k] += at[1][k] - at[0][k];
    }
  }
  int nj = clock->view->system.dims.nj;
  if (nj > 0) {
    saltusi_async_island_joints(clock, step, from, c->lasting);
    saltusi_async_island_joints(clock, step, to, c->lasting + nj);
    for (int j = 0; j < nj; j++) {
      s->joint_impulses[clock->view->row[j]] += c->lasting[nj + j] - c->lasting[j];
    }
  }
}

/* Impacts are at the end of a step. */
static void report_joint_impacts(const saltusi_step* s, const saltusi_async_island* clock,
                                 const saltusi_async_island_step* step) {
  for (int j = 0; j < clock->view->system.dims.nj; j++) {
    s->joint_impacts[clock->view->row[j]] += step->impacts[j];
    s->joint_impulses[clock->view->row[j]] += step->impacts[j];
  }
}

static void report_numbers(const saltusi_step* s, const saltus_step_report* own) {
  saltus_step_report* all = s->report;
  all->residual_velocity = fmax(all->residual_velocity, own->residual_velocity);
  all->residual_impulse = fmax(all->residual_impulse, own->residual_impulse);
  all->projection = fmax(all->projection, own->projection);
  all->error = fmax(all->error, own->error);
  all->error_order = own->error_order;
  all->rejections += own->rejections;
  all->proven += own->proven;
  all->sampled += own->sampled;
  all->dry_events += own->dry_events;
  all->captured.h += own->captured.h;
  all->method = own->method;
}

/* State of an island at a time, its part of the memory, and its report since t0. */
static saltus_status put(saltusi_async_islands* c, saltusi_async_island* clock,
                         const saltusi_step* s, double t, bool restarted) {
  int nv = clock->view->system.dims.nv;
  int done = over(clock, t);
  double* m = s->memory1 + clock->memory_at;
  int passed = restarted ? 0 : (int)s->memory0[clock->memory_at + PASSED];
  for (int i = 0; i <= done && i < clock->count; i++) {
    saltusi_async_island_step* step = saltusi_async_island_at(clock, i);
    int until = i < done ? step->report.event_count : events_until(step, t);
    report_events(c, s, clock, step, passed, until);
    report_lasting(c, s, clock, step, fmax(s->t, step->t0), fmin(t, step->t1));
    if (i < done) {
      report_numbers(s, &step->report);
      report_joint_impacts(s, clock, step);
    }
    passed = i < done ? 0 : until;
  }
  bool inside = done < clock->count;
  saltusi_async_island_step* step = inside ? saltusi_async_island_at(clock, done) : NULL;
  m[NUMBER] = (double)(clock->number + done);
  m[PASSED] = inside ? passed : 0;
  m[COUNT] = clock->count - done;
  m[SINCE] = inside ? step->t0 : clock->front.t;
  for (int i = 0; i < SALTUSI_CLOCK_KEPT; i++) {
    m[ENDS + i] = done + i < clock->count ? saltusi_async_island_at(clock, done + i)->end : 0.0;
  }
  const double* q = inside ? step->q : clock->front.q;
  const double* v = inside ? step->v : clock->front.v;
  memcpy(m + CLOCK_HEAD, q, bytes_of(nv));
  memcpy(m + CLOCK_HEAD + nv, v, bytes_of(nv));
  memcpy(m + CLOCK_HEAD + 2 * nv, inside ? step->memory : clock->scheme->memory0,
         clock->memory_count * sizeof(double));
  saltus_status status = SALTUS_OK;
  if (inside && step->t0 < t - saltusi_async_island_slack(t)) {
    const saltusi_dense_query query = {
        .t = t, .side = SALTUS_RIGHT, .q = clock->shown, .v = clock->shown + nv};
    status = saltusi_scheme_dense_ask(clock->scheme, step->dense, &query);
    q = clock->shown;
    v = clock->shown + nv;
  }
  for (int i = 0; i < nv; i++) {
    s->q1[clock->view->velocity[i]] = q[i];
    s->v1[clock->view->velocity[i]] = v[i];
  }
  return status;
}

/* Merges runs of events sorted by time; for equal times the island with the lower index comes
 * first. */
static saltus_status sort_events(saltusi_async_islands* c, saltusi_event_list* list) {
  if (list == NULL || list->count < 2 || list->count > list->room) {
    return SALTUS_OK; /* without capacity the step is repeated */
  }
  void* spare = c->sorted;
  if (!saltusi_grow(&c->memory, &spare, &c->sorted_room, (size_t)list->count,
                    sizeof(saltus_event))) {
    return SALTUS_ERR_MEMORY;
  }
  c->sorted = spare;
  saltus_event* from = list->items;
  saltus_event* to = c->sorted;
  for (int width = 1; width < list->count; width *= 2) {
    for (int low = 0; low < list->count; low += 2 * width) {
      int middle = low + width < list->count ? low + width : list->count;
      int high = low + 2 * width < list->count ? low + 2 * width : list->count;
      int a = low;
      int b = middle;
      for (int k = low; k < high; k++) {
        bool first = a < middle && (b >= high || from[a].t <= from[b].t);
        to[k] = from[first ? a++ : b++];
      }
    }
    saltus_event* swapped = from;
    from = to;
    to = swapped;
  }
  if (from != list->items) {
    memcpy(list->items, from, (size_t)list->count * sizeof(saltus_event));
  }
  return SALTUS_OK;
}

/* Component that limited the common step: that of the island whose step ends with it. */
static void report_limit(saltusi_async_islands* c, const saltusi_step* s, double t) {
  s->report->limit = SALTUS_LIMIT_END;
  for (int i = 0; i < c->count; i++) {
    saltusi_async_island* clock = &c->clock[i];
    if (clock->count == 0 || clock->front.t > t + saltusi_async_island_slack(t)) {
      continue;
    }
    const saltus_step_report* own = &saltusi_async_island_at(clock, clock->count - 1)->report;
    s->report->limit = own->limit;
    s->report->limit_index =
        own->limit == SALTUS_LIMIT_IMPULSE ? clock->view->contact[own->limit_index]
        : own->limit == SALTUS_LIMIT_POSITION || own->limit == SALTUS_LIMIT_VELOCITY
            ? clock->view->velocity[own->limit_index]
            : 0;
    return;
  }
}

/* State of all islands at the common time, and the report of the step. */
static saltus_status put_all(saltusi_async_islands* c, const saltusi_step* s, double t, double end,
                             bool restarted) {
  const saltus_dims* d = &c->views.sys.dims;
  double* m = s->memory1;
  memset(c->acts, 0, (size_t)d->nc * sizeof(bool));
  memset(s->joint_impulses, 0, bytes_of(d->nj));
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < c->count && status == SALTUS_OK; i++) {
    status = put(c, &c->clock[i], s, t, restarted);
  }
  status = status == SALTUS_OK ? sort_events(c, s->events) : status;
  for (int key = 0; key < d->nc; key++) {
    if (c->acts[key]) {
      s->contacts[s->report->active++] = c->contact[key];
    }
  }
  m[STARTED] = 1.0;
  m[END] = end;
  m[TIME] = t;
  memcpy(m + HEAD, s->q1, bytes_of(d->nq));
  memcpy(m + HEAD + d->nq, s->v1, bytes_of(d->nv));
  memcpy(m + HEAD + d->nq + d->nv, c->views.rest, bytes_of(d->nq));
  report_limit(c, s, t);
  if (s->dense != NULL) {
    saltusi_async_islands_dense_write(c, s->t, t, s->dense);
  }
  return status;
}

saltus_status saltusi_async_islands_step(saltusi_async_islands* clocks, const saltusi_step* step) {
  assert(clocks != NULL && step != NULL);
  bool restarted;
  clocks->failed = -1;
  saltus_status status = take_up(clocks, step, &restarted);
  double end = step->t + step->h;
  double before = step->memory0[END]; /* the same end time, up to the rounding of another sum */
  if (!restarted && fabs(end - before) <= saltusi_async_island_slack(end)) {
    end = before;
  }
  for (int i = 0; i < clocks->count && status == SALTUS_OK; i++) {
    status = fill(clocks, &clocks->clock[i], end, &step->eval->work);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  double t = common_time(clocks, end);
  for (int i = 0; i < clocks->count; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    if (clock->failed != SALTUS_OK &&
        clock->front.t <= step->t + saltusi_async_island_slack(step->t)) {
      clocks->failed = i;
      return clock->failed;
    }
  }
  bool last = t >= end;
  step->report->h = last ? step->h : t - step->t;
  t = last ? end : step->t + step->report->h; /* the same sum as in the caller */
  return put_all(clocks, step, t, end, restarted);
}

saltus_status saltusi_async_islands_explain(saltusi_async_islands* clocks, saltus_status status,
                                            saltus_log log) {
  assert(clocks != NULL);
  if (clocks->failed < 0) {
    return status;
  }
  saltusi_async_island* clock = &clocks->clock[clocks->failed];
  saltus_scheme* scheme = clock->scheme;
  double most = fmin(clock->failed_end - clock->front.t, 1e300);
  saltus_step_report report;
  scheme->log = log;
  saltus_status again = try(clocks, clock, most, &report);
  if (again == SALTUS_OK) {
    again = status; /* step-size underflow */
  }
  scheme->events = clocks->events; /* the explanation may repeat the step */
  again = saltusi_scheme_explain(scheme, again, clock->front.t, most);
  clocks->events = scheme->events;
  scheme->events = (saltusi_event_list){0};
  scheme->log = (saltus_log){0};
  return again;
}

saltus_status saltusi_async_islands_forces(saltusi_async_islands* clocks, const saltusi_step* step,
                                           double* out) {
  assert(clocks != NULL && step != NULL && out != NULL);
  bool restarted;
  size_t joints = 3 * (size_t)clocks->views.sys.dims.nc;
  saltus_status status = take_up(clocks, step, &restarted);
  for (int i = 0; i < clocks->count && status == SALTUS_OK; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    const saltus_dims* d = &clock->view->system.dims;
    double* own = clocks->by_island;
    if (clock->count > 0) {
      saltusi_async_island_forces(clock, saltusi_async_island_at(clock, 0), step->t, own);
    } else {
      status = saltusi_scheme_forces(clock->scheme, &clock->front, own);
    }
    for (int key = 0; key < d->nc; key++) {
      memcpy(out + 3 * (size_t)clock->view->contact[key], own + 3 * (size_t)key, bytes_of(3));
    }
    for (int j = 0; j < d->nj; j++) {
      out[joints + (size_t)clock->view->row[j]] = own[3 * (size_t)d->nc + (size_t)j];
    }
  }
  return status;
}

void saltusi_async_islands_count(const saltusi_async_islands* clocks, const double* memory1,
                                 saltus_tally* tally, long long* limited) {
  assert(clocks != NULL && memory1 != NULL && tally != NULL);
  const saltus_dims* d = &clocks->views.sys.dims;
  for (int i = 0; i < clocks->count; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    int done = (int)((long long)memory1[clock->memory_at + NUMBER] - clock->number);
    for (int k = 0; k < done; k++) {
      const saltusi_async_island_step* step = saltusi_async_island_at(clock, k);
      const saltus_step_report* report = &step->report;
      const int* number[] = {clock->view->velocity, clock->view->velocity, clock->view->contact};
      const int first[] = {0, d->nq, d->nq + d->nv};
      bool first_step = tally->steps == 0;
      tally->h_least = first_step ? report->h : fmin(tally->h_least, report->h);
      tally->h_most = fmax(tally->h_most, report->h);
      tally->steps++;
      tally->rejections += report->rejections;
      tally->proven += report->proven;
      tally->sampled += report->sampled;
      tally->dry_events += report->dry_events;
      saltusi_tally_captured(tally, step->t0, &report->captured);
      tally->limits[report->limit]++;
      int kind = (int)report->limit - (int)SALTUS_LIMIT_POSITION;
      if (kind >= 0 && kind < 3) {
        limited[first[kind] + number[kind][report->limit_index]]++;
      }
      saltusi_tally_method(tally, report->method);
    }
  }
}
