/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contact problems with cones that are not circular: random products of balls and elliptic cones, verified by laws that
 * are written out here; problems that are rejected.
 */
#include "saltus_test.h"

#include "saltus/cone.h"
#include "saltus/friction_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define M_PI_ 3.14159265358979323846

enum { UNITS = 6, ROWS = UNITS * SALTUS_CONE_ROWS };

typedef struct problem {
  saltus_cone cone[UNITS];
  int offset[UNITS + 1];
  double W[ROWS * ROWS], q[ROWS];
  saltus_cone_problem view;
} problem;

static uint64_t seed;

static double uniform(double low, double high) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void) {
  double sum = 0.0;
  for (int k = 0; k < 12; k++) {
    sum += uniform(-0.5, 0.5);
  }
  return sum;
}

/* W = H^T H of rows H in a space with a few more dimensions than rows; rows of rolling are 1 / length of the others. */
static void random_matrix(problem* p, int rows, const double* unit) {
  static double H[ROWS][2 * ROWS];
  const int n = rows + 2;
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < n; k++) {
      H[i][k] = unit[i] * normal();
    }
  }
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < rows; j++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++) {
        sum += H[i][k] * H[j][k];
      }
      p->W[i * rows + j] = sum;
    }
    p->q[i] = unit[i] * normal();
  }
}

static void view(problem* p, int units) {
  p->view = (saltus_cone_problem){.units = units,
                                  .rows = p->offset[units],
                                  .cone = p->cone,
                                  .offset = p->offset,
                                  .W = p->W,
                                  .q = p->q};
}

/* Slip, rolling and drilling of lengths from 1 mm to 1 m. */
static void random_discs(problem* p, int units) {
  double unit[ROWS];
  p->offset[0] = 0;
  for (int i = 0; i < units; i++) {
    const double length = pow(10.0, uniform(-3.0, 0.0));
    const saltus_cone cone = {
        .balls = 3,
        .rows = {2, 2, 1},
        .mu = {uniform(0.02, 1.2), length * uniform(0.01, 0.5), length * uniform(0.01, 0.5)}};
    const int at = p->offset[i];
    p->cone[i] = cone;
    p->offset[i + 1] = at + 6;
    for (int k = 0; k < 6; k++) {
      unit[at + k] = k < 3 ? 1.0 : 1.0 / length;
    }
  }
  random_matrix(p, p->offset[units], unit);
  view(p, units);
}

static double norm(int n, const double* x) {
  double sum = 0.0;
  for (int k = 0; k < n; k++) {
    sum += x[k] * x[k];
  }
  return sqrt(sum);
}

/* Largest violation of the law, written out: impulses in the cone, velocities u + sum mu |u_k| n in its dual, and their
 * product; over the size of q and of the impulses that go with it. */
static double violation(const problem* p, const double* r) {
  const saltus_cone_problem* v = &p->view;
  double worst = 0.0, scale_u = norm(v->rows, v->q);
  for (int i = 0; i < v->units; i++) {
    const saltus_cone* cone = &v->cone[i];
    const int first = v->offset[i];
    const int rows = v->offset[i + 1] - first;
    double u[6], product = 0.0, shift = 0.0;
    for (int a = 0; a < rows; a++) {
      u[a] = v->q[first + a];
      for (int j = 0; j < v->rows; j++) {
        u[a] += v->W[(first + a) * v->rows + j] * r[j];
      }
    }
    const double* x = r + first;
    double out = fmax(0.0, -x[0]);
    int at = 1;
    for (int k = 0; k < cone->balls; at += cone->rows[k++]) {
      double size = norm(cone->rows[k], x + at);
      out = fmax(out, (size - cone->mu[k] * x[0]) / fmax(cone->mu[k], 1e-3));
      shift += cone->mu[k] * norm(cone->rows[k], u + at);
      for (int a = 0; a < cone->rows[k]; a++) {
        product += x[at + a] * u[at + a];
      }
    }
    const double W_NN = v->W[first * (v->rows + 1)];
    product += x[0] * (u[0] + shift);
    const double size_r = fmax(fabs(x[0]), scale_u / W_NN);
    worst = fmax(worst, out * W_NN / scale_u);
    worst = fmax(worst, fmax(0.0, -u[0]) / scale_u);
    worst = fmax(worst, fabs(product) / (scale_u * size_r));
  }
  return worst;
}

/* `count` random problems of `make` to 1e-11; the largest violation. */
static double solve_many(int count, void (*make)(problem*, int), int* unsolved) {
  saltus_cone_solver* solver;
  static problem p;
  double r[ROWS], u[ROWS], worst = 0.0;
  *unsolved = 0;
  assert_int_equal(saltus_cone_solver_create(UNITS, ROWS, NULL, &solver), SALTUS_OK);
  for (int k = 0; k < count; k++) {
    make(&p, 1 + k % (saltus_test_long() ? UNITS : 4));
    memset(r, 0, sizeof r);
    saltus_solve_result result;
    assert_int_equal(saltus_cone_solve(solver, &p.view, 1e-11, r, u, &result), SALTUS_OK);
    const bool solved = result.outcome == SALTUS_SOLVED;
    *unsolved += !solved;
    assert_true(!solved || result.residual.normalised <= 1e-11);
    worst = solved ? fmax(worst, violation(&p, r)) : worst;
  }
  saltus_cone_solver_destroy(solver);
  return worst;
}

static int many(void) {
  return saltus_test_long() ? 100000 : 10000;
}

static void random_problems_with_products_of_discs_are_solved(void** state) {
  (void)state;
  int unsolved = 0;
  seed = 1;
  assert_true(solve_many(many(), random_discs, &unsolved) <= 1e-10);
  assert_int_equal(unsolved, 0);
}

/* Slip and spin in one ellipsoid: a ball of three rows. */
static void random_ellipsoids(problem* p, int units) {
  double unit[ROWS];
  p->offset[0] = 0;
  for (int i = 0; i < units; i++) {
    p->cone[i] = (saltus_cone){.balls = 1, .rows = {3}, .mu = {uniform(0.02, 1.2)}};
    p->offset[i + 1] = p->offset[i] + 4;
  }
  for (int k = 0; k < p->offset[units]; k++) {
    unit[k] = 1.0;
  }
  random_matrix(p, p->offset[units], unit);
  view(p, units);
}

static void random_problems_with_ellipsoids_are_solved(void** state) {
  (void)state;
  int unsolved = 0;
  seed = 2;
  assert_true(solve_many(many() / 4, random_ellipsoids, &unsolved) <= 1e-10);
  assert_int_equal(unsolved, 0);
}

/* Elliptic cones: |(r_1 / a, r_2 / b)| <= r_N; sliding r_T = -r_N N^2 u / |M^-1 N^2 u|. */
typedef struct elliptic {
  problem p;
  double mu[UNITS][2], nu[UNITS][2];
  double W[ROWS * ROWS], q[ROWS]; /* scaled: R W C', R q */
  int start[UNITS + 1], unit[UNITS * UNITS], place[UNITS * UNITS + 1];
  double blocks[ROWS * ROWS], ones[UNITS];
} elliptic;

static void random_elliptic(elliptic* e, int units, bool associated) {
  double unit[ROWS], row[ROWS], column[ROWS];
  for (int i = 0; i <= units; i++) {
    e->p.offset[i] = 3 * i;
  }
  const int n = 3 * units;
  for (int i = 0; i < units; i++) {
    e->p.cone[i] = (saltus_cone){.balls = 1, .rows = {2}, .mu = {1.0}};
    for (int k = 0; k < 3; k++) {
      const double mu = uniform(0.05, 1.2), nu = associated ? mu : uniform(0.05, 1.2);
      unit[3 * i + k] = 1.0;
      column[3 * i + k] = k == 0 ? 1.0 : mu;
      row[3 * i + k] = k == 0 ? 1.0 : nu * nu / mu;
      if (k > 0) {
        e->mu[i][k - 1] = mu;
        e->nu[i][k - 1] = nu;
      }
    }
  }
  random_matrix(&e->p, n, unit);
  for (int i = 0; i < n; i++) {
    e->q[i] = row[i] * e->p.q[i];
    for (int j = 0; j < n; j++) {
      e->W[i * n + j] = row[i] * e->p.W[i * n + j] * column[j];
    }
  }
  view(&e->p, units);
}

/* Largest violation of the law of elliptic cones by impulses r, unscaled, over sizes as above. */
static double elliptic_violation(const elliptic* e, int units, const double* r) {
  const int n = 3 * units;
  const double scale = norm(n, e->p.q);
  double worst = 0.0;
  for (int i = 0; i < units; i++) {
    double u[3];
    for (int k = 0; k < 3; k++) {
      u[k] = e->p.q[3 * i + k];
      for (int j = 0; j < n; j++) {
        u[k] += e->p.W[(3 * i + k) * n + j] * r[j];
      }
    }
    const double* x = r + 3 * i;
    const double W_NN = e->p.W[3 * i * (n + 1)];
    const double size = hypot(x[1] / e->mu[i][0], x[2] / e->mu[i][1]);
    const double large = fmax(x[0], scale / W_NN);
    worst = fmax(worst, fmax(fmax(-x[0], size - x[0]) / large, -u[0] / scale));
    worst = fmax(worst, fabs(x[0] * u[0]) / (scale * large));
    const double d[2] = {e->nu[i][0] * e->nu[i][0] * u[1], e->nu[i][1] * e->nu[i][1] * u[2]};
    const double along = hypot(d[0] / e->mu[i][0], d[1] / e->mu[i][1]);
    for (int k = 0; k < 2; k++) { /* r_T |M^-1 N^2 u| + r_N N^2 u = 0, zero both where it sticks */
      worst = fmax(worst, fabs(x[1 + k] * along + x[0] * d[k]) / (scale * large));
    }
  }
  return worst;
}

static void unscale(const elliptic* e, int units, double* r) {
  for (int i = 0; i < units; i++) {
    r[3 * i + 1] *= e->mu[i][0];
    r[3 * i + 2] *= e->mu[i][1];
  }
}

/* The scaled problem as one of circular cones with mu = 1. */
static saltus_friction_problem circular(elliptic* e, int units) {
  const int n = 3 * units;
  for (int i = 0, at = 0; i < units; i++) {
    e->start[i] = i * units;
    e->ones[i] = 1.0;
    for (int j = 0; j < units; j++, at++) {
      e->unit[at] = j;
      e->place[at] = 9 * at;
      for (int k = 0; k < 9; k++) {
        e->blocks[9 * at + k] = e->W[(3 * i + k / 3) * n + 3 * j + k % 3];
      }
    }
  }
  e->start[units] = units * units;
  e->place[units * units] = 9 * units * units;
  return (saltus_friction_problem){
      .W = {units, e->p.offset, e->start, e->unit, e->place, e->blocks}, .q = e->q, .mu = e->ones};
}

/* Memory that holds something: a byte, which for doubles is a number or none. */
static void* filled(size_t bytes, void* user) {
  const saltus_allocator given = saltus_allocator_default();
  void* block = given.alloc(bytes, given.user);
  if (block != NULL) {
    memset(block, *(const int*)user, bytes);
  }
  return block;
}

static void give_back(void* block, size_t bytes, void* user) {
  (void)user;
  const saltus_allocator given = saltus_allocator_default();
  given.free(block, bytes, given.user);
}

/* What a solver finds does not depend on what its memory held before: zeros or what is not a number. */
static void what_memory_held_does_not_matter(void** state) {
  (void)state;
  static elliptic e;
  for (int i = 0; i < saltus_friction_solver_count(); i++) {
    seed = 3;
    for (int k = 0; k < 40; k++) {
      const int units = 1 + k % 4;
      random_elliptic(&e, units, true);
      const saltus_friction_problem round = circular(&e, units);
      double r[2][ROWS] = {{0.0}}, u[ROWS];
      saltus_solve_result result[2];
      for (int with = 0; with < 2; with++) {
        int byte = with == 0 ? 0 : 0xff;
        const saltus_allocator memory = {filled, give_back, &byte};
        const saltus_solver_def def = {.solver = saltus_friction_solver_at(i)->name,
                                       .allocator = &memory};
        saltus_friction_solver* solver;
        assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
        assert_int_equal(saltus_friction_solve(solver, &round, 1e-11, r[with], u, &result[with]),
                         SALTUS_OK);
        saltus_friction_solver_destroy(solver);
      }
      assert_int_equal(result[0].outcome, result[1].outcome);
      assert_memory_equal(r[0], r[1], sizeof r[0]);
    }
  }
}

static void random_elliptic_cones_are_circular_ones_of_scaled_rows(void** state) {
  (void)state;
  static elliptic e;
  double r[ROWS], u[ROWS], worst = 0.0;
  int unsolved = 0;
  saltus_friction_solver* solver;
  const saltus_solver_def def = {.solver = "auto"};
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  seed = 3;
  for (int k = 0; k < many(); k++) {
    const int units = 1 + k % 4;
    random_elliptic(&e, units, true);
    const saltus_friction_problem round = circular(&e, units);
    saltus_solve_result result;
    memset(r, 0, sizeof r);
    assert_int_equal(saltus_friction_solve(solver, &round, 1e-11, r, u, &result), SALTUS_OK);
    unsolved += result.outcome != SALTUS_SOLVED;
    unscale(&e, units, r);
    worst = fmax(worst, elliptic_violation(&e, units, r));
  }
  saltus_friction_solver_destroy(solver);
  assert_int_equal(unsolved, 0);
  assert_true(worst <= 1e-10);
}

/* Sliding along another direction than that of largest dissipation: solved, or it is said that it was not. */
static void elliptic_cones_that_are_not_associated_are_solved_or_refused(void** state) {
  (void)state;
  static elliptic e;
  double r[ROWS], u[ROWS], worst = 0.0;
  int unsolved = 0;
  saltus_cone_solver* solver;
  assert_int_equal(saltus_cone_solver_create(UNITS, ROWS, NULL, &solver), SALTUS_OK);
  seed = 4;
  for (int k = 0; k < many() / 4; k++) {
    const int units = 1 + k % 4;
    random_elliptic(&e, units, false);
    e.p.view.W = e.W;
    e.p.view.q = e.q;
    saltus_solve_result result;
    memset(r, 0, sizeof r);
    assert_int_equal(saltus_cone_solve(solver, &e.p.view, 1e-11, r, u, &result), SALTUS_OK);
    const bool solved = result.outcome == SALTUS_SOLVED;
    unsolved += !solved;
    unscale(&e, units, r);
    const double miss = elliptic_violation(&e, units, r);
    worst = solved ? fmax(worst, miss) : worst;
    assert_true(solved || result.residual.normalised > 1e-11);
  }
  saltus_cone_solver_destroy(solver);
  assert_true(worst <= 1e-8); /* nu^2 / mu, by which velocities were divided, is down to 1 / 480 */
  assert_true(unsolved <= many() / 400); /* 1 % of them */
}

/* A sphere on the floor, m = 1, R = 0.1, pushed down by 1 N s and sideways by s; rolling arm rho = 0.02. Rows: normal,
 * slip u = v - R w, rolling w. It rolls without slip while the drive is above rho / R of the load. */
static void a_pushed_sphere_rolls_against_its_resistance(void** state) {
  (void)state;
  const double R = 0.1, J = 0.4 * R * R, s = 0.25, rho = 0.02, mu = 0.3;
  const double W[9] = {1, 0, 0, 0, 1 + R * R / J, -R / J, 0, -R / J, 1 / J};
  const double q[3] = {-1, s, 0};
  const saltus_cone cone = {.balls = 2, .rows = {1, 1}, .mu = {mu, rho}};
  const int offset[2] = {0, 3};
  const saltus_cone_problem p = {1, 3, &cone, offset, W, q};
  double r[3] = {0}, u[3];
  saltus_cone_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_cone_solver_create(1, 3, NULL, &solver), SALTUS_OK);
  assert_int_equal(saltus_cone_solve(solver, &p, 1e-14, r, u, &result), SALTUS_OK);
  saltus_cone_solver_destroy(solver);
  /* v = s + r_T, J w = -R r_T - rho, v = R w: r_T (1 + R^2 / J) = -s - rho R / J */
  const double r_T = -(s + rho * R / J) / (1 + R * R / J);
  assert_near(r[0], 1.0, 1e-14);
  assert_near(r[1], r_T, 1e-14);
  assert_near(r[2], -rho, 1e-14);
  assert_near(u[2], (s + r_T) / R, 1e-13);
}

/* Dry friction of a wheel: J w' = M, limit h c; held while the torque is below it. */
static void a_dry_row_holds_up_to_its_limit(void** state) {
  (void)state;
  const double W[1] = {2.0};
  const saltus_cone cone = {.balls = 1, .rows = {1}, .held = {0.5}, .dry = true};
  const int offset[2] = {0, 1};
  saltus_cone_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_cone_solver_create(1, 1, NULL, &solver), SALTUS_OK);
  const double drive[] = {0.6, -0.999, 3.0}, held[] = {-0.3, 0.4995, -0.5}, left[] = {0, 0, 2};
  for (int k = 0; k < 3; k++) {
    const saltus_cone_problem p = {1, 1, &cone, offset, W, &drive[k]};
    double r = 0.0, u = 0.0;
    assert_int_equal(saltus_cone_solve(solver, &p, 1e-14, &r, &u, &result), SALTUS_OK);
    assert_near(r, held[k], 1e-15);
    assert_near(u, left[k], 1e-15);
  }
  /* a linkage at its dead centre prescribes the velocity of the second row */
  const saltus_cone cones[2] = {cone, {.balls = 1, .rows = {1}, .held = {0.2}, .dry = true}};
  const double W2[4] = {2.0, 0.0, 0.0, 0.0}, q2[2] = {0.6, -3e-5};
  const int offset2[3] = {0, 1, 2};
  const saltus_cone_problem dead = {2, 2, cones, offset2, W2, q2};
  saltus_cone_solver* two;
  double r2[2] = {0}, u2[2];
  assert_int_equal(saltus_cone_solver_create(2, 2, NULL, &two), SALTUS_OK);
  assert_int_equal(saltus_cone_solve(two, &dead, 1e-14, r2, u2, &result), SALTUS_OK);
  saltus_cone_solver_destroy(two);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  assert_near(r2[0], -0.3, 1e-15);
  assert_near(r2[1], 0.2, 1e-15);
  assert_near(u2[1], -3e-5, 1e-19);
  /* four rows in a ball there are not */
  const saltus_cone wrong = {.balls = 1, .rows = {4}, .dry = true};
  const saltus_cone_problem p = {1, 1, &wrong, offset, W, drive};
  double r = 0.0, u = 0.0;
  assert_int_equal(saltus_cone_solve(solver, &p, 1e-14, &r, &u, &result), SALTUS_ERR_RANGE);
  saltus_cone_solver_destroy(solver);
}

/* ---- redundant rows -------------------------------------------------------------------------------- */

/* A machine with few degrees of freedom: W = H H^T of rows H in their space. Unilateral rows, and with `rough` planar contacts, of
 * which impacts without friction have e = 0.4 and v- = w; dry rows with limits of the size of the impulses. */
static void random_machine(problem* p, int freedoms, int units, bool rough) {
  double H[3 * UNITS][4], v[4], w[4];
  for (int k = 0; k < freedoms; k++) {
    v[k] = normal();
    w[k] = normal();
  }
  p->offset[0] = 0;
  for (int i = 0; i < units; i++) {
    const bool dry = i % 3 == 2, planar = rough && !dry;
    const int at = p->offset[i], rows = planar ? 2 : 1;
    p->cone[i] = (saltus_cone){.balls = planar || dry ? 1 : 0, .rows = {1}, .dry = dry};
    p->cone[i].mu[0] = planar ? uniform(0.05, 0.8) : 0.0;
    p->cone[i].held[0] = dry ? pow(10.0, uniform(-3.0, 0.0)) : 0.0;
    p->offset[i + 1] = at + rows;
    for (int a = at; a < at + rows; a++) {
      p->q[a] = 0.0;
      for (int k = 0; k < freedoms; k++) {
        H[a][k] = normal();
        p->q[a] += H[a][k] * (v[k] + (rough || dry ? 0.0 : 0.4 * w[k]));
      }
    }
  }
  const int n = p->offset[units];
  for (int i = 0; i < n * n; i++) {
    p->W[i] = 0.0;
    for (int k = 0; k < freedoms; k++) {
      p->W[i] += H[i / n][k] * H[i % n][k];
    }
  }
  view(p, units);
}

/* The largest violation of 0 <= r_N perp u_N >= 0 and of friction in the sense of maximum dissipation, in velocities. */
static double machine_violation(const problem* p, const double* r) {
  const saltus_cone_problem* v = &p->view;
  double worst = 0.0;
  for (int i = 0; i < v->units; i++) {
    const int at = v->offset[i], rows = v->offset[i + 1] - at, n = v->rows;
    double u[2];
    for (int a = 0; a < rows; a++) {
      u[a] = v->q[at + a];
      for (int j = 0; j < n; j++) {
        u[a] += v->W[(at + a) * n + j] * r[j];
      }
    }
    const bool dry = v->cone[i].dry;
    if (!dry) {
      worst = fmax(worst, fabs(fmin(u[0], v->W[at * (n + 1)] * r[at])));
    }
    if (v->cone[i].balls > 0) {
      const int t = at + rows - 1;
      const double bound = dry ? v->cone[i].held[0] : v->cone[i].mu[0] * fmax(r[at], 0.0);
      const double W_TT = v->W[t * (n + 1)], slip = u[rows - 1];
      const double target = fmax(-bound, fmin(bound, r[t] - slip / W_TT));
      worst = fmax(worst, W_TT * fabs(r[t] - target));
    }
  }
  return worst;
}

static void redundant_rows_of_machines_are_solved(void** state) {
  (void)state;
  static problem p;
  saltus_cone_solver* solver;
  double worst = 0.0;
  int unsolved = 0;
  seed = 11;
  assert_int_equal(saltus_cone_solver_create(UNITS, ROWS, NULL, &solver), SALTUS_OK);
  for (int draw = 0; draw < saltus_test_draws(3000); draw++) {
    double r[ROWS] = {0}, u[ROWS];
    saltus_solve_result result;
    random_machine(&p, 1 + draw % 4, 2 + draw % (UNITS - 1), draw % 2 == 1);
    assert_int_equal(saltus_cone_solve(solver, &p.view, 1e-10, r, u, &result), SALTUS_OK);
    unsolved += result.outcome != SALTUS_SOLVED;
    if (result.outcome == SALTUS_SOLVED) {
      worst = fmax(worst, machine_violation(&p, r) / norm(p.view.rows, p.q));
    }
  }
  saltus_cone_solver_destroy(solver);
  assert_int_equal(unsolved, 0);
  assert_true(worst <= 1e-10);
}

/* Patch of radius 1 with mu N = 1 (closed forms against quadrature to 1e-14; docs/theory/problems.md, 12). */
static void the_patch_has_the_numbers_of_quadrature(void** state) {
  (void)state;
  static const double table[][5] = {
      {0.25, 0.2480313097610, 0.6357861236083, 0.2899223689104, 0.5530959478320},
      {0.5, 0.4838437556301, 0.5477483547722, 0.5522330836388, 0.4555922940020},
      {0.9, 0.7957593088999, 0.3332116907332, 0.8455792976678, 0.2568472887543},
      {1.0, 8.0 / (3.0 * M_PI_), 8.0 / (9.0 * M_PI_), 9.0 * M_PI_ / 32.0, 9.0 * M_PI_ / 128.0},
      {1.5, 0.9408193754989, 0.1737981055252, 0.9531183873226, 0.1381376589898},
      {5.0, 0.9949746819136, 0.0501685735698, 0.9959826635763, 0.0401154462210}};
  static const saltus_patch patches[] = {SALTUS_PATCH_UNIFORM, SALTUS_PATCH_HERTZ};
  for (int p = 0; p < 2; p++) {
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
      double f = 0.0, m = 0.0;
      saltus_patch_load(patches[p], table[k][0], &f, &m);
      assert_near(f, table[k][1 + 2 * p], 1e-13);
      assert_near(m, table[k][2 + 2 * p], 1e-13);
      /* a point of the boundary, and inside and outside of it */
      assert_near(saltus_patch_gauge(patches[p], f, m), 1.0, 1e-11);
      assert_near(saltus_patch_gauge(patches[p], 0.5 * f, 0.5 * m), 0.5, 1e-11);
    }
    /* both sides of where series begin */
    const double seams[] = {0.01, 4.0};
    for (int k = 0; k < 2; k++) {
      double f[2], m[2];
      saltus_patch_load(patches[p], seams[k] * (1.0 - 1e-14), &f[0], &m[0]);
      saltus_patch_load(patches[p], seams[k] * (1.0 + 1e-14), &f[1], &m[1]);
      assert_near(f[0], f[1], 4e-12);
      assert_near(m[0], m[1], 4e-12);
    }
    assert_near(saltus_patch_gauge(patches[p], 0.0, saltus_patch_spin(patches[p])), 1.0, 1e-15);
    assert_near(saltus_patch_gauge(patches[p], 0.25, 0.0), 0.25, 1e-15);
  }
}

/* Where the ratio of slip to spin stays, f = (m a^2 / J) d m: a disc with J = m a^2 / 2 on a uniform patch, a ball on Hertz'
 * one. What the ellipsoid dissipates beyond the patch. */
static void slip_and_spin_end_at_their_ratio(void** state) {
  (void)state;
  double f = 0.0, m = 0.0;
  saltus_patch_load(SALTUS_PATCH_UNIFORM, 0.653001789206, &f, &m);
  assert_near(f, 0.61603341321, 1e-11);
  assert_near(m, 0.471693510947, 1e-12);
  assert_near(f, 2.0 * 0.653001789206 * m, 3e-12);
  saltus_patch_load(SALTUS_PATCH_HERTZ, 0.537779149857, &f, &m);
  assert_near(f, 2.5 * 0.537779149857 * m, 3e-12);
  for (double d = 1e-3; d < 1e3; d *= 1.01) { /* J = m a^2 / 2 on Hertz' patch: slip dies faster */
    saltus_patch_load(SALTUS_PATCH_HERTZ, d, &f, &m);
    assert_true(f > 2.0 * d * m);
  }
  static const saltus_patch patches[] = {SALTUS_PATCH_UNIFORM, SALTUS_PATCH_HERTZ};
  static const double beyond[] = {0.0705, 0.0639};
  for (int p = 0; p < 2; p++) {
    double worst = 0.0, least = 0.0;
    for (double d = 1e-3; d < 1e3; d *= 1.002) {
      saltus_patch_load(patches[p], d, &f, &m);
      double part = hypot(d, saltus_patch_spin(patches[p])) / (d * f + m) - 1.0;
      worst = fmax(worst, part);
      least = fmin(least, part);
    }
    /* bounds to three digits */
    assert_true(worst <= beyond[p] && worst > beyond[p] - 1e-4 && least >= -1e-12);
  }
}

/* Largest errors of rational approximations, as printed for them: why the coupled law is taken as it is. p of forces and q
 * of moments are those that make the errors of the second kind smallest. */
static void rational_forms_of_the_patch_miss_by_their_errors(void** state) {
  (void)state;
  static const struct {
    saltus_patch patch;
    double slope, beta, p, q, error[4];
  } cases[] = {
      {SALTUS_PATCH_UNIFORM, 1.0, 8.0 / 3.0, 0.3629, 0.6814, {0.358, 0.400, 0.066, 0.075}},
      {SALTUS_PATCH_HERTZ,
       3.0 * M_PI_ / 8.0,
       15.0 * M_PI_ / 16.0,
       0.3324,
       0.7791,
       {0.344, 0.392, 0.059, 0.069}},
  };
  for (int c = 0; c < 2; c++) {
    const double M0 = saltus_patch_spin(cases[c].patch), s = cases[c].slope, b = cases[c].beta;
    const double p = cases[c].p, q = cases[c].q;
    double worst[4] = {0.0};
    for (double d = 1e-3; d < 1e4; d *= 1.005) {
      double f = 0.0, m = 0.0;
      saltus_patch_load(cases[c].patch, d, &f, &m);
      const double found[4] = {d / (d + 1.0 / s) - f, 1.0 / (1.0 + b * d) - m / M0,
                               (d * d + p * d) / (d * d + p * d + p / s) - f,
                               (1.0 + q * d) / (1.0 + q * d + q * b * d * d) - m / M0};
      for (int k = 0; k < 4; k++) {
        worst[k] = fmax(worst[k], fabs(found[k]));
      }
    }
    for (int k = 0; k < 4; k++) {
      assert_near(worst[k], cases[c].error[k], 1e-3);
    }
  }
}

static void curves_fall_as_they_say(void** state) {
  (void)state;
  saltus_friction_law law = {.curve = SALTUS_CURVE_STRIBECK, .kinetic = 0.5, .speed = 0.1};
  double slope = 0.0;
  assert_near(saltus_friction_ratio(&law, 1.0, 0.1, &slope), 0.5 + 0.5 * exp(-1.0), 1e-15);
  assert_near(slope, -5.0 * exp(-1.0), 1e-14);
  law.exponent = 2.0;
  assert_near(saltus_friction_ratio(&law, 1.0, 0.2, &slope), 0.5 + 0.5 * exp(-4.0), 1e-15);
  assert_near(slope, -20.0 * exp(-4.0), 1e-14);
  law.curve = SALTUS_CURVE_KINETIC;
  assert_near(saltus_friction_ratio(&law, 2.0, 3.0, &slope), 0.25, 0.0);
  assert_near(saltus_friction_ratio(NULL, 2.0, 3.0, &slope), 1.0, 0.0);
}

/* Elliptic, straight against the slip: as large as the ellipse allows in that direction. */
static void forces_of_sliding_are_those_of_the_formula(void** state) {
  (void)state;
  const saltus_friction_law straight = {.across = 0.2, .sliding = {1.0, 1.0}, .viscous = 0.5};
  const saltus_sliding slip = {.normal = 10.0, .tangents = 2, .slip = {0.6, 0.8}};
  double F[2], M = 0.0;
  saltus_friction_slide(&straight, 0.4, &slip, F, &M);
  const double size = 10.0 / hypot(0.6 / 0.4, 0.8 / 0.2);
  assert_near(F[0], -size * 0.6 - 0.5 * 0.6, 1e-14);
  assert_near(F[1], -size * 0.8 - 0.5 * 0.8, 1e-14);
  const saltus_friction_law patch = {.patch = SALTUS_PATCH_HERTZ, .radius = 2.0};
  const saltus_sliding both = {10.0, 2, {1.0, 0.0}, -1.0}; /* d = 1/2 */
  saltus_friction_slide(&patch, 0.4, &both, F, &M);
  assert_near(F[0], -4.0 * 0.5522330836388, 1e-12);
  assert_near(M, 8.0 * 0.4555922940020, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_problems_with_products_of_discs_are_solved),
      cmocka_unit_test(random_problems_with_ellipsoids_are_solved),
      cmocka_unit_test(what_memory_held_does_not_matter),
      cmocka_unit_test(random_elliptic_cones_are_circular_ones_of_scaled_rows),
      cmocka_unit_test(elliptic_cones_that_are_not_associated_are_solved_or_refused),
      cmocka_unit_test(a_pushed_sphere_rolls_against_its_resistance),
      cmocka_unit_test(a_dry_row_holds_up_to_its_limit),
      cmocka_unit_test(redundant_rows_of_machines_are_solved),
      cmocka_unit_test(the_patch_has_the_numbers_of_quadrature),
      cmocka_unit_test(slip_and_spin_end_at_their_ratio),
      cmocka_unit_test(rational_forms_of_the_patch_miss_by_their_errors),
      cmocka_unit_test(curves_fall_as_they_say),
      cmocka_unit_test(forces_of_sliding_are_those_of_the_formula),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
