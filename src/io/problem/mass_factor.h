/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass_factor.h - M x = b for right-hand sides with few entries.
 */
#ifndef SALTUSI_MASS_FACTOR_H
#define SALTUSI_MASS_FACTOR_H

#include "saltus/contact.h"

#include <stdbool.h>

struct cs_di_symbolic;
struct cs_di_numeric;

typedef struct saltusi_mass_factor {
  const saltus_csr* M;
  struct cs_di_symbolic* symbolic;
  struct cs_di_numeric* numeric;
  bool symmetric;       /* Cholesky; otherwise LU */
  int* component_of;    /* [n] of the positions; NULL for LU */
  int* component_start; /* [components + 1] */
  int* member;          /* [n] positions, ascending within a component */
  int* row_at;          /* [n] row of each position */
  int* wanted;          /* [n] components that the right-hand side touches */
  int* mark;            /* [n] of components: number of the last solve that reached them */
  int solves;
  double* work;    /* [n] in positions */
  double* x;       /* [n] the last solution, valid in `rows` */
  int* rows;       /* [n] rows in which the last solution can be nonzero */
  int solved_rows; /* how many */
} saltusi_mass_factor;

/* SALTUS_ERR_SINGULAR, SALTUS_ERR_MEMORY. Close may be called in any case. M has to stay valid. */
saltus_status saltusi_mass_factor_open(saltusi_mass_factor* factor, const saltus_csr* M);
void saltusi_mass_factor_close(saltusi_mass_factor* factor);

/* M x = b with b given by `count` entries in different rows. */
void saltusi_mass_factor_solve(saltusi_mass_factor* factor, int count, const int* row,
                               const double* value);

#endif
