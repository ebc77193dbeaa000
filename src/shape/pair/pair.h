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

/* Which way the normal points where d = p_A - p_B does not say it, and which of several closest points is meant. */
typedef struct saltusi_pair {
  const saltusi_feature* A;
  const saltusi_feature* B;
  const saltusi_body_pose* a;
  const saltusi_body_pose* b;
  int branch; /* which minimum of a pair that has several (circle-circle, line-circle); of a circle and a plane
               * 1 is the farthest point; 0 otherwise */
  double side
      [3]; /* world: the normal has a positive product with it (outward normals of edges); zero: A outside of B
                   * by the kinds alone */
} saltusi_pair;

/* Closest points of the skeletons, in parameters and in the world. */
typedef struct saltusi_closest {
  double uA[2], uB[2];
  double pA[3], pB[3]; /* m, on the skeletons */
  double normal[3];
  double gap; /* m, rho of both taken off */
  double
      condition; /* of the system that gives the parameters; large: near a degenerate position; INFINITY: at one */
} saltusi_closest;

/* False where no such points exist or they are not determined (concentric, parallel lines): gap is then NaN. */
bool saltusi_pair_closest(const saltusi_pair* pair, saltusi_closest* out);

/* Rows of a contact, normal first, then the tangents t1, t2 = n x t1; in the plane t1 = J n is the only one. */
typedef struct saltusi_pair_rows {
  double gap;
  double point[2][3]; /* m, world, on the surfaces of A and B */
  double frame[3][3]; /* n, t1, t2 */
  double GA[3]
           [6]; /* by v in world axes and w in BODY axes of A: U = GA (v_A, w_A) + GB (v_B, w_B) */
  double GB[3][6];
  double c[3];      /* m/s^2, dU/dt at constant v, w (body axes) of both */
  double spin_c[3]; /* rad/s^2: the same of e . (w_A - w_B), e = n, t1, t2 */
} saltusi_pair_rows;

/* t1 follows the features (tangent of a plane, direction of a line, tangent of a circle), or where these have none a
 * smooth field of tangents that turns with B (pair_frame.h). */
bool saltusi_pair_rows_at(const saltusi_pair* pair, bool planar, saltusi_pair_rows* out);

/* The same where nobody asks for c and spin_c, which are left alone, and for the first `count` rows only. */
bool saltusi_pair_rows_still(const saltusi_pair* pair, bool planar, int count,
                             saltusi_pair_rows* out);

#endif
