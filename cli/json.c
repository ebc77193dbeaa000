/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * json.c - see json.h.
 */
#include "json.h"

#include <math.h>

static void quote(FILE* file, const char* text) {
  fputc('"', file);
  for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') {
      fprintf(file, "\\%c", *c);
    } else if (*c == '\n') {
      fputs("\\n", file);
    } else if (*c < 0x20) {
      fprintf(file, "\\u%04x", *c);
    } else {
      fputc(*c, file);
    }
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
