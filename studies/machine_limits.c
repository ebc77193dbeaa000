/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_limits.c - what machines tend to: the four-bar as its clearances go to zero, the cam over a hundred turns, the
 * simplest walker as its feet lose their mass.
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

/* ---- the walker ---- */

typedef struct stride {
  double angle, rate; /* of the new leg, just behind its strike */
  double time;        /* s, of the last step */
  int strikes;
} stride;

/* Walks `steps` steps and looks just behind the last strike. */
static saltus_status walk(study_report* report, const char* parameters, int steps, stride* out) {
  const double behind = 1e-8, tol = 1e-11;
  machine_run first = prepare("machine-walker", parameters, tol, 4.1 * steps);
  first.least = 1e-3;
  saltus_status status = go(report, &first);
  const saltus_event* last =
      status == SALTUS_OK ? machine_event(&first, SALTUS_EVENT_IMPACT, NULL, steps) : NULL;
  const saltus_event* before = steps > 1 && last != NULL
                                   ? machine_event(&first, SALTUS_EVENT_IMPACT, NULL, steps - 1)
                                   : NULL;
  if (last == NULL) {
    machine_free(&first);
    return status != SALTUS_OK ? status : SALTUS_ERR_INPUT;
  }
  const bool second = last->law == 1;
  const double t = last->t;
  out->time = t - (before != NULL ? before->t : 0.0);
  machine_run run = prepare("machine-walker", parameters, tol, t + behind);
  run.least = 1e-3;
  status = machine_go(&run);
  out->rate = machine_value(&run, second ? "leg2'" : "leg1'");
  out->angle = machine_value(&run, second ? "leg2" : "leg1") - behind * out->rate;
  out->strikes = 0;
  for (int i = 0; i < run.event_count; i++) {
    out->strikes += run.events[i].kind == SALTUS_EVENT_IMPACT;
  }
  machine_free(&first);
  machine_free(&run);
  return status;
}

/* Eigenvalues of the return map (angle, rate) -> (angle, rate) over one step, by central differences. */
static saltus_status multipliers(study_report* report, double b, const stride* at, double* real,
                                 double* imaginary) {
  const double d = 1e-5;
  double J[2][2];
  for (int k = 0; k < 2; k++) {
    stride side[2];
    for (int s = 0; s < 2; s++) {
      char parameters[160];
      const double move = s == 0 ? d : -d;
      snprintf(parameters, sizeof parameters, "b=%.17g th=%.17g w=%.17g", b,
               at->angle + (k == 0 ? move : 0.0), at->rate + (k == 1 ? move : 0.0));
      const saltus_status status = walk(report, parameters, 1, &side[s]);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    J[0][k] = (side[0].angle - side[1].angle) / (2.0 * d);
    J[1][k] = (side[0].rate - side[1].rate) / (2.0 * d);
  }
  const double half = 0.5 * (J[0][0] + J[1][1]);
  const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
  *real = half;
  *imaginary = sqrt(fmax(0.0, det - half * half));
  return SALTUS_OK;
}

static int run_walker(const cli_args* args, study_report* report) {
  (void)args;
  enum { MASSES = 3, STEPS = 40 };
  const double angle = 0.2003109, rate = -0.1998325, time = 3.882464; /* 7 digits are printed */
  double b[MASSES], e_angle[MASSES], e_rate[MASSES], real[MASSES], imaginary[MASSES];
  stride at[MASSES];
  char id[128];
  for (int i = 0; i < MASSES; i++) {
    char parameters[64];
    b[i] = pow(10.0, -2 - i);
    snprintf(parameters, sizeof parameters, "b=%.17g", b[i]);
    saltus_status status = walk(report, parameters, STEPS, &at[i]);
    status =
        status == SALTUS_OK ? multipliers(report, b[i], &at[i], &real[i], &imaginary[i]) : status;
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    e_angle[i] = fabs(at[i].angle - angle);
    e_rate[i] = fabs(at[i].rate - rate);
    snprintf(id, sizeof id, "feet of %.0e: angle of the fixed point, distance over mass", b[i]);
    study_claim_most(report, id, e_angle[i] / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: its rate, distance over mass", b[i]);
    study_claim_most(report, id, e_rate[i] / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: time of a step, distance over mass", b[i]);
    study_claim_most(report, id, fabs(at[i].time - time) / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: multiplier, distance", b[i]);
    study_claim_most(report, id, hypot(real[i] + 0.1901, imaginary[i] - 0.5576),
                     20.0 * b[i] + 2e-4);
    snprintf(id, sizeof id, "feet of %.0e: strikes in %d steps", b[i], (int)STEPS);
    study_claim_range(report, id, at[i].strikes, STEPS, STEPS);
  }
  study_add_series(report, "fixed point", MASSES, b, e_angle, e_rate);
  report->x_label = "mass of a foot over that of the hip";
  report->first_label = "angle [rad]";
  report->second_label = "rate [rad/s]";
  /* linear in the mass: what the last two lead to */
  study_claim_near(report, "angle, extrapolated", at[2].angle + (at[2].angle - at[1].angle) / 9.0,
                   angle, 1e-6);
  study_claim_near(report, "rate, extrapolated", at[2].rate + (at[2].rate - at[1].rate) / 9.0, rate,
                   1e-6);
  /* four digits are printed */
  study_claim_near(report, "real part of the multipliers, extrapolated",
                   real[2] + (real[2] - real[1]) / 9.0, -0.1901, 1e-3);
  study_claim_near(report, "imaginary part of the multipliers, extrapolated",
                   imaginary[2] + (imaginary[2] - imaginary[1]) / 9.0, 0.5576, 5e-4);
  study_claim_near(report, "time of a step, extrapolated",
                   at[2].time + (at[2].time - at[1].time) / 9.0, time, 1e-6);
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
const study study_machine_walker = {
    "machine-walker",
    "the simplest walker as its feet lose their mass",
    "Garcia, Chatterjee, Ruina, Coleman, J. Biomech. Eng. 120 (1998)",
    false,
    run_walker,
    NULL};
