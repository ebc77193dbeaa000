/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * output.c - see output.h.
 */
#define _GNU_SOURCE /* fopencookie */

#include "output.h"

#include "base/visible.h"
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Buffer for incomplete characters at the end of a write. */
typedef struct filter {
  char cut[4];
  size_t held;
} filter;

static bool write_all(const char* bytes, size_t count) {
  while (count > 0) {
    ssize_t done = write(STDOUT_FILENO, bytes, count);
    if (done < 0 && errno != EINTR) {
      return false;
    }
    bytes += done > 0 ? done : 0;
    count -= done > 0 ? (size_t)done : 0;
  }
  return true;
}

/* The visible form of some bytes; line ends and tabs stay. Returns the number of bytes read: an incomplete character
 * at the end is left. */
static size_t show(const char* text, size_t bytes, char* out, size_t* used) {
  size_t at = 0;
  while (at < bytes) {
    bool plain = text[at] == '\n' || text[at] == '\t';
    size_t count = plain ? 1 : saltusi_visible(text + at, bytes - at);
    if (count > 0) {
      memcpy(out + *used, text + at, count);
      *used += count;
    } else if (saltusi_visible_cut(text + at, bytes - at)) {
      break;
    } else {
      saltusi_visible_escape(text[at], out + *used);
      *used += SALTUSI_ESCAPE - 1;
      count = 1;
    }
    at += count;
  }
  return at;
}

static ssize_t write_visible(void* cookie, const char* text, size_t bytes) {
  enum { PIECE = 1024 };
  filter* f = cookie;
  size_t from = 0;
  while (from < bytes) {
    char in[PIECE + sizeof f->cut];
    char out[SALTUSI_ESCAPE * sizeof in];
    size_t part = bytes - from < PIECE ? bytes - from : PIECE;
    memcpy(in, f->cut, f->held);
    memcpy(in + f->held, text + from, part);
    size_t count = f->held + part;
    size_t used = 0;
    size_t read = show(in, count, out, &used);
    f->held = count - read;
    memcpy(f->cut, in + read, f->held);
    if (!write_all(out, used)) {
      return 0;
    }
    from += part;
  }
  return (ssize_t)bytes;
}

static int close_filter(void* cookie) {
  free(cookie);
  return 0;
}

void cli_output_start(void) {
  filter* f = calloc(1, sizeof *f);
  cookie_io_functions_t io = {.write = write_visible, .close = close_filter};
  FILE* file = f != NULL ? fopencookie(f, "w", io) : NULL;
  if (file == NULL) {
    free(f);
    return; /* unfiltered output is better than none */
  }
  setvbuf(file, NULL, isatty(STDOUT_FILENO) != 0 ? _IOLBF : _IOFBF, BUFSIZ);
  stdout = file;
}

void cli_output_exact(const char* text) {
  bool exact = isatty(STDOUT_FILENO) == 0 && fflush(stdout) == 0;
  if (!exact || !write_all(text, strlen(text))) {
    fputs(text, stdout); /* a write error occurs again and is reported at the end */
  }
}

void cli_error(const char* format, ...) {
  enum { MOST = 4096 };
  char text[MOST];
  char out[SALTUSI_ESCAPE * MOST];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  size_t bytes = length < 0 ? 0 : length < MOST ? (size_t)length : MOST - 1;
  size_t used = 0;
  show(text, bytes, out, &used);
  fprintf(stderr, "saltus: %.*s\n", (int)used, out);
}

const char* cli_one_line(const char* name, char* text, size_t bytes) {
  return strpbrk(name, "\n\t") == NULL ? name : saltusi_visible_text(name, text, bytes);
}
