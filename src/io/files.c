/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Bytes that stay free on a nearly full disk, for other programs. */
enum { ROOM_MARGIN = 64 << 10, COPY_BYTES = 16 << 10 };

static int close_with(int file, int error) {
  int closed = close(file) == 0 ? 0 : errno;
  return error ? error : closed;
}

static int write_all(int file, const char* bytes, size_t count) {
  while (count) {
    ssize_t done = write(file, bytes, count);
    if (done < 0 && errno != EINTR) {
      return errno;
    }
    if (done > 0) {
      bytes += done;
      count -= (size_t)done;
    }
  }
  return 0;
}

static int copy_bytes(int source, int target) {
  char bytes[COPY_BYTES];
  for (;;) {
    ssize_t count = read(source, bytes, sizeof bytes);
    if (count == 0) {
      return 0;
    }
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    int error = count > 0 ? write_all(target, bytes, (size_t)count) : 0;
    if (error) {
      return error;
    }
  }
}

int saltusi_file_copy(const char* from, const char* to) {
  assert(from != NULL && to != NULL);
  int source = open(from, O_RDONLY | O_CLOEXEC);
  if (source < 0) {
    return errno;
  }
  /* a new inode, since the old one may still be read */
  unlink(to);
  int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (target < 0) {
    return close_with(source, errno);
  }
  struct stat about;
  int error = fstat(source, &about) == 0 && fchmod(target, about.st_mode & 07777) == 0 ? 0 : errno;
  error = error == 0 ? copy_bytes(source, target) : error;
  return close_with(source, close_with(target, error));
}

int saltusi_file_reserve(const char* path, size_t bytes) {
  assert(path != NULL);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  struct statvfs disk;
  if (fstatvfs(file, &disk) == 0 &&
      disk.f_bavail < (bytes + ROOM_MARGIN) / (disk.f_frsize ? disk.f_frsize : 1)) {
    return close_with(file, ENOSPC);
  }
  struct stat before;
  if (fstat(file, &before) != 0) {
    return close_with(file, errno);
  }
  /* statvfs ignores quotas and concurrent writers; posix_fallocate does not */
  int error = posix_fallocate(file, before.st_size, (off_t)bytes);
  if (error != ENOSPC && error != EDQUOT && error != EFBIG) {
    return close_with(file, 0); /* without reservation, a full disk is detected while writing */
  }
  if (ftruncate(file, before.st_size) != 0) {
    return close_with(file, errno);
  }
  return close_with(file, error);
}

int saltusi_file_sync(const char* path) {
  assert(path != NULL);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  int error = fsync(file) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOSYS) {
    error = 0; /* the file system does not support fsync */
  }
  return close_with(file, error);
}

int saltusi_file_exchange(const char* front, const char* back, const char* spare, int* kept) {
  assert(front != NULL && back != NULL && spare != NULL && kept != NULL);
  unlink(spare);
  *kept = link(front, spare) == 0;
  if (rename(back, front) != 0) {
    int error = errno;
    if (*kept) {
      unlink(spare);
    }
    return error;
  }
  if (*kept && rename(spare, back) != 0) {
    unlink(spare);
    *kept = 0;
  }
  return 0;
}

int saltusi_file_lock_open(int file) {
  assert(file >= 0);
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return EWOULDBLOCK;
    }
    if (errno != EINTR) {
      return 0; /* a file system without locks */
    }
  }
  return 0;
}

int saltusi_file_lock(const char* path, int* lock) {
  assert(path != NULL && lock != NULL);
  enum { ATTEMPTS = 16 };
  *lock = -1;
  for (int i = 0; i < ATTEMPTS; i++) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
      return errno;
    }
    int error = saltusi_file_lock_open(file);
    if (error) {
      return close_with(file, error);
    }
    /* the previous owner may have removed the name: only a lock under the present name is valid */
    struct stat mine;
    struct stat named;
    if (fstat(file, &mine) == 0 && mine.st_size > 0) {
      return close_with(file, EEXIST); /* lock files are empty: this file is foreign and stays */
    }
    if (fstat(file, &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino &&
        mine.st_dev == named.st_dev) {
      *lock = file;
      return 0;
    }
    close(file);
  }
  return EWOULDBLOCK;
}

void saltusi_file_unlock(const char* path, int lock) {
  assert(path != NULL);
  if (lock >= 0) {
    unlink(path);
    close(lock);
  }
}
