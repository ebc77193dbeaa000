/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_problems.c - reference problems: their motions obey their own equations and the published
 * values, their systems' derivatives agree with differences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "saltus/known_motion.h"

#include <math.h>
#include <string.h>

enum { MOST = 8 }; /* coordinates of the problems here */

/* One size of each family, and a second one where the size changes the kind. */
static const char* const names[] = {"ball",
                                    "oscillator",
                                    "oscillator-damped",
                                    "oscillator-preload",
                                    "pendulum-wall",
                                    "forced-ball",
                                    "column",
                                    "column:1",
                                    "stack",
                                    "chain"};
enum { NAMES = sizeof names / sizeof names[0] };

static void near_to(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
  }
}

static saltus_known_motion* open_problem(const char* name) {
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create(name, (saltus_log){0}, NULL, &problem), SALTUS_OK);
  return problem;
}

static int size_of(const saltus_known_motion* problem) {
  return saltus_known_motion_system(problem)->dims.nv;
}

/* ---- registry ---------------------------------------------------------------------------- */

static void every_listed_problem_can_be_made(void** state) {
  (void)state;
  for (int i = 0; i < saltus_known_motion_count(); i++) {
    const saltus_known_motion_info* info = saltus_known_motion_at(i);
    saltus_known_motion* problem = open_problem(info->name);
    assert_true(strlen(info->summary) > 0 && strlen(info->source) > 0 && info->t_end > 0.0);
    assert_memory_equal(saltus_known_motion_get_info(problem)->name, info->name,
                        strlen(info->name));
    saltus_known_motion_destroy(problem);
  }
  assert_null(saltus_known_motion_at(-1));
  assert_null(saltus_known_motion_at(saltus_known_motion_count()));
  saltus_known_motion_destroy(NULL);
}

static void wrong_names_are_refused_with_a_message(void** state) {
  (void)state;
  static const struct {
    const char* name;
    saltus_status status;
  } wrong[] = {{"bal", SALTUS_ERR_NAME},        {"balls", SALTUS_ERR_NAME},
               {"", SALTUS_ERR_NAME},           {"ball:3", SALTUS_ERR_RANGE},
               {"column:", SALTUS_ERR_RANGE},   {"column:0", SALTUS_ERR_RANGE},
               {"column:-1", SALTUS_ERR_RANGE}, {"chain:1", SALTUS_ERR_RANGE},
               {"stack:2x", SALTUS_ERR_RANGE},  {"column:99999999999", SALTUS_ERR_RANGE}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    saltus_kept_message kept;
    saltus_known_motion* problem = (saltus_known_motion*)&kept;
    saltus_log log = saltus_log_keep(&kept);
    assert_int_equal(saltus_known_motion_create(wrong[i].name, log, NULL, &problem),
                     wrong[i].status);
    assert_null(problem);
    assert_non_null(strstr(kept.text, wrong[i].name));
  }
}

static void sizes_give_as_many_balls_and_contacts(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int balls, contacts;
  } sized[] = {{"column", 3, 3}, {"column:1000", 1000, 1000}, {"stack:4", 5, 5}, {"chain:7", 7, 6}};
  for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
    saltus_known_motion* problem = open_problem(sized[i].name);
    const saltus_system* system = saltus_known_motion_system(problem);
    assert_int_equal(system->dims.nq, sized[i].balls);
    assert_int_equal(system->dims.nc, sized[i].contacts);
    assert_int_equal(system->dims.row_width, 2);
    assert_non_null(system->ops->linear);
    saltus_known_motion_destroy(problem);
  }
}

static void labels_and_contacts_are_named(void** state) {
  (void)state;
  saltus_known_motion* pendulum = open_problem("pendulum-wall");
  const saltus_system* system = saltus_known_motion_system(pendulum);
  assert_string_equal(system->q_labels[1].name, "q2");
  assert_string_equal(system->q_labels[1].unit, "rad");
  assert_string_equal(system->v_labels[0].name, "v1");
  assert_string_equal(system->v_labels[0].unit, "rad/s");
  assert_string_equal(system->laws[0].name, "wall");
  saltus_known_motion_destroy(pendulum);
  saltus_known_motion* column = open_problem("column:4");
  system = saltus_known_motion_system(column);
  assert_string_equal(system->laws[0].name, "floor");
  assert_string_equal(system->laws[3].name, "balls 3-4");
  assert_string_equal(saltus_known_motion_get_info(column)->name, "column:4");
  saltus_known_motion_destroy(column);
  saltus_known_motion* chain = open_problem("chain");
  assert_string_equal(saltus_known_motion_system(chain)->laws[0].name, "balls 1-2");
  saltus_known_motion_destroy(chain);
  saltus_known_motion* ball = open_problem("ball");
  assert_string_equal(saltus_known_motion_system(ball)->v_labels[0].name, "v");
  assert_string_equal(saltus_known_motion_system(ball)->v_labels[0].unit, "m/s");
  saltus_known_motion_destroy(ball);
}

/* ---- systems ----------------------------------------------------------------------------- */

/* Something asked of a system as a vector. */
typedef void (*quantity)(const saltus_system* system, const saltus_point* at, double* y);

static void force(const saltus_system* system, const saltus_point* at, double* y) {
  system->ops->force(system->self, at, y);
}

static const double fixed_v[MOST] = {0.7, -1.3, 0.4, 1.9, -0.2, 0.8, 0.1, 1.0};

static void momentum(const saltus_system* system, const saltus_point* at, double* y) {
  double M[MOST * MOST];
  int n = system->dims.nv;
  system->ops->mass(system->self, at, M);
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < n; j++) {
      y[i] += M[i * n + j] * fixed_v[j];
    }
  }
}

static void kinetic(const saltus_system* system, const saltus_point* at, double* y) {
  y[0] = system->ops->kinetic(system->self, at);
}

static void potential(const saltus_system* system, const saltus_point* at, double* y) {
  y[0] = system->ops->potential(system->self, at);
}

static void gaps(const saltus_system* system, const saltus_point* at, double* y) {
  uint64_t identity[MOST];
  int law[MOST];
  saltus_contact_list list = {system->dims.nc, MOST, INFINITY, y, identity, law, 0.0, false};
  assert_int_equal(system->ops->contacts(system->self, at, &list), SALTUS_OK);
}

/* Row of contact `key` as nv numbers; returns c. */
static double row(const saltus_system* system, const saltus_point* at, int key, double* G) {
  double values[MOST] = {0};
  int column[MOST];
  double b = 0.0;
  double c = 0.0;
  bool sparse = system->dims.row_width > 0;
  int width = sparse ? system->dims.row_width : system->dims.nv;
  saltus_rows rows = {1, width, width, sparse ? column : NULL, values, &b, &c};
  system->ops->contact(system->self, at, (uint64_t)key, &rows);
  memset(G, 0, MOST * sizeof *G);
  for (int i = 0; i < rows.width; i++) {
    assert_true(!sparse || i == 0 || column[i] > column[i - 1]);
    G[sparse ? column[i] : i] = values[i];
  }
  near_to(b, 0.0, 0.0); /* no constraint of these problems is driven */
  return c;
}

/* U = G^T v of every contact */
static void approach(const saltus_system* system, const saltus_point* at, double* y) {
  for (int key = 0; key < system->dims.nc; key++) {
    double G[MOST];
    row(system, at, key, G);
    y[key] = 0.0;
    for (int i = 0; i < system->dims.nv; i++) {
      y[key] += G[i] * at->v[i];
    }
  }
}

/* d(what)/dq or d(what)/dv along direction d by central differences of fourth order. */
static void difference(const saltus_system* system, quantity what, const saltus_point* at,
                       const double* d, bool along_q, double* y) {
  const double h = 1e-3;
  static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
  static const double weight[4] = {1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0};
  memset(y, 0, MOST * sizeof *y);
  for (int k = 0; k < 4; k++) {
    double q[MOST];
    double v[MOST];
    double value[MOST] = {0};
    for (int i = 0; i < system->dims.nv; i++) {
      q[i] = at->q[i] + (along_q ? shift[k] * h * d[i] : 0.0);
      v[i] = at->v[i] + (along_q ? 0.0 : shift[k] * h * d[i]);
    }
    saltus_point moved = {.t = at->t, .q = q, .v = v};
    what(system, &moved, value);
    for (int i = 0; i < MOST; i++) {
      y[i] += weight[k] / h * value[i];
    }
  }
}

/* Truncation h^4 times derivatives of order 10, rounding eps/h: both below 1e-9. */
static const double difference_tolerance = 1e-9;

static void column_agrees(const saltus_system* system, quantity what, const saltus_point* at,
                          const double* matrix, int j, bool along_q) {
  double unit[MOST] = {0};
  double y[MOST];
  unit[j] = 1.0;
  difference(system, what, at, unit, along_q, y);
  for (int i = 0; i < system->dims.nv; i++) {
    near_to(matrix[i * system->dims.nv + j], y[i], difference_tolerance);
  }
}

static void check_forces(const saltus_system* system, const saltus_point* at) {
  double A[MOST * MOST];
  for (int j = 0; j < system->dims.nv; j++) {
    system->ops->force_q(system->self, at, A);
    column_agrees(system, force, at, A, j, true);
    system->ops->force_v(system->self, at, A);
    column_agrees(system, force, at, A, j, false);
    system->ops->mass_q(system->self, at, A);
    column_agrees(system, momentum, at, A, j, true);
  }
}

static void check_energies(const saltus_system* system, const saltus_point* at) {
  double T_q[MOST];
  double p[MOST];
  system->ops->kinetic_gradient(system->self, at, T_q);
  momentum(system, at, p);
  for (int j = 0; j < system->dims.nv; j++) {
    double unit[MOST] = {0};
    double y[MOST];
    unit[j] = 1.0;
    difference(system, kinetic, at, unit, true, y);
    near_to(T_q[j], y[0], difference_tolerance);
    difference(system, kinetic, at, unit, false, y);
    near_to(p[j], y[0], difference_tolerance);
  }
}

static void check_contacts(const saltus_system* system, const saltus_point* at) {
  double U[MOST];
  double rise[MOST];
  double bend[MOST];
  approach(system, at, U);
  difference(system, gaps, at, at->v, true, rise);
  difference(system, approach, at, at->v, true, bend);
  for (int key = 0; key < system->dims.nc; key++) {
    double G[MOST];
    near_to(U[key], rise[key], difference_tolerance);
    near_to(row(system, at, key, G), bend[key], difference_tolerance);
  }
}

static void systems_agree_with_differences_of_themselves(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    const double q[MOST] = {0.4, 0.9, 1.1, 1.6, 2.5, 2.7, 3.0, 3.3};
    saltus_point at = {.t = 0.3, .q = q, .v = fixed_v};
    check_forces(saltus_known_motion_system(problem), &at);
    check_energies(saltus_known_motion_system(problem), &at);
    check_contacts(saltus_known_motion_system(problem), &at);
    saltus_known_motion_destroy(problem);
  }
}

/* Forces at v = 0 and at t = 0, where the time-dependent force is its steady part. */
static void forces_at_rest_are_the_slope_of_the_potential(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    const saltus_system* system = saltus_known_motion_system(problem);
    const double q[MOST] = {0.4, 0.9, 1.1, 1.6, 2.5, 2.7, 3.0, 3.3};
    const double zero[MOST] = {0};
    saltus_point at = {.t = 0.0, .q = q, .v = zero};
    double F[MOST];
    system->ops->force(system->self, &at, F);
    for (int j = 0; j < system->dims.nv; j++) {
      double unit[MOST] = {0};
      double y[MOST];
      unit[j] = 1.0;
      difference(system, potential, &at, unit, true, y);
      near_to(F[j], -y[0], difference_tolerance);
    }
    saltus_known_motion_destroy(problem);
  }
}

/* The balls' own linear algebra against M, F_q and F_v of the same system. */
static void own_linear_algebra_agrees_with_the_dense_one(void** state) {
  (void)state;
  saltus_known_motion* problem = open_problem("column:5");
  const saltus_system* system = saltus_known_motion_system(problem);
  const saltus_linear_ops* linear = system->ops->linear;
  saltus_point at = {
      .t = 0.0, .q = saltus_known_motion_q0(problem), .v = saltus_known_motion_v0(problem)};
  double matrix[4];
  assert_true(linear->bytes(system->self) <= sizeof matrix);
  assert_int_equal(linear->assemble(system->self, matrix, &at, 3.0, 7.0, 9.0), SALTUS_OK);
  double x[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
  double Mx[5];
  linear->solve(system->self, matrix, x);
  linear->mass_times(system->self, &at, x, Mx);
  for (int i = 0; i < 5; i++) {
    near_to(3.0 * Mx[i], i + 1.0, 1e-15);
  }
  assert_int_equal(linear->assemble(system->self, matrix, &at, 0.0, 1.0, 1.0), SALTUS_ERR_SINGULAR);
  saltus_known_motion_destroy(problem);
}

/* ---- motions ----------------------------------------------------------------------------- */

static bool jumps_within(const saltus_known_motion* problem, double a, double b) {
  double times[64];
  int count = saltus_known_motion_jumps(problem, b, times, 64);
  return count > 0 && times[count - 1] >= a;
}

/* v' - F over smooth stretches: zero in flight, a force of the contacts >= 0 at rest.
 * Differences of second order with h = 1e-5: h^2 v''' / 6 < 1e-8 with v''' < 1e3, rounding 1e-11
 * in v. */
static void check_equation(const saltus_known_motion* problem, double t) {
  const double h = 1e-5;
  const saltus_system* system = saltus_known_motion_system(problem);
  double q[MOST], v[MOST], q0[MOST], v0[MOST], q1[MOST], v1[MOST], F[MOST];
  assert_true(saltus_known_motion_exact(problem, t - h, q0, v0));
  assert_true(saltus_known_motion_exact(problem, t, q, v));
  assert_true(saltus_known_motion_exact(problem, t + h, q1, v1));
  saltus_point at = {.t = t, .q = q, .v = v};
  system->ops->force(system->self, &at, F);
  double g[MOST];
  gaps(system, &at, g);
  for (int i = 0; i < system->dims.nv; i++) {
    near_to((q1[i] - q0[i]) / (2.0 * h), v[i], 1e-7);
    double acceleration = (v1[i] - v0[i]) / (2.0 * h);
    bool at_rest = v[i] == 0.0 && v0[i] == 0.0 && v1[i] == 0.0;
    near_to(acceleration, at_rest ? 0.0 : F[i], 1e-7);
    assert_true(g[i < system->dims.nc ? i : 0] >= -1e-15);
  }
}

static void exact_motions_obey_their_equations_between_jumps(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    double t_end = saltus_known_motion_get_info(problem)->t_end;
    for (int i = 1; i < 400; i++) {
      double t = t_end * i / 400.0;
      bool lift_off = strcmp(names[k], "forced-ball") == 0 && fabs(t - 1.0 / 6.0) < 1e-4;
      bool exact = saltus_known_motion_get_info(problem)->known == SALTUS_KNOWN_EXACT;
      if (exact && !lift_off && !jumps_within(problem, t - 1e-4, t + 1e-4)) {
        check_equation(problem, t);
      }
    }
    saltus_known_motion_destroy(problem);
  }
}

/* Left limits come from the graph, whose last point before a jump is the left limit. */
static void check_jump(const saltus_known_motion* problem, double t) {
  const saltus_system* system = saltus_known_motion_system(problem);
  double q[MOST], v[MOST], before[MOST], U0[MOST], U1[MOST], points[512];
  assert_true(saltus_known_motion_exact(problem, t, q, v));
  for (int i = 0; i < size_of(problem); i++) {
    for (int which = 0; which < 2; which++) {
      int count = saltus_known_motion_graph(problem, i, which, t, 100.0, points, 256);
      assert_in_range(count, 2, 256);
      double last = points[2 * count - 1];
      near_to(points[2 * count - 2], t, 0.0);
      if (which == 0) {
        near_to(last, q[i], 1e-14);
      }
      before[i] = last;
    }
  }
  saltus_point left = {.t = t, .q = q, .v = before};
  saltus_point right = {.t = t, .q = q, .v = v};
  approach(system, &left, U0);
  approach(system, &right, U1);
  for (int key = 0; key < system->dims.nc; key++) {
    near_to(U1[key], -system->laws[key].e_N * U0[key], 1e-13 + 1e-14 * fabs(U0[key]));
  }
}

static void exact_motions_obey_the_impact_law_and_are_continuous(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    double times[64];
    int count =
        saltus_known_motion_jumps(problem, saltus_known_motion_get_info(problem)->t_end, times, 64);
    bool exact = saltus_known_motion_get_info(problem)->known == SALTUS_KNOWN_EXACT;
    assert_true(exact ? count > 0 && count <= 64 : count == 0);
    for (int i = 0; i < count; i++) {
      check_jump(problem, times[i]);
      assert_true(i == 0 || times[i] > times[i - 1]);
    }
    saltus_known_motion_destroy(problem);
  }
}

static void exact_motions_start_from_the_initial_state(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    double q[MOST], v[MOST];
    bool known = saltus_known_motion_exact(problem, 0.0, q, v);
    assert_int_equal(known, saltus_known_motion_get_info(problem)->known != SALTUS_KNOWN_NOT);
    for (int i = 0; known && i < size_of(problem); i++) {
      near_to(q[i], saltus_known_motion_q0(problem)[i], 0.0);
      near_to(v[i], saltus_known_motion_v0(problem)[i], 0.0);
    }
    assert_false(saltus_known_motion_exact(problem, -1.0, q, v));
    saltus_known_motion_destroy(problem);
  }
}

/* The closed form with the flight number from the exponent of 3 - t, as published. */
static void the_ball_follows_the_published_formula_to_the_last_bit(void** state) {
  (void)state;
  saltus_known_motion* ball = open_problem("ball");
  for (int i = 1; i < 2000; i++) {
    double s = i < 1000 ? i / 500.0 : ldexp(1.0 + (i % 100) / 128.0, -(i - 1000) / 20);
    double t = 3.0 - s;
    s = 3.0 - t;
    int exponent;
    double mantissa = frexp(s, &exponent);
    double x = ldexp(1.0, mantissa == 0.5 ? exponent - 2 : exponent - 1);
    double q, v;
    assert_true(saltus_known_motion_exact(ball, t, &q, &v));
    if (s > 0.0) {
      assert_true(q == (s - x) * (2.0 * x - s) && v == 2.0 * s - 3.0 * x);
    }
  }
  saltus_known_motion_destroy(ball);
}

typedef struct check_value {
  double t, v_after;
} check_value;

static void check_values(const char* name, int count, const check_value* values, double tolerance) {
  saltus_known_motion* problem = open_problem(name);
  double times[64];
  assert_true(saltus_known_motion_jumps(problem, 5.0, times, 64) >= count);
  for (int i = 0; i < count; i++) {
    double q, v;
    assert_true(saltus_known_motion_exact(problem, times[i], &q, &v));
    near_to(times[i], values[i].t, tolerance);
    near_to(v, values[i].v_after, tolerance);
  }
  saltus_known_motion_destroy(problem);
}

/* docs/theory/problems.md, 1 to 4; as many digits as printed there. */
static void impacts_have_the_published_times_and_velocities(void** state) {
  (void)state;
  const double two_pi = 6.283185307179586;
  const check_value ball[] = {{1.0, 1.0}, {2.0, 0.5}, {2.5, 0.25}};
  check_values("ball", 3, ball, 0.0);
  const check_value free[] = {{0.25, two_pi * 0.8}, {0.75, two_pi * 0.64}, {1.25, two_pi * 0.512}};
  check_values("oscillator", 3, free, 1e-14);
  const check_value preload[] = {{0.19905005208, 4.27656112582},
                                 {0.49126357152, 2.02404113907},
                                 {0.66934235538, 0.98115452446}};
  check_values("oscillator-preload", 3, preload, 6e-12);
  const check_value forced[] = {{1.6496251496476, 0.5 * 2.4399614554},
                                {3.4694370370511, 0.5 * 1.7208766714},
                                {3.7652796142106, 0.5 * 0.7957908447},
                                {3.9643435095091, 0.5 * 0.3230119825}};
  check_values("forced-ball", 4, forced, 6e-11);
}

/* First impact and decay per half period, from the closed form of the damped flow. */
static void the_damped_oscillator_decays_geometrically(void** state) {
  (void)state;
  const double pi = 3.141592653589793;
  double z = 0.05;
  double w = sqrt(4.0 * pi * pi - z * z);
  check_value expected[10];
  expected[0].t = (0.5 * pi + atan(z / w)) / w;
  expected[0].v_after = 0.5 * 2.0 * pi * exp(-z * expected[0].t);
  for (int n = 1; n < 10; n++) {
    expected[n].t = expected[0].t + n * pi / w;
    expected[n].v_after = 0.5 * exp(-z * pi / w) * expected[n - 1].v_after;
  }
  check_values("oscillator-damped", 10, expected, 1e-14);
}

static void the_forced_ball_rests_lifts_off_and_ends_where_published(void** state) {
  (void)state;
  saltus_known_motion* ball = open_problem("forced-ball");
  double q, v;
  assert_true(saltus_known_motion_exact(ball, 0.16, &q, &v) && q == 0.0 && v == 0.0);
  /* q = (2 pi sqrt(3) / 6) s^3 and v = pi sqrt(3) s^2 to leading order after t = 1/6 */
  double s = 1e-4;
  assert_true(saltus_known_motion_exact(ball, 1.0 / 6.0 + s, &q, &v));
  near_to(q / (s * s * s), 3.141592653589793 / sqrt(3.0), 1e-3);
  near_to(v / (s * s), 3.141592653589793 * sqrt(3.0), 1e-3);
  assert_true(saltus_known_motion_exact(ball, 5.0, &q, &v));
  near_to(q, 0.46069592053101, 1e-13);
  near_to(v, 0.74944238523, 1e-11);
  assert_false(saltus_known_motion_exact(ball, 100.0, &q, &v));
  saltus_known_motion_destroy(ball);
}

/* t_acc = 0.85919509378141049067, summed with 30 digits. */
static void the_preloaded_oscillator_rests_from_the_accumulation_on(void** state) {
  (void)state;
  saltus_known_motion* oscillator = open_problem("oscillator-preload");
  double t_acc = 0.85919509378141049067;
  double q, v;
  assert_true(saltus_known_motion_exact(oscillator, t_acc + 4.5e-16, &q, &v) && q == 0.0 &&
              v == 0.0);
  double times[64];
  int count = saltus_known_motion_jumps(oscillator, 5.0, times, 64);
  assert_in_range(count, 38, 44);
  assert_true(times[count - 1] < t_acc - 1e-12 && times[count - 1] > t_acc - 2.2e-12);
  /* what is left is v+ / 5 for e = 1/2: a flight of 2 v / 20 and its geometric sum; damping takes
   * about 3.4e-3 v^2 off */
  for (int i = count / 2; i < count; i++) {
    assert_true(saltus_known_motion_exact(oscillator, times[i], &q, &v));
    near_to(t_acc - times[i], 0.2 * v, 4e-3 * v * v + 4e-16);
  }
  saltus_known_motion_destroy(oscillator);
}

static void a_chain_leaves_with_the_velocities_of_the_law(void** state) {
  (void)state;
  saltus_known_motion* chain = open_problem("chain:5");
  double q[5], v[5];
  assert_true(saltus_known_motion_exact(chain, 2.0, q, v));
  for (int i = 0; i < 5; i++) {
    near_to(v[i], i == 0 ? -0.2 : 0.3, 1e-15);
    near_to(q[i], 1.0 + v[i], 1e-15);
  }
  saltus_known_motion_destroy(chain);
}

static void a_stack_rests_under_the_bouncing_ball(void** state) {
  (void)state;
  saltus_known_motion* stack = open_problem("stack:4");
  saltus_known_motion* ball = open_problem("ball");
  for (int k = 0; k <= 500; k++) {
    double q[5], v[5], q_ball, v_ball;
    assert_true(saltus_known_motion_exact(stack, 0.01 * k, q, v));
    assert_true(saltus_known_motion_exact(ball, 0.01 * k, &q_ball, &v_ball));
    assert_true(q[4] == q_ball && v[4] == v_ball);
    for (int i = 0; i < 4; i++) {
      assert_true(q[i] == 0.0 && v[i] == 0.0);
    }
  }
  saltus_known_motion_destroy(stack);
  saltus_known_motion_destroy(ball);
}

/* docs/theory/problems.md, 3, and energy: it falls at impacts and stays in between. */
static void the_pendulum_has_the_published_samples(void** state) {
  (void)state;
  saltus_known_motion* pendulum = open_problem("pendulum-wall");
  const double* times;
  assert_int_equal(saltus_known_motion_samples(pendulum, &times), 61);
  near_to(times[60], 3.0, 0.0);
  double q[2], v[2];
  assert_true(saltus_known_motion_exact(pendulum, 3.0, q, v));
  near_to(q[0], 0.0823700113277, 1e-13);
  near_to(v[1], 1.8586988956075, 1e-13);
  assert_false(saltus_known_motion_exact(pendulum, 1.01, q, v));
  const saltus_system* system = saltus_known_motion_system(pendulum);
  double last = INFINITY;
  for (int i = 0; i < 61; i++) {
    assert_true(saltus_known_motion_exact(pendulum, times[i], q, v));
    saltus_point at = {.t = times[i], .q = q, .v = v};
    double energy = system->ops->kinetic(system->self, &at);
    energy += system->ops->potential(system->self, &at);
    assert_true(energy <= last + 1e-12);
    bool impact = times[i] > 0.6113; /* the first one is at 0.61124 s */
    near_to(impact ? 0.0 : energy, impact ? 0.0 : -19.62 * cos(0.9) - 9.81 * cos(0.7), 1e-12);
    last = energy;
  }
  saltus_known_motion_destroy(pendulum);
}

/* ---- graphs ------------------------------------------------------------------------------ */

static void graphs_are_filled_sorted_and_dense(void** state) {
  (void)state;
  for (int k = 0; k < NAMES; k++) {
    saltus_known_motion* problem = open_problem(names[k]);
    double points[2000];
    int count = saltus_known_motion_graph(problem, 0, 0, 2.0, 0.01, points, 1000);
    bool exact = saltus_known_motion_get_info(problem)->known == SALTUS_KNOWN_EXACT;
    assert_true(exact ? count > 1 && count <= 1000 : count == 0);
    if (exact) {
      near_to(points[0], 0.0, 0.0);
      near_to(points[2 * count - 2], 2.0, 0.0);
    }
    for (int i = 1; i < count; i++) {
      double q[MOST], v[MOST];
      bool curved = strcmp(names[k], "chain") != 0 && strcmp(names[k], "stack") != 0;
      double gap = points[2 * i] - points[2 * i - 2];
      bool resting = points[2 * i - 1] == 0.0 && points[2 * i + 1] == 0.0;
      assert_true(gap >= 0.0 && (!curved || resting || gap <= 0.01 * (1.0 + 1e-9)));
      assert_true(saltus_known_motion_exact(problem, points[2 * i], q, v));
      near_to(points[2 * i + 1], q[0], 1e-12);
    }
    saltus_known_motion_destroy(problem);
  }
}

/* Ball, dt = 0.3: 1 s in 4 spans and again for the second flight of 1 s; v is straight. */
static void the_graph_of_the_ball_has_two_points_at_a_jump(void** state) {
  (void)state;
  saltus_known_motion* ball = open_problem("ball");
  double points[16] = {0};
  assert_int_equal(saltus_known_motion_graph(ball, 0, 1, 1.5, 0.3, points, 8), 4);
  const double expected[8] = {0.0, 0.0, 1.0, -2.0, 1.0, 1.0, 1.5, 0.0};
  for (int i = 0; i < 8; i++) {
    near_to(points[i], expected[i], 0.0);
  }
  assert_int_equal(saltus_known_motion_graph(ball, 0, 0, 2.0, 0.3, NULL, 0), 10);
  int count = saltus_known_motion_graph(ball, 0, 1, 5.0, 0.3, points, 2);
  assert_in_range(count, 80, 90); /* 42 pieces up to 1e-12 s before 3 s, then rest */
  saltus_known_motion_destroy(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_listed_problem_can_be_made),
      cmocka_unit_test(wrong_names_are_refused_with_a_message),
      cmocka_unit_test(sizes_give_as_many_balls_and_contacts),
      cmocka_unit_test(labels_and_contacts_are_named),
      cmocka_unit_test(systems_agree_with_differences_of_themselves),
      cmocka_unit_test(forces_at_rest_are_the_slope_of_the_potential),
      cmocka_unit_test(own_linear_algebra_agrees_with_the_dense_one),
      cmocka_unit_test(exact_motions_obey_their_equations_between_jumps),
      cmocka_unit_test(exact_motions_obey_the_impact_law_and_are_continuous),
      cmocka_unit_test(exact_motions_start_from_the_initial_state),
      cmocka_unit_test(the_ball_follows_the_published_formula_to_the_last_bit),
      cmocka_unit_test(impacts_have_the_published_times_and_velocities),
      cmocka_unit_test(the_damped_oscillator_decays_geometrically),
      cmocka_unit_test(the_forced_ball_rests_lifts_off_and_ends_where_published),
      cmocka_unit_test(the_preloaded_oscillator_rests_from_the_accumulation_on),
      cmocka_unit_test(a_chain_leaves_with_the_velocities_of_the_law),
      cmocka_unit_test(a_stack_rests_under_the_bouncing_ball),
      cmocka_unit_test(the_pendulum_has_the_published_samples),
      cmocka_unit_test(graphs_are_filled_sorted_and_dense),
      cmocka_unit_test(the_graph_of_the_ball_has_two_points_at_a_jump),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
