/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_run.c - the stages, each with its bookkeeping.
 */
#include "solve/friction/friction_run.h"

#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Multiply-adds of a factorisation are about twice as fast as those of an iteration, which is limited by memory
 * gathers; measured on the published problems. */
static const double factor_weight = 0.5;
/* Larger factors are not attempted: they take seconds each, and gigabytes. */
static const double factor_limit = 1e10;
/* Multiply-adds per unit and iteration besides the linear algebra, for the order of stages only; chosen. */
static const double interior_unit_cost = 400.0;
static const double newton_unit_cost = 150.0;
/* Impulses of a self-stress below this part of typical impulses count as zero: chosen, four digits above their
 * remainder at the end of the path. */
static const double balance_floor = 1e-2;

bool saltusi_friction_analyse(saltusi_friction_work* work) {
  assert(work != NULL);
  if (!work->analysed && !work->refused) {
    const saltusi_block_pattern blocks = work->given.bodies != NULL
                                             ? saltusi_bodies_pattern(work->given.bodies)
                                             : saltusi_friction_blocks(&work->pattern);
    work->refused = saltusi_block_lu_analyse(&work->lu, &blocks, &work->memory) != SALTUS_OK ||
                    work->lu.cost > factor_limit;
    work->analysed = !work->refused;
  }
  return work->analysed;
}

/* values: of the matrix that is factored, which has the pattern of W and its transpose. */
static void second_layout(saltusi_friction_work* work, const saltusi_friction_sizes* sizes,
                          size_t values, saltus_arena* arena) {
  saltusi_newton_layout(&work->newton, sizes->units, sizes->rows, arena);
  saltusi_interior_layout(&work->interior, sizes->units, sizes->rows, values, arena);
  saltusi_proximal_layout(&work->proximal, sizes, arena);
  for (int k = 0; k < SALTUSI_CANDIDATES; k++) {
    work->candidate[k].r = SALTUS_PUSH(arena, double, sizes->rows);
    work->candidate[k].age = SALTUS_PUSH(arena, double, sizes->units);
  }
}

void saltusi_friction_second_layout(saltusi_friction_work* work,
                                    const saltusi_friction_sizes* sizes, saltus_arena* arena) {
  assert(work != NULL && sizes != NULL && arena != NULL);
  saltusi_friction_work largest;
  saltus_arena count = saltus_arena_counting();
  second_layout(&largest, sizes, sizes->values, &count);
  saltusi_block_lu_layout(&work->lu, sizes->units, sizes->rows, sizes->unit_max, arena);
  const size_t bytes = count.used > sizes->soft ? count.used : sizes->soft;
  saltusi_buffer_layout(&work->second_memory, bytes, arena);
}

bool saltusi_friction_reserve(saltusi_friction_work* work) {
  assert(work != NULL);
  if (!saltusi_friction_analyse(work)) {
    return false;
  }
  if (work->lu.ready) {
    return true;
  }
  const saltusi_friction_pattern* pattern = &work->pattern;
  bool bodies = work->given.bodies != NULL; /* no stage has a copy of W in this case */
  const saltusi_friction_sizes sizes = {.units = pattern->units,
                                        .rows = pattern->rows,
                                        .unit_max = pattern->unit_max,
                                        .values =
                                            bodies ? 0 : (size_t)pattern->place[pattern->blocks],
                                        .local = (size_t)pattern->local_at[pattern->units]};
  size_t values = bodies ? 0 : work->lu.place[work->lu.start[pattern->units]];
  saltus_arena arena = saltus_arena_counting();
  second_layout(work, &sizes, values, &arena);
  if (saltusi_block_lu_reserve(&work->lu, &work->memory) != SALTUS_OK ||
      saltusi_buffer_reserve(&work->second_memory, &work->memory, arena.used) != SALTUS_OK) {
    work->refused = true;
    work->analysed = false;
    work->lu.ready = false;
    return false;
  }
  arena = saltus_arena_over(work->second_memory.block, work->second_memory.bytes);
  second_layout(work, &sizes, values, &arena);
  return true;
}

double saltusi_newton_cost(const saltusi_friction_work* work) {
  assert(work != NULL);
  return factor_weight * work->lu.cost + 3.0 * work->lu.solve_cost + work->pattern.sweep_cost +
         newton_unit_cost * work->pattern.units;
}

double saltusi_interior_cost(const saltusi_friction_work* work) {
  assert(work != NULL);
  return factor_weight * work->lu.cost + 5.0 * work->lu.solve_cost + work->pattern.sweep_cost +
         interior_unit_cost * work->pattern.units;
}

/* Large problems use an initial guess if its residual is below this many times that of zero. The error of the guess from
 * the last step is mostly at the few contacts with an impact, which Gauss-Seidel corrects in one iteration. 125
 * boxes falling into a box take 14 % fewer iterations, 1000 spheres 10 %; with 100 in place of 4 the boxes take more. */
static const double guess_part = 4.0;

bool saltusi_run_start(saltusi_friction_run* run, const double* guess) {
  assert(run != NULL);
  saltusi_friction_work* work = run->work;
  size_t bytes = (size_t)work->pattern.rows * sizeof(double);
  bool guessed = false;
  for (int a = 0; a < work->pattern.rows && !guessed; a++) {
    guessed = guess[a] != 0.0;
  }
  memset(work->point, 0, bytes);
  run->best =
      work->given.bodies != NULL
          ? saltusi_friction_case_idle(&work->given)
          : saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
  if (guessed) {
    memcpy(work->point, guess, bytes);
    const double residual = saltusi_run_residual(run);
    if (residual < (work->given.bodies != NULL ? guess_part : 1.0) * run->best) {
      run->best = residual;
    } else {
      memset(work->point, 0, bytes);
      run->standing = false;
    }
  }
  memcpy(work->best, work->point, bytes);
  return isfinite(run->best);
}

void saltusi_run_open_thread_pool(saltusi_friction_run* run, int threads) {
  assert(run != NULL && threads >= 0);
  saltusi_friction_work* work = run->work;
  if (saltusi_parts(&work->given) > 1) {
    saltusi_thread_pool_open(work->team, threads);
    work->given.team = work->team;
  }
}

void saltusi_run_close_thread_pool(saltusi_friction_run* run) {
  assert(run != NULL);
  if (run->work->given.team != NULL) {
    saltusi_thread_pool_close(run->work->given.team);
    run->work->given.team = NULL;
  }
}

void saltusi_run_from_best(saltusi_friction_run* run) {
  assert(run != NULL);
  memcpy(run->work->point, run->work->best, (size_t)run->work->pattern.rows * sizeof(double));
}

/* Decimal digits without the cost of snprintf, which shows on problems of one contact. */
static size_t put_number(char* text, int number) {
  char digits[12];
  size_t count = 0;
  unsigned rest = number > 0 ? (unsigned)number : 0;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  for (size_t k = 0; k < count; k++) {
    text[k] = digits[count - 1 - k];
  }
  text[count] = '\0';
  return count;
}

/* Appends "name count", or adds to the count when the stage repeats; full: ends in "...". */
static void name_stage(saltusi_friction_run* run, const char* name, int iterations) {
  char* text = run->result->stages;
  size_t room = sizeof run->result->stages;
  bool again = run->stage != NULL && strcmp(run->stage, name) == 0;
  if (!again) {
    run->stage_at = strlen(text);
    run->stage_iterations = 0;
    run->stage = name;
  }
  run->stage_iterations += iterations;
  size_t length = strlen(name);
  if (run->stage_at + length + 20 > room) {
    bool cut = run->stage_at >= 3 && memcmp(text + run->stage_at - 3, "...", 3) == 0;
    memcpy(text + run->stage_at, cut ? "" : ", ...", cut ? 1 : 6);
    return;
  }
  char* at = text + run->stage_at;
  if (run->stage_at > 0) {
    memcpy(at, ", ", 2);
    at += 2;
  }
  memcpy(at, name, length);
  at[length] = ' ';
  put_number(at + length + 1, run->stage_iterations);
}

bool saltusi_run_note(saltusi_friction_run* run, const char* name, saltusi_stage stage) {
  assert(run != NULL && name != NULL);
  if (stage.residual < run->best) {
    run->best = stage.residual;
    memcpy(run->work->best, run->work->point, (size_t)run->work->pattern.rows * sizeof(double));
  }
  run->result->iterations += stage.iterations;
  name_stage(run, name, stage.iterations);
  return run->best <= run->tol;
}

bool saltusi_run_judge(saltusi_friction_run* run, const char* name, int iterations) {
  assert(run != NULL && name != NULL && iterations >= 0);
  saltusi_friction_work* work = run->work;
  saltus_residual residual =
      saltusi_friction_case_residual(&work->given, work->point, work->sweep.u);
  if (residual.normalised < run->best && residual.normalised <= run->tol) {
    run->known = true;
    run->residual = residual;
  }
  return saltusi_run_note(run, name, (saltusi_stage){iterations, residual.normalised});
}

bool saltusi_run_gauss_seidel(saltusi_friction_run* run,
                              const saltusi_gauss_seidel_settings* settings) {
  assert(run != NULL && settings != NULL);
  saltusi_friction_work* work = run->work;
  saltusi_stage stage = saltusi_gauss_seidel(&work->sweep, &work->given, settings, work->point);
  double extra = settings->anderson ? 3.0 * SALTUSI_ANDERSON_DEPTH * work->pattern.rows : 0.0;
  run->cost += stage.iterations * (work->pattern.sweep_cost + extra);
  return saltusi_run_note(run, "gauss-seidel", stage);
}

bool saltusi_run_interior(saltusi_friction_run* run, const saltusi_interior_settings* settings) {
  assert(run != NULL && settings != NULL);
  saltusi_friction_work* work = run->work;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  work->lu.failures = 0;
  saltusi_stage stage =
      saltusi_interior_point(&work->interior, &work->lu, &work->given, settings, work->point);
  run->cost += stage.iterations * saltusi_interior_cost(work);
  return saltusi_run_note(run, "interior-point", stage);
}

bool saltusi_run_newton(saltusi_friction_run* run, const saltusi_newton_settings* settings) {
  assert(run != NULL && settings != NULL);
  saltusi_friction_work* work = run->work;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  work->lu.failures = 0;
  saltusi_stage stage =
      saltusi_semismooth_newton(&work->newton, &work->lu, &work->given, settings, work->point);
  run->cost += stage.iterations * saltusi_newton_cost(work);
  return saltusi_run_note(run, "newton", stage);
}

bool saltusi_run_proximal(saltusi_friction_run* run, int iterations, double start) {
  assert(run != NULL && iterations >= 0);
  saltusi_friction_work* work = run->work;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  work->lu.failures = 0;
  saltusi_proximal_tools tools = {
      .sweep = &work->sweep, .newton = &work->newton, .interior = &work->interior, .lu = &work->lu};
  saltusi_proximal_settings settings = {.iterations = iterations,
                                        .tol = run->tol,
                                        .start = start,
                                        .cost_limit = run->cost_limit - run->cost};
  saltusi_stage stage =
      saltusi_proximal(&work->proximal, &tools, &work->given, &settings, work->point, &run->cost);
  return saltusi_run_note(run, "proximal", stage);
}

bool saltusi_run_momentum(saltusi_friction_run* run, int sweeps,
                          saltusi_iterate_candidate* candidate) {
  assert(run != NULL && candidate != NULL && sweeps >= 0);
  saltusi_friction_work* work = run->work;
  double each = work->pattern.sweep_cost + 8.0 * work->pattern.rows;
  double affordable = fmax((run->cost_limit - run->cost) / each, 0.0);
  int most = affordable < sweeps ? (int)affordable : sweeps;
  saltusi_stage stage = saltusi_accelerated_gauss_seidel(&work->sweep, &work->given, most, run->tol,
                                                         candidate, work->point);
  run->cost += stage.iterations * each;
  return saltusi_run_note(run, "accelerated-gauss-seidel", stage);
}

bool saltusi_run_balanced(saltusi_friction_run* run, double* r) {
  assert(run != NULL);
  saltusi_friction_work* work = run->work;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  work->lu.failures = 0;
  int iterations = saltusi_interior_balanced(&work->interior, &work->lu, &work->given, r);
  run->cost += iterations * saltusi_interior_cost(work);
  run->result->iterations += iterations;
  name_stage(run, "self-stress", iterations);
  double most = 0.0;
  const saltusi_friction_pattern* pattern = &work->pattern;
  for (int i = 0; i < pattern->units; i++) {
    most = fmax(most, r[pattern->offset[i]] / work->given.rho[i]);
  }
  return most > balance_floor * work->given.velocity_unit / sqrt((double)pattern->units);
}
