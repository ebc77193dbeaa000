/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * snapshot.c - everything the future of a simulation depends on, as bytes.
 *
 *   header | q | v | scheme memory | recording sums
 */
#include "base/hash.h"
#include "base/log.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <string.h>

/* The header says what the bytes belong to; all of it has to agree when they are loaded. */
typedef struct header {
  char magic[8];
  uint64_t fits; /* fingerprint of scheme, options, sizes, t0 and h */
  long long step;
  double t;
  double h_next, h_min, h_max; /* of a controlled run */
} header;

static uint64_t fingerprint(const saltus_sim* sim) {
  uint64_t hash = saltusi_scheme_fingerprint(sim->scheme);
  const saltus_dims* d = &sim->sys.dims;
  const int sizes[] = {d->nq, d->nv, d->nj, d->nc};
  hash = saltusi_hash(hash, sizes, sizeof sizes);
  const double times[] = {sim->def.t0, sim->def.h};
  return saltusi_hash(hash, times, sizeof times);
}

/* One list of parts serves saving and loading. */
typedef struct part {
  void* at;
  size_t bytes;
} part;

enum { PARTS = 8 };

static void list_parts(const saltus_sim* sim, part parts[PARTS]) {
  const saltus_dims* d = &sim->sys.dims;
  parts[0] = (part){sim->now.q, (size_t)d->nq * sizeof(double)};
  parts[1] = (part){sim->now.v, (size_t)d->nv * sizeof(double)};
  parts[2] = (part){sim->sums, SALTUSI_SUM_COUNT * sizeof(double)};
  parts[3] = (part){sim->contact_sums, (size_t)d->nc * sizeof(saltusi_contact_sum)};
  parts[4] = (part){sim->joint_sums, (size_t)d->nj * sizeof(double)};
  parts[5] = (part){sim->ledger, sizeof(saltusi_ledger)};
  parts[6] = (part){sim->contact_works, (size_t)d->nc * sizeof(saltusi_contact_work)};
  int events = sim->def.observables != NULL ? sim->def.observables->event_count : 0;
  parts[7] = (part){sim->crossings, (size_t)events * sizeof(saltusi_crossing)};
}

size_t saltus_sim_snapshot_bytes(const saltus_sim* sim) {
  part parts[PARTS];
  list_parts(sim, parts);
  size_t total = sizeof(header) + saltus_scheme_memory_bytes(sim->scheme);
  for (int i = 0; i < PARTS; i++) {
    total += parts[i].bytes;
  }
  return total;
}

static header make_header(const saltus_sim* sim) {
  header head = {.fits = fingerprint(sim), .step = sim->step, .t = sim->now.t};
  if (sim->control != NULL) {
    head.h_next = sim->control->h;
    head.h_min = sim->control->h_min;
    head.h_max = sim->control->h_max;
  }
  memcpy(head.magic, "saltus 1", sizeof head.magic);
  return head;
}

void saltus_sim_snapshot_save(const saltus_sim* sim, void* bytes) {
  unsigned char* to = bytes;
  header head = make_header(sim);
  memcpy(to, &head, sizeof head);
  to += sizeof head;
  part parts[PARTS];
  list_parts(sim, parts);
  for (int i = 0; i < PARTS; i++) {
    if (parts[i].bytes > 0) {
      memcpy(to, parts[i].at, parts[i].bytes);
    }
    to += parts[i].bytes;
  }
  saltus_scheme_memory_save(sim->scheme, to);
}

saltus_status saltus_sim_snapshot_load(saltus_sim* sim, const void* bytes, size_t size) {
  header head;
  header expected = make_header(sim);
  bool fits = size == saltus_sim_snapshot_bytes(sim);
  if (fits) {
    memcpy(&head, bytes, sizeof head);
    fits = memcmp(head.magic, expected.magic, sizeof head.magic) == 0 &&
           head.fits == expected.fits && head.step >= 0;
  }
  if (!fits) {
    saltusi_log(
        sim->def.log, SALTUS_LEVEL_ERROR,
        "snapshot: these %zu bytes do not belong to this simulation (other scheme, options, "
        "system, start or step)",
        size);
    return SALTUS_ERR_INPUT;
  }
  const unsigned char* from = (const unsigned char*)bytes + sizeof head;
  part parts[PARTS];
  list_parts(sim, parts);
  for (int i = 0; i < PARTS; i++) {
    if (parts[i].bytes > 0) {
      memcpy(parts[i].at, from, parts[i].bytes);
    }
    from += parts[i].bytes;
  }
  const unsigned char* end = (const unsigned char*)bytes + size;
  saltus_status status = saltus_scheme_memory_load(sim->scheme, from, (size_t)(end - from));
  if (status != SALTUS_OK) {
    return status;
  }
  sim->step = head.step;
  sim->now.t = head.t;
  saltusi_scheme_forget(sim->scheme);
  saltusi_observer_resume(sim);
  if (sim->control != NULL) {
    sim->control->h = head.h_next;
    sim->control->h_min = head.h_min;
    sim->control->h_max = head.h_max;
  }
  return SALTUS_OK;
}
