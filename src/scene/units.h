/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * units.h - numbers with a unit ("50 mm", "600 rpm") as formulas in SI units. A prefix shifts the decimal exponent of
 * the literal, "50e-3", so its value is that of the SI literal; other factors are appended: "30*pi/180".
 */
#ifndef SALTUSI_SCENE_UNITS_H
#define SALTUSI_SCENE_UNITS_H

#include "base/pool.h"

#include <stdbool.h>

enum { SALTUSI_UNIT_TEXT = 80 };

/* True when the text has a number that a letter or a bracket follows: it may have a unit. */
bool saltusi_units_candidate(const char* text);

/* The text with quantities converted, in the pool. wanted: units that a text of one quantity may have, separated by
 * " or "; the result is in the first of its dimension. "": none; NULL: any, the result is in SI units. `si` is the SI
 * unit of a text of one quantity, "" for other texts. NULL: failure, with its reason in `why`, which is empty when out
 * of memory. */
const char* saltusi_units_convert(saltusi_pool* pool, const char* text, const char* wanted,
                                  char si[SALTUSI_UNIT_TEXT], char why[256]);

#endif
