/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Rows of straight features by their short way against those by the equations of all features: the same bits, or the
 * short way leaves the pair to the others.
 */
#include "solids.h"

#include "math/rotation.h"
#include "shape/pair/closest_points.h"

enum { SHAPES = 8 };

/* Boxes sharp and rounded, hulls, a half-space, balls outside and inside, a capsule. */
static int make_shapes(saltusi_pool* pool, uint64_t* seed, saltusi_shape shape[SHAPES]) {
  const saltus_shape_def ground = {.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE};
  const saltus_shape_def ball = {.name = "ball", .kind = SALTUS_SHAPE_SPHERE, .radius = 0.4};
  const saltus_shape_def shell = {
      .name = "shell", .kind = SALTUS_SHAPE_SPHERE, .radius = 1.4, .hollow = true};
  const saltus_shape_def pill = {
      .name = "pill", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.2, .length = 0.9};
  int count = 0;
  shape[count++] = solids_make(pool, &ground);
  shape[count++] = solids_box(pool, 1.0, 0.6, 0.3, 0.0);
  shape[count++] = solids_box(pool, 0.7, 0.7, 0.7, 0.2);
  shape[count++] = solids_make(pool, &ball);
  shape[count++] = solids_make(pool, &shell);
  shape[count++] = solids_make(pool, &pill);
  if (saltus_has("qhull")) {
    shape[count++] = solids_hull(pool, seed, 7, 0.0);
    shape[count++] = solids_hull(pool, seed, 5, 0.1);
  }
  return count;
}

/* Poses: any; by quarter turns, with edges that are parallel and coordinates that are zero of either sign; turned from
 * the other by little, with edges that are nearly parallel. */
static void draw_pose(uint64_t* seed, int number, const saltusi_body_pose* other,
                      saltusi_body_pose* out) {
  const double quarter = 0.5 * acos(-1.0);
  *out = solids_anywhere(seed, 1.0);
  if (number % 4 == 1) {
    const double x[3] = {floor(solids_between(seed, -2.0, 2.0)), -0.0, 0.5};
    double r[3] = {0.0, 0.0, 0.0};
    r[number / 4 % 3] = quarter * floor(solids_between(seed, 0.0, 4.0));
    *out = solids_at(x, r);
    for (int k = 0; k < 9; k++) {
      out->R[k] = number / 4 % 2 == 0 ? out->R[k] : round(out->R[k]);
    }
  } else if (number % 4 == 2) {
    double r[3], turned[9], p[4];
    const double size = pow(10.0, solids_between(seed, -10.0, -2.0));
    for (int k = 0; k < 3; k++) {
      r[k] = size * solids_normal(seed);
    }
    saltusi_quaternion_exp(r, p);
    saltusi_quaternion_matrix(p, turned);
    saltusi_matrix3_product(turned, other->R, out->R);
  }
  for (int k = 0; k < 3; k++) {
    out->v[k] = solids_normal(seed);
    out->w[k] = solids_normal(seed);
  }
}

typedef struct tally {
  int known, straight;
} tally;

/* Whatever the pair is, rows without c are those with it. */
static void compare(const saltusi_pair* pair, tally* sum) {
  saltusi_pair_rows all, one, still, straight;
  const bool known = saltusi_pair_rows_at(pair, false, &all);
  assert_int_equal(saltusi_pair_rows_still(pair, false, 3, &still), known);
  assert_int_equal(saltusi_pair_rows_still(pair, false, 1, &one), known);
  const bool by_short_way = saltusi_pair_rows_straight(pair, false, 3, &straight);
  assert_true(known || !by_short_way);
  if (!known) {
    return;
  }
  assert_memory_equal(still.frame, all.frame, sizeof all.frame);
  assert_memory_equal(still.point, all.point, sizeof all.point);
  assert_memory_equal(still.GA, all.GA, sizeof all.GA);
  assert_memory_equal(still.GB, all.GB, sizeof all.GB);
  assert_memory_equal(&still.gap, &all.gap, sizeof all.gap);
  assert_memory_equal(one.GA, all.GA, sizeof all.GA[0]);
  assert_memory_equal(one.GB, all.GB, sizeof all.GB[0]);
  sum->known++;
  sum->straight += by_short_way ? 1 : 0;
}

static bool is_straight(const saltusi_feature* feature) {
  return feature->kind <= SALTUSI_FEATURE_PLANE;
}

static void all_pairs_of_straight_features_have_the_same_bits(void** state) {
  (void)state;
  const int rounds = saltus_test_long() ? 4000 : 60;
  uint64_t seed = 23;
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_shape shape[SHAPES];
  const int count = make_shapes(&pool, &seed, shape);
  tally sum = {0, 0};
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < count * count; i++) {
      const saltusi_shape *A = &shape[i / count], *B = &shape[i % count];
      const saltusi_body_pose here = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
      saltusi_body_pose at[2];
      draw_pose(&seed, round / 4, &here, &at[0]);
      draw_pose(&seed, round, &at[0], &at[1]);
      for (int n = 0; n < A->stored * B->stored && saltusi_shape_treats(A, B); n++) {
        const saltusi_feature_candidate numbers = {.a = 1 + n / B->stored, .b = 1 + n % B->stored};
        saltusi_pair pair;
        saltusi_shape_pair(A, &at[0], B, &at[1], &numbers, &pair);
        if (is_straight(pair.A) && is_straight(pair.B)) {
          compare(&pair, &sum);
        }
      }
    }
  }
  /* the short way leaves lines that are nearly parallel, and pairs that have no closest points */
  assert_true(sum.known > 100 * rounds && sum.straight > sum.known / 10 * 8);
  saltusi_pool_free(&pool);
}

/* Nothing that is no number comes out as one. */
static void poses_that_are_none_are_refused(void** state) {
  (void)state;
  const saltusi_feature point = {.kind = SALTUSI_FEATURE_POINT, .rho = 0.1};
  const saltusi_feature line = {.kind = SALTUSI_FEATURE_LINE, .a = {0.6, 0.0, 0.8}, .size = {1.0}};
  const saltusi_feature plane = {.kind = SALTUSI_FEATURE_PLANE, .a = {0, 0, 1}, .e = {1, 0, 0}};
  const saltusi_feature* kinds[] = {&point, &line, &plane};
  const saltusi_body_pose here = {.x = {0.3, 0.2, 0.1}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 9 * 3 * 12; i++) {
    saltusi_body_pose broken = {.R = {0, -1, 0, 1, 0, 0, 0, 0, 1}};
    const int place = i / 27;
    *(place < 3 ? &broken.x[place] : &broken.R[place - 3]) = bad[i / 9 % 3];
    for (int turned = 0; turned < 2; turned++) {
      const saltusi_pair pair = {.A = kinds[i / 3 % 3],
                                 .B = kinds[i % 3],
                                 .a = turned == 0 ? &broken : &here,
                                 .b = turned == 0 ? &here : &broken};
      saltusi_pair_rows all, still;
      assert_int_equal(saltusi_pair_rows_still(&pair, false, 3, &still),
                       saltusi_pair_rows_at(&pair, false, &all));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_pairs_of_straight_features_have_the_same_bits),
      cmocka_unit_test(poses_that_are_none_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
