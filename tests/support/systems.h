/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * systems.h - small systems written by hand, with faults on demand.
 */
#ifndef TEST_SYSTEMS_H
#define TEST_SYSTEMS_H

#include "saltus/system.h"

/* A ball over a floor that may move: m y'' = -m g, gap = y - a sin(w t). */
typedef struct ball {
  double m, g, a, w;
  saltus_contact_law law;
  bool singular; /* the mass matrix is zero */
  bool broken;   /* the force is NaN */
  bool crowded;  /* contacts asks for more room */
} ball;

ball ball_usual(void); /* 1 kg, 9.81 m/s^2, e = 0.5, fixed floor */
saltus_system ball_system(const ball* self);

/* Height of a ball dropped from q0 at rest, right of t; exact through all bounces. */
double ball_height(const ball* self, double q0, double t);

/* A point mass on a rod of length 1 in Cartesian coordinates: one joint. */
saltus_system rod_system(void);

/* A bar over three supports: y, phi; contacts at x = -1, 0.25, 1. m = 2, J = 1. */
saltus_system bar_system(const saltus_contact_law laws[3]);

/* The double pendulum against a wall, with a planted fault in one derivative. */
typedef enum pendulum_fault {
  FAULT_NONE,
  FAULT_FORCE_Q,
  FAULT_FORCE_V,
  FAULT_NORMAL,
  FAULT_CONVECTIVE,
  FAULT_MASS_Q
} pendulum_fault;

saltus_system pendulum_system(const pendulum_fault* fault);

#endif
