/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * output.h - output of the program. Names from scenes, recordings and the command line may contain
 * terminal control bytes, which are printed as \x1b and the like.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stddef.h>

/* From here on everything that is printed to stdout goes through the filter. */
void cli_output_start(void);

/* Prints a text unchanged to a file or a pipe, filtered to a terminal. */
void cli_output_exact(const char* text);

/* A name on one line; line breaks are escaped in text[bytes]. */
const char* cli_one_line(const char* name, char* text, size_t bytes);

#endif
