/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_lines.h - bodies in the plane as straight-line code: masses, forces along joint angles, and rows of joints, with
 * the operations of src/body in their order.
 */
#ifndef SALTUSI_BODY_LINES_H
#define SALTUSI_BODY_LINES_H

#include "body/mechanism.h"
#include "emit/straight_line.h"

/* Reason why a mechanism is not written; NULL: none. */
const char* saltusi_body_lines_reason(const saltus_mechanism* m);

/* Coordinates of the mechanism are those of the state. F [nv]; A [nv x nv] = M + fv F_v + fq F_q. */
void saltusi_body_lines_force(saltusi_line_graph* lines, const saltus_mechanism* m,
                              const saltusi_line_state* at, int* F);
void saltusi_body_lines_matrix(saltusi_line_graph* lines, const saltus_mechanism* m, double fv,
                               double fq, int* A);
/* Rows of a joint: G [nv], b of each. */
void saltusi_body_lines_joint(saltusi_line_graph* lines, const saltus_mechanism* m,
                              const saltusi_line_state* at, int joint, int* rows);

#endif
