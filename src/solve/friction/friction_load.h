/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_load.h - load distribution of statically indeterminate friction problems; see load_distribution.h.
 */
#ifndef SALTUSI_FRICTION_LOAD_H
#define SALTUSI_FRICTION_LOAD_H

#include "solve/friction/friction_run.h"
#include "solve/load_distribution.h"

typedef struct saltusi_friction_load {
  saltusi_load_distribution work;
  double* diagonal;    /* [rows] of W */
  double* compliance;  /* [rows] D */
  double* q;           /* [rows] of the problem with compliance */
  int* active;         /* [rows] index of an active row, -1: not active */
  double* values;      /* of the problem being solved */
  const double* given; /* its q */
  int solved;          /* problems with compliance */
  saltusi_friction_run run;
} saltusi_friction_load;

void saltusi_friction_load_layout(saltusi_friction_load* load, int rows, saltus_arena* arena);

/* Replaces the solution r of work->given by the limit of vanishing equal compliance if its active rows are linearly
 * dependent: load->work.degree. values: those of work->given, changed during the call. Returns the number of
 * problems with compliance that were solved. */
int saltusi_friction_load_distribute(saltusi_friction_load* load, saltusi_friction_work* work,
                                     double* values, double accepted, double* r);

/* r <- the solution next to `guess`, nearly one, with its load distribution; r is unchanged when there is none to
 * `accepted`: false. guess: load->work.vectors, of no more rows than load->work.rows_max. load->solved: as above. */
bool saltusi_friction_load_keep(saltusi_friction_load* load, saltusi_friction_work* work,
                                double* values, double accepted, const double* guess, double* r);

#endif
