/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * siconos_matrix.h - one matrix record of a Siconos text file.
 */
#ifndef SALTUSI_SICONOS_MATRIX_H
#define SALTUSI_SICONOS_MATRIX_H

#include "io/problem/entries.h"
#include "io/problem/tokens.h"

/* The matrix, in the pool; an error is stored in t->status. `name` is for messages: "W". */
void saltusi_siconos_matrix(saltusi_tokens* t, const char* name, saltusi_pool* pool,
                            saltus_csr* out);

#endif
