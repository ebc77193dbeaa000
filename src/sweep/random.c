/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random.c - see random.h.
 */
#include "sweep/random.h"

#include "saltus/sweep.h"

#include <assert.h>
#include <math.h>

void saltusi_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  assert(counter != NULL && key != NULL && out != NULL);
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53U * c[0];
    const uint64_t b = (uint64_t)0xCD9E8D57U * c[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                              (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
    for (int i = 0; i < 4; i++) {
      c[i] = next[i];
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int i = 0; i < 4; i++) {
    out[i] = c[i];
  }
}

uint64_t saltusi_random_bits(uint64_t seed, uint32_t stream, uint64_t place) {
  const uint32_t counter[4] = {(uint32_t)place, (uint32_t)(place >> 32), stream, 0};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t out[4];
  saltusi_philox(counter, key, out);
  return (uint64_t)out[1] << 32 | out[0];
}

double saltusi_random_unit(uint64_t bits) {
  return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* Feistel network of four rounds on twice `half` bits. Values beyond the count are permuted again until they are
 * inside (cycle walking; Black and Rogaway, CT-RSA 2002): at most four permutations on average. */
uint64_t saltusi_random_place(uint64_t seed, uint32_t stream, uint64_t count, uint64_t i) {
  assert(i < count);
  unsigned half = 1;
  while (half < 31 && (uint64_t)1 << (2 * half) < count) {
    half++;
  }
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  uint64_t x = i;
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint32_t round = 0; round < 4; round++) {
      const uint32_t counter[4] = {(uint32_t)right, (uint32_t)(right >> 32), stream, 1 + round};
      const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
      uint32_t mixed[4];
      saltusi_philox(counter, key, mixed);
      const uint64_t next = (left ^ ((uint64_t)mixed[1] << 32 | mixed[0])) & mask;
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= count);
  return x;
}

/* Initial value of four digits (Abramowitz and Stegun, 26.2.23), then Halley's method on the tail without
 * cancellation. */
double saltusi_normal_quantile(double p) {
  assert(p > 0.0 && p < 1.0);
  const double tail = p < 0.5 ? p : 1.0 - p;
  const double s = sqrt(-2.0 * log(tail));
  double x = s - (2.515517 + s * (0.802853 + s * 0.010328)) /
                     (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
  for (int i = 0; i < 3; i++) {
    const double over = 0.5 * erfc(x * 0.70710678118654752440) - tail;
    const double density = 0.39894228040143267794 * exp(-0.5 * x * x);
    const double newton = over / density;
    x += newton / (1.0 - 0.5 * x * newton);
  }
  return p < 0.5 ? -x : x;
}

enum { SOBOL_DEGREE = 7 };

/* Primitive polynomial (degree, inner coefficients) and the first direction numbers of every axis but the first. */
typedef struct sobol_axis {
  uint32_t degree, inner;
  uint32_t first[SOBOL_DEGREE];
} sobol_axis;

static const sobol_axis sobol_axes[SALTUS_SWEEP_SOBOL_AXES - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

uint32_t saltusi_sobol(int axis, uint32_t i) {
  assert(axis >= 0 && axis < SALTUS_SWEEP_SOBOL_AXES);
  uint32_t v[32];
  if (axis == 0) {
    for (uint32_t k = 0; k < 32; k++) {
      v[k] = 0x80000000U >> k;
    }
  } else {
    const sobol_axis* a = &sobol_axes[axis - 1];
    const uint32_t s = a->degree;
    for (uint32_t k = 0; k < 32; k++) {
      if (k < s) {
        v[k] = a->first[k] << (31 - k);
        continue;
      }
      v[k] = v[k - s] ^ v[k - s] >> s;
      for (uint32_t j = 1; j < s; j++) {
        v[k] ^= (a->inner >> (s - 1 - j) & 1U) != 0 ? v[k - j] : 0;
      }
    }
  }
  uint32_t x = 0;
  const uint32_t gray = i ^ i >> 1;
  for (uint32_t k = 0; k < 32; k++) {
    x ^= (gray >> k & 1U) != 0 ? v[k] : 0;
  }
  return x;
}
