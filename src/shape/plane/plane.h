/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plane.h - shared by pairs and separations of planar shapes: one shape in the axes of the other.
 */
#ifndef SALTUSI_SHAPE_PLANE_H
#define SALTUSI_SHAPE_PLANE_H

#include "shape/narrow_phase.h"
#include "shape/plane/planar_outline.h"

#include <math.h>

/* From body axes of one to those of another: y = x + R p. */
typedef struct saltusi_motion2 {
  double x[2], c, s;
} saltusi_motion2;

static inline double saltusi_dot2(const double a[2], const double b[2]) {
  return a[0] * b[0] + a[1] * b[1];
}

static inline double saltusi_cross2(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

static inline void saltusi_turn2(const saltusi_motion2* by, const double a[2], double out[2]) {
  const double x = by->c * a[0] - by->s * a[1], y = by->s * a[0] + by->c * a[1];
  out[0] = x;
  out[1] = y;
}

static inline void saltusi_move2(const saltusi_motion2* by, const double p[2], double out[2]) {
  saltusi_turn2(by, p, out);
  out[0] += by->x[0];
  out[1] += by->x[1];
}

/* Axes of `from` relative to those of `to`; positions are subtracted first, to avoid cancellation far from the
 * origin. */
static inline saltusi_motion2 saltusi_seen_from(const saltusi_body_pose* from,
                                                const saltusi_body_pose* to) {
  const double d[2] = {from->x[0] - to->x[0], from->x[1] - to->x[1]};
  const double cf = from->R[0], sf = from->R[3], ct = to->R[0], st = to->R[3];
  return (saltusi_motion2){.x = {ct * d[0] + st * d[1], ct * d[1] - st * d[0]},
                           .c = cf * ct + sf * st,
                           .s = sf * ct - cf * st};
}

static inline int saltusi_edge_before(const saltusi_planar_outline* o, int point) {
  return point > 0 ? point - 1 : o->closed ? o->edges - 1 : -1;
}

static inline int saltusi_edge_after(const saltusi_planar_outline* o, int point) {
  return point < o->edges ? point : -1;
}

static inline int saltusi_point_after(const saltusi_planar_outline* o, int edge) {
  return edge + 1 < o->points ? edge + 1 : 0;
}

static inline bool saltusi_is_straight(const saltusi_shape* shape, int edge) {
  return shape->feature[shape->outline->points + edge].kind == SALTUSI_FEATURE_PLANE;
}

/* Angle of a direction from the middle of a cone, rad, counter-clockwise. */
static inline double saltusi_cone_angle(const saltusi_cone* cone, const double w[2]) {
  return atan2(saltusi_cross2(cone->mid, w), saltusi_dot2(cone->mid, w));
}

/* Whether a point in body axes is inside of a solid polygon. */
bool saltusi_polygon_holds(const saltusi_shape* shape, const double p[2]);

/* plane_separation.c */
void saltusi_planar_separation(const saltusi_two* two, saltusi_separation* out);
void saltusi_planar_pairs(const saltusi_two* two, const saltusi_near* near,
                          saltusi_candidates* out);

#endif
