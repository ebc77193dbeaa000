/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * viewer_none.c - a library that was built without the viewer.
 */
#include "report/build.h"

const saltusi_viewer_page* saltusi_viewer(void) {
  return NULL;
}
