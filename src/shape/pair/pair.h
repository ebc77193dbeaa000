/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair.h - two features that may touch: gap, normal, frame, rows and their convective parts, from one set of equations
 * for all kinds of features (docs/theory/contact-geometry.md). The normal points from B to A.
 */
#ifndef SALTUSI_PAIR_H
#define SALTUSI_PAIR_H

#include "shape/feature.h"

#include <stdbool.h>

/* Orientation of the normal where d = p_A - p_B does not determine it, and the selected minimum
 * of several. */
typedef struct saltusi_pair {
  const saltusi_feature* A;
  const saltusi_feature* B;
  const saltusi_body_pose* a;
  const saltusi_body_pose* b;
  int branch; /* which minimum of a pair that has several (circle-circle, line-circle); of a circle and a plane
               * 1 is the farthest point; 0 otherwise */
  bool
      turned; /* of two circles: branches are minima on halves of B's circle, which is the first in lists */
  double
      side[3]; /* world: the normal has a positive product with it (outward normals of edges); zero:
            * A is outside of B, by the kinds alone */
} saltusi_pair;

/* Closest points of the skeletons, in parameters and in the world. */
typedef struct saltusi_closest {
  double uA[2], uB[2];
  double pA[3], pB[3]; /* m, on the skeletons */
  double normal[3];
  double gap;       /* m, radii of both subtracted */
  double condition; /* condition number of the system of the parameters; large: nearly degenerate;
                  * INFINITY: degenerate */
} saltusi_closest;

/* False if no such points exist or they are not determined (concentric, parallel lines): gap is
 * then NaN. */
bool saltusi_pair_closest(const saltusi_pair* pair, saltusi_closest* out);

/* Rows of a contact, normal first, then the tangents t1, t2 = n x t1; in the plane t1 = J n is the only one. */
typedef struct saltusi_pair_rows {
  double gap;
  double point[2][3]; /* m, world, on the surfaces of A and B */
  double frame[3][3]; /* n, t1, t2 */
  double GA[3][6]; /* with v in world axes and w in BODY axes: U = GA (v_A, w_A) + GB (v_B, w_B) */
  double GB[3][6];
  double c[3];      /* m/s^2, dU/dt at constant v, w (body axes) of both */
  double spin_c[3]; /* rad/s^2: the same of e . (w_A - w_B), e = n, t1, t2 */
} saltusi_pair_rows;

/* t1 is the tangent of a feature (of a plane, a line, a circle) or, if there is none, of a smooth tangent field
 * fixed in B (pair_frame.h). */
bool saltusi_pair_rows_at(const saltusi_pair* pair, bool planar, saltusi_pair_rows* out);

/* The same for the first `count` rows, without c and spin_c, which are not written. */
bool saltusi_pair_rows_still(const saltusi_pair* pair, bool planar, int count,
                             saltusi_pair_rows* out);

#endif
