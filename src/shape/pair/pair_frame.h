/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_frame.h - the frame of a contact about its normal, and the rows of a body in it. Shared by all functions that
 * compute rows, whose results have to be bitwise identical.
 *
 *   frame t1 = (e - n (n.e)) / |.|, t2 = n x t1, e a tangent of one of the features, or of a field fixed in B
 */
#ifndef SALTUSI_PAIR_FRAME_H
#define SALTUSI_PAIR_FRAME_H

#include "math/rotation.h"
#include "shape/pair/pair.h"

#include <math.h>
#include <stddef.h>

/* Pole of the tangent field below and the tangent there, in axes of B. The field has a singularity (hairy ball
 * theorem): at -pole, 12.5 degrees from every mirror plane of the axes, so that symmetric motions do not reach it.
 * At n = z the tangent is x. */
static const double saltusi_pole[3] = {0.5208409981466113, 0.21573940527226648, 0.8259425910209562};
static const double saltusi_pole_tangent[3] = {0.851432708408057, -0.0615385871024211,
                                               -0.5208409981466113};
/* 1 + n.pole below which half of the digits are lost; the tangent of the pole replaces the field there. */
static const double saltusi_field_least = 1e-8;

/* A tangent for two features without one: that of the pole, by the smallest rotation from the pole to n. It is a
 * smooth function of n except at -pole, so frames are continuous along the motion. dn, de: rates, or NULL.
 *
 *   e = e0 - (n.e0) / (1 + n.s) (s + n)   in axes of B, s the pole, e0 its tangent */
static inline void saltusi_field_tangent(const saltusi_body_pose* b, const double n[3],
                                         const double* dn, double e[3], double* de) {
  const double* s = saltusi_pole;
  const double* e0 = saltusi_pole_tangent;
  double m[3], own[3], dm[3] = {0.0, 0.0, 0.0}, rate[3] = {0.0, 0.0, 0.0};
  saltusi_turn_back(b->R, n, m);
  const double most = 1.0 + saltusi_dot3(m, s), on = saltusi_dot3(m, e0);
  const bool regular = most > saltusi_field_least;
  const double k = regular ? on / most : 0.0;
  for (int i = 0; i < 3; i++) {
    own[i] = e0[i] - k * (s[i] + m[i]);
  }
  saltusi_turn(b->R, own, e);
  if (de == NULL) {
    return;
  }
  if (regular) {
    double turned[3], relative[3];
    saltusi_cross(b->w, n, turned);
    saltusi_minus3(dn, turned, relative);
    saltusi_turn_back(b->R, relative, dm);
    const double dk = (saltusi_dot3(dm, e0) - k * saltusi_dot3(dm, s)) / most;
    for (int i = 0; i < 3; i++) {
      own[i] = -dk * (s[i] + m[i]) - k * dm[i];
    }
    saltusi_turn(b->R, own, rate);
  }
  saltusi_cross(b->w, e, de);
  saltusi_along(1.0, rate, de, de);
}

/* t1 and t2 along a direction; returns the length of its component normal to n, 0: too short. */
static inline double saltusi_tangents(const double e[3], double (*E)[3]) {
  const double* n = E[0];
  const double on = saltusi_dot3(n, e);
  double w[3];
  for (int k = 0; k < 3; k++) {
    w[k] = e[k] - on * n[k];
  }
  const double length = sqrt(saltusi_dot3(w, w));
  if (!(length > 1e-6 * sqrt(saltusi_dot3(e, e)))) { /* half of the digits are lost */
    return 0.0;
  }
  for (int k = 0; k < 3; k++) {
    E[1][k] = w[k] / length;
  }
  saltusi_cross(n, E[1], E[2]);
  return length;
}

/* The same along the tangent of a feature (NULL: none), or else along the tangent field. */
static inline bool saltusi_still_frame(const saltusi_body_pose* b, const double* tangent,
                                       double (*E)[3]) {
  if (tangent != NULL && saltusi_tangents(tangent, E) > 0.0) {
    return true;
  }
  double e[3];
  saltusi_field_tangent(b, E[0], NULL, e, NULL);
  return saltusi_tangents(e, E) > 0.0;
}

/* The planar frame. */
static inline void saltusi_planar_frame(double (*E)[3]) {
  const double x = E[0][0], y = E[0][1];
  E[1][0] = -y;
  E[1][1] = x;
  E[1][2] = E[2][0] = E[2][1] = 0.0;
  E[2][2] = 1.0;
}

/* Rows of one body, with v in world axes and w in its own axes. */
static inline void saltusi_rows_of_body(const saltusi_body_pose* at, double sign, const double r[3],
                                        double (*E)[3], int count, double G[3][6]) {
  for (int i = 0; i < count; i++) {
    double turning[3], own[3];
    saltusi_cross(r, E[i], turning);
    saltusi_turn_back(at->R, turning, own);
    for (int k = 0; k < 3; k++) {
      G[i][k] = sign * E[i][k];
      G[i][3 + k] = sign * own[k];
    }
  }
}

/* A contact between two features: positions relative to the origin of B's carrier. */
typedef struct saltusi_touch {
  const double* p[2]; /* on the skeletons of A and B */
  double rho[2];
  double apart;
} saltusi_touch;

/* Points, the first rows and the gap of a contact with a given frame. */
static inline void saltusi_still_rows(const saltusi_pair* pair, const saltusi_touch* at, int count,
                                      saltusi_pair_rows* out) {
  const double* n = out->frame[0];
  double shift[3], r[2][3];
  saltusi_along(-at->rho[0], n, at->p[0], r[0]);
  saltusi_along(at->rho[1], n, at->p[1], r[1]);
  saltusi_along(1.0, pair->b->x, r[0], out->point[0]);
  saltusi_along(1.0, pair->b->x, r[1], out->point[1]);
  saltusi_minus3(pair->a->x, pair->b->x, shift);
  saltusi_minus3(r[0], shift, r[0]);
  const int rows = count < 3 ? count : 3;
  saltusi_rows_of_body(pair->a, 1.0, r[0], out->frame, rows, out->GA);
  saltusi_rows_of_body(pair->b, -1.0, r[1], out->frame, rows, out->GB);
  out->gap = at->apart - at->rho[0] - at->rho[1];
}

#endif
