/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domain_matrix.h - a friction problem stored for Gauss-Seidel over domains. Data are ordered by position
 * (domains.h) for locality. The off-diagonal blocks of W are in single precision, which halves the memory
 * traffic; those below and above the diagonal are stored separately, because each direction of an iteration
 * reads one kind. Callers evaluate the residual with W in double precision.
 */
#ifndef SALTUSI_DOMAIN_MATRIX_H
#define SALTUSI_DOMAIN_MATRIX_H

#include "solve/friction/domains.h"

/* With fewer units the other methods are as fast. */
enum { SALTUSI_DOMAIN_MATRIX_LEAST = 500 };

/* Blocks on one side of the diagonal. */
typedef struct saltusi_domain_side {
  int* start;    /* [units + 1] blocks */
  int* at;       /* [units + 1] their values */
  int* column;   /* [start[units]] place */
  float* values; /* [at[units]] row major */
} saltusi_domain_side;

enum { SALTUSI_BELOW, SALTUSI_ABOVE };

typedef struct saltusi_domain_matrix {
  int room;  /* capacity for units; 0: none */
  int units; /* 0: not made for this pattern */
  saltusi_domain_side side[2];
  int* row;                 /* [units + 1] first row */
  int* local_at;            /* [units + 1] in local */
  int* own_at;              /* [units + 1] in own */
  unsigned char* bilateral; /* [units] */
  double* q;                /* [rows] */
  double* mu;               /* [units] */
  double* rho;              /* [units] */
  double* slip;             /* [units] */
  double* local;            /* as in saltusi_friction_case */
  double* own;              /* blocks on the diagonal; zero where there is none */
} saltusi_domain_matrix;

/* Nothing is taken from the arena for problems that are too small. */
void saltusi_domain_matrix_layout(saltusi_domain_matrix* matrix,
                                  const saltus_friction_problem* problem, saltus_arena* arena);

/* The blocks, once per pattern and only when they are needed. */
void saltusi_domain_matrix_number(saltusi_domain_matrix* matrix, const saltusi_domains* domains,
                                  const saltusi_friction_pattern* pattern);

/* The values; false when W is out of the range of single precision. */
bool saltusi_domain_matrix_fill(saltusi_domain_matrix* matrix, const saltusi_friction_case* in);

#endif
