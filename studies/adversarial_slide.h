/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_slide.h - a block with dry friction that is pushed and lifted by pulses on a belt that
 * shakes, in closed form: a reference of the study `adversarial` and of tests.
 */
#ifndef ADVERSARIAL_SLIDE_H
#define ADVERSARIAL_SLIDE_H

#include "adversarial_case.h"

enum { SLIDE_PULSES = 3, SLIDE_PUSH = 0, SLIDE_LIFT = 1 };

/* Velocity of the belt: belt sin(rate t + phase). It starts at x = 0 with the velocity v. */
typedef struct slide_system {
  root_pulse pulses[2 * SLIDE_PULSES]; /* coordinate SLIDE_PUSH or SLIDE_LIFT; accelerations */
  int pulse_count;
  double mu, belt, rate, phase, mass, v;
} slide_system;

/* Of a scene with the coordinates x, y. */
bool case_expect_slide(adversarial_case* c, const slide_system* s, double t_end);

#endif
