/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pool.h - pool allocation that is freed as a whole, and growing arrays. Sizes in readers
 * of files and formulas are not given in advance, so the counting arena does not apply.
 */
#ifndef SALTUSI_POOL_H
#define SALTUSI_POOL_H

#include "saltus/memory.h"

typedef struct saltusi_pool {
  saltus_allocator allocator;
  struct saltusi_pool_block* last;
  bool failed; /* the allocator returned nothing at least once */
} saltusi_pool;

/* NULL: the C library's memory. */
saltusi_pool saltusi_pool_over(const saltus_allocator* allocator);

/* Room for count items, zeroed; never NULL for count = 0. NULL when there is no memory. */
void* saltusi_pool_take(saltusi_pool* pool, size_t count, size_t item);

/* A copy; text NULL counts as "". NULL when there is no memory. */
char* saltusi_pool_text(saltusi_pool* pool, const char* text);

/* a followed by b; NULL when there is no memory. */
char* saltusi_pool_join(saltusi_pool* pool, const char* a, const char* b);

/* The pool itself may lie in one of its blocks. */
void saltusi_pool_free(saltusi_pool* pool);

#define SALTUSI_TAKE(pool, type, count)                                                            \
  ((type*)saltusi_pool_take((pool), (size_t)(count), sizeof(type)))

/* Makes an array of *capacity items hold at least `wanted`; old contents are kept. False when there
 * is no memory; the array is as before then. */
bool saltusi_grow(const saltus_allocator* allocator, void** array, size_t* capacity, size_t wanted,
                  size_t item);
void saltusi_release(const saltus_allocator* allocator, void* array, size_t capacity, size_t item);

#endif
