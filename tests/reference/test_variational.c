/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The numbers of the variational integrator and of Moreau's midpoint rule: energy of the spring
 * pendulum over 250 s, the woodpecker, the pendulum pressed on a wall, a million steps of a double
 * pendulum (docs/theory/problems.md, 7; docs/theory/variational.md, 2).
 */
#include "saltus_test.h"

#include <stdlib.h>

typedef struct run {
  saltus_scene* scene;
  const saltus_scene_view* view;
  saltus_sim* sim;
  double h;
  void* scratch;
} run;

static run start_from(const char* name, const char* scheme, const void* options, double h,
                      const double* q0, const double* v0) {
  run r = {.scene = saltus_test_scene(name, NULL, 0), .h = h};
  r.view = saltus_scene_get_view(r.scene);
  r.scratch = malloc(r.view->system->dims.scratch + 1);
  const saltus_sim_def sim = {.system = r.view->system,
                              .scheme = scheme,
                              .options = options,
                              .h = h,
                              .q0 = q0 != NULL ? q0 : r.view->q0,
                              .v0 = v0 != NULL ? v0 : r.view->v0};
  assert_int_equal(saltus_sim_create(&sim, &r.sim), SALTUS_OK);
  return r;
}

static run start(const char* name, const char* scheme, const void* options, double h) {
  return start_from(name, scheme, options, h, NULL, NULL);
}

static void finish(run* r) {
  saltus_sim_destroy(r->sim);
  saltus_scene_destroy(r->scene);
  free(r->scratch);
}

static double energy(const run* r, const double* q, const double* v) {
  const saltus_point at = {.q = q, .v = v, .scratch = r->scratch};
  const saltus_system* sys = r->view->system;
  return sys->ops->kinetic(sys->self, &at) + sys->ops->potential(sys->self, &at);
}

/* Extremes of e = (E - E0) / E0 with the potential zero at the pivot, E0 = -7.130389 J. */
typedef struct range {
  double low, high, end;
} range;

static void widen(range* x, double e) {
  x->low = fmin(x->low, e);
  x->high = fmax(x->high, e);
  x->end = e;
}

/* Of the variational integrator: at the middle of each step, from two nodes, with the velocity
 * between them; and at its start with the same velocity. */
static void sample_nodes(double h, double until, const char* scene, range* middle,
                         range* one_sided) {
  run r = start(scene, "variational", NULL, h);
  double E0 = energy(&r, r.view->q0, r.view->v0);
  double before[2];
  *middle = *one_sided = (range){0};
  long long steps = (long long)(until / h + 0.5);
  for (long long i = 0; i < steps; i++) {
    memcpy(before, saltus_sim_q(r.sim), sizeof before);
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    const double* q = saltus_sim_q(r.sim);
    double mid[2], u[2];
    for (int k = 0; k < 2; k++) {
      mid[k] = 0.5 * (before[k] + q[k]);
      u[k] = (q[k] - before[k]) / h;
    }
    widen(middle, (energy(&r, mid, u) - E0) / E0);
    widen(one_sided, (energy(&r, before, u) - E0) / E0);
  }
  assert_near(E0, -7.130389, 1e-6);
  finish(&r);
}

/* T9: the ranges of another program within 3 %, which are printed with three digits. */
static void the_variational_energy_stays_in_its_band(void** state) {
  (void)state;
  static const struct {
    double h, middle[2], one_sided[2];
  } expected[] = {{.004, {-0.604e-2, 0.003e-2}, {-0.790e-2, 0.253e-2}},
                  {.002, {-0.302e-2, 0.001e-2}, {-0.395e-2, 0.127e-2}},
                  {.001, {-0.150e-2, 0.005e-2}, {-0.198e-2, 0.068e-2}}};
  for (int i = 0; i < 3; i++) {
    range middle, one_sided;
    sample_nodes(expected[i].h, 250.0, "spring-pendulum", &middle, &one_sided);
    assert_near(middle.low, expected[i].middle[0], 0.03 * fabs(expected[i].middle[0]));
    assert_near(middle.high, expected[i].middle[1], 0.5e-5); /* printed with one digit */
    assert_near(one_sided.low, expected[i].one_sided[0], 0.03 * fabs(expected[i].one_sided[0]));
    assert_near(one_sided.high, expected[i].one_sided[1], 0.03 * expected[i].one_sided[1]);
  }
}

static range moreau_energy(int velocity, double h, double until) {
  saltus_moreau_midpoint_options o = saltus_moreau_midpoint_options_default();
  o.velocity = velocity;
  run r = start("spring-pendulum", "moreau-midpoint", &o, h);
  double E0 = energy(&r, r.view->q0, r.view->v0);
  range e = {0};
  long long steps = (long long)(until / h + 0.5);
  for (long long i = 0; i < steps; i++) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    widen(&e, (energy(&r, saltus_sim_q(r.sim), saltus_sim_v(r.sim)) - E0) / E0);
  }
  finish(&r);
  return e;
}

/* T9: with the velocity at the start of the step the energy grows by 2.75 J, with the mean it does
 * not; 3 % of printed numbers. */
static void explicit_gyroscopic_forces_feed_energy(void** state) {
  (void)state;
  assert_near(moreau_energy(1, .004, 250.0).end, -1.4504, 0.03 * 1.4504);
  assert_near(moreau_energy(1, .002, 250.0).end, -0.3863, 0.03 * 0.3863);
  range mean = moreau_energy(0, .002, 250.0);
  assert_near(mean.low, -0.14e-2, 0.005e-2);
  assert_near(mean.high, 0.03e-2, 0.005e-2);
}

/* docs/theory/variational.md, 2.2: the nodes of the variational integrator are Moreau's midpoints
 * when the mass matrix is constant. Both start with the same momentum: p_0 = M v + h/2 f. */
static void variational_nodes_are_the_midpoints_of_moreau(void** state) {
  (void)state;
  const double h = 1e-4;
  saltus_moreau_midpoint_options o = saltus_moreau_midpoint_options_default();
  o.velocity = 1;
  run m = start("woodpecker", "moreau-midpoint", &o, h);
  const saltus_system* sys = m.view->system;
  double q[3], v[3], F[3], M[9];
  for (int k = 0; k < 3; k++) {
    q[k] = m.view->q0[k] + 0.5 * h * m.view->v0[k];
  }
  const saltus_point at = {.q = q, .v = m.view->v0, .scratch = m.scratch};
  sys->ops->force(sys->self, &at, F);
  sys->ops->mass(sys->self, &at, M);
  /* v = v0 + h/2 M^-1 F by Cramer's rule */
  double det = M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) +
               M[2] * (M[3] * M[7] - M[4] * M[6]);
  for (int c = 0; c < 3; c++) {
    double A[9];
    memcpy(A, M, sizeof A);
    for (int k = 0; k < 3; k++) {
      A[3 * k + c] = F[k];
    }
    double top = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
                 A[2] * (A[3] * A[7] - A[4] * A[6]);
    v[c] = m.view->v0[c] + 0.5 * h * top / det;
  }
  run n = start_from("woodpecker", "variational", NULL, h, q, v);
  double worst = 0.0;
  for (int i = 0; i < 3000; i++) {
    assert_int_equal(saltus_sim_step(m.sim), SALTUS_OK);
    assert_int_equal(saltus_sim_step(n.sim), SALTUS_OK);
    for (int k = 0; k < 3; k++) {
      double middle = saltus_sim_q(m.sim)[k] + 0.5 * h * saltus_sim_v(m.sim)[k];
      worst = fmax(worst, fabs(saltus_sim_q(n.sim)[k] - middle));
    }
  }
  assert_true(worst <= 1e-10);
  assert_true(saltus_sim_q(n.sim)[0] < -0.03); /* it did climb down */
  finish(&n);
  finish(&m);
}

/* T11: state after 14999 steps of 2e-5 s; tolerances are the last printed digits. Reference of
 * another code: -4.1348e-2, -0.34093, -0.2601, -8.3276. */
static void the_woodpecker_is_where_it_should_be(void** state) {
  (void)state;
  saltus_moreau_midpoint_options o = saltus_moreau_midpoint_options_default();
  o.velocity = 1;
  run r = start("woodpecker", "moreau-midpoint", &o, 2e-5);
  assert_int_equal(saltus_sim_run(r.sim, 14999), SALTUS_OK);
  const double* q = saltus_sim_q(r.sim);
  const double* v = saltus_sim_v(r.sim);
  assert_near(q[0], -4.1346e-2, 1e-6);
  assert_near(q[2], -0.34095, 1e-5);
  assert_near(v[0], -0.2600, 1e-4);
  assert_near(v[2], -8.328, 1e-3);
  finish(&r);
}

/* T10: the pendulum pressed on a wall, by the variational integrator. The notes lose the contact now
 * and then to rounding of the gap and print 1.078094 m and 19.999 N; here a gap that is open by
 * rounding is closed, and the answers are nearer to the exact 1.0781 m and 20 N. */
static double wall_error(double h, double* final, double* pressure) {
  run r = start("polar-wall", "variational", NULL, h);
  double worst = 0.0;
  double impulse = 0.0;
  int steps = (int)(2.0 / h + 0.5);
  for (int i = 0; i < steps; i++) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    double x = 0.3;
    double t = saltus_sim_time(r.sim);
    double half = acos(-1.0) / 10.0;
    while (fabs(x) > 0.04) {
      double centre = x > 0.0 ? 0.04 : -0.04;
      if (t < half) {
        x = centre + (x - centre) * cos(10.0 * t);
        break;
      }
      x = 2.0 * centre - x;
      t -= half;
    }
    worst = fmax(worst, fabs(saltus_sim_q(r.sim)[0] - 1.0981 - x));
    const saltus_step_report* report = saltus_sim_report(r.sim);
    impulse += i >= steps - 50 && report->active > 0 ? report->contacts[0].impulse[0] : 0.0;
  }
  *final = saltus_sim_q(r.sim)[0];
  *pressure = impulse / (50.0 * h);
  finish(&r);
  return worst;
}

static void the_pressed_pendulum_sticks_where_it_should(void** state) {
  (void)state;
  double final, pressure;
  assert_near(wall_error(.002, &final, &pressure), 9.0e-4, 0.03 * 9.0e-4);
  assert_near(final, 1.078094, 1e-5);
  assert_near(final, 1.0781, 2e-6);
  assert_near(pressure, 20.0, 1e-3);
  assert_near(wall_error(.001, &final, &pressure), 5.2e-4, 0.03 * 5.2e-4);
}

static const char free_pendulum[] =
    "saltus: 1\nparameters: {m: 1, k: 100, l0: 1, g: 9.81}\n"
    "coordinates: {l: {start: 1.1}, phi: {start: pi/4}}\n"
    "kinetic: m/2*(l'^2 + l^2*phi'^2)\npotential: k/2*(l - l0)^2 - m*g*l*cos(phi)\n";

/* T9 without the wall: max |e| of H(q_k, p_k) over 50 s, order 2. */
static double free_band(const char* scheme, const void* options, double h) {
  saltus_kept_message kept;
  const saltus_scene_def def = {.path = "s", .text = free_pendulum, .log = saltus_log_keep(&kept)};
  run r = {.h = h};
  assert_int_equal(saltus_scene_create(&def, &r.scene), SALTUS_OK);
  r.view = saltus_scene_get_view(r.scene);
  r.scratch = malloc(r.view->system->dims.scratch + 1);
  const saltus_sim_def sim = {.system = r.view->system,
                              .scheme = scheme,
                              .options = options,
                              .h = h,
                              .q0 = r.view->q0,
                              .v0 = r.view->v0};
  assert_int_equal(saltus_sim_create(&sim, &r.sim), SALTUS_OK);
  double E0 = energy(&r, r.view->q0, r.view->v0);
  double worst = 0.0;
  for (long long i = 0; i < (long long)(50.0 / h + 0.5); i++) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    double E = energy(&r, saltus_sim_q(r.sim), saltus_sim_v(r.sim));
    worst = fmax(worst, fabs((E - E0) / E0));
  }
  finish(&r);
  return worst;
}

static void without_a_wall_the_band_has_order_two(void** state) {
  (void)state;
  static const double steps[] = {.004, .002, .001};
  static const double expected[] = {2.00e-5, 5.01e-6, 1.25e-6};
  for (int i = 0; i < 3; i++) {
    assert_near(free_band("variational", NULL, steps[i]), expected[i], 0.03 * expected[i]);
    assert_near(free_band("rattle", NULL, steps[i]), expected[i], 0.03 * expected[i]);
  }
}

/* Elements of degree 2 (docs/theory/variational.md, 2.8): without the wall the band falls with h^4. */
static void quadratic_elements_have_a_band_of_order_four(void** state) {
  (void)state;
  saltus_variational_options quadratic = saltus_variational_options_default();
  quadratic.degree = 2;
  double band[3];
  for (int i = 0; i < 3; i++) {
    band[i] = free_band("variational", &quadratic, 0.016 / (1 << i));
  }
  assert_near(log2(band[0] / band[1]), 4.0, 0.1);
  assert_near(log2(band[1] / band[2]), 4.0, 0.1);
}

/* The end, and the position inside of the last step by the quadratic motion of the element, whose order is 3. */
static void quadratic_elements_have_order_four(void** state) {
  (void)state;
  saltus_variational_options quadratic = saltus_variational_options_default();
  quadratic.degree = 2;
  saltus_scene* scene = saltus_test_scene("spring-pendulum", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double end[3][4], inside[3];
  for (int k = 0; k < 3; k++) {
    const saltus_scheme_def def = {
        .scheme = "variational", .options = &quadratic, .system = view->system};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    const double h = 8e-3 / (1 << k);
    double* x = end[k];
    memcpy(x, view->q0, 2 * sizeof(double));
    memcpy(x + 2, view->v0, 2 * sizeof(double));
    saltus_state now = {0.0, x, x + 2};
    double q[2], v[2];
    for (int i = 0; i < 10 << k; i++) {
      saltus_step_report report;
      now.t = i * h;
      assert_int_equal(saltus_scheme_step(scheme, h, &now, &report), SALTUS_OK);
      assert_int_equal(report.active, 0);
    }
    assert_int_equal(saltus_scheme_dense(scheme, 0.08 - 0.5 * h, SALTUS_LEFT, q, v), SALTUS_OK);
    inside[k] = q[0] - x[0] + 0.5 * h * v[0]; /* h^2 / 8 of the acceleration at the end */
    saltus_scheme_destroy(scheme);
  }
  saltus_scene_destroy(scene);
  for (int j = 0; j < 4; j++) {
    assert_near(log2(fabs(end[0][j] - end[1][j]) / fabs(end[1][j] - end[2][j])), 4.0, 0.3);
  }
  assert_near(log2(fabs(inside[1] / inside[2])), 2.0, 0.1);
}

/* Joints act at the nodes alone, so degree 2 is rejected with them, before the first step. */
static void quadratic_elements_reject_joints(void** state) {
  (void)state;
  saltus_variational_options quadratic = saltus_variational_options_default();
  quadratic.degree = 2;
  saltus_scene* scene = saltus_test_scene("free-double-pendulum", NULL, 0);
  saltus_kept_message kept;
  const saltus_scheme_def def = {.scheme = "variational",
                                 .options = &quadratic,
                                 .system = saltus_scene_get_view(scene)->system,
                                 .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_ERR_UNSUPPORTED);
  assert_non_null(strstr(kept.text, "joints would act at the inner node"));
  saltus_scene_destroy(scene);
}

/* The slope of the least squares line of (E - E0) / |E0| over all steps of 1e-3 s. */
static double drift(const char* scheme, int steps) {
  run r = start("free-double-pendulum", scheme, NULL, 1e-3);
  double E0 = energy(&r, r.view->q0, r.view->v0);
  enum { EVERY = 7 }; /* steps between samples */
  double moment = 0.0;
  for (int i = 0; i < steps; i++) {
    assert_int_equal(saltus_sim_step(r.sim), SALTUS_OK);
    if (i % EVERY != 0) {
      continue;
    }
    double e = (energy(&r, saltus_sim_q(r.sim), saltus_sim_v(r.sim)) - E0) / fabs(E0);
    double t = (i + 0.5) / steps - 0.5; /* of the whole time, centred */
    moment += EVERY * t * e;
    assert_true(fabs(e) <= 3e-7); /* bounded by C h^2, measured 2.6e-7 */
  }
  finish(&r);
  return 12.0 * moment / steps;
}

/* A million steps by make test-long. What is left of the oscillation of 2.6e-7 in the line falls with
 * the number of its periods, about one a second: 1e-9 over 1000 s, 1e-8 over 100 s. */
static void a_million_steps_do_not_drift(void** state) {
  (void)state;
  int steps = saltus_test_long() ? 1000000 : 100000;
  assert_true(fabs(drift("rattle", steps)) <= 1e-3 / steps);
  assert_true(fabs(drift("variational", steps)) <= 1e-3 / steps);
}

/* Order 2 of positions with joints, from three grids. */
static void joints_keep_order_two(void** state) {
  (void)state;
  static const char* const schemes[] = {"rattle", "variational", "moreau-midpoint"};
  for (int i = 0; i < 3; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) {
      run r = start("free-double-pendulum", schemes[i], NULL, 4e-3 / (1 << k));
      assert_int_equal(saltus_sim_run(r.sim, 500ll << k), SALTUS_OK);
      const double* q = saltus_sim_q(r.sim);
      x[k] = q[2];
      if (i < 2) { /* the rod keeps its length */
        assert_near(q[0] * q[0] + q[1] * q[1], 1.0, 1e-12);
      }
      finish(&r);
    }
    assert_near(log2(fabs(x[0] - x[1]) / fabs(x[1] - x[2])), 2.0, 0.05);
  }
}

/* The momenta of a node are the velocities of dense output on its two sides: at an impact they differ
 * by M^-1 G P, and H(q, p-) and H(q, p+) agree for e = 1 up to first order. */
static void the_momenta_of_a_node_are_to_be_had(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("spring-pendulum", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_scheme_def scheme_def = {.scheme = "variational", .system = view->system};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&scheme_def, &scheme), SALTUS_OK);
  double q[2], v[2], left[2], right[2], where[2];
  memcpy(q, view->q0, sizeof q);
  memcpy(v, view->v0, sizeof v);
  saltus_state x = {0.0, q, v};
  int impacts = 0;
  for (int i = 0; i < 5000; i++) {
    saltus_step_report report;
    x.t = i * 0.002;
    assert_int_equal(saltus_scheme_step(scheme, 0.002, &x, &report), SALTUS_OK);
    double t = i * 0.002 + 0.002;
    assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_LEFT, where, left), SALTUS_OK);
    assert_int_equal(saltus_scheme_dense(scheme, t, SALTUS_RIGHT, where, right), SALTUS_OK);
    assert_near(where[0], q[0], 1e-14);
    assert_near(right[1], v[1], 0.0);
    bool impact = report.active > 0 && report.contacts[0].impact;
    /* l^2 (phi'+ - phi'-) = P, the gap is phi and m = 1 */
    double jump = q[0] * q[0] * (right[1] - left[1]);
    assert_near(jump, impact ? report.contacts[0].impulse[0] : 0.0, 1e-12);
    assert_near(right[0], left[0], 1e-12);
    impacts += impact ? 1 : 0;
    if (impact) {
      assert_near(right[1], -left[1], 0.1); /* h times the angular acceleration */
    }
  }
  assert_true(impacts > 5);
  saltus_scheme_destroy(scheme);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_variational_energy_stays_in_its_band),
      cmocka_unit_test(explicit_gyroscopic_forces_feed_energy),
      cmocka_unit_test(variational_nodes_are_the_midpoints_of_moreau),
      cmocka_unit_test(the_woodpecker_is_where_it_should_be),
      cmocka_unit_test(the_pressed_pendulum_sticks_where_it_should),
      cmocka_unit_test(without_a_wall_the_band_has_order_two),
      cmocka_unit_test(quadratic_elements_have_a_band_of_order_four),
      cmocka_unit_test(quadratic_elements_have_order_four),
      cmocka_unit_test(quadratic_elements_reject_joints),
      cmocka_unit_test(joints_keep_order_two),
      cmocka_unit_test(a_million_steps_do_not_drift),
      cmocka_unit_test(the_momenta_of_a_node_are_to_be_had),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
