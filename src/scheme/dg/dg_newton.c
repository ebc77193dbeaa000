/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_newton.c - Newton's iteration on the stage accelerations, for dampers and springs too stiff for the fixed point
 * (docs/theory/time-dg.md, 3).
 *
 *   J = I x M - h A x F_v - h^2 (AQ A) x F_q        at the start of the step, once
 *   a <- a + J^-1 (F - M a + G r)
 *
 * An impulse p changes stage velocities of D1+ by c_l M_1^-1 G_1 p, and so the forces there; the response of the stage
 * accelerations is  J^-1 [(c_l F_v + h (AQ c)_l F_q) M_1^-1 G_1].
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <string.h>

/* Largest number of unknowns of a dense J; larger systems use the fixed-point iteration. */
enum { UNKNOWNS_MAX = 1200 };

/* The fixed point contracts by about h |M^-1 F_v| + h^2 |M^-1 F_q|; above this Newton is cheaper. */
static const double stiff_from = 0.3;

void saltusi_dg_newton_layout(saltusi_dg* w, const saltus_system* sys, saltus_arena* arena) {
  assert(w != NULL && sys != NULL && arena != NULL);
  saltusi_dg_newton* newton = &w->newton;
  int nv = sys->dims.nv;
  int n = w->nodes * nv;
  newton->available = n <= UNKNOWNS_MAX;
  if (!newton->available) {
    return;
  }
  newton->F_q = SALTUS_PUSH2(arena, double, nv, nv);
  newton->F_v = SALTUS_PUSH2(arena, double, nv, nv);
  newton->J = SALTUS_PUSH2(arena, double, n, n);
  newton->pivot = SALTUS_PUSH(arena, int, n);
  newton->response = SALTUS_PUSH2(arena, double, w->nodes * w->dense_rows, n);
  newton->feedback = SALTUS_PUSH2(arena, double, w->dense_rows, n);
  newton->column = SALTUS_PUSH(arena, double, nv);
}

/* h |M^-1 F_v| + h^2 |M^-1 F_q|, largest column sum */
static double stiffness(const saltusi_dg* w, const saltusi_step* s) {
  const saltusi_dg_newton* newton = &w->newton;
  int nv = s->eval->sys.dims.nv;
  double largest = 0.0;
  for (int c = 0; c < nv; c++) {
    double sum = 0.0;
    for (int part = 0; part < 2; part++) {
      const double* F = part == 0 ? newton->F_v : newton->F_q;
      for (int r = 0; r < nv; r++) {
        newton->column[r] = F[r * nv + c];
      }
      saltusi_linear_solve(s->eval, saltusi_dg_mass(w, 0), newton->column);
      double scale = part == 0 ? s->h : s->h * s->h;
      for (int r = 0; r < nv; r++) {
        sum += scale * fabs(newton->column[r]);
      }
    }
    largest = fmax(largest, sum);
  }
  return largest;
}

saltus_status saltusi_dg_newton_prepare(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  saltusi_dg_newton* newton = &w->newton;
  int nv = s->eval->sys.dims.nv;
  int n = w->nodes * nv;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, w->v_start);
  saltus_status status =
      saltusi_linear_assemble(s->eval, saltusi_dg_mass(w, 0), &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force_q(s->eval, &at, newton->F_q);
  saltusi_force_v(s->eval, &at, newton->F_v);
  newton->stiff = stiffness(w, s) > stiff_from;
  memset(newton->J, 0, (size_t)n * (size_t)n * sizeof(double));
  double* unit = w->change;
  for (int c = 0; c < nv; c++) {
    memset(unit, 0, (size_t)nv * sizeof(double));
    unit[c] = 1.0;
    saltusi_linear_mass_times(s->eval, saltusi_dg_mass(w, 0), &at, unit, newton->column);
    for (int l = 0; l < w->nodes; l++) {
      for (int r = 0; r < nv; r++) {
        double* row = newton->J + (size_t)(l * nv + r) * (size_t)n;
        row[l * nv + c] += newton->column[r];
        for (int k = 0; k < w->nodes; k++) {
          row[k * nv + c] -= s->h * w->table.velocities[l][k] * newton->F_v[r * nv + c] +
                             s->h * s->h * w->table.squares[l][k] * newton->F_q[r * nv + c];
        }
      }
    }
  }
  if (!saltusi_lu_factor(n, newton->J, newton->pivot, 1e-15)) {
    return isfinite(saltusi_max_abs(nv * nv, newton->F_v)) ? SALTUS_RETRY_SMALLER
                                                           : SALTUS_RETRY_NAN;
  }
  s->eval->work.factorizations++;
  newton->active = true;
  return SALTUS_OK;
}

/* Response of all stage accelerations to forces along the active rows. */
static void respond(saltusi_dg* w, int nv) {
  saltusi_dg_newton* newton = &w->newton;
  int n = w->nodes * nv;
  for (int k = 0; k < w->nodes; k++) {
    for (int r = 0; r < w->held_rows; r++) {
      double* x = newton->response + (size_t)(k * w->dense_rows + r) * (size_t)n;
      memset(x, 0, (size_t)n * sizeof(double));
      saltusi_row_add(&w->at, k * w->row_max + r, 1.0, x + (size_t)k * (size_t)nv);
      saltusi_lu_solve(n, newton->J, newton->pivot, x);
    }
  }
}

static void feed_back(saltusi_dg* w, int nv, double h) {
  saltusi_dg_newton* newton = &w->newton;
  const saltusi_dg_tableau* table = &w->table;
  int n = w->nodes * nv;
  for (int r = 0; r < w->rows; r++) {
    const double* z = saltusi_dg_response(w, nv, w->nodes - 1, r);
    double* x = newton->feedback + (size_t)r * (size_t)n;
    for (int l = 0; l < w->nodes; l++) {
      double along = 0.0;
      for (int k = 0; k < w->nodes; k++) {
        along += table->positions[l][k] * table->impulse[k];
      }
      for (int i = 0; i < nv; i++) {
        x[l * nv + i] =
            table->impulse[l] * saltusi_dot(nv, newton->F_v + (size_t)i * (size_t)nv, z) +
            h * along * saltusi_dot(nv, newton->F_q + (size_t)i * (size_t)nv, z);
      }
    }
    saltusi_lu_solve(n, newton->J, newton->pivot, x);
  }
}

void saltusi_dg_newton_free(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  saltusi_dg_newton* newton = &w->newton;
  int nv = s->eval->sys.dims.nv;
  int n = w->nodes * nv;
  for (int l = 0; l < w->nodes; l++) {
    size_t from = (size_t)l * (size_t)nv;
    const saltus_point at =
        saltusi_at(s->eval, s->t + w->table.tau[l] * s->h,
                   w->Q + (size_t)l * (size_t)s->eval->sys.dims.nq, w->V + from);
    saltusi_linear_mass_times(s->eval, saltusi_dg_mass(w, l), &at, w->a + from, newton->column);
    for (int i = 0; i < nv; i++) {
      w->a_next[from + (size_t)i] = w->force[from + (size_t)i] - newton->column[i];
    }
  }
  saltusi_lu_solve(n, newton->J, newton->pivot, w->a_next);
  saltusi_add_scaled(n, 1.0, w->a, w->a_next);
  respond(w, nv);
  if (w->table.plus) {
    feed_back(w, nv, s->h);
  }
}
