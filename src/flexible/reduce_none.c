/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reduce_none.c - builds without CXSparse or LAPACK.
 */
#include "base/log.h"
#include "flexible/flexible.h"

#include <assert.h>

saltus_status saltus_flexible_reduce(const saltus_reduce_def* def, saltus_flexible** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltusi_log(def->log, SALTUS_LEVEL_ERROR,
              "reduction needs CXSparse and LAPACK; this build has not both");
  return SALTUS_ERR_UNSUPPORTED;
}
