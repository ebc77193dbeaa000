/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frictions.c - see frictions.h.
 */
#include "system/frictions.h"

#include "base/log.h"
#include "base/reserved.h"

#include <assert.h>
#include <math.h>

static saltus_status refuse(saltus_log log, int i, const saltus_contact_law* law,
                            const char* what) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "system: contact %d \"%s\": friction law: %s", i,
              law->name != NULL ? law->name : "", what);
  return SALTUS_ERR_RANGE;
}

static bool is_size(double x) {
  return x >= 0.0 && x <= 1e300;
}

static const char* wrong_cone(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  const bool slides = f->sliding[0] != 0.0 || f->sliding[1] != 0.0;
  if (!is_size(f->across) || !is_size(f->sliding[0]) || !is_size(f->sliding[1])) {
    return "across and sliding must be at least 0 and finite";
  }
  if ((f->across > 0.0 || slides) && law->tangents != 2) {
    return "coefficients along and across need two tangents";
  }
  if ((f->across > 0.0 || slides) && !(law->mu > 0.0)) {
    return "an elliptic cone needs mu > 0";
  }
  if ((f->sliding[0] > 0.0) != (f->sliding[1] > 0.0)) {
    return "sliding needs both of its coefficients, or none";
  }
  return NULL;
}

static const char* wrong_curve(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  if ((int)f->curve < 0 || f->curve > SALTUS_CURVE_OWN) {
    return "its curve is unknown";
  }
  if (f->curve == SALTUS_CURVE_OWN && (f->own == NULL || f->own->coefficient == NULL)) {
    return "its curve is user-defined and has no function";
  }
  const bool falls = f->curve == SALTUS_CURVE_KINETIC || f->curve == SALTUS_CURVE_STRIBECK;
  if (falls && !(f->kinetic >= 0.0 && f->kinetic <= law->mu)) {
    return "kinetic must be between 0 and mu, which is the coefficient of sticking";
  }
  if (f->curve == SALTUS_CURVE_STRIBECK && !(f->speed > 0.0 && f->speed <= 1e300)) {
    return "the speed of Stribeck's curve must be positive and finite";
  }
  if (!is_size(f->exponent)) {
    return "the exponent of the curve must be positive and finite, or 0 for 1";
  }
  return NULL;
}

static const char* wrong_parts(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  if (!is_size(f->viscous) || !is_size(f->rolling) || !is_size(f->drilling) ||
      !is_size(f->adhesion)) {
    return "viscous, rolling, drilling and adhesion must be at least 0 and finite";
  }
  if ((f->viscous > 0.0 || f->rolling > 0.0) && law->tangents == 0) {
    return "viscous friction and rolling need tangents";
  }
  if ((int)f->patch < 0 || f->patch > SALTUS_PATCH_HERTZ) {
    return "its patch is unknown";
  }
  if (f->patch != SALTUS_PATCH_NONE && !(f->radius > 0.0 && f->radius <= 1e300)) {
    return "the radius of the patch must be positive and finite";
  }
  if (f->patch != SALTUS_PATCH_NONE && (f->drilling > 0.0 || !(law->mu > 0.0))) {
    return "a patch has the drilling friction that belongs to mu > 0, no other";
  }
  if (f->patch != SALTUS_PATCH_NONE && (f->across > 0.0 || f->sliding[0] > 0.0)) {
    return "a patch has friction that is the same in all directions";
  }
  if (!isfinite(f->shear)) {
    return "shear must be finite";
  }
  return NULL;
}

static saltus_status check_law(const saltus_contact_law* law, int i, saltus_log log) {
  const saltus_friction_law* f = law->friction;
  saltus_status status = SALTUSI_RESERVED_CHECK(f, "saltus_friction_law", log);
  if (status == SALTUS_OK && f->own != NULL) {
    status = SALTUSI_RESERVED_CHECK(f->own, "saltus_own_curve", log);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  const char* wrong = wrong_cone(law);
  wrong = wrong == NULL ? wrong_curve(law) : wrong;
  wrong = wrong == NULL ? wrong_parts(law) : wrong;
  return wrong == NULL ? SALTUS_OK : refuse(log, i, law, wrong);
}

static saltus_status check_dry(const saltus_system* system, saltus_log log) {
  if (system->dry_count < 0 || (system->dry_count > 0 && system->dry == NULL) ||
      (system->dry_count > 0 && system->ops->dry == NULL)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "system: dry_count is %d, and there is no %s; it must be 0 then", system->dry_count,
                system->dry == NULL ? "list \"dry\"" : "callback \"dry\"");
    return SALTUS_ERR_RANGE;
  }
  const int joints = system->joint_first != NULL ? system->joint_count : system->dims.nj;
  for (int i = 0; i < system->dry_count; i++) {
    const saltus_dry_friction* dry = &system->dry[i];
    saltus_status status = SALTUSI_RESERVED_CHECK(dry, "saltus_dry_friction", log);
    if (status != SALTUS_OK) {
      return status;
    }
    const bool joint = dry->arm == 0.0 || (dry->joint >= 0 && dry->joint < joints);
    if (!is_size(dry->force) || !is_size(dry->arm) || !joint || dry->reaction_rows < 0) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "system: dry friction %d \"%s\": %s", i,
                  dry->name != NULL ? dry->name : "",
                  joint ? "force, arm and reaction_rows must be at least 0 and finite"
                        : "its joint is none of the system");
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_frictions_validate(const saltus_system* system, saltus_log log) {
  assert(system != NULL);
  const bool changing = (system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  saltus_status status = check_dry(system, log);
  for (int i = 0; status == SALTUS_OK && system->laws != NULL && i < system->law_count; i++) {
    if (system->laws[i].friction == NULL) {
      continue;
    }
    status = check_law(&system->laws[i], i, log);
    if (status == SALTUS_OK && !changing && system->law_count != system->dims.nc) {
      status = refuse(log, i, &system->laws[i], "contacts of a fixed set need a law each");
    }
  }
  return status;
}

bool saltusi_friction_is_special(const saltus_contact_law* law) {
  assert(law != NULL);
  const saltus_friction_law* f = law->friction;
  return f != NULL && (f->sliding[0] > 0.0 || f->curve != SALTUS_CURVE_CONSTANT ||
                       f->viscous > 0.0 || f->rolling > 0.0 || f->drilling > 0.0 ||
                       f->patch != SALTUS_PATCH_NONE || f->adhesion > 0.0);
}

bool saltusi_friction_is_more_than_curve(const saltus_contact_law* law) {
  assert(law != NULL);
  const saltus_friction_law* f = law->friction;
  return f != NULL && (f->sliding[0] > 0.0 || f->rolling > 0.0 || f->drilling > 0.0 ||
                       f->patch != SALTUS_PATCH_NONE || f->shear != 0.0);
}

bool saltusi_frictions_special(const saltus_system* system) {
  assert(system != NULL);
  bool any = system->dry_count > 0;
  for (int i = 0; !any && system->laws != NULL && i < system->law_count; i++) {
    any = saltusi_friction_is_special(&system->laws[i]);
  }
  return any;
}

bool saltusi_frictions_scaled(const saltus_system* system) {
  assert(system != NULL);
  bool any = false;
  for (int i = 0; !any && system->laws != NULL && i < system->law_count; i++) {
    any = saltusi_friction_scale(&system->laws[i]) != 1.0;
  }
  return any;
}
