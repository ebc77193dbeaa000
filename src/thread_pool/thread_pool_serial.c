/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thread_pool_serial.c - thread_pool.h without threads.
 */
#include "thread_pool/thread_pool.h"

#include <assert.h>

saltusi_thread_pool* saltusi_thread_pool_layout(saltus_arena* arena) {
  (void)arena;
  return NULL;
}

void saltusi_thread_pool_open(saltusi_thread_pool* team, int threads) {
  (void)team;
  (void)threads;
}

int saltusi_thread_pool_size(const saltusi_thread_pool* team) {
  (void)team;
  return 1;
}

void saltusi_thread_pool_run(saltusi_thread_pool* team, int jobs, saltusi_job job, void* context) {
  assert(context != NULL);
  (void)team;
  for (int k = 0; k < jobs; k++) {
    job(context, k);
  }
}

void saltusi_thread_pool_close(saltusi_thread_pool* team) {
  (void)team;
}
