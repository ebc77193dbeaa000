/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Rolling, drilling and dry friction beside contacts of shapes that come and go, and rolling beside a patch, to a
 * tolerance (docs/theory/laws.md, 3). The numbers are closed forms; where two bodies strike, bodies with shapes and the
 * same motion by formulas agree, and fixed steps tend to it.
 */
#include "saltus_test.h"

#include <stdio.h>

enum { EVENTS = 256, NUMBERS = 16 };

typedef struct outcome {
  double q[NUMBERS], v[NUMBERS];
  saltus_energy energy;
  int count;
  saltus_event event[EVENTS];
} outcome;

static saltus_status keep(void* user, const saltus_event* event) {
  outcome* out = user;
  if (out->count < EVENTS) {
    out->event[out->count++] = *event;
  }
  return SALTUS_OK;
}

/* scheme: adaptive with a tolerance, any other with a step. */
static outcome run(const char* text, const char* scheme, double tol, double until) {
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = "text", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&made, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  outcome out = {.count = 0};
  const saltus_recorder recorder = {.event = keep, .user = &out};
  bool steps = strcmp(scheme, "adaptive") != 0;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = steps ? NULL : &options,
                              .h = steps ? tol : 0.0,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run_until(sim, until) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  memcpy(out.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(out.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  out.energy = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return out;
}

static double time_of(const outcome* out, saltus_event_kind kind, int n) {
  for (int i = 0; i < out->count; i++) {
    if (out->event[i].kind == kind && n-- == 0) {
      return out->event[i].t;
    }
  }
  return NAN;
}

#define BALL(more, at, motion)                                                                     \
  "saltus: 1\n"                                                                                    \
  "world: {dimension: 3, shapes: [{half-space: {}, material: floor}]}\n"                           \
  "materials: {floor: {friction: 0.3" more "}}\n"                                                  \
  "bodies:\n"                                                                                      \
  "  ball: {mass: 1, inertia: [0.001, 0.001, 0.001], position: [0, 0, " at "], " motion            \
  ", shapes: [{sphere: {radius: 0.05}, material: floor}]}\n"

static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
enum { TOLERANCES = sizeof tolerances / sizeof tolerances[0] };

/* Slides with mu = 0.3, rolls from 0.1073 s on with 13/19 m/s, stops after 0.9255 m. */
static void a_ball_of_shapes_rolls_and_stops(void** unused) {
  (void)unused;
  for (int i = 0; i < TOLERANCES; i++) {
    const double tol = tolerances[i];
    const outcome out =
        run(BALL(", rolling: 0.002", "0.05", "velocity: [0.6, 0.8, 0]"), "adaptive", tol, 2.7);
    assert_near(out.q[0], 0.6 * 0.925478834701, 10.0 * tol);
    assert_near(out.q[1], 0.8 * 0.925478834701, 10.0 * tol);
    assert_near(time_of(&out, SALTUS_EVENT_STICK, 0), 0.107301893878, 10.0 * tol);
    assert_near(time_of(&out, SALTUS_EVENT_STICK, 1), 2.54841997961, 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 10.0 * tol);
  }
}

/* J w' = -sigma m g. */
static void a_ball_of_shapes_stops_to_spin(void** unused) {
  (void)unused;
  for (int i = 0; i < TOLERANCES; i++) {
    const double tol = tolerances[i];
    const outcome out = run(BALL(", drilling: 0.001", "0.05", "angular_velocity: [0, 0, 10]"),
                            "adaptive", tol, 2.0);
    assert_near(time_of(&out, SALTUS_EVENT_STICK, 0), 0.001 * 10.0 / (0.001 * 9.81), 10.0 * tol);
    assert_near(out.v[5], 0.0, 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 10.0 * tol);
  }
}

/* It falls by 1 mm and does not rebound: friction and rolling friction of the impact are those of p = v / g seconds of
 * rest on the plane, and then the ball moves as one that has rested for so long. */
static void a_ball_that_lands_rolls_as_one_that_rested(void** unused) {
  (void)unused;
  const double g = 9.81, mu = 0.3, fall = 1e-3;
  const double p = sqrt(2.0 * g * fall) / g;
  const double rolls = 0.107301893878 - p;
  const double start = 1.0 - mu * g * p, rolling = 13.0 / 19.0;
  const double brake = 5.0 * 0.002 * g / (7.0 * 0.05);
  const double way =
      sqrt(2.0 * fall / g) + 0.5 * (start + rolling) * rolls + rolling * rolling / (2.0 * brake);
  for (int i = 0; i < TOLERANCES; i++) {
    const double tol = tolerances[i];
    const outcome out =
        run(BALL(", rolling: 0.002", "0.051", "velocity: [0.6, 0.8, 0]"), "adaptive", tol, 2.7);
    assert_near(out.q[0], 0.6 * way, 10.0 * tol);
    assert_near(out.q[1], 0.8 * way, 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 10.0 * tol);
  }
}

/* A disc that rolls strikes one that rests, with friction between them: the one that rested turns from then on. */
static void discs_that_strike_turn_as_by_formulas(void** unused) {
  (void)unused;
  static const char shapes[] =
      "saltus: 1\n"
      "world: {dimension: 2, shapes: [{half-plane: {}, material: floor}]}\n"
      "materials: {floor: {friction: 0.3, rolling: 0.002, restitution: 0.3}}\n"
      "bodies:\n"
      "  a: {mass: 1, inertia: 0.001, position: [0, 0.05], velocity: [1, 0],\n"
      "    shapes: [{circle: {radius: 0.05}, material: floor}]}\n"
      "  b: {mass: 1, inertia: 0.001, position: [0.3, 0.05],\n"
      "    shapes: [{circle: {radius: 0.05}, material: floor}]}\n";
  static const char formulas[] =
      "saltus: 1\n"
      "coordinates: {x: {velocity: 1}, y: {}, p: {}, u: {start: 0.3}, w: {}, r: {}}\n"
      "kinetic: (x'^2 + y'^2 + 0.001*p'^2 + u'^2 + w'^2 + 0.001*r'^2)/2\n"
      "potential: 9.81*y + 9.81*w\n"
      "contacts:\n"
      "  - {name: fa, gap: y, slip: x' + 0.05*p', friction: 0.3, restitution: 0.3,\n"
      "    rolling: {arm: 0.002, rate: p'}}\n"
      "  - {name: fb, gap: w, slip: u' + 0.05*r', friction: 0.3, restitution: 0.3,\n"
      "    rolling: {arm: 0.002, rate: r'}}\n"
      "  - {name: ab, gap: u - x - 0.1, slip: w' - y' - 0.05*p' - 0.05*r', friction: 0.3,\n"
      "    restitution: 0.3, rolling: {arm: 0.002, rate: r' - p'}}\n";
  const outcome one = run(shapes, "adaptive", 1e-8, 0.8);
  const outcome two = run(formulas, "adaptive", 1e-8, 0.8);
  const outcome steps = run(formulas, "moreau-jean", 5e-5, 0.8);
  assert_near(one.energy.remainder, 0.0, 1e-7);
  assert_near(two.energy.remainder, 0.0, 1e-7);
  for (int k = 0; k < 6; k++) {
    const double off = k == 1 || k == 4 ? 0.05 : 0.0; /* heights of centres */
    assert_near(one.q[k] - off, two.q[k], 1e-6);
    assert_near(two.v[k], steps.v[k], k == 2 || k == 5 ? 1e-2 : 5e-4);
  }
  assert_true(fabs(two.v[5]) > 1.9);
}

/* A bar on a pin with dry friction, beside a ball that bounces. */
static void a_dry_pin_swings_beside_shapes(void** unused) {
  (void)unused;
  static const char text[] =
      "saltus: 1\n"
      "world: {dimension: 2, shapes: [{half-plane: {}, position: [0, -3], material: floor}]}\n"
      "materials: {floor: {friction: 0.3, restitution: 0.5, rolling: 0.001}}\n"
      "bodies:\n"
      "  bar: {mass: 2, inertia: 0.5, position: [0.5*sin(2), -0.5*cos(2)], angle: 2}\n"
      "  ball: {mass: 1, inertia: 0.001, position: [2, -2.8], velocity: [0.2, 0],\n"
      "    shapes: [{circle: {radius: 0.05}, material: floor}]}\n"
      "markers:\n"
      "  pin: {point: [0, 0]}\n"
      "  top: {body: bar, point: [0, 0.5]}\n"
      "joints:\n"
      "  - {name: hinge, type: revolute, between: [pin, top], dry_friction: {force: 1}}\n";
  for (int i = 0; i < 2; i++) {
    const double tol = i == 0 ? 1e-6 : 1e-9;
    const outcome out = run(text, "adaptive", tol, 12.0);
    assert_near(out.q[2], -0.0290843317121, 10.0 * tol);
    assert_near(out.v[2], 0.0, 10.0 * tol);
    assert_near(out.q[4], -2.95, 10.0 * tol);
    assert_near(out.v[3], 0.0, 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 100.0 * tol);
  }
}

/* Slip and spin end together, rolling by itself: J w' = -rho m g. */
static void a_patch_goes_on_beside_rolling(void** unused) {
  (void)unused;
  static const char text[] =
      "saltus: 1\n"
      "parameters: {a: 0.05, mu: 0.3, g: 9.81}\n"
      "coordinates: {x: {velocity: 0.6}, y: {velocity: 0.8}, z: {}, roll: {velocity: 3},\n"
      "  pitch: {velocity: 4}, turn: {velocity: 1/a}}\n"
      "kinetic: (x'^2 + y'^2 + z'^2 + a^2/2*turn'^2 + 0.01*(roll'^2 + pitch'^2))/2\n"
      "potential: g*z\n"
      "contacts:\n"
      "  - {name: floor, gap: z, slip: x, slip2: y, friction: mu,\n"
      "    rolling: {arm: 0.002, rate: roll', rate2: pitch'},\n"
      "    patch: {radius: a, pressure: uniform, rate: turn'}}\n";
  const double mu_g = 0.3 * 9.81;
  for (int i = 0; i < TOLERANCES; i++) {
    const double tol = tolerances[i];
    const outcome out = run(text, "adaptive", tol, 3.0);
    const double way = 0.637397224133 / mu_g;
    assert_near(out.q[0], 0.6 * way, 10.0 * tol);
    assert_near(out.q[1], 0.8 * way, 10.0 * tol);
    const double end = 0.01 * 5.0 / (0.002 * 9.81); /* s */
    const double angle = 0.5 * 5.0 * end;           /* rad */
    assert_near(out.q[3], 0.6 * angle, 10.0 * tol * (1.0 + angle));
    assert_near(out.q[4], 0.8 * angle, 10.0 * tol * (1.0 + angle));
    const double patch = time_of(&out, SALTUS_EVENT_STICK, 0);
    assert_near(patch, 1.34029828212 / mu_g, 10.0 * tol);
    assert_near(time_of(&out, SALTUS_EVENT_STICK, 1), end, 10.0 * tol * end);
    assert_near(out.energy.remainder, 0.0, 100.0 * tol);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_of_shapes_rolls_and_stops),
      cmocka_unit_test(a_ball_of_shapes_stops_to_spin),
      cmocka_unit_test(a_ball_that_lands_rolls_as_one_that_rested),
      cmocka_unit_test(discs_that_strike_turn_as_by_formulas),
      cmocka_unit_test(a_dry_pin_swings_beside_shapes),
      cmocka_unit_test(a_patch_goes_on_beside_rolling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
