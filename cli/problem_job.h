/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * problem_job.h - a contact or complementarity problem from a file and its solution; shared by
 * solve and bench.
 */
#ifndef PROBLEM_JOB_H
#define PROBLEM_JOB_H

#include "saltus/problem_file.h"

/* One file with its problem. */
typedef struct problem_job {
  const char* path;
  saltus_problem_file* file;
  saltus_problem_file* local; /* of a global problem; NULL otherwise */
  int contacts, unknowns;
  const char* threads;      /* option of friction solvers; NULL: default */
  const char* const* given; /* [given_count] "name=value", options of the solver */
  int given_count;
  saltus_solve_result result;
  double cpu; /* s, of the solve without reading and setting up */
} problem_job;

bool problem_is_lcp(const problem_job* j);

/* The local friction problem, reduced where the file has the global one. */
const saltus_friction_problem* problem_friction(const problem_job* j);

/* Reads j->path; close may be called in any case. */
saltus_status problem_open(problem_job* j);
void problem_close(problem_job* j);

/* Solves with the named solver (NULL: the portfolio); fills result and cpu. */
saltus_status problem_solve(problem_job* j, const char* solver, double tol);

#endif
