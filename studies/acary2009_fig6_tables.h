/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_fig6_tables.h - largest errors of q that Runge-Kutta schemes with event capturing have to
 * show, computed by an independent program (docs/theory/event-capturing.md, 5).
 */
#ifndef STUDIES_ACARY2009_FIG6_TABLES_H
#define STUDIES_ACARY2009_FIG6_TABLES_H

enum { EVENT_TABLE_GRIDS = 4, EVENT_TABLE_ROWS = 10 };

typedef struct event_table_row {
  const char* scheme;
  double error[EVENT_TABLE_GRIDS]; /* largest |q - exact| */
} event_table_row;

typedef struct event_table {
  const char* problem;
  double t_end;
  long long steps[EVENT_TABLE_GRIDS];
  event_table_row rows[EVENT_TABLE_ROWS];
} event_table;

const event_table* event_table_at(int i); /* NULL past the end */

#endif
