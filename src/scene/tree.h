/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.h - scenes saved as the lines of their tree, for programs without libfyaml.
 */
#ifndef SALTUSI_TREE_H
#define SALTUSI_TREE_H

#include "saltus/scene.h"
#include "scene/yaml.h"

enum { SALTUSI_TREE_FILE = 48 };

/* True if a text is such a tree. */
bool saltusi_tree_is(const char* text);

/* As saltusi_yaml_parse. */
saltus_status saltusi_tree_read(const char* text, size_t length, const char* file,
                                saltusi_pool* pool, saltus_log log, saltusi_yaml_node** out);

/* The tree as text with the paths of its mesh files, in the pool; NULL: no memory. */
char* saltusi_tree_text(const saltusi_yaml_node* root, saltusi_pool* pool);

#endif
