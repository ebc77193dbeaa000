/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.h - integration to a tolerance through impacts, accumulations, sliding and sticking
 * (methods: tolerance-driven integration; "section" in this folder means a section of that note).
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

#include "adaptive/course.h"
#include "math/dependent.h"
#include "saltus/event.h"
#include "saltus/scheme.h"
#include "saltus/work.h"
#include "solve/friction_step.h"
#include "solve/lcp_lemke.h"
#include "system/linear.h"

/* Status of a contact (section 3). */
typedef enum saltusi_contact_mode {
  SALTUSI_OPEN = 0,
  SALTUSI_SLIP = 1,       /* in direction `sense` of a planar contact, along U_T of a spatial one */
  SALTUSI_STICK = 2,      /* rows of its tangents are held */
  SALTUSI_STICK_IDLE = 3, /* other rows keep it from sliding, and it carries no friction */
  SALTUSI_STICK_BOUND = 4, /* the same, with friction at its bound against `sense` */
  SALTUSI_IDLE = 6         /* other rows keep it closed, and it carries nothing */
} saltusi_contact_mode;

/* What a contact carries from step to step. All doubles: it lives in the scheme's memory. */
typedef struct saltusi_contact_memory {
  double mode;       /* saltusi_contact_mode */
  double sense;      /* +1 or -1: sign of U_T, or of the friction at its bound with minus */
  double touching;   /* 1: open, but its gap began at zero; `height` then is more accurate than g */
  double height;     /* m, gap of a touching contact as the integral of U */
  double fresh_slip; /* 1: slip began with this step, from U_T = 0 */
  double zeno_speed; /* m/s, rebound after which a jump over the accumulation failed last */
  double zeno_limit; /* m/s, and below which it is worth trying again */
} saltusi_contact_memory;

typedef enum saltusi_adaptive_method {
  SALTUSI_DOPRI5,
  SALTUSI_DOP853,
  SALTUSI_RADAU5,
  SALTUSI_ADAPTIVE_CHOOSES /* the explicit ones by tolerance, Radau where forces are stiff */
} saltusi_adaptive_method;

/* What the integrator carries from step to step. */
typedef struct saltusi_adaptive_memory {
  double started;
  double h;             /* s, proposed next step */
  double cap;           /* s, the next step at most: a touching contact comes back */
  double v_max;         /* largest |v| so far */
  double rejected;      /* 1: the last attempt was */
  double zeno;          /* key of a contact that has just bounced; -1: none */
  double method;        /* saltusi_adaptive_method in use */
  double method_used;   /* in the last step */
  double stiff;         /* signs of stiffness in a row */
  double nonstiff;      /* steps of the implicit method that an explicit one would take as well */
  double jacobian_age;  /* steps since the Jacobian was made; -1: there is none */
  double overheld;      /* 1: the dynamics at the present state have more rows than they need */
  double stall_since;   /* s, time has hardly advanced since then */
  double stall_steps;   /* steps since then */
  double switch_clear;  /* s, no formula changes its branch by time before that, or before: */
  double switch_before; /* s, last time before the next such change; infinite: none known */
  double switch_after;  /* s, first time after it */
  double rate_valid;    /* 1: rate0 belongs to the present state */
} saltusi_adaptive_memory;

enum {
  SALTUSI_ADAPTIVE_HEAD = sizeof(saltusi_adaptive_memory) / sizeof(double),
  SALTUSI_ADAPTIVE_CONTACT = sizeof(saltusi_contact_memory) / sizeof(double)
};

/* Tolerances and switches; the switches exist to show in tests what each ingredient is for. */
typedef struct saltusi_adaptive_settings {
  double rtol;
  double atol, atol_v;
  const double* atol_q_each; /* [nq] or NULL: atol */
  const double* atol_v_each; /* [nv] or NULL: atol_v */
  double h_max;              /* s; 0: none */
  double h_first;            /* s; 0: chosen */
  int method;                /* saltusi_adaptive_method, or SALTUSI_ADAPTIVE_CHOOSES */
  saltus_energy_gain on_energy_gain;
  bool without_impulses;  /* impulses are not part of the error norm */
  bool without_defect;    /* no defect check */
  bool without_curvature; /* c of the rows is dropped */
  bool without_jump;      /* accumulations are resolved impact by impact */
  bool without_checks;    /* accepted attempts are never refused (sections 14.3 and 14.4) */
} saltusi_adaptive_settings;

/* Kinds of events that end a step. */
typedef enum saltusi_found_kind {
  SALTUSI_FOUND_HIT,    /* an open contact closes its gap */
  SALTUSI_FOUND_OPEN,   /* the force of a closed one ends */
  SALTUSI_FOUND_STOP,   /* the slip of a sliding one ends */
  SALTUSI_FOUND_SLIDE,  /* the friction of a sticking one reaches its bound */
  SALTUSI_FOUND_DECIDE, /* an idle contact is about to penetrate */
  SALTUSI_FOUND_SWITCH  /* a formula changes its branch */
} saltusi_found_kind;

typedef struct saltusi_found {
  saltusi_found_kind kind;
  int key;
  double theta;  /* where the status changes, part of the step */
  double origin; /* where the event is; a force event switches a little later */
} saltusi_found;

/* Why an attempt whose error was accepted is taken back (sections 14.3 and 14.4). */
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
  SALTUSI_LONG_SEARCH  /* events could not be excluded */
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

enum { SALTUSI_NODES = 11, SALTUSI_ADAPTIVE_STAGES = 16 };

/* Numbers of one integration, for those who want to know what it cost. */
typedef struct saltusi_adaptive_counts {
  long long steps, rejections, rates, decisions, events, jumps, switches;
  long long enclosures;
  double residual_velocity, residual_impulse; /* of the worst decision in this step */
  double projection; /* largest movement of a position back onto the constraints in this step */
} saltusi_adaptive_counts;

/* The motion of an attempt, for dense output: y0 and n coefficients for each power or part. */
typedef struct saltusi_motion {
  const double* y0;
  const double* Q;
  int n;
  double h; /* s */
} saltusi_motion;

/* A method: one attempt from y0 over h into y1 with an error in tolerances, and its dense output. */
typedef struct saltusi_adaptive_ops {
  const char* name;
  int order; /* of the controller: h ~ err^(-1 / order) */
  int dense_degree;
  bool restep; /* impacts are located by a step that ends there */
  saltus_status (*attempt)(saltusi_adaptive* w, double h, double* error);
  /* before dense, once an attempt is accepted */
  saltus_status (*prepare)(saltusi_adaptive* w);
  void (*dense)(const saltusi_motion* m, double theta, int first, int count, double* y);
  /* dy/dt */
  void (*dense_rate)(const saltusi_motion* m, double theta, int first, int count, double* dy);
  /* coefficients of the powers 0 .. dense_degree of theta: [powers x count], of the first components */
  void (*powers)(const saltusi_motion* m, int count, double* coefficient);
  /* of the accepted attempt: about 1 where stability limits an explicit method */
  double (*stiffness)(const saltusi_adaptive* w);
} saltusi_adaptive_ops;

extern const saltusi_adaptive_ops saltusi_adaptive_dopri5;
extern const saltusi_adaptive_ops saltusi_adaptive_dop853;
extern const saltusi_adaptive_ops saltusi_adaptive_radau5;
const saltusi_adaptive_ops* saltusi_adaptive_ops_of(double method);

struct saltusi_adaptive {
  saltusi_eval* eval;
  const saltus_system* sys;
  saltus_system sys_copy;
  saltusi_adaptive_settings settings;
  saltusi_adaptive_memory* memory;
  saltusi_contact_memory* contact; /* [nc] */
  double* rate0;                   /* [ny] y' at the start of the step; in the memory */
  const saltusi_adaptive_ops* ops;
  int nq, nv, nj, nc;
  int nl;    /* contact rows: one and the tangents of each contact */
  int ny;    /* nq + nv + nl + nj: positions, velocities, impulses of contacts and of joints */
  int rows;  /* nj + nl */
  int* base; /* [nc] first contact row */
  int* tangents;
  const saltus_contact_law** law; /* [nc] */
  double* mu;                     /* [nc] 0 where there are no tangents */
  double* atol_q;                 /* [nq] */
  double* atol_v;                 /* [nv] */
  double atol_q_min, atol_v_min;

  /* rows and operator at one point */
  saltusi_linear mass;
  saltusi_row_block row; /* [rows] joints, then contacts; with convective parts */
  saltus_contact_list list;
  double* gap;                        /* [nc] by key; infinite where there is none */
  double* joint_gap;                  /* [nj] */
  int held;                           /* active rows of the mode */
  int* held_row;                      /* [rows] row of each */
  int* held_key;                      /* [rows] contact of each; -1: joint */
  double* column;                     /* [rows x nv] M^-1 H */
  double* W;                          /* [rows x rows] */
  double* W_spare;                    /* [rows x rows] */
  saltusi_dependent held_factor;      /* of W */
  double* right;                      /* [rows] */
  double* row_scale;                  /* [rows] */
  bool redundant;                     /* the last dynamics had more rows than they need */
  bool dependent;                     /* the same, planar contacts included */
  bool overheld;                      /* that, at the start of the attempt */
  saltusi_contact_memory* mode_check; /* [nc] */
  bool spatial;                       /* some contact has two tangents and friction */
  double* spread;                     /* [nv x nv] */
  int* spread_pivot;                  /* [2 nv] */
  double* spread_in;                  /* [rows] */
  double* spread_right;               /* [rows] */
  double* spread_sum;                 /* [rows] */
  int* pivot;                         /* [2 rows] */
  double* force;                      /* [rows] multipliers of the last mode dynamics, by row */
  double* free_acc;                   /* [nv] */
  double* direction;                  /* [2 nc] of slip */

  /* y at the start, at the end, and stages */
  double t, h; /* of the attempt */
  double* y0;
  double* y1;
  double* y_mid;
  double* y_try;
  double* y_end; /* where the step ends */
  double* y_keep;
  double* rate_keep;
  double error;            /* of the accepted attempt, in tolerances */
  int worst;               /* component of y with the largest error */
  saltus_step_limit limit; /* what kept the attempt from being longer */
  double* rate1;           /* [ny] */
  double* rate_mid;
  double* K; /* [stages x ny] */
  double* Q; /* [8 x ny] dense output */
  saltusi_motion motion;
  double* scale_l;                   /* [nl] tolerance of impulses; infinite for open contacts */
  double* scale;                     /* [ny] */
  saltusi_contact_memory* mode_kept; /* [nc] */
  saltusi_contact_memory* mode_old;  /* [nc] before a transition */

  /* implicit method */
  double* J; /* [(nv + nl) x 2 nv] of (a, lambda) with respect to (q along v, v); in the memory */
  double* newton;    /* [(3 nv)^2] */
  double* small;     /* [nv x nv] */
  double* stage_a;   /* [3 nv] accelerations of the stages */
  double* R;         /* [3 nv] */
  int* newton_pivot; /* [4 nv] */

  /* event search */
  double* gap_start;  /* [nc] */
  double* slip_start; /* [2 nc] direction of slip at the start of the step, of spatial contacts */
  double* slip_limit; /* [nv] tolerance of velocities while a spatial contact slides slowly */
  double slip_least;  /* m/s, slowest slip of a spatial contact at the start of the step */
  double slip_floor;  /* m/s, a spatial contact that slides slower stops */
  double* node_rate;  /* [nodes x nl] forces */
  saltusi_courses course;
  saltusi_found* found;
  int found_count;
  saltusi_found last_event; /* for messages */
  int searched;             /* contact of the search that was given up */
  double moved;             /* largest movement by projections in this step */
  double* probe;            /* [ny] */
  double* probe_rate;       /* [ny] */

  /* complementarity problems */
  saltusi_lcp_work lcp;
  int lcp_max;
  double* lcp_M;
  double* lcp_q;
  double* lcp_z;
  double* lcp_scale;
  int* lcp_kind; /* 0 normal, 1 friction +, 2 friction -, 3 slack */
  int* lcp_key;
  double* lcp_X;                  /* [lcp_max x nv] P H */
  saltusi_friction_step friction; /* of spatial contacts */
  int* unit_first;                /* [nc + 1] */
  double* unit_mu;                /* [nc] */
  bool* perturbed;                /* [nc] */
  double* perturbation;           /* [2 nc] m/s */
  double* slide_force;            /* [nl] N */
  double* joint_X;                /* [nj x nv] M^-1 G_E */
  double* joint_W;                /* [nj x nj] */
  saltusi_dependent joint_factor; /* of joint_W */
  double* joint_r;                /* [nj] */
  double* impulse;                /* [nl] of the last problem */
  double* slack;                  /* [nc] slip acceleration or velocity of the last problem */
  double* compression;            /* [nl] N s */
  double* bound;                  /* [nc] N s, friction besides mu times the normal impulse */
  bool* blocked;                  /* [nc] joints block the tangent */
  bool wedged;       /* an impact that Newton's law cannot solve is taken by Poisson's */
  double* delta;     /* [nv] */
  int* set;          /* [nc] contacts of a problem */
  int* members;      /* [nc] contacts of a transition */
  int* cand;         /* [nc] those that may close */
  double* sense;     /* [nc] prescribed slip senses; 0: to be decided */
  double* basis;     /* [2 nv x nv] orthonormal rows of the rank pass, each with M^-1 times it */
  double* u_before;  /* [nl] relative velocities */
  double* u_after;   /* [nl] */
  double* v_spare;   /* [nv] */
  double* v_struck;  /* [nv] before an impact or a closing */
  double* v_impact;  /* [nv] before an impact */
  double e_part;     /* part of the restitution that is used, 1 but for capped impacts */
  double* q_spare;   /* [nq] */
  double* x_start;   /* [nv] direction of a bounce */
  double* x_end;     /* [nv] */
  double* stay_gap;  /* [nc] m, what bounces do to the gap of another contact */
  double* stay_slip; /* [nc] m/s, and to its slip */
  double* bounce;    /* [nl] kg, impulses of a bounce over its change of velocity */
  bool implicit;     /* there is room for the implicit method */
  int law_tangents_max;

  /* the step as it is reported */
  double step_h;                   /* s, length that the dense output was made for */
  double step_length;              /* s, length of the step */
  double jump_u, jump_tau, jump_e; /* a jump over an accumulation; jump_tau 0: none */
  int jump_key;                    /* the contact that bounces */
  double* lasting;                 /* [nl] N s */
  double* impacts;                 /* [nl] N s */
  double* impacts_start;           /* [nl] N s, of those at the start of the step */
  double* joint_lasting;           /* [nj] N s */
  bool* hit;                       /* [nc] an impact acted in this step */
  double* u_impact;                /* [2 nc] normal velocity before and after it */
  saltusi_adaptive_counts counts;
  void (*report)(void* who, const saltus_event* event);
  void* who;
  saltus_log log;
};

/* For messages. */
const char* saltusi_contact_name(const saltusi_adaptive* w, int key);

/* Contact rows of a system: one and the tangents of each contact. */
int saltusi_adaptive_rows(const saltus_system* sys);

/* Doubles that a system needs from step to step. */
size_t saltusi_adaptive_memory_count(const saltus_system* sys, bool implicit);
void saltusi_adaptive_layout(saltusi_adaptive* w, const saltus_system* sys, bool implicit,
                             saltus_arena* arena);

/* One step of at most `limit` from (t, q, v) into (q1, v1); w->step_length is what it took.
 * memory is read and written: the caller keeps a copy. */
saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1);

/* The motion inside a step, kept as doubles: how many, writing that of the last step, and asking for
 * the state at t, from the left or the right where it jumps at the end. */
size_t saltusi_adaptive_dense_count(const saltus_system* sys);
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
typedef struct saltusi_inside {
  double* force;
  double* lasting;
  double* impulse;
} saltusi_inside;

void saltusi_adaptive_dense_contact(const saltus_system* sys, const double* data, saltusi_moment at,
                                    int key, saltusi_inside into);
/* [nj] N of joints, and [nj] N s since the start of the step; either may be NULL. */
void saltusi_adaptive_dense_joints(const saltus_system* sys, const double* data, double t,
                                   double* force, double* lasting);
/* Bounces at a time in a step that jumps over their accumulation. */
typedef struct saltusi_bounce {
  int key;
  double start;         /* m/s, with which they begin */
  double speed;         /* m/s, of the contact */
  double since, launch; /* s, m/s, start of the flight at hand */
  const double* mass;   /* [contact rows] kg, impulses over the change of speed */
} saltusi_bounce;
/* False: the step does not jump. */
bool saltusi_adaptive_dense_bounce(const saltus_system* sys, const double* data, saltusi_moment at,
                                   saltusi_bounce* bounce);
/* First row of a contact among the contact rows, and how many it has. */
int saltusi_adaptive_row_of(const saltus_system* sys, int key, int* rows);
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
void saltusi_adaptive_open(saltusi_adaptive* w, double* memory);

/* start.c */
saltus_status saltusi_read_laws(saltusi_adaptive* w, double t, const double* q);
void saltusi_read_tolerances(saltusi_adaptive* w);
/* Slips of spatial contacts at the start of a step. */
void saltusi_note_slips(saltusi_adaptive* w);
/* Joints closed, contacts that touch settled, the first step chosen. */
saltus_status saltusi_adaptive_start(saltusi_adaptive* w, double limit);

/* methods.c: after an accepted step, and before one */
double saltusi_explicit_method(const saltusi_adaptive* w);
void saltusi_review_method(saltusi_adaptive* w);
void saltusi_prefer_implicit(saltusi_adaptive* w);

/* mode.c: dynamics in the present status */

/* Rows of the joints and of the contacts that are not open (all of them: every), and their gaps. */
void saltusi_mode_rows(saltusi_adaptive* w, double t, const double* y, bool every);
saltus_status saltusi_mode_gaps(saltusi_adaptive* w, double t, const double* q);
/* y' at y; forces by row stay in w->force. */
saltus_status saltusi_mode_rate(saltusi_adaptive* w, double t, const double* y, double* rate);
/* U of one row at y; the row is evaluated. */
double saltusi_mode_velocity(saltusi_adaptive* w, double t, const double* y, int key, int k);
/* Gap velocity and acceleration of an open contact, in the present status. */
saltus_status saltusi_mode_gamma(saltusi_adaptive* w, double t, const double* y, int key,
                                 double* gamma);
/* Tolerances of the impulses. */
saltus_status saltusi_mode_impulse_scale(saltusi_adaptive* w, double t, const double* y);
/* Back onto g = 0 and U = 0 of joints and closed contacts, U_T = 0 of sticking ones. */
saltus_status saltusi_mode_project(saltusi_adaptive* w, double t, double* y);
/* Velocities alone; perturbation: contacts of w->perturbed get the tangential velocity of w->perturbation. */
saltus_status saltusi_mode_project_velocity(saltusi_adaptive* w, double t, double* y,
                                            bool perturbation);
/* Positions alone, of joints and closed contacts. */
saltus_status saltusi_mode_project_closed(saltusi_adaptive* w, double t, double* y);
/* Velocities alone, along the forces of the mode: sliding contacts have friction while they close. */
saltus_status saltusi_mode_close_velocity(saltusi_adaptive* w, double t, double* y);
/* Positions alone, of joints and the contacts in w->set. */
saltus_status saltusi_mode_project_positions(saltusi_adaptive* w, double t, double* y, int count);
/* x <- P x: M^-1 with joints eliminated; saltusi_mode_joints first. */
saltus_status saltusi_mode_joints(saltusi_adaptive* w, double t, const double* y);
void saltusi_mode_inverse(saltusi_adaptive* w, double* x);
/* x = P G of one row. */
void saltusi_mode_response(saltusi_adaptive* w, int row, double* x);
/* v onto G_E^T v + b_E = 0; saltusi_mode_joints first. */
void saltusi_mode_hold_joints(saltusi_adaptive* w, double* v);
/* (G_E^T M^-1 G_E)^-1 G_E^T x into w->joint_r. */
void saltusi_mode_joint_answer(saltusi_adaptive* w, const double* x);
/* W x = right in w->right, rows of the mode; the least solution when W is singular. */
saltus_status saltusi_mode_solve(saltusi_adaptive* w, int n);
/* The multipliers in w->right of the held rows as forces of all rows. */
void saltusi_mode_forces(saltusi_adaptive* w);

static inline saltusi_contact_mode saltusi_mode_of(const saltusi_adaptive* w, int key) {
  return (saltusi_contact_mode)w->contact[key].mode;
}
static inline bool saltusi_mode_closed(const saltusi_adaptive* w, int key) {
  return w->contact[key].mode != SALTUSI_OPEN;
}
static inline bool saltusi_mode_pressed(const saltusi_adaptive* w, int key) {
  return w->contact[key].mode != SALTUSI_OPEN && w->contact[key].mode != SALTUSI_IDLE;
}
static inline const double* saltusi_v_of(const saltusi_adaptive* w, const double* y) {
  return y + w->nq;
}

/* decide.c: complementarity problems */

/* New status of the contacts in w->set (closed, U = 0); w->sense has prescribed slips.
 * SALTUS_RETRY_SMALLER: no solution (Painleve). */
saltus_status saltusi_decide_status(saltusi_adaptive* w, double t, const double* y, int count);
/* What is to be reported of an impact besides its velocities. */
typedef struct saltusi_verdict {
  int contact;   /* that is named */
  double gain;   /* J, energy that the impact gave */
  double of_law; /* J, that the contacts' own law would have given */
  bool replaced; /* another law than the contacts' own decided */
} saltusi_verdict;

/* Impact on the contacts of w->set: v of y jumps; impulses in w->impulse. */
saltus_status saltusi_decide_impact(saltusi_adaptive* w, double t, double* y, int count,
                                    saltusi_verdict* verdict);
/* energetic.c: the same by a sequence of impacts of single contacts that end by Stronge's law. */
saltus_status saltusi_energetic_impact(saltusi_adaptive* w, double* v, int count);
/* Impact without collision (section 7). */
saltus_status saltusi_decide_painleve(saltusi_adaptive* w, double t, double* y, int count);

/* spatial.c: the same with two tangents */
bool saltusi_is_spatial(const saltusi_adaptive* w, int count);
saltus_status saltusi_spatial_solve(saltusi_adaptive* w, int count, const double* u_free);
saltus_status saltusi_spatial_perturb(saltusi_adaptive* w, double t, double* y);

/* find.c */
saltus_status saltusi_find_events(saltusi_adaptive* w);

/* hidden.c: what the stages could not see in the first part `end` of the attempt */
void saltusi_find_hidden(saltusi_adaptive* w, double end, saltusi_refusal* refusal);

/* switch.c: h, or less so that no formula changes its branch by what t alone decides */
double saltusi_before_switch(saltusi_adaptive* w, double h);
/* A start on a kink is moved along its velocity, by rounding, to the branch that holds afterwards. */
void saltusi_leave_kinks(saltusi_adaptive* w, double* y);

/* transition.c */
saltus_status saltusi_adaptive_settle(saltusi_adaptive* w, double t, double* y, int count,
                                      bool impact);
saltus_status saltusi_adaptive_transition(saltusi_adaptive* w, double t, double t_event, double* y,
                                          const saltusi_found* found);
/* The velocity below which slip is none (section 2). */
double saltusi_slip_rounding(const saltusi_adaptive* w);
/* Senses of slip of the contacts that move, into w->sense; a stored sense of one that does not move is
 * meaningless. */
void saltusi_find_senses(saltusi_adaptive* w, double t, const double* y);
void saltusi_report(saltusi_adaptive* w, saltus_event event);

/* zeno.c: *done when the jump was taken; then y1 holds its end, *tau its length. */
saltus_status saltusi_adaptive_jump(saltusi_adaptive* w, double limit, bool* done, double* tau);

/* scales (section 2) */
void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1);
/* largest |x_i| size / tolerance_i over positions and over velocities; at y */
void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v);

#endif
