/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * implicit.c - trial steps by Radau IIA of order 5 for stiff forces (Hairer and Wanner 1996, IV.8), on the
 * accelerations of the stages:
 *
 *   V_i = v + h sum a_ij K_j,   Q_i = q + h sum a_ij V_j,   R_i = a(t + c_i h, Q_i, V_i) - K_i
 *   (I - h A x a_v - h^2 A^2 x a_q) dK = R
 *
 * which leaves positions and impulses out of the linear algebra. With maps the positions of the stages are the
 * fixed point of Q_i = q + h sum a_ij N(Q_j) V_j for given velocities; it contracts with 0.14 h |w|, the
 * spectral radius of A and half an angular velocity. a_q, a_v and those of the contact
 * forces come from differences, once for many steps. With Z_i = Y_i - y and mu the real eigenvalue of
 * A^-1 the error is  (mu / h - J)^-1 (y' + sum e_i Z_i / h),  and dense output is the collocation cubic.
 */
#include "adaptive/positions.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

#define ROOT6 2.449489742783178098197284

static const double c[3] = {(4.0 - ROOT6) / 10.0, (4.0 + ROOT6) / 10.0, 1.0};
static const double a[3][3] = {
    {(88.0 - 7.0 * ROOT6) / 360.0, (296.0 - 169.0 * ROOT6) / 1800.0, (-2.0 + 3.0 * ROOT6) / 225.0},
    {(296.0 + 169.0 * ROOT6) / 1800.0, (88.0 + 7.0 * ROOT6) / 360.0, (-2.0 - 3.0 * ROOT6) / 225.0},
    {(16.0 - ROOT6) / 36.0, (16.0 + ROOT6) / 36.0, 1.0 / 9.0}};
static const double e[3] = {(-13.0 - 7.0 * ROOT6) / 3.0, (-13.0 + 7.0 * ROOT6) / 3.0, -1.0 / 3.0};
static const double dense_p[3][3] = {
    {(13.0 + 7.0 * ROOT6) / 3.0, (-23.0 - 22.0 * ROOT6) / 3.0, 10.0 / 3.0 + 5.0 * ROOT6},
    {(13.0 - 7.0 * ROOT6) / 3.0, (-23.0 + 22.0 * ROOT6) / 3.0, 10.0 / 3.0 - 5.0 * ROOT6},
    {1.0 / 3.0, -8.0 / 3.0, 10.0 / 3.0}};
/* 3 + 3^(2/3) - 3^(1/3) */
static const double mu_real = 3.637834252744495732208;

enum { NEWTON_MAX = 8, KEPT_STEPS = 20, SWEEPS_MAX = 40 };
/* Pivots below this fraction of the largest are zero: some four rounding units. */
static const double tiny = 1e-15;

/* Difference step for a quantity of this size: eps^(1/3) balances truncation and rounding of central differences;
 * rounded to a power of two so that it is exact. A size below `least` (or zero) has its step, 6e-8: rounding
 * leaves 4e-9 of a rate. It has the unit of the quantity, which is harmless: J directs Newton's iteration and
 * filters the estimate, and a poor one costs iterations. */
static double difference(double size) {
  const double least = 1e-2;
  int exponent;
  frexp(cbrt(DBL_EPSILON) * fmax(size, least), &exponent);
  return ldexp(1.0, exponent);
}

/* One column of J from rates at + and - of a displacement. */
static void put_column(saltusi_adaptive* w, int j, double step) {
  int n = w->o.nv + w->o.nl;
  for (int i = 0; i < n; i++) {
    w->step.J[(size_t)i * (size_t)(2 * w->o.nv) + (size_t)j] =
        (w->step.rate_mid[w->o.nq + i] - w->step.rate_try[w->o.nq + i]) / (2.0 * step);
  }
}

/* J of accelerations and contact forces with respect to positions (along velocities) and velocities. */
static saltus_status make_jacobian(saltusi_adaptive* w) {
  const double part_of_slip = 1e-3; /* of slip_limit, a twentieth of the slip: a rotation by 5e-5 */
  const double* v = w->step.y0 + w->o.nq;
  double size_q = saltusi_max_abs(w->o.nq, w->step.y0);
  saltus_status status = SALTUS_OK;
  for (int j = 0; j < 2 * w->o.nv && status == SALTUS_OK; j++) {
    bool position = j < w->o.nv;
    int k = position ? j : j - w->o.nv;
    double step = difference(position ? fmin(1.0, size_q) : fabs(v[k]));
    if (!position &&
        part_of_slip * w->step.slip_limit[k] < step) { /* within one direction of a slow slip */
      step = ldexp(1.0, ilogb(part_of_slip * w->step.slip_limit[k]));
    }
    if (position && w->step.tilt_limit[k] < step) { /* on one side of a nearly flat circle */
      step = ldexp(1.0, ilogb(w->step.tilt_limit[k]));
    }
    for (int side = 0; side < 2 && status == SALTUS_OK; side++) {
      double shift = side == 0 ? step : -step;
      memcpy(w->step.y_try, w->step.y0, (size_t)w->o.ny * sizeof(double));
      if (position) {
        memset(w->step.unit, 0, (size_t)w->o.nv * sizeof(double));
        w->step.unit[k] = 1.0;
        saltusi_advance(w->sys, w->step.y0, w->step.unit, shift, w->step.y_try);
      } else {
        w->step.y_try[w->o.nq + k] += shift;
      }
      status = saltusi_mode_rate(&w->mode, w->step.t, w->step.y_try,
                                 side == 0 ? w->step.rate_mid : w->step.rate_try);
    }
    put_column(w, j, step);
  }
  w->memory->jacobian_age = 0.0;
  w->memory->jacobian_slip = w->step.slip_least;
  return status;
}

/* I - h A x a_v - h^2 A^2 x a_q, factored; and mu / h - a_v - (h / mu) a_q for the error. */
static bool factor(saltusi_adaptive* w, double h) {
  int nv = w->o.nv;
  int n = 3 * nv;
  double square[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      square[i][j] = a[i][0] * a[0][j] + a[i][1] * a[1][j] + a[i][2] * a[2][j];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      for (int r = 0; r < nv; r++) {
        const double* row = w->step.J + (size_t)r * (size_t)(2 * nv);
        double* into = w->step.newton + (size_t)(i * nv + r) * (size_t)n + (size_t)(j * nv);
        for (int k = 0; k < nv; k++) {
          into[k] = -h * a[i][j] * row[nv + k] - h * h * square[i][j] * row[k];
        }
        into[r] += i == j ? 1.0 : 0.0;
      }
    }
  }
  for (int r = 0; r < nv; r++) {
    const double* row = w->step.J + (size_t)r * (size_t)(2 * nv);
    for (int k = 0; k < nv; k++) {
      w->step.small[r * nv + k] =
          -row[nv + k] - h / mu_real * row[k] + (r == k ? mu_real / h : 0.0);
    }
  }
  return saltusi_lu_factor(n, w->step.newton, w->step.newton_pivot, tiny) &&
         saltusi_lu_factor(nv, w->step.small, w->step.newton_pivot + n, tiny);
}

static double* z_of(const saltusi_adaptive* w, int i) {
  return w->step.K + (size_t)(3 + i) * (size_t)w->o.ny;
}

static double* rate_of(const saltusi_adaptive* w, int i) {
  return w->step.K + (size_t)i * (size_t)w->o.ny;
}

/* Positions of the stages with maps, from their velocities and the previous positions. False: h is too long for
 * the iteration. */
static bool turn_stages(saltusi_adaptive* w, double h) {
  const double part = 1e-3; /* of a tolerance */
  double least = INFINITY;
  for (int i = 0; i < w->o.nv; i++) {
    least = fmin(least, w->step.scale[i]);
  }
  double last = INFINITY;
  for (int k = 0; k < SWEEPS_MAX; k++) {
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < w->o.nq + w->o.nv; i++) {
        w->step.y_try[i] = w->step.y0[i] + z_of(w, j)[i];
      }
      saltusi_rate(w->sys, w->step.y_try, w->step.y_try + w->o.nq, rate_of(w, j));
    }
    double change = 0.0;
    for (int i = 0; i < 3; i++) {
      double* z = z_of(w, i);
      for (int n = 0; n < w->o.nq; n++) {
        double sum = 0.0;
        for (int j = 0; j < 3; j++) {
          sum += h * a[i][j] * rate_of(w, j)[n];
        }
        change = saltusi_larger(change, fabs(sum - z[n]));
        z[n] = sum;
      }
    }
    double rounding = 4.0 * DBL_EPSILON * w->o.size;
    if (change <= fmax(part * least, rounding)) {
      return true;
    }
    if (!(change < last)) {
      return false;
    }
    last = change;
  }
  return false;
}

/* Y_i = y0 + Z_i from the stage accelerations in w->step.stage_a, and the rates there. */
static saltus_status evaluate_stages(saltusi_adaptive* w, double h, bool* good) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < 3; i++) {
    double* z = z_of(w, i);
    memset(z + w->o.nq, 0, (size_t)(w->o.ny - w->o.nq) * sizeof(double));
    for (int j = 0; j < 3; j++) {
      saltusi_add_scaled(w->o.nv, h * a[i][j], w->step.stage_a + (size_t)j * (size_t)w->o.nv,
                         z + w->o.nq);
    }
  }
  *good = !w->step.ways.maps || turn_stages(w, h);
  for (int i = 0; i < 3 && status == SALTUS_OK && *good; i++) {
    double* z = z_of(w, i);
    for (int k = 0; k < w->o.nq && !w->step.ways.maps; k++) {
      z[k] = 0.0;
      for (int j = 0; j < 3; j++) {
        z[k] += h * a[i][j] * (w->step.y0[w->o.nq + k] + z_of(w, j)[w->o.nq + k]);
      }
    }
    for (int k = 0; k < w->o.ny; k++) {
      w->step.y_try[k] = w->step.y0[k] + z[k];
    }
    status = saltusi_mode_rate(&w->mode, w->step.t + c[i] * h, w->step.y_try, rate_of(w, i));
  }
  return status;
}

/* Newton's iteration on the stage accelerations; *converged. The stopping criterion is that of RADAU5, in
 * tolerances (Hairer and Wanner 1996, IV.8). Corrections that no longer fall are rounding of the accelerations if they are
 * far below it: they are proportional to h, so that shorter steps would not converge either. */
static saltus_status iterate(saltusi_adaptive* w, double h, bool* converged) {
  int n = 3 * w->o.nv;
  const double part_of_target = 0.1;
  double target =
      fmax(10.0 * DBL_EPSILON / w->o.settings.rtol, fmin(0.03, sqrt(w->o.settings.rtol)));
  double last = 0.0;
  *converged = false;
  for (int i = 0; i < 3; i++) {
    memcpy(w->step.stage_a + (size_t)i * (size_t)w->o.nv, w->step.rate0 + w->o.nq,
           (size_t)w->o.nv * sizeof(double));
    memset(z_of(w, i), 0, (size_t)w->o.nq * sizeof(double));
  }
  for (int k = 0; k < NEWTON_MAX; k++) {
    bool good;
    saltus_status status = evaluate_stages(w, h, &good);
    if (status != SALTUS_OK || !good) {
      return status;
    }
    for (int i = 0; i < n; i++) {
      w->step.R[i] = rate_of(w, i / w->o.nv)[w->o.nq + i % w->o.nv] - w->step.stage_a[i];
    }
    saltusi_lu_solve(n, w->step.newton, w->step.newton_pivot, w->step.R);
    double size = 0.0;
    for (int i = 0; i < n; i++) {
      double part = h * fabs(w->step.R[i]) / w->step.scale[w->o.nq + i % w->o.nv];
      size = saltusi_larger(size, part);
    }
    saltusi_add_scaled(n, 1.0, w->step.R, w->step.stage_a);
    w->eval->work.newton_iterations++;
    double ratio = k > 0 ? size / last : 0.0;
    if (!isfinite(size) || (k > 0 && ratio >= 1.0 && size > part_of_target * target)) {
      return SALTUS_OK;
    }
    bool small = k > 0 && (ratio >= 1.0 || ratio / (1.0 - ratio) * size < target);
    if (size == 0.0 || small) {
      return evaluate_stages(w, h, converged);
    }
    last = size;
  }
  return SALTUS_OK;
}

/* x = (mu / h - J)^-1 x on (q, v, L), with L by substitution. */
static void filter(saltusi_adaptive* w, double h, double* x) {
  int nv = w->o.nv;
  double s = h / mu_real;
  for (int r = 0; r < nv; r++) {
    const double* row = w->step.J + (size_t)r * (size_t)(2 * nv);
    w->step.R[r] = x[w->o.nq + r] + s * saltusi_dot(nv, row, x);
  }
  saltusi_lu_solve(nv, w->step.small, w->step.newton_pivot + 3 * nv, w->step.R);
  for (int r = 0; r < nv; r++) {
    x[w->o.nq + r] = w->step.R[r];
    x[r] = s * (x[r] + w->step.R[r]);
  }
  for (int l = 0; l < w->o.nl; l++) {
    const double* row = w->step.J + (size_t)(nv + l) * (size_t)(2 * nv);
    double* into = &x[w->o.nq + nv + l];
    *into = s * (*into + saltusi_dot(nv, row, x) + saltusi_dot(nv, row + nv, x + w->o.nq));
  }
}

static saltus_status estimate(saltusi_adaptive* w, double h, double* error) {
  for (int i = 0; i < w->o.ny; i++) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
      sum += e[k] * z_of(w, k)[i];
    }
    w->step.rate_mid[i] = sum / h;
    w->step.y_mid[i] = w->step.rate0[i] + w->step.rate_mid[i];
  }
  saltusi_change_to_displacement(w, w->step.y0, w->step.y_mid);
  filter(w, h, w->step.y_mid);
  *error = saltusi_in_tolerances(w, w->step.y_mid, 0.0);
  if (*error <= 1.0) {
    return SALTUS_OK;
  }
  saltusi_advance(w->sys, w->step.y0, w->step.y_mid, 1.0, w->step.y_try);
  for (int i = w->o.nq; i < w->o.ny; i++) {
    w->step.y_try[i] = w->step.y0[i] + w->step.y_mid[i];
  }
  saltus_status status = saltusi_mode_rate(&w->mode, w->step.t, w->step.y_try, w->step.y_mid);
  if (status == SALTUS_OK) {
    saltusi_add_scaled(w->o.ny, 1.0, w->step.rate_mid, w->step.y_mid);
    saltusi_change_to_displacement(w, w->step.y0, w->step.y_mid);
    filter(w, h, w->step.y_mid);
    *error = saltusi_in_tolerances(w, w->step.y_mid, 0.0);
  }
  return status;
}

/* The end of the step and the cubic through the stages. */
static void finish(saltusi_adaptive* w, double h) {
  size_t n = (size_t)w->o.ny;
  for (int i = 0; i < 3; i++) { /* impulses follow from the forces of the stages */
    double* z = z_of(w, i) + w->o.nq + w->o.nv;
    for (int l = 0; l < w->o.ny - w->o.nq - w->o.nv; l++) {
      z[l] = 0.0;
      for (int j = 0; j < 3; j++) {
        z[l] += h * a[i][j] * rate_of(w, j)[w->o.nq + w->o.nv + l];
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    w->step.y1[i] = w->step.y0[i] + z_of(w, 2)[i];
    for (size_t p = 0; p < 3; p++) {
      w->step.Q[p * n + i] = z_of(w, 0)[i] * dense_p[0][p] + z_of(w, 1)[i] * dense_p[1][p] +
                             z_of(w, 2)[i] * dense_p[2][p];
    }
  }
  saltusi_normalise(w->sys, w->step.y1);
}

/* Whether the Jacobian may be kept. The rotation of a slip has the rate mu l_N / |U_T|: with the Jacobian of
 * another slip Newton's iteration ends with smaller but systematic errors; the initial guess of a constant
 * acceleration multiplies them by that rate times h, and they grow from step to step. */
static bool is_kept(const saltusi_adaptive* w) {
  const double much = 1.1; /* chosen */
  double slip = w->step.slip_least, then = w->memory->jacobian_slip;
  bool same = slip == then || (slip < much * then && then < much * slip);
  return w->memory->jacobian_age >= 0.0 && w->memory->jacobian_age < KEPT_STEPS && same;
}

static saltus_status attempt(saltusi_adaptive* w, double h, double* error) {
  w->step.h = h;
  w->step.motion = (saltusi_trial_motion){.y0 = w->step.y0, .Q = w->step.Q, .n = w->o.ny, .h = h};
  saltusi_trajectory_forget(&w->search);
  saltusi_adaptive_scale(w, w->step.y0, w->step.y0);
  for (int pass = 0; pass < 2; pass++) {
    bool fresh = !is_kept(w);
    saltus_status status = fresh ? make_jacobian(w) : SALTUS_OK;
    if (status != SALTUS_OK) {
      return status;
    }
    bool converged = false;
    if (factor(w, h)) {
      status = iterate(w, h, &converged);
    }
    if (status != SALTUS_OK) {
      return status;
    }
    if (converged) {
      finish(w, h);
      saltusi_adaptive_scale(w, w->step.y0, w->step.y1);
      status = estimate(w, h, error);
      w->memory->jacobian_age += 1.0;
      return status == SALTUS_OK
                 ? saltusi_mode_rate(&w->mode, w->step.t + h, w->step.y1, w->step.rate1)
                 : status;
    }
    w->memory->jacobian_age = -1.0; /* repeat with a new one, then with a smaller step */
    if (fresh) {
      break;
    }
  }
  *error = 1e3; /* of order 4: the next trial step is the shortest, a fifth */
  return SALTUS_OK;
}

static saltus_status prepare(saltusi_adaptive* w) {
  (void)w;
  return SALTUS_OK;
}

static void dense(const saltusi_trial_motion* m, double theta, int first, int count, double* y) {
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    size_t k = (size_t)i;
    y[i - first] = m->y0[i] + theta * (m->Q[k] + theta * (m->Q[n + k] + theta * m->Q[2 * n + k]));
  }
}

static void dense_rate(const saltusi_trial_motion* m, double theta, int first, int count,
                       double* dy) {
  size_t n = (size_t)m->n;
  for (int i = first; i < first + count; i++) {
    size_t k = (size_t)i;
    dy[i - first] = (m->Q[k] + theta * (2.0 * m->Q[n + k] + theta * 3.0 * m->Q[2 * n + k])) / m->h;
  }
}

static void powers(const saltusi_trial_motion* m, int count, double* coefficient) {
  size_t n = (size_t)count;
  for (size_t i = 0; i < n; i++) {
    coefficient[i] = m->y0[i];
    for (size_t p = 0; p < 3; p++) {
      coefficient[(p + 1) * n + i] = m->Q[p * (size_t)m->n + i];
    }
  }
}

/* h times a bound of the largest eigenvalue of y'' = a(q, y'), relative to the stability limit of an explicit
 * method: 3.25, order 5 on the negative axis (explicit.c). */
static double stiffness(const saltusi_adaptive* w) {
  double in_v = 0.0;
  double in_q = 0.0;
  for (int i = 0; i < w->o.nv; i++) {
    const double* row = w->step.J + (size_t)i * (size_t)(2 * w->o.nv);
    double sum_v = 0.0;
    double sum_q = 0.0;
    for (int k = 0; k < w->o.nv; k++) {
      sum_v += fabs(row[w->o.nv + k]);
      sum_q += fabs(row[k]);
    }
    in_v = fmax(in_v, sum_v);
    in_q = fmax(in_q, sum_q);
  }
  return w->step.h * (in_v + sqrt(in_q)) / 3.25;
}

const saltusi_adaptive_ops saltusi_adaptive_radau5 = {
    .name = "radau5",
    .order = 4,
    .dense_degree = 3,
    .restep = false,
    .attempt = attempt,
    .prepare = prepare,
    .dense = dense,
    .dense_rate = dense_rate,
    .powers = powers,
    .stiffness = stiffness,
};
