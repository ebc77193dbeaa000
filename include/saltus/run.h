/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.h - a run: a scene, overrides, and results.
 *
 *   saltus_run_def def = saltus_run_def_default();
 *   def.scene = saltus_scene_get_view(scene);
 *   def.tol = 1e-8;
 *   saltus_run* run;
 *   saltus_status status = saltus_run_create(&def, &run);
 *   if (status == SALTUS_OK) {
 *     status = saltus_run_execute(run);
 *     ... saltus_run_outcome(run)->t, ->q, ->penetration
 *   }
 *   saltus_run_destroy(run);
 *
 * All settings (scheme, controller, meaning of a tolerance, recorded states) are resolved here and nowhere
 * else, from the overrides, then the scene, then the defaults. docs/run.md has the table.
 */
#ifndef SALTUS_RUN_H
#define SALTUS_RUN_H

#include "saltus/scene.h"
#include "saltus/sim.h"

SALTUS_BEGIN_DECLS

/* Snapshot of a run: its settings, and the state of its simulation. */
typedef struct saltus_run_snapshot {
  const char* target; /* name of the model, as given by the caller */
  const char* scene;  /* text of the scene; "" for a system without one */
  const char* scheme;
  const saltus_override* options; /* all of them */
  int option_count;
  const char* control; /* NULL: none */
  const saltus_override* control_options;
  int control_option_count;
  double start, until; /* s */
  double t;            /* s, time of the snapshot */
  double h;            /* s, exact step; 0: chosen by the scheme */
  const void* state;   /* of saltus_sim_snapshot_save */
  size_t state_bytes;
} saltus_run_snapshot;

/* Reference solution just after t; false where it is undefined. */
typedef struct saltus_run_exact {
  bool (*at)(const void* self, double t, double* q, double* v); /* NULL: none */
  const void* self;
} saltus_run_exact;

/* Members that are NaN, 0 (counts) or NULL are not given: the values of the scene are used. */
typedef struct saltus_run_def {
  const saltus_scene_view* scene; /* of a scene, or of saltus_run_system; outlives the run */

  const char* scheme;
  /* Of the scheme, by name; override those of the scene for the same scheme */
  const saltus_override* options;
  int option_count;
  const char* options_line; /* the same in one text, applied first: "theta=0.5 gamma=1" */
  const char* control;      /* step-size controller */
  const saltus_override* control_options;
  int control_option_count;
  double step;       /* s; fixed steps, or the longest one of a scheme that chooses */
  double tol;        /* rtol = atol, of the scheme or of a controller */
  double rtol, atol; /* one of them alone, of a scheme that chooses its steps */
  double until;      /* s */

  double start; /* s; another initial time, with its state: */
  const double* q0;
  const double* v0;
  /* Continues a snapshot with its scheme memory; scheme, options, controller and step are those of the
   * snapshot and must not be given */
  const saltus_run_snapshot* resume;

  long long record_every; /* steps between recorded states */
  double record_dt;       /* s between recorded states instead */
  const double* record_times;
  int record_time_count;
  bool record_jumps; /* also both sides of every impact, if the scheme locates them */
  const saltus_recorder* recorders;
  int recorder_count;

  saltus_run_exact exact;
  saltus_progress progress;   /* by a monotonic clock, see sim.h */
  int threads;                /* as in saltus_scheme_def */
  const volatile int* cancel; /* as in saltus_sim_def */
  /* Before the names of overrides in messages: "--" on a command line; NULL: nothing */
  const char* mark;
  saltus_log log;                    /* receives the reasons of errors */
  const saltus_allocator* allocator; /* NULL: the C library */
  bool global;              /* tolerances are of the motion, not of a step: saltus_run_tighten */
  bool record_middles;      /* also the middle of every step of a scheme that chooses them */
  const saltus_event* past; /* as in saltus_sim_def, of another start */
  int past_count;
  /* Advanced by saltus_run_advance; without recorders of frames and energy balance. `until` may be
   * infinite then: no end */
  bool stepping;
  bool step_ends; /* saltus_run_advance also stops at the end of each own step, without an event */
  SALTUS_RESERVED(5);
} saltus_run_def;

/* Nothing is given. */
SALTUS_API saltus_run_def saltus_run_def_default(void);

/* A view for a system without a scene: it starts at 0 s, with defaults otherwise. */
SALTUS_API saltus_scene_view saltus_run_system(const saltus_system* system, const double* q0,
                                               const double* v0);

/* Resolved settings of a run. Valid as long as the run. */
typedef struct saltus_run_settings {
  const saltus_scheme_info* scheme;
  bool own;                 /* it is the scheme of the scene */
  const void* options;      /* of the scheme */
  const char* options_text; /* "theta=0.5 gamma=1" */
  const char* control;      /* step-size controller; NULL: none */
  saltus_control_options control_options;
  double rtol, atol, atol_velocity; /* of a scheme that chooses its steps; NaN: it does not */
  double start, until;              /* s */
  double step;                      /* s, as requested; NaN: not given */
  double h;                         /* s, exact; 0: chosen, or controlled */
  long long steps;                  /* total number; 0: variable length */
  long long record_every;
  double record_dt; /* s; 0: by steps, or at given times */
  bool record_jumps;
  /* Tolerances are of the motion; those above are of its steps after saltus_run_tighten */
  bool global;
  bool record_middles;
} saltus_run_settings;

enum { SALTUS_RUN_FIRST = 4 };

/* Events of one kind; `last` and `worst` (by its energy) are valid if there is one. */
typedef struct saltus_run_events {
  long long count;
  saltus_event first[SALTUS_RUN_FIRST]; /* as many as there are */
  saltus_event last, worst;
} saltus_run_events;

enum { SALTUS_RUN_TRIALS = 16 };

/* Estimate (not a bound) of the global error, by the distances of runs with different tolerances. Errors and
 * distances are relative to the requested atol + rtol |x|; docs/theory/global.md. */
typedef struct saltus_run_accuracy {
  bool known;
  double rtol, atol;    /* requested of the motion */
  double part;          /* ratio of local to global tolerance */
  double error;         /* largest, at most 1: twice the distance from finer runs */
  double t;             /* s, where that is */
  double amplification; /* half of that over part: growth of local errors */
  double predictable;   /* s; time up to which a rejected motion is determined; else NaN */
  int trials;           /* runs before this one, with: */
  double parts[SALTUS_RUN_TRIALS];
  double distances[SALTUS_RUN_TRIALS]; /* to the next finer one; of the last 0 */
  long long steps;                     /* of all of them */
  double cpu;                          /* s */
} saltus_run_accuracy;

/* Results. Valid until the run is destroyed; updated while it proceeds. */
typedef struct saltus_run_result {
  saltus_status status; /* how it ended */
  const char* reason;   /* "complete", or the status as text with its time */
  double t;             /* s, where it ended */
  const double* q;      /* [nq] there */
  const double* v;      /* [nv] */
  long long steps;      /* since the start, also of a run that was resumed */
  double cpu;           /* s of computing time */

  long long frames; /* recorded states */
  long long rejections;
  double estimate; /* largest error estimate of a controller, in tolerances */

  saltus_run_events events[SALTUS_EVENT_KINDS];
  double impact_loss;    /* J, -ledger.impact; friction at impacts is part of ledger.friction */
  const double* outputs; /* [output_count] of the scene, at the last recorded state */
  const long long* crossings; /* [2 event_count] of the scene's own events: rising, falling */

  double energy_start, energy_end; /* J */
  saltus_energy ledger;            /* J since the start */
  long long creations;             /* steps in which impacts created energy */
  double first_creation;           /* s; NaN: none */

  double penetration;       /* m, deepest */
  double residual_velocity; /* m/s, largest residual of the contact law */
  double residual_impulse;  /* N s */
  double joint_drift;
  double projection; /* m, largest displacement by projection in a step */

  long long compared; /* states at which the reference was defined */
  double error;       /* of positions, largest; NaN: nothing was compared */
  double error_mean;  /* its integral over time */

  saltus_work work;
  const saltus_tally* tally; /* of a scheme that chooses its steps */

  saltus_run_accuracy accuracy; /* of a run with `global` */

  const saltus_worst* residuals; /* [SALTUS_RESIDUALS] the worst of all steps */
} saltus_run_result;

typedef struct saltus_run saltus_run;

/* Resolves the settings and creates the simulation. On failure *out is NULL and the log names the
 * invalid override, option or member: SALTUS_ERR_NAME, SALTUS_ERR_RANGE, SALTUS_ERR_UNSUPPORTED,
 * SALTUS_ERR_INPUT, SALTUS_ERR_UNDEFINED, SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_run_create(const saltus_run_def* def, saltus_run** out);
SALTUS_API void saltus_run_destroy(saltus_run* run);

/* Resolved settings; valid until the run is destroyed. */
SALTUS_API const saltus_run_settings* saltus_run_get_settings(const saltus_run* run);

/* One more recorder, after those of the definition and before the first saltus_run_execute: all settings
 * are resolved then. SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_run_record(saltus_run* run, saltus_recorder recorder);

/* Of a run with `global`: repeats it, without recorders, with smaller local tolerances until three runs agree that
 * the global error is below the request, and selects the largest sufficient tolerance. The first saltus_run_execute does this
 * if it was not called. SALTUS_ERR_ACCURACY if double precision is insufficient for the error growth; the log has
 * the time. SALTUS_ERR_STOPPED as below; another call restarts. No effect without `global`. */
SALTUS_API saltus_status saltus_run_tighten(saltus_run* run);

/* Runs to the end. SALTUS_ERR_STOPPED if the progress callback or the flag requested it: recorders have
 * received the last state, and another call continues to the same end. Any other status
 * than SALTUS_OK: the state is that before the failed step, and the log has the reason. */
SALTUS_API saltus_status saltus_run_execute(saltus_run* run);

/* Of a run with `stepping`: advances to the time t, or to the first event before it whose kind is among stop
 * (SALTUS_STOP). *event then is that event, else NULL; event may be NULL. Events of one instant stop one after the
 * other. Steps of schemes that choose them by dense output do not depend on these times; the states are bitwise those
 * of saltus_run_execute. With fixed steps t has to be a whole number of them from the start, and no event stops them.
 * Inputs of the scene may be set between two calls. SALTUS_ERR_RANGE for other times, with a message; after any
 * other error the run is at the start of the failed step. */
SALTUS_API saltus_status saltus_run_advance(saltus_run* run, double t, unsigned stop,
                                            const saltus_event** event);

/* State of a run with `stepping`. Pointers are valid until it is destroyed, values until the next advance. */
typedef struct saltus_run_instant {
  double t;        /* s */
  const double* q; /* [nq] after the events at t */
  const double* v; /* [nv] */
  /* left limit at the event of the last advance that stopped at one */
  const double* q_left;
  const double* v_left;
} saltus_run_instant;

/* The present state of such a run. */
SALTUS_API saltus_run_instant saltus_run_present(const saltus_run* run);

/* Outputs of the scene [output_count] at the present state or its left limit, with forces of joints where the scheme
 * has them; NaN for those outputs where it has not. */
SALTUS_API saltus_status saltus_run_outputs(saltus_run* run, saltus_side side, double* outputs);

/* The state of a run with `stepping` as bytes, at any time inside a step. A run of the same scene and settings that
 * loads it continues with the same bits; inputs are set to those of the saved run before. Equal runs have equal bytes.
 * SALTUS_ERR_INPUT for other bytes: nothing has changed then. */
SALTUS_API size_t saltus_run_state_bytes(const saltus_run* run);
SALTUS_API void saltus_run_state_save(const saltus_run* run, void* bytes);
SALTUS_API saltus_status saltus_run_state_load(saltus_run* run, const void* bytes, size_t size);

/* Results so far; valid until the run is destroyed. */
SALTUS_API const saltus_run_result* saltus_run_outcome(const saltus_run* run);

/* Requested accuracy, steps and their limits as text, one sentence per line; "" before the first step. As snprintf:
 * writes at most bytes, returns the full length. */
SALTUS_API size_t saltus_run_explain(const saltus_run* run, char* text, size_t bytes);

/* The run as bytes that saltus_run_snapshot_create reads: lines of text, the scene, the state. target
 * names the model, scene is its text. Returns the number of bytes; writes them unless bytes is NULL. */
SALTUS_API size_t saltus_run_snapshot_save(const saltus_run* run, const char* target,
                                           const char* scene, void* bytes);

/* path names the file in messages. SALTUS_ERR_INPUT for bytes that are not a snapshot, or an unknown scheme or
 * controller; *out is NULL then and the log has the reason. */
SALTUS_API saltus_status saltus_run_snapshot_create(const char* path, const void* bytes,
                                                    size_t size, saltus_log log,
                                                    const saltus_allocator* allocator,
                                                    saltus_run_snapshot** out);
SALTUS_API void saltus_run_snapshot_destroy(saltus_run_snapshot* snapshot);

SALTUS_END_DECLS

#endif
