/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * time_dg.h - options of the time-discontinuous Galerkin schemes dg-minus and dg-plus.
 *
 * Velocities are polynomials of a degree inside a step and jump at its end; forces, contact forces
 * included, are sampled at the Clenshaw-Curtis nodes. docs/schemes/time-dg.md has the algorithm.
 */
#ifndef SALTUS_TIME_DG_H
#define SALTUS_TIME_DG_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

/* Level of the law of normal contact forces and joints at the stages. Friction is always between
 * forces and velocities. */
typedef enum saltus_dg_closure {
  SALTUS_DG_VELOCITY,     /* no approach at the next stage */
  SALTUS_DG_ACCELERATION, /* no acceleration into the contact, end velocity projected */
  SALTUS_DG_POSITION      /* no penetration at the next stage; only dg-minus */
} saltus_dg_closure;

/* How the stage equations are solved. */
typedef enum saltus_dg_iteration {
  SALTUS_DG_AUTOMATIC,   /* fixed point, and Newton if that converges slowly or not at all */
  SALTUS_DG_FIXED_POINT, /* only the mass matrix; requires small h c/m and h^2 k/m */
  SALTUS_DG_NEWTON       /* with F_v and F_q at the start of the step */
} saltus_dg_iteration;

/* Where impulses of closing contacts act. */
typedef enum saltus_dg_impulses {
  SALTUS_DG_IMPULSES_END,  /* di-: at the end of the step in which a contact closes */
  SALTUS_DG_IMPULSES_START /* di+: at the start of the next one */
} saltus_dg_impulses;

typedef struct saltus_dg_options {
  int degree;           /* of the velocity inside a step; with degree_tol the largest one */
  int closure;          /* saltus_dg_closure */
  int iteration;        /* saltus_dg_iteration */
  double gap_tol;       /* m, a gap up to this is closed */
  double velocity_tol;  /* fraction of the velocities below which a contact stays closed */
  double iteration_tol; /* fraction of the velocities that ends the iteration */
  int iterations_max;
  int on_energy_gain; /* 0: warning, 1: error */
  int project_joints; /* 1: positions are projected onto the joints */
  int impulses;       /* saltus_dg_impulses */
  double degree_tol;  /* fraction of the velocities; 0: all steps have `degree` */
} saltus_dg_options;

SALTUS_API saltus_dg_options saltus_dg_minus_options_default(void);
SALTUS_API saltus_dg_options saltus_dg_plus_options_default(void);

SALTUS_END_DECLS

#endif
