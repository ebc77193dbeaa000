/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bilateral rows in large sparse complementarity problems: chains of point masses in the plane, held
 * together by rods, some of which meet the floor. Rows are rods first, then one contact a mass:
 *
 *   rod k       d_k . (v_(k+1) - v_k) = 0,   d_k of random direction
 *   contact k   0 <= (v_k)_y  perp  impulse >= 0
 *
 * Residuals are recomputed here.
 */
#include "saltus_test.h"

#include "saltus/contact.h"

#include <stdlib.h>

/* Entries of one row, columns ascending. */
enum { WIDEST = 12 };

typedef struct chain {
  saltus_lcp lcp;
  int* start;
  int* column;
  double* values;
  double *q, *z, *w;
} chain;

/* Rows of G: at most two masses, two directions each. */
typedef struct row {
  int mass[2];
  double x[2], y[2];
} row;

typedef struct chain_def {
  int masses;
  int copies;      /* of every rod */
  double disagree; /* m/s, between the copies of the first rod */
  bool saddle;     /* velocities as unknowns of their own: rods and contacts without diagonal */
} chain_def;

static void take(chain* c, int n, size_t entries) {
  c->start = calloc((size_t)n + 1, sizeof(int));
  c->column = calloc(entries, sizeof(int));
  c->values = calloc(entries, sizeof(double));
  c->q = calloc((size_t)n, sizeof(double));
  c->z = calloc((size_t)n, sizeof(double));
  c->w = calloc((size_t)n, sizeof(double));
  assert_true(c->start != NULL && c->column != NULL && c->values != NULL);
  assert_true(c->q != NULL && c->z != NULL && c->w != NULL);
  c->lcp = (saltus_lcp){.n = n, .sparse = {n, n, c->start, c->column, c->values}, .q = c->q};
}

static void drop(chain* c) {
  free(c->start);
  free(c->column);
  free(c->values);
  free(c->q);
  free(c->z);
  free(c->w);
}

/* G and the free velocities: rods first, copies one after the other, then contacts. */
static row* make_rows(const chain_def* def, double* v, double* mass) {
  int rods = (def->masses - 1) * def->copies;
  row* rows = calloc((size_t)(rods + def->masses), sizeof *rows);
  assert_non_null(rows);
  uint64_t seed = 21;
  for (int k = 0; k < def->masses; k++) {
    mass[k] = 0.5 + saltus_test_random(&seed);
    v[2 * k] = 2.0 * saltus_test_random(&seed) - 1.0;
    v[2 * k + 1] = saltus_test_random(&seed) - 0.7;
    rows[rods + k] = (row){{k, -1}, {0.0, 0.0}, {1.0, 0.0}};
  }
  for (int k = 0; k + 1 < def->masses; k++) {
    double angle = 1.2 * saltus_test_random(&seed) - 0.6;
    for (int c = 0; c < def->copies; c++) {
      rows[k * def->copies + c] =
          (row){{k, k + 1}, {-cos(angle), cos(angle)}, {-sin(angle), sin(angle)}};
    }
  }
  return rows;
}

static double product(const row* a, const row* b, const double* mass) {
  double sum = 0.0;
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      if (a->mass[i] >= 0 && a->mass[i] == b->mass[j]) {
        sum += (a->x[i] * b->x[j] + a->y[i] * b->y[j]) / mass[a->mass[i]];
      }
    }
  }
  return sum;
}

static double velocity(const row* a, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < 2; i++) {
    sum += a->mass[i] >= 0 ? a->x[i] * v[2 * a->mass[i]] + a->y[i] * v[2 * a->mass[i] + 1] : 0.0;
  }
  return sum;
}

/* W = G M^-1 G^T, q = G v */
static void fill_operator(chain* c, const chain_def* def, const row* rows, const double* mass,
                          const double* v) {
  int rods = (def->masses - 1) * def->copies;
  int n = rods + def->masses;
  take(c, n, (size_t)n * (size_t)(3 * def->copies + WIDEST));
  c->lcp.bilateral = rods;
  int used = 0;
  for (int i = 0; i < n; i++) {
    int first = rows[i].mass[0] - 1; /* masses whose rods may meet this row */
    int last = rows[i].mass[1] >= 0 ? rows[i].mass[1] : rows[i].mass[0];
    for (int side = 0; side < 2; side++) {
      int from = side == 0 ? first * def->copies : rods + first + 1;
      int to = side == 0 ? (last + 1) * def->copies : rods + last + 1;
      from = from > (side == 0 ? 0 : rods) ? from : (side == 0 ? 0 : rods);
      to = to < (side == 0 ? rods : n) ? to : (side == 0 ? rods : n);
      for (int j = from; j < to; j++) {
        double value = product(&rows[i], &rows[j], mass);
        if (value != 0.0) {
          c->column[used] = j;
          c->values[used++] = value;
        }
      }
    }
    c->start[i + 1] = used;
    c->q[i] = velocity(&rows[i], v);
  }
}

/* m v' - G^T z = m v;  rods G v' = 0;  contacts 0 <= G v' perp z >= 0 */
static void fill_saddle(chain* c, const chain_def* def, const row* rows, const double* mass,
                        const double* v) {
  int masses = def->masses;
  int rods = (masses - 1) * def->copies;
  int n = 2 * masses + rods + masses;
  take(c, n, (size_t)n * (size_t)(2 * def->copies + WIDEST));
  c->lcp.bilateral = 2 * masses + rods;
  int used = 0;
  for (int i = 0; i < 2 * masses; i++) {
    int k = i / 2;
    c->column[used] = i;
    c->values[used++] = mass[k];
    /* rods of the mass below and of this one, then its contact */
    int first = k > 0 ? (k - 1) * def->copies : 0;
    int end = (k + 1) * def->copies < rods ? (k + 1) * def->copies : rods;
    for (int r = first; r <= end; r++) {
      int at = r < end ? r : rods + k;
      for (int e = 0; e < 2; e++) {
        const row* g = &rows[at];
        double entry = g->mass[e] == k ? (i % 2 == 0 ? g->x[e] : g->y[e]) : 0.0;
        if (entry != 0.0) {
          c->column[used] = 2 * masses + at;
          c->values[used++] = -entry;
        }
      }
    }
    c->start[i + 1] = used;
    c->q[i] = -mass[k] * v[i];
  }
  for (int r = 0; r < rods + masses; r++) {
    for (int e = 0; e < 2 && rows[r].mass[e] >= 0; e++) {
      c->column[used] = 2 * rows[r].mass[e];
      c->values[used++] = rows[r].x[e];
      c->column[used] = 2 * rows[r].mass[e] + 1;
      c->values[used++] = rows[r].y[e];
    }
    c->start[2 * masses + r + 1] = used;
  }
}

static chain make_chain(const chain_def* def) {
  chain c = {0};
  double* v = calloc((size_t)def->masses * 3, sizeof(double));
  assert_non_null(v);
  double* mass = v + 2 * def->masses;
  row* rows = make_rows(def, v, mass);
  if (def->saddle) {
    fill_saddle(&c, def, rows, mass, v);
    c.q[2 * def->masses] += def->disagree;
  } else {
    fill_operator(&c, def, rows, mass, v);
    c.q[0] += def->disagree;
  }
  free(rows);
  free(v);
  return c;
}

/* |(w_b, min(z, w))| / |q| */
static double miss(const chain* c) {
  double sum = 0.0;
  double size = 0.0;
  for (int i = 0; i < c->lcp.n; i++) {
    double w = c->q[i];
    for (int k = c->start[i]; k < c->start[i + 1]; k++) {
      w += c->values[k] * c->z[c->column[k]];
    }
    double one = i < c->lcp.bilateral || w < c->z[i] ? w : c->z[i];
    sum += one * one;
    size += c->q[i] * c->q[i];
  }
  return sqrt(sum) / sqrt(size);
}

static saltus_solve_result solve(const char* name, chain* c, double tol) {
  saltus_lcp_solver* solver;
  const saltus_solver_def def = {.solver = name};
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solve(solver, &c->lcp, tol, c->z, c->w, &result), SALTUS_OK);
  saltus_lcp_solver_destroy(solver);
  if (result.outcome == SALTUS_SOLVED) {
    assert_true(miss(c) <= 1.01 * tol);
  }
  return result;
}

static int closed_contacts(const chain* c) {
  int closed = 0;
  for (int i = c->lcp.bilateral; i < c->lcp.n; i++) {
    closed += c->z[i] > 0.0 ? 1 : 0;
  }
  return closed;
}

static const char* const keepers[] = {"auto", "principal-pivoting", "active-set", "interior-point"};
enum { KEEPERS = sizeof keepers / sizeof keepers[0] };

/* The same problem with a dense matrix, whose bilateral rows are eliminated: W is definite, so z is
 * unique. Condition some 1e5: 1e-11 of |q| in w leaves 1e-6 in z. */
static void the_sparse_way_agrees_with_elimination(void** state) {
  (void)state;
  const chain_def def = {.masses = 300, .copies = 1};
  chain c = make_chain(&def);
  int n = c.lcp.n;
  double* M = calloc((size_t)n * (size_t)n, sizeof(double));
  double* z = calloc((size_t)n * 2, sizeof(double));
  assert_true(M != NULL && z != NULL && n > 500);
  for (int i = 0; i < n; i++) {
    for (int k = c.start[i]; k < c.start[i + 1]; k++) {
      M[(size_t)i * (size_t)n + (size_t)c.column[k]] = c.values[k];
    }
  }
  const saltus_lcp dense = {.n = n, .bilateral = c.lcp.bilateral, .M = M, .q = c.q};
  const saltus_solver_def any = {0};
  saltus_lcp_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&any, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solve(solver, &dense, 1e-11, z, z + n, &result), SALTUS_OK);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  saltus_lcp_solver_destroy(solver);
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, (size_t)n * sizeof(double));
    assert_int_equal(solve(keepers[k], &c, 1e-11).outcome, SALTUS_SOLVED);
    for (int i = 0; i < n; i++) {
      assert_near(c.z[i], z[i], 1e-6);
    }
    assert_true(closed_contacts(&c) > 50 && closed_contacts(&c) < 250);
  }
  free(M);
  free(z);
  drop(&c);
}

/* Ten thousand masses: 19 999 rows, cold and with the last answer as guess. */
static void long_chains_are_solved(void** state) {
  (void)state;
  const chain_def def = {.masses = 10000, .copies = 1};
  chain c = make_chain(&def);
  assert_int_equal(c.lcp.n, 19999);
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, (size_t)c.lcp.n * sizeof(double));
    saltus_solve_result cold = solve(keepers[k], &c, 1e-10);
    print_message("%s: %s\n", keepers[k], cold.stages);
    assert_int_equal(cold.outcome, SALTUS_SOLVED);
  }
  for (int i = 0; i < c.lcp.n; i++) {
    c.q[i] *= 1.5;
  }
  saltus_solve_result warm = solve("auto", &c, 1e-10);
  assert_int_equal(warm.outcome, SALTUS_SOLVED);
  assert_int_equal(warm.iterations, 1); /* its active set is the right one */
  drop(&c);
}

/* Every rod three times: the block of the bilateral rows is singular and the rods share their load. */
static void redundant_rods_are_solved_or_contradict(void** state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    const chain_def same = {.masses = large ? 2000 : 100, .copies = 3};
    chain c = make_chain(&same);
    assert_true((c.lcp.n > 4000) == (large == 1));
    saltus_solve_result r = solve("auto", &c, 1e-9);
    print_message("redundant: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    drop(&c);
    const chain_def other = {.masses = same.masses, .copies = 3, .disagree = 1.0};
    c = make_chain(&other);
    r = solve("auto", &c, 1e-9);
    print_message("contradiction: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_NO_SOLUTION);
    drop(&c);
  }
}

/* Velocities as bilateral unknowns: rods and contacts have nothing on the diagonal. The impulses are
 * those of the other form. */
static void velocities_may_be_unknowns_too(void** state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    chain_def def = {.masses = large ? 3000 : 200, .copies = 1};
    chain c = make_chain(&def);
    def.saddle = true;
    chain s = make_chain(&def);
    assert_int_equal(s.lcp.n, 4 * def.masses - 1);
    assert_int_equal(solve("auto", &c, 1e-11).outcome, SALTUS_SOLVED);
    saltus_solve_result r = solve("auto", &s, 1e-11);
    print_message("saddle: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    for (int i = 0; i < c.lcp.n; i++) {
      assert_near(s.z[2 * def.masses + i], c.z[i], 1e-5);
    }
    drop(&c);
    drop(&s);
  }
}

/* A column of beads of which the lower half is glued together: a band of three diagonals. At rest
 * each joint and contact carries what is above it. */
static void glued_columns_are_solved(void** state) {
  (void)state;
  enum { N = 6000 };
  chain c = {0};
  take(&c, N, 3 * (size_t)N);
  c.lcp.bilateral = N / 2;
  int used = 0;
  for (int i = 0; i < N; i++) {
    for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
      c.column[used] = j;
      c.values[used++] = j != i ? -1.0 : i == 0 ? 1.0 : 2.0;
    }
    c.start[i + 1] = used;
  }
  c.q[0] = -1.0;
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, N * sizeof(double));
    saltus_solve_result r = solve(keepers[k], &c, 1e-9); /* 4 eps n sqrt(n) of |q| is 4e-10 */
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    for (int i = 0; i < N; i++) {
      assert_near(c.z[i], N - i, 1e-6 * N);
    }
  }
  drop(&c);
}

/* What cannot be had is said, with what could be done. */
static void too_many_rows_to_eliminate_are_refused(void** state) {
  (void)state;
  const chain_def def = {.masses = 2500, .copies = 1};
  chain c = make_chain(&def);
  static const char* const others[] = {"lemke", "enumeration"};
  for (int k = 0; k < 2; k++) {
    saltus_kept_message heard = {0};
    const saltus_solver_def with = {.solver = others[k], .log = saltus_log_keep(&heard)};
    saltus_lcp_solver* solver;
    saltus_solve_result result;
    assert_int_equal(saltus_lcp_solver_create(&with, &solver), SALTUS_OK);
    assert_int_equal(saltus_lcp_solve(solver, &c.lcp, 1e-8, c.z, c.w, &result), SALTUS_ERR_INPUT);
    assert_says(heard, "4000 rows");
    saltus_lcp_solver_destroy(solver);
  }
  drop(&c);
}

static void nothing_is_allocated_after_setup(void** state) {
  (void)state;
  const chain_def def = {.masses = 400, .copies = 1};
  chain c = make_chain(&def);
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  const saltus_solver_def with = {.allocator = &allocator};
  saltus_lcp_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&with, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solver_setup(solver, &c.lcp), SALTUS_OK);
  int calls = count.calls;
  for (int k = 0; k < 3; k++) {
    c.q[5] += 0.1;
    assert_int_equal(saltus_lcp_solve(solver, &c.lcp, 1e-10, c.z, c.w, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    assert_true(miss(&c) <= 1.01e-10);
  }
  assert_int_equal(count.calls, calls);
  saltus_lcp_solver_destroy(solver);
  assert_int_equal(count.live, 0);
  drop(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sparse_way_agrees_with_elimination),
      cmocka_unit_test(long_chains_are_solved),
      cmocka_unit_test(redundant_rods_are_solved_or_contradict),
      cmocka_unit_test(velocities_may_be_unknowns_too),
      cmocka_unit_test(glued_columns_are_solved),
      cmocka_unit_test(too_many_rows_to_eliminate_are_refused),
      cmocka_unit_test(nothing_is_allocated_after_setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
