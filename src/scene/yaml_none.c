/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of yaml_parse.c in builds without libfyaml: returns an error.
 */
#include "base/log.h"
#include "scene/yaml.h"

#include <assert.h>

saltus_status saltusi_yaml_parse(const char* text, size_t length, const char* file,
                                 saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out) {
  assert(text != NULL && pool != NULL && out != NULL);
  (void)text, (void)length, (void)pool;
  *out = NULL;
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: this build of Saltus reads no scenes (CMake option SALTUS_WITH_YAML)", file);
  return SALTUS_ERR_UNSUPPORTED;
}

bool saltusi_scene_include(struct saltusi_scene_builder* b, saltusi_yaml_node* root) {
  assert(b != NULL && root != NULL);
  (void)b, (void)root;
  return false;
}
