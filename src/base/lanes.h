/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lanes.h - vectors of four numbers for hot loops. The compiler maps them to the instruction set; every lane performs
 * the operations in the written order, so results are bitwise identical on all machines.
 */
#ifndef SALTUSI_LANES_H
#define SALTUSI_LANES_H

#include <stdint.h>

enum { SALTUSI_LANES = 4 };

/* Four numbers at any address, and the masks that comparisons return: all bits of a lane are set, or none. */
typedef double saltusi_lanes
    __attribute__((vector_size(SALTUSI_LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t saltusi_masks
    __attribute__((vector_size(SALTUSI_LANES * sizeof(double)), aligned(8), may_alias));

/* Two numbers. */
typedef double saltusi_halves
    __attribute__((vector_size(SALTUSI_LANES / 2 * sizeof(double)), aligned(8), may_alias));

/* Eight numbers of single precision in a vector of the same size, and their masks. */
enum { SALTUSI_FLOAT_LANES = 8 };
typedef float saltusi_float_lanes
    __attribute__((vector_size(SALTUSI_FLOAT_LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t saltusi_float_masks
    __attribute__((vector_size(SALTUSI_FLOAT_LANES * sizeof(float)), aligned(4), may_alias));

/* Marks static functions that are compiled for several instruction sets; the loader selects the best of the machine.
 * Others would be exported together with their resolvers. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SALTUSI_FOR_MACHINES __attribute__((target_clones("avx2", "default")))
#else
#define SALTUSI_FOR_MACHINES
#endif

/* Functions called from vector loops; vectors are passed by address. */
#define SALTUSI_ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
