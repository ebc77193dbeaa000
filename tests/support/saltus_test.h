/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saltus_test.h - cmocka with what our tests share: near, messages, a counting allocator.
 */
#ifndef SALTUS_TEST_H
#define SALTUS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "saltus/saltus.h"

/* Fails unless |actual - expected| <= tolerance. With SALTUS_TOL_SCALE=0 in the environment every
 * true difference is printed, so that tolerances can be judged. */
#define assert_near(actual, expected, tolerance)                                                   \
  saltus_test_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
void saltus_test_near(double actual, double expected, double tolerance, const char* text,
                      const char* file, int line);

/* Fails unless the kept message contains the words. */
#define assert_says(kept, words) saltus_test_says(&(kept), (words), __FILE__, __LINE__)
void saltus_test_says(const saltus_kept_message* kept, const char* words, const char* file,
                      int line);

/* An allocator that counts, and fails from a chosen call on. */
typedef struct counter {
  int calls, live;
  int fail_at; /* number of the call that fails, from 1; 0: none */
} counter;

saltus_allocator counting_allocator(counter* count);

/* scenes/NAME.yaml with some parameters replaced; fails with the reader's message. */
saltus_scene* saltus_test_scene(const char* name, const saltus_override* overrides, int count);

/* True under make test-long, for the loops that are too long for make test; see saltus_test in
 * cmake/SaltusTarget.cmake. */
bool saltus_test_long(void);

/* True in builds with sanitizers, which are several times slower and look for faults of memory and of
 * arithmetic, not of numbers: there loops over draws, grids and parameters take a part of what they take
 * otherwise. */
bool saltus_test_sanitized(void);

/* How many of n draws a loop takes: all, with sanitizers a quarter of them. */
int saltus_test_draws(int n);

/* Whether a loop takes its case i, of schemes say: always; with sanitizers every third of them. */
bool saltus_test_takes(int i);

/* Random numbers that are the same everywhere: 0 <= x < 1. */
double saltus_test_random(uint64_t* state);

#endif
