/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_law_studies.c - friction laws with steps of fixed length: where motions end and how long they take
 * (friction_cases.c), to the first order in the step.
 */
#include "friction_cases.h"
#include "law_figures.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const schemes[] = {"moreau-jean", "moreau-jean-projected", "moreau-midpoint"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* Largest error near a step: stops fall anywhere into a step. */
static double error_near(const friction_case* of, const char* scheme, double h) {
  static const double parts[] = {1.0, 0.93, 0.87};
  double worst = 0.0;
  char text[512];
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const double miss =
        fabs(friction_case_run(of, scheme, parts[k] * h, text, sizeof text) - of->value);
    worst = miss <= worst ? worst : miss; /* NaN stays */
  }
  return worst;
}

static void claim_case(study_report* report, const friction_case* of, const char* scheme) {
  const double h = 0.004, coarse = error_near(of, scheme, h),
               fine = error_near(of, scheme, h / 8.0);
  char id[160];
  snprintf(id, sizeof id, "%s, %s: error at h = 0.004", scheme, of->label);
  study_claim_most(report, id, coarse, of->constant * h);
  snprintf(id, sizeof id, "%s, %s: error at h = 0.0005", scheme, of->label);
  study_claim_most(report, id, fine, of->constant * h / 8.0);
  snprintf(id, sizeof id, "%s, %s: order", scheme, of->label);
  study_measure(report, id, log2(coarse / fine) / 3.0);
}

static int run_cases(const cli_args* args, study_report* report) {
  (void)args;
  int found = 0;
  for (int i = 0; friction_case_at(i) != NULL; i++) {
    for (int k = 0; k < SCHEMES && strcmp(friction_case_at(i)->study, report->study) == 0; k++) {
      claim_case(report, friction_case_at(i), schemes[k]);
      found++;
    }
  }
  return found > 0 ? CLI_DONE : CLI_FAILED;
}

/* The curve of slip: U_1 = U_2^((nu_1 / nu_2)^2), here U_1 = U_2^2 from (1, 1); largest miss of it. */
static double hodograph(const friction_case* of, double h) {
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  double worst = NAN;
  const saltus_scene_def made = {.path = of->label, .text = of->scene};
  if (saltus_scene_create(&made, &scene) == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_sim_def def = {
        .system = view->system, .scheme = "moreau-jean", .h = h, .q0 = view->q0, .v0 = view->v0};
    if (saltus_sim_create(&def, &sim) == SALTUS_OK) {
      worst = 0.0;
    }
  }
  while (sim != NULL && saltus_sim_time(sim) < of->until && saltus_sim_step(sim) == SALTUS_OK) {
    const double* v = saltus_sim_v(sim);
    worst = fmax(worst, fabs(v[0] - v[1] * v[1]));
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return worst;
}

static int run_elliptic(const cli_args* args, study_report* report) {
  const friction_case* associated = friction_case_at(0);
  const double coarse = hodograph(associated, 0.004), fine = hodograph(associated, 0.0005);
  study_claim_most(report, "associated: U_1 = U_2^2 at h = 0.004", coarse, 0.004);
  study_claim_most(report, "associated: U_1 = U_2^2 at h = 0.0005", fine, 0.0005);
  return run_cases(args, report);
}

#define NOTE "closed forms and differential equations; docs/laws.md"
const study study_law_elliptic = {
    "law-elliptic", "elliptic friction: curve and end of a sliding block",
    NOTE,           false,
    run_elliptic,   law_draw_ellipse};
const study study_law_rolling = {
    "law-rolling", "rolling, drilling, viscous and dry friction, adhesion with fixed steps",
    NOTE,          false,
    run_cases,     NULL};
const study study_law_ball = {"law-ball", "a sphere and a plane as shapes with rolling friction",
                              NOTE,       false,
                              run_cases,  NULL};
const study study_law_patch = {"law-patch",
                               "a disc that slides and spins on its patch, with fixed steps",
                               "Farkas et al. 2003",
                               false,
                               run_cases,
                               law_draw_disc};
const study study_law_belt = {
    "law-belt", "periods of stick-slip under three laws, with fixed steps",
    NOTE,       false,
    run_cases,  law_draw_stribeck};
