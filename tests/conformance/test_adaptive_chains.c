/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * One island of any size, to a tolerance: chains of jointed links and stacks of blocks, whose matrices are
 * factored sparsely from some size on.
 */
#include "links.h"
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
    assert_near(links_energy(&r.l, q, v), 0.0, tol * n * gravity * gravity * t * t);
    assert_true(worst_joint(&r) < 0.1 * tol);
    bytes[k] = r.memory.most;
    finish(&r);
  }
  assert_true(bytes[1] < 50e6);
  assert_true(bytes[1] < 10 * bytes[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_and_dense_chains_move_alike),
      cmocka_unit_test(joints_that_are_there_twice_change_nothing),
      cmocka_unit_test(chains_of_any_length_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
