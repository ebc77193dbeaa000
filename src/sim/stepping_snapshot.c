/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * stepping_snapshot.c - state of an advanced simulation as bytes:
 *
 *   head | states of the caller | crossings | pending switches | motion of the last step | events | simulation
 *
 * Bytes of equal runs are equal: all padding is zero.
 */
#include "sim/stepping_state.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_ops.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct stepping_head {
  char magic[8];
  uint64_t whole;  /* hash of all bytes: the head with zero here, and the data after it */
  uint64_t bounds; /* hash of sizes */
  double now, left, t_last;
  double t, h; /* s, of the last step; h 0: no dense output */
  long long contacts, doubles, events, passed;
  long long changed; /* 1: the system changed after the last step, which the next one notices */
} stepping_head;

static uint64_t hash_all(stepping_head head, const void* rest, size_t bytes) {
  head.whole = 0;
  return saltusi_hash(saltusi_hash(SALTUSI_HASH_START, &head, sizeof head), rest, bytes);
}

static size_t function_count(const saltus_sim* sim) {
  return sim->def.observables != NULL ? (size_t)sim->def.observables->event_count : 0;
}

static stepping_head make_head(const saltus_sim* sim) {
  const saltusi_stepping* s = sim->stepping;
  const long long sizes[] = {sim->sys.dims.nq, sim->sys.dims.nv, (long long)function_count(sim)};
  stepping_head head = {.bounds = saltusi_hash(SALTUSI_HASH_START, sizes, sizeof sizes),
                        .now = s->now.t,
                        .left = s->left.t,
                        .t_last = isfinite(s->t_last) ? s->t_last : HUGE_VAL,
                        .contacts = saltusi_scheme_workspace(sim->scheme),
                        .events = s->count,
                        .passed = s->passed,
                        .changed = sim->def.changes != NULL && *sim->def.changes != sim->changes};
  memcpy(head.magic, "saltus-s", sizeof head.magic);
  saltusi_scheme_dense_span(sim->scheme, &head.t, &head.h);
  head.t = head.h > 0.0 ? head.t : 0.0;
  head.doubles = head.h > 0.0 ? (long long)saltusi_scheme_dense_count(sim->scheme) : 0;
  return head;
}

static size_t state_bytes(const saltus_sim* sim) {
  return ((size_t)sim->sys.dims.nq + (size_t)sim->sys.dims.nv) * sizeof(double);
}

/* Bytes between head and simulation. */
static size_t count_bytes(const saltus_sim* sim, const stepping_head* head) {
  return 2 * state_bytes(sim) + function_count(sim) * (sizeof(saltusi_crossing) + sizeof(double)) +
         (size_t)head->doubles * sizeof(double) + (size_t)head->events * sizeof(saltus_event);
}

size_t saltusi_stepping_bytes(const saltus_sim* sim) {
  assert(sim != NULL && sim->stepping != NULL);
  const stepping_head head = make_head(sim);
  return sizeof head + count_bytes(sim, &head) + saltus_sim_snapshot_bytes(sim);
}

static unsigned char* put(unsigned char* to, const void* from, size_t bytes) {
  if (bytes > 0) {
    memcpy(to, from, bytes);
  }
  return to + bytes;
}

static const unsigned char* get(const unsigned char* from, void* to, size_t bytes) {
  if (bytes > 0) {
    memcpy(to, from, bytes);
  }
  return from + bytes;
}

void saltusi_event_copy(void* to, const saltus_event* from) {
  assert(to != NULL && from != NULL);
  static const struct {
    size_t at, bytes;
  } members[] = {
#define MEMBER(name) {offsetof(saltus_event, name), sizeof(((saltus_event*)0)->name)}
      MEMBER(kind),          MEMBER(t),          MEMBER(t_accuracy),
      MEMBER(contact),       MEMBER(u_before),   MEMBER(u_after),
      MEMBER(slip_before),   MEMBER(slip_after), MEMBER(impulse),
      MEMBER(energy_change), MEMBER(identity),   MEMBER(law),
      MEMBER(slip_work)};
#undef MEMBER
  memset(to, 0, sizeof *from);
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    memcpy((unsigned char*)to + members[i].at, (const unsigned char*)from + members[i].at,
           members[i].bytes);
  }
}

void saltusi_stepping_save(const saltus_sim* sim, void* bytes) {
  assert(sim != NULL && sim->stepping != NULL && bytes != NULL);
  const saltusi_stepping* s = sim->stepping;
  stepping_head head = make_head(sim);
  unsigned char* const start = (unsigned char*)bytes + sizeof head;
  unsigned char* to = start;
  const saltus_state* const states[] = {&s->now, &s->left};
  for (int i = 0; i < 2; i++) {
    to = put(to, states[i]->q, (size_t)sim->sys.dims.nq * sizeof(double));
    to = put(to, states[i]->v, (size_t)sim->sys.dims.nv * sizeof(double));
  }
  to = put(to, s->crossings, function_count(sim) * sizeof *s->crossings);
  for (size_t i = 0; i < function_count(sim); i++) {
    const double pending = sim->observe.pending[i];
    to = put(to, &pending, sizeof pending);
  }
  if (head.doubles > 0) { /* the copy may be unaligned: doubles are moved as bytes */
    const double* data = saltusi_scheme_dense_data(sim->scheme);
    to = put(to, data, (size_t)head.doubles * sizeof(double));
  }
  for (long long i = 0; i < head.events; i++, to += sizeof(saltus_event)) {
    saltusi_event_copy(to, &s->events[i]);
  }
  saltus_sim_snapshot_save(sim, to);
  to += saltus_sim_snapshot_bytes(sim);
  head.whole = hash_all(head, start, (size_t)(to - start));
  memcpy(bytes, &head, sizeof head);
}

/* True if the bytes are a complete snapshot of this simulation. */
static bool fits(const saltus_sim* sim, const void* bytes, size_t size, stepping_head* head) {
  if (size < sizeof *head) {
    return false;
  }
  memcpy(head, bytes, sizeof *head);
  const stepping_head own = make_head(sim);
  const bool sizes =
      memcmp(head->magic, own.magic, sizeof own.magic) == 0 && head->bounds == own.bounds &&
      head->contacts >= 0 && head->contacts <= INT_MAX / 64 && head->doubles >= 0 &&
      head->doubles <= INT_MAX && head->events >= 0 && head->events <= INT_MAX / 256 &&
      head->passed >= 0 && head->passed <= head->events && isfinite(head->now) &&
      isfinite(head->left) && isfinite(head->t) && head->h >= 0.0 && isfinite(head->h) &&
      (sim->changing || head->contacts == own.contacts) &&
      (size_t)head->doubles ==
          (head->h > 0.0 ? saltusi_scheme_dense_count_for(sim->scheme, (int)head->contacts) : 0);
  const size_t rest = size - sizeof *head;
  const unsigned char* behind = (const unsigned char*)bytes + sizeof *head;
  return sizes && count_bytes(sim, head) <= rest && hash_all(*head, behind, rest) == head->whole &&
         saltusi_are_finite(behind, 2 * state_bytes(sim));
}

static saltus_status load_events(saltus_sim* sim, const stepping_head* head,
                                 const unsigned char* from) {
  saltusi_stepping* s = sim->stepping;
  s->count = s->passed = 0;
  saltus_status status = SALTUS_OK;
  for (long long i = 0; i < head->events && status == SALTUS_OK; i++) {
    saltus_event event;
    memcpy(&event, from + (size_t)i * sizeof event, sizeof event);
    s->passed = s->count; /* keeps their order */
    status = saltusi_stepping_note(sim, &event);
  }
  s->passed = (int)head->passed;
  return status;
}

static saltus_status load_motion(saltus_sim* sim, const stepping_head* head,
                                 const unsigned char* from) {
  if (head->doubles == 0) {
    return SALTUS_OK;
  }
  const size_t bytes = (size_t)head->doubles * sizeof(double);
  double* data = sim->memory.alloc(bytes, sim->memory.user);
  if (data == NULL) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memcpy(data, from, bytes);
  saltusi_scheme_dense_restore(sim->scheme, head->t, head->h, (int)head->contacts, data);
  sim->memory.free(data, bytes, sim->memory.user);
  return SALTUS_OK;
}

saltus_status saltusi_stepping_load(saltus_sim* sim, const void* bytes, size_t size) {
  assert(sim != NULL && sim->stepping != NULL && bytes != NULL);
  saltusi_stepping* s = sim->stepping;
  stepping_head head;
  if (!fits(sim, bytes, size, &head)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "run: these %zu bytes are no state of this run, or were changed", size);
    return SALTUS_ERR_INPUT;
  }
  const unsigned char* from = (const unsigned char*)bytes + sizeof head;
  const unsigned char* behind = from + count_bytes(sim, &head);
  saltus_status status =
      saltus_sim_snapshot_load(sim, behind, size - (size_t)(behind - (const unsigned char*)bytes));
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_state* const states[] = {&s->now, &s->left};
  for (int i = 0; i < 2; i++) {
    from = get(from, states[i]->q, (size_t)sim->sys.dims.nq * sizeof(double));
    from = get(from, states[i]->v, (size_t)sim->sys.dims.nv * sizeof(double));
  }
  s->now.t = head.now;
  s->left.t = head.left;
  from = get(from, s->crossings, function_count(sim) * sizeof *s->crossings);
  for (size_t i = 0; i < function_count(sim); i++) {
    double pending;
    from = get(from, &pending, sizeof pending);
    sim->observe.pending[i] = (pending > 0.0) - (pending < 0.0);
  }
  status = load_motion(sim, &head, from);
  if (sim->def.changes != NULL) {
    sim->changes = *sim->def.changes - (head.changed != 0 ? 1 : 0);
  }
  return status == SALTUS_OK ? load_events(sim, &head, from + (size_t)head.doubles * sizeof(double))
                             : status;
}
