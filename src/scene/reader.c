/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reader.c - see reader.h. The table of keys is the one place that knows them: the reader refuses
 * what is not in it, the reference page is checked against it.
 */
#include "scene/reader.h"

#include "base/log.h"
#include "base/suggest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const saltus_scene_key keys[] = {
    {"", "saltus", "number", "version of the format: 1"},
    {"", "name", "text", "what the scene shows, for titles"},
    {"", "description", "text", "more about it; not used in computations"},
    {"", "parameters", "mapping of formulas", "named constants; may use each other and pi"},
    {"", "coordinates", "mapping", "generalized coordinates, in the order of the state"},
    {"", "kinetic", "formula", "kinetic energy [J], quadratic in the velocities (x')"},
    {"", "potential", "formula", "potential energy [J] of positions and time; default 0"},
    {"", "forces", "mapping of formulas", "generalized forces beyond the potential, by coordinate"},
    {"", "springs", "list", "springs and dampers"},
    {"", "joints", "list", "bilateral constraints"},
    {"", "contacts", "list", "unilateral constraints"},
    {"", "outputs", "mapping of formulas", "what else is recorded and drawn, by name"},
    {"", "events", "mapping of formulas", "what is reported when it passes through zero, by name"},
    {"", "simulate", "mapping", "how to run it; the command line overrides"},
    {"", "record", "mapping", "what to keep"},
    {"", "reference", "text", "reference problem or CSV file with the exact motion"},
    {"coordinates.NAME", "start", "formula", "position at the start; default 0"},
    {"coordinates.NAME", "velocity", "formula", "velocity at the start; default 0"},
    {"coordinates.NAME", "unit", "text", "unit, for headers and axes; default none"},
    {"coordinates.NAME", "tolerance", "formula",
     "absolute tolerance of the position; default that of the scheme"},
    {"coordinates.NAME", "velocity_tolerance", "formula",
     "absolute tolerance of the velocity; default that of the scheme"},
    {"springs[]", "name", "text", "name, for messages"},
    {"springs[]", "elongation", "formula",
     "what is stretched, zero at rest, of positions and time"},
    {"springs[]", "stiffness", "formula", "force for each elongation, >= 0; default 0"},
    {"springs[]", "damping", "formula", "force for each rate of elongation, >= 0; default 0"},
    {"joints[]", "name", "text", "name, unique"},
    {"joints[]", "constraint", "formula", "what has to stay zero, of positions and time"},
    {"contacts[]", "name", "text", "name, unique"},
    {"contacts[]", "gap", "formula", "distance, positive when apart, of positions and time"},
    {"contacts[]", "slip", "formula", "slip velocity, or the position whose rate it is"},
    {"contacts[]", "slip2", "formula", "second tangent, for spatial friction"},
    {"contacts[]", "friction", "formula", "coefficient of friction, >= 0; default 0"},
    {"contacts[]", "restitution", "formula", "normal restitution, 0 to 1; default 0"},
    {"contacts[]", "tangential_restitution", "formula", "0 to 1; default 0"},
    {"contacts[]", "impact", "newton or poisson", "impact law; default newton"},
    {"outputs.NAME", "formula", "formula", "of time, positions and velocities"},
    {"outputs.NAME", "unit", "text", "unit, for headers and axes; default none"},
    {"events.NAME", "formula", "formula", "of time, positions and velocities"},
    {"events.NAME", "direction", "rising, falling or both",
     "which passages through zero; default both"},
    {"simulate", "start", "formula", "time at the start [s]; default 0"},
    {"simulate", "until", "formula", "time at the end [s]"},
    {"simulate", "scheme", "text",
     "time-stepping scheme, see saltus list schemes; default adaptive, moreau-jean with a step"},
    {"simulate", "step", "formula", "step [s]"},
    {"simulate", "options", "mapping", "options of the scheme"},
    {"simulate", "tol", "formula",
     "tolerance rtol = atol of the scheme or of a step-size controller, instead of a step"},
    {"simulate", "control", "text", "step-size controller, see saltus list controls"},
    {"simulate", "control_options", "mapping", "options of the controller"},
    {"simulate", "start_tolerance", "formula",
     "largest violation of contacts and joints at the start that is corrected [unit of the gap]; "
     "default 0.01"},
    {"record", "every", "whole number",
     "steps between recorded states; default 1, of adaptive 500 equal times instead"},
    {"record", "dt", "formula", "time between recorded states [s], instead of every"},
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

const saltus_scene_key* saltus_scene_key_at(int i) {
  return i >= 0 && i < KEY_COUNT ? &keys[i] : NULL;
}

void saltusi_reader_fail(saltusi_reader* reader, const saltusi_yaml_node* where, const char* format,
                         ...) {
  assert(reader != NULL && format != NULL);
  if (reader->status != SALTUS_OK) {
    return;
  }
  reader->status = SALTUS_ERR_INPUT;
  char text[768];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  saltusi_log(reader->log, SALTUS_LEVEL_ERROR, "%s:%d:%d: %s", reader->file, where->line,
              where->column, text);
}

void* saltusi_reader_take(saltusi_reader* reader, size_t count, size_t item) {
  assert(reader->pool != NULL && item > 0);
  void* room = saltusi_pool_take(reader->pool, count, item);
  if (room == NULL && reader->status == SALTUS_OK) {
    reader->status = SALTUS_ERR_MEMORY;
  }
  return room;
}

bool saltusi_reader_expect(saltusi_reader* reader, const saltusi_yaml_node* node,
                           saltusi_yaml_kind kind, const char* what) {
  assert(reader != NULL && node != NULL);
  if (node->absent) {
    saltusi_reader_fail(reader, node, "%s has nothing behind it; give %s", what,
                        saltusi_yaml_kind_name(kind));
    return false;
  }
  if (node->kind != kind) {
    saltusi_reader_fail(reader, node, "%s has to be %s, not %s", what, saltusi_yaml_kind_name(kind),
                        saltusi_yaml_kind_name(node->kind));
    return false;
  }
  return reader->status == SALTUS_OK;
}

/* "name, gap, slip" */
static const char* list_keys(const char* const* names, int count, char* text, size_t bytes) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < count && used < bytes; i++) {
    int added = snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "", names[i]);
    used += added > 0 ? (size_t)added : 0;
  }
  return text;
}

bool saltusi_reader_keys(saltusi_reader* reader, const saltusi_yaml_node* node, const char* section,
                         const char* what) {
  assert(node != NULL && section != NULL);
  const char* names[KEY_COUNT];
  int count = 0;
  for (int i = 0; i < KEY_COUNT; i++) {
    if (strcmp(keys[i].section, section) == 0) {
      names[count++] = keys[i].key;
    }
  }
  if (!saltusi_reader_expect(reader, node, SALTUSI_YAML_MAPPING, what)) {
    return false;
  }
  for (int i = 0; i < node->count; i++) {
    const char* key = node->keys[i].text;
    bool known = false;
    for (int k = 0; k < count; k++) {
      known = known || strcmp(names[k], key) == 0;
    }
    if (!known) {
      const char* near = saltusi_suggest(key, names, count);
      char all[512];
      saltusi_reader_fail(reader, &node->keys[i], "unknown key " SALTUSI_QUOTE " in %s; %s%s%s",
                          key, what, near != NULL ? "did you mean \"" : "allowed: ",
                          near != NULL ? near : list_keys(names, count, all, sizeof all),
                          near != NULL ? "\"?" : "");
      return false;
    }
  }
  return true;
}

const saltusi_yaml_node* saltusi_reader_section(const saltusi_yaml_node* root, const char* key) {
  assert(root != NULL && key != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(root, key);
  return node != NULL && !node->absent ? node : NULL;
}

const char* saltusi_reader_text(saltusi_reader* reader, const saltusi_yaml_node* node,
                                const char* what) {
  assert(reader != NULL && reader->file != NULL);
  if (node == NULL || !saltusi_reader_expect(reader, node, SALTUSI_YAML_SCALAR, what)) {
    return NULL;
  }
  return node->text;
}

saltus_formula_text saltusi_reader_formula(saltusi_reader* reader, const saltusi_yaml_node* node,
                                           const char* what) {
  assert(reader != NULL && reader->file != NULL);
  const char* text = saltusi_reader_text(reader, node, what);
  if (text == NULL) {
    return (saltus_formula_text){.what = what};
  }
  return (saltus_formula_text){.text = text,
                               .file = reader->file,
                               .line = node->line,
                               .column = node->folded ? 0 : node->column,
                               .what = what};
}

static void write_placed(void* user, saltus_level level, const char* text) {
  const saltusi_placed_log* placed = user;
  saltusi_log(placed->inner, level, "%s:%d:%d: %s", placed->file, placed->line, placed->column,
              text);
}

saltus_log saltusi_reader_log_at(const saltusi_reader* reader, const saltusi_yaml_node* where,
                                 saltusi_placed_log* placed) {
  assert(reader != NULL && placed != NULL);
  *placed = (saltusi_placed_log){
      .inner = reader->log, .file = reader->file, .line = where->line, .column = where->column};
  return (saltus_log){.write = write_placed, .user = placed};
}
