/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * license.h - files as texts, written by CMake: the licence, and the step of exported C.
 */
#ifndef SALTUSI_EXPORT_LICENSE_H
#define SALTUSI_EXPORT_LICENSE_H

extern const char saltusi_license_text[];
extern const char saltusi_step_template[];

#endif
