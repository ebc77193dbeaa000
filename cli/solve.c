/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve.c - saltus solve: contact and complementarity problems from files.
 */
#include "cli.h"
#include "json.h"
#include "saltus/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* One file on its way. */
typedef struct job {
  const char* path;
  saltus_problem_file* file;
  saltus_problem_file* local; /* of a global problem; NULL otherwise */
  int contacts, unknowns;
  saltus_solve_result result;
  double cpu; /* s, of the solve without reading and setting up */
} job;

typedef struct settings {
  const char* solver;
  double tol;
  const char* dump;
  bool dumped;
  bool machine;
} settings;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_lcp(const job* j) {
  return j->file->kind == SALTUS_PROBLEM_LCP || j->file->kind == SALTUS_PROBLEM_MIXED_LCP;
}

static const saltus_friction_problem* friction_of(const job* j) {
  return j->local != NULL ? &j->local->friction : &j->file->friction;
}

static saltus_status solve_lcp(job* j, const saltus_solver_def* def, double tol, double* work) {
  saltus_lcp_solver* solver;
  saltus_status status = saltus_lcp_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_lcp_solver_setup(solver, &j->file->lcp);
  }
  if (status == SALTUS_OK) {
    double start = cpu_seconds();
    status = saltus_lcp_solve(solver, &j->file->lcp, tol, work, work + j->unknowns, &j->result);
    j->cpu = cpu_seconds() - start;
  }
  saltus_lcp_solver_destroy(solver);
  return status;
}

static saltus_status solve_friction(job* j, const saltus_solver_def* def, double tol,
                                    double* work) {
  const saltus_friction_problem* problem = friction_of(j);
  saltus_friction_solver* solver;
  saltus_status status = saltus_friction_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_friction_solver_setup(solver, problem);
  }
  if (status == SALTUS_OK) {
    double start = cpu_seconds();
    status = saltus_friction_solve(solver, problem, tol, work, work + j->unknowns, &j->result);
    j->cpu = cpu_seconds() - start;
  }
  saltus_friction_solver_destroy(solver);
  return status;
}

static saltus_status open_job(job* j) {
  saltus_status status = saltus_problem_file_read(j->path, cli_log(), NULL, &j->file);
  if (status == SALTUS_OK && j->file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION) {
    status = saltus_global_friction_reduce(&j->file->global, cli_log(), NULL, &j->local);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (is_lcp(j)) {
    j->unknowns = j->file->lcp.n;
    j->contacts = j->file->lcp.n - j->file->lcp.bilateral;
  } else {
    j->contacts = friction_of(j)->W.units;
    j->unknowns = friction_of(j)->W.offset[j->contacts];
  }
  return SALTUS_OK;
}

static const char* outcome_text(const saltus_solve_result* result) {
  switch (result->outcome) {
  case SALTUS_SOLVED:
    return "solved";
  case SALTUS_NO_SOLUTION:
    return "has no solution";
  case SALTUS_UNSOLVED:
    break;
  }
  return "not solved";
}

static void print_job(const job* j) {
  const saltus_solve_result* r = &j->result;
  const char* noun = is_lcp(j) ? "complementarity row" : "contact";
  printf("%s: %d %s%s, %d unknowns: %s in %.3g ms\n", j->path, j->contacts, noun,
         j->contacts == 1 ? "" : "s", j->unknowns, outcome_text(r), 1e3 * j->cpu);
  printf("  residual %.2e of |q|, %.2e m/s, %.2e N s; %s\n", r->residual.normalised,
         r->residual.velocity, r->residual.impulse,
         r->stages[0] != '\0' ? r->stages : "nothing to do");
}

static void print_json(json* out, const job* j) {
  static const char* const words[] = {"solved", "none", "unsolved"};
  const saltus_solve_result* r = &j->result;
  json_open(out, NULL, '{');
  json_text(out, "file", j->path);
  json_text(out, "kind", saltus_problem_kind_text(j->file->kind));
  json_integer(out, "contacts", j->contacts);
  json_integer(out, "unknowns", j->unknowns);
  json_text(out, "outcome", words[r->outcome]);
  json_integer(out, "iterations", r->iterations);
  json_text(out, "stages", r->stages);
  json_open(out, "residual", '{');
  json_number(out, "normalised", r->residual.normalised);
  json_number(out, "velocity", r->residual.velocity);
  json_number(out, "impulse", r->residual.impulse);
  json_close(out, '}');
  json_number(out, "cpu_s", j->cpu);
  json_close(out, '}');
}

static int dump(settings* s, const job* j) {
  if (s->dump == NULL || s->dumped || j->result.outcome != SALTUS_UNSOLVED) {
    return CLI_DONE;
  }
  s->dumped = true;
  saltus_status status =
      is_lcp(j) ? saltus_problem_file_write_lcp(s->dump, &j->file->lcp, cli_log())
                : saltus_problem_file_write_friction(s->dump, friction_of(j), cli_log());
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

/* Exit code of one file. */
static int run_job(job* j, settings* s, json* out) {
  saltus_status status = open_job(j);
  double* work = NULL;
  if (status == SALTUS_OK) {
    work = calloc(2 * (size_t)j->unknowns + 1, sizeof(double));
    status = work != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_OK) {
    const saltus_solver_def def = {.solver = s->solver, .log = cli_log()};
    status = is_lcp(j) ? solve_lcp(j, &def, s->tol, work) : solve_friction(j, &def, s->tol, work);
  }
  free(work);
  int code = status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
  if (status == SALTUS_OK) {
    if (s->machine) {
      print_json(out, j);
    } else {
      print_job(j);
    }
    code = dump(s, j);
    if (j->result.outcome != SALTUS_SOLVED) {
      code = CLI_FAILED;
    }
  }
  saltus_problem_file_destroy(j->local);
  saltus_problem_file_destroy(j->file);
  return code;
}

/* A name that neither kind of problem knows is a fault of the command line, told once. */
static int check_solver(const char* name) {
  if (name == NULL || saltus_friction_solver_find(name) != NULL ||
      saltus_lcp_solver_find(name) != NULL) {
    return CLI_DONE;
  }
  cli_error("solve: there is no solver \"%s\"; these are:", name);
  for (int i = 0; i < saltus_friction_solver_count(); i++) {
    const saltus_solver_info* info = saltus_friction_solver_at(i);
    fprintf(stderr, "  %-20s friction: %s\n", info->name, info->summary);
  }
  for (int i = 0; i < saltus_lcp_solver_count(); i++) {
    const saltus_solver_info* info = saltus_lcp_solver_at(i);
    fprintf(stderr, "  %-20s complementarity: %s\n", info->name, info->summary);
  }
  return CLI_USAGE;
}

int cli_solve(const cli_args* args) {
  settings s = {.solver = cli_value(args, "--solver"),
                .tol = 1e-8,
                .dump = cli_value(args, "--dump"),
                .machine = cli_has(args, "--json")};
  int code = cli_number(args, "--tol", 0.0, 1.0, &s.tol);
  if (code == CLI_DONE) {
    code = check_solver(s.solver);
  }
  if (code != CLI_DONE) {
    return code;
  }
  json out = {.file = stdout};
  if (s.machine) {
    json_open(&out, NULL, '[');
  }
  int solved = 0;
  for (int i = 0; i < args->positional_count; i++) {
    job j = {.path = args->positional[i]};
    int one = run_job(&j, &s, &out);
    solved += one == CLI_DONE;
    code = one > code ? one : code;
  }
  if (s.machine) {
    json_close(&out, ']');
  } else if (args->positional_count > 1) {
    printf("%d of %d solved to %.1e\n", solved, args->positional_count, s.tol);
  }
  return code;
}
