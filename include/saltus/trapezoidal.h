/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal.h - options of trapezoidal-implicit-mean and trapezoidal-implicit-end, the linearly
 * implicit trapezoidal method with joints, polyhedral friction, Poisson impacts and event detection
 * (Potra, Anitescu, Gavrea and Trinkle 2006). docs/schemes/trapezoidal.md has the
 * algorithm.
 */
#ifndef SALTUS_TRAPEZOIDAL_H
#define SALTUS_TRAPEZOIDAL_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_trapezoidal_jacobians {
  SALTUS_JACOBIANS_EXACT,
  SALTUS_JACOBIANS_GAUSS_NEWTON, /* of the springs and dampers declared by the system */
  SALTUS_JACOBIANS_AUTOMATIC /* exact in steps in which the effective mass is positive definite */
} saltus_trapezoidal_jacobians;

/* Friction of the restituted part of Poisson's impulse. */
typedef enum saltus_decompression_friction {
  SALTUS_DECOMPRESSION_COULOMB, /* the cone of the whole normal impulse of the phase */
  SALTUS_DECOMPRESSION_PRINTED  /* the cone of only the unknown part, (7.9) as printed */
} saltus_decompression_friction;

/* Constraints that are drawn back by what they have drifted. */
typedef enum saltus_trapezoidal_stabilisation {
  SALTUS_STABILISATION_OFF,
  SALTUS_STABILISATION_JOINTS,
  SALTUS_STABILISATION_CONTACTS,
  SALTUS_STABILISATION_ALL
} saltus_trapezoidal_stabilisation;

typedef struct saltus_trapezoidal_options {
  int jacobians;     /* saltus_trapezoidal_jacobians */
  int joints;        /* 0: eliminated; 1: kept in the mixed problem */
  int stabilisation; /* saltus_trapezoidal_stabilisation */
  int gradients;     /* of the end scheme: 0: velocity rows at the end; 1: in the middle, printed */
  int force_term;    /* 0: h F_q v; 1: (h/2) F_q v, as printed: order 1, unstable */
  int direction_pairs; /* pairs of opposite friction directions of a spatial contact */
  int decompression;   /* saltus_decompression_friction */
  int detection;       /* 1: transitions to stick, slip and take-off are located inside the step */
  int events_max;      /* largest number in one step */
  double contact_gap;  /* m, contacts with smaller gaps are active */
  /* Active contacts slower than this multiple of the velocity change by forces in a step stop */
  double rest;
  int on_energy_gain;    /* 0: warning, 1: error */
  int filter;            /* saltus_contact_filter: redundant contacts are omitted */
  double contact_gap_h3; /* m/s^3, of gaps of active contacts, times the cube of the step */
  /* Two events in succession after less than this part of the step: none is located in its rest */
  double substep_min;
} saltus_trapezoidal_options;

SALTUS_API saltus_trapezoidal_options saltus_trapezoidal_options_default(void);

SALTUS_END_DECLS

#endif
