/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * program.h - expressions as a flat list of instructions that writes an array of values.
 *
 * An operand is an index into one of six arrays (constants, q, v, registers, output, inputs), packed as
 * 8 * index + array: nothing is copied before a program starts, and results are written to their
 * destination. Register 0 holds t.
 */
#ifndef SALTUSI_PROGRAM_H
#define SALTUSI_PROGRAM_H

#include "base/pool.h"
#include "formula/graph.h"

typedef struct saltusi_instruction {
  unsigned op;      /* saltusi_op, or one of those only programs have */
  unsigned to;      /* location of the result */
  unsigned a, b, c; /* locations of the operands; POWI: b is the exponent */
} saltusi_instruction;

typedef struct saltusi_program {
  const saltusi_instruction* code;
  const double* constants;
  const double* inputs; /* of the graph's caller; NULL: there are none */
  int length;
  int registers; /* doubles of scratch, at least 1 */
  int outputs;   /* length of the output array */
  bool sparse;   /* some outputs are not computed and must be set to zero first */
} saltusi_program;

/* Expression e goes to output[place]. */
typedef struct saltusi_output {
  int place;
  saltusi_expr expr;
} saltusi_output;

/* Outputs that are not listed are zero. The program lives in the pool. Returns the status of graph
 * or pool. */
saltus_status saltusi_compile(saltusi_graph* graph, const saltusi_output* outputs, int count,
                              int output_length, saltusi_pool* pool, saltusi_program* program);

/* v may be NULL when no velocity occurs. scratch holds program->registers doubles. */
void saltusi_run(const saltusi_program* program, double t, const double* q, const double* v,
                 double* scratch, double* output);

#endif
