/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * force_jumps.c - errors of steps in which a force jumps.
 *
 * An error estimate compares weighted sums of forces at few points of a step and does not detect a jump between two of
 * them. Switching functions s(t,q,v) of the system change sign at jumps. For each that changes its sign within a step:
 *
 *   theta*     the change of sign along  q(theta) = q_0 + theta (q_1 - q_0),  v(theta) likewise, by bisection
 *   dF         F(theta* +) - F(theta* -)
 *   error      |dv| <= h |M^-1 sum |dF||
 */
#include "sim/control.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { BISECTIONS = 60 };

static int switch_count(const saltus_system* sys) {
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  return ops != NULL && ops->along != NULL && ops->switches != NULL ? ops->switches(sys->self) : 0;
}

void saltusi_force_jumps_layout(saltusi_force_jumps* jumps, const saltus_system* sys,
                                saltus_arena* arena) {
  assert(jumps != NULL && sys != NULL);
  const saltus_dims* d = &sys->dims;
  jumps->count = switch_count(sys);
  if (jumps->count == 0) {
    return;
  }
  jumps->q = SALTUS_PUSH(arena, double, d->nq);
  jumps->v = SALTUS_PUSH(arena, double, d->nv);
  jumps->F = SALTUS_PUSH2(arena, double, 2, d->nv);
  jumps->sum = SALTUS_PUSH(arena, double, d->nv);
  jumps->q_point = SALTUS_PUSH(arena, saltus_interval, d->nq);
  jumps->v_point = SALTUS_PUSH(arena, saltus_interval, d->nv);
  jumps->scratch =
      SALTUS_PUSH(arena, double, sys->ops->enclosure->bytes(sys->self) / sizeof(double) + 1);
  saltusi_linear_layout(&jumps->mass, sys, arena);
}

/* The point theta of the chord of the step. */
static saltus_point point_at(saltus_sim* sim, double h, double theta) {
  saltusi_force_jumps* j = &sim->control->jumps;
  const saltus_dims* d = &sim->sys.dims;
  for (int i = 0; i < d->nq; i++) {
    j->q[i] = sim->now.q[i] + theta * (sim->next.q[i] - sim->now.q[i]);
  }
  for (int i = 0; i < d->nv; i++) {
    j->v[i] = sim->now.v[i] + theta * (sim->next.v[i] - sim->now.v[i]);
  }
  saltusi_normalise(&sim->sys, j->q);
  return saltusi_sim_at(sim, sim->now.t + theta * h, j->q, j->v);
}

/* +1 or -1 where the sign of switching function i is certain, else 0. */
static int sign_at(saltus_sim* sim, int i, double h, double theta) {
  saltusi_force_jumps* j = &sim->control->jumps;
  const saltus_dims* d = &sim->sys.dims;
  const saltus_point at = point_at(sim, h, theta);
  const saltus_interval t = {at.t, at.t};
  for (int k = 0; k < d->nq; k++) {
    j->q_point[k] = (saltus_interval){at.q[k], at.q[k]};
  }
  for (int k = 0; k < d->nv; k++) {
    j->v_point[k] = (saltus_interval){at.v[k], at.v[k]};
  }
  const saltus_course course = {
      .order = 0, .t = &t, .q = j->q_point, .v = j->v_point, .scratch = j->scratch};
  saltus_interval s;
  sim->sys.ops->enclosure->along(sim->sys.self, &course, SALTUS_QUANTITY_SWITCH, i, &s);
  return s.lo > 0.0 ? 1 : s.hi < 0.0 ? -1 : 0;
}

static void force_at(saltus_sim* sim, double h, double theta, double* F) {
  const saltus_point at = point_at(sim, h, theta);
  saltusi_force(&sim->ledger_room.eval, &at, F);
}

/* Adds |F(theta* +) - F(theta* -)| at the change of sign of function i; false: it does not change its sign. */
static bool add_jump(saltus_sim* sim, int i, double h) {
  saltusi_force_jumps* j = &sim->control->jumps;
  const int nv = sim->sys.dims.nv;
  const int before = sign_at(sim, i, h, 0.0);
  if (sign_at(sim, i, h, 1.0) == before) {
    return false;
  }
  double lo = 0.0, hi = 1.0;
  for (int k = 0; k < BISECTIONS; k++) {
    const double m = 0.5 * (lo + hi);
    *(sign_at(sim, i, h, m) == before ? &lo : &hi) = m;
  }
  force_at(sim, h, lo, j->F);
  force_at(sim, h, hi, j->F + nv);
  for (int k = 0; k < nv; k++) {
    j->sum[k] += fabs(j->F[nv + k] - j->F[k]);
  }
  return true;
}

saltus_status saltusi_force_jumps_error(saltus_sim* sim, double h, double* error) {
  assert(sim != NULL && sim->control != NULL && error != NULL);
  saltusi_force_jumps* j = &sim->control->jumps;
  const saltus_control_options* o = &sim->control->options;
  const int nv = sim->sys.dims.nv;
  bool any = false;
  for (int i = 0; i < j->count; i++) {
    if (!any) {
      memset(j->sum, 0, (size_t)nv * sizeof(double));
    }
    any = add_jump(sim, i, h) || any;
  }
  *error = 0.0;
  if (!any) {
    return SALTUS_OK;
  }
  saltusi_eval* eval = &sim->ledger_room.eval;
  const saltus_point at = point_at(sim, h, 1.0);
  const saltus_status status = saltusi_linear_assemble(eval, &j->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_linear_solve(eval, &j->mass, j->sum);
  for (int i = 0; i < nv; i++) {
    const double size = fmax(fabs(sim->now.v[i]), fabs(sim->next.v[i]));
    *error = fmax(*error, h * fabs(j->sum[i]) / fmax(o->atol + o->rtol * size, DBL_MIN));
  }
  return SALTUS_OK;
}
