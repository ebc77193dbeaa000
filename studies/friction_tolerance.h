/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_tolerance.h - motions under friction laws, integrated to a tolerance.
 */
#ifndef SALTUS_FRICTION_TOLERANCE_H
#define SALTUS_FRICTION_TOLERANCE_H

#include "friction_cases.h"

typedef struct friction_outcome {
  double value;     /* that the case knows; NaN: the run failed */
  double remainder; /* J, of the ledger */
  double stuck;     /* s, when sticking began last */
  double speed;     /* largest velocity at the end */
} friction_outcome;

/* text[size]: the last message of a run that failed. */
friction_outcome friction_tolerance_run(const friction_case* of, double tol, char* text,
                                        size_t size);

#endif
