/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_lanes.h - common parts of the visits of groups of contacts (body_groups.h).
 */
#ifndef SALTUSI_BODY_LANES_H
#define SALTUSI_BODY_LANES_H

#include "solve/body_space/body_groups.h"

#include <math.h>

/* Velocities of the first and the second bodies of a group, number by number. */
typedef struct saltusi_pairs {
  saltusi_lanes a[SALTUSI_BODY_WIDTH], b[SALTUSI_BODY_WIDTH];
} saltusi_pairs;

/* Four bodies, each six consecutive numbers, to six vectors and back. With vector permutations this takes 22 operations
 * instead of 40, and loads match the stores before them, so that there are no store-forwarding stalls. */
#if defined(__clang__) || __GNUC__ >= 12
SALTUSI_ALWAYS_INLINE void saltusi_transpose(double* const from[SALTUSI_LANES], saltusi_lanes* to) {
  saltusi_lanes r[SALTUSI_LANES];
  saltusi_halves h[SALTUSI_LANES];
  for (int l = 0; l < SALTUSI_LANES; l++) {
    r[l] = *(const saltusi_lanes*)from[l];
    h[l] = *(const saltusi_halves*)(from[l] + SALTUSI_LANES);
  }
  const saltusi_lanes a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  const saltusi_lanes b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  const saltusi_lanes c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  const saltusi_lanes d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  const saltusi_lanes e = __builtin_shufflevector(h[0], h[2], 0, 1, 2, 3);
  const saltusi_lanes f = __builtin_shufflevector(h[1], h[3], 0, 1, 2, 3);
  to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  to[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  to[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  to[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  to[4] = __builtin_shufflevector(e, f, 0, 4, 2, 6);
  to[5] = __builtin_shufflevector(e, f, 1, 5, 3, 7);
}

SALTUSI_ALWAYS_INLINE void saltusi_transpose_back(const saltusi_lanes* from,
                                                  double* const to[SALTUSI_LANES]) {
  const saltusi_lanes a = __builtin_shufflevector(from[0], from[1], 0, 4, 2, 6);
  const saltusi_lanes b = __builtin_shufflevector(from[0], from[1], 1, 5, 3, 7);
  const saltusi_lanes c = __builtin_shufflevector(from[2], from[3], 0, 4, 2, 6);
  const saltusi_lanes d = __builtin_shufflevector(from[2], from[3], 1, 5, 3, 7);
  const saltusi_lanes e = __builtin_shufflevector(from[4], from[5], 0, 4, 2, 6);
  const saltusi_lanes f = __builtin_shufflevector(from[4], from[5], 1, 5, 3, 7);
  *(saltusi_lanes*)to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  *(saltusi_lanes*)to[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  *(saltusi_lanes*)to[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  *(saltusi_lanes*)to[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  *(saltusi_halves*)(to[0] + SALTUSI_LANES) = __builtin_shufflevector(e, e, 0, 1);
  *(saltusi_halves*)(to[1] + SALTUSI_LANES) = __builtin_shufflevector(f, f, 0, 1);
  *(saltusi_halves*)(to[2] + SALTUSI_LANES) = __builtin_shufflevector(e, e, 2, 3);
  *(saltusi_halves*)(to[3] + SALTUSI_LANES) = __builtin_shufflevector(f, f, 2, 3);
}
#else
SALTUSI_ALWAYS_INLINE void saltusi_transpose(double* const from[SALTUSI_LANES], saltusi_lanes* to) {
  for (int k = 0; k < SALTUSI_BODY_WIDTH; k++) {
    to[k] = (saltusi_lanes){from[0][k], from[1][k], from[2][k], from[3][k]};
  }
}

SALTUSI_ALWAYS_INLINE void saltusi_transpose_back(const saltusi_lanes* from,
                                                  double* const to[SALTUSI_LANES]) {
  for (int k = 0; k < SALTUSI_BODY_WIDTH * SALTUSI_LANES; k++) {
    to[k % SALTUSI_LANES][k / SALTUSI_LANES] = from[k / SALTUSI_LANES][k % SALTUSI_LANES];
  }
}
#endif

/* Positions of the first and the second bodies of a group. */
SALTUSI_ALWAYS_INLINE void saltusi_locate(double* v, const int* pair, double* a[SALTUSI_LANES],
                                          double* b[SALTUSI_LANES]) {
  for (int l = 0; l < SALTUSI_LANES; l++) {
    a[l] = v + (size_t)pair[2 * l] * SALTUSI_BODY_WIDTH;
    b[l] = v + (size_t)pair[2 * l + 1] * SALTUSI_BODY_WIDTH;
  }
}

SALTUSI_ALWAYS_INLINE void saltusi_gather(double* v, const int* pair, saltusi_pairs* to) {
  double *a[SALTUSI_LANES], *b[SALTUSI_LANES];
  saltusi_locate(v, pair, a, b);
  saltusi_transpose(a, to->a);
  saltusi_transpose(b, to->b);
}

/* Idle lanes write the unchanged data of the fixed body. */
SALTUSI_ALWAYS_INLINE void saltusi_scatter(const saltusi_pairs* from, const int* pair, double* v) {
  double *a[SALTUSI_LANES], *b[SALTUSI_LANES];
  saltusi_locate(v, pair, a, b);
  saltusi_transpose_back(from->a, a);
  saltusi_transpose_back(from->b, b);
}

/* `yes` where the mask is set, elsewhere `no`. */
SALTUSI_ALWAYS_INLINE void saltusi_choose(const saltusi_masks* mask, const saltusi_lanes* yes,
                                          const saltusi_lanes* no, saltusi_lanes* to) {
  *to = (saltusi_lanes)((*mask & (saltusi_masks)*yes) | (~*mask & (saltusi_masks)*no));
}

SALTUSI_ALWAYS_INLINE bool saltusi_any(const saltusi_masks* mask) {
  return ((*mask)[0] | (*mask)[1] | (*mask)[2] | (*mask)[3]) != 0;
}

SALTUSI_ALWAYS_INLINE void saltusi_root(const saltusi_lanes* x, saltusi_lanes* to) {
  *to = (saltusi_lanes){sqrt((*x)[0]), sqrt((*x)[1]), sqrt((*x)[2]), sqrt((*x)[3])};
}

/* saltusi_momentum by lanes. */
SALTUSI_ALWAYS_INLINE void saltusi_group_momentum(saltusi_lanes* c, saltusi_lanes* change) {
  saltusi_lanes *r = c + SALTUSI_GROUP_IMPULSE, *x = c + SALTUSI_GROUP_PLACE;
  saltusi_lanes *y = c + SALTUSI_GROUP_BEFORE, *age = c + SALTUSI_GROUP_AGE;
  const saltusi_lanes zero = {0.0};
  const saltusi_lanes way[3] = {r[0] - x[0], r[1] - x[1], r[2] - x[2]};
  const saltusi_lanes against =
      (y[0] - r[0]) * way[0] + (y[1] - r[1]) * way[1] + (y[2] - r[2]) * way[2];
  const saltusi_masks turned = (saltusi_masks)(against > zero);
  const saltusi_lanes younger = SALTUSI_MOMENTUM_KEEP * *age, older = *age + 1.0;
  saltusi_choose(&turned, &younger, &older, age);
  saltusi_lanes part = *age / (*age + SALTUSI_MOMENTUM_SLOW);
  const saltusi_lanes most = zero + SALTUSI_MOMENTUM_MOST;
  const saltusi_masks below = (saltusi_masks)(part < most);
  saltusi_choose(&below, &part, &most, &part);
  for (int k = 0; k < 3; k++) {
    change[k] = part * way[k];
    x[k] = r[k];
    y[k] = r[k] += change[k];
  }
}

/* saltusi_body_map2 by lanes. */
SALTUSI_ALWAYS_INLINE void saltusi_group_miss2(const saltusi_lanes* c, const saltusi_lanes* u,
                                               saltusi_lanes* miss2) {
  const saltusi_lanes *r = c + SALTUSI_GROUP_IMPULSE, zero = {0.0}, one = zero + 1.0;
  const saltusi_lanes mu = c[SALTUSI_GROUP_MU], rho = c[SALTUSI_GROUP_RHO];
  saltusi_lanes slip = u[1] * u[1] + u[2] * u[2], t, shrink;
  saltusi_root(&slip, &slip);
  const saltusi_lanes x0 = r[0] - rho * u[0] - rho * mu * slip;
  const saltusi_lanes x1 = r[1] - rho * u[1], x2 = r[2] - rho * u[2];
  t = x1 * x1 + x2 * x2;
  saltusi_root(&t, &t);
  const saltusi_masks inside = (saltusi_masks)(x0 >= zero) & (saltusi_masks)(t <= mu * x0);
  const saltusi_lanes along = mu * t + x0, onto = along / (mu * mu + one);
  const saltusi_masks beyond = (saltusi_masks)(along <= zero), turned = (saltusi_masks)(t > zero);
  saltusi_lanes n;
  saltusi_choose(&beyond, &zero, &onto, &n);
  saltusi_choose(&turned, &t, &one, &t); /* avoids a division by zero */
  shrink = mu * n / t;
  saltusi_choose(&inside, &x0, &n, &n);
  saltusi_choose(&inside, &one, &shrink, &shrink);
  const saltusi_lanes m0 = (r[0] - n) / rho, m1 = (r[1] - x1 * shrink) / rho;
  const saltusi_lanes m2 = (r[2] - x2 * shrink) / rho;
  const saltusi_masks joint = (saltusi_masks)(mu < zero);
  const saltusi_lanes size2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  *miss2 = m0 * m0 + m1 * m1 + m2 * m2;
  saltusi_choose(&joint, &size2, miss2, miss2);
}

#endif
