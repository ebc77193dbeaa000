/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.c - a scene as lines that are read without a parser of YAML:
 *
 *   saltus-tree 1
 *   # --set NAME=VALUE                    overrides of the saved scene
 *   s LINE COLUMN FLAGS BYTES             a scalar; FLAGS 1 absent, 2 folded; its text follows in a line
 *   l LINE COLUMN COUNT                   a list; its items follow
 *   m LINE COLUMN COUNT                   a mapping; key and value of every entry follow
 */
#include "scene/tree.h"

#include "base/log.h"
#include "scene/builder.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "saltus-tree 1\n";

bool saltusi_tree_is(const char* text) {
  assert(text != NULL);
  return strncmp(text, magic, sizeof magic - 1) == 0;
}

/* ---- writing ---- */

typedef struct tree_writer {
  char* to; /* NULL: counts */
  size_t used;
  int files;
  bool keeps;                      /* paths of mesh files */
  const saltusi_scene_hull* hulls; /* whose faces are written as triangles */
} tree_writer;

static void put(tree_writer* w, const char* text, size_t length) {
  if (w->to != NULL) {
    memcpy(w->to + w->used, text, length);
  }
  w->used += length;
}

static void put_scalar(tree_writer* w, const saltusi_yaml_node* n, const char* text) {
  char head[96];
  const size_t length = strlen(text);
  const int bytes = snprintf(head, sizeof head, "s %d %d %d %zu\n", n->line, n->column,
                             (n->absent ? 1 : 0) + (n->folded ? 2 : 0), length);
  put(w, head, (size_t)bytes);
  put(w, text, length);
  put(w, "\n", 1);
}

/* Name of mesh file i beside a saved scene. */
static const char* file_name(int i, const char* path, char name[SALTUSI_TREE_FILE]) {
  const char* dot = strrchr(path, '.');
  const size_t length =
      dot != NULL ? strspn(dot + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
  snprintf(name, SALTUSI_TREE_FILE, "mesh-%d.%.*s", i + 1, (int)(length < 8 ? length : 8),
           dot != NULL ? dot + 1 : "");
  return name;
}

static void put_head(tree_writer* w, char kind, const saltusi_yaml_node* n, int count) {
  char head[96];
  const int bytes = snprintf(head, sizeof head, "%c %d %d %d\n", kind, n->line, n->column, count);
  put(w, head, (size_t)bytes);
}

/* The entry `triangles` of a hull, so that its faces need not be computed. */
static void put_faces(tree_writer* w, const saltusi_yaml_node* n, const int* triangles, int count) {
  put_scalar(w, n, "triangles");
  put_head(w, 'l', n, count);
  for (int i = 0; i < 3 * count; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", triangles[i]);
    if (i % 3 == 0) {
      put_head(w, 'l', n, 3);
    }
    put_scalar(w, n, text);
  }
}

/* A shape that is drawn only: its file is not one of a saved scene. */
static bool is_visual(const saltusi_yaml_node* n) {
  const saltusi_yaml_node* visual =
      n->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(n, "visual") : NULL;
  return visual != NULL && visual->kind == SALTUSI_YAML_SCALAR && strcmp(visual->text, "true") == 0;
}

static void put_node(tree_writer* w, const saltusi_yaml_node* n) {
  if (n->kind == SALTUSI_YAML_SCALAR) {
    put_scalar(w, n, n->text);
    return;
  }
  const saltusi_scene_hull* hull = w->hulls;
  while (hull != NULL && hull->of != n) {
    hull = hull->next;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  int faces = 0;
  const int* triangles = hull != NULL && saltusi_yaml_find(n, "triangles") == NULL
                             ? saltusi_hull_triangles(hull->points, hull->count, &pool, &faces)
                             : NULL;
  faces = triangles != NULL ? faces : 0;
  const bool keeps = w->keeps;
  w->keeps = keeps || is_visual(n);
  put_head(w, n->kind == SALTUSI_YAML_MAPPING ? 'm' : 'l', n, n->count + (faces > 0 ? 1 : 0));
  for (int i = 0; i < n->count; i++) {
    const saltusi_yaml_node* child = &n->children[i];
    const bool file = n->keys != NULL && strcmp(n->keys[i].text, "file") == 0;
    if (n->keys != NULL) {
      put_scalar(w, &n->keys[i], n->keys[i].text);
    }
    if (file && !w->keeps && child->kind == SALTUSI_YAML_SCALAR) {
      char name[SALTUSI_TREE_FILE];
      put_scalar(w, child, file_name(w->files++, child->text, name));
    } else {
      put_node(w, child);
    }
  }
  w->keeps = keeps;
  if (faces > 0) {
    put_faces(w, n, triangles, faces);
  }
  saltusi_pool_free(&pool);
}

size_t saltus_scene_save(const saltus_scene* scene, char* bytes) {
  assert(scene != NULL && scene->root != NULL);
  tree_writer w = {.to = bytes, .hulls = scene->hulls};
  put(&w, magic, sizeof magic - 1);
  for (int i = 0; i < scene->override_count; i++) {
    const char* const parts[] = {"# --set ", scene->overrides[i].name, "=",
                                 scene->overrides[i].value, "\n"};
    for (int k = 0; k < 5; k++) {
      put(&w, parts[k], strlen(parts[k]));
    }
  }
  put_node(&w, scene->root);
  return w.used;
}

char* saltusi_tree_text(const saltusi_yaml_node* root, saltusi_pool* pool) {
  assert(root != NULL && pool != NULL);
  char* text = NULL;
  for (int pass = 0; pass < 2; pass++) {
    tree_writer w = {.to = text, .keeps = true};
    put(&w, magic, sizeof magic - 1);
    put_node(&w, root);
    text = pass == 0 ? saltusi_pool_take(pool, w.used + 1, 1) : text;
    if (text == NULL) {
      return NULL;
    }
  }
  return text;
}

/* The path of mesh file number *i in the order of the tree; NULL: there are fewer, *i is the number left. */
static const char* find_file(const saltusi_yaml_node* n, int* i) {
  const char* path = NULL;
  const bool skipped = n->kind == SALTUSI_YAML_SCALAR || is_visual(n);
  for (int k = 0; !skipped && k < n->count && path == NULL; k++) {
    const saltusi_yaml_node* child = &n->children[k];
    if (n->keys == NULL || strcmp(n->keys[k].text, "file") != 0 ||
        child->kind != SALTUSI_YAML_SCALAR) {
      path = find_file(child, i);
    } else if ((*i)-- == 0) {
      path = child->text;
    }
  }
  return path;
}

bool saltus_scene_file(const saltus_scene* scene, int i, const char** path,
                       char name[SALTUSI_TREE_FILE]) {
  assert(scene != NULL && scene->root != NULL && i >= 0 && path != NULL);
  int left = i;
  *path = find_file(scene->root, &left);
  if (*path != NULL) {
    file_name(i, *path, name);
  }
  return *path != NULL;
}

/* ---- reading ---- */

enum { DEEPEST = 200, LEAST_NODE = 10 }; /* bytes of the shortest node, "s 1 1 0 0\n\n" and more */

typedef struct tree_reader {
  const char *at, *end;
  saltusi_pool* pool;
  size_t left; /* nodes that the text can still hold */
  int depth;
  bool bad, full;
} tree_reader;

/* A number behind a blank. */
static int take_number(tree_reader* r) {
  int value = 0, digits = 0;
  if (r->at < r->end && *r->at == ' ') {
    r->at++;
  }
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, digits++) {
    const int digit = *r->at - '0';
    r->bad = r->bad || value > (INT_MAX - digit) / 10;
    value = r->bad ? 0 : 10 * value + digit;
  }
  r->bad = r->bad || digits == 0;
  return value;
}

static void take_end(tree_reader* r) {
  r->bad = r->bad || r->at >= r->end || *r->at != '\n';
  r->at += r->bad ? 0 : 1;
}

static void read_scalar(tree_reader* r, saltusi_yaml_node* to) {
  const int flags = take_number(r);
  const int bytes = take_number(r);
  take_end(r);
  r->bad = r->bad || flags > 3 || r->end - r->at <= bytes;
  char* text = r->bad ? NULL : saltusi_pool_take(r->pool, (size_t)bytes + 1, 1);
  r->full = r->full || (!r->bad && text == NULL);
  if (text == NULL) {
    r->bad = true;
    return;
  }
  memcpy(text, r->at, (size_t)bytes);
  r->at += bytes;
  take_end(r);
  *to = (saltusi_yaml_node){.kind = SALTUSI_YAML_SCALAR,
                            .line = to->line,
                            .column = to->column,
                            .text = text,
                            .absent = (flags & 1) != 0,
                            .folded = (flags & 2) != 0};
}

static void read_node(tree_reader* r, saltusi_yaml_node* to, bool key) {
  to->text = "";
  r->bad = r->bad || r->at >= r->end || ++r->depth > DEEPEST;
  if (r->bad) {
    return;
  }
  const char kind = *r->at++;
  to->line = take_number(r);
  to->column = take_number(r);
  if (kind == 's') {
    read_scalar(r, to);
    r->depth--;
    return;
  }
  const int count = take_number(r);
  take_end(r);
  const size_t nodes = (size_t)count * (kind == 'm' ? 2 : 1);
  r->bad = r->bad || key || (kind != 'm' && kind != 'l') || nodes > r->left;
  if (r->bad) {
    return;
  }
  r->left -= nodes;
  to->kind = kind == 'm' ? SALTUSI_YAML_MAPPING : SALTUSI_YAML_SEQUENCE;
  to->children = SALTUSI_TAKE(r->pool, saltusi_yaml_node, count);
  saltusi_yaml_node* keys = kind == 'm' ? SALTUSI_TAKE(r->pool, saltusi_yaml_node, count) : NULL;
  r->full = r->full || to->children == NULL || (kind == 'm' && keys == NULL);
  r->bad = r->bad || r->full;
  to->keys = keys;
  to->count = r->bad ? 0 : count;
  for (int i = 0; i < to->count && !r->bad; i++) {
    if (keys != NULL) {
      read_node(r, &keys[i], true);
    }
    read_node(r, &to->children[i], false);
  }
  r->depth--;
}

saltus_status saltusi_tree_read(const char* text, size_t length, const char* file,
                                saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out) {
  assert(text != NULL && saltusi_tree_is(text) && out != NULL);
  tree_reader r = {.at = text + sizeof magic - 1,
                   .end = text + length,
                   .pool = pool,
                   .left = length / LEAST_NODE};
  while (r.at < r.end && *r.at == '#') { /* overrides */
    const char* line = memchr(r.at, '\n', (size_t)(r.end - r.at));
    r.at = line != NULL ? line + 1 : r.end;
  }
  *out = SALTUSI_TAKE(pool, saltusi_yaml_node, 1);
  if (*out == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  read_node(&r, *out, false);
  if (r.full) {
    return SALTUS_ERR_MEMORY;
  }
  if (r.bad || r.at != r.end) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: the tree of the scene is damaged at byte %td", file,
                r.at - text);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}
