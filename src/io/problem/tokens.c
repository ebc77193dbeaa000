/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/problem/tokens.h"

#include "base/log.h"
#include "base/number.h"
#include "io/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

saltus_status saltusi_tokens_load(const char* path, saltus_log log, saltusi_pool* pool,
                                  saltusi_tokens* tokens) {
  assert(tokens != NULL);
  saltusi_lines lines;
  saltus_status status = saltusi_text_load(path, log, pool, &lines);
  if (status == SALTUS_OK) {
    *tokens = (saltusi_tokens){
        .path = path, .log = log, .text = lines.at, .at = lines.at, .end = lines.end};
  }
  return status;
}

void saltusi_tokens_refuse(saltusi_tokens* t, const char* format, ...) {
  assert(t != NULL);
  if (t->status != SALTUS_OK) {
    return;
  }
  t->status = SALTUS_ERR_INPUT;
  long long line = 1;
  for (const char* c = t->text; c < t->at; c++) {
    line += *c == '\n';
  }
  char why[512];
  va_list values;
  va_start(values, format);
  saltusi_print_list(why, sizeof why, format, values);
  va_end(values);
  saltusi_log(t->log, SALTUS_LEVEL_ERROR, "%s:%lld: token %lld: %s", t->path, line, t->number, why);
}

/* Start of the next token and its length; 0 at the end. */
static size_t next(saltusi_tokens* t) {
  while (t->at < t->end && isspace((unsigned char)*t->at)) {
    t->at++;
  }
  t->number++;
  size_t length = 0;
  while (t->at + length < t->end && !isspace((unsigned char)t->at[length])) {
    length++;
  }
  return length;
}

/* For messages: at most 40 letters of it. */
static int shown(size_t length) {
  return length < 40 ? (int)length : 40;
}

int saltusi_tokens_int(saltusi_tokens* t, const char* what, long long lo, long long hi) {
  assert(t != NULL);
  if (t->status != SALTUS_OK) {
    return 0;
  }
  size_t length = next(t);
  if (length == 0) {
    saltusi_tokens_refuse(t, "the file ends where the %s should be", what);
    return 0;
  }
  char* stop;
  errno = 0;
  long long value = strtoll(t->at, &stop, 10);
  if (stop != t->at + length) {
    saltusi_tokens_refuse(t, "%s is \"%.*s\", must be a whole number", what, shown(length), t->at);
    return 0;
  }
  if (errno != 0 || value < lo || value > hi) {
    saltusi_tokens_refuse(t, "%s is %.*s, must be from %lld to %lld", what, shown(length), t->at,
                          lo, hi);
    return 0;
  }
  t->at = stop;
  return (int)value;
}

double saltusi_tokens_real(saltusi_tokens* t, const char* what) {
  assert(t != NULL);
  if (t->status != SALTUS_OK) {
    return 0.0;
  }
  size_t length = next(t);
  if (length == 0) {
    saltusi_tokens_refuse(t, "the file ends where the %s should be", what);
    return 0.0;
  }
  char* stop;
  double value = saltusi_number_read(t->at, &stop);
  if (stop != t->at + length || !isfinite(value)) {
    saltusi_tokens_refuse(t, "%s is \"%.*s\", must be a finite number", what, shown(length), t->at);
    return 0.0;
  }
  t->at = stop;
  return value;
}

void saltusi_tokens_reals(saltusi_tokens* t, const char* what, size_t count, double* out) {
  assert(t != NULL);
  for (size_t i = 0; i < count && t->status == SALTUS_OK; i++) {
    out[i] = saltusi_tokens_real(t, what);
  }
}

void saltusi_tokens_word(saltusi_tokens* t, const char* word) {
  assert(t != NULL);
  if (t->status != SALTUS_OK) {
    return;
  }
  size_t length = next(t);
  if (length != strlen(word) || memcmp(t->at, word, length) != 0) {
    saltusi_tokens_refuse(t, "\"%.*s\" where \"%s\" should be", shown(length), t->at, word);
    return;
  }
  t->at += length;
}

void saltusi_tokens_line(saltusi_tokens* t, char* text, size_t bytes) {
  assert(t != NULL && text != NULL);
  text[0] = '\0';
  if (t->status != SALTUS_OK) {
    return;
  }
  const char* stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
  if (stop == NULL) {
    stop = t->end;
  }
  snprintf(text, bytes, "%.*s", stop - t->at < (long)bytes ? (int)(stop - t->at) : (int)bytes - 1,
           t->at);
  t->at = stop < t->end ? stop + 1 : stop;
}

bool saltusi_tokens_can_hold(saltusi_tokens* t, const char* what, unsigned long long count) {
  assert(t != NULL);
  /* a token takes at least one letter and one blank */
  unsigned long long most = (unsigned long long)(t->end - t->at) / 2 + 1;
  if (t->status == SALTUS_OK && count > most) {
    saltusi_tokens_refuse(
        t, "%llu numbers announced for the %s, but the rest of the file is too short", count, what);
  }
  return t->status == SALTUS_OK;
}
