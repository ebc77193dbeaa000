/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vary.h - derivatives of smooth functions of time, state and parameter by differences of fourth order, and the variational
 * equations along one mode (docs/theory/sensitivity.md, 3 and 4).
 */
#ifndef SALTUSI_SENSITIVITY_VARY_H
#define SALTUSI_SENSITIVITY_VARY_H

#include "sensitivity/phase.h"

typedef struct saltusi_vary {
  const saltus_system* system;
  const saltus_direction* directions;
  int count;     /* directions */
  int nq, nv, n; /* n = nq + nv */
  saltusi_phase_contacts contacts;
  double length, speed, span; /* scales: positions, velocities and times of smooth motion */
  saltusi_phase_workspace room;
  saltusi_phase mode;
  double *shifted, *rates; /* [n] */
  double *plus, *minus;    /* [out_most] */
  double* finer;           /* [2 out_most] of differences with a smaller step */
  double disagreement;     /* of differences with two steps, in saltusi_vary_slope_of_law */
  double shrink;           /* of the step of differences; 1 but in saltusi_vary_slope_of_law */
  double* table;           /* of the extrapolation: [columns x size] and more */
  double *y0, *y1, *y2, *dy, *before;
  int size; /* (n + integrands) (1 + count) */
  int most; /* values of a function that is differentiated */
  /* functions that are integrated over time: y has their integrals and derivatives after state and derivatives */
  bool (*integrand)(struct saltusi_vary* vary, const saltus_system* system, saltusi_phase_point at,
                    const void* user, double* out);
  const void* integrand_user;
  int integrands;
} saltusi_vary;

/* `contacts`, `integrands` and their functions are already set in *vary. */
bool saltusi_vary_make(saltusi_vary* vary, const saltus_system* system,
                       const saltus_direction* directions, int count, saltusi_pool* pool);
void saltusi_vary_free(saltusi_vary* vary);

/* Values of a function at a state; false: it is not defined there. */
typedef bool saltusi_smooth(saltusi_vary* vary, const saltus_system* system, saltusi_phase_point at,
                            const void* user, double* out);

/* Derivative of out [many] along (tau, s) and, for direction >= 0, also along its parameter; many is at most vary->most.
 */
typedef struct saltusi_along {
  saltusi_phase_point at;
  const double* s; /* [n]; NULL: 0 */
  double tau;
  int direction; /* direction whose parameter varies; -1: none */
  double limit;  /* of the difference step, in units of s; 0: none */
  double
      size; /* of the values, whose rounding is that of the differences; 0: the fastest velocity */
} saltusi_along;

bool saltusi_vary_slope(saltusi_vary* vary, saltusi_smooth* function, const void* user,
                        const saltusi_along* along, int many, double* out);

/* Difference step along s that keeps the approach velocity of a contact, or the slip velocities of the mode in space, nearly as
 * they are: laws of impacts and the direction of slip are not smooth at 0. 0: no limit. */
double saltusi_vary_approach_limit(saltusi_vary* vary, const saltusi_along* along, int contact);
double saltusi_vary_slip_limit(saltusi_vary* vary, const saltusi_along* along);

/* The same for functions with kinks, such as laws of impacts: the step is reduced until differences of two steps agree.
 * False also where they do not, or where a parameter crosses a kink. */
bool saltusi_vary_slope_of_law(saltusi_vary* vary, saltusi_smooth* function, const void* user,
                               const saltusi_along* along, int many, double* out);

/* q' and a [n] in the present mode. */
bool saltusi_vary_rates(saltusi_vary* vary, const saltus_system* system, saltusi_phase_point at,
                        const void* user, double* out);

/* State and derivatives y [n (1 + count)] from t0 to t1 in the present mode, by extrapolation of the midpoint rule (Gragg,
 * Bulirsch, Stoer). False: it does not converge. */
bool saltusi_vary_follow(saltusi_vary* vary, double t0, double t1, double* y);

#endif
