/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_hessian.c - see check_hessian.h.
 *
 *   d(G P)/dq, d(G^T v + b)/dq    by differences of sixth order along each velocity in the rows
 *   Q (K - d(G P)/dq) Q = 0,      Q = 1 - projection onto the rows of the joint
 */
#include "system/check_hessian.h"

#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>
#include <string.h>

enum { NODES = 6, STEPS = 3 };
static const double node[NODES] = {-3, -2, -1, 1, 2, 3};
static const double weight[NODES] = {-1, 9, -45, 45, -9, 1};
static const double lengths[STEPS] = {1e-2, 1e-3, 1e-4};
/* Largest defect of a joint whose K is checked; differences of length 1e-2 have the same error. */
static const double closed = 1e-10;

typedef struct bend {
  const saltus_system* sys;
  const saltus_point* at;
  int joint, count, width;
  saltusi_row_block rows, moved;
  double *q, *v;         /* [nq], [nv] */
  double *P, *K, *U_q;   /* [count], [width x width], [count x width] */
  double *K_off, *best;  /* [width x width] */
  double* basis;         /* [count x width] orthonormal rows */
  double* g;             /* [nj] */
  double *all_P, *all_U; /* [nj] */
} bend;

static void layout(bend* b, saltus_arena* arena) {
  const saltus_dims* d = &b->sys->dims;
  const int most = saltusi_joint_rows_most(b->sys);
  const int width = d->row_width > 0 ? d->row_width : d->nv;
  saltusi_rows_layout(&b->rows, d, most, false, arena);
  saltusi_rows_layout(&b->moved, d, most, false, arena);
  b->q = SALTUS_PUSH(arena, double, d->nq);
  b->v = SALTUS_PUSH(arena, double, d->nv);
  b->P = SALTUS_PUSH(arena, double, most);
  b->K = SALTUS_PUSH2(arena, double, width, width);
  b->K_off = SALTUS_PUSH2(arena, double, width, width);
  b->best = SALTUS_PUSH2(arena, double, width, width);
  b->U_q = SALTUS_PUSH2(arena, double, most, width);
  b->basis = SALTUS_PUSH2(arena, double, most, width);
  b->g = SALTUS_PUSH(arena, double, d->nj);
  b->all_P = SALTUS_PUSH(arena, double, d->nj);
  b->all_U = SALTUS_PUSH(arena, double, d->nj);
}

static int column_of(const bend* b, int k) {
  return b->rows.column != NULL ? b->rows.column[k] : k;
}

/* Rows at the point moved by s along the velocity of column k. */
static void move(bend* b, int k, double s) {
  saltus_point at = *b->at;
  memset(b->v, 0, (size_t)b->sys->dims.nv * sizeof(double));
  b->v[column_of(b, k)] = 1.0;
  saltusi_advance(b->sys, b->at->q, b->v, s, b->q);
  at.q = b->q;
  saltusi_rows_joint(b->sys, &at, b->joint, &b->moved, 0);
}

/* Orthonormal rows of the joint, without linearly dependent ones. */
static void find_basis(bend* b) {
  for (int r = 0; r < b->count; r++) {
    double* own = b->basis + r * b->width;
    const double* G = b->rows.G + (size_t)r * (size_t)b->rows.stride;
    memcpy(own, G, (size_t)b->width * sizeof(double));
    double length = sqrt(saltusi_dot(b->width, own, own));
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < r; i++) {
        const double* other = b->basis + i * b->width;
        saltusi_add_scaled(b->width, -saltusi_dot(b->width, own, other), other, own);
      }
    }
    double left = sqrt(saltusi_dot(b->width, own, own));
    for (int k = 0; k < b->width; k++) {
      own[k] = left > 1e-8 * length ? own[k] / left : 0.0; /* half of the digits */
    }
  }
}

/* E <- Q E Q */
static void keep_allowed(const bend* b, double* E) {
  const int n = b->width;
  for (int r = 0; r < b->count; r++) {
    const double* own = b->basis + r * n;
    for (int i = 0; i < n; i++) { /* columns of each row */
      saltusi_add_scaled(n, -saltusi_dot(n, E + i * n, own), own, E + i * n);
    }
    for (int k = 0; k < n; k++) {
      double sum = 0.0;
      for (int i = 0; i < n; i++) {
        sum += own[i] * E[i * n + k];
      }
      for (int i = 0; i < n; i++) {
        E[i * n + k] -= sum * own[i];
      }
    }
  }
}

/* Residuals for differences of one length: of K into b->K_off; returns that of U_q. */
static double leave(bend* b, double length) {
  const int n = b->width;
  double worst = 0.0;
  memcpy(b->K_off, b->K, (size_t)(n * n) * sizeof(double));
  for (int k = 0; k < n; k++) {
    double velocity[64] = {0.0};
    for (int i = 0; i < NODES; i++) {
      const double part = weight[i] / (60.0 * length);
      move(b, k, node[i] * length);
      for (int r = 0; r < b->count; r++) {
        const double* G = b->moved.G + (size_t)r * (size_t)b->moved.stride;
        velocity[r] +=
            part * (saltusi_row_dot(&b->moved, r, b->at->v) + b->moved.b[r] - b->rows.b[r]);
        for (int a = 0; a < n; a++) {
          b->K_off[a * n + k] -= part * b->P[r] * G[a];
        }
      }
    }
    for (int r = 0; r < b->count; r++) {
      worst = fmax(worst, fabs(velocity[r] - b->U_q[r * n + k]));
    }
  }
  keep_allowed(b, b->K_off);
  return worst;
}

/* The largest entry of K between two blocks of the structure. */
static double between_blocks(const bend* b) {
  const saltus_structure* s = b->sys->structure;
  const int n = b->width;
  double worst = 0.0;
  int block[2] = {0, 0};
  for (int i = 0; s != NULL && i < n; i++) {
    for (; column_of(b, i) >= s->start[block[0] + 1]; block[0]++) {
    }
    block[1] = 0;
    for (int k = 0; k < n; k++) {
      for (; column_of(b, k) >= s->start[block[1] + 1]; block[1]++) {
      }
      worst = block[0] != block[1] ? fmax(worst, fabs(b->K[i * n + k])) : worst;
    }
  }
  return worst;
}

static double check_joint(bend* b, int joint) {
  b->joint = joint;
  b->count = saltusi_joint_rows(b->sys, joint);
  saltusi_rows_joint(b->sys, b->at, joint, &b->rows, 0);
  b->width = b->rows.column != NULL ? b->rows.entries[0] : b->sys->dims.nv;
  const int n = b->width;
  for (int r = 0; r < b->count; r++) {
    b->P[r] = 1.0 + 0.7 * r - 0.4 * (r % 3); /* any will do */
  }
  memset(b->K, 0, (size_t)(n * n) * sizeof(double));
  memset(b->U_q, 0, (size_t)(b->count * n) * sizeof(double));
  const bool couples = b->sys->ops->joint_hessian(b->sys->self, b->at, joint, b->P, b->K, b->U_q);
  const double size =
      1.0 + fmax(saltusi_max_abs(n * n, b->K), saltusi_max_abs(b->count * n, b->U_q));
  const double denied = couples ? 0.0 : between_blocks(b);
  const double open = saltusi_max_abs(b->count, b->g + saltusi_joint_first(b->sys, joint));
  find_basis(b);
  double best_K = INFINITY, best_U = INFINITY;
  for (int k = 0; k < STEPS; k++) {
    best_U = fmin(best_U, leave(b, lengths[k]));
    best_K = fmin(best_K, saltusi_max_abs(n * n, b->K_off));
  }
  best_K = open <= closed ? best_K : 0.0;
  return fmax(denied, fmax(best_K, best_U)) / size;
}

/* All joints at once against their rows. */
static double check_act(bend* b) {
  const saltus_system* sys = b->sys;
  const int nv = sys->dims.nv;
  double worst = 0.0, size = 1.0;
  for (int r = 0; r < sys->dims.nj; r++) {
    b->all_P[r] = 1.0 + 0.7 * (r % 7) - 0.4 * (r % 3);
  }
  memset(b->v, 0, (size_t)nv * sizeof(double));
  sys->ops->joints_act(sys->self, b->at, b->all_P, b->v, b->all_U);
  for (int j = 0; j < saltusi_joint_count(sys); j++) {
    saltusi_rows_joint(sys, b->at, j, &b->rows, 0);
    for (int r = 0; r < saltusi_joint_rows(sys, j); r++) {
      const int row = saltusi_joint_first(sys, j) + r;
      const double U = saltusi_row_dot(&b->rows, r, b->at->v) + b->rows.b[r];
      worst = saltusi_larger(worst, fabs(U - b->all_U[row]));
      size = fmax(size, fmax(fabs(U), fabs(b->all_P[row])));
      saltusi_row_add(&b->rows, r, -b->all_P[row], b->v);
    }
  }
  return saltusi_larger(worst, saltusi_max_abs(nv, b->v)) / size;
}

saltus_status saltusi_check_hessian(const saltus_system* sys, const saltus_point* at,
                                    double* worst) {
  assert(sys != NULL && at != NULL && worst != NULL);
  if (sys->ops->joint_hessian == NULL || saltusi_joint_rows_most(sys) > 64) {
    return SALTUS_OK;
  }
  saltus_allocator memory = saltus_allocator_default();
  bend b = {.sys = sys, .at = at};
  saltus_arena arena = saltus_arena_counting();
  layout(&b, &arena);
  const size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  layout(&b, &arena);
  *worst = 0.0;
  sys->ops->joints(sys->self, at, b.g);
  for (int j = 0; j < saltusi_joint_count(sys); j++) {
    *worst = saltusi_larger(*worst, check_joint(&b, j));
  }
  if (sys->ops->joints_act != NULL) {
    *worst = saltusi_larger(*worst, check_act(&b));
  }
  memory.free(block, bytes, memory.user);
  return SALTUS_OK;
}
