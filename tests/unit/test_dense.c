/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Dense output: the motion inside a step, left and right of jumps, and recording at requested times.
 */
#include "saltus_test.h"

#include "saltus/known_motion.h"
#include "saltus/runge_kutta.h"
#include "systems.h"

#include <stdlib.h>
#include <string.h>

static saltus_scheme* make_scheme(const char* name, const saltus_system* sys) {
  const saltus_scheme_def def = {.scheme = name, .system = sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* A free fall is a parabola, which every method of order 2 and the interpolation take exactly. */
static void a_parabola_is_exact(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_scheme* scheme = make_scheme("midpoint", &sys);
  double q = 10.0;
  double v = 1.0;
  saltus_state x = {.t = 2.0, .q = &q, .v = &v};
  assert_int_equal(saltus_scheme_step(scheme, 0.5, &x, NULL), SALTUS_OK);
  for (int i = 0; i <= 10; i++) {
    double s = 0.05 * i;
    double at[2];
    for (int side = SALTUS_LEFT; side <= SALTUS_RIGHT; side++) {
      assert_int_equal(saltus_scheme_dense(scheme, 2.0 + s, (saltus_side)side, &at[0], &at[1]),
                       SALTUS_OK);
      assert_near(at[0], 10.0 + s - 0.5 * 9.81 * s * s, 1e-14);
      assert_near(at[1], 1.0 - 9.81 * s, 1e-14);
    }
  }
  assert_int_equal(saltus_scheme_dense(scheme, 2.5, SALTUS_RIGHT, NULL, &v), SALTUS_OK);
  saltus_scheme_destroy(scheme);
}

/* Errors of q and v inside one step of length h of the double pendulum, against many short ones. */
static void local_errors(const char* name, double h, double errors[2]) {
  const pendulum_fault none = FAULT_NONE;
  saltus_system sys = pendulum_system(&none);
  saltus_scheme* scheme = make_scheme(name, &sys);
  saltus_scheme* fine = make_scheme("gauss-6", &sys);
  double q[2] = {1.0, 0.8}, v[2] = {-0.5, 0.3};
  double fine_q[2] = {1.0, 0.8}, fine_v[2] = {-0.5, 0.3};
  saltus_state x = {.q = q, .v = v};
  saltus_state y = {.q = fine_q, .v = fine_v};
  assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
  errors[0] = errors[1] = 0.0;
  for (int i = 1; i < 16; i++) {
    assert_int_equal(saltus_scheme_step(fine, h / 16, &y, NULL), SALTUS_OK);
    double at_q[2], at_v[2];
    assert_int_equal(saltus_scheme_dense(scheme, i * h / 16, SALTUS_LEFT, at_q, at_v), SALTUS_OK);
    for (int k = 0; k < 2; k++) {
      errors[0] = fmax(errors[0], fabs(at_q[k] - fine_q[k]));
      errors[1] = fmax(errors[1], fabs(at_v[k] - fine_v[k]));
    }
  }
  saltus_scheme_destroy(scheme);
  saltus_scheme_destroy(fine);
}

/* The interpolation alone has errors h^6 in q and h^5 in v. A method of order p ends with an error
 * h^(p+1), which the derivative of the polynomial divides by h. */
static void inside_a_step_the_order_is_kept(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int order;
  } methods[] = {{"gauss-6", 6}, {"lobatto-iiia-6", 6}, {"radau-iia-5", 5},
                 {"dopri5", 5},  {"rkf45", 5},          {"rk4", 4},
                 {"gauss-4", 4}, {"herk-3", 3},         {"midpoint", 2}};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    double coarse[2], fine[2];
    local_errors(methods[m].name, 0.02, coarse);
    local_errors(methods[m].name, 0.01, fine);
    assert_near(log2(coarse[0] / fine[0]), fmin(methods[m].order + 1, 6), 0.15);
    assert_near(log2(coarse[1] / fine[1]), fmin(methods[m].order, 5), 0.15);
  }
}

/* The velocity jumps from -sqrt(2 g) to half of it upwards; position does not. */
static void a_jump_has_two_sides(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_scheme* scheme = make_scheme("radau-iia-5", &sys);
  double q = 1.0;
  double v = 0.0;
  saltus_state x = {.q = &q, .v = &v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 0.5, &x, &report), SALTUS_OK);
  assert_int_equal(report.event_count, 1);
  double t = report.events[0].t;
  double left[2], right[2];
  assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_LEFT, &left[0], &left[1]), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_RIGHT, &right[0], &right[1]), SALTUS_OK);
  double speed = sqrt(2.0 * 9.81);
  double width = 1e-3 * pow(0.5, 6); /* of the bracket: 1.6e-5 s */
  assert_near(t, sqrt(2.0 / 9.81), width);
  assert_near(left[1], -speed, 9.81 * width);
  assert_near(right[1], 0.5 * speed, 9.81 * width);
  assert_near(left[0], right[0], 1e-15);
  assert_near(report.events[0].energy_change, -0.75 * 9.81, 2.0 * speed * 9.81 * width);
  saltus_scheme_destroy(scheme);
}

/* One step of 2 s holds the whole accumulation of a ball with e = 0.5, and the rest after it. */
static void a_step_through_an_accumulation_is_dense(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_event_capturing_options o = saltus_event_capturing_options_default();
  o.bracket = 1e-9;
  const saltus_scheme_def def = {.scheme = "rk4", .options = &o, .system = &sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q = 1.0;
  double v = 0.0;
  saltus_state x = {.q = &q, .v = &v};
  assert_int_equal(saltus_scheme_step(scheme, 2.0, &x, NULL), SALTUS_OK);
  for (int i = 0; i <= 2000; i++) {
    double y, u;
    assert_int_equal(saltus_scheme_dense(scheme, 1e-3 * i, SALTUS_RIGHT, &y, &u), SALTUS_OK);
    /* every bracket is wrong by at most 3.2e-8 s at no more than 4.43 m/s, halved at each impact */
    assert_near(y, ball_height(&b, 1.0, 1e-3 * i), 3e-7);
  }
  assert_near(q, 0.0, 1e-15);
  saltus_scheme_destroy(scheme);
}

/* With e = 0.99 a step has more pieces than there is room for: the shortest are forgotten, at the end
 * of the accumulation, where the ball is lower than a micrometre. */
static void forgotten_pieces_are_the_short_ones(void** state) {
  (void)state;
  ball b = ball_usual();
  b.law.e_N = 0.99;
  saltus_system sys = ball_system(&b);
  saltus_event_capturing_options o = saltus_event_capturing_options_default();
  o.bracket = 1e-16;
  const saltus_scheme_def def = {.scheme = "midpoint", .options = &o, .system = &sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q = 1.0;
  double v = 0.0;
  saltus_state x = {.q = &q, .v = &v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 100.0, &x, &report), SALTUS_OK);
  assert_true(report.event_count > 1000);
  double worst = 0.0;
  for (int i = 0; i <= 5000; i++) {
    double y, u;
    assert_int_equal(saltus_scheme_dense(scheme, 0.02 * i, SALTUS_RIGHT, &y, &u), SALTUS_OK);
    worst = fmax(worst, fabs(y - ball_height(&b, 1.0, 0.02 * i)));
  }
  assert_true(worst < 1e-6);
  saltus_scheme_destroy(scheme);
}

static void what_cannot_be_answered_is_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  double q = 1.0;
  double v = 0.0;
  double at;
  saltus_state x = {.q = &q, .v = &v};
  saltus_scheme* scheme = make_scheme("moreau-jean", &sys);
  assert_int_equal(saltus_scheme_step(scheme, 0.1, &x, NULL), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense(scheme, 0.05, SALTUS_LEFT, &at, &at),
                   SALTUS_ERR_UNSUPPORTED);
  saltus_scheme_destroy(scheme);
  scheme = make_scheme("rk4", &sys);
  assert_int_equal(saltus_scheme_dense(scheme, 0.0, SALTUS_LEFT, &at, &at), SALTUS_ERR_RANGE);
  x.t = 0.0;
  assert_int_equal(saltus_scheme_step(scheme, 0.1, &x, NULL), SALTUS_OK);
  assert_int_equal(saltus_scheme_step(scheme, 0.1, &x, NULL), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense(scheme, 0.05, SALTUS_LEFT, &at, NULL), SALTUS_ERR_RANGE);
  assert_int_equal(saltus_scheme_dense(scheme, 0.25, SALTUS_LEFT, &at, NULL), SALTUS_ERR_RANGE);
  assert_int_equal(saltus_scheme_dense(scheme, NAN, SALTUS_LEFT, &at, NULL), SALTUS_ERR_RANGE);
  /* a step that fails changes nothing */
  double before;
  assert_int_equal(saltus_scheme_dense(scheme, 0.15, SALTUS_LEFT, &before, NULL), SALTUS_OK);
  b.broken = true;
  assert_int_not_equal(saltus_scheme_step(scheme, 0.1, &x, NULL), SALTUS_OK);
  b.broken = false;
  assert_int_equal(saltus_scheme_dense(scheme, 0.15, SALTUS_LEFT, &at, NULL), SALTUS_OK);
  assert_true(at == before);
  saltus_scheme_destroy(scheme);
}

typedef struct samples {
  saltus_known_motion* problem;
  int count;
  double error;
  double momentum, last_t;
  double t[80];
} samples;

static saltus_status on_sample(void* user, const saltus_frame* frame) {
  samples* s = user;
  double q[2], v[2];
  if (s->problem != NULL && saltus_known_motion_exact(s->problem, frame->t, q, v)) {
    for (int k = 0; k < 2; k++) {
      s->error = fmax(s->error, fabs(q[k] - frame->q[k]));
    }
  }
  s->momentum += frame->contacts[0].impulse[0];
  s->momentum += s->count > 0 ? frame->contacts[0].force[0] * (frame->t - s->last_t) : 0.0;
  s->last_t = frame->t;
  if (s->count < 80) {
    s->t[s->count] = frame->t;
  }
  s->count++;
  return SALTUS_OK;
}

/* The double pendulum at a wall, with steps that never end at a sample: the 61 samples of the
 * independent code are met with the order of the method, through impacts, sliding and opening. */
static void requested_times_have_the_order_of_the_method(void** state) {
  (void)state;
  double errors[3];
  samples s = {.count = 0};
  assert_int_equal(saltus_known_motion_create("pendulum-wall", (saltus_log){0}, NULL, &s.problem),
                   SALTUS_OK);
  const double* times;
  int count = saltus_known_motion_samples(s.problem, &times);
  assert_int_equal(count, 61);
  for (int k = 0; k < 3; k++) {
    const saltus_recorder recorder = {.frame = on_sample, .user = &s};
    const saltus_sim_def def = {.system = saltus_known_motion_system(s.problem),
                                .scheme = "radau-iia-5",
                                .h = 3.0 / (119 << k),
                                .q0 = saltus_known_motion_q0(s.problem),
                                .v0 = saltus_known_motion_v0(s.problem),
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .record_times = times,
                                .record_time_count = count};
    saltus_sim* sim;
    s.count = 0;
    s.error = 0.0;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 3.0), SALTUS_OK);
    assert_int_equal(s.count, count); /* the first and the last are samples too */
    assert_int_equal(saltus_sim_work(sim).steps, 119 << k);
    for (int i = 0; i < count; i++) {
      assert_near(s.t[i], times[i], 1e-15);
    }
    errors[k] = s.error;
    saltus_sim_destroy(sim);
  }
  assert_true(errors[2] < 1e-10);
  assert_true(log2(errors[0] / errors[1]) > 4.5);
  assert_true(log2(errors[1] / errors[2]) > 4.5);
  saltus_known_motion_destroy(s.problem);
}

static saltus_sim* make_ball(const saltus_system* sys, const saltus_recorder* recorder, double dt,
                             const char* control) {
  static const double height = 1.0;
  static const double rest = 0.0;
  const saltus_sim_def def = {.system = sys,
                              .scheme = "dopri5",
                              .h = 0.03,
                              .q0 = &height,
                              .v0 = &rest,
                              .control = control,
                              .recorders = recorder,
                              .recorder_count = recorder != NULL ? 1 : 0,
                              .record_dt = dt};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

/* Whatever times are asked for, forces and impulses of the frames add up to the momentum, and the
 * motion is the same to the bit. */
static void requested_times_lose_nothing_and_change_nothing(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  static const double beats[] = {0.007, 0.1, 0.5, 0.06, 10.0};
  static const char* const controls[] = {NULL, "order-1", "embedded"};
  for (int k = 0; k < 15; k++) {
    double dt = beats[k % 5];
    samples s = {.count = 0};
    const saltus_recorder recorder = {.frame = on_sample, .user = &s};
    saltus_sim* sim = make_ball(&sys, &recorder, dt, controls[k / 5]);
    saltus_sim* silent = make_ball(&sys, NULL, 0.0, controls[k / 5]);
    assert_int_equal(saltus_sim_run_until(sim, 1.8), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(silent, 1.8), SALTUS_OK);
    assert_true(saltus_sim_v(sim)[0] == saltus_sim_v(silent)[0]);
    assert_true(saltus_sim_q(sim)[0] == saltus_sim_q(silent)[0]);
    assert_int_equal(saltus_sim_work(sim).steps, saltus_sim_work(silent).steps);
    assert_int_equal(s.count, 2 + (int)ceil(1.8 / dt - 1e-9) - 1);
    for (int i = 1; i + 1 < s.count && i < 80; i++) {
      assert_near(s.t[i], i * dt, 1e-15);
    }
    assert_near(s.t[s.count < 80 ? s.count - 1 : 0], s.count < 80 ? 1.8 : 0.0, 1e-15);
    /* corrections of closings are below the tolerance of the bracket */
    assert_near(s.momentum, saltus_sim_v(sim)[0] + 9.81 * 1.8, 1e-9);
    saltus_sim_destroy(sim);
    saltus_sim_destroy(silent);
  }
}

/* A run that goes on from a snapshot records the rest at the same times. */
static void requested_times_survive_a_snapshot(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  samples s = {.count = 0}, rest = {.count = 0};
  const saltus_recorder all = {.frame = on_sample, .user = &s};
  const saltus_recorder second = {.frame = on_sample, .user = &rest};
  saltus_sim* sim = make_ball(&sys, &all, 0.1, NULL);
  saltus_sim* resumed = make_ball(&sys, &second, 0.1, NULL);
  assert_int_equal(saltus_sim_run(sim, 10), SALTUS_OK);
  assert_int_equal(s.count, 1 + 3); /* 0, 0.1, 0.2, 0.3 */
  size_t bytes = saltus_sim_snapshot_bytes(sim);
  void* snapshot = malloc(bytes);
  saltus_sim_snapshot_save(sim, snapshot);
  assert_int_equal(saltus_sim_snapshot_load(resumed, snapshot, bytes), SALTUS_OK);
  assert_int_equal(saltus_sim_run(sim, 20), SALTUS_OK);
  assert_int_equal(saltus_sim_run(resumed, 20), SALTUS_OK);
  assert_int_equal(rest.count, 3);
  for (int i = 0; i < 3; i++) {
    assert_true(rest.t[i] == s.t[4 + i]);
  }
  free(snapshot);
  saltus_sim_destroy(sim);
  saltus_sim_destroy(resumed);
}

enum { LEDGER_EVENTS = 64 };

typedef struct ledger_observe {
  saltus_event
      event[LEDGER_EVENTS]; /* reported when their step ends, before the frames inside it */
  int count, frames;
  double last_t, start;
} ledger_observe;

static saltus_status keep_event(void* user, const saltus_event* event) {
  ledger_observe* w = user;
  assert_true(w->count < LEDGER_EVENTS);
  w->event[w->count++] = *event;
  return SALTUS_OK;
}

/* Impulses and losses of a frame are those of the impacts before it, not those of its whole step. */
static saltus_status check_ledger(void* user, const saltus_frame* frame) {
  ledger_observe* w = user;
  double lost = 0.0;
  double impulse = 0.0;
  for (int i = 0; i < w->count; i++) {
    const saltus_event* e = &w->event[i];
    lost += e->t <= frame->t ? e->energy_change : 0.0;
    impulse += e->t > w->last_t && e->t <= frame->t ? e->impulse[0] : 0.0;
  }
  double energy = frame->kinetic + frame->potential;
  w->start = w->frames == 0 ? energy : w->start;
  assert_near(frame->energy.impact, lost, 1e-12);
  assert_near(frame->contacts[0].impulse[0], impulse, 1e-14);
  assert_true((frame->contacts[0].impulse[0] != 0.0) == (impulse != 0.0));
  /* the velocity inside a step of 0.05 s is off by O(h^5): 4.3e-5 J measured */
  assert_near(frame->energy.change, energy - w->start, 1e-4);
  w->last_t = frame->t;
  w->frames++;
  return SALTUS_OK;
}

static void frames_inside_a_step_have_what_happened_so_far(void** state) {
  (void)state;
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("pendulum-wall", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  ledger_observe w = {.count = 0};
  const saltus_recorder recorder = {.frame = check_ledger, .event = keep_event, .user = &w};
  const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                              .scheme = "radau-iia-5",
                              .h = 0.05,
                              .q0 = saltus_known_motion_q0(problem),
                              .v0 = saltus_known_motion_v0(problem),
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_dt = 0.002};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 3.0), SALTUS_OK);
  assert_int_equal(w.frames, 1501);
  assert_int_equal(w.count, 28);
  saltus_sim_destroy(sim);
  saltus_known_motion_destroy(problem);
}

static void bad_times_are_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double one = 1.0;
  const double falling[] = {0.1, 0.1};
  saltus_sim_def def = {.system = &sys, .scheme = "rk4", .h = 0.1, .q0 = &one, .v0 = &one};
  saltus_sim* sim;
  def.record_dt = -1.0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
  def.record_dt = 0.0;
  def.record_times = falling;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
  def.record_time_count = 2;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
  def.record_time_count = 1;
  def.record_dt = 0.1;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_RANGE);
  def.record_dt = 0.0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  saltus_sim_destroy(sim);
  def.scheme = "moreau-jean";
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_parabola_is_exact),
      cmocka_unit_test(inside_a_step_the_order_is_kept),
      cmocka_unit_test(a_jump_has_two_sides),
      cmocka_unit_test(a_step_through_an_accumulation_is_dense),
      cmocka_unit_test(forgotten_pieces_are_the_short_ones),
      cmocka_unit_test(what_cannot_be_answered_is_refused),
      cmocka_unit_test(requested_times_have_the_order_of_the_method),
      cmocka_unit_test(requested_times_lose_nothing_and_change_nothing),
      cmocka_unit_test(requested_times_survive_a_snapshot),
      cmocka_unit_test(frames_inside_a_step_have_what_happened_so_far),
      cmocka_unit_test(bad_times_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
