/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_stepping.c - the interface of embedders: runs advanced by their caller, quantities of scenes, saved scenes.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

static const char driven[] =
    "saltus: 1\n"
    "parameters: {m: {value: 2, unit: kg}, k: 3*m, g: 9.81}\n"
    "inputs: {push: {start: 1/2, unit: N}, pull: 0}\n"
    "coordinates: {x: {start: 1, unit: m}, y: {start: k/6, velocity: -0.1}}\n"
    "kinetic: m*(x'^2 + y'^2)/2\n"
    "potential: m*g*x + k*y^2/2\n"
    "forces: {x: push, y: pull}\n"
    "contacts: [{name: floor, gap: x, restitution: 0.6}]\n"
    "outputs: {energy: m*(x'^2 + y'^2)/2 + m*g*x}\n"
    "events: {low: {formula: x - 0.2, direction: falling}}\n"
    "simulate: {until: 2, tol: 1e-9}\n";

static saltus_scene* scene_of(const char* text, size_t length) {
  char* copy = calloc(1, length + 1);
  memcpy(copy, text, length);
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = copy, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  free(copy);
  return scene;
}

static saltus_run* stepping(const saltus_scene* scene, double until) {
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.until = until;
  def.stepping = true;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  return run;
}

static void states_do_not_depend_on_the_times_between(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(driven, strlen(driven));
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  saltus_run* whole;
  assert_int_equal(saltus_run_create(&def, &whole), SALTUS_OK);
  assert_int_equal(saltus_run_execute(whole), SALTUS_OK);
  saltus_run *coarse = stepping(scene, 2.0), *fine = stepping(scene, 2.0);
  assert_int_equal(saltus_run_advance(coarse, 2.0, 0U, NULL), SALTUS_OK);
  for (int i = 1; i <= 997; i++) {
    assert_int_equal(saltus_run_advance(fine, 2.0 * i / 997.0, 0U, NULL), SALTUS_OK);
  }
  const saltus_run_instant a = saltus_run_present(coarse), b = saltus_run_present(fine);
  for (int i = 0; i < 2; i++) {
    assert_true(a.q[i] == b.q[i] && a.v[i] == b.v[i]);
    assert_true(a.q[i] == saltus_run_outcome(whole)->q[i]);
  }
  saltus_run_destroy(whole);
  saltus_run_destroy(coarse);
  saltus_run_destroy(fine);
  saltus_scene_destroy(scene);
}

static void events_stop_the_run_in_order(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(driven, strlen(driven));
  saltus_run* run = stepping(scene, HUGE_VAL);
  const saltus_event* event;
  const unsigned stop = SALTUS_STOP(SALTUS_EVENT_IMPACT) | SALTUS_STOP(SALTUS_EVENT_FALL);
  double last = 0.0;
  for (int i = 0; i < 4; i++) {
    assert_int_equal(saltus_run_advance(run, 5.0, stop, &event), SALTUS_OK);
    assert_non_null(event);
    assert_int_equal(event->kind, i % 2 == 0 ? SALTUS_EVENT_FALL : SALTUS_EVENT_IMPACT);
    const saltus_run_instant now = saltus_run_present(run);
    assert_true(now.t == event->t && now.t > last);
    last = now.t;
    if (event->kind == SALTUS_EVENT_IMPACT) {
      assert_near(now.q[0], 0.0, 1e-14);
      assert_near(now.v[0], -0.6 * now.v_left[0], 1e-14);
    } else {
      assert_near(now.q[0], 0.2, 1e-13);
    }
  }
  assert_int_equal(saltus_run_advance(run, last / 2.0, 0U, NULL), SALTUS_ERR_RANGE);
  assert_int_equal(saltus_run_advance(run, NAN, 0U, NULL), SALTUS_ERR_RANGE);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* x'' = push/m - g from the time of the change on, exactly. */
static void a_changed_input_acts_from_the_present_time_on(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(driven, strlen(driven));
  saltus_run* run = stepping(scene, HUGE_VAL);
  double inputs[2];
  saltus_scene_inputs(scene, inputs);
  assert_near(inputs[0], 0.5, 0.0);
  const uint64_t* changes = saltus_scene_get_view(scene)->input_changes;
  const uint64_t before = *changes;
  assert_int_equal(saltus_run_advance(run, 0.1, 0U, NULL), SALTUS_OK);
  assert_int_equal(saltus_scene_set_inputs(scene, inputs), SALTUS_OK);
  assert_true(*changes == before); /* the same values are no change */
  inputs[0] = 4.0;
  assert_int_equal(saltus_scene_set_inputs(scene, inputs), SALTUS_OK);
  assert_true(*changes == before + 1);
  assert_int_equal(saltus_run_advance(run, 0.3, 0U, NULL), SALTUS_OK);
  const double a = 0.25 - 9.81, b = 2.0 - 9.81, v = a * 0.1;
  const double x = 1.0 + 0.5 * a * 0.01 + v * 0.2 + 0.5 * b * 0.04;
  assert_near(saltus_run_present(run).q[0], x, 1e-13);
  inputs[0] = INFINITY;
  assert_int_equal(saltus_scene_set_inputs(scene, inputs), SALTUS_ERR_RANGE);
  double energy;
  assert_int_equal(saltus_run_outputs(run, SALTUS_RIGHT, &energy), SALTUS_OK);
  const saltus_run_instant now = saltus_run_present(run);
  double again;
  assert_int_equal(saltus_scene_outputs(scene, now.t, now.q, now.v, NULL, &again), SALTUS_OK);
  assert_true(energy == again);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

static void scenes_name_what_a_caller_may_set(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(driven, strlen(driven));
  const saltus_scene_interface* in = saltus_scene_get_view(scene)->interface;
  assert_int_equal(in->parameter_count, 3);
  assert_string_equal(in->parameters[0].unit, "kg");
  assert_true(in->parameters[0].number && !in->parameters[1].number && in->parameters[2].number);
  assert_near(in->parameters[1].value, 6.0, 0.0);
  assert_string_equal(in->parameters[1].text, "3*m");
  assert_int_equal(in->input_count, 2);
  assert_string_equal(in->inputs[0].unit, "N");
  assert_near(in->inputs[0].value, 0.5, 0.0);
  assert_int_equal(in->coordinate_count, 2);
  assert_true(in->starts[0].number && !in->starts[1].number);
  assert_string_equal(in->starts[3].name, "y'");
  assert_near(in->starts[3].value, -0.1, 0.0);
  saltus_scene_destroy(scene);
}

/* A saved scene, saved again, has the same bytes, and the same overrides and messages with the lines of the original. */
static void saved_scenes_are_the_same_scenes(void** state) {
  (void)state;
  const saltus_override override = {"m", "3"};
  const saltus_scene_def def = {.text = driven, .overrides = &override, .override_count = 1};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const size_t size = saltus_scene_save(scene, NULL);
  char *first = malloc(size), *second = malloc(size);
  assert_int_equal(saltus_scene_save(scene, first), size);
  saltus_scene* loaded = scene_of(first, size);
  assert_near(saltus_scene_get_view(loaded)->interface->parameters[1].value, 9.0, 0.0);
  assert_int_equal(saltus_scene_save(loaded, second), size);
  assert_memory_equal(first, second, size);
  saltus_scene_destroy(loaded);
  saltus_scene_destroy(scene);
  saltus_kept_message kept;
  char* bad = calloc(1, size + 1);
  memcpy(bad, first, size);
  memcpy(strstr(bad, "potential"), "potentiax", 9);
  const saltus_scene_def broken = {
      .path = "scene.tree", .text = bad, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&broken, &scene), SALTUS_ERR_INPUT);
  assert_says(kept, "scene.tree:6:1:");
  free(bad);
  free(first);
  free(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_do_not_depend_on_the_times_between),
      cmocka_unit_test(events_stop_the_run_in_order),
      cmocka_unit_test(a_changed_input_acts_from_the_present_time_on),
      cmocka_unit_test(scenes_name_what_a_caller_may_set),
      cmocka_unit_test(saved_scenes_are_the_same_scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
