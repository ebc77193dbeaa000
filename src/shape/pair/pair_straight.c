/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_straight.c - rows of points, lines and planes without convective parts: the frequent case of piles of boxes,
 * hulls and balls, evaluated for every contact in every step. The operations are those of pair.c, pair_closest.c and
 * pair_rows.c in the same order, so the results are bitwise identical; quantities needed only for rates are omitted.
 */
#include "shape/pair/pair_frame.h"

#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Closest points of two features, relative to the origin of B's carrier. */
typedef struct straight {
  double p[2][3];
  double normal[3];
  double tangent[3]; /* tangent that the frame follows */
  bool tangential;   /* whether there is one */
} straight;

/* A point of a feature in world axes. */
static inline void origin_of(const saltusi_feature* feature, const saltusi_body_pose* at,
                             const double from[3], double out[3]) {
  double shift[3];
  saltusi_minus3(at->x, from, shift);
  saltusi_turn(at->R, feature->p, out);
  saltusi_along(1.0, shift, out, out);
}

static inline void origins(const saltusi_pair* pair, straight* s) {
  origin_of(pair->A, pair->a, pair->b->x, s->p[0]);
  origin_of(pair->B, pair->b, pair->b->x, s->p[1]);
}

/* Moves the origin of a plane to the foot of a point. */
static inline void drop(const saltusi_feature* plane, const saltusi_body_pose* at,
                        const double point[3], double a[3], double tangent[3], double foot[3]) {
  double w[3];
  saltusi_turn(at->R, plane->a, a);
  saltusi_turn(at->R, plane->e, tangent);
  saltusi_minus3(point, foot, w);
  const double height = saltusi_dot3(w, a);
  saltusi_along(-height, a, point, foot);
}

/* Normal along p_A - p_B; false: it is zero. */
static inline bool normal_along(const saltusi_pair* pair, const double d[3], straight* s) {
  const double length = sqrt(saltusi_dot3(d, d));
  if (!(length > 0.0)) {
    return false;
  }
  const bool hollow = (pair->A->rho < 0.0) != (pair->B->rho < 0.0);
  const double sign = hollow || saltusi_dot3(d, pair->side) < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    s->normal[k] = sign * d[k] / length;
  }
  return true;
}

static inline bool points(const saltusi_pair* pair, straight* s) {
  double d[3];
  s->tangential = false;
  saltusi_minus3(s->p[0], s->p[1], d);
  return normal_along(pair, d, s);
}

/* `on`: which of the two is the line. */
static inline bool point_and_line(const saltusi_pair* pair, int on, straight* s) {
  double w[3], d[3];
  const saltusi_feature* line = on == 1 ? pair->B : pair->A;
  saltusi_turn((on == 1 ? pair->b : pair->a)->R, line->a, s->tangent);
  s->tangential = true;
  saltusi_minus3(s->p[1 - on], s->p[on], w);
  const double u = saltusi_dot3(s->tangent, w);
  saltusi_along(u, s->tangent, s->p[on], s->p[on]);
  saltusi_minus3(s->p[0], s->p[1], d);
  return normal_along(pair, d, s);
}

/* Lines above this sin^2 cross well enough that no quantity is undetermined by rounding. */
static const double crossing = 1e-12; /* sin^2 */

static inline bool lines(const saltusi_pair* pair, straight* s) {
  double a[3], w[3], d[3], across[3], ba[3], aa[3];
  double* b = s->tangent;
  saltusi_turn(pair->a->R, pair->A->a, a);
  saltusi_turn(pair->b->R, pair->B->a, b);
  s->tangential = true;
  saltusi_minus3(s->p[0], s->p[1], w);
  saltusi_cross(a, b, across);
  const double square = saltusi_dot3(across, across);
  if (!(square > crossing)) {
    return false;
  }
  saltusi_cross(b, across, ba);
  saltusi_cross(a, across, aa);
  const double u = -saltusi_dot3(w, ba) / square, v = -saltusi_dot3(w, aa) / square;
  saltusi_along(u, a, s->p[0], s->p[0]);
  saltusi_along(v, b, s->p[1], s->p[1]);
  saltusi_minus3(s->p[0], s->p[1], d);
  const double thick = fabs(pair->A->rho + pair->B->rho);
  if (thick > 0.0 && saltusi_dot3(d, d) > 0.25 * thick * thick) {
    return normal_along(pair, d, s);
  }
  const double facing = saltusi_dot3(across, pair->side), length = sqrt(square);
  const double sign = (facing != 0.0 ? facing : saltusi_dot3(across, d)) < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    s->normal[k] = sign * across[k] / length;
  }
  return true;
}

/* Closest points and normal; false: other kinds, or nearly degenerate. */
static inline bool meet(const saltusi_pair* pair, straight* s) {
  enum { SIDES = SALTUSI_FEATURE_PLANE + 1 };
  const int a = (int)pair->A->kind, b = (int)pair->B->kind;
  if (a >= SIDES || b >= SIDES) {
    return false;
  }
  origins(pair, s);
  switch (SIDES * a + b) {
  case SIDES* SALTUSI_FEATURE_POINT + (int)SALTUSI_FEATURE_PLANE:
    drop(pair->B, pair->b, s->p[0], s->normal, s->tangent, s->p[1]);
    s->tangential = true;
    return true;
  case SIDES* SALTUSI_FEATURE_PLANE + (int)SALTUSI_FEATURE_POINT: {
    double outward[3];
    drop(pair->A, pair->a, s->p[1], outward, s->tangent, s->p[0]);
    saltusi_along(-2.0, outward, outward, s->normal);
    s->tangential = true;
    return true;
  }
  case SIDES* SALTUSI_FEATURE_LINE + (int)SALTUSI_FEATURE_LINE:
    return lines(pair, s);
  case SIDES* SALTUSI_FEATURE_POINT + (int)SALTUSI_FEATURE_POINT:
    return points(pair, s);
  case SIDES* SALTUSI_FEATURE_POINT + (int)SALTUSI_FEATURE_LINE:
    return point_and_line(pair, 1, s);
  case SIDES* SALTUSI_FEATURE_LINE + (int)SALTUSI_FEATURE_POINT:
    return point_and_line(pair, 0, s);
  default:
    return false;
  }
}

bool saltusi_pair_rows_straight(const saltusi_pair* pair, bool planar, int count,
                                saltusi_pair_rows* out) {
  assert(pair != NULL && out != NULL && count >= 1);
  straight s;
  double d[3];
  if (!meet(pair, &s)) {
    return false;
  }
  saltusi_minus3(s.p[0], s.p[1], d);
  const double apart = saltusi_dot3(s.normal, d);
  if (!isfinite(apart)) {
    return false;
  }
  memcpy(out->frame[0], s.normal, sizeof s.normal);
  if (planar) {
    saltusi_planar_frame(out->frame);
  } else if (!saltusi_still_frame(pair->b, s.tangential ? s.tangent : NULL, out->frame)) {
    return false;
  }
  const saltusi_touch at = {{s.p[0], s.p[1]}, {pair->A->rho, pair->B->rho}, apart};
  saltusi_still_rows(pair, &at, count, out);
  return true;
}
