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

typedef saltusi_scene_builder builder;

/* Forces by coordinate. */
static void coordinate_forces(builder* b, const saltusi_yaml_node* node) {
  saltus_formula_coordinate* coordinates = (saltus_formula_coordinate*)b->model.coordinates;
  int count = b->model.coordinate_count;
  saltusi_index names;
  if (!saltusi_index_start(&names, count, b->reader.pool)) {
    b->reader.status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int k = 0; k < count; k++) {
    saltusi_index_add(&names, coordinates[k].name);
  }
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    const char* name = node->keys[i].text;
    const int place = saltusi_index_find(&names, name);
    if (place < 0) {
      const char* near = saltusi_suggest(name, names.texts, count);
      saltusi_reader_fail(&b->reader, &node->keys[i],
                          "forces: " SALTUSI_QUOTE " is not a coordinate%s%s%s", name,
                          near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                          near != NULL ? "\"?" : "");
      return;
    }
    coordinates[place].force = saltusi_reader_formula(
        &b->reader, &node->children[i], saltusi_scene_describe(b, "force", "coordinate", name));
  }
}

/* A list of formulas; in the plane a torque is one formula. */
static void read_vector(builder* b, const saltusi_yaml_node* item, const char* key,
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

/* Forces at markers. */
static void marker_forces(builder* b, const saltusi_yaml_node* list) {
  static const char* const frames[] = {"world", "marker", NULL};
  saltus_formula_force* forces =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *forces);
  if (b->mechanism.dimension == 0) {
    saltusi_reader_fail(&b->reader, list,
                        "forces has to be a mapping, not a list: the scene has no bodies with "
                        "markers to act at");
  }
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "forces[]", "a force")) {
      return;
    }
    forces[i].name = saltusi_scene_item_name(b, item, i, "force");
    forces[i].at = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "at"), "at");
    read_vector(b, item, "force", forces[i].name, forces[i].force);
    read_vector(b, item, "torque", forces[i].name, forces[i].torque);
    const saltusi_yaml_node* frame = saltusi_yaml_find(item, "frame");
    forces[i].in_marker = frame != NULL && saltusi_scene_word(b, frame, "frame", frames) == 1;
    const bool acts =
        saltusi_yaml_find(item, "force") != NULL || saltusi_yaml_find(item, "torque") != NULL;
    if (forces[i].at == NULL || !acts) {
      saltusi_reader_fail(&b->reader, item, "force " SALTUSI_QUOTE " has no %s", forces[i].name,
                          acts ? "marker: give \"at\"" : "force and no torque");
    }
  }
  b->model.forces = forces;
  b->model.force_count = list->count;
}

void saltusi_scene_forces(builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* node = saltusi_reader_section(b->root, "forces");
  if (node == NULL || b->reader.status != SALTUS_OK) {
    return;
  }
  if (node->kind == SALTUSI_YAML_SEQUENCE) {
    marker_forces(b, node);
  } else if (saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "forces")) {
    coordinate_forces(b, node);
  }
}

/* A formula of a spring or a contact, and where it goes. */
typedef struct item_formula {
  const char* key;
  saltus_formula_text* into;
} item_formula;

static void read_formulas(builder* b, const saltusi_yaml_node* item, const char* kind,
                          const char* name, const item_formula* formulas, size_t count) {
  for (size_t k = 0; k < count; k++) {
    *formulas[k].into =
        saltusi_reader_formula(&b->reader, saltusi_yaml_find(item, formulas[k].key),
                               saltusi_scene_describe(b, formulas[k].key, kind, name));
  }
}

/* What items of a list are: by formula, or of the mechanism. */
static void count_kinds(builder* b, const saltusi_yaml_node* list, const char* key, int kinds[2]) {
  for (int i = 0; i < list->count; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    const bool formula = item->kind != SALTUSI_YAML_MAPPING || saltusi_yaml_find(item, key) != NULL;
    kinds[formula ? 0 : 1]++;
  }
  (void)b;
}

static void formula_spring(builder* b, const saltusi_yaml_node* item,
                           saltus_formula_spring* spring) {
  const item_formula formulas[] = {{"elongation", &spring->elongation},
                                   {"stiffness", &spring->stiffness},
                                   {"damping", &spring->damping}};
  read_formulas(b, item, "spring", spring->name, formulas, sizeof formulas / sizeof formulas[0]);
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
static bool is_between(builder* b, const saltusi_yaml_node* item, const char* kind,
                       const char* name, const char* formula) {
  if (b->mechanism.dimension == 0) {
    saltusi_reader_fail(&b->reader, item, "%s " SALTUSI_QUOTE " has no %s", kind, name, formula);
    return false;
  }
  return true;
}

void saltusi_scene_springs(builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "springs");
  int kinds[2] = {0, 0}, used[2] = {0, 0};
  count_kinds(b, list, "elongation", kinds);
  saltus_formula_spring* springs =
      saltusi_reader_take(&b->reader, (size_t)kinds[0], sizeof *springs);
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
  b->model.springs = springs;
  b->model.spring_count = used[0];
  b->mechanism.springs = between;
  b->mechanism.spring_count = used[1];
}

void saltusi_scene_joints(builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "joints");
  int kinds[2] = {0, 0}, used[2] = {0, 0};
  count_kinds(b, list, "constraint", kinds);
  saltus_formula_joint* joints = saltusi_reader_take(&b->reader, (size_t)kinds[0], sizeof *joints);
  saltus_joint_def* typed = saltusi_reader_take(&b->reader, (size_t)kinds[1], sizeof *typed);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "joints[]", "a joint")) {
      return;
    }
    const char* name = saltusi_scene_item_name(b, item, i, "joint");
    const saltusi_yaml_node* constraint = saltusi_yaml_find(item, "constraint");
    if (constraint == NULL) {
      if (is_between(b, item, "joint", name, "constraint")) {
        saltusi_scene_body_joint(b, item, name, &typed[used[1]++]);
      }
      continue;
    }
    saltus_formula_joint* joint = &joints[used[0]++];
    joint->name = name;
    joint->constraint = saltusi_reader_formula(
        &b->reader, constraint, saltusi_scene_describe(b, "constraint", "joint", name));
    const int own = saltusi_yaml_find(item, "name") != NULL ? 2 : 1;
    if (item->count > own) {
      saltusi_reader_fail(&b->reader, item,
                          "joint " SALTUSI_QUOTE " has a constraint; it can have nothing else but "
                          "a name",
                          name);
    }
  }
  b->model.joints = joints;
  b->model.joint_count = used[0];
  b->mechanism.joints = typed;
  b->mechanism.joint_count = used[1];
}

static void read_impact_law(builder* b, const saltusi_yaml_node* item,
                            saltus_formula_contact* contact) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "impact");
  const char* law = saltusi_reader_text(&b->reader, node, "impact");
  if (law == NULL || strcmp(law, "newton") == 0) {
    contact->impact = SALTUS_IMPACT_NEWTON;
  } else if (strcmp(law, "poisson") == 0) {
    contact->impact = SALTUS_IMPACT_POISSON;
  } else {
    saltusi_reader_fail(&b->reader, node,
                        "impact law is " SALTUSI_QUOTE "; allowed: newton, poisson", law);
  }
}

void saltusi_scene_contacts(builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "contacts");
  saltus_formula_contact* contacts =
      saltusi_reader_take(&b->reader, (size_t)list->count, sizeof *contacts);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "contacts[]", "a contact")) {
      return;
    }
    saltus_formula_contact* contact = &contacts[i];
    contact->name = saltusi_scene_item_name(b, item, i, "contact");
    const item_formula formulas[] = {{"gap", &contact->gap},
                                     {"slip", &contact->slip},
                                     {"slip2", &contact->slip2},
                                     {"friction", &contact->friction},
                                     {"restitution", &contact->restitution},
                                     {"tangential_restitution", &contact->tangential_restitution}};
    read_formulas(b, item, "contact", contact->name, formulas,
                  sizeof formulas / sizeof formulas[0]);
    read_impact_law(b, item, contact);
    if (contact->gap.text == NULL) {
      saltusi_reader_fail(&b->reader, item, "contact " SALTUSI_QUOTE " has no gap", contact->name);
    } else if (contact->friction.text != NULL && contact->slip.text == NULL) {
      saltusi_reader_fail(&b->reader, item,
                          "contact " SALTUSI_QUOTE
                          " has friction but no slip; give the slip velocity",
                          contact->name);
    } else if (contact->slip2.text != NULL && contact->slip.text == NULL) {
      saltusi_reader_fail(&b->reader, item, "contact " SALTUSI_QUOTE " has slip2 but no slip",
                          contact->name);
    }
  }
  b->model.contacts = contacts;
  b->model.contact_count = list->count;
}
