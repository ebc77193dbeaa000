/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * table.h - a text table and its pool.
 */
#ifndef SALTUSI_TABLE_H
#define SALTUSI_TABLE_H

#include "base/pool.h"
#include "saltus/recording.h"

typedef struct saltusi_table {
  saltus_table table; /* first: the public pointer is this one */
  saltusi_pool pool;
} saltusi_table;

/* Whether Saltus wrote the table; then a last line without line end is incomplete. */
bool saltusi_table_ours(const saltus_table* table);

#endif
