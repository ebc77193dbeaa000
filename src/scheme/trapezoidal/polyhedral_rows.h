/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral_rows.h - the law of solve/friction/polyhedral.h on joints and contacts of a system:
 *
 *   x = x_free + A^-1 G_f P,     U = G_v^T x + ... = W P + rate,     W = G_v^T A^-1 G_f
 *
 * G_f and G_v may be taken at different points, so W need not be symmetric. The operator eliminates joints and finds
 * the islands of contacts; each of them is a problem of its own.
 */
#ifndef SALTUSI_POLYHEDRAL_ROWS_H
#define SALTUSI_POLYHEDRAL_ROWS_H

#include "operator/operator.h"
#include "solve/friction/polyhedral.h"

typedef struct saltusi_polyhedral_rows {
  saltusi_operator op; /* rows: G_f, measured: G_v */
  int joints, count;   /* rows of joints, contacts */
  int rows;            /* in all */
  bool keep_joints;
  saltusi_polyhedral_contact* contacts; /* [nc] `row` in op, `first` in z */
  double* rate;                         /* [rows] m/s, U without impulses: right-hand side of op */
  double* P;                            /* [rows] N s: that of op */
  double residual;                      /* m/s, of the last solve */

  /* inside */
  int unknowns_max;            /* of one island */
  saltusi_polyhedral island;   /* the current one */
  double* z;                   /* unknowns of all contacts in the last solution */
  saltusi_mode* mode;          /* [nc] modes in the last solution */
  saltusi_mode* island_mode;   /* [nc] of the current island */
  const saltusi_mode* imposed; /* [count] modes to solve in; NULL: none */
  bool stop;                   /* only normals are constrained */
  saltusi_step_capacity* room; /* of the current solve */
} saltusi_polyhedral_rows;

/* For the system and the capacity of eval. */
void saltusi_polyhedral_rows_layout(saltusi_polyhedral_rows* law, const saltusi_eval* eval,
                                    int pairs, saltus_arena* arena);

/* Joints alone; keep_joints: joints of islands stay in the complementarity problem. */
void saltusi_polyhedral_rows_start(saltusi_polyhedral_rows* law, const saltus_system* sys,
                                   bool keep_joints);
/* A contact of the system. */
void saltusi_polyhedral_rows_add(saltusi_polyhedral_rows* law, const saltus_system* sys, int key,
                                 int which);

/* Rows of joints and contacts at a point. */
const saltusi_row_block* saltusi_polyhedral_rows_look(saltusi_polyhedral_rows* law,
                                                      const saltus_system* sys,
                                                      const saltus_point* at);

/* Rows at the points where forces act and where velocities are measured, which may be the same; W with a factored A. */
void saltusi_polyhedral_rows_form(saltusi_polyhedral_rows* law, saltusi_eval* eval,
                                  const saltus_point* force_at, const saltus_point* velocity_at,
                                  const saltusi_linear* linear);

/* P by complementarity; with every contact in the given mode [count], independent of signs; with U
 * = 0 in the rows of joints and normals, which alone get impulses. Statuses are those of
 * saltusi_polyhedral_solve, and SALTUS_RETRY_CAPACITY with the demand in eval; SALTUS_RETRY_SMALLER
 * when there is no such solution. */
saltus_status saltusi_polyhedral_rows_solve(saltusi_polyhedral_rows* law, saltusi_eval* eval);
saltus_status saltusi_polyhedral_rows_solve_in(saltusi_polyhedral_rows* law, saltusi_eval* eval,
                                               const saltusi_mode* modes);
saltus_status saltusi_polyhedral_rows_stop(saltusi_polyhedral_rows* law, saltusi_eval* eval);

/* G_v */
static inline const saltusi_row_block*
saltusi_polyhedral_rows_measured(const saltusi_polyhedral_rows* law) {
  return saltusi_operator_measured(&law->op);
}

#endif
