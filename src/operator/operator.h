/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * operator.h - joints and contacts of one configuration as one problem on the level of positions, velocities or
 * accelerations: its rows, the factored matrix A, the Delassus operator W and the solutions.
 *
 *   x = x_free + A^-1 G P,      w = H^T x + ... = W P + rhs,      W = H^T A^-1 G,    H = G but for stages
 * Compliant contacts have W + S, S diagonal by rows.
 *
 *   joints    w = 0             contacts   0 <= w perp P >= 0
 *   with friction     w + mu |w_T| n  in K*  perp  P in K,      K = { |P_T| <= mu P_N }
 *
 * x is a velocity with P an impulse (Moreau, impacts), an acceleration with P a force (contact held
 * by Runge-Kutta stages), or a position with P an impulse times a time (Schatzman-Paoli,
 * projections). Rows are joints first, then contacts; a contact with friction has its tangent rows after
 * its normal row.
 *
 *   saltusi_operator_begin(op, joints);            rows of joints are written by saltusi_rows_joint
 *   row = saltusi_operator_look(op, sys, at, key, count);      evaluates a contact as a candidate
 *   saltusi_operator_take(op, count, mu);                      it does
 *   saltusi_operator_form(op, eval, linear);                   W, stored as its structure allows
 *   op->rhs[...] = ...;   saltusi_operator_solve(op, eval);   saltusi_operator_apply(op, eval, x);
 */
#ifndef SALTUSI_OPERATOR_H
#define SALTUSI_OPERATOR_H

#include "math/anderson.h"
#include "math/kkt_factor.h"
#include "operator/friction_laws.h"
#include "solve/friction/friction_step.h"
#include "solve/lcp/mixed_lcp.h"
#include "system/linear.h"

#include <assert.h>

/* Initial guess of P from the memory of the last accepted step. */
typedef struct saltusi_warm {
  int each;             /* doubles kept of a contact; 0: every solve starts from zero */
  const double* memory; /* what was kept */
  double factor;        /* impulses of this step over those of the last; 0: there are none */
  bool joints;          /* P of joints that are not eliminated has an initial guess as well */
} saltusi_warm;

/* Options of an operator. */
typedef struct saltusi_demand {
  bool held;       /* saltusi_operator_form_held is used */
  bool friction;   /* tangents of contacts with friction, and their law; else normal rows only */
  bool convective; /* c of rows */
  bool two_sided;  /* velocities are measured by rows of another configuration: H in op->measured */
  bool own_law;    /* only saltusi_operator_solve_by is used, not solve */
  bool distributes; /* indeterminate contacts have the impulses of load_distribution.h */
  bool laws; /* contacts have the rows of their friction laws, and there are rows of dry friction */
  bool
      all_loops; /* sparse factors of joints for any number of loops: saltusi_operator_superfluous and _miss include every component */
} saltusi_demand;

typedef enum saltusi_storage {
  SALTUSI_STORED_DENSE,
  SALTUSI_STORED_PRODUCT, /* rows and A only, where W would be too large (matrix_free.c) */
  SALTUSI_STORED_BLOCKS /* sparse rows: a block for every two units that move a common group of velocities */
} saltusi_storage;

/* Groups of velocities that an impulse moves together, and components of joints: groups.c. */
typedef struct saltusi_groups {
  int* parent;    /* [nv] forest of the components */
  int* alone;     /* [nv] group by A alone, named after its first velocity */
  int* group;     /* [nv] the same with the eliminated joints */
  int* mark;      /* [nv] scratch of loops over groups */
  int* component; /* [nv] by root of the forest, -1: no joints */
  int components;
  int* start;          /* [components + 1] rows of a component: where they start in `row` */
  int* row;            /* [bilateral] */
  int* of_row;         /* [bilateral] component of a row */
  int* column_start;   /* [components + 1] velocities of a component */
  int* column;         /* [nv] */
  long long* contacts; /* [components] that touch it */
  long long* blocks;   /* [components] number of blocks without elimination */
  bool* eliminated;    /* [components] */
  int*
      tree; /* [components] place in the sparse factors of tree_elimination.c; -1: dense ones, or none */
  bool* heavy; /* [components] too many loops for sparse factors */
  bool any;    /* one is */
  size_t room; /* entries of LU and of gram */
  double* LU;
  double* gram;
  int* pivot;                     /* [2 bilateral] */
  double* scale;                  /* [bilateral] */
  saltusi_rank_revealing* factor; /* [components] */
  double* part;                   /* [bilateral] scratch */
} saltusi_groups;

/* A velocity and the rows that act on it. */
typedef struct saltusi_signed {
  uint64_t signature;
  int velocity;
} saltusi_signed;

/* Bodies and joints of the large components: tree_elimination.c. */
typedef struct saltusi_tree_elimination {
  saltusi_kkt_factor saddle;
  int most;       /* rows; 0: there are none */
  int loops_most; /* rows of loops in one component */
  bool
      refused; /* singular joints are among too many loops: no sparse factors for the present matrices */
  int bodies, velocities, joints, pairs;
  int* component_of; /* [nv] component of joints, -1: none */
  int* seen;     /* [bilateral x (1 + row_width)] entries and columns of rows at the last look, */
  int seen_rows; /* how many, 0: none */
  bool seen_scalar, seen_coupled; /* and what A was */
  int* body_of;                   /* [nv] */
  int* local;                     /* [nv] */
  int* body_start;                /* [bodies + 1] */
  int* velocity;                  /* [velocities] */
  uint64_t* signature;            /* [nv] */
  saltusi_signed* sorted;         /* [nv] */
  int* joint_row;                 /* [joints] */
  int* joint_rows;                /* [joints] */
  int* joint_at;                  /* [joints + 1] */
  int* column;                    /* [bilateral x row_width] */
  int* pair;                      /* [2 pairs] */
  size_t* pair_from;              /* [pairs] place in the values of A */
  double* x;                      /* [nv] */
  double* rows;                   /* [bilateral] */
} saltusi_tree_elimination;

/* Solution without a stored W: matrix_free.c. */
typedef struct saltusi_matrix_free {
  size_t from;          /* largest number of values of W that are stored */
  int rows_max;         /* 0: allocated once W is too large */
  double* response;     /* [rows x nv] A^-1 G of dense rows */
  double* local;        /* [6 rows] prepared data of each unit */
  double* block;        /* [3 rows] W_ii */
  double* x;            /* [nv] A^-1 G P */
  int* column;          /* [nv] */
  double* values;       /* [nv] */
  double* push;         /* [nv] */
  double *z, *f, *best; /* [rows] */
  saltusi_anderson mixing;
  int sweeps; /* of the last solve */
} saltusi_matrix_free;

/* Contacts of the W that body space holds. */
typedef struct saltusi_bodies_seen {
  long long formed; /* number of the W; 0: none */
  int first, last;
} saltusi_bodies_seen;

typedef struct saltusi_operator {
  saltusi_row_block rows;     /* [rows_max + 3] G, with capacity for a candidate contact */
  saltusi_row_block measured; /* [rows_max] H */
  bool apart;                 /* H differs from G, until the next saltusi_operator_begin */
  int joints;                 /* rows of joints */
  int contacts;
  int count;    /* rows of all */
  bool held;    /* every row is an equality */
  int* first;   /* [nc + 1] first row of each contact */
  int* key;     /* [nc] key of each contact; -1: unknown, rows were written by the caller */
  int looked;   /* key of the candidate contact */
  double* mu;   /* [nc] */
  double* rhs;  /* [rows_max] */
  double* soft; /* [rows_max] compliance S, added to the diagonal of W, if the next member is set */
  bool softens; /* until the next begin */
  double* P;    /* [rows_max] initial guess if warm.each > 0, and the solution */
  double* slip; /* [nc] slip parameters, with initial guess and solution like P */
  saltusi_warm warm;
  double tol;        /* tolerance of the residual relative to rhs; 0: rounding */
  bool has_friction; /* contacts can have several rows */

  const saltusi_linear* A; /* of the last form */
  long long formed;        /* how often W was formed */
  int bilateral;           /* number of equality rows: those of joints, or all */
  saltusi_storage storage; /* of W */
  double*
      diagonal; /* [rows_max] diagonal of W; in large components of joints that for a diagonal A */
  saltus_status
      status; /* status of the last saltusi_operator_form: SALTUS_RETRY_CAPACITY if W does not fit */
  int* whole_contact; /* [nj + nc] all rows of joints, then contacts, as one island; of own laws */
  int* whole_offset;  /* [nj + nc + 1] */

  saltusi_matrix_free product;
  int dense_max; /* rows of the largest dense W */
  double* AinvG; /* [dense_max x nv] row r is A^-1 G_r */
  double* W;     /* [dense_max x dense_max] */
  saltusi_mixed_work solver;

  /* by blocks, of systems with sparse rows: */
  saltusi_groups groups;
  saltusi_tree_elimination trees;
  bool scalar;               /* A is diagonal */
  bool symmetric;            /* A is */
  bool broken;               /* rows of joints are not finite */
  double* inverse;           /* [nv] of a diagonal A */
  int units;                 /* units of W: joints that are not eliminated, and contacts */
  int staying;               /* of which joints */
  bool band;                 /* W of normal rows is a narrow band */
  int islands;               /* consecutive units that are coupled */
  int* island_start;         /* [islands + 1] units */
  int* unit_contact;         /* [units] -1: a joint */
  unsigned char* unit_joint; /* [units] */
  int* unit_row;             /* [units] first row in rows, */
  int* unit_rows;            /* [units] and how many */
  int* offset;               /* [units + 1] first row in W */
  int* block_start;          /* [units + 1] first block of W; values are in `friction` */
  int* block_unit;
  int* block_diagonal; /* [units] */
  int* block_place;
  saltusi_friction_step friction; /* solvers of blocks */
  saltusi_bodies bodies;          /* the current island in body space */
  saltusi_bodies_seen bodies_seen;
  bool full;        /* every block of W is requested */
  bool thin;        /* some islands are solved in body space: W has only their diagonal blocks */
  int bodies_most;  /* blocks of the structure; 0: never */
  int* body_of;     /* [nv] block of a velocity */
  int* body_number; /* [blocks] in the island, -1: none */
  int* body_parent; /* [blocks] forest of the bodies that joints and contacts connect */
  int*
      body_count; /* [blocks] number of units of a tree with contacts, by root; negative: not in body space */
  bool* island_thin; /* [units + 1] islands in body space */
  double* unit_mu;   /* [units] */
  double* unit_slip; /* [units] */
  double* unit_rhs;  /* [rows_max] in the order of W */
  double* unit_P;    /* [rows_max] */
  int* list_start;   /* [nv + 1] units that touch a group: where they start in list */
  int* list;
  int* unit_mark;   /* [units] */
  int* neighbour;   /* [units] */
  int* touched;     /* [row_width] components that a unit touches */
  int table_stride; /* rows of the largest contact */
  double* table;    /* [nv x table_stride] response of a unit, zero outside of its computation */
  double* push;     /* [nv] */
  double* pushed;   /* [nv] */
  double* moved;    /* [nv] */
  int* reached;     /* [nv] */
  double* reached_values; /* [nv] */
  int* cleared;           /* [nv] velocities of the unit in the table */
  saltusi_friction_laws laws;
} saltusi_operator;

/* Number of rows of a contact in an operator with friction: tangents count if its coefficient is positive. */
static inline int saltusi_friction_rows(const saltus_contact_law* law) {
  return law->mu > 0.0 ? 1 + law->tangents : 1;
}

/* The same with the rows of its friction law. */
static inline int saltusi_law_rows(const saltus_contact_law* law) {
  const int all = saltus_contact_rows(law);
  const bool viscous = law->friction != NULL && law->friction->viscous > 0.0;
  return all > 1 + law->tangents || viscous ? all : saltusi_friction_rows(law);
}

/* Rows of a contact in this operator. */
static inline int saltusi_operator_rows(const saltusi_operator* op, const saltus_contact_law* law) {
  return op->laws.any ? saltusi_law_rows(law) : op->has_friction ? saltusi_friction_rows(law) : 1;
}

/* Workspace for eval->sys, with the capacities of eval. */
void saltusi_operator_layout(saltusi_operator* op, const saltusi_eval* eval,
                             const saltusi_demand* demand, saltus_arena* arena);

/* Starts an operator with the rows of joints, which come first. */
static inline void saltusi_operator_begin(saltusi_operator* op, int joints) {
  op->joints = joints;
  op->contacts = 0;
  op->count = joints;
  op->laws.dry = 0;
  op->apart = false;
  op->softens = false;
  op->looked = -1;
  op->first[0] = joints;
}

/* Evaluates `count` rows of a candidate contact after the accepted rows; returns the first of them. */
static inline int saltusi_operator_look(saltusi_operator* op, const saltus_system* sys,
                                        const saltus_point* at, int key, int count) {
  assert(count >= 1 && count <= SALTUS_CONE_ROWS);
  saltusi_rows_contact(sys, at, key, count, &op->rows, op->count);
  saltusi_rows_check(sys, at, key, &op->rows, op->count);
  op->looked = key;
  return op->count;
}

/* Accepts the candidate contact, or one whose rows were written by the caller. */
static inline void saltusi_operator_take(saltusi_operator* op, int count, double mu) {
  assert(count >= 1 && count <= SALTUS_CONE_ROWS);
  op->key[op->contacts] = op->looked;
  op->looked = -1;
  op->mu[op->contacts++] = mu;
  op->count += count;
  op->first[op->contacts] = op->count;
}

/* The same with its friction law. */
static inline void saltusi_operator_take_law(saltusi_operator* op, int count,
                                             const saltus_contact_law* law) {
  if (op->laws.any) {
    op->laws.law[op->contacts] = law;
  }
  saltusi_operator_take(op, count, law->mu);
}

/* Velocities u of the rows of contact i before the step, if its slip is not stored. */
void saltusi_operator_slips(saltusi_operator* op, int i, const double* u);

/* After the last contact: rows of dry friction, where the operator has laws; evaluated again at another point. */
void saltusi_operator_take_dry(saltusi_operator* op, const saltus_system* sys,
                               const saltus_point* at);
void saltusi_operator_look_dry(saltusi_operator* op, const saltus_system* sys,
                               const saltus_point* at);

/* All joints and the normal rows of these contacts, evaluated and taken. */
void saltusi_operator_hold(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                           const int* keys, int count);

/* W from all rows and a factored matrix. */
void saltusi_operator_form(saltusi_operator* op, saltusi_eval* eval, const saltusi_linear* linear);

/* The same where contacts are held like joints: equality in every row. */
void saltusi_operator_form_active(saltusi_operator* op, saltusi_eval* eval,
                                  const saltusi_linear* linear);

/* P from W and rhs; linearly dependent joints have the minimum-norm impulses of rank_revealing.h.
 * SALTUS_RETRY_SMALLER when no solution is found, SALTUS_RETRY_NAN when the data are not finite,
 * SALTUS_RETRY_CAPACITY when W needs more memory (the demand is left in eval). */
saltus_status saltusi_operator_solve(saltusi_operator* op, saltusi_eval* eval);

/* An uncoupled island: joints that are not eliminated, one row each, then contacts. Input of a law. */
typedef struct saltusi_law_island {
  int units, joints;  /* all of them, and how many are joints */
  const int* contact; /* [units] number of a contact in the operator; -1: a joint */
  const int* offset;  /* [units + 1] rows of each: differences to offset[0] are rows of W */
  int rows;
  const double* W;   /* [rows x rows] with eliminated joints enforced */
  const double* rhs; /* [rows] */
  double* P;         /* [rows] zero on input, then the solution */
} saltusi_law_island;

typedef saltus_status (*saltusi_island_law)(void* user, const saltusi_law_island* island);

/* P by a user-defined law, island by island; other statuses as for saltusi_operator_solve. */
saltus_status saltusi_operator_solve_by(saltusi_operator* op, saltusi_eval* eval,
                                        saltusi_island_law law, void* user);

/* After form of an operator for own laws: number of the island of each row, also of eliminated ones, from 0 in the
 * order of their first rows. Returns the number of islands. */
int saltusi_operator_islands(saltusi_operator* op, int* island);

/* H */
static inline const saltusi_row_block* saltusi_operator_measured(const saltusi_operator* op) {
  return op->apart ? &op->measured : &op->rows;
}

/* After form_held: the number of redundant rows, -1 when a value is not finite; and the part of b outside the range of
 * W, zero for consistent rows. Without all_loops, components with more loops than tree_elimination.c treats count as
 * regular. */
int saltusi_operator_superfluous(saltusi_operator* op);
void saltusi_operator_miss(saltusi_operator* op, double* b);

/* x += A^-1 G P */
void saltusi_operator_apply(const saltusi_operator* op, const saltusi_eval* eval, double* x);

/* After form: the operator contains joints only, in sparse factors that do not need rows. Solves A x - G y = f, G^T x =
 * g with A and G of that form, f [nv] <- x, for g [rows], also after other rows have been evaluated. */
bool saltusi_operator_corrects(const saltusi_operator* op);
void saltusi_operator_correct(saltusi_operator* op, const saltusi_eval* eval, double* f,
                              const double* g, double* y);

/* Nonzero velocities of a vector: k indices, and the position of each of all nv; NULL: all in their order. */
typedef struct saltusi_row_span {
  int k;
  const int* velocity;
  const int* local;
} saltusi_row_span;

/* W [n x n] = H^T X of rows that need not be part of an operator, X [n x k] one column after the other; row [n]: which
 * rows of H, a negative one is zero; NULL: the first n. */
void saltusi_operator_gram(const saltusi_row_block* H, int n, const int* row,
                           const saltusi_row_span* in, const double* X, double* W);

/* The same with X = A^-1 G, which is made: W = H^T A^-1 G of the first n rows, and A^-1 G row by row [n x nv]. */
void saltusi_operator_fill(const saltusi_row_block* G, const saltusi_row_block* H, int n,
                           const saltusi_eval* eval, const saltusi_linear* linear, double* AinvG,
                           double* W);

/* x = A^-1 G_row, of rows that need not be part of the operator */
void saltusi_operator_response(const saltusi_row_block* rows, int row, const saltusi_eval* eval,
                               const saltusi_linear* linear, double* x);

#endif
