/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rate_rows.h - nonholonomic joints in schemes that satisfy joints on position level. A rate row has no position
 * constraint; along the step from q_0 to q_1 at constant velocity u it is satisfied in the mean of both ends,
 *
 *   1/2 [G(t_0, q_0)^T u + b_0 + G(t_1, q_1)^T u + b_1] = 0,
 *
 * which is symmetric and of order 2: the discrete Lagrange-d'Alembert principle (Cortes and Martinez, Nonlinearity 14
 * (2001) 1365-1392) with forces along the rows of the node.
 */
#ifndef SALTUSI_RATE_ROWS_H
#define SALTUSI_RATE_ROWS_H

#include "system/evaluate.h"

/* Rows of joints at the end of the step; no memory without rate rows. */
void saltusi_rate_rows_layout(saltusi_row_block* end, const saltus_system* sys,
                              saltus_arena* arena);

/* g[j] = length times the mean velocity of each rate row; `start` has the rows at q_0, `at` is the end with u. */
void saltusi_rate_rows_mean(saltusi_row_block* end, const saltus_system* sys,
                            const saltusi_row_block* start, const saltus_point* at, double length,
                            double* g);

#endif
