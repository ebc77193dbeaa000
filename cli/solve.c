/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve.c - saltus solve: contact and complementarity problems from files.
 */
#include "cli.h"
#include "json.h"
#include "problem_job.h"

#include <stdio.h>
#include <string.h>

typedef struct settings {
  const char* solver;
  double tol;
  const char* threads;
  const char* given[CLI_MOST]; /* options of the solver */
  int given_count;
  const char* dump;
  bool dumped;
  bool machine;
} settings;

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

static void print_job(const problem_job* j) {
  const saltus_solve_result* r = &j->result;
  const char* noun = problem_is_lcp(j) ? "complementarity row" : "contact";
  printf("%s: %d %s%s, %d unknown%s: %s in %.3g ms\n", j->path, j->contacts, noun,
         cli_plural(j->contacts), j->unknowns, cli_plural(j->unknowns), outcome_text(r),
         1e3 * j->cpu);
  printf("  residual %.2e of |q|, %.2e m/s, %.2e N s; %s\n", r->residual.normalised,
         r->residual.velocity, r->residual.impulse,
         r->stages[0] != '\0' ? r->stages : "nothing to do");
}

static void print_json(json* out, const problem_job* j) {
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

static int dump(settings* s, const problem_job* j) {
  if (s->dump == NULL || s->dumped || j->result.outcome != SALTUS_UNSOLVED) {
    return CLI_DONE;
  }
  s->dumped = true;
  saltus_status status =
      problem_is_lcp(j)
          ? saltus_problem_file_write_lcp(s->dump, &j->file->lcp, cli_log())
          : saltus_problem_file_write_friction(s->dump, problem_friction(j), cli_log());
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

/* Exit code of one file. */
static int run_job(problem_job* j, settings* s, json* out) {
  saltus_status status = problem_open(j);
  if (status == SALTUS_OK) {
    status = problem_solve(j, s->solver, s->tol);
  }
  /* a file that cannot be read is a fault of the command line */
  int code = status == SALTUS_ERR_IO ? CLI_USAGE : cli_exit_code(status);
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
  problem_close(j);
  return code;
}

/* A name that is a solver for neither kind of problem is a usage error, reported once. */
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

static int read_options(const cli_args* args, settings* s) {
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--option") != 0) {
      continue;
    }
    const char* text = args->given[i].value;
    const char* equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
      cli_error("solve: an option is \"%s\", must be name=value", text);
      return CLI_USAGE;
    }
    s->given[s->given_count++] = text;
  }
  return CLI_DONE;
}

int cli_solve(const cli_args* args) {
  settings s = {.solver = cli_value(args, "--solver"),
                .tol = 1e-8,
                .threads = cli_value(args, "--threads"),
                .dump = cli_value(args, "--dump"),
                .machine = cli_has(args, "--json")};
  double threads = 1.0;
  int code = cli_number(args, "--tol", 0.0, 1.0, &s.tol);
  if (code == CLI_DONE) {
    code = cli_number(args, "--threads", 1.0, 64.0, &threads);
  }
  if (code == CLI_DONE) {
    code = check_solver(s.solver);
  }
  if (code == CLI_DONE) {
    code = read_options(args, &s);
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
    problem_job j = {.path = args->positional[i],
                     .threads = s.threads,
                     .given = s.given,
                     .given_count = s.given_count};
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
