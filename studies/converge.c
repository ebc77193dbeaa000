/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * converge.c - errors and orders of any scheme on any scene or reference problem.
 */
#include "model.h"
#include "run/settings.h"
#include "study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GRIDS = 64, FINER = 16 };

/* "211,401,809" */
static int read_grids(const char* text, long long* grids, int* count) {
  *count = 0;
  const char* at = text;
  while (*count < MOST_GRIDS) {
    char* end;
    errno = 0;
    long long steps = strtoll(at, &end, 10);
    bool last = *end == '\0';
    if (end == at || errno != 0 || steps < 1 || steps > 100000000 || (!last && *end != ',')) {
      break;
    }
    grids[(*count)++] = steps;
    if (last) {
      return CLI_DONE;
    }
    at = end + 1;
  }
  cli_error("study: --steps is \"%s\", must be up to %d numbers of steps, whole and from 1 to 1e8, "
            "like 211,401,809; a step in seconds is --step of saltus run",
            text, (int)MOST_GRIDS);
  return CLI_USAGE;
}

/* Runs with many times the steps of a grid stand for the exact motion. Each contains all instants of its grid: between
 * instants of the reference errors would be those of an interpolation. */
typedef struct fine_runs {
  const cli_model* model;
  const saltus_run_settings* settings;
  long long finest; /* steps of the finest grid */
  long long steps;  /* of the run at hand; 0: none yet */
  saltusi_experiment run;
  saltusi_stored_motion stored;
  saltusi_reference reference;
} fine_runs;

static int fine_reference(void* user, long long steps, const saltusi_reference** out) {
  fine_runs* f = user;
  const long long common = FINER * f->finest, wanted = common % steps == 0 ? common : FINER * steps;
  *out = &f->reference;
  if (f->steps == wanted) {
    return CLI_DONE;
  }
  const saltus_system* sys = f->model->view.system;
  const saltusi_experiment_def def = {
      .system = sys,
      .q0 = f->model->view.q0,
      .v0 = f->model->view.v0,
      .scheme = f->settings->scheme->name,
      .options = f->settings->options,
      .t0 = f->settings->start,
      .t_end = f->settings->until,
      .steps = wanted,
      .jumps = true,
      .log = cli_log(),
  };
  saltusi_experiment_free(&f->run);
  f->steps = 0;
  const saltus_status status = saltusi_experiment_run(&def, &f->run);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  f->steps = wanted;
  f->stored = (saltusi_stored_motion){
      .motion = f->run.motion, .nq = sys->dims.nq, .nv = sys->dims.nv, .dense = true};
  f->reference = saltusi_reference_motion(&f->stored);
  return CLI_DONE;
}

static int find_reference(const cli_args* args, const cli_model* model, cli_reference* reference,
                          bool* fine) {
  const char* wanted = cli_value(args, "--reference");
  *fine = wanted != NULL ? strcmp(wanted, "fine") == 0 : model->view.reference == NULL;
  if (*fine) {
    *reference = (cli_reference){.known = false};
    return CLI_DONE;
  }
  bool exact = wanted == NULL || strcmp(wanted, "exact") == 0;
  int code = cli_reference_open(model, exact ? NULL : wanted, reference);
  if (code == CLI_DONE && !reference->known) {
    cli_error("study: no exact motion is known for \"%s\"; use --reference fine or a CSV file",
              model->target);
    code = CLI_USAGE;
  }
  return code;
}

static int measure(const cli_model* model, const saltus_run_settings* settings,
                   const cli_reference* reference, fine_runs* fine, const long long* grids,
                   int count, study_report* report) {
  char label[128];
  snprintf(label, sizeof label, "%.60s, %s", model->name, settings->scheme->name);
  const study_plan plan = {
      .label = label,
      .problem = model->target,
      .system = model->view.system,
      .q0 = model->view.q0,
      .v0 = model->view.v0,
      .reference = &reference->reference,
      .reference_of = fine != NULL ? fine_reference : NULL,
      .user = fine,
      .jumps = true,
      .scheme = settings->scheme,
      .options = settings->options,
      .options_text = settings->options_text,
      .t0 = settings->start,
      .t_end = settings->until,
      .steps = grids,
      .step_count = count,
  };
  return study_run_series(report, &plan);
}

/* Grids are fixed steps: they replace a tolerance of the scene for a scheme that does not choose its steps. */
static void take_steps(const cli_model* model, long long count, saltus_run_def* def) {
  const saltus_scheme_info* scheme = def->scheme != NULL ? saltus_scheme_find(def->scheme) : NULL;
  const double until = isnan(def->until) ? model->view.until : def->until;
  if (scheme != NULL && !scheme->chooses_step && isnan(def->step) && !isnan(until)) {
    def->step = (until - model->view.start) / (double)count;
  }
}

static int run(const cli_args* args, study_report* report) {
  const char* steps = cli_value(args, "--steps");
  long long grids[MOST_GRIDS];
  int count;
  int code = read_grids(steps != NULL ? steps : "211,401,809,1601,3203", grids, &count);
  if (code != CLI_DONE) {
    return code;
  }
  cli_model model;
  cli_overrides overrides = {.copied = 0};
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_run_def def;
  saltus_run_settings settings;
  cli_reference reference = {0};
  fine_runs fine = {.model = &model, .settings = &settings};
  bool needs_fine = false;
  code = cli_model_open(args, args->positional[1], &model);
  if (code == CLI_DONE) {
    code = cli_run_def(args, &model, &overrides, &def);
  }
  if (code == CLI_DONE) {
    take_steps(&model, grids[0], &def);
    code = cli_exit_code(saltusi_run_resolve(&def, true, &pool, &settings));
  }
  if (code == CLI_DONE) {
    code = find_reference(args, &model, &reference, &needs_fine);
  }
  for (int i = 0; i < count; i++) {
    fine.finest = grids[i] > fine.finest ? grids[i] : fine.finest;
  }
  if (code == CLI_DONE) {
    code = measure(&model, &settings, &reference, needs_fine ? &fine : NULL, grids, count, report);
  }
  saltusi_experiment_free(&fine.run);
  cli_reference_close(&reference);
  saltusi_pool_free(&pool);
  cli_overrides_free(&overrides);
  cli_model_close(&model);
  return code;
}

const study study_converge = {
    .name = "converge",
    .summary = "errors and orders of a scheme on a scene or problem: saltus study converge MODEL",
    .source = "norms: Acary 2009, section 2.3",
    .takes_model = true,
    .run = run,
};
