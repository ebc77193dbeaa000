/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_systems.h - random systems of discs, boxes and pendulums with contacts, dry friction,
 * restitution, joints and smooth forcing, and what the adaptive scheme makes of them.
 */
#ifndef RANDOM_SYSTEMS_H
#define RANDOM_SYSTEMS_H

#include "tolerance_run.h"

#include <stdint.h>

enum { RANDOM_TEXT = 16384 };

/* A scene and its tolerance. Every number in it is off by up to `shake` of itself, by other random
 * numbers than those that make the scene: the same scene, a little different. */
typedef struct random_scene {
  char text[RANDOM_TEXT];
  double t_end; /* s */
  double tol;
} random_scene;

void random_scene_make(uint64_t seed, double shake, random_scene* scene);

/* One system at its tolerance against a run at a thousandth of it. */
typedef struct random_verdict {
  saltus_status status, reference_status;
  bool finite;
  double error;       /* largest |q error| over time over atol + rtol |q| */
  double depth;       /* deepest penetration over atol + rtol |q| */
  double sensitivity; /* the same error between scenes that are off by tol; 0: not needed */
  long long steps, events;
  double tol;
  char message[160];
} random_verdict;

/* The sensitivity is measured where the error is above `most`. */
random_verdict random_judge(uint64_t seed, double most);

#endif
