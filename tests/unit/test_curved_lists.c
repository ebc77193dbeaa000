/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Curved shapes in positions that are special: lying flat, standing, parallel, inside; tori; boxes around shapes; what is
 * refused; and arbitrary numbers.
 */
#include "convex.h"
#include "math/rotation.h"
#include "saltus_test.h"
#include "shape/narrow_phase.h"
#include "shape/pair/pair.h"

#include <stdio.h>
#include <time.h>

enum { MOST = 256 };

typedef struct item {
  saltus_shape_def def;
  saltusi_pool pool;
  saltusi_shape shape;
  saltusi_body_pose at;
} item;

static const saltusi_body_pose origin = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static void make(saltus_shape_def def, item* out) {
  memset(out, 0, sizeof *out);
  out->def = def;
  out->def.name = "made";
  out->at = origin;
  out->pool = saltusi_pool_over(NULL);
  assert_int_equal(saltusi_shape_make(&out->def, 3, &out->pool, (saltus_log){0}, &out->shape),
                   SALTUS_OK);
}

static void turn(item* one, double x, double y, double z) {
  const double r[3] = {x, y, z};
  double p[4];
  saltusi_quaternion_exp(r, p);
  saltusi_quaternion_matrix(p, one->at.R);
}

static double uniform(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

static int near_pairs(const item* A, const item* B, double reach, double delta,
                      saltusi_feature_candidate room[MOST]) {
  saltusi_candidates list = {.capacity = MOST, .item = room};
  const saltusi_near near = {.reach = reach, .delta = delta};
  assert_int_equal(saltusi_shape_pairs(&A->shape, &A->at, &B->shape, &B->at, &near, &list),
                   SALTUS_OK);
  assert_true(list.count <= MOST);
  return list.count;
}

static double least_gap(const saltusi_feature_candidate* room, int count) {
  double least = INFINITY;
  for (int i = 0; i < count; i++) {
    least = fmin(least, room[i].gap);
  }
  return least;
}

/* Beside the axis by less and less: the normal stays one of the cone. */
static void a_ball_near_the_axis_of_a_cone_has_a_normal(void** state) {
  (void)state;
  item ball, cone;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.1}, &ball);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CONE, .radius = 0.5, .length = 1.0}, &cone);
  turn(&cone, 0.3, 0.7, -0.4);
  for (double off = 1e-3; off > 1e-15; off *= 0.3) {
    const double own[3] = {0.6 * off, 0.8 * off, 0.5};
    saltusi_turn(cone.at.R, own, ball.at.x);
    const int count = near_pairs(&ball, &cone, 0.0, 1e-3, room);
    assert_int_equal(count, 1);
    double seen[3];
    saltusi_turn_back(cone.at.R, room[0].normal, seen);
    assert_near(saltusi_dot3(seen, seen), 1.0, 1e-14);
    assert_near(seen[2], 0.5 / sqrt(1.25), 1e-14);
  }
  saltusi_pool_free(&ball.pool);
  saltusi_pool_free(&cone.pool);
}

/* A ball whose middle is on the rim of a cone is as deep as its radius. */
static void a_ball_on_the_rim_of_a_cone_has_a_normal(void** state) {
  (void)state;
  item ball, cone;
  saltusi_separation apart;
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.5}, &ball);
  ball.at.x[0] = 1.0;
  for (int i = 0; i < 1000; i++) { /* which side of the rim it is on is rounding */
    make((saltus_shape_def){.kind = SALTUS_SHAPE_CONE, .radius = 1.0, .length = 0.5 + 1e-3 * i},
         &cone);
    saltusi_shape_separation(&ball.shape, &ball.at, &cone.shape, &cone.at, &apart);
    assert_near(apart.distance, -0.5, 1e-15);
    assert_near(saltusi_dot3(apart.normal, apart.normal), 1.0, 1e-15);
    saltusi_pool_free(&cone.pool);
  }
  saltusi_pool_free(&ball.pool);
}

/* Whether a gap of zero is within a reach of zero is rounding: what is listed is what touches, not what else meets far
 * away, as a corner of the box 1.7 m away, below the plane of the cylinder's end. */
static void what_touches_to_rounding_is_what_is_listed(void** state) {
  (void)state;
  item table, can;
  saltusi_feature_candidate room[MOST];
  uint64_t seed = 5;
  make((saltus_shape_def){.kind = SALTUS_SHAPE_BOX, .size = {2.0, 2.0, 0.2}}, &table);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.1, .length = 0.2}, &can);
  for (int i = 0; i < 2000; i++) {
    const double tilt = uniform(&seed, 1e-3, 0.3), way = uniform(&seed, -3.0, 3.0);
    turn(&can, tilt * cos(way), tilt * sin(way), 0.0);
    can.at.x[0] = uniform(&seed, -0.5, 0.5);
    can.at.x[1] = uniform(&seed, -0.5, 0.5);
    can.at.x[2] = 0.1 + 0.1 * cos(tilt) + 0.1 * sin(tilt);
    saltusi_candidates list = {.capacity = MOST, .item = room};
    const saltusi_near near = {.reach = 0.0, .here = true};
    assert_int_equal(
        saltusi_shape_pairs(&can.shape, &can.at, &table.shape, &table.at, &near, &list), SALTUS_OK);
    for (int k = 0; k < list.count; k++) {
      assert_true(room[k].gap >= -1e-13);
    }
  }
  saltusi_pool_free(&table.pool);
  saltusi_pool_free(&can.pool);
}

static const saltus_shape_def ground_def = {.kind = SALTUS_SHAPE_HALF_SPACE};

/* A standing cylinder is carried by eight points of its rim, a tipped one by the lowest point of it alone. */
static void a_standing_cylinder_has_fixed_points(void** state) {
  (void)state;
  item ground, can, ring, cone;
  saltusi_feature_candidate room[MOST];
  make(ground_def, &ground);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.5, .length = 2.0}, &can);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.2, .size = {1.0}}, &ring);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CONE, .radius = 0.5, .length = 1.0}, &cone);
  can.at.x[2] = 1.0;
  ring.at.x[2] = 0.2;
  item* flat[] = {&can, &ring, &cone};
  for (int i = 0; i < 3; i++) {
    turn(flat[i], 0.0, 0.0, 0.3);
    const int count = near_pairs(flat[i], &ground, 1e-9, 0.0, room);
    assert_int_equal(count, 8);
    for (int k = 0; k < count; k++) {
      assert_near(room[k].gap, 0.0, 1e-15);
      assert_near(room[k].normal[2], 1.0, 1e-15);
    }
  }
  /* h = L/2 cos - R sin for its lowest point, tilted by 0.01 */
  turn(&can, 0.01, 0.0, 0.0);
  const double tilted = 1.0 - cos(0.01) - 0.5 * sin(0.01);
  int count = near_pairs(&can, &ground, tilted + 1e-9, 0.0, room);
  assert_int_equal(count, 1);
  assert_near(room[0].gap, tilted, 1e-15);
  /* within the reach of a step the others are listed too, if it may become flat in it */
  count = near_pairs(&can, &ground, 0.1, 0.02, room);
  assert_int_equal(count, 9);
  assert_near(least_gap(room, count), tilted, 1e-15);
  /* on its side: two rims */
  turn(&can, acos(-1.0) / 2.0, 0.0, 0.0);
  can.at.x[2] = 0.5;
  count = near_pairs(&can, &ground, 1e-9, 0.0, room);
  assert_int_equal(count, 2);
  assert_near(room[0].gap, 0.0, 1e-15);
  assert_near(room[1].gap, 0.0, 1e-15);
  for (int i = 0; i < 3; i++) {
    saltusi_pool_free(&flat[i]->pool);
  }
  saltusi_pool_free(&ground.pool);
}

/* Half over the edge of a box: the points of the rim inside, and where the rim crosses the edge. */
static void a_cylinder_over_an_edge_touches_where_its_rim_crosses(void** state) {
  (void)state;
  item table, can;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_BOX, .size = {4.0, 4.0, 1.0}}, &table);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 1.0, .length = 1.0}, &can);
  can.at.x[0] = 1.5; /* the edge is at x = 2 */
  can.at.x[2] = 1.0;
  const int count = near_pairs(&can, &table, 1e-9, 1e-3, room);
  int crossings = 0, inside = 0;
  for (int i = 0; i < count; i++) {
    assert_near(room[i].gap, 0.0, 1e-14);
    assert_near(room[i].normal[2], 1.0, 1e-12);
    assert_true(room[i].point[0] <= 2.0 + 1e-12);
    if (fabs(room[i].point[0] - 2.0) < 1e-12) {
      assert_near(fabs(room[i].point[1]), sqrt(0.75), 1e-12);
      crossings++;
    } else {
      inside++;
    }
  }
  assert_int_equal(crossings, 2);
  assert_int_equal(inside,
                   5); /* of 8 points those with x <= 2: at 90, 135, 180, 225, 270 degrees */
  saltusi_pool_free(&table.pool);
  saltusi_pool_free(&can.pool);
}

/* Lying across an edge: the rim over the face and the side on the edge. */
static void a_lying_cylinder_touches_with_rim_and_side(void** state) {
  (void)state;
  item table, can;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_BOX, .size = {4.0, 4.0, 1.0}}, &table);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.25, .length = 2.0}, &can);
  can.at.x[0] = 1.5;
  can.at.x[2] = 0.75;
  turn(&can, 0.0, acos(-1.0) / 2.0, 0.0);
  const int count = near_pairs(&can, &table, 1e-9, 1e-3, room);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < count; i++) {
    assert_near(room[i].gap, 0.0, 1e-14);
    assert_near(room[i].point[1], 0.0, 1e-12);
    low = fmin(low, room[i].point[0]);
    high = fmax(high, room[i].point[0]);
  }
  assert_near(low, 0.5, 1e-12); /* carried from its end to the edge */
  assert_near(high, 2.0, 1e-12);
  saltusi_pool_free(&table.pool);
  saltusi_pool_free(&can.pool);
}

/* Through all angles down to parallel: the least gap is the distance, and parallel ones rest on two places. */
static void capsules_may_be_parallel(void** state) {
  (void)state;
  item A, B;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 2.0}, &A);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.15, .length = 1.6}, &B);
  for (double angle = 1.0; angle > 1e-12; angle *= 0.5) {
    turn(&A, angle, 0.0, 0.0);
    A.at.x[0] = 0.26;
    A.at.x[2] = 0.3;
    const convex_distance by =
        convex_distance_of(&(convex){.def = &A.def,
                                     .x = {0.26, 0, 0.3},
                                     .R = {A.at.R[0], A.at.R[1], A.at.R[2], A.at.R[3], A.at.R[4],
                                           A.at.R[5], A.at.R[6], A.at.R[7], A.at.R[8]}},
                           &(convex){.def = &B.def, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}});
    const int count = near_pairs(&A, &B, 0.1, 1e-3, room);
    assert_near(least_gap(room, count), (double)by.upper, 1e-11);
    saltusi_separation apart;
    saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart);
    assert_near(apart.distance, (double)by.upper, 1e-11);
  }
  turn(&A, 0.0, 0.0, 0.0);
  const int count = near_pairs(&A, &B, 0.0101, 1e-3, room);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < count; i++) {
    assert_near(room[i].gap, 0.01, 1e-15);
    low = fmin(low, room[i].point[2]);
    high = fmax(high, room[i].point[2]);
  }
  assert_near(low, -0.7, 1e-15); /* the ends of the overlap */
  assert_near(high, 0.8, 1e-15);
  saltusi_pool_free(&A.pool);
  saltusi_pool_free(&B.pool);
}

static void hollow_spheres_hold_what_is_inside(void** state) {
  (void)state;
  item bowl, ball, rod, other;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 2.0, .hollow = true}, &bowl);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.5}, &ball);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.25, .length = 2.0}, &rod);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.25, .length = 2.0}, &other);
  ball.at.x[0] = 1.25;
  for (int order = 0; order < 2; order++) {
    const item* A = order == 0 ? &ball : &bowl;
    const item* B = order == 0 ? &bowl : &ball;
    saltusi_separation apart;
    assert_int_equal(near_pairs(A, B, 1.0, 0.0, room), 1);
    assert_near(room[0].gap, 0.25, 1e-15);
    assert_near(room[0].normal[0], order == 0 ? -1.0 : 1.0, 1e-15);
    saltusi_shape_separation(&A->shape, &A->at, &B->shape, &B->at, &apart);
    assert_near(apart.distance, 0.25, 1e-15);
    assert_near(apart.normal[0], order == 0 ? -1.0 : 1.0, 1e-15);
  }
  rod.at.x[2] = 0.5; /* ends at -0.5 and 1.5 */
  assert_int_equal(near_pairs(&rod, &bowl, 2.0, 0.0, room), 2);
  assert_near(room[0].gap, 1.25, 1e-15);
  assert_near(room[1].gap, 0.25, 1e-15);
  assert_false(saltusi_shape_treats(&other.shape, &bowl.shape));
  assert_false(saltusi_shape_treats(&bowl.shape, &bowl.shape));
  assert_true(saltusi_shape_treats(&bowl.shape, &rod.shape));
  item* all[] = {&bowl, &ball, &rod, &other};
  for (int i = 0; i < 4; i++) {
    saltusi_pool_free(&all[i]->pool);
  }
}

/* With `all` a ball over a box near its border has the edge and the corner beside the face, a capsule its ends beside its
 * side: what it can reach by moving that far. */
static void all_pairs_hold_what_can_be_reached(void** state) {
  (void)state;
  item box, ball, rod, other;
  saltusi_feature_candidate room[MOST];
  saltusi_candidates list = {.capacity = MOST, .item = room};
  const saltusi_near near = {.reach = 0.2, .delta = 0.1, .all = true};
  make((saltus_shape_def){.kind = SALTUS_SHAPE_BOX, .size = {2.0, 2.0, 2.0}}, &box);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.5}, &ball);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.5, .length = 1.0}, &rod);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.5, .length = 1.0}, &other);
  ball.at.x[0] = ball.at.x[1] = 0.9;
  ball.at.x[2] = 1.5;
  assert_int_equal(saltusi_shape_pairs(&ball.shape, &ball.at, &box.shape, &box.at, &near, &list),
                   SALTUS_OK);
  assert_int_equal(list.count, 4); /* face, two edges, corner */
  assert_near(least_gap(room, list.count), 0.0, 1e-15);
  list.count = 0;
  rod.at.x[0] = 1.0;
  rod.at.x[2] = 0.9; /* ends at 0.4 and 1.4, beside ends at -0.5 and 0.5 */
  assert_int_equal(saltusi_shape_pairs(&rod.shape, &rod.at, &other.shape, &other.at, &near, &list),
                   SALTUS_OK);
  bool side = false, end = false;
  for (int i = 0; i < list.count; i++) {
    side = side || (room[i].a == 1 && room[i].b == 3);
    end = end || (room[i].a == 1 && room[i].b == 2);
  }
  assert_true(side && end);
  item* all[] = {&box, &ball, &rod, &other};
  for (int i = 0; i < 4; i++) {
    saltusi_pool_free(&all[i]->pool);
  }
}

/* ------------------------------------------------------------------------------------ tori --- */

/* The distance of a point of the circle of a torus from another shape. */
static long double from_circle(const item* torus, const convex* other, double angle) {
  const saltus_shape_def dot = {.kind = SALTUS_SHAPE_SPHERE};
  const double own[3] = {torus->def.size[0] * cos(angle), torus->def.size[0] * sin(angle), 0.0};
  double world[3];
  saltusi_turn(torus->at.R, own, world);
  convex point = {.def = &dot, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  for (int k = 0; k < 3; k++) {
    point.x[k] = (long double)world[k] + torus->at.x[k];
  }
  return convex_distance_of(&point, other).upper;
}

/* Samples, then golden sections about the least. */
static double torus_distance(const item* torus, const convex* other) {
  enum { SAMPLES = 180 };
  const double step = 2.0 * acos(-1.0) / SAMPLES, golden = 0.6180339887498949;
  int least = 0;
  long double best = INFINITY;
  for (int i = 0; i < SAMPLES; i++) {
    const long double d = from_circle(torus, other, i * step);
    least = d < best ? i : least;
    best = fminl(d, best);
  }
  double low = (least - 1) * step, high = (least + 1) * step;
  for (int i = 0; i < 45; i++) {
    const double x = high - golden * (high - low), y = low + golden * (high - low);
    if (from_circle(torus, other, x) < from_circle(torus, other, y)) {
      high = y;
    } else {
      low = x;
    }
  }
  return (double)from_circle(torus, other, 0.5 * (low + high)) - torus->def.radius;
}

/* Listed and told as far as the circle is; how far they miss that. */
static double as_far_as_its_circle(const item* ring, const item* other) {
  saltusi_feature_candidate room[MOST];
  saltusi_separation apart;
  convex b = {.def = &other->def};
  for (int k = 0; k < 3; k++) {
    b.x[k] = other->at.x[k];
  }
  for (int k = 0; k < 9; k++) {
    b.R[k] = other->at.R[k];
  }
  const double distance = torus_distance(ring, &b);
  if (!(distance > 1e-6)) {
    return 0.0;
  }
  const int count = near_pairs(ring, other, distance + 1e-8, 1e-3, room);
  assert_near(least_gap(room, count), distance, 1e-9);
  saltusi_shape_separation(&ring->shape, &ring->at, &other->shape, &other->at, &apart);
  assert_near(apart.distance, distance, 1e-9);
  return fabs(least_gap(room, count) - distance);
}

static void tori_are_as_far_as_their_circles(void** state) {
  static const saltus_shape_def others[] = {
      {.kind = SALTUS_SHAPE_SPHERE, .radius = 0.4},
      {.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.15, .length = 1.2},
      {.kind = SALTUS_SHAPE_BOX, .size = {0.8, 0.5, 1.1}},
      {.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.4, .length = 0.9},
      {.kind = SALTUS_SHAPE_CONE, .radius = 0.5, .length = 0.9},
      {.kind = SALTUS_SHAPE_ELLIPSOID, .size = {0.4, 0.5, 0.7}}};
  (void)state;
  uint64_t seed = 77;
  const int draws = saltus_test_long() ? 10000 : 15;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    double worst = 0.0;
    for (int n = 0; n < draws; n++) {
      item ring, other;
      make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.2, .size = {1.0}}, &ring);
      make(others[i], &other);
      turn(&ring, uniform(&seed, -3, 3), uniform(&seed, -3, 3), uniform(&seed, -3, 3));
      turn(&other, uniform(&seed, -3, 3), uniform(&seed, -3, 3), uniform(&seed, -3, 3));
      for (int k = 0; k < 3; k++) {
        other.at.x[k] = uniform(&seed, -1.5, 1.5);
      }
      worst = fmax(worst, as_far_as_its_circle(&ring, &other));
      saltusi_pool_free(&ring.pool);
      saltusi_pool_free(&other.pool);
    }
    if (saltus_test_long()) {
      printf("| torus-%s | %d | %.1e |\n", saltus_shape_kind_name(others[i].kind), draws, worst);
    }
  }
}

/* The cone that the side of a cone is a part of goes on behind its tip and below its base. Rings that are nearer to it there,
 * or below it, touch the side elsewhere. */
static void the_side_of_a_cone_ends_at_its_tip_and_base(void** state) {
  static const double at[][3][3] = {
      {{-0.052, -0.029, -2.866}, {2.141, 2.191, -1.623}, {0.823, -0.329, 0.878}},
      {{0.956, -1.402, 2.338}, {-1.469, 1.617, -2.669}, {0.577, -0.349, -0.825}},
      {{0.187, -1.980, -2.471}, {1.008, 1.703, 0.084}, {-1.375, 1.053, -0.131}},
      {{-2.334, 0.751, -0.904}, {-1.511, 1.655, -1.799}, {-1.156, -0.052, -0.189}}};
  (void)state;
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    item ring, cone;
    make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.2, .size = {1.0}}, &ring);
    make((saltus_shape_def){.kind = SALTUS_SHAPE_CONE, .radius = 0.5, .length = 0.9}, &cone);
    turn(&ring, at[i][0][0], at[i][0][1], at[i][0][2]);
    turn(&cone, at[i][1][0], at[i][1][1], at[i][1][2]);
    memcpy(cone.at.x, at[i][2], sizeof cone.at.x);
    as_far_as_its_circle(&ring, &cone);
    saltusi_pool_free(&ring.pool);
    saltusi_pool_free(&cone.pool);
  }
}

/* An ellipsoid is left along its shortest axis where that is in the middle, from elsewhere in the plane of the other two
 * along a normal that is not: by (0.1, 0) of an ellipse (1, 0.5) x = 0.1 / 0.75 and the depth 0.5 sqrt(1 - 0.01 / 0.75). */
static void depths_in_ellipsoids_do_not_jump_in_the_middle(void** state) {
  (void)state;
  item ball, egg;
  saltusi_separation apart;
  make((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.1}, &ball);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_ELLIPSOID, .size = {1.0, 0.8, 0.5}}, &egg);
  const double depth = -0.5 * sqrt(1.0 - 0.01 / 0.75) - 0.1;
  static const double off[] = {0.0, 1e-300, 1e-30, 1e-18, 1e-16, 1e-12, 1e-10};
  for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
    ball.at.x[0] = 0.1;
    ball.at.x[2] = off[i];
    saltusi_shape_separation(&ball.shape, &ball.at, &egg.shape, &egg.at, &apart);
    assert_near(apart.distance, depth, 1e-14 + off[i]);
    assert_near(saltusi_dot3(apart.normal, apart.normal), 1.0, 1e-14);
  }
  ball.at.x[0] = 0.99; /* in that plane, but nearest to its border */
  ball.at.x[2] = 0.0;
  saltusi_shape_separation(&ball.shape, &ball.at, &egg.shape, &egg.at, &apart);
  assert_near(apart.distance, -0.11, 1e-14);
  saltusi_pool_free(&ball.pool);
  saltusi_pool_free(&egg.pool);
}

/* The distance of two circles: of a point of the first it is a formula. */
static double rings_distance(const item* A, const item* B, double angle) {
  const double own[3] = {A->def.size[0] * cos(angle), A->def.size[0] * sin(angle), 0.0};
  double world[3], from[3], seen[3];
  saltusi_turn(A->at.R, own, world);
  saltusi_along(1.0, A->at.x, world, world);
  saltusi_minus3(world, B->at.x, from);
  saltusi_turn_back(B->at.R, from, seen);
  return hypot(hypot(seen[0], seen[1]) - B->def.size[0], seen[2]);
}

static void two_tori_touch_wherever_they_are(void** state) {
  (void)state;
  uint64_t seed = 78;
  const int draws = saltus_test_long() ? 10000 : 100;
  double worst = 0.0;
  for (int n = 0; n < draws; n++) {
    item A, B;
    saltusi_feature_candidate room[MOST];
    saltusi_separation apart;
    make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.1, .size = {1.0}}, &A);
    make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.15, .size = {0.7}}, &B);
    turn(&A, uniform(&seed, -3, 3), uniform(&seed, -3, 3), uniform(&seed, -3, 3));
    turn(&B, uniform(&seed, -3, 3), uniform(&seed, -3, 3), uniform(&seed, -3, 3));
    for (int k = 0; k < 3; k++) {
      B.at.x[k] = uniform(&seed, -1.5, 1.5);
    }
    double best = INFINITY, at = 0.0;
    for (double angle = 0.0; angle < 6.3; angle += 0.002) {
      const double d = rings_distance(&A, &B, angle);
      at = d < best ? angle : at;
      best = fmin(best, d);
    }
    for (double step = 0.002; step > 1e-12; step *= 0.7) {
      const double left = rings_distance(&A, &B, at - step);
      const double right = rings_distance(&A, &B, at + step);
      at += left < best ? -step : right < best ? step : 0.0;
      best = fmin(best, fmin(left, right));
    }
    const double distance = best - 0.25;
    const int count = near_pairs(&A, &B, distance + 1e-8, 1e-3, room);
    worst = fmax(worst, fabs(least_gap(room, count) - distance));
    assert_near(least_gap(room, count), distance, 1e-9);
    saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart);
    assert_near(apart.distance, distance, 1e-9);
    saltusi_pool_free(&A.pool);
    saltusi_pool_free(&B.pool);
  }
  if (saltus_test_long()) {
    printf("| torus-torus | %d | %.1e |\n", draws, worst);
  }
  /* stacked: fixed points carry the upper one */
  item A, B;
  saltusi_feature_candidate room[MOST];
  make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.1, .size = {1.0}}, &A);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .radius = 0.1, .size = {1.0}}, &B);
  A.at.x[2] = 0.2;
  const int count = near_pairs(&A, &B, 1e-9, 1e-3, room);
  assert_true(count >= 8);
  assert_near(least_gap(room, count), 0.0, 1e-15);
  saltusi_pool_free(&A.pool);
  saltusi_pool_free(&B.pool);
}

/* ------------------------------------------------------------------------------------ boxes --- */

static const saltus_shape_kind kinds[] = {
    SALTUS_SHAPE_SPHERE,    SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_CONE,
    SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_TORUS,   SALTUS_SHAPE_BOX,      SALTUS_SHAPE_HALF_SPACE};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void boxes_hold_shapes_and_are_tight(void** state) {
  (void)state;
  uint64_t seed = 9;
  for (int n = 0; n < 300; n++) {
    for (int i = 0; i < 5; i++) {
      item one;
      double low[3], high[3];
      make((saltus_shape_def){.kind = i == 4 ? SALTUS_SHAPE_ELLIPSOID : kinds[i],
                              .radius = uniform(&seed, 0.1, 1.0),
                              .length = uniform(&seed, 0.1, 2.0),
                              .size = {0.3, 0.7, 1.1}},
           &one);
      turn(&one, uniform(&seed, -3, 3), uniform(&seed, -3, 3), uniform(&seed, -3, 3));
      convex c = {.def = &one.def};
      for (int k = 0; k < 3; k++) {
        one.at.x[k] = uniform(&seed, -9.0, 9.0);
        c.x[k] = one.at.x[k];
      }
      for (int k = 0; k < 9; k++) {
        c.R[k] = one.at.R[k];
      }
      saltusi_shape_box(&one.shape, &one.at, low, high);
      for (int k = 0; k < 3; k++) {
        long double up[3] = {k == 0, k == 1, k == 2}, p[3];
        convex_support(&c, up, p);
        assert_true((long double)high[k] >= p[k] && (long double)high[k] <= p[k] + 1e-13L);
        up[k] = -1;
        convex_support(&c, up, p);
        assert_true((long double)low[k] <= p[k] && (long double)low[k] >= p[k] - 1e-13L);
      }
      saltusi_pool_free(&one.pool);
    }
  }
}

/* A disc and a needle a million times as long as thin, deep in each other: the depth has ridges along which a search went from side
 * to side a hundred million times, for more than 40 s. It ends, and with no more depth than there is along any of many directions. */
static void searches_along_narrow_ridges_end(void** state) {
  (void)state;
  item disc, needle;
  saltusi_separation apart;
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 1e6, .length = 1.0}, &disc);
  make((saltus_shape_def){.kind = SALTUS_SHAPE_ELLIPSOID, .size = {1.7, 0.7, 1e6}}, &needle);
  turn(&needle, 0.08, 0.05, 0.1);
  const clock_t start = clock();
  saltusi_shape_separation(&disc.shape, &disc.at, &needle.shape, &needle.at, &apart);
  assert_true((double)(clock() - start) < 5.0 * CLOCKS_PER_SEC); /* it takes 0.05 s */
  convex a = {.def = &disc.def}, b = {.def = &needle.def};
  for (int k = 0; k < 9; k++) {
    a.R[k] = disc.at.R[k];
    b.R[k] = needle.at.R[k];
  }
  uint64_t seed = 3;
  for (int n = 0; n < 10000; n++) {
    long double up[3], square = 0;
    for (int k = 0; k < 3; k++) {
      up[k] = uniform(&seed, -1.0, 1.0);
      square += up[k] * up[k];
    }
    for (int k = 0; k < 3; k++) {
      up[k] /= sqrtl(square);
    }
    assert_true((long double)apart.distance >= convex_along(&a, &b, up) - 1e-3L);
  }
  saltusi_pool_free(&disc.pool);
  saltusi_pool_free(&needle.pool);
}

/* ------------------------------------------------------------------------------------ refusals --- */

static void degenerate_shapes_are_refused(void** state) {
  (void)state;
  static const struct {
    saltus_shape_def def;
    const char* says;
  } bad[] = {
      {{.kind = SALTUS_SHAPE_SPHERE}, "radius 0"},
      {{.kind = SALTUS_SHAPE_SPHERE, .radius = -1.0}, "radius -1"},
      {{.kind = SALTUS_SHAPE_SPHERE, .radius = INFINITY}, "radius inf"},
      {{.kind = SALTUS_SHAPE_SPHERE, .radius = NAN}, "radius"},
      {{.kind = SALTUS_SHAPE_SPHERE, .radius = 1e200}, "length 1e+200 m: lengths of 1e-50 to 1e50"},
      {{.kind = SALTUS_SHAPE_BOX, .size = {1.0, 1e-60, 1.0}}, "length 1e-60 m"},
      {{.kind = SALTUS_SHAPE_SPHERE, .radius = 1.0, .position = {0.0, 1e60}}, "point at 1e+60 m"},
      {{.kind = SALTUS_SHAPE_CAPSULE, .radius = 1.0, .length = -1.0}, "length -1"},
      {{.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.0, .length = 1.0}, "radius 0"},
      {{.kind = SALTUS_SHAPE_CYLINDER, .radius = 1.0}, "length 0"},
      {{.kind = SALTUS_SHAPE_CONE, .radius = 1.0, .length = NAN}, "length"},
      {{.kind = SALTUS_SHAPE_ELLIPSOID, .size = {1.0, 0.0, 1.0}}, "semi-axis 0"},
      {{.kind = SALTUS_SHAPE_TORUS, .size = {1.0}, .radius = 1.0}, "below that of the circle"},
      {{.kind = SALTUS_SHAPE_TORUS, .radius = 0.1}, "radius of the circle 0"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    saltus_shape_def def = bad[i].def;
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltus_kept_message kept = {0};
    saltusi_shape shape;
    def.name = "wheel";
    assert_int_equal(saltusi_shape_make(&def, 3, &pool, saltus_log_keep(&kept), &shape),
                     SALTUS_ERR_INPUT);
    assert_says(kept, "wheel");
    assert_says(kept, bad[i].says);
    saltusi_pool_free(&pool);
  }
  item ball; /* a capsule without length is a ball */
  make((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 1.0}, &ball);
  assert_int_equal(ball.shape.kind, SALTUS_SHAPE_SPHERE);
  saltusi_pool_free(&ball.pool);
}

/* ------------------------------------------------------------------------------------ fuzz --- */

/* Numbers as they come in scenes: round ones, zeros, tiny and huge ones. */
static double number(uint64_t* seed) {
  static const double few[] = {0.0, 1.0, -1.0, 0.5, 2.0, 1e-9, 1e-3, 1e6};
  const double x = uniform(seed, 0.0, 1.0);
  return x < 0.5 ? few[(int)(16.0 * x)] : uniform(seed, -2.0, 2.0);
}

static void fuzz_shape(uint64_t* seed, bool closed, item* out) {
  static const saltus_shape_kind simple[] = {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_CAPSULE,
                                             SALTUS_SHAPE_BOX, SALTUS_SHAPE_HALF_SPACE};
  saltus_shape_def def = {.kind = closed ? simple[(int)uniform(seed, 0.0, 4.0)]
                                         : kinds[(int)uniform(seed, 0.0, KINDS)]};
  const double large = fabs(number(seed)) + 1e-3;
  def.radius = def.kind == SALTUS_SHAPE_BOX ? 0.0 : large;
  def.length = fabs(number(seed)) + 1e-3;
  for (int k = 0; k < 3; k++) {
    def.size[k] = fabs(number(seed)) + (def.kind == SALTUS_SHAPE_TORUS ? 1.1 * large : 1e-3);
    def.position[k] = 0.1 * number(seed);
  }
  make(def, out);
  const double quarter = acos(-1.0) / 2.0;
  turn(out, quarter * number(seed), quarter * number(seed), quarter * number(seed));
  for (int k = 0; k < 3; k++) {
    out->at.x[k] = number(seed);
  }
}

static void fuzz(int calls, bool closed) {
  uint64_t seed = closed ? 4242 : 4243;
  for (int n = 0; n < calls;) {
    item A, B;
    fuzz_shape(&seed, closed, &A);
    fuzz_shape(&seed, closed, &B);
    const bool flat = (A.def.kind == SALTUS_SHAPE_BOX || A.def.kind == SALTUS_SHAPE_HALF_SPACE) &&
                      (B.def.kind == SALTUS_SHAPE_BOX || B.def.kind == SALTUS_SHAPE_HALF_SPACE);
    for (int i = 0; i < 20 && !flat && saltusi_shape_treats(&A.shape, &B.shape); i++, n++) {
      saltusi_feature_candidate room[MOST];
      for (int k = 0; k < 3; k++) {
        A.at.x[k] = number(&seed);
      }
      const double reach = fabs(number(&seed));
      saltusi_candidates list = {.capacity = MOST, .item = room};
      const saltusi_near near = {.reach = reach, .delta = fabs(number(&seed)), .all = n % 3 == 0};
      saltusi_shape_pairs(&A.shape, &A.at, &B.shape, &B.at, &near, &list);
      const int written = list.count < MOST ? list.count : MOST;
      for (int k = 0; k < written; k++) {
        double guard[SALTUSI_GUARDS];
        saltusi_pair pair;
        saltusi_pair_rows rows;
        assert_true(room[k].gap <= reach);
        assert_true(isfinite(saltusi_dot3(room[k].point, room[k].point)));
        assert_near(saltusi_dot3(room[k].normal, room[k].normal), 1.0, 1e-9);
        const int guards = saltusi_shape_guards(&A.shape, &A.at, &B.shape, &B.at, &room[k], guard) &
                           ~(SALTUSI_LIES_DOWN | SALTUSI_TILTS);
        assert_true(guards >= 0 && guards <= SALTUSI_GUARDS);
        for (int g = 0; g < guards; g++) {
          assert_true(guard[g] == guard[g]);
        }
        saltusi_shape_pair(&A.shape, &A.at, &B.shape, &B.at, &room[k], &pair);
        if (saltusi_pair_rows_at(&pair, false, &rows)) {
          for (int r = 0; r < 3; r++) {
            assert_true(isfinite(saltusi_dot3(rows.GA[r], rows.GA[r])));
          }
        }
      }
      if (closed || n % 16 == 0) { /* searches of depths are slow */
        saltusi_separation apart;
        saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart);
        assert_true(isfinite(apart.distance));
        assert_near(saltusi_dot3(apart.normal, apart.normal), 1.0, 1e-9);
      }
    }
    saltusi_pool_free(&A.pool);
    saltusi_pool_free(&B.pool);
  }
}

/* Ten million calls under make test-long: most of pairs in closed form, the rest of those that are searched. */
static void arbitrary_positions_give_numbers(void** state) {
  (void)state;
  fuzz(saltus_test_long() ? 9000000 : 98000, true);
  fuzz(saltus_test_long() ? 1000000 : 2000, false);
}

/* The place of a pair of features, and its least guard. */
static double look_at(const item* A, const item* B, const saltusi_feature_candidate* c,
                      double place[3]) {
  saltusi_pair pair;
  saltusi_closest at;
  double guard[SALTUSI_GUARDS], least = INFINITY;
  saltusi_shape_pair(&A->shape, &A->at, &B->shape, &B->at, c, &pair);
  assert_true(saltusi_pair_closest(&pair, &at));
  memcpy(place, at.pA, sizeof at.pA);
  const int count = saltusi_shape_guards(&A->shape, &A->at, &B->shape, &B->at, c, guard) & 63;
  for (int i = 0; i < count; i++) {
    least = fmin(least, guard[i]);
  }
  return least;
}

static double distance(const double a[3], const double b[3]) {
  double d[3];
  saltusi_minus3(a, b, d);
  return sqrt(saltusi_dot3(d, d));
}

/* The first two rims in a list, of which no two stand for one place; -1: none. */
static int find_rims(const item* A, const item* B, const saltusi_feature_candidate* room,
                     int count) {
  int first = -1;
  for (int i = 0; i < count; i++) {
    if (A->shape.feature[room[i].a - 1].kind != SALTUSI_FEATURE_CIRCLE ||
        B->shape.feature[room[i].b - 1].kind != SALTUSI_FEATURE_CIRCLE) {
      continue;
    }
    first = first < 0 ? i : first;
    for (int j = 0; j < i; j++) {
      if (room[j].a == room[i].a && room[j].b == room[i].b) {
        double x[3], y[3];
        look_at(A, B, &room[i], x);
        look_at(A, B, &room[j], y);
        assert_true(distance(x, y) > 1e-6);
      }
    }
  }
  return first;
}

/* A can that wobbles on another one, beside its axis: the line in which the planes of their rims meet turns all the way round, and where
 * rims cross passes from the half of one branch to that of the other. A place that is followed does not jump while its guards
 * are positive (it moves by some radii times the turn over the tilt), and the list has it under the other branch where they fall. */
static void places_where_rims_cross_are_followed(void** state) {
  (void)state;
  enum { STEPS = 3000 };
  uint64_t seed = 11;
  int handed = 0, followed = 0;
  for (int n = 0; n < 8; n++) {
    item A, B;
    saltusi_feature_candidate room[MOST], held = {.a = 0};
    make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.05, .length = 0.12}, &A);
    make((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.05, .length = 0.12}, &B);
    const double off = uniform(&seed, 0.002, 0.03), tilt = uniform(&seed, 0.01, 0.2);
    double last[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < STEPS; k++) {
      const double phi = 4.0 * acos(-1.0) * k / STEPS;
      turn(&B, tilt * cos(phi), tilt * sin(phi), 0.0);
      B.at.x[0] = off;
      B.at.x[2] = 0.13;
      saltusi_separation apart;
      saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart);
      B.at.x[2] -= apart.distance > 0.0 ? apart.distance / fabs(apart.normal[2]) : 0.0;
      double place[3];
      const double guard = held.a > 0 ? look_at(&A, &B, &held, place) : -1.0;
      if (held.a > 0) {
        assert_true(distance(place, last) < 0.01);
        followed++;
      }
      if (held.a > 0 && guard >= 0.0) {
        memcpy(last, place, sizeof last);
        continue;
      }
      const int count = near_pairs(&A, &B, 1e-6, 0.0, room);
      const int found = find_rims(&A, &B, room, count);
      if (held.a > 0 && found >= 0) {
        double there[3];
        look_at(&A, &B, &room[found], there);
        handed += distance(place, there) < 1e-9 && room[found].branch != held.branch;
      }
      held.a = 0;
      if (found >= 0) {
        held = room[found];
        look_at(&A, &B, &held, last);
      }
    }
    saltusi_pool_free(&A.pool);
    saltusi_pool_free(&B.pool);
  }
  assert_true(followed > 1000 && handed > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_touches_to_rounding_is_what_is_listed),
      cmocka_unit_test(a_standing_cylinder_has_fixed_points),
      cmocka_unit_test(a_ball_near_the_axis_of_a_cone_has_a_normal),
      cmocka_unit_test(a_ball_on_the_rim_of_a_cone_has_a_normal),
      cmocka_unit_test(a_cylinder_over_an_edge_touches_where_its_rim_crosses),
      cmocka_unit_test(a_lying_cylinder_touches_with_rim_and_side),
      cmocka_unit_test(capsules_may_be_parallel),
      cmocka_unit_test(hollow_spheres_hold_what_is_inside),
      cmocka_unit_test(all_pairs_hold_what_can_be_reached),
      cmocka_unit_test(tori_are_as_far_as_their_circles),
      cmocka_unit_test(the_side_of_a_cone_ends_at_its_tip_and_base),
      cmocka_unit_test(depths_in_ellipsoids_do_not_jump_in_the_middle),
      cmocka_unit_test(two_tori_touch_wherever_they_are),
      cmocka_unit_test(boxes_hold_shapes_and_are_tight),
      cmocka_unit_test(searches_along_narrow_ridges_end),
      cmocka_unit_test(degenerate_shapes_are_refused),
      cmocka_unit_test(places_where_rims_cross_are_followed),
      cmocka_unit_test(arbitrary_positions_give_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
