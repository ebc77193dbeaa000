/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * visible.h - texts from outside, made fit to be shown: a name in a scene or of a file may hold bytes
 * that steer a terminal.
 */
#ifndef SALTUSI_VISIBLE_H
#define SALTUSI_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the first character and its code point; 0 when the bytes are not UTF-8. */
size_t saltusi_character(const char* text, size_t bytes, unsigned long* code);

/* Bytes of the first character, if it may be shown as it is: valid UTF-8 and no control character, line
 * separator or change of the direction of writing; else 0. */
size_t saltusi_visible(const char* text, size_t bytes);

/* Whether more bytes could make a character of these few, which are the beginning of one. */
bool saltusi_visible_cut(const char* text, size_t bytes);

enum { SALTUSI_ESCAPE = 5 };

/* \x1b for a byte that may not; text[SALTUSI_ESCAPE]. */
void saltusi_visible_escape(char byte, char* text);

/* A whole text into out[size]; one that does not fit is cut. Returns out. */
const char* saltusi_visible_text(const char* text, char* out, size_t size);

#endif
