/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Integration to a tolerance with the exact friction cone in space, and with stiff forces
 * (docs/theory/adaptive.md, 8 and 9).
 */
#include "saltus_test.h"

#include <stdio.h>

typedef struct events {
  int count;
  double t[16];
  saltus_event_kind kind[16];
} events;

static saltus_status keep_event(void* user, const saltus_event* event) {
  events* e = user;
  if (e->count < 16) {
    e->t[e->count] = event->t;
    e->kind[e->count] = event->kind;
  }
  e->count++;
  return SALTUS_OK;
}

typedef struct outcome {
  double q[8], v[8];
  events reported;
  saltus_work work;
} outcome;

typedef struct setup {
  const char* scene;
  const char* scheme;
  double tol, until;
  const saltus_override* set;
  int set_count;
} setup;

static outcome run(const setup* s) {
  saltus_kept_message kept;
  saltus_scene* scene = saltus_test_scene(s->scene, s->set, s->set_count);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = s->tol;
  outcome out = {.reported.count = 0};
  const saltus_recorder recorder = {.event = keep_event, .user = &out.reported};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = s->scheme,
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  if (saltus_sim_run_until(sim, s->until) != SALTUS_OK) {
    fail_msg("%s: %s", s->scene, kept.text);
  }
  memcpy(out.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(out.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  out.work = saltus_sim_work(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return out;
}

/* Exact: T = u (k + cos b) / (g sin a (k^2 - 1)), k = mu / tan a; the place by quadrature to 16
 * digits (docs/theory/problems.md, 9.2). One tolerance in position; the instant of stopping is worth
 * less, ten. */
static void friction_turns_with_the_slip_until_it_stops(void** state) {
  (void)state;
  static const char* const schemes[] = {"adaptive", "adaptive-dop853", "adaptive-radau5"};
  for (int k = 0; k < 3; k++) {
    for (double tol = 1e-3; tol > 1e-11; tol *= 1e-2) {
      outcome r = run(&(setup){.scene = "incline", .scheme = schemes[k], .tol = tol, .until = 1.0});
      assert_near(r.q[0], -0.1487464497269308, tol);
      assert_near(r.q[1], 0.2626532442123744, tol);
      assert_int_equal(r.reported.count, 1);
      assert_int_equal(r.reported.kind[0], SALTUS_EVENT_STICK);
      assert_near(r.reported.t[0], 0.4479137763295368, 10.0 * tol);
      assert_true(r.v[0] == 0.0 && r.v[1] == 0.0);
    }
  }
}

static void a_sliding_sphere_starts_to_roll(void** state) {
  (void)state;
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
    outcome r =
        run(&(setup){.scene = "sliding-sphere", .scheme = "adaptive", .tol = tol, .until = 1.0});
    assert_near(r.q[0], 3.4537466090517, tol);
    assert_near(r.q[1], -0.4537466090517, tol);
    assert_near(r.v[0], 25.0 / 7.0, tol);
    assert_near(r.v[1], -4.0 / 7.0, tol);
    assert_int_equal(r.reported.count, 1);
    assert_near(r.reported.t[0], 0.411886868318944, 12.0 * tol);
  }
}

/* Starts and stops in turning directions. Times of slipping are force events, accurate to the square
 * root of the tolerance in time; positions to some tolerances. */
static void a_turning_force_starts_and_stops_a_particle(void** state) {
  (void)state;
  static const double times[] = {0.548353829, 2.561101411, 2.964963563, 4.977711144, 5.381573297};
  for (double tol = 1e-4; tol > 1e-9; tol *= 1e-2) {
    outcome r =
        run(&(setup){.scene = "turning-force", .scheme = "adaptive", .tol = tol, .until = 6.0});
    assert_near(r.q[0], 1.76067224, 5.0 * tol + 1e-8);
    assert_near(r.q[1], 3.04382315, 5.0 * tol + 1e-8);
    assert_int_equal(r.reported.count, 5);
    for (int i = 0; i < 5; i++) {
      assert_near(r.reported.t[i], times[i], fmax(10.0 * tol, 5e-9));
      assert_int_equal(r.reported.kind[i], i % 2 == 0 ? SALTUS_EVENT_SLIP : SALTUS_EVENT_STICK);
    }
  }
}

/* Four supports where three would do, below the angle of friction: nothing creeps in 1000 s. */
static void a_block_on_an_incline_does_not_creep(void** state) {
  (void)state;
  outcome r = run(
      &(setup){.scene = "block-on-incline", .scheme = "adaptive", .tol = 1e-6, .until = 1000.0});
  for (int i = 0; i < 6; i++) {
    assert_near(r.q[i], i == 2 ? 0.1 : 0.0, 1e-15); /* m, so the mean slip is below 1e-18 m/s */
    assert_near(r.v[i], 0.0, 1e-12);
  }
}

/* u^2 / (2 mu g) in every direction: a cone, not a pyramid. */
static void a_block_stops_alike_in_every_direction(void** state) {
  (void)state;
  for (int k = 0; k < 36; k++) {
    char direction[32];
    snprintf(direction, sizeof direction, "%d*pi/180", 10 * k);
    const saltus_override set[] = {{"slope", "0"}, {"u", "1"}, {"dir", direction}};
    outcome r = run(&(setup){.scene = "block-on-incline",
                             .scheme = "adaptive",
                             .tol = 1e-8,
                             .until = 0.5,
                             .set = set,
                             .set_count = 3});
    assert_near(hypot(r.q[0], r.q[1]), 1.0 / (2.0 * 0.5 * 9.81), 1e-9);
    assert_near(r.q[5], 0.0, 1e-9); /* it does not turn */
  }
}

/* A damper of 1e6 N s/m: the explicit methods would need three million steps. The family finds out by
 * itself. Reference (docs/theory/problems.md, 8.3): x1 = 0.2210024640, x2 = 5.2210002121. */
static void stiff_forces_are_recognised(void** state) {
  (void)state;
  const saltus_override set[] = {{"delta", "1e6"}};
  for (double tol = 1e-4; tol > 1e-8; tol *= 1e-1) {
    outcome r = run(&(setup){.scene = "carts",
                             .scheme = "adaptive",
                             .tol = tol,
                             .until = 4.0,
                             .set = set,
                             .set_count = 1});
    assert_near(r.q[0], 0.2210024640, 10.0 * tol);
    assert_near(r.q[2], 5.2210002121, 10.0 * tol);
    assert_true(r.work.force_evaluations < 20000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_turns_with_the_slip_until_it_stops),
      cmocka_unit_test(a_sliding_sphere_starts_to_roll),
      cmocka_unit_test(a_turning_force_starts_and_stops_a_particle),
      cmocka_unit_test(a_block_on_an_incline_does_not_creep),
      cmocka_unit_test(a_block_stops_alike_in_every_direction),
      cmocka_unit_test(stiff_forces_are_recognised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
