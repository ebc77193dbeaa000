/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_scene_objects.c - drawn objects: shapes, bodies without shapes as rods, springs, objects of the section `view`.
 */
#include "report/vtk_job.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Size of a shape about the centre of its body, roughly. */
static double reach_of(const saltus_shape_form* form) {
  double reach = form->radius + form->length;
  for (int k = 0; k < 3; k++) {
    reach += fabs(form->position[k]) + form->size[k];
  }
  for (int i = 0; i < form->point_count; i++) {
    const double* p = form->points[i];
    reach = fmax(reach, sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
  }
  return reach;
}

/* Centre and extent of the scene: size of drawn half-spaces. */
static void find_extent(saltusi_vtk_job* job) {
  const saltusi_document* d = &job->d;
  const saltus_mechanism_size size = saltus_mechanism_sizes(d->mechanism);
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  const long long stride = d->count / 200 + 1;
  double reach = 0.0, diagonal = 0.0;
  for (long long k = 0; k < d->count; k += stride) {
    for (int b = 0; b < size.bodies; b++) {
      const long long f = d->frames[k];
      double x[3], axes[9];
      saltus_mechanism_pose(d->mechanism, b, d->data->t[f],
                            d->data->q + f * d->data->nq + d->q_first, x, axes);
      for (int i = 0; i < 3; i++) {
        low[i] = fmin(low[i], x[i]);
        high[i] = fmax(high[i], x[i]);
      }
    }
  }
  for (int i = 0; i < size.shapes; i++) {
    const saltus_shape_form form = saltus_mechanism_shape_form(d->mechanism, i);
    reach = fmax(reach, reach_of(&form));
  }
  for (int i = 0; i < 3; i++) {
    const bool known = low[i] <= high[i];
    job->middle[i] = known ? 0.5 * (low[i] + high[i]) : 0.0;
    diagonal += known ? (high[i] - low[i]) * (high[i] - low[i]) : 0.0;
  }
  job->far = 1.5 * (0.5 * sqrt(diagonal) + reach);
  job->far = job->far > 0.0 && isfinite(job->far) ? job->far : 1.0;
}

static int name_thing(saltusi_vtk_job* job, const char* name, const char* otherwise) {
  job->things[job->thing_count] = name != NULL && name[0] != '\0' ? name : otherwise;
  return job->thing_count++;
}

/* Centre of the scene in body axes, in the first state. */
static void middle_in(const saltusi_vtk_job* job, int body, double out[3]) {
  memcpy(out, job->middle, 3 * sizeof *out);
  if (body < 0) {
    return;
  }
  double x[3], R[9];
  saltus_mechanism_pose(job->d.mechanism, body, job->d.data->t[0], job->d.data->q + job->d.q_first,
                        x, R);
  for (int k = 0; k < 3; k++) {
    out[k] = 0.0;
    for (int i = 0; i < 3; i++) {
      out[k] += R[3 * i + k] * (job->middle[i] - x[i]);
    }
  }
}

static const char* body_name(const saltusi_vtk_job* job, int body) {
  return body < 0 ? "world" : saltus_mechanism_body(job->d.mechanism, body).name;
}

static void add_shapes(saltusi_vtk_job* job, int count, bool* shaped) {
  const saltus_mechanism* mechanism = job->d.mechanism;
  for (int i = 0; i < count; i++) {
    const saltus_shape_place place = saltus_mechanism_shape(mechanism, i);
    const bool stands =
        place.body < 0 || saltus_mechanism_body(mechanism, place.body).kind == SALTUS_BODY_FIXED;
    saltusi_surface* s = stands ? &job->still : &job->moving;
    double middle[3];
    middle_in(job, place.body, middle);
    s->body = place.body;
    s->thing = name_thing(job, place.name, body_name(job, place.body));
    saltusi_surface_shape(s, mechanism, i, middle, job->far);
    if (place.body >= 0) {
      shaped[place.body] = true;
    }
  }
}

/* Bodies without shapes are rods from their centre of mass to their markers. */
static void add_rods(saltusi_vtk_job* job, int markers, const bool* shaped) {
  const saltus_mechanism* mechanism = job->d.mechanism;
  saltusi_surface* s = &job->moving;
  for (int b = 0; b < job->bodies; b++) {
    if (shaped[b] || saltus_mechanism_body(mechanism, b).kind == SALTUS_BODY_FIXED) {
      continue;
    }
    s->body = b;
    s->thing = name_thing(job, body_name(job, b), "");
    int rod[2] = {saltusi_surface_point_add(s, 0.0, 0.0, 0.0), 0};
    saltusi_surface_cell_add(s, SALTUSI_CELL_POINT, rod, 1);
    for (int i = 0; i < markers; i++) {
      const saltus_marker_place m = saltus_mechanism_marker(mechanism, i);
      if (m.body == b) {
        rod[1] = saltusi_surface_point_add(s, m.point[0], m.point[1], m.point[2]);
        saltusi_surface_cell_add(s, SALTUSI_CELL_LINE, rod, 2);
      }
    }
  }
}

static void add_springs(saltusi_vtk_job* job, int count) {
  saltusi_surface* s = &job->moving;
  for (int i = 0; i < count; i++) {
    const saltus_spring_place spring = saltus_mechanism_spring(job->d.mechanism, i);
    int ends[2];
    s->thing = name_thing(job, spring.name, "spring");
    for (int k = 0; k < 2; k++) {
      const saltus_marker_place m = saltus_mechanism_marker(job->d.mechanism, spring.between[k]);
      s->body = m.body;
      ends[k] = saltusi_surface_point_add(s, m.point[0], m.point[1], m.point[2]);
    }
    s->body = -1;
    saltusi_surface_cell_add(s, SALTUSI_CELL_LINE, ends, 2);
  }
}

/* Nodes and surfaces of flexible bodies. */
static void add_flexible(saltusi_vtk_job* job) {
  const saltus_scene_view* scene = job->d.def->scene;
  saltusi_surface* s = &job->moving;
  for (int i = 0; i < job->flexible_count; i++) {
    const saltus_flexible* data = scene->flexible[i];
    saltusi_vtk_flexible* to = &job->flexible[i];
    *to = (saltusi_vtk_flexible){.data = data, .first = (int)s->points};
    to->body = saltusi_document_flexible(&job->d, i, &to->eta);
    to->change = SALTUSI_TAKE(&job->d.pool, double, 6 * data->nodes + 1);
    s->body = to->body;
    s->thing = name_thing(job, "nodes", "");
    for (int n = 0; n < data->nodes && to->body >= 0; n++) {
      const double* x = data->node + 3 * (ptrdiff_t)n;
      const int at = saltusi_surface_point_add(s, x[0], x[1], x[2]);
      saltusi_surface_cell_add(s, SALTUSI_CELL_POINT, &at, 1);
    }
    for (int k = 0; k < data->triangles && to->body >= 0; k++) {
      const int* t = data->triangle + 3 * (ptrdiff_t)k;
      const int corner[3] = {to->first + t[0], to->first + t[1], to->first + t[2]};
      saltusi_surface_cell_add(s, SALTUSI_CELL_AREA, corner, 3);
    }
  }
}

saltus_status saltusi_vtk_prepare(saltusi_vtk_job* job) {
  assert(job != NULL && job->d.def->scene != NULL);
  saltusi_document* d = &job->d;
  const saltus_drawing* drawing = d->def->scene->drawing;
  const saltus_mechanism_size size =
      d->mechanism != NULL ? saltus_mechanism_sizes(d->mechanism) : (saltus_mechanism_size){0};
  const int drawn = drawing != NULL ? drawing->count : 0;
  job->bodies = size.bodies;
  job->body = SALTUSI_TAKE(&d->pool, saltusi_placed, size.bodies);
  job->names = SALTUSI_TAKE(&d->pool, const char*, size.bodies);
  bool* shaped = SALTUSI_TAKE(&d->pool, bool, size.bodies);
  while (d->def->scene->flexible != NULL && d->def->scene->flexible[job->flexible_count] != NULL) {
    job->flexible_count++;
  }
  job->flexible = SALTUSI_TAKE(&d->pool, saltusi_vtk_flexible, job->flexible_count);
  job->things =
      SALTUSI_TAKE(&d->pool, const char*,
                   size.shapes + size.bodies + size.springs + drawn + job->flexible_count);
  if (d->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < size.bodies; i++) {
    job->names[i] = body_name(job, i);
  }
  if (d->mechanism != NULL) {
    find_extent(job);
    add_shapes(job, size.shapes, shaped);
    add_rods(job, size.markers, shaped);
    add_springs(job, size.springs);
    add_flexible(job);
  }
  job->has_rows = saltusi_rows_known(d);
  job->has_drawing = drawing != NULL;
  saltus_status status = job->has_rows ? saltusi_rows_start(d, &job->rows) : SALTUS_OK;
  if (status == SALTUS_OK && job->has_drawing) {
    status = saltusi_drawer_start(d, &job->drawer);
    for (int i = 0; i < drawn; i++) {
      name_thing(job, drawing->things[i].name, saltus_drawn_type_name(drawing->things[i].type));
    }
  }
  return status;
}
