/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * digits.c - see digits.h.
 */
#include "base/digits.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

enum { ALL_DIGITS = 17 }; /* of a double */

int saltusi_digits_apart(int least, double a, double b) {
  for (int digits = least; digits < ALL_DIGITS; digits++) {
    char first[40];
    char second[40];
    saltusi_print(first, sizeof first, "%.*g", digits, a);
    saltusi_print(second, sizeof second, "%.*g", digits, b);
    if (strcmp(first, second) != 0) {
      return digits;
    }
  }
  return a == b ? least : ALL_DIGITS;
}
