/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kernel_writer.h - shared by the nodes (kernel.c) and the text (kernel_text.c) of a kernel.
 */
#ifndef SALTUSI_SWEEP_KERNEL_WRITER_H
#define SALTUSI_SWEEP_KERNEL_WRITER_H

#include "base/number.h"
#include "emit/model_lines.h"
#include "sweep/kernel.h"

enum {
  DIM = SALTUSI_KERNEL_VELOCITIES,
  CONTACTS = SALTUSI_KERNEL_CONTACTS,
  JOINTS = SALTUSI_KERNEL_JOINTS
};

/* A = L U of size n <= DIM without exchanges of rows. */
typedef struct saltusi_kernel_factors {
  int n;
  int L[DIM * DIM], inverse[DIM], pivot_of[DIM]; /* factors, 1 / pivot, the diagonal of A */
} saltusi_kernel_factors;

/* Contact c in the step: rows G, rates b, X = A^-1 G with joints held, and its block W = G X. */
typedef struct saltusi_kernel_contact {
  int rows;            /* 1 or 2 */
  int u0[2], shift[2]; /* velocity before, b + e u0 */
  int G[2][DIM], X[2][DIM], W[2][2], pushed;
} saltusi_kernel_contact;

typedef struct saltusi_kernel_writer {
  const saltusi_kernel_def* def;
  const saltus_moreau_jean_options* o;
  const saltus_system* sys;
  const saltus_formula_model* m;
  saltusi_model_lines equations;
  saltusi_kernel_layout layout;
  saltusi_line_graph l;
  saltusi_pool pool;
  saltusi_bytes* out;
  int n, nc, nj;
  bool once;
  bool kinks;                       /* an integral of a measure with kinks */
  int *u, *mu, *e_N, *e_T;          /* [inputs], [nc] */
  int t, q[DIM], v[DIM], w[DIM];    /* before the step, and the iterated velocity */
  int some;                         /* 1: a contact is active */
  saltusi_kernel_factors A, joints; /* of A, and of G A^-1 G^T of the joints */
  int joint_G[JOINTS][DIM], joint_X[JOINTS][DIM];
  int free[DIM], held[DIM]; /* v_free, and with the impulses of joints */
  int gap[CONTACTS], rate[CONTACTS];
  saltusi_kernel_contact contacts[CONTACTS];
} saltusi_kernel_writer;

/* The nodes of a program over t, q and v; others after a failure. */
const int* saltusi_kernel_nodes(saltusi_kernel_writer* writer, const saltusi_program* program,
                                int t, const int* q, const int* v);
saltusi_line_state saltusi_kernel_at(const saltusi_kernel_writer* writer, int t, const int* q,
                                     const int* v);

/* Factors of the matrix in factors->L. */
void saltusi_kernel_eliminate(saltusi_kernel_writer* writer, saltusi_kernel_factors* factors);
/* x := A^-1 x */
void saltusi_kernel_solve(saltusi_kernel_writer* writer, const saltusi_kernel_factors* factors,
                          int* x);
/* Rows G and b of a contact. */
void saltusi_kernel_rows(saltusi_kernel_writer* writer, int contact, int count, int t, const int* q,
                         int G[2][DIM], int b[2]);
/* Index of an item among the outputs of the scene; -1: none. */
int saltusi_kernel_output(const saltusi_kernel_writer* writer, const saltusi_item* item);

void saltusi_kernel_put(saltusi_kernel_writer* writer, const char* format, ...)
    SALTUSI_PRINTF(2, 3);
void saltusi_kernel_put_value(saltusi_kernel_writer* writer, const char* before, int node,
                              const char* after);

/* The function, from the nodes. */
void saltusi_kernel_text(saltusi_kernel_writer* writer);

/* event_kernel.c: schemes with a tolerance. The reason why a scene is not treated, or NULL. */
const char* saltusi_event_kernel_reason(const saltusi_kernel_def* def);
void saltusi_event_kernel_text(saltusi_kernel_writer* writer);
extern const char saltusi_event_kernel_step[];

#endif
