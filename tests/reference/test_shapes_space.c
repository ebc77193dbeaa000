/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bodies with shapes in space in the adaptive scheme, against motions of 13 digits and more that were computed by two
 * methods without code of the library (docs/theory/contact-geometry.md names them T3 to T9).
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 256 };

typedef struct motion {
  double q[7], v[6];
  int count;
  saltus_event event[EVENTS];
  double after[EVENTS][6];
} motion;

static motion run(const char* text, double t_end, double tol) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def scene_def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_scheme_def def = {.scheme = "adaptive",
                                 .options = &options,
                                 .system = view->system,
                                 .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  motion m = {.count = 0};
  memcpy(m.q, view->q0, sizeof m.q);
  memcpy(m.v, view->v0, sizeof m.v);
  saltus_state x = {0.0, m.q, m.v};
  while (x.t < t_end) {
    saltus_step_report report;
    if (saltus_scheme_step(scheme, t_end - x.t, &x, &report) != SALTUS_OK) {
      fail_msg("t = %.17g: %s", x.t, kept.text);
    }
    for (int i = 0; i < report.event_count && m.count < EVENTS; i++) {
      memcpy(m.after[m.count], m.v, sizeof m.v);
      m.event[m.count++] = report.events[i];
    }
  }
  saltus_scheme_destroy(scheme);
  saltus_scene_destroy(scene);
  return m;
}

static int nth_impact(const motion* m, int n) {
  for (int i = 0; i < m->count; i++) {
    if (m->event[i].kind == SALTUS_EVENT_IMPACT && n-- == 0) {
      return i;
    }
  }
  fail_msg("%d events, and not as many impacts", m->count);
  return -1;
}

/* T3: a cube falls on its corner. */
static void a_cube_on_its_corner_bounces_as_it_should(void** unused) {
  (void)unused;
  const double t[2][3] = {{0.319275428407050, 0.404978504357557, 0.636006443301425},
                          {0.319275428407050, 0.564583114126049, 0.652076578566268}};
  const double v[2][3][3] = {
      {{0, 0, -.275446759521616}, {0, 0, .789764406751605}, {0, 0, -.0978717587324391}},
      {{-1.15015735717526, -.159540017423515, .826308843109772},
       {-.754430115249619, .16874029449287, .133731448814841},
       {-.759244376642134, .335813997713803, -.167435934776952}}};
  for (int k = 0; k < 3; k++) {
    const double tol = pow(10.0, -6 - 2 * k);
    for (int rough = 0; rough < 2; rough++) {
      char text[1024];
      snprintf(text, sizeof text,
               "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
               "materials: {default: {friction: %g, restitution: 0.4}}\n"
               "bodies:\n  cube: {mass: 1, shapes: [{box: {size: [1, 1, 1]}}], position: [0, 0, "
               "1.3129173363602402], orientation: {axis: [0.6, 0.4, 0.3], angle: sqrt(0.61)}}\n",
               rough ? 0.3 : 0.0);
      const motion m = run(text, 0.66, tol);
      for (int i = 0; i < 3; i++) {
        const int at = nth_impact(&m, i);
        assert_near(m.event[at].t, t[rough][i], 10.0 * tol);
        for (int c = 0; c < 3; c++) {
          assert_near(m.after[at][c], v[rough][i][c], 10.0 * tol);
        }
      }
    }
  }
}

/* T3, the brick: its axes have three moments of inertia, so it tumbles between impacts. */
static void a_brick_on_its_corner_bounces_as_it_should(void** unused) {
  (void)unused;
  const double t[2][3] = {{0.31927542840705, 0.384648926146291, 0.425630093820868},
                          {0.31927542840705, 0.390847510067303, 0.465968196922094}};
  const double v[2][3][6] = {
      {{0, 0, -1.73788378047031, -5.0640798356815, -5.14531272210727, 2.66225145637618},
       {0, 0, -1.16296755804457, -12.0065614817818, 0.300540537670895, 0.36003428627724},
       {0, 0, -0.357324114246095, -3.17814163778796, 6.49339678126094, 0.854858895667581}},
      {{-0.531623954753299, 0.0694201112617996, -1.34496769188391, -3.77451408753412,
        -4.37554236620741, 2.85067001987572},
       {-0.481299248093996, 0.487486154555155, -0.643476251657405, -8.5653315258354,
        0.60749639652311, -0.704900695060619},
       {-0.207346268990644, 0.471775634298268, -0.465733226651389, -2.91979105271647,
        5.17015177039285, 0.12795924459033}}};
  for (int k = 0; k < 2; k++) {
    const double tol = pow(10.0, -6 - 3 * k);
    for (int rough = 0; rough < 2; rough++) {
      char text[1024];
      snprintf(text, sizeof text,
               "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
               "materials: {default: {friction: %g, restitution: 0.4}}\n"
               "bodies:\n  brick: {mass: 1, shapes: [{box: {size: [1, 0.6, 0.3]}}], position: [0, "
               "0, 0.92981553362213], orientation: {axis: [0.6, 0.4, 0.3], angle: sqrt(0.61)}}\n",
               rough ? 0.3 : 0.0);
      const motion m = run(text, rough ? 0.47 : 0.43, tol);
      for (int i = 0; i < 3; i++) {
        const int at = nth_impact(&m, i);
        assert_near(m.event[at].t, t[rough][i], 10.0 * tol);
        for (int c = 0; c < 6; c++) {
          assert_near(m.after[at][c], v[rough][i][c], 10.0 * tol * fmax(1.0, fabs(v[rough][i][c])));
        }
      }
    }
  }
}

#define BALL                                                                                       \
  "bodies:\n  ball: {mass: 1, inertia: [0.025, 0.025, 0.025], shapes: [{sphere: {radius: "         \
  "0.25}}], position: [-0.5, 0, 0.25], "                                                           \
  "velocity: [0.5, 0, 0], angular_velocity: [0, 2, 0]}\n"

/* T5: a ball rolls over a ridge and into a valley of a mesh. */
static void a_ball_rolls_over_a_ridge_into_a_valley(void** unused) {
  (void)unused;
  const char* text = "saltus: 1\nparameters: {d: -tan(pi/9)}\nworld: {dimension: 3, shapes: "
                     "[{mesh: {points: [[-2, -1, 0], [-2, 1, 0], [0, "
                     "-1, 0], [0, 1, 0], [1, -1, d], [1, 1, d], [4, -1, d], [4, 1, d]], triangles: "
                     "[[0, 2, 1], [1, "
                     "2, 3], [2, 4, 3], [3, 4, 5], [4, 6, 5], [5, 6, 7]]}}]}\n"
                     "materials: {default: {friction: 2, restitution: 0}}\n" BALL;
  for (int k = 0; k < 3; k++) {
    const double tol = pow(10.0, -6 - 2 * k);
    const motion m = run(text, 2.5, tol);
    const int valley = nth_impact(&m, 0); /* the ridge is none */
    assert_near(m.event[valley].t, 1.83801116141734, 10.0 * tol);
    assert_near(m.after[valley][0], 2.21353193979296, 10.0 * tol);
    assert_near(m.q[0], 2.50941518316628, 10.0 * tol);
    assert_near(m.q[2], 0.25 - tan(3.14159265358979323846 / 9), 10.0 * tol);
  }
}

/* T4: a ball on two triangles of one plane, or on a heightfield of one plane: its speed is that of a plane. */
static void a_ball_does_not_feel_the_edges_of_coplanar_triangles(void** unused) {
  (void)unused;
  const char* texts[2] = {
      "saltus: 1\nworld: {dimension: 3, shapes: [{mesh: {points: [[-2, -1, 0], [2, -1, 0], [2, 1, "
      "0], [-2, 1, 0]], "
      "triangles: [[0, 1, 2], [0, 2, 3]]}}]}\nmaterials: {default: {friction: 0.5}}\n" BALL,
      "saltus: 1\nworld: {dimension: 3, shapes: [{heightfield: {heights: [[0, 0, 0, 0, 0], [0, 0, "
      "0, 0, 0], [0, 0, 0, 0, "
      "0]], spacing: [1, 1]}, position: [-2, -1, 0]}]}\nmaterials: {default: {friction: "
      "0.5}}\n" BALL};
  for (int k = 0; k < 2; k++) {
    const motion m = run(texts[k], 2.0, 1e-9);
    assert_int_equal(m.count, 0);
    assert_near(m.v[0], 0.5, 1e-12);
    assert_near(m.v[2], 0.0, 1e-12);
    assert_near(m.q[0], 0.5, 1e-12);
    assert_near(m.q[2], 0.25, 1e-12);
  }
}

/* T9: a box lands on a plane without friction: single corners hit. */
static void a_box_lands_corner_by_corner(void** unused) {
  (void)unused;
  const char* text =
      "saltus: 1\nparameters: {a: sqrt(0.0014)}\nworld: {dimension: 3, shapes: [{half-space: "
      "{}}]}\n"
      "materials: {default: {restitution: 0.4}}\n"
      "bodies:\n  box: {mass: 1, shapes: [{box: {size: [0.5, 0.4, 0.3]}}], position: [0, 0, 0.4], "
      "orientation: {axis: [0.02, 0.03, 0.01], angle: a}, velocity: [0.1, 0, 0], "
      "angular_velocity: [0.3, -0.2, 0]}\n";
  const double t[5] = {.216640055225157, .220296033076141, .228106453544094, .231047808913680,
                       .239726338489942};
  const motion m = run(text, 0.24, 1e-9);
  for (int i = 0; i < 5; i++) {
    assert_near(m.event[nth_impact(&m, i)].t, t[i], 1e-8);
  }
}

/* T9: the same box, its lower face on 16 points of little balls, in a grid to its corners, or on the 4 of them: it moves alike. Simultaneous
 * impacts of more points than are needed determine the motion, not the shares. */
static void more_points_than_needed_change_nothing(void** unused) {
  (void)unused;
  motion m[2];
  for (int many = 0; many < 2; many++) {
    char text[8192];
    int used = snprintf(text, sizeof text,
                        "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
                        "materials: {default: {restitution: 0.4}}\n"
                        "bodies:\n  box: {mass: 1, inertia: [0.020833333333333332, "
                        "0.028333333333333332, 0.034166666666666666], position: [0, 0, 0.25], "
                        "velocity: [0.1, 0, 0], shapes: [");
    for (int k = 0; k < 16; k++) {
      const int i = k % 4, j = k / 4;
      if (many == 0 && (i % 3 != 0 || j % 3 != 0)) {
        continue;
      }
      used += snprintf(text + used, sizeof text - (size_t)used,
                       "%s{sphere: {radius: 0.01}, position: [%.17g, %.17g, -0.14]}",
                       k > 0 ? ", " : "", 0.5 * i / 3.0 - 0.25, 0.4 * j / 3.0 - 0.2);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}\n");
    m[many] = run(text, 0.6, 1e-10);
  }
  assert_true(m[0].count > 0);
  assert_near(m[0].event[nth_impact(&m[0], 0)].t, sqrt(0.2 / 9.81), 1e-12);
  for (int k = 0; k < 7; k++) {
    assert_near(m[1].q[k], m[0].q[k], 1e-10);
  }
  for (int k = 0; k < 6; k++) {
    assert_near(m[1].v[k], m[0].v[k], 1e-10);
  }
}

/* A capsule on two bars across it, the right one higher by `up`; the right number of newtons at each. Forces are those of one step of
 * moreau-jean at rest. */
static void lie_on_bars(const double x[2], double up, double mu, const double N[2], double along) {
  char text[1536];
  snprintf(
      text, sizeof text,
      "saltus: 1\nparameters: {a: pi/2, up: %.17g, x1: %.17g, x2: %.17g, tilt: atan(up/(x2 - x1)), "
      "back: x1*cos(tilt)}\n"
      "world: {dimension: 3, shapes: [{capsule: {radius: 0.05, length: 1}, position: [x1, 0, 0], "
      "orientation: {axis: [1, 0, 0], angle: a}}, {capsule: {radius: 0.05, length: 1}, "
      "position: [x2, 0, up], orientation: {axis: [1, 0, 0], angle: a}}]}\n"
      "materials: {default: {friction: %g}}\n"
      "bodies: {rod: {mass: 3, inertia: [1, 1, 1], position: [x1 - 0.15*sin(tilt) - "
      "back*cos(tilt), 0, 0.15*cos(tilt) - back*sin(tilt)], shapes: [{capsule: {radius: 0.1, "
      "length: 2}, orientation: {axis: [0, 1, 0], angle: a - tilt}}]}}\n",
      up, x[0], x[1], mu);
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def scene_def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_scheme* scheme;
  assert_int_equal(
      saltus_scheme_create(&(saltus_scheme_def){.scheme = "moreau-jean", .system = view->system},
                           &scheme),
      SALTUS_OK);
  double q[7], v[6];
  memcpy(q, view->q0, sizeof q);
  memcpy(v, view->v0, sizeof v);
  saltus_state state = {0.0, q, v};
  saltus_step_report report;
  const double h = 1e-3;
  assert_int_equal(saltus_scheme_step(scheme, h, &state, &report), SALTUS_OK);
  assert_int_equal(report.active, 2);
  double friction[2] = {0.0, 0.0};
  for (int i = 0; i < 2; i++) {
    const double* impulse = report.contacts[i].impulse;
    const int which = fabs(impulse[0] / h - N[0]) < fabs(impulse[0] / h - N[1]) ? 0 : 1;
    assert_near(impulse[0] / h, N[which], 1e-10);
    for (int k = 0; mu > 0.0 && k < 2; k++) {
      friction[k] += impulse[1 + k] / h;
    }
  }
  assert_near(hypot(friction[0], friction[1]), along, 1e-10);
  for (int i = 0; i < 6; i++) {
    assert_near(v[i], 0.0, 1e-13);
  }
  saltus_scheme_destroy(scheme);
  saltus_scene_destroy(scene);
}

/* T8: by statics N = m g (x2, -x1) / (x2 - x1). With the right bar 0.2 higher friction, at the surface, has a moment about the axis. */
static void a_capsule_lies_on_two_bars(void** unused) {
  (void)unused;
  lie_on_bars((double[2]){-0.7, 0.9}, 0.0, 0.0, (double[2]){16.554375, 12.875625}, 0.0);
  lie_on_bars((double[2]){-0.2, 0.8}, 0.0, 0.0, (double[2]){23.544, 5.886}, 0.0);
  lie_on_bars((double[2]){-0.7, 0.9}, 0.2, 0.2, (double[2]){16.8494815804966, 12.3532563311866},
              3.65034223896041);
}

/* A box on a box that tips over its edge: vertices on faces hand over to edges on edges. Energy is that of turning about
 * the edge, which friction holds. */
static void a_box_tips_over_the_edge_of_another(void** unused) {
  (void)unused;
  const char* text = "saltus: 1\nworld: {dimension: 3, shapes: [{box: {size: [4, 4, 2]}, position: "
                     "[-2, 0, -1]}]}\n"
                     "materials: {default: {friction: 0.9}}\n"
                     "bodies:\n  box: {mass: 1, shapes: [{box: {size: [1, 0.8, 0.5]}}], position: "
                     "[0.1, 0, 0.25]}\n";
  const motion m = run(text, 0.2, 1e-8);
  const double inertia = 1.25 / 12.0 + 0.01 + 0.0625;
  const double phi = 2.0 * atan2(m.q[5], m.q[3]); /* about y */
  const double height = 0.25 * cos(phi) - 0.1 * sin(phi);
  assert_true(phi > 0.05);
  assert_near(m.q[2], height, 1e-7);
  assert_near(m.q[0], 0.1 * cos(phi) + 0.25 * sin(phi), 1e-7);
  assert_near(m.v[4] * m.v[4], 2.0 * 9.81 * (0.25 - height) / inertia, 1e-6);
}

/* A box on n x n feet that comes down tilted and without friction, at 1 s: it has bounced on corners and edges. */
static motion run_on_feet(int n) {
  char text[8192];
  int used = snprintf(text, sizeof text,
                      "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
                      "materials: {default: {restitution: 0.4}}\nbodies:\n"
                      "  box: {mass: 2, inertia: [0.04, 0.06, 0.07], position: [0, 0, 0.4], "
                      "orientation: {axis: [2, 3, 0], angle: 0.04}, velocity: [0.1, 0.2, 0], "
                      "angular_velocity: [0, 0, 1], shapes: [");
  for (int i = 0; i < n * n; i++) {
    const double x = -0.25 + 0.5 * (i % n) / (n - 1), y = -0.2 + 0.4 * (i / n) / (n - 1);
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "%s{sphere: {radius: 0.01}, position: [%.17g, %.17g, -0.15]}",
                     i > 0 ? ", " : "", x, y);
  }
  snprintf(text + used, sizeof text - (size_t)used, "]}\n");
  return run(text, 1.0, 1e-8);
}

/* Feet inside of the hull of others touch when all of these do: their velocities are means of those of the corners, and their
 * laws follow. */
static void a_tilted_box_moves_alike_on_four_and_sixteen_feet(void** unused) {
  (void)unused;
  const motion four = run_on_feet(2), sixteen = run_on_feet(4);
  assert_true(four.count > 10);
  for (int k = 0; k < 7; k++) {
    assert_near(sixteen.q[k], four.q[k], 1e-10);
  }
  for (int k = 0; k < 6; k++) {
    assert_near(sixteen.v[k], four.v[k], 1e-10);
  }
}

/* A cylinder comes sidewards to another that lies at a right angle below it, and hits the end of that with its side, at an
 * angle of a with the vertical: 0.5 cos a = 0.5 - d. The impulse goes through its centre: a reflection. */
static void a_cylinder_is_thrown_up_by_the_rim_of_another(void** unused) {
  (void)unused;
  for (double d = 1e-5; d < 0.2; d *= 10.0) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0], shapes: [{cylinder: {radius: 0.5, "
        "length: 2}, orientation: {axis: [0, 1, 0], angle: pi/2}}]}\n"
        "materials: {default: {restitution: 1}}\nbodies:\n"
        "  b: {density: 500, position: [-6, 0, %.17g], velocity: [10, 0, 0], shapes: "
        "[{cylinder: {radius: 0.5, length: 2}, orientation: {axis: [1, 0, 0], angle: pi/2}}]}\n"
        "simulate: {until: 1, scheme: adaptive, tol: 1e-8}\n",
        1.0 - d);
    const double sine = sqrt(4.0 * d * (1.0 - d)), x = -1.0 - 0.5 * sine;
    const double v[2] = {10.0 - 20.0 * sine * sine, 20.0 * sine * sqrt(1.0 - sine * sine)};
    for (double tol = 1e-5; tol > 0.9e-10; tol *= 0.1) {
      const motion m = run(text, 0.6, tol);
      assert_int_equal(m.count, 1);
      assert_near(m.event[0].t, (x + 6.0) / 10.0, 1e-12);
      assert_near(m.q[0], x + v[0] * (0.6 - (x + 6.0) / 10.0), 10.0 * tol);
      assert_near(m.q[2], 1.0 - d + v[1] * (0.6 - (x + 6.0) / 10.0), 10.0 * tol);
      assert_near(m.v[0], v[0], 10.0 * tol);
      assert_near(m.v[2], v[1], 10.0 * tol);
      for (int k = 3; k < 6; k++) {
        assert_near(m.v[k], 0.0, 10.0 * tol);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cube_on_its_corner_bounces_as_it_should),
      cmocka_unit_test(a_brick_on_its_corner_bounces_as_it_should),
      cmocka_unit_test(a_ball_rolls_over_a_ridge_into_a_valley),
      cmocka_unit_test(a_ball_does_not_feel_the_edges_of_coplanar_triangles),
      cmocka_unit_test(a_box_lands_corner_by_corner),
      cmocka_unit_test(more_points_than_needed_change_nothing),
      cmocka_unit_test(a_capsule_lies_on_two_bars),
      cmocka_unit_test(a_cylinder_is_thrown_up_by_the_rim_of_another),
      cmocka_unit_test(a_box_tips_over_the_edge_of_another),
      cmocka_unit_test(a_tilted_box_moves_alike_on_four_and_sixteen_feet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
