/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * section.c - variables, objective, constraints and random axes from texts, of the caller or of the section `optimize`.
 */
#include "base/log.h"
#include "optimize/optimize.h"
#include "scene/builder.h"
#include "sweep/points.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static saltus_status refuse(const saltus_optimize* o, const char* text, const char* why) {
  saltusi_log(o->def.log, SALTUS_LEVEL_ERROR, "optimize: \"%.120s\": %s", text, why);
  return SALTUS_ERR_INPUT;
}

/* NAME=LOW:HIGH [log], by the parser of axes. */
static saltus_status add_variable(saltus_optimize* o, const char* text) {
  static const char* const form =
      "a variable is NAME=LOW:HIGH, with \" log\" for a scale of factors";
  saltusi_sweep_axis axis;
  const char* colon = strchr(text, ':');
  const char* end = strstr(text, " log");
  if (o->variables == SALTUSI_OPTIMIZE_MOST) {
    return refuse(o, text, "at most 32 variables");
  }
  if (colon == NULL || strchr(colon + 1, ':') != NULL || strchr(text, '~') != NULL) {
    return refuse(o, text, form);
  }
  const int length = end != NULL ? (int)(end - text) : (int)strlen(text);
  char whole[200];
  snprintf(whole, sizeof whole, "%.*s:2%s", length < 180 ? length : 180, text,
           end != NULL ? " log" : "");
  const saltus_status status = saltusi_axis_parse(whole, &o->pool, o->def.log, &axis);
  if (status != SALTUS_OK) {
    return status;
  }
  if (!(axis.a < axis.b) || !isfinite(axis.a) || !isfinite(axis.b)) {
    return refuse(o, text, "the bounds have to be finite and rise");
  }
  for (int i = 0; i < o->variables; i++) {
    if (strcmp(o->variable[i].name, axis.name) == 0) {
      return refuse(o, text, "this variable is given twice");
    }
  }
  o->variable[o->variables++] = (saltusi_optimize_variable){
      .name = axis.name, .low = axis.a, .high = axis.b, .log = axis.log};
  return SALTUS_OK;
}

/* "mean of ", "quantile P of " in front of a measure; the text behind it. */
static const char* take_statistic(const char* text, double* part) {
  *part = (double)NAN;
  text += strspn(text, " ");
  if (strncmp(text, "mean of ", 8) == 0) {
    return text + 8;
  }
  const char* of = strncmp(text, "quantile ", 9) == 0 ? strstr(text, " of ") : NULL;
  if (of != NULL && saltusi_sweep_number(text + 9, (size_t)(of - text - 9), part) && *part >= 0.0 &&
      *part <= 1.0) {
    return of + 4;
  }
  return of != NULL ? NULL : text;
}

/* The relation of a condition, outside of all parentheses; NULL: none. */
static const char* relation_of(const char* text) {
  int depth = 0;
  for (; *text != '\0'; text++) {
    depth += *text == '(';
    depth -= *text == ')';
    if (depth == 0 && strchr("<>=", *text) != NULL) {
      return text;
    }
  }
  return NULL;
}

static saltus_status add_function(saltus_optimize* o, const char* text, bool condition) {
  if (o->functions == SALTUSI_OPTIMIZE_MOST) {
    return refuse(o, text, "at most 31 constraints");
  }
  saltusi_optimize_function* f = &o->function[o->functions];
  *f = (saltusi_optimize_function){.text = saltusi_pool_text(&o->pool, text)};
  const char* from = take_statistic(text, &f->part);
  if (from == NULL) {
    return refuse(o, text, "a quantile is \"quantile P of MEASURE\" with P from 0 to 1");
  }
  const char* sign = relation_of(from);
  if ((sign != NULL) != condition || (sign != NULL && *sign != '=' && sign[1] != '=')) {
    return refuse(o, text,
                  condition
                      ? "a condition is MEASURE <= NUMBER, MEASURE >= NUMBER or MEASURE = NUMBER"
                      : "the objective is a measure without a relation");
  }
  size_t length = strlen(from);
  if (condition) {
    const char* right = sign + (*sign == '=' ? 1 : 2);
    length = (size_t)(sign - from);
    f->relation = *sign == '<' ? SALTUSI_AT_MOST : *sign == '>' ? SALTUSI_AT_LEAST : SALTUSI_EQUAL;
    if (!saltusi_sweep_number(right, strlen(right), &f->limit) || !isfinite(f->limit)) {
      return refuse(o, text, "the right side has to be a number, or a formula of numbers");
    }
  }
  char* measure = saltusi_pool_take(&o->pool, length + 32, 1);
  if (measure == NULL || f->text == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  snprintf(measure, length + 32, "f%d=%.*s", o->functions, (int)length, from);
  f->measure = measure;
  o->functions++;
  return SALTUS_OK;
}

static saltus_status add_random(saltus_optimize* o, const char* text) {
  if (strchr(text, '~') == NULL) {
    return refuse(o, text,
                  "a random axis is NAME~uniform(A, B), ~normal, ~loguniform or ~lognormal");
  }
  if (o->random_count == SALTUSI_OPTIMIZE_MOST) {
    return refuse(o, text, "at most 32 random axes");
  }
  o->random[o->random_count] = saltusi_pool_text(&o->pool, text);
  return o->random[o->random_count++] != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* ---- the section ---- */

typedef struct optimize_reader {
  saltus_optimize* o;
  saltusi_reader reader;
  const saltusi_yaml_node* node;
} optimize_reader;

static const char* text_of(optimize_reader* s, const char* key) {
  return s->node != NULL ? saltusi_reader_text(&s->reader, saltusi_yaml_find(s->node, key), key)
                         : NULL;
}

/* Texts of a list, each by `add`. */
static saltus_status add_list(optimize_reader* s, const char* key,
                              saltus_status (*add)(saltus_optimize*, const char*)) {
  const saltusi_yaml_node* list = s->node != NULL ? saltusi_yaml_find(s->node, key) : NULL;
  if (list == NULL || !saltusi_reader_expect(&s->reader, list, SALTUSI_YAML_SEQUENCE, key)) {
    return s->reader.status;
  }
  for (int i = 0; i < list->count && s->reader.status == SALTUS_OK; i++) {
    const char* text = saltusi_reader_text(&s->reader, &list->children[i], key);
    s->reader.status = text != NULL ? add(s->o, text) : s->reader.status;
  }
  return s->reader.status;
}

static saltus_status add_condition(saltus_optimize* o, const char* text) {
  return add_function(o, text, true);
}

static saltus_status number_of(optimize_reader* s, const char* key, double low, double* value) {
  const char* text = text_of(s, key);
  if (text != NULL && (!saltusi_sweep_number(text, strlen(text), value) || !(*value >= low))) {
    saltusi_reader_fail(&s->reader, saltusi_yaml_find(s->node, key),
                        "%s is " SALTUSI_QUOTE ", must be a number from %g on", key, text, low);
  }
  return s->reader.status;
}

static saltus_status read_limits(optimize_reader* s) {
  saltus_optimize_def* def = &s->o->def;
  double samples = (double)def->samples, tolerance = def->tolerance, most = def->evaluations;
  saltus_status status = s->reader.status;
  status = status == SALTUS_OK && samples <= 0.0 ? number_of(s, "samples", 1.0, &samples) : status;
  status =
      status == SALTUS_OK && tolerance <= 0.0 ? number_of(s, "tolerance", 0.0, &tolerance) : status;
  status = status == SALTUS_OK && most <= 0.0 ? number_of(s, "evaluations", 1.0, &most) : status;
  def->samples = samples > 0.0 ? (long long)fmin(samples, 1e6) : 1;
  def->tolerance = tolerance > 0.0 ? tolerance : 1e-6;
  def->evaluations = most > 0.0 ? (int)fmin(most, 1e7) : 1000;
  if (def->method == NULL) {
    const char* method = text_of(s, "method");
    def->method = method != NULL ? saltusi_pool_text(&s->o->pool, method) : "auto";
  }
  return status == SALTUS_OK ? s->reader.status : status;
}

static saltus_status read_objective(optimize_reader* s) {
  saltus_optimize* o = s->o;
  const saltus_optimize_def* def = &o->def;
  const bool given = def->minimize != NULL || def->maximize != NULL || def->find != NULL;
  const char* least = given ? def->minimize : text_of(s, "minimize");
  const char* most = given ? def->maximize : text_of(s, "maximize");
  const char* edge = given ? def->find : text_of(s, "find");
  if ((least != NULL) + (most != NULL) + (edge != NULL) != 1) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "optimize: give one of minimize, maximize and find, by options or in the section "
                "optimize of the scene");
    return SALTUS_ERR_INPUT;
  }
  o->find = edge != NULL;
  o->sign = most != NULL ? -1.0 : 1.0;
  return add_function(o, edge != NULL ? edge : most != NULL ? most : least, o->find);
}

static saltus_status read_values(optimize_reader* s, const saltus_scene* scene) {
  saltus_optimize* o = s->o;
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < o->variables && status == SALTUS_OK; i++) {
    saltusi_optimize_variable* v = &o->variable[i];
    status = saltus_scene_value(scene, v->name, (saltus_log){0}, &v->first);
    if (status != SALTUS_OK) {
      return refuse(o, v->name, "the scene has no parameter, coordinate or velocity of this name");
    }
    v->first = fmin(fmax(v->first, v->low), v->high);
  }
  return status;
}

saltus_status saltusi_optimize_read(saltus_optimize* o, const saltus_scene* scene) {
  assert(o != NULL && scene != NULL);
  const saltus_optimize_def* def = &o->def;
  optimize_reader s = {.o = o,
                       .reader = {.file = def->path != NULL ? def->path : "scene",
                                  .pool = &o->pool,
                                  .log = def->log},
                       .node = saltusi_reader_section(scene->root, "optimize")};
  if (s.node != NULL && !saltusi_reader_keys(&s.reader, s.node, "optimize", "optimize")) {
    return s.reader.status;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < def->variable_count && status == SALTUS_OK; i++) {
    status = add_variable(o, def->variables[i]);
  }
  if (status == SALTUS_OK && def->variable_count == 0) {
    status = add_list(&s, "variables", add_variable);
  }
  status = status == SALTUS_OK ? read_objective(&s) : status;
  for (int i = 0; i < def->constraint_count && status == SALTUS_OK; i++) {
    status = add_condition(o, def->constraints[i]);
  }
  if (status == SALTUS_OK && def->constraint_count == 0 && !o->find) {
    status = add_list(&s, "constraints", add_condition);
  }
  for (int i = 0; i < def->random_count && status == SALTUS_OK; i++) {
    status = add_random(o, def->random[i]);
  }
  if (status == SALTUS_OK && def->random_count == 0) {
    status = add_list(&s, "random", add_random);
  }
  status = status == SALTUS_OK ? read_limits(&s) : status;
  if (status == SALTUS_OK &&
      (o->variables == 0 || (o->find && (o->variables != 1 || o->functions > 1)))) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                o->find ? "optimize: find has one variable and no constraints"
                        : "optimize: there are no variables; give --variable NAME=LOW:HIGH");
    return SALTUS_ERR_INPUT;
  }
  return status == SALTUS_OK ? read_values(&s, scene) : status;
}
