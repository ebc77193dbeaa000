/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_root.c - see adversarial_root.h.
 */
#include "adversarial_root.h"

#include <math.h>

typedef root_real real;

/* ---- shapes -------------------------------------------------------------------------------- */

/* Derivatives 0..4 of exp(-u^2) are (-1)^k H_k(u) exp(-u^2), H_k Hermite's polynomials. */
static real hermite(int k, real u) {
  switch (k) {
  case 0:
    return 1.0L;
  case 1:
    return 2.0L * u;
  case 2:
    return 4.0L * u * u - 2.0L;
  case 3:
    return 8.0L * u * u * u - 12.0L * u;
  default:
    return (16.0L * u * u - 48.0L) * u * u + 12.0L;
  }
}

real root_shape(root_kind kind, int k, real u) {
  if (kind == ROOT_SINE) {
    real value = k % 2 == 0 ? sinl(u) : cosl(u);
    return k == 2 || k == 3 ? -value : value;
  }
  real value = hermite(k, u) * expl(-u * u);
  return k % 2 == 0 ? value : -value;
}

/* The largest |derivative k| on middle +- reach. */
real root_shape_bound(root_kind kind, int k, real middle, real reach) {
  if (kind == ROOT_SINE) {
    return 1.0L;
  }
  static const real anywhere[5] = {1.0L, 0.86L, 2.0L, 4.0L, 12.0L};
  real far = fabsl(middle) + reach;
  real near = fmaxl(0.0L, fabsl(middle) - reach);
  static const real coefficient[5][3] = {
      {1.0L, 0, 0}, {2.0L, 0, 0}, {4.0L, 2.0L, 0}, {8.0L, 12.0L, 0}, {16.0L, 48.0L, 12.0L}};
  real sum = 0.0L; /* |H_k| with all signs + */
  for (int j = 0; j < 3 && k - 2 * j >= 0; j++) {
    sum += coefficient[k][j] * powl(far, k - 2 * j);
  }
  return fminl(anywhere[k], sum * expl(-near * near));
}

/* ---- pulses -------------------------------------------------------------------------------- */

static const real sqrt_pi = 1.77245385090551602729816748334114518L;

real root_pulse_rate(const root_pulse* p, int k, real t, real reach, bool bound) {
  real scale = p->size / powl(p->width, k);
  real u = (t - p->centre) / p->width;
  return bound ? fabsl(scale) * root_shape_bound(ROOT_BELL, k, u, reach / p->width)
               : scale * root_shape(ROOT_BELL, k, u);
}

real root_pulse_velocity(const root_pulse* p, real t) {
  real u = (t - p->centre) / p->width;
  return p->size * (real)p->width * sqrt_pi / 2.0L * erfcl(-u);
}

real root_pulse_displacement(const root_pulse* p, real t) {
  real u = (t - p->centre) / p->width;
  real w = p->width;
  return p->size * w * w * sqrt_pi / 2.0L * (u * erfcl(-u) + expl(-u * u) / sqrt_pi);
}

/* ---- searches -------------------------------------------------------------------------------- */

static root_local look(const root_search* w, int piece, real s, real reach) {
  return w->look(w->who, piece, s, reach);
}

real root_value(const root_search* w, real s) {
  real most = -HUGE_VALL;
  for (int p = 0; p < w->pieces; p++) {
    most = fmaxl(most, look(w, p, s, 0.0L).f);
  }
  return most;
}

int root_active(const root_search* w) {
  int active = 0;
  for (int p = 1; p < w->pieces; p++) {
    active = look(w, p, 0.0L, 0.0L).f > look(w, active, 0.0L, 0.0L).f ? p : active;
  }
  return active;
}

static real bisect(const root_search* w, real a, real b) {
  for (int k = 0; k < 200; k++) {
    real m = (a + b) / 2.0L;
    if (m <= a || m >= b) {
      break;
    }
    if (root_value(w, m) > 0.0L) {
      a = m;
    } else {
      b = m;
    }
  }
  return b;
}

bool root_first(const root_search* w, real a, real b, real* root) {
  real m = (a + b) / 2.0L;
  real r = (b - a) / 2.0L;
  bool falling = true;
  bool rising = false; /* a piece that rises from a positive value keeps the largest positive */
  for (int p = 0; p < w->pieces; p++) {
    root_local at = look(w, p, m, r);
    if (at.f - fabsl(at.slope) * r - at.bend * r * r / 2.0L > 0.0L) {
      return false;
    }
    falling = falling && at.slope + at.bend * r < 0.0L;
    rising = rising || (at.slope - at.bend * r > 0.0L && look(w, p, a, 0.0L).f > 0.0L);
  }
  if (rising) {
    return false;
  }
  if (falling) {
    if (root_value(w, b) > 0.0L) {
      return false;
    }
    *root = root_value(w, a) <= 0.0L ? a : bisect(w, a, b);
    return true;
  }
  if (b - a < 1e-16L || b - a < 1e-18L * fabsl(w->t + m)) {
    *root = b;
    return root_value(w, b) <= 0.0L;
  }
  return root_first(w, a, m, root) || root_first(w, m, b, root);
}

real root_begin(const root_search* w, real end) {
  int piece = root_active(w);
  real u = look(w, piece, 0.0L, 0.0L).slope;
  real b = end;
  for (int k = 0; u > 1e-12L && k < 80; k++) {
    if (u - look(w, piece, b / 2.0L, b / 2.0L).bend * b / 2.0L > 0.0L) {
      return b;
    }
    b /= 2.0L;
  }
  real s = 1e-13L;
  while (s < end && root_value(w, s) < 1e-15L) {
    s *= 1.5L;
  }
  return fminl(s, end);
}
