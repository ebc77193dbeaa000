/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_names.c - the names of a formula model, and parameters in the order of their dependences.
 *
 * Parameters are visited depth first with an explicit stack, so that long chains of definitions cause no deep
 * recursion.
 */
#include "formula/functions.h"
#include "formula/lex.h"
#include "formula/message.h"
#include "model/formula_model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

saltus_formula_text saltusi_formula_called(saltusi_formula_builder* b,
                                           const saltus_formula_text* formula, const char* kind,
                                           const char* name) {
  assert(b != NULL && formula != NULL && kind != NULL);
  saltus_formula_text f = *formula;
  if (f.what == NULL) {
    char text[128];
    snprintf(text, sizeof text, name != NULL ? "%s \"%.63s\"" : "%s", kind, name);
    f.what = saltusi_pool_text(&b->work, text);
  }
  return f;
}

static saltus_status complain(saltusi_formula_builder* b, const saltus_formula_text* formula,
                              const char* kind, const char* name, const char* trouble) {
  saltus_formula_text f = *formula;
  f.what = NULL; /* the error is in the name, not in the formula */
  f = saltusi_formula_called(b, &f, kind, name != NULL ? name : "");
  saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f, "%s", trouble);
  return SALTUS_ERR_INPUT;
}

static saltus_status add_name(saltusi_formula_builder* b, const saltus_formula_text* formula,
                              const char* kind, saltusi_name name) {
  if (name.text == NULL || !saltusi_name_valid(name.text)) {
    return complain(b, formula, kind, name.text,
                    "a name is made of letters, digits and underscores, does not start with a "
                    "digit and has at most 63 characters");
  }
  if (saltusi_function_find(name.text) != NULL) {
    return complain(b, formula, kind, name.text, "this is the name of a function");
  }
  if (saltusi_word_reserved(name.text)) {
    return complain(b, formula, kind, name.text,
                    strcmp(name.text, "t") == 0    ? "this is the name of time"
                    : strcmp(name.text, "pi") == 0 ? "this is the name of the number pi"
                                                   : "this word joins conditions");
  }
  const saltusi_name* found = saltusi_names_find(&b->names, name.text);
  if (found != NULL) {
    char text[64];
    snprintf(text, sizeof text, "a %s has this name",
             found->kind == SALTUSI_THING        ? saltusi_formula_bodies_kind(b, found->index)
             : found->kind == SALTUSI_COORDINATE ? "coordinate"
             : found->kind == SALTUSI_INPUT      ? "signal from outside"
                                                 : "parameter");
    return complain(b, formula, kind, name.text,
                    found->kind == name.kind && name.kind != SALTUSI_THING ? "defined twice"
                                                                           : text);
  }
  saltusi_names_add(&b->names, name);
  return SALTUS_OK;
}

typedef struct visit {
  int parameter;
  size_t offset; /* scanned bytes of its formula */
} visit;

typedef enum visit_state { UNSEEN, OPEN, DONE } visit_state;

static saltus_status report_cycle(saltusi_formula_builder* b, const visit* stack, int depth,
                                  int again, size_t offset) {
  char path[200] = "";
  size_t used = 0;
  int from = 0;
  while (stack[from].parameter != again) {
    from++;
  }
  for (int i = from; i < depth && used + 80 < sizeof path; i++) {
    used += (size_t)snprintf(path + used, sizeof path - used, "%s -> ",
                             b->def->parameters[stack[i].parameter].name);
  }
  const saltus_formula_parameter* last = &b->def->parameters[stack[depth - 1].parameter];
  saltus_formula_text f = saltusi_formula_called(b, &last->value, "parameter", last->name);
  saltusi_formula_error(b->def->log, &f, offset, "circular definition of parameters: %s%s", path,
                        b->def->parameters[again].name);
  return SALTUS_ERR_INPUT;
}

static saltus_status evaluate(saltusi_formula_builder* b, int i) {
  const saltus_formula_parameter* p = &b->def->parameters[i];
  saltus_formula_text f = saltusi_formula_called(b, &p->value, "parameter", p->name);
  saltusi_name* name = saltusi_names_find(&b->names, p->name);
  if (!b->def->members) {
    return saltusi_parse_constant(&b->scope, &f, &name->value);
  }
  const saltus_status status = saltusi_parse(&b->scope, &f, SALTUSI_ON_INPUT, &name->expr);
  const saltusi_graph_node* node = &b->graph.nodes[name->expr];
  name->varies = status == SALTUS_OK && node->op != SALTUSI_CONSTANT;
  return name->varies || status != SALTUS_OK ? status
                                             : saltusi_parse_constant(&b->scope, &f, &name->value);
}

/* The next parameter that this one depends on, and its position in the text; -1: none left. */
static int next_need(const saltusi_formula_builder* b, visit* v, size_t* where) {
  const char* text = b->def->parameters[v->parameter].value.text;
  while (text != NULL) {
    saltusi_token token = saltusi_lex(text, &v->offset);
    if (token.kind == SALTUSI_TOKEN_END) {
      break;
    }
    const saltusi_name* name =
        token.kind == SALTUSI_TOKEN_NAME ? saltusi_names_find(&b->names, token.name) : NULL;
    if (name != NULL && name->kind == SALTUSI_PARAMETER) {
      *where = token.offset;
      return name->index;
    }
  }
  return -1;
}

static saltus_status evaluate_from(saltusi_formula_builder* b, int start, visit* stack,
                                   visit_state* state) {
  int depth = 1;
  stack[0] = (visit){start, 0};
  state[start] = OPEN;
  while (depth > 0) {
    size_t where = 0;
    int need = next_need(b, &stack[depth - 1], &where);
    if (need < 0) {
      int done = stack[--depth].parameter;
      saltus_status status = evaluate(b, done);
      if (status != SALTUS_OK) {
        return status;
      }
      state[done] = DONE;
    } else if (state[need] == OPEN) {
      return report_cycle(b, stack, depth, need, where);
    } else if (state[need] == UNSEEN) {
      state[need] = OPEN;
      stack[depth++] = (visit){need, 0};
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_formula_names(saltusi_formula_builder* b) {
  assert(b != NULL);
  const saltus_formula_def* def = b->def;
  int np = def->parameter_count;
  const int things = saltusi_formula_bodies_measure(def->mechanism).names;
  saltus_status status = saltusi_names_start(
      &b->names, np + def->coordinate_count + def->input_count + things, &b->work);
  visit* stack = SALTUSI_TAKE(&b->work, visit, np);
  visit_state* state = SALTUSI_TAKE(&b->work, visit_state, np);
  if (b->work.failed) {
    return SALTUS_ERR_MEMORY;
  }

  for (int i = 0; i < def->coordinate_count && status == SALTUS_OK; i++) {
    const saltus_formula_coordinate* c = &def->coordinates[i];
    status = add_name(b, &c->start, "coordinate",
                      (saltusi_name){.text = c->name, .kind = SALTUSI_COORDINATE, .index = i});
  }
  for (int i = 0; i < np && status == SALTUS_OK; i++) {
    const saltus_formula_parameter* p = &def->parameters[i];
    status = add_name(b, &p->value, "parameter",
                      (saltusi_name){.text = p->name, .kind = SALTUSI_PARAMETER, .index = i});
  }
  const saltus_formula_text nowhere = {.text = NULL};
  const int inputs = def->ramps ? b->scope.ramps : def->input_count;
  for (int i = 0; i < inputs && status == SALTUS_OK; i++) {
    status =
        add_name(b, &nowhere, "input",
                 (saltusi_name){.text = def->input_names[i], .kind = SALTUSI_INPUT, .index = i});
  }
  for (int i = 0; i < things && status == SALTUS_OK; i++) {
    const char* name = saltusi_formula_bodies_name(b, i);
    const char* kind = saltusi_formula_bodies_kind(b, i);
    const bool spoken = strcmp(kind, "joint") != 0 || saltusi_name_valid(name);
    if (spoken) { /* joints may have names that are not valid in formulas */
      status = add_name(b, &nowhere, kind,
                        (saltusi_name){.text = name, .kind = SALTUSI_THING, .index = i});
    }
  }
  for (int i = 0; i < np && status == SALTUS_OK; i++) {
    if (state[i] == UNSEEN) {
      status = evaluate_from(b, i, stack, state);
    }
  }
  return status;
}

saltus_status saltusi_formula_labels(saltusi_formula_builder* b) {
  assert(b != NULL);
  const saltus_formula_def* def = b->def;
  for (int kind = 0; kind < 2; kind++) {
    int count = kind == 0 ? def->joint_count : def->contact_count;
    saltusi_names seen;
    if (saltusi_names_start(&seen, count, &b->work) != SALTUS_OK) {
      return SALTUS_ERR_MEMORY;
    }
    for (int i = 0; i < count; i++) {
      const char* name = kind == 0 ? def->joints[i].name : def->contacts[i].name;
      if (name == NULL) {
        continue;
      }
      if (saltusi_names_find(&seen, name) != NULL) {
        return complain(b, kind == 0 ? &def->joints[i].constraint : &def->contacts[i].gap,
                        kind == 0 ? "joint" : "contact", name, "defined twice");
      }
      saltusi_names_add(&seen, (saltusi_name){.text = name});
    }
  }
  return SALTUS_OK;
}
