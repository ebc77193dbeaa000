/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes.c - the sections materials and contact_pairs, and shapes of bodies and of the world.
 */
#include "scene/builder.h"
#include "scene/mesh_file.h"

#include "base/log.h"
#include "base/number.h"
#include "math/rotation.h"
#include "shape/polytope/convex_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The dimension keys of each kind. */
static const char* const described_by[] = {
    [SALTUS_SHAPE_CIRCLE] = "radius hollow",
    [SALTUS_SHAPE_SEGMENT] = "points radius",
    [SALTUS_SHAPE_POLYGON] = "points radius",
    [SALTUS_SHAPE_HALF_PLANE] = "",
    [SALTUS_SHAPE_CHAIN] = "points bulges closed",
    [SALTUS_SHAPE_CAPSULE] = "radius length",
    [SALTUS_SHAPE_SPHERE] = "radius hollow",
    [SALTUS_SHAPE_BOX] = "size radius",
    [SALTUS_SHAPE_CYLINDER] = "radius length",
    [SALTUS_SHAPE_CONE] = "radius length",
    [SALTUS_SHAPE_ELLIPSOID] = "size",
    [SALTUS_SHAPE_TORUS] = "size radius",
    [SALTUS_SHAPE_HALF_SPACE] = "",
    [SALTUS_SHAPE_HULL] = "points triangles file scale radius parts",
    [SALTUS_SHAPE_MESH] = "points triangles file scale",
    [SALTUS_SHAPE_HEIGHTFIELD] = "heights spacing",
};
enum { KINDS = sizeof described_by / sizeof described_by[0] };

static bool is_word_of(const char* words, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = strstr(words, word); at != NULL; at = strstr(at + 1, word)) {
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

/* [[x, y], ...], or of numbers alone when width is 1. */
static double* read_rows(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* what,
                         int width, int* rows) {
  *rows = 0;
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, what)) {
    return NULL;
  }
  double* out = saltusi_reader_take(&b->reader, (size_t)node->count * (size_t)width, sizeof *out);
  for (int i = 0; out != NULL && i < node->count && b->reader.status == SALTUS_OK; i++) {
    if (width == 1) {
      out[i] = saltusi_scene_number(b, &node->children[i], what, 0.0);
    } else {
      saltusi_scene_numbers(b, &node->children[i], what, (const int[2]){width, width},
                            out + (size_t)i * (size_t)width);
    }
  }
  *rows = node->count;
  return out;
}

static int* read_triangles(saltusi_scene_builder* b, const saltusi_yaml_node* node, int* count) {
  double* places = read_rows(b, node, "triangles", 3, count);
  int* out = saltusi_reader_take(&b->reader, 3 * (size_t)*count, sizeof *out);
  for (int i = 0; out != NULL && places != NULL && i < 3 * *count; i++) {
    if (!(places[i] >= 0.0 && places[i] < 1e9) || places[i] != floor(places[i])) {
      saltusi_reader_fail(&b->reader, node, "triangles has %g, must be places of points, from 0 on",
                          places[i]);
      return out;
    }
    out[i] = (int)places[i];
  }
  return out;
}

static void read_heights(saltusi_scene_builder* b, const saltusi_yaml_node* of,
                         saltus_shape_def* shape) {
  const saltusi_yaml_node* node = saltusi_yaml_find(of, "heights");
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "heights")) {
    return;
  }
  const int columns = node->count > 0 && node->children[0].kind == SALTUSI_YAML_SEQUENCE
                          ? node->children[0].count
                          : 0;
  if (columns < 2) {
    saltusi_reader_fail(&b->reader, node,
                        "heights has to be a list of rows with two heights or more each");
    return;
  }
  shape->heights = read_rows(b, node, "a row of heights", columns, &shape->rows);
  shape->columns = columns;
  saltusi_scene_numbers(b, saltusi_yaml_find(of, "spacing"), "spacing", (const int[2]){2, 2},
                        shape->spacing);
}

/* Factors of a file along x, y, z; false: refused. */
static bool read_scale(saltusi_scene_builder* b, const saltusi_yaml_node* of, double scale[3]) {
  const saltusi_yaml_node* node = saltusi_yaml_find(of, "scale");
  if (node != NULL && node->kind == SALTUSI_YAML_SEQUENCE) {
    saltusi_scene_numbers(b, node, "scale", (const int[2]){3, 3}, scale);
  } else {
    scale[0] = scale[1] = scale[2] = saltusi_scene_number(b, node, "scale", 1.0);
  }
  const double product = scale[0] * scale[1] * scale[2];
  if (b->reader.status == SALTUS_OK && (product == 0.0 || !isfinite(product))) {
    saltusi_reader_fail(&b->reader, node, "scale is %g, %g, %g, must be finite and not 0", scale[0],
                        scale[1], scale[2]);
  }
  return b->reader.status == SALTUS_OK;
}

/* Errors in the file of a visual are warnings: it is not drawn. */
static void not_drawn(void* user, saltus_level level, const char* message) {
  (void)level;
  saltusi_log(*(const saltus_log*)user, SALTUS_LEVEL_WARNING, "%s: not drawn", message);
}

/* Points and triangles of a file, scaled. */
static void read_file(saltusi_scene_builder* b, const saltusi_yaml_node* of, bool visual,
                      saltus_shape_def* shape) {
  const saltusi_yaml_node* node = saltusi_yaml_find(of, "file");
  const char* path = saltusi_reader_text(&b->reader, node, "file");
  if (path == NULL) {
    return;
  }
  if (shape->points != NULL) {
    saltusi_reader_fail(&b->reader, node, "has points and a file, must have one of them");
    return;
  }
  double scale[3];
  if (!read_scale(b, of, scale) || (visual && !b->def->visuals)) {
    return;
  }
  saltusi_placed_log placed;
  saltusi_mesh_file file;
  saltus_log log = saltusi_reader_log_at(&b->reader, node, &placed);
  const saltus_log quiet = {.write = not_drawn, .user = &log};
  saltus_status status =
      saltusi_mesh_read(path, b->reader.file, b->reader.pool, visual ? quiet : log, &file);
  if (status != SALTUS_OK) {
    const bool failed = status == SALTUS_ERR_MEMORY || !visual;
    b->reader.status = status == SALTUS_ERR_MEMORY ? status
                       : failed                    ? SALTUS_ERR_INPUT
                                                   : b->reader.status;
    return;
  }
  for (int i = 0; i < 3 * file.points; i++) {
    file.point[i] *= scale[i % 3];
  }
  for (int i = 0; i < file.triangles && scale[0] * scale[1] * scale[2] < 0.0; i++) {
    const int corner = file.triangle[3 * i]; /* mirrored: outside stays outside */
    file.triangle[3 * i] = file.triangle[3 * i + 1];
    file.triangle[3 * i + 1] = corner;
  }
  shape->points = file.point;
  shape->point_count = file.points;
  if (shape->kind == SALTUS_SHAPE_MESH || saltusi_yaml_find(of, "parts") != NULL) {
    shape->triangles = file.triangle;
    shape->triangle_count = file.triangles;
  }
}

/* The keys that belong to the kind. */
static void read_kind(saltusi_scene_builder* b, const saltusi_yaml_node* of, bool visual,
                      saltus_shape_def* shape) {
  const char* kind = saltus_shape_kind_name(shape->kind);
  if (of->absent) {
    return; /* half-space: alone */
  }
  if (!saltusi_reader_keys(&b->reader, of, "shapes[].KIND", kind)) {
    return;
  }
  for (int i = 0; i < of->count; i++) {
    if (!is_word_of(described_by[shape->kind], of->keys[i].text)) {
      saltusi_reader_fail(
          &b->reader, &of->keys[i], "a %s has no %s; allowed: %s", kind, of->keys[i].text,
          described_by[shape->kind][0] != '\0' ? described_by[shape->kind] : "nothing");
      return;
    }
  }
  const int dimension = b->mechanism.dimension;
  shape->radius = saltusi_scene_constant(b, of, "radius", 0.0);
  shape->length = saltusi_scene_constant(b, of, "length", 0.0);
  const int sizes = shape->kind == SALTUS_SHAPE_TORUS ? 1 : 3;
  const saltusi_yaml_node* size = saltusi_yaml_find(of, "size");
  if (sizes == 1) {
    shape->size[0] = saltusi_scene_number(b, size, "size", 0.0);
  } else {
    saltusi_scene_numbers(b, size, "size", (const int[2]){3, 3}, shape->size);
  }
  shape->hollow = saltusi_scene_flag(b, saltusi_yaml_find(of, "hollow"), "hollow");
  shape->closed = saltusi_scene_flag(b, saltusi_yaml_find(of, "closed"), "closed");
  shape->points =
      read_rows(b, saltusi_yaml_find(of, "points"), "points", dimension, &shape->point_count);
  int bulges = 0;
  shape->bulges = read_rows(b, saltusi_yaml_find(of, "bulges"), "bulges", 1, &bulges);
  const int segments = shape->point_count - (shape->closed ? 0 : 1);
  if (shape->bulges != NULL && bulges != segments) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(of, "bulges"),
                        "bulges has %d numbers, must have one for each of the %d segments", bulges,
                        segments);
  }
  shape->triangles = read_triangles(b, saltusi_yaml_find(of, "triangles"), &shape->triangle_count);
  read_heights(b, of, shape);
  read_file(b, of, visual, shape);
  const bool whole = shape->kind == SALTUS_SHAPE_HULL && saltusi_yaml_find(of, "parts") == NULL;
  saltusi_scene_hull* hull = whole && shape->points != NULL && !visual
                                 ? saltusi_reader_take(&b->reader, 1, sizeof *hull)
                                 : NULL;
  if (hull != NULL) {
    *hull = (saltusi_scene_hull){of, shape->points, shape->point_count, b->scene->hulls};
    b->scene->hulls = hull;
  }
}

static bool is_visual(saltusi_scene_builder* b, const saltusi_yaml_node* item) {
  return saltusi_scene_flag(b, saltusi_yaml_find(item, "visual"), "visual");
}

static void read_groups(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                        saltus_body_shape_def* shape) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "groups");
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "groups")) {
    return;
  }
  const char** groups = saltusi_reader_take(&b->reader, (size_t)node->count, sizeof *groups);
  for (int i = 0; groups != NULL && i < node->count; i++) {
    groups[i] = saltusi_reader_text(&b->reader, &node->children[i], "a group");
  }
  shape->groups = groups;
  shape->group_count = node->count;
}

static void read_shape(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* body,
                       int number, saltus_body_shape_def* shape) {
  const bool visual = is_visual(b, item);
  if (!saltusi_reader_keys(&b->reader, item, "shapes[]", "a shape")) {
    return;
  }
  const saltusi_yaml_node* of = NULL;
  int kinds = 0;
  for (int k = 0; k < (int)KINDS; k++) {
    const saltusi_yaml_node* found =
        saltusi_yaml_find(item, saltus_shape_kind_name((saltus_shape_kind)k));
    if (found != NULL) {
      of = found;
      shape->shape.kind = (saltus_shape_kind)k;
      kinds++;
    }
  }
  if (kinds != 1) {
    saltusi_reader_fail(&b->reader, item,
                        "a shape has %s kind; give one, such as sphere: {radius: 0.1}",
                        kinds == 0 ? "no" : "more than one");
    return;
  }
  const saltusi_yaml_node* name = saltusi_yaml_find(item, "name");
  char text[128];
  snprintf(text, sizeof text, "%.100s.%d", body != NULL ? body : "world", number);
  shape->shape.name =
      name != NULL ? saltusi_scene_text(b, name, "name") : saltusi_pool_text(b->reader.pool, text);
  shape->body = body;
  shape->material =
      saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "material"), "material");
  saltusi_scene_point(b, item, "position", "position", shape->shape.position);
  shape->shape.orientation = saltusi_scene_orientation(b, item);
  read_groups(b, item, shape);
  read_kind(b, of, visual, &shape->shape);
}

/* Number of convex parts that a hull may have; 0: it is one hull. */
static int parts_of(saltusi_scene_builder* b, const saltusi_yaml_node* item) {
  const saltusi_yaml_node* of =
      item->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(item, "hull") : NULL;
  const saltusi_yaml_node* node =
      of != NULL && of->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(of, "parts") : NULL;
  const double parts = node != NULL ? saltusi_scene_number(b, node, "parts", 0.0) : 0.0;
  if (node != NULL && b->reader.status == SALTUS_OK &&
      !saltusi_is_whole(parts, 1.0, SALTUSI_MOST_CONVEX_PARTS)) {
    saltusi_reader_fail(&b->reader, node, "parts is %g, must be a whole number from 1 to %d", parts,
                        SALTUSI_MOST_CONVEX_PARTS);
  }
  return b->reader.status == SALTUS_OK ? (int)parts : 0;
}

/* Replaces a hull by those of convex parts of its mesh, which have its name as a group; returns their number. */
static int divide_hull(saltusi_scene_builder* b, const saltusi_yaml_node* item, int most,
                       saltus_body_shape_def* shape) {
  const saltus_body_shape_def whole = *shape;
  const char* name = whole.shape.name;
  saltusi_placed_log placed;
  const saltus_log log = saltusi_reader_log_at(&b->reader, item, &placed);
  const saltusi_making making = {.def = &whole.shape, .pool = b->reader.pool, .log = log};
  saltusi_convex_parts parts;
  if (whole.shape.points == NULL || whole.shape.triangles == NULL) {
    saltusi_reader_fail(&b->reader, item, "parts of a hull need a file, or points and triangles");
    return 1;
  }
  const saltus_status status = saltusi_convex_parts_make(&making, most, &parts);
  const char** groups =
      saltusi_reader_take(&b->reader, (size_t)whole.group_count + 1, sizeof *groups);
  if (status != SALTUS_OK || groups == NULL) {
    b->reader.status = status != SALTUS_OK ? status : b->reader.status;
    return 1;
  }
  for (int g = 0; g < whole.group_count; g++) {
    groups[g] = whole.groups[g];
  }
  groups[whole.group_count] = name;
  for (int i = 0; i < parts.count; i++) {
    char text[160];
    snprintf(text, sizeof text, "%.140s_%d", name, i + 1);
    shape[i] = whole;
    shape[i].groups = groups;
    shape[i].group_count = whole.group_count + 1;
    shape[i].shape.name = saltusi_pool_text(b->reader.pool, text);
    shape[i].shape.points = parts.points[i];
    shape[i].shape.point_count = parts.point_count[i];
    shape[i].shape.triangles = NULL;
    shape[i].shape.triangle_count = 0;
  }
  const double excess = parts.excess / parts.volume;
  saltusi_log(log, excess > 0.01 ? SALTUS_LEVEL_WARNING : SALTUS_LEVEL_NOTE,
              "shape %s: %d convex parts, %.3g %% more volume than the mesh", name, parts.count,
              100.0 * excess);
  return parts.count;
}

/* A shape that is drawn only: its form in body axes. */
static void add_visual(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                       const saltus_body_shape_def* from, saltus_scene_visual* out) {
  const saltus_shape_def* def = &from->shape;
  saltus_shape_form* form = &out->form;
  *out = (saltus_scene_visual){.body = from->body, .name = def->name, .kind = def->kind};
  *form = (saltus_shape_form){.radius = def->radius, .length = def->length, .hollow = def->hollow};
  const saltusi_yaml_node* colour = saltusi_yaml_find(item, "colour");
  out->colour[0] = out->colour[1] = out->colour[2] = -1.0;
  if (colour != NULL) {
    saltusi_scene_numbers(b, colour, "colour", (const int[2]){3, 3}, out->colour);
  }
  if (b->mechanism.dimension != 3) {
    saltusi_reader_fail(&b->reader, item, "visual is true: shapes in the plane have contacts");
  } else if (!saltusi_orientation_matrix(&def->orientation, form->axes)) {
    saltusi_reader_fail(&b->reader, item, "its orientation is no rotation");
  }
  memcpy(form->position, def->position, sizeof form->position);
  memcpy(form->size, def->size, sizeof form->size);
  double(*points)[3] = saltusi_reader_take(&b->reader, (size_t)def->point_count, sizeof *points);
  for (int i = 0; points != NULL && i < def->point_count; i++) {
    saltusi_turn(form->axes, def->points + 3 * (size_t)i, points[i]);
    for (int k = 0; k < 3; k++) {
      points[i][k] += def->position[k];
    }
  }
  for (int i = 0; i < 3 * def->triangle_count; i++) {
    if (def->triangles[i] >= def->point_count) {
      saltusi_reader_fail(&b->reader, item, "triangles has %d, there are %d points",
                          def->triangles[i], def->point_count);
      break;
    }
  }
  form->points = (const double(*)[3])points;
  form->point_count = def->point_count;
  form->triangles = (const int(*)[3])def->triangles;
  form->triangle_count = def->triangle_count;
}

static const saltusi_yaml_node* shapes_of(saltusi_scene_builder* b, const saltusi_yaml_node* item) {
  const saltusi_yaml_node* list =
      item != NULL && item->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(item, "shapes") : NULL;
  if (list == NULL || list->absent ||
      !saltusi_reader_expect(&b->reader, list, SALTUSI_YAML_SEQUENCE, "shapes")) {
    return NULL;
  }
  return list;
}

/* As in saltus_contact_law: 0 where it is not given, negative for a coefficient of 0. */
static double impact_friction(saltusi_scene_builder* b, const saltusi_yaml_node* item) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "impact_friction");
  const double mu = saltusi_scene_constant(b, item, "impact_friction", 0.0);
  if (b->reader.status == SALTUS_OK && !(mu >= 0.0 && mu <= 1e300)) {
    saltusi_reader_fail(&b->reader, node, "impact_friction is %g, must be at least 0", mu);
  }
  return node != NULL && mu == 0.0 ? -1.0 : mu;
}

static void read_materials(saltusi_scene_builder* b) {
  const saltusi_yaml_node* section = saltusi_scene_mapping(b, "materials");
  saltus_material_def* materials =
      saltusi_reader_take(&b->reader, (size_t)section->count, sizeof *materials);
  for (int i = 0; i < section->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &section->children[i];
    char what[200];
    snprintf(what, sizeof what, "material " SALTUSI_QUOTE, section->keys[i].text);
    materials[i].name = section->keys[i].text;
    if (!saltusi_reader_keys(&b->reader, item, "materials.NAME", what)) {
      return;
    }
    if (!saltusi_scene_friction(b, item, &materials[i].law, &materials[i].friction)) {
      materials[i].friction = saltusi_scene_constant(b, item, "friction", 0.0);
    }
    materials[i].impact_friction = impact_friction(b, item);
    materials[i].restitution = saltusi_scene_constant(b, item, "restitution", 0.0);
    materials[i].tangential_restitution =
        saltusi_scene_constant(b, item, "tangential_restitution", 0.0);
    saltusi_scene_impact_law(b, item, &materials[i].impact);
  }
  b->mechanism.materials = materials;
  b->mechanism.material_count = section->count;
}

static void read_contact_pairs(saltusi_scene_builder* b) {
  const saltusi_yaml_node* list = saltusi_scene_list(b, "contact_pairs");
  saltus_contact_pair_def* pairs =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *pairs);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    saltus_contact_pair_def* pair = &pairs[i];
    if (!saltusi_reader_keys(&b->reader, item, "contact_pairs[]", "a contact pair")) {
      return;
    }
    saltusi_scene_pair(b, saltusi_yaml_find(item, "between"), "between", pair->between);
    if (!saltusi_scene_friction(b, item, &pair->law, &pair->friction)) {
      pair->friction = saltusi_scene_constant(b, item, "friction", (double)NAN);
    }
    pair->impact_friction = impact_friction(b, item);
    pair->restitution = saltusi_scene_constant(b, item, "restitution", (double)NAN);
    pair->tangential_restitution =
        saltusi_scene_constant(b, item, "tangential_restitution", (double)NAN);
    const saltusi_yaml_node* collide = saltusi_yaml_find(item, "collide");
    saltus_impact_law law = SALTUS_IMPACT_NEWTON;
    pair->impact = saltusi_scene_impact_law(b, item, &law) ? 1 + (int)law : 0;
    pair->stiffness = saltusi_scene_constant(b, item, "stiffness", 0.0);
    const bool numbers = !isnan(pair->friction) || !isnan(pair->restitution) ||
                         !isnan(pair->tangential_restitution) || pair->impact != 0 ||
                         pair->stiffness != 0.0 || pair->law != NULL ||
                         pair->impact_friction != 0.0;
    const bool touches = saltusi_scene_flag(b, collide, "collide");
    if (collide != NULL && !touches && numbers) {
      saltusi_reader_fail(&b->reader, collide, "collide is false, so a law has no effect here");
    } else if (collide == NULL && !numbers) {
      saltusi_reader_fail(&b->reader, item,
                          "a contact pair is empty; give friction, impact_friction, restitution, "
                          "tangential_restitution, impact, stiffness or collide");
    }
    pair->touch = numbers ? SALTUS_TOUCH_LAW : touches ? SALTUS_TOUCH_ALWAYS : SALTUS_TOUCH_NEVER;
  }
  b->mechanism.contact_pairs = pairs;
  b->mechanism.contact_pair_count = list->count;
}

void saltusi_scene_shapes(saltusi_scene_builder* b) {
  assert(b != NULL);
  if (b->mechanism.dimension == 0 || b->reader.status != SALTUS_OK) {
    return;
  }
  const saltusi_yaml_node* bodies = saltusi_scene_mapping(b, "bodies");
  const saltusi_yaml_node* world = saltusi_reader_section(b->root, "world");
  int count = 0;
  for (int i = -1; i < bodies->count; i++) {
    const saltusi_yaml_node* list = shapes_of(b, i < 0 ? world : &bodies->children[i]);
    count += list != NULL ? list->count : 0;
    for (int k = 0; list != NULL && k < list->count; k++) {
      count += parts_of(b, &list->children[k]);
    }
  }
  saltus_body_shape_def* shapes = saltusi_reader_take(&b->reader, (size_t)count, sizeof *shapes);
  const saltusi_yaml_node** nodes = saltusi_reader_take(&b->reader, (size_t)count, sizeof(void*));
  saltus_scene_visual* visuals = saltusi_reader_take(&b->reader, (size_t)count, sizeof *visuals);
  int used = 0, drawn = 0;
  for (int i = -1; i < bodies->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* list = shapes_of(b, i < 0 ? world : &bodies->children[i]);
    for (int k = 0; list != NULL && k < list->count && b->reader.status == SALTUS_OK; k++) {
      nodes[used] = &list->children[k];
      read_shape(b, nodes[used], i < 0 ? NULL : bodies->keys[i].text, k + 1, &shapes[used]);
      if (b->reader.status == SALTUS_OK && is_visual(b, nodes[used])) {
        add_visual(b, nodes[used], &shapes[used], &visuals[drawn++]);
        shapes[used] = (saltus_body_shape_def){0};
        continue;
      }
      const int parts = parts_of(b, nodes[used]);
      const int made = parts > 0 ? divide_hull(b, nodes[used], parts, &shapes[used]) : 1;
      for (int p = 1; p < made; p++) {
        nodes[used + p] = nodes[used];
      }
      used += made;
    }
  }
  b->scene->view.visuals = visuals;
  b->scene->view.visual_count = drawn;
  b->mechanism.shapes = shapes;
  b->mechanism.shape_count = used;
  b->shape_nodes = nodes;
  read_materials(b);
  read_contact_pairs(b);
}

static const saltusi_yaml_node* node_of(const saltusi_scene_builder* b, const char* shape) {
  for (int i = 0; i < b->mechanism.shape_count; i++) {
    if (strcmp(b->mechanism.shapes[i].shape.name, shape) == 0) {
      return b->shape_nodes[i];
    }
  }
  return b->root;
}

saltus_status saltusi_scene_overlaps(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_scene* scene = b->scene;
  saltus_scene_view* view = &scene->view;
  if (scene->mechanism == NULL || b->mechanism.shape_count == 0) {
    return SALTUS_OK;
  }
  saltus_overlap worst;
  int count = 0;
  const int first = view->system->dims.nq - saltus_mechanism_system(scene->mechanism)->dims.nq;
  const double* q = view->q0 + first;
  double deeper = view->start_tolerance;
  if (b->def->separate) {
    double* apart = saltusi_reader_take(&b->reader, (size_t)view->system->dims.nq, sizeof(double));
    if (apart == NULL) {
      return b->reader.status;
    }
    memcpy(apart, view->q0, (size_t)view->system->dims.nq * sizeof(double));
    const double settled =
        1e-9; /* fraction of the smallest shape; removed by the correction of the initial state */
    b->reader.status =
        saltus_mechanism_separate(scene->mechanism, view->start, settled, apart + first, &count);
    view->q0 = apart;
    q = apart + first;
  }
  if (b->reader.status == SALTUS_OK) {
    b->reader.status =
        saltus_mechanism_overlaps(scene->mechanism, view->start, q, deeper, &worst, 1, &count);
  }
  if (b->reader.status == SALTUS_OK && count > 0) {
    const double* n = worst.direction;
    saltusi_reader_fail(&b->reader, node_of(b, worst.shapes[0]),
                        "shapes " SALTUSI_QUOTE " and " SALTUSI_QUOTE
                        " overlap by %.6g m at the start%s; move the first by (%.6g, %.6g, "
                        "%.6g) m, let saltus check --separate do it, or let them not collide",
                        worst.shapes[0], worst.shapes[1], worst.depth,
                        count > 1 ? ", and others do" : "", worst.depth * n[0], worst.depth * n[1],
                        worst.depth * n[2]);
  }
  return b->reader.status;
}
