/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every scheme that treats friction has to satisfy, on scenes with known answers. A new scheme
 * is covered by declaring SALTUS_TREATS_FRICTION or SALTUS_TREATS_PLANAR_FRICTION.
 */
#include "saltus_test.h"

#include <stdlib.h>

typedef struct run {
  saltus_scene* scene;
  const saltus_scene_view* view;
  saltus_sim* sim;
} run;

/* A run of a scene by a scheme with its defaults. */
static run start(const char* name, const char* scheme, double h, const saltus_override* overrides,
                 int count) {
  run r = {.scene = saltus_test_scene(name, overrides, count)};
  r.view = saltus_scene_get_view(r.scene);
  const saltus_sim_def def = {
      .system = r.view->system, .scheme = scheme, .h = h, .q0 = r.view->q0, .v0 = r.view->v0};
  assert_int_equal(saltus_sim_create(&def, &r.sim), SALTUS_OK);
  return r;
}

static void finish(run* r) {
  saltus_sim_destroy(r->sim);
  saltus_scene_destroy(r->scene);
}

static void go(run* r, double until) {
  while (saltus_sim_time(r->sim) < until - 1e-9) {
    assert_int_equal(saltus_sim_step(r->sim), SALTUS_OK);
  }
}

static bool has_friction(const saltus_scheme_info* info) {
  return (info->treats & (SALTUS_TREATS_FRICTION | SALTUS_TREATS_PLANAR_FRICTION)) != 0;
}

#define FOR_EVERY_SCHEME_WITH_FRICTION(info)                                                       \
  for (int k_ = 0; k_ < saltus_scheme_count(); k_++)                                               \
    for (const saltus_scheme_info* info = saltus_scheme_at(k_); info != NULL; info = NULL)         \
      if (has_friction(info))

/* The rod of tilted-rod-friction.yaml at 0.2 s: a parabola to the impact of its lower end, found by bisection, Newton's law with
 * Coulomb's friction for one contact in closed form, a parabola. */
static void tilted_rod(double x[3]) {
  const double g = 9.81;
  const double e = 0.5;
  const double mu = 0.3;
  const double y0 = 0.2 + 0.5 * sin(0.6);
  double low = 0.0;
  double high = 0.2;
  for (int k = 0; k < 60; k++) {
    const double t = 0.5 * (low + high);
    const bool open = y0 - t - 0.5 * g * t * t - 0.5 * sin(0.6 + 0.3 * t) > 0.0;
    *(open ? &low : &high) = t;
  }
  const double a = 0.6 + 0.3 * low;
  const double N[3] = {0.0, 1.0, -0.5 * cos(a)};
  const double T[3] = {1.0, 0.0, 0.5 * sin(a)};
  const double mass[3] = {1.0, 1.0, 1.0 / 12.0};
  double v[3] = {1.0, -1.0 - g * low, 0.3};
  double U[2] = {0.0};
  double W[3] = {0.0}; /* NN, NT, TT */
  for (int i = 0; i < 3; i++) {
    U[0] += N[i] * v[i];
    U[1] += T[i] * v[i];
    W[0] += N[i] * N[i] / mass[i];
    W[1] += N[i] * T[i] / mass[i];
    W[2] += T[i] * T[i] / mass[i];
  }
  /* to U_N = -e U_N-, sticking; where that leaves the cone, sliding on */
  const double d = W[0] * W[2] - W[1] * W[1];
  double P[2] = {(-(1.0 + e) * U[0] * W[2] + W[1] * U[1]) / d,
                 (-W[0] * U[1] + W[1] * (1.0 + e) * U[0]) / d};
  if (fabs(P[1]) > mu * P[0]) {
    const double s = P[1] > 0.0 ? mu : -mu;
    P[0] = -(1.0 + e) * U[0] / (W[0] + s * W[1]);
    P[1] = s * P[0];
  }
  const double rest = 0.2 - low;
  x[0] = low;
  x[1] = y0 - low - 0.5 * g * low * low;
  x[2] = a;
  for (int i = 0; i < 3; i++) {
    v[i] += (N[i] * P[0] + T[i] * P[1]) / mass[i];
    x[i] += rest * v[i];
  }
  x[1] -= 0.5 * g * rest * rest;
}

/* Normal and tangential directions are coupled: impacts that are spread over steps, with friction in each of them, have no limit. Errors of
 * schemes of order 1 are up to 10 h: an impact is early by up to two steps. */
static void an_impact_with_friction_and_coupled_directions_converges(void** state) {
  (void)state;
  double exact[3];
  tilted_rod(exact);
  assert_near(exact[0], 0.2335289, 1e-7); /* adaptive to 1e-10 */
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    for (double h = 1e-3; h > 5e-5 && !info->chooses_step; h *= 0.1) {
      run r = start("../tests/scenes/failing/tilted-rod-friction", info->name, h, NULL, 0);
      go(&r, 0.2);
      double error = 0.0;
      for (int i = 0; i < 3; i++) {
        error = fmax(error, fabs(saltus_sim_q(r.sim)[i] - exact[i]));
      }
      if (!(error <= 10.0 * h)) {
        print_error("%s, h = %g: %g\n", info->name, h, error);
        fail();
      }
      finish(&r);
    }
  }
}

/* x' = 1 - mu (1 + e_N) while it slides, -e_T when mu suffices to turn it (docs/theory/problems.md, 7.2). 1e-12:
 * rounding, since nothing but the impact acts. */
static void an_oblique_impact_slides_or_turns(void** state) {
  (void)state;
  static const struct {
    const char *mu, *eT;
    double x;
  } cases[] = {{"0.3", "0", 0.55}, {"0.3", "0.4", 0.55}, {"2", "0", 0.0}, {"2", "0.4", -0.4}};
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    for (int i = 0; i < 4; i++) {
      const saltus_override set[] = {{"mu", cases[i].mu}, {"eT", cases[i].eT}};
      run r = start("oblique-impact", info->name, 0.01, set, 2);
      go(&r, 0.2);
      assert_near(saltus_sim_v(r.sim)[0], cases[i].x, 1e-12);
      assert_near(saltus_sim_v(r.sim)[1], 0.5, 1e-12);
      finish(&r);
    }
  }
}

/* The exact swing: half periods of cosines around +-0.04, then rest at -0.02. */
static double block_at(double t) {
  double x = 0.3;
  double half = acos(-1.0) / 10.0;
  while (fabs(x) > 0.04) {
    double centre = x > 0.0 ? 0.04 : -0.04;
    if (t < half) {
      return centre + (x - centre) * cos(10.0 * t);
    }
    x = 2.0 * centre - x;
    t -= half;
  }
  return x;
}

/* A body at rest sinks, and what presses it there comes in jolts. */
static bool sinks(const saltus_scheme_info* info) {
  return info->penetrates && info->impacts_at_end;
}

/* Slip that turns within a step is none at its end: first order, with twice the constant of Moreau's scheme. */
static bool is_split(const saltus_scheme_info* info) {
  return info->impacts_at_end && info->embedded_order > 0;
}

/* Largest error of the block over two seconds. */
static double block_error(const char* scheme, double h) {
  run r = start("coulomb-block", scheme, h, NULL, 0);
  double worst = 0.0;
  while (saltus_sim_time(r.sim) < 2.0 - 0.5 * h) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    worst = fmax(worst, fabs(saltus_sim_q(r.sim)[0] - block_at(saltus_sim_time(r.sim))));
  }
  /* it sticks: not a bit moves between here and a second later, up to rounding of the spring */
  assert_near(saltus_sim_v(r.sim)[0], 0.0, 1e-12);
  if (!sinks(saltus_scheme_find(scheme))) {
    assert_near(saltus_sim_q(r.sim)[1], 0.0, 1e-12);
  }
  finish(&r);
  return worst;
}

/* Over neighbouring grids: where a turning point falls in its step decides about single runs. */
static double mean_block_error(const char* scheme, int steps) {
  enum { GRIDS = 8 };
  double sum = 0.0;
  for (int k = 0; k < GRIDS; k++) {
    sum += block_error(scheme, 2.0 / (steps + k * steps / 23)) / GRIDS;
  }
  return sum;
}

/* Methods of Euler change the amplitude of the smooth motion by exp(+-w^2 h t / 2). */
static bool is_euler(const saltus_scheme_info* info) {
  return info->locates_events && info->smooth_order == 1;
}

/* Order one, from the instants of turning inside a step: measured 1.3e-3 at h = 4e-3 and 3.4e-4 at
 * h = 1e-3 by Moreau's scheme, allowed is about twice that; Euler's methods 3.6e-2. Methods of order 6 are at
 * rounding. */
static void the_block_on_a_spring_sticks_where_it_should(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (info->chooses_step || !saltus_test_takes(k_)) {
      continue; /* no step to refine: tests of its tolerance */
    }
    double coarse = mean_block_error(info->name, 500);
    double fine = mean_block_error(info->name, 2000);
    assert_true(coarse <= (is_euler(info) ? 6e-2 : is_split(info) ? 6e-3 : 3e-3));
    assert_true(fine <= fmax(coarse / (is_split(info) ? 2.0 : 2.5), info->stops ? 1e-11 : 1e-13));
  }
}

/* Rolling starts at t = v0/(3 mu g) = 0.5 s with 2/3 of the speed; 2e-3: the step in which slip
 * ends, h mu g. */
static void a_thrown_disc_comes_to_roll(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    run r = start("disc", info->name, 1e-3, NULL, 0);
    go(&r, 0.4);
    assert_near(saltus_sim_v(r.sim)[0], 3.0 - 0.4 * 2.0, 2e-3);
    go(&r, 1.0);
    const double* v = saltus_sim_v(r.sim);
    assert_near(v[0], 2.0, 2e-3);
    assert_near(v[0] - 0.1 * v[2], 0.0, 1e-12);
    assert_near(saltus_sim_q(r.sim)[0], 3.0 * 0.5 - 0.25 + 1.0, 4e-3);
    finish(&r);
  }
}

/* A cone, not a pyramid: whatever the direction, the puck stops on its line after v^2/(2 mu g) =
 * 0.375 m. 1e-12 across; 1e-3 along is half a step at v. Polygons of friction directions are allowed
 * what 8 of them miss, 1 - cos^2(pi/8) = 15 % of the way. */
static void a_puck_slides_on_a_straight_line(void** state) {
  (void)state;
  static const char* const angles[] = {"0.1", "0.4", "1.1", "2.7", "-2"};
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    for (int i = 0; i < 5 && (info->treats & SALTUS_TREATS_FRICTION) != 0; i++) {
      const saltus_override set = {"a", angles[i]};
      run r = start("puck", info->name, 1e-3, &set, 1);
      double a = strtod(angles[i], NULL);
      go(&r, 0.6);
      const double* q = saltus_sim_q(r.sim);
      double missed = info->pyramids ? 0.15 * 0.375 : 0.0;
      assert_near(q[1] * cos(a) - q[0] * sin(a), 0.0, missed + (is_split(info) ? 1e-11 : 1e-12));
      assert_near(q[0] * cos(a) + q[1] * sin(a), 0.375, missed + 1e-3);
      assert_near(saltus_sim_v(r.sim)[0], 0.0, 1e-12);
      assert_near(saltus_sim_v(r.sim)[1], 0.0, 1e-12);
      finish(&r);
    }
  }
}

/* Variable mass matrix and directions (docs/theory/problems.md, 7.2): max |l - exact| 9.0e-4 at dt = .002 for the
 * variational integrator; twice that for every scheme but Euler's, 1.9e-2. */
static void the_pendulum_pressed_on_a_wall_sticks(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (sinks(info)) {
      continue;
    }
    run r = start("polar-wall", info->name, 2e-3, NULL, 0);
    double worst = 0.0;
    while (saltus_sim_time(r.sim) < 2.0 - 1e-3) {
      assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
      double exact = 1.0981 + block_at(saltus_sim_time(r.sim));
      worst = fmax(worst, fabs(saltus_sim_q(r.sim)[0] - exact));
    }
    assert_true(worst <= (is_euler(info) ? 3e-2 : is_split(info) ? 8e-3 : 1.8e-3));
    /* first order: 1.6e-4 at most measured */
    assert_near(saltus_sim_q(r.sim)[0], 1.0781,
                is_euler(info)   ? 3e-2
                : is_split(info) ? 1e-3
                                 : 2e-4);
    finish(&r);
  }
}

static const char sledge[] =
    "saltus: 1\n"
    "parameters: {m: 1, L: 0.5, g: 10, mu: 0.2}\n"
    "coordinates: {x: {start: 0, velocity: 1}, y: {start: 0}, u: {start: 0.3, velocity: 1}, "
    "w: {start: 0.4}}\n"
    "kinetic: m/2*(x'^2 + y'^2) + m/2*(u'^2 + w'^2)\n"
    "potential: m*g*(y + w)\n"
    "joints: [{name: rod, constraint: (x - u)^2 + (y - w)^2 - L^2}, {name: rail, constraint: w - "
    "0.4}]\n"
    "contacts: [{name: floor, gap: y, slip: x', friction: mu}]\n";

/* Two masses on a rod, the front one on a smooth rail, the rear one on a rough floor. The floor slows
 * both, so the rod draws the front mass back with T_x = mu N/2, and the rear one forward and, since
 * the rod is inclined 4:3, up with 4/3 T_x: N = m g - (4/3) mu N/2. 1e-9: rounding of 300 steps. */
static void joints_and_friction_share_a_step(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if ((info->treats & SALTUS_TREATS_JOINTS) == 0 || sinks(info)) {
      continue;
    }
    saltus_kept_message kept;
    const saltus_scene_def def = {.path = "s", .text = sledge, .log = saltus_log_keep(&kept)};
    run r = {0};
    assert_int_equal(saltus_scene_create(&def, &r.scene), SALTUS_OK);
    r.view = saltus_scene_get_view(r.scene);
    const saltus_sim_def sim = {.system = r.view->system,
                                .scheme = info->name,
                                .h = 1e-3,
                                .q0 = r.view->q0,
                                .v0 = r.view->v0};
    assert_int_equal(saltus_sim_create(&sim, &r.sim), SALTUS_OK);
    go(&r, 0.3);
    double normal = 10.0 / (1.0 + 0.2 * 0.5 * 4.0 / 3.0);
    double slowing = 0.2 * normal / 2.0;
    assert_near(saltus_sim_v(r.sim)[0], 1.0 - 0.3 * slowing, 1e-9);
    assert_near(saltus_sim_v(r.sim)[2], 1.0 - 0.3 * slowing, 1e-9);
    finish(&r);
  }
}

/* Woodpecker: cycles between upward crossings of phi_S = -0.3 (docs/theory/problems.md, 7.3). */
typedef struct cycles {
  double period, fall;
  int count;
} cycles;

static cycles woodpecker(const char* scheme, double h, double until) {
  run r = start("woodpecker", scheme, h, NULL, 0);
  double first_t = 0.0, first_y = 0.0, last_t = 0.0, last_y = 0.0;
  double before[2] = {0.0, -0.2788}; /* y, phi_S */
  int crossings = 0;
  while (saltus_sim_time(r.sim) < until - 0.5 * h) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    const double* q = saltus_sim_q(r.sim);
    if (before[1] < -0.3 && q[2] >= -0.3) {
      double part = (-0.3 - before[1]) / (q[2] - before[1]);
      last_t = saltus_sim_time(r.sim) - (1.0 - part) * h;
      last_y = before[0] + part * (q[0] - before[0]);
      if (++crossings == 6) {
        first_t = last_t;
        first_y = last_y;
      }
    }
    before[0] = q[0];
    before[1] = q[2];
  }
  finish(&r);
  int count = crossings - 6;
  return (cycles){(last_t - first_t) / count, (first_y - last_y) / count, count};
}

/* schatzman-paoli spreads an impact over two steps, with friction in each: where normal and tangential
 * directions are coupled that is another impact law, and the woodpecker has another period. */
static void the_woodpecker_climbs_down_its_pole(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (strcmp(info->name, "schatzman-paoli") == 0 || sinks(info) || !saltus_test_takes(k_)) {
      continue;
    }
    bool high = info->locates_events && info->smooth_order > 1;
    cycles c = woodpecker(info->name, high ? 5e-4 : 5e-5, 2.0);
    double wide = is_euler(info) ? 2.0 : 1.0; /* measured 0.14534 to 0.14668 s */
    assert_true(c.count >= 6);
    assert_near(c.period, 0.146, wide * 5e-4);
    assert_near(c.fall, 19.5e-3, wide * 3e-4);
  }
}

/* The block on its spring at 0.75 s, after it turned twice: orders 1 to 6 between two grids, as long as the error is
 * above rounding. */
static void orders_are_kept_through_slip_that_turns(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (!info->locates_events || info->chooses_step || info->pyramids) {
      continue;
    }
    double error[2];
    int steps = info->order == 1 ? 1200 : info->order == 2 ? 150 : 75;
    for (int k = 0; k < 2; k++) {
      run r = start("coulomb-block", info->name, 0.75 / (steps << k), NULL, 0);
      assert_int_equal(saltus_sim_run(r.sim, steps << k), SALTUS_OK);
      error[k] = fabs(saltus_sim_q(r.sim)[0] - block_at(0.75));
      finish(&r);
    }
    double order = log2(error[0] / error[1]);
    if (error[1] > 1e-12 && !(fabs(order - info->order) < 0.5)) {
      fail_msg("%s: order %g, errors %g and %g", info->name, order, error[0], error[1]);
    }
  }
}

static const char across[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0, velocity: 0.8*cos(1.2)}, y: {start: 0, velocity: 0.8*sin(1.2)}, "
    "z: 0}\n"
    "kinetic: (x'^2 + y'^2 + z'^2)/2\n"
    "potential: 10*z - x\n"
    "contacts: [{name: floor, gap: z, slip: x', slip2: y', friction: 0.2}]\n";

/* A mass slides across a force f = 1 with mu g = 2 f and comes to rest: with T = tan(phi/2) of the angle between its
 * velocity and the force |v| = C T (1 + T^2) / 2, so it stops at x = C^2/4 (T^2/2 - T^6/6), y = C^2/2 (T^3/3 + T^5/5).
 * Schemes with a fixed step are of first order at least, implicit Runge-Kutta methods of theirs. */
static void a_mass_that_is_pushed_across_stops_where_it_should(void** state) {
  (void)state;
  double T = tan(0.6);
  double C = 1.6 / (T * (1.0 + T * T));
  double x = C * C / 4.0 * (T * T / 2.0 - pow(T, 6.0) / 6.0);
  double y = C * C / 2.0 * (T * T * T / 3.0 + pow(T, 5.0) / 5.0);
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if ((info->treats & SALTUS_TREATS_FRICTION) == 0 || info->pyramids) {
      continue;
    }
    double error[2] = {0.0, 0.0};
    for (int k = 0; k < (info->chooses_step ? 1 : 2); k++) {
      int steps = 150 << (2 * k);
      const saltus_scene_def def = {.path = "across", .text = across};
      run r = {0};
      assert_int_equal(saltus_scene_create(&def, &r.scene), SALTUS_OK);
      r.view = saltus_scene_get_view(r.scene);
      const saltus_sim_def sim = {.system = r.view->system,
                                  .scheme = info->name,
                                  .h = info->chooses_step ? 0.0 : 1.5 / steps,
                                  .q0 = r.view->q0,
                                  .v0 = r.view->v0};
      assert_int_equal(saltus_sim_create(&sim, &r.sim), SALTUS_OK);
      assert_int_equal(saltus_sim_run_until(r.sim, 1.5), SALTUS_OK);
      const double* q = saltus_sim_q(r.sim);
      error[k] = hypot(q[0] - x, q[1] - y);
      assert_near(hypot(saltus_sim_v(r.sim)[0], saltus_sim_v(r.sim)[1]), 0.0, 1e-9);
      finish(&r);
    }
    double order = log2(error[0] / error[1]) / 2.0;
    bool exact = info->locates_events && info->order > 2;
    if (!(error[0] < (info->chooses_step || exact ? 1e-5 : 2e-2)) ||
        (!info->chooses_step && !(order > 0.7) && error[1] > 1e-9)) {
      fail_msg("%s: order %g, errors %g and %g", info->name, order, error[0], error[1]);
    }
  }
}

static saltus_status count_event(void* user, const saltus_event* event) {
  (void)event;
  (*(int*)user)++;
  return SALTUS_OK;
}

/* Four feet on a slope, one more than is needed: they close once, nothing opens, sticks or slips again, and not a bit
 * moves but for rounding. */
static void redundant_supports_do_not_chatter(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (!info->locates_events || info->chooses_step || info->pyramids) {
      continue;
    }
    saltus_scene* scene = saltus_test_scene("block-on-incline", NULL, 0);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    int events = 0;
    const saltus_recorder recorder = {.event = count_event, .user = &events};
    const saltus_sim_def def = {.system = view->system,
                                .scheme = info->name,
                                .h = 0.01,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run(sim, 100), SALTUS_OK);
    for (int i = 0; i < 6; i++) {
      assert_near(saltus_sim_v(sim)[i], 0.0, 1e-15);
      assert_near(saltus_sim_q(sim)[i], view->q0[i], 1e-14);
    }
    assert_true(events <= 4);
    saltus_sim_destroy(sim);
    saltus_scene_destroy(scene);
  }
}

/* A block on a belt of varying speed: drives give 35.252 J, friction takes 33.744 J. Methods that locate stick and slip
 * integrate both with their own weights, so the remainder has their order: measured below 1e-9 J from order 4 on. */
static void the_ledger_of_stick_and_slip_closes(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    if (!info->locates_events || info->order < 4 || info->chooses_step) {
      continue;
    }
    run r = {.scene = saltus_test_scene("belt", NULL, 0)};
    r.view = saltus_scene_get_view(r.scene);
    int events = 0;
    const saltus_recorder recorder = {.event = count_event, .user = &events};
    const saltus_sim_def def = {.system = r.view->system,
                                .scheme = info->name,
                                .h = 0.005,
                                .q0 = r.view->q0,
                                .v0 = r.view->v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .record_every = 1000000};
    assert_int_equal(saltus_sim_create(&def, &r.sim), SALTUS_OK);
    go(&r, 12.0);
    const saltus_energy e = saltus_sim_energy_total(r.sim);
    assert_near(e.drive, 35.252, 1e-3);
    assert_near(e.friction, -33.7439, 1e-3);
    assert_near(e.remainder, 0.0, 1e-7);
    finish(&r);
  }
}

/* The table of schemes and friction: there is none that refuses it. */
static void every_scheme_treats_friction_in_space(void** state) {
  (void)state;
  for (int k = 0; k < saltus_scheme_count(); k++) {
    assert_true((saltus_scheme_at(k)->treats & SALTUS_TREATS_FRICTION) != 0);
  }
}

/* Nothing is allocated in a step, and the same run gives the same bits. */
static void friction_allocates_nothing_and_repeats_its_bits(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    double end[2][3];
    for (int pass = 0; pass < 2; pass++) {
      counter count = {0};
      saltus_allocator allocator = counting_allocator(&count);
      saltus_scene* scene = saltus_test_scene("woodpecker", NULL, 0);
      const saltus_scene_view* view = saltus_scene_get_view(scene);
      const saltus_sim_def def = {.system = view->system,
                                  .scheme = info->name,
                                  .h = 1e-4,
                                  .q0 = view->q0,
                                  .v0 = view->v0,
                                  .allocator = &allocator};
      saltus_sim* sim;
      assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
      int calls = count.calls;
      assert_int_equal(saltus_sim_run_until(sim, 0.3), SALTUS_OK);
      assert_int_equal(count.calls, calls);
      memcpy(end[pass], saltus_sim_q(sim), sizeof end[pass]);
      saltus_sim_destroy(sim);
      assert_int_equal(count.live, 0);
      saltus_scene_destroy(scene);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
  }
}

/* A rod that slides on its tip where friction presses more than a force lifts: every scheme jams the tip by an impulse. */
static void a_contact_without_forces_jams_in_every_scheme(void** state) {
  (void)state;
  FOR_EVERY_SCHEME_WITH_FRICTION(info) {
    saltus_kept_message kept = {0};
    saltus_scene* scene = saltus_test_scene("painleve-rod", NULL, 0);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_sim* sim = NULL;
    const saltus_sim_def def = {.system = view->system,
                                .scheme = info->name,
                                .h = info->chooses_step ? 0.0 : 1e-4,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    if (saltus_sim_run_until(sim, 1e-3) != SALTUS_OK) {
      fail_msg("%s: %s", info->name, kept.text);
    }
    const double* v = saltus_sim_v(sim); /* 0.3 N s stop it */
    const double* q = saltus_sim_q(sim);
    assert_near(v[0] + sin(q[2]) * v[2], 0.0, 0.02);
    saltus_sim_destroy(sim);
    saltus_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_oblique_impact_slides_or_turns),
      cmocka_unit_test(the_block_on_a_spring_sticks_where_it_should),
      cmocka_unit_test(a_thrown_disc_comes_to_roll),
      cmocka_unit_test(a_puck_slides_on_a_straight_line),
      cmocka_unit_test(the_pendulum_pressed_on_a_wall_sticks),
      cmocka_unit_test(joints_and_friction_share_a_step),
      cmocka_unit_test(the_woodpecker_climbs_down_its_pole),
      cmocka_unit_test(orders_are_kept_through_slip_that_turns),
      cmocka_unit_test(a_mass_that_is_pushed_across_stops_where_it_should),
      cmocka_unit_test(every_scheme_treats_friction_in_space),
      cmocka_unit_test(the_ledger_of_stick_and_slip_closes),
      cmocka_unit_test(redundant_supports_do_not_chatter),
      cmocka_unit_test(an_impact_with_friction_and_coupled_directions_converges),
      cmocka_unit_test(friction_allocates_nothing_and_repeats_its_bits),
      cmocka_unit_test(a_contact_without_forces_jams_in_every_scheme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
