/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rigid_kernel.c - contacts of rigid bodies (rigid_kernel.h) in double precision, vectorised over four contacts.
 */
#include "solve/body_space/body_groups.h"

#include <math.h>

#define NUMBER double
#define VECTOR saltusi_lanes
#define MASKS saltusi_masks
enum { LANES = SALTUSI_LANES, PLACES = SALTUSI_BODY_WIDTH };

/* Most groups per contact: with half of all lanes idle, contacts one by one are as fast. */
static const double most_groups = 0.5;
/* |psi| below which one more step of Newton's method reaches 1e-12, a hundred times the rounding unless S is nearly
 * singular; most steps. */
static const double slip_near = 1e-6;
enum { SLIP_STEPS = 8 };

SALTUSI_ALWAYS_INLINE void root(const VECTOR* x, VECTOR* to) {
  *to = (VECTOR){sqrt((*x)[0]), sqrt((*x)[1]), sqrt((*x)[2]), sqrt((*x)[3])};
}

/* Velocities of the first body of lane l; of the second one with pair + 1. */
SALTUSI_ALWAYS_INLINE const double* body_of(const double* v, const int* pair, int l) {
  return v + (size_t)pair[2 * l] * PLACES;
}

SALTUSI_ALWAYS_INLINE double* place_of(double* v, const int* pair, int l) {
  return v + (size_t)pair[2 * l] * PLACES;
}

/* Four bodies, each six consecutive numbers, to six vectors and back. With vector permutations this takes 22 operations
 * instead of 40, and loads match the stores before them, so that there are no store-forwarding stalls. */
#if defined(__clang__) || __GNUC__ >= 12
SALTUSI_ALWAYS_INLINE void transpose(const double* v, const int* pair, VECTOR* to) {
  VECTOR r[LANES];
  saltusi_halves h[LANES];
  for (int l = 0; l < LANES; l++) {
    r[l] = *(const VECTOR*)body_of(v, pair, l);
    h[l] = *(const saltusi_halves*)(body_of(v, pair, l) + LANES);
  }
  const VECTOR a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  const VECTOR b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  const VECTOR c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  const VECTOR d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  const VECTOR e = __builtin_shufflevector(h[0], h[2], 0, 1, 2, 3);
  const VECTOR f = __builtin_shufflevector(h[1], h[3], 0, 1, 2, 3);
  to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  to[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  to[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  to[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  to[4] = __builtin_shufflevector(e, f, 0, 4, 2, 6);
  to[5] = __builtin_shufflevector(e, f, 1, 5, 3, 7);
}

SALTUSI_ALWAYS_INLINE void transpose_back(const VECTOR* from, const int* pair, double* v) {
  const VECTOR a = __builtin_shufflevector(from[0], from[1], 0, 4, 2, 6);
  const VECTOR b = __builtin_shufflevector(from[0], from[1], 1, 5, 3, 7);
  const VECTOR c = __builtin_shufflevector(from[2], from[3], 0, 4, 2, 6);
  const VECTOR d = __builtin_shufflevector(from[2], from[3], 1, 5, 3, 7);
  const VECTOR e = __builtin_shufflevector(from[4], from[5], 0, 4, 2, 6);
  const VECTOR f = __builtin_shufflevector(from[4], from[5], 1, 5, 3, 7);
  *(VECTOR*)place_of(v, pair, 0) = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  *(VECTOR*)place_of(v, pair, 1) = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  *(VECTOR*)place_of(v, pair, 2) = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  *(VECTOR*)place_of(v, pair, 3) = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  *(saltusi_halves*)(place_of(v, pair, 0) + LANES) = __builtin_shufflevector(e, e, 0, 1);
  *(saltusi_halves*)(place_of(v, pair, 1) + LANES) = __builtin_shufflevector(f, f, 0, 1);
  *(saltusi_halves*)(place_of(v, pair, 2) + LANES) = __builtin_shufflevector(e, e, 2, 3);
  *(saltusi_halves*)(place_of(v, pair, 3) + LANES) = __builtin_shufflevector(f, f, 2, 3);
}
#else
SALTUSI_ALWAYS_INLINE void transpose(const double* v, const int* pair, VECTOR* to) {
  for (int k = 0; k < PLACES; k++) {
    to[k] = (VECTOR){body_of(v, pair, 0)[k], body_of(v, pair, 1)[k], body_of(v, pair, 2)[k],
                     body_of(v, pair, 3)[k]};
  }
}

SALTUSI_ALWAYS_INLINE void transpose_back(const VECTOR* from, const int* pair, double* v) {
  for (int k = 0; k < PLACES * LANES; k++) {
    place_of(v, pair, k % LANES)[k / LANES] = from[k / LANES][k % LANES];
  }
}
#endif

#include "solve/body_space/rigid_kernel.h"

/* Whether A^-1 has 1 / m in all directions and does not couple translation and rotation. */
static bool is_rigid(const double* inverse) {
  for (int a = 0; a < 3; a++) {
    for (int c = 0; c < WIDTH; c++) {
      const double expected = a == c ? inverse[0] : 0.0;
      if (inverse[a * WIDTH + c] != expected || (c >= 3 && inverse[c * WIDTH + a] != 0.0)) {
        return false;
      }
    }
  }
  return true;
}

/* Whether both bodies have one frame. */
static bool is_packable(const saltusi_bodies* b, int i) {
  const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  for (int k = 0; k < 9 && b->body[2 * i + 1] >= 0; k++) {
    const int at = k / 3 * WIDTH + k % 3;
    if (G[SALTUSI_BODY_ROWS + at] != -G[at]) {
      return false;
    }
  }
  return true;
}

bool saltusi_rigid_serves(const saltusi_bodies* b) {
  assert(b != NULL);
  for (int k = 0; k < b->bodies; k++) {
    if (!is_rigid(b->inverse + (size_t)k * SALTUSI_BODY_BLOCK)) {
      return false;
    }
  }
  for (int i = 0; i < b->units; i++) {
    if (!is_packable(b, i)) {
      return false;
    }
  }
  return true;
}

const saltusi_body_kernel saltusi_body_kernel_rigid = {.cost = 160.0,
                                                       .pack = pack_groups,
                                                       .start = start,
                                                       .rebase = rebase,
                                                       .iterate = iterate,
                                                       .extrapolate = extrapolate,
                                                       .forget = forget,
                                                       .fetch = fetch};
