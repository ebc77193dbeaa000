/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hull_none.c - builds without qhull: hulls of points are an error.
 */
#include "shape/polytope/polytope.h"

#include <assert.h>

saltus_status saltusi_hull_facets(const saltusi_making* making, saltusi_facets* out) {
  assert(making != NULL && out != NULL);
  (void)out;
  saltusi_shape_refuse(making,
                       "this build of Saltus makes no hulls (CMake option SALTUS_WITH_QHULL)");
  return SALTUS_ERR_UNSUPPORTED;
}
