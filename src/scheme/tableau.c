/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tableau.c - coefficients. tests/unit/test_tableau.c checks the order conditions.
 */
#include "scheme/tableau.h"

#include <stddef.h>

/* Fehlberg 1969, NASA TR R-315, table III; the solution of order 5 is the one carried on. */
const saltusi_tableau saltusi_rkf45 = {
    .name = "rkf45",
    .stages = 6,
    .order = 5,
    .embedded_order = 4,
    .c = {0.0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1.0, 1.0 / 2},
    .a = {{0.0},
          {1.0 / 4},
          {3.0 / 32, 9.0 / 32},
          {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
          {439.0 / 216, -8.0, 3680.0 / 513, -845.0 / 4104},
          {-8.0 / 27, 2.0, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}},
    .b = {16.0 / 135, 0.0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55},
    .embedded = {25.0 / 216, 0.0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0.0},
};

static const saltusi_tableau* const registry[] = {&saltusi_rkf45};

const saltusi_tableau* saltusi_tableau_at(int i) {
  return i >= 0 && i < (int)(sizeof registry / sizeof registry[0]) ? registry[i] : NULL;
}
