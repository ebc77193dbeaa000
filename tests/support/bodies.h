/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.h - planar bodies with springs, pins of two rows each and contacts with a floor, in every form in
 * which a system can say what couples what.
 *
 *   body i            x_i, y_i, a_i; one constant, full mass matrix of 3 x 3
 *   spring (i, j)     F_i = -k d - k3 d^3 - c d', d = (x_i - x_j, y_i - y_j, a_i - a_j) by component
 *   pin (i, j)        (x_i + cos a_i - x_j, y_i + sin a_i - y_j) = constant
 *   contact i         y_i >= 0, with the slip x_i
 */
#ifndef TEST_BODIES_H
#define TEST_BODIES_H

#include "saltus/system.h"

enum { BODIES_MOST = 4096, PAIRS_MOST = 8192 };

typedef struct bodies {
  int count;
  int springs, pins, contacts; /* the first `contacts` bodies have one */
  int spring[2 * PAIRS_MOST];  /* i < j */
  int pin[2 * BODIES_MOST];
  double pin_at[2 * BODIES_MOST]; /* values of the constraints at the start */
  double k, k3, c, g;
  double mu, e;
  double fails_after;     /* the force fails from this time on; 0: never */
  double potential_fails; /* the same of the potential, which schemes do not need */

  int start[BODIES_MOST + 1];
  int first[BODIES_MOST + 1];
  saltus_structure structure;
  saltus_contact_law laws[BODIES_MOST];
  saltus_system_ops ops;
} bodies;

/* How the system is presented. */
enum {
  BODIES_STRUCTURE = 1, /* blocks and pairs are declared */
  BODIES_BLOCKS = 2,    /* and written by the system */
  BODIES_SPARSE = 4,    /* sparse rows */
  BODIES_ROW_JOINTS = 8 /* every row of a pin is a joint */
};

/* springs, pins and contacts are filled in; q [3 count] is where pins hold. */
saltus_system bodies_system(bodies* b, unsigned form, const double* q);

#endif
