/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Curved shapes against a convex program: separations and least gaps of lists are the distance, no listed pair is closer
 * than the shapes, guards hold where a pair is the closest, and degenerate input is refused.
 */
#include "convex.h"
#include "math/rotation.h"
#include "saltus_test.h"
#include "shape/narrow_phase.h"
#include "shape/pair/pair.h"

#include <float.h>
#include <stdio.h>

enum { MOST = 256 };

static double uniform(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

static void scale_to_one(double x[3]) {
  const double length = sqrt(saltusi_dot3(x, x));
  for (int k = 0; k < 3; k++) {
    x[k] /= length;
  }
}

static void random_rotation(uint64_t* seed, double R[9]) {
  double p[4];
  for (int k = 0; k < 4; k++) {
    do {
      p[k] = uniform(seed, -1.0, 1.0);
    } while (p[k] == 0.0);
  }
  saltusi_quaternion_matrix(p, R);
}

/* A body with one shape, and the same for the oracle. */
typedef struct item {
  saltus_shape_def def;
  double points[3 * 16];
  saltusi_pool pool;
  saltusi_shape shape;
  saltusi_body_pose at;
} item;

static void random_shape(uint64_t* seed, saltus_shape_kind kind, item* out) {
  memset(out, 0, sizeof *out);
  out->def.name = "drawn";
  out->def.kind = kind;
  out->def.radius = uniform(seed, 0.1, 0.8);
  out->def.length = uniform(seed, 0.2, 2.0);
  for (int k = 0; k < 3; k++) {
    out->def.size[k] = uniform(seed, 0.3, 1.2);
  }
  if (kind == SALTUS_SHAPE_BOX || kind == SALTUS_SHAPE_HULL) {
    out->def.radius = uniform(seed, 0.0, 1.0) < 0.5 ? 0.0 : 0.2;
  }
  if (kind == SALTUS_SHAPE_TORUS) {
    out->def.size[0] = uniform(seed, 0.5, 1.0);
    out->def.radius = uniform(seed, 0.1, 0.4);
  }
  if (kind == SALTUS_SHAPE_HULL) {
    out->def.points = out->points;
    out->def.point_count = 4 + (int)uniform(seed, 0.0, 12.0);
    for (int k = 0; k < 3 * out->def.point_count; k++) {
      out->points[k] = uniform(seed, -0.7, 0.7);
    }
  }
  for (int k = 0; k < 3; k++) {
    out->def.position[k] = uniform(seed, -0.3, 0.3);
  }
  out->def.orientation.kind = SALTUS_ORIENTATION_QUATERNION;
  for (int k = 0; k < 4; k++) {
    out->def.orientation.value[k] = uniform(seed, -1.0, 1.0);
  }
  out->pool = saltusi_pool_over(NULL);
  assert_int_equal(saltusi_shape_make(&out->def, 3, &out->pool, (saltus_log){0}, &out->shape),
                   SALTUS_OK);
  random_rotation(seed, out->at.R);
}

static convex of(const item* one) {
  convex out = {.def = &one->def};
  double own[9], both[9], x[3];
  saltusi_orientation_matrix(&one->def.orientation, own);
  saltusi_matrix3_product(one->at.R, own, both);
  saltusi_turn(one->at.R, one->def.position, x);
  for (int k = 0; k < 9; k++) {
    out.R[k] = both[k];
  }
  for (int k = 0; k < 3; k++) {
    out.x[k] = (long double)one->at.x[k] + x[k];
  }
  return out;
}

static saltusi_candidates near_pairs(const item* A, const item* B, double reach,
                                     saltusi_feature_candidate room[MOST]) {
  saltusi_candidates list = {.capacity = MOST, .item = room};
  const saltusi_near near = {.reach = reach, .delta = 0.1};
  assert_int_equal(saltusi_shape_pairs(&A->shape, &A->at, &B->shape, &B->at, &near, &list),
                   SALTUS_OK);
  assert_true(list.count <= MOST);
  return list;
}

/* What holds for every listed pair: its gap is that of its features, whichever shape comes first. */
static double least_of(const item* A, const item* B, const saltusi_candidates* list,
                       const saltusi_feature_candidate** least) {
  double gap = INFINITY;
  for (int i = 0; i < list->count; i++) {
    const saltusi_feature_candidate* c = &list->item[i];
    saltusi_pair pair;
    saltusi_closest at;
    saltusi_shape_pair(&A->shape, &A->at, &B->shape, &B->at, c, &pair);
    assert_true(saltusi_pair_closest(&pair, &at));
    assert_near(at.gap, c->gap, 1e-12);
    assert_near(saltusi_dot3(c->normal, c->normal), 1.0, 1e-12);
    if (c->gap < gap) {
      gap = c->gap;
      *least = c;
    }
    if (i > 0) {
      const saltusi_feature_candidate* p = c - 1;
      assert_true(p->a < c->a || (p->a == c->a && p->b < c->b) ||
                  (p->a == c->a && p->b == c->b && p->branch < c->branch));
    }
  }
  return gap;
}

typedef struct kinds {
  saltus_shape_kind A, B;
  int most; /* draws of make test-long */
} kinds;

/* A build without qhull makes no hulls. */
static bool lacks_hulls(const kinds* k) {
  return (k->A == SALTUS_SHAPE_HULL || k->B == SALTUS_SHAPE_HULL) && !saltus_has("qhull");
}

static const kinds convex_pairs[] = {
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_SPHERE, 1000000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_CAPSULE, 1000000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_CYLINDER, 1000000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_CONE, 1000000},
    {SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_CAPSULE, 1000000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_BOX, 1000000},
    {SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_BOX, 1000000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_ELLIPSOID, 1000000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_ELLIPSOID, 10000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_CAPSULE, 10000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_BOX, 10000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_HULL, 10000},
    {SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_CYLINDER, 10000},
    {SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_CONE, 10000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_CYLINDER, 10000},
    {SALTUS_SHAPE_ELLIPSOID, SALTUS_SHAPE_CONE, 10000},
    {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_HULL, 10000},
    {SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_HULL, 10000},
};

static void place(uint64_t* seed, double far, item* A, item* B) {
  double n[3], length;
  do {
    for (int k = 0; k < 3; k++) {
      n[k] = uniform(seed, -1.0, 1.0);
    }
    length = sqrt(saltusi_dot3(n, n));
  } while (!(length > 0.1 && length < 1.0));
  for (int k = 0; k < 3; k++) {
    B->at.x[k] = uniform(seed, -5.0, 5.0);
    A->at.x[k] = B->at.x[k] + far * n[k] / length;
  }
}

/* A depth is the movement along its own normal, and no direction that a search finds is shorter. */
static void check_depth(const convex* a, const convex* b, const saltusi_separation* apart,
                        bool search) {
  const long double n[3] = {apart->normal[0], apart->normal[1], apart->normal[2]};
  assert_near((double)convex_along(a, b, n), apart->distance, 1e-9);
  if (search) {
    long double best[3];
    const double depth = (double)convex_depth_of(a, b, best);
    if (apart->distance < depth - 1e-9) {
      print_message("kinds %d %d: depth %.15g, found %.15g\n", a->def->kind, b->def->kind,
                    apart->distance, depth);
      fail();
    }
  }
}

static void compare(item* A, item* B, bool deep, double worst[2]) {
  const convex a = of(A), b = of(B);
  const convex_distance by = convex_distance_of(&a, &b);
  saltusi_separation apart, back;
  saltusi_feature_candidate room[MOST];
  const saltusi_feature_candidate* least = NULL;
  assert_true(by.upper - by.lower < 1e-12L); /* proven by its own bound */
  assert_int_equal(saltusi_shape_separation(&A->shape, &A->at, &B->shape, &B->at, &apart),
                   SALTUS_OK);
  assert_int_equal(saltusi_shape_separation(&B->shape, &B->at, &A->shape, &A->at, &back),
                   SALTUS_OK);
  assert_near(apart.distance, back.distance, 1e-10);
  if (by.upper <= 0) {
    assert_true(apart.distance <= 1e-9);
    check_depth(&a, &b, &apart, deep);
    const saltusi_candidates list = near_pairs(A, B, 1e-9, room);
    if (list.count == 0) { /* a false negative */
      print_message("kinds %d %d: depth %.15g, nothing listed\n", A->def.kind, B->def.kind,
                    apart.distance);
      fail();
    }
    return;
  }
  worst[0] = fmax(worst[0], fabs(apart.distance - (double)by.upper));
  const saltusi_candidates list = near_pairs(A, B, (double)by.upper + 1e-9, room);
  const double gap = least_of(A, B, &list, &least);
  worst[1] = fmax(worst[1], fabs(gap - (double)by.upper));
  if (fabs(gap - (double)by.upper) > 1e-9 || fabs(apart.distance - (double)by.upper) > 1e-9) {
    print_message("kinds %d %d: distance %.15Lg, separation %.15g, least gap %.15g of %d\n",
                  A->def.kind, B->def.kind, by.upper, apart.distance, gap, list.count);
    fail();
  }
  double guard[SALTUSI_GUARDS];
  const int guards = saltusi_shape_guards(&A->shape, &A->at, &B->shape, &B->at, least, guard) &
                     ~(SALTUSI_LIES_DOWN | SALTUSI_TILTS);
  for (int i = 0; i < guards; i++) {
    assert_true(guard[i] >= -1e-9);
  }
  saltusi_feature_candidate other[MOST];
  const saltusi_candidates wide = near_pairs(A, B, (double)by.upper + 0.3, room);
  assert_true(least_of(A, B, &wide, &least) >= (double)by.upper - 1e-9);
  assert_int_equal(near_pairs(B, A, (double)by.upper + 0.3, other).count, wide.count);
}

static void distances_are_those_of_a_convex_program(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof convex_pairs / sizeof convex_pairs[0]; i++) {
    const kinds* k = &convex_pairs[i];
    if (lacks_hulls(k)) {
      continue;
    }
    uint64_t seed = 100 + i;
    double worst[2] = {0.0, 0.0};
    const int draws = saltus_test_long() ? k->most : saltus_test_draws(60);
    for (int n = 0; n < draws; n++) {
      item A, B;
      random_shape(&seed, k->A, &A);
      random_shape(&seed, k->B, &B);
      place(&seed, uniform(&seed, n % 4 == 0 ? 0.1 : 0.7, 3.0), &A, &B);
      compare(&A, &B, n < (saltus_test_long() ? 2000 : 20), worst);
      saltusi_pool_free(&A.pool);
      saltusi_pool_free(&B.pool);
    }
    if (saltus_test_long()) {
      printf("| %s-%s | %d | %.1e | %.1e |\n", saltus_shape_kind_name(k->A),
             saltus_shape_kind_name(k->B), draws, worst[0], worst[1]);
    }
  }
}

static const kinds sharp_pairs[] = {
    {SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_CYLINDER, 10000},
    {SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_BOX, 10000},
    {SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_HULL, 10000},
    {SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_CONE, 10000},
    {SALTUS_SHAPE_CONE, SALTUS_SHAPE_CONE, 10000},
    {SALTUS_SHAPE_CONE, SALTUS_SHAPE_BOX, 10000},
    {SALTUS_SHAPE_CONE, SALTUS_SHAPE_HULL, 10000},
};

/* A vertex next to a rim is no contact: sharp shapes are compared where they touch. One moves towards the other until it
 * does; then a pair is listed whose gap is zero and whose normal parts the two, to the square root of rounding. */
static void touch(item* A, item* B, double worst[2]) {
  double to[3], along = 0.0;
  saltusi_separation apart;
  saltusi_feature_candidate room[MOST];
  const double start[3] = {A->at.x[0], A->at.x[1], A->at.x[2]};
  double cA[3], cB[3];
  saltusi_turn(A->at.R, A->shape.centre, cA);
  saltusi_turn(B->at.R, B->shape.centre, cB);
  for (int k = 0; k < 3; k++) {
    to[k] = B->at.x[k] + cB[k] - cA[k] - start[k];
  }
  scale_to_one(to);
  for (int i = 0; i < 200; i++) { /* as far as nothing can touch */
    assert_int_equal(saltusi_shape_separation(&A->shape, &A->at, &B->shape, &B->at, &apart),
                     SALTUS_OK);
    if (i % 10 == 0) {
      const convex a = of(A), b = of(B);
      const convex_distance by = convex_distance_of(&a, &b);
      const long double n[3] = {apart.normal[0], apart.normal[1], apart.normal[2]};
      /* its normal proves that they are so far apart; that they are not farther, the program, where it ends */
      assert_true(convex_along(&a, &b, n) >= (long double)apart.distance - 1e-9L);
      if (by.lower > 0 && by.upper - by.lower < 1e-9L) {
        worst[0] = fmax(worst[0], fabs(apart.distance - (double)by.upper));
        assert_near(apart.distance, (double)by.upper, 1e-9);
      }
    }
    if (apart.distance < 1e-10) {
      break;
    }
    along += apart.distance;
    saltusi_along(along, to, start, A->at.x);
  }
  assert_near(apart.distance, 0.0, 1e-10);
  const convex a = of(A), b = of(B);
  const saltusi_candidates list = near_pairs(A, B, 1e-8, room);
  bool parted = false;
  for (int i = 0; i < list.count; i++) {
    const double* n = room[i].normal;
    const long double direction[3] = {n[0], n[1], n[2]};
    const double height = (double)convex_along(&a, &b, direction);
    if (fabs(room[i].gap) < 1e-8 && height > -1e-8) {
      parted = true;
      worst[1] = fmax(worst[1], fabs(room[i].gap));
    }
  }
  if (!parted) {
    print_message("kinds %d %d touch, %d pairs, none at a gap of zero with a normal of both\n",
                  A->def.kind, B->def.kind, list.count);
    for (int i = 0; i < list.count; i++) {
      const double* n = room[i].normal;
      const long double direction[3] = {n[0], n[1], n[2]};
      print_message("  %d %d %d: gap %g, along it %Lg\n", room[i].a, room[i].b, room[i].branch,
                    room[i].gap, convex_along(&a, &b, direction));
    }
    fail();
  }
}

/* Two drawn shapes, B without a radius where it would be rounded, as far as they go. */
static void draw_and_touch(uint64_t* seed, const kinds* k, double worst[2]) {
  item A, B;
  random_shape(seed, k->A, &A);
  random_shape(seed, k->B, &B);
  B.def.radius = k->B == SALTUS_SHAPE_CYLINDER || k->B == SALTUS_SHAPE_CONE ? B.def.radius : 0.0;
  assert_int_equal(saltusi_shape_make(&B.def, 3, &B.pool, (saltus_log){0}, &B.shape), SALTUS_OK);
  place(seed, 4.0, &A, &B);
  touch(&A, &B, worst);
  saltusi_pool_free(&A.pool);
  saltusi_pool_free(&B.pool);
}

/* Of these the way out is found slowly: listed were pairs that overlap by 1e-3 along axes nearby. */
static void the_axis_is_found_where_the_search_is_slow(void** state) {
  (void)state;
  static const struct {
    int pair;
    uint64_t seed;
  } slow[] = {{1, 4151739759168047922u},
              {1, 2255495959167297952u},
              {2, 1604086147063596690u},
              {6, 12919376795117313895u}};
  for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
    uint64_t seed = slow[i].seed;
    double worst[2] = {0.0, 0.0};
    if (!lacks_hulls(&sharp_pairs[slow[i].pair])) {
      draw_and_touch(&seed, &sharp_pairs[slow[i].pair], worst);
    }
  }
}

static void sharp_shapes_touch_with_normals_that_part_them(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof sharp_pairs / sizeof sharp_pairs[0]; i++) {
    const kinds* k = &sharp_pairs[i];
    if (lacks_hulls(k)) {
      continue;
    }
    uint64_t seed = 300 + i;
    double worst[2] = {0.0, 0.0};
    const int draws = saltus_test_long() ? k->most : 20;
    for (int n = 0; n < draws; n++) {
      draw_and_touch(&seed, k, worst);
    }
    if (saltus_test_long()) {
      printf("| %s-%s | %d | %.1e | %.1e |\n", saltus_shape_kind_name(k->A),
             saltus_shape_kind_name(k->B), draws, worst[0], worst[1]);
    }
  }
}

/* A half-space is all that is below a plane: the lowest point by the support function. */
static void half_spaces_see_the_lowest_point(void** state) {
  static const saltus_shape_kind on[] = {SALTUS_SHAPE_SPHERE, SALTUS_SHAPE_CAPSULE,
                                         SALTUS_SHAPE_CYLINDER, SALTUS_SHAPE_CONE,
                                         SALTUS_SHAPE_ELLIPSOID};
  (void)state;
  uint64_t seed = 5;
  const int draws = saltus_test_long() ? 100000 : 200;
  for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
    for (int n = 0; n < draws; n++) {
      item A, B;
      saltusi_feature_candidate room[MOST];
      saltusi_separation apart;
      const saltusi_feature_candidate* least = NULL;
      random_shape(&seed, on[i], &A);
      random_shape(&seed, SALTUS_SHAPE_HALF_SPACE, &B);
      place(&seed, uniform(&seed, 0.1, 3.0), &A, &B);
      const convex a = of(&A), b = of(&B);
      const long double m[3] = {b.R[2], b.R[5], b.R[8]}, down[3] = {-m[0], -m[1], -m[2]};
      long double p[3], height = 0;
      convex_support(&a, down, p);
      for (int k = 0; k < 3; k++) {
        height += m[k] * (p[k] - b.x[k]);
      }
      assert_int_equal(saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart),
                       SALTUS_OK);
      assert_near(apart.distance, (double)height, 1e-13);
      const saltusi_candidates list = near_pairs(&A, &B, (double)height + 1e-9, room);
      assert_near(least_of(&A, &B, &list, &least), (double)height, 1e-13);
      assert_true(near_pairs(&B, &A, (double)height + 1e-9, room).count == list.count);
      saltusi_pool_free(&A.pool);
      saltusi_pool_free(&B.pool);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_those_of_a_convex_program),
      cmocka_unit_test(sharp_shapes_touch_with_normals_that_part_them),
      cmocka_unit_test(the_axis_is_found_where_the_search_is_slow),
      cmocka_unit_test(half_spaces_see_the_lowest_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
