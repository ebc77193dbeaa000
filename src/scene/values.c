/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * values.c - numbers, lists, signals and words of a scene; see builder.h.
 */
#include "base/suggest.h"
#include "model/formula_signal.h"
#include "scene/builder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const saltusi_yaml_node* saltusi_scene_get(const saltusi_scene_builder* b, const char* key) {
  assert(b != NULL);
  return saltusi_yaml_find(b->root, key);
}

const char* saltusi_scene_describe(saltusi_scene_builder* b, const char* what, const char* of,
                                   const char* name) {
  assert(b != NULL);
  char text[256];
  snprintf(text, sizeof text, "%s of %s \"%.150s\"", what, of, name);
  return saltusi_pool_text(b->reader.pool, text);
}

const char* saltusi_scene_text(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                               const char* what) {
  assert(b != NULL);
  const char* text = saltusi_reader_text(&b->reader, node, what);
  return text != NULL ? text : "";
}

saltusi_formula_constants* saltusi_scene_constants(saltusi_scene_builder* b) {
  assert(b != NULL);
  if (b->constants == NULL && b->reader.status == SALTUS_OK) {
    b->model.log = saltusi_scene_finder(b);
    b->reader.status = saltusi_formula_constants_open(&b->model, &b->constants);
  }
  return b->reader.status == SALTUS_OK ? b->constants : NULL;
}

double saltusi_scene_number(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                            const char* what, double fallback) {
  assert(b != NULL);
  saltus_formula_text text = saltusi_reader_formula(&b->reader, node, what);
  saltusi_formula_constants* constants = text.text != NULL ? saltusi_scene_constants(b) : NULL;
  double value = fallback;
  if (constants != NULL) {
    b->reader.status = saltusi_formula_constants_value(constants, &text, &value);
  }
  return value;
}

double saltusi_scene_constant(saltusi_scene_builder* b, const saltusi_yaml_node* section,
                              const char* key, double fallback) {
  assert(b != NULL);
  const saltusi_yaml_node* node = section != NULL ? saltusi_yaml_find(section, key) : NULL;
  return saltusi_scene_number(b, node, key, fallback);
}

int saltusi_scene_numbers(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* what,
                          const int lengths[2], double* out) {
  assert(b != NULL);
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, what)) {
    return 0;
  }
  if (node->count != lengths[0] && node->count != lengths[1]) {
    char more[32] = "";
    if (lengths[1] != lengths[0]) {
      snprintf(more, sizeof more, " or %d", lengths[1]);
    }
    saltusi_reader_fail(&b->reader, node, "%s has %d numbers, must have %d%s", what, node->count,
                        lengths[0], more);
    return 0;
  }
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    out[i] = saltusi_scene_number(b, &node->children[i], what, 0.0);
  }
  return node->count;
}

static saltus_signal read_signal(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                                 const char* what, bool moves) {
  saltus_signal signal = {0};
  saltus_formula_text text = saltusi_reader_formula(&b->reader, node, what);
  saltusi_formula_constants* constants = text.text != NULL ? saltusi_scene_constants(b) : NULL;
  if (constants != NULL) {
    b->reader.status =
        saltusi_formula_signal_make(constants, &text, moves, b->reader.pool, &signal);
  }
  return signal;
}

saltus_signal saltusi_scene_signal(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                                   const char* what) {
  assert(b != NULL);
  return read_signal(b, node, what, true);
}

bool saltusi_scene_actuator(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                            const char* what, saltus_signal* signal, saltus_formula_text* motion) {
  assert(b != NULL && signal != NULL && motion != NULL);
  *motion = saltusi_reader_formula(&b->reader, node, what);
  saltusi_formula_constants* constants = motion->text != NULL ? saltusi_scene_constants(b) : NULL;
  if (constants != NULL && !saltusi_formula_signal_known(constants, motion)) {
    return false;
  }
  *signal = read_signal(b, node, what, false);
  return true;
}

bool saltusi_scene_flag(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* what) {
  assert(b != NULL);
  static const char* const words[] = {"false", "true", NULL};
  return node != NULL && saltusi_scene_word(b, node, what, words) == 1;
}

int saltusi_scene_word(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* what,
                       const char* const* words) {
  assert(b != NULL);
  const char* text = saltusi_reader_text(&b->reader, node, what);
  int count = 0;
  for (; words[count] != NULL; count++) {
    if (text != NULL && strcmp(text, words[count]) == 0) {
      return count;
    }
  }
  if (text == NULL) {
    return -1;
  }
  const char* near = saltusi_suggest(text, words, count);
  char all[400] = "";
  size_t used = 0;
  for (int i = 0; i < count && near == NULL && used < sizeof all; i++) {
    const int added =
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "allowed: ", words[i]);
    used += added > 0 ? (size_t)added : 0;
  }
  saltusi_reader_fail(&b->reader, node, "%s is " SALTUSI_QUOTE "; %s%s%s", what, text,
                      near != NULL ? "did you mean \"" : all, near != NULL ? near : "",
                      near != NULL ? "\"?" : "");
  return -1;
}

const saltusi_yaml_node* saltusi_scene_list(saltusi_scene_builder* b, const char* key) {
  assert(b != NULL);
  static const saltusi_yaml_node empty = {.kind = SALTUSI_YAML_SEQUENCE, .text = ""};
  const saltusi_yaml_node* node = saltusi_reader_section(b->root, key);
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, key)) {
    return &empty;
  }
  return node;
}

const saltusi_yaml_node* saltusi_scene_mapping(saltusi_scene_builder* b, const char* key) {
  assert(b != NULL);
  static const saltusi_yaml_node empty = {.kind = SALTUSI_YAML_MAPPING, .text = ""};
  const saltusi_yaml_node* node = saltusi_reader_section(b->root, key);
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, key)) {
    return &empty;
  }
  return node;
}

const char* saltusi_scene_item_name(saltusi_scene_builder* b, const saltusi_yaml_node* item, int i,
                                    const char* kind) {
  assert(b != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "name");
  const char* name = saltusi_scene_text(b, node, "name");
  if (node == NULL) {
    char text[64];
    snprintf(text, sizeof text, "%s %d", kind, i + 1);
    name = saltusi_pool_text(b->reader.pool, text);
  } else if (name[0] == '\0') {
    saltusi_reader_fail(&b->reader, node, "name is empty; leave it out or give one");
  }
  return name;
}

/* Parameters that are members of an ensemble leave the list of parameters. */
static void remove_members(saltusi_scene_builder* b) {
  saltus_formula_parameter* parameters = (saltus_formula_parameter*)b->model.parameters;
  int kept = 0;
  for (int i = 0; i < b->model.parameter_count; i++) {
    bool varies = false;
    for (int k = 0; k < b->members->count; k++) {
      varies = varies || strcmp(parameters[i].name, b->members->names[k]) == 0;
    }
    if (!varies) {
      parameters[kept++] = parameters[i];
    }
  }
  b->model.parameter_count = kept;
  b->model.members = true;
}

/* Inputs that events set or that switch joints jump. */
static bool inputs_jump(saltusi_scene_builder* b) {
  const saltusi_yaml_node *events = saltusi_scene_mapping(b, "events"),
                          *joints = saltusi_yaml_find(b->root, "joints");
  bool jump = false;
  for (int i = 0; i < events->count; i++) {
    jump = jump || saltusi_yaml_find(&events->children[i], "set") != NULL;
  }
  for (int i = 0; joints != NULL && i < joints->count; i++) {
    jump = jump || saltusi_yaml_find(&joints->children[i], "while") != NULL;
  }
  return jump;
}

void saltusi_scene_inputs(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* node = saltusi_scene_mapping(b, "inputs");
  const int more = b->members != NULL ? b->members->count : 0, count = node->count + more;
  const bool ramps = node->count > 0 && more == 0 && !inputs_jump(b);
  const size_t all = (size_t)count * (ramps ? 2 : 1) + 1;
  const char** names = saltusi_reader_take(&b->reader, all, sizeof *names);
  double* values = saltusi_reader_take(&b->reader, all, sizeof *values);
  for (int i = 0; i < node->count && names != NULL; i++) {
    names[i] = node->keys[i].text;
  }
  for (int i = 0; i < more && names != NULL && values != NULL; i++) {
    names[node->count + i] = b->members->names[i];
    values[node->count + i] = b->members->values[i];
  }
  if (more > 0) {
    remove_members(b);
  }
  b->model.input_names = names;
  b->model.input_values = values;
  b->model.input_count = names != NULL && values != NULL ? count : 0;
  for (int i = 0; i < b->model.input_count - more && b->reader.status == SALTUS_OK; i++) {
    char what[200];
    snprintf(what, sizeof what, "input \"%.150s\"", names[i]);
    const char* kept = saltusi_pool_text(b->reader.pool, what);
    const saltusi_yaml_node* start =
        saltusi_scene_quantity(b, &node->children[i], "inputs.NAME", "start", kept);
    values[i] = saltusi_scene_number(b, start, kept, 0.0);
  }
  b->scene->inputs = values;
  b->scene->view.input_names = names;
  b->scene->view.input_count = b->model.input_count;
  b->scene->interface.ramps = ramps;
  b->model.ramps = ramps && b->def->ramps && b->model.input_count > 0;
  b->scene->ramps = b->model.ramps;
  if (b->model.ramps) { /* slopes and the time of the values */
    for (int i = 0; i <= count; i++) {
      names[count + i] = "";
    }
    b->model.input_count = 2 * count + 1;
  }
}
