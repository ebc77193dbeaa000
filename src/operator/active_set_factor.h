/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * active_set_factor.h - sparse active rows of joints and contacts: W = R^T A^-1 H by blocks, factored in a
 * fill-reducing order. Time and memory of chains, trees and columns are proportional to the number of rows.
 *
 *   H         columns: R, or other values on the pattern of R (sliding contacts)
 *   units     consecutive rows of one joint or contact, with a common column pattern
 *   W l = b   the order is reused while the sparsity pattern of the rows is unchanged
 *
 * Linearly dependent rows: l is the minimum-norm solution in the metric of math/rank_revealing.h, D = diag W:
 *
 *   l <- l + (W + e D)^-1 (b - W l)            until the residual is the part of b outside the range of W
 *   l <- l - N^5 l,  N = e (W + e D)^-1 D      N^5 is close to the projection on the null space of W
 */
#ifndef SALTUSI_ACTIVE_SET_FACTOR_H
#define SALTUSI_ACTIVE_SET_FACTOR_H

#include "solve/friction/friction_step.h"
#include "system/linear.h"

/* Rows of one unit at most: a joint has 6, a contact 3. */
enum { SALTUSI_UNIT_ROWS = 6 };

typedef struct saltusi_active_set_factor {
  int n;          /* rows */
  bool dependent; /* the rows of the last factorization were linearly dependent */

  /* inside */
  int rows_max;
  const saltusi_row_block* R;
  double* H;        /* [rows_max x stride] */
  int units;        /* of the rows at hand, */
  int* row;         /* [rows_max] and their numbers in R, */
  int* offset;      /* [rows_max + 1] first row of each unit, */
  int* columns;     /* [rows_max x stride] and the columns of its rows, */
  int* entries;     /* [rows_max] */
  bool known;       /* for which an order was found */
  bool scalar;      /* with a diagonal A, */
  double* inverse;  /* [nv] and its inverse */
  int* start;       /* [rows_max + 1] blocks of a unit, */
  int* unit;        /* and the other one of each */
  int* next;        /* [rows_max] */
  int* list_start;  /* [nv + 1] units that have a velocity among their columns */
  int* list;        /* [rows_max x stride] */
  size_t* reach_at; /* [rows_max + 1] start of the velocities that a unit moves */
  int* reach;       /* velocities */
  double*
      response; /* A^-1 H of each row, one after the other, at rows of its unit times reach_at */
  size_t* response_at; /* [rows_max + 1] */
  int* mark;           /* [rows_max] */
  double* table;       /* [nv x SALTUSI_UNIT_ROWS] zero outside of the computation of a unit */
  int* column;         /* [nv] */
  double* x;           /* [nv] */
  double* values;      /* W */
  double* system;      /* the matrix that is factored: W, some rows replaced */
  int* place;          /* of its blocks, as lu.place */
  double* diagonal;    /* [rows_max] D */
  double* trial;       /* [2 rows_max] */
  double* rest;        /* [rows_max] */
  double* part;        /* [rows_max] */
  saltusi_block_lu lu;
  char* memory; /* bytes of all arrays whose size depends on the rows */
  size_t bytes, used, wanted;
} saltusi_active_set_factor;

/* For up to rows_max rows of a system with sparse rows; bytes: capacity for arrays whose size depends on their pattern.
 * */
void saltusi_active_set_factor_layout(saltusi_active_set_factor* f, const saltus_dims* dims,
                                      int rows_max, size_t bytes, saltus_arena* arena);

/* Whether A^-1 of a sparse row is sparse. */
bool saltusi_active_set_factor_suit(const saltusi_eval* eval, const saltusi_linear* A);

/* Starts a problem with n rows of R; consecutive rows with equal numbers in unit [n] form a unit. Returns H [n x
 * stride] of
 * R, filled with the values of these rows. */
double* saltusi_active_set_factor_begin(saltusi_active_set_factor* f, const saltusi_row_block* R,
                                        int n, const int* row, const int* unit);
/* W and A^-1 H. SALTUS_RETRY_CAPACITY with f->wanted bytes. */
saltus_status saltusi_active_set_factor_form(saltusi_active_set_factor* f, const saltusi_eval* eval,
                                             const saltusi_linear* A);
/* Replaces row k of a unit of W in the next factorisation: zero but for `entries` in its own unit, relative to D of the
 * row. reset: restores all rows of W. */
void saltusi_active_set_factor_replace(saltusi_active_set_factor* f, int u, int k,
                                       const double* entries);
void saltusi_active_set_factor_reset(saltusi_active_set_factor* f);
/* False when something is not finite. */
bool saltusi_active_set_factor_compute(saltusi_active_set_factor* f);
/* W as a problem of contacts; bilateral [units] or NULL. Units are those given at the start. */
saltusi_step_blocks saltusi_active_set_factor_blocks(const saltusi_active_set_factor* f,
                                                     const unsigned char* bilateral);
/* b <- l */
void saltusi_active_set_factor_solve(saltusi_active_set_factor* f, double* b);
/* y [nv] += s A^-1 H l */
void saltusi_active_set_factor_apply(const saltusi_active_set_factor* f, double s, const double* l,
                                     double* y);
/* |b| / |S^-1 b|, S = D^-1/2 W D^-1/2, for one b: near 0 where loaded rows are nearly linearly dependent. */
double saltusi_active_set_factor_conditioning(saltusi_active_set_factor* f);
/* Entry i of a fixed probe vector, generic enough not to be orthogonal to a null space. */
static inline double saltusi_trial_entry(int i) {
  return i % 3 == 0 ? 1.0 : i % 3 == 1 ? -0.5 : 0.25;
}

#endif
