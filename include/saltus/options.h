/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * options.h - options structs that describe themselves.
 *
 * An options struct has named members and one table of fields. The table is the only place for
 * defaults, ranges and texts: the defaults function, the range check, the scene reader, the
 * command line and the reference pages are made from it.
 */
#ifndef SALTUS_OPTIONS_H
#define SALTUS_OPTIONS_H

#include "saltus/api.h"
#include "saltus/log.h"
#include "saltus/status.h"

#include <stddef.h>

SALTUS_BEGIN_DECLS

typedef enum saltus_field_type {
  SALTUS_FIELD_REAL,  /* double */
  SALTUS_FIELD_INT,   /* int */
  SALTUS_FIELD_CHOICE /* int, one of `choices` by position */
} saltus_field_type;

typedef struct saltus_field {
  const char* name;
  saltus_field_type type;
  size_t offset;
  double fallback, lo, hi;    /* inclusive range */
  const char* const* choices; /* NULL-terminated names, for SALTUS_FIELD_CHOICE */
  const char* doc;            /* one line, unit in brackets */
} saltus_field;

#define SALTUS_REAL(S, member, fallback, lo, hi, doc)                                              \
  { #member, SALTUS_FIELD_REAL, offsetof(S, member), fallback, lo, hi, NULL, doc }
#define SALTUS_INT(S, member, fallback, lo, hi, doc)                                               \
  { #member, SALTUS_FIELD_INT, offsetof(S, member), fallback, lo, hi, NULL, doc }
#define SALTUS_CHOICE(S, member, fallback, last, names, doc)                                       \
  { #member, SALTUS_FIELD_CHOICE, offsetof(S, member), fallback, 0, last, names, doc }

typedef struct saltus_field_table {
  const saltus_field* fields;
  int count;
  size_t size; /* bytes of the struct */
} saltus_field_table;

/* Sets all fields of the struct `options` [table->size bytes] to their defaults. */
SALTUS_API void saltus_options_defaults(const saltus_field_table* table, void* options);

/* The field of this name; NULL: none. */
SALTUS_API const saltus_field* saltus_options_find(const saltus_field_table* table,
                                                   const char* name);

/* SALTUS_ERR_RANGE, with a message that names member and value, if a value is out of range. */
SALTUS_API saltus_status saltus_options_check(const saltus_field_table* table, const void* options,
                                              const char* owner, saltus_log log);

/* Sets one member from text ("0.5", "midpoint"). On failure the struct is untouched and the message
 * names the member, the text and the allowed values. */
SALTUS_API saltus_status saltus_options_set(const saltus_field_table* table, void* options,
                                            const char* owner, const char* name, const char* text,
                                            saltus_log log);

/* Sets members from one text, "theta=0.5 gamma=1"; NULL: none. Stops at the first error; earlier members are set. */
SALTUS_API saltus_status saltus_options_set_line(const saltus_field_table* table, void* options,
                                                 const char* owner, const char* line,
                                                 saltus_log log);

/* Writes "name=value" of one field into text; returns text. */
SALTUS_API const char* saltus_options_show(const saltus_field* field, const void* options,
                                           char* text, size_t bytes);

SALTUS_END_DECLS

#endif
