/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interior_point.h - primal-dual interior point for friction problems; see interior_point.c.
 */
#ifndef SALTUSI_INTERIOR_POINT_H
#define SALTUSI_INTERIOR_POINT_H

#include "math/block_lu.h"
#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_interior_work {
  double* z;        /* [rows] scaled impulses, inside the cones */
  double* y;        /* [rows] scaled velocities, inside the cones; 0 for bilateral rows */
  double* q;        /* [rows] */
  double* miss;     /* [rows] y - W z - q - |y_T| e0 */
  double* rhs;      /* [rows] */
  double* dz;       /* [rows] */
  double* dy;       /* [rows] */
  double* dz_first; /* [rows] of the predictor */
  double* dy_first; /* [rows] */
  double* lambda;   /* [rows] T z */
  double* product;  /* [rows] W z */
  double* r;        /* [rows] the impulses of z */
  double* u;        /* [rows] */
  double* tangent;  /* [rows] y_T / |y_T| */
  double* T;        /* [units x 9] */
  double* T_inverse;
  double* T2;
  double* slope;       /* [units] friction coefficient used for scaling */
  double* inverse;     /* [units x 9] of J T^2, in body space */
  double* K;           /* [units x 9] of the factors in body space */
  double* W;           /* scaled, on the pattern of the factorisation */
  unsigned char* kind; /* [units] cone, line or free */
} saltusi_interior_work;

void saltusi_interior_layout(saltusi_interior_work* work, int units, int rows, size_t values,
                             saltus_arena* arena);

typedef struct saltusi_interior_settings {
  int iterations;
  double tol;
  double start_z, start_y; /* the first point is these times the centre of each cone */
  const double* from;      /* [rows] plus these impulses and their velocities; NULL: nothing */
  bool no_pivoting;        /* ends where the linear system requires pivoting */
  int trial; /* gives up after so many iterations far from complementarity; 0: never */
} saltusi_interior_settings;

/* r is output only: the method has no warm start. */
saltusi_stage saltusi_interior_point(saltusi_interior_work* work, saltusi_block_lu* lu,
                                     const saltusi_friction_case* in,
                                     const saltusi_interior_settings* settings, double* r);

/* A self-stress inside the cones, W r = 0, of the size of typical impulses, or small if there is none; returns the
 * number of iterations. */
int saltusi_interior_balanced(saltusi_interior_work* work, saltusi_block_lu* lu,
                              const saltusi_friction_case* in, double* r);

#endif
