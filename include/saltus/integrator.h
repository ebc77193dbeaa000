/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * integrator.h - integration to a tolerance through impacts, Zeno points, sliding and sticking, advanced
 * by the caller as with solve_ivp or CVODE.
 *
 *   const saltus_integrator_def def = {.system = &system, .q0 = q0, .v0 = v0, .rtol = 1e-8, .atol = 1e-8};
 *   saltus_integrator* it;
 *   saltus_status status = saltus_integrator_create(&def, &it);
 *   for (double t = 0.1; status == SALTUS_OK && t < 10.0; t += 0.1) {
 *     status = saltus_integrator_advance(it, t, SALTUS_STOP_NEVER, NULL);
 *     ... saltus_integrator_q(it), saltus_integrator_v(it)
 *   }
 *   saltus_integrator_destroy(it);
 *
 * Steps are as long as the tolerances and events allow. They may end beyond the requested
 * time; the state at the requested time is that of the dense output, so output times do not change steps. Memory is
 * allocated at creation only.
 */
#ifndef SALTUS_INTEGRATOR_H
#define SALTUS_INTEGRATOR_H

#include "saltus/adaptive.h"
#include "saltus/scheme.h"

SALTUS_BEGIN_DECLS

/* Members that are zero take their defaults. */
typedef struct saltus_integrator_def {
  const saltus_system* system;
  double t0;            /* s */
  const double* q0;     /* [nq] */
  const double* v0;     /* [nv] */
  const char* scheme;   /* one that chooses its steps; default "adaptive" */
  double rtol;          /* default 1e-6 */
  double atol;          /* of positions, in their units; default 1e-6 */
  double atol_velocity; /* default atol */
  const double* atol_q; /* [nv] of positions along each velocity (m, rad), in
                                      * place of atol where positive; copied */
  const double* atol_v; /* [nv] in place of atol_velocity where positive; copied */
  double h_max;         /* s, longest step; default none */
  double h_first;       /* s, first step; default chosen by the motion */
  double duration;      /* s, no step goes beyond t0 + duration; default no limit */
  int dense_steps;      /* steps stored for dense output; default 16 */
  int event_room;       /* capacity for events; default 4096 */
  int threads;          /* as in saltus_scheme_def */
  /* a nonzero value ends an advance as soon as possible with SALTUS_ERR_STOPPED; NULL: never */
  const volatile int* cancel;
  saltus_log log;                    /* receives the reasons of errors */
  const saltus_allocator* allocator; /* NULL: the C library */
  /* As in saltus_sim_def; dense output restarts as well. SALTUS_ERR_CONTRADICTION if a change violates a
   * joint or contact by more than 0.01 */
  const uint64_t* changes;
  SALTUS_RESERVED(7);
} saltus_integrator_def;

typedef struct saltus_integrator saltus_integrator;

/* On failure *out is NULL and the log names the invalid member. */
SALTUS_API saltus_status saltus_integrator_create(const saltus_integrator_def* def,
                                                  saltus_integrator** out);
SALTUS_API void saltus_integrator_destroy(saltus_integrator* it);

/* Tolerances from the next step on; atol_velocity 0: the same number as atol. Tolerances of single coordinates are
 * removed. On failure nothing changes. */
SALTUS_API saltus_status saltus_integrator_set_tolerances(saltus_integrator* it, double rtol,
                                                          double atol, double atol_velocity);

/* The same with absolute tolerances for positions along every velocity [nv] and velocities [nv], all
 * positive; copied. */
SALTUS_API saltus_status saltus_integrator_set_tolerances_each(saltus_integrator* it, double rtol,
                                                               const double* atol_q,
                                                               const double* atol_v);

/* Starts again from another state and time with the same tolerances; stored events are cleared, counters continue. */
SALTUS_API saltus_status saltus_integrator_restart(saltus_integrator* it, double t0,
                                                   const double* q0, const double* v0);

/* Advances to the time t, or to the first event before it whose kind is in `stop`. *event is then that event and the
 * state is the one right after it; otherwise *event is NULL (event may be NULL). Simultaneous events are returned one
 * by one. A time before the present one, not finite or beyond the duration is an error. If a step fails, the
 * integrator stays at the start of that step. */
SALTUS_API saltus_status saltus_integrator_advance(saltus_integrator* it, double t, unsigned stop,
                                                   const saltus_event** event);

/* The present state; at a jump the one after it. Valid until the next call that changes it. */
SALTUS_API double saltus_integrator_time(const saltus_integrator* it);
SALTUS_API const double* saltus_integrator_q(const saltus_integrator* it); /* [nq] */
SALTUS_API const double* saltus_integrator_v(const saltus_integrator* it); /* [nv] */

/* The state at any time between *from and the present one, on the given side of a jump of v; q or v may be NULL.
 * SALTUS_ERR_RANGE for other times. */
SALTUS_API saltus_status saltus_integrator_dense(saltus_integrator* it, double t, saltus_side side,
                                                 double* q, double* v);

/* Non-impulsive contact forces at such a time, [3 nc] N, normal first, 0 for open contacts; impulses
 * of impacts are in the events. */
SALTUS_API saltus_status saltus_integrator_forces(saltus_integrator* it, double t, double* force);

/* Non-impulsive force of one contact. */
typedef struct saltus_contact_force {
  uint64_t identity; /* in a fixed set its index */
  int law;           /* index in the laws of the system */
  double force[3];   /* N, normal first */
  SALTUS_RESERVED(2);
} saltus_contact_force;

/* The same by identity, for a fixed or time-varying set: the contacts with a force at such a time. *count is their
 * number; the first `room` of them are written. */
SALTUS_API saltus_status saltus_integrator_contact_forces(saltus_integrator* it, double t,
                                                          saltus_contact_force* forces, int room,
                                                          int* count);

/* The earliest time covered by dense output. */
SALTUS_API double saltus_integrator_dense_from(const saltus_integrator* it);

/* Events up to the present time, in order: their number, and event i from 0; NULL if it does not exist or is no longer
 * stored. */
SALTUS_API long long saltus_integrator_event_count(const saltus_integrator* it);
SALTUS_API const saltus_event* saltus_integrator_event(const saltus_integrator* it, long long i);

/* Complete state: an integrator of the same system, scheme and options that loads it continues bitwise identically
 * from the same time inside of its last step. Dense output then begins at the start of that step, and earlier events
 * are not stored. SALTUS_ERR_INPUT for other bytes, without changes. */
SALTUS_API size_t saltus_integrator_snapshot_bytes(const saltus_integrator* it);
SALTUS_API void saltus_integrator_snapshot_save(const saltus_integrator* it, void* bytes);
SALTUS_API saltus_status saltus_integrator_snapshot_load(saltus_integrator* it, const void* bytes,
                                                         size_t size);

/* Work since creation. */
typedef struct saltus_integrator_cost {
  saltus_work work;
  const saltus_tally* tally;            /* steps, rejections, methods, limits of the step size */
  long long events[SALTUS_EVENT_KINDS]; /* by kind, up to the present time */
  SALTUS_RESERVED(4);
} saltus_integrator_cost;

/* Counters since the creation. */
SALTUS_API saltus_integrator_cost saltus_integrator_costs(const saltus_integrator* it);

SALTUS_END_DECLS

#endif
