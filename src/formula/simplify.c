/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * simplify.c - the constructors of expressions.
 *
 * Normal form: a product has its constant in front (c*x, where x is neither a product with a
 * constant nor negated), signs stand outside products and quotients, commutative operands are
 * ordered by age. Every rule removes a layer that an operand in normal form has at most once, so the recursion ends
 * after a few calls. These rules suffice to keep derivatives small.
 */
#include "formula/graph.h"

#include <assert.h>
#include <math.h>

static const saltusi_graph_node* at(const saltusi_graph* g, saltusi_expr e) {
  return &g->nodes[e];
}

static bool is(const saltusi_graph* g, saltusi_expr e, int op) {
  return g->nodes[e].op == op;
}

static bool equals(const saltusi_graph* g, saltusi_expr e, double value) {
  return g->nodes[e].op == SALTUSI_CONSTANT && g->nodes[e].value == value;
}

/* Whether e = c*x with a constant c; returns the factors. */
static bool scaled(const saltusi_graph* g, saltusi_expr e, double* c, saltusi_expr* x) {
  const saltusi_graph_node* n = at(g, e);
  if (n->op != SALTUSI_MUL || !saltusi_is_constant(g, n->a)) {
    return false;
  }
  *c = at(g, n->a)->value;
  *x = n->b;
  return true;
}

/* Constants are combined only if the result is a normal number: 1e200*(1e200*x) stays. */
static bool ordinary(double c) {
  return isnormal(c) != 0;
}

static saltusi_expr binary(saltusi_graph* g, saltusi_op op, saltusi_expr a, saltusi_expr b) {
  return saltusi_graph_intern(g, (saltusi_graph_node){.op = (unsigned char)op, .a = a, .b = b});
}

/* Commutative: the constant first, then the older operand. */
static saltusi_expr ordered(saltusi_graph* g, saltusi_op op, saltusi_expr a, saltusi_expr b) {
  bool swap = saltusi_is_constant(g, b) || (!saltusi_is_constant(g, a) && b < a);
  return swap ? binary(g, op, b, a) : binary(g, op, a, b);
}

static bool fold(saltusi_graph* g, int op, saltusi_expr a, saltusi_expr b, saltusi_expr* out) {
  if (!saltusi_is_constant(g, a) || !saltusi_is_constant(g, b)) {
    return false;
  }
  *out = saltusi_constant(g, saltusi_op_value(op, at(g, a)->value, at(g, b)->value, 0.0));
  return true;
}

saltusi_expr saltusi_constant(saltusi_graph* g, double value) {
  assert(g != NULL);
  return saltusi_graph_intern(g, (saltusi_graph_node){.op = SALTUSI_CONSTANT, .value = value});
}

/* c*x + d*x */
static bool gathered(saltusi_graph* g, saltusi_expr a, saltusi_expr b, double sign,
                     saltusi_expr* out) {
  double ca = 1.0, cb = 1.0;
  saltusi_expr xa = a, xb = b;
  scaled(g, a, &ca, &xa);
  scaled(g, b, &cb, &xb);
  if (xa != xb) {
    return false;
  }
  *out = saltusi_mul(g, saltusi_constant(g, ca + sign * cb), xa);
  return true;
}

saltusi_expr saltusi_add(saltusi_graph* g, saltusi_expr a, saltusi_expr b) {
  assert(g != NULL);
  saltusi_expr out, x;
  double c;
  if (fold(g, SALTUSI_ADD, a, b, &out)) {
    return out;
  }
  if (equals(g, a, 0.0)) {
    return b;
  }
  if (equals(g, b, 0.0)) {
    return a;
  }
  if (is(g, b, SALTUSI_NEG)) {
    return saltusi_sub(g, a, at(g, b)->a);
  }
  if (is(g, a, SALTUSI_NEG)) {
    return saltusi_sub(g, b, at(g, a)->a);
  }
  if (gathered(g, a, b, 1.0, &out)) {
    return out;
  }
  if (scaled(g, b, &c, &x) && c < 0.0) {
    return binary(g, SALTUSI_SUB, a, saltusi_mul(g, saltusi_constant(g, -c), x));
  }
  if (scaled(g, a, &c, &x) && c < 0.0) {
    return binary(g, SALTUSI_SUB, b, saltusi_mul(g, saltusi_constant(g, -c), x));
  }
  return ordered(g, SALTUSI_ADD, a, b);
}

saltusi_expr saltusi_sub(saltusi_graph* g, saltusi_expr a, saltusi_expr b) {
  assert(g != NULL && g->count <= g->node_room);
  saltusi_expr out, x;
  double c;
  if (fold(g, SALTUSI_SUB, a, b, &out)) {
    return out;
  }
  if (a == b) {
    return g->zero;
  }
  if (equals(g, a, 0.0)) {
    return saltusi_neg(g, b);
  }
  if (equals(g, b, 0.0)) {
    return a;
  }
  if (is(g, b, SALTUSI_NEG)) {
    return saltusi_add(g, a, at(g, b)->a);
  }
  if (is(g, a, SALTUSI_NEG)) {
    return saltusi_neg(g, saltusi_add(g, at(g, a)->a, b));
  }
  if (gathered(g, a, b, -1.0, &out)) {
    return out;
  }
  if (scaled(g, b, &c, &x) && c < 0.0) {
    return ordered(g, SALTUSI_ADD, a, saltusi_mul(g, saltusi_constant(g, -c), x));
  }
  return binary(g, SALTUSI_SUB, a, b);
}

saltusi_expr saltusi_neg(saltusi_graph* g, saltusi_expr a) {
  assert(g != NULL);
  const saltusi_graph_node n = *at(g, a);
  double c;
  saltusi_expr x;
  if (n.op == SALTUSI_CONSTANT) {
    return saltusi_constant(g, -n.value);
  }
  if (n.op == SALTUSI_NEG) {
    return n.a;
  }
  if (n.op == SALTUSI_SUB) {
    return saltusi_sub(g, n.b, n.a);
  }
  if (scaled(g, a, &c, &x)) {
    return saltusi_mul(g, saltusi_constant(g, -c), x);
  }
  if (n.op == SALTUSI_DIV && saltusi_is_constant(g, n.a)) {
    return saltusi_div(g, saltusi_neg(g, n.a), n.b);
  }
  return saltusi_graph_intern(g, (saltusi_graph_node){.op = SALTUSI_NEG, .a = a});
}

static saltusi_expr mul_constant(saltusi_graph* g, saltusi_expr factor, saltusi_expr x) {
  const double c = at(g, factor)->value;
  const saltusi_graph_node n = *at(g, x);
  if (c == 0.0) {
    return g->zero;
  }
  if (c == 1.0) {
    return x;
  }
  if (c == -1.0) {
    return saltusi_neg(g, x);
  }
  if (n.op == SALTUSI_NEG) {
    return mul_constant(g, saltusi_constant(g, -c), n.a);
  }
  if (n.op == SALTUSI_MUL && saltusi_is_constant(g, n.a) && ordinary(c * at(g, n.a)->value)) {
    return mul_constant(g, saltusi_constant(g, c * at(g, n.a)->value), n.b);
  }
  if (n.op == SALTUSI_DIV && saltusi_is_constant(g, n.a) && ordinary(c * at(g, n.a)->value)) {
    return saltusi_div(g, saltusi_constant(g, c * at(g, n.a)->value), n.b);
  }
  if (n.op == SALTUSI_DIV && saltusi_is_constant(g, n.b) && ordinary(c / at(g, n.b)->value)) {
    return mul_constant(g, saltusi_constant(g, c / at(g, n.b)->value), n.a);
  }
  return binary(g, SALTUSI_MUL, factor, x);
}

saltusi_expr saltusi_mul(saltusi_graph* g, saltusi_expr a, saltusi_expr b) {
  assert(g != NULL);
  saltusi_expr out;
  if (fold(g, SALTUSI_MUL, a, b, &out)) {
    return out;
  }
  if (saltusi_is_constant(g, a)) {
    return mul_constant(g, a, b);
  }
  if (saltusi_is_constant(g, b)) {
    return mul_constant(g, b, a);
  }
  if (a == b) {
    return saltusi_powi(g, a, 2);
  }
  for (int k = 0; k < 2; k++) {
    saltusi_expr x = k == 0 ? a : b, y = k == 0 ? b : a;
    const saltusi_graph_node n = *at(g, x);
    if (n.op == SALTUSI_NEG) {
      return saltusi_neg(g, saltusi_mul(g, n.a, y));
    }
    if (n.op == SALTUSI_MUL && saltusi_is_constant(g, n.a)) {
      return saltusi_mul(g, n.a, saltusi_mul(g, n.b, y));
    }
    if (n.op == SALTUSI_DIV && saltusi_is_constant(g, n.a)) {
      return saltusi_div(g, saltusi_mul(g, n.a, y), n.b);
    }
  }
  return ordered(g, SALTUSI_MUL, a, b);
}

static bool power_of_two(double c) {
  int exponent;
  return ordinary(c) && ordinary(1.0 / c) && fabs(frexp(c, &exponent)) == 0.5;
}

static saltusi_expr div_constant(saltusi_graph* g, saltusi_expr a, saltusi_expr divisor) {
  const double d = at(g, divisor)->value;
  double c;
  saltusi_expr x;
  if (d == 1.0) {
    return a;
  }
  if (power_of_two(d)) {
    return saltusi_mul(g, saltusi_constant(g, 1.0 / d), a);
  }
  if (scaled(g, a, &c, &x) && ordinary(c / d)) {
    return saltusi_mul(g, saltusi_constant(g, c / d), x);
  }
  return binary(g, SALTUSI_DIV, a, divisor);
}

saltusi_expr saltusi_div(saltusi_graph* g, saltusi_expr a, saltusi_expr b) {
  assert(g != NULL && g->count <= g->node_room);
  const saltusi_graph_node na = *at(g, a), nb = *at(g, b);
  saltusi_expr out, x;
  double c;
  if (fold(g, SALTUSI_DIV, a, b, &out)) {
    return out;
  }
  if (equals(g, a, 0.0)) {
    return g->zero;
  }
  if (na.op == SALTUSI_NEG) {
    return saltusi_neg(g, saltusi_div(g, na.a, b));
  }
  if (nb.op == SALTUSI_NEG) {
    return saltusi_neg(g, saltusi_div(g, a, nb.a));
  }
  if (nb.op == SALTUSI_CONSTANT) {
    return div_constant(g, a, b);
  }
  if (na.op == SALTUSI_CONSTANT && scaled(g, b, &c, &x) && ordinary(na.value / c)) {
    return saltusi_div(g, saltusi_constant(g, na.value / c), x);
  }
  if (scaled(g, a, &c, &x)) {
    /* c*(x/b), unless the quotient would hide a constant again */
    return binary(g, SALTUSI_MUL, at(g, a)->a, saltusi_div(g, x, b));
  }
  return binary(g, SALTUSI_DIV, a, b);
}

saltusi_expr saltusi_powi(saltusi_graph* g, saltusi_expr a, int n) {
  assert(g != NULL && g->count <= g->node_room);
  const saltusi_graph_node x = *at(g, a);
  double c;
  saltusi_expr y;
  if (n == 0) {
    return g->one;
  }
  if (n == 1) {
    return a;
  }
  if (x.op == SALTUSI_CONSTANT) {
    return saltusi_constant(g, saltusi_whole_power(x.value, n));
  }
  if (x.op == SALTUSI_NEG) {
    saltusi_expr power = saltusi_powi(g, x.a, n);
    return n % 2 == 0 ? power : saltusi_neg(g, power);
  }
  if (scaled(g, a, &c, &y) && ordinary(saltusi_whole_power(c, n))) {
    const saltusi_expr power = saltusi_powi(g, y, n);
    return saltusi_mul(g, saltusi_constant(g, saltusi_whole_power(c, n)), power);
  }
  if (x.op == SALTUSI_ABS && n % 2 == 0) {
    return saltusi_powi(g, x.a, n);
  }
  if (x.op == SALTUSI_POWI && x.b * n <= SALTUSI_POWER_MOST) {
    return saltusi_powi(g, x.a, x.b * n);
  }
  if (x.op == SALTUSI_HYPOT && n == 2) {
    const saltusi_expr square = saltusi_powi(g, x.a, 2);
    return saltusi_add(g, square, saltusi_powi(g, x.b, 2));
  }
  return saltusi_graph_intern(g, (saltusi_graph_node){.op = SALTUSI_POWI, .a = a, .b = n});
}

saltusi_expr saltusi_pow(saltusi_graph* g, saltusi_expr a, saltusi_expr b) {
  assert(g != NULL && g->count <= g->node_room);
  if (saltusi_is_constant(g, b)) {
    const double n = at(g, b)->value;
    if (fabs(n) <= SALTUSI_POWER_MOST && floor(n) == n) {
      saltusi_expr power = saltusi_powi(g, a, (int)fabs(n));
      return n < 0.0 ? saltusi_div(g, g->one, power) : power;
    }
    if (n == 0.5) {
      return saltusi_apply(g, SALTUSI_SQRT, a, 0, 0);
    }
    if (n == -0.5) {
      return saltusi_div(g, g->one, saltusi_apply(g, SALTUSI_SQRT, a, 0, 0));
    }
  }
  saltusi_expr out;
  if (fold(g, SALTUSI_POW, a, b, &out)) {
    return out;
  }
  return binary(g, SALTUSI_POW, a, b);
}

saltusi_expr saltusi_select(saltusi_graph* g, saltusi_expr condition, saltusi_expr a,
                            saltusi_expr b) {
  assert(g != NULL);
  if (saltusi_is_constant(g, condition)) {
    return at(g, condition)->value != 0.0 ? a : b;
  }
  if (a == b) {
    return a;
  }
  return saltusi_graph_intern(
      g, (saltusi_graph_node){.op = SALTUSI_SELECT, .a = condition, .b = a, .c = b});
}

/* -1 odd, 1 even, 0 neither. Functions of the C library have these symmetries exactly. */
static int parity(int op) {
  switch (op) {
  case SALTUSI_COS:
  case SALTUSI_COSH:
  case SALTUSI_ABS:
    return 1;
  case SALTUSI_SIN:
  case SALTUSI_TAN:
  case SALTUSI_ASIN:
  case SALTUSI_ATAN:
  case SALTUSI_SINH:
  case SALTUSI_TANH:
  case SALTUSI_SIGN:
    return -1;
  default:
    return 0;
  }
}

/* f(x) of one argument; f(-x) and f(b - a) are normalised, so that cos(p - q) and cos(q - p) are one node. */
static saltusi_expr call(saltusi_graph* g, int op, saltusi_expr a) {
  const saltusi_graph_node n = *at(g, a);
  if (n.op == SALTUSI_CONSTANT) {
    return saltusi_constant(g, saltusi_op_value(op, n.value, 0.0, 0.0));
  }
  double c;
  saltusi_expr x;
  bool turn = n.op == SALTUSI_NEG || (n.op == SALTUSI_SUB && n.b < n.a) ||
              (scaled(g, a, &c, &x) && c < 0.0);
  int even = parity(op);
  if (turn && even != 0) {
    saltusi_expr turned = saltusi_neg(g, a);
    turned = saltusi_graph_intern(g, (saltusi_graph_node){.op = (unsigned char)op, .a = turned});
    return even > 0 ? turned : saltusi_neg(g, turned);
  }
  return saltusi_graph_intern(g, (saltusi_graph_node){.op = (unsigned char)op, .a = a});
}

static saltusi_expr call2(saltusi_graph* g, int op, saltusi_expr a, saltusi_expr b) {
  saltusi_expr out;
  if (fold(g, op, a, b, &out)) {
    return out;
  }
  if (a == b && (op == SALTUSI_MIN || op == SALTUSI_MAX)) {
    return a;
  }
  return binary(g, (saltusi_op)op, a, b);
}

saltusi_expr saltusi_apply(saltusi_graph* g, int op, saltusi_expr a, saltusi_expr b,
                           saltusi_expr c) {
  assert(g != NULL);
  switch (op) {
  case SALTUSI_ADD:
    return saltusi_add(g, a, b);
  case SALTUSI_SUB:
    return saltusi_sub(g, a, b);
  case SALTUSI_MUL:
    return saltusi_mul(g, a, b);
  case SALTUSI_DIV:
    return saltusi_div(g, a, b);
  case SALTUSI_NEG:
    return saltusi_neg(g, a);
  case SALTUSI_POW:
    return saltusi_pow(g, a, b);
  case SALTUSI_SELECT:
    return saltusi_select(g, a, b, c);
  default:
    return saltusi_op_operands(op) == 1 ? call(g, op, a) : call2(g, op, a, b);
  }
}
