/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random.h - counter-based random numbers: number i is a function of seed and counter alone.
 */
#ifndef SALTUSI_SWEEP_RANDOM_H
#define SALTUSI_SWEEP_RANDOM_H

#include <stdint.h>

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011). */
void saltusi_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* 64 random bits of stream `stream` at index `place`. */
uint64_t saltusi_random_bits(uint64_t seed, uint32_t stream, uint64_t place);

/* Number in the open interval (0, 1): (k + 1/2) / 2^53. */
double saltusi_random_unit(uint64_t bits);

/* Image of i under a permutation of 0 .. count - 1 that needs no table. count from 1 to 2^62. */
uint64_t saltusi_random_place(uint64_t seed, uint32_t stream, uint64_t count, uint64_t i);

/* Quantile of the standard normal distribution at 0 < p < 1, to rounding. */
double saltusi_normal_quantile(double p);

/* Coordinate `axis` (0 ..) of point i of Sobol's sequence, as 32 bits; direction numbers of Joe and Kuo, SIAM J. Sci. Comput.
 * 30 (2008). */
uint32_t saltusi_sobol(int axis, uint32_t i);

#endif
