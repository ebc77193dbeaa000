/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * functions.c - the table of functions, and those that are built from others.
 *
 *   smoothstep(a, b, x) = u^3 (10 - 15 u + 6 u^2),  u = (x - a)/(b - a) held in 0..1
 *   step(x)             = 0 <= x ? 1 : 0
 *   lookup(x, x1, y1, ...) = y1 + sum of (y_i+1 - y_i)/d_i min(max(x - x_i, 0), d_i),  d_i = x_i+1 - x_i;
 *   in gaps y1 + max(0, convex kinks) + min(0, concave kinks), which splits into contacts without reflex corners
 */
#include "formula/functions.h"

#include "saltus/formula.h"

#include <assert.h>
#include <string.h>

enum { MANY = 64 };

/* X(name, least, most, operation, shown arguments, doc) */
#define FUNCTIONS(X)                                                                               \
  X("sin", 1, 1, SALTUSI_SIN, 1, "sine of an angle in radians")                                    \
  X("cos", 1, 1, SALTUSI_COS, 1, "cosine of an angle in radians")                                  \
  X("tan", 1, 1, SALTUSI_TAN, 1, "tangent of an angle in radians")                                 \
  X("asin", 1, 1, SALTUSI_ASIN, 1, "inverse sine, -pi/2..pi/2")                                    \
  X("acos", 1, 1, SALTUSI_ACOS, 1, "inverse cosine, 0..pi")                                        \
  X("atan", 1, 1, SALTUSI_ATAN, 1, "inverse tangent, -pi/2..pi/2")                                 \
  X("atan2", 2, 2, SALTUSI_ATAN2, 2, "atan2(y, x): angle of the point (x, y), -pi..pi")            \
  X("sinh", 1, 1, SALTUSI_SINH, 1, "hyperbolic sine")                                              \
  X("cosh", 1, 1, SALTUSI_COSH, 1, "hyperbolic cosine")                                            \
  X("tanh", 1, 1, SALTUSI_TANH, 1, "hyperbolic tangent")                                           \
  X("exp", 1, 1, SALTUSI_EXP, 1, "exponential")                                                    \
  X("log", 1, 1, SALTUSI_LOG, 1, "natural logarithm")                                              \
  X("log10", 1, 1, SALTUSI_LOG10, 1, "decimal logarithm")                                          \
  X("sqrt", 1, 1, SALTUSI_SQRT, 1, "square root")                                                  \
  X("abs", 1, 1, SALTUSI_ABS, 1, "absolute value; derivative sign(x), not differentiable at 0")    \
  X("sign", 1, 1, SALTUSI_SIGN, 1, "-1, 0 or 1; derivative 0")                                     \
  X("min", 2, MANY, SALTUSI_MIN, -1, "smallest; derivative of the first that is, none at a tie")   \
  X("max", 2, MANY, SALTUSI_MAX, -1, "largest; derivative of the first that is, none at a tie")    \
  X("hypot", 2, 2, SALTUSI_HYPOT, 2, "sqrt(x^2 + y^2); not differentiable at 0, 0")                \
  X("pow", 2, 2, SALTUSI_POW, 2, "pow(x, y): x^y")                                                 \
  X("smoothstep", 3, 3, SALTUSI_SMOOTHSTEP, 3,                                                     \
    "smoothstep(a, b, x): 0 below a, 1 above b, a quintic with continuous curvature between")      \
  X("step", 1, 1, SALTUSI_STEP, 1, "0 for x < 0, 1 from 0 on; derivative 0")                       \
  X("lookup", 5, 2 * MANY + 1, SALTUSI_TABLE, -1,                                                  \
    "lookup(x, x1, y1, x2, y2, ...): straight between the points, constant beyond them")           \
  X("piecewise", 3, 2 * MANY + 1, SALTUSI_PIECEWISE, -1,                                           \
    "piecewise(condition, value, ..., otherwise): the value of the first condition that holds")

static const saltusi_function functions[] = {
#define ENTRY(name, least, most, op, arguments, doc) {name, least, most, op},
    FUNCTIONS(ENTRY)
#undef ENTRY
};

static const saltus_formula_function shown[] = {
#define ENTRY(name, least, most, op, arguments, doc) {name, arguments, doc},
    FUNCTIONS(ENTRY)
#undef ENTRY
        {"dist", 2, "dist(a, b): distance of two markers or bodies, m"},
    {"angle", 2,
     "angle(a, b): of marker b against marker a, rad; in space between their z axes, 0..pi"},
    {"x_in", 2, "x_in(a, b): x of marker b in the axes of marker a, m; x_in'(a, b): its rate"},
    {"y_in", 2, "y_in(a, b): y of marker b in the axes of marker a, m"},
    {"z_in", 2, "z_in(a, b): z of marker b in the axes of marker a, m"},
    {"wx_in", 2, "wx_in(a, b): angular velocity of b against a along x of a, rad/s"},
    {"wy_in", 2, "wy_in(a, b): the same along y of a"},
    {"wz_in", 2, "wz_in(a, b): the same along z of a"},
    {"xx_in", 2, "xx_in(a, b): x of the x axis of marker b in the axes of marker a"},
    {"xy_in", 2, "xy_in(a, b): y of it"},
    {"xz_in", 2, "xz_in(a, b): z of it"},
    {"yx_in", 2, "yx_in(a, b): x of the y axis of marker b in the axes of marker a"},
    {"yy_in", 2, "yy_in(a, b): y of it"},
    {"yz_in", 2, "yz_in(a, b): z of it"},
    {"zx_in", 2, "zx_in(a, b): x of the z axis of marker b in the axes of marker a"},
    {"zy_in", 2, "zy_in(a, b): y of it"},
    {"zz_in", 2, "zz_in(a, b): z of it"},
    {"pi", 0, "3.14159..."},
    {"t", 0, "time, s"},
};

const saltusi_function* saltusi_function_at(int i) {
  return i >= 0 && i < (int)(sizeof functions / sizeof *functions) ? &functions[i] : NULL;
}

const saltusi_function* saltusi_function_find(const char* name) {
  assert(name != NULL);
  for (int i = 0; saltusi_function_at(i) != NULL; i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}

const saltus_formula_function* saltus_formula_function_at(int i) {
  return i >= 0 && i < (int)(sizeof shown / sizeof *shown) ? &shown[i] : NULL;
}

int saltusi_scene_object_function_find(const char* name) {
  assert(name != NULL);
  static const char* const words[SALTUSI_THING_FUNCTIONS] = {
      "dist",  "angle", "x_in",  "y_in",  "z_in",  "wx_in", "wy_in", "wz_in", "xx_in",
      "xy_in", "xz_in", "yx_in", "yy_in", "yz_in", "zx_in", "zy_in", "zz_in"};
  int i = 0;
  while (i < SALTUSI_THING_FUNCTIONS && strcmp(words[i], name) != 0) {
    i++;
  }
  return i < SALTUSI_THING_FUNCTIONS ? i : -1;
}

bool saltusi_word_reserved(const char* name) {
  assert(name != NULL);
  static const char* const words[] = {"t", "pi", "and", "or", "not"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static saltusi_expr smoothstep(saltusi_graph* g, saltusi_expr a, saltusi_expr b, saltusi_expr x) {
  const saltusi_expr width = saltusi_sub(g, b, a);
  saltusi_expr u = saltusi_div(g, saltusi_sub(g, x, a), width);
  u = saltusi_apply(g, SALTUSI_MAX, u, g->zero, 0);
  u = saltusi_apply(g, SALTUSI_MIN, u, g->one, 0);
  const saltusi_expr six = saltusi_constant(g, 6.0), ten = saltusi_constant(g, 10.0);
  const saltusi_expr fifteen = saltusi_constant(g, 15.0), cube = saltusi_powi(g, u, 3);
  const saltusi_expr inner = saltusi_sub(g, saltusi_mul(g, six, u), fifteen);
  return saltusi_mul(g, cube, saltusi_add(g, ten, saltusi_mul(g, u, inner)));
}

/* Whether all numbers of a table are constants. */
static bool is_constant_table(const saltusi_graph* g, const saltusi_expr* arguments, int count) {
  bool constant = true;
  for (int i = 1; i < count; i++) {
    constant = constant && saltusi_is_constant(g, arguments[i]);
  }
  return constant;
}

/* The convex part of a table (MAX) or its concave part (MIN): the kinks of that sign alone, as the largest or smallest of
 * straight lines, 0 before the first. */
static saltusi_expr table_part(saltusi_graph* g, const saltusi_expr* arguments, int count, int op) {
  saltusi_expr sum = g->zero;
  double last = 0.0, slope = 0.0, value = 0.0, at = 0.0; /* slope of the table, then of the part */
  for (int i = 1; i + 1 < count; i += 2) {
    const double x = g->nodes[arguments[i]].value, y = g->nodes[arguments[i + 1]].value;
    const double next = i + 3 < count ? (g->nodes[arguments[i + 3]].value - y) /
                                            (g->nodes[arguments[i + 2]].value - x)
                                      : 0.0;
    const double kink = next - last;
    last = next;
    if (op == SALTUSI_MAX ? kink > 0.0 : kink < 0.0) {
      value += slope * (x - at);
      slope += kink;
      at = x;
      const saltusi_expr way = saltusi_sub(g, arguments[0], arguments[i]);
      const saltusi_expr rise = saltusi_mul(g, saltusi_constant(g, slope), way);
      sum = saltusi_apply(g, op, sum, saltusi_add(g, saltusi_constant(g, value), rise), 0);
    }
  }
  return sum;
}

static saltusi_expr table(saltusi_graph* g, const saltusi_expr* arguments, int count) {
  if (g->splits && is_constant_table(g, arguments, count)) {
    const saltusi_expr convex = table_part(g, arguments, count, SALTUSI_MAX);
    const saltusi_expr concave = table_part(g, arguments, count, SALTUSI_MIN);
    return saltusi_add(g, arguments[2], saltusi_add(g, convex, concave));
  }
  saltusi_expr sum = arguments[2];
  for (int i = 1; i + 3 < count; i += 2) {
    const saltusi_expr width = saltusi_sub(g, arguments[i + 2], arguments[i]);
    const saltusi_expr rise = saltusi_sub(g, arguments[i + 3], arguments[i + 1]);
    saltusi_expr u = saltusi_sub(g, arguments[0], arguments[i]);
    u = saltusi_apply(g, SALTUSI_MAX, u, g->zero, 0);
    u = saltusi_apply(g, SALTUSI_MIN, u, width, 0);
    sum = saltusi_add(g, sum, saltusi_mul(g, saltusi_div(g, rise, width), u));
  }
  return sum;
}

saltusi_expr saltusi_function_call(saltusi_graph* g, const saltusi_function* function,
                                   const saltusi_expr* arguments, int count) {
  assert(g != NULL && function != NULL && arguments != NULL && count >= 0);
  saltusi_expr e = arguments[0];
  switch (function->op) {
  case SALTUSI_MIN:
  case SALTUSI_MAX:
    for (int i = 1; i < count; i++) {
      e = saltusi_apply(g, function->op, e, arguments[i], 0);
    }
    return e;
  case SALTUSI_SMOOTHSTEP:
    return smoothstep(g, arguments[0], arguments[1], arguments[2]);
  case SALTUSI_TABLE:
    return table(g, arguments, count);
  case SALTUSI_STEP:
    return saltusi_select(g, saltusi_apply(g, SALTUSI_LESS_EQUAL, g->zero, e, 0), g->one, g->zero);
  case SALTUSI_PIECEWISE:
    e = arguments[count - 1];
    for (int i = count - 3; i >= 0; i -= 2) {
      e = saltusi_select(g, arguments[i], arguments[i + 1], e);
    }
    return e;
  default:
    return saltusi_apply(g, function->op, e, count > 1 ? arguments[1] : 0, 0);
  }
}
