/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * graph.c - nodes, their hash table, and the lists for walks over them.
 */
#include "formula/graph.h"

#include "base/pool.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool grow(saltusi_graph* g, void** array, size_t* room, size_t wanted, size_t item) {
  if (saltusi_grow(&g->allocator, array, room, wanted, item)) {
    return true;
  }
  g->status = SALTUS_ERR_MEMORY;
  return false;
}

int saltusi_op_operands(int op) {
  static const unsigned char operands_of[SALTUSI_OP_COUNT] = {[SALTUSI_POWI] = 1,
#define OPERANDS(name, operands, value) [SALTUSI_##name] = (operands),
                                                              SALTUSI_OPS(OPERANDS)
#undef OPERANDS
  };
  return operands_of[op];
}

double saltusi_op_value(int op, double A, double B, double C) {
  switch (op) {
#define VALUE(name, operands, value)                                                               \
  case SALTUSI_##name:                                                                             \
    return value;
    SALTUSI_OPS(VALUE)
#undef VALUE
  default:
    return 0.0;
  }
}

/* Values are compared by their bits: -0.0 and 0.0 are two constants, and NaN is found again. */
static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t mixed(uint64_t hash, uint64_t key) {
  hash = (hash ^ key) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static size_t hash_of(const saltusi_graph_node* n) {
  uint64_t h = mixed(n->op, (unsigned)n->a);
  h = mixed(mixed(h, (unsigned)n->b), (unsigned)n->c);
  h = mixed(h, bits_of(n->value));
  return (size_t)(h ^ (h >> 32));
}

static bool same(const saltusi_graph_node* x, const saltusi_graph_node* y) {
  return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c &&
         bits_of(x->value) == bits_of(y->value);
}

static bool rehash(saltusi_graph* g) {
  size_t count = g->bucket_count == 0 ? 256 : 2 * g->bucket_count;
  int* buckets = g->allocator.alloc(count * sizeof(int), g->allocator.user);
  if (buckets == NULL) {
    g->status = SALTUS_ERR_MEMORY;
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    buckets[i] = -1;
  }
  saltusi_release(&g->allocator, g->buckets, g->bucket_count, sizeof(int));
  g->buckets = buckets;
  g->bucket_count = count;
  for (size_t i = 0; i < g->count; i++) {
    size_t at = hash_of(&g->nodes[i]) & (count - 1);
    g->nodes[i].next = buckets[at];
    buckets[at] = (int)i;
  }
  return true;
}

static bool kinked(int op) {
  switch (op) {
  case SALTUSI_ABS:
  case SALTUSI_SIGN:
  case SALTUSI_MIN:
  case SALTUSI_MAX:
  case SALTUSI_LESS:
  case SALTUSI_LESS_EQUAL:
    return true;
  default: /* and, or, not, select stand on comparisons */
    return false;
  }
}

static void describe(const saltusi_graph* g, saltusi_graph_node* n) {
  int operands = saltusi_op_operands(n->op);
  n->branches = n->op == SALTUSI_MIN || n->op == SALTUSI_MAX || n->op == SALTUSI_SELECT;
  for (int i = 0; i < operands; i++) {
    n->depends |= g->nodes[saltusi_operand(n, i)].depends;
    n->branches |= g->nodes[saltusi_operand(n, i)].branches;
    n->kinks |= g->nodes[saltusi_operand(n, i)].kinks;
  }
  n->kinks |= kinked(n->op) ? n->depends : 0;
  n->rate = -1;
  n->gradient = -1;
}

saltusi_expr saltusi_graph_intern(saltusi_graph* g, saltusi_graph_node node) {
  assert(g != NULL && g->count <= g->node_room);
  if (g->status != SALTUS_OK) {
    return g->zero;
  }
  size_t hash = hash_of(&node);
  for (int i = g->bucket_count > 0 ? g->buckets[hash & (g->bucket_count - 1)] : -1; i >= 0;
       i = g->nodes[i].next) {
    if (same(&g->nodes[i], &node)) {
      return i;
    }
  }

  if (g->count >= SALTUSI_NODES_MOST) {
    g->status = SALTUS_ERR_INPUT;
    return g->zero;
  }
  if (!grow(g, (void**)&g->nodes, &g->node_room, g->count + 1, sizeof *g->nodes) ||
      (g->count >= g->bucket_count && !rehash(g))) {
    return g->zero;
  }
  describe(g, &node);
  size_t at = hash & (g->bucket_count - 1);
  node.next = g->buckets[at];
  g->nodes[g->count] = node;
  g->buckets[at] = (int)g->count;
  return (saltusi_expr)g->count++;
}

saltus_status saltusi_graph_start(saltusi_graph* g, const saltusi_graph_sizes* sizes,
                                  const saltus_allocator* allocator) {
  assert(g != NULL && sizes != NULL && sizes->positions >= 0 && sizes->velocities >= 0);
  const int nq = sizes->positions, nv = sizes->velocities;
  *g = (saltusi_graph){.sizes = *sizes};
  g->allocator = allocator != NULL ? *allocator : saltus_allocator_default();
  for (int i = 0; i <= nq + nv + sizes->inputs; i++) {
    unsigned char on = i == 0         ? SALTUSI_ON_TIME
                       : i <= nq      ? SALTUSI_ON_POSITION
                       : i <= nq + nv ? SALTUSI_ON_VELOCITY
                                      : 0;
    saltusi_graph_intern(g, (saltusi_graph_node){.op = SALTUSI_VARIABLE, .a = i, .depends = on});
  }
  size_t room = 0;
  if (!grow(g, (void**)&g->rates, &room, (size_t)nq, sizeof *g->rates)) {
    return g->status;
  }
  g->rate_room = room;
  for (int i = 0; i < nq; i++) {
    g->rates[i] = (saltusi_rate_of){.expr = i < nv ? saltusi_velocity(g, i) : 0};
  }
  g->zero = saltusi_constant(g, 0.0);
  g->one = saltusi_constant(g, 1.0);
  return g->status;
}

void saltusi_graph_free(saltusi_graph* g) {
  assert(g != NULL && g->count <= g->node_room);
  const saltus_allocator* a = &g->allocator;
  saltusi_release(a, g->nodes, g->node_room, sizeof *g->nodes);
  saltusi_release(a, g->buckets, g->bucket_count, sizeof *g->buckets);
  saltusi_release(a, g->rates, g->rate_room, sizeof *g->rates);
  saltusi_release(a, g->entries, g->entry_room, sizeof *g->entries);
  saltusi_release(a, g->spans, g->span_room, sizeof *g->spans);
  saltusi_release(a, g->marks, g->mark_room, sizeof *g->marks);
  saltusi_release(a, g->list, g->list_room, sizeof *g->list);
  saltusi_release(a, g->branches, g->branch_room, sizeof *g->branches);
}

bool saltusi_graph_walk(saltusi_graph* g) {
  assert(g != NULL && g->count <= g->node_room);
  size_t before = g->mark_room;
  if (g->status != SALTUS_OK ||
      !grow(g, (void**)&g->marks, &g->mark_room, g->count, sizeof *g->marks) ||
      !grow(g, (void**)&g->list, &g->list_room, g->count, sizeof *g->list)) {
    return false;
  }
  for (size_t i = before; i < g->mark_room; i++) {
    g->marks[i].stamp = 0;
  }
  g->stamp++;
  return true;
}

void saltusi_graph_visit(saltusi_graph* g, saltusi_expr e, size_t* listed) {
  assert(g != NULL && g->count <= g->node_room);
  if (g->marks[e].stamp != g->stamp) {
    g->marks[e] = (saltusi_graph_mark){.stamp = g->stamp};
    g->list[(*listed)++] = e;
  }
}

static int ascending(const void* x, const void* y) {
  int a = *(const int*)x, b = *(const int*)y;
  return (a > b) - (a < b);
}

void saltusi_sort_ascending(int* items, size_t count) {
  assert(items != NULL || count == 0);
  /* lists are short: a gap between two bodies has a few nodes */
  if (count > 16) {
    qsort(items, count, sizeof *items, ascending);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    int item = items[i];
    size_t j = i;
    for (; j > 0 && items[j - 1] > item; j--) {
      items[j] = items[j - 1];
    }
    items[j] = item;
  }
}
