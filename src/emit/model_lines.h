/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model_lines.h - a scene of formulas and bodies in the plane as straight-line code: mass, forces, the matrix of
 * Newton's method, rows of contacts and joints. Results are arrays of nodes, with the operations of the library in
 * their order; after a failure (lines->failed) they are not defined.
 */
#ifndef SALTUSI_MODEL_LINES_H
#define SALTUSI_MODEL_LINES_H

#include "base/pool.h"
#include "body/mechanism.h"
#include "emit/straight_line.h"
#include "model/formula_model.h"

typedef struct saltusi_model_lines {
  saltusi_line_graph* lines;
  saltusi_pool* pool; /* of the results */
  const saltus_system* sys;
  const saltus_formula_model* m;
} saltusi_model_lines;

/* The mechanism of a model; NULL: formulas alone. */
const saltus_mechanism* saltusi_model_mechanism(const saltus_formula_model* m);

int* saltusi_model_take(const saltusi_model_lines* x, int count);
/* The outputs of a program. */
int* saltusi_model_program(const saltusi_model_lines* x, const saltusi_line_state* at,
                           const saltusi_program* p);

/* M [nv x nv]; F [nv]; A = M + fv F_v + fq F_q from M, with fv and fq as [2]. */
int* saltusi_model_mass(const saltusi_model_lines* x, const saltusi_line_state* at);
int* saltusi_model_force(const saltusi_model_lines* x, const saltusi_line_state* at);
int* saltusi_model_matrix(const saltusi_model_lines* x, const saltusi_line_state* at,
                          const double* factors, const int* M);

/* Of each row G [nv], then b: the first `count` rows of a contact or of joints by formulas; all rows of joints. */
int* saltusi_model_rows(const saltusi_model_lines* x, const saltusi_line_state* at,
                        const saltusi_formula_rows* rows, int count);
int* saltusi_model_joints(const saltusi_model_lines* x, const saltusi_line_state* at);

#endif
