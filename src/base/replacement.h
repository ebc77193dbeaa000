/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * replacement.h - files that are written beside their name and take it when they are whole. A process that is killed
 * or that fails leaves the old file as it was. The new file has the mode of the old one; a link stays a link.
 */
#ifndef SALTUSI_REPLACEMENT_H
#define SALTUSI_REPLACEMENT_H

#include <stdbool.h>
#include <stdio.h>

enum { SALTUSI_REPLACEMENT_PATH = 4096 };

typedef struct saltusi_replacement {
  FILE* file; /* NULL: none is open */
  char path[SALTUSI_REPLACEMENT_PATH];
  char aside[SALTUSI_REPLACEMENT_PATH + 64];
} saltusi_replacement;

/* 0, or an errno value: EINVAL where the name belongs to something else than a regular file. */
int saltusi_replacement_open(saltusi_replacement* r, const char* path);

/* Names the file if it is good and was written to its end, else removes it. 0, or an errno value. */
int saltusi_replacement_close(saltusi_replacement* r, bool good);

#endif
