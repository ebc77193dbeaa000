/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_contact.c - time-discontinuous Galerkin schemes with closed contacts: a curved one, two at once,
 * and one that opens (docs/theory/problems.md, 6.4 to 6.6).
 */
#include "dg_series.h"

#include <math.h>
#include <stdio.h>

static const char* const closures[3] = {"velocity", "acceleration", "position"};

/* ---- T4: a closed curved contact ----------------------------------------------------------------- */

enum { BOWL_GRIDS = 4, BOWL_NUMBERS = 5 };
static const char* const bowl_names[BOWL_NUMBERS] = {"q", "v", "impulse", "end force", "drift"};

typedef struct bowl {
  double h[BOWL_GRIDS];
  double e[BOWL_NUMBERS][BOWL_GRIDS];
  int impacts, lost;
} bowl;

static saltus_status run_bowl(study_report* report, int family, int degree, int closure, bowl* b) {
  double q[2], v[2], impulse, force;
  dg_bowl_exact(q, v, &impulse, &force);
  saltus_dg_options o = dg_options(family, degree);
  o.closure = closure;
  *b = (bowl){.impacts = 0};
  for (int k = 0; k < BOWL_GRIDS; k++) {
    int steps = (degree < 4 ? 20 : 10) << k;
    dg_end end;
    saltus_status status =
        dg_motion_run(&dg_bowl, dg_families[family], &o, 1.0, steps, cli_log(), &end);
    if (status != SALTUS_OK) {
      return status;
    }
    study_note_run(report, steps, end.work);
    b->h[k] = 1.0 / steps;
    b->e[0][k] = fmax(fabs(end.q[0] - q[0]), fabs(end.q[1] - q[1]));
    b->e[1][k] = fmax(fabs(end.v[0] - v[0]), fabs(end.v[1] - v[1]));
    b->e[2][k] = fabs(end.lasting[0] - impulse);
    b->e[3][k] = fabs(end.force - force);
    b->e[4][k] = end.drift;
    b->impacts += end.impacts;
    b->lost += end.lost;
  }
  return SALTUS_OK;
}

/* Velocity closure of D1-, first and last grid. Degree 4 ends at rounding, with one digit. */
static const double bowl_first[4][BOWL_NUMBERS] = {{4.5e-3, 3.4e-2, 8.1e-3, 3.5e-1, 3.9e-3},
                                                   {3.8e-6, 3.8e-5, 1.0e-5, 4.3e-2, 4.1e-7},
                                                   {8.0e-7, 7.1e-6, 1.4e-6, 5.8e-4, 5.4e-7},
                                                   {7.4e-8, 6.0e-7, 2.7e-7, 5.4e-4, 1.5e-8}};
static const double bowl_last[3][BOWL_NUMBERS] = {{4.0e-5, 5.2e-4, 1.6e-4, 4.6e-2, 5.0e-5},
                                                  {6.8e-10, 9.4e-9, 1.9e-9, 6.9e-4, 7.1e-11},
                                                  {1.4e-10, 1.8e-9, 2.0e-10, 8.1e-7, 1.3e-10}};

static void claim_bowl(study_report* report, int family, int degree, int closure, const bowl* b) {
  static const int order[DG_DEGREES] = {0, 2, 4, 4, 6};
  char who[64];
  char id[128];
  snprintf(who, sizeof who, "%s degree %d, closure %s", dg_families[family], degree,
           closures[closure]);
  snprintf(id, sizeof id, "impulses, %s", who);
  study_claim_most(report, id, b->impacts, 0.0);
  snprintf(id, sizeof id, "steps without the contact, %s", who);
  study_claim_most(report, id, b->lost, 0.0);
  int fine = degree < 4 ? 3 : 2; /* degree 4 reaches rounding */
  snprintf(id, sizeof id, "order of v, %s", who);
  study_claim_range(report, id, dg_slope(2, b->h + fine - 1, b->e[1] + fine - 1),
                    order[degree] - 0.25, order[degree] + 0.25);
  if (closure == SALTUS_DG_POSITION) {
    snprintf(id, sizeof id, "drift, %s", who);
    study_claim_most(report, id, b->e[4][BOWL_GRIDS - 1], 4e-15);
    return;
  }
  if (family == 0) {
    double expected = closure == SALTUS_DG_VELOCITY ? degree : degree + 1;
    snprintf(id, sizeof id, "order of the force, %s", who);
    study_claim_range(report, id, dg_slope(2, b->h + fine - 1, b->e[3] + fine - 1), expected - 0.4,
                      expected + 0.4);
  }
  for (int k = 0; k < BOWL_NUMBERS && family == 0 && closure == SALTUS_DG_VELOCITY; k++) {
    snprintf(id, sizeof id, "%s at h = %g, %s", bowl_names[k], b->h[0], who);
    dg_claim_independent(report, id, b->e[k][0], bowl_first[degree - 1][k]);
    snprintf(id, sizeof id, "%s at h = %g, %s", bowl_names[k], b->h[BOWL_GRIDS - 1], who);
    if (degree < 4) {
      dg_claim_independent(report, id, b->e[k][BOWL_GRIDS - 1], bowl_last[degree - 1][k]);
    }
  }
}

static int run_closed(const cli_args* args, study_report* report) {
  (void)args;
  for (int family = 0; family < 2; family++) {
    for (int closure = 0; closure < (family == 0 ? 3 : 2); closure++) {
      for (int M = 1; M < DG_DEGREES; M++) {
        bowl b;
        saltus_status status = run_bowl(report, family, M, closure, &b);
        if (status != SALTUS_OK) {
          return cli_exit_code(status);
        }
        claim_bowl(report, family, M, closure, &b);
        char quantity[96];
        char method[32];
        snprintf(method, sizeof method, "degree %d", M);
        snprintf(quantity, sizeof quantity, "v: %s %s", dg_families[family], closures[closure]);
        dg_add(report, quantity, method, BOWL_GRIDS, b.h, b.e[1]);
        snprintf(quantity, sizeof quantity, "end force: %s %s", dg_families[family],
                 closures[closure]);
        dg_add(report, quantity, method, BOWL_GRIDS, b.h, b.e[3]);
      }
    }
  }
  return CLI_DONE;
}

const study study_dg_closed_contact = {
    .name = "dg-closed-contact",
    .summary = "time-DG schemes on a closed curved contact, all closures",
    .source = "docs/theory/problems.md, 6.4; exact: a pendulum",
    .run = run_closed,
};

/* ---- T5: two contacts ---------------------------------------------------------------------------- */

enum { BAR_GRIDS = 6, BAR_NEIGHBOURS = 8 };

/* Errors of gaps and of their rates at 0.19 s. */
static saltus_status run_bar(study_report* report, int family, const saltus_dg_options* o,
                             int steps, double e[2], double* impulse) {
  static const double gap[2] = {0.00304453, 0.01554931};
  static const double rate[2] = {-0.07230275, 0.30727707};
  static const double x[2] = {-0.2, 0.3};
  dg_end end;
  saltus_status status =
      dg_motion_run(&dg_bar, dg_families[family], o, 0.19, steps, cli_log(), &end);
  e[0] = e[1] = 0.0;
  for (int k = 0; k < 2; k++) {
    e[0] = fmax(e[0], fabs(end.q[0] + x[k] * end.q[1] - gap[k]));
    e[1] = fmax(e[1], fabs(end.v[0] + x[k] * end.v[1] - rate[k]));
  }
  *impulse = end.impulse[1];
  study_add_to_run(report, steps, end.work);
  return status;
}

static saltus_status claim_bar(study_report* report, int family, const saltus_dg_options* o,
                               const char* who) {
  double e[2];
  double impulse;
  char id[128];
  study_note_run(report, 0, (saltus_work){0});
  saltus_status status = run_bar(report, family, o, 343, e, &impulse);
  snprintf(id, sizeof id, "gaps after 343 steps, %s", who);
  dg_claim_independent(report, id, e[0], family == 0 ? 3.8e-4 : 4.5e-4);
  snprintf(id, sizeof id, "rates after 343 steps, %s", who);
  if (family == 0) {
    dg_claim_independent(report, id, e[1], 3.7e-3);
  } else {
    study_claim_most(report, id, e[1], 2.75e-3);
  }
  snprintf(id, sizeof id, "impulse of the impact, %s", who);
  study_claim_near(report, id, impulse, 0.91833828, 0.003);
  return status;
}

/* Means over neighbouring grids: where the impact falls in its step decides about single runs. */
static saltus_status mean_bar(study_report* report, int family, const saltus_dg_options* o,
                              int steps, double mean[2]) {
  mean[0] = mean[1] = 0.0;
  study_note_run(report, 0, (saltus_work){0});
  for (int i = 0; i < BAR_NEIGHBOURS; i++) {
    int n = steps + i * steps / 23;
    double e[2];
    double impulse;
    saltus_status status = run_bar(report, family, o, n, e, &impulse);
    if (status != SALTUS_OK) {
      return status;
    }
    mean[0] += e[0] * n / steps / BAR_NEIGHBOURS;
    mean[1] += e[1] * n / steps / BAR_NEIGHBOURS;
  }
  return SALTUS_OK;
}

static int run_multi(const cli_args* args, study_report* report) {
  (void)args;
  for (int family = 0; family < 2; family++) {
    for (int M = 1; M < DG_DEGREES; M++) {
      saltus_dg_options o = dg_options(family, M);
      char who[64];
      char method[32];
      snprintf(who, sizeof who, "%s degree %d", dg_families[family], M);
      snprintf(method, sizeof method, "degree %d", M);
      saltus_status status = claim_bar(report, family, &o, who);
      double h[BAR_GRIDS];
      double e[2][BAR_GRIDS];
      for (int k = 0; k < BAR_GRIDS && status == SALTUS_OK; k++) {
        double mean[2];
        status = mean_bar(report, family, &o, 171 << k, mean);
        h[k] = 0.19 / (171 << k);
        e[0][k] = mean[0];
        e[1][k] = mean[1];
      }
      if (status != SALTUS_OK) {
        return cli_exit_code(status);
      }
      for (int x = 0; x < 2; x++) {
        const char* what = x == 0 ? "gaps" : "rates of the gaps";
        char text[128];
        snprintf(text, sizeof text, "order of the %s, %s", what, who);
        study_claim_range(report, text, dg_slope(BAR_GRIDS, h, e[x]), 0.8, 1.2);
        snprintf(text, sizeof text, "%s: %s", what, dg_families[family]);
        dg_add(report, text, method, BAR_GRIDS, h, e[x]);
      }
    }
  }
  return CLI_DONE;
}

const study study_dg_multi_contact = {
    .name = "dg-multi-contact",
    .summary = "time-DG schemes: one end of a bar hits while the other is closed",
    .source = "docs/theory/problems.md, 6.5; exact: the bar",
    .run = run_multi,
};

/* ---- T6: take-off -------------------------------------------------------------------------------- */

enum { LIFT_GRIDS = 4, LIFT_NEIGHBOURS = 20 };

/* Means of e N^order over an octave of grids, scaled to its first. */
static saltus_status mean_take_off(study_report* report, int family, const saltus_dg_options* o,
                                   int steps, int order, double* mean) {
  const dg_ball* ball = dg_ball_find("take-off");
  *mean = 0.0;
  study_note_run(report, 0, (saltus_work){0});
  for (int i = 0; i < LIFT_NEIGHBOURS; i++) {
    int n = steps + (int)(0.95 * i * steps / LIFT_NEIGHBOURS);
    dg_errors e;
    saltus_status status = dg_ball_measure(ball, dg_families[family], o, n, cli_log(), &e);
    if (status != SALTUS_OK) {
      return status;
    }
    study_add_to_run(report, n, e.work);
    *mean += e.v * pow((double)n / steps, order) / LIFT_NEIGHBOURS;
  }
  return SALTUS_OK;
}

static int run_take_off(const cli_args* args, study_report* report) {
  (void)args;
  for (int family = 0; family < 2; family++) {
    for (int M = 0; M < DG_DEGREES; M++) {
      saltus_dg_options o = dg_options(family, M);
      int order = M == 0 ? 1 : 2;
      double h[LIFT_GRIDS];
      double e[LIFT_GRIDS];
      for (int k = 0; k < LIFT_GRIDS; k++) {
        saltus_status status = mean_take_off(report, family, &o, 20 << k, order, &e[k]);
        if (status != SALTUS_OK) {
          return cli_exit_code(status);
        }
        h[k] = 0.9 / (20 << k);
      }
      char text[128];
      char method[32];
      snprintf(text, sizeof text, "order of v through a take-off, %s degree %d",
               dg_families[family], M);
      study_claim_range(report, text, dg_slope(LIFT_GRIDS, h, e), order - 0.25, order + 0.25);
      snprintf(text, sizeof text, "v L_{1}: %s", dg_families[family]);
      snprintf(method, sizeof method, "degree %d", M);
      dg_add(report, text, method, LIFT_GRIDS, h, e);
    }
  }
  saltus_dg_options one = dg_options(0, 1);
  static const double independent[2] = {2.2e-3, 4.3e-5};
  for (int k = 0; k < 2; k++) {
    dg_errors e;
    int steps = k == 0 ? 20 : 160;
    saltus_status status =
        dg_ball_measure(dg_ball_find("take-off"), "dg-minus", &one, steps, cli_log(), &e);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    char id[96];
    snprintf(id, sizeof id, "v L1 through a take-off, dg-minus degree 1, %d steps", steps);
    dg_claim_independent(report, id, e.v, independent[k]);
  }
  return CLI_DONE;
}

const study study_dg_take_off = {
    .name = "dg-take-off",
    .summary = "time-DG schemes: a contact force ends inside a step",
    .source = "docs/theory/problems.md, 6.6",
    .run = run_take_off,
};
