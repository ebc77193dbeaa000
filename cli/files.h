/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * files.h - files that commands write: existing files are replaced only with --force, and a new file gets its name
 * when it is complete.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "base/replacement.h"
#include "cli.h"

/* CLI_USAGE after a message if an option with CLI_WRITES names an existing file without --force, or a file that is not
 * regular. An empty file is replaced. */
int cli_outputs_check(const cli_args* args);

/* The same for a file that is not named by an option. */
int cli_output_check(const cli_args* args, const char* path);

/* A file for writing; CLI_USAGE after a message. */
int cli_file_open(saltusi_replacement* file, const char* path);

/* Completes the file. CLI_FAILED after a message if it is not good or cannot be written completely; the old file then
 * stays. */
int cli_file_close(saltusi_replacement* file, bool good);

/* Exit code where a file could not be written: a path that cannot be written is a fault of the command line, a full disk or
 * a limit of file sizes is not. */
int cli_unwritten_code(const char* path);

/* Whether two names denote the same file. */
bool cli_same_file(const char* a, const char* b);

#endif
