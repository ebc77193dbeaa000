/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure.h - norms of the difference of two motions, graph distance and observed orders.
 *
 *   grid norms     ||e||_p = (sum_i h_i |e_i|^p)^(1/p), h_i = t_i - t_{i-1}    (Acary 2009, (21))
 *   graphs         Hausdorff distance of filled-in graphs in the metric max(|dt|, |dx|_inf)
 *   order          least squares fit of log error against log step
 */
#ifndef SALTUS_MEASURE_H
#define SALTUS_MEASURE_H

#include "saltus/api.h"
#include "saltus/memory.h"
#include "saltus/status.h"

SALTUS_BEGIN_DECLS

/* Errors on a grid t[0..count-1] with t[0] the start; e is count x n row major, component errors
 * are combined by the largest. L_p weighs point i >= 1 with t[i] - t[i-1]. p = INFINITY: largest
 * over all points. NaN if an error at such a point is NaN. */
SALTUS_API double saltus_norm(int count, int n, const double* t, const double* e, double p);

/* A graph: points (t, x_1..x_n) row-wise, t not decreasing; equal times are filled jumps. A
 * view. */
typedef struct saltus_graph {
  int count;
  int n;                /* components, at most SALTUS_GRAPH_MAX */
  const double* points; /* [count x (n + 1)] */
} saltus_graph;

enum { SALTUS_GRAPH_MAX = 15 };

/* Tolerance of the search in saltus_hausdorff: the result is within atol + rtol * result below the
 * true distance. rtol >= 0, atol > 0. */
typedef struct saltus_graph_tolerance {
  double rtol, atol;
} saltus_graph_tolerance;

SALTUS_API saltus_graph_tolerance saltus_graph_tolerance_default(void); /* 1e-3, 1e-8 */

/* Writes the distance; the cost is about (count a + count b) log count. SALTUS_ERR_RANGE for an
 * empty or unsorted graph, values that are not finite, different component counts or a tolerance
 * out of range; SALTUS_ERR_MEMORY. NULL allocator: the C library. Nothing is written on failure. */
SALTUS_API saltus_status saltus_hausdorff(const saltus_graph* a, const saltus_graph* b,
                                          saltus_graph_tolerance tolerance,
                                          const saltus_allocator* allocator, double* distance);

/* Slope of the least squares line of log(error) over log(h); NaN with fewer than two different
 * steps or an error or step that is not positive. */
SALTUS_API double saltus_slope(int count, const double* h, const double* error);

SALTUS_END_DECLS

#endif
