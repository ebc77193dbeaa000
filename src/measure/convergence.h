/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convergence.h - the error of a computed motion against a reference, and rates.
 */
#ifndef SALTUSI_CONVERGENCE_H
#define SALTUSI_CONVERGENCE_H

#include "saltus/known_motion.h"
#include "saltus/measure.h"

/* A stored motion. A view. */
typedef struct saltusi_trajectory {
  int count;
  const double* t; /* [count] s, ascending */
  const double* q; /* [count x nq] */
  const double* v; /* [count x nv] */
} saltusi_trajectory;

/* Reference of a run: a problem with an analytic solution, a finer run or a table. */
typedef struct saltusi_reference {
  int nq, nv;
  bool samples; /* defined at some instants only: no graphs */
  /* The motion just after t; false where it is undefined. */
  bool (*at)(const void* self, double t, double* q, double* v);
  /* Filled-in graph of a coordinate, as saltus_known_motion_graph; NULL: none. */
  int (*graph)(const void* self, int coordinate, int which, double t_end, double dt, double* points,
               int capacity);
  const void* self;
} saltusi_reference;

saltusi_reference saltusi_reference_problem(const saltus_known_motion* problem);

/* A stored motion as reference: interpolated linearly when dense, else known at its instants only
 * (within 1e-9 of its length). The struct has to outlive the reference. */
typedef struct saltusi_stored_motion {
  saltusi_trajectory motion;
  int nq, nv;
  bool dense;
} saltusi_stored_motion;

saltusi_reference saltusi_reference_motion(const saltusi_stored_motion* stored);

/* Grid norms of the largest component, and the largest Hausdorff distance over the components. */
typedef struct saltusi_error_norms {
  double inf, l1, l2, hausdorff;
} saltusi_error_norms;

typedef struct saltusi_errors {
  saltusi_error_norms q, v;
} saltusi_errors;

/* Graphs: q is the polyline through (t_k, q_k), v the step function v_(k+1) on (t_k, t_(k+1)] with
 * filled jumps, the exact graph has four points per mean step.
 *
 * A motion known at samples is compared at those samples that fall on a grid point, with the
 * distance between them as weight; its Hausdorff distances are NaN. Where nothing can be compared
 * (motion unknown, or not known to the end of the trajectory) everything is NaN.
 * SALTUS_ERR_MEMORY; SALTUS_ERR_RANGE for fewer than two points, times that do not ascend or values
 * that are not finite. */
saltus_status saltusi_errors_against(const saltusi_reference* reference,
                                     const saltusi_trajectory* run,
                                     saltus_graph_tolerance tolerance,
                                     const saltus_allocator* allocator, saltusi_errors* errors);

/* The same against a reference problem. */
saltus_status saltusi_errors_of(const saltus_known_motion* problem, const saltusi_trajectory* run,
                                saltus_graph_tolerance tolerance, const saltus_allocator* allocator,
                                saltusi_errors* errors);

/* rates[i] between run i - 1 and run i; NaN for the first. */
void saltusi_rates(int count, const double* h, const saltusi_errors* errors, saltusi_errors* rates);

#endif
