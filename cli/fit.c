/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.c - saltus fit: parameters from measured motions, and errors of given parameters.
 */
#include "fit.h"

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

typedef struct fit_job {
  const cli_args* args;
  cli_fit_results r;
  saltus_fit_summary all, held_out;
  bool fitted, validated;
  double folds, seed, samples;
} fit_job;

static void print_values(const fit_job* j, FILE* out) {
  const saltus_fit_view* v = saltus_fit_get_view(j->r.fit);
  const int p = v->parameters;
  fprintf(
      out,
      "%d experiments, %d shared and %d start values, %lld frames in windows; %d iterations, %lld "
      "runs%s\n",
      v->experiments, p, v->nuisance, v->frames, v->iterations, v->runs,
      v->converged ? "" : "; not converged");
  if (v->fallbacks > 0) {
    fprintf(out,
            "%d iterations by pattern search, where no step of Gauss and Newton lowered the loss\n",
            v->fallbacks);
  }
  for (int k = 0; k < p; k++) {
    const double sd = sqrt(v->covariance[k * p + k]), half = v->factor * sd;
    fprintf(out, "  %-12s %.9g", v->names[k], v->values[k]);
    if (v->values[k] <= v->low[k] || v->values[k] >= v->high[k]) {
      fprintf(out, "  at its bound\n");
    } else if (isfinite(half)) {
      fprintf(out, " +- %.2g  [%.6g, %.6g]", sd, v->values[k] - half, v->values[k] + half);
      if (j->r.sample_count > 0) {
        double low, high;
        cli_fit_percentiles(&j->r, k, &low, &high);
        fprintf(out, "  bootstrap [%.6g, %.6g]", low, high);
      }
      fprintf(out, "\n");
    } else {
      fprintf(out, "  not identified\n");
    }
  }
  if (p > 1) {
    fprintf(out, "identifiability: condition %.3g; weakest direction", v->condition);
    for (int k = 0; k < p; k++) {
      if (fabs(v->weakest[k]) > 0.1) {
        fprintf(out, " %+.2f %s", v->weakest[k], v->names[k]);
      }
    }
    fprintf(out, "\n");
  }
}

static void print_summary(FILE* out, const char* title, const saltus_fit_summary* s) {
  fprintf(out, "%s: %d experiments, %d failed\n", title, s->experiments, s->failed);
  fprintf(out, "  end of the window: position %.4g, rotation %.4g; %.3g ms of computing time\n",
          s->window_position, s->window_rotation, 1e3 * s->window_cpu);
  fprintf(out,
          "  all frames: position %.4g (median %.4g), rotation %.4g (median %.4g), right face %.1f "
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

/* Samples and profiles around the fit. */
static int compute_uncertainty(fit_job* j) {
  const int p = saltus_fit_get_view(j->r.fit)->parameters;
  const char* list = cli_value(j->args, "--profile");
  int code = CLI_DONE;
  if (j->samples >= 1.0) {
    j->r.samples = calloc((size_t)j->samples * (size_t)p + 1, sizeof *j->r.samples);
    code = j->r.samples != NULL ? cli_exit_code(saltus_fit_bootstrap(
                                      j->r.fit, (int)j->samples, (unsigned)j->seed, j->r.samples))
                                : cli_exit_code(SALTUS_ERR_MEMORY);
    j->r.sample_count = (int)j->samples;
  }
  return code == CLI_DONE && list != NULL ? cli_fit_profiles(&j->r, list) : code;
}

static int compute(fit_job* j) {
  saltus_status status = SALTUS_OK;
  int code = CLI_DONE;
  if (!cli_has(j->args, "--evaluate")) {
    j->fitted = true;
    code = cli_exit_code(saltus_fit_execute(j->r.fit));
    code = code == CLI_DONE ? compute_uncertainty(j) : code;
  }
  if (code == CLI_DONE && j->folds >= 2.0) {
    status =
        saltus_fit_validate(j->r.fit, (int)j->folds, (unsigned)j->seed, j->r.held, &j->held_out);
    j->validated = true;
  }
  if (code == CLI_DONE && status == SALTUS_OK) {
    status = saltus_fit_evaluate(j->r.fit, j->r.scores, &j->all);
  }
  return code == CLI_DONE ? cli_exit_code(status) : code;
}

static void print_text(const fit_job* j, FILE* out) {
  const saltus_fit_view* v = saltus_fit_get_view(j->r.fit);
  if (j->fitted) {
    print_values(j, out);
    cli_fit_profiles_print(&j->r, out);
  }
  print_summary(out, j->fitted ? "with these values" : "with the given values", &j->all);
  if (j->validated) {
    char title[60];
    snprintf(title, sizeof title, "held out, %g folds", j->folds);
    print_summary(out, title, &j->held_out);
  }
  for (int i = 0, listed = 0; i < v->experiments && listed < 10; i++) {
    if (j->r.scores[i].reason[0] != '\0') {
      fprintf(out, "  experiment %g failed: %s\n", j->r.scores[i].id, j->r.scores[i].reason);
      listed++;
    }
  }
}

static void json_uncertainty(json* out, const cli_fit_results* r) {
  const saltus_fit_view* v = saltus_fit_get_view(r->fit);
  if (r->sample_count > 0) {
    json_open(out, "bootstrap", '[');
    for (int i = 0; i < r->sample_count * v->parameters; i++) {
      json_number(out, NULL, r->samples[i]);
    }
    json_close(out, ']');
  }
  if (r->profile_count > 0) {
    json_open(out, "profiles", '{');
  }
  for (int i = 0; i < r->profile_count; i++) {
    const cli_profile* f = &r->profiles[i];
    json_open(out, v->names[f->parameter], '{');
    json_number(out, "threshold", f->threshold);
    json_number(out, "low", f->low);
    json_number(out, "high", f->high);
    for (int part = 0; part < 2; part++) {
      json_open(out, part == 0 ? "at" : "loss", '[');
      for (int k = 0; k < f->count; k++) {
        json_number(out, NULL, part == 0 ? f->at[k] : f->loss[k]);
      }
      json_close(out, ']');
    }
    json_close(out, '}');
  }
  if (r->profile_count > 0) {
    json_close(out, '}');
  }
}

static void print(const fit_job* j) {
  const saltus_fit_view* v = saltus_fit_get_view(j->r.fit);
  if (!cli_has(j->args, "--json")) {
    print_text(j, stdout);
    return;
  }
  json out = {.file = stdout};
  json_open(&out, NULL, '{');
  json_values(&out, v, j->fitted);
  json_uncertainty(&out, &j->r);
  json_summary(&out, "errors", &j->all);
  if (j->validated) {
    json_summary(&out, "held_out", &j->held_out);
  }
  json_close(&out, '}');
  printf("\n");
}

static int write_page(const fit_job* j, const char* path) {
  char* text = NULL;
  size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  if (out == NULL) {
    return cli_exit_code(SALTUS_ERR_MEMORY);
  }
  print_text(j, out);
  const int code = fclose(out) == 0 ? cli_fit_page(&j->r, text, path) : CLI_FAILED;
  free(text);
  return code;
}

/* Computes, prints and writes. */
static int work(fit_job* j) {
  const int count = saltus_fit_get_view(j->r.fit)->experiments;
  const char *table = cli_value(j->args, "-o"), *page = cli_value(j->args, "--report");
  j->r.scores = calloc((size_t)count + 1, sizeof *j->r.scores);
  j->r.held = j->folds >= 2.0 ? calloc((size_t)count + 1, sizeof *j->r.held) : NULL;
  if (j->r.scores == NULL || (j->folds >= 2.0 && j->r.held == NULL)) {
    return cli_exit_code(SALTUS_ERR_MEMORY);
  }
  int code = compute(j);
  if (code == CLI_DONE) {
    print(j);
  }
  code = code == CLI_DONE && table != NULL ? write_scores(table, j->r.scores, count) : code;
  return code == CLI_DONE && page != NULL ? write_page(j, page) : code;
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
  code = code == CLI_DONE ? cli_number(args, "--bootstrap", 1.0, 1e5, &j.samples) : code;
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
    code = cli_exit_code(saltus_fit_create(&def, &j.r.fit));
  }
  if (code == CLI_DONE) {
    code = work(&j);
  }
  cli_signals_release();
  free(j.r.scores);
  free(j.r.held);
  free(j.r.samples);
  saltus_fit_destroy(j.r.fit);
  cli_overrides_free(&pairs);
  cli_model_close(&model);
  return code;
}
