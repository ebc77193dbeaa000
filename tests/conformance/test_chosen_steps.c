/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Schemes that choose their steps, in a simulation: where runs end, what is refused, snapshots; and
 * dense output of every scheme that has one.
 */
#include "saltus_test.h"

#include "systems.h"

#include <stdlib.h>

/* Calls a test for every scheme that chooses its steps. */
static void for_every_chooser(void (*test)(const saltus_scheme_info* info)) {
  for (int i = 0; i < saltus_scheme_count(); i++) {
    if (saltus_scheme_at(i)->chooses_step) {
      test(saltus_scheme_at(i));
    }
  }
}

static const double height = 1.0;
static const double rest = 0.0;

static saltus_sim_def definition(const saltus_scheme_info* info, const saltus_system* sys) {
  return (saltus_sim_def){.system = sys, .scheme = info->name, .q0 = &height, .v0 = &rest};
}

static saltus_sim* make(const saltus_sim_def* def) {
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(def, &sim), SALTUS_OK);
  return sim;
}

/* Without a step, and with a largest one; each run ends exactly where it should, twice. */
static void runs_end_exactly(const saltus_scheme_info* info) {
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (int k = 0; k < 2; k++) {
    saltus_sim_def def = definition(info, &sys);
    def.h = k == 0 ? 0.0 : 0.01;
    saltus_sim* sim = make(&def);
    assert_int_equal(saltus_sim_run_until(sim, 0.3), SALTUS_OK);
    assert_true(saltus_sim_time(sim) == 0.3);
    assert_near(saltus_sim_q(sim)[0], 1.0 - 0.5 * 9.81 * 0.09, 1e-6);
    assert_int_equal(saltus_sim_run_until(sim, 1.1), SALTUS_OK);
    assert_true(saltus_sim_time(sim) == 1.1);
    assert_near(saltus_sim_q(sim)[0], ball_height(&b, 1.0, 1.1), 1e-4);
    assert_true(k == 0 || saltus_sim_steps_done(sim) >= 110);
    /* one step of its own length goes on from there */
    assert_int_equal(saltus_sim_step(sim), SALTUS_OK);
    double h = saltus_sim_report(sim)->h;
    assert_true(h > 0.0 && (k == 0 || h <= 0.01));
    assert_near(saltus_sim_time(sim), 1.1 + h, 1e-15);
    saltus_sim_destroy(sim);
  }
}

static void ends(void** state) {
  (void)state;
  for_every_chooser(runs_end_exactly);
}

static void what_makes_no_sense_is_refused(const saltus_scheme_info* info) {
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_kept_message kept;
  saltus_sim_def def = definition(info, &sys);
  def.log = saltus_log_keep(&kept);
  saltus_sim* sim = make(&def);
  assert_int_equal(saltus_sim_run(sim, 10), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "give the end, not the number of steps");
  saltus_sim_destroy(sim);
  def.log = saltus_log_keep(&kept);
  def.control = "variable-order";
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "chooses its steps itself");
  def.control = NULL;
  def.h = -1.0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
}

static void refusals(void** state) {
  (void)state;
  for_every_chooser(what_makes_no_sense_is_refused);
}

/* The proposal for the next step is part of what a scheme carries. */
static void a_snapshot_resumes_with_the_same_bits(const saltus_scheme_info* info) {
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_sim_def def = definition(info, &sys);
  saltus_sim* first = make(&def);
  saltus_sim* second = make(&def);
  for (int i = 0; i < 7; i++) {
    assert_int_equal(saltus_sim_step(first), SALTUS_OK);
  }
  size_t bytes = saltus_sim_snapshot_bytes(first);
  void* snapshot = malloc(bytes);
  saltus_sim_snapshot_save(first, snapshot);
  assert_int_equal(saltus_sim_snapshot_load(second, snapshot, bytes), SALTUS_OK);
  double end = saltus_sim_time(first) + 1.0;
  assert_int_equal(saltus_sim_run_until(first, end), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(second, end), SALTUS_OK);
  assert_int_equal(saltus_sim_steps_done(first), saltus_sim_steps_done(second));
  assert_memory_equal(saltus_sim_q(first), saltus_sim_q(second), sizeof(double));
  assert_memory_equal(saltus_sim_v(first), saltus_sim_v(second), sizeof(double));
  free(snapshot);
  saltus_sim_destroy(first);
  saltus_sim_destroy(second);
}

static void snapshots(void** state) {
  (void)state;
  for_every_chooser(a_snapshot_resumes_with_the_same_bits);
}

typedef struct frames {
  const ball* b;
  int count;
  double error, last_t, momentum;
} frames;

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  frames* f = user;
  f->error = fmax(f->error, fabs(frame->q[0] - ball_height(f->b, 1.0, frame->t)));
  f->momentum += frame->contacts[0].impulse[0];
  f->momentum += f->count > 0 ? frame->contacts[0].force[0] * (frame->t - f->last_t) : 0.0;
  f->last_t = frame->t;
  f->count++;
  return SALTUS_OK;
}

/* Frames at requested times know the motion as well as the step ends do, add up to the momentum, and
 * change nothing, with every scheme that has dense output. */
static void requested_times_serve_every_dense_scheme(void** state) {
  (void)state;
  int schemes = 0;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if (!info->dense || info->order < 2) {
      continue;
    }
    ball b = ball_usual();
    saltus_system sys = ball_system(&b);
    frames f = {.b = &b};
    const saltus_recorder recorder = {.frame = on_frame, .user = &f};
    saltus_sim_def def = definition(info, &sys);
    def.h = info->chooses_step ? 0.0 : 0.02;
    saltus_sim* silent = make(&def);
    def.recorders = &recorder;
    def.recorder_count = 1;
    def.record_dt = 0.0037;
    saltus_sim* sim = make(&def);
    assert_int_equal(saltus_sim_run_until(sim, 1.2), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(silent, 1.2), SALTUS_OK);
    assert_memory_equal(saltus_sim_q(sim), saltus_sim_q(silent), sizeof(double));
    assert_memory_equal(saltus_sim_v(sim), saltus_sim_v(silent), sizeof(double));
    assert_int_equal(f.count, 1 + 324 + 1); /* 324 multiples of 0.0037 before 1.2 */
    if (!(f.error < 1e-4)) {
      fail_msg("%s: %g", info->name, f.error);
    }
    double given = saltus_sim_v(sim)[0] + 9.81 * 1.2;
    if (!(fabs(f.momentum - given) < 1e-4)) {
      fail_msg("%s: momentum %g instead of %g", info->name, f.momentum, given);
    }
    saltus_sim_destroy(sim);
    saltus_sim_destroy(silent);
    schemes++;
  }
  assert_true(schemes >= 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends),
      cmocka_unit_test(refusals),
      cmocka_unit_test(snapshots),
      cmocka_unit_test(requested_times_serve_every_dense_scheme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
