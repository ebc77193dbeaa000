/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode.h - friction modes of active contacts (docs/theory/event-capturing.md, 2.7).
 *
 *   sticks   U_T = 0: the tangent rows are active. Redundant tangents are not rows; their force keeps the ratio
 *            rho = lambda_T / lambda_N of the last decision
 *   slips    lambda_T = rho lambda_N,  rho = -mu d, d the direction of U_T. In the plane its sign is kept until the
 *            mode changes, so that the motion is smooth beyond the end of slip; in space d follows the current
 *            velocity. mu is the coefficient of sticking, or a function of the slip speed where the law has a curve,
 *            extrapolated linearly beyond the end of slip
 *
 *   rows R      joints, normals, active tangents
 *   columns H   the same, with G_N + sum rho G_T for normals of contacts whose tangents are not active
 *   M a = F + H lambda,    R^T a + c = 0
 *
 * Elliptic cones with a separate sliding rule (docs/theory/laws.md, 3.1) slip with rho = -mu N^2 d / |M^-1 N^2 d|,
 * M = (1, m) and N = (1, n), and stick while |M^-1 lambda_T| <= mu lambda_N.
 *
 * Viscous friction -c U_T of an active contact is one of the forces F in both modes, and so is the adhesion -A of a
 * bond: the unknown lambda_N is p = the normal force + A, friction is bounded by mu p, and the contact opens at p = 0.
 *
 * Over-constrained contacts (four feet of a table) keep the load distribution of the decision: lambda is that of the
 * decision plus its smallest admissible change.
 *
 * The friction problem on accelerations (friction_mode_decision.c) selects the active contacts and their modes.
 */
#ifndef SALTUSI_FRICTION_MODE_H
#define SALTUSI_FRICTION_MODE_H

#include "law/law.h"
#include "operator/operator.h"
#include "scheme/island_joints.h"

/* One contact. */
typedef struct saltusi_friction_mode {
  int tangents;                     /* 0: without friction */
  double mu;                        /* of sticking */
  const saltus_friction_law* curve; /* of the coefficient of slip; NULL: that of sticking */
  double viscous;                   /* N s/m, against slip beside it */
  /* ratios across the first tangent to along it, of sticking m and of sliding n; 1 except for ellipses with a separate
   * sliding rule */
  double m, n;
  int measured;    /* number of evaluated tangents, for Coulomb and viscous friction */
  double adhesion; /* N, adhesion of the bond */
  bool rebinds;    /* contact restores the bond */
  bool bonded;
  double scale; /* of the second tangent row, and of slip along it */
  bool slips;
  bool keeps;          /* slips along `direction` in decisions, whatever its velocity */
  bool held[2];        /* tangents that are rows */
  double ratio[2];     /* ratio rho of tangents that are not active */
  double direction[2]; /* of slip; in space counts where there is no velocity yet */
  double reference[3]; /* N, force at the last decision, of redundant supports; else 0 */
  double slip[2];      /* m/s, U_T where rows were written last, */
  double speed;        /* its size, */
  double b[3];         /* m/s, of its rows: prescribed motion of the surface */
} saltusi_friction_mode;

/* All contacts of a system with friction. */
typedef struct saltusi_friction_modes {
  saltusi_friction_mode* of; /* [nc] by key; NULL: there is no friction */
  double slow;               /* m/s, slip below this counts as zero */
  const double*
      given; /* [2 nc] present directions of slip in space; NULL: those of the velocities */
} saltusi_friction_modes;

/* Friction mode of a contact as doubles, for storage between steps. */
enum { SALTUSI_GRIP_MARKS = 8 };

/* Whether a contact of the system has friction, or a bond. */
bool saltusi_has_friction(const saltus_system* sys);

/* One with two tangents. */
bool saltusi_slips_in_space(const saltus_system* sys);

void saltusi_friction_modes_layout(saltusi_friction_modes* grips, const saltus_system* sys,
                                   saltus_arena* arena);

/* Initial friction mode of a contact with law number `law`. */
void saltusi_friction_mode_begin(saltusi_friction_mode* grip, const saltusi_eval* eval, int law);
void saltusi_friction_mode_write(const saltusi_friction_mode* grip,
                                 double marks[SALTUSI_GRIP_MARKS]);
void saltusi_friction_mode_read(saltusi_friction_mode* grip,
                                const double marks[SALTUSI_GRIP_MARKS]);

/* Speed of slip, of which curves are functions. */
double saltusi_friction_mode_true_speed(const saltusi_friction_mode* grip, const double slip[2]);
/* Viscous force along tangent k over -slip[k]. */
static inline double saltusi_friction_mode_drag(const saltusi_friction_mode* grip, int k) {
  return k == 0 ? grip->viscous : grip->viscous / (grip->scale * grip->scale);
}
/* |l_T| in the norm of the bound mu l_N of sticking. */
static inline double saltusi_friction_mode_size(const saltusi_friction_mode* grip, double along,
                                                double across) {
  return grip->m == 1.0 ? hypot(along, across) : hypot(along, across / grip->m);
}
/* Sets slip along d, which is normalised, with this speed. */
void saltusi_friction_mode_slip(saltusi_friction_mode* grip, const double* d, double speed);
/* Whether friction falls at once where slip begins. */
bool saltusi_friction_mode_releases(const saltusi_friction_mode* grip);
/* Sets sticking, with all tangents active. */
void saltusi_friction_mode_stick(saltusi_friction_mode* grip);

/* Writes the normal and the active tangents into a block from `row` on, with a capacity for all rows of the contact;
 * returns their number. */
int saltusi_friction_mode_look(const saltusi_friction_mode* grip, const saltus_system* sys,
                               const saltus_point* at, int key, saltusi_row_block* block, int row);

/* Joints and contacts of keys [count], evaluated and taken: op->rows are columns H, op->measured rows R. */
void saltusi_friction_modes_hold(saltusi_friction_modes* grips, saltusi_operator* op,
                                 const saltus_system* sys, const saltus_point* at, const int* keys,
                                 int count);

/* N, current adhesion of its bond. */
static inline double saltusi_friction_mode_pull(const saltusi_friction_mode* grip) {
  return grip->bonded ? grip->adhesion : 0.0;
}

/* F [nv] += viscous friction and bonds of contacts of keys [count]; rows of op are overwritten. */
void saltusi_friction_modes_drag(const saltusi_friction_modes* grips, saltusi_operator* op,
                                 const saltus_system* sys, const saltus_point* at, const int* keys,
                                 int count, double* F);

/* Forces of the decision into op->P, rows of joints 0, after saltusi_friction_modes_hold; false: there are none. */
bool saltusi_friction_modes_reference(const saltusi_friction_modes* grips, saltusi_operator* op,
                                      const int* keys, int count);

/* Adds them to op->P. */
void saltusi_friction_modes_add_reference(const saltusi_friction_modes* grips, saltusi_operator* op,
                                          const int* keys, int count);

/* The force of contact i of the operator, in this friction mode. */
void saltusi_friction_mode_force(const saltusi_friction_mode* grip, const saltusi_operator* op,
                                 int i, double force[3]);

/* ---- friction_mode_decision.c ------------------------------------------------------------------------------ */

typedef struct saltusi_friction_mode_decision {
  saltusi_linear mass;
  saltusi_operator op; /* all rows; P are the forces [N], joints first */
  saltusi_island_joints joints;
  saltusi_cone_products cones;
  int most;        /* capacity: contacts of an island */
  bool redundant;  /* some normals are linearly dependent */
  int jammed;      /* key of a contact that slides and is pressed by its own friction; -1: none */
  double coupling; /* 1/kg, of it: acceleration of its gap by a normal force */
  int pushed;      /* in: key of the contact whose friction has just reached its bound; -1: none */
  int count;       /* contacts of the last decision: */
  int* key;        /* [nc] */
  bool* moves;     /* [nc] slips before the decision */
  bool* presses;   /* [nc] */
  double* W;       /* [rows squared] of an island with joints held */
  double* u;       /* [rows] */
  double* P;       /* [rows] */
  double* basis;   /* [rows squared] */
  int* accepted;   /* [rows] */
  saltusi_friction_modes* grips;
} saltusi_friction_mode_decision;

void saltusi_friction_mode_decision_layout(saltusi_friction_mode_decision* d,
                                           const saltusi_eval* eval, saltus_arena* arena);

/* For closed contacts keys [count] that do not approach: selects those under load (d->presses), their forces (d->op) and
 * their friction modes (third argument); a [nv] receives the acceleration. Contacts that slip faster than `slow` keep
 * slipping. SALTUS_RETRY_SMALLER when no forces satisfy Coulomb's law. */
saltus_status saltusi_friction_mode_decide(saltusi_friction_mode_decision* d,
                                           saltusi_friction_modes* grips, saltusi_eval* eval,
                                           const saltus_point* at, const int* keys, int count,
                                           double* a);

#endif
