/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compare_state.h - shared state of a comparison.
 */
#ifndef SALTUSI_COMPARE_STATE_H
#define SALTUSI_COMPARE_STATE_H

#include "base/pool.h"
#include "saltus/compare.h"

/* The public part is a member, so that one pointer serves both. */
typedef struct saltusi_comparison {
  saltus_comparison out;
  saltusi_pool pool;
  saltus_allocator allocator;
  saltus_compare_def def;
} saltusi_comparison;

/* Positions at instants and graphs; out.start and out.end are set. */
saltus_status saltusi_compare_motions(saltusi_comparison* c);
/* Events, matched one to one. */
saltus_status saltusi_compare_events(saltusi_comparison* c);

#endif
