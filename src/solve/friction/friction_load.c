/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_load.c - load distribution of a friction problem by blocks (load_distribution.h): the active rows of a
 * solution, and solutions with compliance by Newton's method.
 */
#include "solve/friction/friction_load.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Velocities below this part of |q| are zero: contacts at the limit of opening are active. */
static const double resting = 1e-9;
/* Accepted residual of problems with compliance, and the target of Newton's method, below which a further step is
 * rounding. */
static const double solved_to = 1e-11;
static const double newton_aim = 1e-13;
/* First regularisation of Newton's matrix, which the compliance makes regular: alpha_least of semismooth_newton.c. */
static const double newton_softness = 1e-11;
enum { NEWTON_MOST = 15, TRIAL = 3 };
/* Compliances from which on Gauss-Seidel iterations precede it: they converge like (1 + eps)^-k there. */
static const double swept_from = 0.5;
enum { SWEEPS = 30 };

void saltusi_friction_load_layout(saltusi_friction_load* load, int rows, saltus_arena* arena) {
  assert(load != NULL && arena != NULL);
  saltusi_load_distribution_layout(&load->work, rows, arena);
  load->diagonal = SALTUS_PUSH(arena, double, load->work.rows_max);
  load->compliance = SALTUS_PUSH(arena, double, load->work.rows_max);
  load->q = SALTUS_PUSH(arena, double, load->work.rows_max);
  load->active = SALTUS_PUSH(arena, int, load->work.rows_max);
}

/* Marks the active rows of the solution r with their index; u is its velocity. Returns how many there are, 0 if only one
 * constraint block has any. */
static int find_active(const saltusi_friction_load* load, const saltusi_friction_case* in,
                       const double* r, const double* u) {
  const saltusi_friction_pattern* pattern = in->pattern;
  const double rest = resting * in->velocity_unit;
  int count = 0, units = 0;
  for (int i = 0; i < pattern->units; i++) {
    const int at = pattern->offset[i], d = saltusi_unit_rows(pattern, i);
    const bool bilateral = pattern->bilateral[i] != 0;
    const bool closed = bilateral || u[at] - r[at] / in->rho[i] <= rest;
    const bool sticks = closed && (bilateral || saltusi_tangent_norm(d, u + at) <= rest);
    const int before = count;
    for (int k = 0; k < d; k++) {
      const bool moves =
          load->diagonal[at + k] > 0.0; /* joints are filled up with rows that do not */
      load->active[at + k] = (k == 0 ? closed : sticks) && moves ? count++ : -1;
    }
    units += count > before;
  }
  return units > 1 ? count : 0;
}

/* Entries of block e, in rows of unit i, that belong to active rows. */
static void gather_block(saltusi_friction_load* load, const saltusi_friction_case* in, int i, int e,
                         int m) {
  const saltusi_friction_pattern* pattern = in->pattern;
  const int j = pattern->unit[e], d = saltusi_unit_rows(pattern, i);
  const int columns = saltusi_unit_rows(pattern, j);
  const double* block = in->values + pattern->place[e];
  for (int k = 0; k < d; k++) {
    const int row = load->active[pattern->offset[i] + k];
    for (int c = 0; c < columns && row >= 0; c++) {
      const int column = load->active[pattern->offset[j] + c];
      if (column >= 0) {
        load->work.S[(size_t)row * (size_t)m + (size_t)column] = block[k * columns + c];
      }
    }
  }
}

/* W of the active rows into load->work.S. */
static void gather_active(saltusi_friction_load* load, const saltusi_friction_case* in, int m) {
  memset(load->work.S, 0, (size_t)m * (size_t)m * sizeof(double));
  for (int i = 0; i < in->pattern->units; i++) {
    for (int e = in->pattern->start[i]; e < in->pattern->start[i + 1]; e++) {
      gather_block(load, in, i, e, m);
    }
  }
}

/* Diagonal of W and the compliance of each row in the problem: the same in all rows of contacts. */
static void read_diagonal(saltusi_friction_load* load, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double largest = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    const int d = saltusi_unit_rows(pattern, i), e = pattern->diagonal[i];
    const double* block = e >= 0 ? in->values + pattern->place[e] : NULL;
    for (int k = 0; k < d; k++) {
      const double own = block != NULL ? block[k * (d + 1)] : 0.0;
      load->diagonal[pattern->offset[i] + k] = own;
      largest = pattern->bilateral[i] == 0 ? fmax(largest, own) : largest;
    }
  }
  for (int i = 0; i < pattern->units; i++) {
    for (int r = pattern->offset[i]; r < pattern->offset[i + 1]; r++) {
      const bool joint = pattern->bilateral[i] != 0 && load->diagonal[r] > 0.0;
      load->compliance[r] = joint ? load->diagonal[r] : largest;
    }
  }
}

/* The problem with compliance eps D, relative to impulses `from`; eps 0: the given one. */
static void write_problem(saltusi_friction_load* load, double eps, const double* from) {
  saltusi_friction_case* in = &load->run.work->given;
  const saltusi_friction_pattern* pattern = in->pattern;
  for (int i = 0; i < pattern->units; i++) {
    const int d = saltusi_unit_rows(pattern, i), at = pattern->offset[i];
    double* block = load->values + pattern->place[pattern->diagonal[i]];
    for (int k = 0; k < d; k++) {
      const double soft = eps * load->compliance[at + k];
      block[k * (d + 1)] = load->diagonal[at + k] + soft;
      load->q[at + k] = load->given[at + k] - (from != NULL ? soft * from[at + k] : 0.0);
    }
  }
  saltusi_friction_case_prepare(in);
}

static bool solve_compliant(void* user, double eps, const double* from, double* r) {
  saltusi_friction_load* load = user;
  saltusi_friction_run* run = &load->run;
  saltusi_friction_work* work = run->work;
  const size_t bytes = (size_t)work->pattern.rows * sizeof(double);
  const saltusi_newton_settings newton = {
      .iterations = NEWTON_MOST, .tol = newton_aim, .softness = newton_softness, .trial = TRIAL};
  const saltusi_newton_settings further = {.iterations = 1, .softness = newton_softness};
  load->solved++;
  write_problem(load, eps, from);
  run->best = INFINITY;
  run->tol = newton_aim;
  memcpy(work->point, r, bytes);
  if (eps >= swept_from) { /* statuses may differ from those of r in many contacts */
    const saltusi_gauss_seidel_settings sweeps = {.sweeps = SWEEPS, .tol = newton_aim};
    saltusi_run_gauss_seidel(run, &sweeps);
    saltusi_run_from_best(run);
  }
  saltusi_run_newton(run, &newton);
  if (run->best <= solved_to) {
    saltusi_run_from_best(run);
    saltusi_run_newton(run, &further);
  }
  memcpy(r, work->best, bytes);
  return run->best <= solved_to;
}

static double residual(void* user, const double* r) {
  saltusi_friction_load* load = user;
  write_problem(load, 0.0, NULL);
  saltusi_friction_work* work = load->run.work;
  return saltusi_friction_case_residual(&work->given, r, work->sweep.u).normalised;
}

/* The problem given in `work` with compliance; r and its size are those of the problem. */
static saltusi_compliant_problem open_problem(saltusi_friction_load* load,
                                              saltusi_friction_work* work, double* values,
                                              saltus_solve_result* result, double accepted) {
  load->run = (saltusi_friction_run){.work = work, .cost_limit = INFINITY, .result = result};
  load->values = values;
  load->solved = 0;
  load->given = work->given.q;
  work->given.q = load->q;
  return (saltusi_compliant_problem){.rows = work->pattern.rows,
                                     .accepted = accepted,
                                     .user = load,
                                     .solve = solve_compliant,
                                     .residual = residual};
}

/* Restores the given problem; returns the number of problems that were solved. */
static int close_problem(saltusi_friction_load* load) {
  write_problem(load, 0.0, NULL);
  load->run.work->given.q = load->given;
  return load->solved;
}

int saltusi_friction_load_distribute(saltusi_friction_load* load, saltusi_friction_work* work,
                                     double* values, double accepted, double* r) {
  assert(load != NULL && work != NULL && values != NULL && r != NULL);
  const int rows = work->pattern.rows;
  load->work.degree = 0;
  if (rows > load->work.rows_max || work->pattern.units < 2) {
    return 0;
  }
  saltusi_friction_case* in = &work->given;
  saltusi_friction_case_residual(in, r, work->sweep.u);
  read_diagonal(load, in);
  const int m = find_active(load, in, r, work->sweep.u);
  if (m < 2) {
    return 0;
  }
  gather_active(load, in, m);
  if (saltusi_dependent_rows(&load->work, m) == 0) {
    return 0;
  }
  saltus_solve_result result = {0};
  const saltusi_compliant_problem problem = open_problem(load, work, values, &result, accepted);
  saltusi_load_distribution_solve(&load->work, &problem, r);
  return close_problem(load);
}

bool saltusi_friction_load_keep(saltusi_friction_load* load, saltusi_friction_work* work,
                                double* values, double accepted, const double* guess, double* r) {
  assert(load != NULL && work != NULL && values != NULL && guess != NULL && r != NULL);
  saltus_solve_result result = {0};
  double* near = load->work.vectors + work->pattern.rows;
  const size_t bytes = (size_t)work->pattern.rows * sizeof(double);
  read_diagonal(load, &work->given);
  const saltusi_compliant_problem problem = open_problem(load, work, values, &result, accepted);
  memcpy(near, guess, bytes);
  const bool kept = saltusi_load_distribution_keep(&load->work, &problem, near);
  if (kept) {
    memcpy(r, near, bytes);
  }
  close_problem(load);
  return kept;
}
