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
 * is put back on the cones. Plain sweeps can cycle; accelerated ones have not been seen to.
 */
#include "solve/gauss_seidel.h"

#include "math/matrix.h"

#include <string.h>

/* Sweeps between looks at the true residual when the increment does not ask for one. */
enum { LOOK_ACCELERATED = 20, LOOK_PLAIN = 25, LOOK_AGAIN = 3 };

void saltusi_sweep_layout(saltusi_sweep_work* work, int units, int rows, saltus_arena* arena) {
  work->u = SALTUS_PUSH(arena, double, rows);
  work->before = SALTUS_PUSH(arena, double, rows);
  work->after = SALTUS_PUSH(arena, double, rows);
  work->last_f = SALTUS_PUSH(arena, double, rows);
  work->last_after = SALTUS_PUSH(arena, double, rows);
  work->f_change = SALTUS_PUSH2(arena, double, SALTUSI_ANDERSON_DEPTH, rows);
  work->after_change = SALTUS_PUSH2(arena, double, SALTUSI_ANDERSON_DEPTH, rows);
  work->order = SALTUS_PUSH(arena, int, units);
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
static double visit_bilateral(saltusi_friction_case* in, int i, double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int d = saltusi_unit_rows(pattern, i);
  double* u = in->scratch;
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

static double visit_general(saltusi_friction_case* in, int i, double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  if (pattern->bilateral[i] != 0) {
    return visit_bilateral(in, i, r);
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

double saltusi_sweep(saltusi_friction_case* in, double* r) {
  int units = in->pattern->units;
  double sum = 0.0;
  if (in->pattern->uniform == 3) {
    for (int i = 0; i < units; i++) {
      sum += visit_uniform(in, i, 3, r);
    }
  } else if (in->pattern->uniform == 2) {
    for (int i = 0; i < units; i++) {
      sum += visit_uniform(in, i, 2, r);
    }
  } else {
    for (int i = 0; i < units; i++) {
      sum += visit_general(in, i, r);
    }
  }
  return sqrt(sum) / in->velocity_unit;
}

static double sweep_ordered(saltusi_friction_case* in, const int* order, double* r) {
  int units = in->pattern->units;
  double sum = 0.0;
  if (in->pattern->uniform == 3) {
    for (int k = 0; k < units; k++) {
      sum += visit_uniform(in, order[k], 3, r);
    }
  } else {
    for (int k = 0; k < units; k++) {
      sum += visit_general(in, order[k], r);
    }
  }
  return sqrt(sum) / in->velocity_unit;
}

/* Marsaglia's xorshift; the same numbers on every machine. */
static uint32_t draw(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 32);
}

static void shuffle(int n, int* order, uint64_t* state) {
  for (int i = n - 1; i > 0; i--) {
    int k = (int)(draw(state) % (uint32_t)(i + 1));
    int kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
}

static saltusi_stage plain_sweeps(saltusi_sweep_work* work, saltusi_friction_case* in,
                                  const saltusi_sweep_settings* settings, double* r) {
  int units = in->pattern->units;
  bool ordered = settings->shuffled || settings->symmetric;
  for (int i = 0; i < units && ordered; i++) {
    work->order[i] = i;
  }
  uint64_t state = settings->seed != 0 ? settings->seed : 88172645463325252u;
  int look = 0;
  for (int k = 0; k < settings->sweeps; k++) {
    if (settings->shuffled) {
      shuffle(units, work->order, &state);
    } else if (settings->symmetric) {
      for (int i = 0; i < units; i++) {
        work->order[i] = k % 2 == 0 ? i : units - 1 - i;
      }
    }
    double estimate = ordered ? sweep_ordered(in, work->order, r) : saltusi_sweep(in, r);
    bool small = estimate <= 0.7 * settings->tol;
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

/* The state of the acceleration; changes lie in a ring of slots. */
typedef struct anderson {
  double gram[SALTUSI_ANDERSON_DEPTH][SALTUSI_ANDERSON_DEPTH];
  int stored; /* points seen */
  int depth;  /* changes in use */
  double best;
} anderson;

/* f = (g - x) / rho over before; g = r is kept in after. Returns |f|. */
static double form_increment(saltusi_sweep_work* work, const saltusi_friction_case* in,
                             const double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    double weight = 1.0 / in->rho[i];
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
      double f = (r[a] - work->before[a]) * weight;
      work->after[a] = r[a];
      work->before[a] = f;
      sum += f * f;
    }
  }
  return sqrt(sum);
}

static void store_change(anderson* state, saltusi_sweep_work* work, int rows) {
  if (state->stored > 0) {
    int slot = (state->stored - 1) % SALTUSI_ANDERSON_DEPTH;
    double* df = work->f_change + (size_t)slot * (size_t)rows;
    double* dg = work->after_change + (size_t)slot * (size_t)rows;
    for (int a = 0; a < rows; a++) {
      df[a] = work->before[a] - work->last_f[a];
      dg[a] = work->after[a] - work->last_after[a];
    }
    state->depth += state->depth < SALTUSI_ANDERSON_DEPTH ? 1 : 0;
    int filled = state->stored < SALTUSI_ANDERSON_DEPTH ? state->stored : SALTUSI_ANDERSON_DEPTH;
    for (int k = 0; k < filled; k++) {
      double product = saltusi_long_dot(rows, df, work->f_change + (size_t)k * (size_t)rows);
      state->gram[slot][k] = product;
      state->gram[k][slot] = product;
    }
  }
  memcpy(work->last_f, work->before, (size_t)rows * sizeof(double));
  memcpy(work->last_after, work->after, (size_t)rows * sizeof(double));
  state->stored++;
}

/* r = g - dG c; left as it is when the changes depend on each other. */
static void mix(const anderson* state, const saltusi_sweep_work* work,
                const saltusi_friction_case* in, double* r) {
  enum { DEPTH = SALTUSI_ANDERSON_DEPTH };
  int rows = in->pattern->rows;
  int n = state->depth;
  int slot[DEPTH];
  int pivot[DEPTH];
  double matrix[DEPTH * DEPTH];
  double c[DEPTH];
  double trace = 0.0;
  for (int k = 0; k < n; k++) {
    slot[k] = (state->stored - 2 - k) % DEPTH;
    trace += state->gram[slot[k]][slot[k]];
  }
  for (int k = 0; k < n; k++) {
    for (int l = 0; l < n; l++) {
      matrix[k * n + l] = state->gram[slot[k]][slot[l]];
    }
    matrix[k * (n + 1)] += 1e-12 * trace;
    c[k] = saltusi_long_dot(rows, work->f_change + (size_t)slot[k] * (size_t)rows, work->before);
  }
  if (n == 0 || !saltusi_lu_factor(n, matrix, pivot, 1e-300)) {
    return;
  }
  saltusi_lu_solve(n, matrix, pivot, c);
  for (int k = 0; k < n; k++) {
    saltusi_add_scaled(rows, -c[k], work->after_change + (size_t)slot[k] * (size_t)rows, r);
  }
  saltusi_friction_project(in, r);
}

static saltusi_stage accelerated_sweeps(saltusi_sweep_work* work, saltusi_friction_case* in,
                                        const saltusi_sweep_settings* settings, double* r) {
  int rows = in->pattern->rows;
  size_t bytes = (size_t)rows * sizeof(double);
  anderson state = {.best = INFINITY};
  int look = 0;
  for (int k = 0; k < settings->sweeps; k++) {
    memcpy(work->before, r, bytes);
    double estimate = saltusi_sweep(in, r);
    double size = form_increment(work, in, r);
    if (size > 1.5 * state.best && state.depth > 0) {
      state.depth = 0;
      state.best = size;
    } else {
      state.best = fmin(state.best, size);
    }
    store_change(&state, work, rows);
    if (estimate <= settings->tol || k >= look) {
      double residual = saltusi_friction_case_residual(in, work->after, work->u).normalised;
      if (residual <= settings->tol) {
        memcpy(r, work->after, bytes);
        return (saltusi_stage){k + 1, residual};
      }
      look = k + LOOK_ACCELERATED;
    }
    mix(&state, work, in, r);
  }
  if (settings->sweeps > 0) {
    memcpy(r, work->after, bytes);
  }
  double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
  return (saltusi_stage){settings->sweeps, residual};
}

saltusi_stage saltusi_gauss_seidel(saltusi_sweep_work* work, saltusi_friction_case* in,
                                   const saltusi_sweep_settings* settings, double* r) {
  bool plain = !settings->anderson || settings->shuffled || settings->symmetric;
  return plain ? plain_sweeps(work, in, settings, r) : accelerated_sweeps(work, in, settings, r);
}
