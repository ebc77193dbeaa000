/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_fig2.c - the empirical order of Moreau's scheme on the bouncing ball (E1) and on the
 * oscillator (E2), figure 2 of Acary 2009. Expected numbers: docs/theory/moreau-jean.md, 5.
 */
#include "low_order_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Primes: impacts of E1 fall on dyadic times, where a grid of 2^k steps would meet them exactly. */
static const long long grids[] = {151,  211,  283,  401,  557,  809,  1103,
                                  1601, 2203, 3203, 4409, 6421, 8803, 11987};
enum { GRIDS = sizeof grids / sizeof grids[0] };

static double v_inf(const study_row* r) {
  return r->error.v.inf;
}

/* The columns of the table of errors. */
static const struct {
  const char* name;
  study_pick pick;
} columns[] = {{"q inf", study_q_inf},     {"q L1", study_q_l1}, {"q L2", study_q_l2},
               {"q graph", study_q_graph}, {"v L1", study_v_l1}, {"v L2", study_v_l2},
               {"v graph", study_v_graph}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Ball to 5 s, theta = 1/2, gamma = 1. */
static const struct {
  long long steps;
  double value[COLUMNS];
} table[] = {
    {211, {2.093e-02, 1.583e-02, 1.269e-02, 1.507e-02, 1.044e-01, 1.490e-01, 5.213e-02}},
    {401, {1.111e-02, 8.284e-03, 6.717e-03, 8.013e-03, 6.109e-02, 1.082e-01, 3.774e-02}},
    {809, {5.555e-03, 6.319e-03, 4.999e-03, 6.789e-03, 5.422e-02, 1.540e-01, 1.642e-02}},
    {1601, {2.804e-03, 2.041e-03, 1.695e-03, 2.024e-03, 1.829e-02, 5.522e-02, 1.376e-02}},
    {3203, {1.090e-03, 1.109e-03, 8.507e-04, 1.093e-03, 1.073e-02, 4.325e-02, 8.176e-03}},
    {6421, {7.004e-04, 5.070e-04, 4.235e-04, 5.058e-04, 4.875e-03, 2.736e-02, 5.035e-03}},
};

static void claim_table(study_report* report, const study_series* series) {
  for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
    const study_row* row = study_find(report, series, table[k].steps);
    for (int c = 0; c < COLUMNS && row != NULL; c++) {
      char id[128];
      snprintf(id, sizeof id, "ball to 5 s, N = %lld, %s", table[k].steps, columns[c].name);
      study_claim_near(report, id, columns[c].pick(row), table[k].value[c], 0.02);
    }
  }
}

/* Orders to accept (docs/theory/moreau-jean.md, 2.3): least squares over all grids. */
typedef struct order_claim {
  const char* norm;
  study_pick pick;
  double lo, hi;
} order_claim;

static void claim_orders(study_report* report, const study_series* series,
                         const order_claim* claims, int count) {
  for (int i = 0; i < count; i++) {
    char id[192];
    snprintf(id, sizeof id, "order of %s, %s", claims[i].norm, series->label);
    study_claim_range(report, id, study_order(report, series, claims[i].pick), claims[i].lo,
                      claims[i].hi);
  }
}

static const order_claim positions[] = {{"q inf", study_q_inf, 0.8, 1.25},
                                        {"q L1", study_q_l1, 0.8, 1.25},
                                        {"q L2", study_q_l2, 0.8, 1.25},
                                        {"q graph", study_q_graph, 0.8, 1.25}};
static const order_claim velocities[] = {{"v L1", study_v_l1, 0.85, 1.1},
                                         {"v L2", study_v_l2, 0.4, 0.7},
                                         {"v graph", study_v_graph, 0.7, 0.95}};
static const order_claim before_accumulation[] = {{"v graph", study_v_graph, 0.95, 1.05}};
static const order_claim second[] = {{"q inf", study_q_inf, 1.95, 2.05}};
static const order_claim first[] = {{"q inf", study_q_inf, 0.95, 1.05}};

/* The velocity does not converge uniformly: its error stays about as large as a jump. */
static void claim_jumps(study_report* report, const study_series* series, double least) {
  double smallest = INFINITY;
  for (int i = series->first; i < series->first + series->count; i++) {
    smallest = fmin(smallest, v_inf(&report->rows[i]));
  }
  char id[192];
  snprintf(id, sizeof id, "smallest v inf, %s", series->label);
  study_claim_range(report, id, smallest, least, 4.0);
}

/* All impacts of the undamped oscillator see the same phase of the grid, so that the error jumps by
 * a factor 10 between grids: the envelope counts, not the slope. */
static void claim_envelope(study_report* report, const study_series* series) {
  double worst = 0.0;
  for (int i = series->first; i < series->first + series->count; i++) {
    worst = fmax(worst, study_q_l1(&report->rows[i]) / report->rows[i].h);
  }
  char id[192];
  snprintf(id, sizeof id, "largest q L1 / h, %s", series->label);
  study_claim_most(report, id, worst, 25.0);
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char *problem, *options;
    double t_end;
  } plans[] = {
      {"ball", "theta=0.5 gamma=1", 5.0},       {"ball", "theta=1 gamma=1", 5.0},
      {"oscillator", "theta=0.5 gamma=1", 5.0}, {"oscillator-damped", "theta=0.5 gamma=1", 5.0},
      {"oscillator", "theta=0.5 gamma=1", 0.2}, {"oscillator", "theta=1 gamma=1", 0.2},
      {"ball", "theta=0.5 gamma=1", 2.45},
  };
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
    int code = study_run_problem(report, plans[i].problem, "moreau-jean", plans[i].options,
                                 plans[i].t_end, grids, GRIDS);
    if (code != CLI_DONE) {
      return code;
    }
  }
  const study_series* series = report->series;
  claim_table(report, &series[0]);
  claim_orders(report, &series[0], positions, 4);
  claim_orders(report, &series[0], velocities, 3);
  claim_jumps(report, &series[0], 0.7);
  claim_orders(report, &series[1], positions, 4);
  claim_envelope(report, &series[2]);
  claim_orders(report, &series[3], positions, 4);
  claim_orders(report, &series[3], velocities, 1);
  claim_orders(report, &series[4], second, 1); /* before the first impact */
  claim_orders(report, &series[5], first, 1);
  claim_orders(report, &series[6], positions, 4);
  claim_orders(report, &series[6], before_accumulation, 1);
  return low_order_run(report, "moreau-jean");
}

const study study_acary2009_fig2 = {
    .name = "acary2009-fig2",
    .summary = "order of Moreau-Jean on the bouncing ball and the impact oscillator",
    .source = "Acary 2009 (RR-7151), figure 2 and section 2",
    .run = run,
};
