/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * parse.c - precedence climbing. Nesting is counted, so that no text can exhaust the stack; chains
 * like a + b + c + ... are loops and may be as long as the text.
 */
#include "formula/parse.h"

#include "base/number.h"
#include "base/suggest.h"
#include "formula/derive.h"
#include "formula/functions.h"
#include "formula/lex.h"
#include "formula/message.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_POWER };
enum { ARGUMENTS_MOST = 129 };

typedef struct parser {
  const saltusi_scope* scope;
  const saltus_formula_text* formula;
  unsigned allowed;
  size_t next; /* offset of the token after `token` */
  saltusi_token token;
  int nesting;
  bool failed;
} parser;

/* A parsed expression, and whether it is a condition instead of a number. */
typedef struct operand {
  saltusi_expr expr;
  bool condition;
  size_t offset;
} operand;

static operand parse_level(parser* p, int level);

static void advance(parser* p) {
  p->token = saltusi_lex(p->formula->text, &p->next);
}

/* Reports the first error only; later ones are consequences. */
static void fail(parser* p, size_t offset, const char* format, ...) SALTUSI_PRINTF(3, 4);
static void fail(parser* p, size_t offset, const char* format, ...) {
  char text[400];
  va_list values;
  if (p->failed) {
    return;
  }
  va_start(values, format);
  saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  saltusi_formula_error(p->scope->log, p->formula, offset, "%s", text);
  p->failed = true;
}

/* Reports a character that is not allowed. */
static void unexpected_character(parser* p, size_t offset, const char* text) {
  if (*text > ' ' && *text < 127) {
    fail(p, offset, "unexpected character \"%c\"%s", *text,
         *text == '=' ? "; comparisons are < <= > >=" : "");
  } else if ((unsigned char)*text >= 0xC0) { /* the whole character, whatever its length */
    int bytes = 1;
    while (bytes < 4 && ((unsigned char)text[bytes] & 0xC0) == 0x80) {
      bytes++;
    }
    fail(p, offset, "unexpected character \"%.*s\"", bytes, text);
  } else {
    fail(p, offset, "unexpected character (byte 0x%02X)", (unsigned)(unsigned char)*text);
  }
}

/* Reports an unexpected token. */
static void unexpected(parser* p) {
  const saltusi_token* t = &p->token;
  const char* text = p->formula->text + t->offset;
  switch (t->kind) {
  case SALTUSI_TOKEN_END:
    fail(p, t->offset, "the formula ends too early");
    break;
  case SALTUSI_TOKEN_LONG:
    fail(p, t->offset, "%s is too long",
         (*text >= '0' && *text <= '9') || *text == '.' ? "number" : "name");
    break;
  case SALTUSI_TOKEN_BAD:
    unexpected_character(p, t->offset, text);
    break;
  default:
    if (t->kind == '*' && t->offset > 0 && text[-1] == '*') {
      fail(p, t->offset, "unexpected \"*\"; powers are written with ^");
    } else {
      fail(p, t->offset, "unexpected \"%.*s\"", (int)(t->end - t->offset), text);
    }
  }
}

static saltusi_expr number_of(parser* p, operand x) {
  if (x.condition) {
    fail(p, x.offset, "a condition stands where a number is needed");
  }
  return x.expr;
}

static saltusi_expr condition_of(parser* p, operand x) {
  if (!x.condition) {
    fail(p, x.offset, "a number stands where a condition is needed, such as x > 0");
  }
  return x.expr;
}

/* The nearest of all names and functions, of functions only for a call; names of the model are preferred at a tie. */
static const char* nearest(const parser* p, const char* name, bool call) {
  const saltusi_names* names = p->scope->names;
  const char* pair[2] = {NULL, NULL}; /* the best candidate so far and the next one */
  for (int i = 0; !call && i < names->count; i++) {
    pair[1] = names->items[i].text;
    pair[0] = saltusi_suggest(name, pair, 2);
  }
  for (int i = 0; saltusi_function_at(i) != NULL; i++) {
    pair[1] = saltusi_function_at(i)->name;
    pair[0] = saltusi_suggest(name, pair, 2);
  }
  pair[1] = call ? NULL : "pi";
  return saltusi_suggest(name, pair, 2);
}

static void unknown(parser* p, const saltusi_token* name, bool call) {
  const char* near = nearest(p, name->name, call);
  fail(p, name->offset, "unknown %s \"%s\"%s%s%s", call ? "function" : "name", name->name,
       near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
       near != NULL ? "\"?" : "");
}

static saltusi_expr velocity(parser* p, const saltusi_token* t) {
  const saltusi_name* found = saltusi_names_find(p->scope->names, t->name);
  if (found == NULL && !saltusi_word_reserved(t->name)) {
    unknown(p, t, false);
  } else if (found == NULL || found->kind != SALTUSI_COORDINATE) {
    fail(p, t->offset, "\"%s'\" is the velocity of something that is not a coordinate", t->name);
  } else if (t->primes > 1) {
    fail(p, t->offset, "accelerations such as \"%s''\" may not occur in formulas", t->name);
  } else if ((p->allowed & SALTUSI_ON_VELOCITY) == 0) {
    fail(p, t->offset, "velocities are not allowed here%s",
         p->allowed == 0 ? ": a constant is required" : "");
  } else {
    return saltusi_velocity(p->scope->graph, found->index);
  }
  return 0;
}

/* "x, y, angle" */
static const char* list_parts(const parser* p, int thing, char* text, size_t bytes) {
  const saltusi_scene_objects* things = p->scope->things;
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; things->part_at(things->self, thing, i) != NULL && used < bytes; i++) {
    const int added = snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "",
                               things->part_at(things->self, thing, i));
    used += added > 0 ? (size_t)added : 0;
  }
  return text;
}

/* The object named before the first point; NULL after a message. */
static const saltusi_name* find_thing(parser* p, const saltusi_token* t) {
  saltusi_token first = *t;
  first.name[strcspn(first.name, ".")] = '\0';
  const saltusi_name* found = saltusi_names_find(p->scope->names, first.name);
  if (found == NULL && p->scope->things == NULL && p->allowed == 0) {
    fail(p, t->offset, "\"%s\" is not allowed here: a constant is required", t->name);
  } else if (found == NULL && p->allowed == SALTUSI_ON_TIME) {
    fail(p, t->offset, "\"%s\" is not allowed here: a formula of time is required", t->name);
  } else if (found == NULL && !saltusi_word_reserved(first.name)) {
    unknown(p, &first, false);
  } else if (found == NULL || found->kind != SALTUSI_THING) {
    fail(p, t->offset, "\"%s\" is no body, marker or joint: it has no part \"%s\"", first.name,
         t->name + strlen(first.name) + (t->name[strlen(first.name)] == '.'));
  } else if (p->scope->without_things != NULL) {
    fail(p, t->offset, "%s", p->scope->without_things);
  } else {
    return found;
  }
  return NULL;
}

/* Rejects a quantity that is not allowed here; the message names it. */
static void check_part(parser* p, const saltusi_token* t, saltusi_part_kind kind, saltusi_expr e) {
  const unsigned more = saltusi_depends(p->scope->graph, e) & ~p->allowed;
  if (kind == SALTUSI_PART_RESULT && !p->scope->results) {
    fail(p, t->offset,
         "\"%s\" is a result of the motion: it follows from the forces and cannot stand in "
         "what they follow from; outputs may name it",
         t->name);
  } else if (t->primes > 1 || (t->primes > 0 && kind != SALTUSI_PART_POSITION)) {
    fail(p, t->offset,
         "\"%s%s\" is an acceleration or a rate of a result, which formulas do not have", t->name,
         t->primes > 1 ? "\'\'" : "\'");
  } else if (more != 0 && p->allowed == 0) {
    fail(p, t->offset, "\"%s\" is not allowed here: a constant is required", t->name);
  } else if ((more & SALTUSI_ON_VELOCITY) != 0) {
    fail(p, t->offset, "velocities are not allowed here");
  } else if (more != 0) {
    fail(p, t->offset, "\"%s\" moves and is not allowed here: a formula of time is required",
         t->name);
  }
}

/* body.x, marker.y', hinge.force.x */
static saltusi_expr part_of(parser* p, const saltusi_token* t) {
  saltusi_graph* g = p->scope->graph;
  const saltusi_scene_objects* things = p->scope->things;
  const saltusi_name* thing = find_thing(p, t);
  if (thing == NULL) {
    return 0;
  }
  const char* part = t->name + strlen(thing->text) + 1;
  saltusi_expr e = g->zero;
  const saltusi_part_kind kind = things->part(things->self, g, thing->index, part, &e);
  char all[256];
  if (kind == SALTUSI_PART_NONE) {
    const char* why = things->lacks(things->self, thing->index, part);
    fail(p, t->offset, "%s \"%s\" has no part \"%s\"%s%s; it has %s",
         things->kind(things->self, thing->index), thing->text, part, why != NULL ? ": " : "",
         why != NULL ? why : "", list_parts(p, thing->index, all, sizeof all));
    return 0;
  }
  if (kind == SALTUSI_PART_POSITION && t->primes == 1) {
    e = saltusi_rate(g, e);
  }
  check_part(p, t, kind, e);
  return e;
}

static saltusi_expr bare_thing(parser* p, const saltusi_token* t, const saltusi_name* found) {
  char all[256];
  fail(p, t->offset, "%s \"%s\" is no number; it has the parts %s",
       p->scope->things->kind(p->scope->things->self, found->index), t->name,
       list_parts(p, found->index, all, sizeof all));
  return 0;
}

/* Input i, or value + slope (t - since). */
static saltusi_expr input_value(parser* p, int i) {
  saltusi_graph* g = p->scope->graph;
  const int n = p->scope->ramps;
  if (n == 0) {
    return saltusi_input(g, i);
  }
  const saltusi_expr passed = saltusi_sub(g, saltusi_time(), saltusi_input(g, 2 * n));
  return saltusi_add(g, saltusi_input(g, i), saltusi_mul(g, saltusi_input(g, n + i), passed));
}

static saltusi_expr plain_name(parser* p, const saltusi_token* t) {
  saltusi_graph* g = p->scope->graph;
  if (strchr(t->name, '.') != NULL) {
    return part_of(p, t);
  }
  if (t->primes > 0) {
    return velocity(p, t);
  }
  if (strcmp(t->name, "pi") == 0) {
    return saltusi_constant(g, 3.14159265358979323846);
  }
  if (strcmp(t->name, "t") == 0) {
    if ((p->allowed & SALTUSI_ON_TIME) == 0) {
      fail(p, t->offset, "time t is not allowed here: a constant is required");
    }
    return saltusi_time();
  }
  const saltusi_name* found = saltusi_names_find(p->scope->names, t->name);
  if (found != NULL && found->kind == SALTUSI_PARAMETER) {
    if (found->varies && p->allowed == 0) {
      fail(p, t->offset, "\"%s\" differs between members: a constant is required", t->name);
    }
    return found->varies ? found->expr : saltusi_constant(g, found->value);
  }
  if (found != NULL && found->kind == SALTUSI_THING) {
    return bare_thing(p, t, found);
  }
  if (found != NULL && found->kind == SALTUSI_INPUT) {
    if (p->allowed == 0) {
      fail(p, t->offset, "input \"%s\" is not allowed here: a constant is required", t->name);
    } else if (p->scope->without_inputs != NULL) {
      fail(p, t->offset, "input \"%s\" is not allowed here: %s", t->name, p->scope->without_inputs);
    }
    return input_value(p, found->index);
  }
  if (found != NULL) {
    if ((p->allowed & SALTUSI_ON_POSITION) == 0) {
      fail(p, t->offset, "coordinate \"%s\" is not allowed here: a constant is required", t->name);
    }
    return saltusi_position(found->index);
  }
  if (saltusi_function_find(t->name) != NULL) {
    fail(p, t->offset, "\"%s\" is a function and needs arguments in parentheses", t->name);
  } else {
    unknown(p, t, false);
  }
  return 0;
}

static void expect_close(parser* p, size_t open) {
  if (p->token.kind == ')') {
    advance(p);
  } else if (p->token.kind == SALTUSI_TOKEN_END) {
    fail(p, open, "parenthesis \"(\" is never closed");
  } else {
    unexpected(p);
  }
}

static const char* plural(int count) {
  return count == 1 ? "" : "s";
}

static void check_count(parser* p, const saltusi_token* name, const saltusi_function* f,
                        int count) {
  if (f->op == SALTUSI_PIECEWISE && count % 2 == 0) {
    fail(p, name->offset,
         "piecewise takes condition, value, ..., otherwise: an odd number of arguments, not %d",
         count);
  } else if (f->op == SALTUSI_TABLE && count % 2 == 0) {
    fail(p, name->offset,
         "lookup takes x and then points x1, y1, x2, y2, ...: an odd number of "
         "arguments, not %d",
         count);
  } else if (f->least == f->most && count != f->least) {
    fail(p, name->offset, "%s takes %d argument%s, not %d", f->name, f->least, plural(f->least),
         count);
  } else if (count < f->least || count > f->most) {
    fail(p, name->offset, "%s takes %d to %d arguments, not %d", f->name, f->least, f->most, count);
  }
}

/* After name and "(": the two objects of dist, angle and x_in; with a prime, the rate. */
static saltusi_expr thing_call(parser* p, const saltusi_token* name, int function, size_t open) {
  const saltusi_scene_objects* things = p->scope->things;
  int which[2] = {0, 0};
  for (int k = 0; k < 2 && !p->failed; k++) {
    advance(p); /* behind the parenthesis or the comma */
    const saltusi_token t = p->token;
    if (t.kind != SALTUSI_TOKEN_NAME || t.primes > 0 || strchr(t.name, '.') != NULL) {
      fail(p, t.offset, "%s takes the names of two markers or bodies", name->name);
      return 0;
    }
    const saltusi_name* thing = find_thing(p, &t);
    which[k] = thing != NULL ? thing->index : 0;
    advance(p);
    if (k == 0 && p->token.kind != ',') {
      fail(p, p->token.offset, "%s takes the names of two markers or bodies", name->name);
    }
  }
  if (p->failed) {
    return 0;
  }
  expect_close(p, open);
  saltusi_expr e = p->failed ? 0 : things->call(things->self, p->scope->graph, function, which);
  const bool moves = e >= 0 && (saltusi_depends(p->scope->graph, e) & SALTUSI_ON_VELOCITY) != 0;
  e = name->primes > 0 && e >= 0 && !moves ? saltusi_rate(p->scope->graph, e) : e;
  if (name->primes > 0 && moves) {
    fail(p, name->offset, "%s' is an acceleration, which formulas do not have", name->name);
  } else if (e >= 0 && moves && (p->allowed & SALTUSI_ON_VELOCITY) == 0 && p->allowed != 0) {
    fail(p, name->offset, "velocities are not allowed here");
  } else if (e < 0) {
    fail(p, name->offset, "%s takes the names of two markers or bodies", name->name);
  } else if ((saltusi_depends(p->scope->graph, e) & ~p->allowed) != 0) {
    fail(p, name->offset, "%s is not allowed here: %s is required", name->name,
         p->allowed == 0 ? "a constant" : "a formula of time");
  }
  return p->failed ? 0 : e;
}

/* After name and "(". */
static saltusi_expr call(parser* p, const saltusi_token* name, size_t open) {
  saltusi_expr arguments[ARGUMENTS_MOST];
  int count = 0;
  const saltusi_function* f = name->primes > 0 ? NULL : saltusi_function_find(name->name);
  const int of_things = name->primes > 1 ? -1 : saltusi_scene_object_function_find(name->name);
  if (of_things >= 0 && saltusi_names_find(p->scope->names, name->name) == NULL) {
    return thing_call(p, name, of_things, open);
  }
  if (f == NULL) {
    if (saltusi_names_find(p->scope->names, name->name) != NULL ||
        saltusi_word_reserved(name->name)) {
      fail(p, name->offset, "\"%s\" is not a function; a product is written with *", name->name);
    } else {
      unknown(p, name, true);
    }
    return 0;
  }
  advance(p);
  while (p->token.kind != ')' && !p->failed) {
    operand x = parse_level(p, LEVEL_OR);
    bool condition = f->op == SALTUSI_PIECEWISE && count % 2 == 0 && p->token.kind == ',';
    if (count < ARGUMENTS_MOST) {
      arguments[count] = condition ? condition_of(p, x) : number_of(p, x);
    }
    count++;
    if (p->token.kind != ',') {
      break;
    }
    advance(p);
    if (p->token.kind == ')') {
      unexpected(p);
    }
  }
  expect_close(p, open);
  if (!p->failed) {
    check_count(p, name, f, count);
  }
  for (int i = 3; i < count && f->op == SALTUSI_TABLE && !p->failed; i += 2) {
    const saltusi_graph* g = p->scope->graph;
    const bool known =
        saltusi_is_constant(g, arguments[i]) && saltusi_is_constant(g, arguments[i - 2]);
    if (!known || !(g->nodes[arguments[i]].value > g->nodes[arguments[i - 2]].value)) {
      fail(p, name->offset, "x%d of lookup has to be a constant above x%d", (i + 1) / 2,
           (i - 1) / 2);
    }
  }
  return p->failed ? 0 : saltusi_function_call(p->scope->graph, f, arguments, count);
}

static operand parse_name(parser* p) {
  saltusi_token name = p->token;
  advance(p);
  if (p->token.kind == '(') {
    return (operand){call(p, &name, p->token.offset), false, name.offset};
  }
  return (operand){plain_name(p, &name), false, name.offset};
}

/* A number, a name, a call, a parenthesis, or one of these with a sign or `not` in front. */
static operand parse_front(parser* p) {
  saltusi_graph* g = p->scope->graph;
  const size_t offset = p->token.offset;
  operand x = {0, false, offset};
  switch (p->token.kind) {
  case SALTUSI_TOKEN_NUMBER:
    if (!isfinite(p->token.value)) {
      fail(p, offset, "number is too large");
    }
    x.expr = saltusi_constant(g, p->token.value);
    advance(p);
    return x;
  case SALTUSI_TOKEN_NAME:
    return parse_name(p);
  case '(':
    advance(p);
    x = parse_level(p, LEVEL_OR);
    expect_close(p, offset);
    x.offset = offset;
    return x;
  case '-':
    advance(p);
    x.expr = saltusi_neg(g, number_of(p, parse_level(p, LEVEL_POWER)));
    return x;
  case '+':
    advance(p);
    x.expr = number_of(p, parse_level(p, LEVEL_POWER));
    return x;
  case SALTUSI_TOKEN_NOT:
    advance(p);
    x.expr = saltusi_apply(g, SALTUSI_NOT, condition_of(p, parse_level(p, LEVEL_COMPARE)), 0, 0);
    x.condition = true;
    return x;
  default:
    unexpected(p);
    return x;
  }
}

static int level_of(int kind) {
  switch (kind) {
  case SALTUSI_TOKEN_OR:
    return LEVEL_OR;
  case SALTUSI_TOKEN_AND:
    return LEVEL_AND;
  case '<':
  case '>':
  case SALTUSI_TOKEN_AT_MOST:
  case SALTUSI_TOKEN_AT_LEAST:
    return LEVEL_COMPARE;
  case '+':
  case '-':
    return LEVEL_SUM;
  case '*':
  case '/':
    return LEVEL_PRODUCT;
  case '^':
    return LEVEL_POWER;
  default:
    return 0;
  }
}

static saltusi_expr combine_numbers(saltusi_graph* g, int kind, saltusi_expr a, saltusi_expr b) {
  switch (kind) {
  case '+':
    return saltusi_add(g, a, b);
  case '-':
    return saltusi_sub(g, a, b);
  case '*':
    return saltusi_mul(g, a, b);
  case '/':
    return saltusi_div(g, a, b);
  case '^':
    return saltusi_pow(g, a, b);
  case '<':
    return saltusi_apply(g, SALTUSI_LESS, a, b, 0);
  case '>':
    return saltusi_apply(g, SALTUSI_LESS, b, a, 0);
  case SALTUSI_TOKEN_AT_MOST:
    return saltusi_apply(g, SALTUSI_LESS_EQUAL, a, b, 0);
  default:
    return saltusi_apply(g, SALTUSI_LESS_EQUAL, b, a, 0);
  }
}

static operand combine(parser* p, const saltusi_token* sign, operand a, operand b) {
  saltusi_graph* g = p->scope->graph;
  int level = level_of(sign->kind);
  if (level <= LEVEL_AND) {
    int op = level == LEVEL_AND ? SALTUSI_AND : SALTUSI_OR;
    saltusi_expr left = condition_of(p, a), right = condition_of(p, b);
    return (operand){saltusi_apply(g, op, left, right, 0), true, a.offset};
  }
  if (level == LEVEL_COMPARE && a.condition) {
    fail(p, sign->offset, "comparisons do not chain; write a < b and b < c");
  }
  saltusi_expr left = number_of(p, a), right = number_of(p, b);
  return (operand){combine_numbers(g, sign->kind, left, right), level == LEVEL_COMPARE, a.offset};
}

/* Parses operators of precedence `level` and above. */
static operand parse_level(parser* p, int level) {
  if (++p->nesting > SALTUSI_NESTING_MOST) {
    fail(p, p->token.offset, "nested too deeply, more than %d levels", SALTUSI_NESTING_MOST);
  }
  operand left = {0, false, p->token.offset};
  if (!p->failed) {
    left = parse_front(p);
  }
  while (!p->failed && level_of(p->token.kind) >= level) {
    saltusi_token sign = p->token;
    int own = level_of(sign.kind);
    advance(p);
    operand right = parse_level(p, own == LEVEL_POWER ? own : own + 1);
    if (!p->failed) {
      left = combine(p, &sign, left, right);
    }
  }
  p->nesting--;
  return left;
}

static void expect_end(parser* p) {
  switch (p->token.kind) {
  case SALTUSI_TOKEN_END:
    break;
  case ')':
    fail(p, p->token.offset, "parenthesis \")\" was never opened");
    break;
  case '(':
  case SALTUSI_TOKEN_NUMBER:
  case SALTUSI_TOKEN_NAME:
    fail(p, p->token.offset, "an operator is missing before this");
    break;
  default:
    unexpected(p);
  }
}

saltus_status saltusi_parse(const saltusi_scope* scope, const saltus_formula_text* formula,
                            unsigned allowed, saltusi_expr* out) {
  assert(scope != NULL && formula != NULL && out != NULL);
  parser p = {.scope = scope, .formula = formula, .allowed = allowed};
  *out = 0;
  if (formula->text == NULL || strlen(formula->text) > SALTUSI_TEXT_LONGEST) {
    saltusi_formula_complain(scope->log, SALTUS_LEVEL_ERROR, formula, "the formula is %s",
                             formula->text == NULL ? "missing" : "longer than 1048576 characters");
    return SALTUS_ERR_INPUT;
  }
  advance(&p);
  if (p.token.kind == SALTUSI_TOKEN_END) {
    fail(&p, p.token.offset, "empty formula");
  }
  operand x = parse_level(&p, LEVEL_OR);
  if (!p.failed) {
    expect_end(&p);
  }
  if (!p.failed && x.condition) {
    fail(&p, x.offset, "a condition is no value; use piecewise(condition, value, otherwise)");
  }
  *out = x.expr;
  return p.failed ? SALTUS_ERR_INPUT : scope->graph->status;
}

saltus_status saltusi_parse_constant(const saltusi_scope* scope, const saltus_formula_text* formula,
                                     double* value) {
  assert(scope != NULL && formula != NULL);
  saltusi_expr e;
  saltus_status status = saltusi_parse(scope, formula, 0, &e);
  if (status != SALTUS_OK) {
    return status;
  }
  *value = scope->graph->nodes[e].value;
  if (!isfinite(*value)) {
    saltusi_formula_error(scope->log, formula, strspn(formula->text, " \t\r\n"),
                          "the value is %s, not a finite number",
                          isnan(*value) ? "undefined" : "infinite");
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}
