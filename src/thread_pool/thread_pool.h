/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thread_pool.h - runs independent jobs on one or several threads. No job reads data that another job of the same run
 * writes, so results are bitwise identical for every number of threads.
 *
 * A pool is laid out once and opened for the duration of one solve. Its memory comes from the arena, the stacks of
 * its threads from the system. If the system refuses a thread, the pool is smaller. The calling thread works as well;
 * at the end it waits only for jobs that other threads have started.
 */
#ifndef SALTUSI_THREAD_POOL_H
#define SALTUSI_THREAD_POOL_H

#include "saltus/memory.h"

/* Largest number of threads, the calling one included. */
enum { SALTUSI_TEAM_MOST = 64 };
/* Largest number of jobs of one run. */
enum { SALTUSI_TEAM_JOBS = 65535 };

typedef struct saltusi_thread_pool saltusi_thread_pool;

typedef void (*saltusi_job)(void* context, int job);

/* NULL for an arena that counts and for a library built without threads: the calling thread alone. */
saltusi_thread_pool* saltusi_thread_pool_layout(saltus_arena* arena);

/* Starts threads until there are `threads`, the calling one included; below 2: none. */
void saltusi_thread_pool_open(saltusi_thread_pool* team, int threads);

/* Threads of an open pool, the calling one included; 1: no others. */
int saltusi_thread_pool_size(const saltusi_thread_pool* team);

/* Calls job(context, 0) .. job(context, jobs - 1), each once and in any order; returns when all have ended. */
void saltusi_thread_pool_run(saltusi_thread_pool* team, int jobs, saltusi_job job, void* context);

/* Ends the threads and joins them; no effect on a pool that is not open. */
void saltusi_thread_pool_close(saltusi_thread_pool* team);

#endif
