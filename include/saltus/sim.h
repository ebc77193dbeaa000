/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim.h - a simulation: a system, a scheme, a state and observers.
 *
 * With fixed steps time is t = t0 + n h, not a running sum. A new state is checked before it replaces the old one, so
 * states are always finite. A run that is resumed from a snapshot on the same build is bitwise identical to an
 * uninterrupted one.
 */
#ifndef SALTUS_SIM_H
#define SALTUS_SIM_H

#include "saltus/control.h"
#include "saltus/ledger.h"
#include "saltus/observe.h"
#include "saltus/residual.h"
#include "saltus/scheme.h"

SALTUS_BEGIN_DECLS

/* A contact since the last recorded frame. Force and impulses are separate: impulses plus the time integral of the
 * force are the total momentum transfer, for any recording interval. For a time-varying set: contacts that exist now,
 * and contacts that acted since the last frame. */
typedef struct saltus_contact_frame {
  double gap;        /* m, now; NaN for a contact that no longer exists */
  double velocity;   /* m/s, normal relative velocity now */
  double force[3];   /* N, mean since the last frame, without impacts; normal first */
  double impulse[3]; /* N s, sum of the impacts since the last frame */
  /* J, work of its friction since the start, negative for a loss; in a time-varying set since the last
   * frame */
  double friction;
  double impact;     /* J, work of its normal impulses, likewise */
  uint64_t identity; /* permanent; in a fixed set the key */
  int law;           /* index in the laws of the system */
  int bodies[2];     /* -1: none, or unknown */
  double point[3];   /* m; NaN: not provided by the system */
  double normal[3];  /* of length 1, towards the first body; NaN likewise */
  SALTUS_RESERVED(2);
} saltus_contact_frame;

/* A recorded instant. Valid during the callback. */
typedef struct saltus_frame {
  long long step;
  double t;
  const double* q;
  const double* v;
  const double* outputs; /* [output_count] of the observables; NULL: none */
  int output_count;
  double kinetic, potential; /* J; NaN if not provided by the system */
  saltus_energy energy;      /* J since the start, up to the end of the present step */
  long long creations;       /* steps since the start in which impacts created energy */
  /* [contact_count] by key; in a time-varying set all present contacts, by ascending identity */
  const saltus_contact_frame* contacts;
  int contact_count;
  const double* joint_forces; /* [nj] N, mean since the last frame, without impacts */
  double residual_velocity;   /* m/s, largest since the last frame */
  double residual_impulse;    /* N s, largest since the last frame */
  double penetration;         /* m, deepest since the last frame; 0: none */
  double joint_drift;         /* largest |g| of joints at the ends of steps since the last frame */
  double projection;    /* m, largest displacement by projection since the last frame; 0: none */
  double h;             /* s, length of the last step */
  double error;         /* largest error estimate since the last frame, in tolerances */
  int error_order;      /* of the local error in the last step, as used by a controller */
  long long rejections; /* trial steps rejected by a controller since the last frame */
  const double* joint_impulses; /* [nj] N s, sum of those at impacts since the last frame */
} saltus_frame;

/* An observer. A status other than SALTUS_OK ends the run after the current step. */
typedef struct saltus_recorder {
  saltus_status (*frame)(void* user, const saltus_frame* frame); /* NULL: not interested */
  saltus_status (*event)(void* user, const saltus_event* event); /* NULL: not interested */
  void* user;
  /* the state at the start and after every step, recorded or not; NULL: not requested */
  saltus_status (*step)(void* user, double t, const double* q, const double* v);
  int contacts_unseen; /* 1: contacts of frames are not used and need not be computed */
  int ledger_unseen; /* 1: energies are not used; if no recorder has `frame` and all set this, there is no ledger */
  /* A contact of a contact problem, with the number of iterations of the problem, at least 1; linear systems count
   * one. Called inside of steps by one thread, also for rejected trial steps; NULL: not requested */
  void (*effort)(void* user, uint64_t identity, long long iterations);
  SALTUS_RESERVED(1);
} saltus_recorder;

/* Called at intervals of the clock, between steps, trial steps and frames inside of a step; with `changes` only
 * between steps, where it may set inputs for the next step. A status other than SALTUS_OK stops the run as soon as
 * possible with SALTUS_ERR_STOPPED, after a frame of the present state. */
typedef struct saltus_progress {
  saltus_status (*report)(void* user, double t, double t_end, long long step);
  void* user;
  double interval;             /* s, least time between two calls; 0: 0.1 */
  double (*clock)(void* user); /* s, monotonic; NULL: clock of the machine */
  SALTUS_RESERVED(2);
} saltus_progress;

typedef struct saltus_sim_def {
  const saltus_system* system;
  const char* scheme;
  const void* options;         /* NULL: the scheme's defaults */
  const double* atol_q;        /* [nv] absolute tolerances of a scheme or a controller that has one,
                                * of positions along each velocity (m, rad),
                                * 0: by the options; NULL: all of them; copied */
  const double* atol_v;        /* [nv] the same for velocities, of a scheme */
  double t0;                   /* s */
  double h;                    /* s, step; not used under step control; the largest one, or 0, of
                                * a scheme that chooses its steps */
  const double* q0;            /* [nq] */
  const double* v0;            /* [nv] */
  const char* control;         /* name of a step-size controller; NULL: steps of length h */
  const void* control_options; /* saltus_control_options; NULL: the controller's defaults */
  const saltus_recorder* recorders;
  int recorder_count;
  long long record_every;     /* steps between frames, 0: 1; first and last are always recorded */
  double record_dt;           /* s; > 0: frames at t0 + k record_dt instead, by dense output */
  const double* record_times; /* [record_time_count] s, rising: frames at these; copied */
  int record_time_count;
  bool record_jumps; /* also a frame on each side of every impact, of schemes with dense output */
  const saltus_observables* observables; /* reported to recorders; NULL: none */
  saltus_progress progress;
  int threads; /* as in saltus_scheme_def */
  /* a nonzero value stops the run as soon as possible, between frames or inside of a step, with a frame of
   * the present state and SALTUS_ERR_STOPPED; NULL: never */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator;
  /* Counter of external changes of the system, as by an input of a scene: the memory of the scheme is
   * discarded after a change. NULL: never. */
  const uint64_t* changes;
  bool record_middles; /* also a frame in the middle of every step, of schemes with dense output */
  /* Events of the motion before t0, by time; their switches are applied at creation. NULL: none. */
  const saltus_event* past;
  int past_count;
  SALTUS_RESERVED(4);
} saltus_sim_def;

typedef struct saltus_sim saltus_sim;

/* On failure *out is NULL and the log names the invalid member. */
SALTUS_API saltus_status saltus_sim_create(const saltus_sim_def* def, saltus_sim** out);
SALTUS_API void saltus_sim_destroy(saltus_sim* sim);

/* One step. On failure the state is untouched. */
SALTUS_API saltus_status saltus_sim_step(saltus_sim* sim);

/* Checks the end of a run: SALTUS_ERR_RANGE if t_end is before the start, when steps
 * or frames are shorter than the resolution of time there, or when a scheme that chooses its steps has
 * less than 1e-12 s. The functions below do the same. */
SALTUS_API saltus_status saltus_sim_check_end(const saltus_sim* sim, double t_end);

/* Runs up to step number `steps`, with the first and last frames of recorders; fixed steps only. */
SALTUS_API saltus_status saltus_sim_run(saltus_sim* sim, long long steps);

/* Runs to t_end: with fixed steps to the first t0 + n h not before it, else exactly. */
SALTUS_API saltus_status saltus_sim_run_until(saltus_sim* sim, double t_end);

/* Number of steps of about h from t0 to t_end, and the exact step size; h_out may be NULL. Saturates at the largest
 * number. */
SALTUS_API long long saltus_sim_step_count(double t0, double t_end, double h, double* h_out);

/* Accepted steps, time [s], state q [nq] and v [nv], counters. Pointers are valid until the next step. */
SALTUS_API long long saltus_sim_steps_done(const saltus_sim* sim);
SALTUS_API double saltus_sim_time(const saltus_sim* sim);
SALTUS_API const double* saltus_sim_q(const saltus_sim* sim);
SALTUS_API const double* saltus_sim_v(const saltus_sim* sim);
SALTUS_API saltus_work saltus_sim_work(const saltus_sim* sim);
SALTUS_API const saltus_tally* saltus_sim_tally(const saltus_sim* sim);

/* [SALTUS_RESIDUALS] largest residuals since the start or the last load of a snapshot; computed only with recorders. */
SALTUS_API const saltus_worst* saltus_sim_residuals(const saltus_sim* sim);

/* Energy balance of the last step and of all steps; computed only with recorders. */
SALTUS_API saltus_energy saltus_sim_energy_step(const saltus_sim* sim);
SALTUS_API saltus_energy saltus_sim_energy_total(const saltus_sim* sim);

/* Steps in which contacts created energy in an impact, and the time of the first; t may be NULL. */
SALTUS_API long long saltus_sim_energy_creations(const saltus_sim* sim, double* t);

/* Report of the last step taken. */
SALTUS_API const saltus_step_report* saltus_sim_report(const saltus_sim* sim);

/* Snapshot of the complete state. Loading rejects bytes of another scheme, size or step with SALTUS_ERR_INPUT, without
 * changes. */
SALTUS_API size_t saltus_sim_snapshot_bytes(const saltus_sim* sim);
SALTUS_API void saltus_sim_snapshot_save(const saltus_sim* sim, void* bytes);
SALTUS_API saltus_status saltus_sim_snapshot_load(saltus_sim* sim, const void* bytes, size_t size);

SALTUS_END_DECLS

#endif
