/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sphere_kernel.c - balls: masses m and inertias k of every body are the same in all directions, arms of contacts
 * lie along their normals. Rows of a contact are then
 *
 *   u_N = n.(va - vb) + q_N,   u_T = t.(va - vb) + a_t.wa + b_t.wb + q_T,   W_ii = diag(W_N, W_T, W_T)
 *
 * with the same n and t for both bodies, and its solution with the others fixed is
 *
 *   r_N = max(0, -b_N / W_N),   r_T = -b_T / W_T projected onto the disc of radius mu r_N,   b = u - W_ii r
 *
 * Contacts are packed by four (body_groups.c). Every lane performs the same operations in the same order on every
 * machine, so that results are bitwise identical.
 */
#include "solve/body_space/body_lanes.h"

#include <math.h>
#include <string.h>

/* Positions in a group after those of every kind. */
enum {
  IMPULSE = SALTUSI_GROUP_IMPULSE,
  MU = SALTUSI_GROUP_MU,
  FRAME = SALTUSI_GROUP_OWN,
  FIRST = FRAME + 9,
  SECOND = FIRST + 6,
  FREE = SECOND + 6,
  W_N = FREE + 3,
  W_T,
  INVERSE_N,
  INVERSE_T,
  LIGHT,              /* 1 / mass and 1 / inertia of the first body, then of the second */
  SOFT_N = LIGHT + 4, /* S, the same for both tangents */
  SOFT_T,
  FIELDS
};
enum { LANES = SALTUSI_LANES, GROUP = FIELDS * LANES, WIDTH = SALTUSI_BODY_WIDTH };

/* Most groups of four per contact: with more idle lanes than one in four, contacts one by one are as fast. */
static const double most_groups = 0.33;

/* Relative deviation up to which rows count as those of balls: some roundings of arms and frames. */
static const double rounding = 1e-12;

static bool is_ball(const double* inverse) {
  for (int k = 0; k < SALTUSI_BODY_BLOCK; k++) {
    int row = k / SALTUSI_BODY_WIDTH, column = k % SALTUSI_BODY_WIDTH;
    double expected = row != column ? 0.0 : inverse[row < 3 ? 0 : 3 * (SALTUSI_BODY_WIDTH + 1)];
    if (inverse[k] != expected) {
      return false;
    }
  }
  return true;
}

static bool is_round(const double* W) {
  double small = rounding * (W[0] + W[4]);
  return W[0] > 0.0 && W[4] > 0.0 && fabs(W[8] - W[4]) <= small && fabs(W[1]) <= small &&
         fabs(W[2]) <= small && fabs(W[3]) <= small && fabs(W[5]) <= small && fabs(W[6]) <= small &&
         fabs(W[7]) <= small;
}

/* Whether rows of one side are those of a ball: translation is the frame times `sign`, the normal has no arm. */
static bool fits(const double* G, const double* frame, double sign) {
  for (int k = 0; k < 3; k++) {
    for (int a = 0; a < 3; a++) {
      const double arm = G[k * SALTUSI_BODY_WIDTH + 3 + a];
      if (G[k * SALTUSI_BODY_WIDTH + a] != sign * frame[3 * k + a] ||
          (k == 0 && !(fabs(arm) <= rounding * fabs(G[SALTUSI_BODY_WIDTH + 3 + a]) +
                                        rounding * fabs(G[2 * SALTUSI_BODY_WIDTH + 3 + a])))) {
        return false;
      }
    }
  }
  return true;
}

static bool is_packable(const saltusi_friction_case* in, int i) {
  const saltusi_bodies* b = in->bodies;
  const double* W = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  double frame[9];
  if (body[0] < 0 || in->mu[i] < 0.0 || !is_round(W)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    memcpy(frame + 3 * (size_t)k, G + (size_t)k * WIDTH, 3 * sizeof(double));
  }
  return fits(G, frame, 1.0) && (body[1] < 0 || fits(G + SALTUSI_BODY_ROWS, frame, -1.0));
}

/* One side of a contact into a lane. */
static void put_arms(const double* G, int place, double* to) {
  for (int k = 0; k < 6; k++) {
    to[(place + k) * LANES] = G[(1 + k / 3) * WIDTH + 3 + k % 3];
  }
}

static void put(const saltusi_friction_case* in, int i, double* to) {
  const saltusi_bodies* b = in->bodies;
  const double* W = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  for (int k = 0; k < 9; k++) {
    to[(FRAME + k) * LANES] = G[k / 3 * WIDTH + k % 3];
  }
  put_arms(G, FIRST, to);
  for (int k = 0; k < 3; k++) {
    to[(FREE + k) * LANES] = in->q[3 * i + k];
  }
  const double rest[] = {W[0], W[4], 1.0 / W[0], 1.0 / W[4]};
  for (int k = 0; k < 4; k++) {
    to[(W_N + k) * LANES] = rest[k];
  }
  to[SOFT_N * LANES] = b->soft[3 * i];
  to[SOFT_T * LANES] = b->soft[3 * i + 1];
  for (int s = 0; s < 2; s++) {
    if (body[s] >= 0) {
      const double* inverse = b->inverse + (size_t)body[s] * SALTUSI_BODY_BLOCK;
      to[(LIGHT + 2 * s) * LANES] = inverse[0];
      to[(LIGHT + 2 * s + 1) * LANES] = inverse[3 * (WIDTH + 1)];
    }
  }
  if (body[1] >= 0) {
    put_arms(G + SALTUSI_BODY_ROWS, SECOND, to);
  }
}

static bool pack(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  for (int k = 0; k < b->bodies; k++) {
    if (!is_ball(b->inverse + (size_t)k * SALTUSI_BODY_BLOCK)) {
      return false;
    }
  }
  for (int i = 0; i < b->units; i++) {
    if (!is_packable(in, i)) {
      return false;
    }
  }
  return saltusi_groups_pack(in, FIELDS, most_groups, put);
}

/* u = G_i^T v + q */
SALTUSI_ALWAYS_INLINE void relative(const saltusi_lanes* c, const saltusi_pairs* v,
                                    saltusi_lanes* u) {
  const saltusi_lanes *f = c + FRAME, *a = c + FIRST, *s = c + SECOND;
  const saltusi_lanes d0 = v->a[0] - v->b[0], d1 = v->a[1] - v->b[1], d2 = v->a[2] - v->b[2];
  u[0] = c[FREE] + (f[0] * d0 + f[1] * d1 + f[2] * d2);
  u[1] = c[FREE + 1] + (f[3] * d0 + f[4] * d1 + f[5] * d2) +
         (a[0] * v->a[3] + a[1] * v->a[4] + a[2] * v->a[5]) +
         (s[0] * v->b[3] + s[1] * v->b[4] + s[2] * v->b[5]);
  u[2] = c[FREE + 2] + (f[6] * d0 + f[7] * d1 + f[8] * d2) +
         (a[3] * v->a[3] + a[4] * v->a[4] + a[5] * v->a[5]) +
         (s[3] * v->b[3] + s[4] * v->b[4] + s[5] * v->b[5]);
}

/* u += S r */
SALTUSI_ALWAYS_INLINE void soften(const saltusi_lanes* c, saltusi_lanes* u) {
  const saltusi_lanes* r = c + IMPULSE;
  u[0] += c[SOFT_N] * r[0];
  u[1] += c[SOFT_T] * r[1];
  u[2] += c[SOFT_T] * r[2];
}

/* v += A^-1 G_i d */
SALTUSI_ALWAYS_INLINE void push(const saltusi_lanes* c, const saltusi_lanes* d, saltusi_pairs* v) {
  const saltusi_lanes *f = c + FRAME, *a = c + FIRST, *s = c + SECOND;
  const saltusi_lanes a1 = c[LIGHT + 1] * d[1], a2 = c[LIGHT + 1] * d[2];
  const saltusi_lanes b1 = c[LIGHT + 3] * d[1], b2 = c[LIGHT + 3] * d[2];
  for (int k = 0; k < 3; k++) {
    const saltusi_lanes p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    v->a[k] += c[LIGHT] * p;
    v->b[k] -= c[LIGHT + 2] * p;
    v->a[3 + k] += a[k] * a1 + a[3 + k] * a2;
    v->b[3 + k] += s[k] * b1 + s[3 + k] * b2;
  }
}

/* Solutions of single contacts. */
SALTUSI_ALWAYS_INLINE void solve(const saltusi_lanes* c, const saltusi_lanes* u,
                                 const saltusi_lanes* r, saltusi_lanes* fresh) {
  const saltusi_lanes zero = {0.0}, one = {1.0, 1.0, 1.0, 1.0};
  const saltusi_lanes normal = r[0] - u[0] * c[INVERSE_N];
  const saltusi_masks pressed = (saltusi_masks)(normal > zero);
  const saltusi_lanes radius = c[MU] * normal;
  const saltusi_lanes t1 = r[1] - u[1] * c[INVERSE_T], t2 = r[2] - u[2] * c[INVERSE_T];
  const saltusi_lanes size2 = t1 * t1 + t2 * t2;
  const saltusi_masks slips = (saltusi_masks)(size2 > radius * radius);
  saltusi_lanes size, shrink;
  saltusi_root(&size2, &size);
  saltusi_choose(&slips, &size, &one, &size); /* avoids a division by zero */
  size = radius / size;
  saltusi_choose(&slips, &size, &one, &shrink);
  const saltusi_lanes s1 = shrink * t1, s2 = shrink * t2;
  saltusi_choose(&pressed, &normal, &zero, fresh);
  saltusi_choose(&pressed, &s1, &zero, fresh + 1);
  saltusi_choose(&pressed, &s2, &zero, fresh + 2);
}

SALTUSI_FOR_MACHINES static double iterate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  saltusi_lanes change2 = {0.0};
  for (int g = 0; g < b->groups; g++) {
    saltusi_lanes* c = (saltusi_lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    saltusi_pairs v = {.a = {{0.0}}}; /* avoids a compiler warning */
    saltusi_lanes u[3], fresh[3], d[3];
    saltusi_gather(b->v, pair, &v);
    relative(c, &v, u);
    soften(c, u);
    solve(c, u, c + IMPULSE, fresh);
    for (int k = 0; k < 3; k++) {
      d[k] = fresh[k] - c[IMPULSE + k];
      c[IMPULSE + k] = fresh[k];
    }
    const saltusi_lanes normal = c[W_N] * d[0], t1 = c[W_T] * d[1], t2 = c[W_T] * d[2];
    change2 += normal * normal + t1 * t1 + t2 * t2;
    push(c, d, &v);
    saltusi_scatter(&v, pair, b->v);
  }
  return change2[0] + change2[1] + change2[2] + change2[3];
}

SALTUSI_FOR_MACHINES static void extrapolate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  for (int g = 0; g < b->groups; g++) {
    saltusi_lanes* c = (saltusi_lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    saltusi_pairs v = {.a = {{0.0}}}; /* avoids a compiler warning */
    saltusi_lanes change[3];
    saltusi_group_momentum(c, change);
    saltusi_gather(b->v, pair, &v);
    push(c, change, &v);
    saltusi_scatter(&v, pair, b->v);
  }
}

const saltusi_body_kernel saltusi_body_kernel_sphere = {.cost = 180.0,
                                                        .pack = pack,
                                                        .start = saltusi_groups_start,
                                                        .iterate = iterate,
                                                        .extrapolate = extrapolate,
                                                        .forget = saltusi_groups_forget,
                                                        .fetch = saltusi_groups_fetch};
