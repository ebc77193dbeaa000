/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Coefficients of Runge-Kutta methods: order conditions and stability functions recomputed.
 */
#include "saltus_test.h"

#include "math/matrix.h"
#include "scheme/event/tableau.h"

/* Every rooted tree is a smaller one u with another one v grafted onto its root, so all trees up to
 * an order come from two loops; some come twice, which costs nothing.
 *
 *   phi_i(u v) = phi_i(u) sum_j a_ij phi_j(v),    gamma(t) = |t| product of gamma(children)
 *   order p:     sum_i b_i phi_i(t) = 1 / gamma(t)   for all trees with at most p nodes
 *
 * (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.2.) */
enum { TREES_MAX = 512, ORDER_MAX = 7 };

typedef struct tree {
  int nodes;
  double children; /* product of gamma over the children of the root */
  double phi[SALTUSI_STAGES_MAX];
} tree;

static tree graft(const saltusi_tableau* method, const tree* u, const tree* v) {
  tree t = {.nodes = u->nodes + v->nodes, .children = u->children * v->nodes * v->children};
  for (int i = 0; i < method->stages; i++) {
    t.phi[i] = u->phi[i] * saltusi_dot(method->stages, method->a[i], v->phi);
  }
  return t;
}

static int grow_trees(const saltusi_tableau* method, int order, tree trees[TREES_MAX]) {
  trees[0] = (tree){.nodes = 1, .children = 1.0};
  for (int i = 0; i < method->stages; i++) {
    trees[0].phi[i] = 1.0;
  }
  int count = 1;
  for (int nodes = 2; nodes <= order; nodes++) {
    int smaller = count;
    for (int u = 0; u < smaller; u++) {
      for (int v = 0; v < smaller; v++) {
        if (trees[u].nodes + trees[v].nodes == nodes) {
          assert_true(count < TREES_MAX);
          trees[count++] = graft(method, &trees[u], &trees[v]);
        }
      }
    }
  }
  return count;
}

/* Largest violation of the conditions for `nodes` nodes by the weights b. */
static double violation(const saltusi_tableau* method, const double* b, int nodes) {
  tree trees[TREES_MAX];
  int count = grow_trees(method, nodes, trees);
  double worst = 0.0;
  for (int k = 0; k < count; k++) {
    if (trees[k].nodes == nodes) {
      double weight = saltusi_dot(method->stages, b, trees[k].phi);
      worst = fmax(worst, fabs(weight - 1.0 / (nodes * trees[k].children)));
    }
  }
  return worst;
}

static int order_of(const saltusi_tableau* method, const double* b) {
  int order = 0;
  while (order < ORDER_MAX && violation(method, b, order + 1) < 1e-13) {
    order++;
  }
  return order;
}

static void every_method_has_exactly_its_order(void** state) {
  (void)state;
  int count = 0;
  for (const saltusi_tableau* m; (m = saltusi_tableau_at(count)) != NULL; count++) {
    if (order_of(m, m->b) != m->order) {
      fail_msg("%s has order %d, not %d", m->name, order_of(m, m->b), m->order);
    }
    if (m->embedded_order > 0) {
      assert_int_equal(order_of(m, m->embedded), m->embedded_order);
    }
  }
  assert_int_equal(count, 17);
}

static void abscissae_are_row_sums_and_kinds_are_true(void** state) {
  (void)state;
  for (int k = 0; saltusi_tableau_at(k) != NULL; k++) {
    const saltusi_tableau* m = saltusi_tableau_at(k);
    bool implicit = false;
    for (int i = 0; i < m->stages; i++) {
      double sum = 0.0;
      for (int j = 0; j < m->stages; j++) {
        sum += m->a[i][j];
        implicit = implicit || (j >= i && m->a[i][j] != 0.0);
      }
      assert_near(sum, m->c[i], 1e-13); /* entries up to 11 */
    }
    assert_true(implicit == m->implicit);
  }
}

/* R(z) = 1 + z b^T (I - z A)^-1 e */
static double stability(const saltusi_tableau* m, double z) {
  double I[SALTUSI_STAGES_MAX * SALTUSI_STAGES_MAX];
  double x[SALTUSI_STAGES_MAX];
  int pivot[SALTUSI_STAGES_MAX];
  for (int i = 0; i < m->stages; i++) {
    for (int j = 0; j < m->stages; j++) {
      I[i * m->stages + j] = (i == j ? 1.0 : 0.0) - z * m->a[i][j];
    }
    x[i] = 1.0;
  }
  assert_true(saltusi_lu_factor(m->stages, I, pivot, 1e-14));
  saltusi_lu_solve(m->stages, I, pivot, x);
  return 1.0 + z * saltusi_dot(m->stages, m->b, x);
}

/* The Pade approximation of exp with numerator degree k and denominator degree j. */
static double pade(int k, int j, double z) {
  double top = 1.0;
  double bottom = 1.0;
  double term = 1.0;
  for (int i = 1; i <= k; i++) {
    term *= z * (k - i + 1) / ((k + j - i + 1) * (double)i);
    top += term;
  }
  term = 1.0;
  for (int i = 1; i <= j; i++) {
    term *= -z * (j - i + 1) / ((k + j - i + 1) * (double)i);
    bottom += term;
  }
  return top / bottom;
}

static void stability_functions_are_those_of_the_literature(void** state) {
  (void)state;
  static const struct {
    const saltusi_tableau* method;
    int numerator, denominator;
  } cases[] = {
      {&saltusi_explicit_euler, 1, 0}, {&saltusi_midpoint, 2, 0},
      {&saltusi_heun_3, 3, 0},         {&saltusi_rk4, 4, 0},
      {&saltusi_radau_iia_1, 0, 1},    {&saltusi_radau_iia_3, 1, 2},
      {&saltusi_radau_iia_5, 2, 3},    {&saltusi_lobatto_iiia_2, 1, 1},
      {&saltusi_lobatto_iiia_4, 2, 2}, {&saltusi_lobatto_iiia_6, 3, 3},
      {&saltusi_gauss_2, 1, 1},        {&saltusi_gauss_4, 2, 2},
      {&saltusi_gauss_6, 3, 3},        {&saltusi_herk_3, 3, 0},
  };
  static const double points[] = {-10.0, -2.5, -1.0, -0.1, 0.3, 1.5};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
      double expected = pade(cases[k].numerator, cases[k].denominator, points[i]);
      assert_near(stability(cases[k].method, points[i]), expected,
                  1e-12 * fmax(1.0, fabs(expected)));
    }
  }
  /* seven stages of order 5: exp to z^5, then z^6 / 600 (Dormand and Prince) */
  double z = -0.7;
  double taylor = 1.0 + z * (1.0 + z / 2 * (1.0 + z / 3 * (1.0 + z / 4 * (1.0 + z / 5))));
  assert_near(stability(&saltusi_dopri5, z), taylor + pow(z, 6) / 600.0, 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_has_exactly_its_order),
      cmocka_unit_test(abscissae_are_row_sums_and_kinds_are_true),
      cmocka_unit_test(stability_functions_are_those_of_the_literature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
