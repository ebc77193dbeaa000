/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger_islands.c - see ledger_islands.h. A step of an island may extend beyond a common time. It is opened again at
 * each of these, so that a run continued from a snapshot has the same sums as one without a stop.
 */
#include "sim/ledger_islands.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static void layout(saltusi_ledger_islands* in, saltus_arena* arena) {
  in->island = SALTUS_PUSH(arena, saltusi_ledger_island, in->count);
  for (int i = 0; i < in->count; i++) {
    saltusi_ledger_island counted = {.contacts = NULL};
    saltusi_ledger_island* island = in->island != NULL ? &in->island[i] : &counted;
    const saltus_system* sys =
        saltusi_scheme_island_system(in->scheme, i, &island->velocities, &island->contacts);
    saltusi_ledger_layout(&island->room, sys, saltusi_scratch_layout(&sys->dims, arena), arena);
    island->works = SALTUS_PUSH(arena, saltusi_contact_work, sys->dims.nc);
    island->shown = SALTUS_PUSH(arena, saltusi_contact_work, sys->dims.nc);
  }
}

saltus_status saltusi_ledger_islands_create(saltusi_ledger_islands* islands, saltus_scheme* scheme,
                                            const saltus_allocator* memory) {
  assert(islands != NULL && scheme != NULL && memory != NULL);
  *islands = (saltusi_ledger_islands){.scheme = scheme, .count = saltusi_scheme_islands(scheme)};
  if (islands->count == 0) {
    return SALTUS_OK;
  }
  saltus_arena arena = saltus_arena_counting();
  layout(islands, &arena);
  islands->bytes = arena.used;
  islands->block = memory->alloc(islands->bytes, memory->user);
  if (islands->block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(islands->block, 0, islands->bytes);
  arena = saltus_arena_over(islands->block, islands->bytes);
  layout(islands, &arena);
  return SALTUS_OK;
}

void saltusi_ledger_islands_release(saltusi_ledger_islands* islands,
                                    const saltus_allocator* memory) {
  assert(islands != NULL && memory != NULL);
  if (islands->block != NULL) {
    memory->free(islands->block, islands->bytes, memory->user);
  }
  islands->block = NULL;
}

static saltus_status motion(void* who, const saltusi_dense_query* at) {
  return saltusi_island_motion(&((saltusi_ledger_island*)who)->at, at);
}

static void forces(void* who, const saltusi_dense_query* at, double* out) {
  saltusi_island_forces(&((saltusi_ledger_island*)who)->at, at, out);
}

static bool bounce(void* who, const saltusi_dense_query* at, saltusi_bounce_inside* out) {
  return saltusi_island_bounce(&((saltusi_ledger_island*)who)->at, at, out);
}

static double slack(double t) {
  return 4.0 * DBL_EPSILON * fabs(t);
}

/* Opens the next step of an island from a time on that may be inside of it; false: there is none. */
static bool open_step(saltusi_ledger_islands* in, int i, double from) {
  saltusi_ledger_island* island = &in->island[i];
  if (!saltusi_scheme_island_step(in->scheme, i, island->step, &island->at)) {
    return false;
  }
  island->inside =
      (saltusi_ledger_inside){.who = island, .motion = motion, .forces = forces, .bounce = bounce};
  const saltusi_ledger_step step = {.report = island->at.report,
                                    .x0 = &island->at.from,
                                    .x1 = &island->at.to,
                                    .located = true,
                                    .inside = &island->inside};
  if (island->at.from.t < from - slack(from)) {
    saltusi_ledger_open_inside(&island->ledger, &island->room, &step, from, island->works,
                               island->shown);
  } else {
    saltusi_ledger_open(&island->ledger, &island->room, &step, false);
  }
  return true;
}

void saltusi_ledger_islands_open(saltusi_ledger_islands* islands, double t, double end) {
  assert(islands != NULL && t <= end);
  islands->end = end;
  for (int i = 0; i < islands->count; i++) {
    saltusi_ledger_island* island = &islands->island[i];
    int nc = island->room.eval.sys.dims.nc;
    island->ledger = (saltusi_ledger){.steps = 0.0};
    island->room.partial = true;
    memset(island->works, 0, (size_t)nc * sizeof *island->works);
    island->step = 0;
    open_step(islands, i, t);
  }
}

void saltusi_ledger_islands_advance(saltusi_ledger_islands* islands, double t, saltus_side side) {
  assert(islands != NULL);
  for (int i = 0; i < islands->count; i++) {
    saltusi_ledger_island* island = &islands->island[i];
    bool there = true;
    while (there && island->at.to.t <= t + slack(t) &&
           (side == SALTUS_RIGHT || island->at.to.t < t - slack(t))) {
      double end = island->at.to.t;
      saltusi_island_step
          next; /* a step that begins at the end of the common step belongs to the next */
      there = saltusi_scheme_island_step(islands->scheme, i, island->step + 1, &next) &&
              next.from.t < islands->end - slack(islands->end);
      saltusi_ledger_advance(&island->ledger, &island->room, end, SALTUS_RIGHT, island->works);
      if (there) {
        island->step++;
        open_step(islands, i, end);
      }
    }
    if (there && island->at.from.t <= t + slack(t)) {
      saltusi_ledger_advance(&island->ledger, &island->room, t, side, island->works);
    }
  }
}

/* Terms of contacts, drives and forces; energies are evaluated for all islands together. */
static void add(saltus_energy* sum, const saltus_energy* e) {
  sum->external += e->external;
  sum->drive += e->drive;
  sum->friction += e->friction;
  sum->impact += e->impact;
  sum->created += e->created;
}

void saltusi_ledger_islands_show(saltusi_ledger_islands* islands, double t, saltus_side side,
                                 saltus_energy* sum, saltusi_contact_work* works) {
  assert(islands != NULL && sum != NULL);
  for (int i = 0; i < islands->count; i++) {
    saltusi_ledger_island* island = &islands->island[i];
    const saltus_state x = {.t = t};
    const saltus_energy e = saltusi_ledger_frame(&island->ledger, &island->room, &x, side,
                                                 island->works, island->shown);
    add(sum, &e);
    for (int key = 0; key < island->room.eval.sys.dims.nc; key++) {
      works[island->contacts[key]].friction += island->shown[key].friction;
      works[island->contacts[key]].impact += island->shown[key].impact;
    }
  }
}

void saltusi_ledger_islands_close(saltusi_ledger_islands* islands, saltusi_ledger* ledger,
                                  saltusi_contact_work* works) {
  assert(islands != NULL && ledger != NULL);
  saltusi_ledger_islands_advance(islands, islands->end, SALTUS_RIGHT);
  for (int i = 0; i < islands->count; i++) {
    saltusi_ledger_island* island = &islands->island[i];
    const saltusi_ledger* own = &island->ledger;
    const saltus_state x = {.t = islands->end};
    /* impacts so far of an accumulation that continues */
    island->sum =
        saltusi_ledger_frame(own, &island->room, &x, SALTUS_RIGHT, island->works, island->shown);
    add(&ledger->step, &island->sum);
    add(&ledger->total, &island->sum);
    if (own->creations > 0.0) {
      bool first = ledger->creations == 0.0 || own->created_at < ledger->created_at;
      ledger->created_at = first ? own->created_at : ledger->created_at;
      ledger->creations += own->creations;
    }
    for (int key = 0; key < island->room.eval.sys.dims.nc; key++) {
      works[island->contacts[key]].friction += island->shown[key].friction;
      works[island->contacts[key]].impact += island->shown[key].impact;
    }
  }
}

/* T + V of an island at a state of the whole system. */
static double energy_of(saltusi_ledger_island* island, const saltus_state* x) {
  saltusi_ledger_workspace* room = &island->room;
  const saltus_system* sys = &room->eval.sys;
  for (int i = 0; i < sys->dims.nv; i++) { /* nq = nv: velocities are rates of coordinates */
    room->q[i] = x->q[island->velocities[i]];
    room->v[i] = x->v[island->velocities[i]];
  }
  const saltus_point at = saltusi_at(&room->eval, x->t, room->q, room->v);
  return saltusi_kinetic(sys, &at, room->power.matrix, room->power.F) + saltusi_potential(sys, &at);
}

int saltusi_ledger_islands_worst(saltusi_ledger_islands* islands, const saltus_state ends[2]) {
  assert(islands != NULL && ends != NULL);
  int worst = -1;
  double most = -1.0;
  for (int i = 0; i < islands->count; i++) {
    saltusi_ledger_island* island = &islands->island[i];
    const saltus_energy* e = &island->sum;
    const double change = energy_of(island, &ends[1]) - energy_of(island, &ends[0]);
    const double remainder = fabs(change - e->external - e->drive - e->friction - e->impact);
    worst = remainder > most ? i : worst;
    most = fmax(most, remainder);
  }
  return worst;
}

saltus_failure* saltusi_ledger_islands_failure(const saltusi_ledger_islands* islands) {
  assert(islands != NULL);
  for (int i = 0; i < islands->count; i++) {
    saltus_failure* failure = islands->island[i].room.eval.failure;
    if (failure != NULL && failure->status != SALTUS_OK) {
      return failure;
    }
  }
  return NULL;
}
