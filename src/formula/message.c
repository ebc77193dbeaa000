/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * message.c - position in the file, subject, and the line with a caret under it.
 *
 * Columns count characters, not bytes: bytes that continue a UTF-8 character do not count. A long line is truncated.
 */
#include "formula/message.h"

#include "base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 400, HEAD_BYTES = 256, SHOWN = 100, BEFORE = 60, LINES_BYTES = 280 };

static bool continues(char c) {
  return ((unsigned char)c & 0xC0) == 0x80;
}

/* "file:line:column: subject: ", parts that are given; line 0 omits the position. */
static void write_head(const saltus_formula_text* f, int line, int column, char* head) {
  size_t used = 0;
  head[0] = '\0';
  if (f->file != NULL) {
    used += (size_t)snprintf(head, HEAD_BYTES, "%.120s:", f->file);
  }
  if (line > 0 && column > 0) {
    used += (size_t)snprintf(head + used, HEAD_BYTES - used, "%d:%d:", line, column);
  } else if (line > 0) {
    used += (size_t)snprintf(head + used, HEAD_BYTES - used, "%d:", line);
  }
  snprintf(head + used, HEAD_BYTES - used, "%s%.90s: ", used > 0 ? " " : "",
           f->what != NULL ? f->what : "formula");
}

/* The line from `start`, cut to a window round the caret at `offset`, and the caret below. */
static void write_lines(const char* text, size_t start, size_t offset, char* lines) {
  size_t end = offset + strcspn(text + offset, "\r\n");
  const char* left = "";
  const char* right = "";
  if (offset - start > BEFORE) {
    start = offset - BEFORE;
    left = "...";
  }
  if (end - start > SHOWN) {
    end = start + SHOWN;
    right = "...";
  }
  while (start < offset && continues(text[start])) {
    start++;
  }
  while (end > offset && continues(text[end])) {
    end--;
  }

  size_t used = (size_t)snprintf(lines, LINES_BYTES, "\n%s%.*s%s\n", left, (int)(end - start),
                                 text + start, right);
  for (size_t i = 0; left[i] != '\0'; i++) {
    lines[used++] = ' ';
  }
  for (size_t i = start; i < offset; i++) {
    if (!continues(text[i])) {
      lines[used++] = text[i] == '\t' ? '\t' : ' ';
    }
  }
  lines[used++] = '^';
  lines[used] = '\0';
}

void saltusi_formula_error(saltus_log log, const saltus_formula_text* f, size_t offset,
                           const char* format, ...) {
  assert(f != NULL);
  char text[TEXT_BYTES], head[HEAD_BYTES], lines[LINES_BYTES] = "";
  va_list values;
  va_start(values, format);
  saltusi_print_list(text, sizeof text, format, values);
  va_end(values);

  size_t start = 0;
  int line = f->line, column = f->column;
  for (size_t i = 0; f->text != NULL && i < offset; i++) {
    if (f->text[i] == '\n') {
      line += line > 0;
      column = column > 0; /* unknown stays unknown */
      start = i + 1;
    } else if (!continues(f->text[i])) {
      column += column > 0;
    }
  }
  write_head(f, line, column, head);
  if (f->text != NULL && f->text[strspn(f->text, " \t\r\n")] != '\0') {
    write_lines(f->text, start, offset, lines);
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s%s%s", head, text, lines);
}

void saltusi_formula_complain(saltus_log log, saltus_level level, const saltus_formula_text* f,
                              const char* format, ...) {
  assert(f != NULL);
  char text[TEXT_BYTES], head[HEAD_BYTES];
  va_list values;
  va_start(values, format);
  saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  write_head(f, f->line, 0, head);
  saltusi_log(log, level, "%s%s", head, text);
}
