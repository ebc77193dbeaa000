/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What steps to a tolerance report: what limited them, forces and impulses inside, both sides of jumps.
 */
#include "saltus_test.h"

#include "systems.h"

static const double height = 1.0;
static const double at_rest = 0.0;

/* A scheme run over steps of its own choice; the last report in *report. */
static saltus_scheme* make(const saltus_system* sys, double tol) {
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = tol;
  options.atol = tol;
  const saltus_scheme_def def = {.scheme = "adaptive", .options = &options, .system = sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

static void impulses_of_a_step_come_with_its_impacts(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_scheme* scheme = make(&sys, 1e-8);
  double q = height;
  double v = at_rest;
  saltus_state x = {.q = &q, .v = &v};
  saltus_step_report report = {0};
  while (report.event_count == 0) {
    assert_int_equal(saltus_scheme_step(scheme, 1.0, &x, &report), SALTUS_OK);
  }
  double speed = sqrt(2.0 * b.g);
  saltus_contact_inside left;
  saltus_contact_inside right;
  assert_int_equal(saltus_scheme_dense_contact(scheme, x.t, SALTUS_LEFT, 0, &left), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense_contact(scheme, x.t, SALTUS_RIGHT, 0, &right), SALTUS_OK);
  assert_near(left.impulse[0], 0.0, 0.0);
  assert_near(right.impulse[0], 1.5 * b.m * speed, 1e-11);

  /* the accumulation in one step: after n impacts all but e^n of (1 + e) / (1 - e) m U is given */
  double u = v;
  double start = x.t;
  assert_int_equal(saltus_scheme_step(scheme, 10.0, &x, &report), SALTUS_OK);
  assert_true(report.event_count > 10);
  for (int n = 0; n < 6; n++) {
    const saltus_event* event = &report.events[n];
    double before = 3.0 * b.m * u * (1.0 - pow(0.5, n));
    double after = 3.0 * b.m * u * (1.0 - pow(0.5, n + 1));
    assert_int_equal(saltus_scheme_dense_contact(scheme, event->t, SALTUS_LEFT, 0, &left),
                     SALTUS_OK);
    assert_int_equal(saltus_scheme_dense_contact(scheme, event->t, SALTUS_RIGHT, 0, &right),
                     SALTUS_OK);
    assert_near(left.impulse[0], before, 1e-11);
    assert_near(right.impulse[0], after, 1e-11);
    assert_near(right.force[0], 0.0, 0.0);
  }
  assert_near(x.t - start, 2.0 * u / (b.g * 0.5), 1e-11);

  /* at rest the force is the weight, everywhere in the step */
  start = x.t;
  assert_int_equal(saltus_scheme_step(scheme, 1.0, &x, &report), SALTUS_OK);
  double middle = 0.5 * (start + x.t);
  assert_int_equal(saltus_scheme_dense_contact(scheme, middle, SALTUS_LEFT, 0, &left), SALTUS_OK);
  assert_near(left.force[0], b.m * b.g, 1e-10);
  assert_near(left.lasting[0], b.m * b.g * (middle - start), 1e-10);
  saltus_scheme_destroy(scheme);
}

static void every_step_says_what_limited_it(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.h_max = 0.01;
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "adaptive-dopri5",
                              .options = &options,
                              .q0 = &height,
                              .v0 = &at_rest};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
  const saltus_tally* tally = saltus_sim_tally(sim);
  long long sum = 0;
  for (int i = 0; i < SALTUS_LIMITS; i++) {
    sum += tally->limits[i];
  }
  assert_int_equal(tally->steps, saltus_sim_steps_done(sim));
  assert_int_equal(sum, tally->steps);
  assert_true(tally->h_most <= 0.01 * (1.0 + 1e-12) && tally->h_least > 0.0);
  /* a parabola has no error: the longest step, impacts and the end are all there is */
  assert_true(tally->limits[SALTUS_LIMIT_LONGEST] > 100);
  /* after impact n the rest of the bounces lasts 1.806 s 2^-n: in one step from n = 8 on */
  assert_true(tally->limits[SALTUS_LIMIT_EVENT] >= 9);
  assert_int_equal(tally->limits[SALTUS_LIMIT_END], 1);
  assert_int_equal(tally->limits[SALTUS_LIMIT_NONE], 0);
  assert_string_equal(tally->methods[0], "dopri5");
  assert_int_equal(tally->method_steps[0], tally->steps);
  assert_null(tally->methods[1]);
  saltus_sim_destroy(sim);
}

/* Frames of the rod: the mean of the joint force over their interval. */
typedef struct pull {
  double last_t, last_force_error;
  int frames;
} pull;

static double rod_force(const double* q, const double* v);

static saltus_status on_pull(void* user, const saltus_frame* frame) {
  pull* p = user;
  if (p->frames++ > 0) {
    double mid = rod_force(frame->q, frame->v);
    p->last_force_error = fmax(p->last_force_error, fabs(fabs(frame->joint_forces[0]) - mid));
  }
  p->last_t = frame->t;
  return SALTUS_OK;
}

/* |lambda| of |q|^2 = 1 written as g = (|q|^2 - 1) / 2 or |q| - 1: the pull of the rod of length 1 is
 * |v|^2 - g y / l per mass, the same number for both. */
static double rod_force(const double* q, const double* v) {
  return fabs(v[0] * v[0] + v[1] * v[1] - 9.81 * q[1]);
}

static void joint_forces_inside_long_steps_are_functions_of_time(void** state) {
  (void)state;
  saltus_system sys = rod_system();
  const double q0[] = {0.8, -0.6};
  const double v0[] = {0.0, 0.0};
  pull p = {0};
  const saltus_recorder recorder = {.frame = on_pull, .user = &p};
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "adaptive",
                              .q0 = q0,
                              .v0 = v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_dt = 1e-3};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
  assert_int_equal(p.frames, 2001);
  assert_true(saltus_sim_steps_done(sim) < 200); /* ten frames and more in a step */
  /* the mean over 1 ms differs from the value at its end by half its change, |dF/dt| < 60 N/s */
  assert_near(p.last_force_error, 0.0, 0.03);
  saltus_sim_destroy(sim);
}

/* Frames around jumps. */
typedef struct sides {
  double t[400], v[400], impulse[400];
  int count;
} sides;

static saltus_status on_side(void* user, const saltus_frame* frame) {
  sides* s = user;
  if (s->count < 400) {
    s->t[s->count] = frame->t;
    s->v[s->count] = frame->v[0];
    s->impulse[s->count++] = frame->contacts[0].impulse[0];
  }
  return SALTUS_OK;
}

static void frames_stand_on_both_sides_of_every_impact(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  sides s = {.count = 0};
  const saltus_recorder recorder = {.frame = on_side, .user = &s};
  saltus_kept_message message;
  saltus_sim_def def = {.system = &sys,
                        .scheme = "adaptive",
                        .q0 = &height,
                        .v0 = &at_rest,
                        .recorders = &recorder,
                        .recorder_count = 1,
                        .record_dt = 0.1,
                        .record_jumps = true,
                        .log = saltus_log_keep(&message)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
  saltus_sim_destroy(sim);
  double speed = sqrt(2.0 * b.g);
  int pairs = 0;
  for (int i = 1; i < s.count; i++) {
    assert_true(s.t[i] >= s.t[i - 1]);
    if (s.t[i] == s.t[i - 1] && pairs < 8) {
      assert_near(s.v[i - 1], -speed, 1e-11);
      assert_near(s.v[i], 0.5 * speed, 1e-11);
      assert_near(s.impulse[i - 1], 0.0, 0.0);
      assert_near(s.impulse[i], 1.5 * b.m * speed, 1e-11);
      speed *= 0.5;
      pairs++;
    }
  }
  assert_int_equal(pairs, 8);
  def.scheme = "moreau-jean";
  def.h = 0.01;
  def.record_dt = 0.0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_UNSUPPORTED);
  assert_says(message, "has no dense output");
}

/* Frames of a changing set: velocities and times of the last one. */
typedef struct course {
  double t, v[9], largest; /* m/s or rad/s, jump between two times, less 1e4 per second of them */
  int frames;
} course;

static saltus_status on_course(void* user, const saltus_frame* frame) {
  course* c = user;
  for (int i = 0; i < 9; i++) {
    if (c->frames > 0 && frame->t > c->t) {
      const double most = 1e4 * (frame->t - c->t); /* accelerations are below 1e3 */
      c->largest = fmax(c->largest, fabs(frame->v[i] - c->v[i]) - most);
    }
    c->v[i] = frame->v[i];
  }
  c->t = frame->t;
  c->frames++;
  return SALTUS_OK;
}

/* Two corners of a polygon bounce in turn, down to steps of 1e-15 s. Where impacts have frames on both sides, velocities do not jump
 * between frames of two times. */
static void frames_after_an_impact_have_its_velocities(void** state) {
  (void)state;
  saltus_kept_message message;
  const saltus_scene_def file = {.path = SALTUS_FAILING "/impacts-in-turn.yaml",
                                 .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  if (saltus_scene_create(&file, &scene) != SALTUS_OK) {
    fail_msg("%s", message.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-8;
  course c = {.frames = 0};
  const saltus_recorder recorder = {.frame = on_course, .user = &c};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "adaptive",
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_jumps = true,
                              .record_middles = true,
                              .log = saltus_log_keep(&message)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, view->until), SALTUS_OK);
  assert_true(c.frames > 400);
  assert_near(c.largest, 0.0, 1e-8);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_of_a_step_come_with_its_impacts),
      cmocka_unit_test(every_step_says_what_limited_it),
      cmocka_unit_test(joint_forces_inside_long_steps_are_functions_of_time),
      cmocka_unit_test(frames_stand_on_both_sides_of_every_impact),
      cmocka_unit_test(frames_after_an_impact_have_its_velocities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
