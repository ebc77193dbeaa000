/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_capturing.h - a Runge-Kutta step through impacts, closings and openings (Acary 2009, algorithm 1, made robust;
 * docs/theory/event-capturing.md, 3).
 *
 *   width         d_h = min(h, max(C h^(p+1), floor))
 *   set A         contacts that are closed: g = 0 and U = 0, held by the Runge-Kutta step
 *   until the end of the step:
 *     smooth      Runge-Kutta to the end with A held
 *     events      hit: g has a root; touch: a contact closes without an impulse; open: the force
 *                 of a contact of A has a root. Each is bracketed to [a, b], b - a <= d_h
 *     no event    done
 *     open        Runge-Kutta to b, the contact leaves A
 *     friction    contacts of A stick or slip (friction_mode.h). Slip that ends (in the plane a root of its velocity), and sticking
 *                 that ends (a root of mu lambda_N - |lambda_T|) are located like an opening: Runge-Kutta to b, then the
 *                 friction problem on accelerations decides
 *     hit         Runge-Kutta to a, then a Moreau step (theta = 1/2) of length b - a with the impact
 *                 law on A and on the contacts whose event lies in it
 *     closing     contacts that took part and whose flight would be shorter than the width, 2 U / |gamma| <=
 *                 d_h with gamma < 0, get U = 0; those that then bear load form the new A
 *     stall       many events without progress: the Moreau step doubles each time
 *     projection  g = 0, U = 0 on A and the joints, in the metric of M
 */
#ifndef SALTUSI_EVENT_CAPTURING_H
#define SALTUSI_EVENT_CAPTURING_H

#include "saltus/runge_kutta.h"
#include "scheme/coulomb_check.h"
#include "scheme/dense_segments.h"
#include "scheme/event/acceleration.h"
#include "scheme/event/runge_kutta.h"
#include "scheme/moreau/moreau_step.h"

typedef enum saltusi_event_kind {
  SALTUSI_EVENT_HIT,   /* the gap has a root in the bracket */
  SALTUSI_EVENT_TOUCH, /* the contact closes here without an impulse */
  SALTUSI_EVENT_OPEN,  /* the force of a held contact has a root in the bracket */
  SALTUSI_EVENT_STOP,  /* the slip of a held contact has one */
  SALTUSI_EVENT_SLIDE  /* friction of a contact that sticks reaches its bound in the bracket */
} saltusi_event_kind;

typedef struct saltusi_event {
  saltusi_event_kind kind;
  int key;
  double a, b; /* s after the start of the sub-interval */
  bool
      ends; /* of an opening: features of the contact end, or its force jumps, in the bracket; rows beyond it are those of others */
  bool
      inside; /* of a hit: its features are listed from here on, with a penetration, so the gap has a jump and no root */
} saltusi_event;

/* An event, reported immediately to the observer; a step may contain several. */
typedef enum saltusi_note_kind {
  SALTUSI_NOTE_IMPACT,
  SALTUSI_NOTE_CLOSE,
  SALTUSI_NOTE_OPEN,
  SALTUSI_NOTE_TOUCH,
  SALTUSI_NOTE_SLIP,
  SALTUSI_NOTE_STICK,
  SALTUSI_NOTE_REVERSAL
} saltusi_note_kind;

typedef struct saltusi_capture_note {
  saltusi_note_kind kind;
  int key;
  double t, accuracy;       /* s: it happened within `accuracy` before t */
  double u_before, u_after; /* m/s, normal */
  double slip_before[2], slip_after[2];
  double impulse[3]; /* N s, normal first */
} saltusi_capture_note;

/* Impacts of a contact in a row; flights that shrink like a geometric series accumulate. */
typedef struct saltusi_impact_series {
  double impacts;   /* how many */
  double last;      /* s, time of the last */
  double flight[2]; /* s, between the last two, and between the two before */
} saltusi_impact_series;

/* Gaps and velocities of all contacts at one state, by key. */
typedef struct saltusi_contact_view {
  double* gap;  /* [nc] m; infinite for a contact that does not exist there */
  double* u;    /* [nc] m/s, normal */
  double* slip; /* [2 nc] m/s, of a system with friction */
} saltusi_contact_view;

typedef struct saltusi_capture {
  saltusi_rk rk;
  saltusi_rk soft;  /* of explicit methods: where slip in space is stiff */
  saltusi_rk* flow; /* the one at hand */
  saltusi_moreau moreau;
  saltusi_acceleration pressing; /* the closed contacts that bear load */
  saltusi_linear mass;
  saltusi_operator op; /* operator of closings and projections */
  saltusi_contact_list list;
  double* joint_gap; /* [nj] */

  /* the sub-interval */
  double t, left;   /* s: its start, and the remainder of the step */
  double span;      /* s, end of the search for events */
  double tried;     /* s, length of the trial step in q_try, v_try; NaN: none */
  double width;     /* s, d_h */
  double* q;        /* [nq] at its start */
  double* v;        /* [nv] */
  double* q_end;    /* [nq] result of the Runge-Kutta method at its end */
  double* v_end;    /* [nv] */
  double* q_try;    /* [nq] state at an intermediate time */
  double* v_try;    /* [nv] */
  double* a;        /* [nv] */
  double* q_before; /* [nq] a projection */
  saltusi_contact_view start, here, end, probe; /* start: of the whole step */
  double gap_rounding, velocity_rounding;
  bool* closed; /* [nc] the set A */
  int* keys;    /* [nc] the same as a list */
  int count;
  int* others;                             /* [nc] */
  int* laws;                               /* [nc] place of a contact's law, by key */
  saltusi_friction_modes grips;            /* of A, where there is friction */
  saltusi_friction_mode_decision decision; /* the same */
  double* marks;                           /* [nc x SALTUSI_GRIP_MARKS] */
  bool* was_slipping;                      /* [nc] */
  bool fresh;                              /* first step: touching contacts are bonded */
  bool* ends;                              /* [nc] slip in space ends now */
  double* response;                        /* [nv] */
  saltusi_event* events;                   /* [3 nc] */
  int event_count;
  int stall; /* events in a row without progress */
  int*
      doublings; /* [nc] of the Moreau step, by the contact of events without progress; of this step */
  double* sampled; /* [3 nq] positions and rates inside of the sub-interval */
  double* halved;  /* [2 nv] velocities */
  bool probed;     /* the stages are not those of q_end, v_end */

  /* the Moreau step inside, and the report of the whole step by key */
  bool* took_part; /* [nc] */
  saltus_contact_step* inner;
  double* inner_joints; /* [nj] */
  saltus_contact_step* whole;
  bool* reported;                /* [nc] */
  bool* was_closed;              /* [nc] */
  saltusi_lasting* lasting;      /* [nc] impulses of the step, for the check of the contact law */
  saltusi_dense_segments pieces; /* the motion of the current step */

  /* event-driven: impacts at an instant, and the choice at accumulations */
  bool exact;
  bool stops;                    /* at accumulations */
  saltusi_impact_series* series; /* [nc] */
  double* dense_room;            /* for evaluation inside segments */

  const saltusi_step* target; /* the current step, whose report gets the events */
  void (*observe)(void* observer, const saltusi_capture_note* note); /* NULL: no observer */
  void* observer;
} saltusi_capture;

void saltusi_capture_layout(saltusi_capture* w, const saltusi_tableau* method,
                            const saltusi_eval* eval, saltus_arena* arena);
saltus_status saltusi_capture_step(saltusi_capture* w, const saltus_event_capturing_options* o,
                                   const saltusi_step* s);

/* The state at a time inside a step. */
saltus_status saltusi_capture_dense(saltusi_capture* w, const saltusi_dense_query* query);

/* m/s: rounding error, over many steps, of the velocity of a contact without load beside load-bearing ones. */
static inline double saltusi_capture_slow(const saltusi_capture* w) {
  return 1024.0 * w->velocity_rounding;
}

/* Active contacts with their friction modes. */
static inline saltusi_active_rows saltusi_capture_active(saltusi_capture* w, const int* keys,
                                                         int count) {
  return (saltusi_active_rows){.keys = keys,
                               .count = count,
                               .both_ways = true,
                               .grips = w->grips.of != NULL ? &w->grips : NULL};
}

/* Memory of a scheme per contact, in doubles: 1 closed, -1 open, 0 before the first step; then its friction mode. */
static inline size_t saltusi_capture_carried(const saltus_system* sys) {
  return 1 + (saltusi_has_friction(sys) ? (size_t)SALTUSI_GRIP_MARKS : 0);
}
void saltusi_capture_transfer(const saltus_system* sys, saltusi_state_transfer* carry);
/* Whether marks of friction modes in memory from outside exist. */
bool saltusi_capture_memory_valid(const void* options, const saltus_system* sys,
                                  const double* memory);

/* Dense output of a scheme that captures events. */
size_t saltusi_capture_dense_count(const void* options, const saltus_system* sys);
void saltusi_capture_transfer_dense(const void* options, const saltus_system* sys,
                                    saltusi_state_transfer* carry);

/* event_find.c */

/* Gaps and velocities at a state. */
saltus_status saltusi_capture_look(saltusi_capture* w, saltusi_eval* eval, double t,
                                   const double* q, const double* v, saltusi_contact_view* view);

/* Runge-Kutta over a part x of the sub-interval into q_try, v_try. */
saltus_status saltusi_capture_flow(saltusi_capture* w, saltusi_eval* eval, double x, double* q,
                                   double* v);

/* The first of eight samples of the sub-interval at which an open contact is below the floor, and lower than it started; the span: none. q is the
 * cubic through positions and rates at both ends. Error control chooses long steps where the motion is smooth, however often the floor moves. */
saltus_status saltusi_capture_sample(saltusi_capture* w, saltusi_eval* eval, double* dip);

/* While contacts slip in space: how far the sub-interval may go (*span), by which method, and in `ends` whose slip ends
 * here (*any); see event_space.c. */
saltus_status saltusi_capture_pace(saltusi_capture* w, saltusi_eval* eval, double* span, bool* any);

/* Events up to `span`, earliest first; q_end, v_end, here and end have been computed. */
saltus_status saltusi_capture_find(saltusi_capture* w, saltusi_eval* eval);

/* The normal acceleration of a contact with the contacts of `others` held. */
saltus_status saltusi_capture_gamma(saltusi_capture* w, saltusi_eval* eval, int key, int count,
                                    double* gamma);

/* event_error.c */

/* The error of a part that the method of stiff slip has taken from the start of the sub-interval to (q, v): it has no
 * embedded method, so two half steps are computed as well. Overwrites the stages. If a half step fails, the step must
 * fail. */
void saltusi_capture_halved_error(saltusi_capture* w, const saltusi_step* s, double x,
                                  const double* q, const double* v);

/* The impact lies anywhere in its bracket of length d: positions are uncertain by the jump of their rates over half of it. */
void saltusi_capture_bracket_error(saltusi_capture* w, const saltusi_step* s, double d);

/* event_close.c */

/* Which of the contacts that took part are closed now: the new A. `length` is that of the Moreau
 * step before, 0 after a touch. */
saltus_status saltusi_capture_close(saltusi_capture* w, const saltusi_step* s, double length,
                                    bool touch);

/* Projects positions and velocities onto g = 0, U = 0 of A and of the joints. */
saltus_status saltusi_capture_project(saltusi_capture* w, const saltusi_step* s);

/* Determines the friction modes of the contacts of A after the end of slip or sticking of one of them. */
saltus_status saltusi_capture_decide_friction(saltusi_capture* w, const saltusi_step* s,
                                              const saltusi_event* event);

/* The index of a contact in the report of the whole step. */
saltus_contact_step* saltusi_capture_reported(saltusi_capture* w, int key);

/* Reports an accumulation of impacts of a contact; returns SALTUS_ERR_ACCUMULATION. */
saltus_status saltusi_capture_stop(const saltusi_capture* w, const saltusi_step* s, int key);

/* Reports a note; time and accuracy are filled in. */
void saltusi_capture_report(const saltusi_capture* w, saltusi_capture_note* note);

#endif
