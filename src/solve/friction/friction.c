/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction.c - the registry of friction solvers, and the steps common to all: checks, memory, choice of the
 * initial guess, final residual.
 */
#include "base/log.h"
#include "base/reserved.h"
#include "base/suggest.h"
#include "solve/friction/friction_run.h"
#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <string.h>

static void solve_gauss_seidel(saltusi_friction_run* run) {
  const saltus_gauss_seidel_options* o = run->options;
  saltusi_gauss_seidel_settings settings = {
      .sweeps = o->iterations, .tol = run->tol, .anderson = o->anderson != 0};
  saltusi_run_gauss_seidel(run, &settings);
}

static void solve_momentum(saltusi_friction_run* run) {
  const saltus_accelerated_gauss_seidel_options* o = run->options;
  saltusi_friction_work* work = run->work;
  /* shares the memory of Anderson acceleration */
  saltusi_iterate_candidate candidate = {.r = work->sweep.mixing.last_f,
                                         .age = work->sweep.mixing.df};
  if (o->preload > 0.0) {
    saltusi_candidate_press(&candidate, &work->given, o->preload);
  } else {
    saltusi_candidate_start(&candidate, &work->given, 1.0, work->point);
  }
  saltusi_run_momentum(run, o->iterations, &candidate);
}

/* Residual from which on Newton's steps follow the interior point, the root of rounding: see interior_tol in
 * friction_auto.c. */
static const double handover = 1e-8;

static void solve_interior_point(saltusi_friction_run* run) {
  const saltus_interior_point_options* o = run->options;
  saltusi_interior_settings interior = {.iterations = o->iterations,
                                        .tol = o->polish > 0 ? fmax(run->tol, handover) : run->tol,
                                        .start_z = o->start,
                                        .start_y = o->start};
  saltusi_newton_settings newton = {.iterations = o->polish, .tol = run->tol};
  if (!saltusi_run_interior(run, &interior) && o->polish > 0) {
    saltusi_run_newton(run, &newton);
  }
}

static void solve_newton(saltusi_friction_run* run) {
  const saltus_iteration_options* o = run->options;
  saltusi_newton_settings settings = {.iterations = o->iterations, .tol = run->tol};
  saltusi_run_newton(run, &settings);
}

static void solve_proximal(saltusi_friction_run* run) {
  const saltus_iteration_options* o = run->options;
  saltusi_run_proximal(run, o->iterations, SALTUSI_PROXIMAL_START);
}

static const char* const no_yes[] = {"no", "yes", NULL};

static const saltus_field gauss_seidel_fields[] = {
    SALTUS_INT(saltus_gauss_seidel_options, iterations, 10000, 1, 1e9, "limit of iterations"),
    SALTUS_CHOICE(saltus_gauss_seidel_options, anderson, 1, 1, no_yes, "Anderson acceleration"),
};
static const saltus_field momentum_fields[] = {
    SALTUS_INT(saltus_accelerated_gauss_seidel_options, iterations, 50000, 1, 1e9,
               "limit of iterations"),
    SALTUS_REAL(saltus_accelerated_gauss_seidel_options, preload, 0.0, 0.0, 1e6,
                "initial guess, in typical impulses; 0: the given guess [1]"),
};
static const saltus_field interior_point_fields[] = {
    SALTUS_INT(saltus_interior_point_options, iterations, 200, 1, 1e6, "iterations at most"),
    SALTUS_REAL(saltus_interior_point_options, start, 100.0, 1e-6, 1e6,
                "initial point, in typical impulses and velocities [1]"),
    SALTUS_INT(saltus_interior_point_options, polish, 30, 0, 1e6, "limit of Newton steps after it"),
};
static const saltus_field newton_fields[] = {
    SALTUS_INT(saltus_iteration_options, iterations, 200, 1, 1e9, "limit of Newton steps"),
};
static const saltus_field proximal_fields[] = {
    SALTUS_INT(saltus_iteration_options, iterations, 500, 1, 1e9, "limit of proximal steps"),
};
#define FIELDS(table, type)                                                                        \
  { table, sizeof table / sizeof table[0], sizeof(type) }

#define SOLVER(id, label, text, origin, table, type, direct)                                       \
  static const saltusi_friction_ops id = {                                                         \
      .info = {.name = label, .summary = text, .source = origin, .options = FIELDS(table, type)},  \
      .factorises = direct,                                                                        \
      .solve = solve_##id,                                                                         \
  };

SOLVER(gauss_seidel, "gauss-seidel",
       "Gauss-Seidel by exact one-contact solves, with Anderson acceleration",
       "Jourdan, Alart & Jean, CMAME 155 (1998) 31-47", gauss_seidel_fields,
       saltus_gauss_seidel_options, false)
SOLVER(momentum, "accelerated-gauss-seidel",
       "Gauss-Seidel with momentum for each contact, for wedged bodies",
       "docs/solvers/accelerated-gauss-seidel.md", momentum_fields,
       saltus_accelerated_gauss_seidel_options, false)
SOLVER(interior_point, "interior-point",
       "primal-dual interior point with the full derivative of De Saxce's term",
       "Acary, Armand, Nguyen & Shpakovych, Optim. Methods Softw. 38 (2023)", interior_point_fields,
       saltus_interior_point_options, true)
SOLVER(newton, "semismooth-newton",
       "Newton on the Alart-Curnier function; requires a good initial guess",
       "Alart & Curnier, CMAME 92 (1991) 353-375", newton_fields, saltus_iteration_options, true)
SOLVER(proximal, "proximal",
       "proximal point iteration around Gauss-Seidel, Newton and interior point",
       "Acary, Bremond & Huber, INRIA RR-9118 (2018)", proximal_fields, saltus_iteration_options,
       true)
/* All friction solvers. A new one needs its file, a line here, and a page in docs/solvers. */
static const saltusi_friction_ops* const registry[] = {
    &saltusi_friction_auto, &gauss_seidel, &momentum, &interior_point, &newton, &proximal,
};
enum { REGISTRY_COUNT = sizeof registry / sizeof registry[0] };

struct saltus_friction_solver {
  const saltusi_friction_ops* ops;
  saltus_log log;
  size_t bytes; /* of this struct and the options that follow it */
  void* options;
  saltusi_friction_work work;
};

int saltus_friction_solver_count(void) {
  return REGISTRY_COUNT;
}

const saltus_solver_info* saltus_friction_solver_at(int i) {
  return i >= 0 && i < REGISTRY_COUNT ? &registry[i]->info : NULL;
}

/* The solver of a name, also of the one that it had up to 0.9.0. */
static const saltusi_friction_ops* find(const char* name) {
  if (strcmp(name, "momentum-sweeps") == 0) {
    return &momentum;
  }
  for (int i = 0; i < REGISTRY_COUNT; i++) {
    if (strcmp(registry[i]->info.name, name) == 0) {
      return registry[i];
    }
  }
  return NULL;
}

const saltus_solver_info* saltus_friction_solver_find(const char* name) {
  const saltusi_friction_ops* ops = name != NULL ? find(name) : NULL;
  return ops != NULL ? &ops->info : NULL;
}

static saltus_status refuse_name(const char* name, saltus_log log) {
  const char* names[REGISTRY_COUNT];
  for (int i = 0; i < REGISTRY_COUNT; i++) {
    names[i] = registry[i]->info.name;
  }
  const char* near = saltusi_suggest(name, names, REGISTRY_COUNT);
  saltusi_log(log, SALTUS_LEVEL_ERROR, "there is no friction solver \"%s\"; did you mean \"%s\"?",
              name, near != NULL ? near : "auto");
  return SALTUS_ERR_NAME;
}

saltus_status saltus_friction_solver_create(const saltus_solver_def* def,
                                            saltus_friction_solver** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_solver_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  const char* name = def->solver != NULL ? def->solver : "auto";
  const saltusi_friction_ops* ops = find(name);
  if (ops == NULL) {
    return refuse_name(name, def->log);
  }
  if (strcmp(name, ops->info.name) != 0) {
    saltusi_log(def->log, SALTUS_LEVEL_WARNING, "solver \"%s\" is called \"%s\"", name,
                ops->info.name);
  }
  const saltus_field_table* table = &ops->info.options;
  if (def->options != NULL) {
    saltus_status status = saltus_options_check(table, def->options, ops->info.name, def->log);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  size_t aligned = (size_t)SALTUS_ALIGNMENT - 1;
  size_t head = (sizeof(saltus_friction_solver) + aligned) & ~aligned;
  size_t bytes = head + table->size;
  saltus_friction_solver* solver = memory.alloc(bytes, memory.user);
  if (solver == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(solver, 0, bytes);
  solver->ops = ops;
  solver->log = def->log;
  solver->bytes = bytes;
  solver->options = (unsigned char*)solver + head;
  solver->work.memory = memory;
  if (def->options != NULL) {
    memcpy(solver->options, def->options, table->size);
  } else {
    saltus_options_defaults(table, solver->options);
  }
  *out = solver;
  return SALTUS_OK;
}

void saltus_friction_solver_destroy(saltus_friction_solver* solver) {
  if (solver != NULL) {
    saltus_allocator memory = solver->work.memory;
    saltusi_block_lu_release(&solver->work.lu, &memory);
    saltusi_buffer_release(&solver->work.first_memory, &memory);
    saltusi_buffer_release(&solver->work.second_memory, &memory);
    memory.free(solver, solver->bytes, memory.user);
  }
}

/* Conditions on a problem without which its sizes cannot be computed. */
static saltus_status check_ends(const saltus_friction_problem* problem, saltus_log log) {
  const saltus_block_matrix* W = &problem->W;
  bool fits = W->units >= 0 && W->offset[0] == 0 && W->start[0] == 0 && W->place[0] == 0;
  for (int i = 0; fits && i < W->units; i++) {
    fits = W->offset[i + 1] > W->offset[i] && W->start[i + 1] >= W->start[i];
  }
  if (!fits) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "friction problem: offsets and block rows have to start at 0 and ascend");
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

static void first_layout(const saltus_friction_solver* solver, saltusi_friction_work* work,
                         const saltus_friction_problem* problem, saltus_arena* arena) {
  const saltusi_friction_ops* ops = solver->ops;
  int units = problem->W.units;
  int rows = problem->W.offset[units];
  saltusi_friction_pattern_layout(&work->pattern, problem, arena);
  saltusi_friction_case_layout(&work->given, problem, arena);
  saltusi_gauss_seidel_layout(&work->sweep, rows, arena);
  if (ops->domains) {
    saltusi_domains_layout(&work->domains, units, saltusi_friction_unit_max(problem), arena);
    work->team = saltusi_thread_pool_layout(arena);
  }
  work->best = SALTUS_PUSH(arena, double, rows);
  work->point = SALTUS_PUSH(arena, double, rows);
}

/* Pattern and first-order memory; memory of factorizations is allocated on first use. */
static saltus_status adopt_pattern(saltus_friction_solver* solver,
                                   const saltus_friction_problem* problem) {
  saltusi_friction_work* work = &solver->work;
  work->filled = false;
  work->analysed = false;
  work->refused = false;
  work->lu.ready = false;
  saltus_status status = check_ends(problem, solver->log);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_arena arena = saltus_arena_counting();
  first_layout(solver, work, problem, &arena);
  status = saltusi_buffer_reserve(&work->first_memory, &work->memory, arena.used);
  if (status != SALTUS_OK) {
    saltusi_log(solver->log, SALTUS_LEVEL_ERROR, "friction solver %s: no memory for %zu bytes",
                solver->ops->info.name, arena.used);
    return status;
  }
  arena = saltus_arena_over(work->first_memory.block, work->first_memory.bytes);
  first_layout(solver, work, problem, &arena);
  status = saltusi_friction_pattern_fill(&work->pattern, problem, solver->log);
  work->filled = status == SALTUS_OK;
  if (work->filled && solver->ops->domains) {
    saltusi_domains_number(&work->domains, &work->pattern, 0);
  }
  return status;
}

saltus_status saltus_friction_solver_setup(saltus_friction_solver* solver,
                                           const saltus_friction_problem* problem) {
  assert(solver != NULL && problem != NULL);
  if (problem->W.units == 0) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_OK;
  if (!solver->work.filled || !saltusi_friction_pattern_same(&solver->work.pattern, problem)) {
    status = adopt_pattern(solver, problem);
  }
  if (status == SALTUS_OK && solver->ops->factorises) {
    saltusi_friction_reserve(
        &solver
             ->work); /* factors that are too large are not an error: first-order methods remain */
  }
  return status;
}

/* Checks q and mu; values of W that are not finite show in the residual. */
static saltus_status check_numbers(const saltus_friction_solver* solver,
                                   const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  for (int i = 0; i < pattern->units; i++) {
    if (saltusi_contact_rows(pattern, i) > 1 && !(in->mu[i] >= 0.0 && isfinite(in->mu[i]))) {
      saltusi_log(solver->log, SALTUS_LEVEL_ERROR,
                  "friction problem: mu[%d] is %g, must be finite and >= 0", i, in->mu[i]);
      return SALTUS_ERR_INPUT;
    }
  }
  if (!isfinite(in->velocity_unit)) {
    saltusi_log(solver->log, SALTUS_LEVEL_ERROR, "friction problem: q is not finite");
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

saltus_status saltus_friction_solve(saltus_friction_solver* solver,
                                    const saltus_friction_problem* problem, double tol, double* r,
                                    double* u, saltus_solve_result* result) {
  assert(solver != NULL && problem != NULL && result != NULL);
  result->outcome = SALTUS_SOLVED;
  result->residual = (saltus_residual){0};
  result->iterations = 0;
  result->stages[0] = '\0';
  if (problem->W.units == 0) {
    return SALTUS_OK;
  }
  saltusi_friction_work* work = &solver->work;
  saltus_status status = SALTUS_OK;
  if (!work->filled || !saltusi_friction_pattern_same(&work->pattern, problem)) {
    status = adopt_pattern(solver, problem);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_friction_case* in = &work->given;
  in->pattern = &work->pattern;
  in->domains = solver->ops->domains ? &work->domains : NULL;
  in->team = NULL;
  in->values = problem->W.values;
  in->q = problem->q;
  in->mu = problem->mu;
  saltusi_friction_case_prepare(in);
  saltusi_friction_run run = {.work = work,
                              .options = solver->options,
                              .tol = tol,
                              .cost_limit = INFINITY,
                              .result = result};
  status = check_numbers(solver, in);
  if (status == SALTUS_OK && !saltusi_run_start(&run, r)) {
    saltusi_log(solver->log, SALTUS_LEVEL_ERROR, "friction problem: W is not finite");
    status = SALTUS_ERR_INPUT;
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (run.best > tol) {
    saltusi_run_open_thread_pool(&run,
                                 solver->ops->domains ? solver->ops->threads(run.options) : 1);
    solver->ops->solve(&run);
    saltusi_run_close_thread_pool(&run);
  }
  size_t bytes = (size_t)work->pattern.rows * sizeof(double);
  memcpy(r, work->best, bytes);
  if (run.known) {
    memcpy(u, work->sweep.u, bytes);
    result->residual = run.residual;
  } else {
    result->residual = saltusi_friction_case_residual(in, r, u);
  }
  result->outcome = result->residual.normalised <= tol ? SALTUS_SOLVED : SALTUS_UNSOLVED;
  return SALTUS_OK;
}
