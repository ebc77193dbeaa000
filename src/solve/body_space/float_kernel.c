/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * float_kernel.c - Gauss-Seidel over contacts of rigid bodies (rigid_kernel.c) in single precision, vectorised over
 * eight contacts, in half the memory. The unknowns are changes,
 *
 *   r = r0 + d,   u = u0 + S d + G_i^T dv,   dv = A^-1 G d
 *
 * with r0 and u0 = q + (W r0)_i + S r0 in double precision (iterative refinement): the rounding of an iteration is
 * small relative to its changes. A sticking contact has d from u alone, W_ii d = -u, a slipping one its normal part.
 * r0 itself is rounded only in the decision between open, stick and slip and in the tangents of slipping contacts,
 * which leaves about 1e-7 of W r in u. Each evaluation computes velocities and residual in double precision and
 * resets r0.
 *
 * Elimination of the normal impulse (one_contact.c) leaves S and the slip c with the present tangents; without any
 * it is c - S r_T, the c of one_contact.c and rigid_kernel.c. The units of mass and velocity are powers of two near
 * those of the problem, so that products of four numbers stay far from the limits of single precision.
 */
#include "solve/body_space/body_lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Positions in a group; data that momentum reads come first. */
enum {
  CHANGE =
      0, /* d, with momentum; without it; the last one with it; the age of momentum (saltusi_momentum) */
  PLACE = 3,
  BEFORE = 6,
  AGE = 9,
  FRAME,
  TURN = FRAME + 9,
  OTHER_TURN = TURN + 9,
  LIGHT = OTHER_TURN + 9, /* 1 / mass of the first body and of the second */
  ARM = LIGHT + 2,
  OTHER_ARM = ARM + 9,
  IMPULSE = OTHER_ARM + 9, /* r0 */
  VELOCITY = IMPULSE + 3,  /* u0 */
  W = VELOCITY + 3,        /* W_ii with compliance */
  INVERSE_N = W + 9,
  S,
  INVERSE_S = S + 4, /* 1 / det S */
  SLIP,              /* a */
  MU,
  SOFT,
  FIELDS = SOFT + 3
};
enum { LANES = SALTUSI_FLOAT_LANES, GROUP = FIELDS * LANES, WIDTH = SALTUSI_BODY_WIDTH };
enum { PLACES = SALTUSI_SINGLE_WIDTH };

/* Velocities of the first and the second bodies of a group, number by number. */
typedef struct float_kernel_pairs {
  saltusi_float_lanes a[WIDTH], b[WIDTH];
} float_kernel_pairs;

/* Most groups per contact: if half of all lanes are idle, four at once are as fast. */
static const double most_groups = 0.25;
/* |psi| below which one more step of Newton's method ends in rounding; most steps. */
static const float slip_near = 1e-4F;
enum { SLIP_STEPS = 6 };

static saltusi_float_lanes* group_of(const saltusi_bodies* b, int g) {
  return (saltusi_float_lanes*)((float*)b->packed + (size_t)g * GROUP);
}

/* Position of the numbers of a lane, counted through all groups. */
static float* lane_of(const saltusi_bodies* b, int at) {
  return (float*)b->packed + (size_t)(at / LANES) * GROUP + at % LANES;
}

/* ---- packing ---- */

/* A power of two. */
static double unit_near(double size) {
  return isfinite(size) && size > 0.0 ? ldexp(1.0, ilogb(size)) : 1.0;
}

static void choose_units(const saltusi_friction_case* in) {
  saltusi_bodies* b = in->bodies;
  double light = 0.0;
  for (int i = 0; i < b->units; i++) {
    light += 1.0 / in->rho[i];
  }
  b->single.mass = unit_near(b->units / light);
  b->single.speed = unit_near(in->velocity_unit / sqrt(3.0 * b->units));
}

/* Three of six columns of the rows of a body, times a factor. */
static void put_half(const double* rows, double unit, int place, float* to) {
  for (int k = 0; k < 9; k++) {
    to[(place + k) * LANES] = (float)(unit * rows[k / 3 * WIDTH + k % 3]);
  }
}

static void put(const saltusi_friction_case* in, int i, float* to) {
  const saltusi_bodies* b = in->bodies;
  const double mass = b->single.mass;
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const double* moved = b->moved + (size_t)i * SALTUSI_CONTACT_ROWS;
  const double* own = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* local = in->local + in->pattern->local_at[i];
  const double* block = local + SALTUSI_LOCAL_S;
  const int* body = b->body + 2 * (size_t)i;
  put_half(G, 1.0, FRAME, to);
  put_half(G + 3, 1.0, ARM, to);
  put_half(moved + 3, mass, TURN, to);
  to[LIGHT * LANES] = (float)(mass * b->inverse[(size_t)body[0] * SALTUSI_BODY_BLOCK]);
  if (body[1] >= 0) {
    put_half(G + SALTUSI_BODY_ROWS + 3, 1.0, OTHER_ARM, to);
    put_half(moved + SALTUSI_BODY_ROWS + 3, mass, OTHER_TURN, to);
    to[(LIGHT + 1) * LANES] = (float)(mass * b->inverse[(size_t)body[1] * SALTUSI_BODY_BLOCK]);
  }
  for (int k = 0; k < 9; k++) {
    to[(W + k) * LANES] = (float)(mass * own[k]);
  }
  for (int k = 0; k < 4; k++) {
    to[(S + k) * LANES] = (float)(mass * block[k]);
  }
  for (int k = 0; k < 3; k++) {
    to[(SOFT + k) * LANES] = (float)(mass * b->soft[3 * i + k]);
  }
  to[INVERSE_N * LANES] = (float)(local[SALTUSI_LOCAL_INVERSE] / mass);
  to[INVERSE_S * LANES] =
      (float)(1.0 / ((block[0] * block[3] - block[1] * block[2]) * mass * mass));
  to[MU * LANES] = (float)in->mu[i];
}

static bool pack(const saltusi_friction_case* in) {
  assert(LANES * FIELDS * most_groups * sizeof(float) <= SALTUSI_PACKED_CAPACITY * sizeof(double));
  saltusi_bodies* b = in->bodies;
  if (!b->single.wanted || !saltusi_rigid_serves(b) ||
      !saltusi_groups_form(b, LANES, most_groups)) {
    return false;
  }
  choose_units(in);
  memset(b->packed, 0, (size_t)b->groups * GROUP * sizeof(float));
  for (int at = 0; at < b->groups * LANES; at++) {
    if (b->lane[at] >= 0) {
      put(in, b->lane[at], lane_of(b, at));
    }
  }
  return true;
}

/* ---- velocities of bodies ---- */

/* Eight bodies, each eight numbers of which six are used, as six vectors and back. A body is stored in one piece, as
 * it will be loaded. */
#if defined(__clang__) || __GNUC__ >= 12
SALTUSI_ALWAYS_INLINE void transpose(const float* v, const int* pair, saltusi_float_lanes* to) {
  saltusi_float_lanes low[LANES / 2], high[LANES / 2], four[LANES];
  for (int l = 0; l < LANES; l += 2) {
    const saltusi_float_lanes x = *(const saltusi_float_lanes*)(v + (size_t)pair[2 * l] * PLACES);
    const saltusi_float_lanes y =
        *(const saltusi_float_lanes*)(v + (size_t)pair[2 * l + 2] * PLACES);
    low[l / 2] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
    high[l / 2] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int l = 0; l < 2; l++) { /* columns 0 and 4, 1 and 5, 2, 3 of four bodies */
    four[4 * l] = __builtin_shufflevector(low[2 * l], low[2 * l + 1], 0, 1, 8, 9, 4, 5, 12, 13);
    four[4 * l + 1] =
        __builtin_shufflevector(low[2 * l], low[2 * l + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    four[4 * l + 2] =
        __builtin_shufflevector(high[2 * l], high[2 * l + 1], 0, 1, 8, 9, 4, 5, 12, 13);
    four[4 * l + 3] =
        __builtin_shufflevector(high[2 * l], high[2 * l + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int k = 0; k < 4; k++) {
    to[k] = __builtin_shufflevector(four[k], four[4 + k], 0, 1, 2, 3, 8, 9, 10, 11);
  }
  for (int k = 0; k < 2; k++) {
    to[4 + k] = __builtin_shufflevector(four[k], four[4 + k], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Four numbers of two bodies, then of the others, from two pairs of interleaved columns. */
SALTUSI_ALWAYS_INLINE void store_two(const saltusi_float_lanes* front,
                                     const saltusi_float_lanes* back, float* v, const int* pair) {
  *(saltusi_float_lanes*)(v + (size_t)pair[0] * PLACES) =
      __builtin_shufflevector(*front, *back, 0, 1, 2, 3, 8, 9, 10, 11);
  *(saltusi_float_lanes*)(v + (size_t)pair[2 * LANES / 2] * PLACES) =
      __builtin_shufflevector(*front, *back, 4, 5, 6, 7, 12, 13, 14, 15);
}

SALTUSI_ALWAYS_INLINE void transpose_back(const saltusi_float_lanes* from, const int* pair,
                                          float* v) {
  const saltusi_float_lanes zero = {0.0F};
  for (int half = 0; half < 2; half++) { /* bodies 0, 1, 4, 5, then 2, 3, 6, 7 */
    saltusi_float_lanes c01, c23, c45;
    if (half == 0) {
      c01 = __builtin_shufflevector(from[0], from[1], 0, 8, 1, 9, 4, 12, 5, 13);
      c23 = __builtin_shufflevector(from[2], from[3], 0, 8, 1, 9, 4, 12, 5, 13);
      c45 = __builtin_shufflevector(from[4], from[5], 0, 8, 1, 9, 4, 12, 5, 13);
    } else {
      c01 = __builtin_shufflevector(from[0], from[1], 2, 10, 3, 11, 6, 14, 7, 15);
      c23 = __builtin_shufflevector(from[2], from[3], 2, 10, 3, 11, 6, 14, 7, 15);
      c45 = __builtin_shufflevector(from[4], from[5], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    const saltusi_float_lanes front = __builtin_shufflevector(c01, c23, 0, 1, 8, 9, 4, 5, 12, 13);
    const saltusi_float_lanes next = __builtin_shufflevector(c01, c23, 2, 3, 10, 11, 6, 7, 14, 15);
    const saltusi_float_lanes back = __builtin_shufflevector(c45, zero, 0, 1, 8, 9, 4, 5, 12, 13);
    const saltusi_float_lanes last = __builtin_shufflevector(c45, zero, 2, 3, 10, 11, 6, 7, 14, 15);
    store_two(&front, &back, v, pair + 4 * (size_t)half);
    store_two(&next, &last, v, pair + 4 * (size_t)half + 2);
  }
}
#else
SALTUSI_ALWAYS_INLINE void transpose(const float* v, const int* pair, lanes* to) {
  for (int k = 0; k < WIDTH * LANES; k++) {
    to[k / LANES][k % LANES] = v[(size_t)pair[k % LANES * 2] * PLACES + (size_t)(k / LANES)];
  }
}

SALTUSI_ALWAYS_INLINE void transpose_back(const lanes* from, const int* pair, float* v) {
  for (int k = 0; k < WIDTH * LANES; k++) {
    v[(size_t)pair[k % LANES * 2] * PLACES + (size_t)(k / LANES)] = from[k / LANES][k % LANES];
  }
}
#endif

SALTUSI_ALWAYS_INLINE void gather(const float* v, const int* pair, float_kernel_pairs* to) {
  transpose(v, pair, to->a);
  transpose(v, pair + 1, to->b);
}

/* Idle lanes write the unchanged data of the fixed body. */
SALTUSI_ALWAYS_INLINE void scatter(const float_kernel_pairs* from, const int* pair, float* v) {
  transpose_back(from->a, pair, v);
  transpose_back(from->b, pair + 1, v);
}

/* u += G_i^T v */
SALTUSI_ALWAYS_INLINE void add_relative(const saltusi_float_lanes* c, const float_kernel_pairs* v,
                                        saltusi_float_lanes* u) {
  const saltusi_float_lanes d0 = v->a[0] - v->b[0], d1 = v->a[1] - v->b[1], d2 = v->a[2] - v->b[2];
  for (int k = 0; k < 3; k++) {
    const saltusi_float_lanes *f = c + FRAME + 3 * k, *a = c + ARM + 3 * k,
                              *o = c + OTHER_ARM + 3 * k;
    u[k] +=
        (f[0] * d0 + f[1] * d1 + f[2] * d2) + ((a[0] * v->a[3] + a[1] * v->a[4] + a[2] * v->a[5]) +
                                               (o[0] * v->b[3] + o[1] * v->b[4] + o[2] * v->b[5]));
  }
}

/* v += A^-1 G_i d */
SALTUSI_ALWAYS_INLINE void push(const saltusi_float_lanes* c, const saltusi_float_lanes* d,
                                float_kernel_pairs* v) {
  const saltusi_float_lanes *f = c + FRAME, *a = c + TURN, *o = c + OTHER_TURN;
  for (int k = 0; k < 3; k++) {
    const saltusi_float_lanes p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    v->a[k] += c[LIGHT] * p;
    v->b[k] -= c[LIGHT + 1] * p;
    v->a[3 + k] += a[k] * d[0] + a[3 + k] * d[1] + a[6 + k] * d[2];
    v->b[3 + k] += o[k] * d[0] + o[3 + k] * d[1] + o[6 + k] * d[2];
  }
}

/* ---- one contact ---- */

/* Selects `yes` where the mask is set, elsewhere `no`. */
SALTUSI_ALWAYS_INLINE void choose(const saltusi_float_masks* mask, const saltusi_float_lanes* yes,
                                  const saltusi_float_lanes* no, saltusi_float_lanes* to) {
  *to = (saltusi_float_lanes)((*mask & (saltusi_float_masks)*yes) |
                              (~*mask & (saltusi_float_masks)*no));
}

SALTUSI_ALWAYS_INLINE bool any(const saltusi_float_masks* mask) {
  const saltusi_masks pairwise = (saltusi_masks)*mask;
  return (pairwise[0] | pairwise[1] | pairwise[2] | pairwise[3]) != 0;
}

SALTUSI_ALWAYS_INLINE void root(const saltusi_float_lanes* x, saltusi_float_lanes* to) {
  *to = (saltusi_float_lanes){sqrtf((*x)[0]), sqrtf((*x)[1]), sqrtf((*x)[2]), sqrtf((*x)[3]),
                              sqrtf((*x)[4]), sqrtf((*x)[5]), sqrtf((*x)[6]), sqrtf((*x)[7])};
}

/* Data of slip besides a. */
typedef struct float_kernel_slipping {
  saltusi_float_lanes c1, c2;  /* c */
  saltusi_float_lanes normal;  /* mu r_N without tangential impulses */
  saltusi_float_lanes n1, n2;  /* mu W_NT / W_NN */
  saltusi_float_lanes crossed; /* S_12 S_21 */
} float_kernel_slipping;

/* p, m and |p| of rigid_kernel.c at one a. */
typedef struct float_kernel_slip_point {
  saltusi_float_lanes p1, p2, det, trace, m, size2, size;
} float_kernel_slip_point;

SALTUSI_ALWAYS_INLINE void look(const saltusi_float_lanes* c, const float_kernel_slipping* s,
                                const saltusi_float_lanes* a, float_kernel_slip_point* at) {
  const saltusi_float_lanes A = c[S] + *a, D = c[S + 3] + *a;
  at->trace = A + D;
  at->det = A * D - s->crossed;
  at->p1 = c[S + 1] * s->c2 - D * s->c1;
  at->p2 = c[S + 2] * s->c1 - A * s->c2;
  at->m = s->normal * at->det - (s->n1 * at->p1 + s->n2 * at->p2);
  at->size2 = at->p1 * at->p1 + at->p2 * at->p2;
  root(&at->size2, &at->size);
}

/* Slip of the contacts of the mask `slips`: their tangents t, and a of them all; the mask keeps the unsolved ones. */
SALTUSI_ALWAYS_INLINE void slip(saltusi_float_lanes* c, const float_kernel_slipping* s,
                                saltusi_float_masks* slips, saltusi_float_lanes* t) {
  const saltusi_float_lanes zero = {0.0F}, one = zero + 1.0F;
  saltusi_float_lanes a = c[SLIP];
  saltusi_float_masks wanted = *slips & (saltusi_float_masks)(a > zero), near = {0};
  float_kernel_slip_point at = {.size = {0.0F}}; /* avoids a compiler warning */
  choose(&wanted, &a, &one, &a);
  for (int k = 0; k < SLIP_STEPS; k++) {
    look(c, s, &a, &at);
    const saltusi_float_lanes gap = at.m - at.size, within = slip_near * at.size;
    near = (saltusi_float_masks)(gap <= within) & (saltusi_float_masks)(gap >= -within);
    const saltusi_float_lanes faster = s->normal * at.trace + (s->n1 * s->c1 + s->n2 * s->c2);
    saltusi_float_lanes slope = faster * at.size2 + at.m * (at.p1 * s->c1 + at.p2 * s->c2);
    const saltusi_float_masks rises = (saltusi_float_masks)(slope > zero);
    choose(&rises, &slope, &one, &slope);
    saltusi_float_lanes next = a - gap * at.size2 / slope;
    const saltusi_float_masks inside = rises & (saltusi_float_masks)(next > zero);
    wanted &= inside;
    choose(&inside, &next, &a, &a);
    const saltusi_float_masks left = wanted & ~near;
    if (!any(&left)) {
      break;
    }
  }
  look(c, s, &a, &at);
  saltusi_float_masks solved =
      wanted & near & (saltusi_float_masks)(at.m > zero) & (saltusi_float_masks)(at.det > zero);
  saltusi_float_lanes longest = at.size * at.det;
  solved &= (saltusi_float_masks)(longest > zero);
  choose(&solved, &longest, &one, &longest);
  const saltusi_float_lanes part = at.m / longest, t1 = part * at.p1, t2 = part * at.p2;
  choose(&solved, &t1, t, t);
  choose(&solved, &t2, t + 1, t + 1);
  choose(&solved, &a, c + SLIP, c + SLIP);
  *slips &= ~solved;
}

/* Changes of contacts from their r and u, each with the others fixed; returns a mask of the unsolved ones. */
SALTUSI_ALWAYS_INLINE void solve(saltusi_float_lanes* c, const saltusi_float_lanes* r,
                                 const saltusi_float_lanes* u, saltusi_float_lanes* d,
                                 saltusi_float_masks* unsolved) {
  const saltusi_float_lanes zero = {0.0F};
  const saltusi_float_lanes more = -(u[0] * c[INVERSE_N]); /* of r_N, with constant tangents */
  const saltusi_float_lanes c1 = u[1] + c[W + 3] * more, c2 = u[2] + c[W + 6] * more;
  const saltusi_float_lanes d1 = (c[S + 1] * c2 - c[S + 3] * c1) * c[INVERSE_S];
  const saltusi_float_lanes d2 = (c[S + 2] * c1 - c[S] * c2) * c[INVERSE_S];
  const saltusi_float_lanes d0 = more - (c[W + 1] * d1 + c[W + 2] * d2) * c[INVERSE_N];
  const saltusi_float_lanes free_ =
      r[0] + more + (c[W + 1] * r[1] + c[W + 2] * r[2]) * c[INVERSE_N];
  const saltusi_float_lanes n = r[0] + d0, t1 = r[1] + d1, t2 = r[2] + d2, radius = c[MU] * n;
  const saltusi_float_masks pressed = (saltusi_float_masks)(free_ > zero),
                            rough = (saltusi_float_masks)(c[MU] > zero);
  const saltusi_float_masks joint = (saltusi_float_masks)(c[MU] < zero);
  const saltusi_float_masks sticks =
      joint | (pressed & (saltusi_float_masks)(n > zero) &
               (saltusi_float_masks)(t1 * t1 + t2 * t2 <= radius * radius));
  saltusi_float_lanes t[2] = {zero, zero}; /* of non-sticking contacts */
  *unsolved = pressed & ~sticks & rough;
  if (any(unsolved)) {
    const saltusi_float_lanes part = c[MU] * c[INVERSE_N];
    const float_kernel_slipping s = {c1 - (c[S] * r[1] + c[S + 1] * r[2]),
                                     c2 - (c[S + 2] * r[1] + c[S + 3] * r[2]),
                                     c[MU] * free_,
                                     part * c[W + 1],
                                     part * c[W + 2],
                                     c[S + 1] * c[S + 2]};
    slip(c, &s, unsolved, t);
  }
  const saltusi_float_lanes s1 = t[0] - r[1], s2 = t[1] - r[2], off = -r[0];
  const saltusi_float_lanes s0 = more - (c[W + 1] * s1 + c[W + 2] * s2) * c[INVERSE_N];
  saltusi_float_lanes rest;
  choose(&pressed, &s0, &off, &rest);
  choose(&sticks, &d0, &rest, d);
  choose(&sticks, &d1, &s1, d + 1);
  choose(&sticks, &d2, &s2, d + 2);
}

/* Solves the contacts that `solve` left, one by one. */
static void solve_apart(const saltusi_friction_case* in, int group, const saltusi_float_lanes* r,
                        const saltusi_float_lanes* u, saltusi_float_lanes* d,
                        const saltusi_float_masks* unsolved) {
  const saltusi_bodies* b = in->bodies;
  const double speed = b->single.speed, impulse = b->single.mass * speed;
  for (int l = 0; l < LANES; l++) {
    if ((*unsolved)[l] != 0) {
      const int i = b->lane[group * LANES + l];
      const double* own = in->values + in->pattern->place[in->pattern->diagonal[i]];
      float* slips = lane_of(b, group * LANES + l) + (size_t)SLIP * LANES;
      double a = *slips / b->single.mass, alone[3], fresh[3];
      for (int k = 0; k < 3; k++) {
        alone[k] = speed * u[k][l];
        for (int m = 0; m < 3; m++) {
          alone[k] -= own[3 * k + m] * impulse * r[m][l];
        }
      }
      saltusi_one_contact_spatial(in->local + in->pattern->local_at[i], in->mu[i], alone, fresh,
                                  &a);
      *slips = (float)(a * b->single.mass);
      for (int k = 0; k < 3; k++) {
        d[k][l] = (float)(fresh[k] / impulse) - r[k][l];
      }
    }
  }
}

/* ---- iterations ---- */

SALTUSI_FOR_MACHINES static double iterate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  saltusi_float_lanes change2 = {0.0F};
  for (int g = 0; g < b->groups; g++) {
    saltusi_float_lanes* c = group_of(b, g);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    float_kernel_pairs v = {.a = {{0.0F}}}; /* avoids a compiler warning */
    saltusi_float_lanes r[3], u[3], d[3];
    saltusi_float_masks unsolved;
    gather(b->single.v, pair, &v);
    for (int k = 0; k < 3; k++) {
      r[k] = c[IMPULSE + k] + c[CHANGE + k];
      u[k] = c[VELOCITY + k] + c[SOFT + k] * c[CHANGE + k];
    }
    add_relative(c, &v, u);
    solve(c, r, u, d, &unsolved);
    if (any(&unsolved)) {
      solve_apart(in, g, r, u, d, &unsolved);
    }
    for (int k = 0; k < 3; k++) {
      const saltusi_float_lanes* w = c + W + 3 * k;
      const saltusi_float_lanes moved = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
      change2 += moved * moved;
      c[CHANGE + k] += d[k];
    }
    push(c, d, &v);
    scatter(&v, pair, b->single.v);
  }
  double sum = 0.0;
  for (int l = 0; l < LANES; l++) {
    sum += change2[l];
  }
  return sum * b->single.speed * b->single.speed;
}

/* saltusi_momentum by lanes. */
SALTUSI_ALWAYS_INLINE void add_momentum(saltusi_float_lanes* c, saltusi_float_lanes* change) {
  saltusi_float_lanes *r = c + CHANGE, *x = c + PLACE, *y = c + BEFORE, *age = c + AGE;
  const saltusi_float_lanes zero = {0.0F}, most = zero + (float)SALTUSI_MOMENTUM_MOST;
  const saltusi_float_lanes way[3] = {r[0] - x[0], r[1] - x[1], r[2] - x[2]};
  const saltusi_float_lanes against =
      (y[0] - r[0]) * way[0] + (y[1] - r[1]) * way[1] + (y[2] - r[2]) * way[2];
  const saltusi_float_masks turned = (saltusi_float_masks)(against > zero);
  const saltusi_float_lanes younger = (float)SALTUSI_MOMENTUM_KEEP * *age, older = *age + 1.0F;
  choose(&turned, &younger, &older, age);
  saltusi_float_lanes part = *age / (*age + (float)SALTUSI_MOMENTUM_SLOW);
  const saltusi_float_masks below = (saltusi_float_masks)(part < most);
  choose(&below, &part, &most, &part);
  for (int k = 0; k < 3; k++) {
    change[k] = part * way[k];
    x[k] = r[k];
    y[k] = r[k] += change[k];
  }
}

SALTUSI_FOR_MACHINES static void extrapolate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  for (int g = 0; g < b->groups; g++) {
    saltusi_float_lanes* c = group_of(b, g);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    float_kernel_pairs v = {.a = {{0.0F}}}; /* avoids a compiler warning */
    saltusi_float_lanes change[3];
    add_momentum(c, change);
    gather(b->single.v, pair, &v);
    push(c, change, &v);
    scatter(&v, pair, b->single.v);
  }
}

/* Sets the impulses r with velocities u as the reference of changes. */
static void rebase(const saltusi_friction_case* in, const double* r, const double* u) {
  const saltusi_bodies* b = in->bodies;
  const double per_speed = 1.0 / b->single.speed, per_impulse = per_speed / b->single.mass;
  memset(b->single.v, 0, ((size_t)b->bodies + 1) * PLACES * sizeof(float));
  for (int at = 0; at < b->groups * LANES; at++) {
    const int i = b->lane[at];
    float* to = lane_of(b, at);
    for (int k = 0; k < 3 && i >= 0; k++) {
      to[(IMPULSE + k) * LANES] = (float)(r[3 * i + k] * per_impulse);
      to[(VELOCITY + k) * LANES] = (float)(u[3 * i + k] * per_speed);
      to[(PLACE + k) * LANES] -= to[(CHANGE + k) * LANES];
      to[(BEFORE + k) * LANES] -= to[(CHANGE + k) * LANES];
      to[(CHANGE + k) * LANES] = 0.0F;
    }
  }
}

static void start(const saltusi_friction_case* in, const double* r) {
  const saltusi_bodies* b = in->bodies;
  (void)r; /* follows by rebase */
  for (int at = 0; at < b->groups * LANES; at++) {
    float* to = lane_of(b, at);
    for (int k = CHANGE; k <= AGE; k++) {
      to[k * LANES] = 0.0F;
    }
    to[SLIP * LANES] = b->lane[at] >= 0 ? (float)(in->slip[b->lane[at]] * b->single.mass) : 0.0F;
  }
}

static void forget(const saltusi_friction_case* in) {
  for (int g = 0; g < in->bodies->groups; g++) {
    group_of(in->bodies, g)[AGE] = (saltusi_float_lanes){0.0F};
  }
}

/* r is the reference of changes. */
static void fetch(const saltusi_friction_case* in, double* r) {
  const saltusi_bodies* b = in->bodies;
  const double impulse = b->single.mass * b->single.speed;
  for (int at = 0; at < b->groups * LANES; at++) {
    const int i = b->lane[at];
    const float* from = lane_of(b, at);
    if (i < 0) {
      continue;
    }
    in->slip[i] = from[SLIP * LANES] / b->single.mass;
    from += (size_t)CHANGE * LANES;
    if (from[0] != 0.0F || from[LANES] != 0.0F || from[2 * LANES] != 0.0F) {
      for (int k = 0; k < 3; k++) {
        r[3 * i + k] += impulse * from[k * LANES];
      }
      if (in->mu[i] >= 0.0) {
        saltusi_cone_project(3, in->mu[i], r + 3 * (size_t)i);
      }
    }
  }
}

const saltusi_body_kernel saltusi_body_kernel_float = {.cost = 80.0,
                                                       .single = true,
                                                       .pack = pack,
                                                       .start = start,
                                                       .rebase = rebase,
                                                       .iterate = iterate,
                                                       .extrapolate = extrapolate,
                                                       .forget = forget,
                                                       .fetch = fetch};
