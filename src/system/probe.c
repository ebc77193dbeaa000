/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * probe.c - see diagnose.h: callbacks that forward to those of the system and check the results.
 */
#include "system/diagnose.h"

#include "system/structure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool finite_all(size_t n, const double* x) {
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

/* Results of arguments that are not finite are not the cause. */
static void look(const saltusi_probe* p, const saltus_point* at, const char* what, size_t n,
                 const double* x) {
  const saltus_dims* d = &p->inner.dims;
  if (finite_all(n, x) || !isfinite(at->t) || !finite_all((size_t)d->nq, at->q) ||
      (at->v != NULL && !finite_all((size_t)d->nv, at->v))) {
    return;
  }
  p->record->what = what;
  p->record->t = at->t;
  memcpy(p->record->q, at->q, (size_t)d->nq * sizeof(double));
  if (at->v != NULL) {
    memcpy(p->record->v, at->v, (size_t)d->nv * sizeof(double));
  }
}

static size_t squared(const saltusi_probe* p) {
  return (size_t)p->inner.dims.nv * (size_t)p->inner.dims.nv;
}

/* A callback of one array. */
#define ARRAY(name, text, length)                                                                  \
  static void name(const void* self, const saltus_point* at, double* x) {                          \
    const saltusi_probe* p = self;                                                                 \
    p->inner.ops->name(p->inner.self, at, x);                                                      \
    look(p, at, text, length, x);                                                                  \
  }
ARRAY(mass, "the mass matrix", squared(p))
ARRAY(force, "a force", (size_t)p->inner.dims.nv)
ARRAY(joints, "a joint", (size_t)p->inner.dims.nj)
ARRAY(force_q, "the derivative of a force by a coordinate", squared(p))
ARRAY(force_v, "the derivative of a force by a velocity", squared(p))
ARRAY(spring_q, "the derivative of a spring", squared(p))
ARRAY(spring_v, "the derivative of a damper", squared(p))
ARRAY(mass_q, "the derivative of the mass matrix", squared(p))
ARRAY(kinetic_gradient, "the derivative of the kinetic energy", (size_t)p->inner.dims.nv)
#undef ARRAY

static void blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                   double* values) {
  const saltusi_probe* p = self;
  p->inner.ops->blocks(p->inner.self, at, m, fv, fq, values);
  look(p, at, "the mass matrix or the derivative of a force",
       saltusi_structure_values(p->inner.structure), values);
}

static double kinetic(const void* self, const saltus_point* at) {
  const saltusi_probe* p = self;
  double T = p->inner.ops->kinetic(p->inner.self, at);
  look(p, at, "the kinetic energy", 1, &T);
  return T;
}

static double potential(const void* self, const saltus_point* at) {
  const saltusi_probe* p = self;
  double V = p->inner.ops->potential(p->inner.self, at);
  look(p, at, "the potential", 1, &V);
  return V;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const saltusi_probe* p = self;
  saltus_status status = p->inner.ops->contacts(p->inner.self, at, list);
  if (status == SALTUS_OK) {
    look(p, at, "a gap", (size_t)list->count, list->gap);
  }
  return status;
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltusi_probe* p = self;
  saltus_status status = p->inner.ops->gaps(p->inner.self, at, count, identity, gap);
  if (status == SALTUS_OK) {
    look(p, at, "a gap", (size_t)count, gap);
  }
  return status;
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  const saltusi_probe* p = self;
  return p->inner.ops->sweep(p->inner.self, over, list);
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const saltusi_probe* p = self;
  return p->inner.ops->guards(p->inner.self, at, identity, guard);
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* out) {
  const saltusi_probe* p = self;
  return p->inner.ops->place(p->inner.self, at, identity, out);
}

static void contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltusi_probe* p = self;
  p->inner.ops->contact_text(p->inner.self, identity, text, size);
}

static void look_rows(const saltusi_probe* p, const saltus_point* at, const char* what,
                      const saltus_rows* rows) {
  for (int i = 0; i < rows->count; i++) {
    look(p, at, what, (size_t)rows->width, rows->G + (size_t)i * (size_t)rows->stride);
  }
  look(p, at, what, (size_t)rows->count, rows->b);
  if (rows->c != NULL) {
    look(p, at, what, (size_t)rows->count, rows->c);
  }
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const saltusi_probe* p = self;
  p->inner.ops->contact(p->inner.self, at, identity, rows);
  look_rows(p, at, "the derivative of a gap or a slip", rows);
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltusi_probe* p = self;
  p->inner.ops->joint(p->inner.self, at, i, rows);
  look_rows(p, at, "the derivative of a joint", rows);
}

static void rate(const void* self, const double* q, const double* v, double* dq) {
  const saltusi_probe* p = self;
  p->inner.ops->rate(p->inner.self, q, v, dq);
}

static void advance(const void* self, const double* q, const double* v, double h, double* q1) {
  const saltusi_probe* p = self;
  p->inner.ops->advance(p->inner.self, q, v, h, q1);
}

static void difference(const void* self, const double* q0, const double* q1, double* d) {
  const saltusi_probe* p = self;
  p->inner.ops->difference(p->inner.self, q0, q1, d);
}

static void normalise(const void* self, double* q) {
  const saltusi_probe* p = self;
  p->inner.ops->normalise(p->inner.self, q);
}

static void dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltusi_probe* p = self;
  p->inner.ops->dry(p->inner.self, at, i, rows);
  look_rows(p, at, "the rate of dry friction", rows);
}

static bool joint_hessian(const void* self, const saltus_point* at, int i, const double* P,
                          double* K, double* U_q) {
  const saltusi_probe* p = self;
  return p->inner.ops->joint_hessian(p->inner.self, at, i, P, K, U_q);
}

static void turn_momentum(const void* self, const double* d, const double* p, double* y) {
  const saltusi_probe* probe = self;
  probe->inner.ops->turn_momentum(probe->inner.self, d, p, y);
}

static size_t matrix_bytes(const void* self) {
  const saltusi_probe* p = self;
  return p->inner.ops->linear->bytes(p->inner.self);
}

static saltus_status assemble(const void* self, void* matrix, const saltus_point* at, double m,
                              double fv, double fq) {
  const saltusi_probe* p = self;
  return p->inner.ops->linear->assemble(p->inner.self, matrix, at, m, fv, fq);
}

static void solve(const void* self, const void* matrix, double* x) {
  const saltusi_probe* p = self;
  p->inner.ops->linear->solve(p->inner.self, matrix, x);
}

static int solve_row(const void* self, const void* matrix, int width, const int* column,
                     const double* entries, int* out_column, double* out) {
  const saltusi_probe* p = self;
  return p->inner.ops->linear->solve_row(p->inner.self, matrix, width, column, entries, out_column,
                                         out);
}

static void mass_times(const void* self, const saltus_point* at, const double* x, double* y) {
  const saltusi_probe* p = self;
  p->inner.ops->linear->mass_times(p->inner.self, at, x, y);
  if (finite_all((size_t)p->inner.dims.nv, x)) {
    look(p, at, "the mass matrix", (size_t)p->inner.dims.nv, y);
  }
}

static size_t enclosure_bytes(const void* self) {
  const saltusi_probe* p = self;
  return p->inner.ops->enclosure->bytes(p->inner.self);
}

static unsigned depends(const void* self, saltus_quantity what, int i) {
  const saltusi_probe* p = self;
  return p->inner.ops->enclosure->depends(p->inner.self, what, i);
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int i,
                  saltus_interval* out) {
  const saltusi_probe* p = self;
  p->inner.ops->enclosure->along(p->inner.self, course, what, i, out);
}

static int switches(const void* self) {
  const saltusi_probe* p = self;
  return p->inner.ops->enclosure->switches(p->inner.self);
}

static int reads(const void* self, saltus_quantity what, uint64_t index, int room, int* place) {
  const saltusi_probe* p = self;
  return p->inner.ops->enclosure->reads(p->inner.self, what, index, room, place);
}

static unsigned contact_depends(const void* self, saltus_quantity what, uint64_t identity) {
  const saltusi_probe* p = self;
  return p->inner.ops->enclosure->contact_depends(p->inner.self, what, identity);
}

static void contact_along(const void* self, const saltus_course* course, saltus_quantity what,
                          uint64_t identity, saltus_interval* out) {
  const saltusi_probe* p = self;
  p->inner.ops->enclosure->contact_along(p->inner.self, course, what, identity, out);
}

static saltus_enclosure_ops enclosure_over(const saltus_enclosure_ops* e) {
  return e == NULL ? (saltus_enclosure_ops){0}
                   : (saltus_enclosure_ops){
                         .bytes = enclosure_bytes,
                         .depends = e->depends != NULL ? depends : NULL,
                         .along = e->along != NULL ? along : NULL,
                         .switches = e->switches != NULL ? switches : NULL,
                         .reads = e->reads != NULL ? reads : NULL,
                         .contact_depends = e->contact_depends != NULL ? contact_depends : NULL,
                         .contact_along = e->contact_along != NULL ? contact_along : NULL};
}

static saltus_linear_ops linear_over(const saltus_linear_ops* l) {
  return (saltus_linear_ops){.bytes = matrix_bytes,
                             .assemble = assemble,
                             .solve = solve,
                             .mass_times = mass_times,
                             .solve_row = l != NULL && l->solve_row != NULL ? solve_row : NULL,
                             .diagonal = l != NULL && l->diagonal};
}

saltus_system saltusi_probe_over(saltusi_probe* p, const saltus_system* inner,
                                 saltusi_probe_record* record) {
  assert(p != NULL && inner != NULL && record != NULL);
  const saltus_system_ops* o = inner->ops;
  *p = (saltusi_probe){.inner = *inner, .record = record};
  p->linear = linear_over(o->linear);
  const saltus_enclosure_ops* e = o->enclosure;
  p->enclosure = enclosure_over(e);
  p->ops = (saltus_system_ops){
      .mass = o->mass != NULL ? mass : NULL,
      .force = force,
      .contacts = o->contacts != NULL ? contacts : NULL,
      .contact = o->contact != NULL ? contact : NULL,
      .gaps = o->gaps != NULL ? gaps : NULL,
      .sweep = o->sweep != NULL ? sweep : NULL,
      .guards = o->guards != NULL ? guards : NULL,
      .place = o->place != NULL ? place : NULL,
      .contact_text = o->contact_text != NULL ? contact_text : NULL,
      .joints = o->joints != NULL ? joints : NULL,
      .joint = o->joint != NULL ? joint : NULL,
      .dry = o->dry != NULL ? dry : NULL,
      .joint_hessian = o->joint_hessian != NULL ? joint_hessian : NULL,
      .force_q = o->force_q != NULL ? force_q : NULL,
      .force_v = o->force_v != NULL ? force_v : NULL,
      .blocks = o->blocks != NULL ? blocks : NULL,
      .spring_q = o->spring_q != NULL ? spring_q : NULL,
      .spring_v = o->spring_v != NULL ? spring_v : NULL,
      .mass_q = o->mass_q != NULL ? mass_q : NULL,
      .kinetic_gradient = o->kinetic_gradient != NULL ? kinetic_gradient : NULL,
      .kinetic = o->kinetic != NULL ? kinetic : NULL,
      .potential = o->potential != NULL ? potential : NULL,
      .rate = o->rate != NULL ? rate : NULL,
      .advance = o->advance != NULL ? advance : NULL,
      .difference = o->difference != NULL ? difference : NULL,
      .normalise = o->normalise != NULL ? normalise : NULL,
      .turn_momentum = o->turn_momentum != NULL ? turn_momentum : NULL,
      .linear = o->linear != NULL ? &p->linear : NULL,
      .enclosure = e != NULL ? &p->enclosure : NULL,
  };
  saltus_system outer = *inner;
  outer.ops = &p->ops;
  outer.self = p;
  return outer;
}
