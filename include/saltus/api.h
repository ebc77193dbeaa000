/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * api.h - what every public header starts from: export marks and C++ linkage.
 */
#ifndef SALTUS_API_H
#define SALTUS_API_H

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

#endif
