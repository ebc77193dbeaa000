/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * c_equations.c - matrix and residual of the theta scheme as straight-line code, and the elimination.
 */
#include "export/c_writer.h"
#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* h F - M (v1 - v) with v1 - v in change; start: h F. */
static int* residual_nodes(saltusi_c_function* f, const saltus_formula_model* m, const int* M,
                           bool start) {
  const int n = f->sys->dims.nv;
  const saltusi_model_lines x = saltusi_c_model(f, m);
  const int* F = saltusi_model_force(&x, &f->state);
  const int* change = saltusi_c_leaves(f, "change", n);
  int* R = saltusi_c_take(f, n);
  for (int i = 0; i < n && !f->lines.failed; i++) {
    R[i] = saltusi_line_mul(&f->lines, saltusi_line_number(&f->lines, f->w->h), F[i]);
    R[i] = start ? R[i]
                 : saltusi_line_sub(&f->lines, R[i],
                                    saltusi_line_dot(&f->lines, n, M + n * i, change));
  }
  return R;
}

/* ---- elimination in straight lines ---- */

enum { STRAIGHT_MOST = 8 };

/* Pattern of the factors without exchanges of rows, in place of that of the matrix. */
static void fill_in(int n, bool* has) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j < n && has[i * n + k]; j++) {
        has[i * n + j] = has[i * n + j] || has[k * n + j];
      }
    }
  }
}

/* One column of the elimination; saltusi_c_leaves the function where rows have to be exchanged or the pivot is small. */
static void put_column(saltusi_c_writer* w, int n, int k, const bool* has) {
  saltusi_c_put(w, "  if (!(a%d_%d - a%d_%d == 0.0)", k, k, k, k);
  for (int i = 0; i < n; i++) {
    if (i != k && has[i * n + k]) {
      saltusi_c_put(w,
                    i < k ? " || !(fabs(a%d_%d) > 1e-14 * fabs(a%d_%d))"
                          : " || !(fabs(a%d_%d) >= fabs(a%d_%d))",
                    k, k, i, k);
    }
  }
  saltusi_c_put(w, " || a%d_%d == 0.0) {\n    return 0;\n  }\n", k, k);
  for (int i = k + 1; i < n; i++) {
    if (has[i * n + k]) {
      saltusi_c_put(w, "  a%d_%d = a%d_%d / a%d_%d;\n", i, k, i, k, k, k);
    }
    for (int j = k + 1; j < n && has[i * n + k]; j++) {
      if (has[k * n + j]) {
        saltusi_c_put(w, "  a%d_%d = a%d_%d - a%d_%d * a%d_%d;\n", i, j, i, j, i, k, k, j);
      }
    }
  }
}

/* r_i less the sum of a_ij r_j over j in [from, to). The factors: `values`, or a of the function where these are NULL. */
static void put_substitution(saltusi_c_writer* w, int n, int i, int from, int to, const bool* has,
                             const double* values) {
  bool any = false;
  for (int j = from; j < to; j++) {
    if (has[i * n + j]) {
      saltusi_c_put(w, any ? " + " : "  r%d = r%d - (0.0 + ", i, i);
      if (values != NULL) {
        saltusi_c_number(w, values[i * n + j]);
      } else {
        saltusi_c_put(w, "a%d_%d", i, j);
      }
      saltusi_c_put(w, " * r%d", j);
      any = true;
    }
  }
  saltusi_c_put(w, any ? ");\n" : "");
}

static void put_substitutions(saltusi_c_writer* w, int n, const bool* has, const double* values,
                              const char* to) {
  for (int i = 0; i < n; i++) {
    put_substitution(w, n, i, 0, i, has, values);
  }
  for (int i = n - 1; i >= 0; i--) {
    put_substitution(w, n, i, i + 1, n, has, values);
    saltusi_c_put(w, "  r%d = r%d / ", i, i);
    if (values != NULL) {
      saltusi_c_number(w, values[i * (n + 1)]);
    } else {
      saltusi_c_put(w, "a%d_%d", i, i);
    }
    saltusi_c_put(w, ";\n  %s[%d] = r%d;\n", to, i, i);
  }
}

/* Overwrites A and R, which have been written, by the factors and the solution; returns 1. Without an exchange of rows
 * alone: 0 otherwise. */
static void put_elimination(saltusi_c_function* f, const int* A, const int* R) {
  saltusi_c_writer* w = f->w;
  const int n = f->sys->dims.nv;
  bool has[SALTUSI_C_VELOCITIES * SALTUSI_C_VELOCITIES] = {false};
  for (int i = 0; i < n * n && !f->lines.failed; i++) {
    has[i] = i % (n + 1) == 0 || !saltusi_line_is(&f->lines, A[i], 0.0);
  }
  fill_in(n, has);
  for (int i = 0; i < n * n && !f->lines.failed; i++) {
    if (has[i]) {
      saltusi_c_put(w, "  double a%d_%d = ", i / n, i % n);
      saltusi_line_value(&f->lines, &w->out, A[i]);
      saltusi_c_put(w, ";\n");
    }
  }
  for (int i = 0; i < n && !f->lines.failed; i++) {
    saltusi_c_put(w, "  double r%d = ", i);
    saltusi_line_value(&f->lines, &w->out, R[i]);
    saltusi_c_put(w, ";\n");
  }
  for (int k = 0; k < n; k++) {
    put_column(w, n, k, has);
  }
  put_substitutions(w, n, has, NULL, "R");
  for (int i = 0; i < n * n; i++) {
    if (has[i]) {
      saltusi_c_put(w, "  A[%d] = a%d_%d;\n", i, i / n, i % n);
    }
  }
  saltusi_c_put(w, "  return 1;\n");
}

/* Solution with the matrix of the function, when it is constant: factors are those of the library, with its exchanges
 * of rows. */
static void put_constant_solution(saltusi_c_writer* w, int n) {
  bool has[SALTUSI_C_VELOCITIES * SALTUSI_C_VELOCITIES];
  int from[SALTUSI_C_VELOCITIES];
  for (int i = 0; i < n * n; i++) {
    has[i] = w->factors_of_A[i] != 0.0;
  }
  for (int i = 0; i < n; i++) {
    from[i] = i;
  }
  for (int k = 0; k < n; k++) {
    const int kept = from[w->pivot[k]];
    from[w->pivot[k]] = from[k];
    from[k] = kept;
  }
  saltusi_c_put(w, "static inline void @_solve_constant(double* x) {\n");
  for (int i = 0; i < n; i++) {
    saltusi_c_put(w, "  double r%d = x[%d];\n", i, from[i]);
  }
  put_substitutions(w, n, has, w->factors_of_A, "x");
  saltusi_c_put(w, "}\n\n");
}

/* Takes over the matrix when all of its entries are constants, and factors it. */
static void find_constant(saltusi_c_writer* w, const saltusi_c_function* f, const int* A) {
  const int n = f->sys->dims.nv;
  w->constant = !f->lines.failed;
  for (int i = 0; i < n * n && w->constant; i++) {
    const saltusi_line_node* node = &f->lines.nodes[A[i]];
    w->constant = node->op == SALTUSI_CONSTANT;
    w->factors_of_A[i] = node->value;
  }
  const double singular_pivot = 1e-14; /* as in src/system/linear.c */
  w->constant = w->constant && saltusi_lu_factor(n, w->factors_of_A, w->pivot, singular_pivot);
}

/* Matrix and residual of Newton's method in one function, which share their subexpressions: of the first iteration and
 * of the others. Returns 1 with the system solved, 0 with A and R themselves. A constant matrix is not written. */
void saltusi_c_equations(saltusi_c_writer* w, const saltus_system* sys,
                         const saltus_formula_model* m, int inputs) {
  assert(w != NULL && w->h > 0.0 && sys->dims.nv <= SALTUSI_C_VELOCITIES && m != NULL);
  static const char* const names[] = {"begin", "iterate"};
  const int n = sys->dims.nv;
  for (int k = 0; k < 2; k++) {
    saltusi_c_function f;
    saltusi_c_open(&f, w, sys, inputs, "int", names[k],
                   ", const double* change, double* A, double* R");
    saltusi_c_put(w, "  (void)change, (void)A, (void)R;\n");
    const saltusi_model_lines x = saltusi_c_model(&f, m);
    const int* M = saltusi_model_mass(&x, &f.state);
    const int* A = f.lines.failed ? NULL : saltusi_model_matrix(&x, &f.state, w->factors, M);
    if (k == 0) {
      find_constant(w, &f, A);
    }
    const int* R = f.lines.failed ? NULL : residual_nodes(&f, m, M, k == 0);
    if (!w->constant) {
      saltusi_c_results(&f, "A", A, n * n);
    }
    saltusi_c_results(&f, "R", R, n);
    if (!w->constant && n <= STRAIGHT_MOST) {
      put_elimination(&f, A, R);
    } else {
      saltusi_c_put(w, "  return 0;\n");
    }
    saltusi_c_close(&f);
  }
  saltusi_c_put(w, "enum { @_constant_matrix = %d };\n\n", w->constant);
  if (w->constant) {
    put_constant_solution(w, n);
  } else {
    saltusi_c_put(w, "static inline void @_solve_constant(double* x) {\n  (void)x;\n}\n\n");
  }
}
