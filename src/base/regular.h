/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * regular.h - regular files opened for reading. Pipes and devices are rejected without waiting for a writer.
 */
#ifndef SALTUSI_REGULAR_H
#define SALTUSI_REGULAR_H

#include <stdio.h>

/* Descriptor, or -1 with errno: EISDIR for folders, EINVAL for other files that are not regular. */
int saltusi_regular_open(const char* path);
/* The same as a stream; NULL: errno. */
FILE* saltusi_regular_stream(const char* path);
/* Text of an errno of these functions, for messages. */
const char* saltusi_regular_reason(int error);

#endif
