/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sha256.c - FIPS 180-4, section 6.2; constants are fractions of cube and square roots of primes.
 */
#include "base/sha256.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t turn(uint32_t x, int by) {
  return x >> by | x << (32 - by);
}

static void take_block(uint32_t state[8], const unsigned char* block) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; i++) {
    const unsigned char* at = block + 4 * i;
    w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
  }
  for (int i = 16; i < 64; i++) {
    uint32_t low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  uint32_t x[8]; /* a to h */
  memcpy(x, state, sizeof x);
  for (int i = 0; i < 64; i++) {
    uint32_t choice = (x[4] & x[5]) ^ (~x[4] & x[6]);
    uint32_t majority = (x[0] & x[1]) ^ (x[0] & x[2]) ^ (x[1] & x[2]);
    uint32_t first = x[7] + (turn(x[4], 6) ^ turn(x[4], 11) ^ turn(x[4], 25)) + choice +
                     round_constants[i] + w[i];
    uint32_t second = (turn(x[0], 2) ^ turn(x[0], 13) ^ turn(x[0], 22)) + majority;
    memmove(x + 1, x, 7 * sizeof *x);
    x[4] += first;
    x[0] = first + second;
  }
  for (int i = 0; i < 8; i++) {
    state[i] += x[i];
  }
}

void saltusi_sha256(const void* bytes, size_t count, char text[SALTUSI_SHA256_TEXT]) {
  assert((bytes != NULL || count == 0) && text != NULL);
  uint32_t state[8];
  memcpy(state, start, sizeof state);
  const unsigned char* at = bytes;
  size_t left = count;
  for (; left >= BLOCK; left -= BLOCK, at += BLOCK) {
    take_block(state, at);
  }
  unsigned char last[2 * BLOCK] = {0}; /* remaining bytes, a bit, and the length */
  if (left > 0) {
    memcpy(last, at, left);
  }
  last[left] = 0x80;
  size_t end = left + 9 <= BLOCK ? BLOCK : 2 * (size_t)BLOCK;
  for (size_t i = 0; i < 8; i++) {
    last[end - 1 - i] = (unsigned char)((uint64_t)count * 8 >> 8 * i);
  }
  for (size_t i = 0; i < end; i += BLOCK) {
    take_block(state, last + i);
  }
  for (size_t i = 0; i < 8; i++) {
    snprintf(text + 8 * i, 9, "%08x", (unsigned)state[i]);
  }
}
