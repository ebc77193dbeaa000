/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convergence.c - the error of a computed motion against a reference, and rates.
 *
 *   e_k = x_k - x(t_k) on the grid, x(t_k) the right limit
 *   graphs of one component at a time, so that the metric does not mix components
 */
#include "measure/convergence.h"

#include <assert.h>
#include <math.h>

static const double points_per_step = 4.0;
static const double finest = 1e-14; /* absolute tolerance of distances of graphs with known jumps */

/* Workspace of a comparison. Sizes are in the comments; the norms use `used` grid points. */
typedef struct convergence_bench {
  double* t;     /* [count] */
  double* e_q;   /* [count x nq] */
  double* e_v;   /* [count x nv] */
  double* q;     /* [nq] */
  double* v;     /* [nv] */
  double* run;   /* [run_capacity x 2] graph of the run */
  double* exact; /* [exact_capacity x 2] graph of the exact motion */
  double*
      grid; /* [(exact_capacity + count) x 2] likewise at the instants of the run; if jumps are known */
  int exact_capacity, run_capacity;
  int used;
} convergence_bench;

static void lay_out(convergence_bench* b, int count, const saltusi_reference* dims,
                    saltus_arena* arena) {
  b->t = SALTUS_PUSH(arena, double, count);
  b->e_q = SALTUS_PUSH2(arena, double, count, dims->nq);
  b->e_v = SALTUS_PUSH2(arena, double, count, dims->nv);
  b->q = SALTUS_PUSH(arena, double, dims->nq);
  b->v = SALTUS_PUSH(arena, double, dims->nv);
  b->run = SALTUS_PUSH2(arena, double, b->run_capacity, 2);
  b->exact = SALTUS_PUSH2(arena, double, b->exact_capacity, 2);
  b->grid = SALTUS_PUSH2(arena, double, (size_t)b->exact_capacity + (size_t)count, 2);
}

static double spacing(const saltusi_trajectory* run) {
  return (run->t[run->count - 1] - run->t[0]) / (run->count - 1) / points_per_step;
}

/* Number of points of the largest exact graph; 0: none. */
static int exact_size(const saltusi_reference* reference, const saltusi_trajectory* run) {
  int most = 0;
  double t_end = run->t[run->count - 1];
  for (int i = 0; i < reference->nq + reference->nv && reference->graph != NULL; i++) {
    const int which = i < reference->nq ? 0 : 1;
    int points = reference->graph(reference->self, i - which * reference->nq, which, t_end,
                                  spacing(run), NULL, 0);
    most = points > most ? points : most;
  }
  return most;
}

static bool all_finite(size_t count, const double* x) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

static bool valid(const saltusi_trajectory* run, const saltusi_reference* dims) {
  if (run->count < 2) {
    return false;
  }
  for (int k = 1; k < run->count; k++) {
    if (!(run->t[k] > run->t[k - 1])) {
      return false;
    }
  }
  size_t count = (size_t)run->count;
  return all_finite(count, run->t) && all_finite(count * (size_t)dims->nq, run->q) &&
         all_finite(count * (size_t)dims->nv, run->v);
}

/* ---- norms ------------------------------------------------------------------------------- */

/* Errors at the grid points where the reference is defined. */
static void subtract(const saltusi_reference* reference, const saltusi_trajectory* run,
                     convergence_bench* b) {
  size_t nq = (size_t)reference->nq;
  size_t nv = (size_t)reference->nv;
  b->used = 0;
  for (size_t k = 0; k < (size_t)run->count; k++) {
    if (!reference->at(reference->self, run->t[k], b->q, b->v)) {
      continue;
    }
    size_t row = (size_t)b->used++;
    b->t[row] = run->t[k];
    for (size_t i = 0; i < nq; i++) {
      b->e_q[row * nq + i] = run->q[k * nq + i] - b->q[i];
    }
    for (size_t i = 0; i < nv; i++) {
      b->e_v[row * nv + i] = run->v[k * nv + i] - b->v[i];
    }
  }
}

static void take_norms(const convergence_bench* b, int n, const double* e,
                       saltusi_error_norms* norms) {
  norms->inf = saltus_norm(b->used, n, b->t, e, INFINITY);
  norms->l1 = saltus_norm(b->used, n, b->t, e, 1.0);
  norms->l2 = saltus_norm(b->used, n, b->t, e, 2.0);
}

/* ---- graphs ------------------------------------------------------------------------------ */

/* (t_0, v_0), (t_0, v_1), (t_1, v_1), (t_1, v_2), ... */
static saltus_graph velocity_graph(const saltusi_trajectory* run, int i, int nv, double* points) {
  int count = 2 * run->count - 1;
  for (int k = 0; k < count; k++) {
    points[2 * (size_t)k] = run->t[k / 2];
    points[2 * (size_t)k + 1] = run->v[(size_t)((k + 1) / 2) * (size_t)nv + (size_t)i];
  }
  return (saltus_graph){count, 1, points};
}

/* Points of the exact graph at its jumps, twice each, and at the instants of the run. */
static saltus_graph graph_on_grid(const saltusi_reference* reference, const saltusi_trajectory* run,
                                  int i, int which, int count, convergence_bench* b) {
  int used = 0;
  for (int k = 0, j = 0; k < run->count; k++) {
    for (; j < count && b->exact[2 * (size_t)j] <= run->t[k]; j++) {
      const double t = b->exact[2 * (size_t)j];
      if ((j > 0 && b->exact[2 * (size_t)j - 2] == t) ||
          (j + 1 < count && b->exact[2 * (size_t)j + 2] == t)) {
        b->grid[2 * (size_t)used] = t;
        b->grid[2 * (size_t)used++ + 1] = b->exact[2 * (size_t)j + 1];
      }
    }
    if (reference->at(reference->self, run->t[k], b->q, b->v)) {
      b->grid[2 * (size_t)used] = run->t[k];
      b->grid[2 * (size_t)used++ + 1] = which == 0 ? b->q[i] : b->v[i];
    }
  }
  return (saltus_graph){used, 1, b->grid};
}

/* Largest distance over the components. */
static saltus_status take_distances(const saltusi_reference* reference,
                                    const saltusi_trajectory* run, saltus_graph_tolerance tolerance,
                                    const saltus_allocator* allocator, convergence_bench* b,
                                    saltusi_errors* errors) {
  const double t_end = run->t[run->count - 1];
  errors->q.hausdorff = 0.0;
  errors->v.hausdorff = 0.0;
  if (run->jumps_known) {
    tolerance.atol = fmin(tolerance.atol, finest);
  }
  for (int k = 0; k < reference->nq + reference->nv; k++) {
    const int which = k < reference->nq ? 0 : 1, i = k - which * reference->nq;
    const int n = which == 0 ? reference->nq : reference->nv;
    saltus_graph computed = {0, 1, b->run};
    if (which == 1 && !run->jumps_known) {
      computed = velocity_graph(run, i, n, b->run);
    } else {
      computed.count =
          saltusi_trajectory_graph(run, n, i, which, run->count, b->run, b->run_capacity);
    }
    saltus_graph exact = {0, 1, b->exact};
    exact.count = reference->graph(reference->self, i, which, t_end, spacing(run), b->exact,
                                   b->exact_capacity);
    exact = run->jumps_known ? graph_on_grid(reference, run, i, which, exact.count, b) : exact;
    double distance;
    saltus_status status = saltus_hausdorff(&computed, &exact, tolerance, allocator, &distance);
    if (status != SALTUS_OK) {
      return status;
    }
    double* most = which == 0 ? &errors->q.hausdorff : &errors->v.hausdorff;
    *most = fmax(*most, distance);
  }
  return SALTUS_OK;
}

/* ---- the whole --------------------------------------------------------------------------- */

static saltus_status compare(const saltusi_reference* reference, const saltusi_trajectory* run,
                             saltus_graph_tolerance tolerance, const saltus_allocator* allocator,
                             convergence_bench* b, saltusi_errors* errors) {
  subtract(reference, run, b);
  if (b->used >= 2 && (reference->samples || b->used == run->count)) {
    take_norms(b, reference->nq, b->e_q, &errors->q);
    take_norms(b, reference->nv, b->e_v, &errors->v);
  }
  if (b->exact_capacity == 0) {
    return SALTUS_OK;
  }
  return take_distances(reference, run, tolerance, allocator, b, errors);
}

saltus_status saltusi_errors_against(const saltusi_reference* reference,
                                     const saltusi_trajectory* run,
                                     saltus_graph_tolerance tolerance,
                                     const saltus_allocator* allocator, saltusi_errors* errors) {
  assert(reference->at != NULL && run != NULL && errors != NULL);
  const saltusi_error_norms none = {NAN, NAN, NAN, NAN};
  *errors = (saltusi_errors){none, none};
  if (!valid(run, reference)) {
    return SALTUS_ERR_RANGE;
  }
  saltus_allocator memory = allocator ? *allocator : saltus_allocator_default();
  convergence_bench b = {.exact_capacity = exact_size(reference, run),
                         .run_capacity =
                             2 * (run->count + (run->jumps_known ? run->jump_count : 0))};
  saltus_arena arena = saltus_arena_counting();
  lay_out(&b, run->count, reference, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (!block) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  lay_out(&b, run->count, reference, &arena);
  saltus_status status = compare(reference, run, tolerance, &memory, &b, errors);
  memory.free(block, bytes, memory.user);
  return status;
}

saltus_status saltusi_errors_of(const saltus_known_motion* problem, const saltusi_trajectory* run,
                                saltus_graph_tolerance tolerance, const saltus_allocator* allocator,
                                saltusi_errors* errors) {
  assert(problem != NULL && run != NULL && errors != NULL);
  saltusi_reference reference = saltusi_reference_problem(problem);
  return saltusi_errors_against(&reference, run, tolerance, allocator, errors);
}

/* ---- rates ------------------------------------------------------------------------------- */

/* log(e0 / e1) / log(h0 / h1); NaN when an error or a step is not positive. */
static double observed_order(double h0, double e0, double h1, double e1) {
  bool usable = h0 > 0.0 && h1 > 0.0 && h0 != h1 && e0 > 0.0 && e1 > 0.0;
  return usable ? log(e0 / e1) / log(h0 / h1) : NAN;
}

static saltusi_error_norms rates_between(double h0, const saltusi_error_norms* e0, double h1,
                                         const saltusi_error_norms* e1) {
  return (saltusi_error_norms){
      observed_order(h0, e0->inf, h1, e1->inf), observed_order(h0, e0->l1, h1, e1->l1),
      observed_order(h0, e0->l2, h1, e1->l2), observed_order(h0, e0->hausdorff, h1, e1->hausdorff)};
}

void saltusi_rates(int count, const double* h, const saltusi_errors* errors,
                   saltusi_errors* rates) {
  assert(count >= 0);
  for (int i = 0; i < count; i++) {
    int before = i > 0 ? i - 1 : 0; /* equal steps: NaN */
    rates[i].q = rates_between(h[before], &errors[before].q, h[i], &errors[i].q);
    rates[i].v = rates_between(h[before], &errors[before].v, h[i], &errors[i].v);
  }
}
