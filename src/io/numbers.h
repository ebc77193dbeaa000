/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * numbers.h - numbers as text with a decimal point, independent of the locale.
 */
#ifndef SALTUSI_NUMBERS_H
#define SALTUSI_NUMBERS_H

#include <locale.h>

typedef struct saltusi_point_locale {
  locale_t plain, before; /* plain (locale_t)0: nothing to undo */
} saltusi_point_locale;

/* For this thread only. */
static inline saltusi_point_locale saltusi_point_locale_enter(void) {
  saltusi_point_locale l = {.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
  if (l.plain) {
    l.before = uselocale(l.plain);
  }
  return l;
}

static inline void saltusi_point_locale_leave(saltusi_point_locale l) {
  if (l.plain) {
    uselocale(l.before);
    freelocale(l.plain);
  }
}

#endif
