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

/* A += sum over planes [from, to) of x_c second, at the modes of the part. */
static void add_planes(const saltusi_flexible_member* b, int from, int to, const double* x, int n,
                       double* A) {
  const int k = b->data->modes;
  for (int m = 0; m < k; m++) {
    saltusi_flexible_add_rows(to - from, k, (ptrdiff_t)k * k, x,
                              b->second + ((ptrdiff_t)from * k + m) * k,
                              A + (ptrdiff_t)(b->eta + m) * n + b->eta);
  }
}

/* F_q of the biases and elastic forces of a part, added to A [nv x nv]:
 * modes:    w J_jm w / 2 - omega^2
 * rotation: -(sum q_j' J_jm) w - w x (J_m w - sum q_i' h_im) */
static void part_slopes_q(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                          const saltus_point* at, const saltusi_flexible_space* to, double* A) {
  const int k = b->data->modes, n = s->system.dims.nv, w0 = b->v + 3, e0 = b->eta;
  const double* w = at->v + w0;
  const double* turn = to->rates + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k;
  const double squares[SALTUSI_FLEXIBLE_J] = {0.5 * w[0] * w[0], 0.5 * w[1] * w[1],
                                              0.5 * w[2] * w[2], w[0] * w[1],
                                              w[0] * w[2],       w[1] * w[2]};
  add_planes(b, 0, SALTUSI_FLEXIBLE_J, squares, n, A);
  for (int m = 0; m < k; m++) {
    double Jm[3], second[3], column[3];
    saltusi_flexible_turned(to->J + m, k, w, Jm);
    saltusi_flexible_turned(to->rates + m, k, w, second);
    for (int c = 0; c < 3; c++) {
      Jm[c] -= turn[c * k + m];
    }
    saltusi_cross(w, Jm, column);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + e0 + m] -= second[c] + column[c];
    }
    A[(e0 + m) * n + e0 + m] -= b->data->omega[m] * b->data->omega[m];
  }
}

/* F_v of the same:
 * modes:    2 w . h_jm - 2 zeta omega          by rotation: J_j w - 2 sum q_i' h_ij
 * rotation: -J_m w - w x h_m                   by rotation: -J' - e x L - w x J */
static void part_slopes_v(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                          const saltus_point* at, const saltusi_flexible_space* to, double* A) {
  const int k = b->data->modes, n = s->system.dims.nv, w0 = b->v + 3, e0 = b->eta;
  const double *w = at->v + w0, *rate = saltusi_flexible_rate_of(s, b, at->v);
  const double *turn = to->rates + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k,
               *h = to->J + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k;
  const double twice[3] = {2.0 * w[0], 2.0 * w[1], 2.0 * w[2]}; /* h_mj = -h_jm */
  double dJ[SALTUSI_FLEXIBLE_J], Jrate[SALTUSI_FLEXIBLE_J], L[3], sum[3];
  add_planes(b, SALTUSI_FLEXIBLE_J, SALTUSI_FLEXIBLE_PLANES, twice, n, A);
  for (int m = 0; m < k; m++) {
    const double hm[3] = {h[m], h[k + m], h[2 * k + m]};
    double Jm[3], column[3];
    saltusi_flexible_turned(to->J + m, k, w, Jm);
    saltusi_cross(w, hm, column);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + e0 + m] -= Jm[c] + column[c];
      A[(e0 + m) * n + w0 + c] += Jm[c] - 2.0 * turn[c * k + m];
    }
    A[(e0 + m) * n + e0 + m] -= 2.0 * b->data->zeta[m] * b->data->omega[m];
  }
  saltusi_flexible_totals(b, saltusi_flexible_eta_of(s, b, at->q), rate, to->J, dJ, sum);
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
      A[(w0 + c) * n + w0 + m] -= spin[c] + first[c] + second[c];
    }
  }
}

/* Derivatives of the biases and elastic forces of a part by q (which 0) or v (1). */
static void part_jacobian(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                          const saltus_point* at, const saltusi_flexible_space* to, int which,
                          double* A) {
  const int used = which == 0 ? SALTUSI_FLEXIBLE_J : SALTUSI_FLEXIBLE_PLANES;
  const size_t size = SALTUSI_FLEXIBLE_PLANES * (size_t)b->data->modes * sizeof(double);
  memcpy(to->J, b->first, size);
  memset(to->rates, 0, size);
  saltusi_flexible_contract(b, 0, used, saltusi_flexible_eta_of(s, b, at->q), to->J);
  saltusi_flexible_contract(b, which == 0 ? 0 : SALTUSI_FLEXIBLE_J, SALTUSI_FLEXIBLE_PLANES,
                            saltusi_flexible_rate_of(s, b, at->v), to->rates);
  (which == 0 ? part_slopes_q : part_slopes_v)(s, b, at, to, A);
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

/* A [nv x nv] = T^T M T, M [nv_inner x nv_inner] in to->M. */
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
      memcpy(A + (ptrdiff_t)(s->modes + r) * n, X, (size_t)n * sizeof *A);
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

/* (T^T)_u f + T^T f_v (T v)_u: forces on frames that turn and move with the modes. */
static void add_frame_slopes(const saltusi_flexible_system* s, const saltus_point* at,
                             const saltus_point* p, const saltusi_flexible_space* to, double* A) {
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  const saltus_system_ops* ops = s->inner->ops;
  ops->force(s->inner->self, p, to->F);
  ops->force_v(s->inner->self, p, to->M);
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
        A[(ptrdiff_t)r * n + column] += to->x[r];
      }
    }
  }
}

static void jacobian(const void* self, const saltus_point* at, int which, double* A) {
  const saltusi_flexible_system* s = self;
  const int n = s->system.dims.nv;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  const saltus_system_ops* ops = s->inner->ops;
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  (which == 0 ? ops->force_q : ops->force_v)(s->inner->self, &p, to.M);
  project(s, at->q, &to, A);
  if (which == 0) {
    add_frame_slopes(s, at, &p, &to, A);
  }
  for (int i = 0; i < s->parts; i++) {
    part_jacobian(s, &s->part[i], at, &to, which, A);
  }
}

void saltusi_flexible_force_q(const void* self, const saltus_point* at, double* A) {
  assert(self != NULL && at != NULL && A != NULL);
  jacobian(self, at, 0, A);
}

void saltusi_flexible_force_v(const void* self, const saltus_point* at, double* A) {
  assert(self != NULL && at != NULL && A != NULL);
  jacobian(self, at, 1, A);
}
