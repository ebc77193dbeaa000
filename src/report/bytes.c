/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bytes.c - see bytes.h. Invalid UTF-8 bytes become U+FFFD, since a recording may contain any bytes.
 */
#include "report/bytes.h"

#include "base/number.h"
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

void saltusi_bytes_text(saltusi_bytes* b, const char* text) {
  assert(text != NULL);
  saltusi_bytes_add(b, text, strlen(text));
}

void saltusi_bytes_little(saltusi_bytes* b, uint64_t bits, size_t count) {
  assert(b != NULL && count <= 8);
  unsigned char bytes[8];
  for (size_t i = 0; i < count; i++) {
    bytes[i] = (unsigned char)(bits >> 8 * i & 0xFF);
  }
  saltusi_bytes_add(b, bytes, count);
}

size_t saltusi_base64(const unsigned char* bytes, size_t count, char* text) {
  assert(text != NULL && (bytes != NULL || count == 0));
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t used = 0;
  for (size_t i = 0; i < count; i += 3) {
    const size_t left = count - i;
    const unsigned b0 = bytes[i], b1 = left > 1 ? bytes[i + 1] : 0,
                   b2 = left > 2 ? bytes[i + 2] : 0;
    const unsigned bits = b0 << 16 | b1 << 8 | b2;
    text[used++] = letters[bits >> 18 & 63];
    text[used++] = letters[bits >> 12 & 63];
    text[used++] = left > 1 ? letters[bits >> 6 & 63] : '=';
    text[used++] = left > 2 ? letters[bits & 63] : '=';
  }
  return used;
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
  saltusi_bytes_text(b, "\"");
  for (const unsigned char* p = (const unsigned char*)text; *p != '\0';) {
    int length = character(p);
    char escaped[8];
    if (length == 0) {
      saltusi_bytes_text(b, "\\ufffd");
      p++;
    } else if (length == 1 && (*p < 0x20 || *p == '"' || *p == '\\' || *p == '<' || *p == 0x7F)) {
      snprintf(escaped, sizeof escaped, "\\u%04x", *p);
      saltusi_bytes_text(b, escaped);
      p++;
    } else {
      saltusi_bytes_add(b, p, (size_t)length);
      p += length;
    }
  }
  saltusi_bytes_text(b, "\"");
}

static void begin(saltusi_bytes* b, const char* name) {
  if (b->filled) {
    saltusi_bytes_text(b, ",");
  }
  b->filled = true;
  if (name != NULL) {
    quote(b, name);
    saltusi_bytes_text(b, ":");
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
  saltusi_print(text, sizeof text, "%.17g", value);
  saltusi_bytes_text(b, isfinite(value) ? text : "null");
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
  saltusi_bytes_text(b, value ? "true" : "false");
}
