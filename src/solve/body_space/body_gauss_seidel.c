/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_gauss_seidel.c - Gauss-Seidel with exact one-contact solutions (gauss_seidel.c) in body space: a visit reads and
 * writes the velocities of the two bodies of a contact:
 *
 *   u_i = q_i + G_i^T v,   r_i <- solution with b = u_i - W_ii r_i,   v <- v + A^-1 G_i (change of r_i)
 *
 * and momentum by contact (accelerated_gauss_seidel.c). W is not read. Contacts of balls and of other rigid bodies are
 * packed (sphere_kernel.c, rigid_kernel.c).
 */
#include "solve/body_space/body_gauss_seidel.h"

#include "math/matrix.h"
#include "solve/body_space/float_kernel.h"
#include "solve/body_space/rigid_kernel.h"
#include "solve/body_space/sphere_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Iterations between evaluations of the residual, which cost one each. The residual is evaluated earlier if the
 * change of an iteration, as a velocity, is below a fraction of the tolerance. In single precision an evaluation
 * costs three, and the change triggers most of them: in 3000 iterations over 1000 compliant boxes the residual was
 * 0.35 to 1 times the change. */
enum { LOOK = 10, SELDOM = 40 };
#define LOOK_PART 0.7
#define SELDOM_PART 1.3
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

static double sweep(const saltusi_friction_case* in, const saltusi_group_points* p) {
  double change2 = 0.0;
  for (int i = 0; i < in->pattern->units; i++) {
    change2 += visit(in, i, p->r);
  }
  return change2;
}

static void move(const saltusi_friction_case* in, const saltusi_group_points* p) {
  saltusi_bodies_move(in->bodies, p->r, in->bodies->v);
}

static double miss2(const saltusi_friction_case* in, const saltusi_group_points* p) {
  const saltusi_bodies* b = in->bodies;
  double sum = 0.0;
  for (int i = 0; i < b->units; i++) {
    const double* q = in->q + 3 * (size_t)i;
    double u[3] = {q[0], q[1], q[2]};
    saltusi_bodies_add(b, i, b->v, u);
    saltusi_bodies_add_compliance(b, i, p->r + 3 * (size_t)i, u);
    sum += saltusi_body_map2(in->mu[i], in->rho[i], p->r + 3 * (size_t)i, u);
  }
  return sum;
}

static void extrapolate(const saltusi_friction_case* in, const saltusi_group_points* p) {
  for (int i = 0; i < in->pattern->units; i++) {
    double change[3];
    if (saltusi_momentum(p, i, change)) {
      saltusi_bodies_push(in->bodies, i, change, in->bodies->v);
    }
  }
}

static bool serve_all(const saltusi_friction_case* in) {
  (void)in;
  return true;
}

static void forget(const saltusi_friction_case* in, const saltusi_group_points* p) {
  memset(p->age, 0, (size_t)in->pattern->units * sizeof(double));
}

static void start(const saltusi_friction_case* in, const saltusi_group_points* p) {
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  memcpy(p->x, p->r, bytes);
  memcpy(p->before, p->r, bytes);
  forget(in, p);
  saltusi_bodies_move(in->bodies, p->r, in->bodies->v);
}

/* Copies the impulses of p->r. */
static void fetch(const saltusi_friction_case* in, const saltusi_group_points* p) {
  (void)in;
  (void)p;
}

/* Contacts of one kind, with the functions of sphere_kernel.h; cost: multiply-adds of a visit with its momentum and
 * one-contact solution, relative to those of factors, 0.15 to 0.2 ns. A visit of balls counts as 110: with that six
 * runs of 125 rigid spheres, whose problems are hard for any number of iterations, took 1.4 times the iterations and
 * 9 % more time. */
typedef struct contact_kind {
  double cost;
  int look;
  double look_part;
  bool (*pack)(const saltusi_friction_case* in);
  void (*start)(const saltusi_friction_case* in, const saltusi_group_points* points);
  double (*sweep)(const saltusi_friction_case* in, const saltusi_group_points* points);
  void (*extrapolate)(const saltusi_friction_case* in, const saltusi_group_points* points);
  void (*forget)(const saltusi_friction_case* in, const saltusi_group_points* points);
  void (*move)(const saltusi_friction_case* in, const saltusi_group_points* points);
  double (*miss2)(const saltusi_friction_case* in, const saltusi_group_points* points);
  void (*fetch)(const saltusi_friction_case* in, const saltusi_group_points* points);
} contact_kind;

static const contact_kind kinds[] = {
    {80.0, SELDOM, SELDOM_PART, saltusi_float_pack, saltusi_float_start, saltusi_float_iteration,
     saltusi_float_extrapolate, saltusi_float_forget, saltusi_float_move, saltusi_float_miss2,
     saltusi_float_fetch},
    {180.0, LOOK, LOOK_PART, saltusi_sphere_pack, saltusi_sphere_start, saltusi_sphere_iteration,
     saltusi_sphere_extrapolate, saltusi_groups_forget, saltusi_sphere_move, saltusi_sphere_miss2,
     saltusi_groups_fetch},
    {160.0, LOOK, LOOK_PART, saltusi_rigid_pack, saltusi_rigid_start, saltusi_rigid_iteration,
     saltusi_rigid_extrapolate, saltusi_groups_forget, saltusi_rigid_move, saltusi_rigid_miss2,
     saltusi_rigid_fetch},
    {450.0, LOOK, LOOK_PART, serve_all, start, sweep, extrapolate, forget, move, miss2, fetch}};

static bool is_packed(const saltusi_friction_case* in) {
  return in->bodies->kind != NULL && in->bodies->q == in->q;
}

/* The first applicable kind; the same problem is packed once. */
static const contact_kind* kind_of(const saltusi_friction_case* in) {
  saltusi_bodies* b = in->bodies;
  if (!is_packed(in)) {
    const contact_kind* kind = kinds;
    while (!kind->pack(in)) {
      kind++;
    }
    b->kind = kind;
    b->q = in->q;
  }
  return b->kind;
}

void saltusi_gauss_seidel_pack(saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  (void)kind_of(in);
}

double saltusi_visit_cost(const saltusi_friction_case* in) {
  assert(in != NULL && in->bodies != NULL);
  return kind_of(in)->cost;
}

/* The residual of velocities in bodies->v. */
static double residual_of(const contact_kind* kind, const saltusi_friction_case* in,
                          const saltusi_group_points* p) {
  return sqrt(kind->miss2(in, p)) / in->velocity_unit;
}

double saltusi_gauss_seidel_residual(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                     double* r) {
  assert(work != NULL && in != NULL && in->bodies != NULL && r != NULL);
  const saltusi_bodies* b = in->bodies;
  if (!is_packed(in)) { /* packing a problem for one evaluation costs more than it saves */
    return saltusi_friction_case_residual(in, r, work->u).normalised;
  }
  const contact_kind* kind = b->kind;
  const saltusi_group_points p = {
      .r = r, .x = work->after, .before = work->before, .age = work->last_f};
  kind->start(in, &p);
  return residual_of(kind, in, &p);
}

saltusi_stage saltusi_gauss_seidel_bodies(saltusi_gauss_seidel_work* work,
                                          saltusi_friction_case* in,
                                          const saltusi_body_gauss_seidel* settings, double* r) {
  assert(work != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  const saltusi_group_points p = {
      .r = r, .x = work->after, .before = work->before, .age = work->last_f};
  double* best = work->last_after;
  const bool started = settings->standing && is_packed(in);
  const contact_kind* kind = kind_of(in);
  const double enough = kind->look_part * settings->tol * in->velocity_unit;
  double lowest = settings->known;
  int most = settings->sweeps;
  int since = 0;
  int k = 0;
  memcpy(best, r, bytes);
  if (!started) {
    kind->start(in, &p);
  }
  if (!(lowest > 0.0)) {
    lowest = residual_of(kind, in, &p);
  }
  while (k < most && lowest > settings->tol) {
    const double change2 = kind->sweep(in, &p);
    k++;
    if (k % kind->look == 0 || k == most || change2 <= enough * enough) {
      kind->move(in, &p);
      double residual = residual_of(kind, in, &p);
      if (residual < lowest) {
        lowest = residual;
        kind->fetch(in, &p);
        memcpy(best, r, bytes);
        since = k;
      } else if (!(k - since <= PATIENCE)) {
        kind->forget(in, &p);
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
      kind->extrapolate(in, &p);
    }
  }
  memcpy(r, best, bytes);
  if (since < k) { /* velocities are those of a later point */
    saltusi_bodies_move(in->bodies, r, in->bodies->v);
  }
  return (saltusi_stage){k, lowest};
}
