/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * checker.h - shared data of the verification (docs/theory/certificate.md).
 *
 * The layer includes base and the public headers alone. It has separate equations of motion,
 * integration and linear solver, so that a run and its verification share no error.
 */
#ifndef SALTUSI_CHECKER_H
#define SALTUSI_CHECKER_H

#include "base/pool.h"
#include "saltus/verify.h"

/* A contact of a frame as it is recorded. */
typedef struct saltusi_checked_contacts {
  uint64_t identity;
  int law;
  double gap, velocity; /* NaN: no longer exists */
  double force[3], impulse[3];
} saltusi_checked_contacts;

/* A state in the recording. */
typedef struct saltusi_checked_frame {
  long long number;
  double t;
  const double *q, *v;
} saltusi_checked_frame;

/* Rounding of sums of impulses, relative to the largest impulse of a run. */
#define SALTUSI_LOST_IN_SUMS 1e-13

/* Rows of a contact: normal, tangents, as many of rolling, spin. */
enum { SALTUSI_CONTACT_ROWS = 6 };

/* A contact that acts over an interval. */
typedef struct saltusi_checked_constraints {
  uint64_t identity;
  const saltus_contact_law* rule;
  int tangents, rows;
  bool sticks, rolls, pivots; /* slip, rolling, spin are constrained to zero */
  double bond;                /* N, adhesive force */
  double direction[2];        /* of the slip; in space, for slip speeds near zero */
  double roll[2], spin;       /* the same of rolling and spin */
  double turn; /* rad, uncertainty of that direction in space, by tolerances of the slip */
} saltusi_checked_constraints;

/* Dry friction beside contacts over an interval. */
typedef struct saltusi_checked_joint_friction {
  bool holds;
  double sign; /* sign of its rate if it slides */
} saltusi_checked_joint_friction;

/* Limit of a force that is not recorded. */
typedef struct saltusi_unseen {
  const saltusi_checked_contacts* contact; /* NULL: dry friction */
  double most;                             /* N s */
  bool alone; /* the force is at that limit and opposes its rate, if the rate is not zero */
} saltusi_unseen;

/* The equations at one configuration: M by its Cholesky factor, F, and rows over all velocities. */
typedef struct saltusi_equations {
  double *M, *factor;   /* [nv x nv] */
  double *F, *free;     /* [nv] M^-1 F */
  double *G, *b, *c;    /* [rows x nv], [rows] joints first, then the rows of contacts */
  double* D;            /* [unknowns x nv] generalized force of each unknown */
  double* MD;           /* [unknowns x nv] M^-1 D */
  double *A, *x;        /* [unknowns x unknowns], [unknowns] */
  double* recorded;     /* [unknowns] N, for unknowns that the rows leave undetermined */
  int *row_of, *column; /* [unknowns] constraint row of an unknown; pivots */
  int rows;             /* most */
} saltusi_equations;

/* Contacts of a point or a box. */
typedef struct saltusi_listed {
  int count, capacity;
  double* gap;
  uint64_t *identity, *kept; /* kept: of a list that others replace */
  int *law, *kept_law;
} saltusi_listed;

/* The time between two frames: a cubic polynomial in s = (t - a.t) / (b.t - a.t). */
typedef struct saltusi_between {
  saltusi_checked_frame a, b;
  double* power;          /* [nq x 4] */
  double off;             /* m, rad: estimated distance of the motion from the polynomial */
  double bent;            /* m, rad: deviation of the motion from a straight line */
  double *q, *low, *high; /* [nq] */
  saltus_interval* range; /* [2 x nq x 3] */
  void* scratch;          /* of enclosures */
  uint64_t* closed;       /* [acting_room] contacts that touch at both ends */
  int closed_count;
  int left; /* evaluations of one gap */
} saltusi_between;

/* Outputs and events of the scene. */
typedef struct saltusi_observed_values {
  bool outputs, events;
  double *values, *plain, *most; /* [output_count], plain twice; most: largest of the run */
  double* forces;                /* [2 nj + 3 x 64] workspace */
  double *g, *last, *g_most;     /* [event_count] at a frame, at the one before, largest so far */
  double* open; /* [nc] s, last frame at which a contact was open; -INFINITY: none */
  void* scratch;
} saltusi_observed_values;

/* Columns of the ledger. */
enum {
  SALTUSI_EXTERNAL,
  SALTUSI_DRIVE,
  SALTUSI_FRICTION,
  SALTUSI_IMPACT,
  SALTUSI_CREATED,
  SALTUSI_COLUMNS
};

/* Works by the recomputed motion, J. */
typedef struct saltusi_booked {
  double sum[SALTUSI_COLUMNS];  /* since the start; recorded values for columns that cannot be
                                   computed */
  double step[SALTUSI_COLUMNS]; /* between two frames */
  bool known[SALTUSI_COLUMNS];  /* of `step` */
  double* of;                   /* [nc x 2] friction and normal impulses of each contact */
  double* of_step;              /* [nc x 2] */
  bool contacts;                /* of_step is valid */
  double round;                 /* of simultaneous impacts */
  double gained;                /* by events before the current frame */
  long long gains;              /* one past the last of these events */
} saltusi_booked;

typedef struct saltusi_checker {
  const saltus_verify_def* def;
  const saltus_system* system;
  const saltus_recording_data* data;
  saltus_certificate* out;
  saltusi_pool pool;
  int nq, nv, nj;
  bool to_tolerance;
  double fastest;  /* largest velocity of the run */
  bool moments;    /* friction acts that is not recorded: of joints, of rolling and spin */
  bool quiet;      /* no event between the two current frames, by the table of events */
  bool every;      /* the recording has all ends of steps */
  bool sure;       /* failures are certain, independent of the motion between frames */
  long long fired; /* events that have switched */
  double hardest;  /* largest impulse of a contact between two frames */
  double* bend;    /* [nj] m/s^2, largest convective acceleration of each joint row */
  double slack;    /* of the first step, after a correction of the start */
  void* scratch;
  saltus_failure failure;
  saltusi_checked_contacts *acting,
      *before;        /* [acting_room] of a frame, and of the one before it */
  double shown_t;     /* s, of the last frame after an impact */
  long long shown_to; /* one past its events */
  int acting_room;
  saltusi_checked_constraints* held;   /* [acting_room] */
  saltusi_checked_joint_friction* dry; /* [dry_count] */
  double* dry_limit;                   /* [dry_count] N, of those that slide */
  saltusi_unseen* unseen;              /* [at.rows] */
  double* unseen_x;                    /* [3 x at.rows] N s, in the balances of a step */
  /* of the last step: momentum, joint impulses, external and drive power, rotation of joint rows */
  double spread[5];
  int rows_at_hand; /* rows of joints and of forces that are not recorded, in the last balance */
  const double* joint_force; /* [nj] N, recorded with the current step; NULL: not recorded */
  bool* lost;                /* [nc] broken bonds */
  saltusi_equations at;
  double *weight_q, *weight_v; /* [nv] tolerances at the present state */
  int* coordinate;             /* [nv] coordinate whose rate is this velocity; -1: none */
  double *work_q, *work_v;     /* [4 x nq], [12 x nv] */
  double* table;               /* of follow.c */
  double* step_sum;            /* [nj] N s, the same over all frames of a step */
  long long step_pairs;        /* number of intervals between frames in the sum */
  double* impact_sum;          /* [nj] N s, errors of joint impulses over the impacts of a step */
  double* follow_error;        /* [nj] N s, of the impulses of joints along the recomputed motion */
  int* column;                 /* [nv] of sparse rows */
  double* gap;                 /* [gap_room] */
  uint64_t* identity;
  int* law;
  int gap_room;
  saltus_event* events; /* [event_count] by time */
  saltusi_listed listed;
  saltusi_between between;
  saltusi_booked booked;
  saltusi_observed_values observed;
  double energy; /* J, largest of the run */
} saltusi_checker;

/* An impact of one contact. */
typedef struct saltusi_hit {
  const saltusi_checked_frame* frame; /* after it */
  const saltusi_checked_contacts* contact;
  double before[3], after[3]; /* m/s */
  double limit;               /* m/s */
  double W[9];                /* [rows x rows] kg^-1, under the joint constraints; infinite:
                                 undetermined */
  int together;               /* contacts in impact at the same instant */
} saltusi_hit;

/* --- verify.c --------------------------------------------------------------------------------------- */

/* Location of a value; identity is that of a contact if acting is not NULL. */
typedef struct saltusi_where {
  long long frame;
  long long place;
  const saltusi_checked_contacts* contact;
  bool certain; /* independent of the motion between frames */
} saltusi_where;

/* Records a value of an item with its limit. A value that is not finite fails. */
void saltusi_note(saltusi_checker* c, saltus_verify_item item, double value, double limit,
                  saltusi_where where);
void saltusi_skip(saltusi_checker* c, saltus_verify_item item);

/* --- frames.c --------------------------------------------------------------------------------------- */

saltusi_checked_frame saltusi_frame_at(const saltusi_checker* c, long long number);
/* The first frame not before a time; the last frame if there is none. */
long long saltusi_frame_of(const saltusi_checker* c, double t);
/* Whether a frame lies inside of a step: dense output is less accurate than the ends of steps. */
bool saltusi_is_inside(const saltusi_checker* c, long long i);
/* The contacts of a frame; returns their number. */
int saltusi_frame_contacts(const saltusi_checker* c, long long number,
                           saltusi_checked_contacts* list);
/* [nj] N, mean forces of joints over the step to a frame; NULL: not recorded. */
const double* saltusi_joint_forces(const saltusi_checker* c, const saltusi_checked_frame* f);
/* Weights at a pair of frames: atol + rtol |x| by velocity. */
void saltusi_set_shape_mass(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b);

/* --- equations.c ------------------------------------------------------------------------------------ */

saltus_point saltusi_point_at(saltusi_checker* c, double t, const double* q, const double* v);
/* M, its factor and F at a state; false when M is not positive definite. */
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
/* Solves A x = x of n unknowns with complete pivoting; linearly dependent unknowns are 0.
 * Returns the rank; *left: residual of the linearly dependent equations. */
int saltusi_solve(saltusi_checker* c, int n, double* left);
/* The acceleration with `count` active contacts; lambda [count x 3]. False: none. */
bool saltusi_acceleration(saltusi_checker* c, const saltus_point* at, int count, double* a,
                          double* lambda);
/* Removes from the momentum r [nv] the part that impulses of the first n rows of at.G can
 * balance; those impulses in at.x. Returns the rank of the rows. */
int saltusi_without(saltusi_checker* c, int n, double* r);
/* Rows of joints, followed by forces that are not recorded: rolling and spin of the first
 * `count` of c->acting with a normal force, and for h > 0 joint Coulomb friction. Returns the
 * number of rows; limits in c->unseen. */
int saltusi_unseen_rows(saltusi_checker* c, const saltus_point* at, int count, double h);
/* Displacement from q0 to q1 (logarithm map). */
void saltusi_displacement(const saltusi_checker* c, const double* q0, const double* q1, double* d);

/* --- follow.c --------------------------------------------------------------------------------------- */

/* The motion from frame a to the time of b with the active contacts c->held, by extrapolation of
 * the midpoint rule (Gragg, Bulirsch, Stoer): q [nq], v [nv], impulses [count x 3], and the
 * integrals of saltusi_powers_at. False when it does not converge. */
bool saltusi_follow(saltusi_checker* c, const saltusi_checked_frame* a, double t, int count,
                    double* y);
size_t saltusi_follow_workspace(int nq, int nv, int nj, int contacts);

/* --- friction.c ------------------------------------------------------------------------------------- */

/* mu of a contact that slides. */
double saltusi_coefficient(const saltus_contact_law* law, double speed);
/* |T| in the norm of the cone: at most mu P_N. */
double saltusi_gauge(const saltus_contact_law* law, const double T[2]);
/* N, tangential strength of a bond. */
double saltusi_bond_shear(const saltus_contact_law* law, double bond);
/* Friction over normal force of sliding, rolling and spinning rows, s [rows]; 0 for constrained
 * rows. */
void saltusi_slide(const saltusi_checked_constraints* held, const double* U, double* s);
void saltusi_patch(saltus_patch patch, double d, double* f, double* m);

/* --- impacts.c -------------------------------------------------------------------------------------- */

/* The impulse P [3] of a single impact with approach velocity U, by a law other than Newton's; W
 * [rows x rows] under the joint constraints. False: undetermined. */
bool saltusi_impact(const saltus_contact_law* law, const double* W, const double* U, double* P);
/* The same by Newton's law in the plane, with friction. False: there is none, or several. */
bool saltusi_newton_in_plane(const saltus_contact_law* law, const double* W, const double* U,
                             double* P);

/* --- jumps.c, events.c ------------------------------------------------------------------------------ */

/* W of the rows of a contact at a state, under the joint constraints, whose rows are in at.G. */
void saltusi_effective_mass(saltusi_checker* c, const saltus_point* at,
                            const saltusi_checked_contacts* contact, int rows, double* W);
void saltusi_check_law(saltusi_checker* c, const saltusi_hit* h);
/* Into c->events, by time. */
void saltusi_sort_events(saltusi_checker* c);
/* Events from a time to another: the first, and one past the last in *last. */
long long saltusi_events_from(const saltusi_checker* c, double from, double to, long long* last);
bool saltusi_is_of(const saltusi_checker* c, const saltus_event* e,
                   const saltusi_checked_contacts* contact);
/* Impacts of the instant of frame b one after the other, by the table of events: velocities, energies, laws. */
void saltusi_check_rounds(saltusi_checker* c, const saltusi_checked_frame* a,
                          const saltusi_checked_frame* b);

/* --- smooth.c, steps.c, jumps.c, values.c ----------------------------------------------------------- */

/* part: factor by which limits of forces are widened relative to ends of steps, since dense output splits their
 * impulses. */
void saltusi_check_smooth(saltusi_checker* c, const saltusi_checked_frame* a,
                          const saltusi_checked_frame* b, double part);
void saltusi_check_step(saltusi_checker* c, const saltusi_checked_frame* a,
                        const saltusi_checked_frame* b);
/* The same for a scheme whose velocities are differences of positions. */
void saltusi_check_differences(saltusi_checker* c, const saltusi_checked_frame* a,
                               const saltusi_checked_frame* b);
void saltusi_check_friction(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b);
void saltusi_check_jump(saltusi_checker* c, const saltusi_checked_frame* a,
                        const saltusi_checked_frame* b);
void saltusi_check_values(saltusi_checker* c, const saltusi_checked_frame* f);
/* Gaps of a fixed set into c->gap. */
void saltusi_list_gaps(saltusi_checker* c, const saltus_point* at);
/* m, error limit of positions at a frame; 0 without tolerances. */
double saltusi_position_limit(const saltusi_checker* c, const saltusi_checked_frame* f);
void saltusi_check_events(saltusi_checker* c);
void saltusi_check_ledger(saltusi_checker* c);

/* --- works.c ---------------------------------------------------------------------------------------- */

/* out [nj + count + 2]: forces of joints, power of friction of each active contact, external
 * power, power of drives, at a point whose equations are in c->at. lambda [count x 3]. */
void saltusi_powers_at(saltusi_checker* c, const saltus_point* at, int count, const double* lambda,
                       double* out);
/* Books their integrals; `sums` as above. */
void saltusi_book_smooth(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, int count, const double* sums);
void saltusi_compare_joints(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b, const double* sums, double part);
void saltusi_book_impact(saltusi_checker* c, const saltusi_hit* h);
/* Works of contacts over a step of any scheme. */
void saltusi_check_step_works(saltusi_checker* c, const saltusi_checked_frame* a,
                              const saltusi_checked_frame* b);
void saltusi_book_begin(saltusi_checker* c);
/* Compares with the recording at b; a NULL: the first frame. */
void saltusi_check_works(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b);
double saltusi_largest_energy(const saltus_recording_data* d);
/* J, error limit of the columns of the ledger at a frame. */
double saltusi_energy_limit(const saltusi_checker* c, long long frame);

/* The spread of a value over a step: not below that of the step before, since it vanishes at an extremum. */
double saltusi_spread(saltusi_checker* c, int kind, double spread);

/* --- reactions.c ------------------------------------------------------------------------------------ */

/* y [nv] N s: impulses of joints required by the current balance (at.x) minus the recorded ones of frame b, as
 * generalized impulses: redundant joints are compared by their sum. h: s, 0 at an impact. */
void saltusi_reaction_error(const saltusi_checker* c, const saltusi_checked_frame* b, double h,
                            double* y);
/* Effect of the rotation of joint rows within a step on the joint impulses of its balances, equal at both ends and
 * thus absent from their spread: G1^T of the multipliers of (G1 - G0)^T x. y [2 x nv], x = at.x at the start;
 * _end_rotation replaces at.x. The result is in the first nv entries, N s. */
void saltusi_begin_rotation(const saltusi_checker* c, double* y);
void saltusi_end_rotation(saltusi_checker* c, const double* x, double* y);
/* Joint forces of a step by y [3 x nv] of its three balances and the rotation [nv] of its rows. */
void saltusi_check_reactions(saltusi_checker* c, const saltusi_checked_frame* b, double h,
                             const double* y, const double* rotation);
/* Adds impulses x [nj] of joints up to frame b, less the recorded ones, to the sum of the step. */
void saltusi_add_reactions(saltusi_checker* c, const saltusi_checked_frame* b, double h,
                           const double* x);
/* That sum, of a step over an accumulation of impacts. */
void saltusi_check_step_reactions(saltusi_checker* c, const saltusi_checked_frame* a,
                                  const saltusi_checked_frame* b);
/* Joint impulses of an impact with the current balance. unique: its rows are linearly independent. */
void saltusi_check_joint_impulses(saltusi_checker* c, const saltusi_checked_frame* b, bool unique);
/* Work of drives at that impact. */
void saltusi_book_drives(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, int count);
/* Work of external forces and drives over a step of any scheme. */
void saltusi_check_step_powers(saltusi_checker* c, const saltusi_checked_frame* a,
                               const saltusi_checked_frame* b);
/* Energy created by contacts is that of the events. */
void saltusi_check_created(saltusi_checker* c, const saltusi_checked_frame* b);

/* --- observed.c ------------------------------------------------------------------------------------- */

bool saltusi_observed_workspace(saltusi_checker* c);
/* Outputs of a frame that do not depend on joint forces. */
void saltusi_check_outputs(saltusi_checker* c, const saltusi_checked_frame* f);
/* Outputs of joint forces, from forces [nj] at the time of the frame with error bound spread
 * [nj]. */
void saltusi_check_force_outputs(saltusi_checker* c, const saltusi_checked_frame* f,
                                 const double* forces, const double* spread);
/* Events of the scene between two frames; a NULL: the first frame. */
void saltusi_check_passages(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b);
/* Events of contacts against the frames around them. */
void saltusi_check_kinds(saltusi_checker* c);
/* Checks that the begin and end of non-impulsive forces and of friction between two frames have events. */
void saltusi_check_statuses(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b);

/* --- between.c -------------------------------------------------------------------------------------- */

bool saltusi_between_workspace(saltusi_checker* c);
/* Checks for contacts of a frame that are not recorded. limit: m, of penetration. */
void saltusi_check_unlisted(saltusi_checker* c, const saltusi_checked_frame* f, double limit);
/* Contacts between two frames. limit: m, error limit of positions. */
void saltusi_check_between(saltusi_checker* c, const saltusi_checked_frame* a,
                           const saltusi_checked_frame* b, double limit);

#endif
