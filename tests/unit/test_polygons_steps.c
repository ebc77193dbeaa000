/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_polygons_steps.c - sharp non-convex polygons that fall on each other: how far they interpenetrate in steps of moreau-jean. Depths
 * are those of points along the outlines, by a test of their own.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <string.h>

enum { BODIES = 6, BODIES_MAX = 9, POINTS_MAX = 12, SAMPLES = 8 };

typedef struct outline {
  int count;
  double p[POINTS_MAX][2];
} outline;

static double draw(unsigned* seed, double from, double to) {
  *seed = *seed * 1664525u + 1013904223u;
  return from + (to - from) * (*seed >> 8) / 16777216.0;
}

/* A cross, an L, a C, a T and a star of five points, 0.2 m across, with arms of width 2 a. */
static outline draw_outline(int kind, double a) {
  const double r = 0.1;
  outline o = {0};
  const double cross[12][2] = {{r, -a}, {r, a},   {a, a},   {a, r},   {-a, r}, {-a, a},
                               {-r, a}, {-r, -a}, {-a, -a}, {-a, -r}, {a, -r}, {a, -a}};
  const double ell[6][2] = {{-r, -r},       {r, -r}, {r, 2 * a - r}, {2 * a - r, 2 * a - r},
                            {2 * a - r, r}, {-r, r}};
  const double cee[8][2] = {
      {-r, -r},       {r, -r}, {r, 2 * a - r}, {2 * a - r, 2 * a - r}, {2 * a - r, r - 2 * a},
      {r, r - 2 * a}, {r, r},  {-r, r}};
  const double tee[8][2] = {{-a, -r}, {a, -r}, {a, r - 2 * a},  {r, r - 2 * a},
                            {r, r},   {-r, r}, {-r, r - 2 * a}, {-a, r - 2 * a}};
  const double(*const shapes[])[2] = {cross, ell, cee, tee};
  static const int counts[] = {12, 6, 8, 8};
  if (kind < 4) {
    o.count = counts[kind];
    memcpy(o.p, shapes[kind], (size_t)o.count * sizeof o.p[0]);
    return o;
  }
  o.count = 10;
  for (int k = 0; k < 10; k++) {
    const double radius = k % 2 == 0 ? r : 2.0 * a;
    o.p[k][0] = radius * cos(0.314159265 * 2.0 * k);
    o.p[k][1] = radius * sin(0.314159265 * 2.0 * k);
  }
  return o;
}

static bool holds(const outline* o, const double p[2]) {
  bool inside = false;
  for (int k = 0; k < o->count; k++) {
    const double *a = o->p[k], *b = o->p[(k + 1) % o->count];
    if ((a[1] > p[1]) != (b[1] > p[1]) &&
        p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1])) {
      inside = !inside;
    }
  }
  return inside;
}

static double distance(const outline* o, const double p[2]) {
  double least = INFINITY;
  for (int k = 0; k < o->count; k++) {
    const double *a = o->p[k], *b = o->p[(k + 1) % o->count];
    const double d[2] = {b[0] - a[0], b[1] - a[1]};
    const double part = ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1]);
    const double s = fmin(fmax(part, 0.0), 1.0);
    least = fmin(least, hypot(p[0] - a[0] - s * d[0], p[1] - a[1] - s * d[1]));
  }
  return least;
}

/* Points along the outline of A, at qa = (x, y, angle), inside of B. */
static double depth_in(const outline* A, const double* qa, const outline* B, const double* qb) {
  double deepest = 0.0;
  for (int k = 0; k < A->count * SAMPLES; k++) {
    const double *a = A->p[k / SAMPLES], *b = A->p[(k / SAMPLES + 1) % A->count];
    const double s = (double)(k % SAMPLES) / SAMPLES;
    const double own[2] = {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])};
    const double x = qa[0] + cos(qa[2]) * own[0] - sin(qa[2]) * own[1] - qb[0];
    const double y = qa[1] + sin(qa[2]) * own[0] + cos(qa[2]) * own[1] - qb[1];
    const double p[2] = {cos(qb[2]) * x + sin(qb[2]) * y, -sin(qb[2]) * x + cos(qb[2]) * y};
    if (holds(B, p)) {
      deepest = fmax(deepest, distance(B, p));
    }
  }
  return deepest;
}

static saltus_scene* make_scene(int kind, unsigned seed, outline shapes[BODIES]) {
  char text[8192] = "saltus: 1\nworld:\n  dimension: 2\n  shapes:\n    - {half-plane: {}}\n"
                    "    - {half-plane: {}, position: [-0.27, 0], angle: -pi/2}\n"
                    "    - {half-plane: {}, position: [0.27, 0], angle: pi/2}\n"
                    "materials: {default: {friction: 0.4, restitution: 0.1}}\nbodies:\n";
  for (int i = 0; i < BODIES; i++) {
    const int of = kind < 5 ? kind : i % 5;
    shapes[i] = draw_outline(of, draw(&seed, 0.018, 0.03));
    size_t used = strlen(text);
    const double angle = draw(&seed, 0.0, 6.28); /* one by one: arguments have no order */
    const double x = (i % 2 == 0 ? -0.13 : 0.13) + draw(&seed, -0.002, 0.002);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "  b%d: {mass: 1, inertia: 0.003, position: [%.4f, %.2f], angle: "
                             "%.4f, shapes: [{polygon: {points: [",
                             i, x, 0.18 + 0.29 * (i / 2), angle);
    for (int k = 0; k < shapes[i].count; k++) {
      used += (size_t)snprintf(text + used, sizeof text - used, "%s[%.17g, %.17g]",
                               k > 0 ? ", " : "", shapes[i].p[k][0], shapes[i].p[k][1]);
    }
    snprintf(text + used, sizeof text - used, "]}}]}\n");
  }
  saltus_kept_message kept = {.text = ""};
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return scene;
}

/* Depth over what the fastest two points come closer by in a step; a body is 0.15 m in radius. */
static double fall(saltus_scene* scene, int count, const outline* shapes, double h) {
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.iterate = 1;
  saltus_kept_message kept = {.text = ""};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "moreau-jean",
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .h = h,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  double deepest = 0.0, fastest = 0.0;
  for (int steps = 5; saltus_sim_time(sim) < 0.5; steps += 5) {
    if (saltus_sim_run(sim, steps) != SALTUS_OK) {
      fail_msg("%s", kept.text);
    }
    const double *q = saltus_sim_q(sim), *v = saltus_sim_v(sim);
    for (int i = 0; i < count; i++) {
      const double* own = v + 3 * (size_t)i;
      fastest = fmax(fastest, hypot(own[0], own[1]) + 0.15 * fabs(own[2]));
      for (int j = 0; j < count; j++) {
        const double *a = q + 3 * (size_t)i, *b = q + 3 * (size_t)j;
        if (i != j && hypot(a[0] - b[0], a[1] - b[1]) < 0.3) {
          deepest = fmax(deepest, depth_in(&shapes[i], a, &shapes[j], b));
        }
      }
    }
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return deepest / (2.0 * fastest * h);
}

/* A corner that has slid into a reflex corner is beyond the ends of both edges by its depth: lost there, arms sank 25 mm into each other
 * at every step. */
static void reflex_corners_hold_corners(void** state) {
  (void)state;
  const unsigned draws = saltus_test_long() ? 40 : 1;
  for (int kind = 0; kind < 6; kind++) {
    for (unsigned seed = 1; seed <= draws; seed++) {
      for (double h = 1e-3; h > 3e-4; h *= 0.5) {
        outline shapes[BODIES];
        saltus_scene* scene = make_scene(kind, 7919u * seed + (unsigned)kind, shapes);
        const double depth = fall(scene, BODIES, shapes, h);
        if (!(depth <= 1.0)) {
          print_error("kind %d, seed %u, h = %g: depth %g of a step\n", kind, seed, h, depth);
          fail();
        }
      }
    }
  }
}

static void nine_crosses_do_not_sink_into_each_other(void** state) {
  (void)state;
  outline shapes[BODIES_MAX];
  for (int i = 0; i < BODIES_MAX; i++) {
    shapes[i] = draw_outline(0, 0.025);
  }
  saltus_scene* scene = saltus_test_scene("../tests/scenes/failing/crosses-one-polygon", NULL, 0);
  assert_true(fall(scene, BODIES_MAX, shapes, 1e-3) <= 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reflex_corners_hold_corners),
      cmocka_unit_test(nine_crosses_do_not_sink_into_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
