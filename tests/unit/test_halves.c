/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_halves.c - work in two halves: the pair of threads, the cut of W, and planar contacts.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "base/pair.h"
#include "saltus/problem_file.h"
#include "solve/halves.h"

#include <stdlib.h>

typedef struct tally {
  int calls[2];
} tally;

static void count_half(void* user, int half) {
  tally* t = user;
  t->calls[half]++;
}

/* Ten thousand jobs: none lost, none twice, and each one ended when the call returns. */
static void each_half_runs_once_per_job(void** state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    saltusi_pair pair;
    tally t = {0};
    saltusi_pair_open(&pair, threads);
    assert_true(pair.two == (threads == 2));
    for (int k = 0; k < 10000; k++) {
      saltusi_pair_run(&pair, count_half, &t);
      assert_int_equal(t.calls[0], k + 1);
      assert_int_equal(t.calls[1], k + 1);
    }
    saltusi_pair_close(&pair);
    assert_false(pair.two);
  }
}

static void a_pair_without_work_closes(void** state) {
  (void)state;
  saltusi_pair pair;
  saltusi_pair_open(&pair, 2);
  saltusi_pair_close(&pair);
  saltusi_pair_close(&pair);
}

/* A friction problem that owns its arrays, all contacts of d rows. */
typedef struct owned {
  saltus_friction_problem problem;
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
             .mu = calloc(n, sizeof(double))};
  assert_true(o.offset && o.start && o.unit && o.place && o.values && o.q && o.mu);
  for (int i = 0; i <= units; i++) {
    o.offset[i] = d * i;
  }
  for (int e = 0; e <= blocks; e++) {
    o.place[e] = d * d * e;
  }
  o.problem = (saltus_friction_problem){
      .W = {units, o.offset, o.start, o.unit, o.place, o.values}, .q = o.q, .mu = o.mu};
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

static owned shuffled_packing(bool shuffle) {
  packing_def def = packing_def_default();
  def.nx = def.ny = 5;
  def.nz = 24;
  packing p;
  saltus_problem_file* local;
  assert_true(packing_create(&def, &p));
  assert_int_equal(saltus_global_friction_reduce(&p.problem, (saltus_log){0}, NULL, &local),
                   SALTUS_OK);
  int* to = calloc((size_t)p.contacts, sizeof(int));
  assert_non_null(to);
  uint64_t seed = 5;
  for (int i = 0; i < p.contacts; i++) {
    int k = shuffle ? (int)(packing_random(&seed) * (i + 1)) : i;
    to[i] = to[k];
    to[k] = i;
  }
  owned o = renumbered(&local->friction, to);
  free(to);
  saltus_problem_file_destroy(local);
  packing_free(&p);
  return o;
}

/* Pattern, case and halves of a problem, in one block. */
typedef struct prepared {
  void* block;
  saltusi_friction_pattern pattern;
  saltusi_friction_case in;
  saltusi_halves halves;
} prepared;

static void lay_out(prepared* p, const owned* o, saltus_arena* arena) {
  saltusi_friction_pattern_layout(&p->pattern, &o->problem, arena);
  saltusi_friction_case_layout(&p->in, &o->problem, arena);
  saltusi_halves_layout(&p->halves, &o->problem, arena);
}

static void prepare(prepared* p, const owned* o) {
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, o, &arena);
  p->block = malloc(arena.used + SALTUS_ALIGNMENT);
  assert_non_null(p->block);
  arena = saltus_arena_over(p->block, arena.used + SALTUS_ALIGNMENT);
  lay_out(p, o, &arena);
  assert_int_equal(saltusi_friction_pattern_fill(&p->pattern, &o->problem, (saltus_log){0}),
                   SALTUS_OK);
  p->in.pattern = &p->pattern;
  p->in.values = o->values;
  p->in.q = o->q;
  p->in.mu = o->mu;
  saltusi_friction_case_prepare(&p->in);
  saltusi_halves_number(&p->halves, &p->pattern);
}

static int part_of(const saltusi_halves* h, int place) {
  return place < h->first[1] ? 0 : (place < h->first[2] ? 1 : 2);
}

/* Whatever the numbering: a permutation, no block between the halves, halves nearly equal, the
 * interface a few layers of the 24, and half of the blocks beside the diagonal kept. */
static void the_cut_separates_two_halves(void** state) {
  (void)state;
  for (int shuffle = 0; shuffle < 2; shuffle++) {
    owned o = shuffled_packing(shuffle == 1);
    prepared p;
    prepare(&p, &o);
    const saltusi_halves* h = &p.halves;
    int units = o.problem.W.units;
    assert_int_equal(h->units, units);
    for (int i = 0; i < units; i++) {
      assert_true(h->place[i] >= 0 && h->place[i] < units && h->unit[h->place[i]] == i);
      for (int e = o.start[i]; e < o.start[i + 1]; e++) {
        int a = part_of(h, h->place[i]);
        int b = part_of(h, h->place[o.unit[e]]);
        assert_true(a == b || a == 2 || b == 2);
      }
    }
    int interface = h->first[3] - h->first[2];
    assert_int_equal(h->first[3], units);
    assert_true(interface > 0 && interface <= units / 6);
    assert_true(abs(h->first[1] - (h->first[2] - h->first[1])) <= units / 20);
    assert_int_equal(h->start[units], (o.start[units] - units) / 2);
    free(p.block);
    release(&o);
  }
}

/* A block that differs from its mate by more than single precision, and one beyond its range. */
static void unsymmetric_and_huge_matrices_are_left_alone(void** state) {
  (void)state;
  owned o = shuffled_packing(false);
  prepared p;
  prepare(&p, &o);
  assert_true(saltusi_halves_fill(&p.halves, &p.in));
  double kept = o.values[9];
  assert_int_equal(o.unit[1], 1); /* values[9] is beside the diagonal */
  o.values[9] = kept + 1e-5;
  assert_false(saltusi_halves_fill(&p.halves, &p.in));
  o.values[9] = 1e300;
  assert_false(saltusi_halves_fill(&p.halves, &p.in));
  o.values[9] = NAN;
  assert_false(saltusi_halves_fill(&p.halves, &p.in));
  o.values[9] = kept;
  assert_true(saltusi_halves_fill(&p.halves, &p.in));
  free(p.block);
  release(&o);
}

/* The portfolio solves to 1e-4, by a residual recomputed here; with halved sweeps or without. */
static void is_solved(const saltus_friction_problem* problem, bool halved) {
  size_t rows = (size_t)problem->W.offset[problem->W.units];
  double* r = calloc(2 * rows, sizeof(double));
  assert_non_null(r);
  const saltus_solver_def def = {.solver = "auto"};
  saltus_friction_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_friction_solver_create(&def, &solver), SALTUS_OK);
  assert_int_equal(saltus_friction_solve(solver, problem, 1e-4, r, r + rows, &result), SALTUS_OK);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  assert_true(saltus_friction_residual(problem, r, r + rows).normalised <= 1e-4);
  assert_int_equal(strstr(result.stages, "halved-sweeps") != NULL, halved);
  saltus_friction_solver_destroy(solver);
  free(r);
}

static void any_numbering_is_solved(void** state) {
  (void)state;
  owned o = shuffled_packing(true);
  is_solved(&o.problem, true);
  release(&o);
}

/* An unsymmetric W goes to the other methods, which know nothing of halves. */
static void unsymmetric_problems_are_solved_otherwise(void** state) {
  (void)state;
  owned o = shuffled_packing(false);
  o.values[9] += 1e-5;
  is_solved(&o.problem, false);
  release(&o);
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
  is_solved(&o.problem, true);
  release(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_half_runs_once_per_job),
      cmocka_unit_test(a_pair_without_work_closes),
      cmocka_unit_test(the_cut_separates_two_halves),
      cmocka_unit_test(unsymmetric_and_huge_matrices_are_left_alone),
      cmocka_unit_test(any_numbering_is_solved),
      cmocka_unit_test(unsymmetric_problems_are_solved_otherwise),
      cmocka_unit_test(planar_contacts_are_swept_as_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
