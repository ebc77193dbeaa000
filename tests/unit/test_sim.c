/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The step loop: time, transactions, recorders, events, snapshots.
 */
#include "saltus_test.h"

#include "base/hash.h"
#include "systems.h"

#include <stdlib.h>

typedef struct observe {
  uint64_t hash;
  int frames, impacts, closes, opens;
  double first_t, last_t;
  double momentum; /* N s through the contact, from frames */
  double last_frame_t;
  double stop_after; /* s */
} observe;

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  observe* w = user;
  if (w->frames == 0) {
    w->first_t = frame->t;
    w->last_frame_t = frame->t;
  }
  w->frames++;
  w->last_t = frame->t;
  w->momentum += frame->contacts[0].impulse[0];
  w->momentum += frame->contacts[0].force[0] * (frame->t - w->last_frame_t);
  w->last_frame_t = frame->t;
  w->hash = saltusi_hash(w->hash, frame->q, sizeof(double));
  w->hash = saltusi_hash(w->hash, frame->v, sizeof(double));
  w->hash = saltusi_hash(w->hash, frame->contacts, sizeof *frame->contacts);
  return SALTUS_OK;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  observe* w = user;
  w->impacts += event->kind == SALTUS_EVENT_IMPACT;
  w->closes += event->kind == SALTUS_EVENT_CLOSE;
  w->opens += event->kind == SALTUS_EVENT_OPEN;
  return SALTUS_OK;
}

static const double height = 1.0;
static const double at_rest = 0.0;

static saltus_sim* make(const saltus_system* sys, const saltus_recorder* recorder,
                        long long every) {
  const saltus_sim_def def = {.system = sys,
                              .scheme = "moreau-jean",
                              .t0 = 0.5,
                              .h = 1e-3,
                              .q0 = &height,
                              .v0 = &at_rest,
                              .recorders = recorder,
                              .recorder_count = recorder != NULL ? 1 : 0,
                              .record_every = every};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

static void time_is_start_plus_steps_times_h(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_sim* sim = make(&sys, NULL, 0);
  assert_int_equal(saltus_sim_run(sim, 16000), SALTUS_OK);
  assert_int_equal(saltus_sim_steps_done(sim), 16000);
  assert_true(saltus_sim_time(sim) == 0.5 + 16000 * 1e-3); /* bit for bit, no running sum */
  assert_int_equal(saltus_sim_work(sim).steps, 16000);
  saltus_sim_destroy(sim);
}

static void the_step_count_divides_the_time(void** state) {
  (void)state;
  double h;
  assert_int_equal(saltus_sim_step_count(0.0, 5.0, 0.01, &h), 500);
  assert_near(h, 0.01, 1e-17);
  assert_int_equal(saltus_sim_step_count(0.0, 1.0, 0.3, &h), 4);
  assert_near(h, 0.25, 0.0);
  assert_int_equal(saltus_sim_step_count(1.0, 1.1, 1.0, &h), 1);
  assert_near(h, 0.1, 1e-16);
}

/* Whatever beat is recorded, impulses plus the integral of forces are the momentum change:
 * m (v1 - v0) + m g T. */
static void recorded_forces_and_impulses_add_up(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (long long every = 1; every <= 1000; every *= 10) {
    observe w = {.hash = SALTUSI_HASH_START};
    const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = &w};
    saltus_sim* sim = make(&sys, &recorder, every);
    assert_int_equal(saltus_sim_run(sim, 2503), SALTUS_OK);
    assert_int_equal(w.frames, 1 + 2503 / every + (2503 % every != 0));
    assert_true(w.first_t == 0.5 && w.last_t == 0.5 + 2503 * 1e-3);
    /* 2503 roundings of a sum that grows to 25 */
    assert_near(w.momentum, saltus_sim_v(sim)[0] + 9.81 * 2.503, 2503 * 25 * 2.2e-16);
    assert_true(w.impacts >= 5);
    assert_int_equal(w.closes, w.opens + 1); /* it rests at the end */
    saltus_sim_destroy(sim);
  }
}

/* Resting, the recorded force is the weight, not an impulse. */
static void a_resting_ball_has_a_force_and_no_impulse(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  observe w = {.hash = SALTUSI_HASH_START};
  const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = &w};
  const double floor = 0.0;
  saltus_sim_def def = {.system = &sys,
                        .scheme = "moreau-jean",
                        .h = 1e-3,
                        .q0 = &floor,
                        .v0 = &at_rest,
                        .recorders = &recorder,
                        .recorder_count = 1,
                        .record_every = 100};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run(sim, 1000), SALTUS_OK);
  assert_int_equal(w.impacts, 0);
  assert_int_equal(w.closes, 1);
  assert_near(w.momentum, 9.81, 1e-12);
  saltus_sim_destroy(sim);
}

/* A snapshot at any step, resumed in another simulation, gives the same bits, recordings too. */
static void a_resumed_run_gives_the_same_bits(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  uint64_t seed = 7;
  for (int repeat = 0; repeat < 20; repeat++) {
    int at = 1 + (int)(1998.0 * saltus_test_random(&seed));
    observe whole = {.hash = SALTUSI_HASH_START};
    observe parts = {.hash = SALTUSI_HASH_START};
    const saltus_recorder observe_whole = {.frame = on_frame, .user = &whole};
    const saltus_recorder observe_parts = {.frame = on_frame, .user = &parts};
    saltus_sim* one = make(&sys, &observe_whole, 7);
    saltus_sim* two = make(&sys, &observe_parts, 7);
    saltus_sim* three = make(&sys, &observe_parts, 7);
    assert_int_equal(saltus_sim_run(one, 2000), SALTUS_OK);
    for (int i = 0; i < at; i++) {
      assert_int_equal(saltus_sim_step(two), SALTUS_OK);
    }
    size_t bytes = saltus_sim_snapshot_bytes(two);
    void* snapshot = malloc(bytes);
    saltus_sim_snapshot_save(two, snapshot);
    assert_int_equal(saltus_sim_snapshot_load(three, snapshot, bytes), SALTUS_OK);
    assert_int_equal(saltus_sim_steps_done(three), at);
    assert_int_equal(saltus_sim_run(three, 2000), SALTUS_OK);
    assert_true(memcmp(saltus_sim_q(one), saltus_sim_q(three), sizeof(double)) == 0);
    assert_true(memcmp(saltus_sim_v(one), saltus_sim_v(three), sizeof(double)) == 0);
    assert_true(whole.hash == parts.hash);
    free(snapshot);
    saltus_sim_destroy(one);
    saltus_sim_destroy(two);
    saltus_sim_destroy(three);
  }
}

static void a_foreign_snapshot_is_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_kept_message kept;
  saltus_sim_def def = {.system = &sys,
                        .scheme = "moreau-jean",
                        .h = 1e-3,
                        .q0 = &height,
                        .v0 = &at_rest,
                        .log = saltus_log_keep(&kept)};
  saltus_sim* one;
  saltus_sim* other;
  assert_int_equal(saltus_sim_create(&def, &one), SALTUS_OK);
  def.h = 2e-3;
  assert_int_equal(saltus_sim_create(&def, &other), SALTUS_OK);
  size_t bytes = saltus_sim_snapshot_bytes(one);
  unsigned char* snapshot = malloc(bytes);
  assert_int_equal(saltus_sim_run(one, 10), SALTUS_OK);
  saltus_sim_snapshot_save(one, snapshot);
  assert_int_equal(saltus_sim_snapshot_load(other, snapshot, bytes), SALTUS_ERR_INPUT);
  assert_says(kept, "do not belong to this simulation");
  assert_int_equal(saltus_sim_snapshot_load(one, snapshot, bytes - 1), SALTUS_ERR_INPUT);
  snapshot[0] ^= 1;
  assert_int_equal(saltus_sim_snapshot_load(one, snapshot, bytes), SALTUS_ERR_INPUT);
  assert_int_equal(saltus_sim_steps_done(one), 10);
  assert_int_equal(saltus_sim_steps_done(other), 0);
  free(snapshot);
  saltus_sim_destroy(one);
  saltus_sim_destroy(other);
}

/* Stops a run at a time; counts seconds and calls. */
typedef struct stopper {
  double when, seconds;
  int calls;
} stopper;

/* A clock that stands one second later at every look. */
static double tick(void* user) {
  stopper* s = user;
  return s->seconds += 1.0;
}

static saltus_status stop_at(void* user, double t, double t_end, long long step) {
  (void)t_end, (void)step;
  stopper* s = user;
  s->calls++;
  return t >= s->when ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

static void a_run_can_be_stopped_and_goes_on(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  stopper s = {.when = 0.25};
  saltus_sim_def def = {.system = &sys,
                        .scheme = "moreau-jean",
                        .h = 1e-3,
                        .q0 = &height,
                        .v0 = &at_rest,
                        .progress = {.report = stop_at, .user = &s, .clock = tick}};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run(sim, 1000), SALTUS_ERR_STOPPED);
  assert_int_equal(saltus_sim_steps_done(sim), 250);
  s.when = 10.0;
  assert_int_equal(saltus_sim_run(sim, 1000), SALTUS_OK);
  assert_int_equal(saltus_sim_steps_done(sim), 1000);
  saltus_sim_destroy(sim);
}

/* A system that fails in mid-run: the simulation stands at its last good state. */
static void a_failing_system_leaves_the_last_good_state(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_sim* sim = make(&sys, NULL, 0);
  assert_int_equal(saltus_sim_run(sim, 100), SALTUS_OK);
  double q = saltus_sim_q(sim)[0];
  b.broken = true;
  assert_int_equal(saltus_sim_run(sim, 200), SALTUS_RETRY_NAN);
  assert_int_equal(saltus_sim_steps_done(sim), 100);
  assert_true(saltus_sim_q(sim)[0] == q);
  b.broken = false;
  assert_int_equal(saltus_sim_run(sim, 200), SALTUS_OK);
  saltus_sim_destroy(sim);
}

typedef struct located {
  int count[SALTUS_EVENT_KINDS];
  double first_impact, opening, accuracy;
  double accumulation, uncertainty;
} located;

static saltus_status on_located(void* user, const saltus_event* event) {
  located* l = user;
  if (event->kind == SALTUS_EVENT_IMPACT && l->count[SALTUS_EVENT_IMPACT] == 0) {
    l->first_impact = event->t;
  }
  if (event->kind == SALTUS_EVENT_OPEN) {
    l->opening = event->t;
  }
  l->count[event->kind]++;
  if (event->kind == SALTUS_EVENT_ACCUMULATION) {
    l->accumulation = event->t;
    l->uncertainty = event->t_accuracy;
    return SALTUS_OK;
  }
  l->accuracy = fmax(l->accuracy, event->t_accuracy);
  return SALTUS_OK;
}

/* The 27 events of the double pendulum at a wall, with times far inside the steps
 * (docs/theory/problems.md, 3): with constant steps and with step doubling, whose halves report them
 * too. */
static void a_scheme_that_locates_events_reports_their_times(void** state) {
  (void)state;
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("pendulum-wall", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  for (int controlled = 0; controlled <= 1; controlled++) {
    located l = {.accuracy = 0.0};
    const saltus_recorder recorder = {.event = on_located, .user = &l};
    saltus_control_options o;
    saltus_options_defaults(&saltus_control_find("order-1")->options, &o);
    o.h_max = 0.01;
    o.atol = 1e-3;
    const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                                .scheme = "radau-iia-5",
                                .h = 3.0 / 480,
                                .q0 = saltus_known_motion_q0(problem),
                                .v0 = saltus_known_motion_v0(problem),
                                .control = controlled != 0 ? "order-1" : NULL,
                                .control_options = &o,
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 3.0), SALTUS_OK);
    assert_int_equal(l.count[SALTUS_EVENT_IMPACT], 25);
    assert_int_equal(l.count[SALTUS_EVENT_CLOSE], 1);
    assert_int_equal(l.count[SALTUS_EVENT_OPEN], 1);
    assert_near(l.first_impact, 0.61123708232362, 1e-10);
    assert_near(l.opening, 2.4498684025, 1e-8);
    assert_true(l.accuracy < 1e-10);
    assert_int_equal(l.count[SALTUS_EVENT_ACCUMULATION], 1);
    assert_near(l.accumulation, 2.36007963782, 1e-8);
    assert_near(l.accumulation, 2.36007963782, l.uncertainty);
    saltus_sim_destroy(sim);
  }
  saltus_known_motion_destroy(problem);
}

/* A ball dropped from 1 m under 9.81 m/s^2 rests at t_1 (1 + e) / (1 - e), t_1 = sqrt(2 / 9.81). */
static void the_accumulation_time_of_the_ball_is_reported(void** state) {
  (void)state;
  static const struct {
    double e, t;
  } balls[] = {{0.5, 1.35457092295719},
               {0.8, 4.06371276887158},
               {0.9, 8.57894917872889},
               {0.99, 89.853204556160}};
  static const char* const schemes[] = {"radau-iia-5", "rk4"};
  for (int k = 0; k < 8; k++) {
    ball b = ball_usual();
    b.law.e_N = balls[k / 2].e;
    saltus_system sys = ball_system(&b);
    located l = {.accuracy = 0.0};
    const saltus_recorder recorder = {.event = on_located, .user = &l};
    const saltus_sim_def def = {.system = &sys,
                                .scheme = schemes[k % 2],
                                .h = 0.02,
                                .q0 = &height,
                                .v0 = &at_rest,
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, balls[k / 2].t + 1.0), SALTUS_OK);
    assert_int_equal(l.count[SALTUS_EVENT_ACCUMULATION], 1);
    assert_near(l.accumulation, balls[k / 2].t, 1e-6);
    assert_near(l.accumulation, balls[k / 2].t, l.uncertainty);
    saltus_sim_destroy(sim);
  }
}

static void bad_definitions_are_refused_by_member(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double nan = NAN;
  saltus_kept_message kept;
  const saltus_sim_def good = {
      .system = &sys, .scheme = "moreau-jean", .h = 1e-3, .q0 = &height, .v0 = &at_rest};
  saltus_sim_def bad[6] = {good, good, good, good, good, good};
  bad[0].h = 0.0;
  bad[1].q0 = &nan;
  bad[2].scheme = "moreau-jaen";
  bad[3].v0 = NULL;
  bad[4].t0 = INFINITY;
  bad[5].system = NULL;
  static const char* const says[6] = {"step h is 0, must be positive and finite",
                                      "q0[0] is nan, must be finite",
                                      "no scheme \"moreau-jaen\"; there are: moreau-jean",
                                      "v0 is missing",
                                      "start t0 is inf",
                                      "no system given"};
  for (int i = 0; i < 6; i++) {
    saltus_sim* sim = (saltus_sim*)&kept;
    bad[i].log = saltus_log_keep(&kept);
    assert_true(saltus_sim_create(&bad[i], &sim) < 0);
    assert_null(sim);
    assert_says(kept, says[i]);
  }
}

static void a_failed_allocation_keeps_nothing(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (int fail_at = 1; fail_at <= 3; fail_at++) {
    counter count = {.fail_at = fail_at};
    saltus_allocator allocator = counting_allocator(&count);
    const saltus_sim_def def = {.system = &sys,
                                .scheme = "moreau-jean",
                                .h = 1e-3,
                                .q0 = &height,
                                .v0 = &at_rest,
                                .allocator = &allocator};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_MEMORY);
    assert_null(sim);
    assert_int_equal(count.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_is_start_plus_steps_times_h),
      cmocka_unit_test(the_step_count_divides_the_time),
      cmocka_unit_test(recorded_forces_and_impulses_add_up),
      cmocka_unit_test(a_resting_ball_has_a_force_and_no_impulse),
      cmocka_unit_test(a_resumed_run_gives_the_same_bits),
      cmocka_unit_test(a_foreign_snapshot_is_refused),
      cmocka_unit_test(a_run_can_be_stopped_and_goes_on),
      cmocka_unit_test(a_failing_system_leaves_the_last_good_state),
      cmocka_unit_test(a_scheme_that_locates_events_reports_their_times),
      cmocka_unit_test(the_accumulation_time_of_the_ball_is_reported),
      cmocka_unit_test(bad_definitions_are_refused_by_member),
      cmocka_unit_test(a_failed_allocation_keeps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
