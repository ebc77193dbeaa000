/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction.c - friction laws of contacts, pairs and materials, and the section `dry_friction`.
 */
#include "base/number.h"
#include "base/visible.h"
#include "scene/builder.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A friction curve given by a formula of s. */
typedef struct friction_curve {
  saltus_own_curve own;
  saltus_signal signal; /* with the speed as its time argument */
} friction_curve;

static double coefficient(const void* self, double speed, double* slope) {
  const friction_curve* c = self;
  double out[3] = {c->signal.value, 0.0, 0.0};
  if (c->signal.evaluate != NULL) {
    c->signal.evaluate(c->signal.self, speed, out);
  }
  *slope = out[1];
  return out[0];
}

/* First occurrence of a one-letter name in a formula; NULL: none. */
static char* alone(char* text, char letter) {
  for (char* at = text; *at != '\0'; at++) {
    const bool before =
        at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.');
    const bool after = isalnum((unsigned char)at[1]) || at[1] == '_' || at[1] == '.';
    if (*at == letter && !before && !after) {
      return at;
    }
  }
  return NULL;
}

/* Formulas of a signal depend on time; here the slip speed is that argument. */
static void read_curve(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                       saltus_friction_law* law) {
  saltusi_yaml_node renamed = *node;
  if (node->kind != SALTUSI_YAML_SCALAR) {
    saltusi_reader_fail(&b->reader, node, "curve must be a formula of s, the speed of slip [m/s]");
    return;
  }
  char* text = (char*)saltusi_pool_text(b->reader.pool, node->text);
  friction_curve* c = saltusi_reader_take(&b->reader, 1, sizeof *c);
  if (text == NULL || c == NULL) {
    b->reader.status = SALTUS_ERR_MEMORY;
    return;
  }
  if (alone(text, 't') != NULL) {
    saltusi_reader_fail(&b->reader, node,
                        "curve is a formula of s, the speed of slip [m/s]; it "
                        "cannot depend on time");
    return;
  }
  for (char* at = alone(text, 's'); at != NULL; at = alone(text, 's')) {
    *at = 't';
  }
  renamed.text = text;
  c->signal = saltusi_scene_signal(b, &renamed, "curve, with t for s,");
  c->own = (saltus_own_curve){.name = node->text, .coefficient = coefficient, .self = c};
  law->curve = SALTUS_CURVE_OWN;
  law->own = &c->own;
}

static bool has(const saltusi_yaml_node* node, const char* key) {
  return saltusi_yaml_find(node, key) != NULL;
}

/* sliding and rule of an elliptic cone, given its coefficients. */
static void read_rule(saltusi_scene_builder* b, const saltusi_yaml_node* node, double mu,
                      saltus_friction_law* law) {
  static const char* const rules[] = {"associated", "against-slip", NULL};
  const saltusi_yaml_node* rule = saltusi_yaml_find(node, "rule");
  const saltusi_yaml_node* sliding = saltusi_yaml_find(node, "sliding");
  if (rule != NULL && sliding != NULL) {
    saltusi_reader_fail(&b->reader, rule, "friction has a rule and sliding; give one of them");
    return;
  }
  if (rule != NULL && saltusi_scene_word(b, rule, "rule", rules) == 1) {
    law->sliding[0] = law->sliding[1] = mu;
  }
  if (sliding != NULL) {
    const int lengths[2] = {2, 2};
    saltusi_scene_numbers(b, sliding, "sliding", lengths, law->sliding);
    if (b->reader.status == SALTUS_OK && !(law->sliding[0] > 0.0 && law->sliding[1] > 0.0)) {
      saltusi_reader_fail(&b->reader, sliding, "sliding has numbers that are not positive");
    }
  }
}

/* Rejects a number of the mapping that is out of range, with its line. */
static void check_range(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* key,
                        double value, double low, double high) {
  const saltusi_yaml_node* at = saltusi_yaml_find(node, key);
  if (at != NULL && b->reader.status == SALTUS_OK && !(value >= low && value <= high)) {
    saltusi_reader_fail(&b->reader, at, "%s is %g, must be %s", key, value,
                        low > 0.0      ? "positive and finite"
                        : high < 1e300 ? "at least 0, at most the coefficient of sticking"
                                       : "at least 0 and finite");
  }
}

/* Reads the coefficients of a mapping; returns that of sticking along the first tangent. */
static double read_coefficients(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                                saltus_friction_law* law) {
  const char* wrong = NULL;
  if (has(node, "along") && has(node, "static")) {
    wrong = "friction has along and static, which are the same";
  } else if (!has(node, "along") && !has(node, "static") && !has(node, "curve")) {
    wrong = "friction has no coefficient of sticking; give static, along or curve";
  } else if (has(node, "across") && !has(node, "along")) {
    wrong = "friction has across and no along";
  } else if (has(node, "curve") && (has(node, "kinetic") || has(node, "speed"))) {
    wrong = "friction has a curve, which replaces kinetic and speed";
  } else if (has(node, "speed") != (has(node, "speed") && has(node, "kinetic"))) {
    wrong = "friction has a speed and no kinetic coefficient";
  } else if (has(node, "exponent") && !has(node, "speed")) {
    wrong = "friction has an exponent and no speed";
  }
  if (wrong != NULL) {
    saltusi_reader_fail(&b->reader, node, "%s", wrong);
    return 0.0;
  }
  if (has(node, "curve")) {
    read_curve(b, saltusi_yaml_find(node, "curve"), law);
  } else if (has(node, "kinetic")) {
    law->curve = has(node, "speed") ? SALTUS_CURVE_STRIBECK : SALTUS_CURVE_KINETIC;
    law->kinetic = saltusi_scene_constant(b, node, "kinetic", 0.0);
    law->speed = saltusi_scene_constant(b, node, "speed", 0.0);
    law->exponent = saltusi_scene_constant(b, node, "exponent", 0.0);
  }
  double slope = 0.0, mu = law->own != NULL && b->reader.status == SALTUS_OK
                               ? coefficient(law->own->self, 0.0, &slope)
                               : 0.0;
  mu = saltusi_scene_constant(b, node, has(node, "along") ? "along" : "static", mu);
  law->across = saltusi_scene_constant(b, node, "across", 0.0);
  check_range(b, node, "static", mu, 0.0, 1e300);
  check_range(b, node, "along", mu, 0.0, 1e300);
  check_range(b, node, "across", law->across, 1e-300, 1e300);
  check_range(b, node, "kinetic", law->kinetic, 0.0, mu);
  check_range(b, node, "speed", law->speed, 1e-300, 1e300);
  check_range(b, node, "exponent", law->exponent, 1e-300, 1e300);
  read_rule(b, node, mu, law);
  return mu;
}

/* A part of the law: a mapping with `key`, or a number. */
static const saltusi_yaml_node* part(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                                     const char* name, const char* section, const char* key,
                                     double* value) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, name);
  if (node == NULL) {
    return NULL;
  }
  if (node->kind != SALTUSI_YAML_MAPPING) {
    *value = saltusi_scene_number(b, node, name, 0.0);
  } else if (saltusi_reader_keys(&b->reader, node, section, name)) {
    *value = saltusi_scene_constant(b, node, key, 0.0);
  }
  if (b->reader.status == SALTUS_OK && !(*value > 0.0 && *value <= 1e300)) {
    saltusi_reader_fail(&b->reader, node, "%s: %s must be positive and finite", name, key);
  }
  return node;
}

static void read_patch(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                       saltus_friction_law* law) {
  static const char* const pressures[] = {"uniform", "hertz", NULL};
  static const char* const forms[] = {"exact", "ellipsoid", NULL};
  const saltusi_yaml_node* node =
      part(b, item, "patch", "contacts[].patch", "radius", &law->radius);
  if (node == NULL || b->reader.status != SALTUS_OK) {
    return;
  }
  const bool full = node->kind == SALTUSI_YAML_MAPPING;
  const saltusi_yaml_node* pressure = full ? saltusi_yaml_find(node, "pressure") : NULL;
  const saltusi_yaml_node* form = full ? saltusi_yaml_find(node, "form") : NULL;
  const bool hertz =
      pressure != NULL && saltusi_scene_word(b, pressure, "pressure", pressures) == 1;
  law->patch = hertz ? SALTUS_PATCH_HERTZ : SALTUS_PATCH_UNIFORM;
  law->ellipsoid = form != NULL && saltusi_scene_word(b, form, "form", forms) == 1;
  if (law->drilling > 0.0) {
    saltusi_reader_fail(&b->reader, node, "a contact has drilling or a patch, not both");
  }
}

static void read_adhesion(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                          saltus_friction_law* law) {
  const saltusi_yaml_node* node =
      part(b, item, "adhesion", "contacts[].adhesion", "force", &law->adhesion);
  if (node == NULL || node->kind != SALTUSI_YAML_MAPPING || b->reader.status != SALTUS_OK) {
    return;
  }
  law->rebinds = saltusi_scene_flag(b, saltusi_yaml_find(node, "rebinds"), "rebinds");
  const double shear = saltusi_scene_constant(b, node, "shear", 0.0);
  law->shear = has(node, "shear") && shear == 0.0 ? -1.0 : shear;
  if (b->reader.status == SALTUS_OK && !(shear >= 0.0 && shear <= 1e300)) {
    saltusi_reader_fail(&b->reader, node, "shear must be at least 0 and finite");
  }
}

bool saltusi_scene_friction(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                            const saltus_friction_law** law, double* mu) {
  assert(b != NULL && item != NULL && law != NULL && mu != NULL);
  static const char* const words[] = {"viscous", "rolling", "drilling", "patch", "adhesion"};
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "friction");
  const bool mapping = node != NULL && node->kind == SALTUSI_YAML_MAPPING;
  bool any = mapping;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    any = any || has(item, words[k]);
  }
  if (!any || b->reader.status != SALTUS_OK) {
    return false;
  }
  saltus_friction_law* out = saltusi_reader_take(&b->reader, 1, sizeof *out);
  if (out == NULL) {
    return false;
  }
  *law = out;
  if (mapping && saltusi_reader_keys(&b->reader, node, "contacts[].friction", "friction")) {
    *mu = read_coefficients(b, node, out);
  }
  out->viscous = saltusi_scene_constant(b, item, "viscous", 0.0);
  if (b->reader.status == SALTUS_OK && !(out->viscous >= 0.0 && out->viscous <= 1e300)) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(item, "viscous"),
                        "viscous is %g, must be at least 0 and finite", out->viscous);
  }
  part(b, item, "rolling", "contacts[].rolling", "arm", &out->rolling);
  part(b, item, "drilling", "contacts[].drilling", "arm", &out->drilling);
  read_patch(b, item, out);
  read_adhesion(b, item, out);
  return mapping;
}

bool saltusi_scene_rubs(const saltus_friction_law* law) {
  return law != NULL && (law->viscous > 0.0 || law->rolling > 0.0 || law->drilling > 0.0 ||
                         law->patch != SALTUS_PATCH_NONE);
}

/* A rate of a contact by formula. */
static void read_rate(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* of,
                      const char* key, const char* name, saltus_formula_text* into) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, of);
  if (node == NULL || b->reader.status != SALTUS_OK) {
    return;
  }
  const saltusi_yaml_node* rate =
      node->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(node, key) : NULL;
  if (rate == NULL) {
    saltusi_reader_fail(&b->reader, node,
                        "%s of contact " SALTUSI_QUOTE " has no %s; give the angular velocity", of,
                        name, key);
    return;
  }
  char what[64];
  snprintf(what, sizeof what, "%s of %s", key, of);
  *into =
      saltusi_reader_formula(&b->reader, rate, saltusi_scene_describe(b, what, "contact", name));
}

void saltusi_scene_contact_friction(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                                    saltus_formula_contact* contact) {
  assert(b != NULL && item != NULL && contact != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "friction");
  double mu = 0.0;
  if (saltusi_scene_friction(b, item, &contact->law, &mu)) {
    char text[32];
    saltusi_print(text, sizeof text, "%.17g", mu);
    saltusi_yaml_node number = *node;
    number.kind = SALTUSI_YAML_SCALAR;
    number.text = saltusi_pool_text(b->reader.pool, text);
    contact->friction = saltusi_reader_formula(
        &b->reader, &number, saltusi_scene_describe(b, "friction", "contact", contact->name));
  } else if (node != NULL) {
    contact->friction = saltusi_reader_formula(
        &b->reader, node, saltusi_scene_describe(b, "friction", "contact", contact->name));
  }
  const saltus_friction_law* law = contact->law;
  if (law == NULL || b->reader.status != SALTUS_OK) {
    return;
  }
  const bool spins = law->drilling > 0.0 || law->patch != SALTUS_PATCH_NONE;
  saltus_formula_rates* rates = saltusi_reader_take(&b->reader, 1, sizeof *rates);
  if (rates == NULL) {
    return;
  }
  contact->rates = rates;
  if (law->rolling > 0.0) {
    read_rate(b, item, "rolling", "rate", contact->name, &rates->rolling);
    if (contact->slip2.text != NULL) {
      read_rate(b, item, "rolling", "rate2", contact->name, &rates->rolling2);
    }
  }
  if (spins) {
    read_rate(b, item, law->drilling > 0.0 ? "drilling" : "patch", "rate", contact->name,
              &rates->spin);
  }
}

void saltusi_scene_dry(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_list(b, "dry_friction");
  saltus_formula_dry* dry = saltusi_reader_take(&b->reader, (size_t)list->count + 1, sizeof *dry);
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* item = &list->children[i];
    if (!saltusi_reader_keys(&b->reader, item, "dry_friction[]", "dry friction")) {
      return;
    }
    const char* name = saltusi_scene_item_name(b, item, i, "dry friction");
    const saltusi_yaml_node* rate = saltusi_yaml_find(item, "rate");
    dry[i].name = name;
    dry[i].rate = saltusi_reader_formula(&b->reader, rate,
                                         saltusi_scene_describe(b, "rate", "dry friction", name));
    dry[i].force = saltusi_scene_constant(b, item, "force", 0.0);
    dry[i].arm = saltusi_scene_constant(b, item, "arm", 0.0);
    dry[i].joint = has(item, "joint")
                       ? saltusi_scene_text(b, saltusi_yaml_find(item, "joint"), "joint")
                       : NULL;
    const bool sizes = dry[i].force >= 0.0 && dry[i].force <= 1e300 && dry[i].arm >= 0.0 &&
                       dry[i].arm <= 1e300 && dry[i].force + dry[i].arm > 0.0;
    if (b->reader.status == SALTUS_OK && (rate == NULL || !sizes)) {
      saltusi_reader_fail(&b->reader, item, "dry friction " SALTUSI_QUOTE " %s", name,
                          rate == NULL ? "has no rate; give the velocity it acts against"
                                       : "needs a force or an arm, positive and finite");
    } else if (b->reader.status == SALTUS_OK && (dry[i].arm > 0.0) != (dry[i].joint != NULL)) {
      saltusi_reader_fail(&b->reader, item,
                          "dry friction " SALTUSI_QUOTE " has %s; the arm multiplies the reaction "
                          "of a joint",
                          name, dry[i].arm > 0.0 ? "an arm and no joint" : "a joint and no arm");
    }
  }
  b->model.dry = list->count > 0 ? dry : NULL;
}
