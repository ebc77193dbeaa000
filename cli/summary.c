/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * summary.c - the summary of a run, as text and as JSON.
 */
#include "explain.h"
#include "observe.h"
#include "output.h"
#include "run.h"
#include "system/names.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of lists in the first screen; the summary has at most 25. */
enum { STATE_LINES = 4, VELOCITY_LINES = 3, ZENO_LINES = 1 };

static bool varies(const saltus_run_settings* s) {
  return s->control != NULL || s->scheme->chooses_step;
}

/* The last event of a kind; NULL: there is none. */
static const saltus_event* last_of(const saltus_run_result* s, saltus_event_kind kind) {
  return s->events[kind].count > 0 ? &s->events[kind].last : NULL;
}

/* The first coordinates; all of them with --verbose. */
static void print_state(const run_job* j) {
  const int shown = j->verbose ? INT_MAX : STATE_LINES;
  const saltus_system* sys = j->model.view.system;
  const double* q = saltus_run_outcome(j->run)->q;
  const double* v = saltus_run_outcome(j->run)->v;
  char a[32];
  char b[32];
  for (int i = 0; i < sys->dims.nq && i < shown; i++) {
    const char* unit = sys->q_labels != NULL ? sys->q_labels[i].unit : "";
    unit = strcmp(unit, "1") == 0 ? "" : unit; /* of quaternions */
    printf("  %s = %.10g%s%s", saltusi_q_name(sys, i, a, sizeof a), q[i],
           unit[0] != '\0' ? " " : "", unit);
    if (sys->dims.nq == sys->dims.nv) {
      printf(", %s = %.10g", saltusi_v_name(sys, i, b, sizeof b), v[i]);
    }
    printf("\n");
  }
  /* with nq != nv, coordinates have no individual velocity */
  const int velocities = j->verbose ? INT_MAX : VELOCITY_LINES;
  for (int i = 0; sys->dims.nq != sys->dims.nv && i < sys->dims.nv && i < velocities; i++) {
    printf("  %s = %.10g\n", saltusi_v_name(sys, i, b, sizeof b), v[i]);
  }
  if (sys->dims.nq > shown) {
    printf("  ... and %d more coordinate%s (--verbose)\n", sys->dims.nq - shown,
           cli_plural(sys->dims.nq - shown));
  }
}

static void print_error(const run_job* j) {
  const saltus_run_result* s = saltus_run_outcome(j->run);
  if (s->compared == 0) {
    return;
  }
  printf("Against the exact solution, at %lld instant%s: largest position error %.3e, mean "
         "%.3e.\n",
         s->compared, cli_plural(s->compared), s->error,
         s->error_mean / (s->t - saltus_run_get_settings(j->run)->start));
}

/* Estimate of the global error by repeated runs. */
static void print_accuracy(const run_job* j) {
  const saltus_run_accuracy* a = &saltus_run_outcome(j->run)->accuracy;
  if (!a->known) {
    return;
  }
  printf("Error of the motion, estimated by %d runs with smaller tolerances: at most %.2g of the "
         "requested tolerance (atol=%g rtol=%g), largest at t = %.6g s.\nSteps have %.2g of the "
         "tolerance; their errors are amplified %.2g times.\n",
         a->trials, a->error, a->atol, a->rtol, a->t, a->part, a->amplification);
}

static void json_accuracy(json* out, const run_job* j) {
  const saltus_run_accuracy* a = &saltus_run_outcome(j->run)->accuracy;
  if (a->trials == 0) {
    return;
  }
  json_open(out, "accuracy", '{');
  json_bool(out, "known", a->known);
  json_number(out, "atol", a->atol);
  json_number(out, "rtol", a->rtol);
  json_number(out, "error", a->error);
  json_number(out, "t", a->t);
  json_number(out, "part", a->part);
  json_number(out, "amplification", a->amplification);
  json_number(out, "predictable", a->predictable);
  json_open(out, "runs", '[');
  for (int i = 0; i < a->trials; i++) {
    json_open(out, NULL, '{');
    json_number(out, "part", a->parts[i]);
    json_number(out, "distance", i + 1 < a->trials ? a->distances[i] : NAN);
    json_close(out, '}');
  }
  json_close(out, ']');
  json_integer(out, "steps", a->steps);
  json_number(out, "cpu_s", a->cpu);
  json_close(out, '}');
}

static const char* event_contact(const run_job* j, const saltus_event* event,
                                 char text[SALTUSI_CONTACT_TEXT]) {
  return saltusi_identity_label(j->model.view.system, event->identity, event->law, text,
                                SALTUSI_CONTACT_TEXT);
}

/* A line for each event of a kind, the first few; begin has "%s" for the contact's name. */
static void print_each(const run_job* j, saltus_event_kind kind, const char* begin,
                       const char* end) {
  const int shown = j->verbose ? SALTUS_RUN_FIRST : ZENO_LINES;
  const saltus_run_result* s = saltus_run_outcome(j->run);
  long long count = s->events[kind].count;
  char text[SALTUSI_CONTACT_TEXT];
  for (int i = 0; i < shown && i < count; i++) {
    const saltus_event* event = &s->events[kind].first[i];
    const char* place = strstr(begin, "%s");
    printf("%.*s%s%s%.12g s", (int)(place - begin), begin, event_contact(j, event, text), place + 2,
           event->t);
    if (event->t_accuracy > 0.0) {
      printf(" (uncertain by %.0e s)", event->t_accuracy);
    }
    printf("%s\n", end);
  }
  if (count > shown) {
    printf("... and %lld more (all of them: --events -).\n", count - shown);
  }
}

/* The remark of a kind with the most energy; NULL: there is none. */
static const saltus_event* worst_of(const saltus_run_result* s, saltus_event_kind kind) {
  return s->events[kind].count > 0 ? &s->events[kind].worst : NULL;
}

/* The remarks of a kind: their number, and the one with the most energy. */
static void print_remarks(const run_job* j, saltus_event_kind kind, const char* what) {
  const saltus_event* worst = worst_of(saltus_run_outcome(j->run), kind);
  if (worst == NULL) {
    return;
  }
  long long count = saltus_run_outcome(j->run)->events[kind].count;
  char text[SALTUSI_CONTACT_TEXT];
  printf("%s at %lld impact%s; the largest at contact %s, t = %.10g s, %.6g J", what, count,
         count == 1 ? "" : "s", event_contact(j, worst, text), worst->t, worst->energy_change);
  const saltus_system* sys = j->model.view.system;
  if (kind == SALTUS_EVENT_ENERGY_GAIN && worst->law >= 0 && worst->law < sys->law_count) {
    double normals = worst->energy_change - worst->slip_work[0] - worst->slip_work[1];
    printf(" (law %s; normals %.6g, friction against the last slip %.6g, along the first %.6g J)",
           saltus_impact_law_name(sys->laws[worst->law].impact), normals, worst->slip_work[0],
           worst->slip_work[1]);
  }
  printf(".\n");
}

static void json_remarks(json* out, const run_job* j, const char* key, saltus_event_kind kind) {
  const saltus_event* worst = worst_of(saltus_run_outcome(j->run), kind);
  char text[SALTUSI_CONTACT_TEXT];
  json_open(out, key, '{');
  json_integer(out, "count", saltus_run_outcome(j->run)->events[kind].count);
  json_number(out, "worst", worst != NULL ? worst->energy_change : 0.0);
  json_number(out, "t", worst != NULL ? worst->t : NAN);
  json_text(out, "contact", worst != NULL ? event_contact(j, worst, text) : "");
  if (kind == SALTUS_EVENT_ENERGY_GAIN && worst != NULL) {
    json_number(out, "normals", worst->energy_change - worst->slip_work[0] - worst->slip_work[1]);
    json_number(out, "against_last_slip", worst->slip_work[0]);
    json_number(out, "along_first_slip", worst->slip_work[1]);
  }
  json_close(out, '}');
}

static void print_events(const run_job* j) {
  const saltus_run_result* s = saltus_run_outcome(j->run);
  long long impacts = s->events[SALTUS_EVENT_IMPACT].count;
  long long closes = s->events[SALTUS_EVENT_CLOSE].count;
  long long opens = s->events[SALTUS_EVENT_OPEN].count;
  printf("%lld impact%s", impacts, cli_plural(impacts));
  if (impacts > 0) {
    printf(" with a loss of %.6g J", s->impact_loss);
  }
  printf("; contact closed %lld time%s and opened %lld time%s.\n", closes, cli_plural(closes),
         opens, cli_plural(opens));
  bool any = false;
  for (int kind = SALTUS_EVENT_TOUCH; kind < SALTUS_EVENT_PAINLEVE; kind++) {
    if (s->events[kind].count > 0) {
      printf("%s %s %lld time%s", any ? "," : "Friction and grazing contact:",
             saltus_event_kind_name((saltus_event_kind)kind), s->events[kind].count,
             cli_plural(s->events[kind].count));
      any = true;
    }
  }
  printf("%s", any ? ".\n" : "");
  print_each(j, SALTUS_EVENT_ACCUMULATION,
             "Zeno point: impacts of contact %s accumulate at t = ", ".");
  print_each(j, SALTUS_EVENT_PAINLEVE,
             "Painleve: no or several forces of contact %s satisfy Coulomb's law at t = ",
             "; the motion continues after a tangential impact.");
  print_remarks(j, SALTUS_EVENT_ENERGY_GAIN, "Energy gain: the impact law creates energy");
  print_remarks(j, SALTUS_EVENT_LAW_REPLACED,
                "Impact law replaced: another law than the contact's own decided");
}

/* Energy balance; terms at the level of rounding, beside the energies of the run, are not printed. */
static void print_ledger(const run_job* j) {
  const saltus_run_result* s = saltus_run_outcome(j->run);
  saltus_energy e = s->ledger;
  if (isfinite(s->energy_start)) {
    printf("Energy: %.6g J at the start, %.6g J at the end.\n", s->energy_start, s->energy_end);
  }
  if (!isfinite(e.remainder)) {
    return;
  }
  double size = fabs(s->energy_start) + fabs(s->energy_end) + fabs(e.external) + fabs(e.drive) +
                fabs(e.friction) + fabs(e.impact);
  double floor = 1e-11 * (isfinite(size) ? size : fabs(e.change));
  const struct {
    const char* name;
    double value;
  } terms[] = {{"external forces", e.external - e.start},
               {"drives", e.drive},
               {"friction", e.friction},
               {"impacts", e.impact},
               {"projection of the start", e.start}};
  printf("Energy ledger: change %.6g J =", fabs(e.change) <= floor ? 0.0 : e.change);
  for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
    if (fabs(terms[i].value) > floor) {
      printf(" %s %.6g J +", terms[i].name, terms[i].value);
    }
  }
  printf(" numerical remainder %.2g J.\n", fabs(e.remainder) <= floor ? 0.0 : e.remainder);
}

static void json_ledger(json* out, const run_job* j) {
  saltus_energy e = saltus_run_outcome(j->run)->ledger;
  long long creations = saltus_run_outcome(j->run)->creations;
  json_open(out, "ledger", '{');
  json_number(out, "change", e.change);
  json_number(out, "external", e.external);
  json_number(out, "start", e.start);
  json_number(out, "drive", e.drive);
  json_number(out, "friction", e.friction);
  json_number(out, "impact", e.impact);
  json_number(out, "remainder", e.remainder);
  json_number(out, "created", e.created);
  json_integer(out, "impacts_that_created", creations);
  json_number(out, "first_created", saltus_run_outcome(j->run)->first_creation);
  json_close(out, '}');
}

/* Drift of joints, and displacement by projections. */
static void print_constraints(const run_job* j) {
  const saltus_run_result* s = saltus_run_outcome(j->run);
  bool jointed = j->model.view.system->dims.nj > 0;
  if (jointed) {
    printf("Joints drift by up to %.3e%s", s->joint_drift, s->projection > 0.0 ? "; " : ".\n");
  }
  if (s->projection > 0.0) {
    printf("%srojections move positions by up to %.3e in a step.\n", jointed ? "p" : "P",
           s->projection);
  }
}

/* The contact or joint of a residual; "" for residuals of the whole system. */
static const char* culprit(const run_job* j, const saltus_worst* w, char* text, size_t bytes) {
  const saltus_system* sys = j->model.view.system;
  text[0] = '\0';
  if (w->has_contact) {
    return saltusi_identity_label(sys, w->identity, w->law, text, bytes);
  }
  const char* const* names = j->model.view.joint_names;
  return w->row >= 0 && names != NULL ? names[w->row] : "";
}

/* The largest residual of each kind; kinds without one are on one line. */
static void print_residuals(const run_job* j) {
  const saltus_worst* all = saltus_run_outcome(j->run)->residuals;
  char text[128], line[256];
  printf("Largest residuals of all steps:\n");
  for (int k = 0; k < SALTUS_RESIDUALS; k++) {
    const saltus_worst* w = &all[k];
    saltus_residual_kind kind = (saltus_residual_kind)k;
    if (w->value > 0.0) {
      const char* who = culprit(j, w, text, sizeof text);
      printf("  %-15s %9.2e %-3s at t = %.6g s%s%s\n", saltus_residual_name(kind), w->value,
             saltus_residual_unit(kind), w->t, who[0] != '\0' ? ", " : "",
             cli_one_line(who, line, sizeof line));
    }
  }
  bool any = false;
  for (int k = 0; k < SALTUS_RESIDUALS; k++) {
    bool joints = k == SALTUS_RESIDUAL_JOINTS || k == SALTUS_RESIDUAL_JOINT_RATES;
    if (all[k].value > 0.0 || (joints && j->model.view.system->dims.nj == 0)) {
      continue;
    }
    printf("%s%s", any ? ", " : "  none: ", saltus_residual_name((saltus_residual_kind)k));
    any = true;
  }
  printf("%s", any ? "\n" : "");
}

static void json_residuals(json* out, const run_job* j) {
  const saltus_worst* all = saltus_run_outcome(j->run)->residuals;
  char text[128];
  json_open(out, "residuals", '[');
  for (int k = 0; k < SALTUS_RESIDUALS; k++) {
    json_open(out, NULL, '{');
    json_text(out, "name", saltus_residual_name((saltus_residual_kind)k));
    json_number(out, "value", all[k].value);
    json_text(out, "unit", saltus_residual_unit((saltus_residual_kind)k));
    json_number(out, "t", all[k].t);
    json_text(out, "of", culprit(j, &all[k], text, sizeof text));
    json_close(out, '}');
  }
  json_close(out, ']');
}

/* The recording, and its last time where a write failed. */
static void print_recording(const run_job* j) {
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

/* Model and scheme; with --verbose the options of the scheme. */
static void print_head(const run_job* j) {
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  const saltus_system* sys = j->model.view.system;
  const int joints = cli_joint_count(j->model.view.joint_names, sys->dims.nj);
  char line[256];
  printf("%s: %d coordinate%s, ", cli_one_line(j->model.name, line, sizeof line), sys->dims.nq,
         cli_plural(sys->dims.nq));
  cli_print_contacts(&j->model);
  printf(", %d joint%s, scheme %s", joints, cli_plural(joints), settings->scheme->name);
  if (j->verbose) {
    printf(" (%s)", settings->options_text);
  }
  printf("\n");
}

/* Interval, steps and computing time. */
static void print_steps(const run_job* j) {
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  const saltus_run_result* s = saltus_run_outcome(j->run);
  const long long steps = s->steps;
  const double span = s->t - settings->start;
  printf("Simulated from %g s to %g s in ", settings->start, s->t);
  if (s->tally != NULL && s->tally->steps > steps) {
    printf("%lld steps of asynchronous islands with %lld common times", s->tally->steps, steps);
  } else {
    printf("%lld step%s of %s%.6g s", steps, cli_plural(steps),
           varies(settings) ? "on average " : "", steps > 0 ? span / (double)steps : settings->h);
  }
  printf(", in %.3g s of computing time%s.\n", s->cpu,
         s->status == SALTUS_ERR_STOPPED ? ", then stopped" : "");
  const saltus_tally* tally = s->tally;
  if (tally != NULL && !settings->scheme->chooses_step && tally->methods[0] != NULL) {
    printf("Substituted steps: %lld of %lld are those of %s.\n", tally->method_steps[0],
           tally->steps, tally->methods[0]);
  }
  cli_resumption_print(&j->resumption, settings);
}

/* Requested tolerance; with --verbose methods, rejected steps and limits of the step size. */
static void print_tolerance(const run_job* j) {
  char* text = varies(saltus_run_get_settings(j->run)) ? cli_explanation(j->run) : NULL;
  if (text != NULL && j->verbose) {
    printf("%s", text);
  } else if (text != NULL) {
    const char* captured = strstr(text, "Captured intervals");
    printf("%.*s\n", (int)strcspn(text, "\n"), text);
    if (captured != NULL) {
      printf("%.*s\n", (int)strcspn(captured, "\n"), captured);
    }
  }
  free(text);
}

static void print_work(const run_job* j) {
  saltus_work work = saltus_run_outcome(j->run)->work;
  printf("Work: %lld force evaluation%s, %lld contact problem%s", work.force_evaluations,
         cli_plural(work.force_evaluations), work.contact_solves, cli_plural(work.contact_solves));
  if (work.newton_iterations > 0 || !saltus_run_get_settings(j->run)->scheme->chooses_step) {
    printf(", %.2f Newton iterations a step",
           (double)work.newton_iterations / (double)(work.steps > 0 ? work.steps : 1));
  }
  printf(".\n");
}

void run_summary_print(run_job* j) {
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  const saltus_run_result* s = saltus_run_outcome(j->run);
  const saltus_system* sys = j->model.view.system;
  const bool touches = sys->dims.nc > 0 || (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  print_head(j);
  print_steps(j);
  print_tolerance(j);
  if (touches) {
    print_events(j);
  }
  cli_observed_print(j->model.view.observables, s, j->verbose);
  if (j->verbose) {
    print_work(j);
  }
  printf("State at the end:\n");
  print_state(j);
  print_ledger(j);
  if (touches) {
    printf("Largest penetration %.3e m; contact laws hold to %.1e m/s and %.1e N s.\n",
           s->penetration, s->residual_velocity, s->residual_impulse);
  }
  print_constraints(j);
  if (j->verbose) {
    print_residuals(j);
  }
  print_error(j);
  print_accuracy(j);
  cli_global_error_print(&j->global, &j->model.view, settings);
  print_recording(j);
  cli_costs_print(&j->costs, s->cpu, &s->work);
  cli_design_print(&j->design, stdout);
}

void run_summary_json(run_job* j) {
  const saltus_run_settings* settings = saltus_run_get_settings(j->run);
  const saltus_system* sys = j->model.view.system;
  const saltus_run_result* s = saltus_run_outcome(j->run);
  saltus_work work = s->work;
  char text[32];
  json out = {.file = stdout};
  json_open(&out, NULL, '{');
  json_text(&out, "model", j->model.target);
  json_text(&out, "name", j->model.name);
  json_text(&out, "resumed_from", j->resumption.path != NULL ? j->resumption.path : "");
  json_text(&out, "status", s->status == SALTUS_OK ? "complete" : saltus_status_text(s->status));
  json_text(&out, "scheme", settings->scheme->name);
  json_text(&out, "options", settings->options_text);
  json_text(&out, "control", settings->control != NULL ? settings->control : "");
  json_integer(&out, "steps", s->steps);
  json_integer(&out, "rejections", s->rejections);
  json_number(&out, "h", settings->h);
  if (isfinite(settings->rtol)) {
    cli_explain_json(&out, &j->model.view, settings, s->tally);
  }
  json_number(&out, "t", s->t);
  json_open(&out, "q", '{');
  for (int i = 0; i < sys->dims.nq; i++) {
    json_number(&out, saltusi_q_name(sys, i, text, sizeof text), saltus_run_outcome(j->run)->q[i]);
  }
  json_close(&out, '}');
  json_open(&out, "v", '{');
  for (int i = 0; i < sys->dims.nv; i++) {
    json_number(&out, saltusi_v_name(sys, i, text, sizeof text), saltus_run_outcome(j->run)->v[i]);
  }
  json_close(&out, '}');
  json_integer(&out, "contacts", sys->dims.nc);
  json_integer(&out, "joints", cli_joint_count(j->model.view.joint_names, sys->dims.nj));
  json_integer(&out, "joint_rows", sys->dims.nj);
  json_integer(&out, "impacts", s->events[SALTUS_EVENT_IMPACT].count);
  json_integer(&out, "closes", s->events[SALTUS_EVENT_CLOSE].count);
  json_integer(&out, "opens", s->events[SALTUS_EVENT_OPEN].count);
  json_integer(&out, "accumulations", s->events[SALTUS_EVENT_ACCUMULATION].count);
  const saltus_event* accumulated = last_of(s, SALTUS_EVENT_ACCUMULATION);
  json_number(&out, "last_accumulation", accumulated != NULL ? accumulated->t : NAN);
  json_open(&out, "events", '{');
  for (int kind = 0; kind < SALTUS_EVENT_KINDS; kind++) {
    json_integer(&out, saltus_event_kind_name((saltus_event_kind)kind), s->events[kind].count);
  }
  json_close(&out, '}');
  cli_observed_json(&out, j->model.view.observables, s);
  json_number(&out, "impact_energy_lost", s->impact_loss);
  json_remarks(&out, j, "energy_gains", SALTUS_EVENT_ENERGY_GAIN);
  json_remarks(&out, j, "laws_replaced", SALTUS_EVENT_LAW_REPLACED);
  json_open(&out, "energy", '{');
  json_number(&out, "start", s->energy_start);
  json_number(&out, "end", s->energy_end);
  json_close(&out, '}');
  json_ledger(&out, j);
  json_number(&out, "penetration", s->penetration);
  json_number(&out, "joint_drift", s->joint_drift);
  json_number(&out, "projection", s->projection);
  json_residuals(&out, j);
  json_open(&out, "residual", '{');
  json_number(&out, "velocity", s->residual_velocity);
  json_number(&out, "impulse", s->residual_impulse);
  json_close(&out, '}');
  json_open(&out, "error", '{');
  json_number(&out, "inf", s->compared > 0 ? s->error : NAN);
  json_number(&out, "L1", s->compared > 0 ? s->error_mean : NAN);
  json_close(&out, '}');
  json_accuracy(&out, j);
  cli_global_error_json(&out, &j->global, &j->model.view, settings);
  if (j->costs.wanted) {
    cli_costs_json(&out, &j->costs);
  }
  cli_design_json(&out, &j->design);
  json_open(&out, "work", '{');
  json_integer(&out, "steps", work.steps);
  json_integer(&out, "force_evaluations", work.force_evaluations);
  json_integer(&out, "contact_solves", work.contact_solves);
  json_integer(&out, "contact_iterations", work.contact_iterations);
  json_number(&out, "cpu_s", s->cpu);
  json_close(&out, '}');
  if (j->certificate.known) {
    cli_certificate_json(&out, "certificate", &j->certificate);
  }
  bool kept = j->recording != NULL && saltus_recording_kept(j->recording, NULL) > 0;
  json_text(&out, "recording", kept ? j->path : "");
  json_close(&out, '}');
}
