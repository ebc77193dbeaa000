/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * low_order_tables.h - numbers that low-order schemes have to show, as data.
 */
#ifndef LOW_ORDER_TABLES_H
#define LOW_ORDER_TABLES_H

#include "study.h"

enum { LOW_ORDER_GRIDS = 6, LOW_ORDER_COLUMNS = 8 };

typedef struct low_order_table {
  const char *problem, *scheme, *options;
  double t_end;
  struct {
    long long steps;
    double value[LOW_ORDER_COLUMNS]; /* q inf, L1, L2, graph; v inf, L1, L2, graph */
  } rows[LOW_ORDER_GRIDS];
} low_order_table;

const low_order_table* low_order_table_at(int i); /* NULL past the end */

/* Runs every table of a scheme and claims each of its columns, the largest deviation within 2 %. */
int low_order_run(study_report* report, const char* scheme);

#endif
