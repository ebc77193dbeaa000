/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_workspace.c - see contact_workspace.h.
 */
#include "sim/contact_workspace.h"

#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Initial capacity of a time-varying contact set. */
enum { ROOM_LEAST = 8 };

/* Arrays with an item for each contact. */
#define EACH_BY_CONTACT(X)                                                                         \
  X(contact_sums)                                                                                  \
  X(contact_parts)                                                                                 \
  X(contact_works)                                                                                 \
  X(shown_works)                                                                                   \
  X(works_taken)                                                                                   \
  X(contact_frames)                                                                                \
  X(seen)                                                                                          \
  X(gaps)                                                                                          \
  X(step_gaps)

/* Arrays with three numbers for each contact, then one for each joint. */
#define EACH_BY_ROW(X)                                                                             \
  X(lasting)                                                                                       \
  X(lasting_taken)                                                                                 \
  X(forces)

/* Likewise for the ledger, which has its own array for a fixed set. */
#define EACH_LEFT(X) X(ledger_room.left_contacts)
#define EACH_LEDGER_ROW(X) X(ledger_room.forces) X(ledger_room.bounce.mass)

static void layout(saltus_sim* sim, saltus_arena* arena) {
  size_t nc = (size_t)sim->sys.dims.nc;
  size_t rows = 3 * nc + (size_t)sim->sys.dims.nj;
#define PUSH(member)                                                                               \
  sim->member = saltus_arena_push(arena, nc, sizeof *sim->member, _Alignof(long long));
  EACH_BY_CONTACT(PUSH)
  if (sim->changing) {
    EACH_LEFT(PUSH)
  }
#undef PUSH
#define PUSH(member) sim->member = SALTUS_PUSH(arena, double, rows);
  EACH_BY_ROW(PUSH)
  if (sim->changing) {
    EACH_LEDGER_ROW(PUSH)
  }
#undef PUSH
  saltusi_contact_list_layout(&sim->list, &sim->sys.dims, arena);
  if (sim->changing) {
    sim->list.requested = 0.0; /* contacts that touch, and others that the system lists */
    saltusi_keys_layout(&sim->keys, sim->sys.dims.nc, arena);
    sim->contact_rows = SALTUS_PUSH(arena, saltus_contact_frame, nc);
    sim->freed = SALTUS_PUSH(arena, int, nc);
  }
}

/* Allocates arrays for `room` contacts in a separate block. */
static saltus_status take_block(saltus_sim* sim, int room) {
  saltus_sim counted = *sim;
  counted.sys.dims.nc = room;
  saltus_arena arena = saltus_arena_counting();
  layout(&counted, &arena);
  size_t bytes = arena.used > 0 ? arena.used : 1;
  void* block = sim->memory.alloc(bytes, sim->memory.user);
  if (block == NULL) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: no memory for %d contacts, %zu bytes", room, bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  sim->sys.dims.nc = room;
  sim->ledger_room.eval.sys.dims.nc = room;
  sim->contact_block = block;
  sim->contact_bytes = bytes;
  arena = saltus_arena_over(block, bytes);
  layout(sim, &arena);
  for (int key = 0; key < room; key++) {
    for (int i = 0; i < 3; i++) {
      sim->gaps[key].at[i] = INFINITY;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_contact_workspace_create(saltus_sim* sim) {
  assert(sim != NULL);
  sim->changing = (sim->sys.traits & SALTUS_CHANGING_CONTACTS) != 0;
  int nc = sim->sys.dims.nc;
  saltus_status status = take_block(sim, sim->changing && nc < ROOM_LEAST ? ROOM_LEAST : nc);
  if (status == SALTUS_OK && sim->changing) {
    saltusi_keys_clear(&sim->keys);
    saltusi_table_begin(&sim->keys.table);
    sim->keys.room = &sim->lacking;
    sim->ledger_room.eval.keys = &sim->keys;
  }
  return status;
}

void saltusi_contact_workspace_release(saltus_sim* sim) {
  assert(sim != NULL);
  const saltus_allocator* memory = &sim->memory;
  if (sim->contact_block != NULL) {
    memory->free(sim->contact_block, sim->contact_bytes, memory->user);
  }
  saltusi_release(memory, sim->step_contacts, sim->step_contact_room, sizeof *sim->step_contacts);
  saltusi_release(memory, sim->step_events, sim->step_event_room, sizeof *sim->step_events);
  saltusi_release(memory, sim->by_scheme, sim->by_scheme_room, sizeof(double));
}

/* Ensures a capacity of `wanted` contacts; contents are kept. */
static saltus_status grow(saltus_sim* sim, size_t wanted) {
  const saltus_sim old = *sim;
  size_t before = (size_t)old.sys.dims.nc;
  if (wanted <= before) {
    return SALTUS_OK;
  }
  size_t room = before + before / 2 > wanted ? before + before / 2 : wanted;
  if (room > INT_MAX / 8) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no capacity for %zu contacts",
                wanted);
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = take_block(sim, (int)room);
  if (status != SALTUS_OK) {
    return status;
  }
  size_t joints = (size_t)sim->sys.dims.nj * sizeof(double);
#define MOVE(member) memcpy(sim->member, old.member, before * sizeof *sim->member);
  EACH_BY_CONTACT(MOVE)
  EACH_LEFT(MOVE)
#undef MOVE
#define MOVE(member)                                                                               \
  memcpy(sim->member, old.member, 3 * before * sizeof(double));                                    \
  memcpy(sim->member + 3 * room, old.member + 3 * before, joints);
  EACH_BY_ROW(MOVE)
  EACH_LEDGER_ROW(MOVE)
#undef MOVE
  saltusi_table_copy(&sim->keys.table, &old.keys.table);
  sim->memory.free(old.contact_block, old.contact_bytes, sim->memory.user);
  return SALTUS_OK;
}

saltus_point saltusi_sim_at(saltus_sim* sim, double t, const double* q, const double* v) {
  assert(sim != NULL);
  return (saltus_point){.t = t,
                        .q = q,
                        .v = v,
                        .scratch = sim->scratch,
                        .keys = sim->changing ? &sim->keys : NULL,
                        .failure = &sim->failure};
}

saltus_status saltusi_sim_list(saltus_sim* sim, const saltus_point* at) {
  assert(sim != NULL && at != NULL);
  saltus_status status = saltusi_contacts(&sim->sys, at, &sim->list);
  while (status == SALTUS_RETRY_CAPACITY && sim->changing) {
    size_t wanted = sim->lacking.wanted[SALTUSI_CAPACITY_CONTACTS];
    sim->lacking = (saltusi_step_capacity){.lacks = false};
    status = grow(sim, wanted);
    if (status == SALTUS_OK) {
      status = saltusi_contacts(&sim->sys, at, &sim->list);
    }
  }
  saltus_status failed = saltusi_observer_failed(sim, at->t);
  return failed != SALTUS_OK ? failed : status;
}

/* Key of a contact that follows contact `after` in a list (-1: the first one); a new key if it has none. */
static saltus_status find_key(saltus_sim* sim, int after, uint64_t identity, int law, int* key) {
  *key = saltusi_table_follow(&sim->keys.table, after, identity);
  if (*key < 0 && sim->keys.table.count == sim->keys.table.capacity) {
    saltus_status status = grow(sim, (size_t)sim->keys.table.capacity + 1);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  *key = *key < 0 ? saltusi_table_add(&sim->keys.table, identity, law) : *key;
  saltusi_table_use(&sim->keys.table, *key);
  return SALTUS_OK;
}

saltus_status saltusi_sim_know(saltus_sim* sim) {
  assert(sim != NULL);
  saltus_status status = SALTUS_OK;
  if (!sim->changing || !saltusi_scheme_knows_forces(sim->scheme)) {
    return status;
  }
  int key = -1;
  for (int k = 0; status == SALTUS_OK && k < saltusi_scheme_workspace(sim->scheme); k++) {
    int law = saltusi_scheme_law(sim->scheme, k);
    if (law >= 0) {
      status = find_key(sim, key, saltusi_scheme_identity(sim->scheme, k), law, &key);
    }
  }
  return status;
}

saltus_status saltusi_sim_translate(saltus_sim* sim, const saltus_step_report** report) {
  assert(sim != NULL && report != NULL);
  if (!sim->changing) {
    return SALTUS_OK;
  }
  const saltus_step_report* from = *report;
  void* contacts = sim->step_contacts;
  void* events = sim->step_events;
  bool room = saltusi_grow(&sim->memory, &contacts, &sim->step_contact_room, (size_t)from->active,
                           sizeof *sim->step_contacts) &&
              saltusi_grow(&sim->memory, &events, &sim->step_event_room, (size_t)from->event_count,
                           sizeof *sim->step_events);
  sim->step_contacts = contacts;
  sim->step_events = events;
  if (!room) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: no memory for %d contacts and %d events of a step", from->active,
                from->event_count);
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = saltusi_sim_know(sim);
  int last = -1;
  for (int i = 0; status == SALTUS_OK && i < from->active; i++) {
    saltus_contact_step* c = &sim->step_contacts[i];
    *c = from->contacts[i];
    status = find_key(sim, last, c->identity, c->law, &c->key);
    last = c->key;
  }
  for (int i = 0; status == SALTUS_OK && i < from->event_count; i++) {
    saltus_event* e = &sim->step_events[i];
    *e = from->events[i];
    status = find_key(sim, -1, e->identity, e->law, &e->contact);
  }
  sim->step_report = *from;
  sim->step_report.contacts = sim->step_contacts;
  sim->step_report.events = sim->step_events;
  *report = &sim->step_report;
  return status;
}

int saltusi_sim_key(const saltus_sim* sim, int scheme_key) {
  assert(sim != NULL);
  return sim->changing ? saltusi_table_find(&sim->keys.table,
                                            saltusi_scheme_identity(sim->scheme, scheme_key))
                       : scheme_key;
}

static bool any(const double x[3]) {
  return x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0;
}

double* saltusi_sim_scratch(saltus_sim* sim, double* to) {
  assert(sim != NULL);
  if (!sim->changing) {
    return to;
  }
  size_t wanted = 3 * (size_t)saltusi_scheme_workspace(sim->scheme) + (size_t)sim->sys.dims.nj;
  void* numbers = sim->by_scheme;
  bool room = saltusi_grow(&sim->memory, &numbers, &sim->by_scheme_room, wanted, sizeof(double));
  sim->by_scheme = numbers;
  if (!room) {
    return NULL;
  }
  memset(sim->by_scheme, 0, wanted * sizeof(double));
  return sim->by_scheme;
}

void saltusi_sim_scatter(saltus_sim* sim, const double* from, double* to) {
  assert(sim != NULL);
  if (from == to) {
    return;
  }
  int room = saltusi_scheme_workspace(sim->scheme);
  size_t nc = (size_t)sim->sys.dims.nc;
  size_t nj = (size_t)sim->sys.dims.nj;
  memset(to, 0, 3 * nc * sizeof(double));
  for (int k = 0; k < room; k++) {
    const double* numbers = from + 3 * (size_t)k;
    int key = any(numbers) ? saltusi_sim_key(sim, k) : -1;
    for (int i = 0; key >= 0 && i < 3; i++) { /* numbers of unused keys are zero */
      to[3 * (size_t)key + (size_t)i] += numbers[i];
    }
  }
  memcpy(to + 3 * nc, from + 3 * (size_t)room, nj * sizeof(double));
}

/* ---- frames -------------------------------------------------------------------------------- */

static int by_identity(const void* a, const void* b) {
  const saltus_contact_frame* x = a;
  const saltus_contact_frame* y = b;
  return x->identity < y->identity ? -1 : x->identity > y->identity;
}

static void find_place(const saltus_sim* sim, const saltus_point* at, saltus_contact_frame* frame) {
  saltus_contact_place place;
  const saltus_system* sys = &sim->sys;
  if (sys->ops->place != NULL &&
      sys->ops->place(sys->self, at, frame->identity, &place) == SALTUS_OK) {
    memcpy(frame->bodies, place.bodies, sizeof frame->bodies);
    memcpy(frame->point, place.point, sizeof frame->point);
    memcpy(frame->normal, place.normal, sizeof frame->normal);
  }
}

/* Gaps below this count as zero, in m per m of positions. */
static const double closed_but_for = 1e-12;

saltus_status saltusi_sim_closed(saltus_sim* sim, const saltus_point* at) {
  assert(sim != NULL && at != NULL);
  const saltus_system* sys = &sim->sys;
  double size = 1.0;
  for (int i = 0; sim->changing && i < sys->dims.nq; i++) {
    size = fmax(size, fabs(at->q[i]));
  }
  for (int key = 0; sim->changing && sys->ops->gaps != NULL && key < sys->dims.nc; key++) {
    saltus_contact_frame* frame = &sim->contact_frames[key];
    if (sim->keys.table.law[key] < 0 || !isnan(frame->gap) ||
        !(any(frame->force) || any(frame->impulse))) {
      continue;
    }
    double gap = INFINITY;
    saltus_status status = sys->ops->gaps(sys->self, at, 1, &sim->keys.table.identity[key], &gap);
    if (status != SALTUS_OK) {
      return status;
    }
    if (fabs(gap) <= closed_but_for * size) {
      saltusi_rows_contact(sys, at, key, 1, &sim->row, 0);
      frame->gap = gap;
      frame->velocity = saltusi_row_dot(&sim->row, 0, at->v) + sim->row.b[0];
    }
  }
  return SALTUS_OK;
}

const saltus_contact_frame* saltusi_sim_rows(saltus_sim* sim, const saltus_point* at, int* count) {
  assert(sim != NULL && at != NULL);
  *count = sim->sys.dims.nc;
  if (!sim->changing) {
    for (int key = 0; sim->sys.ops->place != NULL && key < *count; key++) {
      find_place(sim, at, &sim->contact_frames[key]);
    }
    return sim->contact_frames;
  }
  const saltusi_contact_table* table = &sim->keys.table;
  *count = 0;
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    const saltus_contact_frame* frame = &sim->contact_frames[key];
    bool acted =
        any(frame->force) || any(frame->impulse) || frame->friction != 0.0 || frame->impact != 0.0;
    if (table->law[key] >= 0 && (acted || !isnan(frame->gap))) {
      saltus_contact_frame* row = &sim->contact_rows[(*count)++];
      *row = *frame;
      row->identity = table->identity[key];
      row->law = table->law[key];
      find_place(sim, at, row);
    }
  }
  qsort(sim->contact_rows, (size_t)*count, sizeof *sim->contact_rows, by_identity);
  return sim->contact_rows;
}

/* True while impacts of a contact may still accumulate: its flights become shorter. */
static bool may_go_on(const saltusi_contact_sum* sum, double t) {
  return sum->impacts > 0.0 && t - sum->last <= sum->flight[0];
}

void saltusi_sim_settle(saltus_sim* sim, double t) {
  assert(sim != NULL);
  if (!sim->changing) {
    return;
  }
  saltusi_contact_table* table = &sim->keys.table;
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    const saltusi_contact_sum* sum = &sim->contact_sums[key];
    bool acts = sim->reports > 0 && sim->seen[key] == sim->reports;
    bool owes = any(sum->lasting) || any(sum->impulse) || acts ||
                sim->contact_works[key].friction != sim->works_taken[key].friction ||
                sim->contact_works[key].impact != sim->works_taken[key].impact;
    if (table->law[key] >= 0 && (owes || sum->closed != 0.0 || may_go_on(sum, t))) {
      saltusi_table_use(table, key);
    }
  }
  int count = saltusi_table_settle(table, sim->freed);
  for (int i = 0; i < count; i++) {
    int key = sim->freed[i];
#define CLEAR(member) memset(&sim->member[key], 0, sizeof sim->member[key]);
    EACH_BY_CONTACT(CLEAR)
    EACH_LEFT(CLEAR)
#undef CLEAR
#define CLEAR(member) memset(sim->member + 3 * (size_t)key, 0, 3 * sizeof(double));
    EACH_BY_ROW(CLEAR)
    EACH_LEDGER_ROW(CLEAR)
#undef CLEAR
    for (int k = 0; k < 3; k++) {
      sim->gaps[key].at[k] = INFINITY;
    }
  }
  saltusi_table_begin(table);
}

saltus_status saltusi_sim_restore(saltus_sim* sim, int count, const unsigned char* identities,
                                  const unsigned char* laws) {
  assert(sim != NULL && count >= 0);
  saltus_status status = grow(sim, (size_t)count);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_contact_table* table = &sim->keys.table;
  saltusi_table_clear(table);
  for (int key = 0; key < count; key++) {
    uint64_t identity;
    int law;
    memcpy(&identity, identities + (size_t)key * sizeof identity, sizeof identity);
    memcpy(&law, laws + (size_t)key * sizeof law, sizeof law);
    if (law >= 0 && law < sim->sys.law_count && saltusi_table_find(table, identity) < 0) {
      table->lowest = key; /* keys above it are free */
      saltusi_table_add(table, identity, law);
    }
  }
  table->lowest = 0;
  int none = saltusi_table_settle(table, sim->freed); /* every key is in use: none is released */
  saltusi_table_begin(table);
  return none == 0 ? SALTUS_OK : SALTUS_ERR_INPUT;
}
