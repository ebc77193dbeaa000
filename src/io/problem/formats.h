/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formats.h - shared declarations of the readers and writers of problem files.
 */
#ifndef SALTUSI_FORMATS_H
#define SALTUSI_FORMATS_H

#include "base/pool.h"
#include "io/problem/entries.h"
#include "saltus/problem_file.h"

/* A problem with its memory. */
typedef struct saltusi_contact_problem {
  saltus_problem_file file; /* first: the caller's pointer is this one */
  saltusi_pool pool;
} saltusi_contact_problem;

/* NULL without memory. */
saltusi_contact_problem* saltusi_contact_problem_create(const saltus_allocator* allocator);

saltus_status saltusi_siconos_read(const char* path, saltus_problem_kind kind, saltus_log log,
                                   saltusi_contact_problem* into);
saltus_status saltusi_fclib_read(const char* path, saltus_log log, saltusi_contact_problem* into);

saltus_status saltusi_fclib_write_friction(const char* path, int dimension,
                                           const saltus_friction_problem* problem, saltus_log log);
saltus_status saltusi_fclib_write_global(const char* path,
                                         const saltus_global_friction_problem* problem,
                                         saltus_log log);

/* Friction views of matrices and vectors, which have to be in into->pool. */
saltus_status saltusi_contact_problem_set_friction(saltusi_contact_problem* into, int dimension,
                                                   const saltus_csr* W);

/* Whether the name has the extension of FCLIB. */
bool saltusi_name_is_hdf5(const char* path);

#endif
