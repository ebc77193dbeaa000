/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * variables.c - see variables.h. Names follow the structured naming convention of FMI 3.0, section 2.4.6.1.
 */
#include "export/variables.h"

#include "base/index.h"
#include "base/number.h"
#include "base/sha256.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Appends one part of a structured name, quoted unless it is an identifier. */
static char* add_part(char* to, const char* part, size_t length) {
  bool plain = length > 0 && is_letter(part[0]);
  for (size_t i = 0; i < length; i++) {
    plain = plain && (is_letter(part[i]) || (part[i] >= '0' && part[i] <= '9'));
  }
  if (plain) {
    memcpy(to, part, length);
    return to + length;
  }
  *to++ = '\'';
  for (size_t i = 0; i < length; i++) {
    if (part[i] == '\'' || part[i] == '\\') {
      *to++ = '\\';
    }
    *to++ = part[i];
  }
  *to++ = '\'';
  return to;
}

/* x' -> der(x), crank.x -> crank.x, "sleeve low.gap" -> 'sleeve low'.gap */
static const char* structured_name(saltusi_pool* pool, const char* own) {
  size_t length = strlen(own);
  char* name = SALTUSI_TAKE(pool, char, 4 * length + 16);
  if (name == NULL) {
    return NULL;
  }
  const bool prime = length > 1 && own[length - 1] == '\'';
  length -= prime ? 1 : 0;
  char* to = name;
  if (prime) {
    memcpy(to, "der(", 4);
    to += 4;
  }
  for (size_t at = 0; at <= length;) {
    const char* dot = memchr(own + at, '.', length - at);
    const size_t end = dot != NULL ? (size_t)(dot - own) : length;
    if (at > 0) {
      *to++ = '.';
    }
    to = add_part(to, own + at, end - at);
    at = end + 1;
  }
  if (prime) {
    *to++ = ')';
  }
  *to = '\0';
  return name;
}

/* ---- list ---- */

typedef struct variable_list {
  saltusi_pool* pool;
  saltusi_variable* items;
  int count;
  saltusi_index own, names;
} variable_list;

static saltusi_variable* add(variable_list* list, saltusi_variable_kind kind, int index,
                             const char* own, const char* unit) {
  const char* name = structured_name(list->pool, own);
  while (name != NULL && saltusi_index_find(&list->names, name) >= 0) {
    name = saltusi_pool_join(list->pool, "parameter.", name); /* a clash: an output of that name */
  }
  saltusi_variable* v = &list->items[list->count++];
  *v = (saltusi_variable){.name = name != NULL ? name : "",
                          .own = own,
                          .unit = unit != NULL ? unit : "",
                          .kind = kind,
                          .index = index,
                          .derivative = -1};
  if (kind != SALTUSI_VARIABLE_TIME) {
    saltusi_index_add(&list->own, own);
  }
  saltusi_index_add(&list->names, v->name);
  return v;
}

/* The start of a coordinate or velocity; NULL: of a body. */
static const saltus_scene_quantity* find_start(const saltus_scene_view* view, const char* own) {
  const saltus_scene_interface* in = view->interface;
  for (int i = 0; in != NULL && i < 2 * in->coordinate_count; i++) {
    if (strcmp(in->starts[i].name, own) == 0) {
      return &in->starts[i];
    }
  }
  return NULL;
}

static void add_states(variable_list* list, const saltus_scene_view* view) {
  const saltus_system* s = view->system;
  for (int i = 0; i < s->dims.nq + s->dims.nv; i++) {
    const bool velocity = i >= s->dims.nq;
    const int k = velocity ? i - s->dims.nq : i;
    const saltus_label* label = velocity ? &s->v_labels[k] : &s->q_labels[k];
    const saltus_scene_quantity* start = find_start(view, label->name);
    const size_t length = strlen(label->name);
    int derivative = -1;
    if (velocity && length > 1 && label->name[length - 1] == '\'') {
      char* position = saltusi_pool_text(list->pool, label->name);
      if (position != NULL) {
        position[length - 1] = '\0';
        const int place = saltusi_index_find(&list->own, position);
        derivative = place >= 0 ? place + 1 : -1; /* behind time */
      }
    }
    saltusi_variable* v =
        add(list, velocity ? SALTUSI_VARIABLE_V : SALTUSI_VARIABLE_Q, k, label->name, label->unit);
    v->settable = start != NULL && start->number;
    v->start = velocity ? view->v0[k] : view->q0[k];
    v->derivative = derivative;
  }
}

saltus_status saltusi_variables_list(const saltus_scene_view* view, saltusi_pool* pool,
                                     saltusi_variable** out, int* count) {
  assert(view != NULL && view->system != NULL && out != NULL && count != NULL);
  const saltus_scene_interface* in = view->interface;
  const saltus_observables* o = view->observables;
  const int outputs = o != NULL ? o->output_count : 0;
  const int inputs = in != NULL ? in->input_count : 0;
  const int parameters = in != NULL ? in->parameter_count : 0;
  const int most =
      1 + view->system->dims.nq + view->system->dims.nv + outputs + inputs + parameters;
  variable_list list = {.pool = pool, .items = SALTUSI_TAKE(pool, saltusi_variable, most)};
  if (list.items == NULL || !saltusi_index_start(&list.own, most, pool) ||
      !saltusi_index_start(&list.names, most, pool)) {
    return SALTUS_ERR_MEMORY;
  }
  add(&list, SALTUSI_VARIABLE_TIME, 0, "time", "s");
  add_states(&list, view);
  for (int i = 0; i < outputs; i++) {
    if (saltusi_index_find(&list.own, o->output_labels[i].name) < 0) {
      add(&list, SALTUSI_VARIABLE_OUTPUT, i, o->output_labels[i].name, o->output_labels[i].unit);
    }
  }
  for (int k = 0; k < 2; k++) {
    const saltus_scene_quantity* from = k == 0 && in != NULL ? in->inputs
                                        : in != NULL         ? in->parameters
                                                             : NULL;
    for (int i = 0; i < (k == 0 ? inputs : parameters); i++) {
      saltusi_variable* v = add(&list, k == 0 ? SALTUSI_VARIABLE_INPUT : SALTUSI_VARIABLE_PARAMETER,
                                i, from[i].name, from[i].unit);
      v->settable = k == 0 || from[i].number;
      v->start = from[i].value;
    }
  }
  *out = list.items;
  *count = list.count;
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

/* ---- identity ---- */

void saltusi_export_token(const saltusi_export_file* files, int count, char token[SALTUSI_TOKEN]) {
  assert(files != NULL && count > 0);
  char sum[2 * SALTUSI_SHA256_TEXT] = "";
  for (int i = 0; i < count; i++) { /* a chain of digests */
    saltusi_sha256(files[i].bytes, files[i].size, sum + (i > 0 ? SALTUSI_SHA256_TEXT - 1 : 0));
    if (i > 0) {
      char both[SALTUSI_SHA256_TEXT];
      saltusi_sha256(sum, 2 * (SALTUSI_SHA256_TEXT - 1), both);
      memcpy(sum, both, sizeof both);
    }
  }
  snprintf(token, SALTUSI_TOKEN, "{%.8s-%.4s-%.4s-%.4s-%.12s}", sum, sum + 8, sum + 12, sum + 16,
           sum + 20);
}

/* ---- settings ---- */

size_t saltusi_export_settings_write(const saltusi_export_settings* settings,
                                     char lines[SALTUSI_EXPORT_LINES]) {
  assert(settings != NULL && lines != NULL);
  size_t used = 0;
  lines[0] = '\0';
  if (!isnan(settings->tol)) {
    used += (size_t)saltusi_print(lines, SALTUSI_EXPORT_LINES, "tol=%.17g\n", settings->tol);
  }
  if (!isnan(settings->step)) {
    used += (size_t)saltusi_print(lines + used, SALTUSI_EXPORT_LINES - used, "step=%.17g\n",
                                  settings->step);
  }
  if (settings->scheme != NULL) {
    used += (size_t)saltusi_print(lines + used, SALTUSI_EXPORT_LINES - used, "scheme=%.64s\n",
                                  settings->scheme);
  }
  return used;
}

bool saltusi_export_settings_read(char* lines, saltusi_export_settings* settings) {
  assert(lines != NULL && settings != NULL);
  *settings = (saltusi_export_settings){.tol = NAN, .step = NAN};
  while (*lines != '\0') {
    char* end = strchr(lines, '\n');
    char* value = strchr(lines, '=');
    if (end == NULL || value == NULL || value > end) {
      return false;
    }
    *end = '\0';
    *value++ = '\0';
    char* rest = value;
    if (strcmp(lines, "scheme") == 0) {
      settings->scheme = value;
      rest = end;
    } else if (strcmp(lines, "tol") == 0) {
      settings->tol = saltusi_number_read(value, &rest);
    } else if (strcmp(lines, "step") == 0) {
      settings->step = saltusi_number_read(value, &rest);
    }
    if (rest != end) {
      return false;
    }
    lines = end + 1;
  }
  return true;
}
