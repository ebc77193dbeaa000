/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_gauss_seidel.h - sweeps with momentum that keep the velocities of bodies instead of W; see body_gauss_seidel.c.
 */
#ifndef SALTUSI_BODY_GAUSS_SEIDEL_H
#define SALTUSI_BODY_GAUSS_SEIDEL_H

#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_body_gauss_seidel {
  int sweeps;
  double tol;
  int further;   /* more of them where that is near; 0: none */
  bool plain;    /* without momentum */
  double known;  /* residual of r; 0: to be found */
  bool standing; /* r is where saltusi_gauss_seidel_residual was asked last */
} saltusi_body_gauss_seidel;

/* On in->bodies from r; r gets the best point that was looked at, in->bodies->v its velocities. */
saltusi_stage saltusi_gauss_seidel_bodies(saltusi_gauss_seidel_work* work,
                                          saltusi_friction_case* in,
                                          const saltusi_body_gauss_seidel* settings, double* r);

/* The normalised residual of r, whose velocities in->bodies->v gets; by packed contacts where sweeps have packed them. */
double saltusi_gauss_seidel_residual(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                     double* r);

/* Packs the contacts, if that has not been done. */
void saltusi_gauss_seidel_pack(saltusi_friction_case* in);

/* Multiply-adds that a visit is worth. */
double saltusi_visit_cost(const saltusi_friction_case* in);

#endif
