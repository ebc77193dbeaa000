/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_tolerance.c - friction laws in integration to a tolerance, on the motions of friction_cases.c: ends and periods
 * within ten tolerances of numbers that were computed twice by other means, and energy that is accounted for.
 */
#include "friction_tolerance.h"
#include "law_figures.h"

#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times at which sticking ended, the last two, and at which it began. */
typedef struct slips {
  double last, before, stuck;
} slips;

static saltus_status keep_slip(void* user, const saltus_event* event) {
  slips* s = user;
  if (event->kind == SALTUS_EVENT_SLIP) {
    s->before = s->last;
    s->last = event->t;
  }
  s->stuck = event->kind == SALTUS_EVENT_STICK ? event->t : s->stuck;
  return SALTUS_OK;
}

friction_outcome friction_tolerance_run(const friction_case* of, double tol, char* text,
                                        size_t size) {
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  slips found = {.last = NAN, .before = NAN, .stuck = NAN};
  friction_outcome out = {.value = NAN, .remainder = NAN, .stuck = NAN};
  const saltus_scene_def made = {
      .path = of->label, .text = of->scene, .log = saltus_log_keep(&kept)};
  saltus_status status = saltus_scene_create(&made, &scene);
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_adaptive_options options = saltus_adaptive_options_default();
    options.rtol = options.atol = tol;
    const saltus_recorder recorder = {.event = keep_slip, .user = &found};
    const saltus_sim_def def = {.system = view->system,
                                .scheme = "adaptive",
                                .options = &options,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .log = saltus_log_keep(&kept)};
    status = saltus_sim_create(&def, &sim);
  }
  if (status == SALTUS_OK && saltus_sim_run_until(sim, of->until) == SALTUS_OK) {
    out.value = of->coordinate < 0 ? found.last - found.before : saltus_sim_q(sim)[of->coordinate];
    out.remainder = saltus_sim_energy_total(sim).remainder;
    out.stuck = found.stuck;
    for (int i = 0; i < saltus_scene_get_view(scene)->system->dims.nv; i++) {
      out.speed = fmax(out.speed, fabs(saltus_sim_v(sim)[i]));
    }
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  snprintf(text, size, "%s", kept.text);
  return out;
}

/* The values are known to twelve digits. */
static const double digits = 2e-11;

/* Errors over the tolerance, which is that of a value of its size. */
static void claim_case(study_report* report, const friction_case* of) {
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
    double tol = tolerances[k];
    double size = fmax(1.0, fabs(of->value));
    char text[512];
    char id[160];
    friction_outcome out = friction_tolerance_run(of, tol, text, sizeof text);
    snprintf(id, sizeof id, "%s: error at %.0e, in tolerances", of->label, tol);
    study_claim_most(report, id, fmax(0.0, fabs(out.value - of->value) - digits) / (tol * size),
                     10.0);
    snprintf(id, sizeof id, "%s: remainder of energy at %.0e, in tolerances", of->label, tol);
    study_claim_most(report, id, fabs(out.remainder) / tol, 100.0);
  }
}

/* The cases of another study, with steps of fixed length there. */
static int run_cases_of(study_report* report, const char* name) {
  int found = 0;
  for (int i = 0; friction_case_at(i) != NULL; i++) {
    if (strcmp(friction_case_at(i)->study, name) == 0) {
      claim_case(report, friction_case_at(i));
      found++;
    }
  }
  return found > 0 ? CLI_DONE : CLI_FAILED;
}

/* Slip and spin of a disc have one status and one end, v / (mu g) times these. */
static int run_disc(const cli_args* args, study_report* report) {
  static const double times[] = {3.24220349944, 1.90322012681, 1.34029828212, 1.12168528545,
                                 1.0127715843};
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  (void)args;
  int code = run_cases_of(report, "law-patch");
  int disc = 0;
  for (int i = 0; friction_case_at(i) != NULL; i++) {
    const friction_case* of = friction_case_at(i);
    if (strncmp(of->label, "disc, d0", 8) != 0 || disc == 5) {
      continue;
    }
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
      char text[512];
      char id[160];
      friction_outcome out = friction_tolerance_run(of, tolerances[k], text, sizeof text);
      double late = fabs(out.stuck - times[disc] / (0.3 * 9.81));
      snprintf(id, sizeof id, "%s: time at which both end at %.0e, in tolerances", of->label,
               tolerances[k]);
      study_claim_most(report, id, fmax(0.0, late - digits) / tolerances[k], 10.0);
      snprintf(id, sizeof id, "%s: largest velocity after it at %.0e", of->label, tolerances[k]);
      study_claim_most(report, id, out.speed, 1e-30);
    }
    disc++;
  }
  return disc == 5 ? code : CLI_FAILED;
}
const study study_law_disc = {"law-disc",
                              "a disc stops sliding and spinning together, to a tolerance",
                              "two computations each; docs/laws.md",
                              false,
                              run_disc,
                              law_draw_disc};

#define LAW_STUDY(id, name, cases, draw, summary)                                                  \
  static int run_##id(const cli_args* args, study_report* report) {                                \
    (void)args;                                                                                    \
    return run_cases_of(report, cases);                                                            \
  }                                                                                                \
  const study study_law_##id = {name,  summary,  "two computations each; docs/laws.md",            \
                                false, run_##id, draw};

LAW_STUDY(stribeck, "law-stribeck", "law-belt", law_draw_stribeck,
          "periods of stick-slip to a tolerance: static and kinetic, two curves")
LAW_STUDY(ellipse, "law-ellipse", "law-elliptic", law_draw_ellipse,
          "where a block with elliptic friction ends, to a tolerance")
LAW_STUDY(resistance, "law-resistance", "law-rolling", NULL,
          "rolling, drilling, viscous and dry friction, a bond, to a tolerance")
