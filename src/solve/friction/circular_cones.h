/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * circular_cones.h - problems of saltus/cone.h with circular cones and dry rows only, by the portfolio of friction
 * problems. A dry row |r| <= h is the tangent of a contact with mu = 1 whose normal is coupled to no other row:
 *
 *   u_N = w (r_N - h) = 0,   w = W_kk of the dry row
 */
#ifndef SALTUSI_CIRCULAR_CONES_H
#define SALTUSI_CIRCULAR_CONES_H

#include "saltus/cone.h"
#include "solve/friction/friction_step.h"

typedef struct saltusi_circular_cones {
  int units_max, rows_max;
  saltusi_friction_step step;
  int* first; /* [units + 1] */
  double* mu; /* [units] */
  double* W;  /* [rows x rows], with the normals of dry rows */
  double* q;  /* [rows] */
  double* r;  /* [rows] */
} saltusi_circular_cones;

/* For problems up to these sizes and up to SALTUSI_CIRCULAR_UNITS units; larger ones are not solved. */
enum { SALTUSI_CIRCULAR_UNITS = 64 };
void saltusi_circular_layout(saltusi_circular_cones* c, int units, int rows, saltus_arena* arena);

/* r holds the initial guess; false: other cones, too large, or not solved. */
bool saltusi_circular_solve(saltusi_circular_cones* c, const saltus_cone_problem* problem,
                            double* r);

#endif
