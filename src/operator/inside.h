/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * inside.h - what the sources of the operator share.
 */
#ifndef SALTUSI_OPERATOR_INSIDE_H
#define SALTUSI_OPERATOR_INSIDE_H

#include "operator/operator.h"

/* From this many rows on sparse storage is looked for; below, dense is as fast. */
enum { SALTUSI_SPARSE_FROM = 16 };

void saltusi_band_layout(saltusi_operator* op, const saltus_dims* dims, int rows,
                         saltus_arena* arena);

/* Which items have a column: counting sort of the entries of G by column, items ascending, into row_start
 * and row_list. Item i is row first[i], which stands for all rows of a contact; NULL: row i. */
void saltusi_operator_sort(saltusi_operator* op, int nv, const int* first, int items);

/* W as a band; false when it is none. */
bool saltusi_band_form(saltusi_operator* op, int nv);

/* The band as one dense matrix, for the rare one that the banded solvers do not master; false when that
 * is too large. */
bool saltusi_band_spread(saltusi_operator* op, int nv);

/* W as blocks of contacts that share a velocity; false when there are too many of them. */
bool saltusi_blocks_form(saltusi_operator* op, int nv);

void saltusi_dense_form(saltusi_operator* op, const saltusi_eval* eval);

#endif
