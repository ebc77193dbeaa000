/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_step.h - the theta step with Moreau's impact law, shared by the schemes made of it.
 */
#ifndef SALTUSI_MOREAU_STEP_H
#define SALTUSI_MOREAU_STEP_H

#include "math/anderson.h"
#include "operator/newton_kkt.h"
#include "scheme/moreau/moreau_history.h"
#include "scheme/newton_end.h"
#include "scheme/redundant_contacts.h"
#include "scheme/warm_start.h"
#include "scheme/warm_start_transfer.h"

/* Options of the theta step. */
#define SALTUSI_THETA_FIELDS(S)                                                                    \
  SALTUS_REAL(S, theta, 0.5, 0.0, 1.0,                                                             \
              "weight of the end of the step in forces and positions [1]"),                        \
      SALTUS_REAL(S, gamma, 1.0, 0.0, 1.0,                                                         \
                  "horizon of contact detection, in parts of a step [1]"),                         \
      SALTUS_CHOICE(S, jump, SALTUS_JUMP_MIDPOINT, SALTUS_JUMP_START, saltusi_impact_step_names,   \
                    "configuration of the rows of the approach velocity"),                         \
      SALTUS_CHOICE(S, joints, SALTUS_JOINTS_MEAN, SALTUS_JOINTS_END, saltusi_joint_level_names,   \
                    "velocity that joints constrain: the mean of the step or its end")

extern const char* const saltusi_impact_step_names[];
extern const char* const saltusi_joint_level_names[];
extern const char* const saltusi_iterate_names[];
extern const char* const saltusi_speculative_names[];

/* The iteration of moreau_joints.c. */
typedef struct saltusi_moreau_joints {
  int n;         /* velocities and rows; 0: not for this system */
  double *z, *f; /* [n] */
  double* g;     /* [nj] */
  saltusi_anderson mixing;
} saltusi_moreau_joints;

/* The iteration of moreau_kkt.c. */
typedef struct saltusi_moreau_kkt {
  int n;                    /* velocities and rows; 0: not for this system */
  double *z, *f;            /* [n] velocities and impulses, and their correction */
  double *q, *v, *impulses; /* [nq], [nv], [nj] of steps in parts */
  double* scale;            /* [nj] rounding error of g */
  double* mass;             /* [values of the structure] */
  bool mass_kept;
  bool solved; /* the present step */
  saltusi_newton_kkt factors;
} saltusi_moreau_kkt;

typedef struct saltusi_moreau saltusi_moreau;

/* One step; writes q1, v1, the report and the memory, which is that of the warm start. */
typedef saltus_status saltusi_moreau_step(saltusi_moreau* work,
                                          const saltus_moreau_jean_options* options,
                                          const saltusi_step* step);

/* Contacts without restitution. */
typedef enum saltusi_plastic {
  SALTUSI_PLASTIC_NONE,
  SALTUSI_PLASTIC_CLOSED, /* those that are forced, closed before the step */
  SALTUSI_PLASTIC_ALL
} saltusi_plastic;

struct saltusi_moreau {
  saltusi_moreau_step* take; /* step function of this system */
  saltusi_linear linear;
  saltusi_contact_list list;
  saltusi_operator op;
  saltusi_warm_start_transfer ancestors;
  double* q_theta; /* [nq] */
  double* v_theta; /* [nv] */
  double* v_last;  /* [nv] change of the velocity in the iteration before */
  double* v_free;  /* [nv] */
  double* force;   /* [nv] */
  int rows;        /* of the joints and the active contacts */
  double* e;       /* [rows] restitution in force */
  double* u0;      /* [rows] U_k */
  double* b0;      /* [rows] b at t_k */
  double* offset;  /* [nc] of active contacts: approach allowed by the gap, m/s */
  double* aim;     /* [nc] of speculative contacts: least allowed gap at the end of the step */
  double* held;    /* [rows] impulses of the last step, for compliant contacts */
  bool* rebounds;  /* [nc] of active contacts: whether restitution applies */
  saltusi_plastic plastic;
  bool driven;                        /* a joint has prescribed motion */
  double* broken;                     /* [nj] G_k^T v_k + b_k while contacts are active, else 0 */
  bool* forced;                       /* [nc] by key: active independent of the forecast */
  saltusi_filtered_contact* filtered; /* [nc] of active contacts */
  int*
      taken; /* [nc] by key, for speculative contacts: 0: inactive, 1 + active contact; -1: redundant */
  double* q_end;   /* [nq] positions at the end of a speculative step */
  double* v_end;   /* [nv] */
  int body_width;  /* velocities of a body where all have as many, else 0 */
  bool linearized; /* v_free already belongs to v_{k+1} = v_k */
  bool smooth;     /* factors of J may serve several iterations */
  bool frozen;     /* they serve the present one */
  bool exact;      /* one iteration solves a step */
  bool rows_stay;  /* rows at q_k are used for the whole step */
  saltusi_moreau_joints kept;
  saltusi_moreau_kkt linked;
  const double* past_before; /* the last steps (moreau_history.h); NULL: none */
  double* past_after;        /* the same including this one; NULL: not requested */
};

/* Number of translational velocities of a body: 3 in space, 2 in the plane; 0: undefined. */
static inline int saltusi_linear_part(const saltusi_moreau* work) {
  enum { SPACE = 6, PLANE = 3 };
  return work->body_width == SPACE ? 3 : work->body_width == PLANE ? 2 : 0;
}

/* Compliance of the normal row of a contact, m/s per unit of impulse: a spring at the end of the
 * step. */
static inline double saltusi_moreau_compliant(const saltus_moreau_jean_options* o, double h) {
  return o->stiffness > 0.0 ? 1.0 / (o->stiffness * h * h) : 0.0;
}

/* Doubles of past_before; 0: the step does not use them. */
size_t saltusi_moreau_history_count(const saltus_system* sys);

void saltusi_moreau_layout(saltusi_moreau* work, int warm_start, const saltusi_eval* eval,
                           saltus_arena* arena);

/* v_free = v_{k+1} - J^-1 R for the current v_{k+1}; first: that is v_k */
saltus_status saltusi_moreau_linearize(saltusi_moreau* work,
                                       const saltus_moreau_jean_options* options,
                                       const saltusi_step* step, bool first);

/* Contacts at the start of the step, none of them active yet. */
saltus_status saltusi_moreau_list(saltusi_moreau* work, const saltusi_step* step,
                                  const saltus_point* at);

/* Activates contact i of the list, whose `count` rows were evaluated; u0: its approach. */
void saltusi_moreau_activate(saltusi_moreau* work, const saltusi_step* step, int i, int row,
                             int count, double u0);

/* After the last active contact: rows of joints at q_k where there is one. */
void saltusi_moreau_close(saltusi_moreau* work, const saltusi_step* step, const saltus_point* at);

/* A gap up to this is open by rounding and counts as closed, or a body at rest would fall freely for a step. */
double saltusi_moreau_gap_rounding(const saltusi_step* step);

/* Relative size of rounding in a velocity, compared with the velocity change of the bodies of a
 * contact by forces in one step. Without the flush a contact at rest would decay like e^k into
 * denormals. The measure is |G|^T |v_free - v_k|, without cancellation: between two stacked balls
 * forces do not change U, but their rounding does. */
#define SALTUSI_RESTING_VELOCITY 1e-14

/* Impulses of op, to rounding where that is possible. Restitution of bodies that settle can contradict stick: the
 * solution slips by velocities that fall like e^k, and is as ill-conditioned as they are small. Such problems are solved
 * to a residual of 1e-8 of their data, which is part of the report; op->tol is that residual then. */
saltus_status saltusi_moreau_solve(saltusi_operator* op, saltusi_eval* eval);

/* An approach faster than this multiple of the velocity change by forces in one step is an impact.
 * Otherwise the impulse is the time integral of a non-impulsive contact force
 * (docs/theory/step-control.md, 2.4). */
#define SALTUSI_IMPACT_VELOCITY 2.0

/* Bodies at rest touch walls along which no force acts, with velocities at the level of solver
 * errors: an impact is also faster than this part of the largest velocity change by forces. */
#define SALTUSI_IMPACT_ROUNDING 1e-9

/* Whether a closed contact is stopped by a kink of its surface, not by its curvature. */
static inline bool saltusi_moreau_is_kink(const saltusi_step* s, double u0) {
  return u0 < -0.2 * saltusi_max_abs(s->eval->sys.dims.nv, s->v0);
}

/* u: approach; pushed and most: velocity change by forces in one step, of the contact and at
 * most. */
static inline bool saltusi_is_impact(double u, double pushed, double most) {
  return u < -SALTUSI_IMPACT_VELOCITY * pushed && u < -SALTUSI_IMPACT_ROUNDING * most;
}

#endif
