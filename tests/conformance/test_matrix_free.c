/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contacts that are all coupled, without a stored Delassus matrix: medium problems have the answer of a stored matrix,
 * and a problem whose matrix would take gigabytes needs little memory.
 */
#include "saltus_test.h"

#include "../../bench/rig.h"
#include "operator/operator.h"

#include <stdlib.h>

static double random_number(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

/* One beam of 1 kg and 2 m on so many feet, and a ball that flies far away. */
static void beam(rig* r, int feet, double mu) {
  assert_true(rig_create(r, 2, feet, 0));
  int body = rig_body(r, 0.0, 0.5, 1.0, 1.0 / 3.0);
  rig_body(r, 10.0, 5.0, 1.0, 0.1);
  for (int i = 0; i < feet; i++) {
    double x = feet > 1 ? 2.0 * i / (feet - 1) - 1.0 : 0.0;
    rig_touch(r, (rig_contact){.low = {.body = -1}, .high = {body, x, 0.0}, .r_high = 0.5}, mu);
  }
  rig_system(r);
}

/* An operator on all contacts of a system at a point, with W or without. */
typedef struct bench_op {
  saltusi_eval eval;
  saltusi_linear mass;
  saltusi_operator op;
  void* block;
} bench_op;

static void open_op(bench_op* b, const saltus_system* sys, const double* q, const double* v,
                    bool product) {
  *b = (bench_op){.eval = {.sys = *sys}};
  b->eval.room.have[SALTUSI_CAPACITY_MATRIX_FREE] = product ? 1 : 0;
  b->eval.room.have[SALTUSI_CAPACITY_BLOCKS] = (size_t)sys->dims.nc * (size_t)sys->dims.nc;
  b->eval.room.have[SALTUSI_CAPACITY_ROWS] = 3 * (size_t)sys->dims.nc;
  saltus_arena arena = saltus_arena_counting();
  for (int pass = 0; pass < 2; pass++) {
    saltusi_eval_layout(&b->eval, &arena);
    saltusi_linear_layout(&b->mass, sys, &arena);
    saltusi_operator_layout(&b->op, &b->eval, &(saltusi_demand){.friction = true}, &arena);
    if (pass == 0) {
      b->block = calloc(arena.used + 64, 1);
      arena = saltus_arena_over(b->block, arena.used);
    }
  }
  if (product) {
    b->op.product.from = 0;
  }
  saltus_point at = saltusi_at(&b->eval, 0.0, q, v);
  assert_int_equal(saltusi_linear_assemble(&b->eval, &b->mass, &at, 1.0, 0.0, 0.0), SALTUS_OK);
  saltusi_operator_begin(&b->op, 0);
  for (int i = 0; i < sys->dims.nc; i++) {
    int rows = saltusi_operator_rows(&b->op, &sys->laws[i]);
    int row = saltusi_operator_look(&b->op, sys, &at, i, rows);
    saltusi_operator_take(&b->op, rows, sys->laws[i].mu);
    for (int k = 0; k < rows; k++) {
      b->op.rhs[row + k] = saltusi_row_dot(&b->op.rows, row + k, v);
    }
  }
  saltusi_operator_form(&b->op, &b->eval, &b->mass);
  assert_int_equal(b->op.status, SALTUS_OK);
  assert_int_equal(b->op.storage == SALTUSI_STORED_PRODUCT, product);
  saltus_status solved = saltusi_operator_solve(&b->op, &b->eval);
  if (solved != SALTUS_OK) {
    fail_msg("%s: %d sweeps", product ? "without W" : "with W", b->op.product.sweeps);
  }
}

/* What impulses make of the velocities; impulses themselves are not unique on so many feet. */
static void without_w_velocities_are_those_with_it(void** state) {
  (void)state;
  uint64_t seed = 7;
  for (int k = 0; k < 12; k++) {
    rig r;
    beam(&r, 200, k % 3 == 0 ? 0.0 : 0.3 * (k % 3));
    double v[6] = {random_number(&seed), random_number(&seed) - 0.5, 2.0 * random_number(&seed)};
    bench_op with, without;
    double x[2][6];
    open_op(&with, &r.system, r.q, v, false);
    open_op(&without, &r.system, r.q, v, true);
    memcpy(x[0], v, sizeof v);
    memcpy(x[1], v, sizeof v);
    saltusi_operator_apply(&with.op, &with.eval, x[0]);
    saltusi_operator_apply(&without.op, &without.eval, x[1]);
    for (int i = 0; i < 6; i++) { /* residuals of 1e-10 |rhs|, |rhs| = 15 m/s */
      assert_near(x[1][i], x[0][i], 1e-8);
    }
    free(with.block);
    free(without.block);
    rig_free(&r);
  }
}

/* A rope of 15 nodes in the plane, x' and then y' of each, with a mass matrix that couples all of them; 400
 * points of it lie on the ground. Without friction, where velocities are unique. */
enum { NODES = 15, WIDE = 2 * NODES, MANY = 400 };

static void full_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  for (int i = 0; i < WIDE; i++) {
    for (int j = 0; j < WIDE; j++) {
      M[i * WIDE + j] = (i == j ? 1.0 : 0.0) + 0.5 / (1.0 + abs(i - j));
    }
  }
}

static void no_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  memset(F, 0, WIDE * sizeof(double));
}

static saltus_status all_closed(const void* self, const saltus_point* at,
                                saltus_contact_list* list) {
  (void)self, (void)at;
  memset(list->gap, 0, MANY * sizeof(double));
  return SALTUS_OK;
}

static void touch(const void* self, const saltus_point* at, uint64_t identity, saltus_rows* rows) {
  (void)self, (void)at;
  for (int k = 0; k < rows->count; k++) {
    for (int i = 0; i < WIDE; i++) {
      double away = fabs((double)identity * (NODES - 1) / (MANY - 1) - i % NODES);
      rows->G[k * rows->stride + i] = i >= NODES && away < 1.0 ? 1.0 - away : 0.0;
    }
  }
}

static void without_w_a_body_that_bends_moves_as_with_it(void** state) {
  (void)state;
  const saltus_system_ops ops = {
      .mass = full_mass, .force = no_force, .contacts = all_closed, .contact = touch};
  saltus_contact_law laws[MANY];
  double q[WIDE] = {0.0};
  double v[WIDE];
  uint64_t seed = 3;
  for (int i = 0; i < MANY; i++) {
    laws[i] = (saltus_contact_law){0};
  }
  for (int i = 0; i < WIDE; i++) {
    v[i] = random_number(&seed) - (i < NODES ? 0.0 : 0.3);
  }
  const saltus_system sys = {.ops = &ops,
                             .dims = {.nq = WIDE, .nv = WIDE, .nc = MANY},
                             .traits =
                                 SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                             .laws = laws,
                             .law_count = MANY};
  bench_op with, without;
  double x[2][WIDE];
  open_op(&with, &sys, q, v, false);
  open_op(&without, &sys, q, v, true);
  memcpy(x[0], v, sizeof v);
  memcpy(x[1], v, sizeof v);
  saltusi_operator_apply(&with.op, &with.eval, x[0]);
  saltusi_operator_apply(&without.op, &without.eval, x[1]);
  for (int i = 0; i < WIDE; i++) {
    assert_near(x[1][i], x[0][i], 1e-8);
  }
  free(with.block);
  free(without.block);
}

/* Bytes that a simulation takes. */
static void* measured_alloc(size_t bytes, void* user) {
  size_t* most = user;
  most[0] += bytes;
  most[1] = most[0] > most[1] ? most[0] : most[1];
  const saltus_allocator usual = saltus_allocator_default();
  return usual.alloc(bytes, usual.user);
}

static void measured_free(void* block, size_t bytes, void* user) {
  ((size_t*)user)[0] -= bytes;
  const saltus_allocator usual = saltus_allocator_default();
  usual.free(block, bytes, usual.user);
}

/* 20 000 feet under one beam: W would have 12.8 GB. It slides to the right with mu = 0.2, from 1 m/s. */
static void twenty_thousand_contacts_on_one_body_take_little_memory(void** state) {
  (void)state;
  rig r;
  beam(&r, 20000, 0.2);
  r.v[0] = 1.0;
  size_t most[2] = {0};
  const saltus_allocator memory = {measured_alloc, measured_free, most};
  saltus_kept_message kept = {0};
  const saltus_sim_def def = {.system = &r.system,
                              .scheme = "moreau-jean",
                              .h = 0.001,
                              .q0 = r.q,
                              .v0 = r.v,
                              .allocator = &memory,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  saltus_status status = saltus_sim_run(sim, 2);
  if (status != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  assert_near(saltus_sim_v(sim)[0], 1.0 - 0.2 * 9.81 * 0.002, 1e-9);
  assert_near(saltus_sim_v(sim)[1], 0.0, 1e-9);
  assert_in_range(most[1], 1, 200000000);
  saltus_sim_destroy(sim);
  rig_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_w_velocities_are_those_with_it),
      cmocka_unit_test(without_w_a_body_that_bends_moves_as_with_it),
      cmocka_unit_test(twenty_thousand_contacts_on_one_body_take_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
