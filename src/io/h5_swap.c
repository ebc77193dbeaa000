/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The HDF5 format of a recording. HDF5 modifies many blocks of a file when it appends, so a file
 * that is being extended is not readable after a kill. Hence two files: `front` has the name the
 * user gave and is never open for writing; `back` lags one flush behind. A flush updates `back` (the batch of the last
 * flush, then the new one), closes it and exchanges the two names.
 * Every frame is written twice, and a recording needs twice its size on disk until it is closed.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/log.h"
#include "io/files.h"
#include "io/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct two_files {
  const char *front, *back, *spare, *lock_path;
  int lock;        /* held from the first access to the files to the last; -1: none */
  bool back_whole; /* `back` equals `front` without the batch `old` */
  saltusi_batch old;
} two_files;

static saltus_status fail(const saltus_recording* r, const char* what, const char* reason) {
  if (r->t_kept == r->t_kept) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR,
                "%s: %s: %s; the recording holds everything up to t = %.9g s", r->path, what,
                reason, r->t_kept);
  } else {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: %s: %s; the recording holds no frame", r->path,
                what, reason);
  }
  return SALTUS_ERR_IO;
}

static saltus_status fail_with(const saltus_recording* r, const char* what, int error) {
  bool full = error == ENOSPC || error == EDQUOT;
  return fail(r, full ? "disk full" : what, strerror(error));
}

/* A recording through a link is written to the target of the link. */
static char* resolve(saltus_recording* r) {
  char* real = realpath(r->path, NULL);
  char* path = saltusi_pool_text(&r->pool, real ? real : r->path);
  free(real);
  return path;
}

/* HDF5 does not report errno, so the path is opened directly first. */
static int try_path(const two_files* f) {
  struct stat there;
  if (stat(f->front, &there) == 0 && !S_ISREG(there.st_mode)) {
    return S_ISDIR(there.st_mode) ? EISDIR : EINVAL;
  }
  if (access(f->front, F_OK) == 0 && access(f->front, W_OK) != 0) {
    return errno;
  }
  return 0;
}

/* Removes the remains of a killed run: an empty file, or the beginning of an HDF5 file. Any
 * other file is foreign and stays. */
static int remove_remains(const char* path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char begin[sizeof signature];
  struct stat there;
  if (lstat(path, &there) != 0) {
    return errno == ENOENT ? 0 : errno;
  }
  int file = S_ISREG(there.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  ssize_t got = file >= 0 ? read(file, begin, sizeof begin) : -1;
  if (file >= 0) {
    close(file);
  }
  bool ours =
      got == 0 || (got == (ssize_t)sizeof begin && memcmp(begin, signature, sizeof begin) == 0);
  return !ours ? EEXIST : unlink(path) == 0 ? 0 : errno;
}

/* Creates an empty `back` with the mode of `front`. */
static int open_back(const two_files* f) {
  int error = remove_remains(f->back);
  error = error == 0 ? remove_remains(f->spare) : error;
  if (error) {
    return error;
  }
  struct stat old;
  bool there = stat(f->front, &old) == 0;
  int file = open(f->back, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    return errno;
  }
  error = there && fchmod(file, old.st_mode & 07777) != 0 ? errno : 0;
  return close(file) == 0 ? error : errno;
}

/* An empty file may be replaced. */
static bool is_foreign(const two_files* f) {
  struct stat there;
  return stat(f->front, &there) == 0 && there.st_size > 0 && !saltusi_h5_is_recording(f->front);
}

static saltus_status begin(saltus_recording* r, two_files* f) {
  int error = try_path(f);
  if (error == 0) {
    error = saltusi_file_lock(f->lock_path, &f->lock);
  }
  if (error == EWOULDBLOCK) {
    return saltusi_refuse_shared(r, r->path);
  }
  if (error == 0 && !r->force && is_foreign(f)) {
    return saltusi_refuse_foreign(r, r->path);
  }
  if (error == 0) {
    error = open_back(f);
  }
  if (error == 0) {
    error = saltusi_file_reserve(f->back, saltusi_h5_growth(r, &f->old));
  }
  if (error) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: cannot write the recording: %s%s", r->path,
                error == EEXIST ? f->back : strerror(error),
                error == EEXIST ? " or the spare file beside it is there and was not written by "
                                  "Saltus; remove it, or give another name"
                                : "");
    return SALTUS_ERR_IO;
  }
  saltus_status status = saltusi_h5_create(f->back, r);
  if (status != SALTUS_OK) {
    return status;
  }
  if (rename(f->back, f->front) != 0) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: cannot write the recording: %s", r->path,
                strerror(errno));
    return SALTUS_ERR_IO;
  }
  return SALTUS_OK;
}

static saltus_status create(saltus_recording* r) {
  two_files* f = saltusi_pool_take(&r->pool, 1, sizeof *f);
  if (!f) {
    return SALTUS_ERR_MEMORY;
  }
  r->file = f;
  f->front = resolve(r);
  f->back = f->front ? saltusi_pool_join(&r->pool, f->front, ".saltus-back") : NULL;
  f->spare = f->front ? saltusi_pool_join(&r->pool, f->front, ".saltus-spare") : NULL;
  f->lock_path = f->front ? saltusi_pool_join(&r->pool, f->front, ".saltus-lock") : NULL;
  f->lock = -1;
  if (!f->back || !f->spare || !f->lock_path || saltusi_batch_take(r, &f->old) != SALTUS_OK) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = begin(r, f);
  if (status != SALTUS_OK && f->lock >= 0) {
    (void)remove_remains(f->back);
    saltusi_file_unlock(f->lock_path, f->lock);
  }
  return status;
}

static saltus_status copy_front(const saltus_recording* r, two_files* f) {
  int error = saltusi_file_copy(f->front, f->back);
  if (error) {
    return fail_with(r, "cannot copy the recording", error);
  }
  f->back_whole = true;
  saltusi_batch_pass(&f->old);
  return SALTUS_OK;
}

/* Updates `back`. If it cannot be opened (locked by a reader, or removed), it is copied again from `front`. */
static saltus_status extend(saltus_recording* r, two_files* f,
                            const saltus_recording_summary* final) {
  char text[SALTUSI_H5_TEXT] = "";
  bool opened = false;
  for (int attempt = 0; attempt < 2 && !opened; attempt++) {
    if (!f->back_whole || attempt > 0) {
      saltus_status status = copy_front(r, f);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    int error = saltusi_file_reserve(f->back, saltusi_h5_growth(r, &f->old));
    if (error && error != ENOENT) {
      return fail_with(r, "cannot write", error);
    }
    saltusi_h5_append what = {.path = f->back, .batches = {&f->old, &r->fresh}, .final = final};
    if (saltusi_h5_extend(r, &what, &opened, text) == SALTUS_OK) {
      return SALTUS_OK;
    }
  }
  return fail(r, "cannot write", text);
}

static saltus_status flush(saltus_recording* r, const saltus_recording_summary* final) {
  two_files* f = r->file;
  if (!final && r->fresh.frames == 0 && r->fresh.events == 0) {
    return SALTUS_OK;
  }
  saltus_status status = extend(r, f, final);
  if (status != SALTUS_OK) {
    f->back_whole = false;
    return status;
  }
  int kept = 0;
  int error = r->sync ? saltusi_file_sync(f->back) : 0;
  if (error == 0) {
    error = final ? (rename(f->back, f->front) == 0 ? 0 : errno)
                  : saltusi_file_exchange(f->front, f->back, f->spare, &kept);
  }
  if (error) {
    f->back_whole = false;
    return fail_with(r, "cannot write", error);
  }
  /* the batch just written to front is missing in back */
  f->back_whole = kept;
  saltusi_batch lacking = r->fresh;
  saltusi_batch_pass(&r->fresh);
  saltusi_batch next = f->old; /* its arrays are free now */
  next.frames = next.events = 0;
  next.rows.count = 0;
  next.first_frame = r->fresh.first_frame;
  next.first_event = r->fresh.first_event;
  next.rows.first = r->fresh.rows.first;
  r->fresh = next;
  f->old = lacking;
  return SALTUS_OK;
}

/* After a failure, the disk space of `back` may suffice for a copy of `front` with the reason of the failure. */
static void say_failure(saltus_recording* r, const two_files* f, const char* failure) {
  unlink(f->back);
  unlink(f->spare);
  if (!failure || saltusi_file_copy(f->front, f->back) != 0) {
    unlink(f->back);
    return;
  }
  saltus_recording_summary summary = {
      .failure = failure, .steps = -1, .cpu_seconds = r->head.cpu_seconds};
  saltusi_h5_append what = {.path = f->back, .final = &summary};
  char text[SALTUSI_H5_TEXT];
  bool opened = false;
  if (saltusi_h5_extend(r, &what, &opened, text) != SALTUS_OK || rename(f->back, f->front) != 0) {
    unlink(f->back);
  }
}

static void release(saltus_recording* r, const char* failure) {
  two_files* f = r->file;
  say_failure(r, f, failure);
  saltusi_file_unlock(f->lock_path, f->lock);
  f->lock = -1;
}

const saltusi_format saltusi_format_hdf5 = {
    .extension = ".h5", .create = create, .flush = flush, .release = release};
