/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_curve.c - see friction_curve.h.
 */
#include "solve/friction/friction_curve.h"

#include <assert.h>
#include <math.h>

void saltusi_curve_start(saltusi_curve* c, const saltus_friction_law* law, double mu,
                         double before) {
  assert(c != NULL && before >= 0.0);
  const bool rests = before == 0.0;
  *c = (saltusi_curve){.ratio = rests ? 1.0 : saltus_friction_ratio(law, mu, before, NULL),
                       .sticks = rests};
}

double saltusi_curve_follow(saltusi_curve* c, const saltus_friction_law* law, double mu,
                            double after, bool turned, double damping) {
  assert(c != NULL && after >= 0.0);
  const double was = c->ratio;
  if (after == 0.0) { /* it sticks with this coefficient, and so with a larger one */
    return 0.0;
  }
  if (!c->tried && !c->sticks && turned) {
    c->tried = c->sticks = true; /* it passes through rest */
    c->ratio = 1.0;
  } else {
    c->sticks = false;
    c->tried = true;
    const double way = saltus_friction_ratio(law, mu, after, NULL) - was;
    c->ratio += way * c->way < 0.0 ? damping * way : way;
    c->way = way;
  }
  return fabs(c->ratio - was);
}
