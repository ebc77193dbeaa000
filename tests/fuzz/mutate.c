/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mutate.c - random changes of texts and bytes.
 */
#include "fuzz.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ADDED = 2048 };

uint64_t fuzz_next(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

size_t fuzz_pick(uint64_t* state, size_t n) {
  const uint64_t drawn = fuzz_next(state);
  return n > 0 ? (size_t)(drawn % n) : 0;
}

bool fuzz_chance(uint64_t* state, int percent) {
  return (int)fuzz_pick(state, 100) < percent;
}

fuzz_blob fuzz_read(const char* path) {
  fuzz_blob b = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return b;
  }
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  b.count = size > 0 ? (size_t)size : 0;
  b.bytes = malloc(b.count + 1);
  if (b.bytes == NULL || fread(b.bytes, 1, b.count, file) != b.count) {
    abort();
  }
  b.bytes[b.count] = '\0';
  fclose(file);
  return b;
}

void fuzz_write(const char* path, const fuzz_blob* b) {
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(b->bytes, 1, b->count, file) != b->count || fclose(file) != 0) {
    perror(path);
    abort();
  }
}

/* Puts `length` bytes in place of those from at to end; b has capacity for MOST_ADDED more than it began with. */
static void replace(fuzz_blob* b, size_t capacity, size_t at, size_t end, const void* bytes,
                    size_t length) {
  if (b->count - (end - at) + length > capacity) {
    return;
  }
  memmove(b->bytes + at + length, b->bytes + end, b->count - end);
  memcpy(b->bytes + at, bytes, length);
  b->count = b->count - (end - at) + length;
}

/* Limits of the token at a position: a number, a name, or one other character. */
static void token(const fuzz_blob* b, size_t* at, size_t* end) {
  size_t i = *at, k = *at;
  while (i > 0 && (isalnum(b->bytes[i - 1]) || strchr("._-+", b->bytes[i - 1]) != NULL)) {
    i--;
  }
  while (k < b->count && (isalnum(b->bytes[k]) || strchr("._-+", b->bytes[k]) != NULL)) {
    k++;
  }
  *at = i;
  *end = k > i ? k : i + 1;
}

/* Limits of the line at a position, its end included. */
static void line(const fuzz_blob* b, size_t* at, size_t* end) {
  size_t i = *at, k = *at;
  while (i > 0 && b->bytes[i - 1] != '\n') {
    i--;
  }
  while (k < b->count && b->bytes[k] != '\n') {
    k++;
  }
  *at = i;
  *end = k < b->count ? k + 1 : k;
}

static const char* word(uint64_t* state) {
  static const char* const words[] = {"nan",      "inf",       "-inf",       "-1",
                                      "0",        "1e308",     "-1e308",     "1e-320",
                                      "1e400",    "-0.0",      "1e16",       "0x10",
                                      "1/0",      "0/0",       "2147483648", "9223372036854775808",
                                      "t",        "x",         "x'",         "pi",
                                      "''",       "\"\"",      "[]",         "{}",
                                      "null",     "true",      "sqrt(",      "log(0)",
                                      "^2^3",     "((",        "))",         "piecewise(x<0,1,2)",
                                      ",",        "\n",        "#",          "'",
                                      ":",        "<",         ">",          "/>",
                                      "&lt;",     "world",     "]]>",        "\x01",
                                      "%s%n",     "\xc3\xa9",  "min(",       "lookup(t,0,1,1,1)",
                                      "~",        "*a",        "&a [*a",     "!!x",
                                      "|\n ",     "---\n",     "\t",         "-5",
                                      "1e-9",     "3",         "1000000",    "\xff",
                                      "abs(",     "step(",     "==",         "0.5",
                                      " mm",      " kN/m",     " rpm",       " deg",
                                      "[kg m^2]", " N*s/m",    " 1/s",       " m^-9",
                                      "\xC2\xB0", "\xC2\xB5m", "\xC2\xB7",   " km/h",
                                      " m/s^2",   " GPa",      " [",         "]"};
  return words[fuzz_pick(state, sizeof words / sizeof words[0])];
}

/* A part of another text, or of this one, at a position. */
static void splice(fuzz_blob* b, size_t capacity, const fuzz_blob* other, uint64_t* state) {
  unsigned char part[256];
  const fuzz_blob* from = fuzz_chance(state, 50) ? b : other;
  size_t from_at = fuzz_pick(state, from->count), from_end = from_at + 1;
  if (fuzz_chance(state, 40)) {
    line(from, &from_at, &from_end);
  } else if (fuzz_chance(state, 50)) {
    token(from, &from_at, &from_end);
  } else {
    from_end = from_at + fuzz_pick(state, sizeof part);
  }
  from_end = from_end > from->count ? from->count : from_end;
  size_t length = from_end > from_at ? from_end - from_at : 0;
  length = length > sizeof part ? sizeof part : length;
  memcpy(part, from->bytes + from_at, length);
  size_t at = fuzz_pick(state, b->count), end = at;
  if (fuzz_chance(state, 50)) {
    token(b, &at, &end);
    end = end > b->count ? b->count : end;
  }
  replace(b, capacity, at, end, part, length);
}

static void change(fuzz_blob* b, size_t capacity, const fuzz_blob* other, uint64_t* state) {
  size_t at = fuzz_pick(state, b->count), end = at + 1;
  switch (fuzz_pick(state, 16)) {
  case 0:
  case 1:
    b->bytes[at] = (unsigned char)fuzz_next(state);
    return;
  case 2:
  case 3:
    b->bytes[at] = (unsigned char)(b->bytes[at] ^ (1u << fuzz_pick(state, 8)));
    return;
  case 4:
    end = at + fuzz_pick(state, 64);
    replace(b, capacity, at, end > b->count ? b->count : end, "", 0);
    return;
  case 5:
    line(b, &at, &end);
    replace(b, capacity, at, end, "", 0);
    return;
  case 6:
    b->count = fuzz_chance(state, 20) ? at : b->count;
    return;
  case 7:
  case 8:
  case 9:
    if (other->count > 0) {
      splice(b, capacity, other, state);
    }
    return;
  case 10:
    replace(b, capacity, at, at, word(state), 1);
    return;
  default: {
    const char* text = word(state);
    token(b, &at, &end);
    replace(b, capacity, at, end > b->count ? b->count : end, text, strlen(text));
  }
  }
}

fuzz_blob fuzz_mutated(const fuzz_blob* from, const fuzz_blob* other, uint64_t* state) {
  const size_t capacity = from->count + MOST_ADDED;
  fuzz_blob b = {malloc(capacity), from->count};
  if (b.bytes == NULL) {
    abort();
  }
  memcpy(b.bytes, from->bytes, from->count);
  for (size_t changes = 1 + fuzz_pick(state, 4); changes > 0 && b.count > 0; changes--) {
    change(&b, capacity, other, state);
  }
  fuzz_blob exact = {malloc(b.count + 1), b.count};
  if (exact.bytes == NULL) {
    abort();
  }
  memcpy(exact.bytes, b.bytes, b.count);
  exact.bytes[b.count] = '\0';
  free(b.bytes);
  return exact;
}
