/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rig.h - bodies in the plane with round feet and pins between them, as a system of any size that schemes
 * can step: piles of discs, columns, chains of jointed rods that lie on each other, all at rest at first.
 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "saltus/system.h"

/* A point of a body, in its own axes. */
typedef struct rig_point {
  int body; /* -1: the ground, and x, y are in its axes */
  double x, y;
} rig_point;

typedef struct rig_contact {
  rig_point low, high;  /* centres of two circles; low on the ground: the floor y = 0 */
  double r_low, r_high; /* m */
} rig_contact;

typedef struct rig_pin {
  rig_point a, b;
} rig_pin;

typedef struct rig {
  saltus_system system; /* x, y and angle of each body */
  int bodies, contacts, pins;
  int room_bodies, room_contacts, room_pins;
  double *mass, *inertia; /* [bodies] */
  double *q, *v;          /* [3 bodies] start */
  rig_contact* contact;
  rig_pin* pin;
  saltus_contact_law* laws; /* [contacts] */
} rig;

/* Room for so many; false without memory. rig_free is right in any case. */
bool rig_create(rig* r, int bodies, int contacts, int pins);
void rig_free(rig* r);

/* Each returns the index of the added object. */
int rig_body(rig* r, double x, double y, double mass, double inertia);
int rig_touch(rig* r, rig_contact contact, double mu);
int rig_join(rig* r, rig_pin pin);

/* The assembled system; the rig must not be moved afterwards. */
const saltus_system* rig_system(rig* r);

/* Test systems for all schemes. Each is at rest, with loaded contacts. */
bool rig_floor(rig* r, int discs, double mu, bool pendulum); /* side by side; a pendulum far away */
bool rig_pile(rig* r, int contacts, double mu);              /* 20 layers of discs, as of pipes */
bool rig_columns(rig* r, int contacts, int height, double mu);
bool rig_chains(rig* r, int contacts, int rods, int layers,
                double mu); /* of so many jointed rods */

#endif
