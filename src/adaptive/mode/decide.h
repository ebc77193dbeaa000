/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide.h - complementarity problems: forces or impulses of contacts and their effect (sections 4.3, 6, 7).
 */
#ifndef SALTUSI_DECIDE_H
#define SALTUSI_DECIDE_H

#include "adaptive/mode/mode.h"
#include "law/law.h"
#include "solve/friction/cone_products.h"
#include "solve/friction/friction_curve.h"
#include "solve/friction/friction_step.h"
#include "solve/lcp/lcp_lemke.h"

/* Workspace of problems of large islands: decide_large.c. */
typedef struct saltusi_large {
  saltusi_active_set_factor* rows; /* of the present island */
  saltusi_friction_step blocks;
  int* row; /* [nj + nl] of the problem */
  /* [nj + nl] joint or contact of each row: rows of joints, then contacts */
  int* unit;
  double* free;             /* [nj + nl] */
  double* l;                /* [nj + nl] */
  double* u;                /* [nj + nl] */
  double* mu;               /* [nj + nc] of joints and contacts */
  unsigned char* bilateral; /* [nj + nc] */
  int* state;               /* [nc] of the contacts */
} saltusi_large;

/* Impacts by the laws of src/law: impact_laws.c. */
typedef struct saltusi_impacted {
  saltusi_laws laws;
  saltus_impact_contact* contact; /* of the present island */
  int* key;                       /* of each */
  int* row;                       /* of the problem, as rows of the mode */
  double* W;
  double *u, *P, *u_after; /* by row */
  double* X;               /* effect of each row */
} saltusi_impacted;

/* Problems with products of balls: decide_rolling.c. */
typedef struct saltusi_ball_workspace {
  saltusi_balls solver;
  saltus_cone* cone; /* of the joints and contacts */
  int* offset;       /* first row of each */
  int* unit;         /* key of each */
  int units;
  double* slip;  /* of rows: scale of the slip, */
  double* force; /* and of the force */
} saltusi_ball_workspace;

typedef struct saltusi_decision {
  saltusi_mode_dynamics* mode;
  const saltusi_layout_tables* o;
  const saltusi_adaptive_memory* memory;
  saltusi_contact* contact; /* [nc] statuses: written by saltusi_decide_status */
  saltus_log log;

  /* the problem */
  int* set;             /* [nc] its contacts */
  double* sense;        /* [nc] prescribed signs of slip; 0: undecided */
  double* direction;    /* [slips x nc] of prescribed slips of spatial contacts */
  double* mu;           /* [nc] coefficients: of sticking, or those of an impact */
  double* share;        /* [nc] fraction of the coefficient with which a planar contact slides */
  saltusi_curve* curve; /* [nc] coefficients of an impact that depend on slip */
  bool* begun;          /* [nc] its slip begins and is therefore prescribed */

  /* the result */
  double* impulse; /* [nl] impulses or forces of all contact rows */
  double* slack;   /* [nc] slip acceleration or velocity */
  /* [nl] velocities or accelerations of all contact rows without the impulses */
  double* u_before;
  double* u_after;       /* [nl] and with them */
  double* joint_impulse; /* [nj] N s, reaction of the joints to an impact */
  double residual;       /* m/s, of the worst problem since it was set to zero */

  /* internal */
  saltusi_lcp_work lcp;
  int lcp_max;        /* capacity: unknowns of the largest problem, */
  size_t entries_max; /* of its columns */
  size_t basis_max;
  int units_max; /* and contacts of the largest one in space */
  int* part;     /* [nc] contacts of an island */
  double* lcp_M;
  double* lcp_q;
  double* lcp_z;
  double* lcp_scale;
  int* lcp_row;  /* row of each unknown; -1: none */
  int* lcp_kind; /* 0 normal, 1 friction +, 2 friction -, 3 slack */
  int* lcp_key;
  double* lcp_X;                  /* [n x k] P H */
  saltusi_friction_step friction; /* of spatial contacts */
  int* unit_first;                /* [nc + 1] */
  double* unit_mu;                /* [nc] */
  saltusi_large* large;           /* of large islands; NULL: none */
  saltusi_ball_workspace* balls;  /* NULL: none */
  bool lasting;                   /* the problem has forces, not impulses */
  saltusi_impacted* laws;         /* of impacts by src/law; NULL: none so far */
  bool special;                   /* all impacts are by src/law */
  double* compression;            /* [nl] N s */
  /* [nc] N s, friction in addition to mu times the normal impulse */
  double* bound;
  bool* blocked; /* [nc] joints block the tangent */
  bool* spread;  /* [nc] forces are distributed over linearly dependent rows, as iterations end */
  bool wedged;   /* an impact without a solution by Newton's law is solved by Poisson's */
  double e_part; /* fraction of the restitution that is used, 1 except in capped impacts */
  double
      /* fraction of the friction of contacts at rest, 1 except in the search for admissible
       * forces */
      grip_part;
  double* change;   /* [nv] of v or a in the last problem */
  double* free_acc; /* [nv] */
  double* x;        /* [nv] */
  double* v_spare;  /* [nv] */
  double* v_impact; /* [nv] before an impact */
  /* [2 n x k] orthonormal rows of the rank pass, each with M^-1 times it; solutions of planar problems */
  double* basis;
  saltusi_contact* kept; /* [nc] */
} saltusi_decision;

void saltusi_decision_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                             const saltusi_step_capacity* room, saltus_arena* arena);

/* New status of the contacts in d->set (closed, U = 0); d->sense has prescribed slips. SALTUS_RETRY_SMALLER: no
 * solution (Painleve). */
saltus_status saltusi_decide_status(saltusi_decision* d, double t, const double* y, int count);

/* redundant_forces.c. Reference forces of a contact for the following steps; l = NULL: none. */
void saltusi_keep_forces(saltusi_contact* c, int tangents, const double* l);
/* Redundant contacts share the load evenly, `held` [nl], which alone may bring one of them to its bound: of these
 * forces and those of the last status problem the mean with the least friction becomes the reference of the steps.
 * False: it uses more than `most` of its bound. */
bool saltusi_decide_redundant_forces(saltusi_decision* d, const double* held, double most);
/* Forces that keep all contacts at rest with another load distribution than `held`, strictly inside all cones,
 * into d->impulse: those of the status problem, or of one with the least sufficient friction. Statuses do not
 * change. *inside: such forces exist. */
saltus_status saltusi_decide_load_distribution(saltusi_decision* d, double t, const double* y,
                                               const double* held, bool* inside);
/* The fraction of its bound that this mean uses. */
double saltusi_decide_least(const saltusi_decision* d, const double* held);

/* Of the contacts in d->part: spatial ones at their bound slide if another one of the same bodies does: at the
 * onset their accelerations are below resolution, and a rigid body cannot slide at some of its contacts only. */
void saltusi_slide_together(saltusi_decision* d, int count);

/* rank.c. Sticking contacts with linearly dependent rows become passive; contacts without a force keep their row
 * if it is independent (section 4.3, rank pass). The contacts of an island in d->part. */
saltus_status saltusi_rank_pass(saltusi_decision* d, const saltusi_island* in, int count);

/* Whether the last status problem left a contact without acceleration, up to rounding. */
bool saltusi_is_balanced(const saltusi_decision* d, int key);

/* Data of the report of an impact besides its velocities. */
typedef struct saltusi_verdict {
  int contact;    /* named in the report */
  double gain;    /* J, energy gain of the impact */
  double of_law;  /* J, gain by the contacts' own law */
  bool replaced;  /* another law than the contacts' own was applied */
  double sums[3]; /* J, of a gain: normals, friction against the last slip, along the first */
} saltusi_verdict;

/* friction_coefficients.c. Coefficients of slip of the contacts of d->set with prescribed signs, at the velocities
 * v; rows must be evaluated. */
void saltusi_load_slips(saltusi_decision* d, const double* v, int count);
/* Prescribes the slip of contacts that begin to slide with less friction than in sticking: the problem changes.
 * False: there are none, or no more. */
bool saltusi_let_go(saltusi_decision* d, int count);
/* Coefficients of an impact (solve/friction/friction_curve.h): first those of velocities in d->u_before, */
bool saltusi_load_impact(saltusi_decision* d, int count); /* whether there are such contacts */
/* then of those in d->u_after, after `round` rounds. False: the same as before. */
bool saltusi_follow_impact(saltusi_decision* d, int count, int round);

/* Impact on the contacts of d->set: v of y jumps. */
saltus_status saltusi_decide_impact(saltusi_decision* d, double t, double* y, int count,
                                    saltusi_verdict* verdict);
/* Impact without collision (section 7). */
saltus_status saltusi_decide_painleve(saltusi_decision* d, double t, double* y, int count);

/* The velocity below which slip is zero (section 2). */
double saltusi_slip_rounding(const saltusi_decision* d);

/* For messages. */
const char* saltusi_contact_name(const saltusi_layout_tables* o, int key);

/* impact_laws.c: the impact on the contacts for which saltusi_reduce was called, from velocities in d->u_before. */
saltus_status saltusi_law_impact(saltusi_decision* d, double* v, const saltus_impacts* rule,
                                 saltusi_verdict* verdict);
void saltusi_decide_laws_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                                const saltusi_step_capacity* room, saltus_arena* arena);

/* The problem of one island. */
typedef struct saltusi_problem {
  saltusi_island in;
  int island;     /* its index */
  const int* set; /* [count] contacts */
  int count;
  const double* u_free; /* [nl] velocities or accelerations without the contacts */
  const double* bound;  /* [nc] friction in addition to mu l_N, or NULL */
  double limit;         /* factor of the limits of dry friction: 1, or 0 in impacts */
} saltusi_problem;

/* Reports the number of iterations of the contacts of a problem. */
static inline void saltusi_decision_tell(const saltusi_decision* d, const saltusi_problem* p,
                                         long long iterations) {
  for (int i = 0; i < p->count && d->mode->eval->effort.tell != NULL; i++) {
    saltusi_effort_tell(d->mode->eval, p->set[i], iterations);
  }
}

/* Adds the contributions of the contacts of an island to impulse, slack and change of the decision. */
saltus_status saltusi_decide_planar(saltusi_decision* d, const saltusi_problem* p);
/* The same for contacts with two tangents. */
saltus_status saltusi_decide_spatial(saltusi_decision* d, const saltusi_problem* p);
bool saltusi_is_spatial(const saltusi_decision* d, const int* set, int count);
/* The same for rolling, drilling, patch and dry friction. */
saltus_status saltusi_decide_balls(saltusi_decision* d, const saltusi_problem* p);
bool saltusi_has_balls(const saltusi_decision* d, const int* set, int count);
/* The same without dry friction. */
bool saltusi_has_balls_of_contacts(const saltusi_decision* d, const int* set, int count);
void saltusi_decide_balls_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                                 saltus_arena* arena);
/* The same for any contacts of a large island, by blocks: joints are equalities of the problem. */
saltus_status saltusi_decide_large(saltusi_decision* d, const saltusi_problem* p);
void saltusi_decide_large_layout(saltusi_decision* d, const saltus_dims* dims,
                                 const saltusi_layout_tables* o, const saltusi_step_capacity* room,
                                 saltus_arena* arena);
/* SALTUS_RETRY_CAPACITY when a problem of n unknowns does not fit. */
saltus_status saltusi_decision_workspace(saltusi_decision* d, const saltusi_island* in, int n);

/* Whether the slip of a contact is prescribed, and its direction along tangent k. */
static inline bool saltusi_is_prescribed(const saltusi_decision* d, int key) {
  return d->sense[key] != 0.0 && d->mu[key] > 0.0;
}
static inline double saltusi_prescribed(const saltusi_decision* d, int key, int k) {
  return d->o->tangents[key] == 1 ? d->sense[key] * d->share[key]
                                  : d->direction[SALTUSI_SLIPS * key + k];
}

#endif
