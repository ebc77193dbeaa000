/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sha256.h - SHA-256 (FIPS 180-4), for provenance; other programs compute it as well.
 */
#ifndef SALTUSI_SHA256_H
#define SALTUSI_SHA256_H

#include <stddef.h>

enum { SALTUSI_SHA256_TEXT = 65 }; /* 64 digits and a terminating zero */

/* Lower case hexadecimal digits, as sha256sum prints them. */
void saltusi_sha256(const void* bytes, size_t count, char text[SALTUSI_SHA256_TEXT]);

#endif
