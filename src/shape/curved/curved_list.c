/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_list.c - pairs of features of curved shapes within reach: balls, capsules, and shapes on a half-space.
 */
#include "shape/curved/curved_list.h"
#include "math/rotation.h"
#include "shape/curved/curved.h"

#include <assert.h>
#include <math.h>

void saltusi_seen_from(const saltusi_body_pose* other, const saltusi_body_pose* at,
                       const double own[3], double out[3]) {
  assert(other != NULL && at != NULL && own != NULL && out != NULL);
  double world[3], shift[3];
  saltusi_turn(at->R, own, world);
  saltusi_minus3(at->x, other->x, shift);
  saltusi_along(1.0, shift, world, world);
  saltusi_turn_back(other->R, world, out);
}

/* Two balls, in closed form: thousands of these are evaluated in a step. */
static void list_balls(const saltusi_listing* list) {
  const saltusi_two* two = list->two;
  const saltusi_feature* A = &two->A->feature[0];
  const saltusi_feature* B = &two->B->feature[0];
  double pA[3], pB[3], d[3];
  saltusi_turn(two->a->R, A->p, pA);
  saltusi_turn(two->b->R, B->p, pB);
  for (int k = 0; k < 3; k++) {
    d[k] = (two->a->x[k] - two->b->x[k]) + (pA[k] - pB[k]);
  }
  const double square = saltusi_dot3(d, d), far = list->reach + A->rho + B->rho;
  if (!(square <= far * far)) {
    return;
  }
  const double length = sqrt(square);
  const double gap = length - A->rho - B->rho;
  if (!(gap <= list->reach) || !(length > 0.0)) {
    return;
  }
  saltusi_feature_candidate item = {
      .a = SALTUSI_SPHERE_POINT, .b = SALTUSI_SPHERE_POINT, .gap = gap};
  for (int k = 0; k < 3; k++) {
    item.normal[k] = d[k] / length;
    item.point[k] = two->b->x[k] + pB[k] + B->rho * item.normal[k];
  }
  saltusi_candidate_add(list->out, &item);
}

void saltusi_list_round(const saltusi_listing* list, int of, int number) {
  assert(list != NULL && (of == 0 || of == 1));
  const saltusi_two* two = list->two;
  const saltusi_shape* solid = of == 0 ? two->B : two->A;
  const saltusi_feature* own = &(of == 0 ? two->A : two->B)->feature[number - 1];
  double point[3];
  saltusi_foot foot;
  saltusi_seen_from(of == 0 ? two->b : two->a, of == 0 ? two->a : two->b, own->p, point);
  const bool found = saltusi_foot_of(solid, point, &foot);
  for (int other = 1; other <= solid->stored; other++) {
    const bool here = found && other == foot.number;
    const bool reached = list->all && saltusi_circle_of(solid, other) == NULL &&
                         saltusi_region_of(solid, other, point) >= -list->reach &&
                         (!found || foot.distance - own->rho <= list->reach);
    const int a = of == 0 ? number : other, b = of == 0 ? other : number;
    saltusi_closest_points at;
    if ((here || reached) && saltusi_list_meet(list, a, b, 0, &at) &&
        (here ||
         at.apart - at.spot[0].rho - at.spot[1].rho >= -list->reach)) { /* not on the far side */
      saltusi_list_met(list, a, b, 0, &at);
    }
  }
  if (!found && solid->kind == SALTUS_SHAPE_TORUS) { /* on the axis: the whole circle */
    for (int i = 1; i <= SALTUSI_RIM_POINTS; i++) {
      saltusi_list_add(list, of == 0 ? number : i, of == 0 ? i : number, 0);
    }
  }
}

void saltusi_list_ball(const saltusi_listing* list) {
  assert(list != NULL);
  const saltusi_two* two = list->two;
  if (two->B->kind == SALTUS_SHAPE_SPHERE) {
    list_balls(list);
    return;
  }
  if (list->all) {
    saltusi_list_round(list, 0, SALTUSI_SPHERE_POINT);
    return;
  }
  double point[3];
  saltusi_foot foot;
  saltusi_seen_from(two->b, two->a, two->A->feature[0].p, point);
  if (saltusi_foot_of(two->B, point, &foot)) {
    saltusi_list_add(list, SALTUSI_SPHERE_POINT, foot.number, 0);
  } else if (two->B->kind == SALTUS_SHAPE_TORUS) { /* on the axis: the whole circle */
    for (int i = 1; i <= SALTUSI_RIM_POINTS; i++) {
      saltusi_list_add(list, SALTUSI_SPHERE_POINT, i, 0);
    }
  }
}

/* Pairs of each end with the whole other capsule, and of the sides if their closest points are inside of both. For
 * nearly
 * parallel sides the gap at the ends exceeds the gap of the sides by less than (length x sine)^2 / (8 rho). */
void saltusi_list_capsules(const saltusi_listing* list) {
  assert(list != NULL);
  const saltusi_two* two = list->two;
  int met[2] = {0, 0}; /* the end of B that is paired with an end of A */
  for (int i = 0; i < 2; i++) {
    double point[3];
    saltusi_foot foot;
    saltusi_seen_from(two->b, two->a, two->A->feature[i].p, point);
    if (list->all) {
      saltusi_list_round(list, 0, SALTUSI_CAPSULE_END + i);
    } else if (saltusi_foot_of(two->B, point, &foot)) {
      saltusi_list_add(list, SALTUSI_CAPSULE_END + i, foot.number, 0);
      met[i] = foot.number;
    }
  }
  for (int i = 0; i < 2; i++) {
    double point[3];
    saltusi_foot foot;
    const int end = SALTUSI_CAPSULE_END + i;
    saltusi_seen_from(two->a, two->b, two->B->feature[i].p, point);
    if (list->all) { /* pairs of ends are listed already */
      if (saltusi_region_of(two->A, SALTUSI_CAPSULE_SIDE, point) >= -list->reach) {
        saltusi_list_add(list, SALTUSI_CAPSULE_SIDE, end, 0);
      }
    } else if (saltusi_foot_of(two->A, point, &foot) &&
               (foot.number == SALTUSI_CAPSULE_SIDE ||
                met[foot.number - SALTUSI_CAPSULE_END] != end)) {
      saltusi_list_add(list, foot.number, end, 0);
    }
  }
  saltusi_list_lines(list, SALTUSI_CAPSULE_SIDE, SALTUSI_CAPSULE_SIDE);
}

bool saltusi_list_lines(const saltusi_listing* list, int a, int b) {
  assert(list != NULL);
  const saltusi_feature* A = &list->two->A->feature[a - 1];
  const saltusi_feature* B = &list->two->B->feature[b - 1];
  const saltusi_pair pair = {.A = A, .B = B, .a = list->two->a, .b = list->two->b};
  saltusi_closest_points at;
  double across[3];
  if (!saltusi_pair_meet(&pair, &at)) {
    return false;
  }
  saltusi_cross(at.spot[0].a, at.spot[1].a, across);
  if (saltusi_dot3(across, across) < SALTUSI_PARALLEL * SALTUSI_PARALLEL) {
    return false;
  }
  const double u = at.spot[0].u[0], v = at.spot[1].u[0];
  const double size = fmin(list->two->A->size, list->two->B->size);
  const double wide =
      list->all ? saltusi_capacity_of(&at, list->reach, list->sine, size).wide : 0.0;
  return u > -wide && u < A->size[0] + wide && v > -wide && v < B->size[0] + wide &&
         saltusi_list_add(list, a, b, 0);
}

/* Sine of the angle between a circle and the plane of a half-space. */
static double tilt(const saltusi_two* two, int circle) {
  double a[3], m[3], across[3];
  saltusi_turn(two->a->R, two->A->feature[circle - 1].a, a);
  saltusi_turn(two->b->R, two->B->feature[0].a, m);
  saltusi_cross(a, m, across);
  return sqrt(saltusi_dot3(across, across));
}

/* The lowest point of a circle, or its fixed points for possible face contact. For a circle that settles into face
 * contact, the point opposite to the lowest too: it closes last, and its closing is the impact
 * (docs/theory/contact-geometry.md). */
static void list_circle(const saltusi_listing* list, int circle, int first_point) {
  const double sine = tilt(list->two, circle);
  const bool lies_down = list->here && saltusi_lies_down(sine);
  if (sine > SALTUSI_LIES_FLAT || lies_down || list->least != NULL) {
    saltusi_list_add(list, circle, 1, 0);
  }
  if (lies_down) {
    saltusi_list_add(list, circle, 1, 1);
  }
  if (sine <= saltusi_rim_sine(list)) {
    for (int i = 0; i < SALTUSI_RIM_POINTS; i++) {
      saltusi_list_add(list, first_point + i, 1, 0);
    }
  }
}

void saltusi_list_on_plane(const saltusi_listing* list) {
  assert(list != NULL);
  switch (list->two->A->kind) {
  case SALTUS_SHAPE_CAPSULE:
    saltusi_list_add(list, SALTUSI_CAPSULE_END, 1, 0);
    saltusi_list_add(list, SALTUSI_CAPSULE_END + 1, 1, 0);
    break;
  case SALTUS_SHAPE_CYLINDER:
    list_circle(list, SALTUSI_CYLINDER_RIM, 1);
    list_circle(list, SALTUSI_CYLINDER_RIM + 1, 1 + SALTUSI_RIM_POINTS);
    break;
  case SALTUS_SHAPE_CONE:
    saltusi_list_add(list, SALTUSI_CONE_TIP, 1, 0);
    list_circle(list, SALTUSI_CONE_RIM, SALTUSI_CONE_TIP + 1);
    break;
  case SALTUS_SHAPE_TORUS:
    list_circle(list, SALTUSI_TORUS_CIRCLE, 1);
    break;
  default: /* ellipsoid */
    saltusi_list_add(list, 1, 1, 0);
    break;
  }
}

void saltusi_list_inside(const saltusi_listing* list) {
  assert(list != NULL);
  const saltusi_shape* A = list->two->A;
  if (A->kind == SALTUS_SHAPE_SPHERE && list->two->B->kind == SALTUS_SHAPE_SPHERE) {
    saltusi_list_add(list, SALTUSI_SPHERE_POINT, SALTUSI_SPHERE_POINT, 0);
    return;
  }
  saltusi_list_add(list, SALTUSI_SPHERE_POINT, SALTUSI_CAPSULE_END, 0);
  saltusi_list_add(list, SALTUSI_SPHERE_POINT, SALTUSI_CAPSULE_END + 1, 0);
}
