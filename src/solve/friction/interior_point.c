/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interior_point.c - with z = P r / s_z and y = P^-1 uh / s_y, P = diag(mu, 1, 1), the friction
 * problem of De Saxce reads
 *
 *   y = W z + q + |y_T| e0,   y and z in the Lorentz cone,   y.z = 0
 *
 * and mu is gone. Newton on this equation and on z o y = sigma m e, the term |y_T| included, with
 * Nesterov-Todd scaling T (T z = T^-1 y = lambda) and J = I - e0 (0, y_T / |y_T|)^T:
 *
 *   (W + J T^2) dz = (1 - sigma) miss + J T (lambda \ ds)
 *   dy = J^-1 (W dz - (1 - sigma) miss)
 *
 * dy comes from the first equation, not from complementarity, which would lose `miss` near the end.
 * Predictor and corrector after Mehrotra (SIAM J. Optim. 2 (1992) 575-601); the full step of an
 * interior point for friction is that of Acary, Armand, Nguyen & Shpakovych (OMS 38 (2023)), here
 * with the fixed point on |y_T| replaced by its derivative. The problem is not monotone, so steps
 * may jam: the centrality of every contact is kept above a part of the mean, after three tiny steps
 * the friction term is halved in J for a while, and after that the point is moved inwards.
 *
 * Frictionless contacts are half lines with zero tangential impulses; bilateral rows have
 * y = 0 and no complementarity.
 */
#include "solve/friction/interior_point.h"

#include "math/matrix.h"
#include "solve/friction/interior_point_cone.h"

#include <assert.h>
#include <string.h>

enum { CONE, LINE, FREE };

/* All quantities are relative, for the problem scaled to unit velocities and impulses. "Chosen" values solve the
 * published problems of tests and studies and were not varied individually. */

/* Friction below this is treated by later stages: P contains 1 / mu, and 1 / mu^2 in the matrix costs at most the
 * digits that 1e-14 permits. */
static const double friction_floor = 1e-7;
/* Above it the cone counts as a half space in this stage, which ends at 1e-8: chosen. */
static const double friction_roof = 1e4;
/* Part of the mean complementarity that every contact keeps: the wide neighbourhood of path following (Wright,
 * Primal-Dual Interior-Point Methods, SIAM (1997), chapter 5, uses 1e-3). */
static const double centrality_floor = 1e-4;
/* |y_T| is smoothed below this fraction of the mean complementarity, so that the smoothing vanishes with it and stays
 * below its resolution; chosen. */
static const double tip_rounding = 1e-3;
/* Compliance of redundant bilateral rows, relative to their own: 5e4 eps, above the rounding of a factorisation of some
 * thousand rows, and seven digits below compliances relevant at 1e-8 (the residual uses the true W). */
static const double bilateral_repair = 1e-11;

/* Relative residual of linear solves: the direction of an inexact Newton step then has two digits, sufficient for its
 * step length of 0.995. */
static const double useful_direction = 1e-2;

/* Mean complementarity after the trial iterations (INTERIOR_EXPECTED in friction_auto.c) above which the iteration is
 * regarded as cycling; chosen. */
static const double trial_mean = 1e-3;

/* Below this mean a short step is rounding, not a jam: z or y of a contact is below its root, 3e-5, and
 * quotients of them in the matrix take nine of sixteen digits. */
static const double noise_floor = 1e-9;
/* Below this mean, 500 eps, the residual should follow: one that keeps more than `stall_part` of itself more than
 * STALLS times in a row is rounding. */
static const double stall_floor = 1e-13;
static const double stall_part = 0.9;
enum { STALLS = 3 };
/* Slightly above the square of rounding (eps^2 is 5e-32): no further gain is possible. */
static const double mean_least = 1e-26;

/* Mehrotra's sigma (SIAM J. Optim. 2 (1992) 575-601) stays above this, chosen: the mean loses
 * eight digits in an iteration at most. */
static const double sigma_least = 1e-8;
/* A predictor shorter than this is no reliable approximation of the path: at least half of the mean is kept, without
 * the second-order term. The step after one below `step_poor` is a centring step. Chosen. */
static const double predictor_short = 0.3;
static const double sigma_cautious = 0.5;
static const double step_poor = 0.1;
static const double sigma_centring = 0.9;

/* Fraction of the distance to the boundary that a step takes: 1 - mean, as required for superlinear convergence,
 * between these bounds (Nocedal & Wright, Numerical Optimization (2006), section 14.2: in [0.9, 1), towards 1). */
static const double back_least = 0.9;
static const double back_most = 0.995;
/* Reductions of a step until contacts are central again: 0.8^12 is 7 %; a step below `step_tiny` is a jam. */
static const double shorten = 0.8;
enum { SHORTENINGS = 12 };

/* Jams: steps below `step_tiny` count, one above `step_free` ends the count; after JAM_STEPS of them theta is
 * halved for NONSTIFF iterations and until a step is above `step_again`, or the mean is multiplied by
 * recentre_by; after JAMS of those the path is given up. Chosen. */
static const double step_tiny = 0.05;
static const double step_free = 0.3;
static const double step_again = 0.2;
static const double nonstiff_theta = 0.5;
static const double recentre_by = 100.0;
enum { JAM_STEPS = 3, NONSTIFF = 6, JAMS = 8 };

typedef struct progress {
  const saltusi_friction_case* in;
  saltusi_interior_work* work;
  saltusi_block_lu* lu;
  double velocity_scale, impulse_scale;
  double ratio;       /* of the two */
  int cones;          /* units with complementarity */
  double mean;        /* complementarity per unit, m */
  double miss;        /* |miss| */
  double theta;       /* part of the friction term in J */
  double step, sigma; /* of the last iteration */
  bool second_order;
  bool pivots;   /* allowed */
  bool balanced; /* q = 0 and no friction term: search for a self-stress */
} progress;

void saltusi_interior_layout(saltusi_interior_work* work, int units, int rows, size_t values,
                             saltus_arena* arena) {
  assert(work != NULL && arena != NULL && units >= 0 && rows >= 0);
  double** vectors[] = {&work->z,       &work->y,  &work->q,        &work->miss,     &work->rhs,
                        &work->dz,      &work->dy, &work->dz_first, &work->dy_first, &work->lambda,
                        &work->product, &work->r,  &work->u,        &work->tangent};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
    *vectors[k] = SALTUS_PUSH(arena, double, rows);
  }
  work->T = SALTUS_PUSH2(arena, double, units, 9);
  work->T_inverse = SALTUS_PUSH2(arena, double, units, 9);
  work->T2 = SALTUS_PUSH2(arena, double, units, 9);
  work->slope = SALTUS_PUSH(arena, double, units);
  work->inverse = SALTUS_PUSH2(arena, double, units, SALTUSI_CONTACT_ENTRIES);
  work->K = SALTUS_PUSH2(arena, double, units, SALTUSI_CONTACT_ENTRIES);
  work->W = SALTUS_PUSH(arena, double, values);
  work->kind = SALTUS_PUSH(arena, unsigned char, units);
}

/* Number of rows of a unit with a complementarity condition. */
static int cone_rows(const progress* p, int i) {
  int kind = p->work->kind[i];
  return kind == CONE ? saltusi_unit_rows(p->in->pattern, i) : (kind == LINE ? 1 : 0);
}

/* Tangent rows of a frictionless contact are held. */
static bool held(const progress* p, int i, int k) {
  return p->work->kind[i] == LINE && k > 0;
}

static void classify(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  p->cones = 0;
  double compliance = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    double mu = saltusi_unit_rows(pattern, i) > 1 ? p->in->mu[i] : 0.0;
    if (pattern->bilateral[i] != 0) {
      p->work->kind[i] = FREE;
    } else {
      p->work->kind[i] = mu > friction_floor ? CONE : LINE;
      p->cones++;
    }
    p->work->slope[i] = p->work->kind[i] == CONE ? fmin(mu, friction_roof) : 1.0;
    compliance += 1.0 / p->in->rho[i];
  }
  p->velocity_scale = p->in->velocity_unit / sqrt((double)pattern->units);
  p->impulse_scale = p->velocity_scale * pattern->units / compliance;
  p->ratio = p->impulse_scale / p->velocity_scale;
}

/* W and q in the scaled variables, on the pattern of the factorisation. */
static void scale_problem(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_block_lu* lu = p->lu;
  double ratio = p->ratio;
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    double row_scale = 1.0 / p->work->slope[i];
    for (int e = lu->start[i]; p->in->bodies == NULL && e < lu->start[i + 1]; e++) {
      double* to = p->work->W + lu->place[e];
      int j = lu->unit[e];
      int columns = saltusi_unit_rows(pattern, j);
      if (lu->source[e] < 0) {
        memset(to, 0, (size_t)(d * columns) * sizeof(double));
        continue;
      }
      const double* from = p->in->values + pattern->place[lu->source[e]];
      double column_scale = 1.0 / p->work->slope[j];
      for (int k = 0; k < d; k++) {
        for (int c = 0; c < columns; c++) {
          to[k * columns + c] = from[k * columns + c] * ratio * (k == 0 ? row_scale : 1.0) *
                                (c == 0 ? column_scale : 1.0);
        }
      }
    }
    for (int k = 0; k < d; k++) {
      int a = pattern->offset[i] + k;
      double q = p->balanced ? 0.0 : p->in->q[a];
      p->work->q[a] = q / p->velocity_scale * (k == 0 ? row_scale : 1.0);
    }
  }
}

static void start_point(progress* p, const saltusi_interior_settings* settings) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  size_t bytes = (size_t)pattern->rows * sizeof(double);
  memset(p->work->z, 0, bytes);
  memset(p->work->y, 0, bytes);
  for (int i = 0; i < pattern->units; i++) {
    if (p->work->kind[i] != FREE) {
      p->work->z[pattern->offset[i]] = settings->start_z;
      p->work->y[pattern->offset[i]] = settings->start_y;
    }
  }
}

static double mean_product(const progress* p, double step) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  const saltusi_interior_work* w = p->work;
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int d = cone_rows(p, i);
    for (int a = pattern->offset[i]; a < pattern->offset[i] + d; a++) {
      /* no direction exists at the start, and uninitialised memory times zero need not be zero */
      sum += step > 0.0 ? (w->z[a] + step * w->dz[a]) * (w->y[a] + step * w->dy[a])
                        : w->z[a] * w->y[a];
    }
  }
  return p->cones > 0 ? sum / p->cones : 0.0;
}

/* y = W z, scaled. */
static void times(const progress* p, const double* z, double* y) {
  const saltusi_bodies* b = p->in->bodies;
  if (b == NULL) {
    saltusi_block_lu_times(p->lu, p->work->W, z, y);
    return;
  }
  memset(b->next, 0, (size_t)b->bodies * SALTUSI_BODY_WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    const double* zi = z + 3 * (size_t)i;
    const double r[3] = {p->ratio * zi[0] / p->work->slope[i], p->ratio * zi[1], p->ratio * zi[2]};
    saltusi_bodies_push(b, i, r, b->next);
  }
  memset(y, 0, 3 * (size_t)b->units * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    const double* zi = z + 3 * (size_t)i;
    const double r[3] = {p->ratio * zi[0] / p->work->slope[i], p->ratio * zi[1], p->ratio * zi[2]};
    saltusi_bodies_add(b, i, b->next, y + 3 * (size_t)i);
    saltusi_bodies_add_compliance(b, i, r, y + 3 * (size_t)i);
    y[3 * i] /= p->work->slope[i];
  }
}

/* The initial point: impulses `r` and their velocities, at the distance inside the cones that the start specifies. */
static void start_near(progress* p, const saltusi_interior_settings* settings) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  for (int i = 0; i < pattern->units; i++) {
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
      w->z[a] =
          settings->from[a] / p->impulse_scale * (a == pattern->offset[i] ? w->slope[i] : 1.0);
    }
  }
  times(p, w->z, w->y);
  for (int i = 0; i < pattern->units; i++) {
    const int at = pattern->offset[i], d = cone_rows(p, i);
    for (int a = at; a < pattern->offset[i + 1]; a++) {
      w->y[a] += w->q[a];
    }
    if (d == 0) {
      continue;
    }
    const double t = saltusi_tangent_norm(d, w->y + at);
    w->z[at] = fmax(w->z[at], saltusi_tangent_norm(d, w->z + at)) + settings->start_z;
    w->y[at] = fmax(w->y[at] + t, t) + settings->start_y;
  }
}

/* miss, mean and y_T / |y_T| at the present point. */
static void measure(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  times(p, w->z, w->product);
  p->mean = mean_product(p, 0.0);
  double tip = tip_rounding * p->mean;
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    int at = pattern->offset[i];
    for (int k = 0; k < d; k++) {
      w->miss[at + k] = held(p, i, k) ? 0.0 : w->y[at + k] - w->product[at + k] - w->q[at + k];
      w->tangent[at + k] = 0.0;
    }
    if (w->kind[i] == CONE && !p->balanced) {
      double t = saltusi_tangent_norm(d, w->y + at);
      t = sqrt(t * t + tip * tip);
      w->miss[at] -= t;
      for (int k = 1; k < d && t > 0.0; k++) {
        w->tangent[at + k] = w->y[at + k] / t;
      }
    }
    sum += saltusi_dot(d, w->miss + at, w->miss + at);
  }
  p->miss = sqrt(sum);
}

/* r of the present z and its residual. */
static double look(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  for (int i = 0; i < pattern->units; i++) {
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
      double scale = a == pattern->offset[i] ? 1.0 / w->slope[i] : 1.0;
      w->r[a] = w->z[a] * p->impulse_scale * scale;
    }
  }
  return saltusi_friction_case_residual(p->in, w->r, w->u).normalised;
}

/* Scalings and lambda of all units. */
static void find_scalings(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = cone_rows(p, i);
    if (d > 0) {
      double* T = w->T + 9 * (size_t)i;
      saltusi_lorentz_scaling(d, w->z + at, w->y + at, T, w->T_inverse + 9 * (size_t)i,
                              w->T2 + 9 * (size_t)i);
      for (int a = 0; a < d; a++) {
        w->lambda[at + a] = saltusi_dot(d, T + a * d, w->z + at);
      }
    }
  }
}

/* Adds J T^2 to the diagonal block of a cone. */
static void add_cone(const progress* p, int i, int d, double* block) {
  const double* T2 = p->work->T2 + 9 * (size_t)i;
  const double* tangent = p->work->tangent + p->in->pattern->offset[i];
  for (int a = 0; a < d; a++) {
    for (int c = 0; c < d; c++) {
      double v = T2[a * d + c];
      for (int k = 1; a == 0 && k < d; k++) {
        v -= p->theta * tangent[k] * T2[k * d + c];
      }
      block[a * d + c] += v;
    }
  }
}

/* Adds T^2 to the normal row of a line; its other rows become dz = 0. */
static void add_line(progress* p, int i, int d, double* block) {
  saltusi_block_lu* lu = p->lu;
  for (int e = lu->start[i]; e < lu->start[i + 1] && d > 1; e++) {
    size_t columns = (lu->place[e + 1] - lu->place[e]) / (size_t)d;
    memset(lu->values + lu->place[e] + columns, 0, (size_t)(d - 1) * columns * sizeof(double));
  }
  block[0] += p->work->T2[9 * (size_t)i];
  for (int k = 1; k < d; k++) {
    block[k * (d + 1)] = 1.0;
  }
}

/* The matrix W + J T^2. */
static void assemble(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_block_lu* lu = p->lu;
  memcpy(lu->values, p->work->W, lu->place[lu->start[lu->units]] * sizeof(double));
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    double* block = lu->values + lu->place[lu->diagonal[i]];
    if (p->work->kind[i] == CONE) {
      add_cone(p, i, d, block);
    } else if (p->work->kind[i] == LINE) {
      add_line(p, i, d, block);
    } else {
      double repair = bilateral_repair * saltusi_mean_diagonal(d, block);
      for (int k = 0; k < d; k++) {
        block[k * (d + 1)] += repair;
      }
    }
  }
}

/* In body space, with D = J T^2 plus the compliance of contacts and row scales S, (W + D) dz = b is
 * dz = D^-1 (b - S G^T y),   (A + G K G^T) y = ratio G S D^-1 b,   K = ratio S D^-1 S. */
static bool factor_bodies(progress* p) {
  saltusi_interior_work* w = p->work;
  for (int i = 0; i < p->in->pattern->units; i++) {
    double* inverse = w->inverse + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    double* K = w->K + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    double block[SALTUSI_CONTACT_ENTRIES] = {0.0};
    const double scale[3] = {1.0 / w->slope[i], 1.0, 1.0};
    const double* soft = p->in->bodies->soft + 3 * (size_t)i;
    memset(inverse, 0, SALTUSI_CONTACT_ENTRIES * sizeof(double));
    if (w->kind[i] == CONE) {
      add_cone(p, i, 3, block);
      for (int k = 0; k < 3; k++) {
        block[4 * k] += p->ratio * scale[k] * soft[k] * scale[k];
      }
      saltusi_invert3(block, inverse);
    } else { /* tangents are held */
      inverse[0] = 1.0 / (w->T2[9 * (size_t)i] + p->ratio * scale[0] * soft[0] * scale[0]);
    }
    for (int k = 0; k < SALTUSI_CONTACT_ENTRIES; k++) {
      K[k] = p->ratio * scale[k / 3] * inverse[k] * scale[k % 3];
    }
  }
  return saltusi_bodies_factor(p->in->bodies, p->lu, w->K);
}

/* Iterative refinement: dz += (W + D)^-1 b with the residual b of the right-hand side. */
static void correct_bodies(progress* p, const double* b, double* dz) {
  saltusi_interior_work* w = p->work;
  const saltusi_bodies* bodies = p->in->bodies;
  for (int i = 0; i < bodies->units; i++) {
    const double* inverse = w->inverse + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    for (int k = 0; k < 3; k++) {
      double scale = k == 0 ? p->ratio / w->slope[i] : p->ratio;
      w->u[3 * i + k] = scale * saltusi_dot(3, inverse + 3 * (size_t)k, b + 3 * (size_t)i);
    }
  }
  saltusi_bodies_solve(p->in->bodies, p->lu, w->u, bodies->step);
  for (int i = 0; i < bodies->units; i++) {
    const double* inverse = w->inverse + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    double moved[3] = {0.0};
    saltusi_bodies_add(bodies, i, bodies->step, moved);
    moved[0] /= w->slope[i];
    for (int k = 0; k < 3; k++) {
      moved[k] = b[3 * i + k] - moved[k];
    }
    for (int k = 0; k < 3; k++) {
      dz[3 * i + k] += saltusi_dot(3, inverse + 3 * (size_t)k, moved);
    }
  }
}

/* Residual b - (W + D) dz into w->r; returns its norm relative to b. */
static double left_by_bodies(progress* p) {
  saltusi_interior_work* w = p->work;
  double sum = 0.0;
  double all = 0.0;
  times(p, w->dz, w->r);
  for (int i = 0; i < p->in->pattern->units; i++) {
    double block[SALTUSI_CONTACT_ENTRIES] = {0.0};
    int at = 3 * i;
    int rows = w->kind[i] == CONE ? 3 : 1;
    if (rows == 3) {
      add_cone(p, i, 3, block);
    } else {
      block[0] = w->T2[9 * (size_t)i];
    }
    for (int k = 0; k < 3; k++) {
      double own = saltusi_dot(3, block + 3 * (size_t)k, w->dz + at);
      w->r[at + k] = k < rows ? w->rhs[at + k] - w->r[at + k] - own : 0.0;
      sum += w->r[at + k] * w->r[at + k];
      all += w->rhs[at + k] * w->rhs[at + k];
    }
  }
  return all > 0.0 ? sqrt(sum / all) : 0.0;
}

/* Part of the right-hand side below which refinement ends. */
static const double refined = 1e-9;

static double solve_by_bodies(progress* p) {
  enum { REFINEMENTS = 3 };
  saltusi_interior_work* w = p->work;
  memset(w->dz, 0, (size_t)p->in->pattern->rows * sizeof(double));
  correct_bodies(p, w->rhs, w->dz);
  double left = left_by_bodies(p);
  for (int k = 0; k < REFINEMENTS && left > refined; k++) {
    correct_bodies(p, w->r, w->dz);
    left = left_by_bodies(p);
  }
  return left;
}

/* ds = -lambda o lambda + sigma m e - (T^-1 dy) o (T dz) of the predictor */
static void complementarity_change(const progress* p, int i, int d, bool corrector, double* ds) {
  const saltusi_interior_work* w = p->work;
  int at = p->in->pattern->offset[i];
  const double* l = w->lambda + at;
  ds[0] = -saltusi_dot(d, l, l) + (corrector ? p->sigma * p->mean : 0.0);
  for (int k = 1; k < d; k++) {
    ds[k] = -2.0 * l[0] * l[k];
  }
  if (!corrector || !p->second_order) {
    return;
  }
  double a[3];
  double b[3];
  for (int k = 0; k < d; k++) {
    a[k] = saltusi_dot(d, w->T_inverse + 9 * (size_t)i + k * d, w->dy_first + at);
    b[k] = saltusi_dot(d, w->T + 9 * (size_t)i + k * d, w->dz_first + at);
  }
  ds[0] -= saltusi_dot(d, a, b);
  for (int k = 1; k < d; k++) {
    ds[k] -= a[0] * b[k] + b[0] * a[k];
  }
}

/* (1 - sigma) miss + J T h with h = lambda \ ds */
static void right_hand_side(progress* p, bool corrector) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  double part = corrector ? 1.0 - p->sigma : 1.0;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    for (int a = at; a < pattern->offset[i + 1]; a++) {
      w->rhs[a] = part * w->miss[a];
    }
    int d = cone_rows(p, i);
    if (d == 0) {
      continue;
    }
    double ds[3];
    double h[3];
    complementarity_change(p, i, d, corrector, ds);
    saltusi_lorentz_divide(d, w->lambda + at, ds, h);
    for (int k = 0; k < d; k++) {
      double v = saltusi_dot(d, w->T + 9 * (size_t)i + k * d, h);
      w->rhs[at + k] += v;
      w->rhs[at] -= k > 0 ? p->theta * w->tangent[at + k] * v : 0.0;
    }
  }
}

/* Solves for dz. A relative error of 1e-2 of the direction is sufficient, and pivoting costs ten times as much: it is
 * the last resort, for the present matrix only. */
static bool solve_linear(progress* p) {
  saltusi_block_lu* lu = p->lu;
  if (p->in->bodies != NULL) {
    return solve_by_bodies(p) <= useful_direction;
  }
  lu->no_pivoting = true;
  double left = saltusi_block_lu_solve(lu, p->work->rhs, p->work->dz);
  lu->no_pivoting = false;
  if (!(left <= useful_direction) && !lu->use_pivoted && p->pivots) {
    lu->use_pivoted = saltusi_pivoted_lu_factor(lu);
    left = lu->use_pivoted ? saltusi_block_lu_solve(lu, p->work->rhs, p->work->dz) : INFINITY;
  }
  return left <= useful_direction;
}

/* Computes dz and dy; false if the linear system is not solved to the required accuracy. */
static bool direction(progress* p, bool corrector) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  right_hand_side(p, corrector);
  if (!solve_linear(p)) {
    return false;
  }
  times(p, w->dz, w->dy);
  double part = corrector ? 1.0 - p->sigma : 1.0;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = saltusi_unit_rows(pattern, i);
    int rows = cone_rows(p, i);
    for (int k = 0; k < d; k++) {
      w->dy[at + k] = k < rows ? w->dy[at + k] - part * w->miss[at + k] : 0.0;
    }
    for (int k = 1; k < rows; k++) {
      w->dy[at] += p->theta * w->tangent[at + k] * w->dy[at + k];
    }
  }
  return true;
}

static double longest_step(const progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  const saltusi_interior_work* w = p->work;
  double step = INFINITY;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = cone_rows(p, i);
    if (d > 0) {
      step = fmin(step, saltusi_lorentz_step(d, w->z + at, w->dz + at));
      step = fmin(step, saltusi_lorentz_step(d, w->y + at, w->dy + at));
    }
  }
  return step;
}

/* Whether every unit stays central enough after the step. */
static bool central(const progress* p, double step) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  const saltusi_interior_work* w = p->work;
  double floor_ = centrality_floor * mean_product(p, step);
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = cone_rows(p, i);
    double z[3];
    double y[3];
    for (int k = 0; k < d; k++) {
      z[k] = w->z[at + k] + step * w->dz[at + k];
      y[k] = w->y[at + k] + step * w->dy[at + k];
    }
    if (d > 0 && !(saltusi_lorentz_centrality(d, z, y) >= floor_)) {
      return false;
    }
  }
  return true;
}

/* sigma = (m_affine / m)^3, larger after short steps. */
static void choose_sigma(progress* p) {
  double affine = fmin(longest_step(p), 1.0);
  double ratio = p->mean > 0.0 ? mean_product(p, affine) / p->mean : 0.0;
  double sigma = ratio * ratio * ratio;
  sigma = sigma < 1.0 ? fmax(sigma, sigma_least) : 1.0;
  p->second_order = true;
  if (affine < predictor_short) {
    sigma = fmax(sigma, sigma_cautious);
    p->second_order = false;
  }
  if (p->step < step_poor && sigma < sigma_centring) {
    sigma = sigma_centring;
    p->second_order = false;
  }
  p->sigma = sigma;
}

/* y + step dy, with the deviation of |y_T| from its tangent added to y_N. It is never negative, so y moves inwards, and
 * `miss` decreases as for a linear equation. Without this correction the curvature of sliding contacts accumulates in
 * `miss` until steps become tiny. */
static void advance_velocity(progress* p, double step) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  double tip = tip_rounding * p->mean;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = cone_rows(p, i);
    double before = saltusi_tangent_norm(d, w->y + at);
    double along = 0.0;
    for (int k = 1; k < d; k++) {
      along += w->tangent[at + k] * w->dy[at + k];
    }
    saltusi_add_scaled(d, step, w->dy + at, w->y + at);
    if (d > 1 && !p->balanced) {
      double after = saltusi_tangent_norm(d, w->y + at);
      double bend = sqrt(after * after + tip * tip) - sqrt(before * before + tip * tip) -
                    p->theta * step * along;
      w->y[at] += fmax(bend, 0.0);
    }
  }
}

static bool factor(progress* p) {
  if (p->in->bodies != NULL) {
    return factor_bodies(p);
  }
  assemble(p);
  return saltusi_block_lu_factor(p->lu);
}

static bool newton_step(progress* p) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  saltusi_interior_work* w = p->work;
  size_t bytes = (size_t)pattern->rows * sizeof(double);
  find_scalings(p);
  if (!factor(p) || !direction(p, false)) {
    return false;
  }
  choose_sigma(p);
  memcpy(w->dz_first, w->dz, bytes);
  memcpy(w->dy_first, w->dy, bytes);
  if (!direction(p, true)) {
    return false;
  }
  double back = fmin(fmax(back_least, 1.0 - p->mean), back_most);
  double step = fmin(back * longest_step(p), 1.0);
  for (int k = 0; k < SHORTENINGS && !central(p, step); k++) {
    step *= shorten;
  }
  p->step = step;
  saltusi_add_scaled(pattern->rows, step, w->dz, w->z);
  advance_velocity(p, step);
  return isfinite(step);
}

/* Moves z and y inwards until the mean complementarity is multiplied by `factor`. */
static void recentre(progress* p, double factor) {
  const saltusi_friction_pattern* pattern = p->in->pattern;
  double shift = sqrt(factor * p->mean);
  for (int i = 0; i < pattern->units; i++) {
    if (p->work->kind[i] != FREE) {
      p->work->z[pattern->offset[i]] += shift;
      p->work->y[pattern->offset[i]] += shift;
    }
  }
}

/* Counters of jams. First remedy: half the friction term in J; second: a point further inside the cone. */
typedef struct jam_state {
  int small;    /* tiny steps in a row */
  int nonstiff; /* iterations left with half the friction term */
  int times;
} jam_state;

static bool unjam(progress* p, jam_state* jam) {
  if (p->theta < 1.0) {
    jam->nonstiff--;
    if (jam->nonstiff <= 0 && p->step > step_again) {
      p->theta = 1.0;
    }
    return true;
  }
  if (p->step < step_tiny) {
    jam->small++;
  } else if (p->step > step_free) {
    jam->small = 0;
  }
  if (jam->small < JAM_STEPS) {
    return true;
  }
  jam->small = 0;
  jam->times++;
  if (jam->times % 2 == 1) {
    p->theta = nonstiff_theta;
    jam->nonstiff = NONSTIFF;
  } else {
    recentre(p, recentre_by);
  }
  return jam->times <= JAMS;
}

saltusi_stage saltusi_interior_point(saltusi_interior_work* work, saltusi_block_lu* lu,
                                     const saltusi_friction_case* in,
                                     const saltusi_interior_settings* settings, double* r) {
  assert(work != NULL && lu != NULL && in != NULL && settings != NULL);
  progress p = {.in = in,
                .work = work,
                .lu = lu,
                .theta = 1.0,
                .step = 1.0,
                .pivots = !settings->no_pivoting};
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  classify(&p);
  scale_problem(&p);
  if (settings->from != NULL) {
    start_near(&p, settings);
  } else {
    start_point(&p, settings);
  }
  double best = INFINITY;
  double last = INFINITY;
  int stalled = 0;
  jam_state jam = {0};
  int k = 0;
  for (;; k++) {
    measure(&p);
    double residual = look(&p);
    if (residual < best || k == 0) {
      best = residual;
      memcpy(r, work->r, bytes);
    }
    if (best <= settings->tol || k == settings->iterations ||
        !(p.mean > mean_least || p.cones == 0)) {
      break;
    }
    /* rounding: the residual no longer decreases with the mean, or steps are negligible */
    stalled = residual > stall_part * last && p.mean < stall_floor ? stalled + 1 : 0;
    last = residual;
    if (stalled > STALLS || (p.mean < noise_floor && p.step < step_again)) {
      break;
    }
    if (settings->trial > 0 && k >= settings->trial && p.mean > trial_mean) {
      break;
    }
    if (!newton_step(&p) || !unjam(&p, &jam)) {
      break;
    }
  }
  saltusi_friction_project(in, r);
  return (saltusi_stage){k, saltusi_friction_case_residual(in, r, work->u).normalised};
}

/* The central path of the homogeneous problem without the friction term is that of a convex one. Its
 * limit has as many impulses inside their cones as any balanced ones: the others tend to zero. */
int saltusi_interior_balanced(saltusi_interior_work* work, saltusi_block_lu* lu,
                              const saltusi_friction_case* in, double* r) {
  assert(work != NULL && lu != NULL && in != NULL);
  enum { ITERATIONS = 40 };
  const double enough = 1e-12; /* mean complementarity: about eps^(3/4) */
  const saltusi_interior_settings start = {.start_z = 1.0, .start_y = 1.0};
  progress p = {.in = in, .work = work, .lu = lu, .step = 1.0, .balanced = true};
  classify(&p);
  scale_problem(&p);
  start_point(&p, &start);
  int k = 0;
  for (measure(&p); k < ITERATIONS && p.mean > enough && newton_step(&p); k++) {
    measure(&p);
    if (p.mean < noise_floor && p.step < step_tiny) {
      break;
    }
  }
  look(&p);
  memcpy(r, work->r, (size_t)in->pattern->rows * sizeof(double));
  return k;
}
