/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_jacobians.c - derivatives of the forces of flexible bodies. With F_inner = T^T f, A_u the derivative along u:
 *
 *   F_v = T^T f_v T + biases,    F_q u = T^T f_q T u + T^T f_v (T v)_u + (T^T)_u f + biases
 */
#include "model/flexible_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- Jacobians ---- */

/* dJ/dq_j w, or with `other` the second derivative by q_j and q_k times w. */
static void inertia_slope(const saltus_flexible* d, const double* E, double Sq, const double w[3],
                          double out[3]) {
  saltusi_turn(E, w, out);
  const double trace = E[0] + E[4] + E[8], along = 2.0 * Sq * saltusi_dot3(d->axis, w);
  for (int c = 0; c < 3; c++) {
    out[c] = trace * w[c] - out[c] - along * d->axis[c];
  }
}

/* Derivatives of the biases and elastic forces of a part by q (which 0) or v (1), added to A [nv x nv]. */
static void part_jacobian(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                          const saltus_point* at, const saltusi_flexible_space* to, int which,
                          double* A) {
  const saltus_flexible* d = b->data;
  const int k = d->modes, n = s->system.dims.nv, w0 = b->v + 3, e0 = b->eta;
  const double *eta = saltusi_flexible_eta_of(s, b, at->q),
               *rates = saltusi_flexible_rate_of(s, b, at->v), *w = at->v + w0;
  double dJ[9], L[3], Jrate[9] = {0.0}, out[3], turned[3];
  saltusi_flexible_inertia_at(d, eta, to->E, to->h, to->Sq, dJ);
  saltusi_turn(dJ, w, L);
  for (int j = 0; j < k; j++) {
    saltusi_along(rates[j], to->h + 3 * j, L, L);
  }
  for (int m = 0; m < k; m++) {
    double Jm[3], sum[9] = {0.0}, second[3] = {0.0}, mixed[9] = {0.0}, stiff = 0.0;
    inertia_slope(d, to->E + 9 * (ptrdiff_t)m, to->Sq[m], w, Jm);
    for (int j = 0; j < k; j++) {
      const double *mj = d->C2 + (ptrdiff_t)9 * (m * k + j),
                   *jm = d->C2 + (ptrdiff_t)9 * (j * k + m);
      double both[9], slope[3], axial[3];
      for (int c = 0; c < 9; c++) {
        both[c] = mj[c] + jm[c];
        sum[c] += rates[j] * mj[c];
        mixed[c] += rates[j] * both[c];
      }
      const double S = d->stiffen != NULL ? d->stiffen[m * k + j] : 0.0;
      stiff += rates[j] * S;
      if (which == 0) {
        inertia_slope(d, both, S, w, slope);
        A[(e0 + j) * n + e0 + m] += 0.5 * saltusi_dot3(w, slope);
      } else {
        saltusi_flexible_axial(mj, axial);
        A[(e0 + j) * n + e0 + m] -= 2.0 * saltusi_dot3(w, axial);
      }
    }
    double column[3], h[3];
    if (which == 0) { /* (sum q_j' J_jm) w + w x (J_m w + sum q_j' saltusi_flexible_axial(C_mj)) */
      inertia_slope(d, mixed, stiff, w, second);
      saltusi_flexible_axial(sum, h);
      saltusi_along(1.0, h, Jm, turned);
      A[(e0 + m) * n + e0 + m] -= d->omega[m] * d->omega[m];
    } else { /* J_m w + w x h_m */
      memcpy(second, Jm, sizeof second);
      memcpy(turned, to->h + 3 * (ptrdiff_t)m, sizeof turned);
      A[(e0 + m) * n + e0 + m] -= 2.0 * d->zeta[m] * d->omega[m];
      for (int c = 0; c < 9; c++) { /* sum q_i' C_im is the transpose of sum q_i' C_mi */
        Jrate[c] += rates[m] * to->E[9 * m + c];
      }
      double axial[3];
      saltusi_flexible_axial(sum, axial); /* ax of the transpose is its negative */
      for (int c = 0; c < 3; c++) {
        A[(e0 + m) * n + w0 + c] += Jm[c] + 2.0 * axial[c];
      }
    }
    saltusi_cross(w, turned, column);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + e0 + m] -= second[c] + column[c];
    }
  }
  for (int m = 0; which == 1 && m < 3; m++) {
    const double unit[3] = {m == 0, m == 1, m == 2};
    const double column[3] = {dJ[m], dJ[3 + m], dJ[6 + m]};
    double first[3], second[3], slope = 0.0;
    for (int j = 0; j < k; j++) {
      slope += rates[j] * to->Sq[j];
    }
    inertia_slope(d, Jrate, slope, unit, out);
    saltusi_cross(unit, L, first);
    saltusi_cross(w, column, second);
    for (int c = 0; c < 3; c++) {
      A[(w0 + c) * n + w0 + m] -= out[c] + first[c] + second[c];
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

/* NOLINTNEXTLINE(readability-function-cognitive-complexity,readability-function-size): blocks of one matrix */
static void jacobian(const void* self, const saltus_point* at, int which, double* A) {
  const saltusi_flexible_system* s = self;
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  const saltus_system_ops* ops = s->inner->ops;
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  (which == 0 ? ops->force_q : ops->force_v)(s->inner->self, &p, to.M);
  project(s, at->q, &to, A);
  if (which == 0) { /* forces on frames that turn and move with the modes */
    ops->force(s->inner->self, &p, to.F);
    ops->force_v(s->inner->self, &p, to.M);
    const bool damped = any(to.M + (ptrdiff_t)s->nv_free * inner, (inner - s->nv_free) * inner);
    for (int i = 0; i < s->frames; i++) {
      const double* g = to.F + s->carried[i].v;
      saltusi_frame_state f;
      saltusi_flexible_frame_at(s, &s->carried[i], at->q, &f);
      for (int m = 0; (damped || any(g, 6)) && m < 3 + f.part->data->modes; m++) {
        double velocity[6];
        memset(to.x, 0, (size_t)n * sizeof *to.x);
        frame_slopes(s, &f, at->v, g, m, velocity, to.x);
        for (int r = 0; damped && r < inner; r++) { /* F_v times the change of its velocity */
          const double* row = to.M + (ptrdiff_t)r * inner + s->carried[i].v;
          double sum = 0.0;
          for (int c = 0; c < 6; c++) {
            sum += row[c] * velocity[c];
          }
          to.X[r] = sum;
        }
        for (int r = 0; damped && r < s->nv_free; r++) {
          to.x[s->modes + r] += to.X[r];
        }
        for (int o = 0; damped && o < s->frames; o++) {
          saltusi_frame_state other;
          saltusi_flexible_frame_at(s, &s->carried[o], at->q, &other);
          saltusi_flexible_frame_force(s, &other, to.X + s->carried[o].v, to.x);
        }
        const int column = m < 3 ? f.part->v + 3 + m : f.part->eta + m - 3;
        for (int r = 0; r < n; r++) {
          A[(ptrdiff_t)r * n + column] += to.x[r];
        }
      }
    }
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
