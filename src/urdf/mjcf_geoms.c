/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_geoms.c - <geom>: shapes of those that can touch, visuals of the others that MuJoCo shows, and mass properties of all
 * geoms of bodies without <inertial>.
 * Sizes of MuJoCo are halves: of edges, of the length of cylinders and capsules.
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LAST_SHOWN = 2 }; /* group that MuJoCo shows by default */
enum { PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF };

static const char* const types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                    "cylinder", "box",    "mesh",   "sdf",     NULL};
static const int sizes[] = {0, 0, 1, 2, 3, 2, 3, 0, 0};

typedef struct geom {
  int type;
  double size[3];
  saltusi_urdf_frame place; /* in its link */
} geom;

/* Position, axes and sizes; fromto gives the ends of the z axis. */
static void read_place(saltusi_mjcf* m, const saltusi_mjcf_element* e, const saltusi_urdf_frame* at,
                       geom* g) {
  saltusi_urdf_frame own = saltusi_frame_none();
  double ends[6];
  const bool along = saltusi_mjcf_numbers(m, e, "fromto", 6, 6, ends) == 6;
  const int given = saltusi_mjcf_numbers(m, e, "size", 1, 3, g->size);
  const int needed = sizes[g->type];
  if (along &&
      (g->type == CAPSULE || g->type == CYLINDER || g->type == BOX || g->type == ELLIPSOID)) {
    double d[3], length = 0.0;
    for (int i = 0; i < 3; i++) {
      d[i] = ends[3 + i] - ends[i];
      own.p[i] = 0.5 * (ends[3 + i] + ends[i]);
      length += d[i] * d[i];
    }
    length = sqrt(length);
    for (int i = 0; i < 3; i++) {
      d[i] /= length;
    }
    if (!(length > 1e-12)) {
      saltusi_robot_refuse(m->robot, e->node->line, "<geom>: fromto has the length %g", length);
      return;
    }
    saltusi_matrix3_z_to(d, own.R);
    if (needed == 3) {
      g->size[1] = g->size[0];
    }
    g->size[needed - 1] = 0.5 * length;
  } else {
    saltusi_mjcf_numbers(m, e, "pos", 3, 3, own.p);
    saltusi_mjcf_rotation(m, e, own.R);
  }
  for (int i = 0; i < needed; i++) {
    const bool from_ends = along && (i == needed - 1 || i > 0);
    if ((i >= given && !from_ends) || !(g->size[i] >= 1e-12)) {
      saltusi_robot_refuse(m->robot, e->node->line,
                           "<geom>: a %s needs %d sizes above 0, at least 1e-12 m", types[g->type],
                           needed);
      return;
    }
  }
  g->place = saltusi_frame_in(at, &own);
}

/* ---- mass ---- */

/* Volume, and inertia of density 1 about the centre, along x, y, z. */
static double volume_of(const geom* g, double I[3]) {
  const double pi = acos(-1.0), a = g->size[0], b = g->size[1], c = g->size[2];
  double V = 0.0;
  switch (g->type) {
  case SPHERE:
    V = 4.0 / 3.0 * pi * a * a * a;
    I[0] = I[1] = I[2] = 0.4 * V * a * a;
    break;
  case ELLIPSOID:
    V = 4.0 / 3.0 * pi * a * b * c;
    I[0] = 0.2 * V * (b * b + c * c);
    I[1] = 0.2 * V * (a * a + c * c);
    I[2] = 0.2 * V * (a * a + b * b);
    break;
  case BOX:
    V = 8.0 * a * b * c;
    I[0] = V / 3.0 * (b * b + c * c);
    I[1] = V / 3.0 * (a * a + c * c);
    I[2] = V / 3.0 * (a * a + b * b);
    break;
  case CAPSULE:
  case CYLINDER: {
    const double rod = 2.0 * pi * a * a * b;
    const double ends = g->type == CAPSULE ? 4.0 / 3.0 * pi * a * a * a : 0.0;
    V = rod + ends;
    I[0] = I[1] = rod * (b * b / 3.0 + 0.25 * a * a) + ends * (0.4 * a * a + 0.75 * a * b + b * b);
    I[2] = 0.5 * rod * a * a + 0.4 * ends * a * a;
    break;
  }
  default:
    break;
  }
  return V;
}

static void add_mass(saltusi_mjcf* m, const saltusi_mjcf_element* e, const geom* g, int link,
                     saltusi_robot_mass* mass) {
  double I[3] = {0.0}, given = 0.0;
  const bool weighed = saltusi_mjcf_numbers(m, e, "mass", 1, 1, &given) == 1;
  const double density = saltusi_mjcf_number(m, e, "density", 1000.0);
  if (given < 0.0 || density < 0.0) {
    saltusi_robot_refuse(m->robot, e->node->line, "<geom>: mass %g and density %g must be >= 0",
                         given, density);
  }
  if (g->type == PLANE || g->type == HFIELD || (weighed ? given : density) == 0.0) {
    return;
  }
  if (sizes[g->type] == 0) {
    m->robot->links[link].unknown_mass = e->node->line;
    return;
  }
  const double volume = volume_of(g, I);
  const double by = weighed ? given / volume : density;
  const saltusi_robot_mass own = {.mass = by * volume,
                                  .inertia = {by * I[0], 0, 0, 0, by * I[1], 0, 0, 0, by * I[2]}};
  if (!isfinite(own.mass) || !isfinite(by * (I[0] + I[1] + I[2]))) {
    saltusi_robot_refuse(m->robot, e->node->line, "<geom>: its mass is not finite");
    return;
  }
  saltusi_robot_join_masses(mass, &own, &g->place);
}

/* ---- shapes ---- */

static int material_of(saltusi_mjcf* m, const saltusi_mjcf_element* e) {
  double friction[3] = {1.0, 0.0, 0.0};
  saltusi_mjcf_numbers(m, e, "friction", 1, 3, friction);
  const double condim = saltusi_mjcf_number(m, e, "condim", 3.0);
  const double priority = saltusi_mjcf_number(m, e, "priority", 0.0);
  if (!(friction[0] >= 0.0) || !(condim >= 1.0 && condim <= 6.0) || !(fabs(priority) < 1e6)) {
    saltusi_robot_refuse(m->robot, e->node->line,
                         "<geom>: friction %g must be >= 0, condim %g 1 to 6, priority below 1e6",
                         friction[0], condim);
    return 0;
  }
  if (condim > 3.0) {
    saltusi_robot_note(m->robot, e->node->line,
                       "<geom>: torsional and rolling friction (condim above 3): not used");
  }
  const saltusi_mjcf_material own = {friction[0], (int)condim, (int)priority};
  for (int k = 0; k < m->material_count; k++) {
    const saltusi_mjcf_material* other = &m->materials[k];
    if (other->friction == own.friction && other->condim == own.condim &&
        other->priority == own.priority) {
      return k;
    }
  }
  if (m->material_count == SALTUSI_MJCF_MATERIALS) {
    saltusi_robot_refuse(m->robot, e->node->line, "<geom>: more than %d kinds of friction",
                         SALTUSI_MJCF_MATERIALS);
    return 0;
  }
  m->materials[m->material_count] = own;
  return m->material_count++;
}

/* File and scale of the mesh of a geom; false: it is listed. */
static bool read_mesh(saltusi_mjcf* m, const saltusi_mjcf_element* e, saltusi_robot_shape* shape) {
  const char* name = saltusi_mjcf_text(m, e, "mesh");
  const int at = name != NULL ? saltusi_index_find(&m->meshes, name) : -1;
  if (at < 0) {
    saltusi_robot_refuse(m->robot, e->node->line, "<geom>: there is no mesh " SALTUSI_ROBOT_QUOTE,
                         name != NULL ? name : "");
    return false;
  }
  const saltusi_mjcf_element mesh = saltusi_mjcf_element_of(m, m->mesh_nodes[at], "mesh", -1);
  const char* file = saltusi_mjcf_text(m, &mesh, "file");
  double* scale = shape->size;
  scale[0] = scale[1] = scale[2] = 1.0;
  saltusi_mjcf_numbers(m, &mesh, "scale", 3, 3, scale);
  const bool moved = saltusi_mjcf_text(m, &mesh, "refpos") != NULL ||
                     saltusi_mjcf_text(m, &mesh, "refquat") != NULL;
  if (file == NULL || moved || scale[0] * scale[1] * scale[2] == 0.0) {
    saltusi_robot_note(m->robot, m->mesh_nodes[at]->line,
                       "<mesh>: " SALTUSI_ROBOT_QUOTE
                       " has no file, refpos, refquat or a scale of 0: not used",
                       name);
    return false;
  }
  const char* stem = m->stripped && strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file;
  shape->file = saltusi_pool_join(m->robot->pool, m->folder, stem);
  if (shape->file == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return false;
  }
  return saltusi_robot_mesh_path(m->robot, m->mesh_nodes[at]->line, "<mesh>", shape->file);
}

/* rgba of the geom, else that of its material. */
static void read_colour(saltusi_mjcf* m, const saltusi_mjcf_element* e, double colour[3]) {
  const char* text = saltusi_mjcf_text(m, e, "rgba");
  const char* name = text == NULL ? saltusi_mjcf_text(m, e, "material") : NULL;
  colour[0] = -1.0;
  for (const saltusi_xml_node* a = m->root->first; a != NULL && name != NULL; a = a->next) {
    for (const saltusi_xml_node* n = strcmp(a->name, "asset") == 0 ? a->first : NULL;
         n != NULL && text == NULL; n = n->next) {
      const char* own = strcmp(n->name, "material") == 0 ? saltusi_element_text(n, "name") : NULL;
      if (own != NULL && strcmp(own, name) == 0) {
        const saltusi_mjcf_element material = saltusi_mjcf_element_of(m, n, "material", -1);
        text = saltusi_mjcf_text(m, &material, "rgba");
      }
    }
  }
  saltusi_robot_colour(m->robot, e->node, text, colour);
}

static bool make_shape(saltusi_mjcf* m, const saltusi_mjcf_element* e, const geom* g, int link,
                       saltusi_robot_shape* shape) {
  *shape = (saltusi_robot_shape){.line = e->node->line, .place = g->place};
  const double* s = g->size;
  switch (g->type) {
  case PLANE:
    shape->kind = SALTUSI_ROBOT_HALF_SPACE;
    if (link != 0) {
      saltusi_robot_note(m->robot, e->node->line,
                         "<geom>: a plane that is not of the world: not used");
      return false;
    }
    return true;
  case SPHERE:
    shape->kind = SALTUSI_ROBOT_SPHERE;
    shape->size[0] = s[0];
    return true;
  case CAPSULE:
  case CYLINDER:
    shape->kind = g->type == CAPSULE ? SALTUSI_ROBOT_CAPSULE : SALTUSI_ROBOT_CYLINDER;
    shape->size[0] = s[0];
    shape->size[1] = 2.0 * s[1];
    return true;
  case ELLIPSOID:
  case BOX:
    shape->kind = g->type == BOX ? SALTUSI_ROBOT_BOX : SALTUSI_ROBOT_ELLIPSOID;
    for (int i = 0; i < 3; i++) {
      shape->size[i] = (g->type == BOX ? 2.0 : 1.0) * s[i];
    }
    return true;
  case MESH:
    shape->kind = SALTUSI_ROBOT_MESH;
    return read_mesh(m, e, shape);
  default:
    saltusi_robot_note(m->robot, e->node->line, "<geom>: a %s: not used", types[g->type]);
    return false;
  }
}

/* In the pool: twice the capacity at powers of two. */
static void append(saltusi_mjcf* m, saltusi_robot_shapes* to, const saltusi_robot_shape* shape) {
  const int count = to->count;
  if ((count & (count - 1)) == 0) {
    saltusi_robot_shape* list =
        SALTUSI_TAKE(m->robot->pool, saltusi_robot_shape, count == 0 ? 1 : 2 * count);
    if (list == NULL) {
      m->robot->status = SALTUS_ERR_MEMORY;
      return;
    }
    if (count > 0) {
      memcpy(list, to->list, (size_t)count * sizeof *list);
    }
    to->list = list;
  }
  to->list[to->count++] = *shape;
}

static void add_shape(saltusi_mjcf* m, const saltusi_mjcf_element* e, const geom* g, int index,
                      int named) {
  const char* name = saltusi_element_text(e->node, "name");
  const double touches[2] = {saltusi_mjcf_number(m, e, "contype", 1.0),
                             saltusi_mjcf_number(m, e, "conaffinity", 1.0)};
  const bool paired = name != NULL && saltusi_index_find(&m->paired, name) >= 0;
  saltusi_robot_link* link = &m->robot->links[index];
  saltusi_robot_shape shape;
  for (int k = 0; k < 2; k++) {
    if (!(touches[k] >= 0.0 && touches[k] <= 2147483647.0) || touches[k] != floor(touches[k])) {
      saltusi_robot_refuse(m->robot, e->node->line,
                           "<geom>: contype %g and conaffinity %g must be whole, 0 to 2^31 - 1",
                           touches[0], touches[1]);
      return;
    }
  }
  const bool visual = touches[0] == 0.0 && touches[1] == 0.0 && !paired;
  if (m->bare || (visual && saltusi_mjcf_number(m, e, "group", 0.0) > LAST_SHOWN)) {
    saltusi_robot_note(m->robot, e->node->line, "<geom>: %s: not used",
                       m->bare ? "shapes were not requested"
                               : "neither contacts nor in a group that is shown");
    return;
  }
  if (!make_shape(m, e, g, index, &shape)) {
    return;
  }
  if (m->robot->shape_count++ == SALTUSI_MJCF_SHAPES) {
    saltusi_robot_refuse(m->robot, e->node->line, "more than %d geoms that can touch",
                         SALTUSI_MJCF_SHAPES);
    return;
  }
  if (visual) {
    read_colour(m, e, shape.colour);
    append(m, &link->visuals, &shape);
    return;
  }
  shape.touches[0] = (unsigned)touches[0];
  shape.touches[1] = (unsigned)touches[1];
  shape.material = material_of(m, e);
  append(m, &link->shapes, &shape);
  m->robot->shaped = true;
  if (named >= 0) {
    m->geom_places[named].shape = link->shapes.count - 1;
  }
}

void saltusi_mjcf_read_geom(saltusi_mjcf* m, const saltusi_xml_node* node, int childclass,
                            const saltusi_urdf_frame* at, int link, saltusi_robot_mass* mass) {
  assert(m != NULL && node != NULL && at != NULL);
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "geom", childclass);
  const char* name = saltusi_element_text(node, "name");
  geom g = {.type = saltusi_mjcf_word(m, &e, "type", types, SPHERE)};
  int named = -1;
  if (name != NULL && m->robot->status == SALTUS_OK) {
    named = saltusi_index_add(&m->geoms, name);
    if (named < 0) {
      saltusi_robot_refuse(m->robot, node->line, "a second <geom> " SALTUSI_ROBOT_QUOTE, name);
      return;
    }
    m->geom_places[named].link = link;
    m->geom_places[named].shape = -1;
  }
  saltusi_mjcf_list(
      m, node,
      "name class type pos quat axisangle euler xyaxes zaxis fromto size mesh contype "
      "conaffinity condim friction priority mass density group rgba material");
  if (g.type != MESH && saltusi_mjcf_text(m, &e, "mesh") != NULL) {
    saltusi_robot_note(m->robot, node->line, "<geom>: a %s fitted to a mesh: not used",
                       types[g.type]);
    if (mass != NULL) {
      m->robot->links[link].unknown_mass = node->line;
    }
    return;
  }
  read_place(m, &e, at, &g);
  if (mass != NULL && link != 0 && m->robot->status == SALTUS_OK) {
    add_mass(m, &e, &g, link, mass);
  }
  if (m->robot->status == SALTUS_OK) {
    add_shape(m, &e, &g, link, named);
  }
}
