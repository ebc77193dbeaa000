/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of the drawing in builds without cairo: returns an error.
 */
#include "base/log.h"
#include "figure/figure.h"
#include "figure/heat.h"
#include "figure/sketch.h"

#include <assert.h>

saltus_status saltusi_figure_path_check(const char* path, saltus_log log) {
  assert(path != NULL);
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: this build of Saltus draws no figures (CMake option SALTUS_WITH_CAIRO)", path);
  return SALTUS_ERR_UNSUPPORTED;
}

saltus_status saltusi_figure_write(const saltusi_figure* figure, const char* path, saltus_log log) {
  assert(path != NULL);
  (void)figure;
  return saltusi_figure_path_check(path, log);
}

int saltusi_sketch_label_boxes(const saltusi_sketch* sketch, double (*boxes)[4], int room) {
  (void)sketch, (void)boxes, (void)room;
  return 0;
}

saltus_status saltusi_sketch_write(const saltusi_sketch* sketch, const char* path, saltus_log log) {
  assert(path != NULL);
  (void)sketch;
  return saltusi_figure_path_check(path, log);
}

saltus_status saltusi_heat_write(const saltusi_heat* heat, const char* path, saltus_log log) {
  assert(path != NULL);
  (void)heat;
  return saltusi_figure_path_check(path, log);
}
