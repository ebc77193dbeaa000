/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scheme.h - time-stepping schemes: one registry, one step function. A step is a transaction: it either succeeds and
 * moves the state from t to t + h, or returns another status and leaves state and scheme exactly as they were.
 */
#ifndef SALTUS_SCHEME_H
#define SALTUS_SCHEME_H

#include "saltus/api.h"
#include "saltus/event.h"
#include "saltus/memory.h"
#include "saltus/options.h"
#include "saltus/system.h"
#include "saltus/work.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* Capabilities; a system that needs more is rejected at creation, or has substituted steps. */
enum {
  SALTUS_TREATS_JOINTS = 1,
  SALTUS_TREATS_FRICTION = 2, /* with one tangent or two */
  SALTUS_TREATS_POISSON = 4,
  SALTUS_TREATS_MAPS = 8,               /* q' = N(q) v with N other than the identity */
  SALTUS_TREATS_VARIABLE_STEPS = 16,    /* the step may change from one step to the next */
  SALTUS_TREATS_PLANAR_FRICTION = 32,   /* friction of contacts with one tangent, no other */
  SALTUS_TREATS_CHANGING_CONTACTS = 64, /* time-varying contact sets */
  SALTUS_TREATS_LAWS = 128,          /* every impact law of law.h, and rules for several contacts */
  SALTUS_TREATS_FRICTION_LAWS = 256, /* friction_law.h beyond associated elliptic cones */
  SALTUS_TREATS_FRICTION_CURVES = 512, /* of it, coefficients that depend on the speed of slip */
  SALTUS_TREATS_IMPACT_ERRORS = 1024   /* the embedded error includes that of impacts */
};

typedef struct saltus_scheme_info {
  const char* name;    /* "moreau-jean": scenes, command line */
  const char* summary; /* one line */
  const char* source;  /* where it is published */
  int order;           /* of the position in the mean over impacts */
  int smooth_order;    /* of the position without impacts, default options */
  int embedded_order;  /* of the embedded method that estimates errors; 0: none */
  bool locates_events; /* reports events with times inside the step */
  bool dense;          /* has dense output within a step */
  bool chooses_step;   /* chooses its step sizes; h is the largest allowed step */
  bool stops;          /* at accumulations of impacts, with its default options */
  bool pyramids;       /* spatial friction cones are polyhedra */
  bool penetrates;     /* a resting body penetrates; kept for comparison */
  bool impacts_at_end; /* impulses of impacts act at the end of a step, else in its mean */
  unsigned treats;
  saltus_field_table options;
} saltus_scheme_info;

SALTUS_API int saltus_scheme_count(void);                                  /* of the table */
SALTUS_API const saltus_scheme_info* saltus_scheme_at(int i);              /* NULL past the end */
SALTUS_API const saltus_scheme_info* saltus_scheme_find(const char* name); /* NULL: none such */

/* A scheme may need several steps for one impact. */
typedef enum saltus_impact_phase {
  SALTUS_IMPACT_WHOLE,   /* the impact of the step is one of its own */
  SALTUS_IMPACT_GOES_ON, /* it continues in the next step */
  SALTUS_IMPACT_ENDS     /* this is its last step */
} saltus_impact_phase;

/* An impact over several steps, combined. */
typedef struct saltus_whole_impact {
  double before[3], after[3]; /* m/s, normal first */
  double impulse[3];          /* N s */
  double work;                /* J, negative for a loss */
  double steps;               /* that it took */
} saltus_whole_impact;

/* Report of one contact in one step. */
typedef struct saltus_contact_step {
  int key;
  int law;
  double gap;                           /* m, at the start of the step */
  double u_before;                      /* m/s, normal, at the start of the step */
  double u_after;                       /* m/s, normal, at its end */
  double slip_before[2], slip_after[2]; /* m/s, tangential; 0 where the contact has no friction */
  double impulse[3];                    /* N s over the step, normal first */
  bool impact;       /* the impulse stops an approach; else it is a force times h */
  bool replaced;     /* an impact of the step was solved by another law */
  double lasting[3]; /* N s, non-impulsive part of the impulse of an impact */
  saltus_impact_phase part;
  saltus_whole_impact whole_impact; /* of a part that ends an impact */
  uint64_t identity;                /* permanent; in a fixed set the key */
  double twist_work;                /* J, of its rolling and drilling friction over the step */
  double slip_work;    /* J, of non-impulsive friction, lambda_T . U_T over the step; or 0 */
  double surface_work; /* J, of non-impulsive forces on prescribed motions, lambda . b; the same */
  double normal_work;  /* J, of normal impulses in impacts of other contacts and in closings */
} saltus_contact_step;

typedef struct saltus_step_report {
  int active;                          /* contacts that took part in the law */
  const saltus_contact_step* contacts; /* [active], valid until the next step */
  const double* joint_impulses;        /* [nj] N s over the step, valid until the next step */
  double residual_velocity;            /* m/s, largest violation of the contact law */
  double residual_impulse;             /* N s, the same violation as an impulse */
  double projection; /* m, largest displacement by projection onto joints and contacts; 0: none */
  int newton_iterations;
  bool indefinite_mass;       /* the effective mass of an implicit step is not positive definite */
  const saltus_event* events; /* [event_count] of a scheme that locates them inside its step */
  int event_count;
  int dry_events; /* events of dry friction of joints: begin of slip, stick or reversal */
  double h;       /* s, length; set by a scheme that chooses it */
  /* of a step with error control: */
  double error;    /* estimate, in tolerances */
  int error_order; /* of the local error, as used by the controller */
  int rejections;  /* rejected trial steps */
  /* of a scheme that chooses its steps: */
  const char* method;      /* method of the step: "dopri5"; NULL: the only one */
  saltus_step_limit limit; /* limit of the step size */
  int limit_index;         /* the position (along that velocity), velocity or contact */
  int proven, sampled;     /* searches for events, as in saltus_tally */
  double dry_work;         /* J, of dry friction beside contacts over the step */
  double of_law;           /* J, energy change by an impact law that was replaced */
  double joint_work; /* J, of joints between impacts on prescribed motions, lambda . b; or 0 */
  saltus_captured_step captured; /* of adaptive, where events are not resolved; h = 0: none */
  const double* joint_impacts;   /* [nj] N s, of joint_impulses at impacts; NULL: not available */
} saltus_step_report;

typedef struct saltus_state {
  double t;
  double* q; /* [nq] */
  double* v; /* [nv] */
} saltus_state;

typedef struct saltus_scheme_def {
  const char* scheme;  /* name in the registry */
  const void* options; /* the scheme's options struct; NULL: defaults */
  const double*
      atol_q; /* [nv] absolute tolerances of a scheme that has one, of positions along each
                         * velocity (m, rad), 0: by its options; NULL: all of them; copied */
  const double* atol_v; /* [nv] the same for velocities */
  const saltus_system* system;
  int threads; /* for contact problems of 1000 units and more, with bitwise identical results; 0: 1 */
  /* a nonzero value ends a step as soon as possible with SALTUS_ERR_STOPPED, without changes; may be set
   * from a signal handler or another thread; NULL: never */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  SALTUS_RESERVED(8);
} saltus_scheme_def;

typedef struct saltus_scheme saltus_scheme;

/* On failure *out is NULL and the log has the reason. */
SALTUS_API saltus_status saltus_scheme_create(const saltus_scheme_def* def, saltus_scheme** out);
SALTUS_API void saltus_scheme_destroy(saltus_scheme* scheme);

/* One step of length h; of a scheme that chooses its step, at most h. report may be NULL. */
SALTUS_API saltus_status saltus_scheme_step(saltus_scheme* scheme, double h, saltus_state* state,
                                            saltus_step_report* report);

/* Side of a jump. */
typedef enum saltus_side { SALTUS_LEFT, SALTUS_RIGHT } saltus_side;

/* The state at a time t within the last step taken, both ends included; costs no step. q or v may be
 * NULL. SALTUS_ERR_UNSUPPORTED for a scheme without dense output, SALTUS_ERR_RANGE for a time outside
 * the last step, before the first one and after one that failed. */
SALTUS_API saltus_status saltus_scheme_dense(saltus_scheme* scheme, double t, saltus_side side,
                                             double* q, double* v);

/* One contact inside a step; normal first. */
typedef struct saltus_contact_inside {
  double force[3];   /* N, non-impulsive, at this time */
  double lasting[3]; /* N s, of the non-impulsive force since the start of the step */
  double impulse[3]; /* N s, of impacts since the start of the step */
  SALTUS_RESERVED(2);
} saltus_contact_inside;

/* The same for a contact; SALTUS_ERR_RANGE also for a key that does not exist. */
SALTUS_API saltus_status saltus_scheme_dense_contact(saltus_scheme* scheme, double t,
                                                     saltus_side side, int key,
                                                     saltus_contact_inside* contact);

/* Work since creation. */
SALTUS_API saltus_work saltus_scheme_work(const saltus_scheme* scheme);

/* Steps since creation by method and limit; valid as long as the scheme. */
SALTUS_API const saltus_tally* saltus_scheme_tally(const saltus_scheme* scheme);

/* Memory of the scheme between steps beyond q and v, for snapshots. */
SALTUS_API size_t saltus_scheme_memory_bytes(const saltus_scheme* scheme);
SALTUS_API void saltus_scheme_memory_save(const saltus_scheme* scheme, void* bytes);
/* SALTUS_ERR_INPUT when the bytes are not of such a scheme, SALTUS_ERR_MEMORY if the capacity for a time-varying set
 * cannot be allocated; the memory of the scheme is then undefined. */
SALTUS_API saltus_status saltus_scheme_memory_load(saltus_scheme* scheme, const void* bytes,
                                                   size_t size);

/* moreau-jean: Moreau's impact law at the end of a theta step. */
typedef enum saltus_jump_reading {
  SALTUS_JUMP_MIDPOINT, /* U_k = G(q_{k+theta})^T v_k */
  SALTUS_JUMP_START     /* U_k = G(q_k)^T v_k */
} saltus_jump_reading;

/* Velocity on which joints are imposed. */
typedef enum saltus_joint_level {
  SALTUS_JOINTS_MEAN, /* v_theta: no drift of quadratic constraints with theta = 1/2, order 2 */
  SALTUS_JOINTS_END   /* v_{k+1}: order 1, damps inconsistent velocities */
} saltus_joint_level;

/* Whether contact problems start from the impulses of the last accepted step or from zero. */
typedef enum saltus_warm_start { SALTUS_WARM_START_YES, SALTUS_WARM_START_NO } saltus_warm_start;

/* Which redundant contacts between two bodies are removed from the problem. */
typedef enum saltus_contact_filter {
  SALTUS_FILTER_NO,
  SALTUS_FILTER_EXACT, /* contacts without friction: velocities do not change */
  SALTUS_FILTER_FLAT   /* also contacts with friction, inside of flat patches */
} saltus_contact_filter;

typedef struct saltus_moreau_jean_options {
  double theta;      /* weight of the end of the step in forces and positions */
  double gamma;      /* horizon of contact detection, in steps */
  int jump;          /* saltus_jump_reading */
  int joints;        /* saltus_joint_level */
  double newton_tol; /* relative change of the velocity that ends Newton's iteration */
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
  double contact_tol; /* residual of contact problems over the size of their data; 0: rounding */
  int project_joints; /* 1: positions are projected onto the joints */
  int iterate;        /* 0: until the velocity has converged; 1: once */
  int speculative;    /* 1: contacts that can close within the step are included, with their gap */
  int filter;         /* saltus_contact_filter */
  double stiffness;   /* N/m of speculative contacts; 0: rigid */
} saltus_moreau_jean_options;

SALTUS_API saltus_moreau_jean_options saltus_moreau_jean_options_default(void);

/* moreau-jean-projected: the same, with positions projected out of penetration. */
typedef struct saltus_moreau_projected_options {
  double theta, gamma;
  int jump, joints; /* saltus_jump_reading, saltus_joint_level */
  int activation; /* 0: contacts that would penetrate are added; 1: only the forecast, as printed */
  double newton_tol;
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
} saltus_moreau_projected_options;

SALTUS_API saltus_moreau_projected_options saltus_moreau_projected_options_default(void);

/* moreau-midpoint: Moreau's scheme with explicit positions. */
typedef struct saltus_moreau_midpoint_options {
  int velocity; /* in the forces; 0: mean of the step, 1: its start */
  double newton_tol;
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
  int project_joints; /* 1: positions are projected onto the joints */
} saltus_moreau_midpoint_options;

SALTUS_API saltus_moreau_midpoint_options saltus_moreau_midpoint_options_default(void);

/* variational: action of elements, momenta at the nodes. */
typedef struct saltus_variational_options {
  int degree; /* of positions inside a step: 1, or 2 for order 4 between impacts */
  int newton_max;
  double newton_tol;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
} saltus_variational_options;

SALTUS_API saltus_variational_options saltus_variational_options_default(void);

/* rattle: the same with contacts and joints enforced on positions and velocities. */
typedef struct saltus_rattle_options {
  double newton_tol;
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
} saltus_rattle_options;

SALTUS_API saltus_rattle_options saltus_rattle_options_default(void);

/* schatzman-paoli: central difference with the impact law on position level. */
typedef struct saltus_schatzman_paoli_options {
  double theta; /* weight of the end of the step in forces */
  double newton_tol;
  int newton_max;
  int warm_start;     /* saltus_warm_start */
  int on_energy_gain; /* 0: warning, 1: error */
} saltus_schatzman_paoli_options;

SALTUS_API saltus_schatzman_paoli_options saltus_schatzman_paoli_options_default(void);

/* splitting-rkf45 and splitting-rkf45-contact. */
typedef struct saltus_splitting_options {
  double rebound_height; /* m; contacts with a smaller rebound close; 0: determined by the step */
  int project_joints;    /* 1: positions are projected onto the joints */
} saltus_splitting_options;

SALTUS_API saltus_splitting_options saltus_splitting_options_default(void);

SALTUS_END_DECLS

#endif
