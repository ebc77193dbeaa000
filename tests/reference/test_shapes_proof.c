/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Shapes that come to touch for a moment of a step, and shapes that just do not: no contact may be missed, none may be
 * invented, and what passes close by may not cost much (docs/theory/events.md). Motions are free of forces, so that steps
 * are as long as they can be, and contact times are in closed form or from advancing by the distance over the speed.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 64 };

typedef struct motion {
  int count, steps;
  saltus_event event[EVENTS];
  double q[7], v[6];
  long pieces;               /* of which bounds of watches were asked for */
  long long proven, sampled; /* searches for events */
} motion;

/* The system's own table, and how often it was asked. */
static const saltus_enclosure_ops* asked;
static long pieces;

static void counted(const void* self, const saltus_course* over, const saltus_course* middle,
                    double span, uint64_t identity, double margin, saltus_clearance* out) {
  pieces++;
  asked->contact_clear(self, over, middle, span, identity, margin, out);
}

static motion run(const char* text, double t_end, double tol) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def scene_def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_system sys = *view->system;
  saltus_system_ops ops = *sys.ops;
  assert_non_null(ops.enclosure);
  saltus_enclosure_ops enclosure = *ops.enclosure;
  asked = ops.enclosure;
  pieces = 0;
  enclosure.contact_clear = counted;
  ops.enclosure = &enclosure;
  sys.ops = &ops;
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_scheme_def def = {
      .scheme = "adaptive", .options = &options, .system = &sys, .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  motion m = {.count = 0};
  double q[14], v[12];
  memcpy(q, view->q0, (size_t)sys.dims.nq * sizeof *q);
  memcpy(v, view->v0, (size_t)sys.dims.nv * sizeof *v);
  saltus_state x = {0.0, q, v};
  while (x.t < t_end) {
    saltus_step_report report;
    if (saltus_scheme_step(scheme, t_end - x.t, &x, &report) != SALTUS_OK) {
      fail_msg("t = %.17g: %s", x.t, kept.text);
    }
    m.steps++;
    for (int i = 0; i < report.event_count && m.count < EVENTS; i++) {
      m.event[m.count++] = report.events[i];
    }
  }
  memcpy(m.q, q, sizeof m.q);
  memcpy(m.v, v, sizeof m.v);
  m.pieces = pieces;
  m.proven = saltus_scheme_tally(scheme)->proven;
  m.sampled = saltus_scheme_tally(scheme)->sampled;
  saltus_scheme_destroy(scheme);
  saltus_scene_destroy(scene);
  return m;
}

static const double two_pi = 6.283185307179586;

/* A ball 2 mm large at 300 m/s against a plate 1 mm thick, and beside it. */
static void a_bullet_does_not_pass_a_plate(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[1024];
    const double beside = k == 0 ? 0.2 : 0.501 + 1e-7;
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], shapes: [{box: {size: [1, 1, "
             "0.001]}}]}\nmaterials: {default: {restitution: 1}}\n"
             "bodies:\n  ball: {mass: 0.001, shapes: [{sphere: {radius: 0.001}}], position: "
             "[%.17g, 0.1, 100], velocity: [0, 0, -300]}\n",
             beside);
    const motion m = run(text, 1.0, 1e-8);
    if (k == 0) {
      assert_true(m.count > 0);
      assert_near(m.event[0].t, (100.0 - 0.0015) / 300.0, 1e-12);
      assert_near(m.v[2], 300.0, 1e-9);
    } else {
      assert_int_equal(m.count, 0);
      assert_true(m.pieces <= 400);
      assert_true(m.proven > 0 && m.sampled == 0);
    }
  }
}

/* Its ends come down to 1e-6 m below the floor, for 40 microseconds of a turn; and to 1e-6 m above it. */
static void a_spinning_rod_dips_into_the_floor(void** unused) {
  (void)unused;
  static const char* const shapes[] = {"{capsule: {radius: 0.001, length: 1}}",
                                       "{cylinder: {radius: 0.001, length: 1}}",
                                       "{box: {size: [0.002, 0.002, 1]}}"};
  for (int shape = 0; shape < 3; shape++) {
    for (int k = 0; k < 2; k++) {
      /* the lowest place of the rod, which is farthest from its centre */
      const double half = shape == 0 ? 0.501 : hypot(0.5, 0.001);
      const double height = half + (k == 0 ? -1e-6 : 1e-6), spin = 100.0;
      char text[1024];
      snprintf(text, sizeof text,
               "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], shapes: [{half-space: {}}]}\n"
               "materials: {default: {restitution: 1}}\n"
               "bodies:\n  rod: {mass: 1, inertia: [0.1, 0.1, 0.01], shapes: [%s], position: "
               "[0, 0, %.17g], orientation: {axis: [0, 1, 0], angle: %.17g}, angular_velocity: "
               "[0, %g, 0]}\n",
               shapes[shape], height, 0.25 * two_pi, spin);
      const motion m = run(text, 1.0, 1e-8);
      if (k == 0) {
        assert_true(m.count > 0);
        /* from lying flat a corner goes down by a quarter of a turn; capsule: z = height - 0.5 sin - 0.001 */
        const double angle =
            shape == 0 ? asin((height - 0.001) / 0.5) : asin(height / half) - atan2(0.001, 0.5);
        assert_near(m.event[0].t, angle / spin, 1e-9);
      } else {
        assert_int_equal(m.count, 0);
        assert_true(m.pieces <= 10 * m.steps);
        assert_int_equal(m.sampled, 0);
      }
    }
  }
}

/* Distance of a point from a segment about c, half long, along (cos, sin, 0). */
static double needle_to_point(const double c[3], double half, double angle, const double p[3]) {
  const double d[3] = {p[0] - c[0], p[1] - c[1], p[2] - c[2]};
  const double a[2] = {cos(angle), sin(angle)};
  const double u = fmin(half, fmax(-half, d[0] * a[0] + d[1] * a[1]));
  const double x = d[0] - u * a[0], y = d[1] - u * a[1];
  return sqrt(x * x + y * y + d[2] * d[2]);
}

/* A needle of 0.2 mm that turns some ten times while it passes a ball of 2 mm. */
static void a_needle_finds_a_bead(void** unused) {
  (void)unused;
  uint64_t seed = 31;
  int hits = 0, misses = 0;
  long most = 0;
  for (int draw = 0; draw < 60; draw++) {
    const double spin = 20.0 + 80.0 * saltus_test_random(&seed);
    const double speed = 2.0 + 8.0 * saltus_test_random(&seed);
    const double start = two_pi * saltus_test_random(&seed);
    const double y = 1.2 * (saltus_test_random(&seed) - 0.5);
    const double z = 1.4e-3 * saltus_test_random(&seed);
    const double radii = 1.1e-3, t_end = 2.0 / speed, fastest = speed + 0.5 * spin;
    const double bead[3] = {0.0, y, z};
    double t = 0.0, gap = 1.0;
    while (t < t_end && gap > 1e-11) { /* no contact before t + gap / fastest */
      const double c[3] = {-1.0 + speed * t, 0.0, 0.0};
      gap = needle_to_point(c, 0.5, start + spin * t, bead) - radii;
      t += fmax(gap, 0.0) / fastest;
    }
    char text[1024];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], shapes: [{sphere: {radius: "
             "0.001}, position: [0, %.17g, %.17g]}]}\nmaterials: {default: {restitution: 1}}\n"
             "bodies:\n  needle: {mass: 1, inertia: [0.1, 0.1, 0.1], shapes: [{capsule: {radius: "
             "0.0001, length: 1}, orientation: {axis: [0, 1, 0], angle: %.17g}}], position: [-1, "
             "0, 0], velocity: [%.17g, 0, 0], orientation: {axis: [0, 0, 1], angle: %.17g}, "
             "angular_velocity: [0, 0, %.17g]}\n",
             y, z, 0.25 * two_pi, speed, start, spin);
    const motion m = run(text, t_end, 1e-8);
    if (t < t_end) {
      hits++;
      assert_true(m.count > 0);
      assert_near(m.event[0].t, t, 1e-8);
    } else {
      misses++;
      assert_int_equal(m.count, 0);
      most = m.pieces > most ? m.pieces : most;
    }
  }
  assert_true(hits > 10 && misses > 10 && most < 400);
}

/* Spheres, edges of cubes and rims pass each other with a gap, and overlap by the same. */
static void what_passes_is_told_from_what_touches(void** unused) {
  (void)unused;
  static const char* const scene[] = {
      /* spheres of 1 m: touching at a distance of 2 m */
      "shapes: [{sphere: {radius: 1}}]", "{sphere: {radius: 1}}",
      /* edges of cubes, one along y, one along x: half diagonals of both */
      "shapes: [{box: {size: [1, 1, 1]}, orientation: {axis: [0, 1, 0], angle: pi/4}}]",
      "{box: {size: [1, 1, 1]}, orientation: {axis: [1, 0, 0], angle: pi/4}}",
      /* lying capsules, crossed: both radii */
      "shapes: [{capsule: {radius: 0.5, length: 2}, orientation: {axis: [0, 1, 0], angle: pi/2}}]",
      "{capsule: {radius: 0.5, length: 2}, orientation: {axis: [1, 0, 0], angle: pi/2}}"};
  const double apart[] = {2.0, 2.0 * sqrt(0.5), 1.0};
  for (int s = 0; s < 3; s++) {
    for (int k = 0; k < 6; k++) {
      const double by = pow(10.0, -5 - k / 2) * (k % 2 == 0 ? 1.0 : -1.0);
      char text[1024];
      snprintf(text, sizeof text,
               "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], %s}\n"
               "materials: {default: {restitution: 1}}\n"
               "bodies:\n  other: {mass: 1, inertia: [1, 1, 1], shapes: [%s], position: [-6, 0, "
               "%.17g], velocity: [10, 0, 0]}\n",
               scene[2 * s], scene[2 * s + 1], apart[s] + by);
      const motion m = run(text, 1.2, 1e-8);
      assert_true(by > 0.0 ? m.count == 0 : m.count > 0);
      assert_true(by < 0.0 || (m.pieces <= 30 && m.sampled == 0));
      if (s == 0 && by < 0.0) {
        const double x = sqrt(4.0 - (2.0 + by) * (2.0 + by));
        assert_near(m.event[0].t, (6.0 - x) / 10.0, 1e-8);
      }
    }
  }
}

/* A block that slides on a larger one: its corners are shown to stay over the face in every step. */
static void corners_that_slide_have_guards_that_are_shown_to_hold(void** unused) {
  (void)unused;
  const motion m =
      run("saltus: 1\nworld: {dimension: 3, shapes: [{box: {size: [10, 10, 1]}, position: [0, 0, "
          "-0.5]}]}\nmaterials: {default: {friction: 0, restitution: 0}}\n"
          "bodies:\n  block: {mass: 1, inertia: [0.1, 0.1, 0.1], shapes: [{box: {size: [1, 1, "
          "1]}}], position: [-3, 0, 0.5], velocity: [2, 0.1, 0]}\n",
          2.0, 1e-8);
  assert_near(m.q[0], 1.0, 1e-7);
  assert_near(m.q[2], 0.5, 1e-9);
  assert_true(m.proven >= 3 * m.steps); /* four guards but where a contact is lost or begins */
}

/* A ball over a ridge of two triangles: 1e-5 m above it and below. */
static void a_ball_passes_a_ridge(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    const double by = k == 0 ? 1e-5 : -1e-5;
    char text[1024];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], shapes: [{heightfield: "
             "{spacing: [1, 1], heights: [[0, 0.01, 0], [0, 0.01, 0]]}}]}\n"
             "materials: {default: {restitution: 1}}\n"
             "bodies:\n  ball: {mass: 1, shapes: [{sphere: {radius: 0.1}}], position: [0.2, 0.4, "
             "%.17g], velocity: [3, 0, 0]}\n",
             0.11 + by);
    const motion m = run(text, 0.5, 1e-8);
    assert_true(by > 0.0 ? m.count == 0 : m.count > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bullet_does_not_pass_a_plate),
      cmocka_unit_test(a_spinning_rod_dips_into_the_floor),
      cmocka_unit_test(a_needle_finds_a_bead),
      cmocka_unit_test(what_passes_is_told_from_what_touches),
      cmocka_unit_test(corners_that_slide_have_guards_that_are_shown_to_hold),
      cmocka_unit_test(a_ball_passes_a_ridge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
