/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction problems: the residual against numbers worked out by hand, the life of a solver, what it
 * refuses, the block factorisation, and the enumeration of two planar contacts.
 */
#include "saltus_test.h"

#include "math/block_lu.h"
#include "saltus/contact.h"
#include "solve/friction/friction_case.h"

#include <stdlib.h>

/* Two units of rows a and b, all four blocks. */
typedef struct pair {
  int offset[3], start[3], unit[4], place[5];
  saltus_friction_problem problem;
} pair;

static void make_pair(pair* p, int a, int b, const double* values, const double* q,
                      const double* mu) {
  *p = (pair){.offset = {0, a, a + b}, .start = {0, 2, 4}, .unit = {0, 1, 0, 1}};
  int sizes[4] = {a * a, a * b, b * a, b * b};
  for (int e = 0; e < 4; e++) {
    p->place[e + 1] = p->place[e] + sizes[e];
  }
  p->problem.W = (saltus_block_matrix){2, p->offset, p->start, p->unit, p->place, values};
  p->problem.q = q;
  p->problem.mu = mu;
}

/* One unit alone. */
typedef struct single {
  int offset[2], start[2], unit[1], place[2];
  saltus_friction_problem problem;
} single;

static void make_single(single* s, int d, const double* values, const double* q, const double* mu) {
  *s = (single){.offset = {0, d}, .start = {0, 1}, .unit = {0}, .place = {0, d * d}};
  s->problem.W = (saltus_block_matrix){1, s->offset, s->start, s->unit, s->place, values};
  s->problem.q = q;
  s->problem.mu = mu;
}

/* A solver that lives for one problem. */
static saltus_solve_result solve_once(const saltus_solver_def* def,
                                      const saltus_friction_problem* problem, double tol, double* r,
                                      double* u) {
  saltus_friction_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_friction_solver_create(def, &solver), SALTUS_OK);
  assert_int_equal(saltus_friction_solve(solver, problem, tol, r, u, &result), SALTUS_OK);
  saltus_friction_solver_destroy(solver);
  return result;
}

/* W = diag(2, 4, 6), so rho = 1/4. r = 0: u = q = (-1, 3, 4), |u_T| = 5, uh = (1.5, 3, 4) for
 * mu = 0.5; -rho uh = (-0.375, -0.75, -1): mu t = 0.625 > 0.375, so P_K = n (1, -0.3, -0.4) with
 * n = (0.625 - 0.375) / 1.25 = 0.2. F = (-0.2, 0.06, 0.08), |F| = sqrt(0.05), |F| / rho =
 * sqrt(0.8). */
static void the_residual_of_a_spatial_contact_is_that_worked_out_by_hand(void** state) {
  (void)state;
  static const double W[9] = {2, 0, 0, 0, 4, 0, 0, 0, 6};
  static const double q[3] = {-1, 3, 4};
  static const double mu[1] = {0.5};
  single s;
  make_single(&s, 3, W, q, mu);
  double r[3] = {0};
  double u[3];
  saltus_residual residual = saltus_friction_residual(&s.problem, r, u);
  assert_near(residual.impulse, sqrt(0.05), 1e-15);
  assert_near(residual.velocity, sqrt(0.8), 1e-15);
  assert_near(residual.normalised, sqrt(0.8 / 26.0), 1e-15);
  assert_near(u[2], 4.0, 0.0);
}

/* A single row: F = r - max(0, r - u / W) with W = 2; bilateral rows: u itself. */
static void the_residual_of_rows_and_joints_is_that_worked_out_by_hand(void** state) {
  (void)state;
  static const double values[] = {2, 0, 0, 0, 0, 4, 0, 0, 4};
  static const double q[3] = {-1, 0.5, -0.5};
  pair p;
  make_pair(&p, 1, 2, values, q, NULL);
  static const unsigned char bilateral[2] = {0, 1};
  p.problem.bilateral = bilateral;
  double r[3] = {0.25, 0.0, 0.0};
  double u[3];
  saltus_residual residual = saltus_friction_residual(&p.problem, r, u);
  /* u = (-0.5, 0.5, -0.5): the row misses 0.5 m/s, the joint sqrt(0.5) m/s and that / 4 N s */
  assert_near(residual.velocity, sqrt(0.5), 1e-15);
  assert_near(residual.impulse, 0.25, 1e-15);
  assert_near(residual.normalised, sqrt(0.75 / 1.5), 1e-15);
}

static saltus_friction_solver* create(const char* name, saltus_log log) {
  saltus_solver_def def = {.solver = name, .log = log};
  saltus_friction_solver* solver = NULL;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  return solver;
}

static void a_wrong_name_is_answered_with_the_nearest(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_solver_def def = {.solver = "gaus-seidel", .log = saltus_log_keep(&kept)};
  saltus_friction_solver* solver;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_ERR_NAME);
  assert_null(solver);
  assert_says(kept, "did you mean \"gauss-seidel\"");
  assert_null(saltus_friction_solver_find("gaus-seidel"));
  assert_non_null(saltus_friction_solver_find("auto"));
  assert_null(saltus_friction_solver_at(-1));
  assert_null(saltus_friction_solver_at(saltus_friction_solver_count()));
}

static void options_out_of_range_are_refused_by_name(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_gauss_seidel_options options = {.iterations = 0};
  saltus_solver_def def = {
      .solver = "gauss-seidel", .options = &options, .log = saltus_log_keep(&kept)};
  saltus_friction_solver* solver;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_ERR_RANGE);
  assert_says(kept, "iterations");
}

static void bad_problems_are_refused_with_a_reason(void** state) {
  (void)state;
  static const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double q[3] = {-1, 0, 0};
  double mu[1] = {-0.5};
  double r[3] = {0};
  double u[3];
  saltus_kept_message kept;
  saltus_solve_result result;
  saltus_friction_solver* solver = create("auto", saltus_log_keep(&kept));
  single s;
  make_single(&s, 3, W, q, mu);
  assert_int_equal(saltus_friction_solve(solver, &s.problem, 1e-8, r, u, &result),
                   SALTUS_ERR_INPUT);
  assert_says(kept, "mu[0] is -0.5");
  mu[0] = 0.5;
  q[1] = NAN;
  assert_int_equal(saltus_friction_solve(solver, &s.problem, 1e-8, r, u, &result),
                   SALTUS_ERR_INPUT);
  saltus_friction_solver_destroy(solver);

  solver = create("auto", saltus_log_keep(&kept));
  q[1] = 0.0;
  s.unit[0] = 7;
  assert_int_equal(saltus_friction_solve(solver, &s.problem, 1e-8, r, u, &result),
                   SALTUS_ERR_INPUT);
  assert_says(kept, "out of range");
  saltus_friction_solver_destroy(solver);

  solver = create("auto", saltus_log_keep(&kept));
  static const double big[16] = {0};
  make_single(&s, 4, big, (double[]){1, 0, 0, 0}, mu);
  assert_int_equal(saltus_friction_solver_setup(solver, &s.problem), SALTUS_ERR_INPUT);
  assert_says(kept, "4 rows");
  saltus_friction_solver_destroy(solver);
}

static void no_units_are_solved_at_once(void** state) {
  (void)state;
  saltus_friction_problem empty = {0};
  saltus_friction_solver* solver = create(NULL, (saltus_log){0});
  saltus_solve_result result;
  assert_int_equal(saltus_friction_solver_setup(solver, &empty), SALTUS_OK);
  assert_int_equal(saltus_friction_solve(solver, &empty, 1e-8, NULL, NULL, &result), SALTUS_OK);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  saltus_friction_solver_destroy(solver);
  saltus_friction_solver_destroy(NULL);
}

/* A unit that impulses cannot move and that approaches: nothing can be done about it. */
static void a_contact_without_compliance_is_unsolved_not_an_error(void** state) {
  (void)state;
  static const double W[9] = {0};
  static const double q[3] = {-1, 0, 0};
  static const double mu[1] = {0.5};
  single s;
  make_single(&s, 3, W, q, mu);
  double r[3] = {0};
  double u[3];
  saltus_solve_result result;
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    saltus_friction_solver* solver = create(saltus_friction_solver_at(k)->name, (saltus_log){0});
    assert_int_equal(saltus_friction_solve(solver, &s.problem, 1e-8, r, u, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_UNSOLVED);
    assert_near(u[0], -1.0, 0.0);
    saltus_friction_solver_destroy(solver);
  }
}

/* Every allocation fails once; nothing leaks, and the answer is memory or an outcome. */
static void lack_of_memory_is_reported_and_leaks_nothing(void** state) {
  (void)state;
  static const double values[16] = {2, 0, 0, 2, 1, 0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 2};
  static const double q[4] = {-1, 0.4, -1, -3};
  static const double mu[2] = {0.3, 0.3};
  pair p;
  make_pair(&p, 2, 2, values, q, mu);
  for (int fail = 1; fail < 8; fail++) {
    counter count = {.fail_at = fail};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_solver_def def = {.allocator = &allocator};
    saltus_friction_solver* solver;
    saltus_status status = saltus_friction_solver_create(&def, &solver);
    assert_true(status == (fail == 1 ? SALTUS_ERR_MEMORY : SALTUS_OK));
    if (status == SALTUS_OK) {
      double r[4] = {0};
      double u[4];
      saltus_solve_result result;
      status = saltus_friction_solver_setup(solver, &p.problem);
      assert_true(status == (fail == 2 ? SALTUS_ERR_MEMORY : SALTUS_OK));
      if (status == SALTUS_OK) {
        assert_int_equal(saltus_friction_solve(solver, &p.problem, 1e-10, r, u, &result),
                         SALTUS_OK);
        assert_int_equal(result.outcome, SALTUS_SOLVED);
      }
    }
    saltus_friction_solver_destroy(solver);
    assert_int_equal(count.live, 0);
  }
}

/* One solver through problems of other patterns and back. */
static void a_solver_follows_changing_patterns(void** state) {
  (void)state;
  static const double values[16] = {2, 0, 0, 2, 1, 0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 2};
  static const double q[4] = {-1, 0.4, -1, -3};
  static const double mu[2] = {0.3, 0.3};
  static const double W[9] = {1, 0.1, 0, 0.1, 1, 0, 0, 0, 1};
  pair p;
  single s;
  make_pair(&p, 2, 2, values, q, mu);
  make_single(&s, 3, W, q, mu);
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    saltus_friction_solver* solver = create(saltus_friction_solver_at(k)->name, (saltus_log){0});
    double first[4] = {0};
    for (int n = 0; n < 4; n++) {
      double r[4] = {0};
      double u[4];
      saltus_solve_result result;
      const saltus_friction_problem* problem = n % 2 == 0 ? &p.problem : &s.problem;
      assert_int_equal(saltus_friction_solve(solver, problem, 1e-8, r, u, &result), SALTUS_OK);
      assert_int_equal(result.outcome, SALTUS_SOLVED);
      assert_true(saltus_friction_residual(problem, r, u).normalised <= 1e-8);
      if (n == 0) {
        memcpy(first, r, sizeof first);
      } else if (n == 2) {
        assert_memory_equal(r, first, sizeof first);
      }
    }
    saltus_friction_solver_destroy(solver);
  }
}

static double draw(uint64_t* seed) {
  return 2.0 * saltus_test_random(seed) - 1.0;
}

/* W = B B^T, so that the blocks of a pair can be cut from it. */
static void draw_planar_pair(uint64_t* seed, double* values, double* q, double* mu) {
  double B[4][5];
  for (int a = 0; a < 4; a++) {
    q[a] = draw(seed);
    for (int k = 0; k < 5; k++) {
      B[a][k] = draw(seed);
    }
  }
  for (int e = 0; e < 16; e++) {
    int i = e / 8 * 2 + e % 4 / 2;
    int j = e / 4 % 2 * 2 + e % 2;
    values[e] = 0.0;
    for (int k = 0; k < 5; k++) {
      values[e] += B[i][k] * B[j][k];
    }
  }
  mu[0] = saltus_test_random(seed);
  mu[1] = saltus_test_random(seed);
}

/* Two planar contacts never need more than sweeps and enumeration, and reach rounding. */
static void two_planar_contacts_are_enumerated(void** state) {
  (void)state;
  uint64_t seed = 3;
  int enumerated = 0;
  saltus_friction_solver* solver = create("auto", (saltus_log){0});
  for (int n = 0; n < 5000; n++) {
    double values[16];
    double q[4];
    double mu[2];
    draw_planar_pair(&seed, values, q, mu);
    pair p;
    make_pair(&p, 2, 2, values, q, mu);
    double r[4] = {0};
    double u[4];
    saltus_solve_result result;
    assert_int_equal(saltus_friction_solve(solver, &p.problem, 1e-12, r, u, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    assert_true(saltus_friction_residual(&p.problem, r, u).normalised <= 1e-12);
    enumerated += strstr(result.stages, "enumeration") != NULL ? 1 : 0;
    assert_null(strstr(result.stages, "interior"));
  }
  assert_true(enumerated > 500);
  saltus_friction_solver_destroy(solver);
}

/* The guess is used when it is near, and put aside when it is worse than none. */
static void a_guess_from_before_an_impact_does_no_harm(void** state) {
  (void)state;
  static const double W[9] = {1, 0.1, 0, 0.1, 1, 0, 0, 0, 1};
  static const double q[3] = {-1, 2, 0};
  static const double mu[1] = {0.5};
  single s;
  make_single(&s, 3, W, q, mu);
  saltus_friction_solver* solver = create("auto", (saltus_log){0});
  double cold[3] = {0};
  double bad[3] = {1e9, 1e8, -1e8};
  double u[3];
  saltus_solve_result result;
  saltus_friction_solve(solver, &s.problem, 1e-12, cold, u, &result);
  saltus_friction_solve(solver, &s.problem, 1e-12, bad, u, &result);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  assert_memory_equal(bad, cold, sizeof cold);
  saltus_friction_solve(solver, &s.problem, 1e-12, cold, u, &result);
  assert_int_equal(result.iterations, 0);
  saltus_friction_solver_destroy(solver);
}

static void the_work_limit_ends_a_solve(void** state) {
  (void)state;
  /* two bilateral units that contradict each other: no solution, nothing to wait for */
  static const double values[4] = {1, 1, 1, 1};
  static const double q[2] = {1, -1};
  static const unsigned char bilateral[2] = {1, 1};
  pair p;
  make_pair(&p, 1, 1, values, q, NULL);
  p.problem.bilateral = bilateral;
  saltus_friction_auto_options options = {.work = 1e-6, .threads = 1};
  saltus_solver_def def = {.options = &options};
  double r[2] = {0};
  double u[2];
  saltus_solve_result result = solve_once(&def, &p.problem, 1e-8, r, u);
  assert_int_equal(result.outcome, SALTUS_UNSOLVED);
  assert_true(result.iterations < 200);
}

/* ---- block factorisation ---- */

enum { UNITS = 30 };

/* A chain of units with a few long links, sizes 1 to 6 or all the same. */
typedef struct chain {
  int offset[UNITS + 1], start[UNITS + 1], unit[8 * UNITS], place[8 * UNITS + 1];
  double q[6 * UNITS], mu[UNITS];
  unsigned char bilateral[UNITS];
  double values[36 * 8 * UNITS];
  saltus_friction_problem problem;
} chain;

static void make_chain(chain* c, int size) {
  *c = (chain){0};
  int blocks = 0;
  for (int i = 0; i < UNITS; i++) {
    int d = size > 0 ? size : 1 + i * 7 % 6;
    c->offset[i + 1] = c->offset[i] + d;
    c->bilateral[i] = d > 3 ? 1 : 0;
  }
  for (int i = 0; i < UNITS; i++) {
    c->start[i] = blocks;
    for (int j = 0; j < UNITS; j++) {
      if (abs(i - j) <= 1 || i - j == 9) { /* unsymmetric pattern */
        int values = (c->offset[i + 1] - c->offset[i]) * (c->offset[j + 1] - c->offset[j]);
        c->place[blocks + 1] = c->place[blocks] + values;
        c->unit[blocks++] = j;
      }
    }
  }
  c->start[UNITS] = blocks;
  c->problem.W = (saltus_block_matrix){UNITS, c->offset, c->start, c->unit, c->place, c->values};
  c->problem.q = c->q;
  c->problem.mu = c->mu;
  c->problem.bilateral = c->bilateral;
}

static double solve_error(saltusi_block_lu* lu, uint64_t* seed) {
  static double x[6 * UNITS];
  static double b[6 * UNITS];
  static double y[6 * UNITS];
  for (int a = 0; a < lu->rows; a++) {
    x[a] = draw(seed);
  }
  saltusi_block_lu_times(lu, lu->values, x, b);
  assert_true(saltusi_block_lu_solve(lu, b, y) <= 1e-10);
  double worst = 0.0;
  for (int a = 0; a < lu->rows; a++) {
    worst = fmax(worst, fabs(y[a] - x[a]));
  }
  return worst;
}

/* Random matrices with a zero in every other diagonal block: only pivoting solves those. */
static void the_block_factorisation_solves_and_pivots_when_it_has_to(void** state) {
  (void)state;
  static chain c;
  uint64_t seed = 9;
  saltus_allocator memory = saltus_allocator_default();
  for (int size = 0; size <= 3; size++) {
    make_chain(&c, size);
    static int ints[2000];
    static unsigned char bytes[UNITS];
    saltusi_friction_pattern pattern = {.bilateral = bytes};
    saltus_arena arena = saltus_arena_over(ints, sizeof ints);
    saltusi_friction_pattern_layout(&pattern, &c.problem, &arena);
    assert_int_equal(saltusi_friction_pattern_fill(&pattern, &c.problem, (saltus_log){0}),
                     SALTUS_OK);
    saltusi_block_lu lu = {0};
    const saltusi_block_pattern blocks = saltusi_friction_blocks(&pattern);
    assert_int_equal(saltusi_block_lu_analyse(&lu, &blocks, &memory), SALTUS_OK);
    assert_int_equal(saltusi_block_lu_reserve(&lu, &memory), SALTUS_OK);
    for (int hard = 0; hard <= 1; hard++) {
      for (int k = 0; k < (int)lu.place[lu.start[UNITS]]; k++) {
        lu.values[k] = draw(&seed);
      }
      for (int i = 0; i < UNITS; i++) {
        int d = c.offset[i + 1] - c.offset[i];
        for (int k = 0; k < d; k++) {
          lu.values[lu.place[lu.diagonal[i]] + (size_t)(k * (d + 1))] += hard == 0 ? 20.0 : 0.0;
        }
        if (hard == 1 && i % 2 == 0) {
          memset(lu.values + lu.place[lu.diagonal[i]], 0, (size_t)(d * d) * sizeof(double));
        }
      }
      lu.failures = 0;
      assert_true(saltusi_block_lu_factor(&lu));
      assert_near(solve_error(&lu, &seed), 0.0, hard == 0 ? 1e-13 : 1e-8);
      assert_true(hard == 1 || lu.failures == 0);
    }
    saltusi_block_lu_release(&lu, &memory);
  }
}

/* A block of 1 kg between two walls, normals (1, 0) and (-1, 0), falls with 1 m/s and meets the first
 * wall with 1 m/s. Without pressure that brakes it to 1 - mu; under pressure the walls hold it: both
 * satisfy the law. */
static void a_wedged_block_is_held_when_it_is_pressed(void** state) {
  (void)state;
  static const double W[16] = {1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, 1, 0, 0, 1};
  static const double q[4] = {-1, -1, 1, -1};
  static const double mu[2] = {0.5, 0.5};
  pair p;
  make_pair(&p, 2, 2, W, q, mu);
  for (int pressed = 0; pressed < 2; pressed++) {
    const saltus_accelerated_gauss_seidel_options options = {.iterations = 100,
                                                             .preload = 10.0 * pressed};
    const saltus_solver_def def = {.solver = "accelerated-gauss-seidel", .options = &options};
    double r[4] = {0};
    double u[4];
    saltus_solve_result result = solve_once(&def, &p.problem, 1e-12, r, u);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    assert_true(saltus_friction_residual(&p.problem, r, u).normalised <= 1e-12);
    assert_near(r[0] - r[2], 1.0, 1e-12);
    assert_near(r[1] + r[3], pressed ? 1.0 : 0.5, 1e-12);
    assert_near(u[1], pressed ? 0.0 : -0.5, 1e-12);
    assert_true(pressed ? r[2] > 2.0 : r[2] == 0.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wedged_block_is_held_when_it_is_pressed),
      cmocka_unit_test(the_residual_of_a_spatial_contact_is_that_worked_out_by_hand),
      cmocka_unit_test(the_residual_of_rows_and_joints_is_that_worked_out_by_hand),
      cmocka_unit_test(a_wrong_name_is_answered_with_the_nearest),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
      cmocka_unit_test(bad_problems_are_refused_with_a_reason),
      cmocka_unit_test(no_units_are_solved_at_once),
      cmocka_unit_test(a_contact_without_compliance_is_unsolved_not_an_error),
      cmocka_unit_test(lack_of_memory_is_reported_and_leaks_nothing),
      cmocka_unit_test(a_solver_follows_changing_patterns),
      cmocka_unit_test(two_planar_contacts_are_enumerated),
      cmocka_unit_test(a_guess_from_before_an_impact_does_no_harm),
      cmocka_unit_test(the_work_limit_ends_a_solve),
      cmocka_unit_test(the_block_factorisation_solves_and_pivots_when_it_has_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
