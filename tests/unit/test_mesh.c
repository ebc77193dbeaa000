/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Meshes and heightfields: what they are made of, balls, capsules, boxes and half-spaces on them. Distances are compared
 * with those to every triangle.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "solids.h"

#include <float.h>
#include <stdio.h>

enum { ROOM = 256 };

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
    const saltusi_feature_candidate *one = &out->item[k - 1], *two_of = &out->item[k];
    assert_true(one->a < two_of->a || (one->a == two_of->a && one->b < two_of->b) ||
                (one->a == two_of->a && one->b == two_of->b && one->branch < two_of->branch));
  }
}

static saltusi_body_pose still(void) {
  const double zero[3] = {0.0, 0.0, 0.0};
  return solids_at(zero, zero);
}

static saltusi_shape sphere(saltusi_pool* pool, double r) {
  return solids_make(pool,
                     &(saltus_shape_def){.name = "ball", .kind = SALTUS_SHAPE_SPHERE, .radius = r});
}

static saltus_kept_message refusal(const saltus_shape_def* def) {
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_kept_message message = {.text = ""};
  saltusi_shape shape;
  assert_int_equal(saltusi_shape_make(def, 3, &pool, saltus_log_keep(&message), &shape),
                   SALTUS_ERR_INPUT);
  saltusi_pool_free(&pool);
  return message;
}

/* A cube of side 2 about the origin, two triangles a face, every triangle with points of its own as in STL. */
static const int cube_loop[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                    {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
typedef struct cube {
  double point[36][3];
  int triangle[12][3];
} cube;

static cube cube_soup(void) {
  cube out;
  int at = 0;
  for (int f = 0; f < 6; f++) {
    for (int half = 0; half < 2; half++) {
      const int corner[3] = {cube_loop[f][0], cube_loop[f][1 + half], cube_loop[f][2 + half]};
      for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
          out.point[at][j] = (corner[k] >> (2 - j)) & 1 ? 1.0 : -1.0;
        }
        out.triangle[at / 3][k] = at;
        at++;
      }
    }
  }
  return out;
}

static saltus_shape_def cube_def(const cube* soup) {
  return (saltus_shape_def){.name = "cube",
                            .kind = SALTUS_SHAPE_MESH,
                            .points = soup->point[0],
                            .point_count = 36,
                            .triangles = soup->triangle[0],
                            .triangle_count = 12};
}

static void a_soup_of_triangles_becomes_a_cube(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const cube soup = cube_soup();
  const saltus_shape_def def = cube_def(&soup);
  const saltusi_shape shape = solids_make(&pool, &def);
  const saltusi_mesh* mesh = shape.mesh;
  assert_int_equal(mesh->vertices, 8);
  assert_int_equal(mesh->edges, 18);
  assert_int_equal(mesh->faces, 6);
  assert_true(mesh->closed);
  int kinds[4] = {0, 0, 0, 0};
  for (int e = 0; e < 18; e++) {
    kinds[mesh->edge[e].kind]++;
  }
  assert_int_equal(kinds[SALTUSI_EDGE_FLAT], 6);
  assert_int_equal(kinds[SALTUSI_EDGE_CONVEX], 12);
  saltus_shape_mass mass;
  saltus_kept_message message = {.text = ""};
  assert_int_equal(saltus_shape_mass_properties(&def, 3, saltus_log_keep(&message), &mass),
                   SALTUS_OK);
  assert_near(mass.volume, 8.0, 1e-14);
  assert_near(mass.inertia[0], 8.0 * 8.0 / 12.0, 1e-14);
  saltusi_pool_free(&pool);
}

static void what_is_no_mesh_is_refused(void** state) {
  (void)state;
  cube soup = cube_soup();
  saltus_shape_def def = cube_def(&soup);
  saltus_kept_message message;
  soup.triangle[3][1] = 36;
  message = refusal(&def);
  assert_says(message, "triangle 4 names point 36 of 36");
  soup = cube_soup();
  soup.point[7][2] = NAN;
  message = refusal(&def);
  assert_says(message, "coordinate 3 of point 8 is nan");
  soup = cube_soup();
  const int swap = soup.triangle[0][0]; /* one triangle the other way around */
  soup.triangle[0][0] = soup.triangle[0][1];
  soup.triangle[0][1] = swap;
  message = refusal(&def);
  assert_says(message, "two that run the same way along it");
  soup = cube_soup();
  for (int t = 0; t < 12; t++) { /* all of them: inside out */
    const int first = soup.triangle[t][0];
    soup.triangle[t][0] = soup.triangle[t][1];
    soup.triangle[t][1] = first;
  }
  message = refusal(&def);
  assert_says(message, "its triangles face inwards (volume -8)");
  double line[3][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  int one[3] = {0, 1, 2};
  def = (saltus_shape_def){.name = "m",
                           .kind = SALTUS_SHAPE_MESH,
                           .points = line[0],
                           .point_count = 3,
                           .triangles = one,
                           .triangle_count = 1};
  message = refusal(&def);
  assert_says(message, "has no area");
  const double height[4] = {0.0, 0.0, 1.0, INFINITY};
  def = (saltus_shape_def){.name = "h",
                           .kind = SALTUS_SHAPE_HEIGHTFIELD,
                           .heights = height,
                           .columns = 2,
                           .rows = 2,
                           .spacing = {1.0, 1.0}};
  message = refusal(&def);
  assert_says(message, "height inf in column 2 of row 2");
  def.spacing[1] = 0.0;
  message = refusal(&def);
  assert_says(message, "spacing 0");
}

/* ------------------------------------------------------------------------------------ balls --- */

/* A star: random radii along the corners of a random hull of directions. */
static saltusi_shape star(saltusi_pool* pool, uint64_t* seed, int points, bool smooth) {
  double* point = SALTUSI_TAKE(pool, double, 3 * points);
  for (int p = 0; p < points; p++) {
    double d[3], square = 0.0;
    for (int k = 0; k < 3; k++) {
      d[k] = solids_normal(seed);
      square += d[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
      point[3 * p + k] = d[k] / sqrt(square);
    }
  }
  const saltus_shape_def round = {
      .name = "round", .kind = SALTUS_SHAPE_HULL, .points = point, .point_count = points};
  const saltusi_shape hull = solids_make(pool, &round);
  const saltusi_polytope* body = hull.polytope;
  int* triangle = SALTUSI_TAKE(pool, int, 6 * points * 3);
  int count = 0;
  for (int f = 0; f < body->faces; f++) {
    const int* loop = body->loop + body->face[f].first;
    for (int k = 1; k + 1 < body->face[f].count; k++) {
      triangle[3 * count] = loop[0];
      triangle[3 * count + 1] = loop[k];
      triangle[3 * count++ + 2] = loop[k + 1];
    }
  }
  double* corner = SALTUSI_TAKE(pool, double, 3 * body->vertices);
  for (int v = 0; v < body->vertices; v++) {
    const double r = smooth ? 1.0 : solids_between(seed, 0.5, 1.5);
    for (int k = 0; k < 3; k++) {
      corner[3 * v + k] = r * body->vertex[v][k];
    }
  }
  const saltus_shape_def def = {.name = "star",
                                .kind = SALTUS_SHAPE_MESH,
                                .points = corner,
                                .point_count = body->vertices,
                                .triangles = triangle,
                                .triangle_count = count};
  return solids_make(pool, &def);
}

/* Least distance of c to all triangles, each by its plane, edges and corners, from the points alone. */
static double least_distance(const saltusi_mesh* mesh, const double c[3]) {
  double best = INFINITY;
  for (int t = 0; t < mesh->triangles; t++) {
    double n[3], u[3], w[3], d[3];
    const double* corner[3];
    for (int k = 0; k < 3; k++) {
      corner[k] = mesh->vertex[mesh->triangle[t][k]];
    }
    saltusi_minus3(corner[1], corner[0], u);
    saltusi_minus3(corner[2], corner[0], w);
    saltusi_cross(u, w, n);
    saltusi_minus3(c, corner[0], d);
    const double height = saltusi_dot3(n, d) / sqrt(saltusi_dot3(n, n));
    bool in = true;
    for (int k = 0; k < 3; k++) {
      double side[3], in_plane[3], from[3], rest[3];
      saltusi_minus3(corner[(k + 1) % 3], corner[k], side);
      saltusi_minus3(c, corner[k], from);
      saltusi_cross(n, side, in_plane);
      in = in && saltusi_dot3(in_plane, from) >= 0.0;
      const double at = fmin(1.0, fmax(0.0, saltusi_dot3(from, side) / saltusi_dot3(side, side)));
      saltusi_along(-at, side, from, rest);
      best = fmin(best, sqrt(saltusi_dot3(rest, rest)));
    }
    best = in ? fmin(best, fabs(height)) : best;
  }
  return best;
}

static bool in_star(const saltusi_mesh* mesh, const double c[3]) {
  saltusi_mesh_foot foot;
  saltusi_mesh_nearest(mesh, c, &foot);
  return foot.distance < 0.0;
}

static void the_least_contact_of_a_ball_is_the_distance(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 8;
  int centres = 0, kinds[3] = {0, 0, 0};
  const int stars = saltus_test_long() ? 200 : 6;
  for (int round = 0; round < stars; round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape mesh = star(&pool, &seed, 24, round % 3 == 2);
    const saltusi_shape ball = sphere(&pool, 0.1);
    const saltusi_body_pose b = still();
    for (int k = 0; k < 200; k++) {
      double c[3], zero[3] = {0.0, 0.0, 0.0};
      for (int j = 0; j < 3; j++) {
        c[j] = solids_normal(&seed);
      }
      /* outside by rays from the middle: stars are seen whole from there */
      double square = saltusi_dot3(c, c);
      if (square < 0.25 || in_star(mesh.mesh, c)) {
        continue;
      }
      const double expected = least_distance(mesh.mesh, c);
      if (expected < 0.1) { /* in a thin tip: its other side is in the ball as well */
        continue;
      }
      const saltusi_body_pose a = solids_at(c, zero);
      list pairs;
      near_pairs(&(saltusi_two){&ball, &a, &mesh, &b}, 10.0, 1e-8, &pairs);
      double least = INFINITY;
      int which = 0;
      for (int i = 0; i < pairs.all.count; i++) {
        if (pairs.item[i].gap < least) {
          least = pairs.item[i].gap;
          which = pairs.item[i].b;
        }
        for (int j = 0; j < i; j++) { /* no place twice */
          double d[3];
          saltusi_minus3(pairs.item[i].point, pairs.item[j].point, d);
          assert_true(sqrt(saltusi_dot3(d, d)) > 1e-9);
        }
      }
      assert_near(least + 0.1, expected, 2e-15 * (1.0 + expected));
      saltusi_separation apart;
      saltusi_shape_separation(&ball, &a, &mesh, &b, &apart);
      assert_near(apart.distance + 0.1, expected, 2e-15 * (1.0 + expected));
      kinds[which > mesh.mesh->vertices + mesh.mesh->edges ? 0
            : which > mesh.mesh->vertices                  ? 1
                                                           : 2]++;
      centres++;
    }
    saltusi_pool_free(&pool);
  }
  assert_true(centres > 600 && kinds[0] > 100 && kinds[1] > 100 && kinds[2] > 30);
}

/* Which side: the sign against a ray that counts crossings. */
static void inside_is_found(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 21;
  int inside = 0;
  for (int round = 0; round < 10; round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape shape = star(&pool, &seed, 24, false);
    const saltusi_mesh* mesh = shape.mesh;
    for (int k = 0; k < 200; k++) {
      double c[3];
      for (int j = 0; j < 3; j++) {
        c[j] = 0.7 * solids_normal(&seed);
      }
      /* a star contains c when c is on the inner side of the triangle that the ray to c meets */
      bool in = false;
      for (int t = 0; t < mesh->triangles; t++) {
        const double* p = mesh->vertex[mesh->triangle[t][0]];
        const double* q = mesh->vertex[mesh->triangle[t][1]];
        const double* r = mesh->vertex[mesh->triangle[t][2]];
        double x[3], y[3], z[3], u[3], w[3], n[3], d[3];
        saltusi_cross(p, q, x);
        saltusi_cross(q, r, y);
        saltusi_cross(r, p, z);
        if (saltusi_dot3(x, c) >= 0.0 && saltusi_dot3(y, c) >= 0.0 && saltusi_dot3(z, c) >= 0.0) {
          saltusi_minus3(q, p, u);
          saltusi_minus3(r, p, w);
          saltusi_cross(u, w, n);
          saltusi_minus3(c, p, d);
          in = saltusi_dot3(n, d) < 0.0;
        }
      }
      saltusi_mesh_foot foot;
      saltusi_mesh_nearest(mesh, c, &foot);
      assert_int_equal(foot.distance < 0.0, in);
      inside += in;
    }
    saltusi_pool_free(&pool);
  }
  assert_true(inside > 200);
}

static saltusi_shape field(saltusi_pool* pool, const double* heights, int columns, int rows) {
  const saltus_shape_def def = {.name = "field",
                                .kind = SALTUS_SHAPE_HEIGHTFIELD,
                                .heights = heights,
                                .columns = columns,
                                .rows = rows,
                                .spacing = {1.0, 1.0}};
  return solids_make(pool, &def);
}

static void a_ball_over_coplanar_triangles_has_one_contact(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double heights[36];
  for (int k = 0; k < 36; k++) { /* a tilted plane, exact in binary */
    heights[k] = 0.25 * (k % 6) - 0.5 * (double)(k / 6);
  }
  const saltusi_shape ground = field(&pool, heights, 6, 6);
  const saltusi_shape ball = sphere(&pool, 0.25);
  assert_int_equal(ground.mesh->faces, 1);
  const saltusi_body_pose b = still();
  const double n[3] = {-0.25 / sqrt(1.3125), 0.5 / sqrt(1.3125), 1.0 / sqrt(1.3125)};
  for (int step = 0; step <= 400; step++) { /* over edges and vertices exactly as well */
    const double x = 1.0 + 0.0078125 * step, y = step % 3 == 0 ? x : 2.0;
    double c[3] = {x, y, 0.25 * x - 0.5 * y};
    saltusi_along(0.25 + 1e-3, n, c, c);
    const saltusi_body_pose a = solids_at(c, (double[3]){0, 0, 0});
    list pairs;
    near_pairs(&(saltusi_two){&ball, &a, &ground, &b}, 0.01, 1e-3, &pairs);
    assert_int_equal(pairs.all.count, 1);
    assert_near(pairs.item[0].gap, 1e-3, 1e-14);
    for (int k = 0; k < 3; k++) {
      assert_near(pairs.item[0].normal[k], n[k], 2e-15);
    }
    assert_int_equal(pairs.item[0].b, ground.features - 1);
  }
  saltusi_pool_free(&pool);
}

static void a_ridge_hands_over_and_a_valley_has_two_contacts(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const double z = tan(0.3490658503988659); /* 20 degrees */
  const double heights[16] = {0.0, 0.0, -z, -z, 0.0, 0.0, -z, -z,
                              0.0, 0.0, -z, -z, 0.0, 0.0, -z, -z};
  const saltusi_shape ground = field(&pool, heights, 4, 4);
  const saltusi_shape ball = sphere(&pool, 0.25);
  assert_int_equal(ground.mesh->faces, 3);
  const saltusi_body_pose b = still();
  double last[3] = {0.0, 0.0, 1.0};
  for (int step = 0; step <= 1000;
       step++) { /* around the ridge at x = 1, above y = 1.5 or exactly over a vertex */
    const double angle = -0.2 + 0.0008 * step;
    const double y = step % 2 == 0 ? 2.0 : 1.4;
    const double c[3] = {1.0 + 0.3 * sin(angle), y, 0.3 * cos(angle)};
    const saltusi_body_pose a = solids_at(c, (double[3]){0, 0, 0});
    list pairs;
    near_pairs(&(saltusi_two){&ball, &a, &ground, &b}, 0.2, 1e-8, &pairs);
    assert_int_equal(pairs.all.count, 1);
    double d[3];
    saltusi_minus3(pairs.item[0].normal, last, d);
    assert_true(sqrt(saltusi_dot3(d, d)) < 1e-3); /* the normal turns, it does not jump */
    memcpy(last, pairs.item[0].normal, sizeof last);
    assert_near(pairs.item[0].gap + 0.25, least_distance(ground.mesh, c), 1e-15);
  }
  const double c[3] = {2.0 + 0.25 * tan(0.17453292519943295), 1.3, -z + 0.25};
  const saltusi_body_pose a = solids_at(c, (double[3]){0, 0, 0});
  list pairs;
  near_pairs(&(saltusi_two){&ball, &a, &ground, &b}, 1e-9, 1e-8, &pairs);
  assert_int_equal(pairs.all.count, 2);
  assert_near(pairs.item[0].gap, 0.0, 1e-15);
  assert_near(pairs.item[1].gap, 0.0, 1e-15);
  saltusi_pool_free(&pool);
}

/* ------------------------------------------------------------------------------------ others --- */

static void a_capsule_lies_on_its_ends_and_across_ridges(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double flat[36] = {0.0};
  const saltusi_shape ground = field(&pool, flat, 6, 6);
  const saltusi_shape bar = solids_make(
      &pool, &(saltus_shape_def){
                 .name = "bar", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 2.0});
  const saltusi_body_pose b = still();
  const double lying[3] = {0.0, 1.5707963267948966, 0.0};
  const saltusi_body_pose a = solids_at((double[3]){2.5, 2.3, 0.1}, lying);
  list pairs;
  near_pairs(&(saltusi_two){&bar, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 2);
  assert_near(fabs(pairs.item[0].point[0] - pairs.item[1].point[0]), 2.0, 1e-12);
  /* a roof with its ridge along y at x = 2: lying across it */
  double roof[36];
  for (int k = 0; k < 36; k++) {
    roof[k] = -fabs(k % 6 - 2.0);
  }
  const saltusi_shape gable = field(&pool, roof, 6, 6);
  const saltusi_body_pose c = solids_at((double[3]){2.2, 2.3, 0.1}, lying);
  near_pairs(&(saltusi_two){&bar, &c, &gable, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 1);
  assert_near(pairs.item[0].gap, 0.0, 1e-15);
  assert_near(pairs.item[0].normal[2], 1.0, 1e-15);
  assert_near(pairs.item[0].point[0], 2.0, 1e-14);
  /* along the ridge: both ends, in both orders of the two shapes */
  const saltusi_body_pose d =
      solids_at((double[3]){2.0, 2.3, 0.1}, (double[3]){1.5707963267948966, 0.0, 0.0});
  near_pairs(&(saltusi_two){&bar, &d, &gable, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 2);
  near_pairs(&(saltusi_two){&gable, &b, &bar, &d}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 2);
  assert_near(pairs.item[0].normal[2], -1.0, 1e-12);
  saltusi_pool_free(&pool);
}

static void boxes_on_meshes_touch_as_on_boxes(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const cube soup = cube_soup();
  const saltus_shape_def def = cube_def(&soup);
  const saltusi_shape mesh = solids_make(&pool, &def);
  const saltusi_shape box = solids_box(&pool, 2.0, 2.0, 2.0, 0.0);
  uint64_t seed = 17;
  for (int round = 0; round < 300; round++) {
    const saltusi_shape small = solids_box(&pool, 0.6, 1.1, 0.5, 0.0);
    const double yaw = solids_between(&seed, 0.1, 1.4);
    const saltusi_body_pose in_b =
        solids_at((double[3]){solids_between(&seed, -1.1, 1.1), solids_between(&seed, -1.1, 1.1),
                              1.25 + solids_between(&seed, -1e-4, 1e-4)},
                  (double[3]){0.0, 0.0, yaw});
    const saltusi_body_pose b = solids_anywhere(&seed, 1.0);
    saltusi_body_pose a = b;
    saltusi_matrix3_product(b.R, in_b.R, a.R);
    saltusi_turn(b.R, in_b.x, a.x);
    saltusi_along(1.0, b.x, a.x, a.x);
    list one, two;
    near_pairs(&(saltusi_two){&small, &a, &box, &b}, 1e-3, 1e-3, &one);
    near_pairs(&(saltusi_two){&small, &a, &mesh, &b}, 1e-3, 1e-3, &two);
    assert_int_equal(one.all.count, two.all.count);
    for (int i = 0; i < one.all.count; i++) {
      double least = INFINITY;
      for (int j = 0; j < two.all.count; j++) {
        double d[3];
        saltusi_minus3(one.item[i].point, two.item[j].point, d);
        if (sqrt(saltusi_dot3(d, d)) < least) {
          least = sqrt(saltusi_dot3(d, d));
          assert_true(least > 1e-9 || fabs(one.item[i].gap - two.item[j].gap) < 1e-13);
        }
      }
      assert_near(least, 0.0, 1e-11);
    }
  }
  /* exactly on it, and in the corner of a floor and a wall: both hold */
  const saltusi_body_pose b = still();
  const saltusi_body_pose on = solids_at((double[3]){0.0, 0.0, 2.0}, (double[3]){0, 0, 0});
  list pairs;
  near_pairs(&(saltusi_two){&box, &on, &mesh, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 4);
  saltusi_pool_free(&pool);
}

static void a_box_in_a_corner_touches_floor_and_wall(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  /* floor z = 0 for x > 0, wall x = 0 for z > 0; both with triangles larger than the box */
  double point[6][3] = {{0, -5, 0}, {0, 5, 0}, {5, -5, 0}, {5, 5, 0}, {0, -5, 5}, {0, 5, 5}};
  int triangle[4][3] = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4}};
  const saltus_shape_def def = {.name = "corner",
                                .kind = SALTUS_SHAPE_MESH,
                                .points = point[0],
                                .point_count = 6,
                                .triangles = triangle[0],
                                .triangle_count = 4};
  const saltusi_shape mesh = solids_make(&pool, &def);
  const saltusi_shape box = solids_box(&pool, 1.0, 1.0, 1.0, 0.0);
  const saltusi_body_pose b = still();
  for (int k = 0; k < 3; k++) { /* touching, 1e-6 in both, 1e-6 off both */
    const double off = k == 0 ? 0.0 : k == 1 ? -1e-6 : 1e-6;
    const saltusi_body_pose a =
        solids_at((double[3]){0.5 + off, 0.2, 0.5 + off}, (double[3]){0, 0, 0});
    list pairs;
    near_pairs(&(saltusi_two){&box, &a, &mesh, &b}, 1e-5, 1e-3, &pairs);
    int up = 0, across = 0;
    for (int i = 0; i < pairs.all.count; i++) {
      up += pairs.item[i].normal[2] > 0.99;
      across += pairs.item[i].normal[0] > 0.99;
      assert_near(pairs.item[i].gap, off, 1e-15);
    }
    assert_int_equal(up, 4);
    assert_int_equal(across, 4);
  }
  saltusi_pool_free(&pool);
}

/* Level, up by 0.02 m, down by 0.08 m, level: a large box stands with a corner on the way down, below the first level but not in
 * the ground there. The edge where that level ends is concave. */
static void a_corner_beyond_a_concave_edge_is_not_below_it(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double heights[18];
  static const double along[6] = {0.0, 0.0, 0.02, -0.06, -0.06, -0.06};
  for (int k = 0; k < 18; k++) {
    heights[k] = along[k % 6];
  }
  const saltusi_shape ground = field(&pool, heights, 6, 3);
  const saltusi_shape box = solids_box(&pool, 20.0, 20.0, 20.0, 0.0);
  const saltusi_body_pose b = still();
  const double turn = acos(sqrt(1.0 / 3.0)) * sqrt(0.5); /* the diagonal upright */
  static const double offs[4] = {0.0, -1e-6, 1e-6, -1e-3};
  for (int k = 0; k < 4; k++) {
    const double height = 0.02 - 0.08 * 0.6 + 10.0 * sqrt(3.0) + offs[k];
    const saltusi_body_pose a =
        solids_at((double[3]){2.6, 0.7, height}, (double[3]){turn, -turn, 0.0});
    list pairs;
    near_pairs(&(saltusi_two){&box, &a, &ground, &b}, 1e-5, 1e-3, &pairs);
    assert_int_equal(pairs.all.count, 1);
    assert_near(pairs.item[0].gap, offs[k] / sqrt(1.0 + 0.08 * 0.08), 1e-13);
    assert_true(pairs.item[0].normal[0] > 0.05); /* off the way down */
  }
  saltusi_pool_free(&pool);
}

static void a_mesh_stands_on_a_plane_with_its_lowest_corners(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const cube soup = cube_soup();
  const saltus_shape_def def = cube_def(&soup);
  const saltusi_shape mesh = solids_make(&pool, &def);
  const saltusi_shape ground =
      solids_make(&pool, &(saltus_shape_def){.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE});
  const saltusi_body_pose b = still();
  const saltusi_body_pose a = solids_at((double[3]){0.0, 0.0, 1.0}, (double[3]){0, 0, 0.4});
  list pairs;
  near_pairs(&(saltusi_two){&mesh, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 4);
  assert_near(pairs.item[0].normal[2], 1.0, 1e-15);
  near_pairs(&(saltusi_two){&ground, &b, &mesh, &a}, 5.0, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 4);
  assert_near(pairs.item[0].normal[2], -1.0, 1e-15);
  saltusi_separation apart;
  saltusi_shape_separation(&mesh, &a, &ground, &b, &apart);
  assert_near(apart.distance, 0.0, 1e-15);
  saltusi_pool_free(&pool);
}

/* Distance of hulls and capsules from stars against the convex program for each triangle. */
static void distances_from_meshes_are_those_from_their_triangles(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  uint64_t seed = 31;
  int count = 0;
  for (int round = 0; round < (saltus_test_long() ? 2000 : saltus_test_draws(60)); round++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    const saltusi_shape mesh = star(&pool, &seed, 14, false);
    const saltusi_shape box = solids_box(&pool, 0.5, 0.3, 0.9, 0.0);
    const saltusi_shape bar = solids_make(
        &pool, &(saltus_shape_def){
                   .name = "bar", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 0.8});
    const saltusi_body_pose a = solids_anywhere(&seed, 1.5), b = solids_anywhere(&seed, 0.1);
    double expected[2] = {INFINITY, INFINITY};
    for (int which = 0; which < 2; which++) {
      double body[8][3];
      int corners = 2;
      if (which == 0) {
        corners = solids_vertices(&box, &a, body);
      } else {
        for (int k = 0; k < 2; k++) {
          saltusi_turn(a.R, bar.feature[k].p, body[k]);
          saltusi_along(1.0, a.x, body[k], body[k]);
        }
      }
      for (int t = 0; t < mesh.mesh->triangles; t++) {
        double difference[24][3], nearest[3];
        for (int k = 0; k < 3; k++) {
          double p[3];
          saltusi_turn(b.R, mesh.mesh->vertex[mesh.mesh->triangle[t][k]], p);
          saltusi_along(1.0, b.x, p, p);
          for (int v = 0; v < corners; v++) {
            saltusi_minus3(body[v], p, difference[3 * v + k]);
          }
        }
        expected[which] = fmin(expected[which],
                               solids_least((const double(*)[3])difference, 3 * corners, nearest));
      }
    }
    saltusi_separation apart;
    saltusi_shape_separation(&box, &a, &mesh, &b, &apart);
    if (expected[0] > 1e-9) {
      assert_near(fabs(apart.distance), expected[0], 1e-12);
      count++;
    } else {
      assert_true(apart.distance <= 1e-9);
    }
    saltusi_shape_separation(&mesh, &b, &bar, &a, &apart);
    if (expected[1] > 1e-9) {
      assert_near(fabs(apart.distance + 0.1), expected[1], 1e-12);
    }
    saltusi_pool_free(&pool);
  }
  assert_true(count > saltus_test_draws(20));
}

/* With `all`, every pair of a pose that is near is there, over other faces and edges too. */
static void all_pairs_hold_those_of_nearby_poses(void** state) {
  (void)state;
  uint64_t seed = 61;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double heights[64];
  for (int k = 0; k < 64; k++) {
    heights[k] = 0.6 * saltus_test_random(&seed);
  }
  const saltusi_shape ground = field(&pool, heights, 8, 8);
  const saltusi_shape other[3] = {
      sphere(&pool, 0.3), solids_box(&pool, 0.5, 0.4, 0.3, 0.0),
      solids_make(&pool,
                  &(saltus_shape_def){
                      .name = "bar", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 0.6})};
  const saltusi_body_pose b = still();
  int compared = 0;
  for (int round = 0; round < saltus_test_draws(6000); round++) {
    const saltusi_shape* X = &other[round % 3];
    saltusi_body_pose a = solids_anywhere(&seed, 0.0);
    a.x[0] = solids_between(&seed, 1.0, 6.0);
    a.x[1] = solids_between(&seed, 1.0, 6.0);
    a.x[2] = 1.0; /* let down until it touches */
    for (int k = 0; k < 40; k++) {
      saltusi_separation apart;
      saltusi_shape_separation(X, &a, &ground, &b, &apart);
      a.x[2] -= apart.distance;
    }
    list here;
    near_pairs(&(saltusi_two){X, &a, &ground, &b}, 1e-4, 1e-8, &here);
    saltusi_body_pose moved = a; /* by less than 0.03 m */
    for (int k = 0; k < 3; k++) {
      moved.x[k] += solids_between(&seed, -0.015, 0.015);
    }
    saltusi_feature_candidate item[ROOM];
    saltusi_candidates all = {.capacity = ROOM, .item = item};
    const saltusi_near near = {.reach = 0.03, .delta = 1e-3, .all = true};
    assert_int_equal(saltusi_shape_pairs(X, &moved, &ground, &b, &near, &all), SALTUS_OK);
    for (int i = 0; i < here.all.count; i++) {
      bool found = false;
      for (int j = 0; j < all.count; j++) {
        found = found || (item[j].a == here.item[i].a && item[j].b == here.item[i].b);
      }
      assert_true(found);
      compared++;
    }
  }
  assert_true(compared > saltus_test_draws(4000));
  saltusi_pool_free(&pool);
}

/* A cylinder on its side on a plane of triangles: two rims; over a ridge: its side; on its end: fixed points. */
static void cylinders_and_the_like_on_meshes(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double flat[36] = {0.0}, roof[36];
  for (int k = 0; k < 36; k++) {
    roof[k] = -fabs(k % 6 - 2.0);
  }
  const saltusi_shape ground = field(&pool, flat, 6, 6), gable = field(&pool, roof, 6, 6);
  const saltusi_shape wheel = solids_make(
      &pool, &(saltus_shape_def){
                 .name = "wheel", .kind = SALTUS_SHAPE_CYLINDER, .radius = 0.2, .length = 0.5});
  const saltusi_body_pose b = still();
  const double quarter = 1.5707963267948966;
  list pairs;
  saltusi_body_pose a = solids_at((double[3]){2.3, 2.6, 0.2}, (double[3]){quarter, 0.0, 0.0});
  near_pairs(&(saltusi_two){&wheel, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 2);
  for (int k = 0; k < 2; k++) {
    assert_near(pairs.item[k].gap, 0.0, 1e-15);
    assert_near(pairs.item[k].normal[2], 1.0, 1e-15);
    assert_near(pairs.item[k].point[0], 2.3, 1e-14);
  }
  saltusi_separation apart;
  a = solids_at((double[3]){2.3, 2.6, 0.7}, (double[3]){quarter, 0.0, 0.0});
  saltusi_shape_separation(&wheel, &a, &ground, &b, &apart);
  assert_near(apart.distance, 0.5, 1e-12);
  /* on its end */
  a = solids_at((double[3]){2.3, 2.6, 0.25}, (double[3]){0.0, 0.0, 0.3});
  near_pairs(&(saltusi_two){&wheel, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 8);
  /* across the ridge at x = 2, axis along x: the side touches it, in both orders */
  a = solids_at((double[3]){2.1, 2.6, 0.2}, (double[3]){0.0, quarter, 0.0});
  near_pairs(&(saltusi_two){&wheel, &a, &gable, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 1);
  assert_near(pairs.item[0].gap, 0.0, 1e-15);
  assert_near(pairs.item[0].point[0], 2.0, 1e-14);
  near_pairs(&(saltusi_two){&gable, &b, &wheel, &a}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 1);
  assert_near(pairs.item[0].normal[2], -1.0, 1e-15);
  /* an ellipsoid and a rounded box on the plane */
  const saltusi_shape egg = solids_make(
      &pool,
      &(saltus_shape_def){.name = "egg", .kind = SALTUS_SHAPE_ELLIPSOID, .size = {0.3, 0.2, 0.5}});
  a = solids_at((double[3]){2.3, 2.6, 0.5}, (double[3]){0.0, 0.0, 0.0});
  near_pairs(&(saltusi_two){&egg, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 1);
  assert_near(pairs.item[0].gap, 0.0, 1e-15);
  const saltusi_shape soft = solids_box(&pool, 0.4, 0.4, 0.4, 0.1);
  a = solids_at((double[3]){2.3, 2.6, 0.3}, (double[3]){0.0, 0.0, 0.5});
  near_pairs(&(saltusi_two){&soft, &a, &ground, &b}, 1e-6, 1e-3, &pairs);
  assert_int_equal(pairs.all.count, 4);
  assert_near(pairs.item[0].gap, 0.0, 1e-15);
  saltusi_pool_free(&pool);
}

static void no_pose_breaks_a_list(void** state) {
  (void)state;
  uint64_t seed = 99;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double heights[64];
  for (int k = 0; k < 64; k++) {
    heights[k] = k % 3 == 0 ? 0.0 : 0.3 * saltus_test_random(&seed);
  }
  const cube soup = cube_soup();
  const saltus_shape_def def = cube_def(&soup);
  const saltusi_shape mesh[2] = {field(&pool, heights, 8, 8), solids_make(&pool, &def)};
  enum { OTHERS = 8 };
  const saltusi_shape other[OTHERS] = {
      sphere(&pool, 0.4),
      solids_make(&pool,
                  &(saltus_shape_def){
                      .name = "bar", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.1, .length = 1.0}),
      solids_box(&pool, 1.0, 1.0, 0.5, 0.0),
      solids_make(&pool, &(saltus_shape_def){.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE}),
      solids_make(&pool, &(saltus_shape_def){.name = "wheel",
                                             .kind = SALTUS_SHAPE_CYLINDER,
                                             .radius = 0.4,
                                             .length = 0.3}),
      solids_make(&pool,
                  &(saltus_shape_def){
                      .name = "cone", .kind = SALTUS_SHAPE_CONE, .radius = 0.4, .length = 0.6}),
      solids_make(&pool, &(saltus_shape_def){.name = "egg",
                                             .kind = SALTUS_SHAPE_ELLIPSOID,
                                             .size = {0.3, 0.4, 0.5}}),
      solids_box(&pool, 0.6, 0.5, 0.4, 0.1)};
  for (int round = 0; round < (saltus_test_long() ? 300000 : 5000); round++) {
    const saltusi_shape* A = &other[(int)(OTHERS * saltus_test_random(&seed))];
    const saltusi_shape* B = &mesh[(int)(2.0 * saltus_test_random(&seed))];
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
      }
      at[side] = solids_at(x, r);
    }
    const bool finite = round % 1000 != 999;
    const bool swap = round % 2 == 1;
    const saltusi_two two = {swap ? B : A, &at[0], swap ? A : B, &at[1]};
    list pairs;
    near_pairs(&two, 0.2 * saltus_test_random(&seed), 0.3 * saltus_test_random(&seed), &pairs);
    saltusi_separation apart;
    saltusi_shape_separation(two.A, two.a, two.B, two.b, &apart);
    assert_true(!finite || isfinite(apart.distance));
    for (int k = 0; finite && k < pairs.all.count; k++) {
      const saltusi_feature_candidate* item = &pairs.item[k];
      assert_true(isfinite(item->gap) &&
                  isfinite(item->point[0] + item->point[1] + item->point[2]));
      assert_near(saltusi_dot3(item->normal, item->normal), 1.0, 1e-12);
      double guard[SALTUSI_GUARDS];
      const int guards = saltusi_shape_guards(two.A, two.a, two.B, two.b, item, guard);
      assert_true(guards >= 0 && guards <= SALTUSI_GUARDS);
      for (int g = 0; g < guards; g++) {
        assert_true(guard[g] == guard[g]);
      }
      /* the equations of the pair give the same gap and normal */
      saltusi_pair by;
      saltusi_closest closest;
      saltusi_shape_pair(two.A, two.a, two.B, two.b, item, &by);
      const double skeletons = item->gap + by.A->rho + by.B->rho;
      if (fabs(skeletons) > 1e-9 && saltusi_pair_closest(&by, &closest)) {
        assert_near(closest.gap, item->gap, 1e-8);
        assert_near(saltusi_dot3(closest.normal, item->normal), 1.0, 1e-6);
      }
    }
  }
  saltusi_pool_free(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_soup_of_triangles_becomes_a_cube),
      cmocka_unit_test(what_is_no_mesh_is_refused),
      cmocka_unit_test(the_least_contact_of_a_ball_is_the_distance),
      cmocka_unit_test(inside_is_found),
      cmocka_unit_test(a_ball_over_coplanar_triangles_has_one_contact),
      cmocka_unit_test(a_ridge_hands_over_and_a_valley_has_two_contacts),
      cmocka_unit_test(a_capsule_lies_on_its_ends_and_across_ridges),
      cmocka_unit_test(boxes_on_meshes_touch_as_on_boxes),
      cmocka_unit_test(a_box_in_a_corner_touches_floor_and_wall),
      cmocka_unit_test(a_corner_beyond_a_concave_edge_is_not_below_it),
      cmocka_unit_test(a_mesh_stands_on_a_plane_with_its_lowest_corners),
      cmocka_unit_test(distances_from_meshes_are_those_from_their_triangles),
      cmocka_unit_test(all_pairs_hold_those_of_nearby_poses),
      cmocka_unit_test(cylinders_and_the_like_on_meshes),
      cmocka_unit_test(no_pose_breaks_a_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
