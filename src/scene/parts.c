/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * parts.c - forces, springs, joints and contacts of a scene.
 */
#include "base/index.h"
#include "base/suggest.h"
#include "scene/builder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Names of the coordinates; false: no memory. */
static bool index_coordinates(saltusi_scene_builder* b, saltusi_index* names) {
  if (!saltusi_index_start(names, b->model.coordinate_count, b->reader.pool)) {
    b->reader.status = SALTUS_ERR_MEMORY;
    return false;
  }
  for (int k = 0; k < b->model.coordinate_count; k++) {
    saltusi_index_add(names, b->model.coordinates[k].name);
  }
  return true;
}

/* The force on a coordinate, which the node `named` names. */
static void coordinate_force(saltusi_scene_builder* b, const saltusi_index* names,
                             const saltusi_yaml_node* named, const saltusi_yaml_node* force) {
  saltus_formula_coordinate* coordinates = (saltus_formula_coordinate*)b->model.coordinates;
  const char* name = named->text;
  const int place = saltusi_index_find(names, name);
  if (place < 0) {
    const char* near = saltusi_suggest(name, names->texts, b->model.coordinate_count);
    saltusi_reader_fail(&b->reader, named, "forces: " SALTUSI_QUOTE " is not a coordinate%s%s%s",
                        name, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                        near != NULL ? "\"?" : "");
    return;
  }
  if (coordinates[place].force.text != NULL) {
    saltusi_reader_fail(&b->reader, named,
                        "forces: coordinate " SALTUSI_QUOTE " has a force already; write their sum",
                        name);
    return;
  }
  coordinates[place].force = saltusi_reader_formula(
      &b->reader, force, saltusi_scene_describe(b, "force", "coordinate", name));
}

/* Forces by coordinate. */
static void coordinate_forces(saltusi_scene_builder* b, const saltusi_yaml_node* node) {
  saltusi_index names;
  if (!index_coordinates(b, &names)) {
    return;
  }
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    coordinate_force(b, &names, &node->keys[i], &node->children[i]);
  }
}

/* A list of formulas; in the plane a torque is one formula. */
static void read_vector(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* key,
                        const char* name, saltus_formula_text into[3]) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, key);
  const bool plane = b->mechanism.dimension == 2, torque = strcmp(key, "torque") == 0;
  const char* what = saltusi_scene_describe(b, key, "force", name);
  if (node == NULL) {
    return;
  }
  if (plane && torque) {
    into[2] = saltusi_reader_formula(&b->reader, node, what);
    return;
  }
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, key)) {
    return;
  }
  if (node->count != (plane ? 2 : 3)) {
    saltusi_reader_fail(&b->reader, node, "%s has %d formulas, must have %d", key, node->count,
                        plane ? 2 : 3);
    return;
  }
  for (int k = 0; k < node->count; k++) {
    into[k] = saltusi_reader_formula(&b->reader, &node->children[k], what);
  }
}

/* A force at a marker. */
static void marker_force(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                         saltus_formula_force* force) {
  static const char* const frames[] = {"world", "marker", NULL};
  force->at = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "at"), "at");
  read_vector(b, item, "force", force->name, force->force);
  read_vector(b, item, "torque", force->name, force->torque);
  const saltusi_yaml_node* frame = saltusi_yaml_find(item, "frame");
  force->in_marker = frame != NULL && saltusi_scene_word(b, frame, "frame", frames) == 1;
  const bool acts =
      saltusi_yaml_find(item, "force") != NULL || saltusi_yaml_find(item, "torque") != NULL;
  if (force->at == NULL || !acts) {
    saltusi_reader_fail(&b->reader, item, "force " SALTUSI_QUOTE " has no %s", force->name,
                        acts ? "marker: give \"at\"" : "force and no torque");
  }
}

/* An item of the list that acts on a coordinate. */
static void listed_coordinate(saltusi_scene_builder* b, const saltusi_index* names,
                              const saltusi_yaml_node* item, const char* name) {
  static const char* const others[] = {"at", "torque", "frame"};
  const saltusi_yaml_node* named = saltusi_yaml_find(item, "coordinate");
  const saltusi_yaml_node* force = saltusi_yaml_find(item, "force");
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    const saltusi_yaml_node* other = saltusi_yaml_find(item, others[k]);
    if (other != NULL) {
      saltusi_reader_fail(&b->reader, other,
                          "force " SALTUSI_QUOTE " acts on a coordinate; %s belongs to forces at "
                          "markers",
                          name, others[k]);
      return;
    }
  }
  if (force == NULL) {
    saltusi_reader_fail(&b->reader, item, "force " SALTUSI_QUOTE " has no force", name);
  } else if (saltusi_reader_text(&b->reader, named, "coordinate") != NULL) {
    coordinate_force(b, names, named, force);
  }
}

/* Forces at markers and on coordinates. */
static void listed_forces(saltusi_scene_builder* b, const saltusi_yaml_node* list) {
  saltus_formula_force* forces =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *forces);
  saltusi_index names;
  if (!index_coordinates(b, &names)) {
    return;
  }
  int count = 0;
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    const bool on_coordinate =
        item->kind == SALTUSI_YAML_MAPPING && saltusi_yaml_find(item, "coordinate") != NULL;
    if (b->mechanism.dimension == 0 && !on_coordinate) {
      saltusi_reader_fail(&b->reader, list,
                          "forces has to be a mapping, not a list: the scene has no bodies with "
                          "markers to act at; a list of {coordinate: NAME, force: FORMULA} is one "
                          "too");
      return;
    }
    if (!saltusi_reader_keys(&b->reader, item, "forces[]", "a force")) {
      return;
    }
    const char* name = saltusi_scene_item_name(b, item, i, "force");
    if (on_coordinate) {
      listed_coordinate(b, &names, item, name);
    } else {
      forces[count].name = name;
      marker_force(b, item, &forces[count++]);
    }
  }
  b->model.forces = forces;
  b->model.force_count = count;
}

void saltusi_scene_forces(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* node = saltusi_reader_section(b->root, "forces");
  if (node == NULL || b->reader.status != SALTUS_OK) {
    return;
  }
  if (node->kind == SALTUSI_YAML_SEQUENCE) {
    listed_forces(b, node);
  } else if (saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "forces")) {
    coordinate_forces(b, node);
  }
}

/* A formula of a spring or a contact, and its member. */
typedef struct item_formula {
  const char* key;
  saltus_formula_text* into;
} item_formula;

static void read_formulas(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* kind,
                          const char* name, const item_formula* formulas, size_t count) {
  for (size_t k = 0; k < count; k++) {
    *formulas[k].into =
        saltusi_reader_formula(&b->reader, saltusi_yaml_find(item, formulas[k].key),
                               saltusi_scene_describe(b, formulas[k].key, kind, name));
  }
}

/* Counts the items of a list by kind: by formula, or of the mechanism. */
static void count_kinds(saltusi_scene_builder* b, const saltusi_yaml_node* list, const char* key,
                        int kinds[2]) {
  for (int i = 0; i < list->count; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    const bool formula = item->kind != SALTUSI_YAML_MAPPING || saltusi_yaml_find(item, key) != NULL;
    kinds[formula ? 0 : 1]++;
  }
  (void)b;
}

static void formula_spring(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                           saltus_formula_spring* spring) {
  const item_formula formulas[] = {{"elongation", &spring->elongation},
                                   {"stiffness", &spring->stiffness},
                                   {"damping", &spring->damping}};
  read_formulas(b, item, "spring", spring->name, formulas, sizeof formulas / sizeof formulas[0]);
  if (saltusi_yaml_find(item, "force") != NULL) {
    saltus_formula_text* force = saltusi_reader_take(&b->reader, 1, sizeof *force);
    read_formulas(b, item, "spring", spring->name, &(item_formula){"force", force}, force != NULL);
    spring->force = force;
  }
  static const char* const others[] = {"between", "type", "length", "angle"};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    const saltusi_yaml_node* other = saltusi_yaml_find(item, others[k]);
    if (other != NULL) {
      saltusi_reader_fail(&b->reader, other,
                          "spring " SALTUSI_QUOTE " has an elongation; %s belongs to springs "
                          "between markers",
                          spring->name, others[k]);
    }
  }
}

/* Springs between markers belong to the mechanism. */
static bool is_between(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* kind,
                       const char* name, const char* formula) {
  if (b->mechanism.dimension == 0) {
    saltusi_reader_fail(&b->reader, item, "%s " SALTUSI_QUOTE " has no %s", kind, name, formula);
    return false;
  }
  return true;
}

void saltusi_scene_springs(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "springs");
  int kinds[2] = {0, 0}, used[2] = {0, 0};
  count_kinds(b, list, "elongation", kinds);
  const size_t motors = 2 * (size_t)saltusi_scene_list(b, "joints")->count; /* at most */
  saltus_formula_spring* springs =
      saltusi_reader_take(&b->reader, (size_t)kinds[0] + motors, sizeof *springs);
  saltus_spring_def* between = saltusi_reader_take(&b->reader, (size_t)kinds[1], sizeof *between);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "springs[]", "a spring")) {
      return;
    }
    const char* name = saltusi_scene_item_name(b, item, i, "spring");
    if (saltusi_yaml_find(item, "elongation") != NULL) {
      springs[used[0]].name = name;
      formula_spring(b, item, &springs[used[0]++]);
    } else if (is_between(b, item, "spring", name, "elongation")) {
      saltusi_scene_body_spring(b, item, name, &between[used[1]++]);
    }
  }
  b->model.springs = b->springs = springs;
  b->model.spring_count = used[0];
  b->mechanism.springs = between;
  b->mechanism.spring_count = used[1];
}

void saltusi_scene_joints(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "joints");
  int kinds[2] = {0, 0}, used[2] = {0, 0};
  count_kinds(b, list, "constraint", kinds);
  saltus_formula_joint* joints = saltusi_reader_take(
      &b->reader, (size_t)kinds[0] + SALTUSI_SCENE_ROWS_MOST * (size_t)kinds[1], sizeof *joints);
  saltus_joint_def* typed = saltusi_reader_take(&b->reader, (size_t)kinds[1], sizeof *typed);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "joints[]", "a joint")) {
      return;
    }
    const char* name = saltusi_scene_item_name(b, item, i, "joint");
    const saltusi_yaml_node* position = saltusi_yaml_find(item, "constraint");
    const saltusi_yaml_node* velocity = saltusi_yaml_find(item, "velocity");
    const saltusi_yaml_node* constraint = position != NULL ? position : velocity;
    if (constraint == NULL) {
      if (!is_between(b, item, "joint", name, "constraint")) {
        return;
      }
      if (saltusi_yaml_find(item, "while") != NULL) {
        used[0] += saltusi_scene_open_joint(b, item, name, &joints[used[0]]);
      } else {
        saltusi_scene_body_joint(b, item, name, &typed[used[1]++]);
      }
      continue;
    }
    saltus_formula_joint* joint = &joints[used[0]++];
    joint->name = name;
    joint->rate = constraint == velocity;
    joint->constraint = saltusi_reader_formula(
        &b->reader, constraint,
        saltusi_scene_describe(b, joint->rate ? "velocity" : "constraint", "joint", name));
    const int own = saltusi_yaml_find(item, "name") != NULL ? 2 : 1;
    if (item->count > own) {
      saltusi_reader_fail(&b->reader, item,
                          "joint " SALTUSI_QUOTE " has a %s; it can have nothing else but a name",
                          name, joint->rate ? "velocity" : "constraint");
    }
  }
  b->model.joints = joints;
  b->model.joint_count = used[0];
  b->mechanism.joints = typed;
  b->mechanism.joint_count = used[1];
}

void saltusi_scene_contacts(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "contacts");
  saltus_formula_contact* contacts =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *contacts);
  saltus_formula_text* impacts =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *impacts);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "contacts[]", "a contact")) {
      return;
    }
    saltus_formula_contact* contact = &contacts[i];
    saltus_formula_text* impact = &impacts[i];
    contact->name = saltusi_scene_item_name(b, item, i, "contact");
    const item_formula formulas[] = {{"gap", &contact->gap},
                                     {"slip", &contact->slip},
                                     {"slip2", &contact->slip2},
                                     {"impact_friction", impact},
                                     {"restitution", &contact->restitution},
                                     {"tangential_restitution", &contact->tangential_restitution}};
    read_formulas(b, item, "contact", contact->name, formulas,
                  sizeof formulas / sizeof formulas[0]);
    contact->impact_friction = impact->text != NULL ? impact : NULL;
    saltusi_scene_contact_friction(b, item, contact);
    saltusi_scene_impact_law(b, item, &contact->impact);
    if (contact->gap.text == NULL) {
      saltusi_reader_fail(&b->reader, item, "contact " SALTUSI_QUOTE " has no gap", contact->name);
    } else if ((contact->friction.text != NULL || saltusi_scene_rubs(contact->law)) &&
               contact->slip.text == NULL) {
      saltusi_reader_fail(&b->reader, item,
                          "contact " SALTUSI_QUOTE
                          " has friction but no slip; give the slip velocity",
                          contact->name);
    } else if (contact->slip2.text != NULL && contact->slip.text == NULL) {
      saltusi_reader_fail(&b->reader, item, "contact " SALTUSI_QUOTE " has slip2 but no slip",
                          contact->name);
    }
  }
  b->model.contacts = b->contacts = contacts;
  b->model.contact_count = list->count;
}
