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

#define FLORES "Flores, Leine, Glocker, Multibody System Dynamics 23 (2010)"
#define MACHINE_STUDY(id, name, summary, source)                                                   \
  const study study_machine_##id = {name, summary, source, false, run_cases, NULL};

MACHINE_STUDY(slider_crank, "machine-slider-crank",
              "corners of a slider strike in turns until it lies flat", FLORES)
MACHINE_STUDY(slider_crank_flat, "machine-slider-crank-flat",
              "both corners of a side strike together", FLORES)
MACHINE_STUDY(four_bar, "machine-four-bar", "four-bar with three journals in clearance",
              "independent event-driven code")
MACHINE_STUDY(cam, "machine-cam-follower", "a follower leaves its cam and comes back",
              "flights in closed form")
MACHINE_STUDY(arm, "machine-breaker-arm", "the arm of a circuit breaker strikes its stop",
              "closed form")
MACHINE_STUDY(dominoes, "machine-dominoes", "the first of a row of dominoes meets the next",
              "closed form")
