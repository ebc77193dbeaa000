/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.h - names of coordinates, velocities and contacts for messages; generated if the system has none.
 */
#ifndef SALTUSI_SYSTEM_NAMES_H
#define SALTUSI_SYSTEM_NAMES_H

#include "saltus/system.h"
#include "system/evaluate.h"

#include <stddef.h>

/* Each returns a name of the system, or text[bytes] with a generated or printable one. */
const char* saltusi_q_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* saltusi_v_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* saltusi_contact_label(const saltus_system* sys, int i, char* text, size_t bytes);

/* A contact by identity and index of its law: the features of shapes, or the name of the contact. */
const char* saltusi_identity_label(const saltus_system* sys, uint64_t identity, int law, char* text,
                                   size_t bytes);

enum { SALTUSI_CONTACT_TEXT = 160 };
/* Contact `key` of a step for messages: 0 "floor", or "a.left - b.top" between shapes. */
const char* saltusi_key_label(const saltusi_eval* eval, int key, int law,
                              char text[SALTUSI_CONTACT_TEXT]);

/* Name of the position along velocity i: its coordinate, or the velocity for other parametrisations. */
const char* saltusi_along_name(const saltus_system* sys, int i, char* text, size_t bytes);

#endif
