/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral_rows.h - the operator of solve/polyhedral.h from a system:
 *
 *   x = x_free + A^-1 G_f P,     U = G_v^T x + ... = W P + rate,     W = G_v^T A^-1 G_f
 *
 * G_f and G_v may be taken at different points, so W need not be symmetric.
 */
#ifndef SALTUSI_POLYHEDRAL_ROWS_H
#define SALTUSI_POLYHEDRAL_ROWS_H

#include "solve/polyhedral.h"
#include "system/linear.h"

typedef struct saltusi_polyhedral_rows {
  saltusi_row_block force;    /* G_f */
  saltusi_row_block velocity; /* G_v */
  double* AinvG;              /* [rows x nv] row r is A^-1 times column r of G_f */
} saltusi_polyhedral_rows;

/* Room for the rows and for the law. */
void saltusi_polyhedral_rows_layout(saltusi_polyhedral_rows* rows, saltusi_polyhedral* law,
                                    const saltus_system* sys, int pairs, saltus_arena* arena);

/* A contact of the system; false when there are more unknowns than there is room for. */
bool saltusi_polyhedral_rows_add(saltusi_polyhedral* law, const saltus_system* sys, int key,
                                 int which);

/* Rows at the points where forces act and where velocities are measured; W with a factored A. */
void saltusi_polyhedral_rows_evaluate(saltusi_polyhedral_rows* rows, const saltusi_polyhedral* law,
                                      const saltus_system* sys, const saltus_point* force_at,
                                      const saltus_point* velocity_at);
void saltusi_polyhedral_rows_operator(const saltusi_polyhedral_rows* rows, saltusi_polyhedral* law,
                                      const saltusi_eval* eval, const saltusi_linear* linear);

/* saltusi_polyhedral_solve, counted. */
saltus_status saltusi_polyhedral_rows_solve(saltusi_polyhedral* law, saltusi_eval* eval);

/* x += A^-1 G_f P */
void saltusi_polyhedral_rows_apply(const saltusi_polyhedral_rows* rows,
                                   const saltusi_polyhedral* law, int nv, double* x);

#endif
