/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_system.c - see flexible_system.h. Floating frame with mean axes (Shabana, Dynamics of Multibody Systems, chapter 5):
 *
 *   Y = C0 + sum q_j (C_j + C_j^T) + sum q_j q_k C_jk,   J = tr(Y) - Y - a a^T (q^T S q),   h_j = ax(C_j + sum q_k C_kj)
 *   bias_w = J' w + w x (J w + sum h_j q_j')            (sum h_j' q_j' = 0, as C_kj = C_jk^T)
 *   bias_j = -w^T J_j w / 2 + 2 w . sum ax(C_kj) q_k',    J_j = dJ/dq_j
 *
 * S is the geometric stiffness over the square of the speed about the axis a. A frame at s with displacement phi and
 * rotation psi, theta = psi q, has the velocities (Gibbs' vector theta/2, so that R is exact in theta)
 *
 *   v_P = v + A (w x y + phi q'),  y = s + phi q;      w_P = R^T w + (theta' - theta x theta'/2) / (1 + theta^2/4)
 */
#include "model/flexible_system.h"

#include "body/mechanism.h"
#include "math/matrix.h"
#include "model/flexible_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- energies and forces ---- */

static void mass(const void* self, const saltus_point* at, double* M) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  saltus_point still = *at;
  still.v = NULL;
  const saltus_point p = saltusi_flexible_inside(s, &still, &to);
  const int n = s->system.dims.nv, inner = s->inner->dims.nv;
  s->inner->ops->mass(s->inner->self, &p, to.M);
  memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
  for (int r = 0; r < s->nv_free; r++) {
    memcpy(M + (ptrdiff_t)(s->modes + r) * n + s->modes, to.M + (ptrdiff_t)r * inner,
           (size_t)s->nv_free * sizeof *M);
  }
  for (int i = 0; i < s->parts; i++) {
    const saltusi_flexible_member* b = &s->part[i];
    const int w = b->v + 3, e = b->eta, k = b->data->modes;
    const double* eta = saltusi_flexible_eta_of(s, b, at->q);
    const bool far = saltusi_flexible_beyond(b->data, eta);
    saltusi_flexible_inertia_at(b, eta, to.J);
    double dJ[SALTUSI_FLEXIBLE_J];
    saltusi_flexible_totals(b, eta, NULL, to.J, dJ, NULL);
    for (int c = 0; c < 9 && !far; c++) {
      static const int plane[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
      M[(w + c / 3) * n + w + c % 3] += dJ[plane[c]];
    }
    for (int j = 0; j < k; j++) {
      M[(e + j) * n + e + j] += 1.0;
      for (int c = 0; c < 3 && !far; c++) {
        const double h = to.J[(SALTUSI_FLEXIBLE_J + c) * k + j];
        M[(w + c) * n + e + j] += h;
        M[(e + j) * n + w + c] += h;
      }
    }
  }
}

static void rigid_mass(const void* self, const saltus_point* at, double* M) {
  const saltusi_flexible_system* s = self;
  mass(self, at, M);
  for (int i = 0; i < s->modes; i++) {
    M[(ptrdiff_t)i * (s->system.dims.nv + 1)] *= 1e10;
  }
}

/* Biases and elastic forces of a part. */
static void part_force(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                       const saltus_point* at, const saltusi_flexible_space* to, double* F) {
  const saltus_flexible* d = b->data;
  const int k = d->modes;
  const double *eta = saltusi_flexible_eta_of(s, b, at->q),
               *rate = saltusi_flexible_rate_of(s, b, at->v), *w = at->v + b->v + 3;
  double dJ[SALTUSI_FLEXIBLE_J], h[3], L[3], spin[3] = {0.0}, gyro[3];
  if (saltusi_flexible_beyond(d, eta)) {
    F[b->eta] = (double)NAN;
    return;
  }
  double *turn = to->rates + (ptrdiff_t)SALTUSI_FLEXIBLE_J * k, *Jq = to->J;
  saltusi_flexible_inertia_at(b, eta, Jq);
  memset(turn, 0, 3 * (size_t)k * sizeof *turn);
  saltusi_flexible_contract(b, SALTUSI_FLEXIBLE_J, SALTUSI_FLEXIBLE_PLANES, rate, to->rates);
  saltusi_flexible_totals(b, eta, rate, Jq, dJ, h);
  for (int j = 0; j < k; j++) {
    double Jw[3];
    saltusi_flexible_turned(Jq + j, k, w, Jw);
    saltusi_along(rate[j], Jw, spin, spin);
    const double coriolis = w[0] * turn[j] + w[1] * turn[k + j] + w[2] * turn[2 * k + j];
    F[b->eta + j] += 0.5 * saltusi_dot3(w, Jw) - 2.0 * coriolis -
                     d->omega[j] * (d->omega[j] * eta[j] + 2.0 * d->zeta[j] * rate[j]);
  }
  saltusi_flexible_turned(dJ, 1, w, L); /* the inner system has w x J0 w */
  saltusi_along(1.0, h, L, L);
  saltusi_cross(w, L, gyro);
  for (int c = 0; c < 3; c++) {
    F[b->v + 3 + c] -= spin[c] + gyro[c];
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  s->inner->ops->force(s->inner->self, &p, to.F);
  memcpy(F + s->modes, to.F, (size_t)s->nv_free * sizeof *F);
  memset(F, 0, (size_t)s->modes * sizeof *F);
  for (int i = 0; i < s->frames; i++) {
    const saltusi_carried* c = &s->carried[i];
    saltusi_frame_state f;
    saltusi_flexible_frame_at(s, c, at->q, &f);
    saltusi_flexible_frame_force(s, &f, to.F + c->v, F);
  }
  for (int i = 0; i < s->parts; i++) {
    part_force(s, &s->part[i], at, &to, F);
  }
}

static double strain(const saltusi_flexible_system* s, const saltusi_flexible_member* b,
                     const double* q) {
  const double* eta = saltusi_flexible_eta_of(s, b, q);
  double V = 0.0;
  for (int j = 0; j < b->data->modes; j++) {
    V += 0.5 * b->data->omega[j] * b->data->omega[j] * eta[j] * eta[j];
  }
  return V;
}

static double potential(const void* self, const saltus_point* at) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  double V = s->inner->ops->potential(s->inner->self, &p);
  for (int i = 0; i < s->parts; i++) {
    V += strain(s, &s->part[i], at->q);
  }
  return V;
}

static double kinetic(const void* self, const saltus_point* at) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  double T = s->inner->ops->kinetic(s->inner->self, &p);
  for (int i = 0; i < s->parts; i++) {
    const saltusi_flexible_member* b = &s->part[i];
    double dJ[SALTUSI_FLEXIBLE_J], h[3], L[3];
    const double *rate = saltusi_flexible_rate_of(s, b, at->v), *w = at->v + b->v + 3;
    const double* eta = saltusi_flexible_eta_of(s, b, at->q);
    saltusi_flexible_inertia_at(b, eta, to.J);
    saltusi_flexible_totals(b, eta, rate, to.J, dJ, h);
    saltusi_flexible_turned(dJ, 1, w, L);
    T += 0.5 * saltusi_dot3(w, L) + saltusi_dot3(w, h) +
         0.5 * saltusi_dot(b->data->modes, rate, rate);
  }
  return T;
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  s->inner->ops->power(s->inner->self, &p, out);
  for (int i = 0; i < s->parts; i++) {
    const saltusi_flexible_member* b = &s->part[i];
    const double* rate = saltusi_flexible_rate_of(s, b, at->v);
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
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
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
      saltusi_frame_state f;
      saltusi_flexible_frame_at(s, &s->carried[i], at->q, &f);
      saltusi_flexible_frame_force(s, &f, part_of, G);
      if (rows->c != NULL) {
        saltusi_flexible_frame_velocity(s, &f, at->v, velocity, a);
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
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  return s->inner->ops->contacts(s->inner->self, &p, l);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
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
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  return s->inner->ops->place(s->inner->self, &p, identity, out);
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
  return s->inner->ops->guards(s->inner->self, &p, identity, guard);
}

static void contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltusi_flexible_system* s = self;
  s->inner->ops->contact_text(s->inner->self, identity, text, size);
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const saltusi_flexible_system* s = self;
  saltusi_flexible_space to;
  const saltus_point p = saltusi_flexible_inside(s, at, &to);
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
  saltusi_flexible_place_frames(s, q1);
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
  saltusi_flexible_place_frames(s, q);
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
    const saltusi_flexible_member* b = &s->part[i];
    double dJ[SALTUSI_FLEXIBLE_J], h[3], L[3], A[9], world[3];
    saltusi_flexible_sums(b, saltusi_flexible_eta_of(s, b, at->q),
                          saltusi_flexible_rate_of(s, b, at->v), dJ, h);
    saltusi_flexible_turned(dJ, 1, at->v + b->v + 3, L);
    saltusi_along(1.0, h, L, L);
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

/* Places of the parts and of their frames in the system. */
static void place_frames_in(saltusi_flexible_system* s, const saltus_mechanism* mechanism,
                            const saltusi_flexible_part* parts) {
  for (int i = 0; i < s->parts; i++) {
    const saltusi_body* body = &mechanism->bodies[parts[i].body];
    s->part[i].q = s->modes + body->q;
    s->part[i].v = s->modes + body->v;
    for (int f = 0; f < parts[i].data->frames; f++) {
      const saltusi_body* own = &mechanism->bodies[parts[i].carried + f];
      assert(own->v >= s->nv_free);
      s->carried[s->frames++] = (saltusi_carried){i, f, s->modes + own->q, own->v};
    }
  }
}

/* Operations over those of the inner system. */
static void choose_operations(saltusi_flexible_system* s) {
  const saltus_system_ops* in = s->inner->ops;
  const bool derived = in->force_q != NULL && in->force_v != NULL;
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
      .force_q = derived ? saltusi_flexible_force_q : NULL,
      .force_v = derived ? saltusi_flexible_force_v : NULL,
      .blocks = derived ? saltusi_flexible_blocks : NULL,
      .kinetic = kinetic,
      .potential = potential,
      .power = power,
      .rate = rate,
      .advance = advance,
      .difference = difference,
      .normalise = normalise,
      .turn_momentum = in->turn_momentum != NULL ? turn_momentum : NULL,
  };
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
                                 .part = SALTUSI_TAKE(pool, saltusi_flexible_member, count),
                                 .carried = SALTUSI_TAKE(pool, saltusi_carried, frames)};
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < count; i++) {
    s->part[i] = (saltusi_flexible_member){.data = parts[i].data, .eta = s->modes};
    if (!saltusi_flexible_tables(pool, &s->part[i])) {
      return SALTUS_ERR_MEMORY;
    }
    s->modes += parts[i].data->modes;
  }
  place_frames_in(s, mechanism, parts);
  choose_operations(s);
  s->system.ops = &s->ops;
  s->system.self = s;
  s->system.dims.nq = inner->dims.nq + s->modes;
  s->system.dims.nv = s->nv_free + s->modes;
  s->system.dims.row_width = 0;
  s->system.dims.scratch = saltusi_flexible_lay_out(s, NULL, NULL);
  s->system.traits &= SALTUS_CHANGING_CONTACTS | SALTUS_STILL_OBSTACLES;
  s->start[1] = s->system.dims.nv;
  s->structure = (saltus_structure){.blocks = 1, .start = s->start};
  s->system.structure = s->ops.blocks != NULL ? &s->structure : NULL;
  *out = s;
  if (inner->dims.nv > SALTUSI_FLEXIBLE_MOST || s->system.dims.nv > SALTUSI_FLEXIBLE_MOST) {
    return SALTUS_ERR_RANGE;
  }
  const saltus_status status = label(s);
  s->rigid = s->system;
  s->rigid_ops = s->ops;
  s->rigid_ops.mass = rigid_mass;
  s->rigid_ops.blocks = NULL;
  s->rigid.ops = &s->rigid_ops;
  s->rigid.structure = NULL;
  return status;
}

const saltus_system* saltusi_flexible_system_view(const saltusi_flexible_system* system) {
  assert(system != NULL);
  return &system->system;
}

const saltus_system* saltusi_flexible_system_rigid(const saltusi_flexible_system* system) {
  assert(system != NULL);
  return &system->rigid;
}

void saltusi_flexible_system_start(const saltusi_flexible_system* s, const double* q_inner,
                                   const double* v_inner, double* q, double* v) {
  assert(s != NULL && q_inner != NULL && v_inner != NULL && q != NULL && v != NULL);
  memset(q, 0, (size_t)s->modes * sizeof *q);
  memcpy(q + s->modes, q_inner, (size_t)s->inner->dims.nq * sizeof *q);
  memset(v, 0, (size_t)s->modes * sizeof *v);
  memcpy(v + s->modes, v_inner, (size_t)s->nv_free * sizeof *v);
  saltusi_flexible_place_frames(s, q);
}
