/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * version.h - the library's version; CMake reads these three lines.
 */
#ifndef SALTUS_VERSION_H
#define SALTUS_VERSION_H

#include "saltus/api.h"

#include <stdbool.h>

#define SALTUS_VERSION_MAJOR 0
#define SALTUS_VERSION_MINOR 9
#define SALTUS_VERSION_PATCH 0

/* Version of these headers: 900 for 0.9.0, 10203 for 1.2.3. */
#define SALTUS_VERSION_NUMBER                                                                      \
  (10000 * SALTUS_VERSION_MAJOR + 100 * SALTUS_VERSION_MINOR + SALTUS_VERSION_PATCH)

SALTUS_BEGIN_DECLS

/* Version of the linked library: "0.9.0". */
SALTUS_API const char* saltus_version(void);

/* SALTUS_VERSION_NUMBER of the library that is linked, to compare with that of the headers. */
SALTUS_API int saltus_version_number(void);

/* Whether the library was built with an optional part: "yaml" (scenes), "hdf5" (recordings), "expat"
 * (robots in URDF), "qhull" (hulls of points), "cxsparse" (global friction problems), "amd", "threads". Functions that need a
 * missing part return SALTUS_ERR_UNSUPPORTED, with a message that names the CMake option. False for other
 * names. */
SALTUS_API bool saltus_has(const char* part);

SALTUS_END_DECLS

#endif
