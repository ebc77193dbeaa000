/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "system/ways.h"
#include "math/matrix.h"

void saltusi_ways_layout(saltusi_ways* w, const saltus_system* sys, saltus_arena* arena) {
  w->maps = saltusi_has_maps(sys);
  w->own_known = false;
  int nq = w->maps ? sys->dims.nq : 0;
  int nv = w->maps ? sys->dims.nv : 0;
  w->own = SALTUS_PUSH(arena, int, nv);
  w->named = SALTUS_PUSH(arena, int, nq);
  w->beside = SALTUS_PUSH(arena, double, nq);
  w->rate = SALTUS_PUSH(arena, double, nq);
  w->apart = SALTUS_PUSH(arena, double, nv);
}

/* Velocities that name themselves: dq_k = i + 1/2 and again with other numbers shows that q_k' = v_i. */
static void probe(saltusi_ways* w, const saltus_system* sys, const double* q, bool again) {
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

void saltusi_ways_find_own(saltusi_ways* w, const saltus_system* sys, const double* q) {
  if (!w->maps || w->own_known) {
    return;
  }
  probe(w, sys, q, false);
  probe(w, sys, q, true);
  for (int i = 0; i < sys->dims.nv; i++) {
    w->own[i] = -1;
  }
  for (int k = sys->dims.nq - 1; k >= 0; k--) { /* the first one that claims it */
    if (w->named[k] >= 0) {
      w->own[w->named[k]] = k;
    }
  }
  w->own_known = true;
}

/* Changes are stretched or shrunk to 2^-10 before the difference is taken: small enough for it to be linear to
 * 1e-6, large enough for the rounding of q. */
void saltusi_ways_of_change(const saltusi_ways* w, const saltus_system* sys, const double* q,
                            double* x) {
  if (!w->maps) {
    return;
  }
  double size = saltusi_max_abs(sys->dims.nq, x);
  if (!(size > 1e-200) || !isfinite(size)) { /* nothing, or no step at all */
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
