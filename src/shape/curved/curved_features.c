/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_features.c - pairs of features of two shapes in general. All pairs of points, curves and surfaces are
 * evaluated. A pair is listed if its normal is in both normal cones and its closest points are on both features.
 *
 * Sharp shapes touch with a point on a surface, two crossing curves, or a curve on a surface; a vertex on a vertex or
 * on an edge is not a contact of its own. Rounded shapes touch with all features. A circle in face contact with a
 * plane is represented by its fixed points, and a rim across a border by the crossing points.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Angles by which normal cones are widened. The best axis of curved shapes has an error of the square root of
 * rounding; beyond 0.25 rad a neighbouring face would be listed. */
static const double LEAST_DELTA = 1e-3, LARGEST_DELTA = 0.25;

/* A feature of one of the two shapes at its closest point. */
typedef struct end {
  const saltusi_shape* shape;
  const saltusi_body_pose* at;
  int number;
  const saltusi_closest_point* spot;
  double n[3]; /* outward, world */
  double wide; /* m, beyond the ends of lines */
} end;

const saltusi_feature* saltusi_circle_of(const saltusi_shape* shape, int number) {
  assert(shape != NULL);
  switch (shape->kind) {
  case SALTUS_SHAPE_CYLINDER:
    return number >= SALTUSI_CYLINDER_RIM
               ? NULL
               : &shape->feature[SALTUSI_CYLINDER_RIM - 1 + (number > SALTUSI_RIM_POINTS)];
  case SALTUS_SHAPE_CONE:
    return number == SALTUSI_CONE_TIP || number >= SALTUSI_CONE_RIM
               ? NULL
               : &shape->feature[SALTUSI_CONE_RIM - 1];
  case SALTUS_SHAPE_TORUS:
    return number >= SALTUSI_TORUS_CIRCLE ? NULL : &shape->feature[SALTUSI_TORUS_CIRCLE - 1];
  default:
    return NULL;
  }
}

/* Whether the normal is in the normal cone of a sharp rim, widened by the sine. */
static bool on_rim(const end* e, double sine) {
  const saltusi_closest_point* rim = e->spot;
  double r[3];
  saltusi_minus3(rim->p, rim->origin, r);
  const double away = saltusi_dot3(e->n, r) / rim->size[0], down = saltusi_dot3(e->n, rim->a);
  if (e->shape->kind == SALTUS_SHAPE_CYLINDER) {
    return away >= -sine && down >= -sine;
  }
  const double k = e->shape->feature[SALTUSI_CONE_SIDE - 1].size[0];
  return away >= -sine && (down + k * away) / sqrt(1.0 + k * k) >= -sine;
}

static bool at_tip(const end* e, double sine) {
  const saltusi_feature* side = &e->shape->feature[SALTUSI_CONE_SIDE - 1];
  double a[3], across[3];
  saltusi_turn(e->at->R, side->a, a);
  const double down = saltusi_dot3(e->n, a);
  saltusi_along(-down, a, e->n, across);
  const double away = sqrt(saltusi_dot3(across, across));
  return (down + side->size[0] * away) / sqrt(1.0 + side->size[0] * side->size[0]) <= sine;
}

/* Whether a point of a plane is on its face, end or base. */
static bool on_face(const end* e, const double from[3], double touch) {
  double own[3], world[3];
  saltusi_minus3(e->spot->p, from, world);
  saltusi_turn_back(e->at->R, world, own);
  if (e->shape->polytope != NULL) {
    return saltusi_region_of_polytope(e->shape, e->number, own) >= -touch;
  }
  if (e->shape->kind == SALTUS_SHAPE_HALF_SPACE) {
    return true;
  }
  double w[3];
  saltusi_minus3(e->spot->p, e->spot->origin, w);
  const bool cone = e->shape->kind == SALTUS_SHAPE_CONE;
  const saltusi_feature* rim =
      &e->shape->feature[(cone ? SALTUSI_CONE_RIM : SALTUSI_CYLINDER_RIM) - 1];
  return saltusi_dot3(w, w) <= (rim->size[0] + touch) * (rim->size[0] + touch);
}

/* Whether the closest point is on the feature and the normal in its normal cone. `from`: origin of the carrier
 * relative to that of B's carrier. */
static bool counts(const end* e, const double from[3], double sine, double touch) {
  const saltusi_closest_point* spot = e->spot;
  const double wide = e->wide;
  double own[3];
  switch (spot->kind) {
  case SALTUSI_FEATURE_POINT:
    if (e->shape->kind == SALTUS_SHAPE_CONE) {
      return e->number != SALTUSI_CONE_TIP || at_tip(e, sine);
    }
    saltusi_turn_back(e->at->R, e->n, own);
    return e->shape->polytope == NULL || saltusi_normal_of(e->shape, e->number, own, sine);
  case SALTUSI_FEATURE_LINE:
    if (!(spot->u[0] > -wide && spot->u[0] < spot->size[0] + wide)) {
      return false;
    }
    saltusi_turn_back(e->at->R, e->n, own);
    return e->shape->polytope == NULL || saltusi_normal_of(e->shape, e->number, own, sine);
  case SALTUSI_FEATURE_PLANE:
    return on_face(e, from, touch);
  case SALTUSI_FEATURE_CIRCLE:
    return spot->rho > 0.0 || on_rim(e, sine);
  case SALTUSI_FEATURE_CONE: {
    const double k = spot->size[0];
    return spot->u[0] > -wide && spot->u[0] < spot->size[1] * sqrt(1.0 + k * k) + wide;
  }
  default:
    return true;
  }
}

bool saltusi_feature_counts(const saltusi_touching* touching, const double from[3], double sine,
                            double touch) {
  assert(touching != NULL && from != NULL);
  const double* n = touching->outward;
  const end e = {touching->shape, touching->at,       touching->number,
                 touching->spot,  {n[0], n[1], n[2]}, touching->wide};
  return counts(&e, from, sine, touch);
}

/* Curvature: rotation of the normal of a surface, or of the tangent of a circle, per metre. */
static double curvature(const saltusi_closest_point* spot, const double n[3]) {
  double sum = spot->kind == SALTUSI_FEATURE_CIRCLE ? 1.0 / spot->size[0] : 0.0;
  for (int k = 0; k < 3 && spot->k == 2; k++) {
    const double* T[2] = {spot->T[k == 2], spot->T[k > 0]};
    sum += fabs(saltusi_dot3(spot->H[k], n)) /
           sqrt(saltusi_dot3(T[0], T[0]) * saltusi_dot3(T[1], T[1]));
  }
  return sum;
}

/* Largest change of the direction of a vector (chord length) for a relative change `part` of the
 * vector. */
static double chord_of(double part) {
  return part < 1.0 ? part * sqrt(2.0 / (1.0 + sqrt(1.0 - part * part))) : 2.0;
}

saltusi_capacity saltusi_capacity_of(const saltusi_closest_points* at, double reach, double delta,
                                     double size) {
  assert(at != NULL);
  const saltusi_closest_point* A = &at->spot[0];
  const saltusi_closest_point* B = &at->spot[1];
  saltusi_capacity out = {(reach + size * delta) * saltusi_closest_points_condition(at), delta};
  const double bent = fmax(curvature(A, at->normal), curvature(B, at->normal)) * out.wide;
  if (!(bent < 0.25)) { /* outside of the range of the linear model: no restriction */
    return (saltusi_capacity){INFINITY, 1.0};
  }
  if (!at->by_tangents) {
    out.sine += chord_of(reach / fabs(at->apart));
  } else if (A->k == 1 && B->k == 1) { /* grows as the two curves become parallel */
    double across[3];
    saltusi_cross(A->T[0], B->T[0], across);
    out.sine =
        (out.sine + bent) * sqrt(saltusi_dot3(A->T[0], A->T[0]) * saltusi_dot3(B->T[0], B->T[0]) /
                                 saltusi_dot3(across, across));
  } else {
    out.sine += bent;
  }
  return out;
}

static bool is_circle_on_plane(const saltusi_closest_point* A, const saltusi_closest_point* B) {
  return (A->kind == SALTUSI_FEATURE_CIRCLE && B->kind == SALTUSI_FEATURE_PLANE) ||
         (A->kind == SALTUSI_FEATURE_PLANE && B->kind == SALTUSI_FEATURE_CIRCLE);
}

static double sine_between(const saltusi_closest_point* A, const saltusi_closest_point* B) {
  double across[3];
  saltusi_cross(A->a, B->a, across);
  return sqrt(saltusi_dot3(across, across));
}

/* Parallel lines and circles in face contact have no unique closest point. */
static bool degenerate(const saltusi_listing* list, const saltusi_closest_point* A,
                       const saltusi_closest_point* B) {
  const bool lines = A->kind == SALTUSI_FEATURE_LINE && B->kind == SALTUSI_FEATURE_LINE;
  const bool flat = is_circle_on_plane(A, B);
  if (!lines && !flat) {
    return false; /* points have no direction */
  }
  const double sine = sine_between(A, B);
  const bool lies_down = flat && list->here && saltusi_lies_down(sine);
  return !lies_down && ((lines && sine <= SALTUSI_PARALLEL) || (flat && sine <= SALTUSI_LIES_FLAT));
}

static double size_of(const saltusi_shape* shape) {
  return shape->size < INFINITY ? shape->size : 0.0;
}

/* Whether closest points inside of the other shape, with a normal along their difference d, belong to features
 * that can touch later. At the contact d is their normal. Before it, d is nearly opposite to the outward normal. */
static bool may_come_out(const saltusi_listing* list, const saltusi_closest_points* at) {
  return list->all && !list->anything && !list->borderless && !at->by_tangents && at->apart < 0.0;
}

/* Excludes pairs on the far side of a thick shape. Between convex shapes the normal has to be close to the axis of
 * largest separation (one axis is enough). Points of a ring have to be closest to the face or side of the pair. */
static bool on_this_side(const saltusi_listing* list, const saltusi_closest_points* at, int a,
                         int b) {
  const saltusi_two* two = list->two;
  if (list->anything) {
    return true;
  }
  if (!at->by_tangents) {
    return at->apart > 0.0 || may_come_out(list, at); /* inside: other features have the exit of
                                                       * least depth */
  }
  if (two->A->stored == 1 && two->B->stored == 1) {
    return true; /* two ellipsoids: there is no other pair */
  }
  if (list->all) { /* every pair is listed, except those on the far side */
    return at->apart - at->spot[0].rho - at->spot[1].rho >= -list->reach;
  }
  if (list->best != NULL) {
    return saltusi_dot3(list->best->normal, at->normal) >= cos(fmin(2.0 * list->delta, 1.5));
  }
  for (int of = 0; of < 2; of++) { /* the point of the ring, relative to the solid of the surface */
    const saltusi_shape* solid = of == 0 ? two->A : two->B;
    const saltusi_body_pose* carrier = of == 0 ? two->a : two->b;
    double from[3], world[3], own[3];
    saltusi_foot foot;
    if (at->spot[of].kind == SALTUSI_FEATURE_PLANE || at->spot[of].kind == SALTUSI_FEATURE_CONE) {
      saltusi_minus3(carrier->x, two->b->x, from);
      saltusi_minus3(at->spot[1 - of].p, from, world);
      saltusi_turn_back(carrier->R, world, own);
      return saltusi_foot_of(solid, own, &foot) && foot.number == (of == 0 ? a : b);
    }
  }
  return true;
}

static bool has_borders(const saltusi_closest_point* spot) {
  return spot->kind == SALTUSI_FEATURE_PLANE || spot->kind == SALTUSI_FEATURE_LINE;
}

static void try_pair(const saltusi_listing* list, int a, int b, int branch) {
  const saltusi_two* two = list->two;
  saltusi_closest_points at;
  if (!saltusi_list_meet(list, a, b, branch, &at)) {
    return;
  }
  const double way = may_come_out(list, &at) ? -1.0 : 1.0; /* sign of the normal along d */
  if (!(way * at.apart - at.spot[0].rho - at.spot[1].rho <= list->reach) ||
      degenerate(list, &at.spot[0], &at.spot[1]) || !on_this_side(list, &at, a, b)) {
    return;
  }
  if (branch == 1 && is_circle_on_plane(&at.spot[0], &at.spot[1]) &&
      !saltusi_lies_down(sine_between(&at.spot[0], &at.spot[1]))) {
    return; /* the farthest point is listed only for a circle that settles into face contact */
  }
  const saltusi_capacity in = list->all
                                  ? saltusi_capacity_of(&at, list->reach, list->sine,
                                                        fmin(size_of(two->A), size_of(two->B)))
                                  : (saltusi_capacity){.sine = list->sine};
  end A = {two->A, two->a, a, &at.spot[0], {0.0}, in.wide};
  end B = {two->B, two->b, b, &at.spot[1], {0.0}, in.wide};
  for (int k = 0; k < 3; k++) {
    B.n[k] = way * at.normal[k];
    A.n[k] = -B.n[k];
  }
  double from[3];
  const double none[3] = {0.0, 0.0, 0.0};
  saltusi_minus3(two->a->x, two->b->x, from);
  const double touch = fmax(in.wide, 64.0 * DBL_EPSILON * (size_of(two->A) + size_of(two->B)));
  if (list->anything || (list->borderless && (has_borders(A.spot) || has_borders(B.spot)))) {
    saltusi_list_met(list, a, b, branch, &at);
    return;
  }
  if (counts(&A, from, in.sine, touch) && counts(&B, none, in.sine, touch)) {
    saltusi_list_met(list, a, b, branch, &at);
  }
}

static bool parallel(const saltusi_listing* list, const saltusi_feature* A,
                     const saltusi_feature* B) {
  double a[3], b[3], across[3];
  saltusi_turn(list->two->a->R, A->a, a);
  saltusi_turn(list->two->b->R, B->a, b);
  saltusi_cross(a, b, across);
  const double least = saltusi_rim_sine(list);
  return saltusi_dot3(across, across) <= least * least;
}

/* Whether a rim point of one shape may be on a plane of the other: its circle is nearly parallel
 * to it. */
static bool lies(const saltusi_listing* list, const saltusi_feature* circle,
                 const saltusi_body_pose* at, const saltusi_feature* plane,
                 const saltusi_body_pose* plane_at) {
  double a[3], m[3], across[3];
  saltusi_turn(at->R, circle->a, a);
  saltusi_turn(plane_at->R, plane->a, m);
  saltusi_cross(a, m, across);
  const double least = saltusi_rim_sine(list);
  return saltusi_dot3(across, across) <= least * least &&
         (circle->rho > 0.0 || saltusi_dot3(a, m) < 0.0);
}

static bool may_touch(const saltusi_listing* list, int a, int b) {
  const saltusi_two* two = list->two;
  const saltusi_feature* A = &two->A->feature[a - 1];
  const saltusi_feature* B = &two->B->feature[b - 1];
  const saltusi_feature* rim_A = saltusi_circle_of(two->A, a);
  const saltusi_feature* rim_B = saltusi_circle_of(two->B, b);
  if (rim_A != NULL || rim_B != NULL) {
    if (list->all_around && (rim_A != NULL) != (rim_B != NULL) &&
        (rim_A != NULL ? A->rho : B->rho) > 0.0) {
      return true;
    }
    if (rim_A != NULL && rim_B == NULL && A->rho > 0.0 && B->kind == SALTUSI_FEATURE_CIRCLE &&
        B->rho > 0.0) { /* two parallel rings */
      return parallel(list, rim_A, B);
    }
    if (rim_A != NULL && B->kind == SALTUSI_FEATURE_PLANE) {
      return lies(list, rim_A, two->a, B, two->b);
    }
    return rim_B != NULL && rim_A == NULL && A->kind == SALTUSI_FEATURE_PLANE &&
           lies(list, rim_B, two->b, A, two->a);
  }
  static const int parameters[] = {0, 1, 2, 1, 2, 2};
  const bool sharp = A->rho == 0.0 && B->rho == 0.0;
  return !sharp || parameters[A->kind] + parameters[B->kind] >= 2;
}

/* Pairs with a torus. A shape on the axis is at equal distance from the whole circle; the fixed points are listed
 * then. */
void saltusi_list_ring(const saltusi_listing* list) {
  assert(list != NULL);
  const int before = list->least == NULL ? list->out->count : 0;
  saltusi_list_features(list);
  if (list->least == NULL ? list->out->count == before : !(list->least->distance < INFINITY)) {
    saltusi_listing again = *list;
    again.all_around = true;
    saltusi_list_features(&again);
  }
}

/* Pairs between convex shapes; none if their separation exceeds the reach. */
void saltusi_list_convex(const saltusi_listing* list) {
  assert(list != NULL);
  saltusi_separation best;
  saltusi_listing with = *list;
  saltusi_convex_near(list->two, &best);
  if (best.distance > list->reach) {
    return;
  }
  with.best = &best;
  with.delta = fmin(fmax(asin(fmin(list->sine, 1.0)), LEAST_DELTA), LARGEST_DELTA);
  with.sine = list->all ? fmax(list->sine, LEAST_DELTA) : sin(with.delta);
  const int before = list->out->count;
  saltusi_list_features(&with);
  if (list->out->count == before && best.distance <= 0.0) { /* contact, beyond reach by rounding */
    with.reach += 64.0 * DBL_EPSILON * (size_of(list->two->A) + size_of(list->two->B));
    saltusi_list_features(&with);
    with.reach = list->reach;
  }
  if (list->out->count == before && best.distance <= 0.0) { /* a local maximum of the separation,
                                                             * not the global one */
    saltusi_convex_separation(list->two, &best);
    saltusi_list_features(&with);
  }
  /* deep overlap: the direction of least depth need not be the normal of a pair; list the pairs with the closest
   * normals */
  with.borderless = true;
  for (double delta = LEAST_DELTA;
       list->out->count == before && best.distance <= 0.0 && delta < 1.5; delta *= 2.5) {
    with.delta = delta;
    with.sine = sin(delta);
    saltusi_list_features(&with);
  }
  if (list->out->count == before && best.distance <= 0.0) {
    with.anything = true;
    saltusi_list_features(&with);
  }
}

void saltusi_list_features(const saltusi_listing* list) {
  assert(list != NULL);
  const saltusi_two* two = list->two;
  for (int a = 1; a <= two->A->stored; a++) {
    const saltusi_feature_kind kind = two->A->feature[a - 1].kind;
    for (int b = 1; b <= two->B->stored; b++) {
      const saltusi_feature_kind other = two->B->feature[b - 1].kind;
      if (!may_touch(list, a, b)) {
        continue;
      }
      const bool curves = (kind == SALTUSI_FEATURE_CIRCLE || other == SALTUSI_FEATURE_CIRCLE) &&
                          kind != SALTUSI_FEATURE_POINT && other != SALTUSI_FEATURE_POINT &&
                          kind != SALTUSI_FEATURE_PLANE && other != SALTUSI_FEATURE_PLANE;
      const bool flat = (kind == SALTUSI_FEATURE_CIRCLE && other == SALTUSI_FEATURE_PLANE) ||
                        (kind == SALTUSI_FEATURE_PLANE && other == SALTUSI_FEATURE_CIRCLE);
      try_pair(list, a, b, 0);
      if (curves || (flat && list->here)) {
        try_pair(list, a, b, 1);
      }
    }
  }
}
