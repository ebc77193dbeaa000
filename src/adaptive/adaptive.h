/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.h - integration to a tolerance through impacts, accumulations, sliding and sticking
 * (docs/theory/adaptive.md; "section" in this folder means a section of that page).
 *
 * Between events every contact has a status, which makes the motion an ordinary differential equation
 * for y = (q, v, L), L the impulses of the closed contacts since the start of the step:
 *
 *   M v' = F + G_E l_E + G_N l_N + G_T l_T          q' = N(q) v,   L' = (l_N, l_T)
 *   closed contacts   G_N^T v' + c_N = 0            sticking ones also  G_T^T v' + c_T = 0
 *   sliding ones      l_T = -mu l_N d,  d = U_T / |U_T|
 *
 * A step is taken in the present status and continued smoothly past any event; when its error is
 * accepted, events are looked for on its dense output, and the first one ends the step. Then
 * complementarity problems decide the jump of v and the new status.
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
  SALTUSI_FOUND_DECIDE, /* an idle contact is about to penetrate */
  SALTUSI_FOUND_SWITCH, /* a formula changes its branch */
  SALTUSI_FOUND_GUARD   /* the features of a closed contact are no longer those that touch */
} saltusi_found_kind;

typedef struct saltusi_found {
  saltusi_found_kind kind;
  int key;
  double theta;  /* where the status changes, part of the step */
  double origin; /* where the event is; a force event switches a little later */
  int rank; /* among those at the same place: closed contacts, switches, open contacts, each by key */
} saltusi_found;

/* A force whose dense output changes its sign. */
typedef struct saltusi_suspect_force {
  saltusi_found_kind kind;
  int key;
  double sign; /* of the friction that is compared with its bound */
  double end;  /* N, its value at the end of the attempt */
  double root; /* of the dense output; NaN: it has been looked at */
} saltusi_suspect_force;

/* What searches know of a place of the attempt: contacts ask about the same ones. */
typedef struct saltusi_cached_state {
  double theta;  /* NaN: none */
  int known;     /* entries of the state that are there */
  bool gaps;     /* gaps of all contacts are */
  double* state; /* [nq + nv] */
  double* gap;   /* [nc], of systems that have gaps only all at once */
} saltusi_cached_state;

/* Why an attempt whose error was accepted is taken back (docs/theory/events.md, 5 and 8). */
typedef enum saltusi_refusal_reason {
  SALTUSI_NOT_REFUSED,
  SALTUSI_HIDDEN_FORCE, /* something that no stage saw: index is a velocity, a contact, a joint */
  SALTUSI_HIDDEN_CONTACT,
  SALTUSI_HIDDEN_JOINT,
  SALTUSI_OFF_SURFACE,    /* an impact was located where the gap is not zero */
  SALTUSI_FAR_PROJECTION, /* the way back onto the constraints is longer than the tolerance */
  SALTUSI_PENETRATION,    /* an open contact ends below -atol */
  SALTUSI_EARLY_EVENT, /* within the first moments of a step, smaller than dense output resolves */
  SALTUSI_POOR_MIDDLE, /* dense output of a step that stability limits is not accurate */
  SALTUSI_LONG_SEARCH, /* events could not be excluded */
  SALTUSI_SINGULAR_END /* held rows nearly depend on each other where it ends */
} saltusi_refusal_reason;

typedef struct saltusi_refusal {
  saltusi_refusal_reason why;
  int index;
  double part; /* of the attempt that the next one may take */
} saltusi_refusal;

/* A formula changes its branch between two times. */
typedef struct saltusi_switch_time {
  double before, after; /* s; infinite: none */
} saltusi_switch_time;

enum { SALTUSI_NODES = 11, SALTUSI_ADAPTIVE_STAGES = 16, SALTUSI_CACHED_STATES = 16 };

/* The motion of an attempt, for dense output: y0 and n coefficients for each power or part. */
typedef struct saltusi_trial_motion {
  const double* y0;
  const double* Q;
  int n;
  double h; /* s */
} saltusi_trial_motion;

/* A method: one attempt from y0 over h into y1 with an error in tolerances, and its dense output. */
typedef struct saltusi_adaptive_ops {
  const char* name;
  int order; /* of the controller: h ~ err^(-1 / order) */
  int dense_degree;
  bool restep; /* impacts are located by a step that ends there */
  saltus_status (*attempt)(saltusi_adaptive* w, double h, double* error);
  /* before dense, once an attempt is accepted */
  saltus_status (*prepare)(saltusi_adaptive* w);
  void (*dense)(const saltusi_trial_motion* m, double theta, int first, int count, double* y);
  /* dy/dt */
  void (*dense_rate)(const saltusi_trial_motion* m, double theta, int first, int count, double* dy);
  /* coefficients of the powers 0 .. dense_degree of theta: [powers x count], of the first components */
  void (*powers)(const saltusi_trial_motion* m, int count, double* coefficient);
  /* of the accepted attempt: about 1 where stability limits an explicit method */
  double (*stiffness)(const saltusi_adaptive* w);
} saltusi_adaptive_ops;

extern const saltusi_adaptive_ops saltusi_adaptive_dopri5;
extern const saltusi_adaptive_ops saltusi_adaptive_dop853;
extern const saltusi_adaptive_ops saltusi_adaptive_radau5;
const saltusi_adaptive_ops* saltusi_adaptive_ops_of(double method);

/* The attempt: y and its rates at the start and the end, stages, errors. */
typedef struct saltusi_attempt {
  const saltusi_adaptive_ops* ops;
  double t, h;
  double* y0;
  double* y1;
  double* y_mid;
  double* y_try;
  double* y_end; /* where the step ends */
  double* y_keep;
  double* rate0; /* [ny] y' at the start of the step; in the memory */
  double* rate1; /* [ny] */
  double* rate_mid;
  double* rate_keep;
  double* rate_try;
  double* K; /* [stages x ny] */
  double* Q; /* [8 x ny] dense output */
  saltusi_trial_motion motion;
  double* scale_l;         /* [nl] tolerance of impulses; infinite for open contacts */
  double* scale;           /* [ny] */
  double error;            /* of the accepted attempt, in tolerances */
  int worst;               /* component of y with the largest error */
  saltus_step_limit limit; /* what kept the attempt from being longer */
  bool overheld;           /* the dynamics at its start have more rows than they need */
  bool redundant;          /* errors of impulses count together */
  double* slip_start;      /* [slips x nc] direction of slip at its start, of spatial contacts */
  double* slip_limit;      /* [nv] tolerance of velocities while a spatial contact slides slowly */
  double
      slip_part; /* of the tolerance of velocities that is used: below 1 where slip drives itself on */
  double slip_least;  /* m/s, slowest slip of a spatial contact at its start */
  double* tilt_limit; /* [nv] tolerance of positions while a circle nearly lies flat */
  double* along;      /* [nq] a displacement of positions */
  double* beside;     /* [nq] positions close by */
  double* apart;      /* [nv] the way to them */
  saltusi_displacement_map ways;

  /* implicit method */
  double* J; /* [(nv + nl) x 2 nv] of (a, lambda) with respect to (q along v, v); in the memory */
  double* newton;    /* [(3 nv)^2] */
  double* small;     /* [nv x nv] */
  double* stage_a;   /* [3 nv] accelerations of the stages */
  double* R;         /* [3 nv] */
  int* newton_pivot; /* [4 nv] */
  double* unit;      /* [nv] */
} saltusi_attempt;

/* The search for events in an accepted attempt. */
struct saltusi_search {
  saltusi_mode_dynamics* mode;
  saltusi_decision* decision; /* whether forces exist that keep contacts sticking */
  const saltusi_attempt* step;
  const saltusi_layout_tables* o;
  saltusi_adaptive_memory* memory; /* times at which formulas switch */
  saltusi_contact* contact;        /* [nc] statuses: as they were when a search has ended */
  saltusi_eval* eval;
  const saltus_system* sys;

  double size;       /* m, of positions at its start */
  double speed;      /* of velocities at its start */
  double speed_end;  /* and at its end */
  double* gap_start; /* [nc] */
  double* q_low;     /* [nq] positions of the attempt, where contacts are collected over it */
  double* q_high;    /* [nq] */
  uint64_t* closed;  /* [nc] contacts that touch, for sweeps */
  double* node_rate; /* [nodes x nl] forces */
  saltusi_trajectories course;
  saltusi_found* found;
  int found_count;
  bool* hits;             /* [nc] closes its gap together with the first event; saltusi_mark_hits */
  int searched;           /* contact of the search that was given up */
  double* probe;          /* [ny] a state inside the attempt */
  double* probe_rate;     /* [ny] and its rate */
  double* x;              /* [nv] entries of a sparse vector */
  int* column;            /* [nv] and their columns */
  double* beyond;         /* [nv or nj] what forces or rows are beyond polynomials */
  saltusi_contact* check; /* [nc] */
  saltusi_cached_state place[SALTUSI_CACHED_STATES];
  int next_place;                  /* to be made anew */
  saltusi_suspect_force* suspects; /* [3 nc] */
  bool* suspected;                 /* [3 nc] its true force is negative */
};

/* From an event to the next status. */
typedef struct saltusi_passage {
  int* members;          /* [nc] its contacts */
  int* cand;             /* [nc] those that may close */
  int* rebound;          /* [nc] those that are thrown back */
  bool* scope;           /* [nc] in an island of the event */
  double* part;          /* [nv] */
  saltusi_contact* old;  /* [nc] before it */
  saltusi_contact* kept; /* [nc] */
  double* v_struck;      /* [nv] before an impact or a closing */
  double* x;             /* [nv] */
  double* rate;          /* [ny] */
  saltusi_perturbation perturbation;
} saltusi_passage;

/* A jump over an accumulation of impacts. */
typedef struct saltusi_zeno_extrapolation {
  double u, tau, e_N; /* tau 0: none */
  int key;            /* the contact that bounces */
  double* x_start;    /* [nv] direction of a bounce */
  double* x_end;      /* [nv] */
  bool* coupled;      /* [nc] feels the bounces */
  double* stay_gap;   /* [nc] m, what bounces do to the gap of another contact */
  double* stay_slip;  /* [nc] m/s, and to its slip */
  double*
      bounce; /* [nl + nj] kg, impulses of a bounce over its change of velocity, then of joints */
} saltusi_zeno_extrapolation;

/* The step as it is reported. */
typedef struct saltusi_outcome {
  double h;        /* s, length that the dense output was made for */
  double length;   /* s, length of the step */
  double room;     /* s, longest that it may be */
  double passed;   /* s, of it after its event (rim_contact.c) */
  double moved;    /* largest movement of a position by projections */
  double work[2];  /* J, of impacts in rows that are no slip: friction, what moves by itself */
  double* lasting; /* [nl] N s */
  double* impacts; /* [nl] N s */
  double* impacts_start;    /* [nl] N s, of those at the start of the step */
  double* joint_lasting;    /* [nj] N s */
  double* joint_impacts;    /* [nj] N s */
  bool* hit;                /* [nc] an impact acted in this step */
  double* u_impact;         /* [2 nc] normal velocity before and after it */
  saltusi_found last_event; /* for messages */
} saltusi_outcome;

struct saltusi_adaptive {
  saltusi_eval* eval;
  const saltus_system* sys;
  saltus_system sys_copy;
  double* carried; /* the scheme's memory: */
  saltusi_adaptive_memory* memory;
  saltusi_contact* contact; /* [nc] read from it at the start of a step and written at the end */
  saltusi_layout_tables o;
  saltusi_mode_dynamics mode;
  saltusi_decision decision;
  saltusi_attempt step;
  saltusi_search search;
  saltusi_passage transition;
  saltusi_zeno_extrapolation jump;
  saltusi_outcome outcome;
  saltusi_adaptive_counts counts;
  void (*report)(void* who, const saltus_event* event);
  void* who;
  saltus_log log;
};

/* Keys: contacts of a system, their grips, dry friction. */
int saltusi_adaptive_keys(const saltus_system* sys);
/* States of work beside impulses, layout_tables.h. */
int saltusi_adaptive_works(const saltus_system* sys);
/* Contact rows of a system: one and the tangents of each contact. */
int saltusi_adaptive_rows(const saltus_system* sys);
/* Where laws do not have the numbers of contacts each has as many rows as the largest, and keys of grips: */
int saltusi_adaptive_rows_each(const saltus_system* sys);
int saltusi_adaptive_friction_modes(const saltus_system* sys);

/* Doubles that a system needs from step to step. */
size_t saltusi_adaptive_memory_count(const saltus_system* sys, bool implicit);
/* Whether methods, modes and keys in memory from outside exist. */
/* Restart at t after a change of the inputs: the proposed step length is kept. */
void saltusi_adaptive_resume(double* memory, size_t count, double t);
bool saltusi_adaptive_memory_valid(const void* options, const saltus_system* sys,
                                   const double* memory);
void saltusi_adaptive_transfer_memory(const saltus_system* sys, bool implicit,
                                      saltusi_state_transfer* carry);
void saltusi_adaptive_layout(saltusi_adaptive* w, const saltusi_eval* eval, bool implicit,
                             saltus_arena* arena);

/* One step of at most `limit` from (t, q, v) into (q1, v1); w->step_length is what it took.
 * memory is read and written: the caller keeps a copy. */
saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1);

/* The motion inside a step, kept as doubles: how many, writing that of the last step, and asking for
 * the state at t, from the left or the right where it jumps at the end. */
size_t saltusi_adaptive_dense_count(const saltus_system* sys);
void saltusi_adaptive_transfer_dense(const saltus_system* sys, saltusi_state_transfer* carry);
void saltusi_adaptive_dense_write(const saltusi_adaptive* w, double* data);
/* A time within a step. */
typedef struct saltusi_moment {
  double t;
  bool right;  /* of a jump */
  bool smooth; /* of the motion without bounces and without what ends the step */
} saltusi_moment;
void saltusi_adaptive_dense_read(const saltus_system* sys, double* data, saltusi_moment at,
                                 double* q, double* v);

/* One contact inside a step: lasting force [3] N, its impulse and that of impacts since the start of the
 * step [3] N s, all zero before the call. */
typedef struct saltusi_contact_dense_output {
  double* force;
  double* lasting;
  double* impulse;
} saltusi_contact_dense_output;

void saltusi_adaptive_dense_contact(const saltusi_layout_tables* o, const double* data,
                                    saltusi_moment at, int key, saltusi_contact_dense_output into);
/* W of friction in rows that are no slip of a contact, and of what moves by itself in them. */
void saltusi_adaptive_dense_power(const saltusi_layout_tables* o, const double* data, double t,
                                  double power[2]);
/* J of impacts of the step, likewise. */
void saltusi_adaptive_dense_work(const double* data, double work[2]);
/* [nj] N of joints, and [nj] N s since the start of the step, without bounces unless at.smooth; either may be NULL. */
void saltusi_adaptive_dense_joints(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, double* force, double* lasting);
/* Bounces at a time in a step that jumps over their accumulation. */
typedef struct saltusi_bounce {
  int key;
  double start;         /* m/s, with which they begin */
  double speed;         /* m/s, of the contact */
  double since, launch; /* s, m/s, start of the flight at hand */
  const double* mass;   /* [contact rows] kg, impulses over the change of speed */
} saltusi_bounce;
/* False: the step does not jump. */
bool saltusi_adaptive_dense_bounce(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, saltusi_bounce* bounce);
/* Forces at a state with the status it has in the memory, which is read and, before the first step,
 * written: rates of impulses in w->probe_rate. */
saltus_status saltusi_adaptive_forces(saltusi_adaptive* w, double* memory, double limit,
                                      const double* q, const double* v);
/* What kept an accepted attempt of length h from being longer: the most it was allowed (end: by the
 * caller), a contact that comes back, the growth of steps, or the error. */
saltus_step_limit saltusi_adaptive_limit_of(const saltusi_adaptive* w, double h, double most,
                                            bool end, double factor);
/* Which contact the impulse state i of y belongs to. */
int saltusi_adaptive_contact_of(const saltusi_adaptive* w, int i);

/* layout.c: where the parts of the memory lie */
/* Statuses from the memory, and back into it. */
void saltusi_adaptive_open(saltusi_adaptive* w, double* memory);
void saltusi_adaptive_close(saltusi_adaptive* w);

/* start.c */
saltus_status saltusi_read_laws(saltusi_adaptive* w, double t, const double* q);
void saltusi_read_tolerances(saltusi_adaptive* w);
/* Slips of spatial contacts at the start of a step. */
void saltusi_note_slips(saltusi_adaptive* w);
/* rim_contact.c: what circles that nearly lie flat ask of positions in the next attempt */
void saltusi_note_tilts(saltusi_adaptive* w);
/* Joints closed, contacts that touch settled, the first step chosen. */
saltus_status saltusi_adaptive_start(saltusi_adaptive* w, double limit);

/* methods.c: after an accepted step, and before one */
double saltusi_explicit_method(const saltusi_adaptive* w);
/* Of rtol and all absolute ones. */
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
/* Which contacts close their gap at an event, or within rounding of its time: into w->search.hits. */
void saltusi_mark_hits(saltusi_search* search, const saltusi_found* event);

/* Where the search for further events may end, and one more that was found; NaN: none. */
double saltusi_found_end(const saltusi_search* search);
void saltusi_found_add(saltusi_search* search, saltusi_found f);
/* Where an open contact closes its gap. */
saltus_status saltusi_find_hit(saltusi_search* search, int key, double end);
/* Ranks of what one contact can do, and that of its guards. */
enum { SALTUSI_RANKS = 16, SALTUSI_RANK_GUARD = 11 };

/* features.c: contacts that are pairs of features. Those that are near a place get keys and are o->listed, with their
 * gaps. */
saltus_status saltusi_feature_list(saltusi_search* search, double t, const double* q);
/* The same within so much, m, where that is more. */
saltus_status saltusi_feature_list_within(saltusi_search* search, double t, const double* q,
                                          double reach);
saltus_status saltusi_find_guards(saltusi_search* search);
saltus_status saltusi_find_feature_hit(saltusi_search* search, int key);
/* The first event, where it is of a watch, becomes that of the contact that touches there. */
saltus_status saltusi_resolve_hits(saltusi_search* search);
/* The deepest of what does not touch but penetrates by more than the tolerance, whatever the search said; -1: nothing.
 * Asks for a list. */
saltus_status saltusi_deepest(saltusi_search* search, double t, const double* q, int* deepest);
/* What a watch has at the start of the attempt, into gap_start, and how much another place changes it. */
saltus_status saltusi_measure_monitor_change(saltusi_search* search, const double* lifted, int key,
                                             double* change);
/* After a list at a place: contacts whose guards fell are open, those that are new there within `near` are in
 * set[count]; what takes over has the old status of what it takes over from. */
int saltusi_hand_over(saltusi_search* search, double t, const double* q, double near,
                      saltusi_contact* old, int* set);

/* What takes over has the velocity of what it takes over from, but for what the bend of the surface made of the time by
 * which the event is late, up to `small`; anything more is a corner, and an impact. Rows are there. */
saltus_status saltusi_take_over(saltusi_search* search, double t, double* y, double small);

/* layout_tables.c: laws, rows and keys of all contacts; of a set that changes, and of one that does not, where law [nc] is not
 * read if laws have the numbers of contacts. */
void saltusi_layout_laws(saltusi_layout_tables* o, const saltus_system* sys,
                         const saltusi_contact_keys* keys);
void saltusi_layout_fixed(saltusi_layout_tables* o, const saltus_system* sys, const int* law);

/* contact_set.c, for sets of contacts that change: laws of all keys; contacts of the accepted attempt get keys;
 * closed contacts that left the list at y_end are open or an error. */
void saltusi_collect_laws(saltusi_adaptive* w);
/* x, height: bounces that lift the motion along x up to that; NULL: none. */
saltus_status saltusi_collect(saltusi_adaptive* w, const double* x, double height);
saltus_status saltusi_collect_closed(saltusi_adaptive* w, double t);

/* unresolved_forces.c: what the stages could not see in the first part `end` of the attempt */
void saltusi_find_unresolved_forces(saltusi_search* search, double end, saltusi_refusal* refusal);

/* switch_times.c: h, or less so that no formula changes its branch by what t alone decides */
double saltusi_before_switch(saltusi_search* search, double h);
/* A start on a kink is moved along its velocity, by rounding, to the branch that holds afterwards. */
void saltusi_leave_kinks(saltusi_search* search, double* y);
/* Whether the step from y0 to y_end crosses, or would cross, the zero of a switching function of velocities that both of its
 * ends lead to; rate1 at y_end. */
bool saltusi_slides(saltusi_search* search, const double* rate1);

/* friction_mode_transition.c: what is open has lost its bond, unless touching restores it; grips of a contact are open until they are
 * decided about; they follow their contact. */
void saltusi_loosen(saltusi_adaptive* w);
void saltusi_release_friction_modes(saltusi_adaptive* w, int key);
void saltusi_settle_friction_modes(saltusi_adaptive* w, int key);

/* load_distribution.c: rate0 at the start of an attempt. Redundant supports whose even shares are outside of their cones keep near to
 * forces inside of them, where there are such. */
saltus_status saltusi_start_rate(saltusi_adaptive* w);

/* transition.c */
saltus_status saltusi_adaptive_settle(saltusi_adaptive* w, double t, double* y, int count,
                                      bool impact);
saltus_status saltusi_adaptive_transition(saltusi_adaptive* w, double t, double t_event, double* y,
                                          const saltusi_found* found);
/* The contacts of w->decision.set hit, and no status is decided; all that follows an impact on them. */
saltus_status saltusi_impact_all(saltusi_adaptive* w, double t, double* y, int count);
saltus_status saltusi_settle(saltusi_adaptive* w, double t, double* y, int count, bool impact);

/* rim_contact.c: the lowest point `low` of a circle is that of one that lies; v jumps and statuses follow. room: s, what there is
 * to the end of the run; *passed: s, what it takes to go on through the flat attitude, y is there then. */
saltus_status saltusi_lie_down(saltusi_adaptive* w, double t, double* y, int low, double room,
                               double* passed);
/* A circle that is in the air hits flat: with all its fixed points. Its rim, which is listed beside them, stays out. */
saltus_status saltusi_hit_by_rim(saltusi_adaptive* w, double t, double* y, int key);
void saltusi_leave_rims(saltusi_adaptive* w, double t, const double* y);
/* A closed contact of a circle that has come to be flat; -1: none. */
int saltusi_closed_rim(saltusi_adaptive* w, double t, const double* y);
/* A circle that wobbles within the tolerance comes to lie: an impact without restitution on its fixed points. */
saltus_status saltusi_end_wobble(saltusi_adaptive* w, double t, double* y, int key);
/* Senses of slip of the contacts that move, into d->sense; a stored sense of one that does not move is
 * meaningless. */
void saltusi_find_senses(saltusi_decision* d, double t, const double* y);

/* report.c: what an impact did to each of the first `count` members, with their sums */
void saltusi_report(saltusi_adaptive* w, saltus_event event);
void saltusi_report_impact(saltusi_adaptive* w, double t, int count, saltus_event_kind kind);
void saltusi_report_verdict(saltusi_adaptive* w, double t, const saltusi_verdict* verdict);

/* zeno.c: *done when the jump was taken; then y1 holds its end, *tau its length. */
saltus_status saltusi_adaptive_impact_step(saltusi_adaptive* w, double limit, bool* done,
                                           double* tau);

/* scales (section 2) */
void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1);
/* The largest |x_i| in tolerances, x an error; errors of redundant impulses count together. Above `least` its index is w->step.worst. */
double saltusi_in_tolerances(saltusi_adaptive* w, const double* x, double least);
/* largest |x_i| size / tolerance_i over positions and over velocities; at y */
void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v);

/* invariants.c: whether y_end may be where a step ends: no contact that carries nothing below its tolerance; and where an event
 * ends it, before anything is corrected: a hit on its surface, and nothing else below. */
saltus_status saltusi_check_end(saltusi_adaptive* w, double t, saltusi_refusal* refusal);
saltus_status saltusi_check_event(saltusi_adaptive* w, const saltusi_found* f, double t,
                                  saltusi_refusal* refusal);

/* A contact for messages: its features where the system has words for them, else its law. */
enum { SALTUSI_CONTACT_WORDS = 160 };
const char* saltusi_contact_words(const saltusi_adaptive* w, int key,
                                  char room[SALTUSI_CONTACT_WORDS]);
/* Says why no step is possible. */
void saltusi_report_refusal(const saltusi_adaptive* w, const saltusi_refusal* r);
/* The displacement of a contact in the step was not found: an error with the contact. */
saltus_status saltusi_report_height(const saltusi_adaptive* w, int key);
/* Largest number of events at one instant. */
int saltusi_instants_most(const saltusi_adaptive* w);
/* Too many events while time does not advance: SALTUS_ERR_STALLED. */
saltus_status saltusi_report_stall(const saltusi_adaptive* w, int events);
/* Whether time goes on, over many steps; instants: events at the start of the step, which took no time. SALTUS_ERR_STALLED. */
saltus_status saltusi_observe_progress(saltusi_adaptive* w, double length, double limit,
                                       int instants);

#endif
