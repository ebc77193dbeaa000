/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pool.h - pool memory that is freed as a whole, and growing arrays, for readers of files and formulas. Their sizes
 * are not given in advance, so the counting arena does not apply.
 */
#ifndef SALTUSI_POOL_H
#define SALTUSI_POOL_H

#include "saltus/memory.h"

typedef struct saltusi_pool {
  saltus_allocator allocator;
  struct saltusi_pool_block* last;
  bool failed; /* the allocator has returned NULL */
} saltusi_pool;

/* NULL: memory of the C library. */
saltusi_pool saltusi_pool_over(const saltus_allocator* allocator);

/* Memory for count items, zeroed; not NULL for count = 0. NULL: out of memory. */
void* saltusi_pool_take(saltusi_pool* pool, size_t count, size_t item);

/* A copy; NULL counts as "". NULL: out of memory. */
char* saltusi_pool_text(saltusi_pool* pool, const char* text);

/* The concatenation of a and b. NULL: out of memory. */
char* saltusi_pool_join(saltusi_pool* pool, const char* a, const char* b);

/* The struct of the pool may lie in one of its own blocks. */
void saltusi_pool_free(saltusi_pool* pool);

#define SALTUSI_TAKE(pool, type, count)                                                            \
  ((type*)saltusi_pool_take((pool), (size_t)(count), sizeof(type)))

/* Grows an array of *capacity items to at least `wanted`; contents are kept. False when out of memory; the array
 * is unchanged then. */
bool saltusi_grow(const saltus_allocator* allocator, void** array, size_t* capacity, size_t wanted,
                  size_t item);
void saltusi_release(const saltus_allocator* allocator, void* array, size_t capacity, size_t item);

#endif
