/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_acary2009_claims.c - two claims of Acary 2009 (INRIA RR-7151). Lemma 1: for f of bounded variation on a step
 *
 *   |int f ds - h (theta f(t_{k+1}) + (1 - theta) f(t_k))| <= C(theta) h var(f),    C = max(theta, 1 - theta)
 *
 * and C is sharp. In moreau-jean f is the velocity: with an impact in the step, the error of a position is that of the lemma plus theta h times that
 * of the velocity.
 *
 * Section 3: schatzman-paoli has no artificial rebound on the linear oscillator, example 2.
 */
#include "saltus_test.h"

static double most(double theta) {
  return fmax(theta, 1.0 - theta);
}

/* A ball of mass 1 under -2 N with e = 1/2 (scenes/ball.yaml), from (q, v) over one step with an impact at part x of it. */
typedef struct flight {
  double q0, v0, q1, v1, variation;
} flight;

static flight exact_flight(double speed, double x, double h) {
  const double a = 2.0;
  flight f = {.v0 = -speed};
  f.q0 = speed * x * h + 0.5 * a * x * x * h * h;
  const double before = -speed - a * x * h;
  const double after = -0.5 * before;
  const double rest = (1.0 - x) * h;
  f.v1 = after - a * rest;
  f.q1 = after * rest - 0.5 * a * rest * rest;
  f.variation = a * h + after - before;
  return f;
}

static void positions_of_a_step_with_an_impact_obey_the_lemma(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("ball", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  static const double thetas[] = {0.0, 0.25, 0.5, 0.75, 1.0};
  double nearest = 0.0;
  for (int i = 0; i < 5; i++) {
    for (double h = 1e-1; h > 1e-4; h *= 0.1) {
      for (double x = 0.02; x < 1.0; x += 0.06) {
        const flight f = exact_flight(3.0, x, h);
        saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
        options.theta = thetas[i];
        const saltus_scheme_def def = {
            .scheme = "moreau-jean", .options = &options, .system = view->system};
        saltus_scheme* scheme;
        assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
        double q = f.q0, v = f.v0;
        saltus_state at = {0.0, &q, &v};
        saltus_step_report report;
        assert_int_equal(saltus_scheme_step(scheme, h, &at, &report), SALTUS_OK);
        saltus_scheme_destroy(scheme);
        const double bound = most(thetas[i]) * h * f.variation;
        const double lemma = fabs(f.q1 - f.q0 - h * (thetas[i] * f.v1 + (1.0 - thetas[i]) * f.v0));
        assert_true(lemma <= bound * (1.0 + 1e-12));
        assert_true(fabs(q - f.q1) <= bound + thetas[i] * h * fabs(v - f.v1) + 1e-15);
        nearest = fmax(nearest, lemma / bound);
      }
    }
  }
  /* sharp: an impact at the very end of a step has all of its variation there */
  assert_true(nearest > 0.97 && nearest <= 1.0);
  saltus_scene_destroy(scene);
}

/* From q = 1 at rest the mass is at its stop at 0.25 s and then twice a second, and comes back to 0.8^k. More peaks, or higher ones, would be rebounds
 * that the law does not have. Newton's law takes a few steps here: peaks are low by 30 h at most, and never high by more than h. */
static void schatzman_paoli_has_no_artificial_rebound(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("oscillator", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  for (double h = 2e-3; h > 1e-4; h *= 0.5) {
    const saltus_sim_def def = {.system = view->system,
                                .scheme = "schatzman-paoli",
                                .h = h,
                                .q0 = view->q0,
                                .v0 = view->v0};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    double last[2] = {2.0, 1.0};
    int peaks = 0;
    while (saltus_sim_time(sim) < 4.6) {
      assert_int_equal(saltus_sim_step(sim), SALTUS_OK);
      const double q = saltus_sim_q(sim)[0];
      if (last[1] > last[0] && last[1] >= q) {
        peaks++;
        const double exact = pow(0.8, peaks);
        assert_true(last[1] < exact + h && last[1] > exact - 30.0 * h);
      }
      last[0] = last[1];
      last[1] = q;
    }
    assert_int_equal(peaks, 9); /* at 0.5, 1, ... 4.5 s */
    saltus_sim_destroy(sim);
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_of_a_step_with_an_impact_obey_the_lemma),
      cmocka_unit_test(schatzman_paoli_has_no_artificial_rebound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
