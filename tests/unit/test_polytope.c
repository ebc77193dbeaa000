/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Boxes and hulls: what they are made of, which pairs of features are near, how far apart or how deep they are. Answers
 * are compared with clipping, with the hull of vertex differences, and with Wolfe's closest point.
 */
#include "math/rotation.h"
#include "saltus/version.h"
#include "shape/polytope/convex_parts.h"
#include "solids.h"

#include <float.h>
#include <stdio.h>

static saltus_kept_message refusal(const saltus_shape_def* def) {
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_kept_message message = {.text = ""};
  saltusi_shape shape;
  assert_int_equal(saltusi_shape_make(def, 3, &pool, saltus_log_keep(&message), &shape),
                   SALTUS_ERR_INPUT);
  saltusi_pool_free(&pool);
  return message;
}

/* V - E + F = 2, loops close, faces are planar and nothing is outside of them. */
static void assert_solid(const saltusi_shape* shape) {
  const saltusi_polytope* body = shape->polytope;
  assert_int_equal(body->vertices - body->edges + body->faces, 2);
  assert_int_equal(shape->features, 1 + body->vertices + body->edges + body->faces);
  for (int f = 0; f < body->faces; f++) {
    for (int v = 0; v < body->vertices; v++) {
      const double up = saltusi_dot3(body->face[f].normal, body->vertex[v]) - body->face[f].offset;
      assert_true(up <= 32.0 * DBL_EPSILON * shape->size);
    }
    for (int k = 0; k < body->face[f].count; k++) {
      const int v = body->loop[body->face[f].first + k];
      const double up = saltusi_dot3(body->face[f].normal, body->vertex[v]) - body->face[f].offset;
      assert_near(up, 0.0, 32.0 * DBL_EPSILON * shape->size);
    }
  }
  for (int e = 0; e < body->edges; e++) {
    const saltusi_edge* edge = &body->edge[e];
    double along[3];
    saltusi_cross(body->face[edge->left].normal, body->face[edge->right].normal, along);
    assert_true(saltusi_dot3(along, edge->direction) > 0.0);
    assert_true(saltusi_dot3(edge->into[0], body->face[edge->right].normal) < 0.0);
    assert_true(saltusi_dot3(edge->into[1], body->face[edge->left].normal) < 0.0);
  }
}

static void a_box_has_8_vertices_12_edges_and_6_faces(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape box = solids_box(&pool, 1.0, 0.6, 0.3, 0.0);
  assert_solid(&box);
  assert_int_equal(box.polytope->vertices, 8);
  assert_int_equal(box.polytope->edges, 12);
  assert_int_equal(box.polytope->faces, 6);
  assert_near(box.polytope->vertex[4][0], 0.5, 0.0); /* corner 4: + - - */
  assert_near(box.polytope->vertex[4][1], -0.3, 0.0);
  assert_near(box.radius, 0.5 * sqrt(1.45), 1e-15);
  saltusi_pool_free(&pool);
}

static void points_in_faces_and_edges_of_a_hull_are_no_corners(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  double grid[64][3]; /* 4 x 4 x 4 points of a cube: 8 are corners */
  for (int i = 0; i < 64; i++) {
    for (int k = 0; k < 3; k++) {
      grid[i][k] = 0.1 + ((i >> (2 * k)) & 3) / 3.0;
    }
  }
  const saltus_shape_def def = {
      .name = "grid", .kind = SALTUS_SHAPE_HULL, .points = grid[0], .point_count = 64};
  const saltusi_shape hull = solids_make(&pool, &def);
  assert_solid(&hull);
  assert_int_equal(hull.polytope->vertices, 8);
  assert_int_equal(hull.polytope->edges, 12);
  assert_int_equal(hull.polytope->faces, 6);
  saltusi_pool_free(&pool);
}

static void random_hulls_are_solids(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 5;
  for (int round = 0; round < 200; round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape hull = solids_hull(&pool, &seed, 4 + round, 0.0);
    assert_solid(&hull);
    for (int k = 0; k < 3; k++) { /* the far end by walking is that by looking */
      double d[3] = {0.0, 0.0, 0.0};
      d[k] = 1.0;
      d[(k + 1) % 3] = solids_normal(&seed);
      const int far = saltusi_polytope_support(hull.polytope, d, 0);
      for (int v = 0; v < hull.polytope->vertices; v++) {
        assert_true(saltusi_dot3(d, hull.polytope->vertex[v]) <=
                    saltusi_dot3(d, hull.polytope->vertex[far]));
      }
    }
    saltusi_pool_free(&pool);
  }
}

static void what_is_no_solid_is_refused(void** state) {
  (void)state;
  saltus_kept_message message =
      refusal(&(saltus_shape_def){.name = "b", .kind = SALTUS_SHAPE_BOX, .size = {1.0, -2.0, 1.0}});
  assert_says(message, "shape b: size -2 of a box has to be above zero");
  message =
      refusal(&(saltus_shape_def){.name = "b", .kind = SALTUS_SHAPE_BOX, .size = {1.0, NAN, 1.0}});
  assert_says(message, "size nan");
  message = refusal(&(saltus_shape_def){
      .name = "b", .kind = SALTUS_SHAPE_BOX, .size = {1.0, 1.0, 1.0}, .radius = -0.1});
  assert_says(message, "radius -0.1");
  double flat[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}};
  saltus_shape_def def = {
      .name = "h", .kind = SALTUS_SHAPE_HULL, .points = flat[0], .point_count = 3};
  message = refusal(&def);
  assert_says(message, "a hull of 3 points: at least 4");
  flat[2][1] = INFINITY;
  def.point_count = 5;
  message = refusal(&def);
  assert_says(message, "coordinate 2 of point 3 is inf");
  flat[2][1] = 1.0;
  if (saltus_has("qhull")) {
    message = refusal(&def);
    assert_says(message, "they lie in a plane");
  }
}

/* ------------------------------------------------------------------------------------ lists --- */

enum { ROOM = 64 };

typedef struct list {
  saltusi_feature_candidate item[ROOM];
  saltusi_candidates all;
} list;

static void near_pairs(const saltusi_two* two, double reach, double delta, list* out) {
  out->all = (saltusi_candidates){.capacity = ROOM, .item = out->item};
  const saltusi_near near = {.reach = reach, .delta = delta};
  assert_int_equal(saltusi_shape_pairs(two->A, two->a, two->B, two->b, &near, &out->all),
                   SALTUS_OK);
  assert_true(out->all.count <= ROOM);
  for (int k = 1; k < out->all.count; k++) {
    assert_true(out->item[k - 1].a < out->item[k].a ||
                (out->item[k - 1].a == out->item[k].a && out->item[k - 1].b < out->item[k].b));
  }
}

/* No place twice. */
static void assert_apart(const list* pairs, double least) {
  for (int i = 0; i < pairs->all.count; i++) {
    for (int j = 0; j < i; j++) {
      double d[3];
      saltusi_minus3(pairs->item[i].point, pairs->item[j].point, d);
      assert_true(sqrt(saltusi_dot3(d, d)) > least);
    }
  }
}

/* Cubes of side 1, one on the other, moved by (x, y) and turned by `yaw`, all in a random pose. */
static void stack(double x, double y, double yaw, uint64_t* seed, list* out) {
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, 1.0, 1.0, 1.0, 0.0), B = A;
  const saltusi_body_pose b = seed != NULL ? solids_anywhere(seed, 1.0)
                                           : solids_at((double[3]){0, 0, 0}, (double[3]){0, 0, 0});
  const saltusi_body_pose turned = solids_at((double[3]){0, 0, 0}, (double[3]){0.0, 0.0, yaw});
  saltusi_body_pose a = b;
  saltusi_matrix3_product(b.R, turned.R, a.R);
  saltusi_turn(b.R, (double[3]){x, y, 1.0}, a.x);
  saltusi_along(1.0, b.x, a.x, a.x);
  near_pairs(&(saltusi_two){&A, &a, &B, &b}, 1e-6, 1e-3, out);
  saltusi_pool_free(&pool);
}

static void stacked_cubes_touch_at_each_place_once(void** state) {
  (void)state;
  uint64_t seed = 1;
  list pairs;
  for (int round = 0; round < 200; round++) {
    uint64_t* where = round == 0 ? NULL : &seed;
    stack(0.0, 0.0, 0.0, where, &pairs); /* vertices on vertices */
    assert_int_equal(pairs.all.count, 4);
    assert_apart(&pairs, 0.99);
    for (int k = 0; k < 4; k++) { /* those of A: vertices are numbered before edges and faces */
      assert_true(pairs.item[k].a <= 8 && pairs.item[k].b > 20);
      assert_near(pairs.item[k].gap, 0.0, 1e-14);
    }
    stack(0.25, 0.0, 0.0, where, &pairs); /* edges along edges */
    assert_int_equal(pairs.all.count, 4);
    assert_apart(&pairs, 0.7);
    stack(0.25, 0.5, 0.0, where, &pairs);
    assert_int_equal(pairs.all.count, 4);
    assert_apart(&pairs, 0.4);
    stack(0.0, 0.0, 1.5707963267948966, where, &pairs); /* a quarter turn */
    assert_int_equal(pairs.all.count, 4);
    assert_apart(&pairs, 0.99);
    stack(0.0, 0.0, 0.7853981633974483, where, &pairs); /* an octagon of crossings */
    assert_int_equal(pairs.all.count, 8);
    assert_apart(&pairs, 0.4);
    stack(0.5, 0.0, 0.7853981633974483, where,
          &pairs); /* a vertex of B on an edge of A? no: area of 5 or 6 */
    assert_apart(&pairs, 1e-3);
    stack(1e-12, -1e-13, 1e-13, where, &pairs); /* aligned to rounding of a simulation */
    assert_int_equal(pairs.all.count, 4);
    assert_apart(&pairs, 0.99);
  }
}

/* Random boxes flat on each other, in random poses of the world: the corners of the common area. */
static void flat_boxes_touch_at_the_corners_of_the_common_area(void** state) {
  (void)state;
  uint64_t seed = 3;
  int least = ROOM, most = 0;
  for (int round = 0; round < 150; round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    double size[6];
    for (int k = 0; k < 6; k++) {
      size[k] = solids_between(&seed, 0.5, 1.5);
    }
    const saltusi_shape A = solids_box(&pool, size[0], size[1], size[2], 0.0);
    const saltusi_shape B = solids_box(&pool, size[3], size[4], size[5], 0.0);
    const saltusi_body_pose b = solids_anywhere(&seed, 1.0);
    const saltusi_body_pose yaw =
        solids_at((double[3]){0, 0, 0}, (double[3]){0, 0, solids_between(&seed, 0, 6.28)});
    const double off[3] = {solids_between(&seed, -0.6, 0.6), solids_between(&seed, -0.6, 0.6),
                           0.5 * (size[2] + size[5])};
    saltusi_body_pose a = b;
    saltusi_matrix3_product(b.R, yaw.R, a.R);
    saltusi_turn(b.R, off, a.x);
    saltusi_along(1.0, b.x, a.x, a.x);
    double P[4][2], Q[4][2], common[16][2];
    for (int k = 0; k < 4; k++) {
      const double sx = k == 0 || k == 3 ? -0.5 : 0.5, sy = k < 2 ? -0.5 : 0.5;
      P[k][0] = off[0] + yaw.R[0] * sx * size[0] + yaw.R[1] * sy * size[1];
      P[k][1] = off[1] + yaw.R[3] * sx * size[0] + yaw.R[4] * sy * size[1];
      Q[k][0] = sx * size[3];
      Q[k][1] = sy * size[4];
    }
    const int corners = solids_clip((const double(*)[2])P, 4, (const double(*)[2])Q, 4, common);
    list pairs;
    const saltusi_two two = {&A, &a, &B, &b};
    near_pairs(&two, 1e-6, 1e-3, &pairs);
    assert_int_equal(pairs.all.count, corners);
    for (int k = 0; k < corners; k++) {
      double distance = INFINITY;
      for (int i = 0; i < corners; i++) {
        double world[3], own[3];
        saltusi_minus3(pairs.item[i].point, b.x, world);
        saltusi_turn_back(b.R, world, own);
        distance = fmin(distance, hypot(own[0] - common[k][0], own[1] - common[k][1]));
        assert_near(pairs.item[i].gap, 0.0, 1e-14);
      }
      assert_near(distance, 0.0, 1e-12); /* crossings of edges at small angles */
    }
    least = corners < least ? corners : least;
    most = corners > most ? corners : most;
    /* tilted by 2e-4: the same pairs */
    double r[3];
    for (int k = 0; k < 3; k++) {
      r[k] = 2e-4 * solids_normal(&seed);
    }
    const saltusi_body_pose tilt = solids_at((double[3]){0, 0, 0}, r);
    saltusi_body_pose c = a;
    double arm[3], turned[3];
    const double place[3] = {off[0], off[1], 0.5 * size[5]};
    double centre[3];
    saltusi_turn(b.R, place, centre);
    saltusi_along(1.0, b.x, centre, centre);
    saltusi_matrix3_product(tilt.R, a.R, c.R);
    saltusi_minus3(a.x, centre, arm);
    saltusi_turn(tilt.R, arm, turned);
    saltusi_along(1.0, centre, turned, c.x);
    /* edges that cross at less than this have a normal that such a tilt turns out of their cones */
    const bool aligned = fabs(yaw.R[0] * yaw.R[3]) < 0.05;
    list again;
    near_pairs(&(saltusi_two){&A, &c, &B, &b}, 3e-3, 3e-3, &again);
    int same = 0;
    for (int i = 0; i < again.all.count; i++) {
      for (int k = 0; k < pairs.all.count; k++) {
        same += again.item[i].a == pairs.item[k].a && again.item[i].b == pairs.item[k].b;
      }
    }
    assert_int_equal(again.all.count, same); /* none that was not there */
    assert_true(aligned ? same >= 3 : same == corners);
    saltusi_pool_free(&pool);
  }
  assert_int_equal(least, 3);
  assert_int_equal(most, 8);
}

static void one_place_has_one_normal(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, 1.0, 1.0, 1.0, 0.0), B = A;
  const double zero[3] = {0.0, 0.0, 0.0};
  const saltusi_body_pose b = solids_at(zero, zero);
  list pairs;
  /* edge along edge, corner on corner: top of B and its side are equally good, all contacts have one of them */
  saltusi_body_pose a = solids_at((double[3]){1.0, 0.3, 1.0}, zero);
  near_pairs(&(saltusi_two){&A, &a, &B, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 2);
  for (int k = 0; k < 3; k++) {
    assert_near(pairs.item[0].normal[k], pairs.item[1].normal[k], 1e-15);
  }
  /* the larger gap decides: A is free to pass the side by 1e-7 */
  a = solids_at((double[3]){1.0 + 1e-7, 0.3, 1.0}, zero);
  near_pairs(&(saltusi_two){&A, &a, &B, &b}, 1e-6, 1e-3, &pairs);
  for (int k = 0; k < pairs.all.count; k++) {
    assert_near(pairs.item[k].normal[0], 1.0, 1e-15);
    assert_near(pairs.item[k].gap, 1e-7, 1e-15);
  }
  /* vertex on vertex */
  a = solids_at((double[3]){1.0, 1.0, 1.0}, zero);
  near_pairs(&(saltusi_two){&A, &a, &B, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 1);
  saltusi_pool_free(&pool);
}

static void a_box_on_a_plane_touches_with_its_lowest_vertices(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, 1.0, 0.6, 0.3, 0.0);
  const saltusi_shape B =
      solids_make(&pool, &(saltus_shape_def){.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE});
  const double zero[3] = {0.0, 0.0, 0.0};
  const saltusi_body_pose b = solids_at(zero, zero);
  const saltusi_body_pose a = solids_at((double[3]){3.0, 0.0, 0.15}, zero);
  list pairs;
  near_pairs(&(saltusi_two){&A, &a, &B, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 4);
  near_pairs(&(saltusi_two){&B, &b, &A, &a}, 10.0, 1e-3,
             &pairs); /* reach alone lists no upper ones */
  assert_int_equal(pairs.all.count, 4);
  assert_near(pairs.item[0].normal[2], -1.0, 1e-15);
  assert_near(pairs.item[0].point[2], 0.0, 1e-15);
  saltusi_separation apart;
  const saltusi_body_pose up = solids_at((double[3]){0.0, 0.0, 1.0}, (double[3]){0.6, 0.4, 0.3});
  saltusi_shape_separation(&A, &up, &B, &b, &apart);
  double vertex[8][3], lowest = INFINITY;
  solids_vertices(&A, &up, vertex);
  for (int v = 0; v < 8; v++) {
    lowest = fmin(lowest, vertex[v][2]);
  }
  assert_near(apart.distance, lowest, 1e-15);
  assert_false(saltusi_shape_treats(&B, &B));
  saltusi_pool_free(&pool);
}

/* With `all`, what is listed without it is there too, and every pair of a nearby pose as well. */
static void all_pairs_hold_those_of_nearby_poses(void** state) {
  (void)state;
  uint64_t seed = 51;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, 1.0, 0.8, 0.6, 0.0);
  const saltusi_shape B = solids_box(&pool, 1.2, 1.0, 0.5, 0.0);
  int compared = 0;
  for (int round = 0; round < 2000; round++) {
    const saltusi_body_pose b = solids_anywhere(&seed, 1.0);
    saltusi_body_pose a = solids_anywhere(&seed, 0.6), moved;
    if (round % 2 == 0) { /* near a face: contacts are flat */
      const saltusi_body_pose turn =
          solids_at((double[3]){0, 0, 0}, (double[3]){1e-3 * solids_normal(&seed), 0.0,
                                                      solids_between(&seed, 0.0, 6.28)});
      saltusi_matrix3_product(b.R, turn.R, a.R);
      saltusi_turn(
          b.R,
          (double[3]){solids_between(&seed, -0.7, 0.7), solids_between(&seed, -0.7, 0.7), 0.55},
          a.x);
      saltusi_along(1.0, b.x, a.x, a.x);
    }
    /* 0.001 rad about the middle moves corners by 0.001 m at most */
    double r[3], n = 0.0;
    for (int k = 0; k < 3; k++) {
      r[k] = solids_normal(&seed);
      n += r[k] * r[k];
    }
    for (int k = 0; k < 3; k++) {
      r[k] *= 0.001 / sqrt(n);
    }
    const saltusi_body_pose turn = solids_at((double[3]){0, 0, 0}, r);
    moved = a;
    saltusi_matrix3_product(turn.R, a.R, moved.R);
    for (int k = 0; k < 3; k++) {
      moved.x[k] += solids_between(&seed, -5e-4, 5e-4);
    }
    list near_list;
    near_pairs(&(saltusi_two){&A, &moved, &B, &b}, 1e-3, 1e-8, &near_list);
    saltusi_feature_candidate item[256];
    saltusi_candidates all = {.capacity = 256, .item = item};
    const saltusi_near near = {.reach = 1e-3 + 0.02, .delta = 0.012, .all = true};
    assert_int_equal(saltusi_shape_pairs(&A, &a, &B, &b, &near, &all), SALTUS_OK);
    for (int i = 0; i < near_list.all.count; i++) {
      if (!(fabs(near_list.item[i].gap) < 1e-3)) {
        continue; /* deep in: no step of an event search is there */
      }
      bool found = false;
      for (int j = 0; j < all.count; j++) {
        found = found || (item[j].a == near_list.item[i].a && item[j].b == near_list.item[i].b);
      }
      assert_true(found);
      compared++;
    }
  }
  assert_true(compared > 200);
  saltusi_pool_free(&pool);
}

/* A box as the hull of its corners, which goes the general way: the same places, gaps and normals. */
static void a_box_is_the_hull_of_its_corners(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 41;
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_shape_def def[2] = {
      {.name = "a",
       .kind = SALTUS_SHAPE_BOX,
       .size = {1.0, 0.8, 0.6},
       .position = {0.1, -0.2, 0.3},
       .orientation = {.kind = SALTUS_ORIENTATION_RPY, .value = {0.3, 0.2, 1.0}}},
      {.name = "b", .kind = SALTUS_SHAPE_BOX, .size = {1.2, 1.0, 0.5}}};
  saltusi_shape box[2], hull[2];
  for (int k = 0; k < 2; k++) {
    box[k] = solids_make(&pool, &def[k]);
    hull[k] = solids_make(&pool, &(saltus_shape_def){.name = "hull",
                                                     .kind = SALTUS_SHAPE_HULL,
                                                     .points = box[k].polytope->vertex[0],
                                                     .point_count = 8});
    assert_int_equal(hull[k].polytope->faces, 6);
  }
  int most = 0;
  for (int round = 0; round < (saltus_test_long() ? 200000 : 4000); round++) {
    const saltusi_body_pose b = solids_anywhere(&seed, 1.0);
    saltusi_body_pose a = solids_anywhere(&seed, 0.6);
    const bool wide =
        round % 8 == 6;   /* tilted, deep or above: what cones and reach let in besides */
    if (round % 2 == 0) { /* flat, or nearly so, on the top of b */
      const double tilt = wide ? 0.1 : round % 4 == 0 ? 0.0 : 1e-3;
      const double r[3] = {tilt * solids_normal(&seed), wide ? tilt * solids_normal(&seed) : 0.0,
                           round % 8 == 0 ? 0.0 : solids_between(&seed, 0.0, 6.28)};
      const saltusi_body_pose turn = solids_at((double[3]){0, 0, 0}, r);
      double x[3], mine[3], back[9];
      for (int i = 0; i < 9; i++) {
        back[i] = box[0].polytope->placing.R[3 * (i % 3) + i / 3];
      }
      double R[9];
      saltusi_matrix3_product(b.R, turn.R, R);
      saltusi_matrix3_product(R, back, a.R);
      const double at[3] = {solids_between(&seed, -0.7, 0.7), solids_between(&seed, -0.7, 0.7),
                            0.55 + (wide ? 0.05 : 1e-4) * solids_normal(&seed)};
      saltusi_turn(b.R, at, x);
      saltusi_turn(a.R, box[0].polytope->placing.x, mine);
      for (int k = 0; k < 3; k++) {
        a.x[k] = b.x[k] + x[k] - mine[k];
      }
    }
    saltusi_separation apart[2];
    list pairs[2];
    saltusi_shape_separation(&box[0], &a, &box[1], &b, &apart[0]);
    saltusi_shape_separation(&hull[0], &a, &hull[1], &b, &apart[1]);
    /* axes of edges that are nearly parallel: rounding over their sine, which a small tilt makes 1e-4 or less */
    assert_near(apart[0].distance, apart[1].distance, round % 2 == 0 ? 1e-10 : 1e-12);
    const double reach = wide ? 0.05 : 1e-3;
    const double delta = wide ? solids_between(&seed, 0.01, 0.25) : 2e-3;
    near_pairs(&(saltusi_two){&box[0], &a, &box[1], &b}, reach, delta, &pairs[0]);
    near_pairs(&(saltusi_two){&hull[0], &a, &hull[1], &b}, reach, delta, &pairs[1]);
    assert_int_equal(pairs[0].all.count, pairs[1].all.count);
    for (int i = 0; i < pairs[0].all.count; i++) {
      double least = INFINITY;
      for (int j = 0; j < pairs[1].all.count; j++) {
        double d[3], n[3];
        saltusi_minus3(pairs[0].item[i].point, pairs[1].item[j].point, d);
        saltusi_minus3(pairs[0].item[i].normal, pairs[1].item[j].normal, n);
        least = fmin(least, sqrt(saltusi_dot3(d, d) + saltusi_dot3(n, n)) +
                                fabs(pairs[0].item[i].gap - pairs[1].item[j].gap));
      }
      assert_near(least, 0.0, 1e-9); /* crossings at small angles */
    }
    most = pairs[0].all.count > most ? pairs[0].all.count : most;
  }
  assert_true(most >= 7);
  saltusi_pool_free(&pool);
}

/* ------------------------------------------------------------------------------------ oracles --- */

static int rounds(int quick, int in_full) {
  return saltus_test_long() ? in_full : quick;
}

static void check_axes(const saltusi_two* two) {
  double difference[4096][3], normal[3];
  saltusi_pool pool = saltusi_pool_over(NULL);
  const int count = solids_differences(two, difference);
  /* the origin against the facets of A - B: the largest distance is along the best axis, whatever its sign */
  const double expected = solids_facets(&pool, difference, count, normal);
  saltusi_separation apart;
  saltusi_shape_separation(two->A, two->a, two->B, two->b, &apart);
  assert_near(apart.distance, expected, 2e-13);
  saltusi_pool_free(&pool);
}

static void separation_is_that_of_the_hull_of_differences(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 11;
  for (int round = 0; round < rounds(400, 10000); round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape A =
        round % 2 == 0 ? solids_hull(&pool, &seed, 9, 0.0) : solids_box(&pool, 1.0, 0.5, 0.7, 0.0);
    const saltusi_shape B =
        round % 3 == 0 ? solids_hull(&pool, &seed, 12, 0.0) : solids_box(&pool, 0.6, 1.3, 0.4, 0.0);
    const saltusi_body_pose a = solids_anywhere(&seed, 0.7), b = solids_anywhere(&seed, 0.7);
    check_axes(&(saltusi_two){&A, &a, &B, &b});
    saltusi_pool_free(&pool);
  }
}

static void distance_of_rounded_solids_is_that_of_a_convex_program(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 12;
  int apart_count = 0;
  for (int round = 0; round < rounds(400, 10000); round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape A =
        round % 2 == 0 ? solids_hull(&pool, &seed, 10, 0.1) : solids_box(&pool, 1.0, 0.5, 0.7, 0.1);
    const saltusi_shape B = round % 3 == 0 ? solids_hull(&pool, &seed, 14, 0.05)
                                           : solids_box(&pool, 0.6, 1.3, 0.4, 0.0);
    const saltusi_body_pose a = solids_anywhere(&seed, 1.5), b = solids_anywhere(&seed, 1.5);
    const saltusi_two two = {&A, &a, &B, &b};
    double difference[4096][3], nearest[3];
    const int count = solids_differences(&two, difference);
    const double expected = solids_least((const double(*)[3])difference, count, nearest);
    if (expected > 1e-9) {
      saltusi_separation apart;
      saltusi_shape_separation(&A, &a, &B, &b, &apart);
      assert_near(apart.distance + A.rho + B.rho, expected, 1e-12);
      for (int k = 0; k < 3; k++) {
        assert_near(apart.normal[k], nearest[k] / expected, 1e-9 / fmin(expected, 1.0));
      }
      list pairs; /* the least of the listed gaps is the distance */
      near_pairs(&two, apart.distance + 1e-9, 1e-8, &pairs);
      double least = INFINITY;
      for (int k = 0; k < pairs.all.count; k++) {
        least = fmin(least, pairs.item[k].gap);
      }
      assert_near(least, apart.distance, 1e-12);
      apart_count++;
    }
    saltusi_pool_free(&pool);
  }
  assert_true(apart_count > 200);
}

/* However far cones are widened: points of both bodies lie gap apart along the normal of a pair, at most 30 degrees from the best
 * axis, so that no pair is deeper than 1 / cos 30 times the bodies, and none is where they are apart. */
static void no_pair_is_deeper_than_the_bodies(void** state) {
  (void)state;
  uint64_t seed = 77;
  int listed = 0, deep = 0;
  for (int round = 0; round < rounds(3000, 100000); round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const bool hulls = saltus_has("qhull") && round % 2 == 0;
    const saltusi_shape A =
        hulls ? solids_hull(&pool, &seed, 9, 0.0) : solids_box(&pool, 1.0, 0.5, 0.7, 0.0);
    const saltusi_shape B =
        hulls ? solids_hull(&pool, &seed, 12, 0.0) : solids_box(&pool, 0.6, 1.3, 0.4, 0.0);
    const saltusi_body_pose a = solids_anywhere(&seed, 0.7), b = solids_anywhere(&seed, 0.7);
    const saltusi_two two = {&A, &a, &B, &b};
    saltusi_separation apart;
    saltusi_shape_separation(&A, &a, &B, &b, &apart);
    list pairs;
    near_pairs(&two, 0.3, solids_between(&seed, 0.0, 0.25), &pairs);
    for (int k = 0; k < pairs.all.count; k++) {
      assert_true(pairs.item[k].gap >= fmin(apart.distance, 0.0) / sqrt(0.75) - 1e-10);
    }
    listed += pairs.all.count;
    deep += apart.distance < -0.01 && pairs.all.count > 0;
    saltusi_pool_free(&pool);
  }
  assert_true(listed > 1000 && deep > 100); /* of both kinds there were many */
}

static void separation_is_continuous_along_a_motion(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 4;
  const double dt = 0.005;
  for (int round = 0; round < 20; round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape A = solids_hull(&pool, &seed, 12, 0.0);
    const saltusi_shape B = solids_hull(&pool, &seed, 12, 0.0);
    double w[3], v[3], r[3], x[3];
    for (int k = 0; k < 3; k++) {
      w[k] = solids_normal(&seed);
      v[k] = solids_normal(&seed);
    }
    const double zero[3] = {0.0, 0.0, 0.0}, start[3] = {1.5, 0.0, 0.0};
    const saltusi_body_pose b = solids_at(zero, zero);
    double centre = sqrt(saltusi_dot3(A.centre, A.centre));
    double both = 0.0; /* any point of B may be the far one */
    both = B.radius + sqrt(saltusi_dot3(B.centre, B.centre));
    double last = NAN;
    for (int step = 0; step < 240; step++) {
      for (int k = 0; k < 3; k++) {
        r[k] = w[k] * dt * step;
        x[k] = start[k] + v[k] * dt * step;
      }
      const saltusi_body_pose a = solids_at(x, r);
      saltusi_separation apart;
      saltusi_shape_separation(&A, &a, &B, &b, &apart);
      /* the value along one axis held fixed changes by the speed of A's points; along an axis of A, which turns, by
       * that of the points of B seen from A */
      const double bound =
          dt * (sqrt(saltusi_dot3(v, v)) +
                sqrt(saltusi_dot3(w, w)) * (A.radius + centre + both + sqrt(saltusi_dot3(x, x))));
      if (step > 0) {
        assert_true(fabs(apart.distance - last) <= bound);
      }
      last = apart.distance;
    }
    saltusi_pool_free(&pool);
  }
}

/* Poses of all kinds, aligned, tiny, huge, not numbers: answers that are finite where poses are. */
static void no_pose_breaks_a_list(void** state) {
  (void)state;
  uint64_t seed = 77;
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_shape shape[5];
  int shapes = 0;
  shape[shapes++] = solids_box(&pool, 1.0, 1.0, 1.0, 0.0);
  shape[shapes++] = solids_box(&pool, 1e-3, 2.0, 0.5, 0.0);
  shape[shapes++] = solids_box(&pool, 0.5, 0.5, 0.5, 0.1);
  shape[shapes++] =
      solids_make(&pool, &(saltus_shape_def){.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE});
  if (saltus_has("qhull")) {
    shape[shapes++] = solids_hull(&pool, &seed, 10, 0.0);
  }
  for (int round = 0; round < rounds(100000, 10000000); round++) {
    const saltusi_shape* A = &shape[(int)(shapes * saltus_test_random(&seed))];
    const saltusi_shape* B = &shape[(int)(shapes * saltus_test_random(&seed))];
    if (!saltusi_shape_treats(A, B)) {
      continue;
    }
    saltusi_body_pose at[2];
    for (int side = 0; side < 2; side++) {
      double x[3], r[3];
      for (int k = 0; k < 3; k++) {
        const double u = saltus_test_random(&seed);
        x[k] = u < 0.5 ? 0.25 * (double)(int)(8.0 * u) : solids_normal(&seed);
        r[k] = u < 0.4   ? 0.0
               : u < 0.7 ? 0.7853981633974483 * (double)(int)(8.0 * saltus_test_random(&seed))
                         : solids_normal(&seed);
      }
      if (round % 1000 == 999) {
        x[round % 3] = NAN;
      } else if (round % 1000 == 998) {
        x[round % 3] = 1e300;
      }
      at[side] = solids_at(x, r);
    }
    const bool finite = round % 1000 < 998;
    const saltusi_two two = {A, &at[0], B, &at[1]};
    list pairs;
    near_pairs(&two, 0.3 * saltus_test_random(&seed), 0.5 * saltus_test_random(&seed), &pairs);
    saltusi_separation apart;
    saltusi_shape_separation(A, &at[0], B, &at[1], &apart);
    assert_true(!finite || isfinite(apart.distance));
    for (int k = 0; finite && k < pairs.all.count; k++) {
      const saltusi_feature_candidate* item = &pairs.item[k];
      assert_true(isfinite(item->gap) &&
                  isfinite(item->point[0] + item->point[1] + item->point[2]));
      assert_near(saltusi_dot3(item->normal, item->normal), 1.0, 1e-12);
      double guard[SALTUSI_GUARDS];
      const int guards = saltusi_shape_guards(A, &at[0], B, &at[1], item, guard);
      assert_true(guards >= 0 && guards <= SALTUSI_GUARDS);
      saltusi_pair by;
      saltusi_shape_pair(A, &at[0], B, &at[1], item, &by);
      saltusi_closest closest; /* the equations of the pair give the same gap and normal */
      if (saltusi_pair_closest(&by, &closest)) {
        assert_near(closest.gap, item->gap, 1e-8); /* edges that are nearly parallel */
        assert_near(saltusi_dot3(closest.normal, item->normal), 1.0, 1e-6);
      }
    }
  }
  saltusi_pool_free(&pool);
}

/* ---- convex parts ---- */

enum { AROUND = 24, TUBE = 12 };

/* A ring of radius 1 m whose tube has the radius 0.3 m. */
static saltus_shape_def ring(double (*point)[3], int (*triangle)[3]) {
  for (int i = 0; i < AROUND * TUBE; i++) {
    const double a = 2.0 * acos(-1.0) * (i / TUBE) / AROUND;
    const double b = 2.0 * acos(-1.0) * (i % TUBE) / TUBE, r = 1.0 + 0.3 * cos(b);
    point[i][0] = r * cos(a);
    point[i][1] = r * sin(a);
    point[i][2] = 0.3 * sin(b);
    const int next = i % TUBE == TUBE - 1 ? i + 1 - TUBE : i + 1;
    const int over = (i + TUBE) % (AROUND * TUBE), last = (next + TUBE) % (AROUND * TUBE);
    memcpy(triangle[2 * i], (int[3]){i, over, last}, sizeof triangle[0]);
    memcpy(triangle[2 * i + 1], (int[3]){i, last, next}, sizeof triangle[0]);
  }
  return (saltus_shape_def){.kind = SALTUS_SHAPE_HULL,
                            .points = point[0],
                            .point_count = AROUND * TUBE,
                            .triangles = triangle[0],
                            .triangle_count = 2 * AROUND * TUBE};
}

/* Hulls that contain p by more than the margin. */
static int containing(const saltusi_shape* hull, int count, const double p[3], double margin) {
  int inside = 0;
  for (int i = 0; i < count; i++) {
    const saltusi_polytope* body = hull[i].polytope;
    double depth = INFINITY;
    for (int f = 0; f < body->faces; f++) {
      depth = fmin(depth, body->face[f].offset - saltusi_dot3(body->face[f].normal, p));
    }
    inside += depth > margin;
  }
  return inside;
}

/* The volume said is that of random points, which lie in one hull at most; all of the ring is in them. */
static void convex_parts_contain_the_mesh_and_do_not_overlap(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    print_message("this build makes no hulls\n");
    skip();
  }
  double point[AROUND * TUBE][3], before = INFINITY;
  uint64_t seed = 43;
  int triangle[2 * AROUND * TUBE][3];
  const saltus_shape_def def = ring(point, triangle);
  for (int most = 1; most <= 16; most *= 4) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_convex_parts parts;
    saltusi_shape hull[16];
    assert_int_equal(
        saltusi_convex_parts_make(&(saltusi_making){.def = &def, .pool = &pool}, most, &parts),
        SALTUS_OK);
    assert_int_equal(parts.count, most);
    for (int i = 0; i < most; i++) {
      const saltus_shape_def part = {.kind = SALTUS_SHAPE_HULL,
                                     .points = parts.points[i],
                                     .point_count = parts.point_count[i]};
      assert_int_equal(saltusi_shape_make(&part, 3, &pool, (saltus_log){0}, &hull[i]), SALTUS_OK);
    }
    int hits = 0;
    const int samples = 20000;
    for (int n = 0; n < samples; n++) {
      const double p[3] = {1.3 * (2.0 * saltus_test_random(&seed) - 1.0),
                           1.3 * (2.0 * saltus_test_random(&seed) - 1.0),
                           0.3 * (2.0 * saltus_test_random(&seed) - 1.0)};
      const double out = hypot(p[0], p[1]) - 1.0;
      assert_true(containing(hull, most, p, 1e-9) <= 1);
      hits += containing(hull, most, p, 0.0) > 0;
      assert_true(hypot(out, p[2]) > 0.28 || containing(hull, most, p, -1e-9) > 0);
    }
    const double box = 2.6 * 2.6 * 0.6, share = (parts.volume + parts.excess) / box;
    const double deviation = sqrt(share * (1.0 - share) / samples);
    assert_near((double)hits / samples, share, 4.0 * deviation);
    assert_true(parts.excess < 0.5 * before && parts.excess > 0.0);
    before = parts.excess;
    saltusi_pool_free(&pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convex_parts_contain_the_mesh_and_do_not_overlap),
      cmocka_unit_test(a_box_has_8_vertices_12_edges_and_6_faces),
      cmocka_unit_test(points_in_faces_and_edges_of_a_hull_are_no_corners),
      cmocka_unit_test(random_hulls_are_solids),
      cmocka_unit_test(what_is_no_solid_is_refused),
      cmocka_unit_test(stacked_cubes_touch_at_each_place_once),
      cmocka_unit_test(flat_boxes_touch_at_the_corners_of_the_common_area),
      cmocka_unit_test(one_place_has_one_normal),
      cmocka_unit_test(a_box_on_a_plane_touches_with_its_lowest_vertices),
      cmocka_unit_test(all_pairs_hold_those_of_nearby_poses),
      cmocka_unit_test(a_box_is_the_hull_of_its_corners),
      cmocka_unit_test(separation_is_that_of_the_hull_of_differences),
      cmocka_unit_test(distance_of_rounded_solids_is_that_of_a_convex_program),
      cmocka_unit_test(no_pair_is_deeper_than_the_bodies),
      cmocka_unit_test(separation_is_continuous_along_a_motion),
      cmocka_unit_test(no_pose_breaks_a_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
