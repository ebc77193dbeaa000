/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_arch.c - the masonry arch of scenes/contact-arch.yaml: the least thickness with which it stands, beside that of
 * limit analysis, and what it does above and below.
 *
 * Limit analysis (Heyman, Int. J. Solids Struct. 2 (1966)): without slip an arch stands where some line of thrust lies inside of
 * it. For 20 quadrilateral voussoirs a linear program over the forces in the joints gives t/R = 0.107348.
 */
#include "contact_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

enum { BISECTIONS = 14, HALVINGS = 3 };

static const double step = 1e-3; /* s */

/* h = 0: adaptive with a tolerance of 1e-8. */
static saltus_status go(study_report* report, double thickness, double h, double until,
                        contact_run* run) {
  char parameters[64];
  snprintf(parameters, sizeof parameters, "s=%.17g", thickness);
  *run = (contact_run){.scene = "contact-arch",
                       .parameters = parameters,
                       .scheme = h > 0.0 ? "moreau-jean" : "adaptive",
                       .tol = 1e-8,
                       .h = h,
                       .until = until};
  saltus_status status = contact_go(run);
  run->parameters = NULL;
  if (status == SALTUS_OK) {
    study_note_run(report, run->steps, run->work);
  }
  return status;
}

/* The least thickness that stands, between `lo` that falls and `hi` that stands: voussoirs that do not move in the first
 * steps are in equilibrium and never will; those that fall have an acceleration in proportion to what is missing. */
static saltus_status least_thickness(study_report* report, double lo, double hi, double* least) {
  for (int k = 0; k < BISECTIONS; k++) {
    double middle = 0.5 * (lo + hi);
    contact_run run;
    saltus_status status = go(report, middle, step, 5.0 * step, &run);
    if (status != SALTUS_OK) {
      return status;
    }
    bool moves = fabs(contact_output(&run, "rate")) > 1e-12;
    lo = moves ? middle : lo;
    hi = moves ? hi : middle;
  }
  *least = 0.5 * (lo + hi);
  return SALTUS_OK;
}

/* Steps of moreau-jean come nearer to the motion that adaptive follows. */
static int compare_falls(study_report* report) {
  contact_run run;
  saltus_status status = go(report, 0.1067, 0.0, 0.2, &run);
  double exact = status == SALTUS_OK ? contact_output(&run, "crown") : 0.0;
  double h[HALVINGS], error[HALVINGS];
  for (int k = 0; k < HALVINGS && status == SALTUS_OK; k++) {
    h[k] = step / (1 << k);
    status = go(report, 0.1067, h[k], 0.2, &run);
    error[k] = fabs(contact_output(&run, "crown") - exact);
  }
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  study_add_series(report, "t/R = 0.1067, crown at 0.2 s", HALVINGS, h, error, error);
  study_claim_range(report, "t/R = 0.1067, crown at 0.2 s: order of moreau-jean towards adaptive",
                    log(error[0] / error[HALVINGS - 1]) / log(1 << (HALVINGS - 1)), 0.8, 1.5);
  return CLI_DONE;
}

static int run_arch(const cli_args* args, study_report* report) {
  (void)args;
  report->first_label = "error of the crown [m]";
  report->one_number = true;
  contact_run stands, falls, rests;
  double least = 0.0;
  saltus_status status = go(report, 0.1080, step, 0.5, &stands);
  status = status == SALTUS_OK ? go(report, 0.1067, step, 0.5, &falls) : status;
  status = status == SALTUS_OK ? go(report, 0.1080, 0.0, 0.5, &rests) : status;
  status = status == SALTUS_OK ? least_thickness(report, 0.1067, 0.1080, &least) : status;
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  double height = contact_output(&stands, "crown");
  study_claim_error(report, "t/R = 0.1080 stands: speed of the crown at 0.5 s",
                    fabs(contact_output(&stands, "rate")), 1e-12);
  study_claim_error(report, "t/R = 0.1080 stands: friction and impacts [J]",
                    fabs(stands.ledger.friction) + fabs(stands.ledger.impact), 1e-12);
  study_claim_error(report, "t/R = 0.1080 stands in adaptive: speed of the crown at 0.5 s",
                    fabs(contact_output(&rests, "rate")), 1e-12);
  study_claim_error(report, "t/R = 0.1080 stands in adaptive: movement of the crown [m]",
                    fabs(contact_output(&rests, "crown") - height), 1e-12);
  study_claim_range(report, "t/R = 0.1067 falls: movement of the crown in 0.5 s [m]",
                    contact_output(&falls, "crown") - height, -0.1, -0.02);
  study_claim_near(report, "least t/R that stands", least, 0.107348, 5e-6);
  return compare_falls(report);
}

const study study_contact_arch = {"contact-arch",
                                  "an arch of twenty voussoirs stands, or falls",
                                  "limit analysis, Heyman 1966",
                                  false,
                                  run_arch,
                                  NULL};
