/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * zip.h - archives in the ZIP format (PKWARE APPNOTE 6.3.3), deflated where the library has zlib. All entries have
 * the date 1980-01-01, so that equal contents give equal bytes.
 */
#ifndef SALTUSI_EXPORT_ZIP_H
#define SALTUSI_EXPORT_ZIP_H

#include "report/bytes.h"

typedef struct saltusi_zip {
  saltusi_bytes out;       /* the archive */
  saltusi_bytes directory; /* its end */
  int count;
} saltusi_zip;

void saltusi_zip_add(saltusi_zip* zip, const char* name, const void* bytes, size_t size);
/* Appends the directory; out is then the archive. False: no memory, or too large. */
bool saltusi_zip_finish(saltusi_zip* zip);
void saltusi_zip_free(saltusi_zip* zip);

#endif
