/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.h - names of coordinates, velocities and contacts for messages; made up where the system has none.
 */
#ifndef SALTUSI_SYSTEM_NAMES_H
#define SALTUSI_SYSTEM_NAMES_H

#include "saltus/system.h"

#include <stddef.h>

/* Each returns a name of the system, or text[bytes] with a generated or printable one. */
const char* saltusi_q_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* saltusi_v_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* saltusi_contact_label(const saltus_system* sys, int i, char* text, size_t bytes);

/* The position along velocity i: its coordinate, or where positions are made of something else the velocity. */
const char* saltusi_along_name(const saltus_system* sys, int i, char* text, size_t bytes);

#endif
