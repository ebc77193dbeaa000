/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * forces.c - masses, gravity, gyroscopic torques, and forces along rows: springs, dampers, actuators.
 *
 *   M = diag(m, m, m, I)                       I constant in body axes
 *   F = (m g; -w x I w)                        F_v = [I w]x - [w]x I
 *   f = -k (phi - rest) - d phi' + u(t)        F += f G,   phi' = G^T v + b
 *   F_q = -k G G^T - d G (H v)^T + f H         H_j = derivative of G along the j-th velocity
 *   F_v = -d G G^T
 *
 * V contains gravity and springs. For ends with prescribed motion, phi_t = b:
 *   power[0] = (u - d phi') phi',   power[1] = k (phi - rest) b + (d phi' - u) b
 */
#include "body/forces.h"

#include "body/loads.h"
#include "body/terms.h"

#include <assert.h>
#include <string.h>

static int block_size(const saltus_mechanism* m) {
  return m->plane ? 3 : 6;
}

/* ---- bodies ---- */

/* A = m M + fv F_v of a body alone; n x n with rows `stride` apart, added. */
static void add_body(const saltus_mechanism* m, const saltusi_body* body, const double* v,
                     const double factor[2], double* A, size_t stride) {
  const double mass = factor[0] * body->mass;
  if (m->plane) {
    A[0] += mass;
    A[stride + 1] += mass;
    A[2 * stride + 2] += factor[0] * body->I[8];
    return;
  }
  for (size_t k = 0; k < 3; k++) {
    A[k * stride + k] += mass;
    for (size_t j = 0; j < 3; j++) {
      A[(3 + k) * stride + 3 + j] += factor[0] * body->I[3 * k + j];
    }
  }
  if (factor[1] == 0.0 || body->round) {
    return;
  }
  const double* w = v + body->v + 3;
  double spin[3];
  saltusi_turn(body->I, w, spin);
  for (size_t j = 0; j < 3; j++) {
    const double column[3] = {body->I[j], body->I[3 + j], body->I[6 + j]};
    const double along[3] = {j == 0, j == 1, j == 2};
    double first[3], second[3];
    saltusi_cross(spin, along, first);
    saltusi_cross(w, column, second);
    for (size_t k = 0; k < 3; k++) {
      A[(3 + k) * stride + 3 + j] += factor[1] * (first[k] - second[k]);
    }
  }
}

/* ---- forces along rows ---- */

/* One force at a state. */
typedef struct pull {
  saltusi_end end[2];
  saltusi_end_motion motion[2];
  double G[12];
  double value, rate, b; /* phi, phi', and its part from prescribed motions */
  double actuator;
  double force;
} pull;

static void pull_at(const saltus_mechanism* m, const saltusi_force_along* f, const saltus_point* at,
                    bool moves, pull* p) {
  double out[3] = {0.0, 0.0, 0.0};
  memset(p->G, 0, sizeof p->G);
  p->value = -f->row->offset;
  p->rate = p->b = 0.0;
  for (int k = 0; k < 2; k++) {
    saltusi_end_at(m, f->link->marker[0][k], at->t, at->q, &p->end[k]);
  }
  for (int i = 0; i < f->row->terms; i++) {
    const saltusi_term* term = &f->row->term[i];
    double G[12];
    p->value += term->weight * saltusi_term_value(term, p->end, at->q);
    saltusi_term_gradient(term, p->end, G);
    for (int k = 0; k < 12; k++) {
      p->G[k] += term->weight * G[k];
    }
  }
  for (int k = 0; moves && k < 2; k++) {
    const int body = p->end[k].marker->body;
    saltusi_body_motion* motion = &p->motion[k].body;
    saltusi_motion_at(m, body, at->t, at->v, motion);
    const double part =
        saltusi_dot3(p->G + 6 * k, motion->v) + saltusi_dot3(p->G + 6 * k + 3, motion->w);
    p->rate += part;
    p->b += m->bodies[body].kind == SALTUS_BODY_DRIVEN ? part : 0.0;
  }
  if (f->actuated) {
    saltusi_signal_at(m, &f->actuator, at->t, out);
  }
  p->actuator = out[0];
  p->force = p->actuator - f->stiffness * (p->value - f->rest) - f->damping * p->rate;
}

/* Indices of the twelve entries of G in a vector of velocities, -1: not free. In the plane the third, fourth and fifth
 * of each six have none. */
static void places(const saltus_mechanism* m, const pull* p, int place[12]) {
  for (int k = 0; k < 2; k++) {
    const int v = m->bodies[p->end[k].marker->body].v;
    for (int i = 0; i < 6; i++) {
      place[6 * k + i] = v < 0 ? -1 : v + i;
    }
    if (m->plane) {
      place[6 * k + 2] = place[6 * k + 3] = place[6 * k + 4] = -1;
      place[6 * k + 5] = v < 0 ? -1 : v + 2;
    }
  }
}

/* H: derivative of G along the velocity of entry j; and of phi', at constant v. */
static double bend(const saltus_mechanism* m, const saltusi_force_along* f, const pull* p, int j,
                   double H[12]) {
  (void)m;
  saltusi_end_motion along[2];
  memset(along, 0, sizeof along);
  saltusi_body_motion* body = &along[j / 6].body;
  *(j % 6 < 3 ? &body->v[j % 6] : &body->w[j % 6 - 3]) = 1.0;
  saltusi_end_move(&p->end[j / 6], &along[j / 6]);
  memset(H, 0, 12 * sizeof(double));
  for (int i = 0; i < f->row->terms; i++) {
    double dG[12];
    saltusi_term_gradient_rate(&f->row->term[i], p->end, along, dG);
    for (int k = 0; k < 12; k++) {
      H[k] += f->row->term[i].weight * dG[k];
    }
  }
  double rate = 0.0;
  for (int k = 0; k < 2; k++) {
    const saltusi_body_motion* motion = &p->motion[k].body;
    rate += saltusi_dot3(H + 6 * k, motion->v) + saltusi_dot3(H + 6 * k + 3, motion->w);
  }
  return rate;
}

/* fv F_v + fq F_q of one force: J [12 x 12]. `stiff` leaves the curvature out. */
static void slope(const saltus_mechanism* m, const saltusi_force_along* f, const pull* p,
                  const double factor[2], bool stiff, double J[144]) {
  const bool straight = stiff || f->row->term[0].kind == SALTUSI_TERM_PLANE || factor[1] == 0.0;
  for (int j = 0; j < 12; j++) {
    double H[12] = {0.0};
    const double rate = straight ? 0.0 : bend(m, f, p, j, H);
    const double by = -(factor[0] * f->damping + factor[1] * f->stiffness) * p->G[j] -
                      factor[1] * f->damping * rate;
    for (int i = 0; i < 12; i++) {
      J[12 * i + j] = by * p->G[i] + factor[1] * p->force * H[i];
    }
  }
}

/* ---- callbacks ---- */

void saltusi_mechanism_mass(const void* self, const saltus_point* at, double* M) {
  const saltus_mechanism* m = self;
  const size_t n = (size_t)m->system.dims.nv;
  const double factor[2] = {1.0, 0.0};
  assert(m != NULL && M != NULL);
  (void)at;
  memset(M, 0, n * n * sizeof(double));
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    add_body(m, body, NULL, factor, M + (size_t)body->v * (n + 1), n);
  }
}

static void add_forces_along(const saltus_mechanism* m, const saltus_point* at, double* F) {
  for (int i = 0; i < m->force_count; i++) {
    pull p;
    int place[12];
    if (m->forces[i].taken) {
      continue;
    }
    pull_at(m, &m->forces[i], at, true, &p);
    places(m, &p, place);
    for (int k = 0; k < 12; k++) {
      if (place[k] >= 0) {
        F[place[k]] += p.force * p.G[k];
      }
    }
  }
}

void saltusi_mechanism_force(const void* self, const saltus_point* at, double* F) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && F != NULL);
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    double* f = F + body->v;
    f[0] = body->mass * m->gravity[0];
    f[1] = body->mass * m->gravity[1];
    if (m->plane) {
      f[2] = 0.0;
      continue;
    }
    f[2] = body->mass * m->gravity[2];
    f[3] = f[4] = f[5] = 0.0;
    if (!body->round) {
      const double* w = at->v + body->v + 3;
      double spin[3];
      saltusi_turn(body->I, w, spin);
      saltusi_cross(spin, w, f + 3);
    }
  }
  add_forces_along(m, at, F);
  saltusi_loads_add(m, at, F);
}

enum { SPRINGS_ALONE = 1, WITHOUT_CURVATURE = 2 };

/* fv F_v + fq F_q as a dense matrix, or only the part of springs. */
static void slopes(const saltus_mechanism* m, const saltus_point* at, const double factor[2],
                   unsigned which, double* J) {
  const size_t n = (size_t)m->system.dims.nv;
  const double own[2] = {0.0, factor[0]};
  memset(J, 0, n * n * sizeof(double));
  for (int i = 0; (which & SPRINGS_ALONE) == 0 && i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    add_body(m, body, at->v, own, J + (size_t)body->v * (n + 1), n);
  }
  for (int i = 0; i < m->force_count; i++) {
    pull p;
    int place[12];
    double part[144];
    if (m->forces[i].taken) {
      continue;
    }
    pull_at(m, &m->forces[i], at, true, &p);
    places(m, &p, place);
    slope(m, &m->forces[i], &p, factor, (which & WITHOUT_CURVATURE) != 0, part);
    for (int k = 0; k < 144; k++) {
      if (place[k / 12] >= 0 && place[k % 12] >= 0) {
        J[(size_t)place[k / 12] * n + (size_t)place[k % 12]] += part[k];
      }
    }
  }
  for (int i = 0; (which & SPRINGS_ALONE) == 0 && factor[1] != 0.0 && i < m->load_count; i++) {
    const int v = m->bodies[m->markers[m->loads[i].marker].body].v;
    saltusi_load_slope(m, i, at, factor[1], J + (size_t)v * (n + 1), n);
  }
}

void saltusi_mechanism_force_q(const void* self, const saltus_point* at, double* F_q) {
  assert(self != NULL && at != NULL && F_q != NULL);
  slopes(self, at, (double[2]){0.0, 1.0}, 0, F_q);
}

void saltusi_mechanism_force_v(const void* self, const saltus_point* at, double* F_v) {
  assert(self != NULL && at != NULL && F_v != NULL);
  slopes(self, at, (double[2]){1.0, 0.0}, 0, F_v);
}

void saltusi_mechanism_spring_q(const void* self, const saltus_point* at, double* K) {
  assert(self != NULL && at != NULL && K != NULL);
  slopes(self, at, (double[2]){0.0, 1.0}, SPRINGS_ALONE | WITHOUT_CURVATURE, K);
}

void saltusi_mechanism_spring_v(const void* self, const saltus_point* at, double* D) {
  assert(self != NULL && at != NULL && D != NULL);
  slopes(self, at, (double[2]){1.0, 0.0}, SPRINGS_ALONE | WITHOUT_CURVATURE, D);
}

/* Adds the part of J in the rows of end i and the columns of end j to a block. */
static void add_block(const saltus_mechanism* m, const double J[144], int i, int j, double* block) {
  static const int plane[3] = {0, 1, 5};
  const int n = block_size(m);
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      const int row = 6 * i + (m->plane ? plane[r] : r), column = 6 * j + (m->plane ? plane[c] : c);
      block[n * r + c] += J[12 * row + column];
    }
  }
}

void saltusi_mechanism_blocks(const void* self, const saltus_point* at, double mass, double fv,
                              double fq, double* values) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && values != NULL);
  const int n = block_size(m);
  const size_t size = (size_t)n * (size_t)n;
  const double own[2] = {mass, fv}, factor[2] = {fv, fq};
  memset(values, 0,
         ((size_t)m->free_count + 2 * (size_t)m->structure.pairs) * size * sizeof(double));
  for (int i = 0; i < m->free_count; i++) {
    add_body(m, &m->bodies[m->free_bodies[i]], at->v, own, values + (size_t)i * size, (size_t)n);
  }
  double* pairs = values + (size_t)m->free_count * size;
  for (int i = 0; (fv != 0.0 || fq != 0.0) && i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    pull p;
    double J[144];
    if (f->taken) {
      continue;
    }
    pull_at(m, f, at, true, &p);
    slope(m, f, &p, factor, false, J);
    for (int k = 0; k < 2; k++) {
      if (f->block[k] >= 0) {
        add_block(m, J, k, k, values + (size_t)f->block[k] * size);
      }
    }
    if (f->pair >= 0) {
      const int low = f->block[0] < f->block[1] ? 0 : 1;
      double* pair = pairs + 2 * (size_t)f->pair * size;
      add_block(m, J, low, 1 - low, pair);
      add_block(m, J, 1 - low, low, pair + size);
    }
  }
  for (int i = 0; fq != 0.0 && i < m->load_count; i++) {
    const int v = m->bodies[m->markers[m->loads[i].marker].body].v;
    saltusi_load_slope(m, i, at, fq, values + (size_t)(v / n) * size, (size_t)n);
  }
}

double saltusi_mechanism_kinetic(const void* self, const saltus_point* at) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL);
  double T = 0.0;
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    const double* v = at->v + body->v;
    if (m->plane) {
      T += 0.5 * (body->mass * (v[0] * v[0] + v[1] * v[1]) + body->I[8] * v[2] * v[2]);
    } else {
      double spin[3];
      saltusi_turn(body->I, v + 3, spin);
      T += 0.5 * (body->mass * saltusi_dot3(v, v) + saltusi_dot3(v + 3, spin));
    }
  }
  return T;
}

double saltusi_mechanism_potential_of(const saltus_mechanism* m, const saltus_point* at, bool all) {
  assert(m != NULL && at != NULL);
  double V = 0.0;
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    for (int k = 0; k < (m->plane ? 2 : 3); k++) {
      V -= body->mass * m->gravity[k] * at->q[body->q + k];
    }
  }
  for (int i = 0; i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    if (f->stiffness != 0.0 && (all || !f->taken)) {
      pull p;
      pull_at(m, f, at, false, &p);
      V += 0.5 * f->stiffness * (p.value - f->rest) * (p.value - f->rest);
    }
  }
  return V;
}

double saltusi_mechanism_potential(const void* self, const saltus_point* at) {
  assert(self != NULL && at != NULL);
  return saltusi_mechanism_potential_of(self, at, false);
}

void saltusi_mechanism_power(const void* self, const saltus_point* at, double power[2]) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && power != NULL);
  power[0] = saltusi_loads_power(m, at);
  power[1] = 0.0;
  for (int i = 0; i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    pull p;
    if (f->taken) {
      continue;
    }
    pull_at(m, f, at, true, &p);
    const double loose = p.actuator - f->damping * p.rate; /* force without a potential */
    power[0] += loose * p.rate;
    power[1] += (f->stiffness * (p.value - f->rest) - loose) * p.b;
  }
}
