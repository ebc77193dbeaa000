/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_pairs.c - pairs of features of boxes, hulls and half-spaces (docs/theory/contact-polytopes.md).
 *
 * Two convex bodies are separated if one axis separates them, so the axis of largest separation is selected, and every
 * vertex has to stay outside along it. Listed are, among the features whose normal cones are within 2 delta of that
 * axis, vertices over faces (of both bodies) and crossing edges, each with its own normal and gap. In face contact
 * these are the corners of the common area, each once:
 *   a vertex is over a face when it is not further than `touch` outside of any side of it
 *   edges cross when the ends of each are more than `touch` on different sides of the other
 *   a vertex on a vertex counts as that of A; a vertex on an edge without a near face counts as two edges
 */
#include "math/rotation.h"
#include "shape/polytope/polytope_axes.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_half_space(const saltusi_shape* shape) {
  return shape->kind == SALTUS_SHAPE_HALF_SPACE;
}

static bool treats(const saltusi_shape* A, const saltusi_shape* B) {
  return !(is_half_space(A) && is_half_space(B));
}

/* ------------------------------------------------------------------------------------ half-space --- */

/* A plane in axes of the body in contact with it. */
typedef struct ground {
  const saltusi_shape* body;
  const saltusi_body_pose* at;
  double normal[3];       /* body axes */
  double offset;          /* m, the height of p is normal . p - offset */
  double world_normal[3]; /* of the plane */
  double sign;            /* 1: the body is A */
} ground;

static void ground_of(const saltusi_two* two, ground* out) {
  const bool below = is_half_space(two->B);
  const saltusi_shape* plane = below ? two->B : two->A;
  const saltusi_body_pose* carrier = below ? two->b : two->a;
  out->body = below ? two->A : two->B;
  out->at = below ? two->a : two->b;
  out->sign = below ? 1.0 : -1.0;
  double p[3], from[3];
  saltusi_turn(carrier->R, plane->feature[0].a, out->world_normal);
  saltusi_turn(carrier->R, plane->feature[0].p, p);
  saltusi_minus3(carrier->x, out->at->x, from);
  saltusi_along(1.0, from, p, p);
  saltusi_turn_back(out->at->R, out->world_normal, out->normal);
  out->offset = saltusi_dot3(out->world_normal, p) + out->body->rho;
}

static double height(const ground* over, int vertex) {
  return saltusi_dot3(over->normal, over->body->polytope->vertex[vertex]) - over->offset;
}

/* The point of the surface nearest to the plane and, on B, the one opposite. */
static void ground_place(const ground* over, int vertex, double gap, double point[3]) {
  double p[3];
  saltusi_turn(over->at->R, over->body->polytope->vertex[vertex], p);
  const double down = over->body->rho + (over->sign > 0.0 ? gap : 0.0);
  for (int k = 0; k < 3; k++) {
    point[k] = p[k] + over->at->x[k] - down * over->world_normal[k];
  }
}

static void ground_pairs(const saltusi_two* two, const saltusi_near* near,
                         saltusi_candidates* out) {
  ground over;
  ground_of(two, &over);
  const saltusi_polytope* body = over.body->polytope;
  const double sine = saltusi_sine_of(near->delta);
  for (int v = 0; v < body->vertices; v++) {
    const double gap = height(&over, v);
    if (!(gap <= near->reach) || !saltusi_in_cone(body, v, over.normal, sine)) {
      continue;
    }
    saltusi_feature_candidate pair = {.gap = gap};
    pair.a = over.sign > 0.0 ? saltusi_vertex_number(v) : 1;
    pair.b = over.sign > 0.0 ? 1 : saltusi_vertex_number(v);
    for (int k = 0; k < 3; k++) {
      pair.normal[k] = over.sign * over.world_normal[k];
    }
    ground_place(&over, v, gap, pair.point);
    saltusi_candidate_add(out, &pair);
  }
}

static void ground_separation(const saltusi_two* two, saltusi_separation* out) {
  ground over;
  ground_of(two, &over);
  const double down[3] = {-over.normal[0], -over.normal[1], -over.normal[2]};
  const int lowest = saltusi_polytope_support(over.body->polytope, down, 0);
  out->distance = height(&over, lowest);
  for (int k = 0; k < 3; k++) {
    out->normal[k] = over.sign * over.world_normal[k];
  }
  ground_place(&over, lowest, out->distance, out->point);
}

/* ------------------------------------------------------------------------------------ the family --- */

static void pairs(const saltusi_two* two, const saltusi_near* near, saltusi_candidates* out) {
  if (is_half_space(two->A) || is_half_space(two->B)) {
    ground_pairs(two, near, out);
  } else {
    saltusi_polytope_near(two, near, out);
  }
}

static void separation(const saltusi_two* two, saltusi_separation* out) {
  if (is_half_space(two->A) || is_half_space(two->B)) {
    ground_separation(two, out);
  } else {
    saltusi_polytope_separation(two, out);
  }
}

/* The faces of an edge, outward, in the world. */
static void add_outward(const saltusi_shape* shape, const saltusi_body_pose* at, int number,
                        double scale, double sum[3]) {
  const saltusi_polytope* body = shape->polytope;
  const saltusi_edge* edge = &body->edge[number - 1 - body->vertices];
  double both[3], world[3];
  saltusi_along(1.0, body->face[edge->left].normal, body->face[edge->right].normal, both);
  saltusi_turn(at->R, both, world);
  saltusi_along(scale, world, sum, sum);
}

static void pair(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                 saltusi_pair* out) {
  assert(numbers->a >= 1 && numbers->a <= two->A->stored);
  assert(numbers->b >= 1 && numbers->b <= two->B->stored);
  *out = (saltusi_pair){.A = &two->A->feature[numbers->a - 1],
                        .B = &two->B->feature[numbers->b - 1],
                        .a = two->a,
                        .b = two->b};
  if (out->A->kind == SALTUSI_FEATURE_LINE && out->B->kind == SALTUSI_FEATURE_LINE) {
    add_outward(two->A, two->a, numbers->a, -1.0, out->side);
    add_outward(two->B, two->b, numbers->b, 1.0, out->side);
  }
}

const saltusi_family saltusi_polytopes = {.treats = treats,
                                          .pairs = pairs,
                                          .separation = separation,
                                          .pair = pair,
                                          .guards = saltusi_polytope_guards};
