/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_auto.c - the portfolio of solvers. Stages run in order of cost; a stage ends when its predicted work
 * exceeds that of the next one:
 *
 *   enumeration     one or two planar contacts
 *   Gauss-Seidel    accelerated, in growing blocks, while the observed rate predicts less work than the interior point
 *   Newton probe    a few steps from zero and from the Gauss-Seidel iterate
 *   interior point  from five initial guesses, each finished by Newton's method, the first also by Gauss-Seidel
 *   self-stress     after the first of them: increasing multiples of a self-stress, W r = 0
 *   proximal point  last resort
 *
 * Predictions are in multiply-adds, so the path is the same on every run.
 */
#include "solve/friction/friction_run.h"
#include "thread_pool/thread_pool.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* All constants of the portfolio with their origin. "Measured" is on 34 published problems and 56 random packings of
 * 200 to 600 contacts, half of them in an impact, to 1e-8 and some to 1e-4: the change of the geometric mean of the
 * counted work when the number is halved and when it is doubled; the number of solved problems is the same. Sizes of
 * problems are those at which one method becomes cheaper than another. */

/* Interior-point iterations of a start: 12 to 78 were needed, the median is 25. Used for predictions (measured: -1 %,
 * +1 %). A start that is far from complementarity after this number is abandoned (+2 %, +2 %; never abandoned: +4
 * %). */
enum { INTERIOR_EXPECTED = 25 };
/* Limit of the iterations of a start, above the 78. Measured: -1 %, 0. */
enum { INTERIOR_MOST = 100 };
/* Residual at which Newton's method follows the interior point: about the square root of rounding, below which the
 * matrices of the interior point lose half of their digits. Measured: 1e-10 0, 1e-6 -3 %. */
static const double interior_tol = 1e-8;
/* Number of units above which a new start of the interior point is cheaper than factors with pivoting. Measured: 0 -1
 * %, 1200 +1 %; linearly dependent rows of few contacts require pivoting. */
enum { PIVOTED_UNITS = 400 };

/* Limit of Newton steps; 22 were needed. Measured: +1 %, 0. */
enum { NEWTON_STEPS = 30 };
/* Newton steps after which the residual must have decreased. Measured: 12 far from a solution +3 %; 5 takes 5 % less,
 * but a packing of slippery spheres in tests/problems is not solved then. */
enum { NEWTON_TRIAL = 7 };
/* Newton's method is tried if the predicted Gauss-Seidel iterations cost more than this many Newton steps, about one
 * trial. Measured: +1 %, -3 %. */
static const double probe_steps = 6.0;
/* Gauss-Seidel reaches looser tolerances first in most cases. */
static const double probe_tolerance = 1e-5;
/* Compliance of contacts in the first Newton trial, relative to the diagonal. Measured: 1e-5 +1 %. */
static const double probe_softness = 1e-4;

/* Iterations of the first block, and the excess over the prediction that the last block may have: the smallest number
 * that determines a convergence rate, with five changes in the acceleration. Measured: 20 +4 %, 40 +4 %. */
enum { FIRST_BLOCK = 10 };
/* Smallest loose tolerance: iterations with momentum come first for more units than LOOSE_UNITS. */
static const double loose = 1e-4;
enum { LOOSE_UNITS = 500 };
/* Limit of these iterations: packings of 10^3 to 3e4 contacts take 100 to 4500. */
enum { LOOSE_ITERATIONS = 10000 };
/* Number of units above which loose problems that these iterations did not solve are left to first-order methods, whose
 * work is linear in the number of units; chosen. */
enum { LARGE = 5000 };

/* Number of rows up to which a few Gauss-Seidel iterations come first, because the overhead of the other stages
 * dominates. */
enum { TINY_ROWS = 96 };
/* Number of these iterations, sufficient for one and two contacts. Chosen. */
enum { TINY_SWEEPS = 8 };

/* Number of accelerated iterations from a self-stress. Measured: 0, +1 %. */
enum { STRESS_SWEEPS = 500 };
/* Residual below which Newton's method is tried on their iterate; chosen. */
static const double momentum_close = 1e-6;

/* Proximal steps of the first trial, from the best point with a compliance of a tenth, and of the last stage, which
 * ends at the limit of work; chosen. */
enum { PROXIMAL_FIRST = 40, PROXIMAL_LAST = 500 };

/* Default limit of work: numbers of Gauss-Seidel and interior-point iterations, ten times as many for problems of
 * milliseconds, */
static const double sweeps_at_most = 2e4;
static const double iterations_at_most = 3000.0;
enum { SMALL = 50 };
/* but not more than some twelve seconds of one core, or five starts of the interior point where that is
 * more. */
static const double operations_at_most = 3e10;
static const double starts_at_most = 5.0;

static bool over(const saltusi_friction_run* run) {
  return run->cost > run->cost_limit;
}

static bool try_tiny(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  const saltusi_friction_pattern* pattern = &work->pattern;
  int sweeps = pattern->units == 1 ? 1 : (pattern->units == 2 ? 2 : TINY_SWEEPS);
  /* weakly coupled contacts need one iteration, and a residual costs less than a second iteration */
  double estimate = saltusi_sweep(&work->given, work->point);
  run->cost += pattern->sweep_cost;
  if (saltusi_run_judge(run, "gauss-seidel", 1)) {
    return true;
  }
  int k = 1;
  while (k < sweeps && estimate > run->tol) {
    estimate = saltusi_sweep(&work->given, work->point);
    k++;
  }
  run->cost += (k - 1) * pattern->sweep_cost;
  return (k > 1 && saltusi_run_judge(run, "gauss-seidel", k - 1)) || saltusi_run_enumeration(run);
}

/* Predicted number of remaining iterations at the rate of the last block; earlier blocks converge faster. */
static double sweeps_needed(const saltusi_friction_run* run, double now, double before, int block) {
  double rate = log(now / before) / block;
  return rate < 0.0 ? log(run->tol / run->best) / rate : INFINITY;
}

static saltusi_newton_settings newton_settings(const saltusi_friction_run* run, bool no_pivoting) {
  return (saltusi_newton_settings){.iterations = NEWTON_STEPS,
                                   .tol = run->tol,
                                   .trial = NEWTON_TRIAL,
                                   .no_pivoting = no_pivoting};
}

/* Newton's method from zero with compliant contacts, then from the Gauss-Seidel iterate. It may fail, but costs less
 * than the interior point; tried if Gauss-Seidel is predicted to cost more than a handful of Newton steps. */
static bool newton_probe(saltusi_friction_run* run, double sweeps_ahead, bool* probed) {
  saltusi_friction_work* work = run->work;
  if (run->tol > probe_tolerance || !saltusi_friction_analyse(work) ||
      sweeps_ahead * work->pattern.sweep_cost < probe_steps * saltusi_newton_cost(work)) {
    return false;
  }
  *probed = true;
  saltusi_newton_settings close = newton_settings(run, true);
  saltusi_newton_settings soft = close;
  soft.softness = probe_softness;
  memset(work->point, 0, (size_t)work->pattern.rows * sizeof(double));
  if (saltusi_run_newton(run, &soft)) {
    return true;
  }
  saltusi_run_from_best(run);
  bool solved = saltusi_run_newton(run, &close);
  saltusi_run_from_best(run);
  return solved;
}

/* Gauss-Seidel while it is predicted to be cheaper than the interior point. */
static bool sweep_stage(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  double sweep = work->pattern.sweep_cost;
  double before = run->best;
  bool probed = false;
  int total = 0;
  int block = FIRST_BLOCK;
  for (;;) {
    saltusi_gauss_seidel_settings settings = {.sweeps = block, .tol = run->tol, .anderson = true};
    if (saltusi_run_gauss_seidel(run, &settings)) {
      return true;
    }
    total += block;
    double now =
        saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
    double needed = sweeps_needed(run, now, before, block);
    if (!probed && newton_probe(run, needed, &probed)) {
      return true;
    }
    double other = saltusi_friction_analyse(work) ? INTERIOR_EXPECTED * saltusi_interior_cost(work)
                                                  : sweeps_at_most * sweep;
    bool worthwhile = needed * sweep <= other && total * sweep <= other;
    if (!worthwhile || over(run)) {
      return false;
    }
    before = fmin(now, run->best);
    block = needed + FIRST_BLOCK < 2.0 * block ? (int)needed + FIRST_BLOCK : 2 * block;
  }
}

static bool interior_round(saltusi_friction_run* run, const double start[2], bool no_pivoting) {
  saltusi_interior_settings interior = {
      .iterations = INTERIOR_MOST,
      .tol = fmax(run->tol, interior_tol),
      .start_z = start[0],
      .start_y = start[1],
      .no_pivoting = no_pivoting,
      .trial = run->work->pattern.units > SMALL ? INTERIOR_EXPECTED : 0};
  saltusi_newton_settings newton = newton_settings(run, no_pivoting);
  return saltusi_run_interior(run, &interior) || saltusi_run_newton(run, &newton);
}

/* Accelerated Gauss-Seidel, then Newton's method if the residual is small. */
static bool momentum_run(saltusi_friction_run* run, int sweeps,
                         saltusi_iterate_candidate* candidate) {
  saltusi_friction_work* work = run->work;
  saltusi_newton_settings newton = newton_settings(run, true);
  if (saltusi_run_momentum(run, sweeps, candidate)) {
    return true;
  }
  double residual =
      saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
  return residual < momentum_close && saltusi_run_newton(run, &newton);
}

/* Wedged bodies (between others, or between walls) admit a self-stress. Gauss-Seidel and the interior point then fail:
 * the solution sticks under a preload that neither finds. The initial guesses are multiples of the self-stress, by
 * decades, because its size is not known in advance. */
static bool self_stress_round(saltusi_friction_run* run) {
  static const double levels[] = {1.0, 10.0, 100.0, 1000.0};
  saltusi_friction_work* work = run->work;
  double* balanced = work->candidate[0].r;
  if (!saltusi_run_balanced(run, balanced)) {
    return false;
  }
  for (size_t k = 0; k < sizeof levels / sizeof levels[0] && !over(run); k++) {
    saltusi_candidate_start(&work->candidate[1], &work->given, levels[k], balanced);
    if (momentum_run(run, STRESS_SWEEPS, &work->candidate[1])) {
      return true;
    }
  }
  return false;
}

/* Initial guesses of the interior point, in units of typical impulses and velocities: the first exceeds most solutions;
 * then a tenth and ten times of it, a point off the central path, and the typical values. */
static bool second_order(saltusi_friction_run* run) {
  static const double starts[][2] = {
      {100.0, 100.0}, {10.0, 10.0}, {1000.0, 1000.0}, {30.0, 3.0}, {1.0, 1.0}};
  enum { STARTS = sizeof starts / sizeof starts[0] };
  for (int k = 0; k < STARTS && !over(run); k++) {
    /* on large problems a new start is cheaper than pivoting */
    bool no_pivoting = run->work->pattern.units > PIVOTED_UNITS && k < STARTS - 1;
    if (interior_round(run, starts[k], no_pivoting) ||
        (k == 0 && !over(run) && self_stress_round(run))) {
      return true;
    }
  }
  saltusi_run_from_best(run);
  if (!over(run) && saltusi_run_proximal(run, PROXIMAL_FIRST, SALTUSI_PROXIMAL_START)) {
    return true;
  }
  if (over(run) || saltusi_run_proximal(run, PROXIMAL_LAST, 1.0)) {
    return run->best <= run->tol;
  }
  /* the proximal method can stall at the best point: restart from zero */
  memset(run->work->point, 0, (size_t)run->work->pattern.rows * sizeof(double));
  return !over(run) && saltusi_run_proximal(run, PROXIMAL_LAST, SALTUSI_PROXIMAL_START);
}

/* Plain Gauss-Seidel to the limit of work, whose cost is linear in the number of constraint blocks. */
static void first_order(saltusi_friction_run* run) {
  const double most = (run->cost_limit - run->cost) / run->work->pattern.sweep_cost;
  const saltusi_gauss_seidel_settings sweeps = {.sweeps = most < INT_MAX ? (int)most : INT_MAX,
                                                .tol = run->tol};
  saltusi_run_from_best(run);
  saltusi_run_gauss_seidel(run, &sweeps);
}

/* Default limit of work, sufficient for every stage. Counted from here, after the analysis, so that it does not depend
 * on whether setup was called. */
static double default_limit(const saltusi_friction_run* run) {
  double limit = sweeps_at_most * run->work->pattern.sweep_cost;
  if (run->work->analysed) {
    double iteration = saltusi_interior_cost(run->work);
    double most = (run->work->pattern.units <= SMALL ? 10.0 : 1.0) * iterations_at_most;
    limit = fmin(limit + most * iteration,
                 fmax(operations_at_most, starts_at_most * INTERIOR_EXPECTED * iteration));
  }
  return run->cost + limit;
}

/* Iterations with momentum from the initial guess, in the memory of Anderson's method. */
static bool loose_sweeps(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  saltusi_iterate_candidate candidate = {.r = work->sweep.mixing.last_f,
                                         .age = work->sweep.mixing.df};
  saltusi_candidate_start(&candidate, &work->given, 1.0, work->point);
  return saltusi_run_momentum(run, LOOSE_ITERATIONS, &candidate);
}

static void solve(saltusi_friction_run* run) {
  const saltus_friction_auto_options* options = run->options;
  const saltusi_friction_pattern* pattern = &run->work->pattern;
  bool limited = options->work > 0.0;
  run->cost_limit = limited ? 1e9 * options->work : INFINITY;
  if (pattern->rows <= TINY_ROWS && try_tiny(run)) {
    return;
  }
  if (run->tol >= loose && pattern->units > LOOSE_UNITS && loose_sweeps(run)) {
    return;
  }
  if (pattern->units > LARGE && run->tol >= loose) {
    run->cost_limit = limited ? run->cost_limit : sweeps_at_most * pattern->sweep_cost;
    first_order(run);
    return;
  }
  if (sweep_stage(run) || over(run)) {
    return;
  }
  run->cost_limit = limited ? run->cost_limit : default_limit(run);
  if (!run->work->refused && second_order(run)) {
    return;
  }
  if (run->work->refused) { /* body space is not applicable, or memory is exhausted */
    first_order(run);
  }
}

static int threads_of(const void* options) {
  return ((const saltus_friction_auto_options*)options)->threads;
}

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_friction_auto_options, work, 0.0, 0.0, 1e9,
                "limit of operations in 1e9; 0: by the size of the problem [1]"),
    SALTUS_INT(saltus_friction_auto_options, threads, 1, 1, SALTUSI_TEAM_MOST,
               "threads; results are bitwise identical for any number; one below 1000 contacts"),
};

const saltusi_friction_ops saltusi_friction_auto = {
    .info = {.name = "auto",
             .summary =
                 "portfolio: enumeration, Gauss-Seidel, interior point, Newton, proximal point",
             .source = "docs/solvers/friction-auto.md",
             .options = {fields, sizeof fields / sizeof fields[0],
                         sizeof(saltus_friction_auto_options)}},
    .domains = true,
    .threads = threads_of,
    .factorises = true,
    .solve = solve,
};
