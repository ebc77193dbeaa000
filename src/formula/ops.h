/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ops.h - the operations of expressions and their evaluation: constant folding and the
 * interpreter both expand this list, so their results are bitwise identical.
 */
#ifndef SALTUSI_OPS_H
#define SALTUSI_OPS_H

#include <math.h>

/* X(name, number of operands, value of the operands A, B, C) */
#define SALTUSI_OPS(X)                                                                             \
  X(ADD, 2, A + B)                                                                                 \
  X(SUB, 2, A - B)                                                                                 \
  X(MUL, 2, A* B)                                                                                  \
  X(DIV, 2, A / B)                                                                                 \
  X(NEG, 1, -A)                                                                                    \
  X(POW, 2, pow(A, B))                                                                             \
  X(SIN, 1, sin(A))                                                                                \
  X(COS, 1, cos(A))                                                                                \
  X(TAN, 1, tan(A))                                                                                \
  X(ASIN, 1, asin(A))                                                                              \
  X(ACOS, 1, acos(A))                                                                              \
  X(ATAN, 1, atan(A))                                                                              \
  X(ATAN2, 2, atan2(A, B))                                                                         \
  X(SINH, 1, sinh(A))                                                                              \
  X(COSH, 1, cosh(A))                                                                              \
  X(TANH, 1, tanh(A))                                                                              \
  X(EXP, 1, exp(A))                                                                                \
  X(LOG, 1, log(A))                                                                                \
  X(LOG10, 1, log10(A))                                                                            \
  X(SQRT, 1, sqrt(A))                                                                              \
  X(ABS, 1, fabs(A))                                                                               \
  X(SIGN, 1, saltusi_sign(A))                                                                      \
  X(MIN, 2, saltusi_min(A, B))                                                                     \
  X(MAX, 2, saltusi_max(A, B))                                                                     \
  X(HYPOT, 2, hypot(A, B))                                                                         \
  X(LESS, 2, A < B ? 1.0 : 0.0)                                                                    \
  X(LESS_EQUAL, 2, A <= B ? 1.0 : 0.0)                                                             \
  X(AND, 2, A != 0.0 && B != 0.0 ? 1.0 : 0.0)                                                      \
  X(OR, 2, A != 0.0 || B != 0.0 ? 1.0 : 0.0)                                                       \
  X(NOT, 1, A != 0.0 ? 0.0 : 1.0)                                                                  \
  X(SELECT, 3, A != 0.0 ? B : C)

typedef enum saltusi_op {
  SALTUSI_CONSTANT,
  SALTUSI_VARIABLE,
  SALTUSI_POWI, /* integer power; the exponent is kept beside the operand */
#define SALTUSI_OP_ENUM(name, operands, value) SALTUSI_##name,
  SALTUSI_OPS(SALTUSI_OP_ENUM)
#undef SALTUSI_OP_ENUM
      SALTUSI_OP_COUNT
} saltusi_op;

/* min, max and sign propagate NaN: an undefined value must not appear as a number. */
static inline double saltusi_min(double a, double b) {
  return a <= b || a != a ? a : b;
}

static inline double saltusi_max(double a, double b) {
  return a >= b || a != a ? a : b;
}

static inline double saltusi_sign(double a) {
  return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a == 0.0 ? 0.0 : a;
}

/* x^n for n >= 1 by squaring; n = 2 is x*x and n = 3 is x*x*x, to the bit. */
static inline double saltusi_whole_power(double x, int n) {
  double power = 1.0;
  double square = x;
  for (; n > 1; n /= 2) {
    power = n % 2 == 1 ? power * square : power;
    square *= square;
  }
  return power * square;
}

#endif
