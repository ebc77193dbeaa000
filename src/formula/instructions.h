/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * instructions.h - instructions shared by compile.c and run.c.
 */
#ifndef SALTUSI_INSTRUCTIONS_H
#define SALTUSI_INSTRUCTIONS_H

#include "formula/ops.h"

/* Operations that only programs have. A product with one use in a sum is fused with it and rounded separately:
 * polynomials need half the instructions, with bitwise identical results. */
enum {
  SALTUSI_COPY = SALTUSI_OP_COUNT, /* a */
  SALTUSI_SQUARE,                  /* a*a */
  SALTUSI_CUBE,                    /* a*a*a */
  SALTUSI_MUL_ADD,                 /* a*b + c */
  SALTUSI_MUL_SUB,                 /* a*b - c */
  SALTUSI_SUB_MUL                  /* c - a*b */
};

/* The six arrays. */
enum {
  SALTUSI_IN_CONSTANTS,
  SALTUSI_IN_POSITIONS,
  SALTUSI_IN_VELOCITIES,
  SALTUSI_IN_REGISTERS,
  SALTUSI_IN_OUTPUT,
  SALTUSI_IN_INPUTS,
  SALTUSI_ARRAYS = 8
};

#endif
