/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The linearly implicit trapezoidal schemes without contacts: orders, stability, joints, and what is
 * said about the effective mass (docs/theory/trapezoidal.md, 2.1 to 2.3).
 */
#include "systems.h"
#include "trapezoidal_test.h"

#include <stdio.h>

/* Masses and forces that depend on everything. */
static const char general[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0.5, velocity: 0.3}, y: {start: -0.2, velocity: 1}}\n"
    "kinetic: (2 + cos(x) + 0.3*sin(t))*x'^2/2 + 0.4*cos(x - y)*x'*y' + (1.5 + 0.5*sin(y))*y'^2/2\n"
    "potential: 5*x^2 + x^4 + 3*(x - y)^2\n"
    "forces: {x: 0.5*cos(2*t) - 0.3*x'*abs(x'), y: -0.2*y' + x'*y}\n";

/* Ratio of errors between 256 and 512 steps; 4 is order 2, measured 4.005 and 1.997. */
static void forces_and_masses_that_change_keep_order_two(void** state) {
  (void)state;
  potra_run exact = go((potra_run){
      .scene = "general", .text = general, .scheme = "gauss-6", .t_end = 2.0, .h = 1e-3});
  static const struct {
    const char *scheme, *options;
    double ratio;
  } cases[] = {{mean, NULL, 4.0}, {end, NULL, 4.0}, {mean, "force_term=printed", 2.0}};
  for (int i = 0; i < 3; i++) {
    double error[2];
    for (int k = 0; k < 2; k++) {
      potra_run run = go((potra_run){.scene = "general",
                                     .text = general,
                                     .scheme = cases[i].scheme,
                                     .options = cases[i].options,
                                     .t_end = 2.0,
                                     .h = 2.0 / (256 << k)});
      error[k] = potra_distance(2, run.q, exact.q);
    }
    assert_near(error[0] / error[1], cases[i].ratio, 0.02);
  }
}

/* Euler's equations of a rigid body, J = diag(1, 2, 3.5): F = -w x J w, exact F_v. */
static const double J[3] = {1.0, 2.0, 3.5};

static void body_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  memset(M, 0, 9 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    M[4 * i] = J[i];
  }
}

static void body_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  const double* w = at->v;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    int k = (i + 2) % 3;
    F[i] = (J[j] - J[k]) * w[j] * w[k];
  }
}

static void body_force_v(const void* self, const saltus_point* at, double* F_v) {
  (void)self;
  const double* w = at->v;
  memset(F_v, 0, 9 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    int k = (i + 2) % 3;
    F_v[3 * i + j] = (J[j] - J[k]) * w[k];
    F_v[3 * i + k] = (J[j] - J[k]) * w[j];
  }
}

/* w(4), and the errors with 64 to 512 steps, given with three digits. */
static void a_free_body_turns_with_the_errors_of_the_methods(void** state) {
  (void)state;
  static const double exact[3] = {-1.95866774, 1.27919919, -1.01501859};
  static const double table[4] = {2.92e-3, 7.31e-4, 1.83e-4, 4.57e-5};
  static const saltus_system_ops ops = {
      .mass = body_mass, .force = body_force, .force_v = body_force_v};
  const saltus_system sys = {
      .ops = &ops, .dims = {.nq = 3, .nv = 3}, .traits = SALTUS_CONSTANT_MASS};
  for (int k = 0; k < 4; k++) {
    const saltus_scheme_def def = {.scheme = mean, .system = &sys};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    double q[3] = {0.0, 0.0, 0.0};
    double w[3] = {1.0, 2.0, -0.7};
    saltus_state x = {0.0, q, w};
    for (int n = 0; n < 64 << k; n++) {
      assert_int_equal(saltus_scheme_step(scheme, 4.0 / (64 << k), &x, NULL), SALTUS_OK);
    }
    assert_near(potra_distance(3, w, exact), table[k], 0.01 * table[k]);
    saltus_scheme_destroy(scheme);
  }
}

/* The scheme evaluates M in the middle of a step, (2.9). From that point and velocity the two ends follow: the mean of M
 * there is (2.7), M at the start is (6.9) as printed. */
typedef struct mass_choice {
  double h, start, end; /* weights of both ends; the rest is the middle's */
} mass_choice;

static double mass_at(double t, double q) {
  return 2.0 + cos(q) + 0.3 * sin(t);
}

static void chosen_mass(const void* self, const saltus_point* at, double* M) {
  const mass_choice* of = self;
  const double part = 0.5 * of->h;
  *M = of->start * mass_at(at->t - part, *at->q - part * *at->v) +
       of->end * mass_at(at->t + part, *at->q + part * *at->v) +
       (1.0 - of->start - of->end) * mass_at(at->t, *at->q);
}

static void chosen_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  *F = -5.0 * sin(*at->q) + 0.5 * cos(2.0 * at->t) - 0.3 * *at->v;
}

static void chosen_force_q(const void* self, const saltus_point* at, double* F_q) {
  (void)self;
  *F_q = -5.0 * cos(*at->q);
}

static void chosen_force_v(const void* self, const saltus_point* at, double* F_v) {
  (void)self, (void)at;
  *F_v = -0.3;
}

static double end_of(mass_choice of, int steps) {
  static const saltus_system_ops ops = {.mass = chosen_mass,
                                        .force = chosen_force,
                                        .force_q = chosen_force_q,
                                        .force_v = chosen_force_v};
  of.h = 2.0 / steps;
  const saltus_system sys = {.ops = &ops, .self = &of, .dims = {.nq = 1, .nv = 1}};
  const saltus_scheme_def def = {.scheme = mean, .system = &sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q = 0.5;
  double v = 1.0;
  saltus_state x = {0.0, &q, &v};
  for (int n = 0; n < steps; n++) {
    assert_int_equal(saltus_scheme_step(scheme, of.h, &x, NULL), SALTUS_OK);
  }
  saltus_scheme_destroy(scheme);
  return q;
}

static void both_choices_of_the_mass_have_order_two(void** state) {
  (void)state;
  static const struct {
    mass_choice of;
    double ratio;
  } cases[] = {{{.h = 0.0}, 4.0}, {{.start = 0.5, .end = 0.5}, 4.0}, {{.start = 1.0}, 2.0}};
  const double limit = end_of(cases[0].of, 8192);
  for (int i = 0; i < 3; i++) {
    const double error[2] = {end_of(cases[i].of, 256) - limit, end_of(cases[i].of, 512) - limit};
    assert_near(error[0] / error[1], cases[i].ratio, 0.1);
  }
}

/* v' = -w^2 q: one step is a matrix of determinant 1 with eigenvalues on the unit circle, for every
 * h w; as printed its spectral radius grows to sqrt(2). */
static void an_oscillator_keeps_its_amplitude_at_any_step(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "parameters: {w: 1, a: 1, b: 0}\n"
                             "coordinates: {x: {start: a, velocity: b}}\n"
                             "kinetic: x'^2/2\n"
                             "potential: w^2*x^2/2\n";
  static const char* const frequencies[] = {"0.1", "1", "10", "100", "1e4"};
  for (int i = 0; i < 10; i++) {
    const char* options = i < 5 ? NULL : "force_term=printed";
    const saltus_override first[] = {{"w", frequencies[i % 5]}, {"a", "1"}, {"b", "0"}};
    const saltus_override second[] = {{"w", frequencies[i % 5]}, {"a", "0"}, {"b", "1"}};
    const potra_run step = {.scene = "oscillator",
                            .text = text,
                            .override_count = 3,
                            .scheme = mean,
                            .options = options,
                            .t_end = 1.0,
                            .h = 1.0};
    potra_run a = step;
    a.overrides = first;
    a = go(a);
    potra_run b = step;
    b.overrides = second;
    b = go(b);
    double trace = a.q[0] + b.v[0];
    double determinant = a.q[0] * b.v[0] - b.q[0] * a.v[0];
    double radius = trace * trace < 4.0 * determinant
                        ? sqrt(determinant)
                        : 0.5 * (fabs(trace) + sqrt(trace * trace - 4.0 * determinant));
    if (i < 5) {
      assert_near(determinant, 1.0, 1e-7); /* cancels numbers up to w^2 = 1e8 */
      assert_true(trace * trace <= 4.0 * (1.0 + 1e-7));
    } else if (i % 5 == 4) {
      assert_near(radius, sqrt(2.0), 1e-3);
    }
  }
}

static const char pendulum[] = "saltus: 1\n"
                               "parameters: {g: 9.81, a: pi/3, b: pi/5}\n"
                               "coordinates:\n"
                               "  x1: {start: sin(a)}\n"
                               "  y1: {start: -cos(a)}\n"
                               "  x2: {start: sin(a) + sin(b)}\n"
                               "  y2: {start: -cos(a) - cos(b)}\n"
                               "kinetic: (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\n"
                               "potential: g*(y1 + y2)\n"
                               "joints:\n"
                               "  - {name: upper, constraint: x1^2 + y1^2 - 1}\n"
                               "  - {name: lower, constraint: (x1 - x2)^2 + (y1 - y2)^2 - 1}\n";

/* Errors of q and v after 2 s and the drift of the upper joint in h^2, three digits each. */
static void joints_have_the_errors_of_the_methods(void** state) {
  (void)state;
  static const double q[4] = {-0.154897958316, -0.987930474532, -0.252404626953, -1.983165346093};
  static const double v[4] = {2.637679704914, -0.413562706603, 3.921820165384, -0.539374474197};
  static const struct {
    const char *scheme, *options;
    double e_q[3], e_v[3], drift[3]; /* h = 2^-5, 2^-7, 2^-9; NaN: not given */
  } cases[] = {
      {mean, NULL, {6.01e-3, 3.73e-4, 2.33e-5}, {1.95e-2, 1.20e-3, 7.47e-5}, {1.779, 1.782, 1.782}},
      {mean, "stabilisation=on", {9.7e-4, 1.12e-4, 7.93e-6}, {NAN, NAN, NAN}, {.137, .0288, .0069}},
      {end, NULL, {7.9e-3, 4.0e-4, 2.37e-5}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
      {end, "gradients=middle", {2.42e-1, 6.74e-2, 1.74e-2}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
      {mean,
       "joints=kept",
       {6.01e-3, 3.73e-4, 2.33e-5},
       {1.95e-2, 1.20e-3, 7.47e-5},
       {1.779, 1.782, 1.782}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int k = 0; k < 3; k++) {
      double h = ldexp(1.0, -5 - 2 * k);
      potra_run run = go((potra_run){.scene = "pendulum",
                                     .text = pendulum,
                                     .scheme = cases[i].scheme,
                                     .options = cases[i].options,
                                     .t_end = 2.0,
                                     .h = h});
      double drift = (run.q[0] * run.q[0] + run.q[1] * run.q[1] - 1.0) / (h * h);
      assert_near(potra_distance(4, run.q, q), cases[i].e_q[k], 0.01 * cases[i].e_q[k]);
      if (!isnan(cases[i].e_v[k])) {
        assert_near(potra_distance(4, run.v, v), cases[i].e_v[k], 0.01 * cases[i].e_v[k]);
      }
      if (!isnan(cases[i].drift[k])) {
        assert_near(drift, cases[i].drift[k], 0.01 * cases[i].drift[k]);
      }
    }
  }
}

/* A rod given twice gives the same motion, whether joints are eliminated or kept. */
static void redundant_joints_do_not_change_the_motion(void** state) {
  (void)state;
  char twice[1024];
  snprintf(twice, sizeof twice, "%s  - {name: again, constraint: x1^2 + y1^2 - 1}\n", pendulum);
  potra_run once = go(
      (potra_run){.scene = "pendulum", .text = pendulum, .scheme = mean, .t_end = 1.0, .h = 0.01});
  static const char* const options[] = {"joints=eliminated", "joints=kept"};
  for (int i = 0; i < 2; i++) {
    potra_run run = go((potra_run){.scene = "twice",
                                   .text = twice,
                                   .scheme = mean,
                                   .options = options[i],
                                   .t_end = 1.0,
                                   .h = 0.01});
    assert_near(potra_distance(4, run.q, once.q), 0.0, 1e-10); /* rounding of 100 solves */
  }
}

/* A force that drives away, F_q = 1e4 > 0: M - h^2/4 F_q is negative for h > 0.02. */
static void an_indefinite_effective_mass_is_reported(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {x: {start: 1}, y: {start: 1}}\n"
                             "kinetic: (x'^2 + x'*y' + y'^2)/2\n"
                             "potential: -1e4*x^2/2 + y^2/2\n";
  static const struct {
    double h;
    bool indefinite;
  } cases[] = {{0.01, false}, {0.05, true}};
  for (int i = 0; i < 2; i++) {
    saltus_kept_message kept = {0};
    const saltus_scene_def scene_def = {.path = "away", .text = text};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_scheme_def def = {
        .scheme = mean, .system = view->system, .log = saltus_log_keep(&kept)};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    double q[2] = {1.0, 1.0};
    double v[2] = {0.0, 0.0};
    saltus_state x = {0.0, q, v};
    saltus_step_report report;
    for (int k = 0; k < 2; k++) { /* said once, reported at each step */
      kept.text[0] = '\0';
      assert_int_equal(saltus_scheme_step(scheme, cases[i].h, &x, &report), SALTUS_OK);
      assert_int_equal(report.indefinite_mass, cases[i].indefinite);
      if (cases[i].indefinite && k == 0) {
        assert_says(kept, "is not positive definite for h = 0.05");
      } else {
        assert_string_equal(kept.text, "");
      }
    }
    saltus_scheme_destroy(scheme);
    saltus_scene_destroy(scene);
  }
}

/* A point on a bent spring: its elongation is not linear. */
static const char bent[] =
    "saltus: 1\n"
    "parameters: {k: 40, d: 0.5, x0: 0.9, v0: 0.5}\n"
    "coordinates: {x: {start: x0}, y: {start: 0.3, velocity: v0}}\n"
    "kinetic: (x'^2 + y'^2)/2\n"
    "potential: 9.81*y\n"
    "springs: [{elongation: \"hypot(x, y) - 1\", stiffness: k, damping: d}]\n";

/* (10.13) and (10.14) leave the curvature of the elongation out: order 1, measured 2.03 and 3.97. */
static void gauss_newton_has_order_one_on_bent_springs(void** state) {
  (void)state;
  potra_run exact =
      go((potra_run){.scene = "bent", .text = bent, .scheme = "gauss-6", .t_end = 2.0, .h = 1e-3});
  static const struct {
    const char* options;
    double ratio;
  } cases[] = {
      {"jacobians=exact", 4.0}, {"jacobians=gauss-newton", 2.0}, {"jacobians=automatic", 4.0}};
  for (int i = 0; i < 3; i++) {
    double error[2];
    for (int k = 0; k < 2; k++) {
      potra_run run = go((potra_run){.scene = "bent",
                                     .text = bent,
                                     .scheme = mean,
                                     .options = cases[i].options,
                                     .t_end = 2.0,
                                     .h = 2.0 / (512 << k)});
      error[k] = potra_distance(2, run.q, exact.q);
    }
    assert_near(error[0] / error[1], cases[i].ratio, 0.05);
  }
}

/* On straight ones it is the derivative itself. */
static void gauss_newton_is_exact_on_straight_springs(void** state) {
  (void)state;
  const saltus_override set = {"delta", "1e3"};
  potra_run run = {.scene = "carts",
                   .overrides = &set,
                   .override_count = 1,
                   .scheme = mean,
                   .options = "jacobians=exact",
                   .t_end = 1.0,
                   .h = 0.01};
  potra_run exact = go(run);
  run.options = "jacobians=gauss-newton";
  run = go(run);
  assert_near(potra_distance(4, run.q, exact.q), 0.0, 1e-13);
  assert_near(potra_distance(4, run.v, exact.v), 0.0, 1e-12);
}

/* A compressed spring drives sideways: exact derivatives make A indefinite, Gauss-Newton never; and
 * one step from rest length stays bounded however stiff the spring is. */
static void gauss_newton_keeps_the_effective_mass_definite(void** state) {
  (void)state;
  static const struct {
    const char *options, *k, *x0, *says;
  } cases[] = {{"jacobians=exact", "1e6", "0.7", "not positive definite"},
               {"jacobians=automatic", "1e6", "0.7", NULL},
               {"jacobians=gauss-newton", "1e6", "0.7", NULL},
               {"jacobians=gauss-newton", "1e12", "0.7", NULL},
               {"jacobians=gauss-newton", "1e3", "sqrt(0.91)", NULL},
               {"jacobians=gauss-newton", "1e12", "sqrt(0.91)", NULL}};
  for (int i = 0; i < 6; i++) {
    const saltus_override set[] = {{"k", cases[i].k}, {"x0", cases[i].x0}, {"d", "0"}};
    saltus_kept_message kept;
    potra_run run = {.scene = "bent",
                     .text = bent,
                     .overrides = set,
                     .override_count = 3,
                     .scheme = mean,
                     .options = cases[i].options,
                     .t_end = 0.1,
                     .h = 0.1,
                     .log = saltus_log_keep(&kept)};
    assert_int_equal(potra_go(&run), SALTUS_OK);
    if (cases[i].says != NULL) {
      assert_says(kept, cases[i].says);
    } else {
      assert_string_equal(kept.text, "");
    }
    if (i >= 4) { /* v_N is reflected, gravity adds g h */
      assert_true(hypot(run.v[0], run.v[1]) <= 0.5 + 2.0 * 9.81 * 0.1);
    }
  }
}

static void gauss_newton_needs_springs_with_names(void** state) {
  (void)state;
  saltus_kept_message kept;
  potra_run run = {.scene = "pendulum",
                   .text = pendulum,
                   .scheme = mean,
                   .options = "jacobians=gauss-newton",
                   .t_end = 1.0,
                   .h = 0.01,
                   .log = saltus_log_keep(&kept)};
  assert_int_equal(potra_go(&run), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "the system names no springs");
}

/* Written as a spring or into potential and forces: the same motion, and derivatives that agree with
 * differences. */
static void springs_are_potentials_and_forces(void** state) {
  (void)state;
  static const char written[] = "saltus: 1\n"
                                "parameters: {k: 40, d: 0.5}\n"
                                "coordinates: {x: {start: 0.9}, y: {start: 0.3, velocity: 0.5}}\n"
                                "kinetic: (x'^2 + y'^2)/2\n"
                                "potential: 9.81*y + k/2*(hypot(x, y) - 1)^2\n"
                                "forces:\n"
                                "  x: -d*(x*x' + y*y')*x/(x^2 + y^2)\n"
                                "  y: -d*(x*x' + y*y')*y/(x^2 + y^2)\n";
  potra_run a =
      go((potra_run){.scene = "bent", .text = bent, .scheme = "rk4", .t_end = 1.0, .h = 0.01});
  potra_run b = go(
      (potra_run){.scene = "written", .text = written, .scheme = "rk4", .t_end = 1.0, .h = 0.01});
  assert_near(potra_distance(2, a.q, b.q), 0.0, 1e-13);
  const saltus_scene_def def = {.path = "bent", .text = bent};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const double q[2] = {0.8, 0.5};
  const double v[2] = {0.3, -0.7};
  saltus_system_check_result check;
  assert_int_equal(
      saltus_system_check(saltus_scene_get_view(scene)->system, 0.1, q, v, (saltus_log){0}, &check),
      SALTUS_OK);
  assert_true(check.worst < 1e-9 && check.traits_hold);
  saltus_scene_destroy(scene);
}

static void faulty_springs_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *spring, *says;
  } cases[] = {
      {"{name: a, stiffness: 1}", "spring \"a\" has no elongation"},
      {"{name: a, elongation: x, stiffness: -1}", "must be >= 0"},
      {"{name: a, elongation: x, damping: 0 - 2}", "must be >= 0"},
      {"{name: a, elongation: x'}", "x'"},
      {"{name: a, elongation: x, stiff: 1}",
       "unknown key \"stiff\" in a spring; allowed: name, elongation"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {x: {start: 0}}\nkinetic: x'^2/2\nsprings: [%s]\n",
             cases[i].spring);
    saltus_kept_message kept;
    const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
    assert_says(kept, cases[i].says);
  }
}

/* Joint forces, impulses over h, are those in the middle of the step to O(h^2): ratio 4, against a run
 * with 2^-13 whose steps have their middles on both sides. */
static double last_joint_force(double h, double t_end) {
  const saltus_scene_def scene_def = {.path = "pendulum", .text = pendulum};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_sim_def def = {
      .system = view->system, .scheme = mean, .h = h, .q0 = view->q0, .v0 = view->v0};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, t_end), SALTUS_OK);
  double force = saltus_sim_report(sim)->joint_impulses[0] / h;
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return force;
}

static void joint_forces_have_order_two_in_the_middle(void** state) {
  (void)state;
  const double fine = ldexp(1.0, -13);
  double error[3];
  for (int k = 0; k < 3; k++) {
    double h = ldexp(1.0, -6 - k);
    double middle = 1.0 - 0.5 * h;
    double exact = 0.5 * (last_joint_force(fine, middle) + last_joint_force(fine, middle + fine));
    error[k] = fabs(last_joint_force(h, 1.0) - exact);
  }
  assert_near(error[0] / error[1], 4.0, 0.3);
  assert_near(error[1] / error[2], 4.0, 0.3);
}

/* A ball that bounces inside a step of 0.6 s: its parabolas are exact everywhere, and the instant of
 * the impact has two sides. */
static void the_motion_inside_a_step_is_known(void** state) {
  (void)state;
  static const char* const schemes[2] = {mean, end};
  for (int i = 0; i < 2; i++) {
    ball b = ball_usual();
    saltus_system sys = ball_system(&b);
    const saltus_scheme_def def = {.scheme = schemes[i], .system = &sys};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    double q = 1.0;
    double v = 0.0;
    saltus_state x = {0.0, &q, &v};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 0.6, &x, &report), SALTUS_OK);
    assert_int_equal(report.event_count, 1);
    double y;
    double u;
    for (int k = 0; k <= 60; k++) {
      double t = k < 60 ? 0.01 * k : 0.6;
      assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_RIGHT, &y, &u), SALTUS_OK);
      assert_near(y, ball_height(&b, 1.0, t), 1e-14);
    }
    assert_true(y == q && u == v);
    double t = report.events[0].t;
    double speed = sqrt(2.0 * 9.81);
    assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_LEFT, &y, &u), SALTUS_OK);
    assert_near(u, -speed, 1e-13);
    assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_RIGHT, &y, &u), SALTUS_OK);
    assert_near(u, 0.5 * speed, 1e-13);
    saltus_scheme_destroy(scheme);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_and_masses_that_change_keep_order_two),
      cmocka_unit_test(a_free_body_turns_with_the_errors_of_the_methods),
      cmocka_unit_test(both_choices_of_the_mass_have_order_two),
      cmocka_unit_test(an_oscillator_keeps_its_amplitude_at_any_step),
      cmocka_unit_test(joints_have_the_errors_of_the_methods),
      cmocka_unit_test(redundant_joints_do_not_change_the_motion),
      cmocka_unit_test(an_indefinite_effective_mass_is_reported),
      cmocka_unit_test(gauss_newton_has_order_one_on_bent_springs),
      cmocka_unit_test(gauss_newton_is_exact_on_straight_springs),
      cmocka_unit_test(gauss_newton_keeps_the_effective_mass_definite),
      cmocka_unit_test(gauss_newton_needs_springs_with_names),
      cmocka_unit_test(springs_are_potentials_and_forces),
      cmocka_unit_test(faulty_springs_are_refused),
      cmocka_unit_test(joint_forces_have_order_two_in_the_middle),
      cmocka_unit_test(the_motion_inside_a_step_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
