/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair.h - work cut into two halves, done by one thread in turn or by two at once. A half writes
 * only to places of its own, so both ways give the same bits.
 */
#ifndef SALTUSI_PAIR_H
#define SALTUSI_PAIR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef void (*saltusi_half_job)(void* user, int half);

typedef struct saltusi_pair {
  bool two; /* there is a second thread */
  bool closing;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  atomic_int asked; /* jobs handed to the second thread */
  atomic_int done;  /* jobs it has finished */
  saltusi_half_job job;
  void* user;
} saltusi_pair;

/* threads >= 2 starts the second thread. When the system refuses, one thread does all. */
void saltusi_pair_open(saltusi_pair* pair, int threads);

/* job(user, 0) and job(user, 1); both have ended on return. */
void saltusi_pair_run(saltusi_pair* pair, saltusi_half_job job, void* user);

/* Ends the second thread and waits for it. */
void saltusi_pair_close(saltusi_pair* pair);

#endif
