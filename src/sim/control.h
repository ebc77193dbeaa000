/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * control.h - step-size control: trial steps and their results.
 */
#ifndef SALTUSI_CONTROL_H
#define SALTUSI_CONTROL_H

#include "saltus/control.h"
#include "saltus/enclosure.h"
#include "saltus/sim.h"
#include "system/displacement.h"
#include "system/linear.h"

/* Workspace of force_jumps.c; count 0: the system has no switching functions, nothing else is set. */
typedef struct saltusi_force_jumps {
  int count;
  double *q, *v, *F, *sum; /* [nq], [nv], [2 nv], [nv] */
  saltus_interval *q_point, *v_point;
  void* scratch;
  saltusi_linear mass;
} saltusi_force_jumps;

typedef struct saltusi_control {
  saltus_control_options options;
  double* atol; /* [nv] absolute tolerance of positions along each velocity */
  saltusi_displacement_map ways;
  double* error; /* [nq] errors of positions; as a displacement [nv] */
  double h;      /* proposed next step; 0: not chosen yet */
  double h_min, h_max;
  long long attempts;

  saltus_state full, middle;          /* one step h; the first of two steps h/2 */
  saltus_contact_step* half_contacts; /* of the first half; a separate block that grows */
  size_t half_contact_room;
  double* half_joints;       /* [2 nj] impulses, of them at impacts */
  saltus_event* half_events; /* a separate block that grows */
  size_t half_event_room;
  saltus_step_report half; /* of the first half, when there were two */
  bool halves;             /* the accepted step consists of two */
  saltusi_force_jumps jumps;
} saltusi_control;

void saltusi_control_layout(saltusi_control* control, const saltus_system* sys,
                            saltus_arena* arena);

/* Ensures the capacity for the report of the first half of a step; contents are kept. */
bool saltusi_control_grow(saltusi_control* control, const saltus_allocator* memory, int contacts,
                          int events);
void saltusi_control_release(saltusi_control* control, const saltus_allocator* memory);

void saltusi_force_jumps_layout(saltusi_force_jumps* jumps, const saltus_system* sys,
                                saltus_arena* arena);
/* Bound of the error of sim->next after a step h by jumps of forces, in tolerances of velocities. */
saltus_status saltusi_force_jumps_error(saltus_sim* sim, double h, double* error);

/* One accepted step of at most `limit`: sim->next is written and the memory of the scheme is committed. The report
 * has h, error estimate, order and rejections. */
saltus_status saltusi_control_step(saltus_sim* sim, double limit);

#endif
