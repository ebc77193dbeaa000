/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "system/displacement.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_displacement_layout(saltusi_displacement_map* w, const saltus_system* sys,
                                 saltus_arena* arena) {
  assert(w != NULL && sys != NULL && arena != NULL);
  w->maps = saltusi_has_maps(sys);
  w->own_known = false;
  int nq = w->maps ? sys->dims.nq : 0;
  int nv = w->maps ? sys->dims.nv : 0;
  w->own = SALTUS_PUSH(arena, int, nv);
  w->named = SALTUS_PUSH(arena, int, nq);
  w->beside = SALTUS_PUSH(arena, double, nq);
  w->rate = SALTUS_PUSH(arena, double, nq);
  w->apart = SALTUS_PUSH(arena, double, nv);
  w->slope = SALTUS_PUSH(arena, double, nv);
}

/* Evaluates the rate at test velocities v_i = i + 1/2, and again at others. If dq_k = v_i both times, then q_k' = v_i. */
static void probe(saltusi_displacement_map* w, const saltus_system* sys, const double* q,
                  bool again) {
  int nv = sys->dims.nv;
  for (int i = 0; i < nv; i++) {
    w->apart[i] = again ? nv - i + 0.25 : i + 0.5;
  }
  saltusi_rate(sys, q, w->apart, w->rate);
  for (int k = 0; k < sys->dims.nq; k++) {
    double i = again ? nv + 0.25 - w->rate[k] : w->rate[k] - 0.5;
    bool whole = i >= 0.0 && i < nv && i == floor(i);
    w->named[k] = whole && (!again || w->named[k] == (int)i) ? (int)i : -1;
  }
}

/* A dependent coordinate, such as the angle of a joint about an axis of its body, does not contribute to the
 * displacement. */
static void leave_copies(saltusi_displacement_map* w, const saltus_system* sys, const double* q) {
  memcpy(w->beside, q, (size_t)sys->dims.nq * sizeof(double));
  for (int i = 0; i < sys->dims.nv; i++) {
    if (w->own[i] >= 0) {
      w->beside[w->own[i]] += 1.0;
    }
  }
  saltusi_difference(sys, q, w->beside, w->apart);
  for (int i = 0; i < sys->dims.nv; i++) {
    w->own[i] = fabs(w->apart[i] - 1.0) < 0.5 ? w->own[i] : -1;
  }
}

void saltusi_displacement_find_own(saltusi_displacement_map* w, const saltus_system* sys,
                                   const double* q) {
  assert(w != NULL && sys != NULL && q != NULL);
  if (!w->maps || w->own_known) {
    return;
  }
  probe(w, sys, q, false);
  probe(w, sys, q, true);
  for (int i = 0; i < sys->dims.nv; i++) {
    w->own[i] = -1;
  }
  for (int k = sys->dims.nq - 1; k >= 0; k--) { /* the first one is taken */
    if (w->named[k] >= 0) {
      w->own[w->named[k]] = k;
    }
  }
  leave_copies(w, sys, q);
  w->own_known = true;
}

/* Changes are scaled to 2^-10 before the difference is computed: small enough for linearity to 1e-6, large enough
 * relative to the rounding of q. */
void saltusi_displacement_of_change(const saltusi_displacement_map* w, const saltus_system* sys,
                                    const double* q, double* x) {
  assert(w != NULL && sys != NULL && q != NULL && x != NULL);
  if (!w->maps) {
    return;
  }
  double size = saltusi_max_abs(sys->dims.nq, x);
  if (!(size > 1e-200) || !isfinite(size)) { /* zero, or not finite */
    return;
  }
  double stretch = ldexp(1.0, -10 - ilogb(size));
  for (int k = 0; k < sys->dims.nq; k++) {
    w->beside[k] = q[k] + stretch * x[k];
  }
  saltusi_difference(sys, q, w->beside, w->apart);
  for (int i = 0; i < sys->dims.nv; i++) {
    x[i] = w->apart[i] / stretch;
  }
}

/* Velocities that are varied together: the j-th of every block with rotations. */
static bool choose(const saltusi_displacement_map* w, const saltus_system* sys, int j,
                   double* unit) {
  const saltus_structure* s = sys->structure;
  const int whole[2] = {0, sys->dims.nv};
  const int* start = s != NULL ? s->start : whole;
  bool any = false;
  memset(unit, 0, (size_t)sys->dims.nv * sizeof(double));
  for (int b = 0; b < (s != NULL ? s->blocks : 1); b++) {
    int i = start[b] + j;
    if (i < start[b + 1] && saltusi_displacement_turns(w, i)) {
      unit[i] = 1.0;
      any = true;
    }
  }
  return any;
}

/* slope += derivative of the displacement between two positions, one of which moves along the unit vector. */
static void add_slope(const saltusi_displacement_map* w, const saltus_system* sys,
                      const double* from, const double* to, const double* unit) {
  /* rad; the truncation error is of its fourth power and of the square of the rotation in the step, rounding 1e-14 */
  const double s = 0.02;
  static const double weight[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  static const double place[4] = {-2.0, -1.0, 1.0, 2.0};
  for (int k = 0; k < 4; k++) {
    saltusi_advance(sys, to, unit, place[k] * s, w->beside);
    saltusi_difference(sys, from, w->beside, w->apart);
    saltusi_add_scaled(sys->dims.nv, 0.5 * weight[k] / s, w->apart, w->slope);
  }
}

void saltusi_displacement_momentum_by_differences(const saltusi_displacement_map* w,
                                                  const saltus_system* sys,
                                                  const saltusi_displacement* way, const double* p,
                                                  double* y) {
  assert(w != NULL && w->own_known && sys != NULL && way != NULL && p != NULL && y != NULL &&
         y != p);
  const saltus_structure* s = sys->structure;
  int nv = sys->dims.nv;
  const int whole[2] = {0, nv};
  const int* start = s != NULL ? s->start : whole;
  int blocks = s != NULL ? s->blocks : 1;
  int most = 0;
  for (int b = 0; b < blocks; b++) {
    int size = start[b + 1] - start[b];
    most = size > most ? size : most;
  }
  memcpy(y, p, (size_t)nv * sizeof(double));
  for (int j = 0; j < most; j++) {
    double* unit = w->rate; /* nq >= nv */
    if (!choose(w, sys, j, unit)) {
      continue;
    }
    memset(w->slope, 0, (size_t)nv * sizeof(double));
    add_slope(w, sys, way->q0, way->q1, unit);
    add_slope(w, sys, way->q1, way->q0, unit);
    for (int b = 0; b < blocks; b++) {
      if (start[b] + j < start[b + 1] && unit[start[b] + j] != 0.0) {
        y[start[b] + j] = saltusi_dot(start[b + 1] - start[b], p + start[b], w->slope + start[b]);
      }
    }
  }
}

void saltusi_displacement_momentum(saltusi_displacement_map* w, const saltus_system* sys,
                                   const saltusi_displacement* way, const double* p, double* y) {
  assert(w != NULL && sys != NULL && way != NULL && p != NULL && y != NULL);
  if (sys->ops->turn_momentum != NULL) {
    sys->ops->turn_momentum(sys->self, way->d, p, y);
    return;
  }
  saltusi_displacement_find_own(w, sys, way->q0);
  saltusi_displacement_momentum_by_differences(w, sys, way, p, y);
}
