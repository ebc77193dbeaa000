/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * problem_file.h - contact and complementarity problems in files.
 *
 * Read and written: the text formats of Siconos (local and global friction problems in two and
 * three dimensions, linear complementarity problems, mixed or not; dense, block and sparse matrices)
 * and the HDF5 format of FCLIB (local and global friction problems). docs/solvers/problem-files.md
 * describes both.
 *
 * The kind of a text file is determined by its name (last component, case-insensitive):
 *
 *   ...mlcp...   mixed linear complementarity        lcp...   linear complementarity
 *   gfc...       global friction, unless "condensed" or "reduced" is in the name
 *   other        local friction
 *
 * A file in a folder called lcp or mlcp is of that kind.
 */
#ifndef SALTUS_PROBLEM_FILE_H
#define SALTUS_PROBLEM_FILE_H

#include "saltus/api.h"
#include "saltus/contact.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/status.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_problem_kind {
  SALTUS_PROBLEM_FRICTION, /* local */
  SALTUS_PROBLEM_GLOBAL_FRICTION,
  SALTUS_PROBLEM_LCP,
  SALTUS_PROBLEM_MIXED_LCP
} saltus_problem_kind;

/* A problem that owns its numbers. Only the view of its kind is set. */
typedef struct saltus_problem_file {
  saltus_problem_kind kind;
  int dimension; /* rows of a contact: 2 or 3; 1 for complementarity problems */
  saltus_friction_problem friction;
  saltus_global_friction_problem global;
  saltus_lcp lcp;      /* dense when at least a quarter of the entries is not zero, else sparse */
  const int* file_row; /* [lcp.n] row in the file of each row here: bilateral rows come first */
  const double* guess; /* [rows] initial guess of impulses; NULL: none in the file */
} saltus_problem_file;

/* A constant word for messages: "friction", "global friction", ... */
SALTUS_API const char* saltus_problem_kind_text(saltus_problem_kind kind);

/* Kind of a text file by its name. */
SALTUS_API saltus_problem_kind saltus_problem_kind_of_name(const char* path);

/* *out is NULL unless SALTUS_OK. SALTUS_ERR_IO: the file cannot be read. SALTUS_ERR_INPUT: it is not
 * valid; the message names file, line, position and reason. SALTUS_ERR_UNSUPPORTED:
 * rolling friction and equality multipliers are not read. */
SALTUS_API saltus_status saltus_problem_file_read(const char* path, saltus_log log,
                                                  const saltus_allocator* allocator,
                                                  saltus_problem_file** out);
SALTUS_API void saltus_problem_file_destroy(saltus_problem_file* file);

/* Text, or FCLIB when the name ends in .hdf5 or .h5. The name must fit the kind, so that the file
 * is read back as such. A round trip is bitwise exact. All contacts need the same number of
 * rows, 2 or 3, and none may be bilateral: a limit of the formats (SALTUS_ERR_UNSUPPORTED). */
SALTUS_API saltus_status saltus_problem_file_write_friction(const char* path,
                                                            const saltus_friction_problem* problem,
                                                            saltus_log log);
SALTUS_API saltus_status saltus_problem_file_write_global(
    const char* path, const saltus_global_friction_problem* problem, saltus_log log);

/* Text only. */
SALTUS_API saltus_status saltus_problem_file_write_lcp(const char* path, const saltus_lcp* problem,
                                                       saltus_log log);

/* The local problem of a global one: W = H^T M^-1 H, q = H^T M^-1 f + w. Blocks that vanish because
 * two contacts share no body are not stored. SALTUS_ERR_SINGULAR: M cannot be factored. */
SALTUS_API saltus_status
saltus_global_friction_reduce(const saltus_global_friction_problem* problem, saltus_log log,
                              const saltus_allocator* allocator, saltus_problem_file** out);

SALTUS_END_DECLS

#endif
