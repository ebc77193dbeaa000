/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_gauss_seidel.h - Gauss-Seidel with momentum on the velocities of bodies in place of W; see
 * body_gauss_seidel.c.
 */
#ifndef SALTUSI_BODY_GAUSS_SEIDEL_H
#define SALTUSI_BODY_GAUSS_SEIDEL_H

#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_body_gauss_seidel {
  int sweeps;
  double tol;
  int further;   /* additional iterations near the tolerance; 0: none */
  bool plain;    /* without momentum */
  double known;  /* residual of r; 0: not evaluated */
  bool standing; /* r is unchanged since the last saltusi_gauss_seidel_residual */
} saltusi_body_gauss_seidel;

/* On in->bodies from r; r gets the best evaluated point, in->bodies->v its velocities. */
saltusi_stage saltusi_gauss_seidel_bodies(saltusi_gauss_seidel_work* work,
                                          saltusi_friction_case* in,
                                          const saltusi_body_gauss_seidel* settings, double* r);

/* The normalised residual of r, whose velocities are written to in->bodies->v; from packed contacts if there are
 * any. */
double saltusi_gauss_seidel_residual(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                     double* r);

/* Packs the contacts, if this has not been done. */
void saltusi_gauss_seidel_pack(saltusi_friction_case* in);

/* Cost of a visit in multiply-adds. */
double saltusi_visit_cost(const saltusi_friction_case* in);

#endif
