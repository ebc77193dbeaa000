/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * accelerated_gauss_seidel.c - x+ = one iteration from y, y+ = x+ + b (x+ - x), projected onto the cones: Nesterov's
 * extrapolation (Soviet Math. Dokl. 27 (1983) 372-376) around Gauss-Seidel. The weight b = a / (a + 3) grows with the
 * age a of the momentum, which is kept for each contact and halved where the last change points against the motion, (y
 * - x+).(x+ - x) > 0. That is the gradient rule of O'Donoghue & Candes (Found. Comput. Math. 15 (2015) 715-732), who
 * restart all unknowns. A global restart would stop all contacts every few hundred iterations because of a few of them.
 * An age of 0 would discard the whole momentum of a contact.
 *
 * Intended for self-stress (W r = 0, as of bodies wedged between walls), on which plain Gauss-Seidel and Newton's
 * method are slow: these impulses grow by a small constant per iteration until the contacts stick. An initial guess
 * with all contacts under preload approaches the solution from above, often faster.
 */
#include "solve/friction/accelerated_gauss_seidel.h"

#include "math/matrix.h"
#include "solve/friction/domains.h"

#include <assert.h>
#include <string.h>

/* Upper bound of the weight, so that old errors decay: within 500 iterations, the STRESS_SWEEPS of friction_auto.c. */
static const double weight_limit = 0.998;
/* b = a / (a + 3), Nesterov's sequence as Su, Boyd & Candes (J. Mach. Learn. Res. 17 (2016) 1-43) write it. */
static const double weight_delay = 3.0;
/* With weights near one, the increment of an iteration is about a tenth of the remaining error. The residual, evaluated
 * every LOOK iterations, is the stopping criterion. */
static const double increment_part = 0.1;
enum { LOOK = 25 };
/* Iterations without a lower residual after which all momentum is dropped. On packings of 2374 contacts in an impact,
 * 50 saves a third of the iterations, 100 none. */
enum { PATIENCE = 50 };

void saltusi_candidate_start(saltusi_iterate_candidate* candidate, const saltusi_friction_case* in,
                             double part, const double* from) {
  assert(candidate != NULL && in != NULL);
  for (int a = 0; a < in->pattern->rows; a++) {
    candidate->r[a] = part * from[a];
  }
  memset(candidate->age, 0, (size_t)in->pattern->units * sizeof(double));
}

void saltusi_candidate_press(saltusi_iterate_candidate* candidate, const saltusi_friction_case* in,
                             double level) {
  assert(candidate != NULL && in != NULL);
  const saltusi_friction_pattern* pattern = in->pattern;
  double unit = in->velocity_unit / sqrt((double)pattern->units);
  memset(candidate->r, 0, (size_t)pattern->rows * sizeof(double));
  memset(candidate->age, 0, (size_t)pattern->units * sizeof(double));
  for (int i = 0; i < pattern->units; i++) {
    if (pattern->bilateral[i] == 0) {
      candidate->r[pattern->offset[i]] = level * unit * in->rho[i];
    }
  }
}

/* y of the next iteration; y holds x+ on input, x becomes x+. */
typedef struct extrapolation {
  const saltusi_friction_case* in;
  const double* before;
  double *age, *x, *y;
} extrapolation;

static void extrapolate(void* context, int part) {
  const extrapolation* e = context;
  const saltusi_friction_pattern* pattern = e->in->pattern;
  const double* before = e->before;
  double *age = e->age, *x = e->x, *y = e->y;
  const int from = saltusi_part_start(e->in, part), to = saltusi_part_start(e->in, part + 1);
  for (int i = from; i < to; i++) {
    int at = pattern->offset[i];
    int d = saltusi_unit_rows(pattern, i);
    double against = 0.0;
    for (int a = at; a < at + d; a++) {
      against += (before[a] - y[a]) * (y[a] - x[a]);
    }
    age[i] = against > 0.0 ? 0.5 * age[i] : age[i] + 1.0;
    double weight = fmin(weight_limit, age[i] / (age[i] + weight_delay));
    for (int a = at; a < at + d; a++) {
      double swept = y[a];
      y[a] = swept + weight * (swept - x[a]);
      x[a] = swept;
    }
  }
  saltusi_friction_project_units(e->in, from, to, y);
}

saltusi_stage saltusi_accelerated_gauss_seidel(saltusi_gauss_seidel_work* work,
                                               saltusi_friction_case* in, int sweeps, double tol,
                                               saltusi_iterate_candidate* candidate,
                                               double* lowest) {
  assert(work != NULL && in != NULL && candidate != NULL && sweeps >= 0 && tol >= 0.0);
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  double* y = work->after;
  extrapolation e = {in, work->before, candidate->age, candidate->r, y};
  memcpy(y, candidate->r, bytes);
  memcpy(lowest, candidate->r, bytes);
  double least = INFINITY, best = INFINITY;
  int k = 0, since = 0;
  while (k < sweeps && !(least <= increment_part * tol)) {
    memcpy(work->before, y, bytes);
    double increment = saltusi_sweep(in, y);
    k++;
    if (increment < least) {
      least = increment;
      memcpy(lowest, y, bytes);
    }
    if (k % LOOK == 0) {
      const double residual = saltusi_friction_case_residual(in, y, work->u).normalised;
      if (residual <= tol) {
        memcpy(lowest, y, bytes);
        return (saltusi_stage){k, residual};
      }
      if (residual < best || k - since >= PATIENCE) {
        if (!(residual < best)) {
          memset(candidate->age, 0, (size_t)in->pattern->units * sizeof(double));
        }
        best = residual < best ? residual : INFINITY;
        since = k;
      }
    }
    saltusi_run_parts(in, extrapolate, &e);
  }
  return (saltusi_stage){k, saltusi_friction_case_residual(in, lowest, work->u).normalised};
}
