/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * local_error.h - the error of one step from exact data, and the index sets of the scheme.
 *
 *   e_q = q(t_k + h) - q_{k+1},    e_v = v(t_k + h) - v_{k+1}       (Acary 2009, section 4)
 *
 * Index sets of contacts: I_k those that are active in the scheme, I(t) those closed at an instant, I_* those that
 * impact within the step in the exact motion, given by the caller.
 */
#ifndef SALTUSI_LOCAL_ERROR_H
#define SALTUSI_LOCAL_ERROR_H

#include "saltus/scheme.h"

enum { SALTUSI_LOCAL_MAX = 8 }; /* largest number of coordinates and contacts */

typedef struct saltusi_local_def {
  const saltus_system* system;
  const char* scheme;
  const void* options;
  double t, h;
  const double* q; /* exact state at t */
  const double* v;
  const double* q_end; /* exact state at t + h */
  const double* v_end;
} saltusi_local_def;

typedef struct saltusi_local_error {
  double e_q[SALTUSI_LOCAL_MAX];
  double e_v[SALTUSI_LOCAL_MAX];
  double impulse[SALTUSI_LOCAL_MAX]; /* N s, by contact */
  unsigned forecast;                 /* I_k, one bit per contact */
  unsigned closed;                   /* I(t) */
  saltus_work work;
} saltusi_local_error;

saltus_status saltusi_local_error_measure(const saltusi_local_def* def,
                                          saltusi_local_error* result);

#endif
