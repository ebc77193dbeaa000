/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What one draws of a shape reaches as far on the paper as the shape does, from any side; what has no end is drawn around
 * the middle of the view.
 */
#include "anyshape.h"
#include "math/rotation.h"
#include "shape/lines.h"

typedef struct extent {
  const saltusi_silhouette_view* sight;
  double low[2], high[2];
  int areas, lines;
} extent;

static void measure(void* user, bool closed, const double (*point)[3], int count) {
  extent* e = user;
  assert_true(count >= (closed ? 3 : 2));
  *(closed ? &e->areas : &e->lines) += 1;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 2; k++) {
      const double at = saltusi_dot3(point[i], k == 0 ? e->sight->right : e->sight->up);
      assert_true(isfinite(at));
      e->low[k] = fmin(e->low[k], at);
      e->high[k] = fmax(e->high[k], at);
    }
  }
}

static void draw(const saltusi_shape* shape, saltusi_silhouette_view* sight, extent* out) {
  *out = (extent){.sight = sight, .low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
  sight->line = measure;
  sight->user = out;
  saltusi_shape_lines(shape, sight);
}

static void drawings_are_as_large_as_shapes(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int n = 0; n < 20 * ANY_KINDS; n++) {
    const any_kind kind = (any_kind)(n % ANY_KINDS);
    any one;
    any_make(&seed, kind, &one);
    const double* R = one.at.R; /* its rows are axes of the paper, and z points to the viewer */
    saltusi_silhouette_view sight = {
        .right = {R[0], R[1], R[2]}, .up = {R[3], R[4], R[5]}, .far = 2.0};
    extent e;
    draw(&one.shape, &sight, &e);
    if (kind == ANY_HALF_SPACE) {
      assert_int_equal(e.areas + e.lines, 1);
      any_free(&one);
      continue;
    }
    saltusi_body_pose turned = one.at;
    double low[3], high[3];
    memset(turned.x, 0, sizeof turned.x);
    saltusi_shape_box(&one.shape, &turned, low, high);
    for (int k = 0; k < 2; k++) {
      assert_near(e.low[k], low[k], 1e-12);
      assert_near(e.high[k], high[k], 1e-12);
    }
    const bool mesh = kind == ANY_MESH || kind == ANY_HEIGHTFIELD;
    assert_true(mesh ? e.areas == 0 : e.areas > 0);
    any_free(&one);
  }
}

static extent of_plane(const saltus_shape_def* def) {
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_shape shape;
  assert_int_equal(saltusi_shape_make(def, 2, &pool, (saltus_log){0}, &shape), SALTUS_OK);
  saltusi_silhouette_view sight = {
      .right = {1.0, 0.0, 0.0}, .up = {0.0, 1.0, 0.0}, .middle = {5.0, 7.0, 0.0}, .far = 3.0};
  extent e;
  draw(&shape, &sight, &e);
  saltusi_pool_free(&pool);
  return e;
}

static void shapes_of_the_plane_have_outlines(void** state) {
  (void)state;
  const double corner[8] = {0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 0.0, 1.0};
  extent e = of_plane(&(saltus_shape_def){
      .name = "p", .kind = SALTUS_SHAPE_POLYGON, .points = corner, .point_count = 4});
  assert_near(e.low[0], 0.0, 0.0);
  assert_near(e.high[0], 2.0, 1e-15);
  assert_near(e.high[1], 1.0, 1e-15);
  assert_int_equal(e.areas, 1);
  e = of_plane(&(saltus_shape_def){.name = "r",
                                   .kind = SALTUS_SHAPE_POLYGON,
                                   .points = corner,
                                   .point_count = 4,
                                   .radius = 0.5});
  assert_near(e.low[0], -0.5, 1e-12);
  assert_near(e.high[1], 1.5, 1e-12);
  e = of_plane(
      &(saltus_shape_def){.name = "c", .kind = SALTUS_SHAPE_CIRCLE, .radius = 2.0, .hollow = true});
  assert_near(e.high[0], 2.0, 1e-15);
  assert_int_equal(e.areas, 0); /* one sees into it */
  /* a half circle bulging to the right of the way from (0, 0) to (2, 0): below */
  const double bulge[1] = {1.0};
  e = of_plane(&(saltus_shape_def){.name = "a",
                                   .kind = SALTUS_SHAPE_CHAIN,
                                   .points = corner,
                                   .point_count = 2,
                                   .bulges = bulge});
  assert_near(e.low[0], 0.0, 1e-12);
  assert_near(e.high[0], 2.0, 1e-12);
  assert_near(e.high[1] - e.low[1], 1.0, 3e-3); /* 24 points of it */
  e = of_plane(&(saltus_shape_def){.name = "h", .kind = SALTUS_SHAPE_HALF_PLANE});
  assert_near(e.high[0], 8.0, 1e-12); /* 3 m around x = 5 */
  assert_near(e.high[1], 0.0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drawings_are_as_large_as_shapes),
      cmocka_unit_test(shapes_of_the_plane_have_outlines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
