/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * create.c - construction of a scheme: checks, memory, and growth of its capacity after a step.
 */
#include "base/buffer.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/reserved.h"
#include "scheme/scheme_internal.h"
#include "solve/friction/friction_curve.h"
#include "system/frictions.h"
#include "system/impacts.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* Initial capacity for events: no step of the convergence studies has more. */
enum { EVENTS_FIRST = 64 };
/* Largest number of keys: keys are int, and arrays have several rows for each. */
enum { CONTACTS_MOST = INT_MAX / 64 };

/* Rejects systems with features that the scheme does not support. */
static saltus_status check_treats(const saltusi_scheme_ops* ops, const saltus_system* sys,
                                  saltus_log log) {
  const char* name = ops->info.name;
  if (sys->dims.nj > 0 && (ops->info.treats & SALTUS_TREATS_JOINTS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "scheme %s does not treat joints; the system has %d", name,
                sys->dims.nj);
    return SALTUS_ERR_UNSUPPORTED;
  }
  bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (changing && (ops->info.treats & SALTUS_TREATS_CHANGING_CONTACTS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "scheme %s does not treat time-varying contact sets, such as that of this system",
                name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (sys->ops->advance != NULL && (ops->info.treats & SALTUS_TREATS_MAPS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "scheme %s treats only systems with q' = v; this one has a map of its own", name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (saltusi_impacts_special(sys) && (ops->info.treats & SALTUS_TREATS_LAWS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "scheme %s treats Newton's and Poisson's laws of simultaneous impacts; the system "
                "has another one",
                name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const saltus_contact_law* law = &sys->laws[i];
    const char* label = law->name != NULL ? law->name : "";
    bool has_friction = law->tangents > 0 && law->mu > 0.0;
    bool planar = (ops->info.treats & SALTUS_TREATS_PLANAR_FRICTION) != 0;
    bool any_friction = planar || (ops->info.treats & SALTUS_TREATS_FRICTION) != 0;
    if (has_friction && planar && law->tangents > 1) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s treats planar friction; contact %d \"%s\" has %d tangents", name, i,
                  label, law->tangents);
      return SALTUS_ERR_UNSUPPORTED;
    }
    if (has_friction && !any_friction) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s does not treat friction; contact %d \"%s\" has mu = %g", name, i,
                  label, law->mu);
      return SALTUS_ERR_UNSUPPORTED;
    }
    if (law->tangents > 0 && law->e_T != 0.0 && !any_friction) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s does not treat tangential restitution; contact %d \"%s\" has %g", name,
                  i, label, law->e_T);
      return SALTUS_ERR_UNSUPPORTED;
    }
    if (law->impact_mu != 0.0 && ops->info.penetrates) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s bears resting contacts by impacts and cannot distinguish friction of "
                  "impacts; contact %d \"%s\" has impact_friction",
                  name, i, label);
      return SALTUS_ERR_UNSUPPORTED;
    }
    bool poisson = law->impact == SALTUS_IMPACT_POISSON && law->e_N > 0.0;
    if (poisson && (ops->info.treats & (SALTUS_TREATS_POISSON | SALTUS_TREATS_LAWS)) == 0) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s does not treat Poisson's impact law; contact %d \"%s\" has it", name,
                  i, label);
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

/* Whether a scheme gets laws without their friction curves, which it treats separately. */
static bool has_plain_laws(const saltusi_scheme_ops* ops) {
  return (ops->info.treats & SALTUS_TREATS_FRICTION_CURVES) != 0;
}

/* Whether impacts follow laws that the steps of the scheme do not include. */
static bool jumps(const saltusi_scheme_ops* ops, const saltus_system* sys) {
  const saltus_impacts* rule = sys->impacts;
  bool any = saltusi_impacts_special(sys) || (rule != NULL && rule->energy != SALTUS_GAIN_REPORT);
  bool more = false; /* friction that the impact laws of src/law do not include */
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    more = more || saltusi_friction_is_more_than_curve(&sys->laws[i]);
  }
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const saltus_contact_law* law = &sys->laws[i];
    any = any || (law->impact == SALTUS_IMPACT_POISSON && law->e_N > 0.0 &&
                  (ops->info.treats & SALTUS_TREATS_POISSON) == 0);
    /* steps with the static coefficient alone miss the slip at the end of an impact; an impact spread over two steps
     * has a normal impulse in each; friction in each of them has no limit for h -> 0 */
    const bool rough = law->mu > 0.0 && law->tangents > 0;
    any = any || (has_plain_laws(ops) && saltusi_has_curve(law->friction));
    any = any || (ops->runs_ahead > 0 && !more && rough);
  }
  return any && !ops->info.chooses_step;
}

/* The state of permanently broken bonds is lost where a step restarts after an impact. */
static saltus_status check_bonds(const saltusi_scheme_ops* ops, const saltus_system* sys,
                                 saltus_log log) {
  saltusi_substitute sub;
  saltusi_substitute_choose(&sub, ops, sys, (saltus_log){0});
  const bool any = jumps(ops, sys) || (sub.ops != NULL && jumps(sub.ops, sys));
  for (int i = 0; i < sys->law_count && sys->laws != NULL && any; i++) {
    const saltus_friction_law* f = sys->laws[i].friction;
    if (f != NULL && f->adhesion > 0.0 && !f->rebinds) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s treats bonds that do not bind again beside Newton's impact law alone; "
                  "contact %d \"%s\" has one",
                  ops->info.name, i, sys->laws[i].name != NULL ? sys->laws[i].name : "");
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

/* Lays out all arrays in one block. Large arrays that are written before they are read come last, since most steps use
 * few of their pages. Returns the size of the zeroed part before them. */
static size_t layout(saltus_scheme* in, saltus_arena* arena) {
  const saltusi_scheme_ops* ops = in->ops;
  const saltus_dims* dims = &in->eval.sys.dims;
  in->next.q = SALTUS_PUSH(arena, double, dims->nq);
  in->next.v = SALTUS_PUSH(arena, double, dims->nv);
  in->contacts = SALTUS_PUSH(arena, saltus_contact_step, dims->nc);
  in->joint_impulses = SALTUS_PUSH(arena, double, dims->nj);
  in->joint_impacts = SALTUS_PUSH(arena, double, dims->nj);
  in->atol_q = SALTUS_PUSH(arena, double, dims->nv);
  in->atol_v = SALTUS_PUSH(arena, double, dims->nv);
  in->limited = SALTUS_PUSH(arena, long long, dims->nq + dims->nv + dims->nc);
  in->undefined.q = SALTUS_PUSH(arena, double, dims->nq);
  in->undefined.v = SALTUS_PUSH(arena, double, dims->nv);
  in->q_error = SALTUS_PUSH(arena, double, dims->nq);
  in->v_error = SALTUS_PUSH(arena, double, dims->nv);
  in->memory0 = SALTUS_PUSH(arena, double, in->carried);
  in->memory1 = SALTUS_PUSH(arena, double, in->carried);
  in->marked = SALTUS_PUSH(arena, double, ops->info.chooses_step ? 0 : in->carried);
  if (in->eval.keys != NULL) {
    saltusi_keys_layout(&in->keys, dims->nc, arena);
    saltusi_table_layout(&in->marked_table, dims->nc, arena);
    in->freed = SALTUS_PUSH(arena, int, dims->nc);
    in->forgotten = SALTUS_PUSH(arena, bool, dims->nc);
  }
  saltusi_eval_layout(&in->eval, arena);
  if (dims->nj > 1) {
    saltusi_joints counted = {0};
    in->joints = SALTUS_PUSH(arena, saltusi_joints, 1);
    saltusi_joints_layout(in->joints != NULL ? in->joints : &counted, &in->eval, arena);
  }
  if (in->projects || (in->sub.ops != NULL && dims->nj > 0)) {
    saltusi_projection counted = {0};
    in->projection = SALTUS_PUSH(arena, saltusi_projection, 1);
    saltusi_projection_layout(in->projection != NULL ? in->projection : &counted, &in->eval, arena);
  }
  if (!ops->info.locates_events && dims->nj > 0 && dims->nc > 0) {
    saltusi_projection counted = {0};
    in->response = SALTUS_PUSH(arena, saltusi_projection, 1);
    saltusi_projection_layout(in->response != NULL ? in->response : &counted, &in->eval, arena);
    saltusi_rows_layout(&in->contact_row, dims, 3, false, arena);
  }
  in->jump = NULL;
  in->eval.sys.laws = in->own;
  if (in->jumps) {
    saltusi_impact_step counted = {0};
    in->jump = SALTUS_PUSH(arena, saltusi_impact_step, 1);
    saltusi_impact_step* jump = in->jump != NULL ? in->jump : &counted;
    jump->ahead = 1 + ops->runs_ahead;
    saltusi_impact_step_layout(jump, in->own, &in->eval, in->carried, arena);
    in->eval.sys.laws = jump->laws != NULL ? jump->laws : in->own;
  }
  if (in->clocks == NULL) {
    ops->layout(in->work, in->options, &in->eval, arena);
  }
  saltusi_substitute_layout(in, arena);
  size_t zeroed = arena->used;
  for (int i = 0; i < DENSE_STEPS; i++) {
    in->dense[i].data = in->dense_count > 0 ? SALTUS_PUSH(arena, double, in->dense_count) : NULL;
  }
  return zeroed;
}

/* Step data that are constant from step to step. */
static void bind_step(saltus_scheme* in) {
  in->step = (saltusi_step){
      .eval = &in->eval,
      .contacts = in->contacts,
      .joint_impulses = in->joint_impulses,
      .joint_impacts = in->joint_impacts,
      .atol_q = in->has_atol_q ? in->atol_q : NULL,
      .atol_v = in->has_atol_v ? in->atol_v : NULL,
      .q_error = in->q_error,
      .v_error = in->v_error,
      .events = in->ops->info.locates_events ? &in->events : NULL,
      .closed = &in->closed,
      .jump = in->jump,
  };
}

/* Bytes of the workspace of a scheme, and of the substitute after it. */
static size_t work_bytes(const saltusi_scheme_ops* ops, const saltusi_substitute* sub) {
  const size_t own = (ops->work_size + SALTUS_ALIGNMENT - 1) / SALTUS_ALIGNMENT * SALTUS_ALIGNMENT;
  return own + (sub != NULL && sub->ops != NULL ? sub->ops->work_size : 0);
}

/* Arrays for the current capacity in a new block: sized first, then assigned. The old block is
 * unchanged. */
static saltus_status lay_out(saltus_scheme* in) {
  const saltusi_scheme_ops* ops = in->ops;
  saltus_system* sys = &in->eval.sys;
  if (in->eval.keys != NULL) {
    sys->dims.nc = (int)saltusi_capacity_of(&in->eval.room, SALTUSI_CAPACITY_CONTACTS, 1);
  }
  void* work = in->spare;
  in->spare = in->work;
  in->work = work;
  memset(in->work, 0, work_bytes(ops, &in->sub));
  in->sub.work = (unsigned char*)in->work + work_bytes(ops, NULL);
  in->carried =
      in->clocks != NULL ? in->clocks->memory_count : saltusi_scheme_memory_doubles(in, sys);
  in->dense_count =
      in->clocks != NULL ? in->clocks->dense_count : saltusi_scheme_dense_doubles(in, sys);
  saltus_arena arena = saltus_arena_counting();
  size_t zeroed = layout(in, &arena);
  const saltusi_zeros zeros = saltusi_alloc_zeros(&in->memory, arena.used + 1, zeroed);
  if (zeros.block == NULL) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for %zu bytes, %d contacts",
                ops->info.name, arena.used, sys->dims.nc);
    return SALTUS_ERR_MEMORY;
  }
  in->arrays = zeros.block;
  in->array_bytes = zeros.bytes;
  arena = saltus_arena_over(zeros.start, arena.used);
  layout(in, &arena);
  if (in->eval.keys != NULL) {
    saltusi_keys_clear(&in->keys);
    saltusi_table_clear(&in->marked_table);
  }
  in->tally.position_limits = in->limited;
  in->tally.velocity_limits = in->limited + sys->dims.nq;
  in->tally.impulse_limits = in->tally.velocity_limits + sys->dims.nv;
  bind_step(in);
  return SALTUS_OK;
}

/* Copies doubles of memory or of dense output from a layout with another contact capacity. */
static void carry(const saltus_scheme* in, int contacts,
                  void (*describe)(const saltus_scheme* scheme, saltusi_state_transfer* over),
                  size_t count, const double* from, double* to) {
  const saltus_dims* d = &in->eval.sys.dims;
  if (in->clocks != NULL || d->nc == contacts) {
    memcpy(to, from, count * sizeof(double));
    return;
  }
  saltusi_state_transfer over = {
      .from = from, .to = to, .contacts_from = contacts, .contacts_to = d->nc};
  describe(in, &over);
  assert(over.count == count);
}

void saltusi_scheme_dense_transfer(const saltus_scheme* scheme, int contacts, const double* from,
                                   double* to) {
  assert(scheme != NULL);
  carry(scheme, contacts, saltusi_scheme_transfer_dense, scheme->dense_count, from, to);
}

/* Copies the carried data of a scheme into a new layout. */
static void move(saltus_scheme* in, const saltus_scheme* old) {
  const saltusi_scheme_ops* ops = in->ops;
  const saltus_dims* d = &in->eval.sys.dims;
  int contacts = d->nc < old->eval.sys.dims.nc ? d->nc : old->eval.sys.dims.nc;
  if (in->eval.keys != NULL) {
    saltusi_table_copy(&in->keys.table, &old->keys.table);
    saltusi_table_copy(&in->marked_table, &old->marked_table);
  }
  if (in->carried > 0) {
    carry(in, old->eval.sys.dims.nc, saltusi_scheme_transfer_memory, in->carried, old->memory0,
          in->memory0);
  }
  if (in->carried > 0 && !ops->info.chooses_step) {
    carry(in, old->eval.sys.dims.nc, saltusi_scheme_transfer_memory, in->carried, old->marked,
          in->marked);
  }
  for (int i = 1; i < DENSE_STEPS && in->dense_count > 0; i++) {
    if (old->dense[i].h > 0.0) {
      carry(in, old->eval.sys.dims.nc, saltusi_scheme_transfer_dense, in->dense_count,
            old->dense[i].data, in->dense[i].data);
    }
  }
  memcpy(in->atol_q, old->atol_q, (size_t)d->nv * sizeof(double));
  memcpy(in->atol_v, old->atol_v, (size_t)d->nv * sizeof(double));
  memcpy(in->limited, old->limited, (size_t)(d->nq + d->nv + contacts) * sizeof(long long));
}

/* Lays out for a capacity; on failure the scheme is unchanged. */
static saltus_status lay_out_for(saltus_scheme* scheme, const saltusi_step_capacity* room) {
  const saltus_scheme old = *scheme;
  scheme->eval.room = *room;
  saltus_status status = lay_out(scheme);
  if (status != SALTUS_OK) {
    *scheme = old;
    return status;
  }
  move(scheme, &old);
  scheme->memory.free(old.arrays, old.array_bytes, scheme->memory.user);
  return SALTUS_OK;
}

/* Initial contact capacity of many bodies, two contacts per body in space: growth from one contact
 * on would clear large arrays a dozen times. */
static size_t contacts_of_many(const saltus_dims* d) {
  enum { MANY = 256, EACH = 3 };
  return d->nv < MANY ? 0 : (size_t)(d->nv / EACH < CONTACTS_MOST ? d->nv / EACH : CONTACTS_MOST);
}

saltus_status saltusi_scheme_grow(saltus_scheme* scheme) {
  assert(scheme != NULL);
  saltusi_step_capacity room = scheme->eval.room;
  if (room.wanted[SALTUSI_CAPACITY_CONTACTS] > CONTACTS_MOST) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: a capacity of %zu contacts, at most %d", scheme->ops->info.name,
                room.wanted[SALTUSI_CAPACITY_CONTACTS], CONTACTS_MOST);
    return SALTUS_ERR_BOUND;
  }
  if (room.wanted[SALTUSI_CAPACITY_CONTACTS] > 0) {
    const size_t some = contacts_of_many(&scheme->eval.sys.dims);
    saltusi_capacity_lacks(&room, SALTUSI_CAPACITY_CONTACTS, some);
  }
  saltusi_capacity_grow(&room);
  return lay_out_for(scheme, &room);
}

saltus_status saltusi_scheme_fit(saltus_scheme* scheme, int contacts) {
  assert(scheme != NULL);
  if (scheme->eval.keys == NULL || contacts == scheme->eval.sys.dims.nc) {
    return SALTUS_OK;
  }
  saltusi_table_clear(&scheme->keys.table);
  saltusi_table_clear(&scheme->marked_table);
  saltusi_step_capacity room = scheme->eval.room;
  room.have[SALTUSI_CAPACITY_CONTACTS] = (size_t)contacts;
  return lay_out_for(scheme, &room);
}

/* Tolerances per velocity, NULL: none. */
static void set_tolerances(saltus_scheme* scheme, const double* atol_q, const double* atol_v) {
  const saltus_dims* d = &scheme->eval.sys.dims;
  scheme->has_atol_q = atol_q != NULL;
  scheme->has_atol_v = atol_v != NULL;
  if (atol_q != NULL) {
    memcpy(scheme->atol_q, atol_q, (size_t)d->nv * sizeof(double));
  }
  if (atol_v != NULL) {
    memcpy(scheme->atol_v, atol_v, (size_t)d->nv * sizeof(double));
  }
  bind_step(scheme);
}

/* Grows the event storage to a capacity; existing events are kept. */
saltus_status saltusi_scheme_grow_events(saltus_scheme* scheme, int wanted) {
  assert(scheme != NULL);
  saltusi_event_list* list = &scheme->events;
  void* items = list->items;
  size_t room = (size_t)list->room;
  if (!saltusi_grow(&scheme->memory, &items, &room, (size_t)wanted, sizeof(saltus_event)) ||
      room > INT_MAX) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for the %d events of a step",
                scheme->ops->info.name, wanted);
    return SALTUS_ERR_MEMORY;
  }
  list->items = items;
  list->room = (int)room;
  return SALTUS_OK;
}

/* This struct, options and two workspaces of the scheme (one in use, one for the next layout), then
 * laws without curves. */
enum { HEAD_PARTS = 6 };

static size_t head_bytes(const saltusi_scheme_ops* ops, const saltusi_substitute* sub, int plain,
                         size_t at[HEAD_PARTS - 1]) {
  saltus_arena arena = saltus_arena_counting();
  const size_t count = (size_t)plain;
  const size_t sizes[HEAD_PARTS] = {sizeof(saltus_scheme),
                                    ops->info.options.size,
                                    work_bytes(ops, sub),
                                    work_bytes(ops, sub),
                                    count * sizeof(saltus_contact_law),
                                    count * sizeof(saltus_friction_law)};
  for (int i = 0; i < HEAD_PARTS; i++) {
    saltus_arena_push(&arena, 0, 1, SALTUS_ALIGNMENT);
    if (i > 0) {
      at[i - 1] = arena.used;
    }
    saltus_arena_push(&arena, sizes[i], 1, 1);
  }
  return arena.used;
}

/* Number of laws that own steps get without their curves, or without friction beyond them; 0: none. */
static int plain_laws(const saltusi_scheme_ops* ops, const saltusi_substitute* sub,
                      const saltus_system* sys) {
  const bool any = (has_plain_laws(ops) && saltusi_frictions_special(sys)) || sub->beyond;
  return any && sys->laws != NULL ? sys->law_count : 0;
}

/* With the static coefficient alone. */
static void make_plain(saltus_scheme* scheme, int count, saltus_contact_law* laws,
                       saltus_friction_law* frictions) {
  scheme->curves = has_plain_laws(scheme->ops) ? scheme->own : NULL;
  scheme->eval.curves = scheme->curves;
  for (int i = 0; i < count; i++) {
    laws[i] = scheme->own[i];
    if (saltusi_friction_is_beyond(scheme->ops, &scheme->own[i])) {
      laws[i].friction = NULL;
    } else if (laws[i].friction != NULL && scheme->curves != NULL) {
      frictions[i] = *laws[i].friction;
      frictions[i].curve = SALTUS_CURVE_CONSTANT;
      frictions[i].viscous = 0.0;
      frictions[i].adhesion = 0.0; /* finite forces have no impulse in an impact */
      laws[i].friction = &frictions[i];
    }
  }
  scheme->own = laws;
  scheme->eval.sys.laws = laws;
}

static saltus_status build(const saltus_scheme_def* def, const saltusi_scheme_ops* ops,
                           saltus_allocator memory, bool one_clock, saltus_scheme** out) {
  size_t at[HEAD_PARTS - 1];
  saltusi_substitute sub;
  saltusi_substitute_choose(&sub, ops, def->system, def->log);
  sub.jumps = sub.ops != NULL && jumps(sub.ops, def->system);
  const int plain = plain_laws(ops, &sub, def->system);
  size_t bytes = head_bytes(ops, &sub, plain, at);
  unsigned char* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for %zu bytes", ops->info.name,
                bytes);
    return SALTUS_ERR_MEMORY;
  }
  saltus_scheme* scheme = (saltus_scheme*)(void*)block;
  *scheme =
      (saltus_scheme){.ops = ops,
                      .memory = memory,
                      .bytes = bytes,
                      .log = def->log,
                      .sub = sub,
                      .eval = {.sys = *def->system, .threads = def->threads, .cancel = def->cancel},
                      .options = block + at[0],
                      .work = block + at[1],
                      .spare = block + at[2]};
  if ((def->system->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    scheme->eval.keys = &scheme->keys;
    scheme->keys.room = &scheme->eval.room;
    scheme->eval.room.have[SALTUSI_CAPACITY_CONTACTS] = (size_t)def->system->dims.nc;
  }
  if (def->options != NULL) {
    memcpy(scheme->options, def->options, ops->info.options.size);
  } else {
    saltus_options_defaults(&ops->info.options, scheme->options);
  }
  scheme->own = def->system->laws;
  if (plain > 0) {
    make_plain(scheme, plain, (saltus_contact_law*)(void*)(block + at[3]),
               (saltus_friction_law*)(void*)(block + at[4]));
  }
  if (saltusi_frictions_scaled(def->system)) {
    scheme->eval.sys.traits |= (unsigned)SALTUSI_SCALED_ROWS;
  }
  scheme->jumps = jumps(ops, def->system);
  scheme->projects =
      def->system->dims.nj > 0 && saltusi_projection_asked(&ops->info.options, scheme->options);
  saltus_status status = SALTUS_OK;
  if (!one_clock && ops->own_clocks) {
    status = saltusi_async_islands_create(def, &scheme->clocks);
  }
  status = status == SALTUS_OK ? lay_out(scheme) : status;
  if (status == SALTUS_OK && ops->info.locates_events) {
    status = saltusi_scheme_grow_events(scheme, EVENTS_FIRST);
  }
  if (status != SALTUS_OK) {
    saltus_scheme_destroy(scheme);
    return status;
  }
  set_tolerances(scheme, def->atol_q, def->atol_v);
  scheme->stops_at_gain = saltusi_energy_gain_stops(&ops->info.options, scheme->options);
  *out = scheme;
  return SALTUS_OK;
}

static saltus_status check_tolerances(const char* name, const char* member, int n,
                                      const double* atol, saltus_log log) {
  for (int i = 0; atol != NULL && i < n; i++) {
    if (!(atol[i] >= 0.0 && atol[i] <= 1e300)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s: %s[%d] is %g, must be a positive tolerance, or 0 for that of the "
                  "options",
                  name, member, i, atol[i]);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

static saltus_status create(const saltus_scheme_def* def, bool one_clock, saltus_scheme** out) {
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_scheme_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  const saltusi_scheme_ops* ops = def->scheme != NULL ? saltusi_registry_find(def->scheme) : NULL;
  if (ops == NULL) {
    return saltusi_registry_refuse(def->scheme, def->log);
  }
  if (def->system == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s: no system given", ops->info.name);
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_system_validate(def->system, def->log);
  if (status == SALTUS_OK && def->options != NULL) {
    status = saltus_options_check(&ops->info.options, def->options, ops->info.name, def->log);
  }
  if (status == SALTUS_OK) {
    status = check_treats(ops, def->system, def->log);
  }
  if (status == SALTUS_OK) {
    status = check_bonds(ops, def->system, def->log);
  }
  if (status == SALTUS_OK && def->options != NULL && ops->check != NULL) {
    status = ops->check(def->options, def->system, def->log);
  }
  const saltus_dims* d = &def->system->dims;
  if (status == SALTUS_OK) {
    status = check_tolerances(ops->info.name, "atol_q", d->nv, def->atol_q, def->log);
  }
  if (status == SALTUS_OK) {
    status = check_tolerances(ops->info.name, "atol_v", d->nv, def->atol_v, def->log);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  return build(def, ops, memory, one_clock, out);
}

saltus_status saltus_scheme_create(const saltus_scheme_def* def, saltus_scheme** out) {
  assert(def != NULL && out != NULL);
  return create(def, false, out);
}

const saltus_system* saltusi_system_of(const saltus_system* system, const char* scheme) {
  assert(system != NULL && scheme != NULL);
  const saltus_scheme_info* info = saltus_scheme_find(scheme);
  const bool set_valued = system->set_valued != NULL && info != NULL && info->chooses_step;
  return set_valued ? system->set_valued : system;
}

saltus_status saltusi_scheme_create_plain(const saltus_scheme_def* def, saltus_scheme** out) {
  assert(def != NULL && out != NULL);
  return create(def, true, out);
}

void saltus_scheme_destroy(saltus_scheme* scheme) {
  if (scheme != NULL) {
    saltus_allocator memory = scheme->memory;
    saltusi_async_islands_destroy(scheme->clocks);
    saltusi_release(&memory, scheme->events.items, (size_t)scheme->events.room,
                    sizeof(saltus_event));
    if (scheme->arrays != NULL) {
      memory.free(scheme->arrays, scheme->array_bytes, memory.user);
    }
    memory.free(scheme, scheme->bytes, memory.user);
  }
}

saltus_status saltusi_scheme_retune(saltus_scheme* scheme, const void* options,
                                    const double* atol_q, const double* atol_v) {
  assert(scheme != NULL);
  const saltus_scheme_info* info = &scheme->ops->info;
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltus_status status = saltus_options_check(&info->options, options, info->name, scheme->log);
  if (status == SALTUS_OK) {
    status = check_tolerances(info->name, "atol_q", d->nv, atol_q, scheme->log);
  }
  if (status == SALTUS_OK) {
    status = check_tolerances(info->name, "atol_v", d->nv, atol_v, scheme->log);
  }
  if (status == SALTUS_OK) {
    memcpy(scheme->options, options, info->options.size);
    set_tolerances(scheme, atol_q, atol_v);
  }
  if (status == SALTUS_OK && scheme->clocks != NULL) {
    status = saltusi_async_islands_retune(scheme->clocks, options, atol_q, atol_v);
  }
  return status;
}
