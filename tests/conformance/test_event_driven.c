/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event-driven: events located to the tolerance, exact impacts, and what it says at accumulations.
 */
#include "saltus_test.h"

#include "saltus/known_motion.h"
#include "saltus/runge_kutta.h"
#include "systems.h"

#include <stdio.h>
#include <stdlib.h>

static saltus_scheme* make(const saltus_event_driven_options* o, const saltus_system* sys,
                           saltus_kept_message* kept) {
  saltus_scheme* scheme;
  const saltus_scheme_def def = {
      .scheme = "event-driven", .options = o, .system = sys, .log = saltus_log_keep(kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* Five impacts of a ball, with steps that differ by a factor of hundred: an event is off by at most
 * the tolerance, so a position by the tolerance times the change of velocity, 1.5 u at each impact. */
static void the_tolerance_decides_and_not_the_step(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  static const double tolerances[] = {1e-6, 1e-9, 1e-12};
  static const int steps[] = {13, 130, 1300};
  for (int k = 0; k < 9; k++) {
    saltus_event_driven_options o = saltus_event_driven_options_default();
    o.tolerance = tolerances[k / 3];
    saltus_kept_message kept = {0};
    saltus_scheme* scheme = make(&o, &sys, &kept);
    double q = 1.0;
    double v = 0.0;
    saltus_state x = {0.0, &q, &v};
    int impacts = 0;
    double worst = 0.0;
    for (int i = 0; i < steps[k % 3]; i++) {
      saltus_step_report report;
      double h = 1.3 / steps[k % 3];
      x.t = i * h;
      assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
      for (int n = 0; n < report.event_count; n++) {
        const saltus_event* e = &report.events[n];
        impacts++;
        assert_int_equal(e->kind, SALTUS_EVENT_IMPACT);
        assert_near(e->t, sqrt(2.0 / 9.81) * (3.0 - pow(2.0, 2 - impacts)), 4.0 * o.tolerance);
        assert_near(e->u_after, -0.5 * e->u_before, 1e-15);
        /* the energy of an impact at an instant is exact: (1 - e^2) u^2 / 2 */
        assert_near(e->energy_change, -0.375 * e->u_before * e->u_before, 1e-14);
      }
      worst = fmax(worst, fabs(q - ball_height(&b, 1.0, (i + 1) * h)));
    }
    assert_int_equal(impacts, 5);
    assert_true(worst <= 1.5 * 4.43 * 2.0 * o.tolerance + 1e-14);
    assert_true(worst >= 0.01 * o.tolerance); /* and it is not for nothing */
    saltus_scheme_destroy(scheme);
  }
}

/* The number after `label` in a message. */
static double number_after(const char* text, const char* label) {
  const char* at = strstr(text, label);
  assert_non_null(at);
  return strtod(at + strlen(label), NULL);
}

/* Impacts of a ball accumulate at sqrt(2/g) (1 + e)/(1 - e): the scheme stops there, names contact and
 * time, and the state is that before the step. */
static void an_accumulation_stops_it_with_its_time(void** state) {
  (void)state;
  static const double restitution[] = {0.5, 0.8, 0.9, 0.99};
  for (int k = 0; k < 4; k++) {
    ball b = ball_usual();
    b.law.e_N = restitution[k];
    saltus_system sys = ball_system(&b);
    saltus_event_driven_options o = saltus_event_driven_options_default();
    saltus_kept_message kept = {0};
    saltus_scheme* scheme = make(&o, &sys, &kept);
    double q = 1.0;
    double v = 0.0;
    double before[2] = {q, v};
    saltus_state x = {0.0, &q, &v};
    double end = sqrt(2.0 / 9.81) * (1.0 + restitution[k]) / (1.0 - restitution[k]);
    saltus_status status = SALTUS_OK;
    int steps = 0;
    for (; status == SALTUS_OK && x.t < 2.0 * end; steps++) {
      before[0] = q;
      before[1] = v;
      status = saltus_scheme_step(scheme, 0.05, &x, NULL);
    }
    assert_int_equal(status, SALTUS_ERR_ACCUMULATION);
    assert_says(kept, "impacts of contact 0 \"floor\" accumulate");
    assert_says(kept, "at_accumulation=capture");
    double reported = number_after(kept.text, "they end at t = ");
    double uncertain = number_after(kept.text, "uncertain by ");
    assert_near(reported, end, 1e-6);
    assert_near(reported, end, uncertain);
    assert_true(x.t <= end && x.t > end - 0.06 && q == before[0] && v == before[1]);
    saltus_scheme_destroy(scheme);
  }
}

/* Without restitution there is nothing to accumulate: a plastic impact closes at once. */
static void a_plastic_impact_does_not_stop_it(void** state) {
  (void)state;
  ball b = ball_usual();
  b.law.e_N = 0.0;
  saltus_system sys = ball_system(&b);
  saltus_event_driven_options o = saltus_event_driven_options_default();
  saltus_kept_message kept = {0};
  saltus_scheme* scheme = make(&o, &sys, &kept);
  double q = 1.0;
  double v = 0.0;
  saltus_state x = {0.0, &q, &v};
  for (int i = 0; i < 100; i++) {
    assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, NULL), SALTUS_OK);
  }
  assert_near(q, 0.0, 1e-15);
  assert_near(v, 0.0, 1e-15);
  saltus_scheme_destroy(scheme);
}

typedef struct reported {
  int count[SALTUS_EVENT_KINDS];
  double opening, accumulation, uncertainty;
  double lost; /* J, by impacts */
  double energy[2];
  int frames;
} reported;

static saltus_status on_event(void* user, const saltus_event* event) {
  reported* t = user;
  t->count[event->kind]++;
  t->lost -= event->energy_change;
  t->opening = event->kind == SALTUS_EVENT_OPEN ? event->t : t->opening;
  if (event->kind == SALTUS_EVENT_ACCUMULATION) {
    t->accumulation = event->t;
    t->uncertainty = event->t_accuracy;
  }
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  reported* t = user;
  t->energy[t->frames++ > 0] = frame->kinetic + frame->potential;
  return SALTUS_OK;
}

/* The double pendulum at a wall with capture: the reference to 1e-12 by two methods that have nothing
 * in common, the 27 events, and an energy ledger that closes: smooth motion keeps the energy to the
 * error of the method, and impacts take what their events say. */
static void the_double_pendulum_is_reached(void** state) {
  (void)state;
  static const int methods[] = {0, 7}; /* dopri5 and gauss-6 */
  static const int steps[] = {1920, 960};
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("pendulum-wall", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  for (int k = 0; k < 2; k++) {
    saltus_event_driven_options o = saltus_event_driven_options_default();
    o.method = methods[k];
    o.tolerance = 1e-14;
    o.at_accumulation = SALTUS_AT_ACCUMULATION_CAPTURE;
    reported t = {.frames = 0};
    const saltus_recorder recorder = {.event = on_event, .frame = on_frame, .user = &t};
    const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                                .scheme = "event-driven",
                                .options = &o,
                                .h = 3.0 / steps[k],
                                .q0 = saltus_known_motion_q0(problem),
                                .v0 = saltus_known_motion_v0(problem),
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    for (int i = 1; i <= 60; i++) {
      double q[2], v[2];
      assert_int_equal(saltus_sim_run(sim, i * steps[k] / 60), SALTUS_OK);
      assert_true(saltus_known_motion_exact(problem, 0.05 * i, q, v));
      assert_near(saltus_sim_q(sim)[0], q[0], 1e-12);
      assert_near(saltus_sim_q(sim)[1], q[1], 1e-12);
    }
    assert_int_equal(t.count[SALTUS_EVENT_IMPACT] + t.count[SALTUS_EVENT_CLOSE] +
                         t.count[SALTUS_EVENT_OPEN],
                     27);
    assert_near(t.opening, 2.4498684025, 1e-9);
    assert_near(t.accumulation, 2.36007963782, 1e-8);
    assert_near(t.accumulation, 2.36007963782, t.uncertainty);
    assert_near(t.energy[1] - t.energy[0] + t.lost, 0.0, 1e-11);
    saltus_sim_destroy(sim);
  }
  saltus_known_motion_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_tolerance_decides_and_not_the_step),
      cmocka_unit_test(an_accumulation_stops_it_with_its_time),
      cmocka_unit_test(a_plastic_impact_does_not_stop_it),
      cmocka_unit_test(the_double_pendulum_is_reached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
