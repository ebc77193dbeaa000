/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.h - files of finite elements and reduced bodies, as a part of the kind `texts`.
 */
#ifndef SALTUS_ELEMENTS_H
#define SALTUS_ELEMENTS_H

#include "fuzz.h"

enum { ELEMENTS_FILES = 6 };

typedef struct elements_file {
  const char* name;
  fuzz_blob text;
} elements_file;

/* Files to be mutated, and a reduced body (no bytes: the library is built without). Returns their count. */
size_t elements_prepare(const char* folder, elements_file files[ELEMENTS_FILES], fuzz_blob* body);
/* The file with the reader for its ending. */
void elements_read(const char* path);
void elements_attack_body(const char* folder, const fuzz_blob* body, uint64_t* state);

#endif
