/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * experiment.h - one run with all states stored, for later evaluation.
 */
#ifndef SALTUSI_EXPERIMENT_H
#define SALTUSI_EXPERIMENT_H

#include "measure/convergence.h"
#include "saltus/sim.h"

typedef struct saltusi_experiment_def {
  const saltus_system* system;
  const double* q0;
  const double* v0;
  const char* scheme;
  const void* options; /* NULL: defaults */
  double t0, t_end;    /* s */
  long long steps;     /* of equal length; not used with step-size control */
  bool jumps; /* stores jumps too, of schemes that locate them; not with step-size control */
  const char* control;         /* step-size controller; NULL: equal steps */
  const void* control_options; /* NULL: its defaults */
  saltus_log log;
  const saltus_allocator* allocator;
} saltusi_experiment_def;

/* Owns the motion. */
typedef struct saltusi_experiment {
  saltusi_trajectory motion;
  double h; /* s; mean with step-size control */
  long long rejections;
  saltus_work work;
  double cpu; /* s */
  void* room; /* owned arrays of the motion */
  saltus_allocator memory;
} saltusi_experiment;

/* After a failure there is nothing to free. */
saltus_status saltusi_experiment_run(const saltusi_experiment_def* def, saltusi_experiment* out);
void saltusi_experiment_free(saltusi_experiment* experiment);

#endif
