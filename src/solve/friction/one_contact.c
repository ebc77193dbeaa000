/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * one_contact.c - with t = W_TN / W_NN, S = W_TT - t W_NT (unsymmetric when W is), c = b_T - t b_N:
 *
 *   open    b_N >= 0:  r = 0
 *   stick   r_T = -S^-1 c,  r_N = -(b_N + W_NT r_T) / W_NN,  accepted when |r_T| <= mu r_N
 *   slip    r_T(a) = -(S + a I)^-1 c with a > 0 such that  psi(a) = mu r_N(a) / |r_T(a)| - 1 = 0
 *
 * a = |u_T| / |r_T|. When stick fails psi(0) < 0, and psi grows to infinity with a because r_N tends
 * to -b_N / W_NN > 0, so there is a root for every mu. psi is nearly linear in a: Newton inside a
 * bracket takes three to four steps cold and one from the last a. In the plane slip is closed form.
 * Bonnefon & Daviet, Quartic formulation of Coulomb 3D frictional contact (INRIA 2011), solve the
 * same scalar equation as a quartic, which loses digits when W is ill conditioned.
 */
#include "solve/friction/one_contact.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Indices in the data of a spatial contact. */
enum { INV_NN, N1, N2, T1, T2, S11, S12, S21, S22, I11, I12, I21, I22, SIZE };
static_assert((int)INV_NN == (int)SALTUSI_LOCAL_INVERSE && (int)S11 == (int)SALTUSI_LOCAL_S,
              "places that others read");

/* Schur complements below this part of the block are rounding: 45 eps, some twenty operations. */
static const double rank_floor = 1e-14;
/* Regularisation then: large enough to keep r finite, far below physical compliances; a hundred times that rounding. */
static const double rank_repair = 1e-12;
/* Stands for the size of a zero block: its square is a normal number. */
static const double least_normal = 1e-150;
/* Upper bound of a stored multiplier as initial guess, relative to the block: beyond it the square in the inverse
 * overflows. */
static const double slip_most = 1e100;
/* Initial multipliers relative to the block, if the estimate has no sign, or if only the upper end of the bracket is
 * known: geometric bisection starts above zero; chosen, without effect on the result. */
static const double slip_first = 1e-3;
static const double slip_inside = 0.05;

/* 1 / W_NN, or 0 for a normal direction without compliance: no impulse changes u_N there. */
static double invert_normal(double normal, double trace) {
  return normal > DBL_MIN && normal > DBL_EPSILON * DBL_EPSILON * trace ? 1.0 / normal : 0.0;
}

static void prepare_spatial(const double* w, double* data) {
  double trace = w[4] + w[8];
  double inverse = invert_normal(w[0], trace);
  double t1 = w[3] * inverse;
  double t2 = w[6] * inverse;
  double a = w[4] - t1 * w[1];
  double b = w[5] - t1 * w[2];
  double c = w[7] - t2 * w[1];
  double d = w[8] - t2 * w[2];
  double size = fmax(trace, w[0]);
  double floor_ = rank_floor * size;
  double det = a * d - b * c;
  if (!(det > floor_ * (fabs(a) + fabs(d) + floor_)) || !(a > 0.0) || !(d > 0.0)) {
    double repair = rank_repair * size + DBL_MIN;
    a = fmax(a, 0.0) + repair;
    d = fmax(d, 0.0) + repair;
    det = a * d - b * c;
    if (!(det > 0.0) || !isfinite(1.0 / det)) { /* no positive pivot: use its diagonal */
      b = c = 0.0;
      a = d = fmax(fmax(a, d), least_normal);
      det = a * d;
    }
  }
  data[INV_NN] = inverse;
  data[N1] = w[1];
  data[N2] = w[2];
  data[T1] = t1;
  data[T2] = t2;
  data[S11] = a;
  data[S12] = b;
  data[S21] = c;
  data[S22] = d;
  data[I11] = d / det;
  data[I12] = -b / det;
  data[I21] = -c / det;
  data[I22] = a / det;
  data[SIZE] = 0.5 * (a + d);
}

/* data: 1 / W_NN, W_NT, t, 1 / S, W_NN */
static void prepare_planar(const double* w, double* data) {
  double inverse = invert_normal(w[0], w[3]);
  double t = w[2] * inverse;
  double S = w[3] - t * w[1];
  double size = fmax(w[0], w[3]);
  if (!(S > rank_floor * size)) {
    S = rank_floor * size + least_normal;
  }
  data[0] = inverse;
  data[1] = w[1];
  data[2] = t;
  data[3] = 1.0 / S;
  data[4] = w[0];
}

void saltusi_one_contact_prepare(int d, const double* block, double* data) {
  assert(data != NULL);
  static const double zero[9] = {0.0};
  const double* w = block != NULL ? block : zero;
  if (d == 3) {
    prepare_spatial(w, data);
  } else if (d == 2) {
    prepare_planar(w, data);
  } else {
    data[0] = invert_normal(w[0], 0.0);
  }
}

saltusi_contact_state saltusi_one_contact_normal(const double* data, const double* b, double* r) {
  assert(data != NULL && b != NULL && r != NULL);
  r[0] = b[0] < 0.0 ? -b[0] * data[0] : 0.0;
  return b[0] < 0.0 ? SALTUSI_CONTACT_STICKS : SALTUSI_CONTACT_OPEN;
}

saltusi_contact_state saltusi_one_contact_planar(const double* data, double mu, const double* b,
                                                 double* r) {
  assert(data != NULL && b != NULL && r != NULL && mu >= 0.0);
  if (!(b[0] < 0.0) || data[0] == 0.0) {
    r[0] = r[1] = 0.0;
    return SALTUSI_CONTACT_OPEN;
  }
  double c = b[1] - data[2] * b[0];
  double rT = -c * data[3];
  double rN = -(b[0] + data[1] * rT) * data[0];
  if (rN > 0.0 && fabs(rT) <= mu * rN) {
    r[0] = rN;
    r[1] = rT;
    return SALTUSI_CONTACT_STICKS;
  }
  /* W_NN + slope W_NT > 0 whenever stick failed and W is positive definite; otherwise drop it */
  double slope = c > 0.0 ? -mu : mu;
  double along = data[4] + slope * data[1];
  rN = along > 0.0 ? -b[0] / along : -b[0] * data[0];
  r[0] = rN;
  r[1] = slope * rN;
  return SALTUSI_CONTACT_SLIPS;
}

/* r(a) and what Newton needs. */
typedef struct one_contact_slip_point {
  double r1, r2, rN;
  double A, D, inverse; /* diagonal of S + a I, 1 / its determinant */
} one_contact_slip_point;

static one_contact_slip_point slip_at(const double* data, const double* b, const double c[2],
                                      double a) {
  one_contact_slip_point p;
  p.A = data[S11] + a;
  p.D = data[S22] + a;
  p.inverse = 1.0 / (p.A * p.D - data[S12] * data[S21]);
  p.r1 = -(p.D * c[0] - data[S12] * c[1]) * p.inverse;
  p.r2 = -(p.A * c[1] - data[S21] * c[0]) * p.inverse;
  p.rN = -(b[0] + data[N1] * p.r1 + data[N2] * p.r2) * data[INV_NN];
  return p;
}

/* d psi / d a times |r_T|^2, from d r_T / d a = -(S + a I)^-1 r_T */
static double slip_slope(const double* data, double mu, const one_contact_slip_point* p, double t,
                         double n) {
  double d1 = -(p->D * p->r1 - data[S12] * p->r2) * p->inverse;
  double d2 = -(p->A * p->r2 - data[S21] * p->r1) * p->inverse;
  double dn = -mu * (data[N1] * d1 + data[N2] * d2) * data[INV_NN];
  double dt = (p->r1 * d1 + p->r2 * d2) / t;
  return dn * t - n * dt;
}

/* A point inside the bracket when Newton's method leaves it: multipliers span many orders of magnitude. */
static double bisect(double low, double high, double a, double size) {
  double next;
  if (!isfinite(high)) {
    next = 4.0 * a + size;
  } else {
    next = low > 0.0 ? sqrt(low) * sqrt(high) : slip_inside * high;
  }
  return next > low && next < high ? next : 0.5 * (low + high);
}

static one_contact_slip_point find_slip(const double* data, double mu, const double* b,
                                        const double c[2], double* slip) {
  double low = 0.0;
  double high = INFINITY;
  double a = *slip;
  one_contact_slip_point p = {0};
  for (int i = 0; i < 100; i++) {
    p = slip_at(data, b, c, a);
    double t2 = p.r1 * p.r1 + p.r2 * p.r2;
    double t = sqrt(t2);
    double n = mu * p.rN;
    double gap = n - t;
    if (fabs(gap) <= 2.0 * DBL_EPSILON * t) {
      break;
    }
    if (gap < 0.0) {
      low = a;
    } else {
      high = a;
    }
    double slope = slip_slope(data, mu, &p, t, n);
    double next = a - gap * t / slope;
    if (!(slope > 0.0) || !(next > low) || !(next < high)) {
      next = bisect(low, high, a, data[SIZE]);
    }
    if (fabs(next - a) <= 4.0 * DBL_EPSILON * (next + data[SIZE] * DBL_EPSILON)) {
      break;
    }
    a = next;
  }
  *slip = a;
  return p;
}

saltusi_contact_state saltusi_one_contact_spatial(const double* data, double mu, const double* b,
                                                  double* r, double* slip) {
  assert(data != NULL && b != NULL && r != NULL && slip != NULL);
  const bool bilateral = mu < 0.0;
  if ((!(b[0] < 0.0) && !bilateral) || data[INV_NN] == 0.0) {
    r[0] = r[1] = r[2] = 0.0;
    return SALTUSI_CONTACT_OPEN;
  }
  double c[2] = {b[1] - data[T1] * b[0], b[2] - data[T2] * b[0]};
  double r1 = -(data[I11] * c[0] + data[I12] * c[1]);
  double r2 = -(data[I21] * c[0] + data[I22] * c[1]);
  double rN = -(b[0] + data[N1] * r1 + data[N2] * r2) * data[INV_NN];
  double t2 = r1 * r1 + r2 * r2;
  if ((rN > 0.0 && t2 <= mu * mu * rN * rN) || bilateral) {
    r[0] = rN;
    r[1] = r1;
    r[2] = r2;
    return SALTUSI_CONTACT_STICKS;
  }
  double free_normal = -b[0] * data[INV_NN];
  if (!(mu > 0.0)) {
    r[0] = free_normal;
    r[1] = r[2] = 0.0;
    return SALTUSI_CONTACT_SLIPS;
  }
  if (!(*slip > 0.0 && *slip < slip_most * data[SIZE])) {
    /* estimate for |r_T| proportional to 1 / (1 + a / size) at constant normal impulse */
    double guess = data[SIZE] * (sqrt(t2) / (mu * free_normal) - 1.0);
    *slip = guess > 0.0 && isfinite(guess) ? guess : slip_first * data[SIZE];
  }
  one_contact_slip_point p = find_slip(data, mu, b, c, slip);
  double t = sqrt(p.r1 * p.r1 + p.r2 * p.r2);
  double n = p.rN > 0.0 ? p.rN : 0.0;
  double onto_cone = t > 0.0 ? mu * n / t : 0.0;
  r[0] = n;
  r[1] = p.r1 * onto_cone;
  r[2] = p.r2 * onto_cone;
  return SALTUSI_CONTACT_SLIPS;
}
