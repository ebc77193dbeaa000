/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The structure of a system: what is refused, what the checker finds, joints of several rows, and that A
 * by blocks is A.
 */
#include "saltus_test.h"

#include "bodies.h"
#include "operator/joints.h"

#include <stdlib.h>

enum { FEW = 5 };

/* Springs between 0-1, 1-2, 0-3; pins 2-4 and 3-4; three contacts. */
static bodies few(void) {
  return (bodies){.count = FEW,
                  .springs = 3,
                  .spring = {0, 1, 1, 2, 0, 3},
                  .pins = 2,
                  .pin = {2, 4, 3, 4},
                  .contacts = 3,
                  .k = 30.0,
                  .k3 = 5.0,
                  .c = 0.7,
                  .g = 9.81};
}

static void place(int count, double* q, double* v) {
  for (int i = 0; i < 3 * count; i++) {
    q[i] = 0.5 + 0.3 * sin(2.1 * i);
    v[i] = cos(1.7 * i);
  }
}

static saltus_status check(const saltus_system* sys, saltus_system_check_result* result) {
  double q[3 * FEW], v[3 * FEW];
  place(FEW, q, v);
  return saltus_system_check(sys, 0.2, q, v, (saltus_log){0}, result);
}

static saltus_system few_system(bodies* b, unsigned form) {
  double q[3 * FEW], v[3 * FEW];
  place(FEW, q, v);
  return bodies_system(b, form, q);
}

/* 1e-11: the cube of a spring under sixth-order differences, and blocks to rounding. */
static void every_form_of_a_system_passes_the_checker(void** state) {
  (void)state;
  static bodies b;
  for (unsigned form = 0; form < 16; form++) {
    b = few();
    saltus_system sys = few_system(&b, form);
    saltus_system_check_result result;
    assert_int_equal(check(&sys, &result), SALTUS_OK);
    assert_near(result.worst, 0.0, 1e-11);
    assert_true(result.traits_hold);
    assert_true((form & 3U) == 0 ? isnan(result.blocks) : result.blocks <= 1e-14);
  }
}

static void wrong_blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                         double* values) {
  const bodies* b = self;
  memset(values, 0, (size_t)(9 * b->count + 18 * b->springs) * sizeof(double));
  (void)at;
  (void)fv;
  (void)fq;
  for (int i = 0; i < b->count; i++) {
    values[9 * i] = m;
  }
}

static void wrong_second_row(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const bodies* b = self;
  const int x = 3 * b->pin[2 * i];
  rows->G[x] = 1.0;
  rows->G[rows->stride + x + 1] = 0.9; /* is 1 */
  (void)at;
}

static void the_checker_finds_wrong_blocks_and_rows(void** state) {
  (void)state;
  static bodies b;
  saltus_system_check_result result;
  b = few();
  saltus_system sys = few_system(&b, BODIES_BLOCKS);
  b.ops.blocks = wrong_blocks;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.blocks > 0.1);
  assert_string_equal(result.where, "blocks");

  /* a spring that the structure does not know */
  b = few();
  sys = few_system(&b, BODIES_STRUCTURE);
  b.structure.pairs = 2;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.blocks > 0.1);

  /* the second row of a joint alone */
  b = few();
  sys = few_system(&b, 0);
  b.ops.joint = wrong_second_row;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.normal_G > 0.01);
}

static void structures_that_are_none_are_refused(void** state) {
  (void)state;
  static bodies b;
  b = few();
  saltus_kept_message kept;
  saltus_system sys = few_system(&b, BODIES_BLOCKS);
  const saltus_structure good = b.structure;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_OK);

  const struct {
    saltus_structure structure;
    const char* says;
  } bad[] = {
      {{0, good.start, 0, NULL}, "structure.blocks is 0, must be 1 to dims.nv = 15"},
      {{2, (const int[]){0, 9, 14}, 0, NULL},
       "structure.start goes from 0 to 14, must go from 0 to dims.nv = 15"},
      {{2, (const int[]){1, 9, 15}, 0, NULL}, "structure.start goes from 1 to 15"},
      {{3, (const int[]){0, 9, 9, 15}, 0, NULL},
       "structure.start[1] is 9 and start[2] is 9, must ascend"},
      {{5, good.start, -1, NULL}, "structure.pairs is -1 and must be at least 0"},
      {{5, good.start, 1, NULL}, "structure.pairs is 1 but structure.pair is missing"},
      {{5, good.start, 2, (const int[]){0, 1, 3, 3}},
       "pair 1 of the structure is (3, 3), must be i < j in 0 to 4"},
      {{5, good.start, 2, (const int[]){0, 1, 3, 5}}, "pair 1 of the structure is (3, 5)"},
      {{5, good.start, 3, (const int[]){1, 4, 0, 1, 1, 4}},
       "the pair (1, 4) of the structure is there twice"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    b.structure = bad[i].structure;
    assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
    assert_says(kept, bad[i].says);
  }
  sys.structure = NULL;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"structure\" is missing: the callback \"blocks\" writes on it");
}

static void joints_that_leave_rows_out_are_refused(void** state) {
  (void)state;
  static bodies b;
  b = few();
  saltus_kept_message kept;
  saltus_system sys = few_system(&b, 0);
  assert_int_equal(sys.dims.nj, 4);
  sys.joint_count = 1;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_first goes from 0 to 2, must go from 0 to dims.nj = 4");
  sys.joint_count = 2;
  sys.joint_first = (const int[]){0, 0, 4};
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_first[0] is 0 and joint_first[1] is 0, must ascend");
  sys.joint_count = -1;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_count is -1, must be at least 0");
}

static void rows_of_joints_are_found(void** state) {
  (void)state;
  static const int first[] = {0, 3, 4, 9};
  const saltus_system sys = {.dims = {.nj = 9}, .joint_count = 3, .joint_first = first};
  static const int joint[9] = {0, 0, 0, 1, 2, 2, 2, 2, 2};
  for (int row = 0; row < 9; row++) {
    assert_int_equal(saltusi_joint_of(&sys, row), joint[row]);
  }
  assert_int_equal(saltusi_joint_rows_most(&sys), 5);
  const saltus_system single = {.dims = {.nj = 9}};
  assert_int_equal(saltusi_joint_of(&single, 7), 7);
  assert_int_equal(saltusi_joint_rows_most(&single), 1);
}

/* An evaluation and a matrix in memory that was not zero. */
typedef struct made {
  saltusi_eval eval;
  saltusi_linear linear;
  void* block;
} made;

static void make_layout(made* m, saltus_arena* arena) {
  saltusi_eval_layout(&m->eval, arena);
  saltusi_linear_layout(&m->linear, &m->eval.sys, arena);
}

static size_t make(made* m, const saltus_system* sys) {
  *m = (made){.eval = {.sys = *sys}};
  saltus_arena arena = saltus_arena_counting();
  make_layout(m, &arena);
  const size_t bytes = arena.used;
  m->block = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  memset(m->block, 0x5a, bytes);
  arena = saltus_arena_over(m->block, bytes);
  make_layout(m, &arena);
  assert_int_equal(arena.used, bytes);
  return bytes;
}

enum { MANY = 40 };

/* Chain, star, ring, loose pairs with single bodies between them, no springs. */
static void connect(bodies* b, int shape) {
  b->springs = 0;
  for (int i = 0; i < b->count; i++) {
    const int from[] = {i - 1, 0, i - 1, i - 10};
    const bool there[] = {i > 0, i > 0, i > 0, i >= 10 && i % 10 < 3};
    if (shape < 4 && there[shape]) {
      b->spring[2 * b->springs] = from[shape];
      b->spring[2 * b->springs++ + 1] = i;
    }
  }
  if (shape == 2) {
    b->spring[2 * b->springs] = 0;
    b->spring[2 * b->springs++ + 1] = b->count - 1;
  }
}

/* Columns that a row of bodies i and j may reach: their components when coupled, else themselves. */
static bool reaches(int shape, bool coupled, int body, int i, int j) {
  if (!coupled || shape == 4) {
    return body == i || body == j;
  }
  if (shape == 3) {
    const bool loose = body % 10 < 3;
    return body == i || body == j ||
           (loose && ((i % 10 < 3 && body % 10 == i % 10) || (j % 10 < 3 && body % 10 == j % 10)));
  }
  return true;
}

static void compare_with_dense(const made* dense, const made* other, int shape, bool coupled) {
  enum { NV = 3 * MANY };
  double x[NV], y[NV], full[NV] = {0}, mass[NV], same[NV];
  for (int i = 0; i < NV; i++) {
    x[i] = y[i] = sin(3.0 * i + 1.0);
  }
  const saltus_point at = {.t = 0.0};
  saltusi_linear_mass_times(&dense->eval, &dense->linear, &at, x, mass);
  saltusi_linear_mass_times(&other->eval, &other->linear, &at, x, same);
  saltusi_linear_solve(&dense->eval, &dense->linear, x);
  saltusi_linear_solve(&other->eval, &other->linear, y);
  for (int i = 0; i < NV; i++) {
    assert_near(y[i], x[i], 1e-14);
    assert_near(same[i], mass[i], 1e-14);
  }
  const int i = 12, j = 25;
  const int column[4] = {3 * i, 3 * i + 2, 3 * j, 3 * j + 1};
  const double entries[4] = {1.0, 0.5, -1.0, 2.0};
  int out_column[NV];
  double out[NV];
  for (int k = 0; k < 4; k++) {
    full[column[k]] = entries[k];
  }
  saltusi_linear_solve(&dense->eval, &dense->linear, full);
  const int width =
      saltusi_linear_solve_row(&other->eval, &other->linear, 4, column, entries, out_column, out);
  assert_true(width <= saltusi_linear_row_workspace(&other->linear, &other->eval.sys, 4));
  int expected = 0;
  for (int body = 0; body < MANY; body++) {
    expected += reaches(shape, coupled, body, i, j) ? 3 : 0;
  }
  assert_int_equal(width, expected);
  for (int k = 0; k < width; k++) {
    assert_true(k == 0 || out_column[k] > out_column[k - 1]);
    assert_near(out[k], full[out_column[k]], 1e-14);
    full[out_column[k]] = 0.0;
  }
  for (int k = 0; k < NV; k++) { /* what was left out is zero */
    assert_near(full[k], 0.0, 0.0);
  }
}

/* The same matrix dense and by blocks, gathered or written; M alone is block-diagonal whatever springs
 * there are. 1e-14: entries of the solutions are below 1, condition numbers below 100. */
static void the_matrix_by_blocks_is_the_dense_one(void** state) {
  (void)state;
  static bodies b;
  double q[3 * MANY], v[3 * MANY];
  place(MANY, q, v);
  for (int shape = 0; shape < 5; shape++) {
    for (unsigned form = BODIES_STRUCTURE; form <= BODIES_BLOCKS; form++) {
      b = (bodies){.count = MANY, .k = 30.0, .k3 = 5.0, .c = 0.7};
      connect(&b, shape);
      saltus_system dense_system = bodies_system(&b, 0, q);
      saltus_system_ops dense_ops = b.ops;
      dense_system.ops = &dense_ops;
      saltus_system sys = bodies_system(&b, form, q);
      made dense, other;
      make(&dense, &dense_system);
      make(&other, &sys);
      for (int coupled = 1; coupled >= 0; coupled--) {
        const double fv = coupled ? -0.05 : 0.0, fq = coupled ? -0.0025 : 0.0;
        const saltus_point at = saltusi_at(&other.eval, 0.0, q, v);
        assert_int_equal(saltusi_linear_assemble(&dense.eval, &dense.linear, &at, 1.0, fv, fq),
                         SALTUS_OK);
        assert_int_equal(saltusi_linear_assemble(&other.eval, &other.linear, &at, 1.0, fv, fq),
                         SALTUS_OK);
        compare_with_dense(&dense, &other, shape, coupled == 1);
      }
      free(dense.block);
      free(other.block);
    }
  }
}

/* Memory of a chain with springs grows with its length, and so does the work of factoring and solving. */
static void a_chain_with_springs_costs_in_proportion(void** state) {
  (void)state;
  static bodies b;
  static double q[3 * 2048], v[3 * 2048];
  double bytes[2], cost[2], solve[2];
  for (int round = 0; round < 2; round++) {
    b = (bodies){.count = round == 0 ? 512 : 2048, .k = 30.0, .c = 0.7};
    connect(&b, 0);
    place(b.count, q, v);
    const saltus_system sys = bodies_system(&b, BODIES_BLOCKS | BODIES_SPARSE, q);
    made m;
    bytes[round] = (double)make(&m, &sys);
    const saltus_point at = saltusi_at(&m.eval, 0.0, q, v);
    assert_int_equal(saltusi_linear_assemble(&m.eval, &m.linear, &at, 1.0, -0.05, -0.0025),
                     SALTUS_OK);
    assert_int_equal(m.linear.blocks.form, SALTUSI_BLOCKS_COUPLED);
    cost[round] = m.linear.blocks.lu.cost;
    solve[round] = m.linear.blocks.lu.solve_cost;
    free(m.block);
  }
  assert_near(bytes[1] / bytes[0], 4.0, 0.02);
  assert_near(cost[1] / cost[0], 4.0, 0.02);
  assert_near(solve[1] / solve[0], 4.0, 0.02);
}

/* 1500 pairs of bodies, each with two pins at one place: 6000 rows in groups of four. A pin that is
 * elsewhere than its twin is found among them, and their memory is that of groups. */
static void a_contradiction_is_found_among_thousands_of_joints(void** state) {
  (void)state;
  enum { PINS = 3000, ODD = 1401 };
  static bodies b;
  static double q[3 * PINS], v[3 * PINS];
  b = (bodies){.count = PINS, .pins = PINS};
  for (int i = 0; i < PINS; i++) {
    b.pin[2 * i] = i / 2 * 2;
    b.pin[2 * i + 1] = i / 2 * 2 + 1;
  }
  place(PINS, q, v);
  const saltus_system sys = bodies_system(&b, BODIES_BLOCKS | BODIES_SPARSE, q);
  saltusi_eval eval = {.sys = sys};
  saltusi_joints joints;
  saltus_arena arena = saltus_arena_counting();
  saltusi_eval_layout(&eval, &arena);
  saltusi_joints_layout(&joints, &eval, &arena);
  const size_t bytes = arena.used;
  assert_true(bytes < (size_t)120 << 20); /* 3 x 6000^2 numbers would be 860 MB */
  void* block = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  assert_non_null(block);
  arena = saltus_arena_over(block, bytes);
  saltusi_eval_layout(&eval, &arena);
  saltusi_joints_layout(&joints, &eval, &arena);
  for (int odd = 0; odd < 2; odd++) {
    b.pin_at[2 * ODD] += odd == 1 ? 0.5 : 0.0;
    saltusi_contradiction found;
    const saltus_point at = saltusi_at(&eval, 0.0, q, v);
    assert_int_equal(saltusi_joints_contradict(&joints, &eval, &at, false, &found), SALTUS_OK);
    assert_int_equal(found.kind, odd == 1 ? SALTUSI_POSITIONS_DISAGREE : SALTUSI_AGREE);
    assert_int_equal(found.count, odd == 1 ? 2 : 0);
    if (odd == 1) { /* the two rows along x, half of the difference each */
      assert_int_equal(found.joint[0], 2 * (ODD - 1));
      assert_int_equal(found.joint[1], 2 * ODD);
      assert_near(found.miss, 0.25, 1e-12);
    }
  }
  free(block);
}

static void massless(const void* self, const saltus_point* at, double m, double fv, double fq,
                     double* values) {
  const bodies* b = self;
  (void)at;
  (void)fv;
  memset(values, 0, (size_t)(9 * b->count + 18 * b->springs) * sizeof(double));
  for (int i = 0; i < 9 * b->count; i++) { /* the last body has no mass in its second direction */
    values[i] = m * (i % 9 % 4 == 0 && i != 9 * b->count - 5 ? 1.0 : 0.0);
  }
  for (int k = 0; fq != 0.0 && k < 3; k++) { /* one spring that holds nothing */
    values[4 * k] -= fq;
    values[9 + 4 * k] -= fq;
    values[9 * b->count + 4 * k] = fq;
    values[9 * b->count + 9 + 4 * k] = fq;
  }
}

/* Diagonal, block-diagonal and coupled matrices without an inverse; entries that are no numbers. */
static void a_body_without_mass_is_singular(void** state) {
  (void)state;
  static bodies b;
  double q[3 * MANY], v[3 * MANY];
  place(MANY, q, v);
  b = (bodies){.count = MANY, .springs = 1, .spring = {0, 1}};
  saltus_system sys = bodies_system(&b, BODIES_BLOCKS, q);
  b.ops.blocks = massless;
  made m;
  make(&m, &sys);
  const saltus_point at = saltusi_at(&m.eval, 0.0, q, v);
  assert_int_equal(saltusi_linear_assemble(&m.eval, &m.linear, &at, 1.0, 0.0, 0.0),
                   SALTUS_ERR_SINGULAR);
  assert_int_equal(saltusi_linear_assemble(&m.eval, &m.linear, &at, 1.0, 0.0, -1.0),
                   SALTUS_ERR_SINGULAR);
  assert_int_equal(saltusi_linear_assemble(&m.eval, &m.linear, &at, NAN, 0.0, -1.0),
                   SALTUS_RETRY_NAN);
  free(m.block);
}

/* The first failure of an evaluation is kept; nobody need ask. */
static void the_first_failure_is_kept(void** state) {
  (void)state;
  saltus_failure failure = {.status = SALTUS_OK};
  saltus_point at = {.failure = &failure};
  saltus_fail(&at, "valve %d is closed", 3);
  saltus_fail(&at, "and more");
  assert_int_equal(failure.status, SALTUS_ERR_SYSTEM);
  assert_string_equal(failure.text, "valve 3 is closed");
  at.failure = NULL;
  saltus_fail(&at, "nobody listens");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_of_a_system_passes_the_checker),
      cmocka_unit_test(the_checker_finds_wrong_blocks_and_rows),
      cmocka_unit_test(structures_that_are_none_are_refused),
      cmocka_unit_test(joints_that_leave_rows_out_are_refused),
      cmocka_unit_test(rows_of_joints_are_found),
      cmocka_unit_test(the_matrix_by_blocks_is_the_dense_one),
      cmocka_unit_test(a_chain_with_springs_costs_in_proportion),
      cmocka_unit_test(a_body_without_mass_is_singular),
      cmocka_unit_test(a_contradiction_is_found_among_thousands_of_joints),
      cmocka_unit_test(the_first_failure_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
