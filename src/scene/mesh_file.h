/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_file.h - triangles from files: STL (binary and text), OBJ and COLLADA.
 */
#ifndef SALTUSI_MESH_FILE_H
#define SALTUSI_MESH_FILE_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

typedef struct saltusi_mesh_file {
  double* point; /* [3 points] */
  int points;
  int* triangle; /* [3 triangles] */
  int triangles;
} saltusi_mesh_file;

/* `path` is relative to the folder of `beside`. Bitwise equal corners of STL are merged. Faces of OBJ with more than
 * three corners are triangulated as fans. SALTUS_ERR_IO or SALTUS_ERR_INPUT with a message. */
saltus_status saltusi_mesh_read(const char* path, const char* beside, saltusi_pool* pool,
                                saltus_log log, saltusi_mesh_file* out);

/* The text of a COLLADA file, zero behind its end; SALTUS_ERR_UNSUPPORTED without expat. */
saltus_status saltusi_collada_read(const char* text, size_t size, const char* path,
                                   saltusi_pool* pool, saltus_log log, saltusi_mesh_file* out);

#endif
