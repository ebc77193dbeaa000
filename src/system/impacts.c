/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impacts.c - see impacts.h.
 */
#include "system/impacts.h"

#include "base/log.h"
#include "base/reserved.h"

#include <assert.h>
#include <math.h>

static saltus_status refuse(saltus_log log, const char* what, double value, const char* allowed) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "impacts: %s is %g, must be %s", what, value, allowed);
  return SALTUS_ERR_RANGE;
}

static saltus_status refuse_contact(saltus_log log, int i, const saltus_contact_law* law,
                                    const char* what) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "system: contact %d \"%s\": %s", i,
              law->name != NULL ? law->name : "", what);
  return SALTUS_ERR_RANGE;
}

static const char* wrong_impact_friction(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  if (!isfinite(law->impact_mu) || law->impact_mu > 1e300) {
    return "its impact friction must be finite";
  }
  if (!(law->mu > 0.0) || law->tangents == 0) {
    return "impact friction needs a contact with friction: mu > 0 and tangents";
  }
  return f != NULL && (f->sliding[0] > 0.0 || f->rolling > 0.0 || f->drilling > 0.0 ||
                       f->patch != SALTUS_PATCH_NONE)
             ? "impact friction is not available with rolling, drilling, a patch or separate "
               "sliding coefficients"
             : NULL;
}

static saltus_status check_contact(const saltus_contact_law* law, int i, saltus_log log) {
  const bool path = law->impact == SALTUS_IMPACT_ENERGETIC ||
                    law->impact == SALTUS_IMPACT_PATH_NEWTON ||
                    law->impact == SALTUS_IMPACT_PATH_POISSON;
  if ((int)law->impact < 0 || law->impact > SALTUS_IMPACT_OWN) {
    return refuse_contact(log, i, law, "its impact law is unknown");
  }
  if (law->impact == SALTUS_IMPACT_OWN && (law->own == NULL || law->own->apply == NULL)) {
    return refuse_contact(log, i, law, "its impact law is user-defined and has no function");
  }
  if (law->own != NULL && SALTUSI_RESERVED_CHECK(law->own, "saltus_own_impact", log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  if (path && law->e_T != 0.0) {
    return refuse_contact(log, i, law,
                          "a law along the path of an impact has no tangential restitution");
  }
  if (!(law->stiffness >= 0.0 && law->stiffness <= 1e300)) {
    return refuse_contact(log, i, law,
                          "its stiffness ratio must be positive and finite, or 0 for 1");
  }
  const char* wrong = law->impact_mu != 0.0 ? wrong_impact_friction(law) : NULL;
  return wrong == NULL ? SALTUS_OK : refuse_contact(log, i, law, wrong);
}

static saltus_status check_matrix(const saltus_system* system, saltus_log log) {
  const saltus_impacts* rule = system->impacts;
  int n = rule->matrix_count;
  if (n < 0 || n > system->law_count) {
    return refuse(log, "matrix_count", n, "at least 0, at most the number of contacts");
  }
  if (n > 0 && (rule->matrix == NULL || rule->matrix_contact == NULL)) {
    return refuse(log, "matrix_count", n, "0 without a matrix and its contacts");
  }
  if (n > 0 && (system->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    return refuse(log, "matrix_count", n, "0 for a time-varying contact set");
  }
  for (int i = 0; i < n; i++) {
    bool known = rule->matrix_contact[i] >= 0 && rule->matrix_contact[i] < system->law_count;
    for (int j = 0; j < i; j++) {
      known = known && rule->matrix_contact[j] != rule->matrix_contact[i];
    }
    if (!known) {
      return refuse(log, "matrix_contact", rule->matrix_contact[i],
                    "a contact of the system, each once");
    }
  }
  for (int i = 0; i < n * n; i++) {
    if (!isfinite(rule->matrix[i])) {
      return refuse(log, "matrix", rule->matrix[i], "finite");
    }
  }
  return SALTUS_OK;
}

static saltus_status check_rule(const saltus_system* system, saltus_log log) {
  const saltus_impacts* rule = system->impacts;
  saltus_status status = SALTUSI_RESERVED_CHECK(rule, "saltus_impacts", log);
  if (status != SALTUS_OK) {
    return status;
  }
  if ((int)rule->order < 0 || rule->order > SALTUS_ORDER_OWN) {
    return refuse(log, "order", rule->order, "one of saltus_impact_order");
  }
  if ((int)rule->pick < 0 || rule->pick > SALTUS_PICK_EVENTS) {
    return refuse(log, "pick", rule->pick, "one of saltus_impact_pick");
  }
  if ((int)rule->energy < 0 || rule->energy > SALTUS_GAIN_TANGENTIAL) {
    return refuse(log, "energy", rule->energy, "one of saltus_energy_gain");
  }
  if (rule->exponent != 0.0 && !(rule->exponent >= 1.0 && rule->exponent <= 3.0)) {
    return refuse(log, "exponent", rule->exponent, "1 to 3, or 0 for 1");
  }
  if (!(rule->restitution >= 0.0 && rule->restitution <= 1.0)) {
    return refuse(log, "restitution", rule->restitution, "between 0 and 1");
  }
  if (rule->order == SALTUS_ORDER_OWN && (rule->own == NULL || rule->own->apply == NULL)) {
    return refuse(log, "order", rule->order, "another one without a user-defined function");
  }
  return check_matrix(system, log);
}

saltus_status saltusi_impacts_validate(const saltus_system* system, saltus_log log) {
  assert(system != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && system->laws != NULL && i < system->law_count; i++) {
    status = check_contact(&system->laws[i], i, log);
  }
  return status == SALTUS_OK && system->impacts != NULL ? check_rule(system, log) : status;
}

bool saltusi_impacts_special(const saltus_system* system) {
  assert(system != NULL);
  const saltus_impacts* rule = system->impacts;
  bool special =
      rule != NULL && (rule->order != SALTUS_ORDER_SIMULTANEOUS || rule->matrix_count > 0);
  for (int i = 0; system->laws != NULL && i < system->law_count; i++) {
    special = special || system->laws[i].impact > SALTUS_IMPACT_POISSON ||
              system->laws[i].impact_mu != 0.0;
  }
  return special;
}
