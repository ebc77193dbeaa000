/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.c - the sections world, bodies and markers, and the mechanism that they define.
 */
#include "base/log.h"
#include "math/rotation.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool plane(const saltusi_scene_builder* b) {
  return b->mechanism.dimension == 2;
}

/* A name that is valid in formulas. */
void saltusi_scene_check_name(saltusi_scene_builder* b, const saltusi_yaml_node* key,
                              const char* kind) {
  assert(b != NULL && key != NULL);
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char digits[] = "0123456789";
  size_t length = strspn(key->text, letters) > 0 ? 1 : 0;
  while (
      length > 0 && key->text[length] != '\0' &&
      (strchr(letters, key->text[length]) != NULL || strchr(digits, key->text[length]) != NULL)) {
    length++;
  }
  if (length == 0 || key->text[length] != '\0' || length > 63) {
    saltusi_reader_fail(&b->reader, key,
                        "%s " SALTUSI_QUOTE ": a name is made of letters, digits and underscores, "
                        "does not start with a digit and has at most 63 characters",
                        kind, key->text);
  }
}

/* One number in the plane, a list in space. */
static void read_turning(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* key,
                         const char* what, double out[3]) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, key);
  if (plane(b)) {
    out[0] = saltusi_scene_number(b, node, what, 0.0);
  } else {
    saltusi_scene_numbers(b, node, what, (const int[2]){3, 3}, out);
  }
}

void saltusi_scene_point(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* key,
                         const char* what, double out[3]) {
  assert(b != NULL && item != NULL);
  const int count = plane(b) ? 2 : 3;
  saltusi_scene_numbers(b, saltusi_yaml_find(item, key), what, (const int[2]){count, count}, out);
}

/* orientation: {axis: [..], angle: ..} | {quaternion: [..]} | {rpy: [..]} */
static saltus_orientation read_frame(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                                     const char* what) {
  saltus_orientation o = {.kind = SALTUS_ORIENTATION_NONE};
  if (node == NULL || !saltusi_reader_keys(&b->reader, node, "orientation", what)) {
    return o;
  }
  const saltusi_yaml_node* axis = saltusi_yaml_find(node, "axis");
  const saltusi_yaml_node* quaternion = saltusi_yaml_find(node, "quaternion");
  const saltusi_yaml_node* rpy = saltusi_yaml_find(node, "rpy");
  const saltusi_yaml_node* angle = saltusi_yaml_find(node, "angle");
  if ((axis != NULL) + (quaternion != NULL) + (rpy != NULL) != 1 ||
      (axis != NULL) != (angle != NULL)) {
    saltusi_reader_fail(&b->reader, node,
                        "%s has to be one of {axis: [x, y, z], angle: a}, {quaternion: [w, x, y, "
                        "z]} and {rpy: [roll, pitch, yaw]}",
                        what);
    return o;
  }
  if (axis != NULL) {
    o.kind = SALTUS_ORIENTATION_AXIS;
    saltusi_scene_numbers(b, axis, "axis", (const int[2]){3, 3}, o.value);
    o.value[3] = saltusi_scene_number(b, angle, "angle", 0.0);
  } else if (quaternion != NULL) {
    o.kind = SALTUS_ORIENTATION_QUATERNION;
    saltusi_scene_numbers(b, quaternion, "quaternion", (const int[2]){4, 4}, o.value);
  } else {
    o.kind = SALTUS_ORIENTATION_RPY;
    saltusi_scene_numbers(b, rpy, "rpy", (const int[2]){3, 3}, o.value);
  }
  return o;
}

/* angle in the plane, orientation in space */
saltus_orientation saltusi_scene_orientation(saltusi_scene_builder* b,
                                             const saltusi_yaml_node* item) {
  assert(b != NULL && item != NULL);
  const saltusi_yaml_node* angle = saltusi_yaml_find(item, "angle");
  const saltusi_yaml_node* orientation = saltusi_yaml_find(item, "orientation");
  const saltusi_yaml_node* wrong = plane(b) ? orientation : angle;
  if (wrong != NULL) {
    saltusi_reader_fail(&b->reader, wrong,
                        plane(b) ? "in the plane an orientation is an angle; give \"angle\""
                                 : "in space an angle has an axis; give \"orientation\"");
  }
  if (!plane(b)) {
    return read_frame(b, orientation, "orientation");
  }
  saltus_orientation o = {.kind = SALTUS_ORIENTATION_NONE};
  if (angle != NULL) {
    o.kind = SALTUS_ORIENTATION_ANGLE;
    o.value[0] = saltusi_scene_number(b, angle, "angle", 0.0);
  }
  return o;
}

/* driven: {x: .., y: .., angle: ..}, in space x, y, z and rpy, or axis and angle */
static void read_driven(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                        saltus_body_def* body) {
  static const char* const names[3] = {"x", "y", "z"};
  saltus_driven_pose* pose = saltusi_reader_take(&b->reader, 1, sizeof *pose);
  if (pose == NULL || !saltusi_reader_keys(&b->reader, node, "bodies.NAME.driven", "driven")) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    pose->position[k] =
        saltusi_scene_signal(b, saltusi_yaml_find(node, names[k]),
                             saltusi_scene_describe(b, names[k], "body", body->name));
  }
  const saltusi_yaml_node* angle = saltusi_yaml_find(node, "angle");
  const saltusi_yaml_node* axis = saltusi_yaml_find(node, "axis");
  const saltusi_yaml_node* rpy = saltusi_yaml_find(node, "rpy");
  const saltusi_yaml_node* flat = axis != NULL  ? axis
                                  : rpy != NULL ? rpy
                                                : saltusi_yaml_find(node, "z");
  if (plane(b) && flat != NULL) {
    saltusi_reader_fail(&b->reader, flat, "in the plane a driven body has x, y and angle");
  } else if (!plane(b) && ((axis != NULL) != (angle != NULL) || (axis != NULL && rpy != NULL))) {
    saltusi_reader_fail(&b->reader, node,
                        "in space a driven body turns by axis and angle, or by rpy");
  }
  pose->rotation[0] =
      saltusi_scene_signal(b, angle, saltusi_scene_describe(b, "angle", "body", body->name));
  saltusi_scene_numbers(b, axis, "axis", (const int[2]){3, 3}, pose->axis);
  if (rpy != NULL && saltusi_reader_expect(&b->reader, rpy, SALTUSI_YAML_SEQUENCE, "rpy")) {
    if (rpy->count != 3) {
      saltusi_reader_fail(&b->reader, rpy, "rpy has %d formulas, must have 3", rpy->count);
    }
    for (int k = 0; k < 3 && b->reader.status == SALTUS_OK; k++) {
      pose->rotation[k] = saltusi_scene_signal(
          b, &rpy->children[k], saltusi_scene_describe(b, "rpy", "body", body->name));
    }
  }
  body->driven = pose;
}

/* The orientation of a marker of the body, composed along its chain of markers, or an explicit
 * orientation. Errors of markers are reported at their definition. */
static saltus_orientation read_inertia_frame(saltusi_scene_builder* b,
                                             const saltusi_yaml_node* node, const char* body) {
  saltus_orientation whole = {.kind = SALTUS_ORIENTATION_NONE};
  if (node == NULL || node->kind == SALTUSI_YAML_MAPPING) {
    return read_frame(b, node, "inertia_frame");
  }
  const char* name = saltusi_reader_text(&b->reader, node, "inertia_frame");
  const saltusi_yaml_node* markers = saltusi_scene_mapping(b, "markers");
  const char* next = name;
  for (int level = 0; next != NULL && level <= markers->count; level++) {
    const saltusi_yaml_node* marker = saltusi_yaml_find(markers, next);
    const bool there = marker != NULL && marker->kind == SALTUSI_YAML_MAPPING;
    const saltusi_yaml_node* on = there ? saltusi_yaml_find(marker, "body") : NULL;
    const saltusi_yaml_node* parent = there ? saltusi_yaml_find(marker, "marker") : NULL;
    if (on != NULL ? strcmp(on->text, body) != 0 : parent == NULL) {
      saltusi_reader_fail(&b->reader, node,
                          "inertia_frame is " SALTUSI_QUOTE
                          ", must be a marker on body " SALTUSI_QUOTE ", or an orientation",
                          name, body);
      break;
    }
    const saltus_orientation own =
        read_frame(b, saltusi_yaml_find(marker, "orientation"), "orientation");
    double R[9], inner[9], product[9];
    if (level == 0) {
      whole = own;
    } else if (saltusi_orientation_matrix(&own, R) && saltusi_orientation_matrix(&whole, inner)) {
      saltusi_matrix3_product(R, inner, product);
      whole.kind = SALTUS_ORIENTATION_QUATERNION;
      saltusi_matrix_quaternion(product, whole.value);
    }
    next = on == NULL ? parent->text : NULL;
  }
  return whole;
}

static void read_inertia(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                         saltus_body_def* body) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "inertia");
  const saltusi_yaml_node* frame = saltusi_yaml_find(item, "inertia_frame");
  const saltusi_yaml_node* density = saltusi_yaml_find(item, "density");
  const bool has_mass = saltusi_yaml_find(item, "mass") != NULL;
  if (density != NULL && (has_mass || node != NULL)) {
    saltusi_reader_fail(&b->reader, density,
                        "body " SALTUSI_QUOTE
                        " has a density and %s, which follow from shapes and density",
                        body->name, has_mass ? "a mass" : "an inertia");
    return;
  }
  body->density = saltusi_scene_constant(b, item, "density", 0.0);
  if (density != NULL) {
    return;
  }
  const bool by_shapes = has_mass && saltusi_yaml_find(item, "shapes") != NULL;
  if (!has_mass || (node == NULL && !by_shapes)) {
    saltusi_reader_fail(&b->reader, item,
                        "body " SALTUSI_QUOTE " has no %s; it needs both, or a density and shapes, "
                        "unless it is fixed or driven",
                        body->name, has_mass ? "inertia" : "mass");
    return;
  }
  body->mass = saltusi_scene_constant(b, item, "mass", 0.0);
  if (plane(b)) {
    body->inertia[0] = saltusi_scene_number(b, node, "inertia", 0.0);
    if (frame != NULL) {
      saltusi_reader_fail(&b->reader, frame, "in the plane inertia has no frame");
    }
    return;
  }
  saltusi_scene_numbers(b, node, "inertia", (const int[2]){3, 6}, body->inertia);
  body->inertia_orientation = read_inertia_frame(b, frame, body->name);
}

static void read_velocity(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                          saltus_body_def* body) {
  static const char* const frames[] = {"world", "body", NULL};
  const saltusi_yaml_node* frame = saltusi_yaml_find(item, "frame");
  saltusi_scene_point(b, item, "velocity", "velocity", body->velocity);
  read_turning(b, item, "angular_velocity", "angular_velocity", body->angular_velocity);
  if (frame != NULL) { /* without one, default axes */
    const int in_body = saltusi_scene_word(b, frame, "frame", frames);
    body->velocity_in_body = in_body == 1;
    body->angular_in_world = in_body == 0;
  }
}

static void read_body(saltusi_scene_builder* b, const saltusi_yaml_node* key,
                      const saltusi_yaml_node* item, int place, saltus_body_def* body) {
  char what[200];
  snprintf(what, sizeof what, "body " SALTUSI_QUOTE, key->text);
  body->name = key->text;
  saltusi_scene_check_name(b, key, "body");
  if (!saltusi_reader_keys(&b->reader, item, "bodies.NAME", what)) {
    return;
  }
  const saltusi_yaml_node* driven = saltusi_yaml_find(item, "driven");
  const bool fixed = saltusi_scene_flag(b, saltusi_yaml_find(item, "fixed"), "fixed");
  body->kind = fixed ? SALTUS_BODY_FIXED : driven != NULL ? SALTUS_BODY_DRIVEN : SALTUS_BODY_FREE;
  body->orientation = saltusi_scene_orientation(b, item);
  saltusi_scene_point(b, item, "position", "position", body->position);
  if (body->kind == SALTUS_BODY_FREE) {
    if (!saltusi_scene_flexible_body(b, item, body, place)) {
      read_inertia(b, item, body);
    }
    read_velocity(b, item, body);
    return;
  }
  static const char* const moving[] = {"velocity", "angular_velocity", "frame", "position"};
  for (int k = 0; k < (fixed ? 3 : 4); k++) {
    const saltusi_yaml_node* wrong = saltusi_yaml_find(item, moving[k]);
    if (wrong != NULL) {
      saltusi_reader_fail(&b->reader, wrong, "body " SALTUSI_QUOTE " is %s and has no %s",
                          body->name, fixed ? "fixed" : "driven", moving[k]);
    }
  }
  if (fixed && driven != NULL) {
    saltusi_reader_fail(&b->reader, driven, "body " SALTUSI_QUOTE " is fixed and driven",
                        body->name);
  } else if (driven != NULL) {
    read_driven(b, driven, body);
  }
}

static void read_marker(saltusi_scene_builder* b, const saltusi_yaml_node* key,
                        const saltusi_yaml_node* item, saltus_marker_def* marker) {
  char what[200];
  snprintf(what, sizeof what, "marker " SALTUSI_QUOTE, key->text);
  marker->name = key->text;
  saltusi_scene_check_name(b, key, "marker");
  if (!saltusi_reader_keys(&b->reader, item, "markers.NAME", what)) {
    return;
  }
  marker->body = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "body"), "body");
  marker->marker = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "marker"), "marker");
  marker->orientation = saltusi_scene_orientation(b, item);
  saltusi_scene_point(b, item, "point", "point", marker->position);
}

static void read_world(saltusi_scene_builder* b) {
  const saltusi_yaml_node* world = saltusi_reader_section(b->root, "world");
  b->mechanism.dimension = 2;
  if (world != NULL && !saltusi_reader_keys(&b->reader, world, "world", "world")) {
    return;
  }
  const double dimension = saltusi_scene_constant(b, world, "dimension", 2.0);
  if (dimension != 2.0 && dimension != 3.0) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(world, "dimension"),
                        "dimension is %g, must be 2 or 3", dimension);
    return;
  }
  b->mechanism.dimension = (int)dimension;
  b->mechanism.gravity[plane(b) ? 1 : 2] = -9.81;
  if (world != NULL) {
    saltusi_scene_point(b, world, "gravity", "gravity", b->mechanism.gravity);
  }
}

void saltusi_scene_bodies(saltusi_scene_builder* b) {
  assert(b != NULL);
  const bool bodies_given = saltusi_reader_section(b->root, "bodies") != NULL ||
                            saltusi_reader_section(b->root, "beams") != NULL;
  if (!bodies_given || b->reader.status != SALTUS_OK) {
    static const char* const needing[] = {"world", "markers", "materials", "contact_pairs"};
    for (int k = 0; k < 4 && b->reader.status == SALTUS_OK; k++) {
      const saltusi_yaml_node* node = saltusi_reader_section(b->root, needing[k]);
      if (node != NULL) {
        saltusi_reader_fail(&b->reader, node, "%s needs bodies; the scene has none", needing[k]);
      }
    }
    return;
  }
  read_world(b);
  const saltusi_yaml_node* list = saltusi_scene_mapping(b, "bodies");
  const saltusi_yaml_node* marks = saltusi_scene_mapping(b, "markers");
  saltus_body_def* bodies = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *bodies);
  saltus_marker_def* markers =
      saltusi_reader_take(&b->reader, (size_t)marks->count, sizeof *markers);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    read_body(b, &list->keys[i], &list->children[i], i, &bodies[i]);
  }
  for (int i = 0; i < marks->count && b->reader.status == SALTUS_OK; i++) {
    read_marker(b, &marks->keys[i], &marks->children[i], &markers[i]);
  }
  b->mechanism.bodies = bodies;
  b->mechanism.body_count = list->count;
  b->mechanism.markers = markers;
  b->mechanism.marker_count = marks->count;
}

/* ---- messages with file and line ---- */

typedef struct bodies_finder {
  saltus_log inner;
  const char* file;
  const saltusi_yaml_node* root;
  const saltusi_scene_builder* builder;
} bodies_finder;

/* The item of that name, in a mapping or in a list. */
static const saltusi_yaml_node* find_item(const saltusi_yaml_node* section, const char* name,
                                          size_t length) {
  for (int i = 0; section != NULL && i < section->count; i++) {
    const saltusi_yaml_node* item = &section->children[i];
    const saltusi_yaml_node* own =
        section->kind == SALTUSI_YAML_MAPPING ? &section->keys[i] : saltusi_yaml_find(item, "name");
    if (own != NULL && strlen(own->text) == length && strncmp(own->text, name, length) == 0) {
      return item;
    }
  }
  return NULL;
}

/* The value of a key of the item that the message names. */
static const saltusi_yaml_node* find_key(const saltusi_yaml_node* item, const char* text) {
  for (int i = 0; item != NULL && item->kind == SALTUSI_YAML_MAPPING && i < item->count; i++) {
    const char* key = item->keys[i].text;
    const char* found = strcmp(key, "name") != 0 ? strstr(text, key) : NULL;
    if (found != NULL && (found == text || found[-1] == ' ')) {
      return &item->children[i];
    }
  }
  return item;
}

/* The shape of that name, in a body or in the world. */
static const saltusi_yaml_node* find_shape(const saltusi_scene_builder* b, const char* name,
                                           size_t length) {
  for (int i = 0; b->shape_nodes != NULL && i < b->mechanism.shape_count; i++) {
    const char* own = b->mechanism.shapes[i].shape.name;
    if (own != NULL && strlen(own) == length && strncmp(own, name, length) == 0) {
      return b->shape_nodes[i];
    }
  }
  return NULL;
}

/* The node of a shape that a message names after "shape ": NAME: ... or "NAME": ... */
static const saltusi_yaml_node* place_of_shape(const saltusi_scene_builder* b, const char* text) {
  const bool quoted = text[0] == '"';
  const char* name = quoted ? text + 1 : text;
  const char* end = strstr(name, quoted ? "\":" : ":");
  const saltusi_yaml_node* at = end != NULL ? find_shape(b, name, (size_t)(end - name)) : NULL;
  return at != NULL ? find_key(at, end) : NULL;
}

/* Messages begin with the object: body "arm": ... */
static void write_found(void* user, saltus_level level, const char* text) {
  static const char* const kinds[][2] = {
      {"body", "bodies"},        {"marker", "markers"},
      {"joint", "joints"},       {"spring", "springs"},
      {"input", "inputs"},       {"force", "forces"},
      {"mechanism", "world"},    {"coordinate", "coordinates"},
      {"material", "materials"}, {"contact_pairs", "contact_pairs"},
      {"element", "elements"}};
  const bodies_finder* f = user;
  const char* quote = strstr(text, " \"");
  const char* end = quote != NULL ? strchr(quote + 2, '"') : NULL;
  const saltusi_yaml_node* at = NULL;
  for (size_t k = 0; end != NULL && k < sizeof kinds / sizeof kinds[0]; k++) {
    const size_t length = strlen(kinds[k][0]);
    if ((size_t)(quote - text) == length && strncmp(text, kinds[k][0], length) == 0) {
      const saltusi_yaml_node* section = saltusi_yaml_find(f->root, kinds[k][1]);
      at = find_item(section, quote + 2, (size_t)(end - quote - 2));
      at = at != NULL ? find_key(at, end) : section != NULL ? section : f->root;
    }
  }
  if (strncmp(text, "shape ", 6) == 0) {
    at = place_of_shape(f->builder, text + 6);
  }
  if (at == NULL) {
    saltusi_log(f->inner, level, "%s", text);
    return;
  }
  saltusi_log(f->inner, level, "%s:%d:%d: %s", f->file, at->line, at->column, text);
}

saltus_log saltusi_scene_finder(saltusi_scene_builder* b) {
  assert(b != NULL);
  bodies_finder* f = saltusi_reader_take(&b->reader, 1, sizeof *f);
  if (f == NULL) {
    return b->reader.log;
  }
  *f = (bodies_finder){
      .inner = b->reader.log, .file = b->reader.file, .root = b->root, .builder = b};
  return (saltus_log){.write = write_found, .user = f};
}

saltus_status saltusi_scene_mechanism(saltusi_scene_builder* b) {
  assert(b != NULL);
  if (b->mechanism.dimension == 0) {
    return SALTUS_OK;
  }
  b->mechanism.log = saltusi_scene_finder(b);
  b->mechanism.allocator = &b->reader.pool->allocator;
  b->mechanism.t0 = b->scene->view.start;
  saltus_status status = saltus_mechanism_create(&b->mechanism, &b->scene->mechanism);
  return status == SALTUS_OK || status == SALTUS_ERR_MEMORY ? status : SALTUS_ERR_INPUT;
}
