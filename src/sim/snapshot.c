/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * snapshot.c - state of a simulation as bytes. The continued motion depends on these data alone.
 *
 *   header | q | v | recording sums | identities and laws of a time-varying set | scheme memory
 */
#include "base/hash.h"
#include "base/log.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* The header identifies the simulation of the bytes; all of it has to agree at loading. */
typedef struct header {
  char magic[8];
  uint64_t fits; /* hash of scheme, options, sizes, t0 and h */
  long long step;
  double t;
  double h_next, h_min, h_max; /* of a controlled run */
  long long contacts;          /* keys of a time-varying set that are stored */
  uint64_t whole; /* hash of all bytes: the header with zero here, and the data after it */
} header;

static uint64_t fingerprint_whole(header head, const void* rest, size_t bytes) {
  head.whole = 0;
  return saltusi_hash(saltusi_hash(SALTUSI_HASH_START, &head, sizeof head), rest, bytes);
}

static uint64_t fingerprint(const saltus_sim* sim) {
  uint64_t hash = saltusi_scheme_fingerprint(sim->scheme);
  const saltus_dims* d = &sim->sys.dims;
  const int sizes[] = {d->nq, d->nv, d->nj, sim->changing ? -1 : d->nc};
  hash = saltusi_hash(hash, sizes, sizeof sizes);
  const double times[] = {sim->def.t0, sim->def.h};
  return saltusi_hash(hash, times, sizeof times);
}

/* A part of a snapshot; saving and loading use the same list of parts. */
typedef struct snapshot_part {
  void* at;
  size_t bytes;
} snapshot_part;

enum { IDENTITIES = 9, LAWS = 10, PARTS = 11 }; /* all before these two are doubles */

/* `contacts` keys of a time-varying set; all of a fixed set. */
static void list_parts(const saltus_sim* sim, long long contacts, snapshot_part parts[PARTS]) {
  const saltus_dims* d = &sim->sys.dims;
  const saltusi_contact_table* table = &sim->keys.table;
  size_t nc = (size_t)contacts;
  size_t changing = sim->changing ? nc : 0;
  int events = sim->def.observables != NULL ? sim->def.observables->event_count : 0;
  parts[0] = (snapshot_part){sim->now.q, (size_t)d->nq * sizeof(double)};
  parts[1] = (snapshot_part){sim->now.v, (size_t)d->nv * sizeof(double)};
  parts[2] = (snapshot_part){sim->sums, SALTUSI_SUM_COUNT * sizeof(double)};
  parts[3] = (snapshot_part){sim->contact_sums, nc * sizeof(saltusi_contact_sum)};
  parts[4] = (snapshot_part){sim->joint_sums, 2 * (size_t)d->nj * sizeof(double)};
  parts[5] = (snapshot_part){sim->ledger, sizeof(saltusi_ledger)};
  parts[6] = (snapshot_part){sim->contact_works, nc * sizeof(saltusi_contact_work)};
  parts[7] = (snapshot_part){sim->crossings, (size_t)events * sizeof(saltusi_crossing)};
  parts[8] = (snapshot_part){sim->works_taken, changing * sizeof(saltusi_contact_work)};
  parts[IDENTITIES] = (snapshot_part){table->identity, changing * sizeof(uint64_t)};
  parts[LAWS] = (snapshot_part){table->law, changing * sizeof(int)};
}

static size_t count_bytes(const saltus_sim* sim, long long contacts) {
  snapshot_part parts[PARTS];
  list_parts(sim, contacts, parts);
  size_t total = 0;
  for (int i = 0; i < PARTS; i++) {
    total += parts[i].bytes;
  }
  return total;
}

/* Number of keys to be stored. */
static long long count_contacts(const saltus_sim* sim) {
  return sim->changing ? saltusi_table_least(&sim->keys.table) : sim->sys.dims.nc;
}

size_t saltus_sim_snapshot_bytes(const saltus_sim* sim) {
  assert(sim != NULL && sim->scheme != NULL);
  return sizeof(header) + count_bytes(sim, count_contacts(sim)) +
         saltus_scheme_memory_bytes(sim->scheme);
}

static header make_header(const saltus_sim* sim) {
  header head = {.fits = fingerprint(sim),
                 .step = sim->step,
                 .t = sim->now.t,
                 .contacts = count_contacts(sim)};
  if (sim->control != NULL) {
    head.h_next = sim->control->h;
    head.h_min = sim->control->h_min;
    head.h_max = sim->control->h_max;
  }
  memcpy(head.magic, "saltus 2", sizeof head.magic);
  return head;
}

void saltus_sim_snapshot_save(const saltus_sim* sim, void* bytes) {
  assert(sim != NULL && bytes != NULL);
  unsigned char* start = (unsigned char*)bytes + sizeof(header);
  unsigned char* to = start;
  header head = make_header(sim);
  snapshot_part parts[PARTS];
  list_parts(sim, head.contacts, parts);
  for (int i = 0; i < PARTS; i++) {
    if (parts[i].bytes > 0) {
      memcpy(to, parts[i].at, parts[i].bytes);
    }
    to += parts[i].bytes;
  }
  saltus_scheme_memory_save(sim->scheme, to);
  to += saltus_scheme_memory_bytes(sim->scheme);
  head.whole = fingerprint_whole(head, start, (size_t)(to - start));
  memcpy(bytes, &head, sizeof head);
}

/* True if times and step sizes of a header are valid. */
static bool has_times(const saltus_sim* sim, const header* head) {
  bool steps = sim->control == NULL ||
               (head->h_next > 0.0 && head->h_min >= 0.0 && head->h_max >= head->h_min);
  return isfinite(head->t) && head->t >= sim->def.t0 && isfinite(head->h_next) && steps &&
         head->step >= 0;
}

bool saltusi_are_finite(const unsigned char* from, size_t bytes) {
  assert(from != NULL && bytes % sizeof(double) == 0);
  for (size_t at = 0; at < bytes; at += sizeof(double)) {
    double value;
    memcpy(&value, from + at, sizeof value);
    if (!isfinite(value)) {
      return false;
    }
  }
  return true;
}

/* Tests whether the bytes are a complete snapshot of this simulation. The data between header and identities are
 * doubles. */
static bool fits(const saltus_sim* sim, const void* bytes, size_t size, header* head) {
  const header expected = make_header(sim);
  if (size < sizeof *head) {
    return false;
  }
  memcpy(head, bytes, sizeof *head);
  bool same = memcmp(head->magic, expected.magic, sizeof head->magic) == 0 &&
              head->fits == expected.fits && has_times(sim, head) && head->contacts >= 0 &&
              head->contacts <= INT_MAX / 8 &&
              (sim->changing || head->contacts == expected.contacts);
  size_t rest = size - sizeof *head;
  size_t own = same ? count_bytes(sim, head->contacts) : 0;
  size_t memory = saltus_scheme_memory_bytes(sim->scheme);
  const unsigned char* behind = (const unsigned char*)bytes + sizeof *head;
  if (!same || own > rest || (!sim->changing && rest - own != memory) ||
      fingerprint_whole(*head, behind, rest) != head->whole) {
    return false;
  }
  snapshot_part parts[PARTS];
  list_parts(sim, head->contacts, parts);
  return saltusi_are_finite(behind, own - parts[IDENTITIES].bytes - parts[LAWS].bytes);
}

/* Loads all parts except the memory of the scheme. */
static saltus_status load_parts(saltus_sim* sim, const header* head, const unsigned char* from) {
  size_t nc = (size_t)head->contacts;
  if (sim->changing) {
    const unsigned char* end = from + count_bytes(sim, head->contacts);
    const unsigned char* law = end - nc * sizeof(int);
    saltus_status status = saltusi_sim_restore(sim, (int)nc, law - nc * sizeof(uint64_t), law);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  snapshot_part parts[PARTS];
  list_parts(sim, head->contacts, parts);
  for (int i = 0; i < PARTS; i++) {
    if (parts[i].bytes > 0) {
      memcpy(parts[i].at, from, parts[i].bytes);
    }
    from += parts[i].bytes;
  }
  return SALTUS_OK;
}

saltus_status saltus_sim_snapshot_load(saltus_sim* sim, const void* bytes, size_t size) {
  assert(sim != NULL && (bytes != NULL || size == 0));
  header head;
  if (!fits(sim, bytes, size, &head)) {
    saltusi_log(
        sim->def.log, SALTUS_LEVEL_ERROR,
        "snapshot: these %zu bytes do not belong to this simulation (other scheme, options, "
        "system, start or step), or were changed",
        size);
    return SALTUS_ERR_INPUT;
  }
  const unsigned char* from = (const unsigned char*)bytes + sizeof head;
  size_t own = count_bytes(sim, head.contacts);
  const size_t q_bytes = (size_t)sim->sys.dims.nq * sizeof(double);
  sim->next.t = head.t;
  memcpy(sim->next.q, from, q_bytes);
  memcpy(sim->next.v, from + q_bytes, (size_t)sim->sys.dims.nv * sizeof(double));
  saltus_status status =
      saltusi_scheme_memory_check(sim->scheme, &sim->next, from + own, size - sizeof head - own);
  if (status == SALTUS_OK) {
    status = saltus_scheme_memory_load(sim->scheme, from + own, size - sizeof head - own);
  }
  if (status == SALTUS_OK) {
    status = load_parts(sim, &head, from);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  sim->step = head.step;
  sim->now.t = head.t;
  saltusi_switch_restore(sim);
  sim->observe.gaps_known = false;
  saltusi_scheme_forget(sim->scheme);
  saltusi_observer_resume(sim);
  if (sim->control != NULL) {
    sim->control->h = head.h_next;
    sim->control->h_min = head.h_min;
    sim->control->h_max = head.h_max;
  }
  return SALTUS_OK;
}
