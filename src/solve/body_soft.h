/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_soft.h - Newton's method on velocities of bodies whose contacts give way. See body_soft.c.
 */
#ifndef SALTUSI_BODY_SOFT_H
#define SALTUSI_BODY_SOFT_H

#include "solve/body_krylov.h"
#include "solve/gauss_seidel.h"

typedef struct saltusi_soft_work {
  saltusi_body_krylov krylov;
  double* f;    /* [3 units] changes of impulses where velocities stay as they are */
  double* K;    /* [9 units] and what they lose by those of velocities */
  double* best; /* [3 units] */
} saltusi_soft_work;

/* Bytes that problems of so many contacts and bodies need at most. */
size_t saltusi_soft_room(int units, int bodies);

/* For a problem whose bodies are prepared, in `buffer`, which may be used for something else afterwards. */
saltus_status saltusi_soft_reserve(saltusi_soft_work* work, const saltusi_bodies* b,
                                   saltusi_buffer* buffer, const saltus_allocator* memory);

typedef struct saltusi_soft_settings {
  int steps;
  double tol;
  double known; /* normalised residual of r; 0: to be found */
} saltusi_soft_settings;

/* On in->bodies from r, which gets the best point; S of every contact is above zero. Iterations are steps. */
saltusi_stage saltusi_body_soft(saltusi_soft_work* work, saltusi_sweep_work* sweep,
                                saltusi_friction_case* in, const saltusi_soft_settings* settings,
                                double* r);

#endif
