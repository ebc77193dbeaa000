/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thread_pool.h - independent jobs on one or several threads. A job
 * reads nothing that another job of the same run writes, so results are bitwise identical for every number
 * of threads.
 *
 * A team is laid out once and opened for the length of one solve. Its memory comes from the arena, the
 * stacks of its threads from the system. If the system refuses a thread, the team is smaller; the caller
 * works as well and waits only for jobs that others have started.
 */
#ifndef SALTUSI_THREAD_POOL_H
#define SALTUSI_THREAD_POOL_H

#include "saltus/memory.h"

/* Threads at most, the caller with them. */
enum { SALTUSI_TEAM_MOST = 64 };
/* Jobs of one run at most. */
enum { SALTUSI_TEAM_JOBS = 65535 };

typedef struct saltusi_thread_pool saltusi_thread_pool;

typedef void (*saltusi_job)(void* context, int job);

/* NULL, which is a team of the caller alone: an arena that counts, or a library built without
 * threads. */
saltusi_thread_pool* saltusi_thread_pool_layout(saltus_arena* arena);

/* Starts threads until there are so many, the caller with them; below 2: none. */
void saltusi_thread_pool_open(saltusi_thread_pool* team, int threads);

/* Threads of an open team, the caller with them; 1: there are no others. */
int saltusi_thread_pool_size(const saltusi_thread_pool* team);

/* job(context, 0) .. job(context, jobs - 1), in any order and each once; all have ended on return. */
void saltusi_thread_pool_run(saltusi_thread_pool* team, int jobs, saltusi_job job, void* context);

/* Ends the threads and waits for them; a team that is not open stays so. */
void saltusi_thread_pool_close(saltusi_thread_pool* team);

#endif
