/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * collision.c - collision geometry of a link: <collision> with box, sphere, cylinder, capsule or mesh. Boxes, cylinders and
 * capsules of URDF are centred and along z, as shapes of scenes are.
 */
#include "urdf/elements.h"
#include "urdf/robot.h"

#include "base/suggest.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const saltusi_element_word none[] = {{"", NULL}};
static const saltusi_element_word name_word[] = {{"name", NULL}, {"", NULL}};
static const saltusi_element_word place_words[] = {{"xyz", NULL}, {"rpy", NULL}, {"", NULL}};
static const saltusi_element_word size_word[] = {{"size", NULL}, {"", NULL}};
static const saltusi_element_word radius_word[] = {{"radius", NULL}, {"", NULL}};
static const saltusi_element_word round_words[] = {{"radius", NULL}, {"length", NULL}, {"", NULL}};
static const saltusi_element_word mesh_words[] = {{"filename", NULL}, {"scale", NULL}, {"", NULL}};
static const saltusi_element_word collision_children[] = {
    {"origin", NULL},
    {"geometry", NULL},
    {"verbose", "not used: it is about another program"},
    {"", NULL}};

/* As in robot.h, in the order of saltusi_robot_shape_kind. */
static const struct {
  const char* name;
  const saltusi_element_word* attributes;
} kinds[] = {{"box", size_word},
             {"sphere", radius_word},
             {"cylinder", round_words},
             {"capsule", round_words},
             {"mesh", mesh_words}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), k = strlen(end);
  bool same = n > k;
  for (size_t i = 0; same && i < k; i++) {
    const char c = text[n - k + i];
    same = (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) == end[i];
  }
  return same;
}

/* The file of a mesh as a path from the folder of the scene; NULL: it is listed as not used. */
static const char* mesh_file(saltusi_robot* robot, const saltusi_xml_node* node,
                             const char* owner) {
  const char* given = saltusi_element_name(robot, node, "filename");
  const char* path = given;
  if (strncmp(path, "file://", 7) == 0) {
    path += 7;
  } else if (strncmp(path, "package://", 10) == 0) {
    const char* slash = strchr(path + 10, '/');
    path = slash != NULL ? slash + 1 : "";
    saltusi_robot_note(robot, node->line,
                       "%s: <collision>: " SALTUSI_ROBOT_QUOTE
                       " is looked for as " SALTUSI_ROBOT_QUOTE " from the folder of the scene",
                       owner, given, path);
  }
  bool plain = strlen(path) < 400;
  for (const char* c = path; *c != '\0'; c++) {
    plain = plain && (unsigned char)*c >= ' ' && *c != 127;
  }
  if (!plain || !(ends_with(path, ".stl") || ends_with(path, ".obj"))) {
    saltusi_robot_note(robot, node->line,
                       "%s: <collision>: mesh " SALTUSI_ROBOT_QUOTE
                       " is neither an STL nor an OBJ file: not used",
                       owner, given);
    return NULL;
  }
  return path;
}

static bool read_numbers(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                         const char* word, int count, double* out) {
  const double least = 1e-12; /* m, rounding of positions of 1 km */
  bool good = saltusi_element_numbers(robot, node, word, count, out);
  for (int i = 0; i < count && good; i++) {
    good = out[i] >= least;
  }
  if (!good) {
    saltusi_robot_refuse(robot, node->line,
                         "%s: <collision>: <%s> needs %s=\"...\" above 0, at least %g m", owner,
                         node->name, word, least);
  }
  return good;
}

/* Kind and dimensions of a shape; false: not supported. */
static bool read_kind(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                      saltusi_robot_shape* shape) {
  int kind = 0;
  while (kind < KINDS && strcmp(node->name, kinds[kind].name) != 0) {
    kind++;
  }
  if (kind == KINDS) {
    saltusi_robot_note(robot, node->line, "%s: <collision>: <%.60s>: not known, not used", owner,
                       node->name);
    return false;
  }
  shape->kind = (saltusi_robot_shape_kind)kind;
  saltusi_element_list(robot, node, &(saltusi_element){kinds[kind].attributes, none}, owner);
  switch (shape->kind) {
  case SALTUSI_ROBOT_BOX:
    return read_numbers(robot, node, owner, "size", 3, shape->size);
  case SALTUSI_ROBOT_SPHERE:
    return read_numbers(robot, node, owner, "radius", 1, shape->size);
  case SALTUSI_ROBOT_CYLINDER:
  case SALTUSI_ROBOT_CAPSULE:
    return read_numbers(robot, node, owner, "radius", 1, shape->size) &&
           read_numbers(robot, node, owner, "length", 1, shape->size + 1);
  default:
    break;
  }
  double scale[3] = {1.0, 1.0, 1.0};
  saltusi_element_numbers(robot, node, "scale", 3, scale);
  if (!(scale[0] > 0.0) || scale[1] != scale[0] || scale[2] != scale[0]) {
    saltusi_robot_note(robot, node->line,
                       "%s: <collision>: a mesh with the scale %g %g %g, which is not one positive "
                       "number: not used",
                       owner, scale[0], scale[1], scale[2]);
    return false;
  }
  shape->size[0] = scale[0];
  shape->file = mesh_file(robot, node, owner);
  return shape->file != NULL;
}

static bool read_collision(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                           saltusi_robot_shape* shape) {
  double xyz[3] = {0.0}, rpy[3] = {0.0};
  const saltusi_xml_node* origin = saltusi_element_child(robot, node, "origin");
  const saltusi_xml_node* geometry = saltusi_element_child(robot, node, "geometry");
  saltusi_element_list(robot, node, &(saltusi_element){name_word, collision_children}, owner);
  if (origin != NULL) {
    saltusi_element_numbers(robot, origin, "xyz", 3, xyz);
    saltusi_element_numbers(robot, origin, "rpy", 3, rpy);
    saltusi_element_list(robot, origin, &(saltusi_element){place_words, none}, owner);
  }
  *shape = (saltusi_robot_shape){.line = node->line, .place = saltusi_frame_rpy(xyz, rpy)};
  if (geometry == NULL || geometry->first == NULL) {
    saltusi_robot_note(robot, node->line, "%s: <collision> without <geometry>: not used", owner);
    return false;
  }
  for (const saltusi_xml_node* more = geometry->first->next; more != NULL; more = more->next) {
    saltusi_robot_note(robot, more->line, "%s: <collision>: <%.60s>: a second shape, not used",
                       owner, more->name);
  }
  return read_kind(robot, geometry->first, owner, shape);
}

void saltusi_robot_read_collisions(saltusi_robot* robot, const saltusi_xml_node* node,
                                   const char* owner, saltusi_robot_link* link) {
  assert(robot != NULL && node != NULL && link != NULL);
  int count = 0;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count += strcmp(n->name, "collision") == 0;
  }
  if (count == 0) {
    return;
  }
  link->shapes = SALTUSI_TAKE(robot->pool, saltusi_robot_shape, count);
  if (link->shapes == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    if (strcmp(n->name, "collision") == 0 && robot->status == SALTUS_OK &&
        read_collision(robot, n, owner, &link->shapes[link->shape_count])) {
      link->shape_count++;
    }
  }
  if (link->shape_count > 0 && !robot->shaped) {
    robot->shaped = true;
    saltusi_robot_note(robot, link->shapes[0].line,
                       "contacts of <collision> parts have no friction and no restitution: URDF "
                       "specifies none; `materials` of the scene do");
  }
}
