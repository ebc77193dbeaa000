/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * course.h - the motion of an attempt over pieces of it, for searches that miss nothing (section 14.1).
 *
 * The dense output is a polynomial in theta, 0..1. Over [a,b] with middle m and radius r its Taylor
 * coefficients lie in
 *
 *   x_k in s_k + sum_{j>k} C(j,k) s_j [-r,r]^(j-k),    s the coefficients around m,
 *
 * even powers one-sided, widened by the rounding of the shift. The system encloses its functions along
 * such a course; one without enclosures is sampled, and then nothing is proven.
 */
#ifndef SALTUSI_COURSE_H
#define SALTUSI_COURSE_H

#include "saltus/enclosure.h"

#include <math.h>
#include <stdbool.h>

typedef struct saltusi_adaptive saltusi_adaptive;

enum {
  SALTUSI_DEGREE = 7,
  SALTUSI_POWERS = SALTUSI_DEGREE + 1,
  SALTUSI_PIECES = 4,
  SALTUSI_VALUES = 3
};

/* A piece whose course is made: those asked for again and again are kept. */
typedef struct saltusi_piece {
  double a, b;
  int order; /* -1: none */
  bool moving;
  saltus_interval* t; /* [SALTUS_JET_ORDER + 1] */
  saltus_interval* q; /* [nq x (SALTUS_JET_ORDER + 1)] */
  saltus_interval* v; /* [nv x (SALTUS_JET_ORDER + 1)] */
} saltusi_piece;

typedef struct saltusi_courses {
  double* power; /* [SALTUSI_POWERS x (nq + nv)] coefficients in theta */
  int degree;
  bool made; /* power belongs to the attempt */
  saltusi_piece piece[SALTUSI_PIECES];
  void* scratch; /* of the enclosures */
} saltusi_courses;

/* A function along the course: Taylor coefficients in theta. */
typedef struct saltusi_jet {
  saltus_interval c[SALTUS_JET_ORDER + 1];
} saltusi_jet;

static inline double saltusi_magnitude(saltus_interval x) {
  return fmax(fabs(x.lo), fabs(x.hi));
}

/* A new attempt: nothing that was made for the last one holds. */
void saltusi_course_forget(saltusi_adaptive* w);

/* Coefficients of the motion in theta: [SALTUSI_POWERS x (nq + nv)]; their degree is course.degree. */
const double* saltusi_course_powers(saltusi_adaptive* w);

/* A polynomial: coefficients around m from those around 0, in place; enclosures of its Taylor
 * coefficients 0 .. order over [a,b]. */
void saltusi_powers_shift(int degree, double m, double* s);
void saltusi_powers_enclose(int degree, const double* c, double a, double b, int order,
                            saltus_interval* out);

/* Jets of a quantity of the system over [a,b] of the attempt, one a value. The system has
 * enclosures. */
void saltusi_course_along(saltusi_adaptive* w, double a, double b, int order, saltus_quantity what,
                          int index, saltusi_jet* out);

#endif
