/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * yaml.h - a YAML text as a plain tree with places, so that only one file knows libfyaml.
 */
#ifndef SALTUSI_YAML_H
#define SALTUSI_YAML_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

typedef enum saltusi_yaml_kind {
  SALTUSI_YAML_SCALAR,
  SALTUSI_YAML_SEQUENCE,
  SALTUSI_YAML_MAPPING
} saltusi_yaml_kind;

typedef struct saltusi_yaml_node {
  saltusi_yaml_kind kind;
  int line, column; /* from 1 */
  const char* text; /* of a scalar; "" otherwise */
  int count;        /* children */
  struct saltusi_yaml_node* children;
  const struct saltusi_yaml_node* keys; /* of a mapping: [count] scalars */
} saltusi_yaml_node;

/* Parses one document. SALTUS_ERR_INPUT after a message "file:line:column: ..."; anchors, aliases
 * and keys that are not plain words are refused. */
saltus_status saltusi_yaml_parse(const char* text, size_t length, const char* file,
                                 saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out);

const char* saltusi_yaml_kind_name(saltusi_yaml_kind kind); /* "a mapping" */

/* The value of a key; NULL when the mapping has none. */
const saltusi_yaml_node* saltusi_yaml_find(const saltusi_yaml_node* mapping, const char* key);

#endif
