/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_files.c - <include>: the elements of another file in place of this element. Lines count on over all files, so that
 * one number names file and line. Files lie in the folder of the first one or below it, each is included once.
 */
#include "urdf/mjcf.h"

#include "base/log.h"
#include "base/regular.h"
#include "io/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FILES = 200, LINES = 100000000 };

const char* saltusi_robot_place(const saltusi_robot* robot, int line, int* local) {
  assert(robot != NULL && local != NULL);
  int k = robot->source_count - 1;
  while (k > 0 && robot->sources[k].first >= line) {
    k--;
  }
  *local = k > 0 ? line - robot->sources[k].first : line;
  return k > 0 ? robot->sources[k].file : robot->file;
}

/* Whether a path stays in its folder: relative, and no prefix of it leads above. */
bool saltusi_path_inside(const char* path) {
  assert(path != NULL);
  int depth = 0;
  if (path[0] == '/' || path[0] == '\\' || strchr(path, ':') != NULL || strlen(path) > 400) {
    return false;
  }
  for (const char* c = path; *c != '\0';) {
    const size_t length = strcspn(c, "/\\");
    if (length == 2 && strncmp(c, "..", 2) == 0) {
      depth--;
    } else if (length > 0 && !(length == 1 && c[0] == '.')) {
      depth++;
    }
    if (depth < 0) {
      return false;
    }
    c += length;
    c += *c != '\0';
  }
  for (const char* c = path; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 127) {
      return false;
    }
  }
  return depth > 0;
}

static void move_lines(saltusi_xml_node* node, int by) {
  for (; node != NULL; node = node->next) {
    node->line += by;
    node->text_line += node->text_line > 0 ? by : 0;
    move_lines(node->first, by);
  }
}

static int count_lines(const char* text, size_t length) {
  int lines = 1;
  for (size_t i = 0; i < length; i++) {
    lines += text[i] == '\n';
  }
  return lines;
}

/* From the folder of the file that includes it, or, where it is not there, from that of the robot. */
static const char* find_source(saltusi_robot* robot, const saltusi_xml_node* where,
                               const char* name, const char* folder) {
  int local;
  char* near = saltusi_pool_text(robot->pool, saltusi_robot_place(robot, where->line, &local));
  char* slash = near != NULL ? strrchr(near, '/') : NULL;
  if (slash != NULL) {
    slash[1] = '\0';
    const char* path = saltusi_pool_join(robot->pool, near, name);
    FILE* file = path != NULL ? saltusi_regular_stream(path) : NULL;
    if (file != NULL) {
      (void)fclose(file);
      return path;
    }
  }
  return near != NULL ? saltusi_pool_join(robot->pool, folder, name) : NULL;
}

static saltusi_xml_node* open_source(saltusi_robot* robot, const saltusi_xml_node* where,
                                     const char* name, const char* folder) {
  const char* path = find_source(robot, where, name, folder);
  for (int k = 1; k < robot->source_count && path != NULL; k++) {
    if (strcmp(robot->sources[k].file, path) == 0) {
      saltusi_robot_refuse(robot, where->line,
                           "<include>: " SALTUSI_ROBOT_QUOTE " is included twice", name);
      return NULL;
    }
  }
  if (robot->source_count == FILES) {
    saltusi_robot_refuse(robot, where->line, "<include>: more than %d files", FILES);
    return NULL;
  }
  saltusi_lines lines;
  saltusi_xml_node* root = NULL;
  saltus_status status =
      path == NULL ? SALTUS_ERR_MEMORY : saltusi_text_load(path, robot->log, robot->pool, &lines);
  const size_t length = status == SALTUS_OK ? (size_t)(lines.end - lines.at) : 0;
  if (status == SALTUS_OK) {
    status = saltusi_xml_parse(lines.at, length, path, robot->pool, robot->log, &root);
  }
  if (status != SALTUS_OK) {
    robot->status = status; /* with a message that names the file */
    return NULL;
  }
  saltusi_robot_source* last = &robot->sources[robot->source_count - 1];
  const int first = last->first + last->lines;
  robot->sources[robot->source_count++] =
      (saltusi_robot_source){path, first, count_lines(lines.at, length)};
  if (first > LINES) {
    saltusi_robot_refuse(robot, where->line, "<include>: more than %d lines", LINES);
    return NULL;
  }
  move_lines(root, first);
  return root;
}

static void expand(saltusi_robot* robot, saltusi_xml_node* node, const char* folder, int depth) {
  saltusi_xml_node* before = NULL;
  for (saltusi_xml_node* n = node->first; n != NULL && robot->status == SALTUS_OK;) {
    if (strcmp(n->name, "include") != 0) {
      expand(robot, n, folder, depth + 1);
      before = n;
      n = n->next;
      continue;
    }
    const char* name = saltusi_element_name(robot, n, "file");
    if (robot->status == SALTUS_OK && (folder == NULL || !saltusi_path_inside(name))) {
      saltusi_robot_refuse(robot, n->line,
                           "<include>: " SALTUSI_ROBOT_QUOTE
                           " is not a file in the folder of the robot or below it",
                           name);
    }
    saltusi_xml_node* root =
        robot->status == SALTUS_OK ? open_source(robot, n, name, folder) : NULL;
    if (root == NULL) {
      return;
    }
    if (depth > SALTUSI_XML_DEPTH) {
      saltusi_robot_refuse(robot, n->line, "more than %d nested elements", SALTUSI_XML_DEPTH);
      return;
    }
    /* the included elements take the place of the element and are expanded themselves */
    saltusi_xml_node* next = root->first != NULL ? root->first : n->next;
    if (root->first != NULL) {
      root->last->next = n->next;
      node->last = node->last == n ? root->last : node->last;
    } else if (node->last == n) {
      node->last = before;
    }
    *(before != NULL ? &before->next : &node->first) = next;
    n = next;
  }
}

saltus_status saltusi_mjcf_include(saltusi_robot* robot, saltusi_xml_node* root, const char* text,
                                   size_t length, const char* path) {
  assert(robot != NULL && root != NULL);
  robot->sources = SALTUSI_TAKE(robot->pool, saltusi_robot_source, FILES);
  const char* slash = path != NULL ? strrchr(path, '/') : NULL;
  char* folder = path != NULL ? saltusi_pool_text(robot->pool, slash != NULL ? path : "") : NULL;
  if (robot->sources == NULL || (path != NULL && folder == NULL)) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  if (slash != NULL) {
    folder[slash - path + 1] = '\0';
  }
  robot->sources[robot->source_count++] =
      (saltusi_robot_source){robot->file, 0, count_lines(text, length)};
  expand(robot, root, folder, 0);
  return robot->status;
}
