/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * api.h - export marks, C++ linkage and reserved members of all public headers.
 */
#ifndef SALTUS_API_H
#define SALTUS_API_H

#include <stdint.h>

#if defined(_WIN32) && defined(SALTUS_BUILD_SHARED)
#define SALTUS_API __declspec(dllexport)
#elif defined(__GNUC__)
#define SALTUS_API __attribute__((visibility("default")))
#else
#define SALTUS_API
#endif

#ifdef __cplusplus
#define SALTUS_BEGIN_DECLS extern "C" {
#define SALTUS_END_DECLS }
#else
#define SALTUS_BEGIN_DECLS
#define SALTUS_END_DECLS
#endif

/* Reserved for members of later versions, so that a struct keeps its size (docs/abi.md). It has to be zero, as after a
 * designated initialiser; functions reject other values. */
#define SALTUS_RESERVED(count) uint64_t reserved[count]

#endif
