/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * log.c - formats messages and stores the first error.
 */
#include "base/log.h"
#include "base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void saltusi_log(saltus_log log, saltus_level level, const char* format, ...) {
  assert(format != NULL);
  if (log.write == NULL) {
    return;
  }
  char text[sizeof((saltus_kept_message*)NULL)->text];
  va_list values;
  va_start(values, format);
  saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  log.write(log.user, level, text);
}

static void keep(void* user, saltus_level level, const char* text) {
  saltus_kept_message* kept = user;
  if (kept->text[0] != '\0' && kept->level == SALTUS_LEVEL_ERROR) {
    return; /* the first error explains the later ones */
  }
  kept->level = level;
  strncpy(kept->text, text, sizeof kept->text - 1);
  kept->text[sizeof kept->text - 1] = '\0';
}

saltus_log saltus_log_keep(saltus_kept_message* kept) {
  assert(kept != NULL);
  *kept = (saltus_kept_message){.level = SALTUS_LEVEL_NOTE};
  return (saltus_log){.write = keep, .user = kept};
}
