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

/* All partial derivatives with respect to the wanted kinds of variables (SALTUSI_ON_...), found in
 * one backward sweep over the expression: the work is its size, not size times variables. */
saltusi_span saltusi_gradient(saltusi_graph* graph, saltusi_expr e, unsigned wanted);

/* e_t + e_q v: the time derivative along q' = v at constant v. */
saltusi_expr saltusi_rate(saltusi_graph* graph, saltusi_expr e);

/* The derivative with respect to t alone. */
saltusi_expr saltusi_explicit_rate(saltusi_graph* graph, saltusi_expr e);

/* e with all velocities set to zero. */
saltusi_expr saltusi_at_rest(saltusi_graph* graph, saltusi_expr e);

#endif
