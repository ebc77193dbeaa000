/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * validate.c - checks that a system is complete; every error is reported with its value.
 */
#include "saltus/system.h"

#include "base/log.h"
#include "base/reserved.h"
#include "system/frictions.h"
#include "system/impacts.h"
#include "system/structure.h"

#include <assert.h>

static saltus_status refuse(saltus_log log, const char* member, double value, const char* allowed) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "system: %s is %g, must be %s", member, value, allowed);
  return SALTUS_ERR_RANGE;
}

static saltus_status missing(saltus_log log, const char* callback, const char* why) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "system: callback \"%s\" is missing: %s", callback, why);
  return SALTUS_ERR_RANGE;
}

static saltus_status check_dims(const saltus_dims* dims, saltus_log log) {
  if (dims->nq < 1) {
    return refuse(log, "dims.nq", dims->nq, "at least 1");
  }
  if (dims->nv < 1) {
    return refuse(log, "dims.nv", dims->nv, "at least 1");
  }
  if (dims->nj < 0) {
    return refuse(log, "dims.nj", dims->nj, "at least 0");
  }
  if (dims->nc < 0) {
    return refuse(log, "dims.nc", dims->nc, "at least 0");
  }
  if (dims->row_width < 0 || dims->row_width > dims->nv) {
    return refuse(log, "dims.row_width", dims->row_width, "between 0 and dims.nv");
  }
  return SALTUS_OK;
}

/* q' = N(q) v is the same map in rate, advance and difference: all or none. */
static saltus_status check_maps(const saltus_system* system, saltus_log log) {
  const saltus_system_ops* ops = system->ops;
  bool other = system->dims.nq != system->dims.nv;
  if (!other && ops->advance == NULL && ops->rate == NULL && ops->difference == NULL) {
    return SALTUS_OK;
  }
  if (system->dims.nq < system->dims.nv) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "system: dims.nq is %d, must be at least dims.nv = %d",
                system->dims.nq, system->dims.nv);
    return SALTUS_ERR_RANGE;
  }
  const char* why = other ? "dims.nq is not dims.nv"
                          : "rate, advance and difference define one map q' = N(q) v together";
  if (ops->advance == NULL || ops->rate == NULL || ops->difference == NULL) {
    return missing(log,
                   ops->advance == NULL ? "advance"
                   : ops->rate == NULL  ? "rate"
                                        : "difference",
                   why);
  }
  return other && ops->normalise == NULL ? missing(log, "normalise", why) : SALTUS_OK;
}

static saltus_status check_enclosure(const saltus_system* system, saltus_log log) {
  const saltus_enclosure_ops* ops = system->ops->enclosure;
  bool changing = (system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (ops == NULL) {
    return SALTUS_OK;
  }
  if (ops->bytes == NULL) {
    return missing(log, "enclosure.bytes", "along needs scratch");
  }
  bool both = (ops->depends == NULL) == (ops->along == NULL);
  if (!both || (!changing && ops->along == NULL)) {
    return missing(log, ops->along == NULL ? "enclosure.along" : "enclosure.depends",
                   "enclosures need both");
  }
  if ((ops->contact_depends == NULL) != (ops->contact_along == NULL)) {
    return missing(
        log, ops->contact_along == NULL ? "enclosure.contact_along" : "enclosure.contact_depends",
        "contacts by identity need both");
  }
  return SALTUS_OK;
}

static saltus_status check_callbacks(const saltus_system* system, saltus_log log) {
  const saltus_system_ops* ops = system->ops;
  if (ops == NULL) {
    return missing(log, "ops", "the system has no table of callbacks");
  }
  if (ops->force == NULL) {
    return missing(log, "force", "every system has forces, if only zero");
  }
  if (ops->blocks != NULL && system->structure == NULL) {
    return missing(log, "structure", "the callback \"blocks\" writes on it");
  }
  if (ops->mass == NULL && ops->linear == NULL && ops->blocks == NULL) {
    return missing(log, "mass", "a system without blocks or its own linear algebra needs it");
  }
  bool changing = (system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if ((system->dims.nc > 0 || changing) && (ops->contacts == NULL || ops->contact == NULL)) {
    return missing(log, ops->contacts == NULL ? "contacts" : "contact",
                   changing ? "the set of contacts changes" : "dims.nc is not 0");
  }
  if (ops->sweep != NULL && ops->gaps == NULL) {
    return missing(log, "gaps",
                   "contacts of a swept query are evaluated where they are not listed");
  }
  if (ops->guards != NULL && (ops->gaps == NULL || ops->sweep == NULL || ops->place == NULL)) {
    return missing(log,
                   ops->gaps == NULL    ? "gaps"
                   : ops->sweep == NULL ? "sweep"
                                        : "place",
                   "contacts have guards");
  }
  if (system->dims.nj > 0 && (ops->joints == NULL || ops->joint == NULL)) {
    return missing(log, ops->joints == NULL ? "joints" : "joint", "dims.nj is not 0");
  }
  return check_maps(system, log);
}

static saltus_status check_joints(const saltus_system* system, saltus_log log) {
  const int* first = system->joint_first;
  if (first == NULL) {
    return SALTUS_OK;
  }
  if (system->joint_count < 0) {
    return refuse(log, "joint_count", system->joint_count, "at least 0");
  }
  for (int j = 0; j < system->joint_count; j++) {
    if (first[j] >= first[j + 1]) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "system: joint_first[%d] is %d and joint_first[%d] is %d, must ascend", j,
                  first[j], j + 1, first[j + 1]);
      return SALTUS_ERR_RANGE;
    }
  }
  if (first[0] != 0 || first[system->joint_count] != system->dims.nj) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "system: joint_first goes from %d to %d, must go from 0 to dims.nj = %d", first[0],
                first[system->joint_count], system->dims.nj);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

static saltus_status check_law(const saltus_contact_law* law, int i, saltus_log log) {
  const char* member = NULL;
  double value = 0.0;
  const char* allowed = "between 0 and 1";
  if (law->tangents < 0 || law->tangents > 2) {
    member = "tangents", value = law->tangents, allowed = "0, 1 or 2";
  } else if (!(law->mu >= 0.0 && law->mu <= SALTUSI_FRICTION_MOST)) {
    member = "mu", value = law->mu, allowed = "at least 0 and at most 1e300";
  } else if (!(law->e_N >= 0.0 && law->e_N <= 1.0)) {
    member = "e_N", value = law->e_N;
  } else if (!(law->e_T >= -1.0 && law->e_T <= 1.0)) {
    member = "e_T", value = law->e_T, allowed = "between -1 and 1";
  }
  if (member == NULL) {
    return SALTUS_OK;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "system: contact %d \"%s\": %s is %g, must be %s", i,
              law->name != NULL ? law->name : "", member, value, allowed);
  return SALTUS_ERR_RANGE;
}

/* Members reserved for later versions in all tables of a system. */
static saltus_status check_reserved(const saltus_system* system, saltus_log log) {
  const saltus_system_ops* ops = system->ops;
  saltus_status status = SALTUSI_RESERVED_CHECK(system, "saltus_system", log);
  if (status == SALTUS_OK) {
    status = SALTUSI_RESERVED_CHECK(&system->dims, "saltus_dims", log);
  }
  if (status == SALTUS_OK) {
    status = SALTUSI_RESERVED_CHECK(ops, "saltus_system_ops", log);
  }
  if (status == SALTUS_OK && ops->linear != NULL) {
    status = SALTUSI_RESERVED_CHECK(ops->linear, "saltus_linear_ops", log);
  }
  if (status == SALTUS_OK && ops->enclosure != NULL) {
    status = SALTUSI_RESERVED_CHECK(ops->enclosure, "saltus_enclosure_ops", log);
  }
  return status;
}

saltus_status saltus_system_validate(const saltus_system* system, saltus_log log) {
  assert(system != NULL);
  saltus_status status = check_dims(&system->dims, log);
  if (status == SALTUS_OK) {
    status = check_callbacks(system, log);
  }
  status = status == SALTUS_OK ? check_reserved(system, log) : status;
  status = status == SALTUS_OK ? check_enclosure(system, log) : status;
  if (status == SALTUS_OK && system->structure != NULL) {
    status = saltusi_structure_validate(system->structure, system->dims.nv, log);
  }
  status = status == SALTUS_OK ? check_joints(system, log) : status;
  bool contacts = system->dims.nc > 0 || (system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (status == SALTUS_OK && contacts && (system->laws == NULL || system->law_count < 1)) {
    status = missing(log, "laws", "contacts need their laws");
  }
  for (int i = 0; status == SALTUS_OK && system->laws != NULL && i < system->law_count; i++) {
    status = check_law(&system->laws[i], i, log);
  }
  status = status == SALTUS_OK ? saltusi_frictions_validate(system, log) : status;
  return status == SALTUS_OK ? saltusi_impacts_validate(system, log) : status;
}
