/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_read.c - a model in MJCF: settings of the compiler, assets, and the order in which sections are read. The format
 * is that of MuJoCo 3 (https://mujoco.readthedocs.io/en/stable/XMLreference.html).
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static int count_all(const saltusi_xml_node* node, const char* name) {
  int count = 0;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count += (strcmp(n->name, name) == 0) + count_all(n, name);
  }
  return count;
}

/* ---- compiler and options ---- */

static void read_compiler(saltusi_mjcf* m, const saltusi_xml_node* node) {
  static const char* const angles[] = {"radian", "degree", NULL};
  static const char* const flags[] = {"false", "true", "auto", NULL};
  static const char* const never[] = {"boundinertia", "settotalmass", "inertiagrouprange",
                                      "coordinate", "balanceinertia"};
  const saltusi_mjcf_element e = {node, "compiler", -1};
  m->degrees = saltusi_mjcf_word(m, &e, "angle", angles, m->degrees) == 1;
  m->autolimits = saltusi_mjcf_word(m, &e, "autolimits", flags, m->autolimits) != 0;
  m->stripped = saltusi_mjcf_word(m, &e, "strippath", flags, m->stripped) == 1;
  m->from_geoms = saltusi_mjcf_word(m, &e, "inertiafromgeom", flags, m->from_geoms ? 1 : 2) == 1;
  m->least_mass = saltusi_mjcf_number(m, &e, "boundmass", m->least_mass);
  const char* sequence = saltusi_element_text(node, "eulerseq");
  const char* folder = saltusi_element_text(node, "meshdir");
  folder = folder != NULL ? folder : saltusi_element_text(node, "assetdir");
  if (sequence != NULL) {
    if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3) {
      saltusi_robot_refuse(m->robot, node->line,
                           "<compiler>: eulerseq is " SALTUSI_ROBOT_QUOTE
                           ", must be three of x, y, z, X, Y, Z",
                           sequence);
      return;
    }
    memcpy(m->sequence, sequence, 4);
  }
  if (folder != NULL) {
    const size_t length = strlen(folder);
    m->folder = length > 0 && folder[length - 1] != '/'
                    ? saltusi_pool_join(m->robot->pool, folder, "/")
                    : folder;
    m->robot->status = m->folder == NULL ? SALTUS_ERR_MEMORY : m->robot->status;
  }
  for (size_t k = 0; k < sizeof never / sizeof never[0]; k++) {
    const char* given = saltusi_element_text(node, never[k]);
    if (given != NULL && strcmp(given, "false") != 0 && strcmp(given, "local") != 0) {
      saltusi_robot_refuse(m->robot, node->line, "<compiler>: %s is not read", never[k]);
    }
  }
  saltusi_mjcf_list(
      m, node,
      "angle autolimits strippath inertiafromgeom boundmass eulerseq meshdir assetdir "
      "texturedir balanceinertia coordinate");
}

static void read_option(saltusi_mjcf* m, const saltusi_xml_node* node) {
  const saltusi_mjcf_element e = {node, "option", -1};
  saltusi_mjcf_numbers(m, &e, "gravity", 3, 3, m->gravity);
  saltusi_mjcf_list(m, node, "gravity");
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    const char* gravity = saltusi_element_text(n, "gravity");
    if (strcmp(n->name, "flag") == 0 && gravity != NULL && strcmp(gravity, "disable") == 0) {
      memset(m->gravity, 0, sizeof m->gravity);
    }
    saltusi_mjcf_list(m, n, "gravity");
  }
}

static void read_settings(saltusi_mjcf* m) {
  static const char* const read[] = {"compiler", "option",   "default",  "asset",   "worldbody",
                                     "tendon",   "actuator", "equality", "contact", "keyframe"};
  for (const saltusi_xml_node* n = m->root->first; n != NULL && m->robot->status == SALTUS_OK;
       n = n->next) {
    bool known = false;
    for (size_t k = 0; k < sizeof read / sizeof read[0]; k++) {
      known = known || strcmp(n->name, read[k]) == 0;
    }
    if (strcmp(n->name, "compiler") == 0) {
      read_compiler(m, n);
    } else if (strcmp(n->name, "option") == 0) {
      read_option(m, n);
    } else if (strcmp(n->name, "deformable") == 0) {
      saltusi_robot_refuse(m->robot, n->line, "<deformable>: soft bodies are not read");
    } else if (!known) {
      saltusi_robot_note(m->robot, n->line, "<%.60s>: not used", n->name);
    }
  }
}

/* ---- assets ---- */

/* Meshes by name; the default name is that of the file without its extension. */
static void read_mesh(saltusi_mjcf* m, const saltusi_xml_node* node) {
  const char* name = saltusi_element_text(node, "name");
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "mesh", -1);
  if (name == NULL) {
    const char* file = saltusi_mjcf_text(m, &e, "file");
    const char* slash = file != NULL ? strrchr(file, '/') : NULL;
    char* stem = saltusi_pool_text(m->robot->pool, slash != NULL  ? slash + 1
                                                   : file != NULL ? file
                                                                  : "");
    if (stem == NULL) {
      m->robot->status = SALTUS_ERR_MEMORY;
      return;
    }
    char* dot = strrchr(stem, '.');
    if (dot != NULL) {
      *dot = '\0';
    }
    name = stem;
  }
  m->mesh_nodes[m->meshes.count] = node;
  if (saltusi_index_add(&m->meshes, name) < 0) {
    saltusi_robot_refuse(m->robot, node->line, "a second <mesh> " SALTUSI_ROBOT_QUOTE, name);
  }
}

static void read_assets(saltusi_mjcf* m) {
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "asset") == 0;
         c = c->next) {
      if (m->robot->status == SALTUS_OK && strcmp(c->name, "mesh") == 0) {
        read_mesh(m, c);
      }
    }
  }
}

/* ---- contacts ---- */

/* Calls for each element of <contact>. */
static void each_contact(saltusi_mjcf* m, void (*read)(saltusi_mjcf*, const saltusi_xml_node*)) {
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "contact") == 0;
         c = c->next) {
      if (m->robot->status == SALTUS_OK) {
        read(m, c);
      }
    }
  }
}

/* Geoms of pairs are shapes even where contype and conaffinity are 0. */
static void note_paired(saltusi_mjcf* m, const saltusi_xml_node* node) {
  static const char* const words[] = {"geom1", "geom2"};
  for (int k = 0; k < 2 && strcmp(node->name, "pair") == 0; k++) {
    const char* name = saltusi_element_name(m->robot, node, words[k]);
    if (saltusi_index_find(&m->paired, name) < 0) {
      saltusi_index_add(&m->paired, name);
    }
  }
}

static void read_contact(saltusi_mjcf* m, const saltusi_xml_node* node) {
  static const char* const names[2][2] = {{"body1", "body2"}, {"geom1", "geom2"}};
  const bool collide = strcmp(node->name, "pair") == 0;
  saltusi_mjcf_pair* pair = &m->pairs[m->pair_count];
  *pair = (saltusi_mjcf_pair){
      .line = node->line, .shape = {-1, -1}, .friction = -1.0, .collide = collide};
  for (int k = 0; k < 2; k++) {
    const char* name = saltusi_element_name(m->robot, node, names[collide][k]);
    const int found = saltusi_index_find(collide ? &m->geoms : &m->links, name);
    if (found < 0) {
      saltusi_robot_refuse(m->robot, node->line, "<%.60s>: there is no %s " SALTUSI_ROBOT_QUOTE,
                           node->name, names[collide][k], name);
      return;
    }
    pair->link[k] = collide ? m->geom_places[found].link : found;
    pair->shape[k] = collide ? m->geom_places[found].shape : -1;
    if (collide && pair->shape[k] < 0) {
      return; /* reported as omitted from the scene */
    }
  }
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "pair", -1);
  double friction[5];
  if (collide && saltusi_mjcf_numbers(m, &e, "friction", 1, 5, friction) > 0) {
    pair->friction = friction[0];
  }
  if (collide && saltusi_mjcf_number(m, &e, "condim", 3.0) == 1.0) {
    pair->friction = 0.0;
  } else if (collide && pair->friction != -1.0 && !(pair->friction >= 0.0)) {
    saltusi_robot_refuse(m->robot, node->line, "<pair>: friction %g must be at least 0",
                         pair->friction);
  }
  saltusi_mjcf_list(m, node, "name class body1 body2 geom1 geom2 friction condim");
  m->pair_count++;
}

/* ---- the model ---- */

static bool lay_out(saltusi_mjcf* m) {
  saltusi_pool* pool = m->robot->pool;
  const int bodies = count_all(m->root, "body") + 1, geoms = count_all(m->root, "geom");
  const int loops = count_all(m->root, "connect") + count_all(m->root, "weld");
  const int hinges = count_all(m->root, "joint") + count_all(m->root, "freejoint");
  const int meshes = count_all(m->root, "mesh"), sites = count_all(m->root, "site");
  const int pairs = count_all(m->root, "pair"), others = count_all(m->root, "exclude");
  m->robot->links = SALTUSI_TAKE(pool, saltusi_robot_link, bodies + hinges);
  m->robot->joints = SALTUSI_TAKE(pool, saltusi_robot_joint, bodies + hinges + loops);
  m->mesh_nodes = SALTUSI_TAKE(pool, const saltusi_xml_node*, meshes + 1);
  m->geom_places = SALTUSI_TAKE(pool, saltusi_mjcf_geom, geoms);
  m->site_places = SALTUSI_TAKE(pool, saltusi_mjcf_site, sites + 1);
  m->pairs = SALTUSI_TAKE(pool, saltusi_mjcf_pair, pairs + others + 1);
  return !pool->failed && saltusi_index_start(&m->links, bodies, pool) &&
         saltusi_index_start(&m->joints, hinges, pool) &&
         saltusi_index_start(&m->geoms, geoms, pool) &&
         saltusi_index_start(&m->meshes, meshes + 1, pool) &&
         saltusi_index_start(&m->sites, sites + 1, pool) &&
         saltusi_index_start(&m->paired, 2 * pairs, pool);
}

saltus_status saltusi_mjcf_read(saltusi_robot* robot, const saltusi_xml_node* root,
                                const saltus_urdf_def* def) {
  assert(robot != NULL && root != NULL && def != NULL);
  saltusi_mjcf* m = SALTUSI_TAKE(robot->pool, saltusi_mjcf, 1);
  if (m == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  *m = (saltusi_mjcf){.robot = robot,
                      .root = root,
                      .bare = def->shapeless,
                      .degrees = true,
                      .autolimits = true,
                      .sequence = "xyz",
                      .folder = "",
                      .gravity = {0.0, 0.0, -9.81}};
  robot->mjcf = m;
  const char* name = saltusi_element_text(root, "model");
  robot->name = name != NULL ? name : "";
  if (def->base != SALTUS_URDF_BASE_DEFAULT) {
    saltusi_robot_refuse(
        robot, root->line,
        "the joints of an MJCF file determine which bodies are free: --base is for URDF");
  } else if (def->friction > 0.0 && !def->floor) {
    saltusi_robot_refuse(robot, root->line,
                         "geoms of MJCF have their own friction: --friction is that of --ground");
  } else if (!lay_out(m)) {
    robot->status = SALTUS_ERR_MEMORY;
  }
  if (robot->status == SALTUS_OK) {
    read_settings(m);
    saltusi_mjcf_read_classes(m);
  }
  if (robot->status == SALTUS_OK) {
    read_assets(m);
    each_contact(m, note_paired);
  }
  if (robot->status == SALTUS_OK && saltusi_mjcf_read_bodies(m) == SALTUS_OK) {
    each_contact(m, read_contact);
  }
  if (robot->status == SALTUS_OK && saltusi_mjcf_read_actuators(m) == SALTUS_OK &&
      saltusi_mjcf_read_equalities(m) == SALTUS_OK) {
    saltusi_mjcf_read_key(m, def->keyframe);
  }
  return robot->status;
}
