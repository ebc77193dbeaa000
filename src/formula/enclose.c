/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclose.c - the loop that executes a program over jets of intervals.
 *
 * Conditions are true, false or open: 1, 0 or 0..1. If a condition is open, or the order of the arguments of abs, min
 * and max is undecided, the result is a hull. abs, min and max are continuous: their first coefficient
 * lies in the hull of both sides, so the mean value theorem holds; higher ones are unbounded. After sign and piecewise
 * all coefficients but the value are unbounded. A range that only touches a switching point lies on one side of it.
 */
#include "formula/enclose.h"

#include "formula/instructions.h"
#include "formula/jet.h"

#include <assert.h>

enum { MOST = SALTUS_JET_ORDER + 1 };

typedef struct enclose_frame {
  const saltusi_program* program;
  const saltus_course* course;
  saltus_interval* jets;   /* [registers + outputs][order + 1] */
  saltusi_extent* extents; /* [registers + outputs] */
} enclose_frame;

size_t saltusi_enclose_bytes(const saltusi_program* program) {
  assert(program != NULL);
  const size_t places = (size_t)program->registers + (size_t)program->outputs;
  return places * (MOST * sizeof(saltus_interval) + sizeof(saltusi_extent));
}

static size_t place_of(const enclose_frame* f, unsigned place) {
  const size_t index = place / SALTUSI_ARRAYS;
  return place % SALTUSI_ARRAYS == SALTUSI_IN_OUTPUT ? (size_t)f->program->registers + index
                                                     : index;
}

static saltusi_jet stored(const enclose_frame* f, size_t place) {
  return (saltusi_jet){f->jets + place * (size_t)(f->course->order + 1), f->extents[place]};
}

static size_t stride_of(const saltus_course* course) {
  return (size_t)(course->stride > 0 ? course->stride : course->order + 1);
}

/* Operand as a jet; a constant is stored in `room`. */
static saltusi_jet load(const enclose_frame* f, unsigned place, saltus_interval* room) {
  const size_t index = place / SALTUSI_ARRAYS;
  const int order = f->course->order;
  switch (place % SALTUSI_ARRAYS) {
  case SALTUSI_IN_INPUTS:
  case SALTUSI_IN_CONSTANTS: {
    const bool input = place % SALTUSI_ARRAYS == SALTUSI_IN_INPUTS;
    const double value = (input ? f->program->inputs : f->program->constants)[index];
    const bool finite = fabs(value) <= DBL_MAX;
    *room = finite ? saltusi_exactly(value) : saltusi_everything;
    return (saltusi_jet){
        room, {(unsigned char)(finite ? 0 : order), (unsigned char)(finite ? order + 1 : 1)}};
  }
  case SALTUSI_IN_POSITIONS:
    return saltusi_jet_given(f->course->q + index * stride_of(f->course), order);
  case SALTUSI_IN_VELOCITIES:
    return saltusi_jet_given(f->course->v + index * stride_of(f->course), order);
  default:
    if (place == SALTUSI_IN_REGISTERS) { /* register 0 is t */
      return saltusi_jet_given(f->course->t, order);
    }
    return stored(f, place_of(f, place));
  }
}

typedef enum truth { FALSE, TRUE, OPEN } truth;

static truth truth_of(saltus_interval x) {
  return saltusi_is_zero(x) ? FALSE : x.lo > 0.0 || x.hi < 0.0 ? TRUE : OPEN;
}

static void put_truth(saltusi_jet_place to, truth value, bool constant) {
  const bool known = value != OPEN || constant;
  to.c[0] = (saltus_interval){value == TRUE ? 1.0 : 0.0, value == FALSE ? 0.0 : 1.0};
  *to.extent = (saltusi_extent){(unsigned char)(known ? 0 : to.order),
                                (unsigned char)(known ? to.order + 1 : 1)};
}

static void compare(saltusi_jet_place to, int op, saltusi_jet x, saltusi_jet y) {
  const saltus_interval a = x.c[0], b = y.c[0];
  truth value = OPEN;
  if (op == SALTUSI_LESS) {
    value = a.hi < b.lo ? TRUE : a.lo >= b.hi ? FALSE : OPEN;
  } else {
    value = a.hi <= b.lo ? TRUE : a.lo > b.hi ? FALSE : OPEN;
  }
  put_truth(to, value, x.extent.degree == 0 && y.extent.degree == 0);
}

static void join(saltusi_jet_place to, int op, saltusi_jet x, saltusi_jet y) {
  const truth a = truth_of(x.c[0]), b = truth_of(y.c[0]);
  const truth decides = op == SALTUSI_AND ? FALSE : TRUE;
  const truth value = a == decides || b == decides ? decides : a == OPEN || b == OPEN ? OPEN : a;
  put_truth(to, value, x.extent.degree == 0 && y.extent.degree == 0);
}

static void negate(saltusi_jet_place to, saltusi_jet x) {
  const truth a = truth_of(x.c[0]);
  put_truth(to, a == OPEN ? OPEN : a == TRUE ? FALSE : TRUE, x.extent.degree == 0);
}

static void choose(saltusi_jet_place to, saltusi_jet condition, saltusi_jet x, saltusi_jet y) {
  const truth value = truth_of(condition.c[0]);
  if (value == OPEN) {
    /* a constant condition of unknown value still selects the same branch everywhere */
    saltusi_jet_either(to, x, y, saltusi_hull(x.c[0], y.c[0]), condition.extent.degree == 0);
  } else {
    saltusi_jet_copy(to, value == TRUE ? x : y);
  }
}

static void absolute(saltusi_jet_place to, saltusi_jet x) {
  const saltus_interval a = x.c[0];
  if (a.lo >= 0.0 && (a.hi > 0.0 || x.extent.degree == 0)) {
    saltusi_jet_copy(to, x);
  } else if (a.hi <= 0.0 && a.lo < 0.0) {
    saltusi_jet_negative(to, x);
  } else {
    saltus_interval turned[2];
    saltusi_jet y = {turned, x.extent};
    turned[0] = saltusi_negative(a);
    if (x.extent.degree > 0 && x.extent.open > 1) {
      turned[1] = saltusi_negative(x.c[1]);
    }
    saltusi_jet_either(to, x, y, (saltus_interval){0.0, saltusi_magnitude(a)}, true);
  }
}

static void sign(saltusi_jet_place to, saltusi_jet x) {
  const saltus_interval a = x.c[0];
  const double lo = a.lo > 0.0 ? 1.0 : a.lo < 0.0 ? -1.0 : 0.0;
  const double hi = a.hi > 0.0 ? 1.0 : a.hi < 0.0 ? -1.0 : 0.0;
  const bool known = (lo == hi && lo != 0.0) || x.extent.degree == 0;
  to.c[0] = (saltus_interval){lo, hi};
  *to.extent = (saltusi_extent){(unsigned char)(known ? 0 : to.order),
                                (unsigned char)(known ? to.order + 1 : 1)};
}

/* max for side = 1, min for side = -1 */
static void extreme(saltusi_jet_place to, int side, saltusi_jet x, saltusi_jet y) {
  const saltus_interval a = side > 0 ? x.c[0] : saltusi_negative(x.c[0]);
  const saltus_interval b = side > 0 ? y.c[0] : saltusi_negative(y.c[0]);
  const bool tie = a.lo == b.hi && a.hi == b.lo && x.extent.degree + y.extent.degree > 0;
  if (a.lo >= b.hi && !tie) {
    saltusi_jet_copy(to, x);
  } else if (b.lo >= a.hi && !tie) {
    saltusi_jet_copy(to, y);
  } else {
    const saltus_interval top = {a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    saltusi_jet_either(to, x, y, side > 0 ? top : saltusi_negative(top), true);
  }
}

static void execute_two(saltusi_jet_place to, unsigned op, saltusi_jet x, saltusi_jet y) {
  switch (op) {
  case SALTUSI_ADD:
    saltusi_jet_sum(to, x, y);
    break;
  case SALTUSI_SUB:
    saltusi_jet_difference(to, x, y);
    break;
  case SALTUSI_MUL:
    saltusi_jet_product(to, x, y);
    break;
  case SALTUSI_DIV:
    saltusi_jet_quotient(to, x, y);
    break;
  case SALTUSI_POW:
    saltusi_jet_pow(to, x, y);
    break;
  case SALTUSI_ATAN2:
    saltusi_jet_atan2(to, x, y);
    break;
  case SALTUSI_MIN:
    extreme(to, -1, x, y);
    break;
  case SALTUSI_MAX:
    extreme(to, 1, x, y);
    break;
  case SALTUSI_HYPOT:
    saltusi_jet_hypot(to, x, y);
    break;
  case SALTUSI_LESS:
  case SALTUSI_LESS_EQUAL:
    compare(to, (int)op, x, y);
    break;
  default: /* AND, OR */
    join(to, (int)op, x, y);
    break;
  }
}

static void execute_one(saltusi_jet_place to, const saltusi_instruction* i, saltusi_jet x) {
  switch (i->op) {
  case SALTUSI_COPY:
    saltusi_jet_copy(to, x);
    break;
  case SALTUSI_NEG:
    saltusi_jet_negative(to, x);
    break;
  case SALTUSI_SQUARE:
    saltusi_jet_power(to, x, 2);
    break;
  case SALTUSI_CUBE:
    saltusi_jet_power(to, x, 3);
    break;
  case SALTUSI_POWI:
    saltusi_jet_power(to, x, (int)i->b);
    break;
  case SALTUSI_ABS:
    absolute(to, x);
    break;
  case SALTUSI_SIGN:
    sign(to, x);
    break;
  case SALTUSI_NOT:
    negate(to, x);
    break;
  default:
    saltusi_jet_function(to, (int)i->op, x);
    break;
  }
}

static int operands(unsigned op) {
  if (op < SALTUSI_OP_COUNT) {
    return saltusi_op_operands((int)op);
  }
  return op == SALTUSI_COPY || op == SALTUSI_SQUARE || op == SALTUSI_CUBE ? 1 : 3;
}

static void execute(const enclose_frame* f, const saltusi_instruction* i) {
  const size_t place = place_of(f, i->to);
  const int order = f->course->order, count = operands(i->op);
  const saltusi_jet_place to = {f->jets + place * (size_t)(order + 1), &f->extents[place], order};
  saltus_interval room[3];
  const saltusi_jet a = load(f, i->a, &room[0]);
  if (count == 1) {
    execute_one(to, i, a);
    return;
  }
  const saltusi_jet b = load(f, i->b, &room[1]);
  if (count == 2) {
    execute_two(to, i->op, a, b);
    return;
  }
  const saltusi_jet c = load(f, i->c, &room[2]);
  if (i->op == SALTUSI_SELECT) {
    choose(to, a, b, c);
  } else {
    saltusi_jet_product_sum(to, a, b, &c, i->op == SALTUSI_SUB_MUL ? -1 : 1,
                            i->op == SALTUSI_MUL_SUB ? -1 : 1);
  }
}

void saltusi_enclose(const saltusi_program* program, const saltus_course* course,
                     saltus_interval* out) {
  assert(program != NULL && course != NULL);
  const int order = course->order;
  const size_t width = (size_t)order + 1;
  const size_t places = (size_t)program->registers + (size_t)program->outputs;
  enclose_frame f = {.program = program, .course = course, .jets = course->scratch};
  f.extents = (saltusi_extent*)(f.jets + places * width);

  for (size_t k = (size_t)program->registers; program->sparse && k < places; k++) {
    f.jets[k * width] = saltusi_exactly(0.0);
    f.extents[k] = (saltusi_extent){0, (unsigned char)(order + 1)};
  }
  for (int i = 0; i < program->length; i++) {
    execute(&f, &program->code[i]);
  }
  for (int k = 0; k < program->outputs; k++) {
    saltusi_jet_write(stored(&f, (size_t)program->registers + (size_t)k), order,
                      out + (size_t)k * width);
  }
}
