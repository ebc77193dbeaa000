/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk.c - a recording as files for ParaView: surfaces of moving bodies and contacts with their forces in every shown
 * state, fixed bodies once. docs/vtk.md.
 */
#include "saltus/vtk.h"

#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "report/vtk_job.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { USUAL_STATES = 500, USUAL_AROUND = 24 };

saltus_vtk_def saltus_vtk_def_default(void) {
  return (saltus_vtk_def){.most = USUAL_STATES, .around = USUAL_AROUND};
}

static saltus_status hand_over(saltusi_vtk_job* job, const char* name, const saltusi_bytes* bytes) {
  if (bytes->failed || job->moving.failed || job->still.failed || job->points.failed ||
      job->drawn[0].failed || job->drawn[1].failed || job->drawn[2].failed) {
    return SALTUS_ERR_MEMORY;
  }
  job->about.files++;
  job->about.bytes += (double)bytes->count;
  return job->def->write(job->def->user, name, bytes->at, bytes->count);
}

/* Both sides of a jump have one time. Readers identify states by their times, so the second time is one ulp later. */
static void list_state(saltusi_vtk_job* job, int which, double t, const char* name) {
  char text[128];
  saltusi_print(text, sizeof text,
                "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"%s\"/>\n", t, name);
  saltusi_bytes_text(&job->list[which], text);
}

static saltus_status write_state(saltusi_vtk_job* job, long long k, double t) {
  const long long f = job->d.frames[k];
  const saltusi_surface_mark bodies = saltusi_surface_here(&job->moving);
  char name[48];
  saltusi_vtk_place_bodies(job, f);
  job->of_bodies = bodies.points;
  if (job->has_drawing) {
    saltusi_vtk_draw(job, f);
  }
  saltus_status status = saltusi_vtk_find_contacts(job, k);
  if (status != SALTUS_OK || job->moving.failed || job->drawn[1].points != job->drawn[0].points ||
      job->drawn[2].points != job->drawn[0].points) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_vtk_write_surface(job, &job->moving, job->d.data->t[f]);
  saltusi_surface_back(&job->moving, &bodies);
  snprintf(name, sizeof name, "bodies-%06lld.vtp", k);
  list_state(job, 0, t, name);
  status = hand_over(job, name, &job->file.text);
  if (status == SALTUS_OK) {
    saltusi_vtk_write_contacts(job, job->d.data->t[f]);
    snprintf(name, sizeof name, "contacts-%06lld.vtp", k);
    list_state(job, 1, t, name);
    status = hand_over(job, name, &job->file.text);
  }
  return status;
}

static saltus_status write_lists(saltusi_vtk_job* job) {
  static const char* const names[2] = {"bodies.pvd", "contacts.pvd"};
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < 2 && status == SALTUS_OK; i++) {
    saltusi_bytes_text(&job->list[i], "</Collection>\n</VTKFile>\n");
    status = hand_over(job, names[i], &job->list[i]);
  }
  return status;
}

static saltus_status write_files(saltusi_vtk_job* job) {
  const saltusi_document* d = &job->d;
  saltus_status status = SALTUS_OK;
  double last = -INFINITY;
  for (int i = 0; i < 2; i++) {
    saltusi_bytes_text(&job->list[i], "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" "
                                      "version=\"1.0\" byte_order=\"LittleEndian\">\n"
                                      "<Collection>\n");
  }
  if (job->still.points > 0) {
    saltusi_vtk_place_bodies(job, 0);
    saltusi_vtk_write_surface(job, &job->still, d->data->t[0]);
    status = hand_over(job, "ground.vtp", &job->file.text);
  }
  for (long long k = 0; k < d->count && status == SALTUS_OK; k++) {
    const double t = d->data->t[d->frames[k]];
    last = t > last ? t : nextafter(last, INFINITY);
    status = write_state(job, k, last);
  }
  return status == SALTUS_OK ? write_lists(job) : status;
}

static void end(saltusi_vtk_job* job) {
  saltusi_surface* surfaces[] = {&job->moving,   &job->still,    &job->points,
                                 &job->drawn[0], &job->drawn[1], &job->drawn[2]};
  for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; i++) {
    saltusi_surface_free(surfaces[i]);
  }
  saltusi_bytes_free(&job->file.text);
  saltusi_bytes_free(&job->file.array);
  saltusi_bytes_free(&job->list[0]);
  saltusi_bytes_free(&job->list[1]);
  saltusi_release(&job->d.pool.allocator, job->contact, job->contact_room, sizeof *job->contact);
  if (job->has_rows) {
    saltusi_rows_end(&job->rows);
  }
  saltusi_pool_free(&job->d.pool);
}

static saltus_status start(saltusi_vtk_job* job) {
  const saltus_vtk_def* def = job->def;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_vtk_def", def->log);
  if (status == SALTUS_OK &&
      (def->most < 0 || (def->around != 0 && (def->around < 8 || def->around > 256)))) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "states are 1 or more, corners of a circle 8 to 256");
    status = SALTUS_ERR_RANGE;
  }
  job->report = (saltus_report_def){
      .data = def->data, .scene = def->scene, .log = def->log, .allocator = def->allocator};
  if (status == SALTUS_OK) {
    status = saltusi_document_open(&job->report, &job->d);
  }
  if (status == SALTUS_OK && (def->scene == NULL || def->data->q == NULL || def->data->v == NULL ||
                              (job->d.mechanism == NULL && def->scene->drawing == NULL))) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "nothing of this run can be drawn: its scene has neither bodies nor a section "
                "\"view\"");
    status = SALTUS_ERR_INPUT;
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_surface* surfaces[] = {&job->moving,   &job->still,    &job->points,
                                 &job->drawn[0], &job->drawn[1], &job->drawn[2]};
  for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; i++) {
    surfaces[i]->memory = &job->d.pool.allocator;
    surfaces[i]->around = def->around > 0 ? def->around / 4 * 4 : USUAL_AROUND;
  }
  job->file.text.memory = job->file.array.memory = job->list[0].memory = job->list[1].memory =
      &job->d.pool.allocator;
  return SALTUS_OK;
}

saltus_status saltus_vtk_export(const saltus_vtk_def* def, saltus_vtk_about* about) {
  assert(def != NULL && def->data != NULL && def->write != NULL);
  saltusi_vtk_job job = {.def = def};
  saltus_status status = start(&job);
  if (status != SALTUS_OK) {
    return status;
  }
  status = saltusi_choose_frames(&job.d, (double)(def->most > 0 ? def->most : USUAL_STATES));
  if (status == SALTUS_OK) {
    status = saltusi_vtk_prepare(&job);
  }
  if (status == SALTUS_OK) {
    status = write_files(&job);
  }
  job.about.recorded = job.d.data->count;
  job.about.shown = job.d.count;
  job.about.events_shown = job.d.events_shown;
  if (about != NULL) {
    *about = job.about;
  }
  end(&job);
  return status;
}
