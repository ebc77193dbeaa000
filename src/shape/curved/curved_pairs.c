/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_pairs.c - pairs of features of spheres, capsules, cylinders, cones, ellipsoids and tori, among each other
 * and with half-spaces, boxes and hulls. Every listed pair is a necessary condition, so all of them hold at once: a
 * rounded end against the other shape as a whole, and the pairs of the sides.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { KINDS = SALTUS_SHAPE_HEIGHTFIELD + 1 };

/* The shape with the smaller rank comes first. */
static const int rank[KINDS] = {
    [SALTUS_SHAPE_SPHERE] = 1,     [SALTUS_SHAPE_CAPSULE] = 2, [SALTUS_SHAPE_CYLINDER] = 3,
    [SALTUS_SHAPE_CONE] = 4,       [SALTUS_SHAPE_TORUS] = 5,   [SALTUS_SHAPE_ELLIPSOID] = 6,
    [SALTUS_SHAPE_HALF_SPACE] = 7, [SALTUS_SHAPE_BOX] = 8,     [SALTUS_SHAPE_HULL] = 9};
enum { RANKS = 10 };

/* Function that lists the pairs of two ranks; NULL: not supported. */
static saltusi_lister* const listers[RANKS][RANKS] = {[1] = {[1] = saltusi_list_ball,
                                                             [2] = saltusi_list_ball,
                                                             [3] = saltusi_list_ball,
                                                             [4] = saltusi_list_ball,
                                                             [5] = saltusi_list_ball,
                                                             [6] = saltusi_list_ball,
                                                             [7] = saltusi_list_ball,
                                                             [8] = saltusi_list_ball,
                                                             [9] = saltusi_list_ball},
                                                      [2] = {[2] = saltusi_list_capsules,
                                                             [3] = saltusi_list_convex,
                                                             [4] = saltusi_list_convex,
                                                             [5] = saltusi_list_ring,
                                                             [6] = saltusi_list_convex,
                                                             [7] = saltusi_list_on_plane,
                                                             [8] = saltusi_list_capsule_polytope,
                                                             [9] = saltusi_list_capsule_polytope},
                                                      [3] = {[3] = saltusi_list_convex,
                                                             [4] = saltusi_list_convex,
                                                             [5] = saltusi_list_ring,
                                                             [6] = saltusi_list_convex,
                                                             [7] = saltusi_list_on_plane,
                                                             [8] = saltusi_list_convex,
                                                             [9] = saltusi_list_convex},
                                                      [4] = {[4] = saltusi_list_convex,
                                                             [5] = saltusi_list_ring,
                                                             [6] = saltusi_list_convex,
                                                             [7] = saltusi_list_on_plane,
                                                             [8] = saltusi_list_convex,
                                                             [9] = saltusi_list_convex},
                                                      [5] = {[5] = saltusi_list_ring,
                                                             [6] = saltusi_list_ring,
                                                             [7] = saltusi_list_on_plane,
                                                             [8] = saltusi_list_ring,
                                                             [9] = saltusi_list_ring},
                                                      [6] = {[6] = saltusi_list_convex,
                                                             [7] = saltusi_list_on_plane,
                                                             [8] = saltusi_list_convex,
                                                             [9] = saltusi_list_convex}};

static bool in_order(const saltusi_two* two) {
  return rank[two->A->kind] <= rank[two->B->kind];
}

static saltusi_two ordered(const saltusi_two* two) {
  return in_order(two) ? *two : (saltusi_two){two->B, two->b, two->A, two->a};
}

/* A hollow sphere is supported with spheres and capsules, whose farthest points are features. */
static bool treats(const saltusi_shape* A, const saltusi_shape* B) {
  const bool first = rank[A->kind] <= rank[B->kind];
  const saltusi_shape* one = first ? A : B;
  const saltusi_shape* two = first ? B : A;
  if (one->rho < 0.0 || two->rho < 0.0) {
    const saltusi_shape* inside = one->rho < 0.0 ? two : one;
    return !(one->rho < 0.0 && two->rho < 0.0) &&
           (inside->kind == SALTUS_SHAPE_SPHERE || inside->kind == SALTUS_SHAPE_CAPSULE);
  }
  return listers[rank[one->kind]][rank[two->kind]] != NULL;
}

/* Outward direction of edges and vertices of boxes and hulls, where d alone does not determine
 * the side. */
static void add_side(const saltusi_shape* shape, const saltusi_body_pose* at, int number,
                     double sign, double side[3]) {
  if (shape->polytope != NULL) {
    double own[3], world[3];
    saltusi_outward_of(shape, number, own);
    saltusi_turn(at->R, own, world);
    saltusi_along(sign, world, side, side);
  }
}

static void pair_of(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                    saltusi_pair* out) {
  assert(numbers->a >= 1 && numbers->a <= two->A->stored);
  assert(numbers->b >= 1 && numbers->b <= two->B->stored);
  *out = (saltusi_pair){.A = &two->A->feature[numbers->a - 1],
                        .B = &two->B->feature[numbers->b - 1],
                        .a = two->a,
                        .b = two->b,
                        .branch = numbers->branch,
                        .turned = !in_order(two)};
  add_side(two->A, two->a, numbers->a, -1.0, out->side);
  add_side(two->B, two->b, numbers->b, 1.0, out->side);
}

bool saltusi_list_meet(const saltusi_listing* list, int a, int b, int branch,
                       saltusi_closest_points* at) {
  assert(list != NULL && at != NULL);
  const saltusi_feature_candidate numbers = {.a = a, .b = b, .branch = branch};
  saltusi_pair pair;
  pair_of(list->two, &numbers, &pair);
  return saltusi_pair_meet_only(&pair, true, at);
}

bool saltusi_list_met(const saltusi_listing* list, int a, int b, int branch,
                      const saltusi_closest_points* at) {
  assert(list != NULL && at != NULL);
  saltusi_feature_candidate item = {.a = a, .b = b, .branch = branch};
  item.gap = at->apart - at->spot[0].rho - at->spot[1].rho;
  if (!(item.gap <= list->reach)) {
    return false;
  }
  const saltusi_closest_point* on = &at->spot[list->flipped ? 0 : 1];
  const double rho = list->flipped ? -on->rho : on->rho;
  for (int k = 0; k < 3; k++) {
    item.point[k] = on->p[k] + rho * at->normal[k] + list->two->b->x[k];
    item.normal[k] = list->flipped ? -at->normal[k] : at->normal[k];
  }
  if (list->flipped) {
    item.a = b;
    item.b = a;
  }
  if (list->least == NULL) {
    saltusi_candidate_add(list->out, &item);
  } else if (item.gap < list->least->distance) {
    list->least->distance = item.gap;
    memcpy(list->least->normal, item.normal, sizeof item.normal);
    memcpy(list->least->point, item.point, sizeof item.point);
  }
  return true;
}

bool saltusi_list_add(const saltusi_listing* list, int a, int b, int branch) {
  assert(list != NULL);
  saltusi_closest_points at;
  return saltusi_list_meet(list, a, b, branch, &at) && saltusi_list_met(list, a, b, branch, &at);
}

void saltusi_least_gap(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  const saltusi_listing list = {.two = two, .reach = INFINITY, .least = out};
  out->distance = INFINITY;
  listers[rank[two->A->kind]][rank[two->B->kind]](&list);
}

/* Sorts by (a, b, branch): few items, nearly sorted. */
static void sort(saltusi_feature_candidate* item, int count) {
  for (int i = 1; i < count; i++) {
    const saltusi_feature_candidate moved = item[i];
    int j = i;
    for (; j > 0; j--) {
      const saltusi_feature_candidate* last = &item[j - 1];
      if (last->a < moved.a || (last->a == moved.a && last->b < moved.b) ||
          (last->a == moved.a && last->b == moved.b && last->branch <= moved.branch)) {
        break;
      }
      item[j] = *last;
    }
    item[j] = moved;
  }
}

static void pairs(const saltusi_two* given, const saltusi_near* near, saltusi_candidates* out) {
  const saltusi_two two = ordered(given);
  const bool ball = two.A->kind == SALTUS_SHAPE_SPHERE; /* every direction is a normal: no sine */
  const saltusi_listing list = {.two = &two,
                                .reach = near->reach,
                                .sine = near->all || ball   ? near->delta
                                        : near->delta < 1.5 ? sin(near->delta)
                                                            : 1.0,
                                .all = near->all,
                                .here = near->here && !near->all,
                                .flipped = !in_order(given),
                                .out = out};
  const int before = out->count;
  if (two.A->rho < 0.0 || two.B->rho < 0.0) {
    saltusi_list_inside(&list);
  } else {
    listers[rank[two.A->kind]][rank[two.B->kind]](&list);
  }
  const int written = out->count < out->capacity ? out->count : out->capacity;
  if (written - before > 1) {
    sort(out->item + before, written - before);
  }
}

static int guards(const saltusi_two* given, const saltusi_feature_candidate* numbers,
                  double guard[SALTUSI_GUARDS]) {
  saltusi_pair pair;
  saltusi_closest_points at;
  pair_of(given, numbers, &pair);
  if (!saltusi_pair_meet(&pair, &at)) {
    guard[0] = -1.0;
    return 1;
  }
  return saltusi_curved_guards(given, numbers, &at, guard);
}

static void separation(const saltusi_two* given, saltusi_separation* out) {
  const saltusi_two two = ordered(given);
  saltusi_curved_separation(&two, out);
  if (!in_order(given)) {
    for (int k = 0; k < 3; k++) {
      out->normal[k] = -out->normal[k];
    }
  }
}

const saltusi_family saltusi_curved = {
    .treats = treats, .pairs = pairs, .separation = separation, .pair = pair_of, .guards = guards};
