/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * gauss_seidel.c - nonsmooth Gauss-Seidel (Jourdan, Alart & Jean, CMAME 155 (1998) 31-47): unit by unit the exact
 * one-contact problem with the newest impulses of the others. Bilateral units solve their own rows, r_i <- r_i -
 * W_ii^-1 u_i.
 *
 * Anderson acceleration of type II (Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735) of the map x -> g(x) of one
 * iteration, with f = (g - x) / rho:
 *
 *   x+ = g - dG c,   c = argmin |f - dF c|
 *
 * over the last five changes. The history is dropped when |f| exceeds 1.5 times its minimum, and x+ is projected onto
 * the cones. Plain iterations can cycle; no cycle of accelerated ones was observed.
 */
#include "solve/friction/gauss_seidel.h"

#include "math/matrix.h"
#include "solve/friction/domains.h"
#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <string.h>

/* Iterations between evaluations of the true residual, if the increment is not small before. */
enum { LOOK_ACCELERATED = 20, LOOK_PLAIN = 25, LOOK_AGAIN = 3 };
/* The increment of an iteration approximates the residual before it: the true residual, which costs a product with W,
 * is evaluated below this fraction of the tolerance. Chosen. */
static const double look_part = 0.7;
/* Regularisation of the normal equations for nearly dependent changes, relative to their trace: products below it are
 * rounding (5000 eps for five changes of many rows). */
static const double regularisation = 1e-12;
/* The history is dropped when |f| exceeds its minimum by this factor. */
static const double history_dropped = 1.5;

void saltusi_gauss_seidel_layout(saltusi_gauss_seidel_work* work, int rows, saltus_arena* arena) {
  assert(work != NULL && arena != NULL && rows >= 0);
  work->u = SALTUS_PUSH(arena, double, rows);
  work->before = SALTUS_PUSH(arena, double, rows);
  work->after = SALTUS_PUSH(arena, double, rows);
  saltusi_anderson_layout(&work->mixing, rows, SALTUSI_ANDERSON_DEPTH, rows, arena);
}

/* Increments of one visit, squared and scaled to a velocity. d is constant where inlined. */
static inline double visit_uniform(saltusi_friction_case* in, int i, const int d, double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double* ri = r + i * d;
  double b[3];
  double fresh[3];
  saltusi_friction_uniform_row(in, i, d, r, b);
  if (pattern->diagonal[i] >= 0) {
    const double* own = in->values + pattern->place[pattern->diagonal[i]];
    for (int k = 0; k < d; k++) {
      for (int c = 0; c < d; c++) {
        b[k] -= own[k * d + c] * ri[c];
      }
    }
  }
  const double* local = in->local + pattern->local_at[i];
  if (d == 3) {
    saltusi_one_contact_spatial(local, in->mu[i], b, fresh, in->slip + i);
  } else {
    saltusi_one_contact_planar(local, in->mu[i], b, fresh);
  }
  double sum = 0.0;
  for (int k = 0; k < d; k++) {
    double change = (fresh[k] - ri[k]) / in->rho[i];
    sum += change * change;
    ri[k] = fresh[k];
  }
  return sum;
}

/* The increment is solved for, not the impulse: it has no rounding errors along the null space of redundant rows. */
static double visit_bilateral(saltusi_friction_case* in, int i, double* r, double* u) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int d = saltusi_unit_rows(pattern, i);
  saltusi_friction_row(in, i, r, u);
  const double* inverse = in->local + pattern->local_at[i];
  double* ri = r + pattern->offset[i];
  double sum = 0.0;
  for (int k = 0; k < d; k++) {
    double change = saltusi_dot(d, inverse + k * d, u);
    ri[k] -= change;
    sum += u[k] * u[k];
  }
  return sum;
}

/* u: workspace for the velocity of a bilateral unit. */
static double visit_general(saltusi_friction_case* in, int i, double* r, double* u) {
  const saltusi_friction_pattern* pattern = in->pattern;
  if (pattern->bilateral[i] != 0) {
    return visit_bilateral(in, i, r, u);
  }
  int d = saltusi_unit_rows(pattern, i);
  double* ri = r + pattern->offset[i];
  double b[3];
  double fresh[3];
  saltusi_friction_row(in, i, r, b);
  if (pattern->diagonal[i] >= 0) {
    const double* own = in->values + pattern->place[pattern->diagonal[i]];
    for (int k = 0; k < d; k++) {
      b[k] -= saltusi_dot(d, own + k * d, ri);
    }
  }
  const double* local = in->local + pattern->local_at[i];
  if (d == 3) {
    saltusi_one_contact_spatial(local, in->mu[i], b, fresh, in->slip + i);
  } else if (d == 2) {
    saltusi_one_contact_planar(local, in->mu[i], b, fresh);
  } else {
    saltusi_one_contact_normal(local, b, fresh);
  }
  double sum = 0.0;
  for (int k = 0; k < d; k++) {
    double change = (fresh[k] - ri[k]) / in->rho[i];
    sum += change * change;
    ri[k] = fresh[k];
  }
  return sum;
}

/* Visits units in the given order, order NULL: that of the problem; returns the sum of the squared increments. */
static double visit_all(saltusi_friction_case* in, const int* order, int count, double* r,
                        double* u) {
  double sum = 0.0;
  if (in->pattern->uniform == 3) {
    for (int k = 0; k < count; k++) {
      sum += visit_uniform(in, order != NULL ? order[k] : k, 3, r);
    }
  } else if (in->pattern->uniform == 2) {
    for (int k = 0; k < count; k++) {
      sum += visit_uniform(in, order != NULL ? order[k] : k, 2, r);
    }
  } else {
    for (int k = 0; k < count; k++) {
      sum += visit_general(in, order != NULL ? order[k] : k, r, u);
    }
  }
  return sum;
}

/* An iteration over the domains of one colour. */
typedef struct colour_sweep {
  saltusi_friction_case* in;
  double* r;
  int domain; /* first of the colour */
  double sums[SALTUSI_DOMAINS_MOST];
} colour_sweep;

static void sweep_domain(void* context, int job) {
  colour_sweep* s = context;
  const saltusi_domains* domains = s->in->domains;
  int domain = s->domain + job;
  int from = domains->first[domain];
  double* u = domains->scratch + (size_t)domain * (size_t)domains->unit_max;
  s->sums[domain] =
      visit_all(s->in, domains->unit + from, domains->first[domain + 1] - from, s->r, u);
}

double saltusi_sweep(saltusi_friction_case* in, double* r) {
  assert(in != NULL);
  if (saltusi_parts(in) == 1) {
    return sqrt(visit_all(in, NULL, in->pattern->units, r, in->scratch)) / in->velocity_unit;
  }
  const saltusi_domains* domains = in->domains;
  colour_sweep s = {.in = in, .r = r};
  for (int colour = 0; colour < domains->colours; colour++) {
    s.domain = domains->colour[colour];
    saltusi_thread_pool_run(in->team, domains->colour[colour + 1] - s.domain, sweep_domain, &s);
  }
  double sum = 0.0;
  for (int k = 0; k < domains->count; k++) {
    sum += s.sums[k];
  }
  return sqrt(sum) / in->velocity_unit;
}

static saltusi_stage plain_sweeps(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                  const saltusi_gauss_seidel_settings* settings, double* r) {
  int look = 0;
  for (int k = 0; k < settings->sweeps; k++) {
    double estimate = saltusi_sweep(in, r);
    bool small = estimate <= look_part * settings->tol;
    if (small || k >= look) {
      double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
      if (residual <= settings->tol) {
        return (saltusi_stage){k + 1, residual};
      }
      look = k + (small ? LOOK_AGAIN : LOOK_PLAIN);
    }
  }
  double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
  return (saltusi_stage){settings->sweeps, residual};
}

/* f = (after - before) / rho over before; |f| */
static double form_increment(const saltusi_friction_case* in, const double* after, double* before) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    double weight = 1.0 / in->rho[i];
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
      double f = (after[a] - before[a]) * weight;
      before[a] = f;
      sum += f * f;
    }
  }
  return sqrt(sum);
}

static saltusi_stage accelerated_sweeps(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                        const saltusi_gauss_seidel_settings* settings, double* r) {
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  double best = INFINITY;
  int look = 0;
  work->mixing.n = work->mixing.measured = in->pattern->rows;
  work->mixing.regularisation = regularisation;
  for (int k = 0, mixed = 0; k < settings->sweeps; k++, mixed++) {
    memcpy(work->before, r, bytes);
    double estimate = saltusi_sweep(in, r);
    double size = form_increment(in, r, work->before);
    if (size > history_dropped * best && mixed > 1) {
      work->mixing.kept = 0;
      mixed = 1;
      best = size;
    }
    best = fmin(best, size);
    if (estimate <= settings->tol || k >= look) {
      double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
      if (residual <= settings->tol) {
        return (saltusi_stage){k + 1, residual};
      }
      look = k + LOOK_ACCELERATED;
    }
    memcpy(work->after, r, bytes);
    saltusi_mix_points(&work->mixing, mixed, work->before, r);
    saltusi_friction_project(in, r);
  }
  if (settings->sweeps > 0) {
    memcpy(r, work->after, bytes);
  }
  double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
  return (saltusi_stage){settings->sweeps, residual};
}

saltusi_stage saltusi_gauss_seidel(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                   const saltusi_gauss_seidel_settings* settings, double* r) {
  assert(work != NULL && in != NULL && settings != NULL);
  return settings->anderson ? accelerated_sweeps(work, in, settings, r)
                            : plain_sweeps(work, in, settings, r);
}
