/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What schemes with fixed steps report of a run: that it goes on, how many impacts there were and what
 * they took, and that what should rest does.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* What a run reported. */
typedef struct tale {
  saltus_status status;
  double q[3], v[3];
  double lowest, highest; /* of the first velocity in the last tenth of the run */
  int impacts, closes, opens, gains;
  double lost;      /* J, by the events */
  double worst;     /* J, of a gain */
  double strongest; /* m/s, of an approach */
  saltus_energy ledger;
  saltus_kept_message kept; /* the last message */
} tale;

typedef struct listener {
  tale* reported;
  double late; /* s */
} listener;

static saltus_status on_event(void* user, const saltus_event* event) {
  tale* reported = ((listener*)user)->reported;
  reported->impacts += event->kind == SALTUS_EVENT_IMPACT;
  reported->closes += event->kind == SALTUS_EVENT_CLOSE;
  reported->opens += event->kind == SALTUS_EVENT_OPEN;
  reported->gains += event->kind == SALTUS_EVENT_ENERGY_GAIN;
  if (event->kind == SALTUS_EVENT_IMPACT) {
    reported->lost -= event->energy_change;
    reported->strongest = fmax(reported->strongest, -event->u_before);
    assert_true(event->impulse[0] > 0.0);
    assert_true(event->u_before < 0.0);
  }
  if (event->kind == SALTUS_EVENT_ENERGY_GAIN) {
    reported->worst = fmax(reported->worst, event->energy_change);
  }
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  const listener* l = user;
  if (frame->t >= l->late) {
    l->reported->lowest = fmin(l->reported->lowest, frame->v[0]);
    l->reported->highest = fmax(l->reported->highest, frame->v[0]);
  }
  return SALTUS_OK;
}

typedef struct request {
  const char *text, *scheme;
  const char* option; /* "name=value", or NULL */
  double until, h;
} request;

static tale report(request r) {
  tale reported = {.lowest = INFINITY, .highest = -INFINITY};
  listener l = {.reported = &reported, .late = 0.9 * r.until};
  saltus_kept_message kept = {0};
  const saltus_scene_def scene_def = {.text = r.text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_recorder recorder = {.event = on_event, .frame = on_frame, .user = &l};
  const saltus_scheme_info* info = saltus_scheme_find(r.scheme);
  void* options = calloc(1, info->options.size + 1);
  saltus_options_defaults(&info->options, options);
  if (r.option != NULL) {
    char name[64];
    snprintf(name, sizeof name, "%s", r.option);
    char* value = strchr(name, '=');
    *value++ = '\0';
    assert_int_equal(
        saltus_options_set(&info->options, options, r.scheme, name, value, saltus_log_keep(&kept)),
        SALTUS_OK);
  }
  const saltus_sim_def def = {.system = view->system,
                              .scheme = r.scheme,
                              .options = options,
                              .h = r.h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  reported.status = saltus_sim_run(sim, (long long)(r.until / r.h + 0.5));
  memcpy(reported.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(reported.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  reported.ledger = saltus_sim_energy_total(sim);
  reported.kept = kept;
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  free(options);
  return reported;
}

/* Where it turns back the pendulum has almost no velocity, and that of a step is the rounding of
 * positions divided by h. Position at 100 s from Jacobi's elliptic functions; errors of order 2,
 * 100^2 h^2 times 0.06. */
static void a_pendulum_that_turns_back_goes_on(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {x: {start: 1}, y: {start: 0}}\n"
                             "kinetic: (x'^2 + y'^2)/2\n"
                             "potential: 9.81*y\n"
                             "joints: [{name: rod, constraint: x^2 + y^2 - 1}]\n";
  static const char* const schemes[] = {"rattle", "variational"};
  for (int i = 0; i < 2; i++) {
    tale reported =
        report((request){.text = text, .scheme = schemes[i], .until = 100.0, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    assert_near(reported.q[0], 0.18151335142703138, 7e-4);
    assert_near(reported.q[1], -0.9833884803340575, 1.4e-4);
  }
}

/* A ball on a table that shakes at 10 Hz with 1.3 g, in a stable motion of period one: 100 impacts in
 * 10 s, whatever the scheme. */
static const char table[] = "saltus: 1\n"
                            "parameters: {g: 9.81, f: 10, w: 2*pi*f, A: 1.3*g/w^2, e: 0.5}\n"
                            "coordinates: {y: {start: 0.0065, velocity: -0.4}}\n"
                            "kinetic: y'^2/2\n"
                            "potential: g*y\n"
                            "contacts: [{name: table, gap: y - A*sin(w*t), restitution: e}]\n";

static void every_scheme_counts_a_hundred_impacts(void** state) {
  (void)state;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if (info->chooses_step) {
      continue;
    }
    tale reported =
        report((request){.text = table, .scheme = info->name, .until = 10.0, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    if (reported.impacts != 100) {
      fail_msg("%s: %d impacts", info->name, reported.impacts);
    }
    assert_int_equal(reported.gains, 0);
    /* the law at every impact: (1 - e^2) / 2 of the square of the approach, 0.16 J each */
    assert_near(reported.lost, 16.0, 0.4);
  }
}

/* A slider-crank that is driven against a stop, strikes it at 1.27 m/s and stays there. */
static const char crank[] =
    "saltus: 1\n"
    "parameters: {r: 0.15, l: 0.4, mc: 0.2, mr: 0.3, ms: 0.5, Jc: mc*r^2/12, Jr: mr*l^2/12,\n"
    "  e: 0.6, tau: 0.3, smax: 0.5, g: 9.81}\n"
    "coordinates:\n"
    "  theta: {start: pi/2, velocity: -6}\n"
    "  phi: {start: asin(r/l), velocity: 0}\n"
    "  s: {start: sqrt(l^2 - r^2), velocity: 0.9}\n"
    "kinetic: >-\n"
    "  0.5*(Jc + mc*r^2/4)*theta'^2 + 0.5*Jr*phi'^2 + 0.5*ms*s'^2\n"
    "  + 0.5*mr*((-r*sin(theta)*theta' - l/2*sin(phi)*phi')^2\n"
    "  + (r*cos(theta)*theta' - l/2*cos(phi)*phi')^2)\n"
    "potential: mc*g*r/2*sin(theta) + mr*g*(r*sin(theta) - l/2*sin(phi))\n"
    "forces: {theta: -tau}\n"
    "joints:\n"
    "  - {name: loop x, constraint: r*cos(theta) + l*cos(phi) - s}\n"
    "  - {name: loop y, constraint: r*sin(theta) - l*sin(phi)}\n"
    "contacts: [{name: stop, gap: smax - s, restitution: e}]\n";

/* Schemes that step over accumulations and treat joints. */
static const char* const steppers[] = {
    "moreau-jean",
    "moreau-jean-projected",
    "moreau-midpoint",
    "variational",
    "rattle",
    "schatzman-paoli",
    "splitting-rkf45-contact",
    "dg-minus",
    "dg-plus",
    "radau-iia-5",
    "trapezoidal-implicit-mean",
    "trapezoidal-implicit-end",
    "explicit-euler",
};
enum { STEPPERS = sizeof steppers / sizeof steppers[0] };

/* Events account for what impacts take: 0.730 J, of which lasting contact and the last unresolved
 * impacts have less than 0.001 J. The first approach is 1.27 m/s. */
static void a_jointed_crank_strikes_with_impulses_that_are_reported(void** state) {
  (void)state;
  for (int i = 0; i < STEPPERS; i++) {
    tale reported =
        report((request){.text = crank, .scheme = steppers[i], .until = 1.5, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    assert_near(reported.lost, 0.730, 0.006);
    assert_near(reported.lost, -reported.ledger.impact, 1e-3);
    assert_near(reported.strongest, 1.27, 0.01);
    assert_int_equal(reported.closes - reported.opens, 1);
  }
}

/* What joints and stop hold is at rest: velocities are rounding of 1 and, where they come from
 * differences of positions, of 1 / h. */
static void a_crank_at_its_stop_is_at_rest(void** state) {
  (void)state;
  for (int i = 0; i < STEPPERS; i++) {
    tale reported =
        report((request){.text = crank, .scheme = steppers[i], .until = 3.0, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    assert_near(reported.lowest, 0.0, 1e-11);
    assert_near(reported.highest, 0.0, 1e-11);
  }
}

/* Kane's double pendulum (scenes/kane.yaml, which strikes at the first instant; here a little later):
 * Newton's law with friction creates 0.040743904553 J. */
static const char kane[] =
    "saltus: 1\n"
    "parameters: {a: pi/9, b: pi/6}\n"
    "coordinates:\n"
    "  th1: {start: a + 0.1*0.0001, velocity: -0.1}\n"
    "  th2: {start: b + 0.2*0.0001, velocity: -0.2}\n"
    "kinetic: 2/3*th1'^2 + th2'^2/6 + cos(th1 - th2)*th1'*th2'/2\n"
    "contacts:\n"
    "  - {name: floor, gap: cos(a) + cos(b) - cos(th1) - cos(th2), slip: sin(th1) + sin(th2),\n"
    "     friction: 0.5, restitution: 0.7}\n";

static void an_impact_that_creates_energy_is_reported_or_ends_the_run(void** state) {
  (void)state;
  static const char* const schemes[] = {
      "moreau-jean",
      "moreau-jean-projected",
      "moreau-midpoint",
      "variational",
      "rattle",
      "dg-minus",
      "trapezoidal-implicit-mean",
      "trapezoidal-implicit-end",
      "dg-plus",
  };
  for (int i = 0; i < 9; i++) {
    request r = {.text = kane, .scheme = schemes[i], .until = 2e-4, .h = 1e-6};
    tale reported = report(r);
    assert_int_equal(reported.status, SALTUS_OK);
    assert_int_equal(reported.impacts, 1);
    assert_int_equal(reported.gains, 1);
    assert_near(reported.worst, 0.040743904553, 1e-5); /* positions at the impact are off by O(h) */
    assert_near(reported.lost, -reported.worst, 1e-12);
    r.option = "on_energy_gain=stop";
    reported = report(r);
    assert_int_equal(reported.status, SALTUS_ERR_LAW);
    assert_says(reported.kept, "the impact at contact 0 \"floor\", t = ");
    assert_says(reported.kept, "creates 0.0407");
  }
}

/* A block on five feet that is pushed to and fro: which foot carries what is not determined, but the
 * motion is, and no foot leaves the ground. Where the block is from the closed form of its four slides,
 * which begin at |8 cos t| = 0.8 * 9.81; it moves by 1e-4 m/s^2 h^2 in each of the steps at their ends. */
static void five_supports_move_as_one_and_stay_closed(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {x: {}, y: {start: 0.1}, p: {}}\n"
      "kinetic: (x'^2 + y'^2)/2 + p'^2*0.03\n"
      "potential: 9.81*y\n"
      "forces: {x: 8*cos(t)}\n"
      "contacts:\n"
      "  - {name: c0, gap: y - 0.2*sin(p) - 0.1*cos(p), slip: x - 0.2*cos(p) + 0.1*sin(p),\n"
      "     friction: 0.8}\n"
      "  - {name: c1, gap: y - 0.1*sin(p) - 0.1*cos(p), slip: x - 0.1*cos(p) + 0.1*sin(p),\n"
      "     friction: 0.8}\n"
      "  - {name: c2, gap: y - 0.1*cos(p), slip: x + 0.1*sin(p), friction: 0.8}\n"
      "  - {name: c3, gap: y + 0.1*sin(p) - 0.1*cos(p), slip: x + 0.1*cos(p) + 0.1*sin(p),\n"
      "     friction: 0.8}\n"
      "  - {name: c4, gap: y + 0.2*sin(p) - 0.1*cos(p), slip: x + 0.2*cos(p) + 0.1*sin(p),\n"
      "     friction: 0.8}\n";
  static const char* const schemes[] = {"moreau-jean",     "moreau-jean-projected",
                                        "moreau-midpoint", "variational",
                                        "rattle",          "dg-minus",
                                        "dg-plus",         "schatzman-paoli"};
  for (int i = 0; i < 8; i++) {
    if (!saltus_test_takes(i)) {
      continue;
    }
    tale reported = report((request){.text = text, .scheme = schemes[i], .until = 10.0, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    assert_near(reported.q[0], -0.00869716688496848, 5e-7);
    assert_near(reported.q[1], 0.1, 1e-14);
    assert_near(reported.q[2], 0.0, 1e-13);
    assert_int_equal(reported.impacts, 0);
    if (i < 7) { /* the last one finds feet open by the rounding of positions divided by h */
      assert_int_equal(reported.opens, 0);
    }
  }
}

/* A ball that touches the floor at the first instant and approaches rebounds by its law: half of 2 m/s,
 * to what gravity does in three steps. */
static void an_impact_at_the_first_instant_obeys_the_law(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {y: {velocity: -2}}\n"
                             "kinetic: y'^2/2\n"
                             "potential: 9.81*y\n"
                             "contacts: [{name: floor, gap: y, restitution: 0.5}]\n";
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if (info->chooses_step) {
      continue;
    }
    tale reported = report((request){.text = text, .scheme = info->name, .until = 0.02, .h = 1e-3});
    assert_int_equal(reported.status, SALTUS_OK);
    if (reported.impacts != 1) {
      fail_msg("%s: %d impacts", info->name, reported.impacts);
    }
    assert_near(reported.strongest, 2.0, 0.011);
    assert_near(reported.lost, 1.5, 0.03);
    assert_near(reported.v[0], 1.0 - 9.81 * 0.02, 3 * 9.81e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pendulum_that_turns_back_goes_on),
      cmocka_unit_test(every_scheme_counts_a_hundred_impacts),
      cmocka_unit_test(a_jointed_crank_strikes_with_impulses_that_are_reported),
      cmocka_unit_test(a_crank_at_its_stop_is_at_rest),
      cmocka_unit_test(an_impact_that_creates_energy_is_reported_or_ends_the_run),
      cmocka_unit_test(five_supports_move_as_one_and_stay_closed),
      cmocka_unit_test(an_impact_at_the_first_instant_obeys_the_law),
  };
  return cmocka_run_group_tests_name("fixed steps", tests, NULL, NULL);
}
