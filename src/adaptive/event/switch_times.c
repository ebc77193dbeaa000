/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * switch_times.c - formulas that change their branch at a time: no step crosses one (docs/theory/events.md,
 * 5).
 *
 * Switching functions of t alone are searched before the steps by the same exclusion as gaps. A switch
 * is stored as the last time before it and the first after it at which its sign is certain, some units in
 * the last place apart: a step ends before it and the next one starts after it.
 *
 * Those of velocities, such as that of sign(x'), are crossed by ordinary steps. A motion that is driven to one from both
 * sides would have to slide along it (Filippov), which is not treated. Its steps start towards the zero, would cross it
 * and end towards it again, on either side.
 */
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { STACK = 128, PIECES_MAX = 100000, BISECTIONS = 80 };

/* Value, rate and half the second derivative of a switching function over the times [a,b]. */
static void jet_over(saltusi_search* search, int index, double a, double b, saltus_interval* out) {
  static const saltus_interval one = {1.0, 1.0};
  const saltusi_trajectory_segment* p = &search->course.piece[SALTUSI_PIECES - 1];
  saltusi_trajectory_forget(search); /* the segment provides the workspace */
  p->t[0] = (saltus_interval){a, b};
  p->t[1] = one;
  p->t[2] = (saltus_interval){0.0, 0.0};
  const saltus_course course = {
      .order = 2, .t = p->t, .q = p->q, .v = p->v, .scratch = search->course.scratch};
  search->sys->ops->enclosure->along(search->sys->self, &course, SALTUS_QUANTITY_SWITCH, index,
                                     out);
  search->mode->counts->enclosures++;
}

/* +1 or -1 where the sign is certain, else 0. */
static double sign_at(saltusi_search* search, int index, double t) {
  saltus_interval jet[3];
  jet_over(search, index, t, t, jet);
  return jet[0].lo > 0.0 ? 1.0 : jet[0].hi < 0.0 ? -1.0 : 0.0;
}

/* The sign right after `from`: a function may be zero there. */
static double sign_after(saltusi_search* search, int index, double from, double to) {
  double sign = sign_at(search, index, from);
  double step = DBL_EPSILON * fmax(4.0 * fabs(from), to - from);
  for (int k = 0; k < BISECTIONS && sign == 0.0 && from + step < to; k++) {
    sign = sign_at(search, index, from + step);
    step *= 2.0;
  }
  return sign;
}

/* Between a with the sign and b without: the last time with it and the first with the other sign. */
static void close_in(saltusi_search* search, int index, double sign, double a, double b,
                     saltusi_switch_time* found) {
  double hi = b;
  for (int k = 0; k < BISECTIONS; k++) {
    double m = 0.5 * (a + hi);
    if (!(m > a && m < hi)) {
      break;
    }
    *(sign_at(search, index, m) == sign ? &a : &hi) = m;
  }
  double lo = hi;
  for (int k = 0; k < BISECTIONS; k++) {
    double m = 0.5 * (lo + b);
    if (!(m > lo && m < b)) {
      break;
    }
    *(sign_at(search, index, m) == -sign ? &b : &lo) = m;
  }
  *found = (saltusi_switch_time){.before = a, .after = b};
}

/* The first change of sign of one function in [from, to]; false: none. */
static bool first_change(saltusi_search* search, int index, double from, double to,
                         saltusi_switch_time* found) {
  double sign = sign_after(search, index, from, to);
  double stack[STACK][2] = {{from, to}};
  int count = sign != 0.0 ? 1 : 0;
  double positive = from; /* last time at which the sign was observed */
  for (int k = 0; count > 0 && k < PIECES_MAX; k++) {
    double a = stack[count - 1][0];
    double b = stack[count - 1][1];
    double m = 0.5 * (a + b);
    double r = 0.5 * (b - a);
    saltus_interval whole[3];
    saltus_interval middle[3];
    count--;
    jet_over(search, index, a, b, whole);
    jet_over(search, index, m, m, middle);
    double at = sign > 0.0 ? middle[0].lo : -middle[0].hi;
    double least = sign > 0.0 ? whole[0].lo : -whole[0].hi;
    double slope_lo = sign > 0.0 ? whole[1].lo : -whole[1].hi;
    double slope_hi = sign > 0.0 ? whole[1].hi : -whole[1].lo;
    least = fmax(least, at - saltusi_magnitude(whole[1]) * r);
    bool rises = slope_lo > 0.0 && sign_at(search, index, a) != -sign;
    if (least > 0.0 || rises) {
      positive = b;
      continue;
    }
    bool falls = slope_hi < 0.0;
    bool small = r <= 4.0 * DBL_EPSILON * fmax(fabs(m), to - from) || count + 2 > STACK;
    if (falls || small) {
      double end = sign_at(search, index, b);
      if (end == -sign) {
        close_in(search, index, sign, positive > a ? positive : a, b, found);
        return true;
      }
      positive = end == sign ? b : positive;
      continue;
    }
    stack[count][0] = m;
    stack[count++][1] = b;
    stack[count][0] = a;
    stack[count++][1] = m;
  }
  return false;
}

static saltusi_switch_time next_switch(saltusi_search* search, double to) {
  saltusi_switch_time first = {.before = INFINITY, .after = INFINITY};
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  int n = saltusi_trajectory_switches(search->sys);
  for (int i = 0; i < n; i++) {
    saltusi_switch_time found;
    unsigned depends = ops->depends(search->sys->self, SALTUS_QUANTITY_SWITCH, i);
    bool timed = (depends & SALTUS_ON_T) != 0 && (depends & (SALTUS_ON_Q | SALTUS_ON_V)) == 0;
    if (timed && first_change(search, i, search->memory->switch_clear, to, &found)) {
      first = found.before < first.before ? found : first;
      to = fmin(to, first.after);
    }
  }
  return first;
}

double saltusi_before_switch(saltusi_search* search, double h) {
  assert(search != NULL && h > 0.0);
  saltusi_adaptive_memory* m = search->memory;
  double to = search->step->t + h;
  if (search->sys->ops->enclosure == NULL) {
    return h;
  }
  if (to > m->switch_clear && isinf(m->switch_before)) {
    saltusi_switch_time next = next_switch(search, to + 4.0 * h);
    m->switch_before = next.before;
    m->switch_after = next.after;
    m->switch_clear = fmin(to + 4.0 * h, next.before);
  }
  if (to < m->switch_before) {
    return h;
  }
  h = fmax(m->switch_before - search->step->t, 0.0);
  return search->step->t + h > m->switch_before ? nextafter(h, 0.0) : h;
}

void saltusi_leave_kinks(saltusi_search* search, double* y) {
  assert(search != NULL);
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  int n = saltusi_trajectory_switches(search->sys);
  const saltusi_trajectory_segment* p = &search->course.piece[SALTUSI_PIECES - 1];
  double noise = DBL_EPSILON * search->o->size;
  for (int i = 0; i < n; i++) {
    unsigned depends = ops->depends(search->sys->self, SALTUS_QUANTITY_SWITCH, i);
    if ((depends & SALTUS_ON_Q) == 0 || (depends & SALTUS_ON_V) != 0) {
      continue;
    }
    saltus_interval at[2];
    saltusi_trajectory_forget(search);
    p->t[0] = (saltus_interval){search->step->t, search->step->t};
    p->t[1] = (saltus_interval){1.0, 1.0};
    saltusi_rate(search->sys, y, y + search->o->nq, search->step->along);
    for (int k = 0; k < search->o->nq; k++) {
      double v = search->step->along[k];
      p->q[2 * k] = (saltus_interval){y[k], y[k]};
      p->q[2 * k + 1] = (saltus_interval){v, v};
    }
    const saltus_course course = {
        .order = 1, .t = p->t, .q = p->q, .v = p->v, .scratch = search->course.scratch};
    ops->along(search->sys->self, &course, SALTUS_QUANTITY_SWITCH, i, at);
    double rate = 0.5 * (at[1].lo + at[1].hi);
    if (saltusi_magnitude(at[0]) <= 64.0 * noise && fabs(rate) > 0.0 && isfinite(rate)) {
      saltusi_advance(search->sys, y, y + search->o->nq, 128.0 * noise / fabs(rate),
                      search->step->beside);
      memcpy(y, search->step->beside, (size_t)search->o->nq * sizeof(double));
    }
  }
}

/* Value and rate of a switching function of velocities at a state. */
static void jet_at(saltusi_search* search, int index, double t, const double* y, const double* rate,
                   saltus_interval out[2]) {
  const saltusi_trajectory_segment* p = &search->course.piece[SALTUSI_PIECES - 1];
  const int nq = search->o->nq, nv = search->o->nv;
  saltusi_trajectory_forget(search); /* the segment provides the workspace */
  p->t[0] = (saltus_interval){t, t};
  p->t[1] = (saltus_interval){1.0, 1.0};
  for (int k = 0; k < nq + nv; k++) {
    saltus_interval* x = k < nq ? p->q + 2 * k : p->v + 2 * (k - nq);
    x[0] = (saltus_interval){y[k], y[k]};
    x[1] = (saltus_interval){rate[k], rate[k]};
  }
  const saltus_course course = {
      .order = 1, .t = p->t, .q = p->q, .v = p->v, .scratch = search->course.scratch};
  search->sys->ops->enclosure->along(search->sys->self, &course, SALTUS_QUANTITY_SWITCH, index,
                                     out);
}

/* Whether the function moves towards zero, and its rate. */
static bool returns(const saltus_interval jet[2], double* rate) {
  const double value = 0.5 * (jet[0].lo + jet[0].hi);
  *rate = 0.5 * (jet[1].lo + jet[1].hi);
  return value * *rate < 0.0;
}

bool saltusi_slides(saltusi_search* search, const double* rate1) {
  assert(search != NULL && rate1 != NULL);
  const saltusi_attempt* step = search->step;
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  const int n = saltusi_trajectory_switches(search->sys);
  bool slides = false;
  for (int i = 0; i < n && !slides; i++) {
    if ((ops->depends(search->sys->self, SALTUS_QUANTITY_SWITCH, i) & SALTUS_ON_V) != 0) {
      saltus_interval from[2], to[2];
      double before, after;
      jet_at(search, i, step->t, step->y0, step->rate0, from);
      jet_at(search, i, step->t + step->h, step->y_end, rate1, to);
      /* a smooth decay that would cross by its first rate has a third of it at the end */
      slides = returns(from, &before) && returns(to, &after) &&
               saltusi_magnitude(from[0]) < step->h * fabs(before) &&
               fabs(after) >= 0.5 * fabs(before);
    }
  }
  return slides;
}
