/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "model/flexible_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- frames ---- */

const double* saltusi_flexible_eta_of(const saltusi_flexible_system* s,
                                      const saltusi_flexible_member* p, const double* q) {
  assert(p != NULL && q != NULL);
  (void)s;
  return q + p->eta;
}

const double* saltusi_flexible_rate_of(const saltusi_flexible_system* s,
                                       const saltusi_flexible_member* p, const double* v) {
  assert(p != NULL && v != NULL);
  (void)s;
  return v + p->eta;
}

/* out = rows [3 x modes] x */
void saltusi_flexible_rows_times(int modes, const double* rows, const double* x, double out[3]) {
  assert(modes >= 0);
  for (int c = 0; c < 3; c++) {
    double sum = 0.0;
    for (int k = 0; k < modes; k++) {
      sum += rows[c * modes + k] * x[k];
    }
    out[c] = sum;
  }
}

void saltusi_flexible_frame_at(const saltusi_flexible_system* s, const saltusi_carried* c,
                               const double* q, saltusi_frame_state* f) {
  assert(s != NULL && c != NULL && q != NULL && f != NULL);
  const saltusi_flexible_member* p = &s->part[c->part];
  const int k = p->data->modes;
  const double* eta = saltusi_flexible_eta_of(s, p, q);
  f->part = p;
  f->frame = &p->data->frame[c->frame];
  f->phi = p->data->phi + (ptrdiff_t)3 * c->frame * k;
  f->psi = p->data->psi + (ptrdiff_t)3 * c->frame * k;
  saltusi_quaternion_matrix(q + p->q + 3, f->A);
  saltusi_flexible_rows_times(k, f->phi, eta, f->y);
  saltusi_along(1.0, f->frame->s, f->y, f->y);
  memset(f->theta, 0, sizeof f->theta);
  if (f->frame->turns) {
    saltusi_flexible_rows_times(k, f->psi, eta, f->theta);
  }
  const double gibbs[4] = {1.0, 0.5 * f->theta[0], 0.5 * f->theta[1], 0.5 * f->theta[2]};
  saltusi_quaternion_matrix(gibbs, f->R);
  f->over = 1.0 / (1.0 + 0.25 * saltusi_dot3(f->theta, f->theta));
}

/* Velocities of the frame, and with `a` the convective part of its accelerations, both [6]. */
void saltusi_flexible_frame_velocity(const saltusi_flexible_system* s, const saltusi_frame_state* f,
                                     const double* v, double out[6], double* a) {
  assert(s != NULL && f != NULL && v != NULL && out != NULL);
  const saltusi_flexible_member* p = f->part;
  const int k = p->data->modes;
  const double *w = v + p->v + 3, *rate = saltusi_flexible_rate_of(s, p, v);
  double local[3], u[3], world[3], rotated[3], relative[3] = {0.0}, turn[3] = {0.0};
  saltusi_flexible_rows_times(k, f->phi, rate, u);
  saltusi_cross(w, f->y, local);
  double sum[3];
  saltusi_along(1.0, u, local, sum);
  saltusi_turn(f->A, sum, world);
  saltusi_along(1.0, v + p->v, world, out);
  saltusi_turn_back(f->R, w, rotated);
  if (f->frame->turns) {
    double cross[3];
    saltusi_flexible_rows_times(k, f->psi, rate, turn);
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
void saltusi_flexible_frame_force(const saltusi_flexible_system* s, const saltusi_frame_state* f,
                                  const double g[6], double* x) {
  assert(s != NULL && f != NULL && g != NULL && x != NULL);
  const saltusi_flexible_member* p = f->part;
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
void saltusi_flexible_place_frames(const saltusi_flexible_system* s, double* q) {
  assert(s != NULL && q != NULL);
  for (int i = 0; i < s->frames; i++) {
    const saltusi_carried* c = &s->carried[i];
    saltusi_frame_state f;
    double world[3];
    saltusi_flexible_frame_at(s, c, q, &f);
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
    saltusi_frame_state f;
    saltusi_flexible_frame_at(s, &s->carried[i], q, &f);
    saltusi_flexible_frame_velocity(s, &f, v, v_inner + s->carried[i].v, NULL);
  }
}

/* ---- inertia ---- */

void saltusi_flexible_axial(const double D[9], double out[3]) {
  assert(D != NULL && out != D);
  out[0] = D[5] - D[7];
  out[1] = D[6] - D[2];
  out[2] = D[1] - D[3];
}

/* E [modes x 9] = dY/dq_j, h [modes x 3], S q [modes]; J - J0 into dJ. */
void saltusi_flexible_inertia_at(const saltus_flexible* d, const double* eta, double* E, double* h,
                                 double* Sq, double dJ[9]) {
  assert(d != NULL && eta != NULL && E != NULL && h != NULL && Sq != NULL && dJ != NULL);
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
    saltusi_flexible_axial(D, h + 3 * j);
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
bool saltusi_flexible_beyond(const saltus_flexible* d, const double* eta) {
  assert(d->mass > 0.0 && d->modes >= 0);
  double square = 0.0;
  for (int j = 0; j < d->modes; j++) {
    square += eta[j] * eta[j];
  }
  return !(square < 100.0 * (d->C0[0] + d->C0[4] + d->C0[8]));
}

/* ---- scratch: that of the inner system, then velocities, forces and matrices ---- */

static int most_modes(const saltusi_flexible_system* s) {
  int most = 0;
  for (int i = 0; i < s->parts; i++) {
    most = s->part[i].data->modes > most ? s->part[i].data->modes : most;
  }
  return most;
}

size_t saltusi_flexible_lay_out(const saltusi_flexible_system* s, void* scratch,
                                saltusi_flexible_space* to) {
  assert(s->nv_free + 6 * s->frames == s->inner->dims.nv);
  const size_t n = (size_t)s->inner->dims.nv, k = (size_t)most_modes(s);
  const size_t align = sizeof(double) * 2,
               head = (s->inner->dims.scratch + align - 1) / align * align;
  const size_t rows = (size_t)(SALTUS_GUARDS)*n > n * n ? (size_t)(SALTUS_GUARDS)*n : n * n;
  const size_t nv = (size_t)s->nv_free + (size_t)s->modes,
               doubles = 2 * n + rows + 13 * k + (n + 1) * nv;
  if (to != NULL) {
    double* at = (double*)(void*)((char*)scratch + head);
    *to = (saltusi_flexible_space){.v = at, .F = at + n, .M = at + 2 * n};
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
saltus_point saltusi_flexible_inside(const saltusi_flexible_system* s, const saltus_point* at,
                                     saltusi_flexible_space* to) {
  assert(s->system.dims.nv == s->nv_free + s->modes);
  saltus_point p = *at;
  saltusi_flexible_lay_out(s, at->scratch, to);
  p.q = at->q + s->modes;
  if (at->v != NULL) {
    saltusi_flexible_expand(s, at->q, at->v, to->v);
    p.v = to->v;
  }
  return p;
}
