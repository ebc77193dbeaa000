/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_curved.c - one body that slides, rolls and lifts off on a fixed sphere: a ball outside and inside of it, the
 * corner of a box, the end of a capsule, an ellipsoid. The reference follows y = (x, p, v, w), w in body axes, by
 * extrapolation in long double from event to event and shares no code with the library; it has no tangent frame.
 *
 *   V = v + W x r       velocity of the material at the contact, r from the centre of mass, n the normal of the sphere
 *   dV/dt = A0 + C F    F the force there, C = 1/m - [r] I^-1 [r]
 *   slip    F = l (n - mu U / |U|), U = V - n (n.V), l from n'.V + n.dV/dt = 0
 *   roll    F from dV/dt = 0, inside of the cone
 *
 * Slip ends at 1e-11 m/s. A motion ends where the body lands again, rolling ends, another feature touches or no force
 * exists.
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef root_real real;

enum { WIDTH = 13, ROWS = 8, NODES = 4000, PERTURBED = 7, COMPARED = 6 };
enum { X = 0, P = 3, V = 7, W = 10 }; /* positions in y */

static const real gravity = 9.81L;
static const real no_slip = 1e-11L;  /* m/s */
static const real accurate = 1e-14L; /* of a step; the last column of the extrapolation is better */
static const real landed = 1e-13L;   /* m */
static const real no_force = 1e-6L;  /* N */

typedef enum kind { BALL, BOWL, CORNER, CAPSULE, ELLIPSOID } kind;
typedef enum mode { SLIP, ROLL, FLIGHT } mode;

typedef struct body {
  kind what;
  real R;     /* m, of the fixed sphere about the origin */
  real r;     /* m, of a ball or the end of a capsule; 0: a corner */
  real at[3]; /* m, centre of the end, or the corner, in body axes */
  real a[3];  /* m, semi-axes, or halves of the sides of a box */
  real m, I[3], mu;
} body;

typedef struct node {
  real t, y[WIDTH];
  mode now;
} node;

typedef struct path {
  body b;
  node* nodes;
  int count;
  real t_end;
  bool lost;
} path;

/* ---- vectors ---------------------------------------------------------------------------------------- */

static real dot(const real* a, const real* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const real* a, const real* b, real* out) {
  const real c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}

static void add(real s, const real* a, real* out) {
  for (int k = 0; k < 3; k++) {
    out[k] += s * a[k];
  }
}

static real unit(real* a) {
  const real length = sqrtl(dot(a, a));
  for (int k = 0; k < 3; k++) {
    a[k] /= length;
  }
  return length;
}

/* Columns are body axes in the world. */
static void rotation(const real* p, real R[3][3]) {
  const real s = 2.0L / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const real *u = p + 1, w = p[0];
    R[i][i] = 1.0L - s * (u[j] * u[j] + u[k] * u[k]);
    R[i][j] = s * (u[i] * u[j] - w * u[k]);
    R[j][i] = s * (u[i] * u[j] + w * u[k]);
  }
}

static void turn(real R[3][3], const real* a, real* out) {
  const real c[3] = {dot(R[0], a), dot(R[1], a), dot(R[2], a)};
  memcpy(out, c, sizeof c);
}

static void turn_back(real R[3][3], const real* a, real* out) {
  real c[3] = {0};
  for (int k = 0; k < 3; k++) {
    add(a[k], R[k], c);
  }
  memcpy(out, c, sizeof c);
}

/* A x = b, by elimination with pivots. */
static void solve(real A[3][3], real* b) {
  for (int i = 0; i < 3; i++) {
    int best = i;
    for (int k = i + 1; k < 3; k++) {
      best = fabsl(A[k][i]) > fabsl(A[best][i]) ? k : best;
    }
    for (int j = 0; j < 3; j++) {
      const real was = A[i][j];
      A[i][j] = A[best][j];
      A[best][j] = was;
    }
    const real was = b[i];
    b[i] = b[best];
    b[best] = was;
    for (int k = i + 1; k < 3; k++) {
      const real f = A[k][i] / A[i][i];
      add(-f, A[i], A[k]);
      b[k] -= f * b[i];
    }
  }
  for (int i = 2; i >= 0; i--) {
    for (int j = i + 1; j < 3; j++) {
      b[i] -= A[i][j] * b[j];
    }
    b[i] /= A[i][i];
  }
}

/* ---- the contact ------------------------------------------------------------------------------------ */

typedef struct contact {
  real R[3][3], W[3];        /* world */
  real gap, n[3], dn[3];     /* m, 1/s */
  real r[3], dr[3];          /* from the centre of mass, and its rate */
  real V[3], A0[3], C[3][3]; /* see above */
} contact;

/* The point of the ellipsoid nearest to c, and its rate. */
static void nearest(const body* b, const real* c, const real* dc, real* p, real* dp) {
  real s =
      0.0L; /* p_i = a_i^2 c_i / (a_i^2 + s), from outside by Newton's method, which is monotonic below the root */
  for (int k = 0; k < 200; k++) {
    real f = -1.0L, df = 0.0L;
    for (int i = 0; i < 3; i++) {
      const real q = b->a[i] * c[i] / (b->a[i] * b->a[i] + s);
      f += q * q;
      df -= 2.0L * q * q / (b->a[i] * b->a[i] + s);
    }
    const real step = -f / df;
    s += step;
    if (fabsl(step) < 1e-19L) {
      break;
    }
  }
  real up = 0.0L, down = 0.0L;
  for (int i = 0; i < 3; i++) {
    const real under = b->a[i] * b->a[i] + s;
    p[i] = b->a[i] * b->a[i] * c[i] / under;
    up += p[i] * dc[i] / under;
    down += p[i] * c[i] / (under * under);
  }
  for (int i = 0; i < 3; i++) {
    const real under = b->a[i] * b->a[i] + s;
    dp[i] = b->a[i] * b->a[i] * (dc[i] - c[i] / under * up / down) / under;
  }
}

static void place(const body* b, const real* y, contact* c) {
  rotation(y + P, c->R);
  turn(c->R, y + W, c->W);
  if (b->what == ELLIPSOID) {
    real centre[3], rate[3], p[3], dp[3], moved[3];
    for (int k = 0; k < 3; k++) {
      centre[k] = -y[X + k];
      rate[k] = -y[V + k];
    }
    turn_back(c->R, centre, centre);
    turn_back(c->R, rate, rate);
    cross(y + W, centre, moved);
    add(-1.0L, moved, rate);
    nearest(b, centre, rate, p, dp);
    turn(c->R, p, c->r);
    turn(c->R, dp, c->dr);
    cross(c->W, c->r, moved);
    add(1.0L, moved, c->dr);
    memcpy(c->n, y + X, sizeof c->n);
    add(1.0L, c->r, c->n);
    const real length = unit(c->n);
    memcpy(c->dn, y + V, sizeof c->dn);
    add(1.0L, c->dr, c->dn);
    add(-dot(c->n, c->dn), c->n, c->dn);
    for (int k = 0; k < 3; k++) {
      c->dn[k] /= length;
    }
    c->gap = length - b->R;
  } else {
    const real sign = b->what == BOWL ? -1.0L : 1.0L;
    real arm[3], speed[3];
    turn(c->R, b->at, arm);
    cross(c->W, arm, speed);
    memcpy(c->dr, speed, sizeof c->dr);
    add(1.0L, y + V, speed);
    memcpy(c->n, y + X, sizeof c->n);
    add(1.0L, arm, c->n);
    const real length = unit(c->n);
    add(-dot(c->n, speed), c->n, speed);
    for (int k = 0; k < 3; k++) {
      c->n[k] *= sign;
      c->dn[k] = sign * speed[k] / length;
    }
    memcpy(c->r, arm, sizeof c->r);
    add(-b->r, c->n, c->r);
    add(-b->r, c->dn, c->dr);
    c->gap = sign * (length - b->R) - b->r;
  }
}

/* W' of a torque in world axes. */
static void spin_up(const body* b, real R[3][3], const real* torque, real* out) {
  turn_back(R, torque, out);
  for (int k = 0; k < 3; k++) {
    out[k] /= b->I[k];
  }
}

static void look(const body* b, const real* y, contact* c) {
  real gyro[3], momentum[3], spin[3], part[3];
  place(b, y, c);
  cross(c->W, c->r, c->V);
  add(1.0L, y + V, c->V);
  for (int k = 0; k < 3; k++) {
    momentum[k] = b->I[k] * y[W + k];
  }
  cross(momentum, y + W, gyro);
  for (int k = 0; k < 3; k++) {
    gyro[k] /= b->I[k];
  }
  turn(c->R, gyro, spin);
  cross(spin, c->r, c->A0);
  cross(c->W, c->dr, part);
  add(1.0L, part, c->A0);
  c->A0[2] -= gravity;
  for (int j = 0; j < 3; j++) {
    real e[3] = {0}, torque[3];
    e[j] = 1.0L;
    cross(c->r, e, torque);
    spin_up(b, c->R, torque, spin);
    turn(c->R, spin, spin);
    cross(spin, c->r, part);
    for (int i = 0; i < 3; i++) {
      c->C[i][j] = part[i] + (i == j ? 1.0L / b->m : 0.0L);
    }
  }
}

static real slip_of(const contact* c, real* U) {
  memcpy(U, c->V, sizeof c->V);
  add(-dot(c->n, c->V), c->n, U);
  return sqrtl(dot(U, U));
}

/* The force of a mode; its normal part; NaN: there is none. */
static real force_of(const body* b, contact* c, mode now, real* F) {
  memset(F, 0, 3 * sizeof *F);
  if (now == FLIGHT) {
    return 0.0L;
  }
  if (now == ROLL) {
    real C[3][3];
    memcpy(C, c->C, sizeof C);
    add(-1.0L, c->A0, F);
    solve(C, F);
    return dot(c->n, F);
  }
  real U[3], along[3], answer[3];
  const real slip = slip_of(c, U);
  memcpy(along, c->n, sizeof along);
  add(-b->mu / slip, U, along);
  turn(c->C, along, answer);
  const real under = dot(c->n, answer);
  if (!(under > 0.05L / b->m)) {
    return NAN;
  }
  const real l = -(dot(c->dn, c->V) + dot(c->n, c->A0)) / under;
  add(l, along, F);
  return l;
}

static void rate(const body* b, mode now, const real* y, real* dy) {
  contact c;
  real F[3], torque[3], momentum[3], gyro[3];
  look(b, y, &c);
  force_of(b, &c, now, F);
  memcpy(dy + X, y + V, 3 * sizeof *dy);
  const real *p = y + P, *w = y + W;
  dy[P] = -0.5L * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
  cross(p + 1, w, dy + P + 1);
  for (int k = 0; k < 3; k++) {
    dy[P + 1 + k] = 0.5L * (dy[P + 1 + k] + p[0] * w[k]);
    dy[V + k] = F[k] / b->m - (k == 2 ? gravity : 0.0L);
    momentum[k] = b->I[k] * w[k];
  }
  cross(c.r, F, torque);
  spin_up(b, c.R, torque, dy + W);
  cross(momentum, w, gyro);
  for (int k = 0; k < 3; k++) {
    dy[W + k] += gyro[k] / b->I[k];
  }
}

/* ---- steps ------------------------------------------------------------------------------------------ */

/* One step by extrapolation of the modified midpoint rule with 2, 4, ..., 16 substeps; the last correction. */
static real step(const body* b, const node* from, real h, real* y) {
  real T[ROWS][WIDTH], error = 0.0L;
  for (int row = 0; row < ROWS; row++) {
    const int count = 2 * (row + 1);
    const real d = h / count;
    real a[WIDTH], z[WIDTH], f[WIDTH];
    memcpy(a, from->y, sizeof a);
    rate(b, from->now, a, f);
    for (int i = 0; i < WIDTH; i++) {
      z[i] = a[i] + d * f[i];
    }
    for (int k = 1; k <= count; k++) {
      rate(b, from->now, z, f);
      for (int i = 0; i < WIDTH; i++) {
        if (k == count) {
          T[row][i] = (z[i] + a[i] + d * f[i]) / 2.0L;
        } else {
          const real next = a[i] + 2.0L * d * f[i];
          a[i] = z[i];
          z[i] = next;
        }
      }
    }
  }
  for (int i = 0; i < WIDTH; i++) {
    for (int m = 1; m < ROWS; m++) {
      for (int k = ROWS - 1; k >= m; k--) {
        const real ratio = (real)(k + 1) / (k + 1 - m);
        T[k][i] += (T[k][i] - T[k - 1][i]) / (ratio * ratio - 1.0L);
      }
    }
    y[i] = T[ROWS - 1][i];
    error = fmaxl(error, fabsl(T[ROWS - 1][i] - T[ROWS - 2][i]));
  }
  return error;
}

/* Short against rotations, and against the time in which friction changes the direction of slip. */
static real step_length(const body* b, const node* at) {
  contact c;
  real F[3], U[3];
  look(b, at->y, &c);
  const real spin = sqrtl(dot(c.W, c.W)), speed = sqrtl(dot(at->y + V, at->y + V));
  const real least = b->r > 0.0L ? b->r : b->what == ELLIPSOID ? b->a[2] : b->R;
  real h = 0.5L / (3.0L + spin + speed / fminl(least, b->R));
  if (at->now == SLIP) {
    const real l = force_of(b, &c, SLIP, F), slip = slip_of(&c, U);
    const real pull = b->mu * l * (c.C[0][0] + c.C[1][1] + c.C[2][2]);
    h = fminl(h, 0.3L * slip / fmaxl(pull, 1e-3L));
  }
  return h;
}

/* Whether the feature of the contact is the nearest of the body. */
static bool holds(const body* b, const real* y) {
  real R[3][3], centre[3];
  rotation(y + P, R);
  for (int k = 0; k < 3; k++) {
    centre[k] = -y[X + k];
  }
  turn_back(R, centre, centre);
  if (b->what == CAPSULE) {
    return centre[2] * b->at[2] > b->at[2] * b->at[2];
  }
  for (int k = 0; b->what == CORNER && k < 3; k++) {
    if (!(centre[k] * b->at[k] > b->at[k] * b->at[k])) {
      return false;
    }
  }
  return true;
}

/* Positive while the mode holds. */
static real margin(const body* b, const real* y, mode now) {
  contact c;
  real F[3];
  look(b, y, &c);
  if (now == FLIGHT) {
    return c.gap + landed;
  }
  const real normal = force_of(b, &c, now, F);
  if (now == SLIP) {
    return normal;
  }
  add(-normal, c.n, F);
  return b->mu * normal - sqrtl(dot(F, F));
}

/* Shortens a step that leaves its mode to the place where it does. */
static bool leaves(const body* b, const node* from, real* h, real* y) {
  if (margin(b, y, from->now) > 0.0L) {
    return false;
  }
  real low = 0.0L, high = *h;
  for (int k = 0; k < 90; k++) {
    const real middle = 0.5L * (low + high);
    step(b, from, middle, y);
    const bool inside = margin(b, y, from->now) > 0.0L;
    low = inside ? middle : low;
    high = inside ? high : middle;
  }
  *h = low;
  step(b, from, low, y);
  return true;
}

/* From an impulse at the contact that takes V to zero. */
static void stop(const body* b, real* y) {
  contact c;
  real C[3][3], torque[3], spin[3], I[3] = {0};
  look(b, y, &c);
  memcpy(C, c.C, sizeof C);
  add(-1.0L, c.V, I);
  solve(C, I);
  add(1.0L / b->m, I, y + V);
  cross(c.r, I, torque);
  spin_up(b, c.R, torque, spin);
  add(1.0L, spin, y + W);
}

static void follow(path* p, const node* start, real t_end) {
  const body* b = &p->b;
  node now = *start;
  real longest = 1e-3L; /* steps grow by a half after an event */
  p->count = 0;
  p->lost = false;
  p->nodes[p->count++] = now;
  while (now.t < t_end && p->count < NODES && !p->lost) {
    real y[WIDTH];
    real h = fminl(fminl(step_length(b, &now), longest), t_end - now.t);
    longest *= 1.5L;
    while (step(b, &now, h, y) > accurate && h > 1e-12L) {
      h *= 0.5L;
    }
    const bool left = leaves(b, &now, &h, y);
    if (!holds(b, y) || !isfinite((double)y[0])) {
      p->lost = true;
      break;
    }
    memcpy(now.y, y, sizeof y);
    now.t += h;
    contact c;
    real U[3], F[3];
    look(b, now.y, &c);
    if (now.now == SLIP && !left && slip_of(&c, U) < no_slip) {
      stop(b, now.y);
      now.now = ROLL;
      p->lost = !(margin(b, now.y, ROLL) > 0.0L);
      longest = 1e-3L;
    } else if (left) {
      /* it lands, rolling ends by slip, or no force exists, unless the normal force has ended */
      p->lost = now.now == FLIGHT || !(force_of(b, &c, now.now, F) < no_force);
      now.now = FLIGHT;
      longest = 1e-3L;
    }
    p->nodes[p->count++] = now;
  }
  p->lost = p->lost || now.t < t_end;
  p->t_end = now.t;
}

static void at_time(const void* who, real t, real* q, real* v) {
  const path* p = who;
  real y[WIDTH];
  int low = 0, high = p->count;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    *(p->nodes[middle].t <= t ? &low : &high) = middle;
  }
  step(&p->b, &p->nodes[low], t - p->nodes[low].t, y);
  memcpy(q, y, COMPARED * sizeof *q);
  memcpy(v, y + V, COMPARED * sizeof *v);
}

/* ---- random starts ---------------------------------------------------------------------------------- */

static real draw(case_random* r, double lo, double hi) {
  return case_uniform(r, lo, hi);
}

static void direction(case_random* r, real* out) {
  do {
    for (int k = 0; k < 3; k++) {
      out[k] = draw(r, -1.0, 1.0);
    }
  } while (!(dot(out, out) > 0.01L && dot(out, out) < 1.0L));
  unit(out);
}

/* The smallest rotation from a to b as a quaternion, after a random one about a. */
static void orient(case_random* r, const real* a, const real* b, real* p) {
  const real half = draw(r, -3.1, 3.1) / 2.0L;
  real axis[3];
  cross(a, b, axis);
  real q[4] = {1.0L + dot(a, b), axis[0], axis[1], axis[2]};
  const real size = sqrtl(q[0] * q[0] + dot(axis, axis)), s = sinl(half), k = cosl(half);
  for (int i = 0; i < 4; i++) {
    q[i] /= size;
  }
  real both[3];
  cross(q + 1, a, both);
  p[0] = k * q[0] - s * dot(q + 1, a);
  for (int i = 0; i < 3; i++) {
    p[1 + i] = k * q[1 + i] + s * q[0] * a[i] + s * both[i];
  }
}

static void draw_body(case_random* r, kind what, body* b) {
  *b = (body){.what = what, .R = draw(r, 0.5, 1.5), .m = draw(r, 0.3, 3.0)};
  b->mu = case_decade(r, -1.7, -0.1);
  if (what == BALL || what == BOWL) {
    b->r = draw(r, 0.1, 0.3);
    b->I[0] = b->I[1] = b->I[2] = 0.4L * b->m * b->r * b->r;
    return;
  }
  for (int k = 0; k < 3; k++) {
    b->a[k] = draw(r, 0.1, 0.3);
  }
  if (what == CAPSULE) {
    b->r = draw(r, 0.05, 0.2);
    b->at[2] = (case_choice(r, 2) == 0 ? 0.5L : -0.5L) * draw(r, 0.1, 0.5);
    b->a[0] = b->a[1] = b->r;
    b->a[2] = b->r + fabsl(b->at[2]);
  }
  for (int k = 0; k < 3; k++) {
    const real u = b->a[(k + 1) % 3], w = b->a[(k + 2) % 3];
    b->I[k] = b->m * (u * u + w * w) / (what == CORNER ? 3.0L : 5.0L);
    if (what == CORNER) {
      b->at[k] = case_choice(r, 2) == 0 ? b->a[k] : -b->a[k];
    }
  }
}

/* The body moves along the normal until it touches, and its velocity loses what is along it. */
static void close_gap(const body* b, real* y) {
  contact c;
  for (int k = 0; k < 6; k++) {
    place(b, y, &c);
    add(-c.gap, c.n, y + X);
  }
  look(b, y, &c);
  add(-dot(c.n, c.V), c.n, y + V);
}

static bool draw_start(case_random* r, const body* b, node* start) {
  real n[3], inward[3], own[3] = {0};
  real* y = start->y;
  direction(r, n);
  n[2] = fabsl(n[2]);
  if (!(n[2] > (b->what == BOWL ? 0.1L : 0.5L))) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    inward[k] = -n[k];
  }
  direction(r, own); /* from the contact to the centre of the sphere, in body axes */
  for (int k = 0; k < 3; k++) {
    own[k] =
        b->what == CORNER || (b->what == CAPSULE && k == 2) ? copysignl(own[k], b->at[k]) : own[k];
    if ((b->what == CORNER || (b->what == CAPSULE && k == 2)) && fabsl(own[k]) < 0.2L) {
      return false;
    }
  }
  if (own[0] * inward[0] + own[1] * inward[1] + own[2] * inward[2] < -0.95L) {
    return false;
  }
  *start = (node){.now = SLIP};
  orient(r, own, inward, y + P);
  real R[3][3], arm[3] = {0};
  rotation(y + P, R);
  turn(R, b->at, arm);
  if (b->what == ELLIPSOID) {
    real size = 0.0L, p[3];
    for (int k = 0; k < 3; k++) {
      size += b->a[k] * b->a[k] * own[k] * own[k];
    }
    for (int k = 0; k < 3; k++) {
      p[k] = b->a[k] * b->a[k] * own[k] / sqrtl(size);
    }
    turn(R, p, arm);
  }
  const real side = b->what == BOWL ? -1.0L : 1.0L, far = b->R + side * b->r;
  for (int k = 0; k < 3; k++) {
    y[X + k] = side * far * n[k] - arm[k];
    y[V + k] = draw(r, -1.5, 1.5);
    y[W + k] = draw(r, -8.0, 8.0);
  }
  close_gap(b, y);
  if (case_choice(r, 4) == 0) {
    stop(b, y);
    start->now = ROLL;
  }
  return margin(b, y, start->now) > 0.0L && holds(b, y);
}

/* The start with one number off. */
static void perturb(const body* b, const node* start, int i, node* out) {
  contact c;
  real e[3] = {0}, t[2][3];
  *out = *start;
  place(b, start->y, &c);
  e[fabsl(c.n[0]) < 0.7L ? 0 : 1] = 1.0L;
  cross(c.n, e, t[0]);
  unit(t[0]);
  cross(c.n, t[0], t[1]);
  if (i < 3) {
    out->y[W + i] += CASE_PERTURBATION;
  } else {
    add(CASE_PERTURBATION, t[(i - 3) % 2], out->y + (i < 5 ? X : V));
  }
  close_gap(b, out->y);
  if (start->now == ROLL) {
    stop(b, out->y);
  }
}

static void say(adversarial_case* c, const body* b, const real* y) {
  case_say(c, "saltus: 1\nname: %s\nworld: {dimension: 3, shapes: [{sphere: {radius: %.17g%s}}]}\n",
           c->family, (double)b->R, b->what == BOWL ? ", hollow: true" : "");
  case_say(c, "materials: {default: {friction: %.17g}}\nbodies:\n  b:\n    mass: %.17g\n",
           (double)b->mu, (double)b->m);
  case_say(c, "    inertia: [%.17g, %.17g, %.17g]\n", (double)b->I[0], (double)b->I[1],
           (double)b->I[2]);
  case_say(c, "    position: [%.17g, %.17g, %.17g]\n", (double)y[0], (double)y[1], (double)y[2]);
  case_say(c, "    orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}\n", (double)y[P],
           (double)y[P + 1], (double)y[P + 2], (double)y[P + 3]);
  case_say(c, "    velocity: [%.17g, %.17g, %.17g]\n", (double)y[V], (double)y[V + 1],
           (double)y[V + 2]);
  case_say(c, "    angular_velocity: [%.17g, %.17g, %.17g]\n    shapes: [{", (double)y[W],
           (double)y[W + 1], (double)y[W + 2]);
  if (b->what == BALL || b->what == BOWL) {
    case_say(c, "sphere: {radius: %.17g}", (double)b->r);
  } else if (b->what == CAPSULE) {
    case_say(c, "capsule: {radius: %.17g, length: %.17g}", (double)b->r,
             2.0 * fabs((double)b->at[2]));
  } else {
    const double s = b->what == CORNER ? 2.0 : 1.0;
    case_say(c, "%s: {size: [%.17g, %.17g, %.17g]}", b->what == CORNER ? "box" : "ellipsoid",
             s * (double)b->a[0], s * (double)b->a[1], s * (double)b->a[2]);
  }
  case_say(c, "}]\n");
}

static bool make(adversarial_case* c, int number, kind what) {
  case_random r = case_random_of(c->family, number);
  path paths[1 + PERTURBED] = {{.count = 0}};
  case_path expected[1 + PERTURBED] = {{0}};
  node start, moved;
  draw_body(&r, what, &paths[0].b);
  const body* b = &paths[0].b;
  bool made = draw_start(&r, b, &start);
  const real t_end = draw(&r, 0.2, 1.2);
  for (int i = 0; i <= PERTURBED && made; i++) {
    paths[i].b = *b;
    paths[i].nodes = malloc(NODES * sizeof(node));
    made = paths[i].nodes != NULL;
    moved = start;
    if (i > 0) {
      perturb(b, &start, i - 1, &moved);
    }
    if (made) {
      follow(&paths[i], &moved, t_end);
      expected[i] = (case_path){
          .t_end = (double)paths[i].t_end, .lost = paths[i].lost, .at = at_time, .who = &paths[i]};
      made = paths[i].t_end > 0.05L;
    }
  }
  made = made && case_expect(c, expected, 1 + PERTURBED, COMPARED) && isfinite(c->K_end);
  if (made) {
    say(c, b, start.y);
    case_say(c, "simulate: {until: %.17g}\n", c->t_end);
    c->motion_only = true;
    c->exact = 1e-11; /* of slip at its end, and of a start that is closed to rounding */
  }
  for (int i = 0; i <= PERTURBED; i++) {
    free(paths[i].nodes);
  }
  return made;
}

static bool make_ball(adversarial_case* c, int number) {
  return make(c, number, BALL);
}
static bool make_bowl(adversarial_case* c, int number) {
  return make(c, number, BOWL);
}
static bool make_corner(adversarial_case* c, int number) {
  return make(c, number, CORNER);
}
static bool make_capsule(adversarial_case* c, int number) {
  return make(c, number, CAPSULE);
}
static bool make_ellipsoid(adversarial_case* c, int number) {
  return make(c, number, ELLIPSOID);
}

const case_family case_curved[] = {
    {"ball", 500, make_ball, false, "curved friction"},
    {"bowl", 400, make_bowl, false, "curved friction"},
    {"corner", 400, make_corner, false, "curved friction"},
    {"capsule-end", 400, make_capsule, false, "curved friction"},
    {"ellipsoid", 400, make_ellipsoid, false, "curved friction"},
    {0},
};
