/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_jacobians.c - derivatives of the forces of flexible bodies. With F_inner = T^T f, A_u the derivative along u:
 *
 *   F_v = T^T f_v T + biases,    F_q u = T^T f_q T u + T^T f_v (T v)_u + (T^T)_u f + biases
 */
#include "math/matrix.h"
#include "model/flexible_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- Jacobians ---- */

/* A += fv F_v + fq F_q of the biases and elastic forces of a part:
 * F_v modes:    2 w . h_jm - 2 zeta omega          by rotation: J_j w - 2 sum q_i' h_ij
 *     rotation: -J_m w - w x h_m                   by rotation: -J' - e x L - w x J
 * F_q modes:    w J_jm w / 2 - omega^2
 *     rotation: -(sum q_j' J_jm) w - w x (J_m w - sum q_i' h_im) */
static void part_jacobian(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                          const saltus_point* at, const saltusi_flexible_space* to, double fv,
                          double fq, double* A) {
  const int k = b->data->modes, n = s->system.dims.nv, w0 = b->v + 3, e0 = b->eta;
  const double *w = at->v + w0, *eta = saltusi_flexible_eta_of(s, b, at->q),
               *rate = saltusi_flexible_rate_of(s, b, at->v);
  const double *turn = to->rates + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k,
               *h = to->J + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k;
  const double half = 0.5 * fq, twice = 2.0 * fv; /* h_mj = -h_jm */
  const double planes[SALTUSI_FLEXIBLE_PLANES] = {
      half * w[0] * w[0], half * w[1] * w[1], half * w[2] * w[2],
      fq * w[0] * w[1],   fq * w[0] * w[2],   fq * w[1] * w[2],
      twice * w[0],       twice * w[1],       twice * w[2]};
  double dJ[SALTUSI_FLEXIBLE_J], Jrate[SALTUSI_FLEXIBLE_J], L[3], sum[3];
  saltusi_flexible_inertia_at(b, eta, to->J);
  memset(to->rates, 0, SALTUSI_FLEXIBLE_PLANES * (size_t)k * sizeof(double));
  saltusi_flexible_contract(b, 0, SALTUSI_FLEXIBLE_PLANES, rate, to->rates);
  for (int m = 0; m < k; m++) {
    const double hm[3] = {h[m], h[k + m], h[2 * k + m]};
    double Jm[3], by_v[3], by_q[3], inner[3];
    saltusi_flexible_add_rows(SALTUSI_FLEXIBLE_PLANES, k, (ptrdiff_t)k * k, planes,
                              b->second + (ptrdiff_t)m * k, A + (ptrdiff_t)(e0 + m) * n + e0);
    saltusi_flexible_turned(to->J + m, k, w, Jm);
    saltusi_flexible_turned(to->rates + m, k, w, by_q);
    for (int c = 0; c < 3; c++) {
      inner[c] = fv * hm[c] + fq * (Jm[c] - turn[c * k + m]);
    }
    saltusi_cross(w, inner, by_v);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + e0 + m] -= fv * Jm[c] + fq * by_q[c] + by_v[c];
      A[(e0 + m) * n + w0 + c] += fv * (Jm[c] - 2.0 * turn[c * k + m]);
    }
    A[(e0 + m) * (n + 1)] -=
        b->data->omega[m] * (2.0 * fv * b->data->zeta[m] + fq * b->data->omega[m]);
  }
  saltusi_flexible_totals(b, eta, rate, to->J, dJ, sum);
  saltusi_flexible_turned(dJ, 1, w, L);
  saltusi_along(1.0, sum, L, L);
  for (int c = 0; c < SALTUSI_FLEXIBLE_J; c++) {
    Jrate[c] = saltusi_dot(k, rate, to->J + (ptrdiff_t)c * k);
  }
  for (int m = 0; m < 3; m++) {
    const double unit[3] = {m == 0, m == 1, m == 2};
    double spin[3], first[3], second[3], column[3];
    saltusi_flexible_turned(Jrate, 1, unit, spin);
    saltusi_flexible_turned(dJ, 1, unit, column);
    saltusi_cross(unit, L, first);
    saltusi_cross(w, column, second);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + w0 + m] -= fv * (spin[c] + first[c] + second[c]);
    }
  }
}

/* Directions of q that move a frame: three rotations of its body, then its modes. */
static void frame_slopes(const saltusi_flexible_system* s, const saltusi_frame_state* f,
                         const double* v, const double* g, int direction, double velocity[6],
                         double* force_slope) {
  const saltusi_flexible_member* p = f->part;
  const int k = p->data->modes;
  const bool rotates = direction < 3;
  double turn[3] = {direction == 0, direction == 1, direction == 2}, du[3] = {0.0},
         dtheta[3] = {0.0};
  double local[3], rotated[3], relative[6], sum[3], u[3], x[3], y[3], omega[3] = {0.0},
                                                                      rate3[3] = {0.0};
  const double* w = v + p->v + 3;
  for (int c = 0; !rotates && c < 3; c++) {
    du[c] = f->phi[c * k + direction - 3];
    dtheta[c] = f->frame->turns ? f->psi[c * k + direction - 3] : 0.0;
  }
  saltusi_flexible_rows_times(k, f->phi, saltusi_flexible_rate_of(s, p, v), u);
  saltusi_cross(w, f->y, x);
  saltusi_along(1.0, u, x, x);
  saltusi_cross(turn, x, sum);
  saltusi_cross(w, du, y);
  saltusi_along(1.0, y, sum, sum);
  saltusi_turn(f->A, sum, velocity);
  saltusi_turn_back(f->R, w, rotated);
  saltusi_flexible_frame_velocity(s, f, v, relative, NULL);
  saltusi_minus3(relative + 3, rotated, relative); /* of the frame in its body */
  saltusi_cross(f->theta, dtheta, x);
  for (int c = 0; c < 3; c++) {
    omega[c] = f->over * (dtheta[c] - 0.5 * x[c]);
  }
  if (f->frame->turns) {
    saltusi_flexible_rows_times(k, f->psi, saltusi_flexible_rate_of(s, p, v), rate3);
  }
  const double stretch = -0.5 * f->over * saltusi_dot3(f->theta, dtheta);
  saltusi_cross(rotated, omega, velocity + 3);
  saltusi_cross(dtheta, rate3, y);
  for (int c = 0; c < 3; c++) {
    velocity[3 + c] += stretch * relative[c] - 0.5 * f->over * y[c];
  }
  /* of T^T g at fixed g */
  double dlocal[3], arm[3], back[3], torque[3];
  saltusi_turn_back(f->A, g, local);
  saltusi_cross(local, turn, dlocal);
  saltusi_cross(du, local, arm);
  saltusi_cross(f->y, dlocal, x);
  saltusi_cross(omega, g + 3, y);
  saltusi_turn(f->R, y, torque);
  for (int c = 0; c < 3; c++) {
    force_slope[p->v + 3 + c] += arm[c] + x[c] + torque[c];
  }
  saltusi_cross(f->theta, g + 3, back);
  saltusi_cross(dtheta, g + 3, y);
  for (int c = 0; c < 3; c++) {
    const double B = f->over * (g[3 + c] + 0.5 * back[c]);
    const double dback = f->frame->turns ? stretch * B + 0.5 * f->over * y[c] : 0.0;
    for (int j = 0; j < k; j++) {
      force_slope[p->eta + j] += dlocal[c] * f->phi[c * k + j] + dback * f->psi[c * k + j];
    }
  }
}

static bool any(const double* x, int count) {
  double sum = 0.0;
  for (int i = 0; i < count; i++) {
    sum += fabs(x[i]);
  }
  return sum != 0.0;
}

/* A [nv x nv] += T^T M T, M [nv_inner x nv_inner] in to->M. */
static void project(const saltusi_flexible_system* s, const double* q,
                    const saltusi_flexible_space* to, double* A) {
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  for (int r = 0; r < inner; r++) { /* X = M T */
    const double* row = to->M + (ptrdiff_t)r * inner;
    double* X = to->X + (ptrdiff_t)r * n;
    memset(X, 0, (size_t)n * sizeof *X);
    memcpy(X + s->modes, row, (size_t)s->nv_free * sizeof *X);
    for (int i = 0; i < s->frames && any(row + s->nv_free, inner - s->nv_free); i++) {
      if (any(row + s->carried[i].v, 6)) {
        saltusi_frame_state f;
        saltusi_flexible_frame_at(s, &s->carried[i], q, &f);
        saltusi_flexible_frame_force(s, &f, row + s->carried[i].v, X);
      }
    }
    if (r < s->nv_free) {
      saltusi_add_scaled(n, 1.0, X, A + (ptrdiff_t)(s->modes + r) * n);
    }
  }
  for (int i = 0; i < s->frames; i++) {
    const double* X = to->X + (ptrdiff_t)s->carried[i].v * n;
    saltusi_frame_state f;
    saltusi_flexible_frame_at(s, &s->carried[i], q, &f);
    for (int c = 0; c < n && any(X, 6 * n); c++) {
      const double g[6] = {X[c], X[n + c], X[2 * n + c], X[3 * n + c], X[4 * n + c], X[5 * n + c]};
      if (any(g, 6)) {
        memset(to->x, 0, (size_t)n * sizeof *to->x);
        saltusi_flexible_frame_force(s, &f, g, to->x);
        for (int r = 0; r < n; r++) {
          A[(ptrdiff_t)r * n + c] += to->x[r];
        }
      }
    }
  }
}

/* x += T^T f_v du, du the change of the velocities of frame i; f_v [nv_inner x nv_inner] in to->M. */
static void add_damping(const saltusi_flexible_system* s, const double* q, int i,
                        const double du[6], const saltusi_flexible_space* to) {
  const int inner = s->inner->dims.nv;
  for (int r = 0; r < inner; r++) {
    to->X[r] = saltusi_dot(6, to->M + (ptrdiff_t)r * inner + s->carried[i].v, du);
  }
  saltusi_add_scaled(s->nv_free, 1.0, to->X, to->x + s->modes);
  for (int o = 0; o < s->frames; o++) {
    saltusi_frame_state other;
    saltusi_flexible_frame_at(s, &s->carried[o], q, &other);
    saltusi_flexible_frame_force(s, &other, to->X + s->carried[o].v, to->x);
  }
}

/* A += fq ((T^T)_u f + T^T f_v (T v)_u): forces on frames that turn and move with the modes; f_v in to->M. */
static void add_frame_slopes(const saltusi_flexible_system* s, const saltus_point* at,
                             const saltus_point* p, const saltusi_flexible_space* to, double fq,
                             double* A) {
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  s->inner->ops->force(s->inner->self, p, to->F);
  const bool damped = any(to->M + (ptrdiff_t)s->nv_free * inner, (inner - s->nv_free) * inner);
  for (int i = 0; i < s->frames; i++) {
    const double* g = to->F + s->carried[i].v;
    saltusi_frame_state f;
    saltusi_flexible_frame_at(s, &s->carried[i], at->q, &f);
    for (int m = 0; (damped || any(g, 6)) && m < 3 + f.part->data->modes; m++) {
      double velocity[6];
      memset(to->x, 0, (size_t)n * sizeof *to->x);
      frame_slopes(s, &f, at->v, g, m, velocity, to->x);
      if (damped) {
        add_damping(s, at->q, i, velocity, to);
      }
      const int column = m < 3 ? f.part->v + 3 + m : f.part->eta + m - 3;
      for (int r = 0; r < n; r++) {
        A[(ptrdiff_t)r * n + column] += fq * to->x[r];
      }
    }
  }
}

static void add_jacobian(const saltusi_flexible_system* s, const saltus_point* at, double fv,
                         double fq, double* A) {
  const int inner = s->inner->dims.nv;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  const saltus_system_ops* ops = s->inner->ops;
  ops->force_v(s->inner->self, &p, to.M);
  if (fq != 0.0) {
    add_frame_slopes(s, at, &p, &to, fq, A);
    ops->force_q(s->inner->self, &p, to.X);
  }
  for (int i = 0; i < inner * inner; i++) {
    to.M[i] = fv * to.M[i] + (fq != 0.0 ? fq * to.X[i] : 0.0);
  }
  project(s, at->q, &to, A);
  for (int i = 0; i < s->parts; i++) {
    part_jacobian(s, &s->part[i], at, &to, fv, fq, A);
  }
}

void saltusi_flexible_blocks(const void* self, const saltus_point* at, double m, double fv,
                             double fq, double* A) {
  assert(self != NULL && at != NULL && A != NULL);
  const saltusi_flexible_system* s = self;
  const int count = s->system.dims.nv * s->system.dims.nv;
  memset(A, 0, (size_t)count * sizeof *A);
  if (m != 0.0) {
    s->ops.mass(self, at, A);
    for (int i = 0; i < count && m != 1.0; i++) {
      A[i] *= m;
    }
  }
  if (fv != 0.0 || fq != 0.0) {
    add_jacobian(s, at, fv, fq, A);
  }
}

void saltusi_flexible_force_q(const void* self, const saltus_point* at, double* A) {
  assert(self != NULL && at != NULL && A != NULL);
  saltusi_flexible_blocks(self, at, 0.0, 0.0, 1.0, A);
}

void saltusi_flexible_force_v(const void* self, const saltus_point* at, double* A) {
  assert(self != NULL && at != NULL && A != NULL);
  saltusi_flexible_blocks(self, at, 0.0, 1.0, 0.0, A);
}
