/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The known motions that studies of bodies compare with: numbers of another code with forty digits, and the heavy
 * top against its equations of motion, integrated by extrapolation in long double.
 */
#include "adversarial_ode.h"
#include "bodies_exact.h"
#include "saltus_test.h"

/* The numbers are printed with 13 to 16 digits. */
static void pendulum_and_four_bars_are_those_of_the_reference(void** state) {
  (void)state;
  static const double pendulum[][3] = {{1, 0.986291751131875, -0.165010853125541},
                                       {5, -0.942305435043757, -0.334754338414001},
                                       {10, -0.275087462576117, -0.961419205099125}};
  static const double bars[][4] = {{1, 1, -0.26071267518365, -0.96541643915907},
                                   {1, 10, 0.47838505776097, 0.87815017879121},
                                   {2, 10, 0.32845811154082, 0.9445185381786},
                                   {10, 1, -0.12930601505113, -0.99160473701551},
                                   {40, 10, 0.18051222668673, 0.98357274058231}};
  double at[3];
  for (int i = 0; i < 3; i++) {
    bodies_pendulum(pendulum[i][0], at);
    assert_near(at[0], pendulum[i][1], 2e-14);
    assert_near(at[1], pendulum[i][2], 2e-14);
  }
  for (int i = 0; i < 5; i++) {
    bodies_four_bar((int)bars[i][0], bars[i][1], at);
    assert_near(at[0], bars[i][2], 2e-13); /* 32 rad of rounding in u */
    assert_near(at[1], bars[i][3], 2e-13);
  }
}

/* The table has 14 digits. */
static void free_rotation_is_that_of_the_table(void** state) {
  (void)state;
  const bodies_table* table = bodies_table_find("dzhanibekov");
  for (int k = 0; k < table->rows; k++) {
    double t = table->numbers[8 * k], w[3], row[7];
    bodies_free_rotation(t, w);
    bodies_table_at(table, t, row);
    for (int i = 0; i < 3; i++) {
      assert_near(w[i], row[i], 1e-12); /* the motion is steep where it turns over */
    }
  }
  double nowhere[7];
  bodies_table_at(table, 0.1, nowhere);
  assert_true(isnan(nowhere[0]));
}

static const bodies_top top = {.m_g_l = 9.81 * 0.5,
                               .I1 = 0.3,
                               .I3 = 0.05,
                               .l = 0.5,
                               .rim = 0.3,
                               .tilt = 0.52359877559829887,
                               .spin = 60.0};

/* theta, phi, psi, theta': I1 th'' = I1 phi'^2 s c - I3 w3 phi' s + m g l s, phi' from its momentum. */
static void top_rate(const void* who, const bool* above, root_real t, const root_real* y,
                     root_real* dy) {
  (void)who, (void)above, (void)t;
  root_real c = cosl(y[0]), s = sinl(y[0]);
  root_real momentum = 0.05L * 60.0L; /* I3 w3, conserved */
  root_real phi = momentum * (cosl((root_real)top.tilt) - c) / (0.3L * s * s);
  dy[0] = y[3];
  dy[1] = phi;
  dy[2] = 60.0L - phi * c;
  dy[3] = phi * phi * s * c + (9.81L * 0.5L - momentum * phi) * s / 0.3L;
}

static void heavy_top_fulfils_its_equations_of_motion(void** state) {
  (void)state;
  const ode_system system = {
      .n = 4, .step = 0.005, .y = {top.tilt, 0.0, 0.0, 0.0}, .rate = top_rate};
  ode_motion motion;
  assert_true(ode_motion_create(&motion));
  ode_follow(&system, 3.0L, &motion);
  for (double t = 0.0; t <= 3.0; t += 0.17) {
    root_real y[ODE_WIDTH];
    ode_at(&system, &motion, t, y);
    double s = (double)sinl(y[0]), c = (double)cosl(y[0]);
    double phi = (double)y[1], psi = (double)y[2];
    double at[6];
    bodies_heavy_top(&top, t, at);
    assert_near(at[0], 0.5 * s * cos(phi), 1e-12);
    assert_near(at[1], 0.5 * s * sin(phi), 1e-12);
    assert_near(at[2], 0.5 * c, 1e-12);
    double x = cos(phi) * c * cos(psi) - sin(phi) * sin(psi);
    assert_near(at[3], at[0] + 0.3 * x, 1e-12);
    assert_near(at[5], at[2] - 0.3 * s * cos(psi), 1e-12);
  }
  ode_motion_destroy(&motion);
}

/* A fast top: nutation with b = I3 s/I1 and mean precession m g l/(I3 s), to 1/spin^2. */
static void fast_tops_precess_as_gyroscopes_do(void** state) {
  (void)state;
  bodies_top fast = top;
  fast.spin = 3000.0;
  double period, lowest, precession;
  bodies_nutation(&fast, &period, &lowest, &precession);
  /* 2 m g l I1/(I3 s)^2 = 1.3e-4 of both is left */
  assert_near(period, 2.0 * 3.14159265358979 / (0.05 * 3000.0 / 0.3), 2e-6);
  assert_near(precession / period, 9.81 * 0.5 / (0.05 * 3000.0), 1e-5);
  double start[6], again[6];
  bodies_nutation(&top, &period, &lowest, &precession);
  bodies_heavy_top(&top, 0.0, start);
  bodies_heavy_top(&top, period, again);
  assert_near(again[2], start[2], 1e-14);
  assert_near(atan2(again[1], again[0]), precession, 1e-13);
  bodies_heavy_top(&top, 0.5 * period, again);
  assert_near(again[2], 0.5 * lowest, 1e-14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_and_four_bars_are_those_of_the_reference),
      cmocka_unit_test(free_rotation_is_that_of_the_table),
      cmocka_unit_test(heavy_top_fulfils_its_equations_of_motion),
      cmocka_unit_test(fast_tops_precess_as_gyroscopes_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
