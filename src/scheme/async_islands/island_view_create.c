/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_view_create.c - arrays of views: islands and local indices of velocities, contacts and joints.
 */
#include "scheme/async_islands/island_view.h"
#include "system/structure.h"

#include <assert.h>
#include <string.h>

static int switches_of(const saltus_system* sys) {
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  return ops != NULL && ops->switches != NULL ? ops->switches(sys->self) : 0;
}

/* Blocks of M: those of the structure, or one per velocity. */
static int block_count(const saltus_system* sys) {
  return sys->structure != NULL ? sys->structure->blocks : sys->dims.nv;
}

static int block_start(const saltus_system* sys, int block) {
  return sys->structure != NULL ? sys->structure->start[block] : block;
}

/* Counts the contents of every island into the sizes of its system and structure. */
static void count(saltusi_views* all, const saltusi_apart* apart) {
  const saltus_system* sys = &all->sys;
  const saltus_structure* s = sys->structure;
  for (int i = 0; i < sys->dims.nv; i++) {
    all->view[apart->of[i]].system.dims.nv++;
  }
  for (int key = 0; key < sys->dims.nc; key++) {
    all->view[apart->of_contact[key]].system.dims.nc++;
  }
  for (int j = 0; j < saltusi_joint_count(sys); j++) {
    all->view[apart->of_joint[j]].system.joint_count++;
    all->view[apart->of_joint[j]].system.dims.nj += saltusi_joint_rows(sys, j);
  }
  for (int i = 0; i < switches_of(sys); i++) {
    for (int k = 0; k < all->count; k++) {
      all->view[k].switch_count += apart->of_switch[i] < 0 || apart->of_switch[i] == k;
    }
  }
  for (int b = 0; b < block_count(sys); b++) {
    all->view[apart->of[block_start(sys, b)]].structure.blocks++;
  }
  for (int p = 0; s != NULL && p < s->pairs; p++) {
    all->view[apart->of[s->start[s->pair[2 * p]]]].structure.pairs++;
  }
}

static void take_view(saltusi_island_view* view, const saltus_system* sys, saltusi_pool* pool) {
  const saltus_dims* d = &view->system.dims;
  view->velocity = SALTUSI_TAKE(pool, int, d->nv);
  view->contact = SALTUSI_TAKE(pool, int, d->nc);
  view->joint = SALTUSI_TAKE(pool, int, view->system.joint_count);
  view->row = SALTUSI_TAKE(pool, int, d->nj);
  view->joint_first = SALTUSI_TAKE(pool, int, view->system.joint_count + 1);
  view->switches = SALTUSI_TAKE(pool, int, view->switch_count);
  view->identity = SALTUSI_TAKE(pool, uint64_t, d->nc);
  view->laws = SALTUSI_TAKE(pool, saltus_contact_law, d->nc);
  view->q_labels = SALTUSI_TAKE(pool, saltus_label, sys->q_labels != NULL ? d->nv : 0);
  view->v_labels = SALTUSI_TAKE(pool, saltus_label, sys->v_labels != NULL ? d->nv : 0);
  view->joint_names = SALTUSI_TAKE(pool, const char*, sys->joint_names != NULL ? d->nj : 0);
  view->start = SALTUSI_TAKE(pool, int, view->structure.blocks + 1);
  view->pair = SALTUSI_TAKE(pool, int, 2 * view->structure.pairs);
  view->value_at = SALTUSI_TAKE(pool, size_t, view->structure.blocks + view->structure.pairs);
}

static void take_shared(saltusi_views* all, saltusi_pool* pool) {
  const saltus_system* sys = &all->sys;
  const saltus_dims* d = &sys->dims;
  bool constant = (sys->traits & SALTUS_CONSTANT_MASS) != 0;
  int** const by_velocity[] = {&all->of_velocity, &all->local_velocity};
  int** const by_contact[] = {&all->of_contact, &all->local_contact};
  int** const by_row[] = {&all->of_row, &all->local_row};
  for (int i = 0; i < 2; i++) {
    *by_velocity[i] = SALTUSI_TAKE(pool, int, d->nv);
    *by_contact[i] = SALTUSI_TAKE(pool, int, d->nc);
    *by_row[i] = SALTUSI_TAKE(pool, int, d->nj);
  }
  all->value_count =
      sys->structure != NULL ? saltusi_structure_values(sys->structure) : (size_t)d->nv;
  all->mass = SALTUSI_TAKE(pool, double, constant ? all->value_count : 0);
  all->values = SALTUSI_TAKE(pool, double, constant ? 0 : all->value_count);
  all->rest = SALTUSI_TAKE(pool, double, d->nq);
  all->q = SALTUSI_TAKE(pool, double, d->nq);
  all->v = SALTUSI_TAKE(pool, double, d->nv);
  all->F = SALTUSI_TAKE(pool, double, d->nv);
  all->g = SALTUSI_TAKE(pool, double, d->nj);
  size_t orders = sys->ops->enclosure != NULL ? SALTUSI_VIEW_ORDERS : 0;
  all->course = SALTUSI_TAKE(pool, saltus_interval, ((size_t)d->nq + (size_t)d->nv) * orders);
  all->place = SALTUSI_TAKE(pool, int, d->nq + d->nv + d->nc);
}

/* Rows, contacts and scratch, which are laid out over an arena. */
static void layout(saltusi_views* all, saltus_arena* arena) {
  const saltus_system* sys = &all->sys;
  int most = saltusi_joint_rows_most(sys);
  saltusi_rows_layout(&all->rows, &sys->dims, most > 3 ? most : 3, true, arena);
  saltusi_contact_list_layout(&all->list, &sys->dims, arena);
  all->scratch = saltus_arena_push(arena, sys->dims.scratch, 1, SALTUS_ALIGNMENT);
}

static bool take_arena(saltusi_views* all, saltusi_pool* pool) {
  saltus_arena arena = saltus_arena_counting();
  layout(all, &arena);
  size_t bytes = arena.used;
  unsigned char* block = SALTUSI_TAKE(pool, unsigned char, bytes + SALTUS_ALIGNMENT);
  if (block == NULL) {
    return false;
  }
  size_t off = (uintptr_t)block % SALTUS_ALIGNMENT;
  arena = saltus_arena_over(block + (off > 0 ? SALTUS_ALIGNMENT - off : 0), bytes);
  layout(all, &arena);
  return true;
}

/* Fills the arrays of the islands in the order of the whole. The sizes are counted up again from
 * zero. */
static void number_all(saltusi_views* all, const saltusi_apart* apart) {
  const saltus_system* sys = &all->sys;
  for (int i = 0; i < sys->dims.nv; i++) {
    saltusi_island_view* view = &all->view[apart->of[i]];
    all->of_velocity[i] = apart->of[i];
    all->local_velocity[i] = view->system.dims.nv;
    view->velocity[view->system.dims.nv++] = i;
  }
  for (int key = 0; key < sys->dims.nc; key++) {
    saltusi_island_view* view = &all->view[apart->of_contact[key]];
    int local = view->system.dims.nc++;
    all->of_contact[key] = apart->of_contact[key];
    all->local_contact[key] = local;
    view->contact[local] = key;
    view->identity[local] = (uint64_t)key;
    view->laws[local] = sys->laws[key];
  }
  for (int j = 0; j < saltusi_joint_count(sys); j++) {
    saltusi_island_view* view = &all->view[apart->of_joint[j]];
    int local = view->system.joint_count++;
    view->joint[local] = j;
    view->joint_first[local] = view->system.dims.nj;
    for (int row = saltusi_joint_first(sys, j); row < saltusi_joint_first(sys, j + 1); row++) {
      all->of_row[row] = apart->of_joint[j];
      all->local_row[row] = view->system.dims.nj;
      view->row[view->system.dims.nj++] = row;
    }
    view->joint_first[local + 1] = view->system.dims.nj;
  }
  for (int i = 0; i < switches_of(sys); i++) {
    for (int k = 0; k < all->count; k++) {
      if (apart->of_switch[i] < 0 || apart->of_switch[i] == k) {
        all->view[k].switches[all->view[k].switch_count++] = i;
      }
    }
  }
}

/* Blocks and pairs, and the offsets of their values in the whole; place has one entry per block. */
static void number_blocks(saltusi_views* all, int* place) {
  const saltus_system* sys = &all->sys;
  const saltus_structure* s = sys->structure;
  size_t at = 0;
  for (int b = 0; b < block_count(sys); b++) {
    saltusi_island_view* view = &all->view[all->of_velocity[block_start(sys, b)]];
    int local = view->structure.blocks++;
    size_t n = s != NULL ? (size_t)saltusi_block_size(s, b) : 1;
    place[b] = local;
    view->start[local + 1] = view->start[local] + (int)n;
    view->value_at[local] = at;
    at += n * n;
  }
  for (int p = 0; s != NULL && p < s->pairs; p++) {
    saltusi_island_view* view = &all->view[all->of_velocity[s->start[s->pair[2 * p]]]];
    int local = view->structure.pairs++;
    for (int k = 0; k < 2; k++) {
      view->pair[2 * local + k] = place[s->pair[2 * p + k]];
    }
    view->value_at[view->structure.blocks + local] = at;
    at += 2 * (size_t)saltusi_block_size(s, s->pair[2 * p]) *
          (size_t)saltusi_block_size(s, s->pair[2 * p + 1]);
  }
}

static void finish(saltusi_island_view* view) {
  saltusi_views* all = view->all;
  const saltus_system* sys = &all->sys;
  saltus_dims* d = &view->system.dims;
  for (int i = 0; i < d->nv; i++) {
    if (sys->q_labels != NULL) {
      view->q_labels[i] = sys->q_labels[view->velocity[i]];
    }
    if (sys->v_labels != NULL) {
      view->v_labels[i] = sys->v_labels[view->velocity[i]];
    }
  }
  for (int i = 0; sys->joint_names != NULL && i < d->nj; i++) {
    view->joint_names[i] = sys->joint_names[view->row[i]];
  }
  d->nq = d->nv;
  d->row_width = sys->dims.row_width < d->nv ? sys->dims.row_width : d->nv;
  view->structure.start = view->start;
  view->structure.pair = view->pair;
  view->numbers =
      (saltusi_numbers){.velocity = view->velocity, .contact = view->contact, .row = view->row};
  view->system.ops = &all->ops;
  view->system.self = view;
  view->system.traits = sys->traits;
  view->system.laws = view->laws;
  view->system.law_count = d->nc;
  view->system.impacts = sys->impacts;
  view->system.q_labels = sys->q_labels != NULL ? view->q_labels : NULL;
  view->system.v_labels = sys->v_labels != NULL ? view->v_labels : NULL;
  view->system.joint_names = sys->joint_names != NULL ? view->joint_names : NULL;
  view->system.structure = &view->structure;
  view->system.joint_first = view->joint_first;
}

bool saltusi_views_make(saltusi_views* views, const saltus_system* sys, const saltusi_apart* apart,
                        saltusi_pool* pool) {
  assert(views != NULL && sys != NULL && apart != NULL && apart->count > 1);
  *views = (saltusi_views){.sys = *sys, .count = apart->count};
  views->view = SALTUSI_TAKE(pool, saltusi_island_view, apart->count);
  int* place = SALTUSI_TAKE(pool, int, block_count(sys));
  take_shared(views, pool);
  if (pool->failed || !take_arena(views, pool)) {
    return false;
  }
  saltusi_view_ops(views);
  count(views, apart);
  for (int i = 0; i < views->count; i++) {
    saltusi_island_view* view = &views->view[i];
    take_view(view, sys, pool);
    view->all = views;
    view->number = i;
    view->system.dims = (saltus_dims){0};
    view->system.joint_count = 0;
    view->switch_count = 0;
    view->structure = (saltus_structure){0};
  }
  if (pool->failed) {
    return false;
  }
  number_all(views, apart);
  number_blocks(views, place);
  for (int i = 0; i < views->count; i++) {
    finish(&views->view[i]);
  }
  return true;
}

/* A constant M on its blocks. */
static saltus_status read_mass(saltusi_views* views, const saltus_allocator* memory,
                               const saltus_point* at) {
  const saltus_system* sys = &views->sys;
  size_t nv = (size_t)sys->dims.nv;
  if (sys->structure == NULL) { /* diagonal */
    for (size_t i = 0; i < nv; i++) {
      views->F[i] = 1.0;
    }
    sys->ops->linear->mass_times(sys->self, at, views->F, views->mass);
    return SALTUS_OK;
  }
  if (sys->ops->blocks != NULL) {
    sys->ops->blocks(sys->self, at, 1.0, 0.0, 0.0, views->mass);
    return SALTUS_OK;
  }
  size_t bytes = nv * nv * sizeof(double);
  double* dense = memory->alloc(bytes, memory->user);
  if (dense == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  sys->ops->mass(sys->self, at, dense);
  saltusi_structure_gather(sys->structure, dense, views->mass);
  memory->free(dense, bytes, memory->user);
  return SALTUS_OK;
}

saltus_status saltusi_views_rest(saltusi_views* views, const saltus_allocator* memory, double t,
                                 const double* q) {
  assert(views != NULL && memory != NULL && q != NULL);
  const saltus_system* sys = &views->sys;
  memcpy(views->rest, q, (size_t)sys->dims.nq * sizeof(double));
  memcpy(views->q, q, (size_t)sys->dims.nq * sizeof(double));
  memset(views->v, 0, (size_t)sys->dims.nv * sizeof(double));
  if ((sys->traits & SALTUS_CONSTANT_MASS) == 0) {
    return SALTUS_OK;
  }
  const saltus_point at = {.t = t, .q = views->q, .v = views->v, .scratch = views->scratch};
  return read_mass(views, memory, &at);
}
