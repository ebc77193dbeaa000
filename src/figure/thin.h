/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thin.h - thinning of a curve to few points without visible change.
 *
 * Of the consecutive points that fall into one pixel column only the first, lowest, highest and last
 * are kept. Points are passed one at a time and returned one column later, so no curve is stored.
 */
#ifndef SALTUSI_FIGURE_THIN_H
#define SALTUSI_FIGURE_THIN_H

#include <stdbool.h>

typedef struct saltusi_point {
  double x, y;
  bool start; /* not joined to the point before */
} saltusi_point;

enum { SALTUSI_THIN_OUT = 4 }; /* largest number of points returned at once */

/* Set width, the rest to zero. */
typedef struct saltusi_thin {
  double width; /* of a column */
  long count;   /* points in the present column */
  double column;
  bool split; /* a segment began in this column already: further gaps in it are invisible */
  saltusi_point point[SALTUSI_THIN_OUT]; /* first, lowest, highest, last */
  long index[SALTUSI_THIN_OUT];          /* their order of arrival in the column */
} saltusi_thin;

/* Adds p; returns the number of points that came out. */
int saltusi_thin_push(saltusi_thin* thin, saltusi_point p, saltusi_point out[SALTUSI_THIN_OUT]);

/* Returns the remaining points and their number; afterwards there are none. */
int saltusi_thin_flush(saltusi_thin* thin, saltusi_point out[SALTUSI_THIN_OUT]);

#endif
