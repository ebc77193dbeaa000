/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "rigid.h"

#include <math.h>
#include <string.h>

static void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

void quaternion_product(const double* p, const double* q, double* r) {
  r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/* Rows of R, of a quaternion of length 1. */
static void rotation(const double* e, double R[3][3]) {
  double w = e[0], x = e[1], y = e[2], z = e[3];
  const double rows[3][3] = {
      {w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
      {2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)},
      {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z}};
  memcpy(R, rows, sizeof rows);
}

void quaternion_rotate(const double* quaternion, const double* x, double* r) {
  double R[3][3];
  rotation(quaternion, R);
  for (int i = 0; i < 3; i++) {
    r[i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
  }
}

/* Turn from p to q in body axes of p, rad; the shorter way. */
static void turn_between(const double* p, const double* q, double* turn) {
  const double back[4] = {p[0], -p[1], -p[2], -p[3]};
  double r[4];
  quaternion_product(back, q, r);
  double size = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  double sign = r[0] < 0.0 ? -1.0 : 1.0;
  double factor = size > 0.0 ? sign * 2.0 * atan2(size, fabs(r[0])) / size : 0.0;
  for (int i = 0; i < 3; i++) {
    turn[i] = factor * r[i + 1];
  }
}

double quaternion_angle(const double* p, const double* q) {
  double turn[3];
  turn_between(p, q, turn);
  return sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
}

double quaternion_excess(const double* e) {
  double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1.0;
  return square / (1.0 + sqrt(1.0 + square));
}

double rigid_energy(const rigid_body* b, const double* q, const double* v) {
  double R[3][3];
  rotation(q + 3, R);
  double energy = b->mass * b->gravity * q[2] + b->stiffness * (1.0 - R[2][2]);
  for (int i = 0; i < 3; i++) {
    energy += 0.5 * (b->mass * v[i] * v[i] + b->inertia[i] * v[3 + i] * v[3 + i]);
  }
  return energy;
}

void rigid_momentum(const rigid_body* b, const double* q, const double* v, double* L) {
  const double own[3] = {b->inertia[0] * v[3], b->inertia[1] * v[4], b->inertia[2] * v[5]};
  double orbital[3];
  quaternion_rotate(q + 3, own, L);
  cross(q, v, orbital);
  for (int i = 0; i < 3; i++) {
    L[i] += b->mass * orbital[i];
  }
}

static void mass(const void* self, const saltus_point* at, double* M) {
  const rigid_body* b = self;
  (void)at;
  memset(M, 0, RIGID_NV * RIGID_NV * sizeof(double));
  for (int i = 0; i < 3; i++) {
    M[i * RIGID_NV + i] = b->mass;
    M[(i + 3) * RIGID_NV + i + 3] = b->inertia[i];
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const rigid_body* b = self;
  const double* w = at->v + 3;
  const double L[3] = {b->inertia[0] * w[0], b->inertia[1] * w[1], b->inertia[2] * w[2]};
  double R[3][3];
  rotation(at->q + 3, R);
  F[0] = F[1] = 0.0;
  F[2] = -b->mass * b->gravity;
  cross(L, w, F + 3);
  F[3] -= b->stiffness * R[2][1]; /* of V = k (1 - R_zz), R_zz' = R_zx w_y - R_zy w_x */
  F[4] += b->stiffness * R[2][0];
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  const rigid_body* b = self;
  double R[3][3];
  rotation(at->q + 3, R);
  memset(F_q, 0, RIGID_NV * RIGID_NV * sizeof(double));
  /* R_zx' = R_zy w_z - R_zz w_y,  R_zy' = R_zz w_x - R_zx w_z */
  F_q[3 * RIGID_NV + 3] = -b->stiffness * R[2][2];
  F_q[3 * RIGID_NV + 5] = b->stiffness * R[2][0];
  F_q[4 * RIGID_NV + 4] = -b->stiffness * R[2][2];
  F_q[4 * RIGID_NV + 5] = b->stiffness * R[2][1];
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  const rigid_body* b = self;
  const double* I = b->inertia;
  const double* w = at->v + 3;
  memset(F_v, 0, RIGID_NV * RIGID_NV * sizeof(double));
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    F_v[(3 + i) * RIGID_NV + 3 + j] = (I[j] - I[k]) * w[k];
    F_v[(3 + i) * RIGID_NV + 3 + k] = (I[j] - I[k]) * w[j];
  }
}

static double potential(const void* self, const saltus_point* at) {
  const rigid_body* b = self;
  double R[3][3];
  rotation(at->q + 3, R);
  return b->mass * b->gravity * at->q[2] + b->stiffness * (1.0 - R[2][2]);
}

/* Row of the velocity of the body point p in direction k: value, G and c. */
static void point_row(const saltus_point* at, const double* p, int k, double* G, double* c) {
  double R[3][3];
  rotation(at->q + 3, R);
  G[k] = 1.0;
  cross(p, R[k], G + 3);
  if (c != NULL) {
    const double* w = at->v + 3;
    double wp[3], wwp[3];
    cross(w, p, wp);
    cross(w, wp, wwp);
    *c = R[k][0] * wwp[0] + R[k][1] * wwp[1] + R[k][2] * wwp[2];
  }
}

static double point_of(const saltus_point* at, const double* p, int k) {
  double r[3];
  quaternion_rotate(at->q + 3, p, r);
  return at->q[k] + r[k];
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const rigid_body* b = self;
  for (int k = 0; k < 3; k++) {
    g[k] = point_of(at, b->pivot, k);
  }
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const rigid_body* b = self;
  (void)i;
  for (int k = 0; k < 3; k++) {
    point_row(at, b->pivot, k, rows->G + k * rows->stride, rows->c != NULL ? rows->c + k : NULL);
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const rigid_body* b = self;
  for (int i = 0; i < b->corners; i++) {
    list->gap[i] = point_of(at, b->corner[i], 2);
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const rigid_body* b = self;
  static const int direction[3] = {2, 0, 1};
  for (int r = 0; r < rows->count; r++) {
    point_row(at, b->corner[identity], direction[r], rows->G + r * rows->stride,
              rows->c != NULL ? rows->c + r : NULL);
  }
}

static void rate(const void* self, const double* q, const double* v, double* dq) {
  (void)self;
  const double half[4] = {0.0, 0.5 * v[3], 0.5 * v[4], 0.5 * v[5]};
  memcpy(dq, v, 3 * sizeof(double));
  quaternion_product(q + 3, half, dq + 3);
}

static void normalise(const void* self, double* q) {
  (void)self;
  double size = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  for (int i = 3; i < RIGID_NQ; i++) {
    q[i] /= size;
  }
}

static void advance(const void* self, const double* q, const double* v, double h, double* q1) {
  const double* w = v + 3;
  double size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double s = size > 0.0 ? sin(0.5 * h * size) / size : 0.5 * h;
  const double turn[4] = {cos(0.5 * h * size), s * w[0], s * w[1], s * w[2]};
  for (int i = 0; i < 3; i++) {
    q1[i] = q[i] + h * v[i];
  }
  quaternion_product(q + 3, turn, q1 + 3);
  normalise(self, q1);
}

static void difference(const void* self, const double* q0, const double* q1, double* d) {
  (void)self;
  for (int i = 0; i < 3; i++) {
    d[i] = q1[i] - q0[i];
  }
  turn_between(q0 + 3, q1 + 3, d + 3);
}

/* (1 - (a/2) cot(a/2)) / a^2, a^2 given */
static double even_part(double square) {
  if (square < 1e-3) { /* the next term is 1e-16 of it */
    return 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0));
  }
  double half = 0.5 * sqrt(square);
  return (1.0 - half / tan(half)) / square;
}

static void turn_momentum(const void* self, const double* d, const double* p, double* y) {
  (void)self;
  const double* turn = d + 3;
  double once[3], twice[3];
  cross(turn, p + 3, once);
  cross(turn, once, twice);
  double part = even_part(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  memcpy(y, p, 3 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    y[3 + i] = p[3 + i] + part * twice[i];
  }
}

saltus_system rigid_system(const rigid_body* body) {
  static const saltus_system_ops ops = {.mass = mass,
                                        .force = force,
                                        .force_q = force_q,
                                        .force_v = force_v,
                                        .potential = potential,
                                        .contacts = contacts,
                                        .contact = contact,
                                        .joints = joints,
                                        .joint = joint,
                                        .rate = rate,
                                        .advance = advance,
                                        .difference = difference,
                                        .normalise = normalise,
                                        .turn_momentum = turn_momentum};
  static const int first[] = {0, 3};
  return (saltus_system){
      .ops = &ops,
      .self = body,
      .dims = {.nq = RIGID_NQ, .nv = RIGID_NV, .nj = body->joint ? 3 : 0, .nc = body->corners},
      .traits = SALTUS_CONSTANT_MASS,
      .laws = body->law,
      .law_count = body->corners,
      .joint_count = body->joint ? 1 : 0,
      .joint_first = body->joint ? first : NULL};
}

/* ---- the bar in a plane --------------------------------------------------------------------- */

static void bar_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  const double diagonal[3] = {2.0, 2.0, 0.4};
  for (int i = 0; i < 9; i++) {
    M[i] = i % 4 == 0 ? diagonal[i / 4] : 0.0;
  }
}
static void bar_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  F[0] = F[2] = 0.0;
  F[1] = -2.0 * 9.81;
}
/* ends at +-(cos a, -sin a): x forward, z up, a about y */
static saltus_status bar_contacts(const void* self, const saltus_point* at,
                                  saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[1] - sin(at->q[2]);
  list->gap[1] = at->q[1] + sin(at->q[2]);
  return SALTUS_OK;
}
static void bar_contact(const void* self, const saltus_point* at, uint64_t identity,
                        saltus_rows* rows) {
  (void)self;
  double side = identity == 0 ? 1.0 : -1.0;
  rows->G[1] = 1.0;
  rows->G[2] = -side * cos(at->q[2]);
  if (rows->count > 1) {
    rows->G[rows->stride] = 1.0;
    rows->G[rows->stride + 2] = -side * sin(at->q[2]);
  }
  if (rows->c != NULL) {
    double w = at->v[2];
    rows->c[0] = side * sin(at->q[2]) * w * w;
    if (rows->count > 1) {
      rows->c[1] = -side * cos(at->q[2]) * w * w;
    }
  }
}

planar_bar planar_bar_with(int tangents, double mu, double e_N) {
  const saltus_contact_law law = {.tangents = tangents, .mu = mu, .e_N = e_N};
  return (planar_bar){.law = {law, law}};
}

saltus_system planar_bar_system(const planar_bar* bar) {
  static const saltus_system_ops ops = {
      .mass = bar_mass, .force = bar_force, .contacts = bar_contacts, .contact = bar_contact};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 3, .nv = 3, .nc = 2},
                         .traits = SALTUS_CONSTANT_MASS,
                         .laws = bar->law,
                         .law_count = 2};
}

rigid_body rigid_bar_with(int tangents, double mu, double e_N) {
  const saltus_contact_law law = {.tangents = tangents, .mu = mu, .e_N = e_N};
  return (rigid_body){.mass = 2.0,
                      .inertia = {0.1, 0.4, 0.4},
                      .gravity = 9.81,
                      .corners = 2,
                      .corner = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}},
                      .law = {law, law}};
}
