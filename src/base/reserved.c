/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reserved.c - reserved members of structs have to be zero.
 */
#include "base/reserved.h"

#include "base/log.h"
#include "saltus/version.h"

#include <assert.h>

saltus_status saltusi_reserved_check(const uint64_t* reserved, size_t count, const char* name,
                                     saltus_log log) {
  assert(name != NULL);
  for (size_t i = 0; i < count; i++) {
    if (reserved[i] != 0) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "%s: reserved[%zu] is not 0: the struct is not initialised, or made for a later "
                  "version than %s of the library",
                  name, i, saltus_version());
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}
