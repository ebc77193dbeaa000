/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rigid_kernel.h - Gauss-Seidel over contacts of rigid bodies, several at a time: the body of a source file, which
 * specifies precision and width (rigid_kernel.c: four in double precision, float_kernel.c: eight in single precision).
 * A^-1 has 1 / m for the velocity of the centre of mass and any block of 3 x 3 for that of rotation, and a contact has
 * one frame for both of its bodies:
 *
 *   u = q + E (va - vb) + a wa + b wb,     va += E^T r / ma,   vb -= E^T r / mb,   wa += a' r,   wb += b' r
 *
 * with the arms a and b and a' = A^-1 a^T, b' = A^-1 b^T, which are independent data as gyroscopic forces make A
 * unsymmetric. The unknowns are changes,
 *
 *   r = r0 + d,   u = u0 + S d + G_i^T dv,   dv = A^-1 G d
 *
 * with r0 and u0 = q + (W r0)_i + S r0 in double precision (iterative refinement): the rounding of an iteration is
 * small relative to its changes. A sticking contact has d from u alone, W_ii d = -u, a slipping one its normal part.
 * Each evaluation computes velocities and residual in double precision and resets r0. In single precision r0 itself is
 * rounded in the decision between open, stick and slip and in the tangents of slipping contacts, which leaves about
 * 1e-7 of W r in u. The units of mass and velocity are powers of two near those of the problem, so that products of
 * four numbers stay far from the limits of single precision.
 *
 * Elimination of the normal impulse leaves S and the slip c of one_contact.c, whose r_T(a) and psi(a) are used here:
 * with
 *
 *   p(a) = det(S + a I) r_T(a),   m(a) = mu det(S + a I) r_N(a),     psi = m / |p| - 1
 *
 * p is linear and m quadratic in a, and a step of Newton's method takes one division. It starts from the a of the
 * last visit. First visits and contacts without convergence are left to one_contact.c.
 *
 * The source file defines NUMBER, VECTOR, MASKS, LANES, PLACES (numbers of a body), most_groups,
 * slip_near, SLIP_STEPS, root, transpose and transpose_back.
 */
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
enum { GROUP = FIELDS * LANES, WIDTH = SALTUSI_BODY_WIDTH };

/* Velocities of the first and the second bodies of a group, number by number. */
typedef struct kernel_pairs {
  VECTOR a[WIDTH], b[WIDTH];
} kernel_pairs;

static VECTOR* group_of(const saltusi_bodies* b, int g) {
  return (VECTOR*)((NUMBER*)b->packed + (size_t)g * GROUP);
}

/* Position of the numbers of a lane, counted through all groups. */
static NUMBER* lane_of(const saltusi_bodies* b, int at) {
  return (NUMBER*)b->packed + (size_t)(at / LANES) * GROUP + at % LANES;
}

/* ---- packing ---- */

/* A power of two. */
static double unit_near(double size) {
  return isfinite(size) && size > 0.0 ? ldexp(1.0, ilogb(size)) : 1.0;
}

/* Whether W_ii is the same for both tangents and couples no two rows, as for contacts of balls. */
static bool is_round(const double* block) {
  static const double rounding = 1e-12; /* some roundings of arms and frames */
  const double small = rounding * (block[0] + block[4]);
  bool same = fabs(block[8] - block[4]) <= small;
  for (int k = 1; k < 8; k++) {
    same = same && (k == 4 || fabs(block[k]) <= small);
  }
  return same;
}

static void choose_units(const saltusi_friction_case* in) {
  saltusi_bodies* b = in->bodies;
  double light = 0.0;
  b->single.round = true;
  for (int i = 0; i < b->units; i++) {
    light += 1.0 / in->rho[i];
    b->single.round =
        b->single.round &&
        (in->mu[i] < 0.0 || is_round(in->values + in->pattern->place[in->pattern->diagonal[i]]));
  }
  b->single.mass = unit_near(b->units / light);
  b->single.speed = unit_near(in->velocity_unit / sqrt(3.0 * b->units));
}

/* Three of six columns of the rows of a body, times a factor. */
static void put_half(const double* rows, double unit, int place, NUMBER* to) {
  for (int k = 0; k < 9; k++) {
    to[(place + k) * LANES] = (NUMBER)(unit * rows[k / 3 * WIDTH + k % 3]);
  }
}

static void put(const saltusi_friction_case* in, int i, NUMBER* to) {
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
  to[LIGHT * LANES] = (NUMBER)(mass * b->inverse[(size_t)body[0] * SALTUSI_BODY_BLOCK]);
  if (body[1] >= 0) {
    put_half(G + SALTUSI_BODY_ROWS + 3, 1.0, OTHER_ARM, to);
    put_half(moved + SALTUSI_BODY_ROWS + 3, mass, OTHER_TURN, to);
    to[(LIGHT + 1) * LANES] = (NUMBER)(mass * b->inverse[(size_t)body[1] * SALTUSI_BODY_BLOCK]);
  }
  for (int k = 0; k < 9; k++) {
    to[(W + k) * LANES] = (NUMBER)(mass * own[k]);
  }
  for (int k = 0; k < 4; k++) {
    to[(S + k) * LANES] = (NUMBER)(mass * block[k]);
  }
  for (int k = 0; k < 3; k++) {
    to[(SOFT + k) * LANES] = (NUMBER)(mass * b->soft[3 * i + k]);
  }
  to[INVERSE_N * LANES] = (NUMBER)(local[SALTUSI_LOCAL_INVERSE] / mass);
  to[INVERSE_S * LANES] =
      (NUMBER)(1.0 / ((block[0] * block[3] - block[1] * block[2]) * mass * mass));
  to[MU * LANES] = (NUMBER)in->mu[i];
}

/* Contacts of rigid bodies into groups. */
static bool pack_groups(const saltusi_friction_case* in) {
  assert((size_t)(GROUP * sizeof(NUMBER)) * most_groups <=
         SALTUSI_PACKED_CAPACITY * sizeof(double));
  saltusi_bodies* b = in->bodies;
  if (!saltusi_rigid_serves(b) || !saltusi_groups_form(b, LANES, most_groups)) {
    return false;
  }
  choose_units(in);
  memset(b->packed, 0, (size_t)b->groups * GROUP * sizeof(NUMBER));
  for (int at = 0; at < b->groups * LANES; at++) {
    if (b->lane[at] >= 0) {
      put(in, b->lane[at], lane_of(b, at));
    }
  }
  return true;
}

/* ---- velocities of bodies ---- */

SALTUSI_ALWAYS_INLINE void gather(const NUMBER* v, const int* pair, kernel_pairs* to) {
  transpose(v, pair, to->a);
  transpose(v, pair + 1, to->b);
}

/* Idle lanes write the unchanged data of the fixed body. */
SALTUSI_ALWAYS_INLINE void scatter(const kernel_pairs* from, const int* pair, NUMBER* v) {
  transpose_back(from->a, pair, v);
  transpose_back(from->b, pair + 1, v);
}

/* u += G_i^T v */
SALTUSI_ALWAYS_INLINE void add_relative(const VECTOR* c, const kernel_pairs* v, VECTOR* u) {
  const VECTOR d0 = v->a[0] - v->b[0], d1 = v->a[1] - v->b[1], d2 = v->a[2] - v->b[2];
  for (int k = 0; k < 3; k++) {
    const VECTOR *f = c + FRAME + 3 * k, *a = c + ARM + 3 * k, *o = c + OTHER_ARM + 3 * k;
    u[k] +=
        (f[0] * d0 + f[1] * d1 + f[2] * d2) + ((a[0] * v->a[3] + a[1] * v->a[4] + a[2] * v->a[5]) +
                                               (o[0] * v->b[3] + o[1] * v->b[4] + o[2] * v->b[5]));
  }
}

/* v += A^-1 G_i d */
SALTUSI_ALWAYS_INLINE void push(const VECTOR* c, const VECTOR* d, kernel_pairs* v) {
  const VECTOR *f = c + FRAME, *a = c + TURN, *o = c + OTHER_TURN;
  for (int k = 0; k < 3; k++) {
    const VECTOR p = f[k] * d[0] + f[3 + k] * d[1] + f[6 + k] * d[2];
    v->a[k] += c[LIGHT] * p;
    v->b[k] -= c[LIGHT + 1] * p;
    v->a[3 + k] += a[k] * d[0] + a[3 + k] * d[1] + a[6 + k] * d[2];
    v->b[3 + k] += o[k] * d[0] + o[3 + k] * d[1] + o[6 + k] * d[2];
  }
}

/* ---- one contact ---- */

/* Selects `yes` where the mask is set, elsewhere `no`. */
SALTUSI_ALWAYS_INLINE void choose(const MASKS* mask, const VECTOR* yes, const VECTOR* no,
                                  VECTOR* to) {
  *to = (VECTOR)((*mask & (MASKS)*yes) | (~*mask & (MASKS)*no));
}

SALTUSI_ALWAYS_INLINE bool any(const MASKS* mask) {
  const saltusi_masks pairwise = (saltusi_masks)*mask;
  return (pairwise[0] | pairwise[1] | pairwise[2] | pairwise[3]) != 0;
}

/* Data of slip besides a. */
typedef struct kernel_slipping {
  VECTOR c1, c2;  /* c */
  VECTOR normal;  /* mu r_N without tangential impulses */
  VECTOR n1, n2;  /* mu W_NT / W_NN */
  VECTOR crossed; /* S_12 S_21 */
} kernel_slipping;

/* p, m and |p| at one a. */
typedef struct kernel_slip_point {
  VECTOR p1, p2, det, trace, m, size2, size;
} kernel_slip_point;

SALTUSI_ALWAYS_INLINE void look(const VECTOR* c, const kernel_slipping* s, const VECTOR* a,
                                kernel_slip_point* at) {
  const VECTOR A = c[S] + *a, D = c[S + 3] + *a;
  at->trace = A + D;
  at->det = A * D - s->crossed;
  at->p1 = c[S + 1] * s->c2 - D * s->c1;
  at->p2 = c[S + 2] * s->c1 - A * s->c2;
  at->m = s->normal * at->det - (s->n1 * at->p1 + s->n2 * at->p2);
  at->size2 = at->p1 * at->p1 + at->p2 * at->p2;
  root(&at->size2, &at->size);
}

/* Slip of the contacts of the mask `slips`: their tangents t, and a of them all; the mask keeps the unsolved ones. */
SALTUSI_ALWAYS_INLINE void slip(VECTOR* c, const kernel_slipping* s, MASKS* slips, VECTOR* t) {
  const VECTOR zero = {0}, one = zero + (NUMBER)1.0;
  VECTOR a = c[SLIP];
  MASKS wanted = *slips & (MASKS)(a > zero), near = {0};
  kernel_slip_point at = {.size = {0}}; /* avoids a compiler warning */
  choose(&wanted, &a, &one, &a);
  for (int k = 0; k < SLIP_STEPS; k++) {
    look(c, s, &a, &at);
    const VECTOR gap = at.m - at.size, within = slip_near * at.size;
    near = (MASKS)(gap <= within) & (MASKS)(gap >= -within);
    const VECTOR faster = s->normal * at.trace + (s->n1 * s->c1 + s->n2 * s->c2);
    VECTOR slope = faster * at.size2 + at.m * (at.p1 * s->c1 + at.p2 * s->c2);
    const MASKS rises = (MASKS)(slope > zero);
    choose(&rises, &slope, &one, &slope);
    VECTOR next = a - gap * at.size2 / slope;
    const MASKS inside = rises & (MASKS)(next > zero);
    wanted &= inside;
    choose(&inside, &next, &a, &a);
    const MASKS left = wanted & ~near;
    if (!any(&left)) {
      break;
    }
  }
  look(c, s, &a, &at);
  MASKS solved = wanted & near & (MASKS)(at.m > zero) & (MASKS)(at.det > zero);
  VECTOR longest = at.size * at.det;
  solved &= (MASKS)(longest > zero);
  choose(&solved, &longest, &one, &longest);
  const VECTOR part = at.m / longest, t1 = part * at.p1, t2 = part * at.p2;
  choose(&solved, &t1, t, t);
  choose(&solved, &t2, t + 1, t + 1);
  choose(&solved, &a, c + SLIP, c + SLIP);
  *slips &= ~solved;
}

/* Slip of contacts of balls: friction at its bound against c; `slips` becomes zero. */
SALTUSI_ALWAYS_INLINE void slip_round(const kernel_slipping* s, MASKS* slips, VECTOR* t) {
  const VECTOR zero = {0}, one = zero + (NUMBER)1.0;
  VECTOR size = s->c1 * s->c1 + s->c2 * s->c2;
  root(&size, &size);
  choose(slips, &size, &one, &size); /* avoids a division by zero */
  const VECTOR part = -s->normal / size, t1 = part * s->c1, t2 = part * s->c2;
  choose(slips, &t1, t, t);
  choose(slips, &t2, t + 1, t + 1);
  *slips = (MASKS){0};
}

/* Changes of contacts from their r and u, each with the others fixed; returns a mask of the unsolved ones. */
SALTUSI_ALWAYS_INLINE void solve(VECTOR* c, const VECTOR* r, const VECTOR* u, bool is_ball,
                                 VECTOR* d, MASKS* unsolved) {
  const VECTOR zero = {0};
  const VECTOR more = -(u[0] * c[INVERSE_N]); /* of r_N, with constant tangents */
  const VECTOR c1 = u[1] + c[W + 3] * more, c2 = u[2] + c[W + 6] * more;
  const VECTOR d1 = (c[S + 1] * c2 - c[S + 3] * c1) * c[INVERSE_S];
  const VECTOR d2 = (c[S + 2] * c1 - c[S] * c2) * c[INVERSE_S];
  const VECTOR d0 = more - (c[W + 1] * d1 + c[W + 2] * d2) * c[INVERSE_N];
  const VECTOR free_ = r[0] + more + (c[W + 1] * r[1] + c[W + 2] * r[2]) * c[INVERSE_N];
  const VECTOR n = r[0] + d0, t1 = r[1] + d1, t2 = r[2] + d2, radius = c[MU] * n;
  const MASKS pressed = (MASKS)(free_ > zero), rough = (MASKS)(c[MU] > zero);
  const MASKS joint = (MASKS)(c[MU] < zero);
  const MASKS sticks =
      joint | (pressed & (MASKS)(n > zero) & (MASKS)(t1 * t1 + t2 * t2 <= radius * radius));
  VECTOR t[2] = {zero, zero}; /* of non-sticking contacts */
  *unsolved = pressed & ~sticks & rough;
  if (any(unsolved)) {
    const VECTOR part = c[MU] * c[INVERSE_N];
    const kernel_slipping s = {c1 - (c[S] * r[1] + c[S + 1] * r[2]),
                               c2 - (c[S + 2] * r[1] + c[S + 3] * r[2]),
                               c[MU] * free_,
                               part * c[W + 1],
                               part * c[W + 2],
                               c[S + 1] * c[S + 2]};
    if (is_ball) {
      slip_round(&s, unsolved, t);
    } else {
      slip(c, &s, unsolved, t);
    }
  }
  const VECTOR s1 = t[0] - r[1], s2 = t[1] - r[2], off = -r[0];
  const VECTOR s0 = more - (c[W + 1] * s1 + c[W + 2] * s2) * c[INVERSE_N];
  VECTOR rest;
  choose(&pressed, &s0, &off, &rest);
  choose(&sticks, &d0, &rest, d);
  choose(&sticks, &d1, &s1, d + 1);
  choose(&sticks, &d2, &s2, d + 2);
}

/* Solves the contacts that `solve` left, one by one. */
static void solve_apart(const saltusi_friction_case* in, int group, const VECTOR* r,
                        const VECTOR* u, VECTOR* d, const MASKS* unsolved) {
  const saltusi_bodies* b = in->bodies;
  const double speed = b->single.speed, impulse = b->single.mass * speed;
  for (int l = 0; l < LANES; l++) {
    if ((*unsolved)[l] != 0) {
      const int i = b->lane[group * LANES + l];
      const double* own = in->values + in->pattern->place[in->pattern->diagonal[i]];
      NUMBER* slips = lane_of(b, group * LANES + l) + (size_t)SLIP * LANES;
      double a = *slips / b->single.mass, alone[3], fresh[3];
      for (int k = 0; k < 3; k++) {
        alone[k] = speed * u[k][l];
        for (int m = 0; m < 3; m++) {
          alone[k] -= own[3 * k + m] * impulse * r[m][l];
        }
      }
      saltusi_one_contact_spatial(in->local + in->pattern->local_at[i], in->mu[i], alone, fresh,
                                  &a);
      *slips = (NUMBER)(a * b->single.mass);
      for (int k = 0; k < 3; k++) {
        d[k][l] = (NUMBER)(fresh[k] / impulse) - r[k][l];
      }
    }
  }
}

/* ---- iterations ---- */

SALTUSI_FOR_MACHINES static double iterate(const saltusi_friction_case* in) {
  const saltusi_bodies* b = in->bodies;
  VECTOR change2 = {0};
  for (int g = 0; g < b->groups; g++) {
    VECTOR* c = group_of(b, g);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    kernel_pairs v = {.a = {{0}}}; /* avoids a compiler warning */
    VECTOR r[3], u[3], d[3];
    MASKS unsolved;
    gather((NUMBER*)b->changes, pair, &v);
    for (int k = 0; k < 3; k++) {
      r[k] = c[IMPULSE + k] + c[CHANGE + k];
      u[k] = c[VELOCITY + k] + c[SOFT + k] * c[CHANGE + k];
    }
    add_relative(c, &v, u);
    solve(c, r, u, b->single.round, d, &unsolved);
    if (any(&unsolved)) {
      solve_apart(in, g, r, u, d, &unsolved);
    }
    for (int k = 0; k < 3; k++) {
      const VECTOR* w = c + W + 3 * k;
      const VECTOR moved = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
      change2 += moved * moved;
      c[CHANGE + k] += d[k];
    }
    push(c, d, &v);
    scatter(&v, pair, (NUMBER*)b->changes);
  }
  double sum = 0.0;
  for (int l = 0; l < LANES; l++) {
    sum += change2[l];
  }
  return sum * b->single.speed * b->single.speed;
}

/* saltusi_momentum by lanes. */
SALTUSI_ALWAYS_INLINE void add_momentum(VECTOR* c, VECTOR* change) {
  VECTOR *r = c + CHANGE, *x = c + PLACE, *y = c + BEFORE, *age = c + AGE;
  const VECTOR zero = {0}, most = zero + (NUMBER)SALTUSI_MOMENTUM_MOST;
  const VECTOR way[3] = {r[0] - x[0], r[1] - x[1], r[2] - x[2]};
  const VECTOR against = (y[0] - r[0]) * way[0] + (y[1] - r[1]) * way[1] + (y[2] - r[2]) * way[2];
  const MASKS turned = (MASKS)(against > zero);
  const VECTOR younger = (NUMBER)SALTUSI_MOMENTUM_KEEP * *age, older = *age + (NUMBER)1.0;
  choose(&turned, &younger, &older, age);
  VECTOR part = *age / (*age + (NUMBER)SALTUSI_MOMENTUM_SLOW);
  const MASKS below = (MASKS)(part < most);
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
    VECTOR* c = group_of(b, g);
    const int* pair = b->pair + 2 * (size_t)g * LANES;
    kernel_pairs v = {.a = {{0}}}; /* avoids a compiler warning */
    VECTOR change[3];
    add_momentum(c, change);
    gather((NUMBER*)b->changes, pair, &v);
    push(c, change, &v);
    scatter(&v, pair, (NUMBER*)b->changes);
  }
}

/* Sets the impulses r with velocities u as the reference of changes. */
static void rebase(const saltusi_friction_case* in, const double* r, const double* u) {
  const saltusi_bodies* b = in->bodies;
  const double per_speed = 1.0 / b->single.speed, per_impulse = per_speed / b->single.mass;
  memset((NUMBER*)b->changes, 0, ((size_t)b->bodies + 1) * PLACES * sizeof(NUMBER));
  for (int at = 0; at < b->groups * LANES; at++) {
    const int i = b->lane[at];
    NUMBER* to = lane_of(b, at);
    for (int k = 0; k < 3 && i >= 0; k++) {
      to[(IMPULSE + k) * LANES] = (NUMBER)(r[3 * i + k] * per_impulse);
      to[(VELOCITY + k) * LANES] = (NUMBER)(u[3 * i + k] * per_speed);
      to[(PLACE + k) * LANES] -= to[(CHANGE + k) * LANES];
      to[(BEFORE + k) * LANES] -= to[(CHANGE + k) * LANES];
      to[(CHANGE + k) * LANES] = (NUMBER)0.0;
    }
  }
}

static void start(const saltusi_friction_case* in, const double* r) {
  const saltusi_bodies* b = in->bodies;
  (void)r; /* follows by rebase */
  for (int at = 0; at < b->groups * LANES; at++) {
    NUMBER* to = lane_of(b, at);
    for (int k = CHANGE; k <= AGE; k++) {
      to[k * LANES] = (NUMBER)0.0;
    }
    to[SLIP * LANES] =
        b->lane[at] >= 0 ? (NUMBER)(in->slip[b->lane[at]] * b->single.mass) : (NUMBER)0.0;
  }
}

static void forget(const saltusi_friction_case* in) {
  for (int g = 0; g < in->bodies->groups; g++) {
    group_of(in->bodies, g)[AGE] = (VECTOR){0};
  }
}

/* r is the reference of changes. */
static void fetch(const saltusi_friction_case* in, double* r) {
  const saltusi_bodies* b = in->bodies;
  const double impulse = b->single.mass * b->single.speed;
  for (int at = 0; at < b->groups * LANES; at++) {
    const int i = b->lane[at];
    const NUMBER* from = lane_of(b, at);
    if (i < 0) {
      continue;
    }
    in->slip[i] = from[SLIP * LANES] / b->single.mass;
    from += (size_t)CHANGE * LANES;
    if (from[0] != (NUMBER)0.0 || from[LANES] != (NUMBER)0.0 || from[2 * LANES] != (NUMBER)0.0) {
      for (int k = 0; k < 3; k++) {
        r[3 * i + k] += impulse * from[k * LANES];
      }
      if (in->mu[i] >= 0.0) {
        saltusi_cone_project(3, in->mu[i], r + 3 * (size_t)i);
      }
    }
  }
}
