/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scheme.c - the registry, and what surrounds every scheme: checks, memory, counters, commit.
 */
#include "scheme/scheme_inside.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every scheme there is. To add one: its file, its line here, its page in docs/. */
static const saltusi_scheme_ops* const registry[] = {
    &saltusi_moreau_jean,
    &saltusi_moreau_projected,
    &saltusi_moreau_midpoint,
    &saltusi_variational,
    &saltusi_rattle,
    &saltusi_schatzman_paoli,
    &saltusi_splitting,
    &saltusi_splitting_contact,
    &saltusi_dg_minus,
    &saltusi_dg_plus,
    &saltusi_trapezoidal_mean,
    &saltusi_trapezoidal_end,
    &saltusi_scheme_explicit_euler,
    &saltusi_scheme_midpoint,
    &saltusi_scheme_heun_3,
    &saltusi_scheme_rk4,
    &saltusi_scheme_rkf45,
    &saltusi_scheme_dopri5,
    &saltusi_scheme_radau_iia_1,
    &saltusi_scheme_radau_iia_3,
    &saltusi_scheme_radau_iia_5,
    &saltusi_scheme_lobatto_iiia_2,
    &saltusi_scheme_lobatto_iiia_4,
    &saltusi_scheme_lobatto_iiia_6,
    &saltusi_scheme_gauss_2,
    &saltusi_scheme_gauss_4,
    &saltusi_scheme_gauss_6,
    &saltusi_scheme_herk_3,
    &saltusi_scheme_hem_4,
    &saltusi_event_driven,
    &saltusi_scheme_adaptive,
    &saltusi_scheme_adaptive_dopri5,
    &saltusi_scheme_adaptive_dop853,
    &saltusi_scheme_adaptive_radau5,
};
enum { REGISTRY_COUNT = sizeof registry / sizeof registry[0] };

/* Room for events to begin with: no step of the studies to a tolerance has more. */
enum { EVENTS_FIRST = 64 };

int saltus_scheme_count(void) {
  return REGISTRY_COUNT;
}

const saltus_scheme_info* saltus_scheme_at(int i) {
  return i >= 0 && i < REGISTRY_COUNT ? &registry[i]->info : NULL;
}

static const saltusi_scheme_ops* find(const char* name) {
  for (int i = 0; i < REGISTRY_COUNT; i++) {
    if (strcmp(registry[i]->info.name, name) == 0) {
      return registry[i];
    }
  }
  return NULL;
}

const saltus_scheme_info* saltus_scheme_find(const char* name) {
  const saltusi_scheme_ops* ops = name != NULL ? find(name) : NULL;
  return ops != NULL ? &ops->info : NULL;
}

static saltus_status refuse_name(const char* name, saltus_log log) {
  char names[512] = "";
  size_t used = 0;
  for (int i = 0; i < REGISTRY_COUNT && used < sizeof names; i++) {
    int added = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                         registry[i]->info.name);
    used += added > 0 ? (size_t)added : 0;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "no scheme \"%s\"; there are: %s",
              name != NULL ? name : "(null)", names);
  return SALTUS_ERR_NAME;
}

/* A system that needs what the scheme cannot do is refused now, not computed wrongly later. */
static saltus_status check_treats(const saltusi_scheme_ops* ops, const saltus_system* sys,
                                  saltus_log log) {
  const char* name = ops->info.name;
  if (sys->dims.nj > 0 && (ops->info.treats & SALTUS_TREATS_JOINTS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "scheme %s does not treat joints; the system has %d", name,
                sys->dims.nj);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (sys->ops->advance != NULL && (ops->info.treats & SALTUS_TREATS_MAPS) == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "scheme %s treats only systems with q' = v; this one has a map of its own", name);
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
    if (law->tangents > 0 && law->e_T > 0.0 && !any_friction) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s does not treat tangential restitution; contact %d \"%s\" has %g", name,
                  i, label, law->e_T);
      return SALTUS_ERR_UNSUPPORTED;
    }
    bool poisson = law->impact == SALTUS_IMPACT_POISSON && law->e_N > 0.0;
    if (poisson && (ops->info.treats & SALTUS_TREATS_POISSON) == 0) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "scheme %s does not treat Poisson's impact law; contact %d \"%s\" has it", name,
                  i, label);
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

/* The struct itself comes first, so that the block can be freed through it. Last come the large
 * arrays that are written before they are read: most steps touch a few pages of them. Returns the
 * bytes before those, which start as zeros. */
static size_t layout(saltus_scheme* in, saltus_arena* arena) {
  const saltusi_scheme_ops* ops = in->ops;
  const saltus_dims* dims = &in->eval.sys.dims;
  in->next.q = SALTUS_PUSH(arena, double, dims->nq);
  in->next.v = SALTUS_PUSH(arena, double, dims->nv);
  in->contacts = SALTUS_PUSH(arena, saltus_contact_step, dims->nc);
  in->joint_impulses = SALTUS_PUSH(arena, double, dims->nj);
  in->atol_q = SALTUS_PUSH(arena, double, dims->nq);
  in->atol_v = SALTUS_PUSH(arena, double, dims->nv);
  in->limited = SALTUS_PUSH(arena, long long, dims->nq + dims->nv + dims->nc);
  in->undefined.q = SALTUS_PUSH(arena, double, dims->nq);
  in->undefined.v = SALTUS_PUSH(arena, double, dims->nv);
  in->q_error = SALTUS_PUSH(arena, double, dims->nq);
  in->v_error = SALTUS_PUSH(arena, double, dims->nv);
  in->memory0 = SALTUS_PUSH(arena, double, in->carried);
  in->memory1 = SALTUS_PUSH(arena, double, in->carried);
  saltusi_eval_layout(&in->eval, arena);
  if (dims->nj > 1) {
    saltusi_joints_layout(&in->joints, &in->eval.sys, arena);
  }
  ops->layout(in->work, in->options, &in->eval, arena);
  size_t zeroed = arena->used;
  for (int i = 0; i < DENSE_STEPS; i++) {
    in->dense[i].data = SALTUS_PUSH(arena, double, in->dense_count);
  }
  return zeroed;
}

/* Options, the scheme's struct and this one: needed before the arrays can be measured. */
static size_t head_bytes(const saltusi_scheme_ops* ops, size_t* options_at, size_t* work_at) {
  saltus_arena arena = saltus_arena_counting();
  saltus_arena_push(&arena, 1, sizeof(saltus_scheme), SALTUS_ALIGNMENT);
  saltus_arena_push(&arena, 0, 1, SALTUS_ALIGNMENT);
  *options_at = arena.used;
  saltus_arena_push(&arena, ops->info.options.size, 1, SALTUS_ALIGNMENT);
  saltus_arena_push(&arena, 0, 1, SALTUS_ALIGNMENT);
  *work_at = arena.used;
  saltus_arena_push(&arena, ops->work_size, 1, SALTUS_ALIGNMENT);
  saltus_arena_push(&arena, 0, 1, SALTUS_ALIGNMENT);
  return arena.used;
}

/* Tolerances per coordinate, NULL: none. */
static void set_tolerances(saltus_scheme* scheme, const double* atol_q, const double* atol_v) {
  const saltus_dims* d = &scheme->eval.sys.dims;
  scheme->has_atol_q = atol_q != NULL;
  scheme->has_atol_v = atol_v != NULL;
  if (atol_q != NULL) {
    memcpy(scheme->atol_q, atol_q, (size_t)d->nq * sizeof(double));
  }
  if (atol_v != NULL) {
    memcpy(scheme->atol_v, atol_v, (size_t)d->nv * sizeof(double));
  }
}

/* Lays out twice: counting over a small head, then over the block that holds everything. */
static saltus_status build(const saltus_scheme_def* def, const saltusi_scheme_ops* ops,
                           saltus_allocator memory, saltus_scheme** out) {
  size_t options_at;
  size_t work_at;
  size_t head = head_bytes(ops, &options_at, &work_at);
  size_t bytes = head;
  size_t zeroed = head;
  unsigned char* block = NULL;
  for (int pass = 0; pass < 2; pass++) {
    block = memory.alloc(bytes, memory.user);
    if (block == NULL) {
      saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for %zu bytes",
                  ops->info.name, bytes);
      return SALTUS_ERR_MEMORY;
    }
    memset(block, 0, zeroed);
    saltus_scheme* in = (saltus_scheme*)(void*)block;
    *in = (saltus_scheme){.ops = ops,
                          .memory = memory,
                          .bytes = bytes,
                          .log = def->log,
                          .eval = {.sys = *def->system, .cancel = def->cancel},
                          .options = block + options_at,
                          .work = block + work_at};
    if (def->options != NULL) {
      memcpy(in->options, def->options, ops->info.options.size);
    } else {
      saltus_options_defaults(&ops->info.options, in->options);
    }
    in->carried = ops->memory_count != NULL ? ops->memory_count(in->options, &in->eval.sys) : 0;
    in->dense_count = ops->dense_count != NULL ? ops->dense_count(in->options, &in->eval.sys) : 0;
    saltus_arena arena = pass == 0 ? saltus_arena_counting() : saltus_arena_over(block, bytes);
    arena.used = head;
    zeroed = layout(in, &arena);
    if (pass == 0) {
      memory.free(block, bytes, memory.user);
      bytes = arena.used;
    }
  }
  saltus_scheme* scheme = (saltus_scheme*)(void*)block;
  set_tolerances(scheme, def->atol_q, def->atol_v);
  scheme->stops_at_gain = saltusi_gain_stops(&ops->info.options, scheme->options);
  scheme->tally.position_limits = scheme->limited;
  scheme->tally.velocity_limits = scheme->limited + def->system->dims.nq;
  scheme->tally.impulse_limits = scheme->tally.velocity_limits + def->system->dims.nv;
  saltus_status status =
      ops->info.locates_events ? saltusi_scheme_grow_events(scheme, EVENTS_FIRST) : SALTUS_OK;
  if (status != SALTUS_OK) {
    memory.free(scheme, bytes, memory.user);
    return status;
  }
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

saltus_status saltus_scheme_create(const saltus_scheme_def* def, saltus_scheme** out) {
  *out = NULL;
  const saltusi_scheme_ops* ops = def->scheme != NULL ? find(def->scheme) : NULL;
  if (ops == NULL) {
    return refuse_name(def->scheme, def->log);
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
  if (status == SALTUS_OK && def->options != NULL && ops->check != NULL) {
    status = ops->check(def->options, def->system, def->log);
  }
  const saltus_dims* d = &def->system->dims;
  if (status == SALTUS_OK) {
    status = check_tolerances(ops->info.name, "atol_q", d->nq, def->atol_q, def->log);
  }
  if (status == SALTUS_OK) {
    status = check_tolerances(ops->info.name, "atol_v", d->nv, def->atol_v, def->log);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  return build(def, ops, memory, out);
}

void saltusi_scheme_poll(saltus_scheme* scheme, bool (*poll)(void* who), void* who) {
  scheme->eval.poll = poll;
  scheme->eval.who = who;
}

void saltus_scheme_destroy(saltus_scheme* scheme) {
  if (scheme != NULL) {
    saltus_allocator memory = scheme->memory;
    saltusi_release(&memory, scheme->events.items, (size_t)scheme->events.room,
                    sizeof(saltus_event));
    memory.free(scheme, scheme->bytes, memory.user);
  }
}

/* 0 x is 0 for every finite x and NaN for the others. */
static bool all_finite(int n, const double* x) {
  double zero = 0.0;
  for (int i = 0; i < n; i++) {
    zero += 0.0 * x[i];
  }
  return zero == 0.0;
}

/* Joints that depend on each other have to agree: where they do not, the impulses of least size hold
 * something between them, which is no motion of the system. */
static saltus_status check_joints(saltus_scheme* scheme, double t, const saltus_state* at) {
  saltus_point point = saltusi_at(&scheme->eval, t, at->q, at->v);
  saltus_status status = saltusi_joints_contradict(&scheme->joints, &scheme->eval, &point, false,
                                                   &scheme->disagreement);
  bool agree = status != SALTUS_OK || scheme->disagreement.kind == SALTUSI_AGREE;
  return agree ? status : SALTUS_ERR_CONTRADICTION;
}

saltus_status saltusi_scheme_try(saltus_scheme* scheme, double t, double h,
                                 const saltus_state* from, saltus_state* to,
                                 saltus_step_report* report) {
  scheme->tried_from = (tried_from){.t = t, .h = h, .from = from, .to = to};
  const saltus_dims* dims = &scheme->eval.sys.dims;
  *report = (saltus_step_report){
      .contacts = scheme->contacts, .joint_impulses = scheme->joint_impulses, .h = h};
  if (saltusi_cancelled(&scheme->eval)) {
    return SALTUS_ERR_STOPPED;
  }
  saltusi_step step = {
      .eval = &scheme->eval,
      .t = t,
      .h = h,
      .q0 = from->q,
      .v0 = from->v,
      .q1 = to->q,
      .v1 = to->v,
      .memory0 = scheme->memory0,
      .memory1 = scheme->memory1,
      .contacts = scheme->contacts,
      .joint_impulses = scheme->joint_impulses,
      .atol_q = scheme->has_atol_q ? scheme->atol_q : NULL,
      .atol_v = scheme->has_atol_v ? scheme->atol_v : NULL,
      .q_error = scheme->q_error,
      .v_error = scheme->v_error,
      .events = scheme->ops->info.locates_events ? &scheme->events : NULL,
      .dense = scheme->dense_count > 0 ? scheme->dense[0].data : NULL,
      .report = report,
      .log = scheme->log,
  };
  saltus_status status = saltusi_scheme_do_step(scheme, &step);
  scheme->eval.work.steps++;
  if (status != SALTUS_OK && saltusi_cancelled(&scheme->eval)) {
    status = SALTUS_ERR_STOPPED; /* whatever it ran into after it was asked to end */
  }
  if (status == SALTUS_OK && !(all_finite(dims->nq, to->q) && all_finite(dims->nv, to->v))) {
    status = SALTUS_RETRY_NAN;
  }
  int next = 0;
  if (status == SALTUS_OK && scheme->stops_at_gain &&
      saltusi_gain_next(report, scheme->ops->info.locates_events, t + report->h, report->h, &next,
                        &scheme->gain)) {
    status = SALTUS_ERR_LAW;
  }
  if (status == SALTUS_OK && scheme->eval.dependent && dims->nj > 1) {
    status = check_joints(scheme, t + report->h, to);
  }
  if (scheme->dense_count > 0) {
    scheme->dense[0].t = t;
    scheme->dense[0].h = report->h;
  }
  scheme->tried = (tried_step){.h = report->h,
                               .method = report->method,
                               .rejections = report->rejections,
                               .limit_index = report->limit_index,
                               .limit = report->limit};
  return status;
}

/* Counts a committed step. */
static void count_step(saltus_scheme* scheme) {
  const tried_step* report = &scheme->tried;
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltus_tally* tally = &scheme->tally;
  bool first_step = tally->steps == 0;
  tally->h_least = first_step || report->h < tally->h_least ? report->h : tally->h_least;
  tally->h_most = report->h > tally->h_most ? report->h : tally->h_most;
  tally->steps++;
  tally->rejections += report->rejections;
  tally->limits[report->limit]++;
  if (report->limit >= SALTUS_LIMIT_POSITION && report->limit <= SALTUS_LIMIT_IMPULSE) {
    const int first[] = {[SALTUS_LIMIT_POSITION] = 0,
                         [SALTUS_LIMIT_VELOCITY] = d->nq,
                         [SALTUS_LIMIT_IMPULSE] = d->nq + d->nv};
    scheme->limited[first[report->limit] + report->limit_index]++;
  }
  for (int i = 0; report->method != NULL && i < SALTUS_METHODS_MAX; i++) {
    tally->methods[i] = tally->methods[i] == NULL ? report->method : tally->methods[i];
    if (strcmp(tally->methods[i], report->method) == 0) {
      tally->method_steps[i]++;
      break;
    }
  }
}

void saltusi_scheme_commit(saltus_scheme* scheme) {
  count_step(scheme);
  double* kept = scheme->memory0;
  scheme->memory0 = scheme->memory1;
  scheme->memory1 = kept;
  if (scheme->dense_count == 0) {
    return;
  }
  dense_step oldest = scheme->dense[DENSE_STEPS - 1];
  for (int i = DENSE_STEPS - 1; i > 0; i--) {
    scheme->dense[i] = scheme->dense[i - 1];
  }
  scheme->dense[0] = oldest;
}

size_t saltusi_scheme_dense_count(const saltus_scheme* scheme) {
  return scheme->dense_count;
}

void saltusi_scheme_dense_copy(const saltus_scheme* scheme, double* data) {
  memcpy(data, scheme->dense[1].data, scheme->dense_count * sizeof(double));
}

saltus_status saltusi_scheme_dense_ask(saltus_scheme* scheme, double* data,
                                       const saltusi_dense_query* at) {
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = data;
  return scheme->ops->dense(scheme->work, scheme->options, &query);
}

bool saltusi_scheme_knows_forces(const saltus_scheme* scheme) {
  return scheme->ops->info.locates_events && scheme->ops->dense_contact != NULL &&
         scheme->ops->dense_joints != NULL;
}

void saltusi_scheme_dense_contact_ask(saltus_scheme* scheme, double* data,
                                      const saltusi_dense_query* at, int key,
                                      saltus_contact_inside* contact) {
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = data;
  scheme->ops->dense_contact(scheme->work, scheme->options, &query, key, contact);
}

void saltusi_scheme_dense_lasting(saltus_scheme* scheme, const saltusi_dense_query* at,
                                  double* lasting) {
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  for (int key = 0; key < d->nc; key++) {
    saltus_contact_inside contact;
    scheme->ops->dense_contact(scheme->work, scheme->options, &query, key, &contact);
    memcpy(lasting + 3 * (size_t)key, contact.lasting, sizeof contact.lasting);
  }
  scheme->ops->dense_joints(scheme->work, scheme->options, &query, NULL,
                            lasting + 3 * (size_t)d->nc);
}

void saltusi_scheme_dense_forces(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 double* forces) {
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  for (int key = 0; key < scheme->eval.sys.dims.nc; key++) {
    saltus_contact_inside contact;
    scheme->ops->dense_contact(scheme->work, scheme->options, &query, key, &contact);
    memcpy(forces + 3 * (size_t)key, contact.force, sizeof contact.force);
  }
  scheme->ops->dense_joints(scheme->work, scheme->options, &query,
                            forces + 3 * (size_t)scheme->eval.sys.dims.nc, NULL);
}

bool saltusi_scheme_dense_bounce(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 saltusi_bounce_inside* bounce) {
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  return scheme->ops->dense_bounce != NULL &&
         scheme->ops->dense_bounce(scheme->work, scheme->options, &query, bounce);
}

saltus_status saltusi_scheme_forces(saltus_scheme* scheme, const saltus_state* state,
                                    double* forces) {
  if (scheme->ops->forces == NULL) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  const saltusi_step step = {.eval = &scheme->eval,
                             .t = state->t,
                             .h = INFINITY,
                             .q0 = state->q,
                             .v0 = state->v,
                             .memory0 = scheme->memory0,
                             .memory1 = scheme->memory1,
                             .atol_q = scheme->has_atol_q ? scheme->atol_q : NULL,
                             .atol_v = scheme->has_atol_v ? scheme->atol_v : NULL};
  saltus_work kept = scheme->eval.work; /* who looks is no part of the work */
  saltus_status status = scheme->ops->forces(scheme->work, scheme->options, &step, forces);
  scheme->eval.work = kept;
  return status;
}

saltus_status saltusi_scheme_dense(saltus_scheme* scheme, int steps,
                                   const saltusi_dense_query* at) {
  if (scheme->dense_count == 0) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltus_status status = SALTUS_ERR_RANGE;
  for (int i = 1; i <= steps && i < DENSE_STEPS; i++) {
    const dense_step* step = &scheme->dense[i];
    /* the end of a step is known up to rounding: the caller may have made it in another way */
    double slack = 8.0 * DBL_EPSILON * fmax(fabs(step->t), step->h);
    double end = step->t + step->h;
    if (step->h > 0.0 && at->t >= step->t - slack && at->t <= end + slack) {
      saltusi_dense_query query = *at;
      query.t = at->t < step->t ? step->t : fabs(at->t - end) <= slack ? end : at->t;
      status = saltusi_scheme_dense_ask(scheme, step->data, &query);
      /* left of the start of a step is the end of the one before, if that is still there */
      if (at->side == SALTUS_RIGHT || at->t > step->t + slack) {
        break;
      }
    }
  }
  return status;
}

saltus_status saltus_scheme_dense(saltus_scheme* scheme, double t, saltus_side side, double* q,
                                  double* v) {
  const saltusi_dense_query query = {.t = t,
                                     .side = side,
                                     .q = q != NULL ? q : scheme->next.q,
                                     .v = v != NULL ? v : scheme->next.v};
  saltus_status status = saltusi_scheme_dense(scheme, 1, &query);
  if (status == SALTUS_ERR_UNSUPPORTED) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s has no dense output",
                scheme->ops->info.name);
  } else if (status == SALTUS_ERR_RANGE) {
    const dense_step* last = &scheme->dense[1];
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "dense output: t = %.17g s is not within the last step, %.17g s to %.17g s", t,
                last->t, last->t + last->h);
  }
  return status;
}

saltus_status saltus_scheme_dense_contact(saltus_scheme* scheme, double t, saltus_side side,
                                          int key, saltus_contact_inside* contact) {
  if (scheme->ops->dense_contact == NULL) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s does not know its contact forces inside a step", scheme->ops->info.name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (key < 0 || key >= scheme->eval.sys.dims.nc) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "dense output: no contact %d; there are %d", key,
                scheme->eval.sys.dims.nc);
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_scheme_dense(scheme, t, side, NULL, NULL);
  if (status == SALTUS_OK) {
    const dense_step* last = &scheme->dense[1];
    const saltusi_dense_query query = {
        .eval = &scheme->eval, .data = last->data, .t = t, .side = side};
    scheme->ops->dense_contact(scheme->work, scheme->options, &query, key, contact);
  }
  return status;
}

/* Names the first coordinate that is not a number. */
static saltus_status check_state(const saltus_scheme* scheme, const saltus_state* state) {
  const saltus_dims* dims = &scheme->eval.sys.dims;
  for (int i = 0; i < dims->nq + dims->nv; i++) {
    bool position = i < dims->nq;
    double value = position ? state->q[i] : state->v[i - dims->nq];
    if (!isfinite(value)) {
      saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "state: %s[%d] is %g, must be finite",
                  position ? "q" : "v", position ? i : i - dims->nq, value);
      return SALTUS_ERR_RANGE;
    }
  }
  if (!isfinite(state->t)) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "state: t is %g, must be finite", state->t);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

saltus_status saltus_scheme_step(saltus_scheme* scheme, double h, saltus_state* state,
                                 saltus_step_report* report) {
  const saltus_dims* dims = &scheme->eval.sys.dims;
  if (!(h > 0.0 && h <= 1e300)) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "step: h is %g s, must be positive and finite", h);
    return SALTUS_ERR_RANGE;
  }
  if (!(all_finite(dims->nq, state->q) && all_finite(dims->nv, state->v) && isfinite(state->t))) {
    return check_state(scheme, state);
  }
  saltus_step_report local;
  report = report != NULL ? report : &local;
  saltus_status status = saltusi_scheme_try(scheme, state->t, h, state, &scheme->next, report);
  if (status == SALTUS_OK) {
    memcpy(state->q, scheme->next.q, (size_t)dims->nq * sizeof(double));
    memcpy(state->v, scheme->next.v, (size_t)dims->nv * sizeof(double));
    state->t += report->h;
    saltusi_scheme_commit(scheme);
    return status;
  }
  return saltusi_scheme_explain(scheme, status, state->t, h);
}

void saltusi_scheme_errors(const saltus_scheme* scheme, const double** q_error,
                           const double** v_error) {
  *q_error = scheme->q_error;
  *v_error = scheme->v_error;
}

const saltus_scheme_info* saltusi_scheme_info(const saltus_scheme* scheme) {
  return &scheme->ops->info;
}

saltus_work saltus_scheme_work(const saltus_scheme* scheme) {
  return scheme->eval.work;
}

const saltus_tally* saltus_scheme_tally(const saltus_scheme* scheme) {
  return &scheme->tally;
}

saltus_status saltusi_scheme_retune(saltus_scheme* scheme, const void* options,
                                    const double* atol_q, const double* atol_v) {
  const saltus_scheme_info* info = &scheme->ops->info;
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltus_status status = saltus_options_check(&info->options, options, info->name, scheme->log);
  if (status == SALTUS_OK) {
    status = check_tolerances(info->name, "atol_q", d->nq, atol_q, scheme->log);
  }
  if (status == SALTUS_OK) {
    status = check_tolerances(info->name, "atol_v", d->nv, atol_v, scheme->log);
  }
  if (status == SALTUS_OK) {
    memcpy(scheme->options, options, info->options.size);
    set_tolerances(scheme, atol_q, atol_v);
  }
  return status;
}

uint64_t saltusi_scheme_fingerprint(const saltus_scheme* scheme) {
  const saltus_scheme_info* info = &scheme->ops->info;
  uint64_t hash = saltusi_hash(SALTUSI_HASH_START, info->name, strlen(info->name));
  char text[128];
  for (int i = 0; i < info->options.count; i++) { /* as text: padding has no meaning */
    saltus_options_show(&info->options.fields[i], scheme->options, text, sizeof text);
    hash = saltusi_hash(hash, text, strlen(text));
  }
  const saltus_dims* d = &scheme->eval.sys.dims;
  if (scheme->has_atol_q) {
    hash = saltusi_hash(hash, scheme->atol_q, (size_t)d->nq * sizeof(double));
  }
  if (scheme->has_atol_v) {
    hash = saltusi_hash(hash, scheme->atol_v, (size_t)d->nv * sizeof(double));
  }
  return hash;
}

size_t saltus_scheme_memory_bytes(const saltus_scheme* scheme) {
  return scheme->carried * sizeof(double);
}

void saltus_scheme_memory_save(const saltus_scheme* scheme, void* bytes) {
  if (scheme->carried > 0) {
    memcpy(bytes, scheme->memory0, scheme->carried * sizeof(double));
  }
}

void saltus_scheme_memory_load(saltus_scheme* scheme, const void* bytes) {
  if (scheme->carried > 0) {
    memcpy(scheme->memory0, bytes, scheme->carried * sizeof(double));
  }
}

void saltusi_scheme_restart(saltus_scheme* scheme) {
  if (scheme->carried > 0) {
    memset(scheme->memory0, 0, scheme->carried * sizeof(double));
  }
  saltusi_scheme_forget(scheme);
}

void saltusi_scheme_forget(saltus_scheme* scheme) {
  for (int i = 0; i < DENSE_STEPS; i++) {
    scheme->dense[i].h = 0.0;
  }
}

const char* saltus_step_limit_name(saltus_step_limit limit) {
  static const char* const names[SALTUS_LIMITS] = {
      [SALTUS_LIMIT_NONE] = "none",         [SALTUS_LIMIT_POSITION] = "position",
      [SALTUS_LIMIT_VELOCITY] = "velocity", [SALTUS_LIMIT_IMPULSE] = "impulse",
      [SALTUS_LIMIT_EVENT] = "event",       [SALTUS_LIMIT_GROWTH] = "growth",
      [SALTUS_LIMIT_LONGEST] = "longest",   [SALTUS_LIMIT_END] = "end",
  };
  bool known = (int)limit >= 0 && (int)limit < SALTUS_LIMITS;
  return known ? names[limit] : "unknown";
}

const char* saltus_event_kind_name(saltus_event_kind kind) {
  static const char* const names[SALTUS_EVENT_KINDS] = {
      [SALTUS_EVENT_IMPACT] = "impact",
      [SALTUS_EVENT_CLOSE] = "close",
      [SALTUS_EVENT_OPEN] = "open",
      [SALTUS_EVENT_ACCUMULATION] = "accumulation",
      [SALTUS_EVENT_TOUCH] = "touch",
      [SALTUS_EVENT_SLIP] = "slip",
      [SALTUS_EVENT_STICK] = "stick",
      [SALTUS_EVENT_REVERSAL] = "reversal",
      [SALTUS_EVENT_PAINLEVE] = "painleve",
      [SALTUS_EVENT_ENERGY_GAIN] = "energy-gain",
      [SALTUS_EVENT_LAW_REPLACED] = "law-replaced",
      [SALTUS_EVENT_RISE] = "rise",
      [SALTUS_EVENT_FALL] = "fall",
  };
  bool known = (int)kind >= 0 && (int)kind < SALTUS_EVENT_KINDS;
  return known ? names[kind] : "unknown";
}

bool saltus_event_is_remark(saltus_event_kind kind) {
  return kind == SALTUS_EVENT_ENERGY_GAIN || kind == SALTUS_EVENT_LAW_REPLACED;
}

bool saltus_event_is_own(saltus_event_kind kind) {
  return kind == SALTUS_EVENT_RISE || kind == SALTUS_EVENT_FALL;
}

double saltus_event_work(const saltus_event* event) {
  double work = event->impulse[0] * (event->u_before + event->u_after);
  for (int k = 0; k < 2; k++) {
    work += event->impulse[k + 1] * (event->slip_before[k] + event->slip_after[k]);
  }
  return 0.5 * work;
}
