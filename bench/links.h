/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * links.h - chains and trees of links with hinges, of any size: links of 0.1 m and 0.1 kg, released from the
 * horizontal, the first one hinged to the ground.
 */
#ifndef BENCH_LINKS_H
#define BENCH_LINKS_H

#include "saltus/body.h"

typedef struct links_def {
  int dimension; /* 2 or 3 */
  int count;
  bool star;      /* all links hang on the first one instead of one on the other */
  bool twisted;   /* in space: axes of neighbouring hinges are perpendicular */
  int doubled;    /* of the last hinges, so many are there twice */
  double apart;   /* m, by which the markers of the last doubled hinge disagree */
  double damping; /* N m s/rad, of each hinge */
} links_def;

/* NULL when it cannot be made. */
saltus_mechanism* links_create(const links_def* def);

/* Largest |g| of its joints, m and 1. */
double links_defect(const saltus_system* sys, double t, const double* q);

/* Kinetic and potential energy, J. */
double links_energy(const saltus_system* sys, double t, const double* q, const double* v);

#endif
