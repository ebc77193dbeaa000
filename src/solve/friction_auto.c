/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_auto.c - the portfolio. Cheap stages first, and the next one as soon as the present one
 * predicts more work than its successor needs:
 *
 *   enumeration     one or two planar contacts
 *   sweeps          in growing blocks, accelerated and plain in turn; they go on while the rate seen
 *                   predicts less work than the interior point
 *   Newton probe    a few steps from zero and from the sweeps
 *   interior point  from five starts, each finished by Newton, the first also by sweeps
 *   self-stress     after the first start: impulses that balance each other, more and more of them
 *   momentum        sweeps from several pressures
 *   shuffled sweeps, then Newton
 *   proximal point  last resort
 *
 * Predictions are in multiply-adds, so the path is the same on every run.
 */
#include "solve/friction_run.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/* Interior-point iterations a run is expected to take, for predictions. */
static const double expected_iterations = 25.0;
/* Sweeps, or what costs as much, that nothing may exceed unless the caller says so. */
static const double sweeps_at_most = 2e4;
/* Problems this large are given to gradients when the tolerance is loose. */
enum { LARGE = 5000 };
/* From here on gradients are tried before the interior point when the tolerance is loose; from zero,
 * because where sweeps stagnate gradients do as well. */
enum { MEDIUM = 500 };
static const double loose = 1e-4;
/* What domain sweeps may try before that: ten times what packings have taken. */
enum { DOMAIN_ITERATIONS = 5000 };
/* Part of the work left that sweeps with momentum may take. */
static const double momentum_share = 0.85;

/* Newton is not worth a try for less accuracy than this: sweeps get there first. */
static const double probe_tolerance = 1e-5;

/* Units up to which the interior point may factor with pivoting at once. */
enum { PIVOTED_UNITS = 400 };

/* Problems up to this size get ten times the iterations: they cost milliseconds. */
enum { SMALL = 50 };

/* Rows up to which a few sweeps are tried before anything else is set up. */
enum { TINY_ROWS = 96 };

static bool over(const saltusi_friction_run* run) {
  return run->cost > run->cost_limit;
}

static bool try_tiny(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  const saltusi_friction_pattern* pattern = &work->pattern;
  int sweeps = pattern->units == 1 ? 1 : (pattern->units == 2 ? 2 : 8);
  /* contacts that hardly meet need one sweep, and a residual costs less than the second one */
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

/* Sweeps still needed at the rate of the last block; earlier ones run ahead of it. */
static double sweeps_needed(const saltusi_friction_run* run, double now, double before, int block) {
  double rate = log(now / before) / block;
  return rate < 0.0 ? log(run->tol / run->best) / rate : INFINITY;
}

/* Newton from zero with soft contacts, then from where the sweeps are: a gamble that costs less than
 * the interior point and often wins. Worth it when the sweeps need longer than a handful of steps. */
static bool newton_probe(saltusi_friction_run* run, double sweeps_ahead, bool* probed) {
  saltusi_friction_work* work = run->work;
  if (run->tol > probe_tolerance || !saltusi_friction_analyse(work) ||
      sweeps_ahead * work->pattern.sweep_cost < 6.0 * saltusi_newton_cost(work)) {
    return false;
  }
  *probed = true;
  saltusi_newton_settings soft = {
      .iterations = 25, .tol = run->tol, .softness = 1e-4, .trial = 12, .no_pivoting = true};
  saltusi_newton_settings close = {
      .iterations = 12, .tol = run->tol, .trial = 7, .no_pivoting = true};
  memset(work->point, 0, (size_t)work->pattern.rows * sizeof(double));
  if (saltusi_run_newton(run, &soft)) {
    return true;
  }
  saltusi_run_from_best(run);
  bool solved = saltusi_run_newton(run, &close);
  saltusi_run_from_best(run);
  return solved;
}

/* Sweeps while they promise to be cheaper than the interior point. */
static bool sweep_stage(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  double sweep = work->pattern.sweep_cost;
  double before = run->best;
  bool plain = false;
  bool probed = false;
  int total = 0;
  int block = 20;
  for (;;) {
    saltusi_sweep_settings settings = {.sweeps = block, .tol = run->tol, .anderson = !plain};
    if (saltusi_run_sweeps(run, &settings)) {
      return true;
    }
    total += block;
    double now =
        saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
    double needed = sweeps_needed(run, now, before, block);
    if (!probed && newton_probe(run, needed, &probed)) {
      return true;
    }
    double other = saltusi_friction_analyse(work)
                       ? expected_iterations * saltusi_interior_cost(work)
                       : sweeps_at_most * sweep;
    bool worthwhile = needed * sweep <= other && total * sweep <= 0.5 * other;
    if (!worthwhile || over(run)) {
      return false;
    }
    if (now > 0.7 * before) { /* stagnates: what the other kind can do */
      plain = !plain;
    }
    before = fmin(now, run->best);
    block = needed + 20.0 < 2.0 * block ? (int)needed + 20 : 2 * block;
  }
}

static bool interior_round(saltusi_friction_run* run, const double start[2], bool no_pivoting) {
  saltusi_interior_settings interior = {.iterations = 100,
                                        .tol = fmax(run->tol, 1e-8),
                                        .start_z = start[0],
                                        .start_y = start[1],
                                        .no_pivoting = no_pivoting,
                                        .trial = run->work->pattern.units > SMALL ? 25 : 0};
  saltusi_newton_settings newton = {
      .iterations = 30, .tol = run->tol, .trial = 12, .no_pivoting = no_pivoting};
  return saltusi_run_interior(run, &interior) || saltusi_run_newton(run, &newton);
}

/* Accelerated sweeps from the best point, then Newton. */
static bool sweep_round(saltusi_friction_run* run) {
  saltusi_sweep_settings sweeps = {.sweeps = 300, .tol = run->tol, .anderson = true};
  saltusi_newton_settings newton = {.iterations = 25,
                                    .tol = run->tol,
                                    .trial = 7,
                                    .no_pivoting = run->work->pattern.units > PIVOTED_UNITS};
  saltusi_run_from_best(run);
  if (saltusi_run_sweeps(run, &sweeps)) {
    return true;
  }
  saltusi_run_from_best(run);
  return saltusi_run_newton(run, &newton);
}

static bool shuffled_round(saltusi_friction_run* run, int round) {
  saltusi_sweep_settings sweeps = {.sweeps = 3000,
                                   .tol = run->tol,
                                   .shuffled = true,
                                   .seed = 88172645463325252u + (uint64_t)round};
  saltusi_newton_settings newton = {.iterations = 25, .tol = run->tol, .trial = 7};
  saltusi_run_from_best(run);
  if (saltusi_run_sweeps(run, &sweeps)) {
    return true;
  }
  saltusi_run_from_best(run);
  return saltusi_run_newton(run, &newton);
}

/* Sweeps with momentum, and Newton where they came close. */
static bool momentum_run(saltusi_friction_run* run, int sweeps, saltusi_candidate* candidate) {
  const double close = 1e-6;
  saltusi_friction_work* work = run->work;
  saltusi_newton_settings newton = {
      .iterations = 30, .tol = run->tol, .trial = 7, .no_pivoting = true};
  if (saltusi_run_momentum(run, sweeps, candidate)) {
    return true;
  }
  double residual =
      saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
  return residual < close && saltusi_run_newton(run, &newton);
}

/* Bodies wedged between others or between walls can hold impulses that balance each other, and then
 * sweeps and interior points fail: the answer sticks under a pressure that neither finds. More and
 * more of the balanced impulses as a start. */
static bool self_stress_round(saltusi_friction_run* run) {
  static const double levels[] = {1.0, 10.0, 100.0, 1000.0};
  saltusi_friction_work* work = run->work;
  double* balanced = work->candidate[0].r;
  if (!saltusi_run_balanced(run, balanced)) {
    return false;
  }
  for (size_t k = 0; k < sizeof levels / sizeof levels[0] && !over(run); k++) {
    saltusi_candidate_start(&work->candidate[1], &work->given, levels[k], balanced);
    if (momentum_run(run, 500, &work->candidate[1])) {
      return true;
    }
  }
  return false;
}

/* Sweeps with momentum from several pressures in turn; which of them is right shows late. */
static bool momentum_race(saltusi_friction_run* run) {
  static const double pressures[SALTUSI_CANDIDATES] = {10.0, 30.0, 100.0};
  enum { ROUNDS = 3, SWEEPS = 16000 };
  saltusi_friction_work* work = run->work;
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  double end = run->cost + momentum_share * (run->cost_limit - run->cost);
  for (int k = 0; k < ROUNDS * SALTUSI_CANDIDATES && run->cost < end; k++) {
    saltusi_candidate* candidate = &work->candidate[k % SALTUSI_CANDIDATES];
    if (k < SALTUSI_CANDIDATES) {
      saltusi_candidate_press(candidate, &work->given, pressures[k]);
    }
    if (momentum_run(run, SWEEPS, candidate)) {
      return true;
    }
  }
  return false;
}

/* What is tried before the interior point starts again. */
static bool after_first_start(saltusi_friction_run* run) {
  if (over(run)) {
    return false;
  }
  if (sweep_round(run) || (run->tol >= loose && !over(run) && shuffled_round(run, 3))) {
    return true;
  }
  return !over(run) && (self_stress_round(run) || momentum_race(run));
}

static bool second_order(saltusi_friction_run* run) {
  static const double starts[][2] = {
      {100.0, 100.0}, {10.0, 10.0}, {1000.0, 1000.0}, {30.0, 3.0}, {1.0, 1.0}};
  enum { STARTS = sizeof starts / sizeof starts[0] };
  for (int k = 0; k < STARTS && !over(run); k++) {
    /* on large problems a new start is cheaper than pivoting */
    bool no_pivoting = run->work->pattern.units > PIVOTED_UNITS && k < STARTS - 1;
    if (interior_round(run, starts[k], no_pivoting) || (k == 0 && after_first_start(run))) {
      return true;
    }
  }
  saltusi_run_from_best(run);
  if (!over(run) && saltusi_run_proximal(run, 40, 0.1)) {
    return true;
  }
  for (int k = 0; k < 3 && !over(run); k++) {
    if (shuffled_round(run, k)) {
      return true;
    }
  }
  saltusi_run_from_best(run);
  if (over(run) || saltusi_run_proximal(run, 500, 1.0)) {
    return run->best <= run->tol;
  }
  /* the best point can be a dead end: once more from nothing */
  memset(run->work->point, 0, (size_t)run->work->pattern.rows * sizeof(double));
  return !over(run) && saltusi_run_proximal(run, 500, 0.1);
}

/* Sweeps and gradients in turn, each chunk given to the one that gained more per operation the last
 * time it ran; old gains fade, so that the other gets its chance again. */
static bool first_order(saltusi_friction_run* run) {
  enum { SWEEPS = 100, STEPS = 2000 };
  double gain[2] = {INFINITY, INFINITY};
  int last = -1;
  while (!over(run)) {
    int choice = gain[1] > gain[0] ? 1 : 0;
    double before = run->best;
    double spent = run->cost;
    saltusi_sweep_settings sweeps = {.sweeps = SWEEPS, .tol = run->tol};
    if (choice != last) { /* otherwise go on, even uphill: the best point is a trap there */
      saltusi_run_from_best(run);
      last = choice;
    }
    bool solved =
        choice == 0 ? saltusi_run_sweeps(run, &sweeps) : saltusi_run_gradient(run, STEPS, 20);
    if (solved) {
      return true;
    }
    gain[choice] = log(before / run->best) / (run->cost - spent);
    gain[1 - choice] *= isfinite(gain[1 - choice]) ? 1.1 : 1.0;
  }
  return false;
}

/* Enough for every stage, but not for ever: 3e10 is some twelve seconds of one core. Counted
 * from here, and after the analysis, so that it is the same whether setup was called or not. */
static double default_limit(const saltusi_friction_run* run) {
  double limit = sweeps_at_most * run->work->pattern.sweep_cost;
  if (run->work->analysed) {
    double iteration = saltusi_interior_cost(run->work);
    double most = run->work->pattern.units <= SMALL ? 30000.0 : 3000.0;
    limit = fmin(limit + most * iteration, fmax(3e10, 120.0 * iteration));
  }
  return run->cost + limit;
}

static void solve(saltusi_friction_run* run) {
  const saltus_friction_auto_options* options = run->options;
  const saltusi_friction_pattern* pattern = &run->work->pattern;
  bool limited = options->work > 0.0;
  run->cost_limit = limited ? 1e9 * options->work : INFINITY;
  if (pattern->rows <= TINY_ROWS && try_tiny(run)) {
    return;
  }
  if (pattern->units > MEDIUM && run->tol >= loose && saltusi_run_domains(run, DOMAIN_ITERATIONS)) {
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
  if (run->tol >= loose && pattern->units > MEDIUM) {
    memset(run->work->point, 0, (size_t)pattern->rows * sizeof(double));
    if (saltusi_run_gradient(run, 8000, 20) || over(run)) {
      return;
    }
  }
  if (!run->work->refused && second_order(run)) {
    return;
  }
  if (run->work->refused) { /* from the beginning, or because memory ran out */
    first_order(run);
  }
}

static int threads_of(const void* options) {
  return ((const saltus_friction_auto_options*)options)->threads;
}

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_friction_auto_options, work, 0.0, 0.0, 1e9,
                "1e9 operations at most; 0: by the size of the problem [1]"),
    SALTUS_INT(saltus_friction_auto_options, threads, 1, 1, SALTUSI_TEAM_MOST,
               "threads; any number gives the same bits, below 1000 contacts none is started"),
};

const saltusi_friction_ops saltusi_friction_auto = {
    .info = {.name = "auto",
             .summary = "portfolio: enumeration, sweeps, interior point, Newton, proximal point",
             .source = "docs/solvers/friction-auto.md",
             .options = {fields, sizeof fields / sizeof fields[0],
                         sizeof(saltus_friction_auto_options)}},
    .domains = true,
    .threads = threads_of,
    .factorises = true,
    .solve = solve,
};
