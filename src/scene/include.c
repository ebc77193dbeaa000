/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * include.c - section `include`: robots in URDF and MJCF as parts of a scene. The entries of the converted robot, with
 * prefixed names, are appended to the sections of the scene; of `world`, `materials` and `simulate` those of the scene
 * take precedence. Messages about entries of the robot have the line of its `include`.
 */
#include "urdf/include.h"
#include "base/log.h"
#include "base/number.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct inclusion {
  saltusi_scene_builder* b;
  const saltusi_yaml_node* where;
  const char* folder; /* of the robot, as written, with a slash; or empty */
  size_t folder_length;
} inclusion;

/* Line of the include, and meshes relative to the scene. */
static void settle(const inclusion* in, saltusi_yaml_node* n) {
  n->line = in->where->line;
  n->column = in->where->column;
  for (int i = 0; n->kind != SALTUSI_YAML_SCALAR && i < n->count; i++) {
    saltusi_yaml_node* child = &n->children[i];
    settle(in, child);
    if (n->keys != NULL && strcmp(n->keys[i].text, "file") == 0 && child->text[0] != '/') {
      char* path =
          saltusi_reader_take(&in->b->reader, in->folder_length + strlen(child->text) + 1, 1);
      if (path != NULL) {
        memcpy(path, in->folder, in->folder_length);
        strcpy(path + in->folder_length, child->text);
        child->text = path;
      }
    }
  }
}

/* Appends the entries of `from`; those of a mapping that `to` has too stay as they are if `own` is set, else they are
 * refused. */
static void append(const inclusion* in, saltusi_yaml_node* to, const saltusi_yaml_node* from,
                   const char* what, bool own) {
  saltusi_reader* r = &in->b->reader;
  const int room = to->count + from->count;
  saltusi_yaml_node* children = saltusi_reader_take(r, (size_t)room + 1, sizeof *children);
  saltusi_yaml_node* keys = saltusi_reader_take(r, (size_t)room + 1, sizeof *keys);
  if (children == NULL || keys == NULL) {
    return;
  }
  if (to->kind != from->kind && !to->absent) {
    saltusi_reader_fail(r, to, "%s is %s; with an included robot it has to be %s", what,
                        saltusi_yaml_kind_name(to->kind), saltusi_yaml_kind_name(from->kind));
    return;
  }
  int count = to->absent ? 0 : to->count;
  for (int i = 0; i < count; i++) {
    children[i] = to->children[i];
    keys[i] = to->keys != NULL ? to->keys[i] : keys[i];
  }
  for (int i = 0; i < from->count; i++) {
    const bool named = from->keys != NULL;
    if (named && !to->absent && saltusi_yaml_find(to, from->keys[i].text) != NULL) {
      if (!own) {
        saltusi_reader_fail(r, in->where,
                            "%s has " SALTUSI_QUOTE " too; give the robot another name", what,
                            from->keys[i].text);
      }
      continue;
    }
    children[count] = from->children[i];
    if (named) {
      keys[count] = from->keys[i];
    }
    count++;
  }
  to->kind = from->kind;
  to->absent = false;
  to->count = count;
  to->children = children;
  to->keys = from->keys != NULL ? keys : NULL;
}

static saltusi_yaml_node* child_of(saltusi_yaml_node* mapping, const char* key) {
  const saltusi_yaml_node* found = saltusi_yaml_find(mapping, key);
  return found != NULL ? &mapping->children[found - mapping->children] : NULL;
}

/* Sections that both the scene and the robot have are merged; others are added. */
static void join(const inclusion* in, saltusi_yaml_node* root, saltusi_yaml_node* robot) {
  for (int i = 0; i < robot->count && in->b->reader.status == SALTUS_OK; i++) {
    const char* key = robot->keys[i].text;
    saltusi_yaml_node *from = &robot->children[i], *to = child_of(root, key);
    const bool world = strcmp(key, "world") == 0;
    const bool whole = strcmp(key, "saltus") == 0 || strcmp(key, "name") == 0 ||
                       (strcmp(key, "simulate") == 0 && to != NULL);
    if (whole) {
      continue;
    }
    if (to == NULL) {
      append(
          in, root,
          &(saltusi_yaml_node){
              .kind = SALTUSI_YAML_MAPPING, .count = 1, .children = from, .keys = &robot->keys[i]},
          "the scene", false);
      continue;
    }
    saltusi_yaml_node* shapes = world && !to->absent ? child_of(to, "shapes") : NULL;
    const saltusi_yaml_node* more = world ? saltusi_yaml_find(from, "shapes") : NULL;
    if (shapes != NULL && more != NULL) {
      append(in, shapes, more, "shapes of the world", false);
    }
    append(in, to, from, key, world || strcmp(key, "materials") == 0);
  }
}

/* Three numbers: parameters are not read yet. */
static void read_position(saltusi_reader* r, const saltusi_yaml_node* node, double position[3]) {
  bool good = node == NULL || (node->kind == SALTUSI_YAML_SEQUENCE && node->count == 3);
  for (int k = 0; node != NULL && k < 3 && good; k++) {
    char* end;
    const char* text = node->children[k].text;
    position[k] = saltusi_number_read(text, &end);
    good = end != text && *end == '\0' && fabs(position[k]) <= 1e9;
  }
  if (!good) {
    saltusi_reader_fail(r, node, "position has to be three numbers of at most 1e9 m");
  }
}

/* Adds the robot of one entry {robot, as, base, keyframe, position}. */
static void include_robot(saltusi_scene_builder* b, const saltusi_yaml_node* entry,
                          saltusi_yaml_node* root) {
  static const char* const bases[] = {"default", "fixed", "free", NULL};
  saltusi_reader* r = &b->reader;
  if (!saltusi_reader_keys(r, entry, "include", "include")) {
    return;
  }
  const char* file = saltusi_reader_text(r, saltusi_yaml_find(entry, "robot"), "robot");
  const char* as = saltusi_reader_text(r, saltusi_yaml_find(entry, "as"), "as");
  const char* key = saltusi_reader_text(r, saltusi_yaml_find(entry, "keyframe"), "keyframe");
  const saltusi_yaml_node* base = saltusi_yaml_find(entry, "base");
  double position[3] = {0.0, 0.0, 0.0};
  read_position(r, saltusi_yaml_find(entry, "position"), position);
  const int word = base != NULL ? saltusi_scene_word(b, base, "base", bases) : 0;
  if (r->status == SALTUS_OK && file == NULL) {
    saltusi_reader_fail(r, entry, "include needs {robot: FILE}");
  }
  if (r->status == SALTUS_OK && as != NULL && !saltusi_urdf_prefix_is_valid(as)) {
    saltusi_reader_fail(
        r, entry, "as is " SALTUSI_QUOTE ", must be a letter and up to 15 letters, digits and _",
        as);
  }
  if (r->status != SALTUS_OK) {
    return;
  }
  const char* slash = strrchr(file, '/');
  const char* own = file[0] != '/' ? strrchr(r->file, '/') : NULL;
  const inclusion in = {.b = b,
                        .where = entry,
                        .folder = file,
                        .folder_length = slash != NULL ? (size_t)(slash - file) + 1 : 0};
  char path[1024];
  snprintf(path, sizeof path, "%.*s%s", own != NULL ? (int)(own - r->file) + 1 : 0, r->file, file);
  const saltus_urdf_def def = {.path = path,
                               .base = (saltus_urdf_base)word,
                               .by_joints = true,
                               .keyframe = key,
                               .log = r->log,
                               .allocator = &r->pool->allocator};
  saltus_urdf* urdf;
  r->status = saltusi_urdf_include(&def, as, position, &urdf);
  if (r->status != SALTUS_OK) {
    return;
  }
  const char* text = saltusi_pool_text(r->pool, saltus_urdf_get_view(urdf)->scene);
  const int notes = saltus_urdf_get_view(urdf)->note_count;
  saltus_urdf_destroy(urdf);
  saltusi_yaml_node* robot = NULL;
  r->status = text == NULL ? SALTUS_ERR_MEMORY
                           : saltusi_yaml_parse(text, strlen(text), file, r->pool, r->log, &robot);
  if (r->status == SALTUS_OK) {
    settle(&in, robot);
    join(&in, root, robot);
  }
  if (r->status == SALTUS_OK && notes > 0) {
    saltusi_log(
        r->log, SALTUS_LEVEL_NOTE,
        "%s: %d elements are not translated or chosen by default; saltus convert lists them", path,
        notes);
  }
}

bool saltusi_scene_include(saltusi_scene_builder* b, saltusi_yaml_node* root) {
  assert(b != NULL && root != NULL);
  const saltusi_yaml_node* section =
      root->kind == SALTUSI_YAML_MAPPING ? saltusi_reader_section(root, "include") : NULL;
  if (section == NULL) {
    return false;
  }
  const saltusi_yaml_node given = *section;
  const int at = (int)(section - root->children);
  root->count--; /* without the section itself */
  saltusi_yaml_node* keys = saltusi_reader_take(&b->reader, (size_t)root->count + 1, sizeof *keys);
  for (int i = 0; i < root->count && keys != NULL; i++) {
    keys[i] = root->keys[i + (i >= at)];
    root->children[i] = root->children[i + (i >= at)];
  }
  root->keys = keys;
  const bool list = given.kind == SALTUSI_YAML_SEQUENCE;
  for (int i = 0; keys != NULL && b->reader.status == SALTUS_OK && i < (list ? given.count : 1);
       i++) {
    include_robot(b, list ? &given.children[i] : &given, root);
  }
  if (b->reader.pool->failed && b->reader.status == SALTUS_OK) {
    b->reader.status = SALTUS_ERR_MEMORY;
  }
  return true;
}
