/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "urdf/elements.h"

#include "base/log.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest mass, length or inertia in SI units; products of a few of them are finite. */
static const double largest = 1e30;
/* Positions in m: rounding errors stay below 1 um. */
static const double largest_position = 1e9;

void saltusi_robot_refuse(saltusi_robot* robot, int line, const char* format, ...) {
  assert(robot != NULL);
  if (robot->status != SALTUS_OK) {
    return;
  }
  robot->status = SALTUS_ERR_INPUT;
  char why[768];
  va_list values;
  va_start(values, format);
  saltusi_print_list(why, sizeof why, format, values);
  va_end(values);
  int local;
  const char* file = saltusi_robot_place(robot, line, &local);
  saltusi_log(robot->log, SALTUS_LEVEL_ERROR, "%s:%d: %s", file, local, why);
}

void saltusi_robot_note(saltusi_robot* robot, int line, const char* format, ...) {
  assert(robot != NULL);
  if (robot->status != SALTUS_OK) {
    return;
  }
  char what[512];
  va_list values;
  va_start(values, format);
  saltusi_print_list(what, sizeof what, format, values);
  va_end(values);
  for (int i = robot->note_count - 1; i >= 0 && i >= robot->note_count - 300; i--) {
    if (strcmp(robot->notes[i].text, what) == 0) { /* one of the last, so that time stays linear */
      robot->note_times[i]++;
      return;
    }
  }
  void *notes = robot->notes, *times = robot->note_times;
  const char* text = saltusi_pool_text(robot->pool, what);
  const size_t count = (size_t)robot->note_count + 1;
  const saltus_allocator* allocator = &robot->pool->allocator;
  const bool grown = text != NULL && saltusi_grow(allocator, &notes, &robot->note_room, count,
                                                  sizeof *robot->notes);
  robot->notes = notes;
  if (!grown ||
      !saltusi_grow(allocator, &times, &robot->times_room, count, sizeof *robot->note_times)) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  robot->note_times = times;
  robot->note_times[robot->note_count] = 1;
  robot->notes[robot->note_count++] = (saltus_urdf_note){.line = line, .text = text};
}

const char* saltusi_element_text(const saltusi_xml_node* node, const char* attribute) {
  assert(node != NULL && attribute != NULL);
  for (int i = 0; i < node->attribute_count; i++) {
    if (strcmp(node->attributes[i].name, attribute) == 0) {
      return node->attributes[i].value;
    }
  }
  return NULL;
}

const char* saltusi_element_name(saltusi_robot* robot, const saltusi_xml_node* node,
                                 const char* attribute) {
  assert(robot != NULL && node != NULL && attribute != NULL);
  const char* text = saltusi_element_text(node, attribute);
  if (text == NULL || text[0] == '\0') {
    saltusi_robot_refuse(robot, node->line, "<%.60s> has no %s", node->name, attribute);
    return "";
  }
  return text;
}

const saltusi_xml_node* saltusi_element_child(saltusi_robot* robot, const saltusi_xml_node* node,
                                              const char* name) {
  assert(robot != NULL && node != NULL && name != NULL);
  const saltusi_xml_node* found = NULL;
  for (const saltusi_xml_node* child = node->first; child != NULL; child = child->next) {
    if (strcmp(child->name, name) != 0) {
      continue;
    }
    if (found != NULL) {
      saltusi_robot_refuse(robot, child->line, "a second <%s> in <%.60s>; the first is in line %d",
                           name, node->name, found->line);
      return found;
    }
    found = child;
  }
  return found;
}

static const char* skip_space(const char* text) {
  return text + strspn(text, " \t\r\n");
}

int saltusi_element_read_numbers(saltusi_robot* robot, const saltusi_xml_node* node,
                                 const char* attribute, const char* text, int least, int most,
                                 double* out) {
  assert(robot != NULL && node != NULL && text != NULL && out != NULL && least <= most);
  const char* at = skip_space(text);
  /* strtod reads hexadecimal numbers, nan and inf too; URDF and MJCF have none */
  bool good = strspn(at, "0123456789+-.eE \t\r\n") == strlen(at);
  const bool place = strcmp(attribute, "xyz") == 0 || strcmp(attribute, "pos") == 0;
  const double limit = place ? largest_position : largest;
  int count = 0;
  for (; good && *at != '\0' && count < most; count++) {
    char* end = NULL;
    const double value = saltusi_number_read(at, &end);
    good = end != at && (*end == '\0' || strchr(" \t\r\n", *end) != NULL) && fabs(value) <= limit;
    if (good) {
      out[count] = value;
      at = skip_space(end);
    }
  }
  if (!good || *at != '\0' || count < least) {
    char wanted[32];
    saltusi_print(wanted, sizeof wanted, least < most ? "%d to %d" : "%d", least, most);
    saltusi_robot_refuse(robot, node->line,
                         "<%.60s>: %s is " SALTUSI_ROBOT_QUOTE
                         ", must be %s finite number%s up to %g",
                         node->name, attribute, text, wanted, most == 1 ? "" : "s", limit);
    return 0;
  }
  return count;
}

bool saltusi_element_numbers(saltusi_robot* robot, const saltusi_xml_node* node,
                             const char* attribute, int count, double* out) {
  const char* text = saltusi_element_text(node, attribute);
  double values[9];
  assert(count <= 9);
  if (text == NULL || robot->status != SALTUS_OK ||
      saltusi_element_read_numbers(robot, node, attribute, text, count, count, values) == 0) {
    return false;
  }
  memcpy(out, values, (size_t)count * sizeof out[0]);
  return true;
}

static const saltusi_element_word* find_word(const saltusi_element_word* words, const char* name) {
  for (; words->name[0] != '\0'; words++) {
    if (strcmp(words->name, name) == 0) {
      return words;
    }
  }
  return NULL;
}

void saltusi_element_list(saltusi_robot* robot, const saltusi_xml_node* node,
                          const saltusi_element* about, const char* whose) {
  assert(robot != NULL && node != NULL && about != NULL && whose != NULL);
  for (int i = 0; i < node->attribute_count; i++) {
    const saltusi_xml_attribute* a = &node->attributes[i];
    const saltusi_element_word* word = find_word(about->attributes, a->name);
    if (word == NULL || word->unused != NULL) {
      saltusi_robot_note(robot, node->line, "%s: attribute %.60s=\"%.60s\" of <%.60s>: %s", whose,
                         a->name, a->value, node->name,
                         word == NULL ? "not known, not used" : word->unused);
    }
  }
  for (const saltusi_xml_node* child = node->first; child != NULL; child = child->next) {
    if (strncmp(child->name, "xacro:", 6) == 0) {
      saltusi_robot_refuse(robot, child->line,
                           "<%.60s>: this is a xacro file; run xacro and convert what it writes",
                           child->name);
      return;
    }
    const saltusi_element_word* word = find_word(about->children, child->name);
    if (word == NULL || word->unused != NULL) {
      saltusi_robot_note(robot, child->line, "%s: <%.60s>: %s", whose, child->name,
                         word == NULL ? "not known, not used with all that is in it"
                                      : word->unused);
    }
  }
  if (node->text_line > 0) {
    saltusi_robot_note(robot, node->text_line, "%s: text in <%.60s>: not used", whose, node->name);
  }
}
