/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Chains, stars and closed loops of many links: sparse factors of bodies and joints give what dense matrices
 * give, redundant joints share their load, and inconsistent ones are named, whatever the size.
 */
#include "saltus_test.h"

#include "../../bench/links.h"
#include "saltus/start.h"

#include <stdlib.h>

typedef struct motion {
  double *q, *v, *impulse;
  saltus_status status;
  saltus_kept_message kept;
} motion;

static motion run_scheme(const char* name, const saltus_mechanism* from, const saltus_system* sys,
                         double h, int steps) {
  motion m = {.status = SALTUS_OK};
  const saltus_dims* d = &sys->dims;
  m.q = malloc((size_t)d->nq * sizeof(double));
  m.v = malloc((size_t)d->nv * sizeof(double));
  m.impulse = malloc((size_t)d->nj * sizeof(double));
  memcpy(m.q, saltus_mechanism_q0(from), (size_t)d->nq * sizeof(double));
  memcpy(m.v, saltus_mechanism_v0(from), (size_t)d->nv * sizeof(double));
  const saltus_scheme_def def = {.scheme = name, .system = sys, .log = saltus_log_keep(&m.kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  saltus_state state = {.q = m.q, .v = m.v};
  saltus_step_report report = {0};
  for (int k = 0; k < steps && m.status == SALTUS_OK; k++) {
    m.status = saltus_scheme_step(scheme, h, &state, &report);
  }
  if (m.status == SALTUS_OK) {
    memcpy(m.impulse, report.joint_impulses, (size_t)d->nj * sizeof(double));
  }
  saltus_scheme_destroy(scheme);
  return m;
}

static motion run(const saltus_system* sys, const saltus_mechanism* from, int steps) {
  return run_scheme("moreau-jean", from, sys, 0.002, steps);
}

static void end(motion* m) {
  free(m->q);
  free(m->v);
  free(m->impulse);
}

static double apart(int n, const double* a, const double* b) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

static const links_def shapes[] = {
    {.dimension = 2, .count = 30},
    {.dimension = 3, .count = 20},
    {.dimension = 3, .count = 20, .twisted = true},
    {.dimension = 2, .count = 30, .star = true},
    {.dimension = 3, .count = 20, .star = true},
    {.dimension = 3, .count = 20, .twisted = true, .damping = 1e-3},
    {.dimension = 2, .count = 30, .damping = 1e-3},
    {.dimension = 2, .count = 30, .doubled = 3},
    {.dimension = 3, .count = 20, .doubled = 2},
    {.dimension = 3, .count = 20, .doubled = 2, .star = true, .damping = 1e-3},
};

/* The same system with dense rows is solved by dense factors. Velocities are 1 m/s or less, impulses 0.04 N s;
 * Newton's iteration ends at 1e-13, and W of 30 links has a condition of some 10^3. */
static void sparse_factors_move_as_dense_ones(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    if (!saltus_test_takes((int)k)) {
      continue;
    }
    saltus_mechanism* made = links_create(&shapes[k]);
    assert_non_null(made);
    saltus_system dense = *saltus_mechanism_system(made);
    assert_true(dense.dims.row_width > 0);
    motion a = run(&dense, made, 20);
    dense.dims.row_width = 0;
    motion b = run(&dense, made, 20);
    assert_int_equal(a.status, SALTUS_OK);
    assert_int_equal(b.status, SALTUS_OK);
    if (!(apart(dense.dims.nv, a.v, b.v) < 1e-9 && apart(dense.dims.nq, a.q, b.q) < 1e-10 &&
          apart(dense.dims.nj, a.impulse, b.impulse) < 1e-9)) {
      fail_msg("shape %d: v %.1e q %.1e impulses %.1e", (int)k, apart(dense.dims.nv, a.v, b.v),
               apart(dense.dims.nq, a.q, b.q), apart(dense.dims.nj, a.impulse, b.impulse));
    }
    end(&a);
    end(&b);
    saltus_mechanism_destroy(made);
  }
}

/* Two hinges at one place: each has half of what one alone has. */
static void hinges_that_are_there_twice_share_their_load(void** state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    links_def def = {.dimension = dimension, .count = 60};
    saltus_mechanism* single = links_create(&def);
    def.doubled = 1;
    saltus_mechanism* twice = links_create(&def);
    motion a = run(saltus_mechanism_system(single), single, 5);
    motion b = run(saltus_mechanism_system(twice), twice, 5);
    assert_int_equal(a.status, SALTUS_OK);
    assert_int_equal(b.status, SALTUS_OK);
    int each = dimension == 2 ? 2 : 5;
    const double* last = a.impulse + each * 59;
    const double* half = b.impulse + each * 59;
    for (int i = 0; i < each; i++) {
      assert_near(half[i], 0.5 * last[i], 1e-12);
      assert_near(half[each + i], 0.5 * last[i], 1e-12);
    }
    end(&a);
    end(&b);
    saltus_mechanism_destroy(single);
    saltus_mechanism_destroy(twice);
  }
}

/* 202 rows of loops, more than are factored as a dense matrix; the hinges that disagree are the last two. */
static void a_contradiction_among_many_loops_is_named(void** state) {
  (void)state;
  const links_def def = {.dimension = 2, .count = 110, .doubled = 101, .apart = 1e-3};
  saltus_mechanism* made = links_create(&def);
  const saltus_system* sys = saltus_mechanism_system(made);
  double *q = malloc((size_t)sys->dims.nq * sizeof(double)),
         *v = malloc((size_t)sys->dims.nv * sizeof(double));
  memcpy(q, saltus_mechanism_q0(made), (size_t)sys->dims.nq * sizeof(double));
  memcpy(v, saltus_mechanism_v0(made), (size_t)sys->dims.nv * sizeof(double));
  saltus_kept_message kept;
  const saltus_start_def start = {
      .system = sys, .q = q, .v = v, .tolerance = 0.01, .log = saltus_log_keep(&kept)};
  saltus_start_move move;
  assert_int_equal(saltus_start_project(&start, &move), SALTUS_ERR_CONTRADICTION);
  assert_non_null(strstr(kept.text, "contradict each other"));
  free(q);
  free(v);
  saltus_mechanism_destroy(made);
}

/* 300 and 500 rows; the second one of two equal hinges is 1 cm off. */
static void a_contradiction_in_a_long_chain_is_named(void** state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    const links_def def = {
        .dimension = dimension, .count = dimension == 2 ? 150 : 100, .doubled = 1, .apart = 0.01};
    saltus_mechanism* made = links_create(&def);
    motion m = run(saltus_mechanism_system(made), made, 1);
    assert_int_equal(m.status, SALTUS_ERR_CONTRADICTION);
    assert_says(m.kept, dimension == 2 ? "joints \"j149\" and \"j150\" contradict each other"
                                       : "joints \"j99\" and \"j100\" contradict each other");
    end(&m);
    saltus_mechanism_destroy(made);
  }
}

/* Distance at 0.02 s between two schemes, m. */
static double between(const links_def* def, const char* a, int steps_a, const char* b,
                      int steps_b) {
  saltus_mechanism* made = links_create(def);
  const saltus_system* sys = saltus_mechanism_system(made);
  motion x = run_scheme(a, made, sys, 0.02 / steps_a, steps_a);
  motion y = run_scheme(b, made, sys, 0.02 / steps_b, steps_b);
  assert_int_equal(x.status, SALTUS_OK);
  assert_int_equal(y.status, SALTUS_OK);
  double distance = apart(sys->dims.nq, x.q, y.q);
  end(&x);
  end(&y);
  saltus_mechanism_destroy(made);
  return distance;
}

static void assert_order(double coarse, double fine, double order) {
  if (!(fabs(log2(coarse / fine) - order) < 0.2)) {
    fail_msg("%.2e and %.2e m, not of order %g", coarse, fine, order);
  }
}

/* Implicit stages of 30 links, 270 unknowns, without dense matrices: against an explicit method where nothing
 * is stiff, and against the implicit midpoint rule, whose 90 unknowns have a dense matrix and whose error
 * shrinks by 4, where dampers have rates of 10^4 1/s. */
static void stages_of_many_links_move_as_those_of_other_methods(void** state) {
  (void)state;
  const links_def soft = {.dimension = 2, .count = 30, .damping = 1e-4};
  const links_def stiff = {.dimension = 2, .count = 30, .damping = 0.1};
  static const char* const fourth[] = {"gauss-4", "lobatto-iiia-4"};
  assert_near(between(&soft, "radau-iia-5", 20, "dopri5", 100), 0.0, 1e-11);
  for (int k = 0; k < 2; k++) {
    assert_order(between(&soft, fourth[k], 20, "dopri5", 100),
                 between(&soft, fourth[k], 40, "dopri5", 100), 4.0);
  }
  assert_order(between(&stiff, "radau-iia-5", 20, "gauss-2", 20),
               between(&stiff, "radau-iia-5", 20, "gauss-2", 40), 2.0);
}

/* Half-explicit stages measure velocities by rows of the next one: errors shrink with the order. */
static void half_explicit_stages_of_many_links_keep_their_order(void** state) {
  (void)state;
  const links_def def = {.dimension = 2, .count = 30, .damping = 1e-4};
  assert_order(between(&def, "herk-3", 20, "dopri5", 100),
               between(&def, "herk-3", 40, "dopri5", 100), 3.0);
  assert_order(between(&def, "hem-4", 10, "dopri5", 100), between(&def, "hem-4", 20, "dopri5", 100),
               4.0);
}

/* 1200 links, 10 800 unknowns of radau-iia-5: a Newton matrix would have 933 MB. What hangs on the far end of a
 * horizontal chain has not heard of the wall yet: it falls freely. */
static void implicit_stages_have_no_limit_of_unknowns(void** state) {
  (void)state;
  saltus_mechanism* made = links_create(&(links_def){.dimension = 2, .count = 1200});
  const saltus_system* sys = saltus_mechanism_system(made);
  motion m = run_scheme("radau-iia-5", made, sys, 0.002, 3);
  assert_int_equal(m.status, SALTUS_OK);
  assert_near(m.q[sys->dims.nq - 2], -0.5 * 9.81 * 0.006 * 0.006, 1e-12);
  end(&m);
  saltus_mechanism_destroy(made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_factors_move_as_dense_ones),
      cmocka_unit_test(hinges_that_are_there_twice_share_their_load),
      cmocka_unit_test(a_contradiction_in_a_long_chain_is_named),
      cmocka_unit_test(a_contradiction_among_many_loops_is_named),
      cmocka_unit_test(stages_of_many_links_move_as_those_of_other_methods),
      cmocka_unit_test(half_explicit_stages_of_many_links_keep_their_order),
      cmocka_unit_test(implicit_stages_have_no_limit_of_unknowns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
