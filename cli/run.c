/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - saltus run: simulate, record, and say in plain words what happened.
 */
#include "run.h"

#include "events.h"
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void compare(run_summary* s, const saltus_frame* frame) {
  if (s->exact == NULL || !s->exact->at(s->exact->self, frame->t, s->q, s->v)) {
    return;
  }
  double worst = 0.0;
  for (int i = 0; i < s->nq; i++) {
    worst = fmax(worst, fabs(frame->q[i] - s->q[i]));
  }
  s->error = fmax(s->error, worst);
  s->error_mean += worst * (frame->t - s->last_t);
  s->last_t = frame->t;
  s->compared++;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  run_summary* s = user;
  double energy = frame->kinetic + frame->potential;
  if (s->frames++ == 0) {
    s->energy_start = energy;
    s->last_t = frame->t;
  }
  s->energy_end = energy;
  s->ledger = frame->energy;
  s->penetration = fmax(s->penetration, frame->penetration);
  s->drift = fmax(s->drift, frame->joint_drift);
  s->projection = fmax(s->projection, frame->projection);
  s->residual_velocity = fmax(s->residual_velocity, frame->residual_velocity);
  s->residual_impulse = fmax(s->residual_impulse, frame->residual_impulse);
  s->estimate = fmax(s->estimate, frame->error);
  s->rejections += frame->rejections;
  cli_observed_frame(&s->observed, frame);
  compare(s, frame);
  return SALTUS_OK;
}

/* The one events list that grows with the run, for --events only. */
static saltus_status list_event(run_summary* s, const saltus_event* event) {
  if (s->listed == s->room) {
    s->room = s->room > 0 ? 2 * s->room : 256;
    saltus_event* list = realloc(s->list, (size_t)s->room * sizeof *list);
    if (list == NULL) {
      cli_error("no memory for %lld events", s->room);
      return SALTUS_ERR_MEMORY;
    }
    s->list = list;
  }
  s->list[s->listed++] = *event;
  return SALTUS_OK;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  run_summary* s = user;
  run_kind* kind = &s->kinds[event->kind];
  long long number = s->events[event->kind]++;
  s->impact_loss -= saltus_event_is_remark(event->kind) ? 0.0 : event->energy_change;
  cli_observed_event(&s->observed, event);
  if (number < SHOWN_EVENTS) {
    kind->first[number] = *event;
  }
  if (number == 0 || event->energy_change > kind->worst.energy_change) {
    kind->worst = *event;
  }
  kind->last = *event;
  return s->lists ? list_event(s, event) : SALTUS_OK;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* States that will be recorded, if that is known before the run; else 0. */
static double expected_frames(const run_job* j) {
  if (j->model.record_dt > 0.0) {
    return (j->settings.until - j->settings.start) / j->model.record_dt + 1.0;
  }
  return run_varies(j) ? 0.0 : (double)j->steps / (double)j->model.record_every + 1.0;
}

static void warn_of_size(const run_job* j) {
  static const double much = 1e9; /* bytes */
  double frames = expected_frames(j);
  double bytes = frames * saltus_recording_frame_bytes(j->recording);
  if (bytes > much) {
    cli_error("warning: %s will have %.3g states and take about %.3g GB%s; --every N or "
              "--output-dt DT records fewer",
              j->path, frames, 1e-9 * bytes,
              saltus_recording_doubles(j->recording) ? ", twice that while the run goes on" : "");
  }
}

static int open_recording(run_job* j) {
  if (j->path == NULL) {
    return CLI_DONE;
  }
  saltus_recording_def def = saltus_recording_def_default();
  def.path = j->path;
  def.system = j->model.system;
  def.joint_names = j->model.joint_names;
  def.observables = j->model.observables;
  def.name = j->model.name;
  def.scheme = j->settings.scheme->name;
  def.options = j->settings.options_text;
  def.scene = j->model.text;
  def.force = j->force;
  def.log = cli_log();
  /* a path that cannot be written is a fault of the command line */
  if (saltus_recording_create(&def, &j->recording) != SALTUS_OK) {
    return CLI_USAGE;
  }
  warn_of_size(j);
  return CLI_DONE;
}

static int close_recording(run_job* j, saltus_status status) {
  if (j->recording == NULL) {
    return CLI_DONE;
  }
  char failure[256];
  snprintf(failure, sizeof failure, "%s at t = %.17g s", saltus_status_text(status),
           saltus_sim_time(j->sim));
  /* no computing time in the file: the same run gives the same bytes */
  const saltus_recording_summary summary = {.failure = status == SALTUS_OK ? NULL : failure,
                                            .steps = saltus_sim_steps_done(j->sim),
                                            .cpu_seconds = NAN};
  return saltus_recording_close(j->recording, &summary) == SALTUS_OK ? CLI_DONE : CLI_FAILED;
}

static saltus_sim_def define(const run_job* j) {
  const saltus_scheme_info* scheme = j->settings.scheme;
  bool recorded = j->path != NULL;
  return (saltus_sim_def){
      .system = j->model.system,
      .scheme = scheme->name,
      .options = j->settings.options,
      .atol_q = j->model.atol_q,
      .atol_v = j->model.atol_v,
      .t0 = j->settings.start,
      .h = j->h,
      .q0 = j->model.q0,
      .v0 = j->model.v0,
      .control = j->settings.control,
      .control_options = &j->settings.control_options,
      .record_every = j->model.record_every,
      .record_dt = j->model.record_dt,
      .record_jumps = recorded && scheme->chooses_step && scheme->dense,
      .observables = j->model.observables,
      .log = cli_log(),
  };
}

/* The whole definition is tried before a recording is opened: a refused run leaves no file and does
 * not replace an older one. */
static int dry_run(const run_job* j) {
  const saltus_sim_def def = define(j);
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_OK) {
    status = saltus_sim_check_end(sim, j->settings.until);
  }
  saltus_sim_destroy(sim);
  return cli_exit_code(status);
}

/* --events */
static int save_events(const run_job* j) {
  if (j->events == NULL) {
    return CLI_DONE;
  }
  const saltus_system* sys = j->model.system;
  const char** names = calloc((size_t)sys->dims.nc + 1, sizeof *names);
  if (names == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  for (int i = 0; i < sys->dims.nc && sys->law_count == sys->dims.nc; i++) {
    names[i] = sys->laws[i].name;
  }
  const saltus_observables* own = j->model.observables;
  const cli_events list = {.events = j->summary.list,
                           .count = j->summary.listed,
                           .contact_names = names,
                           .nc = sys->dims.nc,
                           .own_names = own != NULL ? own->event_names : NULL,
                           .own_count = own != NULL ? own->event_count : 0};
  int code = cli_events_save(j->events, &list);
  free(names);
  return code;
}

static int simulate(run_job* j) {
  saltus_recorder recorders[3] = {{.frame = on_frame, .event = on_event, .user = &j->summary}};
  int recorder_count = 1;
  if (j->recording != NULL) {
    recorders[recorder_count++] = saltus_recording_recorder(j->recording);
  }
  if (j->global.wanted) {
    recorders[recorder_count++] = cli_global_error_recorder(&j->global, j->model.system);
  }
  cli_progress progress;
  saltus_sim_def def = define(j);
  def.recorders = recorders;
  def.recorder_count = recorder_count;
  def.progress = cli_progress_start(&progress, j->settings.start);
  def.cancel = cli_signals_hold();
  saltus_status status = saltus_sim_create(&def, &j->sim);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  if (j->resumption.bytes != NULL) {
    status = saltus_sim_snapshot_load(j->sim, j->resumption.bytes, j->resumption.size);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
  }
  double start = cpu_seconds();
  status = run_varies(j) ? saltus_sim_run_until(j->sim, j->settings.until)
                         : saltus_sim_run(j->sim, j->steps);
  j->cpu = cpu_seconds() - start;
  cli_progress_end(&progress);
  int code = close_recording(j, status);
  j->recorded = code == CLI_DONE;
  if (j->global.wanted && status == SALTUS_OK && code == CLI_DONE) {
    code = cli_global_error_run(&j->global, &def, &j->settings);
  }
  if (j->machine) {
    run_summary_json(j, status);
  } else {
    run_summary_print(j, status);
  }
  int saved = save_events(j);
  if (status == SALTUS_OK || status == SALTUS_ERR_STOPPED) {
    int kept = cli_snapshot_write(j->snapshot, &j->model, &j->settings, j->h, j->sim);
    saved = saved == CLI_DONE ? kept : saved;
  }
  cli_signals_release();
  code = code == CLI_DONE ? saved : code;
  if (cli_signals_caught() != 0) {
    return CLI_SIGNAL + cli_signals_caught();
  }
  return status == SALTUS_OK ? code : CLI_FAILED;
}

static int prepare_summary(run_job* j) {
  int code = cli_reference_open(&j->model, NULL, &j->reference);
  if (code != CLI_DONE) {
    return code;
  }
  code = cli_observed_open(j->model.observables, &j->summary.observed);
  if (code != CLI_DONE) {
    return code;
  }
  size_t nq = (size_t)j->model.system->dims.nq;
  size_t nv = (size_t)j->model.system->dims.nv;
  j->summary.nq = j->model.system->dims.nq;
  j->summary.exact = j->reference.known ? &j->reference.reference : NULL;
  j->summary.q = calloc(nq, sizeof(double));
  j->summary.v = calloc(nv, sizeof(double));
  if (j->summary.q == NULL || j->summary.v == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  return CLI_DONE;
}

/* Where the events go. */
static int read_events(const run_job* j) {
  if (j->events == NULL) {
    return CLI_DONE;
  }
  if (j->machine && strcmp(j->events, "-") == 0) {
    cli_error("run: --json and --events - would write into each other; name a file");
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

/* Long steps are not what one wants to see: without a request, states at equal times. */
static void choose_output(run_job* j) {
  enum { STATES = 500 };
  const saltus_scheme_info* scheme = j->settings.scheme;
  bool requested =
      j->requested || j->model.record_dt > 0.0 || (j->settings.own && j->model.record_given);
  if (!requested && scheme->chooses_step && scheme->dense) {
    j->model.record_every = 1;
    double from = j->resumption.path != NULL ? j->resumption.t : j->settings.start;
    j->model.record_dt = (j->settings.until - from) / STATES;
  }
}

/* Which states are recorded: the command line over the scene. */
static int read_every(const cli_args* args, cli_model* model) {
  int dt_code = cli_number(args, "--output-dt", 1e-300, 1e300, &model->record_dt);
  if (dt_code != CLI_DONE) {
    return dt_code;
  }
  if (cli_has(args, "--every")) {
    if (cli_has(args, "--output-dt")) {
      cli_error("run: --every and --output-dt exclude each other");
      return CLI_USAGE;
    }
    model->record_dt = 0.0;
  }
  double every = (double)model->record_every;
  int code = cli_number(args, "--every", 1, 1e15, &every);
  if (code == CLI_DONE && every != floor(every)) {
    cli_error("run: --every is %g, must be a whole number", every);
    return CLI_USAGE;
  }
  model->record_every = (long long)every;
  return code;
}

/* From settings to the end of the run. */
static int go(const cli_args* args, run_job* j) {
  int code = j->global.wanted ? cli_global_error_check(args, &j->settings) : CLI_DONE;
  if (code == CLI_DONE) {
    choose_output(j);
    code = prepare_summary(j);
  }
  if (code == CLI_DONE) {
    if (j->settings.scheme->chooses_step) {
      j->h = isnan(j->settings.step) ? 0.0 : j->settings.step;
    } else if (j->settings.control == NULL) {
      j->steps =
          saltus_sim_step_count(j->settings.start, j->settings.until, j->settings.step, &j->h);
      if (j->resumption.bytes != NULL) {
        j->h = j->resumption.h; /* bit for bit that of the first part */
      }
    }
    code = dry_run(j);
  }
  if (code == CLI_DONE) {
    code = open_recording(j);
  }
  return code == CLI_DONE ? simulate(j) : code;
}

static void free_job(run_job* j) {
  saltus_sim_destroy(j->sim);
  saltus_recording_destroy(j->recording);
  free(j->summary.q);
  free(j->summary.v);
  free(j->summary.list);
  cli_observed_close(&j->summary.observed);
  cli_global_error_free(&j->global);
  cli_reference_close(&j->reference);
  cli_settings_free(&j->settings);
  cli_model_close(&j->model);
  cli_resumption_close(&j->resumption);
}

static run_job start_job(const cli_args* args) {
  return (run_job){.path = cli_value(args, "-o"),
                   .events = cli_value(args, "--events"),
                   .snapshot = cli_value(args, "--snapshot"),
                   .global = {.wanted = cli_has(args, "--global-error")},
                   .force = cli_has(args, "--force"),
                   .summary = {.lists = cli_value(args, "--events") != NULL},
                   .machine = cli_has(args, "--json"),
                   .requested = cli_has(args, "--every") || cli_has(args, "--output-dt")};
}

int cli_run(const cli_args* args) {
  run_job j = start_job(args);
  int code = read_events(&j);
  if (code == CLI_DONE) {
    code = cli_snapshot_check(j.snapshot);
  }
  if (code == CLI_DONE) {
    code = cli_model_open(args, args->positional[0], &j.model);
  }
  if (code == CLI_DONE) {
    code = read_every(args, &j.model);
  }
  if (code == CLI_DONE) {
    code = cli_settings_read(args, &j.model, true, &j.settings);
  }
  code = code == CLI_DONE ? go(args, &j) : code;
  free_job(&j);
  return code;
}

int cli_resume(const cli_args* args) {
  run_job j = start_job(args);
  int code = read_events(&j);
  if (code == CLI_DONE) {
    code = cli_snapshot_check(j.snapshot);
  }
  if (code == CLI_DONE) {
    code = cli_resumption_open(args, &j.model, &j.settings, &j.resumption);
  }
  if (code == CLI_DONE) {
    code = read_every(args, &j.model);
  }
  code = code == CLI_DONE ? go(args, &j) : code;
  free_job(&j);
  return code;
}
