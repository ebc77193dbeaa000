/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_shape_plane.c - planar shapes: what is refused, which features touch, how far shapes are apart. Distances are
 * judged by samples of the outlines and by formulas written here.
 */
#include "saltus_test.h"
#include "shape/narrow_phase.h"
#include "shape/plane/planar_outline.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fixture {
  saltusi_pool pool;
  saltus_kept_message kept;
} fixture;

static fixture begin(void) {
  fixture f;
  memset(&f, 0, sizeof f);
  f.pool = saltusi_pool_over(NULL);
  return f;
}

static saltusi_shape make(fixture* f, const saltus_shape_def* def) {
  saltusi_shape shape;
  f->kept = (saltus_kept_message){0};
  assert_int_equal(saltusi_shape_make(def, 2, &f->pool, saltus_log_keep(&f->kept), &shape),
                   SALTUS_OK);
  return shape;
}

static void refused(const saltus_shape_def* def, const char* words) {
  fixture f = begin();
  saltusi_shape shape;
  assert_int_equal(saltusi_shape_make(def, 2, &f.pool, saltus_log_keep(&f.kept), &shape),
                   SALTUS_ERR_INPUT);
  assert_says(f.kept, words);
  saltusi_pool_free(&f.pool);
}

static saltusi_body_pose at(double x, double y, double angle) {
  saltusi_body_pose c = {.x = {x, y, 0.0}};
  c.R[0] = c.R[4] = cos(angle);
  c.R[3] = sin(angle);
  c.R[1] = -c.R[3];
  c.R[8] = 1.0;
  return c;
}

static double random_in(uint64_t* state, double low, double high) {
  return low + (high - low) * saltus_test_random(state);
}

static const double square[] = {0, 0, 1, 0, 1, 1, 0, 1};

static void degenerate_shapes_are_refused_in_words(void** unused) {
  (void)unused;
  saltus_shape_def def = {.name = "s", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.0};
  refused(&def, "shape s: radius 0");
  def.radius = NAN;
  refused(&def, "radius nan");
  def =
      (saltus_shape_def){.name = "s", .kind = SALTUS_SHAPE_CAPSULE, .radius = 1.0, .length = -1.0};
  refused(&def, "length -1");
  def = (saltus_shape_def){
      .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = square, .point_count = 2};
  refused(&def, "2 points are given, a polygon has at least 3");
  const double twice[] = {0, 0, 1, 0, 1, 0, 0, 1};
  def.points = twice;
  def.point_count = 4;
  refused(&def, "points 1 and 2 are the same place");
  const double bow[] = {0, 0, 1, 1, 1, 0, 0, 1};
  def.points = bow;
  refused(&def, "edges 0 and 2 cross");
  const double clockwise[] = {0, 0, 0, 1, 1, 1, 1, 0};
  def.points = clockwise;
  refused(&def, "counter-clockwise");
  const double spike[] = {0, 0, 2, 0, 1, 0, 1, 1};
  def.points = spike;
  refused(&def, "cross");
  const double infinite[] = {0, 0, 1, 0, INFINITY, 1};
  def.points = infinite;
  def.point_count = 3;
  refused(&def, "point 2 (inf, 1) is not finite");
  const double flat[] = {0, 0, 1, 0, 2, 0};
  def.points = flat;
  refused(&def, "cross");
  const double notch[] = {0, 0, 2, 0, 1, 0.5, 1, 2};
  def.points = notch;
  def.point_count = 4;
  def.radius = 0.1;
  refused(&def, "only a convex polygon can be rounded");
  const double bulge[] = {0.0, NAN, 0.0};
  def = (saltus_shape_def){
      .name = "s", .kind = SALTUS_SHAPE_CHAIN, .points = square, .point_count = 4, .bulges = bulge};
  refused(&def, "bulge 1");
  def.kind = SALTUS_SHAPE_SEGMENT;
  refused(&def, "a segment has 2");
  def = (saltus_shape_def){.name = "s", .kind = SALTUS_SHAPE_SPHERE, .radius = 1.0};
  refused(&def, "a sphere is a shape of space");
}

/* Ends of the overlap of two edges that lie on each other, in any place and orientation. */
static void edges_on_edges_touch_at_the_ends_of_their_overlap(void** unused) {
  (void)unused;
  uint64_t state = 4;
  for (int draw = 0; draw < 500; draw++) {
    fixture f = begin();
    const double w = random_in(&state, 0.3, 1.5), W = random_in(&state, 0.3, 1.5);
    const double off = random_in(&state, -0.8, 0.8), angle = random_in(&state, 0.0, 6.28);
    const double above[] = {off - w / 2, 0, off + w / 2, 0, off + w / 2, 1, off - w / 2, 1};
    const double below[] = {-W / 2, -1, W / 2, -1, W / 2, 0, -W / 2, 0};
    saltus_shape_def def = {
        .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = above, .point_count = 4};
    const saltusi_shape A = make(&f, &def);
    def.points = below;
    const saltusi_shape B = make(&f, &def);
    const double x = random_in(&state, -1, 1), y = random_in(&state, -1, 1);
    const double tilt = draw % 3 == 0 ? 2e-10 : 0.0;
    const saltusi_body_pose a = at(x, y, angle + tilt), b = at(x, y, angle);
    saltusi_feature_candidate item[16];
    saltusi_candidates list = {.capacity = 16, .item = item};
    assert_int_equal(
        saltusi_shape_pairs(&A, &a, &B, &b, &(saltusi_near){.reach = 1e-9, .delta = 1e-6}, &list),
        SALTUS_OK);
    const double low = fmax(off - w / 2, -W / 2), high = fmin(off + w / 2, W / 2);
    if (high < low) {
      assert_int_equal(list.count, 0);
    } else {
      assert_int_equal(list.count, 2);
      double along[2];
      for (int k = 0; k < 2; k++) {
        along[k] = cos(angle) * (item[k].point[0] - x) + sin(angle) * (item[k].point[1] - y);
        assert_near(item[k].gap, 0.0, tilt == 0.0 ? 1e-15 : 1e-9);
        assert_near(item[k].normal[0], -sin(angle), 1e-9);
      }
      assert_near(fmin(along[0], along[1]), low, tilt == 0.0 ? 1e-12 : 1e-9);
      assert_near(fmax(along[0], along[1]), high, tilt == 0.0 ? 1e-12 : 1e-9);
    }
    saltusi_pool_free(&f.pool);
  }
}

/* Squares that lie in each other by micrometres, a little aside and tilted: a corner that is in the other one is held by what it came in
 * through, never pushed out at the far side. */
static void shallow_corners_are_not_pushed_through(void** unused) {
  (void)unused;
  uint64_t state = 5;
  fixture f = begin();
  const saltus_shape_def def = {
      .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = square, .point_count = 4};
  const saltusi_shape A = make(&f, &def);
  const saltusi_shape B = make(&f, &def);
  const saltusi_body_pose b = at(0.0, 0.0, 0.0);
  for (int draw = 0; draw < 20000; draw++) {
    const double aside = random_in(&state, -1e-4, 1e-4), tilt = random_in(&state, -1e-5, 1e-5);
    const double into = random_in(&state, 1e-5, 1e-4);
    const saltusi_body_pose a = at(aside, 1.0 - into, tilt);
    saltusi_feature_candidate item[16];
    saltusi_candidates list = {.capacity = 16, .item = item};
    assert_int_equal(saltusi_shape_pairs(&A, &a, &B, &b, &(saltusi_near){.reach = 0.0}, &list),
                     SALTUS_OK);
    assert_true(list.count >= 1);
    for (int k = 0; k < list.count; k++) {
      assert_true(item[k].gap > -3e-4);
    }
  }
  saltusi_pool_free(&f.pool);
}

static int list_of(const saltusi_shape* A, const saltusi_shape* B, double reach, double delta,
                   saltusi_feature_candidate item[16]) {
  const saltusi_body_pose still = at(0, 0, 0);
  saltusi_candidates list = {.capacity = 16, .item = item};
  saltusi_shape_pairs(A, &still, B, &still, &(saltusi_near){.reach = reach, .delta = delta}, &list);
  return list.count;
}

static void reflex_corners_hold_both_and_convex_corners_one(void** unused) {
  (void)unused;
  fixture f = begin();
  const double ell[] = {0, 0, 3, 0, 3, 1, 1, 1, 1, 3, 0, 3};
  saltus_shape_def def = {
      .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = ell, .point_count = 6};
  const saltusi_shape L = make(&f, &def);
  assert_false(L.convex);
  def.point_count = 4;
  saltusi_feature_candidate item[16];

  const double in_notch[] = {1, 1, 1.5, 1, 1.5, 1.5, 1, 1.5}; /* its corner in the reflex corner */
  def.points = in_notch;
  const saltusi_shape S = make(&f, &def);
  assert_int_equal(list_of(&S, &L, 1e-9, 1e-6, item), 4);
  int up = 0, right = 0;
  for (int k = 0; k < 4; k++) {
    up += item[k].normal[1] > 0.9;
    right += item[k].normal[0] > 0.9;
  }
  assert_int_equal(up, 2);
  assert_int_equal(right, 2);

  const double on_floor[] = {1.3, 1, 1.8, 1, 1.8, 1.5, 1.3, 1.5};
  def.points = on_floor;
  const saltusi_shape D = make(&f, &def);
  assert_int_equal(list_of(&D, &L, 1e-9, 1e-6, item), 2);

  const double tip[] = {2, 1, 2.5, 1.4, 1.5, 1.4};
  def.points = tip;
  def.point_count = 3;
  const saltusi_shape T = make(&f, &def);
  assert_int_equal(list_of(&T, &L, 1e-9, 1e-6, item), 1);
  assert_int_equal(item[0].a, 1);

  const double corner[] = {3, 1, 4, 1.5, 3.5, 2}; /* its corner on the corner of L */
  def.points = corner;
  const saltusi_shape C = make(&f, &def);
  assert_int_equal(list_of(&C, &L, 1e-9, 0.05, item), 1);

  /* a corner left of and above a corner, beyond the ends of all edges: one of four pairs, with the largest gap */
  const double away[] = {3.003, 1.004, 4, 1.5, 3.5, 2};
  def.points = away;
  const saltusi_shape E = make(&f, &def);
  assert_int_equal(list_of(&E, &L, 1e-2, 0.05, item), 1);
  assert_near(item[0].gap, 0.004, 1e-2); /* some separating axis */
  assert_true(item[0].gap > 0.0);
  saltusi_pool_free(&f.pool);
}

/* A circle led around a square: side, corner, side, ..., always exactly one, whose guards are positive. */
static void a_circle_around_a_polygon_has_one_owner_everywhere(void** unused) {
  (void)unused;
  fixture f = begin();
  saltus_shape_def def = {
      .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = square, .point_count = 4};
  const saltusi_shape B = make(&f, &def);
  def = (saltus_shape_def){.name = "c", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.25};
  const saltusi_shape A = make(&f, &def);
  int last = 0, changes = 0;
  for (int k = 0; k < 4000; k++) {
    const double r = 1.2, angle = 2.0 * 3.14159265358979 * k / 4000.0;
    const saltusi_body_pose a = at(0.5 + r * cos(angle), 0.5 + r * sin(angle), 0.0),
                            b = at(0, 0, 0);
    saltusi_feature_candidate item[16];
    saltusi_candidates list = {.capacity = 16, .item = item};
    saltusi_shape_pairs(&A, &a, &B, &b, &(saltusi_near){.reach = 1.0, .delta = 0.1}, &list);
    assert_int_equal(list.count, 1);
    const double dx = fmax(0.0, fabs(r * cos(angle)) - 0.5),
                 dy = fmax(0.0, fabs(r * sin(angle)) - 0.5);
    assert_near(item[0].gap, hypot(dx, dy) - 0.25, 4e-16);
    double guard[SALTUSI_GUARDS];
    const int guards = saltusi_shape_guards(&A, &a, &B, &b, &item[0], guard);
    assert_int_equal(guards, 2);
    assert_true(guard[0] > -1e-9 && guard[1] > -1e-9);
    saltusi_pair pair;
    saltusi_pair_rows rows;
    saltusi_shape_pair(&A, &a, &B, &b, &item[0], &pair);
    assert_true(saltusi_pair_rows_at(&pair, true, &rows));
    assert_near(rows.gap, item[0].gap, 4e-16);
    assert_near(rows.frame[1][0], -rows.frame[0][1], 1e-15);
    changes += k > 0 && item[0].b != last;
    last = item[0].b;
  }
  assert_int_equal(changes, 8); /* begins within the right side */
  saltusi_pool_free(&f.pool);
}

/* Points of an outline in world axes, k of n, by its definition alone. */
static void sample(const saltus_shape_def* def, const saltusi_body_pose* c, int edges, double u,
                   double out[2]) {
  const int k = (int)u < edges ? (int)u : edges - 1;
  const double part = u - k;
  const double* p = &def->points[2 * k];
  const double* q = &def->points[2 * ((k + 1) % def->point_count)];
  double own[2] = {p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])};
  const double b = def->bulges != NULL ? def->bulges[k] : 0.0;
  if (b != 0.0) { /* a point of the arc: the chord's ends turned about its centre */
    const double total = 4.0 * atan(b), chord[2] = {q[0] - p[0], q[1] - p[1]};
    const double cot = 1.0 / tan(0.5 * total);
    const double m[2] = {0.5 * (p[0] + q[0] - cot * chord[1]),
                         0.5 * (p[1] + q[1] + cot * chord[0])};
    const double d[2] = {p[0] - m[0], p[1] - m[1]}, s = sin(part * total), t = cos(part * total);
    own[0] = m[0] + t * d[0] - s * d[1];
    own[1] = m[1] + s * d[0] + t * d[1];
  }
  out[0] = c->x[0] + c->R[0] * own[0] + c->R[1] * own[1];
  out[1] = c->x[1] + c->R[3] * own[0] + c->R[4] * own[1];
}

/* Distance of a place from an outline: samples, then golden sections about the best. */
static double brute(const saltus_shape_def* def, const saltusi_body_pose* c, int edges,
                    const double x[2]) {
  enum { SAMPLES = 40 };
  double best = INFINITY, value[SAMPLES * 16 + 1];
  for (int k = 0; k <= SAMPLES * edges; k++) {
    double p[2];
    sample(def, c, edges, (double)k / SAMPLES, p);
    value[k] = hypot(p[0] - x[0], p[1] - x[1]);
    best = fmin(best, value[k]);
  }
  for (int k = 0; k < SAMPLES * edges; k++) { /* intervals at a minimum of the samples */
    if (fmin(value[k], value[k + 1]) > best + 1e-2) {
      continue;
    }
    double low = (double)k / SAMPLES, high = (double)(k + 1) / SAMPLES;
    for (int step = 0; step < 60; step++) {
      const double a = low + 0.381966011250105 * (high - low),
                   b = low + 0.618033988749895 * (high - low);
      double p[2], q[2];
      sample(def, c, edges, a, p);
      sample(def, c, edges, b, q);
      const double da = hypot(p[0] - x[0], p[1] - x[1]), db = hypot(q[0] - x[0], q[1] - x[1]);
      best = fmin(best, fmin(da, db));
      if (da < db) {
        high = b;
      } else {
        low = a;
      }
    }
  }
  return best;
}

/* A star with straight edges and arcs, hollow and convex, counter-clockwise: free outside when walked clockwise. */
static int star(uint64_t* state, double* points, double* bulges, bool arcs) {
  const int n = 5 + (int)(4.0 * saltus_test_random(state));
  for (int k = 0; k < n; k++) {
    const double angle = -6.283185307179586 * (k + 0.3 * saltus_test_random(state)) / n;
    const double r = random_in(state, 0.6, 1.4);
    points[2 * k] = r * cos(angle);
    points[2 * k + 1] = r * sin(angle);
    const double kind = saltus_test_random(state);
    bulges[k] = !arcs || kind < 0.4 ? 0.0 : random_in(state, -0.3, 0.3);
  }
  return n;
}

/* The contact with the least gap is the distance from the outline; no place is found twice. */
static void the_least_contact_of_a_circle_is_its_distance_from_a_chain(void** unused) {
  (void)unused;
  uint64_t state = 11;
  int kinds[3] = {0, 0, 0}, several = 0;
  for (int draw = 0; draw < 600; draw++) {
    fixture f = begin();
    double points[32], bulges[16];
    const int n = star(&state, points, bulges, true);
    saltus_shape_def chain = {.name = "star",
                              .kind = SALTUS_SHAPE_CHAIN,
                              .points = points,
                              .point_count = n,
                              .bulges = bulges,
                              .closed = true};
    const saltusi_shape B = make(&f, &chain);
    const double r = 0.05;
    saltus_shape_def circle = {.name = "c", .kind = SALTUS_SHAPE_CIRCLE, .radius = r};
    const saltusi_shape A = make(&f, &circle);
    const double turn = random_in(&state, 0, 6.28), angle = random_in(&state, 0, 6.28);
    const double far = random_in(&state, 1.5, 1.9);
    const saltusi_body_pose b = at(0.3, -0.2, turn);
    const saltusi_body_pose a = at(0.3 + far * cos(angle), -0.2 + far * sin(angle), 0.0);
    const double expected = brute(&chain, &b, n, a.x) - r;
    saltusi_feature_candidate item[32];
    saltusi_candidates list = {.capacity = 32, .item = item};
    saltusi_shape_pairs(&A, &a, &B, &b, &(saltusi_near){.reach = 3.0, .delta = 0.0}, &list);
    assert_true(list.count >= 1 && list.count <= 32);
    int least = 0;
    for (int k = 0; k < list.count; k++) {
      least = item[k].gap < item[least].gap ? k : least;
      for (int j = 0; j < k; j++) {
        assert_true(
            hypot(item[k].point[0] - item[j].point[0], item[k].point[1] - item[j].point[1]) > 1e-9);
      }
    }
    several += list.count > 1;
    assert_near(item[least].gap, expected,
                1e-12); /* a golden section ends at the root of eps squared */
    kinds[item[least].b <= n ? 0 : bulges[item[least].b - n - 1] == 0.0 ? 1 : 2]++;
    saltusi_separation apart;
    saltusi_shape_separation(&A, &a, &B, &b, &apart);
    assert_near(apart.distance, expected, 1e-12);
    saltusi_separation turned;
    saltusi_shape_separation(&B, &b, &A, &a, &turned);
    assert_near(turned.distance, expected, 1e-12);
    saltusi_pool_free(&f.pool);
  }
  assert_true(kinds[0] > 20 && kinds[1] > 20 && kinds[2] > 20 && several > 10);
}

/* Two outlines: the least over samples of both is an upper bound, and near. */
static void outlines_are_as_far_apart_as_their_nearest_samples(void** unused) {
  (void)unused;
  uint64_t state = 5;
  for (int draw = 0; draw < 60; draw++) {
    fixture f = begin();
    double points[2][32], bulges[2][16];
    int n[2];
    saltus_shape_def def[2];
    saltusi_shape shape[2];
    for (int s = 0; s < 2; s++) {
      n[s] = star(&state, points[s], bulges[s], draw % 2 == 0);
      def[s] = (saltus_shape_def){.name = "star",
                                  .kind = SALTUS_SHAPE_CHAIN,
                                  .points = points[s],
                                  .point_count = n[s],
                                  .bulges = bulges[s],
                                  .closed = true};
      shape[s] = make(&f, &def[s]);
    }
    const saltusi_body_pose a = at(3.2, 0.1, random_in(&state, 0, 6.28)),
                            b = at(0, 0, random_in(&state, 0, 6.28));
    double expected = INFINITY;
    for (int k = 0; k < 60 * n[0]; k++) {
      double p[2];
      sample(&def[0], &a, n[0], k / 60.0, p);
      expected = fmin(expected, brute(&def[1], &b, n[1], p));
    }
    saltusi_separation apart;
    saltusi_shape_separation(&shape[0], &a, &shape[1], &b, &apart);
    assert_true(apart.distance <= expected + 1e-12);
    assert_near(apart.distance, expected,
                1e-3); /* 60 samples an edge of length 1: a second order minimum */
    saltusi_pool_free(&f.pool);
  }
}

/* Convex polygons that overlap: least over all differences of vertices along the normals, written here. */
static void overlapping_polygons_have_the_least_depth_of_their_axes(void** unused) {
  (void)unused;
  uint64_t state = 8;
  int overlapping = 0, shallow = 0, touching_found = 0;
  for (int draw = 0; draw < 2000; draw++) {
    fixture f = begin();
    double points[2][16];
    saltusi_shape shape[2];
    saltusi_body_pose c[2];
    int n[2];
    for (int s = 0; s < 2; s++) {
      n[s] = 3 + (int)(5.0 * saltus_test_random(&state));
      for (int k = 0; k < n[s]; k++) {
        const double angle = 6.283185307179586 * (k + 0.6 * saltus_test_random(&state)) / n[s];
        points[s][2 * k] = cos(angle);
        points[s][2 * k + 1] = 0.8 * sin(angle);
      }
      const saltus_shape_def def = {
          .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = points[s], .point_count = n[s]};
      shape[s] = make(&f, &def);
      assert_true(shape[s].convex);
      c[s] = at(random_in(&state, -1, 1), random_in(&state, -1, 1), random_in(&state, 0, 6.28));
    }
    double expected = -INFINITY;
    for (int s = 0; s < 2; s++) {
      for (int k = 0; k < n[s]; k++) {
        double w[2][2], low = INFINITY;
        for (int e = 0; e < 2; e++) {
          const double* p = &points[s][2 * ((k + e) % n[s])];
          w[e][0] = c[s].x[0] + c[s].R[0] * p[0] + c[s].R[1] * p[1];
          w[e][1] = c[s].x[1] + c[s].R[3] * p[0] + c[s].R[4] * p[1];
        }
        const double l = hypot(w[1][0] - w[0][0], w[1][1] - w[0][1]);
        const double N[2] = {(w[1][1] - w[0][1]) / l, (w[0][0] - w[1][0]) / l};
        for (int j = 0; j < n[1 - s]; j++) {
          const double* p = &points[1 - s][2 * j];
          const saltusi_body_pose* o = &c[1 - s];
          low = fmin(low, N[0] * (o->x[0] + o->R[0] * p[0] + o->R[1] * p[1] - w[0][0]) +
                              N[1] * (o->x[1] + o->R[3] * p[0] + o->R[4] * p[1] - w[0][1]));
        }
        expected = fmax(expected, low);
      }
    }
    saltusi_separation apart;
    saltusi_shape_separation(&shape[0], &c[0], &shape[1], &c[1], &apart);
    if (expected < 0.0) {
      overlapping++;
      assert_near(apart.distance, expected, 1e-14);
      saltusi_feature_candidate item[16];
      saltusi_candidates list = {.capacity = 16, .item = item};
      saltusi_shape_pairs(&shape[0], &c[0], &shape[1], &c[1],
                          &(saltusi_near){.reach = 0.0, .delta = 0.0}, &list);
      shallow += expected > -0.1;
      for (int k = 0; k < list.count; k++) { /* the axis found is that of a pair that is listed */
        if (fabs(item[k].gap - expected) < 1e-14 && expected > -0.1) {
          touching_found++;
          break;
        }
      }
    } else { /* the Euclidean distance is at least that along any axis */
      assert_true(apart.distance >= expected - 1e-14);
    }
    saltusi_pool_free(&f.pool);
  }
  assert_true(overlapping > 200);
  assert_true(shallow > 50);
  assert_int_equal(touching_found, shallow); /* deeper ones may come out on the other side */
}

/* A star about the origin of 5 to 7 corners, convex or not, of which the y are multiplied by a thickness. */
static int thin_star(uint64_t* state, bool convex, double points[16], double* thick) {
  const int n = 5 + (int)(3.0 * saltus_test_random(state));
  *thick = pow(10.0, random_in(state, -2.5, 0.0));
  for (int k = 0; k < n; k++) {
    const double angle = 6.283185307179586 * (k + 0.6 * saltus_test_random(state)) / n;
    const double r = convex ? 1.0 : random_in(state, 0.3, 1.0);
    points[2 * k] = r * cos(angle);
    points[2 * k + 1] = *thick * r * sin(angle);
  }
  return n;
}

/* Thin polygons, sharp and rounded, that are apart or have just come to touch, in random attitudes: no pair of their
 * features is deep, though points of one lie behind edges of the other, on its far side. */
static void polygons_that_do_not_overlap_have_no_deep_pairs(void** unused) {
  (void)unused;
  uint64_t state = 11;
  int touched = 0;
  for (int draw = 0; draw < 3000; draw++) {
    fixture f = begin();
    double points[2][16];
    saltusi_shape shape[2];
    for (int s = 0; s < 2; s++) {
      double thick;
      const int n = thin_star(&state, draw % 2 == 0, points[s], &thick);
      const saltus_shape_def def = {.name = "s",
                                    .kind = SALTUS_SHAPE_POLYGON,
                                    .points = points[s],
                                    .point_count = n,
                                    .radius = draw % 2 == 0 && draw / 2 % 3 == s ? 0.3 * thick : 0};
      shape[s] = make(&f, &def);
    }
    const saltusi_body_pose b = at(0.0, 0.0, random_in(&state, 0, 6.28));
    const double angle = random_in(&state, 0, 6.28), y = random_in(&state, -0.3, 0.3);
    double x = 5.0; /* comes from the right: conservative advancement */
    saltusi_separation apart;
    for (int k = 0; k < 400; k++) {
      const saltusi_body_pose a = at(x, y, angle);
      saltusi_shape_separation(&shape[0], &a, &shape[1], &b, &apart);
      if (!(apart.distance > 1e-12) || x < -5.0) {
        break;
      }
      x -= apart.distance;
    }
    touched += apart.distance <= 1e-12;
    for (int k = 0; k < 4 && apart.distance <= 1e-12;
         k++) { /* touching, overlapping by 1e-9, apart */
      const double offset[] = {0.0, -1e-9, 1e-9, random_in(&state, 1e-4, 1e-2)};
      const saltusi_body_pose a = at(x + offset[k], y, angle);
      saltusi_feature_candidate item[64];
      saltusi_candidates list = {.capacity = 64, .item = item};
      const double reach = k == 3 ? 1e-2 : 1e-8;
      saltusi_shape_pairs(&shape[0], &a, &shape[1], &b,
                          &(saltusi_near){.reach = reach, .delta = reach}, &list);
      assert_true(list.count < 64 && (k == 3 || list.count > 0));
      for (int i = 0; i < list.count; i++) { /* corners beyond the ends of edges: up to 1e-8 */
        assert_true(item[i].gap > -2.5e-8);
      }
    }
    saltusi_pool_free(&f.pool);
  }
  assert_true(touched > 1000);
}

static void half_planes_rings_and_capsules_have_closed_forms(void** unused) {
  (void)unused;
  fixture f = begin();
  const saltusi_body_pose still = at(0, 0, 0);
  saltus_shape_def def = {.name = "ground", .kind = SALTUS_SHAPE_HALF_PLANE};
  const saltusi_shape ground = make(&f, &def);
  def = (saltus_shape_def){.name = "c", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 1.0};
  const saltusi_shape capsule = make(&f, &def);
  saltusi_feature_candidate item[16];
  saltusi_candidates list = {.capacity = 16, .item = item};
  saltusi_separation apart;

  saltusi_body_pose a = at(0.3, 0.1 + 1e-12, 0.0); /* lies flat: both ends */
  saltusi_shape_pairs(&capsule, &a, &ground, &still, &(saltusi_near){.reach = 1e-9, .delta = 1e-6},
                      &list);
  assert_int_equal(list.count, 2);
  assert_near(item[0].gap, 1e-12, 1e-16);
  assert_near(item[0].point[0], -0.2, 1e-15);
  assert_near(item[1].point[0], 0.8, 1e-15);
  a = at(0.3, -0.1, 0.2); /* deep in it: still held */
  saltusi_shape_pairs(&capsule, &a, &ground, &still, &(saltusi_near){.reach = 0.0}, &list);
  assert_int_equal(list.count, 1);
  assert_near(item[0].gap, -0.2 - 0.5 * sin(0.2), 1e-15);
  a = at(0.0, 1.0, 0.3);
  saltusi_shape_separation(&ground, &still, &capsule, &a, &apart);
  assert_near(apart.distance, 0.9 - 0.5 * sin(0.3), 1e-15);
  assert_near(apart.normal[1], -1.0, 1e-15);

  /* two capsules side by side, one shifted: contacts at both ends of what they share */
  a = at(0.4, 0.2, 0.0);
  saltusi_shape_pairs(&capsule, &a, &capsule, &still, &(saltusi_near){.reach = 1e-9, .delta = 1e-6},
                      &list);
  assert_int_equal(list.count, 2);
  assert_near(fmin(item[0].point[0], item[1].point[0]), -0.1, 1e-15);
  assert_near(fmax(item[0].point[0], item[1].point[0]), 0.5, 1e-15);
  a = at(0.0, 0.2, 0.0); /* exactly over each other: still two */
  saltusi_shape_pairs(&capsule, &a, &capsule, &still, &(saltusi_near){.reach = 1e-9, .delta = 1e-6},
                      &list);
  assert_int_equal(list.count, 2);

  def = (saltus_shape_def){
      .name = "ring", .kind = SALTUS_SHAPE_CIRCLE, .radius = 2.0, .hollow = true};
  const saltusi_shape ring = make(&f, &def);
  a = at(0.6, 0.8, 0.2);
  def = (saltus_shape_def){.name = "disc", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.25};
  const saltusi_shape disc = make(&f, &def);
  saltusi_shape_pairs(&disc, &a, &ring, &still, &(saltusi_near){.reach = 1.0, .delta = 0.0}, &list);
  assert_int_equal(list.count, 1);
  assert_near(item[0].gap, 0.75, 1e-15);
  assert_near(item[0].normal[0], -0.6, 1e-15);
  assert_near(item[0].point[1], 1.6, 1e-15);
  saltusi_shape_separation(&disc, &a, &ring, &still, &apart);
  assert_near(apart.distance, 0.75, 1e-15);
  assert_near(apart.normal[1], -0.8, 1e-15);
  saltusi_shape_pairs(&ring, &still, &disc, &a, &(saltusi_near){.reach = 1.0, .delta = 0.0}, &list);
  assert_int_equal(list.count, 1);
  assert_near(item[0].normal[0], 0.6, 1e-15);
  saltusi_pair pair;
  saltusi_pair_rows rows;
  saltusi_shape_pair(&ring, &still, &disc, &a, &item[0], &pair);
  assert_true(saltusi_pair_rows_at(&pair, true, &rows));
  assert_near(rows.gap, 0.75, 1e-15);
  assert_near(rows.frame[0][0], 0.6, 1e-15);
  def = (saltus_shape_def){
      .name = "s", .kind = SALTUS_SHAPE_POLYGON, .points = square, .point_count = 4};
  const saltusi_shape box = make(&f, &def);
  a = at(0.0, 0.0, 0.0);
  saltusi_shape_pairs(&box, &a, &ring, &still, &(saltusi_near){.reach = 1.0, .delta = 0.0}, &list);
  assert_int_equal(list.count,
                   1); /* the far corner alone; the others have other cones or are farther */
  assert_near(item[0].gap, 2.0 - sqrt(2.0), 1e-15);
  assert_false(saltusi_shape_treats(&ring, &ground));
  saltusi_pool_free(&f.pool);
}

/* A sharp corner, or a circle, led along a chain with flat joints: one contact everywhere, no gap between. */
static void joints_of_chains_are_silent(void** unused) {
  (void)unused;
  fixture f = begin();
  /* floor, flat joint, floor, quarter of a circle up (hollow), wall; the middle point is united */
  const double points[] = {-2, 0, -0.5, 0, 1, 0, 2, 1, 2, 3};
  const double bulges[] = {0, 0, 0.41421356237309503, 0};
  saltus_shape_def def = {.name = "track",
                          .kind = SALTUS_SHAPE_CHAIN,
                          .points = points,
                          .point_count = 5,
                          .bulges = bulges};
  const saltusi_shape track = make(&f, &def);
  assert_int_equal(track.outline->points, 4);
  assert_int_equal(track.outline->joint[1], SALTUSI_JOINT_FLAT);
  assert_int_equal(track.outline->joint[2], SALTUSI_JOINT_FLAT);
  def = (saltus_shape_def){.name = "disc", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.2};
  const saltusi_shape disc = make(&f, &def);
  const saltusi_body_pose still = at(0, 0, 0);
  for (int k = 0; k < 5000; k++) { /* along the line of centres at gap 1e-3 */
    const double s = -1.9 + 4.5 * k / 5000.0, r = 0.799, quarter = 1.5707963267948966 * r;
    const double angle = fmin(1.5707963267948966, fmax(0.0, (s - 1.0) / r));
    const double x = s < 1.0 ? s : 1.0 + r * sin(angle);
    const double y = 0.201 + r * (1.0 - cos(angle)) + fmax(0.0, s - 1.0 - quarter);
    const saltusi_body_pose a = at(x, y, 0.4);
    saltusi_feature_candidate item[16];
    saltusi_candidates list = {.capacity = 16, .item = item};
    saltusi_shape_pairs(&disc, &a, &track, &still, &(saltusi_near){.reach = 2e-3, .delta = 1e-2},
                        &list);
    assert_int_equal(list.count, 1);
    assert_near(item[0].gap, 1e-3, 1e-15);
    double guard[SALTUSI_GUARDS];
    const int guards = saltusi_shape_guards(&disc, &a, &track, &still, &item[0], guard);
    assert_true(guards == 2 && guard[0] > -1e-9 && guard[1] > -1e-9);
  }
  /* beyond the end, from the front and from the side: the end of the chain; from behind: nothing */
  saltusi_feature_candidate item[16];
  saltusi_candidates list = {.capacity = 16, .item = item};
  saltusi_body_pose a = at(-2.1, 0.1, 0.0);
  saltusi_shape_pairs(&disc, &a, &track, &still, &(saltusi_near){.reach = 1e-2, .delta = 0}, &list);
  assert_int_equal(list.count, 1);
  assert_int_equal(item[0].b, 1);
  a = at(0.0, -0.3, 0.0);
  saltusi_shape_pairs(&disc, &a, &track, &still, &(saltusi_near){.reach = 1e-2, .delta = 0}, &list);
  assert_int_equal(list.count, 0);
  saltusi_pool_free(&f.pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(degenerate_shapes_are_refused_in_words),
      cmocka_unit_test(edges_on_edges_touch_at_the_ends_of_their_overlap),
      cmocka_unit_test(shallow_corners_are_not_pushed_through),
      cmocka_unit_test(reflex_corners_hold_both_and_convex_corners_one),
      cmocka_unit_test(a_circle_around_a_polygon_has_one_owner_everywhere),
      cmocka_unit_test(the_least_contact_of_a_circle_is_its_distance_from_a_chain),
      cmocka_unit_test(outlines_are_as_far_apart_as_their_nearest_samples),
      cmocka_unit_test(overlapping_polygons_have_the_least_depth_of_their_axes),
      cmocka_unit_test(polygons_that_do_not_overlap_have_no_deep_pairs),
      cmocka_unit_test(half_planes_rings_and_capsules_have_closed_forms),
      cmocka_unit_test(joints_of_chains_are_silent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
