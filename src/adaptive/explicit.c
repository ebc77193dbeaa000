/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explicit.c - trial steps by the explicit methods of Dormand and Prince, with error estimates and dense output:
 * order 5(4) (Dormand and Prince 1980; dense output by Shampine 1986) and order 8(5,3) (Hairer, Norsett and Wanner
 * 1993, II.10 and II.6). Errors are measured in the maximum norm, not in the mean, so that every coordinate meets
 * its tolerance.
 */
#include "adaptive/positions.h"
#include "math/dormand_prince.h"
#include "math/matrix.h"

#include <string.h>

/* Weight of the defect at the middle of a step of order 5 (section 10). */
static const double defect_weight = 0.1;

static double* stage(const saltusi_adaptive* w, int i) {
  return w->step.K + (size_t)i * (size_t)w->o.ny;
}

/* y = y0 + h sum of weights K over `count` stages */
static void combine(const saltusi_adaptive* w, double h, const double* weights, int count,
                    double* y) {
  memcpy(y, w->step.y0, (size_t)w->o.ny * sizeof(double));
  for (int j = 0; j < count; j++) {
    if (weights[j] != 0.0) {
      saltusi_add_scaled(w->o.ny, h * weights[j], stage(w, j), y);
    }
  }
}

/* h |sum of weights K| in tolerances */
static double weighted_error(saltusi_adaptive* w, double h, const double* weights, int count) {
  for (int i = 0; i < w->o.ny; i++) {
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
      sum += weights[j] * w->step.K[(size_t)j * (size_t)w->o.ny + (size_t)i];
    }
    w->step.y_try[i] = h * sum;
  }
  saltusi_change_to_displacement(w, w->step.y1, w->step.y_try);
  return saltusi_in_tolerances(w, w->step.y_try, 0.0);
}

/* Stages 1 .. count - 1; the first one is rate0. */
static saltus_status take_stages(saltusi_adaptive* w, double h, const double* c, const double* a,
                                 int stride, int from, int to) {
  saltus_status status = SALTUS_OK;
  for (int i = from; i < to && status == SALTUS_OK; i++) {
    combine(w, h, a + (size_t)i * (size_t)stride, i, w->step.y_try);
    status = saltusi_mode_rate(&w->mode, w->step.t + c[i] * h, w->step.y_try, stage(w, i));
  }
  return status;
}

/* The last stage before the end has the same time: the difference of the two estimates the largest eigenvalue
 * (Hairer and Wanner 1996, IV.2). */
static void note_stage(saltusi_adaptive* w) {
  memcpy(w->step.y_mid, w->step.y_try, (size_t)w->o.ny * sizeof(double));
}

/* h times an estimate of the largest eigenvalue, from the stages a and b at the end of the step. */
static double stiffness(const saltusi_adaptive* w, int a, int b) {
  const double* k0 = stage(w, a);
  const double* k1 = stage(w, b);
  double change = 0.0;
  double distance = 0.0;
  const double* v1 = w->step.y1 + w->o.nq;
  const double* v0 = w->step.y_mid + w->o.nq;
  saltusi_difference(w->sys, w->step.y_mid, w->step.y1, w->step.apart);
  for (int i = 0; i < w->o.nv; i++) { /* the rate of a position along v_i is v_i */
    change = fmax(change, fabs(v1[i] - v0[i]) / w->step.scale[i]);
    distance = fmax(distance, fabs(w->step.apart[i]) / w->step.scale[i]);
  }
  for (int i = w->o.nq; i < w->o.nq + w->o.nv; i++) {
    change = fmax(change, fabs(k1[i] - k0[i]) / w->step.scale[i]);
    distance = fmax(distance, fabs(w->step.y1[i] - w->step.y_mid[i]) / w->step.scale[i]);
  }
  return distance > 0.0 ? w->step.h * change / distance : 0.0;
}

static double stiffness5(const saltusi_adaptive* w) {
  return stiffness(w, 5, 6) / 3.25; /* of the stability domain on the negative axis, as in DOPRI5 */
}

static double stiffness8(const saltusi_adaptive* w) {
  return stiffness(w, 11, 12) / 6.1; /* as in DOP853 */
}

/* ---- order 5(4) ---------------------------------------------------------------------------- */

/* Polynomial of y(theta) - y0 over h: coefficients of theta, theta^2, theta^3, theta^4. */
static void dense_dopri5(saltusi_adaptive* w) {
  for (int i = 0; i < w->o.ny; i++) {
    for (int p = 0; p < 4; p++) {
      double sum = 0.0;
      for (int j = 0; j < 7; j++) {
        sum += w->step.K[(size_t)j * (size_t)w->o.ny + (size_t)i] * saltusi_dopri5_dense[j][p];
      }
      w->step.Q[(size_t)p * (size_t)w->o.ny + (size_t)i] = sum;
    }
  }
}

static void dense5(const saltusi_trial_motion* m, double theta, int first, int count, double* y) {
  const double* Q = m->Q;
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    double p = Q[i] + theta * (Q[n + (size_t)i] +
                               theta * (Q[2 * n + (size_t)i] + theta * Q[3 * n + (size_t)i]));
    y[i - first] = m->y0[i] + m->h * theta * p;
  }
}

static void dense_rate5(const saltusi_trial_motion* m, double theta, int first, int count,
                        double* dy) {
  const double* Q = m->Q;
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    dy[i - first] =
        Q[i] + theta * (2.0 * Q[n + (size_t)i] +
                        theta * (3.0 * Q[2 * n + (size_t)i] + theta * 4.0 * Q[3 * n + (size_t)i]));
  }
}

static void powers5(const saltusi_trial_motion* m, int count, double* coefficient) {
  size_t n = (size_t)count;
  for (size_t i = 0; i < n; i++) {
    coefficient[i] = m->y0[i];
    for (size_t p = 0; p < 4; p++) {
      coefficient[(p + 1) * n + i] = m->h * m->Q[p * (size_t)m->n + i];
    }
  }
}

/* The difference between y' of the dense output and the dynamics, at the middle of the step: it detects errors
 * that the embedded estimate misses at coarse tolerances. */
static saltus_status defect(saltusi_adaptive* w, double h, double* error) {
  dense5(&w->step.motion, 0.5, 0, w->o.ny, w->step.y_try);
  saltus_status status =
      saltusi_mode_rate(&w->mode, w->step.t + 0.5 * h, w->step.y_try, w->step.rate_mid);
  saltusi_defect(w, dense_rate5, 0.5, h);
  const double least = *error / defect_weight;
  *error = saltusi_larger(*error, defect_weight * saltusi_in_tolerances(w, w->step.y_try, least));
  return status;
}

/* The stages of a method with coefficients c and a[][stride], y1 and its rate: the weights of stage
 * number `last` are those of the solution. */
static saltus_status take_step(saltusi_adaptive* w, double h, const double* c, const double* a,
                               int stride, int last) {
  w->step.h = h;
  w->step.motion = (saltusi_trial_motion){.y0 = w->step.y0, .Q = w->step.Q, .n = w->o.ny, .h = h};
  saltusi_trajectory_forget(&w->search);
  memcpy(w->step.K, w->step.rate0, (size_t)w->o.ny * sizeof(double));
  saltus_status status = take_stages(w, h, c, a, stride, 1, last);
  note_stage(w);
  if (status == SALTUS_OK) {
    combine(w, h, a + (ptrdiff_t)last * stride, last, w->step.y1);
    saltusi_normalise(w->sys, w->step.y1);
    status = saltusi_mode_rate(&w->mode, w->step.t + h, w->step.y1, stage(w, last));
  }
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(w->step.rate1, stage(w, last), (size_t)w->o.ny * sizeof(double));
  saltusi_adaptive_scale(w, w->step.y0, w->step.y1);
  return SALTUS_OK;
}

static saltus_status attempt5(saltusi_adaptive* w, double h, double* error) {
  saltus_status status =
      take_step(w, h, saltusi_dopri5_c, &saltusi_dopri5_a[0][0], SALTUSI_DOPRI5_STRIDE, 6);
  if (status != SALTUS_OK) {
    return status;
  }
  *error = weighted_error(w, h, saltusi_dopri5_error, 7);
  dense_dopri5(w);
  return *error <= 1.0 && !w->o.settings.without_defect ? defect(w, h, error) : SALTUS_OK;
}

static saltus_status prepare5(saltusi_adaptive* w) {
  (void)w;
  return SALTUS_OK;
}

const saltusi_adaptive_ops saltusi_adaptive_dopri5 = {
    .name = "dopri5",
    .order = 5,
    .dense_degree = 4,
    .restep = true,
    .attempt = attempt5,
    .prepare = prepare5,
    .dense = dense5,
    .dense_rate = dense_rate5,
    .powers = powers5,
    .stiffness = stiffness5,
};

/* ---- order 8(5,3) -------------------------------------------------------------------------- */

/* Near singular positions rounding grows with each step, and the step may not use less than the tolerance. */
static bool is_firm(const saltusi_adaptive* w) {
  const double near = 0.5;
  return w->memory->firmness >= near * w->memory->firmness_most;
}

static saltus_status attempt8(saltusi_adaptive* w, double h, double* error) {
  saltus_status status =
      take_step(w, h, saltusi_dop853_c, &saltusi_dop853_a[0][0], SALTUSI_DOP853_STRIDE, 12);
  if (status != SALTUS_OK) {
    return status;
  }
  double e3[12];
  memcpy(e3, saltusi_dop853_a[12], sizeof e3);
  e3[0] -= saltusi_dop853_third[0];
  e3[8] -= saltusi_dop853_third[1];
  e3[11] -= saltusi_dop853_third[2];
  double third = weighted_error(w, 1.0, e3, 12);
  double fifth = weighted_error(w, 1.0, saltusi_dop853_fifth, 12);
  double size = hypot(fifth, 0.1 * third); /* II.10 of the book: 0.01 of the square of the third */
  *error = size > 0.0 ? h * fifth * fifth / size : (size == 0.0 ? 0.0 : NAN);
  *error /= is_firm(w) ? w->o.step_part : 1.0;
  return SALTUS_OK;
}

/* The last four parts of `count` components: in blocks, since stages lie far apart in memory. */
enum { BLOCK = 16 };
static void combine_stages(saltusi_adaptive* w, size_t from, size_t count) {
  size_t n = (size_t)w->o.ny;
  double sum[4][BLOCK] = {{0.0}};
  for (size_t j = 0; j < 16; j++) {
    const double* K = w->step.K + j * n + from;
    for (int p = 0; p < 4; p++) {
      double weight = saltusi_dop853_dense[p][j];
      for (size_t i = 0; i < count; i++) {
        sum[p][i] += weight * K[i];
      }
    }
  }
  for (size_t p = 0; p < 4; p++) {
    for (size_t i = 0; i < count; i++) {
      w->step.Q[(3 + p) * n + from + i] = w->step.h * sum[p][i];
    }
  }
}

/* Three more stages and the seven parts of the interpolant of order 7 (II.6 of the book). */
static saltus_status prepare8(saltusi_adaptive* w) {
  saltus_status status = take_stages(w, w->step.h, saltusi_dop853_c, &saltusi_dop853_a[0][0],
                                     SALTUSI_DOP853_STRIDE, 13, 16);
  size_t n = (size_t)w->o.ny;
  for (size_t i = 0; i < n; i++) {
    double step = w->step.y1[i] - w->step.y0[i];
    w->step.Q[i] = step;
    w->step.Q[n + i] = w->step.h * w->step.K[i] - step;
    w->step.Q[2 * n + i] = 2.0 * step - w->step.h * (w->step.K[12 * n + i] + w->step.K[i]);
  }
  for (size_t from = 0; from < n; from += BLOCK) {
    combine_stages(w, from, n - from < BLOCK ? n - from : BLOCK);
  }
  return status;
}

static void dense8(const saltusi_trial_motion* m, double theta, int first, int count, double* y) {
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    double sum = 0.0;
    for (int p = 6; p >= 0; p--) {
      sum = (sum + m->Q[(size_t)p * n + (size_t)i]) * (p % 2 == 0 ? theta : 1.0 - theta);
    }
    y[i - first] = m->y0[i] + sum;
  }
}

static void dense_rate8(const saltusi_trial_motion* m, double theta, int first, int count,
                        double* dy) {
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    double sum = 0.0;
    double slope = 0.0;
    for (int p = 6; p >= 0; p--) {
      double inner = sum + m->Q[(size_t)p * n + (size_t)i];
      double factor = p % 2 == 0 ? theta : 1.0 - theta;
      slope = slope * factor + (p % 2 == 0 ? inner : -inner);
      sum = inner * factor;
    }
    dy[i - first] = slope / m->h;
  }
}

/* The nested form, expanded from the inside: alternately times theta and times 1 - theta. */
static void powers8(const saltusi_trial_motion* m, int count, double* coefficient) {
  size_t n = (size_t)count;
  for (size_t i = 0; i < n; i++) {
    double c[8] = {0.0};
    for (int p = 6; p >= 0; p--) {
      c[0] += m->Q[(size_t)p * (size_t)m->n + i];
      for (int k = 7; k > 0; k--) {
        c[k] = p % 2 == 0 ? c[k - 1] : c[k] - c[k - 1];
      }
      c[0] = p % 2 == 0 ? 0.0 : c[0];
    }
    c[0] = m->y0[i];
    for (size_t k = 0; k < 8; k++) {
      coefficient[k * n + i] = c[k];
    }
  }
}

const saltusi_adaptive_ops saltusi_adaptive_dop853 = {
    .name = "dop853",
    .order = 8,
    .dense_degree = 7,
    .restep = true,
    .attempt = attempt8,
    .prepare = prepare8,
    .dense = dense8,
    .dense_rate = dense_rate8,
    .powers = powers8,
    .stiffness = stiffness8,
};
