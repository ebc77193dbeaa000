/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_compose.c - a mechanism and formulas as one system.
 *
 *   q = (coordinates by formula, mechanism)      v the same
 *   joints and contacts: those of the mechanism, then those by formula
 *
 * Every callback calls the mechanism with shifted pointers and adds the terms of the formulas. Matrices are assembled on
 * the structure of both; dense ones from that.
 */
#include "body/mechanism.h"
#include "formula/derive.h"
#include "formula/enclose.h"
#include "formula/interval.h"
#include "model/formula_model.h"
#include "saltus/mechanism.h"

#include <assert.h>
#include <string.h>

static const saltusi_formula_inner* inner_of(const void* self) {
  return &((const saltus_formula_model*)self)->inner;
}

static const saltus_system_ops* asked(const saltusi_formula_inner* in) {
  return in->system->ops;
}

static saltus_point inside(const saltusi_formula_inner* in, const saltus_point* at) {
  saltus_point point = *at;
  point.q = at->q + in->first;
  point.v = at->v != NULL ? at->v + in->first : NULL;
  point.scratch = (char*)at->scratch + in->scratch;
  return point;
}

static double* buffer_of(const saltus_formula_model* m, const saltus_point* at) {
  return (double*)at->scratch + m->registers;
}

static void add_program(const saltus_formula_model* m, const saltusi_program* program,
                        const saltus_point* at, double factor, double* into) {
  if (program->length == 0 || factor == 0.0) {
    return;
  }
  double* values = buffer_of(m, at);
  saltusi_run(program, at->t, at->q, at->v, at->scratch, values);
  for (int i = 0; i < program->outputs; i++) {
    into[i] += factor * values[i];
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const saltus_formula_model* m = self;
  const saltusi_formula_inner* in = &m->inner;
  const saltus_point point = inside(in, at);
  memset(F, 0, (size_t)in->first * sizeof *F);
  asked(in)->force(in->system->self, &point, F + in->first);
  add_program(m, &m->force, at, 1.0, F);
}

/* ---- matrices ---- */

static void inner_blocks(const saltus_formula_model* m, const saltus_point* at,
                         const double factors[3], double* values) {
  const saltusi_formula_inner* in = &m->inner;
  const saltus_structure* s = in->system->structure;
  const saltus_point point = inside(in, at);
  double* room = in->same_blocks ? values : buffer_of(m, at);
  asked(in)->blocks(in->system->self, &point, factors[0], factors[1], factors[2], room);
  if (in->same_blocks) {
    return;
  }
  memset(values, 0, (size_t)m->mass_blocks.outputs * sizeof *values);
  memcpy(values + in->diagonal_at, room, in->diagonal * sizeof *values);
  room += in->diagonal;
  for (int p = 0; p < s->pairs; p++) {
    const int* pair = s->pair + 2 * p;
    const int both =
        (s->start[pair[0] + 1] - s->start[pair[0]]) * (s->start[pair[1] + 1] - s->start[pair[1]]);
    memcpy(values + in->pair_at[p], room, 2 * (size_t)both * sizeof *values);
    room += 2 * both;
  }
}

static void blocks(const void* self, const saltus_point* at, double mass, double fv, double fq,
                   double* values) {
  const saltus_formula_model* m = self;
  const double factors[3] = {mass, fv, fq};
  inner_blocks(m, at, factors, values);
  add_program(m, &m->mass_blocks, at, mass, values);
  add_program(m, &m->force_v_blocks, at, fv, values);
  add_program(m, &m->force_q_blocks, at, fq, values);
}

static void put_block(const saltus_structure* s, int i, int j, int n, const double* values,
                      double* A) {
  const int rows = s->start[i + 1] - s->start[i], columns = s->start[j + 1] - s->start[j];
  for (int r = 0; r < rows; r++) {
    memcpy(A + (size_t)(s->start[i] + r) * (size_t)n + s->start[j], values + r * columns,
           (size_t)columns * sizeof *A);
  }
}

/* A dense matrix from the structure. */
static void dense(const saltus_formula_model* m, const saltus_point* at, const double factors[3],
                  double* A) {
  const saltus_structure* s = &m->structure;
  const int n = m->system.dims.nv;
  double* values = (double*)at->scratch + m->inner.dense;
  blocks(m, at, factors[0], factors[1], factors[2], values);
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int i = 0; i < s->blocks; i++) {
    put_block(s, i, i, n, values, A);
    values += (s->start[i + 1] - s->start[i]) * (s->start[i + 1] - s->start[i]);
  }
  for (int p = 0; p < s->pairs; p++) {
    const int i = s->pair[2 * p], j = s->pair[2 * p + 1];
    const int both = (s->start[i + 1] - s->start[i]) * (s->start[j + 1] - s->start[j]);
    put_block(s, i, j, n, values, A);
    put_block(s, j, i, n, values + both, A);
    values += 2 * both;
  }
}

static void mass(const void* self, const saltus_point* at, double* M) {
  dense(self, at, (const double[3]){1.0, 0.0, 0.0}, M);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  dense(self, at, (const double[3]){0.0, 1.0, 0.0}, F_v);
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  dense(self, at, (const double[3]){0.0, 0.0, 1.0}, F_q);
}

/* The matrix of the mechanism is the lower right corner; it is first written contiguously. */
static void add_springs(const saltus_formula_model* m, const saltus_point* at,
                        const saltusi_program* program, bool damping, double* K) {
  const saltusi_formula_inner* in = &m->inner;
  const size_t n = (size_t)m->system.dims.nv, inner = n - (size_t)in->first;
  const saltus_point point = inside(in, at);
  (damping ? asked(in)->spring_v : asked(in)->spring_q)(in->system->self, &point, K);
  for (size_t i = inner; i-- > 0;) {
    memmove(K + (i + (size_t)in->first) * n + (size_t)in->first, K + i * inner, inner * sizeof *K);
    memset(K + (i + (size_t)in->first) * n, 0, (size_t)in->first * sizeof *K);
  }
  memset(K, 0, (size_t)in->first * n * sizeof *K);
  add_program(m, program, at, 1.0, K);
}

static void spring_q(const void* self, const saltus_point* at, double* K) {
  add_springs(self, at, &((const saltus_formula_model*)self)->spring_q, false, K);
}

static void spring_v(const void* self, const saltus_point* at, double* D) {
  add_springs(self, at, &((const saltus_formula_model*)self)->spring_v, true, D);
}

/* ---- energies ---- */

static double kinetic(const void* self, const saltus_point* at) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  return in->ops.kinetic(self, at) + asked(in)->kinetic(in->system->self, &point);
}

static double potential(const void* self, const saltus_point* at) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  return in->ops.potential(self, at) + asked(in)->potential(in->system->self, &point);
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  double own[2];
  in->ops.power(self, at, own);
  asked(in)->power(in->system->self, &point, out);
  out[0] += own[0];
  out[1] += own[1];
}

/* ---- joints and contacts ---- */

static void joints(const void* self, const saltus_point* at, double* g) {
  const saltus_formula_model* m = self;
  const saltusi_formula_inner* in = &m->inner;
  if (in->system->dims.nj > 0) {
    const saltus_point point = inside(in, at);
    asked(in)->joints(in->system->self, &point, g);
  }
  if (m->constraints.outputs > 0) {
    in->ops.joints(self, at, g + in->system->dims.nj);
  }
}

/* Rows of the mechanism in columns of both. */
static saltus_rows shifted(const saltusi_formula_inner* in, const saltus_rows* rows) {
  saltus_rows out = *rows;
  if (rows->column == NULL) {
    out.G += in->first;
    out.width -= in->first;
  }
  return out;
}

static void take_back(const saltusi_formula_inner* in, const saltus_rows* from, saltus_rows* rows) {
  if (rows->column == NULL) {
    return;
  }
  rows->width = from->width;
  for (int k = 0; k < from->width; k++) {
    rows->column[k] += in->first;
  }
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltusi_formula_inner* in = inner_of(self);
  if (i >= in->joints) {
    in->ops.joint(self, at, i - in->joints, rows);
    return;
  }
  const saltus_point point = inside(in, at);
  saltus_rows part = shifted(in, rows);
  asked(in)->joint(in->system->self, &point, i, &part);
  take_back(in, &part, rows);
}

/* Of the mechanism first. */
static void dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltusi_formula_inner* in = inner_of(self);
  if (i >= in->system->dry_count) {
    in->ops.dry(self, at, i - in->system->dry_count, rows);
    return;
  }
  const saltus_point point = inside(in, at);
  saltus_rows part = shifted(in, rows);
  asked(in)->dry(in->system->self, &point, i, &part);
  take_back(in, &part, rows);
}

/* Used if all joints belong to the mechanism. */
static bool joint_hessian(const void* self, const saltus_point* at, int i, const double* P,
                          double* K, double* U_q) {
  const saltusi_formula_inner* in = inner_of(self);
  if (K == NULL) {
    return asked(in)->joint_hessian(in->system->self, NULL, i, P, NULL, NULL);
  }
  const saltus_point point = inside(in, at);
  return asked(in)->joint_hessian(in->system->self, &point, i, P, K, U_q);
}

static void joints_act(const void* self, const saltus_point* at, const double* P, double* F,
                       double* U) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  asked(in)->joints_act(in->system->self, &point, P, F + in->first, U);
}

/* A mechanism with shapes has a time-varying contact set. Limits and gaps by formula are always listed, with identities from
 * SALTUSI_LISTED on; without shapes these are numbers from 0 on. */
static bool is_changing(const saltusi_formula_inner* in) {
  return (in->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
}

/* Index of a gap by formula; -1: a contact of the mechanism. */
static int own_contact(const saltusi_formula_inner* in, uint64_t identity) {
  const uint64_t limits = (uint64_t)in->system->dims.nc;
  const uint64_t first = is_changing(in) ? SALTUSI_LISTED + limits : limits;
  return identity >= first ? (int)(identity - first) : -1;
}

/* Gaps by formula after the contacts of the mechanism. */
static saltus_status add_own(const saltus_formula_model* m, const saltus_point* at,
                             saltus_contact_list* list) {
  const saltusi_formula_inner* in = &m->inner;
  const int own = m->gaps.outputs, first = list->count;
  list->count += own;
  if (list->count > list->capacity) {
    return SALTUS_RETRY_CAPACITY;
  }
  for (int i = 0; i < own && is_changing(in); i++) {
    list->identity[first + i] = SALTUSI_LISTED + (uint64_t)(in->system->dims.nc + i);
    list->law[first + i] = in->system->law_count + i;
  }
  if (own > 0 && at != NULL) {
    saltusi_run(&m->gaps, at->t, at->q, at->v, at->scratch, list->gap + first);
  }
  return SALTUS_OK;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const saltus_formula_model* m = self;
  const saltusi_formula_inner* in = &m->inner;
  const int limits = in->system->dims.nc;
  if (!is_changing(in) && list->capacity < m->system.dims.nc) {
    return SALTUS_RETRY_CAPACITY;
  }
  saltus_status status = SALTUS_OK;
  saltus_contact_list part = *list;
  part.count = limits;
  if (limits > 0 || is_changing(in)) {
    const saltus_point point = inside(in, at);
    status = asked(in)->contacts(in->system->self, &point, &part);
  }
  if (status != SALTUS_OK) {
    list->count = part.count > 0 ? part.count + m->gaps.outputs : 0;
    return status;
  }
  list->count = part.count;
  list->reach = part.reach;
  return add_own(m, at, list);
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  const saltus_formula_model* m = self;
  const saltusi_formula_inner* in = &m->inner;
  saltus_box box = *over;
  box.q_low += in->first;
  box.q_high += in->first;
  box.scratch = (char*)over->scratch + in->scratch;
  const saltus_status status = asked(in)->sweep(in->system->self, &box, list);
  if (status != SALTUS_OK) {
    list->count += list->count > 0 ? m->gaps.outputs : 0;
    return status;
  }
  return add_own(m, NULL, list);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    const int own = own_contact(in, identity[i]);
    const uint64_t place = own >= 0 ? (uint64_t)own : identity[i];
    status = own >= 0 ? in->ops.gaps(self, at, 1, &place, &gap[i])
                      : asked(in)->gaps(in->system->self, &point, 1, &place, &gap[i]);
  }
  return status;
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  return own_contact(in, identity) >= 0
             ? -1
             : asked(in)->guards(in->system->self, &point, identity, guard);
}

static void contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltusi_formula_inner* in = inner_of(self);
  text[0] = '\0';
  if (own_contact(in, identity) < 0) {
    asked(in)->contact_text(in->system->self, identity, text, size);
  }
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* out) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  const int own = own_contact(in, identity);
  return own < 0 ? asked(in)->place(in->system->self, &point, identity, out)
         : own < ((const saltus_formula_model*)self)->gaps.outputs ? SALTUS_ERR_UNSUPPORTED
                                                                   : SALTUS_ERR_RANGE;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const saltusi_formula_inner* in = inner_of(self);
  const int own = own_contact(in, identity);
  if (own >= 0) {
    in->ops.contact(self, at, (uint64_t)own, rows);
    return;
  }
  const saltus_point point = inside(in, at);
  saltus_rows part = shifted(in, rows);
  asked(in)->contact(in->system->self, &point, identity, &part);
  take_back(in, &part, rows);
}

static const char* formula(const void* self, saltus_part part, int i) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_dims* d = &in->system->dims;
  const int before = part == SALTUS_PART_GAP ? d->nc : part == SALTUS_PART_JOINT ? d->nj : 0;
  const bool own = part != SALTUS_PART_FORCE || i < in->first;
  return own && i >= before ? in->ops.formula(self, part, i - before) : NULL;
}

static bool obstacle(const void* self, const saltus_point* at, double h, char* text, size_t size) {
  const saltusi_formula_inner* in = inner_of(self);
  const saltus_point point = inside(in, at);
  return asked(in)->obstacle(in->system->self, &point, h, text, size);
}

/* ---- positions ---- */

static void rate(const void* self, const double* q, const double* v, double* dq) {
  const saltusi_formula_inner* in = inner_of(self);
  memcpy(dq, v, (size_t)in->first * sizeof *dq);
  asked(in)->rate(in->system->self, q + in->first, v + in->first, dq + in->first);
}

static void advance(const void* self, const double* q, const double* v, double h, double* q1) {
  const saltusi_formula_inner* in = inner_of(self);
  for (int i = 0; i < in->first; i++) {
    q1[i] = q[i] + h * v[i];
  }
  asked(in)->advance(in->system->self, q + in->first, v + in->first, h, q1 + in->first);
}

/* Used if no force by formula depends on the state. */
static void advance_within(const void* self, const double* q, const double* v, double h,
                           double* q1) {
  const saltusi_formula_inner* in = inner_of(self);
  for (int i = 0; i < in->first; i++) {
    q1[i] = q[i] + h * v[i];
  }
  asked(in)->advance_within(in->system->self, q + in->first, v + in->first, h, q1 + in->first);
}

static void difference(const void* self, const double* q0, const double* q1, double* d) {
  const saltusi_formula_inner* in = inner_of(self);
  for (int i = 0; i < in->first; i++) {
    d[i] = q1[i] - q0[i];
  }
  asked(in)->difference(in->system->self, q0 + in->first, q1 + in->first, d + in->first);
}

static void normalise(const void* self, double* q) {
  const saltusi_formula_inner* in = inner_of(self);
  asked(in)->normalise(in->system->self, q + in->first);
}

static void turn_momentum(const void* self, const double* d, const double* p, double* y) {
  const saltusi_formula_inner* in = inner_of(self);
  memcpy(y, p, (size_t)in->first * sizeof *y);
  asked(in)->turn_momentum(in->system->self, d + in->first, p + in->first, y + in->first);
}

/* ---- enclosures ---- */

/* The Taylor remainder bound of a quantity; NULL: zero for narrow features, otherwise none. */
static const saltusi_formula_bound* bound_of(const saltus_formula_model* m, saltus_quantity what,
                                             int index) {
  const saltus_dims* d = &m->inner.system->dims;
  const int velocity = what == SALTUS_QUANTITY_VELOCITY ? 1 : 0;
  const saltusi_formula_rows* own;
  const saltusi_formula_bound* bound = NULL;
  switch (what) {
  case SALTUS_QUANTITY_SWITCH:
    return &m->switches[index];
  case SALTUS_QUANTITY_FORCE:
    bound = &m->forces[index];
    break;
  case SALTUS_QUANTITY_JOINT:
    bound = index < d->nj ? &m->inner.rows[index] : &m->joints[index - d->nj].position;
    break;
  default:
    own = index < d->nc ? NULL : &m->contacts[index - d->nc];
    bound = own == NULL     ? &m->inner.limits[2 * index + velocity]
            : velocity == 1 ? &own->velocity
                            : &own->position;
    break;
  }
  return bound->program.outputs > 0 ? bound : NULL;
}

static size_t bound_bytes(const void* self) {
  return ((const saltus_formula_model*)self)->bound_bytes;
}

static unsigned depends(const void* self, saltus_quantity what, int index) {
  const saltusi_formula_bound* bound = bound_of(self, what, index);
  return bound != NULL ? bound->depends
                       : (unsigned)(SALTUS_ON_T | SALTUS_ON_Q | SALTUS_ON_V | SALTUS_NOT_AFFINE);
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int index,
                  saltus_interval* out) {
  const saltusi_formula_bound* bound = bound_of(self, what, index);
  if (bound != NULL) {
    saltusi_enclose(&bound->program, course, out);
    return;
  }
  for (int k = 0; k <= course->order; k++) {
    out[k] = saltusi_everything;
  }
}

static int reads(const void* self, saltus_quantity what, uint64_t index, int room, int* place) {
  const saltusi_formula_bound* bound = bound_of(self, what, (int)index);
  if (bound == NULL) {
    return room + 1; /* of everything, perhaps */
  }
  for (int i = 0; i < bound->read_count && i < room; i++) {
    place[i] = bound->reads[i];
  }
  return bound->read_count;
}

static int switches(const void* self) {
  return ((const saltus_formula_model*)self)->switch_count;
}

/* ---- of a mechanism with shapes: contacts by identity ---- */

/* The part of a trajectory segment that belongs to the mechanism. */
static saltus_course inner_course(const saltusi_formula_inner* in, const saltus_course* all) {
  const size_t stride = (size_t)(all->stride != 0 ? all->stride : all->order + 1);
  saltus_course part = *all;
  part.q += (size_t)in->first * stride;
  part.v = all->v != NULL ? all->v + (size_t)in->first * stride : NULL;
  return part;
}

static const saltus_enclosure_ops* inner_enclosure(const saltusi_formula_inner* in) {
  return in->system->ops->enclosure;
}

/* Indices of formulas follow those of limits, as in bound_of(). */
static int formula_index(const saltusi_formula_inner* in, uint64_t identity) {
  const int own = own_contact(in, identity);
  return own >= 0 ? in->system->dims.nc + own : -1;
}

static unsigned contact_depends(const void* self, saltus_quantity what, uint64_t identity) {
  const saltusi_formula_inner* in = inner_of(self);
  const int own = formula_index(in, identity);
  return own >= 0 ? depends(self, what, own)
                  : inner_enclosure(in)->contact_depends(in->system->self, what, identity);
}

static void contact_along(const void* self, const saltus_course* course, saltus_quantity what,
                          uint64_t identity, saltus_interval* out) {
  const saltusi_formula_inner* in = inner_of(self);
  const int own = formula_index(in, identity);
  if (own >= 0) {
    along(self, course, what, own, out);
    return;
  }
  const saltus_course part = inner_course(in, course);
  inner_enclosure(in)->contact_along(in->system->self, &part, what, identity, out);
}

static void contact_clear(const void* self, const saltus_course* over, const saltus_course* middle,
                          double span, uint64_t identity, double margin, saltus_clearance* out) {
  const saltusi_formula_inner* in = inner_of(self);
  if (own_contact(in, identity) >= 0) {
    *out = (saltus_clearance){.value = NAN, .lowest = -INFINITY, .rate = INFINITY};
    return;
  }
  const saltus_course all = inner_course(in, over), at = inner_course(in, middle);
  inner_enclosure(in)->contact_clear(in->system->self, &all, &at, span, identity, margin, out);
}

static int reads_by_identity(const void* self, saltus_quantity what, uint64_t index, int room,
                             int* place) {
  const saltusi_formula_inner* in = inner_of(self);
  const bool contact = what == SALTUS_QUANTITY_GAP || what == SALTUS_QUANTITY_VELOCITY;
  const int own = contact ? formula_index(in, index) : (int)index;
  if (own >= 0) {
    return reads(self, what, (uint64_t)own, room, place);
  }
  const int count = inner_enclosure(in)->reads(in->system->self, what, index, room, place);
  const int nq = in->system->dims.nq, all = ((const saltus_formula_model*)self)->system.dims.nq;
  for (int i = 0; i < count && i < room; i++) {
    place[i] += place[i] < nq ? in->first : all - nq + in->first;
  }
  return count;
}

static const saltus_enclosure_ops composed_enclosure = {
    .bytes = bound_bytes, .depends = depends, .along = along, .switches = switches, .reads = reads};
static const saltus_enclosure_ops composed_with_shapes = {.bytes = bound_bytes,
                                                          .depends = depends,
                                                          .along = along,
                                                          .switches = switches,
                                                          .reads = reads_by_identity,
                                                          .contact_depends = contact_depends,
                                                          .contact_along = contact_along,
                                                          .contact_clear = contact_clear};

/* ---- making ---- */

static void join_ops(saltus_formula_model* m) {
  const saltus_system_ops* in = m->inner.system->ops;
  const saltus_dims* d = &m->system.dims;
  const bool own_mass = m->inner.first > 0, changing = is_changing(&m->inner);
  const bool own_gaps = m->gaps.outputs == 0 || m->ops.gaps != NULL;
  const bool bends = d->nj == m->inner.system->dims.nj && in->joint_hessian != NULL;
  const bool within = bends && m->force.length == 0 && in->advance_within != NULL;
  m->inner.ops = m->ops;
  m->ops = (saltus_system_ops){
      .mass = mass,
      .force = force,
      .force_q = force_q,
      .force_v = force_v,
      .blocks = blocks,
      .kinetic = kinetic,
      .potential = potential,
      .power = power,
      .formula = formula,
      .obstacle = in->obstacle != NULL ? obstacle : NULL,
      .enclosure = changing && in->enclosure != NULL ? &composed_with_shapes : &composed_enclosure,
      .frame_energy = m->inner.ops.frame_energy,
      .mass_q = own_mass ? m->inner.ops.mass_q : NULL,
      .kinetic_gradient = own_mass ? m->inner.ops.kinetic_gradient : NULL,
      .joints = d->nj > 0 ? joints : NULL,
      .joint = d->nj > 0 ? joint : NULL,
      .dry = m->system.dry_count > 0 ? dry : NULL,
      .joint_hessian = bends ? joint_hessian : NULL,
      .joints_act = bends ? joints_act : NULL,
      .contacts = d->nc > 0 || changing ? contacts : NULL,
      .contact = d->nc > 0 || changing ? contact : NULL,
      .gaps = in->gaps != NULL && own_gaps ? gaps : NULL,
      .sweep = in->sweep != NULL && own_gaps ? sweep : NULL,
      .place = in->place != NULL ? place : NULL,
      .contact_text = in->contact_text != NULL ? contact_text : NULL,
      .guards = in->guards != NULL && own_gaps ? guards : NULL,
      .spring_q = in->spring_q != NULL ? spring_q : NULL,
      .spring_v = in->spring_v != NULL ? spring_v : NULL,
      .rate = in->rate != NULL ? rate : NULL,
      .advance = in->advance != NULL ? advance : NULL,
      .advance_within = within ? advance_within : NULL,
      .difference = in->difference != NULL ? difference : NULL,
      .normalise = in->normalise != NULL ? normalise : NULL,
      .turn_momentum = in->turn_momentum != NULL ? turn_momentum : NULL};
}

static saltus_status join_joints(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  saltus_system* s = &m->system;
  const saltus_system* in = m->inner.system;
  const int own = s->dims.nj, rows = in->dims.nj + own, count = m->inner.joints + own;
  const char** names = SALTUSI_TAKE(&m->pool, const char*, rows);
  int* first = SALTUSI_TAKE(&m->pool, int, count + 1);
  bool* rates = s->rate_rows != NULL ? SALTUSI_TAKE(&m->pool, bool, rows) : NULL;
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < rows; i++) {
    names[i] = i < in->dims.nj ? in->joint_names[i] : m->joint_names[i - in->dims.nj];
    if (rates != NULL) {
      rates[i] = i >= in->dims.nj && s->rate_rows[i - in->dims.nj];
    }
  }
  for (int i = 0; i <= count; i++) {
    const bool inner = i <= m->inner.joints && in->joint_first != NULL;
    first[i] = inner ? in->joint_first[i] : in->dims.nj + i - m->inner.joints;
  }
  s->dims.nj = rows;
  s->joint_names = names;
  s->rate_rows = rates;
  s->joint_count = count;
  s->joint_first = count > 0 ? first : NULL;
  return SALTUS_OK;
}

static saltus_status join_laws(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  saltus_system* s = &m->system;
  const saltus_system* in = m->inner.system;
  const int own = s->dims.nc, count = in->law_count + own;
  saltus_contact_law* laws = SALTUSI_TAKE(&m->pool, saltus_contact_law, count);
  if (laws == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (in->law_count > 0) {
    memcpy(laws, in->laws, (size_t)in->law_count * sizeof *laws);
  }
  if (own > 0) {
    memcpy(laws + in->law_count, s->laws, (size_t)own * sizeof *laws);
  }
  s->laws = laws;
  s->law_count = count;
  s->dims.nc = in->dims.nc + own;
  return SALTUS_OK;
}

static saltus_status join_dry(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  saltus_system* s = &m->system;
  const saltus_system* in = m->inner.system;
  const int own = s->dry_count, count = in->dry_count + own;
  saltus_dry_friction* all = SALTUSI_TAKE(&m->pool, saltus_dry_friction, count);
  if (count == 0 || all == NULL) {
    return count == 0 ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < count; i++) {
    all[i] = i < in->dry_count ? in->dry[i] : s->dry[i - in->dry_count];
    all[i].joint += i < in->dry_count || all[i].joint < 0 ? 0 : m->inner.joints;
  }
  s->dry = all;
  s->dry_count = count;
  return SALTUS_OK;
}

/* Rows of both have to fit. */
static void join_widths(saltus_formula_model* m, int own_joints, int own_contacts) {
  const saltus_dims* in = &m->inner.system->dims;
  int widest = in->row_width;
  for (int i = 0; i < own_joints; i++) {
    widest = m->joints[i].width > widest ? m->joints[i].width : widest;
  }
  for (int i = 0; i < own_contacts; i++) {
    widest = m->contacts[i].width > widest ? m->contacts[i].width : widest;
  }
  for (int i = m->inner.system->dry_count; i < m->system.dry_count; i++) {
    const int width = m->dry_rows[i - m->inner.system->dry_count].width;
    widest = width > widest ? width : widest;
  }
  const bool sparse = in->row_width > 0 || in->nj + in->nc == 0;
  m->system.dims.row_width = sparse && widest > 0 ? widest : 0;
}

static bool nothing_by_formula(const saltusi_formula_builder* b) {
  const saltus_formula_def* d = b->def;
  return d->coordinate_count + d->spring_count + d->joint_count + d->contact_count +
                 d->force_count ==
             0 &&
         d->potential.text == NULL && b->model->switch_count == 0 && d->dry == NULL;
}

/* Limits are coordinates of joints, which formulas contain; unresolved features occur only in rows with
 * motion by formula. */
static saltus_status bound_inner(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  const saltus_dims* d = &m->inner.system->dims;
  m->inner.limits = SALTUSI_TAKE(&m->pool, saltusi_formula_bound, 2 * d->nc);
  m->inner.rows = SALTUSI_TAKE(&m->pool, saltusi_formula_bound, d->nj);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < d->nc; i++) {
    const saltusi_expr gap = saltusi_formula_limit(b, i);
    const saltusi_expr rate = saltusi_rate(&b->graph, gap);
    saltusi_formula_bound_make(b, &gap, 1, &m->inner.limits[2 * i]);
    saltusi_formula_bound_make(b, &rate, 1, &m->inner.limits[2 * i + 1]);
  }
  for (int i = 0; i < d->nj; i++) {
    saltusi_expr g;
    if (saltusi_formula_moved_row(b, i, &g)) {
      saltusi_formula_bound_make(b, &g, 1, &m->inner.rows[i]);
    }
  }
  return m->pool.failed ? SALTUS_ERR_MEMORY : b->graph.status;
}

static void join_scratch(saltus_formula_model* m) {
  saltusi_formula_inner* in = &m->inner;
  const size_t nv = (size_t)m->system.dims.nv;
  const bool springs = in->ops.spring_q != NULL; /* of formulas: [nv x nv] are added */
  size_t buffer = m->buffer > nv ? m->buffer : nv;
  buffer = springs && nv * nv > buffer ? nv * nv : buffer;
  in->dense = (size_t)m->registers + buffer;
  in->scratch = (in->dense + (size_t)m->mass_blocks.outputs) * sizeof(double);
  in->scratch += (SALTUS_ALIGNMENT - in->scratch % SALTUS_ALIGNMENT) % SALTUS_ALIGNMENT;
  m->system.dims.scratch = in->scratch + in->system->dims.scratch;
}

saltus_status saltusi_formula_compose(saltusi_formula_builder* b) {
  assert(b != NULL && b->model != NULL);
  saltus_formula_model* m = b->model;
  if (b->def->mechanism == NULL) {
    return SALTUS_OK;
  }
  const saltus_system* in = saltus_mechanism_system(b->def->mechanism);
  const int first = b->def->coordinate_count;
  m->inner.system = in;
  m->inner.first = first;
  m->inner.joints = in->joint_first != NULL ? in->joint_count : in->dims.nj;
  memcpy(m->q0 + first, saltus_mechanism_q0(b->def->mechanism),
         (size_t)in->dims.nq * sizeof(double));
  memcpy(m->v0 + first, saltus_mechanism_v0(b->def->mechanism),
         (size_t)in->dims.nv * sizeof(double));
  m->inner.alone = nothing_by_formula(b);
  if (m->inner.alone) {
    m->system = *in;
    m->system.impacts = b->def->impacts; /* a mechanism has none */
    return SALTUS_OK;
  }
  const int own_joints = m->system.dims.nj, own_contacts = m->system.dims.nc;
  m->system.traits &= in->traits;
  m->system.traits |= in->traits & SALTUS_CHANGING_CONTACTS;
  saltus_status status = bound_inner(b);
  status = status == SALTUS_OK ? join_joints(b) : status;
  status = status == SALTUS_OK ? join_laws(b) : status;
  status = status == SALTUS_OK ? join_dry(b) : status;
  join_widths(m, own_joints, own_contacts);
  join_ops(m);
  join_scratch(m);
  return status;
}
