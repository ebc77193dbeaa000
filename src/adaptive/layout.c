/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout.c - memory of the integrator: its state from step to step, and its workspaces.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "base/number.h"
#include "system/impacts.h"

#include <assert.h>
#include <string.h>

/* Largest system that the implicit method treats with dense matrices. */
enum { IMPLICIT_MAX = 200 };

/* Layout of a contact in the memory, an array of doubles. */
enum {
  CONTACT_MODE,
  CONTACT_SENSE,
  CONTACT_TOUCHING,
  CONTACT_HEIGHT,
  CONTACT_FRESH_SLIP,
  CONTACT_BONDED,
  CONTACT_SPARED,
  CONTACT_ZENO_SPEED,
  CONTACT_ZENO_LIMIT,
  CONTACT_TILT,
  CONTACT_FORCE,
  CONTACT_FRICTION_1,
  CONTACT_FRICTION_2,
  CONTACT_DOUBLES
};
enum { HEAD = sizeof(saltusi_adaptive_memory) / sizeof(double) };

static void read_contact(const double* d, saltusi_contact* c) {
  *c = (saltusi_contact){.mode = (saltusi_contact_mode)d[CONTACT_MODE],
                         .sense = d[CONTACT_SENSE],
                         .touching = d[CONTACT_TOUCHING] != 0.0,
                         .height = d[CONTACT_HEIGHT],
                         .fresh_slip = d[CONTACT_FRESH_SLIP] != 0.0,
                         .bonded = d[CONTACT_BONDED] != 0.0,
                         .spared = d[CONTACT_SPARED] != 0.0,
                         .zeno_speed = d[CONTACT_ZENO_SPEED],
                         .zeno_limit = d[CONTACT_ZENO_LIMIT],
                         .tilt = d[CONTACT_TILT],
                         .force = {d[CONTACT_FORCE], d[CONTACT_FRICTION_1], d[CONTACT_FRICTION_2]}};
}

static void write_contact(const saltusi_contact* c, double* d) {
  d[CONTACT_MODE] = c->mode;
  d[CONTACT_SENSE] = c->sense;
  d[CONTACT_TOUCHING] = c->touching ? 1.0 : 0.0;
  d[CONTACT_HEIGHT] = c->height;
  d[CONTACT_FRESH_SLIP] = c->fresh_slip ? 1.0 : 0.0;
  d[CONTACT_BONDED] = c->bonded ? 1.0 : 0.0;
  d[CONTACT_SPARED] = c->spared ? 1.0 : 0.0;
  d[CONTACT_ZENO_SPEED] = c->zeno_speed;
  d[CONTACT_ZENO_LIMIT] = c->zeno_limit;
  d[CONTACT_TILT] = c->tilt;
  d[CONTACT_FORCE] = c->force[0];
  d[CONTACT_FRICTION_1] = c->force[1];
  d[CONTACT_FRICTION_2] = c->force[2];
}

static bool may_be_implicit(const saltus_system* sys, bool implicit) {
  return implicit && sys->dims.nv <= IMPLICIT_MAX;
}

static size_t jacobian_count(const saltus_system* sys, bool implicit) {
  int nv = sys->dims.nv;
  return may_be_implicit(sys, implicit)
             ? (size_t)(nv + saltusi_adaptive_rows(sys)) * (size_t)(2 * nv)
             : 0;
}

size_t saltusi_adaptive_memory_count(const saltus_system* sys, bool implicit) {
  assert(sys != NULL);
  size_t ny = (size_t)sys->dims.nq + (size_t)sys->dims.nv + (size_t)sys->dims.nj +
              (size_t)saltusi_adaptive_rows(sys) + (size_t)saltusi_adaptive_works(sys);
  return HEAD + (size_t)saltusi_adaptive_keys(sys) * CONTACT_DOUBLES + ny +
         jacobian_count(sys, implicit);
}

/* Values of modes are not contiguous. */
static bool is_mode(double code) {
  return saltusi_is_whole(code, SALTUSI_OPEN, SALTUSI_STICK_BOUND) || code == SALTUSI_IDLE;
}

static bool is_flag(double value) {
  return value == 0.0 || value == 1.0;
}

/* Fields of a started run on which steps depend. */
static bool is_valid_head(const saltusi_adaptive_memory* m) {
  return is_flag(m->started) && is_flag(m->rejected) && is_flag(m->overheld) &&
         is_flag(m->near_singular) && is_flag(m->rate_valid) &&
         (m->started == 0.0 || (m->h > 0.0 && m->h < INFINITY && m->cap > 0.0)) &&
         m->v_max >= 0.0 && m->q_max >= 0.0 && m->stall_steps >= 0.0 && m->jacobian_age >= -1.0 &&
         m->firmness >= 0.0 && m->firmness_most >= 0.0 && m->captured_h >= 0.0 &&
         m->captured_left >= 0.0 && m->brief >= -1.0 && m->brief < INFINITY && m->h >= 0.0 &&
         m->h < INFINITY;
}

void saltusi_adaptive_resume(double* memory, size_t count, double t) {
  assert(memory != NULL && count >= HEAD);
  saltusi_adaptive_memory* m = (saltusi_adaptive_memory*)(void*)memory;
  const double h = m->h, brief = m->brief >= 0.0 ? t - m->changed : 0.0;
  memset(memory, 0, count * sizeof *memory);
  m->h = h;
  m->changed = t;
  m->brief = brief > 0.0 ? brief : 0.0;
}

bool saltusi_adaptive_memory_valid(const void* options, const saltus_system* sys,
                                   const double* memory) {
  (void)options;
  assert(sys != NULL && memory != NULL);
  const saltusi_adaptive_memory* m = (const saltusi_adaptive_memory*)(const void*)memory;
  const int keys = saltusi_adaptive_keys(sys);
  bool good = is_valid_head(m) && saltusi_is_whole(m->method, SALTUSI_DOPRI5, SALTUSI_RADAU5) &&
              saltusi_is_whole(m->method_used, SALTUSI_DOPRI5, SALTUSI_RADAU5) &&
              saltusi_is_whole(m->zeno, -1.0, keys - 1);
  for (int key = 0; good && key < keys; key++) {
    good = is_mode(memory[HEAD + key * CONTACT_DOUBLES + CONTACT_MODE]);
  }
  return good;
}

void saltusi_adaptive_transfer_memory(const saltus_system* sys, bool implicit,
                                      saltusi_state_transfer* carry) {
  assert(sys != NULL && carry != NULL);
  const saltus_dims* d = &sys->dims;
  size_t each = (size_t)saltusi_adaptive_rows_each(sys);
  size_t dry = (size_t)sys->dry_count;
  size_t width = may_be_implicit(sys, implicit) ? 2 * (size_t)d->nv : 0;
  saltusi_transfer_plain(carry, HEAD);
  saltusi_transfer_each(carry, CONTACT_DOUBLES);
  saltusi_transfer_each(carry, (size_t)saltusi_adaptive_friction_modes(sys) * CONTACT_DOUBLES);
  saltusi_transfer_plain(carry, dry * CONTACT_DOUBLES + (size_t)d->nq + (size_t)d->nv);
  saltusi_transfer_each(carry, each);
  saltusi_transfer_plain(carry, 2 * dry + (size_t)d->nj + (size_t)saltusi_adaptive_works(sys) +
                                    (size_t)d->nv * width);
  saltusi_transfer_each(carry, each * width);
  saltusi_transfer_plain(carry, 2 * dry * width);
}

void saltusi_adaptive_open(saltusi_adaptive* w, double* memory) {
  assert(w != NULL);
  w->memory = (saltusi_adaptive_memory*)(void*)memory;
  w->carried = memory + HEAD;
  for (int key = 0; key < w->o.nc; key++) {
    read_contact(w->carried + (size_t)key * CONTACT_DOUBLES, &w->contact[key]);
  }
  w->step.rate0 = w->carried + (size_t)w->o.nc * CONTACT_DOUBLES;
  w->step.J = w->step.rate0 + w->o.ny;
  w->mode.eval = w->eval;
  w->mode.sys = w->sys;
  w->mode.o = &w->o;
  w->mode.counts = &w->counts;
  w->mode.contact = w->contact;
  w->decision.mode = &w->mode;
  w->decision.o = &w->o;
  w->decision.memory = w->memory;
  w->decision.contact = w->contact;
  w->decision.log = w->log;
  w->search.mode = &w->mode;
  w->search.decision = &w->decision;
  w->search.step = &w->step;
  w->search.o = &w->o;
  w->search.memory = w->memory;
  w->search.contact = w->contact;
  w->search.eval = w->eval;
  w->search.sys = w->sys;
}

void saltusi_adaptive_close(saltusi_adaptive* w) {
  assert(w != NULL);
  for (int key = 0; key < w->o.nc; key++) {
    write_contact(&w->contact[key], w->carried + (size_t)key * CONTACT_DOUBLES);
  }
}

static void layout_step(saltusi_attempt* s, const saltusi_layout_tables* o, saltus_arena* arena) {
  double** states[] = {&s->y0,    &s->y1,       &s->y_mid,     &s->y_try,    &s->y_end, &s->y_keep,
                       &s->rate1, &s->rate_mid, &s->rate_keep, &s->rate_try, &s->scale};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    *states[i] = SALTUS_PUSH(arena, double, o->ny);
  }
  s->K = SALTUS_PUSH2(arena, double, SALTUSI_ADAPTIVE_STAGES, o->ny);
  s->Q = SALTUS_PUSH2(arena, double, 8, o->ny);
  s->scale_l = SALTUS_PUSH(arena, double, o->nl);
  s->slip_start = SALTUS_PUSH(arena, double, SALTUSI_SLIPS * o->nc);
  s->slip_limit = SALTUS_PUSH(arena, double, o->nv);
  s->tilt_limit = SALTUS_PUSH(arena, double, o->nv);
  s->along = SALTUS_PUSH(arena, double, o->nq);
  s->beside = SALTUS_PUSH(arena, double, o->nq);
  s->apart = SALTUS_PUSH(arena, double, o->nv);
  if (o->implicit) {
    int n = 3 * o->nv;
    s->newton = SALTUS_PUSH2(arena, double, n, n);
    s->small = SALTUS_PUSH2(arena, double, o->nv, o->nv);
    s->stage_a = SALTUS_PUSH(arena, double, n);
    s->R = SALTUS_PUSH(arena, double, n);
    s->newton_pivot = SALTUS_PUSH(arena, int, 4 * o->nv);
    s->unit = SALTUS_PUSH(arena, double, o->nv);
  }
}

static void layout_course(saltusi_trajectories* c, const saltus_system* sys,
                          const saltusi_layout_tables* o, saltus_arena* arena) {
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  c->power = SALTUS_PUSH2(arena, double, SALTUSI_POWERS, o->nq + o->nv);
  int jet = SALTUS_JET_ORDER + 1;
  for (int i = 0; ops != NULL && i < SALTUSI_PIECES; i++) {
    c->piece[i].made = SALTUS_PUSH(arena, long long, o->nq + o->nv);
    c->piece[i].t = SALTUS_PUSH(arena, saltus_interval, jet);
    c->piece[i].q = SALTUS_PUSH2(arena, saltus_interval, o->nq, jet);
    c->piece[i].v = SALTUS_PUSH2(arena, saltus_interval, o->nv, jet);
  }
  c->scratch = SALTUS_PUSH(arena, char, ops != NULL ? (int)ops->bytes(sys->self) : 0);
}

static void layout_search(saltusi_search* s, const saltus_system* sys,
                          const saltusi_layout_tables* o, saltus_arena* arena) {
  int switches = saltusi_trajectory_switches(sys);
  s->gap_start = SALTUS_PUSH(arena, double, o->nc);
  s->q_low = SALTUS_PUSH(arena, double, o->nq);
  s->q_high = SALTUS_PUSH(arena, double, o->nq);
  s->closed = SALTUS_PUSH(arena, uint64_t, o->nc);
  s->node_rate = SALTUS_PUSH2(arena, double, SALTUSI_NODES, o->nl);
  s->found = SALTUS_PUSH(arena, saltusi_found, 10 * o->nc + switches);
  s->hits = SALTUS_PUSH(arena, bool, o->nc);
  s->dismissed = SALTUS_PUSH(arena, double, o->nc);
  s->probe = SALTUS_PUSH(arena, double, o->ny);
  s->probe_rate = SALTUS_PUSH(arena, double, o->ny);
  s->x = SALTUS_PUSH(arena, double, o->nv);
  s->column = SALTUS_PUSH(arena, int, o->nv);
  s->beyond = SALTUS_PUSH(arena, double, o->nv > o->nj ? o->nv : o->nj);
  s->suspects = SALTUS_PUSH(arena, saltusi_suspect_force, 3 * o->nc);
  s->suspected = SALTUS_PUSH(arena, bool, 3 * o->nc);
  size_t entries = (size_t)o->nq + (size_t)o->nv;
  size_t gaps = sys->ops->gaps == NULL ? (size_t)o->nc : 0;
  double* places = SALTUS_PUSH2(arena, double, SALTUSI_CACHED_STATES, (int)(entries + gaps));
  for (size_t i = 0; i < SALTUSI_CACHED_STATES && places != NULL; i++) {
    s->place[i].state = places + i * (entries + gaps);
    s->place[i].gap = s->place[i].state + entries;
  }
  s->check = SALTUS_PUSH(arena, saltusi_contact, o->nc);
  layout_course(&s->course, sys, o, arena);
}

static void layout_passage(saltusi_passage* p, const saltusi_layout_tables* o,
                           saltus_arena* arena) {
  p->members = SALTUS_PUSH(arena, int, o->nc);
  p->cand = SALTUS_PUSH(arena, int, o->nc);
  p->rebound = SALTUS_PUSH(arena, int, o->nc);
  p->scope = SALTUS_PUSH(arena, bool, o->nc);
  p->part = SALTUS_PUSH(arena, double, o->nv);
  p->old = SALTUS_PUSH(arena, saltusi_contact, o->nc);
  p->kept = SALTUS_PUSH(arena, saltusi_contact, o->nc);
  p->v_struck = SALTUS_PUSH(arena, double, o->nv);
  p->x = SALTUS_PUSH(arena, double, o->nv);
  p->rate = SALTUS_PUSH(arena, double, o->ny);
  p->perturbation.on = SALTUS_PUSH(arena, bool, o->nc);
  p->perturbation.u = SALTUS_PUSH(arena, double, SALTUSI_SLIPS * o->nc);
}

static void layout_zeno(saltusi_zeno_extrapolation* l, const saltusi_layout_tables* o,
                        saltus_arena* arena) {
  l->x_start = SALTUS_PUSH(arena, double, o->nv);
  l->x_end = SALTUS_PUSH(arena, double, o->nv);
  l->coupled = SALTUS_PUSH(arena, bool, o->nc);
  l->stay_gap = SALTUS_PUSH(arena, double, o->nc);
  l->stay_slip = SALTUS_PUSH(arena, double, o->nc);
  l->bounce = SALTUS_PUSH(arena, double, o->nl + o->nj);
}

static void layout_outcome(saltusi_outcome* out, const saltusi_layout_tables* o,
                           saltus_arena* arena) {
  out->lasting = SALTUS_PUSH(arena, double, o->nl);
  out->impacts = SALTUS_PUSH(arena, double, o->nl);
  out->impacts_start = SALTUS_PUSH(arena, double, o->nl);
  out->joint_lasting = SALTUS_PUSH(arena, double, o->nj);
  out->joint_impacts = SALTUS_PUSH(arena, double, o->nj);
  out->hit = SALTUS_PUSH(arena, bool, o->nc);
  out->u_impact = SALTUS_PUSH(arena, double, 2 * o->nc);
}

static void layout_outline(saltusi_layout_tables* o, const saltus_system* sys, bool implicit,
                           saltus_arena* arena) {
  o->nq = sys->dims.nq;
  o->nv = sys->dims.nv;
  o->nj = sys->dims.nj;
  o->contacts = sys->dims.nc;
  o->nc = saltusi_adaptive_keys(sys);
  o->balls = o->nc > o->contacts;
  o->nl = saltusi_adaptive_rows(sys);
  o->rows = o->nj + o->nl;
  o->tangents_max = 0;
  for (int i = 0; i < sys->law_count; i++) {
    int tangents = saltusi_slips_of(&sys->laws[i]);
    o->tangents_max = tangents > o->tangents_max ? tangents : o->tangents_max;
    o->balls = o->balls || tangents > sys->laws[i].tangents;
  }
  if (sys->dry_count > 0 && o->tangents_max == 0) {
    o->tangents_max = 1;
  }
  o->works = saltusi_adaptive_works(sys);
  o->ny = o->nq + o->nv + o->nl + o->nj + o->works;
  o->implicit = may_be_implicit(sys, implicit);
  o->base = SALTUS_PUSH(arena, int, o->nc);
  o->tangents = SALTUS_PUSH(arena, int, o->nc);
  o->parent = SALTUS_PUSH(arena, int, o->nc);
  o->grip = SALTUS_PUSH(arena, int, SALTUSI_GRIPS * o->contacts);
  o->grip_law = SALTUS_PUSH(arena, saltus_contact_law, o->nc - o->contacts);
  o->law = SALTUS_PUSH(arena, const saltus_contact_law*, o->nc);
  o->mu = SALTUS_PUSH(arena, double, o->nc);
  o->featured = sys->ops->guards != NULL && (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  o->watch = SALTUS_PUSH(arena, bool, o->nc);
  o->listed = SALTUS_PUSH(arena, bool, o->nc);
  o->atol_q = SALTUS_PUSH(arena, double, o->nv);
  o->atol_v = SALTUS_PUSH(arena, double, o->nv);
}

void saltusi_adaptive_layout(saltusi_adaptive* w, const saltusi_eval* eval, bool implicit,
                             saltus_arena* arena) {
  assert(w != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  w->sys_copy = *sys;
  layout_outline(&w->o, sys, implicit, arena);
  w->contact = SALTUS_PUSH(arena, saltusi_contact, w->o.nc);
  saltusi_mode_layout(&w->mode, &w->sys_copy, &w->o, &eval->room, arena);
  saltusi_decision_layout(&w->decision, &w->o, &eval->room, arena);
  saltusi_decide_large_layout(&w->decision, &eval->sys.dims, &w->o, &eval->room, arena);
  saltusi_decide_laws_layout(&w->decision, &w->o, &eval->room, arena);
  saltusi_decide_balls_layout(&w->decision, &w->o, arena);
  w->decision.special = saltusi_impacts_special(sys);
  layout_step(&w->step, &w->o, arena);
  saltusi_displacement_layout(&w->step.ways, sys, arena);
  layout_search(&w->search, &w->sys_copy, &w->o, arena);
  layout_passage(&w->transition, &w->o, arena);
  layout_zeno(&w->jump, &w->o, arena);
  layout_outcome(&w->outcome, &w->o, arena);
  /* captured steps search for no events and extrapolate no Zeno points */
  w->captured = (saltusi_captured){
      .contact = w->search.check, .y0 = w->step.y_keep, .whole = w->step.rate_keep};
}
