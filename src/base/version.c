/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * version.c - the version as text.
 */
#include "saltus/version.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char* saltus_version(void) {
  return TEXT(SALTUS_VERSION_MAJOR) "." TEXT(SALTUS_VERSION_MINOR) "." TEXT(SALTUS_VERSION_PATCH);
}
