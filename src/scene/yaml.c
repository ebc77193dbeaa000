/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * yaml.c - from libfyaml's document to our tree.
 */
#include "scene/yaml.h"

#include "base/log.h"

#include <libfyaml.h>
#include <string.h>

typedef struct builder {
  const char* file;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status;
} builder;

static void fail(builder* b, saltus_status status) {
  b->status = b->status == SALTUS_OK ? status : b->status;
}

static void refuse(builder* b, int line, int column, const char* why) {
  if (b->status == SALTUS_OK) {
    saltusi_log(b->log, SALTUS_LEVEL_ERROR, "%s:%d:%d: %s", b->file, line, column, why);
  }
  fail(b, SALTUS_ERR_INPUT);
}

/* Place of a scalar, from its token; of anything else it is its first scalar's. */
static void place(struct fy_node* node, int* line, int* column) {
  if (node != NULL && fy_node_is_scalar(node)) {
    struct fy_token* token = fy_node_get_scalar_token(node);
    const struct fy_mark* mark = token != NULL ? fy_token_start_mark(token) : NULL;
    if (mark != NULL) {
      *line = mark->line + 1;
      *column = mark->column + 1;
    }
  }
}

static void build(builder* b, struct fy_node* from, saltusi_yaml_node* to);

static void build_scalar(builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  size_t length = 0;
  const char* text = fy_node_get_scalar(from, &length);
  char* copy = saltusi_pool_take(b->pool, length + 1, 1);
  if (copy == NULL) {
    fail(b, SALTUS_ERR_MEMORY);
    return;
  }
  if (text != NULL && memchr(text, '\0', length) != NULL) {
    refuse(b, to->line, to->column, "the text contains a zero byte");
    return;
  }
  if (text != NULL) {
    memcpy(copy, text, length);
  }
  to->text = copy;
}

static void build_mapping(builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  int count = fy_node_mapping_item_count(from);
  saltusi_yaml_node* keys = SALTUSI_TAKE(b->pool, saltusi_yaml_node, count);
  to->children = SALTUSI_TAKE(b->pool, saltusi_yaml_node, count);
  if (keys == NULL || to->children == NULL) {
    fail(b, SALTUS_ERR_MEMORY);
    return;
  }
  to->keys = keys;
  void* state = NULL;
  struct fy_node_pair* pair;
  while ((pair = fy_node_mapping_iterate(from, &state)) != NULL && b->status == SALTUS_OK &&
         to->count < count) {
    saltusi_yaml_node* key = &keys[to->count];
    key->line = to->line;
    key->column = to->column;
    struct fy_node* key_node = fy_node_pair_key(pair);
    if (key_node == NULL || !fy_node_is_scalar(key_node) || fy_node_is_alias(key_node)) {
      refuse(b, to->line, to->column, "a key has to be a plain word");
      return;
    }
    build(b, key_node, key);
    saltusi_yaml_node* value = &to->children[to->count];
    value->line = key->line;
    value->column = key->column;
    build(b, fy_node_pair_value(pair), value);
    if (to->count == 0) {
      to->line = key->line;
      to->column = key->column;
    }
    to->count++;
  }
}

static void build_sequence(builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  int count = fy_node_sequence_item_count(from);
  to->children = SALTUSI_TAKE(b->pool, saltusi_yaml_node, count);
  if (to->children == NULL) {
    fail(b, SALTUS_ERR_MEMORY);
    return;
  }
  void* state = NULL;
  struct fy_node* item;
  while ((item = fy_node_sequence_iterate(from, &state)) != NULL && b->status == SALTUS_OK &&
         to->count < count) {
    saltusi_yaml_node* child = &to->children[to->count++];
    child->line = to->line;
    child->column = to->column;
    build(b, item, child);
  }
}

static void build(builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  to->text = "";
  place(from, &to->line, &to->column);
  if (from == NULL) { /* "key:" with nothing behind it */
    return;
  }
  if (fy_node_is_alias(from)) {
    refuse(b, to->line, to->column, "aliases (*name) are not used in scenes; write the value");
    return;
  }
  switch (fy_node_get_type(from)) {
  case FYNT_SCALAR:
    to->kind = SALTUSI_YAML_SCALAR;
    build_scalar(b, from, to);
    break;
  case FYNT_SEQUENCE:
    to->kind = SALTUSI_YAML_SEQUENCE;
    build_sequence(b, from, to);
    break;
  case FYNT_MAPPING:
    to->kind = SALTUSI_YAML_MAPPING;
    build_mapping(b, from, to);
    break;
  }
}

/* The parser's own complaint, with its place. */
static void report(struct fy_diag* diag, const char* file, saltus_log log) {
  void* state = NULL;
  struct fy_diag_error* error = diag != NULL ? fy_diag_errors_iterate(diag, &state) : NULL;
  if (error != NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s:%d:%d: not valid YAML: %s", file, error->line,
                error->column, error->msg);
  } else {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: not valid YAML", file);
  }
}

static struct fy_document* parse_document(const char* text, size_t length, const char* file,
                                          saltus_log log) {
  struct fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = NULL;
  struct fy_diag* diag = fy_diag_create(&diag_config);
  if (diag == NULL) {
    return NULL;
  }
  fy_diag_set_collect_errors(diag, true);
  const struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG, .diag = diag};
  struct fy_document* document = fy_document_build_from_string(&config, text, length);
  if (document == NULL) {
    report(diag, file, log);
  }
  fy_diag_destroy(diag);
  return document;
}

saltus_status saltusi_yaml_parse(const char* text, size_t length, const char* file,
                                 saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out) {
  *out = NULL;
  struct fy_document* document = parse_document(text, length, file, log);
  if (document == NULL) {
    return SALTUS_ERR_INPUT;
  }
  builder b = {.file = file, .pool = pool, .log = log};
  saltusi_yaml_node* root = SALTUSI_TAKE(pool, saltusi_yaml_node, 1);
  if (root == NULL) {
    b.status = SALTUS_ERR_MEMORY;
  } else {
    root->line = 1;
    root->column = 1;
    build(&b, fy_document_root(document), root);
  }
  fy_document_destroy(document);
  *out = b.status == SALTUS_OK ? root : NULL;
  return b.status;
}

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
  for (int i = 0; i < mapping->count && mapping->keys != NULL; i++) {
    if (strcmp(mapping->keys[i].text, key) == 0) {
      return &mapping->children[i];
    }
  }
  return NULL;
}
