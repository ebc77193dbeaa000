/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of xml_parse.c in builds without expat: returns an error.
 */
#include "base/log.h"
#include "urdf/xml.h"

#include <assert.h>

saltus_status saltusi_xml_parse(const char* text, size_t length, const char* file,
                                saltusi_pool* pool, saltus_log log, saltusi_xml_node** out) {
  assert(text != NULL && pool != NULL && out != NULL);
  (void)text, (void)length, (void)pool;
  *out = NULL;
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: this build of Saltus reads no XML (CMake option SALTUS_WITH_EXPAT)", file);
  return SALTUS_ERR_UNSUPPORTED;
}
