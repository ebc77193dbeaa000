/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_system.c - rates of the parameters of closest points. d = apart n, V = V_A - V_B of the material there.
 *
 * Points and curves: T^T d = 0 of both, in time
 *
 *   [ T_A^T T_A + H_A.d    -T_A^T T_B         ] [u_A']     [ T_A^T V + (W_A x T_A)^T d ]
 *   [ T_B^T T_A            H_B.d - T_B^T T_B  ] [u_B'] = - [ T_B^T V + (W_B x T_B)^T d ]
 *
 * which is singular at d = 0 where one of the two is a surface S and the other, O, touches it. There T_O^T n = 0 takes
 * the place of T_O^T d = 0, with n' = W_S x n - T_S (T_S^T T_S)^-1 (H_S.n) u_S':
 *
 *   [ H_O.n       -T_O^T T_S (T_S^T T_S)^-1 (H_S.n) ] [u_O']     [ ((W_O - W_S) x T_O)^T n     ]
 *   [ T_S^T T_O   H_S.d - T_S^T T_S                 ] [u_S'] = - [ T_S^T V + (W_S x T_S)^T d   ]     V = V_O - V_S
 */
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void exchange(double* x, double* y) {
  const double kept = *x;
  *x = *y;
  *y = kept;
}

bool saltusi_solve_small(int n, double J[16], double b[4]) {
  assert(n >= 0 && n <= 4 && J != NULL && b != NULL);
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = fabs(J[4 * i + k]) > fabs(J[4 * pivot + k]) ? i : pivot;
    }
    if (!(fabs(J[4 * pivot + k]) > 0.0)) {
      return false;
    }
    for (int j = k; j < n && pivot != k; j++) {
      exchange(&J[4 * k + j], &J[4 * pivot + j]);
    }
    exchange(&b[k], &b[pivot]);
    for (int i = k + 1; i < n; i++) {
      const double factor = J[4 * i + k] / J[4 * k + k];
      for (int j = k + 1; j < n; j++) {
        J[4 * i + j] -= factor * J[4 * k + j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      b[k] -= J[4 * k + j] * b[j];
    }
    b[k] /= J[4 * k + k];
  }
  return true;
}

/* For two features without a surface. J is row major with 4 columns. */
static void curves(const saltusi_closest_points* at, const double d[3], double J[16]) {
  const saltusi_closest_point* A = &at->spot[0];
  const saltusi_closest_point* B = &at->spot[1];
  const int k = A->k;
  if (k == 1) {
    J[0] = saltusi_dot3(A->T[0], A->T[0]) + saltusi_dot3(A->H[0], d);
  }
  if (B->k == 1) {
    J[4 * k + k] = saltusi_dot3(B->H[0], d) - saltusi_dot3(B->T[0], B->T[0]);
  }
  if (k + B->k == 2) {
    J[4] = saltusi_dot3(A->T[0], B->T[0]);
    J[1] = -J[4];
  }
}

/* (T^T T)^-1 (H.n) of a surface, 2 x 2. */
static bool shape_operator(const saltusi_closest_point* S, const double n[3], double out[2][2]) {
  const double a = saltusi_dot3(S->T[0], S->T[0]), b = saltusi_dot3(S->T[0], S->T[1]);
  const double c = saltusi_dot3(S->T[1], S->T[1]), determinant = a * c - b * b;
  if (!(determinant > 0.0)) {
    return false;
  }
  for (int j = 0; j < 2; j++) {
    const double x = saltusi_dot3(S->H[j], n), y = saltusi_dot3(S->H[1 + j], n);
    out[0][j] = (c * x - b * y) / determinant;
    out[1][j] = (a * y - b * x) / determinant;
  }
  return true;
}

/* For a surface S and another feature O; n is outward of S, d from S to O. The unknowns of O
 * come first. */
static bool surface(const saltusi_closest_point* S, const saltusi_closest_point* O,
                    const double n[3], const double d[3], double J[16]) {
  const int k = O->k;
  double turning[2][2];
  if (!shape_operator(S, n, turning)) {
    return false;
  }
  for (int i = 0; i < k; i++) {
    const double along[2] = {saltusi_dot3(O->T[i], S->T[0]), saltusi_dot3(O->T[i], S->T[1])};
    for (int j = 0; j < k; j++) {
      J[4 * i + j] = saltusi_dot3(O->H[i + j], n);
    }
    for (int j = 0; j < 2; j++) {
      J[4 * i + k + j] = -along[0] * turning[0][j] - along[1] * turning[1][j];
      J[4 * (k + j) + i] = along[j];
    }
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      J[4 * (k + i) + k + j] = saltusi_dot3(S->H[i + j], d) - saltusi_dot3(S->T[i], S->T[j]);
    }
  }
  return true;
}

/* The matrix, and the index of the first unknown of A and of B. */
static bool system_of(const saltusi_closest_points* at, double J[16], int first[2]) {
  const saltusi_closest_point* A = &at->spot[0];
  const saltusi_closest_point* B = &at->spot[1];
  double n[3], d[3];
  first[0] = 0;
  first[1] = A->k;
  const bool of_A = A->k == 2 && B->k != 2; /* the surface is A */
  const double sign = of_A ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    n[k] = sign * at->normal[k];
    d[k] = sign * at->apart * at->normal[k];
  }
  if (A->k < 2 && B->k < 2) {
    curves(at, d, J);
    return true;
  }
  if (of_A) {
    first[0] = B->k;
    first[1] = 0;
    return surface(A, B, n, d, J);
  }
  return surface(B, A, n, d, J);
}

bool saltusi_closest_points_rates(const saltusi_closest_points* at, const double WA[3],
                                  const double WB[3], const double V[3], double du[2][2]) {
  assert(at != NULL && WA != NULL && WB != NULL && V != NULL && du != NULL);
  const int unknowns = at->spot[0].k + at->spot[1].k;
  const double* W[2] = {WA, WB};
  const bool with_surface = at->spot[0].k == 2 || at->spot[1].k == 2;
  const int surface_of = at->spot[1].k == 2 ? 1 : 0;
  double J[16] = {0}, b[4] = {0};
  int first[2];
  if (!system_of(at, J, first)) {
    return false;
  }
  for (int s = 0; s < 2; s++) {
    const saltusi_closest_point* spot = &at->spot[s];
    double turned[3], relative[3];
    saltusi_minus3(W[s], W[1 - s], relative);
    for (int i = 0; i < spot->k; i++) {
      double* entry = &b[first[s] + i];
      if (with_surface && s != surface_of) {
        saltusi_cross(relative, spot->T[i], turned);
        *entry = (surface_of == 1 ? -1.0 : 1.0) * saltusi_dot3(turned, at->normal);
      } else {
        saltusi_cross(W[s], spot->T[i], turned);
        *entry = -saltusi_dot3(spot->T[i], V) - at->apart * saltusi_dot3(turned, at->normal);
        /* relative to a surface A the other feature moves with -V, at -d */
        *entry = with_surface && surface_of == 0 ? -*entry : *entry;
      }
    }
  }
  if (!saltusi_solve_small(unknowns, J, b)) {
    return false;
  }
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < at->spot[s].k; i++) {
      du[s][i] = b[first[s] + i];
    }
  }
  return true;
}

/* Parameters are scaled to lengths, so that curvature and size have the same unit: columns and rows are divided by
 * |T|, except rows of T_O^T n (1 / length). Frobenius norms; a single unknown is compared with 1. */
double saltusi_closest_points_condition(const saltusi_closest_points* at) {
  assert(at != NULL);
  const int n = at->spot[0].k + at->spot[1].k;
  double J[16] = {0}, size[4] = {1.0, 1.0, 1.0, 1.0}, norm = 0.0, inverse = 0.0;
  int first[2];
  if (n == 0) {
    return 1.0;
  }
  if (!system_of(at, J, first)) {
    return INFINITY;
  }
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < at->spot[s].k; i++) {
      size[first[s] + i] = sqrt(saltusi_dot3(at->spot[s].T[i], at->spot[s].T[i]));
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      J[4 * i + j] /= size[i] * size[j];
      norm += J[4 * i + j] * J[4 * i + j];
    }
  }
  for (int column = 0; column < n; column++) {
    double copy[16], x[4] = {0};
    memcpy(copy, J, sizeof copy);
    x[column] = 1.0;
    if (!saltusi_solve_small(n, copy, x)) {
      return INFINITY;
    }
    for (int i = 0; i < n; i++) {
      inverse += x[i] * x[i];
    }
  }
  return sqrt(fmax(norm, n) * inverse);
}
