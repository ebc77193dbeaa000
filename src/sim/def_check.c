/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * def_check.c - see def_check.h.
 */
#include "sim/def_check.h"

#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

saltus_status saltusi_def_refuse(saltus_log log, const char* who, const char* member, double value,
                                 const char* allowed) {
  assert(member != NULL && allowed != NULL);
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s is %g, must be %s", who, member, value, allowed);
  return SALTUS_ERR_RANGE;
}

saltus_status saltusi_def_check_vector(saltus_log log, const char* who, const char* name, int n,
                                       const double* x) {
  assert(name != NULL && n >= 0);
  if (x == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s is missing", who, name);
    return SALTUS_ERR_RANGE;
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s[%d] is %g, must be finite", who, name, i, x[i]);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}
