/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.h - a run: a scene, what is to be done otherwise than it says, and what came out.
 *
 *   saltus_run_def def = saltus_run_def_default();
 *   def.scene = saltus_scene_look(scene);
 *   def.tol = 1e-8;
 *   saltus_run* run;
 *   saltus_status status = saltus_run_create(&def, &run);
 *   if (status == SALTUS_OK) {
 *     status = saltus_run_go(run);
 *     ... saltus_run_outcome(run)->t, ->q, ->penetration
 *   }
 *   saltus_run_destroy(run);
 *
 * Every question that a run leaves open (which scheme, which controller, what a tolerance means, which
 * states are recorded) is answered here and nowhere else, from the overrides, then the scene, then the
 * defaults. docs/run.md has the table.
 */
#ifndef SALTUS_RUN_H
#define SALTUS_RUN_H

#include "saltus/scene.h"
#include "saltus/sim.h"

SALTUS_BEGIN_DECLS

/* A run that was kept: how it was made, and the state of its simulation. */
typedef struct saltus_run_snapshot {
  const char* target; /* what was run, as the caller named it */
  const char* scene;  /* text of the scene; "" for a system without one */
  const char* scheme;
  const saltus_override* options; /* all of them */
  int option_count;
  const char* control; /* NULL: none */
  const saltus_override* control_options;
  int control_option_count;
  double start, until; /* s */
  double t;            /* s, where it was kept */
  double h;            /* s, exact step; 0: chosen by the scheme */
  const void* state;   /* of saltus_sim_snapshot_save */
  size_t state_bytes;
} saltus_run_snapshot;

/* The motion that a run is compared with, just after t; false where it is not known. */
typedef struct saltus_run_exact {
  bool (*at)(const void* self, double t, double* q, double* v); /* NULL: not known at all */
  const void* self;
} saltus_run_exact;

/* Numbers that are NaN, counts that are 0 and pointers that are NULL are not given: the scene decides. */
typedef struct saltus_run_def {
  const saltus_scene_view* scene; /* of a scene, or of saltus_run_system; outlives the run */

  const char* scheme;
  const saltus_override*
      options; /* of the scheme, by name; over the scene's when it is its scheme */
  int option_count;
  const char* options_line; /* the same in one text, before those: "theta=0.5 gamma=1" */
  const char* control;      /* step-size controller */
  const saltus_override* control_options;
  int control_option_count;
  double step;       /* s; fixed steps, or the longest one of a scheme that chooses */
  double tol;        /* rtol = atol, of the scheme or of a controller */
  double rtol, atol; /* one of them alone, of a scheme that chooses its steps */
  double until;      /* s */

  double start; /* s; another start than the scene's, with its state: */
  const double* q0;
  const double* v0;
  const saltus_run_snapshot* resume; /* goes on there, with everything the scheme remembers; its
                                      * scheme, options, controller and step, none given beside */

  long long record_every; /* steps between recorded states */
  double record_dt;       /* s between recorded states instead */
  const double* record_times;
  int record_time_count;
  bool record_jumps; /* also both sides of every impact, where the scheme knows them */
  const saltus_recorder* recorders;
  int recorder_count;

  saltus_run_exact exact;
  saltus_progress progress;   /* by a monotonic clock, see sim.h */
  int threads;                /* as in saltus_scheme_def */
  const volatile int* cancel; /* as in saltus_sim_def */
  const char*
      mark; /* before the names of overrides in messages: "--" on a command line; NULL: nothing */
  saltus_log log;                    /* gets why something is refused or fails */
  const saltus_allocator* allocator; /* NULL: the C library */
  bool global;         /* tolerances are of the motion, not of a step: saltus_run_tighten */
  bool record_middles; /* also the middle of every step of a scheme that chooses them */
  SALTUS_RESERVED(7);
} saltus_run_def;

/* Nothing is given. */
SALTUS_API saltus_run_def saltus_run_def_default(void);

/* A view for a system without a scene: it starts at 0 s, and nothing else is said. */
SALTUS_API saltus_scene_view saltus_run_system(const saltus_system* system, const double* q0,
                                               const double* v0);

/* What a run does: every question has its answer here. Valid as long as the run. */
typedef struct saltus_run_settings {
  const saltus_scheme_info* scheme;
  bool own;                 /* it is the scheme that the scene names */
  const void* options;      /* of the scheme */
  const char* options_text; /* "theta=0.5 gamma=1" */
  const char* control;      /* step-size controller; NULL: none */
  saltus_control_options control_options;
  double rtol, atol, atol_velocity; /* of a scheme that chooses its steps; NaN: it does not */
  double start, until;              /* s */
  double step;                      /* s, as asked; NaN: not given */
  double h;                         /* s, exact; 0: chosen, or controlled */
  long long steps;                  /* in all; 0: they differ in length */
  long long record_every;
  double record_dt; /* s; 0: by steps, or at given times */
  bool record_jumps;
  bool global; /* tolerances are of the motion; those above of its steps, once it is tightened */
  bool record_middles;
} saltus_run_settings;

enum { SALTUS_RUN_FIRST = 4 };

/* Events of one kind; `last` and `worst` (by the energy it brought) hold when there is one. */
typedef struct saltus_run_events {
  long long count;
  saltus_event first[SALTUS_RUN_FIRST]; /* as many as there are */
  saltus_event last, worst;
} saltus_run_events;

enum { SALTUS_RUN_TRIALS = 16 };

/* How well a motion is known, by the distances of runs with different tolerances: an estimate, no bound. Errors and
 * distances are in what is asked of the motion, atol + rtol |x|; docs/theory/global.md says of what. */
typedef struct saltus_run_accuracy {
  bool known;
  double rtol, atol;    /* asked of the motion */
  double part;          /* of them is asked of a step */
  double error;         /* largest, at most 1: twice what distances from finer runs say */
  double t;             /* s, where that is */
  double amplification; /* half of that over part: what errors of steps grow to */
  double predictable;   /* s; up to there a motion that could not be tightened is known; else NaN */
  int trials;           /* runs before this one, with: */
  double parts[SALTUS_RUN_TRIALS];
  double distances[SALTUS_RUN_TRIALS]; /* to the next finer one; of the last 0 */
  long long steps;                     /* of all of them */
  double cpu;                          /* s */
} saltus_run_accuracy;

/* What came out. Valid until the run is destroyed; numbers grow while it goes on. */
typedef struct saltus_run_result {
  saltus_status status; /* how it ended */
  const char* reason;   /* "complete", or the status in words with its time */
  double t;             /* s, where it ended */
  const double* q;      /* [nq] there */
  const double* v;      /* [nv] */
  long long steps;      /* since the start, also of a run that was resumed */
  double cpu;           /* s of computing time */

  long long frames; /* recorded states */
  long long rejections;
  double estimate; /* largest error estimate of a controller, in tolerances */

  saltus_run_events events[SALTUS_EVENT_KINDS];
  double impact_loss;         /* J that impacts took */
  const double* outputs;      /* [output_count] of the scene, at the last recorded state */
  const long long* crossings; /* [2 event_count] of the scene's own events: rising, falling */

  double energy_start, energy_end; /* J */
  saltus_energy ledger;            /* J since the start */
  long long creations;             /* steps in which impacts created energy */
  double first_creation;           /* s; NaN: none */

  double penetration;       /* m, deepest */
  double residual_velocity; /* m/s, how well the contact law holds */
  double residual_impulse;  /* N s */
  double joint_drift;
  double projection; /* m, largest movement back onto constraints in a step */

  long long compared; /* states at which the exact motion was known */
  double error;       /* of positions, largest; NaN: nothing was compared */
  double error_mean;  /* its integral over time */

  saltus_work work;
  const saltus_tally* tally; /* of a scheme that chooses its steps */

  saltus_run_accuracy accuracy; /* of a run with `global` */

  const saltus_worst* residuals; /* [SALTUS_RESIDUALS] the worst of all steps */
} saltus_run_result;

typedef struct saltus_run saltus_run;

/* Answers every question and makes the simulation. On failure *out is NULL and the log has said which
 * override, option or member is wrong: SALTUS_ERR_NAME, SALTUS_ERR_RANGE, SALTUS_ERR_UNSUPPORTED,
 * SALTUS_ERR_INPUT, SALTUS_ERR_UNDEFINED, SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_run_create(const saltus_run_def* def, saltus_run** out);
SALTUS_API void saltus_run_destroy(saltus_run* run);

SALTUS_API const saltus_run_settings* saltus_run_about(const saltus_run* run);

/* One more recorder, after those of the definition and before the first saltus_run_go: what it needs to
 * know about the run is known now. SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_run_record(saltus_run* run, saltus_recorder recorder);

/* Of a run with `global`: repeats it, unseen by recorders, with smaller tolerances of steps until three runs show that
 * the motion is known to what was asked, and gives it the largest tolerance that does. The first saltus_run_go does this
 * where it has not been called. SALTUS_ERR_ACCURACY when double precision is not enough: errors grow too much; the log has
 * said from when on. SALTUS_ERR_STOPPED as below; another call begins anew. Nothing is done without `global`. */
SALTUS_API saltus_status saltus_run_tighten(saltus_run* run);

/* To the end. SALTUS_ERR_STOPPED when the progress callback or the flag wanted no more: recorders have
 * got the state it had reached, and another call goes on from there to the same end. Any other status
 * than SALTUS_OK: the state is that before the step that failed, and the log has said why. */
SALTUS_API saltus_status saltus_run_go(saltus_run* run);

SALTUS_API const saltus_run_result* saltus_run_outcome(const saltus_run* run);

/* What was asked of the steps, how they went and what limited them, in plain words, a sentence in a line; "" before the
 * run has gone on. As snprintf: what fits into text[bytes], and how long the whole is. */
SALTUS_API size_t saltus_run_explain(const saltus_run* run, char* text, size_t bytes);

/* The run as bytes that saltus_run_snapshot_create reads: lines of text, the scene, the state. target
 * names what was run, scene is its text. Returns how many bytes; writes them unless bytes is NULL. */
SALTUS_API size_t saltus_run_snapshot_save(const saltus_run* run, const char* target,
                                           const char* scene, void* bytes);

/* path names the file in messages. SALTUS_ERR_INPUT for bytes that are no snapshot, a scheme or a
 * controller that is not there; *out is NULL then and the log has said why. */
SALTUS_API saltus_status saltus_run_snapshot_create(const char* path, const void* bytes,
                                                    size_t size, saltus_log log,
                                                    const saltus_allocator* allocator,
                                                    saltus_run_snapshot** out);
SALTUS_API void saltus_run_snapshot_destroy(saltus_run_snapshot* snapshot);

SALTUS_END_DECLS

#endif
