/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Dry friction in joints of bodies: a given torque, and one that follows the force of the joint (docs/theory/laws.md,
 * 3.5).
 */
#include "saltus_test.h"

static const double gravity = 9.81;

/* A bar of 2 kg that swings 0.5 m below a pin with m l^2 + J = 1 kg m^2. */
#define PENDULUM(start, dry)                                                                       \
  "saltus: 1\n"                                                                                    \
  "parameters: {start: " start "}\n"                                                               \
  "bodies:\n"                                                                                      \
  "  bar: {mass: 2, inertia: 0.5, position: [0.5*sin(start), -0.5*cos(start)], angle: start}\n"    \
  "markers:\n"                                                                                     \
  "  pin: {point: [0, 0]}\n"                                                                       \
  "  top: {body: bar, point: [0, 0.5]}\n"                                                          \
  "joints:\n"                                                                                      \
  "  - {name: hinge, type: revolute, between: [pin, top], dry_friction: " dry "}\n"

/* The same in space, about y. */
#define SPATIAL(dry)                                                                               \
  "saltus: 1\n"                                                                                    \
  "parameters: {start: 2}\n"                                                                       \
  "world: {dimension: 3}\n"                                                                        \
  "bodies:\n"                                                                                      \
  "  bar: {mass: 2, inertia: [0.5, 0.5, 0.5], position: [0.5*sin(start), 0, -0.5*cos(start)],"     \
  " orientation: {rpy: [0, -start, 0]}}\n"                                                         \
  "markers:\n"                                                                                     \
  "  pin: {point: [0, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"                                  \
  "  top: {body: bar, point: [0, 0, 0.5], orientation: {rpy: [pi/2, 0, 0]}}\n"                     \
  "joints:\n"                                                                                      \
  "  - {name: hinge, type: revolute, between: [pin, top], dry_friction: " dry "}\n"

typedef struct outcome {
  double q[8], v[6];
  saltus_energy energy;
} outcome;

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
  const saltus_recorder recorder = {0};
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
  outcome out = {0};
  memcpy(out.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(out.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  out.energy = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return out;
}

/* Eight swings from 2 rad, 1 N m: the numbers of energy roots. */
static void a_hinge_with_a_given_torque_comes_to_rest(void** state) {
  (void)state;
  for (double tol = 1e-4; tol > 0.9e-8; tol *= 1e-2) {
    outcome out = run(PENDULUM("2", "{force: 1}"), "adaptive", tol, 1.27472206369);
    assert_near(out.q[2], -1.61813930684, 20.0 * tol);
    out = run(PENDULUM("2", "{force: 1}"), "adaptive", tol, 20.0);
    assert_near(out.q[2], -0.0290843317121, 20.0 * tol);
    assert_near(out.v[2], 0.0, 1e-12);
    assert_near(out.energy.remainder, 0.0, 100.0 * tol);
    outcome space = run(SPATIAL("{force: 1}"), "adaptive", tol, 20.0);
    assert_near(space.q[0], 0.5 * sin(-0.0290843317121), 20.0 * tol);
    assert_near(space.energy.remainder, 0.0, 100.0 * tol);
  }
}

/* Of the first order in the step. */
static void steps_of_moreau_and_jean_have_it_too(void** state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    outcome out = run(PENDULUM("2", "{force: 1}"), "moreau-jean", k == 0 ? 4e-3 : 1e-3, 20.0);
    error[k] = fabs(out.q[2] + 0.0290843317121);
  }
  assert_true(error[0] <= 0.02 && error[1] <= 0.02 / 4.0);
}

/* th'' of the bar with friction arm |R| against w, R = m (a - g) at its centre: a fixed point in |R|. */
static double acceleration(double th, double w, double arm) {
  const double m = 2.0, l = 0.5;
  double reaction = 0.0, a = 0.0;
  for (int k = 0; k < 200; k++) {
    a = -gravity * sin(th) - (w > 0.0 ? 1.0 : w < 0.0 ? -1.0 : 0.0) * arm * reaction;
    reaction = m * hypot(gravity * cos(th) + l * w * w, gravity * sin(th) + l * a);
  }
  return a;
}

/* A pin of 0.1 m with 0.5 against classical Runge-Kutta steps, before it turns. */
static void a_pin_follows_the_force_of_its_joint(void** state) {
  (void)state;
  const double arm = 0.05, until = 0.75;
  const int steps = 3000;
  double th = 2.0, w = -1e-300, h = until / steps;
  for (int i = 0; i < steps; i++) {
    double a1 = acceleration(th, w, arm), v2 = w + 0.5 * h * a1;
    double a2 = acceleration(th + 0.5 * h * w, v2, arm), v3 = w + 0.5 * h * a2;
    double a3 = acceleration(th + 0.5 * h * v2, v3, arm), v4 = w + h * a3;
    double a4 = acceleration(th + h * v3, v4, arm);
    th += h / 6.0 * (w + 2.0 * v2 + 2.0 * v3 + v4);
    w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  assert_true(w < -1.0);
  for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
    outcome out = run(PENDULUM("2", "{arm: 0.05}"), "adaptive", tol, until);
    assert_near(out.q[2], th, 20.0 * tol + 1e-11);
    assert_near(out.v[2], w, 20.0 * tol + 1e-11);
    assert_near(out.energy.remainder, 0.0, 100.0 * tol);
  }
}

/* At an angle that friction holds it stays, and beyond it does not: sin th = arm R / (m g l), R = m g. */
static void a_pin_holds_up_to_its_limit(void** state) {
  (void)state;
  outcome out = run(PENDULUM("asin(0.1) - 1e-6", "{arm: 0.05}"), "adaptive", 1e-8, 10.0);
  assert_near(out.q[2], asin(0.1) - 1e-6, 1e-12);
  out = run(PENDULUM("asin(0.1) + 1e-3", "{arm: 0.05}"), "adaptive", 1e-8, 1.0);
  assert_true(out.q[2] < asin(0.1));
}

/* A limit that grows with the friction it allows has no value: an arm of 5 m on a bar of 1 m. The run ends with an error
 * and says where, whatever looks for its reasons. */
static void a_limit_that_does_not_settle_ends_the_run(void** state) {
  (void)state;
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {
      .path = "text", .text = PENDULUM("2", "{arm: 5}"), .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scene_create(&made, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double v0[3] = {-1.5 * cos(2.0), -1.5 * sin(2.0), -3.0};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "adaptive",
                              .q0 = view->q0,
                              .v0 = v0,
                              .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_true(saltus_sim_run_until(sim, 5.0) != SALTUS_OK);
  assert_non_null(strstr(kept.text, "t = 0"));
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* A thin disc of 4 cm that whirls on a table without slip: x, y, z, the angle of its point of contact, its tilt, its own
 * angle, which is that of the point of contact along the rim. */
#define WHIRL(friction, resistance) WHIRL_FROM("0.03", friction, resistance)
#define WHIRL_FROM(start, friction, resistance)                                                    \
  "saltus: 1\n"                                                                                    \
  "parameters: {r: 0.04, g: 9.81, start: " start ", rate: sqrt(4*g/(r*sin(start)))}\n"             \
  "coordinates: {x: {}, y: {}, z: {start: r*sin(start)}, phi: {velocity: rate}, al: {start: "      \
  "start}, psi: {velocity: -rate*cos(start)}}\n"                                                   \
  "kinetic: (x'^2 + y'^2 + z'^2)/2 + r^2/8*(al'^2 + (phi'*sin(al))^2) + r^2/4*(phi'*cos(al) + "    \
  "psi')^2\n"                                                                                      \
  "potential: g*z\n"                                                                               \
  "contacts:\n"                                                                                    \
  "  - {name: table, gap: z - r*sin(al), slip: x'*cos(phi) + y'*sin(phi) + r*(phi'*cos(al) + "     \
  "psi'), slip2: y'*cos(phi) - x'*sin(phi) + r*al'*sin(al), friction: 100" friction                \
  "}\n" resistance

/* When its tilt has come from 0.03 to 0.003, by the equations of a rolling disc: with N = m g where the friction is given,
 * digits as there. Where rolling friction follows the force of the contact, N = m (g + z''), the tilt at that time is that of
 * classical Runge-Kutta steps of the same equations. */
static void a_whirling_disc_comes_down_in_its_time(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double t, tilt, digit;
  } cases[] = {
      {WHIRL("", "dry_friction: [{name: rim, rate: psi', force: 4e-5*g}]\n"), 0.160704673, 0.003,
       1e-9},
      {WHIRL("", "forces: {psi: -4e-7*g*psi'}\n"), 0.0727170, 0.003, 1e-7},
      {WHIRL("", "forces: {al: -4e-4*g*al'/sqrt(al'^2 + (psi'*sin(al))^2), psi: "
                 "-4e-4*g*psi'*sin(al)^2/sqrt(al'^2 + (psi'*sin(al))^2)}\n"),
       1.107715589, 0.003, 1e-9},
      {WHIRL(", rolling: {arm: 4e-4, rate: al', rate2: psi'*sin(al)}", ""), 1.107715589,
       0.00329066808143, 0.0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const double tol = 1e-10, delay = 1e-4;
    outcome out = run(cases[k].text, "adaptive", tol, cases[k].t);
    outcome later = run(cases[k].text, "adaptive", tol, cases[k].t + delay);
    double rate = (later.q[4] - out.q[4]) / delay;
    assert_true(rate < 0.0);
    assert_near(out.q[4], cases[k].tilt, cases[k].digit * fabs(rate) + 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 10.0 * tol);
  }
}

/* Time from a tilt of 0.03 to 0.003 when it is slow: 3/2 m g r al' = -power, with the rate sqrt(4 g / (r sin(al))) of its point
 * of contact; by Simpson's rule. */
static double slow_time(double (*time_of)(double tilt)) {
  enum { PARTS = 2000 };
  const double from = 0.003, h = (0.03 - from) / PARTS;
  double sum = 0.0;
  for (int k = 0; k <= PARTS; k++) {
    const double weight = k == 0 || k == PARTS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
    sum += weight * time_of(from + k * h);
  }
  return sum * h / 3.0;
}

static double along_the_rim(double tilt) {
  return 0.75 * pow(0.04, 1.5) / (4e-5 * sqrt(gravity)) * sqrt(sin(tilt));
}

static double by_its_rate(double tilt) {
  return 1.5 * 0.04 * 0.04 * tan(tilt) / (4.0 * 4e-7 * gravity);
}

static double by_rolling(double tilt) {
  return 0.75 * pow(0.04, 1.5) / (4e-4 * sqrt(gravity)) / sqrt(sin(tilt));
}

/* From 0.1 to 0.01 by classical Runge-Kutta steps of the same equations; with the times above the exponents of
 * t ~ tilt^(1/n), near the 2/3, 1/2 and 2 of a slow motion. */
static void the_tilt_of_a_whirling_disc_falls_by_its_exponent(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double t, last, exponent, digit;
    double (*slow)(double tilt);
    double printed, slow_digit;
  } cases[] = {
      {WHIRL_FROM("0.1", "", "dry_friction: [{name: rim, rate: psi', force: 4e-5*g}]\n"),
       0.977695063301, 0.160704673, 0.66679, 1e-5, along_the_rim, 0.160648818, 1e-9},
      {WHIRL_FROM("0.1", "", "forces: {psi: -4e-7*g*psi'}\n"), 0.763716251742, 0.0727170, 0.512,
       1e-3, by_its_rate, 0.0681296, 1e-7},
      {WHIRL_FROM("0.1", "",
                  "forces: {al: -4e-4*g*al'/sqrt(al'^2 + (psi'*sin(al))^2), psi: "
                  "-4e-4*g*psi'*sin(al)^2/sqrt(al'^2 + (psi'*sin(al))^2)}\n"),
       2.023667811828, 1.107715589, 1.9979, 1e-4, by_rolling, 1.134405536, 1e-9},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const double tol = 1e-9;
    outcome out = run(cases[k].text, "adaptive", tol, cases[k].t);
    assert_near(out.q[4], 0.01, 20.0 * tol);
    assert_near(log(0.1 / 0.03) / log(cases[k].t / cases[k].last), cases[k].exponent,
                cases[k].digit);
    assert_near(slow_time(cases[k].slow), cases[k].printed, cases[k].slow_digit);
  }
}

/* A rope around a drum, T2 <= T1 exp(mu wrap), is dry friction that follows the mean of both, scenes/capstan.yaml. */
static void a_rope_slides_around_a_drum(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\n"
      "coordinates: {l1: {start: 2}, l2: {start: 2}}\n"
      "kinetic: (l1'^2 + 3*l2'^2)/2\n"
      "potential: -9.81*(l1 + 3*l2)\n"
      "joints: [{name: rope, constraint: l1 + l2 - 4}]\n"
      "dry_friction:\n"
      "  - {name: drum, rate: (l2' - l1')/2, arm: 2*tanh(0.1*pi), joint: rope}\n";
  static const char held[] =
      "saltus: 1\n"
      "coordinates: {l1: {start: 2}, l2: {start: 2}}\n"
      "kinetic: (l1'^2 + 1.87*l2'^2)/2\n"
      "potential: -9.81*(l1 + 1.87*l2)\n"
      "joints: [{name: rope, constraint: l1 + l2 - 4}]\n"
      "dry_friction:\n"
      "  - {name: drum, rate: (l2' - l1')/2, arm: 2*tanh(0.1*pi), joint: rope}\n";
  const double a = 2.26519340464, tensions[2] = {12.0751934046, 22.6344197861};
  static const struct {
    const char* scheme;
    double tol; /* or step */
  } runs[] = {{"adaptive", 1e-10}, {"moreau-jean", 0.01}, {"rattle", 0.01}};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    outcome out = run(text, runs[k].scheme, runs[k].tol, 1.0);
    assert_near(out.v[1], a, 1e-9);
    assert_near(out.q[1], 2.0 + 0.5 * a, 1e-9);
    /* what hangs on it tells the tensions */
    assert_near(1.0 * (gravity + out.v[1]), tensions[0], 1e-9);
    assert_near(3.0 * (gravity - out.v[1]), tensions[1], 3e-9);
    /* exp(0.2 pi) = 1.8745: just below it does not slide */
    assert_near(run(held, runs[k].scheme, runs[k].tol, 1.0).q[1], 2.0, 1e-12);
  }
}

static void friction_that_means_nothing_is_refused(void** state) {
  (void)state;
  static const char* const texts[] = {
      PENDULUM("2", "{force: -1}"),
      PENDULUM("2", "{force: 1}, drive: {speed: 1}"),
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    saltus_kept_message kept = {0};
    saltus_scene* scene = NULL;
    const saltus_scene_def made = {.path = "text", .text = texts[k], .log = saltus_log_keep(&kept)};
    assert_true(saltus_scene_create(&made, &scene) != SALTUS_OK);
    assert_non_null(strstr(kept.text, "dry friction"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hinge_with_a_given_torque_comes_to_rest),
      cmocka_unit_test(steps_of_moreau_and_jean_have_it_too),
      cmocka_unit_test(a_pin_follows_the_force_of_its_joint),
      cmocka_unit_test(a_pin_holds_up_to_its_limit),
      cmocka_unit_test(a_limit_that_does_not_settle_ends_the_run),
      cmocka_unit_test(a_whirling_disc_comes_down_in_its_time),
      cmocka_unit_test(the_tilt_of_a_whirling_disc_falls_by_its_exponent),
      cmocka_unit_test(a_rope_slides_around_a_drum),
      cmocka_unit_test(friction_that_means_nothing_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
