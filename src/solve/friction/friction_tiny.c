/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_tiny.c - one or two planar contacts by enumeration: each is open, sticks or slips one way or the other, and
 * each of the at most sixteen combinations is a linear system of at most four unknowns. Two Gauss-Seidel iterations
 * predict the combination, which is correct in nearly all cases.
 */
#include "solve/friction/friction_run.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

enum { OPEN, STICKS, SLIPS_UP, SLIPS_DOWN, STATES };

/* W as a dense matrix of at most four rows. */
static void gather(const saltusi_friction_case* in, double W[4][4]) {
  const saltusi_friction_pattern* pattern = in->pattern;
  memset(W, 0, 16 * sizeof(double));
  for (int i = 0; i < pattern->units; i++) {
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      const double* block = in->values + pattern->place[e];
      int j = pattern->unit[e];
      for (int k = 0; k < 4; k++) {
        W[2 * i + k / 2][2 * j + k % 2] = block[k];
      }
    }
  }
}

/* r as a function of the unknowns of a state: r_i = direction * unknown, with one or two unknowns. */
typedef struct unknown {
  int contact;
  int row;             /* the velocity that vanishes */
  double direction[2]; /* of the impulse */
} unknown;

static int unknowns(const saltusi_friction_case* in, int code, unknown* list) {
  int count = 0;
  for (int i = 0; i < in->pattern->units; i++, code /= STATES) {
    int state = code % STATES;
    double mu = in->mu[i];
    if (state == STICKS) {
      list[count++] = (unknown){i, 2 * i, {1.0, 0.0}};
      list[count++] = (unknown){i, 2 * i + 1, {0.0, 1.0}};
    } else if (state != OPEN) {
      list[count++] = (unknown){i, 2 * i, {1.0, state == SLIPS_UP ? mu : -mu}};
    }
  }
  return count;
}

/* r of one combination; false when its system is singular. */
/* A pivot of at most four rows below this part of its column is rounding: 45 eps, some ten operations. */
static const double singular_pivot = 1e-14;
/* Friction within this part of its bound counts as sliding: rounding of a solve of four rows. The guess only selects
 * the state that is tried first. */
static const double bound_rounding = 1e-12;

static bool solve_state(const saltusi_friction_case* in, double W[4][4], int code, double* r) {
  unknown list[4];
  int n = unknowns(in, code, list);
  double matrix[16];
  double x[4];
  int pivot[4];
  for (int a = 0; a < n; a++) {
    const double* row = W[list[a].row];
    for (int c = 0; c < n; c++) {
      int at = 2 * list[c].contact;
      matrix[a * n + c] = row[at] * list[c].direction[0] + row[at + 1] * list[c].direction[1];
    }
    x[a] = -in->q[list[a].row];
  }
  if (n > 0 && !saltusi_lu_factor(n, matrix, pivot, singular_pivot)) {
    return false;
  }
  saltusi_lu_solve(n, matrix, pivot, x);
  memset(r, 0, (size_t)in->pattern->rows * sizeof(double));
  for (int a = 0; a < n; a++) {
    r[2 * list[a].contact] += list[a].direction[0] * x[a];
    r[2 * list[a].contact + 1] += list[a].direction[1] * x[a];
  }
  return true;
}

static int guess(const saltusi_friction_case* in, const double* r) {
  int code = 0;
  for (int i = in->pattern->units - 1; i >= 0; i--) {
    double limit = in->mu[i] * r[2 * i];
    int state = SLIPS_DOWN;
    if (r[2 * i] <= 0.0) {
      state = OPEN;
    } else if (fabs(r[2 * i + 1]) < limit * (1.0 - bound_rounding)) {
      state = STICKS;
    } else if (r[2 * i + 1] > 0.0) {
      state = SLIPS_UP;
    }
    code = code * STATES + state;
  }
  return code;
}

bool saltusi_run_enumeration(saltusi_friction_run* run) {
  assert(run != NULL);
  saltusi_friction_work* work = run->work;
  const saltusi_friction_case* in = &work->given;
  if (in->pattern->uniform != 2 || in->pattern->units > 2) {
    return false;
  }
  double W[4][4];
  gather(in, W);
  int last = in->pattern->units == 2 ? STATES * STATES : STATES;
  int first = guess(in, work->point);
  double r[4];
  for (int k = -1; k < last; k++) {
    int code = k < 0 ? first : k;
    if (k == first || !solve_state(in, W, code, r)) {
      continue;
    }
    double residual = saltusi_friction_case_residual(in, r, work->sweep.u).normalised;
    if (residual <= run->tol || residual < run->best) {
      memcpy(work->point, r, (size_t)in->pattern->rows * sizeof(double));
      if (saltusi_run_note(run, "enumeration", (saltusi_stage){k + 2, residual})) {
        return true;
      }
    }
  }
  return false;
}
