/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thread_pool_threads.c - thread_pool.h with POSIX threads.
 *
 * One atomic word holds the number of the run, the number of its jobs and the next free job. The thread that
 * increments it owns that job. The run cannot end before the job, so job and context are valid meanwhile. A thread
 * that wakes late finds another run or no free job in the word and waits again.
 */
#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* Jobs take a fraction of a millisecond, about the cost of waking a thread, so each side spins for
 * some microseconds before it yields the processor, and sleeps after about a millisecond. */
enum { LOOKS = 2000, YIELDS = 3000 };

struct saltusi_thread_pool {
  int helpers; /* threads started */
  pthread_t thread[SALTUSI_TEAM_MOST];
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  _Atomic uint64_t state; /* run (32 bits), jobs (16), next job (16) */
  atomic_int done;        /* completed jobs of the present run */
  atomic_bool closing;
  saltusi_job job;
  void* context;
};

static uint64_t pack(uint32_t run, int jobs, int next) {
  return (uint64_t)run << 32 | (uint64_t)jobs << 16 | (uint64_t)next;
}

static uint32_t run_of(uint64_t state) {
  return (uint32_t)(state >> 32);
}

static int jobs_of(uint64_t state) {
  return (int)(state >> 16 & 0xffff);
}

static int next_of(uint64_t state) {
  return (int)(state & 0xffff);
}

/* Executes jobs of a run until none is left. */
static void work(saltusi_thread_pool* team, uint32_t run) {
  uint64_t state = atomic_load_explicit(&team->state, memory_order_acquire);
  while (run_of(state) == run && next_of(state) < jobs_of(state)) {
    if (!atomic_compare_exchange_weak_explicit(&team->state, &state, state + 1,
                                               memory_order_acq_rel, memory_order_acquire)) {
      continue;
    }
    int jobs = jobs_of(state);
    team->job(team->context, next_of(state));
    if (atomic_fetch_add_explicit(&team->done, 1, memory_order_acq_rel) + 1 == jobs) {
      /* without the mutex the caller could fall asleep between its test and this signal */
      pthread_mutex_lock(&team->mutex);
      pthread_cond_broadcast(&team->changed);
      pthread_mutex_unlock(&team->mutex);
    }
    state = atomic_load_explicit(&team->state, memory_order_acquire);
  }
}

static bool over(saltusi_thread_pool* team, int jobs) {
  return atomic_load_explicit(&team->done, memory_order_acquire) == jobs;
}

/* Another run than `last` has begun, or the pool closes. */
static bool begun(saltusi_thread_pool* team, uint32_t last) {
  return run_of(atomic_load_explicit(&team->state, memory_order_acquire)) != last ||
         atomic_load_explicit(&team->closing, memory_order_acquire);
}

/* Returns once all jobs have ended (jobs >= 0) or another run has begun (jobs < 0). */
static void await(saltusi_thread_pool* team, int jobs, uint32_t last) {
  for (int k = 0; k < LOOKS + YIELDS; k++) {
    if (jobs >= 0 ? over(team, jobs) : begun(team, last)) {
      return;
    }
    if (k >= LOOKS) {
      sched_yield();
    }
  }
  pthread_mutex_lock(&team->mutex);
  while (!(jobs >= 0 ? over(team, jobs) : begun(team, last))) {
    pthread_cond_wait(&team->changed, &team->mutex);
  }
  pthread_mutex_unlock(&team->mutex);
}

static void* help(void* user) {
  saltusi_thread_pool* team = user;
  uint32_t run = 0;
  for (;;) {
    await(team, -1, run);
    if (atomic_load_explicit(&team->closing, memory_order_acquire)) {
      return NULL;
    }
    run = run_of(atomic_load_explicit(&team->state, memory_order_acquire));
    work(team, run);
  }
}

saltusi_thread_pool* saltusi_thread_pool_layout(saltus_arena* arena) {
  assert(arena != NULL);
  saltusi_thread_pool* team = SALTUS_PUSH(arena, saltusi_thread_pool, 1);
  if (team != NULL) {
    team->helpers = 0;
  }
  return team;
}

void saltusi_thread_pool_open(saltusi_thread_pool* team, int threads) {
  if (team == NULL || threads < 2) {
    return;
  }
  int most = threads < SALTUSI_TEAM_MOST ? threads : SALTUSI_TEAM_MOST;
  assert(team->helpers == 0);
  atomic_init(&team->state, 0);
  atomic_init(&team->done, 0);
  atomic_init(&team->closing, false);
  if (pthread_mutex_init(&team->mutex, NULL) != 0) {
    return;
  }
  if (pthread_cond_init(&team->changed, NULL) != 0) {
    pthread_mutex_destroy(&team->mutex);
    return;
  }
  while (team->helpers < most - 1 &&
         pthread_create(&team->thread[team->helpers], NULL, help, team) == 0) {
    team->helpers++;
  }
  if (team->helpers == 0) {
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->mutex);
  }
}

int saltusi_thread_pool_size(const saltusi_thread_pool* team) {
  return team != NULL ? team->helpers + 1 : 1;
}

void saltusi_thread_pool_run(saltusi_thread_pool* team, int jobs, saltusi_job job, void* context) {
  assert(jobs >= 0 && jobs <= SALTUSI_TEAM_JOBS);
  if (saltusi_thread_pool_size(team) == 1 || jobs < 2) {
    for (int k = 0; k < jobs; k++) {
      job(context, k);
    }
    return;
  }
  uint32_t run = run_of(atomic_load_explicit(&team->state, memory_order_relaxed)) + 1;
  team->job = job;
  team->context = context;
  atomic_store_explicit(&team->done, 0, memory_order_relaxed);
  pthread_mutex_lock(&team->mutex);
  atomic_store_explicit(&team->state, pack(run, jobs, 0), memory_order_release);
  pthread_cond_broadcast(&team->changed);
  pthread_mutex_unlock(&team->mutex);
  work(team, run);
  await(team, jobs, run);
}

void saltusi_thread_pool_close(saltusi_thread_pool* team) {
  assert(team != NULL);
  if (saltusi_thread_pool_size(team) == 1) {
    return;
  }
  pthread_mutex_lock(&team->mutex);
  atomic_store_explicit(&team->closing, true, memory_order_release);
  pthread_cond_broadcast(&team->changed);
  pthread_mutex_unlock(&team->mutex);
  for (int k = 0; k < team->helpers; k++) {
    pthread_join(team->thread[k], NULL);
  }
  team->helpers = 0;
  pthread_cond_destroy(&team->changed);
  pthread_mutex_destroy(&team->mutex);
}
