/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * remainder.c - the loop that executes a program over bounds of Taylor remainders.
 */
#include "formula/instructions.h"
#include "formula/interval.h"
#include "formula/near_polynomial.h"

#include <assert.h>

/* A register: its range, and the degree of its polynomial. */
typedef struct remainder_value {
  saltus_interval range;
  saltusi_near_polynomial near;
  int degree;
} remainder_value;

typedef struct remainder_frame {
  const saltusi_program* program;
  const saltus_course* course;
  remainder_value* values; /* [registers + outputs] */
} remainder_frame;

size_t saltusi_remainder_bytes(const saltusi_program* program) {
  assert(program != NULL);
  return ((size_t)program->registers + (size_t)program->outputs) * sizeof(remainder_value);
}

static const remainder_value far = {
    {-INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY, INFINITY}, SALTUS_JET_ORDER + 1};

static remainder_value constant(double x) {
  return (remainder_value){.range = saltusi_exactly(x), .near = {.size = fabs(x)}};
}

static remainder_value variable(const saltus_interval* c) {
  return (remainder_value){
      .range = c[0],
      .near = {.size = saltusi_magnitude(c[0]), .rate = saltusi_magnitude(c[1])},
      .degree = 1};
}

static remainder_value load(const remainder_frame* f, unsigned place) {
  const size_t index = place / SALTUSI_ARRAYS;
  const size_t stride = (size_t)(f->course->stride > 0 ? f->course->stride : f->course->order + 1);
  switch (place % SALTUSI_ARRAYS) {
  case SALTUSI_IN_INPUTS:
    return constant(f->program->inputs[index]);
  case SALTUSI_IN_CONSTANTS:
    return constant(f->program->constants[index]);
  case SALTUSI_IN_POSITIONS:
    return variable(f->course->q + index * stride);
  case SALTUSI_IN_VELOCITIES:
    return variable(f->course->v + index * stride);
  case SALTUSI_IN_OUTPUT:
    return f->values[(size_t)f->program->registers + index];
  default: /* register 0 is t */
    return place == SALTUSI_IN_REGISTERS ? variable(f->course->t) : f->values[index];
  }
}

/* Constants, and polynomials of the permitted degree. */
static remainder_value checked(remainder_value x) {
  const bool known =
      saltusi_bounded(x.range) && x.near.off < INFINITY && x.near.off_rate < INFINITY;
  x.near.size = fmin(x.near.size, saltusi_magnitude(x.range));
  return x.degree == 0 || (known && x.degree <= SALTUS_JET_ORDER) ? x : far;
}

static remainder_value sum(remainder_value x, remainder_value y, int sign) {
  return checked((remainder_value){.range = sign > 0 ? saltusi_sum(x.range, y.range)
                                                     : saltusi_difference(x.range, y.range),
                                   .near = saltusi_near_sum(x.near, y.near),
                                   .degree = x.degree > y.degree ? x.degree : y.degree});
}

static remainder_value product(remainder_value x, remainder_value y) {
  return checked((remainder_value){.range = saltusi_matrix_free(x.range, y.range),
                                   .near = saltusi_near_product(x.near, y.near),
                                   .degree = x.degree + y.degree});
}

static remainder_value power(remainder_value x, int n) {
  remainder_value y = x;
  for (int k = 1; k < n && (k <= SALTUS_JET_ORDER || x.degree == 0); k++) {
    y = product(y, x);
  }
  return n <= SALTUS_JET_ORDER || x.degree == 0 ? y : far;
}

static remainder_value wave(remainder_value x, saltus_interval range) {
  const double r = 0.5 * (x.range.hi - x.range.lo);
  return checked((remainder_value){
      .range = range, .near = saltusi_near_wave(x.near, r), .degree = x.degree > 0 ? 1 : 0});
}

/* |x|^(n / 2) */
static remainder_value root(remainder_value x, int n, saltus_interval range) {
  const double low = saltusi_distance(x.range), high = saltusi_magnitude(x.range);
  if (!(low > 0.0) || !(high < INFINITY)) {
    return far;
  }
  const double e = (high - low) / (high + low) + x.near.off / low;
  return checked((remainder_value){
      .range = range, .near = saltusi_near_power(x.near, low, high, e, n), .degree = x.degree});
}

static remainder_value inverse(remainder_value x) {
  return root(x, -2, saltusi_quotient(saltusi_exactly(1.0), x.range));
}

static remainder_value execute(const remainder_frame* f, const saltusi_instruction* i) {
  const remainder_value a = load(f, i->a);
  switch (i->op) {
  case SALTUSI_COPY:
    return a;
  case SALTUSI_ADD:
    return sum(a, load(f, i->b), 1);
  case SALTUSI_SUB:
    return sum(a, load(f, i->b), -1);
  case SALTUSI_NEG:
    return product(constant(-1.0), a);
  case SALTUSI_MUL:
    return product(a, load(f, i->b));
  case SALTUSI_DIV:
    return product(a, inverse(load(f, i->b)));
  case SALTUSI_SQUARE:
    return power(a, 2);
  case SALTUSI_CUBE:
    return power(a, 3);
  case SALTUSI_POWI:
    return power(a, (int)i->b);
  case SALTUSI_MUL_ADD:
    return sum(product(a, load(f, i->b)), load(f, i->c), 1);
  case SALTUSI_MUL_SUB:
    return sum(product(a, load(f, i->b)), load(f, i->c), -1);
  case SALTUSI_SUB_MUL:
    return sum(load(f, i->c), product(a, load(f, i->b)), -1);
  case SALTUSI_SIN:
    return wave(a, saltusi_range_sin(a.range));
  case SALTUSI_COS:
    return wave(a, saltusi_range_cos(a.range));
  case SALTUSI_SQRT:
    return a.range.lo > 0.0 ? root(a, 1, saltusi_range_sqrt(a.range)) : far;
  default:
    return far;
  }
}

double saltusi_remainder(const saltusi_program* program, const saltus_course* course, bool rate) {
  assert(program != NULL && course != NULL && course->order >= 1);
  const remainder_frame f = {.program = program, .course = course, .values = course->scratch};
  const size_t places = (size_t)program->registers + (size_t)program->outputs;
  for (size_t k = (size_t)program->registers; program->sparse && k < places; k++) {
    f.values[k] = constant(0.0);
  }
  for (int i = 0; i < program->length; i++) {
    const saltusi_instruction* code = &program->code[i];
    const size_t index = code->to / SALTUSI_ARRAYS;
    const bool output = code->to % SALTUSI_ARRAYS == SALTUSI_IN_OUTPUT;
    f.values[output ? (size_t)program->registers + index : index] = execute(&f, code);
  }
  const remainder_value* first = &f.values[program->registers];
  return first->degree == 0 ? 0.0 : rate ? first->near.off_rate : first->near.off;
}
