/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convex_parts.h - approximate convex decomposition of a closed mesh.
 */
#ifndef SALTUSI_CONVEX_PARTS_H
#define SALTUSI_CONVEX_PARTS_H

#include "shape/polytope/polytope.h"

enum { SALTUSI_MOST_CONVEX_PARTS = 64 };

typedef struct saltusi_convex_parts {
  int count;
  double* points[SALTUSI_MOST_CONVEX_PARTS]; /* [3 point_count] m, of the hull of each part */
  int point_count[SALTUSI_MOST_CONVEX_PARTS];
  double volume; /* m^3, of the mesh */
  double excess; /* m^3, of all hulls less that of the mesh */
} saltusi_convex_parts;

/* At most `most` convex parts of the mesh of the definition, whose hulls contain it and do not overlap.
 * SALTUS_ERR_INPUT after a message: it is not closed or has no volume; statuses of saltusi_hull_facets. */
saltus_status saltusi_convex_parts_make(const saltusi_making* making, int most,
                                        saltusi_convex_parts* out);

#endif
