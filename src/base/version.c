/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * version.c - the version as text, and the configuration of the build.
 */
#include "saltus/version.h"

#include <assert.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char* saltus_version(void) {
  return TEXT(SALTUS_VERSION_MAJOR) "." TEXT(SALTUS_VERSION_MINOR) "." TEXT(SALTUS_VERSION_PATCH);
}

int saltus_version_number(void) {
  return SALTUS_VERSION_NUMBER;
}

bool saltus_has(const char* part) {
  assert(part != NULL);
  static const struct {
    const char* name;
    bool there;
  } parts[] = {
      {"yaml", SALTUS_WITH_YAML},         {"hdf5", SALTUS_WITH_HDF5},
      {"expat", SALTUS_WITH_EXPAT},       {"qhull", SALTUS_WITH_QHULL},
      {"cxsparse", SALTUS_WITH_CXSPARSE}, {"amd", SALTUS_WITH_AMD},
      {"threads", SALTUS_WITH_THREADS},   {"zlib", SALTUS_WITH_ZLIB},
      {"nlopt", SALTUS_WITH_NLOPT},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(parts[i].name, part) == 0) {
      return parts[i].there;
    }
  }
  return false;
}
