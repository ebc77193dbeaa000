/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_solver.c - the registry of complementarity solvers and their common parts: workspace, options, bilateral rows,
 * final residual.
 */
#include "base/log.h"
#include "base/reserved.h"
#include "base/suggest.h"
#include "solve/lcp/lcp_bilateral.h"
#include "solve/lcp/lcp_run.h"
#include "solve/lcp/lcp_tiny.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const saltusi_lcp_ops* const solvers[] = {
    &saltusi_lcp_auto,       &saltusi_lcp_lemke_solver,   &saltusi_lcp_principal_pivoting,
    &saltusi_lcp_active_set, &saltusi_lcp_interior_point, &saltusi_lcp_enumeration,
};
enum { SOLVER_COUNT = sizeof solvers / sizeof solvers[0] };

int saltus_lcp_solver_count(void) {
  return SOLVER_COUNT;
}

const saltus_solver_info* saltus_lcp_solver_at(int i) {
  return i >= 0 && i < SOLVER_COUNT ? &solvers[i]->info : NULL;
}

static const saltusi_lcp_ops* find(const char* name) {
  for (int i = 0; i < SOLVER_COUNT; i++) {
    if (strcmp(solvers[i]->info.name, name) == 0) {
      return solvers[i];
    }
  }
  return NULL;
}

const saltus_solver_info* saltus_lcp_solver_find(const char* name) {
  const saltusi_lcp_ops* ops = name != NULL ? find(name) : NULL;
  return ops != NULL ? &ops->info : NULL;
}

struct saltus_lcp_solver {
  saltus_allocator allocator;
  saltus_log log;
  const saltusi_lcp_ops* ops;
  size_t bytes; /* of this struct and the options that follow it */
  void* options;
  void* block; /* everything below */
  size_t block_bytes;
  saltusi_pool sparse_pool;           /* of the sparse factors in the workspace */
  saltusi_lcp_workspace room;         /* for the problem itself */
  saltusi_lcp_workspace reduced_room; /* of the problem without bilateral rows */
  saltusi_lcp_bilateral mixed;
  bool has_mixed;
};

static saltus_status refuse_name(const saltus_solver_def* def) {
  const char* names[SOLVER_COUNT];
  for (int i = 0; i < SOLVER_COUNT; i++) {
    names[i] = solvers[i]->info.name;
  }
  const char* near = saltusi_suggest(def->solver, names, SOLVER_COUNT);
  saltusi_log(def->log, SALTUS_LEVEL_ERROR,
              "there is no complementarity solver \"%s\"; did you mean \"%s\"?", def->solver,
              near != NULL ? near : "auto");
  return SALTUS_ERR_NAME;
}

saltus_status saltus_lcp_solver_create(const saltus_solver_def* def, saltus_lcp_solver** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_solver_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  const saltusi_lcp_ops* ops = def->solver != NULL ? find(def->solver) : &saltusi_lcp_auto;
  if (ops == NULL) {
    return refuse_name(def);
  }
  saltus_allocator allocator =
      def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  const saltus_field_table* table = &ops->info.options;
  if (def->options != NULL && table->count > 0) {
    saltus_status status = saltus_options_check(table, def->options, ops->info.name, def->log);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  size_t head =
      (sizeof(saltus_lcp_solver) + SALTUS_ALIGNMENT - 1) & ~(size_t)(SALTUS_ALIGNMENT - 1);
  size_t bytes = head + table->size;
  saltus_lcp_solver* solver = allocator.alloc(bytes, allocator.user);
  if (solver == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(solver, 0, bytes);
  solver->allocator = allocator;
  solver->sparse_pool = saltusi_pool_over(&allocator);
  solver->log = def->log;
  solver->ops = ops;
  solver->bytes = bytes;
  solver->options = (unsigned char*)solver + head;
  if (def->options != NULL) {
    memcpy(solver->options, def->options, table->size);
  } else if (table->count > 0) {
    saltus_options_defaults(table, solver->options);
  }
  *out = solver;
  return SALTUS_OK;
}

static void drop_room(saltus_lcp_solver* solver) {
  if (solver->block != NULL) {
    solver->allocator.free(solver->block, solver->block_bytes, solver->allocator.user);
  }
  saltusi_pool_free(&solver->sparse_pool);
  solver->sparse_pool = saltusi_pool_over(&solver->allocator);
  solver->block = NULL;
  solver->room = (saltusi_lcp_workspace){0};
  solver->reduced_room = (saltusi_lcp_workspace){0};
  solver->mixed = (saltusi_lcp_bilateral){0};
  solver->has_mixed = false;
}

void saltus_lcp_solver_destroy(saltus_lcp_solver* solver) {
  if (solver != NULL) {
    drop_room(solver);
    solver->allocator.free(solver, solver->bytes, solver->allocator.user);
  }
}

static saltus_status refuse(const saltus_lcp_solver* solver, const char* why) {
  saltusi_log(solver->log, SALTUS_LEVEL_ERROR, "complementarity problem: %s", why);
  return SALTUS_ERR_INPUT;
}

static bool columns_fit(const saltus_csr* s, int n) {
  if (s->rows != n || s->columns != n || s->start[0] != 0) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    if (s->start[i + 1] < s->start[i]) {
      return false;
    }
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
      if (s->column[k] < 0 || s->column[k] >= n) {
        return false;
      }
    }
  }
  return true;
}

static saltus_status validate(const saltus_lcp_solver* solver, const saltus_lcp* problem) {
  int n = problem->n;
  if (n < 0 || problem->bilateral < 0 || problem->bilateral > n) {
    return refuse(solver, "the number of rows or of bilateral rows is not possible");
  }
  if (problem->sparse.start != NULL && !columns_fit(&problem->sparse, n)) {
    return refuse(solver, "the sparse matrix is not square or has columns outside");
  }
  return SALTUS_OK;
}

/* How a problem is treated. Bilateral rows of large sparse problems are kept, those of others eliminated; between the
 * two sizes both are tried in this order. */
typedef struct treatment {
  saltusi_lcp_matrix M;       /* of the whole problem */
  saltusi_lcp_matrix reduced; /* a dense one without the bilateral rows, not yet filled */
  bool keep, eliminate;
} treatment;

static treatment treatment_of(const saltus_lcp_solver* solver, const saltus_lcp* problem) {
  static const double nothing = 0.0;
  treatment t = {.M = saltusi_lcp_matrix_of(problem)};
  if (problem->bilateral == 0) {
    return t;
  }
  int m = problem->n - problem->bilateral;
  bool small = problem->n <= SALTUSI_LCP_DENSE_TOO;
  t.reduced = (saltusi_lcp_matrix){.n = m, .dense = &nothing, .lower = m, .upper = m};
  t.keep = solver->ops->keeps && (t.M.banded || t.M.scattered);
  t.eliminate = small || !t.keep;
  t.M.lean = t.keep && t.eliminate;
  return t;
}

static bool fits(const saltus_lcp_solver* solver, const saltus_lcp* problem, const treatment* t) {
  bool whole = problem->bilateral == 0 || t->keep;
  return solver->block != NULL && (!whole || saltusi_lcp_workspace_fits(&solver->room, &t->M)) &&
         (!t->eliminate || (solver->has_mixed && problem->n <= solver->mixed.n &&
                            saltusi_lcp_workspace_fits(&solver->reduced_room, &t->reduced)));
}

static void layout(saltus_lcp_solver* solver, const saltus_lcp* problem, const treatment* t,
                   saltus_arena* arena) {
  if (problem->bilateral == 0 || t->keep) {
    saltusi_lcp_workspace_layout(&solver->room, &t->M, arena);
  }
  if (t->eliminate) {
    saltusi_lcp_workspace_layout(&solver->reduced_room, &t->reduced, arena);
    saltusi_lcp_bilateral_layout(&solver->mixed, problem->n, arena);
    solver->has_mixed = true;
  }
}

static saltus_status make_room(saltus_lcp_solver* solver, const saltus_lcp* problem,
                               const treatment* t) {
  drop_room(solver);
  if (t->M.scattered && (problem->bilateral == 0 || t->keep)) {
    saltus_status status =
        saltusi_sparse_lu_analyse(&solver->room.sparse, &t->M.sparse, &solver->sparse_pool);
    if (status != SALTUS_OK) {
      drop_room(solver);
      return status;
    }
  }
  saltus_arena arena = saltus_arena_counting();
  layout(solver, problem, t, &arena);
  /* never empty, so that a problem without rows is valid */
  size_t bytes = arena.used > 0 ? arena.used : 1;
  void* block = solver->allocator.alloc(bytes, solver->allocator.user);
  if (block == NULL) {
    drop_room(solver);
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  layout(solver, problem, t, &arena);
  solver->block = block;
  solver->block_bytes = bytes;
  return SALTUS_OK;
}

/* The problem is valid. */
static saltus_status prepare(saltus_lcp_solver* solver, const saltus_lcp* problem, treatment* t) {
  *t = treatment_of(solver, problem);
  if (t->eliminate && problem->n > SALTUSI_LCP_DENSE_MAX) {
    return refuse(solver, "bilateral rows are eliminated in up to 4000 rows; more need a sparse "
                          "matrix and a solver that keeps them (auto, principal-pivoting, "
                          "active-set, interior-point)");
  }
  return fits(solver, problem, t) ? SALTUS_OK : make_room(solver, problem, t);
}

saltus_status saltus_lcp_solver_setup(saltus_lcp_solver* solver, const saltus_lcp* problem) {
  assert(solver != NULL && problem != NULL);
  treatment t;
  saltus_status status = validate(solver, problem);
  return status == SALTUS_OK ? prepare(solver, problem, &t) : status;
}

static double norm(int n, const double* x, double* largest) {
  double sum = 0.0;
  *largest = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
    double size = fabs(x[i]);
    *largest = size > *largest ? size : *largest;
  }
  return sqrt(sum);
}

/* A problem without bilateral rows, or with kept ones; the best solution is in z. */
static void run_solver(const saltus_lcp_solver* solver, saltusi_lcp_run* run) {
  int n = run->M->n;
  bool trivial = true;
  for (int i = 0; i < n; i++) {
    trivial = trivial && (i < run->bilateral ? run->q[i] == 0.0 : run->q[i] >= 0.0);
  }
  run->residual = INFINITY;
  if (trivial) {
    memset(run->z, 0, (size_t)n * sizeof(double));
    run->residual = 0.0;
    run->solved = true;
    return;
  }
  saltusi_lcp_run_guess(run);
  solver->ops->solve(run);
  if (run->residual < INFINITY) {
    memcpy(run->z, run->room->best, (size_t)n * sizeof(double));
  }
}

static void keep_better(const saltus_lcp* problem, const double* trial, double* z, double* w,
                        saltus_solve_result* result) {
  saltus_residual found = saltus_lcp_residual(problem, trial, w);
  if (!(found.normalised >= result->residual.normalised)) { /* the guess may be NaN */
    memcpy(z, trial, (size_t)problem->n * sizeof(double));
    result->residual = found;
  }
}

/* Expands the solution, and refines it if necessary. */
static void put_back(saltus_lcp_solver* solver, const saltus_lcp* problem, double tol, double* z,
                     double* w, saltus_solve_result* result) {
  saltusi_lcp_bilateral* mixed = &solver->mixed;
  saltusi_lcp_bilateral_expand(mixed, problem);
  keep_better(problem, mixed->expanded, z, w, result);
  if (!(result->residual.normalised <= tol) && saltusi_lcp_bilateral_polish(mixed, problem)) {
    keep_better(problem, mixed->polished, z, w, result);
  }
}

/* One attempt at the mixed problem; true if no other is needed. */
static bool run_mixed(saltus_lcp_solver* solver, const saltus_lcp* problem, double tol, double* z,
                      double* w, saltus_solve_result* result, unsigned how) {
  saltusi_lcp_bilateral* mixed = &solver->mixed;
  bool careful = (how & 1U) != 0;
  saltusi_reduction reduction = saltusi_lcp_bilateral_reduce(mixed, problem, careful);
  if (reduction != SALTUSI_REDUCED) {
    result->outcome = reduction == SALTUSI_REDUCTION_NONE ? SALTUS_NO_SOLUTION : result->outcome;
    return reduction == SALTUSI_REDUCTION_NONE;
  }
  double q_size;
  double size = norm(problem->n, problem->q, &q_size);
  int m = problem->n - problem->bilateral;
  const saltus_lcp rest = {.n = m, .M = mixed->reduced, .q = mixed->rest};
  saltusi_lcp_matrix M = saltusi_lcp_matrix_of(&rest);
  norm(m, mixed->rest, &q_size);
  saltusi_lcp_run run = {.M = &M,
                         .q = mixed->rest,
                         .q_size = q_size,
                         .target = 0.5 * tol * size,
                         .basis_is_enough = (how & 2U) == 0,
                         .options = solver->options,
                         .room = &solver->reduced_room,
                         .z = mixed->z,
                         .stages = result->stages};
  memcpy(mixed->z, z + problem->bilateral, (size_t)m * sizeof(double));
  run_solver(solver, &run);
  result->iterations += run.iterations;
  if (run.residual < INFINITY) {
    put_back(solver, problem, tol, z, w, result);
  }
  /* a proof is accepted if the reduction was not the careful one, or if there is no better result */
  if (run.none && result->residual.normalised > tol) {
    result->outcome = SALTUS_NO_SOLUTION;
  }
  return run.none || result->residual.normalised <= tol;
}

static void solve_mixed(saltus_lcp_solver* solver, const saltus_lcp* problem, double tol, double* z,
                        double* w, saltus_solve_result* result) {
  /* elimination by LU with any basis, by LU, then both by principal pivots */
  static const unsigned ways[] = {0U, 1U, 2U, 3U};
  result->residual = saltus_lcp_residual(problem, z, w);
  for (int k = 0; k < 4; k++) {
    if (run_mixed(solver, problem, tol, z, w, result, ways[k])) {
      break;
    }
  }
}

/* The problem as it is, without bilateral rows or with kept ones. target: for |min(z, w)| */
static void solve_whole(saltus_lcp_solver* solver, const saltus_lcp* problem, const treatment* t,
                        double target, double q_size, double* z, saltus_solve_result* result) {
  saltusi_lcp_run run = {.M = &t->M,
                         .q = problem->q,
                         .q_size = q_size,
                         .bilateral = problem->bilateral,
                         .quick = t->eliminate,
                         .target = target,
                         .options = solver->options,
                         .room = &solver->room,
                         .z = z,
                         .stages = result->stages};
  run_solver(solver, &run);
  result->iterations = run.iterations;
  if (run.none) {
    result->outcome = SALTUS_NO_SOLUTION;
  }
  if (!(run.residual < INFINITY)) { /* z served as room */
    memset(z, 0, (size_t)problem->n * sizeof(double));
  }
}

/* A few rows without a guess, solved without workspace and without analysis of the matrix. True when solved; values
 * that are not finite show in the residual or in |q|. */
static bool solve_tiny(const saltus_lcp* problem, double tol, double* z, double* w,
                       saltus_solve_result* result) {
  int n = problem->n;
  double size2 = 0.0;
  for (int i = 0; i < n; i++) {
    if (z[i] != 0.0) {
      return false;
    }
    size2 += problem->q[i] * problem->q[i];
  }
  double trial[SALTUSI_LCP_TINY_MAX];
  saltusi_lcp_tiny_result tiny = saltusi_lcp_tiny(problem, trial);
  if (!tiny.found || !isfinite(size2)) {
    return false;
  }
  saltus_residual residual = saltus_lcp_residual(problem, trial, w);
  if (!(residual.normalised <= tol)) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    z[i] = trial[i];
  }
  saltusi_lcp_run run = {.stages = result->stages};
  if (tiny.lemke > 0) {
    saltusi_lcp_run_note(&run, "lemke", tiny.lemke);
  } else if (tiny.principal > 0) {
    saltusi_lcp_run_note(&run, "principal-pivoting", tiny.principal);
  }
  result->iterations = run.iterations;
  result->residual = residual;
  result->outcome = SALTUS_SOLVED;
  return true;
}

saltus_status saltus_lcp_solve(saltus_lcp_solver* solver, const saltus_lcp* problem, double tol,
                               double* z, double* w, saltus_solve_result* result) {
  assert(solver != NULL && problem != NULL && result != NULL);
  result->outcome = SALTUS_UNSOLVED;
  result->residual = (saltus_residual){INFINITY, INFINITY, INFINITY};
  result->iterations = 0;
  result->stages[0] = '\0';
  saltus_status status = validate(solver, problem);
  if (status != SALTUS_OK) {
    return status;
  }
  if (problem->n == 0) {
    result->residual = (saltus_residual){0};
    result->outcome = SALTUS_SOLVED;
    return SALTUS_OK;
  }
  if (solver->ops->tiny && problem->n <= SALTUSI_LCP_TINY_MAX &&
      solve_tiny(problem, tol, z, w, result)) {
    return SALTUS_OK;
  }
  treatment t;
  status = prepare(solver, problem, &t);
  if (status != SALTUS_OK) {
    return status;
  }
  double largest;
  double size = norm(problem->n, problem->q, &largest);
  if (!isfinite(size) || !isfinite(t.M.largest)) {
    return refuse(solver, "an entry of M or q is not finite, or too large to be squared");
  }
  if (problem->bilateral == 0 || t.keep) {
    solve_whole(solver, problem, &t, tol * size, largest, z, result);
    result->residual = saltus_lcp_residual(problem, z, w);
    if (!(result->residual.normalised <= 1.0)) { /* zero is no worse than |q| */
      memset(z, 0, (size_t)problem->n * sizeof(double));
      result->residual = saltus_lcp_residual(problem, z, w);
    }
  }
  if (t.eliminate && !(result->residual.normalised <= tol)) {
    solve_mixed(solver, problem, tol, z, w, result);
    result->residual = saltus_lcp_residual(problem, z, w);
  }
  if (result->residual.normalised <= tol) {
    result->outcome = SALTUS_SOLVED;
  }
  return SALTUS_OK;
}
