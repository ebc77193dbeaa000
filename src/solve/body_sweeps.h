/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_sweeps.h - sweeps with momentum that keep the velocities of bodies instead of W; see body_sweeps.c.
 */
#ifndef SALTUSI_BODY_SWEEPS_H
#define SALTUSI_BODY_SWEEPS_H

#include "solve/gauss_seidel.h"

typedef struct saltusi_body_sweeps {
  int sweeps;
  double tol;
  int further;   /* more of them where that is near; 0: none */
  bool plain;    /* without momentum */
  double known;  /* residual of r; 0: to be found */
  bool standing; /* r is where saltusi_sweep_residual was asked last */
} saltusi_body_sweeps;

/* On in->bodies from r; r gets the best point that was looked at, in->bodies->v its velocities. */
saltusi_stage saltusi_sweep_bodies(saltusi_sweep_work* work, saltusi_friction_case* in,
                                   const saltusi_body_sweeps* settings, double* r);

/* The normalised residual of r, whose velocities in->bodies->v gets; by packed contacts where sweeps have packed them. */
double saltusi_sweep_residual(saltusi_sweep_work* work, saltusi_friction_case* in, double* r);

/* Packs the contacts, if that has not been done. */
void saltusi_sweep_pack(saltusi_friction_case* in);

/* Multiply-adds that a visit is worth. */
double saltusi_visit_cost(const saltusi_friction_case* in);

#endif
