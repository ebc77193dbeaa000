/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hash.c - FNV-1a.
 */
#include "base/hash.h"

#include <assert.h>

uint64_t saltusi_hash(uint64_t hash, const void* bytes, size_t count) {
  assert(bytes != NULL || count == 0);
  const unsigned char* at = bytes;
  for (size_t i = 0; i < count; i++) {
    hash = (hash ^ at[i]) * UINT64_C(1099511628211);
  }
  return hash;
}
