/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reader.h - reading a tree of keys and values, with positions in messages.
 */
#ifndef SALTUSI_READER_H
#define SALTUSI_READER_H

#include "saltus/formula.h"
#include "saltus/scene.h"
#include "scene/yaml.h"

typedef struct saltusi_reader {
  const char* file;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status; /* of the first failure */
  bool known;           /* all keys have already been checked */
} saltusi_reader;

/* Limit for a quotation of the file in a message. */
#define SALTUSI_QUOTE "\"%.80s\""

/* Reports "file:line:column: ..." once; later failures are consequences and are not reported. */
void saltusi_reader_fail(saltusi_reader* reader, const saltusi_yaml_node* where, const char* format,
                         ...) __attribute__((format(printf, 3, 4)));

/* Memory from the pool; NULL: the reader is marked as failed, and the caller reports it. */
void* saltusi_reader_take(saltusi_reader* reader, size_t count, size_t item);

/* True when the node is of the kind; else the message contains the argument `what`. */
bool saltusi_reader_expect(saltusi_reader* reader, const saltusi_yaml_node* node,
                           saltusi_yaml_kind kind, const char* what);

/* keys.c: names of the keys of a section, at most `most`; returns their number. */
int saltusi_scene_section(const char* section, const char** names, int most);

/* True when the node is a mapping with keys of this section only (saltus_scene_key_at); the last
 * text is its name in messages. */
bool saltusi_reader_keys(saltusi_reader* reader, const saltusi_yaml_node* node, const char* section,
                         const char* what);

/* A section whose entries may all be absent: NULL when it is not given or empty. */
const saltusi_yaml_node* saltusi_reader_section(const saltusi_yaml_node* root, const char* key);

/* The text of a scalar; NULL when the node is NULL or, after a message, not a text. An empty text
 * has to be written with quotes. */
const char* saltusi_reader_text(saltusi_reader* reader, const saltusi_yaml_node* node,
                                const char* what);

/* A formula with its line; text NULL when the node is NULL or, after a message, not a formula. */
saltus_formula_text saltusi_reader_formula(saltusi_reader* reader, const saltusi_yaml_node* node,
                                           const char* what);

/* File and line as the prefix of messages from another function. */
typedef struct saltusi_placed_log {
  saltus_log inner;
  const char* file;
  int line, column;
} saltusi_placed_log;

saltus_log saltusi_reader_log_at(const saltusi_reader* reader, const saltusi_yaml_node* where,
                                 saltusi_placed_log* placed);

#endif
