/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The linearly implicit trapezoidal schemes against numbers of independent programs and exact
 * solutions (methods: linearly implicit trapezoidal, section 3). Tolerances of 0.5 % and 1 % are the
 * digits that are given there.
 */
#include "saltus_test.h"

#include "potra_run.h"

static const char mean[] = "trapezoidal-implicit-mean";
static const char end[] = "trapezoidal-implicit-end";

static potra_run go(potra_run run) {
  saltus_kept_message kept = {0};
  run.log = saltus_log_keep(&kept);
  if (potra_go(&run) != SALTUS_OK) {
    fail_msg("%s: %s", run.scene, kept.text);
  }
  return run;
}

/* Table 10.1: the error of q and the drift of both joints, g = 9.8. */
static void the_pendulum_at_the_wall_has_the_errors_of_the_table(void** state) {
  (void)state;
  static const double exact[4] = {0.02196211769492, -0.99975880360533, 0.02376948677391,
                                  -1.99975717031250};
  static const double table[5][3] = {{2.3822e-3, 1.2674e-3, 3.1835e-3},
                                     {6.1373e-4, 3.1379e-4, 8.2851e-4},
                                     {1.5445e-4, 7.8220e-5, 2.1371e-4},
                                     {3.9452e-5, 1.9536e-5, 5.4761e-5},
                                     {1.0066e-5, 4.8828e-6, 1.3714e-5}};
  for (int k = 0; k < 5; k++) {
    potra_run run = go((potra_run){
        .scene = "double-pendulum-poisson", .scheme = mean, .t_end = 2.5, .h = ldexp(1.0, -5 - k)});
    const double* q = run.q;
    double a = q[0] - q[2];
    double b = q[1] - q[3];
    assert_near(potra_distance(4, q, exact), table[k][0], 0.005 * table[k][0]);
    assert_near(q[0] * q[0] + q[1] * q[1] - 1.0, table[k][1], 0.005 * table[k][1]);
    assert_near(a * a + b * b - 1.0, table[k][2], 0.005 * table[k][2]);
    assert_int_equal(potra_count(&run, SALTUS_EVENT_IMPACT), 5);
  }
}

/* The collision times of the pendulum and the energy that each takes, to the order of the method. */
static void collisions_are_found_where_they_are(void** state) {
  (void)state;
  static const double t[5] = {0.545508051442, 0.707932699996, 1.284726645955, 2.097739454881,
                              2.131640284304};
  static const double energy[6] = {-17.7283665, -20.3777901, -28.4930549,
                                   -28.7484595, -28.8674283, -29.3931231};
  potra_run run = go((potra_run){
      .scene = "double-pendulum-poisson", .scheme = mean, .t_end = 2.5, .h = ldexp(1.0, -9)});
  for (int i = 0; i < 5; i++) {
    assert_near(run.events[i].t, t[i], 3e-5);
    assert_near(run.events[i].energy_change, energy[i + 1] - energy[i], 2e-3);
  }
}

/* Tables 10.2 and 10.3, without detection, and both schemes with it. */
static void the_block_has_the_errors_of_the_tables(void** state) {
  (void)state;
  static const double table[4][6] = {{8.023e-5, 2.310e-5, 5.619e-6, 1.395e-6, 3.652e-7, 8.246e-8},
                                     {7.185e-5, 1.815e-5, 4.589e-6, 1.150e-6, 2.883e-7, 7.213e-8},
                                     {5.197e-5, 1.025e-5, 2.555e-6, 6.552e-7, 1.549e-7, 4.409e-8},
                                     {7.185e-5, 1.815e-5, 4.589e-6, 1.150e-6, 2.883e-7, 7.213e-8}};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 6; k++) {
      potra_run run = go((potra_run){.scene = "block-stick-slip",
                                     .scheme = i < 2 ? mean : end,
                                     .options = i % 2 == 0 ? "detection=off" : "detection=on",
                                     .t_end = 2.0,
                                     .h = ldexp(1.0, -5 - k)});
      assert_near(fabs(run.q[0] - 3.00434856972686523), table[i][k], 0.01 * table[i][k]);
    }
  }
}

/* Seven transitions in ten seconds. Sticking is found to 0.84 h^2, slipping to 2.4e-4 s, and to the
 * difference of a force at x and its trapezoid over 2 x, 8 (2 x)^2 / 8 over the slope 1.55: 2.6 h^2. */
static void the_block_sticks_and_slips_seven_times(void** state) {
  (void)state;
  static const double stick[4] = {0.338608184671980617, 3.53283460888699945, 6.67442726247679269,
                                  9.81601991606658593};
  static const double slip[3] = {2.94634679122386296, 6.08793944481365620, 9.22953209840344943};
  static const char* const schemes[2] = {mean, end};
  for (int i = 0; i < 2; i++) {
    for (double h = 0.02; h > 0.004; h /= 2.0) {
      potra_run run =
          go((potra_run){.scene = "block-stick-slip", .scheme = schemes[i], .t_end = 10.0, .h = h});
      assert_int_equal(potra_count(&run, SALTUS_EVENT_STICK), 4);
      assert_int_equal(potra_count(&run, SALTUS_EVENT_SLIP), 3);
      for (int k = 0; k < 4; k++) {
        assert_near(potra_time(&run, SALTUS_EVENT_STICK, k), stick[k], 1.2 * h * h);
      }
      for (int k = 0; k < 3; k++) {
        assert_near(potra_time(&run, SALTUS_EVENT_SLIP, k), slip[k], fmin(2.5e-4, 2.6 * h * h));
      }
      assert_near(fabs(run.q[0] - 2.99130283311503152), 0.0755 * h * h, 0.05 * 0.0755 * h * h);
      assert_near(run.v[0], 0.0, 1e-14);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_pendulum_at_the_wall_has_the_errors_of_the_table),
      cmocka_unit_test(collisions_are_found_where_they_are),
      cmocka_unit_test(the_block_has_the_errors_of_the_tables),
      cmocka_unit_test(the_block_sticks_and_slips_seven_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
