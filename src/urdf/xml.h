/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * xml.h - an XML text as a plain tree with lines, so that only one file depends on expat.
 */
#ifndef SALTUSI_XML_H
#define SALTUSI_XML_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

typedef struct saltusi_xml_attribute {
  const char* name;
  const char* value;
} saltusi_xml_attribute;

typedef struct saltusi_xml_node {
  const char* name;
  int line;      /* of its start tag, from 1 */
  int text_line; /* of the first text in it that is more than space; 0: none */
  int attribute_count;
  const saltusi_xml_attribute* attributes;
  const char* content;   /* bytes of the text between its tags; without a zero byte at the end */
  size_t content_length; /* 0: of an element with children too */
  struct saltusi_xml_node *first, *last; /* children */
  struct saltusi_xml_node* next;         /* sibling */
} saltusi_xml_node;

/* Deepest nesting of elements. */
enum { SALTUSI_XML_DEPTH = 64 };

/* SALTUS_ERR_INPUT after a message "file:line: ...": text that is not well-formed, document types (and
 * with them entities), deeper nesting. SALTUS_ERR_MEMORY has no message. SALTUS_ERR_UNSUPPORTED where
 * the library is built without expat. */
saltus_status saltusi_xml_parse(const char* text, size_t length, const char* file,
                                saltusi_pool* pool, saltus_log log, saltusi_xml_node** out);

#endif
