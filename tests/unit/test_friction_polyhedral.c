/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The friction solver "polyhedral": exact in the plane, for sticking contacts and for slip along one of
 * its directions; otherwise an answer to its own law, reported as such.
 */
#include "saltus_test.h"

#include "saltus/contact.h"

#include <stdlib.h>

enum { UNITS = 100, ROWS = 3 * UNITS };

/* Every unit meets every other: W = G M^-1 G^T. */
typedef struct made {
  saltus_friction_problem problem;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS * UNITS], place[UNITS * UNITS + 1];
  double values[ROWS * ROWS], q[ROWS], mu[UNITS];
  unsigned char bilateral[UNITS];
} made;

static void add_unit(made* m, int rows, double mu, bool bilateral) {
  int i = m->problem.W.units++;
  m->offset[i + 1] = m->offset[i] + rows;
  m->mu[i] = mu;
  m->bilateral[i] = bilateral ? 1 : 0;
}

/* W [rows x rows] into blocks. */
static void finish(made* m, const double* W) {
  int units = m->problem.W.units;
  int n = m->offset[units];
  int used = 0;
  for (int i = 0; i < units; i++) {
    m->start[i + 1] = (i + 1) * units;
    for (int j = 0; j < units; j++) {
      m->unit[i * units + j] = j;
      for (int a = m->offset[i]; a < m->offset[i + 1]; a++) {
        for (int b = m->offset[j]; b < m->offset[j + 1]; b++) {
          m->values[used++] = W[a * n + b];
        }
      }
      m->place[i * units + j + 1] = used;
    }
  }
  m->problem.W = (saltus_block_matrix){units, m->offset, m->start, m->unit, m->place, m->values};
  m->problem.q = m->q;
  m->problem.mu = m->mu;
  m->problem.bilateral = m->bilateral;
}

static saltus_solve_result solve(const made* m, int facets, double tol, double* r) {
  static double u[ROWS];
  const saltus_polyhedral_options options = {.facets = facets};
  const saltus_solver_def def = {.solver = "polyhedral", .options = &options};
  saltus_friction_solver* solver;
  saltus_solve_result result;
  memset(r, 0, ROWS * sizeof(double));
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  assert_int_equal(saltus_friction_solve(solver, &m->problem, tol, r, u, &result), SALTUS_OK);
  saltus_friction_solver_destroy(solver);
  double again = saltus_friction_residual(&m->problem, r, u).normalised;
  assert_near(result.residual.normalised, again, 1e-15 + 1e-9 * again);
  assert_true((result.outcome == SALTUS_SOLVED) == (again <= tol));
  return result;
}

/* A mass of 2 kg that meets the floor with 1 m/s: normal impulse 2, friction at most 1. */
static void block(made* m, double side, double forward) {
  static const double W[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5};
  memset(m, 0, sizeof *m);
  add_unit(m, 3, 0.5, false);
  m->q[0] = -1.0;
  m->q[1] = side;
  m->q[2] = forward;
  finish(m, W);
}

/* Against the direction that the velocity has most of: forward of four, the diagonal of eight. */
static void slip_is_resisted_along_a_direction(void** state) {
  (void)state;
  static made m;
  double r[ROWS];
  block(&m, 3.0, 4.0);
  saltus_solve_result four = solve(&m, 4, 1e-8, r);
  assert_near(r[0], 2.0, 1e-14);
  assert_near(r[1], 0.0, 1e-14);
  assert_near(r[2], -1.0, 1e-14);
  assert_int_equal(four.outcome, SALTUS_UNSOLVED);
  assert_true(four.polyhedral <= 1e-14);
  assert_true(four.residual.normalised > 0.05);
  saltus_solve_result eight = solve(&m, 8, 1e-8, r);
  assert_near(r[1], -sqrt(0.5), 1e-14);
  assert_near(r[2], -sqrt(0.5), 1e-14);
  assert_int_equal(eight.outcome, SALTUS_UNSOLVED);
  assert_true(eight.polyhedral <= 1e-14);
}

/* The nearest direction is at most pi / facets away: a chord of 2 sin(pi / (2 facets)) on the circle of
 * friction, whose radius is 1. */
static void more_facets_come_nearer(void** state) {
  (void)state;
  static made m;
  for (int facets = 4; facets <= 64; facets *= 2) {
    for (int k = 0; k < 50; k++) {
      double angle = 0.1257 * k;
      double r[ROWS];
      block(&m, 5.0 * cos(angle), 5.0 * sin(angle));
      saltus_solve_result result = solve(&m, facets, 1e-8, r);
      assert_true(result.polyhedral <= 1e-14);
      double far = hypot(r[1] + cos(angle), r[2] + sin(angle));
      assert_true(far <= 2.0 * sin(1.5707963267948966 / facets) + 1e-12);
    }
  }
}

static void sticking_and_slip_along_a_direction_are_exact(void** state) {
  (void)state;
  static made m;
  double r[ROWS];
  block(&m, 0.3, 0.2); /* held */
  assert_int_equal(solve(&m, 6, 1e-13, r).outcome, SALTUS_SOLVED);
  assert_near(r[1], -0.6, 1e-14);
  assert_near(r[2], -0.4, 1e-14);
  block(&m, 3.0, 3.0); /* along the diagonal of eight */
  assert_int_equal(solve(&m, 8, 1e-13, r).outcome, SALTUS_SOLVED);
  assert_int_equal(solve(&m, 4, 1e-13, r).outcome, SALTUS_UNSOLVED);
  /* an odd number counts as the next even one */
  block(&m, -3.0, 0.0);
  assert_int_equal(solve(&m, 5, 1e-13, r).outcome, SALTUS_SOLVED);
}

/* Random planar problems with frictionless contacts and bilateral units, some of which appear twice:
 * the polygon is the cone. */
static void planar_problems_are_exact(void** state) {
  (void)state;
  enum { FREEDOMS = 12 };
  static made m;
  static double G[ROWS][FREEDOMS];
  static double W[ROWS * ROWS];
  uint64_t seed = 31;
  for (int round = 0; round < 200; round++) {
    memset(&m, 0, sizeof m);
    int units = 1 + round % 6;
    for (int i = 0; i < units; i++) {
      bool joint = i % 3 == 2;
      add_unit(&m, joint ? 1 : 1 + (i + round) % 2, round % 5 == 0 ? 0.0 : 0.6, joint);
    }
    if (round % 2 == 1) { /* the last unit once more */
      add_unit(&m, m.offset[units] - m.offset[units - 1], m.mu[units - 1],
               m.bilateral[units - 1] != 0);
    }
    int n = m.offset[m.problem.W.units];
    int twin = m.offset[units] - m.offset[units - 1];
    double v[FREEDOMS];
    for (int k = 0; k < FREEDOMS; k++) {
      v[k] = 2.0 * saltus_test_random(&seed) - 1.0;
      for (int a = 0; a < n; a++) {
        G[a][k] = a < m.offset[units] ? 2.0 * saltus_test_random(&seed) - 1.0 : G[a - twin][k];
      }
    }
    for (int a = 0; a < n; a++) {
      for (int k = 0; k < FREEDOMS; k++) {
        m.q[a] += G[a][k] * v[k];
      }
      for (int b = 0; b < n; b++) {
        W[a * n + b] = 0.0;
        for (int k = 0; k < FREEDOMS; k++) {
          W[a * n + b] += G[a][k] * G[b][k];
        }
      }
    }
    finish(&m, W);
    double r[ROWS];
    saltus_solve_result result = solve(&m, 8, 1e-10, r);
    if (result.outcome != SALTUS_SOLVED) {
      fail_msg("round %d: %s, residual %g", round, result.stages, result.residual.normalised);
    }
    assert_true(result.polyhedral <= 1e-10);
  }
}

/* 100 spatial contacts of ten unknowns: more than Lemke's method is asked for. */
static void too_many_contacts_are_said_to_be(void** state) {
  (void)state;
  static made m;
  static double W[ROWS * ROWS];
  static double r[ROWS];
  memset(&m, 0, sizeof m);
  memset(W, 0, sizeof W);
  for (int i = 0; i < UNITS; i++) {
    add_unit(&m, 3, 0.5, false);
    m.q[3 * i] = -1.0;
  }
  for (int a = 0; a < ROWS; a++) {
    W[a * ROWS + a] = 1.0;
  }
  finish(&m, W);
  saltus_solve_result result = solve(&m, 8, 1e-8, r);
  assert_int_equal(result.outcome, SALTUS_UNSOLVED);
  assert_string_equal(result.stages, "polyhedral 0");
  assert_near(result.polyhedral, 1.0, 1e-14); /* nothing was done: |q| is what is missing */
  assert_int_equal(solve(&m, 4, 1e-12, r).outcome, SALTUS_SOLVED); /* six each are few enough */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slip_is_resisted_along_a_direction),
      cmocka_unit_test(more_facets_come_nearer),
      cmocka_unit_test(sticking_and_slip_along_a_direction_are_exact),
      cmocka_unit_test(planar_problems_are_exact),
      cmocka_unit_test(too_many_contacts_are_said_to_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
