/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_round.c - balls: masses m and inertias k of every body are the same in all directions, arms of contacts
 * lie along their normals. Rows of a contact are then
 *
 *   u_N = n.(va - vb) + q_N,   u_T = t.(va - vb) + a_t.wa + b_t.wb + q_T,   W_ii = diag(W_N, W_T, W_T)
 *
 * with the same n and t for both bodies, and its solution alone is
 *
 *   r_N = max(0, -b_N / W_N),   r_T = -b_T / W_T put back on the disc of radius mu r_N,   b = u - W_ii r
 *
 * What a visit reads lies in one piece. A contact on one body has the last, resting body as its second.
 */
#include "solve/body_round.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Places in a packed contact. */
enum { FRAME = 0, FIRST = 9, SECOND = 15, FREE = 21, W_N, W_T, INVERSE_N, INVERSE_T, MU };
/* q is at FREE .. FREE + 2, so the others are behind it */
enum { SHIFT = 2, ROOM = SHIFT + MU + 1 };
static_assert((int)ROOM <= (int)SALTUSI_PACKED_ROOM, "a packed contact has room");
/* Rows count as those of balls up to this part of their size: some roundings of arms and frames. */
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

/* Rows of one side: those of velocities agree with the frame times `sign`, the normal has no arm. */
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

static void copy_arms(const double* G, double* to) {
  memcpy(to, G + SALTUSI_BODY_WIDTH + 3, 3 * sizeof(double));
  memcpy(to + 3, G + 2 * SALTUSI_BODY_WIDTH + 3, 3 * sizeof(double));
}

static bool pack(const saltusi_friction_case* in, int i) {
  const saltusi_bodies* b = in->bodies;
  const double* W = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  double* to = b->packed + (size_t)i * ROOM;
  if (body[0] < 0 || !is_round(W)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    memcpy(to + FRAME + 3 * (size_t)k, G + (size_t)k * SALTUSI_BODY_WIDTH, 3 * sizeof(double));
  }
  memset(to + SECOND, 0, 6 * sizeof(double));
  if (!fits(G, to, 1.0) || (body[1] >= 0 && !fits(G + SALTUSI_BODY_ROWS, to, -1.0))) {
    return false;
  }
  copy_arms(G, to + FIRST);
  if (body[1] >= 0) {
    copy_arms(G + SALTUSI_BODY_ROWS, to + SECOND);
  }
  memcpy(to + FREE, in->q + 3 * (size_t)i, 3 * sizeof(double));
  to[SHIFT + W_N] = W[0];
  to[SHIFT + W_T] = W[4];
  to[SHIFT + INVERSE_N] = 1.0 / W[0];
  to[SHIFT + INVERSE_T] = 1.0 / W[4];
  to[SHIFT + MU] = in->mu[i];
  b->pair[2 * i] = body[0];
  b->pair[2 * i + 1] = body[1] >= 0 ? body[1] : b->bodies;
  return true;
}

bool saltusi_round_pack(const saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  saltusi_bodies* b = in->bodies;
  for (int k = 0; k < b->bodies; k++) {
    const double* inverse = b->inverse + (size_t)k * SALTUSI_BODY_BLOCK;
    if (!is_ball(inverse)) {
      return false;
    }
    b->lightness[2 * k] = inverse[0];
    b->lightness[2 * k + 1] = inverse[3 * (SALTUSI_BODY_WIDTH + 1)];
  }
  b->lightness[2 * b->bodies] = b->lightness[2 * b->bodies + 1] = 0.0;
  memset(b->v + (size_t)b->bodies * SALTUSI_BODY_WIDTH, 0, SALTUSI_BODY_WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    if (!pack(in, i)) {
      return false;
    }
  }
  return true;
}

/* u = G_i^T v + q */
static inline void relative(const double* c, const double* va, const double* vb, double* u) {
  const double* f = c + FRAME;
  const double* a = c + FIRST;
  const double* s = c + SECOND;
  const double d0 = va[0] - vb[0], d1 = va[1] - vb[1], d2 = va[2] - vb[2];
  u[0] = c[FREE] + (f[0] * d0 + f[1] * d1 + f[2] * d2);
  u[1] = c[FREE + 1] + (f[3] * d0 + f[4] * d1 + f[5] * d2) +
         (a[0] * va[3] + a[1] * va[4] + a[2] * va[5]) +
         (s[0] * vb[3] + s[1] * vb[4] + s[2] * vb[5]);
  u[2] = c[FREE + 2] + (f[6] * d0 + f[7] * d1 + f[8] * d2) +
         (a[3] * va[3] + a[4] * va[4] + a[5] * va[5]) +
         (s[3] * vb[3] + s[4] * vb[4] + s[5] * vb[5]);
}

/* v += A^-1 G_i d */
static inline void push(const double* c, const double* la, const double* lb, const double* d,
                        double* va, double* vb) {
  const double* f = c + FRAME;
  const double* a = c + FIRST;
  const double* s = c + SECOND;
  const double a1 = la[1] * d[1], a2 = la[1] * d[2];
  const double b1 = lb[1] * d[1], b2 = lb[1] * d[2];
  for (int k = 0; k < 3; k++) {
    const double p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    va[k] += la[0] * p;
    vb[k] -= lb[0] * p;
    va[3 + k] += a[k] * a1 + a[3 + k] * a2;
    vb[3 + k] += s[k] * b1 + s[3 + k] * b2;
  }
}

/* The solution of the contact alone. */
static inline void solve(const double* c, const double* u, const double* r, double* fresh) {
  const double normal = r[0] - u[0] * c[SHIFT + INVERSE_N];
  if (!(normal > 0.0)) {
    fresh[0] = fresh[1] = fresh[2] = 0.0;
    return;
  }
  const double radius = c[SHIFT + MU] * normal;
  double t1 = r[1] - u[1] * c[SHIFT + INVERSE_T];
  double t2 = r[2] - u[2] * c[SHIFT + INVERSE_T];
  const double size2 = t1 * t1 + t2 * t2;
  if (size2 > radius * radius) {
    const double shrink = radius / sqrt(size2);
    t1 *= shrink;
    t2 *= shrink;
  }
  fresh[0] = normal;
  fresh[1] = t1;
  fresh[2] = t2;
}

/* What a visit reads and writes. */
typedef struct visited {
  const double *c, *la, *lb;
  double *va, *vb;
} visited;

static inline visited find(const saltusi_bodies* b, int i) {
  const size_t first = (size_t)b->pair[2 * i], second = (size_t)b->pair[2 * i + 1];
  return (visited){b->packed + (size_t)i * ROOM, b->lightness + 2 * first,
                   b->lightness + 2 * second, b->v + first * SALTUSI_BODY_WIDTH,
                   b->v + second * SALTUSI_BODY_WIDTH};
}

double saltusi_round_sweep(const saltusi_friction_case* in, double* r) {
  assert(in != NULL && in->bodies != NULL && r != NULL);
  const saltusi_bodies* b = in->bodies;
  double change2 = 0.0;
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    double* ri = r + 3 * (size_t)i;
    double u[3], fresh[3];
    relative(w.c, w.va, w.vb, u);
    solve(w.c, u, ri, fresh);
    const double d[3] = {fresh[0] - ri[0], fresh[1] - ri[1], fresh[2] - ri[2]};
    const double normal = w.c[SHIFT + W_N] * d[0];
    const double t1 = w.c[SHIFT + W_T] * d[1], t2 = w.c[SHIFT + W_T] * d[2];
    change2 += normal * normal + t1 * t1 + t2 * t2;
    memcpy(ri, fresh, sizeof fresh);
    push(w.c, w.la, w.lb, d, w.va, w.vb);
  }
  return change2;
}

void saltusi_round_extrapolate(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  const saltusi_bodies* b = in->bodies;
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    double change[3];
    if (saltusi_momentum(points, i, change)) {
      push(w.c, w.la, w.lb, change, w.va, w.vb);
    }
  }
}

double saltusi_round_miss2(const saltusi_friction_case* in, const double* r) {
  assert(in != NULL && in->bodies != NULL && r != NULL);
  const saltusi_bodies* b = in->bodies;
  memset(b->v, 0, ((size_t)b->bodies + 1) * SALTUSI_BODY_WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    push(w.c, w.la, w.lb, r + 3 * (size_t)i, w.va, w.vb);
  }
  double sum = 0.0;
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    double u[3];
    relative(w.c, w.va, w.vb, u);
    sum += saltusi_natural_map2(3, in->mu[i], in->rho[i], r + 3 * (size_t)i, u);
  }
  return sum;
}
