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
  /* jumps of v between these instants, of schemes that locate them */
  bool jumps_known;
  int jump_count;
  const double* jump_t; /* [jump_count] s, not descending */
  const double* jump_q; /* [jump_count x nq] */
  const double* jump_v; /* [jump_count x 2 nv] before and after */
} saltusi_trajectory;

/* Reference of a run: a problem with an analytic solution, a finer run or a table. */
typedef struct saltusi_reference {
  int nq, nv;
  bool samples; /* defined at some instants only: no graphs */
  /* State just after t; false where it is undefined. */
  bool (*at)(const void* self, double t, double* q, double* v);
  /* Filled-in graph of a coordinate (which = 0) or velocity (1), as saltus_known_motion_graph; NULL: none. */
  int (*graph)(const void* self, int coordinate, int which, double t_end, double dt, double* points,
               int capacity);
  const void* self;
} saltusi_reference;

saltusi_reference saltusi_reference_problem(const saltus_known_motion* problem);

/* A stored motion as reference. It is defined at its instants alone (within 1e-9 of its length) and not
 * interpolated. The struct has to outlive the reference. */
typedef struct saltusi_stored_motion {
  saltusi_trajectory motion;
  int nq, nv;
  bool dense; /* a run: it has graphs; instants of a grid that it does not contain are an error */
} saltusi_stored_motion;

saltusi_reference saltusi_reference_motion(const saltusi_stored_motion* stored);

/* Polyline of one of n components (which = 0: of q, 1: of v) through the first `count` instants and both sides of
 * known jumps. Writes at most `capacity` pairs (t, x); returns their number. */
int saltusi_trajectory_graph(const saltusi_trajectory* motion, int n, int component, int which,
                             int count, double* points, int capacity);

/* Grid norms of the largest component, and the largest Hausdorff distance over the components. */
typedef struct saltusi_error_norms {
  double inf, l1, l2, hausdorff;
} saltusi_error_norms;

typedef struct saltusi_errors {
  saltusi_error_norms q, v;
} saltusi_errors;

/* Graphs of a run without known jumps: q is the polyline through (t_k, q_k), v the step function v_(k+1) on (t_k,
 * t_(k+1)] with filled jumps, the exact graph has four points per mean step. With known jumps both graphs are
 * polylines through the instants of the run and both sides of the jumps, of q and of v: corners are kept, and the
 * distance has the order of the scheme.
 *
 * A motion given by samples is compared at the samples on grid points, with the distance between them as weight;
 * its Hausdorff distances are NaN. If no comparison is possible (no reference solution, or none up to the end of
 * the trajectory), all errors are NaN. SALTUS_ERR_MEMORY; SALTUS_ERR_RANGE for fewer than two points, times that
 * do not ascend or values that are not finite. */
saltus_status saltusi_errors_against(const saltusi_reference* reference,
                                     const saltusi_trajectory* run,
                                     saltus_graph_tolerance tolerance,
                                     const saltus_allocator* allocator, saltusi_errors* errors);

/* Likewise against a reference problem. */
saltus_status saltusi_errors_of(const saltus_known_motion* problem, const saltusi_trajectory* run,
                                saltus_graph_tolerance tolerance, const saltus_allocator* allocator,
                                saltusi_errors* errors);

/* rates[i] between run i - 1 and run i; NaN for the first. */
void saltusi_rates(int count, const double* h, const saltusi_errors* errors, saltusi_errors* rates);

#endif
