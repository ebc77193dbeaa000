/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bytes.c - see bytes.h. Bytes of a text that are no UTF-8 become U+FFFD: a recording may hold anything.
 */
#include "report/bytes.h"

#include "base/pool.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void saltusi_bytes_add(saltusi_bytes* b, const void* bytes, size_t count) {
  assert(b != NULL && (bytes != NULL || count == 0));
  void* at = b->at;
  if (b->failed || count == 0) {
    return;
  }
  if (!saltusi_grow(b->memory, &at, &b->room, b->count + count, 1)) {
    b->failed = true;
    return;
  }
  b->at = at;
  memcpy(b->at + b->count, bytes, count);
  b->count += count;
}

void saltusi_bytes_free(saltusi_bytes* b) {
  assert(b != NULL);
  saltusi_release(b->memory, b->at, b->room, 1);
  b->at = NULL;
  b->count = b->room = 0;
}

static void put(saltusi_bytes* b, const char* text) {
  saltusi_bytes_add(b, text, strlen(text));
}

/* Length of the UTF-8 character at p, 0 when there is none: no surrogates, nothing overlong. */
static int character(const unsigned char* p) {
  static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
  int length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
  if (length < 2) {
    return length;
  }
  unsigned code = p[0] & (0xFFu >> (length + 1));
  for (int i = 1; i < length; i++) {
    if ((p[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (p[i] & 0x3Fu);
  }
  return code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? length : 0;
}

static void quote(saltusi_bytes* b, const char* text) {
  put(b, "\"");
  for (const unsigned char* p = (const unsigned char*)text; *p != '\0';) {
    int length = character(p);
    char escaped[8];
    if (length == 0) {
      put(b, "\\ufffd");
      p++;
    } else if (length == 1 && (*p < 0x20 || *p == '"' || *p == '\\' || *p == '<' || *p == 0x7F)) {
      snprintf(escaped, sizeof escaped, "\\u%04x", *p);
      put(b, escaped);
      p++;
    } else {
      saltusi_bytes_add(b, p, (size_t)length);
      p += length;
    }
  }
  put(b, "\"");
}

static void begin(saltusi_bytes* b, const char* name) {
  if (b->filled) {
    put(b, ",");
  }
  b->filled = true;
  if (name != NULL) {
    quote(b, name);
    put(b, ":");
  }
}

void saltusi_json_open(saltusi_bytes* b, const char* name, char bracket) {
  assert(b != NULL && (bracket == '{' || bracket == '['));
  begin(b, name);
  saltusi_bytes_add(b, &bracket, 1);
  b->filled = false;
}

void saltusi_json_close(saltusi_bytes* b, char bracket) {
  assert(b != NULL && (bracket == '}' || bracket == ']'));
  saltusi_bytes_add(b, &bracket, 1);
  b->filled = true;
}

void saltusi_json_number(saltusi_bytes* b, const char* name, double value) {
  assert(b != NULL);
  char text[32];
  begin(b, name);
  snprintf(text, sizeof text, "%.17g", value);
  put(b, isfinite(value) ? text : "null");
}

void saltusi_json_numbers(saltusi_bytes* b, const char* name, const double* values, int count) {
  assert(b != NULL && (values != NULL || count == 0));
  saltusi_json_open(b, name, '[');
  for (int i = 0; i < count; i++) {
    saltusi_json_number(b, NULL, values[i]);
  }
  saltusi_json_close(b, ']');
}

void saltusi_json_text(saltusi_bytes* b, const char* name, const char* value) {
  assert(b != NULL);
  begin(b, name);
  quote(b, value != NULL ? value : "");
}

void saltusi_json_bool(saltusi_bytes* b, const char* name, bool value) {
  assert(b != NULL);
  begin(b, name);
  put(b, value ? "true" : "false");
}
