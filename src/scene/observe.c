/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.c - see observe.h. `height: FORMULA` is short for `height: {formula: FORMULA}`.
 */
#include "scene/observe.h"

#include "scene/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* One entry of a section: its name and formula, and the mapping with its other keys or NULL. */
typedef struct observe_entry {
  const char* name;
  saltus_formula_text formula;
  const saltusi_yaml_node* keys;
} observe_entry;

static observe_entry read_entry(saltusi_reader* reader, const saltusi_yaml_node* section, int i,
                                const char* kind) {
  const saltusi_yaml_node* node = &section->children[i];
  observe_entry e = {.name = section->keys[i].text};
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

static const char* read_key(saltusi_reader* reader, const observe_entry* e, const char* key) {
  return e->keys != NULL ? saltusi_reader_text(reader, saltusi_yaml_find(e->keys, key), key) : NULL;
}

/* The unit of an output with `in`, whose formula in SI units is divided by it; NULL: no such key. */
static const char* express(saltusi_reader* reader, observe_entry* e) {
  const char* unit = read_key(reader, e, "in");
  char one[120], si[SALTUSI_UNIT_TEXT], why[256];
  if (unit == NULL || e->formula.text == NULL) {
    return NULL;
  }
  snprintf(one, sizeof one, "1 [%.100s]", unit);
  const char* factor = saltusi_units_convert(reader->pool, one, NULL, si, why);
  if (factor == NULL || saltusi_yaml_find(e->keys, "unit") != NULL) {
    saltusi_reader_fail(reader, saltusi_yaml_find(e->keys, "in"), "in: %s",
                        factor == NULL ? why : "the output has a unit; give one of both");
    return NULL;
  }
  const size_t room = strlen(e->formula.text) + strlen(factor) + 6;
  char* text = saltusi_reader_take(reader, room, 1);
  if (text != NULL) {
    snprintf(text, room, "(%s)/(%s)", e->formula.text, factor);
    e->formula.text = text;
    e->formula.column = 0;
  }
  return unit;
}

static saltus_crossing read_direction(saltusi_reader* reader, const observe_entry* e) {
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

/* A section of named formulas; NULL: absent or invalid. */
static const saltusi_yaml_node* find_section(saltusi_reader* reader, const saltusi_yaml_node* root,
                                             const char* key) {
  const saltusi_yaml_node* node = saltusi_reader_section(root, key);
  bool good = node != NULL && reader->status == SALTUS_OK &&
              saltusi_reader_expect(reader, node, SALTUSI_YAML_MAPPING, key);
  return good ? node : NULL;
}

/* Whether a name has another meaning in formulas of the scene than that of an output. */
static bool is_taken(const saltus_formula_def* model, const char* name, size_t length) {
  for (int i = 0; i < model->parameter_count + model->coordinate_count + model->input_count; i++) {
    const int c = i - model->parameter_count, k = c - model->coordinate_count;
    const char* known = c < 0   ? model->parameters[i].name
                        : k < 0 ? model->coordinates[c].name
                                : model->input_names[k];
    if (strlen(known) == length && memcmp(known, name, length) == 0) {
      return true;
    }
  }
  return false;
}

/* The output that a word names; NULL: none. */
static const saltus_formula_output* find_output(const saltus_formula_output* outputs, int count,
                                                const char* name, size_t length) {
  for (int i = 0; i < count; i++) {
    if (strlen(outputs[i].name) == length && memcmp(outputs[i].name, name, length) == 0) {
      return &outputs[i];
    }
  }
  return NULL;
}

/* A formula with the names of outputs replaced by their formulas, into text; its length. text NULL: only the length.
 * */
static size_t put_outputs(const saltus_formula_def* model, const saltus_formula_output* outputs,
                          int count, const char* formula, char* text) {
  static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.'";
  size_t used = 0;
  for (const char* c = formula; *c != '\0';) {
    const size_t span = strspn(c, word), length = span > 0 ? span : 1;
    const saltus_formula_output* o = find_output(outputs, count, c, length);
    const bool taken = o == NULL || is_taken(model, c, length);
    const char* from = taken ? c : o->formula.text;
    const size_t size = taken ? length : strlen(from);
    if (text != NULL) {
      text[used] = '(';
      memcpy(text + used + !taken, from, size);
      text[used + size + !taken] = taken ? '\0' : ')';
    }
    used += size + (taken ? 0 : 2);
    c += length;
  }
  return used;
}

static const char* with_outputs(saltusi_reader* reader, const saltus_formula_def* model,
                                const saltus_formula_output* outputs, int count,
                                const char* formula) {
  const size_t length = put_outputs(model, outputs, count, formula, NULL);
  char* text = saltusi_reader_take(reader, length + 2, 1); /* zeros */
  if (text != NULL) {
    (void)put_outputs(model, outputs, count, formula, text);
  }
  return text;
}

static saltus_formula_output added(saltusi_reader* reader, const saltus_scene_output* given,
                                   const char* formula) {
  const char* label = given->label != NULL ? given->label : given->name;
  return (saltus_formula_output){.name = saltusi_pool_text(reader->pool, given->name),
                                 .formula = {.text = formula,
                                             .file = saltusi_pool_text(reader->pool, label),
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
      const saltus_scene_output* given = &builder->def->outputs[i - own_count];
      outputs[i] =
          added(reader, given, with_outputs(reader, model, outputs, own_count, given->formula));
      continue;
    }
    observe_entry e = read_entry(reader, section, i, "output");
    const char* in = express(reader, &e);
    outputs[i] = (saltus_formula_output){.name = e.name,
                                         .unit = in != NULL ? in : read_key(reader, &e, "unit"),
                                         .formula = e.formula};
  }
  section = find_section(reader, root, "events");
  int event_count = section != NULL ? section->count : 0;
  saltus_formula_event* events = saltusi_reader_take(reader, (size_t)event_count, sizeof *events);
  for (int i = 0; i < event_count && reader->status == SALTUS_OK; i++) {
    observe_entry e = read_entry(reader, section, i, "event");
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
