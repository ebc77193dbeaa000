/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Time-discontinuous Galerkin schemes against the numbers of another program
 * (docs/theory/problems.md, 6). Numbers are stored as printed there; 3 % covers their rounding to
 * two to four digits.
 */
#include "saltus_test.h"

#include "dg_problems.h"

enum { DEGREES = 5 };

static const char* const families[2] = {"dg-minus", "dg-plus"};

static saltus_dg_options options_of(bool plus, int degree) {
  saltus_dg_options o = plus ? saltus_dg_plus_options_default() : saltus_dg_minus_options_default();
  o.degree = degree;
  return o;
}

/* Within 3 %; an expected number of 0 stands for rounding, below 4e-15. */
static void assert_printed(double measured, double expected, const char* what, int degree) {
  bool near = expected == 0.0 ? measured < 4e-15 : fabs(measured / expected - 1.0) <= 0.03;
  if (!near) {
    fail_msg("%s, degree %d: %.4g, expected %.4g", what, degree, measured, expected);
  }
}

/* The same for numbers that are printed with two digits: half a unit of the second, or 3 %. */
static void assert_two_digits(double measured, double expected, const char* what, int degree) {
  double unit = pow(10.0, floor(log10(expected)) - 1.0);
  if (!(fabs(measured - expected) <= 0.51 * unit)) {
    assert_printed(measured, expected, what, degree);
  }
}

static dg_errors measure(const char* problem, const char* scheme, const void* options, int steps) {
  dg_errors errors;
  assert_int_equal(
      dg_ball_measure(dg_ball_find(problem), scheme, options, steps, (saltus_log){0}, &errors),
      SALTUS_OK);
  return errors;
}

/* ---- T1 ---------------------------------------------------------------------------------------- */

typedef struct smooth_row {
  double coarse_q, coarse_v, fine_q, fine_v; /* free flight */
  double coarse_i, fine_i;                   /* rest */
} smooth_row;

/* Row 0 is Moreau and Jean's scheme with theta = 1: dg-plus of degree 0. */
static void check_smooth(const char* flight, const char* rest, int fine, const smooth_row* rows) {
  for (int M = 0; M < DEGREES; M++) {
    bool plus = M == 0;
    saltus_dg_options o = options_of(plus, M);
    dg_errors a = measure(flight, families[plus], &o, 10);
    dg_errors b = measure(flight, families[plus], &o, fine);
    assert_printed(a.q, rows[M].coarse_q, flight, M);
    assert_printed(a.v, rows[M].coarse_v, flight, M);
    assert_printed(b.q, rows[M].fine_q, flight, M);
    assert_printed(b.v, rows[M].fine_v, flight, M);
    a = measure(rest, families[plus], &o, 10);
    b = measure(rest, families[plus], &o, fine);
    assert_printed(a.i, rows[M].coarse_i, rest, M);
    assert_printed(b.i, rows[M].fine_i, rest, M);
    assert_near(a.q + b.q, 0.0, 1e-14);
    assert_near(a.v + b.v, 0.0, 1e-14);
  }
}

static void errors_of_smooth_phases_are_those_of_the_notes(void** state) {
  (void)state;
  static const smooth_row quadratic[DEGREES] = {
      {1.017e-1, 3.767e-1, 5.274e-3, 2.100e-2, 3.767e-1, 2.100e-2},
      {2.392e-3, 1.239e-2, 1.075e-5, 5.017e-5, 8.333e-3, 3.255e-5},
      {4.167e-6, 1.775e-4, 6.358e-11, 4.333e-8, 0.0, 0.0},
      {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
      {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  };
  static const smooth_row general[DEGREES] = {
      {1.437e-1, 7.348e-1, 3.179e-2, 1.757e-1, 8.196e-1, 2.073e-1},
      {7.155e-3, 2.554e-2, 4.835e-4, 1.600e-3, 1.193e-2, 7.446e-4},
      {1.239e-5, 4.939e-4, 4.879e-8, 7.734e-6, 1.089e-5, 4.243e-8},
      {2.092e-6, 1.046e-5, 8.576e-9, 4.081e-8, 1.124e-6, 4.364e-9},
      {1.973e-9, 1.278e-7, 4.82e-13, 1.250e-10, 1.585e-9, 3.90e-13},
  };
  check_smooth("4.2", "4.3", 160, quadratic);
  check_smooth("4.2s", "4.3s", 40, general);
}

/* D1+ is within 35 % of D1- for degree 1, within 15 % above. */
static void the_families_are_equally_accurate(void** state) {
  (void)state;
  for (int M = 1; M < DEGREES; M++) {
    saltus_dg_options minus = options_of(false, M);
    saltus_dg_options plus = options_of(true, M);
    dg_errors a = measure("4.2s", families[0], &minus, 10);
    dg_errors b = measure("4.2s", families[1], &plus, 10);
    double allowed = M == 1 ? 0.35 : 0.15;
    assert_near(b.q / a.q, 1.0, allowed);
    assert_near(b.v / a.v, 1.0, allowed);
  }
}

/* Orders 1; 2, 4, 4, 6 of q and i, 1; 2, 3, 4, 5 of v, of both families. Degree 4: from 5 to 20
 * steps, before rounding is reached. */
static void smooth_phases_have_their_orders(void** state) {
  (void)state;
  static const int q_order[DEGREES] = {1, 2, 4, 4, 6};
  static const int v_order[DEGREES] = {1, 2, 3, 4, 5};
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 0; M < DEGREES; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      int steps = M == 0 ? 320 : 10;
      dg_errors a = measure("4.2s", families[plus], &o, steps);
      dg_errors b = measure("4.2s", families[plus], &o, 2 * steps);
      dg_errors c = measure("4.3s", families[plus], &o, steps);
      dg_errors d = measure("4.3s", families[plus], &o, 2 * steps);
      assert_near(log2(a.v / b.v), v_order[M], 0.1);
      assert_near(log2(c.i / d.i), q_order[M], 0.1);
      /* q of D1+ with degree 1 gets there a little later */
      dg_errors e = measure("4.2s", families[plus], &o, 4 * steps);
      assert_near(log2(b.q / e.q), q_order[M], 0.1);
    }
  }
}

/* Degree 0 is Moreau and Jean's scheme, to the last bit. */
static void degree_zero_is_moreau_and_jean(void** state) {
  (void)state;
  for (int plus = 0; plus < 2; plus++) {
    saltus_dg_options o = options_of(plus != 0, 0);
    saltus_moreau_jean_options m = saltus_moreau_jean_options_default();
    m.theta = plus;
    m.gamma = 1.0;
    m.newton_tol = o.iteration_tol;
    dg_errors a = measure("4.4", families[plus], &o, 1003);
    dg_errors b = measure("4.4", "moreau-jean", &m, 1003);
    assert_true(a.q_last == b.q_last && a.v_last == b.v_last && a.impacts == b.impacts);
  }
}

/* ---- T2 ---------------------------------------------------------------------------------------- */

static void assert_triple(dg_errors e, double q, double v, double i, const char* what, int M) {
  assert_printed(e.q, q, what, M);
  assert_printed(e.v, v, what, M);
  assert_printed(e.i, i, what, M);
}

static void an_accumulation_of_impacts_has_the_errors_of_the_notes(void** state) {
  (void)state;
  saltus_dg_options zero = options_of(true, 0);
  saltus_dg_options one = options_of(false, 1);
  saltus_moreau_jean_options half = saltus_moreau_jean_options_default();
  half.theta = half.gamma = 0.5;
  assert_triple(measure("4.4", "dg-plus", &zero, 103), 6.462e-2, 3.174e-1, 2.778e-1, "MJ1", 0);
  assert_triple(measure("4.4", "dg-plus", &zero, 1003), 6.281e-3, 4.257e-2, 4.004e-2, "MJ1", 0);
  assert_triple(measure("4.4", "moreau-jean", &half, 103), 5.067e-2, 2.963e-1, 4.376e-1, "MJ", 0);
  assert_triple(measure("4.4", "moreau-jean", &half, 1003), 5.105e-3, 3.451e-2, 4.906e-2, "MJ", 0);
  assert_triple(measure("4.4", "dg-minus", &one, 103), 2.766e-2, 1.502e-1, 1.502e-1, "D1-", 1);
  assert_triple(measure("4.4", "dg-minus", &one, 1003), 2.873e-3, 1.708e-2, 1.708e-2, "D1-", 1);
  for (int M = 2; M < DEGREES; M++) {
    saltus_dg_options o = options_of(false, M);
    assert_triple(measure("4.4", "dg-minus", &o, 1003), 2.871e-3, 1.708e-2, 1.708e-2, "D1-", M);
  }
  for (int M = 1; M < DEGREES; M++) {
    saltus_dg_options o = options_of(true, M);
    dg_errors e = measure("4.4", "dg-plus", &o, 1003);
    assert_true(e.q >= 5.87e-3 && e.q <= 5.91e-3);
    assert_true(e.v >= 5.2e-2 && e.v <= 6.1e-2);
    assert_printed(e.i, 4.673e-2, "D1+", M);
  }
}

/* At the end the ball rests: |q| < 4 h^2, v is zero to rounding, and the force is 2 N everywhere. */
static void after_an_accumulation_the_ball_rests(void** state) {
  (void)state;
  double h = 4.0 / 1003;
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 1; M < DEGREES; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      dg_errors e = measure("4.4", families[plus], &o, 1003);
      assert_true(fabs(e.q_last) < 4.0 * h * h);
      assert_near(e.v_last, 0.0, 1e-16);
      assert_near(e.least_force, 2.0, 1e-10); /* rounding of v divided by h */
      assert_near(e.largest_force, 2.0, 1e-10);
    }
  }
}

/* ---- T3 to T7 ---------------------------------------------------------------------------------- */

static dg_end run(const dg_motion* motion, const char* scheme, const saltus_dg_options* o,
                  double t_end, int steps) {
  dg_end end;
  saltus_kept_message kept;
  if (dg_motion_run(motion, scheme, o, t_end, steps, saltus_log_keep(&kept), &end) != SALTUS_OK) {
    fail_msg("%s by %s, degree %d: %s", motion->name, scheme, o->degree, kept.text);
  }
  return end;
}

static double far(const double a[2], const double b[2]) {
  return fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1]));
}

/* Variable mass, gyroscopic, damping and driving forces. */
static void a_spring_pendulum_has_the_order_of_its_degree(void** state) {
  (void)state;
  static const struct {
    int steps, order;
    double q[2], v[2]; /* D1-, D1+ */
  } rows[] = {{100, 2, {1.87e-4, 1.89e-4}, {4.49e-4, 3.92e-4}},
              {40, 4, {2.63e-7, 2.68e-7}, {4.75e-7, 4.64e-7}},
              {40, 4, {4.10e-8, 4.33e-8}, {1.81e-7, 1.52e-7}},
              {20, 6, {7.00e-10, 7.2e-10}, {1.47e-9, 1.1e-9}}};
  double q[2], v[2];
  dg_spring_pendulum_exact(q, v);
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 1; M < DEGREES; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      int steps = rows[M - 1].steps;
      dg_end a = run(&dg_spring_pendulum, families[plus], &o, 1.0, steps);
      dg_end b = run(&dg_spring_pendulum, families[plus], &o, 1.0, 2 * steps);
      assert_printed(far(a.q, q), rows[M - 1].q[plus], "T3 q", M);
      assert_printed(far(a.v, v), rows[M - 1].v[plus], "T3 v", M);
      assert_near(log2(far(a.q, q) / far(b.q, q)), rows[M - 1].order, 0.1);
    }
  }
}

typedef struct bowl_row {
  int coarse, fine; /* steps */
  double first[5], last[5];
} bowl_row;

static void bowl_errors(const char* scheme, const saltus_dg_options* o, int steps, double e[5]) {
  double q[2], v[2], impulse, force;
  dg_bowl_exact(q, v, &impulse, &force);
  dg_end end = run(&dg_bowl, scheme, o, 1.0, steps);
  assert_int_equal(end.impacts, 0);
  assert_int_equal(end.lost, 0);
  assert_true(end.impulse[0] == 0.0);
  e[0] = far(end.q, q);
  e[1] = far(end.v, v);
  e[2] = fabs(end.lasting[0] - impulse);
  e[3] = fabs(end.force - force);
  e[4] = end.drift;
}

/* D1- on velocity level; errors of q, v, impulse, force at the end, and the drift of the gap. The
 * notes print two digits; the last row of degree 4 is at rounding and has one. */
static void a_closed_curved_contact_has_the_errors_of_the_notes(void** state) {
  (void)state;
  static const bowl_row rows[] = {
      {20, 160, {4.5e-3, 3.4e-2, 8.1e-3, 3.5e-1, 3.9e-3}, {4.0e-5, 5.2e-4, 1.6e-4, 4.6e-2, 5.0e-5}},
      {20,
       160,
       {3.8e-6, 3.8e-5, 1.0e-5, 4.3e-2, 4.1e-7},
       {6.8e-10, 9.4e-9, 1.9e-9, 6.9e-4, 7.1e-11}},
      {20,
       160,
       {8.0e-7, 7.1e-6, 1.4e-6, 5.8e-4, 5.4e-7},
       {1.4e-10, 1.8e-9, 2.0e-10, 8.1e-7, 1.3e-10}},
      {10, 80, {7.4e-8, 6.0e-7, 2.7e-7, 5.4e-4, 1.5e-8}, {0.0, 0.0, 0.0, 9.8e-8, 0.0}}};
  for (int M = 1; M < DEGREES; M++) {
    saltus_dg_options o = options_of(false, M);
    double e[5];
    bowl_errors("dg-minus", &o, rows[M - 1].coarse, e);
    for (int k = 0; k < 5; k++) {
      assert_two_digits(e[k], rows[M - 1].first[k], "T4", M);
    }
    bowl_errors("dg-minus", &o, rows[M - 1].fine, e);
    for (int k = 0; k < 5; k++) {
      if (M == 4 && k != 3) { /* 3e-13, 2.3e-12, 1e-12, 5e-14 by another program */
        assert_true(e[k] <= 3e-12);
      } else {
        assert_two_digits(e[k], rows[M - 1].last[k], "T4", M);
      }
    }
  }
}

/* Every closure keeps the order, makes no impulse and never loses the contact; on position level the
 * gap does not drift, on acceleration level the force has one order more. */
static void a_closed_curved_contact_is_kept_by_every_closure(void** state) {
  (void)state;
  static const double order[DEGREES] = {0.0, 2.0, 4.0, 4.0, 6.0};
  for (int plus = 0; plus < 2; plus++) {
    for (int closure = 0; closure < (plus ? 2 : 3); closure++) {
      for (int M = 1; M < DEGREES; M++) {
        saltus_dg_options o = options_of(plus != 0, M);
        o.closure = closure;
        int steps = M < 4 ? 80 : 20;
        double a[5], b[5];
        bowl_errors(families[plus], &o, steps, a);
        bowl_errors(families[plus], &o, 2 * steps, b);
        assert_near(log2(a[1] / b[1]), order[M], 0.25);
        if (closure == SALTUS_DG_POSITION) {
          assert_true(b[4] <= 4e-15); /* rounding of a length of 1 m, iterated away */
        }
        if (closure == SALTUS_DG_ACCELERATION && plus == 0) {
          assert_near(log2(a[3] / b[3]), M + 1, 0.4);
        }
      }
    }
  }
}

/* Exact gaps and velocities at 0.19 s, after contact 2 has hit and contact 1 has opened. */
static void a_bar_hits_with_one_end_and_opens_at_the_other(void** state) {
  (void)state;
  for (int plus = 0; plus < 2; plus++) {
    for (int closure = 0; closure < (plus ? 2 : 3); closure++) {
      for (int M = 1; M < DEGREES; M++) {
        saltus_dg_options o = options_of(plus != 0, M);
        o.closure = closure;
        dg_end e = run(&dg_bar, families[plus], &o, 0.19, 343);
        const double gap[2] = {e.q[0] - 0.2 * e.q[1], e.q[0] + 0.3 * e.q[1]};
        const double rate[2] = {e.v[0] - 0.2 * e.v[1], e.v[0] + 0.3 * e.v[1]};
        const double gap_exact[2] = {0.00304453, 0.01554931};
        const double rate_exact[2] = {-0.07230275, 0.30727707};
        assert_printed(far(gap, gap_exact), plus ? 4.53e-4 : 3.79e-4, "T5 g", M);
        if (plus) {
          assert_true(far(rate, rate_exact) <= 2.75e-3);
        } else {
          assert_printed(far(rate, rate_exact), 3.68e-3, "T5 U", M);
        }
        assert_near(e.impulse[1], 0.91833828, 3e-3); /* order one: 10 h |U| */
      }
    }
  }
}

/* Order 1 over a factor of 16; neighbouring grids differ by where the impact falls. */
static void the_bar_converges_with_order_one(void** state) {
  (void)state;
  const double gap_exact[2] = {0.00304453, 0.01554931};
  for (int plus = 0; plus < 2; plus++) {
    saltus_dg_options o = options_of(plus != 0, 2);
    double mean[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < 8; i++) {
        int steps = (k == 0 ? 343 : 5488) + 37 * i;
        dg_end e = run(&dg_bar, families[plus], &o, 0.19, steps);
        const double gap[2] = {e.q[0] - 0.2 * e.q[1], e.q[0] + 0.3 * e.q[1]};
        mean[k] += far(gap, gap_exact) * steps / (k == 0 ? 343 : 5488);
      }
    }
    assert_near(log2(mean[0] / mean[1]) / 4.0, 1.0, 0.2);
  }
}

/* The force of a closed contact ends inside a step. Errors in the mean over time. */
static void a_take_off_is_of_order_two(void** state) {
  (void)state;
  saltus_dg_options one = options_of(false, 1);
  assert_printed(measure("take-off", "dg-minus", &one, 20).v, 2.2e-3, "T6", 1);
  assert_printed(measure("take-off", "dg-minus", &one, 160).v, 4.3e-5, "T6", 1);
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 0; M < DEGREES; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      /* where the take-off falls in its step scatters single errors by a factor of ten: the mean
       * of e / h^order over an octave of grids, three octaves apart */
      double order = M == 0 ? 1.0 : 2.0;
      double mean[2] = {0.0, 0.0};
      for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 2; k++) {
          int steps = k == 0 ? 20 + i : 160 + 7 * i;
          mean[k] += measure("take-off", families[plus], &o, steps).v * pow(steps, order);
        }
      }
      assert_near(order + log2(mean[0] / mean[1]) / 3.0, order, 0.2);
    }
  }
}

static void a_block_slides_and_sticks(void** state) {
  (void)state;
  static const double slip[DEGREES] = {0.0, 4.05e-5, 8.44e-10, 3.24e-10, 0.0};
  static const double order[DEGREES] = {0.0, 2.0, 4.0, 4.0, 0.0};
  double exact = 0.04 + 0.26 * cos(2.5);
  for (int M = 1; M < DEGREES; M++) {
    saltus_dg_options o = options_of(false, M);
    double a = fabs(run(&dg_block, "dg-minus", &o, 0.25, 50).q[0] - exact);
    double b = fabs(run(&dg_block, "dg-minus", &o, 0.25, 100).q[0] - exact);
    if (M < 4) {
      assert_printed(a, slip[M], "T7", M);
      assert_near(log2(a / b), order[M], 0.1);
    } else {
      assert_true(a < 1e-14);
    }
    dg_end end = run(&dg_block, "dg-minus", &o, 2.0, 1000);
    assert_near(end.q[0], -0.02, 1e-5);
    assert_near(end.v[0], 0.0, 1e-15);
    saltus_dg_options p = options_of(true, M);
    assert_near(run(&dg_block, "dg-plus", &p, 2.0, 1000).q[0], -0.02, 1e-5);
  }
}

/* ---- T8 ---------------------------------------------------------------------------------------- */

static double decay(const char* scheme, const saltus_dg_options* o, double damping) {
  double factor;
  saltus_work work = {0};
  assert_int_equal(dg_decay(scheme, o, damping, (saltus_log){0}, &factor, &work), SALTUS_OK);
  return factor;
}

static double growth(const char* scheme, const saltus_dg_options* o, double frequency) {
  const dg_oscillator oscillator = {.stiffness = frequency * frequency};
  double factor;
  saltus_work work = {0};
  assert_int_equal(dg_growth(scheme, o, &oscillator, (saltus_log){0}, &factor, &work), SALTUS_OK);
  return factor - 1.0;
}

/* Limits of h c/m: 2.00, 5.42, 14.09, 21.59 of D1-; D1+ damps however strong the damper. */
static void dampers_limit_the_step_of_one_family(void** state) {
  (void)state;
  static const double limit[DEGREES] = {0.0, 2.00, 5.42, 14.09, 21.59};
  for (int M = 1; M < DEGREES; M++) {
    saltus_dg_options o = options_of(false, M);
    o.iteration = SALTUS_DG_NEWTON;
    assert_true(decay("dg-minus", &o, limit[M] - 0.01) < 1.0);
    assert_true(decay("dg-minus", &o, limit[M] + 0.01) > 1.0);
    saltus_dg_options p = options_of(true, M); /* finds out by itself that it needs Newton */
    for (double damping = 0.25; damping < 1e9; damping *= 2.0) {
      assert_true(decay("dg-plus", &p, damping) < 1.0);
    }
    assert_true(decay("dg-plus", &p, 1e9) < 1e-6);
  }
}

/* Limits of h omega, and what D1- of degree 3 and 4 adds to an undamped oscillation. */
static void springs_limit_the_step_of_both_families(void** state) {
  (void)state;
  static const double limit[2][DEGREES] = {{0.0, 2.000, 2.828, 0.0, 0.0},
                                           {0.0, 2.000, 2.828, 3.064, 3.134}};
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 1; M < DEGREES; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      if (limit[plus][M] > 0.0) {
        assert_true(growth(families[plus], &o, limit[plus][M] - 0.001) <= 1e-12);
        /* measured 2.000, 2.828, 3.0653, 3.1343: the third of problems.md is from a grid */
        assert_true(growth(families[plus], &o, limit[plus][M] + 0.002) > 1e-6);
      }
      double added = growth(families[plus], &o, 1.0) * (plus != 0 ? -1.0 : 1.0);
      if (M <= 2) {
        assert_near(added, 0.0, 1e-14);
      } else {
        assert_printed(added, M == 3 ? 3.5e-5 : 1.76e-7, "T8", M);
      }
    }
  }
  saltus_dg_options three = options_of(false, 3);
  assert_printed(growth("dg-minus", &three, 0.2), 2.3e-9, "T8", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_of_smooth_phases_are_those_of_the_notes),
      cmocka_unit_test(the_families_are_equally_accurate),
      cmocka_unit_test(smooth_phases_have_their_orders),
      cmocka_unit_test(degree_zero_is_moreau_and_jean),
      cmocka_unit_test(an_accumulation_of_impacts_has_the_errors_of_the_notes),
      cmocka_unit_test(after_an_accumulation_the_ball_rests),
      cmocka_unit_test(a_spring_pendulum_has_the_order_of_its_degree),
      cmocka_unit_test(a_closed_curved_contact_has_the_errors_of_the_notes),
      cmocka_unit_test(a_closed_curved_contact_is_kept_by_every_closure),
      cmocka_unit_test(a_bar_hits_with_one_end_and_opens_at_the_other),
      cmocka_unit_test(the_bar_converges_with_order_one),
      cmocka_unit_test(a_take_off_is_of_order_two),
      cmocka_unit_test(a_block_slides_and_sticks),
      cmocka_unit_test(dampers_limit_the_step_of_one_family),
      cmocka_unit_test(springs_limit_the_step_of_both_families),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
