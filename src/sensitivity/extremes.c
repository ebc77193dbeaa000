/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * extremes.c - the highest and lowest value of every output along a run, and their derivatives
 * (docs/theory/sensitivity.md, 5): at a stationary point of an output y_z s + y_p of that instant;
 * at an event the derivative along its moving time.
 */
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SAMPLES = 256, ROUNDS = 3 };

bool saltusi_sensitivity_extremes_make(saltus_sensitivity* s) {
  assert(s != NULL);
  const size_t m = (size_t)s->vary.integrands, wide = 2U + (size_t)s->vary.count;
  for (int e = 0; e < 2; e++) {
    s->extreme[e] = SALTUSI_TAKE(&s->pool, double, wide* m + 1);
    for (size_t i = 0; i < wide * m && s->extreme[e] != NULL; i++) {
      s->extreme[e][i] = (double)NAN;
    }
  }
  s->extreme_slope = SALTUSI_TAKE(&s->pool, double, m + 1);
  s->extreme_now = SALTUSI_TAKE(&s->pool, double, m + 1);
  s->extreme_moved = SALTUSI_TAKE(&s->pool, double, s->vary.n);
  s->sampled = SALTUSI_TAKE(&s->pool, double, (SAMPLES + 1U) * m + 1);
  s->turns = SALTUSI_TAKE(&s->pool, double, 2 * m + 1);
  return !s->pool.failed;
}

static bool better(const double* best, int k, int e, double value) {
  return e == 0 ? !(best[k] >= value) && isfinite(value) : !(best[k] <= value) && isfinite(value);
}

void saltusi_sensitivity_extremes_see(saltus_sensitivity* s, double t, const double* z,
                                      const double* columns, const double* dt) {
  assert(s != NULL && z != NULL && columns != NULL);
  saltusi_vary* v = &s->vary;
  const int m = v->integrands;
  const saltusi_phase_point at = {.t = t, .q = z, .v = z + v->nq};
  if (m == 0 || !saltusi_sensitivity_output_values(v, s->def.system, at, s, s->extreme_now)) {
    return;
  }
  bool taken[2] = {false, false};
  for (int k = 0; k < 2 * m; k++) {
    taken[k % 2] = taken[k % 2] || better(s->extreme[k % 2], k / 2, k % 2, s->extreme_now[k / 2]);
  }
  for (int j = 0; j < v->count && (taken[0] || taken[1]); j++) {
    const saltusi_along along = {.at = at,
                                 .s = columns + (ptrdiff_t)j * v->n,
                                 .tau = dt != NULL ? dt[j] : 0.0,
                                 .direction = j};
    const bool good =
        saltusi_vary_slope(v, saltusi_sensitivity_output_values, s, &along, m, s->extreme_slope);
    for (int k = 0; k < 2 * m; k++) {
      double* best = s->extreme[k % 2];
      if (better(best, k / 2, k % 2, s->extreme_now[k / 2])) {
        best[(2 + j) * m + k / 2] = good ? s->extreme_slope[k / 2] : (double)NAN;
      }
    }
  }
  for (int k = 0; k < 2 * m; k++) {
    double* best = s->extreme[k % 2];
    if (better(best, k / 2, k % 2, s->extreme_now[k / 2])) {
      best[k / 2] = s->extreme_now[k / 2];
      best[m + k / 2] = t;
    }
  }
}

/* One output of the run at a time between two events; NaN: undefined. */
static double look(saltus_sensitivity* s, double t, int k) {
  saltusi_vary* v = &s->vary;
  double* z = s->extreme_moved;
  if (saltus_integrator_dense(s->run, t, SALTUS_RIGHT, z, z + v->nq) != SALTUS_OK ||
      !saltusi_sensitivity_output_values(v, s->def.system,
                                         (saltusi_phase_point){.t = t, .q = z, .v = z + v->nq}, s,
                                         s->extreme_now)) {
    return (double)NAN;
  }
  return s->extreme_now[k];
}

/* Vertex of parabolas through three values, iterated. */
static double refine(saltus_sensitivity* s, double a, double b, int k) {
  double t = 0.5 * (a + b), h = 0.25 * (b - a);
  for (int i = 0; i < ROUNDS; i++) {
    t = fmin(fmax(t, a + h), b - h);
    const double low = look(s, t - h, k), here = look(s, t, k), high = look(s, t + h, k);
    const double bend = high - 2.0 * here + low;
    const double move = bend != 0.0 ? -0.5 * h * (high - low) / bend : 0.0;
    if (!isfinite(move)) {
      return (double)NAN;
    }
    t = fmin(fmax(t + move, a), b);
    h *= i == 0 ? 0.1 : 0.2;
  }
  return t;
}

/* Time of the highest (e = 0) or lowest stationary point of output k between two events, if it
 * exceeds the extreme so far; NaN: none. */
static double turn_of(saltus_sensitivity* s, double from, double to, int k, int e) {
  const int m = s->vary.integrands;
  const double sign = e == 0 ? 1.0 : -1.0, step = (to - from) / SAMPLES;
  int best = 0;
  for (int i = 1; i <= SAMPLES; i++) {
    best = sign * s->sampled[i * m + k] > sign * s->sampled[best * m + k] ? i : best;
  }
  const double value = s->sampled[best * m + k];
  double a = from + step * (best - 1), b = from + step * (best + 1);
  if (best == 0 || best == SAMPLES) { /* at an end: only if values increase towards the interior */
    const double edge = best == 0 ? from : to, inner = best == 0 ? edge + step : edge - step;
    if (!(sign * look(s, edge + 1e-3 * (inner - edge), k) > sign * value)) {
      return (double)NAN;
    }
    a = fmin(edge, inner);
    b = fmax(edge, inner);
  } else if (!better(s->extreme[e], k, e, value)) {
    return (double)NAN;
  }
  return refine(s, a, b, k);
}

int saltusi_sensitivity_turns(saltus_sensitivity* s, double from, double to) {
  assert(s != NULL && from < to);
  const int m = s->vary.integrands;
  int count = 0;
  if (m == 0) {
    return 0;
  }
  if (saltus_integrator_dense_from(s->run) > from) { /* too long ago */
    s->extremes_lost = true;
    return 0;
  }
  for (int i = 0; i <= SAMPLES; i++) {
    const double t = i == SAMPLES ? to : from + (to - from) * i / SAMPLES;
    const saltus_side side = i == SAMPLES ? SALTUS_LEFT : SALTUS_RIGHT;
    double* z = s->extreme_moved;
    if (saltus_integrator_dense(s->run, t, side, z, z + s->vary.nq) != SALTUS_OK ||
        !saltusi_sensitivity_output_values(
            &s->vary, s->def.system, (saltusi_phase_point){.t = t, .q = z, .v = z + s->vary.nq}, s,
            s->sampled + (ptrdiff_t)i * m)) {
      s->extremes_lost = true;
      return 0;
    }
  }
  for (int k = 0; k < 2 * m; k++) {
    const double t = turn_of(s, from, to, k / 2, k % 2);
    if (t > from && t < to) { /* in order */
      int place = count++;
      for (; place > 0 && s->turns[place - 1] > t; place--) {
        s->turns[place] = s->turns[place - 1];
      }
      s->turns[place] = t;
    }
  }
  return count;
}
