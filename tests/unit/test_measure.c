/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_measure.c - norms, slopes, the Hausdorff distance and the errors made from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/convergence.h"
#include "saltus/measure.h"

#include <math.h>
#include <stdlib.h>

static void near_to(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
  }
}

/* ---- norms and slopes -------------------------------------------------------------------- */

/* Errors 9, 3, -4 on steps 1/2 and 2: the first point has no step and counts for inf only. */
static void norms_have_the_values_computed_by_hand(void** state) {
  (void)state;
  const double t[] = {0.0, 0.5, 2.5};
  const double e[] = {9.0, 3.0, -4.0};
  near_to(saltus_norm(3, 1, t, e, INFINITY), 9.0, 0.0);
  near_to(saltus_norm(3, 1, t, e, 1.0), 9.5, 0.0);
  near_to(saltus_norm(3, 1, t, e, 2.0), sqrt(36.5), 1e-15);
  near_to(saltus_norm(3, 1, t, e, 3.0), cbrt(141.5), 1e-14);
}

static void norms_of_vectors_use_the_largest_component_at_each_point(void** state) {
  (void)state;
  const double t[] = {0.0, 1.0, 3.0};
  const double e[] = {0.0, 0.0, 1.0, -2.0, -5.0, 4.0};
  near_to(saltus_norm(3, 2, t, e, INFINITY), 5.0, 0.0);
  near_to(saltus_norm(3, 2, t, e, 1.0), 12.0, 0.0);
}

static void a_lost_value_is_not_a_small_error(void** state) {
  (void)state;
  const double t[] = {0.0, 1.0, 2.0};
  const double e[] = {0.0, NAN, 7.0};
  assert_true(isnan(saltus_norm(3, 1, t, e, INFINITY)));
  assert_true(isnan(saltus_norm(3, 1, t, e, 1.0)));
}

static void slope_of_a_power_law_is_its_exponent(void** state) {
  (void)state;
  const double h[] = {0.1, 0.03, 0.007, 0.0011};
  double e[4];
  for (int i = 0; i < 4; i++) {
    e[i] = 5.0 * pow(h[i], 2.5);
  }
  near_to(saltus_slope(4, h, e), 2.5, 1e-13);
}

static void slope_is_not_a_number_where_no_line_can_be_drawn(void** state) {
  (void)state;
  const double h[] = {0.1, 0.01};
  const double same[] = {0.1, 0.1};
  const double e[] = {1.0, 0.0};
  const double good[] = {1.0, 2.0};
  assert_true(isnan(saltus_slope(1, h, good)));
  assert_true(isnan(saltus_slope(2, h, e)));
  assert_true(isnan(saltus_slope(2, same, good)));
  assert_true(isnan(saltus_slope(0, h, good)));
}

/* ---- Hausdorff distance ------------------------------------------------------------------ */

static double distance(int na, const double* a, int nb, const double* b, int n) {
  saltus_graph A = {na, n, a};
  saltus_graph B = {nb, n, b};
  double d = NAN;
  saltus_status status = saltus_hausdorff(&A, &B, saltus_graph_tolerance_default(), NULL, &d);
  assert_int_equal(status, SALTUS_OK);
  return d;
}

static void distances_have_the_values_of_the_notes(void** state) {
  (void)state;
  const double step5[] = {0, 0, 0.5, 0, 0.5, 1, 1, 1};
  const double step6[] = {0, 0, 0.6, 0, 0.6, 1, 1, 1};
  near_to(distance(4, step5, 4, step6, 1), 0.1, 1.1e-4);
  const double line[] = {0, 0, 1, 0};
  const double spike[] = {0, 0, 0.5, 0, 0.5, 2, 0.5, 0, 1, 0};
  near_to(distance(2, line, 5, spike, 1), 2.0, 0.0);
  const double shifted[] = {0, 0.3, 1, 0.3};
  near_to(distance(2, line, 2, shifted, 1), 0.3, 0.0);
}

/* (0,0)-(1,1) against the single point (0,0): the far end counts. */
static void a_graph_of_one_point_is_a_graph(void** state) {
  (void)state;
  const double point[] = {0, 0};
  const double line[] = {0, 0, 0.75, 1};
  near_to(distance(1, point, 2, line, 1), 1.0, 0.0);
  near_to(distance(1, point, 1, line + 2, 1), 1.0, 0.0);
}

/* The largest distance may lie inside a segment: the middle of a flat line under a roof. */
static void the_largest_distance_is_found_inside_segments(void** state) {
  (void)state;
  const double line[] = {0, 0, 2, 0};
  const double gate[] = {0, 0, 0, 1, 2, 1, 2, 0};
  near_to(distance(2, line, 4, gate, 1), 1.0, 1.1e-3);
  const double gap[] = {0, 0, 0, 5, 2, 5, 2, 0};
  near_to(distance(2, line, 4, gap, 1), 5.0, 0.0); /* the roof to the line */
}

static double uniform(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) / 16777216.0;
}

static void random_graph(int count, int n, unsigned* seed, double* points) {
  double t = 0.0;
  for (int i = 0; i < count; i++) {
    t += uniform(seed) < 0.3 ? 0.0 : 0.3 * uniform(seed);
    points[i * (n + 1)] = t;
    for (int k = 1; k <= n; k++) {
      points[i * (n + 1) + k] = uniform(seed);
    }
  }
}

/* sup over finely spaced points of a of the distance to finely spaced points of b */
static double excess_by_force(int na, const double* a, int nb, const double* b, int n) {
  enum { FINE = 100 };
  double most = 0.0;
  for (int i = 0; i < (na - 1) * FINE; i++) {
    double least = INFINITY;
    for (int j = 0; j < (nb - 1) * FINE; j++) {
      double d = 0.0;
      for (int k = 0; k <= n; k++) {
        const double* x = a + (i / FINE) * (n + 1) + k;
        const double* y = b + (j / FINE) * (n + 1) + k;
        double u = (i % FINE) / (FINE - 1.0);
        double w = (j % FINE) / (FINE - 1.0);
        d = fmax(d, fabs(x[0] + u * (x[n + 1] - x[0]) - y[0] - w * (y[n + 1] - y[0])));
      }
      least = fmin(least, d);
    }
    most = fmax(most, least);
  }
  return most;
}

/* Segments are about 1 long, so points 1/99 apart leave the brute force off by 0.011 at most. */
static void random_graphs_agree_with_brute_force(void** state) {
  (void)state;
  unsigned seed = 1;
  for (int trial = 0; trial < 24; trial++) {
    enum { A = 12, B = 9 };
    int n = 1 + trial % 3;
    double a[A * 4];
    double b[B * 4];
    random_graph(A, n, &seed, a);
    random_graph(B, n, &seed, b);
    double expected = fmax(excess_by_force(A, a, B, b, n), excess_by_force(B, b, A, a, n));
    near_to(distance(A, a, B, b, n), expected, 0.011);
  }
}

static void the_distance_does_not_depend_on_the_order_of_the_graphs(void** state) {
  (void)state;
  unsigned seed = 7;
  for (int trial = 0; trial < 50; trial++) {
    double a[40 * 3];
    double b[30 * 3];
    random_graph(40, 2, &seed, a);
    random_graph(30, 2, &seed, b);
    double ab = distance(40, a, 30, b, 2);
    near_to(distance(30, b, 40, a, 2), ab, 1e-3 * ab + 1e-8);
  }
}

enum { LONG = 100000 };

/* A velocity with jumps at 0.25 + k / 2 from -2 to 2 as a step function, moved by `shift` in time;
 * constant before the first and after the last jump, so that the ends fit. */
static double* bouncing(int n, double shift) {
  double* p = malloc(sizeof *p * LONG * ((size_t)n + 1));
  assert_non_null(p);
  for (int i = 0; i < LONG; i++) {
    double t = 10.0 * ((i + 1) / 2) / (LONG / 2);
    double phase = 10.0 * (i / 2) / (LONG / 2) - shift - 0.25;
    double* x = p + (size_t)i * ((size_t)n + 1);
    x[0] = t;
    x[1] = phase < 0.0 ? -2.0 : phase > 9.5 ? 2.0 : 2.0 - 8.0 * fmod(phase, 0.5);
    if (n == 2) {
      x[2] = 0.5 * sin(t - shift);
    }
  }
  return p;
}

/* The vertical parts are 0.01 apart and so are the corners; elsewhere the graphs are nearer. A
 * step of the function is 2e-4 long and 1.6e-3 high. */
static void long_graphs_with_jumps_are_compared(void** state) {
  (void)state;
  for (int n = 1; n <= 2; n++) {
    double* a = bouncing(n, 0.0);
    double* b = bouncing(n, 0.01);
    near_to(distance(LONG, a, LONG, b, n), 0.01, 2e-4);
    near_to(distance(LONG, a, LONG, a, n), 0.0, 0.0);
    free(a);
    free(b);
  }
}

/* Each of these would take hours with a search that widens in time or halves down to atol. */
static void long_graphs_far_apart_or_full_of_spikes_are_compared(void** state) {
  (void)state;
  double* a = malloc(sizeof *a * LONG * 2);
  double* b = malloc(sizeof *b * LONG * 2);
  assert_non_null(a);
  assert_non_null(b);
  for (int i = 0; i < LONG; i++) {
    a[2 * i] = b[2 * i] = 5.0 * i / LONG;
    a[2 * i + 1] = 0.0;
    b[2 * i + 1] = 100.0;
  }
  near_to(distance(LONG, a, LONG, b, 1), 100.0, 0.0);
  for (int i = 0; i < LONG; i++) {
    b[2 * i] = 5.0 * (i / 3) / (LONG / 3);
    b[2 * i + 1] = i % 3 == 1 ? 2.0 : 0.0;
  }
  near_to(distance(LONG, a, LONG, b, 1), 2.0, 0.0);
  for (int i = 0; i < LONG; i++) {
    b[2 * i] = i == 0 ? 0.0 : i == LONG - 1 ? a[2 * i] : 5.0 * (i + 0.4) / (LONG + 1);
    a[2 * i + 1] = sin(a[2 * i]);
    b[2 * i + 1] = sin(b[2 * i]);
  }
  near_to(distance(LONG, a, LONG, b, 1), 0.0, 1e-8);
  free(a);
  free(b);
}

static void unusable_graphs_and_tolerances_are_refused(void** state) {
  (void)state;
  const double line[] = {0, 0, 1, 0};
  const double back[] = {1, 0, 0, 0};
  const double lost[] = {0, 0, 1, NAN};
  saltus_graph good = {2, 1, line};
  saltus_graph bad[] = {{0, 1, line}, {2, 1, back}, {2, 1, lost}, {1, 2, line}, {2, 0, line}};
  saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  double d = -1.0;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(saltus_hausdorff(&good, &bad[i], tolerance, NULL, &d), SALTUS_ERR_RANGE);
    assert_int_equal(saltus_hausdorff(&bad[i], &good, tolerance, NULL, &d), SALTUS_ERR_RANGE);
  }
  tolerance.atol = 0.0;
  assert_int_equal(saltus_hausdorff(&good, &good, tolerance, NULL, &d), SALTUS_ERR_RANGE);
  near_to(d, -1.0, 0.0);
}

static void* no_memory(size_t bytes, void* user) {
  (void)bytes;
  (void)user;
  return NULL;
}

static void no_free(void* block, size_t bytes, void* user) {
  (void)block;
  (void)bytes;
  (void)user;
}

static void a_lack_of_memory_is_reported(void** state) {
  (void)state;
  const saltus_allocator none = {no_memory, no_free, NULL};
  const double line[] = {0, 0, 1, 0};
  saltus_graph graph = {2, 1, line};
  double d;
  saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  assert_int_equal(saltus_hausdorff(&graph, &graph, tolerance, &none, &d), SALTUS_ERR_MEMORY);
}

/* ---- errors of a run --------------------------------------------------------------------- */

/* The bouncing ball by Moreau's scheme with theta = 1/2, gamma = 1, written out. */
static saltusi_errors bouncing_ball_errors(const saltus_known_motion* ball, int steps) {
  double h = 5.0 / steps;
  double* x = malloc(sizeof *x * 3 * ((size_t)steps + 1));
  assert_non_null(x);
  double* t = x;
  double* q = t + steps + 1;
  double* v = q + steps + 1;
  t[0] = 0.0;
  q[0] = 1.0;
  v[0] = 0.0;
  for (int k = 0; k < steps; k++) {
    double free_flight = v[k] - 2.0 * h;
    bool closes = q[k] + h * v[k] <= 0.0 && free_flight < -0.5 * v[k];
    v[k + 1] = closes ? -0.5 * v[k] : free_flight;
    q[k + 1] = q[k] + 0.5 * h * (v[k] + v[k + 1]);
    t[k + 1] = k + 1 == steps ? 5.0 : (k + 1) * h;
  }
  saltusi_trajectory run = {.count = steps + 1, .t = t, .q = q, .v = v};
  saltusi_errors errors;
  saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  assert_int_equal(saltusi_errors_of(ball, &run, tolerance, NULL, &errors), SALTUS_OK);
  free(x);
  return errors;
}

/* By an independent program (docs/theory/problems.md, 11): q inf, L1, L2, Hausdorff,
 * v L1, L2, Hausdorff. Printed to four digits; both sides search the graph distance to 1e-3. */
static const struct {
  int steps;
  double value[7];
} table[] = {
    {211, {2.093e-02, 1.583e-02, 1.269e-02, 1.507e-02, 1.044e-01, 1.490e-01, 5.213e-02}},
    {401, {1.111e-02, 8.284e-03, 6.717e-03, 8.013e-03, 6.109e-02, 1.082e-01, 3.774e-02}},
    {809, {5.555e-03, 6.319e-03, 4.999e-03, 6.789e-03, 5.422e-02, 1.540e-01, 1.642e-02}},
    {1601, {2.804e-03, 2.041e-03, 1.695e-03, 2.024e-03, 1.829e-02, 5.522e-02, 1.376e-02}},
    {3203, {1.090e-03, 1.109e-03, 8.507e-04, 1.093e-03, 1.073e-02, 4.325e-02, 8.176e-03}},
    {6421, {7.004e-04, 5.070e-04, 4.235e-04, 5.058e-04, 4.875e-03, 2.736e-02, 5.035e-03}},
};

static saltus_known_motion* open_problem(const char* name) {
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create(name, (saltus_log){0}, NULL, &problem), SALTUS_OK);
  return problem;
}

static void moreaus_scheme_on_the_ball_has_the_errors_of_the_notes(void** state) {
  (void)state;
  saltus_known_motion* ball = open_problem("ball");
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    saltusi_errors e = bouncing_ball_errors(ball, table[i].steps);
    const double* expected = table[i].value;
    const double found[7] = {e.q.inf, e.q.l1, e.q.l2, e.q.hausdorff, e.v.l1, e.v.l2, e.v.hausdorff};
    for (int k = 0; k < 7; k++) {
      near_to(found[k], expected[k], 2e-3 * expected[k]);
    }
    assert_true(e.v.inf > 0.7); /* no convergence: an impact is one step off somewhere */
  }
  saltus_known_motion_destroy(ball);
}

static void rates_are_slopes_between_neighbours(void** state) {
  (void)state;
  const double h[] = {0.1, 0.05, 0.0125};
  saltusi_errors e[3];
  saltusi_errors rates[3];
  for (int i = 0; i < 3; i++) {
    e[i].q = (saltusi_error_norms){h[i], h[i] * h[i], 3.0, 0.0};
    e[i].v = (saltusi_error_norms){2.0 * h[i], sqrt(h[i]), NAN, 1.0 / h[i]};
  }
  saltusi_rates(3, h, e, rates);
  assert_true(isnan(rates[0].q.inf) && isnan(rates[0].v.l2));
  for (int i = 1; i < 3; i++) {
    near_to(rates[i].q.inf, 1.0, 1e-14);
    near_to(rates[i].q.l1, 2.0, 1e-14);
    near_to(rates[i].q.l2, 0.0, 0.0);
    assert_true(isnan(rates[i].q.hausdorff) && isnan(rates[i].v.l2));
    near_to(rates[i].v.l1, 0.5, 1e-14);
    near_to(rates[i].v.hausdorff, -1.0, 1e-14);
  }
}

/* q off by 1e-3 rad everywhere; only t = 0, 0.05, ..., 1 of the grid are samples. */
static void sampled_motions_are_compared_at_the_samples_only(void** state) {
  (void)state;
  saltus_known_motion* pendulum = open_problem("pendulum-wall");
  enum { STEPS = 40 };
  double t[STEPS + 1];
  double q[2 * STEPS + 2];
  double v[2 * STEPS + 2];
  for (int k = 0; k <= STEPS; k++) {
    t[k] = 0.025 * k;
    q[2 * k] = q[2 * k + 1] = v[2 * k] = v[2 * k + 1] = 77.0;
    if (saltus_known_motion_exact(pendulum, t[k], q + 2 * k, v + 2 * k)) {
      q[2 * k] += 1e-3;
    }
  }
  saltusi_trajectory run = {.count = STEPS + 1, .t = t, .q = q, .v = v};
  saltusi_errors e;
  saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  assert_int_equal(saltusi_errors_of(pendulum, &run, tolerance, NULL, &e), SALTUS_OK);
  near_to(e.q.inf, 1e-3, 1e-15);
  near_to(e.q.l1, 1e-3, 1e-15);
  near_to(e.q.l2, 1e-3, 1e-15);
  near_to(e.v.inf, 0.0, 0.0);
  assert_true(isnan(e.q.hausdorff) && isnan(e.v.hausdorff));
  saltus_known_motion_destroy(pendulum);
}

static void an_unknown_motion_has_no_error(void** state) {
  (void)state;
  saltus_known_motion* column = open_problem("column:2");
  const double t[] = {0.0, 1.0};
  const double x[] = {1.0, 2.0, 1.0, 2.0};
  saltusi_trajectory run = {.count = 2, .t = t, .q = x, .v = x};
  saltusi_errors e;
  saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  assert_int_equal(saltusi_errors_of(column, &run, tolerance, NULL, &e), SALTUS_OK);
  assert_true(isnan(e.q.inf) && isnan(e.q.hausdorff) && isnan(e.v.l1));
  run.count = 1;
  assert_int_equal(saltusi_errors_of(column, &run, tolerance, NULL, &e), SALTUS_ERR_RANGE);
  saltus_known_motion_destroy(column);
}

/* A parabola at 5 instants as reference. On its own instants a run with an offset has that error; between them nothing is
 * known, and an interpolation would have errors of its own. */
static void a_stored_motion_is_never_interpolated(void** state) {
  (void)state;
  const double t[] = {0.0, 0.25, 0.5, 0.75, 1.0};
  double q[5], v[5];
  for (int k = 0; k < 5; k++) {
    q[k] = t[k] * t[k];
    v[k] = 2.0 * t[k];
  }
  const saltusi_stored_motion stored = {
      .motion = {.count = 5, .t = t, .q = q, .v = v}, .nq = 1, .nv = 1, .dense = true};
  const saltusi_reference reference = saltusi_reference_motion(&stored);
  const double nested[] = {0.0, 0.5, 1.0}, other[] = {0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0};
  const double x[] = {1e-3, 0.251, 1.001}, y[] = {0.0, 1.0, 2.0}, z[4] = {0.0};
  const saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  saltusi_errors e;
  saltusi_trajectory run = {.count = 3, .t = nested, .q = x, .v = y};
  assert_int_equal(saltusi_errors_against(&reference, &run, tolerance, NULL, &e), SALTUS_OK);
  near_to(e.q.inf, 1e-3, 1e-15);
  near_to(e.v.inf, 0.0, 0.0);
  run = (saltusi_trajectory){.count = 4, .t = other, .q = z, .v = z};
  assert_int_equal(saltusi_errors_against(&reference, &run, tolerance, NULL, &e), SALTUS_OK);
  assert_true(isnan(e.q.inf) && isnan(e.v.l1));
}

/* Two positions and one velocity, all constant: distances of graphs are the offsets. */
static void graphs_have_as_many_positions_and_velocities_as_the_system(void** state) {
  (void)state;
  const double t[] = {0.0, 1.0, 2.0}, exact_q[] = {1.0, 2.0, 1.0, 2.0, 1.0, 2.0};
  const double q[] = {1.01, 2.03, 1.01, 2.03, 1.01, 2.03};
  const double exact_v[] = {5.0, 5.0, 5.0}, v[] = {5.02, 5.02, 5.02};
  for (int known = 0; known < 2; known++) {
    const saltusi_trajectory exact = {
        .count = 3, .t = t, .q = exact_q, .v = exact_v, .jumps_known = known};
    const saltusi_trajectory run = {.count = 3, .t = t, .q = q, .v = v, .jumps_known = known};
    const saltusi_stored_motion stored = {.motion = exact, .nq = 2, .nv = 1, .dense = true};
    const saltusi_reference reference = saltusi_reference_motion(&stored);
    saltusi_errors e;
    assert_int_equal(
        saltusi_errors_against(&reference, &run, saltus_graph_tolerance_default(), NULL, &e),
        SALTUS_OK);
    near_to(e.q.hausdorff, 0.03, 1e-4);
    near_to(e.v.hausdorff, 0.02, 1e-4);
  }
}

/* The exact ball on a grid that its impact at t = 1 is not part of, with the impact late by 1e-6 s: the graph of v is wrong by
 * this time, that of q by less than the way of 3 m/s in it, and not by the corner of 7e-3 m that a chord cuts. */
static void graphs_with_known_jumps_have_the_error_of_the_motion(void** state) {
  (void)state;
  enum { STEPS = 100 };
  saltus_known_motion* ball = open_problem("ball");
  double t[STEPS + 1], q[STEPS + 1], v[STEPS + 1];
  for (int k = 0; k <= STEPS; k++) {
    t[k] = 1.5 * (k / (double)STEPS);
    assert_true(saltus_known_motion_exact(ball, t[k], &q[k], &v[k]));
  }
  const double late = 1e-6, jump_t = 1.0 + late, jump_q = 0.0, jump_v[] = {-2.0, 1.0};
  saltusi_trajectory run = {.count = STEPS + 1,
                            .t = t,
                            .q = q,
                            .v = v,
                            .jumps_known = true,
                            .jump_count = 1,
                            .jump_t = &jump_t,
                            .jump_q = &jump_q,
                            .jump_v = jump_v};
  const saltus_graph_tolerance tolerance = saltus_graph_tolerance_default();
  saltusi_errors e;
  assert_int_equal(saltusi_errors_of(ball, &run, tolerance, NULL, &e), SALTUS_OK);
  near_to(e.v.hausdorff, late, 0.01 * late);
  assert_true(e.q.hausdorff > 0.1 * late && e.q.hausdorff < 3.0 * late);
  run.jumps_known = false;
  assert_int_equal(saltusi_errors_of(ball, &run, tolerance, NULL, &e), SALTUS_OK);
  assert_true(e.q.hausdorff > 1e-3);
  saltus_known_motion_destroy(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(norms_have_the_values_computed_by_hand),
      cmocka_unit_test(norms_of_vectors_use_the_largest_component_at_each_point),
      cmocka_unit_test(a_lost_value_is_not_a_small_error),
      cmocka_unit_test(slope_of_a_power_law_is_its_exponent),
      cmocka_unit_test(slope_is_not_a_number_where_no_line_can_be_drawn),
      cmocka_unit_test(distances_have_the_values_of_the_notes),
      cmocka_unit_test(a_graph_of_one_point_is_a_graph),
      cmocka_unit_test(the_largest_distance_is_found_inside_segments),
      cmocka_unit_test(random_graphs_agree_with_brute_force),
      cmocka_unit_test(the_distance_does_not_depend_on_the_order_of_the_graphs),
      cmocka_unit_test(long_graphs_with_jumps_are_compared),
      cmocka_unit_test(long_graphs_far_apart_or_full_of_spikes_are_compared),
      cmocka_unit_test(unusable_graphs_and_tolerances_are_refused),
      cmocka_unit_test(a_lack_of_memory_is_reported),
      cmocka_unit_test(moreaus_scheme_on_the_ball_has_the_errors_of_the_notes),
      cmocka_unit_test(rates_are_slopes_between_neighbours),
      cmocka_unit_test(sampled_motions_are_compared_at_the_samples_only),
      cmocka_unit_test(an_unknown_motion_has_no_error),
      cmocka_unit_test(a_stored_motion_is_never_interpolated),
      cmocka_unit_test(graphs_have_as_many_positions_and_velocities_as_the_system),
      cmocka_unit_test(graphs_with_known_jumps_have_the_error_of_the_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
