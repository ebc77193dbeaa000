/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trajectory_enclosure.h - enclosures of the motion of a trial step over subintervals (docs/theory/events.md, 2).
 *
 * The dense output is a polynomial in theta, 0..1. Over [a,b] with middle m and radius r its Taylor
 * coefficients lie in
 *
 *   x_k in s_k + sum_{j>k} C(j,k) s_j [-r,r]^(j-k),    s the coefficients around m,
 *
 * even powers one-sided, widened by the rounding of the shift. The system encloses its functions along
 * such a segment; a system without enclosures is sampled, and nothing is proven.
 */
#ifndef SALTUSI_TRAJECTORY_ENCLOSURE_H
#define SALTUSI_TRAJECTORY_ENCLOSURE_H

#include "saltus/system.h"

#include <math.h>
#include <stdbool.h>

typedef struct saltusi_search saltusi_search;

enum {
  SALTUSI_DEGREE = 7,
  SALTUSI_POWERS = SALTUSI_DEGREE + 1,
  SALTUSI_PIECES = 4,
  SALTUSI_VALUES = 6 /* rows of a contact: normal, tangents, rolling, spin */
};

/* An evaluated segment: repeated requests are served from a cache. */
typedef struct saltusi_trajectory_segment {
  double a, b;
  int order; /* of all coordinates; -1: none */
  bool moving;
  long long number;   /* of the segment: `made` counts from it */
  long long* made;    /* [nq + nv] number (SALTUS_JET_ORDER + 2) + 1 + evaluated order of each */
  saltus_interval* t; /* [SALTUS_JET_ORDER + 1] */
  saltus_interval* q; /* [nq x (SALTUS_JET_ORDER + 1)] */
  saltus_interval* v; /* [nv x (SALTUS_JET_ORDER + 1)] */
} saltusi_trajectory_segment;

typedef struct saltusi_trajectories {
  double* power; /* [SALTUSI_POWERS x (nq + nv)] coefficients in theta */
  int degree;
  bool made; /* power belongs to the trial step */
  saltusi_trajectory_segment piece[SALTUSI_PIECES];
  long long numbers; /* of segments so far */
  void* scratch;     /* of the enclosures */
} saltusi_trajectories;

/* A function along the segment: Taylor coefficients in theta. */
typedef struct saltusi_trajectory_jet {
  saltus_interval c[SALTUS_JET_ORDER + 1];
} saltusi_trajectory_jet;

static inline double saltusi_magnitude(saltus_interval x) {
  return fmax(fabs(x.lo), fabs(x.hi));
}

/* A new trial step: discards all cached segments. */
void saltusi_trajectory_forget(saltusi_search* search);

/* Coefficients of the motion in theta: [SALTUSI_POWERS x (nq + nv)]; their degree is course.degree. */
const double* saltusi_trajectory_powers(saltusi_search* search);

/* Shifts a polynomial in place: coefficients around m from those around 0; enclosures of its Taylor coefficients 0
 * .. order over [a,b]. */
void saltusi_powers_shift(int degree, double m, double* s);
void saltusi_powers_enclose(int degree, const double* c, double a, double b, int order,
                            saltus_interval* out);

/* Whether the system encloses quantities of a kind; contacts of a time-varying set are enclosed by identity. */
bool saltusi_trajectory_encloses(const saltus_system* sys, saltus_quantity what);
/* Number of switching functions. */
int saltusi_trajectory_switches(const saltus_system* sys);
/* The variables on which such a quantity depends. index of a contact is its key. */
unsigned saltusi_trajectory_depends(const saltusi_search* search, saltus_quantity what, int index);

/* Jets of an enclosed quantity over [a,b] of the trial step, one per value. */
void saltusi_trajectory_along(saltusi_search* search, double a, double b, int order,
                              saltus_quantity what, int index, saltusi_trajectory_jet* out);

/* Whether separation monitors have bounds; the bound of one over [a,b] of the trial step. */
bool saltusi_trajectory_clears(const saltus_system* sys);
void saltusi_trajectory_clear(saltusi_search* search, double a, double b, int key, double margin,
                              saltus_clearance* out);

/* Taylor remainder of every force or joint row over the trial step, in search->beyond; false: none available. */
bool saltusi_trajectory_remainder(saltusi_search* search, saltus_quantity what);

#endif
