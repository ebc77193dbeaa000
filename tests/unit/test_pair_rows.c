/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Rows of pairs of features against differences: bodies move along curves with known velocity and acceleration, and
 * the normal row has to be the rate of the gap, all rows that of material points, and G v' + c the rate of U. Poses are
 * built from a point and a normal of each feature by formulas of this file, so the gap is known beforehand.
 */
#include "math/rotation.h"
#include "saltus_test.h"
#include "shape/pair/closest_points.h"
#include "shape/pair/pair_frame.h"

#include <float.h>
#include <stdio.h>

typedef struct body {
  double x[3], R[9];
  double v[6], a[6]; /* velocity (world, own axes), acceleration at t = 0 */
} body;

static double uniform(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

static double normal(uint64_t* seed) {
  const double u = 1.0 - saltus_test_random(seed), v = saltus_test_random(seed);
  return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

static void vector(uint64_t* seed, double scale, double* out, int n) {
  for (int k = 0; k < n; k++) {
    out[k] = scale * normal(seed);
  }
}

static void scale_to_one(double x[3]) {
  const double length = sqrt(saltusi_dot3(x, x));
  for (int k = 0; k < 3; k++) {
    x[k] /= length;
  }
}

static void unit(uint64_t* seed, double out[3]) {
  vector(seed, 1.0, out, 3);
  scale_to_one(out);
}

/* A direction normal to a. */
static void unit_across(uint64_t* seed, const double a[3], double out[3]) {
  double other[3];
  unit(seed, other);
  saltusi_cross(a, other, out);
  scale_to_one(out);
}

static void rotation(const double r[3], double R[9]) {
  double p[4];
  saltusi_quaternion_exp(r, p);
  saltusi_quaternion_matrix(p, R);
}

/* x0 + v t + a t^2/2, R0 exp(r), r = w t + a t^2/2, whose angular velocity in its own axes is
 * (1 - (1 - cos)/|r|^2 [r] + (|r| - sin)/|r|^3 [r]^2) r'. */
static saltusi_body_pose at_time(const body* b, double t, double own[6]) {
  saltusi_body_pose out;
  double r[3], dr[3], turn[9], across[3], twice[3];
  for (int k = 0; k < 3; k++) {
    out.x[k] = b->x[k] + b->v[k] * t + 0.5 * b->a[k] * t * t;
    out.v[k] = own[k] = b->v[k] + b->a[k] * t;
    r[k] = b->v[3 + k] * t + 0.5 * b->a[3 + k] * t * t;
    dr[k] = b->v[3 + k] + b->a[3 + k] * t;
  }
  rotation(r, turn);
  saltusi_matrix3_product(b->R, turn, out.R);
  const double s = saltusi_dot3(r, r);
  saltusi_cross(r, dr, across);
  saltusi_cross(r, across, twice);
  const double first = 0.5 - s / 24.0 + s * s / 720.0,
               second = 1.0 / 6.0 - s / 120.0 + s * s / 5040.0;
  for (int k = 0; k < 3; k++) {
    own[3 + k] = dr[k] - first * across[k] + second * twice[k];
  }
  saltusi_turn(out.R, own + 3, out.w);
  return out;
}

/* One kind of pair: the features and how thick they are. */
typedef struct pair_kind {
  const char* name;
  saltusi_feature_kind A, B;
  double rhoA, rhoB; /* m; NAN: drawn from 0.2 .. 0.8 */
  bool planar;
} pair_kind;

static const pair_kind kinds[] = {
    {"vertex-edge (plane)", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, 0.0, 0.0, true},
    {"circle-edge (plane)", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, 0.5, 0.0, true},
    {"circle-capsule side (plane)", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, 0.5, 0.3, true},
    {"edge-vertex (plane)", SALTUSI_FEATURE_PLANE, SALTUSI_FEATURE_POINT, 0.0, 0.0, true},
    {"circle-circle (plane)", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_POINT, 0.5, 0.4, true},
    {"circle in hollow arc (plane)", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_POINT, 0.5, -2.0, true},
    {"sphere-sphere", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_POINT, NAN, NAN, false},
    {"sphere in hollow sphere", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_POINT, NAN, -2.0, false},
    {"hollow sphere around sphere", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_POINT, -2.0, NAN, false},
    {"sphere-capsule", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_LINE, NAN, 0.3, false},
    {"sphere-edge", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_LINE, NAN, 0.0, false},
    {"edge-sphere", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_POINT, 0.0, NAN, false},
    {"sphere-plane", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, NAN, 0.0, false},
    {"vertex-face", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, 0.0, 0.0, false},
    {"face-vertex", SALTUSI_FEATURE_PLANE, SALTUSI_FEATURE_POINT, 0.0, 0.0, false},
    {"vertex-rounded face", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_PLANE, 0.1, 0.2, false},
    {"capsule-capsule", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_LINE, NAN, NAN, false},
    {"edge-edge", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_LINE, 0.0, 0.0, false},
    {"rim-plane", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_PLANE, 0.0, 0.0, false},
    {"torus-plane", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_PLANE, 0.3, 0.0, false},
    {"plane-torus", SALTUSI_FEATURE_PLANE, SALTUSI_FEATURE_CIRCLE, 0.0, 0.3, false},
    {"sphere-rim", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_CIRCLE, NAN, 0.0, false},
    {"sphere-torus", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_CIRCLE, NAN, 0.3, false},
    {"ellipsoid-plane", SALTUSI_FEATURE_ELLIPSOID, SALTUSI_FEATURE_PLANE, 0.0, 0.0, false},
    {"plane-ellipsoid", SALTUSI_FEATURE_PLANE, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0, false},
    {"sphere-ellipsoid", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_ELLIPSOID, NAN, 0.0, false},
    {"vertex-ellipsoid", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0, false},
    {"capsule-ellipsoid", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_ELLIPSOID, NAN, 0.0, false},
    {"ellipsoid-edge", SALTUSI_FEATURE_ELLIPSOID, SALTUSI_FEATURE_LINE, 0.0, 0.0, false},
    {"ellipsoid-ellipsoid", SALTUSI_FEATURE_ELLIPSOID, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0, false},
    {"sphere-cone side", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_CONE, NAN, 0.0, false},
    {"vertex-cone side", SALTUSI_FEATURE_POINT, SALTUSI_FEATURE_CONE, 0.0, 0.0, false},
    {"capsule-cone side", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_CONE, NAN, 0.0, false},
    {"edge-cone side", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_CONE, 0.0, 0.0, false},
    {"capsule-torus", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_CIRCLE, 0.3, 0.2, false},
    {"edge-rim", SALTUSI_FEATURE_LINE, SALTUSI_FEATURE_CIRCLE, 0.0, 0.0, false},
    {"rim-cylinder side", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_LINE, 0.0, 0.4, false},
    {"rim-rim", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_CIRCLE, 0.0, 0.0, false},
    {"torus-torus", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_CIRCLE, 0.2, 0.25, false},
    {"rim-ellipsoid", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0, false},
    {"torus-ellipsoid", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_ELLIPSOID, 0.2, 0.0, false},
    {"cone side-cone side", SALTUSI_FEATURE_CONE, SALTUSI_FEATURE_CONE, 0.0, 0.0, false},
    {"ellipsoid-cone side", SALTUSI_FEATURE_ELLIPSOID, SALTUSI_FEATURE_CONE, 0.0, 0.0, false},
    {"cone side-ellipsoid", SALTUSI_FEATURE_CONE, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0, false},
    {"rim-cone side", SALTUSI_FEATURE_CIRCLE, SALTUSI_FEATURE_CONE, 0.0, 0.0, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A point of a skeleton in body axes, a normal that leads away from it, and (curves) its tangent. */
typedef struct place {
  double p[3], n[3], T[3];
  int k;
} place;

static void draw_frame(uint64_t* seed, bool planar, saltusi_feature* f) {
  if (planar) { /* bodies live in z = 0; an edge holds z */
    const double angle = uniform(seed, -3.0, 3.0);
    const double a[3] = {cos(angle), sin(angle), 0.0}, e[3] = {-sin(angle), cos(angle), 0.0};
    memcpy(f->a, a, sizeof a);
    memcpy(f->e, e, sizeof e);
    f->p[2] = 0.0;
    return;
  }
  unit(seed, f->a);
  unit_across(seed, f->a, f->e);
}

static saltusi_feature draw_feature(uint64_t* seed, saltusi_feature_kind kind, double rho,
                                    bool planar, place* at) {
  saltusi_feature f = {.kind = kind, .rho = isnan(rho) ? uniform(seed, 0.2, 0.8) : rho};
  double b[3], out[3], s = uniform(seed, -1.0, 1.0), t = uniform(seed, -1.0, 1.0);
  vector(seed, 1.0, f.p, 3);
  draw_frame(seed, planar, &f);
  saltusi_cross(f.a, f.e, b);
  at->k = kind == SALTUSI_FEATURE_POINT                                    ? 0
          : kind == SALTUSI_FEATURE_LINE || kind == SALTUSI_FEATURE_CIRCLE ? 1
                                                                           : 2;
  memcpy(at->p, f.p, sizeof f.p);
  unit(seed, at->n);
  if (kind == SALTUSI_FEATURE_POINT && planar) {
    memcpy(at->n, f.a, sizeof f.a);
  } else if (kind == SALTUSI_FEATURE_LINE) {
    f.size[0] = 2.0;
    memcpy(at->T, f.a, sizeof f.a);
    saltusi_along(s, f.a, f.p, at->p);
    unit_across(seed, f.a, at->n);
  } else if (kind == SALTUSI_FEATURE_PLANE) {
    saltusi_along(s, f.e, f.p, at->p);
    saltusi_along(planar ? 0.0 : t, b, at->p, at->p);
    memcpy(at->n, f.a, sizeof f.a);
  } else if (kind == SALTUSI_FEATURE_CIRCLE) {
    f.size[0] = uniform(seed, 0.7, 1.2);
    for (int k = 0; k < 3; k++) {
      out[k] = cos(3.0 * s) * f.e[k] + sin(3.0 * s) * b[k];
      at->p[k] = f.p[k] + f.size[0] * out[k];
    }
    saltusi_cross(f.a, out, at->T);
    unit_across(seed, at->T, at->n);
  } else if (kind == SALTUSI_FEATURE_ELLIPSOID) { /* normal of sum (x_i / s_i)^2 = 1 */
    unit(seed, out);
    memset(at->n, 0, sizeof at->n);
    for (int k = 0; k < 3; k++) {
      const double* axis = k == 0 ? f.e : k == 1 ? b : f.a;
      f.size[k] = uniform(seed, 0.5, 1.0);
      saltusi_along(f.size[k] * out[k], axis, at->p, at->p);
      saltusi_along(out[k] / f.size[k], axis, at->n, at->n);
    }
    scale_to_one(at->n);
  } else if (kind == SALTUSI_FEATURE_CONE) {
    f.size[0] = uniform(seed, 0.3, 1.0);
    f.size[1] = 2.0;
    for (int k = 0; k < 3; k++) {
      out[k] = cos(3.0 * s) * f.e[k] + sin(3.0 * s) * b[k];
      at->p[k] = f.p[k] + (1.2 + 0.5 * t) * (f.a[k] + f.size[0] * out[k]);
      at->n[k] = out[k] - f.size[0] * f.a[k];
    }
    scale_to_one(at->n);
  }
  return f;
}

typedef struct drawn {
  saltusi_feature A, B;
  body a, b;
  double gap, n[3];
  int branch;
} drawn;

/* Turns A so that its normal is against that of B, and moves it to the wanted gap. */
static bool draw(uint64_t* seed, const pair_kind* kind, drawn* out) {
  static const double gaps[3] = {0.0, 0.02, 0.3};
  place A, B;
  double r[3], m[3], X[3], Y[3], x[3], y[3];
  memset(out, 0, sizeof *out);
  out->A = draw_feature(seed, kind->A, kind->rhoA, kind->planar, &A);
  out->B = draw_feature(seed, kind->B, kind->rhoB, kind->planar, &B);
  out->gap = gaps[(int)uniform(seed, 0.0, 3.0)];
  vector(seed, 1.0, out->b.x, kind->planar ? 2 : 3);
  vector(seed, 1.0, r, 3);
  if (kind->planar) {
    r[0] = r[1] = 0.0;
  }
  rotation(r, out->b.R);
  saltusi_turn(out->b.R, B.n, out->n);
  for (int k = 0; k < 3; k++) {
    m[k] = -A.n[k]; /* goes to n */
  }
  const double z[3] = {0.0, 0.0, 1.0};
  if (kind->planar) {
    saltusi_cross(z, m, x);
    saltusi_cross(z, out->n, X);
  } else {
    unit_across(seed, m, x);
    unit_across(seed, out->n, X);
  }
  saltusi_cross(m, x, y);
  saltusi_cross(out->n, X, Y);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->a.R[3 * i + j] = out->n[i] * m[j] + X[i] * x[j] + Y[i] * y[j];
    }
  }
  const double apart = out->gap + out->A.rho + out->B.rho;
  double pA[3], pB[3], TA[3], TB[3], across[3];
  saltusi_turn(out->a.R, A.p, pA);
  saltusi_turn(out->b.R, B.p, pB);
  for (int k = 0; k < 3; k++) {
    out->a.x[k] = out->b.x[k] + pB[k] + apart * out->n[k] - pA[k];
  }
  if (kind->planar) {
    out->a.x[2] = 0.0;
  }
  vector(seed, 0.7, out->a.v, 6);
  vector(seed, 0.7, out->b.v, 6);
  vector(seed, 1.0, out->a.a, 6);
  vector(seed, 1.0, out->b.a, 6);
  for (int k = 2; k < 5 && kind->planar; k++) {
    out->a.v[k] = out->b.v[k] = out->a.a[k] = out->b.a[k] = 0.0;
  }
  if (A.k + B.k < 2 && fabs(apart) < 0.05) {
    return false; /* the normal is not determined */
  }
  if (A.k == 1 && B.k == 1) {
    saltusi_turn(out->a.R, A.T, TA);
    saltusi_turn(out->b.R, B.T, TB);
    saltusi_cross(TA, TB, across);
    return saltusi_dot3(across, across) > 0.04;
  }
  return true;
}

static bool evaluate(const drawn* d, const pair_kind* kind, double t, saltusi_pair_rows* rows,
                     double v[12]) {
  const saltusi_body_pose a = at_time(&d->a, t, v), b = at_time(&d->b, t, v + 6);
  saltusi_pair pair = {.A = &d->A, .B = &d->B, .a = &a, .b = &b, .branch = d->branch};
  memcpy(pair.side, d->n, sizeof d->n);
  return saltusi_pair_rows_at(&pair, kind->planar, rows);
}

/* G v of all three rows. */
static void products(const saltusi_pair_rows* rows, const double v[12], double U[3]) {
  for (int i = 0; i < 3; i++) {
    U[i] = 0.0;
    for (int k = 0; k < 6; k++) {
      U[i] += rows->GA[i][k] * v[k] + rows->GB[i][k] * v[6 + k];
    }
  }
}

/* The spin and rolling rows are the frame by w_A - w_B. */
static void angular(const saltusi_pair_rows* rows, const saltusi_body_pose* a,
                    const saltusi_body_pose* b, const double v[12], double spin[3]) {
  double wa[3], wb[3];
  saltusi_turn(a->R, v + 3, wa);
  saltusi_turn(b->R, v + 9, wb);
  for (int i = 0; i < 3; i++) {
    spin[i] = saltusi_dot3(rows->frame[i], wa) - saltusi_dot3(rows->frame[i], wb);
  }
}

/* What the differences of one step give: rate of the gap, of U, of the spin, velocities of the two material points. */
typedef struct rates {
  double gap, U[3], spin[3], V[3];
} rates;

static void material_point(const body* b, const double local[3], double t, double out[3]) {
  double own[6];
  const saltusi_body_pose at = at_time(b, t, own);
  saltusi_turn(at.R, local, out);
  saltusi_along(1.0, at.x, out, out);
}

static bool differences(const drawn* d, const pair_kind* kind, const saltusi_pair_rows* now,
                        double h, rates* out) {
  static const double weight[7] = {-1.0 / 60, 9.0 / 60,  -45.0 / 60, 0.0,
                                   45.0 / 60, -9.0 / 60, 1.0 / 60};
  double local[2][3], r[3];
  memset(out, 0, sizeof *out);
  saltusi_minus3(now->point[0], d->a.x, r);
  saltusi_turn_back(d->a.R, r, local[0]);
  saltusi_minus3(now->point[1], d->b.x, r);
  saltusi_turn_back(d->b.R, r, local[1]);
  for (int i = 0; i < 7; i++) {
    if (i == 3) {
      continue;
    }
    saltusi_pair_rows rows;
    double v[12], U[3], spin[3], pa[3], pb[3], own[6];
    const double t = (i - 3) * h, w = weight[i] / h;
    if (!evaluate(d, kind, t, &rows, v)) {
      return false;
    }
    saltusi_minus3(rows.point[1], now->point[1], r);
    if (saltusi_dot3(r, r) > 0.1) {
      return false; /* another minimum of two rings became the least of its half */
    }
    products(&rows, v, U);
    const saltusi_body_pose a = at_time(&d->a, t, own), b = at_time(&d->b, t, own);
    angular(&rows, &a, &b, v, spin);
    material_point(&d->a, local[0], t, pa);
    material_point(&d->b, local[1], t, pb);
    out->gap += w * rows.gap;
    for (int k = 0; k < 3; k++) {
      out->U[k] += w * U[k];
      out->spin[k] += w * spin[k];
      out->V[k] += w * (pa[k] - pb[k]);
    }
  }
  return true;
}

/* Largest |x - y| / (1 + |y|). */
static double relative(const double* x, const double* y, int n) {
  double most = 0.0, size = 0.0;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(x[k] - y[k]));
    size = fmax(size, fabs(y[k]));
  }
  return most / (1.0 + size);
}

enum { CHECKS = 4 };

static void compare(const drawn* d, const pair_kind* kind, double worst[CHECKS]) {
  static const double steps[] = {4e-3, 8e-4, 1.5e-4, 3e-5, 8e-6};
  saltusi_pair_rows now;
  double v[12], acceleration[12], U[3], rate[3], spin[3], V[3];
  assert_true(evaluate(d, kind, 0.0, &now, v));
  assert_near(now.gap, d->gap, 1e-13 * 30.0);
  memcpy(acceleration, d->a.a, sizeof d->a.a);
  memcpy(acceleration + 6, d->b.a, sizeof d->b.a);
  products(&now, v, U);
  products(&now, acceleration, rate);
  double own[6];
  const saltusi_body_pose a = at_time(&d->a, 0.0, own), b = at_time(&d->b, 0.0, own);
  angular(&now, &a, &b, acceleration, spin);
  for (int i = 0; i < 3; i++) {
    rate[i] += now.c[i];
    spin[i] += now.spin_c[i];
  }
  double best[CHECKS] = {INFINITY, INFINITY, INFINITY, INFINITY};
  for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
    rates by;
    if (!differences(d, kind, &now, steps[s], &by)) {
      continue;
    }
    for (int i = 0; i < 3; i++) {
      V[i] = saltusi_dot3(now.frame[i], by.V);
    }
    best[0] = fmin(best[0], relative(&by.gap, U, 1));
    best[1] = fmin(best[1], relative(by.U, rate, 3));
    best[2] = fmin(best[2], relative(V, U, 3));
    best[3] = fmin(best[3], relative(by.spin, spin, 3));
  }
  for (int k = 0; k < CHECKS; k++) {
    worst[k] = fmax(worst[k], best[k]);
  }
}

/* Of two rings the least minimum of a half is meant: not at the instant when another one becomes that. */
static bool stays(const drawn* d) {
  double before[3] = {0.0, 0.0, 0.0}, r[3];
  for (int i = -1; i <= 1; i++) {
    double own[6];
    const saltusi_body_pose a = at_time(&d->a, i * 1e-3, own), b = at_time(&d->b, i * 1e-3, own);
    saltusi_pair pair = {.A = &d->A, .B = &d->B, .a = &a, .b = &b, .branch = d->branch};
    saltusi_closest at;
    memcpy(pair.side, d->n, sizeof d->n);
    if (!saltusi_pair_closest(&pair, &at)) {
      return false;
    }
    saltusi_minus3(at.pB, before, r);
    if (i > -1 && saltusi_dot3(r, r) > 0.1) {
      return false;
    }
    memcpy(before, at.pB, sizeof before);
  }
  return true;
}

/* Draws whose system is well conditioned: at 30 the differences, not the rows, are what is inaccurate. */
static bool regular(drawn* d) {
  double own[6];
  const saltusi_body_pose a = at_time(&d->a, 0.0, own), b = at_time(&d->b, 0.0, own);
  saltusi_pair pair = {.A = &d->A, .B = &d->B, .a = &a, .b = &b};
  memcpy(pair.side, d->n, sizeof d->n);
  saltusi_closest at;
  /* the pose may be built from a point that is closest in neither half of a circle */
  saltusi_closest_points met;
  for (d->branch = 0; d->branch < 2; d->branch++) {
    pair.branch = d->branch;
    if (saltusi_pair_meet_only(&pair, true, &met) && saltusi_pair_closest(&pair, &at) &&
        fabs(at.gap - d->gap) < 1e-9) {
      return at.condition < 30.0 && stays(d);
    }
  }
  return false;
}

static void rows_are_rates_of_gaps_points_and_velocities(void** state) {
  (void)state;
  const int draws = saltus_test_long() ? 10000 : 150;
  for (int i = 0; i < KINDS; i++) {
    uint64_t seed = 7 + (uint64_t)i;
    double worst[CHECKS] = {0};
    for (int n = 0, tried = 0; n < draws; tried++) {
      drawn d;
      assert_true(tried < 100 * draws);
      if (draw(&seed, &kinds[i], &d) && regular(&d)) {
        compare(&d, &kinds[i], worst);
        n++;
      }
    }
    if (saltus_test_long()) {
      printf("| %s | %.1e | %.1e | %.1e | %.1e |\n", kinds[i].name, worst[0], worst[1], worst[2],
             worst[3]);
    }
    /* the strongest curvature that a draw has leaves sixth-order differences this inaccurate */
    for (int k = 0; k < CHECKS; k++) {
      assert_near(worst[k], 0.0, 1e-8);
    }
  }
}

/* A ball that rolls and spins on a plane at rest: its lowest point has no normal acceleration of its own; a vertex has
 * that of its turning. */
static void a_sphere_on_a_fixed_plane_has_no_convective_part(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int i = 0; i < 100; i++) {
    const saltusi_feature plane = {.kind = SALTUSI_FEATURE_PLANE, .a = {0, 0, 1}, .e = {1, 0, 0}};
    saltusi_feature point = {.kind = SALTUSI_FEATURE_POINT, .rho = 0.3};
    const saltusi_body_pose ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    saltusi_body_pose ball = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    vector(&seed, 1.0, ball.x, 3);
    vector(&seed, 1.0, ball.v, 3);
    vector(&seed, 2.0, ball.w, 3);
    const saltusi_pair pair = {.A = &point, .B = &plane, .a = &ball, .b = &ground};
    saltusi_pair_rows rows;
    assert_true(saltusi_pair_rows_at(&pair, false, &rows));
    assert_true(rows.c[0] == 0.0 && rows.gap == ball.x[2] - 0.3);
    point.rho = 0.0;
    vector(&seed, 1.0, point.p, 3);
    assert_true(saltusi_pair_rows_at(&pair, false, &rows));
    double once[3], twice[3];
    saltusi_cross(ball.w, point.p, once);
    saltusi_cross(ball.w, once, twice);
    assert_near(rows.c[0], twice[2], 1e-14 * (1.0 + saltusi_dot3(ball.w, ball.w)) * 10.0);
  }
}

/* Exchanging A and B turns the normal about and changes neither gap nor conditions. */
static void pairs_may_be_written_either_way(void** state) {
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < KINDS; i++) {
    for (int n = 0; n < 20; n++) {
      drawn d;
      double own[6];
      /* of two circles the halves are counted from the first */
      const bool rings =
          kinds[i].A == SALTUSI_FEATURE_CIRCLE && kinds[i].B == SALTUSI_FEATURE_CIRCLE;
      if (rings || !draw(&seed, &kinds[i], &d) || !regular(&d)) {
        continue;
      }
      const saltusi_body_pose a = at_time(&d.a, 0.0, own), b = at_time(&d.b, 0.0, own);
      saltusi_pair one = {.A = &d.A, .B = &d.B, .a = &a, .b = &b, .branch = d.branch};
      saltusi_pair two = {.A = &d.B, .B = &d.A, .a = &b, .b = &a, .branch = d.branch};
      for (int k = 0; k < 3; k++) {
        one.side[k] = d.n[k];
        two.side[k] = -d.n[k];
      }
      saltusi_pair_rows x, y;
      assert_true(saltusi_pair_rows_at(&one, kinds[i].planar, &x));
      assert_true(saltusi_pair_rows_at(&two, kinds[i].planar, &y));
      assert_near(x.gap, y.gap, 1e-13 * 30.0);
      assert_near(x.c[0], y.c[0], 1e-10 * (1.0 + fabs(x.c[0])));
      for (int k = 0; k < 3; k++) {
        assert_near(x.frame[0][k], -y.frame[0][k], 1e-12);
        assert_near(x.point[0][k], y.point[1][k], 1e-11);
      }
    }
  }
}

/* Along random great circles of normals the frame of two points turns no faster than a bound that grows towards the one
 * singular direction of the field: it does not jump where |n_i| = |n_j|, as axes that are least aligned with n do. */
static void frames_of_round_pairs_are_continuous(void** state) {
  (void)state;
  enum { CIRCLES = 50, STEPS = 2000 };
  uint64_t seed = 29;
  for (int i = 0; i < CIRCLES; i++) {
    const saltusi_feature point = {.kind = SALTUSI_FEATURE_POINT, .rho = 0.1};
    saltusi_body_pose b = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, a = b;
    double x[3], y[3], r[3], last[3] = {0.0, 0.0, 0.0};
    if (i == 0) { /* the circle of the coordinate plane whose normals pass (1, 0, 1) */
      memcpy(x, (const double[3]){1, 0, 0}, sizeof x);
      memcpy(y, (const double[3]){0, 0, 1}, sizeof y);
    } else {
      vector(&seed, 1.0, r, 3);
      rotation(r, b.R);
      vector(&seed, 1.0, x, 3);
      const double size = sqrt(saltusi_dot3(x, x));
      for (int k = 0; k < 3; k++) {
        x[k] /= size;
      }
      unit_across(&seed, x, y);
    }
    double pole[3];
    saltusi_turn(b.R, saltusi_pole, pole);
    for (int n = 0; n <= STEPS; n++) {
      const double angle = 2.0 * 3.14159265358979323846 * n / STEPS;
      for (int k = 0; k < 3; k++) {
        a.x[k] = 0.3 * (cos(angle) * x[k] + sin(angle) * y[k]);
      }
      const saltusi_pair pair = {.A = &point, .B = &point, .a = &a, .b = &b};
      saltusi_pair_rows rows;
      assert_true(saltusi_pair_rows_at(&pair, false, &rows));
      double change[3];
      saltusi_minus3(rows.frame[1], last, change);
      memcpy(last, rows.frame[1], sizeof last);
      /* |de| <= |dn| (1 + tan(beta / 2)), beta the angle from the pole; twice it for the finite difference */
      const double cosine = saltusi_dot3(rows.frame[0], pole);
      const double bound = 1.0 + sqrt((1.0 - cosine) / fmax(1.0 + cosine, 1e-4));
      const double step = 2.0 * 3.14159265358979323846 / STEPS;
      assert_true(n == 0 || sqrt(saltusi_dot3(change, change)) <= 2.0 * bound * step);
    }
  }
}

/* Rows without their convective parts have the same bits; of fewer rows the first. */
static void rows_of_what_is_still_are_the_same(void** state) {
  (void)state;
  uint64_t seed = 17;
  for (int i = 0; i < KINDS; i++) {
    for (int n = 0; n < 40; n++) {
      drawn d;
      double own[6];
      if (!draw(&seed, &kinds[i], &d) || !regular(&d)) {
        continue;
      }
      const saltusi_body_pose a = at_time(&d.a, 0.0, own), b = at_time(&d.b, 0.0, own);
      for (int turned = 0; turned < 2; turned++) {
        saltusi_pair pair = {.A = &d.A, .B = &d.B, .a = &a, .b = &b, .branch = d.branch};
        memcpy(pair.side, d.n, sizeof d.n);
        if (turned == 1) {
          pair = (saltusi_pair){.A = &d.B, .B = &d.A, .a = &b, .b = &a, .branch = d.branch};
        }
        saltusi_pair_rows all, one, still;
        const bool known = saltusi_pair_rows_at(&pair, kinds[i].planar, &all);
        assert_int_equal(saltusi_pair_rows_still(&pair, kinds[i].planar, 3, &still), known);
        assert_int_equal(saltusi_pair_rows_still(&pair, kinds[i].planar, 1, &one), known);
        if (known) {
          assert_memory_equal(still.frame, all.frame, sizeof all.frame);
          assert_memory_equal(still.point, all.point, sizeof all.point);
          assert_memory_equal(still.GA, all.GA, sizeof all.GA);
          assert_memory_equal(still.GB, all.GB, sizeof all.GB);
          assert_memory_equal(one.GA, all.GA, sizeof all.GA[0]);
          assert_memory_equal(one.GB, all.GB, sizeof all.GB[0]);
          assert_true(still.gap == all.gap && one.gap == all.gap);
        }
      }
    }
  }
}

static void undetermined_points_are_refused(void** state) {
  (void)state;
  const saltusi_body_pose here = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const saltusi_feature point = {.kind = SALTUSI_FEATURE_POINT, .rho = 0.3};
  const saltusi_feature line = {.kind = SALTUSI_FEATURE_LINE, .a = {1, 0, 0}, .e = {0, 1, 0}};
  const saltusi_feature circle = {
      .kind = SALTUSI_FEATURE_CIRCLE, .a = {0, 0, 1}, .e = {1, 0, 0}, .size = {1.0}};
  const saltusi_feature plane = {.kind = SALTUSI_FEATURE_PLANE, .a = {0, 0, 1}, .e = {1, 0, 0}};
  const saltusi_feature* one[] = {&point, &point, &line, &circle, &plane};
  const saltusi_feature* two[] = {&point, &line, &line, &point, &circle};
  for (int i = 0; i < 5; i++) {
    const saltusi_pair pair = {.A = one[i], .B = two[i], .a = &here, .b = &here};
    saltusi_closest at;
    saltusi_pair_rows rows;
    assert_false(saltusi_pair_closest(&pair, &at));
    assert_true(isnan(at.gap) && isinf(at.condition));
    assert_false(saltusi_pair_rows_at(&pair, false, &rows));
    assert_true(isnan(rows.gap));
    rows.gap = 0.0;
    assert_false(saltusi_pair_rows_still(&pair, false, 3, &rows));
    assert_true(isnan(rows.gap));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_rates_of_gaps_points_and_velocities),
      cmocka_unit_test(a_sphere_on_a_fixed_plane_has_no_convective_part),
      cmocka_unit_test(pairs_may_be_written_either_way),
      cmocka_unit_test(frames_of_round_pairs_are_continuous),
      cmocka_unit_test(rows_of_what_is_still_are_the_same),
      cmocka_unit_test(undetermined_points_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
