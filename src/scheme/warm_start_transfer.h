/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start_transfer.h - impulses of contacts that are no longer listed, as a guess for those in their place
 * (docs/solvers/warm-start.md).
 *
 * Faces that lie on each other touch in the corners of their common area, and bodies that lie still move by rounding
 * of the solver: corners are then now a vertex on a face, now an edge on an edge. What a contact of the last step
 * carried goes, as a vector in space, to the nearest one between the same bodies.
 */
#ifndef SALTUSI_WARM_START_TRANSFER_H
#define SALTUSI_WARM_START_TRANSFER_H

#include "operator/operator.h"
#include "scheme/scheme_ops.h"

typedef struct saltusi_warm_start_transfer {
  int* head; /* [nv] 1 + an active contact whose rows begin there, 0: none; NULL: nobody inherits */
  int* next; /* [nc] the same for the one after it */
  double* point; /* [3 nc] m, of active contacts; NaN: not asked for yet */
} saltusi_warm_start_transfer;

/* After the layout of the operator and of its warm start. */
void saltusi_warm_start_transfer_layout(saltusi_warm_start_transfer* ancestors,
                                        const saltusi_operator* op, const saltus_system* sys,
                                        saltus_arena* arena);

/* After the active contacts of a step are known: adds to the first guess. linear: entries of the velocity of a point of
 * a body at the start of its part of a row, 3 in space, 2 in the plane. */
void saltusi_warm_start_inherit(saltusi_warm_start_transfer* ancestors, saltusi_operator* op,
                                const saltus_system* sys, const saltus_point* at,
                                const saltus_contact_step* contacts, int linear);

#endif
