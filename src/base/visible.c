/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * visible.c - see visible.h.
 */
#include "base/visible.h"

#include <assert.h>
#include <string.h>

/* Length of the character that begins with this byte; 0: no character does. */
static size_t announced(unsigned char first) {
  return first < 0x80                   ? 1
         : first < 0xc2 || first > 0xf4 ? 0
         : first < 0xe0                 ? 2
         : first < 0xf0                 ? 3
                                        : 4;
}

/* Code points that are not displayed as themselves: controls, line separators, directions of writing. */
static bool steers(unsigned long code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
         (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

size_t saltusi_character(const char* text, size_t bytes, unsigned long* code_out) {
  assert(text != NULL);
  static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
  static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  size_t count = bytes > 0 ? announced((unsigned char)text[0]) : 0;
  if (count == 0 || count > bytes) {
    return 0;
  }
  unsigned long code = (unsigned char)text[0] & mask[count];
  for (size_t i = 1; i < count; i++) {
    unsigned char next = (unsigned char)text[i];
    if ((next & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (next & 0x3fU);
  }
  bool valid = code >= least[count] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  *code_out = code;
  return valid ? count : 0;
}

size_t saltusi_visible(const char* text, size_t bytes) {
  assert(text != NULL);
  unsigned long code;
  size_t count = saltusi_character(text, bytes, &code);
  return count > 0 && !steers(code) ? count : 0;
}

bool saltusi_visible_cut(const char* text, size_t bytes) {
  assert(text != NULL);
  if (bytes == 0 || bytes >= announced((unsigned char)text[0])) {
    return false;
  }
  for (size_t i = 1; i < bytes; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80) {
      return false;
    }
  }
  return true;
}

void saltusi_visible_escape(char byte, char* text) {
  assert(text != NULL);
  static const char digits[] = "0123456789abcdef";
  unsigned char b = (unsigned char)byte;
  const char escape[SALTUSI_ESCAPE] = {'\\', 'x', digits[b >> 4], digits[b & 15], '\0'};
  memcpy(text, escape, sizeof escape);
}

const char* saltusi_visible_text(const char* text, char* out, size_t size) {
  assert(out != NULL);
  size_t used = 0;
  size_t left = strlen(text);
  while (left > 0) {
    size_t count = saltusi_visible(text, left);
    char escape[SALTUSI_ESCAPE];
    saltusi_visible_escape(text[0], escape);
    const char* piece = count > 0 ? text : escape;
    size_t length = count > 0 ? count : SALTUSI_ESCAPE - 1;
    if (used + length >= size) {
      break;
    }
    memcpy(out + used, piece, length);
    used += length;
    text += count > 0 ? count : 1;
    left -= count > 0 ? count : 1;
  }
  out[used] = '\0';
  return out;
}
