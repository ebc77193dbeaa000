/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.c - see observe.h. `height: FORMULA` is short for `height: {formula: FORMULA}`.
 */
#include "scene/observe.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* One entry of a section: its name and formula, and the mapping with its other keys or NULL. */
typedef struct entry {
  const char* name;
  saltus_formula_text formula;
  const saltusi_yaml_node* keys;
} entry;

static entry read_entry(saltusi_reader* reader, const saltusi_yaml_node* section, int i,
                        const char* kind) {
  const saltusi_yaml_node* node = &section->children[i];
  entry e = {.name = section->keys[i].text};
  char what[200];
  char place[32];
  snprintf(what, sizeof what, "%s \"%.150s\"", kind, e.name);
  snprintf(place, sizeof place, "%ss.NAME", kind);
  const saltusi_yaml_node* formula = node;
  if (node->kind == SALTUSI_YAML_MAPPING) {
    if (!saltusi_reader_keys(reader, node, place, what)) {
      return e;
    }
    e.keys = node;
    formula = saltusi_yaml_find(node, "formula");
    if (formula == NULL) {
      saltusi_reader_fail(reader, node, "%s has no formula", what);
    }
  }
  e.formula = saltusi_reader_formula(reader, formula, saltusi_pool_text(reader->pool, what));
  return e;
}

static const char* read_key(saltusi_reader* reader, const entry* e, const char* key) {
  return e->keys != NULL ? saltusi_reader_text(reader, saltusi_yaml_find(e->keys, key), key) : NULL;
}

static saltus_crossing read_direction(saltusi_reader* reader, const entry* e) {
  static const char* const words[] = {[SALTUS_CROSSING_BOTH] = "both",
                                      [SALTUS_CROSSING_RISING] = "rising",
                                      [SALTUS_CROSSING_FALLING] = "falling"};
  const char* text = read_key(reader, e, "direction");
  for (int i = 0; text != NULL && i < 3; i++) {
    if (strcmp(text, words[i]) == 0) {
      return (saltus_crossing)i;
    }
  }
  if (text != NULL) {
    saltusi_reader_fail(reader, saltusi_yaml_find(e->keys, "direction"),
                        "direction is " SALTUSI_QUOTE "; allowed: rising, falling, both", text);
  }
  return SALTUS_CROSSING_BOTH;
}

/* A section of named formulas; NULL: not there, or wrong. */
static const saltusi_yaml_node* find_section(saltusi_reader* reader, const saltusi_yaml_node* root,
                                             const char* key) {
  const saltusi_yaml_node* node = saltusi_reader_section(root, key);
  bool good = node != NULL && reader->status == SALTUS_OK &&
              saltusi_reader_expect(reader, node, SALTUSI_YAML_MAPPING, key);
  return good ? node : NULL;
}

static saltus_formula_output added(saltusi_reader* reader, const saltus_scene_output* given) {
  return (saltus_formula_output){
      .name = saltusi_pool_text(reader->pool, given->name),
      .formula = {.text = saltusi_pool_text(reader->pool, given->formula),
                  .file = saltusi_pool_text(reader->pool, given->name),
                  .what = "formula"}};
}

void saltusi_scene_observe(saltusi_scene_builder* builder, const saltus_formula_def* model,
                           saltus_formula_observer** out) {
  assert(builder->root != NULL && model != NULL && out != NULL);
  saltusi_reader* reader = &builder->reader;
  const saltusi_yaml_node* root = builder->root;
  const saltusi_yaml_node* section = find_section(reader, root, "outputs");
  const int own_count = section != NULL ? section->count : 0;
  const int output_count = own_count + builder->def->output_count;
  saltus_formula_output* outputs =
      saltusi_reader_take(reader, (size_t)output_count, sizeof *outputs);
  for (int i = 0; i < output_count && reader->status == SALTUS_OK; i++) {
    if (i >= own_count) {
      outputs[i] = added(reader, &builder->def->outputs[i - own_count]);
      continue;
    }
    entry e = read_entry(reader, section, i, "output");
    outputs[i] = (saltus_formula_output){
        .name = e.name, .unit = read_key(reader, &e, "unit"), .formula = e.formula};
  }
  section = find_section(reader, root, "events");
  int event_count = section != NULL ? section->count : 0;
  saltus_formula_event* events = saltusi_reader_take(reader, (size_t)event_count, sizeof *events);
  for (int i = 0; i < event_count && reader->status == SALTUS_OK; i++) {
    entry e = read_entry(reader, section, i, "event");
    events[i] = (saltus_formula_event){
        .name = e.name, .direction = read_direction(reader, &e), .formula = e.formula};
  }
  if (reader->status != SALTUS_OK || output_count + event_count == 0) {
    return;
  }
  const saltus_formula_observer_def def = {.model = model,
                                           .outputs = outputs,
                                           .output_count = output_count,
                                           .events = events,
                                           .event_count = event_count};
  reader->status = saltus_formula_observer_create(&def, out);
}
