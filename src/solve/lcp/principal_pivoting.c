/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * principal_pivoting.c - block principal pivoting (Judice & Pires, Computers & Operations Research
 * 21, 1994; Murty's rule: Opsearch 11, 1974) for 0 <= w = M z + q perp z >= 0:
 *
 *   active set J:   M_JJ z_J = -q_J,  z = 0 elsewhere,   w = M z + q
 *   violated rows:  z_i < 0 in J, w_i < 0 outside
 *   none            solved
 *   otherwise       exchange all of them; after `stall_limit` rounds without fewer violated rows
 *                   exchange the last one only, which cannot cycle when M is a P-matrix
 *
 * Bilateral rows that are kept belong to J and are never violated.
 *
 * Positive semidefinite M: the proximal points z+ of (M + e I, q - e z) with e falling from 1e-3 to
 * 1e-9 of the mean diagonal and rising again where the pivoting cycles; each is a problem with a
 * P-matrix.
 */
#include "solve/lcp/principal_pivoting.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Violations below these parts of the largest |z| and |q| are rounding, not a reason to exchange:
 * 500 eps, a sum of some hundred products. */
static const double rounding = 1e-13;
/* Part of the target that violated rows may have; the rest is for the rounding of the active rows. */
static const double violated_part = 0.25;
/* Proximal shifts, relative to the mean diagonal: the first of a cold start, the first of a crossover, which starts
 * near the solution, and the least, above which the factors of a semidefinite M keep seven digits; each changes by
 * factors of ten. Chosen. */
static const double shift_first = 1e-3;
static const double shift_close = 1e-7;
static const double shift_least = 1e-9;
static const double shift_fall = 0.1;
static const double shift_rise = 10.0;

typedef struct violations {
  int count, last;
  double squares; /* sum of squares of the violations */
  double z_tolerance, w_tolerance;
} violations;

static int collect(const saltusi_lcp_workspace* room, int n) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (room->active[i]) {
      room->list[count++] = i;
    }
  }
  return count;
}

static bool solve_active(saltusi_lcp_run* run, const saltusi_pivoting* p, int count) {
  saltusi_lcp_workspace* room = run->room;
  const double* added = p->shifted ? room->diagonal : NULL;
  if (count > 0 && !saltusi_lcp_block_factor(&room->block, run->M, room->list, count, added)) {
    return false;
  }
  for (int a = 0; a < count; a++) {
    room->value[a] = -p->q[room->list[a]];
  }
  if (count > 0) {
    saltusi_lcp_block_solve(&room->block, room->value);
  }
  memset(room->trial, 0, (size_t)run->M->n * sizeof(double));
  for (int a = 0; a < count; a++) {
    room->trial[room->list[a]] = room->value[a];
  }
  return true;
}

static violations look(saltusi_lcp_run* run, const saltusi_pivoting* p, int count) {
  saltusi_lcp_workspace* room = run->room;
  double z_size = 0.0;
  for (int a = 0; a < count; a++) {
    double size = fabs(room->value[a]);
    z_size = size > z_size ? size : z_size;
  }
  violations v = {.last = -1,
                  .z_tolerance = rounding * z_size,
                  .w_tolerance =
                      rounding * run->q_size + 8.0 * DBL_EPSILON * run->M->largest * z_size};
  for (int i = run->bilateral; i < run->M->n; i++) {
    double miss = room->trial[i];
    double tolerance = v.z_tolerance;
    if (!room->active[i]) {
      miss = saltusi_lcp_matrix_row(run->M, i, room->trial) + p->q[i];
      room->rest[i] = miss;
      tolerance = v.w_tolerance;
    }
    if (miss < 0.0) {
      v.squares += miss * miss;
    }
    if (miss < -tolerance) {
      v.count++;
      v.last = i;
    }
  }
  return v;
}

static void exchange_all(const saltusi_lcp_run* run, const violations* v) {
  saltusi_lcp_workspace* room = run->room;
  for (int i = run->bilateral; i < run->M->n; i++) {
    bool violated =
        room->active[i] ? room->trial[i] < -v->z_tolerance : room->rest[i] < -v->w_tolerance;
    room->active[i] = room->active[i] != violated;
  }
}

/* Starts from room->active and leaves the last basis there and its solution in room->trial. True
 * when the basis is complementary. */
static bool pivot_on(saltusi_lcp_run* run, saltusi_pivoting* pivoting) {
  saltusi_lcp_workspace* room = run->room;
  int n = run->M->n;
  int fewest = n + 1;
  int stall_limit = pivoting->stall_limit;
  double enough = violated_part * run->target;
  for (pivoting->done = 1; pivoting->done <= pivoting->iterations; pivoting->done++) {
    int count = collect(room, n);
    if (!solve_active(run, pivoting, count)) {
      return false;
    }
    violations v = look(run, pivoting, count);
    if (v.count == 0 || sqrt(v.squares) <= enough) {
      return true;
    }
    bool all = true;
    if (v.count < fewest) {
      fewest = v.count;
      stall_limit = pivoting->stall_limit;
    } else {
      all = stall_limit > 0;
      stall_limit -= stall_limit > 0;
    }
    if (all) {
      exchange_all(run, &v);
    } else {
      room->active[v.last] = !room->active[v.last];
    }
  }
  pivoting->done--;
  return false;
}

/* One step of iterative refinement on the active rows of room->trial. */
static void refine(saltusi_lcp_run* run) {
  saltusi_lcp_workspace* room = run->room;
  int count = room->block.count;
  for (int a = 0; a < count; a++) {
    int i = room->list[a];
    room->value[a] = -(saltusi_lcp_matrix_row(run->M, i, room->trial) + run->q[i]);
  }
  saltusi_lcp_block_solve(&room->block, room->value);
  for (int a = 0; a < count; a++) {
    room->trial[room->list[a]] += room->value[a];
  }
}

static void start_cold(saltusi_lcp_run* run, bool everything) {
  for (int i = 0; i < run->M->n; i++) {
    run->room->active[i] = everything || i < run->bilateral || run->q[i] < 0.0;
  }
}

bool saltusi_lcp_run_pivoting(saltusi_lcp_run* run, int stall_limit, int iterations) {
  assert(run != NULL && iterations >= 0);
  if (!saltusi_lcp_run_activate(run, run->z)) {
    /* chains: a closed contact loads all contacts above it, so that all rows active is the better guess */
    start_cold(run, run->M->banded);
  }
  saltusi_pivoting p = {.q = run->q, .stall_limit = stall_limit, .iterations = iterations};
  bool found = pivot_on(run, &p);
  saltusi_lcp_run_note(run, "principal-pivoting", p.done);
  if (!found || saltusi_lcp_run_offer(run, true)) {
    return run->solved;
  }
  if (run->room->block.count > 0) {
    refine(run);
    saltusi_lcp_run_offer(run, true);
  }
  return run->solved;
}

static double mean_diagonal(const saltusi_lcp_matrix* M) {
  double sum = 0.0;
  for (int i = 0; i < M->n; i++) {
    if (M->dense != NULL) {
      sum += M->dense[(size_t)i * (size_t)M->n + (size_t)i];
      continue;
    }
    for (int k = M->sparse.start[i]; k < M->sparse.start[i + 1]; k++) {
      sum += M->sparse.column[k] == i ? M->sparse.values[k] : 0.0;
    }
  }
  return sum > 0.0 ? sum / M->n : 1.0;
}

/* The active set no longer changes: it may be that of the original problem. */
static bool try_unshifted(saltusi_lcp_run* run, int* total) {
  saltusi_pivoting p = {.q = run->q, .iterations = 1};
  bool found = pivot_on(run, &p);
  *total += p.done;
  if (found) {
    saltusi_lcp_run_offer(run, true);
  }
  if (!run->solved) {
    saltusi_lcp_run_activate(run, run->room->last);
  }
  return run->solved;
}

/* From the point room->last and the set room->active, with a first shift of `part` of the mean diagonal. */
static bool proximal_steps(saltusi_lcp_run* run, int stall_limit, double part) {
  /* a convergent problem takes ten factorisations; one that cycles needs a larger shift */
  enum { STEPS = 30, INNER = 30 };
  saltusi_lcp_workspace* room = run->room;
  int n = run->M->n;
  double mean = mean_diagonal(run->M);
  double shift = part * mean;
  double rate = shift_fall; /* factor of its decrease, nearer to 1 after every failure */
  int total = 0;
  for (int k = 0; k < STEPS && shift <= mean; k++) {
    for (int i = 0; i < n; i++) {
      room->shifted[i] = run->q[i] - shift * room->last[i];
      room->diagonal[i] = shift;
    }
    saltusi_pivoting p = {
        .shifted = true, .q = room->shifted, .stall_limit = stall_limit, .iterations = INNER};
    bool found = pivot_on(run, &p);
    total += p.done;
    if (!found) {
      shift *= shift_rise;
      rate = sqrt(rate);
      saltusi_lcp_run_activate(run, room->last);
      continue;
    }
    memcpy(room->last, room->trial, (size_t)n * sizeof(double));
    if (saltusi_lcp_run_offer(run, false) || (p.done == 1 && try_unshifted(run, &total))) {
      break;
    }
    shift = fmax(rate * shift, shift_least * mean);
  }
  saltusi_lcp_run_note(run, "proximal-pivoting", total);
  return run->solved;
}

bool saltusi_lcp_run_proximal(saltusi_lcp_run* run, int stall_limit) {
  assert(run != NULL);
  memset(run->room->last, 0, (size_t)run->M->n * sizeof(double));
  start_cold(run, false);
  return proximal_steps(run, stall_limit, shift_first);
}

bool saltusi_lcp_run_crossover(saltusi_lcp_run* run) {
  assert(run != NULL);
  enum { STALL_LIMIT = 3, FEW = 4 };
  saltusi_pivoting p = {.q = run->q, .stall_limit = STALL_LIMIT, .iterations = FEW};
  bool found = pivot_on(run, &p);
  saltusi_lcp_run_note(run, "crossover", p.done);
  if (found && saltusi_lcp_run_offer(run, true)) {
    return true;
  }
  saltusi_lcp_run_activate(run, run->room->last);
  return proximal_steps(run, STALL_LIMIT, shift_close);
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_principal_pivoting_options, stall_limit, 10, 0, 1000,
               "exchanges of all violated rows without progress before single ones"),
    SALTUS_INT(saltus_principal_pivoting_options, iterations, 1000, 1, 1e6,
               "factorisations at most"),
};

static void solve(saltusi_lcp_run* run) {
  const saltus_principal_pivoting_options* o = run->options;
  if (!saltusi_lcp_run_pivoting(run, o->stall_limit, o->iterations)) {
    saltusi_lcp_run_proximal(run, o->stall_limit);
  }
}

const saltusi_lcp_ops saltusi_lcp_principal_pivoting = {
    .info = {.name = "principal-pivoting",
             .summary = "block principal pivoting, proximal when M is singular",
             .source = "Judice & Pires 1994; Murty 1974",
             .options = {fields, sizeof fields / sizeof *fields,
                         sizeof(saltus_principal_pivoting_options)}},
    .keeps = true,
    .solve = solve,
};
