/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * log.h - messages from inside of the library.
 */
#ifndef SALTUSI_LOG_H
#define SALTUSI_LOG_H

#include "base/number.h"
#include "saltus/log.h"

/* Formats a message and passes it to the log. Long messages are truncated; nothing is allocated. */
void saltusi_log(saltus_log log, saltus_level level, const char* format, ...) SALTUSI_PRINTF(3, 4);

#endif
