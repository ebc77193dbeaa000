/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair.c - see pair.h. Halves take a fraction of a millisecond, about what it costs to wake a
 * thread, so each side looks for a while before it sleeps.
 */
#include "base/pair.h"

#include <assert.h>
#include <sched.h>

/* Some microseconds of looking, then a millisecond or so in which others may have the processor. */
enum { LOOKS = 2000, YIELDS = 3000 };

/* Returns once *counter has left `old`. */
static void await_change(saltusi_pair* pair, atomic_int* counter, int old) {
  for (int k = 0; k < LOOKS + YIELDS; k++) {
    if (atomic_load_explicit(counter, memory_order_acquire) != old) {
      return;
    }
    if (k >= LOOKS) {
      sched_yield();
    }
  }
  pthread_mutex_lock(&pair->mutex);
  while (atomic_load_explicit(counter, memory_order_acquire) == old) {
    pthread_cond_wait(&pair->changed, &pair->mutex);
  }
  pthread_mutex_unlock(&pair->mutex);
}

/* The mutex keeps the other side from falling asleep between its look and the change. */
static void advance(saltusi_pair* pair, atomic_int* counter, int value) {
  pthread_mutex_lock(&pair->mutex);
  atomic_store_explicit(counter, value, memory_order_release);
  pthread_cond_broadcast(&pair->changed);
  pthread_mutex_unlock(&pair->mutex);
}

static void* second_thread(void* user) {
  saltusi_pair* pair = user;
  for (int k = 0;; k++) {
    await_change(pair, &pair->asked, k);
    if (pair->closing) {
      return NULL;
    }
    pair->job(pair->user, 1);
    advance(pair, &pair->done, k + 1);
  }
}

void saltusi_pair_open(saltusi_pair* pair, int threads) {
  *pair = (saltusi_pair){0};
  if (threads < 2 || pthread_mutex_init(&pair->mutex, NULL) != 0) {
    return;
  }
  if (pthread_cond_init(&pair->changed, NULL) != 0) {
    pthread_mutex_destroy(&pair->mutex);
    return;
  }
  pair->two = pthread_create(&pair->thread, NULL, second_thread, pair) == 0;
  if (!pair->two) {
    pthread_cond_destroy(&pair->changed);
    pthread_mutex_destroy(&pair->mutex);
  }
}

void saltusi_pair_run(saltusi_pair* pair, saltusi_half_job job, void* user) {
  assert(pair != NULL);
  if (!pair->two) {
    job(user, 0);
    job(user, 1);
    return;
  }
  int asked = atomic_load_explicit(&pair->asked, memory_order_relaxed);
  pair->job = job;
  pair->user = user;
  advance(pair, &pair->asked, asked + 1);
  job(user, 0);
  await_change(pair, &pair->done, asked);
}

void saltusi_pair_close(saltusi_pair* pair) {
  assert(pair != NULL);
  if (!pair->two) {
    return;
  }
  pair->closing = true;
  advance(pair, &pair->asked, atomic_load_explicit(&pair->asked, memory_order_relaxed) + 1);
  pthread_join(pair->thread, NULL);
  pthread_cond_destroy(&pair->changed);
  pthread_mutex_destroy(&pair->mutex);
  pair->two = false;
}
