/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * extrapolation.h - options of moreau-extrapolated.
 */
#ifndef SALTUS_EXTRAPOLATION_H
#define SALTUS_EXTRAPOLATION_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

/* moreau-extrapolated: several steps of parts of h, extrapolated between events. */
typedef struct saltus_moreau_extrapolated_options {
  int columns;  /* of the extrapolation: the order between events */
  double gamma; /* horizon of contact detection, in parts of a step */
  double newton_tol;
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
  int project_joints; /* 1: positions are projected onto the joints */
} saltus_moreau_extrapolated_options;

SALTUS_API saltus_moreau_extrapolated_options saltus_moreau_extrapolated_options_default(void);

SALTUS_END_DECLS

#endif
