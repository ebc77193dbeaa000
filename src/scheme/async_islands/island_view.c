/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_view.c - see island_view.h: arrays of views, and the callbacks of their systems.
 */
#include "scheme/async_islands/island_view.h"

#include "system/structure.h"

#include <assert.h>
#include <string.h>

enum { ORDERS = SALTUSI_VIEW_ORDERS };

/* ---- queries of the whole system ------------------------------------------------------------- */

/* State of the whole system with the island at the queried point and the others at rest. */
static saltus_point enter(const saltusi_island_view* view, const saltus_point* at) {
  saltusi_views* all = view->all;
  for (int i = 0; i < view->system.dims.nv; i++) {
    all->q[view->velocity[i]] = at->q[i];
    all->v[view->velocity[i]] = at->v != NULL ? at->v[i] : 0.0;
  }
  return (saltus_point){.t = at->t,
                        .q = all->q,
                        .v = at->v != NULL ? all->v : NULL,
                        .scratch = all->scratch,
                        .failure = at->failure};
}

static void leave(const saltusi_island_view* view) {
  saltusi_views* all = view->all;
  for (int i = 0; i < view->system.dims.nv; i++) {
    all->q[view->velocity[i]] = all->rest[view->velocity[i]];
    all->v[view->velocity[i]] = 0.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  const saltus_point whole = enter(view, at);
  if (all->sys.ops->force_some != NULL) {
    all->sys.ops->force_some(all->sys.self, &whole, view->system.dims.nv, view->velocity, F);
  } else {
    all->sys.ops->force(all->sys.self, &whole, all->F);
    for (int i = 0; i < view->system.dims.nv; i++) {
      F[i] = all->F[view->velocity[i]];
    }
  }
  leave(view);
}

static saltus_status ask_gaps(const saltusi_island_view* view, const saltus_point* at, int count,
                              const int* key, double* gap) {
  saltusi_views* all = view->all;
  const saltus_point whole = enter(view, at);
  saltus_status status = SALTUS_OK;
  if (all->sys.ops->gaps != NULL) {
    for (int i = 0; i < count && status == SALTUS_OK; i++) {
      status = all->sys.ops->gaps(all->sys.self, &whole, 1, &view->identity[key[i]], &gap[i]);
    }
  } else {
    status = saltusi_contacts(&all->sys, &whole, &all->list);
    for (int i = 0; i < count; i++) {
      gap[i] = all->list.gap[view->contact[key[i]]];
    }
  }
  leave(view);
  return status;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  if (all->sys.ops->gaps != NULL) {
    const saltus_point whole = enter(view, at);
    saltus_status status =
        all->sys.ops->gaps(all->sys.self, &whole, view->system.dims.nc, view->identity, list->gap);
    leave(view);
    return status;
  }
  for (int key = 0; key < view->system.dims.nc; key++) {
    all->place[key] = key;
  }
  return ask_gaps(view, at, view->system.dims.nc, all->place, list->gap);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    const int key = (int)identity[i];
    status = ask_gaps(self, at, 1, &key, &gap[i]);
  }
  return status;
}

/* Copies rows of the whole system to those of the island. */
static void take_rows(const saltusi_island_view* view, const saltus_point* at, const char* what,
                      int index, saltus_rows* rows) {
  const saltusi_views* all = view->all;
  const saltusi_row_block* from = &all->rows;
  int width = 0;
  for (int k = 0; from->column != NULL && k < from->entries[0]; k++) {
    if (all->of_velocity[from->column[k]] == view->number) {
      rows->column[width++] = all->local_velocity[from->column[k]];
    }
  }
  for (int row = 0; row < rows->count; row++) {
    double* G = rows->G + (size_t)row * (size_t)rows->stride;
    const double* whole = from->G + (size_t)row * (size_t)from->stride;
    int entries = from->column != NULL ? from->entries[0] : from->stride;
    int place = 0;
    for (int k = 0; k < entries; k++) {
      int velocity = from->column != NULL ? from->column[k] : k;
      if (all->of_velocity[velocity] == view->number) {
        G[from->column != NULL ? place++ : all->local_velocity[velocity]] = whole[k];
      } else if (whole[k] != 0.0) {
        saltus_fail(at,
                    "%s %d moves velocity %d at t = %g s, which is none of those it moved before: "
                    "those of a fixed set stay the same",
                    what, index + 1, velocity + 1, at->t);
      }
    }
    rows->b[row] = from->b[row];
    if (rows->c != NULL) {
      rows->c[row] = from->c[row];
    }
  }
  if (from->column != NULL) {
    rows->width = width;
  }
}

/* The row block of the whole, restricted to the requested outputs. */
static saltusi_row_block rows_of(const saltusi_island_view* view, const saltus_rows* rows) {
  saltusi_row_block block = view->all->rows;
  block.c = rows->c != NULL ? block.c : NULL;
  return block;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  int key = view->contact[identity];
  saltusi_row_block block = rows_of(view, rows);
  const saltus_point whole = enter(view, at);
  saltusi_rows_contact(&all->sys, &whole, key, rows->count, &block, 0);
  leave(view);
  take_rows(view, at, "contact", key, rows);
}

static void joint(const void* self, const saltus_point* at, int number, saltus_rows* rows) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  saltusi_row_block block = rows_of(view, rows);
  const saltus_point whole = enter(view, at);
  saltusi_rows_joint(&all->sys, &whole, view->joint[number], &block, 0);
  leave(view);
  take_rows(view, at, "joint", view->joint[number], rows);
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  const saltus_point whole = enter(view, at);
  all->sys.ops->joints(all->sys.self, &whole, all->g);
  leave(view);
  for (int i = 0; i < view->system.dims.nj; i++) {
    g[i] = all->g[view->row[i]];
  }
}

/* Copies the values of the island from those of the whole system. */
static void take_values(const saltusi_island_view* view, const double* whole, double m,
                        double* values) {
  const saltus_structure* s = &view->structure;
  for (int b = 0; b < s->blocks; b++) {
    size_t n = (size_t)saltusi_block_size(s, b);
    for (size_t i = 0; i < n * n; i++) {
      *values++ = m * whole[view->value_at[b] + i];
    }
  }
  for (int p = 0; p < s->pairs; p++) {
    size_t n = 2 * (size_t)saltusi_block_size(s, s->pair[2 * p]) *
               (size_t)saltusi_block_size(s, s->pair[2 * p + 1]);
    for (size_t i = 0; i < n; i++) {
      *values++ = m * whole[view->value_at[s->blocks + p] + i];
    }
  }
}

/* Only M: schemes with error control request no other matrix. */
static void blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                   double* values) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  assert(fv == 0.0 && fq == 0.0);
  (void)fv;
  (void)fq;
  if ((all->sys.traits & SALTUS_CONSTANT_MASS) != 0) {
    take_values(view, all->mass, m, values);
    return;
  }
  const saltus_point whole = enter(view, at);
  all->sys.ops->blocks(all->sys.self, &whole, 1.0, 0.0, 0.0, all->values);
  leave(view);
  take_values(view, all->values, m, values);
}

static const char* formula(const void* self, saltus_part part, int i) {
  const saltusi_island_view* view = self;
  const saltus_system* sys = &view->all->sys;
  const int* of = part == SALTUS_PART_GAP     ? view->contact
                  : part == SALTUS_PART_JOINT ? view->row
                                              : view->velocity;
  bool whole = part == SALTUS_PART_KINETIC || part == SALTUS_PART_POTENTIAL;
  return sys->ops->formula(sys->self, part, whole ? 0 : of[i]);
}

/* ---- sums over the whole system -------------------------------------------------------------- */

/* Sum over the island together with the others at rest, less that at rest; the first island
 * includes the latter. */
static double share(const saltusi_island_view* view, const saltus_point* at,
                    double (*sum)(const void* self, const saltus_point* at)) {
  const saltus_system* sys = &view->all->sys;
  saltus_point whole = enter(view, at);
  double with = sum(sys->self, &whole);
  leave(view);
  whole.v = view->all->v;
  return view->number == 0 ? with : with - sum(sys->self, &whole);
}

static double potential(const void* self, const saltus_point* at) {
  const saltusi_island_view* view = self;
  return share(view, at, view->all->sys.ops->potential);
}

static double kinetic(const void* self, const saltus_point* at) {
  const saltusi_island_view* view = self;
  return share(view, at, view->all->sys.ops->kinetic);
}

static double frame_energy(const void* self, const saltus_point* at) {
  const saltusi_island_view* view = self;
  return share(view, at, view->all->sys.ops->frame_energy);
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  const saltusi_island_view* view = self;
  const saltus_system* sys = &view->all->sys;
  saltus_point whole = enter(view, at);
  sys->ops->power(sys->self, &whole, out);
  leave(view);
  if (view->number > 0) {
    double rest[2];
    whole.v = view->all->v;
    sys->ops->power(sys->self, &whole, rest);
    out[0] -= rest[0];
    out[1] -= rest[1];
  }
}

/* ---- enclosures ------------------------------------------------------------------------------ */

static int index_of(const saltusi_island_view* view, saltus_quantity what, int index) {
  switch (what) {
  case SALTUS_QUANTITY_GAP:
  case SALTUS_QUANTITY_VELOCITY:
    return view->contact[index];
  case SALTUS_QUANTITY_FORCE:
    return view->velocity[index];
  case SALTUS_QUANTITY_JOINT:
    return view->row[index];
  case SALTUS_QUANTITY_SWITCH:
    break;
  }
  return view->switches[index];
}

static size_t bytes(const void* self) {
  const saltus_system* sys = &((const saltusi_island_view*)self)->all->sys;
  return sys->ops->enclosure->bytes(sys->self);
}

static unsigned depends(const void* self, saltus_quantity what, int index) {
  const saltusi_island_view* view = self;
  const saltus_system* sys = &view->all->sys;
  return sys->ops->enclosure->depends(sys->self, what, index_of(view, what, index));
}

static int switches(const void* self) {
  return ((const saltusi_island_view*)self)->switch_count;
}

/* Variables that a quantity reads all belong to one island (island_partition.c). */
static int whole_reads(const saltusi_island_view* view, saltus_quantity what, int index) {
  const saltus_system* sys = &view->all->sys;
  return sys->ops->enclosure->reads(sys->self, what, (uint64_t)index, sys->dims.nq + sys->dims.nv,
                                    view->all->place);
}

static int reads(const void* self, saltus_quantity what, uint64_t index, int room, int* place) {
  const saltusi_island_view* view = self;
  const saltusi_views* all = view->all;
  int nq = all->sys.dims.nq;
  int count = whole_reads(view, what, index_of(view, what, (int)index));
  for (int i = 0; i < count && i < room; i++) {
    int at = all->place[i];
    place[i] =
        at < nq ? all->local_velocity[at] : view->system.dims.nq + all->local_velocity[at - nq];
  }
  return count;
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int index,
                  saltus_interval* out) {
  const saltusi_island_view* view = self;
  saltusi_views* all = view->all;
  const saltus_system* sys = &all->sys;
  int nq = sys->dims.nq;
  int count = whole_reads(view, what, index_of(view, what, index));
  size_t stride = course->stride > 0 ? (size_t)course->stride : (size_t)course->order + 1;
  saltus_interval* v = all->course + (size_t)nq * ORDERS;
  for (int i = 0; i < count; i++) {
    int at = all->place[i];
    bool position = at < nq;
    int velocity = position ? at : at - nq;
    const saltus_interval* own = position ? course->q : course->v;
    saltus_interval* whole = (position ? all->course : v) + (size_t)velocity * ORDERS;
    if (own != NULL) {
      memcpy(whole, own + (size_t)all->local_velocity[velocity] * stride,
             ((size_t)course->order + 1) * sizeof *whole);
    }
  }
  const saltus_course whole = {.order = course->order,
                               .stride = ORDERS,
                               .t = course->t,
                               .q = all->course,
                               .v = course->v != NULL ? v : NULL,
                               .scratch = course->scratch};
  sys->ops->enclosure->along(sys->self, &whole, what, index_of(view, what, index), out);
}

void saltusi_view_ops(saltusi_views* views) {
  assert(views != NULL);
  const saltus_system_ops* ops = views->sys.ops;
  const saltus_enclosure_ops* e = ops->enclosure;
  views->ops = (saltus_system_ops){
      .force = force,
      .contacts = contacts,
      .contact = contact,
      .gaps = ops->gaps != NULL ? gaps : NULL,
      .joints = joints,
      .joint = joint,
      .blocks = blocks,
      .kinetic = ops->kinetic != NULL ? kinetic : NULL,
      .potential = ops->potential != NULL ? potential : NULL,
      .power = ops->power != NULL ? power : NULL,
      .frame_energy = ops->frame_energy != NULL ? frame_energy : NULL,
      .enclosure = e != NULL ? &views->enclosure : NULL,
      .formula = ops->formula != NULL ? formula : NULL,
  };
  if (e != NULL) {
    views->enclosure = (saltus_enclosure_ops){.bytes = bytes,
                                              .depends = depends,
                                              .along = along,
                                              .switches = e->switches != NULL ? switches : NULL,
                                              .reads = reads};
  }
}
