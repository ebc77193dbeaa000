/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance.c - see tolerance.h.
 */
#include "sim/tolerance.h"

#include "base/log.h"

#include <assert.h>
#include <string.h>

bool saltusi_tol_is_option(const saltus_scheme_info* scheme) {
  assert(scheme != NULL);
  return scheme->chooses_step && saltus_options_find(&scheme->options, "rtol") != NULL;
}

bool saltusi_tol_is_estimated(const saltus_scheme_info* scheme) {
  assert(scheme != NULL);
  return scheme->embedded_order > 0 &&
         (scheme->locates_events || (scheme->treats & SALTUS_TREATS_IMPACT_ERRORS) != 0);
}

const char* saltusi_tol_control(const saltus_scheme_info* scheme) {
  assert(scheme != NULL);
  if (scheme->chooses_step || (scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) == 0) {
    return NULL;
  }
  if (saltusi_tol_is_estimated(scheme)) {
    return "embedded";
  }
  if (scheme->locates_events || scheme->embedded_order > 0) {
    return NULL;
  }
  return "variable-order";
}

const char* saltusi_tol_refusal(const saltus_scheme_info* scheme) {
  assert(scheme != NULL && saltusi_tol_control(scheme) == NULL);
  if (scheme->chooses_step) {
    return "chooses its steps itself; it has no control_options";
  }
  return (scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) == 0
             ? "has no tolerance, it needs a constant step"
             : "has no tolerance, it has no error estimate that is valid across impacts; "
               "adaptive, adaptive-dopri5, adaptive-dop853, adaptive-radau5, dopri5, rkf45, "
               "dg-minus, dg-plus, moreau-extrapolated and moreau-jean have one";
}

static saltus_status check(double value, double lo, double hi, const char* name, saltus_log log) {
  if (value > 0.0 && value >= lo && value <= hi) {
    return SALTUS_OK;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s is %g, must be a number between %g and %g", name, value,
              lo, hi);
  return SALTUS_ERR_RANGE;
}

saltus_status saltusi_tol_set_one(const saltus_scheme_info* scheme, void* options,
                                  const char* field, double value, const char* name,
                                  saltus_log log) {
  const saltus_field* found = saltus_options_find(&scheme->options, field);
  assert(found != NULL && found->type == SALTUS_FIELD_REAL);
  saltus_status status = check(value, found->lo, found->hi, name, log);
  if (status == SALTUS_OK) {
    memcpy((unsigned char*)options + found->offset, &value, sizeof value);
  }
  return status;
}

saltus_status saltusi_tol_set_options(const saltus_scheme_info* scheme, void* options, double tol,
                                      const char* name, saltus_log log) {
  assert(saltusi_tol_is_option(scheme));
  saltus_status status = saltusi_tol_set_one(scheme, options, "rtol", tol, name, log);
  return status == SALTUS_OK ? saltusi_tol_set_one(scheme, options, "atol", tol, name, log)
                             : status;
}

saltus_status saltusi_tol_set_control(saltus_control_options* options, double tol, const char* name,
                                      saltus_log log) {
  assert(options != NULL && name != NULL);
  static const double least = 1e-15; /* smaller than the rounding of positions of size 1 */
  saltus_status status = check(tol, least, 1.0, name, log);
  if (status == SALTUS_OK) {
    options->atol = tol;
    options->rtol = tol;
  }
  return status;
}
