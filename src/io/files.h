/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * files.h - operations on whole files. All return 0 or an errno value, without messages.
 */
#ifndef SALTUSI_FILES_H
#define SALTUSI_FILES_H

#include <stddef.h>

/* A new file with the same bytes; an existing one under `to` is replaced. */
int saltusi_file_copy(const char* from, const char* to);

/* ENOSPC unless `bytes` more can be written to the file. On success the file may be longer than
 * before: the writer truncates it at the end. */
int saltusi_file_reserve(const char* path, size_t bytes);

/* Waits until the bytes are on the disk. */
int saltusi_file_sync(const char* path);

/* `back` is renamed to `front` in one atomic step; the old front becomes `back`. Without hard
 * links the old front is removed and *kept is 0. `spare` is a temporary name. */
int saltusi_file_exchange(const char* front, const char* back, const char* spare, int* kept);

/* An exclusive lock by a separate lock file, which is created: EWOULDBLOCK while another process
 * or handle holds it, EEXIST where a file that is not a lock has the name. *lock is the argument
 * of unlock; -1 on file systems without locks. The lock ends with the process. */
int saltusi_file_lock(const char* path, int* lock);
void saltusi_file_unlock(const char* path, int lock);

/* The same lock on an open file itself. */
int saltusi_file_lock_open(int file);

#endif
