/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * root_isolation.h - first roots of gaps, flights and slip speeds along a trial step, by exclusion
 * (docs/theory/events.md, 3).
 *
 * A subinterval [a,b] with middle m and radius r is free of roots when
 *
 *   max( f(m) - |D| r,  f(m) - |D(m)| r + min(W, 0) r^2 ) > 0
 *
 * with enclosures D of df/dtheta and W of half the second derivative; if f falls all along it the root is bracketed,
 * if it rises there is none, and otherwise the subinterval is halved until f is resolved to `depth`. So no root is
 * missed after which f falls below -depth.
 */
#ifndef SALTUSI_ISOLATE_H
#define SALTUSI_ISOLATE_H

#include "adaptive/adaptive.h"

typedef enum saltusi_isolated_root {
  SALTUSI_ISOLATE_GAP,   /* of an open contact */
  SALTUSI_ISOLATE_SLIP,  /* sign U_T, or U_T along a direction less the slip floor */
  SALTUSI_ISOLATE_ROW,   /* sign times the velocity of one row */
  SALTUSI_ISOLATE_SWITCH /* sign times a switching function of positions */
} saltusi_isolated_root;

typedef struct saltusi_root_isolation {
  saltusi_search* search;
  saltusi_isolated_root what;
  int key;
  int row; /* of the contact, for the search of one row */
  double sign;
  const double* along; /* [slips] direction of slip of a spatial contact */
  double shift;        /* added to f */
  double depth;        /* how far below zero f may fall undetected */
  double noise;        /* rounding of f */
  bool fresh;          /* f starts from zero: it may only fall from there */
  bool affine;         /* rows are constant: f is the polynomial, and the search needs no samples */
  bool enclosed;       /* the system encloses f; else it is sampled */
  bool sampled;        /* it is sampled even if the system encloses it */
  int most;            /* limit of subintervals; 0: default limit */
  double begin;        /* of the search */
  double end;
  double power[SALTUSI_POWERS];
  saltus_status status;
} saltusi_root_isolation;

/* Counts a search, by bounds (proven) or by samples. */
void saltusi_count_search(saltusi_search* search, bool proven);

/* The first root in [0, end]; NaN: none. */
double saltusi_isolate_root(saltusi_root_isolation* s, double end);

/* The same where f is smooth on the scale of the step, from samples at nodes of (0, 1]; nodes after the first one
 * beyond `end` are not evaluated. */
double saltusi_isolation_nodes(saltusi_root_isolation* s, const double* node, int count,
                               double end);

/* The first root of height + integral of U of a contact in flight from g = 0 (docs/theory/events.md, 3). */
double saltusi_isolation_flight(saltusi_root_isolation* s, double end);

/* Integral of U over [0, end] of the trial step, m; NaN: not found within the limit of subintervals. */
double saltusi_isolation_height(saltusi_search* search, int key, double end);

/* f(x0) > 0 >= f(x1): a point with f <= 0 within `width` after the root, by regula falsi with bisection (Dowell
 * and Jarratt 1971). */
typedef double (*saltusi_scalar_function)(void* context, double x);
double saltusi_close_in(saltusi_scalar_function f, void* context, const double x[2],
                        const double fx[2], double width);

#endif
