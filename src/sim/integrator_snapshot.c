/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * integrator_snapshot.c - state of an integrator as bytes: the time of the caller inside of the last step, the front,
 * and the memory of the scheme. The continued motion depends on these data alone.
 */
#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_ops.h"
#include "sim/integrator_state.h"
#include "sim/sim_state.h"
#include "sim/stepping.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* The head is followed by q and v of three states; then motion, owners of keys and queued events of the last step;
 * then the memory of the scheme. */
typedef struct snapshot_head {
  char magic[8];
  uint64_t fits;           /* hash of scheme, options and sizes */
  uint64_t whole;          /* hash of all bytes: the head with zero here, and the data after it */
  double now, front, step; /* s */
  long long stepped;       /* 1: a last step is stored */
  long long contacts;      /* capacity of its motion */
  long long doubles;       /* of its motion */
  long long events;
  long long changed; /* 1: the system changed after the last step, which the next one notices */
} snapshot_head;

static uint64_t fingerprint_whole(snapshot_head head, const void* rest, size_t bytes) {
  head.whole = 0;
  return saltusi_hash(saltusi_hash(SALTUSI_HASH_START, &head, sizeof head), rest, bytes);
}

static snapshot_head make_head(const saltus_integrator* it) {
  const int sizes[] = {it->dims.nq, it->dims.nv, it->dims.nj, it->changing ? -1 : it->dims.nc};
  bool stepped = it->steps > 0;
  snapshot_head head = {
      .magic = "saltus-i",
      .fits = saltusi_hash(saltusi_scheme_fingerprint(it->scheme), sizes, sizeof sizes),
      .now = it->now.t,
      .front = it->front.t,
      .step = stepped ? saltusi_kept_at(it, it->steps - 1)->t : it->front.t,
      .stepped = stepped,
      .contacts = stepped ? it->contacts : 0,
      .doubles = stepped ? (long long)saltusi_scheme_dense_count(it->scheme) : 0,
      .events = it->report.event_count - it->reported,
      .changed = it->changes != NULL && *it->changes != it->known};
  return head;
}

static size_t state_bytes(const saltus_integrator* it) {
  return ((size_t)it->dims.nq + (size_t)it->dims.nv) * sizeof(double);
}

static size_t step_bytes(const snapshot_head* head) {
  return (size_t)head->doubles * sizeof(double) + (size_t)head->contacts * sizeof(saltusi_owner) +
         (size_t)head->events * sizeof(saltus_event);
}

size_t saltus_integrator_snapshot_bytes(const saltus_integrator* it) {
  assert(it != NULL && it->scheme != NULL);
  const snapshot_head head = make_head(it);
  return sizeof head + 3 * state_bytes(it) + step_bytes(&head) +
         saltus_scheme_memory_bytes(it->scheme);
}

static unsigned char* add(unsigned char* to, const void* from, size_t bytes) {
  if (bytes > 0) {
    memcpy(to, from, bytes);
  }
  return to + bytes;
}

static unsigned char* add_state(const saltus_integrator* it, unsigned char* to,
                                const saltus_state* state) {
  to = add(to, state->q, (size_t)it->dims.nq * sizeof(double));
  return add(to, state->v, (size_t)it->dims.nv * sizeof(double));
}

void saltus_integrator_snapshot_save(const saltus_integrator* it, void* bytes) {
  assert(it != NULL && bytes != NULL);
  snapshot_head head = make_head(it);
  unsigned char* start = (unsigned char*)bytes + sizeof head;
  unsigned char* to = add_state(it, start, &it->now);
  to = add_state(it, to, &it->front);
  to = add_state(it, to, it->steps > 0 ? &it->next : &it->front); /* start of the last step */
  if (it->steps > 0) {
    const saltusi_kept_step* kept = saltusi_kept_at(it, it->steps - 1);
    to = add(to, kept->data, (size_t)head.doubles * sizeof(double));
    to = add(to, kept->owners, (size_t)head.contacts * sizeof(saltusi_owner));
  }
  for (long long i = 0; i < head.events; i++, to += sizeof(saltus_event)) {
    saltusi_event_copy(to, &it->report.events[it->reported + (int)i]);
  }
  saltus_scheme_memory_save(it->scheme, to);
  to += saltus_scheme_memory_bytes(it->scheme);
  head.whole = fingerprint_whole(head, start, (size_t)(to - start));
  memcpy(bytes, &head, sizeof head);
}

/* Restores the motion of the last step with the present layout. */
static saltus_status load_step(saltus_integrator* it, const snapshot_head* head,
                               const unsigned char* from) {
  saltus_status status = saltusi_integrator_fit(it);
  if (status != SALTUS_OK || head->stepped == 0) {
    return status;
  }
  saltusi_kept_step* kept = saltusi_kept_at(it, 0);
  kept->t = head->step;
  kept->end = head->front;
  size_t bytes = (size_t)head->doubles * sizeof(double);
  double* data = it->memory.alloc(bytes + 1, it->memory.user);
  if (data == NULL) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR, "integrator: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memcpy(data, from, bytes);
  saltusi_scheme_dense_transfer(it->scheme, (int)head->contacts, data, kept->data);
  it->memory.free(data, bytes + 1, it->memory.user);
  for (int key = 0; key < it->contacts; key++) {
    kept->owners[key] = (saltusi_owner){.law = -1};
    if (key < head->contacts) {
      memcpy(&kept->owners[key], from + bytes + (size_t)key * sizeof(saltusi_owner),
             sizeof(saltusi_owner));
    }
  }
  it->steps = 1;
  return SALTUS_OK;
}

static saltus_status load_events(saltus_integrator* it, const snapshot_head* head,
                                 const unsigned char* from) {
  void* waiting = it->waiting;
  if (!saltusi_grow(&it->memory, &waiting, &it->waiting_capacity, (size_t)head->events + 1,
                    sizeof *it->waiting)) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR, "integrator: no memory for %lld events", head->events);
    return SALTUS_ERR_MEMORY;
  }
  it->waiting = waiting;
  memcpy(it->waiting, from, (size_t)head->events * sizeof(saltus_event));
  it->report = (saltus_step_report){.events = it->waiting, .event_count = (int)head->events};
  return SALTUS_OK;
}

/* True if the times of a head are in order: the caller is inside of the last step. */
static bool has_order(const snapshot_head* head) {
  bool finite = isfinite(head->now) && isfinite(head->front) && isfinite(head->step);
  return finite && head->step <= head->front && head->now <= head->front;
}

/* True if the last step of a head has the size of the scheme. */
static bool has_step(const saltus_integrator* it, const snapshot_head* head) {
  if (head->stepped == 0) {
    return head->doubles == 0 && head->contacts == 0;
  }
  return head->stepped == 1 && (it->changing || head->contacts == it->dims.nc) &&
         (size_t)head->doubles == saltusi_scheme_dense_count_for(it->scheme, (int)head->contacts);
}

/* Tests whether the bytes are a complete snapshot of this integrator, and reads its head. */
static bool read_head(const saltus_integrator* it, const void* bytes, size_t size,
                      snapshot_head* head) {
  const snapshot_head own = make_head(it);
  if (size < sizeof *head) {
    return false;
  }
  memcpy(head, bytes, sizeof *head);
  bool good = memcmp(head->magic, own.magic, sizeof head->magic) == 0 && head->fits == own.fits &&
              head->events >= 0 && head->events <= INT_MAX && head->contacts >= 0 &&
              head->contacts <= INT_MAX / 64 && head->doubles >= 0 && head->doubles <= INT_MAX;
  size_t rest = size - sizeof *head;
  const unsigned char* behind = (const unsigned char*)bytes + sizeof *head;
  return good && has_order(head) && has_step(it, head) &&
         3 * state_bytes(it) + step_bytes(head) <= rest &&
         fingerprint_whole(*head, behind, rest) == head->whole &&
         saltusi_are_finite(behind, 3 * state_bytes(it));
}

static const unsigned char* get_state(const saltus_integrator* it, saltus_state* state, double t,
                                      const unsigned char* from) {
  size_t q = (size_t)it->dims.nq * sizeof(double);
  size_t v = (size_t)it->dims.nv * sizeof(double);
  state->t = t;
  memcpy(state->q, from, q);
  memcpy(state->v, from + q, v);
  return from + q + v;
}

saltus_status saltus_integrator_snapshot_load(saltus_integrator* it, const void* bytes,
                                              size_t size) {
  assert(it != NULL && bytes != NULL);
  snapshot_head head;
  if (!read_head(it, bytes, size, &head)) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR,
                "integrator: the bytes are no snapshot of this system, scheme and these options");
    return SALTUS_ERR_INPUT;
  }
  const unsigned char* from = (const unsigned char*)bytes + sizeof head;
  const unsigned char* memory = from + 3 * state_bytes(it) + step_bytes(&head);
  saltusi_scheme_restart(it->scheme);
  saltus_status status = saltus_scheme_memory_load(it->scheme, memory,
                                                   size - (size_t)(memory - (unsigned char*)bytes));
  if (status != SALTUS_OK) {
    return status;
  }
  from = get_state(it, &it->now, head.now, from);
  from = get_state(it, &it->front, head.front, from);
  from = get_state(it, &it->start, head.step, from);
  it->next.t = head.step;
  memcpy(it->next.q, it->start.q, (size_t)it->dims.nq * sizeof(double));
  memcpy(it->next.v, it->start.v, (size_t)it->dims.nv * sizeof(double));
  it->steps = 0;
  it->reported = 0;
  it->event_count = 0;
  /* inputs set before the load belong to it */
  it->known = (it->changes != NULL ? *it->changes : 0) - (head.changed != 0 ? 1 : 0);
  status = load_step(it, &head, from);
  size_t step =
      (size_t)head.doubles * sizeof(double) + (size_t)head.contacts * sizeof(saltusi_owner);
  return status == SALTUS_OK ? load_events(it, &head, from + step) : status;
}
