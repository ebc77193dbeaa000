/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_signal.c - see formula_signal.h.
 */
#include "model/formula_signal.h"

#include "formula/derive.h"
#include "formula/enclose.h"
#include "formula/message.h"
#include "model/formula_model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Signals are evaluated inside other callbacks, which provide no workspace: it is on the stack. */
enum { REGISTERS_MOST = 512, ENCLOSE_BYTES = 32 * 1024 };

typedef struct signal {
  saltus_formula_text text;
  saltusi_program values; /* [3] value, first and second derivative */
  saltusi_program value;
} signal;

void saltusi_formula_signal_evaluate(const void* self, double t, double out[3]) {
  assert(self != NULL && out != NULL);
  const signal* s = self;
  double scratch[REGISTERS_MOST];
  saltusi_run(&s->values, t, NULL, NULL, scratch, out);
}

saltus_formula_text saltusi_formula_signal_text(const void* self) {
  assert(self != NULL);
  const signal* s = self;
  return s->text;
}

const struct saltusi_program* saltusi_formula_signal_values(const void* self) {
  assert(self != NULL && ((const signal*)self)->values.outputs == 3);
  return &((const signal*)self)->values;
}

static void along(const void* self, int order, const saltus_interval* t, saltus_interval* out) {
  const signal* s = self;
  _Alignas(SALTUS_ALIGNMENT) unsigned char scratch[ENCLOSE_BYTES];
  if (saltusi_enclose_bytes(&s->value) <= sizeof scratch) {
    const saltus_course course = {.order = order, .t = t, .scratch = scratch};
    saltusi_enclose(&s->value, &course, out);
    return;
  }
  for (int k = 0; k <= order; k++) {
    out[k] = (saltus_interval){-INFINITY, INFINITY};
  }
}

bool saltusi_formula_signal_known(saltusi_formula_constants* constants,
                                  const saltus_formula_text* formula) {
  assert(constants != NULL && formula != NULL);
  saltusi_scope scope = saltusi_formula_constants_builder(constants)->scope;
  scope.log = (saltus_log){0};
  saltusi_expr e;
  return saltusi_parse(&scope, formula, SALTUSI_ON_TIME, &e) == SALTUS_OK;
}

saltus_status saltusi_formula_signal_make(saltusi_formula_constants* constants,
                                          const saltus_formula_text* formula, bool moves,
                                          saltusi_pool* pool, saltus_signal* out) {
  assert(constants != NULL && formula != NULL && out != NULL);
  saltusi_formula_builder* b = saltusi_formula_constants_builder(constants);
  saltusi_graph* g = &b->graph;
  saltusi_scope scope = b->scope;
  scope.without_inputs = moves ? "what it moves would jump with it" : NULL;
  saltusi_expr e;
  saltus_status status = saltusi_parse(&scope, formula, SALTUSI_ON_TIME, &e);
  if (status != SALTUS_OK) {
    return status;
  }
  *out = (saltus_signal){0};
  if (saltusi_is_constant(g, e)) { /* includes functions of time with a factor 0 */
    out->value = g->nodes[e].value;
    return isfinite(out->value) ? SALTUS_OK
                                : saltusi_parse_constant(&b->scope, formula, &out->value);
  }
  signal* s = SALTUSI_TAKE(pool, signal, 1);
  if (s == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  s->text = *formula;
  const saltusi_expr rate = saltusi_rate(g, e);
  const saltusi_output outputs[3] = {{0, e}, {1, rate}, {2, saltusi_rate(g, rate)}};
  status = saltusi_compile(g, outputs, 3, 3, pool, &s->values);
  status = status == SALTUS_OK ? saltusi_compile(g, outputs, 1, 1, pool, &s->value) : status;
  if (status == SALTUS_OK && s->values.registers > REGISTERS_MOST) {
    saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, formula,
                             "the formula keeps %d values at a time, allowed are %d",
                             s->values.registers, REGISTERS_MOST);
    return SALTUS_ERR_INPUT;
  }
  *out = (saltus_signal){.evaluate = saltusi_formula_signal_evaluate, .along = along, .self = s};
  return status;
}

/* ---- forces along a coordinate ---- */

void saltusi_formula_law_evaluate(const void* self, double t, double x, double rate,
                                  double out[3]) {
  assert(self != NULL && out != NULL);
  double scratch[REGISTERS_MOST];
  saltusi_run(self, t, &x, &rate, scratch, out);
}

/* The text with the name NAME_PART in place of NAME.PART, of the same length. */
static const char* renamed(const char* text, const char* coordinate, saltusi_pool* pool) {
  char* own = saltusi_pool_text(pool, text);
  const size_t length = strlen(coordinate);
  const char* dot = strchr(coordinate, '.');
  for (char* at = own; at != NULL && (at = strstr(at, coordinate)) != NULL; at += length) {
    at[dot - coordinate] = '_';
  }
  return own;
}

bool saltusi_formula_law_make(const saltus_formula_def* def, const saltus_formula_text* formula,
                              const char* coordinate, saltusi_pool* pool, const void** self) {
  assert(def != NULL && formula != NULL && coordinate != NULL && self != NULL);
  const saltus_formula_coordinate own = {.name = renamed(coordinate, coordinate, pool)};
  saltus_formula_text text = *formula;
  text.text = renamed(formula->text, coordinate, pool);
  const saltus_formula_def alone = {.parameters = def->parameters,
                                    .parameter_count = def->parameter_count,
                                    .input_names = def->input_names,
                                    .input_values = def->input_values,
                                    .input_count = def->input_count,
                                    .members = def->members,
                                    .ramps = def->ramps,
                                    .coordinates = &own,
                                    .coordinate_count = 1};
  saltusi_program* program = SALTUSI_TAKE(pool, saltusi_program, 1);
  saltusi_formula_builder b;
  saltusi_expr e = 0;
  /* forces that act as dry friction have a set-valued form, formula_signs.c */
  if (program == NULL || own.name == NULL || text.text == NULL ||
      strstr(text.text, "sign") != NULL || strstr(text.text, "abs") != NULL) {
    return false;
  }
  saltus_status status = saltusi_formula_builder_start(&b, &alone, 0);
  status = status == SALTUS_OK ? saltusi_formula_names(&b) : status;
  status = status == SALTUS_OK ? saltusi_parse(&b.scope, &text, SALTUSI_ON_ANY, &e) : status;
  if (status == SALTUS_OK) {
    saltusi_output outputs[3] = {{0, e}};
    int count = 1;
    const saltusi_graph_span span =
        saltusi_gradient(&b.graph, e, SALTUSI_ON_POSITION | SALTUSI_ON_VELOCITY);
    for (int k = 0; k < span.count; k++) {
      const saltusi_entry entry = b.graph.entries[span.first + k];
      const int place = entry.variable == saltusi_velocity(&b.graph, 0) ? 2 : 1;
      outputs[count++] = (saltusi_output){place, entry.expr};
    }
    status = saltusi_compile(&b.graph, outputs, count, 3, pool, program);
  }
  saltusi_formula_builder_free(&b);
  *self = program;
  return status == SALTUS_OK && program->registers <= REGISTERS_MOST;
}
