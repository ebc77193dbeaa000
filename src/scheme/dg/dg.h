/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg.h - time-discontinuous Galerkin steps of degree M >= 1 (Schindler and Acary 2011, closed as in
 * docs/theory/time-dg.md, 2.3 and 2.4).
 *
 *   stages      a_k = M(Q_k)^-1 (F(t_k, Q_k, V_k) + G_k r_k),        k = 0 .. M
 *               V_l = v + h sum_k A[l][k] a_k + c_l M_1^-1 G_1 p,    Q_l = q + h sum_k AQ[l][k] V_k
 *   end         q_1 = Q_M,   v_1 = v + h sum_k beta_k a_k + M_1^-1 G_1 p
 *               with maps Q_l = q + h sum_k AQ[l][k] N(Q_k) V_k, by fixed-point iteration for given velocities;
 *               quaternions are normalised at the stages afterwards
 *   held        contacts that stayed closed or have g(q) <= tol: they have forces r
 *   fresh       contacts that are open at the start, with g(q_1) <= tol: the step is impulsive then
 *
 * Stage law of a held contact, "pair k": the force r_k against a row (friction: always velocities)
 *
 *   velocity      D1-: G_{k+1} V_{k+1} for k < M and G_1 v_1 for k = M;  D1+: G_k V_k without p
 *   acceleration  G_k a_k + c_k; contacts with a compressive force at the end get G_1 v_1 = 0 by a bilateral p
 *   position      D1-: g(Q_{k+1}) - min(g(q), 0) for k < M and G_1 v_1 for k = M
 *
 * In an impulsive step the velocity and position closures drop r_M, and p obeys Newton's law on all held and fresh
 * contacts, with restitution for the fresh ones alone.
 */
#ifndef SALTUSI_DG_H
#define SALTUSI_DG_H

#include "saltus/time_dg.h"
#include "scheme/dg/clenshaw_curtis.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/planar.h"

/* A joint, or a contact of the step. */
typedef struct saltusi_dg_item {
  int key; /* of a contact; number of a joint */
  int law; /* index of a contact's law */
  bool joint;
  bool fresh;   /* closes at the end of the step, not active before */
  bool bounces; /* and was open at the start: restitution */
  int tangents; /* with friction: rows of tangents that follow the normal one */
  int row;      /* its first row at a stage */
  double gap;   /* m, at the start; of a joint: its constraint */
  double mu;
  double e_N, e_T;    /* active at the end of this step */
  double u_before[3]; /* m/s, of the impact law */
} saltusi_dg_item;

/* Rows of an item at a stage. */
static inline int saltusi_dg_item_rows(const saltusi_dg_item* item) {
  return 1 + item->tangents;
}

/* A contact that approaches at the start of the step. */
typedef struct saltusi_dg_start {
  int law;
  double gap;                     /* m */
  double u_before[3], u_after[3]; /* m/s */
  double impulse[3];              /* N s; 0: no approach */
} saltusi_dg_start;

/* Velocity or gap row paired with the force of one stage: u = G(place) . sum_m weight[m] a_m + ... */
typedef struct saltusi_dg_pair {
  int place;                           /* stage of G */
  int level;                           /* saltus_dg_closure of the normal row */
  double normal[SALTUSI_DG_NODES_MAX]; /* rows are divided by h, position rows by h^2 */
  double tangent[SALTUSI_DG_NODES_MAX];
  int tangent_place;
} saltusi_dg_pair;

/* Newton's iteration over all stage accelerations; NULL arrays for systems that are too large. */
typedef struct saltusi_dg_newton {
  bool available, active;
  bool stiff;       /* the fixed-point iteration failed: the next step starts with Newton */
  double* F_q;      /* [nv x nv] at the start of the step */
  double* F_v;      /* [nv x nv] */
  double* J;        /* [n nv x n nv] factored, n = M + 1 */
  int* pivot;       /* [n nv] */
  double* response; /* [n dense_rows x n nv] J^-1 (G_k at stage k), by stage and row */
  double* feedback; /* [dense_rows x n nv] response of the stage accelerations to an impulse */
  double* column;   /* [nv] */
} saltusi_dg_newton;

/* Doubles of the memory beside the flags of contacts: whether Newton was needed; the degree of the next step, 0: not
 * chosen. */
enum { SALTUSI_DG_STIFF, SALTUSI_DG_NEXT, SALTUSI_DG_PLAIN };

typedef struct saltusi_dg {
  saltusi_dg_tableau table;
  saltusi_dg_tableau*
      tables; /* [degree] of the degrees 1 .. degree; one, of `degree`, if all steps have that */
  int nodes;  /* M + 1 */
  int nodes_most; /* of arrays */
  bool plus;
  int closure;
  saltusi_dg_pair pair[SALTUSI_DG_NODES_MAX];
  int order[SALTUSI_DG_NODES_MAX]; /* order of the pairs in blockwise solutions */
  saltusi_moreau moreau;           /* degree 0 */

  /* the step: start, items, stages */
  int row_max; /* rows of one stage */
  int item_max;
  int dense_rows;          /* capacity of dense problems: rows of one stage, */
  int law_max;             /* rows of all stages together */
  double* v_start;         /* [nv] v0, after an impact at the start */
  saltusi_dg_start* start; /* [nc] by key */
  double* start_joint;     /* [nj] N s */
  double* start_gap;       /* [nc] by key; infinite where there is no contact */
  double size;             /* velocities of the step, unit of relative tolerances */
  saltusi_contact_list list;
  bool* closed; /* [nc] by key */
  int* item_of; /* [nc] by key: its index in the items, -1: none */
  saltusi_dg_item* items;
  int held, touching; /* items with a force r; all items */
  int held_rows, rows;
  bool impulsive;       /* there are fresh contacts */
  int masses;           /* n, or 1 when M is constant */
  saltusi_linear* mass; /* [masses] */
  bool fresh_start;     /* the first stage of this step has not been evaluated yet */
  saltusi_row_block at; /* [n x row_max] rows of items at the stages */
  double* Q;            /* [n x nq] */
  double* V;            /* [n x nv] */
  double* rates;        /* [n x nq] of Q; V itself where q' = v */
  double* rate_next;    /* [nq] of systems with maps */
  double* a;            /* [n x nv] */
  double* a_next;       /* [n x nv] */
  double* force;        /* [n x nv] */
  double* gap;          /* [n x item_max] position closure */
  double* joint_gap;    /* [nj] */
  double* response;     /* [n x dense_rows x nv] M_k^-1 G_k */
  double* r;            /* [n x row_max] N */
  double* p;            /* [row_max] N s */
  double* jump;         /* [nv] M_1^-1 G_1 p */
  double* v_end;        /* [nv] */
  double* change;       /* [nv] */

  /* complementarity problems */
  saltusi_planar planar;
  saltusi_planar_item* law_items; /* [n x item_max] */
  double* D;                      /* [law_max x law_max] */
  double* rhs;                    /* [law_max] */
  double* z;                      /* [law_max] */
  double* W;                      /* [dense_rows x dense_rows] of one pair, or of the impact */
  double* W_rhs;                  /* [row_max] */
  double* W_z;                    /* [row_max] */
  double residual;                /* m/s, residual of the law of the impact or of the end */

  saltusi_dg_newton newton;

  /* many rows: dg_large.c, dg_coupled.c */
  bool has_op;
  saltusi_operator op;
  double* pushed;                    /* [n x nv] b_k */
  double* sums;                      /* [2 nv] */
  saltusi_planar_item* island_items; /* [n x item_max] */
  saltusi_eval* solving;             /* of the current solve, */
  bool softens;                      /* the solve may shift diagonals */
  double island_residual;            /* of the last one; of all pairs: */
  double stage_residual;
  double lightest; /* 1/kg, largest response to an impulse */
  int* row_island; /* [row_max] */
  int* island_at;  /* [row_max + 1] */
  int* sorted;     /* [item_max] by islands */
  int* chosen;     /* [nj] rows of joints that are eliminated, */
  int chosen_count;
  double inverse[SALTUSI_DG_NODES_MAX * SALTUSI_DG_NODES_MAX];
  double* joint_u;        /* [n x nj] */
  double* joint_b;        /* [n x nj] */
  double* joint_r;        /* [n x nj] */
  int* reached;           /* [nv] */
  double* reached_values; /* [nv] */
} saltusi_dg;

/* dg_error.c */

/* Makes M the degree of the step. */
void saltusi_dg_set_degree(saltusi_dg* w, int degree);
/* Table of a degree that steps may have. */
const saltusi_dg_tableau* saltusi_dg_table_of(const saltusi_dg* w, int degree);
/* Largest velocity in the highest mode of the accelerations, up to mode `degree`. */
double saltusi_dg_mode(const saltusi_dg* w, const saltusi_step* s, int degree);
/* Smallest degree up to `most` whose modes are below `tol`. */
int saltusi_dg_enough(const saltusi_dg* w, const saltusi_step* s, int most, double tol);
/* Writes the a posteriori error of the finished step. */
void saltusi_dg_estimate(saltusi_dg* w, const saltusi_step* s);

void saltusi_dg_layout(saltusi_dg* w, const saltus_dg_options* o, bool plus,
                       const saltusi_eval* eval, saltus_arena* arena);
saltus_status saltusi_dg_step(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s);

/* Doubles carried between steps: flags of closed contacts by key, and whether Newton was needed. */
size_t saltusi_dg_memory(const saltus_system* sys);

/* dg_dense_output.c */

size_t saltusi_dg_dense_count(const saltus_dg_options* o, const saltus_system* sys);
void saltusi_dg_transfer(const saltus_dg_options* o, const saltus_system* sys,
                         saltusi_state_transfer* carry);
/* Stores the finished step as dense output. */
void saltusi_dg_keep(const saltusi_dg* w, const saltusi_step* s);
saltus_status saltusi_dg_dense(saltusi_dg* w, const saltusi_dense_query* query);
void saltusi_dg_dense_contact(saltusi_dg* w, const saltusi_dense_query* query, int key,
                              saltus_contact_inside* contact);

/* dg_stages.c */

/* V and Q of all stages from the accelerations and the jump. */
void saltusi_dg_combine(saltusi_dg* w, const saltusi_step* s);
/* Masses, forces and rows at the stages. */
saltus_status saltusi_dg_evaluate(saltusi_dg* w, const saltusi_step* s);
/* Accelerations without contact forces into a_next; Newton's matrix when it is in use. */
saltus_status saltusi_dg_free(saltusi_dg* w, const saltusi_step* s);
/* Evaluates the rows of an item at a point into stage `node`. */
void saltusi_dg_rows(saltusi_dg* w, const saltus_system* sys, const saltus_point* at, int node,
                     const saltusi_dg_item* item);
/* M at a stage. */
static inline saltusi_linear* saltusi_dg_mass(const saltusi_dg* w, int node) {
  return &w->mass[w->masses > 1 ? node : 0];
}
/* response of the first rows of a stage; SALTUS_RETRY_CAPACITY when there are too many */
saltus_status saltusi_dg_respond(saltusi_dg* w, saltusi_eval* eval, int node, int rows);
static inline double* saltusi_dg_response(const saltusi_dg* w, int nv, int node, int row) {
  return w->response + (size_t)(node * w->dense_rows + row) * (size_t)nv;
}

/* dg_newton.c */
void saltusi_dg_newton_layout(saltusi_dg* w, const saltus_system* sys, saltus_arena* arena);
/* Evaluates and factors J at the start of the step. */
saltus_status saltusi_dg_newton_prepare(saltusi_dg* w, const saltusi_step* s);
/* a_next = a + J^-1 (F - M a), and responses of active rows and impulses. */
void saltusi_dg_newton_free(saltusi_dg* w, const saltusi_step* s);

/* dg_law.c */

void saltusi_dg_pairs(saltusi_dg* w);
/* r of all stages from a_next, to which their contribution is added. */
saltus_status saltusi_dg_stage_law(saltusi_dg* w, const saltusi_step* s);
/* G(node, row) . x */
double saltusi_dg_dot(const saltusi_dg* w, int node, int row, const double* x);
/* Part of a row of a pair that does not depend on accelerations, divided by h or h^2; part 0: the normal. */
double saltusi_dg_constant(const saltusi_dg* w, const saltusi_step* s, const saltusi_dg_pair* pair,
                           int item, int part);
/* Whether an active contact has friction. */
bool saltusi_dg_rubs(const saltusi_dg* w);
/* Limit of passes of a blockwise solution: 0.24^60 is far below rounding. saltusi_dg_settled: whether the iteration
 * ends after a pass with this change and one with the change `before`. */
enum { SALTUSI_DG_PASSES = 60 };
bool saltusi_dg_settled(double change, double before, double size);

/* dg_large.c: smallest number of rows of all stages, for sparse rows without Newton's method. */
enum { SALTUSI_DG_LARGE = 96 };
static inline bool saltusi_dg_is_large(const saltusi_dg* w) {
  return w->has_op && !w->newton.active && w->rows * w->nodes > SALTUSI_DG_LARGE;
}
/* x = M^-1 G force over the first rows of a stage */
void saltusi_dg_push(saltusi_dg* w, const saltusi_eval* eval, int node, int rows,
                     const double* force, double* x);
/* r of the first `pairs` stages and their contribution to a_next; blocks: pairs may be solved one
 * after the other. */
saltus_status saltusi_dg_large_law(saltusi_dg* w, const saltusi_step* s, int pairs, bool blocks);
/* P of the first items at a stage from w->W_rhs and w->law_items. */
saltus_status saltusi_dg_large_impact(saltusi_dg* w, const saltusi_step* s, int node, int items,
                                      bool softens, double* P);
/* Forms the operator of the active items, or of the chosen joints, at a stage; solves for forces with given right-hand
 * sides. */
saltus_status saltusi_dg_form_stage(saltusi_dg* w, const saltusi_step* s, int node);
saltus_status saltusi_dg_form_chosen(saltusi_dg* w, const saltusi_step* s, int node);
saltus_status saltusi_dg_hold_chosen(saltusi_dg* w, saltusi_eval* eval);
/* dg_coupled.c: the same for all pairs at once. */
saltus_status saltusi_dg_coupled_law(saltusi_dg* w, const saltusi_step* s, int pairs);

/* dg_impact.c */

/* Joints and active contacts of a step, after the impact of contacts that approach at its start; writes v_start. */
saltus_status saltusi_dg_begin(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s);
/* Adds contacts that close at Q_M to the items. */
saltus_status saltusi_dg_touch(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s);
/* Counts the contacts among the first items as contacts of a problem. */
static inline void saltusi_dg_count(const saltusi_dg* w, const saltusi_eval* eval, int items) {
  for (int i = 0; i < items && eval->effort.tell != NULL; i++) {
    saltusi_effort_tell(eval, w->items[i].joint ? -1 : w->items[i].key, 1);
  }
}

/* w->law_items of the first items. */
void saltusi_dg_law_items(saltusi_dg* w, int items);
/* A planar problem; softens: without a solution it is solved again with a shifted diagonal.
 * SALTUS_RETRY_SMALLER, or SALTUS_RETRY_NAN. */
saltus_status saltusi_dg_solve_planar(saltusi_dg* w, saltusi_planar_problem* problem, bool softens,
                                      double* P);
/* p and v_end from a_next. */
saltus_status saltusi_dg_impact(saltusi_dg* w, const saltusi_step* s);
/* Flags, contacts and residuals of the finished step. */
void saltusi_dg_finish(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s);

#endif
