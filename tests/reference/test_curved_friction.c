/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction between curved surfaces in space (tests/scenes/failing): slip once ended within a step of 1e-10 s where the
 * tangent frame of the contact jumped, with exit 0. Numbers of single scenes are those of equations that were integrated
 * elsewhere (DOP853 to 1e-12); their digits are the accuracy that is claimed. Random bodies have an event-driven reference
 * (studies/adversarial_curved.c).
 */
#include "saltus_test.h"

#include "adversarial_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a run ends. */
typedef struct ending {
  double q[16], v[16];
  saltus_energy energy;
} ending;

static saltus_status no_frame(void* user, const saltus_frame* frame) {
  (void)user;
  (void)frame;
  return SALTUS_OK;
}
static const saltus_recorder nobody = {.frame = no_frame}; /* keeps the ledger */

/* To a tolerance, or with a step. */
static ending run_with(const char* name, const char* scheme, double tol, double h, double until) {
  char path[512];
  ending end = {0};
  snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_FAILING, name);
  const saltus_scene_def scene_def = {.path = path};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = h > 0.0 ? NULL : &options,
                              .h = h,
                              .recorders = &nobody,
                              .recorder_count = 1,
                              .q0 = view->q0,
                              .v0 = view->v0};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, until), SALTUS_OK);
  assert_true(view->system->dims.nq <= 16);
  memcpy(end.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(end.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  end.energy = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return end;
}

static ending run(const char* name, const char* scheme, double tol, double until) {
  return run_with(name, scheme, tol, 0.0, until);
}

static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853",
                                      "adaptive-radau5"};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

/* What no work explains is below 10 tol of the energy that was lost. */
static void balances(const ending* end, double tol) {
  assert_near(end->energy.remainder, 0.0, 10.0 * tol * fmax(1.0, fabs(end->energy.change)));
}

static void sphere_slides_on_a_sphere(void** state) {
  (void)state;
  static const double right[3] = {0.69902, -0.48331, 0.84722};
  for (int k = 0; k < SCHEMES; k++) {
    for (double tol = 1e-6; tol > 1e-9; tol *= 1e-2) {
      const ending end = run("sphere-on-sphere-friction", schemes[k], tol, 0.5998167454495013);
      for (int i = 0; i < 3; i++) {
        assert_near(end.q[i], right[i], 5e-6 + 10.0 * tol);
      }
      balances(&end, tol);
    }
  }
}

/* Friction of mu N cannot stop the upper ball within a millisecond: it slides from the start on, for each mu. */
static void closed_spheres_slide_from_the_start(void** state) {
  (void)state;
  for (int k = 0; k < SCHEMES; k++) {
    const ending end = run("two-spheres-closed-start", schemes[k], 1e-8, 1e-3);
    assert_near(end.q[7], 2.98665e-4, 5e-10);
    balances(&end, 1e-8);
  }
}

/* The capsule's side hands over to its end on an edge of the box at 0.34757 s. */
static void side_of_a_capsule_hands_over_to_its_end(void** state) {
  (void)state;
  for (double tol = 1e-4; tol > 1e-10; tol *= 0.1) {
    const ending end = run("capsule-box-slip-jump-or-blow-up", "adaptive", tol, 0.36);
    assert_near(end.v[6 + 4], 5.514, 5e-4);
    balances(&end, tol);
  }
}

/* Without a number from elsewhere: the energy balance, and ends that approach each other with the tolerance. */
static void slip_of_two_bodies_does_not_jump(void** state) {
  (void)state;
  static const char* const names[] = {"ball-in-bowl-friction", "pile-slip-jump",
                                      "two-bodies-slip-jump"};
  static const double until[] = {1.47, 1.5, 0.8};
  for (int k = 0; k < 3; k++) {
    const ending fine = run(names[k], "adaptive", 1e-9, until[k]);
    for (double tol = 1e-5; tol > 1e-9; tol *= 0.1) {
      const ending end = run(names[k], "adaptive", tol, until[k]);
      balances(&end, tol);
      for (int i = 0; i < 3; i++) {
        assert_near(end.q[i], fine.q[i], 20.0 * tol);
      }
    }
  }
}

/* A contact that is closed when another is struck answers with an impulse, whose friction takes 0.39 J here. */
static void friction_of_closed_contacts_at_an_impact_is_booked(void** state) {
  (void)state;
  static const char* const located[] = {"rk4", "dopri5"};
  for (int k = 0; k < 2; k++) {
    const ending end = run_with("capsule-box-slip-jump-or-blow-up", located[k], 0.0, 2e-4, 0.36);
    assert_near(end.v[6 + 4], 5.514, 5e-4);
    assert_near(end.energy.remainder, 0.0, 1e-6);
  }
}

static void judge(adversarial_case* c, double tol) {
  const case_verdict v = case_judge(c, "adaptive", tol, 30.0);
  if (v.status != SALTUS_OK || v.wrong || !(v.remainder <= CASE_ALLOWED)) {
    fail_msg("%s:%d, tol %g, remainder %g: %s", c->family, c->number, tol, v.remainder, v.reason);
  }
}

/* Some scenes of each family of `study curved-friction`, against its reference. */
static void random_bodies_on_spheres(void** state) {
  (void)state;
  const int count = saltus_test_draws(4);
  for (const case_family* family = case_curved; family->name != NULL; family++) {
    for (int number = 0, made = 0; made < count; number++) {
      assert_true(number < 100 * count);
      adversarial_case c = {.text = calloc(1, CASE_TEXT), .family = family->name, .number = number};
      assert_non_null(c.text);
      if (family->make(&c, number)) {
        made++;
        for (double tol = 1e-4; tol > 1e-9; tol *= 1e-2) {
          judge(&c, tol);
        }
      }
      case_destroy(&c);
    }
  }
}

/* A ball that rolls, in one step of 0.08 s: its dense output was off by 10.6 tolerances at theta = 0.8. */
static void dense_output_of_a_long_step(void** state) {
  (void)state;
  adversarial_case c = {.text = calloc(1, CASE_TEXT), .family = case_curved->name, .number = 1210};
  assert_non_null(c.text);
  assert_string_equal(c.family, "ball");
  assert_true(case_curved->make(&c, c.number));
  judge(&c, 1e-10);
  case_destroy(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_slides_on_a_sphere),
      cmocka_unit_test(closed_spheres_slide_from_the_start),
      cmocka_unit_test(side_of_a_capsule_hands_over_to_its_end),
      cmocka_unit_test(slip_of_two_bodies_does_not_jump),
      cmocka_unit_test(friction_of_closed_contacts_at_an_impact_is_booked),
      cmocka_unit_test(random_bodies_on_spheres),
      cmocka_unit_test(dense_output_of_a_long_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
