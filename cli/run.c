/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - saltus run: simulate, record, and say in plain words what happened.
 */
#include "events.h"
#include "explain.h"
#include "global_error.h"
#include "json.h"
#include "model.h"
#include "observe.h"
#include "progress.h"
#include "resume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Events of a kind that the summary shows one by one. */
enum { SHOWN_EVENTS = 4 };
typedef struct kind_story {
  saltus_event first[SHOWN_EVENTS];
  saltus_event last, worst; /* worst: by the energy it brought; these need one event */
} kind_story;

/* What the summary is made of, gathered while the run goes on. */
typedef struct story {
  const saltusi_reference* exact; /* NULL: not known */
  double *q, *v;                  /* exact state, [nq] and [nv] */
  double error, error_mean;       /* of the position: largest, and its integral over time */
  double last_t;
  long long compared, frames;
  long long events[SALTUS_EVENT_KINDS];
  double impact_loss; /* J */
  kind_story kinds[SALTUS_EVENT_KINDS];
  bool lists;         /* somebody wants every event */
  saltus_event* list; /* malloc'd */
  long long listed, room;
  double penetration, residual_velocity, residual_impulse;
  double drift, projection; /* of joints, and of positions back onto constraints */
  double estimate;          /* largest error estimate, in tolerances */
  long long rejections;
  double energy_start, energy_end;
  cli_observed observed;
  saltus_energy ledger; /* of the last frame */
  int nq;
} story;

static void compare(story* s, const saltus_frame* frame) {
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
  story* s = user;
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
static saltus_status list_event(story* s, const saltus_event* event) {
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
  story* s = user;
  kind_story* kind = &s->kinds[event->kind];
  long long number = s->events[event->kind]++;
  s->impact_loss -= event->energy_change;
  if (number < SHOWN_EVENTS) {
    kind->first[number] = *event;
  }
  if (number == 0 || event->energy_change > kind->worst.energy_change) {
    kind->worst = *event;
  }
  kind->last = *event;
  return s->lists ? list_event(s, event) : SALTUS_OK;
}

/* The last event of a kind; NULL: there is none. */
static const saltus_event* last_of(const story* s, saltus_event_kind kind) {
  return s->events[kind] > 0 ? &s->kinds[kind].last : NULL;
}

/* A run with everything it needs. */
typedef struct job {
  cli_model model;
  cli_settings settings;
  cli_reference reference;
  story story;
  saltus_recording* recording;
  const char* path;   /* of the recording; NULL: none */
  const char* events; /* where the events go; NULL: nowhere */
  saltus_sim* sim;
  long long steps;
  double h, cpu;
  cli_global_error global;
  cli_resumption resumption;
  const char* snapshot; /* where the state at the end goes; NULL: nowhere */
  bool force;           /* --force */
  bool recorded;        /* the recording holds the whole run */
  bool machine;         /* --json */
  bool wished;          /* the command line says which states to record */
} job;

/* Steps differ in length. */
static bool varies(const job* j) {
  return j->settings.control != NULL || j->settings.scheme->chooses_step;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_state(const job* j) {
  enum { SHOWN = 8 };
  const saltus_system* sys = j->model.system;
  const double* q = saltus_sim_q(j->sim);
  const double* v = saltus_sim_v(j->sim);
  char a[32];
  char b[32];
  for (int i = 0; i < sys->dims.nq && i < SHOWN; i++) {
    const char* unit = sys->q_labels != NULL ? sys->q_labels[i].unit : "";
    printf("  %s = %.10g%s%s", cli_q_name(sys, i, a, sizeof a), q[i], unit[0] != '\0' ? " " : "",
           unit);
    if (i < sys->dims.nv) {
      printf(", %s = %.10g", cli_v_name(sys, i, b, sizeof b), v[i]);
    }
    printf("\n");
  }
  if (sys->dims.nq > SHOWN) {
    printf("  ... and %d more coordinate%s\n", sys->dims.nq - SHOWN,
           cli_plural(sys->dims.nq - SHOWN));
  }
}

static void print_error(const job* j) {
  const story* s = &j->story;
  if (s->compared == 0) {
    return;
  }
  printf("Against the exact solution, at %lld instant%s: largest position error %.3e, mean "
         "%.3e.\n",
         s->compared, cli_plural(s->compared), s->error,
         s->error_mean / (saltus_sim_time(j->sim) - j->settings.start));
}

/* A line for each event of a kind, the first few; begin has the place of the contact's name. */
static void print_each(const job* j, saltus_event_kind kind, const char* begin, const char* end) {
  const story* s = &j->story;
  long long count = s->events[kind];
  char text[32];
  for (int i = 0; i < SHOWN_EVENTS && i < count; i++) {
    const saltus_event* event = &s->kinds[kind].first[i];
    const char* place = strstr(begin, "%s");
    printf("%.*s%s%s%.12g s", (int)(place - begin), begin,
           cli_contact_name(j->model.system, event->contact, text, sizeof text), place + 2,
           event->t);
    if (event->t_accuracy > 0.0) {
      printf(" (uncertain by %.0e s)", event->t_accuracy);
    }
    printf("%s\n", end);
  }
  if (count > SHOWN_EVENTS) {
    printf("... and %lld more like this.\n", count - SHOWN_EVENTS);
  }
}

/* The remark of a kind with the most energy; NULL: there is none. */
static const saltus_event* worst_of(const story* s, saltus_event_kind kind) {
  return s->events[kind] > 0 ? &s->kinds[kind].worst : NULL;
}

/* A warning for the remarks of a kind, with the worst of them. */
static void print_remarks(const job* j, saltus_event_kind kind, const char* what) {
  const saltus_event* worst = worst_of(&j->story, kind);
  if (worst == NULL) {
    return;
  }
  long long count = j->story.events[kind];
  char text[32];
  printf("Warning: %s at %lld impact%s; the worst at contact %s, t = %.10g s, %.6g J.\n", what,
         count, count == 1 ? "" : "s",
         cli_contact_name(j->model.system, worst->contact, text, sizeof text), worst->t,
         worst->energy_change);
}

static void json_remarks(json* out, const job* j, const char* key, saltus_event_kind kind) {
  const saltus_event* worst = worst_of(&j->story, kind);
  char text[32];
  json_open(out, key, '{');
  json_integer(out, "count", j->story.events[kind]);
  json_number(out, "worst", worst != NULL ? worst->energy_change : 0.0);
  json_number(out, "t", worst != NULL ? worst->t : NAN);
  json_text(out, "contact",
            worst != NULL ? cli_contact_name(j->model.system, worst->contact, text, sizeof text)
                          : "");
  json_close(out, '}');
}

static void print_events(const job* j) {
  const story* s = &j->story;
  const long long* n = s->events;
  long long impacts = n[SALTUS_EVENT_IMPACT];
  long long closes = n[SALTUS_EVENT_CLOSE];
  long long opens = n[SALTUS_EVENT_OPEN];
  printf("%lld impact%s", impacts, cli_plural(impacts));
  if (impacts > 0) {
    printf(" that took %.6g J", s->impact_loss);
  }
  printf("; lasting contact began %lld time%s and ended %lld time%s.\n", closes, cli_plural(closes),
         opens, cli_plural(opens));
  bool any = false;
  for (int kind = SALTUS_EVENT_TOUCH; kind < SALTUS_EVENT_PAINLEVE; kind++) {
    if (n[kind] > 0) {
      printf("%s %s %lld time%s",
             any ? "," : "Friction and touching:", saltus_event_kind_name((saltus_event_kind)kind),
             n[kind], cli_plural(n[kind]));
      any = true;
    }
  }
  printf("%s", any ? ".\n" : "");
  print_each(j, SALTUS_EVENT_ACCUMULATION,
             "Accumulation of impacts of contact %s, ends at t_inf = ", ".");
  print_each(j, SALTUS_EVENT_PAINLEVE,
             "Warning: no or several forces of contact %s obey Coulomb's "
             "law (Painleve) at t = ",
             ": the motion goes on after an impact without collision.");
  print_remarks(j, SALTUS_EVENT_ENERGY_GAIN, "the impact law created energy");
  print_remarks(j, SALTUS_EVENT_LAW_REPLACED, "another law than the contact's own decided");
}

/* Where the energy went; what is rounding beside the energies of the run is printed as 0. */
static void print_ledger(const job* j) {
  saltus_energy e = j->story.ledger;
  if (!isfinite(e.remainder)) {
    return;
  }
  double size = fabs(j->story.energy_start) + fabs(j->story.energy_end) + fabs(e.given) +
                fabs(e.drive) + fabs(e.friction) + fabs(e.impact);
  double floor = 1e-11 * (isfinite(size) ? size : fabs(e.change));
  double terms[] = {e.change, e.given, e.drive, e.friction, e.impact, e.remainder};
  for (int i = 0; i < 6; i++) {
    terms[i] = fabs(terms[i]) <= floor ? 0.0 : terms[i];
  }
  printf("Energy ledger: change %.6g J = given forces %.6g J + drives %.6g J + friction %.6g J + "
         "impacts %.6g J + numerical remainder %.2g J.\n",
         terms[0], terms[1], terms[2], terms[3], terms[4], terms[5]);
  double t;
  long long creations = saltus_sim_energy_creations(j->sim, &t);
  if (creations > 0) {
    printf("Warning: %lld impact%s created energy, %.6g J together, the first at t = %.10g s.\n",
           creations, cli_plural(creations), e.created, t);
  }
}

static void json_ledger(json* out, const job* j) {
  saltus_energy e = j->story.ledger;
  double t;
  long long creations = saltus_sim_energy_creations(j->sim, &t);
  json_open(out, "ledger", '{');
  json_number(out, "change", e.change);
  json_number(out, "given", e.given);
  json_number(out, "drive", e.drive);
  json_number(out, "friction", e.friction);
  json_number(out, "impact", e.impact);
  json_number(out, "remainder", e.remainder);
  json_number(out, "created", e.created);
  json_integer(out, "impacts_that_created", creations);
  json_number(out, "first_created", creations > 0 ? t : NAN);
  json_close(out, '}');
}

/* How far joints are off, and what projections do about it. */
static void print_constraints(const job* j) {
  const story* s = &j->story;
  bool jointed = j->model.system->dims.nj > 0;
  if (jointed) {
    printf("Joints drift by up to %.3e%s", s->drift, s->projection > 0.0 ? "; " : ".\n");
  }
  if (s->projection > 0.0) {
    printf("%srojections move positions by up to %.3e in a step.\n", jointed ? "p" : "P",
           s->projection);
  }
}

/* What the file holds, which after a failed write is less than the run. */
static void print_recording(const job* j) {
  if (j->path == NULL) {
    return;
  }
  double t;
  if (saltus_recording_kept(j->recording, &t) == 0) {
    printf("Recording: none; %s holds no state.\n", j->path);
  } else if (!j->recorded) {
    printf("Recording: %s, only up to t = %.9g s (saltus plot %s draws it)\n", j->path, t, j->path);
  } else {
    printf("Recording: %s (saltus plot %s draws it)\n", j->path, j->path);
  }
}

static void print_summary(const job* j, saltus_status status) {
  const saltus_system* sys = j->model.system;
  const story* s = &j->story;
  saltus_work work = saltus_sim_work(j->sim);
  printf("%s: %d coordinate%s, %d contact%s, %d joint%s, scheme %s (%s)\n", j->model.name,
         sys->dims.nq, cli_plural(sys->dims.nq), sys->dims.nc, cli_plural(sys->dims.nc),
         sys->dims.nj, cli_plural(sys->dims.nj), j->settings.scheme->name,
         j->settings.options_text);
  long long steps = saltus_sim_steps_done(j->sim);
  double span = saltus_sim_time(j->sim) - j->settings.start;
  printf("Simulated from %g s to %g s in %lld step%s of %s%.6g s, in %.3g s of computing time",
         j->settings.start, saltus_sim_time(j->sim), steps, cli_plural(steps),
         varies(j) ? "on average " : "", steps > 0 ? span / (double)steps : j->h, j->cpu);
  if (status == SALTUS_ERR_STOPPED) {
    printf(", then stopped");
  }
  printf(".\n");
  cli_resumption_print(&j->resumption, &j->settings);
  if (j->settings.control != NULL) {
    printf("Step control %s (%s): %lld attempt%s rejected, largest accepted error estimate "
           "%.2g tolerances.\n",
           j->settings.control, j->settings.control_text, s->rejections, cli_plural(s->rejections),
           s->estimate);
  }
  if (isfinite(j->settings.rtol)) {
    cli_explain(&j->model, &j->settings, saltus_sim_tally(j->sim));
  }
  print_events(j);
  cli_observed_print(&s->observed);
  printf("Work: %lld force evaluation%s, %lld contact problem%s", work.force_evaluations,
         cli_plural(work.force_evaluations), work.contact_solves, cli_plural(work.contact_solves));
  if (work.newton_iterations > 0 || !j->settings.scheme->chooses_step) {
    printf(", %.2f Newton iterations a step",
           (double)work.newton_iterations / (double)(work.steps > 0 ? work.steps : 1));
  }
  printf(".\n");
  printf("State at the end:\n");
  print_state(j);
  if (isfinite(s->energy_start)) {
    printf("Energy: %.6g J at the start, %.6g J at the end.\n", s->energy_start, s->energy_end);
  }
  print_ledger(j);
  printf("Largest penetration %.3e; the contact law holds to %.1e m/s and %.1e N s.\n",
         s->penetration, s->residual_velocity, s->residual_impulse);
  print_constraints(j);
  print_error(j);
  cli_global_error_print(&j->global, &j->model, &j->settings);
  print_recording(j);
}

static void print_json(const job* j, saltus_status status) {
  const saltus_system* sys = j->model.system;
  const story* s = &j->story;
  saltus_work work = saltus_sim_work(j->sim);
  char text[32];
  json out = {.file = stdout};
  json_open(&out, NULL, '{');
  json_text(&out, "model", j->model.target);
  json_text(&out, "name", j->model.name);
  json_text(&out, "resumed_from", j->resumption.path != NULL ? j->resumption.path : "");
  json_text(&out, "status", status == SALTUS_OK ? "complete" : saltus_status_text(status));
  json_text(&out, "scheme", j->settings.scheme->name);
  json_text(&out, "options", j->settings.options_text);
  json_text(&out, "control", j->settings.control != NULL ? j->settings.control : "");
  json_integer(&out, "steps", saltus_sim_steps_done(j->sim));
  json_integer(&out, "rejections", s->rejections);
  json_number(&out, "h", j->h);
  if (isfinite(j->settings.rtol)) {
    cli_explain_json(&out, &j->model, &j->settings, saltus_sim_tally(j->sim));
  }
  json_number(&out, "t", saltus_sim_time(j->sim));
  json_open(&out, "q", '{');
  for (int i = 0; i < sys->dims.nq; i++) {
    json_number(&out, cli_q_name(sys, i, text, sizeof text), saltus_sim_q(j->sim)[i]);
  }
  json_close(&out, '}');
  json_open(&out, "v", '{');
  for (int i = 0; i < sys->dims.nv; i++) {
    json_number(&out, cli_v_name(sys, i, text, sizeof text), saltus_sim_v(j->sim)[i]);
  }
  json_close(&out, '}');
  json_integer(&out, "contacts", sys->dims.nc);
  json_integer(&out, "joints", sys->dims.nj);
  json_integer(&out, "impacts", s->events[SALTUS_EVENT_IMPACT]);
  json_integer(&out, "closes", s->events[SALTUS_EVENT_CLOSE]);
  json_integer(&out, "opens", s->events[SALTUS_EVENT_OPEN]);
  json_integer(&out, "accumulations", s->events[SALTUS_EVENT_ACCUMULATION]);
  const saltus_event* accumulated = last_of(s, SALTUS_EVENT_ACCUMULATION);
  json_number(&out, "last_accumulation", accumulated != NULL ? accumulated->t : NAN);
  json_open(&out, "events", '{');
  for (int kind = 0; kind < SALTUS_EVENT_KINDS; kind++) {
    json_integer(&out, saltus_event_kind_name((saltus_event_kind)kind), s->events[kind]);
  }
  json_close(&out, '}');
  cli_observed_json(&out, &s->observed);
  json_number(&out, "impact_energy_lost", s->impact_loss);
  json_remarks(&out, j, "energy_gains", SALTUS_EVENT_ENERGY_GAIN);
  json_remarks(&out, j, "laws_replaced", SALTUS_EVENT_LAW_REPLACED);
  json_open(&out, "energy", '{');
  json_number(&out, "start", s->energy_start);
  json_number(&out, "end", s->energy_end);
  json_close(&out, '}');
  json_ledger(&out, j);
  json_number(&out, "penetration", s->penetration);
  json_number(&out, "joint_drift", s->drift);
  json_number(&out, "projection", s->projection);
  json_open(&out, "residual", '{');
  json_number(&out, "velocity", s->residual_velocity);
  json_number(&out, "impulse", s->residual_impulse);
  json_close(&out, '}');
  json_open(&out, "error", '{');
  json_number(&out, "inf", s->compared > 0 ? s->error : NAN);
  json_number(&out, "L1", s->compared > 0 ? s->error_mean : NAN);
  json_close(&out, '}');
  cli_global_error_json(&out, &j->global, &j->model, &j->settings);
  json_open(&out, "work", '{');
  json_integer(&out, "steps", work.steps);
  json_integer(&out, "force_evaluations", work.force_evaluations);
  json_integer(&out, "contact_solves", work.contact_solves);
  json_integer(&out, "contact_iterations", work.contact_iterations);
  json_number(&out, "cpu_s", j->cpu);
  json_close(&out, '}');
  bool kept = j->path != NULL && saltus_recording_kept(j->recording, NULL) > 0;
  json_text(&out, "recording", kept ? j->path : "");
  json_close(&out, '}');
}

/* States that will be recorded, if that is known before the run; else 0. */
static double expected_frames(const job* j) {
  if (j->model.record_dt > 0.0) {
    return (j->settings.until - j->settings.start) / j->model.record_dt + 1.0;
  }
  return varies(j) ? 0.0 : (double)j->steps / (double)j->model.record_every + 1.0;
}

static void warn_of_size(const job* j) {
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

static int open_recording(job* j) {
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

static int close_recording(job* j, saltus_status status) {
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

static saltus_sim_def define(const job* j) {
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
static int rehearse(const job* j) {
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
static int save_events(const job* j) {
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
  const cli_events list = {.events = j->story.list,
                           .count = j->story.listed,
                           .contact_names = names,
                           .nc = sys->dims.nc,
                           .own_names = own != NULL ? own->event_names : NULL,
                           .own_count = own != NULL ? own->event_count : 0};
  int code = cli_events_save(j->events, &list);
  free(names);
  return code;
}

static int simulate(job* j) {
  saltus_recorder recorders[3] = {{.frame = on_frame, .event = on_event, .user = &j->story}};
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
  status = varies(j) ? saltus_sim_run_until(j->sim, j->settings.until)
                     : saltus_sim_run(j->sim, j->steps);
  j->cpu = cpu_seconds() - start;
  cli_progress_end(&progress);
  int code = close_recording(j, status);
  j->recorded = code == CLI_DONE;
  if (j->global.wanted && status == SALTUS_OK && code == CLI_DONE) {
    code = cli_global_error_run(&j->global, &def, &j->settings);
  }
  if (j->machine) {
    print_json(j, status);
  } else {
    print_summary(j, status);
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

static int prepare_story(job* j) {
  int code = cli_reference_open(&j->model, NULL, &j->reference);
  if (code != CLI_DONE) {
    return code;
  }
  code = cli_observed_open(j->model.observables, &j->story.observed);
  if (code != CLI_DONE) {
    return code;
  }
  size_t nq = (size_t)j->model.system->dims.nq;
  size_t nv = (size_t)j->model.system->dims.nv;
  j->story.nq = j->model.system->dims.nq;
  j->story.exact = j->reference.known ? &j->reference.reference : NULL;
  j->story.q = calloc(nq, sizeof(double));
  j->story.v = calloc(nv, sizeof(double));
  if (j->story.q == NULL || j->story.v == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  return CLI_DONE;
}

/* Where the events go. */
static int read_events(const job* j) {
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

/* Long steps are not what one wants to see: without a wish, states at equal times. */
static void choose_output(job* j) {
  enum { STATES = 500 };
  const saltus_scheme_info* scheme = j->settings.scheme;
  bool wished = j->wished || j->model.record_dt > 0.0 || (j->settings.own && j->model.record_given);
  if (!wished && scheme->chooses_step && scheme->dense) {
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
static int go(const cli_args* args, job* j) {
  int code = j->global.wanted ? cli_global_error_check(args, &j->settings) : CLI_DONE;
  if (code == CLI_DONE) {
    choose_output(j);
    code = prepare_story(j);
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
    code = rehearse(j);
  }
  if (code == CLI_DONE) {
    code = open_recording(j);
  }
  return code == CLI_DONE ? simulate(j) : code;
}

static void free_job(job* j) {
  saltus_sim_destroy(j->sim);
  saltus_recording_destroy(j->recording);
  free(j->story.q);
  free(j->story.v);
  free(j->story.list);
  cli_observed_close(&j->story.observed);
  cli_global_error_free(&j->global);
  cli_reference_close(&j->reference);
  cli_settings_free(&j->settings);
  cli_model_close(&j->model);
  cli_resumption_close(&j->resumption);
}

static job start_job(const cli_args* args) {
  return (job){.path = cli_value(args, "-o"),
               .events = cli_value(args, "--events"),
               .snapshot = cli_value(args, "--snapshot"),
               .global = {.wanted = cli_has(args, "--global-error")},
               .force = cli_has(args, "--force"),
               .story = {.lists = cli_value(args, "--events") != NULL},
               .machine = cli_has(args, "--json"),
               .wished = cli_has(args, "--every") || cli_has(args, "--output-dt")};
}

int cli_run(const cli_args* args) {
  job j = start_job(args);
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
  job j = start_job(args);
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
