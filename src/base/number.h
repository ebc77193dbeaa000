/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * number.h - conversion between numbers and text with a decimal point, in every locale of the process. The C library
 * uses the separator of the locale; no other source of the library calls it for numbers.
 */
#ifndef SALTUSI_NUMBER_H
#define SALTUSI_NUMBER_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#if defined(__GNUC__)
#define SALTUSI_PRINTF(format_at, values_at) __attribute__((format(printf, format_at, values_at)))
#else
#define SALTUSI_PRINTF(format_at, values_at)
#endif

/* As strtod in the locale "C"; `end` may be NULL. */
double saltusi_number_read(const char* text, char** end);

/* As snprintf, vsnprintf and fprintf in the locale "C", without wide characters and %n. */
int saltusi_print(char* to, size_t bytes, const char* format, ...) SALTUSI_PRINTF(3, 4);
int saltusi_print_list(char* to, size_t bytes, const char* format, va_list list)
    SALTUSI_PRINTF(3, 0);
int saltusi_print_file(FILE* file, const char* format, ...) SALTUSI_PRINTF(2, 3);

/* Tests for an integer in [lo, hi]; false for NaN. */
static inline bool saltusi_is_whole(double value, double lo, double hi) {
  return value >= lo && value <= hi && value == floor(value);
}

#endif
