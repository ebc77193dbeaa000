/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * anderson.c - see anderson.h.
 */
#include "math/anderson.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_anderson_layout(saltusi_anderson* m, int n, int depth, int measured,
                             saltus_arena* arena) {
  assert(m != NULL && arena != NULL && measured <= n && depth <= SALTUSI_MIXED);
  m->depth = depth;
  m->n = n;
  m->measured = measured;
  m->kept = 0;
  m->regularisation = 0.0;
  m->last_g = SALTUS_PUSH(arena, double, n);
  m->last_f = SALTUS_PUSH(arena, double, n);
  m->dg = SALTUS_PUSH2(arena, double, depth, n);
  m->df = SALTUS_PUSH2(arena, double, depth, n);
  m->gram = SALTUS_PUSH2(arena, double, depth, depth);
}

/* Stores the newest difference in slot `at` and updates the products. */
static void remember(saltusi_anderson* m, int at, const double* f, const double* g) {
  double* df = m->df + (size_t)at * (size_t)m->n;
  double* dg = m->dg + (size_t)at * (size_t)m->n;
  for (int i = 0; i < m->n; i++) {
    df[i] = f[i] - m->last_f[i];
    dg[i] = g[i] - m->last_g[i];
  }
  m->kept = at + 1 > m->kept ? at + 1 : m->kept;
  for (int k = 0; k < m->kept; k++) {
    double product = saltusi_long_dot(m->measured, df, m->df + (size_t)k * (size_t)m->n);
    m->gram[at * m->depth + k] = product;
    m->gram[k * m->depth + at] = product;
  }
}

/* gamma by the normal equations; zero for linearly dependent differences. */
static void weigh(const saltusi_anderson* m, const double* f, double* gamma) {
  const double nothing = 1e-14; /* of a diagonal entry: rounding of the products */
  double L[SALTUSI_MIXED][SALTUSI_MIXED] = {{0.0}};
  double added = 0.0;
  assert(m->kept <= SALTUSI_MIXED);
  for (int k = 0; k < m->kept; k++) {
    added += m->regularisation * m->gram[k * (m->depth + 1)];
  }
  for (int k = 0; k < m->kept; k++) {
    double sum = saltusi_long_dot(m->measured, f, m->df + (size_t)k * (size_t)m->n);
    for (int i = 0; i <= k; i++) {
      double entry = m->gram[k * m->depth + i] + (i == k ? added : 0.0);
      for (int l = 0; l < i; l++) {
        entry -= L[k][l] * L[i][l];
      }
      if (i < k) {
        L[k][i] = L[i][i] > 0.0 ? entry / L[i][i] : 0.0;
        sum -= L[k][i] * gamma[i];
      } else {
        L[k][k] = entry > nothing * m->gram[k * (m->depth + 1)] ? sqrt(entry) : 0.0;
      }
    }
    gamma[k] = L[k][k] > 0.0 ? sum / L[k][k] : 0.0;
  }
  for (int k = m->kept - 1; k >= 0; k--) {
    for (int l = k + 1; l < m->kept; l++) {
      gamma[k] -= L[l][k] * gamma[l];
    }
    gamma[k] = L[k][k] > 0.0 ? gamma[k] / L[k][k] : 0.0;
  }
}

void saltusi_mix_points(saltusi_anderson* m, int k, const double* f, double* g) {
  assert(m != NULL && k >= 0 && f != NULL && g != NULL);
  double gamma[SALTUSI_MIXED] = {0.0};
  size_t bytes = (size_t)m->n * sizeof(double);
  if (k == 0) {
    m->kept = 0;
  } else {
    remember(m, (k - 1) % m->depth, f, g);
    weigh(m, f, gamma);
  }
  memcpy(m->last_g, g, bytes);
  memcpy(m->last_f, f, bytes);
  for (int i = 0; i < m->kept; i++) {
    saltusi_add_scaled(m->n, -gamma[i], m->dg + (size_t)i * (size_t)m->n, g);
  }
}

void saltusi_mix(saltusi_anderson* m, int k, const double* f, double* z) {
  assert(m != NULL && f != NULL && z != NULL);
  saltusi_add_scaled(m->n, 1.0, f, z);
  saltusi_mix_points(m, k, f, z);
}
