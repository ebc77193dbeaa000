/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * low_order.c - runs of low-order schemes against the tables of low_order_tables.c.
 */
#include "low_order_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double column_of(const study_row* row, int column) {
  const saltusi_error_norms* e = column < 4 ? &row->error.q : &row->error.v;
  const double values[4] = {e->inf, e->l1, e->l2, e->hausdorff};
  return values[column % 4];
}

static void claim_columns(study_report* report, const study_series* series,
                          const low_order_table* table) {
  static const char* const names[LOW_ORDER_COLUMNS] = {"q inf", "q L1", "q L2", "q graph",
                                                       "v inf", "v L1", "v L2", "v graph"};
  for (int c = 0; c < LOW_ORDER_COLUMNS; c++) {
    double worst = 0.0;
    for (int i = 0; i < LOW_ORDER_GRIDS; i++) {
      double expected = table->rows[i].value[c];
      double measured = column_of(&report->rows[series->first + i], c);
      worst = fmax(worst, fabs(measured - expected) / expected);
    }
    char id[192];
    snprintf(id, sizeof id, "%s of the table, %s", names[c], series->label);
    study_claim_error(report, id, worst, 0.02);
  }
}

int low_order_run(study_report* report, const char* scheme) {
  const low_order_table* table;
  for (int k = 0; (table = low_order_table_at(k)) != NULL; k++) {
    if (strcmp(table->scheme, scheme) != 0) {
      continue;
    }
    long long steps[LOW_ORDER_GRIDS];
    for (int i = 0; i < LOW_ORDER_GRIDS; i++) {
      steps[i] = table->rows[i].steps;
    }
    int code = study_run_problem(report, table->problem, scheme, table->options, table->t_end,
                                 steps, LOW_ORDER_GRIDS);
    if (code != CLI_DONE) {
      return code;
    }
    claim_columns(report, &report->series[report->series_count - 1], table);
  }
  return CLI_DONE;
}
