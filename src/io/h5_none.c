/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of the HDF5 sources in builds without HDF5.
 */
#include "base/log.h"
#include "io/wide_table.h"
#include "io/writer.h"

#include <assert.h>

static saltus_status refuse(const char* path, saltus_log log) {
  saltusi_log(
      log, SALTUS_LEVEL_ERROR,
      "%s: this build of Saltus has no HDF5 (CMake option SALTUS_WITH_HDF5); use a name that ends "
      "in .csv",
      path);
  return SALTUS_ERR_UNSUPPORTED;
}

static saltus_status create(saltus_recording* r) {
  return refuse(r->path, r->log);
}

static saltus_status flush(saltus_recording* r, const saltus_recording_summary* final) {
  (void) final;
  return refuse(r->path, r->log);
}

static void release(saltus_recording* r, const char* failure) {
  (void)r;
  (void)failure;
}

const saltusi_format saltusi_format_hdf5 = {
    .extension = ".h5", .create = create, .flush = flush, .release = release};

saltus_status saltusi_h5_read(const char* path, saltus_log log, saltusi_data* into) {
  assert(path != NULL && into != NULL);
  (void)into;
  return refuse(path, log);
}

saltus_status saltusi_wide_table_write(const saltusi_wide_table* table) {
  assert(table != NULL && table->path != NULL);
  return refuse(table->path, table->log);
}
