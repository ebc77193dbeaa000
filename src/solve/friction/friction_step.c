/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_step.c - see friction_step.h.
 */
#include "solve/friction/friction_step.h"

#include "math/matrix.h"
#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Targeted residual relative to |q|, and the accepted one: rounding of W times the condition number of stacks of
 * contacts. */
static const double aim = 1e-14;
static const double accepted = 1e-10;

/* Residual of a guess, the impulses of the last step, whose load distribution is kept. */
static const double kept_guess = 1e-10;
/* Largest change of impulses, relative to the largest one, with which it counts as kept: inconsistent rows change them by
 * less, and a drift grows beyond it. */
static const double kept_distribution = 1e-8;
/* Residual of a load distribution: near that of a solution without it. */
static const double distributed_to = 1e-12;

/* Accelerated iterations before Newton's method, and before the target is lowered. */
enum { FIRST_SWEEPS = 40, MORE_SWEEPS = 160 };

/* Active rows: eigenvalues of W below this part of the diagonal count as zero, about half of the digits of W. */
static const double held_soft = 1e-9;
/* Iterations on them continue while they halve the residual: each divides it by 1 + eigenvalue / held_soft, at least 2
 * for relevant components. */
static const double held_gain = 0.5;

/* Sizes of a full W. */
static size_t square(int n) {
  size_t side = n < SALTUSI_STEP_DENSE_MAX ? (size_t)n : (size_t)SALTUSI_STEP_DENSE_MAX;
  return side * side;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/* The layout is complete. */
static void* no_memory(size_t bytes, void* user) {
  (void)bytes;
  *(bool*)user = true;
  return NULL;
}

void saltusi_friction_step_layout_sizes(saltusi_friction_step* step,
                                        const saltusi_step_sizes* sizes, saltus_arena* arena) {
  assert(step != NULL && sizes != NULL && arena != NULL);
  saltusi_friction_work* work = &step->work;
  saltusi_friction_pattern* pattern = &work->pattern;
  saltusi_friction_case* in = &work->given;
  int n = sizes->units;
  int each = sizes->rows_each;
  step->blocks_max = sizes->blocks;
  step->values_max = sizes->values;
  pattern->offset = SALTUS_PUSH(arena, int, n + 1);
  pattern->start = SALTUS_PUSH(arena, int, n + 1);
  pattern->unit = SALTUS_PUSH(arena, int, sizes->blocks);
  pattern->place = SALTUS_PUSH(arena, int, sizes->blocks + 1);
  pattern->bilateral = SALTUS_PUSH(arena, unsigned char, n);
  pattern->diagonal = SALTUS_PUSH(arena, int, n);
  pattern->local_at = SALTUS_PUSH(arena, int, n + 1);
  in->rho = SALTUS_PUSH(arena, double, n);
  in->local = SALTUS_PUSH2(arena, double, n, saltusi_one_contact_workspace(each));
  in->slip = SALTUS_PUSH(arena, double, n);
  in->scratch = SALTUS_PUSH2(arena, double, each, each + 2);
  in->pivot = SALTUS_PUSH(arena, int, each);
  saltusi_gauss_seidel_layout(&work->sweep, sizes->rows, arena);
  saltusi_domains_layout(&work->domains, n, each, arena);
  work->team = saltusi_thread_pool_layout(arena);
  work->best = SALTUS_PUSH(arena, double, sizes->rows);
  work->point = SALTUS_PUSH(arena, double, sizes->rows);
  step->values = SALTUS_PUSH(arena, double, step->values_max);
  saltusi_friction_load_layout(&step->load, sizes->rows, arena);
  /* memory of a fully coupled problem with this number of contacts, sufficient for sparse problems of many more */
  int full = n < sizes->factored ? n : sizes->factored;
  step->factored = full;
  step->most = n;
  const saltusi_friction_sizes factors = {
      .units = full,
      .rows = full * each,
      .unit_max = each,
      .values = square(full * each),
      .local = (size_t)full * (size_t)saltusi_one_contact_workspace(each),
      .soft = saltusi_compliant_workspace(sizes->bodies > 0 ? n : 0, sizes->bodies)};
  saltusi_friction_second_layout(work, &factors, arena);
}

void saltusi_friction_step_layout(saltusi_friction_step* step, int units_max, int rows_each,
                                  int rows_max, saltus_arena* arena) {
  assert(step != NULL && arena != NULL);
  size_t few = (size_t)SALTUSI_STEP_NEIGHBOURS * (size_t)units_max;
  const saltusi_step_sizes sizes = {.units = units_max,
                                    .rows_each = rows_each,
                                    .rows = rows_max,
                                    .blocks = larger(square(units_max), few),
                                    .values = larger(square(rows_max), few * square(rows_each)),
                                    .factored = SALTUSI_STEP_FACTORED};
  saltusi_friction_step_layout_sizes(step, &sizes, arena);
}

static void close_pattern(saltusi_friction_step* step) {
  const saltusi_friction_pattern* pattern = &step->work.pattern;
  saltusi_pattern_close(&step->work.pattern);
  step->equalities = 0;
  for (int i = 0; i < pattern->units; i++) {
    step->equalities += pattern->bilateral[i];
  }
}

void saltusi_friction_step_load(saltusi_friction_step* step, const saltusi_step_blocks* from,
                                int first, int last) {
  saltusi_friction_pattern* pattern = &step->work.pattern;
  assert((size_t)(from->start[last] - from->start[first]) <= step->blocks_max);
  saltusi_pattern_open(pattern, last - first, from->offset + first,
                       from->bilateral != NULL ? from->bilateral + first : NULL);
  for (int i = first; i < last; i++) {
    pattern->start[i - first] = pattern->blocks;
    for (int e = from->start[i]; e < from->start[i + 1]; e++) {
      saltusi_pattern_put(pattern, i - first, from->unit[e] - first);
    }
  }
  close_pattern(step);
  step->given = from->values + from->place[from->start[first]];
}

/* Stores the nonzero blocks of a dense W; false if they do not fit. */
static bool write_blocks(saltusi_friction_step* step, int units, const int* first,
                         const double* W) {
  saltusi_friction_pattern* pattern = &step->work.pattern;
  int rows = first[units];
  double* to = step->values;
  saltusi_pattern_open(pattern, units, first, NULL);
  for (int i = 0; i < units; i++) {
    pattern->start[i] = pattern->blocks;
    for (int j = 0; j < units; j++) {
      bool empty = i != j;
      for (int k = first[i]; k < first[i + 1] && empty; k++) {
        for (int c = first[j]; c < first[j + 1]; c++) {
          empty = empty && W[k * rows + c] == 0.0;
        }
      }
      if (empty) {
        continue;
      }
      size_t entries = (size_t)(first[i + 1] - first[i]) * (size_t)(first[j + 1] - first[j]);
      if ((size_t)pattern->blocks == step->blocks_max ||
          (size_t)(to - step->values) + entries > step->values_max) {
        return false;
      }
      saltusi_pattern_put(pattern, i, j);
      for (int k = first[i]; k < first[i + 1]; k++) {
        for (int c = first[j]; c < first[j + 1]; c++) {
          *to++ = W[k * rows + c];
        }
      }
    }
  }
  close_pattern(step);
  step->given = step->values;
  return true;
}

static bool nothing_presses(int units, const int* first, const double* q) {
  for (int i = 0; i < units; i++) {
    if (!(q[first[i]] >= 0.0)) {
      return false;
    }
  }
  return true;
}

bool saltusi_friction_step_single(int d, double mu, const double* W, const double* q, double* r) {
  assert(d >= 1 && d <= 3 && W != NULL && q != NULL && r != NULL && mu >= 0.0);
  if (q[0] >= 0.0) {
    memset(r, 0, (size_t)d * sizeof(double));
    return true;
  }
  double data[16];
  double slip = 0.0;
  saltusi_one_contact_prepare(d, W, data);
  if (d == 3) {
    saltusi_one_contact_spatial(data, mu, q, r, &slip);
  } else if (d == 2) {
    saltusi_one_contact_planar(data, mu, q, r);
  } else {
    saltusi_one_contact_normal(data, q, r);
  }
  double u[3];
  for (int k = 0; k < d; k++) {
    u[k] = q[k];
    for (int c = 0; c < d; c++) {
      u[k] += W[k * d + c] * r[c];
    }
  }
  double rho = saltusi_unit_rho(saltusi_mean_diagonal(d, W), 0.0);
  double miss2 = saltusi_natural_map2(d, mu, rho, r, u);
  return miss2 <= accepted * accepted * (saltusi_velocity_unit(d, q) * saltusi_velocity_unit(d, q));
}

static double aim_of(const saltusi_friction_step* step) {
  return step->tol > 0.0 ? step->tol : aim;
}

static double accepted_of(const saltusi_friction_step* step) {
  return step->tol > accepted ? step->tol : accepted;
}

/* Newton's method from the best point: a few steps near a solution, an early end elsewhere. */
static bool try_newton(saltusi_friction_run* run) {
  if (run->work->refused) {
    return false;
  }
  saltusi_newton_settings few = {.iterations = 8, .tol = run->tol, .trial = 4, .no_pivoting = true};
  saltusi_run_from_best(run);
  return saltusi_run_newton(run, &few);
}

static bool try_sweeps(saltusi_friction_run* run, int sweeps) {
  saltusi_gauss_seidel_settings settings = {.sweeps = sweeps, .tol = run->tol, .anderson = true};
  saltusi_run_from_best(run);
  return saltusi_run_gauss_seidel(run, &settings);
}

/* Whether the predicted iterations to the target cost more than Newton's method near a solution. */
static bool newton_is_cheaper(saltusi_friction_run* run, double before) {
  enum { STEPS = 4 };
  saltusi_friction_work* work = run->work;
  double rate = log(run->best / before) / FIRST_SWEEPS;
  double needed = rate < 0.0 ? log(run->tol / run->best) / rate : INFINITY;
  return needed > MORE_SWEEPS ||
         (saltusi_friction_analyse(work) &&
          needed * work->pattern.sweep_cost > STEPS * saltusi_newton_cost(work));
}

/* Gauss-Seidel and Newton's method, then the whole portfolio with the required tolerance. */
static bool solve_many(const saltusi_friction_step* step, saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  if (run->best <= run->tol) { /* the guess */
    return true;
  }
  int units = work->pattern.units;
  for (int k = 0; k < 2; k++) {
    saltusi_sweep(&work->given, work->point);
  }
  double residual =
      saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
  if (!isfinite(residual)) {
    return false; /* W is not finite: no later stage can help */
  }
  if (saltusi_run_note(run, "gauss-seidel", (saltusi_stage){2, residual}) ||
      (units <= 2 && saltusi_run_enumeration(run))) {
    return true;
  }
  double before = run->best;
  if (try_sweeps(run, FIRST_SWEEPS)) {
    return true;
  }
  bool newton = newton_is_cheaper(run, before);
  if ((newton && try_newton(run)) || try_sweeps(run, MORE_SWEEPS)) {
    return true;
  }
  double enough = accepted_of(step);
  if (run->best > enough) {
    run->tol = enough;
    saltusi_run_from_best(run);
    saltusi_friction_auto.solve(run);
    run->tol = aim_of(step);
  }
  return try_newton(run) || run->best <= enough;
}

/* Initial point of the stages: the guess if its residual is below that of zero, else zero. False when W is not
 * finite. */
static bool start(saltusi_friction_run* run, int n, const double* r, const double* slip) {
  saltusi_friction_work* work = run->work;
  size_t bytes = (size_t)n * sizeof(double);
  bool guessed = false;
  for (int k = 0; k < n && !guessed; k++) {
    guessed = r[k] != 0.0;
  }
  if (guessed && slip != NULL) {
    memcpy(work->given.slip, slip, (size_t)work->pattern.units * sizeof(double));
  }
  bool finite = !guessed || saltusi_run_start(run, r);
  if (guessed && memcmp(work->point, r, bytes) == 0) {
    return finite;
  }
  memset(work->given.slip, 0, (size_t)work->pattern.units * sizeof(double));
  memset(work->point, 0, bytes);
  memset(work->best, 0, bytes);
  run->best = INFINITY;
  return finite;
}

static void prepare(saltusi_friction_step* step, const double* mu, const double* q) {
  saltusi_friction_work* work = &step->work;
  step->lacks = false;
  work->memory = (saltus_allocator){.alloc = no_memory, .user = &step->lacks};
  work->analysed = false; /* the packed data belong to another W or to other bodies */
  work->refused = false;
  work->lu.ready = false;
  work->given.bodies = step->bodies;
  work->given.pattern = &work->pattern;
  work->given.domains = saltusi_domains_of(&work->domains, &work->pattern);
  work->given.team = NULL;
  work->given.values = step->given;
  work->given.q = q;
  work->given.mu = mu;
  saltusi_friction_case_prepare(&work->given);
}

/* Factors of W + soft D, D the diagonal: regular even for linearly dependent rows. */
static bool factor_soft(saltusi_friction_work* work, double soft) {
  const saltusi_friction_case* in = &work->given;
  saltusi_block_lu* lu = &work->lu;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  for (int i = 0; i < lu->units; i++) {
    for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
      double* to = lu->values + lu->place[e];
      size_t bytes = (lu->place[e + 1] - lu->place[e]) * sizeof(double);
      if (lu->source[e] < 0) {
        memset(to, 0, bytes);
      } else {
        memcpy(to, in->values + in->pattern->place[lu->source[e]], bytes);
      }
    }
    int d = saltusi_unit_rows(in->pattern, i);
    double* own = lu->values + lu->place[lu->diagonal[i]];
    for (int k = 0; k < d; k++) {
      own[k * (d + 1)] += soft / in->rho[i];
    }
  }
  lu->failures = 0;
  lu->no_pivoting = false;
  return saltusi_block_lu_factor(lu);
}

/* r <- r - (W + soft D)^-1 (W r + q), from zero: r has no component in the null space of W, and other components of the
 * residual are divided by 1 + eigenvalue / soft each time. Returns the residual. */
static double iterate_soft(saltusi_friction_step* step, double* r) {
  enum { MOST = 60 };
  saltusi_friction_work* work = &step->work;
  int n = work->pattern.rows;
  double best = INFINITY;
  for (int k = 0; k < MOST; k++) {
    double residual = saltusi_friction_case_residual(&work->given, r, work->sweep.u).normalised;
    if (!(residual < held_gain * best) && k > 0) {
      return fmin(residual, best); /* rounding, or inconsistent rows */
    }
    best = residual;
    if (residual <= aim_of(step)) {
      break;
    }
    saltusi_block_lu_solve(&work->lu, work->sweep.u, work->point);
    for (int a = 0; a < n; a++) {
      r[a] -= work->point[a];
    }
    step->iterations++;
  }
  return best;
}

bool saltusi_friction_step_hold(saltusi_friction_step* step, const double* q, double* r) {
  assert(step != NULL);
  saltusi_friction_work* work = &step->work;
  int n = work->pattern.rows;
  step->iterations = 0;
  memset(r, 0, (size_t)n * sizeof(double));
  step->bodies = NULL;
  prepare(step, NULL, q);
  if (!isfinite(work->given.velocity_unit)) {
    return false;
  }
  if (factor_soft(work, held_soft) && iterate_soft(step, r) <= accepted_of(step)) {
    return true;
  }
  saltus_solve_result result = {0};
  const saltus_friction_auto_options options = {.threads = 1};
  saltusi_friction_run run = {.work = work,
                              .options = &options,
                              .tol = aim_of(step),
                              .cost_limit = INFINITY,
                              .result = &result};
  memset(r, 0, (size_t)n * sizeof(double));
  if (!saltusi_run_start(&run, r)) {
    return false;
  }
  saltusi_run_open_thread_pool(&run, step->threads);
  bool solved = solve_many(step, &run);
  saltusi_run_close_thread_pool(&run);
  memcpy(r, work->best, (size_t)n * sizeof(double));
  step->iterations += result.iterations;
  return solved;
}

/* Whether the solver left the load distribution of its guess: it adds rounding over the softness of its factors to
 * dependent rows, which grows from step to step. */
static bool is_near(int n, const double* r, const double* guess) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = saltusi_larger(most, fabs(r[i] - guess[i]));
  }
  return most <= kept_distribution * saltusi_max_abs(n, guess);
}

/* Two iterations from the guess, where they are sufficient and keep its load distribution. */
static bool rest_by_iterations(saltusi_friction_step* step, const double* guess, double* r) {
  saltusi_friction_work* work = &step->work;
  const int n = work->pattern.rows;
  for (int k = 0; k < 2; k++) {
    saltusi_sweep(&work->given, work->point);
  }
  step->iterations = 2;
  if (!(saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised <=
        aim) ||
      !is_near(n, work->point, guess)) {
    return false;
  }
  memcpy(r, work->point, (size_t)n * sizeof(double));
  return true;
}

/* Bodies at rest, whose guess is a solution but for rounding: two iterations, or proximal points from it, which keep its
 * load distribution. False: not solved, the guess is the first point again. */
static bool keep_guess(saltusi_friction_step* step, double* values, const double* guess,
                       double* r) {
  saltusi_friction_work* work = &step->work;
  const size_t bytes = (size_t)work->pattern.rows * sizeof(double);
  const size_t slips = (size_t)work->pattern.units * sizeof(double);
  bool kept = rest_by_iterations(step, guess, r);
  if (!kept) {
    kept = saltusi_friction_load_keep(&step->load, work, values, distributed_to, guess, r);
    step->iterations += step->load.solved;
  }
  if (!kept) {
    memcpy(work->best, guess, bytes);
    memcpy(work->point, guess, bytes);
  }
  if (step->slip != NULL) {
    memcpy(kept ? step->slip : work->given.slip, kept ? work->given.slip : step->slip, slips);
  }
  return kept;
}

bool saltusi_friction_step_solve_blocks(saltusi_friction_step* step, const double* mu,
                                        const double* q, double* r) {
  assert(step != NULL);
  saltusi_friction_work* work = &step->work;
  int units = work->pattern.units;
  int n = work->pattern.rows;
  step->iterations = 0;
  if (step->equalities == 0 && nothing_presses(units, work->pattern.offset, q)) {
    memset(r, 0, (size_t)n * sizeof(double));
    return true;
  }
  prepare(step, mu, q);
  const saltus_friction_auto_options options = {.threads = 1};
  saltus_solve_result result = {0};
  saltusi_friction_run run = {.work = work,
                              .options = &options,
                              .tol = aim_of(step),
                              .cost_limit = INFINITY,
                              .result = &result};
  if (!isfinite(work->given.velocity_unit) || !start(&run, n, r, step->slip)) {
    memset(r, 0, (size_t)n * sizeof(double));
    return false;
  }
  const bool solution =
      step->redistributes && run.best <= accepted; /* for its distribution alone */
  const bool kept = run.best <= kept_guess && !solution;
  double* guess =
      kept && step->distributes && n <= step->load.work.rows_max ? step->load.work.vectors : NULL;
  if (guess != NULL) {
    memcpy(guess, work->best, (size_t)n * sizeof(double));
  }
  double* values = step->values + (step->given - step->values);
  if (guess != NULL && step->tol == 0.0 && !step->thin && run.best > aim &&
      keep_guess(step, values, guess, r)) {
    return true;
  }
  saltusi_run_open_thread_pool(&run, step->threads);
  bool solved = solution || (step->bodies != NULL ? saltusi_run_bodies(&run)
                                                  : !step->thin && solve_many(step, &run));
  saltusi_run_close_thread_pool(&run);
  memcpy(r, work->best, (size_t)n * sizeof(double));
  if (step->slip != NULL) {
    memcpy(step->slip, work->given.slip, (size_t)units * sizeof(double));
  }
  step->iterations = result.iterations;
  step->load.work.degree = 0;
  const bool distributes = solved && step->distributes && step->tol == 0.0 && !step->thin;
  if (distributes && !kept) {
    step->iterations +=
        saltusi_friction_load_distribute(&step->load, work, values, distributed_to, r);
  } else if (distributes && guess != NULL && !is_near(n, r, guess)) {
    saltusi_friction_load_keep(&step->load, work, values, distributed_to, guess, r);
    step->iterations += step->load.solved;
  }
  return solved;
}

bool saltusi_friction_step_solve(saltusi_friction_step* step, int units, const int* first,
                                 const double* mu, const double* W, const double* q, double* r) {
  assert(step != NULL && units >= 0);
  int n = first[units];
  step->iterations = 0;
  step->bodies = NULL;
  if (nothing_presses(units, first, q)) {
    memset(r, 0, (size_t)n * sizeof(double));
    return true;
  }
  if (units == 1 && saltusi_friction_step_single(n, mu[0], W, q, r)) {
    return true;
  }
  return write_blocks(step, units, first, W) && saltusi_friction_step_solve_blocks(step, mu, q, r);
}
