/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Data that no solver should be given, to every solver: entries that are not numbers, operators that
 * are zero, indefinite, skew or singular, friction that is not, numbers at the ends of the exponent. It
 * is refused, or answered; and solved means that the residual, recomputed here, is at or below the
 * tolerance. That every call returns is part of the claim.
 */
#include "saltus_test.h"

#include "saltus/contact.h"

#include <float.h>
#include <stdlib.h>

enum { UNITS = 4, ROWS = 3 * UNITS };
static const double tol = 1e-8;

/* Contacts of 3, 3, 2 and 1 rows, the last one bilateral when asked; all meet each other. */
typedef struct made {
  saltus_friction_problem problem;
  int rows;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS * UNITS], place[UNITS * UNITS + 1];
  double values[ROWS * ROWS], q[ROWS], mu[UNITS];
  unsigned char bilateral[UNITS];
} made;

static double draw(uint64_t* seed) {
  return 2.0 * saltus_test_random(seed) - 1.0;
}

/* W = H H^T of the given rank; q = H v pressed together. planar: contacts of two rows only. */
static void make(made* m, int rank, bool planar, bool bilateral) {
  static const int sizes[2][UNITS] = {{3, 3, 2, 1}, {2, 2, 2, 2}};
  memset(m, 0, sizeof *m);
  uint64_t seed = 77;
  double H[ROWS][ROWS];
  for (int i = 0; i < UNITS; i++) {
    m->offset[i + 1] = m->offset[i] + sizes[planar ? 1 : 0][i];
    m->mu[i] = 0.2 + 0.2 * i;
  }
  m->rows = m->offset[UNITS];
  m->bilateral[UNITS - 1] = bilateral ? 1 : 0;
  for (int a = 0; a < m->rows; a++) {
    for (int k = 0; k < rank; k++) {
      H[a][k] = draw(&seed);
    }
  }
  int used = 0;
  for (int i = 0; i < UNITS; i++) {
    m->start[i + 1] = (i + 1) * UNITS;
    for (int j = 0; j < UNITS; j++) {
      m->unit[i * UNITS + j] = j;
      for (int a = m->offset[i]; a < m->offset[i + 1]; a++) {
        for (int b = m->offset[j]; b < m->offset[j + 1]; b++, used++) {
          for (int k = 0; k < rank; k++) {
            m->values[used] += H[a][k] * H[b][k];
          }
        }
      }
      m->place[i * UNITS + j + 1] = used;
    }
  }
  for (int a = 0; a < m->rows; a++) {
    for (int k = 0; k < rank; k++) {
      m->q[a] += H[a][k] * draw(&seed);
    }
  }
  for (int i = 0; i < UNITS; i++) {
    m->q[m->offset[i]] -= 0.5;
  }
  m->problem =
      (saltus_friction_problem){.W = {UNITS, m->offset, m->start, m->unit, m->place, m->values},
                                .q = m->q,
                                .mu = m->mu,
                                .bilateral = m->bilateral};
}

/* Damage to numbers; each returns whether the solver has to refuse. */
typedef struct numbers {
  double* W;
  int entries;
  double* q;
  int rows;
  double* mu; /* NULL: complementarity */
  int units;
} numbers;

static void scale(double* x, int n, double factor) {
  for (int k = 0; k < n; k++) {
    x[k] *= factor;
  }
}

typedef enum duty { ANY, REFUSE, UNSOLVED } duty;

static duty nan_in_matrix(numbers* x) {
  x->W[0] = NAN;
  return REFUSE;
}
static duty nan_beside_the_diagonal(numbers* x) {
  x->W[1] = NAN;
  return REFUSE;
}
static duty infinity_in_matrix(numbers* x) {
  x->W[x->entries - 1] = INFINITY;
  return REFUSE;
}
static duty nan_in_q(numbers* x) {
  x->q[x->rows - 1] = NAN;
  return REFUSE;
}
static duty infinity_in_q(numbers* x) {
  x->q[0] = -INFINITY;
  return REFUSE;
}
static duty infinity_in_q_upwards(numbers* x) {
  x->q[0] = INFINITY;
  return REFUSE;
}
/* Nothing moves, and rows approach each other. */
static duty nothing_in_matrix(numbers* x) {
  memset(x->W, 0, (size_t)x->entries * sizeof(double));
  return UNSOLVED;
}
static duty nothing_at_all(numbers* x) {
  memset(x->W, 0, (size_t)x->entries * sizeof(double));
  memset(x->q, 0, (size_t)x->rows * sizeof(double));
  return ANY;
}
static duty negative_diagonal(numbers* x) {
  x->W[0] = -x->W[0];
  return ANY;
}
static duty negative_matrix(numbers* x) {
  scale(x->W, x->entries, -1.0);
  return ANY;
}
static duty huge_matrix(numbers* x) {
  scale(x->W, x->entries, 1e300);
  return ANY;
}
static duty huge_q(numbers* x) {
  scale(x->q, x->rows, 1e300);
  return ANY;
}
static duty all_huge(numbers* x) {
  scale(x->W, x->entries, 1e150);
  scale(x->q, x->rows, 1e150);
  return ANY;
}
static duty tiny_matrix(numbers* x) {
  scale(x->W, x->entries, 1e-300);
  return ANY;
}
static duty tiny_q(numbers* x) {
  scale(x->q, x->rows, 1e-300);
  return ANY;
}
static duty denormal_matrix(numbers* x) {
  scale(x->W, x->entries, DBL_MIN * DBL_EPSILON);
  return ANY;
}
static duty wild_scales(numbers* x) {
  for (int k = 0; k < x->entries; k++) {
    x->W[k] *= k % 3 == 0 ? 1e12 : (k % 3 == 1 ? 1e-12 : 1.0);
  }
  return ANY;
}
static duty only_beside_the_diagonal(numbers* x) {
  x->W[0] = 0.0;
  x->W[x->entries - 1] = 0.0;
  return ANY;
}
static duty wrong_friction(numbers* x, int contact, double mu) {
  if (x->mu == NULL) {
    return ANY;
  }
  x->mu[contact] = mu;
  return REFUSE;
}
static duty negative_friction(numbers* x) {
  return wrong_friction(x, 0, -0.1);
}
static duty friction_is_not_a_number(numbers* x) {
  return wrong_friction(x, 1, NAN);
}
static duty infinite_friction(numbers* x) {
  return wrong_friction(x, 0, INFINITY);
}
static duty no_friction(numbers* x) {
  scale(x->mu, x->units, 0.0);
  return ANY;
}
static duty huge_friction(numbers* x) {
  scale(x->mu, x->units, 1e15);
  return ANY;
}

static const struct {
  const char* name;
  duty (*apply)(numbers* x);
} damages[] = {
    {"nan in the matrix", nan_in_matrix},
    {"nan beside the diagonal", nan_beside_the_diagonal},
    {"infinity in the matrix", infinity_in_matrix},
    {"nan in q", nan_in_q},
    {"-infinity in q", infinity_in_q},
    {"infinity in q", infinity_in_q_upwards},
    {"nothing in the matrix", nothing_in_matrix},
    {"nothing at all", nothing_at_all},
    {"negative diagonal", negative_diagonal},
    {"negative matrix", negative_matrix},
    {"huge matrix", huge_matrix},
    {"huge q", huge_q},
    {"all huge", all_huge},
    {"tiny matrix", tiny_matrix},
    {"tiny q", tiny_q},
    {"denormal matrix", denormal_matrix},
    {"wild scales", wild_scales},
    {"zero corners", only_beside_the_diagonal},
    {"negative friction", negative_friction},
    {"friction not a number", friction_is_not_a_number},
    {"infinite friction", infinite_friction},
    {"no friction", no_friction},
    {"huge friction", huge_friction},
};
enum { DAMAGES = sizeof damages / sizeof damages[0] };

/* What has to hold whatever was given. */
static void check(duty wanted, saltus_status status, const saltus_solve_result* result,
                  double again, const char* solver, const char* damage) {
  if (wanted == REFUSE && status != SALTUS_ERR_INPUT) {
    fail_msg("%s, %s: status %d, not refused", solver, damage, (int)status);
  }
  if (status != SALTUS_OK) {
    assert_int_equal(status, SALTUS_ERR_INPUT);
    return;
  }
  bool solved = result->outcome == SALTUS_SOLVED;
  if (solved && !(again <= tol)) {
    fail_msg("%s, %s: solved with residual %g", solver, damage, again);
  }
  if (wanted == UNSOLVED && solved) {
    fail_msg("%s, %s: solved what has no solution", solver, damage);
  }
  if (again <= tol && result->outcome == SALTUS_NO_SOLUTION) {
    fail_msg("%s, %s: no solution, but here is one", solver, damage);
  }
}

/* Options with less stall_limit than the default: most of these problems have no solution. */
static const void* hurried(const char* name) {
  static const saltus_friction_auto_options portfolio = {.work = 0.005, .threads = 1};
  static const saltus_iteration_options proximal = {.iterations = 20};
  if (strcmp(name, "auto") == 0) {
    return &portfolio;
  }
  if (strcmp(name, "proximal") == 0) {
    return &proximal;
  }
  return NULL;
}

static void every_friction_solver_survives(void** state) {
  (void)state;
  static const int ranks[] = {ROWS, 3, 1};
  static made m;
  for (int s = 0; s < saltus_friction_solver_count(); s++) {
    const char* name = saltus_friction_solver_at(s)->name;
    for (int d = 0; d < DAMAGES; d++) {
      for (int k = 0; k < 6; k++) {
        make(&m, ranks[k / 2], k % 2 == 1, (k + d) % 3 == 0);
        numbers x = {m.values, m.place[UNITS * UNITS], m.q, m.rows, m.mu, UNITS};
        duty wanted = damages[d].apply(&x);
        const saltus_solver_def def = {.solver = name, .options = hurried(name)};
        saltus_friction_solver* solver;
        saltus_solve_result result;
        double r[ROWS] = {0};
        double u[ROWS];
        assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
        saltus_status status = saltus_friction_solve(solver, &m.problem, tol, r, u, &result);
        saltus_friction_solver_destroy(solver);
        double again = saltus_friction_residual(&m.problem, r, u).normalised;
        check(wanted, status, &result, again, name, damages[d].name);
      }
    }
  }
}

/* Sizes for every path: on the stack, dense, sparse; bilateral rows eliminated and kept. */
typedef struct lcp_case {
  int n, bilateral;
  bool sparse;
} lcp_case;

enum { LCP_MOST = 200 };

/* Tridiagonal beside a corner, definite. Entry 0 is M_00, entry 1 is M_01. */
static int fill_lcp(const lcp_case* c, double* values, int* start, int* column, double* q) {
  int used = 0;
  uint64_t seed = 99;
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      bool corner = c->n > 3 && i + j == c->n - 1;
      double value = i == j ? 3.0 : (abs(i - j) == 1 ? -1.0 : (corner ? 0.5 : 0.0));
      if (!c->sparse || value != 0.0) {
        column[used] = j;
        values[used++] = value;
      }
    }
    start[i + 1] = used;
    q[i] = draw(&seed) - 0.5;
  }
  return used;
}

static void every_complementarity_solver_survives(void** state) {
  (void)state;
  static const lcp_case cases[] = {{2, 0, false},  {3, 1, false},  {9, 0, true},   {9, 4, true},
                                   {30, 0, false}, {30, 8, false}, {200, 0, true}, {200, 60, true}};
  static double values[LCP_MOST * LCP_MOST];
  static int start[LCP_MOST + 1];
  static int column[LCP_MOST * LCP_MOST];
  static double q[LCP_MOST];
  static double z[LCP_MOST];
  static double w[LCP_MOST];
  for (int s = 0; s < saltus_lcp_solver_count(); s++) {
    const char* name = saltus_lcp_solver_at(s)->name;
    for (int d = 0; d < DAMAGES; d++) {
      for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const lcp_case* c = &cases[k];
        numbers x = {values, fill_lcp(c, values, start, column, q), q, c->n, NULL, 0};
        duty wanted = damages[d].apply(&x);
        saltus_lcp p = {.n = c->n, .bilateral = c->bilateral, .q = q};
        if (c->sparse) {
          p.sparse = (saltus_csr){c->n, c->n, start, column, values};
        } else {
          p.M = values;
        }
        const saltus_solver_def def = {.solver = name};
        saltus_lcp_solver* solver;
        saltus_solve_result result;
        memset(z, 0, sizeof z);
        assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
        saltus_status status = saltus_lcp_solve(solver, &p, tol, z, w, &result);
        saltus_lcp_solver_destroy(solver);
        double again = saltus_lcp_residual(&p, z, w).normalised;
        check(wanted, status, &result, again, name, damages[d].name);
      }
    }
  }
}

/* A guess that is not a number must not become the answer. */
static void guesses_that_are_not_numbers_are_dropped(void** state) {
  (void)state;
  static made m;
  make(&m, ROWS, false, true);
  for (int s = 0; s < saltus_friction_solver_count(); s++) {
    const char* name = saltus_friction_solver_at(s)->name;
    const saltus_solver_def def = {.solver = name};
    saltus_friction_solver* solver;
    saltus_solve_result result;
    double r[ROWS] = {NAN, 1e300, INFINITY, -INFINITY};
    double u[ROWS];
    assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
    assert_int_equal(saltus_friction_solve(solver, &m.problem, tol, r, u, &result), SALTUS_OK);
    saltus_friction_solver_destroy(solver);
    double again = saltus_friction_residual(&m.problem, r, u).normalised;
    assert_true(isfinite(again));
    assert_true((result.outcome == SALTUS_SOLVED) == (again <= tol));
  }
  static const double M[4] = {2.0, 1.0, 1.0, 2.0};
  static const double b[2] = {-1.0, -1.0};
  for (int s = 0; s < saltus_lcp_solver_count(); s++) {
    for (int bilateral = 0; bilateral < 2; bilateral++) {
      const saltus_solver_def def = {.solver = saltus_lcp_solver_at(s)->name};
      const saltus_lcp p = {.n = 2, .bilateral = bilateral, .M = M, .q = b};
      saltus_lcp_solver* solver;
      saltus_solve_result result;
      double z[2] = {NAN, INFINITY};
      double w[2];
      assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
      assert_int_equal(saltus_lcp_solve(solver, &p, tol, z, w, &result), SALTUS_OK);
      saltus_lcp_solver_destroy(solver);
      assert_int_equal(result.outcome, SALTUS_SOLVED);
      assert_near(z[0], 1.0 / 3.0, 10.0 * tol); /* M^-1 is of norm 1, |q| 1.4 */
      assert_near(z[1], 1.0 / 3.0, 10.0 * tol);
    }
  }
}

static void problems_without_contacts_are_solved(void** state) {
  (void)state;
  static const int zero[1] = {0};
  const saltus_friction_problem nothing = {.W = {0, zero, zero, NULL, zero, NULL}};
  const saltus_lcp none = {0};
  saltus_solve_result result;
  for (int s = 0; s < saltus_friction_solver_count(); s++) {
    const saltus_solver_def def = {.solver = saltus_friction_solver_at(s)->name};
    saltus_friction_solver* solver;
    assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
    assert_int_equal(saltus_friction_solver_setup(solver, &nothing), SALTUS_OK);
    assert_int_equal(saltus_friction_solve(solver, &nothing, tol, NULL, NULL, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    saltus_friction_solver_destroy(solver);
  }
  for (int s = 0; s < saltus_lcp_solver_count(); s++) {
    const saltus_solver_def def = {.solver = saltus_lcp_solver_at(s)->name};
    saltus_lcp_solver* solver;
    assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
    assert_int_equal(saltus_lcp_solve(solver, &none, tol, NULL, NULL, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    saltus_lcp_solver_destroy(solver);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_friction_solver_survives),
      cmocka_unit_test(every_complementarity_solver_survives),
      cmocka_unit_test(guesses_that_are_not_numbers_are_dropped),
      cmocka_unit_test(problems_without_contacts_are_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
