/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * motions.h - motions that another program computed (data/reference/motions.csv): positions at 16 equal
 * distances in time, with the accuracy that program has. What studies compare with.
 */
#ifndef MOTIONS_H
#define MOTIONS_H

enum { MOTION_INSTANTS = 16 };

typedef struct motion {
  const char* name; /* of a case of tolerance-driven integration, or "columns of N" */
  double t_end;     /* s */
  int nq;
  double accuracy; /* of every coordinate */
  const double* q; /* [MOTION_INSTANTS x nq] */
} motion;

const motion* motion_find(const char* name); /* NULL: none */

/* Time of instant k, from 0; the last is the end [s]. */
double motion_time(const motion* known, int k);
const double* motion_q(const motion* known, int k);

#endif
