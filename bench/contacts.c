/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.c - the smallest and the longest problems.
 *
 *   one-contact     10^7 random contacts: the law, and the median time of a cold solve
 *   beads           a column of beads at rest as a complementarity problem, cold and warm
 *   rods            joints and contacts of a chain as a mixed problem with a sparse matrix
 *   small-problems  10^5 random problems of one to eight contacts: answers hold, refusals are justified
 */
#include "bench.h"
#include "packing.h"
#include "rods.h"

#include "saltus/contact.h"
#include "solve/friction/one_contact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1000, BATCHES = 10000, ROWS = 24 };

static double normal(uint64_t* seed) {
  double sum = -6.0;
  for (int k = 0; k < 12; k++) {
    sum += packing_random(seed);
  }
  return sum;
}

/* W = H H^T: full rank, near rank 2 or 1, columns that shrink by 1e-2 each (condition to 1e12). */
static void draw_block(uint64_t* seed, int kind, double* W) {
  double H[3][6];
  int rank = kind == 1 ? 2 : (kind == 2 ? 1 : 6);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 6; k++) {
      H[i][k] = normal(seed) * (kind == 3 ? pow(1e-2, k) : 1.0);
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = i == j && rank < 3 ? 1e-12 : 0.0;
      for (int k = 0; k < rank; k++) {
        sum += H[i][k] * H[j][k];
      }
      W[3 * i + j] = sum;
    }
  }
}

/* The residual of one contact beside |b| + |r| / rho. */
static double miss(const double* W, double mu, const double* b, const double* r) {
  static const int offset[] = {0, 3};
  static const int start[] = {0, 1};
  static const int unit[] = {0};
  static const int place[] = {0, 9};
  const saltus_friction_problem problem = {
      .W = {1, offset, start, unit, place, W}, .q = b, .mu = &mu};
  double u[3];
  double velocity = saltus_friction_residual(&problem, r, u).velocity;
  double b_size = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
  double r_size = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  return velocity / ((b_size + r_size * (W[0] + W[4] + W[8]) / 3.0) * fmax(1.0, mu));
}

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a;
  double y = *(const double*)b;
  return (x > y) - (x < y);
}

static int run_one(void) {
  static double W[BATCH][9];
  static double data[BATCH][16];
  static double b[BATCH][3];
  static double r[BATCH][3];
  static double mu[BATCH];
  static double taken[BATCHES];
  uint64_t seed = 11;
  double worst = 0.0;
  int failures = 0;
  for (int k = 0; k < BATCHES; k++) {
    for (int n = 0; n < BATCH; n++) {
      draw_block(&seed, n % 4, W[n]);
      for (int d = 0; d < 3; d++) {
        b[n][d] = normal(&seed);
      }
      mu[n] = n % 16 == 0 ? 0.0 : 10.0 * packing_random(&seed) * packing_random(&seed);
      saltusi_one_contact_prepare(3, W[n], data[n]);
    }
    double start = bench_seconds();
    for (int n = 0; n < BATCH; n++) {
      double slip = 0.0;
      saltusi_one_contact_spatial(data[n], mu[n], b[n], r[n], &slip);
    }
    taken[k] = (bench_seconds() - start) / BATCH;
    for (int n = 0; n < BATCH; n++) {
      double m = miss(W[n], mu[n], b[n], r[n]);
      worst = m > worst ? m : worst;
      failures += !(m <= 1e-8);
    }
  }
  qsort(taken, BATCHES, sizeof taken[0], by_size);
  printf("  %d contacts, %d failures, largest residual %.1e; median %.0f ns\n", BATCH * BATCHES,
         failures, worst, 1e9 * taken[BATCHES / 2]);
  return failures > 0;
}

typedef struct column {
  saltus_lcp problem;
  saltus_lcp_solver* solver;
  double *z, *w;
  double tol;
  bool warm;
  saltus_solve_result result;
} column;

static void solve_column(void* user) {
  column* c = user;
  if (!c->warm) {
    memset(c->z, 0, (size_t)c->problem.n * sizeof(double));
  }
  saltus_lcp_solve(c->solver, &c->problem, c->tol, c->z, c->w, &c->result);
}

/* n beads at rest, or false without memory. */
static bool run_column(int n) {
  int* start = calloc((size_t)n + 1, sizeof(int));
  int* index = calloc(3 * (size_t)n, sizeof(int));
  double* values = calloc(6 * (size_t)n, sizeof(double));
  saltus_lcp_solver* solver = NULL;
  bool good = start != NULL && index != NULL && values != NULL &&
              saltus_lcp_solver_create(&(saltus_solver_def){0}, &solver) == SALTUS_OK;
  if (good) {
    double* q = values + 3 * (size_t)n;
    int k = 0;
    for (int i = 0; i < n; i++) {
      for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
        index[k] = j;
        values[k++] = j != i ? -1.0 : i == 0 ? 1.0 : 2.0;
      }
      start[i + 1] = k;
    }
    q[0] = -0.00981;
    column c = {.problem = {.n = n, .sparse = {n, n, start, index, values}, .q = q},
                .solver = solver,
                .z = q + n,
                .w = q + 2 * (size_t)n,
                .tol = fmax(1e-12, 4.0 * 2.2e-16 * n * sqrt(n))};
    good = saltus_lcp_solver_setup(solver, &c.problem) == SALTUS_OK;
    double cold = bench_fastest(solve_column, &c, 20);
    c.warm = true;
    double warm = bench_fastest(solve_column, &c, 20);
    double residual = saltus_lcp_residual(&c.problem, c.z, c.w).normalised;
    good = good && c.result.outcome == SALTUS_SOLVED && residual <= c.tol;
    printf("  %6d beads: %8.4f ms cold, %8.4f ms warm, %.0f ns per bead cold, residual %.1e%s\n", n,
           1e3 * cold, 1e3 * warm, 1e9 * cold / n, residual, good ? "" : ", NOT SOLVED");
  }
  saltus_lcp_solver_destroy(solver);
  free(start);
  free(index);
  free(values);
  return good;
}

static int run_beads(void) {
  bool good = run_column(1000);
  good = run_column(10000) && good;
  return run_column(100000) && good ? 0 : 1;
}

/* A chain of rods, or false when it is not solved. */
static bool run_chain(int masses, bool saddle) {
  const rods_def def = {.masses = masses, .copies = 1, .saddle = saddle};
  rods r;
  saltus_lcp_solver* solver = NULL;
  bool good = rods_create(&def, &r) &&
              saltus_lcp_solver_create(&(saltus_solver_def){0}, &solver) == SALTUS_OK;
  if (good) {
    double start = bench_seconds();
    good = saltus_lcp_solver_setup(solver, &r.lcp) == SALTUS_OK;
    double setup = bench_seconds() - start;
    column c = {.problem = r.lcp, .solver = solver, .z = r.z, .w = r.w, .tol = 1e-10};
    double cold = bench_fastest(solve_column, &c, 5);
    c.warm = true;
    for (int i = 0; i < r.lcp.n; i++) {
      r.q[i] *= 1.01;
    }
    double warm = bench_fastest(solve_column, &c, 5);
    double residual = saltus_lcp_residual(&r.lcp, r.z, r.w).normalised;
    good = good && c.result.outcome == SALTUS_SOLVED && residual <= c.tol;
    printf("  %6d rows, %6d bilateral: set up in %8.3f ms, %8.3f ms cold, %8.3f ms warm, residual "
           "%.1e%s\n",
           r.lcp.n, r.lcp.bilateral, 1e3 * setup, 1e3 * cold, 1e3 * warm, residual,
           good ? "" : ", NOT SOLVED");
  }
  saltus_lcp_solver_destroy(solver);
  rods_free(&r);
  return good;
}

static int run_rods(void) {
  bool good = true;
  for (int masses = 1000; masses <= 100000; masses *= 10) {
    good = run_chain(masses, false) && good;
    good = run_chain(masses, true) && good;
  }
  return good ? 0 : 1;
}

/* A dense problem of up to eight contacts: W = H H^T of some rank, q = H v where it is consistent. */
typedef struct small_problem {
  saltus_friction_problem view;
  int offset[9], start[9], unit[64], place[65];
  double values[ROWS * ROWS], q[ROWS], mu[8];
} small_problem;

static void draw_small(uint64_t* seed, int k, small_problem* s) {
  int contacts = 1 + (int)(8.0 * packing_random(seed));
  int rows = 3 * contacts;
  int rank = k % 3 == 0 ? rows : 1 + (int)(rows * packing_random(seed));
  static double H[ROWS][ROWS];
  double v[ROWS];
  for (int c = 0; c < rank; c++) {
    v[c] = normal(seed);
    for (int i = 0; i < rows; i++) {
      H[i][c] = normal(seed);
    }
  }
  for (int i = 0; i < rows; i++) {
    s->q[i] = 0.0;
    for (int c = 0; c < rank; c++) {
      s->q[i] += H[i][c] * v[c];
    }
    for (int j = 0; j < rows; j++) {
      double sum = 0.0;
      for (int c = 0; c < rank; c++) {
        sum += H[i][c] * H[j][c];
      }
      int block = (i / 3) * contacts + j / 3;
      s->values[9 * block + 3 * (i % 3) + j % 3] = sum;
    }
  }
  for (int i = 0; i <= contacts; i++) {
    s->offset[i] = 3 * i;
    s->start[i] = i * contacts;
  }
  for (int e = 0; e <= contacts * contacts; e++) {
    s->place[e] = 9 * e;
    if (e < contacts * contacts) {
      s->unit[e] = e % contacts;
    }
  }
  for (int i = 0; i < contacts; i++) {
    int kind = (int)(4.0 * packing_random(seed));
    s->mu[i] =
        kind == 0 ? 0.0 : (kind == 1 ? 10.0 + 90.0 * packing_random(seed) : packing_random(seed));
  }
  s->view = (saltus_friction_problem){
      .W = {contacts, s->offset, s->start, s->unit, s->place, s->values}, .q = s->q, .mu = s->mu};
}

static int run_small(void) {
  enum { COUNT = 100000 };
  static small_problem s;
  const saltus_solver_def defs[2] = {{.solver = "auto"}, {.solver = "proximal"}};
  saltus_friction_solver* solver[2] = {NULL, NULL};
  int failed = 0;
  for (int k = 0; k < 2; k++) {
    failed |= saltus_friction_solver_create(&defs[k], &solver[k]) != SALTUS_OK;
  }
  uint64_t seed = 5;
  int solved = 0;
  int wrong = 0;
  int found_by_other = 0;
  for (int k = 0; k < COUNT && !failed; k++) {
    double r[2 * ROWS] = {0.0};
    saltus_solve_result result;
    draw_small(&seed, k, &s);
    failed |= saltus_friction_solve(solver[0], &s.view, 1e-8, r, r + ROWS, &result) != SALTUS_OK;
    if (result.outcome == SALTUS_SOLVED) {
      solved++;
      wrong += !(saltus_friction_residual(&s.view, r, r + ROWS).normalised <= 1e-8);
      continue;
    }
    memset(r, 0, sizeof r);
    failed |= saltus_friction_solve(solver[1], &s.view, 1e-8, r, r + ROWS, &result) != SALTUS_OK;
    found_by_other += result.outcome == SALTUS_SOLVED;
  }
  printf("  %d of %d solved, %d wrong answers; %d refused, of which another method solved %d\n",
         solved, (int)COUNT, wrong, (int)COUNT - solved, found_by_other);
  for (int k = 0; k < 2; k++) {
    saltus_friction_solver_destroy(solver[k]);
  }
  return failed || wrong > 0 || found_by_other > 0;
}

const bench bench_one_contact = {
    .name = "one-contact",
    .summary = "10^7 random contacts without a failure; median of a cold solve at most 150 ns",
    .run = run_one,
};

const bench bench_beads = {
    .name = "beads",
    .summary = "columns at rest: 1000 beads in 0.5 ms cold and 0.05 ms warm, linear to 10^5",
    .run = run_beads,
};

const bench bench_rods = {
    .name = "rods",
    .summary = "chains of masses and rods above a floor: bilateral rows in sparse problems",
    .run = run_rods,
};

const bench bench_small_problems = {
    .name = "small-problems",
    .summary = "10^5 problems of one to eight contacts: answers hold, refusals are justified",
    .run = run_small,
};
