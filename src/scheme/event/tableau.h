/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tableau.h - Runge-Kutta methods as data.
 *
 *   V_i = v + h sum_j a_ij K_j,   K_i = f(t + c_i h, ..., V_i),   v_1 = v + h sum_i b_i K_i
 */
#ifndef SALTUSI_TABLEAU_H
#define SALTUSI_TABLEAU_H

#include <stdbool.h>

enum { SALTUSI_STAGES_MAX = 8 };

typedef struct saltusi_tableau {
  const char* name;
  int stages;
  int order;          /* of b */
  int embedded_order; /* of embedded; 0: none */
  bool implicit;      /* a has entries on or above its diagonal */
  bool half_explicit; /* for the index-2 form: constraints on velocity level */
  double c[SALTUSI_STAGES_MAX];
  double a[SALTUSI_STAGES_MAX][SALTUSI_STAGES_MAX];
  double b[SALTUSI_STAGES_MAX];
  double embedded[SALTUSI_STAGES_MAX];
} saltusi_tableau;

/* Every method, for tests of their order; NULL past the end. */
const saltusi_tableau* saltusi_tableau_at(int i);

extern const saltusi_tableau saltusi_explicit_euler;
extern const saltusi_tableau saltusi_midpoint;
extern const saltusi_tableau saltusi_heun_3;
extern const saltusi_tableau saltusi_rk4;
extern const saltusi_tableau saltusi_rkf45;
extern const saltusi_tableau saltusi_dopri5;

extern const saltusi_tableau saltusi_radau_iia_1;
extern const saltusi_tableau saltusi_radau_iia_3;
extern const saltusi_tableau saltusi_radau_iia_5;
extern const saltusi_tableau saltusi_lobatto_iiia_2;
extern const saltusi_tableau saltusi_lobatto_iiia_4;
extern const saltusi_tableau saltusi_lobatto_iiia_6;
extern const saltusi_tableau saltusi_gauss_2;
extern const saltusi_tableau saltusi_gauss_4;
extern const saltusi_tableau saltusi_gauss_6;

/* Explicit methods that keep their order in the half-explicit form of index 2 (c_s = 1). */
extern const saltusi_tableau saltusi_herk_3;
extern const saltusi_tableau saltusi_hem_4;

#endif
