/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize.c - saltus optimize: variables that minimise a measure under constraints, and edges of conditions.
 */
#include "saltus/optimize.h"
#include "cli.h"
#include "files.h"
#include "json.h"
#include "model.h"
#include "progress.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void report(void* user, int evaluation, double best) {
  (void)user;
  fprintf(stderr, "\revaluation %d, %.9g ", evaluation, best);
}

/* ---- results ---- */

static void print_view(const saltus_optimize_view* v, bool find) {
  printf("%d evaluations, %lld runs; %s%s\n", v->evaluations, v->runs, v->method,
         v->converged ? "" : "; not converged");
  if (v->note[0] != '\0') {
    printf("without derivatives: %s\n", v->note);
  }
  for (int i = 0; i < v->variables; i++) {
    printf("  %-12s %.12g%s\n", v->names[i], v->values[i],
           v->values[i] <= v->low[i] || v->values[i] >= v->high[i] ? "  at its bound" : "");
  }
  for (int i = 0; i < v->functions; i++) {
    printf("  %s: %.12g\n", v->texts[i], v->results[i]);
  }
  if (find && v->feasible) {
    printf("The condition changes between %.12g (%.9g) and %.12g (%.9g). It changes once on 17 "
           "values between the bounds; that is no proof that it is monotonic.\n",
           v->bracket[0], v->bracket_results[0], v->bracket[1], v->bracket_results[1]);
  } else if (!find && !v->feasible) {
    printf("The constraints are not satisfied.\n");
  }
}

static void json_view(const saltus_optimize_view* v, bool find) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_open(&j, "variables", '{');
  for (int i = 0; i < v->variables; i++) {
    json_number(&j, v->names[i], v->values[i]);
  }
  json_close(&j, '}');
  json_open(&j, "measures", '{');
  for (int i = 0; i < v->functions; i++) {
    json_number(&j, v->texts[i], v->results[i]);
  }
  json_close(&j, '}');
  json_text(&j, "method", v->method);
  json_text(&j, "note", v->note);
  json_bool(&j, "feasible", v->feasible);
  json_bool(&j, "converged", v->converged);
  json_integer(&j, "evaluations", v->evaluations);
  json_integer(&j, "runs", v->runs);
  json_open(&j, find ? "bracket" : "gradient", '[');
  for (int i = 0; i < 2 && find; i++) {
    json_number(&j, NULL, v->bracket[i]);
  }
  for (int i = 0; i < v->functions * v->variables && !find && v->gradient != NULL; i++) {
    json_number(&j, NULL, v->gradient[i]);
  }
  json_close(&j, ']');
  json_close(&j, '}');
  printf("\n");
}

/* Every evaluation as CSV. */
static int write_history(const char* path, const saltus_optimize_view* v) {
  saltusi_replacement file;
  const int code = cli_file_open(&file, path);
  if (code != CLI_DONE) {
    return code;
  }
  const int width = v->variables + v->functions;
  for (int i = 0; i < width; i++) {
    fprintf(file.file, "%s\"%s\"", i > 0 ? "," : "",
            i < v->variables ? v->names[i] : v->texts[i - v->variables]);
  }
  for (int i = 0; i < v->evaluations * width; i++) {
    fprintf(file.file, "%s%.17g", i % width > 0 ? "," : "\n", v->history[i]);
  }
  fprintf(file.file, "\n");
  return cli_file_close(&file, true);
}

/* ---- the command ---- */

typedef struct optimize_job {
  const char *variables[CLI_MOST], *constraints[CLI_MOST], *random[CLI_MOST];
  cli_overrides pairs, overrides;
  saltus_run_def run;
  saltus_optimize_def def;
} optimize_job;

static int read_job(const cli_args* args, const cli_model* model, optimize_job* j) {
  saltus_optimize_def* def = &j->def;
  double threads = sweep_threads_of_machine(), samples = 0.0, evaluations = 0.0;
  *def = saltus_optimize_def_default();
  def->variable_count = sweep_collect(args, "--variable", j->variables);
  def->constraint_count = sweep_collect(args, "--constraint", j->constraints);
  def->random_count = sweep_collect(args, "--random", j->random);
  int code = cli_outputs_check(args);
  code = code == CLI_DONE ? cli_run_def(args, model, &j->overrides, &j->run) : code;
  code = code == CLI_DONE
             ? cli_read_pairs(args, "--set", &j->pairs, j->pairs.options, &def->override_count)
             : code;
  code = code == CLI_DONE ? cli_number(args, "--samples", 1.0, 1e6, &samples) : code;
  code = code == CLI_DONE ? cli_number(args, "--evaluations", 1.0, 1e7, &evaluations) : code;
  code = code == CLI_DONE ? cli_number(args, "--tolerance", 1e-15, 1.0, &def->tolerance) : code;
  code = code == CLI_DONE ? cli_number(args, "--time-limit", 1e-6, 1e9, &def->time_limit) : code;
  code = code == CLI_DONE ? cli_number(args, "--threads", 1.0, 64.0, &threads) : code;
  code = code == CLI_DONE ? sweep_read_seed(args, &def->seed) : code;
  code = code == CLI_DONE ? sweep_read_sampling(args, &def->sampling) : code;
  j->run.scene = NULL;
  def->path = model->target;
  def->text = model->input;
  def->overrides = j->pairs.options;
  def->run = &j->run;
  def->variables = j->variables;
  def->constraints = j->constraints;
  def->random = j->random;
  def->minimize = cli_value(args, "--minimize");
  def->maximize = cli_value(args, "--maximize");
  def->find = cli_value(args, "--find");
  def->method = cli_value(args, "--method");
  def->samples = (long long)samples;
  def->evaluations = (int)evaluations;
  def->threads = (int)threads;
  def->report = isatty(STDERR_FILENO) != 0 ? report : NULL;
  def->log = cli_log();
  return code;
}

static int search(const cli_args* args, const optimize_job* j) {
  saltus_optimize* optimize = NULL;
  saltus_status status = saltus_optimize_create(&j->def, &optimize);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  status = saltus_optimize_execute(optimize);
  const saltus_optimize_view* v = saltus_optimize_get_view(optimize);
  const bool find = strcmp(v->method, "bisection") == 0;
  int code = cli_exit_code(status);
  if (v->evaluations > 0 && cli_has(args, "--json")) {
    json_view(v, find);
  } else if (v->evaluations > 0) {
    print_view(v, find);
  }
  if (v->evaluations > 0 && cli_value(args, "-o") != NULL) {
    const int written = write_history(cli_value(args, "-o"), v);
    code = code == CLI_DONE ? written : code;
  }
  saltus_optimize_destroy(optimize);
  return code;
}

int cli_optimize(const cli_args* args) {
  static optimize_job j;
  cli_model model;
  int code = cli_model_open(args, args->positional[0], &model);
  if (code != CLI_DONE) {
    return code;
  }
  if (model.scene == NULL) {
    cli_error("optimize: \"%s\" is a reference problem; optimisation is of scene files",
              args->positional[0]);
    code = CLI_USAGE;
  }
  code = code == CLI_DONE ? read_job(args, &model, &j) : code;
  if (code == CLI_DONE) {
    j.def.cancel = cli_signals_hold();
    code = search(args, &j);
    cli_signals_release();
  }
  cli_overrides_free(&j.pairs);
  cli_model_close(&model);
  return code;
}
