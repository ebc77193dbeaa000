/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * graph.h - expressions as one shared graph.
 *
 * A node is an operation and the indices of its operands; equal nodes exist once (hash-consing), so
 * common subexpressions are found by construction and an expression is an int. Operands are always
 * older than the node: traversing indices upwards evaluates, downwards propagates adjoints, and no function recurses
 * over an expression.
 *
 * Variables: 0 is t, then come nq positions, nv velocities and the inputs, which are constant in a step; the
 * node of a variable has the variable's number. Positions obey q' = N(q) v: each has a rate, by default one velocity.
 * A failure (memory, too many nodes) is stored in `status`; constructors then return zero, and the caller checks once
 * at the end. The order of operations follows the age of nodes. A call has at most one constructor among its
 * arguments, since C does not define their order of evaluation.
 */
#ifndef SALTUSI_GRAPH_H
#define SALTUSI_GRAPH_H

#include "formula/ops.h"
#include "saltus/memory.h"
#include "saltus/status.h"

#include <stdbool.h>

typedef int saltusi_expr;

enum {
  SALTUSI_ON_TIME = 1,
  SALTUSI_ON_POSITION = 2,
  SALTUSI_ON_VELOCITY = 4,
  SALTUSI_ON_ANY = 7,
  SALTUSI_NODES_MOST = 4000000, /* some 250 MB */
  SALTUSI_POWER_MOST = 16       /* integer powers up to this are multiplied out */
};

typedef struct saltusi_graph_node {
  double value;           /* CONSTANT */
  int a, b, c;            /* operands, 0 when there are fewer; POWI: b is the exponent */
  int next;               /* chain of equal hashes, -1 at its end */
  int rate;               /* derive.c: time derivative once computed, else -1 */
  int gradient;           /* derive.c: index in `spans` of a branching node, else -1 */
  unsigned char op;       /* saltusi_op */
  unsigned char depends;  /* SALTUSI_ON_... */
  unsigned char branches; /* 1: min, max or select at or below this node */
  unsigned char kinks; /* SALTUSI_ON_... through abs, sign, min, max or conditions: derivatives do
                             not describe such an expression fully */
} saltusi_graph_node;

/* A derivative that is not zero by structure. */
typedef struct saltusi_entry {
  int variable;
  saltusi_expr expr;
} saltusi_entry;

/* Part of graph.entries, variables ascending. */
typedef struct saltusi_graph_span {
  int first, count;
} saltusi_graph_span;

/* Data per node of the current traversal; valid if the stamp is that of the traversal. */
typedef struct saltusi_graph_mark {
  unsigned stamp;
  int adjoint;   /* derive.c, also the rebuilt node; compile.c: uses */
  unsigned home; /* compile.c: location of the value */
} saltusi_graph_mark;

/* The variables of a graph. */
typedef struct saltusi_graph_sizes {
  int positions, velocities, inputs;
  const double* input_values; /* [inputs] read whenever a program runs; belongs to the caller */
} saltusi_graph_sizes;

/* Rate of a position: expr = sum of N_j v_j. */
typedef struct saltusi_rate_of {
  saltusi_expr expr;
  saltusi_graph_span N; /* by velocity variable; count 0: expr is a velocity */
} saltusi_rate_of;

typedef struct saltusi_graph {
  saltus_allocator allocator;
  saltus_status status; /* SALTUS_ERR_MEMORY, or SALTUS_ERR_INPUT for too many nodes */
  saltusi_graph_sizes sizes;
  saltusi_rate_of* rates; /* [positions] */
  size_t rate_room;
  saltusi_expr zero, one;
  bool splits; /* parsed expressions are split into their smallest parts (gaps) */

  saltusi_graph_node* nodes;
  size_t count, node_room;
  int* buckets;
  size_t bucket_count; /* a power of two */

  saltusi_entry* entries;
  size_t entry_count, entry_room;
  saltusi_graph_span* spans;
  size_t span_count, span_room;

  saltusi_graph_mark* marks; /* [mark_room], one per node when a traversal starts */
  size_t mark_room;
  int* list; /* nodes of the traversal */
  size_t list_room;
  int* branches; /* branching nodes still without a gradient */
  size_t branch_room;
  unsigned stamp;
} saltusi_graph;

/* The rate of position i is velocity i, if it exists; others are set by saltusi_graph_move. */
saltus_status saltusi_graph_start(saltusi_graph* graph, const saltusi_graph_sizes* sizes,
                                  const saltus_allocator* allocator);
void saltusi_graph_free(saltusi_graph* graph);

/* The node as given, without simplification; found if it exists. */
saltusi_expr saltusi_graph_intern(saltusi_graph* graph, saltusi_graph_node node);

/* Starts a traversal: marks and list have capacity for all present nodes. False without memory. */
bool saltusi_graph_walk(saltusi_graph* graph);
/* Adds a node to the list once; the other members of its mark are zero. */
void saltusi_graph_visit(saltusi_graph* graph, saltusi_expr e, size_t* listed);
void saltusi_sort_ascending(int* items, size_t count);

int saltusi_op_operands(int op);
double saltusi_op_value(int op, double A, double B, double C);

static inline saltusi_expr saltusi_time(void) {
  return 0;
}

static inline saltusi_expr saltusi_position(int i) {
  return 1 + i;
}

static inline saltusi_expr saltusi_velocity(const saltusi_graph* graph, int i) {
  return 1 + graph->sizes.positions + i;
}

static inline saltusi_expr saltusi_input(const saltusi_graph* graph, int i) {
  return 1 + graph->sizes.positions + graph->sizes.velocities + i;
}

static inline saltusi_expr saltusi_operand(const saltusi_graph_node* node, int k) {
  return k == 0 ? node->a : k == 1 ? node->b : node->c;
}

static inline unsigned saltusi_depends(const saltusi_graph* graph, saltusi_expr e) {
  return graph->nodes[e].depends;
}

static inline unsigned saltusi_kinks(const saltusi_graph* graph, saltusi_expr e) {
  return graph->nodes[e].kinks;
}

static inline bool saltusi_is_constant(const saltusi_graph* graph, saltusi_expr e) {
  return graph->nodes[e].op == SALTUSI_CONSTANT;
}

/* Constructors with simplifications that are exact or differ by rounding: neutral elements, folding of constants,
 * constants in front of products, signs outside, c*x + d*x, even and odd functions. x*0 is 0, also if x is not finite.
 * */
saltusi_expr saltusi_constant(saltusi_graph* graph, double value);
saltusi_expr saltusi_add(saltusi_graph* graph, saltusi_expr a, saltusi_expr b);
saltusi_expr saltusi_sub(saltusi_graph* graph, saltusi_expr a, saltusi_expr b);
saltusi_expr saltusi_mul(saltusi_graph* graph, saltusi_expr a, saltusi_expr b);
saltusi_expr saltusi_div(saltusi_graph* graph, saltusi_expr a, saltusi_expr b);
saltusi_expr saltusi_neg(saltusi_graph* graph, saltusi_expr a);
saltusi_expr saltusi_pow(saltusi_graph* graph, saltusi_expr a, saltusi_expr b);
saltusi_expr saltusi_powi(saltusi_graph* graph, saltusi_expr a, int n); /* n >= 0 */
saltusi_expr saltusi_select(saltusi_graph* graph, saltusi_expr condition, saltusi_expr a,
                            saltusi_expr b);
/* Any operation except constants, variables and integer powers. */
saltusi_expr saltusi_apply(saltusi_graph* graph, int op, saltusi_expr a, saltusi_expr b,
                           saltusi_expr c);

#endif
