/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * message.h - errors that point at a character of a formula.
 */
#ifndef SALTUSI_MESSAGE_H
#define SALTUSI_MESSAGE_H

#include "base/log.h"
#include "saltus/formula.h"

/* One message: `file:line:column: subject: text`, the line of the formula, a caret under the character
 * at `offset` bytes from its start. Parts that are not given are omitted. */
void saltusi_formula_error(saltus_log log, const saltus_formula_text* formula, size_t offset,
                           const char* format, ...) SALTUSI_PRINTF(4, 5);

/* The same about a formula as a whole, without the line and the caret. */
void saltusi_formula_complain(saltus_log log, saltus_level level,
                              const saltus_formula_text* formula, const char* format, ...)
    SALTUSI_PRINTF(4, 5);

#endif
