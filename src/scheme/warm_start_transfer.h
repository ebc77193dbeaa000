/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start_transfer.h - impulses of contacts that are no longer listed, as initial guess for their replacements
 * (docs/solvers/warm-start.md).
 *
 * Faces in contact touch at the corners of their common area. Solver errors move bodies at rest, so that a corner
 * alternates between vertex-face and edge-edge. The impulse of a contact of the last step goes, as a vector in space,
 * to the nearest contact between the same bodies.
 */
#ifndef SALTUSI_WARM_START_TRANSFER_H
#define SALTUSI_WARM_START_TRANSFER_H

#include "operator/operator.h"
#include "scheme/scheme_ops.h"

typedef struct saltusi_warm_start_transfer {
  int* head;     /* [nv] 1 + an active contact whose rows begin there, 0: none; NULL: no transfer */
  int* next;     /* [nc] the same for the one after it */
  double* point; /* [3 nc] m, of active contacts; NaN: not evaluated yet */
} saltusi_warm_start_transfer;

/* After the layout of the operator and of its warm start. */
void saltusi_warm_start_transfer_layout(saltusi_warm_start_transfer* ancestors,
                                        const saltusi_operator* op, const saltus_system* sys,
                                        saltus_arena* arena);

/* After the active contacts of a step are determined: adds to the initial guess. linear: leading
 * entries of a row per body that belong to the velocity of a point, 3 in space, 2 in the plane. */
void saltusi_warm_start_inherit(saltusi_warm_start_transfer* ancestors, saltusi_operator* op,
                                const saltus_system* sys, const saltus_point* at,
                                const saltus_contact_step* contacts, int linear);

#endif
