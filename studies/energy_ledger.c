/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy_ledger.c - the numerical remainder of the energy ledger against the step, for every scheme:
 * a bouncing ball (E1), a double pendulum at a wall (E3), the woodpecker and a block on a spring with
 * dry friction. What the ledger cannot attribute to forces, friction and impacts is the error of the
 * scheme: it is rounding, or vanishes with the order of the scheme.
 */
#include "energy_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct ledger_case {
  const char* scene;
  saltus_override set; /* name NULL: none */
  double until;        /* s, not at an impact */
  int steps;           /* of the coarsest grid */
  double energy;       /* J that is exchanged */
  bool friction;
} ledger_case;

/* The woodpecker starts without the penetration of the published start: what pushes it out is work
 * that no smaller step makes smaller. */
static const ledger_case cases[] = {
    {.scene = "ball", .until = 2.4, .steps = 120, .energy = 2.0},
    {.scene = "pendulum-wall", .until = 1.0, .steps = 200, .energy = 7.0},
    {.scene = "woodpecker",
     .set = {"start", "-0.1034"},
     .until = 0.3,
     .steps = 1500,
     .energy = 2e-3,
     .friction = true},
    {.scene = "coulomb-block", .until = 1.5, .steps = 150, .energy = 4.5, .friction = true},
};

enum { CASES = sizeof cases / sizeof cases[0], LEVELS = 4, GRIDS = 7 };

/* Remainders below this part of the energy are rounding. */
static const double rounding = 1e-11;

static void keep_total(energy_run* run, const saltus_sim* sim) {
  double* remainder = run->user;
  *remainder = fabs(saltus_sim_energy_total(sim).remainder);
}

/* Mean over neighbouring grids: where impacts fall in their steps decides about single runs. */
static int remainder_of(study_report* report, const char* scheme, const ledger_case* c, int steps,
                        double* mean) {
  *mean = 0.0;
  study_note_run(report, 0, (saltus_work){0});
  for (int k = 0; k < GRIDS; k++) {
    double last = 0.0;
    int count = steps + k * steps / 19;
    energy_run run = {.scene = c->scene,
                      .overrides = &c->set,
                      .override_count = c->set.name != NULL ? 1 : 0,
                      .scheme = scheme,
                      .h = c->until / count,
                      .until = c->until,
                      .ledger = true,
                      .observe = keep_total,
                      .user = &last};
    int code = energy_go(&run);
    if (code != CLI_DONE) {
      return code;
    }
    study_add_to_run(report, run.steps, run.work);
    *mean += last / GRIDS;
  }
  return CLI_DONE;
}

/* Slope over the points above rounding; the number of those. */
static int slope_of(const double* h, const double* e, double floor, double* slope) {
  int count = 0;
  while (count < LEVELS && e[count] > floor) {
    count++;
  }
  *slope = saltus_slope(count, h, e);
  return count;
}

static void claim(study_report* report, const saltus_scheme_info* info, const ledger_case* c,
                  const double* h, const double* e) {
  char id[128];
  double slope;
  int count = slope_of(h, e, rounding * c->energy, &slope);
  if (count < 2) {
    snprintf(id, sizeof id, "%s on %s: remainder is rounding [J]", info->name, c->scene);
    study_claim_most(report, id, e[LEVELS - 1], rounding * c->energy);
    return;
  }
  /* sticking begins and ends inside steps, which leaves order 1 to every fixed step; single slopes of
   * first order scatter by a third */
  bool first = info->order == 1 || c->friction;
  double least = first ? 0.6 : info->order - 0.3;
  snprintf(id, sizeof id, "%s on %s: slope of the remainder", info->name, c->scene);
  study_claim_range(report, id, slope, least, 9.0);
}

/* Schemes that choose their steps: work is taken along their own motion, however long the steps, so the
 * remainder is their error and follows the tolerance. */
static int run_chosen(study_report* report, const saltus_scheme_info* info, const ledger_case* c) {
  static const char* const tolerances[] = {"rtol=1e-4 atol=1e-4", "rtol=1e-6 atol=1e-6",
                                           "rtol=1e-8 atol=1e-8"};
  static const double tol[] = {1e-4, 1e-6, 1e-8};
  const double most = 10.0; /* tolerances; the local errors of a run add up */
  int code = CLI_DONE;
  for (int k = 0; k < 3 && code == CLI_DONE; k++) {
    double last = 0.0;
    energy_run run = {.scene = c->scene,
                      .overrides = &c->set,
                      .override_count = c->set.name != NULL ? 1 : 0,
                      .scheme = info->name,
                      .options = tolerances[k],
                      .until = c->until,
                      .ledger = true,
                      .observe = keep_total,
                      .user = &last};
    code = energy_go(&run);
    char id[128];
    snprintf(id, sizeof id, "%s on %s: remainder over energy, tolerance %g", info->name, c->scene,
             tol[k]);
    study_claim_most(report, id, last / c->energy, most * tol[k]);
  }
  return code;
}

static int run_case(study_report* report, const saltus_scheme_info* info, const ledger_case* c) {
  double h[LEVELS];
  double e[LEVELS];
  double none[LEVELS];
  for (int k = 0; k < LEVELS; k++) {
    h[k] = c->until / (c->steps << k);
    none[k] = NAN;
    int code = remainder_of(report, info->name, c, c->steps << k, &e[k]);
    if (code != CLI_DONE) {
      return code;
    }
  }
  char label[128];
  snprintf(label, sizeof label, "%s, %s", c->scene, info->name);
  study_add_series(report, label, LEVELS, h, e, none);
  claim(report, info, c, h, e);
  return CLI_DONE;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE;
  report->first_label = "remainder [J]";
  report->one_number = true;
  for (int i = 0; i < CASES && code == CLI_DONE; i++) {
    for (int k = 0; k < saltus_scheme_count() && code == CLI_DONE; k++) {
      const saltus_scheme_info* info = saltus_scheme_at(k);
      if (cases[i].friction && (info->treats & SALTUS_TREATS_FRICTION) == 0) {
        continue;
      }
      code = info->chooses_step ? run_chosen(report, info, &cases[i])
                                : run_case(report, info, &cases[i]);
    }
  }
  return code;
}

const study study_energy_ledger = {
    .name = "energy-ledger",
    .summary = "numerical remainder of the energy ledger against the step, every scheme",
    .source = "include/saltus/ledger.h",
    .run = run,
};
