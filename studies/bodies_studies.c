/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_studies.c - mechanisms of rigid bodies against motions that are known: errors over the tolerance, orders of
 * schemes with fixed steps, defects of joints. Problems A01 to A05 of the IFToMM benchmark library, free rotation, the heavy
 * top, a spatial slider-crank and a redundant four-bar.
 *
 * With a tolerance of the motion (docs/theory/global.md) an error is below it. With one of steps it is below 10 of them,
 * whatever the amplification K of the motion (bodies_run.h) is, which is measured; four-bars that pass their singular
 * position again and again, where K is hundreds, may have 10 tol K, as in the study adversarial.
 */
#include "bodies_exact.h"
#include "bodies_run.h"
#include "study.h"

#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCES = 7, HALVINGS = 4 };

/* One problem and what is asked of it. */
typedef struct sweep {
  bodies_case problem;
  const char* label;  /* in front of claims; "": the study has one problem */
  double allowed;     /* tolerances; 0: 10 */
  double K;           /* amplification that errors may have; 0: none, it is measured */
  int tolerances;     /* 1e-4, 1e-5, ...; 0: down to 1e-10 */
  int global;         /* so many of them as tolerances of the motion; 0: as many, -1: none */
  int every;          /* of these, to save time: 1e-4, 1e-6, ... for 2; 0: 1 */
  double asked;       /* of the motion, in these tolerances; 0: 1 */
  long long steps;    /* of schemes of order 2, doubled from row to row; 0: no fixed steps */
  long long radau;    /* of radau-iia-5 */
  double exact_joint; /* defect that schemes on positions leave, m or rad */
} sweep;

static double shown(double error) {
  return fmax(error, 1e-16); /* a figure of logarithms */
}

/* ---- tolerances ------------------------------------------------------------------------------ */

static int sweep_tolerances(study_report* report, const sweep* s) {
  double K = s->K;
  saltus_status status = K > 0.0 ? SALTUS_OK : bodies_amplification(&s->problem, cli_log(), &K);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  char id[128];
  if (s->K != 1.0) {
    snprintf(id, sizeof id, "%samplification K of the motion", s->label);
    study_measure(report, id, K);
  }
  int count = s->tolerances > 0 ? s->tolerances : TOLERANCES;
  double allowed = (s->allowed > 0.0 ? s->allowed : 10.0) * (s->K > 0.0 ? s->K : 1.0);
  double tol[TOLERANCES], error[TOLERANCES], defect[TOLERANCES], worst = 0.0;
  for (int k = 0; k < count; k++) {
    tol[k] = pow(10.0, -4.0 - k);
    bodies_run run = {.of = &s->problem, .tol = tol[k], .log = cli_log()};
    status = bodies_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    study_note_run(report, run.taken, run.work);
    snprintf(id, sizeof id, "%sadaptive, 1e-%d: error in tolerances", s->label, 4 + k);
    study_claim_error(report, id, run.error / tol[k], allowed);
    worst = fmax(worst, run.defect);
    error[k] = shown(run.error);
    defect[k] = shown(run.defect);
  }
  snprintf(id, sizeof id, "%sadaptive: largest defect of a joint", s->label);
  study_claim_most(report, id, worst, 1e-10);
  snprintf(id, sizeof id, "%sadaptive over tolerance", s->label);
  study_add_series(report, id, count, tol, error, defect);
  return CLI_DONE;
}

/* The same as tolerances of the motion, whatever it amplifies; beyond those that are claimed what double precision
 * allows is measured, NaN: refused. */
static int sweep_global(study_report* report, const sweep* s) {
  int count = s->tolerances > 0 ? s->tolerances : TOLERANCES;
  int claimed = s->global > 0 ? s->global : count;
  int every = s->every > 0 ? s->every : 1;
  double asked = s->asked > 0.0 ? s->asked : 1.0;
  double tol[TOLERANCES], error[TOLERANCES], defect[TOLERANCES];
  int done = 0;
  char id[128];
  for (int k = 0; k < count; k += every) {
    tol[done] = pow(10.0, -4.0 - k);
    saltus_kept_message message;
    bodies_run run = {.of = &s->problem, .global = true, .log = saltus_log_keep(&message)};
    run.tol = asked * tol[done];
    saltus_status status = bodies_go(&run);
    bool refused = status == SALTUS_ERR_ACCURACY;
    if (status != SALTUS_OK && !(refused && k >= claimed)) {
      cli_error("%s", message.text);
      return cli_exit_code(status);
    }
    snprintf(id, sizeof id, "%sof the motion, 1e-%d: error in tolerances", s->label, 4 + k);
    if (refused) {
      study_measure(report, id, (double)NAN);
      break;
    }
    study_note_run(report, run.taken, run.work);
    study_claim_error(report, id, run.error / tol[done], s->allowed > 0.0 ? s->allowed : 1.0);
    snprintf(id, sizeof id, "%sof the motion, 1e-%d: estimate", s->label, 4 + k);
    study_measure(report, id, asked * run.accuracy.error);
    error[done] = shown(run.error);
    defect[done++] = shown(run.defect);
  }
  snprintf(id, sizeof id, "%sover tolerance of the motion", s->label);
  study_add_series(report, id, done, tol, error, defect);
  return CLI_DONE;
}

/* ---- fixed steps ----------------------------------------------------------------------------- */

typedef struct fixed_scheme {
  const char* name;
  const char* options;
  double order, slack;
  bool on_positions; /* joints hold to the accuracy of its Newton iteration */
} fixed_scheme;

static const fixed_scheme fixed_schemes[] = {{"moreau-jean", NULL, 2.0, 0.3, false},
                                             {"moreau-jean", "project_joints=true", 2.0, 0.3, true},
                                             {"rattle", NULL, 2.0, 0.3, true},
                                             {"variational", NULL, 2.0, 0.3, true},
                                             {"radau-iia-5", NULL, 5.0, 0.7, true}};

static int sweep_steps(study_report* report, const sweep* s, const fixed_scheme* scheme) {
  double h[HALVINGS], error[HALVINGS], defect[HALVINGS], worst = 0.0;
  long long steps = scheme->order > 2.0 ? s->radau : s->steps;
  char id[128], name[64];
  snprintf(name, sizeof name, "%s%s", scheme->name, scheme->options != NULL ? ", projected" : "");
  for (int k = 0; k < HALVINGS; k++, steps *= 2) {
    saltus_kept_message message;
    bodies_run run = {.of = &s->problem,
                      .scheme = scheme->name,
                      .options = scheme->options,
                      .steps = steps,
                      .log = saltus_log_keep(&message)};
    saltus_status status = bodies_go(&run);
    if (status == SALTUS_ERR_UNSUPPORTED) {
      snprintf(id, sizeof id, "%s%s does not treat it", s->label, name);
      study_measure(report, id, (double)NAN);
      return CLI_DONE;
    }
    if (status != SALTUS_OK) {
      cli_error("%s", message.text);
      return cli_exit_code(status);
    }
    study_note_run(report, run.taken, run.work);
    h[k] = s->problem.until / (double)steps;
    error[k] = shown(run.error);
    defect[k] = shown(run.defect);
    worst = fmax(worst, run.defect);
  }
  snprintf(id, sizeof id, "%s%s: order", s->label, name);
  int last = HALVINGS - 1; /* whose error the reference can tell */
  while (last > 1 && error[last] < 10.0 * s->problem.accuracy) {
    last--;
  }
  double order = log(error[0] / error[last]) / log(h[0] / h[last]);
  study_claim_range(report, id, order, scheme->order - scheme->slack, scheme->order + 1.0);
  snprintf(id, sizeof id, "%s%s: largest defect of a joint", s->label, name);
  if (scheme->on_positions) {
    study_claim_most(report, id, worst, s->exact_joint > 0.0 ? s->exact_joint : 1e-10);
  } else {
    study_measure(report, id, worst);
    snprintf(id, sizeof id, "%s%s: order of that defect", s->label, name);
    if (worst > 1e-12) { /* more than rounding */
      double drift = log(defect[0] / defect[HALVINGS - 1]) / log(h[0] / h[HALVINGS - 1]);
      study_claim_range(report, id, drift, 1.7, 2.3);
    }
  }
  snprintf(id, sizeof id, "%s%s over step", s->label, name);
  study_add_series(report, id, HALVINGS, h, error, defect);
  return CLI_DONE;
}

static int run_sweep(study_report* report, const sweep* s) {
  report->x_label = "tolerance, or step [s]";
  report->first_label = "error";
  report->second_label = "defect of joints";
  int code = sweep_tolerances(report, s);
  code = code == CLI_DONE && s->global >= 0 ? sweep_global(report, s) : code;
  int count = s->steps > 0 ? (int)(sizeof fixed_schemes / sizeof fixed_schemes[0]) : 0;
  for (int i = 0; i < count && code == CLI_DONE; i++) {
    code = sweep_steps(report, s, &fixed_schemes[i]);
  }
  return code;
}

/* ---- the studies ----------------------------------------------------------------------------- */

static int run_known(study_report* report, const char* scene, long long steps, long long radau) {
  bool quick = strcmp(scene, "bodies-pendulum") == 0 ||
               strcmp(scene, "bodies-free-rotation") == 0 || strcmp(scene, "bodies-heavy-top") == 0;
  const sweep s = {.problem = *bodies_case_find(scene),
                   .label = "",
                   .steps = steps,
                   .radau = radau,
                   .every = quick ? 1 : 2};
  return run_sweep(report, &s);
}

static int run_pendulum(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-pendulum", 2000, 400);
}

static int run_andrews(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-andrews", 2000, 400);
}

static int run_bricard(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-bricard", 1000, 200);
}

static int run_flyball(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-flyball", 1000,
                   50); /* finer Radau steps reach the eleven digits of the table */
}

static int run_slider_crank(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-slider-crank", 2000, 500);
}

/* Then through the second turn over, which amplifies rounding of the start to 1e-6: no tolerance of the motion below is
 * possible in double precision. */
static int run_rotation(const cli_args* args, study_report* report) {
  (void)args;
  int code = run_known(report, "bodies-free-rotation", 400, 80);
  sweep longer = {.problem = *bodies_case_find("bodies-free-rotation"),
                  .label = "to 25 s, ",
                  .tolerances = 3,
                  .global = 2};
  longer.problem.until = 25.0;
  longer.problem.instants = 100;
  return code == CLI_DONE ? sweep_global(report, &longer) : code;
}

static int run_top(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-heavy-top", 2000, 400);
}

static int run_redundant(const cli_args* args, study_report* report) {
  (void)args;
  return run_known(report, "bodies-redundant-four-bar", 2000, 400);
}

/* ---- a million steps ------------------------------------------------------------------------- */

/* Defects after 10^6 steps; adaptive gets a longest step that makes it take as many. */
static int run_defects(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* label;
    bodies_case problem;
  } cases[] = {{"pendulum", {.scene = "bodies-pendulum", .until = 1000.0, .width = 2}},
               {"heavy top", {.scene = "bodies-heavy-top", .until = 100.0, .width = 6}}};
  static const char* const schemes[] = {"adaptive", "rattle", "radau-iia-5"};
  enum { STEPS = 1000000 };
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) {
      saltus_kept_message message;
      bodies_case problem = cases[i].problem;
      problem.instants = 1;
      bodies_run run = {.of = &problem,
                        .scheme = schemes[k],
                        .steps = STEPS,
                        .tol = k == 0 ? 1e-8 : 0.0,
                        .log = saltus_log_keep(&message)};
      saltus_status status = bodies_go(&run);
      char id[128];
      snprintf(id, sizeof id, "%s, %s: defect of joints after 10^6 steps", cases[i].label,
               schemes[k]);
      if (status == SALTUS_ERR_UNSUPPORTED) {
        study_measure(report, id, (double)NAN);
        continue;
      }
      if (status != SALTUS_OK) {
        cli_error("%s", message.text);
        return cli_exit_code(status);
      }
      study_note_run(report, run.taken, run.work);
      study_claim_most(report, id, run.taken >= STEPS ? run.defect : INFINITY, 1e-10);
    }
  }
  return CLI_DONE;
}

/* ---- N windows ------------------------------------------------------------------------------- */

enum { MOST_WINDOWS = 40, TEXT = 65536 };

/* A text that grows. */
typedef struct text {
  char bytes[TEXT];
  size_t used;
} text;

static void put(text* t, const char* format, ...) SALTUSI_PRINTF(2, 3);
static void put(text* t, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int length = vsnprintf(t->bytes + t->used, sizeof t->bytes - t->used, format, values);
  va_end(values);
  t->used += length > 0 ? (size_t)length : 0;
}

/* scenes/bodies-four-bar-1.yaml with more windows. */
static void write_windows(text* t, int n) {
  put(t, "saltus: 1\nbodies:\n");
  for (int i = 0; i <= n; i++) {
    put(t,
        "  crank%d: {mass: 1, inertia: 1/12, position: [%d, 0.5], angle: pi/2, velocity: [0.5, 0], "
        "angular_velocity: -1}\n",
        i, i);
  }
  for (int i = 1; i <= n; i++) {
    put(t, "  coupler%d: {mass: 1, inertia: 1/12, position: [%d.5, 1], velocity: [1, 0]}\n", i,
        i - 1);
  }
  put(t, "markers:\n");
  for (int i = 0; i <= n; i++) {
    put(t, "  A%d: {point: [%d, 0]}\n  foot%d: {body: crank%d, point: [-0.5, 0]}\n", i, i, i, i);
    put(t, "  B%d: {body: crank%d, point: [0.5, 0]}\n", i, i);
  }
  for (int i = 1; i <= n; i++) {
    put(t, "  left%d: {body: coupler%d, point: [-0.5, 0]}\n", i, i);
    put(t, "  right%d: {body: coupler%d, point: [0.5, 0]}\n", i, i);
  }
  put(t, "joints:\n");
  for (int i = 0; i <= n; i++) {
    put(t, "  - {name: ground%d, type: revolute, between: [A%d, foot%d]}\n", i, i, i);
  }
  for (int i = 1; i <= n; i++) {
    put(t, "  - {name: first%d, type: revolute, between: [B%d, left%d]}\n", i, i - 1, i);
    put(t, "  - {name: second%d, type: revolute, between: [B%d, right%d]}\n", i, i, i);
  }
  put(t, "outputs: {x: B0.x, y: B0.y}\nsimulate: {until: 10}\n");
}

static bodies_case windows_case(const text* t, const int* windows, double until) {
  return bodies_case_windows(t->bytes, windows, until);
}

/* Past the first singular position, where 100 tolerances are allowed; then through ten of them in five turns, over the
 * unstable upright position every time: the motion amplifies errors a thousandfold. */
static int sweep_windows(study_report* report, text* t, int windows) {
  char label[48];
  t->used = 0;
  write_windows(t, windows);
  snprintf(label, sizeof label, "N = %d to 1 s, ", windows);
  const sweep first = {.problem = windows_case(t, &windows, 1.0),
                       .label = label,
                       .allowed = 100.0,
                       .asked =
                           windows > 2 ? 100.0 : 1.0, /* near singular positions rounding is 1e-9 */
                       .K = 1.0,
                       .tolerances = 5};
  int code = run_sweep(report, &first);
  snprintf(label, sizeof label, "N = %d to 10 s, ", windows);
  const sweep all = {.problem = windows_case(t, &windows, 10.0),
                     .label = label,
                     .allowed = 1.0,
                     .global = -1,
                     .K = bodies_four_bar_amplification(windows, 10.0),
                     .tolerances = 5};
  code = code == CLI_DONE ? run_sweep(report, &all) : code;
  /* asked for 100 tolerances: at singular positions steps manage no tolerances below some 1e-10, of ten windows 1e-9 */
  sweep motion = all;
  motion.global = windows > 2 ? 4 : 0;
  motion.asked = motion.allowed = 100.0;
  return code == CLI_DONE ? sweep_global(report, &motion) : code;
}

static int run_large(study_report* report, text* t) {
  static const int large = MOST_WINDOWS;
  t->used = 0;
  write_windows(t, large);
  const bodies_case problem = windows_case(t, &large, 10.0);
  bodies_run run = {.of = &problem, .tol = 1e-6, .log = cli_log()};
  int code = cli_exit_code(bodies_go(&run));
  if (code == CLI_DONE) {
    study_note_run(report, run.taken, run.work);
    study_claim_error(report, "N = 40 to 10 s, adaptive, 1e-6: error in tolerances",
                      run.error / 1e-6, bodies_four_bar_amplification(large, 10.0));
    study_measure(report, "N = 40, adaptive, 1e-6: drift of the energy [J] of 620 J",
                  run.energy_drift);
    study_measure(report, "N = 40, adaptive, 1e-6: computing time [s]", run.cpu);
  }
  return code;
}

static int run_windows(const cli_args* args, study_report* report) {
  (void)args;
  text* t = malloc(sizeof *t);
  if (t == NULL) {
    return CLI_FAILED;
  }
  static const int windows[] = {1, 2, 10};
  int code = CLI_DONE;
  for (int i = 0; i < 3 && code == CLI_DONE; i++) {
    code = sweep_windows(report, t, windows[i]);
  }
  code = code == CLI_DONE ? run_large(report, t) : code;
  free(t);
  return code;
}

#define IFTOMM "IFToMM library of computational benchmark problems, "

const study study_bodies_pendulum = {"bodies-pendulum", "a pendulum in Cartesian coordinates",
                                     IFTOMM "A01",      false,
                                     run_pendulum,      NULL};
const study study_bodies_four_bar = {
    "bodies-four-bar-n", "N windows of four-bars through their singular positions",
    IFTOMM "A02",        false,
    run_windows,         NULL};
const study study_bodies_andrews = {
    "bodies-andrews", "Andrews' squeezer", IFTOMM "A03", false, run_andrews, NULL};
const study study_bodies_bricard = {"bodies-bricard", "a spatial loop with one redundant row",
                                    IFTOMM "A04",     false,
                                    run_bricard,      NULL};
const study study_bodies_flyball = {
    "bodies-flyball", "a stiff governor", IFTOMM "A05", false, run_flyball, NULL};
const study study_bodies_slider_crank = {"bodies-slider-crank",
                                         "a slider-crank in space",
                                         IFTOMM "spatial rigid slider-crank",
                                         false,
                                         run_slider_crank,
                                         NULL};
const study study_bodies_rotation = {"bodies-free-rotation",
                                     "a body that turns over, against Jacobi's functions",
                                     "Landau and Lifshitz, Mechanics, 37",
                                     false,
                                     run_rotation,
                                     NULL};
const study study_bodies_top = {"bodies-heavy-top",
                                "a heavy symmetric top, against its elliptic closed form",
                                "Lagrange; Whittaker, Analytical dynamics, 71",
                                false,
                                run_top,
                                NULL};
const study study_bodies_defects = {"bodies-joint-defects",
                                    "joints after a million steps",
                                    "positions that fulfil joints do not drift",
                                    false,
                                    run_defects,
                                    NULL};
const study study_bodies_redundant = {"bodies-redundant-four-bar",
                                      "a four-bar of four parallel hinges in space",
                                      "motion of a pendulum, by Jacobi's functions",
                                      false,
                                      run_redundant,
                                      NULL};
