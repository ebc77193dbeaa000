/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * matrix_free.c - solution without W where W would take too much memory: thousands of contacts on one body, rigid or
 * flexible. Gauss-Seidel over joints and contacts updates the response x of the impulses,
 *
 *   x = A^-1 G P,     unit i:   P_i <- solution of its own law with W_ii and rhs_i + G_i^T x - W_ii P_i,
 *                               x <- x + A^-1 G_i (change of P_i)
 *
 * with Anderson acceleration of P (math/anderson.h). Solutions are verified by the residual of the other
 * solvers.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"
#include "solve/friction/one_contact.h"
#include "solve/friction/residual.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* W is not stored if it has more than VALUES_MOST values (a quarter of a gigabyte) and more than BLOCKS_EACH blocks per
 * contact. A packing of spheres has 24 blocks per contact, whatever its size. */
enum { VALUES_MOST = 1 << 25, BLOCKS_EACH = 64 };

/* Residuals relative to the right-hand side: the target, 45 eps, and the largest accepted one, as in
 * solve/friction/friction_step.c. */
static const double aim = 1e-14;
static const double accepted = 1e-10;
/* An iteration that leaves more than this fraction of the best residual makes no progress: at a reduction of 1e-3 an
 * iteration, three digits would take 7000 iterations, more than the limit. */
static const double progress_part = 0.999;
/* Numbers of iterations: the limit; those without progress before the end; those without progress before Anderson
 * acceleration is turned off; plain iterations after that. Chosen. */
enum { SWEEPS_MAX = 4000, STALL_LIMIT = 60, LOST = 12, ALONE_FIRST = 25 };

bool saltusi_matrix_free_serves(const saltusi_operator* op, size_t values, size_t each) {
  assert(op != NULL);
  return values > op->product.from && values > BLOCKS_EACH * each && !op->apart && !op->softens;
}

void saltusi_matrix_free_layout(saltusi_operator* op, const saltusi_eval* eval, int rows,
                                saltus_arena* arena) {
  assert(op != NULL && eval != NULL && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  saltusi_matrix_free* p = &op->product;
  p->from = VALUES_MOST;
  p->rows_max = eval->room.have[SALTUSI_CAPACITY_MATRIX_FREE] > 0 ? rows : 0;
  if (p->rows_max == 0) {
    return;
  }
  p->response = SALTUS_PUSH2(arena, double, d->row_width == 0 ? rows : 0, d->nv);
  p->local =
      SALTUS_PUSH2(arena, double, rows,
                   6); /* prepared data: 16 numbers for a contact of three rows, 2 for one row */
  p->block = SALTUS_PUSH2(arena, double, rows, 3);
  p->x = SALTUS_PUSH(arena, double, d->nv);
  p->column = SALTUS_PUSH(arena, int, d->nv);
  p->values = SALTUS_PUSH(arena, double, d->nv);
  p->push = SALTUS_PUSH(arena, double, d->nv);
  p->z = SALTUS_PUSH(arena, double, rows);
  p->f = SALTUS_PUSH(arena, double, rows);
  p->best = SALTUS_PUSH(arena, double, rows);
  saltusi_anderson_layout(&p->mixing, rows, SALTUSI_MIXED, rows, arena);
}

/* Units are rows of joints, then contacts. */
typedef struct unit {
  int row, rows;
  bool equality;
  double mu;
  int contact;
} unit;

static int unit_count(const saltusi_operator* op) {
  return op->held ? op->count : op->joints + op->contacts;
}

static unit unit_at(const saltusi_operator* op, int i) {
  if (op->held || i < op->joints) {
    return (unit){.row = i, .rows = 1, .equality = true, .contact = -1};
  }
  int c = i - op->joints;
  return (unit){
      .row = op->first[c], .rows = op->first[c + 1] - op->first[c], .mu = op->mu[c], .contact = c};
}

/* x += A^-1 G_i times the changes of its rows */
static void push_unit(const saltusi_operator* op, const saltusi_eval* eval, const unit* u,
                      const double* much, double* x) {
  const saltusi_matrix_free* p = &op->product;
  int nv = eval->sys.dims.nv;
  if (op->rows.column == NULL) {
    for (int k = 0; k < u->rows; k++) {
      saltusi_add_scaled(nv, much[k], p->response + (size_t)(u->row + k) * (size_t)nv, x);
    }
    return;
  }
  const saltusi_block_entries row = saltusi_row_entries(op, u->row);
  for (int e = 0; e < row.count; e++) {
    double sum = 0.0;
    for (int k = 0; k < u->rows; k++) {
      sum += much[k] * row.values[k * op->rows.stride + e];
    }
    p->push[e] = sum;
  }
  const saltusi_block_entries pushed = {row.count, row.column, p->push};
  int count = saltusi_response_sparse(op, eval, &pushed, p->column, p->values);
  for (int e = 0; e < count; e++) {
    x[p->column[e]] += p->values[e];
  }
}

/* W_ii of all units. */
static void form_units(saltusi_operator* op, const saltusi_eval* eval) {
  saltusi_matrix_free* p = &op->product;
  int nv = eval->sys.dims.nv;
  for (int r = 0; r < op->count && op->rows.column == NULL; r++) {
    saltusi_operator_response(&op->rows, r, eval, op->A, p->response + (size_t)r * (size_t)nv);
  }
  memset(p->x, 0, (size_t)nv * sizeof(double));
  for (int i = 0; i < unit_count(op); i++) {
    const unit u = unit_at(op, i);
    double* block = p->block + 3 * (size_t)u.row;
    for (int c = 0; c < u.rows; c++) {
      double one[3] = {0.0};
      one[c] = 1.0;
      push_unit(op, eval, &u, one, p->x);
      for (int k = 0; k < u.rows; k++) {
        block[k * u.rows + c] = saltusi_row_dot(&op->rows, u.row + k, p->x);
      }
      one[c] = -1.0; /* exactly zero: the same terms are subtracted */
      push_unit(op, eval, &u, one, p->x);
      op->diagonal[u.row + c] = block[c * (u.rows + 1)];
    }
    saltusi_one_contact_prepare(u.rows, block, p->local + 6 * (size_t)u.row);
  }
}

saltus_status saltusi_matrix_free_form(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  if (op->product.rows_max < op->count) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_MATRIX_FREE, 1);
  }
  form_units(op, eval);
  return SALTUS_OK;
}

/* The velocity of each row of a unit. */
static void velocity(const saltusi_operator* op, const unit* u, double* w) {
  for (int k = 0; k < u->rows; k++) {
    w[k] = op->rhs[u->row + k] + saltusi_row_dot(&op->rows, u->row + k, op->product.x);
  }
}

static void solve_unit(saltusi_operator* op, const unit* u, const double* b, double* r) {
  const double* block = op->product.block + 3 * (size_t)u->row;
  const double* data = op->product.local + 6 * (size_t)u->row;
  double slip = op->has_friction && u->contact >= 0 ? op->slip[u->contact] : 0.0;
  if (u->equality) {
    r[0] = block[0] > 0.0 ? -b[0] / block[0] : 0.0;
  } else if (u->rows == 3) {
    saltusi_one_contact_spatial(data, u->mu, b, r, &slip);
    op->slip[u->contact] = slip;
  } else if (u->rows == 2) {
    saltusi_one_contact_planar(data, u->mu, b, r);
  } else {
    saltusi_one_contact_normal(data, b, r);
  }
}

/* One iteration over all units; updates P and x. */
static void sweep(saltusi_operator* op, const saltusi_eval* eval, double* P) {
  int count = unit_count(op);
  for (int i = 0; i < count; i++) {
    const unit u = unit_at(op, i);
    const double* block = op->product.block + 3 * (size_t)u.row;
    double* own = P + u.row;
    double b[3] = {0.0};
    double r[3] = {0.0};
    double change[3] = {0.0};
    bool still = true;
    velocity(op, &u, b);
    for (int k = 0; k < u.rows; k++) {
      for (int c = 0; c < u.rows; c++) {
        b[k] -= block[k * u.rows + c] * own[c];
      }
      r[k] = own[k];
    }
    solve_unit(op, &u, b, r);
    for (int k = 0; k < u.rows; k++) {
      change[k] = r[k] - own[k];
      still = still && change[k] == 0.0;
      own[k] = r[k];
    }
    if (!still) {
      push_unit(op, eval, &u, change, op->product.x);
    }
  }
}

/* x from P. */
static void apply(saltusi_operator* op, const saltusi_eval* eval, const double* P) {
  memset(op->product.x, 0, (size_t)eval->sys.dims.nv * sizeof(double));
  saltusi_matrix_free_add(op, eval, P, op->product.x);
}

void saltusi_matrix_free_add(const saltusi_operator* op, const saltusi_eval* eval, const double* P,
                             double* x) {
  assert(op != NULL && eval != NULL && P != NULL && x != NULL);
  int count = unit_count(op);
  for (int i = 0; i < count; i++) {
    const unit u = unit_at(op, i);
    push_unit(op, eval, &u, P + u.row, x);
  }
}

/* |natural map| relative to rhs, for P and its response x. */
static double residual(const saltusi_operator* op, const double* P, double size) {
  double sum = 0.0;
  int count = unit_count(op);
  for (int i = 0; i < count; i++) {
    const unit u = unit_at(op, i);
    double w[3] = {0.0};
    velocity(op, &u, w);
    double mean = saltusi_mean_diagonal(u.rows, op->product.block + 3 * (size_t)u.row);
    sum += u.equality
               ? w[0] * w[0]
               : saltusi_natural_map2(u.rows, u.mu, saltusi_unit_rho(mean, 0.0), P + u.row, w);
  }
  return sqrt(sum) / size;
}

/* Iterates until P is a solution; false: no convergence. */
static bool iterate(saltusi_operator* op, const saltusi_eval* eval, double enough) {
  saltusi_matrix_free* p = &op->product;
  size_t bytes = (size_t)op->count * sizeof(double);
  double size = saltusi_velocity_unit(op->count, op->rhs);
  double best = INFINITY;
  int since = 0;
  int mixed = 0;
  int plain = 0;
  int alone = ALONE_FIRST;
  p->mixing.n = op->count;
  p->mixing.measured = op->count;
  apply(op, eval, op->P);
  for (p->sweeps = 0; p->sweeps < SWEEPS_MAX && !saltusi_cancelled(eval); p->sweeps++) {
    memcpy(p->z, op->P, bytes);
    sweep(op, eval, op->P);
    double left = residual(op, op->P, size);
    if (!isfinite(left)) {
      return false;
    }
    since = left < progress_part * best ? 0 : since + 1;
    if (left < best) {
      best = left;
      memcpy(p->best, op->P, bytes);
    }
    if (best <= aim || best <= op->tol || (since >= STALL_LIMIT && best <= enough)) {
      break;
    }
    if (mixed > 0 &&
        since >=
            LOST) { /* restart from the best point without acceleration, with twice as many iterations each time */
      memcpy(op->P, p->best, bytes);
      mixed = 0;
      since = 0;
      plain = alone;
      alone *= 2;
    } else if (plain-- <= 0) {
      for (int r = 0; r < op->count; r++) {
        p->f[r] = op->P[r] - p->z[r];
      }
      saltusi_mix(&p->mixing, mixed++, p->f, p->z);
      memcpy(op->P, p->z, bytes);
    }
    apply(op, eval, op->P);
  }
  memcpy(op->P, p->best, bytes);
  return best <= enough;
}

saltus_status saltusi_matrix_free_solve(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  if (op->warm.each == 0) {
    memset(op->P, 0, (size_t)op->count * sizeof(double));
    if (op->has_friction) {
      memset(op->slip, 0, (size_t)op->contacts * sizeof(double));
    }
  }
  if (op->held) {
    memset(op->P, 0, (size_t)op->count * sizeof(double));
  }
  bool solved = iterate(op, eval, op->tol > accepted ? op->tol : accepted);
  eval->work.contact_iterations += op->product.sweeps;
  if (solved) {
    return SALTUS_OK;
  }
  bool numbers = isfinite(saltusi_max_abs(op->count, op->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}
