/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_bilateral.h - takes the bilateral rows out of a mixed problem and puts them back.
 */
#ifndef SALTUSI_LCP_BILATERAL_H
#define SALTUSI_LCP_BILATERAL_H

#include "saltus/contact.h"

typedef enum saltusi_reduction {
  SALTUSI_REDUCED,
  SALTUSI_REDUCTION_FAILED, /* no pivot was found */
  SALTUSI_REDUCTION_NONE    /* the bilateral rows are inconsistent: no solution */
} saltusi_reduction;

typedef struct saltusi_lcp_bilateral {
  int n;                /* largest number of rows */
  int rows, bilateral;  /* of the problem at hand */
  bool exchanged;       /* reduced by principal pivots, not by LU */
  double* table;        /* [n x (n + 1)] */
  double* reduced;      /* [m x m] */
  double* rest;         /* [m] */
  double* z;            /* [m] */
  double* expanded;     /* [n] solution of the whole problem */
  double* polished;     /* [n] the same after polishing */
  double* factor;       /* [n] of the bilateral rows; careful: sizes of rows and columns */
  double* scratch;      /* [2 n] */
  int* pivot;           /* [n] */
  int* list;            /* [n] */
  unsigned char* state; /* [n] */
} saltusi_lcp_bilateral;

void saltusi_lcp_bilateral_layout(saltusi_lcp_bilateral* mixed, int n, saltus_arena* arena);

/* The reduced complementarity problem, in mixed->reduced and mixed->rest. `careful`: by 1x1
 * and 2x2 principal pivots, for singular bilateral blocks. */
saltusi_reduction saltusi_lcp_bilateral_reduce(saltusi_lcp_bilateral* mixed,
                                               const saltus_lcp* problem, bool careful);

/* All unknowns from mixed->z, in mixed->expanded. */
void saltusi_lcp_bilateral_expand(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem);

/* Solves the active rows of mixed->expanded (bilateral, z > 0) again with the original matrix; the result is in
 * mixed->polished. Overwrites the reduced problem. False when that
 * block is singular. */
bool saltusi_lcp_bilateral_polish(saltusi_lcp_bilateral* mixed, const saltus_lcp* problem);

#endif
