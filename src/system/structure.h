/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * structure.h - matrices on the blocks that a system declares (saltus_structure).
 *
 * Values have the order of the callback `blocks`: the diagonal blocks in order, then for each pair (i, j) its block
 * in row i and its block in row j, every block row major.
 */
#ifndef SALTUSI_STRUCTURE_H
#define SALTUSI_STRUCTURE_H

#include "saltus/log.h"
#include "saltus/system.h"

static inline int saltusi_block_size(const saltus_structure* s, int i) {
  return s->start[i + 1] - s->start[i];
}

/* Number of all values, and of those in diagonal blocks. */
size_t saltusi_structure_values(const saltus_structure* s);
size_t saltusi_structure_diagonal_values(const saltus_structure* s);

int saltusi_structure_block_max(const saltus_structure* s);

/* y = A x */
void saltusi_structure_times(const saltus_structure* s, const double* values, const double* x,
                             double* y);

/* Values from a dense matrix [nv x nv], and a dense matrix from values. */
void saltusi_structure_gather(const saltus_structure* s, const double* A, double* values);
void saltusi_structure_spread(const saltus_structure* s, const double* values, double* A);

/* component[i]: component of block i in the graph of pairs, numbered in the order of their first blocks. Returns the
 * number of components. */
int saltusi_structure_components(const saltus_structure* s, int* component);

/* SALTUS_ERR_RANGE with a message unless the structure partitions nv velocities and its pairs are
 * ordered, in range and named once. */
saltus_status saltusi_structure_validate(const saltus_structure* s, int nv, saltus_log log);

#endif
