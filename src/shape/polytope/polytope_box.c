/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_box.c - the best axis of two boxes. With h the halves of their sides, C = R_B^T R_A and t from middle to
 * middle in axes of B:
 *   face i of B                     |t_i| - h_Bi - sum_j h_Aj |C_ij|
 *   face j of A                     |(C^T t)_j| - h_Aj - sum_i h_Bi |C_ij|
 *   edges i, j, n = e_Bi x (C e_Aj)  (|t.n| - sum_k h_Bk |n_k| - sum_k h_Ak |(C^T n)_k|) / |n|
 * Each of the nine is a face of the Minkowski difference for all signs, since a box has edges of both signs.
 */
#include "shape/polytope/polytope_box.h"

#include "math/rotation.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_boxes_of(const saltusi_two* two, saltusi_boxes* out) {
  assert(two != NULL && out != NULL);
  const saltusi_polytope* A = two->A->polytope;
  const saltusi_polytope* B = two->B->polytope;
  double QA[9], a[3], b[3], from[3];
  out->half_A = A->half;
  out->half_B = B->half;
  if (A->placed) {
    saltusi_matrix3_product(two->a->R, A->placing.R, QA);
    saltusi_turn(two->a->R, A->placing.x, a);
  } else {
    memcpy(QA, two->a->R, sizeof QA);
    a[0] = a[1] = a[2] = 0.0;
  }
  if (B->placed) {
    saltusi_matrix3_product(two->b->R, B->placing.R, out->Q);
    saltusi_turn(two->b->R, B->placing.x, b);
  } else {
    memcpy(out->Q, two->b->R, sizeof out->Q);
    b[0] = b[1] = b[2] = 0.0;
  }
  for (int k = 0; k < 3; k++) {
    out->middle[k] = two->b->x[k] + b[k];
    from[k] = (two->a->x[k] - two->b->x[k]) + (a[k] - b[k]);
  }
  const double* P = out->Q;
  for (int i = 0; i < 3; i++) {
    out->t[i] = P[i] * from[0] + P[3 + i] * from[1] + P[6 + i] * from[2];
    for (int j = 0; j < 3; j++) {
      out->C[3 * i + j] = P[i] * QA[j] + P[3 + i] * QA[3 + j] + P[6 + i] * QA[6 + j];
    }
  }
}

/* The axis n or -n, with A on its positive side. */
static void keep(saltusi_box_axis* best, double value, const double n[3], double scale) {
  best->value = value;
  for (int k = 0; k < 3; k++) {
    best->normal[k] = scale * n[k];
  }
}

/* Faces of B; false: one is above the limit. */
static bool faces_of_B(const saltusi_boxes* two, const double size[9], double limit,
                       saltusi_box_axis* best) {
  const double *hA = two->half_A, *hB = two->half_B, *t = two->t;
  double value[3], most = -INFINITY;
  for (int i = 0; i < 3; i++) {
    value[i] = fabs(t[i]) -
               (hB[i] + hA[0] * size[3 * i] + hA[1] * size[3 * i + 1] + hA[2] * size[3 * i + 2]);
    if (value[i] > limit) {
      return false;
    }
    most = value[i] > most ? value[i] : most;
  }
  const int i = value[0] == most ? 0 : value[1] == most ? 1 : 2;
  const double n[3] = {i == 0, i == 1, i == 2};
  keep(best, most, n, t[i] < 0.0 ? -1.0 : 1.0);
  return true;
}

/* Faces of A. */
static bool faces_of_A(const saltusi_boxes* two, const double size[9], double limit,
                       double rounding, saltusi_box_axis* best) {
  const double *hA = two->half_A, *hB = two->half_B, *C = two->C, *t = two->t;
  for (int j = 0; j < 3; j++) {
    const double n[3] = {C[j], C[3 + j], C[6 + j]};
    const double along = saltusi_dot3(n, t);
    const double value =
        fabs(along) - (hA[j] + hB[0] * size[j] + hB[1] * size[3 + j] + hB[2] * size[6 + j]);
    if (value > limit) {
      return false;
    }
    if (value > best->value + rounding) {
      keep(best, value, n, along < 0.0 ? -1.0 : 1.0);
    }
  }
  return true;
}

/* Edges of B along i with those of A. */
static inline bool edges_of_B(const saltusi_boxes* two, const double size[9], int i, double limit,
                              double rounding, saltusi_box_axis* best) {
  const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
  const double PARALLEL = 1e-9;
  const double *hA = two->half_A, *hB = two->half_B, *C = two->C, *t = two->t;
  for (int j = 0; j < 3; j++) {
    const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    /* n = e_i x C e_j has n_i1 = -C[i2][j], n_i2 = C[i1][j] */
    const double c1 = C[3 * i1 + j], c2 = C[3 * i2 + j];
    const double along = t[i2] * c1 - t[i1] * c2;
    const double value = fabs(along) - (hB[i1] * size[3 * i2 + j] + hB[i2] * size[3 * i1 + j] +
                                        hA[j1] * size[3 * i + j2] + hA[j2] * size[3 * i + j1]);
    /* compares value / |n| with the best by signed squares, which avoids most square roots */
    const double square = c1 * c1 + c2 * c2, least = best->value + rounding;
    if (!(value * fabs(value) > least * fabs(least) * square) || !(square > PARALLEL * PARALLEL)) {
      continue;
    }
    const double length = sqrt(square);
    double n[3];
    n[i] = 0.0;
    n[i1] = -c2;
    n[i2] = c1;
    keep(best, value / length, n, (along < 0.0 ? -1.0 : 1.0) / length);
    if (best->value > limit) {
      return false;
    }
  }
  return true;
}

bool saltusi_boxes_axis(const saltusi_boxes* boxes, double limit, saltusi_box_axis* best) {
  assert(boxes != NULL && best != NULL);
  const double *hA = boxes->half_A, *hB = boxes->half_B, *t = boxes->t;
  double size[9];
  for (int k = 0; k < 9; k++) {
    size[k] = fabs(boxes->C[k]);
  }
  const double rounding = 64.0 * DBL_EPSILON *
                          (2.0 * (hA[0] + hA[1] + hA[2] + hB[0] + hB[1] + hB[2]) + fabs(t[0]) +
                           fabs(t[1]) + fabs(t[2]));
  return faces_of_B(boxes, size, limit, best) && faces_of_A(boxes, size, limit, rounding, best) &&
         edges_of_B(boxes, size, 0, limit, rounding, best) &&
         edges_of_B(boxes, size, 1, limit, rounding, best) &&
         edges_of_B(boxes, size, 2, limit, rounding, best) && best->value > -INFINITY;
}
