/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * One island of any size, to a tolerance: chains of jointed links and stacks of blocks, whose matrices are
 * factored sparsely from some size on.
 */
#include "one_island.h"
#include "saltus/saltus.h"
#include "saltus_test.h"

#include <math.h>
#include <stdlib.h>

static const double gravity = 9.81;

/* Bytes at hand and the most of them. */
typedef struct usage {
  size_t now, most;
  saltus_allocator inside;
} usage;

static void* count_alloc(size_t bytes, void* user) {
  usage* u = user;
  u->now += bytes;
  u->most = u->now > u->most ? u->now : u->most;
  return u->inside.alloc(bytes, u->inside.user);
}

static void count_free(void* block, size_t bytes, void* user) {
  usage* u = user;
  u->now -= block != NULL ? bytes : 0;
  u->inside.free(block, bytes, u->inside.user);
}

typedef struct run {
  links l;
  usage memory;
  saltus_allocator allocator;
  saltus_integrator* it;
} run;

static void start(run* r, double tol) {
  r->memory = (usage){.inside = saltus_allocator_default()};
  r->allocator = (saltus_allocator){.alloc = count_alloc, .free = count_free, .user = &r->memory};
  const saltus_integrator_def def = {.system = &r->l.system,
                                     .q0 = r->l.q,
                                     .v0 = r->l.v,
                                     .rtol = tol,
                                     .atol = tol,
                                     .dense_steps = 1,
                                     .allocator = &r->allocator};
  assert_int_equal(saltus_integrator_create(&def, &r->it), SALTUS_OK);
}

static void go(run* r, double until) {
  assert_int_equal(saltus_integrator_advance(r->it, until, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
}

static void finish(run* r) {
  saltus_integrator_destroy(r->it);
  links_close(&r->l);
}

/* ---- chains ----------------------------------------------------------------------------------- */

static void start_chain(run* r, int n, bool dense, bool twice, double tol) {
  *r = (run){.l = {.count = n, .dense = dense, .twice = twice}};
  assert_true(links_open_chain(&r->l));
  start(r, tol);
}

/* The state may be one inside a step, between ends that are on the joints. */
static double worst_joint(const run* r) {
  int rows = r->l.system.dims.nj;
  double* gap = malloc((size_t)rows * sizeof(double));
  assert_non_null(gap);
  const saltus_point at = {.q = saltus_integrator_q(r->it)};
  r->l.ops.joints(&r->l, &at, gap);
  double worst = 0.0;
  for (int i = 0; i < rows; i++) {
    worst = fmax(worst, fabs(gap[i]));
  }
  free(gap);
  return worst;
}

/* The same motion, whichever way rows are stored and factored; forces of joints that are there twice are shared
 * in the same way. */
static void compare(int n, bool twice, double until) {
  const double tol = 1e-8;
  run dense;
  run sparse;
  start_chain(&dense, n, true, twice, tol);
  start_chain(&sparse, n, false, twice, tol);
  go(&dense, until);
  go(&sparse, until);
  for (int i = 0; i < 3 * n; i++) {
    double size = fmax(1.0, fabs(saltus_integrator_q(dense.it)[i]));
    assert_near(saltus_integrator_q(sparse.it)[i], saltus_integrator_q(dense.it)[i], 1e-11 * size);
    assert_near(saltus_integrator_v(sparse.it)[i], saltus_integrator_v(dense.it)[i], 1e-10);
  }
  assert_true(worst_joint(&sparse) < 0.1 * tol);
  finish(&dense);
  finish(&sparse);
}

static void sparse_and_dense_chains_move_alike(void** state) {
  (void)state;
  compare(8, false, 0.5);
  compare(17, false, 0.5);
  compare(40, false, 0.2);
}

static void joints_that_are_there_twice_change_nothing(void** state) {
  (void)state;
  compare(8, true, 0.5);
  compare(24, true, 0.3);
  run once;
  run twice;
  start_chain(&once, 100, false, false, 1e-8);
  start_chain(&twice, 100, false, true, 1e-8);
  go(&once, 0.3);
  go(&twice, 0.3);
  for (int i = 0; i < 300; i++) {
    assert_near(saltus_integrator_q(twice.it)[i], saltus_integrator_q(once.it)[i], 1e-10);
  }
  finish(&once);
  finish(&twice);
}

/* The far end does not know yet that the chain hangs: it falls freely. Energy is that of the start, at which
 * all links lie at height 0; memory is in proportion to the length. */
static void chains_of_any_length_fall(void** state) {
  (void)state;
  const double t = 0.2;
  const double tol = 1e-6;
  size_t bytes[2];
  for (int k = 0; k < 2; k++) {
    int n = k == 0 ? 100 : 1000;
    run r;
    start_chain(&r, n, false, false, tol);
    go(&r, t);
    const double* q = saltus_integrator_q(r.it);
    const double* v = saltus_integrator_v(r.it);
    assert_near(q[3 * n - 2], -0.5 * gravity * t * t, tol);
    assert_near(q[3 * n - 1], 0.0, tol);
    /* n / 2 g^2 t^2 have been exchanged */
    assert_near(island_energy(&r.l, q, v), 0.0, tol * n * gravity * gravity * t * t);
    assert_true(worst_joint(&r) < 0.1 * tol);
    bytes[k] = r.memory.most;
    finish(&r);
  }
  /* 46 kB a link, and two matrices of SALTUSI_DISTRIBUTED_ROWS = 600 active rows (2.9 MB each) whatever the length */
  assert_true(bytes[1] < 50000000 + 2 * 600 * 600 * (int)sizeof(double));
  assert_true(bytes[1] < 10 * bytes[0]);
}

/* Chains apart from each other do not feel each other, though their rows are factored together. */
static void chains_apart_move_as_if_alone(void** state) {
  (void)state;
  enum { N = 20 };
  run one = {.l = {.count = N}};
  run three = {.l = {.count = 3 * N, .cut = N}};
  assert_true(links_open_chain(&one.l) && links_open_chain(&three.l));
  start(&one, 1e-8);
  start(&three, 1e-8);
  go(&one, 0.3);
  go(&three, 0.3);
  for (int i = 0; i < 9 * N; i++) {
    double shift = i % 3 == 0 ? N * (i / (3 * N)) : 0.0;
    assert_near(saltus_integrator_q(three.it)[i], saltus_integrator_q(one.it)[i % (3 * N)] + shift,
                1e-7);
  }
  finish(&one);
  finish(&three);
}

/* Every rod stands on the floor for itself: its contact carries its weight, whatever the pins do. */
static void a_chain_lies_on_the_floor(void** state) {
  (void)state;
  enum { N = 100 };
  for (int twice = 0; twice < 2; twice++) {
    run r = {.l = {.count = N, .floor = true, .twice = twice == 1, .mu = 0.3}};
    double force[3 * N];
    assert_true(links_open_chain(&r.l));
    start(&r, 1e-6);
    go(&r, 0.1);
    assert_int_equal(saltus_integrator_forces(r.it, 0.1, force), SALTUS_OK);
    for (int i = 0; i < N; i++) {
      assert_near(force[3 * i], gravity, 1e-9 * gravity);
      assert_near(saltus_integrator_q(r.it)[3 * i + 1], 0.0, 1e-9);
    }
    finish(&r);
  }
}

/* A chain that falls flat from 1 m strikes with all its rods at once, and comes back as a ball does. */
static void a_chain_that_falls_flat_bounces(void** state) {
  (void)state;
  enum { N = 100 };
  run r = {.l = {.count = N, .floor = true, .loose = true, .e = 0.5}};
  assert_true(links_open_chain(&r.l));
  for (int i = 0; i < N; i++) {
    r.l.q[3 * i + 1] = 1.0;
  }
  start(&r, 1e-8);
  go(&r, 0.6);
  double fall = sqrt(2.0 / gravity);
  double s = 0.6 - fall;
  for (int i = 0; i < N; i++) {
    assert_near(saltus_integrator_q(r.it)[3 * i + 1],
                0.5 * gravity * fall * s - 0.5 * gravity * s * s, 1e-8);
  }
  assert_int_equal(saltus_integrator_costs(r.it).events[SALTUS_EVENT_IMPACT], N);
  finish(&r);
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static void start_stack(run* r, links l, double lifted, double tol) {
  *r = (run){.l = l};
  assert_true(links_open_stack(&r->l));
  for (int i = 0; i < l.count; i++) {
    r->l.q[3 * i + 1] += lifted * (i + 1);
  }
  start(r, tol);
}

/* Every block stays where it is, and every contact carries its part of the weight above it. */
static void rest(int n, int supports, double mu) {
  run r;
  start_stack(&r, (links){.count = n, .supports = supports, .half = 0.4, .mu = mu}, 0.0, 1e-6);
  go(&r, 0.1);
  for (int i = 0; i < n; i++) {
    assert_near(saltus_integrator_q(r.it)[3 * i + 1], i + 1.0, 1e-9);
  }
  double* force = calloc(3 * (size_t)(supports * n), sizeof(double));
  assert_non_null(force);
  assert_int_equal(saltus_integrator_forces(r.it, 0.1, force), SALTUS_OK);
  /* two supports a block carry moments as well: rounding times the condition of a beam, n^3 */
  const double part = supports == 1 ? 1e-10 : fmax(1e-10, 1e-15 * n * n * n);
  for (int c = 0; c < supports * n; c++) {
    double weight = gravity * (n - c / supports) / supports;
    assert_near(force[3 * c], weight, part * weight);
  }
  free(force);
  assert_true(r.memory.most < 50000000);
  finish(&r);
}

static void stacks_of_any_height_rest(void** state) {
  (void)state;
  for (int n = 10; n <= 1000; n *= 10) {
    rest(n, 1, 0.0);
    rest(n, 1, 0.5);
  }
  rest(10, 2, 0.5);
  rest(100, 2, 0.5);
}

/* The topmost block slides with (push - mu g) and nothing else moves. */
static void a_push_moves_the_topmost_block(void** state) {
  (void)state;
  static const int heights[] = {8, 24, 40, 100};
  for (size_t k = 0; k < sizeof heights / sizeof heights[0]; k++) {
    int n = heights[k];
    run r;
    start_stack(&r, (links){.count = n, .supports = 2, .half = 0.4, .mu = 0.3, .push = 5.0}, 0.0,
                1e-6);
    go(&r, 0.3);
    const double* q = saltus_integrator_q(r.it);
    assert_near(q[3 * n - 3], 0.5 * (5.0 - 0.3 * gravity) * 0.09, 1e-8);
    for (int i = 0; i < n - 1; i++) {
      assert_near(q[3 * i], 0.0, 1e-8);
    }
    finish(&r);
  }
}

/* Below mu g, with a push that uses nearly all of the friction, nothing moves. */
static void a_push_below_friction_moves_nothing(void** state) {
  (void)state;
  run r;
  start_stack(&r, (links){.count = 40, .supports = 2, .half = 0.4, .mu = 0.3, .push = 2.9}, 0.0,
              1e-6);
  go(&r, 0.3);
  for (int i = 0; i < 120; i++) {
    assert_near(saltus_integrator_v(r.it)[i], 0.0, 1e-8);
  }
  finish(&r);
}

/* Blocks that fall onto each other without restitution: the same impacts and the same end, whether problems are
 * solved by pivoting or by blocks. */
static void stacks_that_fall_together_rest_alike(void** state) {
  (void)state;
  static const int heights[] = {20, 36};
  for (size_t k = 0; k < sizeof heights / sizeof heights[0]; k++) {
    const links l = {.count = heights[k], .supports = 2, .half = 0.4, .mu = 0.3};
    links full = l;
    full.dense = true;
    run sparse;
    run dense;
    start_stack(&sparse, l, 1e-3, 1e-6);
    start_stack(&dense, full, 1e-3, 1e-6);
    go(&sparse, 0.3);
    go(&dense, 0.3);
    long long impacts = saltus_integrator_costs(sparse.it).events[SALTUS_EVENT_IMPACT];
    assert_int_equal(impacts, saltus_integrator_costs(dense.it).events[SALTUS_EVENT_IMPACT]);
    for (int i = 0; i < 3 * l.count; i++) {
      assert_near(saltus_integrator_q(sparse.it)[i], saltus_integrator_q(dense.it)[i], 1e-10);
      assert_near(saltus_integrator_v(sparse.it)[i], 0.0, 1e-10);
    }
    finish(&sparse);
    finish(&dense);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_and_dense_chains_move_alike),
      cmocka_unit_test(joints_that_are_there_twice_change_nothing),
      cmocka_unit_test(chains_of_any_length_fall),
      cmocka_unit_test(chains_apart_move_as_if_alone),
      cmocka_unit_test(a_chain_lies_on_the_floor),
      cmocka_unit_test(a_chain_that_falls_flat_bounces),
      cmocka_unit_test(stacks_of_any_height_rest),
      cmocka_unit_test(a_push_moves_the_topmost_block),
      cmocka_unit_test(a_push_below_friction_moves_nothing),
      cmocka_unit_test(stacks_that_fall_together_rest_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
