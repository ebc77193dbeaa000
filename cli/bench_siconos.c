/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench_siconos.c - Siconos numerics 4.4 in the same process, for comparison only. The library is
 * loaded when asked for, so that nothing is linked with it. Problems travel through its own text
 * format. Its residual depends on the units of the problem, so ours decides. Each solver
 * runs in a child of this process with an alarm, so that one that does not return costs nothing else.
 */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first members of its SolverOptions. */
typedef struct siconos_options {
  int solver;
  bool set;
  int integers;
  int* integer; /* [0]: iterations at most */
  int reals;
  double* real; /* [0]: tolerance */
} siconos_options;

typedef int siconos_driver(void* problem, double* r, double* u, siconos_options* options);

struct bench_siconos {
  void* library;
  void* (*read)(const char* path);
  void (*free_problem)(void* problem);
  siconos_options* (*create)(int solver);
  void (*destroy)(siconos_options* options);
  siconos_driver* spatial;
  siconos_driver* planar;
  void* problem; /* the one that was loaded last */
};

/* Seconds after which a solver is given up, all its tries on one problem together. */
enum { PATIENCE = 10 };

static void* find(void* library, const char* name) {
  return library != NULL ? dlsym(library, name) : NULL;
}

bench_siconos* bench_siconos_open(void) {
  bench_siconos* s = calloc(1, sizeof *s);
  if (s == NULL) {
    return NULL;
  }
  s->library = dlopen("libsiconos_numerics.so.7", RTLD_NOW | RTLD_LOCAL);
  /* functions come as object pointers from dlsym: POSIX has them copied */
  const struct {
    const char* name;
    void* to;
  } wanted[] = {{"frictionContact_new_from_filename", (void*)&s->read},
                {"frictionContactProblem_free", (void*)&s->free_problem},
                {"solver_options_create", (void*)&s->create},
                {"solver_options_delete", (void*)&s->destroy},
                {"fc3d_driver", (void*)&s->spatial},
                {"fc2d_driver", (void*)&s->planar}};
  for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
    void* symbol = find(s->library, wanted[k].name);
    if (symbol == NULL) {
      cli_error("bench: Siconos numerics 4.4 (libsiconos_numerics.so.7) is not installed");
      bench_siconos_close(s);
      return NULL;
    }
    memcpy(wanted[k].to, &symbol, sizeof symbol);
  }
  return s;
}

void bench_siconos_close(bench_siconos* s) {
  if (s == NULL) {
    return;
  }
  if (s->problem != NULL) {
    s->free_problem(s->problem);
  }
  if (s->library != NULL) {
    dlclose(s->library);
  }
  free(s);
}

void bench_siconos_enter(bench_race* race) {
  static const bench_entrant list[] = {{"siconos nsgs", 500, 3},     {"siconos prox", 502, 3},
                                       {"siconos dsfp", 505, 3},     {"siconos nsn-ac", 504, 3},
                                       {"siconos nsn-fb", 513, 3},   {"siconos admm", 523, 3},
                                       {"siconos 2d-nsgs", 400, 2},  {"siconos 2d-cpg", 402, 2},
                                       {"siconos 2d-lemke", 404, 2}, {"siconos 2d-enum", 405, 2}};
  for (size_t k = 0; k < sizeof list / sizeof list[0] && race->entrants < BENCH_ENTRANTS; k++) {
    race->entrant[race->entrants++] = list[k];
  }
}

void bench_siconos_load(bench_siconos* s, const saltus_friction_problem* problem) {
  if (s->problem != NULL) {
    s->free_problem(s->problem);
  }
  s->problem = NULL;
  char folder[] = "/tmp/saltus-bench-XXXXXX";
  char path[sizeof folder + 16];
  if (mkdtemp(folder) == NULL) {
    return;
  }
  snprintf(path, sizeof path, "%s/fc.dat", folder);
  if (saltus_problem_file_write_friction(path, problem, cli_log()) == SALTUS_OK) {
    s->problem = s->read(path);
  }
  unlink(path);
  rmdir(folder);
}

/* One call with its own tolerance; the residual by our measure. */
static double call(bench_siconos* s, const bench_entrant* entrant,
                   const saltus_friction_problem* problem, double own, double* seconds) {
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  double* r = calloc(2 * rows, sizeof(double));
  siconos_options* options = s->create(entrant->siconos);
  double residual = INFINITY;
  if (r != NULL && options != NULL) {
    options->real[0] = own;
    options->integer[0] = options->integer[0] > 10000 ? options->integer[0] : 10000;
    double start = problem_seconds();
    (entrant->rows == 3 ? s->spatial : s->planar)(s->problem, r, r + rows, options);
    *seconds = problem_seconds() - start;
    residual = saltus_friction_residual(problem, r, r + rows).normalised;
  }
  if (options != NULL) {
    s->destroy(options);
  }
  free(r);
  return residual;
}

/* Tightens its tolerance until ours is met; the smallest time of a few calls then. */
static double time_in_child(bench_siconos* s, const bench_entrant* entrant,
                            const saltus_friction_problem* problem, double tol) {
  double seconds = 0.0;
  double own = tol;
  for (int k = 0; k < 4; k++, own *= 0.03) {
    if (call(s, entrant, problem, own, &seconds) <= tol) {
      double best = seconds;
      for (int again = 0; again < 10 && seconds < 0.01; again++) {
        call(s, entrant, problem, own, &seconds);
        best = fmin(best, seconds);
      }
      return best;
    }
  }
  return INFINITY;
}

static bool fits(const bench_entrant* entrant, const saltus_friction_problem* problem) {
  enum { ENUMERATION = 405, ENUMERATED = 6 }; /* it visits 3^contacts cases */
  for (int i = 0; i < problem->W.units; i++) {
    if (problem->W.offset[i + 1] - problem->W.offset[i] != entrant->rows) {
      return false;
    }
  }
  return entrant->siconos != ENUMERATION || problem->W.units <= ENUMERATED;
}

double bench_siconos_time(bench_siconos* s, const bench_entrant* entrant,
                          const saltus_friction_problem* problem, double tol) {
  int ends[2];
  if (!fits(entrant, problem) || s->problem == NULL || pipe(ends) != 0) {
    return INFINITY;
  }
  double best = INFINITY;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    if (freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL) {
      best = time_in_child(s, entrant, problem, tol);
    }
    _exit(write(ends[1], &best, sizeof best) == sizeof best ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &best, sizeof best) != sizeof best) {
    best = INFINITY;
  }
  close(ends[0]);
  if (child > 0) {
    waitpid(child, NULL, 0);
  }
  return best;
}
