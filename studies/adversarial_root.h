/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_root.h - first roots by exclusion, in long double: for the references of the study
 * `adversarial`, which share no code with the library.
 *
 * A function is given by its value, its slope and a bound B of its second derivative on an interval. On
 * m +- r it has no root where f(m) - |f'(m)| r - B r^2/2 > 0, and is monotone where |f'(m)| > B r.
 */
#ifndef ADVERSARIAL_ROOT_H
#define ADVERSARIAL_ROOT_H

#include <stdbool.h>

typedef long double root_real;

/* ---- shapes with known derivatives: sin u and exp(-u^2) ------------------------------------- */

typedef enum root_kind { ROOT_SINE, ROOT_BELL } root_kind;

root_real root_shape(root_kind kind, int k, root_real u); /* derivative k, 0..4 */
/* The largest |derivative k| on middle +- reach. */
root_real root_shape_bound(root_kind kind, int k, root_real middle, root_real reach);

/* Acceleration size exp(-((t - centre)/width)^2) of one coordinate, and its integrals from
 * t = -infinity on. */
typedef struct root_pulse {
  int coordinate;
  double size, centre, width;
} root_pulse;

/* Its derivative k at t, or a bound of it on t +- reach. */
root_real root_pulse_rate(const root_pulse* p, int k, root_real t, root_real reach, bool bound);
root_real root_pulse_velocity(const root_pulse* p, root_real t);
root_real root_pulse_displacement(const root_pulse* p, root_real t);

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct root_local {
  root_real f, slope, bend; /* at s; bend: bound of |f''| on s +- reach */
} root_local;

/* The largest of a few pieces along s. */
typedef struct root_search {
  root_local (*look)(const void* who, int piece, root_real s, root_real reach);
  const void* who;
  int pieces;
  root_real t; /* s, where s = 0 is; for the rounding of t + s */
} root_search;

root_real root_value(const root_search* w, root_real s);
int root_active(const root_search* w); /* the piece that is the largest at s = 0 */

/* The first s in [a, b] where the function is not positive any more. */
bool root_first(const root_search* w, root_real a, root_real b, root_real* root);

/* From where a search begins that starts at zero with a positive slope u: up to there u s - B s^2/2 is
 * positive. Without a slope it begins where the function can be distinguished from zero. */
root_real root_begin(const root_search* w, root_real end);

#endif
