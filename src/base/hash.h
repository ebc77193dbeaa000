/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hash.h - hash of bytes for determinism checks and snapshots (FNV-1a, 64 bit).
 */
#ifndef SALTUSI_HASH_H
#define SALTUSI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SALTUSI_HASH_START UINT64_C(14695981039346656037)

/* Continues a hash with more bytes; the first call takes SALTUSI_HASH_START. */
uint64_t saltusi_hash(uint64_t hash, const void* bytes, size_t count);

#endif
