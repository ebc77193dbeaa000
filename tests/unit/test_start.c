/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Initial values: put onto joints and out of contacts, by the least change in the metric of M.
 */
#include "saltus_test.h"

#include "saltus/scene.h"
#include "saltus/start.h"
#include "systems.h"

#include <stdio.h>

/* Radially onto the circle; of the velocity what is along the rod goes. */
static void a_rod_is_put_on_its_circle(void** state) {
  (void)state;
  saltus_system sys = rod_system();
  saltus_kept_message kept;
  double q[2] = {0.866, -0.5};
  double v[2] = {0.5, 0.866};
  const saltus_start_def def = {
      .system = &sys, .q = q, .v = v, .tolerance = 0.01, .log = saltus_log_keep(&kept)};
  saltus_start_move move;
  v[1] += 1e-3;
  assert_int_equal(saltus_start_project(&def, &move), SALTUS_OK);
  double r = sqrt(0.866 * 0.866 + 0.25);
  assert_near(q[0], 0.866 / r, 1e-15);
  assert_near(q[1], -0.5 / r, 1e-15);
  assert_near(q[0] * v[0] + q[1] * v[1], 0.0, 1e-15);
  double along = (0.866 * 0.5 - 0.5 * 0.867) / r;
  assert_near(v[0], 0.5 - along * 0.866 / r, 1e-15);
  assert_near(v[1], 0.867 + along * 0.5 / r, 1e-15);
  assert_near(move.joint, 0.5 * fabs(r * r - 1.0), 1e-15);
  assert_near(move.q_moved, 0.866 * fabs(1.0 / r - 1.0), 1e-15);
  assert_int_equal(move.q_most, 0);
  assert_says(kept, "start: velocities broke joints"); /* the last of two warnings */
  assert_int_equal(kept.level, SALTUS_LEVEL_WARNING);
}

/* Two masses 1 and 3 with x + y = 1: the light one moves three times as far. */
static void the_light_one_moves_more(void** state) {
  (void)state;
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = "saltus: 1\n"
                                        "coordinates: {x: {start: 0.504, velocity: 1.004},\n"
                                        "  y: {start: 0.5, velocity: -1}}\n"
                                        "kinetic: x'^2/2 + 3*y'^2/2\n"
                                        "joints: [{name: sum, constraint: x + y - 1}]\n",
                                .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_near(view->q0[0], 0.504 - 0.003, 1e-15);
  assert_near(view->q0[1], 0.5 - 0.001, 1e-15);
  assert_near(view->v0[0], 1.004 - 0.003, 1e-15);
  assert_near(view->v0[1], -1.001, 1e-15);
  assert_says(kept, "scene:2:15: start: velocities broke joints by up to 0.004 per second and were "
                    "moved by up to 0.003 (velocity 1 x')");
  saltus_scene_destroy(scene);
}

/* The lower ball is pushed out of the floor and into the upper one, which is pushed in turn. */
static void contacts_are_pushed_out_one_after_the_other(void** state) {
  (void)state;
  saltus_kept_message kept;
  const saltus_scene_def def = {.text =
                                    "saltus: 1\n"
                                    "coordinates: {y: {start: -0.005, velocity: -1}, z: -0.002}\n"
                                    "kinetic: y'^2/2 + z'^2/2\n"
                                    "contacts: [{gap: y}, {gap: z - y}]\n",
                                .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_near(view->q0[0], 0.0, 1e-15);
  assert_near(view->q0[1], 0.0, 1e-15);
  assert_true(view->v0[0] == -1.0 && view->v0[1] == 0.0); /* an impact, not a mistake */
  assert_says(kept, "contacts overlapped by up to 0.005 m; positions were moved by up to 0.005");
  saltus_scene_destroy(scene);
}

static void what_is_right_stays_to_the_bit(void** state) {
  (void)state;
  saltus_system sys = rod_system();
  saltus_kept_message kept;
  double q[2] = {cos(1.1), sin(1.1)};
  double v[2] = {-sin(1.1), cos(1.1)};
  const double q0[2] = {q[0], q[1]};
  const double v0[2] = {v[0], v[1]};
  saltus_start_move move;
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  const saltus_start_def def = {.system = &sys,
                                .q = q,
                                .v = v,
                                .tolerance = 0.01,
                                .log = saltus_log_keep(&kept),
                                .allocator = &allocator};
  assert_int_equal(saltus_start_project(&def, &move), SALTUS_OK);
  assert_memory_equal(q, q0, sizeof q);
  assert_memory_equal(v, v0, sizeof v);
  assert_string_equal(kept.text, "");
  assert_true(count.live == 0 && move.q_moved == 0.0 && move.v_moved == 0.0);
  /* a ball that overlaps by less than a micrometre stays where it is */
  ball b = ball_usual();
  saltus_system drop = ball_system(&b);
  double y = -9e-7;
  double u = 0.0;
  const saltus_start_def low = {
      .system = &drop, .q = &y, .v = &u, .tolerance = 0.01, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_start_project(&low, &move), SALTUS_OK);
  assert_true(y == -9e-7);
}

static void what_is_far_off_is_refused(void** state) {
  (void)state;
  saltus_system sys = rod_system();
  saltus_start_move move;
  static const struct {
    double q[2], v[2];
  } cases[] = {{{1.1, 0.0}, {0.0, 0.0}}, {{1.0, 0.0}, {1.0, 0.0}}, {{NAN, 0.0}, {0.0, 0.0}}};
  for (int i = 0; i < 3; i++) {
    saltus_kept_message kept;
    double q[2] = {cases[i].q[0], cases[i].q[1]};
    double v[2] = {cases[i].v[0], cases[i].v[1]};
    const saltus_start_def def = {
        .system = &sys, .q = q, .v = v, .tolerance = 0.01, .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_start_project(&def, &move), SALTUS_ERR_INPUT);
    assert_says(kept, "allowed is 0.01");
    assert_memory_equal(q, cases[i].q, sizeof q);
    assert_memory_equal(v, cases[i].v, sizeof v);
  }
}

/* Rods that disagree by a tenth of their length do so at any length. */
static void rods_of_any_length_contradict_each_other(void** state) {
  (void)state;
  for (int power = 3; power >= -6; power -= 3) {
    char text[512];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "parameters: {l: 1e%d}\n"
             "coordinates: {x: {start: 1e%d}, y: {start: 0}, a: {start: 1}}\n"
             "kinetic: x'^2/2 + y'^2/2 + a'^2/2\n"
             "joints: [{name: one, constraint: x - y - l},\n"
             "  {name: other, constraint: x - y - 1.1*l}]\n",
             power, power);
    saltus_kept_message kept;
    const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
    saltus_scene* scene;
    assert_int_not_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
    assert_non_null(strstr(kept.text, "contradict each other"));
    assert_non_null(strstr(kept.text, "\"one\" and \"other\""));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rod_is_put_on_its_circle),
      cmocka_unit_test(the_light_one_moves_more),
      cmocka_unit_test(contacts_are_pushed_out_one_after_the_other),
      cmocka_unit_test(what_is_right_stays_to_the_bit),
      cmocka_unit_test(what_is_far_off_is_refused),
      cmocka_unit_test(rods_of_any_length_contradict_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
