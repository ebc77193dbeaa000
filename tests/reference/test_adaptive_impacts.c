/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Integration to a tolerance: who takes part in an impact, laws that create energy, small rebounds that
 * slide, kinks, switches by time, and runs that cannot go on (docs/theory/events.md; docs/theory/laws.md, 1.1; T1 and
 * T6 of docs/theory/contact-geometry.md, 8).
 */
#include "saltus_test.h"

#include "saltus/adaptive.h"

#include <stdio.h>
#include <string.h>

enum { EVENTS = 512, BODIES = 128 };

typedef struct outcome {
  saltus_status status;
  double q[BODIES], v[BODIES];
  int count; /* of events */
  saltus_event event[EVENTS];
  char message[1024];
} outcome;

static saltus_status keep_event(void* user, const saltus_event* event) {
  outcome* o = user;
  if (o->count < EVENTS) {
    o->event[o->count] = *event;
  }
  o->count++;
  return SALTUS_OK;
}

static saltus_adaptive_options tolerance(double tol) {
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  return options;
}

static outcome* run(const char* text, const saltus_adaptive_options* options, const char* scheme,
                    double until) {
  static outcome o;
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  const saltus_scene_def made = {.path = "test", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&made, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_dims* d = &view->system->dims;
  o = (outcome){.count = 0};
  const saltus_recorder recorder = {.event = keep_event, .user = &o};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  o.status = saltus_sim_run_until(sim, until);
  memcpy(o.q, saltus_sim_q(sim), (size_t)d->nq * sizeof(double));
  memcpy(o.v, saltus_sim_v(sim), (size_t)d->nv * sizeof(double));
  snprintf(o.message, sizeof o.message, "%s", kept.text);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return &o;
}

static outcome* run_to(const char* text, double tol, double until) {
  const saltus_adaptive_options options = tolerance(tol);
  outcome* o = run(text, &options, "adaptive", until);
  if (o->status != SALTUS_OK) {
    fail_msg("%s: %s", saltus_status_text(o->status), o->message);
  }
  return o;
}

static int count_of(const outcome* o, saltus_event_kind kind) {
  int count = 0;
  for (int i = 0; i < o->count && i < EVENTS; i++) {
    count += o->event[i].kind == kind;
  }
  return count;
}

static const saltus_event* event_of(const outcome* o, saltus_event_kind kind, int number) {
  for (int i = 0; i < o->count && i < EVENTS; i++) {
    if (o->event[i].kind == kind && number-- == 0) {
      return &o->event[i];
    }
  }
  fail_msg("there is no such %s", saltus_event_kind_name(kind));
  return NULL;
}

/* ---- who takes part ------------------------------------------------------------------------ */

/* N equal balls in a row, touching but for the first, which comes with 1 m/s. */
static void write_chain(int n, double e, char* text, size_t room) {
  int at = snprintf(text, room, "saltus: 1\ncoordinates:\n");
  for (int i = 0; i < n; i++) {
    at += snprintf(text + at, room - (size_t)at, "  q%d: {start: %d, velocity: %d}\n", i,
                   i == 0 ? -1 : 0, i == 0 ? 1 : 0);
  }
  at += snprintf(text + at, room - (size_t)at, "kinetic: (0");
  for (int i = 0; i < n; i++) {
    at += snprintf(text + at, room - (size_t)at, " + q%d'^2", i);
  }
  at += snprintf(text + at, room - (size_t)at, ")/2\ncontacts:\n");
  for (int i = 0; i + 1 < n; i++) {
    at += snprintf(text + at, room - (size_t)at, "  - {gap: q%d - q%d, restitution: %g}\n", i + 1,
                   i, e);
  }
  assert_true((size_t)at < room);
}

/* Simultaneous Newton: v_1 = 1 - (N - 1)(1 + e)/N, the others (1 + e)/N. One impact, no further events. */
static void a_chain_is_struck_as_a_whole(void** state) {
  (void)state;
  static const int balls[] = {3, 5, 20, 30, 100};
  static const double restitutions[] = {0.0, 0.5, 0.9, 1.0};
  static char text[32768];
  for (size_t i = 0; i < 5; i++) {
    for (size_t k = 0; k < 4; k++) {
      const int n = balls[i];
      const double e = restitutions[k];
      write_chain(n, e, text, sizeof text);
      const outcome* o = run_to(text, 1e-8, 2.0);
      assert_near(o->v[0], 1.0 - (n - 1) * (1.0 + e) / n, 1e-12);
      for (int b = 1; b < n; b++) {
        assert_near(o->v[b], (1.0 + e) / n, 1e-12);
      }
      assert_int_equal(count_of(o, SALTUS_EVENT_IMPACT), n - 1);
      assert_near(event_of(o, SALTUS_EVENT_IMPACT, 0)->t, 1.0, 4e-15); /* a sum of steps */
    }
  }
}

/* A contact that leaves already is not in the set: with it, Newton's law would create energy without
 * friction (docs/theory/laws.md, 1.3). The middle ball moves away from the right one and is hit by the left one. */
static void a_contact_that_leaves_takes_no_part(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates:\n"
                             "  a: {start: -1, velocity: 2}\n"
                             "  b: {start: 0, velocity: 0}\n"
                             "  c: {start: 0, velocity: 0.5}\n"
                             "kinetic: (a'^2 + b'^2 + 4*c'^2)/2\n"
                             "contacts:\n"
                             "  - {gap: b - a, restitution: 0.5}\n"
                             "  - {gap: c - b, restitution: 0.5}\n";
  const outcome* o = run_to(text, 1e-9, 0.6);
  const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, 0);
  assert_near(hit->t, 0.5, 1e-14);
  assert_near(o->v[0], 0.5, 1e-14); /* of two bodies alone: (2 - 0.5 * 2) / 2 */
  assert_near(o->v[1], 1.5, 1e-14);
  assert_near(o->v[2], 0.5, 1e-14);
}

/* ---- laws ---------------------------------------------------------------------------------- */

static const char kane[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0, velocity: -0.2671743428}, y: {start: 0, velocity: "
    "-0.1342020143}}\n"
    "parameters: {a: 1.0095602905, b: 1.5213086580, c: 2.4403380457, d: a*c - b^2}\n"
    "kinetic: (c*y'^2 - 2*b*x'*y' + a*x'^2)/(2*d)\n" /* inverse of W, normal y, tangent x */
    "contacts:\n"
    "  - {name: floor, gap: y, slip: x, friction: 0.5, restitution: 0.7}\n";

/* Kane's double pendulum by its W (laws, 6.3). The digits of W and U- are what limits. */
static void a_gain_is_reported_and_the_law_obeyed(void** state) {
  (void)state;
  const outcome* o = run_to(kane, 1e-8, 1e-9);
  const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, 0);
  assert_near(hit->impulse[0], 0.916584813765, 2e-8);
  assert_near(hit->u_after, 0.093941410033, 2e-9);
  assert_near(hit->energy_change, 0.040743904553, 2e-9);
  const saltus_event* gain = event_of(o, SALTUS_EVENT_ENERGY_GAIN, 0);
  assert_near(gain->energy_change, 0.040743904553, 2e-9);
  assert_int_equal(count_of(o, SALTUS_EVENT_LAW_REPLACED), 0);
}

static void a_law_is_replaced_where_one_asks_for_it(void** state) {
  (void)state;
  static const struct {
    saltus_energy_gain answer;
    double P_N, P_T, change;
  } wanted[] = {{SALTUS_GAIN_POISSON, 0.128878962952, 0.029139266499, -0.009947567369},
                {SALTUS_GAIN_ENERGETIC, 0.144499326661, 0.025206662760, -0.009270438743}};
  for (size_t i = 0; i < 2; i++) {
    saltus_adaptive_options options = tolerance(1e-8);
    options.on_energy_gain = (int)wanted[i].answer;
    const outcome* o = run(kane, &options, "adaptive", 1e-9);
    assert_int_equal(o->status, SALTUS_OK);
    const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, 0);
    assert_near(hit->impulse[0], wanted[i].P_N, 1e-8);
    assert_near(hit->impulse[1], wanted[i].P_T, 1e-8);
    assert_near(hit->energy_change, wanted[i].change, 1e-9);
    assert_near(event_of(o, SALTUS_EVENT_LAW_REPLACED, 0)->energy_change, 0.040743904553, 2e-9);
    assert_int_equal(count_of(o, SALTUS_EVENT_ENERGY_GAIN), 0);
  }
}

/* The cap leaves e = 0.3968385591 and no change of energy. */
static void a_capped_law_gains_nothing(void** state) {
  (void)state;
  saltus_adaptive_options options = tolerance(1e-8);
  options.on_energy_gain = SALTUS_GAIN_CAP;
  const outcome* o = run(kane, &options, "adaptive", 1e-9);
  assert_int_equal(o->status, SALTUS_OK);
  const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, 0);
  assert_near(-hit->u_after / hit->u_before, 0.3968385591, 1e-8);
  assert_near(hit->energy_change, 0.0, 1e-11);
  assert_int_equal(count_of(o, SALTUS_EVENT_LAW_REPLACED), 1);
}

static void a_run_can_be_stopped_by_a_gain(void** state) {
  (void)state;
  saltus_adaptive_options options = tolerance(1e-8);
  options.on_energy_gain = SALTUS_GAIN_STOP;
  const outcome* o = run(kane, &options, "adaptive", 1e-9);
  assert_int_equal(o->status, SALTUS_ERR_LAW);
  assert_near(o->v[1], -0.1342020143, 0.0); /* the state is as it was */
}

/* ---- rebounds that slide ------------------------------------------------------------------- */

/* T6: 90 digits. Closing along G_N alone is 1.2e-11 off at every tolerance below 1e-10. */
static void a_disc_comes_to_rest_in_a_groove(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "parameters: {r: 0.2, s: sqrt(0.5), e: 0.3, mu: 0.3}\n"
      "coordinates: {x: {start: 0.1}, y: {start: 1.2}, phi: {}}\n"
      "kinetic: (x'^2 + y'^2 + 0.02*phi'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  - {gap: s*x + s*y - r, slip: s*x - s*y + r*phi, friction: mu, restitution: e}\n"
      "  - {gap: -s*x + s*y - r, slip: s*x + s*y + r*phi, friction: mu, restitution: e}\n";
  for (double tol = 1e-4; tol > 1e-13; tol *= 1e-2) {
    const outcome* o = run_to(text, tol, 1.0);
    assert_near(o->q[2], 1.638981020346193, 2e-14 + 100.0 * tol * tol); /* closing costs O(U^2) */
    assert_near(o->q[1], 0.282842712474619, 1e-15);
    assert_near(event_of(o, SALTUS_EVENT_IMPACT, 0)->t, 0.408162708538225, 1e-14);
    for (int i = 0; i < 3; i++) {
      assert_near(o->v[i], 0.0, 1e-15);
    }
  }
}

/* T1: a square on its corners; 60 digits. The curved rows of its corners make the error that of the
 * tolerance; ten of it after an accumulation, an impact of two corners and another one. */
static void a_square_falls_on_its_corners(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "parameters: {e: 0.3, mu: 0.4}\n"
      "coordinates: {x: {}, y: {start: 1.18301270189222}, phi: {start: pi/6}}\n"
      "kinetic: (x'^2 + y'^2 + phi'^2/6)/2\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  - {name: corner 0, gap: y - 0.5*sin(phi) - 0.5*cos(phi),"
      " slip: x - 0.5*cos(phi) + 0.5*sin(phi), friction: mu, restitution: e}\n"
      "  - {name: corner 1, gap: y + 0.5*sin(phi) - 0.5*cos(phi),"
      " slip: x + 0.5*cos(phi) + 0.5*sin(phi), friction: mu, restitution: e}\n";
  for (double tol = 1e-6; tol > 1e-13; tol *= 1e-3) {
    const outcome* o = run_to(text, tol, 0.671033721039761 + 1e-9);
    const double bound = 10.0 * tol + 1e-13;
    assert_near(event_of(o, SALTUS_EVENT_IMPACT, 0)->t, 0.319275428407050, bound);
    assert_near(event_of(o, SALTUS_EVENT_IMPACT, 1)->t, 0.528585897348565, bound);
    assert_near(event_of(o, SALTUS_EVENT_ACCUMULATION, 0)->t, 0.634399862965303, bound);
    assert_near(o->v[0], 0.571113342763478, bound + 1e-8);
    assert_near(o->v[1], 0.464859697598180, bound + 2e-8); /* 1e-9 s of weight and turning later */
    assert_near(o->v[2], 0.584395048409140, bound + 1e-7);
  }
}

/* ---- kinks and switches -------------------------------------------------------------------- */

/* A bead slides up a roof, y = -|x|, leaves at its ridge and comes down on the other side: closed forms.
 * Along x: a = -g/2; flight over 4 w / g. */
static void a_bead_flies_over_a_ridge(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {x: {start: -0.5, velocity: 2.5}, y: {start: -0.5, velocity: 2.5}}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts: [{name: roof, gap: y + abs(x), restitution: 0.3}]\n";
  const double g = 9.81;
  const double w = sqrt(2.5 * 2.5 - g * 0.5);
  const double ridge = (2.5 - w) / (0.5 * g);
  for (double tol = 1e-4; tol > 1e-13; tol *= 1e-1) {
    const outcome* o = run_to(text, tol, 0.8);
    assert_near(event_of(o, SALTUS_EVENT_OPEN, 0)->t, ridge, tol);
    const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, 0);
    assert_near(hit->t, ridge + 4.0 * w / g, 10.0 * tol);
    assert_near(hit->u_before, -2.0 * w, 10.0 * tol);
  }
}

/* With e = 0.2 the ball in a valley came to no end; it rests in the corner. */
static void a_ball_rests_in_a_valley(void** state) {
  (void)state;
  static const char* const gaps[] = {"min(y - x, y + x)", "y - abs(x)"};
  for (int k = 0; k < 2; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates: {x: {start: 0.3}, y: {start: 1}}\n"
             "kinetic: (x'^2 + y'^2)/2\n"
             "potential: 9.81*y\n"
             "contacts: [{name: valley, gap: \"%s\", restitution: 0.2}]\n",
             gaps[k]);
    for (double tol = 1e-4; tol > 1e-12; tol *= 1e-2) {
      const outcome* o = run_to(text, tol, 3.0);
      assert_near(o->q[0], 0.0, 1e-15);
      assert_near(o->q[1], 0.0, 1e-15);
      assert_true(o->v[0] == 0.0 && o->v[1] == 0.0);
    }
  }
}

/* Forces that jump at times, the second one for 1e-6 s: velocities are sums of impulses. */
static void forces_that_jump_at_a_time_end_steps(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {x: {}}\n"
      "kinetic: x'^2/2\n"
      "forces: {x: \"2*step(t - 0.3) + piecewise(t < 0.7, 0, t < 0.700001, 1e6, 0)"
      " + abs(sin(10*t))\"}\n";
  /* integral of |sin(10 t)| over one second: three half waves of 2/10, and (1 + cos(10))/10 of the rest */
  const double wave = 0.6 + (1.0 + cos(10.0)) / 10.0;
  for (double tol = 1e-4; tol > 1e-12; tol *= 1e-2) {
    const outcome* o = run_to(text, tol, 1.0);
    assert_near(o->v[0], 2.0 * 0.7 + 1.0 + wave, 10.0 * tol + 1e-9); /* 1e6 (0.700001 - 0.7) */
  }
}

/* A floor that rises faster and faster, t^2: relative to it the ball falls with g + 2, flights are exact
 * parabolas of that weight, and slip against a belt of 1 m/s lasts. */
static void a_floor_may_accelerate(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {x: {velocity: 20}, y: {start: 1}}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts: [{gap: y - t^2, slip: x' - 1, friction: 0.1, restitution: 0.7}]\n";
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-1) {
    const outcome* o = run_to(text, tol, 1.7);
    double t = sqrt(2.0 / 11.81);
    double u = 11.81 * t;
    double x = 20.0;
    for (int k = 0; k < 3; k++) {
      const saltus_event* hit = event_of(o, SALTUS_EVENT_IMPACT, k);
      assert_near(hit->t, t, 10.0 * tol);
      assert_near(hit->u_before, -u, 10.0 * tol);
      x -= 0.1 * 1.7 * u;
      assert_near(hit->slip_after[0], x - 1.0, 10.0 * tol);
      u *= 0.7;
      t += 2.0 * u / 11.81;
    }
  }
}

/* ---- supports that part, drives with kinks, surfaces that jump ------------------------------ */

/* Two supports at one height, one of which sinks: whichever carried the body, it stays on the other. */
static void a_body_does_not_sink_with_one_of_its_supports(void** state) {
  (void)state;
  static const char* const sinking[] = {"y + 0.05*smoothstep(0.2, 0.7, t)",
                                        "y + max(0, t - 0.2)^3"};
  for (int k = 0; k < 4; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates: {y: {}}\n"
             "kinetic: y'^2/2\n"
             "potential: 10*y\n"
             "contacts:\n"
             "  - {gap: \"%s\"}\n"
             "  - {gap: \"%s\"}\n",
             k < 2 ? "y" : sinking[k - 2], k < 2 ? sinking[k] : "y");
    for (double tol = 1e-3; tol > 1e-11; tol *= 1e-1) {
      const outcome* o = run_to(text, tol, 0.6);
      assert_near(o->q[0], 0.0, 0.1 * tol);
      assert_near(o->v[0], 0.0, 0.1 * tol);
    }
  }
}

/* A body between a belt of speed t^3 and a floor: it sticks to the belt until 3 t^2 m + 1 N are 3 N, then
 * x'' = 2. The order of the contacts does not matter. */
static void a_contact_that_others_hold_begins_to_slide(void** state) {
  (void)state;
  static const char belt[] = "  - {gap: y, slip: \"x' - t^3\", friction: 0.3}\n";
  static const char floor[] = "  - {gap: z, slip: \"x'\", friction: 0.1}\n";
  const double t = sqrt(2.0 / 3.0);
  const double v = t * t * t + 2.0 * (1.0 - t);
  const double x = t * t * t * t / 4.0 + t * t * t * (1.0 - t) + (1.0 - t) * (1.0 - t);
  for (int k = 0; k < 2; k++) {
    char text[500];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates: {x: {}, y: {}, z: {}}\n"
             "kinetic: (x'^2 + y'^2 + z'^2)/2\n"
             "potential: 10*y + 10*z\n"
             "contacts:\n%s%s",
             k == 0 ? belt : floor, k == 0 ? floor : belt);
    for (double tol = 1e-4; tol > 1e-9; tol *= 1e-2) {
      const outcome* o = run_to(text, tol, 1.0);
      assert_near(o->q[0], x, 10.0 * tol);
      assert_near(o->v[0], v, 10.0 * tol);
    }
  }
}

/* A driven joint turns round at 1 s: what lies on it is left behind, or struck with e = 1/2; friction does
 * not feel it. */
static void contacts_see_a_drive_that_turns_round(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double z, v;
  } cases[] = {
      {"coordinates: {x: {start: 1, velocity: -1}, z: {start: 1, velocity: -1}}\n"
       "kinetic: (x'^2 + z'^2)/2\npotential: -5*z\n"
       "contacts: [{gap: x - z, restitution: 0.5}]\n",
       -0.075, -0.5},
      {"coordinates: {x: {start: 1, velocity: -1}, z: {start: 1, velocity: -1}}\n"
       "kinetic: (x'^2 + z'^2)/2\npotential: 5*z\n"
       "contacts: [{gap: z - x, restitution: 0.5}]\n",
       0.175, 1.5},
      {"coordinates: {x: {start: 1, velocity: -1}, z: {velocity: 1.5}, y: {}}\n"
       "kinetic: (x'^2 + y'^2 + z'^2)/2\npotential: 10*y\n"
       "contacts: [{gap: y, slip: z' - x', friction: 0.1}]\n",
       1.055, 0.6},
      {"coordinates: {x: {start: 1, velocity: -1}, z: {velocity: 1}}\nkinetic: (x'^2 + z'^2)/2\n",
       1.1, 1.0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[600];
    snprintf(text, sizeof text, "saltus: 1\n%sjoints: [{constraint: x - abs(t - 1)}]\n",
             cases[i].text);
    for (double tol = 1e-3; tol > 1e-11; tol *= 1e-2) {
      const outcome* o = run_to(text, tol, 1.1);
      assert_near(o->q[0], 0.1, tol);
      assert_near(o->v[0], 1.0, tol);
      assert_near(o->q[1], cases[i].z, tol);
      assert_near(o->v[1], cases[i].v, tol);
    }
  }
}

/* A floor that is gone at 1 s: the body falls. One that jumps into it is an error. */
static void a_floor_that_jumps_away_is_left(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {y: {}}\n"
                             "kinetic: y'^2/2\n"
                             "potential: 10*y\n"
                             "contacts: [{gap: y + 0.5*step(t - 1), restitution: 0.5}]\n";
  for (double tol = 1e-3; tol > 1e-11; tol *= 1e-2) {
    const outcome* o = run_to(text, tol, 1.2);
    assert_near(o->q[0], -0.2, tol);
    assert_near(o->v[0], -2.0, tol);
  }
}

/* A start on the ridge of a roof: the branch is the one that the velocity leads to. */
static void a_start_on_a_ridge_leaves_it(void** state) {
  (void)state;
  static const char* const gaps[] = {"max(y - x, y + x)", "max(y + x, y - x)", "y + abs(x)"};
  for (int k = 0; k < 3; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates: {x: {velocity: 1}, y: {}}\n"
             "kinetic: (x'^2 + y'^2)/2\n"
             "potential: 10*y\n"
             "contacts: [{gap: \"%s\"}]\n",
             gaps[k]);
    for (double tol = 1e-3; tol > 1e-11; tol *= 1e-2) {
      const outcome* o = run_to(text, tol, 0.1);
      assert_near(o->q[0], 0.1, tol);
      assert_near(o->q[1], -0.05, tol);
      assert_int_equal(count_of(o, SALTUS_EVENT_IMPACT), 0);
    }
  }
}

/* ---- runs that cannot go on ---------------------------------------------------------------- */

/* A wall that jumps into the ball leaves no step: an error that names it, and no result. */
static void a_surface_that_jumps_is_an_error(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {y: {start: 0.1}}\n"
      "kinetic: y'^2/2\n"
      "contacts: [{name: piston, gap: y - 0.2*step(t - 0.5), restitution: 0.5}]\n";
  const saltus_adaptive_options options = tolerance(1e-6);
  const outcome* o = run(text, &options, "adaptive", 1.0);
  assert_true(o->status < SALTUS_OK);
  assert_non_null(strstr(o->message, "piston"));
  assert_non_null(strstr(o->message, "0.5"));
}

/* A ball b that leaves a wall and a ball a that comes, all touching: the impacts of the pair and of the wall, one after the
 * other, until none of the two approaches. Returns their number. */
static int bounce(double mass, double e, double v[2]) {
  int count = 0;
  for (; count < 2000; count++) {
    double u = v[1] - v[0];
    if (u < -1e-13) {
      double P = -(1.0 + e) * u / (1.0 + 1.0 / mass);
      v[0] -= P;
      v[1] += P / mass;
    } else if (v[0] < -1e-13) {
      v[0] *= -e;
    } else {
      break;
    }
  }
  return count;
}

/* What has just left a contact and is thrown back by the impact of another hits it again. The masses and restitutions
 * have series of 3 to 32 impacts; elastic ones keep the energy. */
static void what_is_thrown_back_is_hit(void** state) {
  (void)state;
  static const struct {
    double mass, e, v_b;
  } cases[] = {{1.0, 1.0, 0.5},   {1.0, 0.5, 0.5},   {2.0, 0.3, 0.1}, {3.0, 0.9, 1.0},
               {100.0, 1.0, 0.5}, {10.0, 0.95, 0.2}, {0.5, 0.7, 0.3}, {100.0, 0.98, 0.01}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[700];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "coordinates: {b: {start: 0, velocity: %.17g}, a: {start: 1, velocity: -2}}\n"
             "kinetic: b'^2/2 + %.17g*a'^2/2\n"
             "potential: 0\n"
             "contacts:\n"
             "  - {name: wall, gap: b, restitution: %.17g}\n"
             "  - {name: pair, gap: a - b - 1, restitution: %.17g}\n",
             cases[i].v_b, cases[i].mass, cases[i].e, cases[i].e);
    double v[2] = {cases[i].v_b, -2.0};
    int impacts = bounce(cases[i].mass, cases[i].e, v);
    assert_in_range(impacts, 2, 40);
    const outcome* o = run_to(text, 1e-9, 1e-3);
    assert_int_equal(count_of(o, SALTUS_EVENT_IMPACT), impacts);
    assert_int_equal(count_of(o, SALTUS_EVENT_LAW_REPLACED), 0);
    assert_near(o->v[0], v[0], 1e-9);
    assert_near(o->v[1], v[1], 1e-9);
  }
}

/* The same with a heavy ball and little restitution: the series has no end, in which both come to rest. It is cut off,
 * and that is reported. */
static void a_series_without_end_stops(void** state) {
  (void)state;
  const outcome* o =
      run_to("saltus: 1\n"
             "coordinates: {b: {start: 0, velocity: 0.5}, a: {start: 1, velocity: -2}}\n"
             "kinetic: b'^2/2 + 50*a'^2\n"
             "potential: 0\n"
             "contacts:\n"
             "  - {name: wall, gap: b, restitution: 0.5}\n"
             "  - {name: pair, gap: a - b - 1, restitution: 0.5}\n",
             1e-9, 1.0);
  const saltus_event* last = &o->event[EVENTS - 1];
  assert_int_equal(last->kind, SALTUS_EVENT_IMPACT);
  assert_near(last->t, 0.0, 1e-15);
  assert_near(o->v[0], 0.0, 1e-9);
  assert_near(o->v[1], 0.0, 1e-9);
  assert_near(o->q[0], 0.0, 1e-9);
  assert_near(o->q[1], 1.0, 1e-9);
}

/* It rests on the floor without a force, and one grows from nothing: with p t down it stays, with s t along it slides by
 * what s leaves beyond mu |p|, from x = (|s| - mu |p|) t^3/6; upwards it leaves by p t^3/6. */
static void a_force_that_grows_from_nothing_holds_or_lifts(void** unused) {
  (void)unused;
  static const struct {
    double p, s, x, y;
  } cases[] = {{-1, 0, 0, 0},           {-1, 0.2, 0, 0},           {-1, 0.5, 0.2 / 6, 0},
               {-1, -0.5, -0.2 / 6, 0}, {1, 0.5, 0.5 / 6, 1. / 6}, {-1, 0.3, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[600];
    /* two blocks that do not touch: one instant for both */
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {x: {start: 0}, y: {start: 0}, z: {start: 0}}\n"
             "kinetic: (x'^2 + y'^2 + z'^2)/2\nforces: {x: %g*t, y: %g*t, z: -t}\n"
             "contacts:\n  - {name: one, gap: y, slip: x, friction: 0.3, restitution: 0.5}\n"
             "  - {name: other, gap: z}\n",
             cases[i].s, cases[i].p);
    const saltus_adaptive_options options = tolerance(1e-9);
    const outcome* o = run(text, &options, "adaptive", 1.0);
    assert_string_equal(o->message, "");
    assert_int_equal(o->status, SALTUS_OK);
    assert_near(o->q[0], cases[i].x, 1e-9);
    assert_near(o->q[1], cases[i].y, 1e-9);
    assert_near(o->q[2], 0.0, 1e-12);
  }
  /* a lever that a damper presses down, behind a mass that begins to move: z' = -F/c (1 - exp(-c t/m)) */
  const saltus_adaptive_options options = tolerance(1e-9);
  const outcome* o = run("saltus: 1\ncoordinates: {a: {start: 0}, z: {start: 0}}\n"
                         "kinetic: 0.5e-6*a'^2 + 0.001*z'^2\n"
                         "forces: {a: \"0.8*(z' - 0.04*a')\", z: \"-100 - 20*(z' - 0.04*a')\"}\n"
                         "contacts: [{name: stop, gap: 0.05 + 0.04*a - 0.05}]\n",
                         &options, "adaptive", 1e-4);
  assert_string_equal(o->message, "");
  assert_near(o->q[0], 0.0, 1e-12);
  assert_near(o->v[1], -5.0 * (1.0 - exp(-1.0)), 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_force_that_grows_from_nothing_holds_or_lifts),
      cmocka_unit_test(a_chain_is_struck_as_a_whole),
      cmocka_unit_test(a_contact_that_leaves_takes_no_part),
      cmocka_unit_test(what_is_thrown_back_is_hit),
      cmocka_unit_test(a_series_without_end_stops),
      cmocka_unit_test(a_gain_is_reported_and_the_law_obeyed),
      cmocka_unit_test(a_law_is_replaced_where_one_asks_for_it),
      cmocka_unit_test(a_capped_law_gains_nothing),
      cmocka_unit_test(a_run_can_be_stopped_by_a_gain),
      cmocka_unit_test(a_disc_comes_to_rest_in_a_groove),
      cmocka_unit_test(a_square_falls_on_its_corners),
      cmocka_unit_test(a_bead_flies_over_a_ridge),
      cmocka_unit_test(a_ball_rests_in_a_valley),
      cmocka_unit_test(forces_that_jump_at_a_time_end_steps),
      cmocka_unit_test(a_floor_may_accelerate),
      cmocka_unit_test(a_body_does_not_sink_with_one_of_its_supports),
      cmocka_unit_test(a_contact_that_others_hold_begins_to_slide),
      cmocka_unit_test(contacts_see_a_drive_that_turns_round),
      cmocka_unit_test(a_floor_that_jumps_away_is_left),
      cmocka_unit_test(a_start_on_a_ridge_leaves_it),
      cmocka_unit_test(a_surface_that_jumps_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
