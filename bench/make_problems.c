/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * make_problems.c - writes the collection in tests/problems. The output is reproducible;
 * a test compares it with the files of the tree.
 *
 *   saltus_make_problems FOLDER
 */
#include "packing.h"

#include "saltus/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static const char* folder;
static int faults;

static void say(void* user, saltus_level level, const char* text) {
  (void)user;
  (void)level;
  fprintf(stderr, "%s\n", text);
}

static const saltus_log to_stderr = {say, NULL};

static const char* path_of(const char* name, char* text, size_t bytes) {
  snprintf(text, bytes, "%s/%s", folder, name);
  return text;
}

static void write_global(const char* name, const packing* p) {
  char path[512];
  faults += saltus_problem_file_write_global(path_of(name, path, sizeof path), &p->problem,
                                             to_stderr) != SALTUS_OK;
}

static void write_local(const char* name, const packing* p) {
  char path[512];
  saltus_problem_file* local;
  if (saltus_global_friction_reduce(&p->problem, to_stderr, NULL, &local) != SALTUS_OK) {
    faults++;
    return;
  }
  faults += saltus_problem_file_write_friction(path_of(name, path, sizeof path), &local->friction,
                                               to_stderr) != SALTUS_OK;
  saltus_problem_file_destroy(local);
}

static void write_lcp(const char* name, const saltus_lcp* problem) {
  char path[512];
  faults += saltus_problem_file_write_lcp(path_of(name, path, sizeof path), problem, to_stderr) !=
            SALTUS_OK;
}

static void packings(void) {
  static const struct {
    const char* name;
    int nx, nz;
    double keep, mu, velocity;
    bool global;
  } list[] = {
      {"fc3d_packing_2x2_rest.dat", 2, 2, 0.8, 0.5, 0.0, false},
      {"fc3d_packing_3x3_rest.dat", 3, 3, 0.8, 0.5, 0.0, false},
      {"fc3d_packing_3x2_impact.dat", 3, 2, 0.8, 0.3, 0.1, false},
      {"fc3d_packing_4x2_slippery.dat", 4, 2, 0.7, 0.05, 0.02, false},
      {"gfc3d_packing_3x3_rest.dat", 3, 3, 0.8, 0.5, 0.0, true},
      {"gfc3d_packing_2x4_impact.dat", 2, 4, 0.9, 0.8, 0.05, true},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    packing_def def = packing_def_default();
    def.nx = def.ny = list[k].nx;
    def.nz = list[k].nz;
    def.keep = list[k].keep;
    def.mu = list[k].mu;
    def.velocity = list[k].velocity;
    packing p;
    if (!packing_create(&def, &p)) {
      faults++;
    } else if (list[k].global) {
      write_global(list[k].name, &p);
    } else {
      write_local(list[k].name, &p);
    }
    packing_free(&p);
  }
}

static void stacks(void) {
  packing p;
  if (packing_stack(4, 0.6, 0.0, &p)) {
    write_local("fc3d_stack_4_rest.dat", &p);
    write_global("gfc3d_stack_4_rest.dat", &p);
  }
  packing_free(&p);
  if (packing_stack(5, 0.3, 0.2, &p)) {
    write_local("fc3d_stack_5_pushed.dat", &p);
  }
  packing_free(&p);
}

/* Contacts of bodies that cannot move: nothing stops the approach in the second one. */
static void small_friction(void) {
  const int offset[] = {0, 2, 4};
  const int start[] = {0, 1, 2};
  const int unit[] = {0, 1};
  const int place[] = {0, 4, 8};
  const double slides[] = {1.0, 0.2, 0.2, 2.0, 1.5, 0.0, 0.0, 1.0};
  const double none[] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0};
  const double q[] = {-1.0, 0.8, -0.5, -2.0};
  const double mu[] = {0.3, 0.0};
  saltus_friction_problem problem = {
      .W = {2, offset, start, unit, place, slides}, .q = q, .mu = mu};
  char path[512];
  faults += saltus_problem_file_write_friction(path_of("fc2d_two_sliding.dat", path, sizeof path),
                                               &problem, to_stderr) != SALTUS_OK;
  problem.W.values = none;
  faults +=
      saltus_problem_file_write_friction(path_of("fc2d_none_immovable.dat", path, sizeof path),
                                         &problem, to_stderr) != SALTUS_OK;
}

/* A column of n beads: w_i = p_i (1/m + 1/m) - neighbours, the first one on the floor. */
static void beads(const char* name, int n, double velocity) {
  int* start = calloc((size_t)n + 1, sizeof(int));
  int* column = calloc(3 * (size_t)n, sizeof(int));
  double* values = calloc(3 * (size_t)n, sizeof(double));
  double* q = calloc((size_t)n, sizeof(double));
  uint64_t seed = 7;
  int k = 0;
  for (int i = 0; start != NULL && column != NULL && values != NULL && q != NULL && i < n; i++) {
    for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
      column[k] = j;
      values[k++] = j != i ? -1.0 : i == 0 ? 1.0 : 2.0;
    }
    start[i + 1] = k;
    q[i] = velocity * (2.0 * packing_random(&seed) - 1.0) - (i == 0 ? 0.00981 : 0.0);
  }
  const saltus_lcp problem = {.n = n, .sparse = {n, n, start, column, values}, .q = q};
  write_lcp(name, &problem);
  free(start);
  free(column);
  free(values);
  free(q);
}

static double M[MOST * MOST];
static double right[MOST];

/* M = B B^T with B n x rank, plus twist times a skew matrix. */
static void gram(uint64_t* seed, int n, int rank, double twist) {
  static double B[MOST * MOST];
  for (int k = 0; k < n * rank; k++) {
    B[k] = 2.0 * packing_random(seed) - 1.0;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      M[i * n + j] = 0.0;
      for (int k = 0; k < rank; k++) {
        M[i * n + j] += B[i * rank + k] * B[j * rank + k];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double entry = twist * (2.0 * packing_random(seed) - 1.0);
      M[i * n + j] += entry;
      M[j * n + i] -= entry;
    }
  }
}

static void dense(const char* name, int n, int rank, double twist, int bilateral) {
  uint64_t seed = (uint64_t)(n + 100 * rank);
  gram(&seed, n, rank, twist);
  for (int i = 0; i < n; i++) {
    right[i] = 2.0 * packing_random(&seed) - 1.0;
  }
  for (int i = 0; rank < n && i < n; i++) {
    right[i] = 0.0; /* M 1 = -q: redundant supports that hold */
    for (int j = 0; j < n; j++) {
      right[i] -= M[i * n + j];
    }
  }
  const saltus_lcp problem = {.n = n, .bilateral = bilateral, .M = M, .q = right};
  write_lcp(name, &problem);
}

static void named(void) {
  int n = 10; /* Murty 1978: exponential for Lemke's method with another covering vector */
  for (int i = 0; i < n; i++) {
    right[i] = -1.0;
    for (int j = 0; j < n; j++) {
      M[i * n + j] = i == j ? 1.0 : i > j ? 2.0 : 0.0;
    }
  }
  write_lcp("lcp_murty_10.dat", &(saltus_lcp){.n = n, .M = M, .q = right});
  /* zero rows of q: every basis is degenerate */
  uint64_t seed = 3;
  gram(&seed, 12, 15, 0.0);
  for (int i = 0; i < 12; i++) {
    right[i] = i % 3 == 0 ? -1.0 : 0.0;
  }
  write_lcp("lcp_degenerate_12.dat", &(saltus_lcp){.n = 12, .M = M, .q = right});
  /* two rows that push against each other: M z + q >= 0 contradicts itself */
  const double opposed[9] = {1.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  const double apart[3] = {-1.0, -1.0, 0.5};
  write_lcp("lcp_none_opposed.dat", &(saltus_lcp){.n = 3, .M = opposed, .q = apart});
  /* z = (0, 1) is feasible, but w_2 = 1 is positive where z_2 has to be */
  const double odd[4] = {0.0, 1.0, 0.0, 0.0};
  const double odd_q[2] = {-1.0, 1.0};
  write_lcp("lcp_none_feasible.dat", &(saltus_lcp){.n = 2, .M = odd, .q = odd_q});
}

/* Mixed problems with redundant bilateral rows: consistent, and inconsistent. */
static void redundant_joints(void) {
  uint64_t seed = 5;
  int n = 8;
  gram(&seed, n, 12, 0.0);
  for (int k = 0; k < n; k++) {
    M[1 * n + k] = M[0 * n + k];
  }
  for (int k = 0; k < n; k++) {
    M[k * n + 1] = M[k * n + 0];
  }
  for (int i = 0; i < n; i++) {
    right[i] = 2.0 * packing_random(&seed) - 1.0;
  }
  right[1] = right[0];
  saltus_lcp problem = {.n = n, .bilateral = 3, .M = M, .q = right};
  write_lcp("redundant_mlcp.dat", &problem);
  right[1] = right[0] + 1.0;
  write_lcp("none_mlcp.dat", &problem);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: saltus_make_problems FOLDER\n");
    return 2;
  }
  folder = argv[1];
  packings();
  stacks();
  small_friction();
  beads("lcp_beads_40_rest.dat", 40, 0.0);
  beads("lcp_beads_300_impact.dat", 300, 0.1);
  dense("lcp_definite_30.dat", 30, 33, 0.0, 0);
  dense("lcp_twisted_24.dat", 24, 26, 2.0, 0);
  dense("lcp_redundant_18.dat", 18, 6, 0.0, 0);
  dense("joints_mlcp.dat", 16, 20, 0.5, 5);
  named();
  redundant_joints();
  return faults > 0;
}
