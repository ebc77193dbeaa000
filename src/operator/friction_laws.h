/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_laws.h - contacts with friction laws beyond Coulomb's, and rows of dry friction, as a problem of products of balls; see
 * impact_laws.c.
 */
#ifndef SALTUSI_FRICTION_LAWS_H
#define SALTUSI_FRICTION_LAWS_H

#include "solve/friction/cone_products.h"
#include "solve/friction/friction_curve.h"
#include "system/evaluate.h"

/* State of a contact kept from step to step: its slip at the end of the last one, 0: it stuck; and flags. */
enum { SALTUSI_FRICTION_STATE = 3 };
enum { SALTUSI_LAW_KNOWN = 1, SALTUSI_LAW_BONDED = 2 };

/* A contact during the fixed-point iteration on its law. */
typedef struct saltusi_friction_point {
  saltusi_curve curve; /* its coefficient */
  double along, spin;  /* semi-axes of the ellipsoid of its patch, over mu and mu radius */
  bool drags;          /* it is closed: viscous friction acts */
  bool bonded;
} saltusi_friction_point;

typedef struct saltusi_friction_laws {
  bool any;              /* the operator has such laws */
  bool fresh;            /* first step */
  double span;           /* s: unknown of a force, its impulse over a step */
  double pace;           /* unknowns of rows are velocities times this, 0: 1 */
  const double* carried; /* [nj] impulses of joints beside those of the problem; NULL: none */
  bool* apart;           /* [nc] by contact of the operator: no bond, it did not touch */
  int dry;               /* rows of dry friction, after those of contacts */
  const saltus_contact_law** law; /* [nc] by contact of the operator */
  double* state;                  /* [nc x SALTUSI_FRICTION_STATE] from the last step, */
  double* after;                  /* and for the next one */
  saltusi_friction_point* point;  /* [nc] */
  saltusi_balls solver;
  saltus_cone* cone; /* [nc + dry] */
  int* offset;       /* [nc + dry + 1] */
  int* row;          /* [rows] of the problem: row of the operator without joints */
  double* push;      /* [rows] C': P = push P' */
  double* measure;   /* [rows] R: u' = measure u */
  double* W;         /* [rows x rows] */
  double* q;         /* [rows] */
  double* r;         /* [rows] */
  double* u;         /* [rows] velocities of the law, unscaled, in the order of the operator */
  double* p;         /* [rows] impulses of the balls, likewise */
  double* drag;      /* [rows] N s per m/s of viscous friction */
  double* K;         /* [rows x rows] 1 + W drag, factored */
  double* base; /* [rows x (rows + 1)] W and q with viscous friction, one column after the other */
  int* pivot;   /* [rows] */
  double miss;  /* m/s, residual of the last solve */
} saltusi_friction_laws;

#endif
