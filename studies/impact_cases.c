/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact_cases.c - see impact_cases.h.
 */
#include "impact_cases.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static double* G_at(impact_case* c, int velocity, int row) {
  return &c->G[velocity * IMPACT_ROWS + row];
}

/* W = G^T M^-1 G, U- = G^T v */
static void close_case(impact_case* c) {
  c->rows = 0;
  for (int i = 0; i < c->count; i++) {
    c->rows += 1 + c->contact[i].tangents;
    c->contact[i].law = i;
  }
  for (int r = 0; r < c->rows; r++) {
    c->u[r] = 0.0;
    for (int i = 0; i < c->nv; i++) {
      c->u[r] += *G_at(c, i, r) * c->v[i];
    }
    for (int s = 0; s < c->rows; s++) {
      double sum = 0.0;
      for (int i = 0; i < c->nv; i++) {
        for (int j = 0; j < c->nv; j++) {
          sum += *G_at(c, i, r) * c->inverse[i * c->nv + j] * *G_at(c, j, s);
        }
      }
      c->W[r * c->rows + s] = sum;
    }
  }
}

static void set_masses(impact_case* c, const double* mass) {
  for (int i = 0; i < c->nv; i++) {
    c->inverse[i * c->nv + i] = 1.0 / (mass != NULL ? mass[i] : 1.0);
  }
}

impact_case impact_chain(int balls, const double* mass) {
  assert(balls >= 2 && balls <= IMPACT_BODIES);
  impact_case c = {.nv = balls, .count = balls - 1, .v = {1.0}};
  set_masses(&c, mass);
  for (int i = 0; i + 1 < balls; i++) {
    *G_at(&c, i, i) = -1.0;
    *G_at(&c, i + 1, i) = 1.0;
  }
  close_case(&c);
  return c;
}

impact_case impact_column(int beads) {
  assert(beads >= 1 && beads <= IMPACT_BODIES);
  impact_case c = {.nv = beads, .count = beads};
  set_masses(&c, NULL);
  for (int i = 0; i < beads; i++) {
    c.v[i] = -1.0;
    *G_at(&c, i, i) = 1.0;
    if (i > 0) {
      *G_at(&c, i - 1, i) = -1.0;
    }
  }
  close_case(&c);
  return c;
}

impact_case impact_kane(void) {
  double a = acos(-1.0) / 9.0;
  double b = acos(-1.0) / 6.0;
  double m = 4.0 / 3.0;
  double n = 1.0 / 3.0;
  double k = cos(a - b) / 2.0;
  double det = m * n - k * k;
  impact_case c = {
      .nv = 2, .count = 1, .v = {-0.1, -0.2}, .inverse = {n / det, -k / det, -k / det, m / det}};
  *G_at(&c, 0, 0) = sin(a);
  *G_at(&c, 1, 0) = sin(b);
  *G_at(&c, 0, 1) = cos(a);
  *G_at(&c, 1, 1) = cos(b);
  c.contact[0] = (saltus_impact_contact){.name = "floor", .tangents = 1, .mu = 0.5, .e_N = 0.7};
  close_case(&c);
  return c;
}

/* A point at (x, y) of a planar body on a floor, v = (x', y', w). */
static void add_point(impact_case* c, int i, double x, double y) {
  *G_at(c, 1, 2 * i) = 1.0;
  *G_at(c, 2, 2 * i) = x;
  *G_at(c, 0, 2 * i + 1) = 1.0;
  *G_at(c, 2, 2 * i + 1) = -y;
  c->contact[i].tangents = 1;
}

impact_case impact_rod(double tilt, double s, double mu, double e) {
  const double mass[3] = {1.0, 1.0, 1.0 / 3.0};
  impact_case c = {.nv = 3, .count = 1, .v = {s, -1.0, 0.0}};
  set_masses(&c, mass);
  add_point(&c, 0, -cos(tilt), -sin(tilt));
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, mu, e, 0.0);
  return c;
}

impact_case impact_pair(double m, double J, double b, double h, const double v[3]) {
  const double mass[3] = {m, m, J};
  impact_case c = {.nv = 3, .count = 2, .v = {v[0], v[1], v[2]}};
  set_masses(&c, mass);
  add_point(&c, 0, -b, -h);
  add_point(&c, 1, b, -h);
  close_case(&c);
  return c;
}

impact_case impact_rod_in_space(double mu, double e) {
  const double r[3] = {-0.6, -0.48, -0.64};
  const int order[3] = {2, 0, 1}; /* normal up, then the tangents */
  const double v[3] = {0.4, -0.3, -1.0};
  double W[9];
  double u[3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) { /* 1 - X J^-1 X = 1 + 3 (|r|^2 1 - r r^T), |r| = 1 */
      W[i * 3 + j] = (order[i] == order[j] ? 4.0 : 0.0) - 3.0 * r[order[i]] * r[order[j]];
    }
    u[i] = v[order[i]];
  }
  impact_case c = impact_given(1, 2, W, u);
  impact_case_set(&c, SALTUS_IMPACT_ENERGETIC, mu, e, 0.0);
  memcpy(c.W, W, sizeof W);
  memcpy(c.u, u, sizeof u);
  return c;
}

impact_case impact_given(int count, int tangents, const double* W, const double* u) {
  impact_case c = {.count = count, .rows = count * (1 + tangents)};
  for (int i = 0; i < count; i++) {
    c.contact[i] = (saltus_impact_contact){.tangents = tangents, .law = i};
  }
  memcpy(c.W, W, (size_t)(c.rows * c.rows) * sizeof(double));
  memcpy(c.u, u, (size_t)c.rows * sizeof(double));
  return c;
}

void impact_case_set(impact_case* c, saltus_impact_law law, double mu, double e_N, double e_T) {
  for (int i = 0; i < c->count; i++) {
    c->contact[i].impact = law;
    c->contact[i].mu = mu;
    c->contact[i].e_N = e_N;
    c->contact[i].e_T = e_T;
  }
  if (c->nv > 0) {
    close_case(c);
  }
}

/* Kinetic energy after minus before, from M^-1 alone: (v+ - v-) . G P is v+ - v- times the momentum. */
static double change_of(const impact_case* c, const impact_outcome* out) {
  double sum = 0.0;
  for (int i = 0; i < c->nv; i++) {
    double momentum = 0.0;
    for (int r = 0; r < c->rows; r++) {
      momentum += c->G[i * IMPACT_ROWS + r] * out->P[r];
    }
    sum += 0.5 * momentum * (c->v[i] + out->v[i]);
  }
  return sum;
}

impact_outcome impact_case_solve(const impact_case* c, const saltus_impacts* rule) {
  impact_outcome out = {.status = SALTUS_OK};
  saltus_impact_solver* solver = NULL;
  out.status = saltus_impact_solver_create(c->count, c->rows, NULL, &solver);
  if (out.status != SALTUS_OK) {
    return out;
  }
  const saltus_impact impact = {
      .count = c->count, .rows = c->rows, .contact = c->contact, .W = c->W, .u = c->u};
  out.result.P = out.P;
  out.result.u = out.u;
  out.status = saltus_impact_solve(solver, rule, &impact, (saltus_log){0}, &out.result);
  saltus_impact_solver_destroy(solver);
  for (int i = 0; i < c->nv; i++) {
    out.v[i] = c->v[i];
    for (int j = 0; j < c->nv; j++) {
      double momentum = 0.0;
      for (int r = 0; r < c->rows; r++) {
        momentum += c->G[j * IMPACT_ROWS + r] * out.P[r];
      }
      out.v[i] += c->inverse[i * c->nv + j] * momentum;
    }
  }
  out.change = c->nv > 0 ? change_of(c, &out) : out.result.gain;
  return out;
}

enum { REACH = 8 };

double impact_reach(const impact_case* c) {
  double A[REACH * REACH];
  double x[REACH];
  double energy = 0.0;
  const int n = c->rows;
  memcpy(A, c->W, (size_t)(n * n) * sizeof(double));
  memcpy(x, c->u, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) { /* without pivots: W is positive definite */
    energy += 0.5 * x[i] * x[i] / A[i * n + i];
    for (int k = i + 1; k < n; k++) {
      const double factor = A[k * n + i] / A[i * n + i];
      x[k] -= factor * x[i];
      for (int j = i; j < n; j++) {
        A[k * n + j] -= factor * A[i * n + j];
      }
    }
  }
  return energy;
}

/* Knuth's generator; 0..1 */
static double next(uint64_t* seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static double bell(uint64_t* seed) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    sum += next(seed);
  }
  return sum;
}

/* W = A A^T with one column more than rows. */
static void random_product(uint64_t* seed, int n, double* W) {
  double A[REACH][REACH + 1];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n + 1; j++) {
      A[i][j] = bell(seed);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      W[i * n + j] = 0.0;
      for (int k = 0; k < n + 1; k++) {
        W[i * n + j] += A[i][k] * A[j][k];
      }
    }
  }
}

impact_case impact_random_two(uint64_t* seed, int tangents) {
  double W[16];
  double u[4];
  const int each = 1 + tangents;
  random_product(seed, 2 * each, W);
  for (int i = 0; i < 2; i++) {
    u[i * each] = i == 0 ? -1.0 : next(seed) < 0.5 ? 0.0 : -next(seed);
    if (tangents == 1) {
      u[i * each + 1] = bell(seed);
    }
  }
  impact_case c = impact_given(2, tangents, W, u);
  const double mu[2] = {next(seed), next(seed)};
  const double e = next(seed);
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, e, 0.0);
  for (int i = 0; i < 2; i++) {
    c.contact[i].mu = tangents == 1 ? mu[i] : 0.0;
  }
  c.contact[1].e_N = next(seed) < 0.5 ? e : next(seed);
  return c;
}

impact_case impact_random(uint64_t* seed, int d) {
  double W[9];
  double u[3] = {-1.0, 0.0, 0.0};
  random_product(seed, d, W);
  for (int k = 1; k < d; k++) {
    u[k] = 2.0 * bell(seed);
  }
  impact_case c = impact_given(1, d - 1, W, u);
  double mu = 1.5 * next(seed);
  double e = next(seed) < 0.3 ? 1.0 : next(seed);
  impact_case_set(&c, SALTUS_IMPACT_ENERGETIC, mu, e, 0.0);
  return c;
}
