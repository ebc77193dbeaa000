/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_newton_compliant.c - semismooth Newton on the function of Alart and Curnier (CMAME 92 (1991) 353-375) for
 * compliant contacts,
 *
 *   Phi_i = r_i - P_i(x_i),   x_i = r_i - t rho_i (u_i + S_i r_i),   P: normal part positive, tangents in its disc
 *   C_i dr_i + t rho_i D_i du_i = -Phi_i,   C = I - D + t rho D S,   D = dP/dx,   A dv = G dr,   du = G^T dv
 *
 * in body space: (A + G K G^T) dv = G f with K = C^-1 t rho D and f = -C^-1 Phi. If S is not small relative to W, C
 * is regular, the matrix of the bodies has a moderate condition number, and its solution is iterative
 * (body_krylov.c). A step transports impulses through the whole pile and leaves many contacts with wrong statuses;
 * Gauss-Seidel iterations with momentum correct these. Alternating the two gains one to two digits each time, while
 * iterations alone take hundreds and Newton's method alone converges very slowly.
 */
#include "solve/body_space/body_newton_compliant.h"

#include "base/lanes.h"
#include "math/matrix.h"
#include "solve/body_space/body_gauss_seidel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { WIDTH = SALTUSI_BODY_WIDTH };

/* Weight of velocities in the function of Alart and Curnier. Measured on 700 problems of 1000 boxes that fall into a
 * box: 3 and 30 take the same number of steps within 10 %. */
static const double weight = 10.0;
/* A step that leaves more than slow_part of the residual is followed by so many iterations. 12 take a fifth more
 * steps, 30 as many. After PATIENCE steps that did not halve it they are without momentum, and if that does not help
 * either their number is doubled, to at most MOST, with momentum: a few slipping contacts can cycle with momentum
 * and converge at once without it. */
static const double slow_part = 0.3;
enum { BETWEEN = 20, MOST = 160, PATIENCE = 1 };
/* Additional iterations near the tolerance: they save a step in one problem of four. */
enum { FURTHER = 10 };
/* Accuracy of linear solves: higher near a solution from the start, where bodies rest and the next step starts from
 * the remaining residual, but not if the tolerance is above that. 0.1 takes a quarter more steps than 0.03, 0.001 as
 * many as 0.01. */
static const double rest_far = 0.01;
static const double rest_near = 1e-3;
static const double near_by = 30.0; /* tolerances */
/* Compliance of joints in a step with complete factors and with incomplete ones, as a fraction of W: it acts on the
 * change of their impulses and does not change the solution. 50 chains of 10 boxes, incomplete factors: 1e-4 takes a
 * third more time, 1e-2 as well. */
static const double joint_complete = 1e-8;
static const double joint_incomplete = 1e-3;

static void layout(saltusi_compliant_work* work, int units, int bodies, int blocks,
                   saltus_arena* arena) {
  work->f = SALTUS_PUSH2(arena, double, units, 3);
  work->K = SALTUS_PUSH2(arena, double, units, SALTUSI_CONTACT_ENTRIES);
  work->best = SALTUS_PUSH2(arena, double, units, 3);
  saltusi_krylov_layout(&work->krylov, units, bodies, blocks, arena);
}

size_t saltusi_compliant_workspace(int units, int bodies) {
  assert(units >= 0 && bodies >= 0);
  saltusi_compliant_work largest;
  saltus_arena arena = saltus_arena_counting();
  layout(&largest, units, bodies, bodies + 2 * units, &arena);
  return arena.used;
}

saltus_status saltusi_compliant_reserve(saltusi_compliant_work* work, const saltusi_bodies* b,
                                        saltusi_buffer* buffer, const saltus_allocator* memory) {
  assert(work != NULL && b != NULL && buffer != NULL && memory != NULL);
  saltus_arena arena = saltus_arena_counting();
  layout(work, b->units, b->bodies, b->start[b->bodies], &arena);
  const saltus_status status = saltusi_buffer_reserve(buffer, memory, arena.used);
  if (status == SALTUS_OK) {
    arena = saltus_arena_over(buffer->block, buffer->bytes);
    layout(work, b->units, b->bodies, b->start[b->bodies], &arena);
    saltusi_krylov_prepare(&work->krylov, b);
  }
  return status;
}

/* P(x) and its derivative D where a contact slips, |x_T| > mu x_N > 0. */
SALTUSI_ALWAYS_INLINE void project_slip(double mu, const double* x, double* p, double* D) {
  const double size = sqrt(x[1] * x[1] + x[2] * x[2]);
  const double shrink = mu * x[0] / size, a = x[1] / size, b = x[2] / size;
  p[0] = x[0];
  p[1] = shrink * x[1];
  p[2] = shrink * x[2];
  D[0] = 1.0;
  D[1] = D[2] = 0.0;
  D[3] = mu * a;
  D[6] = mu * b;
  D[4] = shrink * (1.0 - a * a);
  D[8] = shrink * (1.0 - b * b);
  D[5] = D[7] = -shrink * a * b;
}

/* The same as linearise_contact for slip. */
SALTUSI_ALWAYS_INLINE void linearise_slip(double mu, double rho, const double* S, const double* r,
                                          const double* x, double* K, double* f) {
  double p[3], D[SALTUSI_CONTACT_ENTRIES], C[SALTUSI_CONTACT_ENTRIES];
  double inverse[SALTUSI_CONTACT_ENTRIES];
  project_slip(mu, x, p, D);
  for (int k = 0; k < SALTUSI_CONTACT_ENTRIES; k++) {
    C[k] = (k % 4 == 0 ? 1.0 : 0.0) - D[k] + rho * D[k] * S[k % 3];
  }
  saltusi_invert3(C, inverse);
  for (int k = 0; k < 3; k++) {
    f[k] = 0.0;
    for (int c = 0; c < 3; c++) {
      f[k] -= inverse[3 * k + c] * (r[c] - p[c]);
      K[3 * k + c] = rho * (inverse[3 * k] * D[c] + inverse[3 * k + 1] * D[3 + c] +
                            inverse[3 * k + 2] * D[6 + c]);
    }
  }
}

/* K = C^-1 t rho D and f = -C^-1 Phi of a contact with x, C = I - D + t rho D S + e D. D is zero for open and one
 * for sticking contacts; S includes e / (t rho). */
SALTUSI_ALWAYS_INLINE void linearise_contact(double mu, double rho, const double* S,
                                             const double* r, const double* x, double* K,
                                             double* f) {
  const double size2 = x[1] * x[1] + x[2] * x[2], radius = mu * x[0];
  if (x[0] > 0.0 && size2 > radius * radius) {
    linearise_slip(mu, rho, S, r, x, K, f);
    return;
  }
  memset(K, 0, SALTUSI_CONTACT_ENTRIES * sizeof(double));
  for (int k = 0; k < 3; k++) {
    const double sticks = x[0] > 0.0 ? 1.0 / S[k] : 0.0;
    K[4 * k] = sticks;
    f[k] = x[0] > 0.0 ? (x[k] - r[k]) * sticks / rho : -r[k];
  }
}

/* The same for a joint, K (u + du) + dr = 0. Its padding rows have u = 0. */
SALTUSI_ALWAYS_INLINE void linearise_joint(double stiff, const double* u, double* K, double* f) {
  memset(K, 0, SALTUSI_CONTACT_ENTRIES * sizeof(double));
  for (int k = 0; k < 3; k++) {
    K[4 * k] = stiff;
    f[k] = -stiff * u[k];
  }
}

SALTUSI_FOR_MACHINES static void linearise(const saltusi_friction_case* in,
                                           const saltusi_body_linearisation* how, const double* r,
                                           double* K, double* f) {
  const saltusi_bodies* b = in->bodies;
  memset(b->right, 0, (size_t)b->bodies * WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++, K += SALTUSI_CONTACT_ENTRIES, f += 3) {
    const double *q = in->q + 3 * (size_t)i, *S = b->soft + 3 * (size_t)i;
    const double *ri = r + 3 * (size_t)i, rho = how->weight * in->rho[i];
    double u[3] = {q[0], q[1], q[2]}, x[3], soft[3];
    saltusi_bodies_add(b, i, b->v, u);
    for (int k = 0; k < 3; k++) {
      x[k] = ri[k] - rho * (u[k] + S[k] * ri[k]);
      soft[k] = S[k] + how->soft / rho;
    }
    if (in->mu[i] < 0.0) {
      linearise_joint(in->rho[i] / how->joint_soft, u, K, f);
    } else {
      linearise_contact(in->mu[i], rho, soft, ri, x, K, f);
    }
    saltusi_bodies_add_force(b, i, f, b->right);
  }
}

void saltusi_body_linearise(const saltusi_friction_case* in, const saltusi_body_linearisation* how,
                            const double* r, double* K, double* f) {
  assert(in != NULL && in->bodies != NULL && how != NULL);
  linearise(in, how, r, K, f);
}

void saltusi_body_impulses(const saltusi_bodies* b, const double* K, double* f) {
  assert(b != NULL && K != NULL && f != NULL);
  for (int i = 0; i < b->units; i++, K += SALTUSI_CONTACT_ENTRIES) {
    double du[3] = {0.0};
    saltusi_bodies_add(b, i, b->step, du);
    for (int k = 0; k < 3; k++) {
      f[3 * i + k] -= saltusi_dot(3, K + 3 * (size_t)k, du);
    }
  }
}

/* A step from r and bodies->v. */
static bool step(saltusi_compliant_work* work, const saltusi_friction_case* in,
                 saltusi_block_lu* lu, double rest, double* r) {
  saltusi_bodies* b = in->bodies;
  linearise(in,
            &(saltusi_body_linearisation){
                .weight = weight, .joint_soft = lu != NULL ? joint_complete : joint_incomplete},
            r, work->K, work->f);
  if (lu != NULL) {
    if (!saltusi_bodies_factor(b, lu, work->K)) {
      return false;
    }
    saltusi_block_lu_solve(lu, b->right, b->step);
  } else {
    if (!saltusi_krylov_form(&work->krylov, b, work->K)) {
      return false;
    }
    (void)saltusi_krylov_solve(&work->krylov, b->right, rest, b->step);
  }
  saltusi_body_impulses(b, work->K, work->f);
  saltusi_add_scaled(in->pattern->rows, 1.0, work->f, r);
  saltusi_friction_project(in, r);
  return true;
}

saltusi_stage saltusi_body_newton_compliant(saltusi_compliant_work* work,
                                            saltusi_gauss_seidel_work* sweep,
                                            saltusi_friction_case* in,
                                            const saltusi_compliant_settings* settings, double* r) {
  assert(work != NULL && sweep != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  saltusi_body_gauss_seidel between = {
      .sweeps = BETWEEN, .further = FURTHER, .tol = settings->tol, .standing = true};
  double residual =
      settings->known > 0.0 ? settings->known : saltusi_gauss_seidel_residual(sweep, in, r);
  const bool still = settings->tol < rest_near && residual <= near_by * settings->tol;
  double rest = still ? rest_near : rest_far;
  double best = residual, halved = residual;
  int k = 0, since = 0;
  memcpy(work->best, r, bytes);
  saltusi_bodies_move(in->bodies, r, in->bodies->v);
  for (; k < settings->steps && best > settings->tol && isfinite(residual); k++) {
    const double before = residual;
    if (!step(work, in, settings->lu, rest, r)) {
      break;
    }
    residual = saltusi_gauss_seidel_residual(sweep, in, r);
    if (residual > settings->tol && residual > slow_part * before) {
      between.known = residual;
      residual = saltusi_gauss_seidel_bodies(sweep, in, &between, r).residual;
    }
    if (residual < best) {
      best = residual;
      memcpy(work->best, r, bytes);
    }
    rest = rest_far;
    if (best <= 0.5 * halved) {
      halved = best;
      since = k;
      between.plain = false;
    } else if (k - since >= PATIENCE) {
      between.sweeps *= between.plain && between.sweeps < MOST ? 2 : 1;
      between.plain = !between.plain;
      since = k;
    }
  }
  memcpy(r, work->best, bytes);
  return (saltusi_stage){k, best};
}
