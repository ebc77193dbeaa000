/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_interior_point.c - infeasible predictor-corrector for monotone problems (Wright, Primal-Dual
 * Interior-Point Methods, 1997, chapter 8; Mehrotra's choice of sigma):
 *
 *   (M + Z^-1 W) dz = Z^-1 c + p,   dw = M dz - p,    p = w - M z - q
 *   predictor   c = -z w                              longest step a
 *   corrector   c = sigma mu - z w - dz dw,           sigma = (mu after the predictor / mu)^3
 *
 * Bilateral rows that are kept have w = 0 and z of any sign: their row is M dz = p.
 *
 * Principal pivoting cycles for many redundant contacts; the interior point does not. Principal pivoting from the final
 * active set gives the last digits.
 */
#include "solve/lcp/principal_pivoting.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Redundant rows have pivots of rounding size: a shift of 500 eps of the largest entry keeps them from zero. Bilateral
 * rows, whose diagonal is zero, have a hundred times this shift. */
static const double pivot_repair = 1e-13;
static const double bilateral_repair = 100.0;
/* The second-order term is omitted after a predictor step shorter than this; chosen. */
static const double predictor_short = 0.1;
/* Fraction of the distance to the boundary that a step takes (Nocedal & Wright, Numerical Optimization (2006), section
 * 14.2: in [0.9, 1)). */
static const double back = 0.995;
/* Steps below the square root of rounding are negligible. */
static const double step_least = 1e-8;
/* Fractions of the initial mean complementarity: below the first, signs of z - w determine the active rows, and
 * solutions are proposed; below the second, eps^(5/3), no further gain is possible. An iteration that keeps more than
 * `slow_part` of the mean is no progress; typical ones keep a hundredth. Chosen. */
static const double offered_from = 1e-10;
static const double mean_least = 1e-26;
static const double slow_part = 0.8;

typedef struct interior {
  saltusi_lcp_run* run;
  int n;
  int first;       /* first complementary row; rows before it are bilateral */
  double *z, *w;   /* the point */
  double *dz, *dw; /* the step */
  double* right;   /* [n] */
  double z_unit, w_unit;
} interior;

static double mean_product(const interior* p) {
  double sum = 0.0;
  for (int i = p->first; i < p->n; i++) {
    sum += p->z[i] * p->w[i];
  }
  return sum / (p->n - p->first);
}

/* Longest step that keeps z and w positive, at most 1. */
static double longest(const interior* p) {
  double step = 1.0;
  for (int i = p->first; i < p->n; i++) {
    if (p->dz[i] * step < -p->z[i]) {
      step = -p->z[i] / p->dz[i];
    }
    if (p->dw[i] * step < -p->w[i]) {
      step = -p->w[i] / p->dw[i];
    }
  }
  return step;
}

/* The step for the right-hand side c, given in p->right. */
static void find_step(interior* p) {
  saltusi_lcp_workspace* room = p->run->room;
  for (int i = 0; i < p->n; i++) {
    double miss = p->w[i] - (saltusi_lcp_matrix_row(p->run->M, i, p->z) + p->run->q[i]);
    p->dw[i] = -miss;
    room->value[i] = (i < p->first ? 0.0 : p->right[i] / p->z[i]) + miss;
  }
  saltusi_lcp_block_solve(&room->block, room->value);
  memcpy(p->dz, room->value, (size_t)p->n * sizeof(double));
  for (int i = 0; i < p->n; i++) {
    p->dw[i] = i < p->first ? 0.0 : p->dw[i] + saltusi_lcp_matrix_row(p->run->M, i, p->dz);
  }
}

/* One iteration; false when the matrix cannot be factored or the step vanishes. */
static bool iterate(interior* p) {
  saltusi_lcp_workspace* room = p->run->room;
  double least = pivot_repair * p->run->M->largest;
  for (int i = 0; i < p->n; i++) {
    room->diagonal[i] = i < p->first ? bilateral_repair * least : p->w[i] / p->z[i] + least;
    p->right[i] = -p->z[i] * p->w[i];
  }
  if (!saltusi_lcp_block_factor(&room->block, p->run->M, room->list, p->n, room->diagonal)) {
    return false;
  }
  double mu = mean_product(p);
  find_step(p);
  double step = longest(p);
  double after = 0.0;
  for (int i = p->first; i < p->n; i++) {
    after += (p->z[i] + step * p->dz[i]) * (p->w[i] + step * p->dw[i]);
  }
  double sigma = pow(fmax(after, 0.0) / (p->n - p->first) / mu, 3.0);
  double second = step > predictor_short ? 1.0 : 0.0;
  for (int i = 0; i < p->n; i++) {
    p->right[i] = fmin(sigma, 1.0) * mu - p->z[i] * p->w[i] - second * p->dz[i] * p->dw[i];
  }
  find_step(p);
  step = fmin(1.0, back * longest(p));
  for (int i = 0; i < p->n; i++) {
    p->z[i] += step * p->dz[i];
    p->w[i] += step * p->dw[i];
  }
  return step > step_least && isfinite(mu);
}

static void choose_active(const interior* p) {
  for (int i = 0; i < p->n; i++) {
    p->run->room->active[i] = i < p->first || p->z[i] * p->w_unit > p->w[i] * p->z_unit;
  }
}

/* The point as a solution: inactive entries are zero. */
static bool offer(const interior* p) {
  saltusi_lcp_workspace* room = p->run->room;
  choose_active(p);
  for (int i = 0; i < p->n; i++) {
    room->trial[i] = room->active[i] ? p->z[i] : 0.0;
  }
  return saltusi_lcp_run_offer(p->run, false);
}

static void start(interior* p) {
  saltusi_lcp_workspace* room = p->run->room;
  p->w_unit = p->run->q_size;
  p->z_unit = p->run->q_size / (p->run->M->largest > 0.0 ? p->run->M->largest : 1.0);
  for (int i = 0; i < p->n; i++) {
    room->list[i] = i;
    p->z[i] = i < p->first ? 0.0 : 10.0 * p->z_unit;
    p->w[i] = i < p->first ? 0.0 : 10.0 * p->w_unit;
  }
}

bool saltusi_lcp_run_interior(saltusi_lcp_run* run, int iterations) {
  assert(run != NULL && iterations >= 0);
  saltusi_lcp_workspace* room = run->room;
  interior p = {.run = run,
                .n = run->M->n,
                .first = run->bilateral,
                .z = run->z, /* the initial guess is not used */
                .w = room->rest,
                .dz = room->last,
                .dw = room->step,
                .right = room->shifted};
  start(&p);
  double first = mean_product(&p);
  double mu = first;
  int k = 0;
  int slow = 0; /* consecutive iterations without gain near the end */
  bool going = true;
  while (going && slow < 2 && !run->solved && k < iterations) {
    double before = mu;
    going = iterate(&p);
    mu = mean_product(&p);
    k++;
    if (mu < offered_from * first) {
      slow = mu > slow_part * before ? slow + 1 : 0;
      going = going && mu > mean_least * first && !offer(&p);
    }
  }
  saltusi_lcp_run_note(run, "interior-point", k);
  if (!run->solved) {
    choose_active(&p);
    for (int i = 0; i < p.n; i++) {
      room->last[i] = room->active[i] ? p.z[i] : 0.0;
    }
    saltusi_lcp_run_crossover(run);
  }
  return run->solved;
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_lcp_interior_point_options, iterations, 100, 1, 1e6,
               "factorisations at most"),
};

static void solve(saltusi_lcp_run* run) {
  const saltus_lcp_interior_point_options* o = run->options;
  saltusi_lcp_run_interior(run, o->iterations);
}

const saltusi_lcp_ops saltusi_lcp_interior_point = {
    .info = {.name = "interior-point",
             .summary = "predictor-corrector for monotone problems, however redundant",
             .source = "Wright 1997, chapter 8",
             .options = {fields, sizeof fields / sizeof *fields,
                         sizeof(saltus_lcp_interior_point_options)}},
    .keeps = true,
    .solve = solve,
};
