/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * course.c - the motion of an attempt over pieces of it.
 */
#include "adaptive/course.h"
#include "adaptive/adaptive.h"

#include <float.h>

/* Rounding of a shifted coefficient, in units of eps times the sum of sizes: two operations a term, and
 * the change of basis before. */
static const double shift_rounding = 16.0 * DBL_EPSILON;

static const double binomial[SALTUSI_POWERS][SALTUSI_POWERS] = {
    {1, 0, 0, 0, 0, 0, 0, 0},    {1, 1, 0, 0, 0, 0, 0, 0},     {1, 2, 1, 0, 0, 0, 0, 0},
    {1, 3, 3, 1, 0, 0, 0, 0},    {1, 4, 6, 4, 1, 0, 0, 0},     {1, 5, 10, 10, 5, 1, 0, 0},
    {1, 6, 15, 20, 15, 6, 1, 0}, {1, 7, 21, 35, 35, 21, 7, 1},
};

void saltusi_course_forget(saltusi_adaptive* w) {
  w->course.made = false;
  for (int i = 0; i < SALTUSI_PIECES; i++) {
    w->course.piece[i].order = -1;
  }
}

/* Coefficients around m, from those around 0. */
static void shift(int degree, double m, double* s) {
  for (int k = 0; k < degree; k++) {
    for (int j = degree - 1; j >= k; j--) {
      s[j] += m * s[j + 1];
    }
  }
}

/* Enclosures of the coefficients 0 .. order of one component. */
static void enclose(const saltusi_courses* c, size_t i, size_t stride, const saltusi_piece* p,
                    saltus_interval* out) {
  double s[SALTUSI_POWERS];
  double size[SALTUSI_POWERS];
  int d = c->degree;
  double m = 0.5 * (p->a + p->b);
  double r = 0.5 * (p->b - p->a);
  for (int j = 0; j <= d; j++) {
    s[j] = c->power[(size_t)j * stride + i];
    size[j] = fabs(s[j]);
  }
  if (m != 0.0) {
    shift(d, m, s);
    shift(d, p->b, size);
  }
  for (int k = 0; k <= p->order; k++) {
    if (k > d) {
      out[k] = (saltus_interval){0.0, 0.0};
      continue;
    }
    double lo = s[k];
    double hi = s[k];
    double power = r;
    for (int j = k + 1; j <= d && r > 0.0; j++) {
      double x = binomial[j][k] * s[j] * power;
      bool even = (j - k) % 2 == 0;
      lo -= even ? fmax(-x, 0.0) : fabs(x);
      hi += even ? fmax(x, 0.0) : fabs(x);
      power *= r;
    }
    double rounding = shift_rounding * size[k];
    out[k] = (saltus_interval){lo - rounding, hi + rounding};
  }
}

static void make(saltusi_adaptive* w, saltusi_piece* p) {
  size_t stride = (size_t)w->nq + (size_t)w->nv;
  size_t jet = (size_t)p->order + 1;
  for (size_t i = 0; i < (size_t)w->nq; i++) {
    enclose(&w->course, i, stride, p, p->q + i * jet);
  }
  for (size_t i = 0; p->moving && i < (size_t)w->nv; i++) {
    enclose(&w->course, (size_t)w->nq + i, stride, p, p->v + i * jet);
  }
  double rounding = DBL_EPSILON * (fabs(w->t) + w->h);
  p->t[0] = (saltus_interval){w->t + p->a * w->h - rounding, w->t + p->b * w->h + rounding};
  for (size_t k = 1; k < jet; k++) {
    p->t[k] = (saltus_interval){k == 1 ? w->h : 0.0, k == 1 ? w->h : 0.0};
  }
}

/* The course over [a,b]. The whole range and its middle are asked for by every contact: they have places
 * of their own. */
static const saltusi_piece* piece_of(saltusi_adaptive* w, double a, double b, int order,
                                     bool moving) {
  saltusi_courses* c = &w->course;
  if (!c->made) {
    c->degree = w->ops->dense_degree;
    w->ops->powers(&w->motion, w->nq + w->nv, c->power);
    c->made = true;
  }
  for (int i = 0; i < SALTUSI_PIECES; i++) {
    saltusi_piece* p = &c->piece[i];
    if (p->order == order && p->a == a && p->b == b && p->moving == moving) {
      return p;
    }
  }
  bool whole = a == 0.0 && b == 1.0;
  bool middle = a == 0.5 && b == 0.5;
  saltusi_piece* p = &c->piece[whole ? 0 : middle ? 1 : a == b ? 2 : 3];
  p->a = a;
  p->b = b;
  p->order = order;
  p->moving = moving;
  make(w, p);
  return p;
}

void saltusi_course_along(saltusi_adaptive* w, double a, double b, int order, saltus_quantity what,
                          int index, saltusi_jet* out) {
  const saltus_enclosure_ops* ops = w->sys->ops->enclosure;
  bool moving = what == SALTUS_QUANTITY_VELOCITY || what == SALTUS_QUANTITY_FORCE;
  const saltusi_piece* p = piece_of(w, a, b, order, moving);
  saltus_interval flat[SALTUSI_VALUES * (SALTUS_JET_ORDER + 1)];
  const saltus_course course = {.order = order,
                                .t = p->t,
                                .q = p->q,
                                .v = moving ? p->v : NULL,
                                .scratch = w->course.scratch};
  ops->along(w->sys->self, &course, what, index, flat);
  int values = what == SALTUS_QUANTITY_VELOCITY ? 1 + w->tangents[index] : 1;
  for (int i = 0; i < values; i++) {
    for (int k = 0; k <= order; k++) {
      out[i].c[k] = flat[i * (order + 1) + k];
    }
  }
  w->counts.enclosures++;
}
