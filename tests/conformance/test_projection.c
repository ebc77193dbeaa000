/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * project_joints: schemes that hold joints by their velocities drift off them by a known order of the step;
 * with the option positions stay on the joints to rounding, the motion keeps its order, and what was moved
 * is reported.
 */
#include "saltus_test.h"

#include "../../bench/links.h"

#include <stdio.h>
#include <stdlib.h>

/* A double pendulum whose rods have a fourth power for their length: a quadratic one moreau-jean would keep. */
static const char pendulum[] = "saltus: 1\n"
                               "coordinates: {x: {start: 1}, y: {start: 0}, u: {start: 1.8}, "
                               "w: {start: -0.6}}\n"
                               "kinetic: (x'^2+y'^2+u'^2+w'^2)/2\n"
                               "potential: 9.81*(y+w)\n"
                               "joints:\n"
                               "  - {name: upper, constraint: x^4+y^4-1}\n"
                               "  - {name: lower, constraint: (u-x)^4+(w-y)^4-0.5392}\n";

static const char* const schemes[] = {"moreau-jean",     "moreau-midpoint",
                                      "splitting-rkf45", "splitting-rkf45-contact",
                                      "dg-minus",        "dg-plus"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

typedef struct outcome {
  double q[4];
  double defect; /* m^4, at the end */
  double moved;  /* m, in all steps */
} outcome;

static outcome run(const char* scheme, const char* option, int steps) {
  saltus_kept_message kept = {0};
  const saltus_scene_def def = {.text = pendulum, .log = saltus_log_keep(&kept)};
  saltus_scene* scene = NULL;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double options[64] = {0.0};
  const saltus_scheme_info* info = saltus_scheme_find(scheme);
  saltus_options_defaults(&info->options, options);
  if (option != NULL) {
    assert_int_equal(saltus_options_set(&info->options, options, scheme, "project_joints", option,
                                        saltus_log_keep(&kept)),
                     SALTUS_OK);
  }
  const saltus_scheme_def made_def = {
      .scheme = scheme, .system = view->system, .options = options, .log = saltus_log_keep(&kept)};
  saltus_scheme* made;
  assert_int_equal(saltus_scheme_create(&made_def, &made), SALTUS_OK);
  outcome out = {0};
  double v[4];
  memcpy(out.q, view->q0, sizeof out.q);
  memcpy(v, view->v0, sizeof v);
  saltus_state state = {.q = out.q, .v = v};
  for (int i = 0; i < steps; i++) {
    saltus_step_report report = {0};
    saltus_status status = saltus_scheme_step(made, 1.0 / steps, &state, &report);
    if (status != SALTUS_OK) {
      fail_msg("%s: %s", scheme, kept.text);
    }
    out.moved += report.projection;
  }
  double upper = pow(out.q[0], 4) + pow(out.q[1], 4) - 1.0;
  double lower = pow(out.q[2] - out.q[0], 4) + pow(out.q[3] - out.q[1], 4) - 0.5392;
  out.defect = fmax(fabs(upper), fabs(lower));
  saltus_scheme_destroy(made);
  saltus_scene_destroy(scene);
  return out;
}

static double apart(const outcome* a, const outcome* b) {
  double most = 0.0;
  for (int i = 0; i < 4; i++) {
    most = fmax(most, fabs(a->q[i] - b->q[i]));
  }
  return most;
}

static void positions_stay_on_joints_where_the_option_says_so(void** state) {
  (void)state;
  for (int k = 0; k < SCHEMES; k++) {
    outcome free = run(schemes[k], NULL, 200);
    outcome off = run(schemes[k], "false", 200);
    outcome on = run(schemes[k], "true", 200);
    assert_near(apart(&free, &off), 0.0, 0.0); /* the default */
    if (!(on.defect < 2e-14 && on.moved > 0.0 && free.defect > 100.0 * on.defect)) {
      fail_msg("%s: %.1e with, %.1e without, moved %.1e", schemes[k], on.defect, free.defect,
               on.moved);
    }
  }
}

/* The least order of the drift, between 200 and 400 steps. */
static void drift_has_its_order(void** state) {
  (void)state;
  const double order[SCHEMES] = {2.0, 2.0, 4.0, 4.0, 2.0, 2.0};
  for (int k = 0; k < SCHEMES; k++) {
    double coarse = run(schemes[k], NULL, 200).defect;
    double fine = run(schemes[k], NULL, 400).defect;
    double found = log2(coarse / fine);
    if (!(found > order[k] - 0.3)) {
      fail_msg("%s: drift %.2e and %.2e, order %.2f", schemes[k], coarse, fine, found);
    }
  }
}

/* Order 2 or more at the end, as without projection: against the same scheme with 16 times the steps. */
static void the_motion_keeps_its_order(void** state) {
  (void)state;
  for (int k = 0; k < SCHEMES; k++) {
    outcome exact = run("splitting-rkf45", "true", 4000);
    outcome coarse = run(schemes[k], "true", 200);
    outcome fine = run(schemes[k], "true", 400);
    double found = log2(apart(&coarse, &exact) / apart(&fine, &exact));
    if (!(found > 1.8)) {
      fail_msg("%s: errors %.2e and %.2e, order %.2f", schemes[k], apart(&coarse, &exact),
               apart(&fine, &exact), found);
    }
  }
}

/* 100 hinges in space at 1/240 s: 1e-13 m of 10 m is rounding, drift without it is 1e-7 m. */
static void hinges_of_a_long_chain_stay_closed(void** state) {
  (void)state;
  double defect[2];
  for (int on = 0; on < 2; on++) {
    saltus_mechanism* made =
        links_create(&(links_def){.dimension = 3, .count = 100, .twisted = true});
    const saltus_system* sys = saltus_mechanism_system(made);
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.project_joints = on;
    const saltus_sim_def def = {.system = sys,
                                .scheme = "moreau-jean",
                                .options = &options,
                                .h = 1.0 / 240.0,
                                .q0 = saltus_mechanism_q0(made),
                                .v0 = saltus_mechanism_v0(made)};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run(sim, 60), SALTUS_OK);
    defect[on] = links_defect(sys, saltus_sim_time(sim), saltus_sim_q(sim));
    saltus_sim_destroy(sim);
    saltus_mechanism_destroy(made);
  }
  assert_true(defect[0] > 1e-8);
  assert_true(defect[1] < 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_stay_on_joints_where_the_option_says_so),
      cmocka_unit_test(drift_has_its_order),
      cmocka_unit_test(the_motion_keeps_its_order),
      cmocka_unit_test(hinges_of_a_long_chain_stay_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
