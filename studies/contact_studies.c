/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_studies.c - bodies with shapes against closed forms: scenes contact-... run to tolerances, their outputs and
 * instants of impacts beside the numbers that formulas give (contact_cases.c).
 */
#include "contact_cases.h"
#include "contact_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOLERANCES = 3, MOST_NUMBERS = 8 };

static const double tolerances[TOLERANCES] = {1e-6, 1e-8, 1e-10};

/* One case with one tolerance: its numbers, and the largest error over max(1, |number|). */
static saltus_status run_case(study_report* report, const contact_case* of, double tol,
                              double numbers[MOST_NUMBERS], double* worst) {
  contact_run run = {.scene = of->scene,
                     .parameters = of->parameters,
                     .scheme = "adaptive",
                     .tol = tol,
                     .until = of->until};
  saltus_status status = contact_go(&run);
  *worst = 0.0;
  if (status != SALTUS_OK) {
    return status;
  }
  study_note_run(report, run.steps, run.work);
  for (int i = 0; i < of->count; i++) {
    const contact_number* number = &of->numbers[i];
    const int impact = CONTACT_EVENT(SALTUS_EVENT_IMPACT) + number->impact - 1;
    numbers[i] =
        number->impact > 0 ? contact_instant(&run, impact) : contact_output(&run, number->what);
    double off = fabs(numbers[i] - number->expected) / fmax(1.0, fabs(number->expected));
    *worst = isnan(off) ? INFINITY : fmax(*worst, off);
  }
  return SALTUS_OK;
}

static int sweep_case(study_report* report, const contact_case* of) {
  double error[TOLERANCES], numbers[MOST_NUMBERS];
  char id[128];
  for (int k = 0; k < TOLERANCES; k++) {
    double worst;
    saltus_status status = run_case(report, of, tolerances[k], numbers, &worst);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    snprintf(id, sizeof id, "%s, %.0e: error in tolerances", of->label, tolerances[k]);
    study_claim_error(report, id, worst / tolerances[k], of->allowed > 0.0 ? of->allowed : 10.0);
    error[k] = fmax(worst, 1e-16); /* a figure of logarithms */
  }
  for (int i = 0; i < of->count;
       i++) { /* our number beside the accepted one, at the last tolerance */
    const contact_number* number = &of->numbers[i];
    snprintf(id, sizeof id, "%s: %s", of->label, number->what);
    if (number->expected == 0.0) {
      study_claim_error(report, id, fabs(numbers[i]), 1e-9);
    } else {
      study_claim_near(report, id, numbers[i], number->expected, 1e-8);
    }
  }
  study_add_series(report, of->label, TOLERANCES, tolerances, error, error);
  return CLI_DONE;
}

static int run_cases(const cli_args* args, study_report* report) {
  (void)args;
  report->x_label = "tolerance";
  report->first_label = "error of the worst number";
  report->one_number = true;
  int code = CLI_DONE, found = 0;
  for (int i = 0; contact_case_at(i) != NULL && code == CLI_DONE; i++) {
    if (strcmp(contact_case_at(i)->study, report->study) == 0) {
      code = sweep_case(report, contact_case_at(i));
      found++;
    }
  }
  return found > 0 ? code : CLI_FAILED;
}

#define CLOSED "closed form"
#define CONTACT_STUDY(id, name, summary, source)                                                   \
  const study study_contact_##id = {name, summary, source, false, run_cases, NULL};

CONTACT_STUDY(bounce, "contact-spin-bounce", "a ball with spin hits the ground", CLOSED)
CONTACT_STUDY(roll, "contact-slip-to-roll", "a ball slides until it rolls", CLOSED)
CONTACT_STUDY(turntable, "contact-turntable", "a ball rolls on a turntable", CLOSED)
CONTACT_STUDY(incline, "contact-incline", "a box slides down an incline, or stays", CLOSED)
CONTACT_STUDY(corner, "contact-corner-impact",
              "a rectangle and a cube hit the ground with a corner", CLOSED)
CONTACT_STUDY(rod, "contact-rod", "a rod falls on a smooth floor", CLOSED)
CONTACT_STUDY(rocking, "contact-rocking", "a block rocks between its corners",
              "Housner, Bull. Seism. Soc. Am. 53 (1963)")
CONTACT_STUDY(cradle, "contact-cradle", "three balls, touching and apart", CLOSED)
CONTACT_STUDY(groove, "contact-groove", "a bar slides along a groove", CLOSED)
CONTACT_STUDY(stack, "contact-tilted-stack", "five cubes on a tilted table stand, or tip as one",
              CLOSED)
