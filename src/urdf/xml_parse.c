/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * xml_parse.c - from expat's events to our tree. A document type is refused as soon as it begins, so no
 * entity is ever declared and none expands.
 */
#include "urdf/xml.h"

#include "base/log.h"
#include "base/number.h"

#include <assert.h>
#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct xml_parse_builder {
  const char* file;
  const char* text;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status;
  XML_Parser parser;
  saltusi_xml_node* root;
  saltusi_xml_node* open[SALTUSI_XML_DEPTH]; /* enclosing elements */
  int depth;
} xml_parse_builder;

static int line_of(const xml_parse_builder* b) {
  XML_Size line = XML_GetCurrentLineNumber(b->parser);
  return line > INT_MAX ? INT_MAX : (int)line;
}

static void stop(xml_parse_builder* b, saltus_status status) {
  b->status = b->status == SALTUS_OK ? status : b->status;
  (void)XML_StopParser(b->parser, XML_FALSE);
}

static void refuse(xml_parse_builder* b, const char* format, ...) SALTUSI_PRINTF(2, 3);
static void refuse(xml_parse_builder* b, const char* format, ...) {
  char why[256];
  va_list values;
  va_start(values, format);
  saltusi_print_list(why, sizeof why, format, values);
  va_end(values);
  if (b->status == SALTUS_OK) {
    saltusi_log(b->log, SALTUS_LEVEL_ERROR, "%s:%d: %s", b->file, line_of(b), why);
  }
  stop(b, SALTUS_ERR_INPUT);
}

/* name, value, name, value, ..., NULL */
static bool copy_attributes(xml_parse_builder* b, const XML_Char** given, saltusi_xml_node* node) {
  int count = 0;
  while (given[2 * count] != NULL) {
    count++;
  }
  saltusi_xml_attribute* attributes = SALTUSI_TAKE(b->pool, saltusi_xml_attribute, count);
  for (int i = 0; i < count && attributes != NULL; i++) {
    attributes[i].name = saltusi_pool_text(b->pool, given[2 * i]);
    attributes[i].value = saltusi_pool_text(b->pool, given[2 * i + 1]);
  }
  node->attribute_count = count;
  node->attributes = attributes;
  return !b->pool->failed;
}

static void start_element(void* user, const XML_Char* name, const XML_Char** attributes) {
  xml_parse_builder* b = user;
  if (b->status != SALTUS_OK) {
    return;
  }
  if (b->depth == SALTUSI_XML_DEPTH) {
    refuse(b, "more than %d nested elements", SALTUSI_XML_DEPTH);
    return;
  }
  saltusi_xml_node* node = SALTUSI_TAKE(b->pool, saltusi_xml_node, 1);
  if (node == NULL || !copy_attributes(b, attributes, node)) {
    stop(b, SALTUS_ERR_MEMORY);
    return;
  }
  node->name = saltusi_pool_text(b->pool, name);
  node->line = line_of(b);
  if (b->depth == 0) {
    b->root = node;
  } else {
    saltusi_xml_node* parent = b->open[b->depth - 1];
    if (parent->last != NULL) {
      parent->last->next = node;
    } else {
      parent->first = node;
    }
    parent->last = node;
  }
  const XML_Index at = XML_GetCurrentByteIndex(b->parser);
  node->content = b->text + at + XML_GetCurrentByteCount(b->parser);
  b->open[b->depth++] = node;
  if (b->pool->failed) {
    stop(b, SALTUS_ERR_MEMORY);
  }
}

static void end_element(void* user, const XML_Char* name) {
  xml_parse_builder* b = user;
  (void)name;
  if (b->status != SALTUS_OK) {
    return;
  }
  saltusi_xml_node* node = b->open[--b->depth];
  const char* end = b->text + XML_GetCurrentByteIndex(b->parser);
  if (node->first == NULL && end > node->content) { /* of <a/> it is before */
    node->content_length = (size_t)(end - node->content);
  }
}

static void text_inside(void* user, const XML_Char* text, int length) {
  xml_parse_builder* b = user;
  for (int i = 0; i < length && b->status == SALTUS_OK && b->depth > 0; i++) {
    if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0') {
      saltusi_xml_node* node = b->open[b->depth - 1];
      node->text_line = node->text_line == 0 ? line_of(b) : node->text_line;
      return;
    }
  }
}

static void start_document_type(void* user, const XML_Char* name, const XML_Char* system,
                                const XML_Char* public, int internal) {
  (void)name, (void)system, (void)public, (void)internal;
  refuse(user, "a document type (<!DOCTYPE) is not read, nor are entities of it; leave it out");
}

saltus_status saltusi_xml_parse(const char* text, size_t length, const char* file,
                                saltusi_pool* pool, saltus_log log, saltusi_xml_node** out) {
  assert(text != NULL && pool != NULL && out != NULL);
  *out = NULL;
  if (length > INT_MAX) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s:1: the text has %zu bytes, at most %d are read", file,
                length, INT_MAX);
    return SALTUS_ERR_INPUT;
  }
  xml_parse_builder b = {
      .file = file, .text = text, .pool = pool, .log = log, .parser = XML_ParserCreate(NULL)};
  if (b.parser == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  XML_SetUserData(b.parser, &b);
  XML_SetElementHandler(b.parser, start_element, end_element);
  XML_SetCharacterDataHandler(b.parser, text_inside);
  XML_SetStartDoctypeDeclHandler(b.parser, start_document_type);
  enum XML_Status done = XML_Parse(b.parser, text, (int)length, XML_TRUE);
  if (done != XML_STATUS_OK && b.status == SALTUS_OK) {
    enum XML_Error error = XML_GetErrorCode(b.parser);
    if (error == XML_ERROR_NO_MEMORY) {
      b.status = SALTUS_ERR_MEMORY;
    } else {
      refuse(&b, "not valid XML: %s", XML_ErrorString(error));
    }
  }
  XML_ParserFree(b.parser);
  *out = b.status == SALTUS_OK ? b.root : NULL;
  return b.status;
}
