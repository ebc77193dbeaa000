/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.c - saltus fit: parameters from measured motions, and errors of given parameters.
 */
#include "saltus/fit.h"
#include "cli.h"
#include "files.h"
#include "json.h"
#include "model.h"
#include "progress.h"
#include "sweep.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void report(void* user, int iteration, double cost) {
  (void)user;
  fprintf(stderr, "\riteration %d, loss %.9g ", iteration, cost);
}

/* ---- results ---- */

static void print_values(const saltus_fit_view* v) {
  const int p = v->parameters;
  printf(
      "%d experiments, %d shared and %d start values, %lld frames in windows; %d iterations, %lld "
      "runs%s\n",
      v->experiments, p, v->nuisance, v->frames, v->iterations, v->runs,
      v->converged ? "" : "; not converged");
  if (v->fallbacks > 0) {
    printf("%d iterations by pattern search, where no step of Gauss and Newton lowered the loss\n",
           v->fallbacks);
  }
  for (int k = 0; k < p; k++) {
    const double sd = sqrt(v->covariance[k * p + k]), half = v->factor * sd;
    printf("  %-12s %.9g", v->names[k], v->values[k]);
    if (v->values[k] <= v->low[k] || v->values[k] >= v->high[k]) {
      printf("  at its bound\n");
    } else if (isfinite(half)) {
      printf(" +- %.2g  [%.6g, %.6g]\n", sd, v->values[k] - half, v->values[k] + half);
    } else {
      printf("  not identified\n");
    }
  }
  if (p > 1) {
    printf("identifiability: condition %.3g; weakest direction", v->condition);
    for (int k = 0; k < p; k++) {
      if (fabs(v->weakest[k]) > 0.1) {
        printf(" %+.2f %s", v->weakest[k], v->names[k]);
      }
    }
    printf("\n");
  }
}

static void print_summary(const char* title, const saltus_fit_summary* s) {
  printf("%s: %d experiments, %d failed\n", title, s->experiments, s->failed);
  printf("  end of the window: position %.4g, rotation %.4g; %.3g ms of computing time\n",
         s->window_position, s->window_rotation, 1e3 * s->window_cpu);
  printf("  all frames: position %.4g (median %.4g), rotation %.4g (median %.4g), right face %.1f "
         "%%\n",
         s->position, s->position_median, s->rotation, s->rotation_median, 100.0 * s->face);
}

static void json_summary(json* j, const char* name, const saltus_fit_summary* s) {
  json_open(j, name, '{');
  json_integer(j, "experiments", s->experiments);
  json_integer(j, "failed", s->failed);
  json_number(j, "window_position", s->window_position);
  json_number(j, "window_rotation", s->window_rotation);
  json_number(j, "position", s->position);
  json_number(j, "position_median", s->position_median);
  json_number(j, "rotation", s->rotation);
  json_number(j, "rotation_median", s->rotation_median);
  json_number(j, "face", s->face);
  json_number(j, "window_cpu", s->window_cpu);
  json_close(j, '}');
}

static void json_values(json* j, const saltus_fit_view* v, bool fitted) {
  const int p = v->parameters;
  json_integer(j, "experiments", v->experiments);
  json_integer(j, "frames", v->frames);
  json_open(j, "parameters", '{');
  for (int k = 0; k < p; k++) {
    const double sd = sqrt(v->covariance[k * p + k]);
    json_open(j, v->names[k], '{');
    json_number(j, "value", v->values[k]);
    if (fitted) {
      json_number(j, "error", sd);
      json_number(j, "low", v->values[k] - v->factor * sd);
      json_number(j, "high", v->values[k] + v->factor * sd);
    }
    json_close(j, '}');
  }
  json_close(j, '}');
  if (fitted) {
    json_number(j, "loss", v->cost);
    json_number(j, "condition", v->condition);
    json_integer(j, "iterations", v->iterations);
    json_integer(j, "fallbacks", v->fallbacks);
    json_integer(j, "runs", v->runs);
    json_bool(j, "converged", v->converged);
    json_open(j, "covariance", '[');
    for (int k = 0; k < p * p; k++) {
      json_number(j, NULL, v->covariance[k]);
    }
    json_close(j, ']');
  }
}

/* Errors of every experiment as CSV. */
static int write_scores(const char* path, const saltus_fit_score* scores, int count) {
  saltusi_replacement file;
  int code = cli_file_open(&file, path);
  if (code != CLI_DONE) {
    return code;
  }
  fprintf(file.file, "id,window_position,window_rotation,position,rotation,face,cpu,reason\n");
  for (int i = 0; i < count; i++) {
    const saltus_fit_score* s = &scores[i];
    fprintf(file.file, "%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.3g,\"%s\"\n", s->id, s->window_position,
            s->window_rotation, s->position, s->rotation, s->face, s->cpu, s->reason);
  }
  return cli_file_close(&file, true);
}

/* ---- the command ---- */

typedef struct fit_job {
  const cli_args* args;
  saltus_fit* fit;
  saltus_fit_score* scores; /* [experiments] */
  saltus_fit_summary all, held_out;
  bool fitted, validated;
  double folds, seed;
} fit_job;

static int compute(fit_job* j) {
  const bool evaluate = cli_has(j->args, "--evaluate");
  saltus_status status = SALTUS_OK;
  if (!evaluate) {
    status = saltus_fit_execute(j->fit);
    j->fitted = true;
  }
  if (status == SALTUS_OK && j->folds >= 2.0) {
    status = saltus_fit_validate(j->fit, (int)j->folds, (unsigned)j->seed, &j->held_out);
    j->validated = true;
  }
  if (status == SALTUS_OK) {
    status = saltus_fit_evaluate(j->fit, j->scores, &j->all);
  }
  return cli_exit_code(status);
}

static void print(const fit_job* j) {
  const saltus_fit_view* v = saltus_fit_get_view(j->fit);
  if (cli_has(j->args, "--json")) {
    json out = {.file = stdout};
    json_open(&out, NULL, '{');
    json_values(&out, v, j->fitted);
    json_summary(&out, "errors", &j->all);
    if (j->validated) {
      json_summary(&out, "held_out", &j->held_out);
    }
    json_close(&out, '}');
    printf("\n");
    return;
  }
  if (j->fitted) {
    print_values(v);
  }
  print_summary(j->fitted ? "with these values" : "with the given values", &j->all);
  if (j->validated) {
    char title[60];
    snprintf(title, sizeof title, "held out, %g folds", j->folds);
    print_summary(title, &j->held_out);
  }
  for (int i = 0, listed = 0; i < v->experiments && listed < 10; i++) {
    if (j->scores[i].reason[0] != '\0') {
      printf("  experiment %g failed: %s\n", j->scores[i].id, j->scores[i].reason);
      listed++;
    }
  }
}

int cli_fit(const cli_args* args) {
  fit_job j = {.args = args, .seed = 1.0};
  cli_model model;
  cli_overrides pairs = {.copied = 0};
  double threads = sweep_threads_of_machine();
  saltus_fit_def def = {.window = cli_value(args, "--window"),
                        .where = cli_value(args, "--where"),
                        .data = cli_value(args, "--data"),
                        .log = cli_log()};
  int code = cli_model_open(args, args->positional[0], &model);
  if (code != CLI_DONE) {
    return code;
  }
  code = cli_outputs_check(args);
  code = code == CLI_DONE
             ? cli_read_pairs(args, "--set", &pairs, pairs.options, &def.override_count)
             : code;
  code = code == CLI_DONE ? cli_number(args, "--threads", 1.0, 64.0, &threads) : code;
  code = code == CLI_DONE ? cli_number(args, "--folds", 2.0, 1e6, &j.folds) : code;
  code = code == CLI_DONE ? cli_number(args, "--seed", 0.0, 4294967295.0, &j.seed) : code;
  code = code == CLI_DONE ? cli_number(args, "--time-limit", 1e-6, 1e9, &def.time_limit) : code;
  if (code == CLI_DONE && model.scene == NULL) {
    cli_error("fit: \"%s\" is a reference problem; fits are of scene files", args->positional[0]);
    code = CLI_USAGE;
  }
  if (code == CLI_DONE) {
    def.path = model.target;
    def.text = model.input;
    def.overrides = pairs.options;
    def.threads = (int)threads;
    def.report = isatty(STDERR_FILENO) != 0 ? report : NULL;
    def.cancel = cli_signals_hold();
    code = cli_exit_code(saltus_fit_create(&def, &j.fit));
  }
  if (code == CLI_DONE) {
    const int count = saltus_fit_get_view(j.fit)->experiments;
    j.scores = calloc((size_t)count, sizeof *j.scores);
    code = j.scores != NULL ? compute(&j) : cli_exit_code(SALTUS_ERR_MEMORY);
    if (code == CLI_DONE) {
      print(&j);
    }
    if (code == CLI_DONE && cli_value(args, "-o") != NULL) {
      code = write_scores(cli_value(args, "-o"), j.scores, count);
    }
  }
  cli_signals_release();
  free(j.scores);
  saltus_fit_destroy(j.fit);
  cli_overrides_free(&pairs);
  cli_model_close(&model);
  return code;
}
