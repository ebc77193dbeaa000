/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * checker.h - what the parts of a verification share (docs/theory/certificate.md).
 *
 * The layer sees base and the public headers alone. Its equations, its integration of motions and its solution of
 * linear equations are its own: what it finds wrong cannot be wrong for the same reason as the run.
 */
#ifndef SALTUSI_CHECKER_H
#define SALTUSI_CHECKER_H

#include "base/pool.h"
#include "saltus/verify.h"

/* A contact of a frame as it is recorded. */
typedef struct saltusi_acting {
  uint64_t identity;
  int law;
  double gap, velocity; /* NaN: it does not exist any more */
  double force[3], impulse[3];
} saltusi_acting;

/* A state in the recording. */
typedef struct saltusi_frame {
  long long number;
  double t;
  const double *q, *v;
} saltusi_frame;

/* Part of the hardest impulse of a run that sums of impulses round away. */
#define SALTUSI_LOST_IN_SUMS 1e-13

/* Rows of a contact: normal, tangents, as many of rolling, spin. */
enum { SALTUSI_CONTACT_ROWS = 6 };

/* A contact that acts over an interval. */
typedef struct saltusi_held {
  uint64_t identity;
  const saltus_contact_law* rule;
  int tangents, rows;
  bool sticks, rolls, pivots; /* its slip, its rolling, its spin are held */
  double bond;                /* N, what adhesion pulls */
  double direction[2];        /* of the slip; in space where its speed is too small to tell */
  double roll[2], spin;       /* the same of rolling and spin */
  double turn; /* rad, by which tolerances of the slip leave that direction open in space */
} saltusi_held;

/* Dry friction beside contacts over an interval. */
typedef struct saltusi_dry {
  bool holds;
  double sign; /* of its rate where it does not */
} saltusi_dry;

/* What a row that is not recorded can give. */
typedef struct saltusi_unseen {
  const saltusi_acting* contact; /* NULL: dry friction */
  double most;                   /* N s */
  bool alone;                    /* it gives all of that against its rate, if there is one */
} saltusi_unseen;

/* The equations at one place: M by its Cholesky factor, F, and rows over all velocities. */
typedef struct saltusi_equations {
  double *M, *factor;   /* [nv x nv] */
  double *F, *free;     /* [nv] M^-1 F */
  double *G, *b, *c;    /* [rows x nv], [rows] joints first, then the rows of contacts */
  double* D;            /* [unknowns x nv] generalized force of each unknown */
  double* MD;           /* [unknowns x nv] M^-1 D */
  double *A, *x;        /* [unknowns x unknowns], [unknowns] */
  double* recorded;     /* [unknowns] N, what unknowns are that rows leave open */
  int *row_of, *column; /* [unknowns] row that an unknown holds; pivots */
  int rows;             /* most */
} saltusi_equations;

typedef struct saltusi_checker {
  const saltus_verify_def* def;
  const saltus_system* system;
  const saltus_recording_data* data;
  saltus_certificate* out;
  saltusi_pool pool;
  int nq, nv, nj;
  bool to_tolerance;
  double fastest;  /* largest velocity of the run */
  long long fired; /* events that have switched */
  double hardest;  /* largest impulse of a contact between two frames */
  double* bend;    /* [nj] m/s^2, largest convective acceleration of each joint row */
  double slack;    /* of the first step, where the start had to be corrected */
  void* scratch;
  saltus_failure failure;
  saltusi_acting *acting, *before; /* [acting_room] of a frame, and of the one before it */
  int acting_room;
  saltusi_held* held;        /* [acting_room] */
  saltusi_dry* dry;          /* [dry_count] */
  double* dry_limit;         /* [dry_count] N, of those that slide */
  saltusi_unseen* unseen;    /* [at.rows] */
  double* unseen_x;          /* [3 x at.rows] N s, in the balances of a step */
  int rows_at_hand;          /* of joints and what is not recorded, of the last balance */
  const double* joint_force; /* [nj] N, recorded with the step at hand; NULL: not */
  bool* lost;                /* [nc] bonds that have given way */
  saltusi_equations at;
  double *weight_q, *weight_v; /* [nv] what the tolerances allow at the present place */
  int* coordinate;             /* [nv] that a velocity is the rate of; -1: none alone */
  double *work_q, *work_v;     /* [4 x nq], [12 x nv] */
  double* table;               /* of follow.c */
  int* column;                 /* [nv] of sparse rows */
  double* gap;                 /* [gap_room] */
  uint64_t* identity;
  int* law;
  int gap_room;
} saltusi_checker;

/* --- verify.c --------------------------------------------------------------------------------------- */

/* Where a value was found; identity is of a contact when acting is not NULL. */
typedef struct saltusi_where {
  long long frame;
  long long place;
  const saltusi_acting* contact;
} saltusi_where;

/* Notes a value of an item and what it may be at most. A value that is no number fails. */
void saltusi_note(saltusi_checker* c, saltus_verify_item item, double value, double limit,
                  saltusi_where where);
void saltusi_skip(saltusi_checker* c, saltus_verify_item item);

/* --- frames.c --------------------------------------------------------------------------------------- */

saltusi_frame saltusi_frame_at(const saltusi_checker* c, long long number);
/* The contacts of a frame; how many. */
int saltusi_frame_contacts(const saltusi_checker* c, long long number, saltusi_acting* list);
/* [nj] N, mean forces of joints on the way to a frame; NULL: not recorded. */
const double* saltusi_joint_forces(const saltusi_checker* c, const saltusi_frame* f);
/* Weights at a pair of frames: atol + rtol |x| by velocity. */
void saltusi_set_weights(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b);

/* --- equations.c ------------------------------------------------------------------------------------ */

saltus_point saltusi_place(saltusi_checker* c, double t, const double* q, const double* v);
/* M, its factor and F at a place; false when M is not positive definite. */
bool saltusi_mass_and_force(saltusi_checker* c, const saltus_point* at);
void saltusi_mass_solve(const saltusi_checker* c, double* x);
/* Rows of all joints to the front of at.G, b, c. */
void saltusi_joint_rows(saltusi_checker* c, const saltus_point* at, bool with_c);
/* The first `count` rows of a contact from row `first`. */
void saltusi_contact_rows(saltusi_checker* c, const saltus_point* at, uint64_t identity, int count,
                          int first, bool with_c);
void saltusi_dry_row(saltusi_checker* c, const saltus_point* at, int i, int first, bool with_c);
/* U of row r at v. */
double saltusi_row_velocity(const saltusi_checker* c, int r, const double* v);
/* Solves A x = x of n unknowns with complete pivoting, what depends on others 0; the rank. Says in *left by how much
 * equations that depend on others are not satisfied. */
int saltusi_solve(saltusi_checker* c, int n, double* left);
/* The acceleration while `count` contacts are held; lambda [count x 3]. False: none. */
bool saltusi_acceleration(saltusi_checker* c, const saltus_point* at, int count, double* a,
                          double* lambda);
/* r [nv], a momentum, without what impulses of the first n rows can take, which are at hand; those impulses in at.x. */
void saltusi_without(saltusi_checker* c, int n, double* r);
/* Rows of joints and, behind them, of what acts and is not recorded: rolling and spin of the first `count` of c->acting that
 * pushed, and over h > 0 dry friction. How many; c->unseen says what they can give. */
int saltusi_unseen_rows(saltusi_checker* c, const saltus_point* at, int count, double h);
/* The way from q0 to q1 along velocities. */
void saltusi_way(const saltusi_checker* c, const double* q0, const double* q1, double* d);

/* --- follow.c --------------------------------------------------------------------------------------- */

/* The motion from frame a to the time of b with c->held contacts, by extrapolation of the midpoint rule (Gragg,
 * Bulirsch, Stoer): q [nq], v [nv] and impulses [count x 3]. False when it does not converge. */
bool saltusi_follow(saltusi_checker* c, const saltusi_frame* a, double t, int count, double* y);
size_t saltusi_follow_room(int nq, int nv, int contacts);

/* --- friction.c ------------------------------------------------------------------------------------- */

/* mu of a contact that slides. */
double saltusi_coefficient(const saltus_contact_law* law, double speed);
/* |T| in the norm of the cone: at most mu P_N. */
double saltusi_gauge(const saltus_contact_law* law, const double T[2]);
/* N, what a bond holds along the tangents. */
double saltusi_bond_shear(const saltus_contact_law* law, double bond);
/* Friction over the pressure of what slides, rolls and spins, s [rows]; 0 for rows that are held. */
void saltusi_slide(const saltusi_held* held, const double* U, double* s);
void saltusi_patch(saltus_patch patch, double d, double* f, double* m);

/* --- impacts.c -------------------------------------------------------------------------------------- */

/* The impulse P [3] of one contact that strikes alone with U, by a law other than Newton's; W [rows x rows] with joints held.
 * False: this cannot be said. */
bool saltusi_impact(const saltus_contact_law* law, const double* W, const double* U, double* P);

/* --- smooth.c, steps.c, jumps.c, values.c ----------------------------------------------------------- */

/* part: by how much limits of forces are wider than between the ends of a step: dense output splits their impulses. */
void saltusi_check_smooth(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b,
                          double part);
void saltusi_check_step(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b);
void saltusi_check_friction(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b);
void saltusi_check_jump(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b);
void saltusi_check_values(saltusi_checker* c, const saltusi_frame* f);
void saltusi_check_events(saltusi_checker* c);
void saltusi_check_ledger(saltusi_checker* c);

#endif
