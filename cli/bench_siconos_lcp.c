/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench_siconos_lcp.c - complementarity problems for Siconos numerics. Plain problems are passed as dense matrices,
 * since most of its solvers accept no other storage; mixed ones as the file that was read, which can contain both
 * forms.
 */
#include "bench_siconos.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/* The third member of an entrant distinguishes the two kinds. */
enum { PLAIN = 1, MIXED = 2 };
/* Numbers of its enumerative solvers, which visit 2^rows cases, and their largest number of rows. */
enum { ENUM = 213, MIXED_ENUM = 105, MIXED_DIRECT_ENUM = 107, ENUMERATED = 20 };

void siconos_lcp_enter(bench_race* race) {
  static const bench_entrant list[] = {
      {.name = "siconos lemke", .siconos = 200, .rows = PLAIN},
      {.name = "siconos pgs", .siconos = 202, .rows = PLAIN},
      {.name = "siconos cpg", .siconos = 203, .rows = PLAIN},
      {.name = "siconos nsqp", .siconos = 207, .rows = PLAIN},
      {.name = "siconos newton-min", .siconos = 208, .rows = PLAIN},
      {.name = "siconos newton-fb", .siconos = 209, .rows = PLAIN},
      {.name = "siconos psor", .siconos = 210, .rows = PLAIN},
      {.name = "siconos rpgs", .siconos = 211, .rows = PLAIN},
      {.name = "siconos enum", .siconos = ENUM, .rows = PLAIN},
      {.name = "siconos cao-ferris", .siconos = 214, .rows = PLAIN},
      {.name = "siconos pivot", .siconos = 215, .rows = PLAIN},
      {.name = "siconos bard", .siconos = 216, .rows = PLAIN},
      {.name = "siconos murty", .siconos = 217, .rows = PLAIN},
      {.name = "siconos newton-min-fb", .siconos = 218, .rows = PLAIN},
      {.name = "siconos pathsearch", .siconos = 219, .rows = PLAIN},
      {.name = "siconos m-pgs", .siconos = 100, .rows = MIXED},
      {.name = "siconos m-rpgs", .siconos = 101, .rows = MIXED},
      {.name = "siconos m-psor", .siconos = 102, .rows = MIXED},
      {.name = "siconos m-rpsor", .siconos = 103, .rows = MIXED},
      {.name = "siconos m-path", .siconos = 104, .rows = MIXED},
      {.name = "siconos m-enum", .siconos = MIXED_ENUM, .rows = MIXED},
      {.name = "siconos m-direct-enum", .siconos = MIXED_DIRECT_ENUM, .rows = MIXED},
      {.name = "siconos m-fb", .siconos = 112, .rows = MIXED},
      {.name = "siconos m-direct-fb", .siconos = 113, .rows = MIXED},
      {.name = "siconos m-lemke", .siconos = 115, .rows = MIXED}};
  for (size_t k = 0; k < sizeof list / sizeof list[0] && race->entrants < BENCH_ENTRANTS; k++) {
    race->entrant[race->entrants++] = list[k];
  }
}

static bool is_mixed(const problem_job* j) {
  return j->file->kind == SALTUS_PROBLEM_MIXED_LCP;
}

bool siconos_lcp_fits(const bench_entrant* entrant, const problem_job* j) {
  bool enumerates = entrant->siconos == ENUM || entrant->siconos == MIXED_ENUM ||
                    entrant->siconos == MIXED_DIRECT_ENUM;
  return entrant->rows == (is_mixed(j) ? MIXED : PLAIN) &&
         (!enumerates || j->contacts <= ENUMERATED);
}

/* Row major for any storage; the caller frees it. */
static double* dense_copy(const saltus_lcp* lcp) {
  size_t n = (size_t)lcp->n;
  double* M = calloc(n * n + 1, sizeof(double));
  for (size_t i = 0; M != NULL && i < n; i++) {
    for (size_t k = 0; lcp->sparse.start == NULL && k < n; k++) {
      M[i * n + k] = lcp->M[i * n + k];
    }
    for (int k = lcp->sparse.start != NULL ? lcp->sparse.start[i] : 0;
         lcp->sparse.start != NULL && k < lcp->sparse.start[i + 1]; k++) {
      M[i * n + (size_t)lcp->sparse.column[k]] += lcp->sparse.values[k];
    }
  }
  return M;
}

/* Its problem. */
typedef struct siconos_lcp {
  int size;
  void* M;
  double* q;
} siconos_lcp;

static void load_plain(bench_siconos* s, const saltus_lcp* lcp) {
  siconos_file file;
  double* M = dense_copy(lcp);
  if (M != NULL && siconos_file_make(&file, "lcp.dat")) {
    const saltus_lcp dense = {.n = lcp->n, .M = M, .q = lcp->q};
    siconos_lcp* problem = calloc(1, sizeof *problem);
    if (problem != NULL &&
        saltus_problem_file_write_lcp(file.path, &dense, cli_log()) == SALTUS_OK) {
      s->read_lcp(problem, file.path); /* returns 1 whether it could read or not */
    }
    if (problem != NULL && problem->q != NULL) {
      s->problem = problem;
      s->free_problem = s->free_lcp;
    } else {
      free(problem);
    }
    siconos_file_drop(&file);
  }
  free(M);
}

static void load_mixed(bench_siconos* s, const char* path) {
  void* problem = s->new_mixed();
  if (problem != NULL && s->read_mixed(problem, path) == 0) {
    s->problem = problem;
    s->free_problem = s->free_mixed;
  } else if (problem != NULL) {
    s->free_mixed(problem);
  }
}

void siconos_lcp_load(bench_siconos* s, const problem_job* j) {
  if (is_mixed(j)) {
    load_mixed(s, j->path);
  } else {
    load_plain(s, &j->file->lcp);
  }
}

/* Its solution may be in the order of the file or with the equalities first: the better one counts. */
static double judge(const problem_job* j, const double* z, double* ordered, double* w) {
  const saltus_lcp* lcp = &j->file->lcp;
  double residual = saltus_lcp_residual(lcp, z, w).normalised;
  if (is_mixed(j)) {
    for (int i = 0; i < lcp->n; i++) {
      ordered[i] = z[j->file->file_row[i]];
    }
    residual = fmin(residual, saltus_lcp_residual(lcp, ordered, w).normalised);
  }
  return residual;
}

double siconos_lcp_call(bench_siconos* s, const bench_entrant* entrant, const problem_job* j,
                        double own, double* seconds) {
  size_t n = (size_t)j->file->lcp.n;
  double* z = calloc(3 * n + 1, sizeof(double));
  siconos_options* options = siconos_options_of(s, entrant, own);
  double residual = INFINITY;
  if (z != NULL && options != NULL) {
    bool mixed = is_mixed(j);
    if (mixed) { /* allocation is not timed, as for Saltus */
      s->mixed_init(s->problem, options);
    }
    double start = saltusi_clock_cpu();
    (mixed ? s->mixed : s->lcp)(s->problem, z, z + n, options);
    *seconds = saltusi_clock_cpu() - start;
    if (mixed) {
      s->mixed_reset(s->problem, options);
    }
    residual = judge(j, z, z + n, z + 2 * n);
  }
  if (options != NULL) {
    s->destroy(options);
  }
  free(z);
  return residual;
}
