/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_toys.c - Newton's cradle, a woodpecker and a dimer made of bodies: what is kept, what repeats, and what two schemes
 * agree on.
 */
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

static machine_run prepare(const char* scene, const char* parameters) {
  return (machine_run){.scene = scene,
                       .text = potra_scene_text(scene),
                       .parameters = parameters,
                       .scheme = "adaptive",
                       .log = cli_log()};
}

/* Energy of a ball above its lowest point, over m L. */
static double energy_of(const machine_run* run, const char* ball, const char* rate) {
  const double L = 0.2, w = machine_value(run, rate);
  return L * w * w / 2 + 9.81 * (1.0 - cos(machine_value(run, ball)));
}

static int run_cradle(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const balls[5][2] = {
      {"a", "a'"}, {"b", "b'"}, {"c", "c'"}, {"d", "d'"}, {"e", "e'"}};
  for (int in = 1; in <= 2; in++) {
    machine_run run = prepare("machine-cradle", in == 2 ? "v2=1" : NULL);
    run.tol = 1e-10;
    run.until = 0.05;
    const saltus_status status = machine_go(&run);
    if (status != SALTUS_OK) {
      machine_free(&run);
      return cli_exit_code(status);
    }
    study_note_run(report, run.steps, run.work);
    double gone = 0.0, left = 0.0;
    for (int i = 0; i < 5; i++) {
      *(i >= 5 - in ? &gone : &left) += energy_of(&run, balls[i][0], balls[i][1]);
    }
    char id[128];
    /* strings are not quite level when balls meet 0.1 mm apart: (s / L)^2 */
    snprintf(id, sizeof id, "%d in: part of the energy that %d do not take", in, in);
    study_claim_most(report, id, left / (left + gone), 1e-4);
    snprintf(id, sizeof id, "%d in: energy that came [m^2/s^2]", in);
    study_claim_near(report, id, left + gone, in * 0.5 / 0.2, 1e-9);
    machine_free(&run);
  }
  return CLI_DONE;
}

/* Mean time between strikes of the beak behind 2 s, and the way down in it. */
static saltus_status peck(study_report* report, machine_run* run, double* period, double* drop) {
  const saltus_status status = machine_go(run);
  *period = *drop = (double)NAN;
  if (status != SALTUS_OK) {
    return status;
  }
  study_note_run(report, run->steps, run->work);
  double first = 0.0, last = 0.0;
  int count = 0;
  for (int i = 0; i < run->event_count; i++) {
    const saltus_event* event = &run->events[i];
    if (event->kind == SALTUS_EVENT_IMPACT && event->law == 0 && event->u_before < -0.1 &&
        event->t > 2.0) {
      first = count++ == 0 ? event->t : first;
      last = event->t;
    }
  }
  *period = count > 1 ? (last - first) / (count - 1) : *period;
  *drop = -machine_value(run, "sleeve.y") / run->until * *period;
  return SALTUS_OK;
}

/* Schemes of fixed steps, and how near the tolerance of 1e-10 they come: those through events know when the beak strikes, the
 * others to a step of a period of 0.13 s. */
static const struct {
  const char* scheme;
  double h, off; /* s */
} peckers[] = {{"dopri5", 4e-5, 1e-8},
               {"radau-iia-5", 4e-5, 1e-8},
               {"trapezoidal-implicit-mean", 4e-5, 1e-5},
               {"dg-minus", 4e-5, 5e-4},
               {"moreau-jean", 2e-5, 6e-4}};
enum { PECKERS = sizeof peckers / sizeof peckers[0] };

static int run_woodpecker(const cli_args* args, study_report* report) {
  (void)args;
  double period[2 + PECKERS], drop[2 + PECKERS];
  char id[96];
  for (int k = 0; k < 2 + PECKERS; k++) {
    machine_run run = prepare("machine-woodpecker", NULL);
    run.until = 4.0;
    run.tol = k == 0 ? 1e-10 : 1e-7;
    if (k >= 2) {
      run.scheme = peckers[k - 2].scheme;
      run.h = peckers[k - 2].h;
    }
    const saltus_status status = peck(report, &run, &period[k], &drop[k]);
    machine_free(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
  }
  study_measure(report, "period [s]", period[0]);
  study_measure(report, "way down in a period [m]", drop[0]);
  study_claim_error(report, "period at tol 1e-7 beside 1e-10 [s]", fabs(period[1] - period[0]),
                    1e-8);
  for (int k = 0; k < PECKERS; k++) {
    snprintf(id, sizeof id, "period by %s [s]", peckers[k].scheme);
    study_claim_error(report, id, fabs(period[2 + k] - period[0]), peckers[k].off);
    snprintf(id, sizeof id, "way down by %s", peckers[k].scheme);
    study_claim_near(report, id, drop[2 + k], drop[0], 1e-2);
  }
  /* the linear geometry of the literature: 0.14598 s, 19.45 mm */
  study_claim_range(report, "period beside that of the linear geometry", period[0] / 0.14598, 0.8,
                    1.1);
  return CLI_DONE;
}

/* ---- dimer ---- */

/* The way along the plate in the second of two seconds, and how regularly the right bead strikes at its end. */
typedef struct drift {
  double speed;  /* m/s */
  double uneven; /* s: largest distance of a time between strikes from the period of the plate */
  int strikes;
} drift;

static saltus_status shake(study_report* report, machine_run* run, drift* out) {
  double x[2] = {0.0, 0.0};
  *out = (drift){0.0, 0.0, 0};
  for (int k = 0; k < 2; k++) {
    run->until = 1.0 + k;
    const saltus_status status = machine_go(run);
    if (status != SALTUS_OK) {
      return status;
    }
    (k == 0 ? study_note_run : study_add_to_run)(report, run->steps, run->work);
    x[k] = machine_value(run, "dimer.x");
    if (k == 0) {
      machine_free(run);
      run->states = run->contacts = 0;
    }
  }
  out->speed = x[1] - x[0];
  run->after = 1.6; /* what is left of the start shrinks by a third in each period */
  const saltus_event* last = NULL;
  for (const saltus_event* at = NULL;
       (at = machine_event(run, SALTUS_EVENT_IMPACT, "right_bead", out->strikes + 1)) != NULL;
       last = at) {
    out->uneven = last != NULL ? fmax(out->uneven, fabs(at->t - last->t - 0.04)) : 0.0;
    out->strikes++;
  }
  return SALTUS_OK;
}

static int run_dimer(const cli_args* args, study_report* report) {
  (void)args;
  enum { RUNS = 5 };
  drift all[RUNS];
  double h[3], error[3];
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < RUNS && status == SALTUS_OK; k++) {
    machine_run run = prepare("machine-dimer", NULL);
    run.tol = k == 0 ? 1e-10 : 1e-7;
    if (k >= 2) {
      run.scheme = "moreau-jean";
      h[k - 2] = run.h = 8e-5 * pow(0.25, k - 2);
    }
    status = shake(report, &run, &all[k]);
    if (k >= 2) {
      error[k - 2] = fabs(all[k].speed - all[0].speed);
    } else if (status == SALTUS_OK) {
      study_claim_most(report, k == 0 ? "tol 1e-10: remainder [J]" : "tol 1e-7: remainder [J]",
                       fabs(run.ledger.remainder), 1e-9);
    }
    machine_free(&run);
  }
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  study_measure(report, "speed along the plate [m/s]", all[0].speed);
  study_claim_range(report, "strikes of the right bead in ten periods", all[0].strikes, 10, 10);
  study_claim_error(report, "time between them beside the period [s]", all[0].uneven, 1e-9);
  study_claim_error(report, "speed at tol 1e-7 beside 1e-10 [m/s]",
                    fabs(all[1].speed - all[0].speed), 1e-8);
  for (int i = 0; i < 3; i++) {
    char id[96];
    /* a strike is a step late at most, at 0.24 m/s, in each of 25 periods */
    snprintf(id, sizeof id, "moreau-jean, step %g s: speed beside adaptive [m/s]", h[i]);
    study_claim_error(report, id, error[i], 6.0 * h[i]);
  }
  study_add_series(report, "moreau-jean: speed along the plate", 3, h, error, error);
  report->first_label = "error of the speed [m/s]";
  report->one_number = true;
  return CLI_DONE;
}

const study study_machine_dimer = {"machine-dimer",
                                   "friction carries a dimer along a plate that shakes",
                                   "agreement of schemes",
                                   false,
                                   run_dimer,
                                   NULL};
const study study_machine_cradle = {"machine-cradle",
                                    "as many balls leave a cradle as came",
                                    "momentum and energy",
                                    false,
                                    run_cradle,
                                    NULL};
const study study_machine_woodpecker = {
    "machine-woodpecker",   "a woodpecker with the geometry of bodies",
    "agreement of schemes", false,
    run_woodpecker,         NULL};
