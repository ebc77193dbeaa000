/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * json.h - sequential writer of JSON. Numbers keep all digits; numbers that are not finite become null.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct json {
  FILE* file;
  int depth;
  bool filled; /* the current object or array has a member */
} json;

/* name NULL: a member of an array, or the whole text. */
void json_open(json* j, const char* name, char bracket); /* '{' or '[' */
void json_close(json* j, char bracket);                  /* '}' or ']' */
void json_number(json* j, const char* name, double value);
void json_integer(json* j, const char* name, long long value);
void json_text(json* j, const char* name, const char* value);
void json_bool(json* j, const char* name, bool value);

#endif
