/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * block_lu.h - sparse LU of a matrix of small dense blocks: Newton systems W + block diagonal of contact
 * problems, and effective masses of systems.
 *
 * Units are ordered by approximate minimum degree on the graph of the blocks; there is no pivoting between
 * units, so the fill-in is computed in advance. Accuracy comes from iterative refinement. Friction makes
 * the matrices unsymmetric, and pivots can vanish: if refinement fails, the matrix is factored again
 * with pivoting (block_lu_pivoted.c). The residual is returned.
 */
#ifndef SALTUSI_BLOCK_LU_H
#define SALTUSI_BLOCK_LU_H

#include "base/buffer.h"

#include <stdbool.h>

/* Sparsity pattern by block rows: first row of each unit, and its coupled units, ascending. */
typedef struct saltusi_block_pattern {
  int units, rows, blocks;
  int uniform;       /* 2, 3 or 6: rows of every unit, blocks contiguous; else 0 */
  int unit_max;      /* rows of the largest unit */
  const int* offset; /* [units + 1] */
  const int* start;  /* [units + 1] */
  const int* unit;   /* [blocks] */
} saltusi_block_pattern;

/* Scalar sparse LU by rows with column pivoting, in the row order of the block factors. */
typedef struct saltusi_pivoted_lu {
  size_t* lower_start; /* [rows + 1] */
  size_t* upper_start; /* [rows + 1] */
  int* lower_step;     /* earlier steps of each row */
  int* upper_column;
  double* lower;
  double* upper;    /* rows divided by their pivot, without the pivot */
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
  int* source;    /* [start[units]] block of W; -1: none */
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
  double* right;      /* [rows] */
  double* scratch;    /* [unit_max * (unit_max + 1)] */
  int* pivot;         /* [unit_max] */
  int* ordering;      /* lists and counters of the ordering, while analysing */
  int* parent;        /* [units] elimination tree, while analysing */
  int* mark;          /* [units] */
  int* count;         /* [units] */

  saltusi_pivoted_lu pivoted;
  bool use_pivoted; /* the present factors are the pivoted ones */
  bool no_pivoting; /* the caller prefers failure */
  bool refined;     /* the present factors need refinement; set by prepare */
  int failures;     /* factorisations without pivoting that were too inaccurate */

  double cost;       /* multiply-adds of a factorisation */
  double solve_cost; /* of a solve without refinement */
  bool ready;        /* factors have memory */
  bool planned;      /* for one pattern and many right-hand sides */
  saltusi_buffer graph_memory, factor_memory;
} saltusi_block_lu;

/* Capacity for every pattern of so many units with at most unit_max rows each, rows in total: analysis
 * and reservation then do not allocate. */
void saltusi_block_lu_layout(saltusi_block_lu* lu, int units, int rows, int unit_max,
                             saltus_arena* arena);

/* Computes the order and the size of the factors, and `cost`; allocates memory for the graph only. */
saltus_status saltusi_block_lu_analyse(saltusi_block_lu* lu, const saltusi_block_pattern* pattern,
                                       const saltus_allocator* memory);

/* Memory for the factors of the analysed pattern. */
saltus_status saltusi_block_lu_reserve(saltusi_block_lu* lu, const saltus_allocator* memory);
void saltusi_block_lu_release(saltusi_block_lu* lu, const saltus_allocator* memory);

/* False when a diagonal block is singular or not finite. */
bool saltusi_block_lu_factor(saltusi_block_lu* lu);

/* A x = b; returns |b - A x| / |b|. */
double saltusi_block_lu_solve(saltusi_block_lu* lu, const double* b, double* x);

/* For one matrix and many right-hand sides. Memory for one pattern, which is analysed in the counting pass as well
 * (with temporary memory of the C library). */
saltus_status saltusi_block_lu_plan(saltusi_block_lu* lu, const saltusi_block_pattern* pattern,
                                    saltus_arena* arena);
/* Factors the matrix, verifies the factors on one right-hand side and pivots if they are inaccurate. False for a
 * singular matrix: a pivot is below `tiny` times its diagonal entry, or the verification fails. trial: [2 rows]
 * scratch. */
bool saltusi_block_lu_prepare(saltusi_block_lu* lu, double tiny, double* trial);
/* x <- A^-1 x */
void saltusi_block_lu_apply(const saltusi_block_lu* lu, double* x);
/* Whether the components of the graph can be solved separately. */
static inline bool saltusi_block_lu_separable(const saltusi_block_lu* lu) {
  return !lu->use_pivoted && !lu->refined;
}
/* The same, if separable, for given positions of the order: whole components, ascending. The rest of x is unchanged.
 * */
void saltusi_block_lu_apply_some(const saltusi_block_lu* lu, int count, const int* position,
                                 double* x);

/* Pivoted factors of `values`; false if singular or if the capacity is exceeded. */
bool saltusi_pivoted_lu_factor(saltusi_block_lu* lu);
/* Whether a pivot is below `tiny` times the largest entry of its row. */
bool saltusi_pivoted_lu_singular(const saltusi_block_lu* lu, double tiny);
void saltusi_pivoted_lu_substitute(const saltusi_block_lu* lu, const double* b, double* x);
void saltusi_pivoted_lu_layout(saltusi_pivoted_lu* pivoted, int rows, size_t room,
                               saltus_arena* arena);

/* y = A x for any values on the pattern of the matrix. */
void saltusi_block_lu_times(const saltusi_block_lu* lu, const double* values, const double* x,
                            double* y);

#endif
