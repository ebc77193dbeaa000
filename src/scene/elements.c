/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.c - machine elements of a scene.
 */
#include "base/number.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In the order of saltus_element_type. */
static const char* const types[] = {"journal", "guide",         "stop", "rope",           "wheel",
                                    "rolling", "gear-pair",     "cam",  "spring-contact", "latch",
                                    "ratchet", "rolling-wheel", NULL};
enum { TYPES = sizeof types / sizeof types[0] - 1 };

#define OF(type) (1U << SALTUS_ELEMENT_##type)
#define ROLLS (OF(ROLLING) | OF(ROLLING_WHEEL))
#define SMOOTH (ROLLS | OF(ROPE) | OF(GEAR_PAIR)) /* they have no friction */

/* A number, its member, and the types that have it; required numbers have no default. */
typedef struct measure {
  const char* key;
  size_t offset;
  unsigned types, needed;
} measure;

#define MEASURE(key, types, needed)                                                                \
  { #key, offsetof(saltus_element_def, key), (types), (needed) }
static const measure measures[] = {
    MEASURE(clearance, OF(JOURNAL) | OF(GUIDE), OF(JOURNAL) | OF(GUIDE)),
    MEASURE(radius,
            OF(JOURNAL) | OF(STOP) | OF(WHEEL) | ROLLS | OF(CAM) | OF(SPRING_CONTACT) | OF(LATCH) |
                OF(RATCHET),
            OF(JOURNAL) | OF(WHEEL) | ROLLS | OF(RATCHET)),
    MEASURE(teeth, OF(RATCHET), OF(RATCHET)),
    MEASURE(length, OF(GUIDE) | OF(ROPE), OF(GUIDE) | OF(ROPE)),
    MEASURE(width, OF(GUIDE), OF(GUIDE)),
    MEASURE(height, OF(GUIDE), 0),
    MEASURE(backlash, OF(GEAR_PAIR), OF(GEAR_PAIR)),
    MEASURE(offset, OF(GEAR_PAIR), 0),
    MEASURE(stiffness, OF(SPRING_CONTACT), 0),
    MEASURE(preload, OF(SPRING_CONTACT), OF(SPRING_CONTACT)),
    MEASURE(restitution, ~ROLLS, 0),
    MEASURE(tangential_restitution, ~SMOOTH, 0),
};

/* A coefficient, or a friction law as for contacts. */
static void read_friction(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                          saltus_element_def* e) {
  static const char* const words[] = {"friction", "viscous", "rolling", "adhesion"};
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    const saltusi_yaml_node* node = saltusi_yaml_find(item, words[k]);
    if (node != NULL && (SMOOTH >> e->type & 1U) != 0) {
      saltusi_reader_fail(&b->reader, node, "element " SALTUSI_QUOTE " is %s and has no %s",
                          e->name, types[e->type], words[k]);
    }
  }
  if (b->reader.status == SALTUS_OK && !saltusi_scene_friction(b, item, &e->law, &e->friction)) {
    e->friction = saltusi_scene_constant(b, item, "friction", 0.0);
  }
}

/* Whether a key is allowed for the type, and present if required; a message if not. */
static bool belongs(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                    const saltus_element_def* e, const measure* of) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, of->key);
  const bool may = (of->types >> e->type & 1U) != 0, must = (of->needed >> e->type & 1U) != 0;
  if ((node != NULL && !may) || (node == NULL && must)) {
    saltusi_reader_fail(&b->reader, node != NULL ? node : item,
                        "element " SALTUSI_QUOTE " is %s and %s %s", e->name, types[e->type],
                        node != NULL ? "has no" : "needs", of->key);
  }
  return node != NULL && may;
}

static void read_arcs(saltusi_scene_builder* b, const saltusi_yaml_node* list,
                      saltus_cam_profile* profile) {
  if (!saltusi_reader_expect(&b->reader, list, SALTUSI_YAML_SEQUENCE, "arcs")) {
    return;
  }
  saltus_cam_arc* arcs = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *arcs);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (saltusi_reader_keys(&b->reader, item, "elements[].profile.arcs[]", "an arc")) {
      saltusi_scene_numbers(b, saltusi_yaml_find(item, "centre"), "centre", (const int[2]){2, 2},
                            arcs[i].centre);
      arcs[i].radius = saltusi_scene_constant(b, item, "radius", 0.0);
      arcs[i].from = saltusi_scene_constant(b, item, "from", 0.0);
    }
  }
  profile->arcs = arcs;
  profile->arc_count = list->count;
}

static void read_points(saltusi_scene_builder* b, const saltusi_yaml_node* list,
                        saltus_cam_profile* profile) {
  if (!saltusi_reader_expect(&b->reader, list, SALTUSI_YAML_SEQUENCE, "points")) {
    return;
  }
  saltus_cam_point* points = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *points);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    double two[2] = {0.0};
    saltusi_scene_numbers(b, &list->children[i], "a point", (const int[2]){2, 2}, two);
    points[i] = (saltus_cam_point){two[0], two[1]};
  }
  profile->points = points;
  profile->point_count = list->count;
}

static void read_cam(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                     saltus_element_def* e) {
  static const char* const followers[] = {"knife", "roller", "flat", NULL};
  const saltusi_yaml_node* follower = saltusi_yaml_find(item, "follower");
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "profile");
  const bool cam = e->type == SALTUS_ELEMENT_CAM;
  if (!cam && (follower != NULL || node != NULL)) {
    saltusi_reader_fail(&b->reader, follower != NULL ? follower : node,
                        "element " SALTUSI_QUOTE " is %s and has no %s", e->name, types[e->type],
                        follower != NULL ? "follower" : "profile");
  }
  if (!cam || b->reader.status != SALTUS_OK) {
    return;
  }
  const int kind = follower != NULL ? saltusi_scene_word(b, follower, "follower", followers) : 0;
  e->follower = kind > 0 ? (saltus_follower)kind : SALTUS_FOLLOWER_KNIFE;
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, item, "element " SALTUSI_QUOTE " is cam and needs a profile",
                        e->name);
    return;
  }
  saltus_cam_profile* profile = saltusi_reader_take(&b->reader, 1, sizeof *profile);
  if (profile == NULL || !saltusi_reader_keys(&b->reader, node, "elements[].profile", "profile")) {
    return;
  }
  const saltusi_yaml_node* arcs = saltusi_yaml_find(node, "arcs");
  const saltusi_yaml_node* points = saltusi_yaml_find(node, "points");
  if (arcs != NULL) {
    read_arcs(b, arcs, profile);
  }
  if (points != NULL) {
    read_points(b, points, profile);
  }
  profile->formula = saltusi_reader_text(&b->reader, saltusi_yaml_find(node, "formula"), "formula");
  profile->slope = saltusi_reader_text(&b->reader, saltusi_yaml_find(node, "slope"), "slope");
  e->profile = profile;
}

static void read_element(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                         saltus_element_def* e) {
  const saltusi_yaml_node* type = saltusi_yaml_find(item, "type");
  const saltusi_yaml_node* between = saltusi_yaml_find(item, "between");
  const saltusi_yaml_node* radii = saltusi_yaml_find(item, "radii");
  if (type == NULL || between == NULL) {
    saltusi_reader_fail(&b->reader, item, "element " SALTUSI_QUOTE " has no %s", e->name,
                        type == NULL ? "type" : "markers: give \"between\"");
    return;
  }
  const int place = saltusi_scene_word(b, type, "type", types);
  if (place < 0) {
    return;
  }
  e->type = (saltus_element_type)place;
  saltusi_scene_pair(b, between, "between", e->between);
  for (size_t k = 0; k < sizeof measures / sizeof measures[0]; k++) {
    if (b->reader.status == SALTUS_OK && belongs(b, item, e, &measures[k])) {
      double* into = (double*)(void*)((char*)e + measures[k].offset);
      *into = saltusi_scene_constant(b, item, measures[k].key, 0.0);
    }
  }
  read_friction(b, item, e);
  const bool two = e->type == SALTUS_ELEMENT_GEAR_PAIR || e->type == SALTUS_ELEMENT_RATCHET;
  if ((radii != NULL) != two && b->reader.status == SALTUS_OK) {
    saltusi_reader_fail(&b->reader, radii != NULL ? radii : item,
                        "element " SALTUSI_QUOTE " is %s and %s radii", e->name, types[place],
                        radii != NULL ? "has no" : "needs");
  }
  saltusi_scene_numbers(b, radii, "radii", (const int[2]){2, 2}, e->radii);
  e->held = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "while"), "while");
  if (e->held != NULL && (ROLLS >> e->type & 1U) != 0) {
    saltusi_reader_fail(&b->reader, item, "element " SALTUSI_QUOTE " is %s and has no while",
                        e->name, types[place]);
  }
  saltusi_scene_impact_law(b, item, &e->impact);
  read_cam(b, item, e);
}

void saltusi_scene_elements(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "elements");
  saltus_elements* all = saltusi_reader_take(&b->reader, 1, sizeof *all);
  saltus_element_def* items = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *items);
  if (list->count > 0 && b->mechanism.dimension == 0 && b->reader.status == SALTUS_OK) {
    saltusi_reader_fail(&b->reader, list,
                        "elements are between markers of bodies: the scene has none");
  }
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "elements[]", "an element")) {
      return;
    }
    items[i].name = saltusi_scene_item_name(b, item, i, "element");
    read_element(b, item, &items[i]);
  }
  if (all != NULL && list->count > 0) {
    *all = (saltus_elements){items, list->count};
    b->model.elements = all;
  }
}

/* Points of a profile by formula; none if it is not defined everywhere. */
static void sample(saltusi_scene_builder* b, saltus_cam_profile* profile) {
  enum { SAMPLES = 72 };
  const int count = b->model.parameter_count;
  saltus_formula_parameter* all = saltusi_reader_take(&b->reader, (size_t)count + 1, sizeof *all);
  saltus_cam_point* points = saltusi_reader_take(&b->reader, SAMPLES, sizeof *points);
  bool good = all != NULL && points != NULL;
  for (int i = 0; good && i < count; i++) {
    all[i] = b->model.parameters[i];
  }
  for (int i = 0; good && i < SAMPLES; i++) {
    char angle[32];
    points[i].angle = 2.0 * acos(-1.0) * i / SAMPLES;
    saltusi_print(angle, sizeof angle, "%.17g", points[i].angle);
    all[count] = (saltus_formula_parameter){.name = "beta", .value = {.text = angle}};
    good = saltus_formula_constant(all, count + 1, (saltus_formula_text){.text = profile->formula},
                                   (saltus_log){0}, &points[i].radius) == SALTUS_OK &&
           isfinite(points[i].radius);
  }
  profile->points = good ? points : NULL;
  profile->point_count = good ? SAMPLES : 0;
}

void saltusi_scene_drawn_elements(saltusi_scene_builder* b) {
  assert(b != NULL);
  b->scene->view.elements = b->model.elements;
  for (int i = 0; b->model.elements != NULL && i < b->model.elements->count; i++) {
    const saltus_element_def* e = &b->model.elements->items[i];
    if (e->profile != NULL && e->profile->formula != NULL) {
      sample(b, (saltus_cam_profile*)(uintptr_t)e->profile); /* of read_cam */
    }
  }
}
