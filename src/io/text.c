/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/text.h"

#include "base/log.h"
#include "base/number.h"
#include "base/regular.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 or errno; *got may be less than size when the file shrinks meanwhile. */
static int read_bytes(int file, char* bytes, size_t size, size_t* got) {
  *got = 0;
  while (*got < size) {
    ssize_t n = read(file, bytes + *got, size - *got);
    if (n == 0) {
      return 0;
    }
    if (n > 0) {
      *got += (size_t)n;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static saltus_status load_opened(int file, saltusi_pool* pool, saltusi_lines* lines, int* error) {
  struct stat about;
  if (fstat(file, &about) != 0) {
    *error = errno;
    return SALTUS_ERR_IO;
  }
  if (!S_ISREG(about.st_mode)) {
    *error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    return SALTUS_ERR_IO;
  }
  size_t size = (size_t)about.st_size, got = 0;
  char* text = saltusi_pool_take(pool, size + 1, 1);
  if (!text) {
    return SALTUS_ERR_MEMORY;
  }
  *error = read_bytes(file, text, size, &got);
  *lines = (saltusi_lines){.at = text, .end = text + got};
  return *error ? SALTUS_ERR_IO : SALTUS_OK;
}

saltus_status saltusi_text_load(const char* path, saltus_log log, saltusi_pool* pool,
                                saltusi_lines* lines) {
  assert(path != NULL && pool != NULL && lines != NULL);
  int error = 0;
  saltus_status status = SALTUS_ERR_IO;
  int file = saltusi_regular_open(path);
  if (file < 0) {
    error = errno;
  } else {
    status = load_opened(file, pool, lines, &error);
    close(file);
  }
  if (status == SALTUS_ERR_IO) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be read: %s", path,
                saltusi_regular_reason(error));
  }
  if (status == SALTUS_OK && memchr(lines->at, 0, (size_t)(lines->end - lines->at))) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: not a text table: it contains zero bytes", path);
    return SALTUS_ERR_INPUT;
  }
  return status;
}

char* saltusi_lines_next(saltusi_lines* lines) {
  assert(lines != NULL);
  if (lines->at == lines->end || lines->number == INT_MAX) {
    return NULL;
  }
  char* line = lines->at;
  char* stop = memchr(line, '\n', (size_t)(lines->end - line));
  lines->torn = stop == NULL;
  lines->at = stop ? stop + 1 : lines->end;
  stop = stop ? stop : lines->end; /* the buffer has one byte more for the final zero */
  *stop = 0;
  /* a carriage return in a comment is kept unless all lines of the file end with one */
  bool returned = stop > line && stop[-1] == '\r';
  lines->number++;
  lines->returns = lines->number == 1 ? returned : lines->returns;
  if (returned && (*line != '#' || lines->returns)) {
    stop[-1] = 0;
  }
  return line;
}

/* Removes the quotes of a cell in the buffer; *next is the rest of the line, NULL at the end. */
static bool cut_cell(char* cell, char** next) {
  char *from = cell, *to = cell;
  bool inside = false;
  for (; *from && (inside || *from != ','); from++) {
    if (*from != '"') {
      *to++ = *from;
    } else if (inside && from[1] == '"') {
      *to++ = *from++;
    } else {
      inside = !inside;
    }
  }
  *next = *from ? from + 1 : NULL;
  *to = 0;
  return !inside;
}

int saltusi_cells_cut(char* line, char** cells, int most) {
  assert(line != NULL && cells != NULL && most > 0);
  int count = 0;
  for (char* next = line; next && count < INT_MAX;) {
    char* cell = next;
    if (!cut_cell(cell, &next)) {
      return -1;
    }
    if (count < most) {
      cells[count] = cell;
    }
    count++;
  }
  return count;
}

bool saltusi_cell_number(const char* cell, double* value) {
  assert(cell != NULL && value != NULL);
  char* rest;
  *value = saltusi_number_read(cell, &rest);
  if (rest == cell) {
    return false;
  }
  return rest[strspn(rest, " \t")] == 0;
}
