/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scheme_ops.h - interface between a scheme and its driver: the mathematics of a scheme alone.
 *
 * The driver validates, owns memory, counts, checks the new state and commits. A scheme takes its
 * arrays from an arena and computes (q1, v1) from (q0, v0); it may not allocate, print, or change
 * anything but its outputs and its work arrays.
 */
#ifndef SALTUSI_SCHEME_OPS_H
#define SALTUSI_SCHEME_OPS_H

#include "saltus/scheme.h"
#include "scheme/energy_gain.h"
#include "system/evaluate.h"
#include "system/state_transfer.h"

#include <stdint.h>

/* Events of a step. If there are more than the capacity, the step is repeated. */
typedef struct saltusi_event_list {
  saltus_event* items; /* [room] */
  int room, count;
} saltusi_event_list;

/* Arguments of one step of a scheme. */
typedef struct saltusi_step {
  saltusi_eval* eval;
  double t, h;
  const double* q0;              /* [nq] */
  const double* v0;              /* [nv] */
  double* q1;                    /* [nq] out */
  double* v1;                    /* [nv] out */
  const double* memory0;         /* carried data of the scheme at the start */
  double* memory1;               /* out: carried data at the end */
  saltus_contact_step* contacts; /* [nc] out: the first report->active */
  double* joint_impulses;        /* [nj] out */
  /* [nj] out of schemes that locate events: the part at impacts; zero before */
  double* joint_impacts;
  const double* atol_q; /* [nv] tolerances of positions along each velocity; NULL: not given */
  const double* atol_v; /* [nv] */
  double* q_error;      /* [nq] out of schemes with an embedded method: a change of q1 */
  double* v_error;      /* [nv] the same */
  saltusi_event_list* events; /* out of schemes that locate them: by saltusi_step_event */
  double* dense;              /* [dense_count] out: the motion inside the step */
  bool* closed;               /* out: the joints are at q1, to rounding; false before */
  saltus_step_report* report; /* out */
  /* Impact laws, for a scheme that locates impacts; NULL: that of the scheme */
  struct saltusi_impact_step* jump;
  saltus_log log;
} saltusi_step;

/* report->error_order of a step whose embedded error has order 0; 0: that of the scheme. */
enum { SALTUSI_ERROR_ORDER_ZERO = -1 };

/* Reports an event; in order of time. */
static inline void saltusi_step_event(const saltusi_step* step, const saltus_event* event) {
  saltusi_event_list* list = step->events;
  if (list == NULL) {
    return; /* not requested */
  }
  if (list->count < list->room) {
    list->items[list->count] = *event;
  }
  list->count++;
}

/* A query of the motion inside a step. */
typedef struct saltusi_dense_query {
  saltusi_eval* eval;
  double* data; /* dense output of the step; a scheme may complete it */
  double t;     /* s, within the step */
  saltus_side side;
  bool smooth; /* of the motion with Zeno points replaced by closed contact, for sums of work */
  double* q;   /* [nq] out */
  double* v;   /* [nv] out */
} saltusi_dense_query;

/* A Zeno sequence of impacts at the time of a query. In the smooth motion a bouncing contact is
 * closed; its impacts are then impulses along one direction, `mass` times the change of its
 * speed. */
typedef struct saltusi_bounce_inside {
  int key;
  double start;         /* m/s, initial speed of the sequence */
  double speed;         /* m/s, of the contact */
  double since, launch; /* s and m/s, start of the current flight */
  double* mass;         /* [3 nc] kg, in: workspace */
} saltusi_bounce_inside;

/* Describes doubles of a scheme, by data of the system that do not depend on contacts. */
typedef void saltusi_transfer_fn(const void* options, const saltus_system* sys,
                                 saltusi_state_transfer* carry);

/* A contact at the start of a step, all other members zero, set one by one (clear_report in scheme.c). */
static inline void saltusi_contact_open(saltus_contact_step* c, int key, int law, double gap) {
  c->key = key;
  c->law = law;
  c->gap = gap;
  c->u_before = c->u_after = 0.0;
  c->impact = c->replaced = false;
  c->part = SALTUS_IMPACT_WHOLE;
  c->whole_impact.work = c->whole_impact.steps = 0.0;
  c->identity = 0;
  c->twist_work = 0.0;
  c->slip_work = c->surface_work = c->normal_work = 0.0;
  for (int k = 0; k < 2; k++) {
    c->slip_before[k] = c->slip_after[k] = 0.0;
  }
  for (int k = 0; k < 3; k++) {
    c->impulse[k] = c->lasting[k] = 0.0;
    c->whole_impact.before[k] = c->whole_impact.after[k] = c->whole_impact.impulse[k] = 0.0;
  }
}

typedef struct saltusi_scheme_ops {
  saltus_scheme_info info;
  size_t work_size; /* workspace struct of the scheme, zeroed before layout */

  /* Doubles carried from step to step beyond q and v; NULL: none. */
  size_t (*memory_count)(const void* options, const saltus_system* sys);
  /* The layout of the same doubles, with those that belong to contacts. NULL: none do. */
  saltusi_transfer_fn* carry_memory;
  /* Whether doubles from outside are values that a step could have written; NULL: all finite values
   * are. */
  bool (*memory_valid)(const void* options, const saltus_system* sys, const double* memory);
  /* Clears `count` doubles of memory for a restart at t after a change of the inputs, but for data that remain useful;
   * NULL: clears all. */
  void (*resume)(double* memory, size_t count, double t);
  /* Whether the system supports the options, with a message when not; NULL: always. */
  saltus_status (*check)(const void* options, const saltus_system* sys, saltus_log log);
  /* Whether contacts with equal rows are distinct, as parallel springs are; NULL: they are not. */
  bool (*counts_each)(const void* options);
  /* Lays out every array in the arena, for eval->sys and the capacity eval->room. Called twice, first with an arena
   * that only counts, and again with zeroed memory whenever a step lacked capacity: no data that a step needs may be in
   * `work` alone. */
  void (*layout)(void* work, const void* options, const saltusi_eval* eval, saltus_arena* arena);
  /* For a scheme that chooses its step, h is the largest allowed step. It writes the accepted
   * length into report->h and carries its next proposal in its memory. */
  saltus_status (*step)(void* work, const void* options, const saltusi_step* step);

  /* Doubles that describe the motion inside one step; NULL: no dense output. The driver keeps those of
   * the last two committed steps. */
  size_t (*dense_count)(const void* options, const saltus_system* sys);
  saltusi_transfer_fn* carry_dense; /* as carry_memory */
  saltus_status (*dense)(void* work, const void* options, const saltusi_dense_query* query);
  /* One contact at the time of the query; NULL: its forces are undefined inside the step. */
  void (*dense_contact)(void* work, const void* options, const saltusi_dense_query* query, int key,
                        saltus_contact_inside* contact);
  /* W at the time of a query: power of friction in rows other than slip of a contact (rolling, spin, joints), and of
   * prescribed motion in them. NULL: 0. */
  void (*dense_power)(void* work, const void* options, const saltusi_dense_query* query,
                      double power[2]);
  /* J, the same of the impacts of the step. NULL: 0. */
  void (*dense_work)(void* work, const void* options, const saltusi_dense_query* query,
                     double into[2]);
  /* [nj] N of joints, and N s since the start of the step; either may be NULL. NULL: not
   * available. */
  void (*dense_joints)(void* work, const void* options, const saltusi_dense_query* query,
                       double* force, double* lasting);
  /* The Zeno sequence of impacts that the step extrapolates; false: none. NULL: never. */
  bool (*dense_bounce)(void* work, const void* options, const saltusi_dense_query* query,
                       saltusi_bounce_inside* bounce);
  /* [3 nc + nj] N, of contacts and joints at the state q0, v0 at t, after all events there. memory1
   * is workspace. NULL: not available. */
  saltus_status (*forces)(void* work, const void* options, const saltusi_step* step,
                          double* forces);
  bool own_clocks; /* independent islands of a system may step asynchronously */
  int runs_ahead;  /* positions that are computed ahead of the returned one */
} saltusi_scheme_ops;

/* The table of an options struct S from its fields, and the public function that gives its defaults. */
#define SALTUSI_TABLE(S, fields)                                                                   \
  { fields, sizeof fields / sizeof fields[0], sizeof(S) }
#define SALTUSI_DEFAULTS(S, function, fields)                                                      \
  S function(void) {                                                                               \
    const saltus_field_table table = SALTUSI_TABLE(S, fields);                                     \
    S options = {0};                                                                               \
    saltus_options_defaults(&table, &options);                                                     \
    return options;                                                                                \
  }

/* The functions of a scheme with the struct W, by their usual names. */
#define SALTUSI_STEPS_BY(W)                                                                        \
  .work_size = sizeof(W), .memory_count = memory_count, .carry_memory = carry_memory,              \
  .layout = layout, .step = step

/* Description of an event-driven scheme of order p. */
#define SALTUSI_LOCATES_EVENTS(label, text, origin, p)                                             \
  .name = (label), .summary = (text), .source = (origin), .order = (p), .smooth_order = (p),       \
  .locates_events = true, .dense = true

/* Features of the schemes that solve one step with its impacts at once. */
#define SALTUSI_TREATS_STEPWISE                                                                    \
  (SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_CHANGING_CONTACTS |               \
   SALTUS_TREATS_LAWS)

/* Whether impacts of a step are located: own steps of schemes that locate them. */
static inline bool saltusi_report_located(const saltus_scheme_info* info,
                                          const saltus_step_report* report) {
  return info->locates_events && (info->chooses_step || report->method == NULL);
}

/* A trial step from given data into given arrays; commits nothing but the work counters, without
 * messages. */
saltus_status saltusi_scheme_try(saltus_scheme* scheme, double t, double h,
                                 const saltus_state* from, saltus_state* to,
                                 saltus_step_report* report);

/* A callback that is polled beside the flag `cancel`; true ends the step. */
void saltusi_scheme_poll(saltus_scheme* scheme, bool (*poll)(void* who), void* who);
/* Receiver of the work of contact problems by contact. */
void saltusi_scheme_effort(saltus_scheme* scheme, saltusi_effort effort);

/* Reports why the last trial step failed, whose states must still exist; returns the status. */
saltus_status saltusi_scheme_explain(saltus_scheme* scheme, saltus_status status, double t,
                                     double h);

/* Failure of a callback in the last step, or since then in the dense output. */
saltus_failure* saltusi_scheme_failure(saltus_scheme* scheme);

/* Errors that the embedded method estimated in the last trial step. */
void saltusi_scheme_errors(const saltus_scheme* scheme, const double** q_error,
                           const double** v_error);

/* Identity of the contact with a key since the last committed or trial step. In a fixed set it is
 * the key. */
uint64_t saltusi_scheme_identity(const saltus_scheme* scheme, int key);
/* The law of the contact with a key, index in those of the system; -1: the key is unused. */
int saltusi_scheme_law(const saltus_scheme* scheme, int key);

/* Present number of keys: the length of arrays by key. */
int saltusi_scheme_workspace(const saltus_scheme* scheme);

const saltus_scheme_info* saltusi_scheme_info(const saltus_scheme* scheme);

/* Whether impacts are located, and forces inside a step are available separately from them. */
bool saltusi_scheme_knows_forces(const saltus_scheme* scheme);

/* Other options and tolerances per coordinate (NULL: none) from the next step on; the sizes of the
 * scheme must not depend on them. Checked like at creation. */
saltus_status saltusi_scheme_retune(saltus_scheme* scheme, const void* options,
                                    const double* atol_q, const double* atol_v);

/* Dense output of the last committed step as plain doubles, for later queries. */
size_t saltusi_scheme_dense_count(const saltus_scheme* scheme);
void saltusi_scheme_dense_copy(const saltus_scheme* scheme, double* data);
const double* saltusi_scheme_dense_data(const saltus_scheme* scheme);
/* Times of that step; h is 0 if there is none. */
void saltusi_scheme_dense_span(const saltus_scheme* scheme, double* t, double* h);
/* Restores it from doubles laid out for a number of contacts. */
void saltusi_scheme_dense_restore(saltus_scheme* scheme, double t, double h, int contacts,
                                  const double* data);
/* SALTUS_ERR_INPUT after a message where bytes for saltus_scheme_memory_load name contacts that do not exist at a state. */
saltus_status saltusi_scheme_memory_check(saltus_scheme* scheme, const saltus_state* state,
                                          const void* bytes, size_t size);
/* Doubles of the motion of one step, laid out for a number of contacts. */
size_t saltusi_scheme_dense_count_for(const saltus_scheme* scheme, int contacts);
/* The same doubles from a layout with another contact capacity, in the present layout. */
void saltusi_scheme_dense_transfer(const saltus_scheme* scheme, int contacts, const double* from,
                                   double* to);
saltus_status saltusi_scheme_dense_ask(saltus_scheme* scheme, double* data,
                                       const saltusi_dense_query* at);
void saltusi_scheme_dense_contact_ask(saltus_scheme* scheme, double* data,
                                      const saltusi_dense_query* at, int key,
                                      saltus_contact_inside* contact);

/* Response of joints [nj] to the impacts of a step at its end, for schemes that do not separate
 * them; false: there are none. Not part of the motion: work is not counted. */
bool saltusi_scheme_joint_impacts(saltus_scheme* scheme, const saltus_step_report* report,
                                  const saltus_state* end, double* impacts);

/* Impulses of non-impulsive forces from the start of the last committed step to the time of the
 * query: [3 nc] N s of contacts, then [nj] of joints. Only for schemes with forces inside a
 * step. */
void saltusi_scheme_dense_lasting(saltus_scheme* scheme, const saltusi_dense_query* at,
                                  double* lasting);

/* Forces of contacts and joints at the time of the query, [3 nc + nj] N, in the last committed step. */
void saltusi_scheme_dense_forces(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 double* forces);

/* W of friction in rows other than slip of a contact, and of prescribed motion in them, inside the
 * last step. */
void saltusi_scheme_dense_power(saltus_scheme* scheme, const saltusi_dense_query* at,
                                double power[2]);
/* J, the same of its impacts. */
void saltusi_scheme_dense_work(saltus_scheme* scheme, double work[2]);
/* The Zeno sequence of impacts that the last committed step extrapolates; false: none. */
bool saltusi_scheme_dense_bounce(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 saltusi_bounce_inside* bounce);

/* Forces [3 nc + nj] N right of the time of a state that the scheme has just reached, or starts
 * from. SALTUS_ERR_UNSUPPORTED where the scheme has none. */
saltus_status saltusi_scheme_forces(saltus_scheme* scheme, const saltus_state* state,
                                    double* forces);

/* Number of asynchronous islands; 0: all step together. */
int saltusi_scheme_islands(const saltus_scheme* scheme);
/* An island as a system, and its velocities and contacts in the whole. */
const saltus_system* saltusi_scheme_island_system(const saltus_scheme* scheme, int island,
                                                  const int** velocities, const int** contacts);

/* A step of an island that is part of the last committed one, valid until the next trial step. */
typedef struct saltusi_island_step {
  saltus_scheme* scheme; /* of the island */
  const saltus_step_report* report;
  saltus_state from, to;
  double* data;
} saltusi_island_step;
/* Number i of them, in order of time; false: there is none. */
bool saltusi_scheme_island_step(saltus_scheme* scheme, int island, int i,
                                saltusi_island_step* step);
/* The queries above for such a step. */
saltus_status saltusi_island_motion(const saltusi_island_step* step, const saltusi_dense_query* at);
void saltusi_island_forces(const saltusi_island_step* step, const saltusi_dense_query* at,
                           double* forces);
bool saltusi_island_bounce(const saltusi_island_step* step, const saltusi_dense_query* at,
                           saltusi_bounce_inside* bounce);

/* Resets to the state of creation: no carried data, no dense output; counters continue. */
void saltusi_scheme_restart(saltus_scheme* scheme);
/* Restart at t after a change of the inputs; step lengths are kept. */
void saltusi_scheme_resume(saltus_scheme* scheme, double t);

/* Stores the carried data of the scheme, and restores them: commits in between are undone. */
void saltusi_scheme_mark(saltus_scheme* scheme);
void saltusi_scheme_undo(saltus_scheme* scheme);

/* Makes the memory of the last trial step the memory of the scheme. */
void saltusi_scheme_commit(saltus_scheme* scheme);

/* saltus_scheme_dense over the last `steps` committed steps, 1 or 2; without messages. */
saltus_status saltusi_scheme_dense(saltus_scheme* scheme, int steps, const saltusi_dense_query* at);

/* create.c: the form of a system that a scheme integrates: the set-valued one where the scheme chooses its steps. */
const saltus_system* saltusi_system_of(const saltus_system* system, const char* scheme);

/* create.c: a scheme without asynchronous islands. */
saltus_status saltusi_scheme_create_plain(const saltus_scheme_def* def, saltus_scheme** out);

/* The motion inside the last trial step, which is not committed; times outside are moved to its ends. */
saltus_status saltusi_scheme_dense_tried(saltus_scheme* scheme, const saltusi_dense_query* at);

/* Ends dense output of the steps so far: the state was changed from outside. */
void saltusi_scheme_forget(saltus_scheme* scheme);

/* Differs between schemes and between options; for snapshots. */
uint64_t saltusi_scheme_fingerprint(const saltus_scheme* scheme);

extern const saltusi_scheme_ops saltusi_moreau_jean;
extern const saltusi_scheme_ops saltusi_moreau_projected;
extern const saltusi_scheme_ops saltusi_moreau_midpoint;
extern const saltusi_scheme_ops saltusi_moreau_extrapolated;
extern const saltusi_scheme_ops saltusi_variational;
extern const saltusi_scheme_ops saltusi_rattle;
extern const saltusi_scheme_ops saltusi_schatzman_paoli;
extern const saltusi_scheme_ops saltusi_splitting;
extern const saltusi_scheme_ops saltusi_splitting_contact;

/* Time-discontinuous Galerkin families: dg_schemes.c. */
extern const saltusi_scheme_ops saltusi_dg_minus;
extern const saltusi_scheme_ops saltusi_dg_plus;

/* The linearly implicit trapezoidal method: trapezoidal_schemes.c. */
extern const saltusi_scheme_ops saltusi_trapezoidal_mean;
extern const saltusi_scheme_ops saltusi_trapezoidal_end;

/* Runge-Kutta methods that capture events: event_schemes.c. */
extern const saltusi_scheme_ops saltusi_scheme_explicit_euler;
extern const saltusi_scheme_ops saltusi_scheme_midpoint;
extern const saltusi_scheme_ops saltusi_scheme_heun_3;
extern const saltusi_scheme_ops saltusi_scheme_rk4;
extern const saltusi_scheme_ops saltusi_scheme_rkf45;
extern const saltusi_scheme_ops saltusi_scheme_dopri5;
extern const saltusi_scheme_ops saltusi_scheme_radau_iia_1;
extern const saltusi_scheme_ops saltusi_scheme_radau_iia_3;
extern const saltusi_scheme_ops saltusi_scheme_radau_iia_5;
extern const saltusi_scheme_ops saltusi_scheme_lobatto_iiia_2;
extern const saltusi_scheme_ops saltusi_scheme_lobatto_iiia_4;
extern const saltusi_scheme_ops saltusi_scheme_lobatto_iiia_6;
extern const saltusi_scheme_ops saltusi_scheme_gauss_2;
extern const saltusi_scheme_ops saltusi_scheme_gauss_4;
extern const saltusi_scheme_ops saltusi_scheme_gauss_6;
extern const saltusi_scheme_ops saltusi_scheme_herk_3;
extern const saltusi_scheme_ops saltusi_scheme_hem_4;

extern const saltusi_scheme_ops saltusi_event_driven;
/* Integration to a tolerance: adaptive_schemes.c. */
extern const saltusi_scheme_ops saltusi_scheme_adaptive;
extern const saltusi_scheme_ops saltusi_scheme_adaptive_dopri5;
extern const saltusi_scheme_ops saltusi_scheme_adaptive_dop853;
extern const saltusi_scheme_ops saltusi_scheme_adaptive_radau5;

#endif
