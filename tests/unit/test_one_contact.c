/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The exact one-contact solver: a million random contacts of seven classes, and the degenerate ones.
 * The residual is recomputed here from u = W r + b and the cones.
 */
#include "saltus_test.h"

#include "solve/friction/one_contact.h"

static uint64_t seed = 20240607;

static double uniform(double low, double high) {
  return low + (high - low) * saltus_test_random(&seed);
}

static double normal(void) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    sum += saltus_test_random(&seed);
  }
  return sum;
}

static double tangent(int d, const double* x) {
  return d == 3 ? hypot(x[1], x[2]) : fabs(x[1]);
}

/* Largest violation of the law: cones, orthogonality, in velocities and relative to the data. The
 * product mu |u_T| carries the rounding of u_T, so mu belongs to the scale. */
static double violation(int d, const double* W, double mu, const double* b, const double* r) {
  double u[3];
  double trace = 0.0;
  double b_size = 0.0;
  double r_size = 0.0;
  for (int i = 0; i < d; i++) {
    u[i] = b[i];
    for (int j = 0; j < d; j++) {
      u[i] += W[i * d + j] * r[j];
    }
    trace += W[i * d + i];
    b_size += b[i] * b[i];
    r_size += r[i] * r[i];
  }
  double rho = d / trace;
  double scale = (sqrt(b_size) + sqrt(r_size) / rho) * fmax(1.0, mu);
  /* natural map with the term of De Saxce */
  double x[3];
  for (int i = 0; i < d; i++) {
    x[i] = r[i] - rho * u[i];
  }
  x[0] -= rho * mu * tangent(d, u);
  double t = tangent(d, x);
  double n = x[0];
  if (mu * t <= -n) {
    memset(x, 0, sizeof x);
  } else if (t > mu * n) {
    double on_edge = (mu * t + n) / (mu * mu + 1.0);
    for (int i = 1; i < d; i++) {
      x[i] *= mu * on_edge / t;
    }
    x[0] = on_edge;
  }
  double sum = 0.0;
  for (int i = 0; i < d; i++) {
    sum += (r[i] - x[i]) * (r[i] - x[i]);
  }
  return sqrt(sum) / rho / scale;
}

enum { DEFINITE, NEAR_RANK_2, NEAR_RANK_1, SPREAD, ANY_FRICTION, SPHERE, ILL_CONDITIONED, CLASSES };

/* W = H H^T of a class, with H [d x 6]. */
static void draw_block(int kind, int d, double* W) {
  double H[3][6];
  int rank = kind == NEAR_RANK_2 ? 2 : (kind == NEAR_RANK_1 ? 1 : 6);
  double add = kind == NEAR_RANK_2 ? 1e-10 : (kind == NEAR_RANK_1 ? 1e-14 : 0.0);
  for (int i = 0; i < d; i++) {
    double size = kind == SPREAD ? pow(10.0, uniform(-3.0, 3.0)) : 1.0;
    for (int k = 0; k < 6; k++) {
      double weight = kind == ILL_CONDITIONED ? pow(1e-3, k) : 1.0;
      H[i][k] = normal() * size * weight;
    }
  }
  for (int i = 0; i < d; i++) {
    for (int j = 0; j < d; j++) {
      double sum = i == j ? add : 0.0;
      for (int k = 0; k < rank; k++) {
        sum += H[i][k] * H[j][k];
      }
      W[i * d + j] = kind == SPHERE ? (i != j ? 0.0 : (i == 0 ? 1.0 : 3.5)) : sum;
    }
  }
}

static double worst_of_class(int kind, int d, int count) {
  double worst = 0.0;
  for (int n = 0; n < count; n++) {
    double W[9];
    double data[16];
    double b[3] = {normal(), normal(), normal()};
    double r[3] = {0};
    double slip = 0.0;
    double mu = kind == ANY_FRICTION ? pow(10.0, uniform(-6.0, 6.0)) : uniform(0.0, 2.0);
    draw_block(kind, d, W);
    saltusi_one_contact_prepare(d, W, data);
    if (d == 3) {
      saltusi_one_contact_spatial(data, mu, b, r, &slip);
    } else {
      saltusi_one_contact_planar(data, mu, b, r);
    }
    double miss = violation(d, W, mu, b, r);
    if (!(miss <= worst)) {
      worst = miss;
    }
  }
  return worst;
}

/* Bounds: rounding 2e-16 times the condition of the block where that is bounded; measured worst
 * 4e-11 for the near-singular classes, where |r| / rho is large beside |b|. */
static void a_million_random_contacts_obey_the_law(void** state) {
  (void)state;
  static const double bound[CLASSES] = {1e-13, 1e-9, 1e-9, 1e-10, 1e-10, 1e-14, 1e-9};
  for (int kind = 0; kind < CLASSES; kind++) {
    assert_near(worst_of_class(kind, 3, 115000), 0.0, bound[kind]);
    assert_near(worst_of_class(kind, 2, 30000), 0.0, bound[kind]);
  }
}

static void a_warm_multiplier_gives_the_same_contact(void** state) {
  (void)state;
  for (int n = 0; n < 20000; n++) {
    double W[9];
    double data[16];
    draw_block(DEFINITE, 3, W);
    saltusi_one_contact_prepare(3, W, data);
    double b[3] = {-fabs(normal()), normal(), normal()};
    double cold[3];
    double warm[3];
    double slip = 0.0;
    saltusi_one_contact_spatial(data, 0.3, b, cold, &slip);
    slip *= pow(10.0, uniform(-6.0, 6.0)); /* a guess from another problem */
    saltusi_one_contact_spatial(data, 0.3, b, warm, &slip);
    double size = fabs(cold[0]) + 1e-300;
    for (int i = 0; i < 3; i++) {
      assert_near((warm[i] - cold[i]) / size, 0.0, 1e-11);
    }
  }
}

/* Known answers: a block on the floor, W = I / m. */
static void a_block_sticks_slides_and_leaves(void** state) {
  (void)state;
  double W[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5};
  double data[16];
  double r[3];
  double slip = 0.0;
  saltusi_one_contact_prepare(3, W, data);
  double sticks[3] = {-1.0, 0.3, 0.0};
  assert_int_equal(saltusi_one_contact_spatial(data, 0.4, sticks, r, &slip),
                   SALTUSI_CONTACT_STICKS);
  assert_near(r[0], 2.0, 1e-15);
  assert_near(r[1], -0.6, 1e-15);
  double slides[3] = {-1.0, 3.0, 4.0};
  assert_int_equal(saltusi_one_contact_spatial(data, 0.4, slides, r, &slip), SALTUSI_CONTACT_SLIPS);
  assert_near(r[0], 2.0, 1e-15);
  assert_near(r[1], -0.8 * 0.6, 1e-15);
  assert_near(r[2], -0.8 * 0.8, 1e-15);
  double leaves[3] = {1e-300, 3.0, 4.0};
  assert_int_equal(saltusi_one_contact_spatial(data, 0.4, leaves, r, &slip), SALTUSI_CONTACT_OPEN);
  assert_near(fabs(r[0]) + fabs(r[1]) + fabs(r[2]), 0.0, 0.0);
}

/* Zero, rank one along and across the normal, no diagonal at all, extreme friction: finite r in the
 * cone, whatever the data. */
static void degenerate_blocks_give_finite_impulses_in_the_cone(void** state) {
  (void)state;
  static const double blocks[][9] = {
      {0},
      {1, 0, 0, 0, 0, 0, 0, 0, 0},
      {0, 0, 0, 0, 1, 0, 0, 0, 1},
      {1, 1, 0, 1, 1, 0, 0, 0, 0},
      {1, -1, 0, -1, 1, 0, 0, 0, 0},
      {1e-300, 0, 0, 0, 1e-300, 0, 0, 0, 1e-300},
      {1, 2, 0, 0.5, 1, 0, 0, 0, 1}, /* not even positive */
  };
  static const double friction[] = {0.0, 1e-6, 0.5, 1e3, 1e6};
  for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
    for (int n = 0; n < 500; n++) {
      double mu = friction[n % 5];
      double data[16];
      double b[3] = {normal(), normal(), normal()};
      double r[3] = {0};
      double slip = 0.0;
      saltusi_one_contact_prepare(3, blocks[k], data);
      saltusi_one_contact_spatial(data, mu, b, r, &slip);
      assert_true(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]) && r[0] >= 0.0);
      assert_true(hypot(r[1], r[2]) <= mu * r[0] * (1.0 + 1e-12) + 1e-300);
      const double planar[4] = {blocks[k][0], blocks[k][1], blocks[k][3], blocks[k][4]};
      saltusi_one_contact_prepare(2, planar, data);
      saltusi_one_contact_planar(data, mu, b, r);
      assert_true(isfinite(r[0]) && isfinite(r[1]) && r[0] >= 0.0);
      assert_true(fabs(r[1]) <= mu * r[0] * (1.0 + 1e-12) + 1e-300);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_million_random_contacts_obey_the_law),
      cmocka_unit_test(a_warm_multiplier_gives_the_same_contact),
      cmocka_unit_test(a_block_sticks_slides_and_leaves),
      cmocka_unit_test(degenerate_blocks_give_finite_impulses_in_the_cone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
