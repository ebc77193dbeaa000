/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convex.c - Gilbert, Johnson and Keerthi's algorithm in extended precision: v is the point of least norm of a simplex of
 * points of A - B; the support w in direction -v bounds the distance from below by v.w/|v|.
 */
#include "convex.h"

#include <math.h>
#include <string.h>

typedef long double real;

static real dot(const real a[3], const real b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static real length_of(const real a[3]) {
  return sqrtl(dot(a, a));
}

static void farthest_point(const saltus_shape_def* def, int first, int last, const real d[3],
                           real out[3]) {
  real best = -INFINITY;
  for (int i = first; i < last; i++) {
    const real p[3] = {def->points[3 * i], def->points[3 * i + 1], def->points[3 * i + 2]};
    if (dot(p, d) > best) {
      best = dot(p, d);
      memcpy(out, p, sizeof p);
    }
  }
}

/* In the shape's own axes. */
static void own_support(const saltus_shape_def* def, const real d[3], real out[3]) {
  const real across = sqrtl(d[0] * d[0] + d[1] * d[1]), full = length_of(d);
  const real r = def->radius, l = def->length;
  real ball = 0.0L, rim = 0.0L;
  memset(out, 0, 3 * sizeof *out);
  switch (def->kind) {
  case SALTUS_SHAPE_SPHERE:
    ball = r;
    break;
  case SALTUS_SHAPE_CAPSULE:
    out[2] = d[2] > 0 ? l / 2 : -l / 2;
    ball = r;
    break;
  case SALTUS_SHAPE_CYLINDER:
    out[2] = d[2] > 0 ? l / 2 : -l / 2;
    rim = r;
    break;
  case SALTUS_SHAPE_CONE:
    if (l * d[2] > r * across) {
      out[2] = l;
    } else {
      rim = r;
    }
    break;
  case SALTUS_SHAPE_ELLIPSOID: {
    real s[3], sum = 0;
    for (int k = 0; k < 3; k++) {
      s[k] = (real)def->size[k] * d[k];
      sum += s[k] * s[k];
    }
    for (int k = 0; k < 3; k++) {
      out[k] = (real)def->size[k] * s[k] / sqrtl(sum);
    }
    break;
  }
  case SALTUS_SHAPE_BOX:
    for (int k = 0; k < 3; k++) {
      out[k] = (d[k] > 0 ? 0.5L : -0.5L) * (real)def->size[k];
    }
    ball = r;
    break;
  case SALTUS_SHAPE_HULL:
    farthest_point(def, 0, def->point_count, d, out);
    ball = r;
    break;
  default:
    break;
  }
  for (int k = 0; k < 3; k++) {
    out[k] += full > 0 ? ball * d[k] / full : 0;
  }
  for (int k = 0; k < 2; k++) {
    out[k] += across > 0 ? rim * d[k] / across : 0;
  }
}

void convex_support(const convex* shape, const real direction[3], real point[3]) {
  real own[3], at[3];
  const real* R = shape->R;
  for (int k = 0; k < 3; k++) {
    own[k] = R[k] * direction[0] + R[3 + k] * direction[1] + R[6 + k] * direction[2];
  }
  own_support(shape->def, own, at);
  for (int k = 0; k < 3; k++) {
    point[k] = shape->x[k] + R[3 * k] * at[0] + R[3 * k + 1] * at[1] + R[3 * k + 2] * at[2];
  }
}

/* Support of A - B. */
static void difference(const convex* A, const convex* B, const real d[3], real out[3]) {
  real p[3], q[3];
  const real back[3] = {-d[0], -d[1], -d[2]};
  convex_support(A, d, p);
  convex_support(B, back, q);
  for (int k = 0; k < 3; k++) {
    out[k] = p[k] - q[k];
  }
}

/* Solves the n x n system in place; false: singular. */
static bool solve(int n, real M[3][3], real b[3]) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = fabsl(M[i][k]) > fabsl(M[pivot][k]) ? i : pivot;
    }
    if (!(fabsl(M[pivot][k]) > 0)) {
      return false;
    }
    for (int j = 0; j < n; j++) {
      const real kept = M[k][j];
      M[k][j] = M[pivot][j];
      M[pivot][j] = kept;
    }
    const real kept = b[k];
    b[k] = b[pivot];
    b[pivot] = kept;
    for (int i = 0; i < n; i++) {
      const real factor = i != k ? M[i][k] / M[k][k] : 0;
      for (int j = 0; j < n; j++) {
        M[i][j] -= factor * M[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = 0; k < n; k++) {
    b[k] /= M[k][k];
  }
  return true;
}

/* The point of least norm of the affine hull of a subset, if it lies inside of it. */
static bool of_subset(real w[4][3], int count, int subset, real weight[4], real v[3]) {
  int member[4], n = 0;
  for (int i = 0; i < count; i++) {
    if (subset & (1 << i)) {
      member[n++] = i;
    }
  }
  real M[3][3], b[3], e[3][3];
  for (int i = 1; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      e[i - 1][k] = w[member[i]][k] - w[member[0]][k];
    }
  }
  for (int i = 0; i + 1 < n; i++) {
    b[i] = -dot(e[i], w[member[0]]);
    for (int j = 0; j + 1 < n; j++) {
      M[i][j] = dot(e[i], e[j]);
    }
  }
  if (!solve(n - 1, M, b)) {
    return false;
  }
  real first = 1;
  memset(weight, 0, 4 * sizeof *weight);
  memcpy(v, w[member[0]], 3 * sizeof *v);
  for (int i = 0; i + 1 < n; i++) {
    if (!(b[i] > 0)) {
      return false;
    }
    weight[member[i + 1]] = b[i];
    first -= b[i];
    for (int k = 0; k < 3; k++) {
      v[k] += b[i] * e[i][k];
    }
  }
  weight[member[0]] = first;
  return first > 0;
}

/* Keeps the points of the simplex that carry the point of least norm. */
static void reduce(real w[4][3], int* count, real v[3]) {
  real best = INFINITY, kept[4] = {0};
  for (int subset = 1; subset < 1 << *count; subset++) {
    real weight[4], at[3];
    if (of_subset(w, *count, subset, weight, at) && dot(at, at) < best) {
      best = dot(at, at);
      memcpy(kept, weight, sizeof kept);
      memcpy(v, at, sizeof at);
    }
  }
  int n = 0;
  for (int i = 0; i < *count; i++) {
    if (kept[i] > 0) {
      memmove(w[n++], w[i], sizeof w[i]);
    }
  }
  *count = n;
}

convex_distance convex_distance_of(const convex* A, const convex* B) {
  convex_distance out = {0, 0, {0, 0, 0}};
  real w[4][3], v[3];
  const real start[3] = {0.3L, -0.5L, 0.8L};
  int count = 1;
  difference(A, B, start, w[0]);
  memcpy(v, w[0], sizeof v);
  for (int i = 0; i < 3000; i++) {
    const real norm = length_of(v);
    if (norm < 1e-15L) {
      out.lower = out.upper = 0;
      return out;
    }
    const real down[3] = {-v[0], -v[1], -v[2]};
    real next[3];
    difference(A, B, down, next);
    const real lower = dot(v, next) / norm;
    if (lower > out.lower) {
      out.lower = lower;
      for (int k = 0; k < 3; k++) {
        out.normal[k] = v[k] / norm;
      }
    }
    out.upper = norm;
    if (norm - out.lower <= 1e-14L || count == 4) {
      break;
    }
    memcpy(w[count++], next, sizeof next);
    reduce(w, &count, v);
    if (count == 4) { /* the origin is inside of the simplex */
      out.lower = out.upper = 0;
      return out;
    }
    if (!(length_of(v) < norm)) { /* rounding: no further progress */
      break;
    }
  }
  if (!(out.lower > 1e-13L)) { /* nothing proves that they are apart */
    out.lower = out.upper = 0;
  }
  return out;
}

long double convex_along(const convex* A, const convex* B, const real n[3]) {
  real p[3];
  const real back[3] = {-n[0], -n[1], -n[2]};
  difference(A, B, back, p); /* least n.(a - b) */
  return dot(n, p);
}

long double convex_depth_of(const convex* A, const convex* B, real normal[3]) {
  enum { STARTS = 400 };
  real best = -INFINITY;
  for (int i = 0; i < STARTS; i++) { /* points spread evenly on the sphere (Fibonacci) */
    const real z = 1 - (2 * i + 1) / (real)STARTS, angle = 2.399963229728653L * i;
    const real n[3] = {sqrtl(1 - z * z) * cosl(angle), sqrtl(1 - z * z) * sinl(angle), z};
    const real f = convex_along(A, B, n);
    if (f > best) {
      best = f;
      memcpy(normal, n, sizeof n);
    }
  }
  for (real step = 0.1L; step > 1e-13L;) { /* compass search about the best */
    bool moved = false;
    for (int i = 0; i < 12 && !moved; i++) {
      real t[3], n[3];
      for (int k = 0; k < 3; k++) {
        t[k] = cosl(0.7L + (real)i + 2.1L * k + 0.37L * (real)(i * k));
      }
      for (int k = 0; k < 3; k++) {
        n[k] = normal[k] + step * t[k];
      }
      const real l = length_of(n);
      for (int k = 0; k < 3; k++) {
        n[k] /= l;
      }
      const real f = convex_along(A, B, n);
      if (f > best) {
        best = f;
        memcpy(normal, n, sizeof n);
        moved = true;
      }
    }
    step *= moved ? 1.2L : 0.5L;
  }
  return best;
}
