/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kkt_factor.h - sparse factors of bodies and their joints,
 *
 *   K = [ A    G ]        A: blocks of bodies, and of pairs of bodies that forces couple
 *       [ H^T  0 ]        G, H: joints, blocks of a joint and each of its bodies
 *
 * in an order in which trees of bodies have no fill, so that n bodies cost O(n) (Baraff, Linear-time
 * dynamics using Lagrange multipliers, SIGGRAPH 1996). A joint is eliminated right after a body assigned to it, if its
 * pivot -H^T A^-1 G is regular; the pairs of body and joint are ordered by
 * minimum degree. Joints that close loops have no assigned body: they come last, as one dense matrix
 * for each component, which reveals the rank (rank_revealing.h). There
 *
 *   n with G n = 0       linearly dependent rows, one null-space vector for each redundant row
 *
 * and multipliers minimise the sum of W_ii y_i^2, with W = H^T A^-1 G.
 */
#ifndef SALTUSI_KKT_FACTOR_H
#define SALTUSI_KKT_FACTOR_H

#include "base/buffer.h"
#include "math/rank_revealing.h"

/* Pattern of bodies and joints. Rows of a joint share their columns. */
typedef struct saltusi_kkt_factor_shape {
  int bodies, joints;
  const int* body_start; /* [bodies + 1] */
  const int* velocity;   /* [body_start[bodies]] velocities of each body */
  const int* body_of;    /* by velocity */
  const int* local;      /* by velocity: its index in the body */
  int pairs;
  const int* pair;   /* [2 pairs] bodies that A couples, each pair once */
  const int* row;    /* [joints] first row */
  const int* rows;   /* [joints] how many */
  const int* at;     /* [joints + 1] first column of each joint */
  const int* column; /* [at[joints]] velocities, at least one for each joint */
} saltusi_kkt_factor_shape;

/* Nodes are bodies and joints; a position is an index in the order of elimination. */
typedef struct saltusi_kkt_factor {
  saltusi_buffer memory;
  size_t wanted; /* missing bytes of the last plan; 0: sufficient */
  int heavy;     /* component with too many loops in the last plan */
  bool planned;
  bool repeat; /* joints were demoted since the plan */

  int nodes, bodies, joints, components;
  int scalars;       /* of all nodes */
  int widest;        /* scalars of the largest node */
  int* node;         /* [nodes] by position */
  int* position;     /* [nodes] bodies, then joints */
  int* size;         /* [nodes] by position */
  int* first;        /* [nodes + 1] by position: first scalar */
  int* index;        /* [scalars] velocity, or -1 - row */
  int* component_at; /* [components + 1] first position */
  int* loop_at;      /* [components] first position of a joint that closes a loop */
  int* later_start;  /* [nodes + 1] by position: later nodes that it couples to */
  int* later;
  int* upper;        /* indices of their blocks in values: U, row of the earlier one, */
  int* lower;        /* and L, row of the later one */
  int* diagonal;     /* [nodes] by position; none for loops */
  int* dense;        /* [components] index of the matrix of loops */
  size_t* target_at; /* [nodes + 1] by position: indices that it updates, */
  int* target;       /* for each two of its later nodes */
  int* G_place; /* [columns] index in `values` of the first entry of each column of each joint */
  int* H_place;
  int* H_step;     /* [columns] stride between rows in values; that of G is 1 */
  int* pair_place; /* [2 pairs] of A_ij and A_ji */
  size_t entries;
  double* values; /* [entries] K, then its factors */
  double* weight; /* [scalars] for rows: size of W_ii, set by the caller between load and factor */
  double* y;      /* [scalars] */
  double* part;   /* [widest^2] */
  double* spare;  /* [2 scalars] */
  int* pivot;     /* [widest] */
  int pairs;
  int* body_at; /* copy of shape->body_start, .velocity and .pair */
  int* velocities;
  int* coupled;
  int* joint_at; /* copy of shape->at, .row and .rows */
  int* joint_row;
  int* joint_rows;
  int* columns;  /* copy of the planned pattern, for comparison */
  bool* demoted; /* [joints] treated as closing a loop, since its pivot is singular */
  bool* open;    /* [nodes] by position: to be written and factored */
  size_t used;   /* bytes of the plan */

  saltusi_rank_revealing* loops; /* [components] */
  int* null_count;               /* [components] redundant rows */
  double** null;                 /* [components] null_count vectors of the component's scalars */
  size_t null_used;              /* bytes */
} saltusi_kkt_factor;

/* Sufficient bytes for trees with these numbers of bodies, joints and rows. */
size_t saltusi_kkt_factor_bytes(int bodies, int joints, int rows, int columns);

/* Symbolic factorisation, unless the pattern is that of the last plan. False when memory is short: then
 * `wanted` is the required amount; or when the loops of a component, `heavy`, have more rows than
 * loops_most. After SALTUSI_SADDLE_AGAIN the plan treats demoted joints as loops. */
bool saltusi_kkt_factor_plan(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape,
                             int loops_most);

/* Sets every position open or closed. */
void saltusi_kkt_factor_open(saltusi_kkt_factor* s, bool open);

/* Opens all positions that depend on open ones, and returns their fraction of all scalars. A component with loops is
 * opened as a whole. */
double saltusi_kkt_factor_open_later(saltusi_kkt_factor* s);

/* Sets the values of open positions to zero. The caller then writes A (through `diagonal` and `pair_place`), G, H and
 * weight: each block whose earlier position is open. */
void saltusi_kkt_factor_clear(saltusi_kkt_factor* s);

typedef enum saltusi_kkt_factor_outcome {
  SALTUSI_SADDLE_FACTORED,
  SALTUSI_SADDLE_AGAIN, /* a joint was demoted: plan has to be repeated, and the values written */
  SALTUSI_SADDLE_LACKS, /* memory: `wanted` is required */
  SALTUSI_SADDLE_BROKEN /* A is singular, or something is not finite */
} saltusi_kkt_factor_outcome;

/* Factors open positions; closed ones keep their last factors. */
saltusi_kkt_factor_outcome saltusi_kkt_factor_compute(saltusi_kkt_factor* s);

/* K [x; y] = [f; g] for one component: f and x by velocity, g and y by row; NULL: zero, and not requested.
 * f, x and g, y may be the same. */
void saltusi_kkt_factor_solve(saltusi_kkt_factor* s, int component, const double* f,
                              const double* g, double* x, double* y);

/* The same for all components, of z = (f; g) with g from `rows` on: z <- (x; y). */
void saltusi_kkt_factor_solve_all(saltusi_kkt_factor* s, int rows, double* z);

/* b by row <- its inconsistent part, which no velocity satisfies. */
void saltusi_kkt_factor_miss(saltusi_kkt_factor* s, int component, double* b);

static inline int saltusi_kkt_factor_loop_rows(const saltusi_kkt_factor* s, int c) {
  return s->first[s->component_at[c + 1]] - s->first[s->loop_at[c]];
}

#endif
