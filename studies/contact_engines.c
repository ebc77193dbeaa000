/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_engines.c - the problems on which engines of rigid bodies differ from closed forms: heights of bounces, rest,
 * creep, stopping distances, slip to roll, spin, free rotation, a turntable, a rocking block, a column. What `adaptive` has
 * to keep to its tolerance, and what `moreau-jean` keeps to rounding or to its order at 1/240 s.
 */
#include "contact_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

enum { DIRECTIONS = 36, HALVINGS = 3 };

#define G 9.81
#define FRAME (1.0 / 240.0)
#define TOL 1e-8
#define ROUNDING 1e-12
#define ONE_IMPACT (CONTACT_EVENT(SALTUS_EVENT_IMPACT))
#define TWO_IMPACTS (CONTACT_EVENT(SALTUS_EVENT_IMPACT) + 1)
#define REST (CONTACT_EVENT(SALTUS_EVENT_ACCUMULATION))

typedef struct engine_number {
  const char* what; /* of the scene's outputs, or of an event */
  double expected;
  double most; /* allowed error */
  int instant; /* CONTACT_EVENT, or 0: the output */
} engine_number;

typedef struct engine_case {
  const char *label, *scene, *parameters;
  double h; /* s, of moreau-jean; 0: adaptive with TOL */
  double until;
  int count;
  engine_number numbers[3];
} engine_case;

/* Three turns of the circle of radius 0.875 m: a distance of 6 pi 0.875 m, of which the rate keeps its tolerance. */
#define THREE_TURNS (6.0 * 3.14159265358979323846 * 0.875)

static const engine_case cases[] = {
    {"bounce with e = 1", "contact-bounce", "e=1", 0.0, 10.0, 1, {{"apex", 1.0, TOL, 0}}},
    {"bounce with e = 1, 1/240 s",
     "contact-bounce",
     "e=1",
     FRAME,
     10.0,
     1,
     {{"apex", 1.0, ROUNDING, 0}}},
    {"bounce with e = 0.5",
     "contact-bounce",
     "e=0.5",
     0.0,
     10.0,
     2,
     {{"time of rest", 1.354570922955661, TOL, REST}, {"height", 0.0, TOL, 0}}},
    {"bounce with e = 0.5, 1/240 s",
     "contact-bounce",
     "e=0.5",
     FRAME,
     10.0,
     2,
     {{"height", 0.0, G* FRAME* FRAME, 0}, {"speed", 0.0, ROUNDING, 0}}},
    {"block on a slope of 20 deg",
     "contact-creep",
     NULL,
     0.0,
     10.0,
     2,
     {{"creep", 0.0, ROUNDING, 0}, {"rate", 0.0, ROUNDING, 0}}},
    {"block on a slope of 20 deg, 1/240 s",
     "contact-creep",
     NULL,
     FRAME,
     10.0,
     2,
     {{"creep", 0.0, ROUNDING, 0}, {"rate", 0.0, ROUNDING, 0}}},
    {"slip to roll",
     "contact-slip-to-roll",
     NULL,
     0.0,
     0.197082665890005,
     2,
     {{"vx", 0.7142857142857143, TOL, 0}, {"x", 0.1546422850485758, TOL, 0}}},
    {"slip to roll, 1/240 s",
     "contact-slip-to-roll",
     NULL,
     FRAME,
     0.2,
     2,
     {{"vx", 0.7142857142857143, ROUNDING, 0}, {"x", 0.1567260951270009, FRAME* FRAME, 0}}},
    {"spinning bounce, stick",
     "contact-spin-bounce",
     "mu=0.3 vx=1 vz=-1 wy=0",
     0.0,
     0.5,
     3,
     {{"vx", 0.7142857142857143, TOL, 0},
      {"vz", 0.8, TOL, 0},
      {"wy", 7.142857142857143, 10 * TOL, 0}}},
    {"spinning bounce, stick, 1/240 s",
     "contact-spin-bounce",
     "mu=0.3 vx=1 vz=-1 wy=0",
     FRAME,
     0.5,
     3,
     {{"vx", 0.7142857142857143, ROUNDING, 0},
      {"vz", 0.8, ROUNDING, 0},
      {"wy", 7.142857142857143, ROUNDING, 0}}},
    {"spinning bounce, slip",
     "contact-spin-bounce",
     "mu=0.3 vx=5 vz=-1 wy=0",
     0.0,
     0.5,
     3,
     {{"vx", 4.46, TOL, 0}, {"vz", 0.8, TOL, 0}, {"wy", 13.5, 10 * TOL, 0}}},
    {"spinning bounce, slip, 1/240 s",
     "contact-spin-bounce",
     "mu=0.3 vx=5 vz=-1 wy=0",
     FRAME,
     0.5,
     3,
     {{"vx", 4.46, ROUNDING, 0}, {"vz", 0.8, ROUNDING, 0}, {"wy", 13.5, ROUNDING, 0}}},
    /* after half a period; errors grow 20 times on the way (bodies-free-rotation) */
    {"free rotation",
     "bodies-free-rotation",
     NULL,
     0.0,
     12.370398615029489,
     3,
     {{"wx", 0.0, 20 * TOL, 0}, {"wy", -2.0, 20 * TOL, 0}, {"wz", 1e-4, 20 * TOL, 0}}},
    {"ball on a turntable, three turns",
     "contact-turntable",
     NULL,
     0.0,
     32.98672286269283,
     2,
     {{"y", 0.0, 10 * THREE_TURNS* TOL, 0}, {"speed", 0.5, 10 * TOL, 0}}},
    {"rocking block",
     "contact-rocking",
     "b=0.4 h=1.2",
     0.0,
     1.0,
     2,
     {{"impact 1", 0.387295076314793, TOL, ONE_IMPACT},
      {"impact 2", 0.943069678832233, 10 * TOL, TWO_IMPACTS}}},
    {"rocking block, 1/240 s",
     "contact-rocking",
     "b=0.4 h=1.2",
     FRAME,
     1.0,
     1,
     {{"impact 1", 0.387295076314793, FRAME, ONE_IMPACT}}},
    {"column of ten cubes, 1/240 s",
     "contact-column",
     NULL,
     FRAME,
     10.0,
     2,
     {{"lost", 0.0, ROUNDING, 0}, {"drift", 0.0, ROUNDING, 0}}},
};

static saltus_status go(study_report* report, const engine_case* of, contact_run* run) {
  *run = (contact_run){.scene = of->scene,
                       .parameters = of->parameters,
                       .scheme = of->h > 0.0 ? "moreau-jean" : "adaptive",
                       .tol = TOL,
                       .h = of->h,
                       .until = of->until};
  saltus_status status = contact_go(run);
  if (status == SALTUS_OK) {
    study_note_run(report, run->steps, run->work);
  }
  return status;
}

static int run_case(study_report* report, const engine_case* of) {
  contact_run run;
  saltus_status status = go(report, of, &run);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  for (int i = 0; i < of->count; i++) {
    const engine_number* number = &of->numbers[i];
    char id[128];
    snprintf(id, sizeof id, "%s: error of %s", of->label, number->what);
    double value = number->instant > 0 ? contact_instant(&run, number->instant)
                                       : contact_output(&run, number->what);
    double off = fabs(value - number->expected);
    study_claim_error(report, id, isnan(off) ? INFINITY : off, number->most);
  }
  return CLI_DONE;
}

/* v^2/(2 mu g) in every direction; a step that ends at rest is off by less than mu g h^2. */
static int stop_in_all_directions(study_report* report, double h) {
  double worst = 0.0, aside = 0.0, yaw = 0.0;
  for (int k = 0; k < DIRECTIONS; k++) {
    char direction[64];
    snprintf(direction, sizeof direction, "dir=%d*pi/%d", k, DIRECTIONS / 2);
    const engine_case of = {
        .scene = "contact-stopping", .parameters = direction, .h = h, .until = 0.5};
    contact_run run;
    saltus_status status = go(report, &of, &run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    worst = fmax(worst, fabs(contact_output(&run, "distance") - 1.0 / (2.0 * 0.3 * G)));
    aside = fmax(aside, fabs(contact_output(&run, "aside")));
    yaw = fmax(yaw, fabs(contact_output(&run, "yaw")));
  }
  const char* with = h > 0.0 ? ", 1/240 s" : "";
  char id[128];
  snprintf(id, sizeof id, "block stops, 36 directions%s: error of the distance", with);
  study_claim_error(report, id, worst, h > 0.0 ? 0.3 * G * h * h : 10.0 * TOL);
  snprintf(id, sizeof id, "block stops, 36 directions%s: movement aside", with);
  study_claim_error(report, id, aside, ROUNDING);
  snprintf(id, sizeof id, "block stops, 36 directions%s: yaw", with);
  study_claim_error(report, id, yaw, ROUNDING);
  return CLI_DONE;
}

/* With fixed steps the ball gains speed on the turntable, by the order of the scheme. */
static int turn_with_steps(study_report* report) {
  double h[HALVINGS], gain[HALVINGS], behind[HALVINGS];
  for (int k = 0; k < HALVINGS; k++) {
    h[k] = FRAME / (1 << k);
    const engine_case of = {.scene = "contact-turntable", .h = h[k], .until = 33.0};
    contact_run run;
    saltus_status status = go(report, &of, &run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    gain[k] = fabs(contact_output(&run, "speed") / 0.5 - 1.0);
    behind[k] = fabs(contact_output(&run, "y") - 0.875 * sin(33.0 * 4.0 / 7.0));
  }
  study_add_series(report, "speed on the turntable", HALVINGS, h, gain, behind);
  study_claim_range(report, "turntable, moreau-jean: order of the speed",
                    log(gain[0] / gain[HALVINGS - 1]) / log(1 << (HALVINGS - 1)), 0.9, 1.1);
  study_claim_most(report, "turntable, 1/240 s: gain of speed in three turns", gain[0], 0.025);
  return CLI_DONE;
}

static int run_engines(const cli_args* args, study_report* report) {
  (void)args;
  report->first_label = "gain of speed";
  report->second_label = "distance from the exact place [m]";
  int code = CLI_DONE;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] && code == CLI_DONE; i++) {
    code = run_case(report, &cases[i]);
  }
  code = code == CLI_DONE ? stop_in_all_directions(report, 0.0) : code;
  code = code == CLI_DONE ? stop_in_all_directions(report, FRAME) : code;
  return code == CLI_DONE ? turn_with_steps(report) : code;
}

const study study_contact_engines = {
    "contact-engines", "problems on which engines of rigid bodies differ from closed forms",
    "closed form",     false,
    run_engines,       NULL};
