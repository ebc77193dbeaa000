/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * open_joints.c - joints by type that are active while an input is 1: rows by formula, each times
 * the input. A row times 0 is no constraint (docs/scene.md, events that switch).
 *
 * c_in: coordinates of the second origin in the axes of the first marker; zx_in, zy_in: its z axis stays parallel where they are
 * 0; xy_in: no rotation about z; yx_in: y of the second stays perpendicular to x of the first.
 */
#include "scene/builder.h"

#include <assert.h>
#include <string.h>

enum { ROWS_MOST = SALTUSI_SCENE_ROWS_MOST };

typedef struct rows {
  saltus_joint_type type;
  const char* plane[ROWS_MOST]; /* NULL past the end; empty: not available in the plane */
  const char* space[ROWS_MOST];
} rows;

static const rows table[] = {
    {SALTUS_JOINT_FIXED,
     {"x_in", "y_in", "angle"},
     {"x_in", "y_in", "z_in", "zx_in", "zy_in", "xy_in"}},
    {SALTUS_JOINT_REVOLUTE, {"x_in", "y_in"}, {"x_in", "y_in", "z_in", "zx_in", "zy_in"}},
    {SALTUS_JOINT_PRISMATIC, {"y_in", "angle"}, {"x_in", "y_in", "zx_in", "zy_in", "xy_in"}},
    {SALTUS_JOINT_CYLINDRICAL, {NULL}, {"x_in", "y_in", "zx_in", "zy_in"}},
    {SALTUS_JOINT_SPHERICAL, {NULL}, {"x_in", "y_in", "z_in"}},
    {SALTUS_JOINT_UNIVERSAL, {NULL}, {"x_in", "y_in", "z_in", "yx_in"}},
    {SALTUS_JOINT_PLANAR, {NULL}, {"z_in", "zx_in", "zy_in"}},
    {SALTUS_JOINT_POINT_ON_LINE, {"y_in"}, {"x_in", "y_in"}},
    {SALTUS_JOINT_POINT_IN_PLANE, {NULL}, {"z_in"}},
    {SALTUS_JOINT_DISTANCE, {"dist"}, {"dist"}},
};

/* "a" + "b" + "c" in the pool; NULL after a failure. */
static const char* join(saltusi_scene_builder* b, const char* x, const char* y, const char* z) {
  const char* two = saltusi_pool_join(b->reader.pool, x, y);
  const char* all = two != NULL ? saltusi_pool_join(b->reader.pool, two, z) : NULL;
  if (all == NULL && b->reader.status == SALTUS_OK) {
    b->reader.status = SALTUS_ERR_MEMORY;
  }
  return all != NULL ? all : "";
}

/* The input of `while`; a message if it does not exist, or if the joint has a drive, limit or spring along a
 * coordinate, which such a joint does not have. */
static const char* read_input(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                              const char* name) {
  static const char* const refused[] = {"drive",    "limits",  "restitution",
                                        "spring",   "damping", "dry_friction",
                                        "actuator", "angle",   "position"};
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "while");
  const char* input = saltusi_reader_text(&b->reader, node, "while");
  bool found = input == NULL;
  for (int i = 0; i < b->model.input_count && !found; i++) {
    found = strcmp(b->model.input_names[i], input) == 0;
  }
  if (!found) {
    saltusi_reader_fail(&b->reader, node, "while: there is no input " SALTUSI_QUOTE, input);
  }
  for (size_t k = 0; k < sizeof refused / sizeof refused[0] && b->reader.status == SALTUS_OK; k++) {
    const saltusi_yaml_node* other = saltusi_yaml_find(item, refused[k]);
    if (other != NULL) {
      saltusi_reader_fail(&b->reader, other,
                          "joint " SALTUSI_QUOTE
                          " opens and has no %s; give springs or elements beside it",
                          name, refused[k]);
    }
  }
  return input != NULL ? input : "";
}

int saltusi_scene_open_joint(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                             const char* name, saltus_formula_joint* out) {
  assert(b != NULL && item != NULL && out != NULL);
  saltus_joint_def joint = {0};
  const char* input = read_input(b, item, name);
  saltusi_scene_body_joint(b, item, name, &joint);
  if (b->reader.status != SALTUS_OK) {
    return 0;
  }
  const rows* of = NULL;
  for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
    of = table[k].type == joint.type ? &table[k] : of;
  }
  const bool plane = b->mechanism.dimension == 2;
  if (of == NULL || (plane && of->plane[0] == NULL)) {
    saltusi_reader_fail(&b->reader, item, "joint " SALTUSI_QUOTE " is %s and cannot open%s", name,
                        saltusi_yaml_find(item, "type")->text, plane ? " in the plane" : "");
    return 0;
  }
  const saltusi_yaml_node* length = saltusi_yaml_find(item, "length");
  const char* const* parts = plane ? of->plane : of->space;
  const char* of_two = join(b, joint.between[0], ", ", joint.between[1]);
  int count = 0;
  for (; count < ROWS_MOST && parts[count] != NULL; count++) {
    const char* call = join(b, parts[count], "(", of_two);
    const char* less = length != NULL ? join(b, ") - (", length->text, "))") : "))";
    saltus_formula_joint* row = &out[count];
    row->name = join(b, name, ".", parts[count]);
    row->constraint =
        saltusi_reader_formula(&b->reader, saltusi_yaml_find(item, "while"),
                               saltusi_scene_describe(b, "constraint", "joint", name));
    row->constraint.text = join(b, join(b, input, "*(", call), less, "");
    row->constraint.line = row->constraint.column = 0; /* the text is not that of the scene */
  }
  return count;
}
