/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * quantities.c - conversion of the numbers with units in the tree of a scene. The unit of a key is the bracket in its
 * description (keys.c): "[m]"; "[rad or m]" angular first; "[unit]" that of the key `unit` beside it, or any; no
 * bracket: a plain number.
 */
#include "base/log.h"
#include "scene/builder.h"
#include "scene/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SECTION = 128, WANTED = 160 };

/* Alternative of "A or B" that applies: the first, the second, or either. */
typedef enum unit_choice { UNIT_EITHER, UNIT_FIRST, UNIT_SECOND } unit_choice;

/* A value of the tree: its key, and the mapping that has it. */
typedef struct unit_place {
  const char *section, *key;
  saltusi_yaml_node* mapping;
  unit_choice choice;
} unit_place;

typedef struct unit_walker {
  saltusi_reader* reader;
  bool plane;
} unit_walker;

static void walk_mapping(unit_walker* w, saltusi_yaml_node* node, const char* section,
                         unit_choice choice);

/* A key of a section; NULL: none. key NULL: the first one. */
static const saltus_scene_key* find_key(const char* section, const char* key) {
  const saltus_scene_key* at;
  for (int i = 0; (at = saltus_scene_key_at(i)) != NULL; i++) {
    if (strcmp(at->section, section) == 0 && (key == NULL || strcmp(at->key, key) == 0)) {
      return at;
    }
  }
  return NULL;
}

static bool has_units(const saltusi_yaml_node* node) {
  bool any = node->kind == SALTUSI_YAML_SCALAR && saltusi_units_candidate(node->text);
  for (int i = 0; i < node->count && !any; i++) {
    any = has_units(&node->children[i]);
  }
  return any;
}

/* The units that a value may have, see saltusi_units_convert: NULL, or a text in `to`. */
static const char* wanted_unit(const unit_walker* w, const saltus_scene_key* key,
                               const unit_place* at, char to[WANTED]) {
  const char* open = strchr(key->doc, '[');
  const char* close = open != NULL ? strchr(open, ']') : NULL;
  to[0] = '\0';
  if (close == NULL) {
    return to;
  }
  if (strncmp(open, "[unit", 5) == 0) {
    const saltusi_yaml_node* unit =
        at->mapping != NULL ? saltusi_yaml_find(at->mapping, "unit") : NULL;
    snprintf(to, WANTED, "%.100s%.*s", unit != NULL ? unit->text : "",
             open[5] == '/' ? (int)(close - open - 5) : 0, open + 5);
    return unit != NULL && unit->text[0] != '\0' ? to : NULL;
  }
  snprintf(to, WANTED, "%.*s", (int)(close - open - 1), open + 1);
  char* other = strstr(to, " or ");
  const bool areal = other != NULL && strcmp(key->key, "density") == 0;
  const unit_choice choice = areal ? (w->plane ? UNIT_SECOND : UNIT_FIRST) : at->choice;
  if (other != NULL && choice == UNIT_FIRST) {
    *other = '\0';
  } else if (other != NULL && choice == UNIT_SECOND) {
    memmove(to, other + 4, strlen(other + 4) + 1);
  }
  return to;
}

/* The mapping with one more key, `unit`. A scalar becomes the first key of its section. */
static void add_unit(unit_walker* w, saltusi_yaml_node* node, const char* section,
                     const char* unit) {
  const bool scalar = node->kind == SALTUSI_YAML_SCALAR;
  const int count = scalar ? 1 : node->count;
  saltusi_yaml_node* keys = saltusi_reader_take(w->reader, (size_t)count + 1, sizeof *keys);
  saltusi_yaml_node* children = saltusi_reader_take(w->reader, (size_t)count + 1, sizeof *children);
  char* text = saltusi_reader_take(w->reader, SALTUSI_UNIT_TEXT, 1);
  if (keys == NULL || children == NULL || text == NULL) {
    return;
  }
  keys[0] = children[0] = *node;
  keys[0].text = find_key(section, NULL)->key;
  for (int i = 0; i < count && !scalar; i++) {
    keys[i] = node->keys[i];
    children[i] = node->children[i];
  }
  keys[count] = (saltusi_yaml_node){.line = node->line, .column = node->column, .text = "unit"};
  children[count] = keys[count];
  children[count].text = memcpy(text, unit, SALTUSI_UNIT_TEXT);
  *node = (saltusi_yaml_node){.kind = SALTUSI_YAML_MAPPING,
                              .line = node->line,
                              .column = node->column,
                              .text = "",
                              .count = count + 1,
                              .children = children,
                              .keys = keys};
}

static bool is_declared(const char* section) {
  return strcmp(section, "parameters.NAME") == 0 || strcmp(section, "inputs.NAME") == 0 ||
         strcmp(section, "coordinates.NAME") == 0;
}

static void convert_scalar(unit_walker* w, saltusi_yaml_node* node, const unit_place* at) {
  const saltus_scene_key* key = find_key(at->section, at->key);
  if (key == NULL || strstr(key->type, "formula") == NULL || !saltusi_units_candidate(node->text)) {
    return;
  }
  char wanted[WANTED], why[256], si[SALTUSI_UNIT_TEXT];
  const char* unit = wanted_unit(w, key, at, wanted);
  const char* text = saltusi_units_convert(w->reader->pool, node->text, unit, si, why);
  if (text == NULL && why[0] != '\0') {
    saltusi_reader_fail(w->reader, node, "%s: %s", key->key, why);
  }
  if (text == NULL) {
    w->reader->status = w->reader->status == SALTUS_OK ? SALTUS_ERR_MEMORY : w->reader->status;
    return;
  }
  node->folded = node->folded || strcmp(text, node->text) != 0;
  node->text = text;
  if (unit == NULL && si[0] != '\0' && is_declared(at->section) &&
      strstr(key->doc, "[unit]") != NULL) {
    add_unit(w, at->mapping != NULL ? at->mapping : node, at->section, si);
  }
}

/* The section of a mapping behind a key, or of items of a list (suffix "[]"), or of named entries (".NAME"); false:
 * none. Sections of contacts and of joints are shared by materials, elements and coordinates of joints. */
static bool find_section(const char* section, const char* key, const char* suffix,
                         char to[SECTION]) {
  static const char* const shared[] = {"", "contacts[].", "joints[]."};
  snprintf(to, SECTION, "%.60s%s%.40s%s", section, section[0] != '\0' ? "." : "", key, suffix);
  bool found = find_key(to, NULL) != NULL;
  for (int i = 0; i < 3 && !found; i++) {
    snprintf(to, SECTION, "%s%.40s%s", shared[i], key, suffix);
    found = find_key(to, NULL) != NULL;
  }
  if (!found && suffix[0] == '\0' && strcmp(section, "shapes[]") == 0) {
    snprintf(to, SECTION, "shapes[].KIND");
    found = true;
  }
  return found;
}

static void walk_value(unit_walker* w, saltusi_yaml_node* node, const unit_place* at) {
  char section[SECTION];
  if (node->kind == SALTUSI_YAML_SCALAR) {
    convert_scalar(w, node, at);
    return;
  }
  if (node->kind == SALTUSI_YAML_SEQUENCE) {
    const bool items = find_section(at->section, at->key, "[]", section);
    for (int i = 0; i < node->count; i++) {
      if (node->children[i].kind == SALTUSI_YAML_MAPPING && items) {
        walk_mapping(w, &node->children[i], section, UNIT_EITHER);
      } else {
        walk_value(w, &node->children[i], at);
      }
    }
    return;
  }
  const char* key = strcmp(at->key, "inertia_frame") == 0 ? "orientation" : at->key;
  if (at->section[0] == '\0' && find_section("", key, ".NAME", section)) {
    const char* first = find_key(section, NULL)->key;
    for (int i = 0; i < node->count; i++) {
      const unit_place entry = {.section = section, .key = first};
      if (node->children[i].kind == SALTUSI_YAML_MAPPING) {
        walk_mapping(w, &node->children[i], section, UNIT_EITHER);
      } else {
        walk_value(w, &node->children[i], &entry);
      }
    }
  } else if (find_section(at->section, key, "", section)) {
    walk_mapping(w, node, section, at->choice);
  } else { /* a mapping of formulas */
    for (int i = 0; i < node->count; i++) {
      if (node->children[i].kind == SALTUSI_YAML_SCALAR) {
        convert_scalar(w, &node->children[i], at);
      }
    }
  }
}

/* Joints and springs with one coordinate are angular or linear. */
static unit_choice choose(const saltusi_yaml_node* node, const char* section, unit_choice choice) {
  static const char* const words[] = {"joints[].angle",    "revolute",  "torsional",
                                      "joints[].position", "prismatic", "linear"};
  const saltusi_yaml_node* type = saltusi_yaml_find(node, "type");
  const bool spring =
      strcmp(section, "springs[]") == 0 && saltusi_yaml_find(node, "between") != NULL;
  const char* name = type != NULL ? type->text : spring ? "linear" : section;
  for (int i = 0; i < 6; i++) {
    choice = strcmp(words[i], name) != 0 ? choice : i < 3 ? UNIT_FIRST : UNIT_SECOND;
  }
  return choice;
}

static void walk_mapping(unit_walker* w, saltusi_yaml_node* node, const char* section,
                         unit_choice choice) {
  if (!has_units(node)) {
    return;
  }
  unit_place at = {.section = section, .mapping = node, .choice = choose(node, section, choice)};
  const saltus_scene_key* first = find_key(section, NULL);
  for (int pass = 0; pass < 2; pass++) { /* the first key may give the unit of the others */
    for (int i = 0; i < node->count && w->reader->status == SALTUS_OK; i++) {
      at.key = node->keys[i].text;
      if ((strcmp(at.key, first->key) == 0) == (pass == 0)) {
        walk_value(w, &node->children[i], &at);
      }
    }
  }
}

void saltusi_scene_quantities(saltusi_scene_builder* b, saltusi_yaml_node* root) {
  assert(b != NULL && root != NULL);
  if (root->kind != SALTUSI_YAML_MAPPING) {
    return;
  }
  const saltusi_yaml_node* world = saltusi_reader_section(root, "world");
  const saltusi_yaml_node* dimension = world != NULL && world->kind == SALTUSI_YAML_MAPPING
                                           ? saltusi_yaml_find(world, "dimension")
                                           : NULL;
  unit_walker w = {.reader = &b->reader,
                   .plane = dimension == NULL || strcmp(dimension->text, "3") != 0};
  walk_mapping(&w, root, "", UNIT_EITHER);
}

void saltusi_scene_override(saltusi_scene_builder* b, saltus_override* override,
                            const saltusi_yaml_node* entry, bool velocity) {
  assert(b != NULL && override != NULL && entry != NULL);
  const bool mapping = entry->kind == SALTUSI_YAML_MAPPING;
  const saltusi_yaml_node* unit = mapping ? saltusi_yaml_find(entry, "unit") : NULL;
  char wanted[WANTED], why[256], si[SALTUSI_UNIT_TEXT];
  snprintf(wanted, sizeof wanted, "%.100s%s", unit != NULL ? unit->text : "", velocity ? "/s" : "");
  const char* text =
      saltusi_units_convert(b->reader.pool, override->value, unit != NULL ? wanted : NULL, si, why);
  if (text != NULL) {
    override->value = text;
    return;
  }
  b->reader.status = why[0] != '\0' ? SALTUS_ERR_INPUT : SALTUS_ERR_MEMORY;
  if (why[0] != '\0') {
    saltusi_log(b->reader.log, SALTUS_LEVEL_ERROR, "%.20s%.80s: %s",
                b->def->mark != NULL ? b->def->mark : "override ", override->name, why);
  }
}
