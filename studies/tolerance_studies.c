/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance_studies.c - what one gets for a tolerance (docs/theory/adaptive.md): errors
 * over tolerances, accumulation times, the cycle of the woodpecker, times of stick and slip, stiff
 * carts, random systems.
 */
#include "motions.h"
#include "random_systems.h"
#include "study.h"
#include "tolerance_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run and its model. */
typedef struct opened {
  tolerance_model model;
  tolerance_run run;
} opened;

static int start(opened* o, const tolerance_case* what, double tol,
                 saltusi_adaptive_method method) {
  saltus_status status = tolerance_open(what, cli_log(), &o->model);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  o->run = tolerance_of(what, &o->model, tol, method);
  o->run.log = cli_log();
  return CLI_DONE;
}

static void finish(opened* o) {
  tolerance_free(&o->run);
  tolerance_close(&o->model);
}

/* Runs; an exit code. finish either way. */
static int go(opened* o, const tolerance_case* what, double tol, saltusi_adaptive_method method) {
  *o = (opened){0};
  int code = start(o, what, tol, method);
  return code == CLI_DONE ? cli_exit_code(tolerance_go(&o->run)) : code;
}

/* Time of the i-th event of a kind; NaN: none. */
static double time_of(const opened* o, saltus_event_kind kind, int i) {
  const saltus_event* event = tolerance_event(&o->run, kind, i);
  return event != NULL ? event->t : NAN;
}

/* What a run has cost: steps tried, evaluations of the dynamics, complementarity problems. */
static void note_run(study_report* report, const tolerance_run* run) {
  const saltus_work work = {.steps = run->counts.steps + run->counts.rejections,
                            .force_evaluations = run->counts.rates,
                            .contact_solves = run->counts.decisions};
  study_note_run(report, run->counts.steps, work);
}

/* ---- tolerance-proportionality -------------------------------------------------------------- */

/* What kind of problem a case is: panels of the figure. */
static const char* family_of(int i) {
  return i < 7             ? "error of q: impacts"
         : i < 8 || i > 13 ? "error of q: joints and more"
                           : "error of q: friction";
}

/* Largest |q error| at the instants of a motion of another program. */
static double off_motion(const tolerance_run* run, const motion* known) {
  double worst = 0.0;
  for (int k = 0; k < MOTION_INSTANTS; k++) {
    double q[TOLERANCE_WIDTH];
    double v[TOLERANCE_WIDTH];
    if (k == MOTION_INSTANTS - 1) {
      memcpy(q, run->q, (size_t)known->nq * sizeof(double));
    } else {
      tolerance_at(run, motion_time(known, k), q, v);
    }
    for (int i = 0; i < known->nq; i++) {
      worst = fmax(worst, fabs(q[i] - motion_q(known, k)[i]));
    }
  }
  return worst;
}

/* All tolerances of one case: q against the motion of another program, with its accuracy; the figure
 * also has the distance of v from the graph of a run at 1e-13, about which nothing is claimed. */
static int sweep_case(study_report* report, int i, const tolerance_run* reference,
                      const tolerance_model* model) {
  const tolerance_case* what = tolerance_case_at(i);
  const motion* known = motion_find(what->name);
  double tol[TOLERANCE_ROWS];
  double q[TOLERANCE_ROWS];
  double v[TOLERANCE_ROWS];
  double worst = 0.0;
  double work = 0.0;
  int wrong = 0;
  int n = 0;
  for (int k = 0; k < TOLERANCE_ROWS && what->row[k].rates > 0; k++, n++) {
    const tolerance_row* row = &what->row[k];
    tol[k] = pow(10.0, -3.0 - k);
    tolerance_run run = tolerance_of(what, model, tol[k], SALTUSI_DOPRI5);
    run.log = cli_log();
    saltus_status status = tolerance_go(&run);
    if (status == SALTUS_OK) {
      double over_time;
      tolerance_compare(&run, reference, &over_time, &v[k]);
      q[k] = off_motion(&run, known);
      worst = fmax(worst, (q[k] - known->accuracy) / tol[k] / fmax(10.0, 2.0 * row->q_max));
      work = fmax(work, (double)run.counts.rates / row->rates);
      wrong += run.counts.events != row->events;
      note_run(report, &run);
      q[k] = fmax(q[k], 1e-16); /* a figure of logarithms */
    }
    tolerance_free(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
  }
  char text[96];
  snprintf(text, sizeof text, "%s: largest error of q over its bound", what->name);
  study_claim_error(report, text, worst, 1.0);
  snprintf(text, sizeof text, "%s: evaluations over the printed ones, at most", what->name);
  study_claim_most(report, text, work, 1.2);
  if (what->events_exact) {
    snprintf(text, sizeof text, "%s: tolerances with another number of events", what->name);
    study_claim_most(report, text, wrong, 0.0);
  }
  snprintf(text, sizeof text, "%s, %s", family_of(i), what->name);
  study_add_series(report, text, n, tol, q, v);
  return CLI_DONE;
}

static int run_proportionality(const cli_args* args, study_report* report) {
  (void)args;
  report->named = true;
  report->x_label = "tolerance";
  int code = CLI_DONE;
  for (int i = 0; tolerance_case_at(i) != NULL && code == CLI_DONE; i++) {
    opened reference;
    code = go(&reference, tolerance_case_at(i), 1e-13, SALTUSI_DOP853);
    if (code == CLI_DONE) {
      code = sweep_case(report, i, &reference.run, &reference.model);
    }
    finish(&reference);
  }
  return code;
}

/* ---- accumulation-times --------------------------------------------------------------------- */

/* Error of t_inf over tolerances, with and without the jump. */
static int sweep_accumulation(study_report* report, const char* name, double exact,
                              const double* bound) {
  for (int without = 0; without < 2; without++) {
    double tol[TOLERANCE_ROWS];
    double error[TOLERANCE_ROWS];
    double events[TOLERANCE_ROWS];
    for (int k = 0; k < TOLERANCE_ROWS; k++) {
      opened o = {0};
      tol[k] = pow(10.0, -3.0 - k);
      int code = start(&o, tolerance_case_find(name), tol[k], SALTUSI_DOPRI5);
      o.run.settings.without_jump = without == 1;
      code = code == CLI_DONE ? cli_exit_code(tolerance_go(&o.run)) : code;
      error[k] = fabs(time_of(&o, SALTUS_EVENT_ACCUMULATION, 0) - exact);
      events[k] = (double)o.run.counts.events;
      note_run(report, &o.run);
      finish(&o);
      if (code != CLI_DONE) {
        return code;
      }
      char id[96];
      snprintf(id, sizeof id, "%s, 1e-%d, %s: error of t_inf", name, 3 + k,
               without ? "bounce by bounce" : "jump");
      study_claim_error(report, id, error[k], bound[0] + bound[1] * tol[k]);
      error[k] = fmax(error[k], 1e-16); /* a figure of logarithms */
    }
    char label[96];
    snprintf(label, sizeof label, "%s: error of t_inf [s], %s", name,
             without ? "bounce by bounce" : "jump");
    study_add_series(report, label, TOLERANCE_ROWS, tol, error, events);
  }
  return CLI_DONE;
}

static int run_accumulations(const cli_args* args, study_report* report) {
  (void)args;
  /* rounding, and what is printed over the tolerance, doubled */
  static const double exact_bound[2] = {1e-14, 0.0};
  static const double bound[2] = {2e-13, 3.0};
  static const double pendulum_bound[2] = {1.5e-11, 3.0}; /* the reference has eleven digits */
  report->named = true;
  report->x_label = "tolerance";
  int code = sweep_accumulation(report, "E1", 3.0, exact_bound);
  if (code == CLI_DONE) {
    code = sweep_accumulation(report, "E2b", 0.85919509378141049067, bound);
  }
  if (code == CLI_DONE) {
    code = sweep_accumulation(report, "E3", 2.36007963782, pendulum_bound);
  }
  return code;
}

/* ---- woodpecker-limit-cycle ----------------------------------------------------------------- */

static int run_cycle(const cli_args* args, study_report* report) {
  (void)args;
  enum { CYCLES = 170 };
  static const double period = 0.1459760651438; /* s */
  static const double fall = 19.44537928472e-3; /* m */
  tolerance_case what = *tolerance_case_find("woodpecker");
  what.t_end = 25.0;
  opened o;
  int code = go(&o, &what, 1e-12, SALTUSI_DOP853);
  double at[CYCLES + 1];
  double height[CYCLES + 1];
  int n = 0;
  for (int k = 0; k < o.run.event_count && n <= CYCLES; k++) {
    const saltus_event* event = &o.run.events[k];
    if (event->kind == SALTUS_EVENT_IMPACT && event->contact == 0) {
      double q[3];
      double v[3];
      tolerance_at(&o.run, event->t, q, v);
      at[n] = event->t;
      height[n++] = q[0];
    }
  }
  for (int k = 0; k < n - 1; k++) { /* all cycles are of one run */
    note_run(report, &o.run);
  }
  finish(&o);
  if (code != CLI_DONE || n < CYCLES) {
    return code != CLI_DONE ? code : CLI_FAILED;
  }
  double x[CYCLES];
  double dt[CYCLES];
  double dy[CYCLES];
  double none[CYCLES];
  for (int k = 0; k < n - 1; k++) {
    x[k] = k + 1.0;
    none[k] = NAN;
    dt[k] = fabs(at[k + 1] - at[k] - period);
    dy[k] = fabs(height[k] - height[k + 1] - fall);
  }
  study_claim_near(report, "period of the cycle [s]", at[n - 1] - at[n - 2], period, 1e-9);
  study_claim_near(report, "fall in a cycle [m]", height[n - 2] - height[n - 1], fall, 1e-9);
  /* the only multiplier of the return map after the beak's impact that is not zero: -0.8391557, from
   * differences of the map of another program at 1e-4 and 1e-5 of its coordinates */
  study_claim_near(report, "contraction of the deviation", dt[47] / dt[46], 0.8391557, 2e-6);
  report->x_label = "cycle";
  report->named = true;
  study_add_series(report, "off the period [s], period", n - 1, x, dt, none);
  study_add_series(report, "off the fall [m], fall", n - 1, x, dy, none);
  return CLI_DONE;
}

/* ---- friction-events ------------------------------------------------------------------------ */

/* An event whose time is known. */
typedef struct known_event {
  const char* name;
  saltus_event_kind kind;
  int number;
  double t;        /* s */
  double accuracy; /* of t itself */
} known_event;

static int run_friction(const cli_args* args, study_report* report) {
  (void)args;
  static const known_event known[] = {
      {"block 8", SALTUS_EVENT_STICK, 0, 0.338608184671980617, 0.0},
      {"block 8", SALTUS_EVENT_STICK, 3, 9.81601991606658593, 0.0},
      {"block 8", SALTUS_EVENT_SLIP, 0, 2.94634679122386296, 0.0},
      {"block 20", SALTUS_EVENT_REVERSAL, 0, 2.14278213537747, 1e-14},
      {"Coulomb oscillator", SALTUS_EVENT_REVERSAL, 0, 0.314159265358979324, 0.0},
      {"Coulomb oscillator", SALTUS_EVENT_STICK, 0, 1.256637061435917296, 0.0},
      {"rocking block", SALTUS_EVENT_SLIP, 0, 0.0894808758, 1e-9},
      {"woodpecker", SALTUS_EVENT_STICK, 0, 0.021636314053, 1e-12},
  };
  report->named = true;
  report->x_label = "tolerance";
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const known_event* e = &known[i];
    double tol[TOLERANCE_ROWS];
    double error[TOLERANCE_ROWS];
    double none[TOLERANCE_ROWS];
    double worst = 0.0;
    for (int k = 0; k < TOLERANCE_ROWS; k++) {
      opened o;
      tol[k] = pow(10.0, -3.0 - k);
      int code = go(&o, tolerance_case_find(e->name), tol[k], SALTUSI_DOPRI5);
      error[k] = fmax(1e-16, fabs(time_of(&o, e->kind, e->number) - e->t));
      none[k] = NAN;
      /* forces are located to sqrt(rtol) / 100 of a step of some hundredths, which costs its square only */
      double width = e->kind == SALTUS_EVENT_SLIP ? 1e-4 * sqrt(tol[k]) : 0.0;
      worst = fmax(worst, error[k] / (2.0 * tol[k] + width + e->accuracy + 1e-13));
      note_run(report, &o.run);
      finish(&o);
      if (code != CLI_DONE) {
        return code;
      }
    }
    char text[96];
    const char* word = saltus_event_kind_name(e->kind);
    snprintf(text, sizeof text, "%s, %s %d: largest error over its bound", e->name, word,
             e->number + 1);
    study_claim_error(report, text, worst, 1.0);
    snprintf(text, sizeof text, "%s, %s: %s %d",
             e->kind == SALTUS_EVENT_SLIP ? "error of slip [s]" : "error of stop [s]", e->name,
             word, e->number + 1);
    study_add_series(report, text, TOLERANCE_ROWS, tol, error, none);
  }
  return CLI_DONE;
}

/* ---- stiff-carts ---------------------------------------------------------------------------- */

typedef struct carts {
  const char *gamma, *delta, *x0, *v0;
  double t_end;
  double x1, x2; /* m, converged; docs/theory/problems.md, 8.3 */
  double accuracy;
  double work; /* evaluations that are printed at 1e-7 */
} carts;

static int sweep_carts(study_report* report, const carts* c) {
  enum { ROWS = 6 };
  const tolerance_case what = {
      .name = "carts",
      .scene = "carts",
      .overrides = {{"gamma", c->gamma}, {"delta", c->delta}, {"x0", c->x0}, {"v0", c->v0}},
      .override_count = 4,
      .t_end = c->t_end};
  double tol[ROWS];
  double e1[ROWS];
  double e2[ROWS];
  double none[ROWS];
  double worst = 0.0;
  double work = 0.0;
  for (int k = 0; k < ROWS; k++) {
    opened o;
    tol[k] = pow(10.0, -3.0 - k);
    none[k] = NAN;
    int code = go(&o, &what, tol[k], SALTUSI_RADAU5);
    if (code == CLI_DONE) {
      e1[k] = fmax(fabs(o.run.q[0] - c->x1), 1e-12);
      e2[k] = fmax(fabs(o.run.q[2] - c->x2), 1e-12);
      worst = fmax(worst, (fmax(e1[k], e2[k]) - c->accuracy) / tol[k]);
      work = k == 4 ? (double)o.run.counts.rates : work; /* at 1e-7 */
      note_run(report, &o.run);
    }
    finish(&o);
    if (code != CLI_DONE) {
      return code;
    }
  }
  char text[96];
  snprintf(text, sizeof text, "gamma %s, delta %s: largest error over tol", c->gamma, c->delta);
  study_claim_error(report, text, worst, 2.0);
  snprintf(text, sizeof text, "gamma %s, delta %s: evaluations at 1e-7", c->gamma, c->delta);
  study_claim_most(report, text, work, 1.5 * c->work);
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text, "error of x%d [m], gamma %s N/m; delta %s N s/m", k + 1, c->gamma,
             c->delta);
    study_add_series(report, text, ROWS, tol, k == 0 ? e1 : e2, none);
  }
  return CLI_DONE;
}

static int run_carts(const cli_args* args, study_report* report) {
  (void)args;
  static const carts all[] = {
      {"100", "1e2", "0.1", "-2", 4.0, 0.19825723294, 5.17866113375, 1e-11, 5589.0},
      {"100", "1e3", "0.1", "-2", 4.0, 0.215696245, 5.213458177, 1e-9, 6168.0},
      {"100", "1e6", "0.1", "-2", 4.0, 0.2210024640, 5.2210002121, 1e-10, 5045.0},
      {"1e2", "10", "0.2", "-3", 2.0, 0.20452314838, 4.90218515313, 1e-11, 5589.0},
  };
  report->named = true;
  report->x_label = "tolerance";
  int code = CLI_DONE;
  for (size_t i = 0; i < sizeof all / sizeof all[0] && code == CLI_DONE; i++) {
    code = sweep_carts(report, &all[i]);
  }
  return code;
}

/* ---- random-systems ------------------------------------------------------------------------- */

/* What the runs of one decade of tolerances showed. */
typedef struct decade {
  double error[1000];
  int count;
} decade;

enum { DECADES = 6 };

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a;
  double y = *(const double*)b;
  return (x > y) - (x < y);
}

static void note_error(decade* decades, const random_verdict* v) {
  int k = (int)(-log10(v->tol) - 3.0);
  decade* d = &decades[k < 0 ? 0 : k >= DECADES ? DECADES - 1 : k];
  if (d->count < (int)(sizeof d->error / sizeof d->error[0])) {
    d->error[d->count++] = fmax(v->error, 1e-4); /* a figure of logarithms */
  }
}

/* Parts of the systems of each decade whose error is below the line. */
static void add_parts(study_report* report, decade* decades) {
  static const double part[3] = {0.5, 0.99, 1.0};
  static const char* const label[3] = {"error in tolerances, of half the systems",
                                       "error in tolerances, of 99 %",
                                       "error in tolerances, the largest"};
  for (int p = 0; p < 3; p++) {
    double x[DECADES];
    double y[DECADES];
    double none[DECADES];
    for (int k = 0; k < DECADES; k++) {
      decade* d = &decades[k];
      qsort(d->error, (size_t)d->count, sizeof(double), by_size);
      x[k] = pow(10.0, -3.5 - k);
      y[k] = d->count > 0 ? d->error[(int)(part[p] * (d->count - 1))] : NAN;
      none[k] = NAN;
    }
    study_add_series(report, label[p], DECADES, x, y, none);
  }
}

static int run_random(const cli_args* args, study_report* report) {
  (void)args;
  enum { SYSTEMS = 2000 };
  static const double most = 30.0; /* tolerances */
  int failed = 0;
  int without = 0;
  int wrong = 0;
  int sensitive = 0;
  double deepest = 0.0;
  decade* decades = calloc(DECADES, sizeof *decades);
  if (decades == NULL) {
    return CLI_FAILED;
  }
  for (uint64_t seed = 0; seed < SYSTEMS; seed++) {
    random_verdict v = random_judge(seed, most);
    failed += v.status != SALTUS_OK || (v.reference_status == SALTUS_OK && !v.finite);
    without += v.status == SALTUS_OK && v.reference_status != SALTUS_OK;
    if (v.status != SALTUS_OK || v.reference_status != SALTUS_OK) {
      continue;
    }
    deepest = fmax(deepest, v.depth);
    sensitive += v.error > most && v.error <= most * v.sensitivity;
    wrong += v.error > most * fmax(1.0, v.sensitivity);
    note_error(decades, &v);
  }
  study_claim_most(report, "systems of 2000 that end with an error", failed, 0.0);
  study_claim_most(report, "systems that a run at tol/1000 does not finish", without, 2.0);
  study_claim_most(report, "systems off by more than 30 tolerances", wrong, 0.0);
  study_claim_most(report, "as far off, but as sensitive to their numbers", sensitive, 10.0);
  study_claim_most(report, "deepest penetration in tolerances", deepest, 10.0);
  report->named = true;
  report->x_label = "tolerance";
  add_parts(report, decades);
  free(decades);
  return CLI_DONE;
}

const study study_tolerance_proportionality = {
    .name = "tolerance-proportionality",
    .summary = "the error that one gets for a tolerance, sixteen problems",
    .source = "docs/theory/adaptive.md, 12",
    .run = run_proportionality,
};

const study study_accumulation_times = {
    .name = "accumulation-times",
    .summary = "when infinitely many impacts end, with and without a jump over them",
    .source = "docs/theory/adaptive.md, 5",
    .run = run_accumulations,
};

const study study_woodpecker_limit_cycle = {
    .name = "woodpecker-limit-cycle",
    .summary = "how the toy finds its cycle",
    .source = "Glocker 1995; docs/theory/problems.md, 7.3",
    .run = run_cycle,
};

const study study_friction_events = {
    .name = "friction-events",
    .summary = "times of stick, slip and reversal over the tolerance",
    .source = "docs/theory/problems.md, 9.2",
    .run = run_friction,
};

const study study_stiff_carts = {
    .name = "stiff-carts",
    .summary = "stiff damper, impacts and friction to a tolerance with Radau IIA",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, section 10.3",
    .run = run_carts,
};

const study study_random_systems = {
    .name = "random-systems",
    .summary = "2000 random systems to a tolerance",
    .source = "docs/theory/adaptive.md, 12",
    .run = run_random,
};
