/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_scene_size.c - long scenes are read in proportion to their length. Nothing is timed here: what
 * compares all with all takes minutes for these and is ended by the test's limit.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct text {
  char* bytes;
  size_t used, room;
} text;

static void say(text* t, const char* format, ...) {
  va_list values;
  if (t->room - t->used < 256) {
    t->room = 2 * t->room + 4096;
    t->bytes = realloc(t->bytes, t->room);
    assert_non_null(t->bytes);
  }
  va_start(values, format);
  t->used += (size_t)vsnprintf(t->bytes + t->used, t->room - t->used, format, values);
  va_end(values);
}

static saltus_scene* read(text* t) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.text = t->bytes, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  free(t->bytes);
  *t = (text){0};
  return scene;
}

/* Each is made of the one before it, so all of them are needed for the start. */
static void twenty_thousand_parameters(void** state) {
  (void)state;
  enum { MANY = 20000 };
  text t = {0};
  say(&t, "saltus: 1\nparameters:\n  p0: 1\n");
  for (int i = 1; i < MANY; i++) {
    say(&t, "  p%d: p%d + 0.5\n", i, i - 1);
  }
  say(&t, "coordinates: {x: {start: p%d, tolerance: p0, velocity_tolerance: p1}}\n", MANY - 1);
  say(&t, "kinetic: x'^2/2\nsimulate: {until: p2, step: p0}\n");
  saltus_scene* scene = read(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_true(view->q0[0] == 1.0 + 0.5 * (MANY - 1));
  assert_true(view->until == 2.0 && view->step == 1.0);
  saltus_scene_destroy(scene);
}

/* A chain of bodies, each with a force and a contact with the one below; and their check. */
static void three_thousand_contacts(void** state) {
  (void)state;
  enum { MANY = 3000 };
  text t = {0};
  say(&t, "saltus: 1\nparameters: {e: 0.5}\ncoordinates:\n");
  for (int i = 0; i < MANY; i++) {
    say(&t, "  q%d: {start: %d, tolerance: e}\n", i, i + 1);
  }
  say(&t, "kinetic: 0.5*(");
  for (int i = 0; i < MANY; i++) {
    say(&t, "%sq%d'^2", i > 0 ? " + " : "", i);
  }
  say(&t, ")\nforces:\n");
  for (int i = 0; i < MANY; i++) {
    say(&t, "  q%d: -2\n", i);
  }
  say(&t, "contacts:\n  - {gap: q0, restitution: e}\n");
  for (int i = 1; i < MANY; i++) {
    say(&t, "  - {name: c%d, gap: q%d - q%d, restitution: e}\n", i, i, i - 1);
  }
  saltus_scene* scene = read(&t);
  const saltus_system* system = saltus_scene_get_view(scene)->system;
  assert_int_equal(system->dims.nc, MANY);
  assert_string_equal(system->laws[0].name, "contact 1");
  assert_string_equal(system->laws[MANY - 1].name, "c2999");
  assert_int_equal(system->dims.row_width, 2);
  saltus_scene_destroy(scene);
}

/* The check compares derivatives of each contact; every evaluation gives all gaps. */
static void three_thousand_contacts_of_two_coordinates_are_checked(void** state) {
  (void)state;
  enum { MANY = 3000 };
  text t = {0};
  say(&t, "saltus: 1\ncoordinates: {x: 1, y: 1}\nkinetic: (x'^2 + y'^2)/2\ncontacts:\n");
  for (int i = 0; i < MANY; i++) {
    say(&t, "  - {gap: y - 0.05*sin(%d*x) + 0.2}\n", i % 30);
  }
  saltus_scene* scene = read(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_system_check_result result;
  saltus_kept_message kept;
  const double v[2] = {0.3, -0.7};
  assert_int_equal(
      saltus_system_check(view->system, 0.0, view->q0, v, saltus_log_keep(&kept), &result),
      SALTUS_OK);
  assert_true(result.worst < 1e-8); /* sixth order differences of sin(29 x) with steps of 1e-3 */
  assert_true(result.enclosure == 0.0);
  saltus_scene_destroy(scene);
}

static void equal_keys_are_found_among_thousands(void** state) {
  (void)state;
  text t = {0};
  say(&t, "saltus: 1\nparameters:\n");
  for (int i = 0; i < 5000; i++) {
    say(&t, "  p%d: 1\n", i == 4321 ? 7 : i);
  }
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.text = t.bytes, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
  assert_says(kept, "scene:4324:3: not valid YAML: duplicate key");
  free(t.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twenty_thousand_parameters),
      cmocka_unit_test(three_thousand_contacts),
      cmocka_unit_test(three_thousand_contacts_of_two_coordinates_are_checked),
      cmocka_unit_test(equal_keys_are_found_among_thousands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
