/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * log.h - messages. The library never prints: it passes each message to the caller's
 * function, if there is one. A message names the error, its place, the value, and the allowed range.
 */
#ifndef SALTUS_LOG_H
#define SALTUS_LOG_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_level {
  SALTUS_LEVEL_ERROR,
  SALTUS_LEVEL_WARNING,
  SALTUS_LEVEL_NOTE
} saltus_level;

typedef struct saltus_log {
  void (*write)(void* user, saltus_level level, const char* text); /* NULL: messages are dropped */
  void* user;
} saltus_log;

/* Stores the first error, or the last message if there is no error. */
typedef struct saltus_kept_message {
  saltus_level level;
  char text[1024]; /* empty: no message */
} saltus_kept_message;

/* A log that writes into `kept`, which has to outlive it; clears it first. */
SALTUS_API saltus_log saltus_log_keep(saltus_kept_message* kept);

SALTUS_END_DECLS

#endif
