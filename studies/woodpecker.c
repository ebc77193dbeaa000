/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * woodpecker.c - period and fall of the woodpecker toy against the step, for several schemes
 * (Glocker 1995; Leine, Glocker & van Campen 2001; docs/theory/problems.md, 7.3). A cycle is the
 * time between upward crossings of phi_S = -0.3; cycles from the sixth on are averaged.
 */
#include "energy_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

/* By Moreau's midpoint rule with h = 2e-6 (docs/theory/problems.md, 7.3). */
static const double period = 0.14598;
static const double fall = 19.450e-3;

typedef struct cycles {
  double y, phi; /* one step before */
  double first_t, first_y, last_t, last_y;
  int crossings;
} cycles;

static void observe(energy_run* run, const saltus_sim* sim) {
  enum { FIRST = 6 };
  cycles* c = run->user;
  const double* q = saltus_sim_q(sim);
  if (c->phi < -0.3 && q[2] >= -0.3) {
    double part = (-0.3 - c->phi) / (q[2] - c->phi);
    c->last_t = saltus_sim_time(sim) - (1.0 - part) * run->h;
    c->last_y = c->y + part * (q[0] - c->y);
    c->crossings++;
    if (c->crossings == FIRST) {
      c->first_t = c->last_t;
      c->first_y = c->last_y;
    }
  }
  c->y = q[0];
  c->phi = q[2];
}

/* Mean period and fall of the cycles in 4 s. */
static int measure(study_report* report, const char* scheme, const char* options, double h,
                   double* T, double* dy) {
  cycles c = {.phi = -0.2788};
  energy_run run = {.scene = "woodpecker",
                    .scheme = scheme,
                    .options = options,
                    .h = h,
                    .until = 4.0,
                    .observe = observe,
                    .user = &c};
  int code = energy_go(&run);
  study_note_run(report, run.steps, run.work);
  int count = c.crossings - 6;
  *T = count > 0 ? (c.last_t - c.first_t) / count : NAN;
  *dy = count > 0 ? (c.first_y - c.last_y) / count : NAN;
  return code;
}

/* The table of another program, with a unit of the last printed digit as tolerance. */
static const struct {
  double h, T, T_digit, fall, fall_digit; /* s, s, s, m, m */
} table[] = {{2e-4, 0.14662, 1e-5, 19.83e-3, 1e-5},  {1e-4, 0.14630, 1e-5, 19.63e-3, 1e-5},
             {5e-5, 0.14606, 1e-5, 19.49e-3, 1e-5},  {2e-5, 0.14604, 1e-5, 19.48e-3, 1e-5},
             {1e-5, 0.14599, 1e-5, 19.456e-3, 1e-6}, {2e-6, 0.14598, 1e-5, 19.450e-3, 1e-6}};

enum { LEVELS = 5 };

static int run_scheme(study_report* report, const char* scheme, const char* options) {
  double h[LEVELS];
  double e_T[LEVELS];
  double e_y[LEVELS];
  char text[128];
  for (int k = 0; k < LEVELS; k++) {
    double T;
    double dy;
    int code = measure(report, scheme, options, table[k].h, &T, &dy);
    if (code != CLI_DONE) {
      return code;
    }
    h[k] = table[k].h;
    e_T[k] = fabs(T - period);
    e_y[k] = fabs(dy - fall);
    if (table[k].h == 2e-5) {
      snprintf(text, sizeof text, "%s: period at h = 2e-5 [s]", scheme);
      study_claim_near(report, text, T, period, 1e-3);
      snprintf(text, sizeof text, "%s: fall at h = 2e-5 [mm]", scheme);
      study_claim_near(report, text, 1e3 * dy, 1e3 * fall, 3e-3);
    }
  }
  snprintf(text, sizeof text, "woodpecker, %s", scheme);
  study_add_series(report, text, LEVELS, h, e_T, e_y);
  return CLI_DONE;
}

/* The scheme of that program, number by number. */
static int run_table(study_report* report) {
  for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
    double T;
    double dy;
    int code = measure(report, "moreau-midpoint", "velocity=start", table[k].h, &T, &dy);
    if (code != CLI_DONE) {
      return code;
    }
    char text[128];
    snprintf(text, sizeof text, "table: period at h = %g [s]", table[k].h);
    study_claim_near(report, text, T, table[k].T, table[k].T_digit / table[k].T);
    snprintf(text, sizeof text, "table: fall at h = %g [mm]", table[k].h);
    study_claim_near(report, text, 1e3 * dy, 1e3 * table[k].fall,
                     table[k].fall_digit / table[k].fall);
  }
  return CLI_DONE;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const schemes[][2] = {{"moreau-midpoint", "velocity=start"},
                                           {"moreau-jean", NULL},
                                           {"variational", NULL},
                                           {"rattle", NULL},
                                           {"dg-minus", NULL}};
  report->first_label = "error of the period [s]";
  report->second_label = "error of the fall [m]";
  int code = CLI_DONE;
  for (int i = 0; i < 5 && code == CLI_DONE; i++) {
    code = run_scheme(report, schemes[i][0], schemes[i][1]);
  }
  return code == CLI_DONE ? run_table(report) : code;
}

const study study_woodpecker = {
    .name = "woodpecker",
    .summary = "period (first number) and fall (second) of the woodpecker against the step",
    .source = "Leine, Glocker & van Campen 2001; Glocker 1995",
    .run = run,
};
