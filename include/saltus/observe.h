/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - functions of time and state that a run reports in addition to its coordinates.
 *
 *   outputs  y(t, q, v), reported with every recorded state
 *   events   g(t, q, v), reported where g passes through zero: SALTUS_EVENT_RISE from below, SALTUS_EVENT_FALL
 *            from above, with the index of the function in place of that of the contact
 *
 * They do not influence the motion. A sign change of g by a jump of v is an event at the time of the jump. A g that is
 * initially zero has no event before it has left zero, and a g that reaches zero has an event only if it leaves to the
 * other side. Values within the rounding of g and the errors of the state count as zero
 * (event_errors; without it values below 1e-12 of the largest one so far). With dense output g is
 * sampled at least 16 times a step and at the times of recorded states,
 * sign changes are bracketed and located to rounding, and minima of |g| between samples are checked
 * for a double sign change; further pairs of sign changes between two samples may be missed.
 * Without dense output an event belongs to the whole step.
 */
#ifndef SALTUS_OBSERVE_H
#define SALTUS_OBSERVE_H

#include "saltus/api.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

/* Reported directions of zero crossings. */
typedef enum saltus_crossing {
  SALTUS_CROSSING_BOTH,
  SALTUS_CROSSING_RISING,
  SALTUS_CROSSING_FALLING
} saltus_crossing;

/* Events that switch: at such an event `fire` is called once, between two steps of which the first ends at the event;
 * with fixed steps, at the end of the step that contains it. It may change inputs of the system, and then increments
 * the counter of changes (saltus_sim_def.changes). Simultaneous events are processed by rising number;
 * events caused by a switch follow at the same time. Jumps of the energies are work of external
 * forces. A joint or contact that is switched on has to be satisfied at that time (switch_tolerance), else the run
 * ends with SALTUS_ERR_CONTRADICTION. A joint with a nonzero rate is closed by an inelastic impact. */
typedef struct saltus_switching {
  const bool* fires; /* [event_count] */
  void (*fire)(void* self, int event, bool rising);
  void (*reset)(void* self); /* to the state before the first event */
  void* self;
} saltus_switching;

typedef struct saltus_observables {
  int output_count;
  const saltus_label* output_labels; /* [output_count] */
  int event_count;
  const char* const* event_names;    /* [event_count] */
  const saltus_crossing* directions; /* [event_count] */
  size_t scratch;                    /* bytes of saltus_point.scratch in an evaluation */
  /* Write [output_count] and [event_count] values; NULL where there are none. */
  void (*outputs)(const void* self, const saltus_point* at, double* values);
  void (*events)(const void* self, const saltus_point* at, double* values);
  const void* self;
  /* `outputs` for scenes whose outputs need the joint forces at that time, [nj] N; without these forces such
   * outputs are NaN. NULL: no output needs them. */
  void (*outputs_with)(const void* self, const saltus_point* at, const double* joint_forces,
                       double* values);
  const saltus_switching* switching; /* NULL: none */
  /* largest violation of a joint or contact that is switched on; 0: 0.01 */
  double switch_tolerance;
  /* Writes [event_count] bounds of the change of an event function when positions change by up to dq [nq]
   * and velocities by up to dv [nv], with rounding; INFINITY: no bound. NULL: values below 1e-12 of the
   * largest count as zero. */
  void (*event_errors)(const void* self, const saltus_point* at, const double* dq, const double* dv,
                       double* errors);
  SALTUS_RESERVED(2);
} saltus_observables;

SALTUS_END_DECLS

#endif
