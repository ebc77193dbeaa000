/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * linear.c - dense effective mass, and dispatch to the block form and to user-defined linear algebra.
 */
#include "system/linear.h"

#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>

/* A pivot below this fraction of its column is rounding: the mass matrix counts as singular. */
static const double singular_pivot = 1e-14;

void saltusi_linear_layout(saltusi_linear* linear, const saltus_system* sys, saltus_arena* arena) {
  assert(sys != NULL && arena != NULL);
  int nv = sys->dims.nv;
  linear->kept = false;
  linear->diagonal = false;
  if (sys->ops->linear != NULL) {
    linear->kind = SALTUSI_LINEAR_OWN;
    linear->own = saltus_arena_push(arena, sys->ops->linear->bytes(sys->self), 1, SALTUS_ALIGNMENT);
    linear->inverse = SALTUS_PUSH(arena, double, sys->ops->linear->diagonal ? nv : 0);
    return;
  }
  if (sys->structure != NULL && (sys->structure->blocks > 1 || sys->ops->mass == NULL)) {
    linear->kind = SALTUSI_LINEAR_BLOCKS;
    saltusi_linear_blocks_layout(&linear->blocks, sys, arena);
    return;
  }
  linear->kind = SALTUSI_LINEAR_DENSE;
  linear->M = SALTUS_PUSH2(arena, double, nv, nv);
  linear->A = SALTUS_PUSH2(arena, double, nv, nv);
  linear->J = SALTUS_PUSH2(arena, double, nv, nv);
  linear->pivot = SALTUS_PUSH(arena, int, nv);
}

static bool is_diagonal(int n, const double* A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (i != j && A[i * n + j] != 0.0) {
        return false;
      }
    }
  }
  return true;
}

static bool diagonal_is_sound(int n, const double* A) {
  for (int i = 0; i < n; i++) {
    double entry = A[i * n + i];
    if (entry == 0.0 || !isfinite(entry)) {
      return false;
    }
  }
  return true;
}

static void add_jacobians(saltusi_eval* eval, saltusi_linear* linear, const saltus_point* at) {
  int nv = eval->sys.dims.nv;
  if ((eval->sys.traits & SALTUS_FREE_FORCE) != 0) {
    return;
  }
  if (linear->fv != 0.0) {
    saltusi_force_v(eval, at, linear->J);
    saltusi_add_scaled(nv * nv, linear->fv, linear->J, linear->A);
  }
  if (linear->fq != 0.0) {
    saltusi_force_q(eval, at, linear->J);
    saltusi_add_scaled(nv * nv, linear->fq, linear->J, linear->A);
  }
}

/* Jacobians by differences are constant only up to rounding: if they were reused, results would depend on where a run
 * was started or resumed. */
static bool same_for_all_points(const saltus_system* sys, const saltusi_linear* linear) {
  bool exact = sys->ops->blocks != NULL || ((linear->fv == 0.0 || sys->ops->force_v != NULL) &&
                                            (linear->fq == 0.0 || sys->ops->force_q != NULL));
  bool linear_force = (sys->traits & SALTUS_LINEAR_FORCE) != 0;
  bool free_force = (sys->traits & SALTUS_FREE_FORCE) != 0;
  return (sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
         (free_force || (linear_force && (exact || sys->ops->linear != NULL)));
}

bool saltusi_linear_smooth(const saltus_system* sys) {
  assert(sys != NULL);
  enum { BODY = 6 };
  return sys->ops->linear == NULL && sys->ops->mass != NULL && sys->ops->blocks != NULL &&
         sys->structure->blocks == 1 && sys->dims.nv > BODY;
}

static saltus_status assemble_dense(saltusi_eval* eval, saltusi_linear* linear,
                                    const saltus_point* at) {
  const saltus_system* sys = &eval->sys;
  int nv = sys->dims.nv;
  sys->ops->mass(sys->self, at, linear->M);
  for (int i = 0; i < nv; i++) {
    if (linear->M[i * (nv + 1)] < 0.0) {
      saltus_fail(at, "the mass of velocity %d is %g at t = %.10g s, must be positive", i + 1,
                  linear->M[i * (nv + 1)], at->t);
      return SALTUS_ERR_SINGULAR;
    }
  }
  if (saltusi_linear_smooth(sys) && (linear->fv != 0.0 || linear->fq != 0.0)) {
    sys->ops->blocks(sys->self, at, 0.0, linear->fv, linear->fq, linear->A);
    saltusi_add_scaled(nv * nv, linear->m, linear->M, linear->A);
  } else {
    for (int k = 0; k < nv * nv; k++) {
      linear->A[k] = linear->m * linear->M[k];
    }
    add_jacobians(eval, linear, at);
  }
  if (!isfinite(saltusi_long_max_abs(nv * nv, linear->A))) {
    /* forces that are NaN are not an error of the mass matrix */
    bool mass = isfinite(saltusi_max_abs(nv * nv, linear->M));
    return mass ? SALTUS_RETRY_NAN : SALTUS_ERR_SINGULAR;
  }
  linear->diagonal = is_diagonal(nv, linear->A);
  bool sound = linear->diagonal ? diagonal_is_sound(nv, linear->A)
                                : saltusi_lu_factor(nv, linear->A, linear->pivot, singular_pivot);
  return sound ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

saltus_status saltusi_linear_renew_mass(saltusi_linear* linear, const saltus_system* sys,
                                        const saltus_point* at) {
  assert(linear != NULL && sys != NULL && linear->kind == SALTUSI_LINEAR_DENSE);
  sys->ops->mass(sys->self, at, linear->M);
  return SALTUS_OK;
}

static saltus_status assemble_own(const saltus_system* sys, saltusi_linear* linear,
                                  const saltus_point* at) {
  const saltus_linear_ops* own = sys->ops->linear;
  saltus_status status =
      own->assemble(sys->self, linear->own, at, linear->m, linear->fv, linear->fq);
  linear->diagonal = own->diagonal;
  for (int i = 0; status == SALTUS_OK && own->diagonal && i < sys->dims.nv; i++) {
    linear->inverse[i] = 1.0;
  }
  if (status == SALTUS_OK && own->diagonal) {
    own->solve(sys->self, linear->own, linear->inverse);
  }
  return status;
}

saltus_status saltusi_linear_renew(saltusi_eval* eval, saltusi_linear* linear,
                                   const saltus_point* at, double m, double fv, double fq) {
  assert(eval != NULL && linear != NULL && at != NULL);
  const saltus_system* sys = &eval->sys;
  linear->kept = false;
  linear->m = m;
  linear->fv = fv;
  linear->fq = fq;
  eval->work.factorizations++;
  saltus_status status;
  if (linear->kind == SALTUSI_LINEAR_DENSE) {
    status = assemble_dense(eval, linear, at);
  } else if (linear->kind == SALTUSI_LINEAR_OWN) {
    status = assemble_own(sys, linear, at);
  } else {
    status = saltusi_linear_blocks_assemble(&linear->blocks, eval, at, (const double[]){m, fv, fq});
    linear->diagonal = linear->blocks.form == SALTUSI_UNCOUPLED;
  }
  linear->kept = status == SALTUS_OK && same_for_all_points(sys, linear);
  return status;
}

void saltusi_linear_solve(const saltusi_eval* eval, const saltusi_linear* linear, double* x) {
  assert(eval != NULL && linear != NULL);
  const saltus_system* sys = &eval->sys;
  int nv = sys->dims.nv;
  if (linear->kind == SALTUSI_LINEAR_OWN) {
    sys->ops->linear->solve(sys->self, linear->own, x);
  } else if (linear->kind == SALTUSI_LINEAR_BLOCKS) {
    saltusi_linear_blocks_solve(&linear->blocks, x);
  } else if (linear->diagonal) {
    for (int i = 0; i < nv; i++) {
      x[i] /= linear->A[i * nv + i];
    }
  } else {
    saltusi_lu_solve(nv, linear->A, linear->pivot, x);
  }
}

bool saltusi_linear_diagonal(const saltusi_eval* eval, const saltusi_linear* linear, double* d) {
  assert(eval != NULL && linear != NULL);
  if (!linear->diagonal) {
    return false;
  }
  for (int i = 0; i < eval->sys.dims.nv; i++) {
    d[i] = 1.0;
  }
  saltusi_linear_solve(eval, linear, d);
  return true;
}

bool saltusi_linear_coupled(const saltusi_linear* linear) {
  assert(linear != NULL);
  return linear->kind == SALTUSI_LINEAR_BLOCKS ? linear->blocks.form == SALTUSI_BLOCKS_COUPLED
                                               : !linear->diagonal;
}

/* Without a structure every velocity may be coupled with every other. */
static int solve_row_full(const saltusi_eval* eval, const saltusi_linear* linear, int width,
                          const int* column, const double* entries, int* out_column, double* out) {
  int nv = eval->sys.dims.nv;
  for (int i = 0; i < nv; i++) {
    out_column[i] = i;
    out[i] = 0.0;
  }
  for (int k = 0; k < width; k++) {
    out[column != NULL ? column[k] : k] = entries[k];
  }
  saltusi_linear_solve(eval, linear, out);
  return nv;
}

int saltusi_linear_solve_row(const saltusi_eval* eval, const saltusi_linear* linear, int width,
                             const int* column, const double* entries, int* out_column,
                             double* out) {
  const saltus_system* sys = &eval->sys;
  assert(width >= 0 && width <= sys->dims.nv && (column != NULL || width == sys->dims.nv));
  if (linear->kind == SALTUSI_LINEAR_BLOCKS) {
    return saltusi_linear_blocks_solve_row(&linear->blocks, width, column, entries, out_column,
                                           out);
  }
  if (linear->kind == SALTUSI_LINEAR_OWN && sys->ops->linear->solve_row != NULL && column != NULL) {
    return sys->ops->linear->solve_row(sys->self, linear->own, width, column, entries, out_column,
                                       out);
  }
  if (!linear->diagonal) {
    return solve_row_full(eval, linear, width, column, entries, out_column, out);
  }
  for (int k = 0; k < width; k++) {
    const int i = column != NULL ? column[k] : k;
    out_column[k] = i;
    out[k] = linear->kind == SALTUSI_LINEAR_OWN ? entries[k] * linear->inverse[i]
                                                : entries[k] / linear->A[i * (sys->dims.nv + 1)];
  }
  return width;
}

int saltusi_linear_row_workspace(const saltusi_linear* linear, const saltus_system* sys,
                                 int width) {
  assert(linear != NULL && sys != NULL);
  if (linear->kind == SALTUSI_LINEAR_BLOCKS) {
    return saltusi_linear_blocks_row_workspace(&linear->blocks, width);
  }
  return linear->kind == SALTUSI_LINEAR_OWN && sys->ops->linear->diagonal ? width : sys->dims.nv;
}

void saltusi_linear_mass_times(const saltusi_eval* eval, const saltusi_linear* linear,
                               const saltus_point* at, const double* x, double* y) {
  assert(eval != NULL && linear != NULL && at != NULL);
  const saltus_system* sys = &eval->sys;
  if (linear->kind == SALTUSI_LINEAR_OWN) {
    sys->ops->linear->mass_times(sys->self, at, x, y);
  } else if (linear->kind == SALTUSI_LINEAR_BLOCKS) {
    saltusi_structure_times(linear->blocks.structure, linear->blocks.M, x, y);
  } else {
    saltusi_matrix_times(sys->dims.nv, linear->M, x, y);
  }
}
