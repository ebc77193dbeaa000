/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * collision.c - geometry of a link: <collision> and <visual> with box, sphere, cylinder, capsule or mesh. Boxes, cylinders and
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
static const saltusi_element_word visual_children[] = {
    {"origin", NULL}, {"geometry", NULL}, {"material", NULL}, {"", NULL}};
static const saltusi_element_word material_children[] = {
    {"color", NULL}, {"texture", "not used: visuals have one colour"}, {"", NULL}};
static const saltusi_element_word color_word[] = {{"rgba", NULL}, {"", NULL}};

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

bool saltusi_robot_mesh_path(saltusi_robot* robot, int line, const char* owner, const char* path) {
  assert(robot != NULL && owner != NULL && path != NULL);
  bool plain = strlen(path) < 400;
  for (const char* c = path; *c != '\0'; c++) {
    plain = plain && (unsigned char)*c >= ' ' && *c != 127;
  }
  const char* why =
      !plain || !(ends_with(path, ".stl") || ends_with(path, ".obj") || ends_with(path, ".dae"))
          ? "is no STL, OBJ or DAE file"
      : !saltusi_path_inside(path) ? "is not in the folder of the robot or below it"
                                   : NULL;
  if (why != NULL) {
    saltusi_robot_note(robot, line, "%s: mesh " SALTUSI_ROBOT_QUOTE " %s: not used", owner, path,
                       why);
  }
  return why == NULL;
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
                       "%s: " SALTUSI_ROBOT_QUOTE " is looked for as " SALTUSI_ROBOT_QUOTE
                       " from the folder of the scene",
                       owner, given, path);
  }
  return saltusi_robot_mesh_path(robot, node->line, owner, path) ? path : NULL;
}

static bool read_numbers(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                         const char* word, int count, double* out) {
  const double least = 1e-12; /* m, rounding of positions of 1 km */
  bool good = saltusi_element_numbers(robot, node, word, count, out);
  for (int i = 0; i < count && good; i++) {
    good = out[i] >= least;
  }
  if (!good) {
    saltusi_robot_refuse(robot, node->line, "%s: <%s> needs %s=\"...\" above 0, at least %g m",
                         owner, node->name, word, least);
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
    saltusi_robot_note(robot, node->line, "%s: <%.60s>: not known, not used", owner, node->name);
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
  double* scale = shape->size;
  scale[0] = scale[1] = scale[2] = 1.0;
  saltusi_element_numbers(robot, node, "scale", 3, scale);
  if (scale[0] * scale[1] * scale[2] == 0.0) {
    saltusi_robot_refuse(robot, node->line, "%s: the scale %g %g %g of a mesh must not have a 0",
                         owner, scale[0], scale[1], scale[2]);
    return false;
  }
  shape->file = mesh_file(robot, node, owner);
  return shape->file != NULL;
}

bool saltusi_robot_colour(saltusi_robot* robot, const saltusi_xml_node* node, const char* text,
                          double colour[3]) {
  assert(robot != NULL && node != NULL && colour != NULL);
  double rgba[4];
  if (text == NULL || saltusi_element_read_numbers(robot, node, "rgba", text, 4, 4, rgba) == 0) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    colour[k] = rgba[k] < 0.0 ? 0.0 : rgba[k] > 1.0 ? 1.0 : rgba[k];
  }
  return true;
}

/* Colour of a visual: of its <material>, or of one of the robot with the same name. */
static void read_material(saltusi_robot* robot, const saltusi_xml_node* visual, const char* owner,
                          double colour[3]) {
  const saltusi_xml_node* material = saltusi_element_child(robot, visual, "material");
  const char* name = material != NULL ? saltusi_element_text(material, "name") : NULL;
  colour[0] = -1.0;
  if (material != NULL) {
    saltusi_element_list(robot, material, &(saltusi_element){name_word, material_children}, owner);
  }
  const saltusi_xml_node* color =
      material != NULL ? saltusi_element_child(robot, material, "color") : NULL;
  for (const saltusi_xml_node* n = robot->root->first; n != NULL && name != NULL && color == NULL;
       n = n->next) {
    const char* other = strcmp(n->name, "material") == 0 ? saltusi_element_text(n, "name") : NULL;
    color =
        other != NULL && strcmp(other, name) == 0 ? saltusi_element_child(robot, n, "color") : NULL;
  }
  if (color != NULL) {
    saltusi_element_list(robot, color, &(saltusi_element){color_word, none}, owner);
    saltusi_robot_colour(robot, color, saltusi_element_text(color, "rgba"), colour);
  }
}

static bool read_part(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                      saltusi_robot_shape* shape) {
  const bool visual = strcmp(node->name, "visual") == 0;
  double xyz[3] = {0.0}, rpy[3] = {0.0};
  const saltusi_xml_node* origin = saltusi_element_child(robot, node, "origin");
  const saltusi_xml_node* geometry = saltusi_element_child(robot, node, "geometry");
  saltusi_element_list(robot, node,
                       &(saltusi_element){name_word, visual ? visual_children : collision_children},
                       owner);
  if (origin != NULL) {
    saltusi_element_numbers(robot, origin, "xyz", 3, xyz);
    saltusi_element_numbers(robot, origin, "rpy", 3, rpy);
    saltusi_element_list(robot, origin, &(saltusi_element){place_words, none}, owner);
  }
  *shape = (saltusi_robot_shape){.line = node->line, .place = saltusi_frame_rpy(xyz, rpy)};
  if (visual) {
    read_material(robot, node, owner, shape->colour);
  }
  if (geometry == NULL || geometry->first == NULL) {
    saltusi_robot_note(robot, node->line, "%s without <geometry>: not used", owner);
    return false;
  }
  for (const saltusi_xml_node* more = geometry->first->next; more != NULL; more = more->next) {
    saltusi_robot_note(robot, more->line, "%s: <%.60s>: a second shape, not used", owner,
                       more->name);
  }
  return read_kind(robot, geometry->first, owner, shape);
}

static void read_parts(saltusi_robot* robot, const saltusi_xml_node* node, const char* element,
                       const char* link, saltusi_robot_shapes* out) {
  int count = 0;
  char owner[128];
  snprintf(owner, sizeof owner, "%s: <%s>", link, element);
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count += strcmp(n->name, element) == 0;
  }
  if (count == 0) {
    return;
  }
  out->list = SALTUSI_TAKE(robot->pool, saltusi_robot_shape, count);
  if (out->list == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (const saltusi_xml_node* n = node->first; n != NULL && robot->status == SALTUS_OK;
       n = n->next) {
    if (strcmp(n->name, element) == 0 && read_part(robot, n, owner, &out->list[out->count])) {
      out->count++;
    }
  }
}

void saltusi_robot_read_collisions(saltusi_robot* robot, const saltusi_xml_node* node,
                                   const char* owner, saltusi_robot_link* link) {
  assert(robot != NULL && node != NULL && link != NULL);
  read_parts(robot, node, "visual", owner, &link->visuals);
  read_parts(robot, node, "collision", owner, &link->shapes);
  if (link->shapes.count > 0 && !robot->shaped) {
    robot->shaped = true;
    saltusi_robot_note(robot, link->shapes.list[0].line,
                       "contacts of <collision> parts have no friction and no restitution: URDF "
                       "specifies none; `materials` of the scene do");
  }
}
