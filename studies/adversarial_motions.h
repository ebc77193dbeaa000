/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_motions.h - motions without closed flights whose coordinates fulfil the joints: references
 * of the study `adversarial` and of tests.
 */
#ifndef ADVERSARIAL_MOTIONS_H
#define ADVERSARIAL_MOTIONS_H

#include "adversarial_case.h"
#include "adversarial_ode.h"

/* From the coordinates of the reference to those of the scene. */
typedef void (*motion_map)(const void* who, root_real t, const root_real* y, root_real* q,
                           root_real* v);

/* What the scene with n coordinates must do. */
bool case_expect_motion(adversarial_case* c, const ode_system* system, double t_end, motion_map map,
                        int n);

/* A point mass on a rod whose pivot is at A sin(w t); wall: gap x + wall. */
typedef struct motion_pendulum {
  double l, A, w, wall, e, theta, omega;
  bool free; /* no wall */
} motion_pendulum;

ode_system motion_pendulum_system(const motion_pendulum* p);
void motion_pendulum_map(const void* who, root_real t, const root_real* y, root_real* q,
                         root_real* v);

/* Three masses: springs to the ground and between neighbours, stops x_i + stop_i, a force
 * force cos(rate t) on the first, damping of the second, a bumper k max(0, x - place) at the first. */
typedef struct motion_springs {
  double mass[3], ground[3], between[2], stop[3], e[3], q[3];
  double force, rate, damping, bumper, place;
} motion_springs;

ode_system motion_springs_system(const motion_springs* s);
void motion_springs_map(const void* who, root_real t, const root_real* y, root_real* q,
                        root_real* v);

#endif
