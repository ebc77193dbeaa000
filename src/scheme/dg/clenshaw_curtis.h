/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * clenshaw_curtis.h - the tableaux of the time-discontinuous Galerkin families of any degree M
 * (Schindler and Acary 2011, equations (51)-(66) and table 1; docs/theory/time-dg.md, 2.1).
 *
 *   nodes          tau_l = (1 - cos(pi l / M)) / 2,   l = 0 .. M;   l_k their Lagrange polynomials
 *   beta_k         integral of l_k over [0, 1]
 *   positions      AQ[l][k] = integral of l_k over [0, tau_l]:      Q_l = q + h sum_k AQ[l][k] V_k
 *   velocities     V_l = v + h sum_k A[l][k] a_k + impulse_l M^-1 G p
 *     D1-          A[l][k] = integral of lm_k over [0, tau_l], lm on the nodes 0 .. M-1; A[l][M] = 0
 *     D1+          A[l][0] = beta_0, A[l][k] = (integral of lp_k over [0, tau_l]) - beta_0 lp_k(0),
 *                  lp on the nodes 1 .. M
 *   impulse        D1-: 0; D1+: A[l][M] / beta_M
 *
 * In both families the end velocity is v + h sum_k beta_k a_k + M^-1 G p (docs/theory/time-dg.md,
 * 2.1).
 */
#ifndef SALTUSI_CLENSHAW_CURTIS_H
#define SALTUSI_CLENSHAW_CURTIS_H

#include <stdbool.h>

enum { SALTUSI_DG_DEGREE_MAX = 12, SALTUSI_DG_NODES_MAX = SALTUSI_DG_DEGREE_MAX + 1 };

typedef struct saltusi_dg_tableau {
  int degree; /* M >= 1 */
  bool plus;  /* D1+, else D1- */
  double tau[SALTUSI_DG_NODES_MAX];
  double beta[SALTUSI_DG_NODES_MAX];
  double impulse[SALTUSI_DG_NODES_MAX];
  double positions[SALTUSI_DG_NODES_MAX][SALTUSI_DG_NODES_MAX];
  double velocities[SALTUSI_DG_NODES_MAX][SALTUSI_DG_NODES_MAX];
  double squares[SALTUSI_DG_NODES_MAX][SALTUSI_DG_NODES_MAX]; /* positions times velocities */
} saltusi_dg_tableau;

/* 1 <= degree <= SALTUSI_DG_DEGREE_MAX. */
void saltusi_dg_tableau_make(int degree, bool plus, saltusi_dg_tableau* table);

/* At x in [0, 1]: values of l_k, and their integrals over [0, x]; each [degree + 1]. */
void saltusi_dg_basis(const saltusi_dg_tableau* table, double x, double* value, double* integral);

#endif
