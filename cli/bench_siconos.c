/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench_siconos.c - Siconos numerics 4.4 in the same process, for comparison only. The library is
 * loaded on request, so that nothing is linked with it. Problems are passed in its text format. Its
 * residual depends on the units of the problem, so the residual of Saltus decides. Each solver runs
 * in a child process with an alarm, so that one that does not return cannot block the benchmark.
 */
#include "bench_siconos.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* find(void* library, const char* name) {
  return library != NULL ? dlsym(library, name) : NULL;
}

bench_siconos* bench_siconos_open(void) {
  bench_siconos* s = calloc(1, sizeof *s);
  if (s == NULL) {
    return NULL;
  }
  s->library = dlopen("libsiconos_numerics.so.7", RTLD_NOW | RTLD_LOCAL);
  /* dlsym returns functions as object pointers; POSIX specifies this copy */
  const struct {
    const char* name;
    void* to;
  } wanted[] = {{"solver_options_create", (void*)&s->create},
                {"solver_options_delete", (void*)&s->destroy},
                {"solver_options_update_internal", (void*)&s->set_inner},
                {"frictionContact_new_from_filename", (void*)&s->read_friction},
                {"frictionContactProblem_free", (void*)&s->free_friction},
                {"fc3d_driver", (void*)&s->spatial},
                {"fc2d_driver", (void*)&s->planar},
                {"linearComplementarity_newFromFilename", (void*)&s->read_lcp},
                {"freeLinearComplementarityProblem", (void*)&s->free_lcp},
                {"linearComplementarity_driver", (void*)&s->lcp},
                {"mixedLinearComplementarity_new", (void*)&s->new_mixed},
                {"mixedLinearComplementarity_newFromFilename", (void*)&s->read_mixed},
                {"mixedLinearComplementarity_free", (void*)&s->free_mixed},
                {"mlcp_driver", (void*)&s->mixed},
                {"mlcp_driver_init", (void*)&s->mixed_init},
                {"mlcp_driver_reset", (void*)&s->mixed_reset}};
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

static void drop_problem(bench_siconos* s) {
  if (s->problem != NULL) {
    s->free_problem(s->problem);
  }
  if (s->stored != NULL) {
    s->free_problem(s->stored);
  }
  s->problem = NULL;
  s->stored = NULL;
}

void bench_siconos_close(bench_siconos* s) {
  if (s == NULL) {
    return;
  }
  drop_problem(s);
  if (s->library != NULL) {
    dlclose(s->library);
  }
  free(s);
}

/* Solver numbers and indices of parameters: Friction_cst.h of Siconos numerics. */
static const bench_entrant friction_list[] = {
    {.name = "siconos nsgs", .siconos = 500, .rows = 3},
    {.name = "siconos nsgs-nsn", .siconos = 500, .rows = 3, .inner = 550},
    {.name = "siconos nsgs-nsn-gp", .siconos = 500, .rows = 3, .inner = 551},
    {.name = "siconos nsgs-p", .siconos = 500, .rows = 3, .inner = 552},
    {.name = "siconos nsgs-pdiag", .siconos = 500, .rows = 3, .inner = 555},
    {.name = "siconos nsgs-quartic", .siconos = 500, .rows = 3, .inner = 562},
    {.name = "siconos nsgs-full", .siconos = 500, .rows = 3, .integer = {{7, 0}, {8, 1}}},
    {.name = "siconos nsgs-shuffle", .siconos = 500, .rows = 3, .integer = {{5, 1}}},
    {.name = "siconos nsgs-freeze", .siconos = 500, .rows = 3, .integer = {{19, 10}}},
    {.name = "siconos prox", .siconos = 502, .rows = 3},
    {.name = "siconos prox-nsgs", .siconos = 502, .rows = 3, .inner = 500},
    {.name = "siconos dsfp", .siconos = 505, .rows = 3},
    {.name = "siconos nsn-ac", .siconos = 504, .rows = 3},
    {.name = "siconos nsn-ac-cs", .siconos = 504, .rows = 3, .integer = {{13, 0}}},
    {.name = "siconos nsn-ac-hyb", .siconos = 504, .rows = 3, .integer = {{14, 3}, {13, 0}}},
    {.name = "siconos nsn-ac-nols", .siconos = 504, .rows = 3, .integer = {{11, -1}, {13, 0}}},
    {.name = "siconos nsn-ac-jm", .siconos = 504, .rows = 3, .integer = {{10, 1}, {13, 0}}},
    {.name = "siconos nsn-fb", .siconos = 513, .rows = 3},
    {.name = "siconos nsn-fb-cs", .siconos = 513, .rows = 3, .integer = {{13, 0}}},
    {.name = "siconos nsn-nm-cs", .siconos = 520, .rows = 3, .integer = {{13, 0}}},
    {.name = "siconos nsn-ac-test-cs", .siconos = 521, .rows = 3, .integer = {{13, 0}}},
    {.name = "siconos admm", .siconos = 523, .rows = 3},
    {.name = "siconos admm-rb", .siconos = 523, .rows = 3, .integer = {{9, 1}}},
    {.name = "siconos admm-rb-scal", .siconos = 523, .rows = 3, .integer = {{9, 1}, {3, 1}}},
    {.name = "siconos 2d-nsgs", .siconos = 400, .rows = 2},
    {.name = "siconos 2d-nsgs-freeze", .siconos = 400, .rows = 2, .integer = {{19, 10}}},
    {.name = "siconos 2d-cpg", .siconos = 402, .rows = 2},
    {.name = "siconos 2d-lemke", .siconos = 404, .rows = 2},
    {.name = "siconos 2d-enum", .siconos = 405, .rows = 2},
};

void bench_siconos_enter(bench_race* friction, bench_race* complementarity) {
  for (size_t k = 0;
       k < sizeof friction_list / sizeof friction_list[0] && friction->entrants < BENCH_ENTRANTS;
       k++) {
    friction->entrant[friction->entrants++] = friction_list[k];
  }
  siconos_lcp_enter(complementarity);
}

siconos_options* siconos_options_of(const bench_siconos* s, const bench_entrant* entrant,
                                    double own) {
  siconos_options* options = s->create(entrant->siconos);
  if (options == NULL) {
    return NULL;
  }
  options->real[0] = own;
  options->integer[0] = options->integer[0] > 10000 ? options->integer[0] : 10000;
  for (int k = 0; k < 2; k++) {
    if (entrant->integer[k].at > 0 && entrant->integer[k].at < options->integers) {
      options->integer[entrant->integer[k].at] = entrant->integer[k].value;
    }
  }
  if (entrant->inner != 0) {
    s->set_inner(options, 0, entrant->inner);
  }
  return options;
}

bool siconos_file_make(siconos_file* file, const char* name) {
  snprintf(file->folder, sizeof file->folder, "/tmp/saltus-bench-XXXXXX");
  if (mkdtemp(file->folder) == NULL) {
    return false;
  }
  snprintf(file->path, sizeof file->path, "%s/%s", file->folder, name);
  return true;
}

void siconos_file_drop(const siconos_file* file) {
  unlink(file->path);
  rmdir(file->folder);
}

static void load_friction(bench_siconos* s, const problem_job* j) {
  siconos_file file;
  if (!siconos_file_make(&file, "fc.dat")) {
    return;
  }
  if (saltus_problem_file_write_friction(file.path, problem_friction(j), cli_log()) == SALTUS_OK) {
    s->problem = s->read_friction(file.path);
    s->free_problem = s->free_friction;
  }
  siconos_file_drop(&file);
  /* solvers of Siconos differ in the best storage: both are available */
  size_t length = strlen(j->path);
  bool text = length > 4 && strcmp(j->path + length - 4, ".dat") == 0;
  if (s->problem != NULL && text && j->file->kind == SALTUS_PROBLEM_FRICTION) {
    s->stored = s->read_friction(j->path);
  }
}

void bench_siconos_load(bench_siconos* s, const problem_job* j) {
  drop_problem(s);
  if (problem_is_lcp(j)) {
    siconos_lcp_load(s, j);
  } else {
    load_friction(s, j);
  }
}

static double call_friction(bench_siconos* s, const bench_entrant* entrant, const problem_job* j,
                            double own, double* seconds) {
  const saltus_friction_problem* problem = problem_friction(j);
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  double* r = calloc(2 * rows, sizeof(double));
  siconos_options* options = siconos_options_of(s, entrant, own);
  double residual = INFINITY;
  if (r != NULL && options != NULL) {
    double start = saltusi_clock_cpu();
    (entrant->rows == 3 ? s->spatial : s->planar)(s->problem, r, r + rows, options);
    *seconds = saltusi_clock_cpu() - start;
    residual = saltus_friction_residual(problem, r, r + rows).normalised;
  }
  if (options != NULL) {
    s->destroy(options);
  }
  free(r);
  return residual;
}

/* Tightens the tolerance of the solver until that of Saltus is met; then the least time of many calls. */
static double time_in_child(bench_siconos* s, const bench_entrant* entrant, const problem_job* j,
                            double tol) {
  siconos_call* call = problem_is_lcp(j) ? siconos_lcp_call : call_friction;
  double seconds[BENCH_REPEATS];
  seconds[0] = INFINITY;
  double own = tol;
  for (int k = 0; k < 4; k++, own *= 0.03) {
    if (!(call(s, entrant, j, own, &seconds[0]) <= tol)) {
      continue;
    }
    int count = 1;
    double spent = seconds[0];
    while (count < BENCH_REPEATS && spent < BENCH_SECONDS) {
      seconds[count] = INFINITY;
      call(s, entrant, j, own, &seconds[count]);
      spent += seconds[count++];
    }
    return bench_least(seconds, count);
  }
  return INFINITY;
}

static bool fits(const bench_entrant* entrant, const problem_job* j) {
  enum { ENUMERATION = 405, ENUMERATED = 6 }; /* it visits 3^contacts cases */
  if (problem_is_lcp(j)) {
    return siconos_lcp_fits(entrant, j);
  }
  const saltus_block_matrix* W = &problem_friction(j)->W;
  for (int i = 0; i < W->units; i++) {
    if (W->offset[i + 1] - W->offset[i] != entrant->rows) {
      return false;
    }
  }
  return entrant->siconos != ENUMERATION || W->units <= ENUMERATED;
}

/* With the present problem, in a child. */
static double time_apart(bench_siconos* s, const bench_entrant* entrant, const problem_job* j,
                         double tol) {
  int ends[2];
  if (pipe(ends) != 0) {
    return INFINITY;
  }
  double best = INFINITY;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(s->stall_limit);
    if (freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL) {
      best = time_in_child(s, entrant, j, tol);
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

double bench_siconos_time(bench_siconos* s, const bench_entrant* entrant, const problem_job* j,
                          double tol, double ours) {
  if (!fits(entrant, j) || s->problem == NULL) {
    return INFINITY;
  }
  /* time limit of all runs on one problem; slower solvers are not compared */
  enum { LEAST = 2, TIMES = 100, MOST = 10 };
  double wanted = LEAST + TIMES * (isfinite(ours) ? ours : 1.0);
  s->stall_limit = (unsigned)fmin(wanted, MOST);
  double best = time_apart(s, entrant, j, tol);
  if (s->stored != NULL) {
    void* blocks = s->problem;
    s->problem = s->stored;
    best = fmin(best, time_apart(s, entrant, j, tol));
    s->problem = blocks;
  }
  return best;
}
