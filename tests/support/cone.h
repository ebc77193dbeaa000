/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cone.h - the projection on Coulomb's cone, for residuals that tests compute by themselves.
 */
#ifndef SALTUS_TEST_CONE_H
#define SALTUS_TEST_CONE_H

#include <math.h>

/* x [3] onto |x_T| <= friction x_N. */
static inline void project_on_cone(double friction, double* x) {
  const double t = hypot(x[1], x[2]);
  if (t <= friction * x[0]) {
    return;
  }
  const double normal = fmax((x[0] + friction * t) / (1.0 + friction * friction), 0.0);
  const double part = t > 0.0 ? friction * normal / t : 0.0;
  x[0] = normal;
  x[1] *= part;
  x[2] *= part;
}

#endif
