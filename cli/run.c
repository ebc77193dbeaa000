/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - saltus run and saltus resume: arguments into a run of the library, files, exit codes.
 */
#include "run.h"

#include "events.h"
#include "explain.h"
#include "files.h"
#include "output.h"
#include "progress.h"
#include "saltus/mechanism.h"
#include "saltus/sensitivity.h"
#include "saltus/tree.h"
#include "sensitivity.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static saltus_status list_event(void* user, const saltus_event* event) {
  run_list* list = user;
  if (list->count == list->room) {
    long long room = list->room > 0 ? 2 * list->room : 256;
    saltus_event* events = realloc(list->events, (size_t)room * sizeof *events);
    if (events == NULL) {
      cli_error("no memory for %lld events", room);
      return SALTUS_ERR_MEMORY;
    }
    list->events = events;
    list->room = room;
  }
  list->events[list->count++] = *event;
  return SALTUS_OK;
}

/* Number of states to record, if it is determined before the run; else 0. */
static double expected_frames(const saltus_run_settings* s) {
  if (s->record_dt > 0.0) {
    return (s->until - s->start) / s->record_dt + 1.0;
  }
  return (double)s->steps / (double)s->record_every + (s->steps > 0 ? 1.0 : 0.0);
}

static void warn_of_size(const run_job* j) {
  static const double much = 1e9; /* bytes */
  double frames = expected_frames(saltus_run_get_settings(j->run));
  double bytes = frames * saltus_recording_frame_bytes(j->recording);
  if (bytes > much) {
    cli_error("warning: %s will have %.3g states and take about %.3g GB%s; --every N or "
              "--output-dt DT records fewer",
              j->path, frames, 1e-9 * bytes,
              saltus_recording_doubles(j->recording) ? ", twice that during the run" : "");
  }
}

/* Estimated accuracy of the motion, for the file; "": not available. */
static const char* accuracy_text(const saltus_run_accuracy* a, char* text, size_t bytes) {
  text[0] = '\0';
  if (a->known) {
    snprintf(text, bytes, "error=%.3g of rtol=%g atol=%g, part=%.3g amplification=%.3g runs=%d",
             a->error, a->rtol, a->atol, a->part, a->amplification, a->trials);
  }
  return text;
}

static int open_recording(run_job* j) {
  if (j->path == NULL) {
    return CLI_DONE;
  }
  char accuracy[256];
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  saltus_recording_def def = saltus_recording_def_default();
  def.path = j->path;
  def.system = j->model.view.system;
  def.joint_names = j->model.view.joint_names;
  def.observables = j->model.view.observables;
  def.name = j->model.name;
  def.scheme = settings->scheme->name;
  def.options = settings->options_text;
  def.accuracy = accuracy_text(&saltus_run_outcome(j->run)->accuracy, accuracy, sizeof accuracy);
  def.until = settings->until;
  def.scene = j->model.text;
  def.force = j->force;
  def.log = cli_log();
  if (saltus_recording_create(&def, &j->recording) != SALTUS_OK) {
    return cli_unwritten_code(j->path);
  }
  warn_of_size(j);
  return cli_exit_code(saltus_run_record(j->run, saltus_recording_recorder(j->recording)));
}

/* Reason of an early end of a run, for its file: the signal where there was one. */
static const char* failure_text(const saltus_run_result* result, char* text, size_t bytes) {
  int caught = cli_signals_caught();
  if (result->status == SALTUS_OK) {
    return NULL;
  }
  if (result->status != SALTUS_ERR_STOPPED || caught == 0) {
    return result->reason;
  }
  const char* name = caught == SIGINT    ? "SIGINT (Ctrl-C)"
                     : caught == SIGTERM ? "SIGTERM"
                     : caught == SIGHUP  ? "SIGHUP"
                                         : "a signal";
  snprintf(text, bytes, "stopped by %s at t = %.17g s", name, result->t);
  return text;
}

static int close_recording(run_job* j) {
  if (j->recording == NULL) {
    return CLI_DONE;
  }
  const saltus_run_result* result = saltus_run_outcome(j->run);
  char failure[128];
  char* explanation = cli_explanation(j->run);
  /* no computing time in the file: the same run gives the same bytes */
  const saltus_recording_summary summary = {.failure =
                                                failure_text(result, failure, sizeof failure),
                                            .steps = result->steps,
                                            .cpu_seconds = NAN};
  if (explanation != NULL) {
    saltus_recording_explain(j->recording, explanation);
  }
  free(explanation);
  return saltus_recording_close(j->recording, &summary) == SALTUS_OK ? CLI_DONE : CLI_FAILED;
}

/* --events */
static int save_events(const run_job* j) {
  if (j->events == NULL) {
    return CLI_DONE;
  }
  const saltus_system* sys = j->model.view.system;
  const char** names = calloc((size_t)sys->dims.nc + (size_t)sys->law_count + 1, sizeof *names);
  if (names == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  int count = changing ? sys->law_count : sys->dims.nc;
  for (int i = 0; i < count && (changing || sys->law_count == count); i++) {
    names[i] = sys->laws[i].name;
  }
  const saltus_observables* own = j->model.view.observables;
  const cli_events list = {.events = j->list.events,
                           .count = j->list.count,
                           .contact_names = names,
                           .nc = count,
                           .changing = changing,
                           .system = sys,
                           .own_names = own != NULL ? own->event_names : NULL,
                           .own_count = own != NULL ? own->event_count : 0};
  int code = cli_events_save(j->events, &list);
  free(names);
  return code;
}

/* Warns once per run of shapes that can pass through each other within a fixed step. */
static saltus_status watch_steps(void* user, double t, const double* q, const double* v) {
  run_job* j = user;
  const saltus_mechanism* m = j->model.view.mechanism;
  const saltus_dims* all = &j->model.view.bodies->dims;
  const saltus_dims* own = &saltus_mechanism_system(m)->dims;
  const double h = saltus_run_get_settings(j->run)->h;
  saltus_passage passage;
  bool found = false;
  if (j->warned) {
    return SALTUS_OK;
  }
  if (j->model.view.tree != NULL) {
    saltus_tree_body_velocities(j->model.view.tree, q, v, j->bodies);
    v = j->bodies;
  }
  if (saltus_mechanism_passage(m, t, q + (all->nq - own->nq), v + (all->nv - own->nv), h, &passage,
                               &found) != SALTUS_OK) {
    return SALTUS_OK;
  }
  if (found) {
    char first[128], second[128];
    cli_error(
        "warning: at t = %.6g s shapes %s and %s come closer by up to %.3g m in a step of %g s and "
        "are %.3g m thick together: they may pass through each other; take a shorter step, or "
        "--scheme adaptive",
        t, cli_one_line(passage.shapes[0], first, sizeof first),
        cli_one_line(passage.shapes[1], second, sizeof second), passage.approach, h,
        passage.thickness);
    j->warned = true;
  }
  return SALTUS_OK;
}

/* Recorders are added after the run was accepted: a rejected run creates no file and replaces none. */
static int add_recorders(run_job* j) {
  int code = open_recording(j);
  if (code == CLI_DONE && j->events != NULL) {
    const saltus_recorder lists = {.event = list_event, .user = &j->list};
    code = cli_exit_code(saltus_run_record(j->run, lists));
  }
  const saltus_mechanism* m = j->model.view.mechanism;
  if (code == CLI_DONE && !saltus_run_get_settings(j->run)->scheme->chooses_step && m != NULL &&
      saltus_mechanism_sizes(m).shapes > 0 && j->model.view.flexible == NULL) {
    const saltus_recorder watch = {.step = watch_steps, .user = j};
    j->bodies = calloc((size_t)j->model.view.bodies->dims.nv + 1, sizeof *j->bodies);
    code = cli_exit_code(j->bodies != NULL ? saltus_run_record(j->run, watch) : SALTUS_ERR_MEMORY);
  }
  if (code == CLI_DONE && j->costs.wanted && m != NULL) {
    code = cli_costs_start(&j->costs, &j->model.view, saltus_run_get_settings(j->run)->h)
               ? cli_exit_code(saltus_run_record(j->run, cli_costs_recorder(&j->costs)))
               : cli_exit_code(SALTUS_ERR_MEMORY);
  }
  if (code == CLI_DONE && j->design.wanted) {
    code = cli_design_start(&j->design, &j->model.view)
               ? cli_exit_code(saltus_run_record(j->run, cli_design_recorder(&j->design)))
               : cli_exit_code(SALTUS_ERR_MEMORY);
  }
  if (code == CLI_DONE && j->global.wanted) {
    code = cli_exit_code(
        saltus_run_record(j->run, cli_global_error_recorder(&j->global, j->model.view.system)));
  }
  return code;
}

/* Solves to a tolerance of the motion before a file is created: a failure leaves no file. */
static int tighten(run_job* j, const saltus_run_def* def) {
  cli_progress_begin(def->progress.user, saltus_run_outcome(j->run)->t);
  saltus_status status = saltus_run_tighten(j->run);
  cli_progress_end(def->progress.user);
  if (status == SALTUS_ERR_ACCURACY && j->machine) {
    run_summary_json(j);
  }
  return cli_exit_code(status);
}

/* Prints the certificate; a run without one fails. */
static int conclude(const run_job* j, bool whole, int certified) {
  if (!whole) {
    cli_error("run: no certificate: the recording does not contain a complete run");
    return CLI_FAILED;
  }
  if (certified == CLI_DONE && !j->machine) {
    cli_certificate_print(&j->certificate);
  }
  return certified == CLI_DONE && !cli_certificate_good(&j->certificate, true) ? CLI_FAILED
                                                                               : certified;
}

static int simulate(run_job* j, const saltus_run_def* def) {
  int code = tighten(j, def);
  code = code == CLI_DONE ? add_recorders(j) : code;
  if (code != CLI_DONE) {
    return code;
  }
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  cli_progress_begin(def->progress.user, saltus_run_outcome(j->run)->t);
  saltus_status status = saltus_run_execute(j->run);
  cli_progress_end(def->progress.user);
  code = close_recording(j);
  j->recorded = code == CLI_DONE;
  if (j->global.wanted && status == SALTUS_OK && code == CLI_DONE) {
    code = cli_global_error_run(&j->global, def, settings);
  }
  bool whole = j->recorded && status == SALTUS_OK && code == CLI_DONE;
  int certified = j->certify && whole
                      ? cli_certificate_make(j->path, &j->model.view, &j->certificate)
                      : CLI_DONE;
  if (j->machine) {
    run_summary_json(j);
  } else {
    run_summary_print(j);
  }
  int saved = save_events(j);
  if (status == SALTUS_OK || status == SALTUS_ERR_STOPPED) {
    int kept = cli_snapshot_write(j->snapshot, &j->model, j->run);
    saved = saved == CLI_DONE ? kept : saved;
  }
  code = code == CLI_DONE ? saved : code;
  if (j->certify) {
    int judged = conclude(j, whole, certified);
    code = code == CLI_DONE ? judged : code;
  }
  return status == SALTUS_OK ? code : CLI_FAILED;
}

/* Destination of the events. */
static int read_events(const run_job* j) {
  if (j->events == NULL) {
    return CLI_DONE;
  }
  if (j->machine && strcmp(j->events, "-") == 0) {
    cli_error("run: --json and --events - both write to the standard output; name a file");
    return CLI_USAGE;
  }
  size_t stem = j->path != NULL && strlen(j->path) > 4 ? strlen(j->path) - 4 : 0;
  bool beside =
      stem > 0 && strncmp(j->path, j->events, stem) == 0 &&
      (strcmp(j->events + stem, ".csv") == 0 || strcmp(j->events + stem, ".events.csv") == 0);
  if (beside && strcmp(j->path + stem, ".csv") == 0) {
    cli_error("run: -o %s writes %s itself; give --events another name", j->path, j->events);
    return CLI_USAGE;
  }
  return cli_events_path_check(j->events);
}

/* A certificate requires a recording of every step. */
static int check_certify(const cli_args* args, const run_job* j) {
  if (!j->certify) {
    return CLI_DONE;
  }
  const char* beside = cli_has(args, "--every")       ? "--every"
                       : cli_has(args, "--output-dt") ? "--output-dt"
                                                      : NULL;
  if (j->path == NULL || beside != NULL) {
    cli_error("run: --certify %s%s",
              j->path == NULL ? "needs a recording: -o FILE" : "cannot go with ",
              j->path == NULL ? "" : beside);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

/* From the model to the end of the run. */
static int go(const cli_args* args, run_job* j) {
  saltus_run_def def;
  cli_progress progress;
  int code = cli_run_def(args, &j->model, &j->overrides, &def);
  if (code == CLI_DONE) {
    code = cli_resumption_apply(&j->resumption, &def);
  }
  if (code == CLI_DONE) {
    code = cli_reference_open(&j->model, NULL, &j->reference);
  }
  if (code != CLI_DONE) {
    return code;
  }
  if (j->reference.known) {
    def.exact = (saltus_run_exact){j->reference.reference.at, j->reference.reference.self};
  }
  def.record_jumps = j->path != NULL;
  def.record_every = j->certify ? 1 : def.record_every;
  def.record_middles = j->certify;
  def.progress = cli_progress_make(&progress);
  def.cancel = cli_signals_hold();
  code = cli_exit_code(saltus_run_create(&def, &j->run));
  if (code == CLI_DONE && j->global.wanted) {
    code = cli_global_error_check(args, saltus_run_get_settings(j->run));
  }
  const bool varied = cli_has(args, "--sensitivity");
  if (code == CLI_DONE && varied &&
      (j->machine || !saltus_run_get_settings(j->run)->scheme->chooses_step)) {
    cli_error(
        "run: --sensitivity needs a run to a tolerance and prints text: give --tol, not --json");
    code = CLI_USAGE;
  }
  if (code == CLI_DONE && varied) { /* before the run */
    code = cli_exit_code(saltus_sensitivity_check(j->model.view.system, cli_log()));
  }
  code = code == CLI_DONE ? simulate(j, &def) : code;
  if (code == CLI_DONE && varied) {
    const saltus_run_settings* s = saltus_run_get_settings(j->run);
    code = cli_sensitivity(args, &j->model, s->until, fmin(s->rtol, s->atol));
  }
  cli_signals_release();
  return cli_signals_caught() != 0 ? CLI_SIGNAL + cli_signals_caught() : code;
}

static int run(const cli_args* args, bool resumes) {
  run_job j = {.path = cli_value(args, "-o"),
               .events = cli_value(args, "--events"),
               .snapshot = cli_value(args, "--snapshot"),
               .global = {.wanted = cli_has(args, "--global-error")},
               .force = cli_has(args, "--force"),
               .certify = !resumes && cli_has(args, "--certify"),
               .costs = {.wanted = cli_has(args, "--costs")},
               .design = {.wanted = !resumes && cli_has(args, "--design")},
               .machine = cli_has(args, "--json"),
               .verbose = cli_has(args, "--verbose")};
  int code = check_certify(args, &j);
  code = code == CLI_DONE ? read_events(&j) : code;
  if (code == CLI_DONE) {
    code = cli_snapshot_check(j.snapshot);
  }
  if (code == CLI_DONE) {
    code = resumes ? cli_resumption_open(args, &j.model, &j.resumption)
                   : cli_model_open(args, args->positional[0], &j.model);
  }
  j.model.view.global = j.model.view.global && !resumes; /* steps keep their tolerance */
  code = code == CLI_DONE ? go(args, &j) : code;
  saltus_run_destroy(j.run);
  saltus_recording_destroy(j.recording);
  cli_certificate_free(&j.certificate);
  free(j.list.events);
  cli_costs_free(&j.costs);
  cli_global_error_free(&j.global);
  free(j.bodies);
  cli_design_free(&j.design);
  cli_reference_close(&j.reference);
  cli_overrides_free(&j.overrides);
  cli_model_close(&j.model);
  cli_resumption_close(&j.resumption);
  return code;
}

int cli_run(const cli_args* args) {
  return run(args, false);
}

int cli_resume(const cli_args* args) {
  return run(args, true);
}
