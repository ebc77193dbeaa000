/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * document.c - the document of a run: "SALTUSV1", the length of its head, the head in JSON, then arrays
 * (docs/viewer.md). Numbers are little-endian.
 */
#include "report/document.h"

#include "base/log.h"
#include "base/reserved.h"
#include "report/build.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double usual_most = 12e6; /* bytes */

saltus_report_def saltus_report_def_default(void) {
  return (saltus_report_def){.most = usual_most};
}

/* ---------------------------------------------------------------------------------- arrays --- */

static size_t bytes_of(saltusi_number type) {
  return type == SALTUSI_F64 ? 8 : 4;
}

void saltusi_array(saltusi_document* d, const char* name, saltusi_number type, long long rows,
                   long long width, int depth) {
  assert(d != NULL && name != NULL);
  static const char* const types[] = {"f64", "f32", "i32", "u32"};
  static const char zeros[8] = {0};
  saltusi_bytes_add(&d->numbers, zeros, (8 - d->numbers.count % 8) % 8);
  const double shape[3] = {(double)rows, (double)width, depth};
  saltusi_json_open(&d->list, name, '{');
  saltusi_json_text(&d->list, "type", types[type]);
  saltusi_json_number(&d->list, "offset", (double)d->numbers.count);
  saltusi_json_numbers(&d->list, "shape", shape, depth > 0 ? 3 : width > 1 ? 2 : 1);
  saltusi_json_close(&d->list, '}');
  d->type = type;
}

void saltusi_put(saltusi_document* d, double value) {
  assert(d != NULL);
  uint64_t bits = 0;
  if (d->type == SALTUSI_F64) {
    memcpy(&bits, &value, sizeof value);
  } else if (d->type == SALTUSI_F32) {
    const float narrow = (float)value;
    uint32_t half;
    memcpy(&half, &narrow, sizeof half);
    bits = half;
  } else {
    bits = d->type == SALTUSI_I32 ? (uint64_t)(int64_t)value : (uint64_t)value;
  }
  saltusi_bytes_little(&d->numbers, bits, bytes_of(d->type));
}

void saltusi_put_all(saltusi_document* d, const double* values, long long count) {
  assert(d != NULL && (values != NULL || count == 0));
  for (long long i = 0; i < count; i++) {
    saltusi_put(d, values[i]);
  }
}

/* One or several columns of the shown frames; empty if the recording has none. */
static void write_columns(saltusi_document* d, const char* name, const double* values, int width) {
  if (values == NULL || width == 0) {
    return;
  }
  saltusi_array(d, name, d->real, d->count, width, 0);
  for (long long k = 0; k < d->count; k++) {
    saltusi_put_all(d, values + d->frames[k] * width, width);
  }
}

/* ------------------------------------------------------------------------------------ head --- */

static void write_labels(saltusi_document* d, const char* name, const saltus_label* labels,
                         int count) {
  saltusi_json_open(&d->head, name, '[');
  for (int i = 0; i < count; i++) {
    saltusi_json_open(&d->head, NULL, '{');
    saltusi_json_text(&d->head, "name", labels[i].name);
    saltusi_json_text(&d->head, "unit", labels[i].unit);
    saltusi_json_close(&d->head, '}');
  }
  saltusi_json_close(&d->head, ']');
}

static void write_names(saltusi_document* d, const char* name, const char* const* names,
                        int count) {
  saltusi_json_open(&d->head, name, '[');
  for (int i = 0; i < count; i++) {
    saltusi_json_text(&d->head, NULL, names[i]);
  }
  saltusi_json_close(&d->head, ']');
}

/* Names of contacts, of a time-varying set by law, with their friction coefficients. */
static void write_laws(saltusi_document* d) {
  const saltus_recording_data* data = d->data;
  const char* const* names = data->changing ? data->law_names : data->contact_names;
  const int count = data->changing ? data->law_count : data->nc;
  const saltus_system* system = d->def->scene != NULL ? d->def->scene->system : NULL;
  write_names(d, "contact_names", names, count);
  saltusi_json_open(&d->head, "friction", '[');
  for (int i = 0; i < count; i++) {
    saltusi_json_number(&d->head, NULL,
                        system != NULL && i < system->law_count ? system->laws[i].mu : NAN);
  }
  saltusi_json_close(&d->head, ']');
}

static void write_certificate(saltusi_document* d, const saltus_certificate* c) {
  saltusi_bytes* head = &d->head;
  saltusi_json_open(head, "certificate", '{');
  saltusi_json_bool(head, "passed", c->passed);
  saltusi_json_bool(head, "complete", c->complete);
  saltusi_json_number(head, "span", c->span);
  saltusi_json_number(head, "followed", c->followed);
  saltusi_json_text(head, "unfollowed", c->unfollowed);
  saltusi_json_open(head, "items", '[');
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    const saltus_verify_result* r = &c->items[i];
    saltusi_json_open(head, NULL, '{');
    saltusi_json_text(head, "name", r->name);
    saltusi_json_text(head, "says", r->doc);
    saltusi_json_text(head, "unit", r->unit);
    saltusi_json_bool(head, "passed", r->passed);
    saltusi_json_number(head, "checked", (double)r->checked);
    saltusi_json_number(head, "failures", (double)r->failures);
    saltusi_json_number(head, "value", r->value);
    saltusi_json_number(head, "limit", r->limit);
    saltusi_json_number(head, "t", r->t);
    saltusi_json_close(head, '}');
  }
  saltusi_json_close(head, ']');
  saltusi_json_close(head, '}');
}

static void write_texts(saltusi_document* d) {
  const saltus_recording_data* data = d->data;
  saltusi_bytes* head = &d->head;
  const struct {
    const char *name, *value;
  } texts[] = {
      {"format", "saltus-view"},
      {"name", data->name},
      {"scheme", data->scheme},
      {"options", data->options},
      {"status", data->status},
      {"accuracy", data->accuracy},
      {"saltus", data->version},
      {"scene", data->scene},
      {"description", d->def->scene != NULL ? d->def->scene->description : ""},
      {"explanation", d->def->explanation != NULL ? d->def->explanation : data->explanation},
      {"answers", d->def->answers}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    saltusi_json_text(head, texts[i].name, texts[i].value);
  }
  saltusi_json_number(head, "version", 1);
  saltusi_json_number(head, "steps", (double)data->steps);
  saltusi_json_number(head, "recorded", (double)data->count);
  saltusi_json_number(head, "shown", (double)d->count);
  saltusi_json_bool(head, "events_shown", d->events_shown);
  write_labels(d, "q", data->q_labels, data->nq);
  write_labels(d, "v", data->v_labels, data->nv);
  write_labels(d, "outputs", data->output_labels, data->output_count);
  write_names(d, "joint_names", data->joint_names, data->nj);
  write_names(d, "event_names", data->event_names, data->event_name_count);
  saltusi_json_open(head, "event_kinds", '[');
  for (int i = 0; i < SALTUS_EVENT_KINDS; i++) {
    saltusi_json_text(head, NULL, saltus_event_kind_name((saltus_event_kind)i));
  }
  saltusi_json_close(head, ']');
  write_laws(d);
}

static void write_parameters(saltusi_document* d) {
  const saltus_scene_interface* all = d->def->scene != NULL ? d->def->scene->interface : NULL;
  saltusi_json_open(&d->head, "parameters", '[');
  for (int i = 0; all != NULL && i < all->parameter_count; i++) {
    saltusi_json_open(&d->head, NULL, '{');
    saltusi_json_text(&d->head, "name", all->parameters[i].name);
    saltusi_json_text(&d->head, "unit", all->parameters[i].unit);
    saltusi_json_text(&d->head, "text", all->parameters[i].text);
    saltusi_json_number(&d->head, "value", all->parameters[i].value);
    saltusi_json_close(&d->head, '}');
  }
  saltusi_json_close(&d->head, ']');
}

/* -------------------------------------------------------------------------------- recording --- */

static void write_events(saltusi_document* d) {
  enum { NUMBERS = 12 };
  const saltus_recording_data* data = d->data;
  saltusi_array(d, "event_t", SALTUSI_F64, data->event_count, 1, 0);
  for (long long i = 0; i < data->event_count; i++) {
    saltusi_put(d, data->events[i].t);
  }
  saltusi_array(d, "event_kind", SALTUSI_I32, data->event_count, 1, 0);
  for (long long i = 0; i < data->event_count; i++) {
    saltusi_put(d, data->events[i].kind);
  }
  /* index in contact_names; for a rise or fall, in event_names */
  saltusi_array(d, "event_contact", SALTUSI_I32, data->event_count, 1, 0);
  for (long long i = 0; i < data->event_count; i++) {
    const saltus_event* e = &data->events[i];
    saltusi_put(d, data->changing && !saltus_event_is_user_defined(e->kind) ? e->law : e->contact);
  }
  saltusi_array(d, "event_numbers", SALTUSI_F64, data->event_count, NUMBERS, 0);
  for (long long i = 0; i < data->event_count; i++) {
    const saltus_event* e = &data->events[i];
    const double numbers[NUMBERS] = {e->t_accuracy,     e->u_before,       e->u_after,
                                     e->impulse[0],     e->impulse[1],     e->impulse[2],
                                     e->slip_before[0], e->slip_before[1], e->slip_after[0],
                                     e->slip_after[1],  e->energy_change,  e->slip_work[0]};
    saltusi_put_all(d, numbers, NUMBERS);
  }
}

static void write_series(saltusi_document* d) {
  const saltus_recording_data* data = d->data;
  saltusi_array(d, "t", SALTUSI_F64, d->count, 1, 0);
  for (long long k = 0; k < d->count; k++) {
    saltusi_put(d, data->t[d->frames[k]]);
  }
  saltusi_array(d, "frame", SALTUSI_I32, d->count, 1, 0);
  for (long long k = 0; k < d->count; k++) {
    saltusi_put(d, (double)d->frames[k]);
  }
  const struct {
    const char* name;
    const double* values;
    int width;
  } columns[] = {{"q", data->q, data->nq},
                 {"v", data->v, data->nv},
                 {"outputs", data->outputs, data->output_count},
                 {"joint_force", data->joint_force, data->nj},
                 {"kinetic", data->kinetic, 1},
                 {"potential", data->potential, 1},
                 {"energy_external", data->energy_external, 1},
                 {"energy_drive", data->energy_drive, 1},
                 {"energy_friction", data->energy_friction, 1},
                 {"energy_impact", data->energy_impact, 1},
                 {"energy_remainder", data->energy_remainder, 1},
                 {"penetration", data->penetration, 1},
                 {"h", data->h, 1},
                 {"error", data->error, 1}};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    write_columns(d, columns[i].name, columns[i].values, columns[i].width);
  }
}

/* Measured values: a table with the times in its column t. */
static void write_measured(saltusi_document* d, const saltus_table* table) {
  const double* t = saltus_table_column(table, "t");
  saltusi_json_open(&d->head, "measured", '[');
  for (int i = 0; i < table->columns; i++) {
    if (table->values + i * table->rows != t) {
      saltusi_json_open(&d->head, NULL, '{');
      saltusi_json_text(&d->head, "name", table->labels[i].name);
      saltusi_json_text(&d->head, "unit", table->labels[i].unit);
      saltusi_json_close(&d->head, '}');
    }
  }
  saltusi_json_close(&d->head, ']');
  saltusi_array(d, "measured_t", SALTUSI_F64, table->rows, 1, 0);
  saltusi_put_all(d, t, table->rows);
  saltusi_array(d, "measured", SALTUSI_F64, table->columns - 1, table->rows, 0);
  for (int i = 0; i < table->columns; i++) {
    const double* column = table->values + i * table->rows;
    saltusi_put_all(d, column, column != t ? table->rows : 0);
  }
}

/* Approximate bytes of a frame with numbers of 8 bytes. */
static double frame_bytes(const saltusi_document* d) {
  const saltus_recording_data* data = d->data;
  double numbers = data->nq + data->nv + data->output_count + data->nj + 8.0 * data->nc + 12.0;
  numbers += 21.0 * (double)data->table.count / (double)data->count;
  if (d->def->scene != NULL && d->def->scene->drawing != NULL) {
    numbers += 2.0 * d->def->scene->drawing->values->output_count;
  }
  if (d->mechanism != NULL) {
    numbers += 7.0 * saltus_mechanism_sizes(d->mechanism).bodies +
               (data->changing ? 0.0 : 21.0 * data->nc);
  }
  return 8.0 * numbers;
}

static saltus_status write_document(saltusi_document* d) {
  const saltus_recording_data* data = d->data;
  const double most = d->def->most > 0.0 ? d->def->most : usual_most, bytes = frame_bytes(d);
  const bool fits = bytes * (double)data->count <= most;
  d->real = fits ? SALTUSI_F64 : SALTUSI_F32;
  saltus_status status =
      saltusi_choose_frames(d, fits ? (double)data->count : fmax(2.0 * most / bytes, 16.0));
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_json_open(&d->head, NULL, '{');
  saltusi_json_open(&d->list, NULL, '{');
  write_texts(d);
  write_parameters(d);
  write_series(d);
  write_events(d);
  saltusi_write_contacts(d);
  if (d->def->certificate != NULL) {
    write_certificate(d, d->def->certificate);
  }
  if (d->def->measured != NULL) {
    write_measured(d, d->def->measured);
  }
  if (d->mechanism != NULL) {
    saltusi_write_scene_objects(d);
    saltusi_write_poses(d);
    saltusi_write_joint_loads(d);
    status = saltusi_write_rows(d);
  }
  const saltus_drawing* drawing = d->def->scene != NULL ? d->def->scene->drawing : NULL;
  if (drawing != NULL && data->q != NULL && data->v != NULL && status == SALTUS_OK) {
    status = saltusi_write_drawing(d, drawing);
  }
  saltusi_json_close(&d->list, '}');
  return d->head.failed || d->list.failed || d->numbers.failed ? SALTUS_ERR_MEMORY : status;
}

/* "SALTUSV1", length of the head, the head with the list of arrays, spaces up to a multiple of 8, the arrays. */
static void join(saltusi_document* d, saltusi_bytes* out) {
  static const char name[] = ",\"arrays\":";
  saltusi_bytes_add(&d->head, name, sizeof name - 1);
  saltusi_bytes_add(&d->head, d->list.at, d->list.count);
  saltusi_bytes_add(&d->head, "}", 1);
  while (d->head.count % 8 != 0 && !d->head.failed) {
    saltusi_bytes_add(&d->head, " ", 1);
  }
  saltusi_bytes_add(out, "SALTUSV1", 8);
  saltusi_bytes_little(out, d->head.count, 8);
  saltusi_bytes_add(out, d->head.at, d->head.count);
  saltusi_bytes_add(out, d->numbers.at, d->numbers.count);
  out->failed = out->failed || d->head.failed;
}

/* Scene and recording of a report must match. */
static saltus_status check(const saltus_report_def* def) {
  if (def->measured != NULL && saltus_table_column(def->measured, "t") == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "the measured values have no column t");
    return SALTUS_ERR_INPUT;
  }
  if (def->data->count < 1 || def->data->t == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "a report needs a recording with states in it");
    return SALTUS_ERR_INPUT;
  }
  const saltus_dims* dims = def->scene != NULL ? &def->scene->system->dims : NULL;
  if (dims != NULL && (dims->nq != def->data->nq || dims->nv != def->data->nv)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "the recording has %d coordinates and %d velocities, the scene %d and %d: it is "
                "not one of this scene",
                def->data->nq, def->data->nv, dims->nq, dims->nv);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

const double* saltusi_document_velocities(const saltusi_document* d, long long frame) {
  assert(d != NULL && frame >= 0 && frame < d->data->count);
  const double* v = d->data->v + frame * d->data->nv;
  if (d->bodies == NULL) {
    return v;
  }
  saltus_tree_body_velocities(d->def->scene->tree, d->data->q + frame * d->data->nq, v, d->bodies);
  return d->bodies;
}

saltus_status saltusi_document_open(const saltus_report_def* def, saltusi_document* d) {
  assert(def != NULL && def->data != NULL && d != NULL);
  *d = (saltusi_document){.def = def, .data = def->data, .pool = saltusi_pool_over(def->allocator)};
  const saltus_status status = check(def);
  if (status != SALTUS_OK) {
    return status;
  }
  if (def->scene != NULL && def->scene->mechanism != NULL && def->data->q != NULL) {
    const saltus_dims* own = &saltus_mechanism_system(def->scene->mechanism)->dims;
    d->mechanism = def->scene->mechanism;
    d->q_first = def->data->nq - own->nq;
    d->v_first = d->q_first; /* formulas or modes, with as many velocities */
    if (def->scene->tree != NULL) {
      d->v_first = def->scene->bodies->dims.nv - own->nv;
      d->bodies = SALTUSI_TAKE(&d->pool, double, def->scene->bodies->dims.nv);
    }
    return d->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  }
  return SALTUS_OK;
}

saltus_body_place saltusi_document_body(const saltusi_document* d, int body) {
  assert(d != NULL && d->mechanism != NULL);
  saltus_body_place place = saltus_mechanism_body(d->mechanism, body);
  const saltus_scene_view* scene = d->def->scene;
  const int nv = scene->tree != NULL ? scene->bodies->dims.nv : d->data->nv;
  if (place.v + d->v_first >= nv) {
    place.v = -1;
  }
  return place;
}

saltus_status saltusi_report_build(const saltus_report_def* def, saltusi_bytes* out,
                                   saltus_report_about* about) {
  assert(def != NULL && def->data != NULL && out != NULL && out->memory != NULL);
  saltusi_document d;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_report_def", def->log);
  if (status == SALTUS_OK) {
    status = saltusi_document_open(def, &d);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  d.head.memory = d.list.memory = d.numbers.memory = &d.pool.allocator;
  status = write_document(&d);
  if (status == SALTUS_OK) {
    join(&d, out);
    status = out->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  }
  if (about != NULL) {
    *about = (saltus_report_about){.recorded = d.data->count,
                                   .shown = d.count,
                                   .events_shown = d.events_shown,
                                   .bytes = (double)out->count};
  }
  saltusi_bytes_free(&d.head);
  saltusi_bytes_free(&d.list);
  saltusi_bytes_free(&d.numbers);
  saltusi_pool_free(&d.pool);
  return status;
}
