/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * methods.c - selects the method of the next step (section 8; Hairer and Wanner 1996, IV.2).
 */
#include "adaptive/adaptive.h"

#include <assert.h>
#include <math.h>

/* Slip of a spatial contact, in units of the slip at which it stops, below which its direction makes the motion
 * stiff, and above which an explicit method may be selected again. */
static const double slow_slip = 200.0;
static const double slow_slip_end = 1000.0;

const saltusi_adaptive_ops* saltusi_adaptive_ops_of(double method) {
  static const saltusi_adaptive_ops* const all[] = {
      [SALTUSI_DOPRI5] = &saltusi_adaptive_dopri5,
      [SALTUSI_DOP853] = &saltusi_adaptive_dop853,
      [SALTUSI_RADAU5] = &saltusi_adaptive_radau5,
  };
  return all[(int)method];
}

double saltusi_smallest_tolerance(const saltusi_adaptive* w) {
  assert(w != NULL);
  return fmin(w->o.settings.rtol, fmin(w->o.atol_q_min, w->o.atol_v_min));
}

/* Order 8 is efficient from 1e-6 on (section 8), and from 1e-4 on where no event shortens its steps. */
double saltusi_explicit_method(const saltusi_adaptive* w) {
  assert(w != NULL);
  const double from = w->o.smooth ? 1e-4 : 1e-6;
  return w->o.settings.rtol > from || saltusi_smallest_tolerance(w) > from ? SALTUSI_DOPRI5
                                                                           : SALTUSI_DOP853;
}

static void change_method(saltusi_adaptive* w, double method) {
  saltusi_adaptive_memory* m = w->memory;
  m->method = method;
  m->stiff = 0.0;
  m->nonstiff = 0.0;
  m->jacobian_age = -1.0;
  w->counts.switches++;
}

/* After an accepted step: whether to change the method. An explicit method is left when its steps have been at its
 * stability limit for some time (Hairer and Wanner 1996, IV.2), or when the direction of a slow slip is stiff; the
 * implicit one when an explicit one could take the same steps. */
void saltusi_review_method(saltusi_adaptive* w) {
  assert(w != NULL);
  enum { SIGNS = 15, NONSTIFF_STEPS = 6, NONSTIFF_IMPLICIT = 10 };
  saltusi_adaptive_memory* m = w->memory;
  if (w->o.settings.method != SALTUSI_ADAPTIVE_CHOOSES || !w->o.implicit) {
    return;
  }
  bool explicit_ = m->method != SALTUSI_RADAU5;
  bool at_edge = w->step.ops->stiffness(w) > 1.0;
  if (explicit_) {
    m->stiff = at_edge ? m->stiff + 1.0 : m->stiff;
    m->nonstiff = at_edge ? 0.0 : m->nonstiff + 1.0;
    m->stiff = m->nonstiff >= NONSTIFF_STEPS ? 0.0 : m->stiff;
    if (m->stiff >= SIGNS) {
      change_method(w, SALTUSI_RADAU5);
    }
    return;
  }
  bool slow = w->step.slip_least < slow_slip_end * w->o.slip_floor;
  m->nonstiff = at_edge || slow ? 0.0 : m->nonstiff + 1.0;
  if (m->nonstiff >= NONSTIFF_IMPLICIT) {
    change_method(w, saltusi_explicit_method(w));
  }
}

/* Before a step: a slow slip in space is stiff from its first instant. */
void saltusi_prefer_implicit(saltusi_adaptive* w) {
  assert(w != NULL);
  if (w->o.settings.method == SALTUSI_ADAPTIVE_CHOOSES && w->o.implicit &&
      w->memory->method != SALTUSI_RADAU5 && w->step.slip_least < slow_slip * w->o.slip_floor) {
    change_method(w, SALTUSI_RADAU5);
    w->step.ops = saltusi_adaptive_ops_of(w->memory->method);
    w->memory->method_used = w->memory->method;
  }
}

/* Inputs that change at every communication point discard the rest of each step. One step of order 5 over the interval
 * between the last two changes then needs 8 instead of 17 evaluations. Returns the length proposed for order 8; 0: the
 * step is none of these. */
double saltusi_begin_brief_step(saltusi_adaptive* w) {
  assert(w != NULL);
  saltusi_adaptive_memory* m = w->memory;
  const double h = 1.001 * m->brief; /* communication points are sums */
  if (!(h > 0.0 && 2.0 * h < m->h) || m->method != SALTUSI_DOP853 ||
      w->o.settings.method != SALTUSI_ADAPTIVE_CHOOSES) {
    return 0.0;
  }
  const double proposed = m->h;
  m->h = h;
  m->method = SALTUSI_DOPRI5;
  return proposed;
}

void saltusi_end_brief_step(saltusi_adaptive* w, double proposed, bool rejected) {
  assert(w != NULL && proposed > 0.0);
  saltusi_adaptive_memory* m = w->memory;
  m->h = fmax(m->h, proposed);
  m->method = m->method == SALTUSI_DOPRI5 ? SALTUSI_DOP853 : m->method;
  m->brief = rejected ? -1.0 : m->brief; /* order 8 after the next change */
}
