/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * overrides.c - values that replace those of a scene, and formulas evaluated with them.
 */
#include "base/log.h"
#include "base/suggest.h"
#include "scene/builder.h"
#include "scene/tree.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "# --set "; /* begins the line of an override in a recorded text */

/* The next line of an override at or after `text`; NULL: none. */
static const char* next_mark(const char* text) {
  while (*text != '\0' && strncmp(text, mark, sizeof mark - 1) != 0) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return *text != '\0' ? text : NULL;
}

/* Overrides of a recorded text; returns their number. list NULL: only counts. */
static int read_recorded(saltusi_scene_builder* b, const char* text, saltus_override* list) {
  int count = 0;
  for (const char* line = next_mark(text); line != NULL;) {
    const char* pair = line + sizeof mark - 1;
    const size_t length = strcspn(pair, "\n");
    if (list != NULL) {
      char* name = saltusi_reader_take(&b->reader, length + 1, 1);
      if (name == NULL) {
        return count;
      }
      memcpy(name, pair, length);
      char* equals = strchr(name, '=');
      if (equals == NULL) {
        saltusi_log(b->def->log, SALTUS_LEVEL_ERROR,
                    "%s: the recorded override " SALTUSI_QUOTE " is not name=value", b->reader.file,
                    name);
        b->reader.status = SALTUS_ERR_INPUT;
        return count;
      }
      *equals = '\0';
      list[count] = (saltus_override){.name = name, .value = equals + 1};
    }
    count++;
    line = next_mark(pair + length);
  }
  return count;
}

void saltusi_overrides_collect(saltusi_scene_builder* b) {
  assert(b != NULL && b->scene->view.text != NULL);
  const saltus_scene* like = b->def->like;
  const char* text = b->scene->view.text;
  const bool recorded = like == NULL && (b->def->recorded || saltusi_tree_is(text));
  const int before = like != NULL ? like->override_count
                     : recorded   ? read_recorded(b, text, NULL)
                                  : 0;
  const int count = before + b->def->override_count;
  saltus_override* list = saltusi_reader_take(&b->reader, (size_t)count + 1, sizeof *list);
  if (list == NULL) {
    return;
  }
  if (recorded) {
    (void)read_recorded(b, text, list);
  } else if (before > 0) { /* texts of `like` outlive this scene */
    memcpy(list, like->overrides, (size_t)before * sizeof *list);
  }
  for (int i = 0; i < b->def->override_count; i++) {
    const saltus_override* from = &b->def->overrides[i];
    list[before + i] = (saltus_override){.name = saltusi_pool_text(b->reader.pool, from->name),
                                         .value = saltusi_pool_text(b->reader.pool, from->value)};
  }
  b->scene->overrides = list;
  b->scene->override_count = b->reader.pool->failed ? 0 : count;
}

/* Precedes names of overrides in messages. */
static const char* mark_of(const saltusi_scene_builder* b) {
  return b->def->mark != NULL ? b->def->mark : "override ";
}

static saltus_formula_text override_text(saltusi_scene_builder* b, const saltus_override* override,
                                         const char* what) {
  char file[200];
  snprintf(file, sizeof file, "%.20s%.150s", mark_of(b), override->name);
  return (saltus_formula_text){
      .text = override->value, .file = saltusi_pool_text(b->reader.pool, file), .what = what};
}

/* The coordinate whose start, or with a prime whose velocity, is named; -1: none. */
static int find_start(const saltusi_yaml_node* coordinates, const char* name, bool* velocity) {
  const size_t length = strlen(name);
  *velocity = length > 0 && name[length - 1] == '\'';
  const size_t own = length - (*velocity ? 1 : 0);
  for (int i = 0; coordinates != NULL && i < coordinates->count; i++) {
    const char* key = coordinates->keys != NULL ? coordinates->keys[i].text : NULL;
    if (key != NULL && strlen(key) == own && memcmp(key, name, own) == 0) {
      return i;
    }
  }
  return -1;
}

void saltusi_overrides_starts(saltusi_scene_builder* b, saltus_formula_coordinate* coordinates,
                              const saltusi_yaml_node* node) {
  assert(b != NULL);
  for (int i = 0; i < b->scene->override_count && b->reader.status == SALTUS_OK; i++) {
    bool velocity;
    const int place = find_start(node, b->scene->overrides[i].name, &velocity);
    if (place >= 0) {
      saltusi_scene_override(b, &b->scene->overrides[i], &node->children[place], velocity);
      saltus_formula_coordinate* c = &coordinates[place];
      saltus_formula_text* into = velocity ? &c->velocity : &c->start;
      *into = override_text(b, &b->scene->overrides[i], into->what);
    }
  }
}

void saltusi_overrides_parameters(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_formula_parameter* parameters = (saltus_formula_parameter*)b->model.parameters;
  int count = b->model.parameter_count;
  for (int i = 0; i < b->scene->override_count && b->reader.status == SALTUS_OK; i++) {
    saltus_override* override = &b->scene->overrides[i];
    int place = 0;
    while (place < count && strcmp(parameters[place].name, override->name) != 0) {
      place++;
    }
    if (place < count) {
      saltusi_scene_override(b, override, &saltusi_scene_get(b, "parameters")->children[place],
                             false);
      parameters[place].value = override_text(b, override, parameters[place].value.what);
      continue;
    }
    bool velocity;
    if (find_start(saltusi_scene_get(b, "coordinates"), override->name, &velocity) >= 0) {
      continue; /* by saltusi_overrides_starts */
    }
    const char** names = saltusi_reader_take(&b->reader, (size_t)count, sizeof *names);
    for (int k = 0; k < count && names != NULL; k++) {
      names[k] = parameters[k].name;
    }
    const char* near = names != NULL ? saltusi_suggest(override->name, names, count) : NULL;
    saltusi_log(b->reader.log, SALTUS_LEVEL_ERROR,
                "%.20s%.80s: %s has no parameter " SALTUSI_QUOTE "%s%s%s", mark_of(b),
                override->name, b->reader.file, override->name,
                near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                near != NULL ? "\"?" : "");
    b->reader.status = SALTUS_ERR_INPUT;
  }
}

saltus_status saltus_scene_value(const saltus_scene* scene, const char* formula, saltus_log log,
                                 double* value) {
  assert(scene != NULL && formula != NULL && value != NULL);
  const saltus_scene_output output = {
      .name = "requested_value", .formula = formula, .label = formula};
  const saltus_scene_def def = {.like = scene, .outputs = &output, .output_count = 1, .log = log};
  saltus_scene* with = NULL;
  const saltus_status status = saltus_scene_create(&def, &with);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scene_view* view = saltus_scene_get_view(with);
  const saltus_observables* o = view->observables;
  double* values = SALTUSI_TAKE(&with->pool, double, o->output_count);
  const bool good = values != NULL && saltus_scene_outputs(with, view->start, view->q0, view->v0,
                                                           NULL, values) == SALTUS_OK;
  for (int i = 0; i < o->output_count && good; i++) {
    if (strcmp(o->output_labels[i].name, output.name) == 0) {
      *value = values[i];
    }
  }
  saltus_scene_destroy(with);
  return good ? SALTUS_OK : SALTUS_ERR_MEMORY;
}
