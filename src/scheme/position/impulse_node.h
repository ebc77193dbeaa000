/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impulse_node.h - the law of joints and contacts at one configuration, on the velocity that leaves it.
 *
 *   active     g(t,q) <= 0, up to rounding, and contacts that the scheme forces
 *   contacts   xi = G^T u + b + e U,   xi + mu |xi_T| n in K*  perp  P in K      U before, u after
 *   joints     right-hand side by the scheme, in the first rows
 *   u          = u_free + A^-1 G P
 *
 * Shared by the schemes that evaluate rows once per step, at a node: moreau-midpoint, variational and
 * rattle.
 */
#ifndef SALTUSI_IMPULSE_NODE_H
#define SALTUSI_IMPULSE_NODE_H

#include "scheme/warm_start.h"

typedef struct saltusi_impulse_node {
  saltusi_operator op;
  saltusi_contact_list list;
  int active;                 /* contacts */
  int rows;                   /* of joints and active contacts */
  saltus_contact_step* steps; /* [nc] report of each active contact */
  double* u0;                 /* [rows] U before */
  double* e;                  /* [rows] restitution in force */
  double* P;                  /* [rows] the impulses of the last solve */
  bool* forced;               /* [nc] active independent of the gap, by key */
  double* matrix;             /* [nv x nv] dense mass matrix, for products */
  double* product;            /* [nv] */
  double* q_shifted;          /* [nq] */
} saltusi_impulse_node;

void saltusi_impulse_node_layout(saltusi_impulse_node* node, int warm_start,
                                 const saltusi_eval* eval, saltus_arena* arena);

/* The active set and the rows of joints and contacts at a point whose v is the velocity before.
 * Initial guesses of P are those of the memory that was opened last. */
saltus_status saltusi_impulse_node_look(saltusi_impulse_node* node, const saltusi_step* s,
                                        const saltus_point* at);

/* Right-hand sides of the contacts, G^T u_free + b + e U, and their impact flags: approaches faster
 * than the velocity change of the free motion in one step. */
void saltusi_impulse_node_law(saltusi_impulse_node* node, const saltusi_step* s,
                              const double* u_free, const double* u_before);

/* u = u_free + A^-1 G P with the law for P; node->P is written. */
saltus_status saltusi_impulse_node_impose(saltusi_impulse_node* node, const saltusi_step* s,
                                          const saltusi_linear* linear, const double* u_free,
                                          double* u);

/* node->P of the active contacts as memory of a warm start. */
void saltusi_impulse_node_keep(const saltusi_impulse_node* node, const saltusi_step* s,
                               double* memory);

/* Velocities after and impulses of the active contacts into node->steps, and the residual of the law
 * into the report. */
void saltusi_impulse_node_report(saltusi_impulse_node* node, const saltusi_step* s,
                                 const double* u);

/* y = M(t,q) x at any point. */
void saltusi_impulse_node_mass_times(saltusi_impulse_node* node, const saltusi_step* s,
                                     const saltus_point* at, const double* x, double* y);

/* y += factor (d/dt M) v along q' = v at a point: with F it makes the forces that are the derivative
 * of the Lagrangian by q, T_q + f = F + (d/dt M) v. */
void saltusi_impulse_node_add_convective(saltusi_impulse_node* node, const saltusi_step* s,
                                         const saltus_point* at, double factor, double* y);

#endif
