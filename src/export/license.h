/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * license.h - the licence as text; written by CMake from the file LICENSE.
 */
#ifndef SALTUSI_EXPORT_LICENSE_H
#define SALTUSI_EXPORT_LICENSE_H

extern const char saltusi_license_text[];

#endif
