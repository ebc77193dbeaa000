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
 * Contacts are packed by four that have no body in common, number by number: a visit of four is one of a single contact with
 * vectors in place of numbers, which the compiler turns into what the machine has. Every lane does the same operations in the same
 * order whatever that is, so bits do not depend on it. Groups that find no fourth contact have idle lanes: no row, and the resting
 * body twice. A contact on one body has that as its second.
 */
#include "solve/body_round.h"

#include "base/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Places in a group, each of so many lanes: the contact, then its impulses y, x and the last y, and the age of its momentum
 * (saltusi_momentum). */
enum {
  FRAME = 0,
  FIRST = 9,
  SECOND = 15,
  FREE = 21,
  W_N = 24,
  W_T,
  INVERSE_N,
  INVERSE_T,
  MU,
  RHO,
  LIGHT, /* 1 / mass and 1 / inertia of the first body, then of the second */
  IMPULSE = LIGHT + 4,
  PLACE = IMPULSE + 3,
  BEFORE = PLACE + 3,
  AGE = BEFORE + 3,
  SOFT_N, /* S, the same for both tangents */
  SOFT_T,
  FIELDS
};
enum { LANES = SALTUSI_LANES, GROUP = FIELDS * LANES, WIDTH = SALTUSI_BODY_WIDTH };

typedef saltusi_lanes lanes;
typedef saltusi_masks masks;

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

static bool is_packable(const saltusi_friction_case* in, int i) {
  const saltusi_bodies* b = in->bodies;
  const double* W = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  double frame[9];
  if (body[0] < 0 || !is_round(W)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    memcpy(frame + 3 * (size_t)k, G + (size_t)k * WIDTH, 3 * sizeof(double));
  }
  return fits(G, frame, 1.0) && (body[1] < 0 || fits(G + SALTUSI_BODY_ROWS, frame, -1.0));
}

/* One side of a contact into a lane. */
static void put_arms(const double* G, int place, int lane, double* group) {
  for (int k = 0; k < 6; k++) {
    group[(place + k) * LANES + lane] = G[(1 + k / 3) * WIDTH + 3 + k % 3];
  }
}

static void put(const saltusi_friction_case* in, int i, int lane, double* group) {
  const saltusi_bodies* b = in->bodies;
  const double* W = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const int* body = b->body + 2 * (size_t)i;
  for (int k = 0; k < 9; k++) {
    group[(FRAME + k) * LANES + lane] = G[k / 3 * WIDTH + k % 3];
  }
  put_arms(G, FIRST, lane, group);
  for (int k = 0; k < 3; k++) {
    group[(FREE + k) * LANES + lane] = in->q[3 * i + k];
  }
  const double rest[] = {W[0], W[4], 1.0 / W[0], 1.0 / W[4], in->mu[i], in->rho[i]};
  for (int k = 0; k < 6; k++) {
    group[(W_N + k) * LANES + lane] = rest[k];
  }
  group[SOFT_N * LANES + lane] = b->soft[3 * i];
  group[SOFT_T * LANES + lane] = b->soft[3 * i + 1];
  for (int s = 0; s < 2; s++) {
    if (body[s] >= 0) {
      const double* inverse = b->inverse + (size_t)body[s] * SALTUSI_BODY_BLOCK;
      group[(LIGHT + 2 * s) * LANES + lane] = inverse[0];
      group[(LIGHT + 2 * s + 1) * LANES + lane] = inverse[3 * (WIDTH + 1)];
    }
  }
  if (body[1] >= 0) {
    put_arms(G + SALTUSI_BODY_ROWS, SECOND, lane, group);
  }
}

/* Groups that still have a lane free, oldest first; members are contacts. */
enum { OPEN = 16 };
typedef struct open_groups {
  int member[OPEN][LANES], count[OPEN], open;
} open_groups;

static bool meets(const saltusi_bodies* b, const open_groups* g, int at, int i) {
  for (int l = 0; l < g->count[at]; l++) {
    const int* other = b->body + 2 * (size_t)g->member[at][l];
    const int* own = b->body + 2 * (size_t)i;
    if (own[0] == other[0] || own[0] == other[1] ||
        (own[1] >= 0 && (own[1] == other[0] || own[1] == other[1]))) {
      return true;
    }
  }
  return false;
}

/* The open group becomes the next packed one; false: there is no room. */
static bool close_group(const saltusi_friction_case* in, open_groups* g, int at) {
  saltusi_bodies* b = in->bodies;
  double* group = b->packed + (size_t)b->groups * GROUP;
  if ((size_t)(b->groups + 1) * GROUP > (size_t)b->units * SALTUSI_PACKED_ROOM) {
    return false;
  }
  memset(group, 0, GROUP * sizeof(double));
  for (int l = 0; l < LANES; l++) {
    const bool there = l < g->count[at];
    const int i = there ? g->member[at][l] : -1;
    const int* body = there ? b->body + 2 * (size_t)i : NULL;
    int* pair = b->pair + 2 * (size_t)(b->groups * LANES + l);
    b->lane[b->groups * LANES + l] = i;
    pair[0] = there ? body[0] : b->bodies;
    pair[1] = there && body[1] >= 0 ? body[1] : b->bodies;
    group[RHO * LANES + l] = 1.0;
    if (there) {
      put(in, i, l, group);
    }
  }
  b->groups++;
  g->open--;
  for (int k = at; k < g->open; k++) {
    memcpy(g->member[k], g->member[k + 1], sizeof g->member[k]);
    g->count[k] = g->count[k + 1];
  }
  return true;
}

/* Contact i to the oldest group where it meets nobody. */
static bool add_contact(const saltusi_friction_case* in, open_groups* g, int i) {
  int at = 0;
  while (at < g->open && meets(in->bodies, g, at, i)) {
    at++;
  }
  if (at == OPEN) {
    if (!close_group(in, g, 0)) {
      return false;
    }
    at--;
  }
  if (at == g->open) {
    g->count[g->open++] = 0;
  }
  g->member[at][g->count[at]++] = i;
  return g->count[at] < LANES || close_group(in, g, at);
}

bool saltusi_round_pack(const saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  saltusi_bodies* b = in->bodies;
  open_groups g = {.open = 0};
  b->groups = 0;
  for (int k = 0; k < b->bodies; k++) {
    if (!is_ball(b->inverse + (size_t)k * SALTUSI_BODY_BLOCK)) {
      return false;
    }
  }
  for (int i = 0; i < b->units; i++) {
    if (!is_packable(in, i) || !add_contact(in, &g, i)) {
      return false;
    }
  }
  while (g.open > 0) {
    if (!close_group(in, &g, 0)) {
      return false;
    }
  }
  return true;
}

/* Velocities of the first and the second bodies of a group, number by number. */
typedef struct pairs {
  lanes a[WIDTH], b[WIDTH];
} pairs;

SALTUSI_ALWAYS_INLINE void gather(const double* v, const int* pair, pairs* to) {
  const double *a0 = v + (size_t)pair[0] * WIDTH, *b0 = v + (size_t)pair[1] * WIDTH;
  const double *a1 = v + (size_t)pair[2] * WIDTH, *b1 = v + (size_t)pair[3] * WIDTH;
  const double *a2 = v + (size_t)pair[4] * WIDTH, *b2 = v + (size_t)pair[5] * WIDTH;
  const double *a3 = v + (size_t)pair[6] * WIDTH, *b3 = v + (size_t)pair[7] * WIDTH;
  for (int k = 0; k < WIDTH; k++) {
    to->a[k] = (lanes){a0[k], a1[k], a2[k], a3[k]};
    to->b[k] = (lanes){b0[k], b1[k], b2[k], b3[k]};
  }
}

/* Idle lanes write the resting body, with what it had. */
SALTUSI_ALWAYS_INLINE void scatter(const pairs* from, const int* pair, double* v) {
  for (int l = 0; l < LANES; l++) {
    double* va = v + (size_t)pair[2 * l] * WIDTH;
    double* vb = v + (size_t)pair[2 * l + 1] * WIDTH;
    for (int k = 0; k < WIDTH; k++) {
      va[k] = from->a[k][l];
      vb[k] = from->b[k][l];
    }
  }
}

/* u = G_i^T v + q */
SALTUSI_ALWAYS_INLINE void relative(const lanes* c, const pairs* v, lanes* u) {
  const lanes *f = c + FRAME, *a = c + FIRST, *s = c + SECOND;
  const lanes d0 = v->a[0] - v->b[0], d1 = v->a[1] - v->b[1], d2 = v->a[2] - v->b[2];
  u[0] = c[FREE] + (f[0] * d0 + f[1] * d1 + f[2] * d2);
  u[1] = c[FREE + 1] + (f[3] * d0 + f[4] * d1 + f[5] * d2) +
         (a[0] * v->a[3] + a[1] * v->a[4] + a[2] * v->a[5]) +
         (s[0] * v->b[3] + s[1] * v->b[4] + s[2] * v->b[5]);
  u[2] = c[FREE + 2] + (f[6] * d0 + f[7] * d1 + f[8] * d2) +
         (a[3] * v->a[3] + a[4] * v->a[4] + a[5] * v->a[5]) +
         (s[3] * v->b[3] + s[4] * v->b[4] + s[5] * v->b[5]);
}

/* u += S r */
SALTUSI_ALWAYS_INLINE void soften(const lanes* c, lanes* u) {
  const lanes* r = c + IMPULSE;
  u[0] += c[SOFT_N] * r[0];
  u[1] += c[SOFT_T] * r[1];
  u[2] += c[SOFT_T] * r[2];
}

/* v += A^-1 G_i d */
SALTUSI_ALWAYS_INLINE void push(const lanes* c, const lanes* d, pairs* v) {
  const lanes *f = c + FRAME, *a = c + FIRST, *s = c + SECOND;
  const lanes a1 = c[LIGHT + 1] * d[1], a2 = c[LIGHT + 1] * d[2];
  const lanes b1 = c[LIGHT + 3] * d[1], b2 = c[LIGHT + 3] * d[2];
  for (int k = 0; k < 3; k++) {
    const lanes p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    v->a[k] += c[LIGHT] * p;
    v->b[k] -= c[LIGHT + 2] * p;
    v->a[3 + k] += a[k] * a1 + a[3 + k] * a2;
    v->b[3 + k] += s[k] * b1 + s[3 + k] * b2;
  }
}

/* `yes` where the mask is set, elsewhere `no`. */
SALTUSI_ALWAYS_INLINE void choose(const masks* mask, const lanes* yes, const lanes* no, lanes* to) {
  *to = (lanes)((*mask & (masks)*yes) | (~*mask & (masks)*no));
}

/* The solutions of the contacts alone. */
SALTUSI_ALWAYS_INLINE void solve(const lanes* c, const lanes* u, const lanes* r, lanes* fresh) {
  const lanes zero = {0.0}, one = {1.0, 1.0, 1.0, 1.0};
  const lanes normal = r[0] - u[0] * c[INVERSE_N];
  const masks pressed = (masks)(normal > zero);
  const lanes radius = c[MU] * normal;
  const lanes t1 = r[1] - u[1] * c[INVERSE_T], t2 = r[2] - u[2] * c[INVERSE_T];
  const lanes size2 = t1 * t1 + t2 * t2;
  const masks slips = (masks)(size2 > radius * radius);
  lanes size = {sqrt(size2[0]), sqrt(size2[1]), sqrt(size2[2]), sqrt(size2[3])}, shrink;
  choose(&slips, &size, &one, &size); /* nothing is divided by zero */
  size = radius / size;
  choose(&slips, &size, &one, &shrink);
  const lanes s1 = shrink * t1, s2 = shrink * t2;
  choose(&pressed, &normal, &zero, fresh);
  choose(&pressed, &s1, &zero, fresh + 1);
  choose(&pressed, &s2, &zero, fresh + 2);
}

SALTUSI_FOR_MACHINES static double sweep(const saltusi_bodies* b) {
  lanes change2 = {0.0};
  for (int g = 0; g < b->groups; g++) {
    lanes* c = (lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    pairs v = {.a = {{0.0}}}; /* which some compilers want to see */
    lanes u[3], fresh[3], d[3];
    gather(b->v, pair, &v);
    relative(c, &v, u);
    soften(c, u);
    solve(c, u, c + IMPULSE, fresh);
    for (int k = 0; k < 3; k++) {
      d[k] = fresh[k] - c[IMPULSE + k];
      c[IMPULSE + k] = fresh[k];
    }
    const lanes normal = c[W_N] * d[0], t1 = c[W_T] * d[1], t2 = c[W_T] * d[2];
    change2 += normal * normal + t1 * t1 + t2 * t2;
    push(c, d, &v);
    scatter(&v, pair, b->v);
  }
  return change2[0] + change2[1] + change2[2] + change2[3];
}

/* saltusi_momentum by lanes. */
SALTUSI_ALWAYS_INLINE void momentum(lanes* c, lanes* change) {
  lanes *r = c + IMPULSE, *x = c + PLACE, *y = c + BEFORE;
  const lanes zero = {0.0};
  const lanes way[3] = {r[0] - x[0], r[1] - x[1], r[2] - x[2]};
  const lanes against = (y[0] - r[0]) * way[0] + (y[1] - r[1]) * way[1] + (y[2] - r[2]) * way[2];
  const masks turned = (masks)(against > zero);
  const lanes younger = SALTUSI_MOMENTUM_KEEP * c[AGE], older = c[AGE] + 1.0;
  choose(&turned, &younger, &older, c + AGE);
  lanes part = c[AGE] / (c[AGE] + SALTUSI_MOMENTUM_SLOW);
  const lanes most = zero + SALTUSI_MOMENTUM_MOST;
  const masks below = (masks)(part < most);
  choose(&below, &part, &most, &part);
  for (int k = 0; k < 3; k++) {
    change[k] = part * way[k];
    x[k] = r[k];
    y[k] = r[k] += change[k];
  }
}

SALTUSI_FOR_MACHINES static void extrapolate(const saltusi_bodies* b) {
  for (int g = 0; g < b->groups; g++) {
    lanes* c = (lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    pairs v = {.a = {{0.0}}}; /* which some compilers want to see */
    lanes change[3];
    momentum(c, change);
    gather(b->v, pair, &v);
    push(c, change, &v);
    scatter(&v, pair, b->v);
  }
}

/* Velocities of the impulses anew. */
SALTUSI_FOR_MACHINES static void move(const saltusi_bodies* b) {
  memset(b->v, 0, ((size_t)b->bodies + 1) * WIDTH * sizeof(double));
  for (int g = 0; g < b->groups; g++) {
    const lanes* c = (const lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    pairs v = {.a = {{0.0}}}; /* which some compilers want to see */
    gather(b->v, pair, &v);
    push(c, c + IMPULSE, &v);
    scatter(&v, pair, b->v);
  }
}

SALTUSI_FOR_MACHINES static double miss2(const saltusi_bodies* b) {
  double sum = 0.0;
  for (int g = 0; g < b->groups; g++) {
    const lanes* c = (const lanes*)(b->packed + (size_t)g * GROUP);
    pairs v = {.a = {{0.0}}}; /* which some compilers want to see */
    lanes u[3];
    gather(b->v, b->pair + 2 * (size_t)g * LANES, &v);
    relative(c, &v, u);
    soften(c, u);
    for (int l = 0; l < LANES; l++) {
      const double r[3] = {c[IMPULSE][l], c[IMPULSE + 1][l], c[IMPULSE + 2][l]};
      const double own[3] = {u[0][l], u[1][l], u[2][l]};
      sum += saltusi_natural_map2(3, c[MU][l], c[RHO][l], r, own);
    }
  }
  return sum;
}

void saltusi_round_start(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  const saltusi_bodies* b = in->bodies;
  for (int at = 0; at < b->groups * LANES; at++) {
    double* group = b->packed + (size_t)(at / LANES) * GROUP + at % LANES;
    const double* r = b->lane[at] >= 0 ? points->r + 3 * (size_t)b->lane[at] : NULL;
    for (int k = 0; k < 3; k++) {
      const double value = r != NULL ? r[k] : 0.0;
      group[(IMPULSE + k) * LANES] = value;
      group[(PLACE + k) * LANES] = value;
      group[(BEFORE + k) * LANES] = value;
    }
    group[AGE * LANES] = 0.0;
  }
  move(b);
}

double saltusi_round_sweep(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL);
  (void)points;
  return sweep(in->bodies);
}

void saltusi_round_extrapolate(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL);
  (void)points;
  extrapolate(in->bodies);
}

void saltusi_round_forget(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL);
  (void)points;
  for (int g = 0; g < in->bodies->groups; g++) {
    memset(in->bodies->packed + (size_t)g * GROUP + (size_t)AGE * LANES, 0, LANES * sizeof(double));
  }
}

double saltusi_round_miss2(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL);
  (void)points;
  move(in->bodies);
  return miss2(in->bodies);
}

void saltusi_round_fetch(const saltusi_friction_case* in, const saltusi_points* points) {
  assert(in != NULL && in->bodies != NULL && points != NULL);
  const saltusi_bodies* b = in->bodies;
  for (int at = 0; at < b->groups * LANES; at++) {
    const double* group = b->packed + (size_t)(at / LANES) * GROUP + at % LANES;
    for (int k = 0; k < 3 && b->lane[at] >= 0; k++) {
      points->r[3 * b->lane[at] + k] = group[(IMPULSE + k) * LANES];
    }
  }
}
