/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * files.c - see files.h.
 */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The switch of that name; a command may have an option with a value of that name. */
static const cli_option* force_of(const cli_command* command) {
  for (int i = 0; i < command->option_count; i++) {
    const cli_option* option = &command->options[i];
    if (strcmp(option->name, "--force") == 0 && option->value == NULL) {
      return option;
    }
  }
  return NULL;
}

int cli_output_check(const cli_args* args, const char* path) {
  struct stat there;
  if (stat(path, &there) != 0) {
    return CLI_DONE; /* a name that cannot be written is rejected when it is opened */
  }
  const cli_option* force = force_of(args->command);
  if (!S_ISREG(there.st_mode)) {
    cli_error("%s: %s is no regular file and cannot be written", args->command->name, path);
    return CLI_USAGE;
  }
  if (there.st_size == 0 || (force != NULL && cli_has(args, "--force"))) {
    return CLI_DONE;
  }
  cli_error("%s: %s exists and is not overwritten; give another name%s", args->command->name, path,
            force != NULL ? ", or --force" : "");
  return CLI_USAGE;
}

int cli_outputs_check(const cli_args* args) {
  int code = CLI_DONE;
  for (int i = 0; i < args->given_count && code == CLI_DONE; i++) {
    const cli_given* given = &args->given[i];
    const bool stdout_meant = given->value != NULL && strcmp(given->value, "-") == 0;
    if ((given->option->traits & CLI_WRITES) != 0 && !stdout_meant) {
      code = cli_output_check(args, given->value);
    }
  }
  return code;
}

int cli_unwritten_code(const char* path) {
  enum { SMALLEST = 8 << 20 }; /* bytes; a recording reserves space when it is opened */
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return CLI_FAILED;
  }
  const char* slash = strrchr(path, '/');
  char* folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : NULL;
  struct statvfs disk;
  const bool full = statvfs(folder != NULL ? folder : ".", &disk) == 0 &&
                    disk.f_bavail < SMALLEST / (disk.f_frsize ? disk.f_frsize : 1);
  free(folder);
  return full ? CLI_FAILED : CLI_USAGE;
}

int cli_file_open(saltusi_replacement* file, const char* path) {
  int error = saltusi_replacement_open(file, path);
  if (error != 0) {
    cli_error("cannot write %s: %s", path,
              error == EINVAL ? "it is no regular file" : strerror(error));
    return CLI_USAGE;
  }
  return CLI_DONE;
}

int cli_file_close(saltusi_replacement* file, bool good) {
  int error = saltusi_replacement_close(file, good);
  if (error != 0) {
    cli_error("%s could not be written: %s", file->path, strerror(error));
    return CLI_FAILED;
  }
  return CLI_DONE;
}

bool cli_same_file(const char* a, const char* b) {
  struct stat one;
  struct stat other;
  return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}
