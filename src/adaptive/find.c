/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * find.c - events on the dense output of an accepted step (section 4.1).
 *
 *   event    contact              function, positive while the status holds
 *   hit      open, separated      g
 *   hit      open, from g = 0     mean of U over (0, theta): the gap deflated at its start
 *   hit      open, came from g=0  height + integral of U
 *   open     closed               l_N
 *   stop     sliding              s U_T, or U_T . d_0 of a spatial contact
 *   slide    sticking             mu l_N - l_T and mu l_N + l_T, or mu l_N - |l_T|
 *   decide   idle                 U, at the end of the step
 *
 * Functions are sampled at nodes; a first change from + to - is closed in on by regula falsi with
 * bisection, and a parabola through three nodes looks for a minimum between them. Forces are polished
 * with true multipliers, and their events switch a little late, so that the complementarity problem
 * sees a status that is violated and not one that is degenerate.
 */
#include "adaptive/adaptive.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

static const double nodes[SALTUSI_NODES] = {0.02, 0.08, 0.17, 0.28, 0.4, 0.52,
                                            0.64, 0.75, 0.85, 0.93, 1.0};

/* Accuracy of roots that cost no evaluation of the dynamics, part of the step. */
static const double fine = 1e-15;

typedef enum quantity { GAP, FLIGHT_MEAN, FLIGHT_SUM, SLIP_SPEED, NORMAL_FORCE, FRICTION } quantity;

typedef struct search {
  saltusi_adaptive* w;
  quantity what;
  int key;
  double sign; /* of slip, or of the friction that is compared with its bound */
  bool exact;  /* forces from the dynamics instead of the dense output */
  saltus_status status;
} search;

/* ---- flights: Chebyshev interpolation of U and its integral -------------------------------- */

/* Coefficients of the integral from 0 to theta of the interpolant through values at the points
 * (1 - cos(pi k / 8)) / 2. */
static void integrate_flight(const double* u, double* coefficient) {
  enum { N = SALTUSI_CHEBYSHEV - 1 };
  const double pi = 3.141592653589793238;
  double series[N + 1];
  for (int k = 0; k <= N; k++) {
    double sum = 0.0;
    for (int j = 0; j <= N; j++) {
      double weight = j == 0 || j == N ? 0.5 : 1.0;
      /* the point j is x = -cos(pi j / N) */
      double sign = k % 2 == 0 ? 1.0 : -1.0;
      sum += weight * sign * u[j] * cos(pi * k * j / N);
    }
    series[k] = 2.0 / N * sum * (k == 0 || k == N ? 0.5 : 1.0);
  }
  /* integral of T_k, halved by the change of variable */
  for (int k = 0; k <= N + 1; k++) {
    coefficient[k] = 0.0;
  }
  for (int k = 0; k <= N; k++) {
    if (k == 0) {
      coefficient[1] += 0.5 * series[0];
    } else if (k == 1) {
      coefficient[2] += 0.5 * series[1] / 4.0;
    } else {
      coefficient[k + 1] += 0.5 * series[k] / (2.0 * (k + 1));
      coefficient[k - 1] -= 0.5 * series[k] / (2.0 * (k - 1));
    }
  }
  double at_start = 0.0;
  for (int k = 1; k <= N + 1; k++) {
    at_start += k % 2 == 0 ? coefficient[k] : -coefficient[k];
  }
  coefficient[0] = -at_start;
}

double saltusi_find_flight(const saltusi_adaptive* w, int key, double theta) {
  const double* coefficient = w->flight + (size_t)key * (SALTUSI_CHEBYSHEV + 1);
  double x = 2.0 * theta - 1.0;
  double b1 = 0.0;
  double b2 = 0.0;
  for (int k = SALTUSI_CHEBYSHEV; k >= 1; k--) {
    double b = coefficient[k] + 2.0 * x * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return coefficient[0] + x * b1 - b2;
}

/* U along the first part `end` of the step; the largest. */
static double sample_flight(saltusi_adaptive* w, int key, double end) {
  const double pi = 3.141592653589793238;
  double u[SALTUSI_CHEBYSHEV];
  double largest = 0.0;
  for (int j = 0; j < SALTUSI_CHEBYSHEV; j++) {
    double theta = end * 0.5 * (1.0 - cos(pi * j / (SALTUSI_CHEBYSHEV - 1)));
    const double* y = w->probe;
    if (j == 0) {
      y = w->y0;
    } else if (theta == 1.0) {
      y = w->y1;
    } else {
      w->ops->dense(&w->motion, theta, 0, w->nq + w->nv, w->probe);
    }
    u[j] = saltusi_mode_velocity(w, w->t + theta * w->h, y, key, 0);
    largest = fmax(largest, fabs(u[j]));
  }
  integrate_flight(u, w->flight + (size_t)key * (SALTUSI_CHEBYSHEV + 1));
  w->flown[key] = true;
  return largest;
}

/* The integral over the whole step has the rounding of the whole step; a short part has its own. */
double saltusi_find_height(saltusi_adaptive* w, int key, double s) {
  double end = fmin(1.0, s / w->h);
  sample_flight(w, key, end);
  return end * w->h * saltusi_find_flight(w, key, 1.0);
}

/* ---- functions of theta -------------------------------------------------------------------- */

static double slip_speed(saltusi_adaptive* w, double t, const double* y, int key, double sign) {
  double u = saltusi_mode_velocity(w, t, y, key, 1);
  if (w->tangents[key] == 1) {
    return sign * u;
  }
  int first = w->nj + w->base[key] + 1;
  double u2 = saltusi_row_dot(&w->row, first + 1, saltusi_v_of(w, y)) + w->row.b[first + 1];
  return u * w->slip_start[2 * key] + u2 * w->slip_start[2 * key + 1] - w->slip_floor;
}

/* mu l_N + sign l_T, or mu l_N - |l_T| of a spatial contact */
static double friction_reserve(const saltusi_adaptive* w, const double* l, int key, double sign) {
  double friction = w->tangents[key] == 1 ? -sign * l[1] : hypot(l[1], l[2]);
  return w->mu[key] * l[0] - friction;
}

static double force_value(const search* s, const double* l) {
  const double* own = l + s->w->base[s->key];
  return s->what == NORMAL_FORCE ? own[0] : friction_reserve(s->w, own, s->key, s->sign);
}

static double evaluate(search* s, double theta) {
  saltusi_adaptive* w = s->w;
  double t = w->t + theta * w->h;
  switch (s->what) {
  case GAP:
    w->ops->dense(&w->motion, theta, 0, w->nq, w->probe);
    s->status = saltusi_mode_gaps(w, t, w->probe);
    return w->gap[s->key];
  case FLIGHT_MEAN:
    return saltusi_find_flight(w, s->key, theta) / theta;
  case FLIGHT_SUM:
    return w->contact[s->key].height + w->h * saltusi_find_flight(w, s->key, theta);
  case SLIP_SPEED:
    w->ops->dense(&w->motion, theta, 0, w->nq + w->nv, w->probe);
    return slip_speed(w, t, w->probe, s->key, s->sign);
  case NORMAL_FORCE:
  case FRICTION:
    break;
  }
  if (s->exact) {
    w->ops->dense(&w->motion, theta, 0, w->ny, w->probe);
    s->status = saltusi_mode_rate(w, t, w->probe, w->probe_rate);
    return force_value(s, w->probe_rate + w->nq + w->nv);
  }
  w->ops->dense_rate(&w->motion, theta, w->nq + w->nv, w->nl, w->probe);
  return force_value(s, w->probe);
}

/* ---- roots --------------------------------------------------------------------------------- */

/* f(x0) > 0 >= f(x1): a point with f <= 0 within `width` behind the root. */
static double close_in(search* s, double x0, double f0, double x1, double f1, double width) {
  enum { MOST = 80 };
  int side = 0;
  for (int k = 1; k <= MOST && x1 - x0 > width; k++) {
    double x = k % 5 != 0 && f0 > f1 ? x0 + (x1 - x0) * f0 / (f0 - f1) : 0.5 * (x0 + x1);
    if (!(x > x0 && x < x1)) {
      x = 0.5 * (x0 + x1);
    }
    if (!(x > x0 && x < x1)) {
      break;
    }
    double f = evaluate(s, x);
    if (f > 0.0) {
      x0 = x;
      f0 = f;
      f1 = side == -1 ? 0.5 * f1 : f1;
      side = -1;
    } else {
      x1 = x;
      f1 = f;
      f0 = side == 1 ? 0.5 * f0 : f0;
      side = 1;
      if (f == 0.0) {
        break;
      }
    }
  }
  return x1;
}

/* Samples of a function: at the start (NaN: not to be looked at) and at the nodes. */
typedef struct samples {
  double start;
  const double* at;
  double noise;
  double width;
  double
      wrong; /* a value below -wrong before any positive one is an event at the start; 0: never */
} samples;

/* Samples around a node: x, f of four neighbours and more; n of them, the lowest at `at`. */
typedef struct valley {
  const double* x;
  const double* f;
  int n, at;
} valley;

/* The lowest that a convex function can be between nodes i and i + 1: where the chords beside them, drawn
 * on, meet. Without a chord on both sides it may be anything. */
static double convex_bound(const valley* v, int i) {
  const double* x = v->x;
  const double* f = v->f;
  if (i < 1 || i + 2 >= v->n) {
    return -INFINITY;
  }
  double left = (f[i] - f[i - 1]) / (x[i] - x[i - 1]);
  double right = (f[i + 2] - f[i + 1]) / (x[i + 2] - x[i + 1]);
  if (!(left < 0.0 && right > 0.0)) {
    return fmin(f[i], f[i + 1]);
  }
  double s = (f[i + 1] - f[i] - right * (x[i + 1] - x[i])) / (left - right);
  return f[i] + left * fmin(fmax(s, 0.0), x[i + 1] - x[i]);
}

/* Three points, the middle one the lowest. */
typedef struct bracket {
  double x[3];
  double f[3];
} bracket;

static void narrow(bracket* b, bool ahead, double x, double f) {
  int moved = ahead ? 2 : 0; /* the end that x replaces, unless it is the new middle */
  if (f < b->f[1]) {
    b->x[2 - moved] = b->x[1];
    b->f[2 - moved] = b->f[1];
    moved = 1;
  }
  b->x[moved] = x;
  b->f[moved] = f;
}

/* Whether a parabola through the three stays clear of zero by half the lowest. */
static bool stays_clear(const bracket* b) {
  double left = (b->f[1] - b->f[0]) / (b->x[1] - b->x[0]);
  double right = (b->f[2] - b->f[1]) / (b->x[2] - b->x[1]);
  return b->f[1] - 0.25 * (right - left) * (b->x[2] - b->x[0]) > 0.5 * b->f[1];
}

/* A minimum below zero beside a node that is lower than its neighbours: its place, else NaN. Golden
 * sections, where a convex function could reach zero. */
static double hidden_minimum(search* s, const valley* v, double* value) {
  enum { FEW = 3, MOST = 12 };
  const double golden = 0.381966011250105152;
  int at = v->at;
  if (!(v->f[at - 1] > v->f[at] && v->f[at] < v->f[at + 1] && v->f[at] > 0.0)) {
    return NAN;
  }
  if (convex_bound(v, at - 1) > 0.0 && convex_bound(v, at) > 0.0) {
    return NAN;
  }
  bracket b = {{v->x[at - 1], v->x[at], v->x[at + 1]}, {v->f[at - 1], v->f[at], v->f[at + 1]}};
  for (int k = 0; k < MOST && (k <= FEW || !stays_clear(&b)); k++) {
    double before = b.x[1] - b.x[0];
    double behind = b.x[2] - b.x[1];
    bool ahead = behind > before;
    double x = b.x[1] + golden * (ahead ? behind : -before);
    *value = evaluate(s, x);
    if (*value < 0.0) {
      return x;
    }
    narrow(&b, ahead, x, *value);
  }
  return NAN;
}

/* A function that starts from zero and is negative at x1: it may have been positive for a moment. Its
 * root in between, or the start. */
static double early_root(search* s, const samples* f, double x1, double y1) {
  enum { MOST = 20 };
  double x = x1;
  for (int k = 0; k < MOST; k++) {
    x *= 0.25;
    double y = evaluate(s, x);
    if (y > f->noise) {
      return close_in(s, x, y, x1, y1, f->width);
    }
    if (y < 0.0) {
      x1 = x;
      y1 = y;
    }
  }
  return 0.0;
}

/* The first change from + to -; NaN when there is none. A function that is never positive and ends
 * negative had its event at the start. */
static double first_root(search* s, const samples* f) {
  double x[SALTUSI_NODES + 1];
  double y[SALTUSI_NODES + 1];
  int n = 0;
  if (!isnan(f->start)) {
    x[n] = 0.0;
    y[n++] = f->start;
  }
  for (int i = 0; i < SALTUSI_NODES; i++) {
    x[n] = nodes[i];
    y[n++] = f->at[i];
  }
  bool seen = false;
  for (int i = 0; i < n; i++) {
    if (y[i] > f->noise) {
      seen = true;
    } else if (y[i] < -f->noise && seen) {
      int j = i - 1;
      while (j > 0 && y[j] <= 0.0) {
        j--;
      }
      return close_in(s, x[j], y[j], x[i], y[i], f->width);
    } else if (f->wrong > 0.0 && y[i] < -f->wrong) {
      return early_root(s, f, x[i], y[i]);
    }
    if (seen && i > 0 && i < n - 1) {
      double value = NAN;
      double lowest = hidden_minimum(s, &(valley){.x = x, .f = y, .n = n, .at = i}, &value);
      if (!isnan(lowest)) {
        int j = lowest > x[i] ? i : i - 1;
        return close_in(s, x[j], y[j], lowest, value, f->width);
      }
    }
  }
  if (seen || !(y[n - 1] < -f->noise)) {
    return NAN;
  }
  return isnan(f->start) && y[0] < 0.0 ? early_root(s, f, x[0], y[0]) : 0.0;
}

/* A gap that closes at the start with `slope` and is larger at the first node may have been closed in
 * between: its root there, else NaN. Not before its tangent meets zero. */
static double early_dip(search* s, const samples* f, double slope) {
  double x = slope < 0.0 && f->start > 0.0 ? -f->start / slope : INFINITY;
  if (!(x < nodes[0]) || !(f->at[0] > 0.0)) {
    return NAN;
  }
  double at = evaluate(s, x);
  double lowest = x;
  if (at > 0.0) {
    const double place[3] = {0.0, x, nodes[0]};
    const double value[3] = {f->start, at, f->at[0]};
    lowest = hidden_minimum(s, &(valley){.x = place, .f = value, .n = 3, .at = 1}, &at);
  }
  return isnan(lowest) ? NAN : close_in(s, 0.0, f->start, lowest, at, f->width);
}

static void add(saltusi_adaptive* w, saltusi_found_kind kind, int key, double theta,
                double origin) {
  if (!isnan(theta)) {
    w->found[w->found_count++] =
        (saltusi_found){.kind = kind, .key = key, .theta = theta, .origin = origin};
  }
}

/* ---- contacts ------------------------------------------------------------------------------ */

static saltus_status find_hit(saltusi_adaptive* w, int key) {
  search s = {.w = w, .what = GAP, .key = key};
  double at[SALTUSI_NODES];
  samples f = {.at = at, .width = fine};
  if (w->contact[key].touching == 0.0) {
    for (int i = 0; i < SALTUSI_NODES; i++) {
      at[i] = w->node_gap[(size_t)i * (size_t)w->nc + (size_t)key];
    }
    f.start = w->gap_start[key];
  } else {
    double largest = sample_flight(w, key, 1.0);
    bool deflated = w->contact[key].height <= 0.0;
    s.what = deflated ? FLIGHT_MEAN : FLIGHT_SUM;
    for (int i = 0; i < SALTUSI_NODES; i++) {
      at[i] = evaluate(&s, nodes[i]);
    }
    f.start = deflated ? NAN : w->contact[key].height;
    f.noise = deflated ? fmax(1e-12 * largest, 32.0 * DBL_EPSILON * w->memory->v_max) : 0.0;
    /* thrown back before it has left, by another impact at the same instant */
    f.wrong = deflated ? fmax(f.noise, 0.01 * w->atol_v_min) : 0.0;
  }
  double root = NAN;
  if (s.what == GAP) {
    root = early_dip(&s, &f, w->h * saltusi_mode_velocity(w, w->t, w->y0, key, 0));
  }
  root = isnan(root) ? first_root(&s, &f) : root;
  add(w, SALTUSI_FOUND_HIT, key, root, root);
  return s.status;
}

static saltus_status find_stop(saltusi_adaptive* w, int key) {
  const saltusi_contact_memory* c = &w->contact[key];
  search s = {.w = w, .what = SLIP_SPEED, .key = key, .sign = c->sense};
  double at[SALTUSI_NODES];
  size_t width = (size_t)w->nq + (size_t)w->nv;
  for (int i = 0; i < SALTUSI_NODES; i++) {
    const double* y = i == SALTUSI_NODES - 1 ? w->y1 : w->node_y + (size_t)i * width;
    at[i] = slip_speed(w, w->t + nodes[i] * w->h, y, key, s.sign);
  }
  samples f = {.at = at, .width = fine};
  bool fresh = c->fresh_slip != 0.0;
  double speed = fmax(saltusi_max_abs(w->nv, saltusi_v_of(w, w->y1)), DBL_MIN);
  f.noise = fresh ? 1e-13 * speed : 0.0;
  f.wrong = fresh ? fmax(f.noise, saltusi_slip_rounding(w)) : 0.0;
  f.start = fresh ? NAN : slip_speed(w, w->t, w->y0, key, s.sign);
  double root = first_root(&s, &f);
  add(w, SALTUSI_FOUND_STOP, key, root, root);
  return s.status;
}

/* Closes in on the true root of a force from an approximate one, by secants (section 4.1). */
static double polish(search* s, double x, double width, double at_end) {
  double f = x < 1.0 ? evaluate(s, x) : at_end;
  double move = 1e-2;
  for (int k = 0; k < 4; k++) {
    double d = k == 0 ? 1e-3 : fmax(1e-6, 0.1 * fabs(move));
    double other = x > 0.5 ? x - d : x + d;
    double slope = (f - evaluate(s, other)) / (x - other);
    if (!(slope < 0.0)) {
      break;
    }
    move = -f / slope;
    if (fabs(move) > 0.3) {
      break;
    }
    x = fmin(1.0, fmax(0.0, x + move));
    if (fabs(move) <= width) {
      break;
    }
    f = evaluate(s, x);
  }
  return x;
}

/* Whether forces exist that keep every sticking contact sticking, at a place of the step. */
static saltus_status check_sticks(saltusi_adaptive* w, double theta, bool* sticks) {
  double t = w->t + theta * w->h;
  int count = 0;
  w->ops->dense(&w->motion, theta, 0, w->ny, w->probe);
  memcpy(w->mode_check, w->contact, (size_t)w->nc * sizeof *w->contact);
  saltusi_find_senses(w, t, w->probe);
  for (int key = 0; key < w->nc; key++) {
    if (saltusi_mode_closed(w, key)) {
      w->set[count++] = key;
    }
  }
  saltus_status status = saltusi_decide_status(w, t, w->probe, count);
  *sticks = status == SALTUS_OK;
  for (int key = 0; key < w->nc; key++) {
    bool stuck = w->mode_check[key].mode == SALTUSI_STICK;
    *sticks = *sticks && !(stuck && w->contact[key].mode == SALTUSI_SLIP);
  }
  memcpy(w->contact, w->mode_check, (size_t)w->nc * sizeof *w->contact);
  return status == SALTUS_RETRY_SMALLER ? SALTUS_OK : status;
}

/* Redundant supports share friction in many ways. The spread of the dynamics is one of them: when it uses
 * up a cone, the friction problem tells whether another one does not. */
static saltus_status find_shared_slide(saltusi_adaptive* w, int key, double from) {
  double width = fmin(1e-3, 0.01 * sqrt(fmax(w->settings.rtol, 1e-14)));
  bool sticks = true;
  saltus_status status = check_sticks(w, 1.0, &sticks);
  if (status != SALTUS_OK || sticks) {
    return status;
  }
  double last = from;
  double first = 1.0;
  while (status == SALTUS_OK && first - last > width) {
    double middle = 0.5 * (first + last);
    status = check_sticks(w, middle, &sticks);
    last = sticks ? middle : last;
    first = sticks ? first : middle;
  }
  add(w, SALTUSI_FOUND_SLIDE, key, first, last);
  return status;
}

static saltus_status find_force(saltusi_adaptive* w, saltusi_found_kind kind, int key,
                                quantity what, double sign) {
  search s = {.w = w, .what = what, .key = key, .sign = sign};
  double width = fmin(1e-3, 0.01 * sqrt(fmax(w->settings.rtol, 1e-14)));
  double at[SALTUSI_NODES];
  double start = force_value(&s, w->rate0 + w->nq + w->nv);
  double end = force_value(&s, w->rate1 + w->nq + w->nv);
  double size = fmax(fabs(start), fabs(end));
  for (int i = 0; i < SALTUSI_NODES - 1; i++) {
    at[i] = force_value(&s, w->node_rate + (size_t)i * (size_t)w->nl);
    size = fmax(size, fabs(at[i]));
  }
  at[SALTUSI_NODES - 1] = end;
  samples f = {.at = at, .width = 1e-3 * width, .noise = 1e-13 * size};
  f.start = fmax(start, 1e-12 * size); /* a status that has just begun holds */
  double root = first_root(&s, &f);
  if (isnan(root)) {
    return s.status;
  }
  if (kind == SALTUSI_FOUND_SLIDE && w->redundant) {
    return find_shared_slide(w, key, root);
  }
  s.exact = true;
  root = polish(&s, root, width, end);
  double late = root;
  for (int k = 0; k < 8; k++) {
    late = fmin(1.0, root + width * ldexp(1.0, k));
    double value = late < 1.0 ? evaluate(&s, late) : end;
    if (value < 0.0 || late >= 1.0) {
      break;
    }
  }
  add(w, kind, key, late, root);
  return s.status;
}

static saltus_status find_closed(saltusi_adaptive* w, int key) {
  saltusi_contact_mode mode = saltusi_mode_of(w, key);
  saltus_status status = SALTUS_OK;
  if (mode == SALTUSI_IDLE) {
    double u = saltusi_mode_velocity(w, w->t + w->h, w->y1, key, 0);
    add(w, SALTUSI_FOUND_DECIDE, key, u < -saltusi_slip_rounding(w) ? 1.0 : NAN, 1.0);
    return status;
  }
  if (mode == SALTUSI_SLIP && w->mu[key] > 0.0) {
    status = find_stop(w, key);
  }
  if (status == SALTUS_OK) {
    status = find_force(w, SALTUSI_FOUND_OPEN, key, NORMAL_FORCE, 0.0);
  }
  bool sticks = mode == SALTUSI_STICK && w->mu[key] > 0.0;
  for (int side = 0; sticks && side < 2 && status == SALTUS_OK; side++) {
    if (side == 0 || w->tangents[key] == 1) {
      status = find_force(w, SALTUSI_FOUND_SLIDE, key, FRICTION, side == 0 ? -1.0 : 1.0);
    }
  }
  return status;
}

/* What all contacts need: gaps, states and forces at the nodes. */
static saltus_status sample(saltusi_adaptive* w) {
  size_t width = (size_t)w->nq + (size_t)w->nv;
  bool closed = false;
  saltus_status status = saltusi_mode_gaps(w, w->t, w->y0);
  memcpy(w->gap_start, w->gap, (size_t)w->nc * sizeof(double));
  for (int key = 0; key < w->nc; key++) {
    w->flown[key] = false;
    closed = closed || saltusi_mode_pressed(w, key);
  }
  for (int i = 0; i < SALTUSI_NODES && status == SALTUS_OK; i++) {
    const double* y = w->y1;
    if (i < SALTUSI_NODES - 1) {
      w->ops->dense(&w->motion, nodes[i], 0, w->nq + w->nv, w->node_y + (size_t)i * width);
      y = w->node_y + (size_t)i * width;
      if (closed) {
        w->ops->dense_rate(&w->motion, nodes[i], w->nq + w->nv, w->nl,
                           w->node_rate + (size_t)i * (size_t)w->nl);
      }
    }
    status = saltusi_mode_gaps(w, w->t + nodes[i] * w->h, y);
    memcpy(w->node_gap + (size_t)i * (size_t)w->nc, w->gap, (size_t)w->nc * sizeof(double));
  }
  return status;
}

/* By place; what happens at the same place stays in the order of kinds and keys. */
static void sort_found(saltusi_adaptive* w) {
  for (int i = 1; i < w->found_count; i++) {
    saltusi_found f = w->found[i];
    int k = i;
    for (; k > 0 && w->found[k - 1].theta > f.theta; k--) {
      w->found[k] = w->found[k - 1];
    }
    w->found[k] = f;
  }
}

saltus_status saltusi_find_events(saltusi_adaptive* w) {
  w->found_count = 0;
  saltus_status status = sample(w);
  for (int key = 0; key < w->nc && status == SALTUS_OK; key++) {
    status = saltusi_mode_closed(w, key) ? find_closed(w, key)
             : isinf(w->gap_start[key])  ? SALTUS_OK
                                         : find_hit(w, key);
  }
  sort_found(w);
  return status;
}
