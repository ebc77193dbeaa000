/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_newton_compliant.h - Newton's method on velocities of bodies with compliant contacts. See
 * body_newton_compliant.c.
 */
#ifndef SALTUSI_BODY_NEWTON_COMPLIANT_H
#define SALTUSI_BODY_NEWTON_COMPLIANT_H

#include "solve/body_space/body_krylov.h"
#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_compliant_work {
  saltusi_body_krylov krylov;
  double* f;    /* [3 units] changes of impulses at constant velocities */
  double* K;    /* [9 units] and their decrease by velocities */
  double* best; /* [3 units] */
} saltusi_compliant_work;

/* Upper bound of the bytes for problems of so many contacts and bodies. */
size_t saltusi_compliant_workspace(int units, int bodies);

/* For a problem whose bodies are prepared, in `buffer`, which is free for other use afterwards. */
saltus_status saltusi_compliant_reserve(saltusi_compliant_work* work, const saltusi_bodies* b,
                                        saltusi_buffer* buffer, const saltus_allocator* memory);

/* t, e and the compliance of joints in a step, as a fraction of W. */
typedef struct saltusi_body_linearisation {
  double weight, soft, joint_soft;
} saltusi_body_linearisation;

/* K [9 units] and f [3 units] of every contact at r and bodies->v, dr = f - K du; G f into bodies->right. */
void saltusi_body_linearise(const saltusi_friction_case* in, const saltusi_body_linearisation* how,
                            const double* r, double* K, double* f);

/* f becomes dr for the velocities bodies->step. */
void saltusi_body_impulses(const saltusi_bodies* b, const double* K, double* f);

typedef struct saltusi_compliant_settings {
  int steps;
  double tol;
  saltusi_block_lu* lu; /* complete factors, of problems with joints; NULL: incomplete ones */
  double known;         /* normalised residual of r; 0: not evaluated */
} saltusi_compliant_settings;

/* On in->bodies from r, which gets the best point; S of every contact is above zero; joints have no S. Iterations
 * are steps. */
saltusi_stage saltusi_body_newton_compliant(saltusi_compliant_work* work,
                                            saltusi_gauss_seidel_work* sweep,
                                            saltusi_friction_case* in,
                                            const saltusi_compliant_settings* settings, double* r);

#endif
