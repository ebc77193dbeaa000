/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_gauss_seidel.c - Gauss-Seidel with exact one-contact solutions (gauss_seidel.c) in body space: a visit reads and
 * writes the velocities of the two bodies of a contact:
 *
 *   u_i = q_i + G_i^T v,   r_i <- solution with b = u_i - W_ii r_i,   v <- v + A^-1 G_i (change of r_i)
 *
 * and momentum by contact (accelerated_gauss_seidel.c). W is not read. Contacts of rigid bodies are packed
 * (rigid_kernel.h).
 */
#include "solve/body_space/body_gauss_seidel.h"

#include "math/matrix.h"
#include "solve/body_space/body_groups.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Iterations between evaluations of the residual. An evaluation costs as much as one iteration, in single precision as
 * three. The residual is evaluated earlier if the change of an iteration, as a velocity, is below a fraction of the
 * tolerance; over 3000 iterations of 1000 compliant boxes it was 0.35 to 1 times that change. */
enum { LOOK = 10, SELDOM = 40 };
static const double look_part = 0.7, seldom_part = 1.3;
/* Residual at the last iteration, in tolerances, at which it is worth continuing. */
static const double near_enough = 2.0;
/* Iterations without a lower residual after which all momentum is dropped. */
enum { PATIENCE = 60 };

/* The new impulses of contact i; returns |W_ii (change)|^2. */
static double visit(const saltusi_friction_case* in, int i, double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  const saltusi_bodies* bodies = in->bodies;
  const double* own = in->values + pattern->place[pattern->diagonal[i]];
  double* ri = r + 3 * (size_t)i;
  const double* q = in->q + 3 * (size_t)i;
  double b[3] = {q[0], q[1], q[2]};
  double fresh[3];
  saltusi_bodies_add(bodies, i, bodies->v, b);
  saltusi_bodies_add_compliance(bodies, i, ri, b);
  for (int k = 0; k < 3; k++) {
    b[k] -= own[3 * k] * ri[0] + own[3 * k + 1] * ri[1] + own[3 * k + 2] * ri[2];
  }
  saltusi_one_contact_spatial(in->local + pattern->local_at[i], in->mu[i], b, fresh, in->slip + i);
  const double change[3] = {fresh[0] - ri[0], fresh[1] - ri[1], fresh[2] - ri[2]};
  double change2 = 0.0;
  if (change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0) {
    for (int k = 0; k < 3; k++) {
      const double moved = saltusi_dot(3, own + 3 * (size_t)k, change);
      change2 += moved * moved;
    }
    memcpy(ri, fresh, sizeof fresh);
    saltusi_bodies_push(bodies, i, change, bodies->v);
  }
  return change2;
}

/* ---- contacts one by one ---- */

static double iterate(const saltusi_friction_case* in) {
  double change2 = 0.0;
  for (int i = 0; i < in->pattern->units; i++) {
    change2 += visit(in, i, in->bodies->points.r);
  }
  return change2;
}

static void extrapolate(const saltusi_friction_case* in) {
  for (int i = 0; i < in->pattern->units; i++) {
    double change[3];
    if (saltusi_momentum(&in->bodies->points, i, change)) {
      saltusi_bodies_push(in->bodies, i, change, in->bodies->v);
    }
  }
}

static bool accept_all(const saltusi_friction_case* in) {
  (void)in;
  return true;
}

static void forget(const saltusi_friction_case* in) {
  memset(in->bodies->points.age, 0, (size_t)in->pattern->units * sizeof(double));
}

static void start(const saltusi_friction_case* in, const double* r) {
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  memcpy(in->bodies->points.x, r, bytes);
  memcpy(in->bodies->points.before, r, bytes);
  forget(in);
}

/* Impulses are those of points.r. */
static void fetch(const saltusi_friction_case* in, double* r) {
  (void)in;
  (void)r;
}

static const saltusi_body_kernel single_contacts = {.cost = 450.0,
                                                    .pack = accept_all,
                                                    .start = start,
                                                    .iterate = iterate,
                                                    .extrapolate = extrapolate,
                                                    .forget = forget,
                                                    .fetch = fetch};

/* Kernels in the order in which they are tried. cost: of a visit with its momentum and one-contact solution, in
 * multiply-adds of a factorisation, which take 0.15 to 0.2 ns. A visit of balls counts as 110: with that six runs of
 * 125 rigid spheres, whose problems are hard for any number of iterations, took 1.4 times the iterations and 9 % more
 * time. */
static const saltusi_body_kernel* const kernels[] = {&saltusi_body_kernel_float,
                                                     &saltusi_body_kernel_rigid, &single_contacts};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* ---- residual ---- */

/* u += G_i^T v, by columns. */
SALTUSI_ALWAYS_INLINE void add_velocity(const saltusi_bodies* b, int i, double* u) {
  for (int s = 0; s < 2; s++) {
    const int body = b->body[2 * i + s];
    if (body < 0) {
      continue;
    }
    const double* v = b->v + (size_t)body * SALTUSI_BODY_WIDTH;
    const saltusi_lanes front = *(const saltusi_lanes*)v;
    const saltusi_halves back = *(const saltusi_halves*)(v + SALTUSI_LANES);
    for (int k = 0; k < 3; k++) {
      const double* g = b->G + (size_t)i * SALTUSI_CONTACT_ROWS +
                        (size_t)(s * SALTUSI_BODY_ROWS + k * SALTUSI_BODY_WIDTH);
      const saltusi_lanes four = *(const saltusi_lanes*)g * front;
      const saltusi_halves two = *(const saltusi_halves*)(g + SALTUSI_LANES) * back;
      const saltusi_halves sum = {four[0] + four[2] + two[0], four[1] + four[3] + two[1]};
      u[k] += sum[0] + sum[1];
    }
  }
}

/* `yes` where the mask is set, elsewhere `no`. */
SALTUSI_ALWAYS_INLINE void choose(const saltusi_masks* mask, const saltusi_lanes* yes,
                                  const saltusi_lanes* no, saltusi_lanes* to) {
  *to = (saltusi_lanes)((*mask & (saltusi_masks)*yes) | (~*mask & (saltusi_masks)*no));
}

SALTUSI_ALWAYS_INLINE void root(const saltusi_lanes* x, saltusi_lanes* to) {
  *to = (saltusi_lanes){sqrt((*x)[0]), sqrt((*x)[1]), sqrt((*x)[2]), sqrt((*x)[3])};
}

/* Four contacts. */
typedef struct map_data {
  saltusi_lanes r[3], mu, rho;
} map_data;

/* saltusi_body_map2 by lanes. */
SALTUSI_ALWAYS_INLINE void lanes_map2(const map_data* c, const saltusi_lanes* u,
                                      saltusi_lanes* miss2) {
  const saltusi_lanes *r = c->r, zero = {0.0}, one = zero + 1.0;
  const saltusi_lanes mu = c->mu, rho = c->rho;
  saltusi_lanes slip = u[1] * u[1] + u[2] * u[2], t, shrink;
  root(&slip, &slip);
  const saltusi_lanes x0 = r[0] - rho * u[0] - rho * mu * slip;
  const saltusi_lanes x1 = r[1] - rho * u[1], x2 = r[2] - rho * u[2];
  t = x1 * x1 + x2 * x2;
  root(&t, &t);
  const saltusi_masks inside = (saltusi_masks)(x0 >= zero) & (saltusi_masks)(t <= mu * x0);
  const saltusi_lanes along = mu * t + x0, onto = along / (mu * mu + one);
  const saltusi_masks beyond = (saltusi_masks)(along <= zero), turned = (saltusi_masks)(t > zero);
  saltusi_lanes n;
  choose(&beyond, &zero, &onto, &n);
  choose(&turned, &t, &one, &t); /* avoids a division by zero */
  shrink = mu * n / t;
  choose(&inside, &x0, &n, &n);
  choose(&inside, &one, &shrink, &shrink);
  const saltusi_lanes m0 = (r[0] - n) / rho, m1 = (r[1] - x1 * shrink) / rho;
  const saltusi_lanes m2 = (r[2] - x2 * shrink) / rho;
  const saltusi_masks joint = (saltusi_masks)(mu < zero);
  const saltusi_lanes size2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  *miss2 = m0 * m0 + m1 * m1 + m2 * m2;
  choose(&joint, &size2, miss2, miss2);
}

/* u and |F / rho|^2 of r with its velocities in b->v; four contacts at a time. */
SALTUSI_FOR_MACHINES static double measure(const saltusi_friction_case* in, const double* r,
                                           double* u) {
  const saltusi_bodies* b = in->bodies;
  saltusi_lanes sum = {0.0};
  memcpy(u, in->q, (size_t)in->pattern->rows * sizeof(double));
  for (int from = 0; from < b->units; from += SALTUSI_LANES) {
    map_data c = {.rho = {1.0, 1.0, 1.0, 1.0}};
    saltusi_lanes four[3] = {{0.0}}, miss;
    for (int l = 0; l < SALTUSI_LANES && from + l < b->units; l++) {
      const int i = from + l;
      add_velocity(b, i, u + 3 * (size_t)i);
      c.mu[l] = in->mu[i];
      c.rho[l] = in->rho[i];
      for (int k = 0; k < 3; k++) {
        u[3 * i + k] += b->soft[3 * i + k] * r[3 * i + k];
        c.r[k][l] = r[3 * i + k];
        four[k][l] = u[3 * i + k];
      }
    }
    lanes_map2(&c, four, &miss);
    sum += miss;
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double saltusi_kernel_reset(const saltusi_body_kernel* kernel, const saltusi_friction_case* in,
                            const double* r, double* u) {
  assert(kernel != NULL && in != NULL && in->bodies != NULL);
  const saltusi_bodies* b = in->bodies;
  memset(b->v + (size_t)b->bodies * SALTUSI_BODY_WIDTH, 0, SALTUSI_BODY_WIDTH * sizeof(double));
  saltusi_bodies_move(b, r, b->v);
  const double miss2 = measure(in, r, u);
  if (kernel->rebase != NULL) {
    kernel->rebase(in, r, u);
  }
  return sqrt(miss2) / in->velocity_unit;
}

/* ---- iterations ---- */

static bool is_packed(const saltusi_friction_case* in) {
  return in->bodies->kind != NULL && in->bodies->q == in->q;
}

/* The first applicable kernel; the same problem is packed once. */
static const saltusi_body_kernel* kernel_of(const saltusi_friction_case* in) {
  saltusi_bodies* b = in->bodies;
  if (!is_packed(in)) {
    int k = 0;
    while (k < KERNELS - 1 && !kernels[k]->pack(in)) { /* the last one is for all contacts */
      k++;
    }
    b->kind = kernels[k];
    b->q = in->q;
  }
  return b->kind;
}

void saltusi_gauss_seidel_pack(saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  (void)kernel_of(in);
}

double saltusi_visit_cost(const saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  return kernel_of(in)->cost;
}

/* Restarts from r without momentum; returns the residual. */
static double start_at(saltusi_gauss_seidel_work* work, const saltusi_friction_case* in,
                       double* r) {
  const saltusi_body_kernel* kernel = in->bodies->kind;
  in->bodies->points = (saltusi_group_points){
      .r = r, .x = work->after, .before = work->before, .age = work->mixing.last_f};
  kernel->start(in, r);
  return saltusi_kernel_reset(kernel, in, r, work->u);
}

double saltusi_gauss_seidel_residual(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                     double* r) {
  assert(work != NULL && in != NULL && in->bodies != NULL && r != NULL);
  /* packing a problem for one evaluation costs more than it saves */
  return is_packed(in) ? start_at(work, in, r)
                       : saltusi_friction_case_residual(in, r, work->u).normalised;
}

saltusi_stage saltusi_gauss_seidel_bodies(saltusi_gauss_seidel_work* work,
                                          saltusi_friction_case* in,
                                          const saltusi_body_gauss_seidel* settings, double* r) {
  assert(work != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  double* best = work->mixing.last_g;
  const bool started = settings->standing && is_packed(in);
  const saltusi_body_kernel* kernel = kernel_of(in);
  const int look = kernel->single ? SELDOM : LOOK;
  const double enough =
      (kernel->single ? seldom_part : look_part) * settings->tol * in->velocity_unit;
  double lowest = settings->known;
  int most = settings->sweeps;
  int since = 0;
  int k = 0;
  memcpy(best, r, bytes);
  in->bodies->points.r = r;
  if (!started || !(lowest > 0.0)) {
    lowest = start_at(work, in, r);
  }
  while (k < most && lowest > settings->tol) {
    const double change2 = kernel->iterate(in);
    k++;
    if (k % look == 0 || k == most || change2 <= enough * enough) {
      kernel->fetch(in, r);
      const double residual = saltusi_kernel_reset(kernel, in, r, work->u);
      if (residual < lowest) {
        lowest = residual;
        memcpy(best, r, bytes);
        since = k;
      } else if (!(k - since <= PATIENCE)) {
        kernel->forget(in);
        since = k;
      }
      if (!isfinite(residual)) {
        break;
      }
      if (k == settings->sweeps && residual <= near_enough * settings->tol) {
        most += settings->further;
      }
    }
    if (!settings->plain && k < most && lowest > settings->tol) {
      kernel->extrapolate(in);
    }
  }
  memcpy(r, best, bytes);
  if (since < k) { /* velocities are those of a later point */
    saltusi_bodies_move(in->bodies, r, in->bodies->v);
  }
  return (saltusi_stage){k, lowest};
}
