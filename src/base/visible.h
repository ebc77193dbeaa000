/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * visible.h - text from outside of the program, made safe to display: names in scenes or of files may contain bytes
 * that control a terminal.
 */
#ifndef SALTUSI_VISIBLE_H
#define SALTUSI_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the first character and its code point; 0 when the bytes are not UTF-8. */
size_t saltusi_character(const char* text, size_t bytes, unsigned long* code);

/* Length of the first character, if it may be displayed as it is: valid UTF-8 and no control character, line
 * separator or change of the direction of writing; else 0. */
size_t saltusi_visible(const char* text, size_t bytes);

/* True when these bytes are the incomplete beginning of a character. */
bool saltusi_visible_cut(const char* text, size_t bytes);

enum { SALTUSI_ESCAPE = 5 };

/* The escape \x1b of a byte that may not be displayed; text[SALTUSI_ESCAPE]. */
void saltusi_visible_escape(char byte, char* text);

/* A whole text into out[size], truncated to it. Returns out. */
const char* saltusi_visible_text(const char* text, char* out, size_t size);

#endif
