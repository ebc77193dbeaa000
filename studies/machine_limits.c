/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_limits.c - what machines tend to: the four-bar as its clearances go to zero, the cam over a hundred turns.
 */
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

static machine_run prepare(const char* scene, const char* parameters, double tol, double until) {
  return (machine_run){.scene = scene,
                       .text = potra_scene_text(scene),
                       .parameters = parameters,
                       .scheme = "adaptive",
                       .tol = tol,
                       .until = until,
                       .log = cli_log()};
}

static saltus_status go(study_report* report, machine_run* run) {
  const saltus_status status = machine_go(run);
  if (status == SALTUS_OK) {
    study_note_run(report, run->steps, run->work);
  }
  return status;
}

/* Slope of log y over log x, least squares. */
static double order_of(int count, const double* x, const double* y) {
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (int i = 0; i < count; i++) {
    const double u = log(x[i]), v = log(y[i]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* ---- clearances ---- */

static int run_clearance(const cli_args* args, study_report* report) {
  (void)args;
  enum { SIZES = 6 };
  const double until = 0.2;
  double c[SIZES], angle[SIZES], force[SIZES];
  machine_run ideal = prepare("machine-four-bar-ideal", NULL, 1e-10, until);
  ideal.mean = true;
  saltus_status status = machine_go(&ideal);
  for (int i = 0; i < SIZES && status == SALTUS_OK; i++) {
    char parameters[64];
    c[i] = 4e-3 * pow(0.5, i);
    snprintf(parameters, sizeof parameters, "e=0 mu=0 c=%.17g", c[i]);
    machine_run run = prepare("machine-four-bar", parameters, 1e-9, until);
    run.mean = true;
    status = go(report, &run);
    angle[i] = fabs(machine_value(&run, "crank.angle") - machine_value(&ideal, "crank.angle"));
    force[i] = hypot(machine_value(&run, "fx") - machine_value(&ideal, "fx"),
                     machine_value(&run, "fy") - machine_value(&ideal, "fy"));
    machine_free(&run);
  }
  machine_free(&ideal);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  study_add_series(report, "crank angle and mean force of its pivot", SIZES, c, angle, force);
  report->x_label = "clearance [m]";
  report->first_label = "angle [rad]";
  report->second_label = "mean force [N]";
  study_claim_range(report, "order of the angle in the clearance", order_of(SIZES, c, angle), 0.95,
                    1.05);
  study_claim_range(report, "order of the mean force in the clearance", order_of(SIZES, c, force),
                    0.7, 1.4);
  study_claim_most(report, "angle at 0.125 mm [rad]", angle[SIZES - 1], 1e-3);
  return CLI_DONE;
}

/* ---- a hundred turns of the cam ---- */

/* Leaving times of every turn; the largest distance from those of the first. */
static int run_period(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* parameters;
    double turn;
    double leaves[2];  /* s, closed form; 0: once */
    double strikes[2]; /* s, the first two impacts of a turn */
  } speeds[] = {
      {"rpm=120",
       0.5,
       {0.08358246040994213, 0.1646833426059667},
       {0.089138862180781291, 0.091314941867377095}},
      {"rpm=150", 0.4, {0.0668659683279537, 0.0}, {0.089291730411477586, 0.10195592064989746}}};
  const double tol = 1e-8;
  for (int k = 0; k < 2; k++) {
    machine_run run =
        prepare("machine-cam-follower", speeds[k].parameters, tol, 100 * speeds[k].turn);
    const saltus_status status = go(report, &run);
    if (status != SALTUS_OK) {
      machine_free(&run);
      return cli_exit_code(status);
    }
    double worst = 0.0;
    int seen[2] = {0, 0}, struck[2] = {0, 0};
    for (int i = 0; i < run.event_count; i++) {
      const saltus_event* event = &run.events[i];
      const double phase = fmod(event->t, speeds[k].turn);
      for (int j = 0; j < 2 && event->kind == SALTUS_EVENT_OPEN && speeds[k].leaves[j] > 0.0; j++) {
        const double off = fabs(phase - speeds[k].leaves[j]);
        if (off < 1e-3) {
          worst = fmax(worst, off);
          seen[j]++;
        }
      }
      for (int j = 0; j < 2 && event->kind == SALTUS_EVENT_IMPACT; j++) {
        const double off = fabs(phase - speeds[k].strikes[j]);
        if (off < 1e-4) {
          worst = fmax(worst, off);
          struck[j]++;
        }
      }
    }
    char id[128];
    snprintf(id, sizeof id, "%s: turns in which it leaves where it did first",
             speeds[k].parameters);
    study_claim_range(report, id, seen[0], 100, 100);
    if (speeds[k].leaves[1] > 0.0) {
      snprintf(id, sizeof id, "%s: and for the second time", speeds[k].parameters);
      study_claim_range(report, id, seen[1], 100, 100);
    }
    snprintf(id, sizeof id, "%s: turns with the first impact of the first", speeds[k].parameters);
    study_claim_range(report, id, struck[0], 100, 100);
    snprintf(id, sizeof id, "%s: turns with its second", speeds[k].parameters);
    study_claim_range(report, id, struck[1], 100, 100);
    snprintf(id, sizeof id, "%s: times of 100 turns", speeds[k].parameters);
    study_claim_error(report, id, worst, 10 * tol);
    machine_free(&run);
  }
  return CLI_DONE;
}

const study study_machine_clearance = {"machine-clearance-limit",
                                       "a four-bar as its clearances go to zero",
                                       "ideal joints",
                                       false,
                                       run_clearance,
                                       NULL};
const study study_machine_period = {"machine-cam-period",
                                    "a hundred turns of a cam, all alike",
                                    "flights in closed form",
                                    false,
                                    run_period,
                                    NULL};
