/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interface.c - quantities of a scene that callers set: parameters, starts, inputs; and its outputs at a state.
 */
#include "base/number.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const saltusi_yaml_node* saltusi_scene_quantity(saltusi_scene_builder* b,
                                                const saltusi_yaml_node* node, const char* section,
                                                const char* key, const char* what) {
  assert(b != NULL && node != NULL);
  if (node->kind != SALTUSI_YAML_MAPPING || !saltusi_reader_keys(&b->reader, node, section, what)) {
    return node;
  }
  const saltusi_yaml_node* value = saltusi_yaml_find(node, key);
  if (value == NULL && strcmp(key, "value") == 0) {
    saltusi_reader_fail(&b->reader, node, "%s has no value", what);
  }
  return value;
}

static bool is_number(const char* text) {
  char* end;
  const double value = saltusi_number_read(text, &end);
  return end != text && *end == '\0' && isfinite(value);
}

/* One entry of a section of the scene. */
static saltus_scene_quantity read_quantity(saltusi_scene_builder* b, const char* name,
                                           const saltusi_yaml_node* node, const char* key) {
  const bool mapping = node->kind == SALTUSI_YAML_MAPPING;
  const saltusi_yaml_node* text = mapping ? saltusi_yaml_find(node, key) : node;
  const saltusi_yaml_node* unit = mapping ? saltusi_yaml_find(node, "unit") : NULL;
  saltus_scene_quantity one = {.name = name,
                               .unit = unit != NULL ? saltusi_scene_text(b, unit, "unit") : "",
                               .text = text != NULL ? text->text : ""};
  for (int i = 0; i < b->scene->override_count; i++) {
    one.text =
        strcmp(b->scene->overrides[i].name, name) == 0 ? b->scene->overrides[i].value : one.text;
  }
  one.number = one.text[0] == '\0' || is_number(one.text);
  return one;
}

static void list_starts(saltusi_scene_builder* b, saltus_scene_interface* to) {
  const saltusi_yaml_node* node = saltusi_scene_mapping(b, "coordinates");
  saltus_scene_quantity* list =
      saltusi_reader_take(&b->reader, 2 * (size_t)node->count, sizeof *list);
  const saltus_scene_view* view = &b->scene->view;
  for (int i = 0; i < node->count && list != NULL; i++) {
    const char* name = node->keys[i].text;
    const char* prime = saltusi_pool_join(b->reader.pool, name, "'");
    list[i] = read_quantity(b, name, &node->children[i], "start");
    list[i].value = view->q0[i];
    list[node->count + i] =
        (saltus_scene_quantity){.name = "", .unit = "", .text = "", .number = true};
    if (prime != NULL) {
      static const saltusi_yaml_node none = {.text = ""};
      const bool mapping = node->children[i].kind == SALTUSI_YAML_MAPPING;
      list[node->count + i] =
          read_quantity(b, prime, mapping ? &node->children[i] : &none, "velocity");
      list[node->count + i].unit = view->system->v_labels[i].unit;
    }
    list[node->count + i].value = view->v0[i];
  }
  to->starts = list;
  to->coordinate_count = list != NULL ? node->count : 0;
}

void saltusi_scene_interface(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_scene_interface* to = &b->scene->interface;
  const saltusi_yaml_node* sections[] = {saltusi_scene_mapping(b, "parameters"),
                                         saltusi_scene_mapping(b, "inputs")};
  saltus_scene_quantity* lists[2];
  for (int k = 0; k < 2; k++) {
    const saltusi_yaml_node* node = sections[k];
    lists[k] = saltusi_reader_take(&b->reader, (size_t)node->count, sizeof *lists[k]);
    for (int i = 0; i < node->count && lists[k] != NULL; i++) {
      lists[k][i] =
          read_quantity(b, node->keys[i].text, &node->children[i], k == 0 ? "value" : "start");
    }
  }
  saltusi_formula_constants* constants = saltusi_scene_constants(b);
  for (int i = 0;
       i < b->model.parameter_count && constants != NULL && lists[0] != NULL && b->members == NULL;
       i++) {
    saltusi_formula_constants_value(
        constants, &(saltus_formula_text){.text = b->model.parameters[i].name}, &lists[0][i].value);
  }
  for (int i = 0; i < sections[1]->count && lists[1] != NULL; i++) {
    lists[1][i].value = b->scene->inputs[i];
  }
  to->parameters = lists[0];
  to->parameter_count = lists[0] != NULL ? b->model.parameter_count : 0;
  to->inputs = lists[1];
  to->input_count = lists[1] != NULL ? sections[1]->count : 0;
  list_starts(b, to);
  const saltus_observables* o = b->scene->view.observables;
  b->scene->scratch = saltusi_reader_take(&b->reader, o != NULL ? o->scratch + 1 : 1, 1);
  b->scene->view.interface = to;
}

/* ---- inputs ---- */

/* Index of an input; -1: none. */
static int find_input(const saltus_scene* scene, const char* name) {
  for (int i = 0; i < scene->view.input_count; i++) {
    if (strcmp(scene->view.input_names[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

/* A value that is set again is no change: the motion goes on without a restart. */
static void set_input(saltus_scene* scene, int i, double value) {
  if (scene->inputs[i] != value) {
    scene->inputs[i] = value;
    scene->changes++;
  }
}

saltus_status saltus_scene_set_input(saltus_scene* scene, const char* name, double value) {
  assert(scene != NULL && name != NULL);
  const int place = find_input(scene, name);
  if (place < 0 || !isfinite(value)) {
    return place < 0 ? SALTUS_ERR_NAME : SALTUS_ERR_RANGE;
  }
  set_input(scene, place, value);
  return SALTUS_OK;
}

saltus_status saltus_scene_input(const saltus_scene* scene, const char* name, double* value) {
  assert(scene != NULL && name != NULL && value != NULL);
  const int place = find_input(scene, name);
  if (place < 0) {
    return SALTUS_ERR_NAME;
  }
  *value = scene->inputs[place];
  return SALTUS_OK;
}

saltus_status saltus_scene_set_inputs(saltus_scene* scene, const double* values) {
  assert(scene != NULL && (values != NULL || scene->view.input_count == 0));
  for (int i = 0; i < scene->view.input_count; i++) {
    if (!isfinite(values[i])) {
      return SALTUS_ERR_RANGE;
    }
  }
  for (int i = 0; i < scene->view.input_count; i++) {
    set_input(scene, i, values[i]);
  }
  return SALTUS_OK;
}

void saltus_scene_inputs(const saltus_scene* scene, double* values) {
  assert(scene != NULL && (values != NULL || scene->view.input_count == 0));
  for (int i = 0; i < scene->view.input_count; i++) {
    values[i] = scene->inputs[i];
  }
}

saltus_status saltus_scene_set_ramps(saltus_scene* scene, double since, const double* values,
                                     const double* slopes) {
  assert(scene != NULL && values != NULL && slopes != NULL);
  const int n = scene->view.input_count;
  double *value = scene->inputs, *slope = value + n;
  bool finite = isfinite(since), same = true, flat = true;
  if (!scene->ramps) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  for (int i = 0; i < n; i++) {
    finite = finite && isfinite(values[i]) && isfinite(slopes[i]);
    same = same && slopes[i] == slope[i] && values[i] == value[i];
    flat = flat && slopes[i] == 0.0;
  }
  same = same && (flat || since == slope[n]);
  if (finite && !same) {
    memcpy(value, values, (size_t)n * sizeof *value);
    memcpy(slope, slopes, (size_t)n * sizeof *value);
    slope[n] = since;
    scene->changes++;
  }
  return finite ? SALTUS_OK : SALTUS_ERR_RANGE;
}

double saltus_scene_ramps(const saltus_scene* scene, double* values, double* slopes) {
  assert(scene != NULL && values != NULL && slopes != NULL);
  const int n = scene->view.input_count;
  saltus_scene_inputs(scene, values);
  for (int i = 0; i < n; i++) {
    slopes[i] = scene->ramps ? scene->inputs[n + i] : 0.0;
  }
  return scene->ramps ? scene->inputs[2 * n] : 0.0;
}

/* ---- outputs ---- */

saltus_status saltus_scene_outputs(saltus_scene* scene, double t, const double* q, const double* v,
                                   const double* joint_forces, double* outputs) {
  assert(scene != NULL && q != NULL && v != NULL);
  const saltus_observables* o = scene->view.observables;
  saltus_failure failure = {0};
  const saltus_point at = {.t = t, .q = q, .v = v, .scratch = scene->scratch, .failure = &failure};
  if (o != NULL && o->outputs_with != NULL) {
    o->outputs_with(o->self, &at, joint_forces, outputs);
  } else if (o != NULL && o->outputs != NULL) {
    o->outputs(o->self, &at, outputs);
  }
  return failure.status;
}
