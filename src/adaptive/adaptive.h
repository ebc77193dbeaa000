/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.h - integration to a tolerance through impacts, Zeno points, sliding and sticking (docs/theory/adaptive.md;
 * "section" in this folder means a section of that page).
 *
 * Between events every contact has a status, which makes the motion an ordinary differential equation
 * for y = (q, v, L), L the impulses of the closed contacts since the start of the step:
 *
 *   M v' = F + G_E l_E + G_N l_N + G_T l_T          q' = N(q) v,   L' = (l_N, l_T)
 *   closed contacts   G_N^T v' + c_N = 0            sticking ones also  G_T^T v' + c_T = 0
 *   sliding ones      l_T = -mu l_N d,  d = U_T / |U_T|
 *
 * A trial step is taken in the present status and continued smoothly past any event. Once its error is accepted, events
 * are located on its dense output, and the first one ends the step. Complementarity problems then determine the jump of
 * v and the new status.
 */
#ifndef SALTUSI_ADAPTIVE_H
#define SALTUSI_ADAPTIVE_H

#include "adaptive/event/trajectory_enclosure.h"
#include "adaptive/mode/decide.h"
#include "saltus/event.h"
#include "saltus/work.h"
#include "system/displacement.h"
#include "system/state_transfer.h"

typedef struct saltusi_adaptive saltusi_adaptive;

/* Kinds of events that end a step. */
typedef enum saltusi_found_kind {
  SALTUSI_FOUND_HIT,    /* an open contact closes its gap */
  SALTUSI_FOUND_OPEN,   /* the force of a closed one ends */
  SALTUSI_FOUND_STOP,   /* the slip of a sliding one ends */
  SALTUSI_FOUND_SLIDE,  /* the friction of a sticking one reaches its bound */
  SALTUSI_FOUND_DECIDE, /* an idle contact (closed, without force) is about to penetrate */
  SALTUSI_FOUND_SWITCH, /* a formula changes its branch */
  SALTUSI_FOUND_GUARD   /* the features of a closed contact are no longer the closest ones */
} saltusi_found_kind;

typedef struct saltusi_found {
  saltusi_found_kind kind;
  int key;
  double theta;  /* where the status changes, fraction of the trial step */
  double origin; /* of the event; after a force event the status changes a little later */
  /* order of events at the same theta: closed contacts, switches, open contacts, each by key */
  int rank;
} saltusi_found;

/* A force whose dense output changes sign. */
typedef struct saltusi_suspect_force {
  saltusi_found_kind kind;
  int key;
  double sign; /* of the friction that is compared with its bound */
  double end;  /* N, value at the end of the trial step */
  double root; /* of the dense output; NaN: already examined */
} saltusi_suspect_force;

/* Cached state at one theta of the trial step, shared by the searches of all contacts. */
typedef struct saltusi_cached_state {
  double theta;  /* NaN: none */
  int known;     /* number of entries of the state that are evaluated */
  bool gaps;     /* the gaps of all contacts are evaluated */
  double* state; /* [nq + nv] */
  double* gap;   /* [nc], of systems that evaluate all gaps at once only */
} saltusi_cached_state;

/* Why a trial step with accepted error is rejected after all (docs/theory/events.md, 5 and 8). */
typedef enum saltusi_refusal_reason {
  SALTUSI_NOT_REFUSED,
  /* a feature that no stage sampled: index is a velocity, a contact, a joint */
  SALTUSI_HIDDEN_FORCE,
  SALTUSI_HIDDEN_CONTACT,
  SALTUSI_HIDDEN_JOINT,
  SALTUSI_OFF_SURFACE,    /* an impact was located where the gap is not zero */
  SALTUSI_FAR_PROJECTION, /* the projection onto the constraints exceeds the tolerance */
  SALTUSI_PENETRATION,    /* an open contact ends below -atol */
  SALTUSI_EARLY_EVENT, /* at the very start of a step, below the resolution of the dense output */
  SALTUSI_POOR_MIDDLE, /* dense output is inaccurate in a step limited by stability */
  SALTUSI_LONG_SEARCH, /* events could not be excluded */
  SALTUSI_SINGULAR_END /* active rows nearly linearly dependent at the end of the step */
} saltusi_refusal_reason;

typedef struct saltusi_refusal {
  saltusi_refusal_reason why;
  int index;
  double part; /* fraction of the trial step that the next one may take */
} saltusi_refusal;

/* A formula changes its branch between two times. */
typedef struct saltusi_switch_time {
  double before, after; /* s; infinite: none */
} saltusi_switch_time;

enum { SALTUSI_NODES = 11, SALTUSI_ADAPTIVE_STAGES = 16, SALTUSI_CACHED_STATES = 16 };

/* The motion of a trial step, for dense output: y0 and n coefficients for each power or component. */
typedef struct saltusi_trial_motion {
  const double* y0;
  const double* Q;
  int n;
  double h; /* s */
} saltusi_trial_motion;

/* A method: a trial step from y0 over h to y1, its error in tolerances and its dense output. */
typedef struct saltusi_adaptive_ops {
  const char* name;
  int order; /* of the controller: h ~ err^(-1 / order) */
  int dense_degree;
  bool restep; /* impacts are located by a step that ends at the impact */
  saltus_status (*attempt)(saltusi_adaptive* w, double h, double* error);
  /* before dense, once a trial step is accepted */
  saltus_status (*prepare)(saltusi_adaptive* w);
  void (*dense)(const saltusi_trial_motion* m, double theta, int first, int count, double* y);
  /* dy/dt */
  void (*dense_rate)(const saltusi_trial_motion* m, double theta, int first, int count, double* dy);
  /* coefficients of the powers 0 .. dense_degree of theta: [powers x count], of the first components */
  void (*powers)(const saltusi_trial_motion* m, int count, double* coefficient);
  /* of the accepted trial step: about 1 where stability limits an explicit method */
  double (*stiffness)(const saltusi_adaptive* w);
} saltusi_adaptive_ops;

extern const saltusi_adaptive_ops saltusi_adaptive_dopri5;
extern const saltusi_adaptive_ops saltusi_adaptive_dop853;
extern const saltusi_adaptive_ops saltusi_adaptive_radau5;
const saltusi_adaptive_ops* saltusi_adaptive_ops_of(double method);

/* The trial step: y and its rates at the start and the end, stages, errors. */
typedef struct saltusi_attempt {
  const saltusi_adaptive_ops* ops;
  double t, h;
  double* y0;
  double* y1;
  double* y_mid;
  double* y_try;
  double* y_end; /* where the step ends */
  double* y_keep;
  double* rate0; /* [ny] y' at the start of the step; stored in the memory */
  double* rate1; /* [ny] */
  double* rate_mid;
  double* rate_keep;
  double* rate_try;
  double* K; /* [stages x ny] */
  double* Q; /* [8 x ny] dense output */
  saltusi_trial_motion motion;
  double* scale_l;         /* [nl] tolerance of impulses; infinite for open contacts */
  double* scale;           /* [ny] */
  double error;            /* of the accepted trial step, in tolerances */
  int worst;               /* component of y with the largest error */
  saltus_step_limit limit; /* what limited the length of the trial step */
  bool overheld;           /* the dynamics at its start are over-constrained */
  bool redundant;          /* errors of impulses are combined, as loads are redundant */
  double* slip_start;      /* [slips x nc] direction of slip at its start, of spatial contacts */
  double* slip_limit;      /* [nv] tolerance of velocities while a spatial contact slides slowly */
  double
      /* fraction of the tolerance of velocities in use: below 1 where slip is self-excited */
      slip_part;
  double slip_least;  /* m/s, slowest slip of a spatial contact at its start */
  double* tilt_limit; /* [nv] tolerance of positions while a circle is nearly flat */
  double* along;      /* [nq] a displacement of positions */
  double* beside;     /* [nq] displaced positions */
  double* apart;      /* [nv] displacement to them */
  saltusi_displacement_map ways;

  /* implicit method */
  /* [(nv + nl) x 2 nv] of (a, lambda) with respect to (q along v, v); stored in the memory */
  double* J;
  double* newton;    /* [(3 nv)^2] */
  double* small;     /* [nv x nv] */
  double* stage_a;   /* [3 nv] accelerations of the stages */
  double* R;         /* [3 nv] */
  int* newton_pivot; /* [4 nv] */
  double* unit;      /* [nv] */
} saltusi_attempt;

/* The search for events in an accepted trial step. */
struct saltusi_search {
  saltusi_mode_dynamics* mode;
  saltusi_decision* decision; /* tests whether forces exist that keep contacts sticking */
  const saltusi_attempt* step;
  const saltusi_layout_tables* o;
  saltusi_adaptive_memory* memory; /* times at which formulas switch */
  saltusi_contact* contact;        /* [nc] statuses: as they were at the end of a search */
  saltusi_eval* eval;
  const saltus_system* sys;

  double size;       /* m, of positions at its start */
  double speed;      /* of velocities at its start */
  double speed_end;  /* and at its end */
  double* gap_start; /* [nc] */
  double* q_low;     /* [nq] positions of the trial step where contacts are collected over it */
  double* q_high;    /* [nq] */
  uint64_t* closed;  /* [nc] touching contacts, for swept queries */
  double* node_rate; /* [nodes x nl] forces */
  saltusi_trajectories course;
  saltusi_found* found;
  int found_count;
  bool* hits;             /* [nc] closes its gap together with the first event; saltusi_mark_hits */
  double* dismissed;      /* [nc] part of the step in which roots of a pair are no contacts */
  int searched;           /* contact of the search that exceeded its limit */
  double* probe;          /* [ny] a state inside the trial step */
  double* probe_rate;     /* [ny] and its rate */
  double* x;              /* [nv] entries of a sparse vector */
  int* column;            /* [nv] and their columns */
  double* beyond;         /* [nv or nj] Taylor remainders of forces or rows */
  saltusi_contact* check; /* [nc] */
  saltusi_cached_state place[SALTUSI_CACHED_STATES];
  int next_place;                  /* next slot of the ring buffer */
  saltusi_suspect_force* suspects; /* [3 nc] */
  bool* suspected;                 /* [3 nc] the true force is negative */
};

/* From an event to the next status. */
typedef struct saltusi_passage {
  int* members;          /* [nc] contacts of the event */
  int* cand;             /* [nc] candidates for closing */
  int* rebound;          /* [nc] rebounding contacts */
  bool* scope;           /* [nc] in an island of the event */
  double* part;          /* [nv] */
  saltusi_contact* old;  /* [nc] before the event */
  saltusi_contact* kept; /* [nc] */
  double* v_struck;      /* [nv] before an impact or a closing */
  double* x;             /* [nv] */
  double* rate;          /* [ny] */
  saltusi_perturbation perturbation;
} saltusi_passage;

/* A Zeno extrapolation: an accumulation of impacts in one step. */
typedef struct saltusi_zeno_extrapolation {
  double u, tau, e_N; /* tau 0: none */
  int key;            /* the bouncing contact */
  double* x_start;    /* [nv] direction of a bounce */
  double* x_end;      /* [nv] */
  bool* coupled;      /* [nc] coupled to the bounces */
  double* stay_gap;   /* [nc] m, change of the gap of another contact by the bounces */
  double* stay_slip;  /* [nc] m/s, and of its slip */
  double* bounce; /* [nl + nj] kg, impulses of a bounce per change of velocity, then of joints */
} saltusi_zeno_extrapolation;

/* The result of a step. */
typedef struct saltusi_outcome {
  double h;                 /* s, length of the step of the dense output */
  double length;            /* s, length of the step */
  double room;              /* s, largest permitted length */
  double passed;            /* s, part of it after its event (rim_contact.c) */
  double moved;             /* largest displacement of a position by projections */
  double work[2];           /* J, of impacts in rows other than slip: friction, prescribed motion */
  double* lasting;          /* [nl] N s, of non-impulsive forces */
  double* impacts;          /* [nl] N s */
  double* impacts_start;    /* [nl] N s, of those at the start of the step */
  double* joint_lasting;    /* [nj] N s, of non-impulsive forces */
  double* joint_impacts;    /* [nj] N s */
  bool* hit;                /* [nc] an impact acted in this step */
  double* u_impact;         /* [2 nc] normal velocity before and after it */
  saltusi_found last_event; /* for messages */
  saltus_captured_step captured; /* of event capturing; h = 0: events are resolved */
} saltusi_outcome;

/* Start of a step of event capturing, and the end of one of double length. */
typedef struct saltusi_captured {
  saltusi_contact* contact; /* [nc] */
  double* y0;               /* [ny] */
  double* whole;            /* [ny] */
} saltusi_captured;

enum { SALTUSI_REASON = 384 };

struct saltusi_adaptive {
  saltusi_eval* eval;
  const saltus_system* sys;
  saltus_system sys_copy;
  double* carried; /* memory of the scheme: */
  saltusi_adaptive_memory* memory;
  /* [nc] read from the memory at the start of a step and written at the end */
  saltusi_contact* contact;
  saltusi_layout_tables o;
  saltusi_mode_dynamics mode;
  saltusi_decision decision;
  saltusi_attempt step;
  saltusi_search search;
  saltusi_passage transition;
  saltusi_zeno_extrapolation jump;
  saltusi_outcome outcome;
  saltusi_captured captured;
  char* reason;      /* [SALTUSI_REASON] during a step: why it has stalled; empty: no message */
  saltus_log passed; /* log of messages that are no errors */
  bool stalls_at_contact; /* the last step has failed at contacts that cannot be resolved */
  saltusi_adaptive_counts counts;
  void (*report)(void* who, const saltus_event* event);
  void (*withdraw)(void* who); /* the events of the step that were reported; NULL: none */
  void* who;
  saltus_log log;
};

/* Number of keys: contacts of a system, their rolling and drilling friction, dry friction of joints. */
int saltusi_adaptive_keys(const saltus_system* sys);
/* Number of work states beside the impulses, see layout_tables.h. */
int saltusi_adaptive_works(const saltus_system* sys);
/* Contact rows of a system: one and the tangents of each contact. */
int saltusi_adaptive_rows(const saltus_system* sys);
/* Upper bounds of rows and of keys of rolling and drilling friction, where laws lack the numbers of contacts: */
int saltusi_adaptive_rows_each(const saltus_system* sys);
int saltusi_adaptive_friction_modes(const saltus_system* sys);

/* Doubles that a system keeps from step to step. */
size_t saltusi_adaptive_memory_count(const saltus_system* sys, bool implicit);
/* Whether methods, modes and keys in a memory from outside are valid. */
/* Restart at t after a change of the inputs: the proposed step length is kept. */
void saltusi_adaptive_resume(double* memory, size_t count, double t);
bool saltusi_adaptive_memory_valid(const void* options, const saltus_system* sys,
                                   const double* memory);
void saltusi_adaptive_transfer_memory(const saltus_system* sys, bool implicit,
                                      saltusi_state_transfer* carry);
void saltusi_adaptive_layout(saltusi_adaptive* w, const saltusi_eval* eval, bool implicit,
                             saltus_arena* arena);

/* One step of at most `limit` from (t, q, v) into (q1, v1); its length is w->step_length. memory is read and
 * written: the caller keeps a copy. */
saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1);

/* Dense output as an array of doubles: its size, storing that of the last step, and evaluation of the state at t,
 * on the left or the right of a jump at the end. */
size_t saltusi_adaptive_dense_count(const saltus_system* sys);
void saltusi_adaptive_transfer_dense(const saltus_system* sys, saltusi_state_transfer* carry);
void saltusi_adaptive_dense_write(const saltusi_adaptive* w, double* data);
/* A time within a step. */
typedef struct saltusi_moment {
  double t;
  bool right;  /* of a jump */
  bool smooth; /* of the motion without bounces and without the event that ends the step */
} saltusi_moment;
void saltusi_adaptive_dense_read(const saltus_system* sys, double* data, saltusi_moment at,
                                 double* q, double* v);

/* One contact inside a step: non-impulsive force [3] N, its impulse and that of impacts since the start of the
 * step [3] N s, all zero before the call. */
typedef struct saltusi_contact_dense_output {
  double* force;
  double* lasting;
  double* impulse;
} saltusi_contact_dense_output;

void saltusi_adaptive_dense_contact(const saltusi_layout_tables* o, const double* data,
                                    saltusi_moment at, int key, saltusi_contact_dense_output into);
/* W of friction and of prescribed motion in contact rows other than slip. */
void saltusi_adaptive_dense_power(const saltusi_layout_tables* o, const double* data, double t,
                                  double power[2]);
/* J of impacts of the step, likewise. */
void saltusi_adaptive_dense_work(const double* data, double work[2]);
/* [nj] N of joints, and [nj] N s since the start of the step, without bounces unless at.smooth; either may be NULL. */
void saltusi_adaptive_dense_joints(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, double* force, double* lasting);
/* Bounces at a time in a Zeno extrapolation. */
typedef struct saltusi_bounce {
  int key;
  double start;         /* m/s, initial speed of the first bounce */
  double speed;         /* m/s, of the contact */
  double since, launch; /* s, m/s, start of the current flight */
  const double* mass;   /* [contact rows] kg, impulses per change of speed */
} saltusi_bounce;
/* False: the step is no Zeno extrapolation. */
bool saltusi_adaptive_dense_bounce(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, saltusi_bounce* bounce);
/* Forces at a state with the status in the memory, which is read and, before the first step, written: rates of
 * impulses in w->probe_rate. */
saltus_status saltusi_adaptive_forces(saltusi_adaptive* w, double* memory, double limit,
                                      const double* q, const double* v);
/* What limited an accepted trial step of length h: the maximum (end: of the caller), a contact that returns, the
 * growth of steps, or the error. */
saltus_step_limit saltusi_adaptive_limit_of(const saltusi_adaptive* w, double h, double most,
                                            bool end, double factor);
/* The contact of impulse state i of y. */
int saltusi_adaptive_contact_of(const saltusi_adaptive* w, int i);

/* layout.c: layout of the memory */
/* Reads and writes the statuses in the memory. */
void saltusi_adaptive_open(saltusi_adaptive* w, double* memory);
void saltusi_adaptive_close(saltusi_adaptive* w);

/* start.c */
saltus_status saltusi_read_laws(saltusi_adaptive* w, double t, const double* q);
void saltusi_read_tolerances(saltusi_adaptive* w);
/* Slips of spatial contacts at the start of a step. */
void saltusi_note_slips(saltusi_adaptive* w);
/* rim_contact.c: tolerances of positions in the next trial step, by the tilt of nearly flat circles */
void saltusi_note_tilts(saltusi_adaptive* w);
/* Closes joints, determines the status of touching contacts, selects the first step. */
saltus_status saltusi_adaptive_start(saltusi_adaptive* w, double limit);

/* The state, the statuses and the laws at the start of a step. *proposed is written at the start of the run. */
saltus_status saltusi_load_start(saltusi_adaptive* w, double* memory, double limit, const double* q,
                                 const double* v, double* proposed);
/* refusal.c: a log that stores the first error in w->reason and passes other messages to the present log. */
saltus_log saltusi_hold_errors(saltusi_adaptive* w);

/* methods.c: after an accepted step, and before one */
double saltusi_explicit_method(const saltusi_adaptive* w);
/* The smallest of rtol and all absolute tolerances. */
double saltusi_smallest_tolerance(const saltusi_adaptive* w);
void saltusi_review_method(saltusi_adaptive* w);
void saltusi_prefer_implicit(saltusi_adaptive* w);
/* The first step after a change of the inputs, before and after it; the length proposed for order 8, or 0. */
double saltusi_begin_brief_step(saltusi_adaptive* w);
void saltusi_end_brief_step(saltusi_adaptive* w, double proposed, bool rejected);

/* perturbed_restart.c: spatial contacts that begin to slide from rest get a velocity. */
saltus_status saltusi_perturb_slips(saltusi_adaptive* w, double t, double* y);

/* find_events.c */
saltus_status saltusi_find_events(saltusi_search* search);
/* Marks in w->search.hits the contacts that close their gap at an event, or within rounding of its time. */
void saltusi_mark_hits(saltusi_search* search, const saltusi_found* event);

/* End of the interval that searches for further events cover; records one more event. NaN: none. */
double saltusi_found_end(const saltusi_search* search);
void saltusi_found_add(saltusi_search* search, saltusi_found f);
/* Where an open contact closes its gap. */
saltus_status saltusi_find_hit(saltusi_search* search, int key, double end);
/* Number of ranks of the events of one contact, and the rank of its guards. */
enum { SALTUSI_RANKS = 16, SALTUSI_RANK_GUARD = 11 };

/* idle_contacts.c: where an idle contact gets a load again, which changes the friction of those that share it; width of
 * its bracket, part of the step. */
saltus_status saltusi_find_load(saltusi_search* search, int key, double width, int rank);
/* Whether the motion depends on the loads of redundant contacts: in the plane some slide with friction. */
bool saltusi_loads_matter(const saltusi_layout_tables* o, const saltusi_contact* contact);
/* There a contact that others imply is idle where its force ends. */
saltus_status saltusi_make_idle(saltusi_adaptive* w, double t, const double* y, int key);

/* features.c: contacts that are pairs of features. Those close to each other at a state get keys and are
 * o->listed, with their gaps. */
saltus_status saltusi_feature_list(saltusi_search* search, double t, const double* q);
/* The same within a distance in m, if that is larger. */
saltus_status saltusi_feature_list_within(saltusi_search* search, double t, const double* q,
                                          double reach);
saltus_status saltusi_find_guards(saltusi_search* search);
saltus_status saltusi_find_feature_hit(saltusi_search* search, int key);
/* If the first event is a root of a separation monitor, it becomes that of the contact that touches there. */
saltus_status saltusi_resolve_hits(saltusi_search* search, bool* again);
/* The contact with the largest penetration above the tolerance, independent of the result of the search; -1: none.
 * Makes a list of contacts. */
saltus_status saltusi_deepest(saltusi_search* search, double t, const double* q, int* deepest);
/* Value of a separation monitor at the start of the trial step, into gap_start, and its change by a displacement. */
saltus_status saltusi_measure_monitor_change(saltusi_search* search, const double* lifted, int key,
                                             double* change);
/* After a list at a state: contacts whose guards became negative are open; contacts that are new within `near` are
 * in set[count]; a successor inherits the old status of its predecessor. */
int saltusi_hand_over(saltusi_search* search, double t, const double* q, double near,
                      saltusi_contact* old, int* set);

/* A successor inherits the velocity of its predecessor, except for the change up to `small` that the curvature of
 * the surface causes over the delay of the event. A larger change is an edge, and an impact. Rows must be
 * evaluated. */
saltus_status saltusi_take_over(saltusi_search* search, double t, double* y, double small);

/* layout_tables.c: laws, rows and keys of all contacts; of a time-varying set, and of a fixed one, where law [nc]
 * is not read if laws have the numbers of contacts. */
void saltusi_layout_laws(saltusi_layout_tables* o, const saltus_system* sys,
                         const saltusi_contact_keys* keys);
void saltusi_layout_fixed(saltusi_layout_tables* o, const saltus_system* sys, const int* law);

/* contact_set.c, for time-varying sets: laws of all keys; contacts of the accepted trial step get keys; closed
 * contacts that left the list at y_end are open or an error. */
void saltusi_collect_laws(saltusi_adaptive* w);
/* x, height: bounces displace the motion along x by up to height; NULL: none. */
saltus_status saltusi_collect(saltusi_adaptive* w, const double* x, double height);
saltus_status saltusi_collect_closed(saltusi_adaptive* w, double t);

/* unresolved_forces.c: features between the stages in [0, end] of the trial step */
void saltusi_find_unresolved_forces(saltusi_search* search, double end, saltusi_refusal* refusal);

/* switch_times.c: h, or less, so that no formula of t alone changes its branch within the step */
double saltusi_before_switch(saltusi_search* search, double h);
/* A start on a kink is displaced along the velocity, by rounding, to the branch that follows. */
void saltusi_leave_kinks(saltusi_search* search, double* y);
/* Whether the step from y0 to y_end crosses, or would cross, the zero of a switching function of velocities toward
 * which both of its ends move; rate1 at y_end. */
bool saltusi_slides(saltusi_search* search, const double* rate1);

/* friction_mode_transition.c: open contacts have lost their bond, unless touching restores it; rolling and
 * drilling friction follow their contact and are open until the next decision. */
void saltusi_loosen(saltusi_adaptive* w);
void saltusi_release_friction_modes(saltusi_adaptive* w, int key);
void saltusi_settle_friction_modes(saltusi_adaptive* w, int key);

/* load_distribution.c: rate0 at the start of a trial step. If the minimum-norm load distribution of redundant
 * contacts violates a friction cone, the nearest admissible one is taken, if any. */
saltus_status saltusi_start_rate(saltusi_adaptive* w);

/* transition.c */
saltus_status saltusi_adaptive_settle(saltusi_adaptive* w, double t, double* y, int count,
                                      bool impact);
saltus_status saltusi_adaptive_transition(saltusi_adaptive* w, double t, double t_event, double* y,
                                          const saltusi_found* found);
/* All contacts of w->decision.set have an impact, without a decision on statuses; includes all impacts that
 * follow. */
saltus_status saltusi_impact_all(saltusi_adaptive* w, double t, double* y, int count);
saltus_status saltusi_settle(saltusi_adaptive* w, double t, double* y, int count, bool impact);

/* rim_contact.c: the lowest point `low` of a circle is that of a flat one; v jumps and statuses follow. room: s,
 * time to the end of the run; *passed: s, duration of the motion through the flat attitude, y is the state after
 * it. */
saltus_status saltusi_lie_down(saltusi_adaptive* w, double t, double* y, int low, double room,
                               double* passed);
/* A circle in flight hits flat, with all its fixed points. Its rim, which is listed beside them, is left out. */
saltus_status saltusi_hit_by_rim(saltusi_adaptive* w, double t, double* y, int key);
void saltusi_leave_rims(saltusi_adaptive* w, double t, const double* y);
/* A closed contact of a circle that has become flat; -1: none. */
int saltusi_closed_rim(saltusi_adaptive* w, double t, const double* y);
/* A circle that wobbles within the tolerance settles: an impact without restitution on its fixed points. */
saltus_status saltusi_end_wobble(saltusi_adaptive* w, double t, double* y, int key);
/* Signs of slip of the moving contacts, into d->sense; the stored sign of a contact at rest is meaningless. */
void saltusi_find_senses(saltusi_decision* d, double t, const double* y);

/* report.c: reports an impact on each of the first `count` members, with the sums */
void saltusi_report(saltusi_adaptive* w, saltus_event event);
void saltusi_report_impact(saltusi_adaptive* w, double t, int count, saltus_event_kind kind);
void saltusi_report_verdict(saltusi_adaptive* w, double t, const saltusi_verdict* verdict);

/* The status changes from w->transition.old to the present one. */
void saltusi_report_changes(saltusi_adaptive* w, double t, const double* y);
void saltusi_report_begin(saltusi_adaptive* w);
/* Impulses of the non-impulsive forces up to the end of the step. */
void saltusi_add_impulses(saltusi_adaptive* w);

/* captured.c: one step of event capturing from the start of a step, whose statuses and laws must be loaded. */
saltus_status saltusi_captured_step(saltusi_adaptive* w, double limit, double* length);
/* Whether the next step captures its events without a search for them. */
bool saltusi_captured_goes_on(const saltusi_adaptive* w);
/* s, soon after a captured step: time that few events have to advance; 0: as many as usual. */
double saltusi_captured_patience(const saltusi_adaptive* w);

/* zeno.c: *done if the extrapolation was accepted; then y1 is the state at its end, *tau its length. */
saltus_status saltusi_adaptive_impact_step(saltusi_adaptive* w, double limit, bool* done,
                                           double* tau);

/* scales (section 2) */
void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1);
/* The largest |x_i| in tolerances, x an error; errors of redundant impulses are combined. Above `least` its index
 * is w->step.worst. */
double saltusi_in_tolerances(saltusi_adaptive* w, const double* x, double least);
/* largest |x_i| size / tolerance_i over positions and over velocities; at y */
void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v);

/* invariants.c: whether a step may end at y_end: no unloaded contact penetrates beyond its tolerance; and where an
 * event ends it, before any correction: an impact lies on its surface, and no other contact penetrates. */
saltus_status saltusi_check_end(saltusi_adaptive* w, double t, saltusi_refusal* refusal);
saltus_status saltusi_check_event(saltusi_adaptive* w, const saltusi_found* f, double t,
                                  saltusi_refusal* refusal);

/* A contact for messages: its features if the system describes them, else its law. */
enum { SALTUSI_CONTACT_WORDS = 160 };
const char* saltusi_contact_words(const saltusi_adaptive* w, int key,
                                  char room[SALTUSI_CONTACT_WORDS]);
/* Reports why no step is possible. */
void saltusi_report_refusal(saltusi_adaptive* w, const saltusi_refusal* r);
/* Reports that the displacement of a contact in the step was not found: an error with the contact. */
saltus_status saltusi_report_height(saltusi_adaptive* w, int key);
/* Largest number of events at one instant. */
int saltusi_instants_most(const saltusi_adaptive* w);
/* Reports too many events without progress of time: SALTUS_ERR_STALLED. */
saltus_status saltusi_report_stall(saltusi_adaptive* w, int events);
/* Tests the progress of time over many steps; instants: events at the start of the step, which took no time.
 * SALTUS_ERR_STALLED. */
saltus_status saltusi_observe_progress(saltusi_adaptive* w, double length, double limit,
                                       int instants);

#endif
