/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - the loop that executes a program.
 */
#include "formula/instructions.h"
#include "formula/program.h"

#include <assert.h>
#include <string.h>

#define PLACE(p) (arrays[(p) % SALTUSI_ARRAYS][(p) / SALTUSI_ARRAYS])
#define A PLACE(i->a)
#define B PLACE(i->b)
#define C PLACE(i->c)
#define DO(name, value)                                                                            \
  case SALTUSI_##name:                                                                             \
    *to = value;                                                                                   \
    break;
#define DO_OP(name, operands, value) DO(name, value)

void saltusi_run(const saltusi_program* program, double t, const double* q, const double* v,
                 double* scratch, double* output) {
  assert(program != NULL && program->registers >= 1 && program->length >= 0);
  const double* arrays[SALTUSI_ARRAYS] = {[SALTUSI_IN_CONSTANTS] = program->constants,
                                          [SALTUSI_IN_POSITIONS] = q,
                                          [SALTUSI_IN_VELOCITIES] = v,
                                          [SALTUSI_IN_REGISTERS] = scratch,
                                          [SALTUSI_IN_OUTPUT] = output,
                                          [SALTUSI_IN_INPUTS] = program->inputs};
  if (program->sparse) {
    memset(output, 0, (size_t)program->outputs * sizeof *output);
  }
  scratch[0] = t;
  const saltusi_instruction* end = program->code + program->length;
  for (const saltusi_instruction* i = program->code; i < end; i++) {
    double* to =
        (i->to % SALTUSI_ARRAYS == SALTUSI_IN_OUTPUT ? output : scratch) + i->to / SALTUSI_ARRAYS;
    switch (i->op) {
      SALTUSI_OPS(DO_OP)
      DO(COPY, A)
      DO(SQUARE, A * A)
      DO(CUBE, A * A * A)
      DO(MUL_ADD, A * B + C)
      DO(MUL_SUB, A * B - C)
      DO(SUB_MUL, C - A * B)
      DO(POWI, saltusi_whole_power(A, (int)i->b))
    default:
      break;
    }
  }
}
