/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thin.h - a curve of any length with few points and the same look.
 *
 * Of the consecutive points that fall into one pixel column only the first, lowest, highest and last
 * are kept. Points go in one at a time and come out a column later, so nothing is stored.
 */
#ifndef SALTUSI_FIGURE_THIN_H
#define SALTUSI_FIGURE_THIN_H

#include <stdbool.h>

typedef struct saltusi_point {
  double x, y;
  bool start; /* not joined to the point before */
} saltusi_point;

enum { SALTUSI_THIN_OUT = 4 }; /* points that can come out at once */

/* Set width, the rest to zero. */
typedef struct saltusi_thin {
  double width; /* of a column */
  long count;   /* points in the present column */
  double column;
  bool split; /* a piece began in this column already: further gaps in it are not visible */
  saltusi_point point[SALTUSI_THIN_OUT]; /* first, lowest, highest, last */
  long index[SALTUSI_THIN_OUT];          /* their order of arrival in the column */
} saltusi_thin;

/* Takes p; returns how many points came out. */
int saltusi_thin_push(saltusi_thin* thin, saltusi_point p, saltusi_point out[SALTUSI_THIN_OUT]);

/* Returns how many points were left; afterwards there are none. */
int saltusi_thin_flush(saltusi_thin* thin, saltusi_point out[SALTUSI_THIN_OUT]);

#endif
