/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pads.h - balls that fly between two rows of pads: a time-varying contact set whose motion is known.
 *
 * Ball b is a point (x, y) with v = (u, c), without gravity unless it is given. Floor pads lie at y = 0,
 * ceiling pads at y = 1, each of width 1, without gaps between them: pad k of a row covers
 * k <= x < k + 1. Contact of a ball with a pad exists only while the ball is over it and its gap is at
 * most `near`. Every impact takes the speed c to e c and gives the impulse m (1 + e) c; the ball moves
 * on a broken line, so that the time of each impact and its pad are a division.
 */
#ifndef SALTUS_TEST_PADS_H
#define SALTUS_TEST_PADS_H

#include "saltus/system.h"

#include <stdint.h>

enum { PADS_MOST = 64 };

typedef struct pads {
  int balls;
  double mass;                /* kg */
  double near;                /* m */
  double gravity;             /* m/s^2 */
  int room;                   /* contacts announced as dims.nc */
  saltus_contact_law laws[2]; /* floor, ceiling */
  saltus_system system;
} pads;

/* A system over *p, which has to stay. */
void pads_make(pads* p, int balls, double e);

/* Both halves of these are large: the pair (ball, pad) as two numbers of 32 bits. */
uint64_t pads_identity(int ball, int pad, bool ceiling);
void pads_pair(uint64_t identity, int* ball, int* pad, bool* ceiling);

/* Contacts that exist at positions q [2 balls]. */
int pads_listed(const pads* p, const double* q);

#endif
