/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * root_isolation.c - first roots by interval exclusion.
 */
#include "adaptive/event/root_isolation.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Relative accuracy of roots found without evaluating the dynamics: some 4 ulp of the step. */
static const double fine = 1e-15;
/* Smallest subintervals, fractions of a step: 450 rounding units for gaps, ten times that for flights, whose
 * remainder is U times the subinterval; and at least the resolution of time. */
static const double smallest_piece = 1e-13;
static const double smallest_flight = 1e-12;
/* The same where U is integrated: five Gauss points are exact there up to rounding. */
static const double smallest_quadrature = 1e-9;

/* Enclosures of one search; above it the step is halved. */
enum { ENCLOSURES_MAX = 200000, STACK = 128, SAMPLES = 9 };
/* Subintervals of a flight whose U is not a polynomial: some 20 evaluations each. Where U is noise, as that of two
 * features that coincide, halving does not help. */
enum { FLIGHT_MAX = 500 };

double saltusi_close_in(saltusi_scalar_function f, void* context, const double x[2],
                        const double fx[2], double width) {
  assert(context != NULL);
  enum { MOST = 300 }; /* of which every fifth halves: enough for 2^-60 of the bracket */
  double x0 = x[0];
  double x1 = x[1];
  double f0 = fx[0];
  double f1 = fx[1];
  int side = 0;
  for (int k = 1; k <= MOST && x1 - x0 > width; k++) {
    double middle = k % 5 != 0 && f0 > f1 ? x0 + (x1 - x0) * f0 / (f0 - f1) : 0.5 * (x0 + x1);
    if (!(middle > x0 && middle < x1)) {
      middle = 0.5 * (x0 + x1);
    }
    if (!(middle > x0 && middle < x1)) {
      break;
    }
    double value = f(context, middle);
    if (value > 0.0) {
      x0 = middle;
      f0 = value;
      f1 = side == -1 ? 0.5 * f1 : f1;
      side = -1;
    } else {
      x1 = middle;
      f1 = value;
      f0 = side == 1 ? 0.5 * f0 : f0;
      side = 1;
      if (value == 0.0) {
        break;
      }
    }
  }
  return x1;
}

/* ---- the function and its jets ------------------------------------------------------------- */

/* Cached state at theta. Slots below SAMPLES hold the common sample points; the others form a ring buffer, so the
 * pointer is valid until it wraps. */
static saltusi_cached_state* place_at(saltusi_search* s, double theta, int slot) {
  for (int i = 0; i < SALTUSI_CACHED_STATES; i++) {
    if (s->place[i].theta == theta) {
      return &s->place[i];
    }
  }
  if (slot < 0) {
    slot = SAMPLES + s->next_place;
    s->next_place = (s->next_place + 1) % (SALTUSI_CACHED_STATES - SAMPLES);
  }
  s->place[slot].theta = theta;
  s->place[slot].gaps = false;
  s->place[slot].known = 0;
  return &s->place[slot];
}

/* The first `count` of positions and velocities at theta; the ends are exact. */
static const double* state_at(saltusi_search* search, double theta, int count, int slot) {
  if (theta == 0.0) {
    return search->step->y0;
  }
  if (theta == 1.0) {
    return search->step->y1;
  }
  saltusi_cached_state* p = place_at(search, theta, slot);
  if (p->known < count) {
    search->step->ops->dense(&search->step->motion, theta, p->known, count - p->known,
                             p->state + p->known);
    p->known = count;
  }
  return p->state;
}

/* The gap of one contact at theta: of it alone if the system has that, else with all gaps once. */
static double gap_at(saltusi_root_isolation* s, double theta, int slot) {
  saltusi_search* search = s->search;
  double t = search->step->t + theta * search->step->h;
  const double* q = state_at(search, theta, search->o->nq, slot);
  saltus_status status = SALTUS_OK;
  double gap = NAN;
  if (search->sys->ops->gaps != NULL) {
    status = saltusi_mode_gap(search->mode, t, q, s->key, &gap);
  } else {
    saltusi_cached_state* p = place_at(search, theta, slot);
    if (!p->gaps) {
      status = saltusi_mode_gaps(search->mode, t, q);
      memcpy(p->gap, search->mode->gap, (size_t)search->o->nc * sizeof(double));
      p->gaps = status == SALTUS_OK;
    }
    gap = p->gap[s->key];
  }
  s->status = s->status == SALTUS_OK ? status : s->status;
  return gap;
}

static double slip_at(const saltusi_root_isolation* s, double t, const double* y) {
  saltusi_search* search = s->search;
  double u = saltusi_mode_velocity(search->mode, t, y, s->key, 1);
  if (search->o->tangents[s->key] == 1) {
    return s->sign * u;
  }
  double sum = u * s->along[0];
  for (int k = 2; k <= search->o->tangents[s->key]; k++) {
    const saltusi_row_block* look = &search->mode->look;
    sum += (saltusi_row_dot(look, k, saltusi_v_of(search->o, y)) + look->b[k]) * s->along[k - 1];
  }
  return sum - search->o->slip_floor;
}

static double switch_at(const saltusi_root_isolation* s, double theta) {
  saltusi_trajectory_jet jet;
  saltusi_trajectory_along(s->search, theta, theta, 0, SALTUS_QUANTITY_SWITCH, s->key, &jet);
  return s->sign * 0.5 * (jet.c[0].lo + jet.c[0].hi);
}

/* ---- constant rows: f is a polynomial -------------------------------------------------------- */

static double power_at(const saltusi_root_isolation* s, double theta) {
  double sum = 0.0;
  for (int k = s->search->course.degree; k >= 0; k--) {
    sum = sum * theta + s->power[k];
  }
  return sum;
}

static bool is_affine(const saltusi_search* search, saltus_quantity what, int key) {
  if (search->sys->ops->rate != NULL) {
    return false;
  }
  if (!saltusi_trajectory_encloses(search->sys, what)) {
    return (search->sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  }
  /* U = G^T v + b with a constant b */
  unsigned bent = what == SALTUS_QUANTITY_VELOCITY ? SALTUS_ON_T | SALTUS_ON_Q : 0U;
  return (saltusi_trajectory_depends(search, what, key) & (SALTUS_NOT_AFFINE | bent)) == 0;
}

/* Adds s times row k of the contact along positions or velocities to the powers of f. */
static void add_row(saltusi_root_isolation* s, int k, double scale, bool velocity) {
  saltusi_search* search = s->search;
  const saltusi_row_block* row = &search->mode->look; /* of the contact, from find_powers */
  size_t stride = (size_t)search->o->nq + (size_t)search->o->nv;
  const double* c = saltusi_trajectory_powers(search) + (velocity ? search->o->nq : 0);
  for (int j = 0; j <= search->course.degree; j++) {
    s->power[j] += scale * saltusi_row_dot(row, k, c + (size_t)j * stride);
  }
  if (velocity) {
    s->power[0] += scale * row->b[k];
  } else {
    s->power[1] += scale * row->b[k] * search->step->h;
  }
}

/* The polynomial of a gap, of U (flight) or of a slip speed, where it is one. */
static void find_powers(saltusi_root_isolation* s, bool flight) {
  saltusi_search* search = s->search;
  bool velocity = flight || s->what == SALTUSI_ISOLATE_SLIP || s->what == SALTUSI_ISOLATE_ROW;
  saltus_quantity what = s->what == SALTUSI_ISOLATE_SWITCH ? SALTUS_QUANTITY_SWITCH
                         : velocity                        ? SALTUS_QUANTITY_VELOCITY
                                                           : SALTUS_QUANTITY_GAP;
  bool enclosed = saltusi_trajectory_encloses(search->sys, what);
  bool tangent = s->what == SALTUSI_ISOLATE_SLIP || (s->what == SALTUSI_ISOLATE_ROW && s->row > 0);
  bool beside = tangent && (s->key >= search->o->contacts ||
                            saltusi_friction_mode_is_beside(search->o, s->key));
  if (enclosed && beside) {
    s->affine = s->enclosed = false; /* enclosures include the rows of slip */
    return;
  }
  s->affine = s->what != SALTUSI_ISOLATE_SWITCH && is_affine(search, what, s->key);
  s->enclosed =
      !s->sampled && enclosed &&
      (s->what == SALTUSI_ISOLATE_SWITCH ||
       (saltusi_trajectory_depends(search, what, s->key) & (unsigned)SALTUS_NOT_ENCLOSED) == 0);
  if (!s->affine) {
    return;
  }
  for (int k = 0; k < SALTUSI_POWERS; k++) {
    s->power[k] = 0.0;
  }
  saltusi_mode_look(search->mode, search->step->t, search->step->y0, s->key);
  if (s->what == SALTUSI_ISOLATE_SLIP && !flight) {
    bool planar = search->o->tangents[s->key] == 1;
    add_row(s, 1, planar ? s->sign : s->along[0], true);
    for (int k = 2; k <= search->o->tangents[s->key]; k++) {
      add_row(s, k, s->along[k - 1], true);
    }
    s->power[0] -= planar ? 0.0 : search->o->slip_floor;
  } else if (s->what == SALTUSI_ISOLATE_ROW && !flight) {
    add_row(s, s->row, s->sign, true);
  } else {
    add_row(s, 0, 1.0, velocity);
  }
  if (!velocity) {
    s->power[0] = search->gap_start[s->key];
  }
}

static double value_in(saltusi_root_isolation* s, double theta, int slot) {
  saltusi_search* search = s->search;
  if (s->affine) {
    return power_at(s, theta) + s->shift;
  }
  double t = search->step->t + theta * search->step->h;
  int all = search->o->nq + search->o->nv;
  double f = 0.0;
  if (s->what == SALTUSI_ISOLATE_GAP) {
    f = gap_at(s, theta, slot);
  } else if (s->what == SALTUSI_ISOLATE_SLIP) {
    f = slip_at(s, t, state_at(search, theta, all, slot));
  } else if (s->what == SALTUSI_ISOLATE_ROW) {
    f = s->sign *
        saltusi_mode_velocity(search->mode, t, state_at(search, theta, all, slot), s->key, s->row);
  } else {
    f = switch_at(s, theta);
  }
  if (isnan(f) && s->status == SALTUS_OK) {
    s->status = SALTUS_RETRY_NAN;
  }
  return f + s->shift;
}

static double value_at(void* context, double theta) {
  return value_in(context, theta, -1);
}

static saltus_interval add_scaled(saltus_interval x, double s, saltus_interval y) {
  double lo = s >= 0.0 ? s * y.lo : s * y.hi;
  double hi = s >= 0.0 ? s * y.hi : s * y.lo;
  return (saltus_interval){nextafter(x.lo + lo, -INFINITY), nextafter(x.hi + hi, INFINITY)};
}

/* Order 2. */
static void enclosed_jet(saltusi_root_isolation* s, double a, double b,
                         saltusi_trajectory_jet* jet) {
  static const saltus_interval zero = {0.0, 0.0};
  saltusi_search* search = s->search;
  saltusi_trajectory_jet u[SALTUSI_VALUES];
  if (s->affine) {
    saltusi_powers_enclose(search->course.degree, s->power, a, b, 2, jet->c);
  } else if (s->what == SALTUSI_ISOLATE_GAP) {
    saltusi_trajectory_along(search, a, b, 2, SALTUS_QUANTITY_GAP, s->key, jet);
  } else if (s->what == SALTUSI_ISOLATE_SLIP) {
    saltusi_trajectory_along(search, a, b, 2, SALTUS_QUANTITY_VELOCITY, s->key, u);
    bool planar = search->o->tangents[s->key] == 1;
    for (int k = 0; k <= 2; k++) {
      jet->c[k] = add_scaled(zero, planar ? s->sign : s->along[0], u[1].c[k]);
      if (!planar) {
        double scale = saltusi_friction_scale(search->o->law[s->key]); /* rows are, formulas not */
        jet->c[k] = add_scaled(jet->c[k], scale * s->along[1], u[2].c[k]);
      }
    }
    jet->c[0].lo -= planar ? 0.0 : search->o->slip_floor;
    jet->c[0].hi -= planar ? 0.0 : search->o->slip_floor;
  } else if (s->what == SALTUSI_ISOLATE_ROW) {
    saltusi_trajectory_along(search, a, b, 2, SALTUS_QUANTITY_VELOCITY, s->key, u);
    for (int k = 0; k <= 2; k++) {
      double scale = s->row == 2 ? saltusi_friction_scale(search->o->law[s->key]) : 1.0;
      jet->c[k] = add_scaled(zero, scale * s->sign, u[s->row].c[k]);
    }
  } else {
    saltusi_trajectory_along(search, a, b, 2, SALTUS_QUANTITY_SWITCH, s->key, u);
    for (int k = 0; k <= 2; k++) {
      jet->c[k] = add_scaled(zero, s->sign, u[0].c[k]);
    }
  }
  jet->c[0].lo += s->shift;
  jet->c[0].hi += s->shift;
}

/* The range of samples, extended by its width on either side: an estimate, not a bound. */
static saltus_interval range_of(const double* x, int n) {
  double lo = x[0];
  double hi = x[0];
  for (int i = 1; i < n; i++) {
    lo = fmin(lo, x[i]);
    hi = fmax(hi, x[i]);
  }
  double spread = hi - lo;
  return (saltus_interval){lo - spread, hi + spread};
}

static void slopes_of(const double* f, int n, double width, double* slope) {
  for (int i = 0; i + 1 < n; i++) {
    slope[i] = (f[i + 1] - f[i]) * (n - 1) / width;
  }
}

/* Value, slope and half the second derivative over a subinterval, estimated from values at points of it. */
static void sampled_jet(saltusi_root_isolation* s, double a, double b, saltusi_trajectory_jet* jet,
                        saltusi_trajectory_jet* middle) {
  double f[SAMPLES];
  double D[SAMPLES];
  double W[SAMPLES];
  bool whole = a == 0.0 && b == s->end; /* as other contacts are */
  for (int i = 0; i < SAMPLES; i++) {
    double theta = i == SAMPLES - 1 ? b : a + (b - a) * i / (SAMPLES - 1);
    f[i] = value_in(s, theta, whole ? i : -1);
  }
  slopes_of(f, SAMPLES, b - a, D);
  slopes_of(D, SAMPLES - 1, (b - a) * (SAMPLES - 2) / (SAMPLES - 1), W);
  jet->c[0] = range_of(f, SAMPLES);
  jet->c[1] = range_of(D, SAMPLES - 1);
  jet->c[2] = range_of(W, SAMPLES - 2);
  jet->c[2] = (saltus_interval){0.5 * jet->c[2].lo, 0.5 * jet->c[2].hi};
  double slope = 0.5 * (D[SAMPLES / 2 - 1] + D[SAMPLES / 2]);
  middle->c[0] = (saltus_interval){f[SAMPLES / 2], f[SAMPLES / 2]};
  middle->c[1] = (saltus_interval){slope, slope};
}

/* Over a subinterval, and at its middle. */
static void jets_over(saltusi_root_isolation* s, double a, double b, saltusi_trajectory_jet* jet,
                      saltusi_trajectory_jet* middle) {
  double m = 0.5 * (a + b);
  if (s->affine || s->enclosed) {
    enclosed_jet(s, a, b, jet);
    enclosed_jet(s, m, m, middle);
  } else {
    sampled_jet(s, a, b, jet, middle);
  }
}

/* ---- subintervals still to be searched ------------------------------------------------------- */

/* Resolution of time, part of the step: one rounding each for t + theta h and for the formulas of it, twice. */
static double late_part(const saltusi_search* search) {
  return 4.0 * DBL_EPSILON * fabs(search->step->t) / search->step->h;
}

typedef struct root_isolation_segment {
  double a, b;
} root_isolation_segment;

typedef struct root_isolation_stack {
  root_isolation_segment at[STACK];
  int count;
  int taken;
} root_isolation_stack;

static void begin(root_isolation_stack* left, double start, double end) {
  *left = (root_isolation_stack){.count = 1};
  left->at[0] = (root_isolation_segment){start, end};
}

static bool next(saltusi_root_isolation* s, root_isolation_stack* left, root_isolation_segment* p) {
  if (left->count == 0 || s->status != SALTUS_OK) {
    return false;
  }
  if (saltusi_stopped(
          s->search->eval)) { /* an enclosure of a pair of shapes takes up to a millisecond */
    s->status = SALTUS_ERR_STOPPED;
    return false;
  }
  if (++left->taken > (s->most > 0 ? s->most : ENCLOSURES_MAX)) {
    s->status = SALTUS_RETRY_SMALLER;
    return false;
  }
  *p = left->at[--left->count];
  return true;
}

static void halve(root_isolation_stack* left, root_isolation_segment p) {
  double m = 0.5 * (p.a + p.b);
  left->at[left->count++] = (root_isolation_segment){m, p.b};
  left->at[left->count++] = (root_isolation_segment){p.a, m};
}

/* ---- separated contacts, slip speeds (14.1) ------------------------------------------------- */

/* The root of a subinterval at whose end f is not positive. */
static double root_in(saltusi_root_isolation* s, root_isolation_segment p, double f_end) {
  double f_start = value_at(s, p.a);
  if (!(f_start > 0.0)) {
    return p.a;
  }
  return saltusi_close_in(value_at, s, (const double[2]){p.a, p.b},
                          (const double[2]){f_start, f_end}, fine);
}

/* One subinterval: false if it has no root, true with *root if it has, or halved. */
static bool search_piece(saltusi_root_isolation* s, root_isolation_stack* left,
                         root_isolation_segment p, double* root) {
  double r = 0.5 * (p.b - p.a);
  saltusi_trajectory_jet whole;
  saltusi_trajectory_jet middle;
  jets_over(s, p.a, p.b, &whole, &middle);
  saltus_interval D = whole.c[1];
  double bent =
      middle.c[0].lo - saltusi_magnitude(middle.c[1]) * r + fmin(whole.c[2].lo, 0.0) * r * r;
  double straight = middle.c[0].lo - saltusi_magnitude(D) * r;
  double lowest = fmax(whole.c[0].lo, fmax(isnan(bent) ? -INFINITY : bent,
                                           isnan(straight) ? -INFINITY : straight)) -
                  s->noise;
  bool starts = s->fresh; /* it has not been positive yet */
  if (lowest > 0.0 || (D.lo > 0.0 && (starts || value_at(s, p.a) > -s->depth))) {
    s->fresh = false;
    return false;
  }
  bool small = lowest > -s->depth || p.b - p.a < fmax(smallest_piece, late_part(s->search));
  if (!small && !(D.hi < 0.0)) {
    halve(left, p);
    return false;
  }
  double f_end = value_at(s, p.b);
  s->fresh = s->fresh && !(f_end > s->noise);
  if (f_end > 0.0 || s->status != SALTUS_OK || (starts && f_end >= -s->depth)) {
    return false;
  }
  *root = root_in(s, p, f_end);
  return true;
}

/* A polynomial that cannot fall to zero within the search, by the sizes of its coefficients. */
static bool stays_above(const saltusi_root_isolation* s) {
  double fall = 0.0;
  for (int k = s->search->course.degree; k > 0; k--) {
    fall = (fall + fabs(s->power[k])) * s->end;
  }
  double start = s->power[0] + s->shift;
  double rounding = 16.0 * DBL_EPSILON * (fabs(start) + fall); /* two operations a term */
  return start - fall > s->noise + rounding;
}

void saltusi_count_search(saltusi_search* search, bool proven) {
  assert(search != NULL);
  saltusi_adaptive_counts* counts = search->mode->counts;
  counts->proven += proven ? 1 : 0;
  counts->sampled += proven ? 0 : 1;
}

double saltusi_isolate_root(saltusi_root_isolation* s, double end) {
  assert(s != NULL);
  root_isolation_stack left;
  root_isolation_segment p;
  double root = NAN;
  find_powers(s, false);
  saltusi_count_search(s->search, s->affine || s->enclosed);
  s->end = end;
  if (s->begin == 0.0 && s->affine && stays_above(s)) {
    s->fresh = false;
    return NAN;
  }
  begin(&left, s->begin, end);
  while (next(s, &left, &p)) {
    if (search_piece(s, &left, p, &root)) {
      return root;
    }
  }
  return NAN;
}

double saltusi_isolation_nodes(saltusi_root_isolation* s, const double* node, int count,
                               double end) {
  assert(s != NULL && count >= 0);
  double x = 0.0;
  double f = 0.0;
  find_powers(s, false);
  if (s->affine) { /* no further information */
    return saltusi_isolate_root(s, end);
  }
  saltusi_count_search(s->search, s->enclosed);
  f = value_at(s, 0.0);
  for (int i = 0; i < count && x < end && s->status == SALTUS_OK; i++) {
    double next_f = value_at(s, node[i]);
    if (!(next_f > 0.0)) {
      return f > 0.0 ? saltusi_close_in(value_at, s, (const double[2]){x, node[i]},
                                        (const double[2]){f, next_f}, fine)
                     : x;
    }
    x = node[i];
    f = next_f;
  }
  return NAN;
}

/* ---- flights from g = 0 (14.2) -------------------------------------------------------------- */

/* U of the dense output at theta. */
static double speed_at(saltusi_root_isolation* s, double theta) {
  saltusi_search* search = s->search;
  if (s->affine) {
    return power_at(s, theta);
  }
  const double u =
      saltusi_mode_velocity(search->mode, search->step->t + theta * search->step->h,
                            state_at(search, theta, search->o->nq + search->o->nv, -1), s->key, 0);
  if (isnan(u) && s->status == SALTUS_OK) { /* no enclosure would be conclusive */
    s->status = SALTUS_RETRY_NAN;
  }
  return u;
}

/* h times the integral of U: of its polynomial, or by Gauss with five points. */
static double risen(saltusi_root_isolation* s, double x0, double x1) {
  double L = x1 - x0;
  if (s->affine) {
    double c[SALTUSI_POWERS];
    int degree = s->search->course.degree;
    double sum = 0.0;
    memcpy(c, s->power, sizeof c);
    if (x0 != 0.0) {
      saltusi_powers_shift(degree, x0, c);
    }
    for (int k = degree; k >= 0; k--) {
      sum = (sum + c[k] / (k + 1)) * (k > 0 ? L : 1.0);
    }
    return s->search->step->h * L * sum;
  }
  static const double node[5] = {0.04691007703066800360, 0.23076534494715845448, 0.5,
                                 0.76923465505284154552, 0.95308992296933199640};
  static const double weight[5] = {0.11846344252809454376, 0.23931433524968323402,
                                   0.28444444444444444444, 0.23931433524968323402,
                                   0.11846344252809454376};
  double sum = 0.0;
  for (int i = 0; i < 5; i++) {
    sum += weight[i] * speed_at(s, x0 + L * node[i]);
  }
  return s->search->step->h * L * sum;
}

double saltusi_isolation_height(saltusi_search* search, int key, double end) {
  assert(search != NULL && key >= 0);
  enum { MOST = 64 };
  saltusi_root_isolation s = {.search = search, .what = SALTUSI_ISOLATE_GAP, .key = key};
  find_powers(&s, true);
  if (s.affine) {
    return risen(&s, 0.0, end);
  }
  double rounding =
      32.0 * DBL_EPSILON * search->memory->v_max * search->step->h; /* of h U, half that of a gap */
  /* prescribed motion is accurate to |U'| eps |t|, late in a run more than the rounding of U */
  double late = late_part(search);
  double steepest = 0.0; /* h U' so far, means over halves of subintervals */
  double from = 0.0;
  double sum = 0.0;
  double length = end;
  for (int k = 0; k < MOST * MOST && from < end && !saltusi_stopped(search->eval); k++) {
    double to = from + length < end ? from + length : end;
    double middle = 0.5 * (from + to);
    double once = risen(&s, from, to);
    double first = risen(&s, from, middle);
    double second = risen(&s, middle, to);
    double twice = first + second;
    double half = 0.5 * (to - from);
    steepest = fmax(steepest, fabs(second - first) / (half * half));
    double allowed =
        saltusi_sum_rounding * fabs(twice) + (rounding + late * steepest) * (to - from);
    if (fabs(twice - once) > allowed && length > smallest_quadrature * end) {
      length *= 0.5;
      continue;
    }
    sum += twice;
    from = to;
    length *= 2.0; /* the integrand is smooth again after a jump */
  }
  return from < end && !saltusi_stopped(search->eval) ? NAN : sum;
}

typedef struct root_isolation_flight {
  saltusi_root_isolation* s;
  double from; /* start of the subinterval, and the height there */
  double height;
  double rounding; /* of h U */
  double qs;       /* size of positions */
  bool over;       /* the gap itself is used from here on */
} root_isolation_flight;

static double height_at(void* context, double x) {
  const root_isolation_flight* f = context;
  return f->height + risen(f->s, f->from, x);
}

/* The same from samples of U. */
static void sampled_flight(saltusi_root_isolation* s, double a, double b, saltus_interval* D,
                           saltus_interval* W) {
  double u[SAMPLES];
  double slope[SAMPLES];
  int n = a == b ? 1 : SAMPLES;
  for (int i = 0; i < n; i++) {
    u[i] = s->search->step->h * speed_at(s, i == 0             ? a
                                            : i == SAMPLES - 1 ? b
                                                               : a + (b - a) * i / (SAMPLES - 1));
  }
  slopes_of(u, n, b - a, slope);
  *D = range_of(u, n);
  *W = n > 1 ? range_of(slope, n - 1) : (saltus_interval){0.0, 0.0};
  *W = (saltus_interval){0.5 * W->lo, 0.5 * W->hi};
}

/* h U and half its derivative over a subinterval. */
static void flight_jet(saltusi_root_isolation* s, double a, double b, saltus_interval* D,
                       saltus_interval* W) {
  saltusi_search* search = s->search;
  saltusi_trajectory_jet u[SALTUSI_VALUES];
  if (s->affine) {
    saltusi_powers_enclose(search->course.degree, s->power, a, b, 1, u[0].c);
  } else if (s->enclosed) {
    saltusi_trajectory_along(search, a, b, 1, SALTUS_QUANTITY_VELOCITY, s->key, u);
  } else {
    sampled_flight(s, a, b, D, W);
    return;
  }
  *D = (saltus_interval){search->step->h * u[0].c[0].lo, search->step->h * u[0].c[0].hi};
  *W =
      (saltus_interval){0.5 * search->step->h * u[0].c[1].lo, 0.5 * search->step->h * u[0].c[1].hi};
}

/* From here on f is the gap itself, shifted so that it is continuous. */
static void go_over(root_isolation_flight* f, root_isolation_stack* left,
                    root_isolation_segment p) {
  f->s->affine = false; /* its powers are those of U */
  f->s->shift = 0.0;
  f->s->shift = f->height - value_at(f->s, p.a);
  f->over = true;
  left->at[left->count++] = p;
}

static double flight_root(root_isolation_flight* f, root_isolation_segment p, double at_end) {
  return saltusi_close_in(height_at, f, (const double[2]){p.a, p.b},
                          (const double[2]){f->height, at_end}, fine);
}

/* A contact that moves along its surface, such as one of two identical ones while the other is closed: its speed
 * is rounding at all samples, and its depth stays below `depth` in the subinterval. */
static bool grazes(root_isolation_flight* f, root_isolation_segment p) {
  enum { LOOKS = 5 };
  saltusi_search* search = f->s->search;
  for (int i = 0; i < LOOKS; i++) {
    double x = p.a + (p.b - p.a) * i / (LOOKS - 1.0);
    /* both have the row, and the closed one is active; a tenth and ten times of it give the same table in `study
     * adversarial --count 2 --tol 1e-6`, as they do of short_piece below */
    if (fabs(search->step->h * speed_at(f->s, x)) > 4.0 * f->rounding) {
      return false;
    }
  }
  f->height = fmax(f->height + risen(f->s, p.a, p.b), 0.0);
  return true;
}

/* One subinterval of a flight, from the left; true with *root. The height at its start is given. */
static bool fly_piece(root_isolation_flight* f, root_isolation_stack* left,
                      root_isolation_segment p, double* root) {
  saltusi_search* search = f->s->search;
  double m = 0.5 * (p.a + p.b);
  double L = p.b - p.a;
  double zn = f->rounding;
  saltus_interval D;
  saltus_interval W;
  f->from = p.a;
  flight_jet(f->s, p.a, p.b, &D, &W);
  double start = search->step->h * speed_at(f->s, p.a);
  double parabola = f->height + start * L + W.lo * L * L;
  bool rises = start >= -zn && (start > zn || W.lo > 0.0) && parabola > 0.0 &&
               (W.lo <= 0.0 || f->height >= 0.0);
  bool none = saltusi_magnitude(D) <= zn || D.lo > 0.0 || f->height + D.lo * L > 0.0 || rises;
  if (!none && D.hi < 0.0 && f->height <= 0.0 && p.a == 0.0) {
    *root = 0.0;
    return true;
  }
  if (none || D.hi < 0.0) {
    double once = risen(f->s, p.a, p.b);
    double twice = f->s->affine ? once : risen(f->s, p.a, m) + risen(f->s, m, p.b);
    double allowed =
        saltusi_sum_rounding * saltusi_magnitude(D) * L + zn * L + 4.0 * DBL_EPSILON * f->height;
    if (fabs(twice - once) > allowed && L > smallest_quadrature) {
      if (f->height > saltusi_flown_part * f->qs) {
        go_over(f, left, p);
      } else {
        halve(left, p);
      }
      return false;
    }
    double end = f->height + twice;
    if (none || end > 0.0) {
      f->height = none ? fmax(end, 0.0) : end;
      return false;
    }
    *root = flight_root(f, p, end);
    return true;
  }
  if (L < fmax(smallest_flight, late_part(search)) ||
      D.hi - D.lo <= 4.0 * zn) { /* rounding: halving does not help */
    double end = f->height + risen(f->s, p.a, p.b);
    if (end < -zn * L && f->height > 0.0) {
      *root = flight_root(f, p, end);
      return true;
    }
    f->height = fmax(end, 0.0);
    return false;
  }
  if (f->height + D.lo * L > -f->s->depth && grazes(f, p)) {
    return false;
  }
  /* after five halvings in which the enclosure of U was inconclusive */
  const double short_piece = 0.05;
  if (f->height > saltusi_flown_part * f->qs && L < short_piece) {
    go_over(f, left, p);
  } else {
    halve(left, p);
  }
  return false;
}

double saltusi_isolation_flight(saltusi_root_isolation* s, double end) {
  assert(s != NULL);
  saltusi_search* search = s->search;
  root_isolation_stack left;
  root_isolation_segment p;
  double root = NAN;
  saltus_interval D;
  saltus_interval W;
  find_powers(s, true);
  saltusi_count_search(search, s->affine || s->enclosed);
  flight_jet(s, 0.0, 0.0, &D, &W); /* its width is the rounding of h U, for steep U 1e5 eps |v| */
  double speed = fmax(search->memory->v_max, search->speed);
  root_isolation_flight f = {.s = s,
                             .height = search->contact[s->key].height,
                             .rounding =
                                 fmax(32.0 * DBL_EPSILON * speed * search->step->h, D.hi - D.lo),
                             .qs = search->size};
  begin(&left, 0.0, end);
  s->most = s->most > 0 || s->affine ? s->most : FLIGHT_MAX;
  while (next(s, &left, &p)) {
    bool found = f.over ? search_piece(s, &left, p, &root) : fly_piece(&f, &left, p, &root);
    if (found) {
      return root;
    }
  }
  return NAN;
}
