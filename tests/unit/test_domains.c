/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_domains.c - units in domains and colours: the cut, and what sweeps over them solve,
 * with bilateral units and any number of threads.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "saltus/problem_file.h"
#include "solve/friction/domains.h"

#include <stdlib.h>

/* A friction problem that owns its arrays, all contacts of d rows. */
typedef struct owned {
  saltus_friction_problem problem;
  unsigned char* bilateral;
  int* offset;
  int* start;
  int* unit;
  int* place;
  double* values;
  double* q;
  double* mu;
} owned;

static owned allocate(int units, int blocks, int d) {
  size_t n = (size_t)units;
  size_t b = (size_t)blocks;
  size_t rows = (size_t)d;
  owned o = {.offset = calloc(n + 1, sizeof(int)),
             .start = calloc(n + 1, sizeof(int)),
             .unit = calloc(b, sizeof(int)),
             .place = calloc(b + 1, sizeof(int)),
             .values = calloc(b * rows * rows, sizeof(double)),
             .q = calloc(n * rows, sizeof(double)),
             .mu = calloc(n, sizeof(double)),
             .bilateral = calloc(n, 1)};
  assert_true(o.offset && o.start && o.unit && o.place && o.values && o.q && o.mu && o.bilateral);
  for (int i = 0; i <= units; i++) {
    o.offset[i] = d * i;
  }
  for (int e = 0; e <= blocks; e++) {
    o.place[e] = d * d * e;
  }
  o.problem = (saltus_friction_problem){.W = {units, o.offset, o.start, o.unit, o.place, o.values},
                                        .q = o.q,
                                        .mu = o.mu,
                                        .bilateral = o.bilateral};
  return o;
}

static void release(owned* o) {
  free(o->offset);
  free(o->start);
  free(o->unit);
  free(o->place);
  free(o->values);
  free(o->q);
  free(o->mu);
  free(o->bilateral);
}

/* The same contacts, numbered anew: unit i becomes unit to[i]. */
static owned renumbered(const saltus_friction_problem* p, const int* to) {
  const saltus_block_matrix* W = &p->W;
  int units = W->units;
  owned o = allocate(units, W->start[units], 3);
  int* from = calloc((size_t)units, sizeof(int));
  int* entry = calloc((size_t)units, sizeof(int));
  assert_true(from && entry);
  for (int i = 0; i < units; i++) {
    from[to[i]] = i;
    entry[i] = -1;
  }
  int block = 0;
  for (int k = 0; k < units; k++) {
    int i = from[k];
    memcpy(o.q + 3 * k, p->q + 3 * i, 3 * sizeof(double));
    o.mu[k] = p->mu[i];
    for (int e = W->start[i]; e < W->start[i + 1]; e++) {
      entry[to[W->unit[e]]] = e;
    }
    for (int l = 0; l < units; l++) { /* ascending */
      if (entry[l] >= 0) {
        memcpy(o.values + 9 * block, W->values + W->place[entry[l]], 9 * sizeof(double));
        o.unit[block++] = l;
        entry[l] = -1;
      }
    }
    o.start[k + 1] = block;
  }
  free(from);
  free(entry);
  return o;
}

static owned shuffled_packing(int along, bool shuffle, double velocity) {
  packing_def def = packing_def_default();
  def.nx = def.ny = along;
  def.nz = 24;
  def.velocity = velocity;
  saltus_problem_file* local = packing_local(&def);
  assert_non_null(local);
  int units = local->friction.W.units;
  int* to = calloc((size_t)units, sizeof(int));
  assert_non_null(to);
  uint64_t seed = 5;
  for (int i = 0; i < units; i++) {
    int k = shuffle ? (int)(packing_random(&seed) * (i + 1)) : i;
    to[i] = to[k];
    to[k] = i;
  }
  owned o = renumbered(&local->friction, to);
  free(to);
  saltus_problem_file_destroy(local);
  return o;
}

/* The bilateral unit that swallows unit i of a packing, 0: none. Every 20th contact and the one after it
 * become one joint of six rows, the 10th behind it one of three. */
static int joint_rows(int i) {
  return i % 20 == 0 || i % 20 == 1 ? 6 : (i % 20 == 10 ? 3 : 0);
}

/* Of the rows of unit i of a packing those that are kept: all, or the normal one where it is smooth. */
static int kept_rows(int i) {
  return i % 7 == 3 && joint_rows(i) == 0 ? 1 : 3;
}

/* Writes the block of old units i and j into a block with `columns` columns. */
static void place_block(const saltus_block_matrix* W, int i, int j, int columns, double* to) {
  for (int e = W->start[i]; e < W->start[i + 1]; e++) {
    for (int k = 0; k < 9 && W->unit[e] == j; k++) {
      if (k / 3 < kept_rows(i) && k % 3 < kept_rows(j)) {
        to[k / 3 * columns + k % 3] = W->values[W->place[e] + k];
      }
    }
  }
}

/* A packing in which contacts were welded or made smooth: units of one, three and six rows. */
static owned welded(const owned* from) {
  const saltus_block_matrix* W = &from->problem.W;
  int old = W->units - W->units % 20;
  int* first = calloc((size_t)old + 1, sizeof(int)); /* old unit of each new one */
  int* owner = calloc((size_t)old, sizeof(int));
  assert_true(first && owner);
  int units = 0;
  for (int i = 0; i < old; i++) {
    if (i % 20 != 1) {
      first[units++] = i;
    }
    owner[i] = units - 1;
  }
  first[units] = old;
  owned o = allocate(units, W->start[W->units], 6); /* more than enough */
  int block = 0;
  for (int a = 0; a < units; a++) {
    int i = first[a];
    int rows = joint_rows(i) > 0 ? joint_rows(i) : kept_rows(i);
    o.offset[a + 1] = o.offset[a] + rows;
    o.bilateral[a] = joint_rows(i) > 0;
    o.mu[a] = from->mu[i];
  }
  for (int a = 0; a < units; a++) {
    int rows = o.offset[a + 1] - o.offset[a];
    unsigned char* met = calloc((size_t)units, 1);
    assert_non_null(met);
    for (int i = first[a]; i < first[a + 1]; i++) {
      memcpy(o.q + o.offset[a] + 3 * (i - first[a]), from->q + 3 * i,
             (size_t)kept_rows(i) * sizeof(double));
      for (int e = W->start[i]; e < W->start[i + 1]; e++) {
        if (W->unit[e] < old) {
          met[owner[W->unit[e]]] = 1;
        }
      }
    }
    for (int b = 0; b < units; b++) {
      if (met[b] == 0) {
        continue;
      }
      int columns = o.offset[b + 1] - o.offset[b];
      double* to = o.values + o.place[block];
      o.unit[block] = b;
      o.place[block + 1] = o.place[block] + rows * columns;
      memset(to, 0, (size_t)(rows * columns) * sizeof(double));
      for (int i = first[a]; i < first[a + 1]; i++) {
        for (int j = first[b]; j < first[b + 1]; j++) {
          place_block(W, i, j, columns, to + 3 * (i - first[a]) * columns + 3 * (j - first[b]));
        }
      }
      block++;
    }
    o.start[a + 1] = block;
    free(met);
  }
  free(first);
  free(owner);
  return o;
}

/* Pattern, case and domains of a problem, in one block. */
typedef struct prepared {
  void* block;
  saltusi_friction_pattern pattern;
  saltusi_friction_case in;
  saltusi_domains domains;
} prepared;

static void lay_out(prepared* p, const owned* o, saltus_arena* arena) {
  saltusi_friction_pattern_layout(&p->pattern, &o->problem, arena);
  saltusi_friction_case_layout(&p->in, &o->problem, arena);
  saltusi_domains_layout(&p->domains, o->problem.W.units, saltusi_friction_unit_max(&o->problem),
                         arena);
}

static void prepare(prepared* p, const owned* o) {
  *p = (prepared){0};
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, o, &arena);
  p->block = malloc(arena.used + SALTUS_ALIGNMENT);
  assert_non_null(p->block);
  arena = saltus_arena_over(p->block, arena.used + SALTUS_ALIGNMENT);
  lay_out(p, o, &arena);
  assert_int_equal(saltusi_friction_pattern_fill(&p->pattern, &o->problem, (saltus_log){0}),
                   SALTUS_OK);
  p->in.pattern = &p->pattern;
  p->in.domains = &p->domains;
  p->in.values = o->values;
  p->in.q = o->q;
  p->in.mu = o->mu;
  saltusi_friction_case_prepare(&p->in);
  saltusi_domains_number(&p->domains, &p->pattern, 0);
}

static int domain_of(const saltusi_domains* d, int place) {
  int k = 0;
  while (place >= d->first[k + 1]) {
    k++;
  }
  return k;
}

static int colour_of(const saltusi_domains* d, int domain) {
  int c = 0;
  while (domain >= d->colour[c + 1]) {
    c++;
  }
  return c;
}

/* Whatever the numbering: a permutation, no block between two domains of one colour, domains of equal
 * work within a few units, and at least two of each colour on average. */
static void domains_of_one_colour_do_not_meet(void** state) {
  (void)state;
  for (int shuffle = 0; shuffle < 2; shuffle++) {
    owned o = shuffled_packing(7, shuffle == 1, 0.0);
    prepared p;
    prepare(&p, &o);
    const saltusi_domains* d = &p.domains;
    int units = o.problem.W.units;
    assert_int_equal(d->units, units);
    assert_true(d->count >= 16 && d->count >= 4 * d->colours);
    assert_int_equal(d->first[d->count], units);
    assert_int_equal(d->colour[d->colours], d->count);
    double cost[SALTUSI_DOMAINS_MOST] = {0};
    for (int i = 0; i < units; i++) {
      assert_true(d->place[i] >= 0 && d->place[i] < units && d->unit[d->place[i]] == i);
      int a = domain_of(d, d->place[i]);
      cost[a] += saltusi_unit_cost(&p.pattern, i);
      for (int e = o.start[i]; e < o.start[i + 1]; e++) {
        int b = domain_of(d, d->place[o.unit[e]]);
        assert_true(a == b || colour_of(d, a) != colour_of(d, b));
      }
    }
    for (int a = 0; a < d->count; a++) {
      double even = p.pattern.sweep_cost / d->count;
      assert_true(fabs(cost[a] - even) <= 1000.0 && 1000.0 < 0.1 * even);
    }
    free(p.block);
    release(&o);
  }
}

/* Fewer units than four domains have are left as they are; and where every unit meets every other. */
static void small_and_full_problems_stay_whole(void** state) {
  (void)state;
  owned o = shuffled_packing(3, false, 0.0);
  prepared p;
  prepare(&p, &o);
  assert_true(o.problem.W.units < 1000);
  assert_int_equal(p.domains.count, 1);
  free(p.block);
  release(&o);
  enum { FULL = 60 };
  o = allocate(FULL, FULL * FULL, 2);
  for (int i = 0; i < FULL; i++) {
    o.start[i + 1] = (i + 1) * FULL;
    for (int j = 0; j < FULL; j++) {
      o.unit[i * FULL + j] = j;
      o.values[4 * (i * FULL + j)] = o.values[4 * (i * FULL + j) + 3] = i == j ? 2.0 : 0.0;
    }
  }
  prepare(&p, &o);
  saltusi_domains_number(&p.domains, &p.pattern, 5);
  assert_int_equal(p.domains.count, 1);
  for (int i = 0; i < FULL; i++) {
    assert_int_equal(p.domains.unit[i], i);
    assert_int_equal(p.domains.place[i], i);
  }
  free(p.block);
  release(&o);
}

/* An answer with all that has to be the same for every number of threads. */
typedef struct answer {
  double* r; /* [2 rows] impulses and velocities */
  saltus_solve_result result;
} answer;

static answer solve(const saltus_friction_problem* problem, double tol, double work, int threads) {
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  answer a = {.r = calloc(2 * rows, sizeof(double))};
  assert_non_null(a.r);
  const saltus_friction_auto_options options = {.work = work, .threads = threads};
  const saltus_solver_def def = {.solver = "auto", .options = &options};
  saltus_friction_solver* solver;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  assert_int_equal(saltus_friction_solve(solver, problem, tol, a.r, a.r + rows, &a.result),
                   SALTUS_OK);
  saltus_friction_solver_destroy(solver);
  return a;
}

/* The portfolio solves to 1e-4 by iterations with momentum alone; by a residual recomputed here. */
static void is_solved(const saltus_friction_problem* problem) {
  answer a = solve(problem, 1e-4, 0.0, 1);
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  assert_int_equal(a.result.outcome, SALTUS_SOLVED);
  assert_true(saltus_friction_residual(problem, a.r, a.r + rows).normalised <= 1e-4);
  assert_non_null(strstr(a.result.stages, "accelerated-gauss-seidel"));
  assert_null(strstr(a.result.stages, ","));
  free(a.r);
}

/* Every bit of impulses, velocities and residual, and the path to them. */
static void bits_do_not_depend_on_threads(const saltus_friction_problem* problem, double tol,
                                          double work) {
  static const int threads[] = {1, 2, 3, 8};
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  answer first = solve(problem, tol, work, 1);
  for (int k = 1; k < 4; k++) {
    answer a = solve(problem, tol, work, threads[k]);
    assert_memory_equal(a.r, first.r, 2 * rows * sizeof(double));
    assert_memory_equal(&a.result.residual, &first.result.residual, sizeof(saltus_residual));
    assert_string_equal(a.result.stages, first.result.stages);
    free(a.r);
  }
  free(first.r);
}

static void any_numbering_is_solved(void** state) {
  (void)state;
  owned o = shuffled_packing(5, true, 0.0);
  is_solved(&o.problem);
  release(&o);
}

/* A block that is not the transpose of its mate, as of bodies that spin. */
static void unsymmetric_problems_are_solved(void** state) {
  (void)state;
  owned o = shuffled_packing(5, false, 0.0);
  o.values[9] += 1e-5;
  is_solved(&o.problem);
  release(&o);
}

/* Joints of three and six rows and smooth contacts between; residuals of joints count as well. */
static void bilateral_units_are_swept_as_well(void** state) {
  (void)state;
  owned packed = shuffled_packing(6, false, 0.05);
  owned o = welded(&packed);
  is_solved(&o.problem);
  bits_do_not_depend_on_threads(&o.problem, 1e-4, 0.0);
  bits_do_not_depend_on_threads(&o.problem, 1e-9, 0.06);
  release(&o);
  release(&packed);
}

/* To 1e-4 by iterations with momentum, beyond by accelerated ones over the same domains,
 * whatever the numbering. */
static void threads_do_not_change_bits(void** state) {
  (void)state;
  for (int shuffle = 0; shuffle < 2; shuffle++) {
    owned o = shuffled_packing(6, shuffle == 1, 0.05);
    if (saltus_test_takes(shuffle)) {
      bits_do_not_depend_on_threads(&o.problem, 1e-4, 0.0);
    }
    bits_do_not_depend_on_threads(&o.problem, 1e-9, 0.06);
    release(&o);
  }
}

enum { WIDE = 20, HIGH = 16, DISCS = WIDE * HIGH };
enum { PLANAR = WIDE + (WIDE - 1) * HIGH + WIDE * (HIGH - 1) };

/* A contact of discs of 1 m and 1 kg: normal (c, s) from body a (-1: ground) to body b. */
typedef struct planar_contact {
  int body[2];
  double c, s;
} planar_contact;

/* Rows of the relative velocity for (x, z, angle) of one of the two bodies. */
static void planar_rows(const planar_contact* k, int side, double rows[2][3]) {
  double sign = side == 0 ? -1.0 : 1.0;
  rows[0][0] = sign * k->c;
  rows[0][1] = sign * k->s;
  rows[0][2] = 0.0;
  rows[1][0] = -sign * k->s;
  rows[1][1] = sign * k->c;
  rows[1][2] = -0.5;
}

/* += J_i M^-1 J_j^T over the bodies that both touch; false when they share none. */
static bool planar_block(const planar_contact* i, const planar_contact* j, double* block) {
  static const double inverse[3] = {1.0, 1.0, 8.0};
  bool shared = false;
  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 2; b++) {
      if (i->body[a] < 0 || i->body[a] != j->body[b]) {
        continue;
      }
      double ri[2][3];
      double rj[2][3];
      planar_rows(i, a, ri);
      planar_rows(j, b, rj);
      shared = true;
      for (int k = 0; k < 12; k++) {
        block[k / 3] += ri[k / 6][k % 3] * inverse[k % 3] * rj[k / 3 % 2][k % 3];
      }
    }
  }
  return shared;
}

static int list_planar(planar_contact* contacts) {
  int n = 0;
  for (int b = 0; b < DISCS; b++) {
    if (b < WIDE) {
      contacts[n++] = (planar_contact){{-1, b}, 0.0, 1.0};
    }
    if (b % WIDE < WIDE - 1) {
      contacts[n++] = (planar_contact){{b, b + 1}, 1.0, 0.0};
    }
    if (b + WIDE < DISCS) {
      contacts[n++] = (planar_contact){{b, b + WIDE}, 0.0, 1.0};
    }
  }
  return n;
}

/* 624 planar contacts of a wall of discs that falls and is pushed. */
static void planar_contacts_are_swept_as_well(void** state) {
  (void)state;
  static planar_contact contacts[PLANAR];
  assert_int_equal(list_planar(contacts), PLANAR);
  owned o = allocate(PLANAR, 7 * PLANAR, 2);
  int block = 0;
  for (int i = 0; i < PLANAR; i++) {
    double rows[2][3];
    o.mu[i] = 0.3;
    for (int side = 0; side < 2; side++) {
      planar_rows(&contacts[i], side, rows);
      int b = contacts[i].body[side];
      for (int k = 0; k < 2 && b >= 0; k++) {
        o.q[2 * i + k] += rows[k][0] * (b % WIDE == 0 ? 0.02 : 0.0) + rows[k][1] * -0.01;
      }
    }
    for (int j = 0; j < PLANAR; j++) {
      assert_true(block < 7 * PLANAR);
      if (planar_block(&contacts[i], &contacts[j], o.values + 4 * block)) {
        o.unit[block++] = j;
      }
    }
    o.start[i + 1] = block;
  }
  is_solved(&o.problem);
  release(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(domains_of_one_colour_do_not_meet),
      cmocka_unit_test(small_and_full_problems_stay_whole),
      cmocka_unit_test(any_numbering_is_solved),
      cmocka_unit_test(unsymmetric_problems_are_solved),
      cmocka_unit_test(bilateral_units_are_swept_as_well),
      cmocka_unit_test(threads_do_not_change_bits),
      cmocka_unit_test(planar_contacts_are_swept_as_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
