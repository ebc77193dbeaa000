/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * index_forms.c - implicit Runge-Kutta methods on a system with a joint in three forms of its smooth phases (Acary 2009,
 * section 7; docs/theory/event-capturing.md, 2.5). The scheme of each method has index 1; the other forms are solved
 * here by Newton's method, on a bead with drag on the wire y = -cos x, pushed by 2 cos 3t, G = grad g:
 *
 *   index 1    v' = f + G lambda,  G^T v' + c = 0    an ordinary differential equation
 *   index 2    q' = v,             G^T v = 0         g drifts by the error of the method
 *   GGL        q' = v + G mu,      G^T v = 0,  g = 0 Gear, Gupta and Leimkuhler 1985
 *
 * Orders of index 2 for s stages (Hairer and Wanner, Solving ODEs II, table VII.4.1): Radau IIA 2 s - 1 of q and s of
 * lambda; Gauss s + 1 of (q, v) for odd s and s for even s, where the classical order is 2 s; Lobatto IIIA 2 s - 2 of q.
 */
#include "study.h"

#include "math/matrix.h"
#include "scheme/event/runge_kutta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STAGES = 4, UNKNOWNS = 6, ALL = STAGES * UNKNOWNS };

typedef enum form_of { INDEX_2, GGL } form_of;

/* One stage: q' and v' in the plane, lambda, mu. */
typedef struct stage {
  double dq[2], dv[2], lambda, mu;
} stage;

typedef struct problem {
  const saltusi_tableau* method;
  form_of form;
  double t, h, q[2], v[2];
  double lambda; /* at the start, which is the first stage of Lobatto IIIA */
} problem;

/* The wire, its gradient and the force. */
static double gap(const double q[2]) {
  return q[1] + cos(q[0]);
}

static void gradient(const double q[2], double G[2]) {
  G[0] = -sin(q[0]);
  G[1] = 1.0;
}

static void force(double t, const double v[2], double f[2]) {
  f[0] = 2.0 * cos(3.0 * t) - 0.3 * v[0];
  f[1] = -9.81 - 0.3 * v[1];
}

static int unknowns_of(const problem* p) {
  return p->form == GGL ? 6 : 5;
}

/* Equations of all stages; the constraint of a stage without weights holds at the start, which leaves its forces free:
 * they are those of the last step. */
static void residual(const problem* p, const double* x, double* R) {
  const int s = p->method->stages;
  const int n = unknowns_of(p);
  for (int i = 0; i < s; i++) {
    const double* k = x + (size_t)i * (size_t)n;
    double* r = R + (size_t)i * (size_t)n;
    double q[2] = {p->q[0], p->q[1]};
    double v[2] = {p->v[0], p->v[1]};
    double weight = 0.0;
    for (int j = 0; j < s; j++) {
      const double a = p->h * p->method->a[i][j];
      weight = fmax(weight, fabs(a));
      for (int c = 0; c < 2; c++) {
        q[c] += a * x[j * n + c];
        v[c] += a * x[j * n + 2 + c];
      }
    }
    const double mu = n == 6 ? k[5] : 0.0;
    double G[2], f[2];
    gradient(q, G);
    force(p->t + p->method->c[i] * p->h, v, f);
    for (int c = 0; c < 2; c++) {
      r[c] = k[c] - v[c] - G[c] * mu;
      r[2 + c] = k[2 + c] - f[c] - G[c] * k[4];
    }
    r[4] = weight > 0.0 ? G[0] * v[0] + G[1] * v[1] : k[4] - p->lambda;
    if (n == 6) {
      r[5] = weight > 0.0 ? gap(q) : mu;
    }
  }
}

/* Newton's method with differences; false: no solution. */
static bool solve(const problem* p, double* x) {
  enum { NEWTON_MAX = 30 };
  static const double difference = 1e-7;
  const int n = p->method->stages * unknowns_of(p);
  double R[ALL], S[ALL], J[ALL * ALL];
  int pivot[ALL];
  double before = INFINITY;
  for (int k = 0; k < NEWTON_MAX; k++) {
    residual(p, x, R);
    for (int j = 0; j < n; j++) {
      const double kept = x[j];
      x[j] += difference;
      residual(p, x, S);
      x[j] = kept;
      for (int i = 0; i < n; i++) {
        J[i * n + j] = (S[i] - R[i]) / difference;
      }
    }
    if (!saltusi_lu_factor(n, J, pivot, 1e-14)) {
      return false;
    }
    saltusi_lu_solve(n, J, pivot, R);
    saltusi_add_scaled(n, -1.0, R, x);
    const double moved = saltusi_max_abs(n, R);
    if (moved <= 1e-12 || (moved < 1e-8 && moved >= before)) {
      return true;
    }
    before = moved;
  }
  return false;
}

/* Order of q, and of lambda at the last stage, from the errors with n and 2 n steps to 2 s. */
typedef struct outcome {
  double q, v, lambda;
  double gap; /* |g| at the end with 2 n steps */
} outcome;

static bool swing(const saltusi_tableau* method, form_of form, int steps, double q[2], double v[2],
                  double* lambda) {
  problem p = {.method = method,
               .form = form,
               .h = 2.0 / steps,
               .q = {0.5, -cos(0.5)},
               .v = {0.7, 0.7 * sin(0.5)}};
  double G[2], f[2];
  gradient(p.q, G);
  force(0.0, p.v, f);
  p.lambda = -(G[0] * f[0] + G[1] * f[1] - cos(p.q[0]) * p.v[0] * p.v[0]) / (G[0] * G[0] + 1.0);
  const int n = unknowns_of(&p);
  double x[ALL];
  for (int step = 0; step < steps; step++) {
    memset(x, 0, sizeof x);
    for (int i = 0; i < method->stages; i++) {
      memcpy(x + (size_t)i * (size_t)n, p.v, sizeof p.v);
      x[i * n + 4] = p.lambda;
    }
    if (!solve(&p, x)) {
      return false;
    }
    for (int i = 0; i < method->stages; i++) {
      saltusi_add_scaled(2, p.h * method->b[i], x + (size_t)i * (size_t)n, p.q);
      saltusi_add_scaled(2, p.h * method->b[i], x + (size_t)i * (size_t)n + 2, p.v);
    }
    p.lambda = x[(method->stages - 1) * n + 4];
    p.t = (step + 1) * p.h;
  }
  memcpy(q, p.q, sizeof p.q);
  memcpy(v, p.v, sizeof p.v);
  *lambda = p.lambda;
  return true;
}

static bool measure(const saltusi_tableau* method, form_of form, int steps, const double exact[5],
                    outcome* found) {
  double e[2], u[2], l[2];
  for (int i = 0; i < 2; i++) {
    double q[2], v[2], lambda;
    if (!swing(method, form, steps << i, q, v, &lambda)) {
      return false;
    }
    e[i] = hypot(q[0] - exact[0], q[1] - exact[1]);
    u[i] = hypot(v[0] - exact[2], v[1] - exact[3]);
    l[i] = fabs(lambda - exact[4]);
    found->gap = fabs(gap(q));
  }
  found->q = log2(e[0] / e[1]);
  found->v = log2(u[0] / u[1]);
  found->lambda = log2(l[0] / l[1]);
  return true;
}

typedef struct index_case {
  const saltusi_tableau* method;
  int steps;
  double q[2];   /* orders of q in index 2 and GGL */
  double v;      /* order of v in both */
  double lambda; /* order of lambda; 0: the last stage is not the end */
} index_case;

static const index_case cases[] = {
    {&saltusi_radau_iia_1, 2000, {1.0, 1.0}, 1.0, 1.0},
    {&saltusi_radau_iia_3, 200, {3.0, 3.0}, 3.0, 2.0},
    {&saltusi_radau_iia_5, 60, {5.0, 5.0}, 5.0, 3.0},
    {&saltusi_gauss_2, 200, {2.0, 2.0}, 2.0, 0.0},
    {&saltusi_gauss_4, 200, {4.0, 2.0}, 2.0, 0.0},
    {&saltusi_gauss_6, 100, {6.0, 4.0}, 4.0, 0.0},
    {&saltusi_lobatto_iiia_2, 200, {2.0, 2.0}, 2.0, 0.0},
    {&saltusi_lobatto_iiia_4, 100, {4.0, 4.0}, 4.0, 0.0},
};

static int run(const cli_args* args, study_report* report) {
  (void)args;
  double exact[5];
  if (!swing(&saltusi_radau_iia_5, GGL, 4000, exact, exact + 2, exact + 4)) {
    return CLI_FAILED;
  }
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    static const char* const names[] = {"index 2", "GGL"};
    for (form_of form = INDEX_2; form <= GGL; form++) {
      outcome found;
      char id[96];
      if (!measure(cases[k].method, form, cases[k].steps, exact, &found)) {
        return CLI_FAILED;
      }
      snprintf(id, sizeof id, "order of q, %s, %s", names[form], cases[k].method->name);
      study_claim_range(report, id, found.q, cases[k].q[form] - 0.3, cases[k].q[form] + 0.3);
      snprintf(id, sizeof id, "order of v, %s, %s", names[form], cases[k].method->name);
      study_claim_range(report, id, found.v, cases[k].v - 0.3, cases[k].v + 0.3);
      if (cases[k].lambda > 0.0) {
        snprintf(id, sizeof id, "order of lambda, %s, %s", names[form], cases[k].method->name);
        study_claim_range(report, id, found.lambda, cases[k].lambda - 0.3, cases[k].lambda + 0.3);
      }
      if (form == GGL && cases[k].lambda > 0.0) { /* the end is a stage, with g = 0 */
        snprintf(id, sizeof id, "gap of the joint at the end, GGL, %s", cases[k].method->name);
        study_claim_most(report, id, found.gap, 1e-11);
      }
    }
  }
  return CLI_DONE;
}

const study study_index_forms = {
    .name = "index-forms",
    .summary = "implicit methods with a joint on velocity level and in the GGL form",
    .source = "Acary 2009, section 7; Hairer and Wanner 1996, table VII.4.1",
    .run = run,
};
