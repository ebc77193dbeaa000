/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * implicit_slip.c - stages of implicit Runge-Kutta methods with friction opposite to the slip of each stage, in space.
 *
 * Friction -mu lambda_N U / |U| as a function of velocities is stiff where slip is slow, and Newton's iteration on
 * velocities then jumps across U = 0. With the directions d_i of the stages as separate unknowns the stages for given
 * directions are a smooth, non-stiff problem, and one angle remains for each stage and contact,
 *
 *   g_i = n_i . U_i = 0,   U_i . d_i >= 0         n_i = d_i rotated by a right angle
 *   dg_i/dphi_j = h a_ij n_i . T (da_j / dphi_j) - delta_ij d_i . U_i
 *
 * which is regular for U_i = 0, too: where slip begins from rest. Stages without a weight of their own (the first of
 * Lobatto's) have the direction of the start.
 */
#include "scheme/event/runge_kutta.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Angles have converged when their corrections are a few roundings, or no longer decrease below `stagnant`. Corrections
 * are limited to `turn_most`. */
static const double right_angle = 4e-16;
static const double stagnant = 1e-9;
static const double turn_most = 0.5;
/* Rotation in difference quotients of directions: it affects the rate of convergence alone. */
static const double small_turn = 1e-5;
enum { TURNS_MAX = 60, CONTACTS_FIRST = 8 };

void saltusi_rk_follow_layout(saltusi_rk_follow_work* f, const saltusi_tableau* method,
                              const saltusi_eval* eval, saltus_arena* arena) {
  assert(f != NULL && method != NULL && eval != NULL && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  size_t room = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_LAWS, CONTACTS_FIRST);
  f->most = room < (size_t)d->nc ? (int)room : d->nc;
  int n = method->stages * f->most;
  f->contact = SALTUS_PUSH(arena, int, f->most);
  f->direction = SALTUS_PUSH2(arena, double, method->stages, 2 * d->nc);
  f->slip = SALTUS_PUSH2(arena, double, method->stages, 2 * d->nc);
  f->turned = SALTUS_PUSH(arena, double, d->nv);
  f->tangents = SALTUS_PUSH2(arena, double, 2 * f->most, d->nv);
  f->J = SALTUS_PUSH2(arena, double, n, n);
  f->g = SALTUS_PUSH(arena, double, n);
  f->pivot = SALTUS_PUSH(arena, int, n);
}

bool saltusi_rk_follows(saltusi_rk* rk, const saltus_dims* dims, const saltusi_rk_start* start) {
  assert(rk != NULL && dims != NULL && start != NULL);
  saltusi_friction_modes* grips = start->held.grips;
  saltusi_rk_follow_work* f = &rk->follow;
  f->on = false;
  for (int i = 0; grips != NULL && f->direction != NULL && i < start->held.count; i++) {
    int key = start->held.keys[i];
    f->on = f->on || (grips->of[key].slips && grips->of[key].tangents == 2);
    for (int s = 0; s < rk->method->stages; s++) {
      double* d = f->direction + 2 * (size_t)(s * dims->nc + key);
      memcpy(d, grips->of[key].direction, 2 * sizeof(double));
    }
  }
  if (grips != NULL) {
    grips->given = f->on ? f->direction : NULL;
  }
  return f->on;
}

/* One problem. */
typedef struct implicit_slip_problem {
  saltusi_rk* rk;
  saltusi_eval* eval;
  const saltusi_rk_start* start;
  double h;
  int contacts; /* that slip in space */
} implicit_slip_problem;

static double* direction_of(const implicit_slip_problem* p, int stage, int c) {
  int key = p->start->held.keys[p->rk->follow.contact[c]];
  return p->rk->follow.direction + 2 * (size_t)(stage * p->eval->sys.dims.nc + key);
}

static const double* slip_of(const implicit_slip_problem* p, int stage, int c) {
  int place = p->rk->follow.contact[c];
  return p->rk->follow.slip + 2 * (size_t)(stage * p->eval->sys.dims.nc + place);
}

/* Whether a stage has velocities of its own. */
static bool is_free(const implicit_slip_problem* p, int stage) {
  return p->rk->method->c[stage] > 0.0;
}

/* Tangents of the contacts at the start, as dense rows. */
static void write_tangents(const implicit_slip_problem* p) {
  const saltus_system* sys = &p->eval->sys;
  saltusi_operator* op = &p->rk->held;
  int nv = sys->dims.nv;
  saltus_point at = saltusi_at(p->eval, p->start->t, p->start->q, p->start->v);
  for (int c = 0; c < p->contacts; c++) {
    int key = p->start->held.keys[p->rk->follow.contact[c]];
    int row = op->count; /* spare ones */
    saltusi_rows_contact(sys, &at, key, 3, &op->rows, row);
    for (int k = 0; k < 2; k++) {
      double* out = p->rk->follow.tangents + (size_t)(2 * c + k) * (size_t)nv;
      for (int i = 0; i < nv; i++) {
        out[i] = saltusi_row_entry(&op->rows, row + 1 + k, i);
      }
    }
  }
}

static void turn(double d[2], double angle) {
  double x = d[0] * cos(angle) - d[1] * sin(angle);
  d[1] = d[0] * sin(angle) + d[1] * cos(angle);
  d[0] = x;
}

/* Column of J of the angle of contact c in stage j. */
static saltus_status fill_column(const implicit_slip_problem* p, int j, int c) {
  saltusi_rk_follow_work* f = &p->rk->follow;
  const saltusi_tableau* m = p->rk->method;
  int nv = p->eval->sys.dims.nv;
  int n = m->stages * p->contacts;
  int column = j * p->contacts + c;
  if (!is_free(p, j)) {
    for (int r = 0; r < n; r++) {
      f->J[r * n + column] = r == column ? 1.0 : 0.0;
    }
    return SALTUS_OK;
  }
  double* d = direction_of(p, j, c);
  const double was[2] = {d[0], d[1]};
  turn(d, small_turn);
  saltus_status status = saltusi_rk_stage(p->rk, p->eval, p->start, p->h, j, f->turned);
  memcpy(d, was, sizeof was);
  saltusi_add_scaled(nv, -1.0, p->rk->K + (size_t)j * (size_t)nv, f->turned);
  for (int b = 0; b < p->contacts; b++) {
    const double* T = f->tangents + 2 * (size_t)b * (size_t)nv;
    double u0 = saltusi_dot(nv, T, f->turned) / small_turn;
    double u1 = saltusi_dot(nv, T + nv, f->turned) / small_turn;
    for (int i = 0; i < m->stages; i++) {
      const double* e = direction_of(p, i, b);
      f->J[(i * p->contacts + b) * n + column] =
          is_free(p, i) ? p->h * m->a[i][j] * (e[0] * u1 - e[1] * u0) : 0.0;
    }
  }
  const double* u = slip_of(p, j, c);
  f->J[column * n + column] -= was[0] * u[0] + was[1] * u[1];
  return status;
}

/* g of all angles at the present stages; returns the largest. */
static double measure(const implicit_slip_problem* p) {
  double* g = p->rk->follow.g;
  for (int i = 0; i < p->rk->method->stages; i++) {
    for (int c = 0; c < p->contacts; c++) {
      const double* d = direction_of(p, i, c);
      const double* u = slip_of(p, i, c);
      g[i * p->contacts + c] = is_free(p, i) ? d[0] * u[1] - d[1] * u[0] : 0.0;
    }
  }
  return saltusi_max_abs(p->rk->method->stages * p->contacts, g);
}

/* Whether slip is opposite to friction, up to rounding. */
static bool forward(const implicit_slip_problem* p, double slow) {
  for (int i = 0; i < p->rk->method->stages; i++) {
    for (int c = 0; c < p->contacts; c++) {
      const double* d = direction_of(p, i, c);
      const double* u = slip_of(p, i, c);
      if (d[0] * u[0] + d[1] * u[1] < -slow) {
        return false;
      }
    }
  }
  return true;
}

/* Newton's step for the angles into g; returns the largest. */
static saltus_status correct(const implicit_slip_problem* p, double* largest) {
  saltusi_rk_follow_work* f = &p->rk->follow;
  int n = p->rk->method->stages * p->contacts;
  saltus_status status = SALTUS_OK;
  for (int column = 0; column < n && status == SALTUS_OK; column++) {
    status = fill_column(p, column / p->contacts, column % p->contacts);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (!saltusi_lu_factor(n, f->J, f->pivot, 1e-15)) {
    return SALTUS_RETRY_SMALLER;
  }
  saltusi_lu_solve(n, f->J, f->pivot, f->g);
  *largest = saltusi_max_abs(n, f->g);
  double part = fmin(1.0, turn_most / *largest);
  for (int i = 0; i < n; i++) {
    turn(direction_of(p, i / p->contacts, i % p->contacts), -part * f->g[i]);
  }
  return isfinite(*largest) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

saltus_status saltusi_rk_follow(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                                double h, saltusi_rk_residual_fn* stages) {
  assert(rk != NULL && eval != NULL && start != NULL && h > 0.0 && stages != NULL);
  saltusi_rk_follow_work* f = &rk->follow;
  implicit_slip_problem p = {.rk = rk, .eval = eval, .start = start, .h = h};
  for (int i = 0; i < start->held.count; i++) {
    const saltusi_friction_mode* grip = &start->held.grips->of[start->held.keys[i]];
    if (grip->slips && grip->tangents == 2) {
      if (p.contacts == f->most) {
        return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_LAWS, (size_t)f->most + 1);
      }
      f->contact[p.contacts++] = i;
    }
  }
  write_tangents(&p);
  int nv = eval->sys.dims.nv;
  double rounding = 4.0 * DBL_EPSILON * saltusi_max_abs(nv, start->v);
  double before = INFINITY;
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < TURNS_MAX && status == SALTUS_OK; k++) {
    double largest = 0.0;
    status = stages(rk, eval, start, h);
    if (status != SALTUS_OK) {
      break;
    }
    if (before <= right_angle) {
      break;
    }
    if (measure(&p) <= rounding) { /* converged to rounding */
      before = 0.0;
      break;
    }
    status = correct(&p, &largest);
    bool arrived = largest >= 0.5 * before && largest <= stagnant;
    before = arrived ? 0.0 : largest; /* final evaluation of the stages */
  }
  status = status == SALTUS_OK && before > right_angle ? SALTUS_RETRY_SMALLER : status;
  f->on = false;
  start->held.grips->given = NULL;
  return status == SALTUS_OK && !forward(&p, start->held.grips->slow) ? SALTUS_RETRY_SMALLER
                                                                      : status;
}
