/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_contacts.c - contacts in one state, with their forces in the axes of the world.
 */
#include "report/vtk_job.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* A contact whose point is given by the section `view`. False: none is given. */
static bool drawn_contact(const saltusi_vtk_job* job, const saltus_drawn* thing, long long k,
                          const double* values, saltusi_drawn_contact_row* row) {
  const saltusi_document* d = &job->d;
  const int n = job->drawer.drawing->dimension, contact = thing->contact;
  if (thing->type != SALTUS_DRAWN_CONTACT || d->data->changing || contact < 0 ||
      contact >= d->data->nc || d->data->force == NULL || d->data->impulse == NULL) {
    return false;
  }
  double axis[3][3] = {{0}};
  for (int i = 0; i < n; i++) {
    row->point[i] = values[thing->first + i];
    axis[0][i] = values[thing->first + n + i];
    axis[1][i] = values[thing->first + 2 * n + i];
  }
  for (int i = 0; i < 2; i++) { /* directions have length 1, or are not given */
    const double length =
        sqrt(axis[i][0] * axis[i][0] + axis[i][1] * axis[i][1] + axis[i][2] * axis[i][2]);
    for (int m = 0; m < 3 && length > 0.0; m++) {
      axis[i][m] /= length;
    }
  }
  for (int i = 0; i < 3; i++) {
    axis[2][i] =
        axis[0][(i + 1) % 3] * axis[1][(i + 2) % 3] - axis[0][(i + 2) % 3] * axis[1][(i + 1) % 3];
  }
  saltusi_contact_force(d, k, contact, row->force);
  saltusi_contact_impulse(d, k, contact, row->impulse);
  for (int i = 0; i < 3; i++) {
    row->normal[i] = axis[0][i];
    for (int m = 0; m < 3; m++) {
      row->push[i] += (m == 0 || isfinite(row->force[m]) ? row->force[m] : 0.0) * axis[m][i];
      row->kick[i] += (m == 0 || isfinite(row->impulse[m]) ? row->impulse[m] : 0.0) * axis[m][i];
    }
  }
  row->gap = d->data->gap != NULL ? d->data->gap[d->frames[k] * d->data->nc + contact] : NAN;
  return true;
}

saltus_status saltusi_vtk_find_contacts(saltusi_vtk_job* job, long long k) {
  assert(job != NULL && k >= 0 && k < job->d.count);
  saltusi_document* d = &job->d;
  job->contacts = 0;
  saltus_status status = job->has_rows ? saltusi_rows_of(&job->rows, k) : SALTUS_OK;
  bool added = true;
  for (size_t i = 0; job->has_rows && i < job->rows.count && added && status == SALTUS_OK; i++) {
    const saltusi_drawn_contact_row* row = &job->rows.list[i];
    if (isfinite(row->point[0]) && isfinite(row->push[0])) {
      added = saltusi_row_add(&d->pool.allocator, &job->contact, &job->contacts, &job->contact_room,
                              row);
    } else {
      job->about.unplaced++;
    }
  }
  const int drawn = job->has_drawing ? job->drawer.drawing->count : 0;
  if (drawn > 0) {
    saltusi_drawer_values(&job->drawer, d->frames[k], 0.0, job->drawer.values[0]);
  }
  for (int i = 0; i < drawn && added && status == SALTUS_OK; i++) {
    const saltus_drawn* thing = &job->drawer.drawing->things[i];
    saltusi_drawn_contact_row row = {
        .identity = (uint64_t)thing->contact, .law = thing->contact, .bodies = {-1, -1}};
    if (drawn_contact(job, thing, k, job->drawer.values[0], &row)) {
      added = saltusi_row_add(&d->pool.allocator, &job->contact, &job->contacts, &job->contact_room,
                              &row);
    }
  }
  return added ? status : SALTUS_ERR_MEMORY;
}

static void write_rows_of(saltusi_vtk_job* job, const char* name, size_t offset, int width) {
  saltusi_vtk_array(&job->file, name, SALTUSI_VTK_FLOAT64, width);
  for (size_t i = 0; i < job->contacts; i++) {
    double value[3] = {0.0, 0.0, 0.0};
    memcpy(value, (const char*)&job->contact[i] + offset, (size_t)width * sizeof *value);
    for (int k = 0; k < width; k++) {
      saltusi_vtk_number(&job->file, value[k]);
    }
  }
  saltusi_vtk_array_end(&job->file);
}

static void write_contact_numbers(saltusi_vtk_job* job) {
  static const char* const names[] = {"contact", "body_a", "body_b"};
  saltusi_vtk_file* file = &job->file;
  for (int which = 0; which < 3; which++) {
    saltusi_vtk_array(file, names[which], SALTUSI_VTK_INT32, 1);
    for (size_t i = 0; i < job->contacts; i++) {
      const saltusi_drawn_contact_row* row = &job->contact[i];
      saltusi_vtk_whole(file, (uint64_t)(int64_t)(which == 0 ? row->law : row->bodies[which - 1]));
    }
    saltusi_vtk_array_end(file);
  }
  saltusi_vtk_array(file, "identity", SALTUSI_VTK_UINT64, 1);
  for (size_t i = 0; i < job->contacts; i++) {
    saltusi_vtk_whole(file, job->contact[i].identity);
  }
  saltusi_vtk_array_end(file);
}

void saltusi_vtk_write_contacts(saltusi_vtk_job* job, double t) {
  assert(job != NULL);
  saltusi_vtk_file* file = &job->file;
  const saltus_recording_data* data = job->d.data;
  const size_t cells[SALTUSI_CELL_KINDS] = {job->contacts, 0, 0};
  const saltusi_surface_mark none = {0};
  saltusi_surface_back(&job->points, &none);
  for (size_t i = 0; i < job->contacts; i++) {
    const double* x = job->contact[i].point;
    const int at = saltusi_surface_point_add(&job->points, x[0], x[1], x[2]);
    saltusi_surface_cell_add(&job->points, SALTUSI_CELL_POINT, &at, 1);
  }
  saltusi_vtk_begin(file, t);
  saltusi_vtk_names(file, "contacts", data->changing ? data->law_names : data->contact_names,
                    data->changing ? data->law_count : data->nc);
  saltusi_vtk_names(file, "bodies", job->names, job->bodies);
  saltusi_vtk_piece(file, job->contacts, cells);
  saltusi_vtk_open(file, "PointData Vectors=\"force\"");
  write_rows_of(job, "force", offsetof(saltusi_drawn_contact_row, push), 3);
  write_rows_of(job, "impulse", offsetof(saltusi_drawn_contact_row, kick), 3);
  write_rows_of(job, "normal", offsetof(saltusi_drawn_contact_row, normal), 3);
  write_rows_of(job, "force_parts", offsetof(saltusi_drawn_contact_row, force), 3);
  write_rows_of(job, "impulse_parts", offsetof(saltusi_drawn_contact_row, impulse), 3);
  write_rows_of(job, "gap", offsetof(saltusi_drawn_contact_row, gap), 1);
  write_contact_numbers(job);
  saltusi_vtk_close(file, "PointData");
  saltusi_vtk_open(file, "Points");
  write_rows_of(job, "Points", offsetof(saltusi_drawn_contact_row, point), 3);
  saltusi_vtk_close(file, "Points");
  saltusi_vtk_cells(file, &job->points);
  saltusi_vtk_end(file);
}
