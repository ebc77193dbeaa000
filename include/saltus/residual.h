/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * residual.h - residuals of the equations of a run in physical units: the largest of all steps, with time and contact.
 *
 * Evaluated in every step of every scheme from its report; docs/run.md defines each, docs/ledger.md the energies.
 * A certificate (verify.h) recomputes them independently.
 */
#ifndef SALTUS_RESIDUAL_H
#define SALTUS_RESIDUAL_H

#include "saltus/api.h"

#include <stdbool.h>
#include <stdint.h>

SALTUS_BEGIN_DECLS

typedef enum saltus_residual_kind {
  SALTUS_RESIDUAL_PENETRATION, /* m, of gaps */
  SALTUS_RESIDUAL_APPROACH,    /* m/s, approach of contacts after their law was applied */
  SALTUS_RESIDUAL_OPEN,        /* N, of contacts that cannot have closed in the step */
  SALTUS_RESIDUAL_CONE,        /* N, violation of the friction cone */
  SALTUS_RESIDUAL_ANGLE,       /* rad, between friction and the opposite of slip */
  SALTUS_RESIDUAL_JOINTS,      /* m or rad, of joints */
  SALTUS_RESIDUAL_JOINT_RATES, /* m/s or rad/s, at recorded states */
  SALTUS_RESIDUAL_REMAINDER,   /* J, of the energy ledger */
  SALTUS_RESIDUAL_PROJECTION,  /* m, displacement by projection in a step */
  SALTUS_RESIDUAL_SOLVER       /* m/s, of the contact problems */
} saltus_residual_kind;

enum { SALTUS_RESIDUALS = SALTUS_RESIDUAL_SOLVER + 1 };

/* The largest value of a kind. */
typedef struct saltus_worst {
  double value; /* 0: none so far */
  double t;     /* s; NaN: none */
  bool has_contact;
  int law;           /* of the contact */
  uint64_t identity; /* of the contact */
  int row;           /* of joints; -1: none */
  SALTUS_RESERVED(2);
} saltus_worst;

SALTUS_API const char* saltus_residual_name(saltus_residual_kind kind); /* "friction cone" */
SALTUS_API const char* saltus_residual_unit(saltus_residual_kind kind); /* "N" */

SALTUS_END_DECLS

#endif
