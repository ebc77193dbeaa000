/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_element_motions.c - bodies that move by machine elements: closed ledgers, a capturing scheme that converges to
 * what `adaptive` gives, and closed forms of what rolls.
 */
#include "cam_profiles.h"
#include "scene_runs.h"

#include <stdio.h>

static scene_outcome simulate(const saltus_scene_view* view, const char* scheme, double amount) {
  return scene_run(view, scheme, amount, 0.4);
}

typedef struct bounds {
  double steps[2]; /* of moreau-jean */
  double near;     /* how far it may be off with the smaller one */
  double spare;    /* two steps at 1 m/s: where an impact falls within a step is chance */
} bounds;

/* Steps of moreau-jean and what they err, of order 1: four times as long with sanitizers, where 16 000 of them would
 * take half a minute of every make test. */
static double longer(void) {
  return saltus_test_sanitized() && !saltus_test_long() ? 4.0 : 1.0;
}

/* What every element has to do: impacts, no energy out of nothing, a closed ledger, and a capturing scheme that converges to
 * what `adaptive` gives. */
static void judge_motion(const char* text, const bounds* of) {
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const int n = view->system->dims.nq;
  const scene_outcome fine = simulate(view, "adaptive", 1e-9);
  const scene_outcome coarse = simulate(view, "moreau-jean", longer() * of->steps[0]);
  const scene_outcome better = simulate(view, "moreau-jean", longer() * of->steps[1]);
  const double far = scene_apart(&coarse, &fine, n), near = scene_apart(&better, &fine, n);
  const saltus_energy* w = &fine.ledger;
  if (fine.impacts == 0 || fine.creations > 0 || w->impact > 0.0 || w->friction > 0.0 ||
      fabs(w->remainder) > 1e-7 || !(near < longer() * of->near) ||
      !(near < 0.5 * far + longer() * of->spare)) {
    fail_msg("%lld impacts, %lld creations, friction %g, remainder %g, capturing %g then %g: %s",
             fine.impacts, fine.creations, w->friction, w->remainder, far, near, text);
  }
  saltus_scene_destroy(scene);
}

/* A body that is thrown, and a spring that brings it to the contact, for every element. */
static void motions_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const char* const elements[] = {
      "{name: e, type: journal, between: [a, b], clearance: 0.02, radius: 0.1, friction: 0.1, "
      "%s}\n",
      "{name: e, type: stop, between: [a, b], radius: 0.05, friction: 0.1, %s}\n",
      "{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.5, %s}\n",
      "{name: e, type: spring-contact, between: [a, b], preload: 3, stiffness: 10, %s}\n",
      "{name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, clearance: 0.02, %s}\n",
      "{name: e, type: rope, between: [a, b], length: 0.05, %s}\n",
      "{name: e, type: latch, between: [a, b], radius: 0.05, friction: 0.2, while: held, %s}\n"
      "inputs: {held: 1}\nevents: {release: {formula: t - 0.35, direction: rising, set: {held: "
      "0}}}\n",
      "{name: e, type: stop, between: [a, b], friction: {static: 0.3, kinetic: 0.1, speed: 0.2}, "
      "viscous: 0.5, %s}\n",
      "{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.5, rolling: 0.01, %s}\n",
      "{name: e, type: journal, between: [a, b], clearance: 0.02, radius: 0.1, friction: {static: "
      "0.2, kinetic: 0.1}, %s}\n",
      "{name: e, type: ratchet, between: [a, b], teeth: 9, radii: [0.5, 0.6], radius: 0.05, "
      "friction: 0.1, %s}\n",
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " ARCS,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], follower: flat, %s, " FORMULA,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, friction: 0.1, "
      "%s, " ARCS,
      "{name: e, type: cam, between: [a, b], follower: flat, friction: 0.1, %s, " ARCS,
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], follower: flat, friction: 0.1, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " FORMULA,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, friction: 0.1, "
      "%s, " FORMULA,
      "{name: e, type: ratchet, between: [a, b], teeth: -7, radii: [0.5, 0.6], radius: 0.03, "
      "%s}\n"};
  uint64_t seed = 11;
  enum { FIRST = 14 }; /* those whose frame also stands still in short runs of the test */
  for (size_t k = 0; k < 2 * (sizeof elements / sizeof elements[0]); k++) {
    char item[1500], text[3000];
    const bool still = k % 2 == 0;
    if (still && k / 2 >= FIRST && !saltus_test_long()) {
      continue;
    }
    const char* of = elements[k / 2];
    const bool cam = strstr(of, "cam") != NULL || strstr(of, "ratchet") != NULL;
    const bool inside =
        strstr(of, "journal") != NULL || strstr(of, "guide") != NULL || strstr(of, "rope") != NULL;
    const double height = cam ? 1.0 : inside ? 0.0 : 0.2;
    /* one after the other: in which order arguments are computed is the compiler's choice */
    const double turn = saltus_test_random(&seed) - 0.5;
    const double slide = saltus_test_random(&seed) - 0.5;
    snprintf(item, sizeof item, of, "restitution: 0.4");
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
             "  two: {mass: 2, inertia: 0.3, position: [0.01, %g], angle: 0.1,\n"
             "        velocity: [%g, -1], angular_velocity: %g}\n%s"
             "markers: {a: {%sangle: 0.05}, b: {body: two}, o: {}}\n"
             "springs: [{between: [a, b], stiffness: 40, damping: 0.5}%s]\n"
             "simulate: {until: 1}\nelements:\n  - %s",
             height, slide, turn,
             still ? "" : "  one: {mass: 5, inertia: 2, angular_velocity: 0.3}\n",
             still ? "" : "body: one, ", still ? "" : ", {between: [o, a], stiffness: 200}", item);
    const bounds fine = {.steps = {2e-4, 2.5e-5}, .near = 2e-4, .spare = 5e-5};
    const bounds rough = {.steps = {4e-4, 5e-5}, .near = 4e-4, .spare = 1e-4};
    judge_motion(text, still || saltus_test_long() ? &fine : &rough);
  }
}

/* Elements between joints, and those that are joints: the same claims. */
static void gears_and_rolling_wheels_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    bool impacts;
  } machines[] = {
      {"saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, position: [0, 0], angular_velocity: %g}\n"
       "  two: {mass: 1, inertia: 0.05, position: [0.5, 0], angular_velocity: %g}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b], spring: {stiffness: 2, rest: 0.4}},\n"
       "  {name: j, type: revolute, between: [c, d], damping: 0.01}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 0.3], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* a rack: the second joint slides */
      {"saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, position: [0, 0], angular_velocity: %g}\n"
       "  two: {mass: 1, inertia: 0.05, position: [0.5, 0], velocity: [%g, 0]}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b]},\n"
       "  {name: j, type: prismatic, between: [c, d], spring: {stiffness: 60}}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 1], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* wheels in space */
      {"saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: [0.03, 0.03, 0.02], angular_velocity: [0, 0, %g]}\n"
       "  two: {mass: 1, inertia: [0.03, 0.03, 0.05], position: [0.5, 0, 0], angular_velocity: [0, "
       "0, %g]}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b], spring: {stiffness: 2, rest: 0.4}},\n"
       "  {name: j, type: revolute, between: [c, d], damping: 0.01}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 0.3], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* a wheel that rolls on a cart, both on springs */
      {"saltus: 1\nworld: {dimension: 2, gravity: [1, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, velocity: [0, 0], angular_velocity: 0*%g}\n"
       "  two: {mass: 1, inertia: 0.002, position: [0.1, 0.1], velocity: [0.1*%g, 0]}\n"
       "markers: {a: {}, b: {body: one}, c: {body: two}}\n"
       "joints: [{name: i, type: prismatic, between: [a, b], spring: {stiffness: 60}}]\n"
       "springs: [{between: [a, c], stiffness: 40, damping: 0.5}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: rolling, between: [b, c], radius: 0.1}\n",
       false},
  };
  uint64_t seed = 23;
  for (size_t k = 0; k < sizeof machines / sizeof machines[0]; k++) {
    char text[3000];
    const double w = 2.0 + saltus_test_random(&seed), v = -1.0 - saltus_test_random(&seed);
    snprintf(text, sizeof text, machines[k].text, w, v);
    if (!machines[k].impacts) { /* it starts rolling: x' = -R w */
      char* end = strstr(text, ", 0]}\nmarkers");
      char rest[2000];
      snprintf(rest, sizeof rest, "%s", end + 5);
      snprintf(end, sizeof text - (size_t)(end - text), ", 0], angular_velocity: %g}%s", -v, rest);
    }
    saltus_scene* scene = scene_open_text(text);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const scene_outcome fine = simulate(view, "adaptive", 1e-9);
    const scene_outcome coarse = simulate(view, "moreau-jean", longer() * 2e-4);
    const scene_outcome better = simulate(view, "moreau-jean", longer() * 2.5e-5);
    const int n = view->system->dims.nq;
    const double far = scene_apart(&coarse, &fine, n), near = scene_apart(&better, &fine, n);
    const saltus_energy* e = &fine.ledger;
    if ((fine.impacts > 0) != machines[k].impacts || fine.creations > 0 || e->impact > 0.0 ||
        fabs(e->remainder) > 1e-7 || !(near < longer() * 1e-3) ||
        !(near < 0.5 * far + longer() * 5e-5)) {
      fail_msg("%lld impacts, %lld creations, impact %g, remainder %g, capturing %g then %g: %s",
               fine.impacts, fine.creations, e->impact, e->remainder, far, near, text);
    }
    if (!machines[k].impacts) { /* it has rolled: x in the axes of the cart + R angle stays */
      assert_near(fine.q[3] - fine.q[0] + 0.1 * fine.q[5], 0.1, 1e-10);
      assert_near(fine.q[4] - fine.q[1], 0.1, 1e-10);
      assert_true(fabs(fine.q[3] - 0.1) > 0.01);
    }
    saltus_scene_destroy(scene);
  }
}

/* A body thrown in space, and a spring that brings it to the contact. */
static void motions_in_space_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const struct {
    const char* item;
    double height;
  } all[] = {
      {"{name: e, type: stop, between: [a, b], friction: 0.2, restitution: 0.4}\n", 0.1},
      {"{name: e, type: stop, between: [a, b], radius: 0.05, friction: 0.1, restitution: 0.4}\n",
       0.2},
      {"{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.4, restitution: 0.2}\n",
       0.2},
      {"{name: e, type: journal, between: [a, b], radius: 0.05, clearance: 0.02, friction: 0.1, "
       "restitution: 0.4}\n",
       0.0},
      {"{name: e, type: rope, between: [a, b], length: 0.05, restitution: 0.4}\n", 0.0},
      {"{name: e, type: spring-contact, between: [a, b], preload: 3, stiffness: 10, restitution: "
       "0.4}\n",
       0.1},
      {"{name: e, type: latch, between: [a, b], radius: 0.05, friction: 0.2, restitution: 0.4, "
       "while: "
       "held}\ninputs: {held: 1}\nevents: {release: {formula: t - 0.35, direction: rising, set: "
       "{held: 0}}}\n",
       0.2},
      {"{name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, height: 0.3, clearance: "
       "0.02, friction: 0.1, restitution: 0.4}\n",
       0.0},
      {"{name: e, type: cam, between: [a, b], friction: 0.1, restitution: 0.4, follower: roller, "
       "radius: 0.05, " ARCS,
       0.0},
      {"{name: e, type: cam, between: [a, b], friction: 0.1, restitution: 0.4, " SPLINE, 0.0},
      {"{name: e, type: cam, between: [a, b], restitution: 0.4, follower: roller, radius: "
       "0.05, " FORMULA,
       0.0},
      {"{name: e, type: ratchet, between: [a, b], teeth: 9, radii: [0.5, 0.6], radius: 0.05, "
       "friction: 0.1, restitution: 0.4}\n",
       0.0},
  };
  uint64_t seed = 31;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    char text[3000];
    const bool round = strstr(all[k].item, "cam") != NULL || strstr(all[k].item, "ratchet") != NULL;
    const double across = saltus_test_random(&seed) - 0.5, spin = saltus_test_random(&seed) - 0.5;
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
             "  two: {mass: 2, inertia: [0.3, 0.35, 0.4], position: [0.002, %g, %g],\n"
             "        velocity: [%g, %g, -1], angular_velocity: [%g, 1, 0.5]}\n"
             "markers: {a: {orientation: {rpy: [0.05, 0.1, 0]}}, b: {body: two, orientation: {rpy: "
             "[%g, 0, 0]}}}\n"
             "springs: [{between: [a, b], stiffness: 40, damping: 0.5}]\n"
             "simulate: {until: 1}\nelements:\n  - %s",
             round ? 0.9 : 0.001, all[k].height, across, round ? -1.5 : 0.5, spin,
             strstr(all[k].item, "guide") != NULL ? 0.0 : 1.5, all[k].item);
    judge_motion(text, &(bounds){.steps = {4e-4, 5e-5}, .near = 4e-4, .spare = 1e-4});
  }
}

/* On a turntable its centre runs on a circle with 2/7 of the rate, from the turntable's data an exact place; on a plate
 * that is pushed it has 2/7 of the acceleration of the plate, whose mass is larger by 2/7 of the ball's. */
static void a_ball_rolls_on_what_moves(void** unused) {
  (void)unused;
  static const char turntable[] =
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  table: {driven: {rpy: [0, 0, 2*t]}}\n"
      "  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [1, 0, 0.1], velocity: [0, 0.5, "
      "0], angular_velocity: [15, 0, 0]}\n"
      "markers: {top: {body: table}, centre: {body: ball}}\nelements:\n"
      "  - {name: e, type: rolling, between: [top, centre], radius: 0.1}\n";
  const scene_outcome on_table = scene_run_text(turntable, "adaptive", 1e-10, 5.0);
  assert_near(on_table.q[0], -0.714839176069241, 1e-9);
  assert_near(on_table.q[1], 0.245550724575062, 1e-9);
  assert_near(on_table.q[2], 0.1, 1e-12);
  assert_near(on_table.ledger.remainder, 0.0, 1e-8);
  const scene_outcome by_radau = scene_run_text(turntable, "radau-iia-5", 0.01, 1.0);
  assert_near(by_radau.q[0], 0.860988061738332, 1e-8);
  assert_near(by_radau.q[1], 0.473229936688978, 1e-8);
  const scene_outcome plate = scene_run_text(
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
      "  plate: {mass: 3, inertia: [1, 1, 1]}\n"
      "  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0.1]}\n"
      "markers: {p: {body: plate}, rail: {orientation: {rpy: [0, pi/2, 0]}}, slide: {body: plate, "
      "orientation: {rpy: [0, pi/2, 0]}}, centre: {body: ball}}\n"
      "joints: [{name: j, type: prismatic, between: [rail, slide], actuator: 2}]\nelements:\n"
      "  - {name: e, type: rolling, between: [p, centre], radius: 0.1}\n",
      "adaptive", 1e-10, 1.0);
  const double push = 2.0 / (3.0 + 2.0 / 7.0);
  assert_near(plate.q[0], 0.5 * push, 1e-10);
  assert_near(plate.q[7], 0.5 * push * 2.0 / 7.0, 1e-10);
}

/* A thin disc: lying nearly flat its centre stays where it is when it circles with Omega^2 = 4 g/(r sin a); upright it is stable
 * from the spin sqrt(g/(3 r)) on. */
static void a_wheel_rolls_in_space(void** unused) {
  (void)unused;
  char text[1200];
  static const char format[] =
      "saltus: 1\nparameters: {r: %g, a: %.17g, m: 0.4}\nworld: {dimension: 3}\nbodies:\n"
      "  disc: {mass: m, inertia: [m*r^2/4, m*r^2/4, m*r^2/2], position: [0, 0, r*sin(a)], "
      "orientation: {rpy: [a, 0, 0]}, velocity: [%s, 0, 0], angular_velocity: [0, %s, %s]}\n"
      "markers: {floor: {}, axle: {body: disc}}\nsimulate: {start_tolerance: 1e-6}\nelements:\n"
      "  - {name: e, type: rolling-wheel, between: [floor, axle], radius: r}\n";
  snprintf(text, sizeof text, format, 0.0375, 0.17453292519943295, "0",
           "sqrt(4*9.81/(r*sin(a)))*sin(a)", "0");
  const scene_outcome euler = scene_run_text(text, "adaptive", 1e-9, 1.0);
  for (int i = 0; i < 3; i++) {
    assert_near(euler.q[i], i < 2 ? 0.0 : 0.0375 * sin(0.17453292519943295), 1e-9);
  }
  assert_near(euler.ledger.remainder, 0.0, 1e-9);
  /* any motion: the schemes agree, with order 2 */
  static const char any[] =
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  w: {mass: 0.4, inertia: [0.0003, 0.0003, 0.0006], position: [0, 0, 0.05], orientation: "
      "{rpy: [pi/2 - 0.2, 0, 0.3]}, velocity: [0.2, 0.1, 0], angular_velocity: [0.5, 1, 8]}\n"
      "markers: {f: {}, a: {body: w}, g: {point: [0.1, 0.2, 0.3]}}\n"
      "springs: [{between: [g, a], stiffness: 3, damping: 0.1}]\n"
      "simulate: {start_tolerance: 10}\nelements:\n"
      "  - {name: e, type: rolling-wheel, between: [f, a], radius: 0.05}\n";
  const scene_outcome exact = scene_run_text(any, "adaptive", 1e-9, 0.4);
  const scene_outcome coarse = scene_run_text(any, "moreau-jean", 1e-3, 0.4);
  const scene_outcome better = scene_run_text(any, "moreau-jean", 2.5e-4, 0.4);
  assert_true(scene_apart(&better, &exact, 7) < 2e-4); /* it spins with 8 rad/s: (h w)^2 a radian */
  assert_true(scene_apart(&better, &exact, 7) < 0.1 * scene_apart(&coarse, &exact, 7));
  assert_near(exact.ledger.remainder, 0.0, 1e-9);
  /* it rolls along x with the axle along y, 0.01 degrees off the upright, spin about the axle */
  for (int k = 0; k < 2; k++) {
    const double spin = k == 0 ? 2.3 : 2.8; /* sqrt(g/(3 r)) = 2.557 */
    char speed[32], about[32];
    snprintf(speed, sizeof speed, "-%g*r", spin);
    snprintf(about, sizeof about, "%g", spin);
    snprintf(text, sizeof text, format, 0.5, 1.5707963267948966 - 1.7453292519943296e-4, speed, "0",
             about);
    double lean = 0.0; /* degrees */
    for (double t = 4.5; t <= 6.0; t += 0.5) {
      const scene_outcome upright = scene_run_text(text, "adaptive", 1e-7, t);
      lean = fmax(lean, acos(fmin(1.0, upright.q[2] / 0.5)) * 57.29577951308232);
    }
    if (!(k == 0 ? lean > 10.0 : lean < 0.2)) {
      fail_msg("spin %g: it leans by up to %g degrees until 6 s", spin, lean);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(gears_and_rolling_wheels_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(motions_in_space_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(a_ball_rolls_on_what_moves),
      cmocka_unit_test(a_wheel_rolls_in_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
