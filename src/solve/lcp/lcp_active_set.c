/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_active_set.c - columns of beads and other chains: M tridiagonal with M_ii > 0 and no positive entry beside the
 * diagonal. Cost is linear in the number of rows per iteration.
 *
 * With a guess, first the primal-dual active set (all violated rows change at once; Hintermueller, Ito & Kunisch, SIAM
 * J. Optim. 13, 2003), which needs one or two iterations from the last step's set but may cycle on degenerate data.
 * Then, or without a guess, the monotone variant (Chandrasekaran, Opsearch 7, 1970): for such M the solution z(J) of
 * M_JJ z_J = -q_J only grows with J, so starting from J = { q < 0 } a row that joins J never has to leave. An upward
 * pass eliminates row after row; the value at the end of a run of active rows is final for that run, so that the row
 * above can join in the same pass. A downward pass does the same in the other direction. The set only grows, so the
 * method ends, with the least solution.
 */
#include "solve/lcp/principal_pivoting.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Violations below this part of the largest |z| and |q|, 500 eps, are rounding: as in principal_pivoting.c. */
static const double rounding = 1e-13;

typedef struct chain {
  int n;
  const double *sub, *diagonal,
      *super; /* row i: sub_i z_(i-1) + diagonal_i z_i + super_i z_(i+1) */
  const double* q;
  double *pivot, *right; /* of the elimination; the pivots as reciprocals */
  double* z;
  unsigned char* active;
  double q_size, largest;
} chain;

static chain chain_of(saltusi_lcp_run* run) {
  saltusi_lcp_workspace* room = run->room;
  const saltus_csr* s = &run->M->sparse;
  double* sub = room->chain[0];
  double* diagonal = room->chain[1];
  double* super = room->chain[2];
  for (int i = 0; i < s->rows; i++) {
    sub[i] = 0.0;
    diagonal[i] = 0.0;
    super[i] = 0.0;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
      int distance = s->column[k] - i;
      double* to = distance < 0 ? sub : distance > 0 ? super : diagonal;
      to[i] += s->values[k];
    }
  }
  return (chain){.n = s->rows,
                 .sub = sub,
                 .diagonal = diagonal,
                 .super = super,
                 .q = run->q,
                 .pivot = room->chain[3],
                 .right = room->chain[4],
                 .z = room->trial,
                 .active = room->active,
                 .q_size = run->q_size,
                 .largest = run->M->largest};
}

/* z of the active set by elimination upwards; false when a pivot is not positive. */
static bool solve_chain(const chain* c) {
  bool below = false;
  for (int i = 0; i < c->n; i++) {
    if (c->active[i]) {
      double pivot = c->diagonal[i];
      double right = -c->q[i];
      if (below) {
        double factor = c->sub[i] * c->pivot[i - 1];
        pivot -= factor * c->super[i - 1];
        right -= factor * c->right[i - 1];
      }
      if (!(pivot > 0.0)) {
        return false;
      }
      c->pivot[i] = 1.0 / pivot;
      c->right[i] = right;
    }
    below = c->active[i] != 0;
  }
  double above = 0.0;
  for (int i = c->n - 1; i >= 0; i--) {
    c->z[i] = c->active[i] ? (c->right[i] - c->super[i] * above) * c->pivot[i] : 0.0;
    above = c->z[i];
  }
  return true;
}

static double rest_of(const chain* c, int i) {
  double below = i > 0 ? c->sub[i] * c->z[i - 1] : 0.0;
  double above = i + 1 < c->n ? c->super[i] * c->z[i + 1] : 0.0;
  return c->q[i] + below + above;
}

static double z_size(const chain* c) {
  double size = 0.0;
  for (int i = 0; i < c->n; i++) {
    double entry = fabs(c->z[i]);
    size = entry > size ? entry : size;
  }
  return size;
}

/* Rounding error of w: z of a long column is large, and the terms of its neighbours cancel. */
static double w_rounding(const chain* c, double size) {
  return rounding * c->q_size + 8.0 * DBL_EPSILON * c->largest * size;
}

/* Exchanges every violated row; returns their number. */
static int change_violated(const chain* c) {
  double size = z_size(c);
  double z_tolerance = rounding * size;
  double w_tolerance = w_rounding(c, size);
  int changed = 0;
  for (int i = 0; i < c->n; i++) {
    bool violated = c->active[i] ? c->z[i] < -z_tolerance : rest_of(c, i) < -w_tolerance;
    c->active[i] = (c->active[i] != 0) != violated;
    changed += violated;
  }
  return changed;
}

/* One pass of the monotone variant in direction `step` (1 or -1); returns the number of rows that joined, -1 when M is
 * not positive definite. `ahead` and `behind` are the entries in and against that direction. */
static int sweep(const chain* c, int step, double tolerance) {
  const double* behind = step > 0 ? c->sub : c->super;
  const double* ahead = step > 0 ? c->super : c->sub;
  int first = step > 0 ? 0 : c->n - 1;
  int joined = 0;
  double reciprocal = 0.0; /* inverse pivot of the previous row; 0: not active */
  double right = 0.0;
  for (int i = first; i >= 0 && i < c->n; i += step) {
    int next = i + step;
    double factor = behind[i] * reciprocal;
    double beyond = next >= 0 && next < c->n ? ahead[i] * c->z[next] : 0.0;
    if (!c->active[i] && c->q[i] + factor * right + beyond < -tolerance) {
      c->active[i] = 1;
      joined++;
    }
    if (c->active[i]) {
      double last = reciprocal > 0.0 ? ahead[i - step] : 0.0;
      double pivot = c->diagonal[i] - factor * last;
      right = -c->q[i] - factor * right;
      if (!(pivot > 0.0)) {
        return -1;
      }
      reciprocal = 1.0 / pivot;
      c->pivot[i] = reciprocal;
      c->right[i] = right;
    } else {
      reciprocal = 0.0;
    }
  }
  double after = 0.0;
  for (int i = step > 0 ? c->n - 1 : 0; i >= 0 && i < c->n; i -= step) {
    c->z[i] = c->active[i] ? (c->right[i] - ahead[i] * after) * c->pivot[i] : 0.0;
    after = c->z[i];
  }
  return joined;
}

/* Number of passes, or -1. */
static int grow_set(const chain* c) {
  for (int i = 0; i < c->n; i++) {
    c->active[i] = c->q[i] < 0.0;
    c->z[i] = 0.0;
  }
  int quiet = 0;
  int sweeps = 0;
  while (quiet < 2 && sweeps <= 2 * c->n + 2) {
    int joined = sweep(c, sweeps % 2 == 0 ? 1 : -1, w_rounding(c, z_size(c)));
    if (joined < 0) {
      return -1;
    }
    quiet = joined == 0 ? quiet + 1 : 0;
    sweeps++;
  }
  return sweeps;
}

bool saltusi_lcp_run_chain(saltusi_lcp_run* run, int iterations) {
  assert(run != NULL && iterations >= 0);
  chain c = chain_of(run);
  if (saltusi_lcp_run_activate(run, run->z)) {
    bool found = false;
    int k = 0;
    while (!found && k < iterations && solve_chain(&c)) {
      k++;
      found = change_violated(&c) == 0;
    }
    saltusi_lcp_run_note(run, "active-set", k);
    if (found && saltusi_lcp_run_offer(run, true)) {
      return true;
    }
  }
  int sweeps = grow_set(&c);
  saltusi_lcp_run_note(run, "monotone-sweeps", sweeps > 0 ? sweeps : 0);
  if (sweeps > 0) {
    saltusi_lcp_run_offer(run, true);
  }
  return run->solved;
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_active_set_options, iterations, 8, 1, 1e6,
               "iterations before the variant that cannot cycle"),
};

static void solve(saltusi_lcp_run* run) {
  const saltus_active_set_options* o = run->options;
  if (saltusi_lcp_run_is_chain(run)) {
    saltusi_lcp_run_chain(run, o->iterations);
  } else {
    /* the primal-dual active set for other matrices is principal pivoting */
    saltusi_lcp_run_pivoting(run, 10 * o->iterations, 20 * o->iterations);
  }
}

const saltusi_lcp_ops saltusi_lcp_active_set = {
    .info = {.name = "active-set",
             .summary = "primal-dual active set; linear cost and no cycling on chains",
             .source = "Hintermueller, Ito & Kunisch 2003; Chandrasekaran 1970",
             .options = {fields, sizeof fields / sizeof *fields,
                         sizeof(saltus_active_set_options)}},
    .keeps = true,
    .solve = solve,
};
