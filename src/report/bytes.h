/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bytes.h - growing text buffer with JSON output. After a failed allocation calls have no effect and `failed` is set.
 */
#ifndef SALTUSI_REPORT_BYTES_H
#define SALTUSI_REPORT_BYTES_H

#include "saltus/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct saltusi_bytes {
  const saltus_allocator* memory;
  unsigned char* at;
  size_t count, room;
  bool failed;
  bool filled; /* the JSON object or array has a member */
} saltusi_bytes;

void saltusi_bytes_add(saltusi_bytes* b, const void* bytes, size_t count);
void saltusi_bytes_text(saltusi_bytes* b, const char* text);
/* The lowest `count` bytes in little-endian order, on any machine. */
void saltusi_bytes_little(saltusi_bytes* b, uint64_t bits, size_t count);
void saltusi_bytes_free(saltusi_bytes* b);

/* Base64 of `count` bytes; `count` is a multiple of 3 except in the last call. `text` has a capacity of 4 (count + 2)
 * / 3 characters. Returns the number of characters. */
size_t saltusi_base64(const unsigned char* bytes, size_t count, char* text);

/* JSON; name NULL: an element of an array, or the root. Values that are not finite become null. */
void saltusi_json_open(saltusi_bytes* b, const char* name, char bracket);
void saltusi_json_close(saltusi_bytes* b, char bracket);
void saltusi_json_number(saltusi_bytes* b, const char* name, double value);
void saltusi_json_numbers(saltusi_bytes* b, const char* name, const double* values, int count);
void saltusi_json_text(saltusi_bytes* b, const char* name, const char* value);
void saltusi_json_bool(saltusi_bytes* b, const char* name, bool value);

#endif
