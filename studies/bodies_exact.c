/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_exact.c - mechanisms by Jacobi's functions. A pendulum th'' = -w^2 sin th from th0 at rest:
 *
 *   sin(th/2) = k sn(K + w t),  k = sin(th0/2)
 *
 * Upright with th'' = w^2 sin th and th'(0) = 1 it turns over: with W^2 = 1 + 4 w^2, m = 4 w^2/W^2 and u = -K + W t/2
 * its angle from below is 2 am u. Parallelograms of N windows and uniform links move like that with
 * w^2 = g ((N + 1)/2 + N)/((N + 1)/3 + N), since every coupler moves along a circle without turning.
 *
 * Symmetric top on its tip (Lagrange): u = cos th, released at u0 with spin s alone. With a = 2 m g l/I1, b = I3 s/I1
 *
 *   u'^2 = (u0 - u) (a (1 - u^2) - b^2 (u0 - u)) = a (u0 - u)(u - u1)(u2 - u)
 *   u = u1 + (u0 - u1) sn^2(K + r t),   r = sqrt(a (u2 - u1))/2,   m = (u0 - u1)/(u2 - u1)
 *   phi' = b (u0 - u)/(1 - u^2)         psi' = s - phi' u
 *
 * and by partial fractions, with n1 = (u0 - u1)/(1 - u1), n2 = -(u0 - u1)/(1 + u1),
 * P = (u0 - 1)/2 Pi(n1; am)/(1 - u1), Q = (u0 + 1)/2 Pi(n2; am)/(1 + u1), each from K to K + r t:
 *
 *   phi = b/r (P + Q)      psi = s t - b t - b/r (P - Q)
 */
#include "bodies_exact.h"

#include "measure/elliptic.h"

#include <math.h>
#include <stddef.h>

static const double g = 9.81;

void bodies_table_at(const bodies_table* table, double t, double* out) {
  int stride = 1 + table->width;
  double gap = table->numbers[stride] - table->numbers[0];
  int row = (int)lround((t - table->numbers[0]) / gap);
  row = row < 0 ? 0 : row >= table->rows ? table->rows - 1 : row;
  const double* numbers = table->numbers + (ptrdiff_t)row * stride;
  for (int i = 0; i < table->width; i++) {
    out[i] = fabs(numbers[0] - t) <= 1e-3 * gap ? numbers[1 + i] : (double)NAN;
  }
}

void bodies_pendulum(double t, double* out) {
  const double k = sqrt(0.5);
  saltusi_jacobi j = saltusi_jacobi_of(saltusi_elliptic_k(0.5) + sqrt(g) * t, 0.5);
  double half_sin = -k * j.sn; /* angle from the vertical, to the left */
  double half_cos = sqrt(1.0 - half_sin * half_sin);
  out[0] = 2.0 * half_sin * half_cos;
  out[1] = 2.0 * half_sin * half_sin - 1.0;
}

/* Square of the rate of a parallelogram of uniform links of 1 m. */
static double four_bar_rate2(int windows) {
  double n = windows;
  return g * (0.5 * (n + 1.0) + n) / ((n + 1.0) / 3.0 + n);
}

/* With any rate at the start. */
static void four_bar(int windows, double rate, double t, double* out) {
  double w2 = four_bar_rate2(windows);
  double W2 = rate * rate + 4.0 * w2;
  double mc = rate * rate / W2;
  saltusi_jacobi j = saltusi_jacobi_of(0.5 * sqrt(W2) * t - saltusi_elliptic_k(mc), mc);
  out[0] = -2.0 * j.sn * j.cn;
  out[1] = 2.0 * j.sn * j.sn - 1.0;
}

void bodies_four_bar(int windows, double t, double* out) {
  four_bar(windows, 1.0, t, out);
}

/* At the bottom the square of the rate is 1 + 4 w^2: a part e of the velocity there is (1 + 4 w^2) e above. */
double bodies_four_bar_amplification(int windows, double until) {
  const double part = 1e-7;
  double rate = 1.0 + (1.0 + 4.0 * four_bar_rate2(windows)) * part;
  double K = 1.0;
  for (int k = 1; k <= 1000; k++) {
    double a[2], b[2];
    four_bar(windows, 1.0, until * k / 1000, a);
    four_bar(windows, rate, until * k / 1000, b);
    K = fmax(K, fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1])) / part);
  }
  return K;
}

void bodies_hanging_four_bar(double angle, double t, double* out) {
  double k = sin(0.5 * angle);
  double mc = cos(0.5 * angle) * cos(0.5 * angle);
  saltusi_jacobi j = saltusi_jacobi_of(saltusi_elliptic_k(mc) + sqrt(four_bar_rate2(1)) * t, mc);
  double half_sin = k * j.sn;
  out[0] = -2.0 * half_sin * sqrt(1.0 - half_sin * half_sin);
  out[1] = 2.0 * half_sin * half_sin - 1.0;
  out[2] = 0.0;
}

/* w = (A1 cn, A2 sn, A3 dn)(p t + K); differences of energy and momentum are formed without cancellation. */
void bodies_free_rotation(double t, double* out) {
  const double I1 = 1.0, I2 = 10.0, I3 = 11.0, w2 = 2.0, w3 = 1e-4;
  double above = I2 * (I3 - I2) * w2 * w2;                                /* 2 T I3 - L^2 */
  double below = I2 * (I2 - I1) * w2 * w2 + I3 * (I3 - I1) * w3 * w3;     /* L^2 - 2 T I1 */
  double mc = (I3 - I1) * I3 * (I3 - I2) * w3 * w3 / ((I3 - I2) * below); /* from L^2 - 2 T I2 */
  double p = sqrt((I3 - I2) * below / (I1 * I2 * I3));
  saltusi_jacobi j = saltusi_jacobi_of(p * t + saltusi_elliptic_k(mc), mc);
  out[0] = sqrt(above / (I1 * (I3 - I1))) * j.cn;
  out[1] = sqrt(above / (I2 * (I3 - I2))) * j.sn;
  out[2] = sqrt(below / (I3 * (I3 - I1))) * j.dn;
}

/* ---- the heavy top ------------------------------------------------------------------------- */

typedef struct top_form {
  double b, u0, u1, rate, mc, K;
  double n1, n2;
} top_form;

static top_form form_of(const bodies_top* top) {
  double a = 2.0 * top->m_g_l / top->I1;
  double b = top->I3 * top->spin / top->I1;
  double u0 = cos(top->tilt);
  /* a u^2 - b^2 u + b^2 u0 - a = 0; the product of the roots gives the smaller one without cancellation */
  double root = sqrt(b * b * b * b - 4.0 * a * (b * b * u0 - a));
  double u2 = 0.5 * (b * b + root) / a;
  double u1 = (b * b * u0 - a) / (a * u2);
  top_form f = {.b = b, .u0 = u0, .u1 = u1, .rate = 0.5 * sqrt(a * (u2 - u1))};
  f.mc = (u2 - u0) / (u2 - u1);
  f.K = saltusi_elliptic_k(f.mc);
  f.n1 = (u0 - u1) / (1.0 - u1);
  f.n2 = -(u0 - u1) / (1.0 + u1);
  return f;
}

/* Both angles at the amplitude am, counted from that of K. */
static void precess(const top_form* f, double am, double* sum, double* difference) {
  const double quarter = 0.5 * 3.14159265358979323846;
  double P = saltusi_elliptic_pi(f->n1, am, f->mc) - saltusi_elliptic_pi(f->n1, quarter, f->mc);
  double Q = saltusi_elliptic_pi(f->n2, am, f->mc) - saltusi_elliptic_pi(f->n2, quarter, f->mc);
  P *= 0.5 * (f->u0 - 1.0) / (1.0 - f->u1);
  Q *= 0.5 * (f->u0 + 1.0) / (1.0 + f->u1);
  *sum = f->b / f->rate * (P + Q);
  *difference = f->b / f->rate * (P - Q);
}

void bodies_heavy_top(const bodies_top* top, double t, double* out) {
  top_form f = form_of(top);
  saltusi_jacobi j = saltusi_jacobi_of(f.K + f.rate * t, f.mc);
  double sum, difference;
  precess(&f, j.am, &sum, &difference);
  double cos_th = f.u1 + (f.u0 - f.u1) * j.sn * j.sn;
  double sin_th = sqrt(1.0 - cos_th * cos_th);
  double phi = sum, psi = (top->spin - f.b) * t - difference;
  /* R = Rz(phi) Ry(th) Rz(psi) */
  const double axis[3] = {cos(phi) * sin_th, sin(phi) * sin_th, cos_th};
  const double x[3] = {cos(phi) * cos_th * cos(psi) - sin(phi) * sin(psi),
                       sin(phi) * cos_th * cos(psi) + cos(phi) * sin(psi), -sin_th * cos(psi)};
  for (int i = 0; i < 3; i++) {
    out[i] = top->l * axis[i];
    out[3 + i] = out[i] + top->rim * x[i];
  }
}

void bodies_nutation(const bodies_top* top, double* period, double* lowest, double* precession) {
  top_form f = form_of(top);
  double difference;
  *period = 2.0 * f.K / f.rate;
  *lowest = f.u1;
  precess(&f, 1.5 * 3.14159265358979323846, precession, &difference);
}
