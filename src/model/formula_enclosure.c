/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_enclosure.c - programs of single gaps, relative velocities, forces and joints, for their
 * enclosures, and the switching functions of all formulas.
 *
 *   abs(x), sign(x)             x
 *   min(a, b), max(a, b)        a - b
 *   a < b and the like          a - b
 */
#include "formula/enclose.h"
#include "formula/near_polynomial.h"
#include "model/formula_model.h"

#include <assert.h>

void saltusi_formula_root(saltusi_formula_builder* b, saltusi_expr e) {
  assert(b != NULL);
  if (saltusi_kinks(&b->graph, e) == 0) {
    return;
  }
  if (!saltusi_grow(&b->graph.allocator, (void**)&b->roots, &b->root_room, b->root_count + 1,
                    sizeof *b->roots)) {
    b->graph.status = SALTUS_ERR_MEMORY;
    return;
  }
  b->roots[b->root_count++] = e;
}

/* All nodes of e, ascending. */
static size_t list_parts(saltusi_graph* g, const saltusi_expr* roots, size_t count) {
  size_t listed = 0;
  if (!saltusi_graph_walk(g)) {
    return 0;
  }
  for (size_t i = 0; i < count; i++) {
    saltusi_graph_visit(g, roots[i], &listed);
  }
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    const int operands = saltusi_op_operands(n->op);
    for (int k = 0; k < operands; k++) {
      saltusi_graph_visit(g, saltusi_operand(n, k), &listed);
    }
  }
  saltusi_sort_ascending(g->list, listed);
  return listed;
}

/* Degree of a polynomial in (t,q,v), by structure; NO_POLYNOMIAL for anything else or higher. */
enum { NO_POLYNOMIAL = 5 };

static int degree_of(const saltusi_graph* g, const saltusi_graph_node* n) {
  const int a = g->marks[n->a].adjoint;
  const int b =
      n->op == SALTUSI_POWI ? 0 : g->marks[n->b].adjoint; /* for POWI, b is the exponent */
  switch (n->op) {
  case SALTUSI_ADD:
  case SALTUSI_SUB:
    return a > b ? a : b;
  case SALTUSI_NEG:
    return a;
  case SALTUSI_MUL:
    return a + b;
  case SALTUSI_DIV:
    return b == 0 ? a : NO_POLYNOMIAL;
  case SALTUSI_POWI:
    return a * n->b;
  case SALTUSI_VARIABLE:
    return 1;
  default:
    return NO_POLYNOMIAL;
  }
}

static int degree(saltusi_graph* g, saltusi_expr e) {
  const size_t listed = list_parts(g, &e, 1);
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    const int d = n->depends == 0 ? 0 : degree_of(g, n);
    g->marks[g->list[i]].adjoint = d < NO_POLYNOMIAL ? d : NO_POLYNOMIAL;
  }
  return g->status == SALTUS_OK ? g->marks[e].adjoint : NO_POLYNOMIAL;
}

/* Positions and velocities that the values depend on. */
static void list_reads(saltusi_formula_builder* b, const saltusi_expr* values, int count,
                       saltusi_formula_bound* bound) {
  saltusi_graph* g = &b->graph;
  const size_t listed = list_parts(g, values, (size_t)count);
  size_t end = 0; /* variables have the lowest numbers, t the lowest of them, inputs the highest */
  while (end < listed && g->list[end] < saltusi_input(g, 0)) {
    end++;
  }
  const size_t first = end > 0 && g->list[0] == saltusi_time() ? 1 : 0;
  int* reads = SALTUSI_TAKE(&b->model->pool, int, end - first + 1);
  if (reads == NULL) {
    g->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (size_t i = first; i < end; i++) {
    reads[i - first] = g->list[i] - saltusi_position(0);
  }
  bound->reads = reads;
  bound->read_count = (int)(end - first);
}

void saltusi_formula_bound_make(saltusi_formula_builder* b, const saltusi_expr* values, int count,
                                saltusi_formula_bound* bound) {
  assert(b != NULL && values != NULL && bound != NULL && count >= 0);
  saltusi_graph* g = &b->graph;
  for (int k = 0; k < count; k++) {
    bound->depends |= saltusi_depends(g, values[k]);
    const int d = degree(g, values[k]);
    bound->depends |= d > 1 ? (unsigned)SALTUS_NOT_AFFINE : 0U;
    bound->depends |= d == NO_POLYNOMIAL ? (unsigned)SALTUS_NOT_POLYNOMIAL : 0U;
    saltusi_formula_put(b, (size_t)k, values[k]);
  }
  list_reads(b, values, count, bound);
  saltusi_formula_make(b, (size_t)count, &bound->program);
  const size_t bytes[] = {saltusi_enclose_bytes(&bound->program),
                          saltusi_remainder_bytes(&bound->program)};
  for (int k = 0; k < 2; k++) {
    b->model->bound_bytes = bytes[k] > b->model->bound_bytes ? bytes[k] : b->model->bound_bytes;
  }
}

/* Switching function of a node: changes sign with the branch; zero if there is none. */
static saltusi_expr switching(saltusi_graph* g, saltusi_expr e) {
  const saltusi_graph_node n = g->nodes[e];
  saltusi_expr x = g->zero;
  switch (n.op) {
  case SALTUSI_ABS:
  case SALTUSI_SIGN:
    x = n.a;
    break;
  case SALTUSI_MIN:
  case SALTUSI_MAX:
  case SALTUSI_LESS:
  case SALTUSI_LESS_EQUAL:
    x = saltusi_sub(g, n.a, n.b);
    break;
  default:
    break;
  }
  if (saltusi_depends(g, x) == 0) {
    return g->zero;
  }
  const saltusi_expr turned = saltusi_neg(g, x);
  return turned < x ? turned : x; /* a - b and b - a are one */
}

saltus_status saltusi_formula_switches(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_graph* g = &b->graph;
  saltus_formula_model* m = b->model;
  const size_t listed = list_parts(g, b->roots, b->root_count);
  saltusi_expr* found = SALTUSI_TAKE(&b->work, saltusi_expr, listed + 1);
  size_t count = 0;
  if (found == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (size_t i = 0; i < listed; i++) {
    const saltusi_expr x = switching(g, g->list[i]);
    if (x != g->zero) {
      found[count++] = x;
    }
  }
  saltusi_sort_ascending(found, count);
  m->switches = SALTUSI_TAKE(&m->pool, saltusi_formula_bound, count);
  if (m->switches == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (size_t i = 0; i < count && g->status == SALTUS_OK; i++) {
    if (i == 0 || found[i] != found[i - 1]) {
      saltusi_formula_bound_make(b, &found[i], 1, &m->switches[m->switch_count++]);
    }
  }
  return g->status;
}

static const saltusi_formula_bound* bound_of(const saltus_formula_model* m, saltus_quantity what,
                                             int index) {
  switch (what) {
  case SALTUS_QUANTITY_GAP:
    return &m->contacts[index].position;
  case SALTUS_QUANTITY_VELOCITY:
    return &m->contacts[index].velocity;
  case SALTUS_QUANTITY_FORCE:
    return &m->forces[index];
  case SALTUS_QUANTITY_JOINT:
    return &m->joints[index].position;
  default:
    return &m->switches[index];
  }
}

static size_t bytes(const void* self) {
  const saltus_formula_model* m = self;
  return m->bound_bytes;
}

static unsigned depends(const void* self, saltus_quantity what, int index) {
  return bound_of(self, what, index)->depends;
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int index,
                  saltus_interval* out) {
  saltusi_enclose(&bound_of(self, what, index)->program, course, out);
}

static int reads(const void* self, saltus_quantity what, uint64_t index, int room, int* place) {
  const saltusi_formula_bound* bound = bound_of(self, what, (int)index);
  for (int i = 0; i < bound->read_count && i < room; i++) {
    place[i] = bound->reads[i];
  }
  return bound->read_count;
}

static int switches(const void* self) {
  const saltus_formula_model* m = self;
  return m->switch_count;
}

static void beyond(const void* self, const saltus_course* course, saltus_quantity what,
                   double* out) {
  const saltus_formula_model* m = self;
  const bool joint = what == SALTUS_QUANTITY_JOINT;
  const int count = joint ? m->system.dims.nj : m->system.dims.nv;
  for (int i = 0; i < count; i++) {
    const saltusi_formula_bound* bound = bound_of(m, what, i);
    const bool plain = (bound->depends & (unsigned)SALTUS_NOT_POLYNOMIAL) == 0;
    out[i] = plain ? 0.0 : saltusi_remainder(&bound->program, course, joint);
  }
}

const saltus_enclosure_ops saltusi_formula_enclosure = {.bytes = bytes,
                                                        .depends = depends,
                                                        .along = along,
                                                        .beyond = beyond,
                                                        .switches = switches,
                                                        .reads = reads};
