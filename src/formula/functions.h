/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * functions.h - the functions a formula may call.
 */
#ifndef SALTUSI_FUNCTIONS_H
#define SALTUSI_FUNCTIONS_H

#include "formula/graph.h"

/* Functions that consist of several operations. */
enum { SALTUSI_SMOOTHSTEP = SALTUSI_OP_COUNT, SALTUSI_STEP, SALTUSI_PIECEWISE, SALTUSI_TABLE };

typedef struct saltusi_function {
  const char* name;
  int least, most; /* arguments */
  int op;          /* saltusi_op, or one of the above */
} saltusi_function;

/* NULL when there is no such function. */
const saltusi_function* saltusi_function_find(const char* name);
const saltusi_function* saltusi_function_at(int i); /* NULL past the end */

/* The call as an expression; `arguments` has as many as the function takes. Conditions of a
 * piecewise are arguments 0, 2, 4 and so on, but for the last. */
saltusi_expr saltusi_function_call(saltusi_graph* graph, const saltusi_function* function,
                                   const saltusi_expr* arguments, int count);

/* Functions whose arguments are names of objects: dist(a, b). Their names are not reserved. */
enum {
  SALTUSI_THING_DIST,
  SALTUSI_THING_ANGLE,
  SALTUSI_THING_X, /* of the second in the axes of the first; y and z follow */
  SALTUSI_THING_Y,
  SALTUSI_THING_Z,
  SALTUSI_THING_WX, /* angular velocity of the second relative to the first, in the axes of the first */
  SALTUSI_THING_WY,
  SALTUSI_THING_WZ,
  SALTUSI_THING_XX, /* x axis of the second in the axes of the first, then y, then z */
  SALTUSI_THING_XY,
  SALTUSI_THING_XZ,
  SALTUSI_THING_YX,
  SALTUSI_THING_YY,
  SALTUSI_THING_YZ,
  SALTUSI_THING_ZX,
  SALTUSI_THING_ZY,
  SALTUSI_THING_ZZ,
  SALTUSI_THING_FUNCTIONS
};
int saltusi_scene_object_function_find(const char* name); /* -1: none */

/* Whether the word is reserved without being a function: t, pi, and, or, not. */
bool saltusi_word_reserved(const char* name);

#endif
