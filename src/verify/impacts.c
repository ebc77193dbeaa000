/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impacts.c - impact laws of one contact other than Newton's, by independent formulas
 * (docs/theory/certificate.md, 4).
 *
 * One contact, W = [a b; b c] under the joint constraints, U+ = U- + W P:
 *
 *   without friction  every law with e as its only parameter: U_N+ = -e U_N-
 *   Poisson           P_c with U_N = 0, then P_N = P_c + e P_c + x, 0 <= x perp U_N+ >= 0, Coulomb's law on U_T + e_T U_T-
 *                     in both; as printed, friction of the second part is at most mu x
 *   paths             dU_N/dp = a + b tau, dU_T/dp = b + c tau, tau = -mu sign U_T or sticking, until U_N = -e U_N-
 *                     (Newton), p = (1 + e) p_c (Poisson), or the work of restitution is e^2 that of compression (Stronge)
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- Coulomb's law of one contact in the plane, case by case ---------------------------------------- */

/* u = data + W (x, T) with |T| <= mu x + bound against u_T, and u_N = 0 or x = 0. */
typedef struct impacts_plane {
  double W[4];
  double data[2];
  double mu, bound;
} impacts_plane;

/* The solution for one assumption, and whether it is consistent: sense 0 sticks, +-1 slips. */
static bool try_case(const impacts_plane* p, bool presses, int sense, double P[2]) {
  double a = p->W[0];
  double b = p->W[1];
  double c = p->W[3];
  double tol = 1e-9 * (fabs(p->data[0]) + fabs(p->data[1]));
  double x = 0.0;
  double T = 0.0;
  if (sense == 0) {
    double det = a * c - b * b;
    x = presses ? (-p->data[0] * c + p->data[1] * b) / det : 0.0;
    T = c > 0.0 ? -(p->data[1] + b * x) / c : 0.0;
  } else {
    double given = -sense * p->bound; /* T = -sense (mu x + bound) */
    double slope = -sense * p->mu;
    x = presses ? -(p->data[0] + b * given) / (a + b * slope) : 0.0;
    T = given + slope * x;
  }
  double u_N = p->data[0] + a * x + b * T;
  double u_T = p->data[1] + b * x + c * T;
  P[0] = x;
  P[1] = T;
  double least = -1e-9 * fabs(x);
  bool normal = x >= least && (presses || u_N >= -tol) && isfinite(x);
  bool friction =
      sense == 0 ? fabs(T) <= p->mu * x + p->bound + 1e-9 * fabs(T) : sense * u_T >= -tol;
  return normal && friction;
}

/* The solution, if all consistent cases agree. */
static bool solve_plane(const impacts_plane* p, double P[2]) {
  bool found = false;
  double size = 0.0;
  for (int k = 0; k < 6; k++) {
    double Q[2];
    if (!try_case(p, k < 3, k % 3 - 1, Q)) {
      continue;
    }
    double apart = found ? hypot(P[0] - Q[0], P[1] - Q[1]) : 0.0;
    size = fmax(size, hypot(Q[0], Q[1]));
    if (apart > 1e-7 * size) {
      return false; /* two solutions: the law does not determine which */
    }
    P[0] = Q[0];
    P[1] = Q[1];
    found = true;
  }
  return found;
}

static bool poisson(const saltus_contact_law* law, const double W[4], const double U[2],
                    double P[2]) {
  impacts_plane p = {.mu = law->mu, .data = {U[0], (1.0 + law->e_T) * U[1]}};
  memcpy(p.W, W, sizeof p.W);
  double first[2], second[2];
  if (!solve_plane(&p, first)) {
    return false;
  }
  double back = law->e_N * first[0];
  p.data[0] = U[0] + W[0] * (first[0] + back) + W[1] * first[1];
  p.data[1] = U[1] + W[1] * (first[0] + back) + W[3] * first[1] + law->e_T * U[1];
  p.bound = law->impact == SALTUS_IMPACT_POISSON_PRINTED ? 0.0 : law->mu * back;
  if (!solve_plane(&p, second)) {
    return false;
  }
  P[0] = first[0] + back + second[0];
  P[1] = first[1] + second[1];
  return true;
}

bool saltusi_newton_in_plane(const saltus_contact_law* law, const double* W, const double* U,
                             double* P) {
  assert(law != NULL && W != NULL && U != NULL && P != NULL);
  impacts_plane p = {.mu = law->mu, .data = {(1.0 + law->e_N) * U[0], (1.0 + law->e_T) * U[1]}};
  memcpy(p.W, W, sizeof p.W);
  return solve_plane(&p, P);
}

/* --- paths in the normal impulse -------------------------------------------------------------------- */

typedef struct impacts_path {
  const saltus_contact_law* law;
  double U[2], P[2];
  double before;  /* U_N- */
  double spent;   /* J, work of the normal impulse in compression, as a positive number */
  double pressed; /* N s, at its end */
  double given;   /* J, work in restitution so far */
  bool compressed;
} impacts_path;

/* The remaining impulse to the end, with U_N growing by rate. */
static double to_end(const impacts_path* p, double rate) {
  const saltus_contact_law* law = p->law;
  if (law->impact == SALTUS_IMPACT_PATH_NEWTON) {
    return (-law->e_N * p->before - p->U[0]) / rate;
  }
  if (!p->compressed) {
    return INFINITY;
  }
  if (law->impact == SALTUS_IMPACT_PATH_POISSON) {
    return (1.0 + law->e_N) * p->pressed - p->P[0];
  }
  /* U dp + rate dp^2 / 2 = remaining work of restitution */
  double left = law->e_N * law->e_N * p->spent - p->given;
  return 2.0 * left / (p->U[0] + sqrt(fmax(0.0, p->U[0] * p->U[0] + 2.0 * rate * left)));
}

/* Rates of U and P over p in a segment of slip in one direction or of sticking. */
typedef struct impacts_segment {
  double tau, rate_N, rate_T;
} impacts_segment;

static impacts_segment piece_of(const impacts_path* p, const double W[4]) {
  bool rests = p->U[1] == 0.0;
  bool sticks = rests && fabs(W[1]) <= p->law->mu * W[3];
  double sign = rests ? W[1] : p->U[1];
  double tau = sticks ? -W[1] / W[3] : sign > 0.0 ? -p->law->mu : p->law->mu;
  return (impacts_segment){tau, W[0] + W[1] * tau, sticks ? 0.0 : W[1] + W[3] * tau};
}

/* Advances by dp; turn: compression ends, stop: slip ends. */
static void advance(impacts_path* p, const impacts_segment* at, double dp, bool turn, bool stop) {
  double work = p->U[0] * dp + 0.5 * at->rate_N * dp * dp;
  p->spent -= p->compressed ? 0.0 : work;
  p->given += p->compressed ? work : 0.0;
  p->U[0] = turn ? 0.0 : p->U[0] + at->rate_N * dp;
  p->U[1] = stop ? 0.0 : p->U[1] + at->rate_T * dp;
  p->P[0] += dp;
  p->P[1] += at->tau * dp;
  p->pressed = turn ? p->P[0] : p->pressed;
  p->compressed = p->compressed || turn;
}

static bool follow_path(const saltus_contact_law* law, const double W[4], const double U[2],
                        double P[2]) {
  enum { PIECES = 8 };
  impacts_path p = {.law = law, .U = {U[0], U[1]}, .before = U[0]};
  for (int k = 0; k < PIECES; k++) {
    const impacts_segment at = piece_of(&p, W);
    double stop = at.rate_T * p.U[1] < 0.0 ? -p.U[1] / at.rate_T : INFINITY;
    double turn = !p.compressed && at.rate_N > 0.0 ? -p.U[0] / at.rate_N : INFINITY;
    double end = at.rate_N > 0.0 || p.compressed ? to_end(&p, at.rate_N) : INFINITY;
    end = !p.compressed && end < turn ? INFINITY : end; /* it ends in restitution */
    double dp = fmin(stop, fmin(turn, end));
    if (!(dp >= 0.0) || isinf(dp)) {
      return false;
    }
    advance(&p, &at, dp, dp == turn, dp == stop);
    if (dp == end) {
      P[0] = p.P[0];
      P[1] = p.P[1];
      return true;
    }
  }
  return false;
}

/* --- which law -------------------------------------------------------------------------------------- */

/* Whether this contact has a user-defined law. */
static bool own_law(const saltus_contact_law* law, int rows, const double* W, const double* U,
                    double* P) {
  const saltus_impact_contact contact = {.name = law->name,
                                         .tangents = law->tangents,
                                         .mu = law->mu,
                                         .e_N = law->e_N,
                                         .e_T = law->e_T,
                                         .stiffness = law->stiffness,
                                         .impact = law->impact,
                                         .own = law->own,
                                         .struck = true};
  const saltus_impact impact = {.count = 1, .rows = rows, .contact = &contact, .W = W, .u = U};
  return law->own != NULL && law->own->apply(law->own->self, &impact, P) == SALTUS_OK;
}

/* With the current coefficient. */
static bool strike(const saltus_contact_law* law, const double* W, const double* U, double* P) {
  int rows = 1 + law->tangents;
  P[0] = P[1] = P[2] = 0.0;
  if (law->impact == SALTUS_IMPACT_OWN) {
    return own_law(law, rows, W, U, P);
  }
  if (!(U[0] < 0.0) || !(W[0] > 0.0)) {
    return false;
  }
  if (law->tangents == 0 || !(law->mu > 0.0)) {
    P[0] = -(1.0 + law->e_N) * U[0] / W[0];
    return true;
  }
  if (law->tangents == 2) {
    return false; /* paths in space have no closed form */
  }
  bool is_poisson =
      law->impact == SALTUS_IMPACT_POISSON || law->impact == SALTUS_IMPACT_POISSON_PRINTED;
  return is_poisson ? poisson(law, W, U, P) : follow_path(law, W, U, P);
}

/* |U_T+ + e_T U_T-|, the velocity that friction opposes; *along: its product with U_T-. */
static double slip_after(const saltus_contact_law* law, const double* W, const double* U,
                         const double* P, double* along) {
  int rows = 1 + law->tangents;
  double size = 0.0;
  *along = 0.0;
  for (int k = 1; k < rows; k++) {
    double u = (1.0 + law->e_T) * U[k];
    for (int j = 0; j < rows; j++) {
      u += W[k * rows + j] * P[j];
    }
    size = hypot(size, u);
    *along += u * U[k];
  }
  return size;
}

/* A velocity-dependent coefficient is evaluated at the slip after the impact, by fixed-point
 * iteration. Several solutions may exist. The initial guess is the coefficient of the slip
 * before the impact, or that of sticking for a contact without slip or with a reversal. */
bool saltusi_impact(const saltus_contact_law* law, const double* W, const double* U, double* P) {
  assert(law != NULL && W != NULL && U != NULL && P != NULL);
  enum { ROUNDS = 20000 };
  const saltus_friction_law* f = law->friction;
  double before = law->tangents == 0 ? 0.0 : hypot(U[1], law->tangents > 1 ? U[2] : 0.0);
  if (f == NULL || f->curve == SALTUS_CURVE_CONSTANT || law->tangents == 0) {
    return strike(law, W, U, P);
  }
  double size = fabs(U[0]) + before;
  bool rests = !(before > 1e-9 * size);
  saltus_contact_law now = *law;
  now.mu = rests ? law->mu : saltusi_coefficient(law, before);
  double last = 0.0;
  for (int k = 0; k < ROUNDS && strike(&now, W, U, P); k++) {
    double along = 0.0;
    double slip = slip_after(law, W, U, P, &along);
    bool turns = k == 0 && !rests && along < 0.0;
    double way = (turns ? law->mu : saltusi_coefficient(law, slip)) - now.mu;
    if (!(slip > 1e-11 * size) || fabs(way) <= 1e-11 * law->mu) {
      return true;
    }
    now.mu += way * last < 0.0 ? 0.3 * way : way;
    last = turns ? 0.0 : way;
  }
  return false;
}
