/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every friction solver must satisfy; a new one is covered by being registered. Whatever a
 * solver says, the residual is recomputed with saltus_friction_residual.
 *
 * Published problems are taken from the folder SALTUS_PROBLEMS, by default
 * ../shared/data/contact-problems beside the source tree; without it those tests are skipped.
 */
#include "saltus_test.h"

#include "saltus/contact.h"
#include "saltus/problem_file.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNITS = 24, ROWS = 3 * UNITS, FREEDOMS = 24 };

/* A problem made from a mechanical system: W = G M^-1 G^T, q = G v. */
typedef struct made {
  saltus_friction_problem problem;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS * UNITS], place[UNITS * UNITS + 1];
  double values[ROWS * ROWS], q[ROWS], mu[UNITS];
  unsigned char bilateral[UNITS];
  int freedoms, rows;
  double G[ROWS][FREEDOMS]; /* row: direction of one relative velocity */
  double mass[FREEDOMS], v[FREEDOMS];
} made;

static void add_unit(made* m, int rows, double mu, bool bilateral) {
  int i = m->problem.W.units++;
  m->mu[i] = mu;
  m->bilateral[i] = bilateral ? 1 : 0;
  m->offset[i + 1] = m->offset[i] + rows;
  m->rows = m->offset[i + 1];
}

static double entry(const made* m, int a, int b) {
  double sum = 0.0;
  for (int k = 0; k < m->freedoms; k++) {
    sum += m->G[a][k] * m->G[b][k] / m->mass[k];
  }
  return sum;
}

/* Blocks between units that share no freedom are left out. */
static void finish(made* m) {
  saltus_block_matrix* W = &m->problem.W;
  int blocks = 0;
  int used = 0;
  for (int i = 0; i < W->units; i++) {
    m->start[i] = blocks;
    for (int j = 0; j < W->units; j++) {
      int first = used;
      bool zero = i != j;
      for (int a = m->offset[i]; a < m->offset[i + 1]; a++) {
        for (int b = m->offset[j]; b < m->offset[j + 1]; b++) {
          m->values[used] = entry(m, a, b);
          zero = zero && m->values[used] == 0.0;
          used++;
        }
      }
      if (zero) {
        used = first;
        continue;
      }
      m->place[blocks] = first;
      m->unit[blocks++] = j;
    }
  }
  m->start[W->units] = blocks;
  m->place[blocks] = used;
  for (int a = 0; a < m->rows; a++) {
    m->q[a] = 0.0;
    for (int k = 0; k < m->freedoms; k++) {
      m->q[a] += m->G[a][k] * m->v[k];
    }
  }
  *W = (saltus_block_matrix){W->units, m->offset, m->start, m->unit, m->place, m->values};
  m->problem.q = m->q;
  m->problem.mu = m->mu;
  m->problem.bilateral = m->bilateral;
}

static saltus_friction_solver* create(const char* name) {
  saltus_solver_def def = {.solver = name};
  saltus_friction_solver* solver;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  return solver;
}

/* Solves from zero and checks that the outcome is the truth. */
static saltus_solve_result solve(const char* name, const saltus_friction_problem* problem,
                                 double tol, double* r) {
  static double u[ROWS];
  saltus_friction_solver* solver = create(name);
  saltus_solve_result result;
  memset(r, 0, (size_t)problem->W.offset[problem->W.units] * sizeof(double));
  assert_int_equal(saltus_friction_solve(solver, problem, tol, r, u, &result), SALTUS_OK);
  saltus_friction_solver_destroy(solver);
  saltus_residual again = saltus_friction_residual(problem, r, u);
  assert_true(isfinite(again.normalised));
  assert_true((result.outcome == SALTUS_SOLVED) == (again.normalised <= tol));
  assert_near(result.residual.normalised, again.normalised, 1e-15 + 1e-6 * again.normalised);
  return result;
}

/* Tolerance that a solver has to reach, 0: none. Newton's method converges locally only, on problems with independent
 * rows. */
static double promised(const char* name, bool redundant) {
  return strcmp(name, "semismooth-newton") == 0 && redundant ? 0.0 : 1e-11;
}

static void solve_with_all(const made* m, bool redundant, const double* expected, double* last) {
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    const char* name = saltus_friction_solver_at(k)->name;
    double tol = promised(name, redundant);
    double r[ROWS];
    saltus_solve_result result = solve(name, &m->problem, tol > 0.0 ? tol : 1e-8, r);
    if (tol > 0.0 && result.outcome != SALTUS_SOLVED) {
      fail_msg("%s: residual %g, %s", name, result.residual.normalised, result.stages);
    }
    for (int a = 0; a < m->rows && expected != NULL && result.outcome == SALTUS_SOLVED; a++) {
      assert_near(r[a], expected[a], 1e3 * (tol > 0.0 ? tol : 1e-8));
    }
    if (k == 0) {
      memcpy(last, r, (size_t)m->rows * sizeof(double));
    }
  }
}

/* A mass on the floor, pushed sideways: W = I / m. */
static made block_on_floor(int d, double mu, double side, double forward) {
  made m = {.freedoms = d};
  for (int k = 0; k < d; k++) {
    m.mass[k] = 2.0;
    m.G[k][k] = 1.0;
  }
  m.v[0] = -1.0;
  m.v[1] = side;
  m.v[2] = forward;
  add_unit(&m, d, mu, false);
  return m;
}

static void a_block_sticks_where_friction_holds_it(void** state) {
  (void)state;
  double r[ROWS];
  for (int d = 2; d <= 3; d++) {
    made m = block_on_floor(d, 0.5, 0.3, 0.2);
    finish(&m);
    solve_with_all(&m, false, (double[]){2.0, -0.6, -0.4}, r);
  }
}

static void a_block_slides_against_its_velocity(void** state) {
  (void)state;
  double r[ROWS];
  made m = block_on_floor(3, 0.5, 3.0, 4.0);
  finish(&m);
  solve_with_all(&m, false, (double[]){2.0, -0.6, -0.8}, r);
  m = block_on_floor(2, 0.5, 3.0, 0.0);
  finish(&m);
  solve_with_all(&m, false, (double[]){2.0, -1.0}, r);
}

/* Masses 1 .. n on top of each other, contacts of one row: each carries what is above it. */
static void a_frictionless_stack_carries_its_weight(void** state) {
  (void)state;
  enum { N = 6 };
  made m = {.freedoms = N};
  double expected[N];
  double above = 0.0;
  for (int k = 0; k < N; k++) {
    m.mass[k] = k + 1.0;
    m.v[k] = -1.0;
    m.G[k][k] = 1.0;
    if (k > 0) {
      m.G[k][k - 1] = -1.0;
    }
    add_unit(&m, 1, 0.0, false);
  }
  for (int k = N - 1; k >= 0; k--) {
    above += m.mass[k];
    expected[k] = above;
  }
  finish(&m);
  double r[ROWS];
  solve_with_all(&m, false, expected, r);
}

/* Two blocks on the floor with a rod between them, both sliding: the rod carries the difference of
 * friction. Planar, spatial and bilateral units in one problem, and a contact without friction. */
static void unlike_units_stand_in_one_problem(void** state) {
  (void)state;
  made m = {.freedoms = 6};
  static const double mass[6] = {1.0, 1.0, 3.0, 3.0, 3.0, 2.0};
  memcpy(m.mass, mass, sizeof mass);
  add_unit(&m, 2, 0.5, false); /* first block: freedoms 0 (up), 1 (along) */
  m.G[0][0] = m.G[1][1] = 1.0;
  add_unit(&m, 3, 0.1, false); /* second block: 2 (up), 3 (along), 4 (across) */
  m.G[2][2] = m.G[3][3] = m.G[4][4] = 1.0;
  add_unit(&m, 1, 0.0, true); /* the rod */
  m.G[5][1] = -1.0;
  m.G[5][3] = 1.0;
  add_unit(&m, 2, 0.0, false); /* a third mass, frictionless; its tangent is that of the second */
  m.G[6][5] = 1.0;
  m.G[7][3] = 1.0;
  m.v[0] = m.v[2] = m.v[5] = -1.0;
  m.v[1] = m.v[3] = 10.0;
  finish(&m);
  /* along: friction -0.5 and -0.3 on masses 1 and 3 at equal speed: both lose 0.8 / 4 = 0.2 */
  double r[ROWS];
  solve_with_all(&m, false, (double[]){1.0, -0.5, 3.0, -0.3, 0.0, -0.3, 2.0, 0.0}, r);
}

/* A rigid body on sixteen points: W has rank 6 of 48. The sum of the impulses is known. */
static made table_on_many_legs(int legs, double mu) {
  made m = {.freedoms = 6};
  for (int k = 0; k < 6; k++) {
    m.mass[k] = k < 3 ? 4.0 : 1.0;
  }
  for (int i = 0; i < legs; i++) {
    double x = cos(0.7 * i) * (1.0 + 0.1 * i);
    double y = sin(0.7 * i) * (1.0 + 0.1 * i);
    double z = -0.2;
    add_unit(&m, 3, mu, false);
    double(*G)[FREEDOMS] = m.G + m.offset[i];
    G[0][2] = 1.0; /* up: rotation x: y, rotation y: -x */
    G[0][3] = y;
    G[0][4] = -x;
    G[1][0] = 1.0;
    G[1][4] = z;
    G[1][5] = -y;
    G[2][1] = 1.0;
    G[2][3] = -z;
    G[2][5] = x;
  }
  return m;
}

static void redundant_supports_share_the_load(void** state) {
  (void)state;
  double r[ROWS];
  made m = table_on_many_legs(16, 0.6);
  m.v[2] = -1.0;
  m.v[0] = 0.1; /* held by friction: at rest afterwards */
  finish(&m);
  solve_with_all(&m, true, NULL, r);
  double up = 0.0;
  double along = 0.0;
  for (int i = 0; i < 16; i++) {
    up += r[3 * i];
    along += r[3 * i + 1];
  }
  assert_near(up, 4.0, 1e-9);
  assert_near(along, -0.4, 1e-9);
}

/* The same bilateral rows twice, as closed chains of joints have them. */
static void redundant_bilateral_rows_are_solved(void** state) {
  (void)state;
  made m = {.freedoms = 3};
  for (int k = 0; k < 3; k++) {
    m.mass[k] = 1.0;
    m.v[k] = 1.0 + k;
  }
  for (int i = 0; i < 2; i++) {
    add_unit(&m, 3, 0.0, true);
    for (int k = 0; k < 3; k++) {
      m.G[3 * i + k][k] = 1.0;
    }
  }
  add_unit(&m, 2, 0.3, false);
  m.G[6][0] = 1.0;
  m.G[7][1] = 1.0;
  finish(&m);
  double r[ROWS];
  solve_with_all(&m, true, NULL, r);
}

static double draw(uint64_t* seed) {
  return 2.0 * saltus_test_random(seed) - 1.0;
}

/* One to eight contacts on one to three bodies, some without friction, some with a lot, some twice,
 * some bilateral units; velocities of the bodies are given, so that q lies in the range of G. */
static void draw_problem(uint64_t* seed, made* m) {
  memset(m, 0, sizeof *m);
  int units = 1 + (int)(8.0 * saltus_test_random(seed));
  m->freedoms = 6 * (1 + (int)(3.0 * saltus_test_random(seed)));
  bool planar = saltus_test_random(seed) < 0.3;
  bool mixed = saltus_test_random(seed) < 0.3;
  for (int k = 0; k < m->freedoms; k++) {
    m->mass[k] = pow(10.0, draw(seed));
    m->v[k] = draw(seed);
  }
  for (int i = 0; i < units; i++) {
    double pick = saltus_test_random(seed);
    double mu = pick < 0.15 ? 0.0 : (pick > 0.9 ? pow(10.0, 3.0 + 3.0 * draw(seed)) : pick);
    int d = mixed ? 1 + (int)(3.0 * saltus_test_random(seed)) : (planar ? 2 : 3);
    add_unit(m, d, mu, mixed && saltus_test_random(seed) < 0.2);
    int body = 6 * (int)(m->freedoms / 6 * saltus_test_random(seed));
    bool copy = i > 0 && saltus_test_random(seed) < 0.2;
    for (int a = m->offset[i]; a < m->offset[i + 1]; a++) {
      for (int k = 0; k < 6; k++) {
        m->G[a][body + k] = draw(seed);
      }
      int twin = a - m->offset[i] + m->offset[i > 0 ? i - 1 : 0];
      if (copy && twin < m->offset[i]) {
        memcpy(m->G[a], m->G[twin], sizeof m->G[a]);
      }
    }
  }
  finish(m);
}

/* Every kind of unit beside every other: contacts of 1, 2, 3 rows with and without friction, bilateral
 * units of 1 to 3 rows; W definite. Frictionless contacts carry nothing along their tangents, and
 * bilateral rows do not move. */
static void every_solver_takes_every_mixture(void** state) {
  (void)state;
  static const struct {
    int rows;
    double mu;
    bool bilateral;
  } kinds[] = {{1, 0.0, false}, {2, 0.5, false}, {2, 0.0, false}, {3, 0.5, false},
               {3, 0.0, false}, {1, 0.0, true},  {2, 0.0, true},  {3, 0.0, true}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  static made m;
  uint64_t seed = 41;
  for (int first = 0; first < KINDS; first++) {
    for (int second = 0; second < KINDS; second++) {
      memset(&m, 0, sizeof m);
      m.freedoms = 12;
      for (int k = 0; k < m.freedoms; k++) {
        m.mass[k] = 0.5 + saltus_test_random(&seed);
        m.v[k] = draw(&seed);
      }
      int picked[3] = {first, second, first};
      for (int i = 0; i < 3; i++) {
        add_unit(&m, kinds[picked[i]].rows, kinds[picked[i]].mu, kinds[picked[i]].bilateral);
      }
      for (int a = 0; a < m.rows; a++) {
        for (int k = 0; k < m.freedoms; k++) {
          m.G[a][k] = draw(&seed) + (a == k ? 2.0 : 0.0);
        }
      }
      finish(&m);
      for (int i = 0; i < 3; i++) { /* contacts are pressed together */
        m.q[m.offset[i]] -= m.bilateral[i] == 0 ? 1.0 : 0.0;
      }
      double r[ROWS];
      solve_with_all(&m, false, NULL, r);
      double u[ROWS];
      saltus_friction_residual(&m.problem, r, u);
      for (int i = 0; i < 3; i++) {
        for (int a = m.offset[i]; a < m.offset[i + 1]; a++) {
          assert_true(m.bilateral[i] == 0 || fabs(u[a]) <= 1e-9);
          bool tangent = a > m.offset[i] && m.bilateral[i] == 0;
          assert_true(!tangent || m.mu[i] > 0.0 || r[a] == 0.0);
        }
      }
    }
  }
}

/* Not every such problem has a solution: bilateral rows may contradict each other, and very large
 * friction jams. Solved has to mean solved; and most must be. */
static void two_thousand_random_problems_are_solved_or_said_not_to_be(void** state) {
  (void)state;
  static made m;
  uint64_t seed = 5;
  int solved = 0;
  for (int n = 0; n < 2000; n++) {
    draw_problem(&seed, &m);
    double r[ROWS];
    saltus_solve_result result = solve("auto", &m.problem, 1e-10, r);
    solved += result.outcome == SALTUS_SOLVED ? 1 : 0;
  }
  print_message("auto: %d of 2000 solved\n", solved);
  assert_true(solved >= 1960);
}

static void every_solver_reports_the_truth_about_random_problems(void** state) {
  (void)state;
  static made m;
  for (int k = 1; k < saltus_friction_solver_count(); k++) {
    const char* name = saltus_friction_solver_at(k)->name;
    uint64_t seed = 11;
    int solved = 0;
    for (int n = 0; n < 60; n++) {
      draw_problem(&seed, &m);
      double r[ROWS];
      solved += solve(name, &m.problem, 1e-8, r).outcome == SALTUS_SOLVED ? 1 : 0;
    }
    print_message("%s: %d of 60 solved\n", name, solved);
  }
}

static void the_same_problem_gives_the_same_bits(void** state) {
  (void)state;
  made m = table_on_many_legs(20, 0.4);
  m.v[2] = -1.0;
  m.v[0] = 2.0;
  m.v[5] = 1.0;
  finish(&m);
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    const char* name = saltus_friction_solver_at(k)->name;
    double first[ROWS];
    double r[ROWS];
    double u[ROWS];
    saltus_solve_result a;
    saltus_solve_result b;
    solve(name, &m.problem, 1e-12, first);
    saltus_friction_solver* solver = create(name);
    assert_int_equal(saltus_friction_solver_setup(solver, &m.problem), SALTUS_OK);
    for (int n = 0; n < 3; n++) {
      memset(r, 0, sizeof r);
      saltus_friction_solve(solver, &m.problem, 1e-12, r, u, n == 0 ? &a : &b);
      assert_memory_equal(r, first, (size_t)m.rows * sizeof(double));
    }
    assert_int_equal(a.iterations, b.iterations);
    assert_string_equal(a.stages, b.stages);
    saltus_friction_solver_destroy(solver);
  }
}

static void nothing_is_allocated_after_setup(void** state) {
  (void)state;
  made m = table_on_many_legs(20, 0.4);
  m.v[2] = -1.0;
  m.v[0] = 2.0;
  finish(&m);
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_solver_def def = {.solver = saltus_friction_solver_at(k)->name, .allocator = &allocator};
    saltus_friction_solver* solver;
    double r[ROWS] = {0};
    double u[ROWS];
    saltus_solve_result result;
    assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
    assert_int_equal(saltus_friction_solver_setup(solver, &m.problem), SALTUS_OK);
    int calls = count.calls;
    for (int n = 0; n < 5; n++) {
      m.q[1] += 0.1; /* other numbers, the same pattern */
      memset(r, 0, sizeof r);
      saltus_friction_solve(solver, &m.problem, 1e-12, r, u, &result);
    }
    assert_int_equal(count.calls, calls);
    saltus_friction_solver_destroy(solver);
    assert_int_equal(count.live, 0);
  }
}

/* ---- published problems ---- */

static const char* const published[] = {
    "Box_Stacks-i0122-82-5.hdf5",
    "BoxesStack1-i100000-32.hdf5.dat",
    "Capsules-i100-1090.dat",
    "Capsules-i101-404.dat",
    "Capsules-i122-1617.dat",
    "Confeti-ex03-Fc3D-SBM.dat",
    "Confeti-ex13-4contact-Fc3D-SBM.dat",
    "FC2D_SliderCrankLagrangian00000.dat",
    "FC3D_Example1.dat",
    "FC3D_Example1_SBM.dat",
    "FrictionContact3D_1c.dat",
    "FrictionContactProblem00031.dat",
    "FrictionContactProblem00071.dat",
    "FrictionContactProblem00374.dat",
    "GFC3D_Example0.dat",
    "GFC3D_Example00.dat",
    "GFC3D_Example0_SBM.dat",
    "GFC3D_TwoRods1-condensed.dat",
    "GFC3D_TwoRods1.dat",
    "KaplasTower-i1061-4.hdf5.dat",
    "NESpheres_10_1.dat",
    "OneObject-i100000-316.hdf5.dat",
    "OneObject-i1028-138.hdf5.dat",
    "Rover1039.dat",
    "Rover1041.dat",
    "Rover11035.dat",
    "Rover4144.dat",
    "Rover4396.dat",
    "Rover4516.dat",
    "Rover4613.dat",
    "Spheres-i099-356-679.hdf5",
    "fc2d_granularflowonwall_02020_00213.dat",
    "fclib_local_problem_test.hdf5",
    "gfc2d_granularflowonwall_00069_00350.dat",
};
enum { PUBLISHED = sizeof published / sizeof published[0] };

static const char* folder(char* text, size_t bytes) {
  const char* given = getenv("SALTUS_PROBLEMS");
  if (given != NULL) {
    return given;
  }
  snprintf(text, bytes, "%s", __FILE__);
  char* cut = strstr(text, "tests/conformance/");
  snprintf(cut != NULL ? cut : text, bytes - (size_t)(cut != NULL ? cut - text : 0),
           "../shared/data/contact-problems");
  return text;
}

/* NULL when the file is not there. */
static saltus_problem_file* load(const char* name) {
  char text[2048];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder(text, sizeof text), name);
  saltus_problem_file* file = NULL;
  if (saltus_problem_file_read(path, (saltus_log){0}, NULL, &file) != SALTUS_OK) {
    return NULL;
  }
  if (file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION && !saltus_has("cxsparse")) {
    saltus_problem_file_destroy(file);
    return NULL;
  }
  if (file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION) {
    saltus_problem_file* local = NULL;
    saltus_status status =
        saltus_global_friction_reduce(&file->global, (saltus_log){0}, NULL, &local);
    assert_int_equal(status, SALTUS_OK);
    saltus_problem_file_destroy(file);
    return local;
  }
  return file;
}

static double solve_published(const saltus_friction_problem* problem, double tol,
                              saltus_solve_result* result) {
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  double* r = calloc(2 * rows, sizeof(double));
  assert_non_null(r);
  saltus_friction_solver* solver = create("auto");
  assert_int_equal(saltus_friction_solve(solver, problem, tol, r, r + rows, result), SALTUS_OK);
  saltus_friction_solver_destroy(solver);
  double residual = saltus_friction_residual(problem, r, r + rows).normalised;
  free(r);
  return residual;
}

/* tol 1e-12: every file here has been solved to that by at least one method. */
static void published_problems_are_solved_to_rounding(void** state) {
  (void)state;
  int found = 0;
  for (int k = 0; k < PUBLISHED; k++) {
    saltus_problem_file* file = load(published[k]);
    if (file == NULL) {
      continue;
    }
    found++;
    saltus_solve_result result;
    double residual = solve_published(&file->friction, 1e-12, &result);
    if (result.outcome != SALTUS_SOLVED || !(residual <= 1e-12)) {
      fail_msg("%s: residual %g after %s", published[k], residual, result.stages);
    }
    saltus_problem_file_destroy(file);
  }
  print_message("%d of %d published problems found\n", found, (int)PUBLISHED);
  if (found == 0) {
    skip();
  }
}

static void published_problems_are_solved_to_loose_tolerances(void** state) {
  (void)state;
  int found = 0;
  for (int k = 0; k < PUBLISHED; k++) {
    saltus_problem_file* file = load(published[k]);
    if (file == NULL) {
      continue;
    }
    found++;
    for (double tol = 1e-2; tol > 1e-9; tol *= 0.01) {
      saltus_solve_result result;
      double residual = solve_published(&file->friction, tol, &result);
      assert_true(result.outcome == SALTUS_SOLVED && residual <= tol);
    }
    saltus_problem_file_destroy(file);
  }
  if (found == 0) {
    skip();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_sticks_where_friction_holds_it),
      cmocka_unit_test(a_block_slides_against_its_velocity),
      cmocka_unit_test(a_frictionless_stack_carries_its_weight),
      cmocka_unit_test(unlike_units_stand_in_one_problem),
      cmocka_unit_test(redundant_supports_share_the_load),
      cmocka_unit_test(redundant_bilateral_rows_are_solved),
      cmocka_unit_test(every_solver_takes_every_mixture),
      cmocka_unit_test(two_thousand_random_problems_are_solved_or_said_not_to_be),
      cmocka_unit_test(every_solver_reports_the_truth_about_random_problems),
      cmocka_unit_test(the_same_problem_gives_the_same_bits),
      cmocka_unit_test(nothing_is_allocated_after_setup),
      cmocka_unit_test(published_problems_are_solved_to_rounding),
      cmocka_unit_test(published_problems_are_solved_to_loose_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
