/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_ode.h - motions of a few degrees of freedom without closed form, for the references of the
 * study `adversarial`: y' = f(t, y) in long double by extrapolation of the modified midpoint rule
 * (Gragg 1965, Bulirsch and Stoer 1966), steps that are short against every time scale of the system,
 * impacts bisected. It shares no code with the library.
 *
 * Joints do not occur: y are coordinates that fulfil them, and the states of a scene follow from y.
 */
#ifndef ADVERSARIAL_ODE_H
#define ADVERSARIAL_ODE_H

#include "adversarial_root.h"

enum { ODE_WIDTH = 8, ODE_NODES = 200000, ODE_IMPACTS = 2000, ODE_CONTACTS = 4, ODE_SWITCHES = 2 };

typedef struct ode_system {
  int n; /* of y: positions and velocities */
  int contact_count, switch_count;
  double step; /* s */
  double y[ODE_WIDTH];
  const void* who;
  /* above: on which side of each switch the motion is */
  void (*rate)(const void* who, const bool* above, root_real t, const root_real* y, root_real* dy);
  root_real (*gap)(const void* who, int contact, root_real t, const root_real* y);
  root_real (*gap_rate)(const void* who, int contact, root_real t, const root_real* y);
  /* Newton's impact. */
  void (*impact)(const void* who, int contact, root_real t, root_real* y);
  root_real (*side)(const void* who, int k, const root_real* y); /* of a switch, > 0: above */
  double restitution;                                            /* for the end of accumulations */
  bool rests; /* after one nothing moves any more; the second half of y are velocities */
} ode_system;

typedef struct ode_node {
  root_real t, y[ODE_WIDTH];
  bool above[ODE_SWITCHES];
} ode_node;

typedef struct ode_impact {
  root_real t, before;
  int contact;
} ode_impact;

typedef struct ode_motion {
  ode_node* nodes; /* [ODE_NODES] */
  int node_count;
  ode_impact* impacts; /* [ODE_IMPACTS] */
  int impact_count;
  root_real t_end;
  bool lost;        /* it ends at t_end because impacts accumulate */
  root_real settle; /* s, where they do; 0: nowhere */
} ode_motion;

bool ode_motion_create(ode_motion* motion);
void ode_motion_destroy(ode_motion* motion);
void ode_follow(const ode_system* system, root_real t_end, ode_motion* motion);
void ode_at(const ode_system* system, const ode_motion* motion, root_real t, root_real* y);

#endif
