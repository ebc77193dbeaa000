/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * eigenvalues.c - see eigenvalues.h.
 */
#include "math/eigenvalues.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

/* Householder's reflection I - 2 w w^T / w^T w that takes x [m] to a multiple of its first unit vector; 0: the
 * identity. */
static double reflector(int m, const double* x, double* w) {
  double length = 0.0;
  for (int i = 0; i < m; i++) {
    length = hypot(length, x[i]);
    w[i] = x[i];
  }
  if (length == 0.0) {
    return 0.0;
  }
  w[0] += x[0] < 0.0 ? -length : length;
  double square = 0.0;
  for (int i = 0; i < m; i++) {
    square += w[i] * w[i];
  }
  return square > 0.0 ? 2.0 / square : 0.0;
}

/* Applies it from the left to rows k .. k + m - 1 of A, columns from `from` on. */
static void from_left(double* A, int n, int k, int m, int from, const double* w, double beta) {
  for (int j = from; j < n; j++) {
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
      sum += w[i] * A[(k + i) * n + j];
    }
    for (int i = 0; i < m; i++) {
      A[(k + i) * n + j] -= beta * sum * w[i];
    }
  }
}

/* Applies it from the right to columns k .. k + m - 1, rows up to `to`. */
static void from_right(double* A, int n, int k, int m, int to, const double* w, double beta) {
  for (int i = 0; i <= to; i++) {
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += A[i * n + k + j] * w[j];
    }
    for (int j = 0; j < m; j++) {
      A[i * n + k + j] -= beta * sum * w[j];
    }
  }
}

enum { LARGEST = 256 };

static void to_hessenberg(double* A, int n) {
  double x[LARGEST], w[LARGEST];
  for (int k = 0; k + 2 < n; k++) {
    const int m = n - k - 1;
    for (int i = 0; i < m; i++) {
      x[i] = A[(k + 1 + i) * n + k];
    }
    const double beta = reflector(m, x, w);
    from_left(A, n, k + 1, m, k, w, beta);
    from_right(A, n, k + 1, m, n - 1, w, beta);
    for (int i = k + 2; i < n; i++) {
      A[i * n + k] = 0.0;
    }
  }
}

/* Of [a b; c d]. */
static void pair(double a, double b, double c, double d, double re[2], double im[2]) {
  const double half = 0.5 * (a + d), p = 0.5 * (a - d), root = p * p + b * c;
  if (root >= 0.0) {
    const double z = p + (p < 0.0 ? -sqrt(root) : sqrt(root));
    re[0] = d + z;
    re[1] = z != 0.0 ? d - b * c / z : re[0];
    im[0] = im[1] = 0.0;
  } else {
    re[0] = re[1] = half;
    im[0] = sqrt(-root);
    im[1] = -im[0];
  }
}

/* One double step on rows low .. high. */
static void francis(double* A, int n, int low, int high, bool exceptional) {
  double s = A[(high - 1) * n + high - 1] + A[high * n + high];
  double t = A[(high - 1) * n + high - 1] * A[high * n + high] -
             A[(high - 1) * n + high] * A[high * n + high - 1];
  if (exceptional) {
    const double size = fabs(A[high * n + high - 1]) + fabs(A[(high - 1) * n + high - 2]);
    s = 1.5 * size;
    t = size * size;
  }
  const double a = A[low * n + low], b = A[low * n + low + 1], c = A[(low + 1) * n + low],
               d = A[(low + 1) * n + low + 1];
  double x[3] = {a * a + b * c - s * a + t, c * (a + d - s), c * A[(low + 2) * n + low + 1]};
  for (int k = low; k < high; k++) {
    const int m = k + 2 <= high ? 3 : 2;
    double w[3];
    const double beta = reflector(m, x, w);
    from_left(A, n, k, m, k > low ? k - 1 : low, w, beta);
    from_right(A, n, k, m, k + 3 < high ? k + 3 : high, w, beta);
    x[0] = A[(k + 1) * n + k];
    x[1] = k + 2 <= high ? A[(k + 2) * n + k] : 0.0;
    x[2] = k + 3 <= high ? A[(k + 3) * n + k] : 0.0;
  }
}

static void sort(double* re, double* im, int n) {
  for (int i = 1; i < n; i++) {
    for (int k = i; k > 0 && hypot(re[k], im[k]) > hypot(re[k - 1], im[k - 1]) * (1.0 + 1e-12);
         k--) {
      const double r = re[k], j = im[k];
      re[k] = re[k - 1];
      im[k] = im[k - 1];
      re[k - 1] = r;
      im[k - 1] = j;
    }
  }
}

bool saltusi_eigenvalues(double* A, int n, double* re, double* im) {
  assert(A != NULL && re != NULL && im != NULL && n >= 0 && n <= LARGEST);
  double size = 0.0;
  for (int i = 0; i < n * n; i++) {
    if (!isfinite(A[i])) {
      return false;
    }
    size = fmax(size, fabs(A[i]));
  }
  to_hessenberg(A, n);
  int high = n - 1;
  for (int tries = 0; high >= 0;) {
    int low = high;
    while (low > 0) {
      const double off = fabs(A[low * n + low - 1]);
      double near = fabs(A[low * n + low]) + fabs(A[(low - 1) * n + low - 1]);
      near = near > 0.0 ? near : size;
      if (off <= DBL_EPSILON * near) {
        A[low * n + low - 1] = 0.0;
        break;
      }
      low--;
    }
    if (low == high) {
      re[high] = A[high * n + high];
      im[high--] = 0.0;
      tries = 0;
    } else if (low == high - 1) {
      pair(A[low * n + low], A[low * n + high], A[high * n + low], A[high * n + high], re + low,
           im + low);
      high -= 2;
      tries = 0;
    } else if (++tries > 100) {
      return false;
    } else {
      francis(A, n, low, high, tries % 11 == 10);
    }
  }
  sort(re, im, n);
  return true;
}
