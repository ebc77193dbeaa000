/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * files.h - files that commands write: none that is there is replaced without --force, and a new one takes its name
 * when it is whole.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "base/replacement.h"
#include "cli.h"

/* CLI_USAGE after a message when an option with CLI_WRITES names a file that is there, without --force, or anything
 * else than a regular file. An empty file is replaced. */
int cli_outputs_check(const cli_args* args);

/* The same for one file that no option names. */
int cli_output_check(const cli_args* args, const char* path);

/* A file for writing; CLI_USAGE after a message. */
int cli_file_open(saltusi_replacement* file, const char* path);

/* CLI_FAILED after a message when it is not good or cannot be written to its end; the old one then stays. */
int cli_file_close(saltusi_replacement* file, bool good);

/* Whether two names are one file. */
bool cli_same_file(const char* a, const char* b);

#endif
