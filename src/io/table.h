/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * table.h - a text table and the pool it lives in.
 */
#ifndef SALTUSI_TABLE_H
#define SALTUSI_TABLE_H

#include "base/pool.h"
#include "saltus/recording.h"

typedef struct saltusi_table {
  saltus_table table; /* first: the public pointer is this one */
  saltusi_pool pool;
} saltusi_table;

/* Whether Saltus wrote the table: then a last line without its end is an unfinished one. */
bool saltusi_table_ours(const saltus_table* table);

#endif
