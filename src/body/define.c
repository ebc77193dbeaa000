/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * define.c - names, signals and orientations of a definition; creation and destruction of a mechanism.
 */
#include "body/define.h"

#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "base/suggest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

saltus_status saltusi_define_refuse(const saltusi_definition* d, const char* part, const char* name,
                                    const char* format, ...) {
  assert(d != NULL && part != NULL && format != NULL);
  char text[512];
  va_list values;
  va_start(values, format);
  (void)saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  saltusi_log(d->def->log, SALTUS_LEVEL_ERROR, "%s \"%s\": %s", part, name != NULL ? name : "",
              text);
  return SALTUS_ERR_INPUT;
}

saltus_status saltusi_define_name(const saltusi_definition* d, const char* part, const char* name,
                                  saltusi_index* index, const char** copy) {
  assert(d != NULL && index != NULL && copy != NULL);
  if (name == NULL || name[0] == '\0') {
    return saltusi_define_refuse(d, part, name, "number %d has no name", index->count + 1);
  }
  *copy = saltusi_pool_text(&d->m->pool, name);
  if (*copy == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (saltusi_index_add(index, *copy) < 0) {
    return saltusi_define_refuse(d, part, name, "the name is there twice");
  }
  return SALTUS_OK;
}

saltus_status saltusi_define_find(const saltusi_definition* d, const char* part, const char* name,
                                  const saltusi_index* index, const char* kind, const char* wanted,
                                  int* place) {
  assert(d != NULL && index != NULL && place != NULL);
  if (wanted == NULL) {
    return saltusi_define_refuse(d, part, name, "the name of a %s is missing", kind);
  }
  *place = saltusi_index_find(index, wanted);
  if (*place >= 0) {
    return SALTUS_OK;
  }
  const char* near = saltusi_suggest(wanted, index->texts, index->count);
  saltusi_log(d->def->log, SALTUS_LEVEL_ERROR, "%s \"%s\": there is no %s \"%s\"%s%s%s", part, name,
              kind, wanted, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
              near != NULL ? "\"?" : "");
  return SALTUS_ERR_NAME;
}

saltus_status saltusi_define_finite(const saltusi_definition* d, const char* part, const char* name,
                                    const char* what, int count, const double* x) {
  assert(d != NULL && x != NULL);
  for (int i = 0; i < count; i++) {
    if (!isfinite(x[i])) {
      return saltusi_define_refuse(d, part, name, "%s has the value %g, must be finite", what,
                                   x[i]);
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_define_signal(const saltusi_definition* d, const char* part, const char* name,
                                    const saltus_signal* given, saltusi_signal* signal) {
  assert(d != NULL && given != NULL && signal != NULL);
  *signal = (saltusi_signal){.given = *given, .input = -1};
  if (SALTUSI_RESERVED_CHECK(given, "saltus_signal", d->def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  if (given->input != NULL && given->evaluate != NULL) {
    return saltusi_define_refuse(d, part, name,
                                 "a signal is the input \"%s\" and a callback, must be one of them",
                                 given->input);
  }
  if (given->input != NULL) {
    return saltusi_define_find(d, part, name, &d->m->input_names, "input", given->input,
                               &signal->input);
  }
  return given->evaluate == NULL
             ? saltusi_define_finite(d, part, name, "a signal", 1, &given->value)
             : SALTUS_OK;
}

/* ---- orientations ---- */

saltus_status saltusi_define_orientation(const saltusi_definition* d, const char* part,
                                         const char* name, const saltus_orientation* given,
                                         double R[9], double* angle) {
  assert(d != NULL && given != NULL && R != NULL && angle != NULL);
  const double* x = given->value;
  saltus_status status = saltusi_define_finite(d, part, name, "the orientation", 4, x);
  if (status != SALTUS_OK) {
    return status;
  }
  if (d->m->plane && given->kind > SALTUS_ORIENTATION_ANGLE) {
    return saltusi_define_refuse(d, part, name, "an orientation in the plane is an angle");
  }
  *angle = given->kind == SALTUS_ORIENTATION_ANGLE ? x[0] : 0.0;
  if (!saltusi_orientation_matrix(given, R)) {
    return saltusi_define_refuse(d, part, name,
                                 "the %s of its orientation is (0, 0, 0%s), must not be zero",
                                 given->kind == SALTUS_ORIENTATION_AXIS ? "axis" : "quaternion",
                                 given->kind == SALTUS_ORIENTATION_AXIS ? "" : ", 0");
  }
  return SALTUS_OK;
}

/* ---- the whole ---- */

static saltus_status define_inputs(const saltusi_definition* d) {
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  m->input_count = def->input_count;
  m->inputs = SALTUSI_TAKE(&m->pool, double, def->input_count);
  if (!saltusi_index_start(&m->input_names, def->input_count, &m->pool) || m->inputs == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < def->input_count; i++) {
    const saltus_input_def* in = &def->inputs[i];
    const char* copy;
    m->inputs[i] = in->value;
    status = SALTUSI_RESERVED_CHECK(in, "saltus_input_def", def->log);
    status = status == SALTUS_OK ? saltusi_define_name(d, "input", in->name, &m->input_names, &copy)
                                 : status;
    status = status == SALTUS_OK
                 ? saltusi_define_finite(d, "input", in->name, "its value", 1, &in->value)
                 : status;
  }
  return status;
}

static saltus_status define(const saltusi_definition* d) {
  static saltus_status (*const parts[])(const saltusi_definition*) = {
      define_inputs,          saltusi_define_bodies, saltusi_define_shape_mass,
      saltusi_define_markers, saltusi_define_joints, saltusi_define_springs,
      saltusi_define_loads,   saltusi_define_shapes, saltusi_define_system};
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; status == SALTUS_OK && i < sizeof parts / sizeof parts[0]; i++) {
    status = parts[i](d);
  }
  return status == SALTUS_OK && d->m->pool.failed ? SALTUS_ERR_MEMORY : status;
}

saltus_status saltus_mechanism_create(const saltus_mechanism_def* def, saltus_mechanism** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_mechanism_def", def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  if (def->dimension != 2 && def->dimension != 3) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "a mechanism has dimension %d, must be 2 or 3",
                def->dimension);
    return SALTUS_ERR_INPUT;
  }
  const int counts[] = {def->body_count,   def->marker_count,   def->joint_count,
                        def->spring_count, def->load_count,     def->input_count,
                        def->shape_count,  def->material_count, def->contact_pair_count};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i] < 0) {
      saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                  "a mechanism has %d parts of a kind, must be 0 or more", counts[i]);
      return SALTUS_ERR_INPUT;
    }
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_mechanism* m = SALTUSI_TAKE(&pool, saltus_mechanism, 1);
  if (m == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  m->pool = pool;
  m->plane = def->dimension == 2;
  m->t0 = def->t0;
  for (int k = 0; k < def->dimension; k++) {
    m->gravity[k] = def->gravity[k];
  }
  const saltusi_definition d = {.def = def, .m = m};
  saltus_status status =
      saltusi_define_finite(&d, "mechanism", "gravity", "gravity", 3, m->gravity);
  status = status == SALTUS_OK ? define(&d) : status;
  if (status != SALTUS_OK) {
    saltus_mechanism_destroy(m);
    return status;
  }
  *out = m;
  return SALTUS_OK;
}

void saltus_mechanism_destroy(saltus_mechanism* mechanism) {
  if (mechanism != NULL) {
    saltusi_pool pool = mechanism->pool;
    saltusi_pool_free(&pool);
  }
}
