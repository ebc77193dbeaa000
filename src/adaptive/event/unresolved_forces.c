/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * unresolved_forces.c - force features between the stages of an accepted trial step (docs/theory/events.md, 5).
 *
 * The error estimate samples a force phi at a few points only. p is the polynomial through phi at nodes
 * that represent them; along the dense output
 *
 *   |phi - p| <= sum_{k<K} |phi_k(m) - p_k(m)| r^k + |phi_K(X) - p_K(X)| r^K
 *
 * on X with middle m and radius r, from Taylor coefficients at m and enclosures over X. Where that is
 * below the tolerance delta, p represents phi; other subintervals are
 * halved, and a remaining one ends the trial step before it:
 *
 *   force F_i                   delta = 0.2 / (h max_j |M^-1|_ji / sc_v,j)
 *   U of a closed contact       delta = 1 / max_j (|x_j| / sc_v,j),   x = P G / (G^T P G)
 *   dg/dtheta of a joint        delta = h / max_j (|x_j| / sc_v,j)
 *
 * The test verifies that the nodes represent phi, not that the step is accurate.
 */
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { K = 5, NODES_MAX = 11, QUICK = 6, STACK = 128, PIECES_MAX = 20000 };

/* The stages of Dormand and Prince and the middle; those of order 8 are as dense. */
static const double few_nodes[7] = {0.0, 0.2, 0.3, 0.5, 0.8, 8.0 / 9.0, 1.0};
static const double many_nodes[NODES_MAX] = {
    0.0, 0.02447174185242318, 0.09549150281252627, 0.20610737385376343, 0.34549150281252627,
    0.5, 0.65450849718747373, 0.79389262614623657, 0.90450849718747373, 0.97552825814757682,
    1.0};

/* Largest product of distances to 0, .2, .5, .8, 1 on [0,1], and a bound for 0, .2, .3, .5, .8, 1: factor of a
 * fifth or sixth Taylor coefficient in the error of interpolation there. */
static const double quick_product = 6e-3;

/* Fraction of the tolerance that an unresolved force may use: a finding costs steps only where it is narrow. */
static const double force_part = 0.2;
/* Largest product of an error, in delta, and its duration, in steps: a hundredth, so that the subintervals of a
 * step may add up. */
static const double brief_part = 0.01;
/* Largest Taylor remainder of phi, as part of delta: the polynomial through the nodes multiplies it by at most
 * nine (Lebesgue's constants of both sets of nodes are below 8). */
static const double beyond_part = 0.1;
/* Rounding of phi: widths of the enclosure at a point, which the sum of K + 1 terms also has, and a fraction of
 * the largest value at the nodes, ten times saltusi_sum_rounding for the polynomial through them. */
static const double point_widths = 8.0;
static const double polynomial_rounding = 1e-12;

typedef struct suspect {
  saltusi_search* search;
  saltus_quantity what;
  int index;
  int row; /* of a contact */
  double delta;
} suspect;

/* p around the middle of the step, in x = 2 theta - 1: well conditioned. */
typedef struct polynomial {
  int n; /* coefficients */
  double c[NODES_MAX];
  double size; /* largest value at the nodes */
} polynomial;

static void jet_of(const suspect* s, double a, double b, int order, saltusi_trajectory_jet* out) {
  saltusi_trajectory_jet jets[SALTUSI_VALUES];
  if (s->what == SALTUS_QUANTITY_JOINT) { /* its rate */
    saltusi_trajectory_along(s->search, a, b, order + 1, s->what, s->index, jets);
    for (int k = 0; k <= order; k++) {
      out->c[k].lo = (k + 1) * jets[0].c[k + 1].lo;
      out->c[k].hi = (k + 1) * jets[0].c[k + 1].hi;
    }
    return;
  }
  saltusi_trajectory_along(s->search, a, b, order, s->what, s->index, jets);
  *out = jets[s->what == SALTUS_QUANTITY_VELOCITY ? s->row : 0];
}

static double middle_of(saltus_interval x) {
  return isinf(x.lo) || isinf(x.hi) ? NAN : 0.5 * (x.lo + x.hi);
}

/* By Newton's divided differences. */
static polynomial interpolate(const suspect* s, const double* theta, int n) {
  polynomial p = {.n = n};
  double x[NODES_MAX];
  double d[NODES_MAX];
  for (int i = 0; i < n; i++) {
    saltusi_trajectory_jet jet;
    jet_of(s, theta[i], theta[i], 0, &jet);
    x[i] = 2.0 * theta[i] - 1.0;
    d[i] = middle_of(jet.c[0]);
    p.size = saltusi_larger(p.size, fabs(d[i]));
  }
  for (int k = 1; k < n; k++) {
    for (int i = n - 1; i >= k; i--) {
      d[i] = (d[i] - d[i - 1]) / (x[i] - x[i - k]);
    }
  }
  p.c[0] = d[n - 1];
  for (int i = n - 2; i >= 0; i--) { /* times (x - x_i), plus d_i */
    for (int k = n - 1; k > 0; k--) {
      p.c[k] = p.c[k - 1] - x[i] * p.c[k];
    }
    p.c[0] = d[i] - x[i] * p.c[0];
  }
  return p;
}

/* Taylor coefficients 0 .. K of p at the middle of [a,b] in theta, and bounds of the K-th over it. */
static void follow(const polynomial* p, double a, double b, double* at_middle,
                   saltus_interval* highest, saltus_interval* value) {
  double s[NODES_MAX];
  double m = a + b - 1.0;
  double r = b - a;
  memcpy(s, p->c, sizeof s);
  for (int k = 0; k < p->n - 1; k++) {
    for (int j = p->n - 2; j >= k; j--) {
      s[j] += m * s[j + 1];
    }
  }
  double scale = 1.0;
  for (int k = 0; k <= K; k++) { /* theta = (x + 1) / 2 */
    at_middle[k] = (k < p->n ? s[k] : 0.0) * scale;
    scale *= 2.0;
  }
  double spread = 0.0;
  double choose = 1.0;
  double power = r;
  for (int j = K + 1; j < p->n; j++) {
    choose *= (double)j / (j - K);
    spread += choose * fabs(s[j]) * power;
    power *= r;
  }
  spread *= scale / 2.0;
  *highest = (saltus_interval){at_middle[K] - spread, at_middle[K] + spread};
  double width = 0.0;
  power = r;
  for (int j = 1; j < p->n; j++) {
    width += fabs(s[j]) * power;
    power *= r;
  }
  *value = (saltus_interval){s[0] - width, s[0] + width};
}

static double distance(saltus_interval x, saltus_interval y) {
  return fmax(fabs(x.hi - y.lo), fabs(y.hi - x.lo));
}

typedef enum nearness { NOT_ASKED, NOT_KNOWN, KNOWN } nearness;

typedef enum finding { CLEAR, HALVE, BAD } finding;

static finding look(const suspect* s, const polynomial* p, double a, double b) {
  double m = 0.5 * (a + b);
  double r = 0.5 * (b - a);
  saltusi_trajectory_jet middle;
  saltusi_trajectory_jet whole;
  double at[K + 1];
  saltus_interval highest;
  saltus_interval value;
  jet_of(s, m, m, K - 1, &middle);
  jet_of(s, a, b, K, &whole);
  follow(p, a, b, at, &highest, &value);
  double bound = distance(whole.c[K], highest) * pow(r, K);
  double power = 1.0;
  for (int k = 0; k < K; k++) {
    bound += fabs(middle_of(middle.c[k]) - at[k]) * power;
    power *= r;
  }
  double range = distance(whole.c[0], value); /* the only bound if a formula has a kink */
  bound = isnan(bound) || range < bound ? range : bound;
  double rounding =
      point_widths * (middle.c[0].hi - middle.c[0].lo) + polynomial_rounding * p->size;
  double delta = s->delta + (isfinite(rounding) ? rounding : 0.0);
  if (bound <= delta || bound * (b - a) <= brief_part * delta) {
    return CLEAR;
  }
  double seen = fabs(middle_of(middle.c[0]) - at[0]);
  bool wrong = seen > delta && seen * (b - a) > brief_part * delta;
  return wrong || b - a < 0x1p-45 ? BAD : HALVE;
}

/* The highest Taylor coefficient over the whole trial step shows that a polynomial through some of the nodes is
 * accurate all along. */
static bool is_plain(const suspect* s) {
  saltusi_trajectory_jet whole;
  int order = s->what == SALTUS_QUANTITY_JOINT ? K : QUICK;
  jet_of(s, 0.0, 1.0, order, &whole);
  return saltusi_magnitude(whole.c[order]) * quick_product <= s->delta;
}

/* The first subinterval up to `end` on which p does not represent phi: false: none. */
static bool scan(const suspect* s, double end, double* a, double* b) {
  bool many = s->search->step->ops->dense_degree > 4;
  polynomial p = interpolate(s, many ? many_nodes : few_nodes, many ? NODES_MAX : 7);
  double stack[STACK][2] = {{0.0, end}};
  int count = 1;
  for (int k = 0; count > 0; k++) {
    *a = stack[count - 1][0];
    *b = stack[count - 1][1];
    count--;
    finding f = k < PIECES_MAX ? look(s, &p, *a, *b) : BAD;
    if (f == BAD) {
      return true;
    }
    if (f == HALVE) {
      double m = 0.5 * (*a + *b);
      stack[count][0] = m;
      stack[count++][1] = *b;
      stack[count][0] = *a;
      stack[count++][1] = m;
    }
  }
  return false;
}

/* M^-1 times a row, by its entries: n of them in search->x, in the columns search->column. */
static int answer(saltusi_search* search, int width, const int* column, const double* entries) {
  return saltusi_linear_solve_row(search->eval, &search->mode->mass, width, column, entries,
                                  search->column, search->x);
}

/* max_j |x_j| / sc_v,j of the result */
static double in_tolerances(const saltusi_search* search, int n) {
  double largest = 0.0;
  for (int k = 0; k < n; k++) {
    double scale = search->step->scale[search->o->nq + search->column[k]];
    largest = fmax(largest, fabs(search->x[k]) / scale);
  }
  return largest;
}

static double force_delta(saltusi_search* search, int i) {
  const double one = 1.0;
  int n = answer(search, 1, &i, &one);
  return force_part / (search->step->h * in_tolerances(search, n));
}

/* An error of the velocity along a row that changes v by its tolerance. */
static double row_delta(saltusi_search* search, int row) {
  const saltusi_row_block* rows = &search->mode->row;
  size_t start = (size_t)row * (size_t)rows->stride;
  bool dense = rows->column == NULL;
  const int* column = dense ? NULL : rows->column + start;
  const double* G = rows->G + start;
  int width = dense ? rows->stride : rows->entries[row];
  int n = answer(search, width, column, G);
  double compliance = 0.0;
  for (int k = 0, i = 0; k < n; k++) {
    while (i < width && (dense ? i : column[i]) < search->column[k]) {
      i++;
    }
    bool met = i < width && (dense ? i : column[i]) == search->column[k];
    compliance += met ? G[i] * search->x[k] : 0.0;
  }
  return compliance > 0.0 ? compliance / in_tolerances(search, n) : INFINITY;
}

/* Stores the fault of a candidate in the refusal, if it is the first in time. */
static void accuse(const suspect* s, double* end, saltusi_refusal* refusal) {
  double a;
  double b;
  if (!scan(s, *end, &a, &b)) {
    return;
  }
  bool all = a == 0.0 && b == *end;
  refusal->why = s->what == SALTUS_QUANTITY_FORCE   ? SALTUSI_HIDDEN_FORCE
                 : s->what == SALTUS_QUANTITY_JOINT ? SALTUSI_HIDDEN_JOINT
                                                    : SALTUSI_HIDDEN_CONTACT;
  refusal->index = s->index;
  refusal->part = all ? 0.5 * *end : fmax(a, 0.5 * (b - a));
  *end = fmin(*end, fmax(a, 0x1p-40)); /* other candidates are tested on the rest */
}

static bool may_hide(const saltusi_search* search, saltus_quantity what, int index) {
  return (saltusi_trajectory_depends(search, what, index) & SALTUS_NOT_POLYNOMIAL) != 0;
}

/* Evaluates rows at the start of the trial step, once. */
static void need_rows(saltusi_search* search, bool* there) {
  if (!*there) {
    saltusi_mode_rows(search->mode, search->step->t, search->step->y0, false);
  }
  *there = true;
}

/* Taylor remainders of all quantities of one kind, once. */
static bool need_beyond(saltusi_search* search, saltus_quantity what, nearness* known) {
  if (*known == NOT_ASKED) {
    *known = saltusi_trajectory_remainder(search, what) ? KNOWN : NOT_KNOWN;
  }
  return *known == KNOWN;
}

static void find_in_forces(saltusi_search* search, double* end, saltusi_refusal* refusal) {
  nearness known = NOT_ASKED;
  for (int i = 0; i < search->o->nv; i++) {
    if (may_hide(search, SALTUS_QUANTITY_FORCE, i)) {
      bool near = need_beyond(search, SALTUS_QUANTITY_FORCE, &known);
      if (near && search->beyond[i] == 0.0) {
        continue;
      }
      suspect s = {.search = search,
                   .what = SALTUS_QUANTITY_FORCE,
                   .index = i,
                   .delta = force_delta(search, i)};
      near = near && search->beyond[i] <= beyond_part * s.delta;
      if (!near && !is_plain(&s)) {
        accuse(&s, end, refusal);
      }
    }
  }
}

static void find_in_contacts(saltusi_search* search, bool* rows, double* end,
                             saltusi_refusal* refusal) {
  for (int key = 0; key < search->o->contacts; key++) {
    if (!saltusi_is_closed(&search->contact[key]) ||
        !may_hide(search, SALTUS_QUANTITY_VELOCITY, key)) {
      continue;
    }
    need_rows(search, rows);
    int last = search->o->mu[key] > 0.0 ? search->o->tangents[key] : 0;
    saltusi_trajectory_jet whole[SALTUSI_VALUES]; /* one for each row */
    saltusi_trajectory_along(search, 0.0, 1.0, QUICK, SALTUS_QUANTITY_VELOCITY, key, whole);
    for (int k = 0; k <= last; k++) {
      suspect s = {.search = search,
                   .what = SALTUS_QUANTITY_VELOCITY,
                   .index = key,
                   .row = k,
                   .delta = row_delta(search, search->o->nj + search->o->base[key] + k)};
      if (saltusi_magnitude(whole[k].c[QUICK]) * quick_product > s.delta) {
        accuse(&s, end, refusal);
      }
    }
  }
}

static void find_in_joints(saltusi_search* search, bool* rows, double* end,
                           saltusi_refusal* refusal) {
  nearness known = NOT_ASKED;
  for (int j = 0; j < search->o->nj; j++) {
    if (may_hide(search, SALTUS_QUANTITY_JOINT, j)) {
      bool near = need_beyond(search, SALTUS_QUANTITY_JOINT, &known);
      if (near && search->beyond[j] == 0.0) {
        continue;
      }
      need_rows(search, rows);
      suspect s = {.search = search,
                   .what = SALTUS_QUANTITY_JOINT,
                   .index = j,
                   .delta = search->step->h * row_delta(search, j)};
      if (!near || !(search->beyond[j] <= beyond_part * s.delta)) {
        accuse(&s, end, refusal);
      }
    }
  }
}

void saltusi_find_unresolved_forces(saltusi_search* search, double end, saltusi_refusal* refusal) {
  assert(search != NULL && refusal != NULL);
  bool rows = false;
  refusal->why = SALTUSI_NOT_REFUSED;
  if (saltusi_trajectory_encloses(search->sys, SALTUS_QUANTITY_FORCE)) {
    find_in_forces(search, &end, refusal);
  }
  if (saltusi_trajectory_encloses(search->sys, SALTUS_QUANTITY_VELOCITY)) {
    find_in_contacts(search, &rows, &end, refusal);
  }
  if (saltusi_trajectory_encloses(search->sys, SALTUS_QUANTITY_JOINT)) {
    find_in_joints(search, &rows, &end, refusal);
  }
}
