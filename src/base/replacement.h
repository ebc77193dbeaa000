/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * replacement.h - atomic replacement of files: written under a temporary name and renamed when complete. A process
 * that fails or is killed leaves the old file unchanged. The new file has the mode of the old one; a link stays a
 * link.
 */
#ifndef SALTUSI_REPLACEMENT_H
#define SALTUSI_REPLACEMENT_H

#include <stdbool.h>
#include <stdio.h>

enum { SALTUSI_REPLACEMENT_PATH = 4096 };

typedef struct saltusi_replacement {
  FILE* file; /* NULL: not open */
  char path[SALTUSI_REPLACEMENT_PATH];
  char aside[SALTUSI_REPLACEMENT_PATH + 64];
} saltusi_replacement;

/* 0, or an errno value: EINVAL when the name belongs to a file that is not regular. */
int saltusi_replacement_open(saltusi_replacement* r, const char* path);

/* Renames the file if `good` and completely written, else removes it. 0, or an errno value. */
int saltusi_replacement_close(saltusi_replacement* r, bool good);

#endif
