/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The friction problems of a time step: contacts of one to three rows on few bodies, dense W that may
 * be singular. Residuals are those of saltus_friction_residual, computed from r alone.
 */
#include "saltus_test.h"

#include "solve/friction/friction_step.h"

#include <stdlib.h>

enum { UNITS = 8, ROWS = 3 * UNITS };

static uint64_t seed = 77123;

static double spread(void) {
  return 2.0 * saltus_test_random(&seed) - 1.0;
}

typedef struct setting {
  saltusi_friction_step step;
  void* block;
} setting;

static setting make(void) {
  setting s = {0};
  saltus_arena arena = saltus_arena_counting();
  saltusi_friction_step_layout(&s.step, UNITS, 3, ROWS, &arena);
  s.block = calloc(1, arena.used);
  assert_non_null(s.block);
  size_t bytes = arena.used;
  arena = saltus_arena_over(s.block, bytes);
  saltusi_friction_step_layout(&s.step, UNITS, 3, ROWS, &arena);
  return s;
}

/* W = H^T H from `freedoms` velocities: singular when there are more rows than those. */
static void random_operator(int n, int freedoms, double* W) {
  double H[ROWS * ROWS];
  for (int k = 0; k < n * freedoms; k++) {
    H[k] = spread();
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      W[i * n + j] = 0.0;
      for (int k = 0; k < freedoms; k++) {
        W[i * n + j] += H[i * freedoms + k] * H[j * freedoms + k];
      }
    }
  }
}

/* The residual of a dense problem by the public function. */
static double residual(int units, const int* first, const double* mu, const double* W,
                       const double* q, const double* r) {
  int start[UNITS + 1];
  int unit[UNITS * UNITS];
  int place[UNITS * UNITS + 1];
  double values[ROWS * ROWS];
  int n = first[units];
  int used = 0;
  place[0] = 0;
  for (int i = 0; i < units; i++) {
    start[i] = i * units;
    for (int j = 0; j < units; j++) {
      unit[i * units + j] = j;
      for (int a = first[i]; a < first[i + 1]; a++) {
        for (int c = first[j]; c < first[j + 1]; c++) {
          values[used++] = W[a * n + c];
        }
      }
      place[i * units + j + 1] = used;
    }
  }
  start[units] = units * units;
  const saltus_friction_problem problem = {
      .W = {units, first, start, unit, place, values}, .q = q, .mu = mu};
  double u[ROWS];
  return saltus_friction_residual(&problem, r, u).normalised;
}

/* 1e-10 is what the solver promises. W is definite, so every problem has a solution. */
static void random_steps_are_solved(void** state) {
  (void)state;
  setting s = make();
  double worst = 0.0;
  for (int k = 0; k < 2000; k++) {
    int units = 1 + (int)(saltus_test_random(&seed) * UNITS);
    int first[UNITS + 1] = {0};
    double mu[UNITS];
    for (int i = 0; i < units; i++) {
      first[i + 1] = first[i] + 1 + (int)(saltus_test_random(&seed) * 3.0);
      mu[i] = saltus_test_random(&seed);
    }
    int n = first[units];
    double W[ROWS * ROWS];
    double q[ROWS];
    double r[ROWS] = {0};
    random_operator(n, n, W);
    for (int a = 0; a < n; a++) {
      q[a] = spread();
    }
    assert_true(saltusi_friction_step_solve(&s.step, units, first, mu, W, q, r));
    worst = fmax(worst, residual(units, first, mu, W, q, r));
  }
  assert_true(worst <= 1e-10);
  free(s.block);
}

/* Four feet of a table have one support too many. The pressures are not unique, but their sum and
 * the deceleration are: mu m g. */
static void four_feet_share_a_load(void** state) {
  (void)state;
  setting s = make();
  static const double feet[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  const double m = 2.0, J = 0.7, height = 0.3, mu4[4] = {0.2, 0.2, 0.2, 0.2};
  int first[5] = {0, 3, 6, 9, 12};
  double H[12][6] = {{0}}; /* rows over x y z and rotations about them */
  double W[144];
  double q[12] = {0};
  double r[12] = {0};
  for (int i = 0; i < 4; i++) {
    double x = feet[i][0], y = feet[i][1], z = -height;
    double* n = H[3 * i];
    double* t = H[3 * i + 1];
    double* o = H[3 * i + 2];
    n[2] = 1, n[3] = y, n[4] = -x;
    t[0] = 1, t[4] = z, t[5] = -y;
    o[1] = 1, o[3] = -z, o[5] = x;
    q[3 * i] = -0.1;    /* g h */
    q[3 * i + 1] = 1.0; /* slides along x */
  }
  for (int a = 0; a < 12; a++) {
    for (int c = 0; c < 12; c++) {
      W[a * 12 + c] = 0.0;
      for (int k = 0; k < 6; k++) {
        W[a * 12 + c] += H[a][k] * H[c][k] / (k < 3 ? m : J);
      }
    }
  }
  assert_true(saltusi_friction_step_solve(&s.step, 4, first, mu4, W, q, r));
  double normal = r[0] + r[3] + r[6] + r[9];
  double along = r[1] + r[4] + r[7] + r[10];
  assert_near(normal, 0.1 * m, 1e-9);
  assert_near(along, -0.2 * normal, 1e-9);
  assert_near(r[2] + r[5] + r[8] + r[11], 0.0, 1e-9);
  assert_true(residual(4, first, mu4, W, q, r) <= 1e-10);
  free(s.block);
}

/* A contact that separates by itself takes no impulse, however fast it slides. */
static void separating_contacts_are_left_alone(void** state) {
  (void)state;
  setting s = make();
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double q[3] = {0.0, 5.0, -3.0};
  const double mu = 0.5;
  const int first[2] = {0, 3};
  double r[3] = {1, 1, 1};
  assert_true(saltusi_friction_step_solve(&s.step, 1, first, &mu, W, q, r));
  for (int k = 0; k < 3; k++) {
    assert_true(r[k] == 0.0);
  }
  free(s.block);
}

/* 600 planar contacts of which every one meets every other, W = 1 + c 1 1^T: all stick, and with the sum
 * S of all impulses r = -q - c S, S (1 + 1200 c) = -sum q. */
static void full_problems_of_many_contacts_fit(void** state) {
  (void)state;
  enum { MANY = 600, N = 2 * MANY };
  const double coupling = 1e-3;
  saltusi_friction_step step = {0};
  saltus_arena arena = saltus_arena_counting();
  saltusi_friction_step_layout(&step, MANY, 2, N, &arena);
  size_t bytes = arena.used;
  void* block = calloc(1, bytes);
  double* W = malloc((size_t)N * N * sizeof(double));
  assert_true(block != NULL && W != NULL);
  arena = saltus_arena_over(block, bytes);
  saltusi_friction_step_layout(&step, MANY, 2, N, &arena);
  int first[MANY + 1];
  double mu[MANY];
  double q[N];
  double r[N] = {0};
  double sum = 0.0;
  for (int i = 0; i <= MANY; i++) {
    first[i] = 2 * i;
  }
  for (int a = 0; a < N; a++) {
    mu[a / 2] = 0.8;
    q[a] = a % 2 == 0 ? -1.0 : 0.1 * (a / 2 % 3);
    sum -= q[a];
    for (int c = 0; c < N; c++) {
      W[a * N + c] = coupling + (a == c ? 1.0 : 0.0);
    }
  }
  sum /= 1.0 + coupling * N;
  assert_true(saltusi_friction_step_solve(&step, MANY, first, mu, W, q, r));
  for (int a = 0; a < N; a++) {
    assert_near(r[a], -q[a] - coupling * sum, 1e-10);
  }
  free(block);
  free(W);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_steps_are_solved),
      cmocka_unit_test(four_feet_share_a_load),
      cmocka_unit_test(separating_contacts_are_left_alone),
      cmocka_unit_test(full_problems_of_many_contacts_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
