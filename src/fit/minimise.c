/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * minimise.c - the values of least loss: Gauss and Newton's method with the damping of Levenberg and Marquardt on the true
 * loss, nuisance values eliminated by experiment.
 *
 *   F(x, y) = sum_i sum_g rho(|r_g|^2) + sum (x - mean)^2/deviation^2,   w_g = rho'
 *   [A + l D  B_i ] [dx  ]     [g ]      A = sum_i w J^T J,  B_i, C_i the same with y_i of experiment i
 *   [B_i^T    C_i'] [dy_i] = - [h_i]     S = A - sum B_i C_i^-1 B_i^T
 *   covariance  S^-1 (sum_i s_i s_i^T) S^-1 N/(N - p),   s_i = g_i - B_i C_i^-1 h_i      (clustered by experiment)
 *
 * Derivatives are central differences of runs, over the step of each unknown. Where no damped step lowers F, as at kinks
 * from changed sequences of events, a pattern search over multiples of these steps goes on.
 */
#include "base/log.h"
#include "fit/fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { P = SALTUSI_FIT_UNKNOWNS, M = SALTUSI_FIT_FREE };
static const double free_step = 1e-4; /* m, rad, m/s, rad/s */

/* Normal equations of one experiment. */
typedef struct normal {
  double A[P * P], B[P * M], C[M * M], g[P], h[M];
} normal;

typedef struct search {
  saltus_fit* fit;
  saltusi_pool pool;
  double* r;         /* [residuals] at the present values */
  double* changed;   /* [variants x residuals] */
  double* kept;      /* nuisance before a step */
  double* step_free; /* [experiments x freedoms] */
  normal* of;        /* [experiments] */
  bool at_bound[P];
  double x[P], cost, S[P * P], rhs[P];
  saltusi_fit_variant* variants;
} search;

static bool cholesky(int n, double* A, int stride) {
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) {
      double sum = A[i * stride + j];
      for (int k = 0; k < j; k++) {
        sum -= A[i * stride + k] * A[j * stride + k];
      }
      if (i == j && !(sum > 0.0)) {
        return false;
      }
      A[i * stride + j] = i == j ? sqrt(sum) : sum / A[j * stride + j];
    }
  }
  return true;
}

static void substitute(int n, const double* L, int stride, double* b) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) {
      b[i] -= L[i * stride + k] * b[k];
    }
    b[i] /= L[i * stride + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      b[i] -= L[k * stride + i] * b[k];
    }
    b[i] /= L[i * stride + i];
  }
}

static double cost_of(const search* s, const double* x, const double* residuals) {
  const saltus_fit* fit = s->fit;
  double cost = 0.0;
  for (int e = 0; e < fit->experiments; e++) {
    const int weight = fit->experiment[e].weight;
    cost += weight > 0 ? weight * saltusi_fit_cost(fit, residuals, e) : 0.0;
  }
  for (int k = 0; k < fit->unknowns; k++) {
    const saltusi_fit_unknown* u = &fit->unknown[k];
    cost += u->deviation > 0.0 ? pow((x[k] - u->mean) / u->deviation, 2) : 0.0;
  }
  return cost;
}

static saltusi_fit_variant variant_of(const search* s, const double* x) {
  saltusi_fit_variant v = {.free = -1};
  memcpy(v.values, x, (size_t)s->fit->unknowns * sizeof *x);
  return v;
}

/* Residuals into `out` and the cost at x, with the present nuisance values. */
static saltus_status cost_at(search* s, const double* x, double* out, double* cost) {
  const saltusi_fit_variant v = variant_of(s, x);
  const saltusi_fit_results results = {.residuals = out};
  const saltus_status status = saltusi_fit_run(s->fit, &v, 1, &results);
  *cost = status == SALTUS_OK ? cost_of(s, x, out) : INFINITY;
  return status;
}

/* ---- derivatives ---- */

/* Central differences: two variants for each unknown and nuisance value; `over` is the distance of their values. */
static saltus_status differentiate(search* s, double* over) {
  const saltus_fit* fit = s->fit;
  const int p = fit->unknowns, all = p + fit->freedoms;
  for (int k = 0; k < all; k++) {
    for (int side = 0; side < 2; side++) {
      saltusi_fit_variant* v = &s->variants[2 * k + side];
      *v = variant_of(s, s->x);
      const double sign = side == 0 ? 1.0 : -1.0;
      if (k < p) {
        const saltusi_fit_unknown* u = &fit->unknown[k];
        v->values[k] = fmin(fmax(s->x[k] + sign * u->step, u->low), u->high);
      } else {
        v->free = k - p;
        v->change = sign * free_step;
      }
    }
    over[k] =
        k < p ? s->variants[2 * k].values[k] - s->variants[2 * k + 1].values[k] : 2.0 * free_step;
  }
  const saltusi_fit_results results = {.residuals = s->changed};
  return all > 0 ? saltusi_fit_run(s->fit, s->variants, 2 * all, &results) : SALTUS_OK;
}

/* Adds the rows of one measured value of an experiment. */
static void add_group(const search* s, const double* over, long long at, int size, int weight,
                      normal* out) {
  const saltus_fit* fit = s->fit;
  const int p = fit->unknowns, all = p + fit->freedoms;
  double z = 0.0, w, J[12][P + M];
  for (int i = 0; i < size; i++) {
    z += s->r[at + i] * s->r[at + i];
    for (int k = 0; k < all; k++) {
      const double* plus = s->changed + 2 * (long long)k * fit->residuals + at + i;
      J[i][k] = over[k] > 0.0 ? (plus[0] - plus[fit->residuals]) / over[k] : 0.0;
    }
  }
  saltusi_fit_rho(fit->loss, z, &w);
  w *= weight;
  for (int i = 0; i < size; i++) {
    for (int k = 0; k < all; k++) {
      const double wJ = w * J[i][k];
      *(k < p ? &out->g[k] : &out->h[k - p]) += wJ * s->r[at + i];
      for (int l = 0; l < all; l++) {
        if (k < p && l < p) {
          out->A[k * P + l] += wJ * J[i][l];
        } else if (k < p) {
          out->B[k * M + l - p] += wJ * J[i][l];
        } else if (l >= p) {
          out->C[(k - p) * M + l - p] += wJ * J[i][l];
        }
      }
    }
  }
}

static saltus_status assemble(search* s) {
  const saltus_fit* fit = s->fit;
  double over[P + M];
  const saltus_status status = differentiate(s, over);
  for (int e = 0; e < fit->experiments && status == SALTUS_OK; e++) {
    const saltusi_fit_experiment* x = &fit->experiment[e];
    memset(&s->of[e], 0, sizeof s->of[e]);
    long long at = x->residual;
    for (int f = x->from; f <= x->to && x->weight > 0; f++) {
      for (int i = 0; i < fit->measured_count; i++) {
        add_group(s, over, at, fit->measured[i].size, x->weight, &s->of[e]);
        at += fit->measured[i].size;
      }
    }
  }
  return status;
}

/* ---- a damped step ---- */

/* C_i' of an experiment, factored. Directions without influence get a zero step. */
static bool factor_free(const search* s, const normal* n, double lambda, double* C) {
  const int m = s->fit->freedoms;
  memcpy(C, n->C, sizeof n->C);
  for (int k = 0; k < m; k++) {
    C[k * M + k] += lambda * C[k * M + k] + 1e-12;
  }
  return cholesky(m, C, M);
}

/* S and s_i of every experiment in rhs; scores [P x P], the sum of their squares, may be NULL. */
static bool reduce(search* s, double lambda, double* scores) {
  const saltus_fit* fit = s->fit;
  const int p = fit->unknowns, m = fit->freedoms;
  memset(s->S, 0, sizeof s->S);
  memset(s->rhs, 0, sizeof s->rhs);
  for (int k = 0; k < p; k++) {
    const saltusi_fit_unknown* u = &fit->unknown[k];
    const double weight = u->deviation > 0.0 ? 1.0 / (u->deviation * u->deviation) : 0.0;
    s->S[k * P + k] = weight;
    s->rhs[k] = weight * (s->x[k] - u->mean);
  }
  for (int e = 0; e < fit->experiments; e++) {
    const normal* n = &s->of[e];
    double C[M * M], own[P];
    if (fit->experiment[e].weight == 0) {
      continue;
    }
    if (!factor_free(s, n, lambda, C)) {
      return false;
    }
    for (int k = 0; k < p; k++) {
      double y[M];
      memcpy(y, &n->B[k * M], sizeof y);
      substitute(m, C, M, y);
      own[k] = n->g[k];
      for (int i = 0; i < m; i++) {
        own[k] -= y[i] * n->h[i];
      }
      for (int l = 0; l < p; l++) {
        double sum = n->A[k * P + l];
        for (int i = 0; i < m; i++) {
          sum -= y[i] * n->B[l * M + i];
        }
        s->S[k * P + l] += sum;
      }
      s->rhs[k] += own[k];
    }
    for (int k = 0; k < p * p && scores != NULL; k++) {
      scores[k / p * P + k % p] += own[k / p] * own[k % p];
    }
  }
  return true;
}

/* Damped step of the unknowns, into d, and of the nuisance values; unknowns at an active bound do not change. */
static bool solve(search* s, double lambda, double* d) {
  const saltus_fit* fit = s->fit;
  const int p = fit->unknowns, m = fit->freedoms;
  if (!reduce(s, lambda, NULL)) {
    return false;
  }
  for (int k = 0; k < p; k++) {
    const saltusi_fit_unknown* u = &fit->unknown[k];
    s->at_bound[k] =
        (s->x[k] <= u->low && s->rhs[k] >= 0.0) || (s->x[k] >= u->high && s->rhs[k] <= 0.0);
    s->S[k * P + k] += lambda * s->S[k * P + k] + 1e-14 / (u->scale * u->scale);
    d[k] = s->at_bound[k] ? 0.0 : -s->rhs[k];
  }
  for (int k = 0; k < p * p; k++) {
    if (s->at_bound[k / p] || s->at_bound[k % p]) {
      s->S[k / p * P + k % p] = k / p == k % p ? 1.0 : 0.0;
    }
  }
  if (!cholesky(p, s->S, P)) {
    return false;
  }
  substitute(p, s->S, P, d);
  for (int e = 0; e < fit->experiments && m > 0; e++) {
    const normal* n = &s->of[e];
    double C[M * M], y[M] = {0.0};
    if (fit->experiment[e].weight == 0 || !factor_free(s, n, lambda, C)) {
      continue;
    }
    for (int i = 0; i < m; i++) {
      y[i] = -n->h[i];
      for (int k = 0; k < p; k++) {
        y[i] -= n->B[k * M + i] * d[k];
      }
    }
    substitute(m, C, M, y);
    memcpy(s->step_free + (ptrdiff_t)e * m, y, (size_t)m * sizeof *y);
  }
  return true;
}

/* Size of a step in scales of the unknowns, and of nuisance values. */
static double size_of(const search* s, const double* d) {
  double most = 0.0;
  for (int k = 0; k < s->fit->unknowns; k++) {
    most = fmax(most, fabs(d[k]) / s->fit->unknown[k].scale);
  }
  for (int k = 0; k < s->fit->experiments * s->fit->freedoms; k++) {
    most = fmax(most, fabs(s->step_free[k]));
  }
  return most;
}

/* Damped steps until one lowers the cost. *lower: whether one did; *size: its size. */
static saltus_status descend(search* s, double* lambda, bool* lower, double* size) {
  saltus_fit* fit = s->fit;
  const size_t free_values = (size_t)fit->experiments * (size_t)fit->freedoms;
  *lower = false;
  for (int trial = 0; trial < 12 && !*lower; trial++) {
    double d[P] = {0.0}, x[P], cost;
    if (!solve(s, *lambda, d)) {
      *lambda = fmax(4.0 * *lambda, 1e-3);
      continue;
    }
    for (int k = 0; k < fit->unknowns; k++) {
      x[k] = fmin(fmax(s->x[k] + d[k], fit->unknown[k].low), fit->unknown[k].high);
      d[k] = x[k] - s->x[k];
    }
    *size = size_of(s, d);
    memcpy(s->kept, fit->nuisance, free_values * sizeof(double));
    for (size_t k = 0; k < free_values; k++) {
      fit->nuisance[k] += s->step_free[k];
    }
    const saltus_status status = cost_at(s, x, s->changed, &cost);
    if (status != SALTUS_OK) {
      memcpy(fit->nuisance, s->kept, free_values * sizeof(double));
      return status;
    }
    *lower = cost < s->cost;
    if (*lower) {
      memcpy(s->x, x, sizeof s->x);
      memcpy(s->r, s->changed, (size_t)fit->residuals * sizeof(double));
      s->cost = cost;
      *lambda *= trial == 0 ? 0.2 : 1.0;
    } else {
      memcpy(fit->nuisance, s->kept, free_values * sizeof(double));
      if (*size < fit->tolerance) {
        return SALTUS_OK;
      }
      *lambda = fmax(5.0 * *lambda, 1e-4);
    }
  }
  return SALTUS_OK;
}

/* Pattern search along the axes by multiples of the difference steps, halved from 4 to 1/4 as long as no value is
 * lower. */
static saltus_status poll(search* s, bool* lower) {
  saltus_fit* fit = s->fit;
  *lower = false;
  for (double size = 4.0; size >= 0.25 && !*lower; size *= 0.5) {
    for (int k = 0; k < 2 * fit->unknowns; k++) {
      double x[P], cost;
      const saltusi_fit_unknown* u = &fit->unknown[k / 2];
      memcpy(x, s->x, sizeof x);
      x[k / 2] += (k % 2 == 0 ? size : -size) * u->step;
      if (x[k / 2] < u->low || x[k / 2] > u->high) {
        continue;
      }
      const saltus_status status = cost_at(s, x, s->changed, &cost);
      if (status != SALTUS_OK) {
        return status;
      }
      if (cost < s->cost) {
        memcpy(s->x, x, sizeof s->x);
        memcpy(s->r, s->changed, (size_t)fit->residuals * sizeof(double));
        s->cost = cost;
        *lower = true;
      }
    }
  }
  return SALTUS_OK;
}

/* ---- standard errors and identifiability ---- */

/* Eigenvalues of a symmetric matrix by Jacobi's rotations; A becomes diagonal, columns of V the vectors. */
static void eigen(int n, double* A, double* V) {
  for (int k = 0; k < n * n; k++) {
    V[k] = k / n == k % n ? 1.0 : 0.0;
  }
  for (int pass = 0; pass < 30; pass++) {
    for (int p = 0; p < n; p++) {
      for (int q = p + 1; q < n; q++) {
        if (A[p * n + q] == 0.0) {
          continue;
        }
        const double angle = 0.5 * atan2(2.0 * A[p * n + q], A[q * n + q] - A[p * n + p]);
        const double c = cos(angle), t = sin(angle);
        for (int k = 0; k < n; k++) {
          const double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - t * y;
          A[k * n + q] = t * x + c * y;
        }
        for (int k = 0; k < n; k++) {
          const double x = A[p * n + k], y = A[q * n + k], u = V[k * n + p], v = V[k * n + q];
          A[p * n + k] = c * x - t * y;
          A[q * n + k] = t * x + c * y;
          V[k * n + p] = c * u - t * v;
          V[k * n + q] = t * u + c * v;
        }
      }
    }
  }
}

static void identify(search* s) {
  saltus_fit* fit = s->fit;
  const int p = fit->unknowns;
  double A[P * P], V[P * P];
  for (int k = 0; k < p * p; k++) {
    const double scale = sqrt(s->S[k / p * P + k / p] * s->S[k % p * P + k % p]);
    A[k] = fit->correlation[k] = scale > 0.0 ? s->S[k / p * P + k % p] / scale : 0.0;
  }
  eigen(p, A, V);
  int least = 0, most = 0;
  for (int k = 1; k < p; k++) {
    least = A[k * p + k] < A[least * p + least] ? k : least;
    most = A[k * p + k] > A[most * p + most] ? k : most;
  }
  fit->view.condition =
      A[least * p + least] > 0.0 ? A[most * p + most] / A[least * p + least] : INFINITY;
  for (int k = 0; k < p; k++) {
    fit->weakest[k] = V[k * p + least];
  }
}

/* Clustered by experiment; below 2 p + 2 experiments by the mean square residual. */
static void find_covariance(search* s) {
  saltus_fit* fit = s->fit;
  const int p = fit->unknowns;
  double scores[P * P] = {0.0}, inverse[P * P] = {0.0};
  int used = 0;
  for (int e = 0; e < fit->experiments; e++) {
    used += fit->experiment[e].weight > 0;
  }
  for (int k = 0; k < p * p; k++) {
    fit->covariance[k] = (double)NAN;
  }
  if (!reduce(s, 0.0, scores)) {
    return;
  }
  identify(s);
  bool idle[P]; /* without influence */
  for (int k = 0; k < p; k++) {
    idle[k] = s->S[k * P + k] == 0.0;
    s->at_bound[k] = s->at_bound[k] || idle[k];
  }
  for (int k = 0; k < p * p; k++) {
    if (s->at_bound[k / p] || s->at_bound[k % p]) {
      s->S[k / p * P + k % p] = k / p == k % p ? 1.0 : 0.0;
      scores[k / p * P + k % p] = 0.0;
    }
  }
  if (!cholesky(p, s->S, P)) {
    return;
  }
  for (int k = 0; k < p; k++) {
    inverse[k * P + k] = s->at_bound[k] ? 0.0 : 1.0;
    substitute(p, s->S, P, &inverse[k * P]);
    fit->curvature[k] = inverse[k * P + k] > 0.0 ? 1.0 / inverse[k * P + k] : 0.0;
  }
  const bool clustered = used >= 2 * p + 2;
  const double freedom = (double)(clustered ? used : fit->residuals) - p;
  fit->view.factor = freedom > 0.0 ? 1.96 + 2.37 / freedom + 2.8 / (freedom * freedom) : INFINITY;
  for (int k = 0; k < p * p; k++) {
    double sum = 0.0;
    for (int a = 0; a < p * p && clustered; a++) {
      sum += inverse[k / p * P + a / p] * scores[a / p * P + a % p] * inverse[a % p * P + k % p];
    }
    fit->covariance[k] = clustered ? sum * used / freedom
                                   : inverse[k / p * P + k % p] * s->cost / fmax(freedom, 1.0);
    if (idle[k / p] || idle[k % p]) {
      fit->covariance[k] = (double)NAN;
    }
  }
}

static saltus_status take(search* s) {
  const saltus_fit* fit = s->fit;
  const long long n = fit->residuals, all = fit->unknowns + fit->freedoms;
  s->r = SALTUSI_TAKE(&s->pool, double, n);
  s->changed = SALTUSI_TAKE(&s->pool, double, (2 * all + 1) * n);
  s->kept = SALTUSI_TAKE(&s->pool, double, fit->experiments * fit->freedoms + 1);
  s->step_free = SALTUSI_TAKE(&s->pool, double, fit->experiments * fit->freedoms + 1);
  s->of = SALTUSI_TAKE(&s->pool, normal, fit->experiments);
  s->variants = SALTUSI_TAKE(&s->pool, saltusi_fit_variant, 2 * all + 1);
  return s->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

static saltus_status iterate(search* s) {
  saltus_fit* fit = s->fit;
  double lambda = 1e-3, size = INFINITY;
  saltus_status status = cost_at(s, s->x, s->r, &s->cost);
  fit->view.converged = fit->unknowns + fit->freedoms == 0;
  while (status == SALTUS_OK && !fit->view.converged && fit->view.iterations < fit->most) {
    bool lower = false;
    const double before = s->cost;
    status = assemble(s);
    if (status == SALTUS_OK) {
      status = descend(s, &lambda, &lower, &size);
    }
    if (status == SALTUS_OK && !lower && size >= fit->tolerance) {
      status = poll(s, &lower);
      fit->view.fallbacks += lower;
      lambda = 1e-2;
      size = INFINITY;
    }
    fit->view.iterations++;
    fit->view.converged = !lower || size < fit->tolerance ||
                          before - s->cost <= 1e-9 * before * (fit->tolerance > 1e-8);
    memcpy(fit->values, s->x, sizeof fit->values);
    fit->view.cost = s->cost;
    if (fit->def.report != NULL) {
      fit->def.report(fit->def.user, fit->view.iterations, s->cost);
    }
  }
  return status;
}

saltus_status saltusi_fit_minimise(saltus_fit* fit, bool errors) {
  assert(fit != NULL);
  search s = {.fit = fit, .pool = saltusi_pool_over(NULL)};
  memcpy(s.x, fit->values, sizeof s.x);
  fit->view.iterations = fit->view.fallbacks = 0;
  saltus_status status = take(&s);
  status = status == SALTUS_OK ? iterate(&s) : status;
  if (status == SALTUS_OK && fit->unknowns > 0 && errors) {
    status = assemble(&s);
    if (status == SALTUS_OK) {
      double d[P];
      solve(&s, 0.0, d); /* which bounds hold */
      find_covariance(&s);
    }
  }
  saltusi_pool_free(&s.pool);
  return status;
}
