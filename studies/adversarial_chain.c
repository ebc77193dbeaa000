/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_chain.c - chains of balls that touch, hit from one or both ends, against Newton's impact of
 * all contacts at once:
 *
 *   0 <= P, U+ + e U- >= 0, P (U+ + e U-) = 0      U = G v,  v+ = v- + M^-1 G^T P
 *
 * For equal balls that rest and are hit by ball 1 of N with speed 1:  v_1 = 1 - (N-1)(1+e)/N, others
 * (1+e)/N. Else the problem is solved here, dense, in long double: W = G M^-1 G^T is an M-matrix, so that
 * taking in every row that is violated never takes out another (Chandrasekaran 1970).
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdlib.h>

typedef root_real real;

enum { BALLS = 100 };

typedef struct chain {
  int count;
  double mass[BALLS], q[BALLS], v[BALLS], width; /* gap = q_(i+1) - q_i - width */
  double e;
} chain;

/* Solves A x = b, n <= BALLS, by elimination; W of a part of a chain is positive definite. */
static void eliminate(int n, real (*A)[BALLS], real* b) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      real f = A[i][k] / A[k][k];
      for (int j = k; j < n && f != 0.0L; j++) {
        A[i][j] -= f * A[k][j];
      }
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      b[k] -= A[k][j] * b[j];
    }
    b[k] /= A[k][k];
  }
}

static real entry(const chain* c, int i, int j) {
  if (i == j) {
    return 1.0L / c->mass[i] + 1.0L / c->mass[i + 1];
  }
  int ball = i > j ? i : j;
  return abs(i - j) == 1 ? -1.0L / c->mass[ball] : 0.0L;
}

/* Impulses [count - 1]; the part of the complementarity that is left, which is round-off. */
static real solve_impact(const chain* c, real* P) {
  static const real least = 1e-17L;
  int n = c->count - 1;
  real b[BALLS];
  bool inside[BALLS] = {false};
  real(*A)[BALLS] = calloc(BALLS, sizeof *A);
  real left = HUGE_VALL;
  for (int i = 0; i < n; i++) {
    real u = (real)c->v[i + 1] - c->v[i];
    b[i] = u + (u < 0.0L ? c->e * u : 0.0L);
    P[i] = 0.0L;
  }
  for (bool more = A != NULL; more;) {
    more = false;
    left = 0.0L;
    for (int i = 0; i < n; i++) {
      real w = b[i];
      for (int j = 0; j < n; j++) {
        w += entry(c, i, j) * P[j];
      }
      if (!inside[i] && w < -least) {
        inside[i] = more = true;
      }
      left = fmaxl(left, inside[i] ? fabsl(w) : fmaxl(0.0L, -w));
      left = fmaxl(left, -P[i]);
    }
    int rows[BALLS];
    int count = 0;
    real x[BALLS];
    for (int i = 0; i < n; i++) {
      if (inside[i]) {
        x[count] = -b[i];
        rows[count++] = i;
      }
    }
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) {
        A[i][j] = entry(c, rows[i], rows[j]);
      }
    }
    if (more) {
      eliminate(count, A, x);
    }
    for (int i = 0; i < count && more; i++) {
      P[rows[i]] = x[i];
    }
  }
  free(A);
  return left;
}

static void say_chain(adversarial_case* c, const chain* s, double t_end) {
  case_say(c, "saltus: 1\nname: chain of %d balls, number %d\ncoordinates:\n", s->count, c->number);
  for (int i = 0; i < s->count; i++) {
    case_say(c, "  x%d: {start: %.17g, velocity: %.17g}\n", i, s->q[i], s->v[i]);
  }
  case_say(c, "kinetic: >-\n  0");
  for (int i = 0; i < s->count; i++) {
    case_say(c, "\n  + %.17g*x%d'^2", s->mass[i] / 2.0, i);
  }
  case_say(c, "\ncontacts:\n");
  for (int i = 0; i + 1 < s->count; i++) {
    case_say(c, "  - {name: c%d, gap: x%d - x%d - %.17g, restitution: %.17g}\n", i, i + 1, i,
             s->width, s->e);
  }
  case_say(c, "simulate: {until: %.17g}\n", t_end);
}

/* Free motion, one impact at t, free motion. */
static bool expect(adversarial_case* c, const chain* s, double t, double t_end) {
  real P[BALLS];
  real after[BALLS] = {0};
  if (!case_create(c, s->count, s->count, 0) || solve_impact(s, P) > 1e-15L) {
    return false;
  }
  for (int i = 0; i < s->count; i++) {
    real push = (i > 0 ? P[i - 1] : 0.0L) - (i + 1 < s->count ? P[i] : 0.0L);
    after[i] = s->v[i] + push / s->mass[i];
  }
  for (int i = 0; i + 1 < s->count; i++) {
    if (s->v[i + 1] < s->v[i]) {
      c->impacts[c->impact_count++] = (expected_impact){t, s->v[i + 1] - s->v[i], i, 1.0};
    }
  }
  for (int k = 0; k < CASE_FRAMES; k++) {
    c->frame_t[k] = t_end * k / (CASE_FRAMES - 1);
    c->frame_K[k] = 1.0;
    real before = fminl(c->frame_t[k], t);
    for (int i = 0; i < c->n; i++) {
      c->frame_q[k * c->n + i] =
          (double)(s->q[i] + s->v[i] * before + after[i] * (c->frame_t[k] - before));
    }
  }
  for (int i = 0; i < c->n; i++) {
    c->q_end[i] = c->frame_q[(CASE_FRAMES - 1) * c->n + i];
    c->v_end[i] = (double)after[i];
  }
  c->t_end = t_end;
  c->K_end = 1.0;
  c->tol_least = 1e-10;
  c->unit = 1e-13; /* they agree to 1e-12 whatever the tolerance */
  return true;
}

/* The formula for equal balls against the solution of the problem. */
static bool formula_holds(const adversarial_case* c, double e) {
  double N = c->n;
  for (int i = 0; i < c->n; i++) {
    double v = i == 0 ? 1.0 - (N - 1.0) * (1.0 + e) / N : (1.0 + e) / N;
    if (fabs(c->v_end[i] - v) > 1e-14) {
      return false;
    }
  }
  return true;
}

static bool chains(adversarial_case* c, int number) {
  static const int sizes[] = {3, 5, 20, 30, 100};
  static const double restitutions[] = {0.0, 0.5, 0.9, 1.0};
  case_random r = case_random_of(c->family, number);
  bool equal = number < 20;
  bool both = !equal && case_choice(&r, 2) == 0;
  chain s = {.width = 1.0};
  s.count = equal ? sizes[number % 5] : 3 + case_choice(&r, number % 4 == 0 ? 38 : 10);
  s.e = equal ? restitutions[number / 5] : case_uniform(&r, 0.0, 1.0);
  double way = equal ? 0.5 : 0.25; /* binary fractions: the gaps of the chain are zero to the bit */
  for (int i = 0; i < s.count; i++) {
    s.mass[i] = equal ? 1.0 : case_decade(&r, -1.0, 1.0);
    s.q[i] = i * s.width;
  }
  s.q[0] -= way;
  s.v[0] = 1.0;
  if (both) {
    s.q[s.count - 1] += way;
    s.v[s.count - 1] = -1.0;
  }
  say_chain(c, &s, 2.0 * way);
  return expect(c, &s, way, 2.0 * way) && (!equal || formula_holds(c, s.e));
}

const case_family case_chains[] = {{"chains", 60, chains, true, "impacts"}, {0}};
