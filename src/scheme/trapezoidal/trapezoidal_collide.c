/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_collide.c - the first collision of a substep (Potra et al. 2006, (7.1)-(7.3)).
 *
 * The gap is interpolated by the cubic through its values and rates at both ends, the state by the
 * polynomial through both ends. That is a quadratic: q1 - q = x (v + v1)/2 makes the cubic term vanish.
 *
 * After an impact, stiff dampers may change the velocity faster than the step resolves; the quadratic then overshoots by
 * O(x v), a step of the method does not. Collisions after the first one of a step are therefore located by repeating
 * the rest of the step with trial lengths.
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Collisions closer together than this part of the step are simultaneous. */
static const double together = 1e-9;

/* p0 + d0 s + c2 s^2 + c3 s^3, the cubic of (7.2) over s in [0, 1] */
typedef struct cubic {
  double p0, d0, c2, c3;
} cubic;

static double cubic_at(const cubic* c, double s) {
  return c->p0 + s * (c->d0 + s * (c->c2 + s * c->c3));
}

static double bisect(const cubic* c, double a, double b) {
  for (int k = 0; k < 100; k++) {
    double s = 0.5 * (a + b);
    if (!(s > a && s < b)) {
      break;
    }
    if (cubic_at(c, s) > 0.0) {
      a = s;
    } else {
      b = s;
    }
  }
  return b;
}

/* The smallest root in (0, 1] of a cubic that starts above zero and ends below. c3 is rounding when
 * the gap is linear, so the cubic is cut at its extrema and bisected, never divided by c3. */
static double first_root(const cubic* c) {
  double cuts[4] = {0.0, 1.0, 1.0, 1.0};
  int count = 1;
  double a = 3.0 * c->c3;
  double disc = c->c2 * c->c2 - a * c->d0;
  if (disc > 0.0) {
    double r = -(c->c2 + (c->c2 >= 0.0 ? sqrt(disc) : -sqrt(disc)));
    double roots[2] = {c->d0 / r, r / a};
    if (!(roots[0] < roots[1])) {
      double kept = roots[0];
      roots[0] = roots[1];
      roots[1] = kept;
    }
    for (int i = 0; i < 2; i++) {
      if (roots[i] > 0.0 && roots[i] < 1.0) {
        cuts[count++] = roots[i];
      }
    }
  }
  for (int i = 1; i <= count; i++) {
    double end = i < count ? cuts[i] : 1.0;
    if (cubic_at(c, end) <= 0.0) {
      return bisect(c, cuts[i - 1], end);
    }
  }
  return 1.0;
}

/* w->trial at part s of the substep, by interpolation; impulses in proportion. */
static void interpolate(saltusi_trapezoid* w, double part) {
  const saltus_system* sys = &w->eval->sys;
  for (int i = 0; i < sys->dims.nv; i++) {
    double change = part * (w->whole.v[i] - w->v[i]);
    w->F1[i] = w->v[i] + 0.5 * change;
    w->trial.v[i] = w->v[i] + change;
  }
  saltusi_advance(sys, w->q, w->F1, part * w->left, w->trial.q);
  for (int r = 0; r < w->law.rows; r++) {
    w->trial.P[r] = part * w->whole.P[r];
  }
}

/* The same for a contact that is listed at the end of the substep but not at its start: it is open
 * where it is not listed, and its gap is sampled along the interpolation. */
static double late_hit_time(saltusi_trapezoid* w, int key, saltus_status* status) {
  double a = 0.0;
  double b = 1.0;
  for (int k = 0; k < 60 && *status == SALTUS_OK; k++) {
    double s = 0.5 * (a + b);
    if (!(s > a && s < b)) {
      break;
    }
    interpolate(w, s);
    *status = saltusi_trapezoid_gaps(w, w->t + s * w->left, w->trial.q, w->gap_inside);
    if (w->gap_inside[key] > 0.0) {
      a = s;
    } else {
      b = s;
    }
  }
  return b;
}

/* Time of the collision, as part of the substep. */
static double hit_time(saltusi_trapezoid* w, int key) {
  const saltus_system* sys = &w->eval->sys;
  saltus_point start = saltusi_at(w->eval, w->t, w->q, w->v);
  saltus_point end = saltusi_at(w->eval, w->t + w->left, w->whole.q, w->whole.v);
  saltusi_rows_contact(sys, &start, key, 1, &w->row, 0);
  double d0 = w->left * (saltusi_row_dot(&w->row, 0, w->v) + w->row.b[0]);
  saltusi_rows_contact(sys, &end, key, 1, &w->row, 0);
  double d1 = w->left * (saltusi_row_dot(&w->row, 0, w->whole.v) + w->row.b[0]);
  /* the gap of a contact that opens is measured from its present value, zero or slightly negative
   * by drift */
  bool left = w->gap[key] <= saltusi_trapezoid_near(w) && d0 > 0.0;
  double p0 = left ? 0.0 : w->gap[key];
  double p1 = w->gap_end[key] - (left ? fmin(w->gap[key], 0.0) : 0.0);
  const cubic c = {
      .p0 = p0, .d0 = d0, .c2 = 3.0 * (p1 - p0) - 2.0 * d0 - d1, .c3 = 2.0 * (p0 - p1) + d0 + d1};
  return first_root(&c);
}

static bool hits(const saltusi_trapezoid* w, int key) {
  return !w->active[key] && w->gap_end[key] < fmin(w->gap[key], 0.0);
}

/* The first collision of the substep as part of it; 2: none. Marks all simultaneous ones. */
static saltus_status first_hit(saltusi_trapezoid* w, double* first) {
  int nc = w->eval->sys.dims.nc;
  saltus_status status = SALTUS_OK;
  *first = 2.0;
  for (int key = 0; key < nc && status == SALTUS_OK; key++) {
    bool late = isinf(w->gap[key]);
    w->hit[key] = hits(w, key);
    w->hit_at[key] = !w->hit[key] ? 2.0 : late ? late_hit_time(w, key, &status) : hit_time(w, key);
    *first = fmin(*first, w->hit_at[key]);
  }
  for (int key = 0; key < nc; key++) {
    w->hit[key] = w->hit[key] && (w->hit_at[key] - *first) * w->left <= together * w->s->h;
  }
  return status;
}

/* The smallest of the colliding gaps after a step of length x into w->trial; relative to the gap of
 * a contact that opens. */
static saltus_status step_gap(saltusi_trapezoid* w, double x, double* gap) {
  saltus_status status = saltusi_trapezoid_prepare(w, x, w->mean);
  if (status == SALTUS_OK) {
    status = saltusi_polyhedral_rows_solve(&w->law, w->eval);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_trapezoid_finish(w, x, &w->trial);
  status = saltusi_trapezoid_gaps(w, w->t + x, w->trial.q, w->gap_end);
  *gap = INFINITY;
  for (int key = 0; key < w->eval->sys.dims.nc; key++) {
    if (w->hit[key]) {
      *gap = fmin(*gap, w->gap_end[key] - fmin(w->gap[key], 0.0));
    }
  }
  return status;
}

/* A length at which the contacts of w->hit collide, by bisection from an initial guess, and the
 * state there. Gaps start at zero and grow, so the lower end is sought first. */
static saltus_status step_to_hit(saltusi_trapezoid* w, double* length) {
  enum { SHRINK_MAX = 12, BISECT_MAX = 60 };
  double high = w->left;
  double low = 0.5 * *length;
  double gap;
  saltus_status status = step_gap(w, low, &gap);
  for (int k = 0; k < SHRINK_MAX && status == SALTUS_OK && !(gap > 0.0); k++) {
    high = low;
    low *= 0.1;
    status = step_gap(w, low, &gap);
  }
  for (int k = 0; k < BISECT_MAX && status == SALTUS_OK; k++) {
    double x = 0.5 * (low + high);
    if (!(x > low && x < high) || high - low <= 1e-14 * w->s->h) {
      break;
    }
    status = step_gap(w, x, &gap);
    if (gap > 0.0) {
      low = x;
    } else {
      high = x;
    }
  }
  *length = high;
  return status == SALTUS_OK ? step_gap(w, high, &gap) : status;
}

saltus_status saltusi_trapezoid_collision(saltusi_trapezoid* w, double* length) {
  assert(w != NULL);
  double part;
  saltus_status status = first_hit(w, &part);
  *length = part <= 1.0 ? part * w->left : 0.0;
  if (status != SALTUS_OK) {
    return status;
  }
  if (*length > 0.0 && w->struck) {
    return step_to_hit(w, length);
  }
  if (*length > 0.0) {
    interpolate(w, part);
  }
  return SALTUS_OK;
}
