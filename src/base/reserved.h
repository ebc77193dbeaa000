/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reserved.h - rejects structs of callers with nonzero reserved members: these are not initialised, or they use a
 * feature of a later version (docs/abi.md).
 */
#ifndef SALTUSI_RESERVED_H
#define SALTUSI_RESERVED_H

#include "saltus/log.h"
#include "saltus/status.h"

#include <stddef.h>
#include <stdint.h>

/* SALTUS_OK, or SALTUS_ERR_RANGE after a message with the name of the struct. */
saltus_status saltusi_reserved_check(const uint64_t* reserved, size_t count, const char* name,
                                     saltus_log log);

/* The check for a struct that ends with SALTUS_RESERVED. */
#define SALTUSI_RESERVED_CHECK(object, name, log)                                                  \
  saltusi_reserved_check((object)->reserved,                                                       \
                         sizeof(object)->reserved / sizeof(object)->reserved[0], name, log)

#endif
