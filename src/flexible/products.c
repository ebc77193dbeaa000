/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "flexible/products.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
void dsygv_(const int* itype, const char* jobz, const char* uplo, const int* n, double* a,
            const int* lda, double* b, const int* ldb, double* w, double* work, const int* lwork,
            int* info);

double saltusi_fe_dot(int n, const double* a, const double* b) {
  assert(n >= 0);
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* Y = A X */
void saltusi_fe_times(const cs_di* A, int columns, const double* X, double* Y) {
  assert(A != NULL && X != NULL && Y != NULL && columns >= 0);
  memset(Y, 0, (size_t)A->m * (size_t)columns * sizeof *Y);
  for (int c = 0; c < columns; c++) {
    cs_di_gaxpy(A, X + (ptrdiff_t)c * A->n, Y + (ptrdiff_t)c * A->m);
  }
}

/* C [a x b] = A^T B, column major */
void saltusi_fe_gram(int n, int a, const double* A, int b, const double* B, double* C) {
  assert(n >= 0 && a >= 0 && b >= 0);
  for (int k = 0; k < b; k++) {
    for (int i = 0; i < a; i++) {
      C[i + (ptrdiff_t)k * a] = saltusi_fe_dot(n, A + (ptrdiff_t)i * n, B + (ptrdiff_t)k * n);
    }
  }
}

/* Y [n x b] = A [n x a] C [a x b] */
void saltusi_fe_combine(int n, int a, const double* A, int b, const double* C, double* Y) {
  assert(A != NULL && C != NULL && Y != NULL && n >= 0 && a >= 0 && b >= 0);
  memset(Y, 0, (size_t)n * (size_t)b * sizeof *Y);
  for (int k = 0; k < b; k++) {
    for (int i = 0; i < a; i++) {
      const double c = C[i + (ptrdiff_t)k * a];
      for (int r = 0; r < n; r++) {
        Y[r + (ptrdiff_t)k * n] += c * A[r + (ptrdiff_t)i * n];
      }
    }
  }
}

/* Eigenvalues ascending into w, vectors into A; with B the generalised problem. */
bool saltusi_fe_eigen(saltusi_pool* pool, int n, double* A, double* B, double* w) {
  assert(pool != NULL && A != NULL && w != NULL);
  const int one = 1, room = 34 * n + 64;
  int info = 0;
  double* work = SALTUSI_TAKE(pool, double, room);
  if (work == NULL || n == 0) {
    return n == 0;
  }
  if (B != NULL) {
    dsygv_(&one, "V", "U", &n, A, &n, B, &n, w, work, &room, &info);
  } else {
    dsyev_("V", "U", &n, A, &n, w, work, &room, &info);
  }
  return info == 0;
}

/* Cholesky; false: a pivot is zero to rounding. */
bool saltusi_fe_factor_make(const cs_di* A, saltusi_fe_factor* f) {
  assert(A != NULL && f != NULL && A->m == A->n);
  *f = (saltusi_fe_factor){.symbolic = cs_di_schol(1, A), .n = A->n};
  f->numeric = f->symbolic != NULL ? cs_di_chol(A, f->symbolic) : NULL;
  bool sound = f->numeric != NULL;
  for (int c = 0; sound && c < A->n; c++) {
    const cs_di* L = f->numeric->L;
    const int k = f->symbolic->pinv[c]; /* position of column c */
    double diagonal = 0.0;
    for (int p = A->p[c]; p < A->p[c + 1]; p++) {
      diagonal = A->i[p] == c ? A->x[p] : diagonal;
    }
    sound = L->x[L->p[k]] * L->x[L->p[k]] > 1e-13 * diagonal;
  }
  return sound;
}

void saltusi_fe_factor_free(saltusi_fe_factor* f) {
  assert(f != NULL);
  cs_di_sfree(f->symbolic);
  cs_di_nfree(f->numeric);
  *f = (saltusi_fe_factor){.n = 0};
}

void saltusi_fe_factor_solve(const saltusi_fe_factor* f, double* x, double* work) {
  assert(f != NULL && x != NULL && work != NULL && f->n >= 0);
  cs_di_ipvec(f->symbolic->pinv, x, work, f->n);
  cs_di_lsolve(f->numeric->L, work);
  cs_di_ltsolve(f->numeric->L, work);
  cs_di_pvec(f->symbolic->pinv, work, x, f->n);
}
