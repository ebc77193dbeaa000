/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * regular.c - regular files opened for reading. O_NONBLOCK returns at once from a pipe without a writer and has no
 * effect on regular files; the type is read from the descriptor, so that the name cannot change in between.
 */
#include "base/regular.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int saltusi_regular_open(const char* path) {
  assert(path != NULL);
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) {
    return -1;
  }
  if (!S_ISREG(about.st_mode)) {
    close(file);
    errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    return -1;
  }
  return file;
}

FILE* saltusi_regular_stream(const char* path) {
  const int file = saltusi_regular_open(path);
  FILE* stream = file >= 0 ? fdopen(file, "rb") : NULL;
  if (file >= 0 && stream == NULL) {
    close(file);
  }
  return stream;
}

const char* saltusi_regular_reason(int error) {
  return error == EINVAL ? "it is no regular file" : strerror(error);
}
