/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction laws in scenes, with steps of Moreau and Jean: where motions end, and periods of stick-slip, are those of
 * closed forms to the first order in the step.
 */
#include "saltus_test.h"

#include "../../studies/friction_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Largest error near a step: stops fall anywhere into a step. */
static double error_near(const friction_case* of, const char* scheme, double h) {
  static const double parts[] = {1.0, 0.93, 0.87};
  double worst = 0.0;
  char text[1024];
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const double found = friction_case_run(of, scheme, parts[k] * h, text, sizeof text);
    if (!isfinite(found)) {
      fail_msg("%s: %s", of->label, text);
    }
    worst = fmax(worst, fabs(found - of->value));
  }
  return worst;
}

static void claim(const friction_case* of, const char* scheme, double h) {
  const double coarse = error_near(of, scheme, h), fine = error_near(of, scheme, h / 8.0);
  const bool falls = fine <= coarse / 3.0 || fine <= 1e-12; /* that is rounding */
  if (!(coarse <= of->constant * h && fine <= of->constant * h / 8.0 && falls)) {
    fail_msg("%s, %s: errors %g and %g at steps of %g s and an eighth of it", scheme, of->label,
             coarse, fine, h);
  }
}

static void motions_end_where_closed_forms_say(void** state) {
  (void)state;
  for (int i = 0; friction_case_at(i) != NULL; i++) {
    claim(friction_case_at(i), "moreau-jean", saltus_test_sanitized() ? 0.016 : 0.004);
  }
}

/* What rests creeps and sinks by h/2 times what forces do, m/s^2 and rad/s^2 of these cases: 60 h at most. */
static friction_case of_scheme(const friction_case* of, const saltus_scheme_info* info) {
  friction_case own = *of;
  own.constant = info->penetrates ? 60.0 : of->constant;
  own.until = fmin(of->until, 25.0); /* two periods are enough */
  return own;
}

/* Every scheme with fixed steps that says so has every law, on one case of each. */
static void other_schemes_find_the_same(void** state) {
  (void)state;
  static const int cases[] = {2, 4, 5, 6, 7, 8, 9, 10, 13, 17, 19};
  int schemes = 0;
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const bool all = (info->treats & SALTUS_TREATS_FRICTION_LAWS) != 0;
    if (!all || info->chooses_step || strcmp(info->name, "moreau-jean") == 0) {
      continue; /* that one has its own test, to a tolerance or above */
    }
    schemes++;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      if (!saltus_test_takes(i + (int)k)) {
        continue;
      }
      const friction_case own = of_scheme(friction_case_at(cases[k]), info);
      claim(&own, info->name, 0.016);
    }
  }
  assert_true(schemes >= 6);
}

/* Associated elliptic cones are scaled rows: whatever treats friction in space treats them. */
static void every_scheme_slides_on_an_ellipse(void** state) {
  (void)state;
  const double h = 0.002;
  const friction_case* of = friction_case_at(0);
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if ((info->treats & SALTUS_TREATS_FRICTION) == 0 || info->chooses_step) {
      continue;
    }
    char text[1024];
    const double found = friction_case_run(of, info->name, h, text, sizeof text);
    /* the trapezoidal rules have pyramids of 8 sides by default, which are up to 5 percent wide */
    const bool pyramids = strncmp(info->name, "trapezoidal", 11) == 0;
    if (!(fabs(found - of->value) <= (pyramids ? 0.06 * of->value : 1.5 * h))) {
      fail_msg("%s ends at %.10g instead of %.10g: %s", info->name, found, of->value, text);
    }
  }
}

/* Times at which sticking ended, the last two. */
typedef struct slips {
  double last, before;
} slips;

static saltus_status keep_slip(void* user, const saltus_event* event) {
  slips* s = user;
  if (event->kind == SALTUS_EVENT_SLIP) {
    s->before = s->last;
    s->last = event->t;
  }
  return SALTUS_OK;
}

/* Error of the period of stick-slip, by located events. */
static double period_error(const friction_case* of, const char* scheme, double h) {
  slips found = {.last = NAN, .before = NAN};
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = "test", .text = of->scene};
  assert_int_equal(saltus_scene_create(&made, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_recorder recorder = {.event = keep_slip, .user = &found};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .h = h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_status status = saltus_sim_create(&def, &sim);
  status = status == SALTUS_OK ? saltus_sim_run(sim, (long long)(40.0 / h + 0.5)) : status;
  if (status != SALTUS_OK) {
    fail_msg("%s: %s", scheme, kept.text);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return fabs(found.last - found.before - of->value);
}

/* Coefficients that depend on the slip are part of the smooth motion: Runge-Kutta methods keep their order through stick and
 * slip, with friction that falls at once and with curves. Periods are known to 1e-11. */
static void curves_keep_the_order_of_methods(void** state) {
  (void)state;
  bool orders[6] = {false};
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const bool curves = (info->treats & SALTUS_TREATS_FRICTION_CURVES) != 0;
    if (!curves || !info->locates_events) {
      continue;
    }
    const int p = info->smooth_order < 5 ? info->smooth_order : 5; /* order 6 is near rounding */
    for (int k = 19; k <= 21; k++) {
      const friction_case* of = friction_case_at(k);
      const double coarse = period_error(of, info->name, 0.05);
      const double fine = period_error(of, info->name, 0.025);
      if (!(fine <= coarse / pow(2.0, p - 0.35) || fine <= 5e-11) || !(coarse <= 0.7)) {
        fail_msg("%s, %s: errors %g and %g", info->name, of->label, coarse, fine);
      }
      orders[p] = true;
    }
  }
  for (int p = 1; p <= 5; p++) {
    assert_true(orders[p]);
  }
  friction_case loose =
      *friction_case_at(19); /* what turns in a step ends its slip at the end of it */
  loose.constant = 4.0;
  loose.until = 25.0;
  claim(&loose, "splitting-rkf45-contact", 0.016);
  claim(friction_case_at(17), "splitting-rkf45-contact", 0.016);
}

/* Viscous friction of contacts that are held is a force as any other: the motion keeps the order of its method to its stop. */
static void viscous_friction_keeps_the_order_of_methods(void** state) {
  (void)state;
  bool orders[5] = {false};
  char text[1024];
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const friction_case* of = friction_case_at(6);
    if ((info->treats & SALTUS_TREATS_FRICTION_CURVES) == 0) {
      continue;
    }
    if (!info->locates_events) {
      claim(of, info->name, 0.016);
      continue;
    }
    const int p = info->smooth_order < 4 ? info->smooth_order : 4;
    double error[2];
    for (int k = 0; k < 2; k++) {
      error[k] = fabs(friction_case_run(of, info->name, k == 0 ? 0.04 : 0.02, text, sizeof text) -
                      of->value);
    }
    if (!(error[1] <= error[0] / pow(2.0, p - 0.35) || error[1] <= 5e-10) || !(error[0] <= 0.05)) {
      fail_msg("%s: errors %g and %g: %s", info->name, error[0], error[1], text);
    }
    orders[p] = true;
  }
  assert_true(orders[1] && orders[2] && orders[3] && orders[4]);
}

#define SLIDING_BY(forces, law)                                                                    \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {velocity: 1}, y: {velocity: 1}, z: {}}\n"                                     \
  "kinetic: (x'^2 + y'^2 + z'^2)/2\n"                                                              \
  "potential: 9.81*z\n"                                                                            \
  "forces: " forces "\n"                                                                           \
  "contacts:\n"                                                                                    \
  "  - {name: floor, gap: z, slip: x, slip2: y, " law "}\n"
#define SLIDING(law) SLIDING_BY("{x: 0}", law)

/* Of a bond the unknown is what closes the contact beside it: its end is located as an opening. Viscous friction needs no dry
 * one. The third is bonded again when it lands, slides and sticks under the bond, and a ball bounces beside it: to 1e-11 by `adaptive` and
 * by gauss-6, to the brackets of two dozen impacts by methods of order 3. Ellipses with a sliding rule of their own slip along another
 * line than their friction; the number of the last is that of `adaptive`, radau-iia-5 and dopri5. */
static void bonds_ellipses_and_viscous_friction_alone_keep_the_order(void** state) {
  (void)state;
  static const friction_case cases[] = {
      {"", "a bond that breaks",
       "saltus: 1\n"
       "coordinates: {z: {}}\n"
       "kinetic: z'^2/2\n"
       "potential: 9.81*z\n"
       "forces: {z: 5*t}\n"
       "contacts:\n"
       "  - {name: floor, gap: z, adhesion: 4}\n",
       3.0, 0, 0.12452239333333498, 0.1},
      {"", "viscous alone",
       "saltus: 1\n"
       "coordinates: {x: {velocity: 1}, z: {}}\n"
       "kinetic: (x'^2 + z'^2)/2\n"
       "potential: 9.81*z\n"
       "contacts:\n"
       "  - {name: floor, gap: z, slip: x', viscous: 0.5}\n",
       1.0, 0, 0.78693868057473315, 0.1},
      {"", "bonds anew",
       "saltus: 1\n"
       "coordinates: {x: {}, z: {}, y: {start: 0.2}}\n"
       "kinetic: (x'^2 + z'^2 + y'^2)/2\n"
       "potential: 9.81*(z + y)\n"
       "forces: {z: 13*sin(3*t) + 5, x: 4*sin(2*t)}\n"
       "contacts:\n"
       "  - {name: floor, gap: z, slip: x', adhesion: {force: 4, rebinds: true}, friction: 0.3}\n"
       "  - {name: other, gap: y, restitution: 0.5}\n",
       2.0, 0, 4.3822301214, 0.3},
      {"", "against the slip",
       SLIDING("friction: {along: 0.4, across: 0.28284271247461901, rule: against-slip}"), 0.6, 0,
       0.22069964418546428, 0.1},
      {"", "an ellipse of its own rule that sticks and slides",
       SLIDING_BY("{x: 3.3*sin(4*t), y: 2.9*cos(3*t)}",
                  "friction: {along: 0.4, across: 0.28284271247461901, sliding: [0.2, 0.35]}"),
       3.0, 0, 1.14720703846, 0.1},
  };
  bool orders[5] = {false};
  char text[1024];
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const bool curves = (info->treats & SALTUS_TREATS_FRICTION_CURVES) != 0;
    const bool drives = strcmp(info->name, "event-driven") == 0; /* stops at accumulations */
    static const char* const some[] = {"explicit-euler", "midpoint", "heun-3",
                                       "radau-iia-3",    "dopri5",   "gauss-4"};
    bool runs = drives || saltus_test_long();
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
      runs = runs || strcmp(info->name, some[k]) == 0;
    }
    for (size_t k = 0; curves && k < sizeof cases / sizeof *cases; k++) {
      if (!info->locates_events || !runs || (drives && k == 2)) {
        continue;
      }
      const int p = info->smooth_order < 4 ? info->smooth_order : 4;
      const double factor = k == 4 ? 4.0 : 2.0; /* explicit methods in space are a little uneven */
      double error[2];
      for (int j = 0; j < 2; j++) {
        const double h = (p == 1 ? 0.004 : k == 4 ? 0.01 : 0.02) / pow(factor, j);
        error[j] =
            fabs(friction_case_run(&cases[k], info->name, h, text, sizeof text) - cases[k].value);
      }
      const double known = k == 2 || k == 4 ? 2e-8 : 5e-10;
      if (!(error[1] <= error[0] / pow(factor, p - 0.35) || error[1] <= known) ||
          !(error[0] <= cases[k].constant)) {
        fail_msg("%s, %s: errors %g and %g: %s", info->name, cases[k].label, error[0], error[1],
                 text);
      }
      orders[p] = true;
    }
  }
  assert_true(orders[1] && orders[2] && orders[3] && orders[4]);
}

/* Positions at the end, to a tolerance. */
static double at_tolerance(const friction_case* of, double tol, char* text, size_t size) {
  double found = NAN;
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = "test", .text = of->scene};
  assert_int_equal(saltus_scene_create(&made, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "adaptive",
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .log = saltus_log_keep(&kept)};
  if (saltus_sim_create(&def, &sim) == SALTUS_OK &&
      saltus_sim_run_until(sim, of->until) == SALTUS_OK) {
    found = saltus_sim_q(sim)[of->coordinate];
  }
  snprintf(text, size, "%s", kept.text);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return found;
}

/* A contact that is open at the start has no bond when it lands: it opens again where the force changes its sign, at 1.25 s, and
 * z = 2/3 (t - 1.25)^3. */
static void a_contact_that_starts_open_has_no_bond(void** state) {
  (void)state;
  const friction_case lands = {"",
                               "lands",
                               "saltus: 1\ncoordinates: {z: {start: 0.4}}\nkinetic: z'^2/2\n"
                               "forces: {z: -5 + 4*t}\n"
                               "contacts: [{name: floor, gap: z, adhesion: 4}]\n",
                               2.0,
                               0,
                               0.28125,
                               0.1};
  char text[1024];
  assert_near(at_tolerance(&lands, 1e-9, text, sizeof text), lands.value, 1e-8);
  assert_near(friction_case_run(&lands, "dopri5", 1e-3, text, sizeof text), lands.value, 1e-6);
  assert_near(friction_case_run(&lands, "moreau-jean", 1e-4, text, sizeof text), lands.value, 1e-3);
}

/* Curves and viscous friction are functions of the slip itself, also where the cone is an ellipse and rows are scaled. The
 * numbers are of the equations of motion by the classical Runge-Kutta method, steps of 1e-4 and 5e-5 s alike. */
static void ellipses_go_together_with_curves_and_viscous_friction(void** state) {
  (void)state;
  static const friction_case cases[] = {
      {"", "viscous, along", SLIDING("friction: {along: 0.2, across: 0.1}, viscous: 1"), 0.5, 0,
       0.225383401000669, 1.5},
      {"", "viscous, across", SLIDING("friction: {along: 0.2, across: 0.1}, viscous: 1"), 0.5, 1,
       0.333348414553655, 1.5},
      {"", "curve, along",
       SLIDING("friction: {along: 0.2, across: 0.05, curve: 0.1 + 0.1*exp(-s/0.5)}"), 1.0, 0,
       0.510910656869130, 1.5},
      {"", "curve, across",
       SLIDING("friction: {along: 0.2, across: 0.05, curve: 0.1 + 0.1*exp(-s/0.5)}"), 1.0, 1,
       0.948751633497212, 1.5},
  };
  char text[1024];
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if ((info->treats & (SALTUS_TREATS_FRICTION_CURVES | SALTUS_TREATS_FRICTION_LAWS)) == 0) {
      continue;
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      const double h = 0.005;
      const bool adapts = info->chooses_step;
      const double found = adapts ? at_tolerance(&cases[k], 1e-9, text, sizeof text)
                                  : friction_case_run(&cases[k], info->name, h, text, sizeof text);
      const double most = adapts ? 1e-8 : info->penetrates ? 0.1 : cases[k].constant * h;
      if (!(fabs(found - cases[k].value) <= most)) {
        fail_msg("%s, %s: %.10g: %s", info->name, cases[k].label, found, text);
      }
    }
  }
}

/* A law that is not in the steps of a scheme: steps with it are those of moreau-extrapolated, with a warning at creation. */
static void laws_beyond_a_scheme_have_the_same_closed_forms(void** state) {
  (void)state;
  int schemes = 0;
  char text[1024];
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if ((info->treats & SALTUS_TREATS_FRICTION_LAWS) != 0) {
      continue;
    }
    schemes++;
    for (int k = 2; friction_case_at(k) != NULL; k++) {
      friction_case own = of_scheme(friction_case_at(k), info);
      if (!saltus_test_takes(i + k) || k >= 19) {
        continue; /* periods: from 19 on */
      }
      const double h = 0.016;
      const double found = friction_case_run(&own, info->name, h, text, sizeof text);
      const double fine = friction_case_run(&own, info->name, h / 8.0, text, sizeof text);
      const double most = fmax(own.constant, 4.0);
      if (!(fabs(found - own.value) <= most * h && fabs(fine - own.value) <= most * h / 8.0)) {
        fail_msg("%s, %s: errors %g and %g: %s", info->name, own.label, fabs(found - own.value),
                 fabs(fine - own.value), text);
      }
    }
  }
  assert_true(schemes >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_end_where_closed_forms_say),
      cmocka_unit_test(other_schemes_find_the_same),
      cmocka_unit_test(every_scheme_slides_on_an_ellipse),
      cmocka_unit_test(curves_keep_the_order_of_methods),
      cmocka_unit_test(viscous_friction_keeps_the_order_of_methods),
      cmocka_unit_test(bonds_ellipses_and_viscous_friction_alone_keep_the_order),
      cmocka_unit_test(a_contact_that_starts_open_has_no_bond),
      cmocka_unit_test(ellipses_go_together_with_curves_and_viscous_friction),
      cmocka_unit_test(laws_beyond_a_scheme_have_the_same_closed_forms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
