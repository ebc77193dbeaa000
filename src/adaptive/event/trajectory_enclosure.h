/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trajectory_enclosure.h - the motion of an attempt over pieces of it, for searches that miss nothing (docs/theory/events.md, 2).
 *
 * The dense output is a polynomial in theta, 0..1. Over [a,b] with middle m and radius r its Taylor
 * coefficients lie in
 *
 *   x_k in s_k + sum_{j>k} C(j,k) s_j [-r,r]^(j-k),    s the coefficients around m,
 *
 * even powers one-sided, widened by the rounding of the shift. The system encloses its functions along
 * such a course; one without enclosures is sampled, and then nothing is proven.
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

/* A piece whose course is made: those asked for again and again are kept. */
typedef struct saltusi_trajectory_segment {
  double a, b;
  int order; /* of all coordinates; -1: none */
  bool moving;
  long long number; /* of the piece: `made` counts from it */
  long long* made; /* [nq + nv] number (SALTUS_JET_ORDER + 2) + 1 + order of what is made of each */
  saltus_interval* t; /* [SALTUS_JET_ORDER + 1] */
  saltus_interval* q; /* [nq x (SALTUS_JET_ORDER + 1)] */
  saltus_interval* v; /* [nv x (SALTUS_JET_ORDER + 1)] */
} saltusi_trajectory_segment;

typedef struct saltusi_trajectories {
  double* power; /* [SALTUSI_POWERS x (nq + nv)] coefficients in theta */
  int degree;
  bool made; /* power belongs to the attempt */
  saltusi_trajectory_segment piece[SALTUSI_PIECES];
  long long numbers; /* of pieces so far */
  void* scratch;     /* of the enclosures */
} saltusi_trajectories;

/* A function along the course: Taylor coefficients in theta. */
typedef struct saltusi_trajectory_jet {
  saltus_interval c[SALTUS_JET_ORDER + 1];
} saltusi_trajectory_jet;

static inline double saltusi_magnitude(saltus_interval x) {
  return fmax(fabs(x.lo), fabs(x.hi));
}

/* A new attempt: nothing that was made for the last one holds. */
void saltusi_trajectory_forget(saltusi_search* search);

/* Coefficients of the motion in theta: [SALTUSI_POWERS x (nq + nv)]; their degree is course.degree. */
const double* saltusi_trajectory_powers(saltusi_search* search);

/* A polynomial: coefficients around m from those around 0, in place; enclosures of its Taylor
 * coefficients 0 .. order over [a,b]. */
void saltusi_powers_shift(int degree, double m, double* s);
void saltusi_powers_enclose(int degree, const double* c, double a, double b, int order,
                            saltus_interval* out);

/* Whether the system encloses quantities of a kind; contacts of a set that changes are enclosed by identity. */
bool saltusi_trajectory_encloses(const saltus_system* sys, saltus_quantity what);
/* How many switching functions there are. */
int saltusi_trajectory_switches(const saltus_system* sys);
/* What such a quantity depends on. index of a contact is its key. */
unsigned saltusi_trajectory_depends(const saltusi_search* search, saltus_quantity what, int index);

/* Jets of a quantity that is enclosed over [a,b] of the attempt, one a value. */
void saltusi_trajectory_along(saltusi_search* search, double a, double b, int order,
                              saltus_quantity what, int index, saltusi_trajectory_jet* out);

/* Whether watches are bounded; what is known of one over [a,b] of the attempt. */
bool saltusi_trajectory_clears(const saltus_system* sys);
void saltusi_trajectory_clear(saltusi_search* search, double a, double b, int key, double margin,
                              saltus_clearance* out);

/* What every force or joint row is at most beyond a polynomial over the attempt, in search->beyond; false: not known. */
bool saltusi_trajectory_remainder(saltusi_search* search, saltus_quantity what);

#endif
