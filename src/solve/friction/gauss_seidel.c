/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * gauss_seidel.c - nonsmooth Gauss-Seidel (Jourdan, Alart & Jean, CMAME 155 (1998) 31-47): unit by
 * unit the exact one-contact problem with the newest impulses of the others. Bilateral units solve
 * their own rows, r_i <- r_i - W_ii^-1 u_i.
 *
 * Anderson acceleration of type II (Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735) of the
 * map x -> g(x) of one sweep, with f = (g - x) / rho:
 *
 *   x+ = g - dG c,   c = argmin |f - dF c|
 *
 * over the last five changes. The history is dropped when |f| grows by half over the best, and x+
 * is put back on the cones. Plain iterations can cycle; no cycle of accelerated ones was observed.
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
/* Regularisation of the normal equations for nearly dependent changes, relative to their trace: products below it
 * are rounding (5000 eps for five changes of many rows). */
static const double mixing_repair = 1e-12;
/* With it pivots are positive: only a zero matrix is rejected. */
static const double mixing_pivot = 1e-300;

void saltusi_gauss_seidel_layout(saltusi_gauss_seidel_work* work, int rows, saltus_arena* arena) {
  assert(work != NULL && arena != NULL && rows >= 0);
  work->u = SALTUS_PUSH(arena, double, rows);
  work->before = SALTUS_PUSH(arena, double, rows);
  work->after = SALTUS_PUSH(arena, double, rows);
  work->last_f = SALTUS_PUSH(arena, double, rows);
  work->last_after = SALTUS_PUSH(arena, double, rows);
  work->f_change = SALTUS_PUSH2(arena, double, SALTUSI_ANDERSON_DEPTH, rows);
  work->after_change = SALTUS_PUSH2(arena, double, SALTUSI_ANDERSON_DEPTH, rows);
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

/* Solving for the increment keeps rounding out of the directions redundant rows leave free. */
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

/* Visits units one after the other, in the order of the problem (order NULL) or another; the squared
 * increments together. */
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

/* A sweep over the domains of one colour. */
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

enum { DEPTH = SALTUSI_ANDERSON_DEPTH };

/* State of the acceleration; changes are stored in a ring buffer. Vectors are worked on in parts, whose
 * sums are added in one order. */
typedef struct anderson {
  saltusi_friction_case* in;
  saltusi_gauss_seidel_work* work;
  double* r;
  double gram[DEPTH][DEPTH];
  int stored; /* points seen */
  int depth;  /* changes in use */
  double best;
  int slot;                   /* of the newest change; -1: none yet */
  int filled;                 /* slots that hold changes */
  double c[DEPTH];            /* by slot */
  struct anderson_sums* sums; /* by part */
} anderson;

typedef struct anderson_sums {
  double size2;
  double products[2][DEPTH]; /* of all changes with the newest, and with f */
} anderson_sums;

static void remember_part(void* context, int part) {
  anderson* s = context;
  size_t from = (size_t)saltusi_part_row(s->in, part);
  size_t to = (size_t)saltusi_part_row(s->in, part + 1);
  memcpy(s->work->before + from, s->r + from, (to - from) * sizeof(double));
}

/* f = (g - x) / rho over before; g = r is kept in after. |f|^2 */
static void increment_part(void* context, int part) {
  anderson* s = context;
  const saltusi_friction_pattern* pattern = s->in->pattern;
  double sum = 0.0;
  for (int i = saltusi_part_start(s->in, part); i < saltusi_part_start(s->in, part + 1); i++) {
    double weight = 1.0 / s->in->rho[i];
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
      double f = (s->r[a] - s->work->before[a]) * weight;
      s->work->after[a] = s->r[a];
      s->work->before[a] = f;
      sum += f * f;
    }
  }
  s->sums[part].size2 = sum;
}

/* Stores the newest change and its products. */
static void change_part(void* context, int part) {
  anderson* s = context;
  saltusi_gauss_seidel_work* work = s->work;
  size_t rows = (size_t)s->in->pattern->rows;
  int from = saltusi_part_row(s->in, part);
  int to = saltusi_part_row(s->in, part + 1);
  if (s->slot >= 0) {
    double* df = work->f_change + (size_t)s->slot * rows;
    double* dg = work->after_change + (size_t)s->slot * rows;
    for (int a = from; a < to; a++) {
      df[a] = work->before[a] - work->last_f[a];
      dg[a] = work->after[a] - work->last_after[a];
    }
    for (int k = 0; k < s->filled; k++) {
      const double* other = work->f_change + (size_t)k * rows + from;
      s->sums[part].products[0][k] = saltusi_long_dot(to - from, df + from, other);
      s->sums[part].products[1][k] = saltusi_long_dot(to - from, other, work->before + from);
    }
  }
  size_t bytes = (size_t)(to - from) * sizeof(double);
  memcpy(work->last_f + from, work->before + from, bytes);
  memcpy(work->last_after + from, work->after + from, bytes);
}

static double form_increment(anderson* s) {
  saltusi_run_parts(s->in, increment_part, s);
  double sum = s->sums[0].size2;
  for (int k = 1; k < saltusi_parts(s->in); k++) {
    sum += s->sums[k].size2;
  }
  return sqrt(sum);
}

static void store_change(anderson* s) {
  s->slot = s->stored > 0 ? (s->stored - 1) % DEPTH : -1;
  s->filled = s->stored < DEPTH ? s->stored : DEPTH;
  saltusi_run_parts(s->in, change_part, s);
  s->depth += s->slot >= 0 && s->depth < DEPTH ? 1 : 0;
  s->stored++;
  for (int k = 0; k < s->filled; k++) {
    double product = s->sums[0].products[0][k];
    s->c[k] = s->sums[0].products[1][k];
    for (int part = 1; part < saltusi_parts(s->in); part++) {
      product += s->sums[part].products[0][k];
      s->c[k] += s->sums[part].products[1][k];
    }
    s->gram[s->slot][k] = product;
    s->gram[k][s->slot] = product;
  }
}

/* r = g - dG c, put back on the cones; c by slot, used first to last. */
typedef struct mixing {
  const anderson* s;
  int n;
  int slot[DEPTH];
  double c[DEPTH];
} mixing;

static void mix_part(void* context, int part) {
  const mixing* m = context;
  const saltusi_friction_case* in = m->s->in;
  size_t rows = (size_t)in->pattern->rows;
  int from = saltusi_part_row(in, part);
  int to = saltusi_part_row(in, part + 1);
  for (int k = 0; k < m->n; k++) {
    const double* dg = m->s->work->after_change + (size_t)m->slot[k] * rows + from;
    saltusi_add_scaled(to - from, -m->c[k], dg, m->s->r + from);
  }
  saltusi_friction_project_units(in, saltusi_part_start(in, part), saltusi_part_start(in, part + 1),
                                 m->s->r);
}

/* The iterate is unchanged when the changes are linearly dependent. */
static void mix(const anderson* s) {
  mixing m = {.s = s, .n = s->depth};
  int n = m.n;
  int pivot[DEPTH];
  double matrix[DEPTH * DEPTH];
  double trace = 0.0;
  for (int k = 0; k < n; k++) {
    m.slot[k] = (s->stored - 2 - k) % DEPTH;
    trace += s->gram[m.slot[k]][m.slot[k]];
  }
  for (int k = 0; k < n; k++) {
    for (int l = 0; l < n; l++) {
      matrix[k * n + l] = s->gram[m.slot[k]][m.slot[l]];
    }
    matrix[k * (n + 1)] += mixing_repair * trace;
    m.c[k] = s->c[m.slot[k]];
  }
  if (n == 0 || !saltusi_lu_factor(n, matrix, pivot, mixing_pivot)) {
    return;
  }
  saltusi_lu_solve(n, matrix, pivot, m.c);
  saltusi_run_parts(s->in, mix_part, &m);
}

static saltusi_stage accelerated_sweeps(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                        const saltusi_gauss_seidel_settings* settings, double* r) {
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  anderson_sums sums[SALTUSI_DOMAINS_MOST];
  anderson state = {.in = in, .work = work, .r = r, .best = INFINITY, .sums = sums};
  int look = 0;
  for (int k = 0; k < settings->sweeps; k++) {
    saltusi_run_parts(in, remember_part, &state);
    double estimate = saltusi_sweep(in, r);
    double size = form_increment(&state);
    if (size > 1.5 * state.best && state.depth > 0) {
      state.depth = 0;
      state.best = size;
    } else {
      state.best = fmin(state.best, size);
    }
    store_change(&state);
    if (estimate <= settings->tol || k >= look) {
      double residual = saltusi_friction_case_residual(in, work->after, work->u).normalised;
      if (residual <= settings->tol) {
        memcpy(r, work->after, bytes);
        return (saltusi_stage){k + 1, residual};
      }
      look = k + LOOK_ACCELERATED;
    }
    mix(&state);
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
