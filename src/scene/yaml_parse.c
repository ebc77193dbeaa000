/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * yaml_parse.c - from libfyaml's document to our tree. Bytes that are not UTF-8 text are rejected
 * before parsing, so that messages can be printed.
 */
#include "scene/yaml.h"

#include "base/index.h"
#include "base/log.h"

#include <assert.h>
#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

typedef struct yaml_parse_builder {
  const char* file;
  const char* text;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status;
} yaml_parse_builder;

static void fail(yaml_parse_builder* b, saltus_status status) {
  b->status = b->status == SALTUS_OK ? status : b->status;
}

static void refuse(yaml_parse_builder* b, int line, int column, const char* why) {
  if (b->status == SALTUS_OK) {
    saltusi_log(b->log, SALTUS_LEVEL_ERROR, "%s:%d:%d: %s", b->file, line, column, why);
  }
  fail(b, SALTUS_ERR_INPUT);
}

/* Line and column of a scalar, from its token; for a collection, those of its first scalar. A
 * scalar over more than one line loses its indentation or is folded, so columns inside it are
 * not those of the file. */
static void place(struct fy_node* node, saltusi_yaml_node* to) {
  if (node != NULL && fy_node_is_scalar(node)) {
    struct fy_token* token = fy_node_get_scalar_token(node);
    const struct fy_mark* mark = token != NULL ? fy_token_start_mark(token) : NULL;
    const struct fy_mark* last = token != NULL ? fy_token_end_mark(token) : NULL;
    if (mark != NULL) {
      to->line = mark->line + 1;
      to->column = mark->column + 1;
      to->folded = last != NULL && last->line > mark->line;
    }
  }
}

static void build(yaml_parse_builder* b, struct fy_node* from, saltusi_yaml_node* to);

static void build_scalar(yaml_parse_builder* b, struct fy_node* from, saltusi_yaml_node* to) {
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
  to->absent = length == 0 && fy_node_get_style(from) == FYNS_PLAIN;
}

static void refuse_yaml(yaml_parse_builder* b, int line, int column, const char* what);

/* The parser's quadratic search for equal keys is disabled. */
static void build_mapping(yaml_parse_builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  int count = fy_node_mapping_item_count(from);
  saltusi_yaml_node* keys = SALTUSI_TAKE(b->pool, saltusi_yaml_node, count);
  to->children = SALTUSI_TAKE(b->pool, saltusi_yaml_node, count);
  saltusi_index seen;
  if (keys == NULL || to->children == NULL || !saltusi_index_start(&seen, count, b->pool)) {
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
    if (b->status == SALTUS_OK && saltusi_index_add(&seen, key->text) < 0) {
      refuse_yaml(b, key->line, key->column, "duplicate key");
      return;
    }
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

static void build_sequence(yaml_parse_builder* b, struct fy_node* from, saltusi_yaml_node* to) {
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

static void build(yaml_parse_builder* b, struct fy_node* from, saltusi_yaml_node* to) {
  to->text = "";
  place(from, to);
  if (from == NULL) { /* "key:" without a value */
    to->absent = true;
    return;
  }
  if (fy_node_is_alias(from)) {
    refuse(b, to->line, to->column, "aliases (*name) are not used in scenes; write the value");
    return;
  }
  if (fy_node_get_anchor(from) != NULL) {
    refuse(b, to->line, to->column, "anchors (&name) are not used in scenes; leave it out");
    return;
  }
  if (fy_node_get_tag_token(from) != NULL) {
    refuse(b, to->line, to->column, "tags (!name) are not used in scenes; leave it out");
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

/* ---- text -------------------------------------------------------------------------------- */

enum { SHOWN = 100 }; /* bytes of a line that a message repeats */

/* Bytes of the UTF-8 character at `at`; 0 when it is none, or one that no text contains. */
static size_t character(const unsigned char* at, size_t left) {
  static const unsigned lowest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (at[0] < 0x80) {
    return at[0] >= 0x20 || at[0] == '\t' || at[0] == '\n' || at[0] == '\r' ? 1 : 0;
  }
  size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : at[0] >= 0xC0 ? 2 : 0;
  if (length == 0 || length > left || at[0] > 0xF4) {
    return 0;
  }
  unsigned code = at[0] & (0x7FU >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (at[i] & 0x3FU);
  }
  bool surrogate = code >= 0xD800 && code < 0xE000;
  return code >= lowest[length] && code < 0x110000 && !surrogate ? length : 0;
}

static bool check_text(yaml_parse_builder* b, const char* text, size_t length) {
  int line = 1;
  int column = 1;
  for (size_t i = 0; i < length;) {
    size_t bytes = character((const unsigned char*)text + i, length - i);
    if (bytes == 0) {
      char why[80];
      snprintf(why, sizeof why, "byte 0x%02x is not text; a scene is UTF-8 text",
               (unsigned char)text[i]);
      refuse(b, line, column, why);
      return false;
    }
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
    i += bytes;
  }
  return true;
}

/* Start of a line, from 1; the end of the text when there are fewer. */
static const char* line_start(const char* text, int line) {
  for (int i = 1; i < line && text != NULL; i++) {
    text = strchr(text, '\n');
    text = text != NULL ? text + 1 : NULL;
  }
  return text != NULL ? text : "";
}

/* The message of the parser for a tab in the indentation is misleading. */
static bool tab_indents(const char* line) {
  line += strspn(line, " ");
  return *line == '\t' && line[strspn(line, " \t\r\n")] != '\0';
}

/* An error message with the line that it concerns. */
static void refuse_yaml(yaml_parse_builder* b, int line, int column, const char* what) {
  const char* start = line_start(b->text, line);
  int shown = (int)strcspn(start, "\r\n");
  char why[512];
  if (shown > 0 && shown <= SHOWN && column <= shown + 1) {
    snprintf(why, sizeof why, "not valid YAML: %.200s\n%.*s\n%*s", what, shown, start, column, "^");
  } else {
    snprintf(why, sizeof why, "not valid YAML: %.200s", what);
  }
  refuse(b, line, column, why);
}

/* The error message of the parser, with its line and column. */
static void report(yaml_parse_builder* b, struct fy_diag* diag) {
  void* state = NULL;
  struct fy_diag_error* error = fy_diag_errors_iterate(diag, &state);
  if (error == NULL || error->line < 1) {
    refuse(b, 1, 1, "not valid YAML");
    return;
  }
  int line = error->line;
  int column = error->column > 0 ? error->column : 1;
  const char* what = error->msg;
  for (int next = line; next <= line + 1; next++) {
    const char* start = line_start(b->text, next);
    if (tab_indents(start)) {
      line = next;
      column = 1 + (int)strspn(start, " ");
      what = "a tab indents this line; only spaces may";
      break;
    }
  }
  refuse_yaml(b, line, column, what);
}

/* ---- document ---------------------------------------------------------------------------- */

/* The one document of the stream, or NULL after a message. */
static struct fy_document* load_document(yaml_parse_builder* b, struct fy_parser* parser,
                                         struct fy_diag* diag) {
  struct fy_document* document = fy_parse_load_document(parser);
  if (document == NULL || fy_document_root(document) == NULL) {
    if (fy_parser_get_stream_error(parser)) {
      report(b, diag);
    } else {
      refuse(b, 1, 1, "the scene is empty");
    }
    fy_parse_document_destroy(parser, document);
    return NULL;
  }
  struct fy_document* second = fy_parse_load_document(parser);
  if (second != NULL || fy_parser_get_stream_error(parser)) {
    if (second != NULL) {
      saltusi_yaml_node first = {.line = 1, .column = 1};
      struct fy_node* root = fy_document_root(second);
      while (root != NULL && fy_node_is_mapping(root)) {
        struct fy_node_pair* pair = fy_node_mapping_get_by_index(root, 0);
        root = pair != NULL ? fy_node_pair_key(pair) : NULL;
      }
      place(root, &first);
      refuse(b, first.line, first.column,
             "a second document (after --- or ...); a file is one scene");
    } else {
      report(b, diag);
    }
    fy_parse_document_destroy(parser, second);
    fy_parse_document_destroy(parser, document);
    return NULL;
  }
  return document;
}

static void parse(yaml_parse_builder* b, size_t length, saltusi_yaml_node* root) {
  struct fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = NULL;
  struct fy_diag* diag = fy_diag_create(&diag_config);
  const struct fy_parse_cfg config = {
      .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS, .diag = diag};
  struct fy_parser* parser = diag != NULL ? fy_parser_create(&config) : NULL;
  if (parser == NULL || fy_parser_set_string(parser, b->text, length) != 0) {
    fail(b, SALTUS_ERR_MEMORY);
  } else {
    fy_diag_set_collect_errors(diag, true);
    struct fy_document* document = load_document(b, parser, diag);
    if (document != NULL) {
      build(b, fy_document_root(document), root);
    }
    fy_parse_document_destroy(parser, document);
  }
  fy_parser_destroy(parser);
  fy_diag_destroy(diag);
}

saltus_status saltusi_yaml_parse(const char* text, size_t length, const char* file,
                                 saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out) {
  assert(text != NULL && pool != NULL && out != NULL);
  *out = NULL;
  yaml_parse_builder b = {.file = file, .text = text, .pool = pool, .log = log};
  saltusi_yaml_node* root = SALTUSI_TAKE(pool, saltusi_yaml_node, 1);
  if (root == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  root->line = 1;
  root->column = 1;
  if (check_text(&b, text, length)) {
    parse(&b, length, root);
  }
  *out = b.status == SALTUS_OK ? root : NULL;
  return b.status;
}
