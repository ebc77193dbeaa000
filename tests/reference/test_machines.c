/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_machines.c - machines with clearances, cams and stops against the numbers of studies/machine_cases.c.
 */
#include "machine_run.h"
#include "saltus_test.h"

#include <stdio.h>

static void machines_move_as_independent_codes_say(void** unused) {
  (void)unused;
  for (int k = 0; machine_case_at(k) != NULL; k++) {
    const machine_case* of = machine_case_at(k);
    for (int j = 0; j < 2 && of->tolerance[j] > 0.0; j++) {
      char path[512];
      saltus_kept_message kept;
      snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_SCENES, of->scene);
      machine_run run = {.scene = path,
                         .parameters = of->parameters,
                         .scheme = "adaptive",
                         .tol = of->tolerance[j],
                         .until = of->until,
                         .least = of->least,
                         .after = of->after,
                         .log = saltus_log_keep(&kept)};
      if (machine_go(&run) != SALTUS_OK) {
        fail_msg("%s: %s", of->label, kept.text);
      }
      for (int i = 0; i < of->count; i++) {
        const machine_number* number = &of->numbers[i];
        const double found = machine_find(&run, number);
        const double most = number->off + number->tolerances * run.tol;
        if (!(fabs(found - number->expected) <= most)) {
          char what[80];
          machine_describe(number, what, sizeof what);
          fail_msg("%s, tol %g, %s: %.15g, expected %.15g within %g", of->label, run.tol, what,
                   found, number->expected, most);
        }
      }
      machine_free(&run);
    }
  }
}

static long long evaluations;
static const saltus_system* counted;

static void count_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows) {
  evaluations++;
  counted->ops->contact(self, at, identity, rows);
}

/* Rows of the cam's contact that one turn asks for, started at a time. */
static long long cost_of_a_turn(double start) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_override speed = {.name = "rpm", .value = "120"};
  const saltus_scene_def scene_def = {.path = SALTUS_SCENES "/machine-cam-follower.yaml",
                                      .overrides = &speed,
                                      .override_count = 1,
                                      .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
  saltus_scene_view view = *saltus_scene_get_view(scene);
  counted = view.system;
  saltus_system system = *counted;
  saltus_system_ops ops = *counted->ops;
  ops.contact = count_contact;
  system.ops = &ops;
  view.system = &system;
  evaluations = 0;
  saltus_run_def def = saltus_run_def_default();
  def.scene = &view;
  def.scheme = "adaptive";
  def.tol = 1e-8;
  def.start = start - 0.01;
  def.q0 = view.q0;
  def.v0 = view.v0;
  def.until = start + 0.2;
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  if (saltus_run_execute(run) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return evaluations;
}

/* A surface that moves by a formula of t is known to |U'| eps |t|: searches do not look closer. Whole turns later the
 * motion is the same. */
static void a_turn_costs_late_in_a_run_what_it_costs_early(void** unused) {
  (void)unused;
  const long long early = cost_of_a_turn(0.0);
  assert_true(early > 1000);
  for (double start = 10.0; start < 2000.0; start *= 10.0) {
    const long long late = cost_of_a_turn(start);
    if (2 * late > 3 * early) {
      fail_msg("%lld evaluations of rows at 0 s, %lld at %g s", early, late, start);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machines_move_as_independent_codes_say),
      cmocka_unit_test(a_turn_costs_late_in_a_run_what_it_costs_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
