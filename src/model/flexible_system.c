/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_system.c - see flexible_system.h. Floating frame with mean axes (Shabana, Dynamics of Multibody Systems, chapter 5):
 *
 *   Y = C0 + sum q_j (C_j + C_j^T) + sum q_j q_k C_jk,   J = tr(Y) - Y - a a^T (q^T S q),   h_j = ax(C_j + sum q_k C_kj)
 *   bias_w = J' w + sum h_j' q_j' + w x (J w + sum h_j q_j')
 *   bias_j = -w^T J_j w / 2 + 2 w . sum ax(C_kj) q_k',    J_j = dJ/dq_j
 *
 * S is the geometric stiffness over the square of the speed about the axis a. A frame at s with displacement phi and
 * rotation psi, theta = psi q, has the velocities (Gibbs' vector theta/2, so that R is exact in theta)
 *
 *   v_P = v + A (w x y + phi q'),  y = s + phi q;      w_P = R^T w + (theta' - theta x theta'/2) / (1 + theta^2/4)
 */
#include "model/flexible_system.h"

#include "body/mechanism.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct part {
  const saltus_flexible* data;
  int q, v; /* of the floating frame, in the system: behind all modes */
  int eta;  /* first modal coordinate */
} part;

typedef struct carried {
  int part, frame;
  int q, v; /* q in the system, v in the inner system */
} carried;

struct saltusi_flexible_system {
  saltus_system system;
  saltus_system_ops ops;
  const saltus_system* inner;
  saltusi_pool* pool;
  int parts, frames, modes;
  int nv_free; /* velocities of the inner system without those of carried bodies, which are behind */
  part* part;
  carried* carried;
  saltus_observables view;
  const saltus_observables* observed;
  int momentum; /* place of angular_momentum.x in the outputs; -1: none */
};

/* ---- frames ---- */

static const double* eta_of(const saltusi_flexible_system* s, const part* p, const double* q) {
  (void)s;
  return q + p->eta;
}

static const double* rate_of(const saltusi_flexible_system* s, const part* p, const double* v) {
  (void)s;
  return v + p->eta;
}

/* out = rows [3 x modes] x */
static void rows_times(int modes, const double* rows, const double* x, double out[3]) {
  for (int c = 0; c < 3; c++) {
    double sum = 0.0;
    for (int k = 0; k < modes; k++) {
      sum += rows[c * modes + k] * x[k];
    }
    out[c] = sum;
  }
}

/* A frame at a state. */
typedef struct frame_state {
  const part* part;
  const saltus_flexible_frame* frame;
  const double *phi, *psi;
  double A[9], y[3];
  double theta[3], R[9]; /* R from the frame to the body; unit where it does not turn */
  double over;           /* 1/(1 + theta^2/4) */
} frame_state;

static void frame_at(const saltusi_flexible_system* s, const carried* c, const double* q,
                     frame_state* f) {
  const part* p = &s->part[c->part];
  const int k = p->data->modes;
  const double* eta = eta_of(s, p, q);
  f->part = p;
  f->frame = &p->data->frame[c->frame];
  f->phi = p->data->phi + (ptrdiff_t)3 * c->frame * k;
  f->psi = p->data->psi + (ptrdiff_t)3 * c->frame * k;
  saltusi_quaternion_matrix(q + p->q + 3, f->A);
  rows_times(k, f->phi, eta, f->y);
  saltusi_along(1.0, f->frame->s, f->y, f->y);
  memset(f->theta, 0, sizeof f->theta);
  if (f->frame->turns) {
    rows_times(k, f->psi, eta, f->theta);
  }
  const double gibbs[4] = {1.0, 0.5 * f->theta[0], 0.5 * f->theta[1], 0.5 * f->theta[2]};
  saltusi_quaternion_matrix(gibbs, f->R);
  f->over = 1.0 / (1.0 + 0.25 * saltusi_dot3(f->theta, f->theta));
}

/* Velocities of the frame, and with `a` the convective part of its accelerations, both [6]. */
static void frame_velocity(const saltusi_flexible_system* s, const frame_state* f, const double* v,
                           double out[6], double* a) {
  const part* p = f->part;
  const int k = p->data->modes;
  const double *w = v + p->v + 3, *rate = rate_of(s, p, v);
  double local[3], u[3], world[3], rotated[3], relative[3] = {0.0}, turn[3] = {0.0};
  rows_times(k, f->phi, rate, u);
  saltusi_cross(w, f->y, local);
  double sum[3];
  saltusi_along(1.0, u, local, sum);
  saltusi_turn(f->A, sum, world);
  saltusi_along(1.0, v + p->v, world, out);
  saltusi_turn_back(f->R, w, rotated);
  if (f->frame->turns) {
    double cross[3];
    rows_times(k, f->psi, rate, turn);
    saltusi_cross(f->theta, turn, cross);
    for (int c = 0; c < 3; c++) {
      relative[c] = f->over * (turn[c] - 0.5 * cross[c]);
    }
  }
  saltusi_along(1.0, relative, rotated, out + 3);
  if (a == NULL) {
    return;
  }
  double coriolis[3], both[3];
  saltusi_along(1.0, u, sum, both); /* w x y + 2 phi q' */
  saltusi_cross(w, both, coriolis);
  saltusi_turn(f->A, coriolis, a);
  saltusi_cross(rotated, relative, a + 3);
  saltusi_along(-0.5 * saltusi_dot3(f->theta, turn) * f->over, relative, a + 3, a + 3);
}

/* x [nv] += T^T g, g [6] forces on the frame. */
static void frame_force(const saltusi_flexible_system* s, const frame_state* f, const double g[6],
                        double* x) {
  const part* p = f->part;
  const int k = p->data->modes;
  double local[3], arm[3], torque[3], back[3] = {0.0};
  saltusi_turn_back(f->A, g, local);
  saltusi_cross(f->y, local, arm);
  saltusi_turn(f->R, g + 3, torque);
  (void)s;
  double* eta = x + p->eta;
  for (int c = 0; c < 3; c++) {
    x[p->v + c] += g[c];
    x[p->v + 3 + c] += arm[c] + torque[c];
  }
  if (f->frame->turns) { /* B^T g = over (g + theta x g / 2) */
    saltusi_cross(f->theta, g + 3, back);
    for (int c = 0; c < 3; c++) {
      back[c] = f->over * (g[3 + c] + 0.5 * back[c]);
    }
  }
  for (int c = 0; c < 3; c++) {
    for (int j = 0; j < k; j++) {
      eta[j] += local[c] * f->phi[c * k + j] + back[c] * f->psi[c * k + j];
    }
  }
}

/* Poses of carried bodies from the floating frames. */
static void place_frames(const saltusi_flexible_system* s, double* q) {
  for (int i = 0; i < s->frames; i++) {
    const carried* c = &s->carried[i];
    frame_state f;
    double world[3];
    frame_at(s, c, q, &f);
    saltusi_turn(f.A, f.y, world);
    saltusi_along(1.0, q + f.part->q, world, q + c->q);
    const double gibbs[4] = {1.0, 0.5 * f.theta[0], 0.5 * f.theta[1], 0.5 * f.theta[2]};
    saltusi_quaternion_product(q + f.part->q + 3, gibbs, q + c->q + 3);
    const double length = saltusi_quaternion_length(q + c->q + 3);
    for (int k = 0; k < 4; k++) {
      q[c->q + 3 + k] /= length;
    }
  }
}

void saltusi_flexible_expand(const saltusi_flexible_system* s, const double* q, const double* v,
                             double* v_inner) {
  assert(s != NULL && q != NULL && v != NULL && v_inner != NULL);
  memcpy(v_inner, v + s->modes, (size_t)s->nv_free * sizeof *v);
  for (int i = 0; i < s->frames; i++) {
    frame_state f;
    frame_at(s, &s->carried[i], q, &f);
    frame_velocity(s, &f, v, v_inner + s->carried[i].v, NULL);
  }
}

/* ---- inertia ---- */

static void ax(const double D[9], double out[3]) {
  out[0] = D[5] - D[7];
  out[1] = D[6] - D[2];
  out[2] = D[1] - D[3];
}

/* E [modes x 9] = dY/dq_j, h [modes x 3], S q [modes]; J - J0 into dJ. */
static void inertia_at(const saltus_flexible* d, const double* eta, double* E, double* h,
                       double* Sq, double dJ[9]) {
  const int k = d->modes;
  double Y[9] = {0.0}, square = 0.0;
  for (int j = 0; j < k; j++) {
    const double* C = d->C1 + (ptrdiff_t)9 * j;
    double D[9];
    memcpy(D, C, sizeof D); /* C_j + sum q_k C_kj */
    for (int i = 0; i < k; i++) {
      const double* kj = d->C2 + (ptrdiff_t)9 * (i * k + j);
      for (int c = 0; c < 9; c++) {
        D[c] += eta[i] * kj[c];
      }
    }
    ax(D, h + 3 * j);
    for (int r = 0; r < 3; r++) { /* sum q_k C_jk is the transpose */
      for (int c = 0; c < 3; c++) {
        E[9 * j + 3 * r + c] = D[3 * r + c] + D[3 * c + r];
        Y[3 * r + c] += 0.5 * eta[j] * (E[9 * j + 3 * r + c] + C[3 * r + c] + C[3 * c + r]);
      }
    }
    Sq[j] = 0.0;
    for (int i = 0; d->stiffen != NULL && i < k; i++) {
      Sq[j] += d->stiffen[j * k + i] * eta[i];
    }
    square += Sq[j] * eta[j];
  }
  const double trace = Y[0] + Y[4] + Y[8];
  for (int c = 0; c < 9; c++) {
    dJ[c] = (c % 4 == 0 ? trace : 0.0) - Y[c] - square * d->axis[c / 3] * d->axis[c % 3];
  }
}

/* Modal coordinates far beyond the size of the body, as stages of a trial step that is too long have them: forces are then not
 * numbers, which rejects the step, and the mass is that of the undeformed body. */
static bool beyond(const saltus_flexible* d, const double* eta) {
  double square = 0.0;
  for (int j = 0; j < d->modes; j++) {
    square += eta[j] * eta[j];
  }
  return !(square < 100.0 * (d->C0[0] + d->C0[4] + d->C0[8]));
}

/* ---- scratch: that of the inner system, then velocities, forces and matrices ---- */

typedef struct space {
  double* v;          /* [nv_inner] */
  double* F;          /* [nv_inner] */
  double* M;          /* [nv_inner^2], also rows */
  double *E, *h, *Sq; /* of the part with the most modes */
  double* X;          /* [nv_inner x nv] */
  double* x;          /* [nv] */
  int* column;
} space;

static int most_modes(const saltusi_flexible_system* s) {
  int most = 0;
  for (int i = 0; i < s->parts; i++) {
    most = s->part[i].data->modes > most ? s->part[i].data->modes : most;
  }
  return most;
}

static size_t lay_out(const saltusi_flexible_system* s, void* scratch, space* to) {
  const size_t n = (size_t)s->inner->dims.nv, k = (size_t)most_modes(s);
  const size_t align = sizeof(double) * 2,
               head = (s->inner->dims.scratch + align - 1) / align * align;
  const size_t rows = (size_t)(SALTUS_GUARDS)*n > n * n ? (size_t)(SALTUS_GUARDS)*n : n * n;
  const size_t nv = (size_t)(s->nv_free + s->modes), doubles = 2 * n + rows + 13 * k + (n + 1) * nv;
  if (to != NULL) {
    double* at = (double*)(void*)((char*)scratch + head);
    *to = (space){.v = at, .F = at + n, .M = at + 2 * n};
    to->E = to->M + rows;
    to->h = to->E + 9 * k;
    to->Sq = to->h + 3 * k;
    to->X = to->Sq + k;
    to->x = to->X + n * nv;
    to->column = (int*)(void*)(to->x + nv);
  }
  return head + doubles * sizeof(double) + (n + 2) * sizeof(int);
}

/* The point of the inner system. */
static saltus_point inside(const saltusi_flexible_system* s, const saltus_point* at, space* to) {
  saltus_point p = *at;
  lay_out(s, at->scratch, to);
  p.q = at->q + s->modes;
  if (at->v != NULL) {
    saltusi_flexible_expand(s, at->q, at->v, to->v);
    p.v = to->v;
  }
  return p;
}

/* ---- energies and forces ---- */

static void mass(const void* self, const saltus_point* at, double* M) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  s->inner->ops->mass(s->inner->self, &p, to.M);
  memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
  for (int r = 0; r < s->nv_free; r++) {
    memcpy(M + (ptrdiff_t)(s->modes + r) * n + s->modes, to.M + (ptrdiff_t)r * inner,
           (size_t)s->nv_free * sizeof *M);
  }
  for (int i = 0; i < s->parts; i++) {
    const part* b = &s->part[i];
    double dJ[9];
    const bool far = beyond(b->data, eta_of(s, b, at->q));
    inertia_at(b->data, eta_of(s, b, at->q), to.E, to.h, to.Sq, dJ);
    for (int c = 0; c < 9; c++) {
      dJ[c] = far ? 0.0 : dJ[c];
    }
    for (int j = 0; j < 3 * b->data->modes; j++) {
      to.h[j] = far ? 0.0 : to.h[j];
    }
    const int w = b->v + 3, e = b->eta;
    for (int c = 0; c < 9; c++) {
      M[(w + c / 3) * n + w + c % 3] += dJ[c];
    }
    for (int j = 0; j < b->data->modes; j++) {
      M[(e + j) * n + e + j] += 1.0;
      for (int c = 0; c < 3; c++) {
        M[(w + c) * n + e + j] += to.h[3 * j + c];
        M[(e + j) * n + w + c] += to.h[3 * j + c];
      }
    }
  }
}

/* Biases and elastic forces of a part. */
static void part_force(const saltusi_flexible_system* s, const part* b, const saltus_point* at,
                       const space* to, double* F) {
  const saltus_flexible* d = b->data;
  const int k = d->modes;
  const double *eta = eta_of(s, b, at->q), *rate = rate_of(s, b, at->v), *w = at->v + b->v + 3;
  double dJ[9], L[3], Jrate[9] = {0.0}, hrate[3] = {0.0}, spin[3], gyro[3], all[3] = {0.0};
  if (beyond(d, eta)) {
    F[b->eta] = (double)NAN;
    return;
  }
  inertia_at(d, eta, to->E, to->h, to->Sq, dJ);
  saltusi_turn(dJ, w, L); /* the inner system has w x J0 w */
  const double wa = saltusi_dot3(w, d->axis), ww = saltusi_dot3(w, w);
  double slope = 0.0;
  for (int j = 0; j < k; j++) {
    const double* E = to->E + 9 * (ptrdiff_t)j;
    const double trace = E[0] + E[4] + E[8];
    for (int c = 0; c < 9; c++) {
      Jrate[c] += rate[j] * ((c % 4 == 0 ? trace : 0.0) - E[c]);
    }
    slope += 2.0 * rate[j] * to->Sq[j];
    saltusi_along(rate[j], to->h + 3 * j, all, all);
    double Ew[3], sum[9] = {0.0}, turn[3];
    saltusi_turn(E, w, Ew);
    for (int i = 0; i < k; i++) {
      const double* kj = d->C2 + (ptrdiff_t)9 * (i * k + j);
      for (int c = 0; c < 9; c++) {
        sum[c] += rate[i] * kj[c];
      }
    }
    ax(sum, turn);
    saltusi_along(rate[j], turn, hrate, hrate);
    const double half = 0.5 * (ww * trace - saltusi_dot3(w, Ew)) - wa * wa * to->Sq[j];
    F[b->eta + j] += half - 2.0 * saltusi_dot3(w, turn) -
                     d->omega[j] * (d->omega[j] * eta[j] + 2.0 * d->zeta[j] * rate[j]);
  }
  saltusi_turn(Jrate, w, spin);
  saltusi_along(-slope * wa, d->axis, spin, spin);
  saltusi_along(1.0, all, L, L);
  saltusi_cross(w, L, gyro);
  for (int c = 0; c < 3; c++) {
    F[b->v + 3 + c] -= spin[c] + hrate[c] + gyro[c];
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  s->inner->ops->force(s->inner->self, &p, to.F);
  memcpy(F + s->modes, to.F, (size_t)s->nv_free * sizeof *F);
  memset(F, 0, (size_t)s->modes * sizeof *F);
  for (int i = 0; i < s->frames; i++) {
    const carried* c = &s->carried[i];
    frame_state f;
    frame_at(s, c, at->q, &f);
    frame_force(s, &f, to.F + c->v, F);
  }
  for (int i = 0; i < s->parts; i++) {
    part_force(s, &s->part[i], at, &to, F);
  }
}

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
static void part_jacobian(const saltusi_flexible_system* s, const part* b, const saltus_point* at,
                          const space* to, int which, double* A) {
  const saltus_flexible* d = b->data;
  const int k = d->modes, n = s->system.dims.nv, w0 = b->v + 3, e0 = b->eta;
  const double *eta = eta_of(s, b, at->q), *rates = rate_of(s, b, at->v), *w = at->v + w0;
  double dJ[9], L[3], Jrate[9] = {0.0}, out[3], turned[3];
  inertia_at(d, eta, to->E, to->h, to->Sq, dJ);
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
        ax(mj, axial);
        A[(e0 + j) * n + e0 + m] -= 2.0 * saltusi_dot3(w, axial);
      }
    }
    double column[3], h[3];
    if (which == 0) { /* (sum q_j' J_jm) w + w x (J_m w + sum q_j' ax(C_mj)) */
      inertia_slope(d, mixed, stiff, w, second);
      ax(sum, h);
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
      ax(sum, axial); /* ax of the transpose is its negative */
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
static void frame_slopes(const saltusi_flexible_system* s, const frame_state* f, const double* v,
                         const double* g, int direction, double velocity[6], double* force_slope) {
  const part* p = f->part;
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
  rows_times(k, f->phi, rate_of(s, p, v), u);
  saltusi_cross(w, f->y, x);
  saltusi_along(1.0, u, x, x);
  saltusi_cross(turn, x, sum);
  saltusi_cross(w, du, y);
  saltusi_along(1.0, y, sum, sum);
  saltusi_turn(f->A, sum, velocity);
  saltusi_turn_back(f->R, w, rotated);
  frame_velocity(s, f, v, relative, NULL);
  saltusi_minus3(relative + 3, rotated, relative); /* of the frame in its body */
  saltusi_cross(f->theta, dtheta, x);
  for (int c = 0; c < 3; c++) {
    omega[c] = f->over * (dtheta[c] - 0.5 * x[c]);
  }
  if (f->frame->turns) {
    rows_times(k, f->psi, rate_of(s, p, v), rate3);
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
static void project(const saltusi_flexible_system* s, const double* q, const space* to, double* A) {
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  for (int r = 0; r < inner; r++) { /* X = M T */
    const double* row = to->M + (ptrdiff_t)r * inner;
    double* X = to->X + (ptrdiff_t)r * n;
    memset(X, 0, (size_t)n * sizeof *X);
    memcpy(X + s->modes, row, (size_t)s->nv_free * sizeof *X);
    for (int i = 0; i < s->frames && any(row + s->nv_free, inner - s->nv_free); i++) {
      if (any(row + s->carried[i].v, 6)) {
        frame_state f;
        frame_at(s, &s->carried[i], q, &f);
        frame_force(s, &f, row + s->carried[i].v, X);
      }
    }
    if (r < s->nv_free) {
      memcpy(A + (ptrdiff_t)(s->modes + r) * n, X, (size_t)n * sizeof *A);
    }
  }
  for (int i = 0; i < s->frames; i++) {
    const double* X = to->X + (ptrdiff_t)s->carried[i].v * n;
    frame_state f;
    frame_at(s, &s->carried[i], q, &f);
    for (int c = 0; c < n && any(X, 6 * n); c++) {
      const double g[6] = {X[c], X[n + c], X[2 * n + c], X[3 * n + c], X[4 * n + c], X[5 * n + c]};
      if (any(g, 6)) {
        memset(to->x, 0, (size_t)n * sizeof *to->x);
        frame_force(s, &f, g, to->x);
        for (int r = 0; r < n; r++) {
          A[(ptrdiff_t)r * n + c] += to->x[r];
        }
      }
    }
  }
}

static void jacobian(const void* self, const saltus_point* at, int which, double* A) {
  const saltusi_flexible_system* s = self;
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  space to;
  const saltus_point p = inside(s, at, &to);
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
      frame_state f;
      frame_at(s, &s->carried[i], at->q, &f);
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
          frame_state other;
          frame_at(s, &s->carried[o], at->q, &other);
          frame_force(s, &other, to.X + s->carried[o].v, to.x);
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

static void force_q(const void* self, const saltus_point* at, double* A) {
  jacobian(self, at, 0, A);
}

static void force_v(const void* self, const saltus_point* at, double* A) {
  jacobian(self, at, 1, A);
}

static double strain(const saltusi_flexible_system* s, const part* b, const double* q) {
  const double* eta = eta_of(s, b, q);
  double V = 0.0;
  for (int j = 0; j < b->data->modes; j++) {
    V += 0.5 * b->data->omega[j] * b->data->omega[j] * eta[j] * eta[j];
  }
  return V;
}

static double potential(const void* self, const saltus_point* at) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  double V = s->inner->ops->potential(s->inner->self, &p);
  for (int i = 0; i < s->parts; i++) {
    V += strain(s, &s->part[i], at->q);
  }
  return V;
}

static double kinetic(const void* self, const saltus_point* at) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  double T = s->inner->ops->kinetic(s->inner->self, &p);
  for (int i = 0; i < s->parts; i++) {
    const part* b = &s->part[i];
    double dJ[9], L[3];
    inertia_at(b->data, eta_of(s, b, at->q), to.E, to.h, to.Sq, dJ);
    const double *rate = rate_of(s, b, at->v), *w = at->v + b->v + 3;
    saltusi_turn(dJ, w, L);
    T += 0.5 * saltusi_dot3(w, L);
    for (int j = 0; j < b->data->modes; j++) {
      T += 0.5 * rate[j] * rate[j] + rate[j] * saltusi_dot3(w, to.h + 3 * j);
    }
  }
  return T;
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  s->inner->ops->power(s->inner->self, &p, out);
  for (int i = 0; i < s->parts; i++) {
    const part* b = &s->part[i];
    const double* rate = rate_of(s, b, at->v);
    for (int j = 0; j < b->data->modes; j++) {
      out[0] -= 2.0 * b->data->zeta[j] * b->data->omega[j] * rate[j] * rate[j];
    }
  }
}

/* ---- rows ---- */

/* Rows of the inner system over the velocities of this one; `ask` fills them. */
typedef void (*row_maker)(const saltusi_flexible_system* s, const saltus_point* at, uint64_t which,
                          saltus_rows* rows);

static void take_rows(const saltusi_flexible_system* s, const saltus_point* at, uint64_t which,
                      row_maker ask, saltus_rows* rows) {
  space to;
  const saltus_point p = inside(s, at, &to);
  const int n = s->inner->dims.nv, width = s->inner->dims.row_width;
  saltus_rows in = *rows;
  in.width = in.stride = width > 0 ? width : n;
  in.column = width > 0 ? to.column : NULL;
  in.G = to.M;
  memset(to.M, 0, (size_t)rows->count * (size_t)in.stride * sizeof *to.M);
  ask(s, &p, which, &in);
  for (int r = 0; r < rows->count; r++) {
    const double* g = in.G + (ptrdiff_t)r * in.stride;
    double* G = rows->G + (ptrdiff_t)r * rows->stride;
    memset(to.F, 0, (size_t)n * sizeof *to.F);
    for (int k = 0; k < in.width; k++) {
      const int column = in.column != NULL ? in.column[k] : k;
      *(column < s->nv_free ? &G[s->modes + column] : &to.F[column]) += g[k];
    }
    for (int i = 0; i < s->frames; i++) {
      const double* part_of = to.F + s->carried[i].v;
      double size = 0.0, velocity[6], a[6];
      for (int k = 0; k < 6; k++) {
        size += fabs(part_of[k]);
      }
      if (size == 0.0) {
        continue;
      }
      frame_state f;
      frame_at(s, &s->carried[i], at->q, &f);
      frame_force(s, &f, part_of, G);
      if (rows->c != NULL) {
        frame_velocity(s, &f, at->v, velocity, a);
        rows->c[r] += saltusi_dot3(part_of, a) + saltusi_dot3(part_of + 3, a + 3);
      }
    }
  }
}

static void ask_contact(const saltusi_flexible_system* s, const saltus_point* at, uint64_t which,
                        saltus_rows* rows) {
  s->inner->ops->contact(s->inner->self, at, which, rows);
}

static void ask_joint(const saltusi_flexible_system* s, const saltus_point* at, uint64_t which,
                      saltus_rows* rows) {
  s->inner->ops->joint(s->inner->self, at, (int)which, rows);
}

static void ask_dry(const saltusi_flexible_system* s, const saltus_point* at, uint64_t which,
                    saltus_rows* rows) {
  s->inner->ops->dry(s->inner->self, at, (int)which, rows);
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  take_rows(self, at, identity, ask_contact, rows);
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  take_rows(self, at, (uint64_t)i, ask_joint, rows);
}

static void dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  take_rows(self, at, (uint64_t)i, ask_dry, rows);
}

/* ---- what the inner system answers at its point ---- */

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* l) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  return s->inner->ops->contacts(s->inner->self, &p, l);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  return s->inner->ops->gaps(s->inner->self, &p, count, identity, gap);
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* l) {
  const saltusi_flexible_system* s = self;
  saltus_box box = *over;
  box.q_low += s->modes;
  box.q_high += s->modes;
  return s->inner->ops->sweep(s->inner->self, &box, l);
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* out) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  return s->inner->ops->place(s->inner->self, &p, identity, out);
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  return s->inner->ops->guards(s->inner->self, &p, identity, guard);
}

static void contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltusi_flexible_system* s = self;
  s->inner->ops->contact_text(s->inner->self, identity, text, size);
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const saltusi_flexible_system* s = self;
  space to;
  const saltus_point p = inside(s, at, &to);
  s->inner->ops->joints(s->inner->self, &p, g);
}

/* ---- positions ---- */

static void rate(const void* self, const double* q, const double* v, double* dq) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  saltusi_flexible_expand(s, q, v, inner);
  s->inner->ops->rate(s->inner->self, q + s->modes, inner, dq + s->modes);
  memcpy(dq, v, (size_t)s->modes * sizeof *dq);
}

static void advance(const void* self, const double* q, const double* v, double h, double* q1) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  saltusi_flexible_expand(s, q, v, inner); /* angles of joints are predicted with those of frames */
  s->inner->ops->advance(s->inner->self, q + s->modes, inner, h, q1 + s->modes);
  for (int k = 0; k < s->modes; k++) {
    q1[k] = q[k] + h * v[k];
  }
  place_frames(s, q1);
  s->inner->ops->normalise(s->inner->self, q1 + s->modes);
}

static void difference(const void* self, const double* q0, const double* q1, double* d) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  s->inner->ops->difference(s->inner->self, q0 + s->modes, q1 + s->modes, inner);
  memcpy(d + s->modes, inner, (size_t)s->nv_free * sizeof *d);
  for (int k = 0; k < s->modes; k++) {
    d[k] = q1[k] - q0[k];
  }
}

static void normalise(const void* self, double* q) {
  const saltusi_flexible_system* s = self;
  for (int i = 0; i < s->parts; i++) {
    saltusi_quaternion_normalise(q + s->part[i].q + 3);
  }
  place_frames(s, q);
  s->inner->ops->normalise(s->inner->self, q + s->modes);
}

static void turn_momentum(const void* self, const double* d, const double* p, double* y) {
  const saltusi_flexible_system* s = self;
  double in[SALTUSI_FLEXIBLE_MOST] = {0.0}, momenta[SALTUSI_FLEXIBLE_MOST] = {0.0};
  double out[SALTUSI_FLEXIBLE_MOST];
  memcpy(in, d + s->modes, (size_t)s->nv_free * sizeof *d);
  memcpy(momenta, p + s->modes, (size_t)s->nv_free * sizeof *p);
  s->inner->ops->turn_momentum(s->inner->self, in, momenta, out);
  memcpy(y + s->modes, out, (size_t)s->nv_free * sizeof *y);
  memcpy(y, p, (size_t)s->modes * sizeof *y);
}

/* ---- observables ---- */

static void write_outputs(const saltusi_flexible_system* s, const saltus_point* at,
                          double* values) {
  for (int i = 0; s->momentum >= 0 && i < s->parts; i++) {
    const part* b = &s->part[i];
    const int k = b->data->modes;
    double E[9 * 64], h[3 * 64], Sq[64], dJ[9], L[3], A[9], world[3];
    if (k > 64) { /* larger bodies are summed in pieces of memory that outputs do not have */
      values[s->momentum] = (double)NAN;
      continue;
    }
    inertia_at(b->data, eta_of(s, b, at->q), E, h, Sq, dJ);
    saltusi_turn(dJ, at->v + b->v + 3, L);
    for (int j = 0; j < k; j++) {
      saltusi_along(rate_of(s, b, at->v)[j], h + 3 * j, L, L);
    }
    saltusi_quaternion_matrix(at->q + b->q + 3, A);
    saltusi_turn(A, L, world);
    for (int c = 0; c < 3; c++) {
      values[s->momentum + c] += world[c];
    }
  }
  for (int i = 0; i < s->parts; i++) {
    values[s->observed->output_count + i] = strain(s, &s->part[i], at->q);
  }
}

static void outputs(const void* self, const saltus_point* at, double* values) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  saltus_point p = *at;
  saltusi_flexible_expand(s, at->q, at->v, inner);
  p.q = at->q + s->modes;
  p.v = inner;
  s->observed->outputs(s->observed->self, &p, values);
  write_outputs(s, at, values);
}

static void outputs_with(const void* self, const saltus_point* at, const double* joint_forces,
                         double* values) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  saltus_point p = *at;
  saltusi_flexible_expand(s, at->q, at->v, inner);
  p.q = at->q + s->modes;
  p.v = inner;
  s->observed->outputs_with(s->observed->self, &p, joint_forces, values);
  write_outputs(s, at, values);
}

static void events(const void* self, const saltus_point* at, double* values) {
  const saltusi_flexible_system* s = self;
  double inner[SALTUSI_FLEXIBLE_MOST];
  saltus_point p = *at;
  saltusi_flexible_expand(s, at->q, at->v, inner);
  p.q = at->q + s->modes;
  p.v = inner;
  s->observed->events(s->observed->self, &p, values);
}

const saltus_observables* saltusi_flexible_observables(saltusi_flexible_system* s,
                                                       const saltus_observables* inner) {
  assert(s != NULL && inner != NULL);
  saltus_label* labels = SALTUSI_TAKE(s->pool, saltus_label, inner->output_count + s->parts);
  if (labels == NULL) {
    return NULL;
  }
  s->momentum = -1;
  for (int i = 0; i < inner->output_count; i++) {
    labels[i] = inner->output_labels[i];
    s->momentum = strcmp(labels[i].name, "angular_momentum.x") == 0 ? i : s->momentum;
  }
  for (int i = 0; i < s->parts; i++) {
    const char* name = s->system.q_labels[s->part[i].q].name; /* NAME.x */
    char* text = saltusi_pool_text(s->pool, name);
    if (text == NULL) {
      return NULL;
    }
    text[strlen(text) - 2] = '\0';
    labels[inner->output_count + i] =
        (saltus_label){saltusi_pool_join(s->pool, text, ".strain_energy"), "J"};
  }
  s->observed = inner;
  s->view = *inner;
  s->view.output_count = inner->output_count + s->parts;
  s->view.output_labels = labels;
  s->view.outputs = outputs;
  s->view.outputs_with = inner->outputs_with != NULL ? outputs_with : NULL;
  s->view.events = inner->events != NULL ? events : NULL;
  s->view.event_errors = NULL;
  s->view.self = s;
  return &s->view;
}

/* ---- creation ---- */

static saltus_status label(saltusi_flexible_system* s) {
  const saltus_dims *in = &s->inner->dims, *d = &s->system.dims;
  saltus_label* q = SALTUSI_TAKE(s->pool, saltus_label, d->nq);
  saltus_label* v = SALTUSI_TAKE(s->pool, saltus_label, d->nv);
  if (q == NULL || v == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(q + s->modes, s->inner->q_labels, (size_t)in->nq * sizeof *q);
  memcpy(v + s->modes, s->inner->v_labels, (size_t)s->nv_free * sizeof *v);
  for (int i = 0; i < s->parts; i++) {
    const char* name = q[s->part[i].q].name;
    for (int j = 0; j < s->part[i].data->modes; j++) {
      char text[128];
      snprintf(text, sizeof text, "%.*s.mode_%d", (int)strlen(name) - 2, name, j + 1);
      const int at = s->part[i].eta + j;
      q[at] = (saltus_label){saltusi_pool_text(s->pool, text), "kg^(1/2) m"};
      v[at] = (saltus_label){saltusi_pool_join(s->pool, text, "'"), "kg^(1/2) m/s"};
    }
  }
  s->system.q_labels = q;
  s->system.v_labels = v;
  return s->pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

saltus_status saltusi_flexible_system_create(const saltus_system* inner,
                                             const saltus_mechanism* mechanism,
                                             const saltusi_flexible_part* parts, int count,
                                             saltusi_pool* pool, saltusi_flexible_system** out) {
  assert(inner != NULL && mechanism != NULL && parts != NULL && pool != NULL && out != NULL);
  saltusi_flexible_system* s = SALTUSI_TAKE(pool, saltusi_flexible_system, 1);
  int frames = 0;
  for (int i = 0; i < count; i++) {
    frames += parts[i].data->frames;
  }
  if (s == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  *s = (saltusi_flexible_system){.system = *inner,
                                 .inner = inner,
                                 .pool = pool,
                                 .parts = count,
                                 .nv_free = inner->dims.nv - 6 * frames,
                                 .part = SALTUSI_TAKE(pool, part, count),
                                 .carried = SALTUSI_TAKE(pool, carried, frames)};
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < count; i++) {
    s->part[i] = (part){.data = parts[i].data, .eta = s->modes};
    s->modes += parts[i].data->modes;
  }
  for (int i = 0; i < count; i++) {
    const saltusi_body* body = &mechanism->bodies[parts[i].body];
    s->part[i].q = s->modes + body->q;
    s->part[i].v = s->modes + body->v;
    for (int f = 0; f < parts[i].data->frames; f++) {
      const saltusi_body* own = &mechanism->bodies[parts[i].carried + f];
      assert(own->v >= s->nv_free);
      s->carried[s->frames++] = (carried){i, f, s->modes + own->q, own->v};
    }
  }
  const saltus_system_ops* in = inner->ops;
  s->ops = (saltus_system_ops){
      .mass = mass,
      .force = force,
      .contacts = in->contacts != NULL ? contacts : NULL,
      .contact = in->contact != NULL ? contact : NULL,
      .gaps = in->gaps != NULL ? gaps : NULL,
      .sweep = in->sweep != NULL ? sweep : NULL,
      .place = in->place != NULL ? place : NULL,
      .guards = in->guards != NULL ? guards : NULL,
      .contact_text = in->contact_text != NULL ? contact_text : NULL,
      .joints = in->joints != NULL ? joints : NULL,
      .joint = in->joint != NULL ? joint : NULL,
      .dry = in->dry != NULL ? dry : NULL,
      .force_q = in->force_q != NULL && in->force_v != NULL ? force_q : NULL,
      .force_v = in->force_q != NULL && in->force_v != NULL ? force_v : NULL,
      .kinetic = kinetic,
      .potential = potential,
      .power = power,
      .rate = rate,
      .advance = advance,
      .difference = difference,
      .normalise = normalise,
      .turn_momentum = in->turn_momentum != NULL ? turn_momentum : NULL,
  };
  s->system.ops = &s->ops;
  s->system.self = s;
  s->system.dims.nq = inner->dims.nq + s->modes;
  s->system.dims.nv = s->nv_free + s->modes;
  s->system.dims.row_width = 0;
  s->system.dims.scratch = lay_out(s, NULL, NULL);
  s->system.traits &= SALTUS_CHANGING_CONTACTS | SALTUS_STILL_OBSTACLES;
  s->system.structure = NULL;
  *out = s;
  return inner->dims.nv > SALTUSI_FLEXIBLE_MOST || s->system.dims.nv > SALTUSI_FLEXIBLE_MOST
             ? SALTUS_ERR_RANGE
             : label(s);
}

const saltus_system* saltusi_flexible_system_view(const saltusi_flexible_system* system) {
  assert(system != NULL);
  return &system->system;
}

void saltusi_flexible_system_start(const saltusi_flexible_system* s, const double* q_inner,
                                   const double* v_inner, double* q, double* v) {
  assert(s != NULL && q_inner != NULL && v_inner != NULL && q != NULL && v != NULL);
  memset(q, 0, (size_t)s->modes * sizeof *q);
  memcpy(q + s->modes, q_inner, (size_t)s->inner->dims.nq * sizeof *q);
  memset(v, 0, (size_t)s->modes * sizeof *v);
  memcpy(v + s->modes, v_inner, (size_t)s->nv_free * sizeof *v);
  place_frames(s, q);
}
