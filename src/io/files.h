/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * files.h - operations on whole files. All return 0 or an errno value and say nothing.
 */
#ifndef SALTUSI_FILES_H
#define SALTUSI_FILES_H

#include <stddef.h>

/* A new file with the same bytes; an existing one under `to` is replaced. */
int saltusi_file_copy(const char* from, const char* to);

/* ENOSPC unless `bytes` more can be written to the file. On success the file may be longer than
 * before: whoever writes it cuts it at the end. */
int saltusi_file_reserve(const char* path, size_t bytes);

/* Waits until the bytes are on the disk. */
int saltusi_file_sync(const char* path);

/* `back` takes the name `front` in one atomic step; the old front becomes `back`. Without hard
 * links the old front is gone and *kept is 0. `spare` is a name for the moment in between. */
int saltusi_file_exchange(const char* front, const char* back, const char* spare, int* kept);

/* An exclusive lock under a name of its own, which is made: EWOULDBLOCK while another process or handle
 * has it, EEXIST where a file that is no lock has the name. *lock is what unlock wants; -1 on file systems without locks. It ends with the process. */
int saltusi_file_lock(const char* path, int* lock);
void saltusi_file_unlock(const char* path, int lock);

/* The same lock on an open file itself. */
int saltusi_file_lock_open(int file);

#endif
