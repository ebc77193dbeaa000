/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * page.c - the page: the viewer with the document in base64 between its parts. Base64 contains no characters with a
 * meaning in HTML.
 */
#include "base/log.h"
#include "report/build.h"

#include <assert.h>

bool saltus_report_has_viewer(void) {
  return saltusi_viewer() != NULL;
}

static saltus_status write_base64(const saltus_report_def* def, const saltusi_bytes* bytes) {
  enum { PIECE = 3072 }; /* a multiple of 3 */
  char text[PIECE / 3 * 4];
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < bytes->count && status == SALTUS_OK; i += PIECE) {
    const size_t left = bytes->count - i;
    const size_t used = saltusi_base64(bytes->at + i, left < PIECE ? left : PIECE, text);
    status = def->write(def->user, text, used);
  }
  return status;
}

saltus_status saltus_report_document(const saltus_report_def* def, saltus_report_about* about) {
  assert(def != NULL && def->data != NULL && def->write != NULL);
  const saltus_allocator memory =
      def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  saltusi_bytes bytes = {.memory = &memory};
  saltus_status status = saltusi_report_build(def, &bytes, about);
  if (status == SALTUS_OK) {
    status = def->write(def->user, bytes.at, bytes.count);
  }
  saltusi_bytes_free(&bytes);
  return status;
}

saltus_status saltus_report_page(const saltus_report_def* def, saltus_report_about* about) {
  assert(def != NULL && def->data != NULL && def->write != NULL);
  const saltusi_viewer_page* viewer = saltusi_viewer();
  if (viewer == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "this build has no viewer: node and npm were missing when it was made, or "
                "packages could not be fetched (docs/viewer.md)");
    return SALTUS_ERR_UNSUPPORTED;
  }
  const saltus_allocator memory =
      def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  saltusi_bytes bytes = {.memory = &memory};
  saltus_status status = saltusi_report_build(def, &bytes, about);
  if (status == SALTUS_OK) {
    status = def->write(def->user, viewer->before, viewer->before_bytes);
  }
  if (status == SALTUS_OK) {
    status = write_base64(def, &bytes);
  }
  if (status == SALTUS_OK) {
    status = def->write(def->user, viewer->behind, viewer->behind_bytes);
  }
  saltusi_bytes_free(&bytes);
  return status;
}
