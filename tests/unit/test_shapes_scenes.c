/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_shapes_scenes.c - scenes with shapes: laws, masses, derivatives, motions that are known, and what is refused.
 */
#include "saltus_test.h"

#include "saltus/mechanism.h"
#include "system/diagnose.h"

#include <stdio.h>
#include <stdlib.h>

static saltus_scene* open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

static saltus_scene* open_file(const char* name) {
  char path[1024];
  saltus_kept_message kept;
  saltus_scene* scene;
  snprintf(path, sizeof path, "%s/%s", SALTUS_SCENES, name);
  const saltus_scene_def def = {.path = path, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

static saltus_sim* run(saltus_scene* scene, const char* scheme, double h, double tol,
                       double until) {
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_kept_message kept = {.text = ""};
  saltus_adaptive_options adaptive = saltus_adaptive_options_default();
  adaptive.rtol = adaptive.atol = tol;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = tol > 0.0 ? &adaptive : NULL,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .h = h,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run_until(sim, until) != SALTUS_OK) {
    fail_msg("%s: %s", scheme, kept.text);
  }
  return sim;
}

#define PLANE "saltus: 1\nworld: {dimension: 2, shapes: [{half-plane: {}, material: ice}]}\n"

/* A step that failed is done once more with a probe over the system: what contacts of shapes need is there too. */
static void probes_answer_for_shapes(void** state) {
  (void)state;
  saltus_scene* scene = open_text(PLANE "materials: {ice: {friction: 0.04}}\n"
                                        "bodies: {ball: {mass: 1, inertia: 1, position: [0, 2], "
                                        "shapes: [{circle: {radius: 1}, material: ice}]}}\n");
  const saltus_system* inner = saltus_scene_get_view(scene)->system;
  saltusi_probe probe;
  saltusi_probe_record record = {0};
  const saltus_system outer = saltusi_probe_over(&probe, inner, &record);
  assert_non_null(inner->ops->guards);
  assert_non_null(outer.ops->contacts);
  assert_non_null(outer.ops->gaps);
  assert_non_null(outer.ops->sweep);
  assert_non_null(outer.ops->guards);
  assert_non_null(outer.ops->place);
  saltus_scene_destroy(scene);
}

static void laws_follow_from_materials_and_exceptions(void** state) {
  (void)state;
  saltus_scene* scene = open_text(
      PLANE "materials: {ice: {friction: 0.04, restitution: 0.2}, wood: {friction: 0.25}}\n"
            "contact_pairs: [{between: [c, d], friction: 0.9}, {between: [a, b], collide: false}]\n"
            "bodies:\n"
            "  a: {density: 1, shapes: [{circle: {radius: 1}, material: wood}], position: [0, 1]}\n"
            "  b: {density: 1, shapes: [{circle: {radius: 1}, material: wood}], position: [1, 2]}\n"
            "  c: {density: 1, shapes: [{circle: {radius: 1}, material: wood}], position: [9, 1]}\n"
            "  d: {density: 1, shapes: [{circle: {radius: 1}}], position: [9, 3]}\n");
  const saltus_system* sys = saltus_scene_get_view(scene)->system;
  assert_true((sys->traits & SALTUS_CHANGING_CONTACTS) != 0);
  double gap[8];
  uint64_t identity[8];
  int law[8];
  saltus_contact_list list = {
      .capacity = 8, .reach = 0.1, .gap = gap, .identity = identity, .law = law};
  void* scratch = calloc(1, sys->dims.scratch);
  const saltus_point at = {.q = saltus_scene_get_view(scene)->q0, .scratch = scratch};
  assert_int_equal(sys->ops->contacts(sys->self, &at, &list), SALTUS_OK);
  assert_int_equal(list.count,
                   3); /* a and c on the floor, d on c; a and b overlap and do not see it */
  int floor = 0, pair = 0;
  for (int i = 0; i < list.count; i++) {
    const saltus_contact_law* l = &sys->laws[law[i]];
    assert_true(fabs(gap[i]) < 1e-15);
    assert_int_equal(l->tangents, 1);
    floor += fabs(l->mu - 0.1) < 1e-15 && l->e_N == 0.2;
    pair += l->mu == 0.9 && l->e_N == 0.0;
  }
  assert_int_equal(floor, 2);
  assert_int_equal(pair, 1);
  free(scratch);
  saltus_scene_destroy(scene);
}

/* An L of two rectangles, 3 x 1 and 1 x 1 on its left end: area 4, centre (1.25, 0.75), J 25/6
 * (docs/theory/contact-geometry.md, 8). The body turns about it wherever shapes and markers are given from. */
static void mass_and_centre_follow_from_shapes(void** state) {
  (void)state;
  saltus_scene* scene =
      open_text("saltus: 1\nbodies:\n"
                "  ell: {density: 2, position: [10, 0], angle: pi/2, shapes: [\n"
                "    {polygon: {points: [[0, 0], [3, 0], [3, 1], [0, 1]]}},\n"
                "    {polygon: {points: [[0, 0], [1, 0], [1, 1], [0, 1]]}, position: [0, 1]}]}\n"
                "markers: {corner: {body: ell, point: [3, 1]}}\n");
  const saltus_mechanism* m = saltus_scene_get_view(scene)->mechanism;
  const saltus_body_place body = saltus_mechanism_body(m, 0);
  const double* q = saltus_scene_get_view(scene)->q0;
  double x[3], axes[9];
  assert_near(body.mass, 8.0, 1e-14);
  assert_near(body.inertia[0], 2.0 * 25.0 / 6.0, 1e-13);
  assert_near(q[0], 10.0 - 0.75, 1e-14); /* turned by a quarter */
  assert_near(q[1], 1.25, 1e-14);
  saltus_mechanism_frame(m, 0, 0.0, q, x, axes);
  assert_near(x[0], 9.0, 1e-14);
  assert_near(x[1], 3.0, 1e-14);
  saltus_scene_destroy(scene);
}

static void derivatives_of_contacts_agree_with_differences(void** state) {
  (void)state;
  saltus_scene* scene = open_text(
      "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
      "materials: {default: {friction: 0.3}}\n"
      "coordinates: {s: {start: 0.2}}\nkinetic: s'^2/2\n"
      "contacts: [{name: stop, gap: s + ball.z}]\n"
      "bodies:\n"
      "  ball: {density: 1, shapes: [{sphere: {radius: 0.5}, position: [0.1, 0, 0]}],\n"
      "         position: [0, 0, 0.5], angular_velocity: [1, 2, 3], velocity: [0.3, 0, 0]}\n"
      "  other: {density: 1, shapes: [{sphere: {radius: 0.5}}], position: [0.7, 0.8, 0.55],\n"
      "          velocity: [-1, 0, 0]}\n"
      "  cam: {driven: {x: 0.9*sin(t) - 0.8, z: 0.4 + t^2, axis: [0, 1, 0], angle: 3*t},\n"
      "        shapes: [{capsule: {radius: 0.2, length: 0.5}}]}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_system_check_result result;
  assert_int_equal(
      saltus_system_check(view->system, 0.1, view->q0, view->v0, (saltus_log){0}, &result),
      SALTUS_OK);
  assert_true(result.normal_G < 1e-8);
  assert_true(result.normal_b < 1e-8);
  assert_true(result.convective_c < 1e-7);
  saltus_scene_destroy(scene);
}

/* s(t) = 5/14 g sin(slope) t^2 down the slope. */
static void a_ball_rolls_down_a_slope(void** state) {
  (void)state;
  saltus_scene* scene = open_file("shapes/ball-on-slope.yaml");
  const double along = 0.5 * 5.0 / 7.0 * 9.81 * sin(0.3);
  const struct {
    const char* scheme;
    double h, tol, error;
  } cases[] = {{"adaptive", 0.0, 1e-9, 1e-8},
               {"moreau-jean", 1e-3, 0.0, 1e-12}}; /* midpoint: exact for constant acceleration */
  for (size_t k = 0; k < 2; k++) {
    saltus_sim* sim = run(scene, cases[k].scheme, cases[k].h, cases[k].tol, 1.0);
    const double* q = saltus_sim_q(sim);
    assert_near(q[0], 0.1 * sin(0.3) + along * cos(0.3), cases[k].error);
    assert_near(q[2], 0.1 * cos(0.3) - along * sin(0.3), cases[k].error);
    saltus_sim_destroy(sim);
  }
  saltus_scene_destroy(scene);
}

/* v after the third impact at .652076578566268 (T3 of docs/theory/contact-geometry.md, 8; 40 digits); vertical
 * velocity there and free fall from then on. */
static void a_cube_falls_onto_its_corner(void** state) {
  (void)state;
  saltus_scene* scene = open_file("shapes/box-on-corner.yaml");
  saltus_sim* sim = run(scene, "adaptive", 0.0, 1e-10, 0.7);
  const double* v = saltus_sim_v(sim);
  const double flight = 0.7 - 0.652076578566268;
  assert_near(v[0], -.759244376642134, 1e-9);
  assert_near(v[1], .335813997713803, 1e-9);
  assert_near(v[2], -.167435934776952 - 9.81 * flight, 1e-9);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

static void a_stack_of_ten_cubes_stands(void** state) {
  (void)state;
  saltus_scene* scene = open_file("shapes/stack.yaml");
  saltus_sim* sim = run(scene, "moreau-jean", 1.0 / 240.0, 0.0, 1.0);
  const double* q = saltus_sim_q(sim);
  for (int i = 0; i < 10; i++) {
    assert_near(q[7 * i + 2], i + 0.5, 1e-12);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* Three discs in a row, 0.1 and 0.2 in each other: refused with depth and way, moved apart when asked. */
static void overlaps_are_refused_by_name_or_parted(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nworld: {gravity: [0, 0]}\nbodies:\n"
      "  a: {density: 1, shapes: [{name: left, circle: {radius: 1}}], position: [-1.9, 0]}\n"
      "  b: {density: 1, shapes: [{name: middle, circle: {radius: 1}}]}\n"
      "  c: {density: 1, shapes: [{name: right, circle: {radius: 1}}], position: [1.8, 0]}\n";
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
  assert_says(kept, "s:4:");
  assert_says(kept, "shapes \"left\" and \"middle\" overlap by 0.1 m at the start");
  assert_says(kept, "move the first by (-0.1, ");
  def.separate = true;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const double* q = saltus_scene_get_view(scene)->q0;
  assert_true(q[3] - q[0] >= 2.0 - 2e-9 && q[3] - q[0] < 2.01);
  assert_true(q[6] - q[3] >= 2.0 - 2e-9 && q[6] - q[3] < 2.01);
  saltus_scene_destroy(scene);
}

/* A prism of 24 vertices on the floor, beside a joint with limits: the contacts at the start exceed the room for the
 * limits. Tilted, so that its vertices lie in the floor by different depths, it is lifted and not pulled down. */
static void contacts_at_the_start_may_be_many(void** state) {
  (void)state;
  enum { SIDES = 24, ROOM = 4096 };
  for (int tilted = 0; tilted < 2; tilted++) {
    char text[ROOM];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "saltus: 1\nworld: {dimension: 3, shapes: [{name: floor, half-space: {}}]}\n"
        "markers: {pin: {point: [5, 0, 1]}, root: {body: arm, point: [0, 0, 0]}}\n"
        "joints: [{name: hinge, type: revolute, between: [pin, root], limits: [-1, 1]}]\nbodies:\n"
        "  arm: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 1]}\n"
        "  prism: {mass: 1, inertia: [1, 1, 1], position: [0, 0, %g], orientation: {rpy: "
        "[0, %g, 0]},\n    shapes: [{name: nut, hull: {points: [",
        tilted ? 0.047 : 0.05, tilted ? 0.01 : 0.0);
    for (int k = 0; k < 2 * SIDES; k++) {
      const double angle = 2.0 * 3.14159265358979323846 * k / SIDES;
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%s[%.6f, %.6f, %g]", k > 0 ? ", " : "",
                           0.1 * cos(angle), 0.1 * sin(angle), k < SIDES ? -0.05 : 0.05);
    }
    snprintf(text + used, sizeof text - used, "]}}]}\n");
    saltus_scene* scene = open_text(text);
    const double* q = saltus_scene_get_view(scene)->q0 + 7;
    const double tilt = 2.0 * atan2(hypot(q[4], q[5]), hypot(q[3], q[6]));
    assert_near(q[2], 0.05 * cos(tilt) + 0.1 * sin(tilt), 1e-4 * tilt);
    assert_true(tilted ? tilt > 1e-4 : tilt == 0.0);
    saltus_scene_destroy(scene);
  }
}

/* Forty boards of 0.1 m, each half in the next: the ground pushes all of them up at once, the top one by 2 m. */
static void a_column_is_parted_from_the_ground_up(void** state) {
  (void)state;
  enum { BOARDS = 40, ROOM = 8192 };
  char text[ROOM];
  int used = snprintf(text, sizeof text,
                      "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\nbodies:\n");
  for (int i = 0; i < BOARDS; i++) {
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  b%d: {density: 1000, shapes: [{box: {size: [0.4, 0.4, 0.1]}}], position: "
                     "[0, 0, %g]}\n",
                     i, 0.04 + 0.05 * i);
  }
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def def = {
      .path = "s", .text = text, .separate = true, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const double* q = saltus_scene_get_view(scene)->q0;
  for (int i = 0; i < BOARDS; i++) {
    assert_near(q[7 * i + 2], 0.05 + 0.1 * i, 1e-6);
  }
  saltus_scene_destroy(scene);
}

/* Dominoes at a large step: rows change with the velocity that they decide. One problem a step goes through, and all fall. */
static void dominoes_fall(void** state) {
  (void)state;
  saltus_scene* scene = open_file("shapes/dominoes.yaml");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_kept_message kept = {.text = ""};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = view->scheme,
                              .options = view->options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .h = view->step,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK ||
      saltus_sim_run_until(sim, view->until) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const double* q = saltus_sim_q(sim);
  for (int i = 0; i < 20; i++) { /* z axes lean by more than half a radian */
    const double* p = q + 7 * i + 3;
    assert_true(1.0 - 2.0 * (p[1] * p[1] + p[2] * p[2]) < 0.88);
    assert_true(q[7 * i + 2] > 0.0);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* A polygon in a half-circle is one in a whole ring: it stays in the lower half. Steps of flights go far past the arc. */
static void a_polygon_in_an_arc_moves_as_in_a_ring(void** state) {
  (void)state;
  const char* rings[2] = {"{circle: {radius: 1, hollow: true}}",
                          "{chain: {points: [[-1, 0], [1, 0]], bulges: [1]}}"};
  double end[2][3] = {{0}};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 2, shapes: [%s]}\n"
             "materials: {default: {friction: 0.3, restitution: 0.3}}\n"
             "bodies: {b: {density: 1000, position: [0.4, -0.2], angle: 0.3, shapes: [{polygon: "
             "{points: [[-0.2, -0.1], [0.2, -0.1], [0.1, 0.15], [-0.2, 0.1]]}}]}}\n",
             rings[i]);
    saltus_scene* scene = open_text(text);
    saltus_sim* sim = run(scene, "adaptive", 1.0, 1e-6, 1.0);
    memcpy(end[i], saltus_sim_q(sim), sizeof end[i]);
    saltus_sim_destroy(sim);
    saltus_scene_destroy(scene);
  }
  for (int k = 0; k < 3; k++) {
    assert_near(end[0][k], end[1][k], 1e-5);
  }
}

/* A ball, or an ellipsoid that is one, slides down one side of a valley, hits the other without rebound, and climbs it. It is
 * over the other side only shortly before it hits: no list in the middle of a long step has that pair. */
static void a_ball_hits_the_other_side_of_a_valley(void** state) {
  (void)state;
  const double r = 0.1, slope = atan(0.2), from = 0.5, g = 9.81;
  const char* shapes[2] = {"{sphere: {radius: 0.1}}", "{ellipsoid: {size: [0.1, 0.1, 0.1]}}"};
  char text[2][1024];
  for (int i = 0; i < 2; i++) {
    snprintf(text[i], sizeof text[i],
             "saltus: 1\nworld: {dimension: 3, shapes: [{heightfield: {spacing: [2, 2], heights: "
             "[[0.4, 0, 0.4], [0.4, 0, 0.4]]}}]}\n"
             "bodies: {b: {density: 1000, shapes: [%s], position: "
             "[%.17g, 1, %.17g]}}\n",
             shapes[i], 2.0 - from + r * sin(slope), 0.2 * from + r * cos(slope));
  }
  /* its centre goes from s to s1 beyond the edge along the first side, with the acceleration g sin(slope); there it
   * touches both, and keeps the part cos(2 slope) of its speed */
  const double s = from / cos(slope), s1 = r * tan(slope), a = g * sin(slope);
  const double speed = sqrt(2.0 * a * (s - s1)), after = speed * cos(2.0 * slope);
  const double t = speed / a, until = t + 0.1;
  const double climbed = s1 + after * 0.1 - 0.5 * a * 0.01;
  const double x = 2.0 + climbed * cos(slope) - r * sin(slope);
  for (int k = 10; k < 20; k++) {
    const double tol = pow(10.0, -k / 2);
    saltus_scene* scene = open_text(text[k % 2]);
    saltus_sim* sim = run(scene, "adaptive", 1.0, tol, until);
    assert_near(saltus_sim_q(sim)[0], x, 10.0 * tol);
    saltus_sim_destroy(sim);
    saltus_scene_destroy(scene);
  }
}

/* Three equal balls in line, two of them touching, e = 1: how a scene of bodies alone says that contacts strike together. Exact; springs side
 * by side by the closed form of three masses (docs/theory/laws.md, 2.5 and 2.6). */
static void bodies_strike_in_the_order_of_the_scene(void** state) {
  (void)state;
  static const struct {
    const char* rule;
    double v[3];
  } cases[] = {{"", {-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0}},
               {"impacts: {order: sequential}\n", {0.0, 0.0, 1.0}},
               {"impacts: {order: lzb}\n", {-0.130261695065, 0.150229569435, 0.980032125630}}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[700];
    snprintf(
        text, sizeof text,
        "saltus: 1\nworld: {gravity: [0, 0]}\nmaterials: {default: {restitution: 1}}\n%sbodies:\n"
        "  a: {mass: 1, shapes: [{circle: {radius: 0.05}}], position: [-0.3, 0], velocity: [1, "
        "0]}\n"
        "  b: {mass: 1, shapes: [{circle: {radius: 0.05}}]}\n"
        "  c: {mass: 1, shapes: [{circle: {radius: 0.05}}], position: [0.1, 0]}\n",
        cases[k].rule);
    saltus_scene* scene = open_text(text);
    saltus_sim* sim = run(scene, "adaptive", 0.0, 1e-9, 0.5);
    for (int i = 0; i < 3; i++) {
      assert_near(saltus_sim_v(sim)[3 * i], cases[k].v[i], 1e-8);
    }
    saltus_sim_destroy(sim);
    saltus_scene_destroy(scene);
  }
}

/* A cup of width 3 m, height 2 m and depth 1 m, open at the top between 1 and 2 m. */
#define CUP(parts)                                                                                 \
  "hull: {parts: " parts ", points: [[0,0,0],[3,0,0],[3,2,0],[2,2,0],[2,1,0],[1,1,0],[1,2,0],"     \
  "[0,2,0],[0,0,1],[3,0,1],[3,2,1],[2,2,1],[2,1,1],[1,1,1],[1,2,1],[0,2,1]], triangles: ["         \
  "[0,4,1],[8,9,12],[0,5,4],[8,12,13],[1,3,2],[9,10,11],[1,4,3],[9,11,12],[0,6,5],[8,13,14],"      \
  "[0,7,6],[8,14,15],[0,1,9],[0,9,8],[1,2,10],[1,10,9],[2,3,11],[2,11,10],[3,4,12],[3,12,11],"     \
  "[4,5,13],[4,13,12],[5,6,14],[5,14,13],[6,7,15],[6,15,14],[7,0,8],[7,8,15]]}"

static void a_ball_falls_into_a_cup_of_convex_parts(void** state) {
  (void)state;
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene = NULL;
  const char* text =
      "saltus: 1\nworld: {dimension: 3, gravity: [0, -9.81, 0], shapes: [{name: cup, " CUP(
          "8") "}]}\nbodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1.5, 3, 0.5], "
               "shapes: [{sphere: {radius: 0.4}}]}}\n"
               "contact_pairs: [{between: [b, cup], friction: 0.5}]\n";
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_non_null(strstr(kept.text, "shape cup: 3 convex parts, "));
  const saltus_mechanism* mechanism = saltus_scene_get_view(scene)->mechanism;
  assert_int_equal(saltus_mechanism_sizes(mechanism).shapes, 4);
  assert_string_equal(saltus_mechanism_shape(mechanism, 2).name, "cup_3");
  saltus_sim* sim = run(scene, "moreau-jean", 1e-3, 0.0, 2.0);
  assert_float_equal(saltus_sim_q(sim)[1], 1.4, 6e-3); /* a step of the fall at 5.6 m/s */
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

#define VISUALS                                                                                    \
  "saltus: 1\nworld: {dimension: 3}\nbodies:\n  foot: {mass: 1, inertia: [1, 1, 1], shapes: [\n"   \
  "    {mesh: {file: meshes/foot.stl, scale: [1, -1, 2]}, visual: true, colour: [1, 0, 0.5], "     \
  "position: [0, 0, 3]},\n    {sphere: {radius: 1}}, {mesh: {file: none.stl}, visual: true}]}\n"   \
  "simulate: {until: 1}\n"

/* foot.stl is a cube of 30 m about the origin; mirrored at y = 0, with z doubled and 3 added. The volume is positive only
 * if the order of corners is reversed too. */
static void visuals_are_drawn_without_contacts(void** state) {
  (void)state;
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene = NULL;
  const saltus_scene_def def = {.path = SALTUS_SCENES "/../tests/scenes/failing/visuals.yaml",
                                .text = VISUALS,
                                .visuals = true,
                                .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_int_equal(kept.level, SALTUS_LEVEL_WARNING);
  assert_non_null(strstr(kept.text, "none.stl\" cannot be opened"));
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_int_equal(saltus_mechanism_sizes(view->mechanism).shapes, 1);
  assert_int_equal(view->visual_count, 2);
  assert_string_equal(view->visuals[0].body, "foot");
  assert_true(view->visuals[0].colour[0] == 1.0 && view->visuals[0].colour[2] == 0.5);
  assert_true(view->visuals[1].colour[0] < 0.0 && view->visuals[1].form.point_count == 0);
  const saltus_shape_form* form = &view->visuals[0].form;
  double least = INFINITY, volume = 0.0;
  for (int i = 0; i < form->point_count; i++) {
    least = fmin(least, form->points[i][2]);
  }
  for (int i = 0; i < form->triangle_count; i++) {
    const double *a = form->points[form->triangles[i][0]], *b = form->points[form->triangles[i][1]],
                 *c = form->points[form->triangles[i][2]];
    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0])) /
              6.0;
  }
  assert_float_equal(least, -27.0, 1e-12);
  assert_float_equal(volume, 54000.0, 1e-9);
  saltus_scene_destroy(scene);
}

static void what_is_wrong_is_refused_with_its_place(void** state) {
  (void)state;
#define BODY(shape) "saltus: 1\nbodies:\n  b: {density: 1, shapes: [" shape "]}\n"
  static const char* const cases[][2] = {
      {BODY("{circle: {radius: -1}}"), "s:3:"},
      {BODY("{circle: {radius: 1, length: 2}}"), "a circle has no length; allowed: radius hollow"},
      {BODY("{circel: {radius: 1}}"), "did you mean \"circle\"?"},
      {BODY("{radius: 1}"), "s:3:"},
      {BODY("{circle: {radius: 1}, polygon: {}}"), "more than one kind"},
      {BODY("{sphere: {radius: 1}}"), "a sphere is a shape of space, not of the plane"},
      {BODY("{circle: {radius: 1}, material: stel}"), "there is no material \"stel\""},
      {BODY("{half-plane: {}}"), "shape b.1: "},
      {"saltus: 1\nbodies: {b: {density: 1}}\n", "but it has no shapes"},
      {"saltus: 1\nbodies: {b: {density: 1, mass: 2, shapes: [{circle: {radius: 1}}]}}\n",
       "has a density and a mass"},
      {"saltus: 1\nmaterials: {m: {friction: -1}}\nbodies: {b: {mass: 1, inertia: 1}}\n",
       "its friction is -1, must be at least 0"},
      {"saltus: 1\nmaterials: {m: {restitution: 2}}\nbodies: {b: {mass: 1, inertia: 1}}\n",
       "its restitution is 2, must be between 0 and 1"},
      {BODY("{circle: {radius: 1}}") "contact_pairs: [{between: [b, bb], collide: false}]\n",
       "there is no shape, body with shapes, group or material of that name"},
      {BODY("{circle: {radius: 1}}") "contact_pairs: [{between: [b, b]}]\n", "is empty; give"},
      /* a ball may touch the inside of a sphere, and another ball; two insides do not */
      {"saltus: 1\nworld: {dimension: 3}\nbodies:\n"
       "  a: {density: 1, shapes: [{sphere: {radius: 1}}]}\n"
       "  b: {density: 1, shapes: [{sphere: {radius: 1}}], position: [9, 0, 0]}\n"
       "  c: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: {radius: 3, hollow: true}}]}\n"
       "  d: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: {radius: 3, hollow: true}}]}\n",
       "a sphere cannot touch the sphere \"d.1\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_kept_message kept = {.text = ""};
    saltus_scene* scene;
    const saltus_scene_def def = {.path = "s", .text = cases[i][0], .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
    assert_null(scene);
    if (strstr(kept.text, cases[i][1]) == NULL || strncmp(kept.text, "s:", 2) != 0) {
      fail_msg("case %zu says: %s", i, kept.text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probes_answer_for_shapes),
      cmocka_unit_test(laws_follow_from_materials_and_exceptions),
      cmocka_unit_test(mass_and_centre_follow_from_shapes),
      cmocka_unit_test(derivatives_of_contacts_agree_with_differences),
      cmocka_unit_test(a_ball_rolls_down_a_slope),
      cmocka_unit_test(a_cube_falls_onto_its_corner),
      cmocka_unit_test(a_stack_of_ten_cubes_stands),
      cmocka_unit_test(overlaps_are_refused_by_name_or_parted),
      cmocka_unit_test(contacts_at_the_start_may_be_many),
      cmocka_unit_test(a_column_is_parted_from_the_ground_up),
      cmocka_unit_test(dominoes_fall),
      cmocka_unit_test(a_polygon_in_an_arc_moves_as_in_a_ring),
      cmocka_unit_test(a_ball_hits_the_other_side_of_a_valley),
      cmocka_unit_test(bodies_strike_in_the_order_of_the_scene),
      cmocka_unit_test(a_ball_falls_into_a_cup_of_convex_parts),
      cmocka_unit_test(visuals_are_drawn_without_contacts),
      cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
