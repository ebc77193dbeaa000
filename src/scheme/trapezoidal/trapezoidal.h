/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal.h - the parts of the linearly implicit trapezoidal method (Potra, Anitescu, Gavrea and
 * Trinkle 2006; docs/theory/trapezoidal.md).
 *
 *   step of length x from (t, q, v), unknown d = v1 - v:
 *     q_m  = q advanced by x/2 along v
 *     A    = M(t + x/2, q_m) - x/2 F_v - x^2/4 F_q
 *     A d  = x/2 (F(t,q,v) + F(t+x,q,v) + x F_q v) + G_f P
 *     rows   mean: G(q_m)^T (v1 + v) + 2 b          end: G(q + x v)^T v1 + b
 *     q1   = q advanced by x along (v + v1)/2
 *
 * The factor of F_q v is derived, not the printed x/2; M is taken in the middle, not at the start;
 * the end scheme measures velocities at the end: docs/theory/trapezoidal.md, 2. F_q and F_v are taken in the
 * middle as well, which differs from (t+x, q, v) by O(x) and keeps order 2.
 */
#ifndef SALTUSI_TRAPEZOIDAL_H
#define SALTUSI_TRAPEZOIDAL_H

#include "saltus/trapezoidal.h"
#include "scheme/projection.h"
#include "scheme/redundant_contacts.h"
#include "scheme/scheme_ops.h"
#include "scheme/trapezoidal/polyhedral_rows.h"

/* Collisions of one contact in a step, after which slow ones, as those of a Zeno sequence are, do not rebound:
 * flights under a force f of the mass m that end within h have speeds below h f / m. Faster ones, as
 * between walls that close, rebound. */
enum { SALTUSI_TRAPEZOID_HITS = 8 };

/* Carried from step to step, by key: last mode, mode that was reported, Painleve's region. */
enum { SALTUSI_TRAPEZOID_CARRIED = 3 };
/* Whether modes in memory from outside exist, with directions below a number. */
bool saltusi_trapezoid_memory_valid(const saltus_system* sys, int directions, const double* memory);

/* A variable that is monitored for sign changes while modes are fixed (trapezoidal_detect.c). */
typedef struct saltusi_substep_observation {
  int what;
  int place;    /* index of the contact in the law */
  int k;        /* direction */
  double value; /* at the end of the substep */
} saltusi_substep_observation;

/* Result of a step of some length. */
typedef struct saltusi_trapezoid_end {
  double* q; /* [nq] */
  double* v; /* [nv] */
  double* P; /* [rows] N s, joints first */
} saltusi_trapezoid_end;

typedef struct saltusi_trapezoid {
  const saltus_trapezoidal_options* o;
  const saltusi_step* s; /* the current step */
  bool mean;             /* the law constrains the mean velocity, else the end velocity */
  saltus_system_ops approximate_ops;
  saltusi_eval approximate; /* the system with Gauss-Newton Jacobians, if requested */
  saltusi_eval* eval;
  saltusi_linear effective; /* A */
  saltusi_linear doubled;   /* A of twice the length: constant systems factor both once */
  saltusi_linear mass;      /* M of impacts */
  saltusi_projection end;   /* joints at the end of a step, of the mean velocity */
  saltusi_polyhedral_rows law;
  saltusi_contact_list list;

  double t, left;                        /* present time, and remainder of the step */
  double* q;                             /* [nq] present state */
  double* v;                             /* [nv] */
  saltusi_trapezoid_end whole;           /* to the end of the step, by complementarity */
  saltusi_trapezoid_end trial;           /* anything else */
  saltusi_mode* whole_mode;              /* [nc] by index in the law */
  double whole_residual;                 /* m/s */
  saltusi_substep_observation* observed; /* [nc x (2 + directions)] those that change their sign */
  saltusi_mode* held;                    /* [nc] the same, while transitions are located */
  double* q_mid;                         /* [nq] */
  double* q_end;                         /* [nq] */
  double* F0;                            /* [nv] at the start of the substep */
  double* F1;                            /* [nv] */
  double* push;                          /* [nv] h M^-1 F */
  double push_size;                      /* m/s, rad/s: its largest entry */
  bool struck;                           /* there was a collision in this step */
  bool measured;                         /* push belongs to this step */
  double* F_q;         /* [nv x nv], or the values of the blocks that the system writes */
  double* scratch;     /* [nv x nv] where there are no blocks */
  double* joint_gap;   /* [nj] */
  double* u_before;    /* [nc] by index in the law */
  double* slip_before; /* [2 nc] the same */
  double* e;           /* [nc] restitution in force, by index in the law */
  int*
      struck_keys; /* [nc] keys of an impact by src/law, and of active contacts before the filter */
  saltusi_filtered_contact* filtered; /* [nc] */
  bool*
      rebounds; /* [nc] faster than the velocity change by forces in a step, by index in the law */
  double* compression;   /* [rows] impulses of the first phase of an impact */
  saltusi_row_block row; /* [3] one contact */

  /* by key: */
  double* gap;                  /* [nc] m at the present state; infinite: no such contact here */
  double* gap_end;              /* [nc] m at the end of the substep */
  double* gap_inside;           /* [nc] at a time in between */
  int* law_of;                  /* [nc] */
  int* hit_count;               /* [nc] collisions in this step */
  bool* active;                 /* [nc] */
  bool* hit;                    /* [nc] takes part in the next collision */
  double* hit_at;               /* [nc] position in the substep, 0 to 1 */
  saltusi_mode* mode;           /* [nc] at the end of the last substep; unknown after an impact */
  saltusi_mode* reported_mode;  /* [nc] as far as events were reported */
  bool* paradox;                /* [nc] in the region of Painleve */
  bool* reported;               /* [nc] */
  double* gap_start;            /* [nc] */
  double* u_start;              /* [nc] */
  saltus_contact_step* summary; /* [nc] */
  bool located;                 /* the present state is a located event */
  bool indefinite;              /* A is indefinite; reported once */
  int short_substeps;           /* in succession, below the option substep_min */
  bool unlocated;               /* events of some step were not located; reported once */
} saltusi_trapezoid;

/* Gap up to which contacts are active, (7.1). */
static inline double saltusi_trapezoid_near(const saltusi_trapezoid* w) {
  const double h = w->s->h;
  return fmax(w->o->contact_gap, w->o->contact_gap_h3 * h * h * h);
}

void saltusi_trapezoid_layout(saltusi_trapezoid* w, const saltus_trapezoidal_options* o,
                              const saltusi_eval* eval, saltus_arena* arena);

/* A with its factors, the free motion and the rows of a step of length x from the present state
 * with the contacts of w->law; mean: the law constrains the mean velocity. */
saltus_status saltusi_trapezoid_prepare(saltusi_trapezoid* w, double x, bool mean);

/* State and impulses at its end, from the impulses of w->law. */
void saltusi_trapezoid_finish(saltusi_trapezoid* w, double x, saltusi_trapezoid_end* end);

/* Whether A of a step of length x is positive definite; once for each step. */
/* Whether M - x/2 F_v - x^2/4 F_q is positive definite in the middle of a substep of length x. */
bool saltusi_trapezoid_is_definite(saltusi_trapezoid* w, double x);
void saltusi_trapezoid_check_definite(saltusi_trapezoid* w, double x);

/* Gaps at a state, by key. */
saltus_status saltusi_trapezoid_gaps(saltusi_trapezoid* w, double t, const double* q, double* gap);

/* Normal and tangential velocity of a contact at the present state. */
double saltusi_trapezoid_velocity(saltusi_trapezoid* w, int key, double slip[2]);

/* One impact of all contacts of the law at the present state: w->v changes (trapezoidal_impact.c).
 * w->e holds the restitution of each. */
saltus_status saltusi_trapezoid_impact(saltusi_trapezoid* w);

/* All contacts of the law get U_N = 0, also those that open: the end of a Zeno sequence. */
saltus_status saltusi_trapezoid_stop(saltusi_trapezoid* w);

/* Restitution of all contacts by their laws; contacts slower than `rest` times the velocity change by
 * forces in a step get none if they are active (resting) or have had many collisions in this step. Returns whether any contact approaches. */
saltus_status saltusi_trapezoid_restitution(saltusi_trapezoid* w, bool resting, bool* approach);

/* The first collision inside the substep: its length, or 0; the state at it in w->trial, and its
 * contacts in w->hit (trapezoidal_collide.c). */
saltus_status saltusi_trapezoid_collision(saltusi_trapezoid* w, double* length);

/* The first transition inside the substep: its length, or 0; the state at it in w->trial
 * (trapezoidal_detect.c). */
saltus_status saltusi_trapezoid_transition(saltusi_trapezoid* w, double* length);

/* A whole step through all its events (trapezoidal.c). */
saltus_status saltusi_trapezoid_step(saltusi_trapezoid* w, const saltus_trapezoidal_options* o,
                                     const saltusi_step* s, bool mean);

/* Velocity change by forces in a whole step, into w->push: the scale of small velocities.
 * saltusi_trapezoid_rounding: rounding of the normal velocity of the contact in w->row. */
saltus_status saltusi_trapezoid_measure(saltusi_trapezoid* w);
double saltusi_trapezoid_rounding(const saltusi_trapezoid* w);

/* Releases contacts that an impact has opened. */
void saltusi_trapezoid_release(saltusi_trapezoid* w);

/* Motion inside the step (trapezoidal_dense_output.c): a substep of length x from the present state to the
 * velocity v1; x = 0: the end of the step. velocity [nv] is scratch. */
size_t saltusi_trapezoid_dense_count(const saltus_dims* d);
void saltusi_trapezoid_dense_clear(double* data);
void saltusi_trapezoid_dense_add(const saltusi_trapezoid* w, double x, const double* v1);
saltus_status saltusi_trapezoid_dense(const saltusi_dense_query* query, double* velocity);

/* Into the report of the step. */
void saltusi_trapezoid_report(saltusi_trapezoid* w, const saltus_event* event);
void saltusi_trapezoid_add_impulses(saltusi_trapezoid* w, const double* p, bool impact);

#endif
