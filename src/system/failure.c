/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * failure.c - failures of callbacks.
 */
#include "saltus/system.h"

#include "base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void saltus_fail(const saltus_point* at, const char* format, ...) {
  assert(at != NULL && format != NULL);
  saltus_failure* failure = at->failure;
  if (failure == NULL || failure->status != SALTUS_OK) {
    return; /* the first failure explains the later ones */
  }
  failure->status = SALTUS_ERR_SYSTEM;
  va_list values;
  va_start(values, format);
  saltusi_print_list(failure->text, sizeof failure->text, format, values);
  va_end(values);
}
