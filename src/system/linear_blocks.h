/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * linear_blocks.h - A = m M + fv F_v + fq F_q on the blocks that a system declares.
 *
 * The structure of A at a point selects the factorisation: diagonal, block-diagonal when no pair couples (springs
 * do not while fq and fv are 0), else sparse by blocks in an order of minimum degree. The symbolic factorisation is
 * computed once, at layout.
 */
#ifndef SALTUSI_LINEAR_BLOCKS_H
#define SALTUSI_LINEAR_BLOCKS_H

#include "math/block_lu.h"
#include "system/evaluate.h"

typedef enum saltusi_coupling {
  SALTUSI_UNCOUPLED,
  SALTUSI_BLOCKS_APART, /* block-diagonal */
  SALTUSI_BLOCKS_COUPLED
} saltusi_coupling;

typedef struct saltusi_linear_blocks {
  const saltus_structure* structure;
  saltusi_coupling form; /* of the last assembled matrix */
  size_t values, diagonal_values;
  int block_max;
  double* M; /* [values] at the last point */
  double* A; /* [values] at the last point */
  double*
      factor;    /* [diagonal_values] of diagonal blocks without an inverse while no pair couples */
  double* part;  /* [values] F_q or F_v gathered; NULL: the system writes blocks */
  double* dense; /* [nv x nv] source of the gather */
  double* diagonal; /* [nv] of a diagonal A */
  double* own;      /* [block_max^2] one block */
  double*
      inverse; /* [blocks x 18] inverses of blocks of six with uncoupled halves: bodies in space */
  unsigned char* halved; /* [blocks] the block has an inverse */
  int* pivot;            /* [nv] */
  int* block_of;         /* [nv] */
  size_t* at;            /* [blocks] offset of each diagonal block */
  bool mass_kept;        /* M is valid at every point */

  /* only with pairs */
  saltusi_block_lu lu;
  size_t* from;          /* [entries of lu] offset of each block of lu in A */
  int components;        /* of the graph of blocks and pairs */
  int component_max;     /* velocities of the largest one */
  int* component;        /* [blocks] */
  int* component_start;  /* [components + 1] */
  int* component_block;  /* [blocks] ascending within a component */
  int* position;         /* [blocks] positions in the order of lu, ascending within a component */
  unsigned char* marked; /* [components] */
  int* met;              /* [components] */
  double* x;             /* [nv] */
  double* trial;         /* [2 nv] */
  double* symmetric;     /* [values] */
} saltusi_linear_blocks;

void saltusi_linear_blocks_layout(saltusi_linear_blocks* b, const saltus_system* sys,
                                  saltus_arena* arena);

/* Evaluates and factors A; SALTUS_ERR_SINGULAR, SALTUS_RETRY_NAN as in linear.h. */
saltus_status saltusi_linear_blocks_assemble(saltusi_linear_blocks* b, saltusi_eval* eval,
                                             const saltus_point* at, const double coefficients[3]);

/* Whether the symmetric part of the assembled A is positive definite. */
bool saltusi_linear_blocks_definite(saltusi_linear_blocks* b);

/* x <- A^-1 x */
void saltusi_linear_blocks_solve(const saltusi_linear_blocks* b, double* x);

/* A^-1 times a sparse row, as saltusi_linear_solve_row. */
int saltusi_linear_blocks_solve_row(const saltusi_linear_blocks* b, int width, const int* column,
                                    const double* entries, int* out_column, double* out);

/* Largest number of entries of such a solution. */
int saltusi_linear_blocks_row_workspace(const saltusi_linear_blocks* b, int width);

#endif
