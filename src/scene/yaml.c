/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * yaml.c - queries of the tree.
 */
#include "scene/yaml.h"

#include <assert.h>
#include <string.h>

const char* saltusi_yaml_kind_name(saltusi_yaml_kind kind) {
  switch (kind) {
  case SALTUSI_YAML_SCALAR:
    return "a single value";
  case SALTUSI_YAML_SEQUENCE:
    return "a list";
  case SALTUSI_YAML_MAPPING:
    return "a mapping";
  }
  return "";
}

const saltusi_yaml_node* saltusi_yaml_find(const saltusi_yaml_node* mapping, const char* key) {
  assert(mapping != NULL && key != NULL);
  for (int i = 0; i < mapping->count && mapping->keys != NULL; i++) {
    if (strcmp(mapping->keys[i].text, key) == 0) {
      return &mapping->children[i];
    }
  }
  return NULL;
}
