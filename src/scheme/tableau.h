/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tableau.h - Runge-Kutta methods as data.
 */
#ifndef SALTUSI_TABLEAU_H
#define SALTUSI_TABLEAU_H

enum { SALTUSI_STAGES_MAX = 16 };

typedef struct saltusi_tableau {
  const char* name;
  int stages;
  int order;          /* of b */
  int embedded_order; /* of embedded; 0: none */
  double c[SALTUSI_STAGES_MAX];
  double a[SALTUSI_STAGES_MAX][SALTUSI_STAGES_MAX];
  double b[SALTUSI_STAGES_MAX];
  double embedded[SALTUSI_STAGES_MAX];
} saltusi_tableau;

/* Every method, for tests of their order; NULL past the end. */
const saltusi_tableau* saltusi_tableau_at(int i);

extern const saltusi_tableau saltusi_rkf45;

#endif
