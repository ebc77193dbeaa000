/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * discs.h - discs in a plane over a floor, whose contacts are listed all the time, or only when they are
 * near; with faults on demand.
 *
 *   q = x_0, y_0, x_1, y_1, ...     gap of the floor y_i - r,     of a pair |p_i - p_j| - 2 r
 *
 * Discs do not turn. Every disc has a number of its own that its contacts are named by, so that a scene
 * can be renumbered without changing anything else.
 */
#ifndef TEST_DISCS_H
#define TEST_DISCS_H

#include "saltus/system.h"

enum { DISCS_MAX = 64 };

typedef enum discs_fault {
  DISCS_SOUND,
  DISCS_TWICE,     /* a contact is listed twice */
  DISCS_NO_LAW,    /* its law does not exist */
  DISCS_OTHER_LAW, /* its law changes after 0.1 s */
  DISCS_NO_NUMBER, /* its gap is NaN */
  DISCS_TOO_MANY,  /* the count is beyond the capacity */
  DISCS_BAD_REACH, /* the reach is negative */
  DISCS_LEAVES     /* the floor is not listed after 0.3 s, and `gaps` says that it is 1 m away */
} discs_fault;

typedef struct discs {
  int count;
  double r, g;                /* m, m/s^2; every mass is 1 kg */
  saltus_contact_law laws[2]; /* floor, pair */
  unsigned number[DISCS_MAX]; /* that a disc is named by; all different */
  bool changing;              /* contacts are listed when they are near */
  double near;                /* m; gaps up to this are listed in any case */
  double flicker; /* m; up to here a contact is listed at some states and not at others */
  unsigned seed;  /* of the flicker */
  int first;      /* guess of how many contacts there are */
  bool knows_sweep, knows_gaps;
  discs_fault fault;
} discs;

/* n discs of radius 0.1 m, g = 9.81 m/s^2, e_N = 0.5 and 0.7, numbered in their order. */
discs discs_usual(int n);
/* ops holds the callbacks that this scene has; it and self outlive the system. */
saltus_system discs_system(const discs* self, saltus_system_ops* ops);

#endif
