/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Impacts of springs side by side (lzb) with friction in space: one contact is Stronge's path, whose numbers were found
 * by two integrators; what lies in a plane is the planar impact, however the plane stands; several contacts are what
 * small steps written here tend to; and no energy is gained.
 */
#include "saltus_test.h"

#include "../../studies/impact_cases.h"

static const saltus_impacts springs[2] = {{.order = SALTUS_ORDER_LZB, .exponent = 1.0},
                                          {.order = SALTUS_ORDER_LZB, .exponent = 1.5}};

static impact_outcome solve(impact_case* c, const saltus_impacts* rule) {
  impact_outcome out = impact_case_solve(c, rule);
  assert_int_equal(out.status, SALTUS_OK);
  return out;
}

static void one_spring_in_space_follows_the_path(void** state) {
  (void)state;
  static const struct {
    double mu, P[3], tol;
  } cases[] = {
      {0.2, {0.643411569161, 0.008549030841, 0.112761836667}, 1e-10},
      {0.5, {0.736892363944, 0.143846337401, 0.269740541560}, 1e-10},
      {0.9, {0.868691093784, 0.329617794346, 0.418694235477}, 2e-9}, /* slip stops */
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (int s = 0; s < 2; s++) {
      impact_case c = impact_rod_in_space(cases[k].mu, 0.7);
      impact_outcome out = solve(&c, &springs[s]);
      for (int i = 0; i < 3; i++) {
        assert_near(out.P[i], cases[k].P[i], cases[k].tol);
      }
    }
  }
}

/* Rows N1, T1, N2, T2 of a plane as N1, x1, y1, N2, x2, y2 of space, the plane turned by an angle about the normal;
 * across it the points move independently. */
static impact_case in_space(const impact_case* flat, double angle) {
  double W[36] = {0.0};
  double u[6] = {0.0};
  const double along[2] = {cos(angle), sin(angle)};
  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 2; b++) {
      const double* from = flat->W + (2 * a) * 4 + 2 * b; /* N N, N T; T N, T T */
      double* to = W + (3 * a) * 6 + 3 * b;
      to[0] = from[0];
      for (int k = 0; k < 2; k++) {
        to[1 + k] = from[1] * along[k];
        to[(1 + k) * 6] = from[4] * along[k];
        for (int j = 0; j < 2; j++) {
          double across = (k == 0 ? -along[1] : along[0]) * (j == 0 ? -along[1] : along[0]);
          to[(1 + k) * 6 + 1 + j] = from[5] * along[k] * along[j] + (a == b ? 0.7 * across : 0.0);
        }
      }
    }
    u[3 * a] = flat->u[2 * a];
    u[3 * a + 1] = flat->u[2 * a + 1] * along[0];
    u[3 * a + 2] = flat->u[2 * a + 1] * along[1];
  }
  return impact_given(2, 2, W, u);
}

static void a_plane_in_space_is_a_plane(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const double mu = k % 2 == 0 ? 0.1 : 0.5;
    impact_case flat = k < 2 ? impact_pair(2.0, 8.8, 2.0, 1.0, (double[3]){0.0, -2.0, -1.0})
                             : impact_pair(1.0, 5.0 / 3.0, 2.0, 1.0, (double[3]){1.0, -2.0, -1.0});
    impact_case_set(&flat, SALTUS_IMPACT_NEWTON, mu, 0.6, 0.0);
    for (int s = 0; s < 2; s++) {
      impact_outcome planar = solve(&flat, &springs[s]);
      impact_case c = in_space(&flat, 0.3 + k);
      impact_case_set(&c, SALTUS_IMPACT_NEWTON, mu, 0.6, 0.0);
      impact_outcome out = solve(&c, &springs[s]);
      for (int i = 0; i < 2; i++) {
        assert_near(out.P[3 * i], planar.P[2 * i], 1e-8);
        assert_near(out.P[3 * i + 1], planar.P[2 * i + 1] * cos(0.3 + k), 1e-8);
        assert_near(out.P[3 * i + 2], planar.P[2 * i + 1] * sin(0.3 + k), 1e-8);
      }
    }
  }
}

/* A body with two points below in space: m = 2, principal inertias, from velocities (v, w). */
static impact_case body_on_two_points(const double v[6], double mu, double e) {
  static const double point[2][3] = {{-2.0, 0.3, -1.0}, {2.0, -0.2, -1.0}};
  static const double inverse[6] = {0.5, 0.5, 0.5, 1.0 / 3.0, 1.0 / 8.8, 1.0 / 9.0};
  static const int axis[3] = {2, 0, 1}; /* normal, tangents */
  double G[6][6] = {{0.0}};             /* [row][velocity] */
  double W[36];
  double u[6];
  for (int a = 0; a < 2; a++) {
    for (int k = 0; k < 3; k++) {
      double* row = G[3 * a + k];
      int i = axis[k], j = (i + 1) % 3, l = (i + 2) % 3;
      row[i] = 1.0; /* (w x r)_i = w_j r_l - w_l r_j */
      row[3 + j] = point[a][l];
      row[3 + l] = -point[a][j];
    }
  }
  for (int r = 0; r < 6; r++) {
    u[r] = 0.0;
    for (int i = 0; i < 6; i++) {
      u[r] += G[r][i] * v[i];
    }
    for (int s = 0; s < 6; s++) {
      W[r * 6 + s] = 0.0;
      for (int i = 0; i < 6; i++) {
        W[r * 6 + s] += G[r][i] * inverse[i] * G[s][i];
      }
    }
  }
  impact_case c = impact_given(2, 2, W, u);
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, mu, e, 0.0);
  return c;
}

/* Friction of a step: against the slip at its end, by sweeps. */
static void friction(const impact_case* c, const double* U, double dt, double* F) {
  for (int k = 0; k < 40; k++) {
    for (int a = 0; a < c->count; a++) {
      double* T = F + 3 * a + 1;
      double slip[2];
      for (int j = 0; j < 2; j++) {
        int r = 3 * a + 1 + j;
        slip[j] = U[r];
        for (int s = 0; s < c->rows; s++) {
          slip[j] += dt * c->W[r * c->rows + s] * F[s];
        }
      }
      double own = c->W[(3 * a + 1) * (c->rows + 1)] + c->W[(3 * a + 2) * (c->rows + 1)];
      for (int j = 0; j < 2; j++) {
        T[j] -= slip[j] / (dt * own);
      }
      double size = hypot(T[0], T[1]);
      double most = c->contact[a].mu * F[3 * a];
      for (int j = 0; j < 2 && size > most; j++) {
        T[j] *= most / size;
      }
    }
  }
}

/* Impulses by small steps: d' = -U or -U / e^2 with the mean velocity of a step. */
static void by_steps(const impact_case* c, double eta, double dt, double* P) {
  double U[6], before[6], F[6] = {0.0}, d[2] = {0.0, 0.0};
  memcpy(U, c->u, sizeof U);
  memset(P, 0, 6 * sizeof(double));
  for (int n = 0; n < 4000000; n++) {
    bool apart = n > 0;
    for (int a = 0; a < 2; a++) {
      F[3 * a] = d[a] > 0.0 ? pow(d[a], eta) : 0.0;
      apart = apart && d[a] <= 0.0 && U[3 * a] >= -1e-9;
    }
    if (apart) {
      return;
    }
    friction(c, U, dt, F);
    memcpy(before, U, sizeof U);
    for (int r = 0; r < 6; r++) {
      for (int s = 0; s < 6; s++) {
        U[r] += dt * c->W[r * 6 + s] * F[s];
      }
      P[r] += dt * F[r];
    }
    for (int a = 0; a < 2; a++) {
      double mean = 0.5 * (before[3 * a] + U[3 * a]);
      double e = c->contact[a].e_N;
      d[a] = fmax(0.0, d[a] - dt * (mean > 0.0 ? mean / (e * e) : mean));
    }
  }
  fail_msg("small steps do not end");
}

static void two_springs_in_space_are_what_small_steps_tend_to(void** state) {
  (void)state;
  static const double start[3][6] = {{0.5, -0.4, -2.0, 0.3, -1.0, 0.8},
                                     {-0.2, 0.6, -1.5, 0.0, 0.2, -1.5},
                                     {0.0, 0.3, -1.0, -0.4, 0.1, 0.2}};
  for (int k = 0; k < 6; k++) {
    const double mu = k % 2 == 0 ? 0.15 : 0.6;
    impact_case c = body_on_two_points(start[k / 2], mu, 0.7);
    for (int s = 0; s < 2; s++) {
      double coarse[6], fine[6];
      by_steps(&c, springs[s].exponent, 1e-3, coarse);
      by_steps(&c, springs[s].exponent, 5e-4, fine);
      impact_outcome out = solve(&c, &springs[s]);
      assert_true(out.result.gain <= 0.0);
      for (int r = 0; r < 6;
           r++) { /* along the line of both points impulses are not unique, velocities are */
        double u = c.u[r];
        for (int i = 0; i < 6; i++) {
          u += c.W[6 * r + i] * (2.0 * fine[i] - coarse[i]);
        }
        assert_near(out.u[r], u, 2e-3);
      }
    }
  }
}

static double uniform(uint64_t* seed, double low, double high) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static void springs_in_space_never_gain(void** state) {
  (void)state;
  uint64_t seed = 7;
  for (int k = 0; k < 60; k++) {
    double v[6];
    for (int i = 0; i < 6; i++) {
      v[i] = uniform(&seed, -1.0, 1.0);
    }
    v[2] = -2.5; /* both points come */
    impact_case c = body_on_two_points(v, uniform(&seed, 0.0, 1.5), uniform(&seed, 0.2, 1.0));
    impact_outcome out = solve(&c, &springs[k % 2]);
    assert_true(out.result.gain <= 1e-12);
    for (int a = 0; a < 2; a++) {
      assert_true(out.P[3 * a] >= 0.0 && out.u[3 * a] >= -1e-9);
      assert_true(hypot(out.P[3 * a + 1], out.P[3 * a + 2]) <=
                  c.contact[a].mu * out.P[3 * a] * (1.0 + 1e-9));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_spring_in_space_follows_the_path),
      cmocka_unit_test(a_plane_in_space_is_a_plane),
      cmocka_unit_test(two_springs_in_space_are_what_small_steps_tend_to),
      cmocka_unit_test(springs_in_space_never_gain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
