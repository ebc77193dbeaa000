/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_thread_pool.c - jobs shared by threads: none lost, none twice, all ended on return.
 */
#include "saltus_test.h"

#include "thread_pool/thread_pool.h"

#include <stdlib.h>

enum { JOBS = 37 };

typedef struct tally {
  int calls[JOBS];
  int given[2]; /* written by the caller before a run, by jobs in turn */
  int seen[JOBS];
} tally;

static void count_job(void* context, int job) {
  tally* t = context;
  t->calls[job]++;
  t->seen[job] = t->given[0] + t->given[1];
}

/* A team of its own memory. */
typedef struct owned {
  void* block;
  saltusi_thread_pool* team;
} owned;

static owned make_team(void) {
  saltus_arena arena = saltus_arena_counting();
  assert_null(saltusi_thread_pool_layout(&arena));
  owned o = {.block = malloc(arena.used + SALTUS_ALIGNMENT)};
  assert_non_null(o.block);
  arena = saltus_arena_over(o.block, arena.used + SALTUS_ALIGNMENT);
  o.team = saltusi_thread_pool_layout(&arena);
  return o;
}

/* Thousands of runs with as many jobs as threads, fewer and more; every job sees what the caller wrote
 * before the run, and the caller what they wrote. */
static void each_job_runs_once_per_run(void** state) {
  (void)state;
  static const int threads[] = {1, 2, 3, 8};
  for (int n = 0; n < 4; n++) {
    owned o = make_team();
    tally t = {0};
    int expected[JOBS] = {0};
    saltusi_thread_pool_open(o.team, threads[n]);
    assert_int_equal(saltusi_thread_pool_size(o.team), saltus_has("threads") ? threads[n] : 1);
    for (int k = 0; k < 3000; k++) {
      int jobs = k % (JOBS + 1);
      t.given[k % 2] = k;
      saltusi_thread_pool_run(o.team, jobs, count_job, &t);
      for (int j = 0; j < JOBS; j++) {
        expected[j] += j < jobs ? 1 : 0;
        assert_int_equal(t.calls[j], expected[j]);
        assert_true(j >= jobs || t.seen[j] == t.given[0] + t.given[1]);
      }
    }
    saltusi_thread_pool_close(o.team);
    assert_int_equal(saltusi_thread_pool_size(o.team), 1);
    free(o.block);
  }
}

/* Nothing to do, closed twice, opened again; closed teams still do their jobs. */
static void teams_open_and_close(void** state) {
  (void)state;
  owned o = make_team();
  tally t = {0};
  for (int k = 0; k < 3; k++) {
    saltusi_thread_pool_open(o.team, 4);
    saltusi_thread_pool_close(o.team);
    saltusi_thread_pool_close(o.team);
    saltusi_thread_pool_run(o.team, JOBS, count_job, &t);
    assert_int_equal(t.calls[JOBS - 1], k + 1);
  }
  free(o.block);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_job_runs_once_per_run),
      cmocka_unit_test(teams_open_and_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
