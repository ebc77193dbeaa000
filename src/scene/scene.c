/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene.c - creates a model and its run settings from the tree of a scene file.
 */
#include "saltus/scene.h"

#include "base/log.h"
#include "base/regular.h"
#include "base/reserved.h"
#include "base/suggest.h"
#include "model/flexible_system.h"
#include "saltus/tree.h"
#include "scene/builder.h"
#include "scene/initial_state.h"
#include "scene/observe.h"
#include "scene/observe_bodies.h"
#include "scene/tree.h"
#include "sim/tolerance.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest size of a scene file; bounds the cost of reading hostile files. */
static const long largest_file = 64L << 20;

/* Initial violations up to this size are corrected: numbers rounded to three digits, but not a wrong sign. */
static const double start_tolerance = 1e-2;

static void read_version(saltusi_scene_builder* b) {
  const saltusi_yaml_node* node = saltusi_scene_get(b, "saltus");
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, b->root,
                        "\"saltus\" is missing; a scene has a version, \"saltus: 1\"");
  }
  const char* version = saltusi_reader_text(&b->reader, node, "saltus");
  if (version != NULL && strcmp(version, "1") != 0) {
    saltusi_reader_fail(&b->reader, node,
                        "scene version is " SALTUSI_QUOTE "; this program reads 1", version);
  }
}

static void read_parameters(saltusi_scene_builder* b) {
  const saltusi_yaml_node* node = saltusi_reader_section(b->root, "parameters");
  int count = 0;
  if (node != NULL && saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "parameters")) {
    count = node->count;
  }
  saltus_formula_parameter* parameters =
      saltusi_reader_take(&b->reader, (size_t)count, sizeof *parameters);
  for (int i = 0; i < count && b->reader.status == SALTUS_OK; i++) {
    const char* name = node->keys[i].text;
    char what[200];
    snprintf(what, sizeof what, "parameter \"%.150s\"", name);
    const char* kept = saltusi_pool_text(b->reader.pool, what);
    parameters[i].name = name;
    const saltusi_yaml_node* value =
        saltusi_scene_quantity(b, &node->children[i], "parameters.NAME", "value", kept);
    parameters[i].value = saltusi_reader_formula(&b->reader, value, kept);
  }
  b->model.parameters = parameters;
  b->model.parameter_count = count;
}

static void read_coordinate(saltusi_scene_builder* b, const char* name,
                            const saltusi_yaml_node* node, saltus_formula_coordinate* coordinate) {
  coordinate->name = name;
  coordinate->unit = "";
  const char* start = saltusi_scene_describe(b, "start", "coordinate", name);
  coordinate->start = (saltus_formula_text){
      .what = start, .file = b->reader.file, .line = node->line, .column = node->column};
  coordinate->velocity.what = saltusi_scene_describe(b, "velocity", "coordinate", name);
  if (node->absent) { /* `x:` without a value starts at zero */
    return;
  }
  if (node->kind == SALTUSI_YAML_SCALAR) { /* x: 1.5 is short for x: {start: 1.5} */
    coordinate->start = saltusi_reader_formula(&b->reader, node, start);
    return;
  }
  char what[200];
  snprintf(what, sizeof what, "coordinate " SALTUSI_QUOTE, name);
  if (!saltusi_reader_keys(&b->reader, node, "coordinates.NAME", what)) {
    return;
  }
  const saltusi_yaml_node* given = saltusi_yaml_find(node, "start");
  if (given != NULL) {
    coordinate->start = saltusi_reader_formula(&b->reader, given, start);
  }
  coordinate->velocity =
      saltusi_reader_formula(&b->reader, saltusi_yaml_find(node, "velocity"),
                             saltusi_scene_describe(b, "velocity", "coordinate", name));
  coordinate->unit = saltusi_scene_text(b, saltusi_yaml_find(node, "unit"), "unit");
}

/* Absolute tolerances of the coordinates; arrays are allocated for the first one. */
static void read_tolerances(saltusi_scene_builder* b, const char* key, const double** into) {
  const saltusi_yaml_node* list = saltusi_scene_get(b, "coordinates");
  double* values = NULL;
  for (int i = 0; list != NULL && i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* node = &list->children[i];
    const saltusi_yaml_node* given =
        node->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(node, key) : NULL;
    if (given == NULL) {
      continue;
    }
    double value = saltusi_scene_constant(b, node, key, 0.0);
    if (b->reader.status == SALTUS_OK && !(value > 0.0)) {
      saltusi_reader_fail(&b->reader, given, "%s is %g, must be positive", key, value);
      return;
    }
    if (values == NULL) {
      values = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *values);
    }
    if (values != NULL) {
      values[i] = value;
    }
  }
  *into = values;
}

static void read_coordinates(saltusi_scene_builder* b) {
  const saltusi_yaml_node* node = saltusi_scene_get(b, "coordinates");
  if (node == NULL && b->mechanism.dimension > 0) {
    return; /* bodies move */
  }
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, b->root,
                        "\"coordinates\" is missing; a scene needs at least one, or bodies");
    return;
  }
  if (!node->absent &&
      !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "coordinates")) {
    return;
  }
  if (node->count == 0) {
    saltusi_reader_fail(&b->reader, node, "coordinates is empty; a scene needs at least one");
    return;
  }
  saltus_formula_coordinate* coordinates =
      saltusi_reader_take(&b->reader, (size_t)node->count, sizeof *coordinates);
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    read_coordinate(b, node->keys[i].text, &node->children[i], &coordinates[i]);
  }
  saltusi_overrides_starts(b, coordinates, node);
  b->model.coordinates = coordinates;
  b->model.coordinate_count = node->count;
}

static const saltus_scheme_info* find_scheme(saltusi_scene_builder* b,
                                             const saltusi_yaml_node* node, const char* name) {
  const saltus_scheme_info* info = saltus_scheme_find(name);
  if (info == NULL) {
    const char* names[256];
    int count = 0;
    for (; count < saltus_scheme_count() && count < 256; count++) {
      names[count] = saltus_scheme_at(count)->name;
    }
    const char* near = saltusi_suggest(name, names, count);
    saltusi_reader_fail(&b->reader, node, "no scheme " SALTUSI_QUOTE "; %s%s%s", name,
                        near != NULL ? "did you mean \"" : "see saltus list schemes",
                        near != NULL ? near : "", near != NULL ? "\"?" : "");
  }
  return info;
}

/* The owner of options: a scheme or a controller. */
typedef struct option_owner {
  const char* name;
  const saltus_field_table* table;
  void* values;
} option_owner;

static void read_option(saltusi_scene_builder* b, const option_owner* owner,
                        const saltusi_yaml_node* key, const saltusi_yaml_node* value) {
  bool known = false;
  for (int i = 0; i < owner->table->count; i++) {
    known = known || strcmp(owner->table->fields[i].name, key->text) == 0;
  }
  char what[120];
  snprintf(what, sizeof what, "option " SALTUSI_QUOTE, key->text);
  if (known && !saltusi_reader_expect(&b->reader, value, SALTUSI_YAML_SCALAR, what)) {
    return;
  }
  saltusi_placed_log placed;
  saltus_log log = saltusi_reader_log_at(&b->reader, known ? value : key, &placed);
  saltus_status status =
      saltus_options_set(owner->table, owner->values, owner->name, key->text, value->text, log);
  b->reader.status = status == SALTUS_OK ? SALTUS_OK : SALTUS_ERR_INPUT;
}

/* Defaults, then every key of the section; the values, or NULL without memory. */
static void* read_options(saltusi_scene_builder* b, const char* name,
                          const saltus_field_table* table, const saltusi_yaml_node* section,
                          const char* what) {
  option_owner owner = {
      .name = name, .table = table, .values = saltusi_reader_take(&b->reader, table->size + 1, 1)};
  if (owner.values == NULL) {
    return NULL;
  }
  saltus_options_defaults(table, owner.values);
  if (section != NULL && saltusi_reader_expect(&b->reader, section, SALTUSI_YAML_MAPPING, what)) {
    for (int i = 0; i < section->count && b->reader.status == SALTUS_OK; i++) {
      read_option(b, &owner, &section->keys[i], &section->children[i]);
    }
  }
  return owner.values;
}

static void read_scheme(saltusi_scene_builder* b, const saltusi_yaml_node* section) {
  const saltusi_yaml_node* node = saltusi_yaml_find(section, "scheme");
  const saltusi_yaml_node* options = saltusi_reader_section(section, "options");
  saltus_scene_view* view = &b->scene->view;
  if (node == NULL) {
    if (options != NULL) {
      saltusi_reader_fail(&b->reader, options, "options belong to a scheme; give simulate.scheme");
    }
    return;
  }
  const char* name = saltusi_reader_text(&b->reader, node, "scheme");
  const saltus_scheme_info* info = name != NULL ? find_scheme(b, node, name) : NULL;
  if (info != NULL) {
    view->scheme = info->name;
    view->options = read_options(b, info->name, &info->options, options, "options");
  }
}

/* tol without a controller: for the named scheme, else for adaptive. Returns whether tol was used so. */
static bool read_scheme_tol(saltusi_scene_builder* b, const saltusi_yaml_node* section) {
  saltus_scene_view* view = &b->scene->view;
  const char* name = view->scheme != NULL ? view->scheme : "adaptive";
  const saltus_scheme_info* info = saltus_scheme_find(name);
  if (isnan(view->tol) || b->reader.status != SALTUS_OK || !saltusi_tol_is_option(info)) {
    return false;
  }
  if (view->scheme == NULL) {
    view->scheme = info->name;
    view->options = read_options(b, info->name, &info->options, NULL, "options");
  }
  saltusi_placed_log placed;
  saltus_log log = saltusi_reader_log_at(&b->reader, saltusi_yaml_find(section, "tol"), &placed);
  if (view->options != NULL && saltusi_tol_set_options(info, (void*)(uintptr_t)view->options,
                                                       view->tol, "tol", log) != SALTUS_OK) {
    b->reader.status = SALTUS_ERR_INPUT;
  }
  return true;
}

/* The controller of the scene: control: NAME, or the one implied by tol; NULL: none. */
static const saltus_control_info* find_control(saltusi_scene_builder* b,
                                               const saltusi_yaml_node* section) {
  const saltusi_yaml_node* node = saltusi_yaml_find(section, "control");
  const saltusi_yaml_node* options = saltusi_reader_section(section, "control_options");
  const saltus_scene_view* view = &b->scene->view;
  if (node != NULL) {
    const char* name = saltusi_reader_text(&b->reader, node, "control");
    const saltus_control_info* info = name != NULL ? saltus_control_find(name) : NULL;
    if (name != NULL && info == NULL) {
      saltusi_reader_fail(&b->reader, node,
                          "no step control " SALTUSI_QUOTE "; see saltus list controls", name);
    }
    return info;
  }
  if (isnan(view->tol)) {
    if (options != NULL) {
      saltusi_reader_fail(&b->reader, options,
                          "control_options belong to a controller; give simulate.control");
    }
    return NULL;
  }
  const saltus_scheme_info* scheme = saltus_scheme_find(view->scheme);
  const char* name = scheme != NULL ? saltusi_tol_control(scheme) : "variable-order";
  if (name == NULL) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(section, "tol"), "scheme %s %s", scheme->name,
                        saltusi_tol_refusal(scheme));
    return NULL;
  }
  return saltus_control_find(name);
}

/* A step-size controller: control: NAME, control_options: {...}, or tol: X for the recommended one. */
static void read_control(saltusi_scene_builder* b, const saltusi_yaml_node* section) {
  const saltusi_yaml_node* options = saltusi_reader_section(section, "control_options");
  saltus_scene_view* view = &b->scene->view;
  view->tol = saltusi_scene_constant(b, section, "tol", NAN);
  bool free = saltusi_yaml_find(section, "control") == NULL && options == NULL;
  if (free && read_scheme_tol(b, section)) {
    return;
  }
  const saltus_control_info* info = find_control(b, section);
  if (info == NULL) {
    return;
  }
  saltus_control_options* values =
      read_options(b, info->name, &info->options, options, "control_options");
  if (values != NULL && !isnan(view->tol) && b->reader.status == SALTUS_OK) {
    saltusi_placed_log placed;
    saltus_log log = saltusi_reader_log_at(&b->reader, saltusi_yaml_find(section, "tol"), &placed);
    if (saltusi_tol_set_control(values, view->tol, "tol", log) != SALTUS_OK) {
      b->reader.status = SALTUS_ERR_INPUT;
    }
  }
  view->control = info->name;
  view->control_options = values;
}

static void read_simulate(saltusi_scene_builder* b) {
  saltus_scene_view* view = &b->scene->view;
  view->until = NAN;
  view->step = NAN;
  view->tol = NAN;
  view->start_tolerance = start_tolerance;
  const saltusi_yaml_node* section = saltusi_reader_section(b->root, "simulate");
  if (section == NULL || !saltusi_reader_keys(&b->reader, section, "simulate", "simulate")) {
    return;
  }
  view->start = saltusi_scene_constant(b, section, "start", 0.0);
  view->until = saltusi_scene_constant(b, section, "until", NAN);
  view->step = saltusi_scene_constant(b, section, "step", NAN);
  view->start_tolerance = saltusi_scene_constant(b, section, "start_tolerance", start_tolerance);
  if (view->until <= view->start) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(section, "until"),
                        "until is %g s, must be later than the start at %g s", view->until,
                        view->start);
  }
  if (view->step <= 0.0) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(section, "step"),
                        "step is %g s, must be positive", view->step);
  }
  if (view->start_tolerance < 0.0) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(section, "start_tolerance"),
                        "start_tolerance is %g, must not be negative", view->start_tolerance);
  }
  view->global = saltusi_scene_flag(b, saltusi_yaml_find(section, "global"), "global");
  read_scheme(b, section);
  read_control(b, section);
}

static void read_record(saltusi_scene_builder* b) {
  saltus_scene_view* view = &b->scene->view;
  view->record_every = 1;
  const saltusi_yaml_node* section = saltusi_reader_section(b->root, "record");
  if (section == NULL || !saltusi_reader_keys(&b->reader, section, "record", "record")) {
    return;
  }
  const saltusi_yaml_node* node = saltusi_yaml_find(section, "every");
  const char* text = saltusi_reader_text(&b->reader, node, "every");
  if (text != NULL) {
    char* end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1) {
      saltusi_reader_fail(&b->reader, node,
                          "every is " SALTUSI_QUOTE ", must be a whole number from 1 on", text);
    }
    view->record_every = value;
  }
  view->record_dt = saltusi_scene_constant(b, section, "dt", 0.0);
  const saltusi_yaml_node* dt = saltusi_yaml_find(section, "dt");
  if (dt != NULL && !(view->record_dt > 0.0)) {
    saltusi_reader_fail(&b->reader, dt, "dt is %g s, must be positive", view->record_dt);
  } else if (dt != NULL && node != NULL) {
    saltusi_reader_fail(&b->reader, dt, "record has every and dt; give one of them");
  }
  view->record_given = dt != NULL || node != NULL;
}

static void read_all(saltusi_scene_builder* b) {
  if (!saltusi_reader_keys(&b->reader, b->root, "", "the scene")) {
    return;
  }
  saltus_scene_view* view = &b->scene->view;
  read_version(b);
  view->name = saltusi_scene_text(b, saltusi_scene_get(b, "name"), "name");
  view->description = saltusi_scene_text(b, saltusi_scene_get(b, "description"), "description");
  view->reference = saltusi_reader_text(&b->reader, saltusi_scene_get(b, "reference"), "reference");
  read_parameters(b);
  saltusi_overrides_parameters(b);
  saltusi_scene_inputs(b);
  saltusi_scene_bodies(b);
  saltusi_scene_shapes(b);
  read_coordinates(b);
  read_tolerances(b, "tolerance", &view->atol_q);
  read_tolerances(b, "velocity_tolerance", &view->atol_v);
  saltusi_scene_forces(b);
  b->model.kinetic = saltusi_reader_formula(&b->reader, saltusi_scene_get(b, "kinetic"), "kinetic");
  b->model.potential =
      saltusi_reader_formula(&b->reader, saltusi_scene_get(b, "potential"), "potential");
  if (saltusi_scene_get(b, "kinetic") == NULL && b->model.coordinate_count > 0) {
    saltusi_reader_fail(&b->reader, b->root, "\"kinetic\" is missing; give the kinetic energy");
  }
  saltusi_scene_springs(b);
  saltusi_scene_joints(b);
  saltusi_scene_contacts(b);
  saltusi_scene_elements(b);
  saltusi_scene_dry(b);
  saltusi_scene_impacts(b);
  read_simulate(b);
  read_record(b);
  saltusi_scene_beams(b);
  saltusi_scene_flexible_frames(b);
  if (b->reader.pool->failed && b->reader.status == SALTUS_OK) {
    b->reader.status = SALTUS_ERR_MEMORY; /* of a text for messages */
  }
}

/* Tolerances are given for coordinates by formula; bodies have those of the scheme. */
static const double* widen(saltusi_scene_builder* b, const double* given) {
  const saltus_dims* d = &b->scene->view.system->dims;
  const int own = b->model.coordinate_count, room = d->nq > d->nv ? d->nq : d->nv;
  if (given == NULL || room == own) {
    return given;
  }
  double* values = saltusi_reader_take(&b->reader, (size_t)room, sizeof *values);
  if (values != NULL) {
    memcpy(values, given, (size_t)own * sizeof *values);
  }
  return values;
}

/* A system needs at least one coordinate. If all bodies are fixed or driven, a decoupled coordinate at rest is added.
 * */
static void add_inert_coordinate(saltusi_scene_builder* b) {
  static const saltus_formula_coordinate inert = {.name = "inert_coordinate", .unit = "1"};
  if (b->scene->mechanism == NULL || b->model.coordinate_count > 0 ||
      saltus_mechanism_system(b->scene->mechanism)->dims.nq > 0) {
    return;
  }
  b->model.coordinates = &inert;
  b->model.coordinate_count = 1;
  if (b->model.kinetic.text == NULL) {
    b->model.kinetic.text = "inert_coordinate'^2/2";
  }
}

static saltus_status build_model(saltusi_scene_builder* b) {
  saltus_scene* scene = b->scene;
  b->model.log = saltusi_scene_finder(b);
  b->model.allocator = &b->reader.pool->allocator;
  saltus_status status = saltusi_scene_mechanism(b);
  const saltusi_yaml_node* coordinates;
  b->model.mechanism = scene->mechanism;
  b->model.unbounded = saltusi_scene_by_joints(b, &coordinates);
  if (b->model.unbounded && scene->mechanism != NULL && status == SALTUS_OK) {
    saltusi_scene_laws(b);
  }
  add_inert_coordinate(b);
  status = status == SALTUS_OK ? saltus_formula_model_create(&b->model, &scene->model) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  scene->view.mechanism = scene->mechanism;
  scene->view.input_changes = &scene->changes;
  saltus_scene_view* view = &scene->view;
  view->system = saltus_formula_model_system(scene->model);
  saltusi_scene_matrix(b, view->system);
  view->q0 = saltus_formula_model_q0(scene->model);
  view->v0 = saltus_formula_model_v0(scene->model);
  const saltus_system* inner = view->system;
  status = saltusi_scene_flexible_system(b);
  if (status != SALTUS_OK) {
    return status;
  }
  int nj = view->system->dims.nj;
  const char** names = saltusi_reader_take(&b->reader, (size_t)nj + 1, sizeof *names);
  for (int j = 0; j < nj && names != NULL; j++) {
    names[j] = saltus_formula_model_joint_name(scene->model, j);
  }
  view->joint_names = names;
  view->atol_q = widen(b, view->atol_q);
  view->atol_v = widen(b, view->atol_v);
  saltusi_scene_observe(b, &b->model, &scene->observer);
  if (b->reader.status != SALTUS_OK) {
    return b->reader.status;
  }
  view->observables =
      scene->observer != NULL ? saltus_formula_observer_view(scene->observer) : NULL;
  if (scene->mechanism != NULL) {
    view->observables =
        saltusi_observe_bodies(&b->reader, view->observables, scene->mechanism, inner);
    if (scene->over != NULL && view->observables != NULL) {
      view->observables = saltusi_flexible_observables(scene->over, view->observables);
    }
    if (view->observables == NULL) {
      return b->reader.status;
    }
  }
  saltusi_scene_switching(b);
  if (b->def->like == NULL) {
    saltusi_scene_view_section(b);
    saltusi_scene_drawn_elements(b);
  }
  if (names == NULL || b->reader.status != SALTUS_OK || saltusi_scene_overlaps(b) != SALTUS_OK ||
      saltusi_start_check(&b->reader, view, scene->model, scene->inputs, b->root) != SALTUS_OK) {
    return b->reader.status;
  }
  saltusi_scene_interface(b);
  const saltus_system* rigid =
      scene->over != NULL ? saltusi_flexible_system_rigid(scene->over) : NULL;
  if (b->reader.status == SALTUS_OK &&
      saltusi_start_correct(&b->reader, view, scene->mechanism, rigid, b->root) == SALTUS_OK) {
    return saltusi_scene_trees(b);
  }
  return b->reader.status;
}

/* The whole file in the pool, or NULL after a message; no message for SALTUS_ERR_MEMORY. */
static const char* load(saltusi_scene_builder* b, size_t* length) {
  const char* path = b->def->path;
  FILE* file = saltusi_regular_stream(path);
  if (file == NULL) {
    saltusi_log(b->def->log, SALTUS_LEVEL_ERROR, "%s: %s", path, saltusi_regular_reason(errno));
    b->reader.status = SALTUS_ERR_IO;
    return NULL;
  }
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* text = NULL;
  if (size < 0 || size > largest_file || fseek(file, 0, SEEK_SET) != 0) {
    saltusi_log(b->def->log, SALTUS_LEVEL_ERROR,
                "%s: not a file that can be a scene (at most %ld MB)", path, largest_file >> 20);
    b->reader.status = SALTUS_ERR_IO;
  } else {
    text = saltusi_reader_take(&b->reader, (size_t)size + 1, 1);
  }
  if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
    saltusi_log(b->def->log, SALTUS_LEVEL_ERROR, "%s: could not be read", path);
    b->reader.status = SALTUS_ERR_IO;
    text = NULL;
  }
  fclose(file);
  *length = (size_t)size;
  return text;
}

static saltus_status read_scene(saltusi_scene_builder* b) {
  saltus_scene* scene = b->scene;
  const saltus_scene* like = b->def->like;
  const char* text;
  size_t length = 0;
  if (like != NULL) {
    scene->view.text = like->view.text;
    saltusi_overrides_collect(b);
    scene->root = like->root;
    b->root = like->root;
    b->reader.known = true;
    read_all(b);
    return b->reader.status == SALTUS_OK ? build_model(b) : b->reader.status;
  }
  if (b->def->text != NULL) {
    text = saltusi_pool_text(&scene->pool, b->def->text);
    length = strlen(b->def->text);
  } else {
    text = load(b, &length);
  }
  if (text == NULL) {
    return b->reader.status != SALTUS_OK ? b->reader.status : SALTUS_ERR_MEMORY;
  }
  scene->view.text = text;
  saltusi_overrides_collect(b);
  saltusi_yaml_node* root;
  saltus_status status =
      saltusi_tree_is(text)
          ? saltusi_tree_read(text, length, b->reader.file, &scene->pool, b->def->log, &root)
          : saltusi_yaml_parse(text, length, b->reader.file, &scene->pool, b->def->log, &root);
  if (status != SALTUS_OK) {
    return status;
  }
  b->root = root;
  scene->root = root;
  if (saltusi_scene_include(b, root) && b->reader.status == SALTUS_OK) {
    scene->view.text = saltusi_tree_text(root, b->reader.pool); /* complete without the robots */
  }
  if (b->reader.status != SALTUS_OK || scene->view.text == NULL) {
    return b->reader.status != SALTUS_OK ? b->reader.status : SALTUS_ERR_MEMORY;
  }
  saltusi_scene_quantities(b, root);
  read_all(b);
  return b->reader.status == SALTUS_OK ? build_model(b) : b->reader.status;
}

saltus_status saltus_scene_create(const saltus_scene_def* def, saltus_scene** out) {
  assert(def != NULL && out != NULL);
  return saltusi_scene_create_members(def, NULL, out);
}

saltus_status saltusi_scene_create_members(const saltus_scene_def* def,
                                           const saltusi_scene_members* members,
                                           saltus_scene** out) {
  assert(def != NULL && out != NULL &&
         (def->text != NULL || def->path != NULL || def->like != NULL));
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_scene_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  const char* file = def->like != NULL ? def->like->file : def->path != NULL ? def->path : "scene";
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_scene* scene = SALTUSI_TAKE(&pool, saltus_scene, 1);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (scene != NULL) {
    scene->pool = pool;
    scene->file = saltusi_pool_text(&scene->pool, file);
    saltusi_scene_builder b = {.reader = {.file = file, .pool = &scene->pool, .log = def->log},
                               .def = def,
                               .members = members,
                               .scene = scene};
    status = read_scene(&b);
    saltusi_formula_constants_close(b.constants);
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "%s: no memory", file);
  }
  if (status != SALTUS_OK) {
    saltus_scene_destroy(scene);
    return status;
  }
  *out = scene;
  return SALTUS_OK;
}

void saltus_scene_destroy(saltus_scene* scene) {
  if (scene != NULL) {
    saltus_formula_model_destroy(scene->model);
    saltus_formula_observer_destroy(scene->observer);
    saltus_formula_observer_destroy(scene->drawing.observer);
    saltus_tree_destroy(scene->tree);
    saltus_mechanism_destroy(scene->mechanism);
    for (int i = 0; i < scene->flexible_count; i++) {
      saltus_flexible_destroy(scene->flexible[i].data);
    }
    saltusi_pool pool = scene->pool;
    saltusi_pool_free(&pool);
  }
}

const saltus_scene_view* saltus_scene_get_view(const saltus_scene* scene) {
  assert(scene != NULL);
  return &scene->view;
}
