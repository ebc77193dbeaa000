/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_studies.c - machines with clearances, cams and stops beside the numbers of machine_cases.c.
 */
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int run_case(study_report* report, const machine_case* of, double tol) {
  machine_run run = {.scene = of->scene,
                     .text = potra_scene_text(of->scene),
                     .parameters = of->parameters,
                     .scheme = "adaptive",
                     .tol = tol,
                     .until = of->until,
                     .least = of->least,
                     .after = of->after,
                     .log = cli_log()};
  const saltus_status status = machine_go(&run);
  if (status != SALTUS_OK) {
    machine_free(&run);
    return cli_exit_code(status);
  }
  study_note_run(report, run.steps, run.work);
  char id[128];
  for (int i = 0; i < of->count; i++) {
    const machine_number* number = &of->numbers[i];
    char what[80];
    machine_describe(number, what, sizeof what);
    snprintf(id, sizeof id, "%s, tol %.0e: %s", of->label, tol, what);
    const double off = fabs(machine_find(&run, number) - number->expected);
    study_claim_error(report, id, isnan(off) ? INFINITY : off,
                      number->off + number->tolerances * tol);
  }
  snprintf(id, sizeof id, "%s, tol %.0e: remainder of the energy [J]", of->label, tol);
  study_claim_most(report, id, fabs(run.ledger.remainder),
                   1e-9 + 100.0 * tol * fmax(1.0, fabs(run.ledger.impact)));
  snprintf(id, sizeof id, "%s, tol %.0e: impacts that create energy", of->label, tol);
  study_claim_most(report, id, (double)run.creations, 0.0);
  machine_free(&run);
  return CLI_DONE;
}

static int run_cases(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE, found = 0;
  for (int i = 0; machine_case_at(i) != NULL && code == CLI_DONE; i++) {
    const machine_case* of = machine_case_at(i);
    for (int k = 0; k < 2 && strcmp(of->study, report->study) == 0 && code == CLI_DONE; k++) {
      code = of->tolerance[k] > 0.0 ? run_case(report, of, of->tolerance[k]) : code;
      found++;
    }
  }
  return found > 0 ? code : CLI_FAILED;
}

/* ---- all impacts of the four-bar ---- */

/* Those above 20 mm/s: between them a journal bounces ever lower to rest, which fixed steps do not resolve. Behind the last
 * one the journals stay in contact. */
enum { FOUR_BAR_IMPACTS = 20 };
static const double four_bar_least = 0.02;

static saltus_status run_four_bar_with(study_report* report, machine_run* run) {
  run->scene = "machine-four-bar";
  run->text = potra_scene_text("machine-four-bar");
  run->until = 0.032;
  run->least = four_bar_least;
  run->log = cli_log();
  const saltus_status status = machine_go(run);
  study_note_run(report, run->steps, run->work);
  return status;
}

/* How many impacts in a row are the same, and how far they are apart. */
typedef struct agreement {
  int count;
  double time, impulse; /* s, N s: the largest, of impacts from 4 on */
} agreement;

static agreement compare_impacts(const machine_run* a, const machine_run* b) {
  agreement all = {0, 0.0, 0.0};
  for (int i = 1;; i++) {
    const saltus_event* x = machine_event(a, SALTUS_EVENT_IMPACT, NULL, i);
    const saltus_event* y = machine_event(b, SALTUS_EVENT_IMPACT, NULL, i);
    if (x == NULL || y == NULL || x->law != y->law || fabs(x->t - y->t) > 1e-4) {
      return all;
    }
    all.count = i;
    if (i >= 4) {
      all.time = fmax(all.time, fabs(x->t - y->t));
      all.impulse = fmax(all.impulse, fabs(x->impulse[0] - y->impulse[0]));
    }
  }
}

static void claim_agreement(study_report* report, const char* label, agreement found,
                            const double most[2]) {
  char id[128];
  snprintf(id, sizeof id, "%s: impacts above 20 mm/s, the same in turn", label);
  study_claim_range(report, id, found.count, FOUR_BAR_IMPACTS, FOUR_BAR_IMPACTS);
  snprintf(id, sizeof id, "%s: times of impacts 4 to %d [s]", label, (int)FOUR_BAR_IMPACTS);
  study_claim_error(report, id, found.time, most[0]);
  snprintf(id, sizeof id, "%s: impulses of impacts 4 to %d [N s]", label, (int)FOUR_BAR_IMPACTS);
  study_claim_error(report, id, found.impulse, most[1]);
}

static int run_four_bar(const cli_args* args, study_report* report) {
  enum { STEPS = 3 };
  int code = run_cases(args, report);
  if (code != CLI_DONE) {
    return code;
  }
  machine_run fine = {.scheme = "adaptive", .tol = 1e-11};
  machine_run coarse = {.scheme = "adaptive", .tol = 1e-8};
  machine_run radau = {.scheme = "radau-iia-5", .h = 4e-6};
  saltus_status status = run_four_bar_with(report, &fine);
  status = status == SALTUS_OK ? run_four_bar_with(report, &coarse) : status;
  status = status == SALTUS_OK ? run_four_bar_with(report, &radau) : status;
  if (status == SALTUS_OK) {
    claim_agreement(report, "adaptive, tol 1e-8 beside 1e-11", compare_impacts(&fine, &coarse),
                    (const double[2]){1e-8, 1e-8});
    claim_agreement(report, "radau-iia-5 beside adaptive", compare_impacts(&fine, &radau),
                    (const double[2]){1e-8, 1e-6});
  }
  double h[STEPS], time[STEPS], impulse[STEPS];
  for (int i = 0; i < STEPS && status == SALTUS_OK; i++) {
    char label[64];
    h[i] = 4e-6 * pow(0.25, i);
    machine_run moreau = {.scheme = "moreau-jean", .h = h[i]};
    status = run_four_bar_with(report, &moreau);
    const agreement found = compare_impacts(&fine, &moreau);
    machine_free(&moreau);
    snprintf(label, sizeof label, "moreau-jean, step %.1e s", h[i]);
    /* a strike is seen to a step; what adds up from strike to strike stays below ten, at 40 N */
    claim_agreement(report, label, found, (const double[2]){10.0 * h[i], 400.0 * h[i]});
    time[i] = found.time;
    impulse[i] = found.impulse;
  }
  if (status == SALTUS_OK) {
    study_add_series(report, "moreau-jean: impacts 4 to 20", STEPS, h, time, impulse);
    report->first_label = "largest distance of times [s]";
    report->second_label = "of impulses [N s]";
  }
  machine_free(&fine);
  machine_free(&coarse);
  machine_free(&radau);
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

#define FLORES "Flores, Leine, Glocker, Multibody System Dynamics 23 (2010)"
#define MACHINE_STUDY(id, name, summary, source)                                                   \
  const study study_machine_##id = {name, summary, source, false, run_cases, NULL};

MACHINE_STUDY(slider_crank, "machine-slider-crank",
              "corners of a slider strike in turns until it lies flat", FLORES)
MACHINE_STUDY(slider_crank_flat, "machine-slider-crank-flat",
              "both corners of a side strike together", FLORES)
const study study_machine_four_bar = {"machine-four-bar",
                                      "four-bar with three journals in clearance",
                                      "independent event-driven code, agreement of schemes",
                                      false,
                                      run_four_bar,
                                      NULL};
MACHINE_STUDY(cam, "machine-cam-follower", "a follower leaves its cam and comes back",
              "flights in closed form")
MACHINE_STUDY(arm, "machine-breaker-arm", "the arm of a circuit breaker strikes its stop",
              "closed form")
MACHINE_STUDY(dominoes, "machine-dominoes", "the first of a row of dominoes meets the next",
              "closed form")
MACHINE_STUDY(ratchet, "machine-ratchet", "a pawl lets its wheel turn one way, tooth by tooth",
              "geometry")
MACHINE_STUDY(rolling_ball, "machine-rolling-ball", "a ball rolls on a plane without slip",
              "closed form")
