/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * feature.h - elements of surfaces: points, lines, planes, circles, ellipsoids and cones, each thickened by a signed
 * radius rho. A sphere is a point with rho > 0, the side of a cylinder a line, a face a plane, a rim a circle.
 *
 * Features are given in the axes of the body of the shape, from its centre of mass. Planar bodies are in z = 0 and
 * rotate about z. A planar vertex is a point, an edge a PLANE that contains z, and a circle a point with rho. So two
 * kinds of feature are enough for planar shapes, and the equations are those of space.
 */
#ifndef SALTUSI_FEATURE_H
#define SALTUSI_FEATURE_H

typedef enum saltusi_feature_kind {
  SALTUSI_FEATURE_POINT, /* p */
  SALTUSI_FEATURE_LINE,  /* p + u a, u in 0 .. size[0] */
  SALTUSI_FEATURE_PLANE, /* through p, outward normal a, tangents e and a x e; in the plane an edge p + u e, u in
                              * 0 .. size[0]; infinite: a half-plane or half-space */
  SALTUSI_FEATURE_CIRCLE, /* about p in the plane normal to a, radius size[0]; u = 0 along e; size[1] away from
                              * the axis and size[2] along a: outward at a sharp rim; both 0: no rim */
  SALTUSI_FEATURE_ELLIPSOID, /* about p, semi-axes size[0..2] along e, a x e, a */
  SALTUSI_FEATURE_CONE /* side: tip p, axis a from the tip into the body, size[0] = tan(half angle), height size[1] */
} saltusi_feature_kind;

typedef struct saltusi_feature {
  saltusi_feature_kind kind;
  double rho;     /* m; negative: the inside of a hollow shape */
  double p[3];    /* m */
  double a[3];    /* of length 1 */
  double e[3];    /* of length 1, normal to a */
  double size[3]; /* m */
} saltusi_feature;

/* The body of a shape: pose and velocities. */
typedef struct saltusi_body_pose {
  double x[3]; /* m, centre of mass */
  double R[9]; /* body to world */
  double v[3]; /* m/s */
  double w[3]; /* rad/s, WORLD axes */
} saltusi_body_pose;

#endif
