/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * block_lu.h - sparse LU of a matrix of small dense blocks, for Newton systems W + block diagonal.
 *
 * Units are ordered by approximate minimum degree on the contact graph; inside that order no unit
 * changes place, so the fill is known ahead. Accuracy comes from iterative refinement. Friction makes
 * the matrices unsymmetric enough for pivots to vanish now and then: when refinement fails, the
 * matrix is factored again with pivoting (block_lu_pivoted.c). The caller learns what was reached.
 */
#ifndef SALTUSI_BLOCK_LU_H
#define SALTUSI_BLOCK_LU_H

#include "solve/friction_case.h"
#include "solve/friction_room.h"

/* Scalar sparse LU by rows with column pivoting, in the row order of the block factors. */
typedef struct saltusi_pivoted_lu {
  size_t* lower_start; /* [rows + 1] */
  size_t* upper_start; /* [rows + 1] */
  int* lower_step;     /* earlier steps of each row */
  int* upper_column;
  double* lower;
  double* upper;    /* rows divided by their pivot, which is left out */
  double* pivot;    /* [rows] */
  int* column_at;   /* [rows] pivot column of each step */
  int* step_of;     /* [rows] step of each pivot column, -1: not yet */
  double* dense;    /* [rows] */
  int* reached;     /* [rows] */
  int* stack;       /* [rows] */
  size_t* position; /* [rows] */
  int* mark;        /* [rows] */
  size_t room;      /* entries lower and upper hold each */
} saltusi_pivoted_lu;

typedef struct saltusi_block_lu {
  int units, rows, uniform, unit_max;
  const int* offset; /* [units + 1] of the pattern */

  /* the matrix: pattern of W united with its transpose, and the diagonal */
  int* start;     /* [units + 1] */
  int* unit;      /* [start[units]] ascending within a row */
  int* source;    /* [start[units]] block of W, -1: not there */
  int* diagonal;  /* [units] */
  size_t* place;  /* [start[units] + 1] */
  double* values; /* [place[start[units]]] filled by the caller before each factorisation */

  /* order: position i holds unit order[i], and rank is its inverse */
  int* order;
  int* rank;
  int* row_at; /* [units + 1] first scalar row of each position */

  /* factors in that order: A = (I + L) D (I + D^-1 U), strictly lower rows and upper rows */
  int* lower_start;
  int* lower_unit;
  size_t* lower_place;
  int* upper_start;
  int* upper_unit;
  size_t* upper_place;
  double* lower;
  double* upper;
  double* inverse;    /* [units] diagonal blocks inverted, unit_max^2 apart */
  double* row;        /* [units] blocks of the row at work, unit_max^2 apart */
  double* solved;     /* [rows] in order */
  double* rest;       /* [rows] b - A x */
  double* correction; /* [rows] */
  double* scratch;    /* [unit_max * (unit_max + 1)] */
  int* pivot;         /* [unit_max] */
  int* ordering;      /* lists and counters of the ordering, while analysing */
  int* parent;        /* [units] elimination tree, while analysing */
  int* mark;          /* [units] */
  int* count;         /* [units] */

  saltusi_pivoted_lu pivoted;
  bool use_pivoted; /* the present factors are the pivoted ones */
  bool no_pivoting; /* the caller prefers failure */
  int failures;     /* factorisations without pivoting that were too inaccurate */

  double cost;       /* multiply-adds of a factorisation */
  double solve_cost; /* of a solve without refinement */
  bool ready;        /* factors have memory */
  saltusi_room graph_room, factor_room;
} saltusi_block_lu;

/* Rooms for every pattern of so many units with at most unit_max rows each, rows together: analysing
 * and reserving then ask no allocator. */
void saltusi_block_lu_layout(saltusi_block_lu* lu, int units, int rows, int unit_max,
                             saltus_arena* arena);

/* The order and the size of the factors; fills cost and allocates for the graph only. */
saltus_status saltusi_block_lu_analyse(saltusi_block_lu* lu,
                                       const saltusi_friction_pattern* pattern,
                                       const saltus_allocator* memory);

/* Memory for the factors of the analysed pattern. */
saltus_status saltusi_block_lu_reserve(saltusi_block_lu* lu, const saltus_allocator* memory);
void saltusi_block_lu_release(saltusi_block_lu* lu, const saltus_allocator* memory);

/* False when a diagonal block is singular or not finite. */
bool saltusi_block_lu_factor(saltusi_block_lu* lu);

/* A x = b; returns |b - A x| / |b|. */
double saltusi_block_lu_solve(saltusi_block_lu* lu, const double* b, double* x);

/* The pivoted factors of values; false when singular or when they need more room than there is. */
bool saltusi_pivoted_lu_factor(saltusi_block_lu* lu);
void saltusi_pivoted_lu_substitute(saltusi_block_lu* lu, const double* b, double* x);
void saltusi_pivoted_lu_layout(saltusi_pivoted_lu* pivoted, int rows, size_t room,
                               saltus_arena* arena);

/* y = A x for any values on the pattern of the matrix. */
void saltusi_block_lu_times(const saltusi_block_lu* lu, const double* values, const double* x,
                            double* y);

#endif
