/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "problem_job.h"

#include "base/clock.h"
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool problem_is_lcp(const problem_job* j) {
  return j->file->kind == SALTUS_PROBLEM_LCP || j->file->kind == SALTUS_PROBLEM_MIXED_LCP;
}

const saltus_friction_problem* problem_friction(const problem_job* j) {
  return j->local != NULL ? &j->local->friction : &j->file->friction;
}

static saltus_status solve_lcp(problem_job* j, const saltus_solver_def* def, double tol,
                               double* work) {
  saltus_lcp_solver* solver;
  saltus_status status = saltus_lcp_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_lcp_solver_setup(solver, &j->file->lcp);
  }
  if (status == SALTUS_OK) {
    double start = saltusi_clock_cpu();
    status = saltus_lcp_solve(solver, &j->file->lcp, tol, work, work + j->unknowns, &j->result);
    j->cpu = saltusi_clock_cpu() - start;
  }
  saltus_lcp_solver_destroy(solver);
  return status;
}

static saltus_status set_given(const problem_job* j, const saltus_solver_info* info,
                               void* options) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < j->given_count && status == SALTUS_OK; i++) {
    const char* equals = strchr(j->given[i], '=');
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(equals - j->given[i]), j->given[i]);
    status = saltus_options_set(&info->options, options, info->name, name, equals + 1, cli_log());
  }
  return status;
}

/* The given options, to be freed; NULL: none were given, or one is invalid. */
static saltus_status make_options(const problem_job* j, const char* solver, void** options) {
  const char* name = solver != NULL ? solver : "auto";
  bool lcp = problem_is_lcp(j);
  const char* threads = lcp ? NULL : j->threads;
  const saltus_solver_info* info =
      lcp ? saltus_lcp_solver_find(name) : saltus_friction_solver_find(name);
  *options = NULL;
  if (info == NULL || (threads == NULL && j->given_count == 0)) {
    return SALTUS_OK; /* an unknown name is rejected when the solver is created */
  }
  *options = calloc(1, info->options.size + 1);
  if (*options == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_options_defaults(&info->options, *options);
  saltus_status status = set_given(j, info, *options);
  if (status == SALTUS_OK && threads != NULL) {
    status =
        saltus_options_set(&info->options, *options, info->name, "threads", threads, cli_log());
  }
  if (status != SALTUS_OK) {
    free(*options);
    *options = NULL;
  }
  return status;
}

static saltus_status solve_friction(problem_job* j, const saltus_solver_def* def, double tol,
                                    double* work) {
  const saltus_friction_problem* problem = problem_friction(j);
  saltus_friction_solver* solver;
  saltus_status status = saltus_friction_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_friction_solver_setup(solver, problem);
  }
  if (status == SALTUS_OK) {
    double start = saltusi_clock_cpu();
    status = saltus_friction_solve(solver, problem, tol, work, work + j->unknowns, &j->result);
    j->cpu = saltusi_clock_cpu() - start;
  }
  saltus_friction_solver_destroy(solver);
  return status;
}

saltus_status problem_open(problem_job* j) {
  saltus_status status = saltus_problem_file_read(j->path, cli_log(), NULL, &j->file);
  if (status == SALTUS_OK && j->file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION) {
    status = saltus_global_friction_reduce(&j->file->global, cli_log(), NULL, &j->local);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (problem_is_lcp(j)) {
    j->unknowns = j->file->lcp.n;
    j->contacts = j->file->lcp.n - j->file->lcp.bilateral;
  } else {
    j->contacts = problem_friction(j)->W.units;
    j->unknowns = problem_friction(j)->W.offset[j->contacts];
  }
  return SALTUS_OK;
}

void problem_close(problem_job* j) {
  saltus_problem_file_destroy(j->local);
  saltus_problem_file_destroy(j->file);
  j->local = j->file = NULL;
}

saltus_status problem_solve(problem_job* j, const char* solver, double tol) {
  double* work = calloc(2 * (size_t)j->unknowns + 1, sizeof(double));
  if (work == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_solver_def def = {.solver = solver, .log = cli_log()};
  void* options;
  saltus_status status = make_options(j, solver, &options);
  def.options = options;
  if (status == SALTUS_OK) {
    status = problem_is_lcp(j) ? solve_lcp(j, &def, tol, work) : solve_friction(j, &def, tol, work);
  }
  free(options);
  free(work);
  return status;
}
