/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compile.c - compiles expressions to a program: nodes in order of age, each value in its output slot or in a register
 * that is reused after its last use.
 */
#include "formula/instructions.h"
#include "formula/program.h"

#include <assert.h>

/* Value of `home` for a product that is fused into its only user. */
static const unsigned FUSED = ~0U;

typedef struct compiler {
  saltusi_graph* g;
  saltusi_instruction* code;
  double* constants;
  int* spare; /* free registers */
  int spare_count, registers, length, constant_count;
} compiler;

static unsigned place(unsigned array, int index) {
  return SALTUSI_ARRAYS * (unsigned)index + array;
}

/* Marks all nodes of the outputs and counts the users of each node. */
static size_t list_nodes(saltusi_graph* g, const saltusi_output* outputs, int count) {
  size_t listed = 0;
  if (!saltusi_graph_walk(g)) {
    return 0;
  }
  for (int i = 0; i < count; i++) {
    saltusi_graph_visit(g, outputs[i].expr, &listed);
    g->marks[outputs[i].expr].adjoint++;
  }
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    int used = saltusi_op_operands(n->op);
    for (int k = 0; k < used; k++) {
      saltusi_graph_visit(g, saltusi_operand(n, k), &listed);
      g->marks[saltusi_operand(n, k)].adjoint++;
    }
  }
  saltusi_sort_ascending(g->list, listed);
  return listed;
}

/* Assigns the locations of constants and variables; marks products that are fused. */
static int settle(compiler* c, size_t listed) {
  saltusi_graph* g = c->g;
  int constants = 0;
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    saltusi_graph_mark* mark = &g->marks[g->list[i]];
    const int nq = g->sizes.positions, nv = g->sizes.velocities;
    if (n->op == SALTUSI_CONSTANT) {
      mark->home = place(SALTUSI_IN_CONSTANTS, constants++);
    } else if (n->op == SALTUSI_VARIABLE) {
      mark->home = n->a == 0         ? place(SALTUSI_IN_REGISTERS, 0)
                   : n->a <= nq      ? place(SALTUSI_IN_POSITIONS, n->a - 1)
                   : n->a <= nq + nv ? place(SALTUSI_IN_VELOCITIES, n->a - 1 - nq)
                                     : place(SALTUSI_IN_INPUTS, n->a - 1 - nq - nv);
    } else if (n->op == SALTUSI_ADD || n->op == SALTUSI_SUB) {
      /* at most one operand; outputs count as users, so a requested product is never fused */
      saltusi_expr product =
          g->nodes[n->b].op == SALTUSI_MUL && g->marks[n->b].adjoint == 1 ? n->b : n->a;
      if (g->nodes[product].op == SALTUSI_MUL && g->marks[product].adjoint == 1) {
        g->marks[product].home = FUSED;
      }
    }
  }
  return constants;
}

/* The location of an output node is its first output; `home` of the others is 0 until they are computed. */
static unsigned output_home(const saltusi_output* outputs, const int* first_output, size_t i) {
  return first_output[i] < 0 ? 0 : place(SALTUSI_IN_OUTPUT, outputs[first_output[i]].place);
}

static void read_done(compiler* c, saltusi_expr e) {
  saltusi_graph_mark* mark = &c->g->marks[e];
  mark->adjoint--;
  if (mark->adjoint == 0 && mark->home % SALTUSI_ARRAYS == SALTUSI_IN_REGISTERS &&
      mark->home != place(SALTUSI_IN_REGISTERS, 0)) {
    c->spare[c->spare_count++] = (int)(mark->home / SALTUSI_ARRAYS);
  }
}

static unsigned target(compiler* c, unsigned wanted) {
  if (wanted != 0) {
    return wanted;
  }
  int index = c->spare_count > 0 ? c->spare[--c->spare_count] : c->registers++;
  return place(SALTUSI_IN_REGISTERS, index);
}

static saltusi_instruction fused(const compiler* c, saltusi_graph_node n) {
  const saltusi_graph_mark* marks = c->g->marks;
  bool second = marks[n.b].home == FUSED;
  const saltusi_graph_node product = c->g->nodes[second ? n.b : n.a];
  unsigned op = n.op == SALTUSI_ADD ? SALTUSI_MUL_ADD : second ? SALTUSI_SUB_MUL : SALTUSI_MUL_SUB;
  return (saltusi_instruction){.op = op,
                               .a = marks[product.a].home,
                               .b = marks[product.b].home,
                               .c = marks[second ? n.a : n.b].home};
}

static void emit(compiler* c, saltusi_expr e, unsigned wanted) {
  const saltusi_graph_node n = c->g->nodes[e];
  const saltusi_graph_mark* marks = c->g->marks;
  int operands = saltusi_op_operands(n.op);
  saltusi_instruction i = {.op = n.op, .a = marks[n.a].home};
  bool fuse = (n.op == SALTUSI_ADD || n.op == SALTUSI_SUB) &&
              (marks[n.a].home == FUSED || marks[n.b].home == FUSED);
  if (n.op == SALTUSI_POWI) {
    i.op = n.b == 2 ? SALTUSI_SQUARE : n.b == 3 ? SALTUSI_CUBE : SALTUSI_POWI;
    i.b = (unsigned)n.b;
  } else if (fuse) {
    i = fused(c, n);
  } else {
    i.b = operands > 1 ? marks[n.b].home : 0;
    i.c = operands > 2 ? marks[n.c].home : 0;
  }

  /* operands are read before the result is written, so it may overwrite one */
  for (int k = 0; k < operands; k++) {
    if (fuse && marks[saltusi_operand(&n, k)].home == FUSED) {
      read_done(c, c->g->nodes[saltusi_operand(&n, k)].a);
      read_done(c, c->g->nodes[saltusi_operand(&n, k)].b);
    } else {
      read_done(c, saltusi_operand(&n, k));
    }
  }
  i.to = target(c, wanted);
  c->g->marks[e].home = i.to;
  c->code[c->length++] = i;
}

/* For each listed node the first output it goes to, or -1; the other outputs are copies. */
static void find_outputs(const saltusi_graph* g, const saltusi_output* outputs, int count,
                         size_t listed, int* first_output) {
  for (size_t i = 0; i < listed; i++) {
    first_output[i] = -1;
  }
  for (int k = count - 1; k >= 0; k--) {
    size_t lo = 0, hi = listed;
    while (hi - lo > 1) {
      size_t middle = lo + (hi - lo) / 2;
      *(g->list[middle] <= outputs[k].expr ? &lo : &hi) = middle;
    }
    unsigned char op = g->nodes[outputs[k].expr].op;
    if (op != SALTUSI_CONSTANT && op != SALTUSI_VARIABLE) {
      first_output[lo] = k;
    }
  }
}

static void generate(compiler* c, const saltusi_output* outputs, int count, size_t listed,
                     const int* first_output) {
  saltusi_graph* g = c->g;
  int constants = 0;
  for (size_t i = 0; i < listed; i++) {
    saltusi_expr e = g->list[i];
    if (g->nodes[e].op == SALTUSI_CONSTANT) {
      c->constants[constants++] = g->nodes[e].value;
    } else if (g->nodes[e].op != SALTUSI_VARIABLE && g->marks[e].home != FUSED) {
      emit(c, e, output_home(outputs, first_output, i));
    }
  }
  for (int k = 0; k < count; k++) {
    unsigned to = place(SALTUSI_IN_OUTPUT, outputs[k].place);
    unsigned home = g->marks[outputs[k].expr].home;
    if (home != to) {
      c->code[c->length++] = (saltusi_instruction){.op = SALTUSI_COPY, .to = to, .a = home};
    }
  }
}

saltus_status saltusi_compile(saltusi_graph* g, const saltusi_output* outputs, int count,
                              int output_length, saltusi_pool* pool, saltusi_program* program) {
  assert(g != NULL && pool != NULL && program != NULL && count >= 0);
  compiler c = {.g = g, .registers = 1};
  size_t listed = list_nodes(g, outputs, count);
  if (g->status != SALTUS_OK) {
    return g->status;
  }
  int constants = settle(&c, listed);

  /* working arrays are freed at the end; the size of the code is exact except for copies, at most one per output */
  saltus_allocator a = g->allocator;
  size_t work_room = 0;
  int* work = NULL;
  if (!saltusi_grow(&a, (void**)&work, &work_room, 2 * listed + 1, sizeof *work)) {
    return g->status = SALTUS_ERR_MEMORY;
  }
  c.spare = work + listed;
  c.code = SALTUSI_TAKE(pool, saltusi_instruction, listed + (size_t)count);
  c.constants = SALTUSI_TAKE(pool, double, constants);
  if (c.code != NULL && c.constants != NULL) {
    find_outputs(g, outputs, count, listed, work);
    generate(&c, outputs, count, listed, work);
  }
  saltusi_release(&a, work, work_room, sizeof *work);
  *program = (saltusi_program){.code = c.code,
                               .constants = c.constants,
                               .inputs = g->sizes.input_values,
                               .length = c.length,
                               .registers = c.registers,
                               .outputs = output_length,
                               .sparse = count < output_length};
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}
