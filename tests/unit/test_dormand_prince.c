/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Order conditions of the methods of Dormand and Prince, for all rooted trees (Hairer, Norsett and
 * Wanner 1993, theorem II.2.13), of their estimates and of their dense output at any theta:
 *
 *   sum_i b_i(theta) Phi_i(tree) = theta^order / gamma(tree)
 */
#include "saltus_test.h"

#include "adaptive/adaptive.h"
#include "math/dormand_prince.h"

enum { TREES_MAX = 256, STAGES_MAX = 16, ORDER_MAX = 8 };

/* A tree is a root with smaller trees on it. */
typedef struct tree {
  int order;
  double gamma;
  double weight[STAGES_MAX]; /* Phi_i */
} tree;

typedef struct forest {
  tree trees[TREES_MAX];
  int count;
  int stages;
  const double* a; /* [stages x stride] */
  int stride;
} forest;

/* Roots with `left` vertices still to hang on them, from trees up to `last` in the list. */
static void grow(forest* f, tree root, int left, int last) {
  if (left == 0) {
    root.gamma *= root.order;
    assert_true(f->count < TREES_MAX);
    f->trees[f->count++] = root;
    return;
  }
  for (int k = last; k >= 0; k--) {
    const tree* child = &f->trees[k];
    if (child->order > left) {
      continue;
    }
    tree next = root;
    next.gamma *= child->gamma;
    for (int i = 0; i < f->stages; i++) {
      double sum = 0.0;
      for (int j = 0; j < i && j < f->stride; j++) {
        sum += f->a[i * f->stride + j] * child->weight[j];
      }
      next.weight[i] *= sum;
    }
    grow(f, next, left - child->order, k);
  }
}

static void plant(forest* f, int order_max) {
  /* the number of rooted trees of order 1 to 8 */
  static const int known[ORDER_MAX] = {1, 1, 2, 4, 9, 20, 48, 115};
  f->count = 0;
  for (int order = 1; order <= order_max; order++) {
    int before = f->count;
    tree root = {.order = order, .gamma = 1.0};
    for (int i = 0; i < STAGES_MAX; i++) {
      root.weight[i] = 1.0;
    }
    grow(f, root, order - 1, before - 1);
    assert_int_equal(f->count - before, known[order - 1]);
  }
}

/* Largest violation over the trees of orders from `low` to `high`; the sum is to be `scale` times the
 * exact one at theta. */
static double violation(const forest* f, const double* b, int low, int high, double theta,
                        double scale) {
  double most = 0.0;
  for (int k = 0; k < f->count; k++) {
    const tree* x = &f->trees[k];
    double sum = 0.0;
    for (int i = 0; i < f->stages; i++) {
      sum += b[i] * x->weight[i];
    }
    if (x->order >= low && x->order <= high) {
      most = fmax(most, fabs(sum - scale * pow(theta, x->order) / x->gamma));
    }
  }
  return most;
}

static void check_row_sums(const forest* f, const double* c) {
  for (int i = 0; i < f->stages; i++) {
    double sum = 0.0;
    for (int j = 0; j < i; j++) {
      sum += f->a[i * f->stride + j];
    }
    assert_near(sum, c[i], 1e-14);
  }
}

/* The weights of the dense output at theta, read from the interpolant itself: the stage rates are unit
 * vectors, the step is 1. */
static void dense_weights(const saltusi_adaptive_ops* ops, const double* Q, int stages,
                          double theta, double* b, double* slope) {
  const double zero[STAGES_MAX] = {0};
  const saltusi_trial_motion motion = {.y0 = zero, .Q = Q, .n = stages, .h = 1.0};
  ops->dense(&motion, theta, 0, stages, b);
  ops->dense_rate(&motion, theta, 0, stages, slope);
}

static const double thetas[] = {0.0, 0.1, 0.37, 0.5, 0.81, 1.0};
enum { THETAS = sizeof thetas / sizeof thetas[0] };

/* The rate of the interpolant is its derivative; at both ends it is the first and the last stage. */
static void check_slopes(const saltusi_adaptive_ops* ops, const double* Q, int stages,
                         int last_stage) {
  double b[3][STAGES_MAX];
  double slope[STAGES_MAX];
  double unused[STAGES_MAX];
  for (int k = 0; k < THETAS; k++) {
    const double d = 1e-5;
    dense_weights(ops, Q, stages, thetas[k] - d, b[0], unused);
    dense_weights(ops, Q, stages, thetas[k] + d, b[1], unused);
    dense_weights(ops, Q, stages, thetas[k], b[2], slope);
    for (int i = 0; i < stages; i++) {
      /* third derivatives to 1e4 times d^2 / 6, and roundings of 1e3 over d */
      assert_near(slope[i], (b[1][i] - b[0][i]) / (2.0 * d), 1e-6);
      if (thetas[k] == 0.0 || thetas[k] == 1.0) {
        int own = thetas[k] == 0.0 ? 0 : last_stage;
        assert_near(slope[i], i == own ? 1.0 : 0.0, 2e-13);
      }
    }
  }
}

static void the_method_of_order_5_has_it(void** state) {
  (void)state;
  forest f = {.stages = 7, .a = &saltusi_dopri5_a[0][0], .stride = SALTUSI_DOPRI5_STRIDE};
  plant(&f, 6);
  check_row_sums(&f, saltusi_dopri5_c);
  double b[STAGES_MAX] = {0};
  memcpy(b, saltusi_dopri5_a[6], 6 * sizeof(double));
  assert_near(violation(&f, b, 1, 5, 1.0, 1.0), 0.0, 1e-15);
  assert_true(violation(&f, b, 6, 6, 1.0, 1.0) > 1e-4);
  /* the estimate vanishes up to order 4 and not at order 5 */
  assert_near(violation(&f, saltusi_dopri5_error, 1, 4, 1.0, 0.0), 0.0, 1e-15);
  assert_true(violation(&f, saltusi_dopri5_error, 5, 5, 1.0, 0.0) > 1e-5);
  double Q[4 * STAGES_MAX];
  for (int p = 0; p < 4; p++) {
    for (int j = 0; j < 7; j++) {
      Q[p * 7 + j] = saltusi_dopri5_dense[j][p];
    }
  }
  for (int k = 0; k < THETAS; k++) {
    double dense[STAGES_MAX];
    double slope[STAGES_MAX];
    dense_weights(&saltusi_adaptive_dopri5, Q, 7, thetas[k], dense, slope);
    assert_near(violation(&f, dense, 1, 4, thetas[k], 1.0), 0.0, 1e-14);
    for (int i = 0; thetas[k] == 1.0 && i < 7; i++) {
      assert_near(dense[i], b[i], 1e-14);
    }
  }
  check_slopes(&saltusi_adaptive_dopri5, Q, 7, 6);
}

static void the_method_of_order_8_has_it(void** state) {
  (void)state;
  static forest f;
  f = (forest){.stages = 16, .a = &saltusi_dop853_a[0][0], .stride = SALTUSI_DOP853_STRIDE};
  plant(&f, 8);
  check_row_sums(&f, saltusi_dop853_c);
  double b[STAGES_MAX] = {0};
  memcpy(b, saltusi_dop853_a[12], 12 * sizeof(double));
  /* coefficients up to 43 with sixteen digits */
  assert_near(violation(&f, b, 1, 8, 1.0, 1.0), 0.0, 5e-15);
  double third[STAGES_MAX] = {0};
  third[0] = saltusi_dop853_third[0];
  third[8] = saltusi_dop853_third[1];
  third[11] = saltusi_dop853_third[2];
  assert_near(violation(&f, third, 1, 3, 1.0, 1.0), 0.0, 5e-15);
  assert_true(violation(&f, third, 4, 4, 1.0, 1.0) > 1e-3);
  double fifth[STAGES_MAX] = {0};
  memcpy(fifth, saltusi_dop853_fifth, 12 * sizeof(double));
  assert_near(violation(&f, fifth, 1, 5, 1.0, 0.0), 0.0, 1e-14);
  assert_true(violation(&f, fifth, 6, 6, 1.0, 0.0) > 1e-5);
  double Q[8 * STAGES_MAX] = {0};
  for (int j = 0; j < 16; j++) {
    double first = j == 0 ? 1.0 : 0.0;
    double last = j == 12 ? 1.0 : 0.0;
    Q[j] = b[j];
    Q[16 + j] = first - b[j];
    Q[32 + j] = 2.0 * b[j] - last - first;
    for (int p = 0; p < 4; p++) {
      Q[(3 + p) * 16 + j] = saltusi_dop853_dense[p][j];
    }
  }
  for (int k = 0; k < THETAS; k++) {
    double dense[STAGES_MAX];
    double slope[STAGES_MAX];
    dense_weights(&saltusi_adaptive_dop853, Q, 16, thetas[k], dense, slope);
    /* coefficients up to 500 */
    assert_near(violation(&f, dense, 1, 7, thetas[k], 1.0), 0.0, 1e-13);
  }
  check_slopes(&saltusi_adaptive_dop853, Q, 16, 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_method_of_order_5_has_it),
      cmocka_unit_test(the_method_of_order_8_has_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
