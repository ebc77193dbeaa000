/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impacts.c - the section `impacts`, and the impact laws of contacts, materials and pairs by name.
 */
#include "scene/builder.h"

#include "base/visible.h"

#include <assert.h>
#include <string.h>

static const char* const law_words[] = {
    "newton", "poisson", "poisson-printed", "energetic", "path-newton", "path-poisson", NULL};
static const char* const order_words[] = {"simultaneous", "sequential", "lzb", "moreau", NULL};
static const char* const pick_words[] = {"fastest", "first", "last", "cyclic", "events", NULL};
static const char* const energy_words[] = {"report", "cap",        "poisson", "energetic",
                                           "stop",   "tangential", NULL};

bool saltusi_scene_impact_law(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                              saltus_impact_law* law) {
  assert(b != NULL && law != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "impact");
  if (node == NULL) {
    return false;
  }
  int word = saltusi_scene_word(b, node, "impact", law_words);
  *law = word >= 0 ? (saltus_impact_law)word : SALTUS_IMPACT_NEWTON;
  return true;
}

/* Index of a word, or of the first when it is absent. */
static int word_of(saltusi_scene_builder* b, const saltusi_yaml_node* section, const char* key,
                   const char* const* words) {
  const saltusi_yaml_node* node = saltusi_yaml_find(section, key);
  int word = node != NULL ? saltusi_scene_word(b, node, key, words) : 0;
  return word >= 0 ? word : 0;
}

/* stiffness: {floor: 2}; contacts have been read. */
static void read_stiffness(saltusi_scene_builder* b, const saltusi_yaml_node* node) {
  if (node == NULL || node->absent ||
      !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "stiffness")) {
    return;
  }
  saltus_formula_contact* contacts = b->contacts;
  for (int i = 0; i < node->count && b->reader.status == SALTUS_OK; i++) {
    int at = 0;
    while (at < b->model.contact_count && strcmp(contacts[at].name, node->keys[i].text) != 0) {
      at++;
    }
    if (at == b->model.contact_count) {
      saltusi_reader_fail(&b->reader, &node->keys[i],
                          "stiffness of " SALTUSI_QUOTE ": there is no such contact",
                          node->keys[i].text);
      return;
    }
    double value = saltusi_scene_number(b, &node->children[i], "stiffness", 1.0);
    if (b->reader.status == SALTUS_OK && !(value > 0.0 && value <= 1e300)) {
      saltusi_reader_fail(&b->reader, &node->children[i],
                          "stiffness is %g, must be positive and finite", value);
    }
    contacts[at].stiffness = value;
  }
}

static void read_matrix(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                        saltus_impacts* rule) {
  if (node == NULL || node->absent) {
    return;
  }
  if (!saltusi_reader_keys(&b->reader, node, "impacts.matrix", "the matrix of impacts")) {
    return;
  }
  const saltusi_yaml_node* contacts = saltusi_yaml_find(node, "contacts");
  const saltusi_yaml_node* rows = saltusi_yaml_find(node, "rows");
  if (contacts == NULL || rows == NULL) {
    saltusi_reader_fail(&b->reader, node, "a matrix of impacts has contacts and rows");
    return;
  }
  if (!saltusi_reader_expect(&b->reader, contacts, SALTUSI_YAML_SEQUENCE, "contacts") ||
      !saltusi_reader_expect(&b->reader, rows, SALTUSI_YAML_SEQUENCE, "rows")) {
    return;
  }
  int n = contacts->count;
  double* E = saltusi_reader_take(&b->reader, (size_t)n * (size_t)n + 1, sizeof *E);
  int* place = saltusi_reader_take(&b->reader, (size_t)n + 1, sizeof *place);
  if (rows->count != n || n == 0) {
    saltusi_reader_fail(&b->reader, rows, "the matrix has %d rows, must have %d: one a contact",
                        rows->count, n);
    return;
  }
  for (int i = 0; i < n && b->reader.status == SALTUS_OK; i++) {
    const int lengths[2] = {n, n};
    saltusi_scene_numbers(b, &rows->children[i], "a row of the matrix", lengths,
                          E + (size_t)i * (size_t)n);
  }
  rule->matrix = E;
  rule->matrix_contact = place;
  rule->matrix_count = n;
  b->matrix_contacts = contacts;
  b->matrix_places = place;
}

void saltusi_scene_impacts(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* section = saltusi_scene_get(b, "impacts");
  if (section == NULL || section->absent || b->reader.status != SALTUS_OK) {
    return;
  }
  if (!saltusi_reader_keys(&b->reader, section, "impacts", "impacts")) {
    return;
  }
  saltus_impacts* rule = saltusi_reader_take(&b->reader, 1, sizeof *rule);
  if (rule == NULL) {
    return;
  }
  *rule =
      (saltus_impacts){.order = (saltus_impact_order)word_of(b, section, "order", order_words),
                       .pick = (saltus_impact_pick)word_of(b, section, "pick", pick_words),
                       .energy = (saltus_energy_gain)word_of(b, section, "energy", energy_words),
                       .exponent = saltusi_scene_constant(b, section, "exponent", 1.0),
                       .restitution = saltusi_scene_constant(b, section, "restitution", 0.0)};
  const saltusi_yaml_node* e = saltusi_yaml_find(section, "restitution");
  const saltusi_yaml_node* exponent = saltusi_yaml_find(section, "exponent");
  if (b->reader.status == SALTUS_OK && (e != NULL) != (rule->order == SALTUS_ORDER_MOREAU)) {
    saltusi_reader_fail(&b->reader, e != NULL ? e : section,
                        "restitution of all contacts belongs to order moreau, and only there");
  } else if (b->reader.status == SALTUS_OK && e != NULL &&
             !(rule->restitution >= 0.0 && rule->restitution <= 1.0)) {
    saltusi_reader_fail(&b->reader, e, "restitution is %g, must be between 0 and 1",
                        rule->restitution);
  } else if (b->reader.status == SALTUS_OK && !(rule->exponent >= 1.0 && rule->exponent <= 3.0)) {
    saltusi_reader_fail(&b->reader, exponent, "exponent is %g, must be between 1 and 3",
                        rule->exponent);
  }
  read_stiffness(b, saltusi_yaml_find(section, "stiffness"));
  read_matrix(b, saltusi_yaml_find(section, "matrix"), rule);
  b->model.impacts = rule;
}

/* Indices of contacts are available after the creation of the model. */
void saltusi_scene_matrix(saltusi_scene_builder* b, const saltus_system* system) {
  assert(b != NULL && system != NULL);
  const saltusi_yaml_node* names = b->matrix_contacts;
  for (int i = 0; names != NULL && i < names->count && b->reader.status == SALTUS_OK; i++) {
    const char* name = saltusi_reader_text(&b->reader, &names->children[i], "contacts");
    int at = 0;
    while (name != NULL && at < system->law_count &&
           (system->laws[at].name == NULL || strcmp(system->laws[at].name, name) != 0)) {
      at++;
    }
    if (name != NULL && at == system->law_count) {
      saltusi_reader_fail(&b->reader, &names->children[i],
                          "the matrix of impacts names " SALTUSI_QUOTE ": there is no such contact",
                          name);
    }
    b->matrix_places[i] = at;
  }
}
