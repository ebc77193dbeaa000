/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * zip.c - see zip.h.
 */
#include "export/zip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if SALTUS_WITH_ZLIB
#include <zlib.h>
#endif

/* CRC-32 of ISO 3309. */
static uint32_t crc_of(const unsigned char* bytes, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) {
      crc = (crc >> 1) ^ (UINT32_C(0xEDB88320) & (0U - (crc & 1U)));
    }
  }
  return ~crc;
}

/* Deflated bytes, to be freed; NULL: they are stored as they are. */
static unsigned char* pack(const void* bytes, size_t size, size_t* packed) {
#if SALTUS_WITH_ZLIB
  z_stream z = {0};
  if (size == 0 || size > UINT_MAX / 2 ||
      deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    return NULL;
  }
  unsigned char* to = malloc(size);
  z.next_in = (unsigned char*)(uintptr_t)bytes;
  z.avail_in = (unsigned)size;
  z.next_out = to;
  z.avail_out = to != NULL ? (unsigned)size : 0;
  const bool done = to != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END;
  *packed = size - z.avail_out;
  deflateEnd(&z);
  if (!done) {
    free(to);
  }
  return done ? to : NULL;
#else
  (void)bytes, (void)size, (void)packed;
  return NULL;
#endif
}

/* Members that local header and directory share: version needed to sizes of name and extra field. */
static void add_common(saltusi_bytes* to, const char* name, uint32_t crc, size_t packed,
                       size_t size, bool deflated) {
  enum { VERSION = 20, UTF8 = 0x800, MIDNIGHT = 0, NEW_YEAR_1980 = 0x21 };
  saltusi_bytes_little(to, VERSION, 2);
  saltusi_bytes_little(to, UTF8, 2);
  saltusi_bytes_little(to, deflated ? 8 : 0, 2);
  saltusi_bytes_little(to, MIDNIGHT, 2);
  saltusi_bytes_little(to, NEW_YEAR_1980, 2);
  saltusi_bytes_little(to, crc, 4);
  saltusi_bytes_little(to, packed, 4);
  saltusi_bytes_little(to, size, 4);
  saltusi_bytes_little(to, strlen(name), 2);
  saltusi_bytes_little(to, 0, 2);
}

void saltusi_zip_add(saltusi_zip* zip, const char* name, const void* bytes, size_t size) {
  assert(zip != NULL && name != NULL && bytes != NULL);
  size_t packed = size;
  unsigned char* small = pack(bytes, size, &packed);
  const uint32_t crc = crc_of(bytes, size);
  const size_t offset = zip->out.count;
  const bool deflated = small != NULL;
  packed = deflated ? packed : size;
  saltusi_bytes_little(&zip->out, 0x04034b50, 4);
  add_common(&zip->out, name, crc, packed, size, deflated);
  saltusi_bytes_text(&zip->out, name);
  saltusi_bytes_add(&zip->out, deflated ? small : bytes, packed);
  free(small);
  saltusi_bytes* d = &zip->directory;
  saltusi_bytes_little(d, 0x02014b50, 4);
  saltusi_bytes_little(d, 0x0314, 2); /* made by 2.0 on Unix */
  add_common(d, name, crc, packed, size, deflated);
  saltusi_bytes_little(d, 0, 6); /* comment, disk, internal attributes */
  saltusi_bytes_little(d, UINT32_C(0100644) << 16, 4);
  saltusi_bytes_little(d, offset, 4);
  saltusi_bytes_text(d, name);
  zip->count++;
}

bool saltusi_zip_finish(saltusi_zip* zip) {
  assert(zip != NULL && zip->count >= 0);
  const size_t offset = zip->out.count;
  saltusi_bytes_add(&zip->out, zip->directory.at, zip->directory.count);
  saltusi_bytes_little(&zip->out, 0x06054b50, 4);
  saltusi_bytes_little(&zip->out, 0, 4);
  saltusi_bytes_little(&zip->out, (uint64_t)zip->count, 2);
  saltusi_bytes_little(&zip->out, (uint64_t)zip->count, 2);
  saltusi_bytes_little(&zip->out, zip->directory.count, 4);
  saltusi_bytes_little(&zip->out, offset, 4);
  saltusi_bytes_little(&zip->out, 0, 2);
  return !zip->out.failed && !zip->directory.failed && zip->out.count < UINT32_MAX &&
         zip->count < UINT16_MAX;
}

void saltusi_zip_free(saltusi_zip* zip) {
  assert(zip != NULL);
  saltusi_bytes_free(&zip->out);
  saltusi_bytes_free(&zip->directory);
}
