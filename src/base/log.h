/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * log.h - how the library's own code writes messages.
 */
#ifndef SALTUSI_LOG_H
#define SALTUSI_LOG_H

#include "base/number.h"
#include "saltus/log.h"

/* Formats and hands the message on; long messages are cut, nothing is allocated. */
void saltusi_log(saltus_log log, saltus_level level, const char* format, ...) SALTUSI_PRINTF(3, 4);

#endif
