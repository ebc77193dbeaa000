/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reader.c - see reader.h.
 */
#include "scene/reader.h"

#include "base/log.h"
#include "base/number.h"
#include "base/suggest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void saltusi_reader_fail(saltusi_reader* reader, const saltusi_yaml_node* where, const char* format,
                         ...) {
  assert(reader != NULL && format != NULL);
  if (reader->status != SALTUS_OK) {
    return;
  }
  reader->status = SALTUS_ERR_INPUT;
  char text[768];
  va_list values;
  va_start(values, format);
  saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  saltusi_log(reader->log, SALTUS_LEVEL_ERROR, "%s:%d:%d: %s", reader->file, where->line,
              where->column, text);
}

void* saltusi_reader_take(saltusi_reader* reader, size_t count, size_t item) {
  assert(reader->pool != NULL && item > 0);
  void* room = saltusi_pool_take(reader->pool, count, item);
  if (room == NULL && reader->status == SALTUS_OK) {
    reader->status = SALTUS_ERR_MEMORY;
  }
  return room;
}

bool saltusi_reader_expect(saltusi_reader* reader, const saltusi_yaml_node* node,
                           saltusi_yaml_kind kind, const char* what) {
  assert(reader != NULL && node != NULL);
  if (node->absent) {
    saltusi_reader_fail(reader, node, "%s has no value; give %s", what,
                        saltusi_yaml_kind_name(kind));
    return false;
  }
  if (node->kind != kind) {
    saltusi_reader_fail(reader, node, "%s has to be %s, not %s", what, saltusi_yaml_kind_name(kind),
                        saltusi_yaml_kind_name(node->kind));
    return false;
  }
  return reader->status == SALTUS_OK;
}

/* "name, gap, slip" */
static const char* list_keys(const char* const* names, int count, char* text, size_t bytes) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < count && used < bytes; i++) {
    int added = snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "", names[i]);
    used += added > 0 ? (size_t)added : 0;
  }
  return text;
}

bool saltusi_reader_keys(saltusi_reader* reader, const saltusi_yaml_node* node, const char* section,
                         const char* what) {
  assert(node != NULL && section != NULL);
  enum { KEYS_MOST = 64 }; /* of a section */
  const char* names[KEYS_MOST];
  if (reader->known) {
    return saltusi_reader_expect(reader, node, SALTUSI_YAML_MAPPING, what);
  }
  const int count = saltusi_scene_section(section, names, KEYS_MOST);
  if (!saltusi_reader_expect(reader, node, SALTUSI_YAML_MAPPING, what)) {
    return false;
  }
  for (int i = 0; i < node->count; i++) {
    const char* key = node->keys[i].text;
    bool known = false;
    for (int k = 0; k < count; k++) {
      known = known || strcmp(names[k], key) == 0;
    }
    if (!known) {
      const char* near = saltusi_suggest(key, names, count);
      char all[512];
      saltusi_reader_fail(reader, &node->keys[i], "unknown key " SALTUSI_QUOTE " in %s; %s%s%s",
                          key, what, near != NULL ? "did you mean \"" : "allowed: ",
                          near != NULL ? near : list_keys(names, count, all, sizeof all),
                          near != NULL ? "\"?" : "");
      return false;
    }
  }
  return true;
}

const saltusi_yaml_node* saltusi_reader_section(const saltusi_yaml_node* root, const char* key) {
  assert(root != NULL && key != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(root, key);
  return node != NULL && !node->absent ? node : NULL;
}

const char* saltusi_reader_text(saltusi_reader* reader, const saltusi_yaml_node* node,
                                const char* what) {
  assert(reader != NULL && reader->file != NULL);
  if (node == NULL || !saltusi_reader_expect(reader, node, SALTUSI_YAML_SCALAR, what)) {
    return NULL;
  }
  return node->text;
}

saltus_formula_text saltusi_reader_formula(saltusi_reader* reader, const saltusi_yaml_node* node,
                                           const char* what) {
  assert(reader != NULL && reader->file != NULL);
  const char* text = saltusi_reader_text(reader, node, what);
  if (text == NULL) {
    return (saltus_formula_text){.what = what};
  }
  return (saltus_formula_text){.text = text,
                               .file = reader->file,
                               .line = node->line,
                               .column = node->folded ? 0 : node->column,
                               .what = what};
}

static void write_placed(void* user, saltus_level level, const char* text) {
  const saltusi_placed_log* placed = user;
  saltusi_log(placed->inner, level, "%s:%d:%d: %s", placed->file, placed->line, placed->column,
              text);
}

saltus_log saltusi_reader_log_at(const saltusi_reader* reader, const saltusi_yaml_node* where,
                                 saltusi_placed_log* placed) {
  assert(reader != NULL && placed != NULL);
  *placed = (saltusi_placed_log){
      .inner = reader->log, .file = reader->file, .line = where->line, .column = where->column};
  return (saltus_log){.write = write_placed, .user = placed};
}
