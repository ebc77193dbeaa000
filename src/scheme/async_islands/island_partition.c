/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_partition.c - see island_partition.h. Union-find over velocities.
 */
#include "scheme/async_islands/island_partition.h"

#include "system/frictions.h"
#include <assert.h>
#include <string.h>

/* Workspace of the partition. */
typedef struct island_partition_finder {
  const saltus_system* sys;
  saltusi_apart* apart;
  int* parent;            /* [nv] */
  int* place;             /* [nq + nv] indices that a quantity reads */
  double* zero;           /* [nq + nv] */
  double* x;              /* [nv] */
  saltusi_row_block rows; /* of one joint or contact */
  void* scratch;
  saltus_failure* failure;
  bool proven;
} island_partition_finder;

static int switch_count(const saltus_system* sys) {
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  return ops != NULL && ops->switches != NULL ? ops->switches(sys->self) : 0;
}

static int most_rows(const saltus_system* sys) {
  int most = saltusi_joint_rows_most(sys);
  return most > 3 ? most : 3;
}

static void layout_apart(const saltus_system* sys, saltusi_apart* apart, saltus_arena* arena) {
  apart->of = SALTUS_PUSH(arena, int, sys->dims.nv);
  apart->of_contact = SALTUS_PUSH(arena, int, sys->dims.nc);
  apart->of_joint = SALTUS_PUSH(arena, int, saltusi_joint_count(sys));
  apart->of_switch = SALTUS_PUSH(arena, int, switch_count(sys));
}

static void layout(island_partition_finder* f, saltus_arena* arena) {
  const saltus_dims* d = &f->sys->dims;
  f->parent = SALTUS_PUSH(arena, int, d->nv);
  f->place = SALTUS_PUSH(arena, int, d->nq + d->nv);
  f->zero = SALTUS_PUSH(arena, double, d->nq + d->nv);
  f->x = SALTUS_PUSH(arena, double, d->nv);
  saltusi_rows_layout(&f->rows, d, most_rows(f->sys), false, arena);
  f->scratch = saltus_arena_push(arena, d->scratch, 1, SALTUS_ALIGNMENT);
  f->failure = SALTUS_PUSH(arena, saltus_failure, 1);
}

static int root_of(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static void unite(island_partition_finder* f, int i, int j) {
  int a = root_of(f->parent, i);
  int b = root_of(f->parent, j);
  f->parent[a > b ? a : b] = a > b ? b : a;
}

/* Requirements of the partition: q' = v, a fixed contact set with laws by key, and M available by
 * blocks. */
static bool is_treated(const saltus_system* sys) {
  const saltus_system_ops* ops = sys->ops;
  const saltus_enclosure_ops* e = ops->enclosure;
  bool maps = ops->advance != NULL || ops->rate != NULL || ops->difference != NULL ||
              ops->normalise != NULL || sys->dims.nq != sys->dims.nv;
  bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  bool constant = (sys->traits & SALTUS_CONSTANT_MASS) != 0;
  bool laws = sys->dims.nc == 0 || saltusi_laws_by_key(sys);
  /* of formulas, whose switches are declared, not of mechanisms */
  bool formulas = e != NULL && (e->beyond == NULL || e->switches != NULL);
  bool encloses = e == NULL || (e->along != NULL && e->reads != NULL && formulas);
  /* a state-dependent M with switches belongs to no island: enclosures do not declare the variables
   * that M reads */
  bool branches = !constant && switch_count(sys) > 0;
  bool rows = sys->dims.row_width > 0 || (sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || e != NULL;
  bool blocks = sys->structure != NULL && ops->linear == NULL && (ops->blocks != NULL || constant);
  bool diagonal = (sys->traits & SALTUS_FREE_FORCE) != 0 && constant && ops->linear != NULL &&
                  ops->linear->diagonal;
  /* without events no island shortens the steps of another, and common steps cost less */
  bool events = sys->dims.nc > 0 || switch_count(sys) > 0;
  /* laws that refer to contact numbers or to all contacts belong to the whole system */
  const saltus_impacts* rule = sys->impacts;
  laws = laws && (rule == NULL || (rule->matrix_count == 0 && rule->order != SALTUS_ORDER_OWN));
  laws = laws && !saltusi_frictions_special(sys);
  return events && !maps && !changing && laws && encloses && !branches &&
         (rows || sys->dims.nc == 0) && (sys->dims.row_width > 0 || sys->dims.nj == 0) &&
         (blocks || diagonal);
}

static void join_structure(island_partition_finder* f) {
  const saltus_structure* s = f->sys->structure;
  for (int b = 0; s != NULL && b < s->blocks; b++) {
    for (int i = s->start[b] + 1; i < s->start[b + 1]; i++) {
      unite(f, s->start[b], i);
    }
  }
  for (int p = 0; s != NULL && p < s->pairs; p++) {
    unite(f, s->start[s->pair[2 * p]], s->start[s->pair[2 * p + 1]]);
  }
}

/* Unites all variables that a quantity reads into one island, with velocity `with` if there is one.
 * Returns a velocity of it; -1: it reads nothing. */
static int join_reads(island_partition_finder* f, saltus_quantity what, int index, int with) {
  const saltus_enclosure_ops* ops = f->sys->ops->enclosure;
  int nq = f->sys->dims.nq;
  int room = nq + f->sys->dims.nv;
  if (ops == NULL) {
    return with;
  }
  int count = ops->reads(f->sys->self, what, (uint64_t)index, room, f->place);
  f->proven = f->proven && count <= room;
  for (int i = 0; f->proven && i < count; i++) {
    int velocity = f->place[i] < nq ? f->place[i] : f->place[i] - nq;
    with = with < 0 ? velocity : with;
    unite(f, with, velocity);
  }
  return with;
}

/* The same for rows that are evaluated; -1: their columns are empty. */
static int join_rows(island_partition_finder* f, int count) {
  int with = -1;
  for (int row = 0; row < count; row++) {
    size_t at = (size_t)row * (size_t)f->rows.stride;
    int entries = f->rows.column != NULL ? f->rows.entries[row] : f->rows.stride;
    for (int k = 0; k < entries; k++) {
      int velocity = f->rows.column != NULL ? f->rows.column[at + (size_t)k] : k;
      bool moves = f->rows.column != NULL || f->rows.G[at + (size_t)k] != 0.0;
      if (moves) {
        with = with < 0 ? velocity : with;
        unite(f, with, velocity);
      }
    }
  }
  return with;
}

/* Columns of a fixed set do not depend on the state: they are evaluated at the origin at rest. */
static void join_contacts(island_partition_finder* f) {
  const saltus_system* sys = f->sys;
  const saltus_point at = {
      .q = f->zero, .v = f->zero + sys->dims.nq, .scratch = f->scratch, .failure = f->failure};
  for (int key = 0; key < sys->dims.nc && f->proven; key++) {
    saltusi_rows_contact(sys, &at, key, 1 + sys->laws[key].tangents, &f->rows, 0);
    int with = join_rows(f, 1 + sys->laws[key].tangents);
    with = join_reads(f, SALTUS_QUANTITY_GAP, key, with);
    with = join_reads(f, SALTUS_QUANTITY_VELOCITY, key, with);
    f->proven = f->proven && with >= 0;
    f->apart->of_contact[key] = with;
  }
  for (int joint = 0; joint < saltusi_joint_count(sys) && f->proven; joint++) {
    int count = saltusi_joint_rows(sys, joint);
    saltusi_rows_joint(sys, &at, joint, &f->rows, 0);
    int with = join_rows(f, count);
    for (int row = 0; row < count; row++) {
      with = join_reads(f, SALTUS_QUANTITY_JOINT, saltusi_joint_first(sys, joint) + row, with);
    }
    f->proven = f->proven && with >= 0;
    f->apart->of_joint[joint] = with;
  }
  f->proven = f->proven && f->failure->status == SALTUS_OK;
}

/* A switch that reads several islands may affect all of them and unites them. */
static void join_switches(island_partition_finder* f) {
  int count = switch_count(f->sys);
  for (int i = 0; i < count && f->proven; i++) {
    f->apart->of_switch[i] = join_reads(f, SALTUS_QUANTITY_SWITCH, i, -1);
  }
}

/* Representatives of the union-find into island numbers. */
static void number(island_partition_finder* f) {
  saltusi_apart* apart = f->apart;
  const saltus_system* sys = f->sys;
  apart->count = 0;
  for (int i = 0; i < sys->dims.nv; i++) { /* a root is the first of its island */
    int root = root_of(f->parent, i);
    apart->of[i] = root == i ? apart->count++ : apart->of[root];
  }
  for (int key = 0; key < sys->dims.nc; key++) {
    apart->of_contact[key] = apart->of[apart->of_contact[key]];
  }
  for (int joint = 0; joint < saltusi_joint_count(sys); joint++) {
    apart->of_joint[joint] = apart->of[apart->of_joint[joint]];
  }
  int switches = switch_count(sys);
  for (int i = 0; i < switches; i++) {
    apart->of_switch[i] = apart->of_switch[i] >= 0 ? apart->of[apart->of_switch[i]] : -1;
  }
}

static void find(island_partition_finder* f) {
  int nv = f->sys->dims.nv;
  f->proven = true;
  for (int i = 0; i < nv; i++) {
    f->parent[i] = i;
  }
  join_structure(f);
  for (int i = 0; i < nv; i++) {
    join_reads(f, SALTUS_QUANTITY_FORCE, i, i);
  }
  join_contacts(f);
  join_switches(f);
  f->apart->count = 1;
  if (f->proven) {
    number(f);
  }
}

saltus_status saltusi_find_apart(const saltus_system* sys, const saltus_allocator* memory,
                                 saltusi_apart* apart) {
  assert(sys != NULL && memory != NULL && apart != NULL);
  *apart = (saltusi_apart){.count = 1};
  if (!is_treated(sys)) {
    return SALTUS_OK;
  }
  island_partition_finder f = {.sys = sys, .apart = apart};
  saltus_arena counted = saltus_arena_counting();
  layout_apart(sys, apart, &counted);
  size_t kept = counted.used;
  counted = saltus_arena_counting();
  layout(&f, &counted);
  size_t bytes = counted.used;
  void* block = memory->alloc(kept + 1, memory->user);
  void* work = memory->alloc(bytes + 1, memory->user);
  if (block != NULL && work != NULL) {
    memset(block, 0, kept);
    memset(work, 0, bytes);
    counted = saltus_arena_over(block, kept);
    layout_apart(sys, apart, &counted);
    counted = saltus_arena_over(work, bytes);
    layout(&f, &counted);
    find(&f);
  }
  if (work != NULL) {
    memory->free(work, bytes + 1, memory->user);
  }
  if (block != NULL && (work == NULL || apart->count == 1)) {
    memory->free(block, kept + 1, memory->user);
  }
  if (block == NULL || work == NULL || apart->count == 1) {
    *apart = (saltusi_apart){.count = 1};
  }
  return block != NULL && work != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

void saltusi_apart_release(const saltus_system* sys, const saltus_allocator* memory,
                           saltusi_apart* apart) {
  assert(sys != NULL && memory != NULL && apart != NULL);
  if (apart->of != NULL) {
    saltus_arena counted = saltus_arena_counting();
    saltusi_apart none = {0};
    layout_apart(sys, &none, &counted);
    memory->free(apart->of, counted.used + 1, memory->user);
  }
  *apart = (saltusi_apart){.count = 1};
}
