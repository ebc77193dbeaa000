/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode.c - see friction_mode.h.
 */
#include "adaptive/mode/friction_mode.h"

#include "system/frictions.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Limit of an extrapolated curve in multiples of the coefficient of sticking: trial steps beyond it are rejected
 * by their error. */
static const double ratio_most = 10.0;

/* Curves are smooth at 0 from above; below 0 a trial step needs the same smoothness, or its error is that of a
 * kink. If the formula has no value there, a straight line is used. */
static double continued(const saltus_friction_law* law, double mu, double speed) {
  double slope = 0.0;
  double at = saltus_friction_ratio(law, mu, 0.0, &slope);
  if (law->curve == SALTUS_CURVE_STRIBECK && (law->exponent == 0.0 || law->exponent == 1.0)) {
    double least = law->kinetic / mu;
    at = least + (1.0 - least) * exp(-speed / law->speed);
  } else {
    at += slope * speed;
  }
  return fmin(fmax(at, 0.0), ratio_most);
}

double saltusi_friction_mode_ratio(const saltusi_layout_tables* o, int key, double speed) {
  assert(o != NULL && key >= 0);
  const saltus_friction_law* law = o->law[key]->friction;
  if (law == NULL || law->curve == SALTUS_CURVE_CONSTANT) {
    return 1.0;
  }
  return speed >= 0.0 ? saltus_friction_ratio(law, o->mu[key], speed, NULL)
                      : continued(law, o->mu[key], speed);
}

double saltusi_friction_mode_speed(const saltusi_layout_tables* o, int key, const double* u) {
  assert(o != NULL && key >= 0 && u != NULL);
  return o->law[key]->tangents == 2 ? hypot(u[0], u[1] / saltusi_friction_scale(o->law[key]))
                                    : fabs(u[0]);
}

bool saltusi_friction_mode_falls(const saltusi_layout_tables* o, int key) {
  assert(o != NULL && key >= 0);
  /* a fraction of the friction below the tolerance of every run */
  return o->law[key]->friction != NULL && saltusi_friction_mode_ratio(o, key, 0.0) < 1.0 - 1e-12;
}

bool saltusi_friction_mode_axes(const saltusi_layout_tables* o, int key, double* m, double* n) {
  assert(o != NULL && key >= 0 && m != NULL && n != NULL);
  const saltus_friction_law* law = o->law[key]->friction;
  *m = *n = 1.0;
  if (law == NULL || o->tangents[key] != 2 || !(law->sliding[0] > 0.0)) {
    return false;
  }
  *m = law->across > 0.0 ? law->across / o->mu[key] : 1.0;
  *n = law->sliding[1] / law->sliding[0];
  return true;
}

/* Of a patch, times a ratio. */
static void patch_along(const saltusi_layout_tables* o, int key, const double* u, double ratio,
                        double* d) {
  const saltus_friction_law* law = o->law[key]->friction;
  int n = o->tangents[key] - 1;
  double spin_only = saltus_patch_spin(law->patch);
  double size = saltusi_length(n + 1, u);
  double slip = saltusi_length(n, u);
  double f = 0.0;
  double m = 0.0;
  if (size > 0.0 && !law->ellipsoid) {
    saltus_patch_load(law->patch, slip * spin_only / fabs(u[n]), &f, &m);
  }
  double along = law->ellipsoid ? ratio / fmax(size, DBL_MIN) : ratio * f / fmax(slip, DBL_MIN);
  for (int k = 0; k < n; k++) {
    d[k] = along * u[k];
  }
  d[n] = law->ellipsoid ? along * u[n] : copysign(ratio * m / spin_only, u[n]);
}

/* Of a spatial contact, times a ratio. */
static void along(const saltusi_layout_tables* o, int key, const double* u, double ratio,
                  double* d) {
  double m;
  double n;
  d[2] = 0.0;
  if (saltusi_friction_mode_is_beside(o, key)) {
    patch_along(o, key, u, ratio, d);
    return;
  }
  saltusi_friction_mode_axes(o, key, &m, &n);
  double w[2] = {u[0], n * n * u[1]}; /* N^2 U */
  double size = hypot(w[0], w[1] / m);
  d[0] = size > 0.0 ? ratio * w[0] / size : 0.0;
  d[1] = size > 0.0 ? ratio * w[1] / size : 0.0;
}

void saltusi_friction_mode_direction(const saltusi_layout_tables* o, int key, double sense,
                                     const double* u, double* d) {
  assert(o != NULL && key >= 0 && u != NULL && d != NULL);
  if (o->tangents[key] == 1) {
    d[0] = sense * saltusi_friction_mode_ratio(o, key, sense * u[0]);
    d[1] = d[2] = 0.0;
    return;
  }
  along(o, key, u, saltusi_friction_mode_ratio(o, key, saltusi_friction_mode_speed(o, key, u)), d);
}

void saltusi_friction_mode_from_rest(const saltusi_layout_tables* o, int key, const double* u,
                                     double* d) {
  assert(o != NULL && key >= 0 && u != NULL && d != NULL);
  along(o, key, u, saltusi_friction_mode_ratio(o, key, 0.0), d);
}

double saltusi_friction_mode_size(const saltusi_layout_tables* o, int key, const double* l_T) {
  assert(o != NULL && key >= 0 && l_T != NULL);
  double m;
  double n;
  if (o->tangents[key] == 1) {
    return fabs(l_T[0]);
  }
  if (saltusi_friction_mode_is_beside(o, key)) {
    const saltus_friction_law* law = o->law[key]->friction;
    int last = o->tangents[key] - 1;
    double moment = fabs(l_T[last]) * saltus_patch_spin(law->patch);
    return law->ellipsoid ? saltusi_length(last + 1, l_T)
                          : saltus_patch_gauge(law->patch, saltusi_length(last, l_T), moment);
  }
  return saltusi_friction_mode_axes(o, key, &m, &n) ? hypot(l_T[0], l_T[1] / m)
                                                    : hypot(l_T[0], l_T[1]);
}
