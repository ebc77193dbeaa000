/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * view.c - the section `view` of a scene: objects with positions by formula. They are outputs that
 * are not recorded; a report computes them from the scene in the recording.
 */
#include "base/suggest.h"
#include "scene/builder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char* const types[] = {"point",  "line", "circle",  "box",
                                    "spring", "text", "contact", NULL};
_Static_assert(sizeof types / sizeof *types == SALTUS_DRAWN_TYPES + 1, "one each");

/* The first is the default; the viewer defines their RGB values. */
static const char* const colours[] = {"blue",   "orange", "green", "pink",  "cyan", "red",
                                      "violet", "olive",  "grey",  "black", NULL};

const char* saltus_drawn_type_name(saltus_drawn_type type) {
  return (unsigned)type < SALTUS_DRAWN_TYPES ? types[type] : NULL;
}

/* State of the reader. */
typedef struct view_reading {
  saltusi_scene_builder* b;
  saltusi_scene_drawing* out;
  saltus_formula_output* values;
  int count, room;
  const saltusi_yaml_node* item;
  const char* name;
} view_reading;

/* One more value; text NULL: 0. */
static void add_value(view_reading* r, saltus_formula_text formula) {
  if (r->count >= r->room) { /* cannot occur: values were counted before */
    r->b->reader.status = SALTUS_ERR_MEMORY;
    return;
  }
  char name[32];
  snprintf(name, sizeof name, "view_%d", r->count);
  if (formula.text == NULL) {
    formula.text = "0";
  }
  r->values[r->count++] = (saltus_formula_output){
      .name = saltusi_pool_text(r->b->reader.pool, name), .unit = "", .formula = formula};
}

static const char* describe(view_reading* r, const char* what) {
  return saltusi_scene_describe(r->b, what, "view item", r->name);
}

/* A list of d formulas. */
static void add_place(view_reading* r, const saltusi_yaml_node* node, const char* key) {
  saltusi_scene_builder* b = r->b;
  const int d = r->out->view.dimension;
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, key)) {
    return;
  }
  if (node->count != d) {
    saltusi_reader_fail(&b->reader, node,
                        "%s of view item " SALTUSI_QUOTE " has %d formulas, must have %d: %s", key,
                        r->name, node->count, d, d == 2 ? "the plane, [x, y]" : "space, [x, y, z]");
    return;
  }
  for (int i = 0; i < d && b->reader.status == SALTUS_OK; i++) {
    add_value(r, saltusi_reader_formula(&b->reader, &node->children[i], describe(r, key)));
  }
}

/* A position by its key; zeros if missing and not `needed`. */
static void read_place(view_reading* r, const char* key, bool needed) {
  const saltusi_yaml_node* node = saltusi_yaml_find(r->item, key);
  if (node != NULL) {
    add_place(r, node, key);
    return;
  }
  if (needed) {
    saltusi_reader_fail(&r->b->reader, r->item, "view item " SALTUSI_QUOTE " has no \"%s\"",
                        r->name, key);
  }
  for (int i = 0; i < r->out->view.dimension && !needed; i++) {
    add_value(r, (saltus_formula_text){.text = NULL});
  }
}

static void read_formula(view_reading* r, const char* key, bool needed) {
  const saltusi_yaml_node* node = saltusi_yaml_find(r->item, key);
  if (node == NULL && needed) {
    saltusi_reader_fail(&r->b->reader, r->item, "view item " SALTUSI_QUOTE " has no \"%s\"",
                        r->name, key);
    return;
  }
  add_value(r, saltusi_reader_formula(&r->b->reader, node, describe(r, key)));
}

/* `points` of a line or a spring; returns their number. */
static int read_points(view_reading* r, saltus_drawn_type type) {
  saltusi_scene_builder* b = r->b;
  const saltusi_yaml_node* node = saltusi_yaml_find(r->item, "points");
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, r->item, "view item " SALTUSI_QUOTE " has no \"points\"",
                        r->name);
    return 0;
  }
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "points")) {
    return 0;
  }
  if (type == SALTUS_DRAWN_SPRING ? node->count != 2 : node->count < 2) {
    saltusi_reader_fail(&b->reader, node,
                        "points of view item " SALTUSI_QUOTE " are %d, must be two%s", r->name,
                        node->count, type == SALTUS_DRAWN_SPRING ? "" : " or more");
    return 0;
  }
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    add_place(r, &node->children[i], "points");
  }
  return node->count;
}

/* The contact that an item names. */
static int read_contact(view_reading* r) {
  saltusi_scene_builder* b = r->b;
  const saltusi_yaml_node* node = saltusi_yaml_find(r->item, "contact");
  const saltus_system* system = b->scene->view.system;
  const char* name = saltusi_reader_text(&b->reader, node, "contact");
  if (name == NULL) {
    saltusi_reader_fail(&b->reader, r->item, "view item " SALTUSI_QUOTE " has no \"contact\"",
                        r->name);
    return -1;
  }
  const char** names =
      saltusi_reader_take(&b->reader, (size_t)system->law_count + 1, sizeof *names);
  for (int i = 0; i < system->law_count && names != NULL; i++) {
    names[i] = system->laws[i].name != NULL ? system->laws[i].name : "";
    if (strcmp(names[i], name) == 0) {
      return i;
    }
  }
  const char* near = names != NULL ? saltusi_suggest(name, names, system->law_count) : NULL;
  saltusi_reader_fail(&b->reader, node, "there is no contact " SALTUSI_QUOTE "%s%s%s", name,
                      near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                      near != NULL ? "\"?" : "");
  return -1;
}

static void read_values(view_reading* r, saltus_drawn* thing) {
  thing->places = 1;
  if (thing->type == SALTUS_DRAWN_LINE || thing->type == SALTUS_DRAWN_SPRING) {
    thing->places = read_points(r, thing->type);
    return;
  }
  read_place(r, "at", true);
  if (thing->type == SALTUS_DRAWN_CIRCLE) {
    read_formula(r, "radius", true);
    read_formula(r, "angle", false);
  } else if (thing->type == SALTUS_DRAWN_BOX) {
    read_place(r, "size", true);
    read_formula(r, "angle", false);
  } else if (thing->type == SALTUS_DRAWN_CONTACT) {
    read_place(r, "normal", true);
    read_place(r, "tangent", false);
    thing->contact = read_contact(r);
  } else if (thing->type == SALTUS_DRAWN_TEXT) {
    thing->text = saltusi_scene_text(r->b, saltusi_yaml_find(r->item, "text"), "text");
    if (thing->text[0] == '\0') {
      saltusi_reader_fail(&r->b->reader, r->item, "view item " SALTUSI_QUOTE " has no \"text\"",
                          r->name);
    }
  }
}

static void read_item(view_reading* r, int i, saltus_drawn* thing) {
  saltusi_scene_builder* b = r->b;
  char what[64];
  snprintf(what, sizeof what, "view item %d", i + 1);
  if (!saltusi_reader_keys(&b->reader, r->item, "view[]", what)) {
    return;
  }
  const saltusi_yaml_node* type = saltusi_yaml_find(r->item, "type");
  if (type == NULL) {
    saltusi_reader_fail(&b->reader, r->item,
                        "%s has no type; allowed: point, line, circle, box, spring, text, contact",
                        what);
    return;
  }
  const saltusi_yaml_node* colour = saltusi_yaml_find(r->item, "colour");
  const saltusi_yaml_node* filled = saltusi_yaml_find(r->item, "filled");
  const int kind = saltusi_scene_word(b, type, "type", types);
  const int shade = colour != NULL ? saltusi_scene_word(b, colour, "colour", colours) : -1;
  r->name = saltusi_scene_item_name(b, r->item, i, "item");
  *thing = (saltus_drawn){
      .type = kind >= 0 ? (saltus_drawn_type)kind : SALTUS_DRAWN_POINT,
      .name = r->name,
      .text = "",
      .colour = shade >= 0 ? colours[shade] : "",
      .first = r->count,
      .contact = -1,
      .filled = filled == NULL || saltusi_scene_flag(b, filled, "filled"),
      .ground = saltusi_scene_flag(b, saltusi_yaml_find(r->item, "ground"), "ground")};
  if (b->reader.status == SALTUS_OK) {
    read_values(r, thing);
  }
  thing->count = r->count - thing->first;
}

/* Number of scalars below a node: upper bound of its values, except defaults. */
static int scalars(const saltusi_yaml_node* node) {
  int count = node->kind == SALTUSI_YAML_SCALAR;
  for (int i = 0; node->kind != SALTUSI_YAML_SCALAR && i < node->count; i++) {
    count += scalars(&node->children[i]);
  }
  return count;
}

/* Plane or space: that of the bodies, else that of the first position. */
static int dimension_of(const saltusi_scene_builder* b, const saltusi_yaml_node* list) {
  if (b->scene->mechanism != NULL) {
    return saltus_mechanism_sizes(b->scene->mechanism).dimension;
  }
  for (int i = 0; i < list->count; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    const saltusi_yaml_node* place =
        item->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(item, "at") : NULL;
    if (place == NULL && item->kind == SALTUSI_YAML_MAPPING) {
      const saltusi_yaml_node* points = saltusi_yaml_find(item, "points");
      place = points != NULL && points->kind == SALTUSI_YAML_SEQUENCE && points->count > 0
                  ? &points->children[0]
                  : NULL;
    }
    if (place != NULL && place->kind == SALTUSI_YAML_SEQUENCE) {
      return place->count == 3 ? 3 : 2;
    }
  }
  return 2;
}

void saltusi_scene_view_section(saltusi_scene_builder* b) {
  assert(b != NULL && b->scene->view.system != NULL);
  enum { FILLED_IN = 4 }; /* values of an item that may be left out */
  const saltusi_yaml_node* list = saltusi_scene_list(b, "view");
  if (list->count == 0 || b->reader.status != SALTUS_OK) {
    return;
  }
  saltusi_scene_drawing* out = &b->scene->drawing;
  saltus_drawn* things = saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *things);
  view_reading r = {.b = b, .out = out, .room = scalars(list) + FILLED_IN * list->count};
  r.values = saltusi_reader_take(&b->reader, (size_t)r.room, sizeof *r.values);
  out->view.dimension = dimension_of(b, list);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    r.item = &list->children[i];
    read_item(&r, i, &things[i]);
  }
  if (b->reader.status != SALTUS_OK) {
    return;
  }
  const saltus_formula_observer_def def = {
      .model = &b->model, .outputs = r.values, .output_count = r.count};
  b->reader.status = saltus_formula_observer_create(&def, &out->observer);
  if (b->reader.status == SALTUS_OK) {
    out->view.count = list->count;
    out->view.things = things;
    out->view.values = saltus_formula_observer_view(out->observer);
    b->scene->view.drawing = &out->view;
  }
}
