/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * straight_line.c - see straight_line.h.
 */
#include "emit/straight_line.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/pool.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORM(name, operands, value) [SALTUSI_##name] = #value,
const char* const saltusi_line_forms[SALTUSI_OP_COUNT] = {
    [SALTUSI_ADD] = "A + B",
    [SALTUSI_SUB] = "A - B",
    [SALTUSI_MUL] = "A * B",
    [SALTUSI_DIV] = "A / B",
    [SALTUSI_NEG] = "-A",
    [SALTUSI_POW] = "pow(A, B)",
    [SALTUSI_SIN] = "sin(A)",
    [SALTUSI_COS] = "cos(A)",
    [SALTUSI_TAN] = "tan(A)",
    [SALTUSI_ASIN] = "asin(A)",
    [SALTUSI_ACOS] = "acos(A)",
    [SALTUSI_ATAN] = "atan(A)",
    [SALTUSI_ATAN2] = "atan2(A, B)",
    [SALTUSI_SINH] = "sinh(A)",
    [SALTUSI_COSH] = "cosh(A)",
    [SALTUSI_TANH] = "tanh(A)",
    [SALTUSI_EXP] = "exp(A)",
    [SALTUSI_LOG] = "log(A)",
    [SALTUSI_LOG10] = "log10(A)",
    [SALTUSI_SQRT] = "sqrt(A)",
    [SALTUSI_ABS] = "fabs(A)",
    [SALTUSI_SIGN] = "A > 0.0 ? 1.0 : A < 0.0 ? -1.0 : A == 0.0 ? 0.0 : A",
    [SALTUSI_MIN] = "A <= B || A != A ? A : B",
    [SALTUSI_MAX] = "A >= B || A != A ? A : B",
    [SALTUSI_HYPOT] = "hypot(A, B)",
    [SALTUSI_LESS] = "A < B ? 1.0 : 0.0",
    [SALTUSI_LESS_EQUAL] = "A <= B ? 1.0 : 0.0",
    [SALTUSI_AND] = "A != 0.0 && B != 0.0 ? 1.0 : 0.0",
    [SALTUSI_OR] = "A != 0.0 || B != 0.0 ? 1.0 : 0.0",
    [SALTUSI_NOT] = "A != 0.0 ? 0.0 : 1.0",
    [SALTUSI_SELECT] = "A != 0.0 ? B : C"};

#define NAME(name, operands, value) [SALTUSI_##name] = #name,
static const char* const op_names[SALTUSI_OP_COUNT] = {SALTUSI_OPS(NAME)};

void saltusi_lines_start(saltusi_line_graph* l, const saltus_allocator* memory, bool exact) {
  assert(l != NULL && memory != NULL);
  *l = (saltusi_line_graph){
      .memory = memory, .exact = exact, .forms = saltusi_line_forms, .type = "double"};
}

void saltusi_lines_free(saltusi_line_graph* l) {
  assert(l != NULL);
  saltusi_release(l->memory, l->nodes, l->room, sizeof *l->nodes);
  saltusi_release(l->memory, l->buckets, l->bucket_count, sizeof *l->buckets);
  l->nodes = NULL;
  l->buckets = NULL;
}

/* ---- nodes ---- */

static uint64_t hash_of(const saltusi_line_node* n) {
  const int key[4] = {n->op, n->a, n->b, n->c};
  uint64_t hash = saltusi_hash(SALTUSI_HASH_START, key, sizeof key);
  hash = saltusi_hash(hash, &n->value, sizeof n->value);
  return saltusi_hash(hash, n->text, sizeof n->text);
}

static bool is_same(const saltusi_line_node* x, const saltusi_line_node* y) {
  uint64_t bits_x, bits_y; /* numbers of equal bits: 0 and -0 differ */
  memcpy(&bits_x, &x->value, sizeof bits_x);
  memcpy(&bits_y, &y->value, sizeof bits_y);
  return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c && bits_x == bits_y &&
         strcmp(x->text, y->text) == 0;
}

/* Doubles the buckets; all nodes are entered again. */
static bool widen(saltusi_line_graph* l) {
  const size_t count = l->bucket_count > 0 ? 4 * l->bucket_count : 1024;
  int* buckets = NULL;
  size_t room = 0;
  if (!saltusi_grow(l->memory, (void**)&buckets, &room, count, sizeof *buckets)) {
    return false;
  }
  saltusi_release(l->memory, l->buckets, l->bucket_count, sizeof *l->buckets);
  l->buckets = buckets;
  l->bucket_count = room;
  while ((l->bucket_count & (l->bucket_count - 1)) != 0) {
    l->bucket_count &= l->bucket_count - 1;
  }
  for (size_t i = 0; i < l->bucket_count; i++) {
    buckets[i] = -1;
  }
  for (size_t i = 0; i < l->count; i++) {
    const size_t at = hash_of(&l->nodes[i]) & (l->bucket_count - 1);
    l->nodes[i].next = buckets[at];
    buckets[at] = (int)i;
  }
  return true;
}

static int intern(saltusi_line_graph* l, const saltusi_line_node* wanted) {
  if (l->failed || (l->count >= l->bucket_count && !widen(l))) {
    l->failed = true;
    return 0;
  }
  const size_t at = hash_of(wanted) & (l->bucket_count - 1);
  for (int i = l->buckets[at]; i >= 0; i = l->nodes[i].next) {
    if (is_same(&l->nodes[i], wanted)) {
      return i;
    }
  }
  if (!saltusi_grow(l->memory, (void**)&l->nodes, &l->room, l->count + 1, sizeof *l->nodes)) {
    l->failed = true;
    return 0;
  }
  l->nodes[l->count] = *wanted;
  l->nodes[l->count].next = l->buckets[at];
  l->buckets[at] = (int)l->count;
  return (int)l->count++;
}

int saltusi_line_number(saltusi_line_graph* l, double value) {
  assert(l != NULL);
  const saltusi_line_node n = {.op = SALTUSI_CONSTANT, .value = value, .a = -1, .b = -1, .c = -1};
  return intern(l, &n);
}

int saltusi_line_leaf(saltusi_line_graph* l, const char* name, int number, unsigned classes) {
  assert(l != NULL && name != NULL);
  saltusi_line_node n = {
      .op = SALTUSI_VARIABLE, .classes = (unsigned char)classes, .a = -1, .b = -1, .c = -1};
  if (number < 0) {
    snprintf(n.text, sizeof n.text, "%s", name);
  } else {
    snprintf(n.text, sizeof n.text, "%s%d%s", name, number,
             name[strlen(name) - 1] == '[' ? "]" : "");
  }
  return intern(l, &n);
}

bool saltusi_line_is(const saltusi_line_graph* l, int node, double value) {
  assert(l != NULL);
  return node >= 0 && (size_t)node < l->count && l->nodes[node].op == SALTUSI_CONSTANT &&
         l->nodes[node].value == value;
}

static bool is_number(const saltusi_line_graph* l, int node) {
  return node < 0 || l->nodes[node].op == SALTUSI_CONSTANT;
}

static bool is_plus_zero(const saltusi_line_graph* l, int node) {
  return saltusi_line_is(l, node, 0.0) && !signbit(l->nodes[node].value);
}

/* Whether a sum is never -0: true for 0 + x and for sums with such a term. */
static bool is_clean(const saltusi_line_graph* l, int node) {
  const saltusi_line_node* n = &l->nodes[node];
  return n->op == SALTUSI_ADD && (n->clean || is_plus_zero(l, n->a) || is_plus_zero(l, n->b));
}

/* The product by a factor of one, or of zero unless the graph is exact; -1: none. */
static int simplify_product(const saltusi_line_graph* l, int a, int b) {
  if (saltusi_line_is(l, a, 1.0) || saltusi_line_is(l, b, 1.0)) {
    return saltusi_line_is(l, a, 1.0) ? b : a;
  }
  const bool zero_a = saltusi_line_is(l, a, 0.0), zero_b = saltusi_line_is(l, b, 0.0);
  return l->exact || (!zero_a && !zero_b) ? -1 : zero_a ? a : b;
}

/* A simpler node of the same value; -1: none. */
static int simplify(saltusi_line_graph* l, int op, int a, int b) {
  const bool zero_a = !l->exact && saltusi_line_is(l, a, 0.0);
  const bool zero_b = !l->exact && saltusi_line_is(l, b, 0.0);
  switch (op) {
  case SALTUSI_ADD:
    return zero_a || (is_plus_zero(l, a) && is_clean(l, b))   ? b
           : zero_b || (is_plus_zero(l, b) && is_clean(l, a)) ? a
                                                              : -1;
  case SALTUSI_SUB:
    return zero_b ? a : zero_a ? saltusi_line_op(l, SALTUSI_NEG, b, -1, -1) : -1;
  case SALTUSI_MUL:
    return simplify_product(l, a, b);
  case SALTUSI_DIV:
    return saltusi_line_is(l, b, 1.0) ? a : zero_a ? a : -1;
  default:
    return -1;
  }
}

int saltusi_line_op(saltusi_line_graph* l, int op, int a, int b, int c) {
  assert(l != NULL && op > SALTUSI_POWI && op < SALTUSI_OP_COUNT);
  if (l->failed) {
    return 0;
  }
  const bool folds = op == SALTUSI_ADD || op == SALTUSI_SUB || op == SALTUSI_MUL ||
                     op == SALTUSI_DIV || op == SALTUSI_NEG || op == SALTUSI_SQRT ||
                     op == SALTUSI_ABS;
  if (folds && is_number(l, a) && is_number(l, b)) {
    return saltusi_line_number(
        l, saltusi_op_value(op, l->nodes[a].value, b >= 0 ? l->nodes[b].value : 0.0, 0.0));
  }
  const int simple = simplify(l, op, a, b);
  if (simple >= 0) {
    return simple;
  }
  if (l->forms[op] == NULL) {
    l->missing = op_names[op];
    l->failed = true;
    return 0;
  }
  const bool turned = (op == SALTUSI_ADD || op == SALTUSI_MUL) && a > b;
  saltusi_line_node n = {.op = (unsigned char)op, .a = turned ? b : a, .b = turned ? a : b, .c = c};
  const int operands[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    n.classes |= operands[i] >= 0 ? l->nodes[operands[i]].classes : 0;
  }
  n.clean = op == SALTUSI_ADD && (is_clean(l, a) || is_clean(l, b));
  return intern(l, &n);
}

int saltusi_line_dot(saltusi_line_graph* l, int count, const int* a, const int* b) {
  assert(l != NULL && count >= 0);
  int sum = saltusi_line_number(l, 0.0);
  for (int i = 0; i < count; i++) {
    if (!saltusi_line_is(l, a[i], 0.0) && !saltusi_line_is(l, b[i], 0.0)) {
      sum = saltusi_line_add(l, sum, saltusi_line_mul(l, a[i], b[i]));
    }
  }
  return sum;
}

/* ---- programs ---- */

/* Whole powers by squaring, in the order of saltusi_whole_power. */
static int power_of(saltusi_line_graph* l, int x, unsigned n) {
  int power = saltusi_line_number(l, 1.0), square = x;
  for (; n > 1; n /= 2) {
    power = n % 2 == 1 ? saltusi_line_mul(l, power, square) : power;
    square = saltusi_line_mul(l, square, square);
  }
  return saltusi_line_mul(l, power, square);
}

static int instruction_node(saltusi_line_graph* l, const saltusi_instruction* in, int a, int b,
                            int c) {
  const unsigned op = in->op;
  switch (op) {
  case SALTUSI_COPY:
    return a;
  case SALTUSI_SQUARE:
  case SALTUSI_CUBE:
  case SALTUSI_POWI:
    return power_of(l, a, op == SALTUSI_SQUARE ? 2 : op == SALTUSI_CUBE ? 3 : in->b);
  case SALTUSI_MUL_ADD:
    return saltusi_line_add(l, saltusi_line_mul(l, a, b), c);
  case SALTUSI_MUL_SUB:
    return saltusi_line_sub(l, saltusi_line_mul(l, a, b), c);
  case SALTUSI_SUB_MUL:
    return saltusi_line_sub(l, c, saltusi_line_mul(l, a, b));
  default: {
    const int operands = saltusi_op_operands((int)op);
    return saltusi_line_op(l, (int)op, a, operands > 1 ? b : -1, operands > 2 ? c : -1);
  }
  }
}

typedef struct line_reader {
  saltusi_line_graph* l;
  const saltusi_program* p;
  const saltusi_line_state* state;
  int *registers, *out;
} line_reader;

static int read_place(const line_reader* r, unsigned place) {
  const unsigned i = place / SALTUSI_ARRAYS;
  switch (place % SALTUSI_ARRAYS) {
  case SALTUSI_IN_CONSTANTS:
    return saltusi_line_number(r->l, r->p->constants[i]);
  case SALTUSI_IN_POSITIONS:
    return r->state->q[i];
  case SALTUSI_IN_VELOCITIES:
    return r->state->v[i];
  case SALTUSI_IN_OUTPUT:
    return r->out[i];
  case SALTUSI_IN_INPUTS:
    return r->state->u[i];
  default:
    return i == 0 ? r->state->t : r->registers[i];
  }
}

static int operand_count(unsigned op) {
  return op == SALTUSI_COPY || op == SALTUSI_SQUARE || op == SALTUSI_CUBE || op == SALTUSI_POWI ? 1
         : op > SALTUSI_OP_COUNT                                                                ? 3
                                 : saltusi_op_operands((int)op);
}

void saltusi_line_program(saltusi_line_graph* l, const saltusi_program* p,
                          const saltusi_line_state* state, int* out) {
  assert(l != NULL && p != NULL && state != NULL && out != NULL);
  int* registers = NULL;
  size_t room = 0;
  if (!saltusi_grow(l->memory, (void**)&registers, &room, (size_t)p->registers + 1,
                    sizeof *registers)) {
    l->failed = true;
    return;
  }
  const line_reader r = {.l = l, .p = p, .state = state, .registers = registers, .out = out};
  const int zero = saltusi_line_number(l, 0.0);
  for (int i = 0; i < p->outputs; i++) {
    out[i] = zero;
  }
  for (int k = 0; k < p->length && !l->failed; k++) {
    const saltusi_instruction* in = &p->code[k];
    const int n = operand_count(in->op);
    const int a = read_place(&r, in->a), b = n > 1 ? read_place(&r, in->b) : -1;
    const int node = instruction_node(l, in, a, b, n > 2 ? read_place(&r, in->c) : -1);
    const unsigned to = in->to / SALTUSI_ARRAYS;
    *(in->to % SALTUSI_ARRAYS == SALTUSI_IN_OUTPUT ? &out[to] : &registers[to]) = node;
  }
  saltusi_release(l->memory, registers, room, sizeof *registers);
}

/* ---- text ---- */

static void put(saltusi_bytes* out, const char* format, ...) SALTUSI_PRINTF(2, 3);
static void put(saltusi_bytes* out, const char* format, ...) {
  char text[128];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  saltusi_bytes_text(out, text);
}

void saltusi_line_value(const saltusi_line_graph* l, saltusi_bytes* out, int node) {
  assert(l != NULL && out != NULL);
  if (l->failed || node < 0) {
    return;
  }
  const saltusi_line_node* n = &l->nodes[node];
  if (n->op == SALTUSI_VARIABLE) {
    put(out, "%s", n->text);
  } else if (n->op != SALTUSI_CONSTANT) {
    put(out, "x%d", node);
  } else if (isnan(n->value) || isinf(n->value)) {
    put(out, isnan(n->value) ? "NAN" : n->value > 0.0 ? "INFINITY" : "(-INFINITY)");
  } else {
    put(out, signbit(n->value) ? "(%a)" : "%a", n->value);
  }
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void write_node(saltusi_line_graph* l, saltusi_bytes* out, int i, const char* indent) {
  const saltusi_line_node* n = &l->nodes[i];
  const char* form = l->forms[n->op];
  put(out, "%sconst %s x%d = ", indent, l->type, i);
  for (const char* c = form; *c != '\0'; c++) {
    const bool alone = *c >= 'A' && *c <= 'C' && !is_word(c[1]) && (c == form || !is_word(c[-1]));
    if (alone) {
      saltusi_line_value(l, out, *c == 'A' ? n->a : *c == 'B' ? n->b : n->c);
    } else {
      saltusi_bytes_add(out, c, 1);
    }
    l->operations += strchr("+-*/<>?=", *c) != NULL;
  }
  l->calls += strchr(form, '(') != NULL;
  saltusi_bytes_text(out, ";\n");
}

static void need(saltusi_line_graph* l, int node) {
  if (node >= 0 && l->nodes[node].op != SALTUSI_CONSTANT && l->nodes[node].op != SALTUSI_VARIABLE &&
      l->nodes[node].scope == 0) {
    l->nodes[node].needed = true;
  }
}

void saltusi_lines_write(saltusi_line_graph* l, saltusi_bytes* out, const int* roots, size_t count,
                         unsigned classes, int scope, const char* indent) {
  assert(l != NULL && out != NULL && scope > 0 && indent != NULL);
  for (size_t i = 0; i < count && !l->failed; i++) {
    need(l, roots[i]);
  }
  for (size_t i = l->count; i > 0 && !l->failed; i--) {
    const saltusi_line_node* n = &l->nodes[i - 1];
    if (n->needed) {
      need(l, n->a);
      need(l, n->b);
      need(l, n->c);
    }
  }
  for (size_t i = 0; i < l->count && !l->failed; i++) {
    saltusi_line_node* n = &l->nodes[i];
    if (n->needed && (n->classes & ~classes) == 0) {
      write_node(l, out, (int)i, indent);
      n->scope = scope;
    }
    n->needed = false;
  }
}

void saltusi_lines_close(saltusi_line_graph* l, int scope) {
  assert(l != NULL && scope > 0);
  for (size_t i = 0; i < l->count; i++) {
    l->nodes[i].scope = l->nodes[i].scope >= scope ? 0 : l->nodes[i].scope;
  }
}
