/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of the FCLIB sources in builds without HDF5.
 */
#include "base/log.h"
#include "io/problem/formats.h"

#include <assert.h>

static saltus_status refuse(const char* path, saltus_log log) {
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: this build of Saltus has no HDF5 (CMake option SALTUS_WITH_HDF5)", path);
  return SALTUS_ERR_UNSUPPORTED;
}

saltus_status saltusi_fclib_read(const char* path, saltus_log log, saltusi_contact_problem* into) {
  assert(path != NULL);
  (void)into;
  return refuse(path, log);
}

saltus_status saltusi_fclib_write_friction(const char* path, int dimension,
                                           const saltus_friction_problem* problem, saltus_log log) {
  assert(path != NULL);
  (void)dimension;
  (void)problem;
  return refuse(path, log);
}

saltus_status saltusi_fclib_write_global(const char* path,
                                         const saltus_global_friction_problem* problem,
                                         saltus_log log) {
  assert(path != NULL);
  (void)problem;
  return refuse(path, log);
}
