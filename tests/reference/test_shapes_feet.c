/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_shapes_feet.c - bodies on more points than a plane needs (docs/theory/contact-geometry.md, 9): without friction a body on
 * 16 coplanar feet moves as on the 4 of its corners, in every scheme, whatever is active.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 8192 };

typedef struct motion {
  double q[7], v[6];
  int most; /* active contacts of a step */
} motion;

static motion run(const char* text, const char* scheme, const void* options, double h,
                  double until) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def open = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&open, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .h = h,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  motion m = {.most = 0};
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  const int steps = (int)(until / h + 0.5);
  for (int k = 1; k <= steps; k++) {
    if (saltus_sim_run_until(sim, k * h) != SALTUS_OK) {
      fail_msg("%s: %s", scheme, kept.text);
    }
    const int active = saltus_sim_report(sim)->active;
    m.most = active > m.most ? active : m.most;
  }
  memcpy(m.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(m.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return m;
}

static void same(const motion* a, const motion* b) {
  for (int k = 0; k < 7; k++) {
    assert_near(a->q[k], b->q[k], 1e-10);
  }
  for (int k = 0; k < 6; k++) {
    assert_near(a->v[k], b->v[k], 1e-10);
  }
}

/* A box of 0.5 x 0.375 m on n x n feet in a grid to its corners, which have the same bits for n = 2 and 4. */
typedef struct feet {
  int n;
  const char* foot;  /* a shape */
  const char* floor; /* a shape */
  double e, tilt;
  const char* friction;
  const char* more; /* further shapes of the box */
} feet;

static const char ball[] = "sphere: {radius: 0.01}", cube[] = "box: {size: [0.02, 0.02, 0.02]}";
static const char ground[] = "{half-space: {}}",
                  table[] = "{box: {size: [4, 4, 1]}, position: [0, 0, -0.5]}";

static void write_feet(const feet* f, char text[ROOM]) {
  int used = snprintf(text, ROOM,
                      "saltus: 1\nworld: {dimension: 3, shapes: [%s]}\n"
                      "materials: {default: {friction: %s, restitution: %g}, other: {friction: %s, "
                      "restitution: %g}}\nbodies:\n"
                      "  box: {mass: 2, inertia: [0.04, 0.06, 0.07], position: [0, 0, 0.4], "
                      "orientation: {axis: [2, 3, 0], angle: %g}, velocity: [0.1, 0.2, 0], "
                      "angular_velocity: [0, 0, 1], shapes: [",
                      f->floor, f->friction, f->e, f->friction, f->e, f->tilt);
  for (int i = 0; i < f->n * f->n; i++) {
    const double x = -0.25 + 0.5 * (i % f->n) / (f->n - 1);
    const double y = -0.1875 + 0.375 * (i / f->n) / (f->n - 1);
    used += snprintf(text + used, (size_t)(ROOM - used), "%s{%s, position: [%.17g, %.17g, -0.15]}",
                     i > 0 ? ", " : "", f->foot, x, y);
  }
  snprintf(text + used, (size_t)(ROOM - used), "%s]}\n", f->more != NULL ? f->more : "");
}

static motion run_feet(feet f, int n, const char* scheme, double h) {
  char text[ROOM];
  f.n = n;
  write_feet(&f, text);
  return run(text, scheme, NULL, h, 0.45);
}

/* Flat, on a corner, and far tilted: it bounces, or falls from corner to corner and comes to rest. Steps of 4 ms: an inner foot
 * is below the ground at the end of a step in which its corner passed it. */
static void a_box_moves_alike_in_every_scheme(void** unused) {
  (void)unused;
  static const char* const scheme[] = {"moreau-jean",
                                       "moreau-jean-projected",
                                       "moreau-midpoint",
                                       "variational",
                                       "rattle",
                                       "schatzman-paoli",
                                       "splitting-rkf45",
                                       "dg-minus",
                                       "trapezoidal-implicit-mean",
                                       "rk4",
                                       "radau-iia-3",
                                       "hem-4"};
  for (size_t s = 0; s < sizeof scheme / sizeof scheme[0]; s++) {
    for (int k = 0; k < 4; k++) {
      if (!saltus_test_takes((int)s + k)) {
        continue;
      }
      const double tilt[4] = {0.0, 0.04, 0.04, 0.3};
      const feet f = {
          .foot = ball, .floor = ground, .e = k < 2 ? 0.0 : 0.5, .tilt = tilt[k], .friction = "0"};
      const motion four = run_feet(f, 2, scheme[s], 1.0 / 240.0);
      const motion sixteen = run_feet(f, 4, scheme[s], 1.0 / 240.0);
      same(&four, &sixteen);
      assert_true(four.most > 0);
      assert_true(four.q[2] < 0.35);
    }
  }
}

/* Feet with corners, and a table that ends. */
static void feet_with_corners_and_tables_do_the_same(void** unused) {
  (void)unused;
  for (int k = 0; k < 18; k++) {
    const double tilt[3] = {0.0, 0.04, 0.3};
    const feet f = {.foot = k % 3 == 0 ? ball : cube,
                    .floor = k % 3 == 1 ? ground : table,
                    .e = k >= 9 ? 0.5 : 0.0,
                    .tilt = tilt[k / 3 % 3],
                    .friction = "0"};
    const motion four = run_feet(f, 2, "moreau-jean", 1.0 / 240.0);
    const motion sixteen = run_feet(f, 4, "moreau-jean", 1.0 / 240.0);
    same(&four, &sixteen);
  }
}

/* The points may be those of the ground: a box comes down on balls that stand in a grid, all below its face. */
static void a_box_lands_on_four_and_sixteen_balls(void** unused) {
  (void)unused;
  for (int k = 0; k < 4; k++) {
    motion m[2];
    for (int many = 0; many < 2; many++) {
      const int n = many != 0 ? 4 : 2;
      char text[ROOM];
      int used = snprintf(text, sizeof text, "saltus: 1\nworld: {dimension: 3, shapes: [");
      for (int i = 0; i < n * n; i++) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "%s{sphere: {radius: 0.01}, position: [%.17g, %.17g, 0]}", i > 0 ? ", " : "",
                     -0.12 + 0.24 * (i % n) / (n - 1), -0.1 + 0.2 * (i / n) / (n - 1));
      }
      snprintf(text + used, sizeof text - (size_t)used,
               "]}\nmaterials: {default: {restitution: %g}}\n"
               "bodies: {box: {mass: 2, inertia: [0.04, 0.06, 0.07], position: [0, 0, 0.4], "
               "orientation: {axis: [2, 3, 0], angle: %g}, shapes: [{box: {size: [0.5, 0.4, "
               "0.3]}}]}}\n",
               k % 2 == 0 ? 0.0 : 0.5, k < 2 ? 0.0 : 0.04);
      m[many] = run(text, "moreau-jean", NULL, 1.0 / 240.0, 0.6);
    }
    same(&m[0], &m[1]);
    assert_int_equal(m[1].most, m[0].most);
  }
}

/* What is not a mean of others stays: a foot that stands out by a micrometre, one of another material, all with friction, and
 * all where springs carry, of which 16 are stiffer than 4. */
static void feet_that_count_are_kept(void** unused) {
  (void)unused;
  const feet f = {.foot = ball, .floor = ground, .friction = "0"};
  assert_int_equal(run_feet(f, 4, "moreau-jean", 1.0 / 240.0).most, 4);
  feet low = f;
  low.more = ", {sphere: {radius: 0.01}, position: [0, 0, -0.150001]}";
  assert_int_equal(run_feet(low, 4, "moreau-jean", 1.0 / 240.0).most, 5);
  feet thick = f;
  thick.more = ", {sphere: {radius: 0.010001}, position: [0, 0, -0.15]}";
  assert_int_equal(run_feet(thick, 4, "moreau-jean", 1.0 / 240.0).most, 5);
  feet other = f;
  other.more = ", {sphere: {radius: 0.01}, position: [0, 0, -0.15], material: other}";
  assert_int_equal(run_feet(other, 4, "moreau-jean", 1.0 / 240.0).most, 5);
  feet rough = f;
  rough.friction = "0.3";
  assert_int_equal(run_feet(rough, 4, "moreau-jean", 1.0 / 240.0).most, 16);
  saltus_moreau_jean_options springs = saltus_moreau_jean_options_default();
  springs.theta = 1.0;
  springs.iterate = 1;
  springs.speculative = 1;
  springs.stiffness = 1e6;
  char text[ROOM];
  feet soft = f;
  soft.n = 4;
  write_feet(&soft, text);
  assert_int_equal(run(text, "moreau-jean", &springs, 1.0 / 240.0, 0.6).most, 16);
}

/* Over the end of a table the inner feet carry when those at the corners have left it: the box goes on level until the second
 * row of feet, 0.5/3 m behind the first one, is the last but one; the centre is over the edge first. */
static void inner_feet_carry_where_corners_have_left(void** unused) {
  (void)unused;
  feet f = {.n = 4,
            .foot = ball,
            .floor = "{box: {size: [4, 4, 1]}, position: [-2, 0, -0.66]}",
            .friction = "0"};
  char text[ROOM];
  write_feet(&f, text);
  char* at = strstr(text, "position: [0, 0, 0.4]");
  assert_non_null(at);
  memcpy(at, "position: [-.2, 0, 0]", 21); /* the first row is over the end by 0.05 m */
  at = strstr(text, "angular_velocity: [0, 0, 1]");
  memcpy(at, "angular_velocity: [0, 0, 0]", 27);
  /* the second row is at -0.2 + 0.25 - 0.5/3 = -0.117 m, beyond the centre: level until that reaches the end */
  const motion m = run(text, "moreau-jean", NULL, 1e-3, 1.0);
  assert_near(m.q[0], -0.1, 1e-12);
  assert_near(m.q[2], 0.0, 1e-9);
  assert_near(m.q[5], 0.0, 1e-9);
  const motion later =
      run(text, "moreau-jean", NULL, 1e-3, 2.2); /* the centre is over it by 0.02 m */
  assert_true(later.q[5] > 1e-3);
}

/* A block on two round feet slides off a table without friction: at 0.15 s the centre of the front foot, r = 0.01 m, passes the
 * corner at 1 m/s and leaves it at once, v^2 / r > g; from then on the height of the rear foot alone is held,
 *   y = r + a sin phi + b cos phi,   (J + m c^2) phi'' = m c (s phi'^2 - g),   c = a cos phi - b sin phi,  s = a sin phi + b cos phi
 * which is integrated here by the classical method with steps that have converged. */
static void feet_that_slide_off_a_table_let_go(void** unused) {
  (void)unused;
  static const char* const scheme[] = {"rk4",     "dopri5", "radau-iia-3",  "radau-iia-5",
                                       "gauss-4", "hem-4",  "event-driven", "adaptive"};
  static const char text[] =
      "saltus: 1\nworld: {dimension: 2, shapes: [{polygon: {points: [[-5, -1], [0, -1], [0, 0], "
      "[-5, 0]]}}]}\nbodies:\n  block: {mass: 1, inertia: 0.03, position: [-0.4, 0.16], velocity: "
      "[1, 0], shapes: [{circle: {radius: 0.01}, position: [-0.25, -0.15]}, {circle: {radius: "
      "0.01}, position: [0.25, -0.15]}]}\n";
  const double a = 0.25, b = 0.15, r = 0.01, J = 0.03, g = 9.81, until = 0.4, from = 0.15;
  enum { STEPS = 2000 };
  double phi = 0.0, spin = 0.0;
  const double dt = (until - from) / STEPS;
  for (int k = 0; k < STEPS; k++) {
    double p[4], w[4], sum[2] = {0.0, 0.0};
    for (int i = 0; i < 4; i++) {
      const double part = i == 0 ? 0.0 : i == 3 ? dt : 0.5 * dt;
      const double at = phi + (i > 0 ? part * p[i - 1] : 0.0);
      p[i] = spin + (i > 0 ? part * w[i - 1] : 0.0);
      const double c = a * cos(at) - b * sin(at), s = a * sin(at) + b * cos(at);
      w[i] = c * (s * p[i] * p[i] - g) / (J + c * c);
      sum[0] += (i == 1 || i == 2 ? 2.0 : 1.0) * p[i] * dt / 6.0;
      sum[1] += (i == 1 || i == 2 ? 2.0 : 1.0) * w[i] * dt / 6.0;
    }
    phi += sum[0];
    spin += sum[1];
  }
  for (size_t s = 0; s < sizeof scheme / sizeof scheme[0]; s++) {
    if (!saltus_test_takes((int)s)) {
      continue;
    }
    const bool chooses = strcmp(scheme[s], "adaptive") == 0;
    const motion m = run(text, scheme[s], NULL, chooses ? until : 1e-3, until);
    assert_near(m.q[0], 0.0, 1e-8);
    assert_near(m.q[2], phi, 1e-6);
    assert_near(m.q[1], r + a * sin(phi) + b * cos(phi), 1e-6);
    assert_near(m.v[2], spin, 1e-5);
  }
}

/* Four feet are one more than a body needs: one of them, or two of its diagonals, have no force of their own, and are not accelerated
 * but by rounding. event-driven, which stops where events accumulate, took that for contacts that close again and again. At
 * rest nothing moves; thrown along without friction v is constant; with friction the box, whose spin and way end together, stays. */
static void a_box_stands_on_feet_from_the_start(void** unused) {
  (void)unused;
  for (int k = 0; k < 12; k++) {
    char text[ROOM];
    const char* foot = k % 2 == 0 ? ball : cube;
    const char* friction = k / 2 % 2 == 0 ? "0" : "0.3";
    const int thrown = k / 4;
    const char* pushed = thrown == 0   ? ""
                         : thrown == 1 ? ", velocity: [0.3, 0.1, 0]"
                                       : ", velocity: [0.3, 0.1, 0], angular_velocity: [0, 0, 1]";
    snprintf(text, ROOM,
             "saltus: 1\nworld: {dimension: 3, shapes: [%s]}\n"
             "materials: {default: {friction: %s, restitution: 0.3}}\nbodies:\n"
             "  box: {mass: 2, inertia: [0.04, 0.06, 0.07], position: [0, 0, 0.16]%s, shapes: "
             "[{%s, position: [-0.25, -0.1875, -0.15]}, {%s, position: [-0.25, 0.1875, -0.15]}, "
             "{%s, position: [0.25, -0.1875, -0.15]}, {%s, position: [0.25, 0.1875, -0.15]}]}\n",
             k % 3 == 0 ? table : ground, friction, pushed, foot, foot, foot, foot);
    const motion m = run(text, "event-driven", NULL, 1e-3, 2.0);
    const bool stays = thrown == 0 || k / 2 % 2 == 1;
    assert_near(m.q[2], 0.16, 1e-13);
    assert_near(m.v[0], stays ? 0.0 : 0.3, 1e-13);
    assert_near(m.v[1], stays ? 0.0 : 0.1, 1e-13);
    assert_near(m.v[5], !stays && thrown == 2 ? 1.0 : 0.0, 1e-13);
    for (int i = 2; i < 5; i++) {
      assert_near(m.v[i], 0.0, 1e-13);
    }
    if (thrown == 0 || !stays) {
      assert_near(m.q[0], thrown == 0 ? 0.0 : 0.6, 1e-12);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_moves_alike_in_every_scheme),
      cmocka_unit_test(feet_with_corners_and_tables_do_the_same),
      cmocka_unit_test(a_box_lands_on_four_and_sixteen_balls),
      cmocka_unit_test(feet_that_count_are_kept),
      cmocka_unit_test(inner_feet_carry_where_corners_have_left),
      cmocka_unit_test(feet_that_slide_off_a_table_let_go),
      cmocka_unit_test(a_box_stands_on_feet_from_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
