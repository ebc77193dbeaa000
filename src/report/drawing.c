/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * drawing.c - objects of the section `view` of a scene: values and rates in every frame. Rates are central
 * differences along the motion, for interpolation between two frames.
 */
#include "report/document.h"

#include <assert.h>
#include <math.h>

static void write_head(saltusi_document* d, const saltus_drawing* drawing) {
  saltusi_bytes* head = &d->head;
  saltusi_json_open(head, "view", '{');
  saltusi_json_number(head, "dimension", drawing->dimension);
  saltusi_json_open(head, "items", '[');
  for (int i = 0; i < drawing->count; i++) {
    const saltus_drawn* thing = &drawing->things[i];
    const bool sphere = thing->type == SALTUS_DRAWN_CIRCLE && drawing->dimension == 3;
    saltusi_json_open(head, NULL, '{');
    saltusi_json_text(head, "type", sphere ? "sphere" : saltus_drawn_type_name(thing->type));
    saltusi_json_text(head, "name", thing->name);
    saltusi_json_text(head, "text", thing->text);
    saltusi_json_text(head, "colour", thing->colour);
    saltusi_json_number(head, "first", thing->first);
    saltusi_json_number(head, "points", thing->places);
    saltusi_json_number(head, "contact", thing->contact);
    saltusi_json_bool(head, "ground", thing->ground);
    saltusi_json_bool(head, "filled", thing->filled);
    saltusi_json_close(head, '}');
  }
  saltusi_json_close(head, ']');
  saltusi_json_close(head, '}');
}

void saltusi_drawer_values(const saltusi_drawer* e, long long f, double h, double* values) {
  assert(e != NULL && values != NULL);
  const saltus_recording_data* data = e->data;
  const double* q = data->q + f * data->nq;
  const double* v = data->v + f * data->nv;
  if (h != 0.0 && e->system->ops->advance != NULL) {
    e->system->ops->advance(e->system->self, q, v, h, e->q);
  } else {
    for (int i = 0; i < data->nq; i++) {
      e->q[i] = q[i] + (h != 0.0 ? h * v[i] : 0.0);
    }
  }
  const saltus_point at = {.t = data->t[f] + h, .q = e->q, .v = v, .scratch = e->scratch};
  e->drawing->values->outputs(e->drawing->values->self, &at, values);
}

double saltusi_difference_step(const saltus_recording_data* data, long long f) {
  assert(data != NULL && f >= 0 && f < data->count);
  const double before = f > 0 ? data->t[f] - data->t[f - 1] : 0.0;
  const double after = f + 1 < data->count ? data->t[f + 1] - data->t[f] : 0.0;
  const double dt = fmax(before, after);
  return dt > 0.0 ? 1e-4 * dt : 1e-9;
}

saltus_status saltusi_drawer_start(saltusi_document* d, saltusi_drawer* e) {
  assert(d != NULL && d->def->scene != NULL && d->def->scene->drawing != NULL && e != NULL);
  const saltus_drawing* drawing = d->def->scene->drawing;
  const int width = drawing->values->output_count;
  *e = (saltusi_drawer){
      .drawing = drawing,
      .system = d->def->scene->system,
      .data = d->data,
      .q = SALTUSI_TAKE(&d->pool, double, d->data->nq),
      .values = {SALTUSI_TAKE(&d->pool, double, width), SALTUSI_TAKE(&d->pool, double, width)},
      .scratch = saltusi_pool_take(&d->pool, drawing->values->scratch + 1, 1)};
  return d->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

saltus_status saltusi_write_drawing(saltusi_document* d, const saltus_drawing* drawing) {
  assert(d != NULL && drawing != NULL);
  const saltus_recording_data* data = d->data;
  const int width = drawing->values->output_count;
  saltusi_drawer e;
  const saltus_status status = saltusi_drawer_start(d, &e);
  if (status != SALTUS_OK) {
    return status;
  }
  write_head(d, drawing);
  saltusi_array(d, "view", d->real, d->count, width, 0);
  for (long long k = 0; k < d->count; k++) {
    saltusi_drawer_values(&e, d->frames[k], 0.0, e.values[0]);
    saltusi_put_all(d, e.values[0], width);
  }
  saltusi_array(d, "view_rate", d->real, d->count, width, 0);
  for (long long k = 0; k < d->count; k++) {
    const double h = saltusi_difference_step(data, d->frames[k]);
    saltusi_drawer_values(&e, d->frames[k], -h, e.values[0]);
    saltusi_drawer_values(&e, d->frames[k], h, e.values[1]);
    for (int i = 0; i < width; i++) {
      saltusi_put(d, (e.values[1][i] - e.values[0][i]) / (2.0 * h));
    }
  }
  return SALTUS_OK;
}
