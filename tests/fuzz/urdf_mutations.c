/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * urdf_mutations.c - the robots of a folder with random damage: bytes changed, pieces cut, copied and put
 * elsewhere, values replaced by words that readers stumble over. Always the same damage.
 *
 *   urdf_mutations FOLDER COUNT
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fuzz_urdf(const uint8_t* data, size_t size);

enum { LARGEST = 1 << 16 };

static uint64_t next(uint64_t* seed) { /* xorshift64 */
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static size_t below(uint64_t* seed, size_t n) {
  return n > 0 ? (size_t)(next(seed) % n) : 0;
}

/* Puts `length` bytes in place of what is between at and end. */
static size_t replace(uint8_t* text, size_t size, size_t at, size_t end, const void* bytes,
                      size_t length) {
  if (size - (end - at) + length > LARGEST) {
    return size;
  }
  memmove(text + at + length, text + end, size - end);
  memcpy(text + at, bytes, length);
  return size - (end - at) + length;
}

/* From one quote or tag to the next. */
static size_t value_end(const uint8_t* text, size_t size, size_t at) {
  while (at < size && strchr("\"'<>", text[at]) == NULL) {
    at++;
  }
  return at;
}

static size_t damage(uint8_t* text, size_t size, uint64_t* seed) {
  static const char* const words[] = {"nan",  "-1",   "0",  "1e308", "1e-320", "world", "",
                                      "&lt;", "link", "/>", "<",     "0 0 0",  "fixed", "\xc3\xa9",
                                      "arm",  "1e30", ">",  "\"",    "mimic",  "]]>",   "\x01"};
  uint8_t piece[256];
  size_t at = below(seed, size), other = below(seed, size);
  size_t length = below(seed, sizeof piece);
  length = length < size - other ? length : size - other;
  memcpy(piece, text + other, length);
  switch (next(seed) % 5) {
  case 0:
    text[at] = (uint8_t)next(seed);
    return size;
  case 1:
    return replace(text, size, other, other + length, "", 0);
  case 2:
    return replace(text, size, at, at, piece, length);
  case 3:
    return next(seed) % 8 == 0 ? at + 1 : size;
  default: {
    while (at > 0 && text[at - 1] != '"' && text[at - 1] != '\'') {
      at--;
    }
    const char* word = words[below(seed, sizeof words / sizeof words[0])];
    return replace(text, size, at, value_end(text, size, at), word, strlen(word));
  }
  }
}

static int attack(const char* path, long count) {
  uint64_t seed = UINT64_C(88172645463325252);
  static uint8_t text[LARGEST], whole[LARGEST];
  FILE* file = fopen(path, "rb");
  size_t all = file != NULL ? fread(whole, 1, LARGEST / 2, file) : 0;
  if (file != NULL) {
    fclose(file);
  }
  for (long k = 0; k < count && all > 0; k++) {
    size_t size = all;
    memcpy(text, whole, all);
    for (size_t times = 1 + below(&seed, 4); times > 0 && size > 0; times--) {
      size = damage(text, size, &seed);
    }
    uint8_t* exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees reads past the end */
    if (exact == NULL) {
      return -1;
    }
    memcpy(exact, text, size);
    int failed = fuzz_urdf(exact, size);
    free(exact);
    if (failed != 0) {
      return -1;
    }
  }
  return all > 0 ? 0 : -1;
}

int main(int argc, char** argv) {
  DIR* entries = argc == 3 ? opendir(argv[1]) : NULL;
  if (entries == NULL) {
    fprintf(stderr, "usage: urdf_mutations FOLDER COUNT\n");
    return 2;
  }
  int files = 0, failed = 0;
  const struct dirent* entry;
  while (failed == 0 && (entry = readdir(entries)) != NULL) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
    if (strstr(entry->d_name, ".urdf") != NULL) {
      failed = attack(path, atol(argv[2]));
      files++;
    }
  }
  closedir(entries);
  printf("%d robots, %s of each damaged\n", files, argv[2]);
  return failed == 0 && files > 0 ? 0 : 1;
}
