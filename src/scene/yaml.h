/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * yaml.h - a YAML text as a plain tree with positions, so that only one file depends on libfyaml.
 */
#ifndef SALTUSI_YAML_H
#define SALTUSI_YAML_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>

typedef enum saltusi_yaml_kind {
  SALTUSI_YAML_SCALAR,
  SALTUSI_YAML_SEQUENCE,
  SALTUSI_YAML_MAPPING
} saltusi_yaml_kind;

typedef struct saltusi_yaml_node {
  saltusi_yaml_kind kind;
  int line, column; /* from 1 */
  const char* text; /* of a scalar; "" otherwise */
  bool absent;      /* a key without a value, not even quotes: a scalar with text "" */
  bool folded;      /* text over several lines: offsets in it are not columns of the file */
  int count;        /* children */
  struct saltusi_yaml_node* children;
  const struct saltusi_yaml_node* keys; /* of a mapping: [count] scalars */
} saltusi_yaml_node;

/* Parses one document; text ends with a zero byte. SALTUS_ERR_INPUT after a message
 * "file:line:column: ..."; a second document, bytes that are not UTF-8, anchors, aliases, tags and
 * keys that are not plain words are rejected. No message for SALTUS_ERR_MEMORY.
 * SALTUS_ERR_UNSUPPORTED where the library is built without libfyaml. */
saltus_status saltusi_yaml_parse(const char* text, size_t length, const char* file,
                                 saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out);

/* include.c: replaces the section `include` by the entries of its robots; false: there is none. */
struct saltusi_scene_builder;
bool saltusi_scene_include(struct saltusi_scene_builder* builder, saltusi_yaml_node* root);

const char* saltusi_yaml_kind_name(saltusi_yaml_kind kind); /* "a mapping" */

/* The value of a key; NULL when the mapping has none. */
const saltusi_yaml_node* saltusi_yaml_find(const saltusi_yaml_node* mapping, const char* key);

#endif
