/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity_state.h - internal state of a sensitivity.
 */
#ifndef SALTUSI_SENSITIVITY_STATE_H
#define SALTUSI_SENSITIVITY_STATE_H

#include "saltus/integrator.h"
#include "sensitivity/vary.h"

enum { SALTUSI_GROUP_MOST = 64, SALTUSI_SENSITIVITY_TRIES = 16 };

/* The last impact of a contact, for the end of an accumulation. */
typedef struct saltusi_last_impact {
  bool known;
  double t;
  double* z;     /* [n] after it */
  double* total; /* [directions x n] of the state after it, at its own time */
  double* dt;    /* [directions] */
} saltusi_last_impact;

/* An event of a function of the scene, located by a simulation. */
typedef struct saltusi_own_event {
  saltus_event event;
  bool jumps; /* an impact took the function across zero */
} saltusi_own_event;

/* Intervals in which slow impacts do not begin a series or chatter but are followed one by one: in an earlier run faster ones
 * interrupted it. */
typedef struct saltusi_sensitivity_attempt {
  double from[SALTUSI_SENSITIVITY_TRIES], to[SALTUSI_SENSITIVITY_TRIES];
  int count;
  bool again; /* the last run requests another one */
} saltusi_sensitivity_attempt;

struct saltus_sensitivity {
  saltusi_pool pool;
  saltus_sensitivity_def def;
  saltus_sensitivity_view view;
  saltus_integrator* run;
  saltusi_vary vary;
  double* y;                    /* [size] state and derivatives now */
  double* after;                /* [n] state after the current event */
  double* total;                /* [directions x n] its derivatives at the time of the event */
  double* dt;                   /* [directions] of that event */
  double* moved;                /* [directions x n] */
  double *rates, *hdot;         /* [n + 4], [n + directions + 4] */
  saltus_contact_force* forces; /* [nc] */
  double* largest;              /* [n] largest absolute values along the motion */
  int* set;                     /* [nc] contacts of an impact */
  double *law_u, *law_du;       /* [6 nc], [3 nc] their velocities, and derivatives */
  saltusi_last_impact* last;    /* [nc] */
  /* an accumulation that is treated as one map */
  int series;                      /* its contact; -1: none */
  int series_impacts;              /* after the last impact that was crossed individually */
  int series_count;                /* contacts that take part, in `set` */
  double series_limit, series_end; /* s, its end, and an upper bound of it */
  double* bounce;                  /* [3 nv + nq] */
  /* slow impacts of several contacts, from the time of the derivatives `chatter_columns` [directions x n] on */
  bool chatter;
  double chatter_from, chatter_speed; /* s, m/s: the fastest approach */
  double* chatter_columns;
  int* chatter_set; /* [chatter_count] contacts that take part, of nc */
  int chatter_count;
  double chatter_fast; /* s, the last impact of at least an eighth of the fastest */
  int slip_end;        /* contact whose slip in space ends next, as chatter; -1: none */
  bool redundant;      /* its impulses are those of vanishing compliance */
  bool* beside;        /* [nc] contacts that collide together with the last impact */
  saltusi_sensitivity_attempt* attempt;
  double* records;    /* [times x (1 + directions) x n] */
  long long recorded; /* times */
  saltus_event group[SALTUSI_GROUP_MOST];
  bool group_jumps[SALTUSI_GROUP_MOST]; /* it was caused by a jump of v */
  bool switched;                        /* by the last group */
  bool own_jumps;                       /* likewise the current event */
  saltus_event current; /* with the index of its contact among those of the motion */
  int group_count;
  long long sections; /* that were met */
  bool met;           /* the requested section is in this group */
  saltus_sensitive_event* events;
  size_t event_count, event_room;
  double* output_values; /* [output_count] */
  double* output_jump;   /* [output_count] jumps at the current event */
  double* own_values;    /* [event_count] */
  double* extreme
      [2]; /* [(2 + directions) x output_count] highest, lowest: values, times, derivatives */
  double *extreme_now, *extreme_slope, *extreme_moved; /* [output_count] twice, [n] */
  double *sampled, *turns;                             /* of outputs between two events */
  bool extremes_lost;     /* a part of the motion is outside of the stored dense output */
  saltusi_own_event* own; /* [own_count] in order of time; index of the next one */
  size_t own_count, own_room, own_next;
  double last_impact; /* s */
  void* output_scratch;
};

/* Outputs at the end t and their derivatives, into the view; NaN for outputs without derivatives, such as joint
 * forces. False: no memory. */
bool saltusi_sensitivity_outputs(saltus_sensitivity* s, double t);

/* All outputs at a state; `user` is the sensitivity. */
bool saltusi_sensitivity_output_values(saltusi_vary* v, const saltus_system* sys,
                                       saltusi_phase_point at, const void* user, double* out);
/* Integrals at an event whose time moves: outputs before it (sign 1), then after it (-1), times dt. */
void saltusi_sensitivity_integral_jump(saltus_sensitivity* s, double t, const double* z,
                                       double sign);

/* ---- extremes of outputs ---- */

bool saltusi_sensitivity_extremes_make(saltus_sensitivity* s);
/* Considers a state for the extremes; columns [directions x n] are its derivatives, and dt [directions] those of its
 * time (NULL: fixed time). */
void saltusi_sensitivity_extremes_see(saltus_sensitivity* s, double t, const double* z,
                                      const double* columns, const double* dt);
/* Times of stationary points of outputs between two events of the run into s->turns; returns
 * their number. */
int saltusi_sensitivity_turns(saltus_sensitivity* s, double from, double to);

/* ---- contacts ---- */

/* Contacts at the start into s->vary.contacts. */
saltus_status saltusi_sensitivity_start_contacts(saltus_sensitivity* s);
/* One more contact, if it is not there yet; false: too many. */
bool saltusi_sensitivity_add_contact(saltus_sensitivity* s, uint64_t identity, int law);
/* Index of a contact of the motion; -1: it is none. */
int saltusi_sensitivity_contact(const saltus_sensitivity* s, uint64_t identity);

/* ---- events ---- */

/* A function whose zero is an event. */
typedef struct saltusi_guard {
  int contact;
  enum {
    SALTUSI_GUARD_GAP,
    SALTUSI_GUARD_SLIP,
    SALTUSI_GUARD_FORCE,
    SALTUSI_GUARD_CONE,
    SALTUSI_GUARD_OWN
  } kind;
  const saltus_sensitivity* s;
  double along[2]; /* of slip */
} saltusi_guard;

/* dt of all directions for the root of a guard; false: the guard does not pass through zero. */
bool saltusi_sensitivity_times(saltus_sensitivity* s, double t, const saltusi_guard* g, double* dt);
/* Derivatives s->total and s->dt after the impacts of the group, and whether they exist. */
saltus_status saltusi_sensitivity_impact(saltus_sensitivity* s, double t, saltus_derivative* what);

/* ---- accumulations ---- */

/* An impact of a contact that has bounced before, with its approach velocity; slow impacts are treated as one map from
 * now on. */
void saltusi_sensitivity_series_begin(saltus_sensitivity* s, int contact, double approach);
/* Whether an event is none of the series. */
bool saltusi_sensitivity_series_foreign(const saltus_sensitivity* s, const saltus_event* e);
/* dt [directions] of the group of events inside of the series; an error if another event interrupts it. */
saltus_status saltusi_sensitivity_series_follow(saltus_sensitivity* s, double t, double* dt);
/* The end: derivatives of the state and dt there. */
saltus_status saltusi_sensitivity_accumulation(saltus_sensitivity* s, double t, int contact);

/* ---- chatter of several contacts ---- */

/* An event of another contact inside of the series at t, or without a series an impact that barely approaches beside closed
 * contacts: they go on as chatter. False: impacts that are too fast, or laws for
 * which the order of impacts matters. */
bool saltusi_sensitivity_chatter_begin(saltus_sensitivity* s, double t);
bool saltusi_sensitivity_chatter_follow(saltus_sensitivity* s, double t);
/* Whether all contacts of the chatter are closed in the present mode, and its end: derivatives of the state. */
bool saltusi_sensitivity_chatter_rests(const saltus_sensitivity* s);
saltus_status saltusi_sensitivity_chatter_end(saltus_sensitivity* s, double t);

/* Advances to the end, or to the section. */
saltus_status saltusi_sensitivity_run(saltus_sensitivity* s);
void saltusi_sensitivity_grow(saltus_sensitivity* s, const double* z);
/* The status, after a message. */
saltus_status saltusi_sensitivity_fail(const saltus_sensitivity* s, saltus_status status, double t,
                                       const char* why);

/* Requests another run without slow impacts as series or chatter that begin in [from, to]; a message after too many. */
saltus_status saltusi_sensitivity_retry(saltus_sensitivity* s, double from, double to, double t,
                                        const char* why);
/* Whether a series or chatter may begin with the impact at t. */
bool saltusi_sensitivity_may_begin(const saltus_sensitivity* s, double t);

/* Workspace for outputs and event functions; false: no memory. */
bool saltusi_sensitivity_scratch(saltus_sensitivity* s);
/* The observables of a system: the unperturbed ones, or those with a varied parameter. */
const saltus_observables* saltusi_sensitivity_observables(const saltus_sensitivity* s,
                                                          const saltus_system* sys);

/* ---- events of the scene's own functions ---- */

/* Locates them, and finds the contacts of a time-varying set; inputs are reset to their initial values afterwards. */
saltus_status saltusi_sensitivity_find_own(saltus_sensitivity* s);
/* The next event of contacts or functions up to a time, NULL: none; the run is advanced to it. */
saltus_status saltusi_sensitivity_next(saltus_sensitivity* s, double until,
                                       const saltus_event** next);
bool saltusi_sensitivity_own_value(const saltus_sensitivity* s, const saltus_system* sys,
                                   saltusi_phase_point at, int event, double* out);
bool saltusi_sensitivity_switches(const saltus_sensitivity* s, const saltus_event* e);
/* Applies the switches of the events of a group to all systems; returns whether there are any. The second function
 * resets them. */
bool saltusi_sensitivity_fire(const saltus_sensitivity* s);
void saltusi_sensitivity_reset(const saltus_sensitivity* s);
/* Whether the event is one of the section. */
bool saltusi_sensitivity_is_section(const saltus_sensitivity* s, const saltus_event* e);

#endif
