/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Step-size control: what every controller has to satisfy with every scheme that it may drive.
 */
#include "saltus_test.h"

#include "measure/experiment.h"
#include "systems.h"

#include <stdlib.h>

/* A ball on a floor under gravity and a harmonic force: rests, lifts off, bounces. */
typedef struct shaken {
  double gravity, amplitude, frequency;
  saltus_contact_law law;
} shaken;

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  const shaken* s = self;
  F[0] = -s->gravity + s->amplitude * sin(s->frequency * at->t);
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static const saltus_system_ops ops = {
    .mass = mass, .force = force, .contacts = contacts, .contact = contact};

static saltus_system shaken_system(const shaken* s) {
  return (saltus_system){.ops = &ops,
                         .self = s,
                         .dims = {.nq = 1, .nv = 1, .nc = 1},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = &s->law,
                         .law_count = 1};
}

/* Without the violation a scheme that meets impacts only after penetrating is not controlled: one
 * step and two miss them alike (docs/theory/step-control.md, 2.2). */
static bool fits(const saltus_scheme_info* scheme, const saltus_control_info* control) {
  saltus_control_options o;
  saltus_options_defaults(&control->options, &o);
  bool penetrates = scheme->embedded_order > 0 || strncmp(scheme->name, "dg-", 3) == 0;
  if (o.violation == 0 && penetrates) {
    return false;
  }
  return (scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) != 0 && !scheme->penetrates &&
         (o.order != SALTUS_ORDER_EMBEDDED || scheme->embedded_order > 0);
}

/* 500 random runs with the controllers that count violations: none stalls, none goes through the
 * floor. New penetration is bounded by one tolerance a step; what accumulates stays below a few. */
static void random_runs_neither_stall_nor_fall_through_the_floor(void** state) {
  (void)state;
  uint64_t seed = 500;
  int runs = 0;
  static const char* const controls[] = {"variable-order", "violation", "order-1", "embedded"};
  for (int i = 0; i < 500; i++) {
    shaken s = {.gravity = 1.0 + 9.0 * saltus_test_random(&seed),
                .amplitude = 15.0 * saltus_test_random(&seed),
                .frequency = 1.0 + 9.0 * saltus_test_random(&seed),
                .law = {.e_N = 0.99 * saltus_test_random(&seed)}};
    saltus_system sys = shaken_system(&s);
    double q0 = 2.0 * saltus_test_random(&seed);
    double v0 = 4.0 * saltus_test_random(&seed) - 2.0;
    double tol = pow(10.0, -2.0 - 6.0 * saltus_test_random(&seed));
    const saltus_control_info* control = saltus_control_find(controls[i % 4]);
    saltus_control_options o;
    saltus_options_defaults(&control->options, &o);
    o.atol = tol;
    o.steps_max = 2000000;
    bool embedded = o.order == SALTUS_ORDER_EMBEDDED;
    const saltus_splitting_options splitting = {.rebound_height = tol};
    saltus_kept_message kept;
    const saltusi_experiment_def def = {.system = &sys,
                                        .q0 = &q0,
                                        .v0 = &v0,
                                        .scheme =
                                            embedded ? "splitting-rkf45-contact" : "moreau-jean",
                                        .options = embedded ? &splitting : NULL,
                                        .t_end = 4.0,
                                        .control = control->name,
                                        .control_options = &o,
                                        .log = saltus_log_keep(&kept)};
    saltusi_experiment run;
    saltus_status status = saltusi_experiment_run(&def, &run);
    if (status != SALTUS_OK) {
      print_message("run %d, %s, tol %g: %s\n", i, control->name, tol, kept.text);
    }
    assert_int_equal(status, SALTUS_OK);
    double deepest = 0.0;
    for (int k = 0; k < run.motion.count; k++) {
      deepest = fmin(deepest, run.motion.q[k]);
    }
    assert_true(deepest >= -50.0 * tol);
    assert_true(run.motion.t[run.motion.count - 1] == 4.0);
    runs++;
    saltusi_experiment_free(&run);
  }
  assert_int_equal(runs, 500);
}

/* A tighter tolerance gives a smaller error, for every pair that fits. */
static void errors_shrink_with_the_tolerance(void** state) {
  (void)state;
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("oscillator-damped", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  int pairs = 0;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    for (int k = 0; k < saltus_control_count(); k++) {
      const saltus_scheme_info* scheme = saltus_scheme_at(i);
      const saltus_control_info* control = saltus_control_at(k);
      if (!fits(scheme, control)) {
        continue;
      }
      double error[2];
      for (int j = 0; j < 2; j++) {
        saltus_control_options o;
        saltus_options_defaults(&control->options, &o);
        o.atol = j == 0 ? 1e-3 : 1e-6;
        o.rtol = 0.0; /* the tolerance of the literature is absolute */
        const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                            .q0 = saltus_known_motion_q0(problem),
                                            .v0 = saltus_known_motion_v0(problem),
                                            .scheme = scheme->name,
                                            .t_end = 2.0,
                                            .control = control->name,
                                            .control_options = &o};
        saltusi_experiment run;
        assert_int_equal(saltusi_experiment_run(&def, &run), SALTUS_OK);
        saltusi_errors errors;
        assert_int_equal(saltusi_errors_of(problem, &run.motion, saltus_graph_tolerance_default(),
                                           NULL, &errors),
                         SALTUS_OK);
        error[j] = errors.q.l1;
        saltusi_experiment_free(&run);
      }
      /* a scheme of high order may be far better than a coarse tolerance asks for */
      if (!(error[1] < 0.1 * error[0] || error[1] < 20.0 * 1e-6)) {
        fail_msg("%s under %s: error %g at 1e-3, %g at 1e-6", scheme->name, control->name, error[0],
                 error[1]);
      }
      pairs++;
    }
  }
  assert_true(pairs >= 10);
  saltus_known_motion_destroy(problem);
}

/* Recorded sums do not care about halves and rejections: momentum adds up. */
typedef struct sums {
  double given, last_t;
  long long rejections;
  double largest_error;
} sums;

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  sums* s = user;
  s->given += frame->contacts[0].impulse[0];
  s->given += frame->contacts[0].force[0] * (frame->t - s->last_t);
  s->last_t = frame->t;
  s->rejections += frame->rejections;
  s->largest_error = fmax(s->largest_error, frame->error);
  return SALTUS_OK;
}

static void every_accepted_step_reports_its_error_and_rejections(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double q0 = 1.0;
  const double v0 = 0.0;
  sums s = {0};
  const saltus_recorder recorder = {.frame = on_frame, .user = &s};
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "moreau-jean",
                              .q0 = &q0,
                              .v0 = &v0,
                              .control = "variable-order",
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_every = 3};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
  assert_true(saltus_sim_time(sim) == 2.0);
  assert_near(s.given, saltus_sim_v(sim)[0] + 9.81 * 2.0, 1e-11);
  assert_true(s.rejections > 5);
  assert_true(s.largest_error > 0.1 && s.largest_error <= 1.0);
  long long steps = saltus_sim_work(sim).steps;
  assert_int_equal(steps, 3 * (saltus_sim_steps_done(sim) + s.rejections));
  saltus_sim_destroy(sim);
}

static void a_controlled_run_resumes_with_the_same_bits(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double q0 = 1.0;
  const double v0 = 0.0;
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "splitting-rkf45-contact",
                              .q0 = &q0,
                              .v0 = &v0,
                              .control = "embedded"};
  saltus_sim* whole;
  saltus_sim* part;
  saltus_sim* rest;
  assert_int_equal(saltus_sim_create(&def, &whole), SALTUS_OK);
  assert_int_equal(saltus_sim_create(&def, &part), SALTUS_OK);
  assert_int_equal(saltus_sim_create(&def, &rest), SALTUS_OK);
  /* the same stops: the end of a run cuts its last step */
  assert_int_equal(saltus_sim_run_until(whole, 0.7), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(whole, 2.0), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(part, 0.7), SALTUS_OK);
  size_t bytes = saltus_sim_snapshot_bytes(part);
  void* snapshot = malloc(bytes);
  saltus_sim_snapshot_save(part, snapshot);
  assert_int_equal(saltus_sim_snapshot_load(rest, snapshot, bytes), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(rest, 2.0), SALTUS_OK);
  assert_memory_equal(saltus_sim_q(whole), saltus_sim_q(rest), sizeof(double));
  assert_memory_equal(saltus_sim_v(whole), saltus_sim_v(rest), sizeof(double));
  free(snapshot);
  saltus_sim_destroy(whole);
  saltus_sim_destroy(part);
  saltus_sim_destroy(rest);
}

/* What does not fit is refused with a reason. */
static void unsupported_pairs_are_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double q0 = 1.0;
  const double v0 = 0.0;
  saltus_kept_message kept;
  saltus_control_options none;
  saltus_options_defaults(&saltus_control_find("order-0")->options, &none);
  none.atol = none.rtol = 0.0;
  static const struct {
    const char *scheme, *control, *says;
    bool no_tolerance;
  } cases[] = {{"schatzman-paoli", "variable-order", "needs a constant step", false},
               {"moreau-jean", "embedded", "has no embedded method", false},
               {"moreau-jean", "fastest", "no step control \"fastest\"", false},
               {"moreau-jean", "order-0", "atol is 0, must be positive when rtol is 0", true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const saltus_sim_def def = {.system = &sys,
                                .scheme = cases[i].scheme,
                                .q0 = &q0,
                                .v0 = &v0,
                                .control = cases[i].control,
                                .control_options = cases[i].no_tolerance ? &none : NULL,
                                .log = saltus_log_keep(&kept)};
    saltus_sim* sim;
    assert_true(saltus_sim_create(&def, &sim) < 0);
    assert_null(sim);
    assert_says(kept, cases[i].says);
  }
}

/* A run that cannot get on says so and stands at its last good state. */
static void used_up_attempts_are_reported(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double q0 = 1.0;
  const double v0 = 0.0;
  saltus_control_options o;
  saltus_options_defaults(&saltus_control_find("variable-order")->options, &o);
  o.steps_max = 50;
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "moreau-jean",
                              .q0 = &q0,
                              .v0 = &v0,
                              .control = "variable-order",
                              .control_options = &o,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 10.0), SALTUS_ERR_STOPPED);
  assert_says(kept, "50 trial steps used up at t = ");
  assert_true(saltus_sim_time(sim) > 0.0 && isfinite(saltus_sim_q(sim)[0]));
  saltus_sim_destroy(sim);
}

/* Several contacts and curved ones: the column, the stack and the double pendulum with every scheme
 * that may change its step, under its recommended controller. */
static void general_systems_are_controlled_too(void** state) {
  (void)state;
  static const struct {
    const char* problem;
    double t_end;
  } cases[] = {{"column:3", 8.0}, {"stack:5", 5.0}, {"pendulum-wall", 3.0}};
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* scheme = saltus_scheme_at(i);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
      const char* control = scheme->embedded_order > 0 ? "embedded" : "variable-order";
      if (!fits(scheme, saltus_control_find(control)) || scheme->stops) {
        continue;
      }
      saltus_known_motion* problem;
      assert_int_equal(
          saltus_known_motion_create(cases[k].problem, (saltus_log){0}, NULL, &problem), SALTUS_OK);
      saltus_control_options o;
      saltus_options_defaults(&saltus_control_find(control)->options, &o);
      o.atol = 1e-5;
      o.steps_max = 1000000;
      saltus_kept_message kept;
      const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                          .q0 = saltus_known_motion_q0(problem),
                                          .v0 = saltus_known_motion_v0(problem),
                                          .scheme = scheme->name,
                                          .t_end = cases[k].t_end,
                                          .control = control,
                                          .control_options = &o,
                                          .log = saltus_log_keep(&kept)};
      saltusi_experiment run;
      if (saltusi_experiment_run(&def, &run) != SALTUS_OK) {
        fail_msg("%s with %s: %s", cases[k].problem, scheme->name, kept.text);
      }
      saltusi_experiment_free(&run);
      saltus_known_motion_destroy(problem);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_runs_neither_stall_nor_fall_through_the_floor),
      cmocka_unit_test(errors_shrink_with_the_tolerance),
      cmocka_unit_test(every_accepted_step_reports_its_error_and_rejections),
      cmocka_unit_test(a_controlled_run_resumes_with_the_same_bits),
      cmocka_unit_test(unsupported_pairs_are_refused),
      cmocka_unit_test(used_up_attempts_are_reported),
      cmocka_unit_test(general_systems_are_controlled_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
