/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_history.c - see moreau_history.h.
 *
 * With means m_k = (z_k + z_{k-1}) / 2 of equal steps, an extrapolated mean m gives z_{k+1} = 2 m - z_k:
 *
 *   m_k                           z_{k-1}
 *   2 m_k - m_{k-1}               z_k + z_{k-1} - z_{k-2}
 *   3 m_k - 3 m_{k-1} + m_{k-2}   2 z_k - 2 z_{k-2} + z_{k-3}
 */
#include "scheme/moreau/moreau_history.h"

#include <assert.h>
#include <string.h>

enum { KEPT = 4 };

/* Layout of the memory: these, then z_k, z_{k-1}, .. */
enum { LENGTH, KNOWN, KIND, PARTS, HEAD };

/* Weights of z_k, z_{k-1}, ..; formulas with fewer past values come first. */
static const double ways[][KEPT] = {
    {1.0, 0.0, 0.0, 0.0},  {0.0, 1.0, 0.0, 0.0},  {2.0, -1.0, 0.0, 0.0}, {1.0, 1.0, -1.0, 0.0},
    {3.0, -3.0, 1.0, 0.0}, {2.0, 0.0, -2.0, 1.0}, {4.0, -6.0, 4.0, -1.0}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Number of formulas that need at most a given number of past values. */
static const int ways_of[KEPT + 1] = {0, 1, 3, 5, WAYS};

size_t saltusi_history_count(int nv, int nj) {
  assert(nv >= 0 && nj >= 0);
  return HEAD + KEPT * ((size_t)nv + (size_t)nj);
}

static double extrapolated(const double* restrict way, const double* restrict z, size_t n,
                           size_t i) {
  return way[0] * z[i] + way[1] * z[n + i] + way[2] * z[2 * n + i] + way[3] * z[3 * n + i];
}

/* Whether the step continues the stored history. */
static bool continues(const double* past, const saltusi_history_at* at) {
  return past != NULL && past[KNOWN] > 0.0 && past[LENGTH] == at->h &&
         memcmp(past + HEAD, at->v0, (size_t)at->nv * sizeof(double)) == 0;
}

saltusi_guess saltusi_history_guess(const double* past, const saltusi_history_at* at,
                                    saltusi_guess most, double* z) {
  assert(at != NULL && z != NULL);
  const size_t n = (size_t)at->nv + (size_t)at->nj;
  const bool known = past != NULL && past[KNOWN] > 0.0;
  if (most == SALTUSI_GUESS_CONTINUED && continues(past, at) && past[KIND] > 0.0) {
    const double* way = ways[(int)past[KIND]];
    for (size_t i = 0; i < n; i++) {
      z[i] = extrapolated(way, past + HEAD, n, i);
    }
    return SALTUSI_GUESS_CONTINUED;
  }
  const double scale = known ? at->h / past[LENGTH] : 0.0;
  memcpy(z, at->v0, (size_t)at->nv * sizeof(double));
  for (int r = 0; r < at->nj; r++) {
    z[at->nv + r] = known ? past[HEAD + at->nv + r] * scale : 0.0;
  }
  return known ? SALTUSI_GUESS_LAST : SALTUSI_GUESS_NOTHING;
}

/* Formula with the smallest error for the velocities of z, in one pass over them. */
static int best_way(const double* past, const saltusi_history_at* at, const double* z) {
  const size_t n = (size_t)at->nv + (size_t)at->nj;
  const int count = ways_of[(int)past[KNOWN]];
  double sum[WAYS] = {0.0};
  for (size_t i = 0; i < (size_t)at->nv; i++) {
    for (int k = 0; k < WAYS; k++) {
      const double miss = z[i] - extrapolated(ways[k], past + HEAD, n, i);
      sum[k] += miss * miss;
    }
  }
  int best = 0;
  for (int k = 1; k < count; k++) {
    best = sum[k] < sum[best] ? k : best;
  }
  return best;
}

void saltusi_history_keep(const double* before, const saltusi_history_at* at, bool follows,
                          const double* z, double* after) {
  assert(at != NULL && z != NULL && after != NULL);
  const size_t n = (size_t)at->nv + (size_t)at->nj;
  const bool continued = follows && continues(before, at);
  const int known = continued ? (int)before[KNOWN] : 0;
  const int kind = continued ? best_way(before, at, z) : 0;
  if (continued) {
    memmove(after + HEAD + n, before + HEAD, (KEPT - 1) * n * sizeof(double));
  } else {
    memset(after + HEAD + n, 0, (KEPT - 1) * n * sizeof(double));
  }
  memcpy(after + HEAD, z, n * sizeof(double));
  after[LENGTH] = at->h;
  after[KNOWN] = known < KEPT ? known + 1 : KEPT;
  after[KIND] = kind;
  after[PARTS] = 1.0;
}

int saltusi_history_parts(const double* past) {
  return past != NULL && past[PARTS] > 1.0 ? (int)past[PARTS] : 1;
}

void saltusi_history_set_parts(double* past, int parts) {
  assert(past != NULL && parts >= 1);
  past[PARTS] = parts;
}
