/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * options.c - defaults, checks and texts of options structs, from their field tables.
 */
#include "saltus/options.h"

#include "base/log.h"
#include "base/number.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double get(const saltus_field* field, const void* options) {
  const unsigned char* at = (const unsigned char*)options + field->offset;
  if (field->type == SALTUS_FIELD_REAL) {
    double real;
    memcpy(&real, at, sizeof real);
    return real;
  }
  int whole;
  memcpy(&whole, at, sizeof whole);
  return whole;
}

static void put(const saltus_field* field, void* options, double value) {
  unsigned char* at = (unsigned char*)options + field->offset;
  if (field->type == SALTUS_FIELD_REAL) {
    memcpy(at, &value, sizeof value);
  } else {
    int whole = (int)value;
    memcpy(at, &whole, sizeof whole);
  }
}

static bool in_range(const saltus_field* field, double value) {
  return value >= field->lo && value <= field->hi; /* false for NaN */
}

/* "0 .. 1" or "midpoint, start" */
static const char* allowed(const saltus_field* field, char* text, size_t bytes) {
  if (field->type != SALTUS_FIELD_CHOICE) {
    saltusi_print(text, bytes, "%g .. %g", field->lo, field->hi);
    return text;
  }
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; field->choices[i] != NULL && used < bytes; i++) {
    int added = snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "", field->choices[i]);
    used += added > 0 ? (size_t)added : 0;
  }
  return text;
}

void saltus_options_defaults(const saltus_field_table* table, void* options) {
  assert(table != NULL);
  for (int i = 0; i < table->count; i++) {
    put(&table->fields[i], options, table->fields[i].fallback);
  }
}

const saltus_field* saltus_options_find(const saltus_field_table* table, const char* name) {
  assert(table != NULL && name != NULL);
  for (int i = 0; i < table->count; i++) {
    if (strcmp(table->fields[i].name, name) == 0) {
      return &table->fields[i];
    }
  }
  return NULL;
}

saltus_status saltus_options_check(const saltus_field_table* table, const void* options,
                                   const char* owner, saltus_log log) {
  assert(table != NULL);
  for (int i = 0; i < table->count; i++) {
    const saltus_field* field = &table->fields[i];
    double value = get(field, options);
    if (!in_range(field, value)) {
      char range[256];
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: option \"%s\" is %g, allowed: %s", owner,
                  field->name, value, allowed(field, range, sizeof range));
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

/* Reads a value of the type of the field; false for other text. */
static bool parse(const saltus_field* field, const char* text, double* value) {
  if (field->type == SALTUS_FIELD_CHOICE) {
    for (int i = 0; field->choices[i] != NULL; i++) {
      if (strcmp(field->choices[i], text) == 0) {
        *value = i;
        return true;
      }
    }
    return false;
  }
  char* end;
  double number = saltusi_number_read(text, &end);
  if (end == text || *end != '\0') {
    return false;
  }
  if (field->type == SALTUS_FIELD_INT &&
      (!in_range(field, number) || number != (double)(int)number)) {
    return false;
  }
  *value = number;
  return true;
}

/* Names of options up to 0.9.0 and their successors. */
static const char* const renamed[][2] = {
    {"sweeps", "iterations"},
    {"pressure", "preload"},
    {"sweep_tol", "iteration_tol"},
    {"sweep_max", "iterations_max"},
};

static bool has_option(const saltus_field_table* table, const char* name) {
  for (int i = 0; i < table->count; i++) {
    if (strcmp(table->fields[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* The present name of an option, with a warning where it has changed. */
static const char* present_name(const saltus_field_table* table, const char* owner,
                                const char* name, saltus_log log) {
  for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
    if (strcmp(renamed[i][0], name) == 0 && has_option(table, renamed[i][1])) {
      saltusi_log(log, SALTUS_LEVEL_WARNING, "%s: option \"%s\" is called \"%s\"", owner, name,
                  renamed[i][1]);
      return renamed[i][1];
    }
  }
  return name;
}

saltus_status saltus_options_set(const saltus_field_table* table, void* options, const char* owner,
                                 const char* name, const char* text, saltus_log log) {
  assert(table != NULL && name != NULL);
  char range[256];
  name = present_name(table, owner, name, log);
  for (int i = 0; i < table->count; i++) {
    const saltus_field* field = &table->fields[i];
    if (strcmp(field->name, name) != 0) {
      continue;
    }
    double value;
    if (!parse(field, text, &value) || !in_range(field, value)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: option \"%s\" is \"%s\", allowed: %s%s", owner,
                  name, text, field->type == SALTUS_FIELD_INT ? "a whole number in " : "",
                  allowed(field, range, sizeof range));
      return SALTUS_ERR_RANGE;
    }
    put(field, options, value);
    return SALTUS_OK;
  }
  size_t used = 0;
  range[0] = '\0';
  for (int i = 0; i < table->count && used < sizeof range; i++) {
    int added = snprintf(range + used, sizeof range - used, "%s%s", i > 0 ? ", " : "",
                         table->fields[i].name);
    used += added > 0 ? (size_t)added : 0;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no option \"%s\"; there are: %s", owner, name,
              table->count > 0 ? range : "none");
  return SALTUS_ERR_NAME;
}

saltus_status saltus_options_set_line(const saltus_field_table* table, void* options,
                                      const char* owner, const char* line, saltus_log log) {
  assert(table != NULL && options != NULL && owner != NULL);
  enum { WORD = 256 };
  saltus_status status = SALTUS_OK;
  const char* at = line != NULL ? line : "";
  for (at += strspn(at, " "); *at != '\0' && status == SALTUS_OK; at += strspn(at, " ")) {
    char word[WORD];
    size_t length = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), at);
    at += length;
    char* equals = strchr(word, '=');
    if (equals == NULL) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: an option is \"%s\", must be name=value", owner,
                  word);
      return SALTUS_ERR_INPUT;
    }
    *equals = '\0';
    status = saltus_options_set(table, options, owner, word, equals + 1, log);
  }
  return status;
}

const char* saltus_options_show(const saltus_field* field, const void* options, char* text,
                                size_t bytes) {
  double value = get(field, options);
  if (field->type == SALTUS_FIELD_CHOICE) {
    int place = (int)value;
    assert(place >= 0 && place <= (int)field->hi);
    snprintf(text, bytes, "%s=%s", field->name, field->choices[place]);
  } else {
    int digits = 15; /* the fewest that reproduce the value */
    do {
      saltusi_print(text, bytes, "%s=%.*g", field->name, digits, value);
    } while (digits++ < 17 && saltusi_number_read(text + strlen(field->name) + 1, NULL) != value);
  }
  return text;
}
