/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rigid_kernel.c - rigid bodies: A^-1 has 1 / m for the velocity of the centre of mass and any block of 3 x 3 for
 * that of rotation, and a contact has one frame for both of its bodies:
 *
 *   u = q + E (va - vb) + a wa + b wb,     va += E^T r / ma,   vb -= E^T r / mb,   wa += a' r,   wb += b' r
 *
 * with the arms a and b and a' = A^-1 a^T, b' = A^-1 b^T, which are independent data as gyroscopic forces make A
 * unsymmetric.
 *
 * Contacts are packed by four (body_groups.c), and solved as in one_contact.c, whose S, c, r_T(a) and psi(a) are
 * used here: with
 *
 *   p(a) = det(S + a I) r_T(a),   m(a) = mu det(S + a I) r_N(a),     psi = m / |p| - 1
 *
 * p is linear and m quadratic in a, and a step of Newton's method takes one division. It starts from the a of the
 * last visit. First visits and contacts without convergence are left to one_contact.c.
 */
#include "solve/body_space/body_lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Positions in a group after those of every kind; data that momentum reads come first. */
enum {
  IMPULSE = SALTUSI_GROUP_IMPULSE,
  MU = SALTUSI_GROUP_MU,
  FRAME = SALTUSI_GROUP_OWN,
  TURN = FRAME + 9,
  OTHER_TURN = TURN + 9,
  LIGHT = OTHER_TURN + 9, /* 1 / mass of the first body and of the second */
  ARM = LIGHT + 2,
  OTHER_ARM = ARM + 9,
  FREE = OTHER_ARM + 9,
  W = FREE + 3,      /* G_i^T A^-1 G_i, which is W_ii without the springs of the contact */
  INVERSE_N = W + 9, /* 1 / W_NN, with the springs */
  S,
  INVERSE_S = S + 4, /* 1 / det S */
  SLIP,              /* a */
  SOFT,
  FIELDS = SOFT + 3
};
enum { LANES = SALTUSI_LANES, GROUP = FIELDS * LANES, WIDTH = SALTUSI_BODY_WIDTH };

/* Most groups per contact: with half of all lanes idle, contacts one by one are as fast. */
static const double most_groups = 0.5;
/* |psi| of slipping contacts, a hundred times the rounding unless S is nearly singular. They are projected onto the
 * cone, and the next visit starts from here. */
static const double slip_tol = 1e-12;
/* Newton's steps for it. */
enum { SLIP_STEPS = 8 };

/* Whether A^-1 has 1 / m in all directions and does not couple translation and rotation. */
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

/* Three of six columns of the rows of a body, and the same three of all. */
static void put_half(const double* rows, int place, double* to) {
  for (int k = 0; k < 9; k++) {
    to[(place + k) * LANES] = rows[k / 3 * WIDTH + k % 3];
  }
}

static void put(const saltusi_friction_case* in, int i, double* to) {
  const saltusi_bodies* b = in->bodies;
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const double* moved = b->moved + (size_t)i * SALTUSI_CONTACT_ROWS;
  const double* own = in->values + in->pattern->place[in->pattern->diagonal[i]];
  const double* local = in->local + in->pattern->local_at[i];
  const int* body = b->body + 2 * (size_t)i;
  put_half(G, FRAME, to);
  put_half(G + 3, ARM, to);
  put_half(moved + 3, TURN, to);
  to[LIGHT * LANES] = b->inverse[(size_t)body[0] * SALTUSI_BODY_BLOCK];
  if (body[1] >= 0) {
    put_half(G + SALTUSI_BODY_ROWS + 3, OTHER_ARM, to);
    put_half(moved + SALTUSI_BODY_ROWS + 3, OTHER_TURN, to);
    to[(LIGHT + 1) * LANES] = b->inverse[(size_t)body[1] * SALTUSI_BODY_BLOCK];
  }
  for (int k = 0; k < 9; k++) {
    to[(W + k) * LANES] = own[k] - (k % 4 == 0 ? b->soft[3 * i + k / 4] : 0.0);
  }
  for (int k = 0; k < 3; k++) {
    to[(FREE + k) * LANES] = in->q[3 * i + k];
    to[(SOFT + k) * LANES] = b->soft[3 * i + k];
  }
  const double* block = local + SALTUSI_LOCAL_S;
  to[INVERSE_N * LANES] = local[SALTUSI_LOCAL_INVERSE];
  for (int k = 0; k < 4; k++) {
    to[(S + k) * LANES] = block[k];
  }
  to[INVERSE_S * LANES] = 1.0 / (block[0] * block[3] - block[1] * block[2]);
}

/* Whether both bodies have one frame. */
static bool is_packable(const saltusi_bodies* b, int i) {
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  for (int k = 0; k < 9 && b->body[2 * i + 1] >= 0; k++) {
    const int at = k / 3 * WIDTH + k % 3;
    if (G[SALTUSI_BODY_ROWS + at] != -G[at]) {
      return false;
    }
  }
  return true;
}

bool saltusi_rigid_serves(const saltusi_bodies* b) {
  assert(b != NULL);
  for (int k = 0; k < b->bodies; k++) {
    if (!is_rigid(b->inverse + (size_t)k * SALTUSI_BODY_BLOCK)) {
      return false;
    }
  }
  for (int i = 0; i < b->units; i++) {
    if (!is_packable(b, i)) {
      return false;
    }
  }
  return true;
}

static bool pack(const saltusi_friction_case* in) {
  return saltusi_rigid_serves(in->bodies) && saltusi_groups_pack(in, FIELDS, most_groups, put);
}

/* u = G_i^T v + q */
SALTUSI_ALWAYS_INLINE void relative(const saltusi_lanes* c, const saltusi_pairs* v,
                                    saltusi_lanes* u) {
  const saltusi_lanes d0 = v->a[0] - v->b[0], d1 = v->a[1] - v->b[1], d2 = v->a[2] - v->b[2];
  for (int k = 0; k < 3; k++) {
    const saltusi_lanes *f = c + FRAME + 3 * k, *a = c + ARM + 3 * k, *o = c + OTHER_ARM + 3 * k;
    u[k] = c[FREE + k] + (f[0] * d0 + f[1] * d1 + f[2] * d2) +
           (a[0] * v->a[3] + a[1] * v->a[4] + a[2] * v->a[5]) +
           (o[0] * v->b[3] + o[1] * v->b[4] + o[2] * v->b[5]);
  }
}

/* v += A^-1 G_i d */
SALTUSI_ALWAYS_INLINE void push(const saltusi_lanes* c, const saltusi_lanes* d, saltusi_pairs* v) {
  const saltusi_lanes *f = c + FRAME, *a = c + TURN, *o = c + OTHER_TURN;
  for (int k = 0; k < 3; k++) {
    const saltusi_lanes p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    v->a[k] += c[LIGHT] * p;
    v->b[k] -= c[LIGHT + 1] * p;
    v->a[3 + k] += a[k] * d[0] + a[3 + k] * d[1] + a[6 + k] * d[2];
    v->b[3 + k] += o[k] * d[0] + o[3 + k] * d[1] + o[6 + k] * d[2];
  }
}

/* Data of slip besides a. */
typedef struct rigid_kernel_slipping {
  saltusi_lanes c1, c2;  /* c */
  saltusi_lanes normal;  /* mu r_N without tangential impulses */
  saltusi_lanes n1, n2;  /* mu W_NT / W_NN */
  saltusi_lanes crossed; /* S_12 S_21 */
} rigid_kernel_slipping;

/* p, m and |p| at one a. */
typedef struct rigid_kernel_slip_point {
  saltusi_lanes p1, p2, det, trace, m, size2, size;
} rigid_kernel_slip_point;

SALTUSI_ALWAYS_INLINE void look(const saltusi_lanes* c, const rigid_kernel_slipping* s,
                                const saltusi_lanes* a, rigid_kernel_slip_point* at) {
  const saltusi_lanes A = c[S] + *a, D = c[S + 3] + *a;
  at->trace = A + D;
  at->det = A * D - s->crossed;
  at->p1 = c[S + 1] * s->c2 - D * s->c1;
  at->p2 = c[S + 2] * s->c1 - A * s->c2;
  at->m = s->normal * at->det - (s->n1 * at->p1 + s->n2 * at->p2);
  at->size2 = at->p1 * at->p1 + at->p2 * at->p2;
  saltusi_root(&at->size2, &at->size);
}

/* Slip of the contacts of the mask `slips`: their new impulses, and a of them all; the mask keeps the unsolved ones. */
SALTUSI_ALWAYS_INLINE void slip(saltusi_lanes* c, const rigid_kernel_slipping* s,
                                saltusi_masks* slips, saltusi_lanes* fresh) {
  const saltusi_lanes zero = {0.0}, one = zero + 1.0;
  saltusi_lanes a = c[SLIP];
  saltusi_masks wanted = *slips & (saltusi_masks)(a > zero);
  rigid_kernel_slip_point at = {.size = {0.0}}; /* avoids a compiler warning */
  saltusi_masks solved = {0};
  saltusi_choose(&wanted, &a, &one, &a);
  for (int k = 0; k < SLIP_STEPS; k++) {
    look(c, s, &a, &at);
    const saltusi_lanes gap = at.m - at.size, near = slip_tol * at.size;
    solved = (saltusi_masks)(gap <= near) & (saltusi_masks)(gap >= -near);
    const saltusi_masks left = wanted & ~solved;
    if (!saltusi_any(&left)) {
      break;
    }
    const saltusi_lanes faster = s->normal * at.trace + (s->n1 * s->c1 + s->n2 * s->c2);
    saltusi_lanes slope = faster * at.size2 + at.m * (at.p1 * s->c1 + at.p2 * s->c2);
    const saltusi_masks rises = (saltusi_masks)(slope > zero);
    saltusi_choose(&rises, &slope, &one, &slope);
    saltusi_lanes next = a - gap * at.size2 / slope;
    const saltusi_masks inside = rises & (saltusi_masks)(next > zero);
    wanted &= inside;
    saltusi_choose(&inside, &next, &a, &a);
  }
  solved &= wanted;
  saltusi_lanes det = c[MU] * at.det, long_ = at.size * at.det;
  saltusi_choose(&solved, &det, &one, &det);
  saltusi_choose(&solved, &long_, &one, &long_);
  const saltusi_lanes normal = at.m / det, part = at.m / long_, t1 = part * at.p1,
                      t2 = part * at.p2;
  saltusi_choose(&solved, &normal, fresh, fresh);
  saltusi_choose(&solved, &t1, fresh + 1, fresh + 1);
  saltusi_choose(&solved, &t2, fresh + 2, fresh + 2);
  saltusi_choose(&solved, &a, c + SLIP, c + SLIP);
  *slips &= ~solved;
}

/* Solutions of single contacts, b = u - W_ii r; returns a mask of the unsolved ones. */
SALTUSI_ALWAYS_INLINE void solve(saltusi_lanes* c, const saltusi_lanes* b, saltusi_lanes* fresh,
                                 saltusi_masks* unsolved) {
  const saltusi_lanes zero = {0.0};
  const saltusi_lanes free_ = -(b[0] * c[INVERSE_N]); /* r_N without tangential impulses */
  const saltusi_masks pressed = (saltusi_masks)(free_ > zero);
  const saltusi_lanes c1 = b[1] + c[W + 3] * free_, c2 = b[2] + c[W + 6] * free_;
  const saltusi_lanes t1 = (c[S + 1] * c2 - c[S + 3] * c1) * c[INVERSE_S];
  const saltusi_lanes t2 = (c[S + 2] * c1 - c[S] * c2) * c[INVERSE_S];
  const saltusi_lanes normal = free_ - (c[W + 1] * t1 + c[W + 2] * t2) * c[INVERSE_N];
  const saltusi_lanes radius = c[MU] * normal;
  const saltusi_masks joint = (saltusi_masks)(c[MU] < zero);
  const saltusi_masks sticks = joint | (pressed & (saltusi_masks)(normal > zero) &
                                        (saltusi_masks)(t1 * t1 + t2 * t2 <= radius * radius));
  const saltusi_masks rough = (saltusi_masks)(c[MU] > zero);
  saltusi_lanes smooth;
  saltusi_choose(&pressed, &free_, &zero, &smooth);
  saltusi_choose(&sticks, &normal, &smooth, fresh);
  saltusi_choose(&sticks, &t1, &zero, fresh + 1);
  saltusi_choose(&sticks, &t2, &zero, fresh + 2);
  *unsolved = pressed & ~sticks & rough;
  if (saltusi_any(unsolved)) {
    const saltusi_lanes part = c[MU] * c[INVERSE_N];
    const rigid_kernel_slipping s = {
        c1, c2, c[MU] * free_, part * c[W + 1], part * c[W + 2], c[S + 1] * c[S + 2]};
    slip(c, &s, unsolved, fresh);
  }
}

/* Solves the contacts that `solve` left, one by one. */
static void solve_apart(const saltusi_friction_case* in, int group, const saltusi_lanes* b,
                        saltusi_lanes* fresh, const saltusi_masks* unsolved) {
  double* c = in->bodies->packed + (size_t)group * GROUP;
  for (int l = 0; l < LANES; l++) {
    if ((*unsolved)[l] != 0) {
      const int i = in->bodies->lane[group * LANES + l];
      const double own[3] = {b[0][l], b[1][l], b[2][l]};
      double r[3];
      saltusi_one_contact_spatial(in->local + in->pattern->local_at[i], in->mu[i], own, r,
                                  c + SLIP * LANES + l);
      for (int k = 0; k < 3; k++) {
        fresh[k][l] = r[k];
      }
    }
  }
}

SALTUSI_FOR_MACHINES static double iterate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  saltusi_lanes change2 = {0.0};
  for (int g = 0; g < b->groups; g++) {
    saltusi_lanes* c = (saltusi_lanes*)(b->packed + (size_t)g * GROUP);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    saltusi_pairs v = {.a = {{0.0}}}; /* avoids a compiler warning */
    saltusi_lanes *r = c + IMPULSE, u[3], fresh[3], d[3];
    saltusi_masks unsolved;
    saltusi_gather(b->v, pair, &v);
    relative(c, &v, u);
    for (int k = 0; k < 3; k++) {
      const saltusi_lanes* w = c + W + 3 * k;
      u[k] -= w[0] * r[0] + w[1] * r[1] + w[2] * r[2];
    }
    solve(c, u, fresh, &unsolved);
    if (saltusi_any(&unsolved)) {
      solve_apart(in, g, u, fresh, &unsolved);
    }
    for (int k = 0; k < 3; k++) {
      d[k] = fresh[k] - r[k];
      r[k] = fresh[k];
    }
    for (int k = 0; k < 3; k++) {
      const saltusi_lanes* w = c + W + 3 * k;
      const saltusi_lanes moved = w[0] * d[0] + w[1] * d[1] + w[2] * d[2] + c[SOFT + k] * d[k];
      change2 += moved * moved;
    }
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

/* a of a lane, counted through all groups. */
static double* slip_of(const saltusi_bodies* b, int at) {
  return b->packed + (size_t)(at / LANES) * GROUP + (size_t)(SLIP * LANES + at % LANES);
}

static void start(const saltusi_friction_case* in, const double* r) {
  const saltusi_bodies* b = in->bodies;
  for (int at = 0; at < b->groups * LANES; at++) {
    *slip_of(b, at) = b->lane[at] >= 0 ? in->slip[b->lane[at]] : 0.0;
  }
  saltusi_groups_start(in, r);
}

static void fetch(const saltusi_friction_case* in, double* r) {
  const saltusi_bodies* b = in->bodies;
  for (int at = 0; at < b->groups * LANES; at++) {
    if (b->lane[at] >= 0) {
      in->slip[b->lane[at]] = *slip_of(b, at);
    }
  }
  saltusi_groups_fetch(in, r);
}

const saltusi_body_kernel saltusi_body_kernel_rigid = {.cost = 160.0,
                                                       .pack = pack,
                                                       .start = start,
                                                       .iterate = iterate,
                                                       .extrapolate = extrapolate,
                                                       .forget = saltusi_groups_forget,
                                                       .fetch = fetch};
