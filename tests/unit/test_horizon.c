/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_horizon.c - every scheme of fixed steps asks shapes for what can touch within its step; those that choose their
 * steps sweep instead and ask for nothing of the kind.
 */
#include "saltus_test.h"

#include "saltus/mechanism.h"

#include <stdio.h>

static const saltus_system_ops* inner;
static double least, most;

/* What the mechanism lists, and how far ahead it was asked to look. */
static saltus_status listen(const void* self, const saltus_point* at, saltus_contact_list* list) {
  least = fmin(least, list->horizon);
  most = fmax(most, list->horizon);
  return inner->contacts(self, at, list);
}

static void fixed_steps_look_ahead(void** unused) {
  (void)unused;
  const char* text =
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81], shapes: [{half-space: {}}]}\n"
      "bodies: {ball: {density: 1000, shapes: [{sphere: {radius: 0.01}}], position: [0, 0, 0.5], "
      "velocity: [0, 0, -20]}}\n";
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&(saltus_scene_def){.path = "s", .text = text}, &scene),
                   SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_system sys = *view->system;
  inner = sys.ops;
  saltus_system_ops ops = *inner;
  ops.contacts = listen;
  sys.ops = &ops;
  int tried = 0;
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    saltus_scheme* scheme;
    if (saltus_scheme_create(&(saltus_scheme_def){.scheme = info->name, .system = &sys}, &scheme) !=
        SALTUS_OK) {
      continue;
    }
    double q[7], v[6];
    memcpy(q, view->q0, sizeof q);
    memcpy(v, view->v0, sizeof v);
    saltus_state x = {0.0, q, v};
    saltus_step_report report;
    least = INFINITY;
    most = 0.0;
    const double h = 0.03125; /* s: the ball goes 0.625 m, 62 of its radii */
    if (saltus_scheme_step(scheme, h, &x, &report) != SALTUS_OK) {
      fail_msg("%s: no step", info->name);
    }
    if (info->chooses_step) {
      assert_true(most == 0.0);
    } else {
      print_message("%s: z %g, velocity %g\n", info->name, q[2], v[2]);
      assert_true(least == h && most == h);
      tried++;
    }
    saltus_scheme_destroy(scheme);
  }
  assert_true(tried >= 5);
  saltus_scene_destroy(scene);
}

/* A ball of 2 cm at 20 m/s above a plate, or above what has no end. */
static bool passes(const char* floor, double h, saltus_passage* passage) {
  char text[512];
  snprintf(text, sizeof text,
           "saltus: 1\nworld: {dimension: 3, shapes: [%s]}\nbodies: {ball: {density: 1000, shapes: "
           "[{sphere: {radius: 0.01}}], position: [0, 0, 0.1], velocity: [0, 0, -20]}}\n",
           floor);
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&(saltus_scene_def){.path = "s", .text = text}, &scene),
                   SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  bool found = true;
  assert_int_equal(
      saltus_mechanism_passage(view->mechanism, 0.0, view->q0, view->v0, h, passage, &found),
      SALTUS_OK);
  const bool thick = fabs(passage->thickness - 0.03) < 1e-15;
  saltus_scene_destroy(scene);
  return found && thick;
}

static void steps_that_pass_through_are_found(void** unused) {
  (void)unused;
  const char* plate = "{box: {size: [1, 1, 0.01]}, orientation: {rpy: [0.4, 0.2, 0]}}";
  const char* hull =
      "{hull: {points: [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, 0, 0.01], [0.1, 0, "
      "0.01]]}}";
  saltus_passage passage;
  assert_true(passes(plate, 0.01, &passage));
  assert_true(passage.bodies[0] == 0 && passage.bodies[1] == -1);
  assert_true(passage.approach >= 0.2 && passage.approach < 0.21);
  assert_true(passes(hull, 0.01, &passage));
  /* 14 mm in a step: less than half of 30 mm; and 20 mm, too far away to meet */
  assert_false(passes(plate, 0.0007, &passage));
  assert_false(passes(plate, 0.001, &passage));
  assert_false(passes("{half-space: {}}", 0.01, &passage));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_steps_look_ahead),
                                     cmocka_unit_test(steps_that_pass_through_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
