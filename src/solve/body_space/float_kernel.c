/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * float_kernel.c - contacts of rigid bodies (rigid_kernel.h) in single precision, vectorised over eight contacts, in
 * half the memory.
 */
#include "solve/body_space/body_groups.h"

#include <math.h>

#define NUMBER float
#define VECTOR saltusi_float_lanes
#define MASKS saltusi_float_masks
enum { LANES = SALTUSI_FLOAT_LANES, PLACES = SALTUSI_SINGLE_WIDTH };

/* Most groups per contact: if half of all lanes are idle, four at once are as fast. */
static const double most_groups = 0.25;
/* |psi| below which one more step of Newton's method ends in rounding; most steps. */
static const float slip_near = 1e-4F;
enum { SLIP_STEPS = 6 };

SALTUSI_ALWAYS_INLINE void root(const VECTOR* x, VECTOR* to) {
  *to = (VECTOR){sqrtf((*x)[0]), sqrtf((*x)[1]), sqrtf((*x)[2]), sqrtf((*x)[3]),
                 sqrtf((*x)[4]), sqrtf((*x)[5]), sqrtf((*x)[6]), sqrtf((*x)[7])};
}

/* Eight bodies, each eight numbers of which six are used, as six vectors and back. A body is stored in one piece, as
 * it will be loaded. */
#if defined(__clang__) || __GNUC__ >= 12
SALTUSI_ALWAYS_INLINE void transpose(const float* v, const int* pair, VECTOR* to) {
  VECTOR low[LANES / 2], high[LANES / 2], four[LANES];
  for (int l = 0; l < LANES; l += 2) {
    const VECTOR x = *(const VECTOR*)(v + (size_t)pair[2 * l] * PLACES);
    const VECTOR y = *(const VECTOR*)(v + (size_t)pair[2 * l + 2] * PLACES);
    low[l / 2] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
    high[l / 2] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int l = 0; l < 2; l++) { /* columns 0 and 4, 1 and 5, 2, 3 of four bodies */
    four[4 * l] = __builtin_shufflevector(low[2 * l], low[2 * l + 1], 0, 1, 8, 9, 4, 5, 12, 13);
    four[4 * l + 1] =
        __builtin_shufflevector(low[2 * l], low[2 * l + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    four[4 * l + 2] =
        __builtin_shufflevector(high[2 * l], high[2 * l + 1], 0, 1, 8, 9, 4, 5, 12, 13);
    four[4 * l + 3] =
        __builtin_shufflevector(high[2 * l], high[2 * l + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int k = 0; k < 4; k++) {
    to[k] = __builtin_shufflevector(four[k], four[4 + k], 0, 1, 2, 3, 8, 9, 10, 11);
  }
  for (int k = 0; k < 2; k++) {
    to[4 + k] = __builtin_shufflevector(four[k], four[4 + k], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Four numbers of two bodies, then of the others, from two pairs of interleaved columns. */
SALTUSI_ALWAYS_INLINE void store_two(const VECTOR* front, const VECTOR* back, float* v,
                                     const int* pair) {
  *(VECTOR*)(v + (size_t)pair[0] * PLACES) =
      __builtin_shufflevector(*front, *back, 0, 1, 2, 3, 8, 9, 10, 11);
  *(VECTOR*)(v + (size_t)pair[2 * LANES / 2] * PLACES) =
      __builtin_shufflevector(*front, *back, 4, 5, 6, 7, 12, 13, 14, 15);
}

SALTUSI_ALWAYS_INLINE void transpose_back(const VECTOR* from, const int* pair, float* v) {
  const VECTOR zero = {0.0F};
  for (int half = 0; half < 2; half++) { /* bodies 0, 1, 4, 5, then 2, 3, 6, 7 */
    VECTOR c01, c23, c45;
    if (half == 0) {
      c01 = __builtin_shufflevector(from[0], from[1], 0, 8, 1, 9, 4, 12, 5, 13);
      c23 = __builtin_shufflevector(from[2], from[3], 0, 8, 1, 9, 4, 12, 5, 13);
      c45 = __builtin_shufflevector(from[4], from[5], 0, 8, 1, 9, 4, 12, 5, 13);
    } else {
      c01 = __builtin_shufflevector(from[0], from[1], 2, 10, 3, 11, 6, 14, 7, 15);
      c23 = __builtin_shufflevector(from[2], from[3], 2, 10, 3, 11, 6, 14, 7, 15);
      c45 = __builtin_shufflevector(from[4], from[5], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    const VECTOR front = __builtin_shufflevector(c01, c23, 0, 1, 8, 9, 4, 5, 12, 13);
    const VECTOR next = __builtin_shufflevector(c01, c23, 2, 3, 10, 11, 6, 7, 14, 15);
    const VECTOR back = __builtin_shufflevector(c45, zero, 0, 1, 8, 9, 4, 5, 12, 13);
    const VECTOR last = __builtin_shufflevector(c45, zero, 2, 3, 10, 11, 6, 7, 14, 15);
    store_two(&front, &back, v, pair + 4 * (size_t)half);
    store_two(&next, &last, v, pair + 4 * (size_t)half + 2);
  }
}
#else
SALTUSI_ALWAYS_INLINE void transpose(const float* v, const int* pair, VECTOR* to) {
  for (int k = 0; k < SALTUSI_BODY_WIDTH * LANES; k++) {
    to[k / LANES][k % LANES] = v[(size_t)pair[k % LANES * 2] * PLACES + (size_t)(k / LANES)];
  }
}

SALTUSI_ALWAYS_INLINE void transpose_back(const VECTOR* from, const int* pair, float* v) {
  for (int k = 0; k < SALTUSI_BODY_WIDTH * LANES; k++) {
    v[(size_t)pair[k % LANES * 2] * PLACES + (size_t)(k / LANES)] = from[k / LANES][k % LANES];
  }
}
#endif

#include "solve/body_space/rigid_kernel.h"

static bool pack(const saltusi_friction_case* in) {
  return in->bodies->single.wanted && pack_groups(in);
}

const saltusi_body_kernel saltusi_body_kernel_float = {.cost = 80.0,
                                                       .single = true,
                                                       .pack = pack,
                                                       .start = start,
                                                       .rebase = rebase,
                                                       .iterate = iterate,
                                                       .extrapolate = extrapolate,
                                                       .forget = forget,
                                                       .fetch = fetch};
