/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Tolerance-driven integration against exact and reference solutions (docs/theory/adaptive.md, 5 to
 * 7; docs/theory/problems.md, 9).
 */
#include "saltus_test.h"

#include "tolerance_run.h"

#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* A run that is open; the model belongs to it. */
typedef struct fixture {
  tolerance_model model;
  tolerance_run run;
} fixture;

static void prepare(fixture* f, const tolerance_case* what, double tol,
                    saltusi_adaptive_method method) {
  saltus_kept_message kept = {0};
  assert_non_null(what);
  if (tolerance_open(what, saltus_log_keep(&kept), &f->model) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  f->run = tolerance_of(what, &f->model, tol, method);
}

static void go(fixture* f) {
  saltus_kept_message kept = {0};
  f->run.log = saltus_log_keep(&kept);
  saltus_status status = tolerance_go(&f->run);
  if (status != SALTUS_OK) {
    fail_msg("%s at t = %.17g: %s", saltus_status_text(status), f->run.t, kept.text);
  }
}

static fixture run_case(const tolerance_case* what, double tol, saltusi_adaptive_method method) {
  fixture f = {0};
  prepare(&f, what, tol, method);
  go(&f);
  return f;
}

static fixture run_named(const char* name, double tol) {
  return run_case(tolerance_case_find(name), tol, SALTUSI_DOP853);
}

static void finish(fixture* f) {
  tolerance_free(&f->run);
  tolerance_close(&f->model);
}

static double time_of(const fixture* f, saltus_event_kind kind, int i) {
  const saltus_event* event = tolerance_event(&f->run, kind, i);
  if (event == NULL) {
    fail_msg("there is no %s number %d", saltus_event_kind_name(kind), i);
    return 0.0;
  }
  return event->t;
}

/* Within the last digit that is printed. */
static void check_times(const fixture* f, saltus_event_kind kind, int count, const double* times,
                        double accuracy) {
  for (int i = 0; i < count; i++) {
    assert_near(time_of(f, kind, i), times[i], accuracy);
  }
}

/* ---- accumulations (section 5.2) ------------------------------------------------------------- */

/* A drop from 1 m: t_inf = sqrt(2 / g) (1 + e) / (1 - e). Errors grow with the number of bounces, each
 * with some roundings of t; fifty times those for the slow one. Evaluations within a fifth. */
static void a_dropped_ball_comes_to_rest_in_time(void** state) {
  (void)state;
  static const struct {
    const char* e;
    double t_inf, t_end, error[2];
    int events[2], rates[2];
  } rows[] = {
      {"0.5", 1.354570922957, 3.0, {1e-15, 1e-14}, {1, 33}, {59, 592}},
      {"0.8", 4.063712768872, 5.0, {1e-14, 4e-14}, {2, 100}, {77, 1731}},
      {"0.9", 8.578949178729, 10.0, {2e-14, 2e-13}, {2, 211}, {77, 3618}},
      {"0.99", 89.853204556160, 95.0, {2e-11, 2e-11}, {190, 2211}, {3461, 37618}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double e = strtod(rows[i].e, NULL);
    double exact = sqrt(2.0 / 9.81) * (1.0 + e) / (1.0 - e);
    assert_near(exact, rows[i].t_inf, 1e-12);
    for (int without = 0; without < 2; without++) {
      const tolerance_case what = {.scene = "drop",
                                   .overrides = {{"e", rows[i].e}, {"m", "1"}},
                                   .override_count = 2,
                                   .t_end = rows[i].t_end};
      fixture f = {0};
      prepare(&f, &what, 1e-8, SALTUSI_DOPRI5);
      f.run.settings.without_jump = without == 1;
      go(&f);
      assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), exact, rows[i].error[without]);
      assert_near((double)f.run.counts.events, rows[i].events[without],
                  1.0 + 0.05 * rows[i].events[without]);
      assert_near((double)f.run.counts.rates, rows[i].rates[without],
                  18.0 + 0.2 * rows[i].rates[without]);
      finish(&f);
    }
  }
}

static void accumulations_are_found_to_the_tolerance(void** state) {
  (void)state;
  static const double over_tol[4] = {0.37, 0.65, 0.73, 1.5}; /* at 1e-3, 1e-6, 1e-9, 1e-12 */
  for (int k = 0; k < 4; k++) {
    double tol = pow(10.0, -3.0 * (k + 1));
    fixture f = run_case(tolerance_case_find("E2b"), tol, SALTUSI_DOPRI5);
    assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), 0.85919509378141049067,
                2.0 * over_tol[k] * tol);
    finish(&f);
  }
  for (int k = 3; k <= 12; k++) {
    fixture f = run_case(tolerance_case_find("E1"), pow(10.0, -k), SALTUSI_DOPRI5);
    assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), 3.0, 1e-14);
    finish(&f);
  }
}

static void an_accumulation_is_the_same_with_and_without_the_jump(void** state) {
  (void)state;
  double t[2];
  for (int without = 0; without < 2; without++) {
    fixture f = {0};
    prepare(&f, tolerance_case_find("E3"), 1e-12, SALTUSI_DOPRI5);
    f.run.settings.without_jump = without == 1;
    go(&f);
    t[without] = time_of(&f, SALTUS_EVENT_ACCUMULATION, 0);
    assert_near(t[without], 2.36007963782, 1.5e-11);
    finish(&f);
  }
  assert_near(t[0], t[1], 1e-12);
}

static void a_column_collapses_from_below(void** state) {
  (void)state;
  static const double t[3] = {1.985091467, 2.148364813, 2.247312859};
  fixture f = run_named("column", 1e-11);
  double found[3];
  for (int i = 0; i < 3; i++) {
    found[i] = time_of(&f, SALTUS_EVENT_ACCUMULATION, i);
  }
  for (int i = 0; i < 3; i++) {
    assert_near(found[i], t[i], 1e-9);
  }
  finish(&f);
}

static const char sliding_drop[] =
    "saltus: 1\n"
    "coordinates: {x: {velocity: 3}, y: {start: 1}}\n"
    "kinetic: (x'^2 + y'^2)/2\n"
    "potential: 9.81*y\n"
    "contacts: [{gap: y, slip: x, friction: 0.2, restitution: 0.5}]\n";

/* The impulse of all bounces is that of gravity, so the friction is as well. */
static void a_sliding_ball_is_braked_through_its_bounces(void** state) {
  (void)state;
  const tolerance_case what = {.text = sliding_drop, .t_end = 2.0};
  for (int k = 3; k <= 12; k++) {
    fixture f = run_case(&what, pow(10.0, -k), SALTUSI_DOPRI5);
    assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), 1.354570922957, 1e-12);
    assert_near(time_of(&f, SALTUS_EVENT_STICK, 0), 1.529051987768, 1e-12);
    assert_near(f.run.q[0], 2.493577981651, 1e-12);
    finish(&f);
  }
}

/* ---- friction (section 10) ----------------------------------------------------------------- */

static void the_block_sticks_and_slips_where_it_does(void** state) {
  (void)state;
  static const double stick[4] = {0.338608184671980617, 3.53283460888699945, 6.67442726247679269,
                                  9.81601991606658593};
  static const double slip[3] = {2.94634679122386296, 6.08793944481365620, 9.22953209840344943};
  fixture f = run_case(tolerance_case_find("block 8"), 1e-12, SALTUSI_DOPRI5);
  check_times(&f, SALTUS_EVENT_STICK, 4, stick, 1e-10);
  /* a force event costs the square of its error: it is found to 1e-8 of a step only */
  check_times(&f, SALTUS_EVENT_SLIP, 3, slip, 1e-9);
  assert_near(f.run.q[0], 2.99130283311503152, 1e-12);
  finish(&f);
  fixture g = run_case(tolerance_case_find("block 20"), 1e-12, SALTUSI_DOPRI5);
  const double reversal = 2.14278213537747;
  check_times(&g, SALTUS_EVENT_REVERSAL, 1, &reversal, 1e-11);
  assert_near(g.run.q[0], 0.358650744762581, 2e-12);
  assert_near(g.run.v[0], -17.3771583030433, 2e-11);
  finish(&g);
}

static void the_oscillator_stops_after_four_half_swings(void** state) {
  (void)state;
  fixture f = run_named("Coulomb oscillator", 1e-12);
  for (int n = 0; n < 3; n++) {
    assert_near(time_of(&f, SALTUS_EVENT_REVERSAL, n), (n + 1) * PI / 10.0, 1e-11);
  }
  assert_near(time_of(&f, SALTUS_EVENT_STICK, 0), 4.0 * PI / 10.0, 1e-11);
  assert_near(f.run.q[0], -0.02, 1e-11);
  finish(&f);
}

static void the_belt_carries_and_lets_go(void** state) {
  (void)state;
  static const double q0[2] = {2.0, 0.0};
  static const double v1[2] = {1.0, 0.0};
  const tolerance_case what = {
      .scene = "belt", .overrides = {{"swing", "0"}}, .override_count = 1, .q0 = q0, .t_end = 5.0};
  fixture f = run_case(&what, 1e-12, SALTUSI_DOP853);
  double t1 = (PI + asin(0.4)) / 2.0;
  double q[2];
  double v[2];
  assert_near(t1, 1.776554749828640, 1e-15);
  assert_near(time_of(&f, SALTUS_EVENT_STICK, 0), t1, 1e-11);
  tolerance_at(&f.run, t1, q, v);
  assert_near(q[0], -0.395643923738960, 1e-11);
  assert_near(time_of(&f, SALTUS_EVENT_SLIP, 0), 2.922198673567601, 1e-9);
  assert_near(f.run.q[0], 0.325521104274743, 1e-11);
  finish(&f);
  /* from rest on the belt: the slip grows from zero and comes back to it, touching only */
  const tolerance_case still = {
      .scene = "belt", .overrides = {{"swing", "0"}}, .override_count = 1, .t_end = 3.5};
  fixture g = {0};
  prepare(&g, &still, 1e-10, SALTUSI_DOP853);
  g.run.v0 = v1;
  go(&g);
  assert_near(time_of(&g, SALTUS_EVENT_SLIP, 0), 0.75, 1e-7);
  tolerance_at(&g.run, 3.0, q, v);
  assert_near(q[0], 0.75 + 0.5 * sin(2.0 * 2.25), 1e-9);
  finish(&g);
}

static void the_rocking_block_comes_to_rest(void** state) {
  (void)state;
  static const double t[3] = {0.300875821975, 0.421222145403, 0.451675936784};
  static const double u[3] = {-0.391929010545, -0.190352966052, -0.0835361937351};
  fixture f = run_named("rocking block", 1e-12);
  assert_near(time_of(&f, SALTUS_EVENT_SLIP, 0), 0.0894808758, 1e-8);
  for (int i = 0, k = 0; i < 3; i++, k++) {
    const saltus_event* event = tolerance_event(&f.run, SALTUS_EVENT_IMPACT, k);
    while (event != NULL && event->u_before > -1e-6) { /* the corner that is hit from below */
      event = tolerance_event(&f.run, SALTUS_EVENT_IMPACT, ++k);
    }
    assert_non_null(event);
    assert_near(event->t, t[i], 1e-10);
    assert_near(event->u_before, u[i], 1e-10);
  }
  assert_near(f.run.q[0], 0.0860547005914, 1e-10);
  assert_near(f.run.q[2], 0.0, 1e-12);
  finish(&f);
}

static const char many_feet[] =
    "saltus: 1\n"
    "parameters: {third: 0.05, drop: 0, push: 8, e: 0}\n"
    "coordinates: {x: {start: 3}, y: {start: 0.3 + drop}, phi: {}}\n"
    "kinetic: (x'^2 + y'^2 + 0.1*phi'^2)/2\n"
    "potential: 9.81*y\n"
    "forces: {x: push*cos(t), phi: 0.3*push*cos(t)}\n"
    "contacts:\n"
    "  - {gap: y - 0.1*sin(phi) - 0.3*cos(phi), slip: x - 0.1*cos(phi) + 0.3*sin(phi),"
    " friction: 0.8, restitution: e}\n"
    "  - {gap: y + 0.1*sin(phi) - 0.3*cos(phi), slip: x + 0.1*cos(phi) + 0.3*sin(phi),"
    " friction: 0.8, restitution: e}\n";
static const char third_foot[] =
    "  - {gap: y + third*sin(phi) - 0.3*cos(phi), slip: x + third*cos(phi) + 0.3*sin(phi),"
    " friction: 0.8, restitution: e}\n";

/* Pushed at the height of its feet a block on two or three of them moves as one on a point. */
static void a_block_on_many_feet_moves_like_one_on_a_point(void** state) {
  (void)state;
  for (int feet = 2; feet <= 3; feet++) {
    char text[1600];
    snprintf(text, sizeof text, "%s%s", many_feet, feet == 3 ? third_foot : "");
    const tolerance_case what = {.text = text, .t_end = 10.0};
    for (int k = 4; k <= 10; k += 2) {
      double tol = pow(10.0, -k);
      fixture f = run_case(&what, tol, SALTUSI_DOPRI5);
      assert_near(f.run.q[0], 2.99130283311503152, tol);
      assert_near(f.run.q[2], 0.0, tol);
      finish(&f);
    }
  }
}

/* A third foot between two takes part of the force and none of the motion. */
static void a_drop_on_three_points_is_one_on_two(void** state) {
  (void)state;
  double q[2][3];
  for (int feet = 2; feet <= 3; feet++) {
    char text[1600];
    snprintf(text, sizeof text, "%s%s", many_feet, feet == 3 ? third_foot : "");
    const tolerance_case what = {.text = text,
                                 .overrides = {{"drop", "0.2"}, {"push", "0"}, {"e", "0.4"}},
                                 .override_count = 3,
                                 .t_end = 2.0};
    fixture f = run_case(&what, 1e-10, SALTUSI_DOPRI5);
    memcpy(q[feet - 2], f.run.q, sizeof q[0]);
    assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), sqrt(0.4 / 9.81) * 1.4 / 0.6, 1e-9);
    finish(&f);
  }
  for (int i = 0; i < 3; i++) {
    assert_near(q[1][i], q[0][i], 1e-10);
  }
}

/* ---- everything at once (section 10) ------------------------------------------------------- */

static void the_woodpecker_is_where_it_should_be(void** state) {
  (void)state;
  static const double q[3] = {-0.04132741608343, -0.103448275862069, -0.3423738551078};
  static const double v[3] = {-0.2591849226047, 0.0, -8.342824143713};
  static const struct {
    saltus_event_kind kind;
    int contact; /* beak, sleeve low, sleeve high */
    double t, accuracy;
  } first[] = {
      {SALTUS_EVENT_STICK, 1, 0.021636314053, 1e-11},
      {SALTUS_EVENT_SLIP, 1, 0.061213931, 3e-9},
      {SALTUS_EVENT_OPEN, 1, 0.067023398, 3e-9},
      {SALTUS_EVENT_IMPACT, 2, 0.077877992290, 1e-11},
      {SALTUS_EVENT_IMPACT, 0, 0.080988805419, 1e-11},
      {SALTUS_EVENT_IMPACT, 2, 0.081575328790, 1e-11},
      {SALTUS_EVENT_OPEN, 2, 0.083416385, 3e-9},
      {SALTUS_EVENT_IMPACT, 1, 0.118675112949, 1e-11},
      {SALTUS_EVENT_IMPACT, 1, 0.121335470558, 1e-11},
  };
  fixture f = run_named("woodpecker", 1e-12);
  for (int i = 0; i < 3; i++) {
    assert_near(f.run.q[i], q[i], 1e-10);
    assert_near(f.run.v[i], v[i], 1e-10);
  }
  int k = 0;
  for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
    while (k < f.run.event_count &&
           (f.run.events[k].kind != first[i].kind || f.run.events[k].contact != first[i].contact)) {
      k++;
    }
    assert_true(k < f.run.event_count);
    assert_near(f.run.events[k].t, first[i].t, first[i].accuracy);
    k++;
  }
  finish(&f);
}

/* Cycles from beak to beak. The deviation changes sign and shrinks by 0.8392 in each: the methods give
 * 0.841, which the first, longer and shorter, cycles have in the mean. */
static void the_woodpecker_finds_its_cycle(void** state) {
  (void)state;
  tolerance_case what = *tolerance_case_find("woodpecker");
  what.t_end = 24.0;
  fixture f = {0};
  prepare(&f, &what, 1e-12, SALTUSI_DOP853);
  go(&f);
  double t[400];
  double y[400];
  int n = 0;
  for (int k = 0; k < f.run.event_count && n < 400; k++) {
    if (f.run.events[k].kind == SALTUS_EVENT_IMPACT && f.run.events[k].contact == 0) {
      double q[3];
      double v[3];
      t[n] = f.run.events[k].t;
      tolerance_at(&f.run, t[n], q, v);
      y[n++] = q[0];
    }
  }
  assert_true(n > 160);
  assert_near(t[n - 1] - t[n - 2], 0.1459760651438, 1.5e-10 * 0.146);
  assert_near(1e3 * (y[n - 2] - y[n - 1]), 19.44537928472, 1.5e-10 * 19.4);
  double d[3];
  for (int i = 0; i < 3; i++) { /* the deviation is small, and still far above the tolerance */
    d[i] = t[46 + i] - t[45 + i] - 0.1459760651438;
  }
  assert_near(d[1] / d[0], -0.83916, 5e-5);
  assert_near(d[2] / d[1], -0.83916, 5e-5);
  finish(&f);
}

static void joints_friction_impacts_and_accumulations_together(void** state) {
  (void)state;
  static const double impact[6] = {0.5146940405, 0.5870719394, 1.2795670688,
                                   1.5857224692, 2.1446397485, 2.4475685674};
  static const double u[4] = {-3.21153824, -6.08466826, -1.36286161, -1.42177419};
  static const double q[4] = {-0.0152140023277, -0.9998842603688, -0.2225067171541,
                              -1.9781632238449};
  static const double v[4] = {-0.14915554684, 0.00226951551, 0.11995373358, -0.05475347630};
  fixture f = run_named("all features", 1e-12);
  for (int i = 0; i < 6; i++) {
    const saltus_event* event = tolerance_event(&f.run, SALTUS_EVENT_IMPACT, i);
    assert_non_null(event);
    assert_int_equal(event->contact, i % 2);
    assert_near(event->t, impact[i], 1e-10);
    if (i < 4) {
      assert_near(event->u_before, u[i], 1e-8);
    }
  }
  assert_near(time_of(&f, SALTUS_EVENT_ACCUMULATION, 0), 2.943348593, 1e-9);
  for (int i = 0; i < 4; i++) {
    assert_near(f.run.q[i], q[i], 1e-11);
    assert_near(f.run.v[i], v[i], 1e-10);
  }
  finish(&f);
}

/* With the walls at x = 0 the rods block the tangents in the end (docs/theory/adaptive.md, 4.3). */
static void blocked_tangents_come_to_rest(void** state) {
  (void)state;
  const tolerance_case what = {.scene = "double-pendulum-rough",
                               .overrides = {{"wall", "0"}},
                               .override_count = 1,
                               .t_end = 4.0};
  for (int k = 3; k <= 11; k += 2) {
    double tol = pow(10.0, -k);
    fixture f = run_case(&what, tol, SALTUSI_DOPRI5);
    static const double rest[4] = {0.0, -1.0, 0.0, -2.0};
    for (int i = 0; i < 4; i++) {
      assert_near(f.run.q[i], rest[i], 10.0 * tol);
    }
    finish(&f);
  }
}

static void other_ends_are_those_of_the_references(void** state) {
  (void)state;
  static const double v[4] = {-0.01217470744, -0.000267446865, 0.064176878571, -0.000129451144};
  static const double q[4] = {0.02196211769492, -0.99975880360533, 0.02376948677391,
                              -1.99975717031250};
  fixture f = run_named("joint pendulum", 1e-12);
  for (int i = 0; i < 4; i++) {
    assert_near(f.run.q[i], q[i], 1e-11);
    assert_near(f.run.v[i], v[i], 1e-10);
  }
  finish(&f);
  fixture g = run_named("E4", 1e-12);
  assert_near(g.run.q[0], 0.46069592053101, 1e-11);
  assert_near(g.run.v[0], 0.74944238523, 2e-11);
  finish(&g);
}

/* The reference of the tables against solutions in closed form. */
static void the_reference_is_exact_where_that_is_known(void** state) {
  (void)state;
  static const char* const names[] = {"E1", "E2", "E2 damped", "E2b", "E4"};
  for (int i = 0; i < 5; i++) {
    const tolerance_case* what = tolerance_case_find(names[i]);
    fixture f = run_case(what, 1e-13, SALTUSI_DOP853);
    for (int k = 0; k <= 500; k++) {
      double t = what->t_end * k / 500.0;
      double q;
      double v;
      double exact;
      double exact_v;
      tolerance_at(&f.run, t, &q, &v);
      if (saltus_known_motion_exact(f.model.problem, t, &exact, &exact_v)) {
        assert_near(q, exact, 4e-13); /* 2e-13 are printed */
      }
    }
    finish(&f);
  }
}

/* ---- impacts and Painleve (sections 6 and 7) ----------------------------------------------- */

/* v just after the start. */
static void after_the_impact(const tolerance_case* what, double* v) {
  fixture f = run_case(what, 1e-8, SALTUSI_DOPRI5);
  memcpy(v, f.run.v, 3 * sizeof(double));
  finish(&f);
}

static void poisson_impacts_have_their_numbers(void** state) {
  (void)state;
  static const struct {
    const char *mu, *e1, *e2, *phi, *vx, *w;
    double v[3];
  } rows[] = {
      {"0", "0.5", "0.5", "0", "0", "0", {0.0, 0.5, 0.0}},
      {"0", "0.5", "0", "0", "0", "0", {0.0, 0.375, -0.375}},
      {"0.3", "0.5", "0.5", "0", "2", "0", {1.55, 0.5, 0.0}},
      {"0.3", "0.5", "0.2", "0", "2", "0.5", {1.56875, 0.4375, -0.4375}},
      {"0", "0.5", "0.5", "pi/6", "1", "0", {1.0, -0.53846154, -1.1991121}},
      {"0.3", "0.5", "0.5", "pi/6", "1", "0", {0.87636382, -0.58787942, -1.25617495}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[1500];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates:\n  x: {velocity: %s}\n  y: {start: abs(sin(%s)), velocity: -1}\n"
             "  phi: {start: %s, velocity: %s}\n"
             "kinetic: (x'^2 + y'^2 + phi'^2/3)/2\n"
             "contacts:\n"
             "  - {gap: y - sin(phi), slip: x' + sin(phi)*phi', friction: %s, restitution: %s,"
             " impact: poisson}\n"
             "  - {gap: y + sin(phi), slip: x' - sin(phi)*phi', friction: %s, restitution: %s,"
             " impact: poisson}\n",
             rows[i].vx, rows[i].phi, rows[i].phi, rows[i].w, rows[i].mu, rows[i].e1, rows[i].mu,
             rows[i].e2);
    const tolerance_case what = {.text = text, .t_end = 1e-12};
    double v[3];
    after_the_impact(&what, v);
    for (int k = 0; k < 3; k++) {
      assert_near(v[k], rows[i].v[k], 1e-8);
    }
  }
}

static void newton_and_poisson_differ_on_two_tips(void** state) {
  (void)state;
  const tolerance_case what = {.text = "saltus: 1\n"
                                       "coordinates: {x: {}, y: {velocity: -1}, phi: {}}\n"
                                       "kinetic: (x'^2 + y'^2 + phi'^2/3)/2\n"
                                       "contacts:\n"
                                       "  - {gap: y - sin(phi), restitution: 0.5}\n"
                                       "  - {gap: y + sin(phi), restitution: 0}\n",
                               .t_end = 1e-12};
  double v[3];
  after_the_impact(&what, v);
  assert_near(v[0], 0.0, 1e-12);
  assert_near(v[1], 0.25, 1e-12);
  assert_near(v[2], -0.25, 1e-12);
}

static void a_jammed_rod_is_stopped_by_an_impulse(void** state) {
  (void)state;
  const tolerance_case what = {.scene = "painleve-rod", .t_end = 1e-12};
  fixture f = run_case(&what, 1e-8, SALTUSI_DOPRI5);
  const saltus_event* impact = tolerance_event(&f.run, SALTUS_EVENT_PAINLEVE, 0);
  assert_non_null(impact);
  assert_near(impact->impulse[0], 0.3, 1e-9);
  static const double v[3] = {-0.6, 0.3, 0.67082039324993691};
  for (int i = 0; i < 3; i++) {
    assert_near(f.run.v[i], v[i], 1e-9);
  }
  assert_near(impact->slip_after[0], 0.0, 1e-9);
  finish(&f);
  const tolerance_case slides = {
      .scene = "painleve-rod", .overrides = {{"mu", "1"}}, .override_count = 1, .t_end = 0.03};
  fixture g = run_case(&slides, 1e-11, SALTUSI_DOPRI5);
  assert_int_equal(tolerance_count(&g.run, SALTUS_EVENT_PAINLEVE), 0);
  assert_near(time_of(&g, SALTUS_EVENT_STICK, 0), 0.018609245, 1e-9);
  finish(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dropped_ball_comes_to_rest_in_time),
      cmocka_unit_test(accumulations_are_found_to_the_tolerance),
      cmocka_unit_test(an_accumulation_is_the_same_with_and_without_the_jump),
      cmocka_unit_test(a_column_collapses_from_below),
      cmocka_unit_test(a_sliding_ball_is_braked_through_its_bounces),
      cmocka_unit_test(the_block_sticks_and_slips_where_it_does),
      cmocka_unit_test(the_oscillator_stops_after_four_half_swings),
      cmocka_unit_test(the_belt_carries_and_lets_go),
      cmocka_unit_test(the_rocking_block_comes_to_rest),
      cmocka_unit_test(a_block_on_many_feet_moves_like_one_on_a_point),
      cmocka_unit_test(a_drop_on_three_points_is_one_on_two),
      cmocka_unit_test(the_woodpecker_is_where_it_should_be),
      cmocka_unit_test(the_woodpecker_finds_its_cycle),
      cmocka_unit_test(joints_friction_impacts_and_accumulations_together),
      cmocka_unit_test(blocked_tangents_come_to_rest),
      cmocka_unit_test(other_ends_are_those_of_the_references),
      cmocka_unit_test(the_reference_is_exact_where_that_is_known),
      cmocka_unit_test(poisson_impacts_have_their_numbers),
      cmocka_unit_test(newton_and_poisson_differ_on_two_tips),
      cmocka_unit_test(a_jammed_rod_is_stopped_by_an_impulse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
