/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "solids.h"

#include "math/rotation.h"

#include <float.h>

double solids_between(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

double solids_normal(uint64_t* seed) { /* Box and Muller */
  const double u = 1.0 - saltus_test_random(seed), v = saltus_test_random(seed);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

saltusi_shape solids_make(saltusi_pool* pool, const saltus_shape_def* def) {
  saltus_kept_message message = {.text = ""};
  saltusi_shape shape;
  if (saltusi_shape_make(def, 3, pool, saltus_log_keep(&message), &shape) != SALTUS_OK) {
    fail_msg("%s", message.text);
  }
  return shape;
}

saltusi_shape solids_box(saltusi_pool* pool, double x, double y, double z, double radius) {
  const saltus_shape_def def = {
      .name = "box", .kind = SALTUS_SHAPE_BOX, .size = {x, y, z}, .radius = radius};
  return solids_make(pool, &def);
}

saltusi_shape solids_hull(saltusi_pool* pool, uint64_t* seed, int count, double radius) {
  double* points = SALTUSI_TAKE(pool, double, 3 * count);
  for (int k = 0; k < 3 * count; k++) {
    points[k] = solids_normal(seed);
  }
  const saltus_shape_def def = {.name = "hull",
                                .kind = SALTUS_SHAPE_HULL,
                                .points = points,
                                .point_count = count,
                                .radius = radius};
  return solids_make(pool, &def);
}

saltusi_body_pose solids_at(const double x[3], const double r[3]) {
  saltusi_body_pose at = {.x = {x[0], x[1], x[2]}};
  double p[4];
  saltusi_quaternion_exp(r, p);
  saltusi_quaternion_matrix(p, at.R);
  return at;
}

saltusi_body_pose solids_anywhere(uint64_t* seed, double spread) {
  double x[3], p[4];
  saltusi_body_pose at = {.x = {0.0, 0.0, 0.0}};
  for (int k = 0; k < 3; k++) {
    x[k] = spread * solids_normal(seed);
  }
  for (int k = 0; k < 4; k++) {
    p[k] = solids_normal(seed);
  }
  saltusi_quaternion_matrix(p, at.R);
  memcpy(at.x, x, sizeof x);
  return at;
}

int solids_vertices(const saltusi_shape* shape, const saltusi_body_pose* at, double (*out)[3]) {
  for (int v = 0; v < shape->polytope->vertices; v++) {
    saltusi_turn(at->R, shape->polytope->vertex[v], out[v]);
    saltusi_along(1.0, at->x, out[v], out[v]);
  }
  return shape->polytope->vertices;
}

int solids_differences(const saltusi_two* two, double (*out)[3]) {
  double a[64][3], b[64][3];
  const int na = solids_vertices(two->A, two->a, a), nb = solids_vertices(two->B, two->b, b);
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb; j++) {
      saltusi_minus3(a[i], b[j], out[i * nb + j]);
    }
  }
  return na * nb;
}

/* ------------------------------------------------------------------------------------ Wolfe --- */

/* Weights of the point of the plane through up to four points that is nearest to the origin: Gram's matrix with a
 * border of ones, eliminated with pivots. False: the points do not span. */
static bool affine(long double S[4][3], int n, long double* weight) {
  long double M[5][6] = {{0.0L}};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < 3; k++) {
        M[i][j] += S[i][k] * S[j][k];
      }
    }
    M[i][n] = M[n][i] = 1.0L;
  }
  M[n][n + 1] = 1.0L;
  for (int c = 0; c <= n; c++) {
    int pivot = c;
    for (int r = c + 1; r <= n; r++) {
      pivot = fabsl(M[r][c]) > fabsl(M[pivot][c]) ? r : pivot;
    }
    if (!(fabsl(M[pivot][c]) > 0.0L)) {
      return false;
    }
    for (int k = 0; k <= n + 1; k++) {
      const long double swap = M[c][k];
      M[c][k] = M[pivot][k];
      M[pivot][k] = swap;
    }
    for (int r = 0; r <= n; r++) {
      const long double factor = r == c ? 0.0L : M[r][c] / M[c][c];
      for (int k = c; k <= n + 1 && r != c; k++) {
        M[r][k] -= factor * M[c][k];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    weight[i] = M[i][n + 1] / M[i][i];
  }
  return true;
}

double solids_least(const double (*point)[3], int count, double nearest[3]) {
  long double S[4][3], w[4] = {1.0L, 0.0L, 0.0L, 0.0L}, x[3];
  int n = 1;
  for (int k = 0; k < 3; k++) {
    S[0][k] = x[k] = point[0][k];
  }
  long double largest = 0.0L;
  for (int j = 0; j < count; j++) {
    largest = fmaxl(largest, saltusi_dot3(point[j], point[j]));
  }
  for (int round = 0; round < 1000; round++) {
    int best = 0;
    long double least = INFINITY, square = 0.0L;
    for (int k = 0; k < 3; k++) {
      square += x[k] * x[k];
    }
    for (int j = 0; j < count; j++) {
      const long double value = x[0] * point[j][0] + x[1] * point[j][1] + x[2] * point[j][2];
      if (value < least) {
        least = value;
        best = j;
      }
    }
    if (square - least <= 1e-17L * largest || n == 4) { /* rounding of the products */
      break;
    }
    for (int k = 0; k < 3; k++) {
      S[n][k] = point[best][k];
    }
    w[n++] = 0.0L;
    for (;;) {
      long double to[4];
      if (!affine(S, n, to)) {
        n--;
        break;
      }
      long double theta = 1.0L;
      int leave = -1;
      for (int i = 0; i < n; i++) {
        if (to[i] <= 0.0L && w[i] / (w[i] - to[i]) < theta) {
          theta = w[i] / (w[i] - to[i]);
          leave = i;
        }
      }
      for (int i = 0; i < n; i++) {
        w[i] += theta * (to[i] - w[i]);
      }
      if (leave < 0) {
        break;
      }
      n--;
      w[leave] = w[n];
      memcpy(S[leave], S[n], sizeof S[n]);
    }
    for (int k = 0; k < 3; k++) {
      x[k] = 0.0L;
      for (int i = 0; i < n; i++) {
        x[k] += w[i] * S[i][k];
      }
    }
  }
  for (int k = 0; k < 3; k++) {
    nearest[k] = (double)x[k];
  }
  return (double)sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* ------------------------------------------------------------------------------------ others --- */

double solids_facets(saltusi_pool* pool, double (*point)[3], int count, double normal[3]) {
  const saltus_shape_def def = {
      .name = "difference", .kind = SALTUS_SHAPE_HULL, .points = point[0], .point_count = count};
  const saltusi_making making = {.def = &def, .pool = pool};
  saltusi_facets facets;
  assert_int_equal(saltusi_hull_facets(&making, &facets), SALTUS_OK);
  double most = -INFINITY;
  for (int f = 0; f < facets.count; f++) {
    const double value = -saltusi_dot3(facets.normal[f], point[facets.point[facets.first[f]]]);
    if (value > most) {
      most = value;
      memcpy(normal, facets.normal[f], 3 * sizeof *normal);
    }
  }
  return most;
}

int solids_clip(const double (*P)[2], int p, const double (*Q)[2], int q, double (*out)[2]) {
  double from[64][2];
  int count = p;
  memcpy(out, P, (size_t)p * sizeof *out);
  for (int j = 0; j < q && count > 0; j++) {
    const double* a = Q[j];
    const double* b = Q[(j + 1) % q];
    const double n[2] = {a[1] - b[1], b[0] - a[0]};
    const int n_from = count;
    memcpy(from, out, (size_t)count * sizeof *out);
    count = 0;
    for (int i = 0; i < n_from; i++) {
      const double* u = from[i];
      const double* v = from[(i + 1) % n_from];
      const double x = n[0] * (u[0] - a[0]) + n[1] * (u[1] - a[1]);
      const double y = n[0] * (v[0] - a[0]) + n[1] * (v[1] - a[1]);
      if (x >= 0.0) {
        memcpy(out[count++], u, sizeof *out);
      }
      if (x * y < 0.0) {
        out[count][0] = u[0] + (v[0] - u[0]) * x / (x - y);
        out[count++][1] = u[1] + (v[1] - u[1]) * x / (x - y);
      }
    }
  }
  return count;
}
