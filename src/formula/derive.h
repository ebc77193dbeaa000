/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * derive.h - exact derivatives of expressions, as expressions.
 *
 * min, max and piecewise have the derivative of the branch that is active, the first one at a tie;
 * abs has sign, which is 0 at 0. Comparisons, sign and step have derivative 0.
 */
#ifndef SALTUSI_DERIVE_H
#define SALTUSI_DERIVE_H

#include "formula/graph.h"

/* All partial derivatives with respect to the requested kinds of variables (SALTUSI_ON_...), by
 * one reverse pass over the expression: the work is its size, not size times variables. */
saltusi_graph_span saltusi_gradient(saltusi_graph* graph, saltusi_expr e, unsigned wanted);

/* Sets the rate of position i to an expression that is linear in the velocities. */
void saltusi_graph_move(saltusi_graph* graph, int position, saltusi_expr rate);

/* The same derivatives by positions as derivatives along the velocities, D_j e = sum_k e_{q_k} N_kj: entries
 * by velocity variable. Other variables of `gradient` are ignored. */
saltusi_graph_span saltusi_slopes_from(saltusi_graph* graph, saltusi_graph_span gradient);
/* D_j e for all velocities. */
saltusi_graph_span saltusi_slopes(saltusi_graph* graph, saltusi_expr e);

/* e_t + e_q N v: the time derivative along q' = N(q) v at constant v. */
saltusi_expr saltusi_rate(saltusi_graph* graph, saltusi_expr e);

/* The derivative with respect to t alone. */
saltusi_expr saltusi_explicit_rate(saltusi_graph* graph, saltusi_expr e);

/* e with all velocities set to zero. */
saltusi_expr saltusi_at_rest(saltusi_graph* graph, saltusi_expr e);

#endif
