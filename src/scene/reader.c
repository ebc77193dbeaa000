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
    {"", "inputs", "mapping of formulas", "values set from outside between steps, at the start"},
    {"", "world", "mapping", "dimension and gravity of a scene with bodies"},
    {"", "bodies", "mapping", "rigid bodies"},
    {"", "markers", "mapping", "points with axes, on bodies or in the world"},
    {"", "kinetic", "formula", "kinetic energy [J], quadratic in the velocities (x')"},
    {"", "potential", "formula", "potential energy [J] of positions and time; default 0"},
    {"", "forces", "mapping of formulas, or list",
     "generalized forces beyond the potential, by coordinate; or forces at markers"},
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
    {"world", "dimension", "2 or 3", "the plane or space; default 2"},
    {"world", "gravity", "list of formulas",
     "acceleration [m/s^2]; default 9.81 downwards, along -y in the plane, -z in space"},
    {"bodies.NAME", "mass", "formula", "mass [kg], > 0"},
    {"bodies.NAME", "inertia", "formula, or list",
     "about the centre of mass [kg m^2]; in space [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]"},
    {"bodies.NAME", "inertia_frame", "marker or mapping",
     "axes of the inertia: a marker on the body or an orientation; default the body's"},
    {"bodies.NAME", "position", "list of formulas", "centre of mass at the start [m]; default 0"},
    {"bodies.NAME", "angle", "formula", "angle at the start [rad], in the plane; default 0"},
    {"bodies.NAME", "orientation", "mapping", "axes at the start, in space; default the world's"},
    {"bodies.NAME", "velocity", "list of formulas",
     "velocity of the centre of mass at the start [m/s]; default 0"},
    {"bodies.NAME", "angular_velocity", "formula, or list",
     "at the start [rad/s], in space in body axes; default 0"},
    {"bodies.NAME", "frame", "world or body", "axes of both velocities, instead of the usual ones"},
    {"bodies.NAME", "fixed", "true or false", "stays where it starts; default false"},
    {"bodies.NAME", "driven", "mapping", "pose as formulas of time"},
    {"bodies.NAME.driven", "x", "formula", "of time [m]; default 0"},
    {"bodies.NAME.driven", "y", "formula", "of time [m]; default 0"},
    {"bodies.NAME.driven", "z", "formula", "of time [m], in space; default 0"},
    {"bodies.NAME.driven", "angle", "formula", "of time [rad]; in space about the axis; default 0"},
    {"bodies.NAME.driven", "axis", "list of formulas", "of the angle, in space; constant"},
    {"bodies.NAME.driven", "rpy", "list of formulas",
     "roll, pitch and yaw of time [rad], in space; default 0"},
    {"orientation", "axis", "list of formulas", "axis of any length but 0"},
    {"orientation", "angle", "formula", "about the axis [rad]"},
    {"orientation", "quaternion", "list of formulas", "w, x, y, z, of any length but 0"},
    {"orientation", "rpy", "list of formulas",
     "roll, pitch, yaw [rad]: about fixed x, then y, then z"},
    {"markers.NAME", "body", "text", "body it is on; default the world"},
    {"markers.NAME", "marker", "text", "marker it is relative to, instead of a body"},
    {"markers.NAME", "point", "list of formulas",
     "from the centre of mass, in body axes [m]; default 0"},
    {"markers.NAME", "angle", "formula", "of its axes [rad], in the plane; default 0"},
    {"markers.NAME", "orientation", "mapping", "of its axes, in space; default the body's"},
    {"forces[]", "name", "text", "name, for messages"},
    {"forces[]", "at", "text", "marker, or body: its centre of mass"},
    {"forces[]", "force", "list of formulas", "force [N]"},
    {"forces[]", "torque", "formula, or list", "torque [N m]"},
    {"forces[]", "frame", "world or marker", "axes of both; default world"},
    {"springs[]", "elongation", "formula",
     "what is stretched, zero at rest, of positions and time"},
    {"springs[]", "stiffness", "formula, or list", "force for each elongation, >= 0; default 0"},
    {"springs[]", "damping", "formula, or list",
     "force for each rate of elongation, >= 0; default 0"},
    {"springs[]", "type", "linear, torsional or bushing", "between markers; default linear"},
    {"springs[]", "between", "list of names", "two markers, instead of an elongation"},
    {"springs[]", "length", "formula", "without force [m], of a linear spring; default 0"},
    {"springs[]", "angle", "formula", "without force [rad], of a torsional spring; default 0"},
    {"joints[]", "name", "text", "name, unique"},
    {"joints[]", "constraint", "formula", "what has to stay zero, of positions and time"},
    {"joints[]", "type", "text",
     "fixed, revolute, prismatic, cylindrical, spherical, universal, planar, point-on-line, "
     "point-in-plane, distance, screw, gear or rack-and-pinion"},
    {"joints[]", "between", "list of names", "two markers"},
    {"joints[]", "joints", "list of names", "two earlier joints, of a gear or rack-and-pinion"},
    {"joints[]", "length", "formula", "of time [m], of a distance"},
    {"joints[]", "ratio", "formula", "of a gear: second coordinate for each of the first"},
    {"joints[]", "radius", "formula", "of the pinion [m]"},
    {"joints[]", "pitch", "formula", "of a screw [m in a turn]"},
    {"joints[]", "offset", "formula", "of a gear or rack-and-pinion [rad or m]; default 0"},
    {"joints[]", "drive", "mapping", "prescribed coordinate or speed"},
    {"joints[]", "limits", "list of formulas", "lower and upper end [rad or m], or none"},
    {"joints[]", "restitution", "formula", "of the limits, 0 to 1; default 0"},
    {"joints[]", "spring", "mapping", "spring along the coordinate"},
    {"joints[]", "damping", "formula", "[N m s/rad or N s/m]; default 0"},
    {"joints[]", "actuator", "formula", "of time and inputs [N m or N]; default 0"},
    {"joints[]", "angle", "mapping", "what acts along the angle of a cylindrical joint or screw"},
    {"joints[]", "position", "mapping", "the same along its position"},
    {"joints[].angle", "drive", "mapping", "as above"},
    {"joints[].angle", "limits", "list of formulas", "as above"},
    {"joints[].angle", "restitution", "formula", "as above"},
    {"joints[].angle", "spring", "mapping", "as above"},
    {"joints[].angle", "damping", "formula", "as above"},
    {"joints[].angle", "actuator", "formula", "as above"},
    {"joints[].position", "drive", "mapping", "as above"},
    {"joints[].position", "limits", "list of formulas", "as above"},
    {"joints[].position", "restitution", "formula", "as above"},
    {"joints[].position", "spring", "mapping", "as above"},
    {"joints[].position", "damping", "formula", "as above"},
    {"joints[].position", "actuator", "formula", "as above"},
    {"joints[].drive", "angle", "formula", "of time [rad]"},
    {"joints[].drive", "position", "formula", "of time [m]"},
    {"joints[].drive", "speed", "formula", "of time [rad/s or m/s], from the start on"},
    {"joints[].spring", "stiffness", "formula", "[N m/rad or N/m], >= 0; default 0"},
    {"joints[].spring", "rest", "formula", "coordinate without force [rad or m]; default 0"},
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
