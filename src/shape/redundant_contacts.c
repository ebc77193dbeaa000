/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * redundant_contacts.c - contacts that follow from others of the same two bodies (docs/theory/contact-geometry.md, 9).
 *
 *   p_i = sum a_j p_j,  a_j >= 0,  sum a_j = 1,  rho_j >= rho_i      points of one body, computed once
 *   on a plane g_i >= sum a_j g_j, G_i = sum a_j G_j for any motion, for normal rows
 *
 * So if no p_j penetrates a plane, p_i does not either, and a frictionless law that holds for all j holds for i. On a
 * bounded face this is valid while all p_j are over it.
 */
#include "math/nonnegative.h"
#include "math/rotation.h"
#include "shape/plane/planar_outline.h"
#include "shape/polytope/polytope_near.h"
#include "shape/world.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest number of points of one body; with more points no contact is omitted. */
enum { MOST = 256, WIDTH = SALTUSI_NONNEGATIVE_WIDTH };

/* Points of one body and material. */
typedef struct cloud {
  int count;
  int instance[MOST], feature[MOST];
  double rho[MOST];
  double column[MOST][WIDTH]; /* from the middle, in units of the largest distance, then 1 */
} cloud;

/* Whether feature k of a shape is a point with a whole ball of radius rho about it in the shape. */
static bool is_ball(const saltusi_shape* shape, int k) {
  switch (shape->kind) {
  case SALTUS_SHAPE_SPHERE:
  case SALTUS_SHAPE_CAPSULE:
  case SALTUS_SHAPE_BOX:
  case SALTUS_SHAPE_HULL:
  case SALTUS_SHAPE_CIRCLE:
  case SALTUS_SHAPE_POLYGON:
    break;
  default:
    return false;
  }
  if (shape->feature[k].kind != SALTUSI_FEATURE_POINT || shape->feature[k].rho < 0.0) {
    return false;
  }
  return shape->outline == NULL ||
         (k < shape->outline->points && shape->outline->joint[k] == SALTUSI_JOINT_CONVEX);
}

static bool same_kin(const saltusi_instance* x, const saltusi_instance* y) {
  return x->carrier == y->carrier && x->material == y->material && x->groups == y->groups;
}

/* Points of instance i and of later instances of its body with the same material; false: too many, or only those of i,
 * which are the vertices of a hull. */
static bool gather(const saltusi_world* world, const int* next, int i, cloud* c) {
  int instances = 0;
  c->count = 0;
  for (int j = i; j >= 0; j = next[j]) {
    const saltusi_instance* at = &world->instance[j];
    if (!same_kin(at, &world->instance[i])) {
      continue;
    }
    const int before = c->count;
    for (int k = 0; k < at->shape.stored; k++) {
      if (!is_ball(&at->shape, k)) {
        continue;
      }
      if (c->count == MOST) {
        return false;
      }
      c->instance[c->count] = j;
      c->feature[c->count] = k;
      c->rho[c->count++] = at->shape.feature[k].rho;
    }
    instances += c->count > before ? 1 : 0;
  }
  return instances > 1;
}

static void scale(const saltusi_world* world, cloud* c) {
  double middle[3] = {0.0, 0.0, 0.0}, size = 0.0;
  for (int k = 0; k < c->count; k++) {
    const double* p = world->instance[c->instance[k]].shape.feature[c->feature[k]].p;
    memset(c->column[k], 0, sizeof c->column[k]);
    memcpy(c->column[k], p, 3 * sizeof(double));
    saltusi_along(1.0 / c->count, p, middle, middle);
  }
  for (int k = 0; k < c->count; k++) {
    saltusi_minus3(c->column[k], middle, c->column[k]);
    size = fmax(size, sqrt(saltusi_dot3(c->column[k], c->column[k])));
  }
  for (int k = 0; k < c->count; k++) {
    for (int x = 0; x < 3 && size > 0.0; x++) {
      c->column[k][x] /= size;
    }
    c->column[k][3] = 1.0;
  }
}

/* Points of the set that are means of others, from the last down: the points of a mean are kept, or are means of kept
 * points. */
static saltus_status find_means(saltusi_world* world, const cloud* c, saltusi_pool* pool) {
  const double rounding = 1e-12;
  bool gone[MOST] = {false}, unused[MOST];
  for (int i = c->count - 1; i >= 0; i--) {
    for (int j = 0; j < c->count; j++) {
      unused[j] = j == i || gone[j] || c->rho[j] < c->rho[i];
    }
    saltusi_nonnegative sum;
    saltusi_nonnegative_sum(4, c->count, c->column, unused, c->column[i], &sum);
    if (sum.count == 0 || sum.left > rounding) {
      continue;
    }
    gone[i] = true;
    saltusi_instance* at = &world->instance[c->instance[i]];
    if (at->mean == NULL) {
      at->mean = SALTUSI_TAKE(pool, saltusi_mean, at->shape.stored);
      if (at->mean == NULL) {
        return SALTUS_ERR_MEMORY;
      }
    }
    saltusi_mean* mean = &at->mean[c->feature[i]];
    mean->count = sum.count;
    for (int k = 0; k < sum.count; k++) {
      mean->instance[k] = c->instance[sum.column[k]];
      mean->feature[k] = c->feature[sum.column[k]];
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_world_find_means(saltusi_world* world, saltusi_pool* pool) {
  assert(world != NULL && pool != NULL);
  cloud* c = SALTUSI_TAKE(pool, cloud, 1);
  bool* met = SALTUSI_TAKE(pool, bool, world->count);
  int* next = SALTUSI_TAKE(pool, int, world->count); /* of the same carrier; -1: no more */
  int* first = SALTUSI_TAKE(pool, int, world->carriers);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < world->carriers; i++) {
    first[i] = -1;
  }
  for (int i = world->count - 1; i >= 0; i--) {
    next[i] = first[world->instance[i].carrier];
    first[world->instance[i].carrier] = i;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < world->count && status == SALTUS_OK; i++) {
    if (met[i]) {
      continue;
    }
    for (int j = i; j >= 0; j = next[j]) {
      met[j] = met[j] || same_kin(&world->instance[i], &world->instance[j]);
    }
    if (gather(world, next, i, c)) {
      scale(world, c);
      status = find_means(world, c, pool);
    }
  }
  return status;
}

/* Whether a point (world) is over a face: its depth is less than the distance to any side, and to the far end. */
static bool is_over(const saltusi_instance* at, const saltusi_body_pose* on, int number,
                    const double world_point[3]) {
  const saltusi_shape* shape = &at->shape;
  const saltusi_feature* plane = &shape->feature[number - 1];
  double from[3], p[3];
  saltusi_minus3(world_point, on->x, from);
  saltusi_turn_back(on->R, from, p);
  saltusi_minus3(p, plane->p, from);
  const double depth = fmax(0.0, -saltusi_dot3(plane->a, from));
  if (!(depth <= 0.5 * at->thickness)) {
    return false;
  }
  if (shape->polytope != NULL) {
    const int face = number - saltusi_face_number(shape->polytope, 0);
    return saltusi_polytope_outside(shape->polytope, face, p) <= -depth;
  }
  const double u = saltusi_dot3(plane->e, from);
  return shape->outline != NULL && u >= depth && u <= plane->size[0] - depth;
}

/* Whether the contact of a point of one body on a plane of the other is redundant. */
static bool follows(const saltusi_world* world, const saltusi_world_query* query, int instance,
                    int number, int plane, int plane_number) {
  const saltusi_instance *at = &world->instance[instance], *on = &world->instance[plane];
  if (at->mean == NULL || number < 1 || number > at->shape.stored ||
      at->mean[number - 1].count == 0 || on->shape.mesh != NULL || plane_number < 1 ||
      plane_number > on->shape.stored ||
      on->shape.feature[plane_number - 1].kind != SALTUSI_FEATURE_PLANE) {
    return false;
  }
  const saltusi_mean* mean = &at->mean[number - 1];
  const int law = saltusi_world_law(world, instance < plane ? instance : plane,
                                    instance < plane ? plane : instance);
  for (int k = 0; k < mean->count; k++) {
    const int j = mean->instance[k];
    if (saltusi_world_law(world, j < plane ? j : plane, j < plane ? plane : j) != law) {
      return false;
    }
    const saltusi_body_pose* body = &query->carrier[at->carrier];
    double p[3];
    saltusi_turn(body->R, world->instance[j].shape.feature[mean->feature[k]].p, p);
    saltusi_along(1.0, body->x, p, p);
    if (isfinite(on->arm) && !is_over(on, &query->carrier[on->carrier], plane_number, p)) {
      return false;
    }
  }
  return true;
}

bool saltusi_world_redundant_contacts(const saltusi_world* world, const saltusi_world_query* query,
                                      const saltusi_near_pair* meeting,
                                      const saltusi_feature_candidate* pair) {
  assert(world != NULL && query != NULL && meeting != NULL && pair != NULL);
  return world->smooth != NULL && world->smooth[meeting->law] &&
         (follows(world, query, meeting->a, pair->a, meeting->b, pair->b) ||
          follows(world, query, meeting->b, pair->b, meeting->a, pair->a));
}
