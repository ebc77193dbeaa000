/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_rows.c - rows of a contact and their convective parts, one set of equations for all pairs of features
 * (docs/theory/contact-geometry.md). V(p) = v + W x (p - x) is the velocity of the material at p, d = apart n.
 *
 *   u'    pair_system.c
 *   p'    = V(p) + T u'
 *   n'    a surface or two curves: T (T^T T)^-1 (-T'^T n), T' = W x T + H u';  else (I - n n^T)(p_A' - p_B') / apart
 *   c     c_A = p_A - rho_A n, c_B = p_B + rho_B n, r = c - x, sliding s = c' - V(c)
 *   rows  U_e = e.(V_A(c_A) - V_B(c_B)),
 *         c_e = e'.(V_A - V_B) + e.(W_A x (W_A x r_A) - W_B x (W_B x r_B) + W_A x s_A - W_B x s_B)
 *   frame t1 = (e0 - n (n.e0)) / |.|, t2 = n x t1, e0 a direction that rotates with one of the features
 */
#include "shape/pair/closest_points.h"
#include "shape/pair/pair_frame.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Motion of the contact. Positions relative to the origin of B's carrier, as in
 * saltusi_closest_points. */
typedef struct pair_rows_motion {
  double du[2][2];
  double dp[2][3]; /* p_A', p_B' */
  double dn[3];
} pair_rows_motion;

static void material(const saltusi_body_pose* at, const double r[3], double out[3]) {
  saltusi_cross(at->w, r, out);
  saltusi_along(1.0, at->v, out, out);
}

/* Rates of the tangents at a closest point: W x T + H u'. */
static void tangent_rate(const saltusi_closest_point* spot, const double W[3], const double* du,
                         int i, double out[3]) {
  saltusi_cross(W, spot->T[i], out);
  for (int j = 0; j < spot->k; j++) {
    saltusi_along(du[j], spot->H[i + j], out, out);
  }
}

/* n' from n.T = 0 for two tangents that span a plane. */
static bool normal_rate(const double* T[2], double dT[2][3], const double n[3], double dn[3]) {
  const double a = saltusi_dot3(T[0], T[0]), b = saltusi_dot3(T[0], T[1]);
  const double c = saltusi_dot3(T[1], T[1]), determinant = a * c - b * b;
  if (!(determinant > 0.0)) {
    return false;
  }
  const double x = -saltusi_dot3(dT[0], n), y = -saltusi_dot3(dT[1], n);
  const double s = (c * x - b * y) / determinant, t = (a * y - b * x) / determinant;
  for (int k = 0; k < 3; k++) {
    dn[k] = s * T[0][k] + t * T[1][k];
  }
  return true;
}

static bool move(const saltusi_pair* pair, const saltusi_closest_points* at,
                 pair_rows_motion* out) {
  const saltusi_closest_point* A = &at->spot[0];
  const saltusi_closest_point* B = &at->spot[1];
  const double* n = at->normal;
  double rA[3], shift[3], V[3];
  saltusi_minus3(pair->a->x, pair->b->x, shift);
  saltusi_minus3(A->p, shift, rA);
  material(pair->a, rA, out->dp[0]);
  material(pair->b, B->p, out->dp[1]);
  saltusi_minus3(out->dp[0], out->dp[1], V);
  if (A->k == 0 && B->kind == SALTUSI_FEATURE_PLANE) { /* closed form: the foot of a point */
    saltusi_cross(pair->b->w, n, out->dn);
    const double rate = saltusi_dot3(n, V);
    saltusi_along(-rate, n, out->dp[0], out->dp[1]);
    saltusi_along(-at->apart, out->dn, out->dp[1], out->dp[1]);
    return true;
  }
  if (A->k + B->k > 0) {
    if (!saltusi_closest_points_rates(at, pair->a->w, pair->b->w, V, out->du)) {
      return false;
    }
    for (int s = 0; s < 2; s++) {
      for (int i = 0; i < at->spot[s].k; i++) {
        saltusi_along(out->du[s][i], at->spot[s].T[i], out->dp[s], out->dp[s]);
      }
    }
  }
  if (!at->by_tangents) {
    saltusi_minus3(out->dp[0], out->dp[1], V);
    const double rate = saltusi_dot3(n, V);
    for (int k = 0; k < 3; k++) {
      out->dn[k] = (V[k] - rate * n[k]) / at->apart;
    }
    return true;
  }
  double dT[2][3];
  const bool both = A->k == 1 && B->k == 1;
  const saltusi_closest_point* surface = B->k == 2 ? B : A;
  const double* du = out->du[surface == B];
  const double* W = surface == B ? pair->b->w : pair->a->w;
  const double* T[2] = {both ? A->T[0] : surface->T[0], both ? B->T[0] : surface->T[1]};
  if (both) {
    tangent_rate(A, pair->a->w, out->du[0], 0, dT[0]);
    tangent_rate(B, pair->b->w, out->du[1], 0, dT[1]);
  } else {
    tangent_rate(surface, W, du, 0, dT[0]);
    tangent_rate(surface, W, du, 1, dT[1]);
  }
  return normal_rate(T, dT, n, out->dn);
}

/* A direction for t1 that rotates with a feature, and its rate. */
typedef struct direction {
  double e[3], de[3];
} direction;

/* The feature that supplies the tangent: a plane, a line, the side of a cone (generator), a circle, in this order;
 * B before A. 0: A, 1: B, -1: none. */
static int feature_with_tangent(const saltusi_closest_points* at) {
  static const int rank[] = {
      [SALTUSI_FEATURE_POINT] = 5,  [SALTUSI_FEATURE_LINE] = 1,      [SALTUSI_FEATURE_PLANE] = 0,
      [SALTUSI_FEATURE_CIRCLE] = 3, [SALTUSI_FEATURE_ELLIPSOID] = 5, [SALTUSI_FEATURE_CONE] = 2};
  enum { NONE = 5 };
  const int a = rank[at->spot[0].kind], b = rank[at->spot[1].kind];
  return a == NONE && b == NONE ? -1 : b <= a;
}

/* The tangent of a feature and its rate; false: no feature has one. */
static bool by_features(const saltusi_pair* pair, const saltusi_closest_points* at,
                        const pair_rows_motion* moves, direction* out) {
  const int which = feature_with_tangent(at);
  if (which < 0) {
    return false;
  }
  const saltusi_closest_point* spot = &at->spot[which];
  const double* W = which == 1 ? pair->b->w : pair->a->w;
  memcpy(out->e, spot->T[0], sizeof out->e);
  if (spot->kind == SALTUSI_FEATURE_PLANE) {
    saltusi_cross(W, out->e, out->de);
  } else {
    tangent_rate(spot, W, moves->du[which], 0, out->de);
  }
  return true;
}

/* t1 and t2 along a direction, with their rates. */
static bool frame(const direction* along, const double dn[3], double (*E)[3], double (*dE)[3]) {
  const double* n = E[0];
  const double on = saltusi_dot3(n, along->e);
  const double rate = saltusi_dot3(dn, along->e) + saltusi_dot3(n, along->de);
  double dw[3];
  for (int k = 0; k < 3; k++) {
    dw[k] = along->de[k] - on * dn[k] - rate * n[k];
  }
  const double length = saltusi_tangents(along->e, E);
  if (!(length > 0.0)) {
    return false;
  }
  const double stretch = saltusi_dot3(E[1], dw);
  for (int k = 0; k < 3; k++) {
    dE[1][k] = (dw[k] - stretch * E[1][k]) / length;
  }
  double turned[3];
  saltusi_cross(dn, E[1], dE[2]);
  saltusi_cross(n, dE[1], turned);
  saltusi_along(1.0, turned, dE[2], dE[2]);
  return true;
}

static void planar_frame(const double dn[3], double (*E)[3], double (*dE)[3]) {
  const double dt[3] = {-dn[1], dn[0], 0.0}, none[3] = {0.0, 0.0, 0.0};
  saltusi_planar_frame(E);
  memcpy(dE[1], dt, sizeof dt);
  memcpy(dE[2], none, sizeof none);
}

static bool find_frame(const saltusi_pair* pair, const saltusi_closest_points* at,
                       const pair_rows_motion* moves, double (*E)[3], double (*dE)[3]) {
  direction along;
  if (by_features(pair, at, moves, &along) && frame(&along, moves->dn, E, dE)) {
    return true;
  }
  saltusi_field_tangent(pair->b, E[0], moves->dn, along.e, along.de);
  return frame(&along, moves->dn, E, dE);
}

/* Adds sign (W x (W x r) + W x s), s = c' - V(c): the same as W x (c' - v). */
static void add_turning(const saltusi_body_pose* at, double sign, const double dc[3],
                        double sum[3]) {
  double relative[3], turned[3];
  saltusi_minus3(dc, at->v, relative);
  saltusi_cross(at->w, relative, turned);
  saltusi_along(sign, turned, sum, sum);
}

bool saltusi_pair_rows_at(const saltusi_pair* pair, bool planar, saltusi_pair_rows* out) {
  assert(pair != NULL && out != NULL);
  saltusi_closest_points at;
  pair_rows_motion moves = {.du = {{0.0, 0.0}, {0.0, 0.0}}};
  double dE[3][3];
  if (!saltusi_pair_meet(pair, &at) || !move(pair, &at, &moves)) {
    out->gap = NAN;
    return false;
  }
  memcpy(out->frame[0], at.normal, sizeof at.normal);
  memcpy(dE[0], moves.dn, sizeof moves.dn);
  if (planar) {
    planar_frame(moves.dn, out->frame, dE);
  } else if (!find_frame(pair, &at, &moves, out->frame, dE)) {
    out->gap = NAN;
    return false;
  }
  double shift[3], r[2][3], dc[2][3], V[2][3], U[3], W[3], sum[3] = {0.0, 0.0, 0.0};
  const double rho[2] = {-at.spot[0].rho, at.spot[1].rho};
  saltusi_minus3(pair->a->x, pair->b->x, shift);
  for (int i = 0; i < 2; i++) {
    const saltusi_body_pose* body = i == 0 ? pair->a : pair->b;
    saltusi_along(rho[i], at.normal, at.spot[i].p, r[i]);
    saltusi_along(1.0, pair->b->x, r[i], out->point[i]);
    if (i == 0) {
      saltusi_minus3(r[i], shift, r[i]);
    }
    saltusi_along(rho[i], moves.dn, moves.dp[i], dc[i]);
    material(body, r[i], V[i]);
    add_turning(body, i == 0 ? 1.0 : -1.0, dc[i], sum);
  }
  saltusi_minus3(V[0], V[1], U);
  saltusi_minus3(pair->a->w, pair->b->w, W);
  saltusi_rows_of_body(pair->a, 1.0, r[0], out->frame, 3, out->GA);
  saltusi_rows_of_body(pair->b, -1.0, r[1], out->frame, 3, out->GB);
  for (int i = 0; i < 3; i++) {
    out->c[i] = saltusi_dot3(dE[i], U) + saltusi_dot3(out->frame[i], sum);
    out->spin_c[i] = saltusi_dot3(dE[i], W);
  }
  out->gap = at.apart - at.spot[0].rho - at.spot[1].rho;
  return true;
}

/* Whether the rates of these kinds of features are always determined. */
static bool moves_anyhow(const saltusi_closest_points* at) {
  const saltusi_feature_kind a = at->spot[0].kind, b = at->spot[1].kind;
  const bool flat = a == SALTUSI_FEATURE_PLANE || b == SALTUSI_FEATURE_PLANE;
  const bool point = a == SALTUSI_FEATURE_POINT || b == SALTUSI_FEATURE_POINT;
  return (point && flat) || (a == SALTUSI_FEATURE_POINT && b == SALTUSI_FEATURE_POINT);
}

bool saltusi_pair_rows_still(const saltusi_pair* pair, bool planar, int count,
                             saltusi_pair_rows* out) {
  assert(pair != NULL && out != NULL && count >= 1);
  if (saltusi_pair_rows_straight(pair, planar, count, out)) {
    return true;
  }
  saltusi_closest_points at;
  pair_rows_motion moves = {.du = {{0.0, 0.0}, {0.0, 0.0}}};
  out->gap = NAN;
  if (!saltusi_pair_meet(pair, &at) || (!moves_anyhow(&at) && !move(pair, &at, &moves))) {
    return false;
  }
  memcpy(out->frame[0], at.normal, sizeof at.normal);
  const int which = feature_with_tangent(&at);
  if (planar) {
    saltusi_planar_frame(out->frame);
  } else if (!saltusi_still_frame(pair->b, which >= 0 ? at.spot[which].T[0] : NULL, out->frame)) {
    return false;
  }
  const saltusi_touch touch = {
      {at.spot[0].p, at.spot[1].p}, {at.spot[0].rho, at.spot[1].rho}, at.apart};
  saltusi_still_rows(pair, &touch, count, out);
  return true;
}
