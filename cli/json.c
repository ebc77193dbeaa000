/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * json.c - see json.h.
 */
#include "json.h"

#include "base/visible.h"

#include <math.h>
#include <string.h>

static void quote(FILE* file, const char* text) {
  fputc('"', file);
  size_t left = strlen(text);
  while (left > 0) {
    unsigned long code;
    size_t shown = saltusi_visible(text, left);
    size_t count = saltusi_character(text, left, &code);
    if (*text == '"' || *text == '\\') {
      fprintf(file, "\\%c", *text);
    } else if (*text == '\n') {
      fputs("\\n", file);
    } else if (shown == 0) {
      fprintf(file, "\\u%04lx", count > 0 ? code : (unsigned long)(unsigned char)*text);
    } else {
      fwrite(text, 1, shown, file);
    }
    text += count > 0 ? count : 1;
    left -= count > 0 ? count : 1;
  }
  fputc('"', file);
}

static void member(json* j, const char* name) {
  if (j->depth > 0) {
    fprintf(j->file, j->filled ? ",\n%*s" : "\n%*s", 2 * j->depth, "");
  }
  j->filled = true;
  if (name != NULL) {
    quote(j->file, name);
    fputs(": ", j->file);
  }
}

void json_open(json* j, const char* name, char bracket) {
  member(j, name);
  fputc(bracket, j->file);
  j->depth++;
  j->filled = false;
}

void json_close(json* j, char bracket) {
  j->depth--;
  if (j->filled) {
    fprintf(j->file, "\n%*s", 2 * j->depth, "");
  }
  fputc(bracket, j->file);
  j->filled = true;
  if (j->depth == 0) {
    fputc('\n', j->file);
  }
}

void json_number(json* j, const char* name, double value) {
  member(j, name);
  if (isfinite(value)) {
    fprintf(j->file, "%.17g", value);
  } else {
    fputs("null", j->file);
  }
}

void json_integer(json* j, const char* name, long long value) {
  member(j, name);
  fprintf(j->file, "%lld", value);
}

void json_text(json* j, const char* name, const char* value) {
  member(j, name);
  quote(j->file, value != NULL ? value : "");
}

void json_bool(json* j, const char* name, bool value) {
  member(j, name);
  fputs(value ? "true" : "false", j->file);
}
