/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fuzz.h - kinds of hostile inputs and the driver that runs a range of seeds. Input n of a kind is a function of n and
 * of the files that the kind starts from.
 */
#ifndef SALTUS_FUZZ_H
#define SALTUS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_kind {
  const char* name;
  void (*prepare)(const char* folder); /* `folder`: for files of this process */
  void (*attack)(uint64_t seed);
  void (*finish)(void);
} fuzz_kind;

extern const fuzz_kind fuzz_snapshots, fuzz_recordings, fuzz_texts, fuzz_robots;

/* The input under test, not copied: saved under this name when a finding ends the process. May be called several
 * times for an input of several files; `first` forgets those of the input before. */
void fuzz_current(bool first, const char* name, const void* bytes, size_t count);

/* A finding with this text unless `holds`. Does not return then. */
void fuzz_require(bool holds, const char* claim);

/* Adds one to an outcome that the summary prints; `outcome` is a constant text. */
void fuzz_count(const char* outcome);

/* ---- texts and bytes ---- */

typedef struct fuzz_blob {
  unsigned char* bytes;
  size_t count;
} fuzz_blob;

/* splitmix64: neighbouring seeds give unrelated sequences. */
uint64_t fuzz_next(uint64_t* state);
size_t fuzz_pick(uint64_t* state, size_t n); /* 0 .. n - 1; 0 for n = 0 */
bool fuzz_chance(uint64_t* state, int percent);

fuzz_blob fuzz_read(const char* path); /* no bytes: it cannot be read */
void fuzz_write(const char* path, const fuzz_blob* b);

/* A copy with one to four changes: bytes, bits, words, lines, parts that are removed, repeated or come from `other`. Ends with
 * a zero byte that is not counted, at the end of its allocation. */
fuzz_blob fuzz_mutated(const fuzz_blob* from, const fuzz_blob* other, uint64_t* state);

/* ---- readers of texts; 0: as it should be ---- */
int fuzz_formula(const uint8_t* data, size_t size);
int fuzz_scene(const uint8_t* data, size_t size);
int fuzz_urdf(const uint8_t* data, size_t size);

#endif
