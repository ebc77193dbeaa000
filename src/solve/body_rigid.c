/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_rigid.c - rigid bodies: A^-1 has 1 / m for the velocity of the centre of mass and any block of 3 x 3 for that
 * of turning, and a contact has one frame for both of its bodies:
 *
 *   u = q + E (va - vb) + a wa + b wb,     va += E^T r / ma,   vb -= E^T r / mb,   wa += a' r,   wb += b' r
 *
 * with the arms a and b and what they do, a' = A^-1 a^T, which no symmetry ties to each other where gyroscopic forces are in A. What
 * a visit reads of G and A^-1 G lies in one piece and is two thirds of both. A contact on one body has the last, resting one as its
 * second.
 */
#include "solve/body_rigid.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Places in a packed contact, each but the last of three rows of three. */
enum { FRAME = 0, ARM = 9, OTHER_ARM = 18, TURN = 27, OTHER_TURN = 36, FREE = 45, ROOM = 48 };
static_assert((int)ROOM <= (int)SALTUSI_PACKED_ROOM, "a packed contact has room");

enum { WIDTH = SALTUSI_BODY_WIDTH };

/* 1 / m, the same in all directions, and nothing between velocities of the centre and of turning. */
static bool is_rigid(const double* inverse) {
  for (int a = 0; a < 3; a++) {
    for (int c = 0; c < WIDTH; c++) {
      const double expected = a == c ? inverse[0] : 0.0;
      if (inverse[a * WIDTH + c] != expected || (c >= 3 && inverse[c * WIDTH + a] != 0.0)) {
        return false;
      }
    }
  }
  return true;
}

/* Three of six columns of rows of a body. */
static void copy_half(const double* rows, double* to) {
  for (int k = 0; k < 3; k++) {
    memcpy(to + 3 * (size_t)k, rows + (size_t)k * WIDTH, 3 * sizeof(double));
  }
}

static bool pack(const saltusi_friction_case* in, int i) {
  const saltusi_bodies* b = in->bodies;
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const double* moved = b->moved + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  double* to = b->packed + (size_t)i * SALTUSI_PACKED_ROOM;
  if (body[0] < 0) {
    return false;
  }
  copy_half(G, to + FRAME);
  copy_half(G + 3, to + ARM);
  copy_half(moved + 3, to + TURN);
  memset(to + OTHER_ARM, 0, 9 * sizeof(double));
  memset(to + OTHER_TURN, 0, 9 * sizeof(double));
  if (body[1] >= 0) {
    double second[9];
    copy_half(G + SALTUSI_BODY_ROWS, second);
    for (int k = 0; k < 9; k++) {
      if (second[k] != -to[FRAME + k]) {
        return false;
      }
    }
    copy_half(G + SALTUSI_BODY_ROWS + 3, to + OTHER_ARM);
    copy_half(moved + SALTUSI_BODY_ROWS + 3, to + OTHER_TURN);
  }
  memcpy(to + FREE, in->q + 3 * (size_t)i, 3 * sizeof(double));
  b->pair[2 * i] = body[0];
  b->pair[2 * i + 1] = body[1] >= 0 ? body[1] : b->bodies;
  return true;
}

bool saltusi_rigid_pack(const saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  saltusi_bodies* b = in->bodies;
  for (int k = 0; k < b->bodies; k++) {
    const double* inverse = b->inverse + (size_t)k * SALTUSI_BODY_BLOCK;
    if (!is_rigid(inverse)) {
      return false;
    }
    b->lightness[k] = inverse[0];
  }
  b->lightness[b->bodies] = 0.0;
  memset(b->v + (size_t)b->bodies * WIDTH, 0, WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    if (!pack(in, i)) {
      return false;
    }
  }
  return true;
}

/* What a visit reads and writes. */
typedef struct visited {
  const double* c;
  double light, other_light;
  double *va, *vb;
} visited;

static inline visited find(const saltusi_bodies* b, int i) {
  const size_t first = (size_t)b->pair[2 * i], second = (size_t)b->pair[2 * i + 1];
  return (visited){b->packed + (size_t)i * SALTUSI_PACKED_ROOM, b->lightness[first],
                   b->lightness[second], b->v + first * WIDTH, b->v + second * WIDTH};
}

/* u = G_i^T v + q */
static inline void relative(const visited* w, double* u) {
  const double *c = w->c, *va = w->va, *vb = w->vb;
  const double d0 = va[0] - vb[0], d1 = va[1] - vb[1], d2 = va[2] - vb[2];
  for (int k = 0; k < 3; k++) {
    const double *f = c + FRAME + 3 * k, *a = c + ARM + 3 * k, *o = c + OTHER_ARM + 3 * k;
    u[k] = c[FREE + k] + (f[0] * d0 + f[1] * d1 + f[2] * d2) +
           (a[0] * va[3] + a[1] * va[4] + a[2] * va[5]) +
           (o[0] * vb[3] + o[1] * vb[4] + o[2] * vb[5]);
  }
}

/* v += A^-1 G_i d */
static inline void push(const visited* w, const double* d) {
  const double *f = w->c + FRAME, *a = w->c + TURN, *o = w->c + OTHER_TURN;
  for (int k = 0; k < 3; k++) {
    const double p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    w->va[k] += w->light * p;
    w->vb[k] -= w->other_light * p;
    w->va[3 + k] += a[k] * d[0] + a[3 + k] * d[1] + a[6 + k] * d[2];
    w->vb[3 + k] += o[k] * d[0] + o[3 + k] * d[1] + o[6 + k] * d[2];
  }
}

double saltusi_rigid_sweep(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  double* r = points->r;
  const saltusi_bodies* b = in->bodies;
  const saltusi_friction_pattern* pattern = in->pattern;
  double change2 = 0.0;
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    const double* own = in->values + pattern->place[pattern->diagonal[i]];
    double* ri = r + 3 * (size_t)i;
    double u[3], fresh[3];
    relative(&w, u);
    saltusi_bodies_soften(b, i, ri, u);
    for (int k = 0; k < 3; k++) {
      u[k] -= own[3 * k] * ri[0] + own[3 * k + 1] * ri[1] + own[3 * k + 2] * ri[2];
    }
    saltusi_one_contact_spatial(in->local + pattern->local_at[i], in->mu[i], u, fresh,
                                in->slip + i);
    const double d[3] = {fresh[0] - ri[0], fresh[1] - ri[1], fresh[2] - ri[2]};
    if (d[0] != 0.0 || d[1] != 0.0 || d[2] != 0.0) {
      for (int k = 0; k < 3; k++) {
        const double moved = saltusi_dot(3, own + 3 * (size_t)k, d);
        change2 += moved * moved;
      }
      memcpy(ri, fresh, sizeof fresh);
      push(&w, d);
    }
  }
  return change2;
}

void saltusi_rigid_extrapolate(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  for (int i = 0; i < in->bodies->units; i++) {
    double change[3];
    if (saltusi_momentum(points, i, change)) {
      const visited w = find(in->bodies, i);
      push(&w, change);
    }
  }
}

double saltusi_rigid_miss2(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  const double* r = points->r;
  const saltusi_bodies* b = in->bodies;
  memset(b->v, 0, ((size_t)b->bodies + 1) * WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    const double* ri = r + 3 * (size_t)i;
    if (ri[0] != 0.0 || ri[1] != 0.0 || ri[2] != 0.0) {
      const visited w = find(b, i);
      push(&w, ri);
    }
  }
  double sum = 0.0;
  for (int i = 0; i < b->units; i++) {
    const visited w = find(b, i);
    double u[3];
    relative(&w, u);
    saltusi_bodies_soften(b, i, r + 3 * (size_t)i, u);
    sum += saltusi_natural_map2(3, in->mu[i], in->rho[i], r + 3 * (size_t)i, u);
  }
  return sum;
}
