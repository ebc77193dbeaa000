/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "model/flexible_parts.h"

#include "base/lanes.h"
#include "math/matrix.h"

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

/* Component of plane c of C: with B = C + C^T of J = tr(B) - B, of h the axial vector of C. */
static double component(const double C[9], int c) {
  static const int row[3] = {0, 0, 1}, column[3] = {1, 2, 2};
  if (c >= SALTUSI_FLEXIBLE_J) {
    const int k = c - SALTUSI_FLEXIBLE_J, l = (k + 1) % 3, m = (k + 2) % 3;
    return C[3 * l + m] - C[3 * m + l];
  }
  return c < 3 ? 2.0 * (C[0] + C[4] + C[8] - C[4 * c])
               : -(C[3 * row[c - 3] + column[c - 3]] + C[3 * column[c - 3] + row[c - 3]]);
}

bool saltusi_flexible_tables(saltusi_pool* pool, saltusi_flexible_member* p) {
  assert(pool != NULL && p != NULL && p->data != NULL);
  const saltus_flexible* d = p->data;
  const size_t k = (size_t)d->modes, square = k * k;
  double* first = SALTUSI_TAKE(pool, double, SALTUSI_FLEXIBLE_PLANES* k + 1);
  double* second = SALTUSI_TAKE(pool, double, SALTUSI_FLEXIBLE_PLANES* square + 1);
  if (first == NULL || second == NULL) {
    return false;
  }
  for (int c = 0; c < SALTUSI_FLEXIBLE_PLANES; c++) {
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (size_t j = 0; j < k; j++) {
      first[(size_t)c * k + j] = component(d->C1 + 9 * j, c);
    }
    for (size_t i = 0; i < square; i++) {
      double* to = &second[(size_t)c * square + i];
      *to = component(d->C2 + 9 * i, c);
      if (d->stiffen != NULL && c < SALTUSI_FLEXIBLE_J) { /* - a a^T (q^T S q) */
        *to -= 2.0 * d->stiffen[i] * d->axis[at[c][0]] * d->axis[at[c][1]];
      }
    }
  }
  p->first = first;
  p->second = second;
  return true;
}

SALTUSI_FOR_MACHINES static void add_rows(int m, int n, ptrdiff_t stride, const double* restrict x,
                                          const double* restrict A, double* restrict y) {
  int i = 0;
  for (; i + 3 < m; i += 4) { /* four rows for each access to y */
    const double *a = A + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    for (int j = 0; j < n; j++) {
      y[j] += (x[i] * a[j] + x[i + 1] * b[j]) + (x[i + 2] * c[j] + x[i + 3] * d[j]);
    }
  }
  for (; i < m; i++) {
    for (int j = 0; j < n; j++) {
      y[j] += x[i] * A[i * stride + j];
    }
  }
}

void saltusi_flexible_add_rows(int m, int n, ptrdiff_t stride, const double* x, const double* A,
                               double* y) {
  assert(m >= 0 && n >= 0);
  add_rows(m, n, stride, x, A, y);
}

void saltusi_flexible_contract(const saltusi_flexible_member* p, int from, int to, const double* x,
                               double* out) {
  assert(p != NULL && x != NULL && out != NULL);
  const int k = p->data->modes;
  for (int c = from; c < to; c++) {
    saltusi_flexible_add_rows(k, k, k, x, p->second + (ptrdiff_t)c * k * k, out + (ptrdiff_t)c * k);
  }
}

void saltusi_flexible_inertia_at(const saltusi_flexible_member* p, const double* eta, double* out) {
  assert(p != NULL && eta != NULL && out != NULL);
  memcpy(out, p->first, SALTUSI_FLEXIBLE_PLANES * (size_t)p->data->modes * sizeof *out);
  saltusi_flexible_contract(p, 0, SALTUSI_FLEXIBLE_PLANES, eta, out);
}

void saltusi_flexible_sums(const saltusi_flexible_member* p, const double* eta, const double* rate,
                           double dJ[SALTUSI_FLEXIBLE_J], double h[3]) {
  assert(p != NULL && eta != NULL && rate != NULL && dJ != NULL && h != NULL);
  const int k = p->data->modes;
  for (int c = 0; c < SALTUSI_FLEXIBLE_PLANES; c++) {
    const bool inertia = c < SALTUSI_FLEXIBLE_J;
    const double *x = inertia ? eta : rate, *plane = p->second + (ptrdiff_t)c * k * k;
    double sum = saltusi_dot(k, p->first + (ptrdiff_t)c * k, x);
    for (int i = 0; i < k; i++) {
      sum += (inertia ? 0.5 : 1.0) * eta[i] * saltusi_dot(k, plane + (ptrdiff_t)i * k, x);
    }
    *(inertia ? &dJ[c] : &h[c - SALTUSI_FLEXIBLE_J]) = sum;
  }
}

void saltusi_flexible_totals(const saltusi_flexible_member* p, const double* eta,
                             const double* rate, const double* J, double dJ[SALTUSI_FLEXIBLE_J],
                             double* h) {
  assert(p != NULL && eta != NULL && J != NULL && dJ != NULL);
  const int k = p->data->modes;
  for (int c = 0; c < SALTUSI_FLEXIBLE_PLANES; c++) {
    const double* plane = J + (ptrdiff_t)c * k;
    if (c < SALTUSI_FLEXIBLE_J) {
      dJ[c] = 0.5 * (saltusi_dot(k, plane, eta) + saltusi_dot(k, p->first + (ptrdiff_t)c * k, eta));
    } else if (h != NULL) {
      h[c - SALTUSI_FLEXIBLE_J] = saltusi_dot(k, plane, rate);
    }
  }
}

void saltusi_flexible_turned(const double* J, int stride, const double w[3], double out[3]) {
  assert(J != NULL && out != w);
  const double xy = J[3 * stride], xz = J[4 * stride], yz = J[5 * stride];
  out[0] = J[0] * w[0] + xy * w[1] + xz * w[2];
  out[1] = xy * w[0] + J[stride] * w[1] + yz * w[2];
  out[2] = xz * w[0] + yz * w[1] + J[2 * stride] * w[2];
}

/* Modal coordinates far beyond the size of the body, as stages of a trial step that is too long have them: forces are then not
 * numbers, which rejects the step, and the mass is that of the undeformed body. */
bool saltusi_flexible_beyond(const saltus_flexible* d, const double* eta) {
  assert(d->mass > 0.0 && d->modes >= 0);
  double square = 0.0;
  for (int j = 0; j < d->modes; j++) {
    square += eta[j] * eta[j];
  }
  const double trace = d->C0[0] + d->C0[4] + d->C0[8];
  double shortening = 0.0, C0a[3], most = INFINITY;
  if (d->stiffen != NULL) { /* its part of J is below half of the inertia about the axis */
    saltusi_turn(d->C0, d->axis, C0a);
    most = 0.5 * (trace - saltusi_dot3(d->axis, C0a));
    for (int j = 0; j < d->modes; j++) {
      shortening += eta[j] * saltusi_dot(d->modes, d->stiffen + (ptrdiff_t)j * d->modes, eta);
    }
  }
  return !(square < 100.0 * trace && fabs(shortening) < most);
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
  const size_t nv = (size_t)s->nv_free + (size_t)s->modes, wide = nv > n ? nv : n,
               doubles = 2 * n + rows + 2 * SALTUSI_FLEXIBLE_PLANES * k + n * wide + nv;
  if (to != NULL) {
    double* at = (double*)(void*)((char*)scratch + head);
    *to = (saltusi_flexible_space){.v = at, .F = at + n, .M = at + 2 * n};
    to->J = to->M + rows;
    to->rates = to->J + SALTUSI_FLEXIBLE_PLANES * k;
    to->X = to->rates + SALTUSI_FLEXIBLE_PLANES * k;
    to->x = to->X + n * wide;
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
