/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * replacement.c - see replacement.h.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/replacement.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name with links resolved; a file that does not exist keeps its name. */
static int resolve(const char* path, char out[SALTUSI_REPLACEMENT_PATH]) {
  char* real = realpath(path, NULL);
  const char* from = real != NULL ? real : path;
  const bool fits = strlen(from) < SALTUSI_REPLACEMENT_PATH;
  if (fits) {
    memcpy(out, from, strlen(from) + 1);
  }
  free(real);
  return fits ? 0 : ENAMETOOLONG;
}

/* Opens a temporary file under an unused name beside the path. */
static int open_aside(saltusi_replacement* r) {
  enum { ATTEMPTS = 100 };
  int file = -1;
  for (int i = 0; i < ATTEMPTS && file < 0; i++) {
    snprintf(r->aside, sizeof r->aside, "%s.%ld-%d.part", r->path, (long)getpid(), i);
    file = open(r->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) {
      break;
    }
  }
  return file;
}

int saltusi_replacement_open(saltusi_replacement* r, const char* path) {
  assert(r != NULL && path != NULL);
  r->file = NULL;
  int error = resolve(path, r->path);
  struct stat old;
  const bool there = error == 0 && stat(r->path, &old) == 0;
  if (there && !S_ISREG(old.st_mode)) {
    error = S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
  } else if (there && access(r->path, W_OK) != 0) {
    error = errno;
  }
  if (error != 0) {
    return error;
  }
  const int file = open_aside(r);
  if (file < 0) {
    return errno;
  }
  if (there && fchmod(file, old.st_mode & 07777) != 0) {
    error = errno;
  }
  r->file = error == 0 ? fdopen(file, "wb") : NULL;
  if (r->file == NULL) {
    error = error != 0 ? error : errno;
    close(file);
    unlink(r->aside);
  }
  return error;
}

int saltusi_replacement_close(saltusi_replacement* r, bool good) {
  assert(r != NULL && r->file != NULL);
  errno = 0;
  int error = ferror(r->file) != 0 || fflush(r->file) != 0 ? errno : 0;
  good = good && ferror(r->file) == 0;
  error = fclose(r->file) != 0 && error == 0 ? errno : error;
  r->file = NULL;
  if (good && error == 0 && rename(r->aside, r->path) != 0) {
    error = errno;
  }
  if (!good || error != 0) {
    unlink(r->aside);
    return error != 0 ? error : EIO;
  }
  return 0;
}
