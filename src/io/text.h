/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * text.h - a text file in memory, split into lines and cells in place.
 */
#ifndef SALTUSI_TEXT_H
#define SALTUSI_TEXT_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

typedef struct saltusi_lines {
  char *at, *end; /* the rest */
  int number;     /* of the line last returned, from 1 */
  bool torn;      /* that line has no line end */
  bool returns;   /* the first line ends with a carriage return */
} saltusi_lines;

/* The whole file, in the pool. SALTUS_ERR_IO when it cannot be read, SALTUS_ERR_INPUT when it is
 * not text, both with a message; SALTUS_ERR_MEMORY. */
saltus_status saltusi_text_load(const char* path, saltus_log log, saltusi_pool* pool,
                                saltusi_lines* lines);

/* The next line, ended by a zero; NULL after the last one. */
char* saltusi_lines_next(saltusi_lines* lines);

/* Splits a line at commas outside quotes and removes the quotes. Returns the number of cells; cells beyond `most` are
 * counted, not stored. -1: a quote is not closed. */
int saltusi_cells_cut(char* line, char** cells, int most);

/* A number and nothing else. */
bool saltusi_cell_number(const char* cell, double* value);

#endif
