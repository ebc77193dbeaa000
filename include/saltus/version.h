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
#define SALTUS_VERSION_MINOR 1
#define SALTUS_VERSION_PATCH 0

SALTUS_BEGIN_DECLS

/* "0.1.0" of the library that is linked. */
SALTUS_API const char* saltus_version(void);

/* Whether the library was built with an optional part: "yaml" (scenes), "hdf5" (recordings), "cxsparse"
 * (global friction problems), "amd", "threads". What needs a part that is missing answers
 * SALTUS_ERR_UNSUPPORTED, with a message that names the CMake option. False for other names. */
SALTUS_API bool saltus_has(const char* part);

SALTUS_END_DECLS

#endif
