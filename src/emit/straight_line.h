/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * straight_line.h - formula programs as straight-line C.
 *
 * Instructions of several programs become nodes of one graph. Equal nodes exist once, so programs share common
 * subexpressions. A node is written as `const double xN = ...;` where it is first needed. Operands are older than the
 * node.
 *
 * exact: values are bitwise those of saltusi_run. Only sums, products, quotients and square roots of constants and
 * products with 1 are folded. Otherwise x + 0, x 0 and the like are folded too.
 */
#ifndef SALTUSI_STRAIGHT_LINE_H
#define SALTUSI_STRAIGHT_LINE_H

#include "formula/instructions.h"
#include "formula/program.h"
#include "report/bytes.h"

enum { SALTUSI_LEAF_TEXT = 16 };

/* Classes of values, as bits: a node has those of its operands. */
enum {
  SALTUSI_LINE_MEMBER = 1, /* constant in a run */
  SALTUSI_LINE_STEP = 2,   /* constant in a step */
  SALTUSI_LINE_ITERATION = 4
};

typedef struct saltusi_line_node {
  double value; /* CONSTANT */
  int a, b, c;  /* operands, -1: none */
  int next;     /* chain of equal hashes, -1 at its end */
  int scope;    /* in which it is written; 0: not yet */
  unsigned char op, classes;
  bool needed;
  bool clean;                   /* a sum with an operand that is not -0 */
  char text[SALTUSI_LEAF_TEXT]; /* VARIABLE */
} saltusi_line_node;

typedef struct saltusi_line_graph {
  const saltus_allocator* memory;
  saltusi_line_node* nodes;
  size_t count, room;
  int* buckets;
  size_t bucket_count; /* a power of two */
  bool exact;
  bool failed;                 /* out of memory, or an operation that is not written */
  const char* missing;         /* name of that operation; NULL: none */
  const char* const* forms;    /* [SALTUSI_OP_COUNT] text of each operation with operands A, B, C */
  const char* type;            /* of a value: "double" */
  long long operations, calls; /* written so far */
} saltusi_line_graph;

/* Arrays from which a program reads, as nodes. */
typedef struct saltusi_line_state {
  int t;
  const int *q, *v, *u;
} saltusi_line_state;

/* Forms of C with libm. */
extern const char* const saltusi_line_forms[SALTUSI_OP_COUNT];

void saltusi_lines_start(saltusi_line_graph* lines, const saltus_allocator* memory, bool exact);
void saltusi_lines_free(saltusi_line_graph* lines);

int saltusi_line_number(saltusi_line_graph* lines, double value);
/* A variable of the surrounding text; "%s%d" of name and number, number -1: the name alone. */
int saltusi_line_leaf(saltusi_line_graph* lines, const char* name, int number, unsigned classes);
/* An operation of saltusi_op; operands that it does not have are -1. */
int saltusi_line_op(saltusi_line_graph* lines, int op, int a, int b, int c);

static inline int saltusi_line_add(saltusi_line_graph* l, int a, int b) {
  return saltusi_line_op(l, SALTUSI_ADD, a, b, -1);
}
static inline int saltusi_line_sub(saltusi_line_graph* l, int a, int b) {
  return saltusi_line_op(l, SALTUSI_SUB, a, b, -1);
}
static inline int saltusi_line_mul(saltusi_line_graph* l, int a, int b) {
  return saltusi_line_op(l, SALTUSI_MUL, a, b, -1);
}
static inline int saltusi_line_div(saltusi_line_graph* l, int a, int b) {
  return saltusi_line_op(l, SALTUSI_DIV, a, b, -1);
}

/* The outputs of a program, [program->outputs] nodes. */
void saltusi_line_program(saltusi_line_graph* lines, const saltusi_program* program,
                          const saltusi_line_state* state, int* out);

/* 0 + sum of a_i b_i, in this order; exact: products with the constant 0 are left out, which changes no bit. */
int saltusi_line_dot(saltusi_line_graph* lines, int count, const int* a, const int* b);

bool saltusi_line_is(const saltusi_line_graph* lines, int node, double value);

/* Writes the nodes required by the roots whose classes are within `classes`, except those of open scopes. With
 * all classes allowed the roots themselves are available afterwards. */
void saltusi_lines_write(saltusi_line_graph* lines, saltusi_bytes* out, const int* roots,
                         size_t count, unsigned classes, int scope, const char* indent);
/* The nodes of this scope and of inner ones end with it. */
void saltusi_lines_close(saltusi_line_graph* lines, int scope);

/* The value of a node that has been written. */
void saltusi_line_value(const saltusi_line_graph* lines, saltusi_bytes* out, int node);

#endif
